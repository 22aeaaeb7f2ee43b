// Fields of a form that stand for entries of a YAML text: each shows what is written there, and changes that alone.
import { checkbox, choice, freshId, make } from "./dom.js";
import { flowAt, flowEdit, valueEdit, writtenAt } from "./yaml_text.js";

export class Fields {
  // `edit` is handed each change of the text.
  constructor(edit) {
    this.edit = edit;
    this.clear();
  }
  clear() {
    this.known = [];
  }
  // The text that fields show from now on; `names` gives the path as messages of the validator have it.
  at(text, document, names) {
    Object.assign(this, { text, document, names });
  }
  refresh() {
    for (const { input, read } of this.known) {
      if (input !== window.document.activeElement) input.value = read();
    }
  }
  // A place for a value: `write` makes the change of the text from what was typed.
  register(input, path, label, read, write) {
    input.setAttribute("aria-label", label);
    input.dataset.field = this.names(path);
    input.onchange = () => this.edit(write(input.value));
    input.value = read();
    this.known.push({ input, read });
    return input;
  }
  // One number or word.
  input(path, label, kind = "", placeholder = "") {
    const read = () => writtenAt(this.text, this.document, path);
    return this.register(make("input", { class: kind, placeholder }), path, label, read, (typed) => valueEdit(this.text, path, typed));
  }
  // A list or a mapping in one line.
  line(path, label, placeholder = "") {
    const read = () => flowAt(this.text, this.document, path);
    return this.register(make("input", { class: "line", placeholder }), path, label, read, (typed) => flowEdit(this.text, path, typed));
  }
  // One of some words; `otherNames` gives the word that stands for another name of it.
  select(path, options, label, otherNames = {}) {
    const read = () => {
      const written = writtenAt(this.text, this.document, path);
      return otherNames[written] ?? written;
    };
    return this.register(choice(options, "", () => {}), path, label, read, (picked) => valueEdit(this.text, path, picked));
  }
  // True or false; what it is by default is not written.
  check(path, words, byDefault) {
    const written = writtenAt(this.text, this.document, path);
    const { label, box } = checkbox(words, written ? written === "true" : byDefault, (on) => this.edit(valueEdit(this.text, path, on === byDefault ? "" : String(on))));
    box.dataset.field = this.names(path);
    return label;
  }

  mark(form, errors) {
    markFields(form, errors);
  }
}

// The validator's words at the fields; each message goes to the fields that stand nearest to its place.
export function markFields(form, errors) {
  for (const said of form.querySelectorAll(".field-message")) said.remove();
  const inputs = [...form.querySelectorAll("[data-field]")];
  inputs.forEach((input) => { input.removeAttribute("aria-invalid"); input.removeAttribute("aria-describedby"); });
  for (const error of errors) nearest(inputs, error.field).forEach((input) => markField(input, error.message));
}
function markField(input, message) {
  const said = make("div", { class: "field-message", id: freshId("message") }, message);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", said.id);
  (input.closest("td, .field") ?? input.parentElement).append(said);
}

function nearest(inputs, field) {
  const fits = inputs.filter(({ dataset }) => dataset.field && (field === dataset.field || field.startsWith(`${dataset.field}.`)));
  const longest = Math.max(...fits.map(({ dataset }) => dataset.field.length));
  return fits.filter(({ dataset }) => dataset.field.length === longest);
}

// Fields of a form that stand for entries of a YAML text: each shows what is written there, and changes that alone.
import { checkbox, choice, freshId, make } from "./dom.js";
import { dataAt, dataEdit, documentOf, editsInTurn, flowAt, flowEdit, valueEdit, writtenAt } from "./yaml_text.js";

export class Fields {
  // `edit` is handed each change of the text.
  constructor(edit) {
    this.edit = edit;
    this.clear();
  }
  clear() {
    this.known = [];
    this.toggled = new Set();
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
  // A place for a value: `write` makes the change of a text from what was typed.
  register(input, path, label, read, write) {
    input.setAttribute("aria-label", label);
    input.dataset.field = this.names(path);
    input.onchange = () => this.change(path, (text) => write(text, input.value));
    input.value = read();
    this.known.push({ input, read });
    return input;
  }
  // A part that `true` stands for is opened for its first entry, and is `true` again without any.
  change(path, write) {
    const part = path.slice(0, -1);
    const before = this.toggled.has(this.names(part)) && dataAt(this.document, part);
    const open = (text) => (before === true ? dataEdit(text, part, {}) : null);
    const close = (text) => (before && !documentOf(text).hasIn(part) ? dataEdit(text, part, true) : null);
    this.edit(editsInTurn(this.text, open, write, close));
  }
  // One number or word.
  input(path, label, kind = "", placeholder = "") {
    const read = () => writtenAt(this.text, this.document, path);
    return this.register(make("input", { class: kind, placeholder }), path, label, read, (text, typed) => valueEdit(text, path, typed));
  }
  // A list or a mapping in one line; what is none is written as text, and the validator says so.
  line(path, label, placeholder = "") {
    const read = () => flowAt(this.text, this.document, path);
    const write = (text, typed) => flowEdit(text, path, typed) ?? valueEdit(text, path, typed);
    return this.register(make("input", { class: "line", placeholder }), path, label, read, write);
  }
  // One of some words, or another name of one that a file has.
  select(path, options, label) {
    const read = () => writtenAt(this.text, this.document, path);
    const written = read();
    const known = options.some(([word]) => word === written);
    const all = known || !written ? options : [...options, [written, written]];
    return this.register(choice(all, "", () => {}), path, label, read, (text, picked) => valueEdit(text, path, picked));
  }
  // True or false; what it is by default is not written.
  check(path, words, byDefault) {
    const isOn = String(dataAt(this.document, path) ?? byDefault) !== "false";
    const { label, box } = checkbox(words, isOn, (on) => this.edit(dataEdit(this.text, path, on === byDefault ? undefined : on)));
    box.dataset.field = this.names(path);
    return label;
  }
  // A part that `true` stands for.
  toggle(path, words) {
    this.toggled.add(this.names(path));
    return this.check(path, words, false);
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

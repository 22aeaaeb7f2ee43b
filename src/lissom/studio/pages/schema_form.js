// A form of a YAML text, made from the description of what may stand in it: every key that a file may have is a field,
// which shows what is written there and changes that alone.
import { stringify } from "/assets/vendor/yaml.js";
import { button, checkbox, choice, labelled, make, pair } from "./dom.js";
import { markFields } from "./form_fields.js";
import { dataEdit, documentOf, editsInTurn, flowAt, flowEdit, valueEdit, writtenAt } from "./yaml_text.js";

const CLASSES = { number: "number", whole: "number", word: "" };
const isSimple = ({ kind }) => !["part", "parts", "union"].includes(kind);
const flow = (value) => stringify(value, { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: false }).trim();
const raised = (unit) => unit.replace(/\^([234])/g, (_, power) => "\u00b2\u00b3\u2074"[power - 2]);
const titleOf = ({ key, unit }) => (unit ? `${key} [${raised(unit)}]` : key);
export const heading = (text) => make("h2", { class: "small wide" }, text);
export const rowOf = (text, input) => [labelled(text, input)[0], make("span", { class: "field" }, input)];

export class SchemaForm {
  // `schema`: the part that the whole text is; `edit` is handed each change of the text.
  // `layouts`: rows of one's own for a key, by its path without numbers: "links.beam.section".
  constructor(schema, edit) {
    Object.assign(this, { schema, edit, layouts: {}, errors: [] });
  }
  show(text) {
    const document_ = documentOf(text);
    // While the text is no YAML the form waits, as it was.
    if (!document_) return;
    Object.assign(this, { text, document: document_, data: document_.toJSON() });
    const key = this.structure();
    clearTimeout(this.building);
    // Only other values: the fields stay where they are, and so does the one that the user is in.
    if (key === this.key) return this.following.forEach((follow) => follow());
    // Not before the field that the user goes to has the focus.
    this.building = setTimeout(() => { this.key = key; this.build(); });
  }
  // What decides which fields there are; two texts with the same structure differ in numbers alone.
  structure() {
    return JSON.stringify(this.data, (_, value) => (typeof value === "number" ? 0 : value ?? 0));
  }
  build() {
    this.following = [];
    this.switches = new Set();
    const focus = window.document.activeElement?.dataset?.field;
    this.element.replaceChildren(...this.content());
    if (focus) this.element.querySelector(`[data-field="${CSS.escape(focus)}"]`)?.focus();
    this.mark(this.errors);
  }
  mark(errors) {
    this.errors = errors;
    markFields(this.element, errors);
  }

  // --- the data and their description ---
  at(path) {
    return path.reduce((data, step) => data?.[step], this.data);
  }
  // Which of its forms a union has.
  formAt({ forms }, path) {
    const data = this.at(path) ?? {};
    const isNamed = ({ named }) => Object.entries(named).every(([key, word]) => data[key] === word);
    return forms.find((form) => Object.keys(form.named).length && isNamed(form)) ?? forms.find(isNamed) ?? forms[0];
  }
  fieldAt(path) {
    return path.reduce((found, step, k) => {
      const inner = found.kind === "union" ? this.formAt(found, path.slice(0, k)) : found;
      return typeof step === "string" ? inner.fields.find(({ key }) => key === step) : found;
    }, this.schema);
  }
  // What stands first where nothing did: all that is required.
  beginning(fields) {
    const needed = fields.filter(({ required }) => required).map((field) => [field.key, this.first(field)]);
    return Object.fromEntries(needed.filter(([, value]) => value !== undefined));
  }
  first({ kind, fields, forms }) {
    if (kind === "union") return { ...forms[0].named, ...this.beginning(forms[0].fields) };
    return kind === "part" ? this.beginning(fields) : undefined;
  }

  // --- changes of the text ---
  set(path, data) {
    this.edit(dataEdit(this.text, path, data));
  }
  // Several changes as one step to undo.
  change(...makers) {
    this.edit(editsInTurn(this.text, ...makers));
  }
  // A part that `true` stands for is opened for its first entry, and is `true` again without any.
  write(path, maker) {
    const part = path.slice(0, -1);
    const before = this.switches.has(this.fieldName(part)) && this.at(part);
    const open = (text) => (before === true ? dataEdit(text, part, {}) : null);
    const close = (text) => (before && !documentOf(text).hasIn(part) ? dataEdit(text, part, true) : null);
    this.change(open, maker, close);
  }

  // --- rows of a title and what is filled in ---
  rows(fields, path) {
    return fields.flatMap((field) => this.row(field, [...path, field.key]));
  }
  row(field, path) {
    const own = this.layouts[path.filter((step) => typeof step === "string").join(".")];
    return own ? own(field, path) : this.plainRow(field, path);
  }
  plainRow(field, path) {
    if (field.kind === "parts") return [make("div", { class: "wide" }, this.list(field, path))];
    if (field.kind === "union") return this.union(field, path);
    if (field.switch) this.switches.add(this.fieldName(path));
    if (field.kind === "part") return this.part(field, path, field.fields, field.switch ? [this.check(path, "on", false)] : []);
    const input = this.input(field, path);
    return field.kind === "flag" ? [make("span", {}), make("span", { class: "field" }, input)] : rowOf(titleOf(field), input);
  }
  part(field, path, fields, first) {
    const simple = fields.filter(isSimple).map((one) => this.pair(one, [...path, one.key]));
    const inner = fields.filter((one) => !isSimple(one));
    return [make("span", { title: field.help }, field.key), make("span", { class: "row field" }, ...first, ...simple), ...this.rows(inner, path)];
  }
  pair(field, path) {
    const input = this.input(field, path);
    return field.kind === "flag" ? input : pair(titleOf(field), input);
  }
  union(field, path) {
    const form = this.formAt(field, path);
    const begin = (type) => {
      const { named, fields } = field.forms.find((one) => one.type === type);
      this.set(path, { ...named, ...this.beginning(fields) });
    };
    const pick = choice(field.forms.map(({ type }) => type), form.type, begin, { "aria-label": `${this.fieldName(path)}: kind` });
    return this.part(field, path, form.fields, [pick, make("span", { class: "soft" }, form.about)]);
  }
  // Parts of one kind, each in a line; `adding` has the words and the change that adds one.
  list(field, path) {
    const row = (_, k) => [...field.fields.map((one) => this.input(one, [...path, k, one.key])), this.remover([...path, k])];
    const parts = this.at(path);
    const rows = Array.isArray(parts) ? parts.map(row) : [];
    const [words, add] = this.adding[field.key];
    return make("div", {}, rows.length ? this.table([...field.fields.map(titleOf), ""], rows) : "", button(words, () => this.edit(add(path))));
  }
  remover(path) {
    return button("\u00d7", () => this.set(path, undefined), { "aria-label": `Remove ${this.fieldName(path)}` });
  }
  table(head, rows) {
    const row = (cells, kind) => make("tr", {}, ...cells.map((cell) => make(cell === "" ? "td" : kind, { colSpan: cell?.span }, cell?.inside ?? cell)));
    return make("table", {}, make("thead", {}, row(head, "th")), make("tbody", {}, ...rows.map((cells) => row(cells, "td"))));
  }

  // --- one field ---
  cell(...path) {
    return this.input(this.fieldAt(path), path);
  }
  input(field, path) {
    const { key, kind, help, default: usual } = field;
    if (kind === "flag") return Object.assign(this.check(path, key, usual ?? false), { title: help });
    const isScalar = kind in CLASSES;
    const hint = usual === null ? "" : flow(usual);
    const read = () => (isScalar ? writtenAt : flowAt)(this.text, this.document, path);
    // What is no list is written as text, and the validator reports it.
    const write = (text, typed) => (isScalar ? null : flowEdit(text, path, typed)) ?? valueEdit(text, path, typed);
    const properties = { ...this.labels(path), title: help };
    const changed = () => this.write(path, (text) => write(text, made.value));
    const options = this.options(field, path, read());
    const made = options.length
      ? choice(options, read(), changed, properties)
      : make("input", { ...properties, class: CLASSES[kind] ?? "line", placeholder: hint || (isScalar ? "" : help), value: read(), onchange: changed });
    this.following.push(() => { if (made !== window.document.activeElement) made.value = read(); });
    return made;
  }
  // How an input is called, and where the validator's messages find it.
  labels(path) {
    return { "aria-label": this.fieldName(path), "data-field": this.fieldName(path) };
  }
  // The words to choose among; a file may have another name of one.
  options(field, path, written) {
    const words = this.wordsOf(field);
    if (!words.length) return [];
    const all = words.includes(written) || !written ? words : [...words, written];
    // What is picked from names that the text itself has can be taken back.
    const hasDefault = !field.required && this.at(path.slice(0, -1)) !== undefined;
    const usual = field.default === null ? "default" : `${field.default} (default)`;
    const none = field.required && field.choices.length ? [] : [["", hasDefault ? usual : ""]];
    return [...none, ...all];
  }
  wordsOf({ choices }) {
    return choices;
  }
  // True or false; what it is by default is not written.
  check(path, words, byDefault) {
    const isOn = String(this.at(path) ?? byDefault) !== "false";
    return checkbox(words, isOn, (on) => this.set(path, on === byDefault ? undefined : on), { "data-field": this.fieldName(path) });
  }
}

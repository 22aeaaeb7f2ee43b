// A form of a YAML text, made from the description of what may stand in it: every key that a file may have is a field.
import { stringify } from "/assets/vendor/yaml.js";
import { button, choice, labelled, make, pair } from "./dom.js";
import { Fields } from "./form_fields.js";
import { dataEdit, documentOf } from "./yaml_text.js";

const SCALARS = ["number", "whole", "word"];
export const isSimple = ({ kind }) => !["part", "parts", "union"].includes(kind);
export const flow = (value) => stringify(value, { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: false }).trim();
export const heading = (text) => make("h2", { class: "small wide" }, text);
const raised = (unit) => unit.replace(/\^([234])/g, (_, power) => "\u00b2\u00b3\u2074"[power - 2]);
const titleOf = ({ key, unit }) => (unit ? `${key} [${raised(unit)}]` : key);

export class SchemaForm {
  // `schema`: the part that the whole text is; `edit` is handed each change of the text.
  // `layouts`: rows of one's own for a key, by its path without numbers: "links.beam.section".
  constructor(schema, edit) {
    Object.assign(this, { schema, edit, layouts: {} });
    this.fields = new Fields(edit);
  }
  show(text) {
    const document_ = documentOf(text);
    // While the text is no YAML the form waits, as it was.
    if (!document_) return;
    Object.assign(this, { text, document: document_, data: document_.toJSON() });
    this.fields.at(text, document_, (path) => this.fieldName(path));
    const key = this.structure();
    clearTimeout(this.building);
    // Only other values: the fields stay where they are, and so does the one that the user is in.
    if (key === this.key) return this.refresh();
    // Not before the field that the user goes to has the focus.
    this.building = setTimeout(() => { this.key = key; this.build(); });
  }
  structure() {
    return JSON.stringify(structure(this.data));
  }
  build() {
    this.fields.clear();
    const focus = window.document.activeElement?.dataset?.field;
    this.element.replaceChildren(...this.content());
    if (focus) this.element.querySelector(`[data-field="${CSS.escape(focus)}"]`)?.focus();
    this.fields.mark(this.element, this.errors ?? []);
  }
  refresh() {
    this.fields.refresh();
  }

  // --- the description ---
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

  // --- rows of a title and what is filled in ---
  rows(fields, path) {
    return fields.flatMap((field) => this.row(field, [...path, field.key]));
  }
  row(field, path) {
    const own = this.layouts[path.filter((step) => typeof step === "string").join(".")];
    return own ? own(field, path) : this.plainRow(field, path);
  }
  plainRow(field, path) {
    if (field.kind === "parts") return [make("div", { class: "wide" }, this.table(field, path))];
    if (field.kind === "union") return this.union(field, path);
    if (field.kind === "part") return this.part(field, path, field.fields, field.switch ? [this.fields.toggle(path, "on")] : []);
    const input = this.input(field, path);
    if (field.kind === "flag") return [make("span", {}), make("span", { class: "field" }, input)];
    const [label] = labelled(titleOf(field), input);
    return [label, make("span", { class: "field" }, input)];
  }
  part(field, path, fields, first = []) {
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
      this.edit(dataEdit(this.text, path, { ...named, ...this.beginning(fields) }));
    };
    const pick = choice(field.forms.map(({ type }) => [type, type]), form.type, begin);
    pick.setAttribute("aria-label", `${this.label(path)}: kind`);
    return this.part(field, path, form.fields, [pick, make("span", { class: "soft" }, form.about)]);
  }
  // Parts of one kind, each in a line; `adding` has the words and the change that adds one.
  table(field, path) {
    const drop = (k) => {
      const made = button("\u00d7", () => this.edit(dataEdit(this.text, [...path, k], undefined)));
      made.setAttribute("aria-label", `Remove ${this.label([...path, k])}`);
      return made;
    };
    const row = (k) => [...field.fields.map((one) => this.input(one, [...path, k, one.key])), drop(k)];
    const rows = (this.at(path) ?? []).map((_, k) => make("tr", {}, ...row(k).map((cell) => make("td", {}, cell))));
    const head = field.fields.map((one) => make("th", { scope: "col" }, titleOf(one)));
    const [words, add] = this.adding[field.key];
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...head, make("td", {}))), make("tbody", {}, ...rows));
    return make("div", {}, rows.length ? table : "", button(words, () => this.edit(add(path))));
  }

  // --- one field ---
  cell(...path) {
    return this.input(this.fieldAt(path), path);
  }
  input(field, path) {
    const { key, kind, help, required, choices, default: usual } = field;
    const label = this.label(path);
    const hint = usual === null ? "" : flow(usual);
    if (kind === "flag") return Object.assign(this.fields.check(path, key, usual ?? false), { title: help });
    const words = this.wordsOf(field);
    // What is picked from names that the text itself has can be taken back.
    const none = required && choices.length ? [] : [["", required ? "" : `${usual ?? "default"}`]];
    const options = [...none, ...words.map((word) => [word, word])];
    const scalar = () => this.fields.input(path, label, kind === "word" ? "" : "number", hint);
    const list = () => this.fields.line(path, label, hint || help);
    const made = words.length ? this.fields.select(path, options, label) : SCALARS.includes(kind) ? scalar() : list();
    made.title = help;
    return made;
  }
  wordsOf({ choices }) {
    return choices;
  }
}

// What decides which fields there are; two texts with the same structure differ in numbers alone.
function structure(value) {
  if (Array.isArray(value)) return value.every((entry) => typeof entry === "number") ? 0 : value.map(structure);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, structure(entry)]));
  return typeof value === "number" || value === null ? 0 : value;
}

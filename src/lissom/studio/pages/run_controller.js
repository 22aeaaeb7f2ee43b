// The controller of a run: a form of it by the description that each controller has.
import { parseDocument, stringify } from "/assets/vendor/yaml.js";
import { choice, make } from "./dom.js";
import { SchemaForm } from "./schema_form.js";

const AS_WRITTEN = "as in the file";
const NONE = "none";
// Something to begin with for what has no default; `j` stands for one entry for each driven joint.
const BEGINNINGS = {
  kp: (j) => j.map(() => 100), kd: (j) => j.map(() => 10), bandwidth: () => 2, t: () => [0, 1],
  value: (j) => [j.map(() => 0), j.map(() => 0.3)], start: (j) => j.map(() => 0), target: () => [0.5, 0, 0],
  position: (j) => j.map(() => 0.02), torque: (j) => j.map(() => 10), sensors: (j) => j.map(() => 1e-4),
  speed: (j) => j.map(() => 1), acceleration: (j) => j.map(() => 5), jerk: (j) => j.map(() => 50),
};

export class ControllerForm extends SchemaForm {
  constructor(schema, onChange) {
    super(schema, (edit) => this.apply(edit));
    this.onChange = onChange;
    this.joints = [];
    const types = schema.forms.map(({ type }) => type);
    this.type = choice([["", AS_WRITTEN], NONE, ...types], "", () => { this.begin(); this.onChange(); });
    this.about = make("p", { class: "soft" });
    this.element = make("div", { class: "controller" }, this.about);
  }
  open({ joints, controller }) {
    this.joints = joints.filter(({ actuated }) => actuated);
    this.fromFile = controller;
    if (!this.type.value) this.about.textContent = this.fileWords();
  }
  fileWords() {
    return this.fromFile ? `The file has a controller of type ${this.fromFile.type}.` : "The file has no controller.";
  }
  begin() {
    this.form = this.schema.forms.find(({ type }) => type === this.type.value);
    this.about.textContent = this.form ? this.form.about : this.fileWords();
    const { named, fields } = this.form ?? { named: {}, fields: [] };
    const known = this.fromFile?.type === this.type.value ? this.fromFile : { ...named, ...this.beginning(fields) };
    this.show(stringify(known));
  }
  apply(edit) {
    if (!edit) return;
    this.show(this.text.slice(0, edit.from) + edit.insert + this.text.slice(edit.to));
    this.onChange();
  }
  changes() {
    if (this.type.value === "") return {};
    return { controller: this.type.value === NONE ? null : parseDocument(this.text).toJSON() };
  }

  first(field) {
    return BEGINNINGS[field.key]?.(this.joints) ?? super.first(field);
  }
  content() {
    const { fields } = this.form ?? { fields: [] };
    const rows = (those) => make("div", { class: "fields" }, ...this.rows(those, []));
    const others = fields.filter(({ required }) => !required);
    const more = make("details", { open: this.isOpen }, make("summary", {}, "More"), rows(others));
    more.ontoggle = () => { this.isOpen = more.open; };
    return [this.about, rows(fields.filter(({ required }) => required)), others.length ? more : ""];
  }
  fieldName(path) {
    return ["controller", ...path].join(".");
  }
}

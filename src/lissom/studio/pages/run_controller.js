// The controller of a run: a form made of the fields that the description of each controller has.
import { parseDocument, stringify } from "/assets/vendor/yaml.js";
import { checkbox, choice, make } from "./dom.js";

const AS_WRITTEN = "as the file has it";
const NONE = "none";
const TABLE = "table";
// Something to begin with for what has no default; `j` stands for one entry for each driven joint.
const BEGINNINGS = {
  kp: (j) => j.map(() => 100), kd: (j) => j.map(() => 10), bandwidth: () => 2, t: () => [0, 1],
  value: (j) => [j.map(() => 0), j.map(() => 0.3)], start: (j) => j.map(() => 0), target: () => [0.5, 0, 0],
  position: (j) => j.map(() => 0.02), torque: (j) => j.map(() => 10), sensors: (j) => j.map(() => 1e-4),
  speed: (j) => j.map(() => 1), acceleration: (j) => j.map(() => 5), jerk: (j) => j.map(() => 50),
};
const written = (value) => stringify(value, { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: false }).trim();
const read = (text) => parseDocument(text).toJSON();

export class ControllerForm {
  constructor(forms, onChange) {
    this.forms = forms;
    this.onChange = onChange;
    this.joints = [];
    const types = forms.controllers.map(({ type }) => [type, type]);
    this.type = choice([["", AS_WRITTEN], [NONE, NONE], ...types], "", () => { this.build(); this.onChange(); });
    this.about = make("p", { class: "soft" });
    this.place = make("div", {});
    this.element = make("div", { class: "controller" }, this.about, this.place);
  }
  open({ joints, controller }) {
    this.joints = joints.filter(({ actuated }) => actuated);
    this.fromFile = controller;
    this.about.textContent = this.type.value ? this.about.textContent : this.fileWords();
  }
  fileWords() {
    return this.fromFile ? `The file has a controller of type ${this.fromFile.type}.` : "The file has no controller.";
  }
  build() {
    const form = this.forms.controllers.find(({ type }) => type === this.type.value);
    this.root = null;
    this.about.textContent = form ? form.about : this.fileWords();
    if (!form) return this.place.replaceChildren();
    const known = this.fromFile?.type === form.type ? this.fromFile : {};
    this.root = this.part(form.fields, known, "controller");
    return this.place.replaceChildren(this.root.element);
  }
  changes() {
    if (this.type.value === "") return {};
    if (this.type.value === NONE) return { controller: null };
    return { controller: { type: this.type.value, ...this.root.value() } };
  }

  // Fields of a part: an element, and a function that gives what was filled in.
  part(fields, known, path) {
    const made = fields.map((field) => [field, this.field(field, known?.[field.key], `${path}.${field.key}`)]);
    const needed = made.filter(([{ required }]) => required).map(([, one]) => one.element);
    const others = made.filter(([{ required }]) => !required).map(([, one]) => one.element);
    const more = others.length ? make("details", {}, make("summary", {}, "More"), ...others) : "";
    const value = () => {
      const filled = made.map(([{ key }, one]) => [key, one.value()]).filter(([, given]) => given !== undefined);
      return Object.fromEntries(filled);
    };
    return { element: make("div", {}, ...needed, more), value };
  }
  field(field, known, path) {
    if (field.kind === "reference") return this.reference(field, known, path);
    if (field.kind === "part") return this.inner(field, known, path);
    if (field.kind === "flag") return this.flag(field, known, path);
    if (field.choices.length) return this.word(field, known, path);
    return this.text(field, known, path);
  }
  labelled(field, input, path) {
    input.dataset.field = path;
    input.setAttribute("aria-label", path.replace(/^controller\./, ""));
    const text = field.unit ? `${field.key} [${field.unit}]` : field.key;
    return make("div", { class: "fields" }, make("span", {}, text), make("span", { class: "field" }, input));
  }
  text(field, known, path) {
    const first = known ?? (field.required ? BEGINNINGS[field.key]?.(this.joints) : undefined);
    const input = make("input", { class: "line", value: first === undefined ? "" : written(first), placeholder: field.default === null ? "" : written(field.default) });
    input.onchange = () => this.onChange();
    return { element: this.labelled(field, input, path), value: () => (input.value.trim() === "" ? undefined : read(input.value)) };
  }
  word(field, known, path) {
    const none = field.required ? [] : [["", field.default ?? "none"]];
    const input = choice([...none, ...field.choices.map((word) => [word, word])], known ?? "", () => this.onChange());
    return { element: this.labelled(field, input, path), value: () => input.value || undefined };
  }
  flag(field, known, path) {
    const { label, box } = checkbox(field.key, known ?? field.default ?? false, () => this.onChange());
    box.dataset.field = path;
    return { element: label, value: () => (box.checked === (field.default ?? false) ? undefined : box.checked) };
  }
  // A part that is not needed is left out until it is switched on.
  inner(field, known, path) {
    const inside = this.part(field.fields, known, path);
    if (field.required) {
      return { element: make("fieldset", {}, make("legend", {}, field.key), inside.element), value: () => inside.value() };
    }
    const on = checkbox(field.key, Boolean(known), (is) => { inside.element.hidden = !is; this.onChange(); });
    inside.element.hidden = !known;
    return { element: make("fieldset", {}, make("legend", {}, on.label), inside.element), value: () => (on.box.checked ? inside.value() : undefined) };
  }
  // The motion that is followed: a table, or one that is planned.
  reference(field, known, path) {
    const place = make("div", {});
    let inside = null;
    const fill = (type) => {
      const form = this.forms.references.find((one) => one.type === type);
      const own = (known?.type ?? TABLE) === type ? known : {};
      inside = this.part(form.fields, own, path);
      place.replaceChildren(make("p", { class: "soft" }, form.about), inside.element);
    };
    const pick = choice(this.forms.references.map(({ type }) => [type, type]), known?.type ?? TABLE, (type) => { fill(type); this.onChange(); });
    pick.setAttribute("aria-label", "Motion that is followed");
    fill(pick.value);
    const value = () => (pick.value === TABLE ? inside.value() : { type: pick.value, ...inside.value() });
    return { element: make("fieldset", {}, make("legend", {}, field.key), pick, place), value };
  }
}

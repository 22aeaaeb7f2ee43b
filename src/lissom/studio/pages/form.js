// The form of a robot: tables for all links, and one link in full.
import { button, choice, make } from "./dom.js";
import { FIRST_BODY, LinkForm } from "./form_link.js";
import { SchemaForm } from "./schema_form.js";
import { FIRST, sectionDrawing } from "./sections.js";
import { appendEdit, dataEdit } from "./yaml_text.js";

// Lengths of links that are added [m].
const LENGTHS = { beam: 0.4, rigid: 0.2 };
// Keys that name links; some of them may name the ground.
const NAMES_OF_LINKS = { link: [], joint: [], to: ["ground"], parent: ["ground"] };

export class RobotForm extends SchemaForm {
  // `rewriteJoint` gives the edits that place a joint the other way.
  constructor(schema, edit, rewriteJoint, materials) {
    super(schema, edit);
    this.rewriteJoint = rewriteJoint;
    this.chosen = 0;
    this.link = new LinkForm(this, materials);
    this.layouts = this.link.layouts;
    this.adding = {
      loops: ["Close a loop", (path) => appendEdit(this.text, path, { link: this.nameOf(this.links.length - 1), to: "ground", at: [0.5, 0, 0] })],
      masses: ["Add a mass", (path) => dataEdit(this.text, [...path, (this.at(path) ?? []).length], { node: "tip", mass: 0.1 })],
    };
    this.element = make("form", { class: "robot-form", "aria-label": "Robot" });
    this.element.onsubmit = (event) => event.preventDefault();
  }
  structure() {
    return this.chosen + super.structure();
  }
  get links() {
    return this.data?.links;
  }
  content() {
    if (!Array.isArray(this.links)) return [make("p", { class: "soft" }, "This file describes no links: change it as text.")];
    this.chosen = Math.min(this.chosen, this.links.length - 1);
    const whole = this.schema.fields.filter(({ key }) => key !== "links");
    const own = whole.filter(({ key }) => !["lissom", "count", "loops", "independent", "assembly"].includes(key));
    const closing = whole.filter((field) => !own.includes(field));
    return [this.fieldset("Robot", own, []), this.jointTable(), this.bodyTable(), this.adders(), ...this.chosenLink(), this.fieldset("Loops and checks", closing, [])];
  }
  chosenLink() {
    if (!this.links.length) return [];
    const path = ["links", this.chosen];
    return [this.fieldset(`Link ${this.nameOf(this.chosen)}`, this.fieldAt(path).fields, path)];
  }
  fieldset(title, fields, path) {
    return this.panel(title, make("div", { class: "fields" }, ...this.rows(fields, path)));
  }
  panel(title, ...inside) {
    return make("fieldset", { class: "panel" }, make("legend", {}, title), ...inside);
  }
  // A picture that follows the text.
  drawing(draw) {
    let element = draw();
    this.following.push(() => {
      const now = draw();
      element.replaceWith(now);
      element = now;
    });
    return element;
  }
  // Messages name links by their names.
  fieldName(path) {
    return path.map((step, k) => (path[k - 1] === "links" ? this.links[step]?.name ?? step : step)).join(".");
  }
  wordsOf({ key, kind, choices }) {
    const isLink = kind === "word" && key in NAMES_OF_LINKS;
    return isLink ? [...NAMES_OF_LINKS[key], ...this.links.map((_, i) => this.nameOf(i))] : choices;
  }
  nameOf(i) {
    return this.links[i]?.name ?? `link ${i + 1}`;
  }
  choose(i) {
    this.chosen = i;
    this.show(this.text);
  }
  // The link that a message is about is shown in full.
  goTo(field) {
    const i = this.links?.findIndex((link) => link?.name && field.startsWith(`links.${link.name}.`)) ?? -1;
    if (i >= 0 && i !== this.chosen) this.choose(i);
  }

  // --- all links ---
  jointTable() {
    const isPlaced = this.links.every((link) => !link?.joint?.dh);
    const places = isPlaced ? [{ span: 2, inside: "origin [m]" }, { span: 2, inside: "axis" }] : ["a [m]", "\u03b1", "d [m]", "\u03b8"];
    const head = ["Link", "Joint", ...places, "", ""];
    return this.panel("Links and joints (Denavit-Hartenberg, or origin and axis)", this.table(head, this.links.map((link, i) => this.jointRow(link, i))));
  }
  jointRow(link, i) {
    const joint = (...keys) => this.cell("links", i, "joint", ...keys);
    const name = this.nameOf(i);
    const placed = () => [{ span: 2, inside: joint("origin", "xyz") }, { span: 2, inside: joint("axis") }];
    const places = link?.joint?.dh ? ["a", "alpha", "d", "theta"].map((key) => joint("dh", key)) : placed();
    const drop = Object.assign(this.remover(["links", i]), { disabled: this.links.length < 2 });
    const named = Object.assign(this.cell("links", i, "name"), { className: "name" });
    return [named, joint("type"), ...places, this.detailButton(i, name), drop];
  }
  detailButton(i, name) {
    return button("all", () => this.choose(i), { "aria-label": `All of link ${name}`, "aria-pressed": i === this.chosen });
  }
  bodyTable() {
    const head = ["Link", "", "Body", "Dimensions [m]", "Material", "Elements"];
    return this.panel("Bodies", this.table(head, this.links.map((link, i) => this.bodyRow(link, i))));
  }
  bodyRow(link, i) {
    const name = this.nameOf(i);
    if (link?.rigid) return [name, "", "rigid", make("span", { class: "row" }, this.cell("links", i, "rigid", "mass"), "kg"), "", ""];
    if (link?.fe) return [name, "", "finite elements", this.cell("links", i, "fe", "file"), "", ""];
    if (!link?.beam) return [name, "", make("span", { class: "soft" }, "no body yet")];
    const at = ["links", i, "beam", "section"];
    const soft = (words) => make("span", { class: "soft" }, words);
    const { start } = link.beam.section ?? {};
    const shape = start ? soft(`${start.shape}, tapered`) : this.shapes(at, (picked) => this.set(at, FIRST[picked]));
    const sizes = start ? soft("below, with all of the link") : this.dimensions(at);
    const material = soft(typeof link.beam.material === "string" ? link.beam.material : "own values");
    return [name, this.drawing(() => sectionDrawing(this.at(at))), shape, sizes, material, this.cell("links", i, "beam", "elements")];
  }
  shapes(at, onpick) {
    const path = [...at, "shape"];
    return choice(Object.keys(FIRST), this.at(path), onpick, this.labels(path));
  }
  sizes(at) {
    return this.fieldAt(at).forms.find(({ type }) => type === this.at([...at, "shape"]))?.fields ?? [];
  }
  dimensions(at) {
    const sizes = this.sizes(at).filter(({ required }) => required);
    const inputs = sizes.map(({ key }) => Object.assign(this.cell(...at, key), { placeholder: key }));
    return make("span", { class: "row" }, ...inputs);
  }
  adders() {
    const add = (kind) => () => {
      const joint = { type: "revolute", dh: { a: LENGTHS[kind], alpha: 0, d: 0, theta: 0 } };
      this.chosen = this.links.length;
      this.edit(appendEdit(this.text, ["links"], { name: `link${this.freeNumber()}`, joint, [kind]: FIRST_BODY[kind] }));
    };
    return make("div", { class: "panel row" }, button("Add a flexible link", add("beam")), button("Add a rigid link", add("rigid")));
  }
  freeNumber() {
    const names = new Set(this.links.map((link) => link?.name));
    let k = this.links.length + 1;
    while (names.has(`link${k}`)) k++;
    return k;
  }
}

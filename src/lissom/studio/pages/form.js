// The form of a robot: tables for all links, and one link in full.
import { button, choice, make } from "./dom.js";
import { LinkForm } from "./form_link.js";
import { isSimple, SchemaForm } from "./schema_form.js";
import { FIRST, sectionDrawing } from "./sections.js";
import { appendEdit, dataEdit, editsInTurn } from "./yaml_text.js";

const FIRST_LINKS = {
  beam: (k) => ({
    name: `link${k}`, joint: { type: "revolute", dh: { a: 0.4, alpha: 0, d: 0, theta: 0 } },
    beam: { section: FIRST.rectangle, material: "aluminium", elements: 2 },
  }),
  rigid: (k) => ({
    name: `link${k}`, joint: { type: "revolute", dh: { a: 0.2, alpha: 0, d: 0, theta: 0 } },
    rigid: { mass: 0.5, com: [0.1, 0, 0], inertia: [1e-4, 2e-3, 2e-3] },
  }),
};
// Keys that name links; some of them may name the ground.
const NAMES_OF_LINKS = { link: [], joint: [], to: ["ground"], parent: ["ground"] };

export class RobotForm extends SchemaForm {
  // `rewriteJoint` tells how a joint is placed the other way.
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
    this.drawings = [];
    if (!Array.isArray(this.links)) return [make("p", { class: "soft" }, "This file describes no links: change it as text.")];
    this.chosen = Math.min(this.chosen, this.links.length - 1);
    const whole = this.schema.fields.filter(({ key }) => key !== "links");
    const own = whole.filter(({ key }) => !["lissom", "count", "loops", "independent", "assembly"].includes(key));
    const closing = whole.filter((field) => !own.includes(field));
    return [this.panel("Robot", own, []), this.jointTable(), this.bodyTable(), this.adders(), ...this.chosenLink(), this.panel("Loops and checks", closing, [])];
  }
  chosenLink() {
    if (!this.links.length) return [];
    const path = ["links", this.chosen];
    return [this.panel(`Link ${this.nameOf(this.chosen)}`, this.fieldAt(path).fields, path)];
  }
  panel(title, fields, path) {
    return make("fieldset", { class: "panel" }, make("legend", {}, title), make("div", { class: "fields" }, ...this.rows(fields, path)));
  }
  refresh() {
    super.refresh();
    for (const drawn of this.drawings) {
      const drawing = drawn.draw();
      drawn.element.replaceWith(drawing);
      drawn.element = drawing;
    }
  }
  // A picture that follows the text.
  drawing(draw) {
    const element = draw();
    this.drawings.push({ element, draw });
    return element;
  }
  mark(errors) {
    this.errors = errors;
    this.fields.mark(this.element, errors);
  }
  // Messages name links by their names.
  fieldName(path) {
    return path.map((step, k) => (path[k - 1] === "links" ? this.links[step]?.name ?? step : step)).join(".");
  }
  label([first, i, ...keys]) {
    return first === "links" ? `${keys.join(".")} of ${this.nameOf(i)}` : [first, i, ...keys].filter((step) => step !== undefined).join(".");
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
    return this.listing("Links and joints (Denavit-Hartenberg, or origin and axis)", head, this.links.map((link, i) => this.jointRow(link, i)));
  }
  jointRow(link, i) {
    const joint = (...keys) => this.cell("links", i, "joint", ...keys);
    const name = this.nameOf(i);
    const placed = () => [{ span: 2, inside: joint("origin", "xyz") }, { span: 2, inside: joint("axis") }];
    const places = link?.joint?.dh ? ["a", "alpha", "d", "theta"].map((key) => joint("dh", key)) : placed();
    const drop = button("\u00d7", () => this.edit(dataEdit(this.text, ["links", i], undefined)));
    drop.setAttribute("aria-label", `Remove link ${name}`);
    drop.disabled = this.links.length < 2;
    const named = Object.assign(this.cell("links", i, "name"), { className: "name" });
    return [named, joint("type"), ...places, this.detailButton(i, name), drop];
  }
  detailButton(i, name) {
    const all = button("all", () => this.choose(i));
    all.setAttribute("aria-label", `All of link ${name}`);
    all.setAttribute("aria-pressed", i === this.chosen);
    return all;
  }
  bodyTable() {
    const head = ["Link", "", "Body", "Dimensions [m]", "Material", "Elements"];
    return this.listing("Bodies", head, this.links.map((link, i) => this.bodyRow(link, i)));
  }
  bodyRow(link, i) {
    const name = this.nameOf(i);
    if (link?.rigid) return [name, "", "rigid", make("span", { class: "row" }, this.cell("links", i, "rigid", "mass"), "kg"), "", ""];
    if (link?.fe) return [name, "", "finite elements", this.cell("links", i, "fe", "file"), "", ""];
    if (!link?.beam) return [name, "", make("span", { class: "soft" }, "no body yet")];
    const at = ["links", i, "beam", "section"];
    const material = make("span", { class: "soft" }, typeof link.beam.material === "string" ? link.beam.material : "own values");
    const drawing = this.drawing(() => sectionDrawing(this.at(at)));
    return [name, drawing, this.shapeChoice(at, link.beam.section), this.dimensions(at, link.beam.section), material, this.cell("links", i, "beam", "elements")];
  }
  shapeChoice(at, section) {
    if (section?.start) return make("span", { class: "soft" }, `${section.start.shape}, tapered`);
    return this.shapes(at, (shape) => this.edit(dataEdit(this.text, at, FIRST[shape])));
  }
  shapes(at, onpick) {
    const path = [...at, "shape"];
    const made = choice(Object.keys(FIRST).map((shape) => [shape, shape]), this.at(path), onpick);
    made.setAttribute("aria-label", this.label(path));
    made.dataset.field = this.fieldName(path);
    return made;
  }
  dimensions(at, section) {
    if (section?.start) return make("span", { class: "soft" }, "below, with all of the link");
    const sizes = this.formAt(this.fieldAt(at), at).fields.filter((field) => field.required && isSimple(field));
    const inputs = sizes.map(({ key }) => Object.assign(this.cell(...at, key), { placeholder: key }));
    return make("span", { class: "row" }, ...inputs);
  }
  adders() {
    const add = (kind) => () => {
      const k = this.freeNumber();
      this.chosen = this.links.length;
      this.edit(appendEdit(this.text, ["links"], FIRST_LINKS[kind](k)));
    };
    return make("div", { class: "panel row" }, button("Add a flexible link", add("beam")), button("Add a rigid link", add("rigid")));
  }
  freeNumber() {
    const names = new Set(this.links.map((link) => link?.name));
    let k = this.links.length + 1;
    while (names.has(`link${k}`)) k++;
    return k;
  }
  // Several changes as one step to undo.
  change(...makers) {
    this.edit(editsInTurn(this.text, ...makers));
  }
  listing(title, head, rows) {
    const cells = (row) => row.map((cell) => make("td", { colSpan: cell?.span }, cell?.inside ?? cell));
    return make("fieldset", { class: "panel" }, make("legend", {}, title),
      make("table", {},
        make("thead", {}, make("tr", {}, ...head.map((cell) => (cell ? make("th", { scope: "col", colSpan: cell.span }, cell.inside ?? cell) : make("td", {}))))),
        make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row))))));
  }
}

// The form of a robot: every entry that a description knows. Tables for all links, and one link in full.
import { button, choice, labelled, make } from "./dom.js";
import { Fields } from "./form_fields.js";
import { LinkForm } from "./form_link.js";
import { LoopForm } from "./form_loops.js";
import { FIRST, SHAPES, sectionDrawing } from "./sections.js";
import { appendEdit, dataAt, dataEdit, documentOf, editsInTurn } from "./yaml_text.js";

const JOINTS = [["revolute", "revolute"], ["prismatic", "prismatic"], ["fixed", "fixed"]];
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

export class RobotForm {
  // `edit` is handed each change of the text; `rewriteJoint` tells how a joint is placed the other way.
  constructor(edit, rewriteJoint, materials) {
    Object.assign(this, { edit, rewriteJoint });
    this.fields = new Fields(edit);
    this.chosen = 0;
    this.link = new LinkForm(this, materials);
    this.loops = new LoopForm(this);
    this.element = make("form", { class: "robot-form", "aria-label": "Robot" });
    this.element.onsubmit = (event) => event.preventDefault();
  }

  show(text) {
    const document_ = documentOf(text);
    // While the text is no YAML the form waits, as it was.
    if (!document_) return;
    this.text = text;
    this.document = document_;
    this.fields.at(text, document_, (path) => this.fieldName(path));
    const links = dataAt(document_, ["links"]);
    if (!Array.isArray(links)) {
      this.element.replaceChildren(make("p", { class: "soft" }, "This file describes no links: change it as text."));
      this.key = null;
      return;
    }
    this.links = links;
    this.chosen = Math.min(this.chosen, links.length - 1);
    const key = JSON.stringify([this.chosen, structure(document_.toJSON())]);
    // Only other values: the fields stay where they are, and so does the one that the user is in.
    if (key === this.key) return this.refresh();
    this.key = key;
    this.build();
  }
  build() {
    this.fields.clear();
    this.drawings = [];
    const focus = window.document.activeElement?.dataset?.field;
    this.element.replaceChildren(this.general(), this.jointTable(), this.bodyTable(), this.adding(), this.link.element(this.chosen), this.loops.element());
    if (focus) this.element.querySelector(`[data-field="${CSS.escape(focus)}"]`)?.focus();
    this.mark(this.errors ?? []);
  }
  refresh() {
    this.fields.refresh();
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
  // Messages name links by their names.
  mark(errors) {
    this.errors = errors;
    this.fields.mark(this.element, errors);
  }
  fieldName(path) {
    return path.map((step, k) => (path[k - 1] === "links" ? this.links[step]?.name ?? step : step)).join(".");
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

  // --- the whole robot ---
  general() {
    const { fields } = this;
    const gravity = [0, 1, 2].map((k) => fields.input(["gravity", k], `Gravity ${"xyz"[k]} in m/s\u00b2`, "number"));
    const damping = ["alpha", "beta", "ratio"].map((key) => labelled(key, fields.input(["damping", key], `Damping ${key}`, "number")));
    return make("fieldset", { class: "panel" }, make("legend", {}, "Robot"),
      make("div", { class: "fields" },
        ...labelled("Name", fields.input(["name"], "Name")),
        make("span", {}, "Gravity [m/s\u00b2]"), make("span", { class: "row field" }, ...gravity, fields.check(["planar"], "planar", false)),
        make("span", {}, "Damping"), make("span", { class: "row field" }, ...damping.flat()),
        make("span", {}, "Payload"), make("span", { class: "row field" },
          ...labelled("mass [kg]", fields.input(["payload", "mass"], "Payload mass in kg", "number")),
          ...labelled("inertia [kg m\u00b2]", fields.line(["payload", "inertia"], "Payload inertia in kg m\u00b2", "[0, 0, 0]")),
          ...labelled("offset [m]", fields.line(["payload", "offset"], "Payload offset from the tip in m", "[0, 0, 0]")))));
  }

  // --- all links ---
  jointTable() {
    const isPlaced = this.links.every((link) => !link?.joint?.dh);
    const places = isPlaced ? [{ span: 2, inside: "origin [m]" }, { span: 2, inside: "axis" }] : ["a [m]", "\u03b1", "d [m]", "\u03b8"];
    const head = ["Link", "Joint", ...places, "", ""];
    return this.table("Links and joints (Denavit-Hartenberg, or origin and axis)", head, this.links.map((link, i) => this.jointRow(link, i)));
  }
  jointRow(link, i) {
    const at = ["links", i, "joint"];
    const name = this.nameOf(i);
    const cells = [this.fields.input(["links", i, "name"], "Name of the link", "name"), this.fields.select([...at, "type"], JOINTS, `Joint of ${name}`)];
    if (link?.joint?.dh) for (const key of ["a", "alpha", "d", "theta"]) cells.push(this.fields.input([...at, "dh", key], `${key} of ${name}`));
    else cells.push(...this.placed(at, name));
    const drop = button("\u00d7", () => this.edit(dataEdit(this.text, ["links", i], undefined)));
    drop.setAttribute("aria-label", `Remove link ${name}`);
    drop.disabled = this.links.length < 2;
    return [...cells, this.detailButton(i, name), drop];
  }
  detailButton(i, name) {
    const all = button("all", () => this.choose(i));
    all.setAttribute("aria-label", `All of link ${name}`);
    all.setAttribute("aria-pressed", i === this.chosen);
    return all;
  }
  // Joints that are placed by origin and axis.
  placed(at, name) {
    const xyz = this.fields.line([...at, "origin", "xyz"], `Origin of ${name} in m`, "tip before");
    const axis = this.fields.line([...at, "axis"], `Axis of ${name}`, "[0, 0, 1]");
    return [{ span: 2, inside: xyz }, { span: 2, inside: axis }];
  }
  bodyTable() {
    const head = ["Link", "", "Body", "Dimensions [m]", "Material", "Elements"];
    return this.table("Bodies", head, this.links.map((link, i) => this.bodyRow(link, i)));
  }
  bodyRow(link, i) {
    const name = this.nameOf(i);
    if (link?.rigid) return [name, "", "rigid", make("span", { class: "row" }, this.fields.input(["links", i, "rigid", "mass"], `Mass of ${name} in kg`), "kg"), "", ""];
    if (link?.fe) return [name, "", "finite elements", this.fields.input(["links", i, "fe", "file"], `File of ${name}`, "line"), "", ""];
    if (!link?.beam) return [name, "", make("span", { class: "soft" }, "no body yet")];
    const at = ["links", i, "beam"];
    const section = () => this.links[i]?.beam?.section;
    const material = make("span", { class: "soft" }, typeof link.beam.material === "string" ? link.beam.material : "own values");
    return [name, this.drawing(() => sectionDrawing(section())), this.shapeChoice(at, section(), name),
      this.dimensions([...at, "section"], section(), name), material, this.fields.input([...at, "elements"], `Elements of ${name}`)];
  }
  shapeChoice(at, section, name) {
    if (section?.start) return make("span", { class: "soft" }, `${section.start.shape}, tapered`);
    const options = Object.keys(SHAPES).map((shape) => [shape, shape]);
    const made = choice(options, section?.shape, (shape) => this.edit(dataEdit(this.text, [...at, "section"], FIRST[shape])));
    made.setAttribute("aria-label", `Section of ${name}`);
    made.dataset.field = this.fieldName([...at, "section", "shape"]);
    return made;
  }
  dimensions(path, section, name) {
    if (section?.start) return make("span", { class: "soft" }, "below, with all of the link");
    const inputs = (SHAPES[section?.shape] ?? []).map((key) => this.fields.input([...path, key], `${key} of ${name} in m`, "", key));
    return make("span", { class: "row" }, ...inputs);
  }
  adding() {
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

  table(title, head, rows) {
    const cells = (row) => row.map((cell) => make("td", { colSpan: cell?.span }, cell?.inside ?? cell));
    return make("fieldset", { class: "panel" }, make("legend", {}, title),
      make("table", {},
        make("thead", {}, make("tr", {}, ...head.map((cell) => (cell ? make("th", { scope: "col", colSpan: cell.span }, cell.inside ?? cell) : make("td", {}))))),
        make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row))))));
  }
}

// What decides which fields there are; two texts with the same structure differ in numbers alone.
function structure(value) {
  if (Array.isArray(value)) return value.every((entry) => typeof entry === "number") ? 0 : value.map(structure);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, structure(entry)]));
  return typeof value === "number" || value === null ? 0 : value;
}

// The form of a robot: the entries of its description that most robots have. What it does not show stays in the text.
import { button, choice, labelled, make } from "./dom.js";
import { FIRST, SHAPES, sectionDrawing } from "./sections.js";
import { appendEdit, dataAt, dataEdit, documentOf, valueEdit, writtenAt } from "./yaml_text.js";

const JOINTS = [["revolute", "revolute"], ["prismatic", "prismatic"], ["fixed", "fixed"]];
const OWN = "own values";
// Of a joint's drive: key, heading, and what it is in words.
const DRIVE = [
  [["motor", "inertia"], "Rotor [kg m\u00b2]", "Rotor inertia in kg m\u00b2"],
  [["motor", "ratio"], "Gear", "Gear ratio"],
  [["friction", "viscous"], "Viscous", "Viscous friction in N m s"],
  [["friction", "coulomb"], "Coulomb", "Coulomb friction in N m"],
  [["limits", "torque"], "Most torque", "Largest torque in N m"],
];

export class RobotForm {
  // `edit` is handed each change of the text.
  constructor(edit, materials) {
    this.edit = edit;
    this.materials = materials;
    this.element = make("form", { class: "robot-form", "aria-label": "Robot" });
    this.element.onsubmit = (event) => event.preventDefault();
  }

  show(text) {
    const document_ = documentOf(text);
    // While the text is no YAML the form waits, as it was.
    if (!document_) return;
    this.text = text;
    this.document = document_;
    const links = dataAt(document_, ["links"]);
    if (!Array.isArray(links)) {
      this.element.replaceChildren(make("p", { class: "soft" }, "This file describes no links: change it as text."));
      this.key = null;
      return;
    }
    this.links = links;
    const key = structure(links);
    // Only other values: the fields stay where they are, and so does the one that the user is in.
    if (key === this.key) return this.refresh();
    this.key = key;
    this.fields = [];
    this.drawings = [];
    const focus = window.document.activeElement?.dataset?.field;
    this.element.replaceChildren(
      this.general(), this.jointTable(), this.bodyTable(), this.adding(), this.driveTable(), this.massTable(), this.inText() ?? "");
    if (focus) this.element.querySelector(`[data-field="${CSS.escape(focus)}"]`)?.focus();
  }

  refresh() {
    for (const { input, path } of this.fields) input.value = writtenAt(this.text, this.document, path);
    for (const drawn of this.drawings) {
      const drawing = sectionDrawing(this.links[drawn.i].beam.section);
      drawn.element.replaceWith(drawing);
      drawn.element = drawing;
    }
  }

  // Marks the fields that the validator complains about; messages name links by their names.
  mark(errors) {
    for (const input of this.element.querySelectorAll("[data-field]")) {
      const found = errors.filter(({ field }) => field === input.dataset.field);
      if (found.length) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
      input.title = found.map(({ message }) => message).join("\n");
    }
  }

  // --- fields ---
  fieldName(path) {
    return path.map((step, k) => (path[k - 1] === "links" ? this.links[step]?.name ?? step : step)).join(".");
  }
  input(path, label, kind = "") {
    const value = writtenAt(this.text, this.document, path);
    const made = make("input", { class: kind, value, "aria-label": label });
    made.dataset.field = this.fieldName(path);
    made.onchange = () => this.edit(valueEdit(this.text, path, made.value));
    this.fields.push({ input: made, path });
    return made;
  }
  select(path, options, label) {
    const value = writtenAt(this.text, this.document, path);
    const made = choice(options, value, (picked) => this.edit(valueEdit(this.text, path, picked)));
    made.setAttribute("aria-label", label);
    made.dataset.field = this.fieldName(path);
    this.fields.push({ input: made, path });
    return made;
  }

  general() {
    const gravity = [0, 1, 2].map((k) => this.input(["gravity", k], `Gravity ${"xyz"[k]} in m/s\u00b2`, "number"));
    const damping = ["alpha", "beta", "ratio"].map((key) => labelled(key, this.input(["damping", key], `Damping ${key}`, "number")));
    return make("fieldset", { class: "panel" }, make("legend", {}, "Robot"),
      make("div", { class: "fields" },
        ...labelled("Name", this.input(["name"], "Name")),
        make("span", {}, "Gravity [m/s\u00b2]"), make("span", { class: "row" }, ...gravity),
        make("span", {}, "Damping"), make("span", { class: "row" }, ...damping.flat()),
        ...labelled("Payload mass [kg]", this.input(["payload", "mass"], "Payload mass in kg", "number"))));
  }

  jointTable() {
    const head = ["Link", "Joint", "a [m]", "\u03b1", "d [m]", "\u03b8", ""];
    const rows = this.links.map((link, i) => this.jointRow(link, i));
    return this.table("Links and joints (Denavit-Hartenberg, or origin and axis)", head, rows);
  }
  jointRow(link, i) {
    const at = ["links", i, "joint"];
    const name = link?.name ?? `link ${i + 1}`;
    const cells = [this.input(["links", i, "name"], "Name of the link", "name"), this.select([...at, "type"], JOINTS, `Joint of ${name}`)];
    if (link?.joint?.origin || link?.joint?.axis) cells.push(...this.placed(at, name));
    else for (const key of ["a", "alpha", "d", "theta"]) cells.push(this.input([...at, "dh", key], `${key} of ${name}`));
    const drop = button("\u00d7", () => this.edit(dataEdit(this.text, ["links", i], undefined)));
    drop.setAttribute("aria-label", `Remove link ${name}`);
    drop.disabled = this.links.length < 2;
    return [...cells, drop];
  }
  // Joints that are placed by origin and axis: x, y, z, and the axis in one field.
  placed(at, name) {
    const cells = [0, 1, 2].map((k) => this.input([...at, "origin", "xyz", k], `Origin ${"xyz"[k]} of ${name} in m`));
    const axis = make("span", { class: "soft" }, `axis ${JSON.stringify(dataAt(this.document, [...at, "axis"]) ?? [0, 0, 1])}`);
    return [...cells, axis];
  }

  bodyTable() {
    const head = ["Link", "", "Section", "Dimensions [m]", "Material", "E [Pa]", "Elements"];
    const rows = this.links.map((link, i) => this.bodyRow(link, i));
    return this.table("Bodies", head, rows);
  }
  bodyRow(link, i) {
    const name = link?.name ?? `link ${i + 1}`;
    if (!link?.beam) return [name, "", this.rigidCell(link, i, name)];
    const at = ["links", i, "beam"];
    const { section } = link.beam;
    const element = sectionDrawing(section);
    this.drawings.push({ element, i });
    return [name, element, this.shapeChoice(at, section, name), this.dimensions(at, section, name),
      this.materialChoice(at, link.beam.material, name), this.modulus(at, link.beam.material, name),
      this.input([...at, "elements"], `Elements of ${name}`)];
  }
  rigidCell(link, i, name) {
    if (!link?.rigid) return make("span", { class: "soft" }, link?.fe ? "finite elements: in the text" : "no body yet");
    const mass = this.input(["links", i, "rigid", "mass"], `Mass of ${name} in kg`);
    return make("span", { class: "row" }, "rigid", mass, "kg");
  }
  shapeChoice(at, section, name) {
    if (!section?.shape) return make("span", { class: "soft" }, "tapered");
    const options = Object.keys(SHAPES).map((shape) => [shape, shape]);
    const made = choice(options, section.shape, (shape) => this.edit(dataEdit(this.text, [...at, "section"], FIRST[shape])));
    made.setAttribute("aria-label", `Section of ${name}`);
    made.dataset.field = this.fieldName([...at, "section"]);
    return made;
  }
  dimensions(at, section, name) {
    const keys = SHAPES[section?.shape] ?? [];
    const inputs = keys.map((key) => {
      const made = this.input([...at, "section", key], `${key} of ${name} in m`);
      made.placeholder = key;
      return made;
    });
    return make("span", { class: "row" }, ...inputs);
  }
  materialChoice(at, material, name) {
    const isNamed = typeof material === "string";
    const options = [...this.materials.map((known) => [known.name, known.name]), [OWN, OWN]];
    const made = choice(options, isNamed ? material : OWN, (picked) => this.edit(this.materialEdit(at, picked)));
    made.setAttribute("aria-label", `Material of ${name}`);
    made.dataset.field = this.fieldName([...at, "material"]);
    return made;
  }
  materialEdit(at, picked) {
    const path = [...at, "material"];
    if (picked !== OWN) return dataEdit(this.text, path, picked);
    const current = dataAt(this.document, path);
    const { E, nu, density } = this.materials.find(({ name }) => name === current) ?? this.materials[0];
    return dataEdit(this.text, path, { E, nu, density });
  }
  modulus(at, material, name) {
    if (typeof material !== "string") return this.input([...at, "material", "E"], `Young's modulus of ${name} in Pa`);
    const known = this.materials.find((entry) => entry.name === material);
    return make("span", { class: "soft numbers" }, known ? known.E.toExponential(2) : "");
  }

  // Motors, gears and friction of the joints that move.
  driveTable() {
    const rows = [];
    this.links.forEach((link, i) => {
      if (!link?.joint || link.joint.type === "fixed") return;
      const cells = DRIVE.map(([keys, , words]) => this.input(["links", i, "joint", ...keys], `${words} of ${link.name}`));
      rows.push([link.name ?? "", ...cells]);
    });
    return this.table("Motors and drives", ["Joint", ...DRIVE.map(([, heading]) => heading)], rows);
  }
  massTable() {
    const rows = [];
    this.links.forEach((link, i) => massesOf(link).forEach((_, k) => {
      const at = ["links", i, "masses", k];
      const drop = button("\u00d7", () => this.edit(dataEdit(this.text, at, undefined)));
      drop.setAttribute("aria-label", `Remove mass ${k + 1} of ${link.name}`);
      rows.push([link.name, this.input([...at, "node"], `Node of mass ${k + 1} of ${link.name}`),
        this.input([...at, "mass"], `Mass ${k + 1} of ${link.name} in kg`), drop]);
    }));
    const links = this.links.map((link, i) => [i, link?.name ?? `link ${i + 1}`]);
    const where = choice(links, 0, () => {});
    where.setAttribute("aria-label", "Link of the new mass");
    const add = button("Add a mass", () => this.edit(this.massEdit(+where.value)));
    const table = this.table("Lumped masses", ["Link", "Node", "Mass [kg]", ""], rows);
    table.append(make("div", { class: "row" }, where, add));
    return table;
  }
  massEdit(i) {
    const masses = [...massesOf(this.links[i]), { node: "tip", mass: 0.1 }];
    return dataEdit(this.text, ["links", i, "masses"], masses);
  }
  // What this robot has and the form does not show.
  inText() {
    const found = ["loops", "independent", "assembly"].filter((key) => this.document.has(key));
    if (this.links.some((link) => link?.fe)) found.push("finite-element links");
    if (this.links.some((link) => link?.parent)) found.push("parents of links");
    return found.length ? make("p", { class: "soft" }, `In the text alone: ${found.join(", ")}.`) : null;
  }

  adding() {
    const beam = (k) => ({
      name: `link${k}`, joint: { type: "revolute", dh: { a: 0.4, alpha: 0, d: 0, theta: 0 } },
      beam: { section: FIRST.rectangle, material: "aluminium", elements: 2 },
    });
    const rigid = (k) => ({
      name: `link${k}`, joint: { type: "revolute", dh: { a: 0.2, alpha: 0, d: 0, theta: 0 } },
      rigid: { mass: 0.5, com: [0.1, 0, 0], inertia: [1e-4, 2e-3, 2e-3] },
    });
    const add = (link) => () => this.edit(appendEdit(this.text, ["links"], link(this.freeNumber())));
    return make("div", { class: "panel row" }, button("Add a flexible link", add(beam)), button("Add a rigid link", add(rigid)));
  }
  freeNumber() {
    const names = new Set(this.links.map((link) => link?.name));
    let k = this.links.length + 1;
    while (names.has(`link${k}`)) k++;
    return k;
  }

  table(title, head, rows) {
    const cells = (row) => row.map((cell) => make("td", {}, cell));
    return make("fieldset", { class: "panel" }, make("legend", {}, title),
      make("table", {},
        make("thead", {}, make("tr", {}, ...head.map((text) => text ? make("th", { scope: "col" }, text) : make("td", {})))),
        make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row))))));
  }
}

// While it is typed, an entry can be anything.
const massesOf = (link) => (Array.isArray(link?.masses) ? link.masses : []);

// What decides which fields there are; two texts with the same structure differ in values alone.
function structure(links) {
  const rows = links.map((link) => {
    const { joint, beam, rigid, fe } = link ?? {};
    const material = typeof beam?.material === "string" ? beam.material : OWN;
    const body = beam ? [beam.section?.shape, material] : [Boolean(rigid), Boolean(fe)];
    return [link?.name, joint?.type, Boolean(joint?.origin || joint?.axis), body, massesOf(link).length];
  });
  return JSON.stringify(rows);
}

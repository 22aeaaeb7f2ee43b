// One link in full: where its joint sits and what drives it, its body, what sits on it.
import { button, choice, labelled, make, notice } from "./dom.js";
import { MaterialChoice } from "./form_materials.js";
import { FIRST, SHAPES, largeSectionDrawing } from "./sections.js";
import { dataAt, dataEdit } from "./yaml_text.js";

const BODIES = [["beam", "beam that bends"], ["rigid", "rigid"], ["fe", "finite elements"]];
const FIRST_BODY = {
  beam: { section: FIRST.rectangle, material: "aluminium", elements: 2 },
  rigid: { mass: 0.5, com: [0.1, 0, 0], inertia: [1e-4, 2e-3, 2e-3] },
  fe: { file: "link.npz" },
};
const PLACES = [["dh", "Denavit-Hartenberg parameters"], ["origin", "origin and axis"]];
const words = (...names) => [["", "default"], ...names.map((name) => [name, name])];

export class LinkForm {
  constructor(form, materials) {
    this.form = form;
    this.materials = new MaterialChoice(form, materials);
  }
  get fields() {
    return this.form.fields;
  }
  element(i) {
    this.i = i;
    this.at = ["links", i];
    this.name = this.form.nameOf(i);
    const link = this.form.links[i] ?? {};
    const moves = link.joint && link.joint.type !== "fixed";
    return make("fieldset", { class: "panel link-form" }, make("legend", {}, `Link ${this.name}`),
      make("h2", { class: "small" }, "Joint"), this.joint(link), moves ? this.drive() : "",
      make("h2", { class: "small" }, "Body"), this.body(link),
      make("h2", { class: "small" }, "Lumped masses"), this.masses(link),
      make("h2", { class: "small" }, "Damping of this link"), this.damping());
  }
  // Rows of label and field; lists of numbers in one line.
  rows(...entries) {
    const made = entries.flatMap(([text, field]) => {
      const [label, input] = labelled(text, field);
      return [label, make("span", { class: "field" }, input)];
    });
    return make("div", { class: "fields" }, ...made);
  }
  input(keys, words_, kind = "number") {
    return this.fields.input([...this.at, ...keys], `${words_} of ${this.name}`, kind);
  }
  line(keys, words_, placeholder) {
    return this.fields.line([...this.at, ...keys], `${words_} of ${this.name}`, placeholder);
  }
  edit(keys, data) {
    return (text) => dataEdit(text, [...this.at, ...keys], data);
  }

  // --- joint ---
  joint(link) {
    const place = link.joint?.dh ? "dh" : "origin";
    const pick = choice(PLACES, place, (picked) => this.placeBy(picked));
    const rows = [["Placed by", pick], ["Carried by", this.input(["parent"], "Carrier", "")]];
    if (place === "origin") {
      rows.push(["Origin xyz [m]", this.line(["joint", "origin", "xyz"], "Joint origin in m", "tip of the link before")],
        ["Turn rpy [rad]", this.line(["joint", "origin", "rpy"], "Turn of the joint frame", "[0, 0, 0]")],
        ["Axis", this.line(["joint", "axis"], "Joint axis", "[0, 0, 1]")]);
    }
    return this.rows(...rows);
  }
  // The other way of writing a joint: the service says what changes, and the robot stays as it is.
  async placeBy(picked) {
    const { form, i } = this;
    try {
      const edits = await form.rewriteJoint(i, picked);
      form.change(...edits.map(({ path, data }) => (text) => dataEdit(text, path, data ?? undefined)));
    } catch (failure) {
      notice(failure.message);
      form.build();
    }
  }
  drive() {
    const row = (...fields) => make("span", { class: "row" }, ...fields.flatMap(([text, field]) => labelled(text, field)));
    return make("div", { class: "fields" },
      make("span", {}, "Motor"), row(["rotor [kg m\u00b2]", this.input(["joint", "motor", "inertia"], "Rotor inertia in kg m\u00b2")], ["gear ratio", this.input(["joint", "motor", "ratio"], "Gear ratio")]),
      make("span", {}, "Friction"), row(["viscous", this.input(["joint", "friction", "viscous"], "Viscous friction in N m s")], ["Coulomb", this.input(["joint", "friction", "coulomb"], "Coulomb friction in N m")], ["width", this.input(["joint", "friction", "width"], "Speed at which Coulomb friction is reached")]),
      make("span", {}, "Limits"), row(["range", this.line(["joint", "limits", "position"], "Range in rad or m", "[-3.1, 3.1]")], ["torque", this.input(["joint", "limits", "torque"], "Largest torque in N m")]),
      make("span", {}, "Drive"), make("span", { class: "row" }, this.fields.check([...this.at, "joint", "actuated"], "driven", true), this.fields.check([...this.at, "joint", "limits", "stop"], "stops at its range", false)));
  }

  // --- body ---
  body(link) {
    const kind = ["beam", "rigid", "fe"].find((key) => link[key]) ?? "";
    const pick = choice(kind ? BODIES : [["", "none yet"], ...BODIES], kind, (picked) => this.makeBody(kind, picked));
    const parts = { beam: () => this.beam(link.beam), rigid: () => this.rigid(), fe: () => this.fe() };
    return make("div", {}, this.rows(["Kind", pick]), parts[kind]?.() ?? "");
  }
  makeBody(before, picked) {
    const drop = before ? [this.edit([before], undefined)] : [];
    this.form.change(this.edit([picked], FIRST_BODY[picked]), ...drop);
  }
  beam(beam) {
    return make("div", {}, this.section(beam.section), this.materials.element(this.at, beam.material, this.name),
      this.rows(["Elements", this.input(["beam", "elements"], "Number of elements")],
        ["Segments", this.input(["beam", "segments"], "Segments for large deflections")],
        ["Theory", this.fields.select([...this.at, "beam", "theory"], words("euler-bernoulli", "timoshenko"), `Beam theory of ${this.name}`)],
        ["Mass matrix", this.fields.select([...this.at, "beam", "mass"], words("consistent", "lumped", "lumped-points"), `Mass matrix of ${this.name}`)],
        ["Path [m]", this.line(["beam", "path"], "Path of the beam in m", "along the link")],
        ["Section z axis", this.line(["beam", "up"], "Direction of the section's z axis", "the joint axis")]));
  }
  section(section) {
    const path = ["beam", "section"];
    const isTapered = Boolean(section?.start);
    const taper = make("input", { type: "checkbox", checked: isTapered });
    taper.onchange = () => this.form.change(this.edit(path, isTapered ? section.start : { start: section, end: section }));
    const ends = isTapered ? [["start", "Section at the joint"], ["end", "Section at the tip"]] : [[null, "Section"]];
    return make("div", {}, make("label", { class: "check" }, taper, "tapered"),
      make("div", { class: "row sections" }, ...ends.map(([end, title]) => this.sectionEnd(end ? [...path, end] : path, title))));
  }
  sectionEnd(path, title) {
    const { form } = this;
    const at = [...this.at, ...path];
    const here = () => dataAt(form.document, at);
    const pick = choice(Object.keys(SHAPES).map((shape) => [shape, shape]), here()?.shape, (shape) => this.reshape(path, shape));
    const keys = SHAPES[here()?.shape] ?? [];
    const sizes = keys.map((key) => [key, this.fields.input([...at, key], `${title}: ${key} of ${this.name}`, "number")]);
    return make("div", { class: "section-end" }, form.drawing(() => largeSectionDrawing(here(), title)), this.rows([title, pick], ...sizes));
  }
  // Both ends of a taper have one shape.
  reshape(path, shape) {
    const isEnd = path.at(-1) === "start" || path.at(-1) === "end";
    const data = isEnd ? { start: FIRST[shape], end: FIRST[shape] } : FIRST[shape];
    this.form.change(this.edit(isEnd ? path.slice(0, -1) : path, data));
  }
  rigid() {
    return this.rows(["Mass [kg]", this.input(["rigid", "mass"], "Mass in kg")], ["Centre of mass [m]", this.line(["rigid", "com"], "Centre of mass in m", "[0, 0, 0]")],
      ["Inertia [kg m\u00b2]", this.line(["rigid", "inertia"], "Inertia about the centre in kg m\u00b2", "[xx, yy, zz] or six, or 3x3")],
      ["Tip [m]", this.line(["rigid", "tip"], "Tip in m", "the next joint")]);
  }
  fe() {
    return this.rows(["File", this.input(["fe", "file"], "Finite-element file", "line")],
      ["Interface nodes", this.line(["fe", "interface"], "Interface nodes", "{inner: 1, tip: 57}")],
      ["Turn rpy [rad]", this.line(["fe", "rpy"], "Turn of the finite elements", "[0, 0, 0]")],
      ["Modes kept", this.input(["fe", "modes"], "Modes kept")],
      ["Reduction", this.fields.select([...this.at, "fe", "method"], words("craig-bampton", "guyan", "free-interface"), `Reduction of ${this.name}`, { rubin: "free-interface" })]);
  }

  // --- what sits on it ---
  masses(link) {
    const masses = Array.isArray(link.masses) ? link.masses : [];
    const rows = masses.map((_, k) => {
      const drop = button("\u00d7", () => this.form.change(this.edit(["masses", k], undefined)));
      drop.setAttribute("aria-label", `Remove mass ${k + 1} of ${this.name}`);
      const which = `mass ${k + 1}`;
      const cells = [this.input(["masses", k, "node"], `Node of ${which}`), this.input(["masses", k, "mass"], `Kilograms of ${which}`),
        this.line(["masses", k, "inertia"], `Inertia of ${which}`, "[0, 0, 0]"), this.line(["masses", k, "offset"], `Offset of ${which}`, "[0, 0, 0]"), drop];
      return make("tr", {}, ...cells.map((cell) => make("td", {}, cell)));
    });
    const head = ["Node", "Mass [kg]", "Inertia [kg m\u00b2]", "Offset [m]", ""].map((text) => (text ? make("th", { scope: "col" }, text) : make("td", {})));
    const add = button("Add a mass", () => this.form.change(this.edit(["masses"], [...masses, { node: "tip", mass: 0.1 }])));
    return make("div", {}, rows.length ? make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)) : "", add);
  }
  damping() {
    const keys = ["alpha", "beta", "ratio"];
    return make("span", { class: "row field" }, ...keys.flatMap((key) => labelled(key, this.input(["damping", key], `Own damping ${key}`))));
  }
}

// What the form lays out by hand in one link: where its joint sits, its body, its section with a drawing, its material.
import { checkbox, choice, make, notice } from "./dom.js";
import { MaterialChoice } from "./form_materials.js";
import { heading, rowOf } from "./schema_form.js";
import { FIRST, largeSectionDrawing } from "./sections.js";
import { dataEdit } from "./yaml_text.js";

const BODIES = [["beam", "beam that bends"], ["rigid", "rigid"], ["fe", "finite elements"]];
export const FIRST_BODY = {
  beam: { section: FIRST.rectangle, material: "aluminium", elements: 2 },
  rigid: { mass: 0.5, com: [0.1, 0, 0], inertia: [1e-4, 2e-3, 2e-3] },
  fe: { file: "link.npz" },
};
const PLACES = [["dh", "Denavit-Hartenberg parameters"], ["origin", "origin and axis"]];
const edit = (path, data) => (text) => dataEdit(text, path, data);
const wide = (...inside) => make("div", { class: "wide" }, ...inside);

export class LinkForm {
  constructor(form, materials) {
    this.form = form;
    this.materials = new MaterialChoice(form, materials);
    const inTables = () => [];
    const body = (field, path) => (form.at(path) ? form.rows(field.fields, path) : []);
    const unlessDh = (field, path) => (form.at([...path.slice(0, -1), "dh"]) ? [] : form.plainRow(field, path));
    const unlessFixed = (field, path) => (form.at(["links", path[1], "joint", "type"]) === "fixed" ? [] : form.plainRow(field, path));
    const drive = Object.fromEntries(["motor", "friction", "limits", "actuated", "follows"].map((key) => [`links.joint.${key}`, unlessFixed]));
    this.layouts = {
      ...drive,
      "links.name": inTables, "links.joint.type": inTables, "links.joint.dh": inTables,
      "links.joint.origin": unlessDh, "links.joint.axis": unlessDh,
      "links.joint": (field, path) => [heading("Joint"), ...this.place(path), ...form.rows(field.fields, path)],
      "links.beam": (field, path) => [heading("Body"), ...this.kind(path.slice(0, -1)), ...body(field, path)],
      "links.rigid": body, "links.fe": body,
      "links.beam.section": (field, path) => [wide(...this.section(field, path))],
      "links.beam.material": (field, path) => [wide(this.materials.element(field, path))],
      "links.masses": (field, path) => [heading("Lumped masses"), ...form.plainRow(field, path), heading("Link")],
    };
  }

  // The other way of writing a joint: the server answers with the edits, and the robot stays as it is.
  place(path) {
    const pick = choice(PLACES, this.form.at([...path, "dh"]) ? "dh" : "origin", (picked) => this.placeBy(path[1], picked));
    return rowOf("Placed by", pick);
  }
  async placeBy(i, picked) {
    const { form } = this;
    try {
      const edits = await form.rewriteJoint(i, picked);
      form.change(...edits.map(({ path, data }) => edit(path, data ?? undefined)));
    } catch (failure) {
      notice(failure.message);
      form.build();
    }
  }

  kind(path) {
    const kind = BODIES.map(([key]) => key).find((key) => this.form.at([...path, key])) ?? "";
    const drop = kind ? [edit([...path, kind], undefined)] : [];
    const begin = (picked) => this.form.change(edit([...path, picked], FIRST_BODY[picked]), ...drop);
    return rowOf("Kind", choice(kind ? BODIES : [["", "none yet"], ...BODIES], kind, begin));
  }

  section(field, path) {
    const { form } = this;
    const section = form.at(path);
    const isTapered = Boolean(section?.start);
    const taper = checkbox("tapered", isTapered, () => form.set(path, isTapered ? section.start : { start: section, end: section }));
    const ends = isTapered ? [["start", "Section at the joint"], ["end", "Section at the tip"]] : [[null, "Section"]];
    const made = ends.map(([end, title]) => this.sectionEnd(end ? [...path, end] : path, title, path, isTapered));
    return [taper, make("div", { class: "row sections" }, ...made)];
  }
  // Both ends of a taper have one shape.
  sectionEnd(at, title, path, isTapered) {
    const { form } = this;
    const reshape = (shape) => form.set(path, isTapered ? { start: FIRST[shape], end: FIRST[shape] } : FIRST[shape]);
    const sizes = form.rows(form.sizes(at), at);
    return make("div", { class: "section-end" }, form.drawing(() => largeSectionDrawing(form.at(at), title)),
      make("div", { class: "fields" }, ...rowOf(title, form.shapes(at, reshape)), ...sizes));
  }
}

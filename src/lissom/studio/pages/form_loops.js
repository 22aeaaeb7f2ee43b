// Loops: tips of links that are joined to the ground or to other links, and where the chain is closed.
import { button, choice, labelled, make } from "./dom.js";
import { appendEdit, dataAt, dataEdit } from "./yaml_text.js";

const TYPES = [["revolute", "revolute"], ["prismatic", "prismatic"], ["fixed", "fixed"]];

export class LoopForm {
  constructor(form) {
    this.form = form;
  }
  element() {
    const { form } = this;
    const loops = dataAt(form.document, ["loops"]);
    const rows = (Array.isArray(loops) ? loops : []).map((_, k) => this.row(k));
    const table = form.table("Loops (closed chains)", ["Tip of", "joined to", "at [m]", "by", "axis", "rpy", ""], rows);
    const last = choice(form.links.map((_, i) => [form.nameOf(i), form.nameOf(i)]), form.nameOf(form.links.length - 1), () => {});
    last.setAttribute("aria-label", "Link whose tip closes a loop");
    const add = button("Close a loop", () => form.edit(appendEdit(form.text, ["loops"], { link: last.value, to: "ground", at: [0.5, 0, 0] })));
    table.append(make("div", { class: "row" }, last, add));
    if (rows.length) table.append(make("div", { class: "fields" },
      ...labelled("Independent joints", form.fields.line(["independent"], "Independent joints", "chosen by lissom")),
      ...labelled("Closed near", form.fields.line(["assembly"], "Joints near which the loops are closed", "{crank: 0, coupler: 1.2}"))));
    return table;
  }
  row(k) {
    const { form } = this;
    const names = form.links.map((_, i) => [form.nameOf(i), form.nameOf(i)]);
    const which = `loop ${k + 1}`;
    const at = ["loops", k];
    const drop = button("\u00d7", () => form.edit(dataEdit(form.text, at, undefined)));
    drop.setAttribute("aria-label", `Remove ${which}`);
    return [form.fields.select([...at, "link"], names, `Link of ${which}`), form.fields.select([...at, "to"], [["ground", "ground"], ...names], `What ${which} is joined to`),
      form.fields.line([...at, "at"], `Place of ${which} in m`), form.fields.select([...at, "type"], [["", "revolute"], ...TYPES], `Joint of ${which}`),
      form.fields.line([...at, "axis"], `Axis of ${which}`, "[0, 0, 1]"), form.fields.line([...at, "rpy"], `Turn of ${which}`, "[0, 0, 0]"), drop];
  }
}

// Other results beside the one that is shown: which, and how far they are apart.
import { checkbox, make, reporting, shown } from "./dom.js";
import { table } from "./pictures.js";
import { ask, saveButtons } from "./verb_form.js";

const COLUMNS = ["run", "quantity", "largest", "at [s]", "rms", "unit", "% of its motion"];

export class ComparePanel {
  constructor(onChange) {
    this.onChange = onChange;
    this.others = [];
    this.differences = false;
    this.list = make("div", { class: "toggles" });
    this.table = make("div", {});
    this.status = make("div", { class: "soft", role: "status" });
    this.apart = checkbox("Draw differences from this result", false, (on) => { this.differences = on; this.onChange(this.others, on); });
    const pictures = saveButtons("compare", () => ({ source: this.runs }), (act) => reporting(this.status, act), ["Picture (.png)", ".png"], ["(.svg)", ".svg"]);
    this.element = make("details", { class: "panel", id: "compare" }, make("summary", {}, "Compare with other results"),
      this.list, this.apart, this.table, make("div", { class: "row" }, ...pictures), this.status);
  }
  // `others` as a link brings them.
  open(file, files, others, differences, joints) {
    this.file = file;
    this.kinds = new Map(joints.map(({ name, type }) => [`q.${name}`, type]));
    this.others = others.filter((name) => name !== file && files.includes(name));
    this.differences = this.apart.control.checked = differences;
    const boxes = files.filter((name) => name !== file).map((name) => checkbox(name, this.others.includes(name), (on) => this.choose(name, on)));
    this.list.replaceChildren(...(boxes.length ? boxes : [make("span", { class: "soft" }, "There is no other result yet.")]));
    if (this.others.length) this.element.open = true;
    return this.show();
  }
  choose(name, on) {
    this.others = on ? [...this.others, name] : this.others.filter((other) => other !== name);
    this.onChange(this.others, this.differences);
    this.show();
  }
  get runs() {
    return [this.file, ...this.others];
  }
  // A report waits until the table is ready.
  show() {
    this.ready = this.find();
    return this.ready;
  }
  async find() {
    this.table.replaceChildren();
    this.status.textContent = "";
    if (!this.others.length) return;
    await reporting(this.status, async () => {
      const found = await ask("compare", { source: this.runs });
      this.table.replaceChildren(differenceTable(found, this.kinds));
      if (found.not_shared.length) this.status.textContent = `not in all runs: ${found.not_shared.join(", ")}`;
    });
  }
  // For a report.
  tables() {
    return [...this.table.querySelectorAll("table")].map((table) => table.cloneNode(true));
  }
}

function differenceTable({ first, models, shared_time: [start, end], differences }, kinds) {
  const unitOf = ({ quantity, unit }) => (kinds.has(quantity) ? { revolute: "rad", prismatic: "m" }[kinds.get(quantity)] ?? unit : unit);
  const rows = differences.map((row) => [row.run, row.quantity, shown(row.largest), shown(row.at), shown(row.rms), unitOf(row), shown(100 * row.share, 3)]);
  const runs = Object.entries(models).map(([run, { robot, model }]) => `${run}: ${robot}, ${model}`).join("; ");
  return table(`Differences from ${first}, ${shown(start)} to ${shown(end)} s. ${runs}`, COLUMNS, rows);
}

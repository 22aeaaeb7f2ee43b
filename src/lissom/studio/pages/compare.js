// Other results beside the one that is shown: which, and how far they are apart.
import { button, checkbox, heading, make, saying, shown } from "./dom.js";
import { ask, saveFile } from "./verb_form.js";

const COLUMNS = ["run", "quantity", "largest", "at [s]", "rms", "unit", "% of its motion"];

export class ComparePanel {
  constructor(onChange) {
    this.onChange = onChange;
    this.others = [];
    this.differences = false;
    this.list = make("div", { class: "toggles" });
    this.table = make("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Differences" });
    this.said = make("div", { class: "soft", role: "status" });
    const apart = checkbox("Draw differences from this result", false, (on) => { this.differences = on; this.onChange(this.others, on); });
    this.box = apart.box;
    this.element = make("details", { class: "panel", id: "compare" }, make("summary", {}, "Compare with other results"),
      this.list, apart.label, this.table, make("div", { class: "row" }, button("Picture (.png)", () => this.picture(".png")), button("(.svg)", () => this.picture(".svg"))), this.said);
  }
  // `others` as a link brings them.
  open(file, files, others, differences, joints) {
    this.file = file;
    this.kinds = new Map(joints.map(({ name, type }) => [`q.${name}`, type]));
    this.others = others.filter((name) => name !== file && files.includes(name));
    this.differences = this.box.checked = differences;
    const boxes = files.filter((name) => name !== file).map((name) => checkbox(name, this.others.includes(name), (on) => this.choose(name, on)).label);
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
  // The table under way is waited for by whoever needs it whole.
  show() {
    this.ready = this.find();
    return this.ready;
  }
  async find() {
    this.table.replaceChildren();
    this.said.textContent = "";
    if (!this.others.length) return;
    await saying(this.said, async () => {
      const found = await ask("compare", { source: this.runs });
      this.table.replaceChildren(differenceTable(found, this.kinds));
      if (found.not_shared.length) this.said.textContent = `not in all runs: ${found.not_shared.join(", ")}`;
    });
  }
  picture(ending) {
    return saying(this.said, () => saveFile("compare", { source: this.runs }, ending));
  }
  // For a report.
  tables() {
    return [...this.table.querySelectorAll("table")].map((table) => table.cloneNode(true));
  }
}

function differenceTable({ first, models, shared_time: [start, end], differences }, kinds) {
  const unitOf = ({ quantity, unit }) => (kinds.has(quantity) ? { revolute: "rad", prismatic: "m" }[kinds.get(quantity)] ?? unit : unit);
  const rows = differences.map((row) => make("tr", {},
    ...[row.run, row.quantity, shown(row.largest), shown(row.at), shown(row.rms), unitOf(row), shown(100 * row.share, 3)].map((text) => make("td", { class: "numbers" }, text))));
  const told = Object.entries(models).map(([run, { robot, model }]) => `${run}: ${robot}, ${model}`).join("; ");
  return make("table", {}, make("caption", {}, `Differences from ${first}, ${shown(start)} to ${shown(end)} s. ${told}`), heading(...COLUMNS), make("tbody", {}, ...rows));
}

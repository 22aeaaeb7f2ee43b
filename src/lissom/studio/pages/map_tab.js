// Mode map: how frequencies change over one or two joints, or over a key of the robot.
import { button, labelled, make, setOptions, shown } from "./dom.js";
import { JobTab } from "./job_panel.js";
import { axesInSi } from "./look_map.js";
import { MapPicture } from "./map_picture.js";
import { table } from "./pictures.js";
import { named, VerbFields, withValues } from "./verb_form.js";

export class MapTab extends JobTab {
  constructor(screen) {
    super(screen, "mode-map", { plot: "map.png" });
    this.axes = [this.axis("First quantity", true), this.axis("Second quantity", false)];
    this.names = make("datalist", { id: "map-names" });
    this.fields = new VerbFields("mode-map", named("damped", "count"), () => screen.showLines());
    this.picture = new MapPicture();
    this.numbers = make("div", {});
    const start = button("Map the modes", () => this.start(), { class: "main", id: "map-modes" });
    this.element = make("div", {}, this.names, ...this.axes.map(({ row }) => row),
      make("div", { class: "row" }, this.fields.element, start), this.progress,
      make("div", { class: "row" }, ...labelled("Mode drawn", this.picture.mode)), make("div", { class: "two" }, this.picture.element, this.numbers));
  }
  source() {
    return this.screen.source;
  }
  axis(title, isNeeded) {
    const name = make("input", { placeholder: isNeeded ? "joint, or a key such as payload.mass" : "none" });
    name.setAttribute("list", "map-names");
    const number = (value) => make("input", { class: "number", value });
    const [start, stop] = [number("-90"), number("90")];
    const points = make("input", { type: "number", class: "number", min: 2, max: 60, value: 15 });
    const fields = [["from", start], ["to", stop], ["points", points]].flatMap(([text, field]) => {
      field.setAttribute("aria-label", `${title}: ${text}`);
      return [make("span", { class: "soft" }, text), field];
    });
    const row = make("div", { class: "row" }, ...labelled(title, name), ...fields, make("span", { class: "soft" }, "degrees, or SI"));
    return { row, name, values: () => ({ name: name.value.trim(), start: +start.value, stop: +stop.value, points: +points.value }) };
  }
  async open() {
    super.open();
    await this.fields.open();
  }
  robot({ joints }) {
    this.joints = joints;
    setOptions(this.names, joints.map(({ name }) => name));
    const [first, second] = this.axes;
    const free = joints.filter(({ independent }) => independent).map(({ name }) => name);
    first.name.value = free.at(-1) ?? "";
    second.name.value = free.length > 1 ? free.at(-2) : "";
    this.clear();
    this.refresh();
  }
  clear() {
    this.picture.clear();
    this.numbers.replaceChildren();
  }
  // On the command line axes are in SI beside a pose in SI.
  calls() {
    const over = axesInSi(this.over(), this.joints ?? []);
    return [["mode-map", withValues(this.question(), { ...this.files, over, degrees: false })]];
  }
  over() {
    return this.axes.map(({ values }) => values()).filter(({ name }) => name);
  }
  question() {
    return withValues(this.screen.question(), { over: this.over(), degrees: true, ...this.fields.values() });
  }
  show(found) {
    this.picture.show(found);
    const at = (place) => Object.entries(place).map(([name, value]) => `${name} ${shown(value, 3)}`).join(", ");
    const rows = found.modes.map((one) => [String(one.mode), shown(one.lowest_hz), at(one.lowest_at), shown(one.highest_hz), at(one.highest_at), String(one.lost), shown(one.lowest_mac, 3)]);
    this.numbers.replaceChildren(table(`${found.robot}, ${found.model}: ${found.computed}, ${found.points} points`,
      ["mode", "lowest [Hz]", "at", "highest [Hz]", "at", "lost", "lowest MAC"], rows));
  }
}

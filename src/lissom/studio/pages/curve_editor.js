// A curve over time as a table and as a drawing: click to add a point, drag to move it, double click to take it out.
import { button, choice, make, shown, svg, svgText } from "./dom.js";

const WIDTH = 420;
const HEIGHT = 130;
const MARGIN = { left: 44, right: 12, top: 10, bottom: 22 };
const NEAR = 9; // pixels of the drawing
const rounded = (value, step) => +(Math.round(value / step) * step).toPrecision(8);

export class CurveEditor {
  // `interpolations`: words to choose among, none where there is nothing to choose.
  constructor(title, unit, points, interpolations, onChange) {
    Object.assign(this, { title, unit, points, onChange });
    this.rows = make("tbody", {});
    this.drawing = svg("svg", { class: "curve-editor", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    this.interpolation = choice(interpolations, interpolations[0] ?? "", () => this.changed(), {
      "aria-label": `${title}: between the points`, hidden: interpolations.length < 2,
    });
    this.table = make("table", {}, make("thead", {}, make("tr", {}, ...["t [s]", `[${unit}]`].map((text) => make("th", { scope: "col" }, text)), make("td", {}))), this.rows);
    this.element = make("div", { class: "curve" }, this.drawing,
      make("div", { class: "scroll points" }, this.table), make("div", { class: "row" }, button("Add a point", () => this.append()), this.interpolation));
    this.listen();
    this.show();
  }
  get value() {
    return { t: this.points.map(([t]) => t), value: this.points.map(([, v]) => v), ...(this.interpolation.value ? { interpolation: this.interpolation.value } : {}) };
  }
  changed() {
    this.draw();
    this.onChange();
  }
  pointsChanged() {
    this.show();
    this.onChange();
  }
  append() {
    const [t, v] = this.points.at(-1) ?? [0, 0];
    const [before] = this.points.at(-2) ?? [0];
    this.points.push([rounded(t + (t - before || 0.5), 1e-6), v]);
    this.pointsChanged();
  }
  remove(k) {
    this.points.splice(k, 1);
    this.pointsChanged();
  }

  // --- table ---
  show() {
    this.rows.replaceChildren(...this.points.map((point, k) => this.row(point, k)));
    this.draw();
  }
  row(point, k) {
    const cell = (which, words) => {
      const input = make("input", { class: "number", value: point[which], "aria-label": `${this.title}: ${words} ${k + 1}` });
      input.onchange = () => {
        const value = Number(input.value);
        const isNumber = Number.isFinite(value) && input.value.trim() !== "";
        input.setAttribute("aria-invalid", String(!isNumber));
        if (!isNumber) return;
        point[which] = value;
        this.changed();
      };
      return make("td", {}, input);
    };
    const drop = button("\u00d7", () => this.remove(k), { "aria-label": `${this.title}: remove point ${k + 1}`, disabled: this.points.length < 2 });
    return make("tr", {}, cell(0, "time"), cell(1, "value"), make("td", {}, drop));
  }

  // --- drawing ---
  // The range stays while a point is dragged.
  range() {
    const times = this.points.map(([t]) => t).filter(Number.isFinite);
    const values = this.points.map(([, v]) => v).filter(Number.isFinite);
    const end = Math.max(...times, 0.1) * 1.15;
    const most = Math.max(...values.map(Math.abs), 1e-9) * 1.25;
    const low = Math.min(...values) < 0 ? -most : Math.min(0, ...values) - 0.1 * most;
    return { end, low, high: most };
  }
  x(t) {
    return MARGIN.left + (t / this.scale.end) * (WIDTH - MARGIN.left - MARGIN.right);
  }
  y(v) {
    const { low, high } = this.scale;
    return HEIGHT - MARGIN.bottom - ((v - low) / (high - low)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  }
  at(event) {
    const box = this.drawing.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
  }
  valueAt([px, py]) {
    const { end, low, high } = this.scale;
    const t = ((px - MARGIN.left) / (WIDTH - MARGIN.left - MARGIN.right)) * end;
    const v = low + ((HEIGHT - MARGIN.bottom - py) / (HEIGHT - MARGIN.top - MARGIN.bottom)) * (high - low);
    return [Math.max(rounded(t, power(end) / 100), 0), rounded(v, power(high - low) / 100)];
  }
  draw() {
    if (this.dragged === undefined) this.scale = this.range();
    const { end, low, high } = this.scale;
    const holds = this.interpolation.value === "hold";
    const path = this.points.map(([t, v], k) => (k === 0 ? `M${this.x(t)} ${this.y(v)}` : `${holds ? `H${this.x(t)}V` : `L${this.x(t)} `}${this.y(v)}`)).join("");
    this.drawing.replaceChildren(
      svg("rect", { class: "ground", x: MARGIN.left, y: MARGIN.top, width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom }),
      svg("line", { class: "zero", x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: this.y(0), y2: this.y(0) }),
      svg("path", { class: "curve-line", d: path }),
      ...this.points.map(([t, v]) => svg("circle", { cx: this.x(t), cy: this.y(v), r: 5 })),
      svgText(MARGIN.left - 4, MARGIN.top + 8, shown(high, 3), "end"), svgText(MARGIN.left - 4, HEIGHT - MARGIN.bottom, shown(low, 3), "end"),
      svgText(WIDTH - MARGIN.right, HEIGHT - 8, `${shown(end, 3)} s`, "end"), svgText(MARGIN.left, HEIGHT - 8, "0"));
    const words = this.points.map(([t, v]) => `${shown(v, 3)} at ${shown(t, 3)} s`).join(", ");
    this.drawing.setAttribute("aria-label", `${this.title} over time in ${this.unit}: ${words}. The table below has the same points.`);
  }
  pointNear([px, py]) {
    return this.points.findIndex(([t, v]) => Math.hypot(this.x(t) - px, this.y(v) - py) < NEAR);
  }
  listen() {
    const { drawing } = this;
    drawing.onpointerdown = (event) => {
      const place = this.at(event);
      let k = this.pointNear(place);
      if (k < 0) {
        const made = this.valueAt(place);
        k = this.points.findIndex(([t]) => t > made[0]);
        if (k < 0) k = this.points.length;
        this.points.splice(k, 0, made);
      }
      this.dragged = k;
      drawing.setPointerCapture(event.pointerId);
      this.draw();
    };
    drawing.onpointermove = (event) => {
      if (this.dragged === undefined) return;
      const [t, v] = this.valueAt(this.at(event));
      // Between its neighbours; equal times are a jump.
      const low = this.points[this.dragged - 1]?.[0] ?? 0;
      const high = this.points[this.dragged + 1]?.[0] ?? Infinity;
      this.points[this.dragged] = [Math.min(Math.max(t, low), high), v];
      this.draw();
    };
    drawing.onpointerup = drawing.onpointercancel = () => {
      if (this.dragged === undefined) return;
      this.dragged = undefined;
      this.pointsChanged();
    };
    drawing.ondblclick = (event) => {
      const k = this.pointNear(this.at(event));
      if (k >= 0 && this.points.length > 1) this.remove(k);
    };
  }
}

const power = (size) => Math.pow(10, Math.floor(Math.log10(size)));

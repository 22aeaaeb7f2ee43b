// Curves with one cursor for all: it shows the time of the picture, and a drag on a chart moves both.
// Two more cursors, A and B, measure: with Shift and a click, or from the keyboard.
import { seriesColor } from "/assets/drawing/themes.js";
import { uPlot } from "/assets/vendor/chart.js";
import { actOn, make, shown } from "./dom.js";
import { onTheme } from "./theme.js";

const HEIGHT = 170;
const KEY_STEP = 0.005; // of what is shown
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// What the cursors of all charts on a screen share.
export class Cursors {
  // `onTime` follows a drag; without it the cursors alone do.
  constructor(onTime = (t) => this.moveTo(t)) {
    this.onTime = onTime;
    this.charts = new Set();
    this.t = 0;
    this.marks = [null, null];
  }
  moveTo(t) {
    this.t = t;
    this.charts.forEach((chart) => chart.showTime(t));
  }
  // The next mark is A, then B, then A again.
  mark(x) {
    const [a, b] = this.marks;
    this.marks = a === null || b !== null ? [x, null] : [a, x];
    this.charts.forEach((chart) => chart.showMarks());
  }
  clearMarks() {
    this.marks = [null, null];
    this.charts.forEach((chart) => chart.showMarks());
  }
}

export class Chart {
  // `axis`: what is plotted against, "t [s]" by default; `logarithmic`: axes that are, "x" and "y".
  constructor(title, unit, cursors, { axis = "t [s]", logarithmic = [], height = HEIGHT } = {}) {
    this.title = unit ? `${title} [${unit}]` : title;
    this.unit = unit;
    Object.assign(this, { cursors, axis, logarithmic, height });
    this.place = make("div", { class: "plot", role: "group", "aria-roledescription": "chart", tabIndex: 0, onkeydown: (event) => this.key(event) });
    this.heading = make("h2", { class: "small" }, this.title);
    this.measured = make("div", { class: "measured numbers", role: "status" });
    this.element = make("figure", { class: "chart" }, this.heading, this.place, this.measured);
    this.lines = ["time", "mark", "mark"].map((kind) => make("div", { class: `cursor ${kind}`, hidden: true, "aria-hidden": "true" }));
    cursors.charts.add(this);
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.forgetTheme = onTheme(() => { if (this.plot && this.place.isConnected) this.show(this.x, this.curves); });
  }
  remove() {
    this.cursors.charts.delete(this);
    this.forgetTheme();
    this.element.remove();
    this.plot?.destroy();
    this.plot = null;
  }

  // Places along the axis, and one array of values for each named curve.
  show(x, curves) {
    this.plot?.destroy();
    Object.assign(this, { x, curves });
    this.describe(x, curves);
    const line = { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line") }, size: 54, values: (_, places) => places.map(tick) };
    const series = curves.map(({ name, dash, color: own }, k) => ({
      label: name, stroke: own ?? seriesColor(k), width: 1.5, dash, points: { show: false }, value: (_, v) => shown(v),
    }));
    const scale = (which) => (this.logarithmic.includes(which) ? { distr: 3 } : {});
    const options = {
      width: Math.max(this.place.clientWidth, 260), height: this.height, scales: { x: { time: false, ...scale("x") }, y: scale("y") },
      axes: [{ ...line, size: 30 }, line], cursor: { show: false },
      series: [{ label: this.axis, value: (_, v) => shown(v) }, ...series],
      // Places on the axis are known once the curves are drawn, and the legend takes values after that.
      hooks: { draw: [() => queueMicrotask(() => { this.showTime(this.cursors.t); this.showMarks(); })] },
    };
    this.plot = new uPlot(options, [x, ...curves.map(({ values }) => values)], this.place);
    this.plot.over.append(...this.lines);
    this.listen();
  }
  // The chart in words, for those who do not see it.
  describe(x, curves) {
    const parts = curves.map(({ name, values }) => {
      const [low, high] = extent(values);
      return `${name} from ${shown(low, 3)} to ${shown(high, 3)}`;
    });
    const keys = "Arrow keys move the time, M sets a mark, Escape takes the marks away";
    this.place.setAttribute("aria-label", `${this.title} over ${this.axis} from ${shown(x[0], 3)} to ${shown(x.at(-1), 3)}: ${parts.join(", ")}. ${keys}`);
  }
  resize() {
    const width = this.element.clientWidth;
    if (!this.plot || width <= 0 || width === this.plot.width) return;
    this.plot.setSize({ width, height: this.height });
  }

  // --- cursors ---
  listen() {
    const { over } = this.plot;
    const place = (event) => this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
    over.onpointerdown = (event) => {
      if (event.shiftKey) return this.cursors.mark(place(event));
      over.setPointerCapture(event.pointerId);
      this.cursors.onTime(place(event));
    };
    over.onpointermove = (event) => { if (event.buttons && !event.shiftKey) this.cursors.onTime(place(event)); };
  }
  key(event) {
    if (!this.plot) return;
    const { t } = this.cursors;
    const step = KEY_STEP * (this.x.at(-1) - this.x[0]) * (event.shiftKey ? 10 : 1);
    const acts = {
      ArrowLeft: () => this.cursors.onTime(t - step), ArrowRight: () => this.cursors.onTime(t + step),
      Home: () => this.cursors.onTime(this.x[0]), End: () => this.cursors.onTime(this.x.at(-1)),
      m: () => this.cursors.mark(t), M: () => this.cursors.mark(t), Escape: () => this.cursors.clearMarks(),
    };
    actOn(event, acts[event.key]);
  }
  // A line over the curves: they themselves need no new drawing.
  placeLine(line, x) {
    const at = x === null ? NaN : this.plot.valToPos(x, "x");
    line.hidden = !(at >= 0 && at <= this.plot.over.clientWidth);
    if (!line.hidden) line.style.transform = `translateX(${at}px)`;
  }
  showTime(t) {
    if (!this.plot) return;
    this.placeLine(this.lines[0], t);
    // The legend shows the values at this time.
    const row = this.plot.valToIdx(t);
    this.plot.setLegend({ idxs: this.plot.series.map(() => row) });
  }
  showMarks() {
    if (!this.plot) return;
    const { marks } = this.cursors;
    marks.forEach((x, k) => this.placeLine(this.lines[k + 1], x));
    this.measured.textContent = this.measurement(marks);
  }
  measurement([a, b]) {
    if (a === null) return "";
    const one = (x) => this.curves.map(({ name, values }) => `${name} ${shown(valueAt(this.x, values, x))}`).join(", ");
    if (b === null) return `A ${shown(a)}: ${one(a)}`;
    const apart = this.curves.map(({ name, values }) => `${name} ${shown(valueAt(this.x, values, b) - valueAt(this.x, values, a))}`);
    const rate = this.axis === "t [s]" && b !== a ? `, 1/\u0394 ${shown(1 / Math.abs(b - a))} Hz` : "";
    return `A ${shown(a)}, B ${shown(b)}: \u0394 ${shown(b - a)}${rate}; B \u2212 A: ${apart.join(", ")}`;
  }
}

// Between the powers of ten of a logarithmic axis there is nothing to read.
function tick(value) {
  if (value === null) return "";
  const [digits, power] = shown(value, 3).split("e");
  return power ? `${+digits}e${power}` : digits;
}

export function extent(values) {
  const finite = Array.from(values).filter(Number.isFinite);
  return [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
}

// Straight between the two samples around x.
function valueAt(places, values, x) {
  if (places.length < 2) return values[0];
  const k = Math.min(Math.max(places.findLastIndex((place) => place <= x), 0), places.length - 2);
  const part = Math.min(Math.max((x - places[k]) / (places[k + 1] - places[k] || 1), 0), 1);
  return values[k] * (1 - part) + values[k + 1] * part;
}

// Curves over time with one cursor for all: it shows the time of the picture, and a drag on a chart moves both.
import { seriesColor } from "/assets/drawing/themes.js";
import { uPlot } from "/assets/vendor/chart.js";
import { make, shown } from "./dom.js";

const HEIGHT = 170;
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart {
  constructor(title, unit, onTime) {
    this.title = `${title} [${unit}]`;
    this.onTime = onTime;
    this.t = 0;
    this.place = make("div", { class: "plot", role: "img" });
    this.element = make("figure", { class: "chart" }, make("h3", {}, this.title), this.place);
    this.element.style.margin = 0;
  }

  // Times, and one array of values for each named curve.
  show(time, curves) {
    this.plot?.destroy();
    this.describe(time, curves);
    const axis = { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line") }, size: 54 };
    const series = curves.map(({ name, dash }, k) => ({
      label: name, stroke: seriesColor(k), width: 1.5, dash, points: { show: false }, value: (_, v) => shown(v),
    }));
    const options = {
      width: Math.max(this.place.clientWidth, 260), height: HEIGHT, scales: { x: { time: false } },
      axes: [{ ...axis, size: 30 }, axis], cursor: { drag: { x: false, y: false }, y: false },
      series: [{ label: "t [s]", value: (_, v) => shown(v) }, ...series], hooks: { draw: [(plot) => this.drawTime(plot)] },
    };
    this.plot = new uPlot(options, [time, ...curves.map(({ values }) => values)], this.place);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }
  // The chart in words, for those who do not see it.
  describe(time, curves) {
    const parts = curves.map(({ name, values }) => {
      const finite = values.filter(Number.isFinite);
      return `${name} from ${shown(Math.min(...finite), 3)} to ${shown(Math.max(...finite), 3)}`;
    });
    this.place.setAttribute("aria-label", `${this.title} over ${shown(time.at(-1), 3)} s: ${parts.join(", ")}`);
  }
  resize() {
    const width = this.element.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }
  listen() {
    const { over } = this.plot;
    const move = (event) => this.onTime(this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    over.onpointerdown = (event) => { over.setPointerCapture(event.pointerId); move(event); };
    over.onpointermove = (event) => { if (event.buttons) move(event); };
  }
  moveTo(t) {
    this.t = t;
    if (!this.plot) return;
    // The legend shows the values at this time.
    this.plot.setLegend({ idx: this.plot.valToIdx(t) });
    this.plot.redraw(false);
  }
  drawTime(plot) {
    const x = plot.valToPos(this.t, "x", true);
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = color("--ink");
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }
}

// The charts of a result: chosen by name, with curves of other results over them, or their differences.
import { seriesColor } from "/assets/drawing/themes.js";
import { Chart, Cursors } from "./charts.js";
import { askCurves, readable } from "./curve_data.js";
import { button, make } from "./dom.js";
import { titleOf } from "./quantities.js";

const DASHES = [undefined, [6, 4], [2, 3], [9, 3, 2, 3]];
const short = (file) => file.split("/").pop().replace(/\.nc$/, "");

export class ChartList {
  constructor(onTime, onChange, onFailure) {
    Object.assign(this, { onChange, onFailure });
    this.cursors = new Cursors(onTime);
    this.element = make("div", { class: "charts" });
    this.entries = new Map();
    this.differences = false;
  }
  shown() {
    return [...this.entries.keys()];
  }
  clear() {
    this.entries.forEach(({ chart }) => chart.remove());
    this.entries.clear();
    this.cursors.clearMarks();
  }
  // Another result, others beside it, and what is drawn of them.
  async open(runs, facts, what) {
    this.clear();
    Object.assign(this, { runs, facts });
    await this.add(what);
  }
  async add(what) {
    const wanted = what.filter((name) => name && !this.entries.has(name));
    if (!wanted.length) return;
    this.onFailure("");
    try {
      // A position is drawn with that of the rigid robot.
      const rigid = wanted.filter(isPosition).map(rigidOf);
      const found = await askCurves(this.runs, [...wanted, ...rigid]);
      wanted.forEach((name) => this.addChart(name, found));
      this.onChange(this.shown());
    } catch (failure) {
      this.onFailure(failure.message);
      wanted.forEach((name) => this.onChange(this.shown(), name));
    }
  }
  addChart(what, found) {
    const panel = this.panelOf(found.runs[0], what);
    const chart = new Chart(titleOf(what), panel.unit, this.cursors);
    chart.heading.append(button("\u00d7", () => this.remove(what), { class: "close", "aria-label": `Remove the chart ${titleOf(what)}` }));
    this.element.append(chart.element);
    this.entries.set(what, { chart, found });
    this.draw(what);
  }
  remove(what) {
    this.entries.get(what)?.chart.remove();
    this.entries.delete(what);
    this.onChange(this.shown(), what);
  }
  panelOf(one, what) {
    return readable(what, one.panels.get(what), this.facts.joints);
  }
  draw(what) {
    const { chart, found } = this.entries.get(what);
    const isApart = this.differences && found.differences.length > 0;
    const runs = isApart ? found.differences : found.runs;
    const named = (one) => (name) => (isApart || runs.length > 1 ? `${name} (${short(one.run)})` : name);
    // The first dashes are those of the run that the others are compared with.
    const curves = runs.flatMap((one, r) => this.curvesOf(one, what, named(one), DASHES[(isApart ? r + 1 : r) % DASHES.length]));
    if (isPosition(what) && !isApart) curves.push(...this.curvesOf(runs[0], rigidOf(what), (name) => `${name} of the ERLS`, [2, 3]));
    chart.heading.firstChild.textContent = chart.title + (isApart ? `, differences from ${short(this.runs[0])}` : "");
    // Runs that share no time have no differences.
    const { t } = runs.find((one) => one.t.length) ?? { t: [0, 1] };
    chart.show(t, curves);
  }
  curvesOf(one, what, named, dash) {
    if (!one.panels.has(what)) return [];
    return this.panelOf(one, what).curves.map(({ name, values }, k) => ({
      name: named(name), color: seriesColor(k), dash,
      // Before and after its time a run has no values.
      values: Array.from(values, (value) => (Number.isNaN(value) ? null : value)),
    }));
  }
  // As images, for a report.
  pictures() {
    return [...this.entries.values()].map(({ chart }) => ({
      title: chart.heading.firstChild.textContent, address: chart.plot.ctx.canvas.toDataURL(),
      curves: chart.curves.map(({ name, color, dash }) => ({ name, color, dash })),
    }));
  }
}

const isPosition = (what) => what.startsWith("position.");
const rigidOf = (what) => `erls_${what}`;

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
    const close = button("\u00d7", () => this.remove(what), "close");
    close.setAttribute("aria-label", `Remove the chart ${titleOf(what)}`);
    chart.heading.append(close);
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
  setDifferences(on) {
    this.differences = on;
    this.entries.forEach((_, what) => this.draw(what));
  }
  draw(what) {
    const { chart, found } = this.entries.get(what);
    const isApart = this.differences && found.differences.length > 0;
    const [x, curves] = isApart ? this.differenceCurves(what, found) : this.overlaidCurves(what, found);
    chart.heading.firstChild.textContent = chart.title + (isApart ? `, differences from ${short(this.runs[0])}` : "");
    chart.show(x, curves);
  }
  differenceCurves(what, { differences }) {
    const held = differences.filter((one) => one.panels.has(what));
    if (!held.length) return [[0, 1], []];
    return overOneAxis(held.map((one, r) => ({ t: one.t, curves: this.panelOf(one, what).curves.map((curve, k) => ({
      ...curve, name: `${curve.name} (${short(one.run)})`, color: seriesColor(k), dash: DASHES[(r + 1) % DASHES.length],
    })) })));
  }
  overlaidCurves(what, { runs }) {
    const parts = runs.filter((one) => one.panels.has(what)).map((one, r) => ({ t: one.t, curves: this.panelOf(one, what).curves.map((curve, k) => ({
      ...curve, name: runs.length > 1 ? `${curve.name} (${short(one.run)})` : curve.name, color: seriesColor(k), dash: DASHES[r % DASHES.length],
    })) }));
    if (isPosition(what)) parts.push(...this.rigidCurves(what, runs[0]));
    return overOneAxis(parts);
  }
  rigidCurves(what, one) {
    const panel = one.panels.get(rigidOf(what));
    if (!panel) return [];
    return [{ t: one.t, curves: panel.curves.map((curve, k) => ({ ...curve, name: `${curve.name} of the ERLS`, color: seriesColor(k), dash: [2, 3] })) }];
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

// Charts have one axis: curves of runs with other times are laid over the times of all, straight between their samples.
export function overOneAxis(parts) {
  const [first, ...others] = parts;
  if (!first) return [[0, 1], []];
  const sameTimes = ({ t }) => t.length === first.t.length && t.every((value, k) => value === first.t[k]);
  if (others.every(sameTimes)) return [first.t, parts.flatMap(({ curves }) => curves)];
  const t = Float64Array.from(new Set(parts.flatMap((part) => [...part.t]))).sort();
  return [t, parts.flatMap((part) => part.curves.map((curve) => ({ ...curve, values: laidOver(t, part.t, curve.values) })))];
}
function laidOver(t, own, values) {
  const found = new Array(t.length).fill(null);
  let k = 0;
  for (let n = 0; n < t.length; n++) {
    if (t[n] < own[0] || t[n] > own[own.length - 1]) continue;
    while (k + 2 < own.length && own[k + 1] <= t[n]) k++;
    const h = own[k + 1] - own[k] || 1;
    const part = (t[n] - own[k]) / h;
    found[n] = values[k] * (1 - part) + values[k + 1] * part;
  }
  return found;
}

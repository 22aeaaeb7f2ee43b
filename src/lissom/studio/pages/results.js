// Results: the moving robot and its curves on one time, other results beside it, and other forms of it.
import { Motion } from "/assets/drawing/motion.js";
import { go, noteInAddress } from "./address.js";
import { ChartList } from "./chart_list.js";
import { ComparePanel } from "./compare.js";
import { askCurves } from "./curve_data.js";
import { button, choice, debounced, labelled, make, reporting, setOptions } from "./dom.js";
import { Equivalents } from "./equivalents.js";
import { ExportPanel } from "./exports.js";
import { MovingStage } from "./player.js";
import { QuantityChoice, firstCharts } from "./quantities.js";
import { jointTable, summary } from "./report.js";
import { get } from "./server.js";
import { reducedMotion } from "./theme.js";
import { parts, saveButtons } from "./verb_form.js";

const NOTE_MS = 300; // of quiet before the address has the time

export class ResultsScreen {
  constructor() {
    this.stage = new MovingStage("The robot in motion", "Choose a result, or run something first.", (t) => this.moveTo(t));
    this.player = this.stage.player;
    this.picker = choice([], "", (file) => go({ screen: "results", file }));
    this.message = make("div", { class: "message", role: "alert" });
    this.summary = make("div", { class: "facts" });
    this.same = new Equivalents();
    this.charts = new ChartList((t) => this.scrub(t), (shown, gone) => this.chartsChanged(shown, gone), (text) => { this.message.textContent = text; });
    this.quantities = new QuantityChoice((what, on) => (on ? this.charts.add([what]) : this.charts.remove(what)));
    this.compare = new ComparePanel((others, differences) => this.compared(others, differences));
    this.exports = new ExportPanel(this);
    this.noteTime = debounced(() => { if (!this.player.playing) { noteInAddress({ t: this.time }); this.showLines(); } }, NOTE_MS);
    this.body = make("div", { hidden: true },
      make("div", { class: "row" }, ...this.matrixButtons(), button("Analyse here", () => this.analyse())),
      this.summary,
      make("details", { class: "panel" }, make("summary", {}, "What is shown"),
        make("h2", { class: "small" }, "Picture"), this.stage.toggles("dh", "dimensions", "masses"), make("h2", { class: "small" }, "Deformation drawn"), this.stage.scaleSlider(),
        make("h2", { class: "small" }, "Charts"), this.quantities.element),
      this.compare.element, this.exports.element,
      make("p", { class: "soft hint" }, "Drag on a chart to move the time; Shift and click sets the marks A and B, and the chart shows what lies between."),
      this.charts.element, this.same.element);
    this.element = make("section", { class: "screen full results", "aria-labelledby": "results-title" },
      this.stage.element, this.player.element,
      make("aside", {},
        make("h1", { id: "results-title" }, "Results"),
        make("div", { class: "fields" }, ...labelled("Result", this.picker)),
        this.message, this.body));
  }

  async open({ file, t, view, with: others, charts, apart }) {
    const files = await this.showFiles(file);
    if (!file || file === this.file) return;
    this.file = file;
    this.message.textContent = "";
    this.stage.waiting.hidden = false;
    try {
      const [content, facts] = await Promise.all([get("animation", { name: file }), get("results/facts", { name: file })]);
      if (file !== this.file) return;
      this.show(content, facts, Number(t), view);
      this.compare.open(file, files, parts(others), apart === "1", facts.joints);
      this.charts.differences = apart === "1";
      await this.charts.open(this.compare.runs, facts, charts ? parts(charts) : firstCharts(facts));
    } catch (failure) {
      this.file = null;
      this.close();
      this.stage.clear("This result cannot be shown.");
      this.body.hidden = true;
      this.message.textContent = failure.message;
    }
    this.stage.waiting.hidden = true;
  }
  close() {
    this.player.setPlaying(false);
  }
  async showFiles(file) {
    const { files } = await get("files");
    const results = files.filter(({ kind }) => kind === "result").map(({ name }) => name);
    setOptions(this.picker, [["", results.length ? "choose" : "none yet"], ...results]);
    this.picker.value = file ?? "";
    return results;
  }

  show(content, facts, t, view) {
    this.stage.show(content);
    this.stage.setView(view);
    this.facts = facts;
    // Its own: charts and time work where there is no WebGL too.
    this.motion = new Motion(content);
    this.body.hidden = false;
    this.summary.replaceChildren(...summary(facts),
      make("details", { class: "panel" }, make("summary", {}, "Joints and tips"), jointTable(facts)));
    this.quantities.open(facts);
    this.exports.open(this.file);
    this.player.open(this.motion.start, this.motion.end);
    if (Number.isFinite(t)) this.player.moveTo(t);
    else if (!reducedMotion()) this.player.setPlaying(true);
    this.describe();
  }
  // The picture in words.
  describe() {
    const tip = this.facts.tips.at(-1);
    const most = tip ? `, tip up to ${(1e3 * tip.displacement).toPrecision(3)} mm from the rigid robot` : "";
    this.stage.canvas.setAttribute("aria-label", `${this.facts.robot} in motion over ${(this.facts.end - this.facts.start).toPrecision(3)} s${most}`);
  }
  get time() {
    return +this.player.t.toPrecision(6);
  }
  moveTo(t) {
    this.stage.moveTo(t);
    this.charts.cursors.moveTo(t);
    this.noteTime();
  }
  scrub(t) {
    this.player.setPlaying(false);
    this.player.moveTo(t);
  }

  // --- what is shown ---
  chartsChanged(shown, gone) {
    shown.forEach((what) => this.quantities.note(what, true));
    if (gone && !shown.includes(gone)) this.quantities.note(gone, false);
    noteInAddress({ charts: shown.join(",") });
    this.showLines();
  }
  compared(others, differences) {
    noteInAddress({ with: others.join(","), apart: differences ? "1" : "" });
    this.charts.differences = differences;
    this.charts.open([this.file, ...others], this.facts, this.charts.shown());
  }
  showLines() {
    if (!this.file) return null;
    const run = this.file;
    const calls = [
      ["plot", { values: { run, what: this.charts.shown(), picture: "run.png" } }],
      ["plot", { values: { run, picture: "run.html" } }],
      ["matrices", { source: run, values: { time: this.time, output: "matrices.npz" } }],
    ];
    if (this.compare.others.length) calls.push(["compare", { values: { runs: this.compare.runs, plot: "difference.png" } }]);
    return this.same.show(calls);
  }

  // --- the robot at this time ---
  matrixButtons() {
    const matrices = () => ({ source: this.file, values: { time: this.time } });
    return saveButtons("matrices", matrices, (act) => reporting(this.message, act), ["Matrices here (.npz)", ".npz"], ["(.mat)", ".mat"]);
  }
  // Its joints as the run has them next to the time of the picture [rad or m].
  analyse() {
    return reporting(this.message, async () => {
      const { runs: [{ t, panels }] } = await askCurves([this.file], ["q"]);
      const row = t.reduce((best, time, k) => (Math.abs(time - this.time) < Math.abs(t[best] - this.time) ? k : best), 0);
      const q = panels.get("q").curves.map(({ values }) => +values[row].toPrecision(6));
      go({ screen: "analyse", source: this.file, q: q.join(",") });
    });
  }
}

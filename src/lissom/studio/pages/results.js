// Results: the moving robot and its curves on one time.
import { Motion, frameBefore } from "/assets/drawing/motion.js";
import { go, noteInAddress } from "./address.js";
import { Chart, Cursors } from "./charts.js";
import { button, choice, labelled, make } from "./dom.js";
import { equivalents, resultLines } from "./equivalents.js";
import { Player } from "./player.js";
import { downloadAddress, get, save } from "./server.js";
import { Stage } from "./stage.js";
import { reducedMotion } from "./theme.js";

const FIRST = ["Joint angle", "Joint position", "Joint torque", "Joint force", "Tip displacement"];

export class ResultsScreen {
  constructor(app) {
    this.app = app;
    this.stage = new Stage("The robot in motion", "Choose a result, or run something first.");
    this.player = new Player((t) => this.moveTo(t));
    this.picker = make("select", {});
    this.picker.onchange = () => go({ screen: "results", file: this.picker.value });
    this.message = make("div", { class: "message", role: "alert" });
    this.actions = make("div", { class: "row" });
    this.charts = make("div", {});
    this.choices = make("div", { class: "toggles" });
    this.nodePlace = make("div", {});
    this.same = make("div", {});
    this.cursors = new Cursors((t) => this.scrub(t));
    this.element = make("section", { class: "screen full results", "aria-labelledby": "results-title" },
      this.stage.element, this.player.element,
      make("aside", {},
        make("h1", { id: "results-title" }, "Results"),
        make("div", { class: "fields" }, ...labelled("Result", this.picker)),
        this.actions, this.message,
        make("details", { class: "panel" }, make("summary", {}, "What is shown"),
          this.stage.toggles("dh"), make("h3", {}, "Deformation drawn"), this.stage.scaleSlider(), make("h3", {}, "Charts"), this.choices),
        this.charts, this.nodePlace, this.same));
  }

  async open({ file, t }) {
    await this.showFiles(file);
    if (!file || file === this.file) return;
    this.file = file;
    this.message.textContent = "";
    this.stage.waiting.hidden = false;
    try {
      this.show(await get("animation", { name: file }), Number(t));
    } catch (failure) {
      this.message.textContent = failure.message;
    }
    this.stage.waiting.hidden = true;
  }
  close() {
    this.player.setPlaying(false);
  }
  async showFiles(file) {
    const { files } = await get("files");
    const results = files.filter(({ kind }) => kind === "result");
    const none = make("option", { value: "" }, results.length ? "choose" : "none yet");
    this.picker.replaceChildren(none, ...results.map(({ name }) => make("option", { value: name }, name)));
    this.picker.value = file ?? "";
  }

  show(content, t) {
    this.stage.show(content);
    this.content = content;
    // Its own: charts work where there is no WebGL too.
    const motion = new Motion(content);
    this.motion = motion;
    this.showActions();
    this.buildCharts();
    this.buildNodeChart();
    this.player.open(motion.start, motion.end);
    if (Number.isFinite(t)) this.player.moveTo(t);
    else if (!reducedMotion()) this.player.setPlaying(true);
    this.same.replaceChildren(equivalents(resultLines(this.file), this.app.folder));
  }
  showActions() {
    const link = make("a", { href: downloadAddress(this.file), download: "" }, "Download NetCDF");
    const share = button("Link to this time", () => noteInAddress({ t: +this.player.t.toPrecision(6) }));
    this.actions.replaceChildren(link, share,
      button("Matrices here (.npz)", () => this.saveMatrices(".npz")), button("(.mat)", () => this.saveMatrices(".mat")));
  }
  // The joints at the time of the picture, in the order of the robot [rad or m].
  jointsNow() {
    const time = this.motion.array("chart_time");
    const row = nearestRow(time, this.player.t);
    const values = new Map();
    this.content.charts.forEach(({ label, series }, k) => {
      const unit = { "Joint angle": Math.PI / 180, "Joint position": 1 }[label];
      if (!unit) return;
      const curve = this.motion.array(`chart/${k}`);
      series.forEach((name, s) => values.set(name, unit * curve[row * series.length + s]));
    });
    return this.content.links.map(({ name }) => values.get(name)).filter((value) => value !== undefined);
  }
  async saveMatrices(ending) {
    try {
      await save("matrices", { source: this.file, q: this.jointsNow(), ending }, `matrices${ending}`);
    } catch (failure) {
      this.message.textContent = failure.message;
    }
  }
  moveTo(t) {
    this.stage.moveTo(t);
    this.cursors.moveTo(t);
  }

  // --- charts ---
  buildCharts() {
    const time = Array.from(this.motion.array("chart_time"));
    this.cursors.charts.forEach((chart) => chart.remove());
    const boxes = this.content.charts.map((quantity, k) => {
      const box = make("input", { type: "checkbox", checked: FIRST.includes(quantity.label) });
      const toggle = () => this.toggleChart(box, quantity, k, time);
      box.onchange = toggle;
      if (box.checked) toggle();
      return make("label", { class: "check" }, box, quantity.label);
    });
    this.choices.replaceChildren(...boxes);
  }
  toggleChart(box, quantity, k, time) {
    if (!box.checked) {
      box.chart.remove();
      return;
    }
    const chart = new Chart(quantity.label, quantity.unit, this.cursors);
    this.charts.append(chart.element);
    const values = this.motion.array(`chart/${k}`);
    const count = quantity.series.length;
    const curves = quantity.series.map((name, s) => ({ name, values: time.map((_, row) => values[row * count + s]) }));
    chart.show(time, curves);
    box.chart = chart;
  }
  scrub(t) {
    this.player.setPlaying(false);
    this.player.moveTo(t);
  }

  // A node of the robot and of its ERLS, one direction.
  buildNodeChart() {
    const { nodes, content } = this.motion;
    const chart = new Chart("Node of robot and ERLS", "m", this.cursors);
    const node = choice(nodes.map((name, n) => [n, name]), content.tip, () => draw());
    const axis = choice([[0, "x"], [1, "y"], [2, "z"]], 0, () => draw());
    node.setAttribute("aria-label", "Node");
    axis.setAttribute("aria-label", "Direction");
    const draw = () => {
      chart.show(Array.from(this.motion.time), [
        { name: "robot", values: this.nodeValues(this.motion.position, +node.value, +axis.value) },
        { name: "ERLS", values: this.nodeValues(this.motion.erls, +node.value, +axis.value), dash: [5, 4] },
      ]);
    };
    this.nodePlace.replaceChildren(make("div", { class: "row" }, node, axis), chart.element);
    draw();
  }
  nodeValues(values, node, axis) {
    const count = this.motion.nodes.length;
    return Array.from(this.motion.time, (_, frame) => values[3 * (frame * count + node) + axis]);
  }
}

function nearestRow(time, t) {
  const row = frameBefore(time, t);
  const next = Math.min(row + 1, time.length - 1);
  return time[next] - t < t - time[row] ? next : row;
}

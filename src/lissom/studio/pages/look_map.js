// A frequency over two joints, about the pose of the robot that is looked at; a click on the map takes the pose.
import { FOLLOWED_MODES } from "./defaults.js";
import { button, choice, labelled, make } from "./dom.js";
import { JobPanel } from "./job_panel.js";
import { heatMap } from "./pictures.js";
import { switchesOfPoint, VerbFields } from "./verb_form.js";

const POINTS = 13; // along each joint
const DEGREES = 180 / Math.PI;

export class PoseMap {
  // `question` gives robot and pose; `take` is handed joint coordinates by name [deg or m].
  constructor(question, take) {
    Object.assign(this, { question, take });
    this.job = new JobPanel("mode-map", (found) => this.show(found), () => question().source);
    this.across = choice([], "", () => {});
    this.upwards = choice([], "", () => {});
    this.mode = choice(Array.from({ length: FOLLOWED_MODES }, (_, k) => k + 1).map((n) => [n, n]), 1, () => this.draw());
    this.fields = new VerbFields("modes", switchesOfPoint);
    this.picture = make("div", {});
    const start = button("Map it", () => this.start());
    start.id = "map-poses";
    this.element = make("details", { class: "panel", id: "pose-map" },
      make("summary", {}, "A frequency over two joints"),
      make("div", { class: "fields" }, ...labelled("To the right", this.across), ...labelled("Upwards", this.upwards), ...labelled("Mode", this.mode)),
      make("div", { class: "row" }, this.fields.element, start), this.job.element, this.picture);
    this.element.ontoggle = () => {
      this.fields.open();
      return this.element.open ? this.job.open() : this.job.close();
    };
  }
  close() {
    this.job.close();
  }
  robot(joints) {
    this.joints = joints.filter(({ independent }) => independent);
    const options = () => this.joints.map(({ name }) => make("option", { value: name }, name));
    this.across.replaceChildren(...options());
    this.upwards.replaceChildren(...options());
    this.across.value = this.joints.at(-1)?.name;
    this.upwards.value = this.joints.at(-2)?.name ?? this.across.value;
    this.element.hidden = this.joints.length < 2;
    this.found = null;
    this.picture.replaceChildren();
  }
  // Over its range, or over a whole turn or metre where it has none.
  axis(name) {
    const joint = this.joints.find((one) => one.name === name);
    const isAngle = joint.type === "revolute";
    const unit = isAngle ? DEGREES : 1;
    const reach = isAngle ? 180 : 1;
    const start = joint.lower === null ? -reach : joint.lower * unit;
    const stop = joint.upper === null ? reach : joint.upper * unit;
    return { name, start, stop, points: POINTS };
  }
  start() {
    if (this.across.value === this.upwards.value) {
      this.job.message.textContent = "two different joints, please";
      return null;
    }
    const { q, ...about } = this.question();
    return this.job.start({ ...about, values: { q, ...this.asks() } });
  }
  // The same in radians, as the command line takes it beside a pose in radians.
  inSi() {
    const asked = this.asks();
    return asked && { ...asked, degrees: false, over: axesInSi(asked.over, this.joints) };
  }
  // What is asked for, null while nothing is.
  asks() {
    if (!this.element.open || !this.joints?.length) return null;
    const over = [this.axis(this.upwards.value), this.axis(this.across.value)];
    return { over, degrees: true, count: FOLLOWED_MODES, ...this.fields.values() };
  }
  show(found) {
    if (Object.keys(found.axes).length !== 2) return;
    this.found = found;
    this.draw();
  }
  draw() {
    if (!this.found) return;
    const { axes, frequency_hz: frequency } = this.found;
    const m = Math.min(+this.mode.value, this.found.modes.length) - 1;
    const [rowName, columnName] = Object.keys(axes);
    const values = axes[rowName].map((_, i) => axes[columnName].map((__, j) => frequency[i][j][m]));
    const figure = heatMap({ title: `Mode ${m + 1}`, unit: "Hz", rowName, columnName, rows: axes[rowName], columns: axes[columnName], values });
    const canvas = figure.querySelector("canvas");
    canvas.onclick = (event) => {
      const j = Math.min(Math.floor((event.offsetX / canvas.clientWidth) * axes[columnName].length), axes[columnName].length - 1);
      const i = axes[rowName].length - 1 - Math.min(Math.floor((event.offsetY / canvas.clientHeight) * axes[rowName].length), axes[rowName].length - 1);
      this.take({ [jointOf(rowName)]: axes[rowName][i], [jointOf(columnName)]: axes[columnName][j] });
    };
    this.picture.replaceChildren(figure, make("p", { class: "soft" }, `${this.found.model}. A click on the map takes its pose.`));
  }
}

export const axesInSi = (axes, joints) => axes.map((axis) => {
  const isAngle = joints.find(({ name }) => name === axis.name)?.type === "revolute";
  const [start, stop] = [axis.start, axis.stop].map((value) => +(isAngle ? value / DEGREES : value).toPrecision(6));
  return { ...axis, start, stop };
});
// Axes are named with their units.
const jointOf = (axis) => axis.replace(/ \[.*\]$/, "");

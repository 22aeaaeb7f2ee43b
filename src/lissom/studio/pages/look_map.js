// A frequency over two joints, about the pose of the robot that is looked at; a click on the map takes the pose.
import { FOLLOWED_MODES } from "./defaults.js";
import { button, choice, labelled, make, setOptions } from "./dom.js";
import { JobPanel } from "./job_panel.js";
import { frequencyMap } from "./pictures.js";
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
    this.mode = choice(Array.from({ length: FOLLOWED_MODES }, (_, k) => k + 1), 1, () => this.draw());
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
    for (const axis of [this.across, this.upwards]) setOptions(axis, this.joints.map(({ name }) => name));
    this.across.value = this.joints.at(-1)?.name;
    this.upwards.value = this.joints.at(-2)?.name ?? this.across.value;
    this.element.hidden = this.joints.length < 2;
    this.found = null;
    this.picture.replaceChildren();
  }
  axis(name) {
    const { min, max } = rangeOf(this.joints.find((one) => one.name === name));
    return { name, start: min, stop: max, points: POINTS };
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
    const mode = Math.min(+this.mode.value, this.found.modes.length) - 1;
    // Axes are named with their units.
    const joints = (place) => Object.fromEntries(Object.entries(place).map(([axis, value]) => [axis.replace(/ \[.*\]$/, ""), value]));
    const figure = frequencyMap(this.found, mode, (place) => this.take(joints(place)));
    this.picture.replaceChildren(figure, make("p", { class: "soft" }, `${this.found.model}. A click on the map takes its pose.`));
  }
}

// The range of a joint in degrees or metres: a whole turn or a metre to both sides where it has no limits.
export function rangeOf({ type, lower, upper }) {
  const [unit, reach, unitName] = type === "revolute" ? [DEGREES, 180, "deg"] : [1, 1, "m"];
  return { unit, unitName, min: lower === null ? -reach : lower * unit, max: upper === null ? reach : upper * unit };
}
export const axesInSi = (axes, joints) => axes.map((axis) => {
  const isAngle = joints.find(({ name }) => name === axis.name)?.type === "revolute";
  const [start, stop] = [axis.start, axis.stop].map((value) => +(isAngle ? value / DEGREES : value).toPrecision(6));
  return { ...axis, start, stop };
});

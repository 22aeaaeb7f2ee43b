// A frequency over two joints, about the pose of the robot that is looked at; a click on the map takes the pose.
import { button, choice, labelled, make, setOptions } from "./dom.js";
import { JobPanel } from "./job_panel.js";
import { MapPicture } from "./map_picture.js";
import { switchesOfPoint, VerbFields, withValues } from "./verb_form.js";

const POINTS = 13; // along each joint
const DEGREES = 180 / Math.PI;

export class PoseMap extends JobPanel {
  // `question` gives robot and pose; `take` gets joint coordinates by name [deg or m].
  constructor(question, take) {
    super("mode-map");
    this.question = question;
    this.across = choice([], "");
    this.upwards = choice([], "");
    this.fields = new VerbFields("modes", switchesOfPoint);
    // Axes are named with their units.
    const joints = (place) => Object.fromEntries(Object.entries(place).map(([axis, value]) => [axis.replace(/ \[.*\]$/, ""), value]));
    this.picture = new MapPicture((place) => take(joints(place)));
    this.note = make("p", { class: "soft" });
    const start = button("Map it", () => this.start(), { id: "map-poses" });
    this.element = make("details", { class: "panel", id: "pose-map" },
      make("summary", {}, "A frequency over two joints"),
      make("div", { class: "fields" }, ...labelled("To the right", this.across), ...labelled("Upwards", this.upwards), ...labelled("Mode", this.picture.mode)),
      make("div", { class: "row" }, this.fields.element, start), this.progress, this.picture.element, this.note);
    this.element.ontoggle = () => {
      this.fields.open();
      return this.element.open ? this.open() : this.close();
    };
  }
  source() {
    return this.question().source;
  }
  robot(joints) {
    this.joints = joints.filter(({ independent }) => independent);
    for (const axis of [this.across, this.upwards]) setOptions(axis, this.joints.map(({ name }) => name));
    this.across.value = this.joints.at(-1)?.name;
    this.upwards.value = this.joints.at(-2)?.name ?? this.across.value;
    this.element.hidden = this.joints.length < 2;
    this.clear();
  }
  clear() {
    this.picture.clear();
    this.note.textContent = "";
  }
  axis(name) {
    const { min, max } = rangeOf(this.joints.find((one) => one.name === name));
    return { name, start: min, stop: max, points: POINTS };
  }
  start() {
    if (this.across.value === this.upwards.value) {
      this.message.textContent = "two different joints, please";
      return null;
    }
    return super.start(withValues(this.question(), this.values()));
  }
  // The same in radians, as the command line takes it beside a pose in radians.
  inSi() {
    const values = this.values();
    return values && { ...values, degrees: false, over: axesInSi(values.over, this.joints) };
  }
  // Of the map, null while it is folded away.
  values() {
    if (!this.element.open || !this.joints?.length) return null;
    const over = [this.axis(this.upwards.value), this.axis(this.across.value)];
    return { over, degrees: true, ...this.fields.values() };
  }
  show(found) {
    if (Object.keys(found.axes).length !== 2) return;
    this.picture.show(found);
    this.note.textContent = `${found.model}. A click on the map takes its pose.`;
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

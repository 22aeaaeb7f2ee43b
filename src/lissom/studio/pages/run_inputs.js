// What acts on a robot during a run: torques on joints, joints that are led along a motion, forces at nodes.
import { button, choice, make } from "./dom.js";
import { CurveEditor } from "./curve_editor.js";

const COMPONENTS = ["fx", "fy", "fz", "mx", "my", "mz"];
const FIRST = { torque: [[0, 1], [0.2, 1], [0.2, 0]], motion: [[0, 0], [0.5, 0.5], [1, 0.5]], wrench: [[0, 0], [0.1, 10], [0.2, 0]] };
const TITLES = { torque: "Torque", motion: "Motion led", wrench: "Force or moment" };

export class RunInputs {
  constructor(onChange) {
    this.onChange = onChange;
    this.entries = [];
    this.list = make("div", { class: "inputs" });
    this.said = make("p", { class: "soft" });
    const add = (kind, text) => button(text, () => this.add(kind));
    this.element = make("div", {}, this.said, this.list, make("div", { class: "row" }, add("torque", "Add a torque"), add("motion", "Add a motion"), add("wrench", "Add a force")));
  }
  // Another robot: its joints and nodes; what was drawn for one without these names goes.
  open({ joints, nodes, inputs }) {
    Object.assign(this, { joints, nodes, inFile: inputs });
    const parts = [...Object.keys(inputs.torque).map((name) => `torque on ${name}`), ...Object.keys(inputs.motion).map((name) => `motion of ${name}`), ...inputs.wrench.map(({ node }) => `force at ${node}`)];
    this.said.textContent = parts.length ? `The file has: ${parts.join(", ")}. What is added here for the same joint takes its place.` : "The file has none.";
    const known = new Set([...joints.map(({ name }) => name), ...nodes]);
    this.entries.filter(({ place }) => !known.has(place.value)).forEach((entry) => this.drop(entry));
  }
  add(kind) {
    if (!this.joints) return;
    const isWrench = kind === "wrench";
    const places = isWrench ? this.nodes : this.joints.filter(({ actuated }) => actuated || kind === "motion").map(({ name }) => name);
    const place = choice(places, isWrench ? places.at(-1) : places[0], () => this.onChange(), isWrench ? "Node of the force" : `Joint of the ${kind}`);
    const component = choice(COMPONENTS, "fz", () => this.onChange(), "Component of the force or moment");
    const frame = choice([["world", "world axes"], ["link", "link axes"]], "world", () => this.onChange(), "Axes of the force");
    component.hidden = frame.hidden = !isWrench;
    const unit = { torque: "N m or N", motion: "rad or m", wrench: "N or N m" }[kind];
    const curve = new CurveEditor(TITLES[kind], unit, this.firstPoints(kind, place.value), kind === "motion" ? [] : ["linear", "hold"], () => this.onChange());
    const entry = { kind, place, component, frame, curve };
    const drop = button("\u00d7", () => { this.drop(entry); this.onChange(); }, "", `Remove this ${kind}`);
    entry.element = make("fieldset", { class: "input-curve" }, make("legend", {}, TITLES[kind]), make("div", { class: "row" }, place, component, frame, drop), curve.element);
    this.entries.push(entry);
    this.list.append(entry.element);
    place.focus();
    this.onChange();
  }
  // What the file has for a joint, or something to begin with.
  firstPoints(kind, name) {
    const known = kind === "wrench" ? null : this.inFile[kind][name];
    return known ? known.t.map((t, k) => [t, known.value[k]]) : FIRST[kind].map((point) => [...point]);
  }
  drop(entry) {
    this.entries = this.entries.filter((other) => other !== entry);
    entry.element.remove();
  }
  changes() {
    const changes = {};
    const wrenches = [];
    for (const { kind, place, component, frame, curve } of this.entries) {
      const { t, value, interpolation } = curve.value;
      if (kind === "torque") changes[`inputs.torque.${place.value}`] = { t, value, interpolation };
      if (kind === "motion") changes[`inputs.motion.${place.value}`] = { t, value };
      const rows = value.map((v) => COMPONENTS.map((name) => (name === component.value ? v : 0)));
      if (kind === "wrench") wrenches.push({ node: place.value, frame: frame.value, t, value: rows, interpolation });
    }
    if (wrenches.length) changes["inputs.wrench"] = wrenches;
    return changes;
  }
}

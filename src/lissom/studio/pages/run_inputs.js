// What acts on a robot during a run: torques on joints, prescribed motions of joints, forces at nodes.
import { button, choice, make } from "./dom.js";
import { CurveEditor } from "./curve_editor.js";

const COMPONENTS = ["fx", "fy", "fz", "mx", "my", "mz"];
// What each kind of input is called and begins with: points of time and value.
const KINDS = {
  torque: { title: "Torque", add: "Add a torque", unit: "N m or N", first: [[0, 1], [0.2, 1], [0.2, 0]], interpolations: ["linear", "hold"] },
  motion: { title: "Prescribed motion", add: "Add a motion", unit: "rad or m", first: [[0, 0], [0.5, 0.5], [1, 0.5]], interpolations: [] },
  wrench: { title: "Force or moment", add: "Add a force", unit: "N or N m", first: [[0, 0], [0.1, 10], [0.2, 0]], interpolations: ["linear", "hold"] },
};

export class RunInputs {
  constructor(onChange) {
    this.onChange = onChange;
    this.entries = [];
    this.list = make("div", { class: "inputs" });
    this.status = make("p", { class: "soft" });
    const adders = Object.entries(KINDS).map(([kind, { add }]) => button(add, () => this.add(kind)));
    this.element = make("div", {}, this.status, this.list, make("div", { class: "row" }, ...adders));
  }
  // Another robot: its joints and nodes; inputs at names that it does not have go.
  open({ joints, nodes, inputs }) {
    Object.assign(this, { joints, nodes, inFile: inputs });
    const parts = [...Object.keys(inputs.torque).map((name) => `torque on ${name}`), ...Object.keys(inputs.motion).map((name) => `motion of ${name}`), ...inputs.wrench.map(({ node }) => `force at ${node}`)];
    this.status.textContent = parts.length ? `The file has: ${parts.join(", ")}. An input that is added here for the same joint replaces it.` : "The file has none.";
    const known = new Set([...joints.map(({ name }) => name), ...nodes]);
    this.entries.filter(({ place }) => !known.has(place.value)).forEach((entry) => this.drop(entry));
  }
  add(kind) {
    if (!this.joints) return;
    const isWrench = kind === "wrench";
    const places = isWrench ? this.nodes : this.joints.filter(({ actuated }) => actuated || kind === "motion").map(({ name }) => name);
    const place = choice(places, isWrench ? places.at(-1) : places[0], () => this.onChange(), { "aria-label": isWrench ? "Node of the force" : `Joint of the ${kind}` });
    const component = choice(COMPONENTS, "fz", () => this.onChange(), { "aria-label": "Component of the force or moment", hidden: !isWrench });
    const frame = choice([["world", "world axes"], ["link", "link axes"]], "world", () => this.onChange(), { "aria-label": "Axes of the force", hidden: !isWrench });
    const { title, unit, first, interpolations } = KINDS[kind];
    const written = isWrench ? null : this.inFile[kind][place.value];
    const points = written ? written.t.map((t, k) => [t, written.value[k]]) : structuredClone(first);
    const curve = new CurveEditor(title, unit, points, interpolations, () => this.onChange());
    const entry = { kind, place, component, frame, curve };
    const drop = button("\u00d7", () => { this.drop(entry); this.onChange(); }, { "aria-label": `Remove this ${kind}` });
    entry.element = make("fieldset", { class: "input-curve" }, make("legend", {}, title), make("div", { class: "row" }, place, component, frame, drop), curve.element);
    this.entries.push(entry);
    this.list.append(entry.element);
    place.focus();
    this.onChange();
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

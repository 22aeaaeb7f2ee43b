// The choice of the ERLS: displacements of nodes that are set to zero, one for each joint, picked in the picture.
import { button, choice, make, setOptions } from "./dom.js";

const COMPONENTS = ["x", "y", "z", "rx", "ry", "rz"];
const FORMULATION = "erls-fem"; // the one whose coordinates are displacements of nodes

export class ErlsChoice {
  constructor(onChange) {
    this.onChange = onChange;
    this.picked = [];
    this.joints = 0;
    this.list = make("ul", { class: "files", "aria-label": "Displacements set to zero" });
    this.node = make("select", { "aria-label": "Node" });
    this.component = choice(COMPONENTS, "rz", undefined, { "aria-label": "Displacement or rotation" });
    this.hint = make("p", { class: "soft", role: "status" });
    this.warning = make("div", { class: "warning", role: "alert" });
    this.element = make("details", { class: "panel" },
      make("summary", {}, "Choice of the ERLS"),
      make("p", {}, "Click a node in the picture, or choose it here, and the displacement that is zero there."),
      make("div", { class: "row" }, this.node, this.component, button("Set to zero", () => this.add())), this.list, this.hint, this.warning);
  }
  // The error of a pose, where it is about the choice: displacements that define no ERLS, above all.
  warn(message) {
    this.warning.textContent = this.picked.length && message.includes("reference") ? message : "";
  }
  // Words for the picture, by node.
  marks() {
    const words = {};
    for (const name of this.picked) {
      const [node, component] = name.split(".");
      words[node] = words[node] ? `${words[node]}, ${component} = 0` : `${component} = 0`;
    }
    return words;
  }
  open({ picture, joints }, zeroed) {
    this.joints = joints.filter(({ independent }) => independent).length;
    setOptions(this.node, picture.nodes);
    this.picked = zeroed;
    this.show();
  }
  // A node that was clicked.
  point(name) {
    this.element.open = true;
    this.node.value = name;
    this.component.focus();
  }
  add() {
    const name = `${this.node.value}.${this.component.value}`;
    if (!this.picked.includes(name)) this.pick([...this.picked, name]);
  }
  drop(name) {
    this.pick(this.picked.filter((other) => other !== name));
  }
  pick(names) {
    this.picked = names;
    this.show();
    // Until there is one for each joint there is no ERLS to compute with.
    if (this.isWhole || this.picked.length === 0) this.onChange();
  }
  get isWhole() {
    return this.picked.length > 0 && this.picked.length === this.joints;
  }
  show() {
    this.list.replaceChildren(...this.picked.map((name) =>
      make("li", {}, make("code", {}, name), button("\u00d7", () => this.drop(name), { "aria-label": `Let ${name} move` }))));
    const left = this.joints - this.picked.length;
    if (this.picked.length === 0) this.hint.textContent = `None picked: the default of the formulation. ${this.joints} are needed.`;
    else this.hint.textContent = left === 0 ? "As many as joints." : left > 0 ? `${left} more to pick.` : `${-left} too many.`;
  }
  changes() {
    return this.isWhole ? { formulation: FORMULATION, reference: { zeroed: this.picked } } : {};
  }
}

// What of a result can be drawn over time, by the names that the command line has for it.
import { button, checkbox, choice, make, setOptions } from "./dom.js";

const SIGNALS = [
  ["mz", "bending moment about z"], ["my", "bending moment about y"], ["t", "torsion"],
  ["n", "axial force"], ["vy", "shear force along y"], ["vz", "shear force along z"],
];
const TITLES = {
  q: "Joint coordinates", qd: "Joint speeds", encoder: "Encoders", torque: "Joint torques", energy: "Energies",
  "energy.residual": "Energy residual",
};

export function titleOf(what) {
  if (TITLES[what]) return TITLES[what];
  const section = what.match(/^(.+)\/element(\d+|\*)\.(\w+)$/);
  if (section) {
    const signal = SIGNALS.find(([key]) => key === section[3])?.[1] ?? section[3];
    return `${section[1]}: ${signal}${section[2] === "*" ? "" : `, element ${section[2]}`}`;
  }
  const [quantity, ...rest] = what.split(".");
  const words = { displacement: "Displacement from the ERLS", position: "Position", erls_position: "Position of the ERLS" };
  return `${words[quantity] ?? quantity} ${rest.join(".")}`;
}

// The charts that a result opens with.
export function firstCharts(facts) {
  const tip = facts.tips.at(-1)?.name;
  return ["q", "torque", ...(tip ? [`displacement.${tip}`] : [])];
}

// Check boxes for the usual quantities, and fields for nodes, sections and anything else.
export class QuantityChoice {
  constructor(onToggle) {
    this.onToggle = onToggle;
    this.element = make("div", {});
  }
  open(facts) {
    const tip = facts.tips.at(-1)?.name ?? "";
    const usual = ["q", "torque", `displacement.${tip}`, `position.${tip}`, "energy", "energy.residual", "qd", "encoder"];
    const labels = usual.map((what) => checkbox(titleOf(what), false, (on) => this.onToggle(what, on), { name: what }));
    this.element.replaceChildren(make("div", { class: "toggles" }, ...labels), this.nodeRow(facts), ...this.sectionRow(facts), this.otherRow());
  }
  // A chart that was taken away elsewhere.
  note(what, isShown) {
    const box = this.element.querySelector(`[name="${CSS.escape(what)}"]`);
    if (box) box.checked = isShown;
  }
  row(title, fields, what) {
    fields.forEach(([label, field]) => field.setAttribute("aria-label", label));
    const add = button("Add", () => this.onToggle(what(), true), { "aria-label": `Add chart: ${title}` });
    return make("div", { class: "row chooser" }, make("span", { class: "soft" }, title), ...fields.map(([, field]) => field), add);
  }
  nodeRow({ nodes }) {
    const node = choice(nodes, nodes.at(-1));
    const kind = choice([["position", "of robot and ERLS"], ["displacement", "from the ERLS"]], "position");
    const axis = choice([["", "x, y, z"], [".x", "x"], [".y", "y"], [".z", "z"]], ".x");
    const what = () => `${kind.value}.${node.value}${axis.value}`;
    return this.row("Node", [["Node", node], ["Position or displacement", kind], ["Direction", axis]], what);
  }
  sectionRow({ elements }) {
    const links = Object.keys(elements);
    if (!links.length) return [];
    const link = choice(links, links[0], () => fill());
    const element = make("select", {});
    const signal = choice(SIGNALS, "mz");
    const fill = () => {
      const numbers = Array.from({ length: elements[link.value] }, (_, k) => [k, `element ${k}`]);
      setOptions(element, [["*", "all elements"], ...numbers]);
    };
    fill();
    return [this.row("Section", [["Link", link], ["Element", element], ["Force in the section", signal]],
      () => `${link.value}/element${element.value}.${signal.value}`)];
  }
  otherRow() {
    const text = make("input", { placeholder: "torque.upper, position.lower/2.x" });
    return this.row("Other", [["Quantity by its name", text]], () => text.value.trim());
  }
}

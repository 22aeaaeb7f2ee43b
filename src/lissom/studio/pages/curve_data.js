// Curves of results as the server sends them: one block of doubles, and where each curve lies in it.
import { post } from "./server.js";

const DEGREES = 180 / Math.PI;
const ANGLES = ["q", "encoder"];
const RATES = ["qd", "encoder_rate"];

export async function askCurves(runs, what) {
  const { blob, ...found } = await post("results/curves", { runs, what });
  const bytes = Uint8Array.from(atob(blob), (c) => c.charCodeAt(0)).buffer;
  const array = ({ offset, shape }) => new Float64Array(bytes, offset, shape.reduce((a, b) => a * b, 1));
  const opened = (one) => ({ ...one, t: array(one.t), panels: new Map(one.panels.map((panel) => [panel.what, openedPanel(panel, array)])) });
  return { runs: found.runs.map(opened), differences: found.differences.map(opened) };
}

function openedPanel({ unit, names, values }, array) {
  const all = array(values);
  const rows = names.length ? all.length / names.length : 0;
  return { unit, curves: names.map((name, k) => ({ name, values: all.subarray(k * rows, (k + 1) * rows) })) };
}

// Angles are drawn in degrees, as people read them.
export function readable(what, panel, joints) {
  const quantity = what.split(".")[0];
  const isAngle = ANGLES.includes(quantity);
  if (!isAngle && !RATES.includes(quantity)) return panel;
  const kinds = new Map(joints.map(({ name, type }) => [name, type]));
  const per = isAngle ? "" : "/s";
  const units = new Set();
  const curves = panel.curves.map(({ name, values }) => {
    const turns = kinds.get(name) === "revolute";
    units.add((turns ? "deg" : kinds.get(name) ? "m" : "rad or m") + per);
    return { name, values: turns ? values.map((value) => DEGREES * value) : values };
  });
  return { unit: [...units].join(" or "), curves };
}

// Sections of beams: what each shape begins with, and drawings of them.
import { svg, svgText } from "./dom.js";

export const FIRST = {
  rectangle: { shape: "rectangle", y: 0.03, z: 0.01 },
  circle: { shape: "circle", diameter: 0.02 },
  tube: { shape: "tube", outer: 0.04, inner: 0.036 },
  box: { shape: "box", y: 0.04, z: 0.03, wall: 0.002 },
  general: { shape: "general", A: 3e-4, Iy: 2.5e-9, Iz: 2.25e-8, J: 8e-9 },
};
const SMALL = 26;
const LARGE = 150;
const UNITS = { m: 1, mm: 1e-3, cm: 1e-2, um: 1e-6 };

// A length as a file has it: a number in metres, or with a unit.
function metres(value) {
  if (typeof value === "number") return value;
  const match = /^\s*([-+.\deE]+)\s*(mm|cm|um|m)?\s*$/.exec(String(value));
  return match ? Number(match[1]) * UNITS[match[2] ?? "m"] : NaN;
}
const lengths = (section) => Object.fromEntries(Object.entries(section ?? {}).map(([key, value]) => [key, key === "shape" ? value : metres(value)]));

// Drawn to scale within its own box; y to the right, z up.
export function sectionDrawing(section) {
  const half = SMALL / 2;
  const known = section?.start ?? section;
  return svg("svg", { class: "section-drawing", viewBox: `${-half} ${-half} ${SMALL} ${SMALL}`, role: "img", "aria-label": `section: ${known?.shape ?? "none"}${section?.start ? ", tapered" : ""}` },
    svg("path", { d: outline(lengths(known), SMALL - 4) }));
}

// The same larger, with its axes and dimensions.
export function largeSectionDrawing(section, title) {
  const known = lengths(section);
  const half = LARGE / 2;
  const words = wordsOf(known);
  const drawing = svg("svg", { class: "section-drawing large", viewBox: `${-half} ${-half} ${LARGE} ${LARGE}`, role: "img", "aria-label": `${title}: ${known.shape ?? "none"} ${words.join(", ")}` },
    svg("path", { d: outline(known, 0.52 * LARGE) }),
    svg("path", { class: "axis", d: `M0 0H${half - 14}M0 0V${14 - half}` }),
    svgText(half - 8, 4, "y"), svgText(0, 10 - half, "z"));
  words.forEach((word, k) => drawing.append(svgText(0, half - 4 - 12 * (words.length - 1 - k), word)));
  return drawing;
}
function wordsOf({ shape, ...sizes }) {
  const all = Object.entries(sizes);
  if (shape === "general") return [all.map(([key, value]) => `${key} ${value}`).slice(0, 2).join(", "), all.map(([key, value]) => `${key} ${value}`).slice(2).join(", ")];
  return [all.map(([key, value]) => `${key} ${+(1e3 * value).toPrecision(4)}`).join(", ") + " mm"];
}

function outline({ shape, y, z, wall, outer, inner, A, Iy, Iz }, room) {
  if (shape === "circle") return ring(room / 2);
  if (shape === "tube") return ring(room / 2) + ring((room / 2) * Math.min(inner / outer || 0, 1));
  // A general section is drawn as the rectangle with its area and second moments, as the picture of the robot is.
  if (shape === "general") [y, z] = [Math.sqrt((12 * Iz) / A), Math.sqrt((12 * Iy) / A)];
  const unit = room / Math.max(y, z);
  if (!Number.isFinite(unit)) return frame(room, room);
  const whole = frame(y * unit, z * unit);
  return shape === "box" ? whole + frame((y - 2 * wall) * unit, (z - 2 * wall) * unit) : whole;
}
const frame = (w, h) => `M${-w / 2} ${-h / 2}h${w}v${h}h${-w}z`;
const ring = (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

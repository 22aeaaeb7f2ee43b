// Sections of beams: their dimensions by shape, and a small drawing of each.

export const SHAPES = {
  rectangle: ["y", "z"], circle: ["diameter"], tube: ["outer", "inner"], box: ["y", "z", "wall"],
  general: ["A", "Iy", "Iz", "J"],
};
export const FIRST = {
  rectangle: { shape: "rectangle", y: 0.03, z: 0.01 },
  circle: { shape: "circle", diameter: 0.02 },
  tube: { shape: "tube", outer: 0.04, inner: 0.036 },
  box: { shape: "box", y: 0.04, z: 0.03, wall: 0.002 },
  general: { shape: "general", A: 3e-4, Iy: 2.5e-9, Iz: 2.25e-8, J: 8e-9 },
};
const SVG = "http://www.w3.org/2000/svg";
const ROOM = 22; // of 26 pixels

// Drawn to scale within its own box; y to the right, z up.
export function sectionDrawing(section) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("class", "section-drawing");
  drawing.setAttribute("viewBox", "-13 -13 26 26");
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", `section: ${section?.shape ?? "tapered"}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", outline(section ?? {}));
  drawing.append(path);
  return drawing;
}

function outline({ shape, y, z, wall, outer, inner }) {
  if (shape === "circle") return ring(ROOM / 2);
  if (shape === "tube") return ring(ROOM / 2) + ring((ROOM / 2) * Math.min(inner / outer || 0, 1));
  const unit = ROOM / Math.max(y, z);
  if (!Number.isFinite(unit)) return frame(ROOM, ROOM);
  const whole = frame(y * unit, z * unit);
  return shape === "box" ? whole + frame((y - 2 * wall) * unit, (z - 2 * wall) * unit) : whole;
}
const frame = (w, h) => `M${-w / 2} ${-h / 2}h${w}v${h}h${-w}z`;
const ring = (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

// What is written into the picture of a robot: lengths of links, centres of mass with principal axes, marks at nodes.
import { add, distance, times, unit, cross, dot } from "./vectors.js";
import { rgb } from "./themes.js";

const ASIDE = 0.07; // of the robot's size, between a link and its dimension line
const TICK = 0.02;
const LONGEST_AXIS = 0.16; // of the robot's size, of the principal axis with the largest moment

// A dimension line beside each link, on the side that the camera sees as its upper one.
export function drawDimensions(view, lengths, colors) {
  const { motion, lines, labels, camera } = view;
  const { size } = motion.content;
  const [, top, back] = camera.axes();
  for (const link of motion.links) {
    const length = lengths[link.name];
    if (!(length > 0)) continue;
    const a = motion.drawnPoint(link.first, view.choices.scale);
    const b = motion.drawnPoint(link.first + link.count - 1, view.choices.scale);
    if (distance(a, b) < 1e-3 * size) continue;
    let aside = unit(cross(back, add(b, a, -1)));
    if (dot(aside, top) < 0) aside = times(aside, -1);
    const shift = ASIDE * size + link.radius;
    const [from, to] = [add(a, aside, shift), add(b, aside, shift)];
    const ink = rgb(colors.soft);
    lines.line(from, to, ink, 0.9);
    for (const [end, foot] of [[from, a], [to, b]]) lines.line(add(end, aside, TICK * size), add(foot, aside, link.radius), ink, 0.6);
    const middle = add(times(add(from, to), 0.5), aside, 0.055 * size);
    labels.push({ at: middle, text: `${+length.toPrecision(4)} m`, color: colors.ink });
  }
}

// Centres of mass of the links, and of the whole robot with a larger cross; arms of the cross are the principal axes,
// as long as the radii of gyration about the other two let the mass reach.
export function drawMasses(view, masses, colors) {
  const { motion, lines, labels } = view;
  const { size } = motion.content;
  masses.forEach(({ name, mass, centre, moments, axes }, k) => {
    const isWhole = k === masses.length - 1;
    const sum = moments[0] + moments[1] + moments[2];
    const spread = moments.map((moment) => Math.sqrt(Math.max(sum - 2 * moment, 0)));
    const widest = Math.max(...spread) || 1;
    for (let j = 0; j < 3; j++) {
      const axis = axes.map((row) => row[j]);
      const reach = LONGEST_AXIS * size * (isWhole ? 1.25 : 0.8) * Math.max(spread[j] / widest, 0.25);
      lines.line(add(centre, axis, -reach), add(centre, axis, reach), rgb(isWhole ? colors.trail : colors.gravity), 0.95);
    }
    const text = `${isWhole ? "whole: " : ""}${+mass.toPrecision(3)} kg`;
    labels.push({ at: centre, text, color: isWhole ? colors.trail : colors.gravity, dot: true, bold: isWhole });
  });
}

// Words at nodes, by the names of the nodes.
export function drawMarks(view, marks, colors) {
  for (const [node, words] of Object.entries(marks)) {
    const n = view.motion.nodes.indexOf(node);
    if (n < 0) continue;
    const at = view.motion.drawnPoint(n, view.choices.scale);
    view.labels.push({ at, text: words, color: colors.trail, dot: true, bold: true });
  }
}

// The robot as triangles and lines: links bent as their beam elements are, joints, the rigid robot, the tip's trail.
import { frameBefore, drawnRotation, nodeAt } from "./motion.js";
import { add, apply, cross, distance, dot, times, transposed, turn, unit } from "./vectors.js";

// Outline of a section between nodes k and k + 1, in link axes.
function sectionAt(link, k, s) {
  const count = link.points;
  const o = link.outline;
  const a = 3 * count * k;
  const b = s > 0 ? a + 3 * count : a;
  const points = [];
  for (let p = 0; p < count; p++) {
    points.push([0, 1, 2].map((x) => (1 - s) * o[a + 3 * p + x] + s * o[b + 3 * p + x]));
  }
  return points;
}

// Centre and rotation between nodes a and b: cubic across the element, linear along it (Euler-Bernoulli).
function bentPoint(now, a, b, s, scale) {
  const ra = nodeAt(now.erls, a);
  const chord = add(nodeAt(now.erls, b), ra, -1);
  const length = Math.hypot(...chord);
  const e = unit(chord);
  const ua = add(nodeAt(now.position, a), ra, -1);
  const ub = add(nodeAt(now.position, b), nodeAt(now.erls, b), -1);
  const wa = nodeAt(now.rotation, a);
  const wb = nodeAt(now.rotation, b);
  const slopeA = cross(wa, chord);
  const slopeB = cross(wb, chord);
  const du = add(ub, ua, -1);
  const q = 1 - s;
  const bend = add(add(add(ua, du, s * s * (3 - 2 * s)), slopeA, s * q * q), slopeB, -s * s * q);
  const slope = add(add(times(du, 6 * s * q), slopeA, q * (1 - 3 * s)), slopeB, s * (3 * s - 2));
  const linear = add(ua, du, s);
  const u = add(bend, e, dot(add(linear, bend, -1), e));
  const twist = dot(wa, e) * q + dot(wb, e) * s;
  const w = length > 0 ? add(times(cross(e, slope), 1 / length), e, twist) : wa;
  return [add(add(ra, chord, s), u, scale), drawnRotation(w, scale)];
}

// Places along a link: the element that each lies in, its centre and its rotation.
function placesAlong(motion, link, scale) {
  const last = link.count - 1;
  const even = Math.round(48 / Math.max(last, 1));
  const pieces = link.flexible ? Math.max(2, Math.min(12, even)) : 1;
  const places = [];
  for (let k = 0; k < last; k++) {
    // The first point of a piece is the last one of the piece before.
    for (let j = k === 0 ? 0 : 1; j <= pieces; j++) {
      const s = j / pieces;
      const [centre, w] = bentPoint(motion.now, link.first + k, link.first + k + 1, s, scale);
      places.push({ k, s, centre, w });
    }
  }
  return places;
}

export function drawLink(solids, motion, i, scale, color) {
  const link = motion.links[i];
  const R = motion.frameOf(i);
  if (link.surface) return drawSurface(solids, motion, link, R, scale, color);
  const places = placesAlong(motion, link, scale);
  const rings = places.map(({ k, s, centre, w }) => sectionAt(link, k, s).map((p) => add(centre, turn(apply(R, p), w))));
  if (rings.length > 1) solids.tube(rings, places.map(({ centre }) => centre), color);
}

// A surface that was given moves with its link, and bends with it: each corner stays in the section nearest to it.
function drawSurface(solids, motion, link, R, scale, color) {
  if (!link.flexible) {
    const from = motion.drawnPoint(link.first, scale);
    const w = motion.rotationAt(link.first, scale);
    return solids.surface(link.surface, (p) => add(from, turn(apply(R, p), w)), color);
  }
  const places = placesAlong(motion, link, scale);
  link.holds ??= sectionsOf(link.surface, restOf(motion, link, R));
  return solids.surface(link.surface, (_, corner) => {
    const { place, offset } = link.holds[corner];
    return add(places[place].centre, turn(apply(R, offset), places[place].w));
  }, color);
}
// The same places before anything bends, in link axes.
function restOf(motion, link, R) {
  const from = nodeAt(motion.now.erls, link.first);
  const across = transposed(R);
  return placesAlong(motion, link, 0).map(({ centre }) => apply(across, add(centre, from, -1)));
}
function sectionsOf(surface, rest) {
  const holds = [];
  for (let c = 0; c + 2 < surface.length; c += 3) {
    const p = [surface[c], surface[c + 1], surface[c + 2]];
    let place = 0;
    rest.forEach((centre, k) => { if (distance(p, centre) < distance(p, rest[place])) place = k; });
    holds.push({ place, offset: add(p, rest[place], -1) });
  }
  return holds;
}

// Lumped masses and the payload as balls of steel, neither too small to be seen nor larger than the robot.
const STEEL = 7850;
export function drawLoads(solids, motion, i, scale, length, colors) {
  const link = motion.links[i];
  const R = motion.frameOf(i);
  for (const { node, mass, offset, payload } of link.loads ?? []) {
    const radius = Math.cbrt((3 * mass) / (4 * Math.PI * STEEL));
    const n = link.first + node;
    const centre = add(motion.drawnPoint(n, scale), turn(apply(R, offset), motion.rotationAt(n, scale)));
    solids.ball(centre, Math.min(Math.max(radius, 0.06 * length), 0.5 * length), payload ? colors.payload : colors.mass);
  }
}

export function drawJoint(solids, motion, i, scale, color) {
  const link = motion.links[i];
  const { size, base } = motion.content;
  const centre = motion.drawnPoint(link.first, scale);
  const axis = unit(turn(apply(motion.frameOf(i), link.axis), motion.rotationAt(link.first, scale)));
  const r = Math.max(1.12 * link.radius, 0.014 * size);
  const along = (length) => add(centre, axis, length * r);
  if (link.joint === "revolute") solids.cylinder(along(-1.15), along(1.15), r, color);
  if (link.joint === "revolute" && i === 0) solids.cylinder(along(-1.65), along(-1.15), 1.9 * r, color);
  if (link.joint !== "prismatic") return;
  solids.block(centre, axis, r, 1.5 * r, color);
  const rail = i > 0 ? motion.drawnPoint(link.first - 1, scale) : base;
  if (distance(centre, rail) > 1e-3 * size) solids.cylinder(rail, centre, 0.4 * r, color);
}

// The equivalent rigid-link system as a wire frame.
export function drawGhost(lines, motion, color) {
  motion.links.forEach((link, i) => {
    const R = motion.frameOf(i);
    const step = Math.max(1, Math.round(link.points / 4));
    const point = (k, p) => {
      const from = 3 * (k * link.points + p);
      const corner = [...link.outline.subarray(from, from + 3)];
      return add(nodeAt(motion.now.erls, link.first + k), apply(R, corner));
    };
    for (let p = 0; p < link.points; p += step) {
      for (let k = 0; k + 1 < link.count; k++) lines.line(point(k, p), point(k + 1, p), color, 0.75);
    }
    for (const k of [0, link.count - 1]) {
      for (let p = 0; p < link.points; p++) lines.line(point(k, p), point(k, (p + 1) % link.points), color, 0.75);
    }
  });
}

// The way of a node up to now, the older the paler; scale 0 is the way of the rigid robot.
export function drawTrail(lines, motion, node, scale, color) {
  if (motion.time.length < 2) return;
  const isOver = motion.t >= motion.end ? 1 : 0;
  const last = frameBefore(motion.time, motion.t) + isOver;
  const step = Math.max(1, Math.ceil(last / 1500));
  const fade = (f) => 0.12 + 0.78 * Math.pow(f / Math.max(last, 1), 2);
  let before = motion.storedPoint(0, node, scale);
  for (let f = step; f <= Math.min(last, motion.time.length - 1); f += step) {
    const here = motion.storedPoint(f, node, scale);
    lines.line(before, here, color, fade(f - step), fade(f));
    before = here;
  }
  lines.line(before, motion.drawnPoint(node, scale), color, fade(last));
}

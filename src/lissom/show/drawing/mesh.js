// Triangles and lines of one picture, gathered before they are drawn.
import { across, add, cross, dot, times, unit } from "./vectors.js";

// A float array that grows.
export class Batch {
  constructor(stride) {
    this.stride = stride;
    this.values = new Float32Array(stride * 4096);
    this.length = 0;
  }
  get count() {
    return this.length / this.stride;
  }
  clear() {
    this.length = 0;
  }
  room(count) {
    if (this.length + count <= this.values.length) return;
    const bigger = new Float32Array(2 * this.values.length + count);
    bigger.set(this.values.subarray(0, this.length));
    this.values = bigger;
  }
}

// Lines of a width in pixels: two triangles for each, spread on the screen by the shader.
const CORNERS = [[0, -1], [0, 1], [1, -1], [1, -1], [0, 1], [1, 1]];
export class Lines extends Batch {
  constructor() {
    super(12);
  }
  line(a, b, color, alpha, alphaEnd = alpha) {
    this.room(72);
    for (const [end, side] of CORNERS) {
      const row = [...a, ...b, end, side, ...color, end ? alphaEnd : alpha];
      this.values.set(row, this.length);
      this.length += 12;
    }
  }
}

const BALL_RINGS = 8;
const SMOOTH_FROM = 8; // points around a section: fewer are the corners of a box
export class Solids extends Batch {
  constructor() {
    super(9);
  }
  vertex(p, n, c) {
    const v = this.values;
    let k = this.length;
    v[k++] = p[0]; v[k++] = p[1]; v[k++] = p[2];
    v[k++] = n[0]; v[k++] = n[1]; v[k++] = n[2];
    v[k++] = c[0]; v[k++] = c[1]; v[k++] = c[2];
    this.length = k;
  }
  triangle(a, b, c, na, nb, nc, color) {
    this.room(27);
    this.vertex(a, na, color);
    this.vertex(b, nb, color);
    this.vertex(c, nc, color);
  }

  // A skin over rings of points around centres, closed at both ends.
  tube(rings, centres, color) {
    const last = rings.length - 1;
    const count = rings[0].length;
    const normals = count >= SMOOTH_FROM ? smoothNormals(rings, centres) : null;
    for (let r = 0; r < last; r++) {
      for (let c = 0; c < count; c++) this.patch(rings, centres, normals, r, c, color);
    }
    this.cap(rings[0], centres[0], centres[1], color);
    this.cap(rings[last], centres[last], centres[last - 1], color);
  }
  patch(rings, centres, normals, r, c, color) {
    const d = (c + 1) % rings[r].length;
    const [a, b] = [rings[r][c], rings[r][d]];
    const [e, f] = [rings[r + 1][d], rings[r + 1][c]];
    let around = null;
    if (normals) {
      around = [normals[r][c], normals[r][d], normals[r + 1][d], normals[r + 1][c]];
    } else {
      const middle = times(add(centres[r], centres[r + 1]), 0.5);
      const flat = unit(cross(add(e, a, -1), add(f, b, -1)));
      const n = outward(flat, times(add(a, e), 0.5), middle);
      around = [n, n, n, n];
    }
    const [na, nb, ne, nf] = around;
    this.triangle(a, b, e, na, nb, ne, color);
    this.triangle(a, e, f, na, ne, nf, color);
  }
  cap(ring, centre, inner, color) {
    const n = unit(add(centre, inner, -1));
    for (let c = 1; c < ring.length - 1; c++) {
      this.triangle(ring[0], ring[c], ring[c + 1], n, n, n, color);
    }
  }

  cylinder(a, b, radius, color, radiusEnd = radius, count = 24) {
    const axis = unit(add(b, a, -1));
    const end = circle(b, axis, Math.max(radiusEnd, 1e-6), count);
    this.tube([circle(a, axis, radius, count), end], [a, b], color);
  }
  arrow(from, vector, thickness, color) {
    const length = Math.hypot(...vector);
    const axis = unit(vector);
    const neck = add(from, axis, Math.max(length - 5 * thickness, 0.55 * length));
    this.cylinder(from, neck, thickness, color, thickness, 12);
    this.cylinder(neck, add(from, vector), 2.4 * thickness, color, 0, 16);
  }
  // A ball as a skin over rings around the z axis.
  ball(centre, radius, color) {
    const rings = [];
    const centres = [];
    for (let k = 1; k < BALL_RINGS; k++) {
      const angle = (Math.PI * k) / BALL_RINGS;
      const at = add(centre, [0, 0, 1], -radius * Math.cos(angle));
      rings.push(circle(at, [0, 0, 1], radius * Math.sin(angle), 12));
      centres.push(at);
    }
    this.tube(rings, centres, color);
  }
  // Triangles in link axes, nine numbers each, each with one normal; `place` is told which corner it places.
  surface(triangles, place, color) {
    for (let k = 0; k + 8 < triangles.length; k += 9) {
      const [a, b, c] = [0, 3, 6].map((j) => place([triangles[k + j], triangles[k + j + 1], triangles[k + j + 2]], (k + j) / 3));
      const n = unit(cross(add(b, a, -1), add(c, a, -1)));
      this.triangle(a, b, c, n, n, n, color);
    }
  }
  block(centre, axis, half, length, color) {
    const [x, y] = across(axis);
    const ends = [add(centre, axis, -length), add(centre, axis, length)];
    const square = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
    const corners = (end) => square.map(([u, v]) => add(add(end, x, u * half), y, v * half));
    this.tube(ends.map(corners), ends, color);
  }
}

function outward(normal, point, centre) {
  return dot(normal, add(point, centre, -1)) < 0 ? times(normal, -1) : normal;
}

function smoothNormals(rings, centres) {
  const last = rings.length - 1;
  const count = rings[0].length;
  const normalAt = (r, c) => {
    const along = add(rings[Math.min(r + 1, last)][c], rings[Math.max(r - 1, 0)][c], -1);
    const around = add(rings[r][(c + 1) % count], rings[r][(c + count - 1) % count], -1);
    return outward(unit(cross(around, along)), rings[r][c], centres[r]);
  };
  return rings.map((ring, r) => ring.map((_, c) => normalAt(r, c)));
}

function circle(centre, axis, radius, count) {
  const [x, y] = across(axis);
  return Array.from({ length: count }, (_, k) => {
    const angle = (2 * Math.PI * k) / count;
    return add(add(centre, x, radius * Math.cos(angle)), y, radius * Math.sin(angle));
  });
}

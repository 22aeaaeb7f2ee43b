// A motion, decoded from the content that Python writes (`show/viewer.py`), and its state at any time.
import { add, column, cross, times, unit } from "./vectors.js";

// The last of some rising times that is not after t, one before the last at most.
export function frameBefore(times_, t) {
  let low = 0;
  let high = times_.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times_[middle] <= t) low = middle;
    else high = middle;
  }
  return low;
}

export class Motion {
  constructor(content) {
    this.content = content;
    this.bytes = Uint8Array.from(atob(content.blob), (c) => c.charCodeAt(0)).buffer;
    this.time = this.array("time");
    this.position = this.array("position");
    this.erls = this.array("erls_position");
    this.rotation = this.array("rotation");
    this.frame = this.array("frame");
    this.nodes = content.nodes;
    this.links = content.links.map((link, i) => this.shapedLink(link, i));
    this.now = {
      position: new Float32Array(3 * this.nodes.length),
      erls: new Float32Array(3 * this.nodes.length),
      rotation: new Float32Array(3 * this.nodes.length),
      frame: new Float32Array(9 * this.links.length),
    };
    this.start = this.time[0];
    this.end = this.time[this.time.length - 1];
    this.duration = this.end - this.start;
    this.moveTo(this.start);
  }

  // Arrays lie one after the other in one block of single-precision numbers.
  array(name) {
    const { offset, shape } = this.content.arrays[name];
    const count = shape.reduce((a, b) => a * b, 1);
    return new Float32Array(this.bytes, offset, count);
  }

  shapedLink(link, i) {
    const outline = this.array("outline/" + i);
    let radius = 0;
    for (let k = 0; k < outline.length; k += 3) {
      radius = Math.max(radius, Math.hypot(outline[k], outline[k + 1], outline[k + 2]));
    }
    const place = this.content.arrays["surface/" + i];
    const surface = place ? this.array("surface/" + i) : null;
    return { ...link, surface, outline, points: this.content.arrays["outline/" + i].shape[1], radius };
  }

  // Four stored frames and their weights: Hermite's cubic with slopes from the neighbours.
  weights(t) {
    const T = this.time;
    const last = T.length - 1;
    if (last < 1) return [[0, 1]];
    const b = frameBefore(T, t);
    const a = Math.max(b - 1, 0);
    const c = b + 1;
    const d = Math.min(b + 2, last);
    const h = T[c] - T[b] || 1;
    const s = Math.min(Math.max((t - T[b]) / h, 0), 1);
    const slopeB = (s * (1 - s) * (1 - s) * h) / (T[c] - T[a] || 1);
    const slopeC = (-s * s * (1 - s) * h) / (T[d] - T[b] || 1);
    const rise = s * s * (3 - 2 * s);
    return [[a, -slopeB], [b, 1 - rise - slopeC], [c, rise + slopeB], [d, slopeC]];
  }

  moveTo(t) {
    const weights = this.weights(t);
    const nodes = 3 * this.nodes.length;
    this.t = t;
    mix(this.position, nodes, weights, this.now.position);
    mix(this.erls, nodes, weights, this.now.erls);
    mix(this.rotation, nodes, weights, this.now.rotation);
    mix(this.frame, 9 * this.links.length, weights, this.now.frame);
  }

  // Axes of a link, orthonormal again after mixing.
  frameOf(i) {
    const R = this.now.frame.subarray(9 * i, 9 * i + 9);
    const x = unit(column(R, 0));
    const z = unit(cross(x, column(R, 1)));
    const y = cross(z, x);
    return [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
  }

  rotationAt(n, scale) {
    return drawnRotation(nodeAt(this.now.rotation, n), scale);
  }

  // Where a node is drawn: its displacement from the rigid robot is exaggerated.
  drawnPoint(n, scale) {
    const rigid = nodeAt(this.now.erls, n);
    const shift = add(nodeAt(this.now.position, n), rigid, -1);
    return add(rigid, shift, scale);
  }

  // The same for a stored frame.
  storedPoint(frame, n, scale) {
    const k = frame * this.nodes.length + n;
    const rigid = nodeAt(this.erls, k);
    return add(rigid, add(nodeAt(this.position, k), rigid, -1), scale);
  }
}

export const nodeAt = (values, n) => [values[3 * n], values[3 * n + 1], values[3 * n + 2]];

// Sections stay square to the exaggerated centre line.
export function drawnRotation(w, scale) {
  const angle = Math.hypot(...w);
  if (angle < 1e-12 || scale === 1) return w;
  const slope = scale * Math.tan(Math.min(angle, 1.5));
  return times(w, Math.atan(slope) / angle);
}

function mix(source, width, weights, out) {
  out.fill(0);
  for (const [frame, weight] of weights) {
    const from = frame * width;
    for (let k = 0; k < width; k++) out[k] += weight * source[from + k];
  }
}

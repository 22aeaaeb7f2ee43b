"use strict";
// One run of a robot, drawn from its embedded data: WebGL 2 for the solids, a 2-D canvas above it for text.

// --- data -----------------------------------------------------------------------------------------------------------
const DATA = JSON.parse(document.getElementById("data").textContent);
const BYTES = Uint8Array.from(atob(DATA.blob), (c) => c.charCodeAt(0)).buffer;
const array = (name) => {
  const { offset, shape } = DATA.arrays[name];
  return new Float32Array(BYTES, offset, shape.reduce((a, b) => a * b, 1));
};
const TIME = array("time"), POSITION = array("position"), ERLS = array("erls_position");
const ROTATION = array("rotation"), FRAME = array("frame");
const START = TIME[0], END = TIME[TIME.length - 1], DURATION = END - START;
const N = DATA.nodes.length, LINKS = DATA.links, GRAVITY = DATA.gravity, SIZE = DATA.size;
LINKS.forEach((link, i) => {
  link.outline = array("outline/" + i);
  link.points = DATA.arrays["outline/" + i].shape[1];
  link.radius = 0;
  for (let k = 0; k < link.outline.length; k += 3) {
    link.radius = Math.max(link.radius, Math.hypot(link.outline[k], link.outline[k + 1], link.outline[k + 2]));
  }
});

const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c8c8c"];
const THEMES = {
  light: { back: "#f4f6f8", ink: "#1b2430", soft: "#5d6b7a", grid: "#9aa7b5", joint: "#6b7889", rigid: "#b4bec9", ghost: "#5d6b7a", trail: "#b8500a", shade: 0.16, axes: ["#d62f2f", "#22913a", "#2f62d6"], gravity: "#8250c4" },
  dark: { back: "#14181e", ink: "#e6ebf1", soft: "#93a1b1", grid: "#5b6877", joint: "#8e9bac", rigid: "#a3afbc", ghost: "#aab6c3", trail: "#ffa04d", shade: 0.42, axes: ["#ff6b63", "#4fcf6a", "#7ba6ff"], gravity: "#b792f0" },
};
const LINK_COLORS = ["#2f8fd0", "#f0a818", "#1fb58b", "#d98cb8", "#e8703a", "#6cc3f2"];
const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);

// --- small vector algebra -------------------------------------------------------------------------------------------
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const unit = (a) => times(a, 1 / (Math.hypot(...a) || 1));
const apply = (R, v) => [dot(R.slice(0, 3), v), dot(R.slice(3, 6), v), dot(R.slice(6, 9), v)];
const column = (R, k) => [R[k], R[3 + k], R[6 + k]];
function across(axis) {
  const other = Math.abs(axis[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0];
  const x = unit(cross(other, axis));
  return [x, cross(axis, x)];
}
function turn(v, w) { // v turned by the rotation vector w
  const angle = Math.hypot(...w);
  if (angle < 1e-12) return v;
  const k = times(w, 1 / angle), c = Math.cos(angle), s = Math.sin(angle);
  return add(add(times(v, c), cross(k, v), s), k, dot(k, v) * (1 - c));
}
function product(A, B) { // column-major 4 x 4
  const C = new Float32Array(16);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += A[4 * k + r] * B[4 * c + k];
    C[4 * c + r] = sum;
  }
  return C;
}

// --- state at any time: cubic between the stored frames ---------------------------------------------------------------
function frameBefore(times_, t) {
  let low = 0, high = times_.length - 1;
  while (high - low > 1) { const mid = (low + high) >> 1; if (times_[mid] <= t) low = mid; else high = mid; }
  return low;
}
function weights(t) { // four stored frames and their weights: Hermite's cubic with slopes from the neighbours
  const last = TIME.length - 1;
  if (last < 1) return [[0, 1]];
  const i = frameBefore(TIME, t), a = Math.max(i - 1, 0), b = i, c = i + 1, d = Math.min(i + 2, last);
  const h = TIME[c] - TIME[b] || 1, s = Math.min(Math.max((t - TIME[b]) / h, 0), 1);
  const slopeB = s * (1 - s) * (1 - s) * h / (TIME[c] - TIME[a] || 1), slopeC = -s * s * (1 - s) * h / (TIME[d] - TIME[b] || 1);
  const rise = s * s * (3 - 2 * s);
  return [[a, -slopeB], [b, 1 - rise - slopeC], [c, rise + slopeB], [d, slopeC]];
}
function mix(source, width, w, out) {
  out.fill(0);
  for (const [frame, weight] of w) {
    const from = frame * width;
    for (let k = 0; k < width; k++) out[k] += weight * source[from + k];
  }
  return out;
}
const now = {
  position: new Float32Array(3 * N), erls: new Float32Array(3 * N), rotation: new Float32Array(3 * N), frame: new Float32Array(9 * LINKS.length),
};
function stateAt(t) {
  const w = weights(t);
  mix(POSITION, 3 * N, w, now.position);
  mix(ERLS, 3 * N, w, now.erls);
  mix(ROTATION, 3 * N, w, now.rotation);
  mix(FRAME, 9 * LINKS.length, w, now.frame);
}
const at = (values, n) => [values[3 * n], values[3 * n + 1], values[3 * n + 2]];
function frameOf(link) { // orthonormal again after mixing
  const R = now.frame.subarray(9 * link, 9 * link + 9);
  const x = unit(column(R, 0)), z = unit(cross(x, column(R, 1))), y = cross(z, x);
  return [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
}
function drawnRotation(w, scale) { // sections stay square to the exaggerated centre line
  const angle = Math.hypot(...w);
  return angle < 1e-12 || scale === 1 ? w : times(w, Math.atan(scale * Math.tan(Math.min(angle, 1.5))) / angle);
}
const drawnPoint = (n, scale) => { const r = at(now.erls, n); return add(r, add(at(now.position, n), r, -1), scale); };

// --- triangles and lines of one picture -------------------------------------------------------------------------------
class Batch { // a float array that grows
  constructor(stride) { this.stride = stride; this.values = new Float32Array(stride * 4096); this.length = 0; }
  clear() { this.length = 0; }
  room(count) {
    if (this.length + count <= this.values.length) return;
    const bigger = new Float32Array(2 * this.values.length + count);
    bigger.set(this.values.subarray(0, this.length));
    this.values = bigger;
  }
  get count() { return this.length / this.stride; }
}
const solid = new Batch(9), lines = new Batch(12);
function vertex(p, n, c) {
  solid.room(9);
  const v = solid.values;
  let k = solid.length;
  v[k++] = p[0]; v[k++] = p[1]; v[k++] = p[2]; v[k++] = n[0]; v[k++] = n[1]; v[k++] = n[2]; v[k++] = c[0]; v[k++] = c[1]; v[k++] = c[2];
  solid.length = k;
}
function triangle(a, b, c, na, nb, nc, color) { vertex(a, na, color); vertex(b, nb, color); vertex(c, nc, color); }
function line(a, b, color, alpha, alphaEnd = alpha) {
  lines.room(72);
  for (const [end, side] of [[0, -1], [0, 1], [1, -1], [1, -1], [0, 1], [1, 1]]) {
    lines.values.set([a[0], a[1], a[2], b[0], b[1], b[2], end, side, color[0], color[1], color[2], end ? alphaEnd : alpha], lines.length);
    lines.length += 12;
  }
}
function tube(rings, centres, color) { // rings: rows of points around the centres
  const smooth = rings[0].length >= 8, last = rings.length - 1, count = rings[0].length;
  const outward = (n, p, c) => (dot(n, add(p, c, -1)) < 0 ? times(n, -1) : n);
  const normalAt = (r, c) => {
    const along = add(rings[Math.min(r + 1, last)][c], rings[Math.max(r - 1, 0)][c], -1);
    const around = add(rings[r][(c + 1) % count], rings[r][(c + count - 1) % count], -1);
    return outward(unit(cross(around, along)), rings[r][c], centres[r]);
  };
  const normals = smooth ? rings.map((ring, r) => ring.map((_, c) => normalAt(r, c))) : null;
  for (let r = 0; r < last; r++) for (let c = 0; c < count; c++) {
    const d = (c + 1) % count, a = rings[r][c], b = rings[r][d], e = rings[r + 1][d], f = rings[r + 1][c];
    let na, nb, ne, nf;
    if (smooth) { na = normals[r][c]; nb = normals[r][d]; ne = normals[r + 1][d]; nf = normals[r + 1][c]; }
    else { na = nb = ne = nf = outward(unit(cross(add(e, a, -1), add(f, b, -1))), times(add(a, e), 0.5), times(add(centres[r], centres[r + 1]), 0.5)); }
    triangle(a, b, e, na, nb, ne, color);
    triangle(a, e, f, na, ne, nf, color);
  }
  for (const [r, inner] of [[0, 1], [last, last - 1]]) {
    const n = unit(add(centres[r], centres[inner], -1));
    for (let c = 1; c < count - 1; c++) triangle(rings[r][0], rings[r][c], rings[r][c + 1], n, n, n, color);
  }
}
function ring(centre, axis, radius, count) {
  const [x, y] = across(axis);
  return Array.from({ length: count }, (_, k) => {
    const angle = (2 * Math.PI * k) / count;
    return add(add(centre, x, radius * Math.cos(angle)), y, radius * Math.sin(angle));
  });
}
function cylinder(a, b, radius, color, radiusEnd = radius, count = 24) {
  const axis = unit(add(b, a, -1));
  tube([ring(a, axis, radius, count), ring(b, axis, Math.max(radiusEnd, 1e-6), count)], [a, b], color);
}
function arrow(from, vector, thickness, color) {
  const length = Math.hypot(...vector), axis = unit(vector), neck = add(from, axis, Math.max(length - 5 * thickness, 0.55 * length));
  cylinder(from, neck, thickness, color, thickness, 12);
  cylinder(neck, add(from, vector), 2.4 * thickness, color, 0, 16);
}
function block(centre, axis, half, length, color) {
  const [x, y] = across(axis);
  const corners = (s) => [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([u, v]) => add(add(add(centre, axis, s * length), x, u * half), y, v * half));
  tube([corners(-1), corners(1)], [add(centre, axis, -length), add(centre, axis, length)], color);
}

// --- the robot ----------------------------------------------------------------------------------------------------------
function sectionAt(link, k, s) { // outline between nodes k and k + 1, link axes
  const c = link.points, o = link.outline, a = 3 * c * k, b = s > 0 ? a + 3 * c : a, points = [];
  for (let p = 0; p < c; p++) points.push([0, 1, 2].map((x) => (1 - s) * o[a + 3 * p + x] + s * o[b + 3 * p + x]));
  return points;
}
function bentPoint(a, b, s, scale) { // centre and rotation between nodes a and b, as the beam element interpolates them
  const ra = at(now.erls, a), rb = at(now.erls, b), chord = add(rb, ra, -1), length = Math.hypot(...chord), e = unit(chord);
  const ua = add(at(now.position, a), ra, -1), ub = add(at(now.position, b), rb, -1), wa = at(now.rotation, a), wb = at(now.rotation, b);
  const ta = cross(wa, chord), tb = cross(wb, chord), du = add(ub, ua, -1), q = 1 - s;
  const bend = add(add(add(ua, du, s * s * (3 - 2 * s)), ta, s * q * q), tb, -s * s * q);
  const slope = add(add(times(du, 6 * s * q), ta, q * (1 - 3 * s)), tb, s * (3 * s - 2));
  const u = add(bend, e, dot(add(add(ua, du, s), bend, -1), e));
  const twist = dot(wa, e) * q + dot(wb, e) * s;
  const w = length > 0 ? add(times(cross(e, slope), 1 / length), e, twist) : wa;
  return [add(add(ra, chord, s), u, scale), drawnRotation(w, scale)];
}
function beam(link, i, scale, color) {
  const R = frameOf(i), rings = [], centres = [], first = link.first, last = link.count - 1;
  const pieces = link.flexible ? Math.max(2, Math.min(12, Math.round(48 / Math.max(last, 1)))) : 1;
  for (let k = 0; k < last; k++) for (let j = k === 0 ? 0 : 1; j <= pieces; j++) {
    const s = j / pieces, [centre, w] = bentPoint(first + k, first + k + 1, s, scale);
    rings.push(sectionAt(link, k, s).map((p) => add(centre, turn(apply(R, p), w))));
    centres.push(centre);
  }
  if (rings.length > 1) tube(rings, centres, color);
}
function jointGlyph(link, i, scale, color) {
  const w = drawnRotation(at(now.rotation, link.first), scale), centre = drawnPoint(link.first, scale);
  const axis = unit(turn(apply(frameOf(i), link.axis), w)), r = Math.max(1.12 * link.radius, 0.014 * SIZE);
  if (link.joint === "revolute") cylinder(add(centre, axis, -1.15 * r), add(centre, axis, 1.15 * r), r, color);
  if (link.joint === "prismatic") {
    block(centre, axis, r, 1.5 * r, color);
    const before = i > 0 ? drawnPoint(link.first - 1, scale) : DATA.base; // the rail it slides on
    if (Math.hypot(...add(centre, before, -1)) > 1e-3 * SIZE) cylinder(before, centre, 0.4 * r, color);
  }
  if (i === 0 && link.joint === "revolute") cylinder(add(centre, axis, -1.65 * r), add(centre, axis, -1.15 * r), 1.9 * r, color);
}
function ghost(color) {
  LINKS.forEach((link, i) => {
    const R = frameOf(i), step = Math.max(1, Math.round(link.points / 4));
    const point = (k, p) => add(at(now.erls, link.first + k), apply(R, [0, 1, 2].map((x) => link.outline[3 * (k * link.points + p) + x])));
    for (let p = 0; p < link.points; p += step) for (let k = 0; k + 1 < link.count; k++) line(point(k, p), point(k + 1, p), color, 0.75);
    for (const k of [0, link.count - 1]) for (let p = 0; p < link.points; p++) line(point(k, p), point(k, (p + 1) % link.points), color, 0.75);
  });
}
function trail(t, scale, color) {
  const n = DATA.tip, last = frameBefore(TIME, t) + (t >= END ? 1 : 0), step = Math.max(1, Math.ceil(last / 1500));
  const point = (f) => [0, 1, 2].map((x) => { const k = 3 * (f * N + n) + x; return ERLS[k] + scale * (POSITION[k] - ERLS[k]); });
  if (TIME.length < 2) return;
  let before = point(0);
  const fade = (f) => 0.12 + 0.78 * Math.pow(f / Math.max(last, 1), 2);
  for (let f = step; f <= Math.min(last, TIME.length - 1); f += step) {
    const here = point(f);
    line(before, here, color, fade(f - step), fade(f));
    before = here;
  }
  line(before, drawnPoint(n, scale), color, fade(last));
}

// --- camera ---------------------------------------------------------------------------------------------------------------
const UP = Math.hypot(...GRAVITY) > 0 ? unit(times(GRAVITY, -1)) : [0, 0, 1];
const MAIN = UP.map(Math.abs).indexOf(Math.max(...UP.map(Math.abs)));
const EAST = (() => { const e = [0, 0, 0]; e[(MAIN + 1) % 3] = 1; return unit(add(e, UP, -dot(e, UP))); })();
const NORTH = cross(UP, EAST);
const camera = { azimuth: 0, elevation: 0, distance: 1, target: [0, 0, 0], moved: false };
const FIELD = (32 * Math.PI) / 180;
function sampledPoints() { // where the drawn nodes come by, some hundred frames of them
  const points = [], every = Math.max(1, Math.floor(TIME.length / 150));
  for (let f = 0; f < TIME.length; f += every) for (let n = f * N; n < (f + 1) * N; n++) {
    const r = at(ERLS, n);
    points.push(add(r, add(at(POSITION, n), r, -1), ui.scale));
  }
  return points;
}
function viewFrom(azimuth, elevation) { // near enough to fill the stage, far enough to see all of the motion
  const aspect = stage.clientWidth / Math.max(stage.clientHeight, 1), tan = Math.tan(FIELD / 2), axes = (Object.assign(camera, { azimuth, elevation }), cameraAxes());
  const seen = sampledPoints().map((p) => axes.map((axis) => dot(p, axis)));
  const middle = [0, 1, 2].map((k) => { const all = seen.map((p) => p[k]); return 0.5 * (Math.min(...all) + Math.max(...all)); });
  camera.target = axes.reduce((sum, axis, k) => add(sum, axis, middle[k]), [0, 0, 0]);
  camera.distance = 0.25 * SIZE;
  for (const p of seen) {
    const [x, y, z] = p.map((v, k) => v - middle[k]), room = 0.12 * SIZE;
    camera.distance = Math.max(camera.distance, z + (Math.abs(y) + room) / (0.78 * tan), z + (Math.abs(x) + room) / (0.86 * tan * aspect));
  }
}
function homeView() {
  const n = DATA.normal, degree = Math.PI / 180;
  if (!n) return viewFrom(-52 * degree, 22 * degree);
  if (Math.abs(dot(n, UP)) > 0.8) return viewFrom(-70 * degree, 48 * degree);
  viewFrom(Math.atan2(dot(n, NORTH), dot(n, EAST)) + 24 * degree, 14 * degree);
}
function eye() {
  const c = Math.cos(camera.elevation);
  const d = add(add(times(EAST, c * Math.cos(camera.azimuth)), NORTH, c * Math.sin(camera.azimuth)), UP, Math.sin(camera.elevation));
  return add(camera.target, d, camera.distance);
}
function cameraAxes() {
  const back = unit(add(eye(), camera.target, -1)), right = unit(cross(UP, back));
  return [right, cross(back, right), back];
}
function viewProjection(aspect) {
  const [x, y, z] = cameraAxes(), o = eye(), f = 1 / Math.tan(FIELD / 2);
  const near = Math.max(camera.distance - 12 * SIZE, 0.02 * camera.distance), far = camera.distance + 40 * SIZE;
  const view = [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, o), -dot(y, o), -dot(z, o), 1];
  const lens = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
  return product(lens, view);
}

// --- WebGL ------------------------------------------------------------------------------------------------------------------
const $ = (id) => document.getElementById(id);
const stage = $("stage"), canvas = $("view"), overlay = $("labels"), pen = overlay.getContext("2d");
const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: false, preserveDrawingBuffer: true });
function program(vertexSource, fragmentSource) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertexSource], [gl.FRAGMENT_SHADER, fragmentSource]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, "#version 300 es\nprecision highp float;\n" + source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  const uniforms = {};
  for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
    const name = gl.getActiveUniform(made, k).name;
    uniforms[name] = gl.getUniformLocation(made, name);
  }
  return { made, uniforms };
}
function geometry(layout, stride) { // layout: components of attributes 0, 1, 2...
  const vao = gl.createVertexArray(), buffer = gl.createBuffer();
  gl.bindVertexArray(vao);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  let offset = 0;
  layout.forEach((size, k) => {
    gl.enableVertexAttribArray(k);
    gl.vertexAttribPointer(k, size, gl.FLOAT, false, 4 * stride, 4 * offset);
    offset += size;
  });
  return { vao, buffer };
}
let shaders, meshes;
function prepare() {
  shaders = {
    solid: program(
      `layout(location=0) in vec3 p; layout(location=1) in vec3 n; layout(location=2) in vec3 c;
       uniform mat4 vp; out vec3 P, N, C; void main() { P = p; N = n; C = c; gl_Position = vp * vec4(p, 1.); }`,
      `in vec3 P, N, C; uniform vec3 eye, key, up; out vec4 colour;
       void main() {
         vec3 v = normalize(eye - P), n = normalize(N);
         float d = max(dot(n, key), 0.), h = .5 + .5 * dot(n, up), s = pow(max(dot(n, normalize(key + v)), 0.), 40.);
         float rim = pow(1. - max(dot(n, v), 0.), 3.);
         colour = vec4(C * (.36 + .24 * h + .58 * d) + .14 * s + .10 * rim * h, 1.);
       }`),
    shade: program(
      `layout(location=0) in vec3 p; uniform mat4 vp; uniform vec3 up; uniform float level;
       void main() { gl_Position = vp * vec4(p - up * (dot(p, up) - level), 1.); }`,
      `uniform vec4 ink; out vec4 colour; void main() { colour = ink; }`),
    line: program(
      `layout(location=0) in vec3 a; layout(location=1) in vec3 b; layout(location=2) in vec2 e; layout(location=3) in vec4 c;
       uniform mat4 vp; uniform vec2 screen; uniform float width; out vec4 C;
       void main() {
         vec4 A = vp * vec4(a, 1.), B = vp * vec4(b, 1.), X = e.x < .5 ? A : B;
         vec2 d = (B.xy / B.w - A.xy / A.w) * screen; d = length(d) > 0. ? normalize(d) : vec2(1., 0.);
         X.xy += e.y * vec2(-d.y, d.x) * width / screen * X.w; X.z -= 1e-4 * X.w; C = c; gl_Position = X;
       }`,
      `in vec4 C; out vec4 colour; void main() { colour = C; }`),
    grid: program(
      `layout(location=0) in vec2 q; uniform mat4 vp; uniform vec3 o, x, y; uniform float reach; out vec2 Q;
       void main() { Q = q * reach; gl_Position = vp * vec4(o + x * Q.x + y * Q.y, 1.); }`,
      `in vec2 Q; uniform vec3 ink; uniform float step_, reach; uniform vec2 shift; out vec4 colour;
       float rule(float s) { vec2 g = (Q + shift) / s, w = fwidth(g), d = abs(fract(g - .5) - .5) / w; return clamp(1.15 - min(d.x, d.y), 0., 1.); }
       void main() {
         float fade = 1. - smoothstep(.25, 1., length(Q) / reach);
         float a = max(.30 * rule(step_), .62 * rule(5. * step_)) * fade;
         colour = vec4(ink, a);
       }`),
  };
  meshes = { solid: geometry([3, 3, 3], 9), line: geometry([3, 3, 2, 4], 12), grid: geometry([2], 2) };
  gl.bindBuffer(gl.ARRAY_BUFFER, meshes.grid.buffer);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1]), gl.STATIC_DRAW);
}
function upload(mesh, batch) {
  gl.bindVertexArray(mesh.vao);
  gl.bindBuffer(gl.ARRAY_BUFFER, mesh.buffer);
  gl.bufferData(gl.ARRAY_BUFFER, batch.values.subarray(0, batch.length), gl.DYNAMIC_DRAW);
}
const niceStep = (x) => { const p = Math.pow(10, Math.floor(Math.log10(x))), m = x / p; return p * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10); };
const LEVEL = DATA.ground, STEP = niceStep(SIZE / 5);
function drawFloor(vp, colors, seen) {
  const centre = add(DATA.centre, UP, LEVEL - dot(DATA.centre, UP)), { made, uniforms } = shaders.grid;
  gl.useProgram(made);
  gl.bindVertexArray(meshes.grid.vao);
  gl.uniformMatrix4fv(uniforms.vp, false, vp);
  gl.uniform3fv(uniforms.o, centre); gl.uniform3fv(uniforms.x, EAST); gl.uniform3fv(uniforms.y, NORTH); gl.uniform3fv(uniforms.ink, rgb(colors.grid));
  gl.uniform1f(uniforms.reach, 4.5 * SIZE); gl.uniform1f(uniforms.step_, STEP);
  gl.uniform2f(uniforms.shift, dot(centre, EAST), dot(centre, NORTH));
  gl.depthMask(false);
  gl.drawArrays(gl.TRIANGLES, 0, 6);
  if (seen) drawShade(vp, colors);
  gl.depthMask(true);
}
function drawShade(vp, colors) {
  const { made, uniforms } = shaders.shade;
  gl.useProgram(made);
  gl.bindVertexArray(meshes.solid.vao);
  gl.uniformMatrix4fv(uniforms.vp, false, vp);
  gl.uniform3fv(uniforms.up, UP); gl.uniform1f(uniforms.level, LEVEL + 1e-4 * SIZE); gl.uniform4f(uniforms.ink, 0.04, 0.06, 0.09, colors.shade);
  gl.enable(gl.STENCIL_TEST);
  gl.stencilFunc(gl.EQUAL, 0, 255); gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
  gl.drawArrays(gl.TRIANGLES, 0, castShadow);
  gl.disable(gl.STENCIL_TEST);
}
function drawSolid(vp) {
  const { made, uniforms } = shaders.solid, [right, top, back] = cameraAxes();
  gl.useProgram(made);
  gl.bindVertexArray(meshes.solid.vao);
  gl.uniformMatrix4fv(uniforms.vp, false, vp);
  gl.uniform3fv(uniforms.eye, eye()); gl.uniform3fv(uniforms.up, UP);
  gl.uniform3fv(uniforms.key, unit(add(add(times(right, -0.45), top, 0.75), back, 0.8)));
  gl.drawArrays(gl.TRIANGLES, 0, solid.count);
}
function drawLines(vp, ratio) {
  const { made, uniforms } = shaders.line;
  gl.useProgram(made);
  gl.bindVertexArray(meshes.line.vao);
  gl.uniformMatrix4fv(uniforms.vp, false, vp);
  gl.uniform2f(uniforms.screen, canvas.width, canvas.height);
  gl.depthMask(false);
  for (const [width, from, to] of [[2.6, 0, trailEnd], [1.3, trailEnd, lines.count]]) {
    gl.uniform1f(uniforms.width, width * ratio);
    gl.drawArrays(gl.TRIANGLES, from, to - from);
  }
  gl.depthMask(true);
}

// --- one picture ---------------------------------------------------------------------------------------------------------------
const TOGGLES = [["ghost", "ERLS ghost", true], ["trail", "Tip trail", true], ["frames", "Link frames", false], ["nodes", "Nodes", false], ["ground", "Ground grid", true], ["gravity", "Gravity", true]];
const ui = { t: START, scale: DATA.scale, playing: true, speed: 1, loop: true, theme: "light", chart: 0 };
TOGGLES.forEach(([key, , on]) => { ui[key] = on; });
let labels = [], castShadow = 0, trailEnd = 0, dirty = true;

function buildPicture(colors) {
  solid.clear(); lines.clear(); labels = [];
  stateAt(ui.t);
  let hue = 0;
  LINKS.forEach((link, i) => {
    beam(link, i, ui.scale, rgb(link.flexible ? LINK_COLORS[hue++ % 6] : colors.rigid));
    jointGlyph(link, i, ui.scale, rgb(colors.joint));
  });
  castShadow = solid.count;
  if (ui.trail) trail(ui.t, ui.scale, rgb(colors.trail));
  trailEnd = lines.count;
  if (ui.ghost) ghost(rgb(colors.ghost));
  if (ui.frames) buildFrames(colors);
  if (ui.nodes) buildNodes(colors);
}
function triad(origin, axes, length, suffix, colors) {
  axes.forEach((axis, k) => {
    arrow(origin, times(axis, length), 0.022 * length, rgb(colors.axes[k]));
    labels.push({ at: add(origin, axis, 1.14 * length), text: "xyz"[k] + suffix, color: colors.axes[k], bold: true });
  });
}
function buildFrames(colors) {
  const length = Math.min(0.17 * SIZE, 0.42 * DATA.reach);
  LINKS.forEach((link, i) => {
    const w = drawnRotation(at(now.rotation, link.first), ui.scale), R = frameOf(i);
    triad(drawnPoint(link.first, ui.scale), [0, 1, 2].map((k) => turn(column(R, k), w)), length, "" + (i + 1), colors);
  });
  triad([0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 1.25 * length, "", colors);
}
function buildNodes(colors) {
  let before = null;
  for (let n = 0; n < N; n++) {
    const point = drawnPoint(n, ui.scale), near = before && Math.hypot(...add(point, before.at, -1)) < 1e-3 * SIZE;
    if (near) before.text += " \u00b7 " + DATA.nodes[n];
    else labels.push((before = { at: point, text: DATA.nodes[n], color: colors.ink, dot: true }));
  }
}
function fit(target, ratio) {
  const width = Math.round(target.clientWidth * ratio), height = Math.round(target.clientHeight * ratio);
  if (target.width !== width || target.height !== height) { target.width = width; target.height = height; }
}
function render() {
  const ratio = Math.min(window.devicePixelRatio || 1, 2), colors = THEMES[ui.theme];
  fit(canvas, ratio); fit(overlay, ratio);
  buildPicture(colors);
  const vp = viewProjection(canvas.width / Math.max(canvas.height, 1));
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(...rgb(colors.back), 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST); gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  upload(meshes.solid, solid); upload(meshes.line, lines);
  drawSolid(vp);
  if (ui.ground) drawFloor(vp, colors, dot(eye(), UP) > LEVEL);
  drawLines(vp, ratio);
  drawLabels(vp, ratio, colors);
}
function onScreen(vp, p) {
  const [x, y, , w] = [0, 1, 2, 3].map((r) => vp[r] * p[0] + vp[4 + r] * p[1] + vp[8 + r] * p[2] + vp[12 + r]);
  return w > 0 ? [(0.5 + (0.5 * x) / w) * overlay.clientWidth, (0.5 - (0.5 * y) / w) * overlay.clientHeight] : null;
}
function drawLabels(vp, ratio, colors) {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, overlay.clientWidth, overlay.clientHeight);
  pen.textBaseline = "middle"; pen.lineJoin = "round"; pen.lineWidth = 3;
  for (const label of labels) {
    const p = onScreen(vp, label.at);
    if (!p) continue;
    pen.textAlign = label.dot ? "left" : "center";
    if (label.dot) {
      pen.beginPath(); pen.arc(p[0], p[1], 3.6, 0, 7); pen.fillStyle = colors.ink; pen.fill();
      pen.strokeStyle = colors.back; pen.lineWidth = 1.5; pen.stroke(); pen.lineWidth = 3;
    }
    write(label.text, p[0] + (label.dot ? 9 : 0), p[1] - (label.dot ? 9 : 0), label.color, colors.back, label.bold);
  }
  drawCompass(colors);
}
function write(text, x, y, color, back, bold) {
  pen.font = (bold ? "600 13px " : "12px ") + "system-ui, sans-serif";
  pen.strokeStyle = back; pen.strokeText(text, x, y);
  pen.fillStyle = color; pen.fillText(text, x, y);
}
function drawCompass(colors) { // the world's axes and the pull of gravity in the corner
  const [right, top, back] = cameraAxes(), o = [56, overlay.clientHeight - 56];
  const arrows = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((e, k) => ({ from: o, e, reach: 32, color: colors.axes[k], text: "xyz"[k] }));
  if (ui.gravity && Math.hypot(...GRAVITY) > 0) {
    const e = unit(GRAVITY);
    arrows.push({ from: [o[0] + 74, o[1] - 6 + 16 * dot(e, top)], e, reach: 38, color: colors.gravity, text: "g" });
  }
  pen.globalAlpha = 0.7; pen.fillStyle = colors.back; pen.beginPath();
  pen.roundRect(8, overlay.clientHeight - 112, arrows.length > 3 ? 152 : 98, 104, 10); pen.fill(); pen.globalAlpha = 1;
  arrows.sort((a, b) => dot(a.e, back) - dot(b.e, back));
  arrows.forEach((arrow_) => flatArrow(arrow_, [dot(arrow_.e, right), -dot(arrow_.e, top)], colors));
}
function flatArrow({ from, reach, color, text }, d, colors) {
  const size = Math.hypot(...d), tip = [from[0] + reach * d[0], from[1] + reach * d[1]];
  pen.strokeStyle = pen.fillStyle = color; pen.lineWidth = 2.2; pen.lineCap = "round";
  if (size < 0.12) { pen.beginPath(); pen.arc(...from, 3.2, 0, 7); pen.fill(); }
  else {
    const [x, y] = [d[0] / size, d[1] / size], head = 7;
    pen.beginPath(); pen.moveTo(...from); pen.lineTo(tip[0] - head * x * 0.7, tip[1] - head * y * 0.7); pen.stroke();
    pen.beginPath(); pen.moveTo(...tip); pen.lineTo(tip[0] - head * x - 3.6 * y, tip[1] - head * y + 3.6 * x);
    pen.lineTo(tip[0] - head * x + 3.6 * y, tip[1] - head * y - 3.6 * x); pen.fill();
  }
  const reachText = size < 0.12 ? [11, -9] : [(11 * d[0]) / size, (11 * d[1]) / size];
  pen.lineWidth = 3; write(text, tip[0] + reachText[0], tip[1] + reachText[1], color, colors.back, true);
}

// --- chart ------------------------------------------------------------------------------------------------------------------------
const chart = $("chart"), chartPen = chart.getContext("2d"), CHART_TIME = array("chart_time");
const margin = { left: 46, right: 8, top: 8, bottom: 20 };
const number = (x, digits = 4) => {
  const size = Math.abs(x);
  if (size === 0) return "0";
  return size >= 1e5 || size < 1e-3 ? x.toExponential(digits > 3 ? 2 : 0) : String(+x.toPrecision(digits));
};
function ticks(low, high, count) {
  const step = niceStep((high - low) / count), first = Math.ceil(low / step) * step, found = [];
  for (let x = first; x <= high + 1e-9 * step; x += step) found.push(Math.abs(x) < 1e-9 * step ? 0 : x);
  return found;
}
function chartRange(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (!(high >= low)) return [-1, 1];
  const pad = 0.06 * (high - low) || 0.1 * Math.abs(high) || 1;
  return [low - pad, high + pad];
}
function drawChart() {
  const ratio = Math.min(window.devicePixelRatio || 1, 2), colors = THEMES[ui.theme], quantity = DATA.charts[ui.chart];
  fit(chart, ratio);
  const values = array("chart/" + ui.chart), count = quantity.series.length, [low, high] = quantity.range || (quantity.range = chartRange(values));
  const right = chart.clientWidth - margin.right, bottom = chart.clientHeight - margin.bottom, p = chartPen;
  const x = (t) => margin.left + ((t - START) / (DURATION || 1)) * (right - margin.left);
  const y = (v) => bottom - ((v - low) / (high - low)) * (bottom - margin.top);
  p.setTransform(ratio, 0, 0, ratio, 0, 0);
  p.clearRect(0, 0, chart.clientWidth, chart.clientHeight);
  p.font = "10.5px system-ui, sans-serif"; p.fillStyle = colors.soft; p.strokeStyle = colors.grid; p.lineWidth = 1; p.globalAlpha = 1;
  p.textAlign = "right"; p.textBaseline = "middle";
  for (const v of ticks(low, high, 4)) { p.globalAlpha = 0.35; p.beginPath(); p.moveTo(margin.left, y(v)); p.lineTo(right, y(v)); p.stroke(); p.globalAlpha = 1; p.fillText(number(v, 3), margin.left - 5, y(v)); }
  p.textAlign = "center"; p.textBaseline = "top";
  for (const t of ticks(START, END, 4)) if (x(t) < right - 34) p.fillText(number(t, 3), x(t), bottom + 5);
  p.textAlign = "right"; p.fillText(number(END, 3) + " s", right, bottom + 5);
  p.lineWidth = 1.5; p.lineJoin = "round";
  for (let s = 0; s < count; s++) {
    p.strokeStyle = seriesColor(s); p.beginPath();
    for (let k = 0; k < CHART_TIME.length; k++) { const v = values[k * count + s]; if (k) p.lineTo(x(CHART_TIME[k]), y(v)); else p.moveTo(x(CHART_TIME[k]), y(v)); }
    p.stroke();
  }
  p.strokeStyle = colors.ink; p.lineWidth = 1; p.beginPath(); p.moveTo(x(ui.t), margin.top); p.lineTo(x(ui.t), bottom); p.stroke();
  const k = frameBefore(CHART_TIME, ui.t), next = Math.min(k + 1, CHART_TIME.length - 1), h = CHART_TIME[next] - CHART_TIME[k];
  const part = h > 0 ? Math.min(Math.max((ui.t - CHART_TIME[k]) / h, 0), 1) : 0;
  for (let s = 0; s < count; s++) {
    const v = values[k * count + s] * (1 - part) + values[next * count + s] * part;
    p.fillStyle = seriesColor(s); p.beginPath(); p.arc(x(ui.t), y(v), 3, 0, 7); p.fill();
    legendValues[s].textContent = number(v) + " " + quantity.unit;
  }
}
const seriesColor = (s) => PALETTE[s % PALETTE.length];
let legendValues = [];
function buildLegend() {
  $("legend").replaceChildren(...DATA.charts[ui.chart].series.map((name, s) => {
    const row = document.createElement("div"), swatch = document.createElement("i"), label = document.createElement("span"), value = document.createElement("output");
    swatch.style.background = seriesColor(s); label.textContent = name;
    row.append(swatch, label, value);
    return row;
  }));
  legendValues = [...$("legend").querySelectorAll("output")];
}
function chartScrub(event) {
  const box = chart.getBoundingClientRect(), s = (event.clientX - box.left - margin.left) / (box.width - margin.left - margin.right);
  setTime(START + Math.min(Math.max(s, 0), 1) * DURATION);
}

// --- controls ------------------------------------------------------------------------------------------------------------------------
const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const ICONS = { play: "M2 1l12 7-12 7z", pause: "M2 1h4v14H2zM10 1h4v14h-4z" };
const redraw = () => { dirty = true; };
function setTime(t) { ui.t = Math.min(Math.max(t, START), END); redraw(); }
function setPlaying(on) {
  ui.playing = on && DURATION > 0;
  if (ui.playing && ui.t >= END) ui.t = START;
  $("play").innerHTML = `<svg viewBox="0 0 16 16"><path d="${ICONS[ui.playing ? "pause" : "play"]}"/></svg>`;
  redraw();
}
function setScale(scale) {
  ui.scale = Math.min(Math.max(scale, 1), 100);
  const text = "\u00d7" + (ui.scale < 10 ? +ui.scale.toFixed(1) : Math.round(ui.scale));
  $("scale").value = Math.log10(ui.scale);
  $("factor").textContent = text;
  $("badge").textContent = ui.scale > 1 ? "deformation " + text : "deformation true to scale";
  $("badge").classList.toggle("large", ui.scale > 1);
  redraw();
}
function setTheme(theme) { ui.theme = theme; document.documentElement.dataset.theme = theme; redraw(); }
function setLoop(on) { ui.loop = on; $("loop").setAttribute("aria-pressed", on); }
function setChart(k) { ui.chart = Math.min(Math.max(k, 0), DATA.charts.length - 1); $("quantity").value = ui.chart; buildLegend(); redraw(); }
function setSpeed(speed) { ui.speed = speed; $("speed").value = speed; }
function setToggle(key, on) { ui[key] = on; $("show-" + key).checked = on; redraw(); }
const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });

function buildControls() {
  $("scrub").min = START; $("scrub").max = END; $("scrub").disabled = !(DURATION > 0);
  SPEEDS.forEach((speed) => $("speed").append(option(speed, "\u00d7" + speed)));
  DATA.charts.forEach(({ label, unit: u }, k) => $("quantity").append(option(k, `${label} [${u}]`)));
  for (const [key, text] of TOGGLES) {
    const label = document.createElement("label"), box = Object.assign(document.createElement("input"), { type: "checkbox", id: "show-" + key });
    box.onchange = () => setToggle(key, box.checked);
    label.append(box, text);
    $("toggles").append(label);
    setToggle(key, ui[key]);
  }
  const degree = Math.PI / 180;
  const face = (axis, d) => [`${axis}`, () => viewFrom(Math.atan2(dot(d, NORTH), dot(d, EAST)), Math.max(-1.55, Math.min(1.55, Math.asin(dot(d, UP)))))];
  for (const [text, act] of [["home", homeView], ["3-D", () => viewFrom(-52 * degree, 22 * degree)], face("x", [1, 0, 0]), face("y", [0, 1, 0]), face("z", [0, 0, 1])]) {
    const button = Object.assign(document.createElement("button"), { textContent: text, title: text.length === 1 ? `look along ${text}` : `${text} view` });
    button.onclick = () => { act(); camera.moved = act !== homeView; redraw(); };
    $("views").append(button);
  }
  $("play").onclick = () => setPlaying(!ui.playing);
  $("scrub").oninput = () => setTime(+$("scrub").value);
  $("speed").onchange = () => setSpeed(+$("speed").value);
  $("loop").onclick = () => setLoop(!ui.loop);
  $("scale").oninput = () => setScale(Math.pow(10, +$("scale").value));
  $("theme").onclick = () => setTheme(ui.theme === "dark" ? "light" : "dark");
  $("quantity").onchange = () => setChart(+$("quantity").value);
  chart.onpointerdown = (e) => { chart.setPointerCapture(e.pointerId); chartScrub(e); };
  chart.onpointermove = (e) => { if (e.buttons) chartScrub(e); };
}
function step(frames) {
  setPlaying(false);
  const k = frameBefore(TIME, ui.t + 1e-9 * DURATION), here = ui.t >= END ? TIME.length - 1 : k;
  setTime(TIME[Math.min(Math.max(here + frames, 0), TIME.length - 1)]);
}
const KEYS = {
  " ": () => setPlaying(!ui.playing), ArrowRight: (e) => step(e.shiftKey ? 10 : 1), ArrowLeft: (e) => step(e.shiftKey ? -10 : -1),
  ArrowUp: () => setScale(ui.scale * 1.25), ArrowDown: () => setScale(ui.scale / 1.25), Home: () => setTime(START), End: () => setTime(END),
  l: () => setLoop(!ui.loop), r: () => { homeView(); camera.moved = false; }, t: () => setTheme(ui.theme === "dark" ? "light" : "dark"),
};
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act(event);
  redraw();
}

// --- orbit, pan, zoom: mouse, pen, fingers -----------------------------------------------------------------------------------------------
const pointers = new Map();
function orbit(dx, dy) {
  camera.azimuth -= 0.008 * dx;
  camera.elevation = Math.min(Math.max(camera.elevation + 0.008 * dy, -1.55), 1.55);
}
function pan(dx, dy) {
  const [right, top] = cameraAxes(), k = (2 * camera.distance * Math.tan(FIELD / 2)) / Math.max(stage.clientHeight, 1);
  camera.target = add(add(camera.target, right, -k * dx), top, k * dy);
}
function zoom(factor) {
  camera.moved = true;
  camera.distance = Math.min(Math.max(camera.distance * factor, 0.2 * SIZE), 40 * SIZE);
}
function onPointerMove(event) {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const dx = event.clientX - before.x, dy = event.clientY - before.y;
  camera.moved = true;
  if (pointers.size === 1) { if (before.pan || event.shiftKey) pan(dx, dy); else orbit(dx, dy); }
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    zoom(Math.hypot(before.x - other.x, before.y - other.y) / Math.max(Math.hypot(event.clientX - other.x, event.clientY - other.y), 1));
    pan(dx / 2, dy / 2);
  }
  Object.assign(before, { x: event.clientX, y: event.clientY });
  redraw();
}
function listen() {
  canvas.onpointerdown = (e) => {
    canvas.setPointerCapture(e.pointerId);
    pointers.set(e.pointerId, { x: e.clientX, y: e.clientY, pan: e.button !== 0 });
    stage.classList.add("dragging");
  };
  canvas.onpointermove = onPointerMove;
  canvas.onpointerup = canvas.onpointercancel = (e) => { pointers.delete(e.pointerId); stage.classList.toggle("dragging", pointers.size > 0); };
  canvas.oncontextmenu = (e) => e.preventDefault();
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(0.0012 * e.deltaY * (e.deltaMode ? 30 : 1))); redraw(); }, { passive: false });
  canvas.ondblclick = () => { KEYS.r(); redraw(); };
  canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => { prepare(); redraw(); });
  document.addEventListener("keydown", onKey);
  new ResizeObserver(() => { if (!camera.moved) homeView(); show(); }).observe(stage);
}

// --- the address may choose what is seen: #t=0.5&scale=10&paused&frames=1&theme=dark&azimuth=30&elevation=20 -------------------------------
function readAddress() {
  const wish = new URLSearchParams(location.hash.slice(1)), value = (key) => parseFloat(wish.get(key));
  setTheme(["light", "dark"].includes(wish.get("theme")) ? wish.get("theme") : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  TOGGLES.forEach(([key]) => { if (wish.has(key)) setToggle(key, wish.get(key) !== "0"); });
  if (Number.isFinite(value("scale"))) { setScale(value("scale")); homeView(); }
  camera.moved = ["azimuth", "elevation", "zoom"].some((key) => wish.has(key));
  if (Number.isFinite(value("speed"))) setSpeed(value("speed"));
  if (Number.isFinite(value("chart"))) setChart(value("chart"));
  if (Number.isFinite(value("azimuth"))) camera.azimuth = (value("azimuth") * Math.PI) / 180;
  if (Number.isFinite(value("elevation"))) camera.elevation = (value("elevation") * Math.PI) / 180;
  if (Number.isFinite(value("zoom"))) camera.distance /= value("zoom");
  if (wish.has("paused")) setPlaying(false);
  if (Number.isFinite(value("t"))) setTime(value("t"));
}

function show() {
  dirty = false;
  render();
  drawChart();
  $("scrub").value = ui.t;
  $("clock").innerHTML = `${ui.t.toFixed(3)} <span>/ ${END.toFixed(3)} s</span>`;
}
let last = null;
function tick(clock) {
  const passed = last === null ? 0 : Math.min((clock - last) / 1000, 0.1);
  last = clock;
  if (ui.playing) {
    let t = ui.t + passed * ui.speed;
    if (t > END) { if (ui.loop) t = START + ((t - START) % DURATION); else { t = END; setPlaying(false); } }
    setTime(t);
  }
  if (dirty) show();
  requestAnimationFrame(tick);
}
function begin() {
  if (!gl) {
    Object.assign($("message").style, { display: "grid" });
    $("message").textContent = "This page draws with WebGL 2, which is switched off or missing in this browser. Switch on hardware acceleration, or open the file in a current Firefox, Chrome, Edge or Safari.";
    return;
  }
  prepare();
  buildControls();
  homeView();
  setSpeed(1); setLoop(true); setScale(ui.scale); setChart(0); setPlaying(true);
  readAddress();
  listen();
  addEventListener("hashchange", () => { readAddress(); redraw(); });
  requestAnimationFrame(tick);
}
begin();

// WebGL 2: programs for solids, their shade on the ground, lines and the ground's grid.
import { add, dot, niceStep, times, unit } from "./vectors.js";
import { rgb } from "./themes.js";

const SOLID = [
  `layout(location=0) in vec3 p; layout(location=1) in vec3 n; layout(location=2) in vec3 c;
   uniform mat4 vp; out vec3 P, N, C;
   void main() { P = p; N = n; C = c; gl_Position = vp * vec4(p, 1.); }`,
  `in vec3 P, N, C; uniform vec3 eye, key, up; out vec4 colour;
   void main() {
     vec3 v = normalize(eye - P), n = normalize(N);
     float d = max(dot(n, key), 0.), h = .5 + .5 * dot(n, up);
     float s = pow(max(dot(n, normalize(key + v)), 0.), 40.);
     float rim = pow(1. - max(dot(n, v), 0.), 3.);
     colour = vec4(C * (.36 + .24 * h + .58 * d) + .14 * s + .10 * rim * h, 1.);
   }`,
];
const SHADE = [
  `layout(location=0) in vec3 p; uniform mat4 vp; uniform vec3 up; uniform float level;
   void main() { gl_Position = vp * vec4(p - up * (dot(p, up) - level), 1.); }`,
  `uniform vec4 ink; out vec4 colour; void main() { colour = ink; }`,
];
const LINE = [
  `layout(location=0) in vec3 a; layout(location=1) in vec3 b; layout(location=2) in vec2 e; layout(location=3) in vec4 c;
   uniform mat4 vp; uniform vec2 screen; uniform float width; out vec4 C;
   void main() {
     vec4 A = vp * vec4(a, 1.), B = vp * vec4(b, 1.), X = e.x < .5 ? A : B;
     vec2 d = (B.xy / B.w - A.xy / A.w) * screen;
     d = length(d) > 0. ? normalize(d) : vec2(1., 0.);
     X.xy += e.y * vec2(-d.y, d.x) * width / screen * X.w;
     X.z -= 1e-4 * X.w;
     C = c;
     gl_Position = X;
   }`,
  `in vec4 C; out vec4 colour; void main() { colour = C; }`,
];
const GRID = [
  `layout(location=0) in vec2 q; uniform mat4 vp; uniform vec3 o, x, y; uniform float reach; out vec2 Q;
   void main() { Q = q * reach; gl_Position = vp * vec4(o + x * Q.x + y * Q.y, 1.); }`,
  `in vec2 Q; uniform vec3 ink; uniform float step_, reach; uniform vec2 shift; out vec4 colour;
   float rule(float s) {
     vec2 g = (Q + shift) / s, w = fwidth(g), d = abs(fract(g - .5) - .5) / w;
     return clamp(1.15 - min(d.x, d.y), 0., 1.);
   }
   void main() {
     float fade = 1. - smoothstep(.25, 1., length(Q) / reach);
     float a = max(.30 * rule(step_), .62 * rule(5. * step_)) * fade;
     colour = vec4(ink, a);
   }`,
];
const CONTEXT = { antialias: true, stencil: true, alpha: false, preserveDrawingBuffer: true };
const TRAIL_WIDTH = 2.6;
const LINE_WIDTH = 1.3;

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", CONTEXT);
    if (this.gl) this.prepare();
  }

  // Also after the context was lost.
  prepare() {
    const gl = this.gl;
    this.programs = {
      solid: this.program(SOLID), shade: this.program(SHADE), line: this.program(LINE), grid: this.program(GRID),
    };
    this.meshes = { solid: this.mesh([3, 3, 3], 9), line: this.mesh([3, 3, 2, 4], 12), grid: this.mesh([2], 2) };
    const square = new Float32Array([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1]);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.meshes.grid.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, square, gl.STATIC_DRAW);
  }
  program([vertexSource, fragmentSource]) {
    const gl = this.gl;
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
  // Layout: components of attributes 0, 1, 2...
  mesh(layout, stride) {
    const gl = this.gl;
    const array = gl.createVertexArray();
    const buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    let offset = 0;
    layout.forEach((size, k) => {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, size, gl.FLOAT, false, 4 * stride, 4 * offset);
      offset += size;
    });
    return { array, buffer };
  }
  upload(mesh, batch) {
    const gl = this.gl;
    gl.bindVertexArray(mesh.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, batch.values.subarray(0, batch.length), gl.DYNAMIC_DRAW);
  }
  use(name, mesh, viewProjection) {
    const { made, uniforms } = this.programs[name];
    this.gl.useProgram(made);
    this.gl.bindVertexArray(this.meshes[mesh].array);
    this.gl.uniformMatrix4fv(uniforms.vp, false, viewProjection);
    return uniforms;
  }

  // A picture: solids (those before `castShadow` throw a shade), lines (those before `trailEnd` are broad), ground.
  paint(picture, camera, colors, ratio) {
    const gl = this.gl;
    const vp = camera.viewProjection(this.canvas.width / Math.max(this.canvas.height, 1));
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...rgb(colors.back), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.upload(this.meshes.solid, picture.solids);
    this.upload(this.meshes.line, picture.lines);
    this.paintSolids(vp, picture, camera);
    if (picture.ground) this.paintGround(vp, picture, camera, colors);
    this.paintLines(vp, picture, ratio);
    return vp;
  }
  paintSolids(vp, picture, camera) {
    const gl = this.gl;
    const uniforms = this.use("solid", "solid", vp);
    const [right, top, back] = camera.axes();
    const key = add(add(times(right, -0.45), top, 0.75), back, 0.8);
    gl.uniform3fv(uniforms.eye, camera.eye());
    gl.uniform3fv(uniforms.up, camera.up);
    gl.uniform3fv(uniforms.key, unit(key));
    gl.drawArrays(gl.TRIANGLES, 0, picture.solids.count);
  }
  paintGround(vp, picture, camera, colors) {
    const gl = this.gl;
    const { centre, level, size } = picture.ground;
    const uniforms = this.use("grid", "grid", vp);
    const below = add(centre, camera.up, level - dot(centre, camera.up));
    gl.uniform3fv(uniforms.o, below);
    gl.uniform3fv(uniforms.x, camera.east);
    gl.uniform3fv(uniforms.y, camera.north);
    gl.uniform3fv(uniforms.ink, rgb(colors.grid));
    gl.uniform1f(uniforms.reach, 4.5 * size);
    gl.uniform1f(uniforms.step_, niceStep(size / 5));
    gl.uniform2f(uniforms.shift, dot(below, camera.east), dot(below, camera.north));
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLES, 0, 6);
    // From below the ground there is no shade to be seen.
    if (dot(camera.eye(), camera.up) > level) this.paintShade(vp, picture, camera, colors);
    gl.depthMask(true);
  }
  paintShade(vp, picture, camera, colors) {
    const gl = this.gl;
    const { level, size } = picture.ground;
    const uniforms = this.use("shade", "solid", vp);
    gl.uniform3fv(uniforms.up, camera.up);
    gl.uniform1f(uniforms.level, level + 1e-4 * size);
    gl.uniform4f(uniforms.ink, 0.04, 0.06, 0.09, colors.shade);
    // Each pixel is darkened once, however many triangles fall on it.
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.drawArrays(gl.TRIANGLES, 0, picture.castShadow);
    gl.disable(gl.STENCIL_TEST);
  }
  paintLines(vp, picture, ratio) {
    const gl = this.gl;
    const uniforms = this.use("line", "line", vp);
    const end = picture.lines.count;
    gl.uniform2f(uniforms.screen, this.canvas.width, this.canvas.height);
    gl.depthMask(false);
    for (const [width, from, to] of [[TRAIL_WIDTH, 0, picture.trailEnd], [LINE_WIDTH, picture.trailEnd, end]]) {
      gl.uniform1f(uniforms.width, width * ratio);
      gl.drawArrays(gl.TRIANGLES, from, to - from);
    }
    gl.depthMask(true);
  }
}

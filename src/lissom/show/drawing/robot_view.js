// A robot on a stage: the picture of a motion at a time, seen by a camera that mouse, pen and fingers move.
import { Camera } from "./camera.js";
import { LabelPen } from "./labels.js";
import { Lines, Solids } from "./mesh.js";
import { Motion } from "./motion.js";
import { drawDimensions, drawMarks, drawMasses } from "./notes.js";
import { Painter } from "./painter.js";
import { drawGhost, drawJoint, drawLink, drawLoads, drawTrail } from "./robot.js";
import { LINK_COLORS, THEMES, rgb } from "./themes.js";
import { column, distance, dot, times, turn, add } from "./vectors.js";

export const NO_WEBGL =
  "This page draws with WebGL 2, which is switched off or missing in this browser. Switch on hardware acceleration, or open the file in a current Firefox, Chrome, Edge or Safari.";
const PICKED_WITHIN = 14; // pixels
const WORLD = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

export class RobotView {
  // `choices` say what is shown: ghost, trail, frames, dh, nodes, ground, gravity, and the theme and scale.
  constructor(stage, canvas, overlay, choices) {
    Object.assign(this, { stage, canvas, choices });
    this.painter = new Painter(canvas);
    this.labelPen = new LabelPen(overlay);
    this.solids = new Solids();
    this.lines = new Lines();
    this.labels = [];
    this.dhFrames = [];
    // Words at nodes, lengths of links, masses with their centres: what a page wants to be written into the picture.
    this.notes = { marks: {}, lengths: {}, masses: [] };
    // The node that can be pulled, null where none can.
    this.handle = null;
    this.onPull = () => {};
    this.sharpness = 1; // pixels drawn against pixels of the screen, along one side
    this.pointers = new Map();
    this.onChange = () => {};
  }
  get works() {
    return this.painter.gl !== null;
  }

  // Another robot or another motion; the camera stays where the user has moved it, unless it is a new stage.
  show(content, keepCamera = false) {
    this.motion = new Motion(content);
    if (keepCamera && this.camera) return;
    this.camera = new Camera(content);
    this.lookHome();
  }

  // --- camera ---
  get aspect() {
    const { clientWidth, clientHeight } = this.stage;
    // A frame that is not seen yet, as further down in a notebook, may have no size: what follows is put right by
    // `resized`.
    return clientWidth > 0 && clientHeight > 0 ? clientWidth / clientHeight : 1;
  }
  // Where the drawn nodes come by, some hundred frames of them.
  points() {
    const { time, nodes } = this.motion;
    const every = Math.max(1, Math.floor(time.length / 150));
    const points = [];
    for (let frame = 0; frame < time.length; frame += every) {
      for (let n = 0; n < nodes.length; n++) points.push(this.motion.storedPoint(frame, n, this.choices.scale));
    }
    return points;
  }
  lookHome() {
    this.camera.moved = false;
    this.camera.lookHome(this.points(), this.aspect);
  }
  lookAlong(direction) {
    this.camera.moved = true;
    if (direction) this.camera.lookAlong(direction, this.points(), this.aspect);
    else this.camera.lookInSpace(this.points(), this.aspect);
  }

  // From so far that the robot is seen in every pose that it can take.
  lookAround() {
    const { base } = this.motion.content;
    let reach = 0;
    for (const { first, count } of this.motion.links) reach += distance(this.motion.drawnPoint(first, 1), this.motion.drawnPoint(first + count - 1, 1));
    const points = WORLD.flatMap((axis) => [add(base, axis, reach), add(base, axis, -reach)]);
    this.camera.lookHome(points, this.aspect);
    this.camera.moved = true;
  }

  // --- one picture ---
  draw(t) {
    if (!this.works || !this.motion) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2) * this.sharpness;
    const colors = THEMES[this.choices.theme];
    fit(this.canvas, ratio);
    fit(this.labelPen.canvas, Math.max(ratio, 1));
    this.motion.moveTo(t);
    const picture = this.picture(colors);
    const vp = this.painter.paint(picture, this.camera, colors, ratio);
    this.labelPen.draw(this.labels, vp, Math.max(ratio, 1), colors);
    this.labelPen.drawCompass(this.camera, this.choices.gravity && this.motion.content.gravity, colors);
  }
  picture(colors) {
    const { solids, lines, motion, choices } = this;
    const { centre, ground, size, tip } = motion.content;
    solids.clear();
    lines.clear();
    this.labels = [];
    this.addLinks(colors);
    const castShadow = solids.count;
    if (choices.trail) drawTrail(lines, motion, tip, choices.scale, rgb(colors.trail));
    if (choices.trail && choices.ghost) drawTrail(lines, motion, tip, 0, rgb(colors.ghost));
    const trailEnd = lines.count;
    if (choices.ghost) drawGhost(lines, motion, rgb(colors.ghost));
    if (choices.frames) this.addFrames(colors);
    if (choices.dh) this.addDhFrames(colors);
    if (choices.nodes) this.addNodes(colors);
    if (choices.dimensions) drawDimensions(this, this.notes.lengths, colors);
    if (choices.masses) drawMasses(this, this.notes.masses, colors);
    drawMarks(this, this.notes.marks, colors);
    if (this.handle) this.addHandle(colors);
    return { solids, lines, castShadow, trailEnd, ground: choices.ground && { centre, level: ground, size } };
  }
  addLinks(colors) {
    const { scale } = this.choices;
    let hue = 0;
    this.motion.links.forEach((link, i) => {
      const color = link.flexible ? LINK_COLORS[hue++ % LINK_COLORS.length] : colors.rigid;
      drawLink(this.solids, this.motion, i, scale, rgb(color));
      // Where a link is drawn by its surface, its joint is part of that.
      if (!link.surface) drawJoint(this.solids, this.motion, i, scale, rgb(colors.joint));
      drawLoads(this.solids, this.motion, i, scale, this.frameLength, { mass: rgb(colors.mass), payload: rgb(colors.payload) });
    });
  }
  addTriad(origin, axes, length, suffix, colors) {
    axes.forEach((axis, k) => {
      this.solids.arrow(origin, times(axis, length), 0.022 * length, rgb(colors.axes[k]));
      const end = add(origin, axis, 1.14 * length);
      this.labels.push({ at: end, text: "xyz"[k] + suffix, color: colors.axes[k], bold: true });
    });
  }
  get frameLength() {
    const { size, reach } = this.motion.content;
    return Math.min(0.17 * size, 0.42 * reach);
  }
  addFrames(colors) {
    const { scale } = this.choices;
    this.motion.links.forEach((link, i) => {
      const w = this.motion.rotationAt(link.first, scale);
      const R = this.motion.frameOf(i);
      const axes = [0, 1, 2].map((k) => turn(column(R, k), w));
      this.addTriad(this.motion.drawnPoint(link.first, scale), axes, this.frameLength, "" + (i + 1), colors);
    });
    this.addTriad([0, 0, 0], WORLD, 1.25 * this.frameLength, "", colors);
  }
  // Frames of the Denavit-Hartenberg convention, frame 0 at the base.
  addDhFrames(colors) {
    this.addTriad([0, 0, 0], WORLD, this.frameLength, "0", colors);
    this.dhFrames.forEach((frame, i) => {
      const R = frame.axes.flat();
      const axes = [0, 1, 2].map((k) => column(R, k));
      this.addTriad(frame.origin, axes, this.frameLength, "" + (i + 1), colors);
    });
  }
  addNodes(colors) {
    let before = null;
    this.motion.nodes.forEach((name, n) => {
      const at = this.motion.drawnPoint(n, this.choices.scale);
      const isSame = before && distance(at, before.at) < 1e-3 * this.motion.content.size;
      if (isSame) before.text += " \u00b7 " + name;
      else this.labels.push((before = { at, text: name, color: colors.ink, dot: true }));
    });
  }

  // What can be pulled has a ring around it.
  addHandle(colors) {
    const n = this.motion.nodes.indexOf(this.handle);
    if (n >= 0) this.labels.push({ at: this.motion.drawnPoint(n, this.choices.scale), text: "", color: colors.trail, ring: true });
  }
  // Where a node is pulled to: a place on the stage, as far from the eye as the node is.
  pulledTo(name, x, y) {
    const at = this.motion.drawnPoint(this.motion.nodes.indexOf(name), this.choices.scale);
    const [right, top, back] = this.camera.axes();
    const depth = dot(add(this.camera.eye(), at, -1), back);
    const [across, up] = this.camera.ray(x, y, this.stage.clientWidth, this.stage.clientHeight);
    const drawn = add(add(add(this.camera.eye(), back, -depth), right, across * depth), top, up * depth);
    // Where the deformation is exaggerated, the node itself is nearer to the rigid robot than it is drawn.
    const exaggerated = add(at, this.motion.drawnPoint(this.motion.nodes.indexOf(name), 1), -1);
    return add(drawn, exaggerated, -1);
  }

  isNear(name, x, y) {
    const vp = this.camera.viewProjection(this.aspect);
    const n = this.motion.nodes.indexOf(name);
    const place = n < 0 ? null : this.labelPen.onScreen(vp, this.motion.drawnPoint(n, this.choices.scale));
    return place !== null && Math.hypot(place[0] - x, place[1] - y) < PICKED_WITHIN;
  }
  // The node drawn at a place on the stage, null where there is none.
  nodeNear(x, y) {
    const vp = this.camera.viewProjection(this.aspect);
    let found = null;
    let nearest = PICKED_WITHIN;
    this.motion.nodes.forEach((name, n) => {
      const place = this.labelPen.onScreen(vp, this.motion.drawnPoint(n, this.choices.scale));
      const away = place ? Math.hypot(place[0] - x, place[1] - y) : Infinity;
      if (away < nearest) [found, nearest] = [name, away];
    });
    return found;
  }

  // --- mouse, pen, fingers ---
  listen() {
    const { canvas, stage } = this;
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      const pulls = this.handle && event.button === 0 && this.isNear(this.handle, event.offsetX, event.offsetY);
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, pan: event.button !== 0, pulls });
      stage.classList.add("dragging");
    };
    canvas.onpointermove = (event) => this.drag(event);
    canvas.onpointerup = canvas.onpointercancel = (event) => {
      this.pointers.delete(event.pointerId);
      stage.classList.toggle("dragging", this.pointers.size > 0);
    };
    canvas.oncontextmenu = (event) => event.preventDefault();
    canvas.ondblclick = () => this.changed(() => this.lookHome());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.changed(() => this.painter.prepare()));
    new ResizeObserver(() => this.resized()).observe(stage);
  }
  changed(act) {
    if (this.motion) act();
    this.onChange();
  }
  resized() {
    this.changed(() => {
      if (!this.camera.moved) this.lookHome();
    });
  }
  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode ? 30 : 1;
    this.changed(() => this.camera.zoom(Math.exp(0.0012 * event.deltaY * lines)));
  }
  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || !this.camera) return;
    if (before.pulls) {
      this.onPull(this.pulledTo(this.handle, event.offsetX, event.offsetY));
      return;
    }
    const { camera } = this;
    const dx = event.clientX - before.x;
    const dy = event.clientY - before.y;
    const height = this.stage.clientHeight;
    camera.moved = true;
    if (this.pointers.size === 1 && (before.pan || event.shiftKey)) camera.pan(dx, dy, height);
    else if (this.pointers.size === 1) camera.orbit(dx, dy);
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const old = Math.hypot(before.x - other.x, before.y - other.y);
      camera.zoom(old / Math.max(Math.hypot(event.clientX - other.x, event.clientY - other.y), 1));
      camera.pan(dx / 2, dy / 2, height);
    }
    Object.assign(before, { x: event.clientX, y: event.clientY });
    this.onChange();
  }
}

export function fit(target, ratio) {
  const width = Math.round(target.clientWidth * ratio);
  const height = Math.round(target.clientHeight * ratio);
  if (target.width !== width || target.height !== height) Object.assign(target, { width, height });
}

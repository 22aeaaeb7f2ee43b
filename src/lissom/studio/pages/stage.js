// A stage for a robot: the picture, its views and what is shown in it.
import { NO_WEBGL, RobotView } from "/assets/drawing/robot_view.js";
import { button, checkbox, make } from "./dom.js";
import { Sharpness } from "./sharpness.js";
import { currentTheme, onTheme } from "./theme.js";

const TOGGLES = [
  ["frames", "Link frames"], ["dh", "DH frames"], ["nodes", "Nodes and names"], ["ghost", "ERLS (rigid robot)"],
  ["trail", "Tip paths"], ["dimensions", "Dimensions"], ["masses", "Centres of mass, principal axes"], ["ground", "Ground"], ["gravity", "Gravity"],
];
const SHOWN = { frames: false, dh: false, nodes: false, dimensions: false, masses: false, ghost: true, trail: true, ground: true, gravity: true };

export class Stage {
  constructor(label, emptyText) {
    this.choices = { ...SHOWN, scale: 1, theme: currentTheme() };
    this.canvas = make("canvas", { role: "img", "aria-label": label });
    const overlay = make("canvas", { class: "labels", "aria-hidden": "true" });
    this.badge = make("div", { class: "badge" });
    this.waiting = make("div", { class: "waiting", role: "status", hidden: true }, "computing\u2026");
    this.empty = make("div", { class: "empty" }, emptyText);
    this.element = make("div", { class: "stage" }, this.canvas, overlay, this.badge, this.waiting, this.empty);
    this.view = new RobotView(this.element, this.canvas, overlay, this.choices);
    this.sharpness = new Sharpness(this.view, () => this.redraw());
    this.t = 0;
    if (!this.view.works) {
      this.empty.textContent = NO_WEBGL;
      return;
    }
    this.element.append(this.viewButtons());
    this.view.onChange = () => { this.redraw(); this.onView?.(this.viewText()); };
    this.view.listen();
    this.canvas.addEventListener("click", (event) => this.clicked(event));
    onTheme((theme) => { this.choices.theme = theme; this.redraw(); });
  }

  clicked(event) {
    if (!this.view.motion || !this.onNode) return;
    const name = this.view.nodeNear(event.offsetX, event.offsetY);
    if (name) this.onNode(name);
  }

  viewButtons() {
    const look = (act) => () => { if (this.view.motion) { act(); this.view.onChange(); } };
    const along = (k) => look(() => this.view.lookAlong([0, 1, 2].map((i) => (i === k ? 1 : 0))));
    const axes = ["x", "y", "z"].map((axis, k) => button(axis, along(k), { title: `Look along ${axis}` }));
    return make("div", { class: "views", role: "group", "aria-label": "Views" },
      button("home", look(() => this.view.lookHome())), button("3-D", look(() => this.view.lookAlong(null))), ...axes);
  }

  // Where the camera stands, for a link; nothing while it stands where it stood at first.
  viewText() {
    const { camera } = this.view;
    if (!camera?.moved) return "";
    return [camera.azimuth, camera.elevation, camera.distance, ...camera.target].map((value) => +value.toPrecision(5)).join(",");
  }
  setView(text) {
    const values = (text ?? "").split(",").map(Number);
    if (!text || values.length !== 6 || !values.every(Number.isFinite) || !this.view.camera) return;
    const [azimuth, elevation, distance, ...target] = values;
    Object.assign(this.view.camera, { azimuth, elevation, distance, target, moved: true });
    this.redraw();
  }

  // Check boxes for all that can be shown; those that are named here are left out.
  toggles(...without) {
    const toggle = (key, on) => {
      this.choices[key] = on;
      this.redraw();
      this.onToggle?.(key, on);
    };
    const wanted = TOGGLES.filter(([key]) => !without.includes(key));
    const boxes = wanted.map(([key, text]) => checkbox(text, this.choices[key], (on) => toggle(key, on), { "data-shows": key }));
    return make("div", { class: "toggles" }, ...boxes);
  }

  scaleSlider() {
    this.scaleInput = make("input", {
      type: "range", min: 0, max: 2, step: 0.01, "aria-label": "Deformation scale factor",
      oninput: () => this.setScale(Math.pow(10, +this.scaleInput.value)),
    });
    return this.scaleInput;
  }
  // The factor that the user wants; without one each picture has its own, at which its robot stays in one piece.
  setScale(scale) {
    this.wantedScale = scale;
    this.drawScaled(scale);
  }
  drawScaled(scale) {
    this.choices.scale = scale;
    if (this.scaleInput) this.scaleInput.value = Math.log10(scale);
    const text = scale < 10 ? +scale.toFixed(1) : Math.round(scale);
    this.badge.textContent = scale > 1 ? `deformation \u00d7${text}` : "deformation true to scale";
    this.redraw();
  }

  show(content, { keepCamera = false, dhFrames = [] } = {}) {
    if (!this.view.works) return;
    this.empty.hidden = true;
    this.element.classList.remove("stale");
    if (!keepCamera) this.wantedScale = null;
    // A mode comes with an amplitude of its own.
    const isMode = Boolean(content.amplitude);
    this.drawScaled(isMode ? content.scale : this.wantedScale ?? content.scale);
    if (isMode) this.badge.textContent = content.amplitude;
    if (this.scaleInput) this.scaleInput.disabled = isMode;
    this.view.show(content, keepCamera);
    this.view.dhFrames = dhFrames;
    this.redraw();
  }
  // What is shown is older than what the page asks for.
  markStale(why) {
    if (!this.view.motion) return;
    this.element.classList.add("stale");
    this.badge.textContent = why;
  }
  // Nothing to show, and why.
  clear(why) {
    this.view.motion = null;
    this.element.classList.remove("stale");
    this.empty.hidden = false;
    this.badge.textContent = "";
    if (why && this.view.works) this.empty.textContent = why;
  }
  moveTo(t) {
    this.t = t;
    this.redraw();
  }
  redraw() {
    if (this.isScheduled || !this.view.works) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      if (!this.view.motion) return;
      this.view.draw(this.t);
      this.sharpness.drawn();
    });
  }
}

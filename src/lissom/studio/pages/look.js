// Look: the robot with its frames and nodes; sliders and a pull at its tip move it, sag and holding torques follow.
import { go, noteInAddress, sourceName, sourceToBuild, sourceToRun } from "./address.js";
import { button, checkbox, debounced, make, reporting, shown } from "./dom.js";
import { ErlsChoice } from "./erls.js";
import { Equivalents } from "./equivalents.js";
import * as live from "./live.js";
import { PoseMap, rangeOf } from "./look_map.js";
import { PoseModes } from "./look_modes.js";
import { MovingStage } from "./player.js";
import { getOnce } from "./server.js";
import { parts, saveButtons, withValues } from "./verb_form.js";

const QUIET_MS = 300; // before the address and the lines for the command line follow
// Rounding of an equilibrium is nothing to show.
const rounded = (value, digits = 5) => (Math.abs(value) < 1e-9 ? 0 : +value.toPrecision(digits));

export class LookScreen {
  constructor() {
    this.stage = new MovingStage("The robot in this pose", "Choose a robot on the start screen.");
    this.player = this.stage.player;
    this.player.element.hidden = true;
    this.sliders = make("div", {});
    this.tip = make("div", { class: "row tip" });
    this.tipInputs = ["x", "y", "z"].map((axis) => make("input", {
      type: "number", class: "number", step: "any", "aria-label": `Tip ${axis} in m`, onchange: () => this.pullTip(),
    }));
    this.facts = make("div", { "aria-live": "polite" });
    this.message = make("div", { class: "message", role: "alert" });
    this.warning = make("div", { class: "warning" });
    this.same = new Equivalents();
    this.sagBox = checkbox("Sag under gravity", true, (on) => { this.sag = on; this.ask(); });
    this.erls = new ErlsChoice(() => this.ask());
    this.modes = new PoseModes(() => this.question(), (picture, words) => this.play(picture, words));
    this.map = new PoseMap(() => this.question(), (joints) => this.take(joints));
    this.stage.onNode = (name) => this.erls.point(name);
    this.stage.onToggle = (key, on) => { if (key === "masses" && on) this.ask(); };
    this.stage.view.onPull = (to) => this.ask({ node: this.stage.view.handle, to });
    this.note = debounced(() => this.noteNow(), QUIET_MS);
    this.element = make("section", { class: "screen full look", "aria-labelledby": "look-title" },
      this.stage.box,
      make("aside", {},
        (this.title = make("h1", { id: "look-title" }, "Look")),
        this.message, this.warning,
        make("div", { class: "panel" }, make("h2", { class: "small" }, "Joints"), this.sliders, this.sagBox),
        make("div", { class: "panel" }, make("h2", { class: "small" }, "Tip [m]: type, or pull the ring"), this.tip),
        make("div", { class: "panel" }, make("h2", { class: "small" }, "Holding torques and sag"), this.facts),
        make("div", { class: "panel" }, make("h2", { class: "small" }, "Show"), this.stage.toggles("trail"),
          make("h2", { class: "small" }, "Deformation drawn"), this.stage.scaleSlider()),
        this.modes.element, this.map.element, this.erls.element, this.actions(), this.same.element));
  }
  actions() {
    const matrices = () => withValues(this.question(), { balanced: this.sag });
    return make("div", { class: "panel row" },
      button("Run", async () => go({ screen: "run", source: sourceToRun(this.source, await getOnce("library")), zeroed: this.erls.picked.join(",") }), { class: "main" }),
      button("Build on it", async () => go({ screen: "build", source: sourceToBuild(this.source, await getOnce("library")) })),
      ...saveButtons("matrices", matrices, (act) => reporting(this.message, act), ["Matrices (.npz)", ".npz"], ["Matrices (.mat)", ".mat"]));
  }

  open({ source, q, sag, zeroed, view }) {
    if (!source) return;
    this.sagBox.control.checked = this.sag = sag !== "0";
    const isNew = source !== this.source;
    this.source = source;
    this.title.textContent = sourceName(source);
    if (!isNew) return;
    this.view = view;
    this.erls.picked = [];
    this.q = q ? q.split(",").map(Number) : null;
    this.fresh = true;
    this.wanted = parts(zeroed);
    for (const part of [this.sliders, this.tip, this.facts]) part.replaceChildren();
    this.stage.clear("The robot is on its way.");
    this.ask();
  }
  close() {
    this.player.setPlaying(false);
    this.map.close();
  }

  // The robot and its pose, for verbs.
  question() {
    return { source: this.source, changes: this.erls.changes(), values: { q: this.q } };
  }
  // While one pose is computed, only the newest of the later requests waits.
  async ask(pull = null) {
    if (!this.source) return;
    this.stage.waiting.hidden = false;
    const { source } = this;
    try {
      const pose = await live.pose({ source, q: this.q, changes: this.erls.changes(), sag: this.sag, pull, masses: this.stage.choices.masses });
      if (source === this.source) this.show(pose, pull);
    } catch (failure) {
      if (source === this.source) this.showFailure(failure);
    }
    this.stage.waiting.hidden = true;
  }
  showFailure({ message }) {
    this.message.textContent = message;
    this.warning.textContent = "";
    this.facts.replaceChildren();
    this.modes.moved();
    if (this.fresh) this.stage.clear("No pose was found.");
    else this.stage.markStale("the last pose that was found");
    this.erls.warn(message);
  }
  show(pose, pull) {
    this.message.textContent = "";
    this.erls.warn("");
    this.warning.textContent = pose.warnings.join("\n");
    this.modes.moved();
    this.pose = pose;
    this.stage.show(pose.picture, { keepCamera: !this.fresh, dhFrames: pose.dh_frames });
    if (this.stage.view.works) Object.assign(this.stage.view.notes, { lengths: pose.lengths, masses: pose.masses, marks: this.erls.marks() });
    if (this.fresh) this.begin(pose);
    this.fresh = false;
    if (pull || !this.q) this.q = pose.joints.map(({ name }) => rounded(pose.q[name], 12));
    this.showJoints(pose, Boolean(pull));
    this.showFacts(pose);
    this.note();
    // A link may bring a choice of the ERLS along: the nodes that it names are known only now.
    if (this.wanted.length) {
      this.wanted = [];
      this.ask();
    }
  }
  begin(pose) {
    this.rows = pose.joints.map((joint, k) => this.sliderRow(joint, k, pose.q[joint.name]));
    this.sliders.replaceChildren(...this.rows.map(({ row }) => row));
    this.tip.replaceChildren(...this.tipInputs);
    this.stage.setView(this.view);
    this.erls.open(pose, this.wanted);
    this.map.robot(pose.joints);
    this.stage.view.handle = this.erls.joints ? pose.picture.nodes[pose.picture.tip] : null;
  }
  noteNow() {
    // Another robot, whose pose is still being computed.
    if (!this.q) return;
    const q = this.q.map((value) => rounded(value, 6));
    noteInAddress({ q: q.join(","), sag: this.sag ? "" : "0", zeroed: this.erls.picked.join(",") });
    const question = this.question();
    const { source, changes } = question;
    const verbs = { [this.sag ? "static" : "show"]: {}, modes: this.modes.values(), "mode-map": this.map.inSi() };
    const calls = Object.entries(verbs).filter(([, values]) => values).map(([verb, values]) => [verb, withValues(question, { q, ...values })]);
    const robot = `robot_of(${JSON.stringify(sourceName(source))}, ${JSON.stringify(changes)})`;
    const masses = ["from lissom.analyse.mass_properties import mass_properties", "from lissom.runs.sources import robot_of",
      `model = ls.Model.of_scenario(${robot})`, `print(mass_properties(model, model.${this.sag ? "static" : "at"}(${JSON.stringify(q)})))`];
    this.same.show(calls, this.stage.choices.masses ? masses : []);
  }

  // --- joints ---
  sliderRow(joint, k, value) {
    const { unit, min, max, unitName } = rangeOf(joint);
    const text = `${joint.name} [${unitName}]`;
    const id = `joint-${k}`;
    const slider = make("input", { type: "range", min, max, step: "any", value: value * unit, "aria-label": text });
    const number = make("input", { type: "number", class: "number", id, step: "any", value: rounded(value * unit) });
    const follow = (from, to) => () => {
      to.value = rounded(+from.value);
      this.q[k] = from.value / unit;
      this.ask();
    };
    slider.oninput = follow(slider, number);
    number.onchange = follow(number, slider);
    slider.disabled = number.disabled = !joint.independent;
    const label = make("label", { for: id }, text + (joint.independent ? "" : " (follows)"));
    const show = (shownValue) => { slider.value = shownValue; number.value = rounded(shownValue); };
    return { row: make("div", { class: "slider" }, label, number, slider), show, unit, joint };
  }
  // Joints of a loop that follow from the others; all of them where the tip was pulled.
  showJoints(pose, all) {
    for (const { show, unit, joint } of this.rows) {
      if (all || !joint.independent) show(pose.q[joint.name] * unit);
    }
  }
  // Joints by name, in degrees or metres.
  take(joints) {
    this.rows.forEach(({ show, unit, joint }, k) => {
      if (!(joint.name in joints)) return;
      this.q[k] = joints[joint.name] / unit;
      show(joints[joint.name]);
    });
    this.ask();
  }

  pullTip() {
    const { nodes, tip } = this.pose.picture;
    this.ask({ node: nodes[tip], to: this.tipInputs.map((input) => +input.value) });
  }
  showFacts(pose) {
    this.tipInputs.forEach((input, k) => { if (input !== document.activeElement) input.value = rounded(pose.tip[k]); });
    const rows = pose.joints.map(({ name, type }) => {
      const unit = type === "revolute" ? "N m" : "N";
      const torque = pose.torque ? `${shown(pose.torque[name])} ${unit}` : "\u2013";
      return make("tr", {}, make("td", {}, name), make("td", { class: "right numbers" }, torque));
    });
    const reached = pose.reached ? "" : " It does not reach as far as it was pulled.";
    const sag = make("p", { class: "numbers", id: "tip-sag" }, `Tip sags by ${shown(1e3 * pose.sag)} mm.${reached}`);
    const model = make("p", { class: "soft", id: "pose-model" }, pose.model);
    this.facts.replaceChildren(make("table", {}, ...rows), sag, model, ...this.massFacts(pose));
  }
  massFacts({ masses }) {
    if (!masses.length) return [];
    const { mass, centre, moments } = masses.at(-1);
    const numbers = (values) => values.map((value) => shown(value, 3)).join(", ");
    const words = `Mass ${shown(mass)} kg, centre at ${numbers(centre)} m, principal moments ${numbers(moments)} kg m\u00b2.`;
    return [make("p", { class: "numbers", id: "mass-facts" }, words)];
  }

  // --- modes ---
  play(picture, words = "") {
    this.player.element.hidden = !picture;
    if (!picture) {
      if (!this.player.playing && !this.swings) return;
      this.swings = false;
      this.player.setPlaying(false);
      this.stage.t = 0;
      if (this.pose) this.stage.show(this.pose.picture, { keepCamera: true, dhFrames: this.pose.dh_frames });
      this.stage.canvas.setAttribute("aria-label", "The robot in this pose");
      return;
    }
    this.swings = true;
    this.stage.swing(picture, `The robot swinging in ${words}`, { keepCamera: true, dhFrames: this.pose?.dh_frames });
    this.player.setPlaying(true);
  }
}

// Look: the robot with its frames and nodes; sliders move it, sag and holding torques follow.
import { go, noteInAddress } from "./address.js";
import { button, checkbox, make, shown } from "./dom.js";
import { ErlsChoice } from "./erls.js";
import { equivalents, poseLines } from "./equivalents.js";
import { live } from "./live.js";
import { save } from "./server.js";
import { Stage } from "./stage.js";

const DEGREES = 180 / Math.PI;
const HALF_TURN = 180;
const ONE_METRE = 1;

export class LookScreen {
  constructor(app) {
    this.app = app;
    this.stage = new Stage("The robot in this pose", "Choose a robot on the start screen.");
    this.sliders = make("div", {});
    this.facts = make("div", { "aria-live": "polite" });
    this.message = make("div", { class: "message", role: "alert" });
    this.warning = make("div", { class: "warning" });
    this.same = make("div", {});
    const sag = checkbox("Sag under gravity", true, (on) => { this.sag = on; this.ask(); });
    this.sagBox = sag.box;
    this.erls = new ErlsChoice(() => this.ask());
    this.stage.onNode = (name) => this.erls.point(name);
    this.element = make("section", { class: "screen full look", "aria-labelledby": "look-title" },
      this.stage.element,
      make("aside", {},
        (this.title = make("h1", { id: "look-title" }, "Look")),
        this.message, this.warning,
        make("div", { class: "panel" }, make("h3", {}, "Joints"), this.sliders, sag.label),
        make("div", { class: "panel" }, make("h3", {}, "Holding torques and sag"), this.facts),
        make("div", { class: "panel" }, make("h3", {}, "Show"), this.stage.toggles("trail"),
          make("h3", {}, "Deformation drawn"), this.stage.scaleSlider()),
        this.erls.element, this.actions(), this.same));
  }
  actions() {
    const robot = () => this.source;
    return make("div", { class: "panel row" },
      button("Run", () => go({ screen: "run", source: robot(), zeroed: this.erls.picked.join(",") }), "main"),
      button("Build on it", () => go({ screen: "build", source: robot().replace(/^scenario:/, "library:") })),
      button("Matrices (.npz)", () => this.saveMatrices(".npz")),
      button("Matrices (.mat)", () => this.saveMatrices(".mat")));
  }

  open({ source, q, sag, zeroed }) {
    if (!source) return;
    this.sagBox.checked = this.sag = sag !== "0";
    const isNew = source !== this.source;
    this.source = source;
    this.title.textContent = this.app.subject(source);
    if (!isNew) return;
    this.erls.picked = [];
    this.q = q ? q.split(",").map(Number) : null;
    this.fresh = true;
    this.wanted = zeroed ? zeroed.split(",") : [];
    this.sliders.replaceChildren();
    this.stage.clear();
    this.ask();
  }

  // While one pose is computed, only the newest of those that are asked for afterwards is.
  async ask() {
    if (!this.source) return;
    this.stage.waiting.hidden = false;
    const asked = { source: this.source, q: this.q, sag: this.sag, changes: this.erls.changes() };
    try {
      const pose = await live.pose(asked);
      if (asked.source === this.source) this.show(pose);
    } catch (failure) {
      this.message.textContent = failure.message;
    }
    this.stage.waiting.hidden = true;
  }
  show(pose) {
    this.message.textContent = "";
    this.warning.textContent = pose.warnings.join("\n");
    this.stage.show(pose.picture, { keepCamera: !this.fresh, dhFrames: pose.dh_frames });
    if (this.fresh) this.buildSliders(pose);
    if (this.fresh) this.erls.open(pose.picture.nodes, pose.joints.filter((joint) => joint.independent).length, this.wanted);
    this.fresh = false;
    this.q ||= pose.joints.map(({ name }) => pose.q[name]);
    this.showDependent(pose);
    this.showFacts(pose);
    noteInAddress({ q: this.q.map((value) => +value.toPrecision(6)).join(","), sag: this.sag ? "" : "0", zeroed: this.erls.picked.join(",") });
    this.same.replaceChildren(equivalents(poseLines(this.source, this.q, this.sag), this.app.folder));
    // A link may bring a choice of the ERLS along: the nodes that it names are known only now.
    if (this.wanted.length) {
      this.wanted = [];
      this.ask();
    }
  }

  buildSliders(pose) {
    this.rows = pose.joints.map((joint, k) => this.sliderRow(joint, k, pose.q[joint.name]));
    this.sliders.replaceChildren(...this.rows.map(({ row }) => row));
  }
  sliderRow(joint, k, value) {
    const isAngle = joint.type === "revolute";
    const unit = isAngle ? DEGREES : 1;
    const reach = isAngle ? HALF_TURN : ONE_METRE;
    const low = joint.lower === null ? -reach : joint.lower * unit;
    const high = joint.upper === null ? reach : joint.upper * unit;
    const text = `${joint.name} [${isAngle ? "deg" : "m"}]`;
    const id = `joint-${k}`;
    const slider = make("input", { type: "range", min: low, max: high, step: "any", value: value * unit, "aria-label": text });
    const number = make("input", { type: "number", class: "number", id, step: "any", value: +(value * unit).toPrecision(5) });
    const follow = (from, to) => () => {
      to.value = +(+from.value).toPrecision(5);
      this.q[k] = from.value / unit;
      this.ask();
    };
    slider.oninput = follow(slider, number);
    number.onchange = follow(number, slider);
    slider.disabled = number.disabled = !joint.independent;
    const label = make("label", { for: id }, text + (joint.independent ? "" : " (follows)"));
    return { row: make("div", { class: "slider" }, label, number, slider), slider, number, unit, joint };
  }
  // Joints of a loop that follow from the others.
  showDependent(pose) {
    for (const { slider, number, unit, joint } of this.rows) {
      if (joint.independent) continue;
      slider.value = pose.q[joint.name] * unit;
      number.value = +(pose.q[joint.name] * unit).toPrecision(5);
    }
  }
  showFacts(pose) {
    const rows = pose.joints.map(({ name, type }) => {
      const unit = type === "revolute" ? "N m" : "N";
      const torque = pose.torque ? `${shown(pose.torque[name])} ${unit}` : "\u2013";
      return make("tr", {}, make("td", {}, name), make("td", { class: "right numbers" }, torque));
    });
    const sag = make("p", { class: "numbers" }, `Tip sags by ${shown(1e3 * pose.sag)} mm`);
    sag.id = "tip-sag";
    this.facts.replaceChildren(make("table", {}, ...rows), sag);
  }

  async saveMatrices(ending) {
    try {
      const asked = { source: this.source, q: this.q, balanced: this.sag, ending };
      await save("matrices", asked, `matrices${ending}`);
    } catch (failure) {
      this.message.textContent = failure.message;
    }
  }
}


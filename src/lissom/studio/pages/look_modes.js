// The first modes at the pose of the robot that is looked at: in a table, and one of them in motion.
import { SHOWN_MODES } from "./defaults.js";
import { checkbox, choice, debounced, heading, make, pair, shown } from "./dom.js";
import { post } from "./server.js";
import { reducedMotion } from "./theme.js";
import { switchesOfPoint, VerbFields } from "./verb_form.js";

const QUIET_MS = 250; // after the last move of a joint
const COUNTS = [4, 6, SHOWN_MODES, 15, 20];
const LEAST_SHARE = 0.02; // parts below are not named

export class PoseModes {
  // `question` gives robot and pose; `play` is handed the picture of a mode, or null when none is to move.
  constructor(question, play) {
    Object.assign(this, { question, play });
    this.mode = 1;
    this.count = SHOWN_MODES;
    this.said = make("p", { class: "soft", role: "status" });
    this.rows = make("tbody", {});
    this.fields = new VerbFields("modes", switchesOfPoint, () => this.ask());
    this.moves = checkbox("In motion", !reducedMotion(), () => this.ask());
    const count = choice(COUNTS, this.count, (n) => { this.count = +n; this.ask(); });
    this.element = make("details", { class: "panel", id: "pose-modes" },
      make("summary", {}, "Modes at this pose"),
      make("div", { class: "row" }, this.fields.element, this.moves.label, pair("Modes", count)), this.said,
      make("table", { class: "modes" }, heading("mode", "f [Hz]", "\u03b6 [%]", "moves"), this.rows));
    this.element.ontoggle = () => (this.element.open ? this.ask() : this.play(null));
    this.later = debounced(() => this.ask(), QUIET_MS);
  }
  get isOpen() {
    return this.element.open;
  }
  // The pose changed: what is shown is past.
  moved() {
    if (!this.isOpen) return;
    this.play(null);
    this.later();
  }
  // What is asked for, null while nothing is.
  asks() {
    return this.isOpen ? { ...this.fields.values(), count: this.count } : null;
  }
  async ask() {
    if (!this.isOpen) return;
    await this.fields.open();
    const { q, ...about } = this.question();
    const asked = { ...about, values: { q, ...this.asks(), mode: Math.min(this.mode, this.count) } };
    const number = (this.asked = (this.asked ?? 0) + 1);
    this.said.textContent = "computing\u2026";
    try {
      const found = await post("modes", asked);
      // Overtaken by a later question.
      if (number === this.asked) this.show(found);
    } catch (failure) {
      if (number === this.asked) this.said.textContent = failure.message;
    }
  }
  show({ modes, number, picture }) {
    this.mode = number;
    this.said.textContent = [`About ${modes.about}; ${modes.model}.`, ...modes.warnings].join(" ");
    this.rows.replaceChildren(...modes.frequency_hz.map((frequency, k) => this.row(modes, frequency, k)));
    this.play(this.moves.box.checked ? picture : null, `mode ${number}, ${shown(modes.frequency_hz[number - 1])} Hz`);
  }
  row(modes, frequency, k) {
    const pick = make("input", { type: "radio", name: "pose-mode", checked: k + 1 === this.mode, "aria-label": `Mode ${k + 1} in motion` });
    pick.onchange = () => { this.mode = k + 1; this.ask(); };
    const damping = modes.damping_ratio[k];
    const parts = Object.entries(modes.share[k]).filter(([, share]) => share >= LEAST_SHARE).sort((a, b) => b[1] - a[1]);
    const words = parts.map(([name, share]) => `${name} ${Math.round(100 * share)}\u00a0%`).join(", ");
    return make("tr", {}, make("td", {}, make("label", { class: "check" }, pick, String(k + 1))),
      make("td", { class: "numbers" }, shown(frequency)), make("td", { class: "numbers" }, damping === null ? "\u2013" : shown(100 * damping, 3)),
      make("td", {}, words));
  }
}

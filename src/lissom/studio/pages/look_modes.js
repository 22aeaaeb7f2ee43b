// The first modes at the pose of the robot that is looked at: in a table, and one of them in motion.
import { checkbox, debounced, heading, make, percent, shown } from "./dom.js";
import { post } from "./server.js";
import { reducedMotion } from "./theme.js";
import { named, switchesOfPoint, VerbFields, withValues } from "./verb_form.js";

const QUIET_MS = 250; // after the last move of a joint
const LEAST_SHARE = 0.02; // parts below are not named
const isCount = named("count");

export class PoseModes {
  // `question` gives robot and pose; `play` gets the picture of a mode, or null when none is to move.
  constructor(question, play) {
    Object.assign(this, { question, play });
    this.mode = 1;
    this.requests = 0;
    this.status = make("p", { class: "soft", role: "status" });
    this.rows = make("tbody", {});
    this.fields = new VerbFields("modes", (one) => switchesOfPoint(one) || isCount(one), () => this.ask());
    this.moves = checkbox("In motion", !reducedMotion(), () => this.ask());
    this.element = make("details", { class: "panel", id: "pose-modes" },
      make("summary", {}, "Modes at this pose"),
      make("div", { class: "row" }, this.fields.element, this.moves), this.status,
      make("table", { class: "modes" }, heading("mode", "f [Hz]", "\u03b6 [%]", "moves"), this.rows));
    this.element.ontoggle = () => (this.element.open ? this.ask() : this.play(null));
    this.later = debounced(() => this.ask(), QUIET_MS);
  }
  // The pose changed: what is shown is past.
  moved() {
    if (!this.element.open) return;
    this.play(null);
    this.later();
  }
  // Of the request, null while the modes are folded away.
  values() {
    return this.element.open ? this.fields.values() : null;
  }
  async ask() {
    if (!this.element.open) return;
    await this.fields.open();
    const number = ++this.requests;
    this.status.textContent = "computing\u2026";
    try {
      const found = await post("modes", withValues(this.question(), { ...this.values(), mode: this.mode }));
      // Unless a later request overtook it.
      if (number === this.requests) this.show(found);
    } catch (failure) {
      if (number !== this.requests) return;
      this.status.textContent = failure.message;
      this.rows.replaceChildren();
      this.play(null);
    }
  }
  show({ modes, number, picture }) {
    this.mode = number;
    this.status.textContent = [`About ${modes.about}; ${modes.model}.`, ...modes.warnings].join(" ");
    this.rows.replaceChildren(...modes.frequency_hz.map((frequency, k) => this.row(modes, frequency, k)));
    this.play(this.moves.control.checked ? picture : null, `mode ${number}, ${shown(modes.frequency_hz[number - 1])} Hz`);
  }
  row(modes, frequency, k) {
    const pick = make("input", {
      type: "radio", name: "pose-mode", checked: k + 1 === this.mode, "aria-label": `Mode ${k + 1} in motion`,
      onchange: () => { this.mode = k + 1; this.ask(); },
    });
    const parts = Object.entries(modes.share[k]).filter(([, share]) => share >= LEAST_SHARE).sort((a, b) => b[1] - a[1]);
    const words = parts.map(([name, share]) => `${name} ${Math.round(100 * share)}\u00a0%`).join(", ");
    return make("tr", {}, make("td", {}, make("label", { class: "check" }, pick, String(k + 1))),
      make("td", { class: "numbers" }, shown(frequency)), make("td", { class: "numbers" }, percent(modes.damping_ratio[k])),
      make("td", {}, words));
  }
}

// Modes: a table with damping and shares, and the robot swinging in the one that is chosen.
import { Motion } from "/assets/drawing/motion.js";
import { noteInAddress } from "./address.js";
import { button, debounced, heading, make, shown } from "./dom.js";
import { Player } from "./player.js";
import { post } from "./server.js";
import { Stage } from "./stage.js";
import { reducedMotion } from "./theme.js";
import { ask, ownOnes, saveFile, VerbFields, withValues } from "./verb_form.js";

const LEAST_SHARE = 0.01; // parts below are left out

export class ModesTab {
  constructor(screen) {
    this.screen = screen;
    this.mode = 1;
    this.stage = new Stage("The robot in one of its modes", "Ask for the modes first.");
    this.player = new Player((t) => this.stage.moveTo(t));
    this.stage.onView = debounced((view) => noteInAddress({ view }), 300);
    this.table = make("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Modes" });
    this.fields = new VerbFields("modes", ownOnes, () => screen.showLines());
    const find = button("Find the modes", () => this.ask(), "main");
    find.id = "find-modes";
    this.element = make("div", { class: "two" },
      make("div", {}, make("div", { class: "row" }, this.fields.element, find),
        this.table,
        make("div", { class: "row" }, button("Pictures (.png)", () => this.save(".png")), button("Pictures (.svg)", () => this.save(".svg")), button("This mode (.html)", () => this.save(".html")))),
      make("div", { class: "stage-box" }, this.stage.element, this.player.element));
  }
  question() {
    return withValues(this.screen.question(), this.fields.values());
  }
  async open({ mode, view }) {
    await this.fields.open();
    if (mode) this.mode = +mode;
    this.view = view;
  }
  close() {
    this.player.setPlaying(false);
  }
  async ask() {
    await this.screen.asking(async () => {
      const found = await ask("modes", this.question());
      this.show(found);
      await this.animate(Math.min(this.mode, found.frequency_hz.length));
    });
  }
  show(found) {
    const parts = Object.keys(found.share[0] ?? {}).filter((name) => found.share.some((one) => one[name] >= LEAST_SHARE));
    const columns = ["mode", "frequency [Hz]", "damping [%]", "kind", ...parts.map((name) => `${name} [%]`)];
    const rows = found.frequency_hz.map((frequency, k) => this.row(found, parts, frequency, k));
    const caption = `${found.robot}, ${found.model}, about ${found.about}; shares of kinetic energy`;
    this.table.replaceChildren(make("table", { class: "modes" }, make("caption", {}, caption),
      heading(...columns), make("tbody", {}, ...rows)));
    this.screen.warn([...found.warnings, ...(found.weight_note ? [found.weight_note] : [])]);
    this.found = found;
  }
  row(found, parts, frequency, k) {
    const look = button(`${k + 1}`, () => this.screen.asking(() => this.animate(k + 1)), "", `Show mode ${k + 1}`);
    look.dataset.mode = k + 1;
    const damping = found.damping_ratio[k];
    const cells = [shown(frequency), damping === null ? "\u2013" : shown(100 * damping, 3), found.stability[k], ...parts.map((name) => shown(100 * found.share[k][name], 3))];
    return make("tr", {}, make("th", { scope: "row" }, look), ...cells.map((text) => make("td", { class: "numbers" }, text)));
  }
  async animate(number) {
    const { picture } = await post("modes", this.swinging(number));
    this.mode = number;
    noteInAddress({ mode: number });
    for (const act of this.table.querySelectorAll("button")) act.setAttribute("aria-pressed", +act.dataset.mode === number);
    const frequency = this.found.frequency_hz[number - 1];
    this.stage.canvas.setAttribute("aria-label", `${this.found.robot} swinging in mode ${number}, ${shown(frequency)} Hz, slowed down and enlarged`);
    this.stage.show(picture);
    this.stage.badge.textContent = `mode ${number}, enlarged`;
    this.stage.setView(this.view);
    this.player.open(0, new Motion(picture).end);
    if (!reducedMotion()) this.player.setPlaying(true);
    this.screen.showLines();
  }
  swinging(mode) {
    return withValues(this.question(), { mode });
  }
  // The calls that this tab stands for.
  calls() {
    return [["modes", withValues(this.swinging(this.mode), { animate: "mode.html" })]];
  }
  save(ending) {
    const asked = ending.startsWith(".htm") ? this.swinging(this.mode) : this.question();
    return this.screen.asking(() => saveFile("modes", asked, ending));
  }
}

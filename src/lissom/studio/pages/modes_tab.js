// Modes: a table with damping and shares, and the robot swinging in the one that is chosen.
import { noteInAddress } from "./address.js";
import { button, make, percent, shown } from "./dom.js";
import { table } from "./pictures.js";
import { MovingStage } from "./player.js";
import { post } from "./server.js";
import { reducedMotion } from "./theme.js";
import { ask, ownOnes, saveButtons, VerbFields, withValues } from "./verb_form.js";

const NONE_YET = "Find the modes first.";
const LEAST_SHARE = 0.01; // parts below are left out

export class ModesTab {
  constructor(screen) {
    this.screen = screen;
    this.mode = 1;
    this.stage = new MovingStage("The robot in one of its modes", NONE_YET);
    this.table = make("div", { class: "modes" });
    this.fields = new VerbFields("modes", ownOnes, () => screen.showLines());
    const find = button("Find the modes", () => this.ask(), { class: "main", id: "find-modes" });
    const saves = saveButtons("modes", (ending) => (ending === ".html" ? this.swinging(this.mode) : this.question()), (act) => screen.computing(act),
      ["Pictures (.png)", ".png"], ["Pictures (.svg)", ".svg"], ["This mode (.html)", ".html"]);
    this.element = make("div", { class: "two" },
      make("div", {}, make("div", { class: "row" }, this.fields.element, find), this.table, make("div", { class: "row" }, ...saves)),
      this.stage.box);
  }
  question() {
    return withValues(this.screen.question(), this.fields.values());
  }
  swinging(mode) {
    return withValues(this.question(), { mode });
  }
  async open({ mode, view }) {
    await this.fields.open();
    if (mode) this.mode = +mode;
    this.view = view;
  }
  close() {
    this.stage.player.setPlaying(false);
  }
  ask() {
    return this.screen.computing(async () => {
      this.show(await ask("modes", this.question()));
      await this.animate(this.mode);
    }, () => this.clear());
  }
  clear() {
    this.close();
    this.table.replaceChildren();
    this.stage.clear(NONE_YET);
    this.screen.warning.textContent = "";
  }
  show(found) {
    this.found = found;
    const parts = Object.keys(found.share[0] ?? {}).filter((name) => found.share.some((one) => one[name] >= LEAST_SHARE));
    const columns = ["mode", "frequency [Hz]", "damping [%]", "kind", ...parts.map((name) => `${name} [%]`)];
    const rows = found.frequency_hz.map((frequency, k) => this.row(found, parts, frequency, k));
    this.table.replaceChildren(table(`${found.robot}, ${found.model}, about ${found.about}; shares of kinetic energy`, columns, rows));
    this.screen.warn(found);
  }
  row(found, parts, frequency, k) {
    const look = button(`${k + 1}`, () => this.screen.computing(() => this.animate(k + 1)), { "aria-label": `Show mode ${k + 1}`, "data-mode": k + 1 });
    return [look, shown(frequency), percent(found.damping_ratio[k]), found.stability[k], ...parts.map((name) => percent(found.share[k][name]))];
  }
  // The mode of this number, or the last one that was found.
  async animate(mode) {
    const request = (this.request = post("modes", this.swinging(mode)));
    const { number, picture } = await request;
    // Overtaken by a later choice.
    if (request !== this.request) return;
    this.mode = number;
    noteInAddress({ mode: number });
    for (const look of this.table.querySelectorAll("button")) look.setAttribute("aria-pressed", +look.dataset.mode === number);
    this.stage.swing(picture, `${this.found.robot} swinging in mode ${number}, ${shown(this.found.frequency_hz[number - 1])} Hz`);
    this.stage.setView(this.view);
    if (!reducedMotion()) this.stage.player.setPlaying(true);
    this.screen.showLines();
  }
  // The calls that this tab stands for.
  calls() {
    return [["modes", withValues(this.swinging(this.mode), { animate: "mode.html" })]];
  }
}

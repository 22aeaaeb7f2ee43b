// Time that plays: a button, a slider, a speed; all that shows a time follows it. And a stage with such a player.
import { noteInAddress } from "./address.js";
import { button, choice, debounced, make } from "./dom.js";
import { Stage } from "./stage.js";

const VIEW_MS = 300; // of quiet before the address has the view
const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];

class Player {
  constructor(onTime) {
    this.onTime = onTime;
    Object.assign(this, { t: 0, start: 0, end: 0, speed: 1, playing: false, clock: null });
    this.play = button("Play", () => this.setPlaying(!this.playing), { class: "main" });
    this.scrub = make("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time" });
    this.scrub.oninput = () => { this.setPlaying(false); this.moveTo(+this.scrub.value); };
    this.clockText = make("output", {});
    const speeds = choice(SPEEDS.map((speed) => [speed, `\u00d7${speed}`]), 1, (speed) => { this.speed = +speed; }, { "aria-label": "Playing speed" });
    this.element = make("div", { class: "player" }, this.play, this.scrub, this.clockText, speeds);
  }
  open(start, end) {
    Object.assign(this, { start, end });
    Object.assign(this.scrub, { min: start, max: end, disabled: !(end > start) });
    this.moveTo(start);
  }
  moveTo(t) {
    this.t = Math.min(Math.max(t, this.start), this.end);
    this.scrub.value = this.t;
    this.clockText.textContent = `${this.t.toFixed(3)} / ${this.end.toFixed(3)} s`;
    this.onTime(this.t);
  }
  setPlaying(on) {
    this.playing = on && this.end > this.start;
    this.play.textContent = this.playing ? "Pause" : "Play";
    this.clock = null;
    if (!this.playing) return;
    if (this.t >= this.end) this.moveTo(this.start);
    requestAnimationFrame((clock) => this.tick(clock));
  }
  tick(clock) {
    if (!this.playing) return;
    const passed = this.clock === null ? 0 : Math.min((clock - this.clock) / 1000, 0.1);
    this.clock = clock;
    const t = this.t + passed * this.speed;
    this.moveTo(t > this.end ? this.start + ((t - this.start) % (this.end - this.start)) : t);
    requestAnimationFrame((next) => this.tick(next));
  }
}

// A stage whose robot moves; the address of the page has its view.
export class MovingStage extends Stage {
  constructor(label, emptyText, onTime = (t) => this.moveTo(t)) {
    super(label, emptyText);
    this.player = new Player(onTime);
    this.onView = debounced((view) => noteInAddress({ view }), VIEW_MS);
    this.box = make("div", { class: "stage-box" }, this.element, this.player.element);
  }
  // The robot swinging in a mode.
  swing(picture, label, options) {
    this.show(picture, options);
    this.canvas.setAttribute("aria-label", `${label}, slowed down and enlarged`);
    if (this.view.works) this.player.open(this.view.motion.start, this.view.motion.end);
  }
}

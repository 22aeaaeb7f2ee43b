// Time that plays: a button, a slider, a speed; all that shows a time follows it.
import { button, choice, make } from "./dom.js";

const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];

export class Player {
  constructor(onTime) {
    this.onTime = onTime;
    Object.assign(this, { t: 0, start: 0, end: 0, speed: 1, playing: false, clock: null });
    this.play = button("Play", () => this.setPlaying(!this.playing), "main");
    this.scrub = make("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time" });
    this.scrub.oninput = () => { this.setPlaying(false); this.moveTo(+this.scrub.value); };
    this.clockText = make("output", {});
    const speeds = choice(SPEEDS.map((speed) => [speed, `\u00d7${speed}`]), 1, (speed) => { this.speed = +speed; }, "Playing speed");
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

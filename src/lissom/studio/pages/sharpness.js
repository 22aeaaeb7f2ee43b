// Fewer pixels while a picture moves on a machine that draws slowly, all of them once it rests.
const SLOW_MS = 40; // from one picture to the next
const FAST_MS = 22;
const COARSEST = 0.5;
const REST_MS = 250;

export class Sharpness {
  // `view` draws; `redraw` requests another picture.
  constructor(view, redraw) {
    Object.assign(this, { view, redraw });
    this.moving = 1; // while it moves
    this.cost = FAST_MS;
  }
  // How long it takes until the browser is ready for the next picture.
  drawn() {
    clearTimeout(this.rest);
    // The one sharp picture at the end is no measure.
    if (this.view.sharpness === 1 && this.moving < 1) {
      this.view.sharpness = this.moving;
      return;
    }
    const began = performance.now();
    requestAnimationFrame(() => this.measured(performance.now() - began));
    if (this.view.sharpness < 1) this.rest = setTimeout(() => { this.view.sharpness = 1; this.redraw(); }, REST_MS);
  }
  measured(ms) {
    this.cost += 0.3 * (Math.min(ms, 250) - this.cost);
    if (this.cost > SLOW_MS) this.moving = Math.max(0.85 * this.moving, COARSEST);
    else if (this.cost < FAST_MS) this.moving = Math.min(1.05 * this.moving, 1);
    this.view.sharpness = this.moving;
  }
}

// The answer of a map of modes as a picture: curves over one quantity, a map of one mode over two.
import { Chart, Cursors } from "./charts.js";
import { choice, make, setOptions } from "./dom.js";
import { frequencyMap } from "./pictures.js";

export class MapPicture {
  // `take`, if any, gets the values of both quantities where the map is clicked, by their names.
  constructor(take) {
    this.take = take;
    this.mode = choice([], "", () => this.draw());
    this.element = make("div", {});
  }
  clear() {
    this.chart?.remove();
    this.chart = null;
    this.mode.replaceChildren();
    this.element.replaceChildren();
  }
  show(found) {
    const chosen = Math.min(this.mode.value || 1, found.modes.length);
    this.found = found;
    this.clear();
    setOptions(this.mode, found.modes.map(({ mode }) => [mode, `mode ${mode}`]));
    this.mode.value = chosen;
    this.draw();
  }
  draw() {
    const { axes, modes, frequency_hz: frequency } = this.found;
    const [[name, places], second] = Object.entries(axes);
    if (second) {
      this.element.replaceChildren(frequencyMap(this.found, this.mode.value - 1, this.take));
      return;
    }
    this.chart ??= new Chart("Frequencies", "Hz", new Cursors(), { axis: name, height: 260 });
    this.element.replaceChildren(this.chart.element);
    this.chart.cursors.t = places[0];
    this.chart.show(places, modes.map(({ mode }) => ({ name: `mode ${mode}`, values: frequency.map((line) => line[mode - 1]) })));
  }
}

// Pictures of analyses that are no curves over time: poles in their plane, a frequency over two quantities.
import { extent } from "./charts.js";
import { heading, make, shown, svg, svgText } from "./dom.js";

// --- poles ---
const WIDTH = 460;
const HEIGHT = 300;
const MARGIN = 46;
// Poles lie over many decades: far ones move in by the root of their size, signs stay.
const drawn = (value) => Math.sign(value) * Math.sqrt(Math.abs(value));

export function poleMap(poles) {
  const [low, high] = extent([0, ...poles.map(({ real }) => drawn(real))]);
  const [, top] = extent([1, ...poles.map(({ imag }) => drawn(Math.abs(imag)))]);
  const wide = high - low || 1;
  const x = (real) => MARGIN + ((drawn(real) - low) / wide) * (WIDTH - 2 * MARGIN);
  const y = (imag) => HEIGHT / 2 - (drawn(imag) / top) * (HEIGHT / 2 - 24);
  const unstable = poles.filter(({ real, imag }) => real > 1e-7 * Math.hypot(real, imag) + 1e-3).length;
  const label = `${poles.length} poles in the complex plane, ${unstable} of them in the right half`;
  const made = svg("svg", { class: "pole-map", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  made.append(
    svg("line", { class: "rule", x1: MARGIN / 2, x2: WIDTH - MARGIN / 2, y1: y(0), y2: y(0) }),
    svg("line", { class: "rule", x1: x(0), x2: x(0), y1: 8, y2: HEIGHT - 8 }),
    svgText(WIDTH - 8, HEIGHT - 8, "real to the right [1/s]", "end"), svgText(x(0) - 5, 16, "imaginary [rad/s]", "end"));
  for (const { real, imag } of poles) {
    const cross = `M${x(real) - 4} ${y(imag) - 4}l8 8m0 -8l-8 8`;
    const kind = real > 1e-7 * Math.hypot(real, imag) + 1e-3 ? "pole unstable" : "pole";
    made.append(svg("path", { class: kind, d: cross }, svg("title", {}, `${shown(real)} ${imag < 0 ? "\u2212" : "+"} ${shown(Math.abs(imag))} i`)));
  }
  return make("figure", { class: "chart" }, make("h2", { class: "small" }, "Poles (square-root axes)"), made);
}

// --- a map of colours ---
// Of the colour bar in studio.css too.
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function colorOf(share) {
  const place = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const k = Math.min(Math.floor(place), STOPS.length - 2);
  return STOPS[k].map((value, c) => Math.round(value + (place - k) * (STOPS[k + 1][c] - value)));
}

// The frequency of a mode over two quantities: the first upwards, the second to the right.
// `take`, if any, gets the values of both where the map is clicked, by their names.
export function frequencyMap({ axes, frequency_hz: frequency }, mode, take) {
  const [[rowName, rows], [columnName, columns]] = Object.entries(axes);
  const values = frequency.map((line) => line.map((modes) => modes[mode]));
  const title = `Mode ${mode + 1}`;
  const [low, high] = extent(values.flat());
  const canvas = make("canvas", { width: columns.length, height: rows.length, class: "heat", role: "img",
    "aria-label": `${title} from ${shown(low)} to ${shown(high)} Hz over ${columnName} and ${rowName}` });
  const pen = canvas.getContext("2d");
  values.forEach((line, i) => line.forEach((value, j) => {
    pen.fillStyle = `rgb(${colorOf((value - low) / (high - low || 1)).join(",")})`;
    pen.fillRect(j, rows.length - 1 - i, 1, 1);
  }));
  const reading = make("output", {}, "point at the map to read it");
  const within = (share, count) => Math.min(Math.max(Math.floor(share * count), 0), count - 1);
  const placeOf = ({ offsetX, offsetY }) => [
    rows.length - 1 - within(offsetY / canvas.clientHeight, rows.length), within(offsetX / canvas.clientWidth, columns.length)];
  canvas.onpointermove = (event) => {
    const [i, j] = placeOf(event);
    reading.textContent = `${columnName} ${shown(columns[j])}, ${rowName} ${shown(rows[i])}: ${shown(values[i][j])} Hz`;
  };
  canvas.onclick = take && ((event) => {
    const [i, j] = placeOf(event);
    take({ [rowName]: rows[i], [columnName]: columns[j] });
  });
  const ends = (name, along) => `${name}: ${shown(along[0])} to ${shown(along.at(-1))}`;
  return make("figure", { class: "heat-map" }, make("h2", { class: "small" }, title),
    make("div", { class: "soft" }, `upwards ${ends(rowName, rows)}; to the right ${ends(columnName, columns)}`), canvas,
    make("div", { class: "row" }, make("span", { class: "numbers" }, shown(low)), make("span", { class: "scale", "aria-hidden": "true" }),
      make("span", { class: "numbers" }, `${shown(high)} Hz`)), reading);
}

// --- tables ---
export function table(caption, columns, rows) {
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell, k) => make(k ? "td" : "th", { class: "numbers", scope: k ? undefined : "row" }, cell))));
  return make("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    make("table", {}, make("caption", {}, caption), heading(...columns), make("tbody", {}, ...body)));
}

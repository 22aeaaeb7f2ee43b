// The page of one run: the robot on its stage, a chart, and what plays, turns and scales them.
import { frameBefore } from "./drawing/motion.js";
import { NO_WEBGL, RobotView, fit } from "./drawing/robot_view.js";
import { THEMES, seriesColor } from "./drawing/themes.js";
import { niceStep } from "./drawing/vectors.js";

const $ = (id) => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);
const TOGGLES = [
  ["ghost", "Rigid robot (ERLS)", true], ["trail", "Tip trail", true], ["frames", "Link frames", false],
  ["nodes", "Nodes", false], ["ground", "Ground grid", true], ["gravity", "Gravity", true],
];
const ui = { t: 0, scale: DATA.scale, playing: true, speed: 1, loop: true, theme: "light", chart: 0 };
TOGGLES.forEach(([key, , on]) => { ui[key] = on; });
const view = new RobotView($("stage"), $("view"), $("labels"), ui);
view.show(DATA);
const { motion } = view;
let dirty = true;
const redraw = () => { dirty = true; };

// --- chart ---
const chart = $("chart");
const chartPen = chart.getContext("2d");
const CHART_TIME = motion.array("chart_time");
const margin = { left: 46, right: 8, top: 8, bottom: 20 };
let legendValues = [];

function shownNumber(x, digits = 4) {
  const size = Math.abs(x);
  if (size === 0) return "0";
  return size >= 1e5 || size < 1e-3 ? x.toExponential(digits > 3 ? 2 : 0) : String(+x.toPrecision(digits));
}
function ticks(low, high, count) {
  const step = niceStep((high - low) / count);
  const found = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step) {
    found.push(Math.abs(x) < 1e-9 * step ? 0 : x);
  }
  return found;
}
function chartRange(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
  }
  if (!(high >= low)) return [-1, 1];
  const pad = 0.06 * (high - low) || 0.1 * Math.abs(high) || 1;
  return [low - pad, high + pad];
}
// Where times and values lie on the canvas.
function chartPlaces(values) {
  const quantity = DATA.charts[ui.chart];
  quantity.range ||= chartRange(values);
  const [low, high] = quantity.range;
  const right = chart.clientWidth - margin.right;
  const bottom = chart.clientHeight - margin.bottom;
  const x = (t) => margin.left + ((t - motion.start) / (motion.duration || 1)) * (right - margin.left);
  const y = (v) => bottom - ((v - low) / (high - low)) * (bottom - margin.top);
  return { x, y, low, high, right, bottom };
}
function drawRules({ x, y, low, high, right, bottom }, colors) {
  const p = chartPen;
  p.font = "10.5px system-ui, sans-serif";
  Object.assign(p, { fillStyle: colors.soft, strokeStyle: colors.grid, lineWidth: 1 });
  Object.assign(p, { textAlign: "right", textBaseline: "middle" });
  for (const v of ticks(low, high, 4)) {
    p.globalAlpha = 0.35;
    stroke([[margin.left, y(v)], [right, y(v)]]);
    p.globalAlpha = 1;
    p.fillText(shownNumber(v, 3), margin.left - 5, y(v));
  }
  Object.assign(p, { textAlign: "center", textBaseline: "top" });
  for (const t of ticks(motion.start, motion.end, 4)) {
    if (x(t) < right - 34) p.fillText(shownNumber(t, 3), x(t), bottom + 5);
  }
  p.textAlign = "right";
  p.fillText(shownNumber(motion.end, 3) + " s", right, bottom + 5);
}
function stroke(points) {
  chartPen.beginPath();
  points.forEach(([x, y], k) => (k ? chartPen.lineTo(x, y) : chartPen.moveTo(x, y)));
  chartPen.stroke();
}
function drawCurves(values, count, { x, y }) {
  Object.assign(chartPen, { lineWidth: 1.5, lineJoin: "round" });
  for (let s = 0; s < count; s++) {
    chartPen.strokeStyle = seriesColor(s);
    stroke(Array.from(CHART_TIME, (t, k) => [x(t), y(values[k * count + s])]));
  }
}
function drawCursor(values, count, { x, y, bottom }, colors, unit) {
  Object.assign(chartPen, { strokeStyle: colors.ink, lineWidth: 1 });
  stroke([[x(ui.t), margin.top], [x(ui.t), bottom]]);
  const k = frameBefore(CHART_TIME, ui.t);
  const next = Math.min(k + 1, CHART_TIME.length - 1);
  const h = CHART_TIME[next] - CHART_TIME[k];
  const part = h > 0 ? Math.min(Math.max((ui.t - CHART_TIME[k]) / h, 0), 1) : 0;
  for (let s = 0; s < count; s++) {
    const v = values[k * count + s] * (1 - part) + values[next * count + s] * part;
    chartPen.fillStyle = seriesColor(s);
    chartPen.beginPath();
    chartPen.arc(x(ui.t), y(v), 3, 0, 7);
    chartPen.fill();
    legendValues[s].textContent = shownNumber(v) + " " + unit;
  }
}
function drawChart() {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const colors = THEMES[ui.theme];
  const { series, unit } = DATA.charts[ui.chart];
  const values = motion.array("chart/" + ui.chart);
  fit(chart, ratio);
  chartPen.setTransform(ratio, 0, 0, ratio, 0, 0);
  chartPen.clearRect(0, 0, chart.clientWidth, chart.clientHeight);
  const places = chartPlaces(values);
  drawRules(places, colors);
  drawCurves(values, series.length, places);
  drawCursor(values, series.length, places, colors, unit);
}
function legendRow(name, s) {
  const row = document.createElement("div");
  const swatch = document.createElement("i");
  const label = document.createElement("span");
  swatch.style.background = seriesColor(s);
  label.textContent = name;
  row.append(swatch, label, document.createElement("output"));
  return row;
}
function buildLegend() {
  $("legend").replaceChildren(...DATA.charts[ui.chart].series.map(legendRow));
  legendValues = [...$("legend").querySelectorAll("output")];
}
function scrubChart(event) {
  const box = chart.getBoundingClientRect();
  const s = (event.clientX - box.left - margin.left) / (box.width - margin.left - margin.right);
  setTime(motion.start + Math.min(Math.max(s, 0), 1) * motion.duration);
}

// --- controls ---
const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const ICONS = { play: "M2 1l12 7-12 7z", pause: "M2 1h4v14H2zM10 1h4v14h-4z" };
const otherTheme = () => setTheme(ui.theme === "dark" ? "light" : "dark");

function setTime(t) {
  ui.t = Math.min(Math.max(t, motion.start), motion.end);
  redraw();
}
function setPlaying(on) {
  ui.playing = on && motion.duration > 0;
  if (ui.playing && ui.t >= motion.end) ui.t = motion.start;
  $("play").innerHTML = `<svg viewBox="0 0 16 16"><path d="${ICONS[ui.playing ? "pause" : "play"]}"/></svg>`;
  redraw();
}
function setScale(scale) {
  ui.scale = Math.min(Math.max(scale, 1), 100);
  const text = "\u00d7" + (ui.scale < 10 ? +ui.scale.toFixed(1) : Math.round(ui.scale));
  $("scale").value = Math.log10(ui.scale);
  $("factor").textContent = text;
  $("badge").textContent = ui.scale > 1 ? "deformation " + text : DATA.amplitude || "deformation true to scale";
  $("badge").classList.toggle("large", ui.scale > 1);
  redraw();
}
function setTheme(theme) {
  ui.theme = theme;
  document.documentElement.dataset.theme = theme;
  redraw();
}
function setLoop(on) {
  ui.loop = on;
  $("loop").setAttribute("aria-pressed", on);
}
function setChart(k) {
  ui.chart = Math.min(Math.max(k, 0), DATA.charts.length - 1);
  $("quantity").value = ui.chart;
  buildLegend();
  redraw();
}
function setSpeed(speed) {
  ui.speed = speed;
  $("speed").value = speed;
}
function setToggle(key, on) {
  ui[key] = on;
  $("show-" + key).checked = on;
  redraw();
}
const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });

function addToggle([key, text]) {
  const label = document.createElement("label");
  const box = Object.assign(document.createElement("input"), { type: "checkbox", id: "show-" + key });
  box.onchange = () => setToggle(key, box.checked);
  label.append(box, text);
  $("toggles").append(label);
  setToggle(key, ui[key]);
}
function addView(text, title, look) {
  const button = Object.assign(document.createElement("button"), { textContent: text, title });
  button.onclick = () => { look(); redraw(); };
  $("views").append(button);
}
function buildControls() {
  $("scrub").min = motion.start;
  $("scrub").max = motion.end;
  $("scrub").disabled = !(motion.duration > 0);
  SPEEDS.forEach((speed) => $("speed").append(option(speed, "\u00d7" + speed)));
  DATA.charts.forEach(({ label, unit }, k) => $("quantity").append(option(k, `${label} [${unit}]`)));
  TOGGLES.forEach(addToggle);
  addView("home", "home view", () => view.lookHome());
  addView("3-D", "3-D view", () => view.lookAlong(null));
  ["x", "y", "z"].forEach((axis, k) => {
    const direction = [0, 0, 0];
    direction[k] = 1;
    addView(axis, `look along ${axis}`, () => view.lookAlong(direction));
  });
  $("play").onclick = () => setPlaying(!ui.playing);
  $("scrub").oninput = () => setTime(+$("scrub").value);
  $("speed").onchange = () => setSpeed(+$("speed").value);
  $("loop").onclick = () => setLoop(!ui.loop);
  $("scale").oninput = () => setScale(Math.pow(10, +$("scale").value));
  $("theme").onclick = otherTheme;
  $("quantity").onchange = () => setChart(+$("quantity").value);
  chart.onpointerdown = (event) => { chart.setPointerCapture(event.pointerId); scrubChart(event); };
  chart.onpointermove = (event) => { if (event.buttons) scrubChart(event); };
}
function step(frames) {
  setPlaying(false);
  const last = motion.time.length - 1;
  const before = frameBefore(motion.time, ui.t + 1e-9 * motion.duration);
  const here = ui.t >= motion.end ? last : before;
  setTime(motion.time[Math.min(Math.max(here + frames, 0), last)]);
}
const KEYS = {
  " ": () => setPlaying(!ui.playing),
  ArrowRight: (event) => step(event.shiftKey ? 10 : 1),
  ArrowLeft: (event) => step(event.shiftKey ? -10 : -1),
  ArrowUp: () => setScale(ui.scale * 1.25),
  ArrowDown: () => setScale(ui.scale / 1.25),
  Home: () => setTime(motion.start),
  End: () => setTime(motion.end),
  l: () => setLoop(!ui.loop),
  r: () => view.lookHome(),
  t: otherTheme,
};
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act(event);
  redraw();
}

// --- the address may choose what is seen: #t=0.5&scale=10&paused&frames=1&theme=dark&azimuth=30&elevation=20 ---
function readAddress() {
  const wish = new URLSearchParams(location.hash.slice(1));
  const value = (key) => parseFloat(wish.get(key));
  const given = (key, act) => { if (Number.isFinite(value(key))) act(value(key)); };
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  setTheme(["light", "dark"].includes(wish.get("theme")) ? wish.get("theme") : system);
  TOGGLES.forEach(([key]) => { if (wish.has(key)) setToggle(key, wish.get(key) !== "0"); });
  given("scale", (scale) => { setScale(scale); view.lookHome(); });
  view.camera.moved = ["azimuth", "elevation", "zoom"].some((key) => wish.has(key));
  given("speed", setSpeed);
  given("chart", setChart);
  given("azimuth", (angle) => { view.camera.azimuth = (angle * Math.PI) / 180; });
  given("elevation", (angle) => { view.camera.elevation = (angle * Math.PI) / 180; });
  given("zoom", (factor) => { view.camera.distance /= factor; });
  if (wish.has("paused")) setPlaying(false);
  given("t", setTime);
}

function show() {
  dirty = false;
  view.draw(ui.t);
  drawChart();
  $("scrub").value = ui.t;
  $("clock").innerHTML = `${ui.t.toFixed(3)} <span>/ ${motion.end.toFixed(3)} s</span>`;
}
let lastClock = null;
function tick(clock) {
  const passed = lastClock === null ? 0 : Math.min((clock - lastClock) / 1000, 0.1);
  lastClock = clock;
  if (ui.playing) advance(passed * ui.speed);
  if (dirty) show();
  requestAnimationFrame(tick);
}
function advance(passed) {
  const t = ui.t + passed;
  if (t <= motion.end) return setTime(t);
  if (ui.loop) return setTime(motion.start + ((t - motion.start) % motion.duration));
  setPlaying(false);
  return setTime(motion.end);
}
function begin() {
  if (!view.works) {
    $("message").style.display = "grid";
    $("message").textContent = NO_WEBGL;
    return;
  }
  buildControls();
  setTime(motion.start);
  setSpeed(1);
  setLoop(true);
  setScale(ui.scale);
  setChart(0);
  setPlaying(true);
  readAddress();
  view.onChange = redraw;
  view.listen();
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => { readAddress(); redraw(); });
  requestAnimationFrame(tick);
}
begin();

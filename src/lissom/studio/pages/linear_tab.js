// Linear model: poles, Bode plot and step response between channels by name, and the model as a file.
import { Chart, Cursors } from "./charts.js";
import { button, labelled, make, shown } from "./dom.js";
import { poleMap, table } from "./pictures.js";
import { ask, ownOnes, parts, saveFile, VerbFields, withValues } from "./verb_form.js";

const TABLE_POLES = 24;
const FILES = [["linear model", "linearize", ".npz"], ["linear model", "linearize", ".mat"], ["bode", "frequency-response", ".csv"],
  ["bode", "frequency-response", ".svg"], ["step", "step-response", ".csv"], ["step", "step-response", ".svg"]];
// None: those that the verb takes by default.
const namesIn = ({ value }) => (value.trim() ? parts(value) : undefined);

export class LinearTab {
  constructor(screen) {
    this.screen = screen;
    this.inputs = make("input", { placeholder: "upper.torque, lower/tip.fx" });
    this.outputs = make("input", { placeholder: "upper.encoder, lower/tip.ay" });
    this.fields = new VerbFields("step-response", ownOnes, () => screen.showLines());
    this.poles = make("div", {});
    this.bode = make("div", {});
    this.step = make("div", {});
    const find = button("Linearize", () => this.ask(), { class: "main", id: "linearize" });
    this.element = make("div", {},
      make("div", { class: "fields" }, ...labelled("Inputs", this.inputs), ...labelled("Outputs", this.outputs), this.fields.element),
      make("div", { class: "row" }, find,
        ...FILES.map(([what, verb, ending]) => button(`${what} (${ending})`, () => this.save(verb, ending)))),
      make("div", { class: "two" }, this.poles, make("div", {}, this.bode, this.step)));
  }
  open() {
    return this.fields.open();
  }
  // Another robot has other channels.
  robot({ picture }) {
    this.inputs.value = this.outputs.value = "";
    // Where gravity pulls is where a robot swings most.
    const sizes = picture.gravity.map(Math.abs);
    const largest = Math.max(...sizes);
    const axis = largest > 0 ? "xyz"[sizes.indexOf(largest)] : "z";
    const tip = picture.nodes[picture.tip].replace(/\/\d+$/, "/tip");
    this.shaken = { input: `${tip}.f${axis}`, output: `${tip}.p${axis}` };
  }
  channels() {
    return { inputs: namesIn(this.inputs), outputs: namesIn(this.outputs) };
  }
  question(more = {}) {
    return withValues(this.screen.question(), { ...this.channels(), ...more });
  }
  clear() {
    for (const place of [this.poles, this.bode, this.step]) place.replaceChildren();
    this.screen.warning.textContent = "";
  }
  async ask() {
    await this.screen.computing(async () => {
      const linear = await ask("linearize", this.question());
      this.suggest(linear);
      this.showPoles(linear);
      const [bode, step] = await Promise.all([ask("frequency-response", this.question()), ask("step-response", this.stepQuestion())]);
      this.showBode(bode);
      this.showStep(step);
      this.screen.showLines();
    }, () => this.clear());
  }
  stepQuestion() {
    return this.question(this.fields.values());
  }
  // The calls that this tab stands for.
  calls() {
    const { inputs, outputs } = this.channels();
    const calls = [["linearize", this.question({ output: "model.npz" })]];
    if (inputs && outputs) calls.push(["frequency-response", this.question({ plot: "bode.png" })], ["step-response", withValues(this.stepQuestion(), { plot: "step.png" })]);
    return calls;
  }
  // All channels of a robot at once are too many curves: one torque and its encoder; the tip where joints are held.
  suggest({ inputs, outputs }) {
    if (!inputs.length && !this.inputs.value.trim()) {
      this.inputs.value = this.shaken.input;
      this.outputs.value ||= this.shaken.output;
    }
    if (!this.inputs.value.trim()) this.inputs.value = inputs[0] ?? "";
    if (!this.outputs.value.trim()) this.outputs.value = (outputs.find((name) => name.endsWith(".encoder")) ?? outputs[0]) || "";
  }
  showPoles(linear) {
    const { robot, model, eigenvalues, unstable, states, shapes } = linear;
    const rows = eigenvalues.filter(({ imag }) => imag >= 0).slice(0, TABLE_POLES).map(({ real, imag }) => {
      const size = Math.hypot(real, imag);
      return [shown(real), shown(imag), shown(size / (2 * Math.PI)), size ? shown((-100 * real) / size, 3) : "\u2013"];
    });
    const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
    const caption = `${robot}, ${model}: ${many(states.length, "state")}, ${many(shapes.B[1], "input")}, ${many(shapes.C[0], "output")}, ${many(unstable, "unstable pole")}; slowest first, one of each pair`;
    this.poles.replaceChildren(poleMap(eigenvalues), table(caption, ["real [1/s]", "imaginary [rad/s]", "frequency [Hz]", "damping [%]"], rows));
    this.screen.warn(linear);
  }
  showBode({ frequency_hz: frequency, responses }) {
    const cursors = new Cursors();
    const axis = "frequency [Hz]";
    const magnitude = new Chart("Magnitude", "SI units", cursors, { axis, logarithmic: ["x", "y"], height: 230 });
    const phase = new Chart("Phase", "deg", cursors, { axis, logarithmic: ["x"] });
    this.bode.replaceChildren(make("h2", {}, "Bode plot"), magnitude.element, phase.element, peaks(responses));
    const curves = (key) => responses.map((one) => ({ name: `${one.input} \u2192 ${one.output}`, values: one[key].map((v) => (key === "magnitude" && !(v > 0) ? null : v)) }));
    cursors.t = frequency[0];
    magnitude.show(frequency, curves("magnitude"));
    phase.show(frequency, curves("phase_deg"));
  }
  showStep({ t, responses }) {
    const chart = new Chart("Step response", "SI units", new Cursors(), { height: 210 });
    this.step.replaceChildren(make("h2", {}, "Step response"), chart.element);
    chart.show(t, responses.map(({ input, output, response }) => ({ name: `${input} \u2192 ${output}`, values: response })));
  }
  save(verb, ending) {
    const question = verb === "step-response" ? this.stepQuestion() : this.question();
    return this.screen.computing(() => saveFile(verb, question, ending));
  }
}

function peaks(responses) {
  const text = responses.filter((one) => one.peaks.length).map((one) =>
    `${one.input} \u2192 ${one.output}: ${one.peaks.slice(0, 4).map((peak) => shown(peak.frequency_hz)).join(", ")} Hz`);
  return make("p", { class: "soft" }, text.length ? `Peaks, highest first. ${text.join("; ")}` : "");
}

// Sweeps: an analysis over many values of chosen keys, resumed where it stopped; worst cases and pictures.
import { parseDocument } from "/assets/vendor/yaml.js";
import { SWEEP_STUDY } from "./address.js";
import { button, choice, labelled, make, setOptions, shown } from "./dom.js";
import { JobTab } from "./job_panel.js";
import { table } from "./pictures.js";
import { get } from "./server.js";
import { named, parts, VerbFields } from "./verb_form.js";

const ANALYSES = [["static", "equilibrium"], ["modes", "modes"], ["linearize", "linear model"], ["simulate", "simulation"]];
const FIRST = "simulate";
const METRICS = { static: "sag, torque_peak", modes: "first_frequency", linearize: "least_damping_ratio", simulate: "tip_deflection, torque_peak" };

export class SweepTab extends JobTab {
  constructor(screen) {
    super(screen, "sweep", { plot: "sweep.png" });
    this.study = choice([], "", () => this.changed());
    this.analysis = choice(ANALYSES, FIRST, () => { this.metrics.value = METRICS[this.analysis.value]; this.changed(); });
    this.over = make("textarea", { placeholder: "payload.mass: 0:500:6 g\nupper: 0:90:4 deg", value: "payload.mass: 0:500:6 g" });
    this.metrics = make("input", { value: METRICS[FIRST] });
    this.sampling = new VerbFields("sweep", named("sampling", "samples", "seed"), () => screen.showLines());
    const fields = make("div", { class: "fields" }, ...labelled("Analysis", this.analysis), ...labelled("Over (a key on each line)", this.over), ...labelled("Metrics", this.metrics));
    this.form = make("div", {}, fields, this.sampling.element);
    this.over.onchange = this.metrics.onchange = () => this.changed();
    this.result = make("div", {});
    const start = button("Sweep", () => this.start(), { class: "main", id: "start-sweep" });
    this.element = make("div", {}, make("div", { class: "row" }, ...labelled("Study", this.study)), this.form, make("div", { class: "row" }, start), this.progress, this.result);
  }
  async open({ study }) {
    super.open();
    const [{ files }] = await Promise.all([get("files"), this.sampling.open()]);
    const own = files.filter(({ kind }) => kind === SWEEP_STUDY).map(({ name }) => name);
    const chosen = study ?? this.study.value;
    setOptions(this.study, [["", "as below, of the robot above"], ...own]);
    this.study.value = own.includes(chosen) ? chosen : "";
    this.changed();
  }
  changed() {
    this.form.hidden = this.study.value !== "";
    this.screen.showLines();
  }
  question() {
    if (this.study.value) return { source: this.study.value };
    const { source, changes, values: { q } } = this.screen.question();
    if (q) changes["initial.q"] = q;
    const metrics = parts(this.metrics.value);
    const over = parseDocument(this.over.value).toJSON() ?? {};
    return { source, changes, values: { analysis: this.analysis.value, over, metrics, ...this.sampling.values() } };
  }
  calls() {
    // The store of a study in a file lies beside it.
    this.files.store = this.study.value ? undefined : "study.sweep";
    return super.calls();
  }
  async show(found, job) {
    const done = `${found.done} of ${found.runs} runs done${found.failed ? `, ${found.failed} failed` : ""}, ${shown(found.compute_seconds, 3)} s of computing; ${found.robot}, ${found.model}`;
    const worst = found.worst.map((one) => [one.metric, `${shown(one.value)} ${one.unit}`, String(one.run), Object.entries(one.values).map(([key, value]) => `${key} = ${typeof value === "number" ? shown(value) : value}`).join(", ")]);
    const failures = found.failures.map(({ run, reason }) => make("li", {}, `run ${run}: ${reason}`));
    const notes = found.notes.map((line) => make("li", {}, line));
    this.result.replaceChildren(make("p", {}, done), table("Worst cases", ["metric", "worst", "run", "values"], worst), make("ul", { class: "soft" }, ...notes, ...failures));
    if (found.files.plot) await this.addPicture(job, `Metrics of ${found.runs} runs of ${job.title}`);
  }
}

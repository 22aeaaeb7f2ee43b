// Run: what is simulated and how; the queue of runs with their progress.
import { parseDocument } from "/assets/vendor/yaml.js";
import { go, sourceName } from "./address.js";
import { button, choice, labelled, make, notice, shown } from "./dom.js";
import { equivalents, runLines } from "./equivalents.js";
import { live } from "./live.js";
import { get, post, remove } from "./server.js";

const AS_WRITTEN = "as the file has it";
const options = (words) => [["", AS_WRITTEN], ...words.map((word) => [word, word])];
// A list or a number as it would stand in a file: `[0, 30 deg]`, `1e-8`.
const value = (text) => parseDocument(text).toJSON();
const list = (text) => value(`[${text}]`);

export class RunScreen {
  constructor(app) {
    this.app = app;
    this.fields = {};
    this.jobs = make("ul", { class: "jobs", "aria-label": "Runs" });
    this.message = make("div", { class: "message", role: "alert" });
    this.torques = make("div", {});
    this.same = make("div", {});
    this.form = make("form", { class: "panel", "aria-label": "Scenario" });
    this.form.onsubmit = (event) => { event.preventDefault(); this.start(); };
    this.form.onchange = () => this.showLines();
    this.element = make("section", { class: "screen run", "aria-labelledby": "run-title" },
      make("div", {}, make("h1", { id: "run-title" }, "Run"), this.form, this.same),
      make("div", { class: "panel" }, make("h2", {}, "Runs"), this.jobs));
  }

  async open({ source, zeroed }) {
    const [library, listing] = await Promise.all([this.app.library(), get("files")]);
    if (!this.built) this.build(library);
    this.built = true;
    this.showSources(library, listing.files, source);
    if (zeroed) this.fields.reference.value = zeroed.replaceAll(",", ", ");
    this.forget ||= live.onJobs((jobs) => this.showJobs(jobs));
    this.showLines();
  }
  close() {
    this.forget?.();
    this.forget = null;
  }

  // --- form ---
  build({ choices }) {
    const field = (name, input) => { this.fields[name] = input; return input; };
    const text = (name, placeholder) => field(name, make("input", { placeholder }));
    const pick = (name, words) => field(name, choice(options(words), "", () => {}));
    this.sources = make("select", {});
    this.sources.onchange = () => go({ screen: "run", source: this.sources.value });
    const start = make("button", { type: "submit", class: "main", id: "start-run" }, "Run");
    this.form.append(
      make("div", { class: "fields" },
        ...labelled("Robot or scenario", this.sources),
        ...labelled("Duration [s]", text("t_end", AS_WRITTEN)),
        ...labelled("Starts at q", text("initial.q", "0, 30 deg, -60 deg")),
        ...labelled("Starts with links", pick("initial.elastic", choices.starts)),
        ...labelled("Formulation", pick("formulation", choices.formulations)),
        ...labelled("ERLS", text("reference", "tangent, minimum-norm, or displacements set to zero: column/tip.rz, upper/0.rz")),
        ...labelled("Solver", pick("solver.method", choices.methods)),
        ...labelled("Relative tolerance", text("solver.rtol", "1e-6")),
        ...labelled("Sampling of results [s]", text("output_dt", "0.001")),
        ...labelled("Other values", field("other", make("textarea", { placeholder: "payload.mass: 0.3\nlinks.upper.beam.material.E: 9e9" })))),
      make("h2", { class: "small" }, "Torques on joints"), this.torques,
      make("div", { class: "row" }, button("Add a torque", () => this.addTorque()), start),
      this.message);
  }
  addTorque() {
    const joint = make("input", { "aria-label": "Joint of the torque", placeholder: "joint" });
    const times = make("input", { "aria-label": "Times in s", placeholder: "t: 0, 0.2, 0.2" });
    const values = make("input", { "aria-label": "Torques in N m", placeholder: "N m: 1, 1, 0" });
    const row = make("div", { class: "row torque" }, joint, times, values);
    row.append(button("\u00d7", () => { row.remove(); this.showLines(); }));
    row.lastChild.setAttribute("aria-label", "Remove this torque");
    row.entries = () => [joint.value.trim(), list(times.value), list(values.value)];
    this.torques.append(row);
    joint.focus();
  }
  showSources(library, files, source) {
    const group = (label, entries) => {
      const made = make("optgroup", { label });
      made.append(...entries.map(([key, text]) => make("option", { value: key }, text)));
      return made;
    };
    const own = files.filter(({ kind }) => kind === "description").map(({ name }) => [name, name]);
    const scenarios = library.scenarios.map(({ name }) => [`scenario:${name}`, name]);
    const robots = library.robots.map(({ name }) => [`library:${name}`, `${name} (falls from rest)`]);
    const groups = [["Files", own], ["Scenarios of the library", scenarios], ["Robots of the library", robots]];
    this.sources.replaceChildren(...groups.filter(([, entries]) => entries.length).map(([label, entries]) => group(label, entries)));
    if (source) this.sources.value = source;
    this.source = this.sources.value;
  }

  // Dotted paths of what differs from the file.
  changes() {
    const changes = {};
    for (const [path, input] of Object.entries(this.fields)) {
      const text = input.value.trim();
      if (text === "" || path === "other") continue;
      changes[path] = path === "initial.q" ? list(text) : path === "reference" ? reference(text) : value(text);
    }
    for (const row of this.torques.children) {
      const [joint, t, values] = row.entries();
      if (joint) changes[`inputs.torque.${joint}`] = { t, value: values, interpolation: "linear" };
    }
    return { ...changes, ...(value(this.fields.other.value) ?? {}) };
  }
  showLines() {
    if (this.source) this.same.replaceChildren(equivalents(runLines(this.source, this.changes()), this.app.folder));
  }
  async start() {
    this.message.textContent = "";
    try {
      await post("jobs", { source: this.source, changes: this.changes() });
    } catch (failure) {
      this.message.textContent = failure.message;
    }
  }

  // --- queue ---
  showJobs(jobs) {
    if (!jobs.length) {
      this.jobs.replaceChildren(make("li", { class: "soft" }, "None yet."));
      return;
    }
    const kept = new Map([...this.jobs.children].map((row) => [row.dataset?.job, row]));
    const rows = jobs.map((job) => this.jobRow(job, kept.get(String(job.number))));
    this.jobs.replaceChildren(...rows);
  }
  // A row is made anew only when something of it changed: a button under the mouse stays where it is.
  jobRow(job, old) {
    const key = JSON.stringify(job);
    if (old?.key === key) return old;
    if (old && job.state === "running" && old.state === "running" && old.stopping === job.stopping) {
      this.showProgress(old, job);
      return Object.assign(old, { key });
    }
    const row = make("li", { class: "job" });
    Object.assign(row, { key, state: job.state, stopping: job.stopping });
    row.dataset.job = job.number;
    row.append(make("div", { class: "row" },
      make("span", { class: "state" }, `${job.number}. ${sourceName(job.source)}: ${job.stopping ? "stopping" : job.state}`),
      (row.left = make("span", { class: "soft numbers" })), ...this.jobButtons(job)));
    if (job.state === "running") row.append((row.bar = make("progress", { max: 1, "aria-label": `Progress of run ${job.number}` })));
    if (job.error && job.error.kind !== "interrupted") row.append(make("div", { class: "message" }, job.error.message));
    this.showProgress(row, job);
    return row;
  }
  jobButtons(job) {
    const cancel = () => remove(`jobs/${job.number}`).catch((failure) => notice(failure.message));
    const buttons = [];
    if (["queued", "running"].includes(job.state) && !job.stopping) buttons.push(button("Cancel", cancel));
    if (job.has_result) buttons.push(button("Show", () => go({ screen: "results", file: job.file }), "main"));
    for (const act of buttons) act.setAttribute("aria-label", `${act.textContent} run ${job.number}`);
    return buttons;
  }
  showProgress(row, job) {
    row.left.textContent = progressText(job);
    if (!row.bar) return;
    // Without a value the bar says that something goes on, and not how far it is.
    if (job.t_end) row.bar.value = job.t / job.t_end;
    else row.bar.removeAttribute("value");
  }
}

function reference(text) {
  if (text === "tangent" || text === "minimum-norm") return text;
  return { zeroed: text.split(",").map((name) => name.trim()).filter(Boolean) };
}

function progressText(job) {
  if (job.state === "running" && !job.moving) return "building and compiling";
  if (job.state === "running") {
    const spent = Date.now() / 1000 - job.moving;
    const left = job.t > 0 ? (spent * (job.t_end - job.t)) / job.t : null;
    return `${shown(job.t, 3)} of ${shown(job.t_end, 3)} s` + (left === null ? "" : `, about ${Math.ceil(left)} s left`);
  }
  if (job.result) {
    const { build, compile, run } = job.result.wall_s;
    return `${shown(job.result.t_end, 3)} s simulated in ${shown(build + compile + run, 3)} s`;
  }
  if (job.has_result) return `kept up to ${shown(job.error.partial.t_end, 3)} s`;
  return "";
}

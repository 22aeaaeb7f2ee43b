// Run: what is simulated and how; the queue of runs with their progress.
import { parseDocument } from "/assets/vendor/yaml.js";
import { go, isStudy } from "./address.js";
import { choice, labelled, make, setGroups } from "./dom.js";
import { Equivalents } from "./equivalents.js";
import { markFields } from "./form_fields.js";
import * as live from "./live.js";
import { ControllerForm } from "./run_controller.js";
import { RunInputs } from "./run_inputs.js";
import { JobList } from "./run_jobs.js";
import { get, getOnce } from "./server.js";
import { ask, parts } from "./verb_form.js";

const AS_WRITTEN = "as in the file";
const options = (words) => [["", AS_WRITTEN], ...words];
// A list or a number as it would stand in a file: `[0, 30 deg]`, `1e-8`.
const value = (text) => parseDocument(text).toJSON();
const list = (text) => value(/^\s*\[/.test(text) ? text : `[${text}]`);
const NO_FACTS = { joints: [], nodes: [], inputs: { torque: {}, motion: {}, wrench: [] } };
const LISTS = ["initial.q", "initial.qd"];

export class RunScreen {
  constructor() {
    this.fields = {};
    this.jobs = new JobList();
    this.message = make("div", { class: "message", role: "alert" });
    this.same = new Equivalents();
    this.inputs = new RunInputs(() => this.showLines());
    this.form = make("form", { class: "panel", "aria-label": "Scenario" });
    this.form.onsubmit = (event) => { event.preventDefault(); this.start(); };
    this.form.onchange = () => this.showLines();
    this.element = make("section", { class: "screen run", "aria-labelledby": "run-title" },
      make("div", {}, make("h1", { id: "run-title" }, "Run"), this.form, this.same.element),
      make("div", { class: "panel queue" }, make("h2", {}, "Runs"), this.jobs.element));
  }

  async open({ source, zeroed }) {
    const [library, listing] = await Promise.all([getOnce("library"), get("files")]);
    if (!this.built) this.build(library);
    this.built = true;
    this.showSources(library, listing.files, source);
    if (zeroed) this.fields.reference.value = zeroed.replaceAll(",", ", ");
    this.forget ||= live.onJobs((jobs) => this.jobs.show(jobs));
    this.showLines();
    this.showFacts();
  }
  close() {
    this.forget?.();
    this.forget = null;
  }

  // --- form ---
  build({ choices }) {
    const field = (name, input) => { this.fields[name] = input; return input; };
    const text = (name, placeholder = "") => field(name, make("input", { placeholder }));
    const pick = (name, words) => field(name, choice(options(words), ""));
    this.sources = choice([], "", (source) => go({ screen: "run", source }));
    this.controller = new ControllerForm(choices.forms.controller, () => this.showLines());
    const start = make("button", { type: "submit", class: "main", id: "start-run" }, "Run");
    const group = (title, isOpen, ...inside) => make("details", { open: isOpen }, make("summary", {}, title), ...inside);
    const fields = (...rows) => make("div", { class: "fields" }, ...rows.flatMap(([label, input]) => [labelled(label, input)[0], make("span", { class: "field" }, input)]));
    this.form.append(
      fields(["Robot or scenario", this.sources], ["Duration [s]", text("t_end", AS_WRITTEN)]),
      make("div", { class: "row" }, start, (this.note = make("span", { class: "soft", role: "status" }))), this.message,
      group("Start", true, fields(["Starts at q", text("initial.q", "0, 30 deg, -60 deg")], ["Starts with speed qd", text("initial.qd", "0")], ["Starts with links", pick("initial.elastic", choices.starts)])),
      group("Inputs: torques, motions, forces", true, this.inputs.element),
      group("Controller", false, fields(["Controller", this.controller.type]), this.controller.element),
      group("Formulation", true, fields(["Formulation", pick("formulation", choices.formulations)],
        ["ERLS", text("reference", "tangent, minimum-norm, or zeroed: column/tip.rz, upper/0.rz")], ["Modes of each link", text("modes")],
        ["Basis", pick("basis", choices.bases)], ["Stiffening", pick("stiffening", choices.stiffenings)], ["Terms", pick("terms", choices.terms)])),
      group("Solver and output", true, fields(["Solver", pick("solver.method", choices.methods)], ["Relative tolerance", text("solver.rtol")], ["Absolute tolerance", text("solver.atol")],
        ["Longest step [s]", text("solver.max_step")], ["Sampling of results [s]", text("output_dt")],
        ["Other values", field("other", make("textarea", { placeholder: "payload.mass: 0.3\nlinks.upper.beam.material.E: 9e9" }))])));
    for (const [name, input] of Object.entries(this.fields)) Object.assign(input.dataset, { field: name, hint: input.placeholder ?? "" });
  }
  showSources(library, files, source) {
    const own = files.filter((file) => file.kind !== "result" && !isStudy(file)).map(({ name }) => name);
    const scenarios = library.scenarios.map(({ name }) => [`scenario:${name}`, name]);
    const robots = library.robots.map(({ name }) => [`library:${name}`, `${name} (falls from rest)`]);
    setGroups(this.sources, [["Files", own], ["Scenarios of the library", scenarios], ["Robots of the library", robots]]);
    if (source) this.sources.value = source;
    this.source = this.sources.value;
  }
  // Empty fields show what is in the file.
  async showFacts() {
    const source = this.source;
    if (!source || source === this.factsOf) return;
    this.factsOf = source;
    this.showFailure(null);
    try {
      const facts = await get("scenario", { name: source });
      if (source === this.source) this.showFactsOf(facts);
    } catch (failure) {
      if (source !== this.source) return;
      this.showFactsOf(NO_FACTS);
      this.showFailure(failure);
    }
  }
  showFactsOf(facts) {
    this.note.textContent = facts.from_rest ? "A robot without a scenario: it falls from rest." : "";
    for (const [name, input] of Object.entries(this.fields)) {
      const written = name.split(".").reduce((part, key) => part?.[key], facts) ?? "";
      const isList = typeof written === "object";
      const words = LISTS.includes(name) && isList ? written.join(", ") : isList ? JSON.stringify(written) : written;
      if (input.tagName === "INPUT") input.placeholder = words === "" ? input.dataset.hint : words;
      if (input.tagName === "SELECT") input.options[0].textContent = words === "" ? AS_WRITTEN : `${AS_WRITTEN}: ${isList ? "as listed" : words}`;
    }
    this.inputs.open(facts);
    this.controller.open(facts);
  }

  // Dotted paths of what differs from the file.
  changes() {
    const changes = {};
    for (const [path, input] of Object.entries(this.fields)) {
      const text = input.value.trim();
      if (text === "" || path === "other") continue;
      changes[path] = LISTS.includes(path) ? list(text) : path === "reference" ? reference(text) : value(text);
    }
    return { ...changes, ...this.inputs.changes(), ...this.controller.changes(), ...(value(this.fields.other.value) ?? {}) };
  }
  showLines() {
    if (this.source) this.same.show([["simulate", { source: this.source, changes: this.changes(), values: { output: "run.nc" } }]]);
  }
  async start() {
    this.showFailure(null);
    try {
      await ask("simulate", { source: this.source, changes: this.changes() });
    } catch (failure) {
      this.showFailure(failure);
    }
  }
  showFailure(failure) {
    const errors = failure?.error?.errors ?? [];
    this.message.textContent = failure?.message ?? "";
    markFields(this.form, errors);
    // Sections with an error are opened.
    for (const input of this.form.querySelectorAll("[aria-invalid=true]")) {
      for (let fold = input.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    }
  }
}

function reference(text) {
  if (text === "tangent" || text === "minimum-norm") return text;
  return { zeroed: parts(text.replace(/[[\]]/g, "")) };
}

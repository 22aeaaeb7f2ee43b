// Analyse: modes, maps of modes, linear models, controllers and sweeps of one robot about one pose.
import { go, isLibrary, isStudy, noteInAddress, sourceName } from "./address.js";
import { ControlTab } from "./control_tab.js";
import { choice, make, pair, reporting, setGroups, setOptions } from "./dom.js";
import { Equivalents } from "./equivalents.js";
import { LinearTab } from "./linear_tab.js";
import { MapTab } from "./map_tab.js";
import { ModesTab } from "./modes_tab.js";
import { get, getOnce, post } from "./server.js";
import { SweepTab } from "./sweep_tab.js";
import { Tabs } from "./tabs.js";
import { ofPoint, VerbFields } from "./verb_form.js";

export class AnalyseScreen {
  constructor() {
    this.sources = choice([], "", (source) => go({ screen: "analyse", source, tab: this.tabs.current }));
    this.point = new VerbFields("linearize", ofPoint, () => { noteInAddress({ q: this.q.value.replaceAll(" ", "") }); this.showLines(); });
    this.formulation = choice([], "", (name) => { noteInAddress({ formulation: name }); this.showLines(); });
    this.message = make("div", { class: "message", role: "alert" });
    this.warning = make("div", { class: "warning" });
    this.waiting = make("span", { class: "soft", role: "status" });
    this.same = new Equivalents();
    this.parts = { modes: new ModesTab(this), map: new MapTab(this), linear: new LinearTab(this), control: new ControlTab(this), sweep: new SweepTab(this) };
    const titles = { modes: "Modes", map: "Mode map", linear: "Linear model", control: "Controllers", sweep: "Sweeps" };
    this.tabs = new Tabs("Analyses", Object.entries(titles).map(([key, text]) => [key, text, this.parts[key].element]), (key) => this.showTab(key));
    this.element = make("section", { class: "screen analyse", "aria-labelledby": "analyse-title" },
      make("h1", { id: "analyse-title" }, "Analyse"),
      make("div", { class: "row panel" }, pair("Robot", this.sources), pair("Formulation", this.formulation), this.point.element, this.waiting),
      this.message, this.warning, this.tabs.element, this.same.element);
  }

  get q() {
    return this.point.fields.q.input;
  }

  // Every request waits until the robot of the address is known.
  open(state) {
    this.ready = this.prepare(state);
    return this.ready;
  }
  async prepare(state) {
    const [library, { files }] = await Promise.all([getOnce("library"), get("files"), this.point.open()]);
    this.showSources(library, files, state.source);
    setOptions(this.formulation, [["", "as in the file"], ...library.choices.formulations]);
    this.formulation.value = state.formulation ?? "";
    if (state.q !== undefined) this.q.value = state.q.split(",").join(", ");
    const tab = state.tab in this.parts ? state.tab : "modes";
    this.tabs.show(tab);
    const isNew = this.source !== this.known;
    this.known = this.source;
    if (isNew && state.q === undefined) this.q.value = "";
    this.showLines();
    const part = this.parts[tab];
    Object.values(this.parts).forEach((other) => { if (other !== part) other.close?.(); });
    await part.open(state);
    if (isNew) this.meeting = this.meet();
    await this.meeting;
  }
  close() {
    Object.values(this.parts).forEach((part) => part.close?.());
  }
  showTab(key) {
    const { source } = this;
    go({ screen: "analyse", source, q: this.q.value.replaceAll(" ", ""), formulation: this.formulation.value, tab: key });
  }
  showSources(library, files, source) {
    const own = files.filter((file) => !isStudy(file)).map(({ name, kind }) => [name, kind === "result" ? `${name} (result)` : name]);
    const robots = library.robots.map(({ name }) => [`library:${name}`, name]);
    // Where a robot and a scenario have one name, an analysis is one of the robot, as on the command line.
    const taken = new Set(library.robots.map(({ name }) => name));
    const scenarios = library.scenarios.filter(({ name }) => !taken.has(name)).map(({ name }) => [`scenario:${name}`, name]);
    setGroups(this.sources, [["Files", own], ["Robots of the library", robots], ["Scenarios of the library", scenarios]]);
    if (source) this.sources.value = taken.has(sourceName(source)) && isLibrary(source) ? `library:${sourceName(source)}` : source;
    this.source = this.sources.value;
  }
  // The joints of another robot, by their names.
  meet() {
    this.message.textContent = this.warning.textContent = "";
    const { modes, map, linear } = this.parts;
    [modes, map, linear].forEach((part) => part.clear());
    return reporting(this.message, async () => {
      const pose = await post("pose", { source: this.source, sag: false });
      Object.values(this.parts).forEach((part) => part.robot?.(pose));
      this.q.placeholder = pose.joints.map(({ name }) => name).join(", ");
      this.showLines();
    });
  }

  question() {
    const changes = this.formulation.value ? { formulation: this.formulation.value } : {};
    return { source: this.source, changes, values: this.point.values() };
  }
  // Shows that the page waits, and what goes wrong: then `clear` takes away the answer before.
  async computing(act, clear) {
    this.waiting.textContent = "computing\u2026";
    await this.ready;
    this.message.textContent = "";
    await reporting(this.message, act, clear);
    this.waiting.textContent = "";
  }
  warn({ warnings, weight_note: note }) {
    this.warning.textContent = [...warnings, note].filter(Boolean).join("\n");
  }
  showLines() {
    if (this.source && this.tabs.current) this.same.show(this.parts[this.tabs.current].calls());
  }
}

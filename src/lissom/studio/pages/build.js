// Build: form and text side by side, each follows the other; the robot changes as you type.
import { go, isLibrary, noteInAddress, sourceName } from "./address.js";
import { actOn, button, debounced, make, notice } from "./dom.js";
import { Editor } from "./editor.js";
import { ErlsChoice } from "./erls.js";
import { Equivalents } from "./equivalents.js";
import { RobotForm } from "./form.js";
import * as live from "./live.js";
import { get, getOnce, post, put, remove } from "./server.js";
import { Stage } from "./stage.js";
import { ask } from "./verb_form.js";

const TYPING_MS = 350;

export class BuildScreen {
  constructor() {
    this.stage = new Stage("The robot as it is described", "The picture follows once the description is valid.");
    this.problems = make("ul", { class: "problems", "aria-live": "polite" });
    this.warning = make("div", { class: "warning", "aria-live": "polite" });
    this.formPlace = make("div", { class: "form" }, this.problems, this.warning);
    this.same = new Equivalents();
    this.erls = new ErlsChoice(() => this.draw());
    this.stage.onNode = (name) => this.erls.point(name);
    const editorPlace = make("div", { class: "editor" });
    this.element = make("section", { class: "screen full build", "aria-labelledby": "build-title" },
      this.bar(), this.formPlace, editorPlace, make("div", { class: "below" }, this.stage.element));
    this.editor = new Editor(editorPlace, "Description as YAML", (text) => this.changed(text));
    this.check = debounced(() => this.checkNow(), TYPING_MS);
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    // Nothing is lost when the tab closes in the middle of a word.
    addEventListener("pagehide", () => this.storeNow());
  }
  bar() {
    this.nameInput = make("input", { "aria-label": "File name", size: 26, onchange: () => this.rename(this.nameInput.value.trim()) });
    this.state = make("span", { class: "soft", role: "status" });
    // Until a file is open there is nothing to save.
    this.saveButton = button("Save", () => this.save(), { class: "main", disabled: true });
    this.runButton = button("Save and run", () => this.saveAndRun(), { disabled: true });
    return make("div", { class: "bar row" },
      make("h1", { id: "build-title" }, "Build"), this.nameInput, this.saveButton, this.runButton,
      button("Undo", () => this.editor.undo()), button("Redo", () => this.editor.redo()),
      button("Look", () => go({ screen: "look", source: this.name })),
      button("Discard changes", () => this.discard()), this.state);
  }

  async open({ source, fresh }) {
    if (!this.form) await this.prepareForm();
    if (!source || source === this.opened) return;
    const ending = source.startsWith("scenario:") ? ".scenario.yaml" : ".yaml";
    const proposed = isLibrary(source) ? sourceName(source) + ending : source;
    const found = await get("text", { name: source }).catch(async (failure) => {
      // A new file that was typed into before and never saved is a draft.
      if (!fresh) throw failure;
      return { text: await (await fetch("/assets/new_robot.yaml")).text() };
    });
    // A file that could not be read may be opened again.
    this.opened = source;
    this.fresh = true;
    const ownFile = !isLibrary(source) && !fresh;
    this.name = proposed;
    this.fingerprint = ownFile ? found.fingerprint : null;
    this.savedText = ownFile ? found.text : null;
    this.nameInput.value = proposed;
    this.stage.clear();
    this.warning.textContent = "";
    this.erls.picked = [];
    this.editor.open(found.draft ?? found.text);
    if (found.draft && found.draft !== found.text) notice("Changes that were not saved have been brought back.");
    this.changed(this.editor.text);
    this.same.show([["validate", { source: this.name }]]);
  }
  async prepareForm() {
    const { materials, choices } = await getOnce("library");
    this.form = new RobotForm(choices.forms.robot, (edit) => this.editor.apply(edit), (link, by) => this.rewriteJoint(link, by), materials);
    this.formPlace.append(this.form.element, this.erls.element, this.same.element);
  }

  // The server reads the draft.
  async rewriteJoint(link, by) {
    const { errors } = await put("draft", { name: this.name, text: this.editor.text });
    if (errors.length) throw new Error(`Correct this first: ${errors[0].field}: ${errors[0].message}`);
    return (await post("joint", { name: this.name, link, by })).edits;
  }

  // --- typing ---
  changed(text) {
    this.isUnstored = true;
    this.form?.show(text);
    this.showState();
    this.check();
  }
  showState() {
    const isSaved = this.editor.text === this.savedText;
    this.saveButton.disabled = isSaved;
    this.runButton.disabled = false;
    this.state.textContent = isSaved ? "saved" : "not saved (stored as a draft)";
  }
  async checkNow() {
    const text = this.editor.text;
    try {
      this.isUnstored = false;
      const found = await put("draft", { name: this.name, text });
      if (text !== this.editor.text) return;
      this.showProblems(found.errors);
      if (found.valid) await this.draw();
    } catch (failure) {
      this.showFailure(failure);
    }
  }
  storeNow() {
    if (this.isUnstored && this.name) put("draft", { name: this.name, text: this.editor.text }, { keepalive: true }).catch(() => {});
  }
  showFailure({ error, message }) {
    this.showProblems(error?.errors ?? [{ line: null, field: "", message }]);
  }
  showProblems(errors) {
    if (errors.length) {
      this.warning.textContent = "";
      this.stage.markStale("the last description without an error");
    }
    this.editor.mark(errors);
    this.form.mark(errors);
    const rows = errors.map(({ line, field, value, message }) => {
      const isPlain = ["string", "number", "boolean"].includes(typeof value);
      const parts = [line && `line ${line}`, field, isPlain && String(value), message];
      const text = parts.filter(Boolean).join(": ");
      return make("li", {}, button(text, () => { this.form.goTo(field); if (line) this.editor.goToLine(line); }));
    });
    this.problems.replaceChildren(...rows);
  }
  async draw() {
    this.stage.waiting.hidden = false;
    try {
      const pose = await live.pose({ source: this.name, draft: true, changes: this.erls.changes() });
      this.stage.show(pose.picture, { keepCamera: !this.fresh, dhFrames: pose.dh_frames });
      this.warning.textContent = pose.start_warnings.join("\n");
      this.erls.warn("");
      this.erls.open(pose, this.erls.picked);
      if (this.stage.view.works) this.stage.view.notes.marks = this.erls.marks();
      this.fresh = false;
    } catch (failure) {
      this.erls.warn(failure.message);
      this.showFailure(failure);
    }
    this.stage.waiting.hidden = true;
  }

  // --- files ---
  rename(name) {
    if (!name || name === this.name) return;
    this.name = /\.ya?ml$/.test(name) ? name : `${name}.yaml`;
    this.nameInput.value = this.name;
    this.fingerprint = null;
    this.savedText = null;
    this.showState();
    this.check();
  }
  async save() {
    const text = this.editor.text;
    try {
      const saved = await put("text", { name: this.name, text, fingerprint: this.fingerprint });
      this.fingerprint = saved.fingerprint;
      this.savedText = text;
      this.opened = this.name;
      noteInAddress({ source: this.name, fresh: "" });
      this.showState();
      return true;
    } catch (failure) {
      notice(failure.message);
      return false;
    }
  }
  async saveAndRun() {
    const isSaved = this.editor.text === this.savedText || (await this.save());
    if (!isSaved) return;
    try {
      await ask("simulate", { source: this.name, changes: this.erls.changes() });
      go({ screen: "run", source: this.name, zeroed: this.erls.picked.join(",") });
    } catch (failure) {
      this.showFailure(failure);
      notice(failure.message);
    }
  }
  async discard() {
    await remove("draft", { name: this.name }).catch(() => {});
    const source = this.opened;
    this.opened = null;
    await this.open({ source, fresh: this.savedText === null && !isLibrary(source) ? 1 : undefined });
  }
  onKey(event) {
    if (!(event.ctrlKey || event.metaKey)) return;
    const inEditor = event.target.closest(".cm-editor");
    const acts = { s: () => this.save() };
    // The editor has these keys itself; a field would undo its own letters alone.
    if (!inEditor) Object.assign(acts, { z: () => (event.shiftKey ? this.editor.redo() : this.editor.undo()), y: () => this.editor.redo() });
    actOn(event, acts[event.key.toLowerCase()]);
  }
}

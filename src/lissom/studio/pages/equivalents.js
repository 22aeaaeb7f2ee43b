// Show as command and Python: the calls of verbs that a screen stands for, as the server spells them.
import { make } from "./dom.js";
import { post } from "./server.js";

// Folded out once it stays so, on every screen.
let isOpen = false;

export class Equivalents {
  constructor(app) {
    this.app = app;
    this.where = make("h2", { class: "small" });
    this.command = make("pre", { class: "command" });
    this.python = make("pre", { class: "python" });
    this.element = make("details", { class: "panel", hidden: true, ontoggle: () => { isOpen = this.element.open; } },
      make("summary", {}, "Show as command and Python"), this.where, this.command, make("h2", { class: "small" }, "Python"), this.python);
  }
  // `calls`: verbs with their questions; `more`: further lines of Python.
  async show(calls, more = []) {
    const asked = (this.asked = Promise.all(calls.map(([verb, question]) => post(`verbs/${verb}/lines`, question))));
    const told = await asked.catch(() => null);
    // Overtaken by a later change.
    if (asked !== this.asked || !told) return;
    const lines = [...told.flatMap((one) => one.lines), ...more];
    const isSaidBefore = (line, k) => /^(import|from|scenario|model) /.test(line) && lines.indexOf(line) < k;
    this.where.textContent = `Command line ${this.app.folder ? `in ${this.app.folder}` : ""}`;
    this.command.textContent = told.map(({ command }) => command).join("\n");
    this.python.textContent = lines.filter((line, k) => !isSaidBefore(line, k)).join("\n");
    Object.assign(this.element, { hidden: false, open: isOpen });
  }
}

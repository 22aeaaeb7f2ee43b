// Show as command and Python: the calls of verbs that a screen stands for, as the server spells them.
import { make } from "./dom.js";
import { getOnce, post } from "./server.js";

// Once it is open it is open on every screen.
let isOpen = false;

export class Equivalents {
  constructor() {
    const where = make("h2", { class: "small" }, "Command line");
    getOnce("files").then(({ folder }) => where.append(` in ${folder}`), () => {});
    this.command = make("pre", { class: "command" });
    this.python = make("pre", { class: "python" });
    this.element = make("details", { class: "panel", hidden: true, ontoggle: () => { isOpen = this.element.open; } },
      make("summary", {}, "Show as command and Python"), where, this.command, make("h2", { class: "small" }, "Python"), this.python);
  }
  // `calls`: verbs with their questions; `more`: further lines of Python.
  async show(calls, more = []) {
    const request = (this.request = Promise.all(calls.map(([verb, question]) => post(`verbs/${verb}/lines`, question))));
    const answers = await request.catch(() => null);
    // Overtaken by a later change.
    if (request !== this.request || !answers) return;
    const lines = [...answers.flatMap((one) => one.lines), ...more];
    const isRepeated = (line, k) => /^(import|from|scenario|model) /.test(line) && lines.indexOf(line) < k;
    this.command.textContent = answers.map(({ command }) => command).join("\n");
    this.python.textContent = lines.filter((line, k) => !isRepeated(line, k)).join("\n");
    Object.assign(this.element, { hidden: false, open: isOpen });
  }
}

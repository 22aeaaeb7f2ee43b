// A long analysis: it waits in the queue of runs, tells its progress, can be cancelled, and survives a reload of the page.
import { button, make, notice, saying, shown } from "./dom.js";
import { live } from "./live.js";
import { get, remove } from "./server.js";
import { ask, withValues } from "./verb_form.js";

export class JobPanel {
  // `show`: draws the answer of the verb; `source`: about what, unless anything.
  constructor(verb, show, source = () => null) {
    Object.assign(this, { verb, show, source });
    this.bar = make("progress", { max: 1, "aria-label": "Progress", hidden: true });
    this.said = make("span", { class: "soft numbers", role: "status" });
    this.stop = button("Cancel", () => this.cancel());
    this.stop.hidden = true;
    this.message = make("div", { class: "message", role: "alert" });
    this.element = make("div", {}, make("div", { class: "row" }, this.said, this.stop), this.bar, this.message);
  }
  open() {
    this.forget ||= live.onJobs((jobs) => this.heard(jobs));
  }
  close() {
    this.forget?.();
    this.forget = null;
  }
  start(question) {
    this.message.textContent = "";
    return saying(this.message, async () => { this.number = (await ask(this.verb, question)).number; });
  }
  cancel() {
    remove(`jobs/${this.number}`).catch((failure) => notice(failure.message));
  }
  // The newest analysis of this kind is the one that is shown.
  heard(jobs) {
    const about = this.source();
    const job = jobs.find(({ call, source }) => call === this.verb && (about === null || source === about));
    if (!job) {
      this.said.textContent = "";
      this.stop.hidden = this.bar.hidden = true;
      return;
    }
    this.number = job.number;
    const isOpen = ["queued", "running"].includes(job.state);
    this.stop.hidden = !isOpen || job.stopping;
    this.bar.hidden = !isOpen;
    if (job.t_end) this.bar.value = job.t / job.t_end;
    else this.bar.removeAttribute("value");
    const part = job.state === "running" && job.t_end ? `, ${shown(job.t, 3)} of ${shown(job.t_end, 3)} ${job.unit}` : "";
    this.said.textContent = `${job.number}. ${job.title}: ${job.state}${part}`;
    if (job.error && job.error.kind !== "interrupted") this.message.textContent = job.error.message;
    const key = `${job.number}.${job.state}`;
    if (isOpen || key === this.shownKey) return;
    this.shownKey = key;
    this.answer(job);
  }
  // About something else now.
  refresh() {
    this.shownKey = null;
    this.message.textContent = "";
    this.heard(live.jobs);
  }
  async answer(job) {
    try {
      this.show(await get(`jobs/${job.number}/answer`), job);
    } catch (failure) {
      if (job.state === "done") this.message.textContent = failure.message;
    }
  }
}

// A tab of the analyses whose verb joins the queue; `files` are those that its command line and its Python write.
export class JobTab {
  constructor(screen, verb, files, source) {
    Object.assign(this, { screen, verb, files });
    this.job = new JobPanel(verb, (found, job) => this.show(found, job), source);
  }
  open() {
    this.job.open();
  }
  close() {
    this.job.close();
  }
  async start() {
    await this.screen.ready;
    this.screen.showLines();
    return this.job.start(this.question());
  }
  // The calls that this tab stands for.
  calls() {
    const question = this.question();
    return question.source ? [[this.verb, withValues(question, this.files)]] : [];
  }
}

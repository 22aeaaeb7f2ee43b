// A long analysis: it waits in the queue of runs, tells its progress, can be cancelled, and survives a reload of the page.
import { make, saying } from "./dom.js";
import { live } from "./live.js";
import { errorOf, isOpen, jobRow } from "./run_jobs.js";
import { get } from "./server.js";
import { ask, withValues } from "./verb_form.js";

export class JobPanel {
  // `show`: draws the answer of the verb; `source`: about what, unless anything.
  constructor(verb, show, source = () => null) {
    Object.assign(this, { verb, show, source });
    this.list = make("ul", { class: "jobs" });
    this.message = make("div", { class: "message", role: "alert" });
    this.element = make("div", {}, make("div", { role: "status" }, this.list), this.message);
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
    return saying(this.message, () => ask(this.verb, question));
  }
  // The newest analysis of this kind is the one that is shown.
  heard(jobs) {
    const about = this.source();
    const job = jobs.find(({ call, source }) => call === this.verb && (about === null || source === about));
    this.list.replaceChildren(...(job ? [jobRow(job, this.list.firstChild)] : []));
    if (job && errorOf(job)) this.message.textContent = errorOf(job);
    const key = job && `${job.number}.${job.state}`;
    if (!job || isOpen(job) || key === this.shownKey) return;
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

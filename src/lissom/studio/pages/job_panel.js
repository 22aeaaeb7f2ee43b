// A long analysis: it waits in the queue of runs, shows its progress, can be cancelled, and survives a reload of the page.
import { make, reporting } from "./dom.js";
import * as live from "./live.js";
import { errorOf, isOpen, jobRow } from "./run_jobs.js";
import { get, pictureAddress } from "./server.js";
import { ask, withValues } from "./verb_form.js";

// What extends it draws the answer of the verb with `show`, and takes it away with `clear`.
export class JobPanel {
  constructor(verb) {
    this.verb = verb;
    this.list = make("ul", { class: "jobs" });
    this.message = make("div", { class: "message", role: "alert" });
    this.progress = make("div", {}, make("div", { role: "status" }, this.list), this.message);
  }
  // What the analysis is about; null: anything.
  source() {
    return null;
  }
  open() {
    this.forget ||= live.onJobs((jobs) => this.follow(jobs));
  }
  close() {
    this.forget?.();
    this.forget = null;
  }
  start(question) {
    this.message.textContent = "";
    return reporting(this.message, () => ask(this.verb, question), () => this.clear());
  }
  // The newest analysis of this kind is the one that is shown.
  follow(jobs) {
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
    this.follow(live.jobs);
  }
  async answer(job) {
    try {
      this.show(await get(`jobs/${job.number}/answer`), job);
    } catch (failure) {
      this.clear();
      if (job.state === "done") this.message.textContent = failure.message;
    }
  }
}

// A tab of the analyses whose verb joins the queue; `files` are those that its command line and its Python write.
export class JobTab extends JobPanel {
  constructor(screen, verb, files) {
    super(verb);
    Object.assign(this, { screen, files });
  }
  async start() {
    await this.screen.ready;
    this.screen.showLines();
    return super.start(this.question());
  }
  // The calls that this tab stands for.
  calls() {
    const question = this.question();
    return question.source ? [[this.verb, withValues(question, this.files)]] : [];
  }
  clear() {
    this.result.replaceChildren();
  }
  // The picture that the verb drew, below the numbers.
  async addPicture(job, alt) {
    this.result.append(make("img", { class: "figure", src: await pictureAddress(job.file), alt }));
  }
}

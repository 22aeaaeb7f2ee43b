// The queue: how far each run is, how long it still takes, and the robot while it moves.
import { go, sourceName } from "./address.js";
import { button, make, notice, shown } from "./dom.js";
import { get, remove } from "./server.js";
import { Stage } from "./stage.js";

// Where the answers of analyses are shown.
const TABS = { "mode-map": "map", "control compare": "control", sweep: "sweep" };

export class JobList {
  constructor() {
    this.list = make("ul", { class: "jobs", "aria-label": "Runs" });
    this.stage = new Stage("The robot of the run under way", "");
    this.status = make("p", { class: "soft", role: "status" });
    this.live = make("div", { class: "live", hidden: true, id: "live-run" }, make("div", { class: "live-stage" }, this.stage.element), this.status);
    this.element = make("div", {}, this.live, this.list);
  }
  show(jobs) {
    this.showLive(jobs.find(({ state, pictures }) => state === "running" && pictures > 0));
    const old = new Map([...this.list.children].map((row) => [row.dataset.job, row]));
    const rows = jobs.map((job) => {
      const below = errorOf(job) ? [make("div", { class: "message" }, errorOf(job))] : [];
      return jobRow(job, old.get(String(job.number)), placesOf(job), below);
    });
    this.list.replaceChildren(...(rows.length ? rows : [make("li", { class: "soft" }, "None yet.")]));
  }

  // --- the robot under way ---
  async showLive(job) {
    this.live.hidden = !job;
    const key = job && `${job.number}.${job.pictures}`;
    if (!job || key === this.drawn) return;
    const isNew = this.number !== job.number;
    Object.assign(this, { drawn: key, number: job.number });
    this.status.textContent = `${sourceName(job.source)} at ${shown(job.t, 3)} s`;
    if (!this.stage.view.works) return;
    try {
      const picture = await get(`jobs/${job.number}/picture`);
      this.stage.show(picture, { keepCamera: !isNew });
      if (!isNew) return;
      this.stage.setScale(1);
      this.stage.view.lookAround();
    } catch {
      // It has ended in the meantime.
    }
  }
}

// --- one job ---
// A row is made again only when more than its progress changed: a button under the mouse stays where it is.
export function jobRow(job, old, more = [], below = []) {
  const { t, t_end: end, unit, moving, pictures, ...rest } = job;
  const key = JSON.stringify(rest);
  if (old?.key === key) {
    showProgress(old, job);
    return old;
  }
  const row = Object.assign(make("li", { class: "job", "data-job": job.number }), { key });
  const kind = job.call === "simulate" ? "" : `${job.call} of `;
  const cancel = button("Cancel", () => remove(`jobs/${job.number}`).catch((failure) => notice(failure.message)));
  const acts = [...(isOpen(job) && !job.stopping ? [cancel] : []), ...more];
  for (const act of acts) act.setAttribute("aria-label", `${act.textContent} run ${job.number}`);
  row.append(make("div", { class: "row" },
    make("span", { class: "state" }, `${job.number}. ${kind}${sourceName(job.source)}: ${job.stopping ? "stopping" : job.state}`),
    (row.left = make("span", { class: "soft numbers" })), ...acts));
  if (job.state === "running") row.append((row.bar = make("progress", { max: 1, "aria-label": `Progress of run ${job.number}` })));
  row.append(...below);
  showProgress(row, job);
  return row;
}
export const errorOf = ({ error }) => (error && error.kind !== "interrupted" ? error.message : "");
export const isOpen = ({ state }) => ["queued", "running"].includes(state);

function showProgress(row, job) {
  row.left.textContent = progressText(job);
  if (!row.bar) return;
  // Without a value the bar shows work of unknown length.
  if (job.t_end) row.bar.value = job.t / job.t_end;
  else row.bar.removeAttribute("value");
}

// Where the answer of a job is shown.
function placesOf(job) {
  const places = [];
  if (job.has_result) places.push({ screen: "results", file: job.file });
  if (job.call in TABS && job.state === "done") places.push({ screen: "analyse", tab: TABS[job.call], source: job.call === "mode-map" ? job.source : "" });
  return places.map((place) => button("Show", () => go(place), { class: "main" }));
}

function progressText(job) {
  if (job.state === "running" && !job.moving) return "building and compiling";
  if (job.state === "running") {
    const spent = Date.now() / 1000 - job.moving;
    const left = job.t > 0 ? (spent * (job.t_end - job.t)) / job.t : null;
    return `${shown(job.t, 3)} of ${shown(job.t_end, 3)} ${job.unit ?? "s"}` + (left === null ? "" : `, about ${Math.ceil(left)} s left`);
  }
  if (job.result) {
    const { build, compile, run } = job.result.wall_s;
    return `${shown(job.result.t_end, 3)} s simulated in ${shown(build + compile + run, 3)} s`;
  }
  if (job.has_result) return `saved up to ${shown(job.error.partial.t_end, 3)} s`;
  return "";
}

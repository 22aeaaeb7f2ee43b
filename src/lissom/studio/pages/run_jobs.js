// The queue: how far each run is, how long it still takes, and the robot while it moves.
import { go, sourceName } from "./address.js";
import { button, make, notice, shown } from "./dom.js";
import { get, remove } from "./server.js";
import { Stage } from "./stage.js";

// Where the answers of analyses are shown.
const TABS = { "mode-map": "map", "control compare": "control", sweep: "sweep" };
const WORDS = { simulate: "" };

export class JobList {
  constructor() {
    this.list = make("ul", { class: "jobs", "aria-label": "Runs" });
    this.stage = new Stage("The robot of the run under way", "");
    this.said = make("p", { class: "soft", role: "status" });
    this.live = make("div", { class: "live", hidden: true, id: "live-run" }, make("div", { class: "live-stage" }, this.stage.element), this.said);
    this.element = make("div", {}, this.live, this.list);
  }
  show(jobs) {
    this.showLive(jobs.find(({ state, pictures }) => state === "running" && pictures > 0));
    if (!jobs.length) {
      this.list.replaceChildren(make("li", { class: "soft" }, "None yet."));
      return;
    }
    const kept = new Map([...this.list.children].map((row) => [row.dataset?.job, row]));
    this.list.replaceChildren(...jobs.map((job) => {
      const below = errorOf(job) ? [make("div", { class: "message" }, errorOf(job))] : [];
      return jobRow(job, kept.get(String(job.number)), placesOf(job), below);
    }));
  }

  // --- the robot under way ---
  async showLive(job) {
    this.live.hidden = !job;
    const key = job && `${job.number}.${job.pictures}`;
    if (!job || key === this.drawn) return;
    const isNew = this.number !== job.number;
    Object.assign(this, { drawn: key, number: job.number });
    this.said.textContent = `${sourceName(job.source)} at ${shown(job.t, 3)} s`;
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
// A row is made anew only when something of it changed: a button under the mouse stays where it is.
export function jobRow(job, old, more = [], below = []) {
  const key = JSON.stringify(job);
  if (old?.key === key) return old;
  const isSame = +old?.dataset?.job === job.number && old.stopping === job.stopping;
  if (isSame && job.state === "running" && old.state === "running") {
    showProgress(old, job);
    return Object.assign(old, { key });
  }
  const row = make("li", { class: "job" });
  Object.assign(row, { key, state: job.state, stopping: job.stopping });
  row.dataset.job = job.number;
  const kind = WORDS[job.call] ?? `${job.call} of `;
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
  // Without a value the bar says that something goes on, and not how far it is.
  if (job.t_end) row.bar.value = job.t / job.t_end;
  else row.bar.removeAttribute("value");
}

// Where the answer of a job is shown.
function placesOf(job) {
  const places = [];
  if (job.has_result) places.push({ screen: "results", file: job.file });
  if (job.call in TABS && job.state === "done") places.push({ screen: "analyse", tab: TABS[job.call], source: job.call === "mode-map" ? job.source : "" });
  return places.map((place) => button("Show", () => go(place), "main"));
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
  if (job.has_result) return `kept up to ${shown(job.error.partial.t_end, 3)} s`;
  return "";
}

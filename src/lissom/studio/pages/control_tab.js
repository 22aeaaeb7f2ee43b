// Controllers: many on one motion of one robot, in one table and one figure; their runs can be looked at.
import { CONTROL_STUDY, go } from "./address.js";
import { button, choice, labelled, make, setOptions, shown } from "./dom.js";
import { JobTab } from "./job_panel.js";
import { table } from "./pictures.js";
import { get, getOnce } from "./server.js";

const COLUMNS = [
  ["controller", (row) => row.name], ["tracking rms [mrad or mm]", (row) => 1e3 * row.tracking_rms], ["residual [mm]", (row) => 1e3 * row.residual],
  ["of first [%]", (row) => 100 * row.residual_share], ["settling [ms]", (row) => 1e3 * row.settling], ["finish [ms]", (row) => 1e3 * row.finish],
  ["gauge strain [1e-6]", (row) => 1e6 * row.strain_peak], ["torque peak", (row) => row.torque_peak], ["torque rms", (row) => row.torque_rms],
  ["energy [J]", (row) => row.energy], ["phase margin [deg]", (row) => row.phase_margin_deg], ["sample [us]", (row) => row.microseconds],
];

export class ControlTab extends JobTab {
  constructor(screen) {
    super(screen, "control compare", { picture: "compare.png", numbers: "rows.csv", results: "runs" });
    this.study = choice([], "", () => this.screen.showLines());
    this.result = make("div", {});
    const start = button("Compare the controllers", () => this.start(), { class: "main", id: "compare-controllers" });
    this.element = make("div", {}, make("div", { class: "row" }, ...labelled("Study", this.study), start), this.progress, this.result);
  }
  async open({ study }) {
    super.open();
    const [library, { files }] = await Promise.all([getOnce("library"), get("files")]);
    const own = files.filter(({ kind }) => kind === CONTROL_STUDY).map(({ name }) => [name, name]);
    const known = library.studies.map((name) => [`library:${name}`, `${name} (library)`]);
    const chosen = study ?? this.study.value;
    setOptions(this.study, [...own, ...known]);
    const ofRobot = known.find(([value]) => value === this.screen.source);
    if (chosen || ofRobot) this.study.value = chosen || ofRobot[0];
    this.screen.showLines();
  }
  question() {
    return { source: this.study.value };
  }
  async show(found, job) {
    const rows = found.rows.map((row) => (row.failed ? [row.name, "failed: see below", ...COLUMNS.slice(2).map(() => "")] : [row.name, ...COLUMNS.slice(1).map(([, of]) => shown(of(row), 3))]));
    const caption = `${found.robot}, ${found.model}: first mode that the motors move ${shown(found.first_mode_hz)} Hz; the motion ends at ${shown(found.stop)} s`;
    const notes = found.rows.flatMap((row) => [...(row.failed ? [row.failed] : []), ...row.notes].map((line) => make("li", {}, `${row.name}: ${line}`)));
    this.result.replaceChildren(table(caption, COLUMNS.map(([text]) => text), rows), make("ul", { class: "soft" }, ...notes));
    if (found.files.results) this.result.append(this.runs(job));
    if (found.files.picture) await this.addPicture(job, `Motions of ${found.rows.length} controllers of ${found.robot} beside each other`);
  }
  // Every run is a result: the first is shown, the others beside it.
  runs(job) {
    return button("Look at the runs", async () => {
      const { files } = await get("files");
      const folder = `${job.file.replace(/\.png$/, "")}/`;
      const [file, ...others] = files.map(({ name }) => name).filter((name) => name.startsWith(folder)).sort();
      if (file) go({ screen: "results", file, with: others.slice(0, 7).join(",") });
    });
  }
}

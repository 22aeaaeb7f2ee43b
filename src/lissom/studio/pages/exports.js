// A result in other forms: pictures, tables, pages, files of its motion, a report to print.
import { button, choice, make, reporting } from "./dom.js";
import { printReport } from "./report.js";
import { downloadAddress, save, saveBlob } from "./server.js";
import { saveFile } from "./verb_form.js";

const GIF_WIDTH = 480;
const GIF_RATE = 12; // pictures per second
const GIF_LEAST = 24; // pictures: a short run is slowed down
const GIF_MOST = 180;

const FORMS = [
  ["robot.png", "Picture of the robot (.png)"], [".png", "Charts (.png)"], [".svg", "Charts (.svg)"], [".pdf", "Charts (.pdf)"],
  [".csv", "Numbers of the charts (.csv)"], [".html", "Page that moves (.html)"], [".gif", "Motion (.gif)"],
];

export class ExportPanel {
  // `screen` is the results' own: its file, its stage, its charts, its player.
  constructor(screen) {
    this.screen = screen;
    this.status = make("div", { class: "soft", role: "status" });
    this.link = make("a", { class: "button", download: "" }, "NetCDF (.nc)");
    const form = choice(FORMS, "robot.png", undefined, { "aria-label": "Form to save in" });
    const act = button("Save", () => this.save(form.value), { id: "save-as" });
    this.element = make("details", { class: "panel", id: "exports" }, make("summary", {}, "Export and print"),
      make("div", { class: "row" }, form, act, this.link, button("Print a report", () => this.print())), this.status);
  }
  open(file) {
    this.link.href = downloadAddress(file);
    this.status.textContent = "";
  }
  save(form) {
    const { file } = this.screen;
    const stem = file.split("/").pop().replace(/\.nc$/, "");
    this.status.textContent = "working\u2026";
    return reporting(this.status, async () => {
      if (form === "robot.png") saveBlob(await this.picture(), `${stem}-robot.png`);
      else if (form === ".gif") await this.saveMotion(`${stem}.gif`);
      else await saveFile("plot", { source: file, values: { what: form === ".html" ? [] : this.screen.charts.shown() } }, form, stem);
      this.status.textContent = "saved";
    });
  }
  async print() {
    await Promise.all([this.screen.compare.ready, this.screen.showLines()]);
    await reporting(this.status, async () => printReport(this.screen, await this.picture()));
  }

  // --- pictures of the stage ---
  // The picture at a time, with the words that stand over it.
  drawn(t, width, height) {
    const { stage } = this.screen;
    if (!stage.view.works) throw new Error("there is no picture without WebGL 2");
    stage.view.draw(t);
    const canvas = make("canvas", { width, height });
    const pen = canvas.getContext("2d");
    for (const layer of stage.element.querySelectorAll("canvas")) pen.drawImage(layer, 0, 0, width, height);
    return canvas;
  }
  async picture() {
    const { stage, player } = this.screen;
    const canvas = this.drawn(player.t, stage.canvas.width, stage.canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }
  // Every picture at its time, whatever the machine takes to draw it; the server makes a GIF of them.
  async saveMotion(name) {
    const { stage, player } = this.screen;
    const wanted = (player.end - player.start) / player.speed;
    const count = Math.max(GIF_LEAST, Math.min(GIF_MOST, Math.ceil(wanted * GIF_RATE)));
    const seconds = Math.max(wanted, GIF_LEAST / GIF_RATE);
    const height = Math.round((GIF_WIDTH * stage.canvas.height) / stage.canvas.width);
    const pictures = [];
    player.setPlaying(false);
    for (let k = 0; k < count; k++) {
      const t = player.start + ((player.end - player.start) * k) / (count - 1);
      pictures.push(this.drawn(t, GIF_WIDTH, height).toDataURL().split(",")[1]);
      this.status.textContent = `picture ${k + 1} of ${count}`;
      await new Promise((resolve) => setTimeout(resolve));
    }
    stage.redraw();
    const interval = Math.max(20, Math.round((1000 * seconds) / count));
    await save(`results/gif?interval=${interval}`, pictures, name);
  }
}

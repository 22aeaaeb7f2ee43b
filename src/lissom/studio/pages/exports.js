// A result in other forms: pictures, tables, pages, files of its motion, a report to print.
import { button, choice, make, saying } from "./dom.js";
import { printReport } from "./report.js";
import { downloadAddress, save, saveBlob } from "./server.js";
import { saveFile } from "./verb_form.js";

const GIF_WIDTH = 480;
const GIF_RATE = 12; // pictures per second
const GIF_LEAST = 24; // pictures: a short run is slowed down
const GIF_MOST = 180;

export class ExportPanel {
  // `screen` is the results' own: its file, its stage, its charts, its player.
  constructor(screen) {
    this.screen = screen;
    this.said = make("div", { class: "soft", role: "status" });
    this.element = make("details", { class: "panel", id: "exports" }, make("summary", {}, "Export and print"));
  }
  open(file) {
    const link = make("a", { class: "button", href: downloadAddress(file), download: "" }, "NetCDF (.nc)");
    const forms = [["robot.png", "Picture of the robot (.png)"], [".png", "Charts (.png)"], [".svg", "Charts (.svg)"], [".pdf", "Charts (.pdf)"],
      [".csv", "Numbers of the charts (.csv)"], [".html", "Page that moves (.html)"], [".gif", "Motion (.gif)"]];
    const form = choice(forms, "robot.png", () => {}, "Form to save in");
    const act = button("Save", () => this.save(form.value));
    act.id = "save-as";
    this.element.replaceChildren(make("summary", {}, "Export and print"),
      make("div", { class: "row" }, form, act, link, button("Print a report", () => this.print())), this.said);
  }
  save(form) {
    this.said.textContent = "working\u2026";
    return saying(this.said, async () => {
      await this.saved(form);
      this.said.textContent = "saved";
    });
  }
  saved(form) {
    const { file } = this.screen;
    const stem = file.split("/").pop().replace(/\.nc$/, "");
    if (form === "robot.png") return this.picture().then((blob) => saveBlob(blob, `${stem}-robot.png`));
    if (form === ".gif") return this.frames().then((motion) => save("results/gif", motion, `${stem}.gif`));
    const what = form === ".html" ? [] : this.screen.charts.shown();
    return saveFile("plot", { source: file, values: { what } }, form, stem);
  }
  async print() {
    await Promise.all([this.screen.compare.ready, this.screen.showLines()]);
    await printReport(this.screen, await this.picture());
  }

  // --- pictures of the stage ---
  picture() {
    const { stage, player } = this.screen;
    if (!stage.view.works) throw new Error("there is no picture without WebGL 2");
    stage.view.draw(player.t);
    const canvas = copied(stage, stage.canvas.width, stage.canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }
  // Every picture at its time, whatever the machine takes to draw it; the server makes a GIF of them.
  async frames() {
    const { stage, player } = this.screen;
    if (!stage.view.works) throw new Error("there is no picture without WebGL 2");
    const wanted = (player.end - player.start) / player.speed;
    const count = Math.max(GIF_LEAST, Math.min(GIF_MOST, Math.ceil(wanted * GIF_RATE)));
    const seconds = Math.max(wanted, GIF_LEAST / GIF_RATE);
    const height = Math.round((GIF_WIDTH * stage.canvas.height) / stage.canvas.width);
    const pictures = [];
    player.setPlaying(false);
    for (let k = 0; k < count; k++) {
      stage.view.draw(player.start + ((player.end - player.start) * k) / (count - 1));
      pictures.push(copied(stage, GIF_WIDTH, height).toDataURL().split(",")[1]);
      this.said.textContent = `picture ${k + 1} of ${count}`;
      await new Promise((resolve) => setTimeout(resolve));
    }
    stage.redraw();
    return { pictures, interval: Math.max(20, Math.round((1000 * seconds) / count)) };
  }
}

// The picture with the words that stand over it.
function copied(stage, width, height) {
  const canvas = make("canvas", { width, height });
  const pen = canvas.getContext("2d");
  for (const layer of stage.element.querySelectorAll("canvas")) pen.drawImage(layer, 0, 0, width, height);
  return canvas;
}

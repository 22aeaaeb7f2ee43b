// Start: the library, the files of the folder, files to bring along, a new configuration.
import { go, placeOf, sourceToRun } from "./address.js";
import { button, make, notice } from "./dom.js";
import { bring, chosenFiles, filesOf, importRobot } from "./dropped.js";
import { Equivalents } from "./equivalents.js";
import { get, getOnce } from "./server.js";

const NEW_NAME = "two-link-arm.yaml";
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const AGO = new Intl.RelativeTimeFormat("en");

export class StartScreen {
  constructor() {
    this.cards = make("ul", { class: "cards" });
    this.files = make("ul", { class: "files" });
    this.folder = make("p", { class: "soft" });
    this.same = new Equivalents();
    this.element = make("section", { class: "screen", "aria-labelledby": "start-title" },
      make("h1", { id: "start-title" }, "Robots whose links bend"),
      make("div", { class: "start" },
        make("div", {}, this.cards),
        make("div", {}, this.newPanel(), this.filePanel(), this.same.element)));
    this.element.ondragover = (event) => { event.preventDefault(); this.drop.classList.add("over"); };
    this.element.ondragleave = () => this.drop.classList.remove("over");
    this.element.ondrop = (event) => {
      event.preventDefault();
      this.drop.classList.remove("over");
      this.bring(filesOf(event.dataTransfer));
    };
  }
  newPanel() {
    const begin = button("New configuration", () => this.begin(), { class: "main", id: "new-configuration" });
    return make("div", { class: "panel" },
      make("h2", {}, "Your own robot"),
      make("p", {}, "A two-link arm to begin with: change its links, sections and materials, and run it."), begin);
  }
  filePanel() {
    const input = make("input", { type: "file", multiple: true, "aria-label": "Files to bring along" });
    input.onchange = () => { this.bring(chosenFiles(input.files)); input.value = ""; };
    const drop = make("div", { class: "drop" }, make("p", {}, "Drop robots, scenarios, results, or a URDF with its meshes, anywhere on this page, or"), input);
    this.drop = drop;
    return make("div", { class: "panel" }, make("h2", {}, "Recent files"), this.folder, this.files, drop);
  }

  async open() {
    const [library, listing] = await Promise.all([getOnce("library"), get("files")]);
    this.cards.replaceChildren(...library.robots.map((robot) => this.card(robot, library)));
    this.folder.textContent = listing.folder + (listing.writable ? "" : " \u2013 cannot be written: nothing can be saved");
    this.same.show([["robots", {}], ["import", { values: { file: "robot.urdf", output: "robot.yaml" } }]]);
    this.files.replaceChildren(...listing.files.map((file) => this.fileRow(file)));
    return listing.files;
  }
  card(robot, library) {
    const source = `library:${robot.name}`;
    const joints = robot.joints.length === 1 ? "1 joint" : `${robot.joints.length} joints`;
    const image = make("img", { src: `/assets/pictures/${robot.name}.png`, alt: `The robot ${robot.name}`, loading: "lazy", onerror: () => { image.hidden = true; } });
    const act = (text, state, kind) => button(text, () => go(state), { class: kind, "aria-label": `${text}: ${robot.name}` });
    return make("li", { class: "card" }, image,
      make("h2", {}, robot.name),
      make("p", { title: robot.source }, `${joints}, ${robot.flexible_links.length} flexible. ${story(robot.source)}`),
      make("div", { class: "row" }, act("Look", { screen: "look", source }, "main"), act("Build on it", { screen: "build", source }),
        act("Run", { screen: "run", source: sourceToRun(source, library) })));
  }
  fileRow(file) {
    const open = button(file.name, () => this.openFile(file));
    return make("li", {}, open, make("span", { class: "soft" }, `${file.kind}, ${since(file.modified)}`));
  }
  openFile(file) {
    return file.kind === "URDF" ? this.openUrdf(file.name) : go(placeOf(file));
  }
  // The robot file beside a URDF file, made of it where there is none yet.
  async openUrdf(name) {
    const made = name.replace(/\.urdf$/i, ".yaml");
    const { files } = await get("files");
    try {
      if (files.some((file) => file.name === made)) return go({ screen: "build", source: made });
      const { file, notes } = await importRobot(name);
      if (notes.length) notice(notes.join("\n"));
      return go({ screen: "build", source: file });
    } catch (failure) {
      return notice(failure.message);
    }
  }
  async begin() {
    const { files } = await get("files");
    const taken = new Set(files.map(({ name }) => name));
    let name = NEW_NAME;
    for (let k = 2; taken.has(name); k++) name = NEW_NAME.replace(".yaml", `-${k}.yaml`);
    go({ screen: "build", source: name, fresh: 1 });
  }
  async bring(found) {
    const list = await found;
    if (!list.length) return;
    const { names, made, notes, problems } = await bring(list);
    if (problems.length || notes.length) notice([...problems, ...notes].join("\n"));
    if (!names.length) return;
    const files = await this.open();
    // One thing, or one robot among its meshes, is opened at once.
    const last = made.length === 1 ? made[0] : names.length === 1 ? names[0] : null;
    const file = files.find(({ name }) => name === last);
    if (file && file.kind !== "URDF") this.openFile(file);
  }
}

// The first sentence of the source that a robot file names.
const story = (source) => /^.*?[.:](?=\s|$)/.exec(source)?.[0].replace(/:$/, ".") ?? source;

// How long ago a file was written, in words.
function since(seconds) {
  const ago = Date.now() / 1000 - seconds;
  const unit = UNITS.find(([, length]) => ago >= length);
  return unit ? AGO.format(-Math.floor(ago / unit[1]), unit[0]) : "just now";
}

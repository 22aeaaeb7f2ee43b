// The studio: one page, a screen for each thing one does with a robot.
import { addressOf, go, readAddress, sourceName, sourceToRun } from "./address.js";
import { AnalyseScreen } from "./analyse.js";
import { BuildScreen } from "./build.js";
import { $, actOn, notice } from "./dom.js";
import { live } from "./live.js";
import { LookScreen } from "./look.js";
import { ResultsScreen } from "./results.js";
import { RunScreen } from "./run.js";
import { get } from "./server.js";
import { StartScreen } from "./start.js";
import { beginTheme } from "./theme.js";

const SCREENS = { start: StartScreen, look: LookScreen, build: BuildScreen, run: RunScreen, results: ResultsScreen, analyse: AnalyseScreen };

class App {
  constructor() {
    this.screens = {};
    this.folder = "";
  }
  // What comes with the package, fetched once.
  library() {
    this.known ||= get("library");
    this.known.catch(() => { this.known = null; });
    return this.known;
  }
  async show() {
    const state = readAddress();
    const name = state.screen in SCREENS ? state.screen : "start";
    const screen = (this.screens[name] ||= new SCREENS[name](this));
    if (this.shown !== screen) {
      this.shown?.close?.();
      this.shown = screen;
      $("content").replaceChildren(screen.element);
      $("content").focus({ preventScroll: true });
    }
    this.showHeader(name, state);
    try {
      await screen.open(state);
    } catch (failure) {
      notice(failure.message);
    }
  }
  async linkToRun(link, source) {
    const library = await this.library();
    if (source === this.lastSource && !link.hasAttribute("aria-current")) link.href = addressOf({ screen: "run", source: sourceToRun(source, library) });
  }
  showHeader(name, state) {
    const source = state.source || this.lastSource;
    this.lastSource = source;
    const subject = name === "results" ? state.file : source;
    $("subject").textContent = subject ? sourceName(subject) : "";
    document.title = `${name[0].toUpperCase()}${name.slice(1)} \u2013 lissom studio`;
    for (const link of document.querySelectorAll("nav a")) {
      const screen = link.dataset.screen;
      const current = screen === name;
      const carried = screen === "start" || screen === "results" ? {} : { source };
      link.href = current ? addressOf(state) : addressOf({ screen, ...carried });
      if (screen === "run" && !current) this.linkToRun(link, source).catch(() => {});
      if (current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
}

beginTheme();
live.connect();
document.querySelector(".skip").onclick = (event) => actOn(event, () => $("content").focus());
const app = new App();
addEventListener("hashchange", () => app.show());
get("files").then(({ folder }) => { app.folder = folder; }, () => {});
if (location.hash) app.show();
else go({ screen: "start" });

// The studio: one page, a screen for each thing one does with a robot.
import { addressOf, go, readAddress, sourceName, sourceToBuild, sourceToRun } from "./address.js";
import { AnalyseScreen } from "./analyse.js";
import { BuildScreen } from "./build.js";
import { $, actOn, notice } from "./dom.js";
import * as live from "./live.js";
import { LookScreen } from "./look.js";
import { ResultsScreen } from "./results.js";
import { RunScreen } from "./run.js";
import { getOnce } from "./server.js";
import { StartScreen } from "./start.js";
import { beginTheme } from "./theme.js";

const SCREENS = { start: StartScreen, look: LookScreen, build: BuildScreen, run: RunScreen, results: ResultsScreen, analyse: AnalyseScreen };

// What the link to a screen is about, of the robot or scenario that is shown.
const SOURCES = { run: sourceToRun, build: sourceToBuild };

const screens = {}; // that were opened
let shown = null;
let lastSource;

async function show() {
  const state = readAddress();
  const name = state.screen in SCREENS ? state.screen : "start";
  const screen = (screens[name] ||= new SCREENS[name]());
  if (shown !== screen) {
    shown?.close?.();
    shown = screen;
    $("content").replaceChildren(screen.element);
    $("content").focus({ preventScroll: true });
  }
  showHeader(name, state);
  try {
    await screen.open(state);
  } catch (failure) {
    notice(failure.message);
  }
}

function showHeader(name, state) {
  const source = state.source || lastSource;
  lastSource = source;
  const subject = name === "results" ? state.file : source;
  $("subject").textContent = subject ? sourceName(subject) : "";
  document.title = `${name[0].toUpperCase()}${name.slice(1)} \u2013 lissom studio`;
  for (const link of document.querySelectorAll("nav a")) {
    const screen = link.dataset.screen;
    const current = screen === name;
    const carried = screen === "start" || screen === "results" ? {} : { source };
    link.href = current ? addressOf(state) : addressOf({ screen, ...carried });
    if (screen in SOURCES && !current) linkTo(link, screen, source).catch(() => {});
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}
async function linkTo(link, screen, source) {
  const library = await getOnce("library");
  if (source === lastSource && !link.hasAttribute("aria-current")) link.href = addressOf({ screen, source: SOURCES[screen](source, library) });
}

beginTheme();
live.connect();
document.querySelector(".skip").onclick = (event) => actOn(event, () => $("content").focus());
addEventListener("hashchange", show);
if (location.hash) show();
else go({ screen: "start" });

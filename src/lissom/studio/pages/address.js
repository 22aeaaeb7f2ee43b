// What a screen shows is in the fragment of the address, so that a link shares it: #screen=look&source=library:four-bar

export function readAddress() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

export function addressOf(state) {
  const known = Object.entries(state).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return "#" + new URLSearchParams(known).toString();
}

// The same screen with other details: no step in the history.
export function noteInAddress(changes) {
  const state = { ...readAddress(), ...changes };
  if (addressOf(state) !== location.hash) history.replaceState(null, "", addressOf(state));
}

export function go(state) {
  location.hash = addressOf(state);
}

// A source as people and the command line call it.
export const sourceName = (source) => source.replace(/^(library|scenario):/, "");
// What runs for a robot of the library: the scenario of its name, as on the command line.
export function sourceToRun(source, { scenarios }) {
  const name = source?.startsWith("library:") ? sourceName(source) : "";
  return scenarios.some((scenario) => scenario.name === name) ? `scenario:${name}` : source;
}
// What is built on: the robot of a scenario where the library has one of that name, as text otherwise.
export function sourceToBuild(source, { robots }) {
  const name = source?.startsWith("scenario:") ? sourceName(source) : "";
  return robots.some((robot) => robot.name === name) ? `library:${name}` : source;
}

// Kinds of files that are about other files.
export const [CONTROL_STUDY, SWEEP_STUDY] = ["control study", "sweep study"];
export const isStudy = ({ kind }) => [CONTROL_STUDY, SWEEP_STUDY].includes(kind);
// Where a file of the folder is opened.
export function placeOf({ name, kind }) {
  if (kind === "result") return { screen: "results", file: name };
  if (isStudy({ kind })) return { screen: "analyse", tab: kind === CONTROL_STUDY ? "control" : "sweep", study: name };
  return { screen: kind === "scenario" ? "run" : "build", source: name };
}
export const isLibrary = (source) => /^(library|scenario):/.test(source);

// Show as command and Python: the lines that each screen stands for.
import { sourceName } from "./address.js";
import { make } from "./dom.js";

const quoted = (text) => (/^[\w./:=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const python = (value) => {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${python(v)}`).join(", ")}}`;
  return JSON.stringify(value);
};
const settings = (changes) => Object.entries(changes).map(([path, value]) => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return " --set " + quoted(`${path}=${text}`);
}).join("");
const rounded = (q) => q.map((value) => +value.toPrecision(6));
const replaced = (changes) => (Object.keys(changes).length ? `.replace(${python(changes)})` : "");

// The robot of a source as verbs make it: with its changes, in the formulation of a scenario or a result.
const isPlainRobot = (source, changes) => source.startsWith("library:") && Object.keys(changes).every((key) => key === "formulation");
function modelLines(source, changes = {}) {
  const name = python(sourceName(source));
  const { formulation } = changes;
  if (isPlainRobot(source, changes)) return ["import lissom as ls", `model = ls.Model(${name}${formulation ? `, ${python(formulation)}` : ""})`];
  const others = Object.keys(changes).length ? `, ${python(changes)}` : "";
  return ["import lissom as ls", "from lissom.runs.sources import robot_of", `scenario = robot_of(${name}${others})`, "model = ls.Model.of_scenario(scenario)"];
}

// `more`: what else is shown of the pose: masses, modes (their question), a map (its question).
// Switches that are on, and arguments with their values, by their own names.
const switches = (asked) => Object.entries(asked).filter(([, value]) => value === true).map(([name]) => (name === "degrees" ? "" : ` --${name}`)).join("");
const keywords = (asked) => Object.entries(asked).map(([name, value]) => `${name}=${python(value)}`).join(", ");

export function poseLines({ source, q, changes }, sag, more = {}) {
  const at = rounded(q);
  const robot = `${quoted(sourceName(source))} --q=${at.join(",")}${settings(changes)}`;
  const lines = [...modelLines(source, changes), `state = model.${sag ? "static" : "at"}(${python(at)})`];
  if (sag) lines.push("print(state.torque)");
  if (more.masses) lines.push("from lissom.analyse.mass_properties import mass_properties", "print(mass_properties(model, state))");
  if (more.modes) lines.push(`print(ls.modes(model, state, ${keywords(more.modes)}))`);
  const commands = [`lissom ${sag ? "static" : "show"} ${robot}`, ...poseCommands(robot, more)];
  return { command: commands.join("\n"), lines };
}

function poseCommands(robot, { modes, map }) {
  const over = (axis) => ` --over ${axis.name}=${axis.start}:${axis.stop}:${axis.points}`;
  const commands = [];
  if (modes) commands.push(`lissom modes ${robot}${switches(modes)} --count ${modes.count}`);
  if (map) commands.push(`lissom mode-map ${robot}${map.over.map(over).join("")}${switches(map)} --count ${map.count}`);
  return commands;
}

export function runLines(source, changes, file) {
  const name = sourceName(source);
  // Its name alone would be the scenario of the library that is called after the robot.
  const isBare = source.startsWith("library:");
  const own = `${name}-at-rest.scenario.yaml`;
  const written = isBare ? `echo ${quoted(`robot: ${name}`)} > ${quoted(own)}\n` : "";
  const command = `${written}lissom simulate ${quoted(isBare ? own : name)}${settings(changes)} -o ${quoted(file || "run.nc")}`;
  const scenario = isBare ? `ls.Scenario(robot=ls.Robot.load(${python(name)}))` : `ls.Scenario.load(${python(name)})`;
  const lines = [
    "import lissom as ls",
    `scenario = ${scenario}${replaced(changes)}`,
    "run = ls.run_scenario(scenario)",
    `run.save(${python(file || "run.nc")})`,
  ];
  return { command, lines };
}

export function resultLines(file, t, what = [], others = []) {
  const chosen = what.length ? ` --what ${quoted(what.join(","))}` : "";
  const time = +t.toPrecision(6);
  const commands = [`lissom plot ${quoted(file)}${chosen} -o run.png`, `lissom matrices ${quoted(file)} --time ${time} -o matrices.npz`];
  const lines = ["import lissom as ls", `run = ls.Run.load(${python(file)})`, "print(run)", 'run.animate("run.html")',
    "from lissom.runs.sources import scenario_of", `model = ls.Model.of_scenario(scenario_of(${python(file)}))`,
    `ls.matrices(model, run.state(abs(run.t - ${time}).argmin())).save("matrices.npz")`];
  if (others.length) {
    commands.push(`lissom compare ${[file, ...others].map(quoted).join(" ")} --plot difference.png`);
    lines.push(`print(ls.compare_runs(${python([file, ...others])}))`);
  }
  return { command: commands.join("\n"), lines };
}

export function startLines() {
  const command = ["lissom robots", "lissom import robot.urdf -o robot.yaml"].join("\n");
  const lines = ["import lissom as ls", "print(ls.library())", 'ls.import_robot("robot.urdf").save("robot.yaml")'];
  return { command, lines };
}

export function fileLines(source) {
  const command = `lissom validate ${quoted(sourceName(source))}`;
  const lines = ["import lissom as ls", `robot = ls.Robot.load(${python(sourceName(source))})`, "print(robot)"];
  return { command, lines };
}

// What each tab of the analyses stands for.
export function analysisLines(tab, question, parts) {
  return { map: mapLines, control: controlLines, sweep: sweepLines }[tab](question, parts[tab]);
}
const pointOptions = ({ q, kp, kd, source, changes, ...others }) => [q && `--q=${q.join(",")}`, kp !== undefined && `--kp ${kp}`, kd !== undefined && `--kd ${kd}`, switches(others).trim(), settings(changes).trim()].filter(Boolean);
const pointArguments = ({ q, source, changes, ...others }) => [keywords(others)].filter(Boolean);

function mapLines(question, tab) {
  const axes = tab.over();
  const over = axes.map(({ name, start, stop, points }) => `--over ${quoted(`${name}=${start}:${stop}:${points}`)}`).join(" ");
  const command = `lissom mode-map ${quoted(sourceName(question.source))} ${over} --deg ${pointOptions(question).join(" ")} --count ${+tab.count.value} --plot map.png`;
  const pose = question.q ? `${python(question.q)}, ` : "";
  const lines = [...modelLines(question.source, question.changes),
    `axes = [${axes.map(({ name, start, stop, points }) => `ls.MapAxis(${python(name)}, ${start}, ${stop}, ${points})`).join(", ")}]`,
    `found = ls.map_modes(model, ${pose}over=axes, degrees=True, ${[...pointArguments(question), `count=${+tab.count.value}`].join(", ")})`,
    "print(found)"];
  return { command, lines };
}
function controlLines(question, tab) {
  const study = sourceName(tab.study.value || "library:double-pendulum");
  const command = `lissom control compare ${quoted(study)} --plot compare.png -o rows.csv --results runs`;
  const lines = ["import lissom as ls", `found = ls.compare_controllers(${python(study)}, picture="compare.png")`, "print(found)"];
  return { command, lines };
}
function sweepLines(question, tab) {
  const asked = tab.question();
  if (asked.study) {
    return { command: `lissom sweep ${quoted(asked.study)} --plot sweep.png`, lines: ["import lissom as ls", `sweep = ls.sweep(${python(asked.study)})`, "print(sweep)"] };
  }
  const over = Object.entries(asked.over).map(([key, value]) => `--over ${quoted(`${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)}`).join(" ");
  const metrics = asked.metrics.map((name) => `--metric ${quoted(name)}`).join(" ");
  const command = `lissom sweep ${quoted(sourceName(asked.source))}${settings(asked.changes)} --analysis ${asked.analysis} ${over} ${metrics} --store study.sweep --plot sweep.png`;
  const study = { scenario: sourceName(asked.source), analysis: asked.analysis, changes: asked.changes, over: asked.over, metrics: asked.metrics };
  return { command, lines: ["import lissom as ls", `sweep = ls.sweep(${python(study)}, store="study.sweep")`, "print(sweep)", 'sweep.plot("sweep.png")'] };
}

// A fold-out with both; opened once it stays so, on every screen, while what it says changes.
let isOpen = false;
export function equivalents({ command, lines }, folder) {
  const where = folder ? `in ${folder}` : "";
  return make("details", { class: "panel", open: isOpen, ontoggle: (event) => { isOpen = event.target.open; } },
    make("summary", {}, "Show as command and Python"),
    make("h2", { class: "small" }, `Command line ${where}`), make("pre", { class: "command" }, command),
    make("h2", { class: "small" }, "Python"), make("pre", { class: "python" }, lines.join("\n")));
}


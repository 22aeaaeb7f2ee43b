// The same without the studio: the command and the lines of Python that each screen stands for.
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

// The robot of a source as the services make it: with its changes, in the formulation of a scenario or a result.
const isPlainRobot = (source, changes) => source.startsWith("library:") && Object.keys(changes).every((key) => key === "formulation");
function modelLines(source, changes = {}) {
  const name = python(sourceName(source));
  const { formulation } = changes;
  if (isPlainRobot(source, changes)) return ["import lissom as ls", `model = ls.Model(${name}${formulation ? `, ${python(formulation)}` : ""})`];
  const others = Object.keys(changes).length ? `, ${python(changes)}` : "";
  return ["import lissom as ls", "from lissom.runs.sources import robot_of", `scenario = robot_of(${name}${others})`, "model = ls.Model.of_scenario(scenario)"];
}
// Joints that are not given are those of the scenario; of a bare robot they are zero.
const poseOf = ({ source, q, changes = {} }) => (q ? python(q) : isPlainRobot(source, changes) ? "" : "scenario.initial.q");

// `more`: what else is shown of the pose: masses, modes (their question), a map (its question).
export function poseLines({ source, q, changes }, sag, more = {}) {
  const at = rounded(q);
  const robot = `${quoted(sourceName(source))} --q=${at.join(",")}${settings(changes)}`;
  const lines = [...modelLines(source, changes), `state = model.${sag ? "static" : "at"}(${python(at)})`];
  if (sag) lines.push("print(state.torque)");
  if (more.masses) lines.push("from lissom.analyse.mass_properties import mass_properties", "print(mass_properties(model, state))");
  if (more.modes) lines.push(`print(ls.modes(model, state, locked=${python(more.modes.locked)}, count=${more.modes.count}))`);
  const commands = [`lissom ${sag ? "static" : "show"} ${robot}`, ...poseCommands(robot, more)];
  return { command: commands.join("\n"), lines };
}

function poseCommands(robot, { modes, map }) {
  const held = (question) => (question.locked ? " --locked" : "");
  const over = (axis) => ` --over ${axis.name}=${axis.start}:${axis.stop}:${axis.points}`;
  const commands = [];
  if (modes) commands.push(`lissom modes ${robot}${held(modes)} --count ${modes.count}`);
  if (map) commands.push(`lissom mode-map ${robot}${map.over.map(over).join("")}${held(map)} --count ${map.count}`);
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
    "from lissom.services.matrices import MatricesRequest, matrices", `matrices(MatricesRequest(robot=${python(file)}, result=${python(file)}, time=${time}, file="matrices.npz"))`];
  if (others.length) {
    commands.push(`lissom compare ${[file, ...others].map(quoted).join(" ")} --plot difference.png`);
    lines.push("from lissom.services.compare import CompareRunsRequest, compare", `found = compare(CompareRunsRequest(runs=${python([file, ...others])}))`, "print(found.differences)");
  }
  return { command: commands.join("\n"), lines };
}

export function startLines() {
  const command = ["lissom robots", "lissom import robot.urdf -o robot.yaml"].join("\n");
  const lines = ["from lissom.services.robots import robots", "print(robots())", "import lissom as ls", 'ls.import_robot("robot.urdf").save("robot.yaml")'];
  return { command, lines };
}

export function fileLines(source) {
  const command = `lissom validate ${quoted(sourceName(source))}`;
  const lines = ["import lissom as ls", `robot = ls.Robot.load(${python(sourceName(source))})`, "print(robot)"];
  return { command, lines };
}

// What each tab of the analyses stands for.
export function analysisLines(tab, question, parts) {
  return { modes: modesLines, map: mapLines, linear: linearLines, control: controlLines, sweep: sweepLines }[tab](question, parts[tab]);
}
const pointOptions = ({ q, kp, kd, locked, changes }) => [q && `--q=${q.join(",")}`, kp !== undefined && `--kp ${kp}`, kd !== undefined && `--kd ${kd}`, locked && "--locked", settings(changes).trim()].filter(Boolean);
const pointArguments = ({ kp, kd, locked }) => [kp !== undefined && `kp=${python(kp)}`, kd !== undefined && `kd=${python(kd)}`, locked && "locked=True"].filter(Boolean);

const requestArguments = (question) => [question.q && `q=${python(question.q)}`, Object.keys(question.changes).length && `changes=${python(question.changes)}`, ...pointArguments(question)].filter(Boolean);

function modesLines(question, tab) {
  const { count, damped, undeformed } = tab.question();
  const options = [...pointOptions(question), damped && "--damped", undeformed && "--undeformed", `--count ${count}`].filter(Boolean);
  const given = [...pointArguments(question), damped && "damped=True", `count=${count}`].filter(Boolean);
  const command = `lissom modes ${quoted(sourceName(question.source))} ${options.join(" ")} --animate mode.html --mode ${tab.mode}`;
  const state = undeformed ? "at" : "static";
  const lines = [...modelLines(question.source, question.changes), `state = model.${state}(${poseOf(question)})`, `modes = ls.modes(model, state, ${given.join(", ")})`, "print(modes)", `ls.animate_mode(model, state, modes, ${tab.mode}, "mode.html")`];
  return { command, lines };
}
function mapLines(question, tab) {
  const axes = tab.over();
  const over = axes.map(({ name, start, stop, points }) => `--over ${quoted(`${name}=${start}:${stop}:${points}`)}`).join(" ");
  const command = `lissom mode-map ${quoted(sourceName(question.source))} ${over} --deg ${pointOptions(question).join(" ")} --count ${+tab.count.value} --plot map.png`;
  const lines = ["from lissom.services.mode_map import MapAxis, ModeMapRequest, mode_map",
    `axes = [${axes.map(({ name, start, stop, points }) => `MapAxis(name=${python(name)}, start=${start}, stop=${stop}, points=${points})`).join(", ")}]`,
    `found = mode_map(ModeMapRequest(robot=${python(sourceName(question.source))}, over=axes, degrees=True, ${[...requestArguments(question), `count=${+tab.count.value}`].join(", ")}))`,
    "print(found.modes)"];
  return { command, lines };
}
function linearLines(question, tab) {
  const { inputs, outputs } = tab.channels();
  const name = quoted(sourceName(question.source));
  const channels = [inputs && `--inputs ${quoted(inputs.join(","))}`, outputs && `--outputs ${quoted(outputs.join(","))}`].filter(Boolean).join(" ");
  const point = pointOptions(question).join(" ");
  const commands = [`lissom linearize ${name} ${channels} ${point} -o model.npz`];
  if (inputs && outputs) commands.push(`lissom frequency-response ${name} ${channels} ${point} --plot bode.png`, `lissom step-response ${name} ${channels} ${point} --plot step.png`);
  const given = [...pointArguments(question), inputs && `inputs=${python(inputs)}`, outputs && `outputs=${python(outputs)}`].filter(Boolean);
  const lines = [...modelLines(question.source, question.changes), `linear = ls.linearize(model, ${[poseOf(question) || "None", ...given].join(", ")})`, 'linear.save("model.npz")', "print(linear)"];
  if (inputs && outputs) lines.push(`bode = ls.frequency_response(linear, ${python(inputs[0])}, ${python(outputs[0])})`, `step = ls.step_response(linear, ${python(inputs[0])}, ${python(outputs[0])})`);
  return { command: commands.join("\n"), lines };
}
function controlLines(question, tab) {
  const study = sourceName(tab.study.value || "library:double-pendulum");
  const command = `lissom control compare ${quoted(study)} --plot compare.png -o rows.csv --results runs`;
  const lines = ["from lissom.services.control_comparison import CompareRequest, compare", `found = compare(CompareRequest(study=${python(study)}, picture="compare.png"))`, "print(found.rows)"];
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
    make("summary", {}, "The same without the studio"),
    make("h2", { class: "small" }, `Command line ${where}`), make("pre", { class: "command" }, command),
    make("h2", { class: "small" }, "Python"), make("pre", { class: "python" }, lines.join("\n")));
}


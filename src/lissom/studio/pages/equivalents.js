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

export function poseLines(source, q, sag) {
  const name = sourceName(source);
  const joints = python(rounded(q));
  const verb = sag ? "static" : "show";
  const command = `lissom ${verb} ${quoted(name)} --q=${rounded(q).join(",")}`;
  const state = sag ? "static" : "at";
  const lines = [
    "import lissom as ls",
    `model = ls.Model(ls.Robot.load(${python(name)}))`,
    `state = model.${state}(${joints})`,
  ];
  if (sag) lines.push("print(state.torque)");
  return { command, lines };
}

export function runLines(source, changes, file) {
  const name = sourceName(source);
  const command = `lissom simulate ${quoted(name)}${settings(changes)} -o ${quoted(file || "run.nc")}`;
  const lines = [
    "import lissom as ls",
    `scenario = ls.Scenario.load(${python(name)})${replaced(changes)}`,
    "run = ls.run_scenario(scenario)",
    `run.save(${python(file || "run.nc")})`,
  ];
  return { command, lines };
}

export function resultLines(file) {
  const command = `lissom plot ${quoted(file)} -o run.png`;
  const lines = ["import lissom as ls", `run = ls.Run.load(${python(file)})`, 'run.animate("run.html")'];
  return { command, lines };
}

export function fileLines(source) {
  const command = `lissom validate ${quoted(sourceName(source))}`;
  const lines = ["import lissom as ls", `robot = ls.Robot.load(${python(sourceName(source))})`, "print(robot)"];
  return { command, lines };
}

// A fold-out with both.
export function equivalents({ command, lines }, folder) {
  const where = folder ? `in ${folder}` : "";
  return make("details", { class: "panel" },
    make("summary", {}, "The same without the studio"),
    make("h3", {}, `Command line ${where}`), make("pre", { class: "command" }, command),
    make("h3", {}, "Python"), make("pre", { class: "python" }, lines.join("\n")));
}


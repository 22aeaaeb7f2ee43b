// Fields of verbs, made from their declarations: name, help, unit, range and default as the command line has them.
import { button, make } from "./dom.js";
import { getOnce, post, save } from "./server.js";

export const ask = (verb, question) => post(`verbs/${verb}`, question);
export const saveFile = (verb, question, ending, stem = verb) => save(`verbs/${verb}/file`, { ...question, ending }, `${stem}${ending}`);
// A button for each of some files that a verb writes; `question` depends on the ending, and `run` reports errors.
export const saveButtons = (verb, question, run, ...entries) =>
  entries.map(([text, ending]) => button(text, () => run(() => saveFile(verb, question(ending), ending))));
// The same question with more values.
export const withValues = ({ values, ...about }, more) => ({ ...about, values: { ...values, ...more } });

// The first words of the help are what the field is called; the whole of it shows above it.
const titleOf = ({ help }) => help.split(/[,;:.(]/)[0];
const LISTS = ["positions", "speeds", "accelerations", "forces", "gains", "band"];
export const parts = (text = "") => text.split(",").map((part) => part.trim()).filter(Boolean);

function rangeOf(schema) {
  const { minimum, maximum } = [schema, ...(schema.anyOf ?? [])].find((one) => one.minimum !== undefined) ?? {};
  return { min: minimum ?? "", max: maximum ?? "" };
}

function fieldOf(parameter, onchange) {
  const { name, kind, help, default: first } = parameter;
  if (kind === "bool") {
    const box = make("input", { type: "checkbox", checked: first === true, onchange });
    const element = make("label", { class: "check", title: help }, box, titleOf(parameter));
    return { element, box, value: () => box.checked || undefined };
  }
  const isNumber = kind === "int" || kind === "float";
  const input = make("input", { class: "number", title: help, placeholder: first === null ? "none" : "", "data-parameter": name, onchange });
  if (isNumber) Object.assign(input, { type: "number", step: kind === "float" ? "any" : 1, ...rangeOf(parameter) });
  input.value = first ?? "";
  const element = make("label", { class: "pair", title: help }, titleOf(parameter), input);
  const value = () => {
    const text = input.value.trim();
    if (!text) return undefined;
    if (isNumber) return +text;
    if (!LISTS.includes(kind)) return kind === "names" ? parts(text) : text;
    const numbers = parts(text).map(Number);
    return kind === "gains" && numbers.length === 1 ? numbers[0] : numbers;
  };
  return { element, input, value };
}

// Which parameters a form shows: those of the point that an analysis is about, its switches, or those of the verb itself.
export const ofPoint = ({ group }) => group === "point";
export const switchesOfPoint = (one) => ofPoint(one) && one.kind === "bool";
export const ownOnes = ({ group, owner }) => group !== "point" && owner === "function";
export const named = (...names) => ({ name }) => names.includes(name);

// The fields of some parameters of a verb.
export class VerbFields {
  constructor(verb, wanted, onchange = () => {}) {
    Object.assign(this, { verb, wanted, onchange });
    this.element = make("span", { class: "row" });
    this.fields = {};
  }
  async open() {
    if (Object.keys(this.fields).length) return;
    const { parameters } = (await getOnce("verbs"))[this.verb];
    for (const one of parameters.filter(this.wanted)) this.fields[one.name] = fieldOf(one, () => this.onchange());
    this.element.replaceChildren(...Object.values(this.fields).map(({ element }) => element));
  }
  // Empty fields are left out: the declaration has their defaults.
  values() {
    const given = Object.entries(this.fields).map(([name, { value }]) => [name, value()]);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  }
}

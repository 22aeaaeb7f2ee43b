// Elements of the page.

export const $ = (id) => document.getElementById(id);

let ids = 0;
export const freshId = (word) => `${word}-${++ids}`;

// An element with properties, attributes (those with a dash, `role` and `for`) and children.
export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.includes("-") || name === "role" || name === "for") made.setAttribute(name, value);
    else if (name === "class") made.className = value;
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (text, onclick, properties = {}) => make("button", { type: "button", onclick, ...properties }, text);

// A label and its input, tied to each other.
export function labelled(text, input) {
  input.id ||= freshId("field");
  return [make("label", { for: input.id }, text), input];
}

// The same, never separated by a line break.
export const pair = (text, input) => make("span", { class: "pair" }, ...labelled(text, input));

// The titles of the columns of a table.
export const heading = (...columns) => make("thead", {}, make("tr", {}, ...columns.map((text) => make("th", { scope: "col" }, text))));

// A check box in its label; the box is the `control` of the label.
export function checkbox(text, checked, onchange, properties = {}) {
  const box = make("input", { ...properties, type: "checkbox", checked, onchange: () => onchange(box.checked) });
  return make("label", { class: "check" }, box, text);
}

// What can be chosen: values with their words, or words that are both.
const option = (one) => {
  const [value, text = value] = [one].flat();
  return make("option", { value }, text);
};
export const setOptions = (select, options) => select.replaceChildren(...options.map(option));
// The same in groups with titles; those without any are left out.
export function setGroups(select, groups) {
  const known = groups.filter(([, options]) => options.length);
  select.replaceChildren(...known.map(([label, options]) => make("optgroup", { label }, ...options.map(option))));
}
export function choice(options, value, onchange = () => {}, properties = {}) {
  const made = make("select", { ...properties, onchange: () => onchange(made.value) });
  setOptions(made, options);
  made.value = value;
  return made;
}

export function shown(number, digits = 4) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "\u2013";
  const size = Math.abs(number);
  if (size < 1e-12) return "0";
  return size >= 1e5 || size < 1e-3 ? number.toExponential(2) : String(+number.toPrecision(digits));
}

export const percent = (share) => (share === null ? "\u2013" : shown(100 * share, 3));

// Shows the error of `act` in `place`; `clear` takes away what an earlier answer left there.
export async function reporting(place, act, clear = () => {}) {
  try {
    await act();
  } catch (failure) {
    clear();
    place.textContent = failure.message;
  }
}

// Does something of our own, if anything, instead of what the browser does with an event.
export function actOn(event, act) {
  if (!act) return;
  event.preventDefault();
  act();
}

const SVG = "http://www.w3.org/2000/svg";
export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
export const svgText = (x, y, words, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, words);

// Calls `act` once things have been quiet for some milliseconds.
export function debounced(act, wait) {
  let timer = null;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), wait);
  };
}

let hiding = null;
export function notice(text) {
  const box = $("notice");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { box.hidden = true; }, 8000);
}

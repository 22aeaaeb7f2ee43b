// Changes of a YAML text that keep all the rest of it: comments, order, spaces.
import { isScalar, isSeq, parseDocument, stringify } from "/assets/vendor/yaml.js";

const NUMBER = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/;
const LINE = { lineWidth: 0, flowCollectionPadding: false };

// The document of a text, null where the text is no YAML.
export function documentOf(text) {
  const found = parseDocument(text, { keepSourceTokens: true });
  return found.errors.length ? null : found;
}

// The text of the value at a path as it is written: `90 deg`, `2.1e11`; empty where there is none.
export function writtenAt(text, document, path) {
  const node = document.getIn(path, true);
  if (!isScalar(node)) return "";
  if (!node.range) return String(node.value ?? "");
  const written = text.slice(node.range[0], node.range[1]);
  return /^["']/.test(written) ? String(node.value) : written;
}

export const dataAt = (document, path) => {
  const node = document.getIn(path, true);
  return node && node.toJSON ? node.toJSON() : undefined;
};

// The same of a list or a mapping, in one line: `[0, 0, 1]`.
export function flowAt(text, document, path) {
  const node = document.getIn(path, true);
  if (node === undefined || node === null) return "";
  if (isScalar(node)) return writtenAt(text, document, path);
  const written = node.range ? text.slice(node.range[0], node.range[1]).trim() : "";
  if (node.flow && !/[\n#]/.test(written)) return written;
  return stringify(node.toJSON(), { collectionStyle: "flow", ...LINE }).trim();
}

// What the user typed as YAML writes it.
function scalarText(typed) {
  const value = typed.trim();
  if (NUMBER.test(value)) return value;
  return stringify(value, { lineWidth: 0 }).trim();
}

// The piece of text to be replaced so that the value at a path is what the user typed; empty takes it out.
export function valueEdit(text, path, typed) {
  const document = documentOf(text);
  if (!document) return null;
  const node = document.getIn(path, true);
  if (typed.trim() !== "" && isScalar(node) && node.range && node.range[1] > node.range[0]) {
    return { from: node.range[0], to: node.range[1], insert: scalarText(typed) };
  }
  if (typed.trim() === "") {
    if (document.hasIn(path)) document.deleteIn(path);
    dropEmpty(document, path.slice(0, -1));
  } else setTyped(document, path, typed);
  return difference(text, merged(text, document));
}

function setTyped(document, path, typed) {
  const value = typed.trim();
  const made = document.createNode(NUMBER.test(value) ? Number(value) : value);
  // 1e-4 stays 1e-4.
  if (NUMBER.test(value) && /e/i.test(value)) made.format = "EXP";
  ensureParents(document, path);
  document.setIn(path, made);
}
// A mapping without entries is none: `motor: {}` goes when its last entry does.
function dropEmpty(document, path) {
  for (let k = path.length; k > 0; k--) {
    const node = document.getIn(path.slice(0, k), true);
    if (!node || !node.items || node.items.length || typeof path[k - 1] === "number") return;
    document.deleteIn(path.slice(0, k));
  }
}
// Numbers in a path count the entries of a list.
function ensureParents(document, path) {
  for (let k = 1; k < path.length; k++) {
    if (document.getIn(path.slice(0, k), true) !== undefined) continue;
    const empty = document.createNode(typeof path[k] === "number" ? [] : {});
    empty.flow = true;
    document.setIn(path.slice(0, k), empty);
  }
}

// The piece to be replaced so that a list or a mapping is what the user typed, in one line of YAML; empty takes it out.
export function flowEdit(text, path, typed) {
  if (typed.trim() === "") return valueEdit(text, path, "");
  const parsed = documentOf(typed);
  const document = documentOf(text);
  if (!parsed || !document) return null;
  ensureParents(document, path);
  // Numbers stay as they were typed: 1e-3, 90 deg.
  const made = flowing(parsed.contents);
  document.setIn(path, withComment(made, document.getIn(path, true)));
  return difference(text, merged(text, document));
}

// Several changes, each of the text that the one before has left, as one that can be undone at once.
export function editsInTurn(text, ...makers) {
  let now = text;
  for (const maker of makers) {
    const edit = maker(now);
    if (edit) now = now.slice(0, edit.from) + edit.insert + now.slice(edit.to);
  }
  return difference(text, now);
}

// The same for whole data: a link, a section; undefined takes it out.
export function dataEdit(text, path, data) {
  const document = documentOf(text);
  if (!document) return null;
  if (data === undefined) {
    if (document.hasIn(path)) document.deleteIn(path);
    dropEmpty(document, path.slice(0, -1));
    return difference(text, merged(text, document));
  }
  ensureParents(document, path);
  document.setIn(path, withComment(flowing(document.createNode(data, { aliasDuplicateObjects: false })), document.getIn(path, true)));
  return difference(text, merged(text, document));
}
export function appendEdit(text, path, data) {
  const document = documentOf(text);
  if (!document) return null;
  if (!document.hasIn(path)) document.setIn(path, document.createNode([]));
  const list = document.getIn(path, true);
  if (!isSeq(list)) return null;
  list.flow = false;
  list.add(blockLink(document.createNode(data, { aliasDuplicateObjects: false })));
  return difference(text, merged(text, document));
}

function flowing(node) {
  if (node.items) node.flow = true;
  return node;
}
// A link stands on lines of its own, its inner mappings in one line each.
function blockLink(node) {
  for (const pair of node.items ?? []) {
    for (const inner of pair.value?.items ?? []) flowing(inner.value ?? inner);
  }
  return node;
}

// The comment beside an entry stays when the entry is replaced.
function withComment(made, old) {
  if (old?.comment) made.comment = old.comment;
  return made;
}

// The text of a changed document in which only the lines that changed are written anew: the library that writes YAML
// has its own taste for spaces and numbers, and the user's lines stay as they are.
function merged(text, changed) {
  const lines = text.split("\n");
  const before = documentOf(text).toString(LINE).split("\n");
  const after = changed.toString(LINE).split("\n");
  if (before.length !== lines.length) return after.join("\n");
  let head = 0;
  const shortest = Math.min(before.length, after.length);
  while (head < shortest && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const middle = after.slice(head, after.length - tail);
  return [...lines.slice(0, head), ...middle, ...lines.slice(lines.length - tail)].join("\n");
}

// The smallest piece in which two texts differ.
function difference(before, after) {
  let from = 0;
  const shortest = Math.min(before.length, after.length);
  while (from < shortest && before[from] === after[from]) from++;
  let tail = 0;
  while (tail < shortest - from && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) };
}

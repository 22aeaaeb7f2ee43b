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

// The same for a list or a mapping, in one line: `[0, 0, 1]`.
export function flowAt(text, document, path) {
  const node = document.getIn(path, true);
  if (node === undefined || node === null) return "";
  if (isScalar(node)) return writtenAt(text, document, path);
  const written = node.range ? text.slice(node.range[0], node.range[1]).trim() : "";
  if (node.flow && !/[\n#]/.test(written)) return written;
  return stringify(node.toJSON(), { collectionStyle: "flow", ...LINE }).trim();
}

// What the user typed, as YAML.
const scalarText = (value) => (NUMBER.test(value) ? value : stringify(value, { lineWidth: 0 }).trim());

// The piece of text to be replaced so that the value at a path is what the user typed; empty takes it out.
export function valueEdit(text, path, typed) {
  const node = documentOf(text)?.getIn(path, true);
  if (typed.trim() !== "" && isScalar(node) && node.range && node.range[1] > node.range[0]) {
    return { from: node.range[0], to: node.range[1], insert: scalarText(typed.trim()) };
  }
  return edited(text, (document) => (typed.trim() === "" ? takeOut(document, path) : put(document, path, typedNode(document, typed.trim()))));
}

// The piece to be replaced so that a list or a mapping is what the user typed, in one line of YAML; empty takes it out.
export function flowEdit(text, path, typed) {
  if (typed.trim() === "") return valueEdit(text, path, "");
  const parsed = documentOf(typed);
  // Numbers stay as they were typed: 1e-3, 90 deg.
  return parsed && edited(text, (document) => put(document, path, flowing(parsed.contents)));
}

// The same for whole data: a link, a section; undefined takes it out.
export function dataEdit(text, path, data) {
  return edited(text, (document) => (data === undefined ? takeOut(document, path) : put(document, path, flowing(dataNode(document, data)))));
}
export function appendEdit(text, path, data) {
  return edited(text, (document) => {
    if (!document.hasIn(path)) document.setIn(path, document.createNode([]));
    const list = document.getIn(path, true);
    if (!isSeq(list)) return false;
    list.flow = false;
    list.add(blockLink(dataNode(document, data)));
    return true;
  });
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

// The edit that a change of the document makes of the text; null where the text is no YAML, or the change cannot be made.
function edited(text, change) {
  const document = documentOf(text);
  return document && change(document) !== false ? difference(text, merged(text, document)) : null;
}
function put(document, path, made) {
  // Numbers in a path count the entries of a list.
  for (let k = 1; k < path.length; k++) {
    if (document.getIn(path.slice(0, k), true) !== undefined) continue;
    document.setIn(path.slice(0, k), flowing(document.createNode(typeof path[k] === "number" ? [] : {})));
  }
  // The comment beside an entry stays when the entry is replaced.
  const comment = document.getIn(path, true)?.comment;
  if (comment) made.comment = comment;
  document.setIn(path, made);
}
// A mapping without entries is none: `motor: {}` goes when its last entry does.
function takeOut(document, path) {
  if (document.hasIn(path)) document.deleteIn(path);
  for (let k = path.length - 1; k > 0; k--) {
    const node = document.getIn(path.slice(0, k), true);
    if (!node?.items || node.items.length || typeof path[k - 1] === "number") return;
    document.deleteIn(path.slice(0, k));
  }
}

const dataNode = (document, data) => document.createNode(data, { aliasDuplicateObjects: false });
// A number that is parsed keeps its form: 1e-4 stays 1e-4.
const typedNode = (document, value) => (NUMBER.test(value) ? parseDocument(value).contents : document.createNode(value));
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

// The text of a changed document in which only the lines that changed are written: the library that writes YAML
// writes spaces and numbers its own way, and the user's lines stay as they are.
function merged(text, changed) {
  const lines = text.split("\n");
  const before = documentOf(text).toString(LINE).split("\n");
  const after = changed.toString(LINE).split("\n");
  if (before.length !== lines.length) return after.join("\n");
  const [head, tail] = shared(before, after);
  return [...lines.slice(0, head), ...after.slice(head, after.length - tail), ...lines.slice(lines.length - tail)].join("\n");
}

// The smallest piece in which two texts differ.
function difference(before, after) {
  const [from, tail] = shared(before, after);
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) };
}
// How much two texts, or two lists of lines, have in common at their start and at their end.
function shared(before, after) {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [head, tail];
}

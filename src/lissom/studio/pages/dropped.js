// Files that are dropped or chosen: brought into the folder with the folders they lie in, robots of URDF made into files.
import { post, query, upload } from "./server.js";

const ROBOT = /\.urdf$/i;
const KNOWN = /\.(ya?ml|urdf|nc|npz|npy|stl|obj|dae|csv)$/i;

// All files below what was dropped, each with its path.
export async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ path: file.name, file }));
  const found = [];
  for (const entry of entries) await walk(entry, "", found);
  return found;
}
async function walk(entry, before, found) {
  const path = before + entry.name;
  if (entry.isFile) {
    found.push({ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) });
    return;
  }
  const reader = entry.createReader();
  // A reader hands out a hundred entries at a time.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const inner of some) await walk(inner, `${path}/`, found);
  }
}
export const chosenFiles = (files) => [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

// Where meshes that come without their folders belong: where the robot beside them expects them.
async function meshPlaces(found) {
  const places = new Map();
  for (const { path, file } of found.filter((one) => ROBOT.test(one.path))) {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    for (const [, name] of (await file.text()).matchAll(/filename\s*=\s*"([^"]+)"/g)) {
      const place = name.replace(/^(package|model|file):\/\/[^/]*\//, "").replace(/^(\.\/)+/, "");
      if (!place.includes("..")) places.set(place.split("/").at(-1), folder + place);
    }
  }
  return places;
}

// Uploads files: their names in the folder, the robots that were imported, notes and problems.
export async function bring(found) {
  const outcome = { names: [], made: [], notes: [], problems: [] };
  const places = await meshPlaces(found);
  const unknown = found.filter(({ path }) => !KNOWN.test(path));
  if (unknown.length) outcome.problems.push(`left out: ${unknown.map(({ path }) => path).slice(0, 4).join(", ")}${unknown.length > 4 ? ", \u2026" : ""}`);
  // Robots last: their meshes are in the folder by then.
  const known = found.filter(({ path }) => KNOWN.test(path)).sort((a, b) => ROBOT.test(a.path) - ROBOT.test(b.path));
  for (const { path, file } of known) {
    const isLone = !path.includes("/");
    try {
      const name = await upload(file, isLone ? places.get(path) ?? path : path);
      outcome.names.push(name);
      if (!ROBOT.test(name)) continue;
      const { file: made, notes } = await importRobot(name);
      outcome.made.push(made);
      outcome.notes.push(...notes);
    } catch (failure) {
      outcome.problems.push(`${path}: ${failure.message}`);
    }
  }
  return outcome;
}
export const importRobot = (name) => post(`import?${query({ name })}`);

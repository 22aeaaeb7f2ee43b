// One page to print: what was run, the robot, its curves, how far other runs are, and how to do it again.
import { heading, make, shown } from "./dom.js";

export async function printReport(screen, picture) {
  const { facts } = screen;
  const side = make("div", { class: "side" }, make("img", { src: URL.createObjectURL(picture), alt: `The robot at ${shown(screen.player.t)} s` }), jointTable(facts));
  const page = make("article", { class: "report" },
    make("h1", {}, `${facts.robot}: ${screen.file}`), ...summary(facts), side,
    ...screen.charts.pictures().map(chartFigure), ...screen.compare.tables(),
    make("pre", {}, screen.same.command.textContent));
  document.body.append(page);
  await Promise.all([...page.querySelectorAll("img")].map((image) => image.decode().catch(() => {})));
  // Printing may come back at once: the page goes when it is over.
  addEventListener("afterprint", () => page.remove(), { once: true });
  print();
}

function chartFigure({ title, address, curves }) {
  const names = curves.map(({ name, color, dash }) => {
    const key = make("span", { class: "key" }, `${dash ? "- -" : "\u2014"} ${name}`);
    key.style.color = color;
    return key;
  });
  return make("figure", {}, make("figcaption", {}, title), make("img", { src: address, alt: title }), make("div", {}, ...names));
}

// How the run went, with its warnings.
export function summary(facts) {
  const ended = facts.complete ? "complete" : `incomplete: ${facts.reason}`;
  const text = `${facts.model}, ${shown(facts.start)} to ${shown(facts.end)} s in ${facts.samples} samples, ${facts.steps} steps by ${facts.method}, ` +
    `${ended}; largest gap in the energy balance ${shown(100 * facts.energy_residual, 2)} %; computed in ${shown(facts.wall_s, 3)} s`;
  return [make("p", {}, text), ...facts.warnings.map((line) => make("p", { class: "warning" }, line))];
}

export function jointTable(facts) {
  const rows = facts.joints.map(({ name, type, lowest, highest, torque }) => {
    const turns = type === "revolute";
    const [unit, factor, effort] = turns ? ["deg", 180 / Math.PI, "N m"] : type === "prismatic" ? ["m", 1, "N"] : ["rad or m", 1, "N m or N"];
    const cells = [`${shown(factor * lowest)} ${unit}`, `${shown(factor * highest)} ${unit}`, `${shown(torque)} ${effort}`];
    return make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((text) => make("td", { class: "numbers" }, text)));
  });
  const tips = facts.tips.map(({ name, displacement, at }) => make("tr", {}, make("th", { scope: "row" }, name),
    make("td", { class: "numbers", colSpan: 3 }, `up to ${shown(1e3 * displacement)} mm from the ERLS, at ${shown(at)} s`)));
  return make("table", {}, heading("joint", "lowest", "highest", "largest torque"), make("tbody", {}, ...rows, ...tips));
}

// Light or dark: as the system has it, until the user chooses.
import { $ } from "./dom.js";

const listeners = new Set();
const system = matchMedia("(prefers-color-scheme: dark)");
let chosen = localStorage.getItem("theme");

export const currentTheme = () => chosen || (system.matches ? "dark" : "light");
export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function onTheme(listen) {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

function apply() {
  document.documentElement.dataset.theme = currentTheme();
  listeners.forEach((listen) => listen(currentTheme()));
}

export function beginTheme() {
  apply();
  system.addEventListener("change", apply);
  $("theme").onclick = () => {
    chosen = currentTheme() === "dark" ? "light" : "dark";
    localStorage.setItem("theme", chosen);
    apply();
  };
}

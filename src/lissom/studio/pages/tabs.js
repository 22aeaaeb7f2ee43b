// Tabs, as keyboards and screen readers expect them.
import { freshId, make } from "./dom.js";

export class Tabs {
  // `entries`: key, text, element.
  constructor(label, entries, onChange) {
    this.onChange = onChange;
    this.entries = entries.map(([key, text, element]) => this.entry(key, text, element));
    this.bar = make("div", { class: "tabs", role: "tablist", "aria-label": label }, ...this.entries.map(({ tab }) => tab));
    this.bar.onkeydown = (event) => this.key(event);
    this.element = make("div", {}, this.bar, ...this.entries.map(({ panel }) => panel));
  }
  entry(key, text, element) {
    const id = freshId("tab");
    const tab = make("button", { type: "button", role: "tab", id, "aria-controls": `${id}-panel` }, text);
    tab.onclick = () => this.onChange(key);
    const panel = make("div", { role: "tabpanel", id: `${id}-panel`, "aria-labelledby": id, tabIndex: 0 }, element);
    return { key, tab, panel };
  }
  show(key) {
    this.current = key;
    for (const entry of this.entries) {
      const isShown = entry.key === key;
      entry.tab.setAttribute("aria-selected", isShown);
      entry.tab.tabIndex = isShown ? 0 : -1;
      entry.panel.hidden = !isShown;
    }
  }
  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const k = this.entries.findIndex(({ key }) => key === this.current);
    const next = this.entries[(k + step + this.entries.length) % this.entries.length];
    next.tab.focus();
    this.onChange(next.key);
  }
}

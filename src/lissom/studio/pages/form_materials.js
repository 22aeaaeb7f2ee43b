// The material of a beam: one of the library, found by a search, or values of one's own.
import { button, make, shown } from "./dom.js";

export class MaterialChoice {
  constructor(form, materials) {
    Object.assign(this, { form, materials, sought: "" });
  }
  element(field, path) {
    const material = this.form.at(path);
    const name = this.form.nameOf(path[1]);
    const search = make("input", {
      type: "search", placeholder: "search the library", value: this.sought,
      "aria-label": `Material library: search for ${name}`, "data-field": this.form.fieldName(path),
    });
    const list = make("ul", { class: "materials", "aria-label": "Materials of the library" });
    const fill = () => {
      this.sought = search.value;
      const found = this.materials.filter((one) => matches(one, this.sought)).map((one) => this.entry(one, path, material));
      list.replaceChildren(...(found.length ? found : [make("li", { class: "soft" }, "none of this name")]));
    };
    search.oninput = fill;
    fill();
    return make("div", { class: "material" }, make("h2", { class: "small" }, `Material: ${typeof material === "string" ? material : "own values"}`), this.own(field, path, material), search, list);
  }
  entry(one, path, material) {
    const words = `${one.name}: E ${shown(one.E / 1e9, 3)} GPa, \u03bd ${one.nu}, ${shown(one.density)} kg/m\u00b3`;
    return make("li", {}, button(words, () => this.form.set(path, one.name), { "aria-pressed": one.name === material }));
  }
  own({ fields }, path, material) {
    if (typeof material === "string") {
      const { E, nu, density } = this.materials.find((one) => one.name === material) ?? this.materials[0];
      return button("Own values", () => this.form.set(path, { E, nu, density }));
    }
    return make("span", { class: "row field" }, ...fields.map((one) => this.form.pair(one, [...path, one.key])));
  }
}

// Every word that is typed stands in the name, or in the values: `steel`, `al`, `2700`.
function matches(one, sought) {
  const text = `${one.name} ${one.E / 1e9} GPa ${one.density}`.toLowerCase();
  return sought.toLowerCase().split(/\s+/).filter(Boolean).every((word) => text.includes(word));
}

import { freshId, make } from "./dom.js";

// The validator's words at the fields; each message goes to the fields that stand nearest to its place.
export function markFields(form, errors) {
  for (const said of form.querySelectorAll(".field-message")) said.remove();
  const inputs = [...form.querySelectorAll("[data-field]")];
  inputs.forEach((input) => { input.removeAttribute("aria-invalid"); input.removeAttribute("aria-describedby"); });
  for (const error of errors) nearest(inputs, error.field).forEach((input) => markField(input, error.message));
}
function markField(input, message) {
  const said = make("div", { class: "field-message", id: freshId("message") }, message);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", said.id);
  (input.closest("td, .field") ?? input.parentElement).append(said);
}

function nearest(inputs, field) {
  const fits = inputs.filter(({ dataset }) => dataset.field && (field === dataset.field || field.startsWith(`${dataset.field}.`)));
  const longest = Math.max(...fits.map(({ dataset }) => dataset.field.length));
  return fits.filter(({ dataset }) => dataset.field.length === longest);
}

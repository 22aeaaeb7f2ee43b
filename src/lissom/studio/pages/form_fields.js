import { freshId, make } from "./dom.js";

// The validator's messages at the fields: each goes to the fields with the longest path that leads to its place.
export function markFields(form, errors) {
  form.querySelectorAll(".field-message").forEach((message) => message.remove());
  const inputs = [...form.querySelectorAll("[data-field]")];
  inputs.forEach((input) => { input.removeAttribute("aria-invalid"); input.removeAttribute("aria-describedby"); });
  for (const error of errors) nearest(inputs, error.field).forEach((input) => markField(input, error.message));
}
function markField(input, text) {
  const message = make("div", { class: "field-message", id: freshId("message") }, text);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", message.id);
  (input.closest("td, .field") ?? input.parentElement).append(message);
}

function nearest(inputs, field) {
  const fits = inputs.filter(({ dataset }) => dataset.field && (field === dataset.field || field.startsWith(`${dataset.field}.`)));
  const longest = Math.max(...fits.map(({ dataset }) => dataset.field.length));
  return fits.filter(({ dataset }) => dataset.field.length === longest);
}

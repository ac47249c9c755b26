// Parts of the input of the lab of sparse attention that know nothing of one another: labelled controls and sliders.

import { el } from "./dom.js";
import { t } from "./lang.js";

/** A control under its name. reads: what it stands at is said beside the name. */
export function field(key, control, { tag = "label", reads = false } = {}) {
  const name = el("span", { class: "tfe-maker-name" });
  const said = reads ? el("span", { class: "tfe-maker-value", "aria-hidden": "true" }) : null;
  return { name, said, control, node: el(tag, { class: `tfe-maker-field is-${key}` }, name, said, control) };
}

/** A field with a slider. onInput(number) */
export const slider = (key, [low, high, step], onInput) =>
  field(key, el("input", { class: "tfe-range", type: "range", min: low, max: high, step, "data-field": key, oninput: (event) => onInput(Number(event.target.value)) }), { reads: true });

/** at: where the slider stands; reads: how that is said; long: in a tip. */
export function paintSlider({ name, said, control, node }, text, { at, reads, long }) {
  const [low, high] = [Number(control.min), Number(control.max)];
  control.value = String(at);
  control.style.setProperty("--at", `${((Number(control.value) - low) / (high - low)) * 100}%`);
  control.setAttribute("aria-valuetext", reads);
  name.textContent = t(text);
  said.textContent = reads;
  node.title = long;
}

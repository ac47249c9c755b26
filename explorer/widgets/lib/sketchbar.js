// Parts of the input of the lab of sparse attention that know nothing of one another: labelled controls, the seed, the badge.

import { el } from "./dom.js";
import { t } from "./lang.js";
import { TEXT, grouped, milliseconds, ordinal } from "./sketchwords.js";

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

/** The box of the seed. most: the largest; now: () → the one in force; onInput: of one that may be; onEnter */
export function seedField({ most, now, onInput, onEnter }) {
  const control = el("input", {
    class: "tfe-input tfe-maker-seed",
    type: "number",
    inputmode: "numeric",
    min: 0,
    max: most,
    step: 1,
    oninput: () => {
      const wanted = Math.trunc(Number(control.value));
      if (control.value !== "" && wanted >= 0 && wanted <= most) onInput(wanted);
    },
    onblur: () => {
      control.value = String(now());
    },
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // the form's own answer would press Stop
      onEnter();
    },
  });
  return field("seed", control);
}

/** Where the result in view comes from, or how far it has come: [class, words]. wrong: is something refused? */
export function badgeOf({ value, pending, stopped, wrong }) {
  const info = value.badge ?? {};
  if (stopped) return ["stored", t(TEXT.stopped)];
  if (pending) {
    if (value.state === "waiting" && info.place) {
      const place = document.documentElement.lang.startsWith("zh") ? info.place : ordinal(info.place);
      return ["waiting", t(TEXT.waiting, { place, of: info.of, s: Math.max(1, Math.round(info.seconds)) })];
    }
    if (value.state !== "running") return ["live", t(TEXT.starting)];
    const { at, of } = info.done;
    return ["live", t(value.request.task === "text" ? TEXT.atText : TEXT.atDigit, { at: grouped(at), of: grouped(of), device: info.device ? ` · ${info.device}` : "" })];
  }
  if (wrong) return ["refused", t(TEXT.refused)];
  if (value.state === "stored") return ["stored", t(TEXT.stored)];
  if (value.state === "live") return ["live", t(TEXT.live, { ms: milliseconds(info.milliseconds), device: info.device })];
  return ["", ""];
}

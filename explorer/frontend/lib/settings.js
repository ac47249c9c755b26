// How an answer is made, in the input bar: numbers as sliders, a seed, a choice of a few as a menu.

import { grouped } from "./badge.js";
import { el } from "./dom.js";
import { t } from "./lang.js";
import { seedBox } from "./seed.js";

/**
 * @param {any[]} controls of kind "number", "seed" or "select", as controls.py draws them
 * @param {{begin: (control: any) => string, changed: () => void, run: () => void, here: (control:
 * any) => boolean}} how begin: what stands
 *   there first. changed: one is set anew, or what stands in a box is none. run: ask for it now.
 *   here: does it belong to what is asked? Of one that does not, the default is; of one field there
 *   may be several controls, each with a value of its own
 * @returns {{node: HTMLElement, controls: any[], values: () => any, now: (field: string) => any,
 * fields: () => any, of: (fields: any) => string[], set: (fields: any) => void, refusal: () => any,
 * judge: () => any, unsaid: () => boolean, paint: () => void}}
 *   of: what of a request stands here, so that two can be compared. judge: as `refusal`, of what
 *   stands there now. unsaid: does something stand in a box that is none?
 */
export function settingsOf(controls, { begin, changed, run, here }) {
  const made = controls.map((control) => ({ number: slider, seed, select })[control.kind](control));
  const values = new Map(controls.map((control) => [control, begin(control)]));
  const node = el("div", { class: "tfe-ask-settings" }, ...made.map((one) => one.node));

  function choose(control, text) {
    values.set(control, text);
    paint();
    changed();
  }

  function framed(control, input) {
    const name = el("span", { class: "tfe-ask-setting-name" });
    const reading = el("span", { class: "tfe-ask-setting-value", "aria-hidden": "true" });
    const node = el("label", { class: `tfe-ask-setting is-${control.kind}` }, name, reading, input);
    return {
      reading,
      node,
      paint(value) {
        name.textContent = t(control.label);
        node.title = t(control.hint, { value });
      },
    };
  }

  function slider(control) {
    const { field, least, most, step } = control;
    const digits = (String(step).split(".")[1] ?? "").length;
    const names = new Map(control.names);
    const input = el("input", {
      class: "tfe-range",
      type: "range",
      min: least,
      max: most,
      step,
      "data-field": field,
    });
    input.addEventListener("input", () => choose(control, input.value));
    const frame = framed(control, input);
    frame.node.classList.toggle("is-wide", names.size > 0); // names take more room than numbers
    return {
      node: frame.node,
      paint() {
        const at = Number(values.get(control));
        const said = digits ? at.toFixed(digits) : grouped(at);
        const named = names.get(values.get(control));
        input.value = String(at);
        input.style.setProperty(
          "--at",
          `${Math.min(100, Math.max(0, ((at - least) / (most - least)) * 100))}%`,
        );
        frame.paint(said);
        frame.reading.textContent = named
          ? t(named)
          : control.unit
          ? t(control.unit, { n: said })
          : said;
        input.setAttribute("aria-valuetext", frame.reading.textContent);
      },
    };
  }

  function seed(control) {
    const box = seedBox({
      most: control.most,
      className: "tfe-ask-seed",
      onSeed: (wanted) => choose(control, String(wanted)),
      onWrong: () => changed(),
      onEnter: run,
    });
    const frame = framed(control, box.node);
    return {
      node: frame.node,
      box,
      paint() {
        frame.paint();
        box.show(Number(values.get(control)));
      },
    };
  }

  function select(control) {
    const names = new Map(control.names);
    const input = el("select", { class: "tfe-select", "data-field": control.field });
    let offered = control.values;
    input.addEventListener("change", () => choose(control, offered[input.selectedIndex]));
    const frame = framed(control, input);
    return {
      node: frame.node,
      paint() {
        const now = values.get(control);
        // a link may say another number
        offered = control.values.includes(now)
          ? control.values
          : [...control.values, now].sort((one, other) => one - other);
        const said = offered.map((value) =>
          t(names.get(value)) ||
          (control.unit ? t(control.unit, { n: value }) : value)
        );
        frame.paint();
        if (
          [...input.options].map(({ textContent }) => textContent).join("\n") !== said.join("\n")
        ) {
          input.replaceChildren(...said.map((text) => el("option", { text })));
        }
        input.selectedIndex = offered.indexOf(now);
      },
    };
  }

  function paint() {
    made.forEach((one, at) => {
      one.node.hidden = !here(controls[at]);
      one.paint();
    });
  }

  const boxes = () => made.flatMap(({ box }) => (box ? [box] : []));
  const first = (found) => found.find((one) => one !== null) ?? null;
  return {
    node,
    controls,
    values: () => Object.fromEntries([...values].map(([{ field }, text]) => [field, text])),
    now: (field) =>
      values.get(
        controls.find((control) => control.field === field && here(control)) ??
          controls.find((control) => control.field === field),
      ),
    fields: () =>
      Object.fromEntries([
        ...controls.map(({ field, default: usual }) => [field, usual]),
        ...controls.filter(here).map((control) => [control.field, values.get(control)]),
      ]),
    of: (fields) =>
      controls.filter(here).map((
        { field, kind, default: usual },
      ) => (kind === "select"
        ? (fields?.[field] ?? usual)
        : String(Number(fields?.[field] ?? usual)))
      ),
    set(fields) {
      controls.forEach((control, at) => {
        if (!(control.field in fields) || !here(control)) return;
        values.set(control, fields[control.field]);
        made[at].box?.show(Number(fields[control.field]), true);
      });
      paint();
    },
    refusal: () => first(boxes().map((box) => box.refused())),
    judge: () => first(boxes().map((box) => box.judge())),
    unsaid: () => boxes().some((box) => box.wrong() !== null),
    paint,
  };
}

// The knobs of “What changes if …”: a slider over given numbers, heads that are silenced, and
// attention spans that are forced. Each belongs to a field of the request and stands where the
// request says.

import { all, el, segmented } from "./dom.js";
import { t } from "./lang.js";

const TEXT = {
  trained: { en: "as trained", zh: "同训练时" },
  bounded: { en: "all that “{label}” allows", zh: "“{label}”允许的最大值" },
  all: { en: "all heads", zh: "所有头" },
  layer: { en: "layer {layer}", zh: "第 {layer} 层" },
  column: { en: "head {head} of all layers", zh: "各层的头 {head}" },
  head: { en: "head {layer}·{head}", zh: "头 {layer}·{head}" },
  characters: { en: "{n} characters", zh: "{n} 个字符" },
  ramp: {
    en: "A span ends softly, over a ramp of {n} characters.",
    zh: "跨度在 {n} 个字符的斜坡上逐渐结束。",
  },
  give: { en: "{heads}, span {z}: restore it", zh: "{heads}，跨度 {z}：恢复" },
  silence: { en: "Silence {head}", zh: "关掉{head}" },
  wake: { en: "Restore {head}", zh: "恢复{head}" },
  ofModel: { en: "head {head} of {model}", zh: "{model}的头 {head}" },
};

/** The heads that an entry [layer, head, z] of the spans speaks of: −1 is all. */
function headsOf([layer, head]) {
  if (layer < 0 && head < 0) return t(TEXT.all);
  if (head < 0) return t(TEXT.layer, { layer: layer + 1 });
  if (layer < 0) return t(TEXT.column, { head: head + 1 });
  return `${layer + 1}·${head + 1}`;
}

const count = (unit, n) => (t(unit).includes("{n}") ? t(unit, { n }) : `${n} ${t(unit)}`);
const nearest = (values, wanted) =>
  values.reduce(
    (best, value, at) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? at : best),
    0,
  );

/**
 * The number that a request holds, as trained where it says nothing or says so in a way of its own;
 * and back, as the request writes it.
 */
const valueIn = (
  { field, neutral, written = neutral },
  request,
) => ((request?.[field] ?? written) === written ? neutral : request[field]);
const writtenOf = ({ neutral, written = neutral }, value) => (value === neutral ? written : value);

/**
 * A slider; it asks when it comes to rest. said(at): what stands there, [text, note, is it far?];
 * panel: whose it is.
 */
export function slider(field, { least = 0, last, step = 1, said, asked, panel }) {
  const id = `tfe-${panel}-${field}`;
  const input = el("input", {
    id,
    class: "tfe-range",
    type: "range",
    min: least,
    max: last,
    step,
    "data-field": field,
  });
  const label = el("label", { class: "tfe-label", for: id });
  const output = el("output", { for: id });
  const paint = () => {
    const at = Number(input.value);
    input.style.setProperty("--at", `${((at - least) / (last - least)) * 100}%`);
    const [text, note, far] = said(at);
    output.replaceChildren(el("b", { text }), note ? el("span", { text: ` · ${note}` }) : "");
    output.classList.toggle("is-far", Boolean(far));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", paint);
  input.addEventListener("change", () => asked(Number(input.value)));
  return {
    input,
    label,
    output,
    head: el("div", { class: "tfe-knob-head" }, label, output),
    paint,
  };
}

const place = (node, share) => (node.style.setProperty("--place", share), node);

/**
 * Numbers below a slider, each under its place. marks: [{at, text, here}]; here: the one as trained
 */
function scale(last, marks) {
  const nodes = marks.map(({ at, text, here }) =>
    place(
      el("span", {
        class: [here ? "is-here" : "", at === last ? "is-last" : "", at ? "" : "is-first"].join(" ")
          .trim(),
        text: text ?? "",
      }),
      at / last,
    )
  );
  return el("div", { class: "tfe-knob-scale", "aria-hidden": "true" }, nodes);
}

/**
 * knob.stops: places that have names of their own, in place of values, and `other` for a number
 * that is none of them. knob.within: another range that this one never exceeds; then limit(value,
 * label) says where that one stands, and what it is called. onMove: hears the number under a slider
 * that has not come to rest
 */
function range(knob, { ask, shut, panel }) {
  const { field, neutral, stops } = knob;
  const values = knob.values ?? stops.map(({ value }) => value);
  const last = values.length - 1;
  const home = values.indexOf(neutral);
  let told = null; // a number of the request that is none of ours: made by a link
  let meant = home; // the place that was chosen, which another knob may forbid for a while
  let bound = last; // the last place that it allows
  let bounding = null; // what that one is called
  let asked_ = null; // the request in view
  const one = slider(field, {
    last,
    panel,
    said(at) {
      if (stops) return [told === null ? t(stops[at].label) : t(knob.other, { n: told })];
      const value = told ?? values[at];
      const beyond_ = value > neutral && knob.mark;
      const full = bound < last && at === bound && told === null;
      const [other, off, why] = knob.unused ?? [];
      if (other && asked_?.[other] === off) return [count(knob.unit, value), t(why), false];
      const note = value === neutral
        ? t(TEXT.trained)
        : beyond_
        ? t(knob.mark)
        : full
        ? t(TEXT.bounded, { label: t(bounding) })
        : null;
      return [count(knob.unit, value), note, beyond_];
    },
    asked(at) {
      meant = Math.min(at, bound);
      ask({ [field]: writtenOf(knob, values[meant]) });
    },
  });
  const moved = [];
  one.input.addEventListener("input", () => {
    told = null;
    one.input.value = String(Math.min(Number(one.input.value), bound));
    one.paint();
    for (const heard of moved) heard(values[Number(one.input.value)]);
  });
  const inside = home > 0 && home < last;
  const tick = el("span", {
    class: "tfe-knob-home",
    hidden: !inside || Boolean(knob.mark ?? stops),
  });
  const beyond = el("span", { class: "tfe-knob-beyond", hidden: !knob.mark || home === last });
  const barred = el("span", { class: "tfe-knob-barred", hidden: true });
  for (const node of [tick, beyond]) place(node, home / last);
  const marked = [...new Set([0, home, last])];
  const marks = scale(
    last,
    marked.map((at) => ({ at, text: String(values[at]), here: at === home })),
  );
  const placeOf = (most) => Math.max(0, values.findLastIndex((value) => value <= most));
  const self = {
    node: el(
      "div",
      { class: "tfe-knob", "data-knob": field },
      one.head,
      el("div", { class: "tfe-knob-track" }, tick, beyond, barred, one.input),
      marks,
    ),
    onMove: (fn) => moved.push(fn),
    /**
     * Where another knob stands, beyond which this one cannot go; it goes back to what was meant
     * where it can.
     */
    limit(most, label) {
      [bound, bounding] = [placeOf(most), label];
      barred.hidden = bound === last;
      place(barred, bound / last);
      told = null;
      one.input.value = String(Math.min(meant, bound));
      one.paint();
    },
    /** What this knob comes to in a request of which a part will change. */
    held: (most) => writtenOf(knob, values[Math.min(meant, placeOf(most))]),
    draw(request) {
      asked_ = request;
      const value = valueIn(knob, request);
      const at = nearest(values, value);
      one.label.textContent = t(knob.label);
      one.input.disabled = shut(knob);
      told = values.includes(value) ? null : value;
      if (Math.min(meant, bound) !== at) meant = at;
      one.input.value = String(at);
      if (stops) {
        marked.forEach((place_, i) => (marks.children[i].textContent = t(stops[place_].label)));
      }
      beyond.title = knob.mark ? t(knob.mark) : "";
      one.paint();
    },
  };
  return self;
}

/**
 * A chip for each entry of a field; pressed, it goes. said, told: what stands on it, what it does;
 * the focus stays with what is left of them, or goes to `next`.
 */
function chipsOf({ said, told, gone }) {
  const node = el("div", { class: "tfe-knob-chips" });
  return {
    node,
    draw(entries, shut, next) {
      const had = node.contains(document.activeElement);
      const chip = (entry) => {
        const cross = el("span", { text: "×", "aria-hidden": "true" });
        const what = {
          type: "button",
          class: "tfe-chip tfe-knob-chip",
          disabled: shut,
          "aria-label": told(entry),
          onclick: () => gone(entry),
        };
        return el("button", what, el("bdi", { text: said(entry) }), cross);
      };
      node.replaceChildren(...entries.map(chip));
      if (had) (node.firstChild ?? next).focus({ preventScroll: true });
    },
  };
}

/**
 * Forced spans: [layer, head, z] each, −1 for all; later ones win. looked: () → [layer, head] of
 * the head in view. scope: {get, set} which heads the slider is for: "all", "layer" or "head".
 */
function spans(knob, { ask, shut, looked, scope }) {
  const { field, stops } = knob;
  const free = stops.length; // the last place: as trained
  let now = []; // the spans of the request
  const target = () => {
    const [layer, head] = looked();
    return { all: [-1, -1], layer: [layer, -1], head: [layer, head] }[scope.get()];
  };
  const covers = (entry, [layer, head]) =>
    (entry[0] === -1 || entry[0] === layer) &&
    (entry[1] === -1 || entry[1] === head);
  const within = (entry, [layer, head]) =>
    (layer === -1 || entry[0] === layer) && (head === -1 || entry[1] === head);
  const forced = () => now.findLast((entry) => covers(entry, target()))?.[2];
  const spelled = (z) => (Number.isInteger(z) ? String(z) : z.toFixed(1));
  let told = null; // a span of the request where the slider has no stop: made by a link
  const one = slider(field, {
    last: free,
    said: (
      at,
    ) => (at === free
      ? [t(TEXT.trained), null, false]
      : [t(TEXT.characters, { n: told ?? stops[at] }), null, false]),
    asked: (at) =>
      change(now.filter((entry) => !within(entry, target())), at === free ? null : stops[at]),
  });
  one.input.addEventListener("input", () => ((told = null), one.paint()));

  function change(kept, z) {
    const next = z === null ? kept : [...kept, [...target(), z]];
    if (JSON.stringify(next) === JSON.stringify(now)) self.draw({ [field]: now });
    else ask({ [field]: next });
  }

  const choice = segmented({ options: [], value: "all", label: "", onPick: scope.set });
  const marks = scale(
    free,
    [0, 8, 64]
      .flatMap((z) => (stops.includes(z) ? [{ at: stops.indexOf(z), text: String(z) }] : []))
      .concat({ at: free, here: true }),
  );
  const trained = marks.lastChild;
  const chips = chipsOf({
    said: (entry) => `${headsOf(entry)}: ${spelled(entry[2])}`,
    told: (entry) => t(TEXT.give, { heads: headsOf(entry), z: spelled(entry[2]) }),
    gone: (entry) => ask({ [field]: now.filter((other) => other !== entry) }),
  });
  const note = el("p", { class: "tfe-note" });
  const self = {
    node: el(
      "div",
      { class: "tfe-knob", "data-knob": field },
      one.head,
      choice.node,
      one.input,
      marks,
      chips.node,
      note,
    ),
    draw(request) {
      now = request?.[field] ?? [];
      const [layer, head] = looked();
      one.label.textContent = t(knob.label);
      one.input.disabled = shut(knob);
      choice.set({
        label: t(knob.label),
        value: scope.get(),
        options: [
          { key: "all", label: t(TEXT.all) },
          { key: "layer", label: t(TEXT.layer, { layer: layer + 1 }) },
          { key: "head", label: t(TEXT.head, { layer: layer + 1, head: head + 1 }) },
        ],
      });
      for (const button of all(choice.node, "button")) {
        button.toggleAttribute("disabled", Boolean(shut(knob)));
      }
      const z = forced();
      told = z === undefined || stops.includes(z) ? null : spelled(z);
      one.input.value = String(z === undefined ? free : nearest(stops, z));
      one.paint();
      trained.textContent = t(TEXT.trained);
      chips.draw(now, shut(knob), one.input);
      note.textContent = t(TEXT.ramp, { n: knob.ramp });
      note.hidden = !now.length || !knob.ramp;
    },
  };
  return self;
}

/**
 * Heads that are silenced: [model, layer, head] each. watched: () → [model, layer, head] in view.
 */
function heads(knob, { ask, shut, watched }) {
  const { field, models } = knob;
  const same = (a, b) => a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
  const nameOf = ([model, layer, head]) =>
    t(TEXT.ofModel, { model: t(models[model]?.name ?? model), head: `${layer + 1}·${head + 1}` });
  let now = []; // of the request
  const toggle = (one) =>
    ask({
      [field]: now.some((other) => same(other, one))
        ? now.filter((other) => !same(other, one))
        : [...now, one],
    });
  const inView = () => {
    const [model, layer, head] = watched();
    const size = models[model];
    return size ? [model, Math.min(layer, size.layers - 1), Math.min(head, size.heads - 1)] : null;
  };
  const button = el("button", {
    type: "button",
    class: "tfe-button small",
    onclick: () =>
      inView() &&
      toggle(inView()),
  });
  const chips = chipsOf({
    said: (one) => nameOf(one),
    told: (one) => t(TEXT.wake, { head: nameOf(one) }),
    gone: toggle,
  });
  const label = el("span", { class: "tfe-label" });
  return {
    node: el(
      "div",
      { class: "tfe-knob", "data-knob": field },
      label,
      el("div", { class: "tfe-knob-chips" }, button),
      chips.node,
    ),
    toggle: (one) => one[0] in models && toggle(one),
    draw(request) {
      now = request?.[field] ?? [];
      label.textContent = t(knob.label);
      const one = inView();
      button.textContent = one
        ? t(now.some((other) => same(other, one)) ? TEXT.wake : TEXT.silence, { head: nameOf(one) })
        : "–";
      button.disabled = shut(knob) || !one;
      chips.draw(now, shut(knob), button);
    },
  };
}

const KINDS = { range, stops: range, spans, heads };

/**
 * @param {any[]} knobs as knobs.py spells them
 * @param {{ask: (patch: object) => void, shut: (knob: any) => boolean, panel?: string, looked?: ()
 * => [number, number], watched?: () => [string, number, number], scope?: {get: () => string, set:
 * (key: string) => void}}} how
 *   ask: a part of the request as it shall be. shut: may this knob not be turned now? panel: whose
 *   they are; looked, scope: see `spans`. watched: see `heads`
 * @returns {{nodes: HTMLElement[], draw: (request: any) => void, toggle: (head: [string, number,
 *   number]) => void}} toggle: a head is silenced, or given back
 */
export function knobsOf(knobs, how) {
  const at = (field) => knobs.findIndex((knob) => knob.field === field);
  const ask = (patch) => how.ask({ ...patch, ...followers(patch) });
  const made = knobs.map((knob) => KINDS[knob.kind](knob, { ...how, ask }));
  const bound = knobs.flatMap((
    knob,
    inner,
  ) => (knob.within
    ? [{ knob, one: made[inner], outer: knobs[at(knob.within)], other: made[at(knob.within)] }]
    : [])
  );
  for (const { one, outer, other } of bound) other.onMove((value) => one.limit(value, outer.label));

  /** The knobs that another one takes along. */
  const followers = (patch) =>
    Object.fromEntries(
      bound.filter(({ outer }) => outer.field in patch)
        .map(({ knob, one, outer }) => [knob.field, one.held(valueIn(outer, patch))]),
    );

  return {
    nodes: made.map(({ node }) => node),
    draw(request) {
      for (const { one, outer } of bound) one.limit(valueIn(outer, request), outer.label);
      for (const one of made) one.draw(request);
    },
    toggle: (head) => made.forEach((knob) => knob.toggle?.(head)),
  };
}

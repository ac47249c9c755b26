// A folded panel that holds figures, made in Python, and choices among them. Its name is its key in the address, and so is each choice's.

import { el, segmented } from "./lib/dom.js";
import { folded } from "./lib/folded.js";
import { lang, t } from "./lib/lang.js";
import { nested } from "./lib/nested.js";
import { bus, judge, request, view } from "./lib/state.js";

/** props: see figure.py. Event: ask({run, wish}). */
export function mount(root, props, emit, watch) {
  const drawn = [];
  let value = null;
  let built = "";
  let made = []; // the choices, as buttons
  const knobs = el("div", { class: "tfe-row tfe-controls" });
  const board = el("div", { class: "tfe-opened-figures" });

  const chosen = ({ key, pick, options }) => (options.some((one) => one.key === view.get(key)) ? view.get(key) : pick);

  function paint() {
    const { choices = [], figures = [{ figure: value.figure }] } = value;
    judge(Object.fromEntries(choices.map(({ key, options }) => [key, (text) => options.some((one) => one.key === text)])), request.get());
    const shape = JSON.stringify([choices, lang()]);
    if (built !== shape) {
      built = shape;
      made = choices.map(({ key, label, options }) => {
        const named = options.map((one) => ({ key: one.key, label: t(one.label) }));
        return segmented({ options: named, value: "", label: t(label), onPick: (picked) => view.set({ [key]: picked }) });
      });
      knobs.replaceChildren(...choices.flatMap(({ label }, at) => [el("span", { class: "tfe-label", text: t(label) }), made[at].node]));
      knobs.hidden = !choices.length;
    }
    choices.forEach((one, at) => made[at].set({ value: chosen(one) }));
    const look = Object.fromEntries(choices.map((one) => [one.key, chosen(one)]));
    const shown = figures.filter(({ when = {} }) => Object.entries(when).every(([key, text]) => look[key] === text));
    while (drawn.length < shown.length) {
      drawn.push(nested(props.plotly));
      board.append(drawn.at(-1).node);
    }
    drawn.forEach((one, at) => one.set(shown[at]?.figure ?? null));
  }

  folded({
    root, key: props.opens, title: props.title_text, body: [knobs, board], props, watch, emit,
    draw(next) {
      value = next;
      paint();
    },
  });
  bus.on("view", (changed) => value?.choices?.some(({ key }) => changed.includes(key)) && paint());
}

// Building blocks of every widget. Text always arrives through textContent: what a visitor typed is
// never markup.

import { plain } from "./keys.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "style") Object.assign(node.style, value);
    else if (name.startsWith("on") && typeof value === "function") {
      node.addEventListener(name.slice(2), value);
    } else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/**
 * An HTML element: el("button", {class: "x", text: "Go", onclick: fn, "aria-label": "…"},
 * ...children).
 */
export const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** The same for SVG. */
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** The elements that fit a selector. @returns {HTMLElement[]} */
export const all = (node, selector) => [...node.querySelectorAll(selector)];

/** The element inside a node that has the focus, or null. @returns {HTMLElement | null} */
export const focusIn = (node) =>
  node.contains(document.activeElement)
    ? /** @type {HTMLElement} */ (document.activeElement)
    : null;

/** Calls fn whenever `state()` has become another with the classes of the page. */
export function onPage(state, fn) {
  let was = state();
  new MutationObserver(() => {
    if (state() === was) return;
    was = state();
    fn();
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

/**
 * Calls fn whenever the visitor turns to something, before anything else hears of it: scrolls,
 * presses a key or a place of the page. how: as addEventListener takes it.
 */
export function onTurn(fn, how = {}) {
  for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(act, fn, { capture: true, passive: true, ...how });
  }
}

export function clear(node) {
  node.replaceChildren();
  return node;
}

/** Puts other children into a node: the focus stays in the same place of it. */
export function refill(node, children) {
  const places = () => [...node.querySelectorAll("button, input, select")];
  const focus = places().indexOf(document.activeElement);
  node.replaceChildren(...children);
  if (focus >= 0) (places()[focus] ?? places().at(-1))?.focus({ preventScroll: true });
}

/**
 * One tab stop for several nodes: arrows, Home and End bring the focus to another one, round and
 * round; go(node) hears of it.
 */
export function roving(node, items, go) {
  node.addEventListener("keydown", (event) => {
    const all = items();
    const at = all.indexOf(event.target);
    const to = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: -1,
    }[event.key];
    if (to === undefined || at < 0 || !plain(event)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = all.at(to % all.length);
    next.focus();
    go(next);
  });
}

/**
 * A segmented choice: one tab stop, arrow keys move, the chosen one is pressed.
 * @param {{options: {key: string, label: string}[], value: string, label: string, onPick: (key:
 * string) => void}} how
 * @returns {{node: HTMLElement, set: (how: {value?: string, options?: {key: string, label:
 * string}[], label?: string}) => void}}
 */
export function segmented({ options, value, label, onPick }) {
  const node = el("div", { class: "tfe-segmented", role: "radiogroup", "aria-label": label });
  let buttons = [];
  const paint = () => {
    for (const button of buttons) {
      const on = button.dataset.key === value;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on || (!options.some((o) => o.key === value) && button === buttons[0])
        ? 0
        : -1;
    }
  };
  const pick = (key) => {
    value = key;
    paint();
    onPick(key);
  };
  const build = () => {
    buttons = options.map((option) =>
      el("button", {
        type: "button",
        role: "radio",
        "data-key": option.key,
        text: option.label,
        onclick: () => pick(option.key),
      })
    );
    refill(node, buttons);
    paint();
  };
  roving(node, () => buttons, (next) => pick(next.dataset.key));
  build();
  return {
    node,
    set(how) {
      if (how.label !== undefined) node.setAttribute("aria-label", how.label);
      if (how.value !== undefined) value = how.value;
      if (how.options !== undefined) {
        options = how.options;
        build();
      } else paint();
    },
  };
}

/**
 * Below a picture: buttons for what a click asks in it, [[text, set], …]; none where nobody can be
 * asked.
 */
export const offers = (
  ask,
  all,
) => (ask
  ? [
    el(
      "div",
      { class: "tfe-row tight tfe-controls" },
      all.map(([text, set]) =>
        el("button", {
          type: "button",
          class: "tfe-button small",
          "data-set": JSON.stringify(set),
          text,
          onclick: () => ask(set),
        })
      ),
    ),
  ]
  : []);

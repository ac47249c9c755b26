// The handle at the corner of the mask: a slider for the span z, dragged or moved by keys.

import { el } from "./dom.js";

const MOVES = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/**
 * @param {{move: (z: number) => void, rest: () => void, step: number}} how move: while it is dragged; rest: the hand rests, or no key came for `step` milliseconds
 * @returns {{node: HTMLElement, place: (where: any) => void, label: (name: string, now: string) => void, busy: () => boolean}}
 */
export function handleOf({ move, rest, step }) {
  const node = el("div", { class: "tfe-masks-handle", role: "slider", tabindex: "0", "aria-orientation": "horizontal", "aria-valuemin": "0", hidden: true }, el("span", { class: "tfe-masks-knob" }));
  let spot = null;
  let holding = false;
  let grip = 0; // px between the pointer and the corner when it was taken
  let timer = 0;

  const put = (name, text) => node.getAttribute(name) !== text && node.setAttribute(name, text);
  const to = (z) => move(Math.max(0, Math.min(spot.span, Math.round(z))));

  /** The place of the pointer on the axis, in the picture's own pixels. */
  const across = (event) => {
    const box = node.parentElement.getBoundingClientRect();
    return ((event.clientX - box.left) * node.parentElement.offsetWidth) / box.width;
  };
  node.addEventListener("pointerdown", (event) => {
    if (!spot || spot.disabled || event.button) return;
    holding = true;
    grip = across(event) - spot.x;
    node.setPointerCapture(event.pointerId);
    node.classList.add("is-held");
    node.focus({ preventScroll: true });
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => holding && to(spot.of(across(event) - grip)));
  const release = () => {
    if (!holding) return;
    holding = false;
    node.classList.remove("is-held");
    rest();
  };
  node.addEventListener("pointerup", release);
  node.addEventListener("pointercancel", release);
  node.addEventListener("keydown", (event) => {
    if (!spot || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = MOVES[event.key];
    const goal = by ? spot.z + by * (event.shiftKey ? spot.ramp : 1) : { Home: 0, End: spot.span, PageUp: spot.z + spot.ramp, PageDown: spot.z - spot.ramp }[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (spot.disabled) return;
    to(goal);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      rest();
    }, step);
  });

  return {
    node,
    /** where: {x, top, bottom, z, span, ramp, of: (px) => distance, disabled, big} in the picture's pixels */
    place(where) {
      spot = where;
      node.hidden = false;
      Object.assign(node.style, { left: `${where.x}px`, top: `${where.top}px`, height: `${where.bottom - where.top}px` });
      node.classList.toggle("is-big", where.big);
      put("aria-valuemax", String(where.span));
      put("aria-valuenow", String(where.z));
      put("aria-disabled", String(Boolean(where.disabled)));
    },
    label(name, now) {
      put("aria-label", name);
      put("aria-valuetext", now);
    },
    /** Is it held, or has a key just moved it? */
    busy: () => holding || timer !== 0,
  };
}

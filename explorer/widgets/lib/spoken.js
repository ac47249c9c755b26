// Small things around a drawn figure: its sentence in the colours of the roles, and the floating card of what is pointed at.

import { clear, el } from "./dom.js";
import { projecting } from "./keys.js";

/** A computed sentence as nodes. @param {{text: string, role?: string}[]} list as maps.js's `parts` writes it */
export const spoken = (list) => list.map((part) => (part.role ? el("b", { class: `tfe-${part.role}`, text: part.text }) : document.createTextNode(part.text)));

/**
 * A card beside what is pointed at, after 80 ms and never over it.
 * @param {HTMLElement} area @param {string} selector of what has a card
 * @param {(place: Element) => string[] | null} lines its text, a title first; null: no card
 */
export function hovering(area, selector, lines) {
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  area.after(card);
  let waiting = 0;
  const hide = () => {
    clearTimeout(waiting);
    card.hidden = true;
  };
  area.addEventListener("pointerover", (event) => {
    hide();
    const place = event.target.closest?.(selector);
    if (!place || event.pointerType === "touch" || projecting()) return;
    waiting = setTimeout(() => {
      const said = place.isConnected ? lines(place) : null;
      if (!said) return;
      const [title, ...rest] = said;
      clear(card).append(el("b", { text: title }), ...rest.map((text) => el("div", { text })));
      card.hidden = false;
      const box = place.getBoundingClientRect();
      const right = box.right + 12;
      const left = right + card.offsetWidth <= innerWidth - 8 ? right : box.left - 12 - card.offsetWidth;
      Object.assign(card.style, { left: `${Math.max(8, left)}px`, top: `${Math.max(8, Math.min(innerHeight - card.offsetHeight - 8, box.top))}px` });
    }, 80);
  });
  area.addEventListener("pointerleave", hide);
}

// Mouse, finger and pen on the images and matrices: hover previews, a click locks, shift-click adds the start of a path; on a screen that is
// touched a second tap locks.

import { gridAt, matrixAt } from "./patternboards.js";

/**
 * @param {{board: HTMLElement, card: HTMLElement, now: () => any, draw: () => void, say: (hover: any) => string, lock: (hover: any, add: boolean) => void}} how
 *   now: {position, far, places: {grid, matrix}}. say: the words of the card
 * @returns {{hover: any, leave: () => void}} hover: {kind, board, query, key, position, far} or null; position and far: what is previewed
 */
export function pointerOf({ board, card, now, draw, say, lock }) {
  const self = { hover: null, leave };
  let tapped = "";

  function under(event) {
    const picture = event.target.closest?.("[data-board]");
    const seen = now();
    if (!picture || !seen) return null;
    const [kind, which] = [picture.closest("[data-kind]").dataset.kind, picture.dataset.board];
    const box = picture.getBoundingClientRect();
    const at = seen.places[which];
    const [x, y] = [((event.clientX - box.left) * at.width) / box.width, ((event.clientY - box.top) * at.height) / box.height];
    if (which === "matrix") {
      const cell = matrixAt(at, x, y);
      return cell && { kind, board: which, ...cell, position: cell.query, far: cell.key < cell.query ? cell.key : null };
    }
    const p = gridAt(at, x, y);
    if (p === null) return null;
    // An earlier position is the start of a path to the one that is locked; a later one would be locked itself.
    if (p < seen.position) return { kind, board: which, query: seen.position, key: p, position: seen.position, far: p };
    return { kind, board: which, query: p, key: p, position: p, far: seen.far };
  }

  const spoken = (found) => (found ? [found.kind, found.board, found.query, found.key].join() : "");

  function over(found, event) {
    if (spoken(found) !== spoken(self.hover)) {
      self.hover = found;
      draw();
    }
    card.hidden = !found || document.body.classList.contains("tfe-projecting");
    if (card.hidden) return;
    card.textContent = say(found);
    const { offsetWidth: w, offsetHeight: h } = card;
    const below = event.clientY + 18 + h <= window.innerHeight - 8;
    Object.assign(card.style, { left: `${Math.max(8, Math.min(window.innerWidth - w - 8, event.clientX + 14))}px`, top: `${below ? event.clientY + 18 : event.clientY - 14 - h}px` });
  }

  function leave() {
    card.hidden = true;
    tapped = "";
    if (!self.hover) return;
    self.hover = null;
    draw();
  }

  board.addEventListener("pointermove", (event) => event.pointerType !== "touch" && over(under(event), event));
  board.addEventListener("pointerleave", () => !tapped && leave());
  board.addEventListener("click", (event) => {
    const found = under(event);
    if (event.pointerType === "touch" && found && spoken(found) !== tapped) {
      over(found, event); // the first tap previews, the second locks
      tapped = spoken(found);
      return;
    }
    const column = event.target.closest?.("[data-kind]");
    leave();
    if (found || column) lock(found ?? { kind: column.dataset.kind }, event.shiftKey);
  });
  return self;
}

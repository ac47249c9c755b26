// Mouse, finger and pen on the stage of the hashing widget: hover previews, a click locks, on a screen that is touched a second tap does.

import { el } from "./dom.js";
import { under } from "./hashstage.js";
import { cardLines } from "./hashwords.js";
import { bus } from "./state.js";

/**
 * @param {{canvas: HTMLCanvasElement, card: HTMLElement, scene: () => any, resting: () => boolean, draw: () => void, shareOf: (turn: number) => number,
 *   lock: (position: number, add: boolean) => void, round: (turn: number) => void}} how
 *   scene: what is drawn, or null; resting: do the tokens stand still; shareOf: of the pairs of a round (−1: of all) that were compared
 * @returns {{hover: any, elsewhere: number | null, leave: () => void}} hover: {pos}, {query, key}, {turn} or null; elsewhere: a position
 *   that is hovered in another widget
 */
export function pointerOf({ canvas, card, scene, resting, draw, shareOf, lock, round }) {
  let tapped = "";
  let mine = false; // the hover told on the bus is our own
  const self = { hover: null, elsewhere: null, leave };

  const found = (event) => {
    const now = scene();
    const box = canvas.getBoundingClientRect();
    return now && box.width ? under(now, ((event.clientX - box.left) * now.width) / box.width, ((event.clientY - box.top) * now.places.high) / box.height) : null;
  };
  const named = (what) => (what ? [what.pos, what.query, what.key, what.turn].join() : "");

  function tell(pos) {
    mine = true;
    bus.fire("hover-pos", { pos });
    mine = false;
  }

  function over(what, event) {
    if (!resting()) return;
    if (named(what) !== named(self.hover)) {
      self.hover = what;
      tell(what?.pos ?? what?.key ?? null);
      draw();
    }
    card.hidden = !what || scene().big;
    if (card.hidden) return;
    const [first, ...rest] = cardLines(scene(), { ...what, share: what.turn === undefined ? 0 : shareOf(what.turn) });
    card.replaceChildren(el("b", { text: first }), ...rest.map((text) => el("div", { text })));
    const { offsetWidth: w, offsetHeight: h } = card;
    const below = event.clientY + 18 + h <= window.innerHeight - 8;
    Object.assign(card.style, { left: `${Math.max(8, Math.min(window.innerWidth - w - 8, event.clientX + 14))}px`, top: `${below ? event.clientY + 18 : event.clientY - 14 - h}px` });
  }

  function leave() {
    card.hidden = true;
    tapped = "";
    if (!self.hover) return;
    self.hover = null;
    tell(null);
    if (scene()) draw();
  }

  canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && scene() && over(found(event), event));
  canvas.addEventListener("pointerleave", () => !tapped && leave());
  canvas.addEventListener("click", (event) => {
    const what = scene() && found(event);
    if (!what) return;
    if (event.pointerType === "touch" && what.turn === undefined && named(what) !== tapped) {
      over(what, event); // the first tap previews, the second locks
      tapped = named(what);
      return;
    }
    leave();
    if (what.turn !== undefined) round(what.turn);
    else lock(what.pos ?? what.click, event.shiftKey);
  });
  bus.on("hover-pos", ({ pos }) => {
    if (mine) return;
    self.elsewhere = pos;
    if (scene()) draw();
  });
  return self;
}

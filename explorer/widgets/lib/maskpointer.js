// Mouse, finger and pen on the bars and on the mask: hover previews, a click locks, on a screen that is touched a second tap does.

import { el } from "./dom.js";
import { t } from "./lang.js";
import { headAt, headLines } from "./maskbars.js";
import { boardAt, distanceLines } from "./maskboard.js";
import { TEXT, letterName, spanText } from "./maskwords.js";
import { bus } from "./state.js";

const HOLD = 60; // ms that the pointer rests on a character before its weights are fetched

/**
 * @param {{card: HTMLElement, picture: Element, board: HTMLElement, barsPicture: Element, barsBoard: HTMLElement, draw: () => void,
 *   choose: (head: number) => void, lock: (position: number, add: boolean) => void, busy: () => boolean, now: () => {scene: any, at: any}}} how
 * @returns {{hover: any, preview: number | null, rests: () => boolean, leave: () => void}} hover: {kind: "bar", index}, {kind: "distance", x},
 *   {kind: "letter", position} or null; preview: a character hovered here or elsewhere; rests: may its weights be fetched?
 */
export function pointerOf({ card, picture, board, barsPicture, barsBoard, draw, choose, lock, busy, now }) {
  let waiting = 0;
  let tapped = "";
  let mine = false; // the hover told on the bus is our own
  let resting = true;
  const self = { hover: null, preview: null, rests: () => resting, leave };

  const point = (event, node, spot) => {
    const box = node.getBoundingClientRect();
    return [((event.clientX - box.left) * spot.width) / box.width, ((event.clientY - box.top) * spot.height) / box.height];
  };
  const spoken = (found) => (found ? `${found.kind} ${found.index ?? found.x ?? found.position}` : "");

  /** The character that is pointed at, or null. */
  function letterOf(found) {
    if (found?.kind === "letter") return found.position;
    const last = now().scene.now.positions.at(-1);
    if (found?.kind !== "distance" || last === undefined) return null;
    const letter = last - 1 - found.x;
    return letter >= 0 ? letter : null;
  }

  function tell(pos) {
    mine = true;
    bus.fire("hover-pos", { pos });
    mine = false;
  }

  /** Weights of a character are fetched once the pointer rests on it. */
  function settle() {
    clearTimeout(waiting);
    if (resting) return;
    waiting = setTimeout(() => {
      resting = true;
      if (now().scene) draw();
    }, HOLD);
  }

  function over(found, event, tap = false) {
    if (spoken(found) !== spoken(self.hover)) {
      self.hover = found;
      self.preview = found?.kind === "letter" ? found.position : null;
      resting = tap || self.preview === null;
      tell(letterOf(found));
      draw();
      settle();
    }
    show(event);
  }

  function leave() {
    clearTimeout(waiting);
    card.hidden = true;
    tapped = "";
    if (!self.hover && self.preview === null) return;
    self.hover = self.preview = null;
    resting = true;
    tell(null);
    if (now().scene) draw();
  }

  function show(event) {
    const { scene } = now();
    const { hover } = self;
    card.hidden = !hover || scene.big;
    if (card.hidden) return;
    const letter = () => [[letterName(scene.run.letters, hover.position), ` ${t(TEXT.cardSpan, { z: spanText(scene.series[hover.position]) })}`]];
    const lines = hover.kind === "bar" ? headLines(scene, hover.index) : hover.kind === "distance" ? distanceLines(scene, hover.x) : letter();
    card.replaceChildren(...lines.map(([strong, rest]) => el("div", {}, strong ? el("b", { text: strong }) : null, rest)));
    const { offsetWidth: w, offsetHeight: h } = card;
    const below = event.clientY + 18 + h <= window.innerHeight - 8;
    Object.assign(card.style, { left: `${Math.max(8, Math.min(window.innerWidth - w - 8, event.clientX + 14))}px`, top: `${below ? event.clientY + 18 : event.clientY - 14 - h}px` });
  }

  const boardUnder = (event) => boardAt(now().scene, now().at.board, ...point(event, picture, now().at.board));
  const barUnder = (event) => {
    const found = headAt(now().at.bars, point(event, barsPicture, now().at.bars)[1]);
    return found === null ? null : { kind: "bar", index: found };
  };
  for (const [node, under] of [[board, boardUnder], [barsBoard, barUnder]]) {
    node.addEventListener("pointermove", (event) => event.pointerType !== "touch" && !busy() && over(under(event), event));
    node.addEventListener("pointerleave", () => !tapped && leave());
  }
  barsBoard.addEventListener("click", (event) => {
    const found = now().scene && barUnder(event);
    if (found) choose(found.index);
  });
  board.addEventListener("click", (event) => {
    if (!now().scene) return;
    const found = boardUnder(event);
    if (event.pointerType === "touch" && found && spoken(found) !== tapped) {
      over(found, event, true); // the first tap previews, the second locks
      tapped = spoken(found);
      return;
    }
    const letter = found && letterOf(found);
    leave();
    if (found && letter !== null) lock(letter, event.shiftKey);
  });
  bus.on("hover-pos", ({ pos }) => {
    if (mine) return;
    self.preview = pos;
    resting = pos === null;
    if (now().scene) draw();
    settle();
  });
  return self;
}

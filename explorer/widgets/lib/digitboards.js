// The boards of the digits widget: each model's digit, used by mouse, finger and pen.

import { clear, el } from "./dom.js";
import { t } from "./lang.js";
import { drawDigit } from "./digitboard.js";
import { TEXT, costsOf, nats, place, weight } from "./digitwords.js";
import { fit } from "./raster.js";
import { ordinal } from "./maps.js";

const GAPS = [20, 48]; // px between two boards, least and most
const HOLD = 60; // ms that the pointer rests on a pixel before its weights are fetched

/** Writes a text, unless it stands there already: writing would make the page lay itself out anew. */
export const write = (node, text) => node.textContent !== text && (node.textContent = text);
export const put = (node, name, text) => node.getAttribute(name) !== text && node.setAttribute(name, text);

/** What `drawDigit` takes for one model of what is looked at. */
export function boardOf(scene, i, cell) {
  const { seen, side, now, shown, playing, following, position, tokens, palette, whole } = scene;
  const model = seen[i];
  const plain = { side, cell, symbols: model.symbols, given: model.given, upto: Math.max(model.count, model.given), locked: null, mask: null, weights: null, most: 0, nats: null, worst: scene.worst, colours: palette.surprise, edges: [], ghost: null, others: [], hover: null, best: null, tokens };
  if (now.surprise) {
    plain.nats = model.nats;
    if (scene.running) plain.upto = model.count;
  }
  if (now.ghost && whole) plain.ghost = whole.map((ink, p) => (ink && p >= model.given ? 1 : 0));
  if (following) return { ...plain, others: model.count < model.length ? [model.count] : [] };
  if (playing) return { ...plain, upto: Math.min(plain.upto, Math.max(position + 1, model.given)), locked: position, edges: now.surprise ? [] : shown[i].edges };
  const look = { ...plain, locked: position, hover: scene.hover, others: now.positions.filter((p) => p !== position) };
  if (position === null || now.surprise) return look;
  return { ...look, mask: shown[i].mask, weights: shown[i].weights, most: shown[i].most, best: shown[i].best?.where ?? null, edges: shown[i].edges };
}

/**
 * @param {HTMLElement} root what holds the boards @param {HTMLElement} card the hover card @param {() => any} scene what is looked at
 * @param {{lock: (index: number, position: number, add: boolean) => void, hovered: (hover: {at: number, position: number, ready: boolean} | null) => void}} does
 */
export function boardsOf(root, card, scene, { lock, hovered }) {
  let frames = []; // {node, name, remark, canvas, costs} of each board
  let hover = null; // {at, position, ready}
  let waiting = 0;

  function build({ seen }) {
    frames = seen.map((_, i) => {
      const [name, remark, canvas, costs] = [el("b"), el("span"), el("canvas", { "aria-hidden": "true" }), el("p", { class: "tfe-digits-costs" })];
      wire(canvas, i);
      return { name, remark, canvas, costs, node: el("figure", { class: "tfe-digits-board" }, el("figcaption", { class: "tfe-label" }, name, remark), canvas, costs) };
    });
    root.replaceChildren(...frames.map(({ node }) => node));
  }

  /** The side of a drawn pixel, in whole pixels of the screen. */
  function cellSize({ seen, side, room, narrow, projecting }) {
    const ratio = Math.max(1, window.devicePixelRatio || 1);
    const beside = narrow ? 1 : seen.length;
    const width = projecting ? Math.min(1800, window.innerWidth - 88) : room;
    const cell = (width - (beside - 1) * GAPS[0]) / beside / side;
    const most = (projecting ? Math.max(168, window.innerHeight - 380) : 392) / side;
    return Math.max(1, Math.floor(Math.min(cell, most) * ratio)) / ratio;
  }

  function draw(here) {
    const { seen, side, now, narrow } = here;
    const cell = cellSize(here);
    seen.forEach((model, i) => {
      const { canvas, name, remark, costs, node } = frames[i];
      node.hidden = narrow && i !== now.index;
      node.classList.toggle("is-here", i === now.index && seen.length > 1);
      node.style.width = `${side * cell}px`;
      write(name, t(model.name));
      write(remark, model.note ? ` · ${t(model.note)}` : "");
      write(costs, costsOf(model));
      put(costs, "title", model.unusual ? t(TEXT.unusual) : "");
      if (!node.hidden) drawDigit(fit(canvas, side * cell, side * cell), boardOf(here, i, cell));
    });
    const [least, most] = GAPS;
    const gap = seen.length > 1 ? Math.max(least, Math.min(most, Math.floor((here.room - seen.length * side * cell) / (seen.length - 1)))) : 0;
    root.style.gap = `${gap}px`;
    return { width: side * cell, gap };
  }

  function pixelAt(canvas, event) {
    const box = canvas.getBoundingClientRect();
    const { side } = scene();
    const [column, row] = [Math.floor(((event.clientX - box.left) / box.width) * side), Math.floor(((event.clientY - box.top) / box.height) * side)];
    return column >= 0 && row >= 0 && column < side && row < side ? row * side + column : null;
  }

  function over(next, canvas, tap) {
    if (hover?.at === next?.at && hover?.position === next?.position && !tap) return;
    clearTimeout(waiting);
    card.hidden = true;
    hover = next && { ...next, ready: false };
    hovered(hover);
    if (!hover) return;
    const ready = () => {
      hover.ready = true;
      hovered(hover);
      show(canvas, tap);
    };
    if (tap) ready();
    else waiting = setTimeout(ready, HOLD);
  }

  function wire(canvas, i) {
    let tapped = null;
    const take = (event, add) => {
      const position = pixelAt(canvas, event);
      if (position !== null && position < scene().seen[i].count) lock(i, position, add);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const position = pixelAt(canvas, event);
      if (event.pointerType === "touch" && tapped !== position) {
        tapped = position; // the first tap previews, the second locks
        over(position === null ? null : { at: i, position }, canvas, true);
        return;
      }
      tapped = null;
      leave();
      take(event, event.shiftKey);
      if (event.pointerType === "mouse" && !event.shiftKey) canvas.setPointerCapture(event.pointerId); // a drag locks one pixel after the other
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      if (event.buttons & 1) {
        if (!event.shiftKey) take(event, false);
        return;
      }
      const position = pixelAt(canvas, event);
      over(position === null ? null : { at: i, position }, canvas, false);
    });
    canvas.addEventListener("pointerleave", () => tapped === null && leave());
  }

  function leave() {
    clearTimeout(waiting);
    card.hidden = true;
    if (!hover) return;
    hover = null;
    hovered(null);
  }

  function show(canvas, tap) {
    const here = scene();
    if (!hover || here.projecting) return;
    const { side, now } = here;
    const { at, position } = hover;
    const model = here.seen[at];
    const known = position < Math.max(model.count, model.given);
    const what = known ? `${t(position < model.given ? TEXT.cardGiven : TEXT.cardMade)}${t(TEXT.comma)}${t(model.symbols[position] ? TEXT.cardInk : TEXT.cardBlank)}` : t(TEXT.cardLater);
    const lines = [el("div", {}, el("b", { text: place(side, position) }), ` · ${t(TEXT.cardPixel, { n: position + 1, of: model.length })}`), el("div", { text: position < model.count ? `${what} · ${t(TEXT.cardNats, { n: nats(model.nats[position]) })}` : what })];
    // What the locked pixel gives to this one.
    const from = now.position;
    const held = here.held?.[at];
    if (from !== null && from !== position && held && !now.surprise) {
      const q = place(side, from);
      if (position > from) lines.push(el("div", { text: t(TEXT.cardAfter, { q }) }));
      else if (!held.mask?.[position]) lines.push(el("div", { text: t(TEXT.cardHidden, { q }) }));
      else if (held.weights) {
        const w = held.weights[position];
        const rank = 1 + held.weights.reduce((sum, one) => sum + (one > w ? 1 : 0), 0);
        lines.push(el("div", { text: t(TEXT.cardWeight, { q, w: weight(w), n: ordinal(rank), of: held.count }) }));
      }
    }
    if (position < model.count) lines.push(el("div", { class: "tfe-note", text: t(tap ? TEXT.cardTap : TEXT.cardDo) }));
    clear(card).append(...lines);
    card.hidden = false;
    // 12 px beside the pixel, never over it.
    const box = canvas.getBoundingClientRect();
    const cell = box.width / side;
    const [x, y] = [box.left + (position % side) * cell, box.top + Math.floor(position / side) * cell];
    const { offsetWidth: w, offsetHeight: h } = card;
    const right = x + cell + 12 + w <= window.innerWidth - 8;
    const left = x - 12 - w >= 8;
    const below = y + cell + 12 + h <= window.innerHeight - 8;
    Object.assign(card.style, {
      left: `${right ? x + cell + 12 : left ? x - 12 - w : Math.max(8, Math.min(window.innerWidth - w - 8, x - w / 2))}px`,
      top: `${right || left ? Math.max(8, Math.min(window.innerHeight - h - 8, y - 4)) : below ? y + cell + 12 : y - 12 - h}px`,
    });
  }

  return { build, draw, leave };
}

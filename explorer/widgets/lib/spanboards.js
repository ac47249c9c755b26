// The boards of the spans widget: each pattern's picture with what a pixel may look at, used by mouse, finger and pen.

import { clear, el } from "./dom.js";
import { t } from "./lang.js";
import { colourPixels, drawBoard, enlarge } from "./pixels.js";
import { fit } from "./raster.js";
import { TEXT, ordinal, weight } from "./spanwords.js";

const GAP = 20; // between two boards

/** Writes a text, unless it stands there already: writing would make the page lay itself out anew. */
export const write = (node, text) => node.textContent !== text && (node.textContent = text);

/** The same for an attribute. */
export const put = (node, name, text) => node.getAttribute(name) !== text && node.setAttribute(name, text);

/** What `colourPixels` takes for a picture with nothing over it. */
export const bare = (scene, rows, columns, channels) => ({ rows, columns, channels, stage: null, ghost: 0, weights: null, most: 0, colours: scene.colours, field: null, upto: 0, tokens: scene.tokens });

/** Of each pixel: 2 made by then, 1 made later, 0 not made; null where all is shown as made. */
export function stages({ now, cursor }, { it, pattern }, position) {
  const all = position === null || (now.whole && cursor === null);
  if (pattern.made >= it.length && all) return null;
  const stage = new Uint8Array(it.size);
  for (let p = 0; p < pattern.made; p += 1) stage[it.order[p]] = Math.max(stage[it.order[p]], all || p < position ? 2 : 1);
  return stage;
}

/**
 * @param {HTMLElement} root what holds the boards @param {HTMLElement} card the hover card
 * @param {() => any} scene what is looked at, as spans.js makes it
 * @param {{lock: (at: number, position: number) => void, changed: () => void}} does
 */
export function boardsOf(root, card, scene, { lock, changed }) {
  let frames = []; // {node, name, remark, canvas} of each board
  let hover = null; // {at: index of a pattern, pixel}
  let waiting = 0;

  function build({ seen, small }) {
    frames = [...seen, ...(seen.length === 1 && small ? [null] : [])].map((each, i) => {
      const [name, remark, canvas] = [el("b"), el("span"), el("canvas", { "aria-hidden": "true" })];
      if (each) wire(canvas, i);
      return { name, remark, canvas, node: el("figure", { class: "tfe-spans-board" }, el("figcaption", { class: "tfe-label" }, name, remark), canvas) };
    });
    root.replaceChildren(...frames.map(({ node }) => node));
  }

  /** The side of a drawn pixel, in whole pixels of the screen. */
  function cellSize({ seen, room, narrow, projecting }) {
    const { rows, columns } = seen[0].pattern;
    const ratio = Math.max(1, window.devicePixelRatio || 1);
    const one = narrow || frames.length === 1;
    const width = projecting ? Math.min(1800, window.innerWidth - 88) : room;
    const cell = (one ? width : (width - (projecting ? 2 : 1) * GAP) / 2) / columns;
    const most = projecting ? Math.max(6, (window.innerHeight - 370) / rows) : (one && !narrow ? 420 : 392) / columns;
    return Math.max(1, Math.floor(Math.min(cell, most) * ratio)) / ratio;
  }

  function outlinesOf({ now, tokens, position }, { it }, i) {
    const lines = [];
    if (position !== null) {
      const { query, memory } = it.blocks(position);
      if (!now.field) lines.push({ mask: memory, colour: tokens.key });
      lines.push({ mask: query, colour: tokens.query });
    }
    if (hover?.at === i) {
      const { query, memory } = it.blocks(it.first[hover.pixel]);
      lines.push({ mask: memory, colour: tokens.key, dashed: true }, { mask: query, colour: tokens.query, dashed: true });
    }
    return lines;
  }

  function draw(here) {
    const { seen, now, position, weights, colours, tokens, narrow, small } = here;
    const cell = cellSize(here);
    seen.forEach((each, i) => {
      const { canvas, name, remark, node } = frames[i];
      const { it, pattern, pictures } = each;
      node.hidden = narrow && pattern.key !== now.pattern;
      node.style.width = `${it.columns * cell}px`;
      write(name, t(pattern.label));
      write(remark, ` · ${pattern.kept ? t(TEXT.keptNote, { n: pattern.kept }) : t(pattern.note)}`);
      if (node.hidden) return;
      const best = now.field ? null : weights[i]?.[now.head - 1];
      drawBoard(fit(canvas, it.columns * cell, it.rows * cell), {
        rows: it.rows,
        columns: it.columns,
        channels: it.channels,
        cell,
        levels: pictures.slice(now.picture),
        stage: stages(here, each, position),
        ghost: 0.3,
        weights: best?.pixels ?? null,
        most: best?.most ?? 0, // each board to its own largest weight, which the scale names
        colours,
        field: now.field && position !== null ? it.reach(position, now.field).pixels : null,
        upto: now.field,
        outlines: outlinesOf(here, each, i),
        query: position === null ? null : it.order[position],
        best: best?.where ?? null,
        kept: pattern.kept,
        tokens,
      });
    });
    if (frames.length === seen.length) return;
    const { canvas, name, remark, node } = frames.at(-1);
    const [rows, columns, channels = 1] = small.shape;
    write(name, t(TEXT.smallLong));
    write(remark, ` · ${t(TEXT.smallNote, { rows, columns })}`);
    const side = seen[0].it.columns * cell;
    node.style.width = `${side}px`;
    const context = fit(canvas, side, side);
    context.beginPath();
    context.roundRect(0, 0, side, side, 4);
    context.clip();
    enlarge(context, colourPixels({ ...bare(here, rows, columns, channels), levels: small.data }), 0, 0, side, side);
  }

  function pixelAt(canvas, event, i) {
    const box = canvas.getBoundingClientRect();
    const { rows, columns } = scene().seen[i].it;
    const [column, row] = [Math.floor(((event.clientX - box.left) / box.width) * columns), Math.floor(((event.clientY - box.top) / box.height) * rows)];
    return column >= 0 && row >= 0 && column < columns && row < rows ? row * columns + column : null;
  }

  function wire(canvas, i) {
    let tapped = null;
    const take = (event) => {
      const pixel = pixelAt(canvas, event, i);
      if (pixel === null) return;
      const { it, pattern } = scene().seen[i];
      const position = it.first[pixel];
      if (position < pattern.made) lock(i, position);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const pixel = pixelAt(canvas, event, i);
      if (event.pointerType === "touch" && tapped !== pixel) {
        tapped = pixel; // the first tap previews, the second locks
        hover = pixel === null ? null : { at: i, pixel };
        changed();
        show(canvas, true);
        return;
      }
      tapped = null;
      leave();
      take(event);
      if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId); // a drag locks one pixel after the other
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      if (event.buttons & 1) {
        take(event);
        return;
      }
      const pixel = pixelAt(canvas, event, i);
      if (hover?.at === i && hover.pixel === pixel) return;
      hover = pixel === null ? null : { at: i, pixel };
      changed();
      card.hidden = true;
      clearTimeout(waiting);
      if (hover) waiting = setTimeout(() => show(canvas), 80);
    });
    canvas.addEventListener("pointerleave", () => tapped === null && leave());
  }

  function leave() {
    clearTimeout(waiting);
    card.hidden = true;
    if (!hover) return;
    hover = null;
    changed();
  }

  function show(canvas, tap = false) {
    const here = scene();
    if (!hover || here.projecting) return;
    const { now } = here;
    const { it, pattern, pictures, bits } = here.seen[hover.at];
    const { pixel } = hover;
    const position = it.first[pixel];
    const [row, column] = [Math.floor(pixel / it.columns), pixel % it.columns];
    const lines = [el("div", {}, el("b", { text: `(${row}, ${column})` }), ` · ${t(TEXT.cardMade, { nth: ordinal(position + 1), of: it.length })}`)];
    if (position < pattern.made) {
      const places = Array.from({ length: it.channels }, (_, c) => pixel * it.channels + c);
      const levels = places.map((n) => pictures.slice(now.picture)[n]).join(", ");
      const cost = places.reduce((sum, n) => sum + bits.slice(now.picture)[n], 0).toFixed(1);
      lines.push(el("div", { text: `${t(it.channels === 1 ? TEXT.cardLevel : TEXT.cardColour, { n: levels })} · ${row < pattern.kept ? t(TEXT.cardGiven) : t(TEXT.cardBits, { n: cost })}` }));
    }
    const look = now.field ? null : here.weights[hover.at]?.[now.head - 1];
    if (look) {
      const w = look.pixels[pixel];
      const all = Array.from(look.pixels).filter((one) => one === one);
      const rank = ordinal(1 + all.filter((one) => one > w).length);
      lines.push(el("div", { text: w === w ? t(TEXT.cardWeight, { head: `${now.layer}·${now.head}`, w: weight(w), n: rank, of: all.length }) : t(TEXT.cardHidden) }));
    }
    if (position < pattern.made) lines.push(el("div", { class: "tfe-note", text: t(tap ? TEXT.cardTap : TEXT.cardDo) }));
    clear(card).append(...lines);
    card.hidden = false;
    // 12 px beside the pixel, never over it.
    const box = canvas.getBoundingClientRect();
    const cell = box.width / it.columns;
    const [x, y] = [box.left + column * cell, box.top + row * cell];
    const { offsetWidth: w, offsetHeight: h } = card;
    const right = x + cell + 12 + w <= window.innerWidth - 8;
    const left = x - 12 - w >= 8;
    const below = y + cell + 12 + h <= window.innerHeight - 8;
    Object.assign(card.style, {
      left: `${right ? x + cell + 12 : left ? x - 12 - w : Math.max(8, Math.min(window.innerWidth - w - 8, x - w / 2))}px`,
      top: `${right || left ? Math.max(8, Math.min(window.innerHeight - h - 8, y - 4)) : below ? y + cell + 12 : y - 12 - h}px`,
    });
  }

  return { build, draw, leave, cellSize };
}

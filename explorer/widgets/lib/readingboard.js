// The text as a regular grid: where every character stands, and how it is drawn, on a canvas or as SVG, by the same strokes.

import { svg } from "./dom.js";
import { sign } from "./readingwords.js";

const WIDE = 64; // characters of a row where there is room for them
const SLIM = 32;
const CELL = [6.5, 12]; // px of a character, from … to
const GAP = 30; // px between two texts

/** How many characters a row holds, so that segments begin at its start or divide it evenly. */
export function rowLength(wanted, segment) {
  if (!segment || segment % wanted === 0 || wanted % segment === 0) return wanted;
  for (let n = Math.min(wanted, segment); n > wanted / 4; n -= 1) if (segment % n === 0) return n;
  return wanted;
}

/**
 * Where everything stands, in pixels.
 * @param {{run: any, chosen: number, room: number, narrow: boolean, big: boolean, tall: number}} scene tall: at most so many px high
 */
export function place({ run, chosen, room, narrow, big, tall }) {
  const digits = String(Math.max(99, run.of - 1)).length;
  const small = big ? 20 : 12;
  const left = Math.ceil(digits * small * 0.6) + (big ? 14 : 10);
  const strip = big ? 16 : 10; // the whole text in small, at the right edge
  const right = (run.segment ? (big ? 44 : 28) : 8) + strip;
  const all = run.models.map((_, i) => i);
  const least = big ? 12.5 : CELL[0];
  const part = run.segment || run.models[chosen].pattern?.l || 0; // rows as long as the blocks of a pattern show it as it is meant
  const cellOf = (n, count) => (room - left - right - GAP * (n - 1)) / n / rowLength(count, part);
  const beside = !narrow && all.length > 1;
  const [shown, per] = (
    beside
      ? [[all, WIDE], [all, SLIM], [[chosen], WIDE], [[chosen], SLIM]]
      : [[[chosen], narrow ? SLIM : WIDE], [[chosen], SLIM]]
  ).find(([which, count], i, list) => i === list.length - 1 || cellOf(which.length, count) >= least);
  const columns = rowLength(per, part);
  const exact = Math.min(big ? 20 : CELL[1], cellOf(shown.length, per));
  const cell = exact >= 8 ? Math.floor(2 * exact) / 2 : exact;
  const font = Math.max(12, Math.min(big ? 28 : 17, cell / 0.6));
  const line = Math.round(font * 1.32);
  const bar = big ? 14 : 9;
  const row = line + bar + (big ? 12 : 7);
  const rows = Math.max(1, Math.ceil(run.of / columns));
  const wide = columns * cell;
  const texts = shown.map((index, n) => ({ index, x: left + n * (wide + GAP) }));
  const view = Math.min(rows, Math.max(1, Math.floor(tall / row))) * row;
  return { strip, texts, columns, cell, font, small, line, bar, row, rows, wide, left, right, width: left + texts.length * (wide + GAP) - GAP + right, height: rows * row, view: Math.min(view, rows * row) };
}

/** The character at a point of the board. @returns {{index: number, position: number} | null} index of the model */
export function charAt(at, run, x, y) {
  const row = Math.floor(y / at.row);
  for (const { index, x: from } of at.texts) {
    const column = Math.floor((x - from) / at.cell);
    const position = row * at.columns + column;
    if (column >= 0 && column < at.columns && row >= 0 && position < run.models[index].count) return { index, position };
  }
  return null;
}

/** Top left of a character in its model's text. */
export const corner = (at, text, position) => [text.x + (position % at.columns) * at.cell, Math.floor(position / at.columns) * at.row];

/** Draws with the strokes of a canvas, `top` px of the board above it. */
export function canvasPen(context, at, top, fonts) {
  let font = "";
  return {
    rect(x, y, w, h, fill, alpha = 1) {
      context.globalAlpha = alpha;
      context.fillStyle = fill;
      context.fillRect(x, y - top, w, h);
      context.globalAlpha = 1;
    },
    frame(x, y, w, h, stroke, thick, dash = null) {
      context.strokeStyle = stroke;
      context.lineWidth = thick;
      context.setLineDash(dash ?? []);
      context.beginPath();
      context.roundRect(x, y - top, w, h, 2);
      context.stroke();
      context.setLineDash([]);
    },
    /** words around x on the line y, at most `widest` px wide. */
    text(words, x, y, fill, { size, mono = true, anchor = "middle", widest = 0, bold = false } = {}) {
      const wanted = `${bold ? "600 " : ""}${size}px ${mono ? fonts.mono : fonts.ui}`;
      if (wanted !== font) context.font = font = wanted;
      context.fillStyle = fill;
      context.textAlign = anchor === "middle" ? "center" : anchor === "end" ? "right" : "left";
      if (widest) context.fillText(words, x, y - top, widest);
      else context.fillText(words, x, y - top);
    },
  };
}

/** The same as SVG. @returns {{nodes: SVGElement[]}} beside the strokes */
export function svgPen(top, fonts) {
  const nodes = [];
  const round = (n) => Number(n.toFixed(2));
  return {
    nodes,
    rect: (x, y, w, h, fill, alpha = 1) => nodes.push(svg("rect", { x: round(x), y: round(y - top), width: round(w), height: round(h), fill, "fill-opacity": alpha === 1 ? null : round(alpha) })),
    frame: (x, y, w, h, stroke, thick, dash = null) => nodes.push(svg("rect", { x: round(x), y: round(y - top), width: round(w), height: round(h), rx: 2, fill: "none", stroke, "stroke-width": thick, "stroke-dasharray": dash?.join(" ") })),
    text(words, x, y, fill, { size, mono = true, anchor = "middle", widest = 0, bold = false } = {}) {
      const wide = widest && /[^\u0020-\u036f]/u.test(words);
      nodes.push(svg("text", { x: round(x), y: round(y - top), fill, "font-size": round(size), "font-family": mono ? fonts.mono : fonts.ui, "text-anchor": anchor, "font-weight": bold ? 600 : null, ...(wide ? { textLength: round(widest), lengthAdjust: "spacingAndGlyphs" } : {}), text: words }));
    },
  };
}

/** The whole text in small at the right edge: where the rows in view stand, where the lock is, and what its head looks at. */
export function drawStrip(pen, { run, now, look }, at, top, colours) {
  if (at.view >= at.height) return;
  const [x, part] = [at.width - at.strip + 3, at.view / at.height];
  const wide = at.strip - 4;
  const y = (position) => top + Math.floor(position / at.columns) * at.row * part;
  const tall = Math.max(2, at.row * part);
  pen.rect(x, top, wide, at.view, colours.sunk);
  if (run.given < run.of) pen.rect(x, y(run.given), wide, top + at.view - y(run.given), colours["out-soft"]);
  if (look) {
    const rows = new Float32Array(at.rows);
    for (let i = 1; i < look.weights.length; i += 1) rows[Math.floor((i - 1) / at.columns)] += look.weights[i];
    const most = Math.max(...rows) || 1;
    rows.forEach((w, row) => w / most > 0.02 && pen.rect(x, y(row * at.columns), wide, tall, colours.key, Math.max(0.15, w / most)));
  }
  for (const position of now.positions) pen.rect(x - 1, y(position), wide + 2, tall, colours.query);
  pen.frame(x - 1, top + top * part + 1, wide + 2, at.view * part - 2, colours.ink2, 1.5);
}

const BLANK = new Set([32, 9, 10, 0xa0, 0x3000]);

/**
 * Draws rows `first` … `last` of the board.
 * @param {ReturnType<typeof svgPen>} pen
 * @param {any} scene run, chosen, model, now, hover (position or null), look (of it `from`: characters before it are out of reach), may (characters that the
 *   position `asks` may look at, null for all before it), cursor (characters shown, null for all)
 * @param {any} colours by token, and `loss`: (bits) => colour, `most`: opacity of the largest weight
 */
export function drawRows(pen, scene, at, first, last, colours) {
  const { run, now, chosen, cursor } = scene;
  for (let row = first; row <= last; row += 1) gutters(pen, run, at, row, colours);
  for (const text of at.texts) {
    const model = run.models[text.index];
    const own = text.index === chosen;
    for (let row = first; row <= last; row += 1) drawRow(pen, { run, model, text, row, lit: own ? scene.look : null, beyond: own && scene.look ? scene.look.from : 0, may: own ? scene.may : null, asks: scene.asks, now, cursor }, at, colours);
    const inside = (position) => position !== undefined && position !== null && position < model.count && position >= first * at.columns && position < (last + 1) * at.columns;
    const best = own && scene.look ? scene.look.best.column - 1 : -1;
    if (best >= 0 && inside(best)) outline(pen, at, text, best, colours.key, 2, colours);
    for (const position of now.positions) if (inside(position)) outline(pen, at, text, position, colours.query, own ? 2.5 : 1.5, colours);
    if (inside(scene.hover)) outline(pen, at, text, scene.hover, colours.query, 1.5, colours, [3, 2]);
    if (cursor !== null && cursor < model.count && inside(cursor)) {
      const [x, y] = corner(at, text, cursor);
      pen.rect(x - 1, y, 2, at.row - 3, colours.ink);
    }
  }
}

function outline(pen, at, text, position, colour, thick, colours, dash = null) {
  const [x, y] = corner(at, text, position);
  if (!dash) pen.frame(x - 0.5, y, at.cell + 1, at.line + 2, colours.panel, thick + 1.5);
  pen.frame(x - 0.5, y, at.cell + 1, at.line + 2, colour, thick, dash);
}

function gutters(pen, run, at, row, colours) {
  const position = row * at.columns;
  const y = row * at.row;
  const middle = y + at.line * 0.5 + at.small * 0.36 + 1;
  pen.text(String(position), at.left - (at.small > 12 ? 12 : 8), middle, colours.ink3, { size: at.small, mono: false, anchor: "end" });
  if (!run.segment) return;
  // The first segment that begins in this row, and where more do, the last.
  const [from, to] = [Math.ceil(position / run.segment), Math.floor((Math.min(run.of, position + at.columns) - 1) / run.segment)];
  const x = at.width - at.right + 7;
  const start = position % run.segment === 0;
  if (start && row) pen.rect(at.left - 4, y - 1.5, at.width - at.left - at.strip, 1, colours.line);
  pen.rect(x, y + (from <= to ? 2 : -4), 1.5, at.row - (from <= to ? 6 : 0), colours.control);
  if (from <= to) pen.text(from === to ? String(from + 1) : `${from + 1}–${to + 1}`, x + 6, middle, colours.ink2, { size: at.small, mono: false, anchor: "start", bold: true });
}

function drawRow(pen, { run, model, text, row, lit, beyond, may, asks, now, cursor }, at, colours) {
  const begin = row * at.columns;
  const end = Math.min(model.count, begin + at.columns);
  if (end <= begin) return;
  const y = row * at.row;
  const own = Math.max(begin, run.given);
  if (own < end) pen.rect(text.x + (own - begin) * at.cell, y, (end - own) * at.cell, at.line + 2, colours["out-soft"]);
  const strongest = lit?.most || 1;
  const base = y + at.line * 0.5 + at.font * 0.36 + 1;
  const floor = y + at.line + 2 + at.bar;
  const slim = Math.max(1, at.cell - (at.cell > 9 ? 2.5 : 1.5));
  for (let i = begin; i < end; i += 1) {
    const x = text.x + (i - begin) * at.cell;
    const code = model.codes[i];
    if (i < beyond) pen.rect(x, y, at.cell, at.line + 2, colours.sunk);
    const allowed = may?.has(i);
    if (allowed) {
      if (i >= run.given) pen.rect(x, y, at.cell, at.line + 2, colours.panel); // blue on green would be neither
      pen.rect(x, y, at.cell, at.line + 2, colours["key-soft"]);
    }
    if (model.strange.has(i)) {
      pen.rect(x, y, at.cell, at.line + 2, colours.sunk);
      for (let dot = 0; dot < 3; dot += 1) pen.rect(x + (at.cell * (dot + 0.5)) / 3 - 0.75, y + at.line, 1.5, 1.5, colours.ink2);
    }
    // Row t of the weights: column j is the character at j − 1.
    const w = lit && i + 1 < lit.weights.length ? lit.weights[i + 1] / strongest : 0;
    if (w > 0.01) {
      if (i >= run.given) pen.rect(x, y, at.cell, at.line + 2, colours.panel);
      pen.rect(x, y, at.cell, at.line + 2, colours.key, w * colours.most);
    }
    const locked = text.index === now.index && now.positions.includes(i);
    if (locked) pen.rect(x, y, at.cell, at.line + 2, colours["query-soft"]);
    if (run.segment && i && i % run.segment === 0) pen.rect(i === begin ? x - 3.5 : x - 0.5, y - 1, 1, at.line + at.bar + 3, colours.control);
    const cost = model.nats[i] / Math.LN2;
    const high = Math.max(1, at.bar * Math.min(1, cost / colours.worst));
    pen.rect(x + (at.cell - slim) / 2, floor - high, slim, high, colours.loss(cost));
    if (code === 10) pen.text("⏎", x + at.cell / 2, base, colours.ink3, { size: at.font * 0.85, widest: at.cell });
    else if (!BLANK.has(code)) {
      const mark = sign(code);
      const written = i >= run.given && w <= 0.15;
      const fill = mark.startsWith("U+") || (may && i < asks && !allowed) ? colours.ink3 : locked ? colours.query : written ? colours.out : colours.ink;
      pen.text(mark.startsWith("U+") ? "▯" : mark, x + at.cell / 2, base, fill, { size: at.font, widest: code < 0x300 ? 0 : at.cell });
    }
  }
  if (cursor !== null && cursor < end) {
    const from = Math.max(begin, cursor);
    pen.rect(text.x + (from - begin) * at.cell, y, (end - from) * at.cell, at.row - 4, colours.panel, 0.72);
  }
}

// Four terms, their sum and its softmax as six maps of the same cells, one SVG with small pictures inside. Colours stand as var(--token)
// until the figure leaves the page.

import { svg } from "./dom.js";
import { t } from "./lang.js";

export const MAPS = ["content", "position", "global_content", "global_position", "scores", "weights"];
const SIGNS = { position: "+", global_content: "+", global_position: "+", scores: "=", weights: "→" };
const SYMBOLS = { content: "qᵢ·kⱼ", position: "qᵢ·W Rᵢ₋ⱼ", global_content: "u·kⱼ", global_position: "v·W Rᵢ₋ⱼ", scores: "Aᵢⱼ", weights: "softmax" };
const TEXT = {
  content: { en: "content", zh: "内容" },
  position: { en: "content-dependent position bias", zh: "依赖内容的位置偏置" },
  positionNarrow: { en: "content-dependent", zh: "依赖内容的位置偏置" },
  global_content: { en: "global content bias", zh: "全局内容偏置" },
  global_position: { en: "global position bias", zh: "全局位置偏置" },
  scores: { en: "score, the sum", zh: "分数，四项之和" },
  weights: { en: "weight", zh: "权重" },
  memory: { en: "memory", zh: "记忆" },
  own: { en: "this segment", zh: "本片段" },
  biasU: { en: "u of this head", zh: "本头的 u" },
  biasV: { en: "v of this head", zh: "本头的 v" },
  limits: { en: "−{n} to {n}", zh: "−{n} 至 {n}" },
};
export const NAMES = TEXT;

/** 1.234 -> "1.23", with a real minus sign and no minus before a zero. */
export const number = (value, digits = 2) => value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");

const SPACES = { " ": "␠", "\n": "⏎", "\t": "⇥" };
export const shown = (character) => SPACES[character] ?? character;
/** "e·412"; what is no character of the text has no number. */
export const tag = ({ names, positions }, i) => `${shown(names[i])}${positions[i] >= 0 ? `·${positions[i]}` : ""}`;

/**
 * A map as a picture of one pixel a cell. @param {(value: number) => number[]} colour [r, g, b] @param {number[]} none of what is not allowed
 * @returns {string} a data address
 */
export function pixels(data, allowed, rows, columns, colour, none) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  for (let i = 0; i < data.length; i += 1) {
    const [r, g, b] = allowed === null || allowed[i] ? colour(data[i]) : none;
    image.data.set([r, g, b, 255], 4 * i);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/**
 * Where the maps stand. height: that there is on a projector. @returns boards: {name, x, y} of each map's upper left corner; wide, tall: of each; height: of all
 */
export function place({ width, height, big, narrow }) {
  const font = big ? 20 : 12;
  const line = Math.round(font * 1.45);
  const columns = narrow ? 2 : 3;
  const left = narrow ? 44 : big ? 96 : 58;
  const between = narrow ? 24 : big ? 48 : 34;
  const wide = Math.floor((width - left - (columns - 1) * between - 6) / columns);
  const above = 2 * line + 4;
  const below = line + (big ? 12 : 8);
  const tall = Math.round(big ? Math.max(100, Math.min(0.6 * wide, height / 2 - above - below - 8)) : Math.max(96, Math.min(150, wide * 0.56)));
  const row = above + tall + below + (big ? 8 : 12);
  const boards = MAPS.map((name, i) => ({ name, x: left + (i % columns) * (wide + between), y: Math.floor(i / columns) * row + above }));
  const bias = Math.ceil(6 / columns) * row + font; // of the strips of u and v
  const strips = big ? -font : (narrow ? 2 : 1) * (line + font * 1.4) + 8; // a hall is shown the maps alone
  return { font, line, left, between, wide, tall, above, boards, columns, bias, width, height: bias + strips, narrow };
}

/** The cell under a point: [query, key], or null. */
export function cellAt(at, { rows, columns }, x, y) {
  const board = at.boards.find((one) => x >= one.x && x < one.x + at.wide && y >= one.y && y < one.y + at.tall);
  return board ? [Math.floor(((y - board.y) / at.tall) * rows), Math.floor(((x - board.x) / at.wide) * columns)] : null;
}

/**
 * @param {{width: number, height: number, big: boolean, narrow: boolean, it: any, images: Record<string, string>, bias: {u: string, v: string, limit: number}, cell: [number, number]}} how
 *   it: the answer, its numbers unpacked. images: data addresses of the maps. cell: [query, key] that is told of.
 */
export function drawn(how) {
  const { it, images, bias, cell, big, narrow } = how;
  const at = place(how);
  const { font, line, wide, tall } = at;
  const { rows, columns, value } = it;
  const [q, k] = cell;
  const nodes = [];
  const text = (x, y, words, { fill = "ink2", anchor = "middle", bold = false, size = font, mono = false } = {}) =>
    svg("text", { x: x.toFixed(1), y: y.toFixed(1), fill: `var(--${fill})`, "text-anchor": anchor, "font-size": size, "font-weight": bold ? 650 : 400, "font-family": mono ? 'ui-monospace, "SF Mono", "Cascadia Mono", "Noto Sans Mono", "DejaVu Sans Mono", monospace' : null, style: { fontVariantNumeric: "tabular-nums" } }, words);
  const [cw, ch] = [wide / columns, tall / rows];
  at.boards.forEach(({ name, x, y }, i) => {
    if (SIGNS[name]) nodes.push(text(x - at.between / 2 + (i % at.columns ? 0 : 1) - (i % at.columns ? 0 : at.narrow ? 2 : 12), i % at.columns ? y + tall / 2 + font * 0.5 : y - at.above + font * 1.2, SIGNS[name], { fill: "ink", bold: true, size: font * 1.5 }));
    const here = it.values[name][q * columns + k];
    const able = it.values.allowed[q * columns + k];
    nodes.push(text(x, y - line - 5, SYMBOLS[name], { fill: "ink", anchor: "start", bold: true }));
    nodes.push(text(x, y - 6, t((narrow && TEXT[`${name}Narrow`]) || TEXT[name]), { fill: "ink3", anchor: "start" }));
    nodes.push(text(x + wide, narrow ? y - line - 5 : y - 6, able ? number(here) : "–", { fill: "ink", anchor: "end", bold: true, size: font * 1.25 }));
    nodes.push(svg("image", { class: "tfe-terms-map", "data-map": name, x, y, width: wide, height: tall, preserveAspectRatio: "none", href: images[name], style: { imageRendering: "pixelated" } }));
    nodes.push(svg("rect", { x, y, width: wide, height: tall, fill: "none", stroke: "var(--control)", "stroke-width": 1 }));
    const border = x + value.memory_until * cw;
    if (value.memory_until > 0 && value.memory_until < columns) nodes.push(svg("path", { class: "border", d: `M${border.toFixed(1)} ${y - 3}V${y + tall + 4}`, stroke: "var(--ink)", "stroke-width": big ? 3 : 1.8 }));
    // The row and the column that are told of, and their cell.
    const [top, across] = [y + q * ch, x + k * cw];
    nodes.push(svg("rect", { x: x - 1, y: (top - 1).toFixed(1), width: wide + 2, height: (ch + 2).toFixed(1), fill: "none", stroke: "var(--query)", "stroke-width": big ? 2 : 1.2 }));
    const [rw, rh] = [Math.max(cw, font * 0.7), Math.max(ch, font * 0.7)];
    const ring = { x: (across + cw / 2 - rw / 2).toFixed(1), y: (top + ch / 2 - rh / 2).toFixed(1), width: rw.toFixed(1), height: rh.toFixed(1), rx: 2, fill: "none" };
    nodes.push(svg("rect", { ...ring, stroke: "var(--panel)", "stroke-width": big ? 7 : 5 }), svg("rect", { class: "ring", ...ring, stroke: "var(--key)", "stroke-width": big ? 4 : 2.5 }));
    // Names of the axes: who asks at the left of each row of maps, who is looked at below.
    if (i % at.columns === 0) {
      const room = Math.max(1, Math.ceil((font * 1.15) / ch));
      for (let r = rows - 1; r >= 0; r -= 1) {
        if (r !== q && ((rows - 1 - r) % room || Math.abs(r - q) < room)) continue;
        nodes.push(text(x - 6, y + (r + 0.5) * ch + font * 0.36, r === q && !narrow ? tag(it.queries, r) : shown(it.queries.names[r]), { fill: r === q ? "query" : "ink3", anchor: "end", bold: r === q, mono: r !== q || narrow }));
      }
    }
    const own = value.memory_until;
    const label = tag(it.keys, k);
    const half = (label.length * font * 0.6) / 2;
    const lx = Math.max(x + half, Math.min(x + wide - half, across + cw / 2));
    nodes.push(text(lx, y + tall + line, label, { fill: "key", bold: true }));
    const zone = (from, to, words, fill) => {
      const size = [...words].reduce((sum, c) => sum + (c.codePointAt(0) > 0x2e80 ? 1 : 0.56), 0) * font;
      const middle = (from + to) / 2;
      if (to - from > size + 4 && Math.abs(middle - lx) > half + 8 + size / 2) nodes.push(text(middle, y + tall + line, words, { fill }));
    };
    if (own > 0) zone(x, x + own * cw, t(TEXT.memory), "ink3");
    if (own < columns) zone(x + own * cw, x + wide, t(TEXT.own), "ink3");
  });
  // u and v, the same for every query.
  const [from, high] = [at.left, Math.round(font * 1.15)];
  (big ? [] : ["u", "v"]).forEach((name, i) => {
    const x = narrow ? from : from + i * ((at.width - 6 - from + at.between) / 2);
    const y = at.bias + (narrow ? i * (line + font * 1.4) : 0);
    const size = narrow ? at.width - from - 6 : (at.width - 6 - from + at.between) / 2 - at.between;
    nodes.push(text(x, y, `${t(name === "u" ? TEXT.biasU : TEXT.biasV)}`, { fill: "ink", anchor: "start", bold: true }));
    nodes.push(text(x + size, y, t(TEXT.limits, { n: number(bias.limit) }), { fill: "ink3", anchor: "end" }));
    nodes.push(svg("image", { class: "tfe-terms-bias", "data-bias": name, x, y: y + 5, width: size, height: high, preserveAspectRatio: "none", href: bias[name], style: { imageRendering: "pixelated" } }));
    nodes.push(svg("rect", { x, y: y + 5, width: size, height: high, fill: "none", stroke: "var(--control)", "stroke-width": 1 }));
  });
  return svg("svg", { viewBox: `0 0 ${at.width} ${Math.ceil(at.height)}`, width: at.width, height: Math.ceil(at.height), role: "img" }, ...nodes);
}

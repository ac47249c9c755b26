// Norms of what went into every layer and of what came back, a row for each layer, and how far apart the two are: one SVG. Colours stand as
// var(--token) until the figure leaves the page.

import { svg } from "./dom.js";
import { t } from "./lang.js";
import { shown, width as wide } from "./maps.js";

const TEXT = {
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  norms: { en: "length of the vector at each position", zh: "各位置向量的长度" },
  norms2: { en: "both halves of the stream", zh: "两半残差流合计" },
  off: { en: "largest difference", zh: "最大差" },
  off2: { en: "logarithmic", zh: "对数刻度" },
  held: { en: "stands now", zh: "现在存有" },
  gone: { en: "let go", zh: "已丢弃" },
  back: { en: "back again", zh: "已重算" },
  kept: { en: "the last outputs y₁, y₂ and the buckets are all that is kept", zh: "只保留最后的输出 y₁、y₂ 和各桶编号" },
  keptFull: { en: "the last outputs y₁, y₂ are all that is kept", zh: "只保留最后的输出 y₁、y₂" },
};
const EXACT = 1e-18; // the left end of the axis: what is exactly equal is drawn there
const LARGE = 1e-2;

/** "4.8 × 10⁻⁷"; "0" for none. */
export function tiny(value) {
  if (value === 0) return "0";
  const [digits, exponent] = value.toExponential(1).split("e");
  const raised = String(Number(exponent)).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  return `${digits}\u00a0×\u00a010${raised}`;
}

/** A power of ten as an axis writes it. */
const power = (exponent) => `10${String(exponent).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit])}`;

/** Where everything stands. layers, positions: how many. */
export function place({ width, height, big, layers }) {
  const font = big ? 20 : 12;
  const line = Math.round(font * 1.45);
  const narrow = width < 560;
  const left = big ? 156 : narrow ? 58 : 98;
  const above = narrow ? line + 8 : 2 * line + 8;
  const below = narrow ? 2 * line + 12 : line + 14;
  const off = narrow ? 0 : Math.min(big ? 420 : 330, Math.round(width * 0.33)); // of the differences
  const gap = narrow ? 0 : big ? 70 : 52;
  const under = narrow ? 3 * line : 0; // on a phone the differences stand below each row
  const room = big ? (height - above - below) / layers : layers > 2 ? 74 : 104;
  const row = Math.max(3.4 * font, Math.min(room, big ? 150 : 104)) + under;
  const tall = row - under - (big ? 26 : 18);
  return { font, line, left, above, off, gap, narrow, row, tall, norms: { x: left, width: width - left - off - gap - (big ? 16 : narrow ? 36 : 8) }, differences: { x: narrow ? left : width - off - (big ? 16 : 8), width: narrow ? width - left - 8 : off }, width, height: above + layers * row + below };
}

/** The position under a point, or null. */
export function positionAt(at, { layers, positions }, x, y) {
  if (x < at.norms.x || x >= at.norms.x + at.norms.width || y < at.above || y >= at.above + layers * at.row) return null;
  return Math.min(positions - 1, Math.floor(((x - at.norms.x) / at.norms.width) * positions));
}

/**
 * @param {{width: number, height: number, big: boolean, it: any, step: number, pos: number | null}} how
 *   step: 0 … layers have gone forward, on to 2 · layers have come back.
 */
export function drawn(how) {
  const { it, big, step, pos } = how;
  const { layers, positions, forward, again, value } = it;
  const at = place({ ...how, layers });
  const { font, line, narrow, tall, norms } = at;
  const nodes = [];
  const text = (x, y, words, { fill = "ink2", anchor = "start", bold = false, size = font, halo = false } = {}) =>
    svg("text", { x: x.toFixed(1), y: y.toFixed(1), fill: `var(--${fill})`, "text-anchor": anchor, "font-size": size, "font-weight": bold ? 650 : 400, ...(halo ? { stroke: "var(--panel)", "stroke-width": 4, "paint-order": "stroke", "stroke-linejoin": "round" } : {}), style: { fontVariantNumeric: "tabular-nums" } }, words);
  const px = (n) => norms.x + ((n + 0.5) / positions) * norms.width;

  nodes.push(text(norms.x, at.above - (narrow ? 8 : line + 8), t(TEXT.norms), { fill: "ink", bold: true }));
  if (!narrow) {
    nodes.push(text(norms.x, at.above - 9, t(TEXT.norms2), { fill: "ink3" }));
    nodes.push(text(at.differences.x, at.above - line - 8, t(TEXT.off), { fill: "ink", bold: true }));
    nodes.push(text(at.differences.x, at.above - 9, t(TEXT.off2), { fill: "ink3" }));
  }
  // Room at the right of the differences for their numbers.
  const label = wide("8.8\u00a0×\u00a010⁻¹⁶", `${font}px sans-serif`) + font;
  const axis = { x: at.differences.x + (narrow ? 0 : font), width: at.differences.width - label - font };
  const dx = (off) => axis.x + ((Math.log10(Math.max(EXACT, Math.min(LARGE, off))) - Math.log10(EXACT)) / (Math.log10(LARGE) - Math.log10(EXACT))) * axis.width;

  for (let layer = 0; layer < layers; layer += 1) {
    const y = at.above + layer * at.row;
    const came = step > layers && layer >= 2 * layers - step;
    const state = came ? "back" : step > layer + 1 || step > layers ? "gone" : step === layer + 1 ? "held" : null;
    const here = (step > 0 && step <= layers && layer === step - 1) || (step > layers && layer === 2 * layers - step);
    nodes.push(text(norms.x - 12, y + tall / 2, t(TEXT.layer, { n: layer + 1 }), { fill: here ? "ink" : "ink2", bold: here, anchor: "end" }));
    if (state) nodes.push(text(norms.x - 12, y + tall / 2 + line, `${state === "back" ? "↑" : "↓"}${narrow ? "" : ` ${t(TEXT[state])}`}`, { fill: state === "back" ? "out" : "ink3", bold: state === "back", anchor: "end" }));
    nodes.push(svg("rect", { x: norms.x, y, width: norms.width, height: tall, fill: here ? "var(--accent-soft)" : "var(--sunk)", rx: 3 }));
    const row = forward.subarray(layer * positions, (layer + 1) * positions);
    const found = again.subarray(layer * positions, (layer + 1) * positions);
    const low = Math.min(...row, ...found);
    const high = Math.max(...row, ...found);
    const py = (norm) => y + tall - 4 - ((norm - low) / Math.max(1e-9, high - low)) * (tall - 8);
    const path = (norms_) => Array.from(norms_, (norm, n) => `${n ? "L" : "M"}${px(n).toFixed(1)} ${py(norm).toFixed(1)}`).join("");
    if (state) {
      const inked = state === "held";
      nodes.push(svg("path", { class: "tfe-rewind-in", "data-layer": layer + 1, d: path(row), fill: "none", stroke: inked ? "var(--ink)" : "var(--ink2)", "stroke-width": big ? 2.5 : inked ? 2 : 1.2, "stroke-dasharray": inked ? null : "4 3", "stroke-linejoin": "round" }));
    }
    if (came) nodes.push(svg("path", { class: "tfe-rewind-back", "data-layer": layer + 1, d: path(found), fill: "none", stroke: "var(--out)", "stroke-width": big ? 5 : 3.4, "stroke-opacity": 0.55, "stroke-linejoin": "round" }));
    if (state) {
      nodes.push(text(norms.x + norms.width + 5, y + font * 0.9, high.toFixed(1), { fill: "ink3" }));
      nodes.push(text(norms.x + norms.width + 5, y + tall, low.toFixed(1), { fill: "ink3" }));
    }
    if (pos !== null && state) {
      nodes.push(svg("path", { d: `M${px(pos).toFixed(1)} ${y}V${y + tall}`, stroke: "var(--query)", "stroke-width": big ? 2.5 : 1.5 }));
      nodes.push(svg("circle", { class: "tfe-rewind-point", cx: px(pos).toFixed(1), cy: py((came ? found : row)[pos]).toFixed(1), r: big ? 7 : 4.5, fill: came ? "var(--out)" : "var(--ink)", stroke: "var(--panel)", "stroke-width": 1.5 }));
    }
    // How far what came back is from what had gone in.
    const from = narrow ? y + tall + 6 : y;
    const lines = narrow ? [from + 0.9 * line, from + 1.9 * line] : [y + tall / 2 - 0.62 * line, y + tall / 2 + 0.62 * line];
    nodes.push(svg("rect", { x: axis.x - (narrow ? 0 : font / 2), y: narrow ? from : y, width: axis.width + (narrow ? 0 : font), height: narrow ? 2.2 * line : tall, fill: "var(--sunk)", rx: 3 }));
    for (const [which, off, colour] of [["single", value.single[layer], 2], ["double", value.double[layer], 1]]) {
      const middle = lines[which === "single" ? 0 : 1];
      if (!came) continue;
      nodes.push(svg("path", { d: `M${axis.x} ${middle.toFixed(1)}H${dx(off).toFixed(1)}`, stroke: `var(--cat-${colour})`, "stroke-width": big ? 4 : 2.5 }));
      const [cx, r] = [dx(off), big ? 8 : 5];
      nodes.push(which === "single" ? svg("circle", { class: "tfe-rewind-off", "data-kind": which, cx: cx.toFixed(1), cy: middle.toFixed(1), r, fill: `var(--cat-${colour})` }) : svg("path", { class: "tfe-rewind-off", "data-kind": which, d: `M${cx - r} ${middle}L${cx} ${middle - r}L${cx + r} ${middle}L${cx} ${middle + r}Z`, fill: `var(--cat-${colour})` }));
      nodes.push(text(axis.x + axis.width + font, middle + font * 0.36, tiny(off), { fill: "ink" }));
    }
  }
  const floor = at.above + layers * at.row;
  const foot = floor - (narrow ? at.row - tall - 2.2 * line - 6 : at.row - tall) + line + 2;
  for (let exponent = -16; exponent <= -4; exponent += axis.width < 130 ? 6 : 4) {
    const x = dx(10 ** exponent);
    nodes.push(text(x, foot, power(exponent), { anchor: "middle", fill: "ink3" }));
    nodes.push(svg("path", { d: `M${x.toFixed(1)} ${(foot - line).toFixed(1)}v4`, stroke: "var(--control)", "stroke-width": 1 }));
  }
  // Positions, and below them what is kept.
  const spell = norms.width / positions >= font * 0.95;
  const every = spell ? 1 : ([1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500].find((n) => (n * norms.width) / positions >= 3.4 * font) ?? 500);
  const ground = narrow ? floor + line : foot;
  const own = pos === null ? "" : `${shown(value.tokens[pos])}·${pos}`;
  const half = wide(own, `${font}px sans-serif`) / 2 + 4;
  const middle = pos === null ? -1e6 : Math.max(norms.x + half, Math.min(norms.x + norms.width - half, px(pos)));
  for (let n = 0; n < positions; n += every) if (Math.abs(px(n) - middle) > half + (spell ? font / 2 : 1.2 * font)) nodes.push(text(px(n), ground, spell ? shown(value.tokens[n]) : String(n), { anchor: "middle", fill: "ink3" }));
  if (pos !== null) nodes.push(text(middle, ground, own, { anchor: "middle", fill: "query", bold: true }));
  const kept = t(value.hashed ? TEXT.kept : TEXT.keptFull);
  if (!narrow && step >= layers) nodes.push(text(norms.x, foot + line + 4, `↳ ${kept}`, { fill: step === layers ? "ink" : "ink3", bold: step === layers }));
  return svg("svg", { viewBox: `0 0 ${at.width} ${Math.ceil(at.height)}`, width: at.width, height: Math.ceil(at.height), role: "img" }, ...nodes);
}

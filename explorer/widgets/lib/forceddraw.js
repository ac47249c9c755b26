// The drawing of the forced panel: a row for each given word with its surprise, its rank, what would have been said, and where it looks.

import { svg } from "./dom.js";
import { number, shorten, shown, width } from "./maps.js";
import { table } from "./raster.js";

export { table };

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const [WORD, BAR, RANK, SAID, CELL, ROW] = [132, 132, 52, 148, 24, 24];

const channels = (ramp, at) => Array.from(ramp.subarray(3 * Math.round(255 * at), 3 * Math.round(255 * at) + 3));

/** The colour of a scale at `at` from 0 to 1. */
export const colour = (ramp, at) => `#${channels(ramp, at).map((c) => c.toString(16).padStart(2, "0")).join("")}`;

/** Black or white, whichever reads better on it. */
export function inkOn(ramp, at) {
  const [r, g, b] = channels(ramp, at).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/**
 * @param {{value: any, now: number, weights: Float32Array, high: [number, string][], ramp: Uint8ClampedArray, worst: number, label: string,
 *   texts: Record<string, string>}} how
 *   now: the row looked at. weights: (target, source), flat. high: the scale of weights. worst: nats with the last colour.
 */
export function draw({ value, now, weights, high, ramp, worst, label, texts }) {
  const { target, source } = value;
  const [n, m] = [target.pieces.length, source.pieces.length];
  const names = source.pieces.map((piece, j) => `${shorten(shown(piece), FONT, 84)} ${j}`);
  const top = Math.max(40, ...names.map((text) => width(text, FONT) + 14));
  const [bar, rank, said, map] = [WORD, WORD + BAR, WORD + BAR + RANK, WORD + BAR + RANK + SAID];
  const wide = Math.max(map + m * CELL + 8, map + 8 + width(texts.looks, FONT));
  const out = svg("svg", { viewBox: `0 0 ${wide} ${top + n * ROW + 8}`, width: wide, height: top + n * ROW + 8, role: "img", "aria-label": label });
  const words = (x, y, text, more) => svg("text", { x, y, "font-size": 12, fill: "var(--ink)", ...more, text });
  const heading = { fill: "var(--ink3)" };
  out.append(
    words(WORD - 10, top - 8, texts.word, { ...heading, "text-anchor": "end" }),
    words(bar, top - 8, texts.surprise, heading),
    words(rank + RANK - 14, top - 8, texts.rank, { ...heading, "text-anchor": "end" }),
    words(said, top - 8, texts.favourite, heading),
  );
  names.forEach((text, j) => {
    const x = map + (j + 0.5) * CELL + 4;
    out.append(words(x, top - 6, text, { fill: "var(--key)", transform: `rotate(-90 ${x} ${top - 6})` }));
  });
  const cividis = table(high);
  const most = Math.max(2, Math.ceil(Math.max(...value.logp.map((p) => -p))));
  for (let i = 0; i < n; i += 1) {
    const y = top + i * ROW;
    const middle = y + ROW / 2 + 4;
    const here = i === now;
    const surprise = -value.logp[i];
    const best = `${shorten(shown(value.favourites[i][0]), FONT, 92)} ${value.probabilities[i][0].toFixed(2)}`;
    const row = svg("g", { "data-row": i, style: { cursor: "pointer" } });
    row.append(
      svg("rect", { x: 0, y, width: wide, height: ROW, fill: here ? "var(--query-soft)" : "transparent" }),
      words(WORD - 10, middle, `${shorten(shown(target.pieces[i]), FONT, 96)} ${i}`, { "text-anchor": "end", fill: here ? "var(--query)" : "var(--ink)", "font-weight": here ? 650 : 400 }),
      svg("rect", { x: bar, y: y + 5, width: Math.max(1, (84 * surprise) / most), height: ROW - 10, fill: colour(ramp, Math.min(1, surprise / worst)), stroke: "var(--control)" }),
      words(bar + Math.max(1, (84 * surprise) / most) + 6, middle, number(surprise)),
      words(rank + RANK - 14, middle, value.ranks[i], { "text-anchor": "end" }),
      words(said, middle, best, value.ranks[i] === 1 ? { fill: "var(--ink3)" } : { fill: "var(--out)", "font-weight": 650 }),
    );
    for (let j = 0; j < m; j += 1) {
      row.append(svg("rect", { "data-cell": `${i},${j}`, x: map + j * CELL, y, width: CELL - 1, height: ROW - 1, fill: colour(cividis, Math.max(0, Math.min(1, weights[i * m + j]))) }));
    }
    if (here) row.append(svg("rect", { x: map - 1.5, y: y - 1, width: m * CELL + 2, height: ROW + 1, fill: "none", stroke: "var(--query)", "stroke-width": 2.5 }));
    out.append(row);
  }
  return out;
}

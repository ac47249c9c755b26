// Full attention and what hashing sees of it as two maps of the same cells, what each query misses beside them, and missed weight by rounds,
// a line for each number of buckets: one SVG with small pictures inside. Colours stand as var(--token) until the figure leaves the page.

import { svg } from "./dom.js";
import { t } from "./lang.js";
import { shown, width as wide } from "./maps.js";

const TEXT = {
  full: { en: "full attention", zh: "完整注意力" },
  seen: { en: "what hashing sees", zh: "哈希看到的部分" },
  setting: { en: "rounds {r} · buckets {b}", zh: "{r} 轮 · {b} 个桶" },
  everything: { en: "every earlier key", zh: "此前的所有键" },
  lost: { en: "missed", zh: "漏掉" },
  each: { en: "by query", zh: "按查询" },
  mean: { en: "mean of {n}", zh: "{n} 个平均" },
  curve: { en: "missed weight, %", zh: "漏掉的权重，%" },
  across: { en: "rounds of hashing", zh: "哈希轮数" },
  lines: { en: "with {a} … {b} buckets", zh: "{a} … {b} 个桶" },
  ran: { en: "this run", zh: "本次运行" },
  keys: { en: "key →", zh: "键 →" },
};
export const LEAST = 0.05; // a missed pair with so much weight is outlined
export const MANY = 256; // cells along a side; above, they are pooled

/**
 * A pooled map as a picture of one pixel a cell, the future left out. @param {Uint8ClampedArray} scale 256 × 3 @param {number[]} none of pairs that never met
 * @returns {string} a data address
 */
export function picture({ data, size }, scale, none) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const image = new ImageData(size, size);
  for (let q = 0; q < size; q += 1)
    for (let k = 0; k <= q; k += 1) {
      const w = data[q * size + k];
      const i = 3 * Math.max(0, Math.min(255, Math.round(w * 255)));
      image.data.set(w === w ? scale.subarray(i, i + 3) : none, 4 * (q * size + k));
      image.data[4 * (q * size + k) + 3] = 255;
    }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** How many positions share a cell. */
export const sharing = (length) => Math.ceil(length / MANY);

/** Where everything stands. height: that there is on a projector. kinds: how many numbers of buckets there are. */
export function place({ width, height, big, length }) {
  const font = big ? 20 : 12;
  const line = Math.round(font * 1.45);
  const left = big ? 84 : 46;
  const gap = big ? 40 : 22;
  const above = 2 * line + 6;
  const below = 2 * line + 4;
  const narrow = width < 560;
  const middle = !narrow && !big && width < 900;
  const bars = big ? 110 : narrow ? 52 : 70;
  const room = width - left - bars - 10;
  const axis = big ? 96 : 60; // between what queries miss and the curve
  const side = Math.floor(narrow ? room - gap : middle ? (room - 2 * gap) / 2 : Math.min((room - 1.5 * gap - axis) * 0.355, big ? height - above - below : 400));
  const full = { x: left, y: above };
  const seen = narrow ? { x: left, y: above + side + below + above } : { x: left + side + gap, y: above };
  const strip = { x: seen.x + side + gap / 2, y: seen.y, width: bars };
  const stacked = narrow || middle;
  const curve = stacked ? { x: left, y: seen.y + side + below + above, width: width - left - 10, height: 190 } : { x: strip.x + bars + axis, y: above, width: 0, height: side };
  if (!stacked) curve.width = width - curve.x - (big ? 16 : 10);
  return { font, line, left, gap, above, below, side, full, seen, strip, curve, stacked, cell: side / Math.ceil(length / sharing(length)), by: sharing(length), width, height: curve.y + curve.height + below + font / 3 };
}

const within = (x, y, box, w, h) => x >= box.x && x < box.x + w && y >= box.y && y < box.y + h;

/** What is under a point: {square: [query, key] its upper left corner}, {query}, {point: [rounds, column]} or null. */
export function under(at, it, x, y) {
  for (const box of [at.full, at.seen]) if (within(x, y, box, at.side, at.side)) return { square: [Math.floor((y - box.y) / at.cell) * at.by, Math.floor((x - box.x) / at.cell) * at.by] };
  if (within(x, y, at.strip, at.strip.width, at.side)) return { query: Math.min(it.head.length - 1, Math.floor((y - at.strip.y) / at.cell) * at.by) };
  const plot = axes(at, it);
  if (!within(x, y, { x: at.curve.x - at.font, y: at.curve.y - at.font }, at.curve.width + 2 * at.font, at.curve.height + 2 * at.font)) return null;
  const rounds = Math.max(1, Math.min(it.rounds, Math.round(plot.roundsAt(x))));
  const off = it.value.kinds.map((_, column) => Math.abs(plot.y(it.table[(rounds - 1) * it.value.kinds.length + column]) - y));
  return { point: [rounds, off.indexOf(Math.min(...off))] };
}

/** The scales of the curve. */
function axes(at, it) {
  const { x, y, width, height } = at.curve;
  const most = it.table.reduce((a, b) => Math.max(a, b), 0);
  const step = [0.2, 0.5, 1, 2, 5, 10, 20, 25].find((one) => most / one <= 5) ?? 25;
  const top = Math.max(step, Math.ceil(most / step) * step);
  const from = x + 2.6 * at.font; // names of the lines stand before the first round
  const wide_ = x + width - from - at.font * 0.6;
  return {
    step,
    top,
    from,
    x: (rounds) => from + ((rounds - 1) / Math.max(1, it.rounds - 1)) * wide_,
    y: (per) => y + height * (1 - per / top),
    roundsAt: (px) => 1 + ((px - from) / wide_) * Math.max(1, it.rounds - 1),
  };
}

const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", "Noto Sans Mono", "DejaVu Sans Mono", monospace';
export const percent = (value) => (value > 0 && value < 0.05 ? "<0.1" : value.toFixed(1));

/**
 * @param {{width: number, height: number, big: boolean, it: any, images: {full: string, seen: string}, lost: Float32Array, missing: number[][],
 *   point: [number, number], told: [number, number], rows: number[], old: boolean}} how
 *   point: [rounds, column of kinds] of the curve. told: [query, key]. rows: locked queries. missing: pairs to outline. old: maps are of other buckets.
 */
export function drawn(how) {
  const { it, images, big, point, told, rows, lost, old } = how;
  const at = place({ ...how, length: it.head.length });
  const { font, line, side, cell, by } = at;
  const { value, head } = it;
  const text = (x, y, words, { fill = "ink2", anchor = "start", bold = false, size = font, mono = false, halo = false } = {}) =>
    svg("text", { x: x.toFixed(1), y: y.toFixed(1), fill: `var(--${fill})`, "text-anchor": anchor, "font-size": size, "font-weight": bold ? 650 : 400, "font-family": mono ? MONO : null, ...(halo ? { stroke: "var(--panel)", "stroke-width": 4, "paint-order": "stroke", "stroke-linejoin": "round" } : {}), style: { fontVariantNumeric: "tabular-nums" } }, words);
  const number = (n) => Math.floor(n / by);
  const [q, k] = told;
  const maps = [];
  const font_ = `${font}px sans-serif`;

  for (const [name, box] of [["full", at.full], ["seen", at.seen]]) {
    const { x, y } = box;
    maps.push(text(x, y - line - 6, t(TEXT[name]), { fill: "ink", bold: true }));
    maps.push(text(x, y - 7, name === "full" ? t(TEXT.everything) : t(TEXT.setting, { r: point[0], b: value.kinds[point[1]] }), { fill: "ink3" }));
    maps.push(svg("image", { class: "tfe-missed-map", "data-map": name, x, y, width: side, height: side, preserveAspectRatio: "none", href: images[name], style: { imageRendering: "pixelated" } }));
    maps.push(svg("path", { d: `M${x} ${y}V${y + side}H${x + side}Z`, fill: "none", stroke: "var(--control)", "stroke-width": 1 }));
    const small = Math.max(cell, big ? 6 : 4);
    const seen_ = new Set();
    const corner = (n, one) => (number(n) + 0.5) * cell - one / 2;
    for (const [row, key] of how.missing) {
      const spot = `${number(row)},${number(key)}`;
      if (seen_.has(spot)) continue;
      seen_.add(spot);
      maps.push(svg("rect", { class: "tfe-missed-pair", x: (x + corner(key, small)).toFixed(1), y: (y + corner(row, small)).toFixed(1), width: small.toFixed(1), height: small.toFixed(1), fill: "none", stroke: "var(--bad)", "stroke-width": big ? 2.5 : cell < 6 ? 1.2 : 1.8 }));
    }
    for (const row of new Set([...rows, q])) {
      const told_ = row === q;
      maps.push(svg("rect", { x: x - 1, y: (y + number(row) * cell - 1).toFixed(1), width: ((number(row) + 1) * cell + 2).toFixed(1), height: (cell + 2).toFixed(1), fill: "none", stroke: "var(--query)", "stroke-width": told_ ? (big ? 3 : 2) : 1 }));
    }
    const ring = Math.max(cell + 2, font * 0.75);
    const mark = { x: (x + corner(k, ring)).toFixed(1), y: (y + corner(q, ring)).toFixed(1), width: ring.toFixed(1), height: ring.toFixed(1), rx: 2, fill: "none" };
    if (q > 0) maps.push(svg("rect", { ...mark, stroke: "var(--panel)", "stroke-width": big ? 7 : 5 }), svg("rect", { class: "ring", ...mark, stroke: "var(--key)", "stroke-width": big ? 4 : 2.5 }));
    // Names along both sides: every one where there is room, else numbers now and then; those told of always.
    const spell = cell >= font * 0.95 && by === 1;
    const every = spell ? 1 : [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500].find((n) => (n / by) * cell >= 3.4 * font) ?? 500;
    const tag = (n) => `${shown(it.value.tokens[n])}·${n}`;
    const lead = (n, words, role, y_) => text(x - 6, y_, words, { anchor: "end", fill: role, bold: role !== "ink3", mono: spell && role === "ink3", halo: role !== "ink3" });
    if (name === "full" || at.full.x === at.seen.x) {
      for (let n = 0; n < head.length; n += every) if (Math.abs(number(n) - number(q)) * cell > font * (spell ? 0.5 : 1)) maps.push(lead(n, spell ? shown(it.value.tokens[n]) : String(n), "ink3", y + (number(n) + 0.5) * cell + font * 0.36));
      maps.push(lead(q, tag(q), "query", Math.min(y + side, Math.max(y + font * 0.4, y + (number(q) + 0.5) * cell + font * 0.36))));
    }
    const label = q > 0 ? tag(k) : "";
    const half = wide(label, font_) / 2 + 2;
    const mid = Math.max(x + half, Math.min(x + side - half, x + (number(k) + 0.5) * cell));
    for (let n = 0; n < head.length; n += every) {
      const px = x + (number(n) + 0.5) * cell;
      const words = spell ? shown(it.value.tokens[n]) : String(n);
      const own = wide(words, font_) / 2;
      if (Math.abs(px - mid) > half + own + 2 && px + own <= x + side + 2) maps.push(text(px, y + side + line, words, { anchor: "middle", fill: "ink3", mono: spell }));
    }
    if (label) maps.push(text(mid, y + side + line, label, { anchor: "middle", fill: "key", bold: true }));
  }

  // What each query misses.
  const { strip } = at;
  maps.push(text(strip.x, strip.y - line - 6, t(TEXT.lost), { fill: "ink", bold: true }));
  maps.push(text(strip.x, strip.y - 7, by > 1 ? t(TEXT.mean, { n: by }) : t(TEXT.each), { fill: "ink3" }));
  const cells = Math.ceil(head.length / by);
  let bars = "";
  for (let n = 0; n < cells; n += 1) {
    const some = lost.subarray(n * by, Math.min(head.length, (n + 1) * by));
    const size = (some.reduce((a, b) => a + b, 0) / some.length) * strip.width;
    if (size > 0.05) bars += `M${strip.x} ${(strip.y + n * cell).toFixed(2)}h${size.toFixed(2)}v${Math.max(cell - (cell > 3 ? 1 : 0), 0.4).toFixed(2)}h${(-size).toFixed(2)}z`;
  }
  maps.push(svg("rect", { x: strip.x, y: strip.y, width: strip.width, height: side, fill: "var(--sunk)" }));
  if (bars) maps.push(svg("path", { class: "tfe-missed-bars", d: bars, fill: "var(--bad)" }));
  maps.push(svg("path", { d: `M${strip.x} ${strip.y}V${strip.y + side}`, stroke: "var(--control)", "stroke-width": 1 }));
  maps.push(svg("rect", { x: strip.x - 1, y: (strip.y + number(q) * cell - 1).toFixed(1), width: strip.width + 2, height: (cell + 2).toFixed(1), fill: "none", stroke: "var(--query)", "stroke-width": big ? 3 : 2 }));
  maps.push(text(strip.x, strip.y + side + line, "0", { fill: "ink3" }), text(strip.x + strip.width, strip.y + side + line, "100 %", { fill: "ink3", anchor: "end" }));

  return svg("svg", { viewBox: `0 0 ${at.width} ${Math.ceil(at.height)}`, width: at.width, height: Math.ceil(at.height), role: "img" }, svg("g", { class: old ? "tfe-missed-old" : null, opacity: old ? 0.4 : null }, ...maps), ...curves(at, it, point, text, big));
}

/** Missed weight by rounds, a line for each number of buckets, named at its beginning. */
function curves(at, it, point, text, big) {
  const { font, line, curve } = at;
  const { kinds, ran } = it.value;
  const plot = axes(at, it);
  const nodes = [text(curve.x, curve.y - line - 6, t(TEXT.curve), { fill: "ink", bold: true }), text(curve.x, curve.y - 7, t(TEXT.lines, { a: kinds[0], b: kinds.at(-1) }), { fill: "ink3" })];
  for (let per = 0; per <= plot.top + 1e-9; per += plot.step) {
    const y = plot.y(per).toFixed(1);
    nodes.push(svg("path", { d: `M${curve.x} ${y}H${curve.x + curve.width}`, stroke: per ? "var(--line)" : "var(--control)", "stroke-width": 1 }));
    nodes.push(text(curve.x - 6, plot.y(per) + font * 0.36, String(+per.toFixed(1)), { anchor: "end", fill: "ink3" }));
  }
  const every = plot.x(2) - plot.x(1) < 1.9 * font ? (plot.x(2) - plot.x(1) < 0.9 * font ? 4 : 2) : 1;
  for (let rounds = 1; rounds <= it.rounds; rounds += 1) {
    const chosen = rounds === point[0];
    if (chosen || ((rounds - 1) % every === 0 && Math.abs(plot.x(rounds) - plot.x(point[0])) > 1.5 * font)) nodes.push(text(plot.x(rounds), curve.y + curve.height + line, String(rounds), { anchor: "middle", fill: chosen ? "ink" : "ink3", bold: chosen }));
  }
  nodes.push(text(curve.x + curve.width, curve.y + curve.height + 2 * line, t(TEXT.across), { anchor: "end", fill: "ink3" }));
  const here = (rounds, column) => it.table[(rounds - 1) * kinds.length + column];
  const order = kinds.map((_, column) => column).sort((a, b) => (a === point[1]) - (b === point[1]));
  for (const column of order) {
    const mine = column === point[1];
    const colour = `var(--cat-${(column % 10) + 1})`;
    const d = Array.from({ length: it.rounds }, (_, i) => `${i ? "L" : "M"}${plot.x(i + 1).toFixed(1)} ${plot.y(here(i + 1, column)).toFixed(1)}`).join("");
    if (mine) nodes.push(svg("path", { d, fill: "none", stroke: "var(--panel)", "stroke-width": big ? 9 : 6, "stroke-linejoin": "round" }));
    nodes.push(svg("path", { class: "tfe-missed-line", "data-buckets": kinds[column], d, fill: "none", stroke: colour, "stroke-width": mine ? (big ? 5 : 3) : big ? 2.5 : 1.5, "stroke-linejoin": "round" }));
  }
  // Names before the first round, pushed apart where lines begin close together.
  const names = kinds.map((count, column) => ({ count, column, y: plot.y(here(1, column)) })).sort((a, b) => a.y - b.y);
  const apart = font * 1.05;
  for (let n = 1; n < names.length; n += 1) names[n].y = Math.max(names[n].y, names[n - 1].y + apart);
  const floor = curve.y + curve.height - 2;
  for (let n = names.length - 1, low = floor; n >= 0; n -= 1, low -= apart) names[n].y = Math.min(names[n].y, low);
  for (const { count, column, y } of names) {
    const mine = column === point[1];
    nodes.push(svg("path", { d: `M${plot.from - 3} ${plot.y(here(1, column)).toFixed(1)}L${plot.from - 0.75 * font} ${y.toFixed(1)}`, stroke: `var(--cat-${(column % 10) + 1})`, "stroke-width": mine ? 2 : 1, fill: "none" }));
    nodes.push(text(plot.from - 0.95 * font, y + font * 0.36, String(count), { anchor: "end", fill: mine ? "ink" : "ink2", bold: mine, halo: true }));
  }
  const own = kinds.indexOf(ran[1]);
  const same = ran[0] === point[0] && own === point[1];
  if (ran[0] > 0 && own >= 0 && ran[0] <= it.rounds) {
    const [x, y] = [plot.x(ran[0]), plot.y(here(...[ran[0], own]))];
    const r = big ? 8 : 5;
    nodes.push(svg("path", { class: "tfe-missed-ran", d: `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`, fill: "var(--panel)", stroke: "var(--ink)", "stroke-width": big ? 2.5 : 1.5 }));
    if (!same) nodes.push(text(x, y - 2 * r, t(TEXT.ran), { anchor: ran[0] > it.rounds - 3 ? "end" : "middle", fill: "ink2", halo: true }));
  }
  const [x, y] = [plot.x(point[0]), plot.y(here(...point))];
  nodes.push(svg("circle", { class: "tfe-missed-point", cx: x.toFixed(1), cy: y.toFixed(1), r: big ? 10 : 6.5, fill: "none", stroke: "var(--accent)", "stroke-width": big ? 4 : 3 }));
  const right = point[0] > it.rounds * 0.6;
  nodes.push(text(x + (right ? -0.9 : 0.9) * font, y - 0.9 * font, `${percent(here(...point))} %${same ? ` · ${t(TEXT.ran)}` : ""}`, { anchor: right ? "end" : "start", fill: "ink", bold: true, size: font * 1.25, halo: true }));
  return nodes;
}

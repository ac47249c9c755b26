// What stands below the patterns: how long paths are, which head attends with which factor, and what a larger picture costs. All as SVG.

import { svg } from "./dom.js";
import { lang, t } from "./lang.js";
import { KINDS, counted, known, ofHeads } from "./patternmath.js";
import { NAMES, TEXT, whole } from "./patternwords.js";

const num = (x) => String(Math.round(100 * x) / 100);
const text = (x, y, words, { size = 12, fill = "var(--ink2)", anchor = "start", bold = false } = {}) =>
  svg("text", { x: num(x), y: num(y), "font-size": size, fill, "text-anchor": anchor, "font-weight": bold ? 650 : 400, text: String(words) });
const picture = (width, height, nodes) => svg("svg", { class: "tfe-patterns-drawing", viewBox: `0 0 ${num(width)} ${num(height)}`, width: num(width), height: num(height), "aria-hidden": "true" }, nodes.flat(4).filter(Boolean));

/** How many pairs are joined in 0, 1, 2 and more steps, one bar a pattern. rows: {kind, found, length}[]; shown: the pattern in view. */
export function lengths({ rows, shown, tones }, { width, big }) {
  const size = big ? 20 : 12;
  const [line, bar, step] = big ? [28, 26, 96] : [18, 14, 58];
  const nodes = [];
  rows.forEach(({ kind, found, length }, n) => {
    const y = n * step;
    const all = (length * (length + 1)) / 2;
    const [own, one, two, ...far] = found.tally;
    const more = far.reduce((sum, each) => sum + each, 0) + found.missing;
    const names = TEXT.steps[lang()] ?? TEXT.steps.en;
    nodes.push(text(0, y + size, t(NAMES[kind]), { size, bold: true, fill: kind === shown ? "var(--accent)" : "var(--ink)" }));
    nodes.push(text(width, y + size, `${whole(all)} ${t(TEXT.pairs)}`, { size, anchor: "end", fill: "var(--ink3)" }));
    nodes.push(svg("rect", { x: 0, y: y + line, width: num(width), height: bar, rx: 2, fill: "var(--sunk)" }));
    let x = 0;
    for (const [count, fill] of [[own, "var(--query)"], [one, tones.first], [two, tones.two], [more, "var(--ink)"]]) {
      const wide = (width * count) / all;
      if (wide > 0) nodes.push(svg("rect", { class: "part", x: num(x), y: y + line, width: num(wide), height: bar, fill }));
      x += wide;
    }
    const inks = ["var(--query)", "var(--key)", "var(--ink2)", "var(--ink)"];
    // Large letters leave no room for the position itself; the sentence counts it.
    const said = [own, one, two, more].map((count, i) => [count, names[i], inks[i]]).filter(([count], i) => (count || i < 3) && (i || !big));
    said.forEach(([count, name, ink], i) => {
      const last = said.length - 1;
      nodes.push(text((width * i) / last, y + line + bar + size + 3, `${name} ${whole(count)}`, { size, anchor: i === 0 ? "start" : i === last ? "end" : "middle", fill: ink }));
    });
  });
  return picture(width, rows.length * step - (big ? 8 : 6), nodes);
}

/** Layers and their heads, each cell with the factor it attends with; at the end of how many positions i knows after that layer. */
export function uses({ pattern, use, position, layers, heads, tones }, { width, big }) {
  const size = big ? 20 : 12;
  const [tall, gap] = big ? [50, 5] : [34, 5];
  const [left, right] = big ? [80, 102] : [62, 92];
  const room = (width - left - right) / heads;
  const wide = Math.min(room - gap, big ? 100 : 64);
  const counts = known(pattern, use, position, layers, heads);
  const top = size + 10;
  const nodes = [text(left - 10, size, t(TEXT.head), { size, anchor: "end" }), text(left + heads * (wide + gap) + 8, size, t(TEXT.knows), { size })];
  for (let h = 0; h < heads; h += 1) nodes.push(text(left + h * (wide + gap) + wide / 2, size, h + 1, { size, anchor: "middle" }));
  for (let layer = 0; layer < layers; layer += 1) {
    const y = top + (layers - 1 - layer) * (tall + gap); // the first layer stands at the foot
    nodes.push(text(left - 10, y + tall / 2 + size * 0.35, t(TEXT.layer, { n: layer + 1 }), { size, anchor: "end" }));
    let h = 0;
    for (const [count, which] of ofHeads(pattern, use, layer, heads)) {
      for (let n = 0; n < count; n += 1, h += 1) {
        const x = left + h * (wide + gap);
        const both = which === "union" && pattern.kind !== "full";
        nodes.push(svg("rect", { class: `use ${which}`, x: num(x), y: num(y), width: num(wide), height: tall, rx: 4, fill: which === "second" ? tones.second : tones.first }));
        if (both) nodes.push(svg("path", { d: `M${num(x + 2)} ${num(y)}H${num(x + wide - 4)}a4 4 0 0 1 4 4V${num(y + tall - 2)}Z`, fill: tones.second }));
        const words = pattern.kind === "full" ? "A" : both ? "A₁ A₂" : which === "second" ? "A₂" : "A₁";
        if (both) {
          nodes.push(text(x + wide * 0.27, y + tall * 0.84, "A₁", { size, anchor: "middle", bold: true, fill: tones.onFirst }), text(x + wide * 0.73, y + tall * 0.16 + size * 0.72, "A₂", { size, anchor: "middle", bold: true, fill: tones.onSecond }));
        } else nodes.push(text(x + wide / 2, y + tall / 2 + size * 0.35, words, { size, anchor: "middle", bold: true, fill: which === "second" ? tones.onSecond : tones.onFirst }));
      }
    }
    const x = left + heads * (wide + gap) + 8;
    nodes.push(text(x, y + tall / 2 + size * 0.35, `${whole(counts[layer])} / ${whole(position + 1)}`, { size, bold: counts[layer] === position + 1, fill: counts[layer] === position + 1 ? "var(--ink)" : "var(--ink2)" }));
  }
  return { drawing: picture(width, top + layers * (tall + gap) - gap + 2, nodes), counts };
}

const SIDES = [6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56];
const TICKS = [7, 14, 28, 56];

/** The pattern at another side: l grows with it, c stays. */
export const grown = (pattern, from, to) => {
  const l = Math.max(1, Math.round((pattern.l * to) / from));
  return { ...pattern, l, c: Math.min(pattern.c, l) };
};

/** Pairs by the side of the picture, both axes logarithmic; l grows with the side. */
export function growth({ l, c, side, shown }, { width, big }) {
  const size = big ? 20 : 12;
  const [left, right, bottom, top] = big ? [84, 100, 58, 14] : [50, 58, 38, 8];
  const tall = big ? 300 : 150;
  const of = (kind, s) => counted(grown({ kind, l, c }, side, s), s * s).pairs;
  const low = Math.floor(Math.log10(Math.min(of("strided", 6), of("fixed", 6))));
  const high = Math.ceil(Math.log10(of("full", 56)));
  const x = (s) => left + ((width - left - right) * Math.log(s / 6)) / Math.log(56 / 6);
  const y = (pairs) => top + tall * (1 - (Math.log10(pairs) - low) / (high - low));
  const nodes = [];
  for (let e = low; e <= high; e += 1) {
    nodes.push(svg("path", { d: `M${left} ${num(y(10 ** e))}H${num(width - right)}`, stroke: "var(--line)" }));
    nodes.push(text(left - 8, y(10 ** e) + size * 0.35, { 1: "10", 2: "100", 3: "1,000", 4: "10⁴", 5: "10⁵", 6: "10⁶", 7: "10⁷" }[e] ?? `10^${e}`, { size, anchor: "end", fill: "var(--ink3)" }));
  }
  nodes.push(svg("path", { d: `M${left} ${top + tall}H${num(width - right)}${TICKS.map((s) => `M${num(x(s))} ${top + tall}v4`).join("")}`, stroke: "var(--control)", fill: "none" }));
  for (const s of TICKS) nodes.push(text(x(s), top + tall + size + 5, s, { size, anchor: "middle", fill: "var(--ink3)" }));
  nodes.push(text((left + width - right) / 2, top + tall + 2 * size + 9, t(TEXT.growthAxis), { size, anchor: "middle" }));
  nodes.push(svg("path", { d: `M${num(x(side))} ${top}V${top + tall}`, stroke: "var(--ink2)", "stroke-dasharray": "2 3" }));
  const ends = KINDS.map((kind) => ({ kind, y: y(of(kind, 56)) })).sort((a, b) => a.y - b.y);
  ends.forEach((end, n) => {
    if (n) end.y = Math.max(end.y, ends[n - 1].y + size + 2);
  });
  for (const { kind, y: ye } of ends) {
    const stroke = kind === "full" ? "var(--ink2)" : "var(--accent)"; // the colours of factors are not those of patterns
    const here = kind === shown;
    nodes.push(svg("path", { class: `growth ${kind}`, d: `M${SIDES.map((s) => `${num(x(s))} ${num(y(of(kind, s)))}`).join("L")}`, fill: "none", stroke, "stroke-width": (here ? 3.2 : 1.8) * (big ? 1.5 : 1), "stroke-dasharray": kind === "fixed" ? "7 3" : null }));
    nodes.push(svg("circle", { cx: num(x(side)), cy: num(y(of(kind, side))), r: big ? 7 : 4, fill: "var(--panel)", stroke, "stroke-width": big ? 3 : 2 }));
    nodes.push(text(width - right + 8, ye + size * 0.35, t(NAMES[kind]), { size, bold: here, fill: here ? "var(--ink)" : "var(--ink2)" }));
  }
  return picture(width, top + tall + bottom, nodes);
}

// What follows from a pattern: how long paths are, which head attends with which factor, and what a
// larger picture costs. Computed here.

import { t } from "../../frontend/lib/lang.js";
import { counted, KINDS, known, ofHeads, USES } from "../../frontend/pictures/patternmath.js";
import { colour, ink } from "../../frontend/lib/pen.js";
import { count as whole } from "../../frontend/lib/signs.js";
import {
  causal,
  chosen,
  doubled,
  grown,
  NAMES,
  PAIRS,
  searched,
  seen,
  shared,
  times,
} from "./connected.js";

export const TEXT = {
  question: { en: "How many steps are between any two positions?", zh: "任意两个位置之间隔几步？" },
  board: {
    en: "{title}. Left and right move the position, up and down change the pattern; Escape resets.",
    zh: "{title}。左右键移动位置，上下键换模式；Esc 复位。",
  },
  longer: { en: "How long is a path?", zh: "路径有多长？" },
  longerUnits: { en: "pairs j ≤ i, searched one by one", zh: "逐一搜索所有 j ≤ i 的对" },
  steps: { en: ["itself", "1 step", "2 steps", "more"], zh: ["自身", "1 步", "2 步", "更多"] },
  searching: {
    en: "{name}: {done} of {of} positions are searched.",
    zh: "{name}：已搜索 {done} / {of} 个位置。",
  },
  proved: {
    en: "{name}: every one of the {all} pairs j ≤ i is joined in at most 2 steps; {one} in one, " +
      "{two} in two, {own} are the position itself.",
    zh:
      "{name}：全部 {all} 个 j ≤ i 的对都在至多 2 步内相连；{one} 个一步，{two} 个两步，{own} 个是位置自身。",
  },
  provedOne: {
    en: "{name}: every one of the {all} pairs j ≤ i is joined in at most one step; {own} are the " +
      "position itself.",
    zh: "{name}：全部 {all} 个 j ≤ i 的对都在至多一步内相连；其中 {own} 个是位置自身。",
  },
  refuted: {
    en:
      "{name}: of {all} pairs j ≤ i, {one} are joined in one step, {two} in two, {more} in more, " +
      "{missing} not at all; {own} are the position itself.",
    zh:
      "{name}：{all} 个 j ≤ i 的对中，{one} 个一步相连，{two} 个两步，{more} 个更多步，{missing} 个不相连；{own} 个是位置自身。",
  },
  uses: { en: "Who attends with which?", zh: "谁用哪一个？" },
  usesLabel: { en: "How two factors are used", zh: "两个因子的用法" },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  head: { en: "head", zh: "头" },
  knows: { en: "i knows of", zh: "i 所知" },
  growth: { en: "What does a larger picture cost?", zh: "图像变大，代价几何？" },
  growthUnits: { en: "pairs by side", zh: "对数随边长" },
  growthAxis: { en: "side of the picture", zh: "图像边长" },
  sayGrowth: {
    en:
      "From side {a} to {b}, with l growing alongside, full attention takes {full} times as many " +
      "pairs, strided {strided}, fixed {fixed}.",
    zh:
      "边长从 {a} 到 {b}，l 同比增长：完整模式的对数为 {full} 倍，跨步 {strided} 倍，固定 {fixed} 倍。",
  },
  caption: {
    en: "Pairs of each pattern by the side of the picture, l growing alongside",
    zh: "各模式的对数随边长变化，l 同比增长",
  },
  rows: { en: "side, positions", zh: "边长，位置" },
  pairsOf: { en: "{name}, pairs", zh: "{name}，对数" },
};
const USE_NAMES = {
  interleaved: { en: "interleaved", zh: "逐层交替" },
  merged: { en: "merged", zh: "合并" },
  split: { en: "split heads", zh: "分给各头" },
};
const SAY_USE = {
  interleaved: {
    en: "One factor a layer, in turn: after {k} layers position {i} knows of all {of}.",
    zh: "各层轮流使用一个因子：{k} 层之后位置 {i} 知道全部 {of} 个位置。",
  },
  merged: {
    en:
      "Every head attends with both factors together: after {k} layers position {i} knows of all " +
      "{of}.",
    zh: "每个头同时使用两个因子：{k} 层之后位置 {i} 知道全部 {of} 个位置。",
  },
  split: {
    en:
      "Half of the heads take A₁, the others A₂: after {k} layers position {i} knows of all {of}.",
    zh: "一半的头用 A₁，其余用 A₂：{k} 层之后位置 {i} 知道全部 {of} 个位置。",
  },
  full: {
    en:
      "There is one factor, and every head attends with it: after 1 layer position {i} knows of " +
      "all {of}.",
    zh: "只有一个因子，每个头都用它：1 层之后位置 {i} 知道全部 {of} 个位置。",
  },
  short: {
    en: "After all {k} layers position {i} knows of {n} of {of}.",
    zh: "全部 {k} 层之后，位置 {i} 知道 {of} 个中的 {n} 个。",
  },
};
const SIDES = [6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56];
const TICKS = [7, 14, 28, 56];
const POWERS = ["1", "10", "100", "1,000", "10⁴", "10⁵", "10⁶", "10⁷"];
const [GAP, LEAST] = [24, 640]; // px between the three parts, and of room for them side by side

/** How many pairs are joined in 0, 1, 2 and more steps, and not at all. */
const tallied = ({ tally: [own, one, two, ...more], missing }) => ({
  own,
  one,
  two,
  more: more.reduce((sum, n) => sum + n, 0),
  missing,
});

/** One bar a pattern. Each part takes (x, y), its top left, and returns where it ends. */
function lengths(pen, x, y, width, now) {
  const found = searched(now, pen.away ? "end" : "");
  const { big } = pen;
  const size = pen.type(12);
  const [line, bar, step] = big ? [28, 26, 96] : [18, 14, 58];
  const all = causal(now.length);
  KINDS.forEach((kind, n) => {
    const top = y + n * step;
    const { own, one, two, more, missing } = tallied(found[kind]);
    pen.text(x, top + size * 0.6, t(NAMES[kind]), {
      size,
      weight: 650,
      colour: kind === now.kind ? "accent" : "ink",
    });
    pen.text(x + width, top + size * 0.6, `${whole(all)} ${t(PAIRS)}`, {
      size,
      align: "right",
      colour: "ink3",
    });
    pen.rect({ x0: x, x1: x + width, y0: top + line, y1: top + line + bar }, {
      fill: "sunk",
      radius: 2,
    });
    const counts = [own, one, two, more + missing];
    let x0 = x;
    counts.forEach((count, i) => {
      const wide = (width * count) / all;
      const fill = ["query", "key", colour("key", 0.26), "ink"][i];
      if (wide > 0) pen.rect({ x0, x1: x0 + wide, y0: top + line, y1: top + line + bar }, { fill });
      x0 += wide;
    });
    // Large letters leave no room for the position itself; the sentence counts it.
    const said = counts.map((
      count,
      i,
    ) => [count, chosen(TEXT.steps)[i], ["query", "key", "ink2", "ink"][i]])
      .filter(([count], i) => (count || i < 3) && (i || !big));
    said.forEach(([count, name, ofText], i) => {
      const share = i / (said.length - 1);
      pen.text(x + width * share, top + line + bar + size * 0.9, `${name} ${whole(count)}`, {
        size,
        colour: ofText,
        align: share === 0 ? "left" : share === 1 ? "right" : "center",
      });
    });
  });
  return y + KINDS.length * step - 6;
}

/**
 * Layers and their heads, each cell with the factor it attends with; at the end of how many
 * positions i knows after that layer.
 */
function uses(pen, x, y, width, { patterns, kind, use, position }, { layers, heads }) {
  const { big } = pen;
  const size = pen.type(12);
  const pattern = patterns[kind];
  const [tall, gap] = big ? [50, 5] : [34, 5];
  const [left, right] = big ? [80, 102] : [62, 92];
  const wide = Math.min((width - left - right) / heads - gap, big ? 100 : 64);
  const counts = known(pattern, use, position, layers, heads);
  const at = (h) => x + left + h * (wide + gap);
  const style = { size, align: "center" };
  pen.text(x + left - 10, y + size * 0.6, t(TEXT.head), { size, align: "right" });
  pen.text(at(heads) + 3, y + size * 0.6, t(TEXT.knows), { size });
  for (let h = 0; h < heads; h += 1) pen.text(at(h) + wide / 2, y + size * 0.6, h + 1, style);
  for (let layer = 0; layer < layers; layer += 1) {
    const y0 = y + size + 10 + (layers - 1 - layer) * (tall + gap); // the first layer stands at the foot
    pen.text(x + left - 10, y0 + tall / 2, t(TEXT.layer, { n: layer + 1 }), {
      size,
      align: "right",
    });
    const which = ofHeads(pattern, use, layer, heads).flatMap(([count, factor]) =>
      Array(count).fill(factor)
    );
    which.forEach((factor, h) => {
      const [x0, both, second] = [
        at(h),
        factor === "union" && kind !== "full",
        factor === "second",
      ];
      const letter = (px, py, text, on) =>
        pen.text(px, py, text, { ...style, weight: 650, colour: ink(on) });
      pen.rect({ x0, x1: x0 + wide, y0, y1: y0 + tall }, {
        fill: second ? "cat-6" : "key",
        radius: 4,
        name: `use ${factor}`,
      });
      if (!both) {
        letter(
          x0 + wide / 2,
          y0 + tall / 2,
          kind === "full" ? "A" : second ? "A₂" : "A₁",
          second ? "cat-6" : "key",
        );
        return;
      }
      pen.path(`M${x0 + 2} ${y0}H${x0 + wide - 4}a4 4 0 0 1 4 4V${y0 + tall - 2}Z`, {
        fill: "cat-6",
      });
      letter(x0 + wide * 0.27, y0 + tall * 0.84 - size * 0.36, "A₁", "key");
      letter(x0 + wide * 0.73, y0 + tall * 0.16 + size * 0.36, "A₂", "cat-6");
    });
    const all = counts[layer] === position + 1;
    pen.text(at(heads) + 3, y0 + tall / 2, `${whole(counts[layer])} / ${whole(position + 1)}`, {
      size,
      weight: all ? 650 : 400,
      colour: all ? "ink" : "ink2",
    });
  }
  return y + size + 10 + layers * (tall + gap) - gap + 2;
}

/** The pairs of a pattern at another side of the picture. */
const pairsAt = ({ patterns, side }, kind, s) =>
  counted(grown(patterns[kind], side, s), s * s).pairs;

/** Pairs by the side of the picture, both axes logarithmic; l grows with the side. */
function growth(pen, x, y, width, now) {
  const { side, kind: shown } = now;
  const { big } = pen;
  const size = pen.type(12);
  const [left, right, bottom, top] = big ? [84, 100, 58, 14] : [50, 58, 38, 8];
  const tall = big ? 300 : 150;
  const low = Math.floor(Math.log10(Math.min(...KINDS.map((kind) => pairsAt(now, kind, 6)))));
  const high = Math.ceil(Math.log10(pairsAt(now, "full", 56)));
  const [x0, x1, floor] = [x + left, x + width - right, y + top + tall];
  const across = (s) => x0 + ((x1 - x0) * Math.log(s / 6)) / Math.log(56 / 6);
  const up = (pairs) => floor - (tall * (Math.log10(pairs) - low)) / (high - low);
  for (let e = low; e <= high; e += 1) {
    pen.line(x0, up(10 ** e), x1, up(10 ** e), { line: "line" });
    pen.text(x0 - 8, up(10 ** e), POWERS[e], { size, align: "right", colour: "ink3" });
  }
  pen.path(`M${x0} ${floor}H${x1}${TICKS.map((s) => `M${across(s)} ${floor}v4`).join("")}`, {
    line: "control",
  });
  for (const s of TICKS) {
    pen.text(across(s), floor + size + 1, s, { size, align: "center", colour: "ink3" });
  }
  pen.text((x0 + x1) / 2, floor + 2 * size + 5, t(TEXT.growthAxis), { size, align: "center" });
  pen.line(across(side), y + top, across(side), floor, { line: "ink2", dash: [2, 3] });
  let free = -Infinity;
  for (const kind of KINDS.toSorted((a, b) => pairsAt(now, b, 56) - pairsAt(now, a, 56))) {
    // the colours of factors are not those of patterns
    const [line, here] = [kind === "full" ? "ink2" : "accent", kind === shown];
    const path = SIDES.map((s) => `${across(s).toFixed(1)} ${up(pairsAt(now, kind, s)).toFixed(1)}`)
      .join("L");
    pen.path(`M${path}`, {
      line,
      width: (here ? 3.2 : 1.8) * (big ? 1.5 : 1),
      dash: kind === "fixed" ? [7, 3] : null,
    });
    pen.circle(across(side), up(pairsAt(now, kind, side)), big ? 7 : 4, {
      fill: "panel",
      line,
      width: big ? 3 : 2,
    });
    free = Math.max(up(pairsAt(now, kind, 56)), free + size + 2);
    pen.text(x1 + 8, free, t(NAMES[kind]), {
      size,
      weight: here ? 650 : 400,
      colour: here ? "ink" : "ink2",
    });
  }
  return y + top + tall + bottom;
}

export function scene(run, look, pen) {
  const now = seen(look);
  const { big } = pen;
  const one = pen.width < LEAST && !big;
  const width = one ? pen.width : Math.floor((pen.width - 2 * GAP) / 3);
  const parts = [
    [TEXT.longer, t(TEXT.longerUnits), lengths],
    [TEXT.uses, t(NAMES[now.kind]), uses],
    [TEXT.growth, t(TEXT.growthUnits), growth],
  ];
  let [y, low] = [0, 0];
  parts.forEach(([title, units, draw], n) => {
    const x = one ? 0 : n * (width + GAP);
    pen.text(x, y + (big ? 14 : 9), t(title), { size: big ? 22 : 14, weight: 650, colour: "ink" });
    pen.text(x, y + (big ? 44 : 28), units, { size: big ? 20 : 12, colour: "ink3" });
    low = Math.max(low, draw(pen, x, y + (big ? 70 : 44), width, now, run.trained));
    if (one) y = low + GAP;
  });
  pen.size(pen.width, low + 2);
}

/** What the search of the pattern in view found. */
function proof(now) {
  const found = searched(now)[now.kind];
  const name = t(NAMES[now.kind]);
  if (found.done < now.length) {
    return t(TEXT.searching, { name, done: whole(found.done), of: whole(now.length) });
  }
  const { own, one, two, more, missing } = tallied(found);
  const values = {
    name,
    all: whole(causal(now.length)),
    own: whole(own),
    one: whole(one),
    two: whole(two),
    more: whole(more),
    missing: whole(missing),
  };
  return t(more || missing ? TEXT.refuted : two ? TEXT.proved : TEXT.provedOne, values);
}

export function sentence({ trained: { layers, heads } }, look) {
  const now = seen(look);
  const { patterns, side, kind, use, position } = now;
  const counts = known(patterns[kind], use, position, layers, heads);
  const k = counts.indexOf(position + 1) + 1;
  const at = {
    i: whole(position),
    of: whole(position + 1),
    k: k || layers,
    n: whole(counts.at(-1)),
  };
  const ratio = Object.fromEntries(KINDS.map((one) => [one, times(doubled(patterns[one], side))]));
  return [
    proof(now),
    t({ en: " ", zh: "" }),
    t(SAY_USE[!k ? "short" : kind === "full" ? "full" : use], at),
    t({ en: " ", zh: "" }),
    t(TEXT.sayGrowth, { a: side, b: 2 * side, ...ratio }),
  ];
}

export function table(_run, look) {
  const now = seen(look);
  return {
    caption: t(TEXT.caption),
    columns: [t(TEXT.rows), ...KINDS.map((kind) => t(TEXT.pairsOf, { name: t(NAMES[kind]) }))],
    rows: SIDES.map((s) => [s, ...KINDS.map((kind) => pairsAt(now, kind, s))]),
    here: SIDES.indexOf(now.side),
  };
}

export function arrays({ trained: { layers, heads } }, look) {
  const now = seen(look);
  const found = searched(now, "end");
  const counts = (rows, more) => ({
    shape: [rows.length, rows[0].length],
    data: Int32Array.from(rows.flat()),
    ...more,
  });
  return {
    patterns: KINDS,
    sides: {
      shape: [SIDES.length],
      data: Int32Array.from(SIDES),
      axes: ["side"],
      unit: "positions",
    },
    pairs_by_side: counts(KINDS.map((kind) => SIDES.map((s) => pairsAt(now, kind, s))), {
      axes: ["pattern", "side"],
      unit: "pairs",
    }),
    pairs_by_steps: counts(KINDS.map((kind) => Object.values(tallied(found[kind]))), {
      axes: ["pattern", "steps: 0, 1, 2, more, not joined"],
      unit: "pairs",
    }),
    known_after_layers: counts(
      KINDS.map((kind) => known(now.patterns[kind], now.use, now.position, layers, heads)),
      { axes: ["pattern", "layer"], unit: `positions that ${now.position} knows of, ${now.use}` },
    ),
  };
}

export const common = shared;
export const choices = () => [{
  key: "patternuse",
  label: t(TEXT.usesLabel),
  shown: true,
  options: USES.map((value) => ({ value, label: t(USE_NAMES[value]) })),
}];

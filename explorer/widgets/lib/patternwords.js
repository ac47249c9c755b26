// What the patterns widget says: names, labels, and the sentences computed from what is drawn.

import { t } from "./lang.js";
import { parts } from "./maps.js";

export const NAMES = { full: { en: "Full", zh: "全连接" }, strided: { en: "Strided", zh: "跨步" }, fixed: { en: "Fixed", zh: "固定" } };
export const FORMULAS = {
  full: [["A", "first", " = {0 … i}"]],
  strided: [
    ["A₁", "first", " = {max(0, i − l) … i}"],
    ["A₂", "second", " = {j : (i − j) mod l = 0}"],
  ],
  fixed: [
    ["A₁", "first", " = {j : ⌊j / l⌋ = ⌊i / l⌋}"],
    ["A₂", "second", " = {j : j mod l ≥ l − c}"],
  ],
};
export const USE_NAMES = {
  interleaved: { en: "interleaved", zh: "逐层交替" },
  merged: { en: "merged", zh: "合并" },
  split: { en: "split heads", zh: "分给各头" },
};

export const TEXT = {
  title: { en: "Which earlier positions a position attends to", zh: "一个位置关注哪些更早的位置" },
  question: { en: "Which earlier positions does one position attend to?", zh: "一个位置关注哪些更早的位置？" },
  units: { en: "{side} × {side} = {n} positions, l = {l}, c = {c}", zh: "{side} × {side} = {n} 个位置，l = {l}，c = {c}" },
  itself: { en: "itself, i", zh: "自身 i" },
  first: { en: "A₁ near", zh: "A₁ 近" },
  second: { en: "A₂ far", zh: "A₂ 远" },
  both: { en: "both", zh: "两者" },
  two: { en: "two steps away", zh: "相距两步" },
  none: { en: "not within two steps", zh: "不在两步之内" },
  later: { en: "later: not allowed", zh: "之后：不允许" },
  kind: { en: "Pattern in view", zh: "所看的模式" },
  sizes: { en: "Sizes", zh: "尺寸" },
  side: { en: "side", zh: "边长" },
  stride: { en: "stride l", zh: "步长 l" },
  summary: { en: "summary columns c", zh: "摘要列 c" },
  trained: { en: "{side} × {side}, as this lab’s models", zh: "{side} × {side}，同本实验的模型" },
  hint: {
    en: "hover preview · click lock · shift-click a path’s start · ← → position · ⇧ ← → path’s start · ↑ ↓ pattern · Esc reset",
    zh: "悬停预览 · 点击锁定 · Shift 加点击选路径起点 · ← → 换位置 · ⇧ ← → 换路径起点 · ↑ ↓ 换模式 · Esc 复位",
  },
  pooled: { en: "pooled {n}×", zh: "合并 {n}×" },
  matrix: { en: "connectivity matrix", zh: "连接矩阵" },
  query: { en: "query", zh: "查询" },
  key: { en: "key", zh: "键" },
  pairs: { en: "pairs", zh: "对" },
  ofSquare: { en: "of L² = {n}", zh: "占 L² = {n}" },
  ofCausal: { en: "of L (L + 1) / 2 = {n}", zh: "占 L (L + 1) / 2 = {n}" },
  busiest: { en: "busiest query: {n} of {of}", zh: "最忙的查询：{n} / {of}" },
  roots: { en: "= {n} √L", zh: "= {n} √L" },
  twice: { en: "twice the side: × {n} pairs", zh: "边长加倍：对数 × {n}" },
  board: { en: "Full, strided and fixed patterns on an image and as matrices. Left and right move the position, with shift the start of the path; up and down change the pattern; Escape resets.", zh: "全连接、跨步与固定模式：图像上的视野与连接矩阵。左右键移动位置，加 Shift 移动路径起点；上下键换模式；Esc 复位。" },
  at: { en: "{i} (row {row}, column {column})", zh: "{i}（第 {row} 行第 {column} 列）" },
  sayFull: { en: "Full: position {i} attends to all {n} of the {of} positions up to itself", zh: "全连接：位置 {i} 关注到自身为止的全部 {of} 个位置中的 {n} 个" },
  sayPattern: { en: "{name}: position {i} attends to {n} of the {of} positions up to itself, {first} by {a}, {second} by {b}, {both} by both", zh: "{name}：位置 {i} 关注到自身为止的 {of} 个位置中的 {n} 个：{a} 有 {first} 个，{b} 有 {second} 个，两者共有 {both} 个" },
  sayTwo: { en: "; {two} more are two steps away.", zh: "；另有 {two} 个相距两步。" },
  sayLeft: { en: "; {two} more are two steps away, {left} are further or not joined.", zh: "；另有 {two} 个相距两步，{left} 个更远或未连接。" },
  sayNone: { en: ".", zh: "。" },
  sayOne: { en: " Position {j} is joined to it directly.", zh: "位置 {j} 与它直接相连。" },
  sayOver: { en: " What stands at {j} comes to it over {via}, in {n} steps.", zh: "{j} 处的内容经由 {via} 到达它，共 {n} 步。" },
  sayLost: { en: " Nothing leads from {j} to it.", zh: "没有路径从 {j} 通向它。" },
  longer: { en: "How long is a path?", zh: "路径有多长？" },
  longerQuestion: { en: "How many steps lie between any two positions?", zh: "任意两个位置之间隔几步？" },
  longerUnits: { en: "pairs j ≤ i, searched one by one", zh: "逐一搜索所有 j ≤ i 的对" },
  steps: { en: ["itself", "1 step", "2 steps", "more"], zh: ["自身", "1 步", "2 步", "更多"] },
  searching: { en: "{name}: {done} of {of} positions are searched.", zh: "{name}：已搜索 {done} / {of} 个位置。" },
  proved: { en: "{name}: every one of the {all} pairs j ≤ i is joined in at most {most} steps; {one} in one, {two} in two, {own} are the position itself.", zh: "{name}：全部 {all} 个 j ≤ i 的对都在至多 {most} 步内相连；{one} 个一步，{two} 个两步，{own} 个是位置自身。" },
  provedOne: { en: "{name}: every one of the {all} pairs j ≤ i is joined in at most one step; {own} are the position itself.", zh: "{name}：全部 {all} 个 j ≤ i 的对都在至多一步内相连；其中 {own} 个是位置自身。" },
  refuted: { en: "{name}: of {all} pairs j ≤ i, {one} are joined in one step, {two} in two, {more} in more, {missing} not at all; {own} are the position itself.", zh: "{name}：{all} 个 j ≤ i 的对中，{one} 个一步相连，{two} 个两步，{more} 个更多步，{missing} 个不相连；{own} 个是位置自身。" },
  uses: { en: "Who attends with which?", zh: "谁用哪一个？" },
  usesLabel: { en: "How two factors are used", zh: "两个因子的用法" },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  head: { en: "head", zh: "头" },
  knows: { en: "i knows of", zh: "i 所知" },
  sayUse: {
    interleaved: { en: "One factor a layer, in turn: after {k} layers position {i} knows of all {of}.", zh: "各层轮流使用一个因子：{k} 层之后位置 {i} 知道全部 {of} 个位置。" },
    merged: { en: "Every head attends with both factors together: after {k} layers position {i} knows of all {of}.", zh: "每个头同时使用两个因子：{k} 层之后位置 {i} 知道全部 {of} 个位置。" },
    split: { en: "Half of the heads take A₁, the others A₂: after {k} layers position {i} knows of all {of}.", zh: "一半的头用 A₁，其余用 A₂：{k} 层之后位置 {i} 知道全部 {of} 个位置。" },
    full: { en: "There is one factor, and every head attends with it: after 1 layer position {i} knows of all {of}.", zh: "只有一个因子，每个头都用它：1 层之后位置 {i} 知道全部 {of} 个位置。" },
    short: { en: "After all {k} layers position {i} knows of {n} of {of}.", zh: "全部 {k} 层之后，位置 {i} 知道 {of} 个中的 {n} 个。" },
  },
  growth: { en: "What does a larger picture cost?", zh: "图像变大，代价几何？" },
  growthUnits: { en: "pairs by side", zh: "对数随边长" },
  growthAxis: { en: "side of the picture", zh: "图像边长" },
  sayGrowth: { en: "From side {a} to {b}, with l growing alongside, full attention takes {full} times as many pairs, strided {strided}, fixed {fixed}.", zh: "边长从 {a} 到 {b}，l 同比增长：全连接的对数为 {full} 倍，跨步 {strided} 倍，固定 {fixed} 倍。" },
  columns: {
    en: ["pattern", "l", "c", "L", "pairs", "of L²", "of L (L + 1) / 2", "pairs of A₁", "pairs of A₂", "busiest query", "in 1 step", "in 2 steps", "not within 2"],
    zh: ["模式", "l", "c", "L", "对数", "占 L²", "占 L (L + 1) / 2", "A₁ 的对", "A₂ 的对", "最忙的查询", "1 步", "2 步", "不在 2 步内"],
  },
  caption: { en: "Pairs and paths of each pattern", zh: "各模式的对数与路径" },
  cardIn: { en: { 1: "in A₁", 2: "in A₂", 3: "in A₁ and A₂" }, zh: { 1: "属于 A₁", 2: "属于 A₂", 3: "同属 A₁ 与 A₂" } },
  cardOne: { en: "{j} → {i}: one step, {how}", zh: "{j} → {i}：一步，{how}" },
  cardFull: { en: "{j} → {i}: one step", zh: "{j} → {i}：一步" },
  cardOver: { en: "{route}: {n} steps", zh: "{route}：{n} 步" },
  cardLost: { en: "nothing leads from {j} to {i}", zh: "没有路径从 {j} 到 {i}" },
  cardOwn: { en: "position {i}: row {row}, column {column}", zh: "位置 {i}：第 {row} 行第 {column} 列" },
  cardLater: { en: "query {i}, key {j}: later, not allowed", zh: "查询 {i}，键 {j}：在其后，不允许" },
};

/** A whole number as it is read: 10,440. */
export const whole = (n) => n.toLocaleString("en");

/** A share in per cent with two digits behind the point: "11.17 %". */
export const share = (part, of) => `${((100 * part) / of).toFixed(2)} %`;

/** A ratio as it is read: "15.9". */
export const times = (x) => (x >= 100 ? x.toFixed(0) : x.toFixed(1));

const where = (p, side) => t(TEXT.at, { i: p, row: Math.floor(p / side), column: p % side });

/**
 * The sentence under the boards, as pieces.
 * @param {{kind: string, side: number, position: number, codes: ArrayLike<number>, steps: ArrayLike<number>, route: number[] | null, far: number | null}} seen
 */
export function sentence({ kind, side, position, codes, steps, route, far }) {
  const of = position + 1;
  const tally = (test) => Array.from({ length: of }, (_, j) => j).filter(test).length;
  const n = tally((j) => codes[j] > 0);
  const two = tally((j) => steps[j] === 2);
  const rest = of - 1 - tally((j) => steps[j] === 1 || steps[j] === 2);
  const values = {
    name: t(NAMES[kind]), n: whole(n), of: whole(of), two: whole(two), left: whole(rest),
    i: { text: where(position, side), role: "query" },
    a: { text: "A₁", role: "key" }, b: { text: "A₂", role: "second" },
    first: tally((j) => codes[j] & 1), second: tally((j) => codes[j] & 2), both: tally((j) => codes[j] === 3),
  };
  const told = [...parts(kind === "full" ? TEXT.sayFull : TEXT.sayPattern, values), ...parts(rest ? TEXT.sayLeft : two ? TEXT.sayTwo : TEXT.sayNone, values)];
  if (far === null) return told;
  const j = { text: where(far, side), role: "strong" };
  if (!route) return [...told, ...parts(TEXT.sayLost, { j })];
  const via = { text: route.slice(1, -1).map((p) => where(p, side)).join(", "), role: "strong" };
  return [...told, ...parts(route.length > 2 ? TEXT.sayOver : TEXT.sayOne, { j, via, n: route.length - 1 })];
}

/** What the search of one pattern found, in one sentence. found: from patternmath's `search`. */
export function proof({ kind, length, found }) {
  const name = t(NAMES[kind]);
  if (found.done < length) return t(TEXT.searching, { name, done: whole(found.done), of: whole(length) });
  const [own, one, two] = found.tally;
  const more = found.tally.slice(3).reduce((sum, n) => sum + n, 0);
  const values = { name, all: whole((length * (length + 1)) / 2), own: whole(own), one: whole(one), two: whole(two), most: 2, more: whole(more), missing: whole(found.missing) };
  if (more || found.missing) return t(TEXT.refuted, values);
  return t(two ? TEXT.proved : TEXT.provedOne, values);
}

/** What the card at the pointer says of a pair. route: null where nothing leads there; code: the pair's factors. */
export function cardText({ kind, side, query, key, route, code }) {
  if (key > query) return t(TEXT.cardLater, { i: query, j: key });
  if (key === query) return t(TEXT.cardOwn, { i: query, row: Math.floor(query / side), column: query % side });
  if (!route) return t(TEXT.cardLost, { i: query, j: key });
  if (route.length > 2) return t(TEXT.cardOver, { route: route.join(" → "), n: route.length - 1 });
  return t(kind === "full" ? TEXT.cardFull : TEXT.cardOne, { i: query, j: key, how: t({ en: TEXT.cardIn.en[code], zh: TEXT.cardIn.zh[code] }) });
}

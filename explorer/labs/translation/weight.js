// How one weight comes about: the cell that attention has in view, worked out in five steps from
// what its head computed with, softmax(q Kᵀ / √d_head) V for one row (Vaswani et al., 2017, eq. 1).
// The value is made by explorer/labs/translation/figures/weight.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { ink, shade } from "../../frontend/lib/pen.js";
import { NAME, ordinal, shown, signed } from "../../frontend/lib/signs.js";

const STEPS = ["multiply", "sum", "mask", "softmax", "average"];
const KINDS = {
  encoder: { en: "encoder self-attention", zh: "编码器自注意力" },
  decoder: { en: "decoder self-attention", zh: "解码器自注意力" },
  cross: { en: "cross-attention", zh: "交叉注意力" },
};
export const TEXT = {
  steps: { en: "Steps of the arithmetic", zh: "计算步骤" },
  multiply: { en: "1 multiply", zh: "1 相乘" },
  sum: { en: "2 sum and scale", zh: "2 求和与缩放" },
  mask: { en: "3 mask", zh: "3 掩码" },
  softmax: { en: "4 softmax", zh: "4 softmax" },
  average: { en: "5 average of values", zh: "5 值的平均" },
  follows: {
    en: "It follows the cell that is locked in the map above: {kind}, layer {layer}, head {head}.",
    zh: "它跟随上图中锁定的格子：{kind}，第 {layer} 层第 {head} 头。",
  },
  board: {
    en: "{title} Left and right step through the arithmetic, up and down through heads.",
    zh: "{title}左右键换步骤，上下键换头。",
  },
  caption: { en: "Row {q}: every key's score and weight", zh: "{q} 这一行：每个键的分数与权重" },
  columns: {
    en: "key|q · k|score|exp(score − largest)|weight",
    zh: "键|q · k|分数|exp(分数 − 最大值)|权重",
  },
  products: { en: "q × k, element by element", zh: "q × k，逐元素" },
  running: { en: "running sum of the products", zh: "乘积的累加" },
  total: { en: "sum", zh: "总和" },
  score: { en: "score", zh: "分数" },
  limits: { en: "colours from {low} to {high}", zh: "颜色从 {low} 到 {high}" },
  others: { en: "{n} other keys", zh: "另外 {n} 个键" },
  othersShut: {
    en: "{n} other keys, {m} of them not allowed",
    zh: "另外 {n} 个键，其中 {m} 个不允许",
  },
  output: { en: "output of this head", zh: "这个头的输出" },
  weighted: { en: "weight × value", zh: "权重 × 值" },
  out: { en: "the output", zh: "输出" },
};
const QUESTION = {
  multiply: { en: "Where do query and key agree?", zh: "查询与键在哪里一致？" },
  sum: { en: "How well do query and key agree?", zh: "查询与键有多一致？" },
  mask: { en: "Who may be looked at?", zh: "哪些键可以看？" },
  softmax: { en: "What becomes of the scores?", zh: "分数变成了什么？" },
  average: { en: "What does the query take home?", zh: "查询取走了什么？" },
};
const SAY = {
  multiply: {
    en: "Element by element, query {q} times key {k}: {n} of {d} products are positive and add " +
      "{plus}, {m} are negative and take {minus}; the largest is {most}, at element {at}.",
    zh:
      "查询 {q} 与键 {k} 逐元素相乘：{d} 个乘积中 {n} 个为正，共加 {plus}；{m} 个为负，共减 {minus}；最大的是元素 {at} 的 {most}。",
  },
  sum: {
    en: "The {d} products sum to {dot}; divided by √{d} = {root}, the score of key {k} for query " +
      "{q} is {score}.",
    zh: "{d} 个乘积之和是 {dot}；除以 √{d} = {root}，键 {k} 对查询 {q} 的分数是 {score}。",
  },
  sumUndivided: {
    en:
      "The {d} products sum to {dot}; the division by √{d} is left out, so that is the score of " +
      "key {k} for query {q}.",
    zh: "{d} 个乘积之和是 {dot}；这里去掉了除以 √{d} 的一步，所以这就是键 {k} 对查询 {q} 的分数。",
  },
  mask: {
    en: "Row {q} has a score for each of {n} keys, from {low} to {high}; nothing is masked here, " +
      "every key may be looked at.",
    zh: "{q} 这一行对 {n} 个键各有一个分数，从 {low} 到 {high}；这里没有掩码，每个键都可以看。",
  },
  maskCausal: {
    en: "Row {q} may look at {n} keys, with scores from {low} to {high}; {m} keys {m|comes|come} " +
      "later, and −∞ takes the place of {m|its score|their scores}.",
    zh: "{q} 这一行可以看 {n} 个键，分数从 {low} 到 {high}；{m} 个键在后面，它们的分数换成 −∞。",
  },
  maskHidden: {
    en: "Row {q} may look at {n} keys, with scores from {low} to {high}; {m} {m|is|are} hidden, " +
      "and −∞ takes the place of {m|its score|their scores}.",
    zh: "{q} 这一行可以看 {n} 个键，分数从 {low} 到 {high}；{m} 个键被遮住，它们的分数换成 −∞。",
  },
  maskAll: {
    en: "Row {q} has nothing left to look at: all {n} keys are hidden, and −∞ takes the place of " +
      "each score.",
    zh: "{q} 这一行没有可看的键：{n} 个键都被遮住，每个分数都换成 −∞。",
  },
  softmax: {
    en:
      "exp({score} − {highest}) = {raised}; of {sum} for the whole row that is the weight {w} of " +
      "key {k}, {rank} of {n}; the row sums to {all}.",
    zh:
      "exp({score} − {highest}) = {raised}；整行合计 {sum}，所以键 {k} 的权重是 {w}，在 {n} 个中排第 {rank}；该行之和为 " +
      "{all}。",
  },
  softmaxShut: {
    en:
      "Key {k} comes later than query {q}: exp(−∞) = 0, so its weight is 0; the other weights of " +
      "the row sum to {all}.",
    zh: "键 {k} 在查询 {q} 之后：exp(−∞) = 0，权重为 0；该行其余权重之和为 {all}。",
  },
  softmaxHidden: {
    en: "Key {k} is hidden: exp(−∞) = 0, so its weight is 0; the other weights of the row sum to " +
      "{all}.",
    zh: "键 {k} 被遮住：exp(−∞) = 0，权重为 0；该行其余权重之和为 {all}。",
  },
  softmaxAll: {
    en: "Every key of row {q} is hidden: each exp(−∞) = 0, so nothing is left to look at and the " +
      "row sums to 0.",
    zh: "{q} 这一行的键都被遮住：每个 exp(−∞) = 0，没有可看的键，该行之和为 0。",
  },
  averageAll: {
    en: "Nothing is left to look at, so every value counts 0, and {out} is {d} times 0.",
    zh: "没有可看的键，每个值都按 0 计，所以{out}是 {d} 个 0。",
  },
  average: {
    en:
      "{w} of the value of key {k} and the shares of the other keys add up to {out}: {d} numbers " +
      "from {low} to {high}. With those of the other heads they go through one more matrix.",
    zh:
      "键 {k} 的值的 {w} 倍，加上其他键的份额，得到{out}：{d} 个数，从 {low} 到 {high}。它们与其他头的输出拼在一起，再乘一个矩阵。",
  },
  averageSilenced: {
    en:
      "{w} of the value of key {k} and the shares of the other keys add up to {out}: {d} numbers " +
      "from {low} to {high}. This head is silenced: they count 0.",
    zh:
      "键 {k} 的值的 {w} 倍，加上其他键的份额，得到{out}：{d} 个数，从 {low} 到 {high}。这个头已关掉：它们按 0 计。",
  },
};

/** 1.234 -> "1.23", with a real minus sign; −∞ as such. */
const number = (
  value,
  digits = 2,
) => (value === -Infinity ? "−∞" : value.toFixed(digits).replace("-", "−"));
const sum = (list) => list.reduce((a, b) => a + b, 0);
const widest = (...lists) => Math.max(1e-6, ...lists.flatMap((list) => Array.from(list, Math.abs)));
const tint = (value, limit) => shade("signed", 0.5 + value / (2 * limit));

export const read = (value, { away = false }) => ({ ...value, away });

const head = ({ layer, head: number_ }) => `${layer + 1}.${number_ + 1}`;
/** The position of a key: where the future is hidden the keys begin before the text, at −1. */
const numbered = (run, j) => j - (run.kind === "decoder" ? 1 : 0);
const quoted = (text, index) => `\u2068“${shown(text)}”\u2069 (${signed(index)})`;
const query = (run, i) => quoted(run.queries[i], i);
const key = (run, j) => quoted(run.keys[j], numbered(run, j));

/**
 * All on the way to a weight: products (d,), dots, scores, raised, weights (key,), output (d,); −∞
 * and 0 where a key is not allowed.
 */
function worked(run, { row, col }) {
  const [n, d] = run.key.shape;
  const root = run.scaled ? Math.sqrt(d) : 1;
  const [q, k] = [Float64Array.from(run.query.slice(row)), Float64Array.from(run.key.slice(col))];
  const allowed = upTo(n, (j) => (!run.causal || j <= row) && !run.hidden.includes(j));
  const dots = Float64Array.from(
    { length: n },
    (_, j) => run.key.slice(j).reduce((all, x, e) => all + x * q[e], 0),
  );
  const scores = dots.map((dot, j) => (allowed[j] ? dot / root : -Infinity));
  // taken off before the exponential: the weights are the same, and no number grows out of bounds
  const most = Math.max(...scores);
  const raised = scores.map((score) => (score === -Infinity ? 0 : Math.exp(score - most)));
  const weights = raised.map((one) => one / (sum(raised) || 1)); // 0 in a row that may look at nothing
  const taken = (j) => Float64Array.from(run.values.slice(j), (v) => weights[j] * v);
  const together = (list) =>
    Float64Array.from(
      { length: d },
      (_, e) => sum(list.map((j) => weights[j] * run.values.slice(j)[e])),
    );
  return {
    row,
    col,
    n,
    d,
    root,
    q,
    k,
    products: q.map((x, e) => x * k[e]),
    allowed,
    dots,
    scores,
    most,
    raised,
    weights,
    taken,
    together,
    output: together(upTo(n, (j) => j)),
  };
}

/**
 * The keys to draw where there is no room for all, in order: those with most weight, the locked
 * one, the first that are not allowed.
 */
function chosen({ n, col, allowed, weights }, room) {
  const all = upTo(n, (j) => j);
  if (n <= room + 1) return all; // a row that says “1 other” is no shorter
  const ranked = all.filter((j) => allowed[j] && j !== col).sort((a, b) => weights[b] - weights[a]);
  const shut = all.filter((j) => !allowed[j] && j !== col).slice(0, 2);
  return [col, ...ranked.slice(0, room - 1 - shut.length), ...shut].sort((a, b) => a - b);
}

// ── the five boards; each says how high it is ──
export function scene(run, look, pen) {
  const [font, small] = pen.big ? [20, 20] : [13, 12];
  const at = { font, small, line: Math.round(font * 1.5) };
  pen.size(pen.width, BOARDS[STEPS[look.wstep - 1]](run, worked(run, look), pen, at));
}

/** One vector as cells; every cell says its number. */
function strip(pen, { x0, y0, y1 }, values, { limit, label, small }) {
  const cell = (pen.width - x0) / values.length;
  const box = (e) => ({ x0: x0 + e * cell, x1: x0 + (e + 1) * cell - (cell > 6 ? 1 : 0), y0, y1 });
  values.forEach((value, e) => {
    const fill = tint(value, limit);
    pen.rect(box(e), { fill, line: "line", width: 0.5 });
    if (cell >= (pen.big ? 56 : 36)) {
      pen.text(x0 + (e + 0.5) * cell, (y0 + y1) / 2, number(value), {
        size: small,
        align: "center",
        colour: ink(fill),
      });
    }
  });
  pen.grid(
    { x0, x1: pen.width, y0, y1 },
    1,
    values.length,
    (_, e) => ({ ...box(e), card: () => [`${label}[${e}] = ${number(values[e], 4)}`] }),
  );
}

/** The numbers of the elements under a strip. */
function indices(pen, count, x0, x1, y, size) {
  const cell = (x1 - x0) / count;
  for (let e = 0; e < count; e += cell < (pen.big ? 34 : 18) ? 5 : 1) {
    pen.text(x0 + (e + 0.5) * cell, y, String(e), { size, align: "center", colour: "ink3" });
  }
}

const limits = (limit) => t(TEXT.limits, { low: number(-limit), high: number(limit) });

function multiply(run, it, pen, { font, small, line }) {
  const tall = pen.big ? 64 : 30;
  const own = widest(it.products);
  const both = widest(it.q, it.k);
  let y = line / 2;
  for (
    const [label, words, values, limit, colour] of [
      ["q", `q · ${query(run, it.row)}`, it.q, both, "query"],
      ["k", `k · ${key(run, it.col)}`, it.k, both, "key"],
      ["q×k", t(TEXT.products), it.products, own, "ink"],
    ]
  ) {
    const note = pen.width > 520 ? limits(limit) : "";
    const room = pen.width - pen.measure(note, { size: small }) - 12;
    pen.text(0, y, words, { size: font, weight: 650, colour, room });
    pen.text(pen.width, y, note, { size: small, colour: "ink3", align: "right" });
    strip(pen, { x0: 0, y0: y + line / 2, y1: y + line / 2 + tall }, values, {
      limit,
      label,
      small,
    });
    y += tall + line + 12;
  }
  indices(pen, it.d, 0, pen.width, y - line / 2 - 2, small);
  return y;
}

function added(_run, it, pen, { font, small, line }) {
  const { width, big } = pen;
  const running = [0];
  for (const product of it.products) running.push(running.at(-1) + product);
  const dot = running.at(-1);
  const score = dot / it.root;
  const [low, high] = [Math.min(0, ...running, score), Math.max(0, ...running, score)];
  const [top, tall] = [line + 10, big ? Math.max(300, pen.tall - 3 * line) : 190];
  const wide = Math.max(big ? 100 : 48, (width / (it.d + 7)) * 2.7); // two wide bars behind the elements, with room for their numbers
  const unit = (width - 2.5 * wide) / it.d;
  const y = (value) => top + ((high - value) / (high - low || 1)) * tall;
  const limit = widest(it.products);
  pen.text(0, font * 0.6, t(TEXT.running), { size: font });
  it.products.forEach((product, e) => {
    const [y0, y1] = [
      y(Math.max(running[e], running[e + 1])),
      y(Math.min(running[e], running[e + 1])),
    ];
    const box = {
      x0: e * unit,
      x1: e * unit + Math.max(1, unit - 1),
      y0,
      y1: Math.max(y0 + 1, y1),
    };
    pen.rect(box, { fill: tint(product, limit), line: "control", width: 0.5 });
    pen.hit({
      ...box,
      y0: top,
      y1: top + tall,
      card: () => [`${e}: ${number(product, 4)} → ${number(running[e + 1], 4)}`],
    });
  });
  pen.line(0, y(0), width, y(0), { line: "control" });
  for (
    const [x0, value, words, fill] of [[width - 2.25 * wide, dot, t(TEXT.total), "ink2"], [
      width - wide,
      score,
      t(TEXT.score),
      "accent",
    ]]
  ) {
    const [y0, y1] = [y(Math.max(0, value)), y(Math.min(0, value))];
    const box = { x0, x1: x0 + wide, y0, y1: Math.max(y0 + 1, y1) };
    pen.rect(box, { fill });
    const style = { size: font, weight: 650, colour: fill, align: "center" };
    pen.text(x0 + wide / 2, value >= 0 ? y0 - line / 2 : y1 + line / 2, number(value), style);
    pen.text(x0 + wide / 2, top + tall + line, words, { size: small, align: "center" });
    pen.hit({ ...box, card: () => [`${words}: ${number(value, 4)}`] });
  }
  indices(pen, it.d, 0, it.d * unit, top + tall + line, small);
  return top + tall + line + small;
}

/** Keys as rows: name, bar, number; a click locks the key. bar(j, box) draws. */
function rows(run, it, pen, { font, small }, { value, says, bar }) {
  const { width, big } = pen;
  const list = chosen(it, 14);
  const high = big ? Math.min(56, Math.max(36, pen.tall / (list.length + 1))) : 24;
  const [left, right] = [Math.min(big ? 300 : 170, width * 0.36), big ? 110 : 62];
  list.forEach((j, i) => {
    const [y, here] = [i * high, j === it.col];
    const style = {
      size: font,
      align: "right",
      weight: here ? 650 : 400,
      colour: here ? "key" : it.allowed[j] ? "ink" : "ink3",
    };
    if (here) {
      pen.rect({ x0: 0, x1: width, y0: y + 1, y1: y + high - 1 }, { fill: "key-soft", radius: 4 });
    }
    pen.text(left - 8, y + high / 2, key(run, j), { ...style, room: left - 12 });
    bar(j, { x0: left, x1: width - right, y0: y + 4, y1: y + high - 4 });
    pen.text(width - 4, y + high / 2, value(j), style);
    pen.hit({
      x0: 0,
      x1: width,
      y0: y,
      y1: y + high,
      look: { col: j },
      card: () => [key(run, j), says(j)],
    });
  });
  const rest = it.allowed.filter((_, j) => !list.includes(j));
  if (!rest.length) return list.length * high + 4;
  const shut = rest.filter((one) => !one).length;
  const said = t(shut ? TEXT.othersShut : TEXT.others, { n: rest.length, m: shut });
  pen.text(left, (list.length + 0.5) * high, said, { size: small, colour: "ink3" });
  return (list.length + 1) * high + 4;
}

function mask(run, it, pen, at) {
  const limit = widest(it.scores.filter(Number.isFinite));
  return rows(run, it, pen, at, {
    value: (j) => number(it.scores[j]),
    says: (j) => `${t(TEXT.score)} ${number(it.scores[j], 4)}`,
    bar(j, box) {
      if (!it.allowed[j]) return pen.rect(box, { fill: "sunk", line: "line", radius: 2 });
      const [middle, half, score] = [(box.x0 + box.x1) / 2, (box.x1 - box.x0) / 2, it.scores[j]];
      const x0 = Math.min(middle, middle + (score / limit) * half);
      pen.line(middle, box.y0 - 4, middle, box.y1 + 4, { line: "control" });
      return pen.rect({ ...box, x0, x1: x0 + Math.max(1, (Math.abs(score) / limit) * half) }, {
        fill: tint(0.75 * Math.sign(score), 1),
      });
    },
  });
}

const softmax = (run, it, pen, at) =>
  rows(run, it, pen, at, {
    value: (j) => number(it.weights[j], pen.big ? 3 : 4),
    says: (j) =>
      `exp(${number(it.scores[j])} − ${number(it.most)}) = ${number(it.raised[j], 4)}; ${
        number(it.weights[j], 4)
      }`,
    bar(j, box) {
      pen.rect(box, { fill: "sunk", radius: 2 });
      const x1 = box.x0 + Math.max(1, (box.x1 - box.x0) * it.weights[j]);
      if (it.allowed[j]) {
        pen.rect({ ...box, x1 }, { fill: "key", radius: 2, alpha: j === it.col ? 1 : 0.55 });
      }
    },
  });

function average(run, it, pen, { font, small, line }) {
  const { width, big, narrow } = pen;
  const list = chosen(it, 8).filter((j) => j === it.col || it.weights[j] >= 0.005);
  const limit = widest(it.output, ...list.map(it.taken));
  const tall = big ? 40 : 22;
  const [left, rise] = [narrow ? 0 : Math.min(big ? 330 : 220, width * 0.3), narrow ? line : 0];
  pen.text(0, font * 0.6, t(TEXT.weighted), { size: font });
  if (width > 420) {
    pen.text(width, font * 0.6, limits(limit), { size: small, colour: "ink3", align: "right" });
  }
  let y = line + 2;
  const row = (words, values, colour, label) => {
    const style = { size: font, colour, weight: colour === "ink" ? 400 : 650 };
    if (narrow) pen.text(0, y + line / 2, words, { ...style, room: width });
    else pen.text(left - 8, y + tall / 2, words, { ...style, align: "right", room: left - 12 });
    strip(pen, { x0: left, y0: y + rise, y1: y + rise + tall }, values, { limit, label, small });
    y += tall + rise + 4;
  };
  const one = (j) =>
    row(
      `${number(it.weights[j])} × ${key(run, j)}`,
      it.taken(j),
      j === it.col ? "key" : "ink",
      `${number(it.weights[j], 4)} × v`,
    );
  const rest = Array.from(it.allowed.keys()).filter((j) => !list.includes(j) && it.allowed[j]);
  (rest.length === 1 ? [...list, ...rest] : list).forEach(one);
  if (rest.length > 1) {
    row(
      `${number(sum(rest.map((j) => it.weights[j])))} × ${t(TEXT.others, { n: rest.length })}`,
      it.together(rest),
      "ink",
      "Σ",
    );
  }
  pen.line(0, y + 2, width, y + 2, { line: "control" });
  y += 8;
  row(t(TEXT.output), it.output, "out", t(TEXT.out));
  indices(pen, it.d, left, width, y + small / 2, small);
  return y + small + 6;
}

const BOARDS = { multiply, sum: added, mask, softmax, average };

// ── in words and numbers ──
export const question = (_run, { wstep }) => QUESTION[STEPS[wstep - 1]];

/** The shapes of a step, in the colours of their roles. */
export function below(run, { wstep }) {
  const [[n, d], by] = [run.key.shape, run.scaled ? ` ÷ √${run.key.shape[1]}` : ""];
  const [q, k, v] = [["query", "q"], ["key", "k"], ["out", "V"]].map(([role, text]) =>
    el("b", { class: `tfe-${role}`, text })
  );
  const shapes = {
    multiply: [q, ` (${d},) × `, k, ` (${d},) → (${d},)`],
    sum: [q, ` (${d},) · `, k, ` (${d},) → ()${by && `;${by}`}`],
    mask: [
      q,
      ` (${d},) · `,
      el("b", { class: "tfe-key", text: "Kᵀ" }),
      ` (${d}, ${n})${by} → (${n},)`,
    ],
    softmax: [`softmax (${n},) → (${n},)`],
    average: [`(${n},) · `, v, ` (${n}, ${d}) → (${d},)`],
  };
  const follows = t(TEXT.follows, {
    kind: t(KINDS[run.kind] ?? run.kind),
    layer: run.layer + 1,
    head: run.head + 1,
  });
  return [el("p", { class: "tfe-units" }, el("code", {}, shapes[STEPS[wstep - 1]])), follows];
}

export function sentence(run, look) {
  const it = worked(run, look);
  const { products, scores, weights, col, d } = it;
  const step = STEPS[look.wstep - 1];
  const open = scores.filter(Number.isFinite);
  const [positive, negative] = [products.filter((x) => x > 0), products.filter((x) => x < 0)];
  const [most, w, hides] = [Math.max(...products), number(weights[col], 4), run.hidden.length > 0];
  const values = {
    multiply: {
      n: positive.length,
      m: negative.length,
      plus: number(sum(positive)),
      minus: number(-sum(negative)),
      most: number(most),
      at: products.indexOf(most),
    },
    sum: {
      dot: number(it.dots[col]),
      root: number(it.root),
      score: number(it.dots[col] / it.root),
    },
    mask: {
      n: open.length || it.n,
      m: it.n - open.length,
      low: number(Math.min(...open)),
      high: number(it.most),
    },
    softmax: {
      score: number(scores[col], 3),
      highest: number(it.most, 3),
      raised: number(it.raised[col], 4),
      w,
      sum: number(sum(it.raised), 4),
      rank: ordinal(1 + weights.filter((one) => one > weights[col]).length),
      n: open.length,
      all: number(sum(weights)),
    },
    average: {
      w,
      out: { text: t(TEXT.out), role: "out" },
      low: number(Math.min(...it.output)),
      high: number(Math.max(...it.output)),
    },
  }[step];
  const other = !open.length && ["mask", "softmax", "average"].includes(step) ? "All" : {
    sum: run.scaled ? "" : "Undivided",
    mask: run.causal ? "Causal" : hides ? "Hidden" : "",
    softmax: it.allowed[col] ? "" : run.hidden.includes(col) ? "Hidden" : "Shut",
    average: run.silenced ? "Silenced" : "",
  }[step] ?? "";
  const names = {
    q: NAME(run.queries[it.row], it.row, "query"),
    k: NAME(run.keys[col], numbered(run, col), "key"),
  };
  return parts(SAY[step + other], { ...names, d, ...values });
}

export function table(run, look) {
  const it = worked(run, look);
  const four = (value) => (Number.isFinite(value) ? Number(value.toFixed(4)) : "−∞");
  const rows_ = run.keys.map((
    _,
    j,
  ) => [key(run, j), ...[it.dots, it.scores, it.raised, it.weights].map((list) => four(list[j]))]);
  return {
    caption: t(TEXT.caption, { q: query(run, it.row) }),
    columns: t(TEXT.columns).split("|"),
    rows: rows_,
    here: it.col,
  };
}

export function lines(run, look) {
  const it = worked(run, look);
  return {
    columns: ["query_index", "query", "key_index", "key", "dot", "score", "raised", "weight"],
    rows: run.keys.map((
      name,
      j,
    ) => [
      it.row,
      run.queries[it.row],
      numbered(run, j),
      name,
      it.dots[j],
      it.allowed[j] ? it.scores[j] : "masked",
      it.raised[j],
      it.weights[j],
    ]),
  };
}

export function arrays(run, look) {
  const it = worked(run, look);
  const { key, values } = run;
  return {
    query: filed(it.q, "d_head"),
    key: filed(it.k, "d_head"),
    products: filed(it.products, "d_head", "query × key"),
    dots: filed(it.dots, "key", "query · key"),
    scores: filed(it.scores, "key", run.scaled ? "query · key / √d_head" : "query · key"),
    weights: filed(it.weights, "key", "weight"),
    output: filed(it.output, "d_head", "weight × value"),
    keys: filed(key.data, ["key", "d_head"], undefined, key.shape),
    values: filed(values.data, ["key", "d_head"], undefined, values.shape),
    pieces: run.keys,
  };
}

export const looks = {
  kind: "choice",
  head: "head",
  row: "position",
  col: "position",
  wstep: "step",
};
export const hears = "looked";

/** Without a lock the last cell stays. @type {(look: any) => any} */
export const heard = ({ row, col, ...of }) => ({
  kind: of.kind,
  head: head(of),
  ...(row === null ? {} : { row: String(row) }),
  ...(col === null ? {} : { col: String(col) }),
});

export function wish(get) {
  const [layer, number_] = (get("head") ?? "").split(".").map((one) => Number(one) - 1);
  return get("kind") && number_ >= 0 ? { kind: get("kind"), layer, head: number_ } : undefined;
}

export const resets = ["wstep"];
export const bounds = (run) => ({
  kind: { names: Object.keys(KINDS), pick: run.kind },
  head: { layers: run.layers, heads: run.heads, pick: head(run) },
  row: { count: run.queries.length, pick: run.row ?? 0 },
  col: { count: run.keys.length, pick: run.col ?? 0 },
  wstep: { steps: STEPS.length, pick: 1 },
});

/** Another head or key is locked in the map too, as a whole cell. */
export const completes = (
  run,
  { row, col, ...look },
  patch,
) => ("wstep" in patch
  ? patch
  : { kind: run.kind, head: look.head, stat: null, row, col, ...patch });
export const move = (run, _look, name) => (run.away && name === "head" ? {} : null);
export const named = (run, look) => [run.kind, head(run), `weight-${look.row}-${look.col}`];
export const keeps = (_run, { row, col }) => ({ row, col });
export const choices = () => [{
  key: "wstep",
  label: t(TEXT.steps),
  options: STEPS.map((step, i) => ({ value: i + 1, label: t(TEXT[step]) })),
}];
export { question as units };

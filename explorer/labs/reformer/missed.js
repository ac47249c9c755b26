// What hashing misses of full attention: two maps of the same cells, and what every query misses
// beside them. Rounds are answered here; the map of another number of buckets is asked for. The
// value is made by explorer/labs/reformer/figures/missed.py.

import { filed } from "../../frontend/lib/arrays.js";
import { plain, t } from "../../frontend/lib/lang.js";
import { around, ramp } from "../../frontend/lib/pen.js";
import { shown } from "../../frontend/lib/signs.js";
import { pooled, triangle } from "./triangle.js";

const TEXT = {
  follows: {
    en: "Real numbers: layer {layer}, head {head} of {model}, {n} positions, chunks of {chunk} " +
      "places, rotations from seed {seed}. A query may look at earlier keys; hashing lets it " +
      "meet those in its own chunk and the one before.",
    zh:
      "真实的数：{model} 第 {layer} 层第 {head} 头，{n} 个位置，每块 {chunk} 位，旋转由种子 {seed} " +
      "产生。查询可以看更早的键；哈希只让它遇到自己块和前一块中的键。",
  },
  unhashed: {
    en:
      " This model was trained with full attention, without hashing; here its queries are hashed " +
      "anyway.",
    zh: "此模型用完整注意力训练，没有哈希；这里仍将其查询做哈希。",
  },
  pooled: {
    en: " Maps pooled {n}×: a cell shows its largest weight.",
    zh: "图已按 {n}× 合并：每格显示其中最大的权重。",
  },
  title: { en: "{n} % of the weight is missed", zh: "{n} % 的权重被漏掉" },
  weights: { en: "weight, 0 to 1 (colour: w^0.8)", zh: "权重，0 至 1（颜色：w^0.8）" },
  gone: { en: "missed, weight {n} or more", zh: "漏掉，权重不低于 {n}" },
  sunk: { en: "never met: not looked at", zh: "从未相遇：未被看到" },
  buckets: { en: "buckets", zh: "桶数" },
  count: { en: "rounds: {n} of {of}", zh: "轮数：{n} / {of}" },
  seek: { en: "rounds", zh: "轮数" },
  start: { en: "One round alone", zh: "只用一轮" },
  before: { en: "One round less", zh: "少一轮" },
  after: { en: "One round more", zh: "多一轮" },
  says: {
    en: "{r} with {b} buckets {see} {pairs} % of the pairs and {keep} {kept} % of the weight; " +
      "{gone} % is missed.",
    zh: "{r}、{b} 个桶看到 {pairs} % 的查询–键对，保留 {kept} % 的权重；漏掉 {gone} %。",
  },
  one: { en: "1 round", zh: "1 轮" },
  many: { en: "{n} rounds", zh: "{n} 轮" },
  never: {
    en: " misses {lost} %: {key} has weight {w}, and they meet in none of {of} rounds.",
    zh: "漏掉 {lost} %：{key}的权重为 {w}，两者在 {of} 轮中都不相遇。",
  },
  later: {
    en: " misses {lost} %: {key} has weight {w}, and they first meet in round {m}.",
    zh: "漏掉 {lost} %：{key}的权重为 {w}，两者到第 {m} 轮才首次相遇。",
  },
  sees: {
    en: " misses {lost} %; it meets {key}, weight {w}, in round {m}, and gives it {v} here.",
    zh: "漏掉 {lost} %；它在第 {m} 轮遇到{key}（权重 {w}），这里给予 {v}。",
  },
  first: { en: " has no earlier key, and nothing to miss.", zh: "之前没有键，没有可漏掉的。" },
  waits: { en: " The maps for {b} buckets are on their way.", zh: "{b} 个桶的图正在计算。" },
  query: { en: " Query ", zh: "查询 " },
  key: { en: "key ", zh: "键 " },
  caption: {
    en: "Missed weight and pairs that met, by rounds and number of buckets",
    zh: "漏掉的权重与相遇的对，按轮数和桶数",
  },
  columns: {
    en: "rounds|buckets|missed, % of the weight|met, % of the pairs",
    zh: "轮数|桶数|漏掉（权重的 %）|相遇（对的 %）",
  },
  full: { en: "full attention", zh: "完整注意力" },
  seen: { en: "what hashing sees", zh: "哈希看到的部分" },
  setting: { en: "rounds {r} · buckets {b}", zh: "{r} 轮 · {b} 个桶" },
  everything: { en: "every earlier key", zh: "此前的所有键" },
  lost: { en: "missed", zh: "漏掉" },
  each: { en: "by query", zh: "按查询" },
  mean: { en: "mean of {n}", zh: "{n} 个平均" },
};
const LEAST = 0.05; // a missed pair with so much weight is outlined
const MANY = 256; // cells along a side; above, they are pooled

const percent = (value) => (value > 0 && value < 0.05 ? "<0.1" : value.toFixed(1));
const digits = (w) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w.toPrecision(1));
const met = (first, rounds) => first > 0 && first <= rounds;

// ── what so many rounds see, worked out from the round in which each pair first meets ──
export function read(value) {
  const { log_full: log, first, table, pairs } = value;
  const length = value.tokens.length;
  const weights = new Float32Array(length * length).fill(Number.NaN); // NaN: a query may not look
  for (let q = 1; q < length; q += 1) {
    for (let k = 0; k < q; k += 1) weights[q * length + k] = Math.exp(log.data[q * length + k]);
  }
  weights[0] = 1; // the first query has only itself
  const whole = Uint8Array.from(first.data, (part) => Math.round(255 * part));
  return {
    ...value,
    length,
    weights,
    log: log.data,
    first: whole,
    table: table.data,
    pairs: pairs.data,
    rounds: table.shape[0],
    by: Math.ceil(length / MANY),
  };
}

/** What these rounds see of a run, worked out once: {map, lost, pairs}. */
function seen(run, rounds) {
  if (run.kept?.rounds === rounds) return run.kept;
  const { length, log, first, weights } = run;
  const map = new Float32Array(length * length).fill(Number.NaN); // another softmax, over the keys that are met
  const lost = new Float32Array(length); // of each query's weight
  const gone = []; // pairs that are missed, [query, key, weight]
  for (let q = 0; q < length; q += 1) {
    const row = q * length;
    let [most, sum] = [-Infinity, 0];
    for (let k = 0; k < q; k += 1) {
      if (met(first[row + k], rounds)) most = Math.max(most, log[row + k]);
      else {
        lost[q] += weights[row + k];
        if (weights[row + k] >= LEAST) gone.push([q, k, weights[row + k]]);
      }
    }
    if (most === -Infinity) map[row + q] = 1; // who meets nobody looks at itself
    else {
      for (let k = 0; k < q; k += 1) {
        if (met(first[row + k], rounds)) sum += map[row + k] = Math.exp(log[row + k] - most);
      }
      for (let k = 0; k < q; k += 1) map[row + k] /= sum;
    }
  }
  run.kept = { rounds, map, lost, gone: gone.sort((a, b) => b[2] - a[2]).slice(0, 200) };
  return run.kept;
}

/**
 * The heaviest missed pair of a square of cells, else the heaviest of all, as [query, key]; null
 * where it holds none.
 */
function heaviest({ length, weights, first }, rounds, [top, left], [tall, wide]) {
  let [best, grade] = [null, -1];
  for (let q = top; q < Math.min(length, top + tall); q += 1) {
    for (let k = left; k < Math.min(q, left + wide); k += 1) {
      const w = weights[q * length + k];
      const worth = w + (!met(first[q * length + k], rounds) && w >= 5e-4 ? 2 : 0);
      if (worth > grade) [best, grade] = [[q, k], worth];
    }
  }
  return best;
}
const telling = (run, q, rounds) => heaviest(run, rounds, [q, 0], [1, run.length]) ?? [q, 0];

const buckets = (run, look) => run.kinds.indexOf(Number(look.missedbuckets));
const here = (run, rounds, column) => (rounds - 1) * run.kinds.length + column;
const query = (run, look) => [look.pos].flat().at(-1) ?? run.pos;
const waits = (run, look) =>
  Number(look.missedbuckets) !== run.chosen ||
  look.head !== `${run.layer + 1}.${run.head + 1}`;

// ── the figure ──
function place(run, { width, big, tall, small: font }) {
  const line = Math.round(font * 1.45);
  const narrow = width < 560;
  const [left, gap, bars] = big ? [84, 40, 110] : [46, 22, narrow ? 52 : 70];
  const [above, below] = [2 * line + 6, 2 * line + 4];
  const room = width - left - bars - 10;
  const side = Math.floor(
    narrow ? room - gap : Math.min((room - 1.5 * gap) / 2, big ? tall - above - below : 480),
  );
  const full = { x: left, y: above };
  const other = narrow
    ? { x: left, y: above + side + below + above }
    : { x: left + side + gap, y: above };
  const strip = { x: other.x + side + gap / 2, y: other.y, width: bars };
  return {
    font,
    line,
    side,
    full,
    other,
    strip,
    narrow,
    cell: side / Math.ceil(run.length / run.by),
    height: other.y + side + below + font / 3,
  };
}

export function scene(run, look, pen) {
  const at = place(run, pen);
  const now = { ...look, ...look.over };
  pen.group(0, 0, () => maps(run, now, pen, at, [look.pos].flat()));
  if (waits(run, now)) Object.assign(pen.marks.at(-1), { alpha: 0.4 });
  // other views point at it
  for (let q = 0; q < run.length; q += 1) {
    pen.hit({ x0: -1, x1: -1, y0: -1, y1: -1, look: { pos: q }, still: true });
  }
  pen.size(pen.width, at.height);
}

function maps(run, look, pen, at, locked) {
  const { big } = pen;
  const { font, line, side, cell, strip } = at;
  const { by, length } = run;
  const rounds = look.missedrounds;
  const { map, lost, gone } = seen(run, rounds);
  const [q, k] = telling(run, query(run, look), rounds);
  const size = Math.ceil(length / by);
  const number = (n) => Math.floor(n / by);
  const spell = cell >= font * 0.95 && by === 1; // is there room for every token?
  const every = spell
    ? 1
    : ([1, 2, 5, 10, 20, 25, 50, 100, 200, 250].find((n) => (n / by) * cell >= 3.4 * font) ?? 500);
  const tag = (n) => `${shown(run.tokens[n])}·${n}`;
  const write = (x, y, text, style = {}) =>
    pen.text(x, y, text, { size: font, colour: "ink3", ...style });
  const name = (n) => [spell ? shown(run.tokens[n]) : String(n), { face: spell ? "mono" : "ui" }];
  for (const [which, { x, y }, data] of [["full", at.full, run.weights], ["seen", at.other, map]]) {
    write(x, y - line - 0.8 * font, t(TEXT[which]), { colour: "ink", weight: 650 });
    write(
      x,
      y - 0.8 * font,
      which === "full" ? t(TEXT.everything) : t(TEXT.setting, { r: rounds, b: look.missedbuckets }),
    );
    const box = { x0: x, x1: x + side, y0: y, y1: y + side };
    triangle(pen, box, {
      ...pooled(length, (row, key) => data[row * length + key], MANY),
      gamma: 0.8,
    });
    pen.path(`M${x},${y}V${y + side}H${x + side}Z`, { line: "control" });
    const square = (row, column, one) => {
      const [mx, my] = [x + (number(column) + 0.5) * cell, y + (number(row) + 0.5) * cell];
      return around({ x0: mx, x1: mx, y0: my, y1: my }, one / 2);
    };
    const spots = new Map(gone.map(([row, key]) => [`${number(row)},${number(key)}`, [row, key]]));
    for (const [row, key] of spots.values()) {
      pen.rect(square(row, key, Math.max(cell, big ? 6 : 4)), {
        line: "bad",
        width: big ? 2.5 : cell < 6 ? 1.2 : 1.8,
      });
    }
    for (const row of new Set([...locked.filter((one) => one !== null && one < length), q])) {
      const top = y + number(row) * cell;
      pen.rect(around({ x0: x, x1: x + (number(row) + 1) * cell, y0: top, y1: top + cell }, 1), {
        line: "query",
        width: row === q ? (big ? 3 : 2) : 1,
      });
    }
    const ring = square(q, k, Math.max(cell, font * 0.6) + (big ? 8 : 6));
    if (q > 0) {
      for (
        const style of [{ line: "panel", width: big ? 6 : 4 }, {
          line: "key",
          width: big ? 4 : 2.5,
        }]
      ) pen.rect(ring, { ...style, radius: 2 });
    }
    // Names along both sides: every one where there is room, else numbers now and then; those told
    // of always.
    if (which === "full" || at.narrow) {
      for (let n = 0; n < length; n += every) {
        if (Math.abs(number(n) - number(q)) * cell > font * (spell ? 0.5 : 1)) {
          write(x - 6, y + (number(n) + 0.5) * cell, name(n)[0], { ...name(n)[1], align: "right" });
        }
      }
      write(x - 6, Math.min(y + side, y + (number(q) + 0.5) * cell), tag(q), {
        align: "right",
        colour: "query",
        weight: 650,
        halo: "panel",
      });
    }
    const label = q > 0 ? tag(k) : "";
    const half = pen.measure(label, { size: font, weight: 650 }) / 2 + 2;
    const mid = Math.max(x + half, Math.min(x + side - half, x + (number(k) + 0.5) * cell));
    for (let n = 0; n < length; n += every) {
      const [px, own] = [x + (number(n) + 0.5) * cell, pen.measure(name(n)[0], { size: font }) / 2];
      if (Math.abs(px - mid) > half + own + 2 && px + own <= x + side + 2) {
        write(px, y + side + line * 0.7, name(n)[0], { ...name(n)[1], align: "center" });
      }
    }
    if (label) {
      write(mid, y + side + line * 0.7, label, { align: "center", colour: "key", weight: 650 });
    }
    pen.grid(box, size, size, (row, column) => {
      const pair = heaviest(run, rounds, [row * by, column * by], [by, by]);
      return {
        look: { pos: pair?.[0] ?? Math.min(row * by, length - 1) },
        ...(pair ? { card: () => [plain(pairOf(run, rounds, pair)).trim()] } : {}),
      };
    });
  }
  // What each query misses.
  write(strip.x, strip.y - line - 0.8 * font, t(TEXT.lost), { colour: "ink", weight: 650 });
  write(strip.x, strip.y - 0.8 * font, by > 1 ? t(TEXT.mean, { n: by }) : t(TEXT.each));
  pen.rect({ x0: strip.x, x1: strip.x + strip.width, y0: strip.y, y1: strip.y + side }, {
    fill: "sunk",
  });
  for (let n = 0; n < size; n += 1) {
    const some = lost.subarray(n * by, (n + 1) * by);
    const wide = (some.reduce((a, b) => a + b, 0) / some.length) * strip.width;
    const top = strip.y + n * cell;
    if (wide > 0.05) {
      pen.rect({
        x0: strip.x,
        x1: strip.x + wide,
        y0: top,
        y1: top + Math.max(cell - (cell > 3 ? 1 : 0), 0.4),
      }, { fill: "bad" });
    }
  }
  pen.line(strip.x, strip.y, strip.x, strip.y + side, { line: "control" });
  const top = strip.y + number(q) * cell;
  pen.rect({ x0: strip.x - 1, x1: strip.x + strip.width + 1, y0: top - 1, y1: top + cell + 1 }, {
    line: "query",
    width: big ? 3 : 2,
  });
  write(strip.x, strip.y + side + line * 0.7, "0");
  write(strip.x + strip.width, strip.y + side + line * 0.7, "100 %", { align: "right" });
  pen.grid(
    { x0: strip.x, x1: strip.x + strip.width, y0: strip.y, y1: strip.y + side },
    size,
    1,
    (row) => {
      const n = Math.min(length - 1, row * by);
      return { look: { pos: n }, card: () => [tag(n), `${percent(100 * lost[n])} %`] };
    },
  );
}

export const legend = () => [
  { text: t(TEXT.weights), mark: ramp("weights", 90, 24, 0.8) },
  { text: t(TEXT.gone, { n: LEAST }), mark: { line: "bad", width: 2 } },
  { text: t(TEXT.sunk), mark: { fill: "sunk", line: "control" } },
];

export const below = (
  run,
) => [
  t(TEXT.follows, {
    layer: run.layer + 1,
    head: run.head + 1,
    model: t(run.model),
    n: run.length.toLocaleString("en"),
    chunk: run.chunk,
    seed: run.seed,
  }) + (run.trained ? "" : t(TEXT.unhashed)) +
  (run.by > 1 ? t(TEXT.pooled, { n: run.by }) : ""),
];

// ── in words and numbers ──
/** What is told of a pair under so many rounds. */
function pairOf(run, rounds, [q, k]) {
  const i = q * run.length + k;
  const name = (n) => `“${shown(run.tokens[n])}” (${n})`;
  const { map, lost } = seen(run, rounds);
  const say = q === 0
    ? "first"
    : met(run.first[i], rounds)
    ? "sees"
    : run.first[i]
    ? "later"
    : "never";
  const filled = {
    lost: percent(100 * lost[q]),
    w: digits(q ? run.weights[i] : 1),
    m: run.first[i],
    of: run.rounds,
    v: digits(map[i] || 0),
    key: "\n",
  };
  const [before, after] = t(TEXT[say], filled).split("\n");
  return [
    { role: "query", text: t(TEXT.query) + name(q) },
    before,
    ...(after === undefined ? [] : [{ role: "key", text: t(TEXT.key) + name(k) }, after]),
  ];
}

export function sentence(run, look) {
  const [rounds, column] = [look.missedrounds, buckets(run, look)];
  const one = rounds === 1;
  const gone = percent(run.table[here(run, rounds, column)]);
  const kept = gone.startsWith("<") ? ">99.9" : (100 - Number(gone)).toFixed(1);
  const pairs = percent(run.pairs[here(run, rounds, column)]);
  const says = t(TEXT.says, {
    r: one ? t(TEXT.one) : t(TEXT.many, { n: rounds }),
    see: one ? "sees" : "see",
    keep: one ? "keeps" : "keep",
    b: look.missedbuckets,
    pairs,
    kept,
    gone,
  });
  if (Number(look.missedbuckets) !== run.chosen) {
    return [says, t(TEXT.waits, { b: look.missedbuckets })];
  }
  return [says, ...pairOf(run, rounds, telling(run, query(run, look), rounds))];
}

export function table(run, look) {
  const { kinds } = run;
  const round = (value) => Number(value.toFixed(5));
  const rows = Array.from(
    run.table,
    (
      gone,
      i,
    ) => [
      Math.floor(i / kinds.length) + 1,
      kinds[i % kinds.length],
      round(gone),
      round(run.pairs[i]),
    ],
  );
  return {
    caption: t(TEXT.caption),
    columns: t(TEXT.columns).split("|"),
    rows,
    here: here(run, look.missedrounds, buckets(run, look)),
  };
}

export function arrays(run, look) {
  const { map, lost } = seen(run, look.missedrounds);
  const pairs = (data, unit) => filed(data, ["query", "key"], unit, [run.length, run.length]);
  const shares = (data, unit) =>
    filed(data, ["rounds", "kinds"], unit, [run.rounds, run.kinds.length]);
  const none = (one) => Float32Array.from(one, (w) => (w === w ? w : 0));
  return {
    full: pairs(none(run.weights), "weight"),
    hashed: pairs(none(map), "weight"),
    first_round: pairs(run.first, "round, 0 for none"),
    lost: filed(lost, "query", "share of the weight"),
    rounds_buckets: { shape: [2], data: [look.missedrounds, run.chosen] },
    missed_percent: shares(run.table, "% of the weight"),
    pairs_percent: shares(run.pairs, "% of the pairs"),
    kinds: { shape: [run.kinds.length], data: run.kinds, unit: "buckets" },
    tokens: run.tokens,
  };
}

export const looks = {
  missedrounds: "step",
  missedbuckets: "choice",
  head: "head",
  pos: "positions",
};
export const hovers = true;
export const aside = "pos";
export const resets = ["pos", "missedrounds", "missedbuckets"];
export const follows = ["model"];
export const wish = (get) => ({
  model: get("model"),
  head: /^\d+\.\d+$/.test(get("head") ?? "") ? get("head") : null,
  buckets: /^\d{1,3}$/.test(get("missedbuckets") ?? "") ? Number(get("missedbuckets")) : null,
});
export const bounds = (
  { rounds, ran, trained, kinds, chosen, layers, heads, layer, head, length, pos },
) => ({
  missedrounds: { steps: rounds, pick: Math.min(rounds, ran[0] || trained || 4) },
  missedbuckets: {
    names: kinds.map(String),
    pick: String(kinds.includes(ran[1]) ? ran[1] : chosen),
  },
  head: { layers, heads, pick: `${layer + 1}.${head + 1}` },
  pos: { count: length, pick: pos },
});
export const title = (run, look) =>
  t(TEXT.title, { n: percent(run.table[here(run, look.missedrounds, buckets(run, look))]) });
export const choices = (
  run,
) => [{
  key: "missedbuckets",
  label: t(TEXT.buckets),
  shown: true,
  options: run.kinds.map((n) => ({ value: String(n), label: String(n) })),
}];
export const clock = (run) => ({
  key: "missedrounds",
  pace: 600,
  says: (n) => t(TEXT.count, { n, of: run.rounds }),
  texts: TEXT,
});

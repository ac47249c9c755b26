// What the attention widget computes from the arrays it was sent: maps over heads, what a token
// looks like, and the sentence.

import { upTo } from "./arrays.js";
import { parts, t } from "./lang.js";
import { isWord, number, ordinal, shown, signed, weight } from "./signs.js";

export { number, shown };

/**
 * @typedef {{rows: number, columns: number, data: Float32Array}} Grid one (query × key) map; NaN
 * where a query may not attend
 */

/**
 * One kind of attention with everything that is derived from it, computed when first asked for.
 * @param {any} kind as figures/attention.py's value() writes it
 * @param {{shape: number[], slice: (...at: number[]) => Float32Array}} array its weights, unpacked
 * @param {(key: string) => ReturnType<typeof attention> | null} other another kind of the same
 * value
 */
export function attention(kind, array, other) {
  const [layers, heads, rows, columns] = array.shape;
  const size = rows * columns;
  const allowed = (row, column) => kind.mask !== "causal" || column <= row;
  const [byQuery, byKey] = kind.pooled ?? [1, 1];
  const all = { queries: kind.whole?.queries ?? kind.queries, keys: kind.whole?.keys ?? kind.keys };
  /** The first and the last of the single rows or columns behind one of the map's. */
  const span = (i, by, count) => [i * by, Math.min(count, (i + 1) * by) - 1];
  const joined = (
    [a, b],
    from = 0,
  ) => (a === b ? `${signed(a + from)}` : `${signed(a + from)}–${signed(b + from)}`);
  const kept = new Map();

  const once = (name, make) => {
    if (!kept.has(name)) kept.set(name, make());
    return kept.get(name);
  };
  const masked = (data, layer) => {
    if (!kind.mask && !kind.taken) return data;
    const out = data.slice(); // Float32Array.from goes through an iterator, twenty times as slow
    for (let i = 0; i < rows; i += 1) {
      for (let j = 0; j < columns; j += 1) {
        if (
          !allowed(i, j) ||
          gone(i, layer)
        ) out[i * columns + j] = Number.NaN;
      }
    }
    return out;
  };
  /** Has a query stopped before a layer (or step), counted from 1? */
  const gone = (row, layer) => Boolean(kind.taken) && layer > kind.taken[row];
  const inAll = () => {
    const out = overHeads(0, layers, (sum, w) => sum + w / (layers * heads));
    // A query that has stopped asks no more: its mean is over the steps that it takes.
    if (kind.taken) {
      for (let i = 0; i < size; i += 1) {
        out[i] *= layers / Math.min(layers, kind.taken[Math.floor(i / columns)]);
      }
    }
    return out;
  };

  /** The heads of some layers, one map joined to the ones before it. */
  function overHeads(first, end, join) {
    const out = new Float32Array(size);
    for (let at = first * heads; at < end * heads; at += 1) {
      const map = array.slice(Math.floor(at / heads), at % heads);
      for (let i = 0; i < size; i += 1) out[i] = join(out[i], map[i]);
    }
    return out;
  }

  /**
   * Abnar and Zuidema (2020): half attention, half residual path, layer upon layer; for
   * cross-attention the mean map on top of the other side's.
   */
  function rollout() {
    if (!kind.own) {
      const mean = inAll();
      const below = kind.through ? other(kind.through) : null;
      if (!below || below.rows !== columns) return mean;
      return multiply(mean, below.raw("rollout"), rows, columns, columns);
    }
    let path = new Float32Array(size);
    for (let i = 0; i < rows; i += 1) path[i * columns + i] = 1;
    for (let l = 0; l < layers; l += 1) {
      const mixed = overHeads(l, l + 1, (sum, w) => sum + w / heads);
      for (let i = 0; i < rows; i += 1) {
        let sum = 0;
        for (let j = 0; j < columns; j += 1) {
          mixed[i * columns + j] = 0.5 * mixed[i * columns + j] + (i === j ? 0.5 : 0);
          sum += mixed[i * columns + j];
        }
        for (let j = 0; j < columns; j += 1) mixed[i * columns + j] /= sum || 1;
      }
      path = multiply(mixed, path, rows, columns, columns);
    }
    return path;
  }

  const me = {
    kind,
    layers,
    heads,
    rows,
    columns,
    allowed,
    array,
    /**
     * Without the mask. @param {string} name "3.5" (layer and head from 1), "mean", "max" or
     * "rollout"
     */
    raw: (name) =>
      once(`raw ${name}`, () => {
        if (name === "mean") return inAll();
        if (name === "max") return overHeads(0, layers, Math.max);
        if (name === "rollout") return rollout();
        const [layer, head] = name.split(".").map((n) => Number(n) - 1);
        return array.slice(layer, head);
      }),
    /** @returns {Grid} */
    map: (name) =>
      once(
        name,
        () => ({ rows, columns, data: masked(me.raw(name), Number(name.split(".")[0]) || 0) }),
      ),
    /** The row and column of a telling cell of one of the maps. */
    telling: (name) => once(`telling ${name}`, () => telling(me, me.map(name))),
    gone,
    has: (name) => {
      if (["mean", "max", "rollout"].includes(name)) return true;
      const found = /^(\d+)\.(\d+)$/.exec(name ?? "");
      return Boolean(found) && found[1] >= 1 && found[1] <= layers && found[2] >= 1 &&
        found[2] <= heads;
    },
    query: (i) => kind.queries[i] ?? "",
    key: (j) => kind.keys[j] ?? "",
    all,
    queriesOf: (i) => span(i, byQuery, all.queries.length),
    keysOf: (j) => span(j, byKey, all.keys.length),
    /** Does a cell stand for several pairs? */
    blocks: byQuery > 1 || byKey > 1,
    /**
     * Where a row or a column stands in the text: "3", or "960–964" of a block. The keys may begin
     * before the text, at −1.
     */
    queryAt: (i) => joined(span(i, byQuery, all.queries.length)),
    keyAt: (j) => joined(span(j, byKey, all.keys.length), kind.first_key ?? 0),
    /** The same of a single key. */
    keyNumber: (k) => k + (kind.first_key ?? 0),
    /** "pooled 5×", "pooled 4× by 1×", or "" where each cell is one pair. */
    pooling:
      () => (byQuery > 1 || byKey > 1
        ? t(POOLED, { n: byQuery === byKey ? `${byQuery}×` : `${byQuery}× ${t(BY)} ${byKey}×` })
        : ""),
    /** A query or key as it is drawn. */
    shown: (text) => (kind.spaced ? text.split(" ").map(shown).join(" ") : shown(text)),
  };
  return me;
}

function multiply(a, b, rows, inner, columns) {
  const out = new Float32Array(rows * columns);
  for (let i = 0; i < rows; i += 1) {
    for (let k = 0; k < inner; k += 1) {
      const factor = a[i * inner + k];
      if (factor) {
        for (let j = 0; j < columns; j += 1) out[i * columns + j] += factor * b[k * columns + j];
      }
    }
  }
  return out;
}

/** The key that a query looks at most. */
export function strongest(map, row) {
  let best = 0;
  for (let j = 1; j < map.columns; j += 1) {
    if (!(map.data[row * map.columns + best] >= map.data[row * map.columns + j])) {
      best = Number.isNaN(map.data[row * map.columns + j]) ? best : j;
    }
  }
  return best;
}

/** Is every weight of a row 0? So it is where each key that the query might attend to is hidden. */
export const looksAtNothing = ({ data, columns }, row) =>
  data.subarray(row * columns, (row + 1) * columns).every((weight) => weight === 0);

/** The query that looks most at a key. */
export function keenest(map, column) {
  let best = -1;
  for (let i = 0; i < map.rows; i += 1) {
    const weight = map.data[i * map.columns + column];
    if (!Number.isNaN(weight) && (best < 0 || weight > map.data[best * map.columns + column])) {
      best = i;
    }
  }
  return Math.max(best, 0);
}

/**
 * A telling cell of one map: a confident look at a word, far from the straight line, that not
 * everybody shares (as figures/attention.py's pick).
 */
function telling(seen, { rows, columns, data }) {
  let best = -Infinity;
  let place = 0;
  const words = { q: seen.kind.queries.map(isWord), k: seen.kind.keys.map(isWord) };
  const any = words.q.includes(true) && words.k.includes(true);
  for (let j = 0; j < columns; j += 1) {
    let sum = 0;
    let count = 0;
    for (let at = j; at < data.length; at += columns) {
      if (Number.isNaN(data[at])) continue;
      sum += data[at];
      count += 1;
    }
    for (let i = 0; i < rows; i += 1) {
      const over = data[i * columns + j] - sum / count;
      if (best >= 0 && !(over > best)) continue; // it is worth no more than that
      const line = seen.kind.own ? i : (i * columns) / rows;
      const far = Math.min(1, Math.abs(j - line) / Math.max(1, columns / 3));
      const score = over * (0.25 + 0.75 * far) - (any && !(words.q[i] && words.k[j]) ? 1 : 0);
      if (score > best) {
        best = score;
        place = i * columns + j;
      }
    }
  }
  return [Math.floor(place / columns), place % columns];
}

/**
 * Columns in groups of `by`: each the sum of its keys (the largest, for the map of maxima), so that
 * rows still sum to 1.
 */
export function pooled(map, by, largest) {
  if (by === 1) return map;
  const columns = Math.ceil(map.columns / by);
  const data = new Float32Array(map.rows * columns);
  for (let i = 0; i < map.rows; i += 1) {
    for (let j = 0; j < columns; j += 1) {
      let sum = Number.NaN;
      for (let k = j * by; k < Math.min(map.columns, (j + 1) * by); k += 1) {
        const weight = map.data[i * map.columns + k];
        if (!Number.isNaN(weight)) {
          sum = Number.isNaN(sum) ? weight : largest ? Math.max(sum, weight) : sum + weight;
        }
      }
      data[i * columns + j] = Math.min(1, sum);
    }
  }
  return { rows: map.rows, columns, data };
}

const POOLED = { en: "pooled {n}", zh: "合并 {n}" };
const BY = { en: "by", zh: "与" };

// What is called otherwise where one block is used step after step.
const STEPS = {
  head: { en: "At step {layer}, head {head}, ", zh: "第 {layer} 步第 {head} 头：" },
  mean: {
    en: "On average over {heads} heads and the steps it takes, ",
    zh: "{heads} 个头与所走各步的平均：",
  },
  max: {
    en: "Taking the largest of {heads} heads and all steps, ",
    zh: "取 {heads} 个头与各步中的最大值：",
  },
  rollout: { en: "Through all {n} steps, ", zh: "穿过全部 {n} 步：" },
};

const SAY = {
  only: { en: "Here ", zh: "这里，" },
  head: { en: "In layer {layer}, head {head}, ", zh: "第 {layer} 层第 {head} 头：" },
  mean: { en: "On average over all {n} heads, ", zh: "{n} 个头平均：" },
  max: { en: "Taking the largest of all {n} heads, ", zh: "取 {n} 个头中的最大值：" },
  rollout: { en: "Through all {n} layers, ", zh: "穿过全部 {n} 层：" },
  to: { en: "query {q} gives key {k} {w}", zh: "查询 {q} 给键 {k} 的权重是 {w}" },
  most: {
    en: ", {rank} of {n}; it gives most, {w}, to {k}",
    zh: "，在 {n} 个中排第 {rank}；最多的 {w} 给了 {k}",
  },
  sum: { en: "; the row sums to {sum}.", zh: "；该行之和为 {sum}。" },
  sumOfLargest: {
    en: "; a row of such maxima need not sum to 1.",
    zh: "；最大值组成的一行之和不必为 1。",
  },
  not: {
    en: "query {q} may not look at key {k}, which comes later: its weight is not 0, it does not " +
      "exist.",
    zh: "查询 {q} 不能看键 {k}，它在后面：这里不是权重 0，而是没有权重。",
  },
  stopped: {
    en: "query {q} no longer asks: it stopped after step {n}. The others still look at it.",
    zh: "查询 {q} 在第 {n} 步后已停止，不再提问；其他位置仍可看向它。",
  },
  nothing: {
    en: "query {q} has nothing left to look at: its row sums to 0.",
    zh: "查询 {q} 没有可看的键：该行之和为 0。",
  },
  firstNothing: { en: "query {q} has nothing left to look at", zh: "查询 {q} 没有可看的键" },
  alsoNothing: { en: "; query {q} has nothing left to look at", zh: "；查询 {q} 没有可看的键" },
  allNothing: {
    en: "no query has anything left to look at: every row sums to 0.",
    zh: "没有一个查询还有可看的键：各行之和都为 0。",
  },
  also: { en: "; query {q} gives most, {w}, to {k}", zh: "；查询 {q} 把最多的 {w} 给 {k}" },
  first: { en: "query {q} gives most, {w}, to {k}", zh: "查询 {q} 把最多的 {w} 给 {k}" },
  stop: { en: ".", zh: "。" },
  by: { en: "key {k} gets {w} from query {q}", zh: "键 {k} 从查询 {q} 得到 {w}" },
  byMost: {
    en: ", {rank} of {n}; it gets most, {w}, from {q}",
    zh: "，在 {n} 个中排第 {rank}；最多的 {w} 来自 {q}",
  },
  bySum: { en: "; all {n} queries together give it {sum}.", zh: "；全部 {n} 个查询共给它 {sum}。" },
  none: {
    en: "the largest of {n} weights is {w}, from query {q} to key {k}. Click a cell to lock it.",
    zh: "{n} 个权重中最大的是 {w}，由查询 {q} 给键 {k}。点击一格即可锁定。",
  },
  within: {
    en: "of the {size} weights of queries {i} on keys {j} the largest is this: ",
    zh: "查询 {i} 对键 {j} 的 {size} 个权重中最大的一个：",
  },
  block: {
    en: "the block of {size} around query {q} and key {k} (queries {i}, keys {j}) holds {w}: the " +
      "mean over its queries of the sum over its keys.",
    zh:
      "查询 {q} 与键 {k} 附近的 {size} 块（查询 {i}，键 {j}）为 {w}：对其中各键求和，再对各查询取平均。",
  },
  blockNot: {
    en: "queries {i} may not look at keys {j}, which come later: no weight is there, not even 0.",
    zh: "查询 {i} 不能看键 {j}，它们在后面：这里没有权重，连 0 也没有。",
  },
  blockFirst: {
    en: "queries {i} give most, {w} on average, to keys {j} together",
    zh: "查询 {i} 平均把最多的 {w} 给键 {j}（合计）",
  },
  blockAlso: {
    en: "; queries {i} give most, {w} on average, to keys {j} together",
    zh: "；查询 {i} 平均把最多的 {w} 给键 {j}（合计）",
  },
  blockNone: {
    en:
      "of {n} blocks of {size} the largest holds {w}: the mean over queries {i} of the sum over " +
      "keys {j}. Click a block for its exact rows.",
    zh:
      "{n} 个 {size} 块中最大的是 {w}：对键 {j} 求和，再对查询 {i} 取平均。点击一块查看精确的行。",
  },
  blockLeast: {
    en: " {m} of the {n} blocks in this row reach {thr}.",
    zh: " 这一行的 {n} 块中有 {m} 块达到 {thr}。",
  },
  least: {
    en: " {m} of its {n} weights reach {thr}; together they hold {part}.",
    zh: " 其中 {m} 个（共 {n} 个）达到 {thr}，合计 {part}。",
  },
};

const named = (seen, text, index, role) => ({ text: `“${seen.shown(text)}” (${index})`, role });

/**
 * The sentence under the map: of single pairs computed from the numbers that are drawn, of blocks
 * from exact rows, or else about blocks.
 * @param {ReturnType<typeof attention>} seen
 * @param {{name: string, rows: number[], columns: number[], by: boolean, threshold: number}} look
 * @param {Exact | null} [exact] the rows of the locked block, where they are here
 * @returns {{text: string, role?: string}[]}
 */
export function sentence(seen, { name, rows, columns, by, threshold }, exact = null) {
  const map = seen.map(name);
  const at = (i, j) => map.data[i * map.columns + j];
  const q = (i) => named(seen, seen.query(i), seen.queryAt(i), "query");
  const k = (j) => named(seen, seen.key(j), seen.keyAt(j), "key");
  const [layer, head] = name.split(".");
  const say = { ...SAY, ...(seen.kind.axis === "step" ? STEPS : {}) };
  const every = seen.layers * seen.heads;
  const whose = every === 1 ? SAY.only : seen.has(name) && head ? say.head : say[name];
  const out = parts(whose, {
    layer,
    head,
    n: name === "rollout" ? seen.layers : every,
    heads: seen.heads,
  });
  const silent = (
    i,
    j,
  ) => (seen.gone(i, Number(layer) || 0)
    ? parts(SAY.stopped, { q: q(i), n: seen.kind.taken[i] })
    : parts(SAY.not, { q: q(i), k: k(j) }));
  const row = (i) =>
    Array.from(map.data.subarray(i * map.columns, (i + 1) * map.columns)).filter((w) =>
      !Number.isNaN(w)
    );
  const column = (j) => upTo(map.rows, (i) => at(i, j)).filter((w) => !Number.isNaN(w));
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const rank = (list, weight) => 1 + list.filter((w) => w > weight).length;
  const behind = (weight, most) => number(weight) !== number(most); // less than the most, as it is printed
  const least = (list) => {
    if (!threshold) return [];
    const left = list.filter((w) => w >= threshold);
    return parts(SAY.least, {
      m: left.length,
      n: list.length,
      thr: number(threshold),
      part: number(sum(left)),
    });
  };

  if (exact) return [...out, ...ofRows(seen, exact, { rows, columns, by, least })];
  if (seen.blocks) return [...out, ...ofBlocks(seen, map, { rows, columns, by, threshold })];

  if (by ? columns.length : rows.length) {
    if (by) {
      const j = columns[0];
      const best = keenest(map, j);
      const i = rows[0] ?? best;
      const list = column(j);
      if (Number.isNaN(at(i, j))) return [...out, ...silent(i, j)];
      out.push(...parts(SAY.by, { q: q(i), k: k(j), w: number(at(i, j)) }));
      if (behind(at(i, j), at(best, j))) {
        out.push(
          ...parts(SAY.byMost, {
            rank: ordinal(rank(list, at(i, j))),
            n: list.length,
            w: number(at(best, j)),
            q: q(best),
          }),
        );
      }
      return [
        ...out,
        ...(name === "max"
          ? parts(SAY.stop, {})
          : parts(SAY.bySum, { n: list.length, sum: number(sum(list)) })),
        ...least(list),
      ];
    }
    if (rows.length > 1) {
      rows.forEach((i, turn) => {
        const j = strongest(map, i);
        const told = looksAtNothing(map, i)
          ? (turn ? SAY.alsoNothing : SAY.firstNothing)
          : turn
          ? SAY.also
          : SAY.first;
        out.push(...parts(told, { q: q(i), k: k(j), w: number(at(i, j)) }));
      });
      return [...out, ...parts(SAY.stop, {})];
    }
    const i = rows[0];
    if (looksAtNothing(map, i)) return [...out, ...parts(SAY.nothing, { q: q(i) })];
    const best = strongest(map, i);
    const j = columns[0] ?? best;
    const list = row(i);
    if (Number.isNaN(at(i, j))) return [...out, ...silent(i, j)];
    out.push(...parts(SAY.to, { q: q(i), k: k(j), w: number(at(i, j)) }));
    if (behind(at(i, j), at(i, best))) {
      out.push(
        ...parts(SAY.most, {
          rank: ordinal(rank(list, at(i, j))),
          n: list.length,
          w: number(at(i, best)),
          k: k(best),
        }),
      );
    }
    return [
      ...out,
      ...parts(name === "max" ? SAY.sumOfLargest : SAY.sum, { sum: number(sum(list)) }),
      ...least(list),
    ];
  }

  const { i, j, n } = peakOf(map);
  if (looksAtNothing(map, i)) return [...out, ...parts(SAY.allNothing, {})];
  return [...out, ...parts(SAY.none, { n, w: number(at(i, j)), q: q(i), k: k(j) })];
}

/**
 * @typedef {{first: number, count: number, at: (row: number, key: number) => number}} Exact exact
 * rows, one after another: the first query,
 *   how many, and a weight, NaN where a query may not look; rows from 0 within them, keys from 0
 */

/**
 * The largest weight of a block: {r, k, w}, row within the exact rows and key; null where none of
 * its queries may look at its keys.
 */
export function largest(exact, [from, to]) {
  let found = null;
  for (let r = 0; r < exact.count; r += 1) {
    for (let k = from; k <= to; k += 1) {
      const w = exact.at(r, k);
      if (!Number.isNaN(w) && !(found && found.w >= w)) found = { r, k, w };
    }
  }
  return found;
}

/** What is said of the locked block from its exact rows. */
function ofRows(seen, exact, { rows, columns, by, least }) {
  const n = seen.all.keys.length;
  const [i] = rows;
  const keys = columns.length ? seen.keysOf(columns[0]) : [0, n - 1];
  const spans = {
    i: seen.queryAt(i),
    j: columns.length
      ? seen.keyAt(columns[0])
      : `${signed(seen.keyNumber(0))}–${seen.keyNumber(n - 1)}`,
    size: `${exact.count} × ${keys[1] - keys[0] + 1}`,
  };
  const best = largest(exact, keys);
  const q = (r) => named(seen, seen.all.queries[exact.first + r], exact.first + r, "query");
  const k = (key) => named(seen, seen.all.keys[key], signed(seen.keyNumber(key)), "key");
  if (!best) return parts(SAY.blockNot, spans);
  const row = upTo(n, (key) => exact.at(best.r, key));
  const list = row.filter((w) => !Number.isNaN(w));
  const most = row.reduce((at, w, key) => (row[at] >= w || Number.isNaN(w) ? at : key), 0);
  const rank = 1 + list.filter((w) => w > best.w).length;
  const out = parts(SAY.within, spans);
  out.push(...parts(by ? SAY.by : SAY.to, { q: q(best.r), k: k(best.k), w: weight(best.w) }));
  if (by) return [...out, ...parts(SAY.stop, {})];
  if (weight(best.w) !== weight(row[most])) {
    out.push(
      ...parts(SAY.most, { rank: ordinal(rank), n: list.length, w: weight(row[most]), k: k(most) }),
    );
  }
  return [
    ...out,
    ...parts(SAY.sum, { sum: number(list.reduce((a, b) => a + b, 0)) }),
    ...least(list),
  ];
}

/** Where the largest weight of a map stands, and how many there are. */
function peakOf({ data, columns }) {
  const best = data.reduce((most, w, at) => (w > data[most] ? at : most), 0);
  return {
    i: Math.floor(best / columns),
    j: best % columns,
    n: data.filter((w) => !Number.isNaN(w)).length,
  };
}

/** What is said of blocks alone, each for what it is: a mean of sums. */
function ofBlocks(seen, map, { rows, columns, by, threshold }) {
  const at = (i, j) => map.data[i * map.columns + j];
  const counts = (i, j) =>
    [seen.queriesOf(i), seen.keysOf(j)].map(([a, b]) => b - a + 1).join(" × ");
  const spans = (i, j) => ({
    i: seen.queryAt(i),
    j: seen.keyAt(j),
    w: weight(at(i, j)),
    size: counts(i, j),
  });
  if (!by && rows.length > 1) {
    return [
      ...rows.flatMap((i, turn) =>
        parts(turn ? SAY.blockAlso : SAY.blockFirst, spans(i, strongest(map, i)))
      ),
      ...parts(SAY.stop, {}),
    ];
  }
  if (by ? columns.length : rows.length) {
    const j = columns[0] ?? strongest(map, rows[0]);
    const i = rows[0] ?? keenest(map, j);
    if (Number.isNaN(at(i, j))) return parts(SAY.blockNot, spans(i, j));
    const middle = ([a, b]) => (a + b) >> 1;
    const [query, key] = [middle(seen.queriesOf(i)), middle(seen.keysOf(j))];
    const names = {
      q: named(seen, seen.all.queries[query], query, "query"),
      k: named(seen, seen.all.keys[key], signed(seen.keyNumber(key)), "key"),
    };
    const list = Array.from(map.data.subarray(i * map.columns, (i + 1) * map.columns)).filter((w) =>
      !Number.isNaN(w)
    );
    const reach = threshold && !by
      ? parts(SAY.blockLeast, {
        m: list.filter((w) => w >= threshold).length,
        n: list.length,
        thr: number(threshold),
      })
      : [];
    return [...parts(SAY.block, { ...spans(i, j), ...names }), ...reach];
  }
  const { i, j, n } = peakOf(map);
  return parts(SAY.blockNone, { ...spans(i, j), n });
}

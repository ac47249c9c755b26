// Which earlier positions a position attends to, and over how many steps it is reached: the
// browser's side of models/layers/patterns.py. strided: A1 = {max(0, i − l) … i}, A2 = {j : (i − j)
// mod l = 0}; fixed: A1 = own block, A2 = the last c of every block; always j ≤ i. Nothing here
// touches the page or another module.

export const KINDS = ["full", "strided", "fixed"];
export const USES = ["interleaved", "merged", "split"];
export const LATER = 255; // in a matrix of steps: the key comes after the query, or nothing leads to it

function range(from, end, by = 1) {
  const out = [];
  for (let j = from; j < end; j += by) out.push(j);
  return out;
}

/** The last c of every block that ended before the block of i. */
function earlier(i, l, c) {
  const out = [];
  for (let end = l; end <= i - (i % l); end += l) {
    for (let j = end - c; j < end; j += 1) out.push(j);
  }
  return out;
}

const all = (i) => range(0, i + 1);
const row = (i, l) => range(Math.max(0, i - l), i + 1);
const column = (i, l) => range(i % l, i + 1, l);
const block = (i, l) => range(i - (i % l), i + 1);
const summary = (i, l, c) => [...earlier(i, l, c), ...range(i - (i % l) + l - c, i + 1)];

const FACTORS = {
  full: { first: all, second: all, union: all },
  strided: {
    first: row,
    second: column,
    union: (i, l) => [...range(i % l, i - l, l), ...row(i, l)],
  },
  fixed: {
    first: block,
    second: summary,
    union: (i, l, c) => [...earlier(i, l, c), ...block(i, l)],
  },
};

/**
 * The positions that a position attends to, ascending.
 * @param {{kind: string, l: number, c: number}} pattern
 * @param {"first" | "second" | "union"} which A1, A2 or both together
 */
export const keysOf = ({ kind, l, c }, which, i) => FACTORS[kind][which](i, l, c);

/** To how many positions position i attends, each counted once. */
export function count({ kind, l, c }, i) {
  if (kind === "full") return i + 1;
  const blocks = Math.floor(i / l);
  return kind === "strided"
    ? Math.min(i, l) + 1 + Math.max(blocks - 1, 0)
    : (i % l) + 1 + blocks * c;
}

/**
 * {pairs, busiest, at}: pairs of a pattern over `length` positions, the most that one query attends
 * to, and the first query that does.
 */
export function counted(pattern, length) {
  let [pairs, busiest, at] = [0, 0, 0];
  for (let i = 0; i < length; i += 1) {
    const n = count(pattern, i);
    pairs += n;
    if (n > busiest) [busiest, at] = [n, i];
  }
  return { pairs, busiest, at };
}

/** (query, key) row by row: 0 where there is no pair, 1 in A1 alone, 2 in A2 alone, 3 in both. */
export function connectivity(pattern, length) {
  const out = new Uint8Array(length * length);
  for (let i = 0; i < length; i += 1) {
    for (const j of keysOf(pattern, "first", i)) out[i * length + j] |= 1;
    for (const j of keysOf(pattern, "second", i)) out[i * length + j] |= 2;
  }
  return out;
}

/**
 * How the positions 0 … i reach position i, by search from i along the pairs of the pattern.
 * @returns {{steps: Int16Array, via: Int16Array}} steps: 0 itself, 1 what it attends to, 2 over one
 * position between …, −1 where nothing leads
 *   to it. via: through which position a key comes, the latest there is; itself where one step
 *   suffices.
 */
export function reach(pattern, i) {
  const steps = new Int16Array(i + 1).fill(-1);
  const via = Int16Array.from(steps, (_, j) => j);
  steps[i] = 0;
  let left = i; // positions that nothing was found to reach yet
  for (let edge = [i]; edge.length && left;) {
    const further = [];
    for (const middle of edge.sort((a, b) => b - a)) {
      for (const key of keysOf(pattern, "union", middle)) {
        if (steps[key] >= 0) continue;
        steps[key] = steps[middle] + 1;
        if (middle !== i) via[key] = middle;
        further.push(key);
        left -= 1;
      }
    }
    edge = further;
  }
  return { steps, via };
}

/**
 * The positions that a path from `from` to `to` runs through, both ends included; null where
 * nothing leads there.
 */
export function path(pattern, from, to) {
  const { steps, via } = reach(pattern, to);
  if (from > to || steps[from] < 0) return null;
  const out = [from];
  while (steps[out.at(-1)] > 1) out.push(via[out.at(-1)]);
  if (from !== to) out.push(to);
  return out;
}

/**
 * Searches from every position, one at each turn of the generator; `found` fills meanwhile.
 * @param {{kind: string, l: number, c: number}} pattern
 * @returns {{found: {done: number, steps: Uint8Array, tally: number[], missing: number}, turns:
 * Generator}} done: positions searched. steps: (query, key)
 *   or LATER. tally: how many pairs j ≤ i are joined in 0, 1, 2 … steps. missing: how many are not
 *   joined at all
 */
export function search(pattern, length) {
  const found = {
    done: 0,
    steps: new Uint8Array(length * length).fill(LATER),
    tally: [0, 0, 0],
    missing: 0,
  };
  function* turns() {
    for (let i = 0; i < length; i += 1) {
      const { steps } = reach(pattern, i);
      for (let j = 0; j <= i; j += 1) {
        if (steps[j] < 0) found.missing += 1;
        else {
          found.tally[steps[j]] = (found.tally[steps[j]] ?? 0) + 1;
          found.steps[i * length + j] = steps[j];
        }
      }
      found.done = i + 1;
      yield;
    }
  }
  return { found, turns: turns() };
}

/**
 * With which factor the heads of a layer attend, from the first head on: [how many heads, "first" |
 * "second" | "union"][]. Two heads at least.
 */
export function ofHeads({ kind }, use, layer, heads) {
  if (kind === "full" || use === "merged") return [[heads, "union"]];
  if (use === "interleaved") return [[heads, layer % 2 ? "second" : "first"]];
  const half = Math.floor(heads / 2);
  return [
    [half, "first"],
    [heads - half, "second"],
  ];
}

/**
 * Of how many positions position i knows after 1, 2 … layers, itself included: what a layer's heads
 * see, and what the sum around it carries on.
 */
export function known(pattern, use, i, layers, heads) {
  return Array.from({ length: layers }, (_, top) => {
    const seen = new Uint8Array(i + 1);
    seen[i] = 1;
    for (let layer = top; layer >= 0; layer -= 1) {
      const before = range(0, i + 1).filter((m) => seen[m]);
      for (const [, which] of ofHeads(pattern, use, layer, heads)) {
        for (const m of before) for (const j of keysOf(pattern, which, m)) seen[j] = 1;
      }
    }
    return seen.reduce((sum, one) => sum + one, 0);
  });
}

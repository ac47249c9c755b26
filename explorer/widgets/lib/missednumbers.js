// What so many rounds of hashing see of full attention, worked out from the round in which each pair first meets.

/** @typedef {{length: number, log: Float32Array, first: Uint8Array, weights: Float32Array}} Head (query × key) maps of one head: log of the full weights, the round from 1 on (0: never), and the weights */

/** @returns {Head} */
export function headOf(log, first, length) {
  const weights = new Float32Array(length * length).fill(Number.NaN); // NaN: a query may not look
  for (let q = 1; q < length; q += 1) for (let k = 0; k < q; k += 1) weights[q * length + k] = Math.exp(log[q * length + k]);
  weights[0] = 1; // the first query has only itself
  return { length, log, first: Uint8Array.from(first, (part) => Math.round(255 * part)), weights };
}

/** Has a pair met within so many rounds? */
export const met = (first, rounds) => first > 0 && first <= rounds;

/** (query,) share of the full weight that falls on keys which no round lets the query meet; the first query has nothing to miss. */
export function lostOf({ length, first, weights }, rounds) {
  const lost = new Float32Array(length);
  for (let q = 1; q < length; q += 1) for (let i = q * length; i < q * length + q; i += 1) if (!met(first[i], rounds)) lost[q] += weights[i];
  return lost;
}

/** (query × key) weights of what so many rounds see, another softmax over these keys alone; NaN where nothing is looked at. Who meets nobody looks at itself. */
export function seenOf({ length, log, first }, rounds) {
  const seen = new Float32Array(length * length).fill(Number.NaN);
  for (let q = 0; q < length; q += 1) {
    const row = q * length;
    let most = -Infinity;
    for (let k = 0; k < q; k += 1) if (met(first[row + k], rounds)) most = Math.max(most, log[row + k]);
    if (most === -Infinity) {
      seen[row + q] = 1;
      continue;
    }
    let sum = 0;
    for (let k = 0; k < q; k += 1) if (met(first[row + k], rounds)) sum += seen[row + k] = Math.exp(log[row + k] - most);
    for (let k = 0; k < q; k += 1) seen[row + k] /= sum; // NaN stays NaN
  }
  return seen;
}

/** A map with squares of so many cells made one: the largest of them, NaN where all are. @returns {{data: Float32Array, size: number}} */
export function pooled(map, length, by) {
  if (by === 1) return { data: map, size: length };
  const size = Math.ceil(length / by);
  const data = new Float32Array(size * size).fill(Number.NaN);
  for (let q = 0; q < length; q += 1)
    for (let k = 0; k < length; k += 1) {
      const i = Math.floor(q / by) * size + Math.floor(k / by);
      const value = map[q * length + k];
      if (!(data[i] >= value) && value === value) data[i] = value;
    }
  return { data, size };
}

/** The pairs with at least so much weight that no round lets meet, the heaviest first: [[query, key, weight]]. */
export function missing({ length, first, weights }, rounds, least, most) {
  const found = [];
  for (let q = 1; q < length; q += 1) for (let k = 0; k < q; k += 1) if (weights[q * length + k] >= least && !met(first[q * length + k], rounds)) found.push([q, k, weights[q * length + k]]);
  return found.sort((a, b) => b[2] - a[2]).slice(0, most);
}

/** The heaviest key of a query that so many rounds miss; where they miss none, the heaviest of all. */
export function telling({ length, first, weights }, query, rounds) {
  let best = -1;
  let alone = false;
  for (let k = 0; k < query; k += 1) {
    const i = query * length + k;
    const gone = !met(first[i], rounds) && weights[i] >= 5e-4;
    if (best < 0 || (gone && !alone) || (gone === alone && weights[i] > weights[query * length + best])) [best, alone] = [k, gone];
  }
  return Math.max(0, best);
}

/** The heaviest missed pair of a square of cells, or the heaviest of all; null where it holds no pair. */
export function inSquare(head, rounds, [top, left], by) {
  let best = null;
  let grade = -1;
  for (let q = top; q < Math.min(head.length, top + by); q += 1)
    for (let k = left; k < Math.min(q, left + by); k += 1) {
      const i = q * head.length + k;
      const worth = head.weights[i] + (met(head.first[i], rounds) ? 0 : 2);
      if (worth > grade) [best, grade] = [[q, k], worth];
    }
  return best;
}

// Hashing in numbers: what follows from the buckets of a round. Nothing here touches the page.

/** Positions in order of (bucket, position). @param {ArrayLike<number>} buckets */
export const sorted = (buckets) => Int32Array.from(Array.from(buckets, (_, i) => i).sort((a, b) => buckets[a] - buckets[b] || a - b));

/** The place of each position. @param {ArrayLike<number>} order (place,) */
export function ranks(order) {
  const out = new Int32Array(order.length);
  for (let place = 0; place < order.length; place += 1) out[order[place]] = place;
  return out;
}

/** One round of hashing: {buckets, order, rank, chunk, chunks, number(position): its chunk}. */
export function roundOf(buckets, chunk) {
  const order = sorted(buckets);
  const rank = ranks(order);
  return { buckets, order, rank, chunk, chunks: Math.ceil(order.length / chunk), number: (i) => Math.floor(rank[i] / chunk) };
}

/** May the query look at the key in this round: in its own chunk or the one before, and not later? */
export function meets(round, query, key) {
  const apart = round.number(query) - round.number(key);
  return key <= query && (apart === 0 || apart === 1);
}

/** (query · key) 1 where any of the rounds lets a query see an earlier key; its own key only where it sees nothing else. */
export function seenBy(rounds, length) {
  const out = new Uint8Array(length * length);
  for (const round of rounds) {
    const number = Int32Array.from({ length }, (_, i) => round.number(i));
    for (let q = 0; q < length; q += 1) {
      for (let k = 0; k < q; k += 1) {
        const apart = number[q] - number[k];
        if (apart === 0 || apart === 1) out[q * length + k] = 1;
      }
    }
  }
  for (let q = 0; q < length; q += 1) {
    let alone = true;
    for (let k = 0; k < q && alone; k += 1) alone = !out[q * length + k];
    if (alone) out[q * length + q] = 1;
  }
  return out;
}

/** How many pairs of a position with an earlier one were compared, and how many there are. @param {Uint8Array} seen of seenBy */
export function compared(seen, length) {
  let count = 0;
  for (let q = 0; q < length; q += 1) for (let k = 0; k < q; k += 1) count += seen[q * length + k];
  return { count, of: (length * (length - 1)) / 2 };
}

/** Of 0 w 0 w: [place that asks, place of the letter it is to say] for each letter of the second word. */
export const copies = (word) => Array.from({ length: word }, (_, n) => [word + 1 + n, n + 1]);

/** Of 0 w 0 w: [letter in the second word, the same letter in the first]. */
export const twins = (word) => Array.from({ length: word - 1 }, (_, n) => [word + 2 + n, n + 1]);

/** How many pairs share a bucket. */
export const share = (pairs, buckets) => pairs.filter(([a, b]) => buckets[a] === buckets[b]).length;

/** How many of the pairs meet in a round. */
export const meet = (pairs, round) => pairs.filter(([q, k]) => meets(round, q, k)).length;

/** The weights of one query by position, NaN where it may not look. @param {Float32Array} weights (place, slot) of a round */
export function row(round, weights, query) {
  const { order, rank, chunk } = round;
  const out = new Float32Array(order.length).fill(Number.NaN);
  const first = (round.number(query) - 1) * chunk;
  let others = 0;
  for (let slot = 0; slot < 2 * chunk; slot += 1) {
    const place = first + slot;
    if (place < 0 || place >= order.length || order[place] >= query) continue;
    out[order[place]] = weights[rank[query] * 2 * chunk + slot];
    others += 1;
  }
  if (!others) out[query] = 1;
  return out;
}

/** (query · key) weights of a round, NaN where nothing was computed. */
export function dense(round, weights) {
  const { length } = round.order;
  const out = new Float32Array(length * length);
  for (let q = 0; q < length; q += 1) out.set(row(round, weights, q), q * length);
  return out;
}

/** What one row looks at, heaviest first: [{key, w}]. @param {Float32Array} weights by position, NaN where not seen */
export function ranked(weights, most = 5) {
  return Array.from(weights, (w, key) => ({ key, w }))
    .filter(({ w }) => w === w)
    .sort((a, b) => b.w - a.w || b.key - a.key)
    .slice(0, most);
}

/** The coordinate that decides, and the next largest: [index, index]; the first is the bucket's own. */
export function deciding(coordinates, bucket) {
  const half = coordinates.length;
  const first = bucket % half;
  let second = first === 0 ? Math.min(1, half - 1) : 0;
  for (let j = 0; j < half; j += 1) if (j !== first && Math.abs(coordinates[j]) > Math.abs(coordinates[second])) second = j;
  return [first, second];
}

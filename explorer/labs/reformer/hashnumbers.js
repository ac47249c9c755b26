// Hashing in numbers: what follows from the buckets of a round. Nothing here touches the page.

/** One round of hashing: positions in order of (bucket, position),
  the place of each: {buckets, order, rank, chunk, chunks, number(position)}. */
export function roundOf(buckets, chunk) {
  const order = Int32Array.from(buckets.keys()).sort((a, b) => buckets[a] - buckets[b] || a - b);
  const rank = new Int32Array(order.length);
  order.forEach((position, place) => (rank[position] = place));
  return {
    buckets,
    order,
    rank,
    chunk,
    chunks: Math.ceil(order.length / chunk),
    number: (i) => Math.floor(rank[i] / chunk),
  };
}

/** Does the query meet the key in this round: in its own chunk or the one before, and not later? */
const meets = (round, query, key) =>
  key <= query && [0, 1].includes(round.number(query) - round.number(key));

/**
 * (query · key) 1 where any of the rounds lets a query see an earlier key; its own key only where
 * it sees nothing else.
 */
export function seenBy(rounds, length) {
  const out = new Uint8Array(length * length);
  for (const round of rounds) {
    const number = Int32Array.from({ length }, (_, i) => round.number(i));
    for (let q = 0; q < length; q += 1) {
      for (let k = 0; k < q; k += 1) {
        if (number[q] === number[k] || number[q] === number[k] + 1) out[q * length + k] = 1;
      }
    }
  }
  for (let q = 0; q < length; q += 1) {
    if (!out.subarray(q * length, q * length + q).includes(1)) out[q * length + q] = 1;
  }
  return out;
}

/**
 * How many pairs of a position with an earlier one were compared, and how many there are.
 * @param {Uint8Array} seen of seenBy
 */
export function compared(seen, length) {
  let count = 0;
  for (let q = 0; q < length; q += 1) for (let k = 0; k < q; k += 1) count += seen[q * length + k];
  return { count, of: (length * (length - 1)) / 2 };
}

/**
 * Of 0 w 0 w: [place that asks, place of the letter it is to say] for each letter of the second
 * word.
 */
export const copies = (word) => Array.from({ length: word }, (_, n) => [word + 1 + n, n + 1]);

/** Of 0 w 0 w: [letter in the second word, the same letter in the first]. */
export const twins = (word) => Array.from({ length: word - 1 }, (_, n) => [word + 2 + n, n + 1]);

/** How many pairs share a bucket. */
export const share = (pairs, buckets) => pairs.filter(([a, b]) => buckets[a] === buckets[b]).length;

/** How many of the pairs meet in any of some rounds. */
export const meet = (pairs, rounds) =>
  pairs.filter(([q, k]) => rounds.some((round) => meets(round, q, k))).length;

/**
 * The places that a chunk of queries may look at, [first, end): its own and those of the chunk
 * before.
 */
export const window_ = (
  round,
  own,
) => [Math.max(0, own - 1) * round.chunk, Math.min(round.order.length, (own + 1) * round.chunk)];

/** How many earlier positions a query may look at. */
export const sight = (round, query) =>
  round.order.subarray(...window_(round, round.number(query)))
    .filter((key) => key < query).length;

/**
 * The weights of one query by position, NaN where it may not look.
 * @param {Float32Array} weights (place, slot) of a round
 */
export function row(round, weights, query) {
  const { order, rank, chunk } = round;
  const out = new Float32Array(order.length).fill(Number.NaN);
  const own = round.number(query);
  const [first, end] = window_(round, own);
  for (let place = first; place < end; place += 1) {
    if (order[place] < query) {
      out[order[place]] = weights[rank[query] * 2 * chunk + place - (own - 1) * chunk];
    }
  }
  if (!sight(round, query)) out[query] = 1;
  return out;
}

/** (query · key) weights of a round, NaN where nothing was computed. */
export function dense(round, weights) {
  const { length } = round.order;
  const out = new Float32Array(length * length);
  for (let q = 0; q < length; q += 1) out.set(row(round, weights, q), q * length);
  return out;
}

/**
 * What one row looks at, heaviest first: [{key, w}]. @param {Float32Array} weights by position, NaN
 * where not seen
 */
export const ranked = (weights, most) =>
  Array.from(weights, (w, key) => ({ key, w })).filter(({ w }) => w === w)
    .sort((a, b) => b.w - a.w || b.key - a.key).slice(0, most);

/**
 * The coordinate that decides, and the next largest: [index, index]; the first is the bucket's own.
 */
export function deciding(coordinates, bucket) {
  const first = bucket % coordinates.length;
  const others = Array.from(coordinates.keys()).filter((j) => j !== first);
  return [
    first,
    others.reduce(
      (best, j) => (Math.abs(coordinates[j]) > Math.abs(coordinates[best]) ? j : best),
      others[0] ?? first,
    ),
  ];
}

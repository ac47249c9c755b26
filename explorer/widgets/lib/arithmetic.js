// One weight, worked out from what a head computed with: softmax(q Kᵀ / √d_head) V for one row (Vaswani et al., 2017, eq. 1).

/**
 * @param {{query: any, key: any, values: any, value: {causal: boolean, scaled: boolean, hidden: number[]}}} head arrays as unpack() gives
 *   them: (query, d), (key, d), (key, d); value: see weight.py
 * @param {number} row of the query @param {number} column of the key
 * @returns everything on the way: products (d,), dots, scores, raised, weights (key,), output (d,); −∞ and 0 where a key is not allowed
 */
export function worked({ query, key, values, value: { causal, scaled, hidden } }, row, column) {
  const [n, d] = key.shape;
  const root = scaled ? Math.sqrt(d) : 1;
  const q = Float64Array.from(query.slice(row));
  const k = Float64Array.from(key.slice(column));
  const allowed = Array.from({ length: n }, (_, j) => (!causal || j <= row) && !hidden.includes(j));
  const dots = Float64Array.from({ length: n }, (_, j) => key.slice(j).reduce((sum, x, e) => sum + x * q[e], 0));
  const scores = dots.map((dot, j) => (allowed[j] ? dot / root : -Infinity));
  const most = Math.max(...scores); // taken off before the exponential: the weights are the same, and no number grows out of bounds
  const raised = scores.map((score) => Math.exp(score - most));
  const sum = raised.reduce((a, b) => a + b, 0);
  const weights = raised.map((one) => one / sum);
  const output = new Float64Array(d);
  for (let j = 0; j < n; j += 1) values.slice(j).forEach((v, e) => (output[e] += weights[j] * v));
  return { row, column, n, d, root, q, k, products: q.map((x, e) => x * k[e]), allowed, dots, scores, most, raised, sum, weights, output, value: (j) => values.slice(j) };
}

/** The keys to draw where there is no room for all: those with most weight, the locked one, and the first that are not allowed; in order. */
export function chosen(it, room) {
  const all = Array.from({ length: it.n }, (_, j) => j);
  if (it.n <= room + 1) return all; // a row that says “1 other” is no shorter
  const ranked = all.filter((j) => it.allowed[j] && j !== it.column).sort((a, b) => it.weights[b] - it.weights[a]);
  const shut = all.filter((j) => !it.allowed[j] && j !== it.column).slice(0, 2);
  return [it.column, ...ranked.slice(0, room - 1 - shut.length), ...shut].sort((a, b) => a - b);
}

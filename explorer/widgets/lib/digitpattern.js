// Which earlier positions a position attends to, from the numbers of a pattern (models/layers/patterns.py; Child et al., 2019, §4.2, §4.3).

/** By factor, for a saved page too: may the query at i look at j ≤ i? l is the stride, c the summary columns at the end of each block. */
export const MAY = {
  all: () => true,
  row: (i, j, l) => i - j <= l,
  column: (i, j, l) => (i - j) % l === 0,
  block: (i, j, l) => Math.floor(i / l) === Math.floor(j / l),
  summary: (i, j, l, c) => j % l >= l - c,
};
export const PARTS = { all: ["all"], row: ["row"], column: ["column"], strided: ["row", "column"], block: ["block"], summary: ["summary"], fixed: ["block", "summary"] };

/** The factors that a head attends with: "strided" is the row and the column. */
export const partsOf = (factor) => PARTS[factor] ?? [];

/** (position,) 1 where the query at i may look by a factor, or by the union of two. */
export function allowed(factor, stride, summary, i, length) {
  const mask = new Uint8Array(length);
  const tests = partsOf(factor).map((part) => MAY[part]);
  for (let j = 0; j <= i; j += 1) if (tests.some((may) => may(i, j, stride, summary))) mask[j] = 1;
  return mask;
}

export const size = (mask) => mask.reduce((sum, one) => sum + one, 0);

/** What reaches a position through the layers 1 … depth of a model: (position,) 1; itself is reached, the sum around a sublayer carries it. */
export function reached({ factors, stride, summary, length }, position, depth) {
  const found = new Uint8Array(length);
  found[position] = 1;
  for (let layer = depth - 1; layer >= 0; layer -= 1) {
    const names = [...new Set(factors[layer])];
    const from = Array.from(found.keys()).filter((i) => found[i]);
    for (const i of from) {
      for (const name of names) {
        const mask = allowed(name, stride, summary, i, length);
        for (let j = 0; j <= i; j += 1) if (mask[j]) found[j] = 1;
      }
    }
    if (size(found) === position + 1) break; // everything before it already
  }
  return found;
}

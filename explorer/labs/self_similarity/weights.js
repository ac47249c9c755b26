// The weights of one pixel over its search window, as models/self_similarity/nonlocal_means.py
// defines them: patch by patch, so that a click asks no server. A test holds both equal.

const RADIUS = 3; // rows and columns of a patch on each side of its pixel
export const REACH = 10; // and of the search window
export const SIDE = 2 * REACH + 3; // of the window that weights are given for: the block's reaches a pixel further
const SPREAD = 1.5; // standard deviation of the Gaussian over a patch, pixels
const LEAST = 1e-30; // a pixel without any neighbour keeps its value

/** The weights of a patch along one axis, which add up to 1. */
const TAPS = (() => {
  const heights = Array.from(
    { length: 2 * RADIUS + 1 },
    (_, k) => Math.exp(-((k - RADIUS) ** 2) / (2 * SPREAD ** 2)),
  );
  const total = heights.reduce((a, b) => a + b);
  return heights.map((height) => height / total);
})();

/** A place beyond the edge, mirrored into the picture. */
const inside = (at, size) => at < 0 ? -at : at >= size ? 2 * size - 2 - at : at;

/** The mean of f(a, b) over the patches around two pixels, under the Gaussian. */
function over({ data, rows, columns }, [row, column], [other, across], f) {
  let sum = 0;
  for (let i = -RADIUS; i <= RADIUS; i += 1) {
    const [here, there] = [inside(row + i, rows), inside(other + i, rows)];
    for (let j = -RADIUS; j <= RADIUS; j += 1) {
      const a = data[here * columns + inside(column + j, columns)];
      const b = data[there * columns + inside(across + j, columns)];
      sum += TAPS[i + RADIUS] * TAPS[j + RADIUS] * f(a, b);
    }
  }
  return sum;
}

const half = SIDE >> 1;

/**
 * The pixels within `reach` of a pixel that are in the picture: [index in the window, row, column].
 * @param {{rows: number, columns: number}} picture
 * @param {number[]} pixel its row and column
 */
export function neighbours({ rows, columns }, [row, column], reach = REACH) {
  const found = [];
  for (let r = Math.max(0, row - reach); r <= Math.min(rows - 1, row + reach); r += 1) {
    for (let c = Math.max(0, column - reach); c <= Math.min(columns - 1, column + reach); c += 1) {
      found.push([(r - row + half) * SIDE + c - column + half, r, c]);
    }
  }
  return found;
}

const emptyWindow = () => new Float64Array(SIDE ** 2);

function normalised(weights) {
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}

/**
 * Non-local means: exp(−max(‖P − Q‖² − 2σ², 0) / h²), the pixel itself as the largest of the
 * others.
 * @returns {Float64Array} over the window, row by row; they add up to 1
 */
export function means(picture, pixel, { h, sigma }) {
  const weights = emptyWindow();
  const own = weights.length >> 1;
  let most = LEAST;
  for (const [at, row, column] of neighbours(picture, pixel)) {
    if (at === own) continue;
    const distance = over(picture, pixel, [row, column], (a, b) => (a - b) ** 2);
    weights[at] = Math.exp(-Math.max(distance - 2 * sigma ** 2, 0) / h ** 2);
    most = Math.max(most, weights[at]);
  }
  weights[own] = most;
  return normalised(weights);
}

/**
 * The softmax of dot products over h², the keys with their bias −‖k‖² or without; the pixel itself
 * as above.
 */
export function dots(picture, pixel, { h, bias }) {
  const weights = emptyWindow();
  const own = weights.length >> 1;
  const others = neighbours(picture, pixel).filter(([at]) => at !== own);
  const scores = others.map(([, row, column]) =>
    over(picture, pixel, [row, column], (a, b) => 2 * a * b - (bias ? b * b : 0)) / h ** 2
  );
  const most = Math.max(...scores);
  others.forEach(([at], n) => {
    weights[at] = Math.exp(scores[n] - most);
  });
  weights[own] = 1;
  return normalised(weights);
}

/**
 * The trained block: how much each pixel moves what the block adds at this one, Σ over its 3 × 3
 * readout of W_o times the weights of the pixel there; the length over its channels, and all of
 * them add up to 1.
 * @param {{h: number, sigma: number, readout: {data: Float32Array, shape: number[]}}} how readout:
 * (channel, 3, 3)
 */
export function block(picture, pixel, how) {
  const { data, shape } = how.readout;
  const sums = Array.from({ length: shape[0] }, emptyWindow);
  for (let tap = 0; tap < 9; tap += 1) {
    const [down, right] = [Math.floor(tap / 3) - 1, (tap % 3) - 1];
    const [row, column] = [pixel[0] + down, pixel[1] + right];
    if (row < 0 || row >= picture.rows || column < 0 || column >= picture.columns) continue;
    const weights = means(picture, [row, column], how);
    for (const [at] of neighbours(picture, [row, column])) {
      const place = at + down * SIDE + right;
      sums.forEach((sum, channel) => {
        sum[place] += data[channel * 9 + tap] * weights[at];
      });
    }
  }
  return normalised(emptyWindow().map((_, at) => Math.hypot(...sums.map((one) => one[at]))));
}

/** e to the entropy of weights: how many equal neighbours would be as spread out. */
export const effective = (weights) =>
  Math.exp(-weights.reduce((sum, weight) => sum + (weight > 0 ? weight * Math.log(weight) : 0), 0));

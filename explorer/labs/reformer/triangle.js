// Maps of queries and the keys before them.

/**
 * (query, key) numbers of a lower triangle on `most` cells a side; of more, squares of them are
 * one, the largest: {data, rows, columns}; NaN where there is none.
 */
export function pooled(n, of, most) {
  const by = Math.ceil(n / most);
  const size = Math.ceil(n / by);
  const data = new Float32Array(size * size).fill(Number.NaN);
  for (let q = 0; q < n; q += 1) {
    for (let k = 0; k <= q; k += 1) {
      const [value, at] = [of(q, k), Math.floor(q / by) * size + Math.floor(k / by)];
      if (value === value && !(data[at] >= value)) data[at] = value;
    }
  }
  return { data, rows: size, columns: size };
}

/**
 * A map whose future is no part of it, and nothing is drawn there; what a query does not see before
 * it is "sunk".
 */
export function triangle(pen, { x0, x1, y0, y1 }, how) {
  const unit = (x1 - x0) / how.rows;
  const stairs = Array.from(
    { length: how.rows },
    (_, n) => `H${x0 + (n + 1) * unit}V${y0 + (n + 1) * unit}`,
  ).join("");
  pen.path(`M${x0},${y0}${stairs}H${x0}Z`, { fill: "sunk" });
  pen.cells({ x0, x1, y0, y1 }, { ...how, empty: "none" });
}

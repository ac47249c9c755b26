// Bytes of what only the relative term makes: the same as `needed` in meter.py, at the sizes that the knobs say.

/**
 * @param {{length: number, width: number, heads: number}} size
 * @param {{block: number, together: number, number: number}} how queries of a block, scores that stand in memory together, bytes of a number
 */
export function needed({ length, width, heads }, { block, together, number }) {
  const rows = Math.min(block, length);
  const some = Math.max(1, Math.min(heads, Math.floor(together / (rows * length))));
  return {
    direct: { pairs: number * length * length * width },
    skew: { table: number * length * width, product: number * heads * length * length },
    ours: { table: number * length * width, product: number * some * rows * length },
  };
}

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** 8589934592 -> "8.59 GB", three figures, powers of a thousand. */
export function bytes(count) {
  let [value, unit] = [count, 0];
  while (value >= 999.5 && unit + 1 < UNITS.length) [value, unit] = [value / 1000, unit + 1];
  const digits = unit === 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

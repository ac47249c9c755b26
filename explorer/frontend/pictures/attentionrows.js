// The exact rows of a map whose cells stand for several pairs: the server is asked for those of one
// block (explorer/values/exact_rows.py). What has come travels along in a saved page.

import { looksOf, rowsAt } from "../lib/exact_rows.js";

const LEVELS = 65535; // of a weight

/**
 * @param {() => void} again called when rows have come
 * @param {Record<string, string>} [held] those of a saved page, which asks nobody
 * @returns {{of: (it: any, layer: number, head: number, block: number) =>
 * import("../lib/maps.js").Exact | null,
 *   ask: Function, trouble: () => string, held: () => any}} of: the exact rows behind a row of a
 *   map; null while they are not here. ask: a hand goes to that row, also to one that failed before
 */
export function exactRows(again, held = null) {
  const looks = looksOf(again, held);
  function placed(it, layer, head, block) {
    const [a, b] = it.queriesOf(block);
    return { first: a, count: b - a + 1, address: rowsAt(it.kind.look, layer, head, a, b - a + 1) };
  }
  return {
    trouble: () => (held ? "" : looks.trouble()),
    held: looks.held,
    ask(...place) {
      looks.retry(placed(...place).address);
      looks.block(placed(...place).address);
    },
    of(it, ...place) {
      const { first, count, address } = placed(it, ...place);
      const [rows, n] = [looks.block(address), it.all.keys.length];
      return rows &&
        {
          first,
          count,
          at: (
            r,
            k,
          ) => (it.kind.mask === "causal" && k > first + r ? Number.NaN : rows[r * n + k] / LEVELS),
        };
    },
  };
}

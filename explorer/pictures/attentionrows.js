// The exact rows of a map whose cells stand for several pairs: the server is asked for those of one block
// (explorer/looks.py). What has come travels along in a saved page.

import { heldOf, rowsAt, rowsFrom } from "../widgets/lib/looks.js";

const KEPT = 24; // answers remembered
const LEVELS = 65535; // of a weight

/**
 * @typedef {{first: number, count: number, at: (row: number, key: number) => number}} Exact rows one after another: see
 * maps.js
 */

/**
 * @param {() => void} again called when rows have come
 * @param {Record<string, string>} [held] those of a saved page, which asks nobody
 * @returns {{of: (it: any, layer: number, head: number, block: number) => Exact | null, ask: Function, trouble: () =>
 * string, held: () => any}}
 *   of: the exact rows behind a row of a map; null while they are not here. ask: a hand goes to that row, also to one
 *   that failed before
 */
export function exactRows(again, held = null) {
  const here = rowsFrom(held);
  const [coming, failed] = [new Set(), new Set()];
  let trouble = "";

  async function fetched(address) {
    coming.add(address);
    try {
      const answer = await fetch(new URL(address, location.origin));
      if (!answer.ok) throw new Error(String(answer.status));
      here.set(address, new Uint16Array(await answer.arrayBuffer()));
      if (here.size > KEPT) here.delete(here.keys().next().value);
      trouble = "";
    } catch (problem) {
      trouble = problem.message;
      failed.add(address);
    }
    coming.delete(address);
    again();
  }

  const addressOf = (it, layer, head, block) => {
    const [a, b] = it.queriesOf(block);
    return rowsAt(it.kind.look, layer, head, a, b - a + 1);
  };

  const wanted = (address) => {
    if (!held && !here.has(address) && !coming.has(address) && !failed.has(address)) fetched(address);
    return here.get(address) ?? null;
  };

  return {
    ask(...place) {
      failed.delete(addressOf(...place));
      wanted(addressOf(...place));
    },
    trouble: () => trouble,
    of(it, layer, head, block) {
      const rows = wanted(addressOf(it, layer, head, block));
      if (!rows) return null;
      const [a, b] = it.queriesOf(block);
      const n = it.all.keys.length;
      return { first: a, count: b - a + 1, at: (r, k) => (it.kind.mask === "causal" && k > a + r ? Number.NaN
          : rows[r * n + k] / LEVELS) };
    },
    /** What is here, for a saved page. */
    held: () => heldOf(here),
  };
}

// Exact weights of one character under one head, before and after the mask: fetched some rows at a time, told by distance.

import { t } from "./lang.js";

const ROWS = 8; // of one answer
const KEPT = 96; // answers remembered
const LEVELS = 65535; // of a weight: explorer/looks.py
const AGAIN = 5_000; // ms after which the next look asks once more for what could not be had

const GONE = { en: "The weights of this run have left the server; run it once more.", zh: "这次运行的权重已不在服务器上；请再运行一次。" };
const FAILED = { en: "The weights could not be fetched: {why}.", zh: "无法取得权重：{why}。" };

/** @param {() => void} changed called when weights have arrived, or could not be had */
export function rowsOf(changed) {
  const had = new Map(); // address -> rows, or null while they are under way
  let trouble = null;

  async function fetched(address) {
    try {
      const answer = await fetch(new URL(address, location.origin));
      if (!answer.ok) throw answer.status === 404 ? GONE : new Error(String(answer.status));
      had.set(address, new Uint16Array(await answer.arrayBuffer()));
      trouble = null;
    } catch (error) {
      trouble = error instanceof Error ? { en: t(FAILED, { why: error.message }), zh: t(FAILED, { why: error.message }) } : error;
      setTimeout(() => had.delete(address), AGAIN);
    }
    changed();
  }

  function row(look, layer, head, position, length, span) {
    const first = position - (position % ROWS);
    const address = `${look}/${layer - 1}/${head - 1}/${first}/${Math.min(ROWS, length - first)}`;
    if (!had.has(address)) {
      if (had.size >= KEPT) had.delete(had.keys().next().value);
      had.set(address, null);
      fetched(address);
    }
    const rows = had.get(address);
    if (!rows) return null;
    const from = (position - first) * length + position;
    return Float32Array.from({ length: Math.min(span, position + 1) }, (_, x) => rows[from - x] / LEVELS);
  }

  return {
    /** Weights of a position by distance, {before, after}, layer and head from 1; null while they are not here, or there are none. */
    of({ looks, length, span }, layer, head, position) {
      if (!looks.before || !looks.after || position === null) return null;
      const [before, after] = [looks.before, looks.after].map((look) => row(look, layer, head, position, length, span));
      return before && after ? { before, after } : null;
    },
    /** Why there are no weights, {en, zh}, or null. */
    trouble: () => trouble,
  };
}

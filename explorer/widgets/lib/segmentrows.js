// Exact weights of some positions, fetched some rows at a time: what one position gives to each key.

import { t } from "./lang.js";

const ROWS = 8; // of one answer
const KEPT = 48; // answers remembered
const LEVELS = 65535; // of a weight: explorer/looks.py
const AGAIN = 5_000; // ms after which the next look asks once more for what could not be had

const GONE = { en: "the weights of this run have left the server; run it once more", zh: "这次运行的权重已不在服务器上，请再运行一次" };
const FAILED = { en: "the weights could not be fetched: {why}", zh: "无法取得权重：{why}" };

/** @param {() => void} changed called when weights have arrived, or could not be had */
export function rowsOf(changed) {
  const kept = new Map(); // address -> Uint16Array, null while it is under way
  let trouble = null;

  async function fetched(address) {
    try {
      const answer = await fetch(new URL(address, location.origin));
      if (!answer.ok) throw answer.status === 404 ? GONE : new Error(String(answer.status));
      kept.set(address, new Uint16Array(await answer.arrayBuffer()));
      trouble = null;
    } catch (error) {
      trouble = error instanceof Error ? { en: t(FAILED, { why: error.message }), zh: t(FAILED, { why: error.message }) } : error;
      setTimeout(() => kept.delete(address), AGAIN);
    }
    changed();
  }

  return {
    /** (key,) what a position gives to each key under a head, layer and head from 1; null while it is not here. */
    of(model, layer, head, position) {
      if (!model.look) return null;
      const first = position - (position % ROWS);
      const count = Math.min(ROWS, model.length - first);
      const address = `${model.look}/${layer - 1}/${head - 1}/${first}/${count}`;
      if (!kept.has(address)) {
        if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
        kept.set(address, null);
        fetched(address);
      }
      const rows = kept.get(address);
      if (!rows) return null;
      const wide = rows.length / count;
      return Float32Array.from(rows.subarray((position - first) * wide, (position - first + 1) * wide), (raw) => raw / LEVELS);
    },
    /** Why there are no weights, {en, zh}, or null. */
    trouble: () => trouble,
  };
}

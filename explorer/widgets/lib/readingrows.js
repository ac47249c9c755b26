// Exact weights of a few characters, fetched some rows at a time. Column j of a row is the character at j − 1, column 0 the start.

import { t } from "./lang.js";

const ROWS = 8; // of one answer
const KEPT = 64; // answers remembered
const LEVELS = 65535; // of a weight: explorer/looks.py
const AGAIN = 5_000; // ms after which the next look asks once more for what could not be had

const GONE = { en: "the weights of this run have left the server; read the text once more", zh: "这次运行的权重已不在服务器上；请再读一次" };
const FAILED = { en: "the weights could not be fetched: {why}", zh: "无法取得权重：{why}" };

/** What a row says: weights by column, the largest among characters and start, and the shares of the memory and of another book's. */
export function lookOf(model, position, weights) {
  const own = model.count; // columns from here on belong to another text's memory
  let [best, foreign, memory] = [0, 0, 0];
  const first = model.first ? model.first[position] : 0;
  for (let j = 0; j < weights.length; j += 1) {
    if (j >= own) foreign += weights[j];
    else {
      if (weights[j] > weights[best]) best = j;
      if (j < first) memory += weights[j];
    }
  }
  // The first column of the memory, which is the character before it.
  const from = model.first ? Math.max(0, first - model.memory - 1) : 0;
  return { position, from, weights: weights.subarray(0, own), best: { column: best, w: weights[best] }, most: weights[best], foreign, memory: model.first && (model.memory || memory > 0) ? memory : null };
}

/** What a position gives to each character and to what is none: key j carries character j − 1, the last character none yet. */
export function byCharacter(look, length) {
  const of = (data) => ({ shape: [data.length], data: Float32Array.from(data) });
  const files = { weights: of(Float32Array.from({ length }, (_, p) => (p + 1 < Math.min(length, look.length) ? look[p + 1] : 0))), weight_of_start: of(look.slice(0, 1)) };
  if (look.length > length) files.weights_of_another_text = of(look.slice(length));
  return files;
}

/** @param {() => void} changed called when weights have arrived, or could not be had */
export function rowsOf(changed) {
  const kept = new Map(); // address -> rows, or null while they are under way
  const told = new Map(); // of a character under a head -> what lookOf found
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
    /** Where a character's row looked under a head, layer and head from 1; null while it is not here. */
    of(model, layer, head, position) {
      if (!model?.look || position === undefined || position >= model.count) return null;
      const first = position - (position % ROWS);
      const count = Math.min(ROWS, model.count - first);
      const address = `${model.look}/${layer - 1}/${head - 1}/${first}/${count}`;
      const name = `${address} ${position}`;
      if (told.has(name)) return told.get(name);
      if (!kept.has(address)) {
        if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
        kept.set(address, null);
        fetched(address);
      }
      const rows = kept.get(address);
      if (!rows) return null;
      const wide = rows.length / count;
      const from = (position - first) * wide;
      const found = lookOf(model, position, Float32Array.from(rows.subarray(from, from + wide), (raw) => raw / LEVELS));
      if (told.size > 128) told.clear();
      told.set(name, found);
      return found;
    },
    /** Why there are no weights, {en, zh}, or null. */
    trouble: () => trouble,
  };
}

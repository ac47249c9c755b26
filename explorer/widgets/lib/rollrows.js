// Exact weights of the events that begin notes, fetched some rows at a time, and what of them goes to each note.

import { t } from "./lang.js";

const ROWS = 16; // of one answer
const KEPT = 64; // answers remembered
const LEVELS = 65535; // of a weight: explorer/looks.py
const AGAIN = 5_000; // ms after which the next look asks once more for what could not be had

const GONE = { en: "The weights of this run have left the server; run it once more.", zh: "这次运行的权重已不在服务器上；请再运行一次。" };
const FAILED = { en: "The weights could not be fetched: {why}.", zh: "无法取得权重：{why}。" };

/** What a row of weights gives to each note. @param {{owner: ArrayLike<number>, count: number}} model @param {(j: number) => number} weight of place j
 *  @returns {{notes: Float32Array, start: number, rest: number}} start: what goes to before the first event; rest: to events of no note */
export function byNote(model, row, weight) {
  const notes = new Float32Array(model.count);
  let rest = 0;
  for (let j = 1; j <= row; j += 1) {
    const note = model.owner[j - 1]; // the key at place j carries the event before it
    if (note >= 0) notes[note] += weight(j);
    else rest += weight(j);
  }
  return { notes, start: weight(0), rest };
}

/** @param {() => void} changed called when weights have arrived, or could not be had */
export function rowsOf(changed) {
  const kept = new Map(); // address -> rows, or null while they are under way
  const told = new Map(); // of a note under a head -> what byNote found
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
    /** What a note looked back to under a head, layer and head from 1; null while it is not here. */
    of(model, layer, head, note) {
      if (!model.look) return null;
      const event = model.at[note];
      const first = event - (event % ROWS);
      const count = Math.min(ROWS, model.events - first);
      const address = `${model.look}/${layer - 1}/${head - 1}/${first}/${count}`;
      const name = `${address} ${note}`;
      if (told.has(name)) return told.get(name);
      if (!kept.has(address)) {
        if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
        kept.set(address, null);
        fetched(address);
      }
      const rows = kept.get(address);
      if (!rows) return null;
      const from = (event - first) * model.events;
      const found = byNote(model, event, (j) => rows[from + j] / LEVELS);
      if (told.size > 512) told.clear();
      told.set(name, found);
      return found;
    },
    /** Why there are no weights, {en, zh}, or null. */
    trouble: () => trouble,
  };
}

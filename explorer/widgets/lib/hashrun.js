// A finished run with its numbers at hand, and what is asked for as somebody looks: one head and round at a time.

import { unpack } from "./arrays.js";
import { copies, roundOf, seenBy, twins } from "./hashnumbers.js";
import { bus } from "./state.js";

const KEPT = 40; // heads and rounds; one is at most 1.5 MB
const AGAIN = 5_000; // ms after which the next look asks once more for what could not be had
const PATIENCE = 20_000; // ms until a question may be asked again
const REST = 90; // ms that the hand rests before another head is asked for

/**
 * The value with its models unpacked: each has `rounded(layer, head)`, the rounds of a head (hashnumbers.js), and `seen(layer, head, turn)`,
 * who may look at whom in a round, or with turn −1 in any. Layers, heads and turns from 0.
 */
export async function runOf(value) {
  const length = value.tokens.length;
  const packed = await Promise.all(value.models.map((model) => (model.rounds ? unpack(model.buckets) : null)));
  const remembered = new Map();
  const once = (key, make) => {
    if (!remembered.has(key)) {
      if (remembered.size > 80) remembered.clear();
      remembered.set(key, make());
    }
    return remembered.get(key);
  };
  const models = value.models.map((model, m) => {
    const rounded = (layer, head) =>
      once(`${m} ${layer} ${head}`, () => Array.from({ length: model.rounds }, (_, turn) => roundOf(packed[m].slice(layer, head, turn), model.chunk)));
    const seen = (layer, head, turn) =>
      once(`${m} ${layer} ${head} ${turn}`, () => seenBy(turn < 0 ? rounded(layer, head) : [rounded(layer, head)[turn]], length));
    return { ...model, rounded, seen };
  });
  return { ...value, length, models, copies: value.word ? copies(value.word) : [], twins: value.word ? twins(value.word) : [] };
}

/** The letter that a position is to say stands here in the first word; null where there is none. */
export const source = (run, position) => (run.word && position !== null && position > run.word ? position - run.word : null);

/**
 * Heads and rounds that were sent.
 * @param {(detail: {query: string, model: string, head: string, round: number}) => void} ask
 * @param {() => void} changed called when something has arrived
 */
export function looksOf(ask, changed) {
  const kept = new Map(); // name -> {rotated, weights}
  const failed = new Map(); // name -> the sentence that says why
  const coming = new Set();
  let asking = null;
  let wanted = null;
  let timer = 0;
  const name = ({ query, model, head, round }) => [query, model, head, round].join("\n");

  function next() {
    timer = 0;
    if (!wanted || (asking && performance.now() - asking.since < PATIENCE)) return;
    const key = name(wanted);
    if (kept.has(key) || failed.has(key) || coming.has(key)) return;
    asking = { key, since: performance.now() };
    ask(wanted);
  }

  async function take(value) {
    if (value?.kind !== "hashing") return;
    const key = name(value);
    coming.add(key);
    try {
      if (value.error) failed.set(key, value.error);
      else if (!kept.has(key)) {
        const [rotated, weights] = await Promise.all([value.rotated ? unpack(value.rotated) : null, unpack(value.weights)]);
        if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
        kept.set(key, { rotated, weights });
        failed.delete(key);
      }
    } catch (error) {
      failed.set(key, { en: `This head could not be fetched: ${error.message}.`, zh: `无法取得这个头：${error.message}。` });
    }
    coming.delete(key);
    if (failed.has(key)) setTimeout(() => failed.delete(key), AGAIN);
    if (asking?.key === key) asking = null;
    changed();
    next();
  }
  bus.on("looked", take);

  return {
    take,
    /** {rotated: (position, half), weights: (place, slot), or (query, key) of all rounds}, or null while it is not here. */
    get: (address) => kept.get(name(address)) ?? null,
    /** This is being looked at: it is asked for once the hand rests. */
    want(address) {
      const before = wanted && name(wanted);
      wanted = address;
      if (kept.has(name(address)) || failed.has(name(address))) return;
      if (timer && before === name(address)) return;
      clearTimeout(timer);
      timer = setTimeout(next, kept.size ? REST : 0);
    },
    /** Why it is not here, {en, zh}, or null. */
    trouble: (address) => failed.get(name(address)) ?? null,
  };
}

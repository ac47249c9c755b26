// The weights that the spans widget has seen: asked for layer by layer when somebody looks, one question at a time.

import { unpack } from "./arrays.js";
import { bus } from "./state.js";

const KEPT = 24; // layers; one is at most 0.9 MB
const AGAIN = 5_000; // ms after which the next look asks once more for what could not be had
const PATIENCE = 20_000; // ms until a question may be asked again

/**
 * @param {(detail: {query: string, pattern: string, layer: number, picture: number}) => void} ask
 * @param {() => void} changed called when weights have arrived
 */
export function looks(ask, changed) {
  const kept = new Map(); // name -> {shape, data of square roots}
  const failed = new Map(); // name -> the sentence that says why
  const coming = new Set(); // names of layers that are being fetched
  let asking = null;
  let wanted = [];
  let timer = 0;
  let last = null;
  const name = (query, pattern, layer) => `${query}\n${pattern}\n${layer}`;

  function next() {
    timer = 0;
    if (asking && performance.now() - asking.since < PATIENCE) return;
    const one = wanted.find((each) => !kept.has(each.name) && !failed.has(each.name) && !coming.has(each.name));
    asking = one ? { name: one.name, since: performance.now() } : null;
    if (one) ask(one.detail);
  }

  async function take(value) {
    const key = name(value.query, value.pattern, value.layer);
    coming.add(key);
    try {
      if (value.error) failed.set(key, value.error);
      else if (!kept.has(key)) {
        const array = await unpack(value.roots);
        if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
        kept.set(key, array);
        failed.delete(key);
      }
    } catch (error) {
      failed.set(key, { en: `The weights could not be fetched: ${error.message}.`, zh: `无法取得权重：${error.message}。` });
    }
    coming.delete(key);
    if (failed.has(key)) setTimeout(() => failed.delete(key), AGAIN);
    if (asking?.name === key) asking = null;
    changed();
    next();
  }
  bus.on("looked", take);

  return {
    take,
    /** Weights by slot of a (head, position), or null. */
    get(query, pattern, layer) {
      const array = kept.get(name(query, pattern, layer));
      return array ? (head, position) => array.slice(head, position).map((root) => root * root) : null;
    },
    /** The whole layer, (head, position, slot), or null. */
    raw(query, pattern, layer) {
      const array = kept.get(name(query, pattern, layer));
      return array ? { shape: array.shape, data: array.data.map((root) => root * root) } : null;
    },
    /** These layers are being looked at; what is not here is asked for once the hand rests. */
    want(query, patterns, layer) {
      const before = wanted.map((each) => each.name).join();
      last = name(query, patterns[0], layer);
      wanted = [...new Set(patterns)].map((pattern) => ({ name: name(query, pattern, layer), detail: { query, pattern, layer, picture: 0 } }));
      if (wanted.every((each) => kept.has(each.name) || failed.has(each.name))) return;
      if (timer && before === wanted.map((each) => each.name).join()) return;
      clearTimeout(timer);
      timer = setTimeout(next, kept.size ? 90 : 0);
    },
    /** Why there are no weights, {en, zh}, or null. */
    trouble: () => failed.get(last) ?? null,
  };
}

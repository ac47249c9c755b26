// Exact rows of a map that is too large to send whole, fetched some at a time as somebody looks at
// them: explorer/values/exact_rows.py.

import { filed, upTo } from "./arrays.js";
import { t } from "./lang.js";
import { inTurn } from "./paint_queue.js";

const ROWS = 8; // of one answer, where a picture says nothing else
const KEPT = 64; // answers remembered
const LEVELS = 65535; // of a weight
const AGAIN = 5_000; // ms after which the next look asks once more for what could not be had
const HOLD = 60; // ms that somebody points at a row before it is fetched

const GONE = {
  en: "the weights of this run have left the server; run it once more",
  zh: "这次运行的权重已不在服务器上，请再运行一次",
};
const FAILED = { en: "the weights could not be fetched: {why}", zh: "无法取得权重：{why}" };
const AWAY = {
  en: "a saved page holds only the weights that were looked at before",
  zh: "保存的网页只含当时看过的权重",
};

let fetching = 0; // answers on their way, over all pictures of the page; its root says how many, as data-fetching
const counted = (more) => (document.documentElement.dataset.fetching = fetching += more);

/**
 * The rows that a saved page holds, {address: base64}, as a map of address and numbers; `heldOf` is
 * the way back.
 */
const rowsFrom = (held) =>
  new Map(
    Object.entries(held ?? {})
      .map(([address, text]) => [
        address,
        new Uint16Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer),
      ]),
  );

const heldOf = (kept) =>
  Object.fromEntries(
    [...kept].filter(([, rows]) => rows).map((
      [address, rows],
    ) => [
      address,
      btoa(Array.from(new Uint8Array(rows.buffer), (byte) => String.fromCharCode(byte)).join("")),
    ]),
  );

/** The address of some rows: `look` may say behind its path what it is of. */
export function rowsAt(look, layer, head, first, count) {
  const [path, of] = look.split("?");
  return `${path}/${layer - 1}/${head - 1}/${first}/${count}${of ? `?${of}` : ""}`;
}

/** The bytes of rows at an address. */
let bring = async (address) => {
  const answer = await fetch(new URL(address, location.origin));
  if (!answer.ok) throw answer.status === 404 ? GONE : new Error(String(answer.status));
  return answer.arrayBuffer();
};

/** Rows come by this from now on, and not from a server. */
export const bringRowsBy = (fn) => {
  bring = fn;
};

/**
 * @param {() => void} changed called when rows have come, or could not be had
 * @param {Record<string, string> | null} saved what a saved page holds; it asks for nothing more
 * @param {number} rows of one answer
 */
export function looksOf(changed, saved = null, rows = ROWS) {
  const kept = rowsFrom(saved); // by address: what has come, null where it is on its way or could not be had
  const coming = new Set();
  let trouble = null;
  let [resting, timer] = ["", 0]; // what is pointed at, and is fetched once it is for a while

  async function fetched(address) {
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(address, null);
    coming.add(address);
    counted(1);
    try {
      if (saved) throw AWAY;
      kept.set(address, new Uint16Array(await bring(address)));
      trouble = null;
    } catch (error) {
      trouble = error instanceof Error
        ? {
          en: FAILED.en.replace("{why}", error.message),
          zh: FAILED.zh.replace("{why}", error.message),
        }
        : error;
      setTimeout(() => kept.delete(address), AGAIN);
    }
    coming.delete(address);
    changed();
    inTurn(() => counted(-1)); // once they are drawn
  }

  const addressOf = (look, layer, head, first, length) =>
    rowsAt(look, layer, head, first, Math.min(rows, length - first));
  const whole = (look, layer, head, length) =>
    upTo(Math.ceil(length / rows), (n) => addressOf(look, layer, head, n * rows, length));

  /** Rows as they came; null while they are not here. pointed: are they only pointed at? */
  function block(address, pointed = false) {
    if (!kept.has(address) && !(pointed && resting === address)) {
      clearTimeout(timer);
      resting = pointed ? address : "";
      if (pointed) timer = setTimeout(() => ((resting = ""), fetched(address)), HOLD);
      else fetched(address);
    }
    return kept.get(address) ?? null;
  }

  return {
    block,
    /** Somebody goes there: what could not be had a moment ago is asked for again. */
    retry: (address) => kept.get(address) === null && !coming.has(address) && kept.delete(address),
    /**
     * (key,) what a position gives to each key under a head, layer and head from 1; null while it
     * is not here.
     * @param {string | null} look the address of all of them
     * @param {number} length how many positions there are
     * @param {boolean} pointed is it only pointed at?
     */
    of(look, layer, head, position, length, pointed = false) {
      if (!look || !(position >= 0 && position < length)) return null;
      const first = position - (position % rows);
      const found = block(addressOf(look, layer, head, first, length), pointed);
      if (!found) return null;
      const wide = found.length / Math.min(rows, length - first);
      return Float32Array.from(
        found.subarray((position - first) * wide, (position - first + 1) * wide),
        (raw) => raw / LEVELS,
      );
    },
    /**
     * What every position gives to each key, one after another; null where some of it is not here.
     * `gather` fetches it, for a file.
     */
    all(...place) {
      const parts = whole(...place).map((address) => kept.get(address));
      return parts.every(Boolean)
        ? Float32Array.from(parts.flatMap((part) => Array.from(part)), (raw) => raw / LEVELS)
        : null;
    },
    gather: (...place) =>
      Promise.all(whole(...place).filter((address) => !kept.get(address)).map(fetched)),
    /** Why there are no weights, in words; "" where nothing is wrong. */
    trouble: () => (trouble ? t(trouble) : ""),
    /** What is here, for a saved page. */
    held: () => heldOf(kept),
  };
}

/**
 * What a position gives to each character and to what is none, for arrays that are saved: key j
 * carries character j − 1, the last none yet.
 */
export function byCharacter(weights, length) {
  const of = (data, axis) => filed(Float32Array.from(data), axis, "weight");
  const own = Float32Array.from(
    { length },
    (_, p) => (p + 1 < Math.min(length, weights.length) ? weights[p + 1] : 0),
  );
  return {
    weights: of(own, "character"),
    weight_of_start: of(weights.slice(0, 1), "start"),
    ...(weights.length > length
      ? { weights_of_another_text: of(weights.slice(length), "slot") }
      : {}),
  };
}

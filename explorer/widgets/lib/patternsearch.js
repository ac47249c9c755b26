// The search over all positions, a little at a time: small pictures at once, large ones while the page has nothing else to do.

import { KINDS, search } from "./patternmath.js";

const AT_ONCE = 256; // positions that are searched before anything is drawn
const TURN = 10; // ms of work before the page has its turn
const SEEN = 90; // ms between two pictures of a search under way

const idle = (fn) => (globalThis.requestIdleCallback ? requestIdleCallback(fn, { timeout: 300 }) : setTimeout(fn, 16));

/**
 * @param {(kind: string) => void} show called as results of a pattern come
 * @returns {{of: (patterns: any, length: number, first: string) => any, finish: () => void}} of: what was found of each kind so far, {full: found, …}; begins
 *   anew where patterns or length differ. finish: searches to the end at once
 */
export function searching(show) {
  let name = "";
  let under = {}; // the searches in view, by kind
  let turn = 0;

  const done = (one) => one.found.done === one.length;

  function advance(one, until) {
    while (!done(one) && performance.now() < until) one.turns.next();
  }

  function go(mine) {
    if (mine !== turn) return; // another pattern overtook this one
    const next = Object.values(under).find((one) => !done(one));
    if (!next) return;
    advance(next, performance.now() + TURN);
    const now = performance.now();
    if (done(next) || now - next.shown > SEEN) {
      next.shown = now;
      show(next.kind);
    }
    idle(() => go(mine));
  }

  return {
    of(patterns, length, first) {
      const wanted = JSON.stringify([patterns, length]);
      if (wanted !== name) {
        name = wanted;
        turn += 1;
        const order = [first, ...KINDS.filter((kind) => kind !== first)];
        under = Object.fromEntries(order.map((kind) => [kind, { kind, length, shown: performance.now(), ...search(patterns[kind], length) }]));
        if (length <= AT_ONCE) for (const one of Object.values(under)) advance(one, Infinity);
        const mine = turn;
        idle(() => go(mine));
      }
      return Object.fromEntries(Object.entries(under).map(([kind, one]) => [kind, one.found]));
    },
    finish() {
      for (const one of Object.values(under)) advance(one, Infinity);
    },
  };
}

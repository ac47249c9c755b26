// What both pictures of the patterns share: what is looked at, the search over all positions, and
// how numbers are written. The search runs once for all pictures of a page: small ones at once,
// large ones while the page has nothing else to do.

import { lang } from "../../frontend/lib/lang.js";
import { connectivity, counted, KINDS, search, USES } from "../../frontend/pictures/patternmath.js";

export const NAMES = {
  full: { en: "Full", zh: "完整" },
  strided: { en: "Strided", zh: "跨步" },
  fixed: { en: "Fixed", zh: "固定" },
};
export const PAIRS = { en: "pairs", zh: "对" };
const [SMALL, SIDES] = [12, [6, 28]]; // rows and columns of the image on arrival, and how many there may be
const AT_ONCE = 256; // positions that are searched before anything is drawn
// ms of work before the page has its turn, and between two pictures of a search under way
const [TURN, SEEN] = [10, 90];
const KEPT = 12; // patterns whose pairs are remembered

/** A ratio as it is read: "15.9". */
export const times = (x) => (x >= 100 ? x.toFixed(0) : x.toFixed(1));
export const share = (part, of) => Number(((100 * part) / of).toFixed(2));
export const causal = (length) => (length * (length + 1)) / 2;
export const chosen = (texts) => texts[lang()] ?? texts.en;

/** The pattern at another side: l grows with it, c stays. */
export const grown = (pattern, from, to) => {
  const l = Math.max(1, Math.round((pattern.l * to) / from));
  return { ...pattern, l, c: Math.min(pattern.c, l) };
};
/** How many times as many pairs a pattern takes at twice the side. */
export const doubled = (pattern, side) =>
  counted(grown(pattern, side, 2 * side), 4 * side * side).pairs /
  counted(pattern, side * side).pairs;

/**
 * A telling position and an earlier one that strided and fixed patterns reach over different ways.
 */
const telling = (side) =>
  [[0.7, 0.55], [0.22, 0.3]]
    .map(([row, column]) => Math.floor(row * side) * side + Math.floor(column * side));

function bounds(run, look, get) {
  const { patternside: side = SMALL, patternpos: position = 0 } = look;
  const { patternstride: l = side } = look;
  const [own, far] = telling(side);
  const asked = Number(get("patternstride")) || 0;
  return {
    patternside: { least: SIDES[0], most: SIDES[1], pick: SMALL, whole: true },
    patternstride: {
      least: 1,
      most: Math.min(side * side, Math.max(2 * side, asked)),
      pick: side,
      whole: true,
    },
    patternsummary: {
      least: 1,
      most: l,
      pick: Math.min(l, Math.max(1, Math.round(side / 4))),
      whole: true,
    },
    pattern: { names: KINDS, pick: "strided" },
    patternpos: { count: side * side, pick: own },
    patternto: { count: position, pick: get("patternpos") === null && far < position ? far : null },
    patternuse: { names: USES, pick: run.trained.use },
  };
}

/**
 * What is looked at: {side, length, l, c, kind, position, far: where a path begins, or null, use,
 * patterns: {kind: pattern}}.
 */
export function seen(look) {
  const {
    patternside: side,
    patternstride: l,
    patternsummary: c,
    pattern: kind,
    patternpos: position,
    patternuse: use,
  } = look;
  const patterns = Object.fromEntries(KINDS.map((name) => [name, { kind: name, l, c }]));
  const far = look.patternto !== null && look.patternto < position ? look.patternto : null;
  return { side, length: side * side, l, c, kind, position, far, use, patterns };
}

const kept = new Map();

/** The pairs of a pattern, (query, key) as `connectivity` tells them. */
export function codesOf(pattern, length) {
  const name = [pattern.kind, pattern.l, pattern.c, length].join();
  if (!kept.has(name)) {
    kept.set(name, connectivity(pattern, length));
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  }
  return kept.get(name);
}

// ── the search ──
const heard = new Set(); // who draws anew as results come
let under = { name: "", all: [] };

const idle = (
  fn,
) => (globalThis.requestIdleCallback
  ? requestIdleCallback(fn, { timeout: 300 })
  : setTimeout(fn, 16));
const open = (one) => one.found.done < one.length;
function advance(one, until) {
  while (open(one) && performance.now() < until) one.turns.next();
}

function go(mine) {
  const next = mine.all.find(open);
  if (mine !== under || !next) return; // other patterns overtook these
  advance(next, performance.now() + TURN);
  const now = performance.now();
  if (!open(next) || now - mine.shown > SEEN) {
    mine.shown = now;
    for (const again of heard) again();
  }
  idle(() => go(mine));
}

/** What was found so far of each kind, {kind: found}. to: "end": all of it, at once. */
export function searched({ patterns, length }, to = "") {
  const name = JSON.stringify([patterns, length]);
  if (name !== under.name) {
    const all = KINDS.map((kind) => ({ kind, length, ...search(patterns[kind], length) }));
    const mine = (under = { name, all, shown: performance.now() });
    if (length <= AT_ONCE) { for (const one of all) advance(one, Infinity); }
    idle(() => go(mine));
  }
  if (to === "end") { for (const one of under.all) advance(one, Infinity); }
  return Object.fromEntries(under.all.map(({ kind, found }) => [kind, found]));
}

/**
 * Of a pixel before the one that asks, {pattern, patternto}: a click lets it ask, with shift the
 * path begins there.
 */
function completes(_run, look, patch, { add }) {
  const { position, far } = seen(look);
  const { pattern, patternside, patternto: to } = patch;
  if (patternside !== undefined) return { ...patch, patternpos: null, patternto: null };
  const from = (one) => one ?? undefined; // undefined is written as "none", null would be the usual one
  if (pattern && to !== undefined && patch.patternpos === undefined) {
    return add
      ? { pattern, patternpos: position, patternto: from(to === far ? null : to) }
      : { pattern, patternpos: to, patternto: from(far) };
  }
  return patch.patternpos === undefined
    ? null
    : { ...patch, patternto: from(to === undefined ? far : to) };
}

/** The part of a picture that is the same for both. */
export const shared = {
  looks: {
    patternside: "number",
    patternstride: "number",
    patternsummary: "number",
    pattern: "choice",
    patternpos: "position",
    patternto: "position",
    patternuse: "choice",
  },
  along: "patternpos",
  aside: "patternto",
  across: "pattern",
  resets: ["pattern", "patternpos", "patternto", "patternuse"],
  read(value, { again }) {
    heard.add(again);
    return value;
  },
  bounds,
  completes,
  /** The start of a path goes on from the position that asks. */
  move(_run, look, key, by) {
    const { position, far } = seen(look);
    return key === "patternto"
      ? { patternto: Math.max(0, Math.min(position - 1, (far ?? position) + by)) }
      : null;
  },
  /** Is the search still under way? */
  waits(_run, look) {
    const now = seen(look);
    return Object.values(searched(now)).some(({ done }) => done < now.length);
  },
  named: (
    _run,
    look,
  ) => [
    `${look.patternside}x${look.patternside}`,
    `l${look.patternstride}`,
    `c${look.patternsummary}`,
  ],
};

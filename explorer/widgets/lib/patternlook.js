// What is looked at: read from the address, completed by what the page offers and by what exists. Nothing here draws.

import { KINDS, USES } from "./patternmath.js";
import { view } from "./state.js";

const SMALL = 12; // rows and columns of the image on arrival

const within = (text, low, high) => {
  const n = /^\d+$/.test(text ?? "") ? Number(text) : Number.NaN;
  return n >= low && n <= high ? n : null;
};

/** A telling position and an earlier one that strided and fixed patterns reach over different ways. */
const telling = (side) => ({ position: Math.floor(0.7 * side) * side + Math.floor(0.55 * side), far: Math.floor(0.22 * side) * side + Math.floor(0.3 * side) });

/**
 * @param {{sides: number[], pick?: any, use: string, draft?: any}} how pick: what stands there before anybody chose. draft: {side, stride, summary} of a
 *   slider under the hand. blank: as if the address said nothing
 * @returns {{kind: string, side: number, length: number, l: number, c: number, position: number, far: number | null, use: string, patterns: any}}
 */
export function look({ sides, pick, use, draft = {}, blank = false }) {
  const asked = (key) => (blank ? null : view.get(key));
  const told = (key, name, low, high) => draft[name] ?? within(asked(key), low, high) ?? within(String(pick?.[name] ?? ""), low, high);
  const side = told("patternside", "side", ...sides) ?? SMALL;
  const length = side * side;
  const l = told("patternstride", "stride", 1, length) ?? side;
  const c = Math.min(l, told("patternsummary", "summary", 1, length) ?? Math.max(1, Math.round(side / 4)));
  const own = telling(side);
  const chosen = within(asked("patternpos"), 0, length - 1);
  const position = chosen ?? within(String(pick?.pos ?? ""), 0, length - 1) ?? own.position;
  const named = asked("patternto");
  const far = within(named, 0, position - 1) ?? (named !== null || chosen !== null ? null : (within(String(pick?.to ?? ""), 0, position - 1) ?? (position > own.far ? own.far : null)));
  const of = (key, known, other) => [asked(key), other].find((one) => known.includes(one)) ?? known[1];
  const patterns = Object.fromEntries(KINDS.map((kind) => [kind, { kind, l, c }]));
  return { kind: of("pattern", KINDS, pick?.pattern), side, length, l, c, position, far, use: of("patternuse", USES, pick?.use ?? use), patterns };
}

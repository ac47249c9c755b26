// A finished run with its numbers at hand: what the masks widget draws, from the value that explorer/figures/masks.py made.

import { unpack } from "./arrays.js";
import { masked } from "./masknumbers.js";

/**
 * The value with, for each head i = layer · heads + head: `z[i]` (on the mean where it follows the token), `lows[i]`, `highs[i]`, `series(i)`
 * along the text, `forcing[i]` (NaN where nothing is forced), `learned[i]` (as trained, NaN where that is not known), `profile(i)` {before, after} by distance.
 */
export async function runOf(value) {
  const names = ["z", "forced", "learned", "before", "after", "kept", "counts"];
  const [z, forced, learned, before, after, kept, counts] = await Promise.all(names.map(async (one) => (value[one] ? unpack(value[one]) : null)));
  const letters = Array.from(value.text);
  const count = value.heads[0] * value.heads[1];
  const size = z.shape[2];
  const part = (array, i, width) => array.data.subarray(i * width, (i + 1) * width);
  const of = (make) => Float32Array.from({ length: count }, (_, i) => make(part(z, i, size)));
  const far = before?.shape[2] ?? 0;
  const [moving, profiles] = [size > 1, before && after ? { before, after } : null];
  const mean = of((own) => own.reduce((sum, one) => sum + one, 0) / size);
  return {
    ...value,
    letters,
    length: letters.length,
    count,
    dynamic: moving,
    z: mean,
    lows: moving ? of((own) => own.reduce((a, b) => Math.min(a, b))) : null,
    highs: moving ? of((own) => own.reduce((a, b) => Math.max(a, b))) : null,
    series: (i) => part(z, i, size),
    spans: z,
    forcing: Float32Array.from({ length: count }, (_, i) => (forced.data[i] ? part(z, i, size)[0] : Number.NaN)),
    learned: mean.map((z_, i) => (!forced.data[i] ? z_ : learned && learned.data[i] >= 0 ? learned.data[i] : Number.NaN)),
    profile: (i) => (profiles ? { before: part(before, i, far), after: part(after, i, far) } : null),
    profiles,
    kept: kept?.data ?? null,
    counts: counts?.data ?? Float32Array.from({ length: far }, (_, x) => letters.length - x),
  };
}

/**
 * What is drawn of the head in view under the spans that are wished for.
 * @param {{run: any, i: number, draft: Float32Array | null, spanOf: (i: number) => number, leftOf: (i: number) => number | null, position: number | null, found: any}} how
 *   draft: NaN as trained, null where nothing is wished; found: exact weights of the position, or null
 */
export function seen({ run, i, draft, spanOf, leftOf, position, found }) {
  const forced = Array.from(draft ?? run.forcing, (z) => !Number.isNaN(z));
  const fresh = !draft || Object.is(draft[i], run.forcing[i]); // the run's own spans, not wished ones
  const follows = run.dynamic && !forced[i] && fresh;
  const series = follows ? run.series(i) : Float32Array.from({ length: run.dynamic ? run.length : 0 }, () => spanOf(i));
  const z = follows && position !== null ? series[position] : spanOf(i);
  const own = found && masked(found.before, z, run.ramp);
  const profile = run.profile(i);
  return {
    z,
    series,
    forced,
    learned: run.learned,
    leftOf,
    would: Boolean(draft),
    trained: forced[i] && !Number.isNaN(run.learned[i]) ? run.learned[i] : null,
    row: found && { before: found.before, after: fresh ? found.after : own.after, kept: own.kept },
    spans: Float32Array.from({ length: run.count }, (_, n) => spanOf(n)),
    lows: run.lows,
    highs: run.highs,
    left: leftOf(i),
    range: follows && position !== null ? { here: z, low: run.lows[i], high: run.highs[i] } : null,
    profile: profile && (fresh ? profile : { before: profile.before, after: masked(profile.before, z, run.ramp).after }),
  };
}

// The soft mask in numbers: what a span lets through, how far it reaches, and how wishes for spans are written. Nothing here touches the page.

export const ALL = -1; // in place of a layer or a head: every one of them

/** m_z(x) = clamp((R + z − x) / R, 0, 1). */
export const soft = (z, ramp, x) => Math.max(0, Math.min(1, (ramp + z - x) / ramp));

/** Positions that a head of span z attends to, its ramp included: min(S, ⌈z + R⌉), at least one. */
export const reach = (z, ramp, span) => Math.min(span, Math.max(1, Math.ceil(z + ramp)));

/**
 * The share of its weight that a mask leaves a head, on the mean over the queries of a text.
 * @param {ArrayLike<number>} before mean weight by distance, before the mask
 * @param {ArrayLike<number>} counts from how many queries each is the mean
 */
export function kept(before, counts, z, ramp) {
  let [whole, left] = [0, 0];
  for (let x = 0; x < before.length; x += 1) {
    const sum = before[x] * counts[x];
    whole += sum;
    left += sum * soft(z, ramp, x);
  }
  return whole > 0 ? left / whole : 1;
}

/** Weights under another mask, brought back to their sum: the share it leaves, and the weights. @param {ArrayLike<number>} before by distance */
export function masked(before, z, ramp) {
  const after = Float32Array.from(before, (w, x) => w * soft(z, ramp, x));
  const left = after.reduce((sum, w) => sum + w, 0);
  const whole = Array.prototype.reduce.call(before, (sum, w) => sum + w, 0);
  return { after: left > 0 ? after.map((w) => (w / left) * whole) : after, kept: whole > 0 ? left / whole : 1 };
}

/**
 * Forced spans as a request writes them, [layer, head, z] from 0 with ALL for whole layers and for all heads, in one way only.
 * @param {ArrayLike<number>} forced (layer · head) spans, NaN where none is forced
 */
export function spelled(forced, layers, heads) {
  const rows = Array.from({ length: layers }, (_, l) => Array.from({ length: heads }, (__, h) => Number(forced[l * heads + h].toFixed(3))));
  const same = (list) => (list.every((z) => z === list[0]) ? list[0] : null);
  const each = rows.map(same);
  const all = same(each);
  if (all !== null) return [[ALL, ALL, all]];
  return rows.flatMap((row, l) => (each[l] !== null ? [[l, ALL, each[l]]] : row.flatMap((z, h) => (Number.isNaN(z) ? [] : [[l, h, z]]))));
}

/** Forced spans as a link has them. */
export const inLink = (spans) => spans.map((one) => one.map((part) => String(part).replace(".", "%2E")).join(".")).join(",");

/** Where distances stand on an axis from 0 to 1. @param {"linear" | "log"} kind */
export function axis(kind, span) {
  if (kind === "log") return { at: (x) => Math.log1p(x) / Math.log1p(span), of: (u) => Math.expm1(u * Math.log1p(span)) };
  return { at: (x) => x / span, of: (u) => u * span };
}

/** Distances to write at an axis so long, in pixels, each with room of its own. */
export function ticks(kind, span, pixels, room = 40) {
  const { at } = axis(kind, span);
  const found = [0];
  if (kind === "log") {
    for (let x = 1; x < span; x *= 2) if (pixels * (at(x) - at(found.at(-1))) >= room && pixels * (1 - at(x)) >= room) found.push(x);
  } else {
    const steps = span % 4 === 0 ? [span / 8, span / 4, span / 2].filter(Number.isInteger) : [10, 20, 50, 100, 200, 500, 1000, 2000];
    const step = steps.find((one) => pixels * at(one) >= room) ?? span;
    for (let x = step; x < span && pixels * (1 - at(x)) >= room * 0.8; x += step) found.push(x);
  }
  return [...found, span];
}

/** A round number not below the largest weight, whose quarter reads well too. */
export function ceiling(most) {
  for (let ten = 1e-6; ten <= 1; ten *= 10) for (const one of [1, 2, 4, 8]) if (one * ten >= most) return Math.min(1, Number((one * ten).toPrecision(2)));
  return 1;
}

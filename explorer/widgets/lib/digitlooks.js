// What a pixel could look at, and what a head looked at: patterns are computed here, exact weights fetched some rows at a time.

import { allowed, partsOf, reached, size } from "./digitpattern.js";
import { looksOf as rowsOf } from "./looks.js";

const KEPT = 64; // patterns remembered
const SECOND = new Set(["column", "summary"]); // what is far, A2
const NONE = { mask: null, edges: [], weights: null, most: 0, best: null, count: 0 };

/** @param {() => void} changed called when weights have arrived, or could not be had */
export function looksOf(changed) {
  const rows = rowsOf(changed);
  const masks = new Map(); // of a pixel under a factor -> {mask, outlines, count}

  function patternOf(model, position, roll, factor) {
    const name = `${model.key} ${position} ${roll || factor}`;
    if (!masks.has(name)) {
      if (masks.size > KEPT) masks.clear();
      const of = (part) => allowed(part, model.stride, model.summary, position, model.length);
      const mask = roll ? reached(model, position, roll) : of(factor);
      const outlines = roll ? [{ second: false, mask }] : partsOf(factor).map((part) => ({ second: SECOND.has(part), mask: of(part) }));
      masks.set(name, { mask, outlines, count: size(mask) });
    }
    return masks.get(name);
  }

  function lookOf(model, now, position, fetches, { key, "cat-6": second }) {
    if (position === null || !model.factors) return NONE;
    const [layer, head, roll] = [Math.min(now.layer, model.layers), Math.min(now.head, model.heads), Math.min(now.roll, model.layers)];
    const { mask, outlines, count } = patternOf(model, position, roll, model.factors[layer - 1][head - 1]);
    const edges = outlines.map((one) => ({ mask: one.mask, colour: one.second ? second : key }));
    const source = roll ? { look: model.roll, length: model.length } : model;
    const weights = fetches && source.look ? rows.of(source.look, roll || layer, roll ? 1 : head, position, source.length) : null;
    let [where, most] = [-1, 0];
    for (let p = 0; weights && p <= position; p += 1) {
      if (roll && p === position) continue; // half of each layer stays where it is
      if (weights[p] > most) [where, most] = [p, weights[p]];
    }
    return { mask, edges, weights, most, best: where < 0 ? null : { where, most }, count };
  }

  return {
    /** Of each model; fetches: weights that are not here are asked for. tokens: the theme's colours. */
    of: (models, now, position, fetches, tokens) => models.map((model) => lookOf(model, now, position, fetches, tokens)),
    /** Does a model still wait for weights that can be had? */
    waits: (models, now, found) => found.some((look, i) => (now.roll ? models[i].roll : models[i].look) && !look.weights),
    forget: () => masks.clear(),
    trouble: rows.trouble,
  };
}

// The value of the ponder widget with its numbers at hand: run.h(position, n), steps counted from 1 as in the equations.

import { unpack } from "./arrays.js";
import { shown } from "./maps.js";
import { called } from "./ponderwords.js";

// Between the words of a sentence a space is a space; anywhere else it is made visible.
const label = (text) => (text.trim() ? text.split(" ").map((word) => (word ? shown(word) : "␠")).join(" ") : shown(text));

/** @param {any} value from explorer/figures/ponder.py @param {any} unit {en, zh} what one step is called */
export async function readRun(value, unit) {
  const [remainder, halting, weights, totals, distance] = await Promise.all([value.remainder, value.halting, value.weights, value.totals, value.distance].map(unpack));
  const count = value.positions.length;
  const at = (array) => (p, n) => array.data[(n - 1) * count + p];
  const h = at(halting);
  const run = {
    count,
    steps: value.stopped.length,
    last: value.steps,
    rest: remainder.data,
    reasons: value.reasons,
    threshold: Math.round(value.threshold * 1e6) / 1e6,
    limit: value.limit,
    forced: value.forced,
    labels: value.positions.map(label),
    wanted: value.wanted,
    marks: value.marks,
    stopped: value.stopped,
    expected: value.expected,
    signs: value.signs,
    axis: value.axis,
    unit,
    raw: { remainder, halting, weights, totals, distance },
    farthest: distance.data.reduce((most, each) => Math.max(most, each), 0),
    h,
    p: at(weights),
    far: at(distance),
    /** h_1 + … + h_n as the halting unit gave them, also beyond 1 − ε. */
    sum: (p, n) => {
      let sum = 0;
      for (let i = 1; i <= n; i += 1) sum += h(p, i);
      return sum;
    },
    named: (p) => called(run, p),
    /** What stands at a position: where it waits for a sign of the answer, the sign that it would give after a step. */
    given(p, step) {
      const place = value.signs && value.positions[p] === "_" ? value.wanted.indexOf(p) : -1;
      const said = value.stopped[step - 1].answer;
      if (place < 0 || typeof said !== "string") return run.labels[p];
      const signs = Array.from(said);
      const lead = value.wanted.length - signs.length; // leading zeros of a sum are not said
      return lead > 0 && place < lead ? "0" : shown(signs[place - Math.max(0, lead)] ?? "_");
    },
  };
  return run;
}

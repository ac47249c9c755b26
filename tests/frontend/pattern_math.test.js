import assert from "node:assert/strict";
import {
  connectivity,
  count,
  counted,
  keysOf,
  known,
  LATER,
  ofHeads,
  path,
  reach,
  search,
} from "../../explorer/frontend/pictures/patternmath.js";

const STRIDED = { kind: "strided", l: 3, c: 1 };
const FIXED = { kind: "fixed", l: 3, c: 1 };
const FULL = { kind: "full", l: 3, c: 1 };

Deno.test("the factors of the equations", () => {
  assert.deepEqual(keysOf(STRIDED, "first", 7), [4, 5, 6, 7]);
  assert.deepEqual(keysOf(STRIDED, "second", 7), [1, 4, 7]);
  assert.deepEqual(keysOf(STRIDED, "union", 7), [1, 4, 5, 6, 7]);
  assert.deepEqual(keysOf(FIXED, "first", 7), [6, 7]);
  assert.deepEqual(keysOf(FIXED, "second", 8), [2, 5, 8]);
  assert.deepEqual(keysOf(FIXED, "second", 7), [2, 5]);
  assert.deepEqual(keysOf(FULL, "union", 2), [0, 1, 2]);
});

Deno.test("counting agrees with the keys", () => {
  for (const pattern of [STRIDED, FIXED, FULL]) {
    for (let i = 0; i < 12; i += 1) {
      assert.equal(count(pattern, i), keysOf(pattern, "union", i).length);
    }
  }
  assert.deepEqual(counted(FULL, 4), { pairs: 10, busiest: 4, at: 3 });
});

Deno.test("pairs of both factors", () => {
  const pairs = connectivity(STRIDED, 5);
  assert.equal(pairs[4 * 5 + 4], 3);
  assert.equal(pairs[4 * 5 + 1], 3);
  assert.equal(pairs[4 * 5 + 2], 1);
  assert.equal(pairs[1 * 5 + 4], 0);
});

Deno.test("how a position is reached", () => {
  const { steps, via } = reach(STRIDED, 8);
  assert.deepEqual([steps[8], steps[7], steps[1]], [0, 1, 2]);
  assert.equal(via[1], 7);
  assert.deepEqual(path(STRIDED, 1, 8), [1, 7, 8]);
  assert.deepEqual(path(STRIDED, 8, 8), [8]);
  assert.equal(path(STRIDED, 9, 8), null);
});

Deno.test("a search fills as it turns", () => {
  const { found, turns } = search(STRIDED, 6);
  turns.next();
  assert.equal(found.done, 1);
  for (const _ of turns) { /* to its end */ }
  assert.equal(found.done, 6);
  assert.equal(found.missing, 0);
  assert.equal(found.tally.reduce((a, b) => a + b), 21);
  assert.equal(found.steps[1], LATER);
});

Deno.test("which head has which factor", () => {
  assert.deepEqual(ofHeads(STRIDED, "interleaved", 1, 4), [[4, "second"]]);
  assert.deepEqual(ofHeads(STRIDED, "split", 0, 5), [[2, "first"], [3, "second"]]);
  assert.deepEqual(ofHeads(STRIDED, "merged", 0, 4), [[4, "union"]]);
  assert.deepEqual(known(FULL, "merged", 5, 2, 4), [6, 6]);
  assert.deepEqual(known(STRIDED, "interleaved", 8, 2, 4), [4, 9]);
});

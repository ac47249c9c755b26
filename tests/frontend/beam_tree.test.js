import assert from "node:assert/strict";
import { FATES, tree } from "../../explorer/labs/translation/beamtree.js";

const { kept, finished, passed } = FATES;
// root -> a (kept), b (kept), c (passed); a -> end (finished), d (kept); b -> e (passed)
const it = tree({
  parent: [-1, 0, 0, 0, 1, 1, 2],
  step: [0, 1, 1, 1, 2, 2, 2],
  rank: [0, 0, 1, 2, 0, 1, 2],
  fate: [kept, kept, kept, passed, finished, kept, passed],
  total: [0, -1, -2, -3, -1.5, -4, -5],
  logp: [0, -1, -2, -3, -0.5, -3, -3],
  stop: [],
  beam: 2,
  limit: 10,
});

Deno.test("longer hypotheses are not punished", () => {
  assert.equal(it.score(4, 0), -1.5);
  assert.ok(it.score(4, 1) > -1.5);
  assert.ok(Math.abs(it.score(4, 1) - -1.5 / (7 / 6)) < 1e-12);
});

Deno.test("what became of every node", () => {
  const { what, when } = it.state(2, 0);
  assert.deepEqual(what, ["live", "live", "fell", "fell", "held", "live", "fell"]);
  assert.deepEqual([when[2], when[3]], [2, 1]);
  assert.deepEqual(it.count(2, 0), { all: 4, fell: 2, finished: 1, cut: 0, live: 1 });
  assert.deepEqual(it.path(4), [1, 4]);
});

Deno.test("how the search ends", () => {
  assert.deepEqual(it.held(2, 0), [4]);
  assert.deepEqual(it.outcome(0), { last: 2, ranking: [4] });
  assert.deepEqual(it.greedy([1, 4], 2, 0), { kind: "place", at: 1 });
  assert.deepEqual(it.greedy([3], 2, 0), { kind: "fell", at: 1 });
  assert.deepEqual(it.greedy([5], 2, 0), { kind: "live", at: 2 });
  assert.ok(!it.isCut(4));
});

import assert from "node:assert/strict";
import "./page.js";
import * as reach from "../../explorer/frontend/pictures/reach.js";
import * as tower from "../../explorer/frontend/pictures/tower.js";
import * as glance from "../../explorer/labs/sagan/glance.js";
import * as replay from "../../explorer/labs/sagan/replay.js";
import * as strips from "../../explorer/labs/sagan/strips.js";
import * as weights from "../../explorer/labs/self_similarity/weights.js";

const textOf = (parts) => parts.map((part) => part.text ?? part).join("");

Deno.test("how far a head looks back", () => {
  const run = reach.read({
    models: [{
      key: "a",
      name: "A",
      layers: 1,
      heads: 1,
      edges: [1, 2, 5],
      profiles: { data: Float32Array.of(0.75, 0.25) },
    }],
    segment: 3,
  });
  const look = { model: "a", head: "1.1" };
  assert.match(textOf(reach.sentence(run, look)), /lies within 1 character/);
  const { columns, rows } = reach.table(run, look);
  assert.equal(columns.length, rows[0].length);
  assert.deepEqual(rows[1].slice(0, 2), [2, 4]);
  assert.equal(reach.read({ models: [{}] }), null);
});

Deno.test("from which layer on a guess is right", () => {
  const slices = (rows) => ({ slice: (layer) => rows[layer] });
  const run = tower.read({
    symbols: ["a", "b"],
    given: 0,
    sets: [{
      key: "s",
      name: { en: "S", zh: "S" },
      best: [["x", "b"], ["a", "b"], ["a", "x"]],
      right: [[false, true], [true, true], [true, false]],
      bits: slices([[9, 1], [2, 0.5], [0.25, 8]]),
    }],
    pick: { pos: [0] },
  });
  assert.equal(run.count, 2);
  const sentence = textOf(tower.sentence(run, { pos: [0] }));
  assert.match(sentence, /0\.25|0\.3|layer 2/);
  const table = tower.table(run, { pos: [0] });
  assert.equal(table.rows.length, 2);
  assert.equal(table.columns.length, table.rows[0].length);
  assert.equal(tower.read({ sets: [] }), null);
});

const cells = (at, share) => {
  const row = new Float32Array(64);
  row[at] = share;
  return row;
};
const looks = {
  pick: 9,
  picture: { data: new Uint8Array(1024) },
  sides: [{ key: "generator", gamma: 0.5, weights: { slice: () => cells(10, 0.8) } }],
};

Deno.test("where a cell looks", () => {
  const sentence = textOf(glance.sentence(looks, { pos: 9, hubs: false }));
  assert.match(sentence, /80 % of its attention on row 2, column 3, 1\.0 cells away/);
  const { layout } = glance.figure(looks, { pos: 9, hubs: false }, {
    width: 600,
    tall: 0,
    big: false,
    narrow: false,
  });
  assert.equal(layout.shapes.length, 2);
  assert.deepEqual(glance.bounds(looks), { pos: { count: 64, pick: 9 } });
  const point = glance.pick(looks, { pos: 9 }, { i: [5, 9] });
  assert.deepEqual(point.look, { pos: 10 });
  assert.deepEqual(point.card(), ["row 2, column 3", "generator: 80 %"]);
});

Deno.test("a training is replayed by its steps", () => {
  const run = {
    steps: [0, 100],
    curves: {
      loss_d: [[0, 1], [100, 0.5]],
      loss_g: [[0, 2], [100, 1]],
      gamma_d: [[0, 0], [100, 0.1]],
      gamma_g: [[0, 0], [100, 0.2]],
      distance: [[100, 40]],
    },
  };
  assert.match(textOf(replay.sentence(run, { frame: 1 })), /^Before training/);
  const said = textOf(replay.sentence(run, { frame: 2 }));
  assert.match(said, /After 100 steps: losses 0\.50 and 1\.00.*distance 40\.0\.$/);
  assert.deepEqual(replay.table(run).rows[0].slice(0, 2), [100, "0.5000"]);
  assert.deepEqual(replay.pick(run, {}, { trace: 1, x: 90, y: 0.5 }).look, { frame: 2 });
  assert.equal(replay.pick(run, {}, { trace: 0, x: 0, y: 0 }), null);
});

Deno.test("a strip names its pictures", () => {
  const strip = {
    values: [0, 1],
    labels: ["0", "1"],
    scores: { data: Float32Array.of(-0.5, 0.25) },
    here: 1,
    field: "gamma",
  };
  const run = { strips: { gamma: strip }, seed: 1, other: 2 };
  const look = { strip: "gamma", at: 1 };
  assert.equal(strips.bounds(run, look).at.pick, 1);
  assert.match(strips.sentence(run, look)[0], /^With 1 γ the logit is 0\.25;/);
  const point = strips.pick(run, look, { trace: 0, i: [0, 3] });
  assert.deepEqual([point.look, point.set], [{ at: 0 }, { gamma: 0 }]);
});

Deno.test("weights of a search window add up", () => {
  const [rows, columns] = [12, 12];
  const data = Float32Array.from({ length: rows * columns }, (_, i) => (i % columns) / columns);
  const picture = { data, rows, columns };
  const total = (all) => all.reduce((a, b) => a + b, 0);
  const equal = weights.means(picture, [6, 6], { h: 0.1, sigma: 0 });
  assert.ok(Math.abs(total(equal) - 1) < 1e-9);
  const middle = (weights.SIDE ** 2) >> 1;
  assert.ok(equal[middle + weights.SIDE] > 10 * equal[middle + 2]); // along the column all is alike
  assert.ok(Math.abs(total(weights.dots(picture, [6, 6], { h: 1, bias: true })) - 1) < 1e-9);
  assert.equal(weights.neighbours(picture, [0, 0], 1).length, 4);
  assert.ok(Math.abs(weights.effective(new Float64Array(4).fill(0.25)) - 4) < 1e-9);
});

import assert from "node:assert/strict";
import "./page.js";
import { boardOf, inView, tickOf, ticksOf, walkerAt } from "../../explorer/labs/gtrxl/board.js";
import * as gates from "../../explorer/labs/gtrxl/gates.js";

Deno.test("numbers along an axis stand apart", () => {
  assert.deepEqual([tickOf(10), tickOf(40), tickOf(100), tickOf(9999)], [1, 2, 5, 50]);
  assert.deepEqual(ticksOf(3), [0, 1, 2, 3]);
  assert.ok(inView(4, 5) && !inView(4, 6));
});

Deno.test("lamps in the fog are hidden", () => {
  const corridor = { length: 4, above: "A...", below: "..B." };
  const how = { x: 0, font: 12, width: 800 };
  const lamps = (more) => boardOf(corridor, { ...how, ...more }).data[1];
  assert.deepEqual(lamps({}).text, ["A", "B"]);
  assert.deepEqual(lamps({}).marker.opacity, [1, 0.45]);
  assert.deepEqual(lamps({ hidden: true }).text, ["A"]);
  const { data: [cells], shapes: [view], annotations } = boardOf(corridor, how);
  assert.deepEqual(cells.z.map((row) => row[1]), [2.5, 3.5, 2.5]);
  assert.deepEqual([view.x0, view.x1], [-1.5, 1.5]);
  assert.equal(annotations.length, 2);
  assert.deepEqual(walkerAt(3, 0, 9, "red").x, [3]);
});

const units = [[[0.25, 0.75], [0.5, 0.5]], [[0, 0.5], [1, 1]]];
const run = gates.read({
  places: ["1a", "2a"],
  steps: 2,
  gates: {
    shape: [1, 2, 2, 2],
    data: [],
    slice: (layer, at, step) => units[2 * layer + at][step],
  },
  names: ["gate one", "gate two"],
  place: [0, 1],
  born: 0.1,
  forced: ["2a"],
  scale: [[0, "#000000"], [1, "#ffffff"]],
  length: 4,
});

Deno.test("a gate is the mean of its units", () => {
  assert.deepEqual(run.mean, [[0.5, 0.5], [0.25, 1]]);
  assert.equal(gates.read({ places: [] }), null);
  const look = { gate: "2a", step: 2 };
  const text = gates.sentence(run, look).map((part) => part.text).join("");
  assert.match(text, /^At step 2 \(cell 1\) the gate of gate two opens to z = 1\.00/);
  assert.match(text, /It is forced\.$/);
  assert.deepEqual(gates.table(run, look).rows, [[1, 0, 0.5, 0.25], [2, 1, 0.5, 1]]);
  assert.deepEqual(gates.bounds(run).step, { steps: 2, first: 1 });
});

Deno.test("a point on a gate selects it", () => {
  const point = gates.pick(run, { gate: "1a", step: 1 }, { trace: 0, i: [1, 0] });
  assert.deepEqual(point.look, { gate: "2a", step: 1 });
  assert.deepEqual(point.card(), ["gate two, step 1", "mean z 0.25"]);
  const unit = gates.pick(run, { gate: "1a", step: 1 }, { trace: 1, i: [1, 0] });
  assert.deepEqual(unit.card(), ["gate one, step 1", "unit 2: z 0.75"]);
  const { data } = gates.figure(run, { gate: "1a", step: 1 }, { big: false, narrow: false });
  assert.deepEqual(data[1].z, [[0.25, 0.5], [0.75, 0.5]]);
});

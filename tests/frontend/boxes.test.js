import assert from "node:assert/strict";
import "./page.js";
import * as boxes from "../../explorer/labs/detection/boxes.js";

Deno.test("how much two boxes share", () => {
  const unit = [0.5, 0.5, 1, 1];
  assert.deepEqual(boxes.cornersOf(unit), [0, 0, 1, 1]);
  assert.deepEqual(boxes.compared(unit, unit), { iou: 1, giou: 1 });
  const { iou, giou } = boxes.compared([0.25, 0.5, 0.5, 1], [0.5, 0.5, 0.5, 1]);
  assert.ok(Math.abs(iou - 1 / 3) < 1e-12 && Math.abs(giou - 1 / 3) < 1e-12);
  assert.equal(boxes.compared([0.1, 0.1, 0.2, 0.2], [0.9, 0.9, 0.2, 0.2]).iou, 0);
  assert.ok(boxes.compared([0.1, 0.1, 0.2, 0.2], [0.9, 0.9, 0.2, 0.2]).giou < -0.9);
  assert.equal(boxes.compared([0, 0, 0, 0], [0, 0, 0, 0]).iou, 0);
});

Deno.test("a repeated answer is found", () => {
  const box = [0.5, 0.5, 0.4, 0.4];
  const answers = [
    { query: 0, kind: 1, score: 0.6, box },
    { query: 1, kind: 1, score: 0.9, box },
    { query: 2, kind: 0, score: 0.7, box },
  ];
  assert.deepEqual([...boxes.repeated(answers)], [0]);
});

Deno.test("the cheapest matching", () => {
  assert.deepEqual(boxes.matchRows([[1, 2], [1, 5]]), [1, 0]);
  assert.deepEqual(boxes.matchRows([[4, 1, 3], [2, 0, 5], [3, 2, 2]]), [1, 0, 2]);
  assert.deepEqual(boxes.matchRows([[3, 1]]), [1]);
  assert.deepEqual(boxes.matchRows([]), []);
});

const run = {
  queries: 2,
  chances: { slice: (_, query) => [[0.7, 0.1, 0.2], [0.1, 0.2, 0.7]][query] },
  found: { slice: (_, query) => [[0.5, 0.5, 1, 1], [0.2, 0.2, 0.1, 0.1]][query] },
};

Deno.test("answers of each query", () => {
  const [first, second] = boxes.answersOf(run, 1);
  assert.deepEqual([first.kind, first.score, first.none], [0, 0.7, 0.2]);
  assert.equal(second.kind, 1);
  assert.deepEqual(boxes.standing(run, { after: 1, sure: 0.5 }).sureOnes.length, 1);
  const [terms] = boxes.termsOf(run, 1, 0, [0.5, 0.5, 1, 1]);
  assert.deepEqual(terms, [-0.7, 0, -2]);
});

Deno.test("outlines are in pixels", () => {
  const shape = boxes.outline([0.5, 0.5, 0.5, 0.5], {});
  assert.deepEqual([shape.x0, shape.x1, shape.y0, shape.y1], [24, 72, 24, 72]);
  const [x, y] = boxes.bare(5, [[0, 1], [0, 1]], "");
  assert.deepEqual([x.range, y.range], [[0, 5], [5, 0]]);
  assert.equal(boxes.colourOf(13), "var(--cat-4)");
});

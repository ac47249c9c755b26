import assert from "node:assert/strict";
import { passFrames, waitingFrames } from "./page.js";
import { inTurn } from "../../explorer/frontend/lib/paint_queue.js";

Deno.test("one paint however often it is asked", () => {
  let count = 0;
  const paint = () => (count += 1);
  inTurn(paint);
  inTurn(paint);
  assert.equal(waitingFrames(), 1);
  assert.equal(count, 0);
  passFrames();
  assert.equal(count, 1);
  assert.equal(waitingFrames(), 0);
});

Deno.test("the one acted on comes first, alone", () => {
  const order = [];
  const [other, own] = [() => order.push("other"), () => order.push("own")];
  inTurn(other);
  inTurn(own, true);
  passFrames();
  assert.deepEqual(order, ["own"]);
  assert.equal(waitingFrames(), 1);
});

Deno.test("others come when nobody acts", async () => {
  const order = [];
  inTurn(() => order.push("late"));
  passFrames();
  assert.deepEqual(order, []);
  await new Promise((done) => setTimeout(done, 80));
  passFrames();
  assert.ok(order.includes("late"));
});

Deno.test("a paint that fails stops no other", async () => {
  await new Promise((done) => setTimeout(done, 80));
  let painted = false;
  inTurn(() => {
    throw new Error("broken");
  });
  inTurn(() => (painted = true));
  assert.throws(passFrames, /broken/);
  passFrames();
  assert.ok(painted);
});

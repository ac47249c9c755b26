import assert from "node:assert/strict";
import { filed, opened, unpack, upTo } from "../../explorer/frontend/lib/arrays.js";

const packed = (dtype, array, shape, more = {}) => ({
  dtype,
  shape,
  data: btoa(String.fromCharCode(...new Uint8Array(array.buffer))),
  ...more,
});

Deno.test("bytes become numbers by their scale", async () => {
  const array = await unpack(packed("u1", Uint8Array.of(0, 51, 255), [3], { scale: 1 / 255 }));
  assert.deepEqual([...array.data].map((value) => value.toFixed(2)), ["0.00", "0.20", "1.00"]);
  assert.deepEqual([...(await unpack(packed("i4", Int32Array.of(-2, 7), [2]))).data], [-2, 7]);
  assert.deepEqual([...(await unpack(packed("f4", Float32Array.of(0.5), [1]))).data], [0.5]);
});

Deno.test("a slice is a view", async () => {
  const array = await unpack(packed("u2", Uint16Array.from(upTo(24)), [2, 3, 4]));
  assert.deepEqual([...array.slice(1, 2)], [20, 21, 22, 23]);
  assert.equal(array.slice(1).length, 12);
  array.slice(0, 0)[0] = 9;
  assert.equal(array.data[0], 9);
});

Deno.test("arrays inside a value are opened", async () => {
  const inner = packed("u1", Uint8Array.of(4), [1]);
  const value = await opened({ a: [{ b: inner }], text: "x", list: [1, 2], none: null });
  assert.equal(value.a[0].b.data[0], 4);
  assert.deepEqual([value.text, value.list, value.none], ["x", [1, 2], null]);
  assert.equal(await opened(value.a[0].b), value.a[0].b);
});

Deno.test("an array from an address that is gone", async () => {
  const before = globalThis.fetch;
  globalThis.fetch = () => Promise.resolve(new Response("", { status: 404 }));
  await assert.rejects(unpack({ dtype: "u1", shape: [1], url: "/arrays/x" }), /arrays\/x: 404/);
  globalThis.fetch = before;
});

Deno.test("what a file holds says its axes", () => {
  assert.deepEqual(filed([1, 2], "query", "weight"), {
    shape: [2],
    data: [1, 2],
    axes: ["query"],
    unit: "weight",
  });
  assert.deepEqual(upTo(3, (i) => 2 * i), [0, 2, 4]);
});

import assert from "node:assert/strict";
import { passFrames } from "./page.js";
import {
  bringRowsBy,
  byCharacter,
  looksOf,
  rowsAt,
} from "../../explorer/frontend/lib/exact_rows.js";
import { exactRows } from "../../explorer/frontend/pictures/attentionrows.js";

const settle = () => new Promise((done) => setTimeout(done));

Deno.test("rows have an address", () => {
  assert.equal(rowsAt("/rows/x", 2, 3, 8, 4), "/rows/x/1/2/8/4");
  assert.equal(rowsAt("/rows/x?of=b", 1, 1, 0, 4), "/rows/x/0/0/0/4?of=b");
});

Deno.test("rows are fetched as blocks", async () => {
  const asked = [];
  let changes = 0;
  bringRowsBy((address) => {
    asked.push(address);
    return Promise.resolve(Uint16Array.of(0, 65535, 13107, 0).buffer);
  });
  const looks = looksOf(() => (changes += 1), null, 2);
  assert.equal(looks.of("/r", 1, 1, 1, 4), null);
  await settle();
  passFrames();
  assert.deepEqual([...looks.of("/r", 1, 1, 1, 4)].map((w) => w.toFixed(1)), ["0.2", "0.0"]);
  assert.deepEqual([...looks.of("/r", 1, 1, 0, 4)], [0, 1]);
  assert.deepEqual(asked, ["/r/0/0/0/2"]);
  assert.equal(changes, 1);
  assert.equal(looks.all("/r", 1, 1, 4), null);
  await looks.gather("/r", 1, 1, 4);
  passFrames();
  assert.equal(looks.all("/r", 1, 1, 4).length, 8);
  assert.equal(looks.of("/r", 1, 1, 9, 4), null);
});

Deno.test("a saved page holds what was seen", async () => {
  bringRowsBy(() => Promise.resolve(Uint16Array.of(65535, 0).buffer));
  const live = looksOf(() => {});
  live.block("/r/0/0/0/1");
  await settle();
  passFrames();
  const saved = looksOf(() => {}, live.held());
  assert.deepEqual([...saved.block("/r/0/0/0/1")], [65535, 0]);
  assert.equal(saved.trouble(), "");
});

Deno.test("what a position gives by character", () => {
  const arrays = byCharacter(Float32Array.of(0.5, 0.25, 0.25), 2);
  assert.deepEqual([...arrays.weights.data], [0.25, 0]);
  assert.deepEqual([...arrays.weight_of_start.data], [0.5]);
  assert.deepEqual([...arrays.weights_of_another_text.data], [0.25]);
});

Deno.test("a causal row has no future", async () => {
  bringRowsBy(() => Promise.resolve(Uint16Array.of(65535, 65535, 0, 65535).buffer));
  const rows = exactRows(() => {});
  const it = {
    queriesOf: () => [0, 1],
    kind: { look: "/r", mask: "causal" },
    all: { keys: ["a", "b"] },
  };
  assert.equal(rows.of(it, 1, 1, 0), null);
  await settle();
  passFrames();
  const { first, count, at } = rows.of(it, 1, 1, 0);
  assert.deepEqual([first, count], [0, 2]);
  assert.ok(Number.isNaN(at(0, 1)));
  assert.deepEqual([at(0, 0), at(1, 0), at(1, 1)], [1, 0, 1]);
});

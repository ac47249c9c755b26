import assert from "node:assert/strict";
import "./page.js";
import {
  arraysOf,
  exactLines,
  linesOf,
  tableOf,
} from "../../explorer/frontend/pictures/attentionfiles.js";

const map = { rows: 2, columns: 2, data: Float32Array.of(0.75, 0.25, 1, Number.NaN) };
const it = {
  blocks: false,
  map: () => map,
  kind: { label: "self", pooled: [1, 1], axis: "layer" },
  shown: (text) => text,
  key: (j) => "ab"[j],
  keyAt: (j) => j,
  keyNumber: (j) => j,
  query: (i) => "xy"[i],
  queryAt: (i) => i,
  rows: 2,
  columns: 2,
  all: { keys: ["a", "b"], queries: ["x", "y"] },
};
const blocks = {
  ...it,
  blocks: true,
  kind: { label: "self", pooled: [4, 4], axis: "layer" },
  pooling: () => "pooled 4×",
  queryAt: (i) => `${4 * i}–${4 * i + 3}`,
  keyAt: (j) => `${4 * j}–${4 * j + 3}`,
  array: { data: Float32Array.of(0.5), shape: [1, 1, 1, 1] },
};

Deno.test("the table of a map names its words", () => {
  const table = tableOf({ it, name: "1.1", rows: [1] }, { title: "head" });
  assert.deepEqual(table.columns, ["", "a·0", "b·1"]);
  assert.deepEqual(table.rows, [["x·0", "0.750", "0.250"], ["y·1", "1.000", "–"]]);
  assert.equal(table.here, 1);
  assert.match(table.caption, /^self, head/);
});

Deno.test("a line for each cell", () => {
  const { columns, rows } = linesOf({ it, key: "cross", name: "1.1" });
  assert.equal(columns.length, rows[0].length);
  assert.deepEqual(rows[1], ["cross", "1.1", 0, "x", 1, "b", 0.25]);
  const pooled = linesOf({ it: blocks, key: "cross", name: "1.1" });
  assert.match(pooled.columns.at(-1), /pooled 4×/);
  assert.equal(pooled.rows.length, 3);
  assert.deepEqual(pooled.rows[0].slice(2), ["0–3", "0–3", 0.75]);
});

Deno.test("exact rows stand beside their keys", () => {
  const exact = { first: 4, count: 1, at: (_, k) => k / 3 };
  const named = { ...it, all: { keys: ["a", "b"], queries: ["", "", "", "", "w"] } };
  const { columns, rows } = exactLines({ it: named }, { exact });
  assert.deepEqual(columns, ["key_index", "key", "weight from query 4 w"]);
  assert.deepEqual(rows, [[0, "a", 0], [1, "b", 0.333333]]);
  assert.equal(exactLines({ it }, { exact: null }), null);
});

Deno.test("every head leaves as an array", () => {
  const array = { data: Float32Array.of(1), shape: [1, 1, 1, 1] };
  const kinds = new Map([["cross", {
    ...it,
    array,
    kind: { axis: "layer", queries: ["x"], keys: ["a"], taken: [2] },
    columns: 1,
  }]]);
  const files = arraysOf({ it, key: "cross", name: "1.1" }, { run: { kinds }, exact: null });
  assert.deepEqual(files.cross_weights.axes, ["layer", "head", "query", "key"]);
  assert.deepEqual(files.cross_queries, ["x"]);
  assert.deepEqual([...files.cross_taken.data], [2]);
  assert.deepEqual(files.shown.shape, [2, 2]);
  assert.equal(files.shown_name, "cross 1.1");
  const exact = { first: 4, count: 1, at: () => Number.NaN };
  const pooled = arraysOf({ it: blocks, key: "cross", name: "1.1" }, { run: null, exact });
  assert.deepEqual([...pooled.all_heads_255_pooled_4x.data], [128]);
  assert.deepEqual([...pooled.exact_rows.data], [0, 0]);
  assert.deepEqual(pooled.exact_rows_query_index.data, [4]);
});

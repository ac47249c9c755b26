// What leaves the page of an attention: tables and arrays with the names of their rows and columns and what their
// numbers are.

import { upTo } from "../widgets/lib/arrays.js";
import { t } from "../widgets/lib/lang.js";
import { TEXT } from "./attentionwords.js";

const PLAIN = "weight: the share of its attention that a query (row) gives a key (column), 0 to 1";
const BLOCKS = "weight: the mean over the queries of a block of the sum over its keys, 0 to 1";
const AXES = ["layer", "head", "query", "key"];
const rounded = (w, digits) => (Number.isNaN(w) ? w : Number(w.toPrecision(digits)));

/** "pooled 8×", "pooled 4× by 1×": files keep English names. */
const pooling = ({ kind }) =>
  `pooled ${kind.pooled[0] === kind.pooled[1] ? kind.pooled[0] : kind.pooled.join("× by ")}×`;

/** The accessible twin: a row for each query, a column for each key. */
export function tableOf({ it, name, rows }, { title }) {
  const map = it.map(name);
  const called = (text, at) => (it.blocks ? at : `${it.shown(text)}·${at}`);
  const caption = [t(TEXT.caption, { kind: t(it.kind.label), name: title }), it.blocks &&
    `${it.pooling()}, ${t(TEXT.meanOfSums)}`].filter(Boolean).join("; ");
  const cells = (i) => Array.from(map.data.subarray(i * map.columns, (i + 1) * map.columns),
    (w) => (Number.isNaN(w) ? "–" : w.toFixed(3)));
  return {
    caption,
    columns: ["", ...Array.from({ length: map.columns }, (_, j) => called(it.key(j), it.keyAt(j)))],
    rows: upTo(map.rows, (i) => [called(it.query(i), it.queryAt(i)), ...cells(i)]),
    here: rows[0] ?? null,
  };
}

/** A line for each cell of the map in view. */
export function linesOf({ it, key, name }) {
  const map = it.map(name);
  const all = Array.from(map.data, (w, n) => [w, Math.floor(n / map.columns), n % map.columns]);
  if (!it.blocks) return { columns: ["kind", "head", "query_index", "query", "key_index", "key", "weight"],
    rows: all.map(([w, i, j]) => [key, name, i, it.query(i), it.keyNumber(j), it.key(j), rounded(w, 6)]) };
  return {
    columns: ["kind", "head", "queries", "keys", `weight ${pooling(it)}: mean over queries of the sum over keys`],
    rows: all.filter(([w]) => !Number.isNaN(w))
      .map(([w, i, j]) => [key, name, it.queryAt(i), it.keyAt(j), Number(w.toFixed(4))]),
  };
}

/**
 * A line for each key, a column for each exact row of the chosen block; null while no block is chosen under one head.
 */
export function exactLines({ it }, { exact }) {
  if (!exact) return null;
  const rows = upTo(exact.count, (r) => r);
  return {
    columns: ["key_index", "key",
      ...rows.map((r) => `weight from query ${exact.first + r} ${it.all.queries[exact.first + r]}`)],
    rows: it.all.keys.map((name, k) => [it.keyNumber(k), name, ...rows.map((r) => rounded(exact.at(r, k), 6))]),
  };
}

const whole = (list, of = (one) => one) => Int32Array.from(list, of);

/** Every head of every kind of the run, and the map in view. */
export function arraysOf({ it, key, name }, { run, exact }) {
  if (it.blocks) return blocks(it, key, name, exact);
  const files = {};
  for (const [kind, one] of run.kinds) {
    files[`${kind}_weights`] = { shape: one.array.shape, data: one.array.data, axes: [one.kind.axis, ...AXES.slice(1)],
      unit: PLAIN };
    files[`${kind}_queries`] = Array.from(one.kind.queries);
    files[`${kind}_keys`] = Array.from(one.kind.keys);
    files[`${kind}_key_index`] = { shape: [one.columns],
      data: whole({ length: one.columns }, (_, j) => one.keyNumber(j)) };
    if (one.kind.taken)
      files[`${kind}_taken`] = { shape: [one.rows], data: Float32Array.from(one.kind.taken), axes: ["query"],
      unit: "steps that it takes" };
  }
  const map = it.map(name);
  return { ...files, shown: { shape: [map.rows, map.columns], data: Float32Array.from(map.data), axes: AXES.slice(2),
      unit: PLAIN }, shown_name: `${key} ${name}` };
}

/**
 * The map in view by blocks, and the exact rows of the chosen one; every head in whole steps of 1/255, as the browser
 * has it.
 */
function blocks(it, key, name, exact) {
  const by = pooling(it).replace("×", "x").replaceAll(/\W+/g, "_");
  const [map, n] = [it.map(name), it.all.keys.length];
  const count = (size, of) => upTo(size, (at) => of(at));
  const rows = exact && { shape: [exact.count, n],
    data: Float32Array.from({ length: exact.count * n }, (_, at) => exact.at(Math.floor(at / n), at % n) || 0),
    axes: ["query", "key"], unit: PLAIN };
  return {
    [`shown_${by}`]: { shape: [map.rows, map.columns], data: Float32Array.from(map.data), axes: ["queries", "keys"],
      unit: BLOCKS },
    [`all_heads_255_${by}`]: { shape: it.array.shape, data: Uint8Array.from(it.array.data, (w) => Math.round(255 * w)),
      axes: [it.kind.axis, "head", "queries", "keys"], unit: `${BLOCKS}, times 255` },
    [`queries_${by}`]: count(it.rows, it.queryAt),
    [`keys_${by}`]: count(it.columns, it.keyAt),
    queries: Array.from(it.all.queries),
    keys: Array.from(it.all.keys),
    key_index: { shape: [n], data: whole({ length: n }, (_, k) => it.keyNumber(k)) },
    shown_name: `${key} ${name}, ${pooling(it)}: mean over queries of the sum over keys`,
    ...(exact ? { exact_rows: rows, exact_rows_query_index: { shape: [exact.count],
          data: whole({ length: exact.count }, (_, r) => exact.first + r) } } : {}),
  };
}

// What leaves the page of an attention: tables and arrays with the names of their rows and columns
// and what their numbers are.

import { filed, upTo } from "../lib/arrays.js";
import { t } from "../lib/lang.js";
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
  const caption = [
    t(TEXT.caption, { kind: t(it.kind.label), name: title }),
    it.blocks &&
    `${it.pooling()}, ${t(TEXT.meanOfSums)}`,
  ].filter(Boolean).join("; ");
  const cells = (i) =>
    Array.from(
      map.data.subarray(i * map.columns, (i + 1) * map.columns),
      (w) => (Number.isNaN(w) ? "–" : w.toFixed(3)),
    );
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
  if (!it.blocks) {
    return {
      columns: ["kind", "head", "query_index", "query", "key_index", "key", "weight"],
      rows: all.map((
        [w, i, j],
      ) => [key, name, i, it.query(i), it.keyNumber(j), it.key(j), rounded(w, 6)]),
    };
  }
  return {
    columns: [
      "kind",
      "head",
      "queries",
      "keys",
      `weight ${pooling(it)}: mean over queries of the sum over keys`,
    ],
    rows: all.filter(([w]) => !Number.isNaN(w))
      .map(([w, i, j]) => [key, name, it.queryAt(i), it.keyAt(j), Number(w.toFixed(4))]),
  };
}

/**
 * A line for each key, a column for each exact row of the chosen block; null while no block is
 * chosen under one head.
 */
export function exactLines({ it }, { exact }) {
  if (!exact) return null;
  const rows = upTo(exact.count, (r) => r);
  return {
    columns: [
      "key_index",
      "key",
      ...rows.map((r) => `weight from query ${exact.first + r} ${it.all.queries[exact.first + r]}`),
    ],
    rows: it.all.keys.map((
      name,
      k,
    ) => [it.keyNumber(k), name, ...rows.map((r) => rounded(exact.at(r, k), 6))]),
  };
}

/** The map in view, and whose it is. */
const shownOf = (map, axes, unit) =>
  filed(Float32Array.from(map.data), axes, unit, [map.rows, map.columns]);

/** Every head of every kind of the run, and the map in view. */
export function arraysOf({ it, key, name }, { run, exact }) {
  if (it.blocks) return blocks(it, key, name, exact);
  const files = [...run.kinds].flatMap((
    [kind, { array, kind: { axis, queries, keys, taken }, ...one }],
  ) =>
    Object.entries({
      weights: filed(array.data, [axis, ...AXES.slice(1)], PLAIN, array.shape),
      queries,
      keys,
      key_index: { shape: [one.columns], data: upTo(one.columns, one.keyNumber) },
      ...(taken ? { taken: filed(Float32Array.from(taken), "query", "steps that it takes") } : {}),
    }).map(([what, each]) => [`${kind}_${what}`, each])
  );
  return {
    ...Object.fromEntries(files),
    shown: shownOf(it.map(name), AXES.slice(2), PLAIN),
    shown_name: `${key} ${name}`,
  };
}

/**
 * The map in view by blocks, and the exact rows of the chosen one; every head in whole steps of
 * 1/255, as the browser has it.
 */
function blocks(it, key, name, exact) {
  const by = pooling(it).replace("×", "x").replaceAll(/\W+/g, "_");
  const [{ queries, keys }, { data, shape }] = [it.all, it.array];
  const n = keys.length;
  const rows = exact &&
    {
      exact_rows: filed(
        Float32Array.from(
          { length: exact.count * n },
          (_, at) => exact.at(Math.floor(at / n), at % n) || 0,
        ),
        ["query", "key"],
        PLAIN,
        [exact.count, n],
      ),
      exact_rows_query_index: {
        shape: [exact.count],
        data: upTo(exact.count, (r) => exact.first + r),
      },
    };
  return {
    [`shown_${by}`]: shownOf(it.map(name), ["queries", "keys"], BLOCKS),
    [`all_heads_255_${by}`]: filed(
      Uint8Array.from(data, (w) => Math.round(255 * w)),
      [it.kind.axis, "head", "queries", "keys"],
      `${BLOCKS}, times 255`,
      shape,
    ),
    [`queries_${by}`]: upTo(it.rows, it.queryAt),
    [`keys_${by}`]: upTo(it.columns, it.keyAt),
    queries,
    keys,
    key_index: { shape: [n], data: upTo(n, it.keyNumber) },
    shown_name: `${key} ${name}, ${pooling(it)}: mean over queries of the sum over keys`,
    ...rows,
  };
}

// The difference of two maps of weights of one shape, the left one minus the right one, and beside
// each row how much of it both share. The value is made by components/compare.js of what both sides
// draw.

import { upTo } from "../lib/arrays.js";
import { parts, t } from "../lib/lang.js";
import { number, plus, shown } from "../lib/signs.js";

export const TEXT = {
  question: { en: "Where do the two differ?", zh: "两者在哪里不同？" },
  units: {
    en: "left minus right, {low} … {high}; beside it Σ min(α, α′) of each row",
    zh: "左减右，{low} … {high}；旁边是各行的 Σ min(α, α′)",
  },
  board: {
    en: "{title}. Up and down move through rows, Escape resets.",
    zh: "{title}。上下键换行，Esc 复位。",
  },
  alike: { en: "The two are alike to two decimals.", zh: "两者在两位小数内相同。" },
  says: {
    en: "The rows share {mean} of their weight on average",
    zh: "各行平均共有 {mean} 的权重",
  },
  ends: {
    en: ", most at {a}, {most}, and least at {b}, {least}",
    zh: "，最多的是 {a}，{most}，最少的是 {b}，{least}",
  },
  same: {
    en: ". In row {q} both give most to {k}: {left} and {right}.",
    zh: "。在行 {q} 中两边都最看重 {k}：{left} 与 {right}。",
  },
  other: {
    en: ". In row {q} the left one gives most to {k}, {left}, the right one to {l}, {right}.",
    zh: "。在行 {q} 中，左边最看重 {k}，{left}；右边最看重 {l}，{right}。",
  },
  end: { en: ".", zh: "。" },
  columns: {
    en: "row|share of both|left: most to|weight|right: most to|weight",
    zh: "行|两边共有|左：最看重|权重|右：最看重|权重",
  },
};
const LABEL = 92; // px of the names of rows
const BARS = 0.24; // of the width, for what rows share
const finite = (x) => (Number.isFinite(x) ? x : 0);

export function read({ left, right, row }) {
  const { rows, columns, queries, keys } = left;
  const difference = Float32Array.from(left.data, (w, i) => w - right.data[i]);
  const rowOf = (side, i) => Array.from(side.data.subarray(i * columns, (i + 1) * columns), finite);
  const shares = upTo(rows, (i) => {
    const other = rowOf(right, i);
    return rowOf(left, i).reduce((sum, w, j) => sum + Math.min(w, other[j]), 0);
  });
  const most = difference.reduce((high, x) => Math.max(high, Math.abs(finite(x))), 0);
  const best = (side, i) => rowOf(side, i).reduce((at, w, j, row) => (w > row[at] ? j : at), 0);
  const pairs = (names, others) =>
    names.map((
      name,
      i,
    ) => (name === others[i] ? shown(name) : `${shown(name)} | ${shown(others[i])}`));
  return {
    left,
    right,
    row,
    rows,
    columns,
    difference,
    shares,
    best,
    most,
    limit: Math.max(0.05, Math.ceil(most * 20) / 20),
    queries: pairs(queries, right.queries),
    keys: pairs(keys, right.keys),
  };
}

export function scene(run, look, pen) {
  const size = pen.big ? 20 : 12;
  const label = Math.min(pen.width * 0.28, pen.big ? 180 : LABEL);
  const wide = pen.width * (1 - BARS) - label;
  const each = Math.max(
    2,
    Math.min(pen.tall ? (pen.tall - size * 2) / run.rows : 24, pen.big ? 48 : 24, 480 / run.rows),
  );
  const box = { x0: label, x1: label + wide, y0: 1.6 * size, y1: 1.6 * size + each * run.rows };
  pen.cells(box, {
    data: run.difference,
    rows: run.rows,
    columns: run.columns,
    scale: "signed",
    low: -run.limit,
    high: run.limit,
    radius: 4,
  });
  pen.rect(box, { line: "line", radius: 4 });
  const column = wide / run.columns;
  if (column > 3 * size) {
    run.keys.forEach((key, j) =>
      pen.text(label + (j + 0.5) * column, 0.7 * size, key, {
        size,
        align: "center",
        room: column - 4,
        colour: "ink2",
      })
    );
  }
  const bars = { x0: box.x1 + 10, x1: pen.width - 3.2 * size };
  for (let i = 0; i < run.rows; i += 1) {
    const [y0, y1] = [box.y0 + i * each, box.y0 + (i + 1) * each];
    const here = i === look.drow;
    if (each >= size) {
      pen.text(label - 6, (y0 + y1) / 2, run.queries[i], {
        size,
        align: "right",
        room: label - 8,
        colour: here ? "query" : "ink",
      });
      pen.text(
        bars.x0 + (bars.x1 - bars.x0) * Math.min(1, run.shares[i]) + 4,
        (y0 + y1) / 2,
        number(run.shares[i]),
        { size },
      );
    }
    pen.rect({
      x0: bars.x0,
      x1: bars.x0 + (bars.x1 - bars.x0) * Math.min(1, run.shares[i]),
      y0: y0 + each * 0.2,
      y1: y1 - each * 0.2,
    }, { fill: here ? "query" : "accent" });
    if (here) pen.rect({ ...box, y0, y1 }, { line: "query", width: 2 });
    pen.hit({
      x0: 0,
      x1: pen.width,
      y0,
      y1,
      look: { drow: i },
      card: () => [run.queries[i], number(run.shares[i])],
    });
  }
  pen.size(pen.width, box.y1 + 4);
}

const name = (run, i) => ({ text: `“${run.queries[i]}” (${i})`, role: "query" });
const key = (run, j) => ({ text: `“${run.keys[j]}” (${j})`, role: "key" });

export function sentence(run, { drow }) {
  if (number(run.most) === "0.00") return [t(TEXT.alike)];
  const mean = run.shares.reduce((a, b) => a + b, 0) / run.rows;
  const [a, b] = [Math.max, Math.min].map((end) => run.shares.indexOf(end(...run.shares)));
  const [most, least] = [a, b].map((i) => number(run.shares[i]));
  const said = [
    ...parts(TEXT.says, { mean: number(mean) }),
    ...(most === least ? [] : parts(TEXT.ends, { a: name(run, a), most, b: name(run, b), least })),
  ];
  if (drow === null) return [...said, ...parts(TEXT.end, {})];
  const [j, l] = [run.best(run.left, drow), run.best(run.right, drow)];
  const [left, right] = [
    run.left.data[drow * run.columns + j],
    run.right.data[drow * run.columns + l],
  ]
    .map((w) => number(finite(w)));
  return [
    ...said,
    ...parts(j === l ? TEXT.same : TEXT.other, {
      q: name(run, drow),
      k: key(run, j),
      l: key(run, l),
      left,
      right,
    }),
  ];
}

export const looks = { drow: "position" };
export const across = "drow";
export const units = (run) => t(TEXT.units, { low: number(-run.limit), high: plus(run.limit) });
export const bounds = (run) => ({ drow: { count: run.rows, pick: run.row } });

export function table(run, { drow }) {
  const of = (
    side,
    i,
  ) => [
    shown(side.keys[run.best(side, i)]),
    number(finite(side.data[i * run.columns + run.best(side, i)])),
  ];
  return {
    caption: t(TEXT.question),
    columns: t(TEXT.columns).split("|"),
    here: drow,
    rows: run.queries.map((
      query,
      i,
    ) => [`${query}·${i}`, number(run.shares[i]), ...of(run.left, i), ...of(run.right, i)]),
  };
}

export const arrays = (run) =>
  Object.fromEntries(
    ["left", "right", "difference"].map((
      side,
    ) => [side, {
      shape: [run.rows, run.columns],
      data: run[side].data ?? run[side],
      axes: ["query", "key"],
      unit: "weight",
    }]),
  );

// The rank of each key for each query, one line a key: parallel where one ranking serves all
// queries, crossing where each query has its own. Beside it the weights: key i is the right one of
// query i. The value is made by explorer/labs/graph_attention/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import {
  headChoice,
  headName,
  lockFrame,
  namedAxis,
  partTitle,
  weightScale,
} from "../../frontend/lib/sheet.js";
import { number, weight } from "../../frontend/lib/signs.js";

export const TEXT = {
  board: {
    en: "{title}. Left and right choose a query, up and down a head.",
    zh: "{title}。左右键选择查询，上下键选择头。",
  },
  head: { en: "head", zh: "头" },
  query: { en: "query", zh: "查询" },
  rank: { en: "rank of each key", zh: "每个键的名次" },
  weights: { en: "α: query by key, the right key framed", zh: "α：查询 × 键，正确的键加框" },
  cell: {
    en: "{query} gives {key} rank {rank}: e {e}, α {w}",
    zh: "{query} 把 {key} 排在第 {rank} 名：e {e}，α {w}",
  },
  answer: { en: "answer {said}, right is {label}", zh: "回答 {said}，正确为 {label}" },
  alike: {
    en: "In head {head} all {n} queries rank the keys alike, {key} first. ",
    zh: "在头 {head} 中，{n} 个查询对键的排序全都相同，{key} 居首。",
  },
  differ: {
    en: "In head {head}, {n} queries make {many} different rankings. ",
    zh: "在头 {head} 中，{n} 个查询有 {many} 种不同的排序。",
  },
  hits: {
    en: "The right key comes first for {hits} of {n}. ",
    zh: "{n} 个中有 {hits} 个把正确的键排在第一。",
  },
  row: {
    en: "{query} gives the right key {key} rank {rank} and α {w}; the network answers {said}{end}.",
    zh: "{query} 把正确的键 {key} 排在第 {rank} 名，α 为 {w}；网络回答 {said}{end}。",
  },
  right: { en: ", which is right", zh: "，正确" },
  wrong: { en: ", not {label}", zh: "，而不是 {label}" },
  all: {
    en: "With all heads, {n} of {of} answers are right.",
    zh: "所有头合起来，{of} 个答案中 {n} 个正确。",
  },
  caption: { en: "Ranks of the keys in head {head}", zh: "头 {head} 中各键的名次" },
};

export const looks = { model: "choice", head: "choice", row: "position" };
export const across = "head";
export const along = "row";
export const hovers = true;

/** The rank of each key for each query, from 1: [query][key]. */
const ranksOf = (scores) =>
  scores.map((row) => row.map((e) => 1 + row.filter((other) => other > e).length));

export const read = (value) => value.scores ? { ...value, ranks: value.scores.map(ranksOf) } : null;
export const bounds = (run) => ({
  model: { names: ["dictionary"] },
  head: { names: run.heads },
  row: { count: run.queries.length, pick: null },
});
export const choices = (run) => [headChoice(t(TEXT.head), run.heads)];
const headAt = (run, look) => run.heads.indexOf(look.head);

export function figure(run, look, pen) {
  const head = headAt(run, look);
  const [size, n] = [pen.big ? 20 : 12, run.queries.length];
  const at = look.over?.row ?? look.row;
  const ranks = run.ranks[head];
  const data = upTo(n, (key) => ({
    type: "scatter",
    mode: "lines+markers",
    x: upTo(n),
    y: ranks.map((row) => row[key]),
    customdata: upTo(n, (query) => [query, key]),
    line: {
      width: key === at ? 4 : 1.5,
      color: key === at ? "var(--key)" : `var(--cat-${(key % 10) + 1})`,
    },
    marker: { size: key === at ? 9 : 5 },
    opacity: at === null || key === at ? 1 : 0.35,
  }));
  const [z, colorscale] = [run.weights[head], weightScale()];
  const second = { xaxis: "x2", yaxis: "y2" };
  data.push({ type: "heatmap", z, zmin: 0, zmax: 1, colorscale, showscale: false, ...second }, {
    type: "scatter",
    mode: "markers",
    x: upTo(n),
    y: upTo(n),
    customdata: upTo(n, (query) => [query, query]),
    marker: {
      symbol: "square-open",
      size: pen.narrow ? 12 : pen.big ? 24 : 15,
      color: "var(--out)",
      line: { width: 2 },
    },
    ...second,
  });
  const [across, down] = pen.narrow
    ? [[[0, 1], [0, 1]], [[0.56, 1], [0, 0.42]]]
    : [[[0, 0.47], [0.54, 1]], [[0, 1], [0, 1]]];
  const [named, cells] = [(names) => namedAxis(names, size, pen.big ? 2 : 1), [-0.5, n - 0.5]];
  const layout = {
    height: pen.narrow ? 860 : 400,
    margin: { l: pen.big ? 60 : 36, r: 12, t: 28, b: pen.big ? 90 : 52 },
    showlegend: false,
    xaxis: { domain: across[0], anchor: "y", ...named(run.queries), range: [-0.6, n - 0.4] },
    yaxis: { domain: down[0], anchor: "x", ...named(upTo(n + 1)), range: [n + 0.6, 0.4] },
    xaxis2: { domain: across[1], anchor: "y2", ...named(run.keys), tickangle: -60, range: cells },
    yaxis2: { domain: down[1], anchor: "x2", ...named(run.queries), range: cells.toReversed() },
    annotations: [TEXT.rank, TEXT.weights].map((text, i) =>
      partTitle(t(text), across[i][0], down[i][1], size)
    ),
    shapes: at === null ? [] : [
      lockFrame("2", ...cells, at - 0.5, at + 0.5),
      lockFrame("", at - 0.4, at + 0.4, 0.5, n + 0.5),
    ],
  };
  return { data, layout };
}

export function pick(run, look, { i, customdata }) {
  const [query, key] = Array.isArray(i) ? i : customdata;
  const head = headAt(run, look);
  const card = () => [
    t(TEXT.cell, {
      query: run.queries[query],
      key: run.keys[key],
      rank: run.ranks[head][query][key],
      e: number(run.scores[head][query][key]),
      w: weight(run.weights[head][query][key]),
    }),
    t(TEXT.answer, { said: run.answers[query], label: run.labels[query] }),
  ];
  return { look: { row: query }, card };
}

export function sentence(run, look, over) {
  const ranks = run.ranks[headAt(run, look)];
  const n = ranks.length;
  const many = new Set(ranks.map(String)).size;
  const first = run.keys[ranks[0].indexOf(1)];
  const told = { head: headName(look.head), n, many, key: first };
  const hits = ranks.filter((row, at) => row[at] === 1).length;
  const out = [t(many === 1 ? TEXT.alike : TEXT.differ, told), t(TEXT.hits, { n, hits })];
  const at = over?.row ?? look.row;
  if (at === null) {
    const right = run.answers.filter((said, query) => said === run.labels[query]).length;
    return [...out, t(TEXT.all, { n: right, of: n })];
  }
  const [query, key, said, label] = [run.queries, run.keys, run.answers, run.labels]
    .map((each) => each[at]);
  const end = said === label ? t(TEXT.right) : t(TEXT.wrong, { label });
  const w = weight(run.weights[headAt(run, look)][at][at]);
  return [...out, t(TEXT.row, { query, key, rank: ranks[at][at], w, said, end })];
}

export const table = (run, look) => ({
  caption: t(TEXT.caption, { head: headName(look.head) }),
  columns: [t(TEXT.query), ...run.keys],
  rows: run.queries.map((query, at) => [query, ...run.ranks[headAt(run, look)][at]]),
  here: look.row,
});

export const arrays = (run) => {
  const shape = [run.heads.length, run.queries.length, run.keys.length];
  const numbers = (name, unit) => filed(run[name].flat(2), ["head", "query", "key"], unit, shape);
  const { queries, keys } = run;
  return { scores: numbers("scores", "e"), weights: numbers("weights", "α"), queries, keys };
};

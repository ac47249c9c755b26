// How the queries agree: what each says after every layer of the decoder, and what it sees of the
// others in between. The value is made by explorer/labs/detection/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { headOf, headsOf } from "../../frontend/lib/selection.js";
import { ramp } from "../../frontend/lib/pen.js";
import { answersOf, colourOf, nameOf, repeated, runOf } from "./boxes.js";

export const TEXT = {
  question: { en: "How do the queries agree who answers?", zh: "各个查询怎样商定由谁回答？" },
  board: {
    en: "{title}. Left and right choose a query, up and down a head, Escape resets.",
    zh: "{title}。左右键选择查询，上下键选择头，Esc 复位。",
  },
  query: { en: "query {n}", zh: "查询 {n}" },
  after: { en: "after layer {n}", zh: "第 {n} 层后" },
  sees: { en: "Attention among queries, head {head}", zh: "查询之间的注意力，头 {head}" },
  says: { en: "What each query says", zh: "每个查询的回答" },
  looks: { en: "who looks", zh: "谁在看" },
  seen: { en: "at whom", zh: "看谁" },
  head: { en: "head {head}", zh: "头 {head}" },
  heads: { en: "head in view", zh: "查看的头" },
  none: { en: "∅", zh: "∅" },
  card: { en: "Query {n} after layer {after}", zh: "第 {after} 层后的查询 {n}" },
  best: { en: "{name} {p}, ∅ {none}", zh: "{name} {p}，∅ {none}" },
  twice: { en: "repeats a surer query's object", zh: "重复了更确定的查询的物体" },
  pair: { en: "Query {a} looks at query {b}", zh: "查询 {a} 看查询 {b}" },
  weight: { en: "weight {p} in head {head}", zh: "在头 {head} 中的权重 {p}" },
  count: {
    en:
      "After layer {after}, {n} of {of} queries answer with 0.50 or more; {twice} of them {twice|repeats|repeat} an object that a surer query has.",
    zh:
      "第 {after} 层后，{of} 个查询中有 {n} 个以不低于 0.50 的概率作答；其中 {twice} 个重复了更确定的查询已有的物体。",
  },
  off: {
    en: " The queries do not see each other in this run: their attention is switched off.",
    zh: "这次运行中查询互相看不见：它们之间的注意力已关闭。",
  },
  mate: {
    en: " In head {head}, {who} looks most at {whom} ({p}).",
    zh: "在头 {head} 中，{who}最多地看{whom}（{p}）。",
  },
  itself: { en: "itself", zh: "自己" },
  bright: { en: "yellow: sure of a class; dark: ∅", zh: "黄色：确定是某一类；深色：∅" },
  dup: { en: "repeated", zh: "重复" },
  caption: { en: "The answer of each query after each layer", zh: "每个查询在每层之后的回答" },
  q: { en: "query", zh: "查询" },
  class: { en: "class after layer {n}", zh: "第 {n} 层后的类别" },
  chance: { en: "probability after layer {n}", zh: "第 {n} 层后的概率" },
};
const SURE = 0.5;

export const looks = { kind: "choice", query: "position", head: "head" };
export const along = "query";
export const across = "head";
export const read = (value) => {
  const run = runOf(value);
  return run?.among ? run : null;
};
export const bounds = (run) => ({
  kind: { names: ["cross", "encoder", "queries"] },
  query: { count: run.queries, pick: run.pick.query },
  head: { layers: run.layers, heads: 4, pick: run.pick.head },
});

const twiceAfter = (run, after) =>
  repeated(answersOf(run, after).filter(({ score }) => score >= SURE));
const queryAxis = (run, more) => ({
  tickvals: upTo(run.queries),
  ticktext: upTo(run.queries, String),
  showgrid: false,
  zeroline: false,
  fixedrange: true,
  ...more,
});

export function figure(run, look, pen) {
  const size = pen.big ? 20 : 12;
  const [layer, head] = headOf(look.head);
  const lanes = upTo(run.layers, (n) => answersOf(run, n + 1));
  const text = upTo(run.queries, (query) =>
    lanes.map((lane) => {
      const { kind, score } = lane[query];
      return score >= 0.05 ? `${nameOf(run, kind)} ${score.toFixed(2)}` : t(TEXT.none);
    }));
  const among = upTo(
    run.queries,
    (row) => [...run.among.slice(layer - 1, head - 1, row)],
  );
  const shared = {
    type: "heatmap",
    colorscale: run.scale,
    showscale: false,
    zmin: 0,
    xgap: 1,
    ygap: 1,
  };
  const middle = pen.narrow ? 1 : 0.46;
  const [low, high] = pen.narrow ? [[0, 0.44], [0.56, 1]] : [[0, 1], [0, 1]];
  const shapes = [];
  lanes.forEach((_, n) =>
    twiceAfter(run, n + 1).forEach((query) =>
      shapes.push({
        type: "rect",
        ...{ x0: n - 0.5, x1: n + 0.5, y0: query - 0.5, y1: query + 0.5 },
        line: { color: "var(--bad)", width: 3 },
      })
    )
  );
  if (look.query !== null) {
    const line = { color: "var(--query)", width: 3 };
    const rows = { type: "rect", y0: look.query - 0.5, y1: look.query + 0.5, line };
    shapes.push({ ...rows, x0: -0.5, x1: run.layers - 0.5 });
    shapes.push({ ...rows, x0: -0.5, x1: run.queries - 0.5, xref: "x2", yref: "y2" });
  }
  const title = (said, x, y) => ({
    text: said,
    x,
    y,
    xref: "paper",
    yref: "paper",
    xanchor: "left",
    yanchor: "bottom",
    showarrow: false,
    font: { size, color: "var(--ink2)" },
  });
  return {
    data: [
      {
        ...shared,
        z: upTo(run.queries, (query) => lanes.map((lane) => lane[query].score)),
        zmax: 1,
        text,
        texttemplate: "%{text}",
        textfont: { size },
      },
      {
        type: "scatter",
        mode: "markers",
        x: upTo(run.queries, () => -0.62),
        y: upTo(run.queries),
        marker: { size: 9, symbol: "square", color: upTo(run.queries, colourOf) },
        cliponaxis: false,
      },
      { ...shared, z: among, zmax: Math.max(...among.flat()), xaxis: "x2", yaxis: "y2" },
    ],
    layout: {
      height: pen.narrow ? 760 : 400,
      margin: { l: 40, r: 8, t: 28, b: 44 },
      shapes,
      showlegend: false,
      annotations: [
        title(t(TEXT.says), 0, high[1]),
        title(
          t(TEXT.sees, { head: look.head.replace(".", "·") }),
          pen.narrow ? 0 : middle + 0.13,
          pen.narrow ? low[1] : 1,
        ),
      ],
      xaxis: {
        domain: [0.01, middle],
        range: [-0.7, run.layers - 0.5],
        tickvals: upTo(run.layers),
        ticktext: upTo(run.layers, (n) => t(TEXT.after, { n: n + 1 })),
        showgrid: false,
        zeroline: false,
        fixedrange: true,
      },
      yaxis: queryAxis(run, {
        domain: high,
        range: [run.queries - 0.5, -0.5],
        title: { text: t(TEXT.q) },
      }),
      xaxis2: queryAxis(run, {
        domain: pen.narrow ? [0.01, 1] : [middle + 0.13, 1],
        anchor: "y2",
        title: { text: t(TEXT.seen) },
      }),
      yaxis2: queryAxis(run, {
        domain: low,
        anchor: "x2",
        range: [run.queries - 0.5, -0.5],
        title: { text: t(TEXT.looks) },
      }),
    },
  };
}

export function pick(run, look, { trace, i, y }) {
  const head = look.head.replace(".", "·");
  if (trace === 2) {
    const [a, b] = i;
    const p = run.among.slice(...headOf(look.head).map((one) => one - 1), a)[b].toFixed(3);
    return {
      look: { query: a, kind: "queries" },
      card: () => [t(TEXT.pair, { a, b }), t(TEXT.weight, { p, head })],
    };
  }
  const [query, n] = trace === 0 ? i : [y, run.layers - 1];
  const { kind, score, none } = answersOf(run, n + 1)[query];
  const best = { name: nameOf(run, kind), p: score.toFixed(3), none: none.toFixed(3) };
  const twice = twiceAfter(run, n + 1).has(query) ? [t(TEXT.twice)] : [];
  return {
    look: { query },
    card: () => [t(TEXT.card, { n: query, after: n + 1 }), t(TEXT.best, best), ...twice],
  };
}

export function sentence(run, look) {
  const last = answersOf(run, run.layers).filter(({ score }) => score >= SURE);
  const out = parts(TEXT.count, {
    after: run.layers,
    n: last.length,
    of: run.queries,
    twice: repeated(last).size,
  });
  if (!run.agree) return [...out, ...parts(TEXT.off, {})];
  if (look.query === null) return out;
  const row = [...run.among.slice(...headOf(look.head).map((one) => one - 1), look.query)];
  const most = Math.max(...row);
  const whom = row.indexOf(most);
  return [
    ...out,
    ...parts(TEXT.mate, {
      head: look.head.replace(".", "·"),
      who: { text: t(TEXT.query, { n: look.query }), role: "query" },
      whom: {
        text: whom === look.query ? t(TEXT.itself) : t(TEXT.query, { n: whom }),
        role: "key",
      },
      p: most.toFixed(2),
    }),
  ];
}

export const legend = () => [
  { text: t(TEXT.bright), mark: ramp("weights", 60) },
  { text: t(TEXT.dup), mark: { line: "bad" } },
];

export const choices = (run) => [{
  key: "head",
  label: t(TEXT.heads),
  options: headsOf(run.layers, 4).map((one) => ({
    value: one.join("."),
    label: t(TEXT.head, { head: one.join("·") }),
  })),
}];

export function table(run, look) {
  const lanes = upTo(run.layers, (n) => answersOf(run, n + 1));
  return {
    caption: t(TEXT.caption),
    columns: [
      t(TEXT.q),
      ...lanes.flatMap((_, n) => [t(TEXT.class, { n: n + 1 }), t(TEXT.chance, { n: n + 1 })]),
    ],
    rows: upTo(run.queries, (query) => [
      query,
      ...lanes.flatMap((lane) => [nameOf(run, lane[query].kind), lane[query].score.toFixed(4)]),
    ]),
    here: look.query,
  };
}

export const arrays = (run) => ({
  classes: filed(run.chances.data, ["layer", "query", "class"], "probability", run.chances.shape),
  among: filed(run.among.data, ["layer", "head", "query", "key"], "weight", run.among.shape),
});

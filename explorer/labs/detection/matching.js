// The matching board: what each query costs for each object that was placed, and the assignment of
// least cost; an object is moved and all of it follows. The value is made by
// explorer/labs/detection/views.py.

import { upTo } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { ramp } from "../../frontend/lib/pen.js";
import {
  bare,
  colourOf,
  imageOn,
  matchRows,
  nameOf,
  outline,
  runOf,
  SIDE,
  termsOf,
} from "./boxes.js";

export const TEXT = {
  question: { en: "Which query owns which object?", zh: "哪个查询负责哪个物体？" },
  board: {
    en:
      "{title}. Left and right choose a query, up and down an object, Shift with left and right a layer, Escape resets.",
    zh: "{title}。左右键选择查询，上下键选择物体，Shift 加左右键选择层，Esc 复位。",
  },
  empty: {
    en: "No object was placed here: nothing is to be matched.",
    zh: "这里没有放置物体：无须匹配。",
  },
  object: { en: "{n} · {name}", zh: "{n} · {name}" },
  whole: { en: "Object {n} ({name})", zh: "物体 {n}（{name}）" },
  after: { en: "boxes after layer", zh: "框取自第几层之后" },
  right: { en: "moved right by", zh: "向右移" },
  down: { en: "moved down by", zh: "向下移" },
  px: { en: "{n} px", zh: "{n} 像素" },
  of: { en: "object", zh: "物体" },
  query: { en: "query", zh: "查询" },
  cost: { en: "cost", zh: "代价" },
  costs: { en: "Cost of each query for each object", zh: "每个查询对每个物体的代价" },
  terms: { en: "Terms of the cost for {name}", zh: "对{name}的各项代价" },
  class: { en: "−p of the class", zh: "−p（类别概率）" },
  distance: { en: "5 · L1 distance", zh: "5 · L1 距离" },
  overlap: { en: "−2 · GIoU", zh: "−2 · GIoU" },
  card: { en: "Query {q} for {name}", zh: "查询 {q} 对{name}" },
  sum: { en: "{a} + {b} + {c} = {sum}", zh: "{a} + {b} + {c} = {sum}" },
  drop: { en: "click: move {name} here", zh: "点击：把{name}移到这里" },
  says: {
    en:
      "{name} goes to {who}: {a} for its class, {b} for the distance, {c} for the overlap, {sum} together.",
    zh: "{name}归{who}：类别 {a}，距离 {b}，重叠 {c}，合计 {sum}。",
  },
  cheaper: {
    en: " {other} would cost {less} and is taken by {owner}: the sum over all objects is least.",
    zh: "{other}只需 {less}，但已归{owner}：所有物体的总代价最小。",
  },
  moved: { en: " Before the move it was {was}.", zh: "移动之前是{was}。" },
  named: { en: "query {n}", zh: "查询 {n}" },
  all: { en: " All objects together cost {total}.", zh: "所有物体合计 {total}。" },
  bright: { en: "yellow: cheap; outlined: the assignment", zh: "黄色：代价低；描边：分配结果" },
  truth: { en: "the box of the object", zh: "物体的框" },
  found: { en: "the box of its query", zh: "所归查询的框" },
  caption: { en: "Cost of each query for each object", zh: "每个查询对每个物体的代价" },
};
const TERMS = ["class", "distance", "overlap"];
const TINTS = ["var(--cat-1)", "var(--cat-2)", "var(--cat-3)"];
const FIELD = 24; // places on a side where an object can be dropped
const signed = (value) => value.toFixed(2).replace("-", "−");

export const looks = {
  object: "position",
  query: "position",
  after: "step",
  right: "number",
  down: "number",
};
export const along = "query";
export const across = "object";
export const aside = "after";
export const read = (value) => {
  const run = runOf(value);
  return run?.boxes ? run : null;
};
export const bounds = (run) => ({
  object: { count: Math.max(1, run.boxes.length), pick: 0 },
  query: { count: run.queries, pick: run.pick.query },
  after: { steps: run.layers },
  right: { least: -SIDE, most: SIDE, pick: 0, whole: true },
  down: { least: -SIDE, most: SIDE, pick: 0, whole: true },
});

/** The board: boxes as they lie now, terms[object][query], cost, and the query of each object. */
function boardOf(run, look, isMoved = true) {
  const at = look.object ?? 0;
  const boxes = run.boxes.map(([x, y, w, h], n) =>
    n === at && isMoved ? [x + look.right / SIDE, y + look.down / SIDE, w, h] : [x, y, w, h]
  );
  const terms = boxes.map((box, n) => termsOf(run, look.after, run.placed[n], box));
  const cost = terms.map((row) => row.map((each) => each.reduce((a, b) => a + b)));
  return { at, boxes, terms, cost, owner: matchRows(cost) };
}
const named = (run, n) => ({ n: n + 1, name: nameOf(run, run.placed[n]) });
const objectName = (run, n) => t(TEXT.object, named(run, n));
const fullName = (run, n) => t(TEXT.whole, named(run, n));

export function figure(run, look, pen) {
  if (!run.boxes.length) {
    const text = {
      text: t(TEXT.empty),
      x: 0.5,
      y: 0.5,
      xref: "paper",
      yref: "paper",
      showarrow: false,
    };
    const [xaxis, yaxis] = bare(SIDE, [[0, 1], [0, 1]], "");
    return { data: [], layout: { height: 120, annotations: [text], xaxis, yaxis } };
  }
  const { at, boxes, terms, cost, owner } = boardOf(run, look);
  const size = pen.big ? 20 : 12;
  const shapes = boxes.flatMap((box, n) => [
    outline(box, { color: "#ffffff", width: n === at ? 4 : 2, dash: "dot" }),
    ...(owner[n] < 0 ? [] : [outline(
      [...run.found.slice(look.after - 1, owner[n])],
      { color: colourOf(owner[n]), width: n === at ? 4 : 2 },
    )]),
  ]);
  owner.forEach((query, n) =>
    shapes.push({
      type: "rect",
      xref: "x2",
      yref: "y2",
      ...{ x0: query - 0.5, x1: query + 0.5, y0: n - 0.5, y1: n + 0.5 },
      line: { color: n === at ? "var(--query)" : "var(--bad)", width: n === at ? 4 : 2.5 },
    })
  );
  const height = pen.narrow ? 860 : pen.tall || 440;
  const [left, right, top, bottom] = [8, 8, 26, 44];
  const side = pen.narrow
    ? Math.min(pen.width - left - right, 360)
    : Math.min(0.42 * pen.width, height - top - bottom);
  const [inner, tall] = [pen.width - left - right, height - top - bottom];
  const names = upTo(boxes.length, (n) => objectName(run, n));
  const label = pen.big ? 150 : 96; // px of the names of objects
  const across_ = pen.narrow ? [label / inner, 1] : [(side + label + 12) / inner, 1];
  const down_ = pen.narrow ? 1 - (side + 46) / tall : 1;
  const split = down_ * 0.48;
  const fits = (inner * (1 - across_[0])) / run.queries > 3.2 * size; // a number into its cell
  const title = (text, y) => ({
    text,
    x: across_[0],
    y,
    xref: "paper",
    yref: "paper",
    xanchor: "left",
    yanchor: "bottom",
    showarrow: false,
    font: { size, color: "var(--ink2)" },
  });
  const ticks = {
    tickvals: upTo(run.queries),
    ticktext: upTo(run.queries, String),
    range: [-0.5, run.queries - 0.5],
    showgrid: false,
    zeroline: false,
    fixedrange: true,
  };
  const [xaxis, yaxis] = bare(SIDE, [[0, side / inner], [Math.max(0, 1 - side / tall), 1]], "");
  const step = SIDE / FIELD;
  const flat = { z: upTo(FIELD, () => upTo(FIELD, () => 0)), x0: step / 2, dx: step };
  return {
    data: [
      { type: "heatmap", ...flat, y0: step / 2, dy: step, opacity: 0, showscale: false },
      {
        type: "heatmap",
        z: cost.map((row) => row.map((value) => -value)),
        text: cost.map((row) => row.map((value) => signed(value))),
        texttemplate: fits ? "%{text}" : "",
        textfont: { size },
        colorscale: run.scale,
        showscale: false,
        xgap: 1,
        ygap: 1,
        xaxis: "x2",
        yaxis: "y2",
      },
      ...TERMS.map((name, term) => ({
        type: "bar",
        name: t(TEXT[name]),
        x: upTo(run.queries),
        y: terms[at].map((each) => each[term]),
        marker: { color: TINTS[term] },
        xaxis: "x3",
        yaxis: "y3",
      })),
      {
        type: "scatter",
        mode: "markers",
        x: upTo(run.queries),
        y: cost[at],
        marker: { size: 9, symbol: "diamond", color: "var(--ink)" },
        xaxis: "x3",
        yaxis: "y3",
      },
    ],
    layout: {
      height,
      margin: { l: left, r: right, t: top, b: bottom, pad: 0 },
      images: [imageOn(run)],
      shapes,
      barmode: "relative",
      showlegend: false,
      annotations: [
        title(t(TEXT.costs), down_),
        title(t(TEXT.terms, { name: names[at] }), split - 0.06),
      ],
      xaxis,
      yaxis,
      xaxis2: { ...ticks, domain: across_, anchor: "y2" },
      yaxis2: {
        domain: [split + 0.1 * down_, down_],
        anchor: "x2",
        range: [boxes.length - 0.5, -0.5],
        tickvals: upTo(boxes.length),
        ticktext: names,
        showgrid: false,
        zeroline: false,
        fixedrange: true,
      },
      xaxis3: { ...ticks, domain: across_, anchor: "y3", title: { text: t(TEXT.query) } },
      yaxis3: {
        domain: [0, split - 0.07],
        anchor: "x3",
        title: { text: t(TEXT.cost) },
        zeroline: true,
        fixedrange: true,
      },
    },
  };
}

export function pick(run, look, { trace, i, x }) {
  const { at, terms, cost } = boardOf(run, look);
  if (trace === 0) {
    const [x0, y0] = run.boxes[at].map((value) => value * SIDE);
    const [row, column] = i.map((value) => (value + 0.5) * (SIDE / FIELD));
    return {
      look: { right: Math.round(column - x0), down: Math.round(row - y0) },
      quiet: true,
      card: () => [t(TEXT.drop, { name: fullName(run, at) })],
    };
  }
  const [object, query] = trace === 1 ? i : [at, x];
  const [a, b, c] = terms[object][query].map(signed);
  const card = () => [
    t(TEXT.card, { q: query, name: fullName(run, object) }),
    ...TERMS.map((name, term) => `${t(TEXT[name])} ${[a, b, c][term]}`),
    t(TEXT.sum, { a, b, c, sum: signed(cost[object][query]) }),
  ];
  // another object has not been moved
  return { look: object === at ? { query } : { object, query, right: 0, down: 0 }, card };
}

export function sentence(run, look) {
  if (!run.boxes.length) return [t(TEXT.empty)];
  const { at, terms, cost, owner } = boardOf(run, look);
  const query = owner[at];
  if (query < 0) return [];
  const who = (n) => t(TEXT.named, { n });
  const [a, b, c] = terms[at][query].map(signed);
  const out = parts(TEXT.says, {
    name: { text: fullName(run, at), role: "key" },
    who: { text: who(query), role: "query" },
    ...{ a, b, c, sum: signed(cost[at][query]) },
  });
  const best = cost[at].indexOf(Math.min(...cost[at]));
  if (best !== query) {
    out.push(...parts(TEXT.cheaper, {
      other: who(best),
      less: signed(cost[at][best]),
      owner: fullName(run, owner.indexOf(best)),
    }));
  }
  const was = boardOf(run, look, false).owner[at];
  if (was !== query) out.push(...parts(TEXT.moved, { was: who(was) }));
  const total = owner.reduce((sum, one, n) => sum + (one < 0 ? 0 : cost[n][one]), 0);
  return [...out, ...parts(TEXT.all, { total: signed(total) })];
}

export const legend = () => [
  { text: t(TEXT.bright), mark: ramp("weights", 60) },
  ...TERMS.map((name, term) => ({
    text: t(TEXT[name]),
    mark: { fill: TINTS[term].slice(6, -1) },
  })),
];

export const choices = (run) =>
  run.boxes.length
    ? [
      {
        key: "object",
        label: t(TEXT.of),
        options: run.boxes.map((_, n) => ({ value: n, label: objectName(run, n) })),
      },
      {
        key: "after",
        label: t(TEXT.after),
        shown: true,
        options: upTo(run.layers, (n) => ({ value: n + 1, label: String(n + 1) })),
      },
      ...["right", "down"].map((key) => ({
        key,
        label: t(TEXT[key]),
        step: 1,
        say: (value) => t(TEXT.px, { n: value }),
      })),
    ]
    : [];

export function table(run, look) {
  const { cost, owner } = boardOf(run, look);
  return {
    caption: t(TEXT.caption),
    columns: [t(TEXT.query), ...cost.map((_, n) => `${t(TEXT.cost)}, ${objectName(run, n)}`)],
    rows: upTo(run.queries, (query) => [
      query,
      ...cost.map((row, n) => `${signed(row[query])}${owner[n] === query ? " *" : ""}`),
    ]),
    here: look.query,
  };
}

// A graph, and the attention of the node in question: edges as wide as α, and beside them,
// neighbour by neighbour, the score, its softmax, and what the neighbour adds to the answer. The
// value is made by explorer/labs/graph_attention/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { offers } from "../../frontend/lib/dom.js";
import { t } from "../../frontend/lib/lang.js";
import {
  BARE,
  headChoice,
  headName,
  lockFrame,
  namedAxis,
  partTitle,
  weightScale,
} from "../../frontend/lib/sheet.js";
import { flipped } from "../../frontend/lib/selection.js";
import { number, percent, rounded } from "../../frontend/lib/signs.js";

export const TEXT = {
  board: {
    en: "{title}. Left and right choose a neighbour, up and down a head; a click on a node moves " +
      "there, Shift and click cuts its edge.",
    zh: "{title}。左右键选择邻居，上下键选择头；点击节点就走到那里，shift-点击切断它的边。",
  },
  head: { en: "head", zh: "头" },
  score: { en: "score e", zh: "得分 e" },
  weight: { en: "softmax α", zh: "softmax α" },
  vote: { en: "α · value for {name}", zh: "α · {name}的值" },
  heads: { en: "α of all heads", zh: "所有头的 α" },
  chance: { en: "probability of each class", zh: "各类别的概率" },
  paper: { en: "paper {id}", zh: "论文 {id}" },
  numbered: { en: "node {id}", zh: "节点 {id}" },
  itself: { en: "{name} (itself)", zh: "{name}（自己）" },
  said: { en: "network: {name}", zh: "网络：{name}" },
  own: { en: "colour: {name}", zh: "颜色：{name}" },
  row: { en: "head {head}: e {e}, α {w}", zh: "头 {head}：e {e}，α {w}" },
  far: { en: "distance {n}", zh: "距离 {n}" },
  beyond: { en: "distance above 6, or none", zh: "距离大于 6 或不连通" },
  votes: { en: "adds {v} to {name}", zh: "给“{name}”加 {v}" },
  does: {
    en: "click: move there · shift-click: cut or join",
    zh: "点击：走到那里 · shift-点击：切断或接上",
  },
  cut: { en: "Cut the edge to {name}", zh: "切断通往{name}的边" },
  mend: { en: "Join {name} again", zh: "重新接上{name}" },
  go: { en: "Move to {name}", zh: "走到{name}" },
  attends: {
    en:
      "In head {head} {name} attends to {n} {n|node|nodes}, most to {key}, {w}; uniform would be " +
      "{u}. ",
    zh: "在头 {head} 中，{name}关注 {n} 个节点，最多的是{key}，{w}；均匀则为 {u}。",
  },
  locked: { en: "With the score {e}, {key} gets {w}. ", zh: "{key}的得分为 {e}，得到 {w}。" },
  entropy: {
    en: "The entropy of α is {h} of its maximum.",
    zh: "α 的熵是最大值的 {h}。",
  },
  answer: { en: " The answer is {name}, {p}{right}.", zh: "答案是{name}，{p}{right}。" },
  right: { en: ", and right", zh: "，正确" },
  wrong: { en: ", but {name} is right", zh: "，但正确的是{name}" },
  caption: { en: "Attention of {name} in head {head}", zh: "{name}在头 {head} 中的注意力" },
  key: { en: "attends to", zh: "关注的节点" },
  query: { en: "node", zh: "节点" },
};
const MOST_NAMES = 40; // nodes up to which each has its name, and edges up to which each has its α
const WIDTHS = 8; // of edges: as many lines of one width
const TALL = 1.7; // how much higher the map of all heads is than one row of bars
const HUES = [1, 2, 3, 6, 7, 5, 8]; // of classes, by the number of the token

export const looks = { model: "choice", head: "choice", pos: "position" };
export const across = "head";
export const hovers = true;
export const read = (value) => (value.keys ? value : null);
export const bounds = (run) => ({
  model: { names: [run.task] },
  head: { names: run.heads, pick: run.heads.at(run.task === "cora" ? -1 : 0) },
  pos: { count: run.keys.length, pick: null },
});
export const choices = (run) => [headChoice(t(TEXT.head), run.heads)];

const headAt = (run, look) => run.heads.indexOf(look.head);
const inView = (look) => look.over?.pos ?? look.pos;
const hue = (at) => (at < 0 ? "var(--control)" : `var(--cat-${HUES[at % HUES.length]})`);
function named(run, node) {
  const id = run.names[node];
  return /^\d+$/.test(id) ? t(run.task === "cora" ? TEXT.paper : TEXT.numbered, { id }) : id;
}
function keyed(run, key) {
  const name = named(run, run.keys[key]);
  return run.keys[key] === run.focus ? t(TEXT.itself, { name }) : name;
}
/**
 * What each key adds to the answer; only the head of a last layer that gives the classes says it.
 */
const votesOf = (run, head) =>
  run.votes.length && head === run.heads.length - 1
    ? run.votes.map((each, key) => each[run.answers[run.focus]] * run.weights[head][key])
    : null;
const joins = (run, node) =>
  run.pairs.some((pair) => pair.includes(node) && pair.includes(run.focus));
const cuts = (run, node) => ({ cut: flipped(run.cut, run.ids[node]).join(",") });
const moves = (run, node) => ({ [run.field]: String(run.ids[node]), cut: "", join: "0" });
/** Is a weight worth a line? A Transformer gives every node some. */
const reads = (run, weights, key) =>
  run.keys[key] !== run.focus && (!run.distances.length || weights[key] > 1 / run.keys.length);

/** Lines between pairs of nodes, as one trace. */
const segments = (run, pairs, line) => ({
  type: "scatter",
  mode: "lines",
  x: pairs.flatMap(([a, b]) => [run.x[a], run.x[b], null]),
  y: pairs.flatMap(([a, b]) => [run.y[a], run.y[b], null]),
  line,
});

/** The graph as traces: edges, α as their width, nodes. */
function nodesAndEdges(run, look, size) {
  const weights = run.weights[headAt(run, look)];
  const few = run.names.length <= MOST_NAMES;
  const drawn = upTo(run.keys.length).filter((key) => reads(run, weights, key));
  const widths = weights.map((w) => Math.ceil((WIDTHS * w) / Math.max(...weights)));
  const edges = upTo(WIDTHS, (at) => {
    const pairs = drawn.filter((key) => widths[key] === at + 1)
      .map((key) => [run.focus, run.keys[key]]);
    return segments(run, pairs, { width: few ? 1 + at : 0.2 + at / 8, color: "var(--key)" });
  });
  const locked = run.keys[inView(look)];
  const ring = (node) =>
    node === run.focus ? "var(--query)" : node === locked ? "var(--out)" : "var(--panel)";
  const silent = (node) => !few || (run.task === "cora" && node === run.focus);
  const gone = run.lost.map((node) => [run.focus, node]);
  const every = upTo(run.names.length);
  return [
    segments(run, run.pairs, { width: 1, color: "var(--control)" }),
    ...edges,
    segments(run, gone, { width: 2, color: "var(--bad)", dash: "dot" }),
    {
      type: "scatter",
      mode: "markers+text",
      cliponaxis: false,
      x: run.x,
      y: run.y,
      text: every.map((node) => (silent(node) ? "" : run.names[node])),
      textposition: run.y.map((y) => (y > run.y[run.focus] ? "top center" : "bottom center")),
      textfont: { size },
      customdata: every.map((node) => ({ node })),
      marker: {
        opacity: 1,
        size: every.map((node) => (node === run.focus ? 26 : few ? 17 : 9)),
        color: every.map((node) => hue(run.colours[node])),
        line: {
          width: every.map((node) => ([run.focus, locked].includes(node) ? 4 : 1)),
          color: every.map(ring),
        },
      },
    },
  ];
}

/** α on the edges that have room for it. */
function labels(run, look, size) {
  const weights = run.weights[headAt(run, look)];
  const at = (key, axis) => 0.42 * run[axis][run.focus] + 0.58 * run[axis][run.keys[key]];
  const roomy = run.names.length <= MOST_NAMES && !run.distances.length;
  return upTo(run.keys.length).filter((key) => roomy && reads(run, weights, key)).map((key) => ({
    text: weights[key].toFixed(2),
    x: at(key, "x"),
    y: at(key, "y"),
    showarrow: false,
    bgcolor: "var(--panel)",
    font: { size, color: "var(--key)" },
  }));
}

export function figure(run, look, pen) {
  const head = headAt(run, look);
  const [size, n] = [pen.big ? 20 : 12, run.keys.length];
  const votes = votesOf(run, head);
  const rows = [
    [TEXT.score, run.scores[head], "control"],
    [TEXT.weight, run.weights[head], "key"],
    ...(votes ? [[TEXT.vote, votes, "query"]] : []),
  ];
  const classes = run.classes.length;
  const [left, right] = pen.narrow ? [[0, 1], [0.14, 1]] : [[0, 0.5], [0.58, 1]];
  const [low, high] = pen.narrow
    ? [[0.53, 0.66], [0.71, 1]]
    : pen.big
    ? [[0, 0.38], [0.47, 1]]
    : [[0, 0.28], [0.35, 1]];
  const room = pen.narrow ? 0.46 : 1;
  const each = room / (rows.length + TALL);
  const margin = { l: 8, r: 12, t: pen.big ? 34 : 20, b: pen.big ? 70 : 30 };
  const height = pen.tall || (pen.narrow ? 980 : 380);
  const gap = (size + (pen.narrow ? 20 : 9)) / (height - margin.t - margin.b);
  const span = (at) => [at < rows.length ? room - (at + 1) * each : 0, room - at * each - gap];
  const map = rows.length + 2; // the axis of the map of all heads
  const keys = run.keys.map((node) => run.names[node]);
  const name = run.classes[run.answers[run.focus]] ?? "";
  const domain = classes ? high : [pen.narrow ? 0.53 : 0, 1];
  const layout = {
    height,
    margin,
    showlegend: false,
    bargap: 0.25,
    xaxis: { ...BARE, domain: left, anchor: "y" },
    yaxis: { ...BARE, domain, anchor: "x", scaleanchor: "x" },
    xaxis2: {
      ...namedAxis(keys, size, Math.ceil(n / (pen.narrow ? 8 : 14))),
      domain: right,
      anchor: `y${map}`,
      range: [-0.5, n - 0.5],
    },
    [`yaxis${map}`]: {
      ...namedAxis(run.heads.map(headName), size, pen.big ? 2 : 1),
      domain: span(rows.length),
      anchor: "x2",
      autorange: "reversed",
    },
    annotations: [
      ...labels(run, look, size),
      ...rows.map(([text], at) => partTitle(t(text, { name }), right[0], span(at)[1], size)),
      partTitle(t(TEXT.heads), right[0], span(rows.length)[1], size),
    ],
    shapes: [
      {
        type: "line",
        xref: "x2",
        yref: "y3",
        x0: -0.5,
        x1: n - 0.5,
        y0: 1 / n,
        y1: 1 / n,
        line: { color: "var(--ink2)", width: 1, dash: "dash" },
      },
      { ...lockFrame(map, -0.5, n - 0.5, head - 0.5, head + 0.5), xref: "x2" },
    ],
  };
  const data = nodesAndEdges(run, look, size);
  rows.forEach(([, values, token], at) => {
    const color = values.map((_, key) => (key === inView(look) ? "var(--out)" : `var(--${token})`));
    const customdata = upTo(n, (key) => ({ key }));
    const axes = { xaxis: "x2", yaxis: `y${at + 2}` };
    data.push({ type: "bar", x: upTo(n), y: values, customdata, marker: { color }, ...axes });
    layout[`yaxis${at + 2}`] = {
      domain: span(at),
      anchor: "x2",
      nticks: 4,
      tickfont: { size },
      rangemode: "tozero",
    };
  });
  data.push({
    type: "heatmap",
    z: run.weights,
    zmin: 0,
    zmax: Math.max(...run.weights.flat()),
    colorscale: weightScale(),
    showscale: false,
    xaxis: "x2",
    yaxis: `y${map}`,
  });
  if (classes) addClasses(run, data, layout, { left, low, size });
  return { data, layout };
}

/** The probability of each class, as bars with their names on them. */
function addClasses(run, data, layout, { left, low, size }) {
  const y = upTo(run.classes.length);
  const axes = { xaxis: "x9", yaxis: "y9" };
  const text = run.chance.map((p, at) =>
    `${run.classes[at]} ${p.toFixed(2)}${at === run.label ? " ✓" : ""}`
  );
  const marker = { color: y.map(hue), opacity: 0.45 };
  const textfont = { size, color: "var(--ink)" };
  const textposition = "middle right";
  data.push(
    { type: "bar", orientation: "h", x: run.chance, y, marker, ...axes },
    {
      type: "scatter",
      mode: "text",
      x: y.map(() => 0.01),
      y,
      text,
      textposition,
      textfont,
      ...axes,
    },
  );
  layout.xaxis9 = { ...BARE, domain: left, anchor: "y9", range: [0, 1] };
  layout.yaxis9 = { ...BARE, domain: low, anchor: "x9", autorange: "reversed" };
  layout.annotations.push(partTitle(t(TEXT.chance), left[0], low[1], size));
}

function cardOf(run, look, node) {
  const [key, head] = [run.keys.indexOf(node), headAt(run, look)];
  const out = [named(run, node)];
  const [said, far] = [run.answers[node], run.distances[key]];
  if (run.task === "distance") out.push(t(TEXT.own, { name: run.classes[run.colours[node]] }));
  if (said >= 0) out.push(t(TEXT.said, { name: run.classes[said] }));
  if (key < 0) return out;
  const [e, w] = [number(run.scores[head][key], 3), run.weights[head][key].toFixed(3)];
  out.push(t(TEXT.row, { head: headName(look.head), e, w }));
  if (far !== undefined) out.push(far > 6 ? t(TEXT.beyond) : t(TEXT.far, { n: far }));
  const votes = votesOf(run, head);
  const name = run.classes[run.answers[run.focus]];
  if (votes) out.push(t(TEXT.votes, { v: number(votes[key]), name }));
  return out;
}

export function pick(run, look, { i, customdata }) {
  const cell = Array.isArray(i);
  const there = cell ? { ...look, head: run.heads[i[0]] } : look;
  const key = cell ? i[1] : customdata?.key;
  const node = key === undefined ? customdata?.node : run.keys[key];
  if (node === undefined) return null;
  const at = { pos: key ?? Math.max(-1, run.keys.indexOf(node)) };
  const box = { look: cell ? { ...at, head: there.head } : at.pos < 0 ? {} : at };
  const card = () => cardOf(run, there, node);
  if (key !== undefined || node === run.focus) return { ...box, card };
  const bound = run.lost.includes(node) || joins(run, node);
  const set = bound ? cuts(run, node) : { join: String(run.ids[node]) };
  return { ...box, card: () => [...card(), t(TEXT.does)], set: moves(run, node), add: { set } };
}

export function sentence(run, look, over) {
  const [head, n] = [headAt(run, look), run.keys.length];
  const weights = run.weights[head];
  const most = weights.indexOf(Math.max(...weights));
  const pos = over?.pos ?? look.pos;
  const out = [t(TEXT.attends, {
    head: headName(look.head),
    name: named(run, run.focus),
    n,
    key: keyed(run, most),
    w: weights[most].toFixed(3),
    u: (1 / n).toFixed(3),
  })];
  if (pos !== null) {
    const [e, w] = [number(run.scores[head][pos], 3), weights[pos].toFixed(3)];
    out.push(t(TEXT.locked, { key: keyed(run, pos), e, w }));
  }
  out.push(t(TEXT.entropy, { h: run.entropy[head].toFixed(3) }));
  if (!run.chance.length) return out;
  const said = run.answers[run.focus];
  const wrong = () => t(TEXT.wrong, { name: run.classes[run.label] });
  const right = run.label < 0 ? "" : run.label === said ? t(TEXT.right) : wrong();
  out.push(t(TEXT.answer, { name: run.classes[said], p: percent(run.chance[said]), right }));
  return out;
}

/** Under the picture: what a click on the locked node, or on one that was cut off, asks. */
export function below(run, look, _lock, ask) {
  const all = run.lost.map((node) => [t(TEXT.mend, { name: named(run, node) }), cuts(run, node)]);
  const node = run.keys[look.pos];
  if (look.pos !== null && node !== run.focus) {
    const name = named(run, node);
    all.push([t(TEXT.go, { name }), moves(run, node)]);
    if (joins(run, node)) all.push([t(TEXT.cut, { name }), cuts(run, node)]);
  }
  return all.length ? offers(ask, all) : [];
}

export function table(run, look) {
  const head = headAt(run, look);
  return {
    caption: t(TEXT.caption, { name: named(run, run.focus), head: headName(look.head) }),
    columns: [t(TEXT.key), t(TEXT.score), t(TEXT.weight)],
    rows: run.keys.map((_, key) => [
      keyed(run, key),
      rounded(run.scores[head][key]),
      rounded(run.weights[head][key]),
    ]),
    here: look.pos,
  };
}

/** α of every edge that is known, with the names of both ends. */
export const lines = (run) => ({
  columns: [t(TEXT.query), t(TEXT.key), ...run.heads.map((one) => `α ${one}`)],
  rows: upTo(run.edges.shape[0], (at) => [
    ...Array.from(run.edges.slice(at), (node) => run.names[node]),
    ...run.heads.map((_, head) => rounded(run.all.slice(head)[at], 6)),
  ]),
});

export const arrays = (run) => ({
  weights: filed(run.all.data, ["head", "edge"], "α", run.all.shape),
  edges: filed(run.edges.data, ["edge", "end"], "node", run.edges.shape),
  names: run.names,
});

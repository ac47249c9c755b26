// A walk from above: where the agent is, what it sees, and threads to the steps that a head looks
// back at; below, the weights of all heads at this step, and the policy. The value is made by
// explorer/labs/gtrxl/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { headOf, headsOf } from "../../frontend/lib/selection.js";
import { number, rounded, weight } from "../../frontend/lib/signs.js";
import { boardOf, DELTA, LAMPS, MOVES, tickOf, ticksOf, walkerAt } from "./board.js";

export const TEXT = {
  board: {
    en: "{title}. Left and right go from step to step, up and down through heads, Space plays, " +
      "Escape resets.",
    zh: "{title}。左右键逐步前进与后退，上下键换头，空格播放，Esc 复位。",
  },
  start: { en: "To the first step", zh: "回到第一步" },
  before: { en: "Previous step", zh: "上一步" },
  after: { en: "Next step", zh: "下一步" },
  seek: { en: "step by step", zh: "逐步" },
  at: { en: "step {n} of {of}", zh: "第 {n} 步，共 {of} 步" },
  heads: { en: "weights at this step", zh: "这一步的权重" },
  key: { en: "earlier step, from 1", zh: "较早的步，从 1 起" },
  policy: { en: "π, next move", zh: "π，下一步" },
  off: { en: "off", zh: "关" },
  up: { en: "up", zh: "向上" },
  down: { en: "down", zh: "向下" },
  moves: { en: "right|left|up|down", zh: "向右|向左|向上|向下" },
  said: {
    en: "Step {n} of {of}, cell {x}: ",
    zh: "第 {n} 步（共 {of} 步），第 {x} 格：",
  },
  looks: {
    en: "{head} gives {w} to step {key}, cell {cell}{lamp}. ",
    zh: "{head}把 {w} 给第 {key} 步，第 {cell} 格{lamp}。",
  },
  headName: { en: "head {head}", zh: "头 {head} " },
  lamp: { en: ", where lamp {lamp} hangs", zh: "，那里挂着灯 {lamp}" },
  state: {
    en: "an LSTM looks at nothing but its state. ",
    zh: "LSTM 只看自己的状态。",
  },
  nothing: { en: "nothing else is in reach. ", zh: "够不到别的步。" },
  goes: {
    en: "It expects {v} and goes {move}, π = {p}",
    zh: "它预期得到 {v}，{move}走，π = {p}",
  },
  right: { en: ": the right turn.", zh: "：转对了。" },
  wrong: { en: ": the wrong turn.", zh: "：转错了。" },
  late: { en: "; its steps have run out.", zh: "；步数用尽。" },
  silenced: { en: " This head is silenced.", zh: "这个头已关掉。" },
  caption: { en: "The walk, step by step", zh: "逐步的行走" },
  columns: {
    en: "step|cell|move|π right|π left|π up|π down|value",
    zh: "步|格|走法|π 右|π 左|π 上|π 下|价值",
  },
  given: { en: "weight of {head} at step {n}", zh: "{head}在第 {n} 步的权重" },
  cell: { en: "cell {x}", zh: "第 {x} 格" },
  card: { en: "head {head}, step {n}", zh: "头 {head}，第 {n} 步" },
  gives: { en: "{w} to step {key} (cell {cell})", zh: "给第 {key} 步（第 {cell} 格）{w}" },
  hang: { en: "click: hang lamp {lamp} here", zh: "点击：在此挂灯 {lamp}" },
  take: { en: "click: take the lamp down", zh: "点击：取下这盏灯" },
  seen: { en: "in view", zh: "视野内" },
  fog: { en: "fog", zh: "迷雾" },
  thread: { en: "thread: attention of the head in view", zh: "线：所看的头的注意力" },
  agent: { en: "agent", zh: "智能体" },
  short: {
    en: "Memory reaches {k} steps back.",
    zh: "记忆只及前 {k} 步。",
  },
  cut: { en: "The lamp is covered.", zh: "灯被盖住。" },
  paint: {
    en: "Click a wall to hang a lamp or take it down.",
    zh: "点击墙可以挂灯或取下灯。",
  },
};
const PACE = 420; // ms that a step stands while it plays
const LEAST = 0.02; // weight from which a thread is drawn
// px of a figure without heads, on a phone, and of each head's row
const HEIGHT = { wide: 272, narrow: 520, row: 7.5 };
const [ABOVE, BETWEEN] = [150, 40]; // px of the corridor, and below it

const listed = (name) => t(TEXT[name]).split("|");
const headName = (head) => t(TEXT.headName, { head: head.replace(".", "·") });
const isOff = ({ silenced }, layer, head) =>
  silenced.some(([l, h]) => l === layer - 1 && h === head - 1);

export function read(value) {
  const { probability, value: values, weights } = value;
  return {
    ...value,
    pi: upTo(value.steps, (n) => Array.from(probability.slice(n))),
    values: Array.from(values.data),
    weights,
  };
}

/** The weights of a head (layer and head from 1) at a step from 0, over all steps up to it. */
const weightsOf = ({ weights }, layer, head, step) =>
  Array.from(weights.slice(layer - 1, head - 1, step).subarray(0, step + 1));

/** What hangs above a cell that the agent could see. */
const lampAt = ({ above, covered }, cell) =>
  !covered && LAMPS.includes(above[cell]) ? above[cell] : "";

function seen(run, look) {
  const step = look.step - 1;
  const [layer, head] = run.layers ? headOf(look.head) : [0, 0];
  return {
    step,
    layer,
    head,
    x: run.place[step],
    own: layer ? weightsOf(run, layer, head, step) : [],
  };
}

export function figure(run, look, pen) {
  const { step, x, own } = seen(run, look);
  const font = pen.big ? 20 : 12;
  const board = boardOf(run, { x, font, width: pen.width });
  const size = Math.max(10, Math.min(1.8 * font, (0.7 * pen.width) / (run.length + 3)));
  const path = {
    type: "scatter",
    mode: "lines",
    x: run.place.slice(0, step + 1),
    y: upTo(step + 1, () => 0),
    line: { color: "var(--query)", width: 3 },
    opacity: 0.5,
  };
  const high = run.layers ? 3.6 : 1.9;
  const [dx, dy] = DELTA[run.action[step]];
  const arrow = {
    x: x + 0.95 * dx,
    y: 0.95 * dy,
    ax: x + 0.35 * dx,
    ay: 0.35 * dy,
    axref: "x",
    ayref: "y",
    xref: "x",
    yref: "y",
    showarrow: true,
    arrowhead: 2,
    arrowwidth: 2,
    arrowcolor: "var(--query)",
    text: "",
  };
  const height = (pen.narrow ? HEIGHT.narrow : HEIGHT.wide) +
    HEIGHT.row * run.layers * run.heads;
  const [bottom, room] = [pen.big ? 64 : 42, (pen.tall || height) - 50];
  const share = pen.tall ? 0.5 : ABOVE / room; // of the corridor
  const under = pen.narrow || pen.tall ? 0.4 : 1 - share - BETWEEN / room;
  const low = pen.narrow ? [[0.26, 1 - share - 0.08], [0, 0.14]] : [[0, under], [0, under]];
  const bars = policy(run, step);
  const data = [board.data[0], path, board.data[1], walkerAt(x, 0, size, "var(--query)"), bars];
  const layout = {
    height,
    margin: { l: pen.big ? 70 : 52, r: 12, t: 8, b: bottom },
    xaxis: {
      range: [-1.6, run.length + 1.6],
      showgrid: false,
      tickvals: ticksOf(run.length),
    },
    yaxis: {
      range: [-2.3, high],
      domain: [1 - share, 1],
      visible: false,
    },
    xaxis2: {
      domain: run.layers && !pen.narrow ? [0.74, 1] : [0, 1],
      anchor: "y2",
      range: [0, 1.16],
      tickvals: [0, 0.5, 1],
      title: { text: t(TEXT.policy) },
    },
    yaxis2: {
      domain: low[1],
      anchor: "x2",
      tickvals: [0, 1, 2, 3],
      ticktext: MOVES,
      range: [3.5, -0.5],
      showgrid: false,
    },
    shapes: [...board.shapes, ...threads(run, own, step)],
    annotations: [...board.annotations, arrow],
  };
  if (run.layers) heads(run, look, { step, data, layout, domain: low[0], narrow: pen.narrow });
  return { data, layout };
}

/** π of the next move, bars with their numbers. */
const policy = (run, step) => ({
  type: "bar",
  orientation: "h",
  x: run.pi[step],
  y: [0, 1, 2, 3],
  xaxis: "x2",
  yaxis: "y2",
  width: 0.7,
  text: run.pi[step].map((p) => p.toFixed(2)),
  textposition: "outside",
  cliponaxis: false,
  marker: {
    color: MOVES.map((_, n) => (n === run.action[step] ? "var(--query)" : "var(--control)")),
  },
});

/** Threads from the agent back to the steps that a head looks at. */
const threads = (run, own, step) =>
  own.map((w, key) => ({ w, from: run.place[step], to: run.place[key], key }))
    .filter(({ w, key }) => w >= LEAST && key < step)
    .map(({ w, from, to }) => {
      const middle = (from + to) / 2;
      const high = 1.7 + (3.4 * Math.abs(from - to)) / (run.length + 1);
      return {
        type: "path",
        path: `M ${from},0.35 Q ${middle},${high} ${to},0.35`,
        line: { color: "var(--key)", width: 1 + 5 * w },
        opacity: 0.35 + 0.65 * w,
      };
    });

/** The weights of every head at this step, a row for each. */
function heads(run, look, { step, data, layout, domain, narrow }) {
  const all = headsOf(run.layers, run.heads);
  data.push({
    type: "heatmap",
    z: all.map(([l, h]) => upTo(run.steps, (key) => weightsOf(run, l, h, step)[key] ?? null)),
    x0: 1,
    dx: 1,
    y0: 0,
    dy: 1,
    xaxis: "x3",
    yaxis: "y3",
    colorscale: run.scale,
    zmin: 0,
    zmax: 1,
    showscale: false,
  });
  const [l, h] = headOf(look.head);
  const row = (l - 1) * run.heads + h - 1;
  layout.xaxis3 = {
    domain: narrow ? [0, 1] : [0, 0.64],
    anchor: "y3",
    range: [0.5, run.steps + 0.5],
    dtick: tickOf(run.steps),
    tick0: 1,
    showgrid: false,
    title: { text: t(TEXT.key) },
  };
  layout.yaxis3 = {
    domain,
    anchor: "x3",
    range: [all.length - 0.5, -0.5],
    tickvals: upTo(all.length),
    ticktext: all.map(([a, b]) => `${a}·${b}${isOff(run, a, b) ? ` ${t(TEXT.off)}` : ""}`),
    showgrid: false,
  };
  layout.shapes.push({
    type: "rect",
    xref: "x3",
    yref: "y3",
    x0: 0.5,
    x1: run.steps + 0.5,
    y0: row - 0.5,
    y1: row + 0.5,
    line: { color: "var(--query)", width: 2.5 },
  });
}

/** The walls with another lamp at a cell; one lamp above at most. */
function painted(run, side, cell) {
  const walls = upTo(run.length, (n) => run[side][n]);
  const next = { ".": "A", A: "B", B: "." }[walls[cell]];
  const fresh = side === "above" ? upTo(run.length, () => ".") : walls;
  fresh[cell] = next;
  return { next, text: fresh.join("") };
}

export function pick(run, look, { trace, i, x, y }) {
  if (trace === 0 || trace === 2) {
    if (y === 0) {
      const at = run.place.lastIndexOf(x);
      return at < 0 ? null : { look: { step: at + 1 }, card: () => [t(TEXT.cell, { x })] };
    }
    if (x < 0 || x >= run.length) return null;
    const { next, text } = painted(run, y > 0 ? "above" : "below", x);
    const said = next === "." ? t(TEXT.take) : t(TEXT.hang, { lamp: next });
    return {
      quiet: true,
      set: { [y > 0 ? "above" : "below"]: text },
      card: () => [t(TEXT.cell, { x }), said],
    };
  }
  if (trace !== 5) return null;
  const [l, h] = headsOf(run.layers, run.heads)[i[0]];
  const [step, key] = [look.step - 1, i[1]];
  const w = weightsOf(run, l, h, step)[key];
  return {
    look: { head: `${l}.${h}` },
    card: () => [
      t(TEXT.card, { head: `${l}·${h}`, n: step + 1 }),
      ...(w === undefined ? [] : [
        t(TEXT.gives, { w: weight(w), key: key + 1, cell: run.place[key] }),
      ]),
    ],
  };
}

// ── in words and numbers ──
export function sentence(run, look) {
  const { step, x, own, layer, head } = seen(run, look);
  const found = [...parts(TEXT.said, { n: look.step, of: run.steps, x })];
  const key = own.indexOf(Math.max(...own));
  if (!run.layers) found.push(...parts(TEXT.state, {}));
  else {
    const lamp = lampAt(run, run.place[key]);
    found.push(...parts(TEXT.looks, {
      head: { text: headName(look.head), role: "query" },
      w: weight(own[key]),
      key: { text: String(key + 1), role: "key" },
      cell: run.place[key],
      lamp: lamp && t(TEXT.lamp, { lamp }),
    }));
  }
  const move = run.action[step];
  found.push(...parts(TEXT.goes, {
    move: { text: listed("moves")[move], role: "out" },
    p: run.pi[step][move].toFixed(2),
    v: number(run.values[step]),
  }));
  const last = look.step === run.steps;
  const end = !last ? null : run.late ? TEXT.late : run.right ? TEXT.right : TEXT.wrong;
  found.push({ text: end ? t(end) : t({ en: ".", zh: "。" }) });
  if (run.layers && isOff(run, layer, head)) found.push({ text: t(TEXT.silenced) });
  return found;
}

export function table(run, look) {
  const { step, own } = seen(run, look);
  const given = run.layers ? [t(TEXT.given, { head: headName(look.head), n: look.step })] : [];
  return {
    caption: t(TEXT.caption),
    columns: [...listed("columns"), ...given],
    rows: upTo(run.steps, (n) => [
      n + 1,
      run.place[n],
      listed("moves")[run.action[n]],
      ...run.pi[n].map((p) => rounded(p)),
      rounded(run.values[n]),
      ...(run.layers ? [n > step ? null : rounded(own[n])] : []),
    ]),
    here: step,
  };
}

export const arrays = (run) => ({
  cell: filed(Int32Array.from(run.place), "step", "cell"),
  move: filed(Int32Array.from(run.action), "step", "0 right, 1 left, 2 up, 3 down"),
  policy: filed(Float32Array.from(run.pi.flat()), ["step", "move"], "probability", [run.steps, 4]),
  value: filed(Float32Array.from(run.values), "step", "expected reward"),
  ...(run.layers
    ? {
      weights: filed(
        run.weights.data,
        ["layer", "head", "query step", "key step"],
        "weight",
        run.weights.shape,
      ),
    }
    : {}),
});

export const legend = (run) => [
  { text: t(TEXT.agent), mark: { fill: "query", radius: 9 } },
  ...(run.layers ? [{ text: t(TEXT.thread), mark: { fill: "key", wide: 18, tall: 4 } }] : []),
  { text: t(TEXT.fog), mark: { fill: "line" } },
  { text: t(TEXT.seen), mark: { fill: "panel", line: "query" } },
];

export const below = (run) =>
  [
    run.covered && t(TEXT.cut),
    run.memory < run.steps - 1 && t(TEXT.short, { k: run.memory }),
    t(TEXT.paint),
  ].filter(Boolean);

export const looks = { model: "choice", head: "head", step: "step" };
export const resets = ["head", "step"];
export const bounds = (run) => ({
  model: { names: [run.network] },
  head: { layers: run.layers || 1, heads: run.heads, pick: run.pick.head ?? "1.1" },
  step: { steps: run.steps, first: 1 },
});
export const clock = (run) => ({
  key: "step",
  pace: PACE,
  texts: TEXT,
  says: (n) => t(TEXT.at, { n, of: run.steps }),
});
export const same = (was, run) =>
  was.length === run.length && was.network === run.network && was.steps === run.steps;

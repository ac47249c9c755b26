// Where each object query answers over many held-out scenes: the middles of its boxes on one
// canvas. The value is made by explorer/labs/detection/about.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { bare, colourOf, SIDE } from "./boxes.js";

export const TEXT = {
  question: { en: "Where does each query answer?", zh: "每个查询在哪里作答？" },
  board: {
    en: "{title}. Left and right choose a query, Escape resets.",
    zh: "{title}。左右键选择查询，Esc 复位。",
  },
  card: { en: "Query {n}: {name}", zh: "查询 {n}：{name}" },
  says: {
    en:
      "{who} answers in {share} of {scenes} held-out scenes, around column {x} and row {y} of 96; its boxes are {w} × {h} px on average.",
    zh:
      "{who}在 {scenes} 个留出场景的 {share} 中作答，大致在 96 像素中的第 {x} 列、第 {y} 行；其框平均 {w} × {h} 像素。",
  },
  never: {
    en: "{who} never answers in {scenes} held-out scenes.",
    zh: "{who}在 {scenes} 个留出场景中从未作答。",
  },
  all: {
    en:
      "Each dot is the middle of a box in {scenes} held-out scenes, in the colour of its query: queries share the canvas out.",
    zh: "每个点是 {scenes} 个留出场景中一个框的中心，颜色代表查询：各查询分管画布的不同区域。",
  },
  query: { en: "query {n}", zh: "查询 {n}" },
  caption: { en: "Where each query answers", zh: "每个查询在哪里作答" },
  columns: {
    en: "query;answers;mean column, px;mean row, px;mean width, px;mean height, px",
    zh: "查询;作答次数;平均列，px;平均行，px;平均宽，px;平均高，px",
  },
};

export const looks = { query: "position" };
export const along = "query";
export const read = (value) => {
  if (!value?.of) return null;
  const box = (at) => [...value.box.slice(at)].map((one) => one * SIDE);
  const dots = [...value.of.data].map((query, at) => ({
    query,
    kind: value.kind.data[at],
    box: box(at),
  }));
  return { ...value, dots, sums: upTo(value.queries, (query) => summed(dots, query)) };
};
export const bounds = (run) => ({ query: { count: run.queries, pick: null } });
export const same = () => true; // it is of no run

function summed(dots, query) {
  const mine = dots.filter((one) => one.query === query);
  const mean = (at) => mine.reduce((sum, { box }) => sum + box[at], 0) / Math.max(1, mine.length);
  return { count: mine.length, mean: upTo(4, mean) };
}

export function figure(run, look, pen) {
  const chosen = look.query;
  const order = run.dots.toSorted((a, b) =>
    Number(a.query === chosen) - Number(b.query === chosen)
  );
  const isMine = ({ query }) => chosen === null || query === chosen;
  const shapes = [];
  if (chosen !== null && run.sums[chosen].count) {
    const { mean: [x, y, w, h] } = run.sums[chosen];
    const line = { color: "var(--query)", width: 3 };
    shapes.push({ type: "rect", x0: x - w / 2, x1: x + w / 2, y0: y - h / 2, y1: y + h / 2, line });
  }
  const high = pen.big ? pen.tall : Math.min(pen.width, 360);
  const [xaxis, yaxis] = bare(SIDE, [[0, 1], [0, 1]], "");
  return {
    data: [{
      type: "scatter",
      mode: "markers",
      x: order.map(({ box }) => box[0]),
      y: order.map(({ box }) => box[1]),
      customdata: order.map(({ query }) => query),
      marker: {
        size: order.map((one) => (isMine(one) ? 7 : 4)),
        color: order.map(({ query }) => colourOf(query)),
        symbol: order.map(({ query }) => (query < 10 ? "circle" : "diamond")),
        opacity: order.map((one) => (isMine(one) ? 0.85 : 0.18)),
      },
    }],
    layout: {
      height: high,
      margin: { l: 2, r: 2, t: 2, b: 2 },
      plot_bgcolor: "var(--sunk)",
      showlegend: false,
      shapes,
      xaxis: { ...xaxis, constrain: "domain" },
      yaxis: { ...yaxis, scaleanchor: "x", constrain: "domain" },
    },
  };
}

export function pick(run, _look, { customdata, x, y }) {
  const one = run.dots.find(({ query, box }) =>
    query === customdata && box[0] === x && box[1] === y
  );
  const name = t(run.names[one?.kind ?? 0]);
  return { look: { query: customdata }, card: () => [t(TEXT.card, { n: customdata, name })] };
}

export function sentence(run, { query }) {
  if (query === null) return parts(TEXT.all, { scenes: run.scenes });
  const { count, mean: [x, y, w, h] } = run.sums[query];
  return parts(count ? TEXT.says : TEXT.never, {
    who: { text: t(TEXT.query, { n: query }), role: "query" },
    scenes: run.scenes,
    share: `${Math.round((100 * count) / run.scenes)} %`,
    ...{ x: Math.round(x), y: Math.round(y), w: Math.round(w), h: Math.round(h) },
  });
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: t(TEXT.columns).split(";"),
  rows: run.sums.map((
    { count, mean },
    query,
  ) => [query, count, ...mean.map((one) => one.toFixed(1))]),
  here: look.query,
});

export const arrays = (run) => ({
  query: filed(run.of.data, "answer"),
  box: filed(run.box.data, ["answer", "edge"], "share of the side", run.box.shape),
});

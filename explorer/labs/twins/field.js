// The field of stored outcomes: rate × depth, for both places of the norm, with and without
// warm-up. A click trains that cell live. The value is made by explorer/labs/twins/views.py.

import { upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";

export const TEXT = {
  board: { en: "{title}. A click trains that cell.", zh: "{title}。点击即训练该格。" },
  rate: { en: "learning rate", zh: "学习率" },
  layers: { en: "layers", zh: "层数" },
  right: { en: "{n} % of digits right", zh: "{n} % 的数字正确" },
  click: { en: "Click: train this cell", zh: "点击：训练这一格" },
  layer: { en: "{n} layers, rate {rate}", zh: "{n} 层，学习率 {rate}" },
  panels: {
    en: "post-LN|post-LN, warm-up|pre-LN|pre-LN, warm-up",
    zh: "post-LN|post-LN，预热|pre-LN|pre-LN，预热",
  },
  said: {
    en: "With {layers} layers at a rate of {rate}: post-LN {a} %, with warm-up {b} %, pre-LN {c} " +
      "%, with warm-up {d} % of digits right; guessing gives {chance} %.",
    zh:
      "{layers} 层、学习率 {rate} 时：post-LN 正确 {a} %，加预热 {b} %；pre-LN {c} %，加预热 {d} %；乱猜为 {chance} %。",
  },
  caption: { en: "Share of digits right in each cell", zh: "每格中正确数字的比例" },
  norm: { en: "norm and warm-up", zh: "归一化与预热" },
  scale: { en: "share of digits right", zh: "正确数字的比例" },
};
const CHANCE = 10; // percent

export const looks = { cell: "position" };
export const bounds = (run) => ({
  cell: { count: run.layers.length * run.rates.length, pick: run.pick },
});
export const read = (run) => run;
export const same = () => true;
export const along = "cell";

const placeOf = (run, cell) => [Math.floor(cell / run.rates.length), cell % run.rates.length];
const percent = (value) => (100 * value).toFixed(0);
const nth = (n) => (n ? n + 1 : "");

export function figure(run, look, pen) {
  const size = pen.big ? 18 : 12;
  const names = t(TEXT.panels).split("|");
  const columns = pen.narrow ? 2 : 4;
  const rows = 4 / columns;
  const [row, column] = placeOf(run, look.cell);
  const [data, layout] = [[], {
    height: pen.tall || 220 * rows,
    margin: { l: pen.big ? 90 : 56, r: 8, t: 24, b: pen.big ? 64 : 44 },
    showlegend: false,
    shapes: [],
    annotations: [],
  }];
  upTo(4, (at) => {
    const [x, y] = [at % columns, Math.floor(at / columns)];
    const [left, right] = [x / columns + (x ? 0.012 : 0), (x + 1) / columns - 0.012];
    const low = 1 - (y + 1) / rows + (y < rows - 1 ? 0.12 : 0);
    const high = 1 - y / rows - (y ? 0.1 : 0);
    const z = run.right[at];
    data.push({
      ...{ type: "heatmap", z, zmin: 0, zmax: 1, showscale: false, colorscale: run.scale },
      ...{ x0: 0, dx: 1, y0: 0, dy: 1, xgap: 2, ygap: 2 },
      ...{ xaxis: `x${nth(at)}`, yaxis: `y${nth(at)}` },
    });
    z.forEach((cells, i) =>
      cells.forEach((value, j) =>
        layout.annotations.push({
          ...{ x: j, y: i, xref: `x${nth(at)}`, yref: `y${nth(at)}`, showarrow: false },
          text: percent(value),
          font: { size, color: run.inks[at][i][j] },
        })
      )
    );
    layout[`xaxis${nth(at)}`] = {
      ...{ domain: [left, right], anchor: `y${nth(at)}`, showgrid: false },
      tickvals: upTo(run.rates.length),
      ticktext: run.rates.map(String),
      tickfont: { size },
      title: { text: t(TEXT.rate), font: { size }, standoff: 4 },
    };
    layout[`yaxis${nth(at)}`] = {
      ...{ domain: [low, high], anchor: `x${nth(at)}`, showgrid: false },
      range: [run.layers.length - 0.5, -0.5],
      tickvals: upTo(run.layers.length),
      ticktext: run.layers.map(String),
      showticklabels: x === 0,
      tickfont: { size },
      title: { text: x ? "" : t(TEXT.layers), font: { size } },
    };
    layout.annotations.push({
      ...{ text: names[at], x: (left + right) / 2, y: high, xref: "paper", yref: "paper" },
      ...{ showarrow: false, yanchor: "bottom", xanchor: "center", yshift: 2 },
      font: { size, color: "var(--ink2)" },
    });
    layout.shapes.push({
      ...{ type: "rect", xref: `x${nth(at)}`, yref: `y${nth(at)}` },
      ...{ x0: column - 0.5, x1: column + 0.5, y0: row - 0.5, y1: row + 0.5 },
      line: { color: "var(--query)", width: 2.5 },
    });
  });
  return { data, layout };
}

export function pick(run, _look, { trace, i }) {
  const [row, column] = i;
  const [layers, rate] = [run.layers[row], run.rates[column]];
  return {
    look: { cell: row * run.rates.length + column },
    set: { ...run.set[trace], layers: String(layers), rate: String(rate) },
    card: () => [
      `${t(TEXT.panels).split("|")[trace]}, ${t(TEXT.layer, { n: layers, rate })}`,
      t(TEXT.right, { n: percent(run.right[trace][row][column]) }),
      t(TEXT.click),
    ],
  };
}

export function sentence(run, look) {
  const [row, column] = placeOf(run, look.cell);
  const [a, b, c, d] = run.right.map((panel) => percent(panel[row][column]));
  const named = { layers: run.layers[row], rate: run.rates[column], chance: CHANCE };
  return [t(TEXT.said, { ...named, a, b, c, d })];
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: [
    t(TEXT.layers),
    t(TEXT.rate),
    ...t(TEXT.panels).split("|").map((name) => `${name} (%)`),
  ],
  rows: run.layers.flatMap((layers, row) =>
    run.rates.map((rate, column) => [
      layers,
      rate,
      ...run.right.map((panel) => (100 * panel[row][column]).toFixed(1)),
    ])
  ),
  here: look.cell,
});

export const legend = (run) => [
  { text: t(TEXT.scale), mark: { shades: run.scale.map(([, colour]) => colour) } },
];

// Inside both runs: the norm of the gradient in every part of the network at every moment, and the
// map of one head as it forms. The value is made by explorer/labs/twins/views.py.

import { filed, opened, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { headOf } from "../../frontend/lib/selection.js";
import { number, weight } from "../../frontend/lib/signs.js";

export const TEXT = {
  board: {
    en: "{title}. Left and right go from moment to moment, up and down from head to head, Escape " +
      "resets.",
    zh: "{title}。左右键移动时刻，上下键换头，Esc 复位。",
  },
  step: { en: "training step", zh: "训练步" },
  norm: { en: "norm of the gradient", zh: "梯度的范数" },
  scale: { en: "norm of the gradient, 10⁻⁶ … 10", zh: "梯度的范数，10⁻⁶ … 10" },
  key: { en: "digit looked at", zh: "被看的数字" },
  query: { en: "place", zh: "位置" },
  head: { en: "{name}, head {head}", zh: "{name}，头 {head}" },
  said: {
    en: "After {n} steps the gradient of {name} has a norm of {first} in {a} and {last} in {b}; " +
      "head {head} puts {w} {where}",
    zh: "{n} 步之后，{name}的梯度范数在{a}为 {first}，在{b}为 {last}；头 {head} 把 {w} 放在{where}",
  },
  twin: {
    en: "; {name}: {first}, {last} and {w}",
    zh: "；{name}：{first}、{last} 与 {w}",
  },
  anti: { en: "on the anti-diagonal", zh: "反对角线上" },
  peak: { en: "on the largest cell of a row", zh: "每行最大的格上" },
  end: { en: ".", zh: "。" },
  caption: { en: "Norm of the gradient, part by part", zh: "各部分的梯度范数" },
};

const LEAST = 1e-7; // norms below are drawn as this
export const looks = { head: "head", frame: "step" };
export const read = opened;
export const bounds = (run) => ({
  head: { layers: run.layers, heads: run.heads, pick: run.pick },
  frame: { steps: run.steps.length },
});
export const same = (was, run) => was.layers === run.layers;
export const along = "frame";
export const across = "head";

/** The map of a head of one run at the moment in view, (query, key). */
function mapOf(run, look, kind) {
  const [layer, head] = headOf(look.head);
  const at = run.kept === 1 ? 0 : look.frame - 1; // while it grows, the newest alone has come
  const flat = run.weights.slice(at, kind, layer - 1, head - 1);
  const n = run.digits.length;
  return upTo(n, (row) => Array.from(flat.subarray(row * n, (row + 1) * n)));
}

const log = (value) => Math.log10(Math.max(value, LEAST));
const domains = (count, gap) =>
  upTo(
    count,
    (at) => [at / count + (at ? gap : 0), (at + 1) / count - (at === count - 1 ? 0 : gap)],
  );

export function figure(run, look, pen) {
  const size = pen.big ? 18 : 12;
  const count = run.names.length;
  const columns = domains(count, 0.05);
  const split = pen.narrow ? 0.5 : 0.55;
  const [data, layout] = [[], {
    height: pen.tall || (pen.narrow ? 460 : 430),
    margin: { l: pen.big ? 120 : 76, r: 10, t: 26, b: pen.big ? 60 : 42 },
    showlegend: false,
    shapes: [],
    annotations: [],
  }];
  const here = look.frame - 1;
  upTo(count, (kind) => {
    const [top, low] = [2 * kind + 1, 2 * kind + 2];
    const nth = (n) => (n === 1 ? "" : n);
    data.push({
      ...{ type: "heatmap", zmin: -6, zmax: 1, showscale: false, colorscale: run.scale },
      z: upTo(
        run.parts.length,
        (part) => run.norms.map((frame, at) => run.steps[at] ? log(frame[kind][part]) : null),
      ),
      x: run.steps.map(String),
      y0: 0,
      dy: 1,
      xaxis: `x${nth(top)}`,
      yaxis: `y${nth(top)}`,
    }, {
      ...{ type: "heatmap", zmin: 0, zmax: 1, showscale: false, colorscale: run.scale },
      z: mapOf(run, look, kind),
      x0: 0,
      dx: 1,
      y0: 0,
      dy: 1,
      xaxis: `x${nth(low)}`,
      yaxis: `y${nth(low)}`,
    });
    const ticks = (first) => ({
      tickvals: upTo(run.parts.length),
      ticktext: run.parts.map((part) => t(part)),
      showticklabels: first,
      tickfont: { size },
    });
    const shown = upTo(6, (at) => Math.round(at / 5 * (run.steps.length - 1)));
    layout[`xaxis${nth(top)}`] = {
      ...{ type: "category", domain: columns[kind], anchor: `y${nth(top)}`, showgrid: false },
      tickvals: shown.map((at) => String(run.steps[at])),
      tickangle: 0,
      title: { text: t(TEXT.step), font: { size }, standoff: 4 },
      tickfont: { size },
    };
    layout[`yaxis${nth(top)}`] = {
      ...{ domain: [split + 0.1, 1], anchor: `x${nth(top)}`, showgrid: false },
      range: [run.parts.length - 0.5, -0.5],
      ...ticks(kind === 0),
    };
    const digits = upTo(run.digits.length);
    layout[`xaxis${nth(low)}`] = {
      ...{ domain: columns[kind], anchor: `y${nth(low)}`, showgrid: false, constrain: "domain" },
      tickvals: digits,
      ticktext: run.digits.map(String),
      title: { text: t(TEXT.key), font: { size }, standoff: 4 },
      tickfont: { size },
    };
    layout[`yaxis${nth(low)}`] = {
      ...{ domain: [0, split - 0.1], anchor: `x${nth(low)}`, showgrid: false },
      ...{ scaleanchor: `x${nth(low)}`, constrain: "domain" },
      range: [run.digits.length - 0.5, -0.5],
      tickvals: digits,
      ticktext: run.wanted.map(String),
      tickfont: { size },
    };
    const frame = { color: "var(--query)", width: 2 };
    layout.shapes.push({
      ...{ type: "rect", xref: `x${nth(top)}`, yref: `y${nth(top)} domain`, line: frame },
      ...{ x0: here - 0.5, x1: here + 0.5, y0: 0, y1: 1 },
    });
    const title = (text, y) => ({
      ...{ text, x: (columns[kind][0] + columns[kind][1]) / 2, y, xref: "paper", yref: "paper" },
      ...{ showarrow: false, yanchor: "bottom", xanchor: "center", yshift: 2 },
      font: { size, color: "var(--ink2)" },
    });
    const name = t(run.names[kind]);
    const head = look.head.replace(".", "·");
    layout.annotations.push(title(name, 1), title(t(TEXT.head, { name, head }), split - 0.1));
  });
  return { data, layout };
}

export function pick(run, look, { trace, i }) {
  const kind = Math.floor(trace / 2);
  if (trace % 2 === 0) {
    const [part, at] = i;
    const said = number(run.norms[at][kind][part], 4);
    return {
      look: { frame: at + 1 },
      card: () => [
        `${t(run.parts[part])}, ${t(TEXT.step)} ${run.steps[at]}`,
        `${t(TEXT.norm)}: ${said}`,
      ],
    };
  }
  const [query, key] = i;
  return {
    look: {},
    card: () => [
      `${t(TEXT.query)} ${query + 1} → ${key + 1}`,
      weight(mapOf(run, look, kind)[query][key]),
    ],
  };
}

/** The mean weight on the anti-diagonal of reversing; else on the largest cell of each row. */
const telling = (run, map) =>
  map.reduce(
    (sum, row, at) => sum + (run.task === "reverse" ? row[map.length - 1 - at] : Math.max(...row)),
    0,
  ) / map.length;

export function sentence(run, look) {
  const at = look.frame - 1;
  const [a, b] = [1, run.parts.length - 2];
  const found = run.names.map((name, kind) => {
    const norms = run.norms[at][kind];
    return t(kind ? TEXT.twin : TEXT.said, {
      n: run.steps[at],
      name: t(name),
      a: t(run.parts[a]),
      b: t(run.parts[b]),
      first: norms[a].toPrecision(2),
      last: norms[b].toPrecision(2),
      head: look.head.replace(".", "·"),
      w: weight(telling(run, mapOf(run, look, kind))),
      where: t(run.task === "reverse" ? TEXT.anti : TEXT.peak),
    });
  });
  return [found.join("") + t(TEXT.end)];
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: [
    t(TEXT.step),
    ...run.names.flatMap((name) => run.parts.map((part) => `${t(part)}, ${t(name)}`)),
  ],
  rows: run.steps.map((step, at) => [
    step,
    ...run.names.flatMap((_, kind) => run.norms[at][kind].map((one) => one.toPrecision(4))),
  ]),
  here: look.frame - 1,
});

export const arrays = (run) => ({
  norms: filed(
    Float32Array.from(run.norms.flat(2)),
    ["frame", "run", "part"],
    "norm",
    [run.steps.length, run.names.length, run.parts.length],
  ),
  weights: filed(
    run.weights.data,
    ["frame", "run", "layer", "head", "query", "key"],
    "weight",
    run.weights.shape,
  ),
});

export const legend = (run) => [
  { text: t(TEXT.scale), mark: { shades: run.scale.map(([, colour]) => colour) } },
];

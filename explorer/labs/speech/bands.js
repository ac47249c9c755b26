// Attention inside the window, for each head: its mean over all frames by distance, and one head
// frame by frame. The value is made by explorer/labs/speech/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { headOf } from "../../frontend/lib/selection.js";
import { rounded, signed, weight } from "../../frontend/lib/signs.js";
import { inSeconds, timeAxis, timeOf, upright } from "./soundrun.js";

export const TEXT = {
  board: {
    en: "{title}. Left and right step through the frames, up and down through the heads.",
    zh: "{title}。左右键逐帧移动，上下键换头。",
  },
  units: {
    en: "above: every head's mean weight by distance; below: head {head}, weight 0 to 1",
    zh: "上：每个头按距离的平均权重；下：头 {head} 的权重，0 到 1",
  },
  head: { en: "head", zh: "头" },
  distance: { en: "frames back or ahead", zh: "往回或往前的帧数" },
  mean: { en: "head {head}, {offset} frames: mean {w}", zh: "头 {head}，{offset} 帧：平均 {w}" },
  cell: { en: "frame {n} to {offset} frames: {w}", zh: "第 {n} 帧到 {offset} 帧：{w}" },
  says: {
    en: "Head {head} listens {back} frames ({s}) back on average; {ahead} % of its weight lies " +
      "ahead. ",
    zh: "头 {head} 平均往回听 {back} 帧（{s}）；{ahead} % 的权重在前方。",
  },
  frame: {
    en: "Frame {n} gives most, {w}, to the frame {offset}.",
    zh: "第 {n} 帧把最多的权重 {w} 给了{offset}的帧。",
  },
  behind: { en: "{n} back", zh: "往回 {n}" },
  front: { en: "{n} ahead", zh: "往前 {n}" },
  itself: { en: "itself", zh: "自身" },
  columns: [
    { en: "head", zh: "头" },
    { en: "mean distance, frames", zh: "平均距离，帧" },
    { en: "weight ahead", zh: "前方的权重" },
  ],
};

export const looks = { model: "choice", head: "head", frame: "position" };

export function read(value) {
  const [layers, heads, frames, offsets] = value.weights.shape;
  const of = (layer, head) => value.weights.slice(layer, head);
  // by head: mean weight of each offset, mean offset, share ahead
  const means = upTo(layers * heads, (row) => {
    const weights = of(Math.floor(row / heads), row % heads);
    const mean = new Float32Array(offsets);
    weights.forEach((w, at) => (mean[at % offsets] += w / frames));
    const total = mean.reduce((sum, w) => sum + w, 0) || 1;
    return {
      mean,
      offset: mean.reduce((sum, w, at) => sum + w * (at - value.left), 0) / total,
      ahead: mean.reduce((sum, w, at) => sum + (at > value.left ? w : 0), 0) / total,
    };
  });
  return { ...value, offsets, means, of };
}

export const bounds = (run) => ({
  model: { names: ["speech"] },
  head: { layers: run.layers, heads: run.heads, pick: "1.1" },
  frame: { count: run.frames, pick: run.at[0] ?? 0 },
});
export const same = () => false;

const rowOf = (run, head) => {
  const [layer, at] = headOf(head);
  return (layer - 1) * run.heads + at - 1;
};
const named = (run, row) => `${Math.floor(row / run.heads) + 1}·${(row % run.heads) + 1}`;
const weightsOf = (run, head) => {
  const [layer, at] = headOf(head);
  return run.of(layer - 1, at - 1);
};

export const units = (_run, look) => t(TEXT.units, { head: look.head.replace(".", "·") });

export function figure(run, look, pen) {
  const rows = run.layers * run.heads;
  const offsets = upTo(run.offsets, (at) => at - run.left);
  const weights = weightsOf(run, look.head);
  const here = rowOf(run, look.head);
  const heat = { type: "heatmap", zmin: 0, colorscale: run.scale, showscale: false };
  return {
    data: [
      {
        ...heat,
        x: offsets,
        y: upTo(rows),
        z: run.means.map(({ mean }) => [...mean]),
        zmax: Math.max(...run.means.flatMap(({ mean }) => [...mean])),
      },
      {
        ...heat,
        x0: timeOf(run, 0),
        dx: run.frame / run.rate,
        y: offsets,
        z: offsets.map((_, at) => upTo(run.frames, (frame) => weights[frame * run.offsets + at])),
        zmax: Math.max(...weights),
        xaxis: "x2",
        yaxis: "y2",
      },
    ],
    layout: {
      height: pen.narrow ? 560 : 520,
      xaxis: { domain: [0, 1], anchor: "y", title: { text: t(TEXT.distance), standoff: 4 } },
      yaxis: {
        domain: [0.52, 1],
        range: [rows - 0.5, -0.5],
        tickvals: upTo(rows),
        ticktext: upTo(rows, (row) => pen.big && row % run.heads ? "" : named(run, row)),
      },
      xaxis2: { ...timeAxis(run), anchor: "y2" },
      yaxis2: {
        domain: [0, 0.36],
        anchor: "x2",
        showgrid: false,
        zeroline: false,
      },
      shapes: [
        {
          type: "rect",
          x0: -run.left - 0.5,
          x1: run.right + 0.5,
          y0: here - 0.5,
          y1: here + 0.5,
          line: { color: "var(--query)", width: 3 },
        },
        ...(look.frame === null
          ? []
          : [upright(timeOf(run, look.frame), { xref: "x2", y0: 0, y1: 0.36 })]),
      ],
    },
  };
}

export function pick(run, look, { trace, i }) {
  if (trace === 0) {
    const [row, at] = i;
    return {
      look: { head: named(run, row).replace("·", ".") },
      card: () => [
        t(TEXT.mean, {
          head: named(run, row),
          offset: signed(at - run.left),
          w: weight(run.means[row].mean[at]),
        }),
      ],
    };
  }
  const [at, frame] = i;
  const w = weightsOf(run, look.head)[frame * run.offsets + at];
  return {
    look: { frame },
    card: () => [t(TEXT.cell, { n: frame, offset: signed(at - run.left), w: weight(w) })],
  };
}

export function sentence(run, look) {
  const { offset, ahead } = run.means[rowOf(run, look.head)];
  const says = t(TEXT.says, {
    head: look.head.replace(".", "·"),
    back: (-offset).toFixed(1).replace("-", "−"),
    s: inSeconds((-offset * run.frame) / run.rate),
    ahead: Math.round(100 * ahead),
  });
  if (look.frame === null) return [says];
  const row = weightsOf(run, look.head)
    .subarray(look.frame * run.offsets, (look.frame + 1) * run.offsets);
  const most = row.indexOf(Math.max(...row));
  const far = most - run.left;
  const place = far === 0
    ? t(TEXT.itself)
    : t(far < 0 ? TEXT.behind : TEXT.front, { n: Math.abs(far) });
  return [
    says,
    { text: t(TEXT.frame, { n: look.frame, w: weight(row[most]), offset: place }), role: "query" },
  ];
}

export const table = (run, look) => ({
  caption: t(TEXT.head),
  columns: TEXT.columns.map((column) => t(column)),
  rows: run.means.map(({ offset, ahead }, row) => [
    named(run, row),
    rounded(offset, 2),
    rounded(ahead, 3),
  ]),
  here: rowOf(run, look.head),
});

export const arrays = (run) => ({
  weights: filed(
    run.weights.data,
    ["layer", "head", "frame", "offset"],
    `weight, offsets from -${run.left} to ${run.right} frames`,
    run.weights.shape,
  ),
});

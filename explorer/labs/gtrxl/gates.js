// The gates of a walk: the mean z of each gate at every step, and below it z of every unit of the
// gate in view. The value is made by explorer/labs/gtrxl/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { rounded } from "../../frontend/lib/signs.js";
import { tickOf } from "./board.js";

export const TEXT = {
  board: {
    en:
      "{title}. Left and right go from step to step, up and down from gate to gate, Escape resets.",
    zh: "{title}。左右键逐步移动，上下键换门，Esc 复位。",
  },
  step: { en: "step", zh: "步" },
  mean: { en: "mean z of each gate", zh: "每个门的平均 z" },
  units: { en: "z of its {n} units", zh: "它的 {n} 个单元的 z" },
  said: {
    en: "At step {n} (cell {x}) the gate of {name} opens to z = {z} on average, from {low} to " +
      "{high} by unit; it was born at {born}.",
    zh:
      "第 {n} 步（第 {x} 格），{name}的门平均开到 z = {z}，各单元从 {low} 到 {high}；它生来为 {born}。",
  },
  forced: { en: " It is forced.", zh: "它是被强制的。" },
  card: { en: "{name}, step {n}", zh: "{name}，第 {n} 步" },
  z: { en: "mean z {z}", zh: "平均 z {z}" },
  unit: { en: "unit {u}: z {z}", zh: "单元 {u}：z {z}" },
  caption: { en: "Mean z of each gate, step by step", zh: "每个门逐步的平均 z" },
  cell: { en: "cell", zh: "格" },
  scale: { en: "z, 0 keeps the input, 1 replaces it", zh: "z：0 保留输入，1 全部替换" },
  choice: { en: "Gate", zh: "门" },
};

export function read(value) {
  const count = value.places.length;
  if (!count) return null;
  const units = value.gates.shape[3];
  const z = upTo(
    count,
    (at) => upTo(value.steps, (step) => value.gates.slice(Math.floor(at / 2), at % 2, step)),
  );
  const mean = z.map((steps) => steps.map((row) => row.reduce((a, b) => a + b, 0) / units));
  return { ...value, z, mean, units };
}

const place = (run, look) => run.places.indexOf(look.gate);

export function figure(run, look, pen) {
  const at = place(run, look);
  const map = (z, number) => ({
    type: "heatmap",
    z,
    x0: 1,
    dx: 1,
    y0: number > 1 ? 1 : 0,
    dy: 1,
    xaxis: number > 1 ? "x2" : "x",
    yaxis: number > 1 ? "y2" : "y",
    colorscale: run.scale,
    zmin: 0,
    zmax: 1,
    showscale: false,
  });
  const steps = {
    range: [0.5, run.steps + 0.5],
    dtick: tickOf(run.steps),
    tick0: 1,
    showgrid: false,
  };
  const units = upTo(run.units, (unit) => run.z[at].map((row) => row[unit]));
  const line = (ref, y0, y1) => ({
    type: "rect",
    xref: `x${ref}`,
    yref: `y${ref}`,
    x0: look.step - 0.5,
    x1: look.step + 0.5,
    y0,
    y1,
    line: { color: "var(--query)", width: 2 },
  });
  return {
    data: [map(run.mean, 1), map(units, 2)],
    layout: {
      height: 400,
      margin: { l: pen.big ? 240 : pen.narrow ? 96 : 150, r: 12, t: 26, b: pen.big ? 64 : 42 },
      xaxis: { ...steps, showticklabels: false },
      yaxis: {
        domain: [0.66, 1],
        range: [run.places.length - 0.5, -0.5],
        tickvals: upTo(run.places.length),
        ticktext: run.names.map((name) => pen.narrow ? t(name).replace(/[,，] ?/, "\n") : t(name)),
        showgrid: false,
      },
      xaxis2: { ...steps, anchor: "y2", title: { text: t(TEXT.step) } },
      yaxis2: {
        domain: [0, 0.55],
        anchor: "x2",
        range: [run.units + 0.5, 0.5],
        title: { text: t(TEXT.units, { n: run.units }) },
        showgrid: false,
      },
      shapes: [line("", -0.5, run.places.length - 0.5), line("2", 0.5, run.units + 0.5), {
        type: "rect",
        x0: 0.5,
        x1: run.steps + 0.5,
        y0: at - 0.5,
        y1: at + 0.5,
        line: { color: "var(--query)", width: 2.5 },
      }],
    },
  };
}

export function pick(run, look, { trace, i }) {
  const at = trace === 0 ? i[0] : place(run, look);
  const said = trace === 0
    ? t(TEXT.z, { z: run.mean[at][i[1]].toFixed(2) })
    : t(TEXT.unit, { u: i[0] + 1, z: run.z[at][i[1]][i[0]].toFixed(2) });
  return {
    look: { gate: run.places[at], step: i[1] + 1 },
    card: () => [t(TEXT.card, { name: t(run.names[at]), n: i[1] + 1 }), said],
  };
}

export function sentence(run, look) {
  const at = place(run, look);
  const all = run.z[at][look.step - 1];
  const found = parts(TEXT.said, {
    n: look.step,
    x: run.place[look.step - 1],
    name: { text: t(run.names[at]), role: "query" },
    z: { text: run.mean[at][look.step - 1].toFixed(2), role: "out" },
    low: Math.min(...all).toFixed(2),
    high: Math.max(...all).toFixed(2),
    born: run.born.toFixed(2),
  });
  return run.forced.includes(look.gate) ? [...found, { text: t(TEXT.forced) }] : found;
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: [t(TEXT.step), t(TEXT.cell), ...run.names.map((name) => `z, ${t(name)}`)],
  rows: upTo(run.steps, (n) => [n + 1, run.place[n], ...run.mean.map((row) => rounded(row[n]))]),
  here: look.step - 1,
});

export const arrays = (run) => ({
  gates: filed(run.gates.data, ["layer", "place", "step", "unit"], "z", run.gates.shape),
});

export const legend = (run) => [
  { text: t(TEXT.scale), mark: { shades: run.scale.map(([, colour]) => colour) } },
];
export const choices = (run) => [{
  key: "gate",
  label: t(TEXT.choice),
  options: run.places.map((value, n) => ({ value, label: t(run.names[n]) })),
}];

export const looks = { gate: "choice", step: "step" };
export const across = "gate";
export const resets = ["gate", "step"];
export const bounds = (run) => ({
  gate: { names: run.places, pick: "2a" },
  step: { steps: run.steps, first: 1 },
});
export const same = (was, run) => was.length === run.length && was.steps === run.steps;

// The probability of each digit and of the blank in every frame, and the best path through them:
// repeats merge, blanks vanish. The value is made by explorer/labs/speech/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { rounded, weight } from "../../frontend/lib/signs.js";
import { inSeconds, TEXT as COMMON, timeAxis, timeOf, upright, writtenBy } from "./soundrun.js";

export const TEXT = {
  board: { en: "{title}. Arrows step through the frames.", zh: "{title}。方向键逐帧移动。" },
  units: {
    en: "probability, 0 to 1; the line is the likeliest output of each frame",
    zh: "概率，0 到 1；折线为每帧最可能的输出",
  },
  cell: { en: "frame {n}, {s}: {name} {p}", zh: "第 {n} 帧，{s}：{name} {p}" },
  best: {
    en: "Frame {n} says {name} with {p}. ",
    zh: "第 {n} 帧给出{name}，概率 {p}。",
  },
  apart: {
    en: "This blank keeps “{a}” and “{b}” apart. ",
    zh: "这段空白把“{a}”和“{b}”隔开。",
  },
  path: {
    en: "The path {path} collapses to “{digits}”.",
    zh: "路径 {path} 合并为“{digits}”。",
  },
  nothing: { en: "Every frame is blank: nothing is written.", zh: "每一帧都是空白：什么也没写。" },
  columns: [
    { en: "frame", zh: "帧" },
    { en: "time, s", zh: "时间，秒" },
    { en: "likeliest output", zh: "最可能的输出" },
    { en: "its probability", zh: "其概率" },
    { en: "probability of the blank", zh: "空白的概率" },
  ],
};
const OUTPUTS = 11;
const BLANK = 10;
const rowOf = (output) => (output === BLANK ? 0 : output + 1); // the blank lies lowest

export const looks = { frame: "position" };

export function read(value) {
  const path = upTo(value.frames, (frame) => {
    const row = value.probabilities.slice(frame);
    return row.indexOf(Math.max(...row));
  });
  // stretches of one output: {output, from, to}
  const runs = path.reduce((found, output, frame) => {
    if (found.at(-1)?.output === output) found.at(-1).to = frame;
    else found.push({ output, from: frame, to: frame });
    return found;
  }, []);
  return { ...value, path, runs };
}

export const bounds = (run) => ({ frame: { count: run.frames, pick: run.at[0] ?? 0 } });
export const same = () => false;
export const units = () => TEXT.units;

const nameOf = (output) => (output === BLANK ? t(COMMON.blank) : `“${output}”`);
const probability = (run, frame, output) => run.probabilities.data[frame * OUTPUTS + output];

export function figure(run, look, pen) {
  const step = run.frame / run.rate;
  const times = upTo(run.frames, (frame) => timeOf(run, frame));
  const digits = run.runs.filter(({ output }) => output !== BLANK);
  return {
    data: [
      {
        type: "heatmap",
        x0: timeOf(run, 0),
        dx: step,
        y: upTo(OUTPUTS),
        z: upTo(
          OUTPUTS,
          (row) => times.map((_, frame) => probability(run, frame, row === 0 ? BLANK : row - 1)),
        ),
        zmin: 0,
        zmax: 1,
        colorscale: run.scale,
        showscale: false,
      },
      {
        type: "scatter",
        mode: "lines+markers",
        x: times,
        y: run.path.map(rowOf),
        line: { color: "var(--query)", width: 1.5, shape: "hvh" },
        marker: {
          size: times.map((_, frame) => (writtenBy(run, frame) < 0 ? 3 : 11)),
          color: "var(--query)",
        },
      },
      {
        type: "scatter",
        mode: "text",
        x: digits.map(({ from, to }) => (timeOf(run, from) + timeOf(run, to)) / 2),
        y: digits.map(() => OUTPUTS + 0.1),
        text: digits.map(({ output }) => String(output)),
        textfont: { size: pen.big ? 24 : 16, color: "var(--out)" },
      },
    ],
    layout: {
      height: 330,
      xaxis: timeAxis(run),
      yaxis: {
        range: [-0.5, OUTPUTS + 0.7],
        tickvals: upTo(OUTPUTS),
        ticktext: [t(COMMON.blank), ...upTo(10, String)],
        showgrid: false,
        zeroline: false,
      },
      shapes: look.frame === null ? [] : [upright(timeOf(run, look.frame))],
    },
  };
}

export function pick(run, _look, { trace, i }) {
  if (trace === 2) return null;
  const [row, frame] = trace === 0 ? i : [rowOf(run.path[i]), i];
  const output = row === 0 ? BLANK : row - 1;
  return {
    look: { frame },
    card: () => [
      t(TEXT.cell, {
        n: frame,
        s: inSeconds(timeOf(run, frame)),
        name: nameOf(output),
        p: weight(probability(run, frame, output)),
      }),
    ],
  };
}

export function sentence(run, look) {
  if (!run.digits.length) return [t(TEXT.nothing)];
  const path = run.runs.map(({ output }) => (output === BLANK ? "·" : output)).join(" ");
  const whole = { text: t(TEXT.path, { path, digits: run.digits.join("") }), role: "out" };
  if (look.frame === null) return [whole];
  const output = run.path[look.frame];
  const p = weight(probability(run, look.frame, output));
  const said = t(TEXT.best, { n: look.frame, name: nameOf(output), p });
  const at = run.runs.findIndex(({ from, to }) => from <= look.frame && look.frame <= to);
  const [a, b] = [run.runs[at - 1]?.output, run.runs[at + 1]?.output];
  const apart = output === BLANK && a !== undefined && b !== undefined;
  return [said, ...(apart ? [t(TEXT.apart, { a, b })] : []), whole];
}

export const table = (run, look) => ({
  caption: t(TEXT.units),
  columns: TEXT.columns.map((column) => t(column)),
  rows: run.path.map((output, frame) => [
    frame,
    rounded(timeOf(run, frame), 3),
    output === BLANK ? t(COMMON.blank) : output,
    rounded(probability(run, frame, output)),
    rounded(probability(run, frame, BLANK)),
  ]),
  here: look.frame,
});

export const arrays = (run) => ({
  probabilities: filed(
    run.probabilities.data,
    ["frame", "output"],
    "probability, the blank last",
    run.probabilities.shape,
  ),
});

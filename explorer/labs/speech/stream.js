// A spoken number as it comes: its digits, the tower of layers above the spectrogram with the cone
// of the frame in view, and where the gradient of its digit lies. The value is made by
// explorer/labs/speech/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { filled, t } from "../../frontend/lib/lang.js";
import { rounded, weight } from "../../frontend/lib/signs.js";
import { foot } from "../../frontend/lib/source.js";
import {
  bandOf,
  clipOf,
  coneOf,
  finalTime,
  hertzOf,
  inSeconds,
  playSpan,
  timeAxis,
  timeOf,
  unlevelled,
  upright,
  waitOf,
  wavOf,
  writtenBy,
} from "./soundrun.js";

export const TEXT = {
  board: {
    en: "{title}. Arrows step through the frames, Space plays the sound.",
    zh: "{title}。方向键逐帧移动，空格播放声音。",
  },
  units: {
    en: "loudness by time and pitch; one column is a frame of 40 ms",
    zh: "各时刻、各音高的响度；一列为一帧，40 毫秒",
  },
  said: { en: "said", zh: "说的" },
  written: { en: "written", zh: "写的" },
  tower: { en: "layer {n}", zh: "第 {n} 层" },
  heard: { en: "gradient", zh: "梯度" },
  play: { en: "Play what frame {n} could hear", zh: "播放第 {n} 帧能听到的声音" },
  nobody: { en: "This browser plays no sound here.", zh: "此浏览器在这里无法播放声音。" },
  frame: { en: "frame {n}, {s}", zh: "第 {n} 帧，{s}" },
  cell: { en: "{hz} Hz: {w} of the scale", zh: "{hz} Hz：刻度的 {w}" },
  names: { en: "writes “{digit}”, p {p}", zh: "写下“{digit}”，概率 {p}" },
  none: { en: "writes nothing", zh: "什么也不写" },
  share: { en: "{p} % of the gradient of “{digit}”", zh: "“{digit}”的梯度的 {p} %" },
  digit: { en: "“{digit}”, final at {s}", zh: "“{digit}”，{s} 时定下" },
  writes: {
    en:
      "Frame {n} writes “{digit}” with probability {p}. It can hear {from} to {to}: {back} frames" +
      " back, {ahead} ahead. ",
    zh:
      "第 {n} 帧写下“{digit}”，概率 {p}。它能听到 {from} 到 {to}：往回 {back} 帧，往前 {ahead} 帧。",
  },
  silent: {
    en: "Frame {n} writes nothing. It can hear {from} to {to}: {back} frames back, {ahead} ahead.",
    zh: "第 {n} 帧什么也不写。它能听到 {from} 到 {to}：往回 {back} 帧，往前 {ahead} 帧。",
  },
  near: {
    en: "{p} % of its gradient lies in the half second up to it. ",
    zh: "它的梯度有 {p} % 落在到此为止的半秒内。",
  },
  late: {
    en: "The digit is final at {s}, {w} after its clip ends.",
    zh: "这个数字在 {s} 定下，即其片段结束后 {w}。",
  },
  early: {
    en: "The digit is final at {s}, {w} before its clip ends.",
    zh: "这个数字在 {s} 定下，即其片段结束前 {w}。",
  },
  final: { en: "The digit is final at {s}.", zh: "这个数字在 {s} 定下。" },
  columns: [
    { en: "digit written", zh: "写下的数字" },
    { en: "frame", zh: "帧" },
    { en: "probability", zh: "概率" },
    { en: "digit said", zh: "说出的数字" },
    { en: "clip begins, s", zh: "片段开始，秒" },
    { en: "clip ends, s", zh: "片段结束，秒" },
    { en: "final, s", zh: "定下，秒" },
    { en: "written by the stream, s", zh: "流中写下，秒" },
    { en: "wait, s", zh: "等待，秒" },
  ],
};
const TICKS = [100, 500, 1000, 2000, 3500]; // Hz
const HALF = 12; // frames of half a second
const ROWS = { heard: [0, 0.12], mels: [0.17, 0.6], tower: [0.64, 0.83], digits: [0.87, 1] };

export const looks = { frame: "position" };

export function read(value, { away = false } = {}) {
  const samples = unlevelled(value.sound.data);
  const url = away ? null : URL.createObjectURL(wavOf(samples, value.rate));
  return { ...value, heardOf: samples, url };
}

export const bounds = (run) => ({ frame: { count: run.frames, pick: run.at[0] ?? 0 } });
export const same = () => false;

/** What a written digit's frame knows: {digit, p, wait}, or null. */
function digitOf(run, frame) {
  const at = writtenBy(run, frame);
  return at < 0 ? null : {
    at,
    digit: run.digits[at],
    p: run.sure[at],
    wait: waitOf(run, frame),
    row: run.heard.slice(at),
  };
}

/** The tower: from the frame at the top to all that the lowest layer sees. */
function tower(run, frame) {
  const levels = upTo(run.layers + 1);
  const clamp = (at) => Math.max(0, Math.min(run.frames - 1, at));
  const left = levels.map((level) => timeOf(run, clamp(frame - (run.layers - level) * run.left)));
  const right = levels.map((level) => timeOf(run, clamp(frame + (run.layers - level) * run.right)));
  return {
    x: [...left, ...right.reverse(), left[0]],
    y: [...levels, ...levels.toReversed(), 0],
  };
}

export function figure(run, look, pen) {
  const { frame } = look;
  const now = frame === null ? null : finalTime(run, frame);
  const [from, to] = frame === null ? [0, run.samples] : coneOf(run, frame).map((at) => at);
  const seconds = run.samples / run.rate;
  const digit = frame === null ? null : digitOf(run, frame);
  const step = run.frame / run.rate;
  const bands = run.mels.shape[1];
  const size = pen.big ? 22 : 14;
  const times = upTo(run.frames, (at) => timeOf(run, at));
  const past = run.at.map((at) => frame !== null && at <= frame);
  const row = (domain, more) => ({ domain, zeroline: false, showgrid: false, ...more });
  const outside = (x0, x1) => ({
    type: "rect",
    xref: "x",
    yref: "y",
    x0,
    x1,
    y0: -0.5,
    y1: bands - 0.5,
    line: { width: 0 },
    fillcolor: "var(--panel)",
    opacity: 0.62,
  });
  return {
    data: [
      {
        type: "heatmap",
        x0: timeOf(run, 0),
        dx: step,
        z: upTo(bands, (band) => upTo(run.frames, (at) => run.mels.data[at * bands + band])),
        zmin: 0,
        zmax: 1,
        colorscale: run.scale,
        showscale: false,
      },
      {
        type: "scatter",
        mode: "lines",
        ...(frame === null ? { x: [], y: [] } : tower(run, frame)),
        fill: "toself",
        fillcolor: "var(--query-soft)",
        line: { color: "var(--query)", width: 1.5 },
        yaxis: "y3",
      },
      {
        type: "scatter",
        mode: "markers",
        x: times,
        y: times.map(() => run.layers),
        marker: {
          size: times.map((_, at) => (at === frame ? 11 : writtenBy(run, at) < 0 ? 4 : 8)),
          color: times.map((_, at) =>
            at === frame ? "var(--query)" : writtenBy(run, at) < 0 ? "var(--control)" : "var(--out)"
          ),
        },
        yaxis: "y3",
      },
      {
        type: "scatter",
        mode: "text",
        x: run.labels.map((_, clip) => (run.begins[clip] + run.ends[clip]) / 2 / run.rate),
        y: run.labels.map(() => 1),
        text: run.labels.map(String),
        textfont: { size, color: "var(--ink)" },
        yaxis: "y2",
      },
      {
        type: "scatter",
        mode: "markers+text",
        x: run.at.map((at) => finalTime(run, at)),
        y: run.at.map(() => 0),
        text: run.digits.map(String),
        textfont: {
          size,
          color: past.map((done) => (done ? "var(--panel)" : "var(--out)")),
        },
        marker: {
          size: 1.6 * size,
          color: past.map((done) => (done ? "var(--out)" : "var(--out-soft)")),
          line: { color: "var(--out)", width: run.at.map((at) => (at === frame ? 3 : 1)) },
        },
        yaxis: "y2",
        cliponaxis: false,
      },
      {
        type: "bar",
        x: times,
        y: digit ? [...digit.row] : times.map(() => 0),
        width: step,
        marker: { color: "var(--key)" },
        yaxis: "y4",
      },
    ],
    layout: {
      height: pen.narrow ? 540 : 380,
      bargap: 0,
      margin: { l: pen.big ? 110 : 68, r: 12, t: 8, b: 44 },
      xaxis: { ...timeAxis(run), range: [0, seconds], anchor: "y4" },
      yaxis: row(ROWS.mels, {
        range: [-0.5, bands - 0.5],
        tickvals: TICKS.map(bandOf),
        ticktext: TICKS.map((hertz) => hertz >= 1000 ? `${hertz / 1000} kHz` : `${hertz} Hz`),
      }),
      yaxis2: row(ROWS.digits, {
        range: [-0.75, 1.6],
        tickvals: [0, 1],
        ticktext: [t(TEXT.written), t(TEXT.said)],
      }),
      yaxis3: row(ROWS.tower, {
        range: [-0.3, run.layers + 0.6],
        tickvals: upTo(run.layers + 1),
        ticktext: upTo(
          run.layers + 1,
          (layer) => layer === run.layers ? t(TEXT.tower, { n: layer }) : layer,
        ),
      }),
      yaxis4: row(ROWS.heard, {
        rangemode: "tozero",
        tickvals: [0],
        ticktext: [t(TEXT.heard)],
      }),
      shapes: [
        ...run.labels.map((_, clip) => ({
          type: "rect",
          xref: "x",
          yref: "y2",
          x0: run.begins[clip] / run.rate,
          x1: run.ends[clip] / run.rate,
          y0: 0.55,
          y1: 1.5,
          line: { width: 0 },
          fillcolor: "var(--sunk)",
          layer: "below",
        })),
        ...(frame === null ? [] : [
          outside(0, from / run.rate),
          outside(to / run.rate, seconds),
          upright(from / run.rate, { yref: "y", y0: -0.5, y1: bands - 0.5 }),
          upright(now, { line: { color: "var(--query)", width: 2, dash: "dot" } }),
        ]),
      ],
    },
  };
}

/** What a frame says on a card. */
function lines(run, frame) {
  const digit = digitOf(run, frame);
  const title = filled(TEXT.frame, { n: frame, s: inSeconds(timeOf(run, frame)) });
  return [
    t(title),
    digit ? t(TEXT.names, { digit: digit.digit, p: weight(digit.p) }) : t(TEXT.none),
  ];
}

export function pick(run, look, { trace, i }) {
  if (trace === 0) {
    const [band, frame] = i;
    const value = run.mels.data[frame * run.mels.shape[1] + band];
    const cell = t(TEXT.cell, { hz: Math.round(hertzOf(band)), w: value.toFixed(2) });
    return { look: { frame }, card: () => [...lines(run, frame), cell] };
  }
  if (trace === 2) return { look: { frame: i }, card: () => lines(run, i) };
  if (trace === 4) {
    const frame = run.at[i];
    const said = t(TEXT.digit, { digit: run.digits[i], s: inSeconds(finalTime(run, frame)) });
    return { look: { frame }, card: () => [said, ...lines(run, frame)] };
  }
  const digit = look.frame === null ? null : digitOf(run, look.frame);
  if (trace !== 5 || !digit) return null;
  const share = t(TEXT.share, { p: (100 * digit.row[i]).toFixed(1), digit: digit.digit });
  return { look: { frame: i }, card: () => [...lines(run, i), share] };
}

export function sentence(run, look) {
  if (look.frame === null) return [];
  const [from, to] = coneOf(run, look.frame);
  const digit = digitOf(run, look.frame);
  const values = {
    n: look.frame,
    from: inSeconds(from / run.rate),
    to: inSeconds(to / run.rate),
    back: run.layers * run.left,
    ahead: run.layers * run.right,
  };
  if (!digit) return [t(TEXT.silent, values)];
  const near = digit.row.subarray(Math.max(0, look.frame - HALF), look.frame + 1)
    .reduce((sum, share) => sum + share, 0);
  const wait = digit.wait;
  const final = wait === null ? TEXT.final : wait < 0 ? TEXT.early : TEXT.late;
  return [
    t(TEXT.writes, { ...values, digit: digit.digit, p: weight(digit.p) }),
    t(TEXT.near, { p: Math.round(100 * near) }),
    {
      text: t(final, {
        s: inSeconds(finalTime(run, look.frame)),
        w: inSeconds(Math.abs(wait ?? 0)),
      }),
      role: "out",
    },
  ];
}

export const units = () => TEXT.units;

export function below(run, look) {
  if (look.frame === null || !run.url) return [];
  const button = el("button", {
    type: "button",
    class: "tfe-button small",
    text: t(TEXT.play, { n: look.frame }),
  });
  button.addEventListener("click", () => {
    playSpan(run.heardOf, run.rate, coneOf(run, look.frame)).catch(() => {
      button.textContent = t(TEXT.nobody);
    });
  });
  return [button];
}

export const clock = (run) => ({
  key: "frame",
  seconds: run.samples / run.rate,
  sound: run.url,
  at: (second) =>
    Math.max(
      0,
      Math.min(
        run.frames - 1,
        second >= run.samples / run.rate
          ? run.frames - 1
          : Math.floor((second * run.rate - run.newest) / run.frame) - run.layers * run.right,
      ),
    ),
  when: (frame) => finalTime(run, frame ?? 0),
  says: (frame) => inSeconds(finalTime(run, frame)),
});

const seconds = (run, sample) => (sample === undefined ? null : rounded(sample / run.rate, 3));

export const table = (run, look) => ({
  caption: t(TEXT.written),
  columns: TEXT.columns.map((column) => t(column)),
  rows: run.at.map((frame, at) => {
    const clip = clipOf(run, frame);
    const wait = waitOf(run, frame);
    return [
      run.digits[at],
      frame,
      run.sure[at],
      run.labels[clip] ?? null,
      seconds(run, run.begins[clip]),
      seconds(run, run.ends[clip]),
      rounded(finalTime(run, frame), 3),
      seconds(run, run.arrives[at]),
      wait === null ? null : rounded(wait, 3),
    ];
  }),
  here: look.frame === null ? null : writtenBy(run, look.frame),
});

export const arrays = (run) => ({
  mels: filed(run.mels.data, ["frame", "mel"], "share of the scale", run.mels.shape),
  gradient: filed(run.heard.data, ["digit", "frame"], "share", run.heard.shape),
  sound: filed(run.heardOf, "sample", "amplitude, 8,000 a second"),
});

export const files = {
  WAV: (run, look) => ({
    name: "heard",
    ending: "wav",
    blob: () => {
      const [from, to] = look.frame === null ? [0, run.samples] : coneOf(run, look.frame);
      return wavOf(run.heardOf.subarray(from, to), run.rate);
    },
  }),
  CTC: (run, look) => ({
    name: "alignment",
    ending: "json",
    blob: () => {
      const { columns, rows } = table(run, look);
      const each = rows.map((row) => Object.fromEntries(row.map((one, i) => [columns[i], one])));
      const whole = { left: run.left, right: run.right, written: each };
      return new Blob([JSON.stringify(whole, null, 1)], { type: "application/json" });
    },
  }),
  TXT: (run) => ({
    name: "transcript",
    ending: "txt",
    blob: () => new Blob([`${run.digits.join("")}\n\n${foot()}\n`], { type: "text/plain" }),
  }),
};

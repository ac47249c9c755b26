// When each digit is final, for every R on one axis of time: the clips that were said, and a row of
// marks for each R. The value is made by explorer/labs/speech/views.py.

import { upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { ordinal, rounded } from "../../frontend/lib/signs.js";
import { clipOf, finalTime, inSeconds, timeAxis, waitOf } from "./soundrun.js";

export const TEXT = {
  board: {
    en: "{title}. Arrows step through the digits.",
    zh: "{title}。方向键逐个数字移动。",
  },
  units: {
    en: "grey: a digit is said; a mark: it is final, at the end of the sound at the latest",
    zh: "灰色：正在说一个数字；标记：它定下的时刻，最迟在声音结束时",
  },
  row: { en: "R = {n}", zh: "R = {n}" },
  mark: { en: "“{digit}”, R = {n}: final at {s}", zh: "“{digit}”，R = {n}：{s} 时定下" },
  after: { en: "{w} after its clip ends", zh: "片段结束后 {w}" },
  before: { en: "{w} before its clip ends", zh: "片段结束前 {w}" },
  ends: {
    en: "The {n} digit, “{digit}”, ends at {s}. ",
    zh: "第 {n} 个数字“{digit}”在 {s} 结束。",
  },
  each: { en: "R = {n} writes it {wait}", zh: "R = {n} {wait}写下" },
  misses: { en: "R = {n} writes nothing for it", zh: "R = {n} 没有写下它" },
  none: {
    en: "No digit is known here, and none is written.",
    zh: "这里没有已知的数字，也没有写下任何数字。",
  },
  mine: {
    en: "The {n} digit, “{digit}”, is final at {s} with R = {right}; its end in your sound is " +
      "unknown.",
    zh: "第 {n} 个数字“{digit}”在 R = {right} 时于 {s} 定下；它在您声音中的结束时刻不得而知。",
  },
  columns: [
    { en: "R, frames", zh: "R，帧" },
    { en: "digit written", zh: "写下的数字" },
    { en: "frame", zh: "帧" },
    { en: "final, s", zh: "定下，秒" },
    { en: "after the clip's end, s", zh: "片段结束之后，秒" },
  ],
};

export const looks = { digit: "position" };
export const read = (value) => value;
/** Of the digits that were said; of a recording, those that were written. */
const digitsOf = (run) => (run.labels.length ? run.labels : run.digits);
export const bounds = (run) => {
  const count = digitsOf(run).length;
  return { digit: { count: Math.max(1, count), pick: count ? 0 : null } };
};
export const same = () => false;
export const units = () => TEXT.units;

/** The place of a written digit among `digitsOf`. */
const placeOf = (run, row, at) => run.labels.length ? clipOf(run, run.written[row].frames[at]) : at;

/** The frame by which one R writes a digit; null where it writes none. */
function frameFor(run, row, digit) {
  const at = run.written[row].frames.findIndex((_, i) => placeOf(run, row, i) === digit);
  return at < 0 ? null : run.written[row].frames[at];
}

export function figure(run, look, pen) {
  const size = pen.big ? 20 : 13;
  const rows = run.written.length;
  const line = upTo(rows, (row) => frameFor(run, row, look.digit));
  const chosen = line.flatMap((frame, row) => frame === null ? [] : [{ frame, row }]);
  return {
    data: [
      {
        type: "scatter",
        mode: "lines",
        x: chosen.map(({ frame, row }) => finalTime(run, frame, run.written[row].right)),
        y: chosen.map(({ row }) => row),
        line: { color: "var(--query)", width: 2 },
      },
      ...run.written.map(({ right, digits, frames }, row) => ({
        type: "scatter",
        mode: "markers+text",
        x: frames.map((frame) => finalTime(run, frame, right)),
        y: frames.map(() => row),
        text: digits.map(String),
        textfont: { size, color: "var(--panel)" },
        marker: {
          size: 1.7 * size,
          color: frames.map((_, at) =>
            placeOf(run, row, at) === look.digit ? "var(--query)" : "var(--out)"
          ),
        },
        cliponaxis: false,
      })),
      {
        type: "scatter",
        mode: "text",
        x: run.labels.map((_, clip) => (run.begins[clip] + run.ends[clip]) / 2 / run.rate),
        y: run.labels.map(() => -0.8),
        text: run.labels.map(String),
        textfont: { size: size + 2, color: "var(--ink)" },
      },
    ],
    layout: {
      height: 300,
      xaxis: timeAxis(run),
      yaxis: {
        range: [rows - 0.4, -1.2],
        tickvals: upTo(rows),
        ticktext: run.written.map(({ right }) => t(TEXT.row, { n: right })),
        showgrid: true,
        gridcolor: "var(--line)",
        zeroline: false,
      },
      shapes: run.labels.map((_, clip) => ({
        type: "rect",
        yref: "paper",
        x0: run.begins[clip] / run.rate,
        x1: run.ends[clip] / run.rate,
        y0: 0,
        y1: 1,
        line: { width: 0 },
        fillcolor: clip === look.digit ? "var(--query-soft)" : "var(--sunk)",
        layer: "below",
      })),
    },
  };
}

const waiting = (run, frame, right) => {
  const wait = waitOf(run, frame, right);
  return wait === null
    ? null
    : t(wait < 0 ? TEXT.before : TEXT.after, { w: inSeconds(Math.abs(wait)) });
};

export function pick(run, _look, { trace, i }) {
  const row = trace - 1;
  if (!run.written[row]) return null;
  const { right, digits, frames } = run.written[row];
  const s = inSeconds(finalTime(run, frames[i], right));
  return {
    look: { digit: Math.max(0, placeOf(run, row, i)) },
    card: () =>
      [t(TEXT.mark, { digit: digits[i], n: right, s }), waiting(run, frames[i], right)].filter(
        Boolean,
      ),
  };
}

export function sentence(run, look) {
  const digits = digitsOf(run);
  if (look.digit === null || !digits.length) return [t(TEXT.none)];
  const values = { n: ordinal(look.digit + 1), digit: digits[look.digit] };
  if (!run.labels.length) {
    const s = inSeconds(finalTime(run, run.at[look.digit]));
    return [t(TEXT.mine, { ...values, s, right: run.right })];
  }
  const ends = t(TEXT.ends, { ...values, s: inSeconds(run.ends[look.digit] / run.rate) });
  const each = [0, run.written.length - 1].map((row) => {
    const { right } = run.written[row];
    const frame = frameFor(run, row, look.digit);
    return frame === null
      ? t(TEXT.misses, { n: right })
      : t(TEXT.each, { n: right, wait: waiting(run, frame, right) });
  });
  return [
    { text: ends, role: "query" },
    t({ en: "{a}, {b}.", zh: "{a}，{b}。" }, { a: each[0], b: each[1] }),
  ];
}

export const table = (run, look) => ({
  caption: t(TEXT.units),
  columns: TEXT.columns.map((column) => t(column)),
  rows: run.written.flatMap(({ right, digits, frames }) =>
    frames.map((frame, at) => {
      const wait = waitOf(run, frame, right);
      return [
        right,
        digits[at],
        frame,
        rounded(finalTime(run, frame, right), 3),
        wait === null ? null : rounded(wait, 3),
      ];
    })
  ),
  here: look.digit === null ? null : look.digit,
});

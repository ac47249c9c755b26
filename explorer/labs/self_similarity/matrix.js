// How alike the parts of a picture are, each with each, beside the same of a chorale's bars. The
// value is made by views.py.

import { filed } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { ramp } from "../../frontend/lib/pen.js";
import { beside, figureOf, imageOf, markOf, rowsOf } from "../../frontend/lib/panels.js";

export const TEXT = {
  board: {
    en: "{title}. Arrow keys move from part to part, Escape lets go.",
    zh: "{title}。方向键逐块移动，Esc 放开。",
  },
  question: {
    en: "What comes again, in a picture and in music?",
    zh: "图片和音乐里，什么会再次出现？",
  },
  picture: { en: "The picture and its parts", zh: "图片及其各块" },
  likeness: { en: "Part against part", zh: "块与块" },
  bars: { en: "Bar against bar, a chorale", zh: "小节与小节，众赞歌" },
  grid: { en: "{n} × {n} parts", zh: "{n} × {n} 块" },
  numbered: { en: "{n} parts, row by row", zh: "{n} 块，逐行" },
  counted: { en: "{n} bars", zh: "{n} 个小节" },
  scale: { en: "likeness, 0 to 1", zh: "相似度，0 至 1" },
  again: {
    en: "In the chorale {many} pairs of bars are equal.",
    zh: "众赞歌里有 {many} 对小节完全相同。",
  },
  two: { en: "Parts {a} and {b} have likeness {n}. ", zh: "第 {a} 块与第 {b} 块的相似度为 {n}。" },
  both: {
    en: "Bars {a} and {b} have likeness {n}. ",
    zh: "第 {a} 小节与第 {b} 小节的相似度为 {n}。",
  },
  part: { en: "part {n}", zh: "第 {n} 块" },
  caption: { en: "Likeness of the chorale's bars", zh: "众赞歌各小节的相似度" },
  bar: { en: "bar", zh: "小节" },
  image: {
    en: "Attention between pixels: Image Transformer",
    zh: "像素之间的注意力：图像 Transformer",
  },
  music: {
    en: "Attention between bars: Music Transformer",
    zh: "小节之间的注意力：音乐 Transformer",
  },
};
const EQUAL = 0.9995; // printed as 1.000

export function read(value) {
  const [[side], [count], [bars]] = ["picture", "likeness", "bars"].map((key) => value[key].shape);
  return {
    ...value,
    side,
    levels: Uint8Array.from(value.picture.data),
    grid: Math.round(Math.sqrt(count)),
    rows: { part: rowsOf(value.likeness.data, count), bar: rowsOf(value.bars.data, bars) },
  };
}

/** The mark of a part of the picture. */
function partMark(run, part, role) {
  const size = run.side / run.grid;
  return markOf(Math.floor(part / run.grid) * size, (part % run.grid) * size, role, size);
}

export function figure(run, { part, bar }, pen) {
  const marks = [partMark(run, part[1], "key"), partMark(run, part[0], "query")];
  const map = (title, under, z, cell) => ({
    title: t(title),
    under: t(under, { n: z.length }),
    side: z.length,
    z,
    scale: run.scale,
    marks: [markOf(...cell, "query")],
  });
  const [title, under] = [t(TEXT.picture), t(TEXT.grid, { n: run.grid })];
  const image = imageOf(run.levels, run.side, 3);
  return figureOf([
    { title, under, side: run.side, image, marks },
    map(TEXT.likeness, TEXT.numbered, run.rows.part, part),
    map(TEXT.bars, TEXT.counted, run.rows.bar, bar),
  ], pen);
}

export function pick(run, look, { trace, x, y }) {
  if (trace) {
    const [key, text] = trace === 1 ? ["part", TEXT.two] : ["bar", TEXT.both];
    const card = () => [t(text, { a: y + 1, b: x + 1, n: run.rows[key][y][x].toFixed(3) })];
    return { look: { [key]: [y, x] }, card };
  }
  const size = run.side / run.grid;
  const at = Math.floor(y / size) * run.grid + Math.floor(x / size);
  return {
    look: { part: [look.part[0], at] },
    card: () => [t(TEXT.part, { n: at + 1 })],
  };
}

/** The pairs of different parts, the most alike first: [first, second, likeness]. */
const pairsOf = (rows) =>
  rows.flatMap((row, a) => row.slice(0, a).map((value, b) => [b, a, value]))
    .sort((one, other) => other[2] - one[2]);

export function sentence(run, look) {
  const told = ["part", "bar"].flatMap((key) => {
    const text = key === "part" ? TEXT.two : TEXT.both;
    const [a, b] = look[key];
    return parts(text, {
      a: { text: String(a + 1), role: "query" },
      b: { text: String(b + 1), role: "key" },
      n: run.rows[key][a][b].toFixed(3),
    });
  });
  const many = pairsOf(run.rows.bar).filter(([, , value]) => value > EQUAL).length;
  return [...told, ...parts(TEXT.again, { many })];
}

export const table = (run, { bar }) => ({
  caption: t(TEXT.caption),
  columns: [t(TEXT.bar), ...run.rows.bar.map((_, n) => String(n + 1))],
  rows: run.rows.bar.map((row, n) => [n + 1, ...row.map((value) => Number(value.toFixed(3)))]),
  here: bar[0],
});

export const arrays = ({ likeness, bars }) => ({
  likeness: filed(likeness.data, ["part", "part"], "likeness, 0 to 1", likeness.shape),
  bars: filed(bars.data, ["bar", "bar"], "likeness, 0 to 1", bars.shape),
});

export const looks = { part: "pair", bar: "pair" };
export const bounds = ({ rows }) =>
  Object.fromEntries(
    Object.entries(rows).map(([key, { length }]) => [
      key,
      { counts: [length, length], pick: pairsOf(rows[key])[0].slice(0, 2) },
    ]),
  );
export const along = "part";
export const across = "row";

/** Along the row and from row to row of the picture's matrix. */
export function move(run, { part }, key, by) {
  const [row, column] = part;
  const count = run.rows.part.length;
  const at = beside({ rows: count, columns: count }, row * count + column, key, by);
  return { part: [Math.floor(at / count), at % count] };
}

export const legend = () => [{ text: t(TEXT.scale), mark: ramp("weights", 60) }];
const link = (href, text) => el("a", { class: "tfe-link", href, text: t(text) });
export const below = () => [
  el(
    "p",
    { class: "tfe-note" },
    link("/image_transformer", TEXT.image),
    " · ",
    link("/music", TEXT.music),
  ),
];
export const same = (was, run) => was.rows.part.length === run.rows.part.length;

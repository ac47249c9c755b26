// One pixel of a noisy picture, and how much each of its neighbours counts for it: by non-local
// means, by the softmax of dot products and by the trained block, on one scale. The value is made
// by views.py; weights by weights.js.

import { parts, t } from "../../frontend/lib/lang.js";
import { among } from "../../frontend/lib/selection.js";
import { ramp } from "../../frontend/lib/pen.js";
import { beside, figureOf, imageOf, markOf, pixelKeys, rowsOf } from "../../frontend/lib/panels.js";
import { block, dots, effective, means, neighbours, REACH, SIDE } from "./weights.js";

export const TEXT = {
  board: {
    en: "{title}. Arrow keys move the pixel, Escape returns to the first one.",
    zh: "{title}。方向键移动像素，Esc 回到最初的像素。",
  },
  question: { en: "Which pixels look like this one?", zh: "哪些像素与它相像？" },
  noisy: { en: "Noisy picture", zh: "含噪图片" },
  means: { en: "Non-local means", zh: "非局部均值" },
  dots: { en: "Softmax, key bias on", zh: "softmax，有键偏置" },
  plain: { en: "Softmax, no key bias", zh: "softmax，无键偏置" },
  block: { en: "Trained block", zh: "训练好的块" },
  silent: { en: "Trained block (silenced)", zh: "训练好的块（已静音）" },
  patch: { en: "patch and window", zh: "图块与窗口" },
  count: { en: "{n} effective neighbours", zh: "{n} 个有效邻居" },
  none: { en: "adds nothing", zh: "什么也不加" },
  scale: { en: "weight, 0 to {n} and more", zh: "权重，0 至 {n} 及以上" },
  asks: {
    en:
      "Pixel ({row}, {column}) has {means} effective neighbours by non-local means and {dots} by " +
      "the softmax {bias}; its best like is ({r}, {c}), weight {weight}.",
    zh:
      "像素 ({row}, {column}) 的有效邻居：非局部均值 {means} 个，{bias}的 softmax {dots} 个；最像它的是 ({r}, {c})，权重 " +
      "{weight}。",
  },
  biased: { en: "with its key bias", zh: "有键偏置" },
  unbiased: { en: "without key bias", zh: "无键偏置" },
  bright: {
    en: " The softmax counts pixels that are brighter by {n} levels than those of non-local means.",
    zh: "softmax 所取的像素比非局部均值所取的亮 {n} 级。",
  },
  place: { en: "({row}, {column}) · level {level}", zh: "({row}, {column}) · 灰度 {level}" },
  weight: { en: "{name}: weight {n}", zh: "{name}：权重 {n}" },
  caption: { en: "The neighbours of this pixel and their weights", zh: "这个像素的邻居及其权重" },
  row: { en: "row", zh: "行" },
  column: { en: "column", zh: "列" },
  level: { en: "noisy level, 0 to 1", zh: "含噪灰度，0 至 1" },
};
const SHOWN = 99; // per cent of the weights that lie within the scale

export function read(value) {
  const [rows, columns] = value.noisy.shape;
  const { data } = value.noisy;
  return {
    ...value,
    rows,
    columns,
    picture: { data, rows, columns },
    levels: Uint8Array.from(data, (one) => among(Math.round(255 * one), 0, 255)),
    known: new Map(), // the last pixel -> its weights
  };
}

const placeOf = (run, pixel) => [Math.floor(pixel / run.columns), pixel % run.columns];
const shownOf = (run, { pixel }) => pixel ?? run.pick;

/**
 * The weights of a pixel by each kernel, all over the block's window: [{key, name, weights,
 * under}].
 */
function kernelsOf(run, pixel) {
  if (run.known.has(pixel)) return run.known.get(pixel);
  const [place, { picture, trained, block: readout, bias }] = [placeOf(run, pixel), run];
  const found = [
    ["means", TEXT.means, means(picture, place, run)],
    ["dots", bias ? TEXT.dots : TEXT.plain, dots(picture, place, run)],
    readout
      ? ["block", TEXT.block, block(picture, place, { ...trained, readout })]
      : ["block", TEXT.silent, new Float64Array(SIDE ** 2)],
  ].map(([key, name, weights]) => ({ key, name, weights, count: counted(effective(weights)) }));
  run.known.clear();
  run.known.set(pixel, found);
  return found;
}

/** The largest weight of the scale: the pixel's own may lie beyond it. */
function mostOf(kernels) {
  const all = kernels.flatMap(({ weights }) => [...weights].filter(Boolean)).sort((a, b) => a - b);
  return all[Math.floor(((all.length - 1) * SHOWN) / 100)] ?? 1;
}

const counted = (n) => n.toFixed(n >= 9.95 ? 0 : 1);
const small = (weight) => weight >= 0.0005 || !weight ? weight.toFixed(3) : weight.toExponential(1);

export function figure(run, look, pen) {
  const pixel = shownOf(run, look);
  const [[row, column], kernels] = [placeOf(run, pixel), kernelsOf(run, pixel)];
  const most = mostOf(kernels);
  const marks = [
    markOf(row - REACH, column - REACH, "key", SIDE - 2, SIDE - 2, "dot"),
    markOf(row - 3, column - 3, "query", 7),
  ];
  const maps = kernels.map(({ key, name, weights, count }) => ({
    title: t(name),
    under: key === "block" && !run.block ? t(TEXT.none) : t(TEXT.count, { n: count }),
    side: SIDE,
    row: row - REACH - 1,
    column: column - REACH - 1,
    z: rowsOf(weights, SIDE),
    most,
    scale: run.scale,
    marks: [markOf(row, column, "query")],
  }));
  const [title, under, image] = [t(TEXT.noisy), t(TEXT.patch), imageOf(run.levels, run.rows)];
  return figureOf([{ title, under, side: run.rows, image, share: 1.25, marks }, ...maps], pen);
}

export function pick(run, look, { trace, x, y }) {
  if (x < 0 || y < 0 || x >= run.columns || y >= run.rows) return null;
  const [pixel, at] = [y * run.columns + x, shownOf(run, look)];
  const card = () => {
    const place = t(TEXT.place, { row: y, column: x, level: run.levels[pixel] });
    if (!trace) return [place];
    const [{ name, weights }, [row, column]] = [kernelsOf(run, at)[trace - 1], placeOf(run, at)];
    const n = weights[(y - row + REACH + 1) * SIDE + x - column + REACH + 1];
    return [place, t(TEXT.weight, { name: t(name), n: small(n) })];
  };
  return { look: { pixel }, card };
}

/** The neighbours within the picture: [{row, column, level, each: their weight by each kernel}]. */
function neighboursOf(run, pixel) {
  const kernels = kernelsOf(run, pixel);
  return neighbours(run.picture, placeOf(run, pixel), REACH + 1).map(([at, row, column]) => ({
    row,
    column,
    level: run.picture.data[row * run.columns + column],
    each: kernels.map(({ weights }) => weights[at]),
  }));
}

export function sentence(run, look) {
  const pixel = shownOf(run, look);
  const [[row, column], [first, second]] = [placeOf(run, pixel), kernelsOf(run, pixel)];
  const around = neighboursOf(run, pixel);
  const others = around.filter((one) => one.row !== row || one.column !== column);
  const best = others.reduce((a, b) => (b.each[0] > a.each[0] ? b : a));
  const as = (value, role) => ({ text: String(value), role });
  const told = parts(TEXT.asks, {
    row: as(row, "query"),
    column: as(column, "query"),
    means: first.count,
    dots: second.count,
    bias: t(run.bias ? TEXT.biased : TEXT.unbiased),
    r: as(best.row, "key"),
    c: as(best.column, "key"),
    weight: small(best.each[0]),
  });
  const mean = (n) => around.reduce((sum, one) => sum + one.each[n] * one.level, 0);
  const brighter = Math.round(255 * (mean(1) - mean(0)));
  return run.bias || brighter < 1 ? told : [...told, ...parts(TEXT.bright, { n: brighter })];
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: [
    TEXT.row,
    TEXT.column,
    TEXT.level,
    ...kernelsOf(run, shownOf(run, look)).map(
      ({ name }) => name,
    ),
  ].map((name) => t(name)),
  rows: neighboursOf(run, shownOf(run, look)).map(({ row, column, level, each }) => [
    row,
    column,
    ...[level, ...each].map((one) => Number(one.toPrecision(4))),
  ]),
  here: null,
});

export const looks = { pixel: "pixel" };
export const common = pixelKeys("pixel");
export const move = (run, look, key, by) => ({ pixel: beside(run, shownOf(run, look), key, by) });

export const legend = (run, look) => [{
  text: t(TEXT.scale, { n: small(mostOf(kernelsOf(run, shownOf(run, look)))) }),
  mark: ramp("weights", 60),
}];

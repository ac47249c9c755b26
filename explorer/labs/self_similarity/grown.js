// A texture that grows from a sample pixel by pixel, and its copy map: every pixel in the colour of
// the place that it is copied from. The value is made by views.py.

import { parts, t } from "../../frontend/lib/lang.js";
import { among } from "../../frontend/lib/selection.js";
import { beside, figureOf, imageOf, markOf } from "../../frontend/lib/panels.js";

export const TEXT = {
  board: {
    en: "{title}. Arrow keys step through the growth, Shift and arrows move the pixel, Space " +
      "plays, Escape resets.",
    zh: "{title}。左右键逐步生长，Shift 加方向键移动像素，空格播放，Esc 复位。",
  },
  question: { en: "Where does each pixel come from?", zh: "每个像素从哪里来？" },
  sample: { en: "Sample", zh: "样本" },
  colours: { en: "Its places", zh: "样本各处的颜色" },
  texture: { en: "Texture", zh: "纹理" },
  map: { en: "Copy map", zh: "拷贝图" },
  size: { en: "{n} × {n} pixels", zh: "{n} × {n} 像素" },
  legend: { en: "colour: the place in the sample", zh: "颜色：在样本中的位置" },
  reached: { en: "{n} of {of} pixels", zh: "{of} 个像素中的 {n} 个" },
  whole: {
    en:
      "{of} pixels from a sample of {sample} × {sample}, window {window}: {share} % continue the " +
      "copy to their left, and {distinct} of {all} pixels of the sample are used.",
    zh:
      "由 {sample} × {sample} 的样本长出 {of} 个像素，窗口 {window}：{share}% 延续左边的拷贝，样本的 {all} 个像素中用到 " +
      "{distinct} 个。",
  },
  part: {
    en: "{n} of {of} pixels are filled, from the middle outwards.",
    zh: "从中间向外，{of} 个像素中已填 {n} 个。",
  },
  here: {
    en: " Pixel ({row}, {column}) is copied from ({r}, {c}) of the sample; it came as number {n}.",
    zh: "像素 ({row}, {column}) 拷贝自样本的 ({r}, {c})，是第 {n} 个填上的。",
  },
  seed: {
    en: " Pixel ({row}, {column}) belongs to the seed, copied from ({r}, {c}).",
    zh: "像素 ({row}, {column}) 属于种子，拷贝自 ({r}, {c})。",
  },
  from: { en: "from ({r}, {c}) of the sample", zh: "来自样本 ({r}, {c})" },
  number: { en: "filled as number {n}; distance {d}", zh: "第 {n} 个填上；距离 {d}" },
  first: { en: "part of the seed", zh: "种子的一部分" },
  caption: { en: "Every pixel of the texture and its source", zh: "纹理的每个像素及其来源" },
  row: { en: "row", zh: "行" },
  column: { en: "column", zh: "列" },
  sourceRow: { en: "row of the source", zh: "来源的行" },
  sourceColumn: { en: "column of the source", zh: "来源的列" },
  order: { en: "number in the growth", zh: "生长次序" },
  error: { en: "smallest distance, 1 is white", zh: "最小距离，1 为白" },
};
const FRAMES = 128; // of the whole growth

export function read(value) {
  const levels = (key) => Uint8Array.from(value[key].data);
  const order = Int32Array.from(value.order.data);
  return {
    ...value,
    rows: value.sample.shape[0],
    plane: { rows: value.side, columns: value.side },
    pictures: ["sample", "colours", "texture", "map"].map((key) => ({ key, levels: levels(key) })),
    from: Array.from(order, (_, at) => [...value.source.data.slice(2 * at, 2 * at + 2)]),
    order,
    last: order.reduce((a, b) => Math.max(a, b), 0),
    distances: value.error.data,
  };
}

/** The last pixel, by its number, that is there at a step. */
const reachedAt = (run, fill) => Math.round((fill / FRAMES) ** 2 * run.last);
const isThere = (run, look, at) => run.order[at] <= reachedAt(run, look.fill);
const placeOf = (run, at) => [Math.floor(at / run.side), at % run.side];
const countOf = (run, look) =>
  run.order.reduce((n, one) => n + (one <= reachedAt(run, look.fill)), 0);

export function figure(run, look, pen) {
  const at = look.at !== null && isThere(run, look, look.at) ? look.at : null;
  const there = look.fill === FRAMES ? null : (pixel) => isThere(run, look, pixel);
  /** @type {(place: number[], role: string) => any[]} */
  const around = ([row, column], role) => {
    const [half, window] = [run.window >> 1, run.window];
    const whole = markOf(row - half, column - half, role, window, window, "dot");
    return at === null ? [] : [whole, markOf(row, column, role)];
  };
  const under = {
    sample: t(TEXT.size, { n: run.rows }),
    texture: t(TEXT.reached, { n: countOf(run, look), of: run.order.length }),
  };
  return figureOf(
    run.pictures.map(({ key, levels }, n) => ({
      title: t(TEXT[key]),
      under: under[key],
      side: n < 2 ? run.rows : run.side,
      image: imageOf(levels, n < 2 ? run.rows : run.side, 3, n < 2 ? null : there),
      marks: n < 2 ? around(run.from[at] ?? [], "key") : around(placeOf(run, at), "query"),
      share: n < 2 ? 1 : 1.6,
    })),
    pen,
  );
}

export function pick(run, look, { trace, x, y }) {
  if (trace < 2) return null;
  const at = y * run.side + x;
  if (!isThere(run, look, at)) return null;
  return {
    look: { at },
    card: () => {
      const [r, c] = run.from[at];
      return [
        `(${y}, ${x})`,
        t(TEXT.from, { r, c }),
        run.order[at]
          ? t(TEXT.number, { n: run.order[at], d: run.distances[at].toFixed(4) })
          : t(TEXT.first),
      ];
    },
  };
}

export function sentence(run, look) {
  const of = run.order.length;
  const told = look.fill === FRAMES
    ? parts(TEXT.whole, {
      of,
      sample: run.rows,
      window: run.window,
      share: (100 * run.coherence).toFixed(0),
      distinct: run.distinct,
      all: run.rows ** 2,
    })
    : parts(TEXT.part, { n: countOf(run, look), of });
  if (look.at === null || !isThere(run, look, look.at)) return told;
  const [[row, column], [r, c]] = [placeOf(run, look.at), run.from[look.at]];
  const number = run.order[look.at];
  return [
    ...told,
    ...parts(number ? TEXT.here : TEXT.seed, {
      row: { text: String(row), role: "query" },
      column: { text: String(column), role: "query" },
      r: { text: String(r), role: "key" },
      c: { text: String(c), role: "key" },
      n: number,
    }),
  ];
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: ["row", "column", "sourceRow", "sourceColumn", "order", "error"].map((key) =>
    t(TEXT[key])
  ),
  rows: run.from.map(([r, c], at) => [
    ...placeOf(run, at),
    r,
    c,
    run.order[at],
    Number(run.distances[at].toFixed(6)),
  ]),
  here: look.at,
});

export const looks = { fill: "step", at: "pixel" };
export const bounds = ({ plane }) => ({ fill: { steps: FRAMES, first: 0 }, at: plane });
export const along = "fill";
export const aside = "at";
export const across = "row";
export const clock = (run, look) => ({
  key: "fill",
  seconds: 8,
  says: (fill) => t(TEXT.reached, { n: countOf(run, { ...look, fill }), of: run.order.length }),
});

/** From the middle of the texture where nothing is locked. */
export const move = (run, look, key, by) =>
  key === "fill"
    ? { fill: among(look.fill + by, 0, FRAMES) }
    : { at: beside(run.plane, look.at ?? (run.side >> 1) * (run.side + 1), key, by) };

// A clean picture, the same under noise, and what each method makes of it, with its PSNR. The value
// is made by views.py.

import { filed } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { beside, figureOf, imageOf, markOf, pixelKeys } from "../../frontend/lib/panels.js";

export const TEXT = {
  board: {
    en: "{title}. Arrow keys move the marked pixel, Escape lets go of it.",
    zh: "{title}。方向键移动标记的像素，Esc 放开。",
  },
  question: { en: "How much noise goes?", zh: "去掉了多少噪声？" },
  clean: { en: "Clean", zh: "干净" },
  noisy: { en: "Noisy", zh: "含噪" },
  means: { en: "Non-local means", zh: "非局部均值" },
  dot: { en: "Softmax", zh: "点积 softmax" },
  block: { en: "Network, block", zh: "网络，有块" },
  silent: { en: "Network, block silenced", zh: "网络，块静音" },
  without: { en: "Network, no block", zh: "网络，无块" },
  db: { en: "{n} dB", zh: "{n} 分贝" },
  identical: { en: "identical", zh: "完全相同" },
  gains: {
    en:
      "Non-local means takes the picture from {noisy} to {means} dB; the network reaches {block} " +
      "dB {how}, and {without} dB if it never had one.",
    zh:
      "非局部均值把图片从 {noisy} 提到 {means} dB；网络{how}达到 {block} dB，从未有过块的网络为 {without} dB。",
  },
  with: { en: "with its block", zh: "带着块" },
  muted: { en: "with its block silenced", zh: "在块静音时" },
  here: {
    en: " Pixel ({row}, {column}), of 255 levels: {each}.",
    zh: "像素 ({row}, {column})（共 255 级）：{each}。",
  },
  one: { en: "{name} {n}", zh: "{name} {n}" },
  comma: { en: ", ", zh: "，" },
  place: { en: "({row}, {column}) · {name}", zh: "({row}, {column}) · {name}" },
  level: { en: "level {n} of 255, clean {of}", zh: "灰度 {n}（共 255 级），干净时 {of}" },
  caption: { en: "Each picture and its PSNR", zh: "每张图片及其 PSNR" },
  picture: { en: "picture", zh: "图片" },
  psnr: { en: "PSNR, dB", zh: "峰值信噪比，dB" },
};

export function read(value) {
  const [, rows, columns] = value.pictures.shape;
  const pictures = value.names.map((key, at) => ({
    key,
    name: TEXT[key === "block" && !value.block ? "silent" : key],
    levels: Uint8Array.from(value.pictures.slice(at)),
    psnr: value.psnr[at],
  }));
  return { ...value, rows, columns, pictures };
}

const decibels = (value) => (typeof value === "number" ? value.toFixed(2) : value);

export function figure(run, { pixel }, pen) {
  return figureOf(
    run.pictures.map(({ name, levels, psnr }) => ({
      title: t(name),
      under: psnr === null
        ? " "
        : typeof psnr === "number"
        ? t(TEXT.db, { n: decibels(psnr) })
        : t(TEXT.identical),
      side: run.rows,
      image: imageOf(levels, run.rows),
      marks: pixel === null
        ? []
        : [markOf(Math.floor(pixel / run.columns) - 3, (pixel % run.columns) - 3, "query", 7)],
    })),
    pen,
    { most: 3 },
  );
}

export const pick = (run, _look, { trace, x, y }) => ({
  look: { pixel: y * run.columns + x },
  card: () => {
    const [{ name, levels }, pixel] = [run.pictures[trace], y * run.columns + x];
    return [
      t(TEXT.place, { row: y, column: x, name: t(name) }),
      t(TEXT.level, { n: levels[pixel], of: run.pictures[0].levels[pixel] }),
    ];
  },
});

export function sentence(run, { pixel }) {
  const known = Object.fromEntries(run.pictures.map(({ key, psnr }) => [key, decibels(psnr)]));
  const told = parts(TEXT.gains, {
    ...known,
    means: { text: known.means, role: "out" },
    how: t(run.block ? TEXT.with : TEXT.muted),
  });
  if (pixel === null) return told;
  const each = run.pictures.map(({ name, levels }) =>
    t(TEXT.one, { name: t(name), n: levels[pixel] })
  );
  const [row, column] = [Math.floor(pixel / run.columns), pixel % run.columns];
  return [...told, ...parts(TEXT.here, { row, column, each: each.join(t(TEXT.comma)) })];
}

export const table = (run) => ({
  caption: t(TEXT.caption),
  columns: [t(TEXT.picture), t(TEXT.psnr)],
  rows: run.pictures.map(({ name, psnr }) => [t(name), psnr === null ? "" : decibels(psnr)]),
  here: null,
});

export const arrays = (run) =>
  Object.fromEntries(
    run.pictures.map(({ key, levels }) => [
      key,
      filed(levels, ["row", "column"], "level, 0 to 255", [run.rows, run.columns]),
    ]),
  );

export const looks = { pixel: "pixel" };
export const common = pixelKeys("pixel");
export const move = (run, { pixel }, key, by) => ({
  pixel: beside(run, pixel ?? (run.rows >> 1) * run.columns + (run.columns >> 1), key, by),
});

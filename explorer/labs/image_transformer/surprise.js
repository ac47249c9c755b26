// A picture and what each model paid for each of its pixels, side by side; the same pixel is marked
// on all of them. The value is made by drawn.py; that of a picture which cannot be read has a
// sentence alone.

import { filed } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { t } from "../../frontend/lib/lang.js";
import { among } from "../../frontend/lib/selection.js";
import { around, cellIn, ramp } from "../../frontend/lib/pen.js";
import { rounded } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: { en: "Which pixels did the models not expect?", zh: "哪些像素出乎模型意料？" },
  bits: { en: "0 to {n} bits and more", zh: "0 至 {n} 比特及以上" },
  picture: { en: "picture", zh: "图片" },
  each: { en: "{name}: {n} bits", zh: "{name}：{n} 比特" },
  here: {
    en: "Pixel ({row}, {column}), level {level}: {each}.",
    zh: "像素 ({row}, {column})，灰度 {level}：{each}。",
  },
  board: {
    en: "{title}. Arrow keys move the marked pixel, Escape lets go of it.",
    zh: "{title}。方向键移动标记的像素，Esc 放开。",
  },
  row: { en: "row", zh: "行" },
  column: { en: "column", zh: "列" },
  level: { en: "level", zh: "灰度" },
  named: { en: "{name}, bits", zh: "{name}，比特" },
  caption: { en: "Every pixel and its bits", zh: "每个像素及其比特" },
  unusual: {
    en: "This picture is unlike what the models learned from: it costs more than 99 % of the " +
      "held-out pictures.",
    zh: "这张图与模型学过的不同：它的花费高于 99% 的留出图片。",
  },
};

export function read(value) {
  const picture = value.maps.length ? value.picture.data : undefined;
  const maps = value.maps.map((map) => ({ ...map, data: map.bits.data }));
  return {
    ...value,
    picture,
    maps,
    seen: picture ? [{ label: TEXT.picture, data: picture }, ...maps] : [],
  };
}

const place = ({ columns }, pixel) => ({
  row: Math.floor(pixel / columns),
  column: pixel % columns,
});
const each = (run, pixel) =>
  run.maps.map((map) => t(TEXT.each, { name: t(map.label), n: map.data[pixel].toFixed(1) }));

export function scene(run, look, pen) {
  if (!run.maps.length) return pen.size(pen.width, 0);
  const [gap, size] = pen.big ? [28, 22] : [8, 12];
  const line = size * 1.4;
  const side = Math.floor(
    Math.min(
      (pen.width - 6 - gap * (run.seen.length - 1)) / run.seen.length,
      pen.tall ? pen.tall - 2 * line - 8 : 180,
    ),
  );
  const cell = side / run.columns;
  const mark = look.over?.bit ?? look.bit;
  run.seen.forEach((map, i) => {
    const [x0, y0] = [2 + i * (side + gap), 2];
    const box = { x0, y0, x1: x0 + side, y1: y0 + cell * run.rows };
    pen.cells(box, {
      data: map.data,
      rows: run.rows,
      columns: run.columns,
      radius: 4,
      ...(i
        ? { scale: "surprise", high: run.worst }
        : { scale: ["#000000", "#ffffff"], high: 255 }),
    });
    if (i) pen.rect(box, { line: "line", radius: 4 });
    if (mark !== null) {
      const { row, column } = place(run, mark);
      const marked = around(
        cellIn(box, run.rows, run.columns, row, column),
        Math.max(1.5, 3 - cell / 2),
      );
      pen.rect(around(marked, 1), { line: "panel", width: 4 });
      pen.rect(marked, { line: "key", width: 2 });
    }
    pen.text(x0, box.y1 + line * 0.8, t(map.label), {
      size,
      weight: 600,
      colour: "ink",
      room: side,
    });
    if (i) pen.text(x0, box.y1 + line * 1.8, map.mean.toFixed(2), { size });
    pen.grid(box, run.rows, run.columns, (row, column) => {
      const pixel = row * run.columns + column;
      return {
        still: true,
        look: { bit: pixel },
        card: () => [
          `(${row}, ${column}) · ${t(TEXT.level)} ${run.picture[pixel]}`,
          ...each(run, pixel),
        ],
      };
    });
  });
  return pen.size(2 + run.seen.length * (side + gap) - gap + 2, 2 + cell * run.rows + line * 2.4);
}

export function table(run, { bit }) {
  const columns = [
    t(TEXT.row),
    t(TEXT.column),
    t(TEXT.level),
    ...run.maps.map((map) => t(TEXT.named, { name: t(map.label) })),
  ];
  const rows = Array.from(
    run.picture ?? [],
    (level, pixel) => [
      ...Object.values(place(run, pixel)),
      level,
      ...run.maps.map((map) => rounded(map.data[pixel])),
    ],
  );
  return { caption: t(TEXT.caption), columns, rows, here: bit };
}

export function arrays(run) {
  const of = (data, unit) => filed(data, ["row", "column"], unit, [run.rows, run.columns]);
  return {
    picture: of(Uint8Array.from(run.picture ?? []), "level, 0 to 255"),
    ...Object.fromEntries(run.maps.map((map) => [`${map.key}_bits`, of(map.data, "bits")])),
  };
}

export const looks = { bit: "pixel" };
export const hovers = true;
export const along = "bit";
export const across = "row";
export const bounds = (run) => ({ bit: { rows: run.rows ?? 0, columns: run.columns ?? 0 } });

/** From the middle of the picture where nothing is locked. */
export function move(run, { bit }, key, by) {
  if (!run.maps.length) return {};
  const { row, column } = place(
    run,
    bit ?? Math.floor(run.rows / 2) * run.columns + Math.floor(run.columns / 2),
  );
  return {
    bit: among(row + (key === "row" ? by : 0), 0, run.rows - 1) * run.columns +
      among(column + (key === "bit" ? by : 0), 0, run.columns - 1),
  };
}

export const sentence = (
  run,
  { bit },
) => [
  bit === null ? t(run.sentence) : t(TEXT.here, {
    ...place(run, bit),
    level: run.picture[bit],
    each: each(run, bit).join(t({ en: ", ", zh: "，" })),
  }),
];
export const legend = (
  run,
) => (run.maps.length
  ? [{ text: t(TEXT.bits, { n: run.worst }), mark: ramp("surprise", 60) }]
  : []);
export const below = (
  run,
) => (run.unusual
  ? [el("p", { class: "tfe-note tfe-surprise-warning", text: t(TEXT.unusual) })]
  : []);
export const same = (was, run) =>
  was.picture?.length === run.picture?.length && (was.picture ?? [])
    .every((level, pixel) => level === run.picture[pixel]);

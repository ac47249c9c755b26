// A picture and what each model paid for each of its pixels, side by side; the same pixel is marked on all of them. The
// value is made by drawn.py; that of a picture which cannot be read has a sentence alone.

import { unpack } from "../../widgets/lib/arrays.js";
import { el } from "../../widgets/lib/dom.js";
import { t } from "../../widgets/lib/lang.js";
import { among } from "../../widgets/lib/looking.js";
import { ramp } from "../../widgets/lib/pen.js";
import { rounded } from "../../widgets/lib/signs.js";

const TEXT = {
  bits: { en: "0 to {n} bits and more", zh: "0 至 {n} 比特及以上" },
  picture: { en: "picture", zh: "图片" },
  each: { en: "{name}: {n} bits", zh: "{name}：{n} 比特" },
  here: { en: "Pixel ({row}, {column}), level {level}: {each}.", zh: "像素 ({row}, {column})，灰度 {level}：{each}。" },
  board: { en: "{title}. Arrow keys move the marked pixel, Escape lets go of it.", zh: "{title}。方向键移动标记的像素，Esc 放开。" },
  row: { en: "row", zh: "行" },
  column: { en: "column", zh: "列" },
  level: { en: "level", zh: "灰度" },
  named: { en: "{name}, bits", zh: "{name}，比特" },
  caption: { en: "Every pixel and its bits", zh: "每个像素及其比特" },
  unusual: { en: "This picture is unlike what the models learned from: it costs more than 99 % of the held-out pictures.",
    zh: "这张图与模型学过的不同：它的花费高于 99% 的留出图片。" },
};

async function read(value) {
  const [picture, ...bits] = await Promise.all([...(value.maps.length ? [value.picture] : []),
      ...value.maps.map((map) => map.bits)].map(unpack));
  const maps = value.maps.map((map, i) => ({ ...map, data: bits[i].data }));
  return { ...value, picture: picture?.data, maps, seen: picture
    ? [{ label: TEXT.picture, data: picture.data }, ...maps] : [] };
}

const place = ({ columns }, pixel) => ({ row: Math.floor(pixel / columns), column: pixel % columns });
const each = (run, pixel) => run.maps.map((map) => t(TEXT.each, { name: t(map.label), n: map.data[pixel].toFixed(1) }));

function scene(run, look, pen) {
  if (!run.maps.length) return pen.size(pen.width, 0);
  const [gap, size] = pen.big ? [28, 22] : [8, 12];
  const line = size * 1.4;
  const side = Math.floor(Math.min((pen.width - 6 - gap * (run.seen.length - 1)) / run.seen.length, pen.tall
      ? pen.tall - 2 * line - 8 : 180));
  const cell = side / run.columns;
  const mark = look.over?.bit ?? look.bit;
  run.seen.forEach((map, i) => {
    const [x0, y0] = [2 + i * (side + gap), 2];
    const box = { x0, y0, x1: x0 + side, y1: y0 + cell * run.rows };
    pen.cells(box, { data: map.data, rows: run.rows, columns: run.columns, radius: 4,
        ...(i ? { scale: "surprise", high: run.worst } : { scale: ["#000000", "#ffffff"], high: 255 }) });
    if (i) pen.rect(box, { line: "line", radius: 4 });
    if (mark !== null) {
      const { row, column } = place(run, mark);
      const grow = Math.max(1.5, 3 - cell / 2);
      const around = { x0: x0 + column * cell - grow, x1: x0 + (column + 1) * cell + grow, y0: y0 + row * cell - grow,
        y1: y0 + (row + 1) * cell + grow };
      pen.rect({ x0: around.x0 - 1, x1: around.x1 + 1, y0: around.y0 - 1, y1: around.y1 + 1 },
        { line: "panel", width: 4 });
      pen.rect(around, { line: "key", width: 2 });
    }
    pen.text(x0, box.y1 + line * 0.8, t(map.label), { size, weight: 600, colour: "ink", room: side });
    if (i) pen.text(x0, box.y1 + line * 1.8, map.mean.toFixed(2), { size });
    pen.hit({
      ...box,
      at(x, y) {
        const [column, row] = [Math.floor((x - x0) / cell), Math.floor((y - y0) / cell)];
        if (column < 0 || row < 0 || column >= run.columns || row >= run.rows) return null;
        const pixel = row * run.columns + column;
        const spot = { x0: x0 + column * cell, x1: x0 + (column + 1) * cell, y0: y0 + row * cell,
          y1: y0 + (row + 1) * cell, still: true };
        return { ...spot, look: { bit: pixel },
          card: () => [`(${row}, ${column}) · ${t(TEXT.level)} ${run.picture[pixel]}`, ...each(run, pixel)] };
      },
    });
  });
  return pen.size(2 + run.seen.length * (side + gap) - gap + 2, 2 + cell * run.rows + line * 2.4);
}

function table(run, { bit }) {
  const columns = [t(TEXT.row), t(TEXT.column), t(TEXT.level),
    ...run.maps.map((map) => t(TEXT.named, { name: t(map.label) }))];
  const rows = Array.from(run.picture ?? [], (level, pixel) => [...Object.values(place(run, pixel)), level,
      ...run.maps.map((map) => rounded(map.data[pixel]))]);
  return { caption: t(TEXT.caption), columns, rows, here: bit };
}

function arrays(run) {
  const shape = [run.rows, run.columns];
  const axes = ["row", "column"];
  return { picture: { shape, data: Uint8Array.from(run.picture ?? []), axes, unit: "level, 0 to 255" },
    ...Object.fromEntries(run.maps.map((map) => [`${map.key}_bits`, { shape, data: map.data, axes, unit: "bits" }])) };
}

export default {
  looks: { bit: "pixel" },
  question: { en: "Which pixels did the models not expect?", zh: "哪些像素出乎模型意料？" },
  label: TEXT.board,
  hovers: true,
  along: "bit",
  across: "row",
  read,
  bounds: (run) => ({ bit: { rows: run.rows ?? 0, columns: run.columns ?? 0 } }),
  /** From the middle of the picture where nothing is locked. */
  move(run, { bit }, key, by) {
    if (!run.maps.length) return {};
    const { row, column } = place(run, bit ?? Math.floor(run.rows / 2) * run.columns + Math.floor(run.columns / 2));
    return { bit: among(row + (key === "row" ? by : 0), 0, run.rows - 1) * run.columns +
      among(column + (key === "bit" ? by : 0), 0, run.columns - 1) };
  },
  scene,
  sentence: (run, { bit }) => [bit === null ? t(run.sentence) : t(TEXT.here, { ...place(run, bit), level: run.picture[bit], each: each(run, bit).join(t({ en: ", ",
    zh: "，" })) })],
  table,
  arrays,
  legend: (run) =>
    (run.maps.length ? [{ text: t(TEXT.bits, { n: run.worst }), mark: ramp("surprise", 60) }] : []),
  below: (run) => (run.unusual ? [el("p", { class: "tfe-note tfe-surprise-warning", text: t(TEXT.unusual) })] : []),
  same: (was, run) => was.picture?.length === run.picture?.length && (was.picture ?? [])
    .every((level, pixel) => level === run.picture[pixel]),
};

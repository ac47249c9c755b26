// Pictures before and after a change, as each model makes them: before, after and the difference in
// equal sizes, and one signed number: how much dearer the picture before becomes; where it is told,
// pixel by pixel too. The value is made by explorer/figures/pairs.py.

import { filed } from "../lib/arrays.js";
import { number, plus } from "../lib/signs.js";
import { both, comparison, headline, WHICH } from "./changed.js";
import { t } from "../lib/lang.js";

const TEXT = {
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "diff. ±{most}", zh: "差 ±{most}" },
  dearer: { en: "{unit} ±{most}", zh: "{unit} ±{most}" },
  title: { en: "how much more each pixel costs, {unit}", zh: "每个像素多付的代价，{unit}" },
};
const largest = (maps, least) =>
  Math.max(
    least,
    ...maps.map((map) => map.reduce((most, one) => Math.max(most, Math.abs(one)), 0)),
  );

export function read(value) {
  const pairs = value.pairs.map((pair) => {
    const { before, after, more } = pair;
    const [rows, columns, channels = 1] = before.shape;
    const change = new Float32Array(rows * columns); // after minus before of each pixel, the mean of its channels
    for (let i = 0; i < before.data.length; i += 1) {
      change[Math.floor(i / channels)] += (after.data[i] - before.data[i]) / channels;
    }
    const image = ({ data }) => {
      const made = new ImageData(columns, rows);
      for (let i = 0; i < rows * columns; i += 1) {
        made.data.set(
          [...[0, 1, 2].map((c) => data[i * channels + (channels > 1 ? c : 0)]), 255],
          4 * i,
        );
      }
      return made;
    };
    return {
      ...pair,
      rows,
      columns,
      channels,
      change,
      more: more?.data ?? null,
      images: [image(before), image(after)],
    };
  });
  const maps = pairs.flatMap(({ more }) => (more ? [more] : []));
  const limits = {
    difference: largest(pairs.map(({ change }) => change), 32),
    dearer: largest(maps, 0.05),
  };
  return { ...value, pairs, limits, shown: maps.length ? [...WHICH, "dearer"] : WHICH };
}

const unitOf = (run) => (run.measure.unit ? t(run.measure.unit) : "");
const each = (run) =>
  run.pairs.map((pair) => ({
    key: pair.key,
    name: t(run.names[pair.key] ?? pair.key),
    ...pair.number,
    unit: t(run.measure.label),
  }));

export function scene(run, _look, pen) {
  const size = pen.big ? 20 : 12;
  const gap = pen.narrow ? 8 : 10;
  // to a hall each model is a row, its number to the left
  const beside = pen.big && run.pairs.length > 1 ? 18 * size : 0;
  const head = 1.8 * size; // px above pictures that say what they are
  const room = beside ? (pen.tall - head) / run.pairs.length - 12 : Infinity;
  const side = Math.min(
    (pen.width - beside - (run.shown.length - 1) * gap) / run.shown.length,
    room,
    pen.big ? 300 : pen.away ? 224 : 132,
  );
  const said = {
    most: { difference: Math.ceil(run.limits.difference), dearer: number(run.limits.dearer) },
  };
  const numbers = each(run);
  let y = beside && head;
  run.pairs.forEach((pair, at) => {
    const below = headline(pen, y, numbers[at], beside ? beside - gap : pen.width);
    const top = beside ? y + 12 : below + head;
    run.shown.filter((which) => which !== "dearer" || pair.more).forEach((which, n) => {
      const x = beside + n * (side + gap);
      const box = { x0: x, x1: x + side, y0: top, y1: top + (side * pair.rows) / pair.columns };
      if (!beside || !at) {
        pen.text(
          x,
          (beside ? 0 : below) + size,
          t(TEXT[which], { unit: unitOf(run), most: said.most[which] }),
          { size, room: side },
        );
      }
      if (which === "before" || which === "after") {
        pen.pixels(box, { image: pair.images[Number(which === "after")], radius: 4 });
      } else {pen.cells(box, {
          data: which === "dearer" ? pair.more : pair.change,
          rows: pair.rows,
          columns: pair.columns,
          scale: "signed",
          low: -run.limits[which],
          high: run.limits[which],
          radius: 4,
        });}
      pen.rect(box, { line: "line", radius: 4 });
      point(run, pair, box, pen);
    });
    y = top + (side * pair.rows) / pair.columns + (beside ? 0 : 12);
  });
  pen.size(pen.width, y);
}

function point(run, pair, box, pen) {
  const levels = ({ data }, at) =>
    data.slice(at * pair.channels, (at + 1) * pair.channels).join(" ");
  pen.grid(box, pair.rows, pair.columns, (row, column) => {
    const at = row * pair.columns + column;
    return {
      still: true,
      pos: run.measure.raster ? at : undefined,
      card: () => [
        `(${row}, ${column}): ${levels(pair.before, at)} → ${levels(pair.after, at)}`,
        ...(pair.more ? [`${plus(pair.more[at])} ${unitOf(run)}`] : []),
      ],
    };
  });
}

export const common = comparison(each);
export const looks = {};
export const units = (
  run,
) => (run.shown.includes("dearer") ? t(TEXT.title, { unit: unitOf(run) }) : "");
export const arrays = (run) =>
  Object.fromEntries(run.pairs.flatMap(({ key, more, number: told, ...pair }) => {
    const shape = [pair.rows, pair.columns, ...(pair.channels > 1 ? [pair.channels] : [])];
    const axes = ["row", "column", "channel"].slice(0, shape.length);
    return [
      ...["before", "after"].map((
        which,
      ) => [`${key}.${which}`, filed(Uint8Array.from(pair[which].data), axes, "level", shape)]),
      ...(more
        ? [[`${key}.more`, filed(more, axes.slice(0, 2), unitOf(run), shape.slice(0, 2))]]
        : []),
      [`${key}.${run.measure.key}`, both(told)],
    ];
  }));

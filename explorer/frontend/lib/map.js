// The map of weights that every picture draws with the pen: queries down, keys across, their names
// and what they are beside it, the scale, the locked row as bars above it; all heads as small maps;
// and a map of more positions than names have room for.
//
// A name is {text, at, joined}: what stands there, its number in the text ("3", "960–964"), and
// whether it continues the word before it.

import { upTo } from "./arrays.js";
import { mapFigure } from "./map_figure.js";
import { pooled } from "./maps.js";
import { around, cellIn } from "./pen.js";
import { signed } from "./signs.js";

const GAP = 4; // px between small maps
const SIDE = { row: 26, top: 20 }; // px for the numbers beside small maps
const FINE = 4; // px of the finest cells for an audience
const TALL = 960; // px of many rows at most: whoever points at one sees the whole map

/** An outline that is seen on light cells and on dark ones. */
function outline(pen, box, role, width) {
  pen.rect(box, { line: role, width });
  pen.rect(around(box, -width), { line: "panel", width: 1 });
}

/**
 * Above a map: what its rows and columns are, and the scale of its weights. Returns how high that
 * is.
 */
function head(pen, x, y, width, left, { titles, title, scale = {} }) {
  const size = pen.big ? 20 : 12;
  const high = size + 10;
  const style = { size, weight: 600 };
  const bar = pen.big ? 120 : 72;
  const said = pen.measure(`${title} 0`, { size }) + bar + 10 + pen.measure("1", { size });
  const [rows, columns] = titles.map((text) => pen.measure(text, style));
  const at = Math.max(x + left, x + rows + 18);
  pen.text(x, y + size / 2 + 2, titles[0], { ...style, colour: "query" });
  pen.text(at, y + size / 2 + 2, titles[1], { ...style, colour: "key" });
  const under = at + columns + 18 + said > x + width; // there is no room beside both
  const end = x + (under ? said : width) - pen.measure("1", { size }) - 5;
  const top = y + (under ? high : 0) + size / 2 + 2;
  pen.scale({ x0: end - bar, x1: end, y0: top - size / 2 + 1, y1: top + size / 2 - 1 }, {
    title,
    size,
    ...scale,
  });
  return high + (under ? high : 0);
}

/** Where everything stands in a map, from the room there is. */
export function place(
  pen,
  width,
  { rows, columns, by = false, spaced = false, tall = 0, least = 0 },
) {
  const { big, narrow } = pen;
  const size = big ? 22 : 12;
  const index = big ? 20 : 11;
  const bold = { size, weight: 650 };
  const limit = spaced ? (narrow ? 104 : big ? 360 : 190) : narrow ? 78 : big ? 240 : 112;
  const text = (name) => `${name.joined ? "‐" : ""}${pen.cut(name.text, limit, bold)}`;
  const digits = (name) => pen.measure(name.at, { size: index });
  const named = rows.map((name) => ({ ...name, text: text(name) }));
  const left = Math.ceil(
    Math.max(...named.map((name) => pen.measure(name.text, bold) + digits(name))) + size * 0.5 + 8,
  );
  const side = by ? (narrow ? 56 : big ? 120 : 76) : 0;
  const room = Math.max(120, width - left - side - 3);
  // for an audience the whole map is shown, and names where they have room
  const thin = big ? FINE : Math.max(size + 1, least);
  const group = room / columns.length >= thin ? 1 : Math.ceil((thin * columns.length) / room);
  const count = Math.ceil(columns.length / group);
  const cell = Math.min(big ? 120 : 72, room / count);
  const names = upTo(count, (j) => {
    const [from, to] = [columns[j * group], columns[Math.min(columns.length, (j + 1) * group) - 1]];
    return from === to
      ? { ...from, text: text(from) }
      : { text: `${text(from)}…`, at: `${from.at}–${to.at}` };
  });
  const longest = Math.max(...names.map((name) => pen.measure(name.text, bold)));
  const rotated = group > 1 || longest > 1.1 * cell || Math.max(...names.map(digits)) > cell;
  const bars = narrow ? 0 : big ? 104 : 52;
  const numbers = Math.max(...names.map(digits)) + size;
  // On a hall's screen names that stand upright leave the rows their room.
  const upright = Math.min(
    longest,
    big ? Math.max(90, tall - bars - 34 - 30 * rows.length - numbers) : longest,
  );
  if (rotated && upright < longest) {
    for (const name of names) name.text = pen.cut(name.text, upright, bold);
  }
  const labels = rotated ? Math.ceil(upright + numbers) : Math.ceil(size * 1.3 + index * 1.3 + 6);
  const row = big
    ? Math.max(FINE, Math.min(56, (tall - bars - labels - 34) / rows.length))
    : narrow
    ? Math.max(18, Math.min(26, cell))
    : Math.max(Math.min(16, TALL / rows.length), Math.min(30, 240 / rows.length));
  const apart = (each) => Math.max(1, Math.ceil((size + 2) / each)); // rows or columns from one name to the next
  return {
    size,
    index,
    bold,
    rows: named,
    names,
    group,
    cell,
    row,
    rotated,
    labels,
    bars,
    left,
    side,
    nth: { row: apart(row), column: rotated ? apart(cell) : 1 },
    wide: left + count * cell + side + 3,
  };
}

/**
 * Draws a map in so many px from (x, y) on. how: {grid: {rows, columns, data, NaN where a query may
 * not look}, rows, columns: names, locked: {rows, columns}, by: is it read by columns, largest: is
 * a cell of several keys their largest, threshold, spaced, tall, titles: [of rows, of columns],
 * title: of the scale, hit(i, j): the box of a cell, row(i): that of a row, column(j)}. Returns
 * {width, height, group}: how many keys share a column.
 */
export function drawMap(pen, x, y, width, how) {
  const { grid, locked, by, threshold, largest } = how;
  const at = place(pen, width, how);
  const map = pooled(grid, at.group, largest);
  const here = [...new Set(locked.columns.map((j) => Math.floor(j / at.group)))];
  const of = (i, j) => map.data[i * map.columns + j];
  const top = y + head(pen, x, y, Math.max(at.wide, Math.min(width, 320)), at.left, how);
  const [x0, y0] = [x + at.left, top + at.bars + at.labels];
  const [x1, y1] = [x0 + map.columns * at.cell, y0 + map.rows * at.row];
  at.rows.forEach((_, i) => {
    pen.hit({ x0: x, x1, y0: y0 + i * at.row, y1: y0 + (i + 1) * at.row, ...how.row(i) });
  });
  at.names.forEach((_, j) => {
    const box = { x0: x0 + j * at.cell, x1: x0 + (j + 1) * at.cell, y0: top + at.bars, y1: y0 };
    pen.hit({ ...box, ...how.column(strongestOf(grid, j, at.group)) });
  });
  pen.plot(
    { x0: x, x1: x + at.wide, y0: top, y1: y1 + 3 },
    mapFigure({ at, map, here, locked, by, threshold, big: pen.big }),
  );
  pen.grid(
    { x0, y0, x1, y1 },
    map.rows,
    map.columns,
    (i, j) => how.hit(i, strongestIn(grid, i, j, at.group), at.group > 1 ? of(i, j) : null),
  );
  return { width: at.wide, height: y1 + 3 - y, group: at.group };
}

/** Of the keys that share a column, the one that a query looks at most. */
function strongestIn({ data, columns }, i, j, group) {
  let best = j * group;
  for (let k = best; k < Math.min(columns, (j + 1) * group); k += 1) {
    if (data[i * columns + k] > data[i * columns + best]) best = k;
  }
  return best;
}

/** The same of all queries. */
function strongestOf(grid, j, group) {
  let [best, most] = [j * group, -1];
  for (let i = 0; group > 1 && i < grid.rows; i += 1) {
    const k = strongestIn(grid, i, j, group);
    if (grid.data[i * grid.columns + k] > most) [best, most] = [k, grid.data[i * grid.columns + k]];
  }
  return best;
}

/**
 * A small map: whole, faint and struck through where its head is silenced, ringed where it is the
 * one in view. grid: its weights, or what draws something else into its box.
 */
export function drawTile(pen, box, grid, { gone = false, here = false, ...hit }) {
  if (typeof grid === "function") grid(box);
  else pen.cells(box, { ...grid, gamma: 0.8, radius: 4, alpha: gone ? 0.28 : 1 });
  if (gone) pen.line(box.x0 + 5, box.y1 - 5, box.x1 - 5, box.y0 + 5, { line: "ink", width: 2 });
  if (here) pen.rect(around(box, 3.5), { line: "query", width: 2.5, radius: 6 });
  pen.hit({ ...box, ...hit });
}

/** How wide the small maps of so many heads are. */
export const widthOfTiles = (heads, room) => SIDE.row + heads * (sizeOf(heads, room)[0] + GAP);
const sizeOf = (heads, room, most = 44) => {
  const wide = Math.max(20, Math.min(most, Math.floor((room - SIDE.row - GAP * heads) / heads)));
  return [wide, Math.round((wide * 40) / 44)];
};

/**
 * Every layer and head as a small map. how: {layers, heads, grid(layer, head), one(layer, head):
 * {gone, here, …box}}, from 1, not higher than `tall` before a hall. Returns its size.
 */
export function drawTiles(pen, x, y, room, { layers, heads, grid, one, tall = 0 }) {
  const [wide, high] = sizeOf(heads, room, tall ? (tall - SIDE.top) / layers - GAP : 44);
  const mark = { size: 12, align: "center" };
  const at = (layer, head) => ({
    x0: x + SIDE.row + (head - 1) * (wide + GAP),
    y0: y + SIDE.top + (layer - 1) * (high + GAP),
  });
  const count = (n) => upTo(n, (i) => i + 1);
  const seen = count(layers).flatMap((layer) =>
    count(heads).map((head) => ({ layer, head, ...one(layer, head) }))
  );
  const chosen = seen.find(({ here }) => here);
  for (const head of count(heads)) {
    pen.text(at(1, head).x0 + wide / 2, y + 8, head, {
      ...mark,
      ...(chosen?.head === head ? { colour: "query", weight: 700 } : { colour: "ink3" }),
    });
  }
  for (const layer of count(layers)) {
    pen.text(x + 9, at(layer, 1).y0 + high / 2, layer, {
      ...mark,
      ...(chosen?.layer === layer ? { colour: "query", weight: 700 } : { colour: "ink3" }),
    });
  }
  for (const { layer, head, ...rest } of seen) {
    const { x0, y0 } = at(layer, head);
    drawTile(pen, { x0, y0, x1: x0 + wide, y1: y0 + high }, grid(layer, head), rest);
  }
  return { width: SIDE.row + heads * (wide + GAP), height: SIDE.top + layers * (high + GAP) };
}

/**
 * A map of more positions than names have room for: its blocks, numbers along both sides, what is
 * locked. how: {grid, ends: [numbers of the first and last row, of the first and last column],
 * locked, threshold, titles, title, hit(i, j)}. Returns its size.
 */
export function drawLong(pen, x, y, side, { grid, ends, locked, threshold, hit, ...how }) {
  const size = pen.big ? 20 : 12;
  const left = Math.max(...ends[0].map((n) => pen.measure(signed(n), { size }))) + 8;
  const y0 = y + head(pen, x, y, left + side, left, how) + size + 8;
  const box = { x0: x + left, y0, x1: x + left + side, y1: y0 + side };
  pen.cells(box, {
    ...grid,
    data: threshold ? grid.data.map((one) => (one < threshold ? 0 : one)) : grid.data,
  });
  for (const share of pen.narrow ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]) {
    const [row, column] = ends.map(([from, to]) => signed(Math.round(from + share * (to - from))));
    pen.text(box.x0 + share * side, y0 - size / 2 - 3, column, {
      size,
      colour: "ink3",
      align: share === 0 ? "left" : share === 1 ? "right" : "center",
    });
    pen.text(box.x0 - 5, y0 + Math.max(size / 2, Math.min(side - size / 2, share * side)), row, {
      size,
      colour: "ink3",
      align: "right",
    });
  }
  const [i, j] = [locked.rows[0], locked.columns[0]];
  if (i !== undefined) outline(pen, around(cellIn(box, grid.rows, 1, i, 0), 3), "query", 2);
  if (i !== undefined && j !== undefined) {
    outline(pen, around(cellIn(box, grid.rows, grid.columns, i, j), 3), "key", 2);
  }
  pen.grid(box, grid.rows, grid.columns, hit);
  return { width: left + side + 4, height: box.y1 + 4 - y, left };
}

/**
 * Rows of exact weights as a strip, the block that was chosen framed. how: {rows, columns, data,
 * from, to: the framed columns}. Returns its height.
 */
export function drawStrip(pen, x, y, width, { rows, columns, data, from, to }) {
  const high = 12 * rows;
  pen.cells({ x0: x, y0: y, x1: x + width, y1: y + high }, { rows, columns, data });
  const wide = Math.max(4, ((to - from + 1) / columns) * width);
  const start = x + Math.min((from / columns) * width, width - wide);
  outline(pen, around({ x0: start, x1: start + wide, y0: y, y1: y + high }, 2), "key", 2);
  return high + 4;
}

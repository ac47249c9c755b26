// Grey pictures of 32 × 32 levels as heat maps of Plotly, and panels of equal squares side by side;
// on a phone one below the other.

import { upTo } from "./arrays.js";
import { plus } from "./signs.js";

export const SIDE = 32; // pixels of a picture's side
const GAP = 2; // pixels between two pictures of a strip
const HEAD = 34; // px above a panel, for its name
const BARE = {
  showticklabels: false,
  ticks: "",
  showgrid: false,
  zeroline: false,
  showline: false,
};

/** The number of a subplot as Plotly writes it: "", "2", "3". */
export const nth = (i) => (i ? String(i + 1) : "");
export const axesOf = (i) => ({ xaxis: `x${nth(i)}`, yaxis: `y${nth(i)}` });

/** Rows of numbers, of a flat square. */
export const rowsOf = (flat, side = SIDE) =>
  upTo(side, (row) => Array.from(flat.slice(row * side, (row + 1) * side)));

const BLACK = [[0, "#000000"], [1, "#ffffff"]];
/** A heat map of grey levels. */
export const grey = (z, i = 0) => ({
  ...{ type: "heatmap", z, zmin: 0, zmax: 255, colorscale: BLACK, showscale: false },
  ...axesOf(i),
});

/** A map of signed numbers, from −most to most, each written in its cell. */
export const signedMap = (z, most, i, colorscale, pen, digits = 2) => ({
  ...{ type: "heatmap", z, zmin: -most, zmax: most, colorscale, showscale: false },
  ...{ xgap: 1, ygap: 1, ...axesOf(i), texttemplate: "%{text}" },
  text: z.map((row) => row.map((value) => plus(value, digits))),
  textfont: { size: pen.big ? 20 : 13 },
});

/** n pictures side by side as one map, of slice(0) … slice(n − 1); the gaps are empty. */
export const strip = (n, slice) =>
  upTo(SIDE, (row) =>
    upTo(n, (at) => [
      ...slice(at).slice(row * SIDE, (row + 1) * SIDE),
      ...Array(at < n - 1 ? GAP : 0).fill(null),
    ]).flat());
/** The left edge of a picture in a strip, and the picture at a column. */
export const edgeAt = (at) => at * (SIDE + GAP) - 0.5;
export const pictureAt = (column) => Math.floor(column / (SIDE + GAP));
/** The axes of a strip of n pictures. */
export const stripAxes = (n) => ({
  x: { ...BARE, range: [edgeAt(0), edgeAt(n - 1) + SIDE] },
  y: { ...BARE, range: [SIDE - 0.5, -0.5] },
});

/** The layout of square panels of so many cells a side. */
export function panels(titles, pen, sides) {
  const n = titles.length;
  const px = Math.min(pen.narrow ? pen.width : pen.width / n, 380) + HEAD;
  const [rows, columns] = pen.narrow ? [n, 1] : [1, n];
  const grid = { rows, columns, pattern: "independent", xgap: 0.06, ygap: 0.14 };
  const margin = { l: 4, r: 4, t: pen.big ? 60 : HEAD, b: 4 };
  const layout = { height: pen.tall || Math.round(px * rows), margin, grid, shapes: [] };
  titles.forEach((text, i) => {
    const axis = { ...BARE, range: [-0.5, sides[i] - 0.5], constrain: "domain" };
    const title = { text, font: { size: pen.big ? 20 : 13 }, standoff: 6 };
    layout[`xaxis${nth(i)}`] = { ...axis, side: "top", title };
    layout[`yaxis${nth(i)}`] = {
      ...axis,
      range: [...axis.range].reverse(),
      scaleanchor: `x${nth(i)}`,
    };
  });
  return layout;
}

/**
 * The outline, or with a style the area, of a cell of `size` pixels, counted through in rows of
 * `count`.
 */
export function square(i, cell, size, count, style) {
  const [y, x] = [Math.floor(cell / count) * size - 0.5, cell % count * size - 0.5];
  const place = {
    xref: `x${nth(i)}`,
    yref: `y${nth(i)}`,
    x0: x,
    x1: x + size,
    y0: y,
    y1: y + size,
  };
  return { type: "rect", ...place, ...style };
}

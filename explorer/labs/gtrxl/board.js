// The corridor from above, as both pictures draw it: walls and floor, the fog outside of the 3 × 3
// cells in view, lamps, exits. Rows are y = 1, 0, −1; columns are x = −1 … N + 1.

import { upTo } from "../../frontend/lib/arrays.js";

export const LAMPS = "AB";
export const TINT = { A: "var(--cat-2)", B: "var(--cat-6)" };
export const MOVES = ["→", "←", "↑", "↓"];
export const DELTA = [[1, 0], [-1, 0], [0, 1], [0, -1]];
// walls and floor in the fog, then in view
const SHADES = ["var(--sunk)", "var(--line)", "var(--control)", "var(--panel)"];
const SCALE = SHADES.flatMap((colour, n) => [[n / 4, colour], [(n + 1) / 4, colour]]);
const EDGE = 1.5; // cells from the middle of a view to its edge

/** How far the numbers along an axis of so many places stand apart. */
export const tickOf = (count) => [1, 2, 5, 10, 20].find((n) => count / n <= 25) ?? 50;
/** Cells that are numbered. */
export const ticksOf = (length) => upTo(length + 1).filter((cell) => cell % tickOf(length) === 0);

/** Is a cell in the view of somebody at x? */
export const inView = (x, cell) => Math.abs(cell - x) <= 1;

/** Is there floor? */
const floor = (length, x, y) => x >= 0 && x <= length && (y === 0 || x === length);

/**
 * The cells and lamps as traces, the view and the exits as shapes and texts.
 * @param {{length: number, above: string, below: string}} corridor
 * @param {{x: number, font: number, width: number, hidden?: boolean}} how x: where the view is;
 *   hidden: lamps in the fog are not drawn
 */
export function boardOf({ length, above, below }, { x, font, width, hidden = false }) {
  const columns = upTo(length + 3, (n) => n - 1);
  const rows = [-1, 0, 1];
  const z = rows.map((y) =>
    columns.map((cell) => (inView(x, cell) ? 2 : 0) + (floor(length, cell, y) ? 1 : 0) + 0.5)
  );
  const size = Math.max(7, Math.min(1.9 * font, (0.72 * width) / (length + 3)));
  const lamps = [[above, 1], [below, -1]].flatMap(([walls, y]) =>
    upTo(length, (cell) => ({ cell, y, lamp: walls[cell] })).filter(({ cell, lamp }) =>
      LAMPS.includes(lamp) && (!hidden || inView(x, cell))
    )
  );
  const cells = {
    type: "heatmap",
    x: columns,
    y: rows,
    z,
    zmin: 0,
    zmax: 4,
    colorscale: SCALE,
    showscale: false,
    xgap: length > 40 ? 0 : 1,
    ygap: 1,
  };
  const hung = {
    type: "scatter",
    mode: size > font ? "markers+text" : "markers",
    x: lamps.map(({ cell }) => cell),
    y: lamps.map(({ y }) => y),
    text: lamps.map(({ lamp }) => lamp),
    textfont: { color: "var(--panel)", size: Math.max(12, 0.8 * font) },
    marker: {
      size,
      color: lamps.map(({ lamp }) => TINT[lamp]),
      opacity: lamps.map(({ cell }) => (inView(x, cell) ? 1 : 0.45)),
    },
  };
  const view = {
    type: "rect",
    x0: x - EDGE,
    x1: x + EDGE,
    y0: -EDGE,
    y1: EDGE,
    line: { color: "var(--query)", width: 2, dash: "dot" },
  };
  const exits = [{ lamp: "A", y: 1 }, { lamp: "B", y: -1 }].map(({ lamp, y }) => ({
    x: length,
    y: 1.52 * y,
    text: lamp,
    showarrow: false,
    yanchor: y > 0 ? "bottom" : "top",
    font: { color: TINT[lamp], size: font },
  }));
  return { data: [cells, hung], shapes: [view], annotations: exits };
}

/** Somebody in the corridor. */
export const walkerAt = (x, y, size, colour) => ({
  type: "scatter",
  mode: "markers",
  x: [x],
  y: [y],
  marker: { size, color: colour, symbol: "circle", line: { color: "var(--panel)", width: 2 } },
});

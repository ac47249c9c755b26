// A map of weights as a Plotly figure: the heat map with its names, the numbers of its large cells,
// what is locked, and the bars of what is locked above it and beside it. Cells are counted from 0,
// rows downwards; everything stands in data of the axes, so that it follows zoom and pan.

import { upTo } from "./arrays.js";
import { heatOf, lattice, numbersOf, outline, tokenAxis } from "./sheet.js";
import { number } from "./signs.js";

const LEAST = 0.1; // weights from here on have their number at their bar
const ROWS = 4; // locked rows that get bars
const FAINT = 0.45; // of a bar that is not the one in view

/** A trace of bars, each of a colour of its own strength, some with their number. */
const barsOf = (role, values, bright, texts, { size, ...more }) => ({
  type: "bar",
  cliponaxis: false,
  constraintext: "none",
  textposition: "outside",
  textangle: 0,
  textfont: { size, color: `var(--${role})`, weight: 700 },
  text: texts,
  marker: {
    color: `var(--${role})`,
    opacity: values.map((_, n) => (bright(n) ? 1 : FAINT)),
    line: { width: 0 },
  },
  ...more,
});

/** Above the map the locked rows; where it is read by columns, what every key gets in all. */
function barsAbove({ map, of, at, here, locked, by, big }) {
  const size = big ? 22 : 13;
  const above = { xaxis: "x", yaxis: "y2", size };
  const all = upTo(map.columns, (j) => j);
  if (by) {
    const sums = all.map((j) =>
      upTo(map.rows, (i) => of(i, j)).reduce((sum, w) => sum + (w === w ? w : 0), 0)
    );
    const most = Math.max(1, ...sums);
    const texts = all.map((j) => (here.includes(j) ? number(sums[j]) : ""));
    const heights = sums.map((sum) => sum / most);
    return [
      barsOf("key", heights, (j) => here.includes(j), texts, {
        ...above,
        x: all,
        y: heights,
        width: 0.62,
      }),
    ];
  }
  const rows = locked.rows.slice(0, ROWS);
  const wide = 0.62 / rows.length;
  return rows.map((i, turn) => {
    const weights = all.map((j) => of(i, j));
    const best = weights.reduce(
      (most, w, j) => w > weights[most] || weights[most] !== weights[most] ? j : most,
      0,
    );
    const main = rows.length === 1 ? (here[0] ?? best) : best;
    const said = (w, j) =>
      w === w && (j === main || (rows.length === 1 && w >= LEAST && at.cell > (big ? 60 : 34)));
    return barsOf(
      "key",
      weights,
      (j) => j === main,
      weights.map((w, j) => said(w, j) ? number(w) : ""),
      {
        ...above,
        size: rows.length > 1 ? size - 1 : size,
        x: all,
        y: weights.map((w) => (w === w ? w : 0)),
        width: wide,
        offset: -0.31 + turn * wide,
      },
    );
  });
}

/** Beside the map, where it is read by columns: who gives the locked key how much. */
function barsBeside({ map, of, at, here, locked, big }) {
  if (!at.side || !here.length) return [];
  const weights = upTo(map.rows, (i) => of(i, here[0]));
  const texts = weights.map((w) => (w >= LEAST ? number(w) : ""));
  return [
    barsOf("query", weights, (i) => locked.rows.includes(i), texts, {
      size: Math.min(big ? 22 : 13, Math.max(11, at.row - 3)),
      orientation: "h",
      xaxis: "x2",
      yaxis: "y",
      x: weights.map((w) => (w === w ? w : 0)),
      y: upTo(map.rows, (i) => i),
      width: 0.62,
    }),
  ];
}

/**
 * The ground, what is locked, and the lines between the cells. wide, high: px of the cells in all.
 */
function shapesOf({ at, here, locked, by, big, rows, columns, wide, high }) {
  const [width, height] = [wide + at.side, at.bars + at.labels + high];
  const whole = { x0: -0.5, x1: columns - 0.5, y0: -0.5, y1: rows - 0.5 };
  const row = (i) => ({ ...whole, y0: i - 0.5, y1: i + 0.5 });
  const column = (j) => ({ ...whole, x0: j - 0.5, x1: j + 0.5 });
  const [thick, thin] = big ? [4, 3.5] : [3, 2.5];
  const soft = (role, more) => ({
    type: "rect",
    layer: "below",
    line: { width: 0 },
    fillcolor: `var(--${role}-soft)`,
    ...more,
  });
  return [
    soft("sunk", { ...whole, xref: "x", yref: "y", fillcolor: "var(--sunk)" }),
    ...locked.rows.map((i) =>
      soft("query", { ...row(i), xref: "paper", x0: -at.left / width, x1: -2 / width })
    ),
    ...here.map((j) =>
      soft("key", {
        ...column(j),
        yref: "paper",
        y0: high / height,
        y1: (high + at.labels - 1) / height,
      })
    ),
    ...(at.cell >= 10 && at.row >= 10 ? lattice(rows, columns) : []),
    ...(at.bars
      ? [{
        type: "line",
        xref: "x",
        yref: "paper",
        x0: whole.x0,
        x1: whole.x1,
        y0: (high + at.labels) / height,
        y1: (high + at.labels) / height,
        line: { color: "var(--control)", width: 1 },
      }]
      : []),
    ...(by ? here : locked.rows).flatMap((one) =>
      outline(by ? column(one) : row(one), by ? "key" : "query", thin, at)
    ),
    ...here.slice(0, 1).flatMap((j) =>
      locked.rows.slice(0, 1).flatMap((i) =>
        outline({ ...column(j), y0: i - 0.5, y1: i + 0.5 }, by ? "query" : "key", thick, at)
      )
    ),
  ];
}

/**
 * The figure. at: where everything stands (`place` in map.js). map: {rows, columns, data}. here:
 * the columns, locked: {rows} that are locked. by: is it read by columns? threshold: weights under
 * it are drawn as 0.
 * @returns {{data: any[], layout: any}}
 */
export function mapFigure({ at, map, here, locked, by, threshold, big }) {
  const of = (i, j) => map.data[i * map.columns + j];
  const { rows, columns } = map;
  const digit = big ? 20 : 12;
  const prints = at.cell >= digit * 2.1 && at.row >= digit + 2;
  const heat = heatOf({ rows, columns, data: map.data.map((w) => (w < threshold ? 0 : w)) });
  const shared = { map, of, at, here, locked, by, big };
  const [wide, high] = [columns * at.cell, rows * at.row];
  const [width, height] = [wide + at.side, at.bars + at.labels + high];
  const still = { showgrid: false, zeroline: false, ticks: "", showline: false };
  const named = (names, every, list, role, between) =>
    tokenAxis(names, { every, list, role, between, size: at.size, index: at.index });
  const full = at.bars - (big ? 22 : 13) - 6; // px of a bar as high as 1
  return {
    data: [
      heat,
      ...(prints ? [numbersOf(map, digit, threshold)] : []),
      ...(at.bars ? barsAbove(shared) : []),
      ...(by ? barsBeside(shared) : []),
    ],
    layout: {
      margin: { l: at.left, r: 3, t: 0, b: 3, pad: 0 },
      plot_bgcolor: "rgba(0,0,0,0)",
      bargap: 0,
      barmode: "overlay",
      xaxis: {
        ...still,
        ...named(at.names, at.nth.column, here, "key", at.rotated ? " " : "<br>"),
        side: "top",
        anchor: "y",
        tickangle: at.rotated ? -90 : 0,
        range: [-0.5, columns - 0.5],
        domain: [0, wide / width],
        ticklabelstandoff: 2,
      },
      yaxis: {
        ...still,
        ...named(at.rows, at.nth.row, locked.rows, "query", " "),
        range: [rows - 0.5, -0.5],
        domain: [0, high / height],
        ticklabelstandoff: 4,
      },
      yaxis2: {
        ...still,
        showticklabels: false,
        fixedrange: true,
        range: [0, at.bars / Math.max(1, full)],
        domain: at.bars ? [1 - at.bars / height, 1] : [0.999, 1],
      },
      xaxis2: {
        ...still,
        showticklabels: false,
        fixedrange: true,
        range: [0, at.side / Math.max(1, at.side - 2.6 * at.size - 10)],
        domain: at.side ? [(wide + 4) / width, 1] : [0.999, 1],
      },
      shapes: shapesOf({ at, here, locked, by, big, rows, columns, wide, high }),
    },
  };
}

// Square panels side by side in one Plotly figure: pictures as images, with a transparent heat map
// over each that can be pointed at, or heat maps of numbers; a title above each and a line under
// it.

const GAP = 14; // px between panels
const EDGE = 4; // px around all of them
const LARGEST = 300; // px of a panel's side, on a page
const kept = new WeakMap(); // the levels of a picture -> its address

/** The address of a picture. levels: 0 … 255, one channel or three; alpha(pixel): is it there? */
export function imageOf(levels, side, channels = 1, there = null) {
  if (!there && kept.has(levels)) return kept.get(levels);
  const by = Math.max(1, Math.round(384 / side)); // whole, so that every pixel keeps its edges
  const sheet = document.createElement("canvas");
  sheet.width = sheet.height = side;
  const pixels = new ImageData(side, side);
  for (let at = 0; at < side * side; at += 1) {
    for (let c = 0; c < 3; c += 1) {
      pixels.data[4 * at + c] = levels[channels === 1 ? at : channels * at + c];
    }
    pixels.data[4 * at + 3] = !there || there(at) ? 255 : 0;
  }
  sheet.getContext("2d").putImageData(pixels, 0, 0);
  const large = document.createElement("canvas");
  large.width = large.height = side * by;
  const context = large.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet, 0, 0, large.width, large.height);
  const address = large.toDataURL();
  if (!there) kept.set(levels, address);
  return address;
}

/** A mark around `rows` × `columns` pixels whose first is at (row, column). */
export const markOf = (row, column, role, rows = 1, columns = rows, dash = "solid") => ({
  row,
  column,
  rows,
  columns,
  role,
  dash,
});

function shapesOf({ marks = [], ground }, x, y) {
  return marks.flatMap(({ row, column, rows, columns, role, dash }) => {
    const box = {
      type: "rect",
      xref: x,
      yref: y,
      x0: column - 0.5,
      x1: column + columns - 0.5,
      y0: row - 0.5,
      y1: row + rows - 0.5,
    };
    const line = { ...box, line: { color: `var(--${role})`, width: 2, dash } };
    return ground === false
      ? [line]
      : [{ ...box, line: { color: "var(--panel)", width: 4 } }, line];
  });
}

/** Lines of panels that fit, from left to right: of a phone, two to a line. */
function linesOf(panels, pen, most) {
  const lines = [];
  const fit = pen.narrow ? 2 : most;
  for (const panel of panels) {
    if (!lines.length || lines.at(-1).length >= fit) lines.push([]);
    lines.at(-1).push(panel);
  }
  return lines;
}

/**
 * The figure of some panels, of which trace i is panel i.
 * @param {{title: string, under?: string, side: number, image?: string, z?: number[][], most?:
 * number, scale?: any, row?: number, column?: number, share?: number, marks?: any[], picks?:
 * boolean}[]} panels
 *   side: rows and columns. row, column: of its first pixel. most: the largest value of the scale.
 *   share: of the room, 1 for most. ground: false for marks without a halo
 * @param {{width: number, tall: number, big: boolean, narrow: boolean}} pen
 * @param {{most?: number}} how most: panels of a line
 */
export function figureOf(panels, pen, { most = panels.length } = {}) {
  const size = pen.big ? 20 : 12;
  const [above, under] = [size * 1.7, panels.some((panel) => panel.under) ? size * 1.7 : 2];
  const lines = linesOf(panels, pen, most);
  const wide = pen.width - 2 * EDGE;
  const roomOf = (line) => {
    const shares = line.reduce((sum, { share = 1 }) => sum + (pen.narrow ? 1 : share), 0);
    return (wide - GAP * (line.length - 1)) / shares;
  };
  const room = pen.tall ? (pen.tall - 2 * EDGE) / lines.length - above - under - GAP / 2 : LARGEST;
  const tallest = Math.max(...panels.map(({ share = 1 }) => (pen.narrow ? 1 : share)));
  const unit = Math.min(...lines.map(roomOf), room / tallest);
  const sideOf = ({ share = 1 }) => unit * (pen.narrow ? 1 : share);
  const highs = lines.map((line) => Math.max(...line.map(sideOf)) + above + under);
  const height = pen.tall || highs.reduce((a, b) => a + b, 0) + 2 * EDGE;
  const layout = {
    height,
    margin: { l: 0, r: 0, t: 0, b: 0 },
    images: [],
    shapes: [],
    annotations: [],
  };
  const data = [];
  let top = EDGE;
  lines.forEach((line, number) => {
    let left = EDGE;
    for (const panel of line) {
      const [side, n] = [sideOf(panel), data.length + 1];
      const [x, y] = n === 1 ? ["x", "y"] : [`x${n}`, `y${n}`];
      const [first, start] = [panel.row ?? 0, panel.column ?? 0];
      const frame = { left, right: left + side, top: top + above, bottom: top + above + side };
      const share = (px) => 1 - px / height;
      layout[`xaxis${n === 1 ? "" : n}`] = {
        domain: [frame.left / pen.width, frame.right / pen.width],
        range: [start - 0.5, start + panel.side - 0.5],
        anchor: y,
        visible: false,
      };
      layout[`yaxis${n === 1 ? "" : n}`] = {
        domain: [share(frame.bottom), share(frame.top)],
        range: [first + panel.side - 0.5, first - 0.5],
        anchor: x,
        visible: false,
      };
      data.push({
        type: "heatmap",
        z: panel.z ?? emptyOf(panel.side),
        x0: start,
        y0: first,
        dx: 1,
        dy: 1,
        xaxis: x,
        yaxis: y,
        zmin: 0,
        zmax: panel.most ?? 1,
        colorscale: panel.scale ?? [[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]],
        showscale: false,
      });
      if (panel.image) {
        layout.images.push({
          source: panel.image,
          xref: x,
          yref: y,
          x: start - 0.5,
          y: first - 0.5,
          sizex: panel.side,
          sizey: panel.side,
          sizing: "stretch",
          layer: "below",
        });
      }
      layout.shapes.push(...shapesOf(panel, x, y));
      for (
        const [text, at, anchor, tone] of [
          [panel.title, frame.top - 3, "bottom", "ink"],
          [panel.under, frame.bottom + 3, "top", "ink2"],
        ]
      ) {
        if (!text) continue;
        layout.annotations.push({
          text,
          xref: "paper",
          yref: "paper",
          x: frame.left / pen.width,
          y: share(at),
          xanchor: "left",
          yanchor: anchor,
          align: "left",
          showarrow: false,
          font: { size, color: `var(--${tone})` },
          borderpad: 0,
        });
      }
      left += side + GAP;
    }
    top += highs[number];
  });
  return { data, layout };
}

const empty = new Map();
function emptyOf(side) {
  if (!empty.has(side)) {
    empty.set(
      side,
      Array.from({ length: side }, () => new Array(side).fill(0)),
    );
  }
  return empty.get(side);
}

/** A flat list of numbers as rows. */
export const rowsOf = (data, side) =>
  Array.from({ length: side }, (_, row) => Array.from(data.slice(row * side, (row + 1) * side)));

/**
 * The keys of a picture whose pixels are pointed at: arrows go along the row, and from row to row.
 */
export const pixelKeys = (key) => ({
  along: key,
  across: "row",
  bounds: ({ rows, columns }) => ({ [key]: { rows, columns } }),
  same: (was, run) => was.rows === run.rows && was.columns === run.columns,
});

/**
 * The pixel beside another one, `by` further along the row or, with the key "row", in another row.
 */
export function beside({ rows, columns }, at, key, by) {
  const within = (value, size) => Math.max(0, Math.min(size - 1, value));
  const [row, column] = [Math.floor(at / columns), at % columns];
  return within(row + (key === "row" ? by : 0), rows) * columns +
    within(column + (key === "row" ? 0 : by), columns);
}

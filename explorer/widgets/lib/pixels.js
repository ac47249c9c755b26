// Pictures made of a few hundred pixels, on a canvas: what is made, what is not, what a pixel may look at and how hard it looks.
// Nothing here touches another module, so that a saved page can carry these functions along.

/** @typedef {{sunk: string, control: string, panel: string, query: string, key: string, ink: string}} Tokens "#RRGGBB" */

/** "#RRGGBB" as three numbers. */
export function rgb(hex) {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

/**
 * Every pixel's colour, (rows · columns) × RGBA.
 * @param {{rows: number, columns: number, channels: number, levels: ArrayLike<number>, stage: ArrayLike<number> | null, ghost: number,
 *   weights: Float32Array | null, most: number, colours: Uint8ClampedArray, field: Uint8Array | null, upto: number, tokens: Tokens}} how
 *   stage: 2 made, 1 still to come but known, 0 not made; null where all is made. weights: by pixel, NaN where none, drawn against `most`.
 *   field: by pixel, through how many layers it is known (0: not), drawn up to `upto`.
 */
export function colourPixels(how) {
  const { rows, columns, channels, levels, stage, ghost, weights, most, colours, field, upto, tokens } = how;
  const out = new ImageData(columns, rows);
  const [ground, ink, key] = [tokens.sunk, tokens.ink, tokens.key].map(rgb);
  for (let i = 0; i < rows * columns; i += 1) {
    const at = stage ? stage[i] : 2;
    const w = weights ? weights[i] : Number.NaN;
    const v = w === w && most > 0 ? Math.min(1, w / most) ** 0.8 : 0;
    const over = w === w ? 0.5 + 0.42 * v : 0;
    const c = 3 * Math.round(255 * v);
    const layer = field ? field[i] : 0;
    const blue = layer && layer <= upto ? Math.max(0.26, 0.86 - 0.14 * (layer - 1)) : 0;
    for (let k = 0; k < 3; k += 1) {
      const level = levels[channels === 1 ? i : channels * i + k];
      // What is still to come is a faint drawing on the ground, so that its black is not taken for a level that was made.
      let x = at === 2 ? level : at === 0 ? ground[k] : channels === 1 ? ground[k] + ((ink[k] - ground[k]) * ghost * level) / 255 : ground[k] + (level - ground[k]) * ghost;
      if (over) x = x * (1 - over) + colours[c + k] * over;
      if (blue) x = x * (1 - blue) + key[k] * blue;
      out.data[4 * i + k] = x;
    }
    out.data[4 * i + 3] = 255;
  }
  return out;
}

/** Draws an ImageData enlarged without smoothing. */
export function enlarge(context, pixels, x, y, width, height, crop = null) {
  // One hidden canvas for all, as large as the largest: drawing is synchronous.
  const sheet = (enlarge.sheet ??= document.createElement("canvas"));
  if (sheet.width < pixels.width || sheet.height < pixels.height) {
    sheet.width = Math.max(sheet.width, pixels.width);
    sheet.height = Math.max(sheet.height, pixels.height);
  }
  sheet.getContext("2d", { willReadFrequently: true }).putImageData(pixels, 0, 0);
  context.imageSmoothingEnabled = false;
  const from = crop ?? { left: 0, top: 0, columns: pixels.width, rows: pixels.height };
  context.drawImage(sheet, from.left, from.top, from.columns, from.rows, x, y, width, height);
}

/** The cells of a mask as one path, and the path around them: {fill, edge} in units of cells, as SVG path texts. */
export function around(mask, rows, columns) {
  const inside = (row, column) => row >= 0 && column >= 0 && row < rows && column < columns && mask[row * columns + column] > 0;
  const fill = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (!inside(row, column)) continue;
      const from = column;
      while (inside(row, column + 1)) column += 1;
      fill.push(`M${from} ${row}H${column + 1}V${row + 1}H${from}Z`);
    }
  }
  // Straight pieces of the border, as long as they go.
  const edge = [];
  for (let row = 0; row <= rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const side = inside(row - 1, column) !== inside(row, column);
      if (!side) continue;
      const from = column;
      while (column + 1 < columns && inside(row - 1, column + 1) !== inside(row, column + 1)) column += 1;
      edge.push(`M${from} ${row}H${column + 1}`);
    }
  }
  for (let column = 0; column <= columns; column += 1) {
    for (let row = 0; row < rows; row += 1) {
      if (inside(row, column - 1) === inside(row, column)) continue;
      const from = row;
      while (row + 1 < rows && inside(row + 1, column - 1) !== inside(row + 1, column)) row += 1;
      edge.push(`M${column} ${from}V${row + 1}`);
    }
  }
  return { fill: fill.join(""), edge: edge.join("") };
}

/**
 * One board: the picture and all that lies over it.
 * @param {CanvasRenderingContext2D} context whose unit is a CSS pixel
 * @param {any} how what `colourPixels` takes, and: cell (side of a pixel), outlines [{mask, colour, dashed?}] drawn inside their cells,
 *   query and best (pixels or null), kept (rows given from the start)
 */
export function drawBoard(context, how) {
  const { rows, columns, cell, stage, outlines, query, best, kept, tokens } = how;
  const [width, height] = [columns * cell, rows * cell];
  const thick = Math.max(2.5, cell / 5.5);
  context.save();
  context.beginPath();
  context.roundRect(0, 0, width, height, 4);
  context.clip();
  enlarge(context, colourPixels(how), 0, 0, width, height);
  if (stage && cell >= 3) {
    // What is not made is not black: dots on the ground.
    const dot = Math.max(1, Math.round(cell / 9));
    context.fillStyle = tokens.control;
    for (let i = 0; i < rows * columns; i += 1) {
      if (stage[i] === 2) continue;
      context.globalAlpha = stage[i] === 1 ? 0.35 : 0.7;
      context.fillRect(((i % columns) + 0.5) * cell - dot / 2, (Math.floor(i / columns) + 0.5) * cell - dot / 2, dot, dot);
    }
    context.globalAlpha = 1;
  }
  for (const { mask, colour, dashed } of outlines) {
    const paths = around(mask, rows, columns);
    const scaled = (text) => {
      const path = new Path2D();
      path.addPath(new Path2D(text), new DOMMatrix([cell, 0, 0, cell, 0, 0]));
      return path;
    };
    const [fill, edge] = [scaled(paths.fill), scaled(paths.edge)];
    context.save();
    context.clip(fill); // a line drawn on the border shows its inner half: neighbours keep their own
    context.lineCap = "square";
    for (const [colour_, reach_] of dashed
      ? [[tokens.panel, thick], [colour, thick * 0.7]]
      : [[tokens.panel, thick + 2], [colour, thick + 1], [tokens.panel, 1]]) {
      context.strokeStyle = colour_;
      context.lineWidth = 2 * reach_;
      if (dashed && colour_ === colour) {
        context.lineCap = "butt";
        context.setLineDash([5, 4]);
      }
      context.stroke(edge);
    }
    context.restore();
  }
  if (kept > 0 && kept < rows) {
    context.lineWidth = 3.5;
    context.strokeStyle = tokens.panel;
    context.strokeRect(-4, -4, width + 8, kept * cell + 4);
    context.lineWidth = 1.5;
    context.strokeStyle = tokens.ink;
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(0, kept * cell);
    context.lineTo(width, kept * cell);
    context.stroke();
    context.setLineDash([]);
  }
  const spot = (pixel) => [(pixel % columns) * cell, Math.floor(pixel / columns) * cell];
  if (best !== null && best !== query) {
    const [x, y] = spot(best);
    for (const [colour, line] of [[tokens.panel, thick + 2], [tokens.key, thick]]) {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.strokeRect(x - 1, y - 1, cell + 2, cell + 2);
    }
  }
  if (query !== null) {
    const [x, y] = spot(query);
    context.fillStyle = tokens.panel;
    context.fillRect(x - 1.5, y - 1.5, cell + 3, cell + 3);
    context.fillStyle = tokens.query;
    context.fillRect(x, y, cell, cell);
  }
  context.restore();
}

/**
 * The weights of one head over what a query may see, as a small picture: not visible is the ground, the query is its own colour.
 * @param {any} how {rows, columns, weights, most, colours, query, tokens, box, x, y, width, height}
 */
export function drawTile(context, how) {
  const { columns, weights, most, colours, query, tokens, box, x, y, width, height } = how;
  const pixels = new ImageData(box.columns, box.rows);
  const ground = rgb(tokens.sunk);
  const mark = rgb(tokens.query);
  for (let i = 0; i < box.rows * box.columns; i += 1) {
    const pixel = (box.top + Math.floor(i / box.columns)) * columns + box.left + (i % box.columns);
    const w = weights[pixel];
    const c = 3 * Math.round(255 * (most > 0 ? Math.min(1, w / most) ** 0.8 : 0));
    for (let k = 0; k < 3; k += 1) pixels.data[4 * i + k] = pixel === query ? mark[k] : w === w ? colours[c + k] : ground[k];
    pixels.data[4 * i + 3] = 255;
  }
  context.save();
  context.beginPath();
  context.roundRect(x, y, width, height, 3);
  context.clip();
  enlarge(context, pixels, x, y, width, height);
  context.restore();
}

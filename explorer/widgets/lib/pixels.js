// Pictures made of a few hundred pixels, on a canvas.
// Nothing here touches another module, so that a saved page can carry these functions along.

/** "#RRGGBB" as three numbers. */
export function rgb(hex) {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

/** Draws an ImageData at another size, without smoothing where nothing else is said. */
export function enlarge(context, pixels, x, y, width, height, crop = null, smooth = false) {
  // One hidden canvas for all, as large as the largest: drawing is synchronous.
  const sheet = (enlarge.sheet ??= document.createElement("canvas"));
  if (sheet.width < pixels.width || sheet.height < pixels.height) {
    sheet.width = Math.max(sheet.width, pixels.width);
    sheet.height = Math.max(sheet.height, pixels.height);
  }
  sheet.getContext("2d", { willReadFrequently: true }).putImageData(pixels, 0, 0);
  Object.assign(context, { imageSmoothingEnabled: smooth, imageSmoothingQuality: "high" });
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

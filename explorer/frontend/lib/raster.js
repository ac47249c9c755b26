// Arrays as pictures on a canvas: crisp cells, no smoothing, the same colour scales as the figures.

/** "#RRGGBB" as three numbers. */
export const rgb = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/**
 * A look-up table of 256 colours between stops.
 * @param {[number, string][]} stops positions from 0 to 1 with "#RRGGBB", as Plotly takes them
 * @param {number} [gamma] a tile may lift small values by w ** 0.8
 * @returns {Uint8ClampedArray} 256 × 3
 */
export function table(stops, gamma = 1) {
  const out = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; i += 1) {
    const at = (i / 255) ** gamma;
    let right = 1;
    while (right < stops.length - 1 && stops[right][0] < at) right += 1;
    const [from, low] = stops[right - 1];
    const [to, high] = stops[right];
    const part = to > from ? Math.min(1, Math.max(0, (at - from) / (to - from))) : 0;
    const [a, b] = [rgb(low), rgb(high)];
    for (let c = 0; c < 3; c += 1) out[3 * i + c] = a[c] + (b[c] - a[c]) * part;
  }
  return out;
}

/**
 * An ImageData on a canvas of its own: one canvas for all would be copied whole whenever the next
 * picture is put on it.
 */
function sheet(pixels) {
  const made = Object.assign(document.createElement("canvas"), {
    width: pixels.width,
    height: pixels.height,
  });
  made.getContext("2d", { willReadFrequently: true }).putImageData(pixels, 0, 0);
  return made;
}

/**
 * Draws an ImageData at another size, without smoothing where nothing else is said. crop: {left,
 * top, columns, rows}, what of it
 */
export function enlarge(context, pixels, { x, y, width, height, crop = null, smooth = false }) {
  Object.assign(context, { imageSmoothingEnabled: smooth, imageSmoothingQuality: "high" });
  const from = crop ?? { left: 0, top: 0, columns: pixels.width, rows: pixels.height };
  context.drawImage(
    sheet(pixels),
    from.left,
    from.top,
    from.columns,
    from.rows,
    x,
    y,
    width,
    height,
  );
}

/**
 * Gives a canvas its size in CSS pixels at the screen's own resolution; returns its context, scaled
 * to CSS pixels.
 */
export function fit(canvas, width, height, grown = 1) {
  const ratio = Math.max(1, (window.devicePixelRatio || 1) * grown);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

const KEPT = 8_000_000; // pixels of painted cells that are remembered
const EACH = 8_000; // what a canvas costs beside its pixels
const kept = new Map(); // the least recently used first
const numbers = new WeakMap();
let [last, held] = [0, 0];
const numberOf = (array) => {
  if (!numbers.has(array)) numbers.set(array, last += 1);
  return numbers.get(array);
};

/** Cells painted once for each size and colours, as long as there is room. */
function remembered(how, w, h) {
  const { data, colours, rows, columns, empty, low = 0, high = 1 } = how;
  const place = data.buffer ? [numberOf(data.buffer), data.byteOffset] : [numberOf(data)];
  const key = [...place, numberOf(colours), rows, columns, empty, low, high, w, h].join(" ");
  const found = kept.get(key) ?? sheet(drawn(how, w, h));
  if (!kept.delete(key)) held += w * h + EACH;
  kept.set(key, found);
  for (const [old, one] of kept) {
    if (held <= KEPT || old === key) break;
    kept.delete(old);
    held -= one.width * one.height + EACH;
  }
  return found;
}

/**
 * Paints rows × columns values into a rectangle of CSS pixels. Where several values share one pixel
 * the largest shows, so that a thin diagonal survives in a small picture. NaN is "not allowed" and
 * takes the `empty` colour, "none" for none.
 * @param {CanvasRenderingContext2D} context from fit()
 * @param {{data: ArrayLike<number>, rows: number, columns: number, colours: Uint8ClampedArray,
 * empty: string, low?: number, high?: number,
 *   x: number, y: number, width: number, height: number, radius?: number, alpha?: number}} how
 *   data: it is not changed once it was drawn
 */
export function paint(context, how) {
  const { x, y, width, height, radius = 0, alpha = 1 } = how;
  const ratio = context.getTransform().a;
  // A pixel for each value where there is room: the browser makes them larger faster than we do.
  const [w, h] = [[width, how.columns], [height, how.rows]]
    .map(([size, count]) => Math.max(1, Math.min(count, Math.round(size * ratio))));
  const painted = remembered(how, w, h);
  context.save();
  context.globalAlpha = alpha;
  context.imageSmoothingEnabled = false;
  if (radius) {
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    context.clip();
  }
  context.drawImage(painted, 0, 0, w, h, x, y, width, height);
  context.restore();
}

/** The cells as so many pixels. */
function drawn({ data, rows, columns, colours, empty, low = 0, high = 1 }, w, h) {
  const pixels = new ImageData(w, h);
  const none = empty === "none" ? null : rgb(empty);
  const span = high - low || 1;
  const edges = (count, size) => {
    const from = new Int32Array(size);
    const to = new Int32Array(size);
    for (let i = 0; i < size; i += 1) {
      from[i] = Math.min(count - 1, Math.floor((i * count) / size));
      to[i] = Math.max(from[i] + 1, Math.min(count, Math.floor(((i + 1) * count) / size)));
    }
    return [from, to];
  };
  const [top, bottom] = edges(rows, h);
  const [left, right] = edges(columns, w);
  let at = 0;
  for (let j = 0; j < h; j += 1) {
    for (let i = 0; i < w; i += 1) {
      let best = Number.NaN;
      for (let row = top[j]; row < bottom[j]; row += 1) {
        for (let column = left[i]; column < right[i]; column += 1) {
          const value = data[row * columns + column];
          if (!(best >= value) && value === value) best = value;
        }
      }
      if (best === best) {
        const colour = 3 * Math.max(0, Math.min(255, Math.round(((best - low) / span) * 255)));
        pixels.data[at] = colours[colour];
        pixels.data[at + 1] = colours[colour + 1];
        pixels.data[at + 2] = colours[colour + 2];
      } else if (none) [pixels.data[at], pixels.data[at + 1], pixels.data[at + 2]] = none;
      pixels.data[at + 3] = best === best || none ? 255 : 0;
      at += 4;
    }
  }
  return pixels;
}

/**
 * The border of a mask over pixels, `inset` px inside of it, as an SVG path. cell: px of a pixel.
 */
export function border(mask, rows, columns, cell, inset) {
  const inside = (row, column) =>
    row >= 0 && column >= 0 && row < rows && column < columns &&
    mask[row * columns + column] > 0;
  // "column,row" of a corner -> the directions in which the border goes on from it, the inside at
  // its right hand
  const next = new Map();
  const side = (column, row, dx, dy) => {
    const name = `${column},${row}`;
    next.set(name, [...(next.get(name) ?? []), [dx, dy]]);
  };
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (!inside(row, column)) continue;
      if (!inside(row - 1, column)) side(column, row, 1, 0);
      if (!inside(row, column + 1)) side(column + 1, row, 0, 1);
      if (!inside(row + 1, column)) side(column + 1, row + 1, -1, 0);
      if (!inside(row, column - 1)) side(column, row + 1, 0, -1);
    }
  }
  let path = "";
  while (next.size) {
    const start = next.keys().next().value;
    let [column, row] = start.split(",").map(Number);
    let from = null; // the direction in which the corner was reached
    const corners = [];
    for (let name = start; next.has(name); name = `${column},${row}`) {
      const ways = next.get(name);
      const [dx, dy] = ways.pop();
      if (!ways.length) next.delete(name);
      corners.push([column, row, from, [dx, dy]]);
      [column, row, from] = [column + dx, row + dy, [dx, dy]];
    }
    corners[0][2] = from;
    const turns = corners.filter(([, , [ax, ay], [bx, by]]) => ax !== bx || ay !== by)
      .map(([x, y, [ax, ay], [bx, by]]) =>
        `${x * cell - inset * (ay + by)},${y * cell + inset * (ax + bx)}`
      );
    path += `M${turns.join("L")}Z`;
  }
  return path;
}

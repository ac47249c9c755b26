// A picture in a request: how pixels of 0 and 1 and levels of 0 … 255 are spelled, how greys become
// pixels, and how a visitor's picture comes to the size of digits.

const DIGIT = 20; // pixels: the longer side of a digit among those that were learned from
const LOOSE = 22; // one up to this long keeps its pixels
const SEEN = 28; // levels that tell a thing from its ground, as on the server (uploads.py)

/** Bytes as a request carries them: base64url, without padding. */
const text = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-")
    .replaceAll("/", "_").replace(/=+$/, "");

/** The bytes that a text carries, or null where there are not `size` of them. */
function bytesOf(carried, size) {
  try {
    const raw = atob(carried.replaceAll("-", "+").replaceAll("_", "/"));
    return raw.length === size ? Uint8Array.from(raw, (each) => each.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** Levels are bytes; a picture of them is shown as it is. */
const LEVELS = { spelled: text, unspelled: bytesOf, greys: (levels) => levels };

/**
 * Pixels of 0 and 1, one bit each in raster order, the first of eight the highest; shown in black
 * and white.
 */
const INK = {
  spelled(pixels) {
    const bytes = new Uint8Array(Math.ceil(pixels.length / 8));
    pixels.forEach((pixel, at) => {
      if (pixel) bytes[at >> 3] |= 128 >> (at & 7);
    });
    return text(bytes);
  },
  unspelled(carried, size) {
    const bytes = bytesOf(carried, Math.ceil(size / 8));
    return bytes &&
      Uint8Array.from({ length: size }, (_, at) => (bytes[at >> 3] >> (7 - (at & 7))) & 1);
  },
  greys: (pixels) => Uint8Array.from(pixels, (pixel) => pixel * 255),
};

/**
 * How pictures of one kind are spelled, {spelled, unspelled}, and shown, greys. ink: of 0 and 1.
 */
export const codec = (ink) => (ink ? INK : LEVELS);

/**
 * Greys 0 … 255 as pixels. thresholds: (pixel) the least level at which each becomes ink, drawn
 * once and for all.
 */
export const inked = (levels, thresholds) =>
  Uint8Array.from(levels, (level, at) => Number(level >= thresholds[at]));

/** A coloured picture averaged from `large` to `small` pixels a side. */
export function averaged(levels, large, small) {
  const [step, found] = [large / small, new Float32Array(small * small * 3)];
  levels.forEach((level, at) => {
    const [pixel, channel] = [Math.floor(at / 3), at % 3];
    const [row, column] = [Math.floor(pixel / large / step), Math.floor((pixel % large) / step)];
    found[3 * (row * small + column) + channel] += level / step ** 2;
  });
  return Uint8Array.from(found, Math.round);
}

/**
 * A grey picture brought to the size of the digits that were learned from: its content 20 pixels
 * long, its centre of mass in the middle.
 * @returns {{levels: Uint8Array, changed: boolean}} unchanged where the content is no longer than
 * digits are
 */
export function fitted(levels, side) {
  const box = content(levels, side);
  const longest = Math.max(box.bottom - box.top, box.right - box.left);
  if (longest <= LOOSE) return { levels, changed: false };
  const [rows, columns] = [box.bottom - box.top, box.right - box.left]
    .map((length) => Math.max(1, Math.round((length * DIGIT) / longest)));
  const small = new Float64Array(rows * columns);
  const mass = { all: 0, row: 0, column: 0 };
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const level = mean(levels, side, [box.top, box.bottom, row, rows], [
        box.left,
        box.right,
        column,
        columns,
      ]);
      small[row * columns + column] = level;
      mass.all += level;
      mass.row += level * (row + 0.5);
      mass.column += level * (column + 0.5);
    }
  }
  const place = (middle, length) =>
    Math.min(side - length, Math.max(0, Math.round(side / 2 - middle / mass.all)));
  const [top, left] = [place(mass.row, rows), place(mass.column, columns)];
  const found = new Uint8Array(side * side);
  small.forEach((level, at) => {
    found[(top + Math.floor(at / columns)) * side + left + (at % columns)] = Math.round(level);
  });
  return { levels: found, changed: true };
}

/** Where what stands out from black lies; ends are exclusive. */
function content(levels, side) {
  const box = { top: side, bottom: 0, left: side, right: 0 };
  levels.forEach((level, at) => {
    if (level <= SEEN) return;
    const [row, column] = [Math.floor(at / side), at % side];
    box.top = Math.min(box.top, row);
    box.bottom = Math.max(box.bottom, row + 1);
    box.left = Math.min(box.left, column);
    box.right = Math.max(box.right, column + 1);
  });
  return box;
}

/**
 * The mean level of the part that one small pixel covers, whole and partial pixels by their share.
 * Each span: first, end, which, of how many.
 */
function mean(levels, side, ...spans) {
  const [rows, columns] = spans.map(([first, end, which, of]) => {
    const step = (end - first) / of;
    const [low, high] = [first + which * step, first + (which + 1) * step];
    const shares = [];
    for (let at = Math.floor(low); at < high - 1e-9; at += 1) {
      shares.push([at, Math.min(high, at + 1) - Math.max(low, at)]);
    }
    return shares;
  });
  let [sum, weight] = [0, 0];
  for (const [row, high] of rows) {
    for (const [column, wide] of columns) {
      sum += levels[row * side + column] * high * wide;
      weight += high * wide;
    }
  }
  return sum / weight;
}

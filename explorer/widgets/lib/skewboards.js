// The tensors of skewing as boards of numbers, one SVG. Colours stand as var(--token) until the picture leaves the page.

import { svg } from "./dom.js";
import { t } from "./lang.js";

const TEXT = {
  product: { en: "query × distance", zh: "查询 × 距离" },
  padded: { en: "a column of zeros in front", zh: "前面加一列零" },
  reshaped: { en: "read in rows one shorter", zh: "每行少读一个数" },
  sliced: { en: "without the first row", zh: "去掉第一行" },
  masked: { en: "garbage masked", zh: "遮掉无意义的数" },
  direct: { en: "the direct formula", zh: "直接按公式" },
  distance: { en: "distance d", zh: "距离 d" },
  key: { en: "key j", zh: "键 j" },
  query: { en: "query i", zh: "查询 i" },
};

/** What stands over each board. */
export const SYMBOLS = { product: "Q Eᵣᵀ", padded: "pad", reshaped: "reshape", sliced: "slice = Sᵣₑₗ", masked: "Sᵣₑₗ", direct: "qᵢ · Eᵣ[i − j]" };
const FONT = '"Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';

/** The boards of each step of the panel, one becoming the next. */
export const STEPS = {
  all: ["product", "padded", "reshaped", "sliced", "masked", "direct"],
  pad: ["product", "padded"],
  reshape: ["padded", "reshaped"],
  slice: ["reshaped", "sliced"],
  mask: ["sliced", "masked", "direct"],
};
const ACROSS = 4; // boards in a row at most
const WRITTEN = 2.1; // a cell is so many times as wide as its digits are tall where a number with one decimal fits

/** 1.234 -> "1.23", with a real minus sign and no minus before a zero. */
export const number = (value, digits = 2) => value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");

/** How many rows and columns a board of so many queries has. */
export const shape = (board, length) => ({ padded: [length, length + 1], reshaped: [length + 1, length] })[board] ?? [length, length];

/**
 * Where a number of the padded tensor stands on each board, null where it does not. @param {number} place row by row in the padded tensor
 * @returns {Record<string, [number, number] | null>}
 */
export function places(place, length) {
  const [row, column] = [Math.floor(place / (length + 1)), (place % (length + 1)) - 1];
  const [line, at] = [Math.floor(place / length), place % length];
  const skewed = line ? [line - 1, at] : null;
  const seen = skewed && skewed[1] <= skewed[0] ? skewed : null;
  return { product: column < 0 ? null : [row, column], padded: [row, column + 1], reshaped: [line, at], sliced: skewed, masked: seen, direct: seen };
}

/** The way back: the place in the padded tensor of a cell of a board. */
export function placeOf(board, row, column, length) {
  if (board === "product") return row * (length + 1) + column + 1;
  if (board === "padded") return row * (length + 1) + column;
  return (board === "reshaped" ? row : row + 1) * length + column;
}

/** What kind of number it is: "pad", "garbage" (no such distance for that query) or "term". */
export function kind(place, length) {
  const { product } = places(place, length);
  if (!product) return "pad";
  return length - 1 - product[1] > product[0] ? "garbage" : "term";
}

/**
 * @param {{width: number, big: boolean, step: string, length: number, first: number, values: Record<string, Float32Array>, colour: (value: number) => number[],
 *   followed: number | null, lockedRow?: number}} how values: of the five tensors by board, "masked" takes those of "sliced"; colour: [r, g, b] of a value
 */
export function drawn({ width, big, step, length, values, colour, followed }) {
  const small = big ? 20 : 12;
  const line = Math.round(small * 1.4);
  const left = Math.round(small * 2.1); // of a board: row numbers
  const between = Math.round(small * 2.6); // two boards: the arrow
  const nodes = [];
  const text = (x, y, words, { fill = "ink2", anchor = "middle", bold = false, size = small } = {}) =>
    svg("text", { x, y, fill: fill.startsWith("#") ? fill : `var(--${fill})`, "text-anchor": anchor, "font-size": size, "font-weight": bold ? 650 : 400, "font-family": FONT, style: { fontVariantNumeric: "tabular-nums" } }, words);
  const hex = (rgb) => `#${rgb.map((c) => Math.round(c).toString(16).padStart(2, "0")).join("")}`;
  const on = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
  };
  const marks = followed === null ? {} : places(followed, length);

  // Boards side by side, as many to a row as leave their cells wide enough; a row that goes on begins with its sign.
  const boards = STEPS[step];
  const least = (boards.length > ACROSS ? (big ? 0.8 : 1.15) : WRITTEN) * small;
  const columns = (row) => row.reduce((sum, board) => sum + shape(board, length)[1], 0);
  const roomOf = (count) => {
    const split = Array.from({ length: Math.ceil(boards.length / count) }, (_, i) => boards.slice(i * count, (i + 1) * count));
    const signs = (row, i) => row.length - 1 + Number(i > 0 && count > 1);
    return { split, room: Math.min(...split.map((row, i) => (width - row.length * left - signs(row, i) * between) / columns(row))) };
  };
  const counts = [ACROSS, 3, 2].filter((count) => count <= boards.length && !(count === 3 && boards.length > ACROSS));
  const { split: rows, room } = counts.map(roomOf).find((one) => one.room >= least) ?? roomOf(1);
  const cell = Math.min(room, big ? 64 : 44);
  const tall = Math.min(cell, big ? 40 : 26);
  const digits = cell >= small * 3.2 ? 2 : cell >= small * WRITTEN ? 1 : -1;

  function board(name, x, y) {
    const [count, wide] = shape(name, length);
    const data = values[name === "masked" ? "sliced" : name];
    const mark = marks[name];
    const middle = x + (wide * cell) / 2;
    nodes.push(text(x, y + small, `${SYMBOLS[name]}`, { fill: "ink", anchor: "start", bold: true }));
    nodes.push(text(x + wide * cell, y + small, `(${count}, ${wide})`, { anchor: "end", fill: "ink3" }));
    nodes.push(text(middle, y + small + line, t(TEXT[name]), { fill: "ink2" }));
    const top = y + small + 2 * line + small + 4;
    const axis = { product: "distance", sliced: "key", masked: "key", direct: "key" }[name];
    const every = cell < small * 1.5 ? (length > 8 ? 3 : 2) : 1;
    for (let c = 0; c < wide; c += 1) {
      const distance = length - 1 - (name === "padded" ? c - 1 : c);
      const said = axis === "key" ? c : name === "reshaped" ? null : distance;
      const here = mark && mark[1] === c;
      if (said === null || said < 0 || said >= length || (!here && said % every)) continue;
      const crowded = mark && !here && every > 1 && Math.abs(mark[1] - c) < 2;
      if (!crowded) nodes.push(text(x + (c + 0.5) * cell, top - 5, String(said), { fill: axis === "key" ? "key" : "ink3", bold: here }));
    }
    if (axis) nodes.push(text(x + wide * cell, top + count * tall + line, t(TEXT[axis]), { fill: axis === "key" ? "key" : "ink3", anchor: "end" }));
    for (let r = 0; r < count; r += 1) {
      const here = mark && mark[0] === r;
      const low = tall < line && !here && (r % 2 || (mark && Math.abs(mark[0] - r) < 2));
      if (name !== "reshaped" && !low) nodes.push(text(x - 5, top + (r + 0.5) * tall + small * 0.36, String(r), { fill: "query", anchor: "end", bold: here }));
      for (let c = 0; c < wide; c += 1) {
        const place = placeOf(name, r, c, length);
        const what = kind(place, length);
        const later = ["masked", "direct"].includes(name) && c > r;
        const value = data[r * wide + c];
        const at = { x: x + c * cell, y: top + r * tall, width: Math.max(1, cell - 1), height: Math.max(1, tall - 1) };
        const known = { "data-board": name, "data-place": place };
        if (later || what === "pad") nodes.push(svg("rect", { ...at, ...known, fill: "var(--sunk)" }));
        else nodes.push(svg("rect", { ...at, ...known, fill: hex(colour(value)), "fill-opacity": what === "garbage" ? 0.45 : 1 }));
        if (what === "garbage" && !later) nodes.push(svg("line", { x1: at.x + 1, y1: at.y + at.height - 1, x2: at.x + at.width - 1, y2: at.y + 1, stroke: "var(--control)", "stroke-width": big ? 2 : 1, "pointer-events": "none" }));
        if (later || digits < 0) {
          if (what === "pad" && !later && cell >= small * 0.8) nodes.push(svg("g", { "pointer-events": "none" }, text(at.x + at.width / 2, at.y + at.height / 2 + small * 0.36, "0", { fill: "ink3" })));
          continue;
        }
        const fill = what === "term" ? on(colour(value)) : what === "pad" ? "ink3" : "ink2";
        if (tall >= small) nodes.push(svg("g", { "pointer-events": "none" }, text(at.x + at.width / 2, at.y + at.height / 2 + small * 0.36, what === "pad" ? "0" : number(value, digits), { fill })));
      }
    }
    if (name === "reshaped") nodes.push(svg("rect", { x: x - 2, y: top - 2, width: wide * cell + 3, height: tall + 2, fill: "none", stroke: "var(--bad)", "stroke-width": 2, "stroke-dasharray": "5 4", "pointer-events": "none" }));
    if (mark) {
      const ring = { x: x + mark[1] * cell - 1.5, y: top + mark[0] * tall - 1.5, width: cell + 2, height: tall + 2, rx: 3, fill: "none", "pointer-events": "none" };
      nodes.push(svg("rect", { ...ring, stroke: "var(--panel)", "stroke-width": 6 }), svg("rect", { ...ring, stroke: "var(--query)", "stroke-width": big ? 4 : 2.5 }));
    }
    return { middle: top + (count * tall) / 2, end: top + count * tall + (axis ? line + 4 : 4) };
  }

  let y = 0;
  let wide = 0;
  rows.forEach((row, number_) => {
    const goesOn = number_ > 0 && rows[0].length > 1;
    let x = goesOn ? between : 0;
    let end = y;
    row.forEach((name, at) => {
      const before = x - between / 2;
      x += left;
      const made = board(name, x, y);
      if (at || goesOn) nodes.push(text(before, made.middle, name === "direct" ? "=" : "→", { fill: "ink", bold: true, size: small * 1.5 }));
      end = Math.max(end, made.end);
      x += shape(name, length)[1] * cell;
      wide = Math.max(wide, x);
      x += between;
    });
    y = end + (number_ + 1 < rows.length ? line : 0);
  });
  return svg("svg", { viewBox: `0 0 ${Math.ceil(wide + 2)} ${Math.ceil(y)}`, width: Math.ceil(wide + 2), height: Math.ceil(y), role: "img", "font-family": FONT }, ...nodes);
}

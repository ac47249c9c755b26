// How a pattern is drawn: one position's view on the grid of an image, and the connectivity matrix of all positions. A path of two steps
// runs over both. Cells of A1 wear the colour of keys, those of A2 the sixth category's, cells of both are half and half.

import { svg } from "./dom.js";
import { LATER, connectivity } from "./patternmath.js";
import { css } from "./theme.js";

const num = (x) => String(Math.round(100 * x) / 100);
const channels = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
const mixed = (a, b, part) => `#${channels(a).map((v, i) => Math.round(v * part + channels(b)[i] * (1 - part)).toString(16).padStart(2, "0")).join("")}`;

/** Black or white, whichever reads better on a colour. */
const on = (hex) => {
  const [r, g, b] = channels(hex).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#FFFFFF";
};

/** The colours of the moment, "#rrggbb". two: what a second step reaches, a thin tone of the keys' colour; onFirst, onSecond: of letters on A1 and A2. */
export function tones() {
  const of = Object.fromEntries(["key", "cat-6", "query", "sunk", "panel", "control", "ink"].map((name) => [name, css(`--${name}`)]));
  return { onFirst: on(of.key), onSecond: on(of["cat-6"]), first: of.key, second: of["cat-6"], two: mixed(of.key, of.panel, 0.26), later: of.sunk, panel: of.panel, query: of.query, control: of.control, ink: of.ink };
}

/** What stands in a cell: of the full pattern both factors are the same, and one colour tells them. */
export const cellOf = (kind, code) => (kind === "full" && code ? 1 : code);

/** Where a board stands inside its picture: room for labels at the left and above, a square of `size`. */
export function place({ size, count, big }) {
  const [left, top] = big ? [46, 30] : [30, 20];
  return { left, top, size, count, cell: size / count, big, width: left + size + 3, height: top + size + 3, font: big ? 20 : 12 };
}

const label = (at, x, y, text, more) => svg("text", { x: num(x), y: num(y), "font-size": at.font, ...more, text: String(text) });

function arrow(points, { big, to }) {
  const thick = big ? 4 : 2.2;
  const nodes = [];
  const ends = points.slice(1).map(([x, y], n) => {
    const [fx, fy] = points[n];
    const long = Math.hypot(x - fx, y - fy) || 1;
    const cut = Math.min(long / 2, to[n + 1]);
    const [ux, uy] = [(x - fx) / long, (y - fy) / long];
    const begin = Math.min(long / 2, to[n]);
    return { from: [fx + ux * begin, fy + uy * begin], tip: [x - ux * cut, y - uy * cut], ux, uy, long: long - cut - begin };
  });
  for (const halo of [true, false]) {
    const stroke = halo ? "var(--panel)" : "var(--ink)";
    for (const { from, tip, ux, uy, long } of ends) {
      const head = Math.min(big ? 18 : 10, Math.max(4, long));
      const [bx, by] = [tip[0] - ux * head, tip[1] - uy * head];
      const wing = head * 0.45;
      nodes.push(
        svg("path", { d: `M${from.map(num).join(" ")}L${num(bx)} ${num(by)}`, fill: "none", stroke, "stroke-width": halo ? thick + 3.6 : thick, "stroke-linecap": "round" }),
        svg("path", { class: halo ? null : "arrow", d: `M${tip.map(num).join(" ")}L${num(bx - uy * wing)} ${num(by + ux * wing)}L${num(bx + uy * wing)} ${num(by - ux * wing)}Z`, fill: stroke, stroke, "stroke-width": halo ? 3.6 : 0, "stroke-linejoin": "round" }),
      );
    }
  }
  return nodes;
}

/**
 * The image with what one position attends to.
 * @param {{kind: string, side: number, position: number, codes: ArrayLike<number>, steps: ArrayLike<number>, route: number[] | null, tones: any}} seen
 *   codes, steps: (key,) of the position. route: the path in view, from its first position to `position`
 */
export function grid({ kind, side, position, codes, steps, route, tones: tone }, at) {
  const { cell, left, top, big } = at;
  const gap = cell >= 9 ? 1 : cell >= 5 ? 0.5 : 0;
  const inner = cell - gap;
  const shapes = { first: [], second: [], two: [], later: [], dots: [], none: [], upper: [] };
  const corner = (p) => [left + (p % side) * cell + gap / 2, top + Math.floor(p / side) * cell + gap / 2];
  const centre = (p) => [left + ((p % side) + 0.5) * cell, top + (Math.floor(p / side) + 0.5) * cell];
  const square = (x, y, s = inner) => `M${num(x)} ${num(y)}h${num(s)}v${num(s)}h${num(-s)}z`;
  for (let p = 0; p < side * side; p += 1) {
    const [x, y] = corner(p);
    const code = p > position ? -1 : cellOf(kind, codes[p]);
    if (code < 0) {
      shapes.later.push(square(x, y));
      shapes.dots.push(square(x + inner / 2 - 0.7, y + inner / 2 - 0.7, 1.4));
    } else if (code === 3) {
      shapes.first.push(square(x, y));
      shapes.upper.push(`M${num(x)} ${num(y)}h${num(inner)}v${num(inner)}z`);
    } else if (code) shapes[code === 1 ? "first" : "second"].push(square(x, y));
    else if (steps[p] === 2) shapes.two.push(square(x, y));
    else shapes.none.push(square(x, y), `M${num(x)} ${num(y + inner)}l${num(inner)} ${num(-inner)}`);
  }
  const fill = (name, colour, more = {}) => shapes[name].length > 0 && svg("path", { class: name, d: shapes[name].join(""), fill: colour, ...more });
  const nodes = [
    fill("later", tone.later),
    fill("dots", tone.control, { "fill-opacity": 0.6 }),
    fill("two", tone.two),
    fill("none", tone.panel, { stroke: tone.control, "stroke-width": 1 }),
    fill("first", tone.first),
    fill("second", tone.second),
    fill("upper", tone.second),
  ];
  const [x, y] = corner(position);
  const ring = big ? 3 : 2;
  nodes.push(svg("rect", { x: num(x - ring - 1), y: num(y - ring - 1), width: num(inner + 2 * ring + 2), height: num(inner + 2 * ring + 2), fill: tone.panel, rx: 2 }), svg("rect", { class: "own", x: num(x - ring), y: num(y - ring), width: num(inner + 2 * ring), height: num(inner + 2 * ring), fill: tone.query, rx: 2 }));
  // Row and column of the position, so that it can be named.
  nodes.push(label(at, left - 6, top + (Math.floor(position / side) + 0.5) * cell + at.font * 0.35, Math.floor(position / side), { fill: tone.query, "font-weight": 650, "text-anchor": "end" }));
  nodes.push(label(at, left + ((position % side) + 0.5) * cell, top - 6, position % side, { fill: tone.query, "font-weight": 650, "text-anchor": "middle" }));
  if (route && route.length > 1) nodes.push(...walked(route.map(centre), at));
  return nodes.filter(Boolean);
}

/** Stops of a path as discs, the first named j, and the arrows between them; the last is the position itself. */
function walked(points, at) {
  const { cell, big } = at;
  const large = big || cell >= 15;
  const radius = big ? 13 : Math.max(4, Math.min(cell * 0.4, 10));
  const small = big ? 7 : Math.max(3, Math.min(cell * 0.24, 6));
  const last = points.length - 1;
  const nodes = arrow(points, { big, to: points.map((_, n) => (n === 0 ? radius : n === last ? cell * 0.42 : small + (n === last ? 0 : 1))) });
  points.forEach(([x, y], n) => {
    if (n === last) {
      if (cell >= at.font - 2) nodes.push(svg("text", { x: num(x), y: num(y + at.font * 0.36), "font-size": at.font, "font-weight": 700, "text-anchor": "middle", fill: "var(--panel)", text: "i" }));
      return;
    }
    const r = n ? small : radius;
    nodes.push(svg("circle", { class: n ? "via" : "far", cx: num(x), cy: num(y), r: num(r), fill: "var(--ink)", stroke: "var(--panel)", "stroke-width": big ? 3 : 1.8 }));
    if (!n && large) nodes.push(svg("text", { x: num(x), y: num(y + at.font * 0.32), "font-size": at.font, "font-weight": 700, "text-anchor": "middle", fill: "var(--panel)", text: "j" }));
  });
  return nodes;
}

/** Which position of the grid lies under a point of its picture, or null. */
export function gridAt(at, x, y) {
  const [column, row] = [Math.floor((x - at.left) / at.cell), Math.floor((y - at.top) / at.cell)];
  return column < 0 || row < 0 || column >= at.count || row >= at.count ? null : row * at.count + column;
}

/** Which {query, key} of the matrix, or null. */
export function matrixAt(at, x, y) {
  const [key, query] = [Math.floor((x - at.left) / at.cell), Math.floor((y - at.top) / at.cell)];
  return key < 0 || query < 0 || key >= at.count || query >= at.count ? null : { query, key };
}

/** What lies over the matrix: axes, the row of the position, and the path as marked cells joined over the diagonal. */
export function matrixOver({ length, position, route, tones: tone, names }, at) {
  const { cell, left, top, size, big, font } = at;
  const edge = (p) => p * cell;
  const thick = big ? 3 : 2;
  const wide = Math.max(cell, big ? 5 : 3);
  const y = top + edge(position + 0.5) - wide / 2;
  const nodes = [
    svg("rect", { x: left - 0.5, y: top - 0.5, width: num(size + 1), height: num(size + 1), fill: "none", stroke: "var(--line)" }),
    label(at, left + size, top - 6, names.key, { fill: "var(--key)", "text-anchor": "end", "font-weight": 600 }),
    svg("text", { "font-size": font, "font-weight": 600, fill: "var(--query)", "text-anchor": "end", transform: `translate(${left - 8} ${top}) rotate(-90)`, text: names.query }),
    svg("rect", { x: num(left - thick - 1), y: num(y - thick - 1), width: num(edge(position + 1) + 2 * thick + 2), height: num(wide + 2 * thick + 2), rx: 2, fill: "none", stroke: tone.panel, "stroke-width": 1.5 }),
    svg("rect", { class: "row", x: num(left - thick / 2), y: num(y - thick / 2), width: num(edge(position + 1) + thick), height: num(wide + thick), rx: 2, fill: "none", stroke: tone.query, "stroke-width": thick }),
  ];
  const low = top + edge(position + 0.5) + font * 0.35;
  const upright = font * 4.2; // the axis's name
  if (low - font > top + upright) nodes.push(label(at, left - 5, Math.min(low, top + size), position, { fill: tone.query, "font-weight": 650, "text-anchor": "end", ...(String(position).length > 2 && !big ? { textLength: 23, lengthAdjust: "spacingAndGlyphs" } : {}) }));
  if (!route || route.length < 2) return nodes;
  const spot = (query, key) => [left + edge(key + 0.5), top + edge(query + 0.5)];
  const hops = route.slice(1).map((query, n) => spot(query, route[n])); // from the oldest: row of the later one, column of the earlier one
  let d = "";
  for (let n = hops.length - 1; n > 0; n -= 1) d += `M${hops[n].map(num).join(" ")}V${num(top + edge(route[n] + 0.5))}H${num(hops[n - 1][0])}`;
  if (d) nodes.push(svg("path", { d, fill: "none", stroke: tone.panel, "stroke-width": thick + 2.5 }), svg("path", { class: "stairs", d, fill: "none", stroke: tone.ink, "stroke-width": big ? 2.5 : 1.4, "stroke-dasharray": big ? "8 5" : "4 3" }));
  const box = Math.max(cell + 4, big ? 16 : 10);
  for (const [x, yy] of hops) {
    nodes.push(svg("rect", { x: num(x - box / 2 - 1.5), y: num(yy - box / 2 - 1.5), width: num(box + 3), height: num(box + 3), rx: 3, fill: "none", stroke: tone.panel, "stroke-width": 2 }));
    nodes.push(svg("rect", { class: "hop", x: num(x - box / 2), y: num(yy - box / 2), width: num(box), height: num(box), rx: 2, fill: "none", stroke: tone.ink, "stroke-width": thick }));
  }
  const room = font * String(route[0]).length;
  const nx = left + edge(route[0] + 0.5);
  if (nx + room / 2 < left + size - font * 3) nodes.push(label(at, Math.max(left + room / 2, nx), top - 6, route[0], { fill: tone.ink, "font-weight": 650, "text-anchor": "middle" }));
  return nodes;
}

/**
 * How the matrix is drawn in a square of `room` CSS pixels: whole pixels for a cell where `least` of it is left; where cells are smaller than pixels,
 * several are pooled, in halves of a pixel so that thin lines stay even.
 * @returns {{size: number, pixels: number, cell: number, count: number}} size: in CSS pixels; pixels: of the screen; count: rows of cells, each of `cell` pixels
 */
export function scaled(room, length, ratio, least = 0.86) {
  const pixels = Math.round(room * ratio);
  const whole = Math.floor(pixels / length);
  if (whole >= 1 && whole * length >= least * pixels) return { size: (whole * length) / ratio, pixels: whole * length, cell: whole, count: length };
  return { size: room, pixels, cell: Math.max(1, Math.ceil(pixels / length)), count: pixels < length ? Math.min(length, 2 * pixels) : length };
}

/** The colours of one matrix as pixels. Of cells that are pooled every factor shows. */
function painted({ kind, length, steps, codes, tones: tone }, { cell, count }) {
  const side = count * cell;
  const from = Int32Array.from({ length: count + 1 }, (_, n) => Math.floor((n * length) / count));
  const out = new ImageData(side, side);
  const words = new Uint32Array(out.data.buffer);
  const pack = (hex) => {
    const [r, g, b] = channels(hex);
    return (255 << 24) | (b << 16) | (g << 8) | r;
  };
  const [first, second, two, later, panel, own] = [tone.first, tone.second, tone.two, tone.later, tone.panel, tone.query].map(pack);
  const gap = cell >= 7 ? 1 : 0;
  for (let row = 0; row < count; row += 1) {
    for (let column = 0; column < count; column += 1) {
      let [code, step, past] = [0, LATER, false];
      for (let i = from[row]; i < from[row + 1]; i += 1) {
        for (let j = from[column]; j < Math.min(i + 1, from[column + 1]); j += 1) {
          past = true;
          code |= codes[i * length + j];
          step = Math.min(step, steps[i * length + j]);
        }
      }
      code = cellOf(kind, code);
      const plain = !past ? later : code === 1 ? first : code === 2 ? second : step === 2 ? two : panel;
      const diagonal = row === column && count === length;
      for (let y = 0; y < cell; y += 1) {
        for (let x = 0; x < cell; x += 1) {
          const edge = past && gap && (x === cell - 1 || y === cell - 1);
          const half = code === 3 && (cell === 1 ? (row + column) & 1 : x === y ? x & 1 : x > y) ? second : code === 3 ? first : plain;
          words[(row * cell + y) * side + column * cell + x] = edge ? panel : diagonal ? own : half;
        }
      }
    }
  }
  return out;
}

/** Paints the matrix on a canvas. how: from `scaled`. codes are counted once for a pattern and kept. */
export function paintMatrix(canvas, seen, how) {
  const made = painted(seen, how);
  if (canvas.width !== how.pixels || canvas.height !== how.pixels) canvas.width = canvas.height = how.pixels;
  const context = canvas.getContext("2d");
  if (made.width === how.pixels) {
    context.putImageData(made, 0, 0);
    return;
  }
  const sheet = document.createElement("canvas");
  sheet.width = sheet.height = made.width;
  sheet.getContext("2d").putImageData(made, 0, 0);
  context.imageSmoothingEnabled = made.width > how.pixels;
  context.imageSmoothingQuality = "high";
  context.drawImage(sheet, 0, 0, how.pixels, how.pixels);
}

const kept = new Map();

/** The connectivity of a pattern; the newest twelve are kept. */
export function codesOf(pattern, length) {
  const name = [pattern.kind, pattern.l, pattern.c, length].join();
  if (!kept.has(name)) {
    kept.set(name, connectivity(pattern, length));
    if (kept.size > 12) kept.delete(kept.keys().next().value);
  }
  return kept.get(name);
}

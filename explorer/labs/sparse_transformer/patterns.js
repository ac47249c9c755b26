// The sparse patterns themselves: what one position attends to, on an image and in the connectivity
// matrix, with a path of two steps over both. Cells of A₁ wear the colour of keys, those of A₂ the
// sixth category's, cells of both are half and half. All of it is computed here.

import { filed } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { counted, KINDS, LATER, path, reach } from "../../frontend/pictures/patternmath.js";
import { around, colour } from "../../frontend/lib/pen.js";
import { count as whole } from "../../frontend/lib/signs.js";
import {
  causal,
  chosen,
  codesOf,
  doubled,
  NAMES,
  PAIRS,
  searched,
  seen,
  share,
  shared,
  times,
} from "./connected.js";

const FORMULAS = {
  full: [["key", "A = {0 … i}"]],
  strided: [["key", "A₁ = {max(0, i − l) … i}"], ["cat-6", "A₂ = {j : (i − j) mod l = 0}"]],
  fixed: [["key", "A₁ = {j : ⌊j / l⌋ = ⌊i / l⌋}"], ["cat-6", "A₂ = {j : j mod l ≥ l − c}"]],
};
export const TEXT = {
  question: {
    en: "Which earlier positions does one position attend to?",
    zh: "一个位置关注哪些更早的位置？",
  },
  units: {
    en: "{side} × {side} = {n} positions, l = {l}, c = {c}",
    zh: "{side} × {side} = {n} 个位置，l = {l}，c = {c}",
  },
  itself: { en: "itself, i", zh: "自身 i" },
  first: { en: "A₁ near", zh: "A₁ 近" },
  second: { en: "A₂ far", zh: "A₂ 远" },
  both: { en: "both", zh: "两者" },
  two: { en: "two steps away", zh: "相距两步" },
  none: { en: "not within two steps", zh: "不在两步之内" },
  later: { en: "later: not allowed", zh: "之后：不允许" },
  kind: { en: "Pattern in view", zh: "所看的模式" },
  side: { en: "side", zh: "边长" },
  stride: { en: "stride l", zh: "步长 l" },
  summary: { en: "summary columns c", zh: "摘要列 c" },
  trained: { en: "{side} × {side}, as this lab’s models", zh: "{side} × {side}，同本实验的模型" },
  pooled: { en: "pooled {n}×", zh: "合并 {n}×" },
  matrix: { en: "connectivity matrix", zh: "连接矩阵" },
  query: { en: "query", zh: "查询" },
  key: { en: "key", zh: "键" },
  ofSquare: { en: "{part} % of L² = {n}", zh: "占 L² = {n} 的 {part} %" },
  ofCausal: { en: "{part} % of L (L + 1) / 2 = {n}", zh: "占 L (L + 1) / 2 = {n} 的 {part} %" },
  busiest: {
    en: "busiest query: {n} of {of} = {roots} √L",
    zh: "最忙的查询：{n} / {of} = {roots} √L",
  },
  twice: { en: "twice the side: × {n} pairs", zh: "边长加倍：对数 × {n}" },
  board: {
    en:
      "{title}. Left and right move the position, with shift the start of the path; up and down " +
      "change the pattern; Escape resets.",
    zh: "{title}。左右键移动位置，加 Shift 移动路径起点；上下键换模式；Esc 复位。",
  },
  at: { en: "{i} (row {row}, column {column})", zh: "{i}（第 {row} 行第 {column} 列）" },
  sayFull: {
    en: "Full: position {i} attends to all {n} of the {of} positions up to itself",
    zh: "完整：位置 {i} 关注到自身为止的全部 {of} 个位置中的 {n} 个",
  },
  sayPattern: {
    en: "{name}: position {i} attends to {n} of the {of} positions up to itself, {first} by {a}, " +
      "{second} by {b}, {both} by both",
    zh:
      "{name}：位置 {i} 关注到自身为止的 {of} 个位置中的 {n} 个：{a} 有 {first} 个，{b} 有 {second} 个，两者共有 {both} 个",
  },
  sayTwo: { en: "; {two} more are two steps away.", zh: "；另有 {two} 个相距两步。" },
  sayLeft: {
    en: "; {two} more are two steps away, {left} are further or not joined.",
    zh: "；另有 {two} 个相距两步，{left} 个更远或未连接。",
  },
  sayNone: { en: ".", zh: "。" },
  sayOne: { en: " Position {j} is joined to it directly.", zh: "位置 {j} 与它直接相连。" },
  sayOver: {
    en: " Position {j} reaches it through {via}, in {n} steps.",
    zh: "位置 {j} 经由 {via} 到达它，共 {n} 步。",
  },
  sayLost: { en: " Nothing leads from {j} to it.", zh: "没有路径从 {j} 通向它。" },
  columns: {
    en: [
      "pattern",
      "l",
      "c",
      "L",
      "pairs",
      "of L², %",
      "of L (L + 1) / 2, %",
      "pairs of A₁",
      "pairs of A₂",
      "busiest query, pairs",
      "pairs in 1 step",
      "pairs in 2 steps",
      "pairs not within 2",
    ],
    zh: [
      "模式",
      "l",
      "c",
      "L",
      "对数",
      "占 L²，%",
      "占 L (L + 1) / 2，%",
      "A₁ 的对",
      "A₂ 的对",
      "最忙的查询，对数",
      "1 步的对",
      "2 步的对",
      "不在 2 步内的对",
    ],
  },
  caption: { en: "Pairs and paths of each pattern", zh: "各模式的对数与路径" },
  cardIn: {
    en: ["", "in A₁", "in A₂", "in A₁ and A₂"],
    zh: ["", "属于 A₁", "属于 A₂", "同属 A₁ 与 A₂"],
  },
  cardOne: { en: "{j} → {i}: one step, {how}", zh: "{j} → {i}：一步，{how}" },
  cardFull: { en: "{j} → {i}: one step", zh: "{j} → {i}：一步" },
  cardOver: { en: "{route}: {n} steps", zh: "{route}：{n} 步" },
  cardLost: { en: "nothing leads from {j} to {i}", zh: "没有路径从 {j} 到 {i}" },
  cardOwn: {
    en: "position {i}: row {row}, column {column}",
    zh: "位置 {i}：第 {row} 行第 {column} 列",
  },
  cardLater: {
    en: "query {i}, key {j}: later, not allowed",
    zh: "查询 {i}，键 {j}：在其后，不允许",
  },
  does: { en: "click: it asks", zh: "点击：由它提问" },
  doesBefore: {
    en: "click: it asks · shift-click: the path begins here",
    zh: "点击：由它提问 · Shift 加点击：路径从此开始",
  },
  doesPair: { en: "click: lock both", zh: "点击：锁定两端" },
};
const GAP = 24; // px between columns
// px of an image at most where three stand side by side, so that they and what they say are seen at
// once
const SIDE = 236;
const [LEAST, LEAST_BIG] = [640, 100]; // px of room for three columns; of a matrix before a hall
const WHOLE = 0.86; // of a square that may be left out so that each cell has whole pixels

const num = (x) => String(Math.round(100 * x) / 100);
const square = (x, y, s) => `M${num(x)} ${num(y)}h${num(s)}v${num(s)}h${num(-s)}z`;

/**
 * What stands in a cell: of the full pattern both factors are the same, and one colour tells them.
 */
const cellOf = (kind, code) => (kind === "full" && code ? 1 : code);

/**
 * What a position sees: {codes, steps} by key, and {route: kind -> positions of the path in view,
 * or null}.
 */
function viewOf({ patterns, length, position, far }, kind) {
  return {
    codes: codesOf(patterns[kind], length).subarray(
      position * length,
      position * length + position + 1,
    ),
    steps: reach(patterns[kind], position).steps,
    route: far === null ? null : path(patterns[kind], far, position),
  };
}

// ── the image ──
function image(pen, box, { kind, side, position }, { codes, steps, route }) {
  const { x0, y0, cell } = box;
  const gap = cell >= 9 ? 1 : cell >= 5 ? 0.5 : 0;
  const inner = cell - gap;
  const shapes = { later: [], dots: [], two: [], none: [], first: [], second: [], upper: [] };
  const corner = (
    p,
  ) => [x0 + (p % side) * cell + gap / 2, y0 + Math.floor(p / side) * cell + gap / 2];
  for (let p = 0; p < side * side; p += 1) {
    const [x, y] = corner(p);
    const code = cellOf(kind, codes[p] ?? 0);
    const all = square(x, y, inner);
    if (p > position) {
      shapes.later.push(all);
      shapes.dots.push(square(x + inner / 2 - 0.7, y + inner / 2 - 0.7, 1.4));
    } else if (code === 3) {
      shapes.first.push(all);
      shapes.upper.push(`M${num(x)} ${num(y)}h${num(inner)}v${num(inner)}z`);
    } else if (code) shapes[code === 1 ? "first" : "second"].push(all);
    else if (steps[p] === 2) shapes.two.push(all);
    else shapes.none.push(all, `M${num(x)} ${num(y + inner)}l${num(inner)} ${num(-inner)}`);
  }
  const fills = {
    later: { fill: "sunk" },
    dots: { fill: "control", alpha: 0.6 },
    two: { fill: colour("key", 0.26) },
    none: { fill: "panel", line: "control" },
    first: { fill: "key" },
    second: { fill: "cat-6" },
    upper: { fill: "cat-6" },
  };
  for (const [name, style] of Object.entries(fills)) {
    if (shapes[name].length) pen.path(shapes[name].join(""), { ...style, name });
  }
  const [x, y] = corner(position);
  for (const [more, fill] of [[pen.big ? 4 : 3, "panel"], [pen.big ? 3 : 2, "query"]]) {
    pen.rect(around({ x0: x, y0: y, x1: x + inner, y1: y + inner }, more), { fill, radius: 2 });
  }
  // Row and column of the position, so that it can be named.
  const style = { size: pen.type(12), colour: "query", weight: 650 };
  pen.text(x0 - 6, y + inner / 2, Math.floor(position / side), { ...style, align: "right" });
  pen.text(x + inner / 2, y0 - style.size * 0.9, position % side, { ...style, align: "center" });
  if (route && route.length > 1) {
    walk(
      pen,
      cell,
      route.map((p) => corner(p).map((one) => one + inner / 2)),
    );
  }
}

/**
 * Stops of a path as discs, the first named j, and the arrows between them; the last is the
 * position itself.
 */
function walk(pen, cell, points) {
  const { big } = pen;
  const size = pen.type(12);
  const [radius, small] = big
    ? [13, 7]
    : [Math.max(4, Math.min(cell * 0.4, 10)), Math.max(3, Math.min(cell * 0.24, 6))];
  const last = points.length - 1;
  const cut = points.map((_, n) => (n === 0 ? radius : n === last ? cell * 0.42 : small + 1));
  const thick = big ? 4 : 2.2;
  for (const line of ["panel", "ink"]) {
    for (let n = 1; n <= last; n += 1) {
      const [[fx, fy], [x, y]] = [points[n - 1], points[n]];
      const long = Math.hypot(x - fx, y - fy) || 1;
      const [ux, uy] = [(x - fx) / long, (y - fy) / long];
      const [begin, end] = [Math.min(long / 2, cut[n - 1]), Math.min(long / 2, cut[n])];
      const head = Math.min(big ? 18 : 10, Math.max(4, long - begin - end));
      const wing = head * 0.45;
      const [tx, ty] = [x - ux * end, y - uy * end];
      const [bx, by] = [tx - ux * head, ty - uy * head];
      const halo = line === "panel" ? 3.6 : 0;
      pen.line(fx + ux * begin, fy + uy * begin, bx, by, {
        line,
        width: thick + halo,
        cap: "round",
      });
      const [left, right] = [wing, -wing].map((by_) =>
        `${num(bx - uy * by_)} ${num(by + ux * by_)}`
      );
      pen.path(`M${num(tx)} ${num(ty)}L${left}L${right}Z`, {
        fill: line,
        line,
        width: halo || 0.01,
        name: halo ? "" : "arrow",
      });
    }
  }
  const name = (x, y, text) =>
    pen.text(x, y, text, { size, weight: 700, align: "center", colour: "panel" });
  points.slice(0, last).forEach(([x, y], n) =>
    pen.circle(x, y, n ? small : radius, { fill: "ink", line: "panel", width: big ? 3 : 1.8 })
  );
  if (big || cell >= 15) name(...points[0], "j");
  if (cell >= size) name(...points[last], "i");
}

// ── the matrix ──
/**
 * How the matrix stands in a square of `room` px: whole pixels of the screen for a cell where WHOLE
 * of it is left; where cells are smaller than pixels, several are pooled, in halves of a pixel so
 * that thin lines stay even. {size in px, pixels, cell in pixels, count of rows}
 */
function scaled(room, length, ratio) {
  const pixels = Math.round(room * ratio);
  const cell = Math.floor(pixels / length);
  if (cell >= 1 && cell * length >= WHOLE * pixels) {
    return { size: (cell * length) / ratio, pixels: cell * length, cell, count: length };
  }
  return {
    size: room,
    pixels,
    cell: Math.max(1, Math.ceil(pixels / length)),
    count: pixels < length ? Math.min(length, 2 * pixels) : length,
  };
}

const painted = new Map(); // by kind: {name, image}, what stands there

/** One matrix as pixels, (count · cell)². Of cells that are pooled every factor shows. */
function colours({ patterns, length }, kind, steps, done, { cell, count }) {
  const inks = ["key", "cat-6", colour("key", 0.26), "sunk", "panel", "query"].map((one) =>
    colour(one)
  );
  const name = [JSON.stringify(patterns[kind]), length, done, cell, count, inks].join();
  if (painted.get(kind)?.name === name) return painted.get(kind).image;
  const codes = codesOf(patterns[kind], length);
  const side = count * cell;
  const made = new ImageData(side, side);
  const words = new Uint32Array(made.data.buffer);
  const [first, second, two, later, panel, own] = inks.map((hex) =>
    0xff000000 | Number.parseInt(hex.slice(5) + hex.slice(3, 5) + hex.slice(1, 3), 16)
  );
  const from = Int32Array.from({ length: count + 1 }, (_, n) => Math.floor((n * length) / count));
  const gap = cell >= 7;
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
      const plain = !past ? later : code === 2 ? second : code ? first : step === 2 ? two : panel;
      const diagonal = row === column && count === length;
      for (let y = 0; y < cell; y += 1) {
        for (let x = 0; x < cell; x += 1) {
          const edge = past && gap && (x === cell - 1 || y === cell - 1);
          const upper = code === 3 && (cell === 1 ? (row + column) & 1 : x === y ? x & 1 : x > y);
          words[(row * cell + y) * side + column * cell + x] = edge
            ? panel
            : diagonal
            ? own
            : upper
            ? second
            : plain;
        }
      }
    }
  }
  painted.set(kind, { name, image: made });
  return made;
}

/** Its axes, the row of the position, and the path as marked cells joined over the diagonal. */
function matrix(pen, { x0, y0, size, how }, now, route, { steps, done }, kind) {
  const { length, position } = now;
  const { big } = pen;
  const cell = size / length;
  const letter = pen.type(12);
  const thick = big ? 3 : 2;
  const box = { x0, y0, x1: x0 + size, y1: y0 + size };
  pen.pixels(box, {
    image: colours(now, kind, steps, done, how),
    smooth: how.count * how.cell !== how.pixels,
  });
  pen.rect(around(box, 1), { line: "line" });
  pen.text(box.x1, y0 - letter * 0.9, t(TEXT.key), {
    size: letter,
    colour: "key",
    align: "right",
    weight: 600,
  });
  pen.text(x0 - letter, y0, t(TEXT.query), {
    size: letter,
    colour: "query",
    align: "right",
    weight: 600,
    turn: -90,
  });
  const wide = Math.max(cell, big ? 5 : 3);
  const y = y0 + (position + 0.5) * cell;
  const row = (more) => ({
    x0: x0 - more,
    x1: x0 + (position + 1) * cell + more,
    y0: y - wide / 2 - more,
    y1: y + wide / 2 + more,
  });
  pen.rect(row(thick + 1.75), { line: "panel", width: 1.5, radius: 2 });
  pen.rect(row(thick), { line: "query", width: thick, radius: 2 });
  if (y - letter > y0 + letter * 4.2) { // below the axis's name
    pen.text(x0 - 5, Math.min(y, box.y1 - letter / 2), position, {
      size: letter,
      colour: "query",
      weight: 650,
      align: "right",
    });
  }
  if (!route || route.length < 2) return;
  const at = (p) => (p + 0.5) * cell;
  // From the oldest: the row of the later one, the column of the earlier one.
  const hops = route.slice(1).map((query, n) => [x0 + at(route[n]), y0 + at(query)]);
  const stairs = hops.slice(1)
    .map((hop, n) => `M${hop.map(num).join(" ")}V${num(y0 + at(route[n + 1]))}H${num(hops[n][0])}`)
    .join("");
  if (stairs) {
    pen.path(stairs, { line: "panel", width: thick + 2.5 });
    pen.path(stairs, { line: "ink", width: big ? 2.5 : 1.4, dash: big ? [8, 5] : [4, 3] });
  }
  const half = Math.max(cell + 4, big ? 16 : 10) / 2;
  for (const [more, line] of [[half + 2.5, "panel"], [half + thick / 2, "ink"]]) {
    for (const [hx, hy] of hops) {
      pen.rect(around({ x0: hx, y0: hy, x1: hx, y1: hy }, more), {
        line,
        width: 2,
        radius: 3,
        name: line === "ink" ? "hop" : "",
      });
    }
  }
  const room = pen.measure(String(route[0]), { size: letter, weight: 650 });
  const nx = Math.max(x0 + room / 2, x0 + at(route[0]));
  if (nx + room / 2 < box.x1 - letter * 3) {
    pen.text(nx, y0 - letter * 0.9, route[0], {
      size: letter,
      colour: "ink",
      weight: 650,
      align: "center",
    });
  }
}

// ── all of it ──
const lookOf = (look, over) => ({ ...look, ...over });

export function scene(_run, look, pen) {
  const now = seen(lookOf(look, look.over));
  const { length, side } = now;
  const one = pen.width < LEAST && !pen.big;
  const [left, top] = pen.big ? [46, 30] : [30, 20];
  const wide = one ? pen.width : (pen.width - 2 * GAP) / 3;
  const above = pen.big ? 42 : 80; // name and formulas
  const ratio = pen.away ? 2 : Math.max(1, globalThis.devicePixelRatio || 1);
  const found = searched(now, pen.away ? "end" : "");
  // A hall sees image and matrix of the pattern in view large, beside each other, and those of the
  // others small.
  const [large, others] = [Math.floor(0.68 * pen.width), KINDS.filter((kind) => kind !== now.kind)];
  const half = Math.max(200, pen.tall / 2);
  const places = KINDS.map((kind, n) => {
    const m = others.indexOf(kind);
    if (!pen.big) {
      return {
        x: n * (wide + GAP),
        y: 0,
        wide,
        high: pen.tall || 2000,
        room: Math.min(wide - left - 4, 400),
      };
    }
    const [x, y, across, high] = m < 0
      ? [0, 0, large, 2 * half]
      : [large + GAP, m * half, pen.width - large - GAP, half];
    const both = across - 2 * left - 4 >= 2 * LEAST_BIG; // where that is too narrow, the image stands alone
    const each = both ? (across - 2 * left - 4) / 2 : across - left;
    return { x, y, wide: across, high, alone: !both, room: Math.min(each, high - above - top - 8) };
  });
  let height = 0;
  (one ? [now.kind] : KINDS).forEach((kind, n) => {
    const { x, y: from, wide: across, high, room, alone } = places[n];
    const how = scaled(Math.floor(Math.max(pen.big ? LEAST_BIG : 150, room)), length, ratio);
    const own = one || pen.big ? how.size : Math.min(SIDE, how.size);
    const x0 = x + left;
    const view = viewOf(now, kind);
    const here = kind === now.kind;
    pen.hit({
      x0: x,
      x1: x + across,
      y0: from,
      y1: from + high,
      look: { pattern: kind },
      quiet: true,
      still: true,
      card: null,
    });
    if (here) pen.rect({ x0, x1: x0 + how.size, y0: 0, y1: 3 }, { fill: "accent", radius: 1.5 });
    heading(pen, kind, x0, from, now, here);
    const y0 = from + above + top;
    image(pen, { x0, y0, cell: own / side }, { ...now, kind }, view);
    cells(pen, now, kind, { x0, y0, size: own, count: side, image: true });
    const [mx, my] = pen.big ? [x0 + own + left, y0] : [x0, pen.say(y0 + own + 3) + 26 + top];
    if (!pen.big) {
      const pooled = how.pixels < length
        ? ` · ${t(TEXT.pooled, { n: times(length / how.pixels) })}`
        : "";
      pen.text(x0, my - top - 11, `${t(TEXT.matrix)}, ${length} × ${length}${pooled}`, {
        size: 12,
        colour: "ink3",
      });
    }
    if (!alone) {
      matrix(pen, { x0: mx, y0: my, size: how.size, how }, now, view.route, found[kind], kind);
      cells(pen, now, kind, { x0: mx, y0: my, size: how.size, count: length });
    }
    const end = my + how.size + 3;
    height = Math.max(height, pen.big ? end : stats(pen, now, kind, x0, end + 8, how.size));
  });
  pen.size(pen.width, height);
}

function heading(pen, kind, x, y, { patterns, length }, here) {
  const { big } = pen;
  const style = {
    size: big ? 26 : 20,
    weight: 700,
    face: "title",
    colour: here ? "accent" : "ink",
  };
  const middle = y + (big ? 24 : 21);
  pen.text(x, middle, t(NAMES[kind]), style);
  if (big) {
    const said = `${whole(counted(patterns[kind], length).pairs)} ${t(PAIRS)}`;
    pen.text(x + pen.measure(t(NAMES[kind]), style) + 16, middle, said, { size: 20, weight: 600 });
    return;
  }
  FORMULAS[kind].forEach(([fill, text], n) => {
    pen.rect({ x0: x, x1: x + 12, y0: 40 + 20 * n, y1: 52 + 20 * n }, { fill, radius: 2 });
    pen.text(x + 18, 46 + 20 * n, text, { size: 13, face: "title" });
  });
}

/**
 * The numbers under a column: pairs, their shares, the busiest query, and what twice the side would
 * take. Returns where they end.
 */
function stats(pen, { length, side, patterns }, kind, x, y, size) {
  const { pairs, busiest } = counted(patterns[kind], length);
  const all = causal(length);
  pen.text(x, y + 14, `${whole(pairs)} ${t(PAIRS)}`, { size: 22, weight: 700, colour: "ink" });
  const bar = { x0: x, y0: y + 30, x1: x + size, y1: y + 36 };
  pen.rect(bar, { fill: "sunk", radius: 3 });
  pen.rect({ ...bar, x1: x + (size * pairs) / all }, { fill: "accent", radius: 3 });
  [
    t(TEXT.ofSquare, { part: share(pairs, length ** 2).toFixed(2), n: whole(length ** 2) }),
    t(TEXT.ofCausal, { part: share(pairs, all).toFixed(2), n: whole(all) }),
    t(TEXT.busiest, { n: whole(busiest), of: whole(length), roots: times(busiest / side) }),
    t(TEXT.twice, { n: times(doubled(patterns[kind], side)) }),
  ].forEach((line, n) => pen.text(x, y + 51 + 19 * n, line, { size: 13 }));
  return y + 51 + 19 * 3 + 12;
}

/** What can be pointed at: the pixels of an image, or the pairs of a matrix. */
function cells(pen, now, kind, { x0, y0, size, count, image: ofImage = false }) {
  const { position, far } = now;
  pen.grid({ x0, y0, x1: x0 + size, y1: y0 + size }, count, count, (row, column) => {
    const p = row * count + column;
    const box = (look, query, key, does) => ({
      still: true,
      look: { pattern: kind, ...look },
      card: () => [cardText(now, kind, query, key)],
      does: t(does),
    });
    if (!ofImage) {
      return box(
        { patternpos: row, patternto: column < row ? column : null },
        row,
        column,
        TEXT.doesPair,
      );
    }
    // An earlier position is the start of a path to the one that is locked; a later one would be
    // locked itself.
    return p < position
      ? box({ patternto: p }, position, p, TEXT.doesBefore)
      : box({ patternpos: p, patternto: far }, p, p, TEXT.does);
  });
}

function cardText({ patterns, side, length }, kind, query, key) {
  const [i, j] = [query, key];
  if (key > query) return t(TEXT.cardLater, { i, j });
  if (key === query) {
    return t(TEXT.cardOwn, { i, row: Math.floor(query / side), column: query % side });
  }
  const route = path(patterns[kind], key, query);
  if (!route) return t(TEXT.cardLost, { i, j });
  if (route.length > 2) return t(TEXT.cardOver, { route: route.join(" → "), n: route.length - 1 });
  const how = chosen(TEXT.cardIn)[codesOf(patterns[kind], length)[query * length + key]];
  return t(kind === "full" ? TEXT.cardFull : TEXT.cardOne, { i, j, how });
}

export function sentence(_run, look, over) {
  const now = seen(lookOf(look, over));
  const { kind, side, position, far } = now;
  const { codes, steps, route } = viewOf(now, kind);
  const where = (p) => t(TEXT.at, { i: p, row: Math.floor(p / side), column: p % side });
  const tally = (test) => Array.from(codes.keys()).filter(test).length;
  const two = tally((j) => steps[j] === 2);
  const left = position - two - tally((j) => steps[j] === 1);
  const told = parts(kind === "full" ? TEXT.sayFull : TEXT.sayPattern, {
    name: t(NAMES[kind]),
    n: whole(tally((j) => codes[j] > 0)),
    of: whole(position + 1),
    i: { text: where(position), role: "query" },
    a: { text: "A₁", role: "key" },
    b: { text: "A₂", role: "second" },
    first: tally((j) => codes[j] & 1),
    second: tally((j) => codes[j] & 2),
    both: tally((j) => codes[j] === 3),
  });
  told.push(
    ...parts(left ? TEXT.sayLeft : two ? TEXT.sayTwo : TEXT.sayNone, {
      two: whole(two),
      left: whole(left),
    }),
  );
  if (far === null) return told;
  const j = { text: where(far), role: "strong" };
  if (!route) return [...told, ...parts(TEXT.sayLost, { j })];
  const via = { text: route.slice(1, -1).map(where).join(", "), role: "strong" };
  return [
    ...told,
    ...parts(route.length > 2 ? TEXT.sayOver : TEXT.sayOne, { j, via, n: route.length - 1 }),
  ];
}

/** One line for each pattern. */
export function table(_run, look) {
  const now = seen(look);
  const { patterns, length, kind: here } = now;
  const found = searched(now);
  const rows = KINDS.map((kind) => {
    const { pairs, busiest } = counted(patterns[kind], length);
    const codes = codesOf(patterns[kind], length);
    const [first, second] = [1, 2].map((bit) =>
      codes.reduce((sum, code) => sum + ((code & bit) > 0), 0)
    );
    const { done, tally: [own, one, two] } = found[kind];
    const { l, c } = patterns[kind];
    return [
      t(NAMES[kind]),
      kind === "full" ? null : l,
      kind === "fixed" ? c : null,
      length,
      pairs,
      share(pairs, length ** 2),
      share(pairs, causal(length)),
      first,
      kind === "full" ? null : second,
      busiest,
      ...(done === length ? [one, two, causal(length) - own - one - two] : [null, null, null]),
    ];
  });
  return {
    caption: t(TEXT.caption),
    columns: chosen(TEXT.columns),
    rows,
    here: KINDS.indexOf(here),
  };
}

/** Every pair. */
export function lines(_run, look) {
  const now = seen(look);
  const { patterns, length } = now;
  const found = searched(now, "end");
  const all = KINDS.flatMap((kind) => [codesOf(patterns[kind], length), found[kind].steps]);
  const columns = [
    "query, position",
    "key, position",
    ...KINDS.flatMap((kind) => [`${kind}, 1 in A1, 2 in A2, 3 in both`, `${kind}, steps`]),
  ];
  const rows = [];
  for (let i = 0; i < length; i += 1) {
    for (let j = 0; j <= i; j += 1) rows.push([i, j, ...all.map((one) => one[i * length + j])]);
  }
  return { columns, rows };
}

export function arrays(_run, look) {
  const now = seen(look);
  const { patterns, length, side, l, c } = now;
  const found = searched(now, "end");
  const pairs = (data, unit) => filed(data, ["query", "key"], unit, [length, length]);
  return {
    side_stride_summary: { shape: [3], data: [side, l, c] },
    ...Object.fromEntries(KINDS.flatMap((kind) => [
      [
        `connectivity_${kind}`,
        pairs(codesOf(patterns[kind], length), "0 no pair, 1 in A1, 2 in A2, 3 in both"),
      ],
      [`steps_${kind}`, pairs(found[kind].steps, "steps, 255 where nothing leads")],
    ])),
  };
}

/** Sizes that are chosen at once. */
export function below({ trained }, look, lock) {
  const { side, l, c } = seen(look);
  const same = side === trained.side && l === trained.stride && c === trained.summary;
  const small = side === 12 && l === 12 && c === 3;
  const chip = (text, on, act) =>
    el("button", {
      type: "button",
      class: "tfe-chip",
      "aria-pressed": String(on),
      text,
      onclick: act,
    });
  return [
    el(
      "div",
      { class: "tfe-row tight tfe-controls" },
      chip(
        "12 × 12",
        small,
        () => lock({ patternside: null, patternstride: null, patternsummary: null }),
      ),
      chip(t(TEXT.trained, { side: trained.side }), same, () => {
        lock({ patternside: trained.side });
        lock({ patternstride: trained.stride, patternsummary: trained.summary }); // spelled beside the new side
      }),
    ),
  ];
}

export function legend(_run, look) {
  const now = seen(look);
  const missing = Object.values(searched(now))
    .some(({ done, missing: lost, tally }) => done === now.length && (lost || tally.length > 3));
  const marks = {
    itself: { fill: "query" },
    first: { fill: "key" },
    second: { fill: "cat-6" },
    both: { shades: ["key", "cat-6"] },
    two: { fill: colour("key", 0.26) },
    none: { fill: "panel", line: "control", hatch: "control" },
    later: { fill: "sunk" },
  };
  return Object.entries(marks).filter(([name]) => name !== "none" || missing)
    .map(([name, mark]) => ({ text: t(TEXT[name]), mark: { ...mark, radius: 2, wide: 12 } }));
}

export const common = shared;
export const hovers = true;

export function units(_run, look) {
  const { side, length, l, c } = seen(look);
  return t(TEXT.units, { side, n: whole(length), l, c });
}

export const choices = () => [
  {
    key: "pattern",
    label: t(TEXT.kind),
    options: KINDS.map((value) => ({ value, label: t(NAMES[value]) })),
  },
  { key: "patternside", label: t(TEXT.side), step: 1 },
  { key: "patternstride", label: t(TEXT.stride), step: 1 },
  { key: "patternsummary", label: t(TEXT.summary), step: 1 },
];

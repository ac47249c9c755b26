// Skewing on the run's own numbers: Q E_rᵀ, padded, read in shorter rows, cut, masked, and beside
// it the direct formula. One number is followed through all of it. The value is made by
// explorer/labs/music/figures/skew.py.

import { upTo } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { around, colour, ink, ramp, shade } from "../../frontend/lib/pen.js";
import { number, rounded, tiny } from "../../frontend/lib/signs.js";

export const TEXT = {
  product: { en: "query × distance", zh: "查询 × 距离" },
  padded: { en: "a column of zeros in front", zh: "前面加一列零" },
  reshaped: { en: "read in rows one shorter", zh: "每行少读一个数" },
  sliced: { en: "without the first row", zh: "去掉第一行" },
  masked: { en: "garbage masked", zh: "遮掉无意义的数" },
  direct: { en: "the direct formula", zh: "直接按公式" },
  distance: { en: "distance d", zh: "距离 d" },
  key: { en: "key j", zh: "键 j" },
  steps: { en: "Steps of skewing", zh: "倾斜变换的步骤" },
  follows: {
    en: "Real numbers: layer {layer}, head {head} of the {model}, {n} queries from event {first} " +
      "of {of} on. Distances are counted in events; Eᵣ has {distances} of them.",
    zh:
      "真实的数：{model}第 {layer} 层第 {head} 头，从第 {first} 个事件（共 {of} 个）起的 {n} 个查询。距离以事件为单位；Eᵣ 有 " +
      "{distances} 种距离。",
  },
  other: {
    en: " The {other} in view has no relative term.",
    zh: "当前所看的{other}没有相对位置项。",
  },
  queries: { en: "Queries", zh: "查询数" },
  many: { en: "{n} queries", zh: "{n} 个查询" },
  first: { en: "from event", zh: "从事件" },
  term: { en: "the relative term, from {low} to {high}", zh: "相对位置项，从 {low} 到 {high}" },
  garbage: { en: "garbage: no such distance", zh: "无意义：没有这个距离" },
  pad: { en: "padding, not allowed", zh: "补零，不允许" },
  board: {
    en: "{title} Left and right go through the steps, up and down through heads.",
    zh: "{title}左右键换步骤，上下键换头。",
  },
  caption: {
    en: "Sᵣₑₗ after skewing, and by the direct formula",
    zh: "倾斜变换后的 Sᵣₑₗ，以及直接按公式计算的值",
  },
};
const QUESTIONS = {
  all: {
    label: { en: "whole", zh: "全部" },
    question: {
      en: "How does the relative term line up with the keys?",
      zh: "相对位置项怎样与键对齐？",
    },
  },
  pad: {
    label: { en: "1 pad", zh: "1 补零" },
    question: {
      en: "Every query times every distance, and a column of zeros",
      zh: "每个查询乘每个距离，再加一列零",
    },
  },
  reshape: {
    label: { en: "2 reshape", zh: "2 重排" },
    question: {
      en: "The same numbers in rows one shorter: each row slips by one",
      zh: "同样的数，每行少一个：每行各错开一格",
    },
  },
  slice: {
    label: { en: "3 slice", zh: "3 切片" },
    question: { en: "Without the first row, columns are keys", zh: "去掉第一行，列就是键" },
  },
  mask: {
    label: { en: "4 mask", zh: "4 掩码" },
    question: {
      en: "The mask removes the garbage, and the formula remains",
      zh: "掩码去掉无意义的数，剩下的正是公式",
    },
  },
};
const SAY = {
  term: {
    en:
      "{query} times the embedding of distance {d} is {v}. Skewing brings it to row {i}, column " +
      "{j}: the key {d} events before, {key}.",
    zh:
      "{query}乘距离 {d} 的嵌入，得 {v}。倾斜变换把它带到第 {i} 行第 {j} 列：{d} 个事件之前的{key}。",
  },
  garbage: {
    en: "There is nothing {d} events before {query}, so {v} means nothing. Skewing brings it to " +
      "row {i}, column {j}, above the diagonal, and the mask removes it.",
    zh:
      "{query}之前 {d} 个事件处什么也没有，所以 {v} 没有意义。倾斜变换把它带到第 {i} 行第 {j} 列，在对角线上方，由掩码去掉。",
  },
  cut: {
    en:
      "There is nothing {d} events before {query}, so {v} means nothing. It falls into the first " +
      "row, which is cut off.",
    zh: "{query}之前 {d} 个事件处什么也没有，所以 {v} 没有意义。它落在被切掉的第一行。",
  },
  pad: {
    en: "A zero from the padding lands in row {i}, column {j}, above the diagonal, and the mask " +
      "removes it.",
    zh: "补上的一个零来到第 {i} 行第 {j} 列，在对角线上方，由掩码去掉。",
  },
  padCut: {
    en: "A zero from the padding falls into the first row, which is cut off.",
    zh: "补上的一个零落在被切掉的第一行。",
  },
};
const EQUAL = {
  en:
    " Of {all} numbers {n} are the relative term; there skewing and the direct formula differ by " +
    "{most} at most.",
  zh: "{all} 个数中有 {n} 个是相对位置项；在那里，倾斜变换与直接公式最多相差 {most}。",
};
const QUERY = { en: "query {i} (makes {name})", zh: "查询 {i}（写出 {name}）" };
const KEY = { en: "key {j} (has read {name})", zh: "键 {j}（读入 {name}）" };
const COLUMNS = [
  { en: "query", zh: "查询" },
  { en: "makes", zh: "写出" },
  { en: "key", zh: "键" },
  { en: "has read", zh: "读入" },
  { en: "distance", zh: "距离" },
  { en: "skewed", zh: "倾斜变换" },
  { en: "direct", zh: "直接公式" },
];
const TENSORS = ["product", "padded", "reshaped", "sliced", "direct"];
const SYMBOLS = {
  product: "Q Eᵣᵀ",
  padded: "pad",
  reshaped: "reshape",
  sliced: "slice = Sᵣₑₗ",
  masked: "Sᵣₑₗ",
  direct: "qᵢ · Eᵣ[i − j]",
};
// The boards of each step, one becoming the next.
const STEPS = {
  all: ["product", "padded", "reshaped", "sliced", "masked", "direct"],
  pad: ["product", "padded"],
  reshape: ["padded", "reshaped"],
  slice: ["reshaped", "sliced"],
  mask: ["sliced", "masked", "direct"],
};
const ACROSS = 4; // boards in a row at most
const WRITTEN = 2.1; // a cell is so many times as wide as its digits are tall where a number with one decimal fits

export function read(value) {
  if (!value.product) return null;
  const values = Object.fromEntries(TENSORS.map((name) => [name, value[name].data]));
  return {
    ...value,
    values: { ...values, masked: values.sliced },
    length: value.product.shape[0],
    limit: Math.max(1e-6, ...Array.from(values.product, Math.abs)),
  };
}

/** How many rows and columns a board of so many queries has. */
const shape = (board, length) =>
  ({ padded: [length, length + 1], reshaped: [length + 1, length] })[board] ??
    [length, length];

/**
 * Where a number of the padded tensor, counted row by row, stands on each board, null where it does
 * not.
 */
export function places(place, length) {
  const [row, column] = [Math.floor(place / (length + 1)), (place % (length + 1)) - 1];
  const [line, at] = [Math.floor(place / length), place % length];
  const skewed = line ? [line - 1, at] : null;
  const seen = skewed && skewed[1] <= skewed[0] ? skewed : null;
  return {
    product: column < 0 ? null : [row, column],
    padded: [row, column + 1],
    reshaped: [line, at],
    sliced: skewed,
    masked: seen,
    direct: seen,
  };
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
  return !product ? "pad" : length - 1 - product[1] > product[0] ? "garbage" : "term";
}

const widthOf = (boards, length) => boards.reduce((sum, name) => sum + shape(name, length)[1], 0);

/**
 * How the boards of a step stand: in which rows, how wide and high a cell is, px before a board
 * (left) and between two, how large the signs are; and of those that stand in one row for an
 * audience what is said above each, and how high.
 */
function layout(boards, length, pen, size) {
  if (pen.big && boards.length > ACROSS) {
    const [left, between] = [30, 28];
    const cell = Math.floor(
      (pen.width - 4 - boards.length * (left + between) + between) / widthOf(boards, length),
    );
    const said = boards.map((name) =>
      pen.lines(t(TEXT[name]), widthOf([name], length) * cell + left, { size })
    );
    const above = (Math.max(...said.map((lines) => lines.length)) + 2) * 26 + 8;
    const tall = Math.max(
      9,
      Math.min(2 * cell, Math.floor((pen.tall - above - 30) / (length + 1))),
    );
    return { split: [boards], cell, tall, left, between, sign: 26, said, above };
  }
  // Side by side, as many to a row as leave their cells wide enough; a row that goes on begins with
  // its sign.
  const [left, between] = [Math.round(size * 2.1), Math.round(size * 2.6)];
  const roomOf = (count) => {
    const split = upTo(
      Math.ceil(boards.length / count),
      (i) => boards.slice(i * count, (i + 1) * count),
    );
    const signs = (row, i) => row.length - 1 + Number(i > 0 && count > 1);
    return {
      split,
      room: Math.min(
        ...split.map((row, i) =>
          (Math.min(pen.width, 1320) - 2 - row.length * left - signs(row, i) * between) /
          widthOf(row, length)
        ),
      ),
    };
  };
  const least = (boards.length > ACROSS ? 1.15 : WRITTEN) * size;
  const counts = [ACROSS, 3, 2].filter((count) =>
    count <= boards.length && !(count === 3 && boards.length > ACROSS)
  );
  const { split, room } = counts.map(roomOf).find((one) => one.room >= least) ?? roomOf(1);
  const cell = Math.min(room, pen.big ? 64 : 44);
  return { split, cell, tall: Math.min(cell, pen.big ? 40 : 26), left, between, sign: size * 1.5 };
}

export function scene(run, look, pen) {
  const { length } = run;
  const size = pen.big ? 20 : 12;
  const line = Math.round(size * 1.4);
  const at = layout(STEPS[look.sstep], length, pen, size);
  const { split, cell, left, between } = at;
  const how = {
    ...at,
    run,
    pen,
    size,
    line,
    marks: places(look.over?.scell ?? look.scell, length),
  };
  let [y, wide] = [0, 0];
  split.forEach((row, n) => {
    const goesOn = n > 0 && split[0].length > 1;
    let [x, end] = [goesOn ? between : 0, y];
    row.forEach((name, i) => {
      const before = x - between / 2;
      x += left;
      const made = board({ ...how, lines: at.said?.[i] }, name, x, y);
      if (i || goesOn) {
        pen.text(before, made.middle, name === "direct" ? "=" : "→", {
          size: at.sign,
          weight: 650,
          colour: "ink",
          align: "center",
        });
      }
      end = Math.max(end, made.end);
      x += widthOf([name], length) * cell;
      wide = Math.max(wide, x);
      x += between;
    });
    y = end + (n + 1 < split.length ? line : 0);
  });
  pen.size(Math.max(pen.width, wide + 2), y);
}

/**
 * lines: what it is, in lines of their own under its sign, `above` px in all; left out, in one
 * line, with how large it is beside its sign.
 */
function board({ run, pen, size, line, cell, tall, marks, lines, above }, name, x, y) {
  const { length, limit } = run;
  const [count, wide] = shape(name, length);
  const [data, mark, top] = [run.values[name], marks[name], y + (above ?? 2 * size + 2 * line + 4)];
  const digits = cell >= size * 3.2 ? 2 : cell >= size * WRITTEN ? 1 : -1;
  const axis = { product: "distance", sliced: "key", masked: "key", direct: "key" }[name];
  const write = (px, py, text, style = {}) =>
    pen.text(px, py, text, { size, align: "center", ...style });
  write(x, y + 0.64 * size, SYMBOLS[name], { colour: "ink", weight: 650, align: "left" });
  if (!lines) {
    write(x + wide * cell, y + 0.64 * size, `(${count}, ${wide})`, {
      colour: "ink3",
      align: "right",
    });
  }
  if (!lines) write(x + (wide * cell) / 2, y + 0.64 * size + line, t(TEXT[name]));
  else {lines.forEach((text, n) =>
      write(x, y + 0.64 * size + line * (n + 1), text, { align: "left" })
    );}
  const boxOf = (r, c) => ({
    x0: x + c * cell,
    x1: x + (c + 1) * cell - 1,
    y0: top + r * tall,
    y1: top + (r + 1) * tall - 1,
  });
  const every = cell < size * 1.5 ? (length > 8 ? 3 : 2) : 1;
  for (let c = 0; c < wide; c += 1) {
    const said = axis === "key"
      ? c
      : name === "reshaped"
      ? -1
      : length - 1 - (name === "padded" ? c - 1 : c);
    const here = mark?.[1] === c;
    if (
      said < 0 || said >= length ||
      (!here && (said % every || (mark && every > 1 && Math.abs(mark[1] - c) < 2)))
    ) {
      continue;
    }
    write(x + (c + 0.5) * cell, top - 5 - 0.36 * size, said, {
      colour: axis === "key" ? "key" : "ink3",
      weight: here ? 650 : 400,
    });
  }
  if (axis) {
    write(x + wide * cell, top + count * tall + line - 0.36 * size, t(TEXT[axis]), {
      colour: axis === "key" ? "key" : "ink3",
      align: "right",
    });
  }
  for (let r = 0; r < count; r += 1) {
    const here = mark?.[0] === r;
    const nth = Math.max(1, Math.ceil(size / tall)); // rows from one number to the next
    const low = !here && (r % (tall < line ? Math.max(2, nth) : 1) ||
      (mark && tall < line && Math.abs(mark[0] - r) < Math.max(2, nth)));
    if (name !== "reshaped" && !low) {
      write(x - 5, top + (r + 0.5) * tall, r, {
        colour: "query",
        align: "right",
        weight: here ? 650 : 400,
      });
    }
    for (let c = 0; c < wide; c += 1) {
      const what = kind(placeOf(name, r, c, length), length);
      const later = ["masked", "direct"].includes(name) && c > r;
      const value = data[r * wide + c];
      const box = boxOf(r, c);
      const bare = later || what === "pad";
      const fill = bare
        ? "sunk"
        : colour(shade("signed", 0.5 + value / (2 * limit)), what === "garbage" ? 0.45 : 1);
      pen.rect(box, { fill });
      if (what === "garbage" && !later) {
        pen.line(box.x0 + 1, box.y1 - 1, box.x1 - 1, box.y0 + 1, {
          line: "control",
          width: pen.big ? 2 : 1,
        });
      }
      if (later || (digits < 0 && (what !== "pad" || cell < size * 0.8)) || tall < size) continue;
      write(
        (box.x0 + box.x1) / 2,
        (box.y0 + box.y1) / 2,
        what === "pad" ? "0" : number(value, digits),
        { colour: what === "term" ? ink(fill) : what === "pad" ? "ink3" : "ink2" },
      );
    }
  }
  if (name === "reshaped") {
    pen.rect({ x0: x - 2, x1: x + wide * cell + 1, y0: top - 2, y1: top + tall }, {
      line: "bad",
      width: 2,
      dash: true,
    });
  }
  if (mark) {
    pen.rect(around(boxOf(...mark), 4), { line: "panel", width: 6, radius: 3 });
    pen.rect(around(boxOf(...mark), 2.5), { line: "query", width: pen.big ? 4 : 2.5, radius: 3 });
  }
  pen.grid(
    { x0: x, x1: x + wide * cell, y0: top, y1: top + count * tall },
    count,
    wide,
    (r, c) => ({ still: true, look: { scell: placeOf(name, r, c, length) } }),
  );
  return { middle: top + (count * tall) / 2, end: top + count * tall + (axis ? line + 4 : 4) };
}

export function sentence(run, look) {
  const place = look.over?.scell ?? look.scell;
  const { length, values } = run;
  const where = places(place, length);
  const what = kind(place, length);
  const row = Math.floor(place / (length + 1));
  const [i, j] = where.sliced ?? [0, 0];
  const filled = {
    query: { text: t(QUERY, { i: row, name: t(run.makes[row]) }), role: "query" },
    key: what === "term" ? { text: t(KEY, { j, name: t(run.reads[j]) }), role: "key" } : "",
    d: where.product ? length - 1 - where.product[1] : 0,
    v: { text: number(values.padded[place], 3), role: "out" },
    i,
    j,
  };
  const list = parts(
    what === "term"
      ? SAY.term
      : what === "pad"
      ? (where.sliced ? SAY.pad : SAY.padCut)
      : where.sliced
      ? SAY.garbage
      : SAY.cut,
    filled,
  );
  list[0] = { ...list[0], text: list[0].text[0].toUpperCase() + list[0].text.slice(1) };
  return [
    ...list,
    ...parts(EQUAL, {
      all: length * length,
      n: (length * (length + 1)) / 2,
      most: tiny(run.difference),
    }),
  ];
}

export function below(run) {
  const follows = t(TEXT.follows, {
    layer: run.layer + 1,
    head: run.head + 1,
    model: t(run.model),
    n: run.length,
    first: run.first,
    of: run.events,
    distances: run.distances,
  });
  return [follows + (run.other ? t(TEXT.other, { other: t(run.other) }) : "")];
}

export function table(run) {
  const { length, values } = run;
  const rows = upTo(
    length,
    (i) =>
      upTo(
        i + 1,
        (
          j,
        ) => [
          i,
          t(run.makes[i]),
          j,
          t(run.reads[j]),
          i - j,
          rounded(values.sliced[i * length + j], 6),
          rounded(values.direct[i * length + j], 6),
        ],
      ),
  ).flat();
  return { caption: t(TEXT.caption), columns: COLUMNS.map((column) => t(column)), rows };
}

/** The largest of the term in the lower half. */
function telling({ length, values }) {
  let best = length * (length + 1) - 1;
  for (let row = Math.floor(length / 2); row < length; row += 1) {
    for (let column = length - row; column < length; column += 1) {
      if (Math.abs(values.padded[row * (length + 1) + column]) > Math.abs(values.padded[best])) {
        best = row * (length + 1) + column;
      }
    }
  }
  return best;
}

const AXES = {
  product: ["query", "distance, farthest first"],
  padded: ["query", "zero, then distance"],
  reshaped: ["row", "column"],
  sliced: ["query", "key"],
  direct: ["query", "key"],
};

export const looks = {
  head: "head",
  sstep: "choice",
  squeries: "choice",
  sfrom: "number",
  scell: "position",
};
export const follows = ["model"];
export const wish = (get) =>
  Object.fromEntries(["model", "head", "squeries", "sfrom"].map((key) => [key, get(key)]));
export const question = (_run, { sstep = "all" }) => QUESTIONS[sstep].question;
export const hovers = true;
export const along = "sstep";
export const resets = ["scell"];
export const bounds = (run) => ({
  head: { layers: run.layers, heads: run.heads, pick: `${run.layer + 1}.${run.head + 1}` },
  sstep: { names: Object.keys(STEPS) },
  squeries: { names: ["6", "8", "12"], pick: "12" },
  sfrom: { least: 0, most: Math.max(0, run.events - run.length) },
  scell: { count: run.length * (run.length + 1), pick: telling(run) },
});

export function move(_run, { sstep }, key, by) {
  const names = Object.keys(STEPS);
  return key === "sstep"
    ? { sstep: names[Math.max(0, Math.min(names.length - 1, names.indexOf(sstep) + by))] }
    : null;
}

export const arrays = (run) => ({
  ...Object.fromEntries(
    TENSORS.map((
      name,
    ) => [name, {
      shape: shape(name, run.length),
      data: run.values[name],
      axes: AXES[name],
      unit: "score",
    }]),
  ),
  makes: run.makes.map((name) => t(name)),
  has_read: run.reads.map((name) => t(name)),
});
export const legend = (run) => [
  {
    text: t(TEXT.term, { low: number(-run.limit), high: number(run.limit) }),
    mark: ramp("signed", 72, 9),
  },
  { text: t(TEXT.garbage), mark: { fill: "sunk", line: "control", hatch: "control", stripe: 1 } },
  { text: t(TEXT.pad), mark: { fill: "sunk", line: "control" } },
];
export const units = (_run, { sstep }) => t(QUESTIONS[sstep].question);
export const choices = () => [
  {
    key: "sstep",
    label: t(TEXT.steps),
    options: Object.entries(QUESTIONS)
      .map(([value, { label }]) => ({ value, label: t(label) })),
  },
  {
    key: "squeries",
    label: t(TEXT.queries),
    options: ["6", "8", "12"]
      .map((n) => ({ value: n, label: n === "6" ? t(TEXT.many, { n }) : n })),
  },
  { key: "sfrom", label: t(TEXT.first), step: 1 },
];
export const same = (was, run) => was.length === run.length;

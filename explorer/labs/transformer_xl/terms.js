// The relative score in its four terms on the run's own numbers: four maps that add up to a fifth,
// and its softmax. One cell is told of in all. The value is made by
// explorer/labs/transformer_xl/figures/terms.py.

import { filed } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { around, cellIn, ramp } from "../../frontend/lib/pen.js";
import { count, number, sign } from "../../frontend/lib/signs.js";

const MAPS = ["content", "position", "global_content", "global_position", "scores", "weights"];
const SIGNS = {
  position: "+",
  global_content: "+",
  global_position: "+",
  scores: "=",
  weights: "→",
};
const SYMBOLS = {
  content: "qᵢ·kⱼ",
  position: "qᵢ·W Rᵢ₋ⱼ",
  global_content: "u·kⱼ",
  global_position: "v·W Rᵢ₋ⱼ",
  scores: "Aᵢⱼ",
  weights: "softmax",
};
export const TEXT = {
  question: {
    en: "Which of the four terms decides where a query looks?",
    zh: "四项之中，哪一项决定查询看哪里？",
  },
  content: { en: "content", zh: "内容" },
  position: { en: "content-dependent position bias", zh: "依赖内容的位置偏置" },
  positionNarrow: { en: "content-dependent", zh: "依赖内容的位置偏置" },
  global_content: { en: "global content bias", zh: "全局内容偏置" },
  global_position: { en: "global position bias", zh: "全局位置偏置" },
  scores: { en: "score, the sum", zh: "分数，四项之和" },
  weights: { en: "weight", zh: "权重" },
  memory: { en: "memory", zh: "记忆" },
  own: { en: "this segment", zh: "本片段" },
  u: { en: "u of this head", zh: "本头的 u" },
  v: { en: "v of this head", zh: "本头的 v" },
  limits: { en: "−{n} to {n}", zh: "−{n} 至 {n}" },
  follows: {
    en:
      "Real numbers: layer {layer}, head {head} of {model}, {n} queries up to character {last}, " +
      "{m} keys. A query has read the character before the one to predict; a key carries the " +
      "character just read there; distance 0 is the query’s own key. Divided by √d.",
    zh: "真实的数：{model} 第 {layer} 层第 {head} 头，到字符 {last} 为止的 {n} 个查询，{m} " +
      "个键。查询已读入它要说出的字符之前的那个；键携带在那里刚读入的字符；距离 0 是查询自己的键。均已除以 √d。",
  },
  other: { en: " {other} in view has no such terms.", zh: "当前所看的 {other} 没有这些项。" },
  off: {
    en: " {n} keys farther back {n|is|are} left out; the sentence tells {n|its|their} weight.",
    zh: "更远的 {n} 个键未画出；其权重在句中说明。",
  },
  queries: { en: "queries", zh: "查询数" },
  signed: { en: "terms and their sum, −{n} to {n}", zh: "各项与其和，−{n} 至 {n}" },
  scale: { en: "weight, 0 to 1 (colour: w^0.8)", zh: "权重，0 至 1（颜色：w^0.8）" },
  never: { en: "not allowed: later than the query", zh: "不允许：在查询之后" },
  board: {
    en: "{title} Left and right go through queries, with Shift through keys, up and down through " +
      "heads.",
    zh: "{title} 左右键换查询，加 Shift 换键，上下键换头。",
  },
  equation: { en: "The score", zh: "分数" },
  caption: { en: "Every cell of the maps", zh: "各图的每一格" },
  query: { en: "query, says", zh: "查询，将说出" },
  key: { en: "key, carries", zh: "键，携带" },
  distance: { en: "distance", zh: "距离" },
};

const shown = (name) => Array.from(name, (letter) => sign(letter.codePointAt(0))).join("");

export function read(value) {
  if (!value.content) return null;
  const values = Object.fromEntries([...MAPS, "allowed", "elsewhere", "u", "v"]
    .map((name) => [name, value[name].data]));
  const [rows, columns] = value[MAPS[0]].shape;
  const most = (lists) =>
    Math.max(
      1e-6,
      ...lists.map((list) => list.reduce((top, one) => Math.max(top, Math.abs(one)), 0)),
    );
  const maps = Object.fromEntries(
    MAPS.map((
      name,
    ) => [name, values[name].map((one, i) => (values.allowed[i] ? one : Number.NaN))]),
  );
  const [queries, keys] = ["queries", "keys"]
    .map((which) => ({
      names: value[which].names.map(shown),
      positions: value[which].positions.data,
    }));
  return {
    ...value,
    values,
    maps,
    rows,
    columns,
    queries,
    keys,
    limit: most(MAPS.slice(0, 5).map((name) => values[name])),
    bias: most([values.u, values.v]),
  };
}

const own = (run, q) => run.columns - run.rows + q; // the key of a query itself

/** The cell that is told of, [query, key]. */
function told(run, { tcell, over }) {
  const [back, before] = over?.tcell ?? tcell;
  const q = run.rows - 1 - back;
  return [q, Math.max(0, own(run, q) - before)];
}

/** "e·412"; what is no character of the text has no number. */
const tag = ({ names, positions }, i) =>
  `${names[i]}${positions[i] >= 0 ? `·${positions[i]}` : ""}`;

export function scene(run, look, pen) {
  const { big, narrow } = pen;
  const [font, columns] = [big ? 20 : 12, narrow ? 2 : 3];
  const [line, left, between] = [
    Math.round(font * 1.45),
    narrow ? 44 : big ? 96 : 58,
    narrow ? 24 : big ? 48 : 34,
  ];
  const wide = Math.floor((pen.width - left - (columns - 1) * between - 6) / columns);
  const [above, below] = [2 * line + 4, line + (big ? 12 : 8)];
  const tall = Math.round(
    big
      ? Math.max(56, Math.min(0.6 * wide, pen.tall / 2 - above - below - 8))
      : Math.max(96, Math.min(150, wide * 0.56)),
  );
  const step = above + tall + below + (big ? 8 : 12);
  const cell = told(run, look);
  MAPS.forEach((name, i) => {
    const [x, y] = [
      left + (i % columns) * (wide + between),
      Math.floor(i / columns) * step + above,
    ];
    map(run, pen, { name, cell, x, y, wide, tall, font, line });
    if (!SIGNS[name]) return;
    const [sx, sy] = i % columns
      ? [x - between / 2 - (narrow ? 2 : 0), y + tall / 2]
      : [x - (narrow ? 12 : between / 2), y - above + font * 0.8];
    pen.text(sx, sy, SIGNS[name], {
      size: font * 1.5,
      weight: 650,
      colour: "ink",
      align: "center",
    });
  });
  const bottom = Math.ceil(MAPS.length / columns) * step;
  const strips = big ? [] : ["u", "v"]; // a hall is shown the maps alone
  strips.forEach((name, i) => {
    const size = narrow ? pen.width - left - 6 : (pen.width - 6 - left - between) / 2;
    const [x, y] = [
      narrow ? left : left + i * (size + between),
      bottom + font * 0.7 + (narrow ? i * (line + font * 1.4) : 0),
    ];
    pen.text(x, y, t(TEXT[name]), { size: font, weight: 650, colour: "ink" });
    pen.text(x + size, y, t(TEXT.limits, { n: number(run.bias) }), {
      size: font,
      colour: "ink3",
      align: "right",
    });
    const box = { x0: x, x1: x + size, y0: y + font * 0.7, y1: y + font * 1.85 };
    pen.cells(box, {
      data: run.values[name],
      rows: 1,
      columns: run.values[name].length,
      scale: "signed",
      low: -run.bias,
      high: run.bias,
    });
    pen.rect(box, { line: "control" });
  });
  pen.size(pen.width, bottom + (big ? 0 : (narrow ? 2 : 1) * (line + font * 1.4) + 8));
}

function map(run, pen, { name, cell: [q, k], x, y, wide, tall, font, line }) {
  const { narrow, big } = pen;
  const [cw, ch] = [wide / run.columns, tall / run.rows];
  const box = { x0: x, x1: x + wide, y0: y, y1: y + tall };
  const able = run.values.allowed[q * run.columns + k];
  const text = (px, py, words, style) =>
    pen.text(px, py - 0.36 * font, words, { size: font, ...style });
  text(x, y - line - 5, SYMBOLS[name], { colour: "ink", weight: 650 });
  const brief = narrow || pen.measure(t(TEXT[name]), { size: font }) > wide;
  text(x, y - 6, t((brief && TEXT[`${name}Narrow`]) || TEXT[name]), { colour: "ink3" });
  text(
    x + wide,
    narrow || big ? y - line - 5 : y - 6,
    able ? number(run.values[name][q * run.columns + k]) : "–",
    { colour: "ink", weight: 650, size: font * 1.25, align: "right" },
  );
  pen.cells(box, {
    data: run.maps[name],
    rows: run.rows,
    columns: run.columns,
    ...(name === "weights"
      ? { gamma: 0.8 }
      : { scale: "signed", low: -run.limit, high: run.limit }),
  });
  pen.rect(box, { line: "control" });
  const border = x + run.memory_until * cw;
  if (run.memory_until > 0 && run.memory_until < run.columns) {
    pen.line(border, y - 3, border, y + tall + 4, { line: "ink", width: big ? 3 : 1.8 });
  }
  // The row that is told of, and its cell.
  pen.rect(around(cellIn(box, run.rows, 1, q, 0), 1), { line: "query", width: big ? 2 : 1.2 });
  const [mx, my, rw, rh] = [
    x + (k + 0.5) * cw,
    y + (q + 0.5) * ch,
    Math.max(cw, font * 0.7) / 2,
    Math.max(ch, font * 0.7) / 2,
  ];
  const rings = [
    { grow: 2, colour: "panel", width: big ? 7 : 5 },
    { grow: 1, colour: "key", width: big ? 4 : 2.5 },
  ];
  for (const { grow, colour, width } of rings) {
    pen.rect({ x0: mx - rw - grow, x1: mx + rw + grow, y0: my - rh - grow, y1: my + rh + grow }, {
      line: colour,
      width,
      radius: 2,
    });
  }
  // Who asks at the left of each row of maps, who is looked at below.
  if (x < 100) {
    const room = Math.max(1, Math.ceil((font * 1.15) / ch));
    for (let r = run.rows - 1; r >= 0; r -= 1) {
      if (r !== q && ((run.rows - 1 - r) % room || Math.abs(r - q) < room)) continue;
      const here = r === q;
      pen.text(
        x - 6,
        y + (r + 0.5) * ch,
        here && !narrow ? tag(run.queries, r) : run.queries.names[r],
        {
          size: font,
          align: "right",
          colour: here ? "query" : "ink3",
          weight: here ? 650 : 400,
          face: here && !narrow ? "ui" : "mono",
        },
      );
    }
  }
  const label = tag(run.keys, k);
  const half = pen.measure(label, { size: font, weight: 650 }) / 2;
  const lx = Math.max(x + half, Math.min(x + wide - half, mx));
  text(lx, y + tall + line, label, { colour: "key", weight: 650, align: "center" });
  for (
    const [from, to, words] of [[0, run.memory_until, t(TEXT.memory)], [
      run.memory_until,
      run.columns,
      t(TEXT.own),
    ]]
  ) {
    const [size, middle] = [pen.measure(words, { size: font }), x + ((from + to) / 2) * cw];
    if ((to - from) * cw > size + 4 && Math.abs(middle - lx) > half + 8 + size / 2) {
      text(middle, y + tall + line, words, { colour: "ink3", align: "center" });
    }
  }
  pen.grid(
    box,
    run.rows,
    run.columns,
    (row, column) => ({
      still: true,
      look: { tcell: [run.rows - 1 - row, own(run, row) - column] },
    }),
  );
}

export function legend(run) {
  return [
    { text: t(TEXT.signed, { n: number(run.limit) }), mark: ramp("signed", 72, 9) },
    { text: t(TEXT.scale), mark: ramp("weights", 72, 9, 0.8) },
    { text: t(TEXT.never), mark: { fill: "sunk", line: "control", radius: 2 } },
  ];
}

export function below(run) {
  const piece = (role, text, sub) =>
    el(
      "span",
      { class: role ? `tfe-${role}` : null },
      el("i", { text }),
      sub &&
        el("sub", { text: sub }),
    );
  const distance = () => [piece("key", "W"), piece("key", "R", "i−j")];
  const equation = [
    piece("", "A", "ij"),
    " = ",
    piece("query", "q", "i"),
    " · ",
    piece("key", "k", "j"),
    " + ",
    piece("query", "q", "i"),
    " · ",
    ...distance(),
    " + ",
    piece("", "u"),
    " · ",
    piece("key", "k", "j"),
    " + ",
    piece("", "v"),
    " · ",
    ...distance(),
  ];
  const follows = t(TEXT.follows, {
    layer: run.layer + 1,
    head: run.head + 1,
    model: t(run.model),
    n: run.rows,
    m: run.columns,
    last: count(run.queries.positions.at(-1)),
  });
  const more = (run.left_off ? t(TEXT.off, { n: run.left_off }) : "") +
    (run.other ? t(TEXT.other, { other: t(run.other) }) : "");
  return [
    el("p", { class: "tfe-terms-equation", role: "img", "aria-label": t(TEXT.equation) }, equation),
    follows + more,
  ];
}

const SAY = {
  placed: { en: "“{name}” ({p})", zh: "“{name}”（{p}）" },
  query: { en: "Query {name}", zh: "查询 {name}" },
  key: { en: "key {name}", zh: "键 {name}" },
  barred: { en: "{q} may not look at {k}: it comes later.", zh: "{q}不能看{k}：它在查询之后。" },
  rest: { en: " The {n} keys farther back {n|gets|get} {off}.", zh: "更远的 {n} 个键共得 {off}。" },
  says: {
    en: "{q}, {k}, {d} back: {sum} = {score}, weight {w}; its largest term is “{largest}”.{rest}",
    zh: "{q}，{k}，距离 {d}：{sum} = {score}，权重 {w}；最大的一项是“{largest}”。{rest}",
  },
};

export function sentence(run, look) {
  const [q, k] = told(run, look);
  const place = q * run.columns + k;
  const name = (
    { names, positions },
    i,
  ) => (positions[i] < 0 ? `“${names[i]}”` : t(SAY.placed, { name: names[i], p: positions[i] }));
  const both = {
    q: { text: t(SAY.query, { name: name(run.queries, q) }), role: "query" },
    k: { text: t(SAY.key, { name: name(run.keys, k) }), role: "key" },
  };
  if (!run.values.allowed[place]) return parts(SAY.barred, both);
  const terms = MAPS.slice(0, 4).map((each) => run.values[each][place]);
  const w = run.values.weights[place];
  return parts(SAY.says, {
    ...both,
    d: own(run, q) - k,
    sum: terms.map((
      term,
      i,
    ) => (i ? `${term < -0.005 ? " − " : " + "}${number(Math.abs(term))}` : number(term)))
      .join(""),
    score: { text: number(run.values.scores[place]), role: "out" },
    w: w >= 0.0095 || w === 0 ? w.toFixed(2) : w.toPrecision(2),
    largest: t(
      TEXT[
        MAPS[
          terms.reduce((best, term, i) => (Math.abs(term) > Math.abs(terms[best]) ? i : best), 0)
        ]
      ],
    ),
    rest: run.left_off
      ? t(SAY.rest, { n: run.left_off, off: run.values.elsewhere[q].toFixed(2) })
      : "",
  });
}

export function table(run, look) {
  const rows = [];
  const [q, k] = told(run, look);
  let here = null;
  for (let row = 0; row < run.rows; row += 1) {
    for (let column = 0; column <= own(run, row); column += 1) {
      if (row === q && column === k) here = rows.length;
      rows.push([
        tag(run.queries, row),
        tag(run.keys, column),
        own(run, row) - column,
        ...MAPS.map((name) => Math.round(1e5 * run.values[name][row * run.columns + column]) / 1e5),
      ]);
    }
  }
  return {
    caption: t(TEXT.caption),
    columns: [t(TEXT.query), t(TEXT.key), t(TEXT.distance), ...MAPS.map((name) => t(TEXT[name]))],
    rows,
    here,
  };
}

export function arrays(run) {
  const pairs = (data, unit) => filed(data, ["query", "key"], unit, [run.rows, run.columns]);
  const { values, queries, keys } = run;
  return {
    ...Object.fromEntries(
      MAPS.map((
        name,
      ) => [name, pairs(values[name], name === "weights" ? "weight" : "score, divided by √d")]),
    ),
    allowed: pairs(Uint8Array.from(values.allowed)),
    elsewhere: filed(values.elsewhere, "query"),
    u: filed(values.u, "d"),
    v: filed(values.v, "d"),
    query_positions: filed(Int32Array.from(queries.positions), "query"),
    key_positions: filed(Int32Array.from(keys.positions), "key"),
    says: queries.names,
    carries: keys.names,
  };
}

export const looks = { head: "head", tqueries: "choice", tcell: "pair" };
export const follows = ["model", "pos"];
export const wish = (get) =>
  Object.fromEntries(["model", "head", "pos", "tqueries"].map((key) => [key, get(key)]));
export const hovers = true;
export const along = "tcell";
export const aside = "key";

/** On arrival the key that the last query gives most, but its own. */
export function bounds(run) {
  const last = run.values.weights.subarray(
    (run.rows - 1) * run.columns,
    run.rows * run.columns - 1,
  );
  const best = last.reduce(
    (most, w, k) => (w > last[most] ? k : most),
    Math.max(0, last.length - 1),
  );
  return {
    head: { layers: run.layers, heads: run.heads, pick: `${run.layer + 1}.${run.head + 1}` },
    tqueries: { names: ["16", "32", "64"], pick: "32" },
    tcell: { counts: [run.rows, run.columns], pick: [0, Math.max(0, run.columns - 1 - best)] },
  };
}

/** ← and → go through queries at the same distance. */
export function move(run, { tcell: [back, before] }, key, by) {
  if (key === "head") return null;
  if (key === "key") {
    return { tcell: [back, Math.max(0, Math.min(own(run, run.rows - 1 - back), before - by))] };
  }
  const next = Math.max(0, Math.min(run.rows - 1, back - by));
  return { tcell: [next, Math.min(own(run, run.rows - 1 - next), before)] };
}

export const choices = () => [{
  key: "tqueries",
  label: t(TEXT.queries),
  options: ["16", "32", "64"].map((n) => ({
    value: n,
    label: t(n === "16" ? { en: "16 queries", zh: "16 个查询" } : { en: n, zh: n }),
  })),
}];
export const same = (was, run) => was.rows === run.rows;

// Where a hidden word looks: the row of pieces with an arrow from each, as wide as its weight;
// under it the likeliest words from both sides, the same with one side blanked, and what the
// blanked side was worth to the true word. Words are hidden by hand, or drawn as in training: then
// some read another piece, and some stay. The value is made by explorer/labs/bert/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { offers } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { flipped } from "../../frontend/lib/selection.js";
import { number, placed, plus, rounded, short, weight } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: { en: "What does the hidden word look at?", zh: "遮住的词看向什么？" },
  board: {
    en:
      "{title}. Left and right choose a piece, Shift and Enter hide it or show it again, up and " +
      "down choose a layer, Escape resets.",
    zh: "{title}。左右键选择词片，Shift+Enter 遮住或恢复，上下键选择层，Esc 复位。",
  },
  units: {
    en: "{head} of layer {layer}; width is weight",
    zh: "第 {layer} 层，{head}；粗细为权重",
  },
  mean: { en: "mean of the heads", zh: "各头平均" },
  head: { en: "head {n}", zh: "头 {n}" },
  layers: { en: "layer", zh: "层" },
  heads: { en: "head", zh: "头" },
  left: { en: "from the left {p}", zh: "来自左边 {p}" },
  right: { en: "from the right {p}", zh: "来自右边 {p}" },
  hidden: { en: "hidden", zh: "遮住" },
  both: { en: "both sides", zh: "两边" },
  only_left: { en: "left side alone", zh: "只看左边" },
  only_right: { en: "right side alone", zh: "只看右边" },
  as_left: { en: "as a language model", zh: "如同语言模型" },
  as_right: { en: "the left is blanked", zh: "左边被遮挡" },
  chance: { en: "probability of {word}", zh: "{word} 的概率" },
  worth_left: { en: "{a} → {b} without the right side", zh: "去掉右边：{a} → {b}" },
  worth_right: { en: "{a} → {b} without the left side", zh: "去掉左边：{a} → {b}" },
  query: { en: "hidden word", zh: "遮住的词" },
  key: { en: "looked at", zh: "看向的词" },
  special: { en: "special token", zh: "特殊词元" },
  mask: { en: "80 %: hidden", zh: "80%：遮住" },
  other: { en: "10 %: another piece", zh: "10%：换成别的词片" },
  kept: { en: "10 %: kept", zh: "10%：不变" },
  blank: { en: "not read", zh: "读不到" },
  stands: { en: "{truth} is read as {read}", zh: "{truth} 读作 {read}" },
  drawn: {
    en: "Of {count} pieces {n} {n|is|are} drawn: {mask} hidden, {other} replaced, {kept} kept. ",
    zh: "{count} 个词片中抽中 {n} 个：遮住 {mask} 个，换掉 {other} 个，不变 {kept} 个。",
  },
  isHidden: { en: "The hidden word is ", zh: "遮住的词是 " },
  inView: { en: "In view is ", zh: "看到的是 " },
  first: { en: "{word}, guessed first with {p}; ", zh: "{word}，第一个就猜中，概率 {p}；" },
  later: {
    en: "{word}; the best guess is {best} with {p}, the true word has {own}. ",
    zh: "{word}，最可能的猜测是 {best}，概率 {p}；它自己有 {own}。",
  },
  most: { en: "it looks most at ", zh: "它最多看向 " },
  beside: { en: "beside {special} it looks most at ", zh: "除 {special} 外，它最多看向 " },
  one_at: { en: "{one}, {w}.", zh: "{one}，{w}。" },
  both_at: { en: "{one}, {w}, and {other}, {v}.", zh: "{one}，{w}，和 {other}，{v}。" },
  again: { en: "Draw again", zh: "再抽一次" },
  train: { en: "Hide as in training", zh: "像训练时那样遮" },
  card: { en: "{piece} · weight {w}", zh: "{piece} · 权重 {w}" },
  hide: {
    en: "click: hide it alone · shift-click: hide it too",
    zh: "点击：只遮住它 · shift-点击：也遮住它",
  },
  show: { en: "click: show it again", zh: "点击：恢复它" },
  look: {
    en: "click: look from here · shift-click: show it again",
    zh: "点击：从这里看 · shift-点击：恢复它",
  },
  hideIt: { en: "Hide {piece}", zh: "遮住 {piece}" },
  showIt: { en: "Show {piece}", zh: "恢复 {piece}" },
  none: {
    en: "Nothing is hidden: click a word to hide it.",
    zh: "没有遮住任何词：点击一个词来遮住它。",
  },
  caption: { en: "Weights from the hidden word to each piece", zh: "从遮住的词到每个词片的权重" },
  position: { en: "position", zh: "位置" },
  piece: { en: "piece", zh: "词片" },
  read: { en: "what is read", zh: "读到的" },
  weight: { en: "weight", zh: "权重" },
};
const SEEN = 0.045; // weight from which on a piece is named as looked at
const MOST = 5; // guesses that are drawn
// What became of a piece (DRAWN of models/bert/records.py), and its colour.
const FATES = [{}, { name: "mask", hue: "query" }, { name: "other", hue: "bad" }, {
  name: "kept",
  hue: "out",
}];
const FILLS = { ink2: { fill: "sunk", line: "line" }, ink3: { line: "line", dash: [3, 3] } }; // where nothing is told

const quoted = (piece) => `“${piece}”`;
const numbers = (n) => upTo(n, (i) => String(i + 1));
/** What stands on a piece: its text, that it is hidden, or what is read in its place. */
const face = (run, i) => (run.fates[i] === 1 ? t(TEXT.hidden) : run.read[i]);
const named = (run, at) => (run.special[at] ? run.pieces[at] : placed(run.pieces[at], at));
const inView = (run, look) => (run.hidden.includes(look.pos) ? look.pos : (run.hidden[0] ?? null));
const guessOf = (run, at) => run.guesses.find(({ pos }) => pos === at);

export function read(value) {
  if (!value.pieces) return null;
  const [, layers, heads] = value.weights.shape;
  const [hidden, special] = [
    value.guesses.map(({ pos }) => pos),
    value.words.map((word) => word < 0),
  ];
  const names = { layer: numbers(layers), of: ["mean", ...numbers(heads)] };
  return { ...value, names, hidden, special, count: value.pieces.length };
}

/**
 * Weights of the hidden piece in view to all, of a head or the mean of a layer; null where nothing
 * is hidden.
 */
function row(run, look) {
  const at = inView(run, look);
  if (at === null) return null;
  const rows = (look.of === "mean" ? run.names.of.slice(1) : [look.of])
    .map((head) => run.weights.slice(run.hidden.indexOf(at), look.layer - 1, head - 1));
  return run.pieces.map((_, key) => rows.reduce((sum, one) => sum + one[key], 0) / rows.length);
}

/** What is asked so that the word of a piece is hidden too, or shown again. */
function toggles(run, at) {
  const now = [...new Set(run.hidden.map((one) => run.words[one]))];
  return { hidden: flipped(now, run.words[at]).join(","), way: "hide" };
}

/** Where the pieces stand: in a row, in a column on a phone. */
function place(run, pen) {
  const { big, narrow, width, tall } = pen;
  const [size, small, bars] = big ? [20, 20, 30] : [14, 12, 25];
  if (narrow) {
    const box = (i) => ({ x0: 0, x1: 172, y0: 8 + i * 30, y1: 34 + i * 30 });
    return { size, small, bars, box, foot: 16 + run.count * 30, wide: width };
  }
  const sum = (list) => list.reduce((a, b) => a + b, -3); // 3 px between two of them
  const widths = (label, gap) =>
    run.pieces.map((_, i) =>
      3 + Math.max(label, pen.measure(face(run, i), { size, weight: 650 }) + gap)
    );
  const roomy = widths(big ? 92 : 54, 14); // "12 · .03"
  const close = sum(roomy) > width; // then the weights alone stand under the pieces
  const wants = close ? widths(big ? 40 : 30, 6) : roomy;
  const more = Math.max(0, Math.min(big ? 90 : 56, (width - sum(wants)) / run.count));
  const ends = wants.map((_, i) => sum(wants.slice(0, i + 1)) + (i + 1) * more);
  const [high, under] = big ? [40, 34] : [28, 26];
  const rest = high + under + 24 + (MOST + 1.4) * bars;
  const sky = run.hidden.length
    ? Math.max(90, Math.min(tall ? tall - rest : 132, big ? 230 : 150))
    : 12;
  const box = (i) => ({ x0: ends[i] - wants[i] - more + 3, x1: ends[i], y0: sky, y1: sky + high });
  return { size, small, bars, box, sky, close, foot: sky + high + under, wide: ends.at(-1) };
}

/** Where arrows leave a piece, and where they reach the hidden one. */
const edge = (pen, { x0, x1, y0, y1 }) => (pen.narrow ? [x1, (y0 + y1) / 2] : [(x0 + x1) / 2, y0]);

export function scene(run, look, pen) {
  const at = place(run, pen);
  const [from, here] = [inView(run, look), row(run, look) ?? []];
  const colourOf = (i) =>
    FATES[run.fates[i]].hue ??
      (!run.allowed[i] ? "ink3" : !run.special[i] && here[i] >= SEEN ? "key" : "ink2");
  const order = [...here.keys()].filter((i) => i !== from && run.allowed[i]).sort((a, b) =>
    here[a] - here[b]
  );
  for (const i of order) arrow(run, pen, at, from, i, here[i]);
  if (from !== null) {
    pen.path(`M${edge(pen, at.box(from))}${pen.narrow ? "l11,-7v14Z" : "l-7,-11h14Z"}`, {
      fill: "key",
    });
  }
  run.pieces.forEach((piece, i) => {
    const [box, colour, hidden] = [at.box(i), colourOf(i), run.fates[i] > 0];
    const [middle, y] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
    pen.rect(box, {
      radius: 5,
      ...(FILLS[colour] ?? { fill: `${colour}-soft`, line: colour, width: i === from ? 2.5 : 1 }),
    });
    const style = { size: at.size, weight: hidden || here[i] >= SEEN ? 650 : 400, colour };
    const told = !here.length || !run.allowed[i]
      ? String(i)
      : at.close
      ? short(here[i])
      : `${i} · ${short(here[i])}`;
    if (pen.narrow) {
      pen.text(box.x0 + 8, y, face(run, i), { ...style, room: 96 });
      pen.text(box.x1 - 6, y, told, { size: at.small, align: "right" });
    } else {
      pen.text(middle, y, face(run, i), { ...style, align: "center", room: box.x1 - box.x0 - 6 });
      pen.text(middle, box.y1 + (pen.big ? 17 : 13), told, {
        size: at.small,
        align: "center",
        colour: "ink3",
      });
    }
    if (look.pos === i && !hidden) {
      pen.rect(box, { line: "ink", width: 2, dash: [3, 3], radius: 5 });
    }
    pen.hit({
      ...box,
      y1: box.y1 + (pen.narrow ? 0 : at.small + 8),
      pos: i,
      ...acts(run, i, from),
      card: () => [
        here.length ? t(TEXT.card, { piece: named(run, i), w: weight(here[i]) }) : named(run, i),
        ...(hidden ? [t(TEXT.stands, { truth: quoted(piece), read: quoted(run.read[i]) })] : []),
      ],
    });
  });
  if (from === null) return pen.size(at.wide, at.foot);
  const sides = { left: order.filter((i) => i < from), right: order.filter((i) => i > from) };
  if (!pen.narrow) {
    for (const [align, keys] of Object.entries(sides)) {
      const p = number(keys.reduce((sum, i) => sum + here[i], 0));
      pen.text(align === "left" ? 0 : at.wide, at.small / 2 + 2, t(TEXT[align], { p }), {
        size: at.small,
        halo: "panel",
        align,
      });
    }
  }
  const { x0, x1 } = at.box(from);
  // Where the picture is wider than there is room, the guesses stand where the hidden piece comes
  // into view.
  const left = x1 <= pen.width ? 0 : Math.min(at.wide - pen.width, x0 - pen.width / 2);
  pen.size(
    Math.max(at.wide, pen.width),
    guesses(run, from, pen, at, left),
    left ? { x0, x1 } : null,
  );
}

/** What a click on a piece does: it is hidden, or shown again. */
function acts(run, i, from) {
  if (run.special[i]) return {};
  const too = { set: toggles(run, i) };
  if (!run.hidden.includes(i)) {
    return { set: { hidden: String(run.words[i]), way: "hide" }, add: too, does: t(TEXT.hide) };
  }
  return i === from
    ? { ...too, does: t(TEXT.show) }
    : { look: { pos: i }, add: too, does: t(TEXT.look) };
}

/** The arrow from a piece to the hidden one. */
function arrow(run, pen, at, from, i, w) {
  const [[x0, y0], [x1, y1]] = [edge(pen, at.box(i)), edge(pen, at.box(from))];
  const style = {
    line: run.special[i] ? "control" : "key",
    width: Math.max(0.75, (pen.big ? 30 : 22) * w),
    cap: "butt",
    alpha: w >= SEEN ? 0.85 : 0.5,
  };
  if (pen.narrow) {
    const out = x0 + Math.min(1.3 * (pen.width - x0), 26 + 0.75 * Math.abs(y1 - y0));
    return pen.path(`M${x0},${y0}C${out},${y0} ${out},${y1} ${x1 + 9},${y1}`, style);
  }
  const far = Math.abs(x1 - x0) / Math.max(1, x1, pen.width - x1);
  const up = y0 - (22 + (1.28 * (at.sky - at.small - 16) - 22) * Math.min(1, far) ** 0.6);
  pen.path(`M${x0},${y0}C${x0},${up} ${x1},${up} ${x1},${y1 - 7}`, style);
}

/**
 * The likeliest words from both sides and from one, and the difference for the true one. Returns
 * where it ends.
 */
function guesses(run, from, pen, at, left) {
  const guess = guessOf(run, from);
  const gap = pen.big ? 40 : 28;
  const wide = pen.narrow ? pen.width : (pen.width - 2 * gap) / 3;
  const bold = { size: at.size, weight: 650, colour: "ink" };
  const small = { size: at.small, colour: "ink3" };
  const [first, deep] = [at.foot + 16, (MOST + 1.2) * at.bars];
  // a phone: in a column
  const spot = (n) => (pen.narrow ? [left, first + n * deep] : [left + n * (wide + gap), first]);
  const best = Math.max(guess.both.p[0], guess.side.p[0]);
  pen.line(left, first - 8, left + pen.width, first - 8, { line: "line" });
  const column = (n, title, note, list) => {
    const [x, top] = spot(n);
    pen.text(x, top + at.bars / 2, title, bold);
    const more = pen.measure(title, bold) + 8;
    pen.text(x + more, top + at.bars / 2, note, { ...small, room: wide - more });
    const words = Math.min(
      0.42 * wide,
      10 + Math.max(...list.pieces.map((one) => pen.measure(one, bold))),
    );
    const room = wide - words - (pen.big ? 60 : 44);
    list.pieces.forEach((piece, i) => {
      const mid = top + (i + 1.5) * at.bars;
      const style = list.right[i] ? { weight: 650, colour: "out" } : { weight: 400, colour: "ink" };
      pen.text(x + words - 8, mid, piece, {
        size: at.size,
        align: "right",
        room: words - 8,
        ...style,
      });
      const [x0, x1] = [x + words, x + words + Math.max(2, (room * list.p[i]) / best)];
      const fill = list.right[i] ? "out" : i ? "control" : "accent";
      pen.rect({ x0, x1, y0: mid - at.bars * 0.32, y1: mid + at.bars * 0.32 }, { fill });
      pen.text(x1 + 6, mid, weight(list.p[i]), { ...style, size: at.small, colour: "ink" });
    });
  };
  column(0, t(TEXT.both), "", guess.both);
  column(1, t(TEXT[`only_${run.side}`]), t(TEXT[`as_${run.side}`]), guess.side);
  const [a, b] = guess.true.map((p) => rounded(p, 2));
  const [x, top] = spot(2);
  pen.text(x, top + at.bars / 2, t(TEXT.chance, { word: quoted(guess.truth) }), {
    ...small,
    room: wide,
  });
  pen.text(x, top + at.bars * 1.75, plus(b - a), {
    ...bold,
    size: pen.big ? 44 : 28,
    weight: 700,
    face: "title",
  });
  const worth = t(TEXT[`worth_${run.side}`], { a: number(a), b: number(b) });
  pen.text(x, top + at.bars * 3.1, worth, { ...small, colour: "ink2", room: wide });
  return pen.narrow ? top + 4 * at.bars : top + deep;
}

export function sentence(run, look) {
  const [from, weights] = [inView(run, look), row(run, look)];
  const of = (n) => run.fates.filter((one) => one === n).length;
  const drawn = run.way === "draw"
    ? [
      t(TEXT.drawn, {
        count: run.special.filter((one) => !one).length,
        n: run.hidden.length,
        mask: of(1),
        other: of(2),
        kept: of(3),
      }),
    ]
    : [];
  if (from === null) return drawn.length ? drawn : [t(TEXT.none)];
  const guess = guessOf(run, from);
  const [made, own] = run.alone ? [guess.side, guess.true[1]] : [guess.both, guess.true[0]]; // as the run reads it
  const [first] = made.right;
  const said = {
    word: { text: placed(guess.truth, from), role: "query" },
    best: quoted(made.pieces[0]),
    p: weight(made.p[0]),
    own: weight(own),
  };
  const told = [
    ...drawn,
    t(run.way === "draw" ? TEXT.inView : TEXT.isHidden),
    ...parts(first ? TEXT.first : TEXT.later, said),
  ];
  const order = [...weights.keys()].filter((i) =>
    i !== from && !run.special[i] && weights[i] >= 0.01
  )
    .sort((a, b) => weights[b] - weights[a]);
  const [one, other] = order.map((i) => ({ text: named(run, i), role: "key" }));
  if (!one) return told;
  const rests = run.special.findIndex((special, i) => special && weights[i] > weights[order[0]]);
  const most = t(rests < 0 ? TEXT.most : TEXT.beside, { special: run.pieces[rests] });
  const [w, v] = order.map((i) => weight(weights[i]));
  return [
    ...told,
    first ? most : most[0].toUpperCase() + most.slice(1),
    ...parts(other ? TEXT.both_at : TEXT.one_at, { one, w, other, v }),
  ];
}

/** Buttons for the piece in view: what a click does in the picture, for a keyboard and a finger. */
export function below(run, { pos }, _lock, ask) {
  const at = run.special[pos] === false ? pos : inView(run, { pos });
  const name = at !== null &&
    t(run.hidden.includes(at) ? TEXT.showIt : TEXT.hideIt, { piece: named(run, at) });
  const draws = run.way === "draw";
  const seed = draws ? (run.seed % run.last) + 1 : run.seed;
  return offers(ask, [...(at === null ? [] : [[name, toggles(run, at)]]), [
    t(draws ? TEXT.again : TEXT.train),
    { way: "draw", seed: String(seed) },
  ]]);
}

export function table(run, look) {
  const weights = row(run, look);
  const rows = run.pieces.map((
    piece,
    i,
  ) => [i, piece, run.read[i], weights ? Number(weights[i].toFixed(4)) : null]);
  const columns = ["position", "piece", "read", "weight"].map((name) => t(TEXT[name]));
  return { caption: t(TEXT.caption), columns, rows, here: look.pos };
}

export function arrays(run) {
  const { shape, data } = run.weights;
  const all = (side, what) => run.guesses.flatMap((guess) => guess[side][what]);
  return {
    weights: filed(data, ["hidden", "layer", "head", "key"], undefined, shape),
    pieces: run.pieces,
    read: run.read,
    hidden: filed(run.hidden, "hidden"),
    guessed_both: all("both", "pieces"),
    p_both: filed(all("both", "p"), "guess"),
    guessed_side: all("side", "pieces"),
    p_side: filed(all("side", "p"), "guess"),
  };
}

export const looks = { pos: "position", layer: "choice", of: "choice" };
export const along = "pos";
export const across = "layer";
export const resets = ["pos", "layer", "of"];
export const bounds = ({ count, names, pick }) => ({
  pos: { count, pick: pick.pos },
  layer: { names: names.layer, pick: pick.layer },
  of: { names: names.of },
});
export const units = (_run, { layer, of }) =>
  t(TEXT.units, { layer, head: t(of === "mean" ? TEXT.mean : TEXT.head, { n: of }) });
export const press = (
  run,
  { pos },
) => (pos === null || run.special[pos] ? null : { set: toggles(run, pos) });
export const choices = ({ hidden, names }) =>
  (hidden.length ? [["layer", TEXT.layers], ["of", TEXT.heads]] : [])
    .map(([key, label]) => ({
      key,
      label: t(label),
      shown: true,
      options: names[key].map((value) => ({ value, label: t(TEXT[value] ?? value) })),
    }));

export function legend(run) {
  const box = (text, hue) => ({
    text: t(text),
    mark: { fill: `${hue}-soft`, line: hue, radius: 3 },
  });
  const blank = { text: t(TEXT.blank), mark: { line: "control", dash: [3, 3], radius: 3 } };
  return [
    ...(run.way === "draw"
      ? FATES.slice(1).map(({ name, hue }) => box(TEXT[name], hue))
      : [box(TEXT.query, "query")]),
    ...(run.allowed.every(Boolean) ? [] : [blank]),
    box(TEXT.key, "key"),
    { text: t(TEXT.special), mark: { fill: "control" } },
  ];
}

/** A piece that is still hidden stays in view. */
export const same = (was, run, { pos }) => was.source === run.source && run.hidden.includes(pos);

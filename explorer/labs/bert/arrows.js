// Where a hidden word looks: the row of pieces with an arrow from each, as wide as its weight; under it the likeliest
// words from both sides, the same with one side blanked, and what the blanked side was worth to the true word. Words
// are hidden by hand, or drawn as in training: then some read another piece, and some stay. The value is made by
// explorer/labs/bert/views.py.

import { unpack } from "../../widgets/lib/arrays.js";
import { offers } from "../../widgets/lib/dom.js";
import { parts, t } from "../../widgets/lib/lang.js";
import { flipped } from "../../widgets/lib/looking.js";
import { short } from "../../widgets/lib/maps.js";
import { placed, rounded, weight } from "../../widgets/lib/signs.js";
import { number, plus } from "../../widgets/lib/stripwords.js";

const TEXT = {
  board: { en: "{title}. Left and right choose a piece, Shift and Enter hide it or show it again, up and down choose a layer, Escape resets.", zh: "{title}。左右键选择词片，Shift+Enter 遮住或恢复，上下键选择层，Esc 复位。" },
  units: { en: "{head} of layer {layer}; width is weight", zh: "第 {layer} 层，{head}；粗细为权重" },
  mean: { en: "mean of the heads", zh: "各头平均" },
  head: { en: "head {n}", zh: "头 {n}" },
  layers: { en: "layer", zh: "层" },
  heads: { en: "head", zh: "头" },
  left: { en: "from the left {p}", zh: "来自左边 {p}" },
  right: { en: "from the right {p}", zh: "来自右边 {p}" },
  hidden: { en: "hidden", zh: "遮住" },
  both: { en: "both sides", zh: "两边" },
  only: { left: { en: "left side alone", zh: "只看左边" }, right: { en: "right side alone", zh: "只看右边" } },
  as: { left: { en: "as a language model", zh: "如同语言模型" }, right: { en: "the left is blanked", zh: "左边被遮挡" } },
  chance: { en: "probability of {word}", zh: "{word} 的概率" },
  without: { left: { en: "{a} → {b} without the right side", zh: "去掉右边：{a} → {b}" }, right: { en: "{a} → {b} without the left side", zh: "去掉左边：{a} → {b}" } },
  query: { en: "hidden word", zh: "遮住的词" },
  key: { en: "looked at", zh: "看向的词" },
  special: { en: "special token", zh: "特殊词元" },
  mask: { en: "80 %: hidden", zh: "80%：遮住" },
  other: { en: "10 %: another piece", zh: "10%：换成别的词片" },
  kept: { en: "10 %: kept", zh: "10%：不变" },
  blank: { en: "not read", zh: "读不到" },
  stands: { en: "{truth} is read as {read}", zh: "{truth} 读作 {read}" },
  drawn: { en: "Of {count} pieces {n} {n|is|are} drawn: {mask} hidden, {other} replaced, {kept} kept. ", zh: "{count} 个词片中抽中 {n} 个：遮住 {mask} 个，换掉 {other} 个，不变 {kept} 个。" },
  isHidden: { en: "The hidden word is ", zh: "遮住的词是 " },
  inView: { en: "In view is ", zh: "看到的是 " },
  first: { en: "{word}, guessed first with {p}; ", zh: "{word}，第一个就猜中，概率 {p}；" },
  later: { en: "{word}; the best guess is {best} with {p}, the true word has {own}. ", zh: "{word}，最可能的猜测是 {best}，概率 {p}；它自己有 {own}。" },
  most: { en: "it looks most at ", zh: "它最多看向 " },
  beside: { en: "beside {special} it looks most at ", zh: "除 {special} 外，它最多看向 " },
  one_at: { en: "{one}, {w}.", zh: "{one}，{w}。" },
  both_at: { en: "{one}, {w}, and {other}, {v}.", zh: "{one}，{w}，和 {other}，{v}。" },
  again: { en: "Draw again", zh: "再抽一次" },
  train: { en: "Hide as in training", zh: "像训练时那样遮" },
  card: { en: "{piece} · weight {w}", zh: "{piece} · 权重 {w}" },
  hide: { en: "click: hide it alone · shift-click: hide it too", zh: "点击：只遮住它 · shift-点击：也遮住它" },
  show: { en: "click: show it again", zh: "点击：恢复它" },
  look: { en: "click: look from here · shift-click: show it again", zh: "点击：从这里看 · shift-点击：恢复它" },
  hideIt: { en: "Hide {piece}", zh: "遮住 {piece}" },
  showIt: { en: "Show {piece}", zh: "恢复 {piece}" },
  none: { en: "Nothing is hidden: click a word to hide it.", zh: "没有遮住任何词：点击一个词来遮住它。" },
  caption: { en: "Weights from the hidden word to each piece", zh: "从遮住的词到每个词片的权重" },
  position: { en: "position", zh: "位置" },
  piece: { en: "piece", zh: "词片" },
  read: { en: "what is read", zh: "读到的" },
  weight: { en: "weight", zh: "权重" },
};
const SEEN = 0.045; // weight from which on a piece is named as looked at
const MOST = 5; // guesses that are drawn
const FATES = ["", "mask", "other", "kept"];

const quoted = (piece) => `“${piece}”`;
const upTo = (n) => Array.from({ length: n }, (_, i) => String(i + 1));
const options = (names) => names.map((value) => ({ value, label: value === "mean" ? t(TEXT.mean) : value }));
const COLOURS = { mask: "query", other: "bad", kept: "out" };
const colourOf = (run, i) => COLOURS[FATES[run.fates[i]]];
/** What stands on a piece: its text, that it is hidden, or what is read in its place. */
const face = (run, i) => (FATES[run.fates[i]] === "mask" ? t(TEXT.hidden) : run.read[i]);
const named = (run, at) => (run.special[at] ? run.pieces[at] : placed(run.pieces[at], at));
const inView = (run, look) => (run.hidden.includes(look.pos) ? look.pos : (run.hidden[0] ?? null));
const guessOf = (run, at) => run.guesses.find(({ pos }) => pos === at);

async function read(value) {
  if (!value.pieces) return null;
  const weights = await unpack(value.weights);
  const [, layers, heads] = weights.shape;
  const [hidden, special] = [value.guesses.map(({ pos }) => pos), value.words.map((word) => word < 0)];
  return { ...value, weights, layers, heads, hidden, special, count: value.pieces.length };
}

/** Weights of the hidden piece in view to all, of a head or the mean of a layer; null where nothing is hidden. */
function row(run, look) {
  const at = inView(run, look);
  if (at === null) return null;
  const rows = (look.of === "mean" ? upTo(run.heads) : [look.of])
    .map((head) => run.weights.slice(run.hidden.indexOf(at), look.layer - 1, head - 1));
  return run.pieces.map((_, key) => rows.reduce((sum, one) => sum + one[key], 0) / rows.length);
}

/** What is asked so that the word of a piece alone is hidden; so that it too is hidden, or shown again. */
const hides = (run, at) => ({ hidden: String(run.words[at]), way: "hide" });
function toggles(run, at) {
  const now = [...new Set(run.hidden.map((one) => run.words[one]))];
  return { hidden: flipped(now, run.words[at]).join(","), way: "hide" };
}

/** Where the pieces stand: in a row, in a column on a phone. */
function place(run, pen) {
  const { big, narrow, width, tall } = pen;
  const size = big ? 20 : 14;
  const small = big ? 20 : 12;
  const bars = big ? 30 : 25;
  if (narrow) {
    const step = 30;
    const box = (at) => ({ x0: 0, x1: 172, y0: 8 + at * step, y1: 34 + at * step });
    return { size, small, bars, box, foot: 16 + run.count * step, wide: width };
  }
  const widths = (label, gap) => run.pieces.map((piece, at) =>
    Math.max(label, pen.measure(run.fates[at] ? face(run, at) : piece, { size, weight: 650 }) + gap));
  const total = (list) => list.reduce((a, b) => a + b, 0) + 3 * (run.count - 1);
  let wants = widths(big ? 92 : 54, 14); // "12 · .03"
  const close = total(wants) > width; // then the weights alone stand under the pieces
  if (close) wants = widths(big ? 40 : 30, 6);
  const sum = total(wants);
  const more = Math.max(0, Math.min(big ? 90 : 56, (width - sum) / run.count));
  const ends = [];
  wants.forEach((want, at) => ends.push((ends[at - 1] ?? 0) + want + more + 3));
  const wide = ends.at(-1) - 3;
  const high = big ? 40 : 28;
  const rest = high + (big ? 34 : 26) + 24 + (MOST + 1.4) * bars;
  const sky = run.hidden.length ? Math.max(90, Math.min(tall ? tall - rest : 132, big ? 230 : 150)) : 12;
  const box = (at) => ({ x0: ends[at] - wants[at] - more - 3, x1: ends[at] - 3, y0: sky, y1: sky + high });
  return { size, small, bars, box, sky, close, foot: sky + high + (big ? 34 : 26), wide };
}

function scene(run, look, pen) {
  const at = place(run, pen);
  const [from, weights] = [inView(run, look), row(run, look)];
  const here = weights ?? [];
  const colours = run.pieces.map((_, i) => colourOf(run, i) ?? (!run.allowed[i] ? "ink3"
    : !run.special[i] && here[i] >= SEEN ? "key" : "ink2"));
  const fills = (i) => {
    if (colours[i] === "ink3") return { line: "line", dash: [3, 3] };
    if (colours[i] === "ink2") return { fill: "sunk", line: "line" };
    return { fill: `${colours[i]}-soft`, line: colours[i], width: i === from ? 2.5 : 1 };
  };
  const order = [...here.keys()].filter((i) => i !== from && run.allowed[i]).sort((a, b) => here[a] - here[b]);
  for (const i of order) arrow(run, pen, at, from, i, here[i]);
  if (from !== null) tip(pen, at.box(from));
  run.pieces.forEach((piece, i) => {
    const box = at.box(i);
    const [middle, y] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
    const hidden = run.fates[i] > 0;
    pen.rect(box, { radius: 5, ...fills(i) });
    const style = { size: at.size, weight: hidden || here[i] >= SEEN ? 650 : 400, colour: colours[i] };
    const told = !here.length || !run.allowed[i] ? String(i) : at.close ? short(here[i]) : `${i} · ${short(here[i])}`;
    const under = { size: at.small, colour: "ink3" };
    if (pen.narrow) {
      pen.text(box.x0 + 8, y, hidden ? face(run, i) : piece, { ...style, room: 96 });
      pen.text(box.x1 - 6, y, told, { ...under, align: "right", colour: "ink2" });
    } else {
      pen.text(middle, y, hidden ? face(run, i) : piece, { ...style, align: "center", room: box.x1 - box.x0 - 6 });
      pen.text(middle, box.y1 + (pen.big ? 17 : 13), told, { ...under, align: "center" });
    }
    if (look.pos === i && !hidden) pen.rect(box, { line: "ink", width: 2, dash: [3, 3], radius: 5 });
    pen.hit({ ...box, y1: box.y1 + (pen.narrow ? 0 : at.small + 8), pos: i, ...acts(run, i, from),
      card: () => [here.length ? t(TEXT.card, { piece: named(run, i), w: weight(here[i]) }) : named(run, i),
        ...(run.fates[i] ? [t(TEXT.stands, { truth: quoted(piece), read: quoted(run.read[i]) })] : [])] });
  });
  if (!weights) return pen.size(at.wide, at.foot);
  const sum = (keys) => keys.reduce((all, i) => all + here[i], 0);
  const sides = [sum(order.filter((i) => i < from)), sum(order.filter((i) => i > from))];
  const beside = { size: at.small, halo: "panel" };
  if (!pen.narrow) for (const [n, align] of ["left", "right"].entries())
    pen.text(n * at.wide, at.small / 2 + 2, t(TEXT[align], { p: number(sides[n]) }), { ...beside, align });
  const box = at.box(from);
  // Where the picture is wider than there is room, the guesses stand where the hidden piece comes into view.
  const left = box.x1 <= pen.width ? 0 : Math.min(at.wide - pen.width, box.x0 - pen.width / 2);
  pen.size(Math.max(at.wide, pen.width), guesses(run, from, pen, at, left), left ? { x0: box.x0, x1: box.x1 } : null);
}

/** What a click on a piece does: it is hidden, or shown again. */
function acts(run, i, from) {
  if (run.special[i]) return {};
  const [too, word] = [{ set: toggles(run, i) }, { set: hides(run, i) }];
  if (!run.hidden.includes(i)) return { ...word, add: too, does: t(TEXT.hide) };
  return i === from ? { ...too, does: t(TEXT.show) } : { look: { pos: i }, add: too, does: t(TEXT.look) };
}

/** The arrow from a piece to the hidden one. */
function arrow(run, pen, at, from, i, w) {
  const [a, b] = [at.box(i), at.box(from)];
  const style = { line: run.special[i] ? "control" : "key", width: Math.max(0.75, (pen.big ? 30 : 22) * w), cap: "butt",
    alpha: w >= SEEN ? 0.85 : 0.5 };
  if (pen.narrow) {
    const [x, y0, y1] = [a.x1, (a.y0 + a.y1) / 2, (b.y0 + b.y1) / 2];
    const out = x + Math.min(1.3 * (pen.width - x), 26 + 0.75 * Math.abs(y1 - y0));
    return pen.path(`M${x},${y0}C${out},${y0} ${out},${y1} ${x + 9},${y1}`, style);
  }
  const [x0, x1, y] = [(a.x0 + a.x1) / 2, (b.x0 + b.x1) / 2, a.y0];
  const far = Math.abs(x1 - x0) / Math.max(1, Math.max(x1, pen.width - x1));
  const up = y - (22 + (1.28 * (at.sky - at.small - 16) - 22) * Math.min(1, far) ** 0.6);
  pen.path(`M${x0},${y}C${x0},${up} ${x1},${up} ${x1},${y - 7}`, style);
}

function tip(pen, box) {
  const [x, y] = pen.narrow ? [box.x1, (box.y0 + box.y1) / 2] : [(box.x0 + box.x1) / 2, box.y0];
  pen.path(`M${x},${y}${pen.narrow ? "l11,-7v14Z" : "l-7,-11h14Z"}`, { fill: "key" });
}

/** The likeliest words from both sides and from one, and the difference for the true one. Returns where it ends. */
function guesses(run, from, pen, at, left) {
  const guess = guessOf(run, from);
  const gap = pen.big ? 40 : 28;
  const wide = pen.narrow ? pen.width : (pen.width - 2 * gap) / 3;
  const bold = { size: at.size, weight: 650, colour: "ink" };
  const small = { size: at.small, colour: "ink3" };
  let y = at.foot + 8;
  pen.line(left, y, left + pen.width, y, { line: "line" });
  y += 8;
  const column = (x, top, title, note, list, best) => {
    pen.text(x, top + at.bars / 2, title, bold);
    const more = pen.measure(title, bold) + 8;
    pen.text(x + more, top + at.bars / 2, note, { ...small, room: wide - more });
    const words = Math.min(0.42 * wide, 10 + Math.max(...list.pieces.map((one) => pen.measure(one, bold))));
    const room = wide - words - (pen.big ? 60 : 44);
    list.pieces.slice(0, MOST).forEach((piece, n) => {
      const mid = top + (n + 1.5) * at.bars;
      const right = piece === guess.truth;
      const style = { weight: right ? 650 : 400, colour: right ? "out" : "ink" };
      pen.text(x + words - 8, mid, piece, { size: at.size, align: "right", room: words - 8, ...style });
      const [x0, x1] = [x + words, x + words + Math.max(2, (room * list.p[n]) / best)];
      const fill = right ? "out" : n ? "control" : "accent";
      pen.rect({ x0, x1, y0: mid - at.bars * 0.32, y1: mid + at.bars * 0.32 }, { fill });
      pen.text(x1 + 6, mid, weight(list.p[n]), { ...style, size: at.small, colour: "ink" });
    });
    return top + (MOST + 1.2) * at.bars;
  };
  const best = Math.max(guess.both.p[0], guess.side.p[0]);
  const next = pen.narrow ? 0 : wide + gap; // on a phone one stands below the other
  const second = column(left, y, t(TEXT.both), "", guess.both, best);
  const third = column(left + next, next ? y : second, t(TEXT.only[run.side]), t(TEXT.as[run.side]), guess.side, best);
  const [a, b] = guess.true.map((p) => rounded(p, 2));
  const [x, top] = [left + 2 * next, next ? y : third];
  pen.text(x, top + at.bars / 2, t(TEXT.chance, { word: quoted(guess.truth) }), { ...small, room: wide });
  pen.text(x, top + at.bars * 1.75, plus(b - a), { ...bold, size: pen.big ? 44 : 28, weight: 700, face: "title" });
  const worth = t(TEXT.without[run.side], { a: number(a), b: number(b) });
  pen.text(x, top + at.bars * 3.1, worth, { ...small, colour: "ink2", room: wide });
  return next ? third : top + 4 * at.bars;
}

function sentence(run, look) {
  const [from, weights] = [inView(run, look), row(run, look)];
  const of = (n) => run.fates.filter((one) => one === n).length;
  const drawn = run.way === "draw" ? [t(TEXT.drawn, { count: run.special.filter((one) => !one).length,
    n: run.hidden.length, mask: of(1), other: of(2), kept: of(3) })] : [];
  if (from === null) return drawn.length ? drawn : [t(TEXT.none)];
  const guess = guessOf(run, from);
  const first = guess.both.pieces[0] === guess.truth;
  const said = { word: { text: placed(guess.truth, from), role: "query" }, best: quoted(guess.both.pieces[0]),
    p: weight(guess.both.p[0]), own: weight(guess.true[0]) };
  const told = [...drawn, t(run.way === "draw" ? TEXT.inView : TEXT.isHidden),
    ...parts(first ? TEXT.first : TEXT.later, said)];
  const order = [...weights.keys()].filter((i) => i !== from && !run.special[i] && weights[i] >= 0.01)
    .sort((a, b) => weights[b] - weights[a]);
  const [one, other] = order.map((i) => ({ text: named(run, i), role: "key" }));
  if (!one) return told;
  const rests = run.special.findIndex((special, i) => special && weights[i] > weights[order[0]]);
  const most = t(rests < 0 ? TEXT.most : TEXT.beside, { special: run.pieces[rests] });
  const [w, v] = order.map((i) => weight(weights[i]));
  return [...told, first ? most : most[0].toUpperCase() + most.slice(1),
    ...parts(other ? TEXT.both_at : TEXT.one_at, { one, w, other, v })];
}

/** Buttons for the piece in view: what a click does in the picture, for a keyboard and a finger. */
function below(run, { pos }, _lock, ask) {
  const at = pos !== null && pos < run.count && !run.special[pos] ? pos : inView(run, { pos });
  const name = at !== null && t(run.hidden.includes(at) ? TEXT.showIt : TEXT.hideIt, { piece: named(run, at) });
  const draws = run.way === "draw";
  const seed = draws ? (run.seed % run.last) + 1 : run.seed;
  return offers(ask, [...(at === null ? [] : [[name, toggles(run, at)]]),
    [t(draws ? TEXT.again : TEXT.train), { way: "draw", seed: String(seed) }]]);
}

function table(run, look) {
  const weights = row(run, look);
  const rows = run.pieces.map((piece, i) => [i, piece, run.read[i], weights ? Number(weights[i].toFixed(4)) : null]);
  const columns = ["position", "piece", "read", "weight"].map((name) => t(TEXT[name]));
  return { caption: t(TEXT.caption), columns, rows, here: look.pos };
}

function arrays(run) {
  const guessed = ["both", "side"].flatMap((name) => {
    const data = run.guesses.flatMap((guess) => guess[name].p);
    return [[`guessed_${name}`, run.guesses.flatMap((guess) => guess[name].pieces)],
      [`p_${name}`, { shape: [data.length], data, axes: ["guess"] }]];
  });
  return {
    weights: { shape: run.weights.shape, data: run.weights.data, axes: ["hidden", "layer", "head", "key"] },
    pieces: run.pieces, read: run.read,
    hidden: { shape: [run.hidden.length], data: run.hidden, axes: ["hidden"] }, ...Object.fromEntries(guessed),
  };
}

export default {
  looks: { pos: "position", layer: "choice", of: "choice" },
  question: { en: "What does the hidden word look at?", zh: "遮住的词看向什么？" },
  label: TEXT.board,
  along: "pos",
  across: "layer",
  resets: ["pos", "layer", "of"],
  read,
  bounds: (run) => ({
    pos: { count: run.count, pick: run.pick.pos },
    layer: { names: upTo(run.layers), pick: run.pick.layer },
    of: { names: ["mean", ...upTo(run.heads)] },
  }),
  units: (run, { layer, of }) => t(TEXT.units, { layer, head: t(of === "mean" ? TEXT.mean : TEXT.head, { n: of }) }),
  scene,
  sentence,
  table,
  arrays,
  below,
  press: (run, { pos }) => (pos === null || run.special[pos] ? null : { set: toggles(run, pos) }),
  choices: (run) => (run.hidden.length ? [
    { key: "layer", label: t(TEXT.layers), shown: true, options: options(upTo(run.layers)) },
    { key: "of", label: t(TEXT.heads), shown: true, options: options(["mean", ...upTo(run.heads)]) },
  ] : []),
  legend(run) {
    const box = (text, hue) => ({ text: t(text), mark: { fill: `${hue}-soft`, line: hue, radius: 3 } });
    const blank = { text: t(TEXT.blank), mark: { line: "control", dash: [3, 3], radius: 3 } };
    return [
      ...Object.entries(run.way === "draw" ? COLOURS : { query: "query" }).map(([name, hue]) => box(TEXT[name], hue)),
      ...(run.allowed.every(Boolean) ? [] : [blank]),
      box(TEXT.key, "key"),
      { text: t(TEXT.special), mark: { fill: "control" } },
    ];
  },
  /** A piece that is still hidden stays in view. */
  same: (was, run, { pos }) => was.source === run.source && run.hidden.includes(pos),
};

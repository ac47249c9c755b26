// The tower of guesses: what each layer would say at each position, the last layer on top, and what
// stands there in truth. A cell is as dark as the layer is surprised. The value: state, query,
// symbols, given, pieces, sets: [{key, name, best, right, bits}], pick: {pos}; reads: does the
// model guess at each position the symbol that it reads there, not the next one? read: what was
// read at each position, where that is not the symbol before. Sets may have different numbers of
// layers.

import { filed } from "../lib/arrays.js";
import { parts, t } from "../lib/lang.js";
import { ink, ramp, shade } from "../lib/pen.js";
import { oneOf, sameText } from "../lib/selection.js";
import { placed, rounded, sign } from "../lib/signs.js";

export const TEXT = {
  question: { en: "What would each layer say?", zh: "每一层会说什么？" },
  board: {
    en: "{title}. Left and right step through the text, Escape resets.",
    zh: "{title}。左右键在文本中移动，Esc 复位。",
  },
  next: { en: "true next", zh: "实际的下一个" },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  read: { en: "read", zh: "读到" },
  right: { en: "guess is right", zh: "猜对了" },
  locked: { en: "locked position", zh: "锁定的位置" },
  surprise: { en: "surprise, 0 to {n} bits and more", zh: "惊讶，0 至 {n} 比特及以上" },
  which: { en: "who guesses in the lower layers", zh: "低层由谁来猜" },
  start: { en: "the start", zh: "开头" },
  stands: { en: "the true symbol", zh: "实际的符号" },
  none: {
    en: "Choose a position to see what each layer would say there.",
    zh: "选一个位置，看每一层会说什么。",
  },
  caption: {
    en: "What each layer would say at each position, and what the true symbol costs it",
    zh: "每一层在每个位置会说什么，以及实际的符号要它付出多少",
  },
  position: { en: "position", zh: "位置" },
  symbol: { en: "the true symbol", zh: "实际的符号" },
  guess: { en: "layer {n}, guess", zh: "第 {n} 层，猜测" },
  bits: { en: "layer {n}, bits", zh: "第 {n} 层，比特" },
};
const WORST = 12; // bits where the scale ends

const show = (symbol) => [...symbol].map((letter) => sign(letter.codePointAt(0))).join("");
const quoted = (symbol) => `“${show(symbol)}”`;
const setOf = (run, { tower }) => run.sets.find(({ key }) => key === tower) ?? run.sets[0];
const layersOf = ({ best }) => best.length;
const last = ({ pos }) => pos.at(-1);

export const read = (
  value,
) => (value.sets?.length ? { ...value, count: value.symbols.length } : null);

const bitsOf = ({ bits }, layer, pos) => bits.slice(layer)[pos];
/**
 * The first layer, from 1, from which on the guess is right up to the last; 0 where the last one is
 * wrong.
 */
function rightFrom(set, pos) {
  let layer = layersOf(set);
  while (layer > 0 && set.right[layer - 1][pos]) layer -= 1;
  return layer === layersOf(set) ? 0 : layer + 1;
}

/**
 * Cells of a size that fits, and the positions in view: the locked one, and as many around it as
 * there is room for.
 */
function place(run, look, { width, tall, big, narrow, small }) {
  const font = big ? 24 : 14;
  const left = big ? 150 : narrow ? 62 : 84;
  const wide = (run.pieces ? (big ? 100 : 56) : big ? 62 : 38) + (big ? 6 : 3);
  const seen = Math.max(1, Math.min(run.count, Math.floor((width - left) / wide)));
  const middle = look.pos.length ? last(look) : run.given;
  const first = Math.max(0, Math.min(run.count - seen, middle - Math.floor(seen / 2)));
  const head = big ? 40 : 26;
  const foot = big ? 84 : 50;
  const layers = layersOf(setOf(run, look));
  const room = tall ? (tall - head - foot) / layers : big ? 70 : 44;
  const high = Math.max(big ? 44 : 36, Math.min(room, big ? 78 : layers > 6 ? 36 : 44));
  const y = (layer) => head + (layers - 1 - layer) * high; // the last layer on top
  const x = (pos) => left + (pos - first) * wide;
  return {
    font,
    small,
    left,
    wide,
    seen,
    first,
    layers,
    head,
    high,
    y,
    x,
    end: head + layers * high,
    foot,
  };
}

export function scene(run, look, pen) {
  const [at, set] = [place(run, look, pen), setOf(run, look)];
  const gap = pen.big ? 6 : 3;
  const label = (y, text, style = {}) =>
    pen.text(at.left - 10, y, text, { size: at.small, align: "right", ...style });
  label(at.head / 2, t(run.reads ? TEXT.stands : TEXT.next));
  label(at.end + at.foot * 0.32, t(TEXT.read));
  for (let layer = 0; layer < at.layers; layer += 1) {
    label(
      at.y(layer) + at.high / 2,
      t(TEXT.layer, { n: layer + 1 }),
      layer === at.layers - 1 ? { weight: 650, colour: "ink" } : {},
    );
  }
  for (let pos = at.first; pos < at.first + at.seen; pos += 1) {
    const [x0, locked] = [at.x(pos), look.pos.includes(pos)];
    const x1 = x0 + at.wide - gap;
    const middle = (x0 + x1) / 2;
    const style = { size: at.font, face: "mono", align: "center", room: x1 - x0 };
    pen.text(middle, at.head / 2, show(run.symbols[pos]), {
      ...style,
      weight: locked ? 700 : 400,
      colour: "out",
    });
    for (let layer = 0; layer < at.layers; layer += 1) {
      const bits = bitsOf(set, layer, pos);
      const fill = shade("surprise", bits / WORST);
      const box = { x0, x1, y0: at.y(layer), y1: at.y(layer) + at.high - gap };
      const right = set.right[layer][pos];
      pen.rect(box, { fill, radius: 4, ...(right ? { line: "out", width: 2.5 } : {}) });
      const lean = pen.big && at.layers > 5; // in a hall two lines would be too small: the sentence tells the number
      pen.text(middle, box.y0 + at.high * (lean ? 0.46 : 0.3), show(set.best[layer][pos]), {
        ...style,
        weight: 650,
        colour: ink(fill),
      });
      if (!lean) {
        pen.text(middle, box.y0 + at.high * 0.68, bits.toFixed(1), {
          size: at.small,
          align: "center",
          colour: ink(fill),
        });
      }
    }
    const box = { x0, x1, y0: at.end + 6, y1: at.end + at.foot * 0.62 };
    pen.rect(
      box,
      locked
        ? { fill: "query-soft", line: "query", width: 2, radius: 4 }
        : { fill: "sunk", radius: 4 },
    );
    pen.text(
      middle,
      (box.y0 + box.y1) / 2,
      run.read ? show(run.read[pos]) : pos ? show(run.symbols[pos - 1]) : "⏎",
      { ...style, colour: locked ? "query" : "ink" },
    );
    pen.text(middle, at.end + at.foot * 0.82, run.read ? pos : pos - 1, {
      size: at.small,
      align: "center",
      colour: "ink3",
    });
    const column = { x0: x0 - 1.5, x1: x1 + 1.5, y0: at.head - 2, y1: at.end };
    if (locked) pen.rect(column, { line: "query", width: 2.5, radius: 5 });
    pen.hit({
      ...column,
      y0: 0,
      y1: at.end + at.foot,
      look: { pos },
      pos,
      card: () => card(run, set, pos),
    });
  }
  pen.size(at.left + at.seen * at.wide, at.end + at.foot);
}

/** What was read at a position, with its number. */
function before(run, pos) {
  if (!pos && !run.read) return t(TEXT.start);
  const [symbol, at] = run.read ? [run.read[pos], pos] : [run.symbols[pos - 1], pos - 1];
  return placed(show(symbol), at);
}

function card(run, set, pos) {
  const lines = Array.from(set.best, (_, up) => layersOf(set) - 1 - up).map((layer) =>
    `${t(TEXT.layer, { n: layer + 1 })}: ${quoted(set.best[layer][pos])} · ${
      bitsOf(set, layer, pos).toFixed(2)
    }`
  );
  return [`${before(run, pos)} → ${quoted(run.symbols[pos])}`, ...lines];
}

const SAY = {
  at: { en: "At {read}", zh: "在 {read} 处" },
  after: { en: "After {read}", zh: "在 {read} 之后" },
  one: {
    en: " the layer would say {a}; the true {symbol} costs {low} bits.",
    zh: "，这一层猜 {a}；实际的 {symbol} 花费 {low} 比特。",
  },
  layers: {
    en: " layer 1 would say {a} and layer {n} {b}; the true {symbol} costs {low} bits in layer 1 " +
      "and {high} in layer {n}.",
    zh:
      "，第 1 层猜 {a}，第 {n} 层猜 {b}；实际的 {symbol} 在第 1 层花费 {low} 比特，在第 {n} 层花费 {high} 比特。",
  },
  right: { en: " From layer {from} on the guess is right.", zh: "从第 {from} 层起猜对了。" },
  wrong: { en: " The last layer's guess is wrong.", zh: "最后一层没有猜对。" },
};

export function sentence(run, look) {
  const [set, pos] = [setOf(run, look), last(look)];
  if (pos === undefined) return [t(TEXT.none)];
  const [n, from] = [layersOf(set), rightFrom(set, pos)];
  const [a, b] = [0, n - 1].map((layer) => quoted(set.best[layer][pos]));
  const [low, high] = [0, n - 1].map((layer) => bitsOf(set, layer, pos).toFixed(2));
  const told = {
    n,
    from,
    a,
    b,
    low,
    high,
    read: { text: before(run, pos), role: "query" },
    symbol: { text: quoted(run.symbols[pos]), role: "out" },
  };
  return [run.reads ? "at" : "after", ...(n === 1 ? ["one"] : ["layers", from ? "right" : "wrong"])]
    .flatMap((key) => parts(SAY[key], told));
}

export function table(run, look) {
  const set = setOf(run, look);
  const layers = [...set.best.keys()];
  const columns = [
    t(TEXT.position),
    t(TEXT.symbol),
    ...layers.flatMap((layer) => [t(TEXT.guess, { n: layer + 1 }), t(TEXT.bits, { n: layer + 1 })]),
  ];
  const rows = run.symbols.map((
    symbol,
    pos,
  ) => [
    pos,
    show(symbol),
    ...layers.flatMap((layer) => [show(set.best[layer][pos]), rounded(bitsOf(set, layer, pos))]),
  ]);
  return { caption: t(TEXT.caption), columns, rows, here: last(look) ?? null };
}

export const arrays = (run) => ({
  symbols: run.symbols,
  ...Object.fromEntries(run.sets.flatMap(({ key, bits, best, right }) => [
    [`${key}_bits`, filed(bits.data, ["layer", "position"], "bits", bits.shape)],
    [`${key}_guesses`, best.flat()],
    [`${key}_right`, filed(right.flat().map(Number), ["layer", "position"], undefined, bits.shape)],
  ])),
});

export const looks = { pos: "positions", tower: "choice" };
export const resets = ["pos", "tower"];
export const bounds = (run) => ({
  pos: { count: run.count, pick: run.pick?.pos },
  tower: { names: run.sets.map(({ key }) => key), pick: run.sets[0].key },
});
export const choices = (run) => [oneOf("tower", TEXT.which, run.sets)];
export const legend = () => [
  { text: t(TEXT.right), mark: { line: "out", width: 2.5, radius: 3 } },
  { text: t(TEXT.locked), mark: { line: "query", width: 2.5, radius: 3 } },
  { text: t(TEXT.surprise, { n: WORST }), mark: ramp("surprise", 80) },
];

export const same = (was, run, { pos }) =>
  layersOf(was.sets[0]) === layersOf(run.sets[0]) &&
  sameText(was, run, pos, ({ symbols }) => symbols);

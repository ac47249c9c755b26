// What could come next: the likeliest symbols after the text that was given, a few ahead, and the
// path that was drawn. A line is as wide as its symbol is probable; what top-p or top-k cuts off is
// dashed. The value is made by explorer/labs/language_model/views.py.

import { parts, t } from "../../frontend/lib/lang.js";
import { colour } from "../../frontend/lib/pen.js";
import { rounded, sign } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: { en: "What could come next?", zh: "接下来可能是什么？" },
  board: {
    en: "{title}. Left and right step through the symbols, Escape resets.",
    zh: "{title}。左右键在符号间移动，Esc 复位。",
  },
  ahead: { en: "{n} ahead", zh: "第 {n} 个" },
  sampled: { en: "drawn", zh: "被抽中" },
  cut: { en: "cut off", zh: "被截去" },
  wide: { en: "line width: probability", zh: "线宽：概率" },
  caption: {
    en:
      "What could come next, how probable it is after the text before it, and whether it can be " +
      "drawn",
    zh: "可能的下一个符号，它在前文之后的概率，以及能否被抽中",
  },
  node: { en: "number", zh: "编号" },
  after: { en: "after number", zh: "接在编号" },
  symbol: { en: "symbol", zh: "符号" },
  chance: { en: "probability", zh: "概率" },
  kept: { en: "can be drawn", zh: "可被抽中" },
  path: { en: "drawn", zh: "被抽中" },
  nothing: {
    en: "The model writes nothing: let it write some symbols to see what it draws.",
    zh: "没有要写的：让模型写几个符号，就能看到抽中了什么。",
  },
};

const show = (symbol) => [...symbol].map((letter) => sign(letter.codePointAt(0))).join("");
/** Several symbols: their spaces stay spaces. */
const quoted = (text) => `“${text.length > 1 ? text.replaceAll("\n", "⏎") : show(text)}”`;
/** A probability as on the page: two digits that say something. */
const share = (p) => (p >= 0.995 ? "1.00" : p >= 0.01 ? p.toFixed(2) : p.toPrecision(1));

export function read(value) {
  if (!value.symbols?.length) return null;
  const [parent, chance, kept] = [value.parent, value.chance, value.kept].map((
    { data },
  ) => [...data]);
  return { ...value, parent, chance, kept, count: value.symbols.length };
}

const depthOf = (run, node) => (run.parent[node] < 0 ? 0 : 1 + depthOf(run, run.parent[node]));
/** The nodes on the way to one, itself the last. */
const wayTo = (run, node) => (node < 0 ? [] : [...wayTo(run, run.parent[node]), node]);

/** Where each node stands: a leaf takes a row of its own, a node the middle of its children. */
function placed(run, { width, tall, big }) {
  const children = (node) => run.symbols.map((_, at) => at).filter((at) => run.parent[at] === node);
  const rows = [];
  let next = 0;
  const settle = (node) => {
    const below = children(node);
    if (!below.length) return (rows[node] = next++);
    const ys = below.map(settle);
    return (rows[node] = (ys[0] + ys.at(-1)) / 2);
  };
  const tops = children(-1).map(settle);
  const depth = Math.max(...run.symbols.map((_, at) => depthOf(run, at))) + 1;
  const head = big ? 44 : 26;
  const row = Math.max(
    big ? 34 : 21,
    Math.min(tall ? (tall - head - 8) / next : big ? 44 : 27, big ? 56 : 32),
  );
  const column = (width - 8) / (depth + 0.75);
  const label = big ? 60 : 30; // px of a probability, behind its box
  const box = {
    wide: Math.min((column - label) * (depth > 2 ? 0.6 : 0.7), big ? 150 : 72),
    high: row - (big ? 6 : 4),
  };
  return {
    head,
    row,
    depth,
    column,
    label,
    box,
    count: next,
    root: { x: box.wide / 2, y: head + ((tops[0] + tops.at(-1)) / 2 + 0.5) * row },
    x: (node) => box.wide / 2 + (depthOf(run, node) + 0.75) * column,
    y: (node) => head + (rows[node] + 0.5) * row,
  };
}

export function scene(run, look, pen) {
  const at = placed(run, pen);
  const size = pen.big ? 22 : 13;
  const on = new Set(run.sampled);
  const way = new Set(look.node === null || look.node === undefined ? [] : wayTo(run, look.node));
  for (let n = 0; n < at.depth; n += 1) {
    pen.text(at.box.wide / 2 + (n + 0.75) * at.column, at.head / 2, t(TEXT.ahead, { n: n + 1 }), {
      size: pen.big ? 20 : 12,
      align: "center",
      colour: "ink3",
    });
  }
  run.symbols.forEach((_, node) => {
    const from = run.parent[node] < 0
      ? at.root
      : { x: at.x(run.parent[node]), y: at.y(run.parent[node]) };
    const x0 = from.x + at.box.wide / 2 + (run.parent[node] < 0 ? 0 : at.label);
    const [x1, y1] = [at.x(node) - at.box.wide / 2, at.y(node)];
    const middle = (x0 + x1) / 2;
    pen.path(`M${x0},${from.y}C${middle},${from.y} ${middle},${y1} ${x1},${y1}`, {
      line: on.has(node) ? "out" : way.has(node) ? "query" : colour("ink3", 0.6),
      width: Math.max(1, (pen.big ? 16 : 9) * run.chance[node]),
      ...(run.kept[node] ? {} : { dash: [3, 3] }),
    });
  });
  const cell = (x, y, text, style, label) => {
    const box = {
      x0: x - at.box.wide / 2,
      x1: x + at.box.wide / 2,
      y0: y - at.box.high / 2,
      y1: y + at.box.high / 2,
    };
    pen.rect(box, { radius: 4, width: 1.5, ...style });
    const within = { size, face: "mono", align: "center", weight: 600, room: at.box.wide - 4 };
    pen.text(x, y, text, { ...within, colour: style.ink ?? "ink" });
    if (label) pen.text(box.x1 + 4, y, label, { size: pen.big ? 20 : 12, colour: "ink2" });
    return box;
  };
  cell(at.root.x, at.root.y, show(run.root), { fill: "query-soft", line: "query", ink: "query" });
  run.symbols.forEach((symbol, node) => {
    const style = on.has(node)
      ? { fill: "out-soft", line: "out" }
      : { fill: "panel", line: way.has(node) ? "query" : "control" };
    const box = cell(
      at.x(node),
      at.y(node),
      show(symbol),
      run.kept[node] ? style : { ...style, dash: [3, 3], ink: "ink3" },
      share(run.chance[node]),
    );
    pen.hit({
      ...box,
      x1: box.x1 + at.label,
      look: { node },
      pos: node,
      card: () => card(run, node),
    });
  });
  pen.size(pen.width, at.head + at.count * at.row + 4);
}

const textOf = (run, way) => way.map((node) => run.symbols[node]).join("");
/** "0.31 × 0.52 = 0.16" */
const odds = (run, way) =>
  `${way.map((node) => share(run.chance[node])).join(" × ")} = ${
    way
      .reduce((all, node) => all * run.chance[node], 1).toPrecision(2)
  }`;

function card(run, node) {
  const way = wayTo(run, node);
  return [quoted(textOf(run, way)), odds(run, way), ...(run.kept[node] ? [] : [t(TEXT.cut)])];
}

const SAY = {
  drawn: { en: "Drawn: ", zh: "抽中了 " },
  path: { en: "{name}, probability {odds}.", zh: "{name}：概率 {odds}。" },
  cut: { en: " It is cut off.", zh: "它会被截去。" },
  typed: { en: " Yours, {name}, costs {bits} bits.", zh: " 您的 {name} 花费 {bits} 比特。" },
};

export function sentence(run, look) {
  const locked = look.node !== null && look.node !== undefined && look.node !== run.sampled.at(-1);
  const way = locked ? wayTo(run, look.node) : run.sampled;
  const named = (text, role) => ({ text: quoted(text), role });
  const typed = run.typed
    ? parts(SAY.typed, { name: named(run.typed.text, "key"), bits: run.typed.bits.toFixed(1) })
    : [];
  if (!way.length) return [t(TEXT.nothing), ...typed];
  const told = { name: named(textOf(run, way), locked ? "query" : "out"), odds: odds(run, way) };
  const said = [
    ...(locked ? [] : ["drawn"]),
    "path",
    ...(way.every((node) => run.kept[node]) ? [] : ["cut"]),
  ];
  return [...said.flatMap((key) => parts(SAY[key], told)), ...typed];
}

export const looks = { node: "position" };
export const bounds = (run) => ({ node: { count: run.count, pick: run.sampled.at(-1) ?? 0 } });
export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: [TEXT.node, TEXT.after, TEXT.symbol, TEXT.chance, TEXT.kept, TEXT.path].map((one) =>
    t(one)
  ),
  rows: run.symbols.map((
    symbol,
    node,
  ) => [
    node,
    run.parent[node],
    show(symbol),
    rounded(run.chance[node], 6),
    run.kept[node] ? 1 : 0,
    run.sampled.includes(node) ? 1 : 0,
  ]),
  here: look.node ?? null,
});
export const legend = () => [
  { text: t(TEXT.sampled), mark: { fill: "out-soft", line: "out", width: 1.5, radius: 3 } },
  { text: t(TEXT.cut), mark: { line: "ink3", width: 1.5, dash: [3, 3], radius: 3 } },
  { text: t(TEXT.wide), mark: { fill: colour("ink3", 0.6), wide: 18, tall: 4 } },
];

// A text in pieces, each as dark as its reader was surprised by it. The value is made by
// explorer/labs/language_model/views.py.

import { parts, t } from "../../frontend/lib/lang.js";
import { sameText } from "../../frontend/lib/selection.js";
import { ink, ramp, shade } from "../../frontend/lib/pen.js";
import { rounded } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: { en: "Where is it surprised?", zh: "它在哪里感到惊讶？" },
  board: {
    en: "{title}. Left and right step through the pieces, Escape resets.",
    zh: "{title}。左右键在词片间移动，Esc 复位。",
  },
  scale: { en: "surprise, 0 to {n} bits and more", zh: "惊讶，0 至 {n} 比特及以上" },
  written: { en: "written", zh: "写下的" },
  caption: {
    en: "Each piece, what it cost, and whether it was given",
    zh: "每个词片、它的代价、是否为给定",
  },
  position: { en: "position", zh: "位置" },
  piece: { en: "piece", zh: "词片" },
  bits: { en: "bits", zh: "比特" },
  given: { en: "given", zh: "给定" },
  none: { en: "Choose a piece to see what it cost.", zh: "选一个词片，看它的代价。" },
};
const WORST = 12; // bits where the scale ends
const shown = (piece) => piece.replaceAll("\n", "⏎");
const last = ({ pos }) => pos.at(-1);
/**
 * How many characters begin in a piece: of a character in parts, ⟨C3⟩⟨A9⟩, the first byte alone
 * counts.
 */
const lettersOf = (piece) =>
  [...piece.replace(/⟨[89AB][\dA-F]⟩/g, "").replace(/⟨[C-F][\dA-F]⟩/g, "·")].length;

export const read = (
  value,
) => (value.symbols?.length
  ? { ...value, bits: [...value.bits.data], count: value.symbols.length }
  : null);

export function scene(run, look, pen) {
  const size = pen.big ? 26 : 16;
  const [row, pad] = [size * 2, pen.big ? 3 : 2];
  const style = { size, face: "title" };
  const space = pen.measure(" ", style) + 1;
  let [x, y] = [0, row / 2];
  run.symbols.forEach((piece, pos) => {
    const text = shown(piece).trim() || (piece.includes("\n") ? "⏎" : "␣");
    const wide = pen.measure(text, style) + 2 * pad;
    if (piece.startsWith(" ") && x) x += space;
    if (x + wide > pen.width) [x, y] = [0, y + row];
    const box = { x0: x, x1: x + wide, y0: y - row * 0.4, y1: y + row * 0.4 };
    const fill = shade("surprise", run.bits[pos] / WORST);
    pen.rect(box, {
      fill,
      radius: 3,
      ...(look.pos.includes(pos) ? { line: "query", width: 2.5 } : {}),
    });
    pen.text(x + wide / 2, y, text, { ...style, align: "center", colour: ink(fill) });
    if (pos >= run.given) {
      pen.line(box.x0, box.y1 + 2, box.x1, box.y1 + 2, { line: "out", width: 2.5 });
    }
    const card =
      () => [`“${shown(piece)}” (${pos})`, `${run.bits[pos].toFixed(2)} ${t(TEXT.bits)}`];
    pen.hit({ ...box, look: { pos }, pos, card });
    x += wide;
    if (piece.includes("\n")) [x, y] = [0, y + row];
  });
  pen.size(pen.width, y + row * 0.6);
}

const SAY = {
  piece: { en: "Piece {piece} cost {bits} bits.", zh: "词片 {piece} 花费 {bits} 比特。" },
  given: {
    en: " The given text costs {each} bits a piece, {per} a character.",
    zh: "给定部分每词片 {each} 比特，每字符 {per} 比特。",
  },
  written: {
    en: " The written text costs {each} bits a piece, {per} a character.",
    zh: "写下部分每词片 {each} 比特，每字符 {per} 比特。",
  },
};

export function sentence(run, look) {
  const pos = last(look);
  const piece = pos === undefined ? [t(TEXT.none)] : parts(SAY.piece, {
    bits: run.bits[pos].toFixed(2),
    piece: { text: `“${shown(run.symbols[pos])}” (${pos})`, role: "query" },
  });
  const sum = (list) => list.reduce((all, one) => all + one, 0);
  const costs = [["given", 0, run.given], ["written", run.given, run.count]].filter((
    [, from, to],
  ) => from < to);
  return [
    ...piece,
    ...costs.map(([name, from, to]) => {
      const bits = sum(run.bits.slice(from, to));
      const letters = sum(run.symbols.slice(from, to).map(lettersOf));
      return t(SAY[name], {
        each: (bits / (to - from)).toFixed(2),
        per: (bits / Math.max(1, letters)).toFixed(2),
      });
    }),
  ];
}

export const looks = { pos: "positions" };
export const bounds = (run) => ({ pos: { count: run.count, pick: run.pick?.pos } });
export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: [TEXT.position, TEXT.piece, TEXT.bits, TEXT.given].map((one) => t(one)),
  rows: run.symbols.map((
    piece,
    pos,
  ) => [pos, shown(piece), rounded(run.bits[pos]), pos < run.given ? 1 : 0]),
  here: last(look) ?? null,
});
export const legend = () => [
  { text: t(TEXT.written), mark: { fill: "out", wide: 16, tall: 3 } },
  { text: t(TEXT.scale, { n: WORST }), mark: ramp("surprise", 80) },
];
export const same = (was, run, { pos }) => sameText(was, run, pos, ({ symbols }) => symbols);

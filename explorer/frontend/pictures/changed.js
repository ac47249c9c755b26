// What pictures of a change have in common: the line of a model with its one signed number, the
// computed sentence, the lines of a text file.

import { filed } from "../lib/arrays.js";
import { roles, t } from "../lib/lang.js";
import { number, plus } from "../lib/signs.js";
import { foot } from "../lib/source.js";

export const WHICH = ["before", "after", "difference"];
const COLUMNS = [
  { en: "model", zh: "模型" },
  { en: "before", zh: "之前" },
  { en: "after", zh: "之后" },
  { en: "difference", zh: "差值" },
];
const TEXT = {
  title: { en: "Before and after", zh: "之前与之后" },
  question: { en: "What does the change do?", zh: "这个改变带来什么？" },
};

/**
 * A model's name, its one number large, and from what to what it goes, in the first `wide` px.
 * Returns where it ends. one: {name, before, after, unit, digits = 2}
 */
export function headline(pen, y, { name, before, after, unit, digits = 2 }, wide = pen.width) {
  const [size, big] = pen.big ? [20, 44] : [12, 24];
  const style = { size: big, weight: 650, colour: "ink", face: "title" };
  pen.line(0, y + 0.5, pen.width, y + 0.5, { line: "line" });
  pen.text(0, y + size + 2, name, { size: size + 1, weight: 650, colour: "ink", room: wide });
  const top = y + 2.1 * size;
  pen.text(0, top + 0.7 * big, plus(after - before, digits), style);
  const x = pen.measure(plus(after - before, digits), style) + size;
  const said = [
    `${number(before, digits)} → ${number(after, digits)}`,
    ...pen.lines(unit, wide - x, { size }),
  ];
  said.forEach((line, at) => pen.text(x, top + (at + 0.7) * 1.35 * size, line, { size }));
  return top + Math.max(1.4 * big, (said.length + 0.4) * 1.35 * size);
}

/** The two numbers of a model, as a file holds them. */
export const both = ({ before, after }, unit) =>
  filed(Float64Array.of(before, after), "before, after", unit);

/**
 * The parts of a picture that are the same for all: each(run) gives {key, name, before, after,
 * unit, digits, more: lines} of every model.
 */
export const comparison = (each) => ({
  title: () => TEXT.title,
  question: TEXT.question,
  sentence: (run) => roles(run.sentence),
  table: (run) => ({
    caption: t(TEXT.title),
    columns: COLUMNS.map((column) => t(column)),
    rows: each(run).map((
      { name, before, after },
    ) => [name, before, after, Number((after - before).toFixed(6))]),
  }),
  files: {
    TXT: (run) => ({
      name: "numbers",
      ending: "txt",
      blob: () =>
        new Blob([[
          ...each(run).flatMap(({ name, before, after, unit, digits = 2, more = [] }) => [
            `${name}, ${unit}: ${plus(after - before, digits)} (${number(before, digits)} → ${
              number(after, digits)
            })`,
            ...more,
          ]),
          roles(run.sentence).map(({ text }) => text).join(""),
          foot(),
          "",
        ].join("\n")], { type: "text/plain" }),
    }),
  },
  named: () => ["what-if"],
});

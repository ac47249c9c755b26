// Attention before and after a change, in three equal pictures, the difference beside both; the
// texts, the one number and the words that are read again. The value is made by
// explorer/figures/maps.py and explorer/components/change_panel.py.

import { filed } from "../lib/arrays.js";
import { number, plus } from "../lib/signs.js";
import { both, comparison, headline, WHICH } from "./changed.js";
import { el } from "../lib/dom.js";
import { lang, t } from "../lib/lang.js";

const TEXT = {
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差值" },
  same: { en: "the same words", zh: "词语不变" },
  maps: { en: "picture of", zh: "图示" },
  nats: { en: "nats", zh: "纳特" },
};
const MOVED = 0.05; // of a word's probability, which makes it stand out
const short = (value) => plus(value).replace("0.", ".").replace(/0$/, "");
const glued = /^[.,;:!?%)\]]/; // no space before it

export const read = (value) => ({
  ...value,
  maps: value.maps.map((map) => {
    const { before: { data: before, shape: [rows, columns] }, after: { data: after } } = map;
    const difference = after.map((one, i) => one - before[i]);
    const most = difference.reduce((high, one) => Math.max(high, Math.abs(one)), 0);
    return {
      ...map,
      rows,
      columns,
      before,
      after,
      difference,
      limit: Math.max(0.05, Math.ceil(most * 20) / 20),
    };
  }),
});

const mapOf = (run, look) => run.maps.find(({ key }) => key === look.changed) ?? run.maps[0];
const words = (run) =>
  run.words.map(([word, was, is]) => `${word} ${was.toFixed(2)} → ${is.toFixed(2)}`);
const plain = (runs) =>
  runs.map(([text], at) => (at && !glued.test(text) ? ` ${text}` : text)).join("");
const each = (
  run,
) => [{
  key: "log_probability",
  name: t(run.unit),
  ...run.number,
  unit: t(TEXT.nats),
  more: [
    ...run.texts.map((text, i) => `${t(TEXT[WHICH[i]])}: ${plain(text)}`),
    `${t(run.words_title)}: ${words(run).join(" · ")}`,
  ],
}];

export function scene(run, look, pen) {
  const [size, gap, map] = [pen.big ? 20 : 12, pen.narrow ? 8 : 14, mapOf(run, look)];
  const top = headline(pen, 0, each(run)[0]) + size + 4;
  const wide = Math.min((pen.width - 2 * gap) / 3, pen.big ? 420 : pen.away ? 300 : 190);
  const high = Math.min(
    pen.big ? Math.max(120, pen.tall - top - 3 * size) : Infinity,
    Math.max(48, (wide * map.rows) / map.columns),
    1.2 * wide,
  );
  const lines = pen.narrow ? 2 : 1;
  const y0 = top + (lines - 0.4) * 1.3 * size + 2;
  WHICH.forEach((which, at) => {
    const box = { x0: at * (wide + gap), x1: at * (wide + gap) + wide, y0, y1: y0 + high };
    const signed = which === "difference";
    const unit = signed ? `${short(-map.limit)} … ${short(map.limit)}` : t(map.unit);
    pen.text(box.x0, top, t(TEXT[which]), { size, weight: 650, colour: "ink", room: wide });
    pen.text(lines > 1 ? box.x0 : box.x1, top + (lines - 1) * 1.3 * size, unit, {
      size,
      align: lines > 1 ? "left" : "right",
      colour: "ink3",
      room: wide,
    });
    pen.cells(box, {
      data: map[which],
      rows: map.rows,
      columns: map.columns,
      radius: 4,
      ...(signed ? { scale: "signed", low: -map.limit, high: map.limit } : {}),
    });
    pen.rect(box, { line: "line", radius: 4 });
    point(map, box, pen);
  });
  pen.size(pen.width, y0 + high + 4);
}

const point = (map, box, pen) =>
  pen.grid(box, map.rows, map.columns, (row, column) => {
    const at = row * map.columns + column;
    return {
      card: () => [
        `“${map.queries[row]}” (${row}) → “${map.keys[column]}” (${column})`,
        `${number(map.before[at])} → ${number(map.after[at])}, ${plus(map.difference[at])}`,
      ],
    };
  });

/**
 * Both texts, what vanished and what is new marked; and the words that are read again, those whose
 * probability moved set off.
 */
export function below(run) {
  const marked = (runs) =>
    runs.flatMap((
      [text, mark],
      at,
    ) => [
      at && !glued.test(text) ? " " : "",
      mark
        ? el(mark === "gone" ? "del" : "ins", {
          class: mark === "gone" ? "tfe-struck" : "tfe-new",
          text,
        })
        : text,
    ]);
  const same = !run.texts.flat().some(([, mark]) => mark);
  const row = (
    which,
    ...more
  ) => [
    el("dt", { text: t(TEXT[WHICH[which]]) }),
    el("dd", { lang: run.language }, ...marked(run.texts[which]), ...more),
  ];
  const word = ([text, was, is]) =>
    el(
      "li",
      { class: Math.abs(is - was) >= MOVED ? "is-moved" : null },
      el("span", { lang: run.language, text }),
      ` ${was.toFixed(2)} → ${is.toFixed(2)}`,
    );
  const note = same
    ? [el("span", { class: "tfe-maps-same", lang: lang(), text: ` ${t(TEXT.same)}` })]
    : [];
  return [
    el("dl", { class: "tfe-maps-texts" }, ...row(0), ...row(1, ...note)),
    el(
      "div",
      { class: "tfe-maps-chances tfe-controls" },
      el("span", { text: t(run.words_title) }),
      el("ul", {}, ...run.words.map(word)),
    ),
  ];
}

export const common = comparison(each);
export const looks = { changed: "choice" };
export const bounds = (run) => ({ changed: { names: run.maps.map(({ key }) => key) } });
export const units = (run, look) => t(mapOf(run, look).label);
export const choices = (
  run,
) => (run.maps.length > 1
  ? [{
    key: "changed",
    label: t(TEXT.maps),
    options: run.maps
      .map(({ key, label }) => ({ value: key, label: t(label) })),
  }]
  : []);
export const named = (run, look) => ["what-if", mapOf(run, look).key];

/** Each map as one table: query, key, before, after, difference. */
export const lines = (run) => ({
  columns: ["picture", "row", "query", "column", "key", ...WHICH],
  rows: run.maps.flatMap((map) =>
    Array.from(map.before, (was, i) => {
      const [row, column] = [Math.floor(i / map.columns), i % map.columns];
      return [
        map.key,
        row,
        map.queries[row],
        column,
        map.keys[column],
        was,
        map.after[i],
        map.difference[i],
      ];
    })
  ),
});
export const arrays = (run) => ({
  log_probability: both(run.number, "nats"),
  ...Object.fromEntries(run.maps.flatMap((map) =>
    WHICH.slice(0, 2).map((
      which,
    ) => [
      `${map.key}.${which}`,
      filed(map[which], ["query", "key"], "weight", [map.rows, map.columns]),
    ])
  )),
});

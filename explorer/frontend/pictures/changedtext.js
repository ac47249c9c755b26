// The same characters before and after a change, as each model reads them: one number, three strips
// on one scale, what it writes or answers each time. Each model that the change reaches is shown in
// turn; of the others one line says so. Made by explorer/figures/sides.py.

import { filed, upTo } from "../lib/arrays.js";
import { ceiling, mark, number, plus } from "../lib/signs.js";
import { comparison, headline, WHICH } from "./changed.js";
import { el } from "../lib/dom.js";
import { roles, t } from "../lib/lang.js";
import { shade } from "../lib/pen.js";

export const TEXT = {
  question: {
    en: "What does the change cost, character by character?",
    zh: "这个改变让每个字符多付多少代价？",
  },
  answers: {
    en: "Its answer; the letters that changed are marked",
    zh: "它的回答；变化的字母有标记",
  },
  unchanged: { en: "It says the same {n} letters.", zh: "它的 {n} 个字母都没有变。" },
  letter: {
    en: "{i}: {before} → {after}, right is {right}",
    zh: "{i}：{before} → {after}，正确的是 {right}",
  },
  models: { en: "Model", zh: "模型" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差别" },
  bits: { en: "bits per character", zh: "每字符比特数" },
  pooled: { en: "bits per character, means of {n}", zh: "每字符比特数，每 {n} 个平均" },
  dearer: { en: "costs more", zh: "代价更高" },
  cheaper: { en: "costs less", zh: "代价更低" },
  given: { en: "given", zh: "给定" },
  written: { en: "written", zh: "写出" },
  character: { en: "character", zh: "字符" },
  here: {
    en: ": {before} → {after} bits ({difference})",
    zh: "：{before} → {after} 比特（{difference}）",
  },
  around: {
    en: "; characters {a}–{b}: {before} → {after} ({difference}).",
    zh: "；字符 {a}–{b}：{before} → {after}（{difference}）。",
  },
  writes: { en: "What it writes after the given text", zh: "它在给定文本之后写出的内容" },
  alike: { en: "It writes the same {n} characters.", zh: "它写出相同的 {n} 个字符。" },
  common: { en: "the first {n} characters {n|is|are} the same", zh: "前 {n} 个字符相同" },
  nothing: { en: "nothing", zh: "没有内容" },
  unreached: {
    en: "The change does not reach it: {n} bits per character, as before.",
    zh: "这个改变影响不到它：每字符仍为 {n} 比特。",
  },
  segment: { en: "segment", zh: "片段" },
  stretch: { en: "stretch", zh: "段" },
  positions: { en: "characters", zh: "字符" },
  caption: { en: "{model}: mean bits per character", zh: "{model}：平均每字符比特数" },
};
const BARS = 100; // of a whole text, about
const ROUGH = 128; // characters of a row of the table where a text is not read in segments
const CLOSE = 4; // px between borders of segments below which they are left out

export function read(value) {
  const sides = value.sides.filter(({ reached }) => reached).map((side) => {
    const [before, after] = [side.before.data, side.after.data];
    const one = { ...side, before, after, count: before.length, letters: [...side.text] };
    return { ...one, ...stretches(one) };
  });
  const most = (of) =>
    sides.flatMap(({ bars }) => bars).reduce((high, bar) => Math.max(high, of(bar)), 0);
  return {
    ...value,
    sides,
    rest: value.sides.filter(({ reached }) => !reached),
    first: value.sides[0],
    bits: Math.max(1, Math.ceil(most((bar) => Math.max(bar.before, bar.after)))),
    difference: Math.max(0.05, ceiling(most((bar) => Math.abs(bar.difference)))),
  };
}

/** Means of characters [first, end) in bits. */
function means({ before, after }, first, end) {
  const mean = (bits) =>
    bits.subarray(first, end).reduce((sum, one) => sum + one, 0) / Math.max(1, end - first);
  return {
    first,
    end,
    before: mean(before),
    after: mean(after),
    difference: mean(after) - mean(before),
  };
}

/** Stretches of about a hundredth of the text; none mixes what was given and what was written. */
function stretches(side) {
  const size = Math.max(1, Math.round(side.count / BARS));
  const cut = (low, high) =>
    upTo(
      Math.ceil((high - low) / size),
      (i) => means(side, low + i * size, Math.min(high, low + (i + 1) * size)),
    );
  return { size, bars: [...cut(0, side.given), ...cut(side.given, side.count)] };
}

/** How many digits tell a difference: two, and three where it is small. */
const digitsOf = (
  { before, after },
) => (Math.abs(after - before) < 0.0995 && Math.abs(after - before) >= 0.0005 ? 3 : 2);
/** Numbers as they are printed; the difference is that of the two as they stand there. */
const said = ({ before, after }) => ({
  before: number(before),
  after: number(after),
  difference: plus(Number(after.toFixed(2)) - Number(before.toFixed(2))),
});

const sideOf = (run, look) =>
  run.sides.find(({ key }) => key === look.model) ?? run.sides[0] ?? null;
const told = (one) => ({
  key: one.key,
  name: t(one.name),
  ...one.number,
  unit: t(one.unit ?? TEXT.bits),
  digits: digitsOf(one.number),
});

function each(run) {
  const more = (
    { answers, written },
  ) => (answers
    ? WHICH.slice(0, 2).map((which, i) => `${t(TEXT[which])}: ${answers[i]}`)
    : written
    ? WHICH.slice(0, 2).map((which, i) => `${t(TEXT.writes)}, ${t(TEXT[which])}:\n${written[i]}`)
    : []);
  return [...run.sides, ...run.rest].map((one) => ({ ...told(one), more: more(one) }));
}

const positionsOf = (side, { pos }) =>
  pos.map((at) => at - side.first).filter((at) => at >= 0 && at < side.count);

export function scene(run, look, pen) {
  const side = sideOf(run, look);
  const size = pen.big ? 20 : 12;
  const top = headline(pen, 0, told(side ?? run.first));
  if (!side) return pen.size(pen.width, top);
  const [gutter, head, tall, gap] = pen.big
    ? [64, 32, Math.max(48, (pen.tall - top - 182) / 3), 14]
    : [40, 20, pen.away ? 90 : 50, 6];
  const plot = pen.width - gutter - 2;
  const x = (position) => gutter + (position / side.count) * plot;
  const strips = WHICH.map((which, i) => ({
    which,
    top: top + 4 + i * (head + tall + gap) + head,
  }));
  const foot = strips.at(-1).top + tall;
  for (const strip of strips) painted(run, side, strip, { x, gutter, plot, tall, size }, pen);
  const locked = positionsOf(side, look);
  const over = look.over?.pos === undefined
    ? []
    : positionsOf(side, { pos: [look.over.pos].flat() });
  const through = (position, style) =>
    strips.forEach(({ top: y }) =>
      pen.line(x(position + 0.5), y, x(position + 0.5), y + tall, style)
    );
  for (const position of locked) {
    through(position, { line: "panel", width: pen.big ? 7 : 4.5 });
    through(position, { line: "query", width: pen.big ? 3.5 : 2 });
  }
  for (const position of over) through(position, { line: "ink", width: pen.big ? 2 : 1 });
  axis(side, locked.at(-1), { x, gutter, plot, size, foot }, pen);
  const box = (position) => ({
    x0: x(position),
    x1: x(position + 1),
    y0: strips[0].top,
    y1: foot,
    still: true,
    card: null,
    look: { pos: position + side.first },
    pos: position + side.first,
  });
  pen.hit({
    x0: gutter,
    x1: gutter + plot,
    y0: strips[0].top,
    y1: foot,
    at: (px) =>
      box(Math.max(0, Math.min(side.count - 1, Math.floor(((px - gutter) / plot) * side.count)))),
    of: (
      pos,
    ) => (pos - side.first >= 0 && pos - side.first < side.count ? box(pos - side.first) : null),
  });
  pen.size(pen.width, foot + (side.given < side.count ? 2 : 1) * (size + 5) + 4);
}

/** A strip: a bar for each stretch, as wide as its characters. */
function painted(run, side, { which, top }, { x, gutter, plot, tall, size }, pen) {
  const [bottom, written, signs] = [top + tall, side.given < side.count, which === "difference"];
  const most = signs ? run.difference : run.bits;
  const y = (
    value,
  ) => (signs ? top + tall / 2 - (value / most) * (tall / 2) : bottom - (value / most) * tall);
  const above = top - size / 2 - 3;
  pen.rect({ x0: gutter, x1: gutter + plot, y0: top, y1: bottom }, { fill: "paper" });
  if (written) {
    pen.rect({ x0: x(side.given), x1: gutter + plot, y0: top, y1: bottom }, { fill: "out-soft" });
  }
  if (side.segment && (side.segment / side.count) * plot >= CLOSE) {
    for (let border = side.segment; border < side.count; border += side.segment) {
      pen.line(x(border), top, x(border), bottom, { line: "line" });
    }
  }
  for (const bar of side.bars) {
    const [from, to] = [y(bar[which]), y(0)];
    pen.rect({
      x0: x(bar.first),
      x1: x(bar.end) + (bar.end < side.count ? 0.3 : 0),
      y0: Math.min(from, to),
      y1: Math.max(from, to),
    }, {
      fill: signs
        ? shade("signed", bar.difference > 0 ? 1 : 0)
        : shade("surprise", 0.15 + 0.7 * (bar[which] / most)),
    });
  }
  if (!signs) {
    pen.path(
      `M${
        side.bars
          .map((bar) =>
            `${x(bar.first).toFixed(1)},${y(bar[which]).toFixed(1)}H${x(bar.end).toFixed(1)}`
          ).join("L")
      }`,
      { line: shade("surprise", 0.85), width: pen.big ? 2 : 1.25 },
    );
  }
  if (written) {
    pen.line(x(side.given), top - 3, x(side.given), bottom, {
      line: "out",
      width: pen.big ? 2.5 : 1.5,
    });
  }
  pen.line(gutter, y(0), gutter + plot, y(0), { line: "control" });
  const digits = most < 0.1 ? 2 : 1;
  for (
    const [value, text] of signs
      ? [[most, plus(most, digits)], [0, "0"], [-most, plus(-most, digits)]]
      : [[most, String(most)], [0, "0"]]
  ) {
    pen.text(gutter - 5, Math.min(Math.max(y(value), top + size / 2), bottom - size / 3), text, {
      size,
      align: "right",
      colour: "ink3",
    });
  }
  pen.text(gutter, above, t(TEXT[which]), { size, weight: 600, colour: "ink" });
  const unit = side.size > 1 ? t(TEXT.pooled, { n: side.size }) : t(TEXT.bits);
  if (which === "before") {
    pen.text(gutter + plot, above, unit, { size, align: "right", colour: "ink3" });
  }
}

function axis(side, here, { x, gutter, plot, size, foot }, pen) {
  const wide = (n) => pen.measure(String(n), { size });
  const step = Math.max(1, ceiling((side.count * (wide(side.count) + 18)) / plot));
  const y = foot + 5 + size / 2;
  for (let tick = 0; tick <= side.count; tick += step) {
    pen.line(x(tick), foot, x(tick), foot + 4, { line: "control" });
    // it would half cover it
    if (here !== undefined && Math.abs(x(tick) - x(here)) < (wide(tick) + wide(here)) / 2 + 10) {
      continue;
    }
    pen.text(x(tick), y, tick + side.first, {
      size,
      colour: "ink3",
      align: tick === 0 ? "left" : x(tick) > gutter + plot - size ? "right" : "center",
    });
  }
  if (here !== undefined) {
    const [text, half] = [String(here + side.first), wide(here + side.first) / 2 + 4];
    const middle = Math.max(gutter + half, Math.min(gutter + plot - half, x(here + 0.5)));
    pen.rect({ x0: middle - half, x1: middle + half, y0: foot + 2, y1: foot + size + 7 }, {
      fill: "query-soft",
      radius: 3,
    });
    pen.text(middle, y, text, { size, weight: 650, align: "center", colour: "query" });
  }
  if (side.given === side.count) return;
  pen.text(gutter, y + size + 4, t(TEXT.given), { size });
  pen.text(gutter + plot, y + size + 4, t(TEXT.written), {
    size,
    align: "right",
    colour: "out",
    weight: 600,
  });
}

/** The change in words, then what it costs at the character that is pointed at or locked. */
export function sentence(run, look, over) {
  const side = sideOf(run, look);
  const here = side &&
    positionsOf(side, { pos: over?.pos === undefined ? look.pos : [over.pos].flat() }).at(-1);
  if (!side || here === undefined) return roles(run.sentence);
  const one = { before: side.before[here], after: side.after[here] };
  const bar = side.bars.find(({ end }) => here < end);
  const at = here + side.first;
  const name = side.letters.length
    ? `${mark(side.letters[here])}·${at}`
    : `${t(TEXT.character)} ${at}`;
  return [
    ...roles(run.sentence),
    " ",
    { text: name, role: "query" },
    t(TEXT.here, said(one)),
    bar.end - bar.first > 1
      ? t(TEXT.around, { a: bar.first + side.first, b: bar.end - 1 + side.first, ...said(bar) })
      : t({ en: ".", zh: "。" }),
  ];
}

// ── what it writes or answers ──
const label = (text) => el("p", { class: "tfe-label", text });
const note = (text) => el("p", { class: "tfe-note", text });
const boxOf = (which, title, ...inside) =>
  el(
    "div",
    { class: "tfe-changed-row" },
    el("span", { class: "tfe-note", text: t(TEXT[which]) }),
    el("p", {
      class: "tfe-changed-text",
      tabindex: "0",
      role: "region",
      dir: "auto",
      "aria-label": `${title}, ${t(TEXT[which])}`,
    }, ...inside),
  );

/**
 * Both texts that were written: what they share, what vanished, what is new; each scrolled to where
 * they part.
 */
function writing([first, second]) {
  const [a, b] = [[...first], [...second]]; // whole characters, so that no half of one is left over
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count += 1;
  const [common, gone, came] = [a.slice(0, count), a.slice(count), b.slice(count)].map((letters) =>
    letters.join("")
  );
  if (!gone && !came) return [label(t(TEXT.writes)), note(t(TEXT.alike, { n: count }))];
  const box = (which, own, tag, name) => {
    const text = own || (common ? "" : t(TEXT.nothing));
    return boxOf(
      which,
      t(TEXT.writes),
      el("span", { text: common }),
      text ? el(tag, { class: name, text }) : el("span", {}),
    );
  };
  const boxes = [box("before", gone, "del", "tfe-struck"), box("after", came, "ins", "tfe-new")];
  requestAnimationFrame(() => {
    for (const text of boxes.map((one) => one.lastChild)) {
      const [line] = text.lastChild.getClientRects();
      if (line) text.scrollTop += line.top - text.getBoundingClientRect().top - 24;
    }
  });
  return [label(t(TEXT.writes)), ...boxes, ...(count ? [note(t(TEXT.common, { n: count }))] : [])];
}

/**
 * What the model says before and after, letter by letter: those that changed are marked, right ones
 * and wrong ones each in their way.
 */
function answering({ answers, first }) {
  const [before, after, right] = answers.map((text) => [...text]);
  if (!before.some((letter, i) => letter !== after[i])) {
    return [label(t(TEXT.answers)), note(t(TEXT.unchanged, { n: before.length }))];
  }
  const letter = (text, i) => {
    if (before[i] === after[i]) return document.createTextNode(mark(text[i]));
    const title = t(TEXT.letter, {
      i: i + first,
      before: mark(before[i]),
      after: mark(after[i]),
      right: mark(right[i]),
    });
    return el(text === after ? "ins" : "del", {
      class: text[i] === right[i] ? "is-right" : "is-wrong",
      title,
      text: mark(text[i]),
    });
  };
  const row = (which, text) =>
    boxOf(which, t(TEXT.answers), ...text.map((_, i) => letter(text, i)));
  return [label(t(TEXT.answers)), row("before", before), row("after", after)];
}

export function below(run, look) {
  const side = sideOf(run, look);
  const own = side?.answers ? answering(side) : side?.written ? writing(side.written) : [];
  const rest = run.rest.map((one) =>
    el(
      "p",
      { class: "tfe-note" },
      el("b", { text: t(one.name) }),
      ` · ${t(one.unreached ?? TEXT.unreached, { n: number(one.number.before) })}`,
    )
  );
  return own.length || rest.length
    ? [el("div", { class: "tfe-changed-below tfe-controls" }, ...own, ...rest)]
    : [];
}

export function table(run, look) {
  const side = sideOf(run, look);
  if (!side) return comparison(each).table(run);
  const step = side.segment || ROUGH;
  const cut = upTo(
    Math.ceil(side.count / step),
    (n) => [n + 1, means(side, n * step, Math.min(side.count, (n + 1) * step))],
  );
  const whole = [
    [t(TEXT.given), means(side, 0, side.given)],
    ...(side.given < side.count ? [[t(TEXT.written), means(side, side.given, side.count)]] : []),
  ];
  const columns = [
    side.segment ? TEXT.segment : TEXT.stretch,
    TEXT.positions,
    TEXT.before,
    TEXT.after,
    TEXT.difference,
  ];
  const rows = [...cut, ...whole].map((
    [name, row],
  ) => [
    name,
    `${row.first + side.first}–${row.end - 1 + side.first}`,
    ...[row.before, row.after, row.difference].map((value) => Number(value.toFixed(2))),
  ]);
  return {
    caption: t(TEXT.caption, { model: t(side.name) }),
    columns: columns.map((column) => t(column)),
    rows,
  };
}

/** Every character as it came, in bits. */
export function lines(run) {
  const columns = [
    "model",
    "position",
    "character",
    "given",
    "before_bits",
    "after_bits",
    "difference_bits",
  ];
  const rows = run.sides.flatMap((side) =>
    Array.from(
      side.before,
      (
        was,
        i,
      ) => [
        side.key,
        i + side.first,
        side.letters[i] ?? "",
        Number(i < side.given),
        was,
        side.after[i],
        side.after[i] - was,
      ],
    )
  );
  return { columns, rows };
}

export const common = comparison(each);
export const looks = { model: "choice", pos: "positions" };
export const resets = ["pos"];
export const hovers = true;

export function bounds(run, look) {
  const side = sideOf(run, look.model ? look : { model: run.pick?.model });
  return {
    model: {
      names: run.sides.map(({ key }) => key),
      pick: sideOf(run, { model: run.pick?.model })?.key,
    },
    pos: {
      count: side ? side.first + side.count : 0,
      first: side?.first ?? 0,
      pick: run.pick?.pos ?? null,
    },
  };
}

export const arrays = (run) =>
  Object.fromEntries(run.sides.flatMap((side) => [
    ...["before", "after"].map((
      which,
    ) => [`${side.key}.${which}_bits`, filed(side[which], "character", "bits")]),
    [`${side.key}.given`, { shape: [], data: [side.given] }],
  ]));
export const legend = (
  run,
) => (run.sides.length
  ? [["dearer", 1], ["cheaper", 0]].map(([name, at]) => ({
    text: t(TEXT[name]),
    mark: { fill: shade("signed", at), wide: 12, tall: 12 },
  }))
  : []);
export const choices = (
  run,
) => (run.sides.length > 1
  ? [{
    key: "model",
    label: t(TEXT.models),
    options: run.sides.map((side) => ({
      value: side.key,
      label: `${t(side.name)} ${
        plus(side.number.after - side.number.before, digitsOf(side.number))
      }`,
    })),
  }]
  : []);

// The text that one or two models read and wrote: every character with its loss below it, and those
// that a head looked at to say it. A long text scrolls; at the right edge it stands in small. Only
// exact weights are fetched. The value is made by explorer/figures/reading.py.

import { filed, upTo } from "../lib/arrays.js";
import { parts, t } from "../lib/lang.js";
import { byCharacter, looksOf } from "../lib/exact_rows.js";
import { headOf, modelOf, modelsOf, oneOf, sameText } from "../lib/selection.js";
import { keysOf } from "./patternmath.js";
import { around, colour, ramp, shade } from "../lib/pen.js";
import { bits, count, named, percent, rounded, sign, weight } from "../lib/signs.js";
import { dark } from "../lib/theme.js";

export const TEXT = {
  question: {
    en: "Where does the model look to predict the next character?",
    zh: "预测下一个字符时，模型看向哪里？",
  },
  board: {
    en:
      "{title}. Left and right step through characters, up and down through heads, Space plays, " +
      "Escape resets.",
    zh: "{title}。左右键逐字符移动，上下键换头，空格播放，Esc 复位。",
  },
  query: { en: "chosen character", zh: "选中的字符" },
  key: { en: "where the head looks", zh: "这个头所看之处" },
  may: { en: "what its pattern allows", zh: "模式允许看的" },
  written: { en: "written", zh: "写下的" },
  unknown: { en: "unknown", zh: "不认识的" },
  beyond: { en: "out of its reach", zh: "看不到的" },
  segments: { en: "segment", zh: "片段" },
  loss: { en: "loss, 0 to {n} bits and more", zh: "损失，0 至 {n} 比特及以上" },
  model: { en: "Model in view", zh: "所看的模型" },
  per: { en: "bits per character", zh: "每字符比特数" },
  perGiven: { en: "given", zh: "给定" },
  perWritten: { en: "written", zh: "写下" },
  border: {
    en: "The first {n} characters {n|was|were} given; the rest, on green, each model wrote itself.",
    zh: "前 {n} 个字符是给定的；其余（绿底）由各模型自己写下。",
  },
  borderAlike: {
    en:
      "The first {n} characters {n|was|were} given; the rest, on green, is the same text for both.",
    zh: "前 {n} 个字符是给定的；其余（绿底）两边是同一段文字。",
  },
  borderOne: {
    en: "The first {n} characters {n|was|were} given; the rest, on green, was written.",
    zh: "前 {n} 个字符是给定的；其余（绿底）是写下的。",
  },
  allGiven: {
    en: "All {n} characters {n|was|were} given; nothing was written.",
    zh: "全部 {n} 个字符都是给定的，没有续写。",
  },
  allWritten: {
    en: "Nothing was given; all {n} characters {n|was|were} written.",
    zh: "没有给定文本；全部 {n} 个字符都是写下的。",
  },
  unknownNote: {
    en: "{n} characters that the model does not know are all read as one unknown character.",
    zh: "模型不认识的 {n} 个字符都读作同一个未知字符。",
  },
  unknownOne: {
    en: "One character that the model does not know is read as the unknown character.",
    zh: "有 1 个模型不认识的字符，读作未知字符。",
  },
  strip: { en: "The right edge shows the whole text in small.", zh: "右缘是整段文本的缩略。" },
  stripLooks: {
    en: "The right edge shows the whole text in small, and where the head looks.",
    zh: "右缘是整段文本的缩略，并标出这个头所看之处。",
  },
  growingNote: {
    en: "The heads appear once everything is read.",
    zh: "全部读完后即可查看各个头所看之处。",
  },
  from: { en: "from your last text", zh: "来自上一段文本" },
  growing: {
    en: "{n} of {of} characters are read or written; the last one, {char}, cost {bits} bits.",
    zh: "已读或写 {n} / {of} 个字符；最后一个 {char} 花了 {bits} 比特。",
  },
  growingNone: {
    en: "{n} of {of} characters are read or written.",
    zh: "已读或写 {n} / {of} 个字符。",
  },
  none: {
    en: "Choose a character to see what it cost and where the heads looked to predict it.",
    zh: "选一个字符，看它花了多少比特、各个头为预测它看了哪里。",
  },
  seek: { en: "Place in the text", zh: "文本中的位置" },
  place: { en: "{n} / {of}", zh: "{n} / {of}" },
  inSegment: { en: "segment {n}", zh: "第 {n} 片段" },
  isGiven: { en: "given", zh: "给定" },
  isUnknown: { en: "unknown to the model", zh: "模型不认识" },
  cardBits: { en: "{name}: {n} bits", zh: "{name}：{n} 比特" },
  cardOther: { en: "{name}: {char}, {n} bits", zh: "{name}：{char}，{n} 比特" },
  cardWeight: { en: "{q} looks at it with {w}", zh: "{q} 给它的权重 {w}" },
  position: { en: "position", zh: "位置" },
  character: { en: "character", zh: "字符" },
  bits: { en: "loss, bits", zh: "损失，比特" },
  weight: { en: "weight of {head}", zh: "{head} 的权重" },
  origin: { en: "origin", zh: "来源" },
  caption: { en: "Every character and what it cost", zh: "每个字符及其花费" },
};
const [WIDE, SLIM] = [64, 32]; // characters of a row, where there is room for them and where there is less
const GAP = 30; // px between two texts
const TALLEST = 460; // px of the text on the page
const PACE = 32; // characters a second, when it is played
const BLANK = new Set([32, 9, 10, 0xa0, 0x3000]);

const finished = (run) => run.state !== "running";
const longest = (run) => Math.max(...run.models.map((model) => model.count));
const last = (look) => look.pos.at(-1);

export function read(value, { again }) {
  if (!value.models?.length) return null;
  const models = value.models.map((model) => {
    const codes = Uint32Array.from(model.text, (letter) => letter.codePointAt(0));
    return {
      ...model,
      codes,
      nats: model.nats.data,
      first: model.first_seen?.data ?? null,
      count: codes.length,
    };
  });
  const least = Math.min(...models.map((model) => model.count));
  const parted = models[0].codes.subarray(0, least)
    .findIndex((code, i) => models.some((model) => model.codes[i] !== code));
  return {
    ...value,
    models,
    strange: new Set(value.unknown.data),
    shared: parted < 0 ? least : parted,
    looks: looksOf(again, value.kept),
  };
}

/**
 * What a head's row says of a position: weights by column, the largest, and the shares of the
 * memory and of another text's. Column j has read character j − 1.
 */
function lookOf(run, model, look, position, pointed = false) {
  if (!finished(run) || !model.heads || position === undefined) return null;
  const all = run.looks.of(model.look, ...headOf(look.head), position, model.count, pointed);
  if (!all) return null;
  const sum = (from, to) => all.subarray(from, to).reduce((a, b) => a + b, 0);
  const first = model.first?.[position] ?? 0;
  const weights = all.subarray(0, model.count); // what comes behind belongs to another text's memory
  const best = weights.reduce((most, w, j) => (w > weights[most] ? j : most), 0);
  const memory = sum(0, first);
  return {
    position,
    all,
    weights,
    best,
    most: weights[best],
    from: model.first ? Math.max(0, first - model.memory - 1) : 0,
    foreign: sum(model.count),
    memory: model.first && (model.memory || memory > 0) ? memory : null,
  };
}

/**
 * Which characters a position's pattern lets it look at; null where that is everything before it.
 */
const sees = (
  { pattern },
  position,
) => (pattern && position !== undefined
  ? new Set(keysOf(pattern, "union", position).map((column) => column - 1).filter((at) => at >= 0))
  : null);

// ── where everything stands ──
/** How many characters a row holds, so that segments begin at its start or divide it evenly. */
function rowLength(wanted, segment) {
  if (!segment || segment % wanted === 0 || wanted % segment === 0) return wanted;
  for (let n = Math.min(wanted, segment); n > wanted / 4; n -= 1) if (segment % n === 0) return n;
  return wanted;
}

function place(run, chosen, { width, narrow, big, tall, small }) {
  const left = Math.ceil(String(Math.max(99, run.of - 1)).length * small * 0.6) + (big ? 14 : 10);
  const strip = big ? 16 : 10; // the whole text in small, at the right edge
  const right = (run.segment ? (big ? 44 : 28) : 8) + strip;
  const part = run.segment || chosen.pattern?.l || 0; // rows as long as the blocks of a pattern show it as it is meant
  const cellOf = (list, wanted) =>
    (width - left - right - GAP * (list.length - 1)) / list.length / rowLength(wanted, part);
  const ways = [
    ...(narrow || run.models.length < 2 ? [] : [[run.models, WIDE], [run.models, SLIM]]),
    ...(narrow ? [] : [[[chosen], WIDE]]),
    [[chosen], SLIM],
  ];
  // before a hall a short text stands large
  const few = big && run.models.length === 1 && !part && Math.ceil(run.of / SLIM) * 92 + 72 <= tall;
  const [shown, wanted] = few
    ? [[chosen], SLIM]
    : ways.find((way) => cellOf(...way) >= (big ? 12.5 : 6.5)) ??
      ways.at(-1);
  const columns = rowLength(wanted, part);
  const exact = Math.min(few ? 30 : big ? 20 : 12, cellOf(shown, wanted));
  const cell = exact >= 8 ? Math.floor(2 * exact) / 2 : exact;
  const font = Math.max(12, Math.min(few ? 48 : big ? 28 : 17, cell / 0.6));
  const [line, bar, head] = [Math.round(font * 1.32), big ? 14 : 9, big ? 72 : 46];
  const row = line + bar + (big ? 12 : 7);
  const rows = Math.max(1, Math.ceil(run.of / columns));
  const texts = shown.map((model, n) => ({ model, x: left + n * (columns * cell + GAP) }));
  const seen = Math.min(rows, Math.max(1, Math.floor(((tall || TALLEST) - head) / row)));
  return {
    texts,
    columns,
    cell,
    font,
    small,
    line,
    bar,
    row,
    rows,
    seen,
    head,
    strip,
    left,
    wide: columns * cell,
    right: left + texts.length * (columns * cell + GAP) - GAP + right,
    y: (n) => head + n * row,
  };
}

export function scene(run, look, pen) {
  const chosen = modelOf(run, look);
  const at = place(run, chosen, pen);
  const over = look.over?.model === chosen.key ? look.over.pos : undefined;
  const locked = finished(run) ? look.pos.filter((position) => position < chosen.count) : [];
  const asks = over ?? locked.at(-1);
  const lit = lookOf(run, chosen, look, asks, over !== undefined) ??
    lookOf(run, chosen, look, locked.at(-1));
  const played = finished(run) && look.read < longest(run) ? look.read : null;
  const rowOf = (position) => Math.floor(position / at.columns);
  const kept = finished(run) ? (played ?? locked.at(-1)) : Math.max(0, longest(run) - 1);
  // it leaves the page
  pen.top ??= at.row *
    Math.max(0, Math.min(at.rows - at.seen, rowOf(kept ?? 0) - Math.floor(at.seen / 2)));
  const first = Math.max(0, Math.floor(pen.top / at.row));
  const end = Math.min(at.rows, Math.ceil(pen.top / at.row) + at.seen);
  const how = {
    run,
    at,
    locked,
    lit,
    may: finished(run) ? sees(chosen, asks) : null,
    asks,
    played,
    chosen,
  };
  const rows = () => {
    for (let n = first; n < end; n += 1) {
      gutters(pen, how, n);
      for (const text of at.texts) drawRow(pen, { ...how, ...text, own: text.model === chosen }, n);
    }
    for (const { model, x } of at.texts) {
      if (model === chosen && lit?.best) outline(x, lit.best - 1, "key", 2);
      for (const position of locked) {
        if (position < model.count) outline(x, position, "query", model === chosen ? 2.5 : 1.5);
      }
    }
  };
  const outline = (x, position, line, width) => {
    if (position < first * at.columns || position >= end * at.columns) return;
    const [left, top] = [x + (position % at.columns) * at.cell, at.y(rowOf(position))];
    const box = { x0: left - 0.5, x1: left + at.cell + 0.5, y0: top, y1: top + at.line + 2 };
    pen.rect(around(box, 1), { line: "panel", width: width + 1.5, radius: 3 });
    pen.rect(box, { line, width, radius: 2 });
  };
  pen.group(0, 0, rows, {
    x0: 0,
    x1: at.right,
    y0: pen.top + at.head - 5,
    y1: pen.top + at.y(at.seen) + 2,
  });
  above(pen, how);
  small(pen, how);
  const spot = ({ model, x }, position) => {
    const box = { x0: x + (position % at.columns) * at.cell, y0: at.y(rowOf(position)) };
    return {
      ...box,
      x1: box.x0 + at.cell,
      y1: box.y0 + at.row,
      look: finished(run) ? { model: model.key, pos: position } : undefined,
      card: () => card(run, look, model, position),
    };
  };
  pen.hit({
    x0: 0,
    y0: at.head,
    x1: at.right,
    y1: at.y(at.rows),
    at(x, y) {
      const text = at.texts.find((one) => x >= one.x && x < one.x + at.wide);
      const position = text &&
        Math.floor((y - at.head) / at.row) * at.columns + Math.floor((x - text.x) / at.cell);
      return text && y >= pen.top + at.head && position < text.model.count
        ? spot(text, position)
        : null;
    },
    of: (
      position,
    ) => (position < chosen.count
      ? spot(at.texts.find(({ model }) => model === chosen), position)
      : null),
  });
  pen.size(
    at.right,
    at.y(at.rows),
    kept === undefined ? null : { y0: rowOf(kept) * at.row, y1: at.y(rowOf(kept) + 1) },
    at.y(at.seen),
  );
}

/** The number of a row's first character, and the segments that begin in it. */
function gutters(pen, { run, at }, n) {
  const [position, y] = [n * at.columns, at.y(n)];
  const middle = y + at.line / 2 + 1;
  pen.text(at.left - (pen.big ? 12 : 8), middle, position, {
    size: at.small,
    colour: "ink3",
    align: "right",
  });
  if (!run.segment) return;
  const [from, to] = [
    Math.ceil(position / run.segment),
    Math.floor((Math.min(run.of, position + at.columns) - 1) / run.segment),
  ];
  const x = at.right - at.strip - (pen.big ? 44 : 28) + 7;
  if (n && position % run.segment === 0) {
    pen.rect({ x0: at.left - 4, x1: at.right - at.strip - 4, y0: y - 1.5, y1: y - 0.5 }, {
      fill: "line",
    });
  }
  pen.rect({ x0: x, x1: x + 1.5, y0: y + (from <= to ? 2 : -4), y1: y + at.row - 4 }, {
    fill: "control",
  });
  if (from <= to) {
    pen.text(x + 6, middle, from === to ? from + 1 : `${from + 1}–${to + 1}`, {
      size: at.small,
      weight: 600,
    });
  }
}

function drawRow(pen, { run, at, model, x: left, own, locked, lit, may, asks, played }, n) {
  const [begin, y] = [n * at.columns, at.y(n)];
  const end = Math.min(model.count, begin + at.columns);
  const box = (i, to = i + 1) => ({
    x0: left + (i - begin) * at.cell,
    x1: left + (to - begin) * at.cell,
    y0: y,
    y1: y + at.line + 2,
  });
  const bare = Math.max(begin, run.given);
  if (bare < end) pen.rect(box(bare, end), { fill: "out-soft" });
  if (own && lit && begin < Math.min(end, lit.from)) {
    pen.rect(box(begin, Math.min(end, lit.from)), { fill: "sunk" });
  }
  const floor = y + at.line + 2 + at.bar;
  const trim = (at.cell > 9 ? 2.5 : 1.5) / 2;
  for (let i = begin; i < end; i += 1) {
    const here = box(i);
    const allowed = own && may?.has(i);
    const w = own && lit && i + 1 < lit.weights.length ? lit.weights[i + 1] / (lit.most || 1) : 0;
    if ((allowed || w > 0.01) && i >= run.given) pen.rect(here, { fill: "panel" }); // blue on green would be neither
    if (allowed) pen.rect(here, { fill: "key-soft" });
    if (run.strange.has(i)) {
      pen.rect(here, { fill: "sunk" });
      pen.line(here.x0 + 1, here.y1 - 1, here.x1, here.y1 - 1, {
        line: "ink2",
        width: 1.5,
        dash: [1.5, 2],
      });
    }
    if (w > 0.01) pen.rect(here, { fill: "key", alpha: w * (dark() ? 0.5 : 0.72) }); // ink on it stays legible
    const chosen = own && locked.includes(i);
    if (chosen) pen.rect(here, { fill: "query-soft" });
    if (run.segment && i && i % run.segment === 0) {
      pen.rect({
        x0: here.x0 - (i === begin ? 3.5 : 0.5),
        x1: here.x0 + (i === begin ? -2.5 : 0.5),
        y0: y - 1,
        y1: floor,
      }, { fill: "control" });
    }
    const cost = model.nats[i] / Math.LN2 / run.worst;
    pen.rect({
      x0: here.x0 + trim,
      x1: here.x1 - trim,
      y0: floor - Math.max(1, at.bar * Math.min(1, cost)),
      y1: floor,
    }, { fill: shade("surprise", cost) });
    const code = model.codes[i];
    if (BLANK.has(code) && code !== 10) continue;
    const mark = sign(code);
    const strange = mark.startsWith("U+");
    const ink = code === 10 || strange || (own && may && i < asks && !allowed)
      ? "ink3"
      : chosen
      ? "query"
      : i >= run.given && w <= 0.15
      ? "out"
      : "ink";
    pen.text((here.x0 + here.x1) / 2, y + at.line / 2 + 1, strange ? "▯" : mark, {
      size: code < 0x300 ? at.font : Math.min(at.font, at.cell),
      face: "mono",
      align: "center",
      colour: ink,
    });
  }
  if (played === null || played >= end) return;
  pen.rect({ ...box(Math.max(begin, played), end), y1: y + at.row - 4 }, {
    fill: "panel",
    alpha: 0.72,
  });
  if (played >= begin) {
    pen.rect(
      { ...box(played), x1: box(played).x0 + 1, x0: box(played).x0 - 1, y1: y + at.row - 3 },
      { fill: "ink" },
    );
  }
}

/** "bits per character: given 1.83 · written 1.31" */
const perCharacter = (model) =>
  `${t(TEXT.per)}: ${
    ["given", "written"].filter((name) => model.bits[name] !== null).map((name) =>
      `${t(name === "given" ? TEXT.perGiven : TEXT.perWritten)} ${model.bits[name].toFixed(2)}`
    ).join(" · ")
  }`;

/**
 * Above each text, whatever was scrolled: its model, what sets it apart, and what the characters
 * cost it.
 */
function above(pen, { run, at, chosen }) {
  for (const { model, x } of at.texts) {
    const room = at.texts.length > 1 ? at.wide : at.right - at.left;
    const [name, bold] = [t(model.name), { size: pen.big ? 22 : 14, weight: 650, colour: "ink" }];
    pen.text(x, pen.top + at.head * 0.22, name, bold);
    pen.text(x + pen.measure(name, bold) + 8, pen.top + at.head * 0.22, t(model.about), {
      size: at.small,
      colour: "ink3",
      room: room - pen.measure(name, bold) - 8,
    });
    pen.text(x, pen.top + at.head * 0.6, perCharacter(model), { size: at.small, room });
    pen.rect({ x0: x, x1: x + room, y0: pen.top + at.head - 8, y1: pen.top + at.head - 6 }, {
      fill: model === chosen && run.models.length > 1 ? "accent" : "line",
    });
  }
}

/**
 * The whole text in small: which rows are in view, where the lock is, and what its head looks at.
 */
function small(pen, { run, at, locked, lit }) {
  if (at.seen >= at.rows) return;
  const [x0, x1, top, part] = [
    at.right - at.strip + 3,
    at.right - 1,
    pen.top + at.head,
    (at.seen / at.rows) * at.row,
  ];
  const row = (n, more = 0) => ({
    x0: x0 - more,
    x1: x1 + more,
    y0: top + n * part,
    y1: top + n * part + Math.max(2, part),
  });
  pen.rect({ ...row(0), y1: top + at.rows * part }, { fill: "sunk" });
  if (run.given < run.of) {
    pen.rect({ ...row(Math.floor(run.given / at.columns)), y1: top + at.rows * part }, {
      fill: "out-soft",
    });
  }
  const sums = new Float32Array(at.rows);
  lit?.weights.forEach((w, j) => j && (sums[Math.floor((j - 1) / at.columns)] += w));
  const most = Math.max(...sums) || 1;
  sums.forEach((w, n) =>
    w / most > 0.02 && pen.rect(row(n), { fill: "key", alpha: Math.max(0.15, w / most) })
  );
  for (const position of locked) {
    pen.rect(row(Math.floor(position / at.columns), 1), { fill: "query" });
  }
  pen.rect({ ...row(pen.top / at.row, 1), y1: top + (pen.top / at.row + at.seen) * part }, {
    line: "ink2",
    width: 1.5,
    radius: 2,
  });
}

// ── in words and numbers ──
function card(run, look, model, position) {
  const [locked, held] = [last(look), lookOf(run, modelOf(run, look), look, last(look))];
  const origin = [
    t(position < run.given ? TEXT.isGiven : TEXT.perWritten),
    ...(run.strange.has(position) ? [t(TEXT.isUnknown)] : []),
  ].join(" · ");
  const costs = run.models.filter((other) => position < other.count)
    .map((other) =>
      t(other.codes[position] === model.codes[position] ? TEXT.cardBits : TEXT.cardOther, {
        name: t(other.name),
        n: bits(other.nats[position]),
        char: named(other.codes[position], position),
      })
    );
  const looks = held && model.key === look.model && position < locked
    ? [
      t(TEXT.cardWeight, {
        q: `${sign(model.codes[locked])}·${locked}`,
        w: weight(held.weights[position + 1]),
      }),
    ]
    : [];
  return [`${sign(model.codes[position])}·${position} · ${origin}`, ...costs, ...looks];
}

export function legend(run) {
  const heads = finished(run) && run.models.some((model) => model.heads);
  const entries = [
    [heads, TEXT.query, { fill: "query-soft", line: "query", width: 2, radius: 2 }],
    [heads, TEXT.key, { fill: colour("key", 0.72), radius: 2 }],
    [heads && run.models.some((model) => model.pattern), TEXT.may, {
      fill: "key-soft",
      line: "key",
      radius: 2,
    }],
    [run.of > run.given, TEXT.written, { fill: "out-soft", line: "out", radius: 2 }],
    [heads && run.models.some((model) => model.first), TEXT.beyond, {
      fill: "sunk",
      line: "control",
      radius: 2,
    }],
    [run.strange.size, TEXT.unknown, { fill: "sunk", line: "ink2", dash: [1.5, 2] }],
    [run.segment, TEXT.segments, { fill: "control", wide: 2 }],
    [true, TEXT.loss, ramp("surprise", 80)],
  ];
  return entries.filter(([there]) => there).map(([, text, mark]) => ({
    text: t(text, { n: run.worst }),
    mark,
  }));
}

/** What was given and what was written. */
export function below(run, look) {
  const whole = longest(run);
  const remarks = run.state === "stale" ? [t(TEXT.from)] : [];
  if (!finished(run)) remarks.push(t(TEXT.growingNote));
  else if (run.given >= whole) remarks.push(t(TEXT.allGiven, { n: count(whole) }));
  else {remarks.push(t(
      run.given === 0
        ? TEXT.allWritten
        : run.models.length === 1
        ? TEXT.borderOne
        : run.shared === whole
        ? TEXT.borderAlike
        : TEXT.border,
      { n: count(run.given || whole) },
    ));}
  if (run.of > 6 * WIDE) {
    remarks.push(t(modelOf(run, look).heads && finished(run) ? TEXT.stripLooks : TEXT.strip));
  }
  if (run.strange.size) {
    remarks.push(
      t(run.strange.size === 1 ? TEXT.unknownOne : TEXT.unknownNote, {
        n: count(run.strange.size),
      }),
    );
  }
  return [remarks.join(" ")];
}

const SAY = {
  paid: { en: "{name} paid {cost}", zh: "{name}付出 {cost}" },
  has: { en: "{name} has “{sign}” here, for {cost}", zh: "{name}在此处是 “{sign}”，花了 {cost}" },
  comma: { en: ", ", zh: "，" },
  others: { en: " ({all})", zh: "（{all}）" },
  cost: { en: "Character {q} cost {cost} bits{others}", zh: "字符{q}花了 {cost} 比特{others}" },
  may: {
    en: "; its pattern lets it look at {may} of the {before} before it",
    zh: "；模式允许它看之前 {before} 个中的 {may} 个",
  },
  waits: { en: "; {why}", zh: "；{why}" },
  way: { en: "the weights are on their way …", zh: "权重正在路上……" },
  gives: { en: "; head {head} gives {k} {w}", zh: "；头 {head} 给{k}{w}" },
  givesStart: { en: "; head {head} gives {k} {w}", zh: "；头 {head} 给{k} {w}" },
  start: { en: "the start", zh: "开头" },
  foreign: {
    en: "; {share} of its attention goes to another book’s memory",
    zh: "；{share} 的注意力落在另一本书的记忆上",
  },
  memory: {
    en: "; {share} of its attention goes to the memory",
    zh: "；{share} 的注意力落在记忆上",
  },
  end: { en: ".", zh: "。" },
  chosen: { en: " {n} characters are chosen.", zh: "共选中 {n} 个字符。" },
};

/**
 * What another model did where `position` is: paid for the same character, or wrote one of its own.
 */
function beside(run, model, position) {
  // Where their texts have parted, even the same sign is said after something else.
  const said = run.models.filter((other) => other !== model && position < other.count).map((
    other,
  ) =>
    t(position < run.shared ? SAY.paid : SAY.has, {
      name: t(other.name),
      cost: bits(other.nats[position]),
      sign: sign(other.codes[position]),
    })
  );
  return said.length ? t(SAY.others, { all: said.join(t(SAY.comma)) }) : "";
}

export function sentence(run, look) {
  const [model, position] = [modelOf(run, look), last(look)];
  if (!finished(run)) {
    const end = model.count - 1;
    const how = { n: count(Math.min(...run.models.map((each) => each.count))), of: count(run.of) };
    return [
      t(
        end < 0 ? TEXT.growingNone : TEXT.growing,
        end < 0
          ? how
          : { ...how, char: `“${sign(model.codes[end])}”`, bits: bits(model.nats[end]) },
      ),
    ];
  }
  if (position === undefined || position >= model.count) return [t(TEXT.none)];
  const may = sees(model, position);
  const lit = model.heads ? lookOf(run, model, look, position) : null;
  const told = {
    q: { text: named(model.codes[position], position), role: "query" },
    cost: bits(model.nats[position]),
    others: beside(run, model, position),
    before: count(position),
    head: look.head?.replace(".", "·"),
    n: look.pos.length,
  };
  if (may) told.may = count(may.size);
  if (lit) {
    told.k = {
      text: lit.best ? named(model.codes[lit.best - 1], lit.best - 1) : t(SAY.start),
      role: "key",
    };
    told.w = weight(lit.most);
    told.share = percent(lit.foreign > 0.0005 ? lit.foreign : lit.memory);
  } else told.why = run.looks.trouble() || t(SAY.way);
  const goes = lit && (lit.foreign > 0.0005 ? "foreign" : lit.memory !== null ? "memory" : null);
  const said = [
    "cost",
    may && "may",
    model.heads && (lit ? (lit.best ? "gives" : "givesStart") : "waits"),
    goes,
    (lit || !model.heads) && "end",
    lit && look.pos.length > 1 && "chosen",
  ];
  return said.filter(Boolean).flatMap((key) => parts(SAY[key], told));
}

/** Where all texts are the same, a character stands there once. */
export function table(run, look) {
  const model = modelOf(run, look);
  const lit = lookOf(run, model, look, last(look));
  const whole = longest(run);
  const apart = run.shared !== whole;
  const name = (text, each) => (run.models.length > 1 ? `${t(text)}, ${t(each.name)}` : t(text));
  const columns = [
    t(TEXT.position),
    t(TEXT.origin),
    ...(apart ? [] : [t(TEXT.character)]),
    ...run.models.flatMap((
      each,
    ) => [...(apart ? [name(TEXT.character, each)] : []), name(TEXT.bits, each)]),
    ...(lit ? [t(TEXT.weight, { head: look.head })] : []),
  ];
  const rows = upTo(whole, (i) => {
    const each = run.models.flatMap((
      one,
    ) => [
      ...(apart ? [i < one.count ? sign(one.codes[i]) : null] : []),
      i < one.count ? rounded(one.nats[i] / Math.LN2) : null,
    ]);
    const origin = [
      t(i < run.given ? TEXT.isGiven : TEXT.perWritten),
      ...(run.strange.has(i) ? [t(TEXT.unknown)] : []),
    ].join(" · ");
    return [
      i,
      origin,
      ...(apart ? [] : [sign(model.codes[i])]),
      ...each,
      ...(lit ? [i < lit.position ? Math.round(1e6 * lit.weights[i + 1]) / 1e6 : null] : []),
    ];
  });
  return {
    caption: t(TEXT.caption),
    columns,
    rows,
    here: finished(run) ? (last(look) ?? null) : null,
  };
}

export function arrays(run, look) {
  const model = modelOf(run, look);
  const lit = lookOf(run, model, look, last(look));
  const whole = (list, more) => ({ shape: [list.length], data: Int32Array.from(list), ...more });
  return {
    given: whole([run.given]),
    segment: whole([run.segment]),
    unknown: whole([...run.strange], { unit: "position" }),
    ...Object.fromEntries(
      run.models.flatMap((
        { key, codes, nats },
      ) => [[`${key}_characters`, filed(Int32Array.from(codes), "character", "code point")], [
        `${key}_nats`,
        filed(nats, "character", "nats"),
      ]]),
    ),
    ...(lit ? byCharacter(lit.all, model.count) : {}),
    looked_at: [`${model.key}, head ${look.head}, position ${last(look) ?? "none"}`],
  };
}

export const same = (was, run, { pos }) =>
  was.models[0].layers === run.models[0].layers &&
  sameText(was, run, pos, ({ models: [{ codes }] }) => codes);

export const looks = { model: "choice", head: "head", pos: "positions", read: "step" };
export const hovers = true;
export const along = "pos";
export const resets = ["model", "head", "pos", "read"];

export function bounds(run, look) {
  const [model, pick] = [modelOf(run, look), run.pick ?? {}];
  const here = finished(run) && model.count
    ? Math.min(model.count - 1, pick.pos ?? Math.floor(0.7 * model.count))
    : undefined;
  return {
    model: modelsOf(run),
    head: {
      layers: model.layers || Infinity,
      heads: model.heads || Infinity,
      pick: pick.head ?? "1.1",
    },
    pos: { count: finished(run) ? model.count : run.of, pick: here },
    read: { steps: Math.max(1, longest(run)) },
  };
}

export const move = (run, look, key) => (key === "head" && !modelOf(run, look).heads ? {} : null);
export const choices = (run) => [oneOf("model", TEXT.model, run.models)];

export function clock(run) {
  const of = longest(run);
  const says = (n) =>
    t(TEXT.place, { n: count(n), of: count(of) }) +
    (run.segment ? ` · ${t(TEXT.inSegment, { n: Math.floor((n - 1) / run.segment) + 1 })}` : "");
  return finished(run) && of
    ? { key: "read", pace: 1000 / PACE, stride: 16, says, texts: { seek: TEXT.seek } }
    : null;
}

export const waits = (run, look) =>
  finished(run) && modelOf(run, look).heads > 0 && look.pos.length > 0 &&
  !lookOf(run, modelOf(run, look), look, last(look)) && !run.looks.trouble();
export const keeps = (run) => ({ kept: run.looks.held() });

// A text read segment by segment: what is computed, what is remembered, where gradients stop, and
// how far information travels; below it the segment in view enlarged, with the share of attention
// that crosses its border. The value is made by explorer/labs/transformer_xl/figures/segments.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { headOf, KINDS, modelOf, modelsOf, oneOf, sameText } from "../../frontend/lib/selection.js";
import { byCharacter, looksOf } from "../../frontend/lib/exact_rows.js";
import { colour } from "../../frontend/lib/pen.js";
import { count as whole, named, sign, weight } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: {
    en: "What is remembered, and how far back does it reach?",
    zh: "什么被记住，又能追溯多远？",
  },
  computed: { en: "computed now", zh: "正在计算" },
  none: { en: "remembered, no gradient", zh: "被记住，无梯度" },
  shuffled: { en: "remembered, order broken", zh: "被记住，顺序打乱" },
  foreign: { en: "memory of another text", zh: "另一文本的记忆" },
  lineBreak: { en: "the line break before the text", zh: "文本之前的换行" },
  foreignOf: { en: "memory of {book}", zh: "{book}的记忆" },
  asks: { en: "chosen character and its reach", zh: "选中的字符及其所及" },
  gone: { en: "gone", zh: "已丢弃" },
  later: { en: "not read yet", zh: "尚未读取" },
  stops: { en: "gradient stops here", zh: "梯度到此为止" },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  inputs: { en: "inputs", zh: "输入" },
  positions: { en: "character", zh: "字符" },
  after: { en: "after {n} {n|layer|layers}: {back} back", zh: "{n} 层后：往回 {back}" },
  short: { en: "{n}: −{back}", zh: "{n}：−{back}" },
  share: {
    en: "share of attention that crosses the border, to the memory",
    zh: "越过边界、给予记忆的注意力份额",
  },
  shareShort: { en: "share that goes to the memory", zh: "给予记忆的份额" },
  nothing: { en: "nothing is remembered: nothing crosses", zh: "没有记忆：无物越过边界" },
  firstSegment: {
    en: "the first segment: nothing is remembered yet",
    zh: "第一个片段：还没有记忆",
  },
  waits: { en: "once the text is read", zh: "读完文本之后显示" },
  model: { en: "Model in view", zh: "所看的模型" },
  before: { en: "Previous segment", zh: "上一个片段" },
  next: { en: "Next segment", zh: "下一个片段" },
  play: { en: "Play segment by segment", zh: "逐片段播放" },
  place: { en: "segment {n} of {of}", zh: "片段 {n} / {of}" },
  head: { en: "head {head}", zh: "头 {head}" },
  mean: { en: "mean of heads", zh: "各头平均" },
  heads: { en: "Whose share", zh: "谁的份额" },
  board: {
    en: "{title}. Left and right go from segment to segment, up and down through heads, Space " +
      "plays, Escape resets.",
    zh: "{title}。左右键换片段，上下键换头，空格播放，Esc 复位。",
  },
  cardGone: {
    en: "segment {n}: gone; what later segments know of it has travelled through memories",
    zh: "片段 {n}：已丢弃；后面的片段只能经由记忆得知它",
  },
  cardMemory: { en: "segment {n}: remembered, no gradient", zh: "片段 {n}：被记住，无梯度" },
  cardNow: { en: "segment {n}: computed now", zh: "片段 {n}：正在计算" },
  cardLater: { en: "segment {n}: not read yet", zh: "片段 {n}：尚未读取" },
  cardMean: {
    en: "layer {layer}, mean of heads: {w} to the memory",
    zh: "第 {layer} 层各头平均：{w} 给予记忆",
  },
  cardHead: { en: "head {head}: {w} to the memory", zh: "头 {head}：{w} 给予记忆" },
  caption: {
    en: "{model}: share of attention that goes to the memory, character by character",
    zh: "{model}：逐字符给予记忆的注意力份额",
  },
  position: { en: "position", zh: "位置" },
  number: { en: "segment", zh: "片段" },
  knows: { en: "knows of characters from", zh: "所知字符起于" },
  weight: { en: "weight of {head}", zh: "{head} 的权重" },
  from: { en: "from your last text", zh: "来自上一个文本" },
};
const PACE = 1.1; // s that a segment stands while they are played
// of the fan: px of the keys of one line, lines at most, weight from which one is drawn
const [BIN, LINES, LEAST] = [3, 70, 0.004];
// Strokes of a square of so many px: remembered in order, broken order, another text's.
const TEXTURES = {
  none: [7, "M-1 1L1 -1M0 7L7 0M6 8L8 6"],
  shuffled: [14, "M1 5L5 1M8 2L12 5M2 9L4 13M8 12L12 9M6 7L8 7"],
  foreign: [7, "M-1 6L1 8M0 0L7 7M6 -1L8 1M3.5 0L3.5 7"],
};

const finished = (run) => run.state !== "running";
const placeOf = (look) => (look.head === "mean" ? [null, null] : headOf(look.head));
const charName = (model, position) => named(model.codes[position] ?? 0, position);

export function read(value, { again }) {
  if (!value.models?.length) return null;
  const models = value.models.map((model) => {
    const codes = Array.from(model.text, (letter) => letter.codePointAt(0));
    const [across, remembered, travelled] = [model.across, model.remembered, model.travelled].map((
      one,
    ) => one?.data);
    return {
      ...model,
      chars: codes.map(sign),
      codes,
      length: codes.length,
      across,
      remembered,
      travelled,
      slots: model.remembered?.shape[1],
    };
  });
  return { ...value, models, looks: looksOf(again, value.kept) };
}

/** The segment in view, what it remembers, and where the locked character looks. */
function seen(run, look) {
  const model = modelOf(run, look);
  const position = finished(run) ? look.pos.at(-1) : undefined;
  const of = Math.max(1, Math.ceil(model.length / run.segment));
  const number = finished(run) ? Math.floor((position ?? 0) / run.segment) : of - 1;
  const first = number * run.segment;
  const end = Math.min(model.length, first + run.segment);
  const [layer, head] = placeOf(look);
  const slots = model.across
    ? Array.from(model.remembered.subarray(number * model.slots, (number + 1) * model.slots))
      .filter((key) => key >= 0)
    : [];
  const held = model.across
    ? slots.length
    : Math.min(first, run.intervention === "cut" ? 0 : model.memory);
  const weights = position !== undefined && layer !== null
    ? run.looks.of(model.look, layer, head, position, model.length)
    : null;
  return { model, position, of, number, first, end, layer, head, slots, held, weights };
}

/**
 * Share of attention to the memory at a position: of a head, or with `head` null the mean of the
 * layer's heads. Layer and head from 1.
 */
function shareAt(model, layer, head, position) {
  const of = (h) => model.across[((layer - 1) * model.heads + h) * model.length + position];
  if (head !== null) return of(head - 1);
  return upTo(model.heads, (h) => of(h)).reduce((a, b) => a + b, 0) / model.heads;
}

const heldName = (
  run,
) => (run.intervention === "foreign" && run.book
  ? t(TEXT.foreignOf, { book: t(run.book) })
  : t(TEXT[run.intervention] ?? TEXT.none));

// ── the picture ──
function place(run, { model, first }, pen) {
  const { width, narrow, big, tall, small: font } = pen;
  const [left, right, n] = [big ? 112 : narrow ? 48 : 62, big ? 24 : 12, run.layers];
  const [strip, flag, marks, ribbon, wedge, between] = big
    ? [16, 30, 34, 16, 48, 8]
    : [13, 20, 22, 10, 40, 8];
  const letters = (width - left - right) / run.segment >= 0.8 * font; // there is room for each character
  const words = letters ? font * 1.8 : narrow ? 0 : big ? 58 : 36; // the segment's own text
  let [gap, row, whole] = narrow ? [26, 40, true] : [30, 42, true];
  if (big) {
    const space = tall - flag - (n + 1) * strip - ribbon - 2 * marks - wedge - words - n * between -
      8;
    whole = space >= n * 51; // else the layers alone are shown
    gap = whole
      ? Math.max(25, Math.min(60, (0.42 * space) / n))
      : Math.max(25, (tall - flag - (n + 1) * strip - ribbon - marks) / n);
    row = Math.max(26, Math.min(72, space / n - gap));
  }
  const [total, wide] = [Math.max(1, finished(run) ? model.length : run.of), width - left - right];
  const foot = flag + n * (strip + gap) + strip;
  const rows = (whole && !big ? pen.say(foot + ribbon + marks) : foot + ribbon + marks) + wedge;
  const rowsEnd = rows + n * (row + between) - between;
  return {
    font,
    left,
    right,
    strip,
    gap,
    row,
    n,
    total,
    wide,
    foot,
    rows,
    rowsEnd,
    letters,
    words,
    ribbon,
    big,
    narrow,
    width,
    end: left + wide,
    ticks: foot + ribbon + (big ? 24 : 15),
    axis: rowsEnd + words + (big ? 24 : 16),
    whole,
    height: whole ? rowsEnd + words + marks + 2 : foot + ribbon + marks,
    level: (k) => flag + (n - k) * (strip + gap),
    rowTop: (layer) => rows + (n - layer) * (row + between),
    x: (position) => left + (position / total) * wide,
    zx: (position) => left + ((position - first) / run.segment) * wide,
  };
}

export function scene(run, look, pen) {
  const it = seen(run, look);
  const at = place(run, it, pen);
  const draw = {
    ...it,
    run,
    look,
    pen,
    at,
    /** A text on its line. */
    label: (x, y, text, style = {}) =>
      pen.text(x, y - 0.36 * (style.size ?? at.font), text, {
        size: at.font,
        colour: "ink3",
        ...style,
      }),
    wideOf: (text) => pen.measure(text, { size: at.font, weight: 600 }),
  };
  if (finished(run) && at.whole) wedge(draw);
  strips(draw);
  along(draw);
  if (!finished(run)) at.whole && waiting(draw);
  else {
    border(draw);
    if (at.whole) enlarged(draw);
    locks(draw);
  }
  hits(draw);
  pen.size(pen.width, at.height);
}

/** The states of every layer: a strip for each, cut into segments. */
function strips({ run, model, first, end, held, layer, pen, at, label }) {
  const cut = Math.min(2, 0.2 * (at.x(run.segment) - at.x(0)));
  for (let k = at.n; k >= 0; k -= 1) {
    const y = at.level(k);
    const part = (from, to) => ({
      x0: at.x(from) + cut / 2,
      x1: Math.max(at.x(from) + cut / 2 + 0.5, at.x(to) - cut / 2),
      y0: y,
      y1: y + at.strip,
    });
    for (let from = 0; from < at.total; from += run.segment) {
      const box = part(from, Math.min(at.total, from + run.segment));
      if (from >= end) pen.rect(box, { line: "control", alpha: 0.55, dash: [2, 3] });
      else if (from < first) pen.rect(box, { fill: "sunk", line: "line" });
    }
    // What a layer remembers are its inputs: nobody looks at what the last layer made of an earlier
    // segment.
    if (held && k < at.n) {
      const box = { ...part(first - held, first), x0: at.x(first - held) };
      texture(pen, box, run.intervention);
      for (
        let from = Math.ceil((first - held + 1) / run.segment) * run.segment;
        from < first;
        from += run.segment
      ) {
        pen.line(at.x(from), y, at.x(from), y + at.strip, { line: "key" });
      }
      pen.rect(box, { line: "key", width: at.big ? 2 : 1.2 });
    }
    if (end > first) {
      pen.rect(part(first, finished(run) ? end : model.length), {
        fill: "out-soft",
        line: "out",
        width: at.big ? 2.5 : 1.6,
        radius: 2,
      });
    }
    const chosen = finished(run) && layer === k;
    label(
      at.left - 8,
      y + at.strip / 2 + at.font * 0.36,
      k ? (at.narrow ? k : t(TEXT.layer, { n: k })) : t(TEXT.inputs),
      { align: "right", colour: chosen ? "query" : "ink2", weight: chosen ? 650 : 400 },
    );
  }
}

function texture(pen, { x0, y0, x1, y1 }, kind) {
  const [side, strokes] = TEXTURES[kind] ?? TEXTURES.none;
  const points = Array.from(strokes.matchAll(/([ML])(-?[\d.]+) (-?[\d.]+)/g));
  let d = "";
  for (let x = 0; x < x1 - x0; x += side) {
    for (let y = 0; y < y1 - y0; y += side) {
      d += points.map(([, move, px, py]) => `${move}${x + Number(px)},${y + Number(py)}`).join("");
    }
  }
  pen.rect({ x0, y0, x1, y1 }, { fill: "key-soft" });
  pen.group(x0, y0, () => pen.path(d, { line: "key", width: 1.4 }), {
    x0: 0,
    y0: 0,
    x1: x1 - x0,
    y1: y1 - y0,
  });
}

/** The axis of the text, and what was given and written. */
function along({ run, model, pen, at, label, wideOf }) {
  const [y, line, given] = [
    at.foot + at.ribbon / 2 + 1,
    at.big ? 5 : 3,
    Math.min(run.given, model.length),
  ];
  if (given) pen.line(at.x(0), y, at.x(given) - 1, y, { line: "control", width: line });
  if (model.length > given) {
    pen.line(at.x(given) + 1, y, at.x(model.length), y, { line: "out", width: line });
  }
  const every =
    [1, 2, 4, 8, 16, 32, 64].find((n) => n * (at.x(run.segment) - at.x(0)) >= at.font * 3.6) ?? 128;
  for (let from = 0; from < at.total; from += every * run.segment) {
    if (at.x(from) + wideOf(whole(from)) / 2 > at.end + at.right) continue;
    pen.line(at.x(from), at.foot + at.ribbon - 2, at.x(from), at.foot + at.ribbon + 2, {
      line: "control",
    });
    label(at.x(from), at.ticks, whole(from), { align: from ? "center" : "left" });
  }
  if (!at.narrow) label(at.left - 8, at.ticks, t(TEXT.positions), { align: "right" });
}

/** Where gradients stop, and over the memory what it holds. */
function border({ run, first, held, pen, at, label, wideOf }) {
  const [x, top, stops, wide] = [at.x(first), at.font + 2, t(TEXT.stops), at.big ? 5 : 3.5];
  pen.line(x - 1, top - at.font + 1, x - 1, at.foot + 2, { line: "ink", width: at.big ? 4 : 3 });
  const leftwards = x + wideOf(stops) + 10 > at.end + at.right;
  const mid = top - at.font * 0.36;
  const tip = leftwards ? [x - 5, -1.4 * wide] : [x + 5 + 1.4 * wide, -1.4 * wide];
  pen.path(`M${tip[0]},${mid - wide}v${2 * wide}l${tip[1]},${-wide}Z`, { fill: "ink" });
  label(leftwards ? x - 10 - 1.4 * wide : x + 10 + 1.4 * wide, top, stops, {
    align: leftwards ? "right" : "left",
    colour: "ink",
    weight: 650,
  });
  const until = leftwards ? x - 16 - 1.4 * wide - wideOf(stops) : x - 8;
  if (held && !at.narrow && until - wideOf(heldName(run)) > at.left - 40) {
    label(until, top, heldName(run), { align: "right", colour: "key", weight: 600 });
  }
}

/** From the segment to what is enlarged below. */
function wedge({ first, end, pen, at }) {
  const [a, b, y0, y1, x0, x1] = [
    at.x(first),
    at.x(end),
    at.foot + at.ribbon + 1,
    at.rows - 22 * (at.font / 12),
    at.zx(first),
    at.zx(end),
  ];
  pen.path(
    `M${a},${y0}C${a},${y1} ${x0},${y0} ${x0},${y1}H${x1}C${x1},${y0} ${b},${y1} ${b},${y0}Z`,
    { fill: "out-soft", alpha: 0.75 },
  );
}

/** Empty frames where the enlarged segment will stand, so that nothing moves when it comes. */
function waiting({ pen, at, label }) {
  for (let layer = 1; layer <= at.n; layer += 1) {
    pen.rect({ x0: at.left, x1: at.end, y0: at.rowTop(layer), y1: at.rowTop(layer) + at.row }, {
      fill: "sunk",
    });
    label(
      at.left - 8,
      at.rowTop(layer) + at.row / 2 + at.font * 0.36,
      at.narrow ? layer : t(TEXT.layer, { n: layer }),
      { align: "right" },
    );
  }
  label(at.left + at.wide / 2, (at.rows + at.rowsEnd) / 2, t(TEXT.waits), {
    align: "center",
    colour: "ink2",
    halo: "sunk",
  });
}

/**
 * The segment in view: for each layer the share of attention that goes to the memory, every head
 * and their mean.
 */
function enlarged(
  { run, model, first, end, held, layer: chosenLayer, head: chosenHead, pen, at, label },
) {
  label(at.left, at.rows - (at.big ? 10 : 7), t(at.narrow ? TEXT.shareShort : TEXT.share), {
    colour: "ink2",
  });
  for (let layer = at.n; layer >= 1; layer -= 1) {
    const [top, base, stop] = [
      at.rowTop(layer),
      at.rowTop(layer) + at.row,
      at.zx(first + run.segment),
    ];
    const chosen = chosenLayer === layer;
    pen.rect({ x0: at.left, x1: at.zx(end), y0: top, y1: base }, { fill: "panel", line: "line" });
    pen.line(at.left, base - (at.row - 2) / 2, at.zx(end), base - (at.row - 2) / 2, {
      line: "line",
      dash: [2, 3],
    });
    label(
      at.left - 8,
      top + at.row / 2 + at.font * 0.36,
      at.narrow ? layer : t(TEXT.layer, { n: layer }),
      { align: "right", colour: chosen ? "query" : "ink2", weight: chosen ? 650 : 400 },
    );
    if (end < first + run.segment) {
      pen.rect({ x0: at.zx(end) + 1, x1: stop, y0: top, y1: base }, { fill: "sunk" });
    }
    if (!at.narrow) {
      [["1", top + at.font * 0.5], ["0", base + 1]].forEach(([text, y]) =>
        label(stop + 3, y, text)
      );
    }
    if (!held) continue;
    const y = (head, i) =>
      base - Math.min(1, shareAt(model, layer, head, first + i)) * (at.row - 2);
    const line = (head) =>
      upTo(
        end - first,
        (i) => `${i ? "L" : "M"}${at.zx(first + i + 0.5).toFixed(1)},${y(head, i).toFixed(1)}`,
      ).join("");
    pen.path(`${line(null)}L${at.zx(end - 0.5)},${base}L${at.zx(first + 0.5)},${base}Z`, {
      fill: "key",
      alpha: 0.16,
    });
    for (let head = 1; head <= model.heads; head += 1) {
      if (!chosen || head !== chosenHead) {
        pen.path(line(head), { line: "key", alpha: 0.38, width: at.big ? 1.5 : 1 });
      }
    }
    pen.path(line(chosen ? chosenHead : null), {
      line: "key",
      width: (at.big ? 1.7 : 1) * (chosen ? 3 : 1.8),
    });
  }
  const why = first === 0 && model.memory > 0 && run.intervention !== "cut"
    ? TEXT.firstSegment
    : TEXT.nothing;
  if (!held) {
    label(at.left + at.wide / 2, (at.rows + at.rowsEnd) / 2 + at.font * 0.36, t(why), {
      align: "center",
      colour: "ink2",
      halo: "panel",
    });
  }
  spelled({ model, first, end, at, label, pen });
  const every = [1, 2, 4, 8, 16, 32, 64].find((n) => (n / run.segment) * at.wide >= at.font * 4) ??
    64;
  for (let p = first; p <= Math.min(end, first + run.segment); p += every) {
    pen.line(at.zx(p), at.rowsEnd, at.zx(p), at.rowsEnd + 4, { line: "control" });
    label(at.zx(p), at.axis, whole(p), {
      align: p === first + run.segment ? "right" : p === first ? "left" : "center",
    });
  }
}

/**
 * The segment's text: each character where there is room, else words, each from its first character
 * on, in two lines for neighbours.
 */
function spelled({ model, first, end, at, label, pen }) {
  if (at.letters) {
    model.chars.slice(first, end).forEach((c, i) =>
      label(at.zx(first + i + 0.5), at.rowsEnd + at.font * 1.35, c, {
        align: "center",
        colour: "ink2",
        face: "mono",
      })
    );
  }
  if (at.letters || !at.words) return;
  const free = [at.left, at.left];
  let turn = 0;
  const text = model.codes.slice(first, end).map((code) => String.fromCodePoint(code));
  for (let from = 0, to = 0; from < text.length; from = to + 1) {
    for (to = from; to < text.length && !/\s/u.test(text[to]);) to += 1;
    if (to === from) continue;
    const [word, x] = [text.slice(from, to).join(""), at.zx(first + from)];
    const wide = pen.measure(word, { size: at.font });
    const row = x >= free[turn] ? turn : 1 - turn;
    if (x < free[row] || x + wide > at.end + at.right) continue;
    label(x, at.rowsEnd + at.font * (row ? 2.62 : 1.3), word, { colour: "ink2" });
    free[row] = x + wide + at.font * 0.4;
    turn = 1 - row;
  }
}

/** A line through the enlarged segment at a position, and a tick in the whole text. */
function marked({ first, end, pen, at }, position, width, dash) {
  pen.line(at.x(position + 0.5), at.foot + 1, at.x(position + 0.5), at.foot + 1 + at.ribbon, {
    line: "query",
    width: at.font / 6,
  });
  if (at.whole && position >= first && position < end) {
    pen.line(at.zx(position + 0.5), at.rowTop(at.n), at.zx(position + 0.5), at.rowsEnd + 4, {
      line: "query",
      width,
      dash,
    });
  }
}

/**
 * What changes as characters are locked: the cone of what one can know of, where it looks, and its
 * own share in every layer.
 */
function locks(draw) {
  const { model, look, position, held, layer, head, pen, at, label } = draw;
  for (const other of look.pos.slice(0, -1)) marked(draw, other, at.font / 9);
  const pointed = look.over?.pos;
  if (pointed !== undefined && pointed !== position) marked(draw, pointed, at.font / 9, [3, 3]);
  if (position === undefined) return;
  cone(draw, () => draw.weights && fan(draw));
  pen.circle(at.x(position + 0.5), at.level(at.n) + at.strip / 2, at.big ? 8 : 5, {
    fill: "query",
    line: "panel",
    width: 2,
  });
  marked(draw, position, at.font / 6);
  const zx = at.zx(position + 0.5);
  const turned = zx + at.font * 3.4 > at.end;
  for (let k = 1; at.whole && held && k <= at.n; k += 1) {
    const [own, base] = [layer === k, at.rowTop(k) + at.row];
    const share = shareAt(model, k, own ? head : null, position);
    const y = base - Math.min(1, share) * (at.row - 2);
    pen.circle(zx, y, (own ? 0.42 : 0.3) * at.font, { fill: "query", line: "panel", width: 1.5 });
    const line = Math.max(at.rowTop(k) + at.font * 0.95, Math.min(base - 3, y - at.font * 0.35));
    label(zx + at.font * (turned ? -0.6 : 0.6), line, weight(share), {
      align: turned ? "right" : "left",
      colour: "key",
      weight: own ? 700 : 600,
      halo: "panel",
    });
  }
}

/**
 * What a position can know of, one memory farther with each layer down, and its words above what is
 * drawn between.
 */
function cone({ run, model, position, pen, at, label, wideOf }, between) {
  const from = (k) => model.travelled[k * model.length + position];
  const edge = at.x(position + 0.5);
  const corners = upTo(
    at.n + 1,
    (k) => [k ? at.x(from(k)) : edge, at.level(at.n - k) + at.strip / 2],
  );
  const line = `M${corners.map(([x, y]) => `${x.toFixed(1)},${y}`).join("L")}`;
  pen.path(`${line}H${edge}Z`, { fill: "query", alpha: 0.1 });
  pen.path(line, { line: "query", width: at.big ? 3 : 2 });
  pen.line(edge, corners[0][1], edge, corners.at(-1)[1], {
    line: "query",
    width: at.big ? 2 : 1.2,
    dash: [2, 3],
  });
  corners.slice(1).forEach(([x, y]) =>
    pen.circle(x, y, at.big ? 5 : 3, { fill: "query", line: "panel" })
  );
  between();
  corners.slice(1).forEach(([x], i) => {
    const k = i + 1;
    const text = t(at.narrow ? TEXT.short : TEXT.after, { n: k, back: whole(position - from(k)) });
    const before = x - wideOf(text) - 8 >= at.left;
    // Before the cone's edge where there is room, else inside the cone, where its edge has risen
    // over the words.
    const risen = Math.min(1, (at.strip / 2 + 1.4 * at.font) / (at.gap + at.strip));
    const inside = Math.min(x + risen * (corners[i][0] - x) + 8, at.end + at.right - wideOf(text));
    label(before ? x - 7 : inside, at.level(run.layers - k) - at.font * 0.4, text, {
      align: before ? "right" : "left",
      colour: "query",
      weight: 600,
      halo: "panel",
    });
  });
}

/** Lines from a position in the chosen layer to the states that it looks at, one layer below. */
function fan({ model, position, first, held, slots, weights, layer, pen, at }) {
  const bins = new Map();
  const add = (px, w) => {
    const before = bins.get(Math.floor(px / BIN)) ?? { w: 0, x: 0 };
    if (w > 0) bins.set(Math.floor(px / BIN), { w: before.w + w, x: before.x + w * px });
  };
  slots.forEach((key, slot) =>
    add(at.x((key < model.length ? key : first - held + slot) + 0.5), weights[key])
  );
  for (let key = first; key <= position; key += 1) add(at.x(key + 0.5), weights[key]);
  const found = [...bins.values()].filter(({ w }) => w >= LEAST).sort((a, b) => b.w - a.w).slice(
    0,
    LINES,
  ).reverse();
  const [x0, y0, y1] = [at.x(position + 0.5), at.level(layer) + at.strip, at.level(layer - 1)];
  const mid = (y0 + y1) / 2;
  for (const { w, x } of found) {
    pen.path(`M${x0},${y0}C${x0},${mid + 4} ${x / w},${mid - 4} ${x / w},${y1}`, {
      line: "key",
      width: (0.8 + 7 * Math.min(1, 2.5 * w) ** 0.8) * (at.font / 12),
      alpha: 0.35 + 0.6 * Math.min(1, 4 * w),
      cap: "round",
    });
  }
  pen.circle(x0, at.level(layer) + at.strip / 2, at.font / 3, {
    fill: "query",
    line: "panel",
    width: 1.5,
  });
}

/**
 * What can be pointed at: characters of the whole text, and of the enlarged segment with their
 * layer.
 */
function hits({ run, look, model, first, end, head, pen, at, ...it }) {
  const box = (pos, layer, y0, y1) => ({
    x0: (layer === undefined ? at.x : at.zx)(pos),
    x1: (layer === undefined ? at.x : at.zx)(pos + 1),
    y0,
    y1,
    still: true,
    look: finished(run)
      ? { pos, ...(layer && head ? { head: `${layer}.${head}` } : {}) }
      : undefined,
    card: () => card({ run, look, model, first, end, head, ...it }, pos, layer),
  });
  const whole_ = (
    pos,
  ) => (pos >= 0 && pos < model.length ? box(pos, undefined, 0, at.foot + at.ribbon + 4) : null);
  pen.hit({
    x0: at.left,
    x1: at.end,
    y0: 0,
    y1: at.foot + at.ribbon + 4,
    at: (x) => whole_(Math.floor(((x - at.left) / at.wide) * at.total)),
    of: whole_,
  });
  const y1 = at.rowsEnd + at.words;
  const part = (x, y) => {
    const pos = Math.floor(first + ((x - at.left) / at.wide) * run.segment);
    const layer = y <= at.rowsEnd
      ? Math.max(
        1,
        Math.min(at.n, at.n - Math.floor((y - at.rows) / ((at.rowsEnd - at.rows) / at.n))),
      )
      : null;
    return pos < end ? box(pos, layer, at.rows, y1) : null;
  };
  if (finished(run) && at.whole) pen.hit({ x0: at.left, x1: at.end, y0: at.rows, y1, at: part });
}

function card({ run, model, first, end, held, layer: chosen, head }, pos, layer) {
  const state = pos >= end
    ? TEXT.cardLater
    : pos >= first
    ? TEXT.cardNow
    : pos >= first - held
    ? TEXT.cardMemory
    : TEXT.cardGone;
  const crosses = finished(run) && pos >= run.segment && model.memory > 0;
  return [
    charName(model, pos),
    t(state, { n: Math.floor(pos / run.segment) + 1 }),
    ...(crosses && layer
      ? [t(TEXT.cardMean, { layer, w: weight(shareAt(model, layer, null, pos)) })]
      : []),
    ...(crosses && head
      ? [
        t(TEXT.cardHead, {
          head: `${layer || chosen}·${head}`,
          w: weight(shareAt(model, layer || chosen, head, pos)),
        }),
      ]
      : []),
  ];
}

export function legend(run, look) {
  const kept = run.intervention !== "cut" && modelOf(run, look).memory > 0;
  return [
    { text: t(TEXT.computed), mark: { fill: "out-soft", line: "out", wide: 18 } },
    ...(kept
      ? [{ text: heldName(run), mark: { fill: "key-soft", line: "key", hatch: "key", wide: 18 } }]
      : []),
    { text: t(TEXT.asks), mark: { fill: colour("query", 0.1), line: "query", wide: 18 } },
    { text: t(TEXT.gone), mark: { fill: "sunk", line: "line", wide: 18 } },
    { text: t(TEXT.later), mark: { line: "control", dash: [2, 3], wide: 18 } },
  ];
}

// ── in words and numbers ──
/** What a key carries: the character before its place; of another text it is not told which. */
function keyName(run, model, key) {
  if (key >= model.length) return run.book ? t(run.book) : t(TEXT.foreign);
  if (key === 0) return t(TEXT.lineBreak);
  return charName(model, key - 1);
}

const SAY = {
  read: {
    en: "{done} of {of} characters are read and written, {segment} at a time.",
    zh: "已读写 {done} / {of} 个字符，每次一个片段（{segment} 个字符）。",
  },
  comma: { en: ", ", zh: "、" },
  begins: {
    en: "The text begins with this segment, and nothing is remembered yet",
    zh: "文本从这个片段开始，还没有记忆",
  },
  none: {
    en: "{name} remembers nothing, and nothing crosses the border",
    zh: "{name} 没有记忆，无物越过边界",
  },
  cut: { en: "The memory is cut, and nothing crosses the border", zh: "记忆被切断，无物越过边界" },
  another: { en: "another text", zh: "另一文本" },
  foreign: { en: "the memory, which holds {book}", zh: "记忆（属于{book}）" },
  shuffled: { en: "the memory, whose order is broken", zh: "顺序被打乱的记忆" },
  memory: { en: "the memory", zh: "记忆" },
  now: { en: "Characters {first} to {last}", zh: "字符 {first} 至 {last} " },
  kept: { en: "{n} positions before them", zh: "{n} 个更早的位置" },
  alone: { en: "{now} are computed at once. {nothing}.", zh: "{now}一次算出。{nothing}。" },
  together: {
    en:
      "{now} are computed at once, {kept} are remembered without a gradient; on average layers 1 " +
      "to {layers} give {shares} of their attention to {what}.",
    zh:
      "{now}一次算出，{kept}被记住而没有梯度；第 1 至 {layers} 层平均把 {shares} 的注意力给予{what}。",
  },
  knows: {
    en:
      "after {layers} layers it can reach back {back} characters, to {from}; the gradient stops " +
      "at {first}.",
    zh: "{layers} 层之后它能知道从 {from} 起的字符：往回 {back} 个；梯度止于 {first}。",
  },
  nothing: { en: "{nothing}: to predict {q}, {knows}", zh: "{nothing}：预测 {q} 时，{knows}" },
  mean: {
    en:
      "To predict {q}, layers 1 to {layers} give {shares} of their attention to {what}, the mean " +
      "of their heads; {knows}",
    zh: "预测 {q} 时，第 1 至 {layers} 层各头平均把 {shares} 的注意力给予{what}；{knows}",
  },
  head: {
    en: "To predict {q}, head {head} gives {share} of its attention to {what}",
    zh: "预测 {q} 时，头 {head} 把 {share} 的注意力给予{what}",
  },
  most: { en: "; its largest weight, {w}, goes to {k}", zh: "；最大的权重 {w} 给 {k}" },
  trouble: { en: " ({why})", zh: "（{why}）" },
  then: { en: "; {knows}", zh: "；{knows}" },
};

export function sentence(run, look) {
  const { model, position, first, end, held, layer, head, weights } = seen(run, look);
  const { layers } = run;
  if (!finished(run)) {
    return [t(SAY.read, { done: whole(model.length), of: whole(run.of), segment: run.segment })];
  }
  const over = position === undefined ? upTo(end - first, (i) => first + i) : [position];
  const shares = upTo(
    layers,
    (l) =>
      weight(
        over.reduce((sum, p) => sum + shareAt(model, l + 1, null, p), 0) / Math.max(1, over.length),
      ),
  )
    .join(t(SAY.comma));
  const nothing = t(
    first === 0 && model.memory > 0 && run.intervention !== "cut"
      ? SAY.begins
      : model.memory === 0
      ? SAY.none
      : SAY.cut,
    { name: t(model.name) },
  );
  const what = t({ foreign: SAY.foreign, shuffled: SAY.shuffled }[run.intervention] ?? SAY.memory, {
    book: t(run.book ?? SAY.another),
  });
  const told = { layers, shares, nothing, what, first: whole(first) };
  if (position === undefined) {
    return parts(held ? SAY.together : SAY.alone, {
      ...told,
      now: { text: t(SAY.now, { first: told.first, last: whole(end - 1) }), role: "out" },
      kept: { text: t(SAY.kept, { n: whole(held) }), role: "key" },
    });
  }
  const from = model.travelled[layers * model.length + position];
  Object.assign(told, {
    q: { text: charName(model, position), role: "query" },
    knows: t(SAY.knows, { ...told, from: whole(from), back: whole(position - from) }),
  });
  if (!held) return parts(SAY.nothing, told);
  if (head === null) return parts(SAY.mean, told);
  const why = run.looks.trouble();
  Object.assign(told, {
    head: `${layer}·${head}`,
    share: weight(shareAt(model, layer, head, position)),
    why,
  });
  const best = weights?.reduce((most, w, key) => (w > weights[most] ? key : most), 0);
  if (weights) {
    Object.assign(told, {
      w: weight(weights[best]),
      k: { text: keyName(run, model, best), role: "key" },
    });
  }
  return ["head", weights ? "most" : why && "trouble", "then"].filter(Boolean).flatMap((key) =>
    parts(SAY[key], told)
  );
}

export function table(run, look) {
  const { model, weights, position } = seen(run, look);
  const heads = model.across ? upTo(run.layers * model.heads, (i) => i) : [];
  const columns = [
    t(TEXT.position),
    t(TEXT.positions),
    t(TEXT.number),
    ...heads.map((i) =>
      t(TEXT.head, { head: `${Math.floor(i / model.heads) + 1}·${(i % model.heads) + 1}` })
    ),
    ...(heads.length ? [t(TEXT.knows)] : []),
    ...(weights ? [t(TEXT.weight, { head: look.head })] : []),
  ];
  const rows = model.chars.map((char, p) => {
    const known = heads.length ? [model.travelled[run.layers * model.length + p]] : [];
    // the key behind a character carries it
    const w = weights ? [p + 1 < model.length ? Math.round(1e6 * weights[p + 1]) / 1e6 : null] : [];
    return [
      p,
      char,
      Math.floor(p / run.segment) + 1,
      ...heads.map((i) => Math.round(1e5 * model.across[i * model.length + p]) / 1e5),
      ...known,
      ...w,
    ];
  });
  return {
    caption: t(TEXT.caption, { model: t(model.name) }),
    columns,
    rows,
    here: position ?? null,
  };
}

export function arrays(run, look) {
  const { model, weights, position } = seen(run, look);
  const one = (number) => ({ shape: [1], data: [number] });
  return {
    ...(model.across
      ? {
        share_to_memory: filed(model.across, ["layer", "head", "character"], "share of attention", [
          run.layers,
          model.heads,
          model.length,
        ]),
        knows_from: filed(
          Int32Array.from(model.travelled),
          ["layers passed", "character"],
          "character",
          [run.layers + 1, model.length],
        ),
        remembered: filed(
          Int32Array.from(model.remembered),
          ["segment", "slot"],
          "state j has read character j − 1, state 0 what stands before the text",
          [Math.ceil(model.length / run.segment), model.slots],
        ),
      }
      : {}),
    characters: model.codes.map((code) => String.fromCodePoint(code)),
    segment: one(run.segment),
    memory: one(model.memory),
    given: one(run.given),
    ...(weights ? byCharacter(weights, model.length) : {}),
    looked_at: [`${model.key}, head ${look.head}, position ${position ?? "none"}`],
  };
}

export const same = (was, run, { pos }) =>
  sameText(was, run, pos, ({ models: [{ codes }] }) => codes);

export const looks = { model: "choice", head: "head", pos: "positions" };
export const hovers = true;
export const resets = ["model", "head", "pos"];

export function bounds(run, look) {
  const model = modelOf(run, look);
  return {
    model: modelsOf(run),
    head: {
      layers: run.layers,
      heads: model.heads || Infinity,
      names: ["mean"],
      pick: run.pick?.head ?? "mean",
    },
    pos: {
      count: finished(run) ? model.length : run.of,
      pick: finished(run) ? run.pick?.pos : undefined,
    },
  };
}

/** ← and → go from segment to segment, at the same place in it. */
export function move(run, look, key, by) {
  const { model, number, of, position = 0, first } = seen(run, look);
  if (key === "pos") {
    return number + by < 0 || number + by >= of
      ? {}
      : { pos: Math.min(model.length - 1, (number + by) * run.segment + position - first) };
  }
  return {
    head: look.head === "mean"
      ? (by > 0 ? "1.1" : `${run.layers}.${model.heads}`)
      : KINDS.head.move(look.head, by, { layers: run.layers, heads: model.heads }),
  };
}

export const units = (run, look) =>
  [
    t(modelOf(run, look).name),
    t(modelOf(run, look).about),
    ...(run.state === "stale" ? [t(TEXT.from)] : []),
  ].join(" · ");

export function choices(run, look) {
  const one = look.head === "mean"
    ? (run.pick?.head?.includes(".") ? run.pick.head : "1.1")
    : look.head;
  const heads = {
    key: "head",
    label: t(TEXT.heads),
    options: [{ value: one, label: t(TEXT.head, { head: one.replace(".", "·") }) }, {
      value: "mean",
      label: t(TEXT.mean),
    }],
  };
  return [oneOf("model", TEXT.model, run.models), ...(finished(run) ? [heads] : [])];
}

export function clock(run, look) {
  if (!finished(run)) return null;
  const { model, of, position = 0, first } = seen(run, look);
  const at = (second) =>
    Math.min(
      model.length - 1,
      Math.min(of - 1, Math.floor(second / PACE)) * run.segment + position - first,
    );
  const texts = { before: TEXT.before, after: TEXT.next, play: TEXT.play };
  return {
    key: "pos",
    seconds: of * PACE,
    at,
    when: (pos) => Math.floor((pos ?? 0) / run.segment) * PACE,
    says: (pos) => t(TEXT.place, { n: Math.floor(pos / run.segment) + 1, of }),
    texts,
  };
}

export const waits = (run, look) =>
  (({ weights, position, layer, model }) =>
    finished(run) && position !== undefined &&
    layer !== null && Boolean(model.look) && !weights && !run.looks.trouble())(seen(run, look));
export const keeps = (run) => ({ kept: run.looks.held() });

// Two ways to write a translation, on one axis of milliseconds: one piece after the other, a
// staircase; and all of them at once, again where they are least sure. A cell is as bright as its
// piece is probable. The value is made by explorer/labs/nonautoregressive/views.py.

import { filed } from "../../frontend/lib/arrays.js";
import { offers } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { among, flipped, oneOf } from "../../frontend/lib/selection.js";
import { colour, ink, ramp, shade } from "../../frontend/lib/pen.js";
import { number as two, placed, shown } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: { en: "What does each way write, and when?", zh: "两种方式各在何时写出什么？" },
  board: {
    en:
      "{title}. Left and right step in time, up and down choose a position, Shift and Enter mask " +
      "it again, Space plays, Escape resets.",
    zh: "{title}。左右键在时间中移动，上下键选择位置，Shift+Enter 再次遮住它，空格播放，Esc 复位。",
  },
  greedy: { en: "One after the other", zh: "一个接一个" },
  cached: { en: "autoregressive, greedy, cached", zh: "自回归，贪心，有缓存" },
  passes: { en: "All at once, {n} {n|pass|passes}", zh: "一次全写，共 {n} 轮" },
  length: { en: "length {n}", zh: "长度 {n}" },
  pass: { en: "pass {n}", zh: "第 {n} 轮" },
  again: { en: "once more", zh: "再来" },
  encoder: { en: "encoder", zh: "编码器" },
  both: { en: "encoder and length", zh: "编码器与长度" },
  done: { en: "done, {ms} ms", zh: "完成，{ms} ms" },
  axis: { en: "{n} ms", zh: "{n} ms" },
  show: { en: "colour of the cells", zh: "格子的颜色" },
  p: { en: "probability", zh: "概率" },
  settled: { en: "settled", zh: "何时定下" },
  scale: {
    en: "probability, 0 to 1; pale: kept from a pass before",
    zh: "概率，0 至 1；淡色：沿用前一轮",
  },
  repeat: { en: "the same as the piece before", zh: "与前一个词片相同" },
  masked: { en: "masked, being written", zh: "被遮住，正在写" },
  pinned: { en: "pinned", zh: "已固定" },
  changes: { en: "still changes", zh: "还会变" },
  settles: { en: "settles in this pass", zh: "在这一轮定下" },
  stands: { en: "settled before", zh: "此前已定下" },
  card: { en: "{pass} · position {at}: {piece}", zh: "{pass} · 位置 {at}：{piece}" },
  step: { en: "step {at}: {piece} {p}, at {ms} ms", zh: "第 {at} 步：{piece} {p}，{ms} ms" },
  kept: { en: "kept, with its old probability {p}", zh: "沿用，概率仍为旧值 {p}" },
  does: {
    en: "click: mask it again · shift-click: pin it",
    zh: "点击：再次遮住 · shift-点击：固定",
  },
  free: { en: "click: let go of it", zh: "点击：放开" },
  going: {
    en: "At {now} ms: {n} of {of} passes {n|is|are} over; greedy decoding has written {many} of " +
      "{all} pieces.",
    zh: "{now} ms 时：{of} 轮中完成了 {n} 轮；贪心解码写出了 {all} 个词片中的 {many} 个。",
  },
  over: {
    en:
      "{of} {of|pass finishes|passes finish} in {a}; one after the other, {all} pieces take {b} " +
      "ms, {ratio} times as long.",
    zh: "{of} 轮在 {a} 完成；一个接一个写 {all} 个词片要到 {b} ms，是它的 {ratio} 倍。",
  },
  twice: { en: " Repeated after {pass}: {which}{end}", zh: "{pass}之后重复：{which}{end}" },
  comma: { en: ", ", zh: "，" },
  more: { en: ", …", zh: "，等等。" },
  end: { en: ".", zh: "。" },
  stays: { en: " Position {at} is pinned at {piece}.", zh: "位置 {at} 固定为 {piece}。" },
  became: { en: " Position {at}: {list}.", zh: "位置 {at}：{list}。" },
  mask: { en: "Mask {piece} again", zh: "再次遮住 {piece}" },
  unmask: { en: "Do not mask {piece} again", zh: "不再遮住 {piece}" },
  pin: { en: "Pin {piece}", zh: "固定 {piece}" },
  unpin: { en: "Let go of {piece}", zh: "放开 {piece}" },
  caption: {
    en: "The piece at each position after each pass, and its probability",
    zh: "每一轮之后每个位置上的词片及其概率",
  },
  position: { en: "position", zh: "位置" },
  piece: { en: "pass {n}, piece", zh: "第 {n} 轮，词片" },
  chance: { en: "pass {n}, probability", zh: "第 {n} 轮，概率" },
  after: { en: "settled after pass", zh: "定于第几轮" },
};
const PALE = 0.3; // of its colour, what is kept from a pass before
const MOST = 3; // repeats that a sentence names
const TICKS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]; // ms between two marks of the axis
const HOLLOW = { line: "control", dash: [3, 3], width: 1.5 }; // a cell that is being written
const SETTLED = { changes: "sunk", settles: "accent", stands: "out-soft" }; // what becomes of a cell after a pass
const REPEAT = { line: "bad", width: 2.5 };
const PINNED = { line: "query", width: 2, dash: [2, 2] };

const quoted = (piece) => `“${shown(piece)}”`;
const named = (run, at) => placed(shown(run.target[at]), at);
const ms = (value) => value.toFixed(1);
const masks = (run, at) => ({ again: flipped(run.again, at).join(",") });
const pins = (run, at) => ({
  pinned: flipped(run.pinned, at).map((one) => run.spelled[one]).join(","),
});
const passName = (n) => t(TEXT.pass, { n: n + 1 });
/**
 * How many passes, or greedy pieces, are over at a moment; their first end is that of the encoder.
 * Of a second that is played rounding may lose a little.
 */
const over = (ends, now) => Math.max(0, ends.filter((end) => end <= now + 1e-6).length - 1);

export function read(value) {
  if (!value.passes?.length) return null;
  const moments = [...new Set([0, ...value.ends, ...value.greedy.ends])].sort((a, b) => a - b);
  return {
    ...value,
    moments,
    total: moments.at(-1),
    count: value.settled.length,
    target: value.passes.at(-1).pieces,
  };
}

function place(run, pen) {
  const { width, tall, big, narrow } = pen;
  const [head, gap, under, left, least] = big
    ? [28, 8, 30, 48, 22]
    : [26, 14, 26, narrow ? 22 : 30, 19];
  const stairs = run.greedy.pieces.length;
  // What is too high for a hall, and moves through its screen, has no axis under it: half of it
  // would stand in view.
  const foot = big && tall - 3 * head - gap - under < least * (1.5 + run.count) ? 6 : under;
  const spare = tall - 3 * head - gap - foot;
  // Of a row, how far a stair lies below the one before: in a hall less, since none stands above
  // another, and still less where there are many.
  const flat = big
    ? among((spare / least - 1 - run.count) / Math.max(1, stairs - 1), 0.05, 0.4)
    : 1;
  const high = flat * (stairs - 1) + 1;
  const row = among(tall ? spare / (high + run.count) : 20, least, big ? 40 : 20);
  const fits = (width - left - 4) / run.total;
  const each = (run.ends.at(-1) - run.ends[0]) / run.passes.length;
  const scale = Math.max(fits, Math.min((big ? 80 : 40) / each, 3 * fits)); // so that a pass has room for its pieces
  const down = head + high * row;
  // The sentence stands between the two, so that both are on the first screen, where the picture is
  // as wide as the page.
  const middle = (big || scale > fits ? down : pen.say(down)) + gap;
  return {
    head,
    row,
    left,
    size: big ? 20 : 12,
    down,
    middle,
    end: middle + 2 * head + run.count * row,
    foot,
    flat,
    wide: Math.max(width, left + scale * run.total + 4),
    x: (at) => left + scale * at,
    stair: (at) => head + flat * at * row,
    y: (at) => middle + 2 * head + at * row,
  };
}

export function scene(run, look, pen) {
  const at = place(run, pen);
  const now = run.moments[look.moment];
  const { passes, greedy } = run;
  const bold = { size: pen.big ? 22 : 14, weight: 650, colour: "ink" };
  const small = { size: pen.big ? 20 : 12, colour: "ink3" };
  const title = (y, text, note) => {
    pen.text(at.left, y, text, bold);
    if (!pen.narrow) pen.text(at.left + pen.measure(text, bold) + 8, y, note, small);
  };
  const number = (y, i, style = {}) =>
    pen.text(at.left - 6, y + at.row / 2, i, { ...small, align: "right", ...style });
  const step = TICKS.find((one) => run.total / one <= (pen.narrow || pen.big ? 7 : 12)) ??
    TICKS.at(-1);
  for (let tick = 0; tick <= run.total; tick += step) {
    const x = at.x(tick);
    pen.path(`M${x},${at.head}V${at.down}M${x},${at.y(0)}V${at.end + 3}`, { line: "line" });
    const text = t(TEXT.axis, { n: tick });
    const last = x + pen.measure(text, small) / 2 > at.wide; // it would be cut off in the middle
    if (at.foot > 6) {
      pen.text(x, at.end + at.foot / 2, text, {
        ...small,
        align: last ? "right" : tick ? "center" : "left",
      });
    }
  }
  const block = (y0, y1, to, text) => {
    const box = { x0: at.x(0), x1: at.x(Math.min(now, to)), y0, y1 };
    pen.rect(box, { fill: "key-soft" });
    if (now < to) return;
    const style = { size: at.size, align: "center", colour: "key", room: box.x1 - box.x0 };
    pen.lines(text, style.room - 6, style).forEach((line, n, all) =>
      pen.text(
        (box.x0 + box.x1) / 2,
        (y0 + y1) / 2 + (n - (all.length - 1) / 2) * at.size * 1.3,
        line,
        style,
      )
    );
  };
  /**
   * A text right of what stands from x0 to x1; at the end of the picture it has room to the left
   * alone. y(right).
   */
  const beside = (x0, x1, y, text, style) => {
    const right = x1 + pen.measure(text, style) <= at.wide;
    pen.text(right ? x1 : x0, y(right), text, {
      ...style,
      align: right ? "left" : "right",
      halo: "panel",
    });
  };
  const cell = (box, piece, { pale, ...style }, outside = false) => {
    const [x, y, room] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, box.x1 - box.x0 - 6];
    pen.rect({ x0: box.x0 + 1, x1: box.x1 - 1, y0: box.y0 + 1, y1: box.y1 - 1 }, {
      radius: 3,
      ...style,
    });
    const font = { size: at.size, weight: pale ? 400 : 650 };
    if (outside && pen.measure(piece, font) > room) {
      return beside(box.x0 - 3, box.x1 + 3, () => y, piece, { ...font, colour: "ink" });
    }
    return pen.text(x, y, piece, {
      ...font,
      align: "center",
      room,
      colour: ink(style.fill ?? "panel"),
    });
  };

  title(at.head / 2, t(TEXT.greedy), t(TEXT.cached));
  block(at.stair(0), at.down, greedy.ends[0], t(TEXT.encoder));
  greedy.pieces.forEach((piece, i) => {
    const [from, to, p] = [greedy.ends[i], greedy.ends[i + 1], greedy.p[i]];
    const box = { x0: at.x(from), x1: at.x(to), y0: at.stair(i), y1: at.stair(i) + at.row };
    if (at.flat === 1) number(box.y0, i);
    if (now < from) return;
    if (now < to) return cell(box, "", HOLLOW);
    cell(box, shown(piece), { fill: shade("weights", p) }, at.flat === 1);
    pen.hit({
      ...box,
      card: () => [t(TEXT.step, { at: i, piece: quoted(piece), p: two(p), ms: ms(to) })],
    });
  });

  const note = at.middle + at.head / 2;
  title(note, t(TEXT.passes, { n: passes.length }), t(TEXT.length, { n: run.count }));
  block(at.y(0), at.y(run.count), run.ends[0], t(TEXT.both));
  run.target.forEach((_, i) => {
    number(at.y(i), i, look.pos === i ? { colour: "query", weight: 700 } : {});
    pen.hit({
      x0: 0,
      x1: at.left - 2,
      y0: at.y(i),
      y1: at.y(i) + at.row,
      look: { pos: i },
      pos: i,
      card: () => [named(run, i)],
    });
  });
  passes.forEach((pass, n) => {
    const [from, to] = [run.ends[n], run.ends[n + 1]];
    if (now < from) return;
    const [x0, x1, there] = [at.x(from), at.x(to), now >= to];
    pen.text((x0 + x1) / 2, at.middle + 1.5 * at.head, n < run.ran ? passName(n) : t(TEXT.again), {
      ...small,
      colour: "ink2",
      weight: 650,
      align: "center",
      room: x1 - x0,
    });
    const before = there ? pass : { ...passes[n - 1] ?? pass, masked: pass.masked };
    run.target.forEach((_, i) => {
      const box = { x0, x1, y0: at.y(i), y1: at.y(i) + at.row };
      if (!there && pass.masked[i]) return cell(box, "", HOLLOW);
      cell(box, shown(before.pieces[i]), styleOf(run, look, before, n, i));
      if (there) pen.hit({ ...box, pos: i, card: () => card(run, n, i), ...does(run, n, i) });
    });
  });
  const reached = over(run.ends, now);
  const locked = reached > 0 && look.pos !== null;
  if (locked) {
    pen.rect({
      x0: at.x(run.ends[0]),
      x1: at.x(run.ends[reached]),
      y0: at.y(look.pos),
      y1: at.y(look.pos) + at.row,
    }, { line: "query", width: 2, radius: 4 });
  }
  const done = (end, y0, y1, where) => {
    if (now < end) return;
    const x = at.x(end);
    pen.line(x, y0, x, y1, { line: "out", width: 2 });
    beside(x - 6, x + 6, where, t(TEXT.done, { ms: ms(end) }), {
      ...bold,
      size: pen.big ? 20 : 13,
      colour: "out",
    });
  };
  // Over the stairs there is room to the left, beside the passes to the right; else above them.
  done(
    greedy.ends.at(-1),
    at.head,
    at.down,
    () => (at.flat < 0.3 ? at.head / 2 : at.head + at.row / 2),
  );
  done(
    run.ends.at(-1),
    at.y(0) - at.head,
    at.end,
    (right) => (right ? at.y(0) + at.row / 2 : note),
  );
  // A sentence too long for the hall's screen moves through it, so that its pieces stay large
  // enough to be read.
  const top = locked
    ? at.y(look.pos)
    : at.stair(Math.min(over(greedy.ends, now), greedy.pieces.length - 1));
  pen.size(
    at.wide,
    at.end + at.foot,
    pen.big ? { y0: top, y1: top + at.row } : null,
    pen.big ? pen.tall : 0,
  );
}

/** How a cell is filled and outlined. */
function styleOf(run, look, pass, n, i) {
  const pale = !pass.masked[i];
  const late = run.settled[i] > n ? "changes" : run.settled[i] === n ? "settles" : "stands";
  const fill = look.show === "settled"
    ? colour(SETTLED[late])
    : colour(shade("weights", pass.p[i]), pale ? PALE : 1);
  return { fill, pale, ...(run.pinned.includes(i) ? PINNED : pass.repeats[i] ? REPEAT : {}) };
}

/**
 * A click on a piece of the last pass masks it again, with Shift it is pinned; on one of an earlier
 * pass it locks the position.
 */
function does(run, n, i) {
  if (n < run.passes.length - 1) return { look: { pos: i } };
  if (run.pinned.includes(i)) return { set: pins(run, i), does: t(TEXT.free) };
  return { set: masks(run, i), add: { set: pins(run, i) }, does: t(TEXT.does) };
}

function card(run, n, i) {
  const pass = run.passes[n];
  const likely = pass.candidates[i].map((piece, k) => `${quoted(piece)} ${two(pass.chances[i][k])}`)
    .join(" · ");
  const stale = run.pinned.includes(i)
    ? [t(TEXT.pinned)]
    : pass.masked[i]
    ? []
    : [t(TEXT.kept, { p: two(pass.p[i]) })];
  return [
    t(TEXT.card, { pass: passName(n), at: i, piece: quoted(pass.pieces[i]) }),
    likely,
    ...stale,
    ...(pass.repeats[i] ? [t(TEXT.repeat)] : []),
  ];
}

/**
 * What became of a position in so many passes: the pieces that stood there, each with its
 * probability and the pass that wrote it.
 */
function history(run, at, until) {
  const place_ = { text: String(at), role: "query" };
  if (run.pinned.includes(at)) {
    return parts(TEXT.stays, { at: place_, piece: quoted(run.target[at]) });
  }
  const became = run.passes.slice(0, until).flatMap((
    { pieces, p },
    n,
  ) => (n && pieces[at] === run.passes[n - 1].pieces[at]
    ? []
    : [`${passName(n)} ${placed(shown(pieces[at]), two(p[at]))}`])
  );
  const list = became.length > 3 ? [became[0], "…", became.at(-1)] : became;
  return parts(TEXT.became, { at: place_, list: list.join(t(TEXT.comma)) });
}

export function sentence(run, look) {
  const [now, of, all] = [run.moments[look.moment], run.passes.length, run.greedy.pieces.length];
  const [n, many] = [over(run.ends, now), over(run.greedy.ends, now)];
  const [a, b] = [run.ends.at(-1), run.greedy.ends.at(-1)];
  const out = parts(n < of || many < all ? TEXT.going : TEXT.over, {
    now: ms(now),
    n,
    of,
    many,
    all,
    b: ms(b),
    a: { text: `${ms(a)} ms`, role: "out" },
    ratio: (b / a).toFixed(1),
  });
  if (!n) return out;
  const last = run.passes[n - 1];
  const twice = last.pieces.map((piece, at) => placed(shown(piece), at)).filter((_, at) =>
    last.repeats[at]
  );
  if (twice.length) {
    out.push(
      t(TEXT.twice, {
        pass: passName(n - 1),
        which: twice.slice(0, MOST).join(t(TEXT.comma)),
        end: t(twice.length > MOST ? TEXT.more : TEXT.end),
      }),
    );
  }
  return look.pos === null ? out : [...out, ...history(run, look.pos, n)];
}

/**
 * Buttons for the position in view: what a click does in the picture, for a keyboard and a finger.
 */
export function below(run, { pos }, _lock, ask) {
  if (pos === null) return [];
  const [piece, pinned] = [named(run, pos), run.pinned.includes(pos)];
  const mask = [t(run.again.includes(pos) ? TEXT.unmask : TEXT.mask, { piece }), masks(run, pos)];
  return offers(ask, [...(pinned ? [] : [mask]), [
    t(pinned ? TEXT.unpin : TEXT.pin, { piece }),
    pins(run, pos),
  ]]);
}

export function table(run, look) {
  const columns = [
    t(TEXT.position),
    ...run.passes.flatMap((_, n) => [t(TEXT.piece, { n: n + 1 }), t(TEXT.chance, { n: n + 1 })]),
    t(TEXT.after),
  ];
  const rows = run.target.map((
    _,
    i,
  ) => [i, ...run.passes.flatMap(({ pieces, p }) => [shown(pieces[i]), p[i]]), run.settled[i] + 1]);
  return { caption: t(TEXT.caption), columns, rows, here: look.pos };
}

export function arrays({ passes, count, settled, ends, greedy }) {
  const all = (name) => passes.flatMap((one) => one[name]);
  const flat = (name) =>
    filed(all(name).map(Number), ["pass", "position"], undefined, [passes.length, count]);
  const times = ([, ...data], axis) => filed(data, axis, "ms");
  return {
    confidence: flat("p"),
    masked: flat("masked"),
    repeats: flat("repeats"),
    pieces: all("pieces"),
    settled: filed(settled, "position"),
    finished: times(ends, "pass"),
    greedy: times(greedy.ends, "piece"),
    greedy_pieces: greedy.pieces,
  };
}

export function legend(run, { show: which }) {
  const here = which === "settled"
    ? Object.entries(SETTLED).map(([name, fill]) => [name, { fill, line: "control" }])
    : [["scale", ramp("weights", 64)], ["repeat", REPEAT], ["masked", HOLLOW]];
  return [...here, ...(run.pinned.length ? [["pinned", PINNED]] : [])]
    .map(([name, mark]) => ({ text: t(TEXT[name]), mark: { radius: 3, ...mark } }));
}

export const looks = { moment: "step", pos: "position", show: "choice" };
export const bounds = (run) => ({
  moment: { steps: run.moments.length - 1, first: 0 },
  pos: { count: run.count, pick: run.pick.pos },
  show: { names: ["p", "settled"] },
});
export const press = (run, { pos }) => (pos === null ? null : { set: masks(run, pos) });
export const choices =
  () => [oneOf("show", TEXT.show, ["p", "settled"].map((key) => ({ key, name: TEXT[key] })))];

/** It plays so slowly that one can follow, in proportion to the milliseconds. */
export function clock(run) {
  const seconds = among(0.3 * run.total, 4, 10);
  return {
    seconds,
    says: (at) => `${ms(run.moments[at])} ms`,
    at: (second) => over(run.moments, (second / seconds) * run.total),
    when: (at) => (run.moments[at] / run.total) * seconds,
  };
}

/** Positions of the same sentence stay, where the translation still has them. */
export const same = (was, run, { pos }) => was.source === run.source && (pos ?? 0) < run.count;
export const stays = ["pos"];

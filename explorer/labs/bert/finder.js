// Find a head: all heads of the pretrained encoder small, beside a table of what was found in them:
// patterns, and grammatical relations against the best fixed distance. The value is made by
// explorer/labs/bert/views.py.

import { parts, t } from "../../frontend/lib/lang.js";
import { headOf, oneOf } from "../../frontend/lib/selection.js";
import { drawTiles } from "../../frontend/lib/map.js";
import { number, placed, plus, weight } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: { en: "Which head does what?", zh: "哪个头做什么？" },
  board: {
    en: "{title}. Arrows choose a head, Escape resets.",
    zh: "{title}。方向键选择头，Esc 复位。",
  },
  units: {
    en: "MiniLM, {layers} layers × {heads} heads; relations: UD English, patterns: captions; " +
      "chosen on one part, reported on another",
    zh:
      "MiniLM，{layers} 层 × {heads} 个头；关系：UD 英语，模式：图片说明；在一部分上选择，在另一部分上报告",
  },
  which: { en: "what it finds", zh: "寻找什么" },
  all: { en: "all", zh: "全部" },
  pattern: { en: "patterns", zh: "模式" },
  relation: { en: "relations", zh: "关系" },
  finds: { en: "what the head finds", zh: "头找到什么" },
  head: { en: "head", zh: "头" },
  here: { en: "here", zh: "本句" },
  offset: { en: "offset", zh: "距离" },
  test: { en: "test", zh: "测试集" },
  points: { en: "points", zh: "领先" },
  left: { en: "{n} to the left", zh: "左边第 {n} 个" },
  right: { en: "{n} to the right", zh: "右边第 {n} 个" },
  caption: { en: "What each chosen head finds", zh: "选出的头各自找到什么" },
  unchosen: {
    en: "The table chose head {head} for nothing.",
    zh: "头 {head} 没有被选为任何一项。",
  },
  isPattern: {
    en: "Head {head}, {job}: {test} on other captions, {here} on this sentence.",
    zh: "头 {head}，{job}：其他图片说明上 {test}，本句 {here}。",
  },
  isRelation: {
    en: "Head {head}, {job}: right in {test} of the cases on test; the best fixed distance, " +
      "{steps}, in {offset}.",
    zh: "头 {head}，{job}：测试集上 {test} 指对；最好的固定距离（{steps}）为 {offset}。",
  },
  strongest: {
    en: " Here its largest weight between words goes from {from} to {to}, {w}.",
    zh: "本句中它最强的一处：从 {from} 看向 {to}，{w}。",
  },
  name: { en: "head {name}", zh: "头 {name}" },
};

const JOBS = ["pattern", "all", "relation"];
const COLUMNS = ["head", "here", "offset", "test", "points"];
const [STRONG, SPARED] = [["head", "points"], ["here", "offset"]]; // which are bold; which a phone has no room for
const WORD = /^[^[]*\p{L}/u; // no [CLS], no full stop

const dotted = (head) => head.replace(".", "·");
const kindOf = (one) => (one.offset_test === null ? "pattern" : "relation");
const rowsOf = (run, { job }) => run.rows.filter((one) => job === "all" || kindOf(one) === job);

export function read(value) {
  if (!value.pieces) return null;
  const [layers, heads, count] = value.weights.shape;
  return { ...value, layers, heads, count };
}

const mapOf = (run, layer, head) => run.weights.slice(layer - 1, head - 1);

export function scene(run, look, pen) {
  const { big, narrow, width, tall } = pen;
  const found = rowsOf(run, look);
  const row = big ? Math.max(34, Math.min(72, tall / (found.length + 1))) : 27; // a hall's rows fill its screen
  const size = big ? (row > 44 ? 26 : 20) : 13;
  const header = Object.fromEntries(["finds", ...COLUMNS].map((name) => [name, t(TEXT[name])]));
  const cells = found.map((one) => ({
    ...numbers(one),
    finds: t(one.name),
    head: dotted(one.head),
    points: one.points === null ? "" : plus(one.points, 0),
  }));
  const columns = COLUMNS.filter((name) =>
    cells.some((one) => one[name].length > 1) && // not "–" alone
    !(width < 360 && SPARED.includes(name))
  );
  const air = big || width < 900 ? 16 : 36;
  const needs = (name) =>
    air +
    Math.max(...[header, ...cells].map((one) => pen.measure(one[name], { size, weight: 650 })));
  const ends = columns.map(needs).reduceRight((all, need) => [all[0] - need, ...all], [width - 6]);
  const room = big
    ? Math.max(0.3 * width, ends[0] - needs("finds") - 34)
    : narrow || width < 620
    ? width
    : Math.min(0.36 * width, 400);
  const grid = (layer, head_) => ({
    data: mapOf(run, layer, head_),
    rows: run.count,
    columns: run.count,
  });
  const made = drawTiles(pen, 0, 0, room, {
    ...run,
    grid,
    tall,
    one(layer, head_) {
      const name = `${layer}.${head_}`;
      const card = () => [t(TEXT.name, { name: dotted(name) }), ...said(run, name)];
      return { here: name === look.head, look: { head: name }, card };
    },
  });
  const beside = room < width;
  const left = beside ? (big ? made.width + 36 : room + 28) : 0;
  let y = beside ? 0 : made.height + 16;
  const line = (one, style, strong = style) => {
    pen.text(left + 4, y + row / 2, one.finds, { size, ...style, room: ends[0] - left - 2 });
    columns.forEach((name, n) =>
      pen.text(ends[n + 1], y + row / 2, one[name], {
        size,
        align: "right",
        ...(STRONG.includes(name) ? strong : style),
      })
    );
    y += row;
  };
  line(header, { size: big ? size : 12, weight: 650, colour: "ink2" });
  found.forEach((one, n) => {
    const box = { x0: left, x1: width, y0: y, y1: y + row };
    const locked = one.head === look.head;
    if (locked) pen.rect(box, { fill: "query-soft" });
    pen.line(left, y, width, y, { line: "line" });
    pen.hit({ ...box, look: { head: one.head }, card: () => [t(one.name), ...details(one)] });
    const colour = locked ? "query" : "ink";
    line(cells[n], { colour, weight: locked ? 650 : 400 }, { colour, weight: 650 });
  });
  pen.line(left, y, width, y, { line: "line" });
  pen.size(width, Math.max(y, made.height) + 4);
}

const numbers = (one) => ({
  here: number(one.here),
  offset: number(one.offset_test),
  test: number(one.test),
});
const steps = (offset) => t(offset < 0 ? TEXT.left : TEXT.right, { n: Math.abs(offset) });
const details = (
  one,
) => [
  `${t(TEXT.test)}: ${number(one.test)}`,
  ...(one.offset_test === null ? [] : [`${steps(one.offset)}: ${number(one.offset_test)}`]),
];
const said = (run, head) => run.rows.filter((one) => one.head === head).map((one) => t(one.name));

/** The strongest look of a head from one word to another. */
function strongest(run, head) {
  const map = mapOf(run, ...headOf(head));
  const words = run.pieces.map((piece, i) => (WORD.test(piece) ? i : -1)).filter((i) => i >= 0);
  return words.flatMap((from) => words.map((to) => ({ from, to, w: map[from * run.count + to] })))
    .reduce((best, one) => (one.from !== one.to && one.w > best.w ? one : best), { w: -1 });
}

export function sentence(run, look) {
  const found = rowsOf(run, look).find((one) => one.head === look.head);
  const { from, to, w } = strongest(run, look.head);
  const here = w < 0 ? [] : parts(TEXT.strongest, {
    from: { text: placed(run.pieces[from], from), role: "query" },
    to: { text: placed(run.pieces[to], to), role: "key" },
    w: weight(w),
  });
  const says = !found
    ? TEXT.unchosen
    : found.offset_test === null
    ? TEXT.isPattern
    : TEXT.isRelation;
  const told = found && { ...numbers(found), job: t(found.name), steps: steps(found.offset) };
  return [...parts(says, { head: { text: dotted(look.head), role: "query" }, ...told }), ...here];
}

export function table(run, look) {
  const columns = ["finds", ...COLUMNS].map((name) => t(TEXT[name]));
  const found = rowsOf(run, look);
  const rows = found.map((
    one,
  ) => [t(one.name), dotted(one.head), one.here, one.offset_test, one.test, one.points]);
  return {
    caption: t(TEXT.caption),
    columns,
    rows,
    here: found.findIndex((one) => one.head === look.head),
  };
}

export const looks = { head: "head", job: "choice" };
export const along = "head";
export const resets = ["head", "job"];
export const bounds = ({ layers, heads, pick }) => ({
  head: { layers, heads, pick: pick.head },
  job: { names: JOBS, pick: "all" },
});
export const units = (run) => t(TEXT.units, run);
export const arrays = ({ weights: { shape, data }, pieces }) => ({
  weights: { shape, data, axes: ["layer", "head", "query", "key"] },
  pieces,
});
export const choices =
  () => [oneOf("job", TEXT.which, JOBS.map((key) => ({ key, name: TEXT[key] })))];
export const same = () => true;

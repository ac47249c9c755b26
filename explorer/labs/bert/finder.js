// Find a head: all heads of the pretrained encoder small, beside a table of what was found in them: patterns, and
// grammatical relations against the best fixed distance. The value is made by explorer/labs/bert/views.py.

import { unpack } from "../../widgets/lib/arrays.js";
import { parts, t } from "../../widgets/lib/lang.js";
import { headOf, oneOf } from "../../widgets/lib/looking.js";
import { drawTiles } from "../../widgets/lib/map.js";
import { number } from "../../widgets/lib/maps.js";
import { placed, weight } from "../../widgets/lib/signs.js";
import { plus } from "../../widgets/lib/stripwords.js";

const TEXT = {
  board: { en: "{title}. Arrows choose a head, Escape resets.", zh: "{title}。方向键选择头，Esc 复位。" },
  units: { en: "MiniLM, {layers} layers × {heads} heads; chosen on dev, reported on UD English test", zh: "MiniLM，{layers} 层 × {heads} 个头；在开发集上选择，报告 UD 英语测试集" },
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
  unchosen: { en: "Head {head} was chosen for nothing in the table.", zh: "头 {head} 没有被选为任何一项。" },
  isPattern: { en: "Head {head}, {job}: {test} on test, {here} on this sentence.", zh: "头 {head}，{job}：测试集上 {test}，本句 {here}。" },
  isRelation: { en: "Head {head}, {job}: right in {test} of the cases on test; the best fixed distance, {steps}, in {offset}.", zh: "头 {head}，{job}：测试集上 {test} 指对；最好的固定距离（{steps}）为 {offset}。" },
  strongest: { en: " Here its strongest look from word to word goes from {from} to {to}, {w}.", zh: "本句中它最强的一处：从 {from} 看向 {to}，{w}。" },
  name: { en: "head {name}", zh: "头 {name}" },
};

const JOBS = ["pattern", "all", "relation"];
const COLUMNS = ["head", "here", "offset", "test", "points"];
const WORD = /^[^[]*\p{L}/u; // no [CLS], no full stop

const dotted = (head) => head.replace(".", "·");
const kindOf = (one) => (one.offset_test === null ? "pattern" : "relation");
const rowsOf = (run, { job }) => run.rows.filter((one) => job === "all" || kindOf(one) === job);

async function read(value) {
  if (!value.pieces) return null;
  const weights = await unpack(value.weights);
  const [layers, heads, count] = weights.shape;
  return { ...value, weights, layers, heads, count };
}

const mapOf = (run, layer, head) => run.weights.slice(layer - 1, head - 1);

function scene(run, look, pen) {
  const { big, narrow, width, tall } = pen;
  const found = rowsOf(run, look);
  const row = big ? Math.max(34, Math.min(72, tall / (found.length + 1))) : 27; // a hall's rows fill its screen
  const size = big ? (row > 44 ? 26 : 20) : 13;
  const head = { size: big ? size : 12, weight: 650, colour: "ink2" };
  const cells = found.map((one) =>
    ({ ...numbers(one), head: dotted(one.head), points: one.points === null ? "" : plus(one.points, 0) }));
  const told = COLUMNS.filter((name) => name === "head" || cells.some((one) => one[name].length > 1)); // not "–" alone
  const longest = (texts) => 16 + Math.max(...texts.map((text) => pen.measure(text, { size, weight: 650 })));
  const needs = told.map((name) => longest([t(TEXT[name]), ...cells.map((one) => one[name])]));
  const names = longest([t(TEXT.finds), ...found.map((one) => t(one.name))]);
  const room = big ? Math.max(0.3 * width, width - 40 - needs.reduce((a, b) => a + b, names))
    : narrow || width < 620 ? width : Math.min(0.36 * width, 400);
  const grid = (layer, head_) => ({ data: mapOf(run, layer, head_), rows: run.count, columns: run.count });
  const made = drawTiles(pen, 0, 0, room, { ...run, grid, tall, one(layer, head_) {
    const name = `${layer}.${head_}`;
    const card = () => [t(TEXT.name, { name: dotted(name) }), ...said(run, name)];
    return { here: name === look.head, look: { head: name }, card };
  } });
  const beside = room < width;
  const left = beside ? (big ? made.width + 36 : room + 28) : 0;
  let y = beside ? 0 : made.height + 16;
  const wide = width - left;
  const columns = big ? told : wide < 360 ? ["head", "test", "points"] : COLUMNS;
  const each = Math.min(84, ((narrow ? 0.52 : 0.62) * wide) / columns.length);
  const wides = big ? needs : columns.map(() => each);
  const ends = columns.map((_, n) => width - 6 - wides.slice(n + 1).reduce((a, b) => a + b, 0));
  const first = ends[0] - wides[0] - left;
  const line = (what, values, style, of = () => style) => {
    pen.text(left + 4, y + row / 2, what, { size, ...style, room: first - 2 });
    columns.forEach((name, n) =>
      pen.text(ends[n], y + row / 2, values[name], { size, align: "right", room: wides[n] - 4, ...of(name) }));
    y += row;
  };
  line(t(TEXT.finds), Object.fromEntries(columns.map((name) => [name, t(TEXT[name])])), head);
  found.forEach((one, n) => {
    const box = { x0: left, x1: width, y0: y, y1: y + row };
    const locked = one.head === look.head;
    if (locked) pen.rect(box, { fill: "query-soft" });
    pen.line(left, y, width, y, { line: "line" });
    pen.hit({ ...box, look: { head: one.head }, card: () => [t(one.name), ...details(one)] });
    const colour = locked ? "query" : "ink";
    line(t(one.name), cells[n], { colour, weight: locked ? 650 : 400 },
      (name) => ({ colour, weight: ["head", "points"].includes(name) ? 650 : 400 }));
  });
  pen.line(left, y, width, y, { line: "line" });
  pen.size(width, Math.max(y, made.height) + 4);
}

const numbers = (one) => ({ here: number(one.here), offset: number(one.offset_test), test: number(one.test) });
const steps = (offset) => t(offset < 0 ? TEXT.left : TEXT.right, { n: Math.abs(offset) });
const details = (one) => [`${t(TEXT.test)}: ${number(one.test)}`,
  ...(one.offset_test === null ? [] : [`${steps(one.offset)}: ${number(one.offset_test)}`])];
const said = (run, head) => run.rows.filter((one) => one.head === head).map((one) => t(one.name));

/** The strongest look of a head from one word to another. */
function strongest(run, head) {
  let best = { w: -1 };
  mapOf(run, ...headOf(head)).forEach((w, i) => {
    const [from, to] = [Math.floor(i / run.count), i % run.count];
    if (from !== to && WORD.test(run.pieces[from]) && WORD.test(run.pieces[to]) && w > best.w) best = { from, to, w };
  });
  return best;
}

function sentence(run, look) {
  const found = run.rows.find((one) => one.head === look.head && (look.job === "all" || kindOf(one) === look.job));
  const { from, to, w } = strongest(run, look.head);
  const here = w < 0 ? [] : parts(TEXT.strongest, { from: { text: placed(run.pieces[from], from), role: "query" },
    to: { text: placed(run.pieces[to], to), role: "key" }, w: weight(w) });
  const says = !found ? TEXT.unchosen : found.offset_test === null ? TEXT.isPattern : TEXT.isRelation;
  const told = found && { ...numbers(found), job: t(found.name), steps: steps(found.offset) };
  return [...parts(says, { head: { text: dotted(look.head), role: "query" }, ...told }), ...here];
}

function table(run, look) {
  const columns = ["finds", ...COLUMNS].map((name) => t(TEXT[name]));
  const found = rowsOf(run, look);
  const rows = found.map((one) => [t(one.name), dotted(one.head), one.here, one.offset_test, one.test, one.points]);
  return { caption: t(TEXT.caption), columns, rows, here: found.findIndex((one) => one.head === look.head) };
}

function arrays(run) {
  const { shape, data } = run.weights;
  return { weights: { shape, data, axes: ["layer", "head", "query", "key"] }, pieces: run.pieces };
}

export default {
  looks: { head: "head", job: "choice" },
  question: { en: "Which head does what?", zh: "哪个头做什么？" },
  label: TEXT.board,
  along: "head",
  resets: ["head", "job"],
  read,
  bounds: ({ layers, heads, pick }) =>
    ({ head: { layers, heads, pick: pick.head }, job: { names: JOBS, pick: "all" } }),
  units: (run) => t(TEXT.units, run),
  scene,
  sentence,
  table,
  arrays,
  choices: () => [oneOf("job", TEXT.which, JOBS.map((key) => ({ key, name: TEXT[key] })))],
  same: () => true,
};

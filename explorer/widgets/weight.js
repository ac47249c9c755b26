// How one weight comes about: the cell that the attention view has locked, worked out in five steps from the numbers of its head.

import { worked } from "./lib/arithmetic.js";
import { unpack } from "./lib/arrays.js";
import { el, segmented } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { folded } from "./lib/folded.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { NAME, ordinal, parts, plainText, shown, signed } from "./lib/maps.js";
import { table } from "./lib/raster.js";
import { bus, judge, request, view } from "./lib/state.js";
import { dark, onTheme } from "./lib/theme.js";
import { boards, number } from "./lib/weightboards.js";

const TITLE = { en: "How does one weight come about?", zh: "一个权重是怎么来的？" };
const TEXT = {
  steps: { en: "Steps of the arithmetic", zh: "计算步骤" },
  follows: { en: "It follows the cell that is locked in the map above: {kind}, layer {layer}, head {head}.", zh: "它跟随上图中锁定的格子：{kind}，第 {layer} 层第 {head} 头。" },
  hint: { en: "← → step · ↑ ↓ head · point at a cell for its number", zh: "← → 换步骤 · ↑ ↓ 换头 · 指向一格看它的数" },
  figure: { en: "{title} Left and right step through the arithmetic, up and down through heads.", zh: "{title}左右键换步骤，上下键换头。" },
  caption: { en: "Row {q}: every key's score and weight", zh: "{q} 这一行：每个键的分数与权重" },
};
const KINDS = { encoder: { en: "encoder self-attention", zh: "编码器自注意力" }, decoder: { en: "decoder self-attention", zh: "解码器自注意力" }, cross: { en: "cross-attention", zh: "交叉注意力" } };
const COLUMNS = [
  { en: "key", zh: "键" },
  { en: "q · k", zh: "q · k" },
  { en: "score", zh: "分数" },
  { en: "exp(score − largest)", zh: "exp(分数 − 最大值)" },
  { en: "weight", zh: "权重" },
];

const STEPS = [
  {
    key: "multiply",
    label: { en: "1 multiply", zh: "1 相乘" },
    question: { en: "Where do query and key agree?", zh: "查询与键在哪里一致？" },
    say: {
      en: "Element by element, query {q} times key {k}: {n} of {d} products are positive and add {plus}, {m} are negative and take {minus}; the largest is {most}, at element {at}.",
      zh: "查询 {q} 与键 {k} 逐元素相乘：{d} 个乘积中 {n} 个为正，共加 {plus}；{m} 个为负，共减 {minus}；最大的是元素 {at} 的 {most}。",
    },
  },
  {
    key: "sum",
    label: { en: "2 sum and scale", zh: "2 求和与缩放" },
    question: { en: "How well do query and key agree?", zh: "查询与键有多一致？" },
    say: {
      en: "The {d} products sum to {dot}; divided by √{d} = {root}, the score of key {k} for query {q} is {score}.",
      zh: "{d} 个乘积之和是 {dot}；除以 √{d} = {root}，键 {k} 对查询 {q} 的分数是 {score}。",
    },
    undivided: {
      en: "The {d} products sum to {dot}; the division by √{d} is left out, so that is the score of key {k} for query {q}.",
      zh: "{d} 个乘积之和是 {dot}；这里去掉了除以 √{d} 的一步，所以这就是键 {k} 对查询 {q} 的分数。",
    },
  },
  {
    key: "mask",
    label: { en: "3 mask", zh: "3 掩码" },
    question: { en: "Who may be looked at?", zh: "哪些键可以看？" },
    say: {
      en: "Row {q} has a score for each of {n} keys, from {low} to {high}; nothing is masked here, every key may be looked at.",
      zh: "{q} 这一行对 {n} 个键各有一个分数，从 {low} 到 {high}；这里没有掩码，每个键都可以看。",
    },
    causal: {
      en: "Row {q} may look at {n} keys, with scores from {low} to {high}; {m} keys {m|comes|come} later, and −∞ takes the place of {m|its score|their scores}.",
      zh: "{q} 这一行可以看 {n} 个键，分数从 {low} 到 {high}；{m} 个键在后面，它们的分数换成 −∞。",
    },
    hidden: {
      en: "Row {q} may look at {n} keys, with scores from {low} to {high}; {m} {m|is|are} hidden, and −∞ takes the place of {m|its score|their scores}.",
      zh: "{q} 这一行可以看 {n} 个键，分数从 {low} 到 {high}；{m} 个键被遮住，它们的分数换成 −∞。",
    },
  },
  {
    key: "softmax",
    label: { en: "4 softmax", zh: "4 softmax" },
    question: { en: "What becomes of the scores?", zh: "分数变成了什么？" },
    say: {
      en: "exp({score} − {highest}) = {raised}; of {sum} for the whole row that is the weight {w} of key {k}, {rank} of {n}; the row sums to {all}.",
      zh: "exp({score} − {highest}) = {raised}；整行合计 {sum}，所以键 {k} 的权重是 {w}，在 {n} 个中排第 {rank}；该行之和为 {all}。",
    },
    shut: {
      en: "Key {k} comes later than query {q}: exp(−∞) = 0, so its weight is 0; the other weights of the row sum to {all}.",
      zh: "键 {k} 在查询 {q} 之后：exp(−∞) = 0，权重为 0；该行其余权重之和为 {all}。",
    },
    hidden: {
      en: "Key {k} is hidden: exp(−∞) = 0, so its weight is 0; the other weights of the row sum to {all}.",
      zh: "键 {k} 被遮住：exp(−∞) = 0，权重为 0；该行其余权重之和为 {all}。",
    },
  },
  {
    key: "average",
    label: { en: "5 average of values", zh: "5 值的平均" },
    question: { en: "What does the query take home?", zh: "查询取走了什么？" },
    say: {
      en: "{w} of the value of key {k} and the shares of the other keys add up to {out}: {d} numbers from {low} to {high}. With those of the other heads they go through one more matrix.",
      zh: "键 {k} 的值的 {w} 倍，加上其他键的份额，得到{out}：{d} 个数，从 {low} 到 {high}。它们与其他头的输出拼在一起，再乘一个矩阵。",
    },
    silenced: {
      en: "{w} of the value of key {k} and the shares of the other keys add up to {out}: {d} numbers from {low} to {high}. This head is silenced: they count 0.",
      zh: "键 {k} 的值的 {w} 倍，加上其他键的份额，得到{out}：{d} 个数，从 {low} 到 {high}。这个头已关掉：它们按 0 计。",
    },
  },
];
const OUT = { en: "the output", zh: "输出" };

/** The shapes of a step, in the colours of their roles: [text, role][]. */
const shapes = ({ d, n, root }) => ({
  multiply: [["q", "query"], [` (${d},) × `], ["k", "key"], [` (${d},) → (${d},)`]],
  sum: [["q", "query"], [` (${d},) · `], ["k", "key"], [` (${d},) → ()${root > 1 ? `; ÷ √${d}` : ""}`]],
  mask: [["q", "query"], [` (${d},) · `], ["Kᵀ", "key"], [` (${d}, ${n})${root > 1 ? ` ÷ √${d}` : ""} → (${n},)`]],
  softmax: [[`softmax (${n},) → (${n},)`]],
  average: [[`(${n},) · `], ["V", "out"], [` (${n}, ${d}) → (${d},)`]],
});

/** props.signed: {light: [hex…], dark}. value: see weight.py. Event: ask({run, wish: {kind, layer, head}}). */
export function mount(root, props, emit, watch) {
  let look = null; // the cell in view: {kind, layer, head, row, col} from 0, as the attention view tells it
  let head = null; // the head whose numbers are here
  let it = null; // its weight, worked out
  let room = 0;
  let table_ = false;

  const steps = segmented({ options: [], value: "", label: "", onPick: (key) => pick(STEPS.findIndex((step) => step.key === key)) });
  const follows = el("p", { class: "tfe-note" });
  const title = el("h3", { class: "tfe-title" });
  const shape = el("span", { class: "tfe-units tfe-weight-shapes" });
  const board = el("div", { class: "tfe-weight-board" });
  const frame = el("div", { class: "tfe-weight-frame", tabindex: "0", role: "application" }, board);
  const readout = el("p", { class: "tfe-note tfe-weight-readout tfe-controls" });
  const words = el("p", { class: "tfe-words", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll tfe-weight-table", tabindex: "0", role: "region", hidden: true });
  const now = () => (it ? { drawing: board.firstChild, title: title.textContent, sentence: words.textContent, name: names(), more: [COLUMNS.map((column) => t(column)), ...tableRows()] } : null);
  const exports = exportBar(
    { ...leaving(now), CSV: saveCsv, NPZ: saveNpz },
    {
      onTable: (open) => {
        table_ = open;
        drawTable();
      },
    },
  );
  const figure = el("figure", { class: "tfe-weight-figure tfe-projectable" }, el("div", { class: "tfe-row" }, title, shape), el("div", { class: "tfe-controls" }, steps.node), frame, readout, words, el("div", { class: "tfe-controls" }, exports), sheet);

  const at = () => Math.max(0, Math.min(STEPS.length - 1, (Number(view.get("wstep")) || 1) - 1));
  const pick = (step) => view.set({ wstep: step + 1 });

  const panel = folded({
    root,
    key: "weight",
    title: TITLE,
    body: [follows, figure],
    props,
    watch,
    emit,
    keep: 16,
    wish: () => (look ? { kind: look.kind, layer: look.layer, head: look.head } : undefined),
    draw: take,
  });

  bus.on("looked", (next) => {
    const was = look;
    look = { ...next, row: next.row ?? look?.row ?? null, col: next.col ?? look?.col ?? null }; // without a lock the last cell stays
    if (!was || was.kind !== look.kind || was.layer !== look.layer || was.head !== look.head) panel.ask();
    else if (was.row !== look.row || was.col !== look.col) draw();
  });
  bus.fire("looking");
  if (look) panel.ask();

  const opened = new WeakMap(); // answers with their numbers unpacked
  async function take(value) {
    if (!opened.has(value)) opened.set(value, Promise.all([value.query, value.key, value.values].map(unpack)));
    const [query, key, values] = await opened.get(value);
    if (look && (look.kind !== value.kind || look.layer !== value.layer || look.head !== value.head)) return; // overtaken
    head = { value, query, key, values };
    draw();
  }

  function draw() {
    if (!head || !panel.opened()) return;
    const { value } = head;
    const same = look && look.kind === value.kind && look.layer === value.layer && look.head === value.head;
    if (look && !same) return; // its numbers are on their way
    judge({ wstep: (text) => /^\d+$/.test(text) && text >= 1 && text <= STEPS.length }, request.get());
    const row = Math.min(look?.row ?? 0, value.queries.length - 1);
    const column = Math.min(look?.col ?? 0, value.keys.length - 1);
    it = worked(head, row, column);
    room = Math.round(frame.clientWidth);
    const step = STEPS[at()];
    steps.set({ options: STEPS.map((each) => ({ key: each.key, label: t(each.label) })), value: step.key, label: t(TEXT.steps) });
    follows.textContent = t(TEXT.follows, { kind: t(KINDS[value.kind] ?? value.kind), layer: value.layer + 1, head: value.head + 1 });
    title.textContent = t(step.question);
    figure.dataset.question = t(step.question);
    shape.replaceChildren(...shapes(it)[step.key].map(([text, role]) => (role ? el("b", { class: `tfe-${role}`, text }) : document.createTextNode(text))));
    const list = sentence(step, it);
    words.replaceChildren(...list.map((part) => (part.role ? el("b", { class: `tfe-${part.role}`, dir: "auto", text: part.text }) : document.createTextNode(part.text))));
    frame.setAttribute("aria-label", `${t(TEXT.figure, { title: t(step.question) })} ${plainText(list)}`);
    readout.textContent = t(TEXT.hint);
    if (room) {
      const big = projected();
      const stops = props.signed[dark() ? "dark" : "light"];
      const pieces = { query: (i) => value.queries[i] ?? "", key: (j) => value.keys[j] ?? "", keyNumber: numbered };
      const made = boards({ width: big ? room : Math.min(room, 1100), big, signed: table(stops.map((colour, i) => [i / (stops.length - 1), colour])), pieces })[step.key](it);
      made.setAttribute("aria-label", plainText(list));
      board.replaceChildren(made);
    }
    root.dataset.drawn = `${value.kind} ${value.layer + 1}.${value.head + 1} ${row} ${column} ${step.key}`;
    root.dataset.weight = String(it.weights[column]);
    drawTable();
  }

  function sentence(step, w) {
    const sum = (list) => list.reduce((a, b) => a + b, 0);
    const open = Array.from(w.scores).filter(Number.isFinite);
    const positive = Array.from(w.products).filter((x) => x > 0);
    const negative = Array.from(w.products).filter((x) => x < 0);
    const best = w.products.indexOf(Math.max(...w.products));
    const q = NAME(head.value.queries[w.row], w.row, "query");
    const k = NAME(head.value.keys[w.column], numbered(w.column), "key");
    const allowed = w.allowed[w.column];
    const values = {
      multiply: { n: positive.length, m: negative.length, plus: number(sum(positive)), minus: number(-sum(negative)), most: number(w.products[best]), at: best },
      sum: { dot: number(w.dots[w.column]), root: number(w.root), score: number(w.dots[w.column] / w.root) },
      mask: { n: open.length, m: w.n - open.length, low: number(Math.min(...open)), high: number(Math.max(...open)) },
      softmax: {
        score: number(w.scores[w.column], 3),
        highest: number(w.most, 3),
        raised: number(w.raised[w.column], 4),
        sum: number(w.sum, 4),
        w: number(w.weights[w.column], 4),
        rank: ordinal(1 + Array.from(w.weights).filter((one) => one > w.weights[w.column]).length),
        n: open.length,
        all: number(sum(w.weights)),
      },
      average: { w: number(w.weights[w.column], 4), out: { text: t(OUT), role: "out" }, low: number(Math.min(...w.output)), high: number(Math.max(...w.output)) },
    }[step.key];
    const { causal, scaled, hidden, silenced } = head.value;
    const other = {
      sum: scaled ? null : "undivided",
      mask: causal ? "causal" : hidden.length ? "hidden" : null,
      softmax: allowed ? null : hidden.includes(w.column) ? "hidden" : "shut",
      average: silenced ? "silenced" : null,
    }[step.key];
    return parts(step[other ?? "say"], { q, k, d: w.d, ...values });
  }

  const tableRows = () =>
    Array.from({ length: it.n }, (_, j) => [`${shown(head.value.keys[j])}·${signed(numbered(j))}`, number(it.dots[j], 4), number(it.scores[j], 4), number(it.raised[j], 4), number(it.weights[j], 4)]);

  function drawTable() {
    sheet.hidden = !table_ || !it;
    if (sheet.hidden) return;
    const caption = t(TEXT.caption, { q: `“${shown(head.value.queries[it.row])}” (${it.row})` });
    sheet.setAttribute("aria-label", caption);
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: caption }),
        el("thead", {}, el("tr", {}, COLUMNS.map((column) => el("th", { scope: "col", text: t(column) })))),
        el("tbody", {}, tableRows().map((row, j) => el("tr", {}, row.map((cell, i) => el(i ? "td" : "th", { scope: i ? null : "row", class: j === it.column ? "here" : null, text: cell }))))),
      ),
    );
  }

  /** The position of a key: where the future is hidden the keys begin before the text, at −1. */
  const numbered = (j) => j - (head.value.kind === "decoder" ? 1 : 0);

  // ── taking it along ──
  const names = () => [head.value.kind, `${head.value.layer + 1}.${head.value.head + 1}`, `weight-${it.row}-${it.column}`];

  function saveCsv() {
    const rows = [["query_index", "query", "key_index", "key", "dot", "score", "raised", "weight"]];
    for (let j = 0; j < it.n; j += 1) rows.push([it.row, head.value.queries[it.row], numbered(j), head.value.keys[j], it.dots[j], it.allowed[j] ? it.scores[j] : "masked", it.raised[j], it.weights[j]]);
    save(fileName(names(), "csv"), csv(rows), "text/csv");
  }

  function saveNpz() {
    const flat = (data) => ({ shape: [data.length], data: Float64Array.from(data) });
    save(
      fileName(names(), "npz"),
      npz({
        query: flat(it.q),
        key: flat(it.k),
        products: flat(it.products),
        dots: flat(it.dots),
        scores: flat(it.scores),
        weights: flat(it.weights),
        output: flat(it.output),
        keys: { shape: head.key.shape, data: head.key.data },
        values: { shape: head.values.shape, data: head.values.data },
        pieces: Array.from(head.value.keys),
      }),
    );
  }

  // ── alive ──
  const projected = () => document.body.classList.contains("tfe-projecting") && figure.classList.contains("tfe-projected");
  const shift = (by) => {
    if (!head) return;
    const { layers, heads, layer, head: number_, kind } = head.value;
    const next = (layer * heads + number_ + by + layers * heads) % (layers * heads);
    view.set({ kind, head: `${Math.floor(next / heads) + 1}.${(next % heads) + 1}`, stat: null, row: it?.row ?? null, col: it?.column ?? null });
  };
  keys(frame, {
    ArrowLeft: () => pick(Math.max(0, at() - 1)),
    ArrowRight: () => pick(Math.min(STEPS.length - 1, at() + 1)),
    ArrowUp: () => shift(-1),
    ArrowDown: () => shift(1),
  });
  board.addEventListener("pointermove", (event) => {
    const say = event.target.closest?.("[data-say]")?.getAttribute("data-say");
    if (say) readout.textContent = say;
  });
  board.addEventListener("pointerleave", () => (readout.textContent = t(TEXT.hint)));
  view.on(["wstep"], draw);
  onLang(draw);
  onTheme(draw);
  new ResizeObserver(() => {
    if (Math.round(frame.clientWidth) !== room) draw();
  }).observe(frame);
  let was = false;
  new MutationObserver(() => {
    if (projected() === was) return;
    was = projected();
    requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

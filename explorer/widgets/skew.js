// Skewing on the run's own numbers: Q E_rᵀ, padded, read in shorter rows, cut, masked, and beside it the direct formula. One number is
// followed through all of it.

import { unpack } from "./lib/arrays.js";
import { el, segmented } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { folded } from "./lib/folded.js";
import { keys } from "./lib/keys.js";
import { agreed, onLang, t } from "./lib/lang.js";
import { table } from "./lib/raster.js";
import { STEPS, drawn, kind, number, places } from "./lib/skewboards.js";
import { judge, request, view } from "./lib/state.js";
import { dark, onTheme } from "./lib/theme.js";

const TITLE = { en: "How does “query by distance” become “query by key”?", zh: "“查询 × 距离”怎样变成“查询 × 键”？" };
const TEXT = {
  steps: { en: "Steps of skewing", zh: "倾斜变换的步骤" },
  follows: {
    en: "Real numbers: layer {layer}, head {head} of the {model}, {n} queries from event {first} of {of} on. Distances are counted in events; Eᵣ has {distances} of them.",
    zh: "真实的数：{model}第 {layer} 层第 {head} 头，从第 {first} 个事件（共 {of} 个）起的 {n} 个查询。距离以事件为单位；Eᵣ 有 {distances} 种距离。",
  },
  other: { en: " The {other} in view has no relative term.", zh: "当前所看的{other}没有相对位置项。" },
  queries: { en: "queries", zh: "查询数" },
  first: { en: "from event", zh: "从事件" },
  term: { en: "the relative term", zh: "相对位置项" },
  garbage: { en: "garbage: no such distance", zh: "无意义：没有这个距离" },
  pad: { en: "padding, not allowed", zh: "补零，不允许" },
  limits: { en: "from {low} to {high}", zh: "从 {low} 到 {high}" },
  hint: { en: "point at a number to follow it, click to keep it · ← → step · ↑ ↓ head", zh: "指向一个数，在各步中跟随它，点击锁定 · ← → 换步骤 · ↑ ↓ 换头" },
  figure: { en: "{title} Left and right go through the steps, up and down through heads.", zh: "{title}左右键换步骤，上下键换头。" },
  caption: { en: "Sᵣₑₗ after skewing, and by the direct formula", zh: "倾斜变换后的 Sᵣₑₗ，以及直接按公式计算的值" },
};
const QUESTIONS = {
  all: { label: { en: "whole", zh: "全部" }, question: { en: "How does the relative term come to stand where the scores stand?", zh: "相对位置项怎样来到分数所在的位置？" } },
  pad: { label: { en: "1 pad", zh: "1 补零" }, question: { en: "Every query times every distance, and a column of zeros", zh: "每个查询乘每个距离，再加一列零" } },
  reshape: { label: { en: "2 reshape", zh: "2 重排" }, question: { en: "The same numbers in rows one shorter: each row slips by one", zh: "同样的数，每行少一个：每行各错开一格" } },
  slice: { label: { en: "3 slice", zh: "3 切片" }, question: { en: "Without the first row, columns are keys", zh: "去掉第一行，列就是键" } },
  mask: { label: { en: "4 mask", zh: "4 掩码" }, question: { en: "The mask takes the garbage away, and what stays is the formula", zh: "掩码去掉无意义的数，剩下的正是公式" } },
};
const SAY = {
  term: {
    en: "{query} times the embedding of distance {d} is {v}. Skewing brings it to row {i}, column {j}: the key {d} events before, {key}.",
    zh: "{query}乘距离 {d} 的嵌入，得 {v}。倾斜变换把它带到第 {i} 行第 {j} 列：{d} 个事件之前的{key}。",
  },
  garbage: {
    en: "Nothing stands {d} events before {query}, so {v} means nothing. Skewing brings it to row {i}, column {j}, above the diagonal, and the mask takes it away.",
    zh: "{query}之前 {d} 个事件处什么也没有，所以 {v} 没有意义。倾斜变换把它带到第 {i} 行第 {j} 列，在对角线上方，由掩码去掉。",
  },
  cut: {
    en: "Nothing stands {d} events before {query}, so {v} means nothing. It falls into the first row, which is cut away.",
    zh: "{query}之前 {d} 个事件处什么也没有，所以 {v} 没有意义。它落在被切掉的第一行。",
  },
  pad: { en: "A zero that padding put in comes to stand at row {i}, column {j}, above the diagonal, and the mask takes it away.", zh: "补上的一个零来到第 {i} 行第 {j} 列，在对角线上方，由掩码去掉。" },
  padCut: { en: "A zero that padding put in falls into the first row, which is cut away.", zh: "补上的一个零落在被切掉的第一行。" },
};
const EQUAL = {
  en: " Of {all} numbers {n} are the relative term; there skewing and the direct formula differ by {most} at most.",
  zh: "{all} 个数中有 {n} 个是相对位置项；在那里，倾斜变换与直接公式最多相差 {most}。",
};
const QUERY = { en: "query {i} (makes {name})", zh: "查询 {i}（写出 {name}）" };
const KEY = { en: "key {j} (has read {name})", zh: "键 {j}（读入 {name}）" };
const COLUMNS = [
  { en: "query", zh: "查询" },
  { en: "key", zh: "键" },
  { en: "distance", zh: "距离" },
  { en: "skewed", zh: "倾斜变换" },
  { en: "direct", zh: "直接公式" },
];
const TENSORS = ["product", "padded", "reshaped", "sliced", "direct"];

/** "1.2 × 10⁻⁷"; "0" for none. */
function tiny(value) {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(value));
  const raised = String(exponent).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  return `${(value / 10 ** exponent).toFixed(1)} × 10${raised}`;
}

/** A text with {names}: those that are {text, role} keep their role, the rest is filled in. */
function parts(text, values) {
  return agreed(t(text), values)
    .split(/(\{\w+\})/)
    .map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      const value = name === undefined ? part : (values[name] ?? part);
      return typeof value === "object" ? value : { text: String(value) };
    });
}

/** props, value and event: see skew.py. */
export function mount(root, props, emit, watch) {
  let it = null; // the answer in view, its numbers unpacked
  let hovered = null;
  let room = 0;
  let table_ = false;

  const choose = segmented({ options: [], value: "all", label: "", onPick: (key) => view.set({ sstep: key === "all" ? null : key }) });
  const many = segmented({ options: [], value: "", label: "", onPick: (key) => view.set({ squeries: key, scell: null }) });
  const manyLabel = el("span", { class: "tfe-label" });
  const first = el("input", { class: "tfe-range", id: "tfe-skew-first", type: "range", min: "0", step: "1" });
  const firstLabel = el("label", { class: "tfe-label", for: "tfe-skew-first" });
  const firstSaid = el("output", { for: "tfe-skew-first" });
  first.addEventListener("input", paintFirst);
  first.addEventListener("change", () => view.set({ sfrom: first.value === "0" ? null : first.value, scell: null }));
  const follows = el("p", { class: "tfe-note" });
  const title = el("h3", { class: "tfe-title" });
  const legend = el("span", { class: "tfe-legend" });
  const board = el("div", { class: "tfe-skew-board" });
  const frame = el("div", { class: "tfe-skew-frame", tabindex: "0", role: "application" }, board);
  const hint = el("p", { class: "tfe-note tfe-controls" });
  const words = el("p", { class: "tfe-words", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll tfe-skew-table", tabindex: "0", role: "region", hidden: true });
  const now = () => (it ? { drawing: board.firstChild, title: title.textContent, sentence: words.textContent, name: names(), more: [COLUMNS.map((column) => t(column)), ...rows()] } : null);
  const exports = exportBar(
    { ...leaving(now), CSV: saveCsv, NPZ: saveNpz },
    {
      onTable: (open) => {
        table_ = open;
        drawTable();
      },
    },
  );
  const settings = el("div", { class: "tfe-row tfe-controls" }, choose.node, el("span", { class: "tfe-row tight" }, manyLabel, many.node), el("span", { class: "tfe-row tight tfe-skew-first" }, firstLabel, first, firstSaid));
  const figure = el("figure", { class: "tfe-skew-figure tfe-projectable" }, el("div", { class: "tfe-row apart" }, title, legend), settings, frame, hint, words, el("div", { class: "tfe-controls" }, exports), sheet);

  const whole = (key, low, high, other) => {
    const value = Number(view.get(key) ?? other);
    return Number.isInteger(value) && value >= low && value <= high ? value : other;
  };
  const queries = () => (props.queries.includes(Number(view.get("squeries"))) ? Number(view.get("squeries")) : props.queries.at(-1));
  const step = () => (view.get("sstep") in STEPS ? view.get("sstep") : "all");

  const panel = folded({
    root,
    key: "skew",
    title: TITLE,
    body: [follows, figure],
    props,
    watch,
    emit,
    keep: 16,
    wish: () => ({ model: view.get("model"), head: view.get("head"), queries: queries(), first: whole("sfrom", 0, 1e6, 0) }),
    draw: take,
  });

  const opened = new WeakMap(); // answers with their numbers unpacked
  let newest = null;
  async function take(value) {
    newest = value;
    if (!opened.has(value)) opened.set(value, Promise.all(TENSORS.map((name) => unpack(value[name]))));
    const arrays = await opened.get(value);
    if (newest !== value) return; // overtaken
    const values = Object.fromEntries(TENSORS.map((name, i) => [name, arrays[i].data]));
    it = { value, values, length: arrays[0].shape[0], limit: Math.max(1e-6, ...Array.from(values.product, Math.abs)) };
    draw();
  }

  /** The number that is followed: its place in the padded tensor. On arrival the largest of the term in the lower half. */
  function followed() {
    if (hovered !== null) return hovered;
    const { length, values } = it;
    const locked = whole("scell", 0, length * (length + 1) - 1, -1);
    if (locked >= 0) return locked;
    let best = length * (length + 1) - 1;
    for (let row = Math.floor(length / 2); row < length; row += 1) {
      for (let column = length - row; column < length; column += 1) {
        const place = row * (length + 1) + column;
        if (Math.abs(values.padded[place]) > Math.abs(values.padded[best])) best = place;
      }
    }
    return best;
  }

  function paintFirst() {
    firstSaid.textContent = first.value;
    first.style.setProperty("--at", `${(Number(first.value) / Math.max(1, Number(first.max))) * 100}%`);
  }

  function sentence(place) {
    const { length, value, values } = it;
    const where = places(place, length);
    const what = kind(place, length);
    const distance = where.product ? length - 1 - where.product[1] : null;
    const row = Math.floor(place / (length + 1));
    const [i, j] = where.sliced ?? [null, null];
    const filled = {
      query: { text: t(QUERY, { i: row, name: t(value.makes[row]) }), role: "query" },
      key: j === null || what !== "term" ? "" : { text: t(KEY, { j, name: t(value.reads[j]) }), role: "key" },
      d: distance,
      v: { text: number(values.padded[place], 3), role: "out" },
      i,
      j,
    };
    const say = what === "term" ? SAY.term : what === "pad" ? (where.sliced ? SAY.pad : SAY.padCut) : where.sliced ? SAY.garbage : SAY.cut;
    const list = parts(say, filled).filter((part) => part.text !== "");
    list[0] = { ...list[0], text: list[0].text[0].toUpperCase() + list[0].text.slice(1) };
    return [...list, ...parts(EQUAL, { all: length * length, n: (length * (length + 1)) / 2, most: tiny(value.difference) })];
  }

  const colours = () => {
    const stops = props.signed[dark() ? "dark" : "light"];
    const scale = table(stops.map((colour, i) => [i / (stops.length - 1), colour]));
    return (value) => {
      const at = 3 * Math.max(0, Math.min(255, Math.round((0.5 + value / (2 * it.limit)) * 255)));
      return [scale[at], scale[at + 1], scale[at + 2]];
    };
  };

  function draw() {
    if (!it || !panel.opened()) return;
    const { value, length } = it;
    const below = (limit) => (text) => /^\d+$/.test(text) && Number(text) < limit;
    judge(
      {
        squeries: (text) => props.queries.includes(Number(text)),
        sstep: (text) => text in STEPS,
        sfrom: (text) => text === String(value.first),
        scell: below(length * (length + 1)),
      },
      request.get(),
    );
    const here = QUESTIONS[step()];
    choose.set({ options: Object.entries(QUESTIONS).map(([key, { label }]) => ({ key, label: t(label) })), value: step(), label: t(TEXT.steps) });
    many.set({ options: props.queries.map((count) => ({ key: String(count), label: String(count) })), value: String(queries()), label: t(TEXT.queries) });
    manyLabel.textContent = t(TEXT.queries);
    firstLabel.textContent = t(TEXT.first);
    first.max = String(Math.max(0, value.events - length));
    first.value = String(value.first);
    paintFirst();
    follows.textContent =
      t(TEXT.follows, { layer: value.layer + 1, head: value.head + 1, model: t(value.model), n: length, first: value.first, of: value.events, distances: value.distances }) + (value.other ? t(TEXT.other, { other: t(value.other) }) : "");
    title.textContent = t(here.question);
    figure.dataset.question = t(here.question);
    hint.textContent = t(TEXT.hint);
    legend.replaceChildren(
      el("span", {}, el("span", { class: "tfe-scale signed" }), el("span", { text: `${t(TEXT.term)}, ${t(TEXT.limits, { low: number(-it.limit), high: number(it.limit) })}` })),
      el("span", {}, el("span", { class: "tfe-skew-mark hatched" }), el("span", { text: t(TEXT.garbage) })),
      el("span", {}, el("span", { class: "tfe-skew-mark" }), el("span", { text: t(TEXT.pad) })),
    );
    drawBoards();
    drawTable();
  }

  function drawBoards() {
    if (!it || !panel.opened()) return;
    room = Math.round(frame.clientWidth);
    const place = followed();
    const list = sentence(place);
    words.replaceChildren(...list.map((part) => (part.role ? el("b", { class: `tfe-${part.role}`, text: part.text }) : document.createTextNode(part.text))));
    const plain = list.map((part) => part.text).join("");
    frame.setAttribute("aria-label", `${t(TEXT.figure, { title: t(QUESTIONS[step()].question) })} ${plain}`);
    if (!room) return;
    const big = projected();
    const made = drawn({ width: big ? room : Math.min(room, 1320), big, step: step(), length: it.length, values: it.values, colour: colours(), followed: place });
    made.setAttribute("aria-label", plain);
    board.replaceChildren(made);
    root.dataset.drawn = `${it.value.layer + 1}.${it.value.head + 1} ${it.length} ${it.value.first} ${step()} ${place}`;
  }

  const rows = () => {
    const { length, values } = it;
    return Array.from({ length }, (_, i) => Array.from({ length: i + 1 }, (__, j) => [i, j, i - j, number(values.sliced[i * length + j], 6), number(values.direct[i * length + j], 6)])).flat();
  };

  function drawTable() {
    sheet.hidden = !table_ || !it;
    if (sheet.hidden) return;
    sheet.setAttribute("aria-label", t(TEXT.caption));
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: t(TEXT.caption) }),
        el("thead", {}, el("tr", {}, COLUMNS.map((column) => el("th", { scope: "col", text: t(column) })))),
        el("tbody", {}, rows().map((row) => el("tr", {}, row.map((cell, at) => el(at ? "td" : "th", { scope: at ? null : "row", text: String(cell) }))))),
      ),
    );
  }

  // ── taking it along ──
  const names = () => [`${it.value.layer + 1}.${it.value.head + 1}`, "skewing", step()];

  function saveCsv() {
    const { length, values, value } = it;
    const lines = [["query", "makes", "key", "has_read", "distance", "skewed", "direct"]];
    for (let i = 0; i < length; i += 1) {
      for (let j = 0; j <= i; j += 1) lines.push([i, t(value.makes[i]), j, t(value.reads[j]), i - j, values.sliced[i * length + j], values.direct[i * length + j]]);
    }
    save(fileName(names(), "csv"), csv(lines), "text/csv");
  }

  function saveNpz() {
    const { length, values, value } = it;
    const shapes = { padded: [length, length + 1], reshaped: [length + 1, length] };
    const arrays = Object.fromEntries(TENSORS.map((name) => [name, { shape: shapes[name] ?? [length, length], data: Float32Array.from(values[name]) }]));
    save(fileName(names(), "npz"), npz({ ...arrays, makes: value.makes.map((name) => t(name)), has_read: value.reads.map((name) => t(name)) }));
  }

  // ── alive ──
  const projected = () => document.body.classList.contains("tfe-projecting") && figure.classList.contains("tfe-projected");
  const order = Object.keys(STEPS);
  const go = (by) => {
    const next = order[Math.max(0, Math.min(order.length - 1, order.indexOf(step()) + by))];
    view.set({ sstep: next === "all" ? null : next });
  };
  const shift = (by) => {
    if (!it) return;
    const { layers, heads, layer, head } = it.value;
    const next = (layer * heads + head + by + layers * heads) % (layers * heads);
    view.set({ head: `${Math.floor(next / heads) + 1}.${(next % heads) + 1}` });
  };
  keys(frame, {
    ArrowLeft: () => go(-1),
    ArrowRight: () => go(1),
    PageUp: () => go(-1),
    PageDown: () => go(1),
    ArrowUp: () => shift(-1),
    ArrowDown: () => shift(1),
    Escape: () => (view.get("scell") === null ? false : view.set({ scell: null })),
  });
  const under = (event) => {
    const place = event.target.closest?.("[data-place]")?.getAttribute("data-place");
    return place === null || place === undefined ? null : Number(place);
  };
  const preview = (place) => {
    if (place === hovered || !it) return;
    hovered = place;
    drawBoards();
  };
  board.addEventListener("pointermove", (event) => event.pointerType !== "touch" && preview(under(event)));
  board.addEventListener("pointerleave", () => preview(null));
  board.addEventListener("click", (event) => {
    const place = under(event);
    if (place !== null) view.set({ scell: place });
  });
  view.on(["sstep"], draw);
  view.on(["scell"], drawBoards);
  view.on(["model", "head", "squeries", "sfrom"], () => {
    hovered = null;
    panel.ask();
  });
  onLang(draw);
  onTheme(draw);
  new ResizeObserver(() => {
    if (Math.round(frame.clientWidth) !== room) drawBoards();
  }).observe(frame);
  let was = false;
  new MutationObserver(() => {
    if (projected() === was) return;
    was = projected();
    requestAnimationFrame(drawBoards);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

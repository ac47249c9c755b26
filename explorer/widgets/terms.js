// The relative score in its four terms on the run's own numbers: four maps that add up to a fifth, and its softmax. One cell is told of in all.

import { unpack } from "./lib/arrays.js";
import { el, segmented } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { folded } from "./lib/folded.js";
import { keys } from "./lib/keys.js";
import { lang, onLang, t } from "./lib/lang.js";
import { table } from "./lib/raster.js";
import { judge, request, view } from "./lib/state.js";
import { MAPS, NAMES, cellAt, drawn, number, pixels, place, shown } from "./lib/termboards.js";
import { css, dark, onTheme } from "./lib/theme.js";

const TITLE = { en: "Why does a query look there? Four terms of one score", zh: "查询为什么看那里？一个分数的四项" };
const TEXT = {
  question: { en: "Which of the four terms decides where a query looks?", zh: "四项之中，哪一项决定查询看哪里？" },
  follows: {
    en: "Real numbers: layer {layer}, head {head} of {model}, {n} queries up to character {last}, {m} keys. A query has read the character before the one it is to say; a key carries the character just read there; distance 0 is the query’s own key. Divided by √d.",
    zh: "真实的数：{model} 第 {layer} 层第 {head} 头，到字符 {last} 为止的 {n} 个查询，{m} 个键。查询已读入它要说出的字符之前的那个；键携带在那里刚读入的字符；距离 0 是查询自己的键。均已除以 √d。",
  },
  other: { en: " {other} in view has no such terms.", zh: "当前所看的 {other} 没有这些项。" },
  off: { en: " {n} keys farther back {n|is|are} left out; the sentence tells {n|its|their} weight.", zh: "更远的 {n} 个键未画出；其权重在句中说明。" },
  queries: { en: "queries", zh: "查询数" },
  signed: { en: "terms and their sum, −{n} to {n}", zh: "各项与其和，−{n} 至 {n}" },
  weights: { en: "weight, 0 to 1 (colour: w^0.8)", zh: "权重，0 至 1（颜色：w^0.8）" },
  never: { en: "not allowed: later than the query", zh: "不允许：在查询之后" },
  hint: { en: "hover preview · click lock · Esc reset · ← → query · shift ← → key · ↑ ↓ head", zh: "悬停预览 · 点击锁定 · Esc 复位 · ← → 换查询 · shift ← → 换键 · ↑ ↓ 换头" },
  figure: { en: "{title} Left and right go through queries, with Shift through keys, up and down through heads.", zh: "{title} 左右键换查询，加 Shift 换键，上下键换头。" },
  equation: { en: "The score", zh: "分数" },
  caption: { en: "The keys that query {q} gives most", zh: "查询 {q} 给予最多的键" },
  key: { en: "key", zh: "键" },
  distance: { en: "distance", zh: "距离" },
};
const QUERIES_SHOWN = 20; // rows of the table

/** props, value and event: see terms.py. */
export function mount(root, props, emit, watch) {
  let it = null; // the answer in view, its numbers unpacked
  let hovered = null; // [query, key] under the pointer
  let room = 0;
  let table_ = false;
  let at = null;

  const many = segmented({ options: [], value: "", label: "", onPick: (key) => view.set({ tqueries: key }) });
  const manyLabel = el("span", { class: "tfe-label" });
  const follows = el("p", { class: "tfe-note" });
  const equation = el("p", { class: "tfe-terms-equation" });
  const legend = el("span", { class: "tfe-legend" });
  const board = el("div", { class: "tfe-terms-board" });
  const frame = el("div", { class: "tfe-terms-frame", tabindex: "0", role: "application" }, board);
  const hint = el("p", { class: "tfe-note tfe-controls" });
  const words = el("p", { class: "tfe-words", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll tfe-terms-table", tabindex: "0", role: "region", hidden: true });
  const now = () => (it ? { drawing: board.firstChild, title: t(TITLE), sentence: words.textContent, name: names(), more: rows() } : null);
  const exports = exportBar(
    { ...leaving(now), CSV: saveCsv, NPZ: saveNpz },
    {
      onTable: (open) => {
        table_ = open;
        drawTable();
      },
    },
  );
  const settings = el("div", { class: "tfe-row tfe-controls" }, el("span", { class: "tfe-row tight" }, manyLabel, many.node), hint);
  const figure = el("figure", { class: "tfe-terms-figure tfe-projectable" }, el("div", { class: "tfe-row apart" }, equation, legend), settings, frame, words, el("div", { class: "tfe-controls" }, exports), sheet);

  const queries = () => (props.queries.includes(Number(view.get("tqueries"))) ? Number(view.get("tqueries")) : props.queries[1]);
  const head = () => (/^\d+\.\d+$/.test(view.get("head") ?? "") ? view.get("head") : null);
  const position = () => {
    const last = (view.get("pos") ?? "").split(",").at(-1);
    return /^\d+$/.test(last) ? Number(last) : null;
  };
  const panel = folded({
    root,
    key: "terms",
    title: TITLE,
    body: [follows, figure],
    props,
    watch,
    emit,
    keep: 16,
    wish: () => ({ model: view.get("model"), head: head(), queries: queries(), pos: position() }),
    draw: take,
  });

  const opened = new WeakMap(); // answers with their numbers unpacked
  let newest = null;
  async function take(value) {
    newest = value;
    const wanted = [...MAPS, "allowed", "elsewhere", "u", "v"];
    if (!opened.has(value)) opened.set(value, Promise.all([...wanted.map((name) => unpack(value[name])), unpack(value.queries.positions), unpack(value.keys.positions)]));
    const arrays = await opened.get(value);
    if (newest !== value) return; // overtaken
    const values = Object.fromEntries(wanted.map((name, i) => [name, arrays[i].data]));
    const [count, columns] = arrays[0].shape;
    const limit = Math.max(1e-6, ...MAPS.slice(0, 5).map((name) => values[name].reduce((most, one) => Math.max(most, Math.abs(one)), 0)));
    const bias = Math.max(1e-6, ...[...values.u, ...values.v].map(Math.abs));
    const named = (which, i) => ({ names: value[which].names, positions: arrays[i].data });
    it = { value, values, rows: count, columns, limit, bias, queries: named("queries", arrays.length - 2), keys: named("keys", arrays.length - 1), images: null };
    hovered = null;
    draw();
  }

  const own = (q) => it.columns - it.rows + q; // the key of a query itself

  /** The cell that is told of: the one under the pointer, the locked one, or of the last query the key that gets most but its own. */
  function told() {
    if (hovered) return hovered;
    const said = /^(\d+)\.(\d+)$/.exec(view.get("tcell") ?? "");
    if (said) {
      const q = Math.max(0, it.rows - 1 - Number(said[1]));
      return [q, Math.max(0, own(q) - Number(said[2]))];
    }
    const q = it.rows - 1;
    let best = Math.max(0, own(q) - 1);
    for (let k = 0; k < own(q); k += 1) if (it.values.weights[q * it.columns + k] > it.values.weights[q * it.columns + best]) best = k;
    return [q, best];
  }

  const name = (which, i) => {
    const { names: texts, positions } = it[which];
    const zh = lang() === "zh";
    const text = `“${shown(texts[i])}”`;
    const place_ = positions[i];
    return positions[i] < 0 ? text : zh ? `${text}（${place_}）` : `${text} (${place_})`;
  };

  /** The sentence as pieces: texts, and {text, role}. */
  function sentence([q, k]) {
    const zh = lang() === "zh";
    const place_ = q * it.columns + k;
    const query = { text: zh ? `查询 ${name("queries", q)}` : `Query ${name("queries", q)}`, role: "query" };
    const key = { text: zh ? `键 ${name("keys", k)}` : `key ${name("keys", k)}`, role: "key" };
    if (!it.values.allowed[place_]) return zh ? [query, "不能看", key, "：它在查询之后。"] : [query, " may not look at ", key, ": it comes later."];
    const parts = MAPS.slice(0, 4).map((map) => it.values[map][place_]);
    const sum = parts.map((part, i) => (i ? `${part < -0.005 ? " − " : " + "}${number(Math.abs(part))}` : number(part))).join("");
    const w = it.values.weights[place_];
    const most = parts.reduce((best, part, i) => (Math.abs(part) > Math.abs(parts[best]) ? i : best), 0);
    const d = own(q) - k;
    const score = number(it.values.scores[place_]);
    const weight = w >= 0.0095 || w === 0 ? w.toFixed(2) : w.toPrecision(2);
    const off = it.values.elsewhere[q];
    const rest = it.value.left_off ? (zh ? `更远的 ${it.value.left_off} 个键共得 ${off.toFixed(2)}。` : ` The ${it.value.left_off} keys farther back get ${off.toFixed(2)}.`) : "";
    const largest = t(NAMES[MAPS[most]]);
    return zh
      ? [query, "，", key, `，距离 ${d}：${sum} = `, { text: score, role: "out" }, `，权重 ${weight}；最大的一项是“${largest}”。${rest}`]
      : [query, ", ", key, `, ${d} back: ${sum} = `, { text: score, role: "out" }, `, weight ${weight}; its largest term is “${largest}”.${rest}`];
  }

  /** Colours of a moment: [r, g, b] of a value on the signed scale of a limit, and of a weight. */
  const scaleOf = (stops, gamma) => table(stops, gamma);
  const pick = (scale, part) => {
    const i = 3 * Math.max(0, Math.min(255, Math.round(part * 255)));
    return [scale[i], scale[i + 1], scale[i + 2]];
  };
  const channels = (hex) => [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16));
  function painted() {
    const theme = dark();
    if (it.images?.theme === theme) return it.images;
    const stops = props.signed[theme ? "dark" : "light"];
    const signed = scaleOf(stops.map((colour, i) => [i / (stops.length - 1), colour]));
    const seen = scaleOf(props.weights, 0.8);
    const none = channels(css("--sunk"));
    const { values, rows: count, columns, limit, bias } = it;
    const maps = Object.fromEntries(MAPS.map((map) => [map, pixels(values[map], values.allowed, count, columns, map === "weights" ? (w) => pick(seen, w) : (one) => pick(signed, 0.5 + one / (2 * limit)), none)]));
    const strip = (data) => pixels(data, null, 1, data.length, (one) => pick(signed, 0.5 + one / (2 * bias)), none);
    it.images = { theme, maps, bias: { u: strip(values.u), v: strip(values.v), limit: bias } };
    return it.images;
  }

  function draw() {
    if (!it || !panel.opened()) return;
    const { value, rows: count, columns } = it;
    const cell = (text) => {
      const [, back, before] = (/^(\d+)\.(\d+)$/.exec(text) ?? []).map(Number);
      return back < count && before <= own(count - 1 - back);
    };
    judge({ tqueries: (text) => props.queries.includes(Number(text)), tcell: cell }, request.get());
    many.set({ options: props.queries.map((n) => ({ key: String(n), label: String(n) })), value: String(queries()), label: t(TEXT.queries) });
    manyLabel.textContent = t(TEXT.queries);
    follows.textContent =
      t(TEXT.follows, { layer: value.layer + 1, head: value.head + 1, model: t(value.model), n: count, m: columns, last: it.queries.positions.at(-1).toLocaleString("en") }) +
      (value.left_off ? t(TEXT.off, { n: value.left_off }) : "") +
      (value.other ? t(TEXT.other, { other: t(value.other) }) : "");
    figure.dataset.question = t(TEXT.question);
    hint.textContent = t(TEXT.hint);
    const piece = (role, text, sub) => el("span", { class: role ? `tfe-${role}` : null }, el("i", { text }), sub && el("sub", { text: sub }));
    const distance = () => [piece("key", "W"), piece("key", "R", "i−j")];
    equation.setAttribute("aria-label", t(TEXT.equation));
    equation.replaceChildren(piece("", "A", "ij"), " = ", piece("query", "q", "i"), " · ", piece("key", "k", "j"), " + ", piece("query", "q", "i"), " · ", ...distance(), " + ", piece("", "u"), " · ", piece("key", "k", "j"), " + ", piece("", "v"), " · ", ...distance());
    legend.replaceChildren(
      el("span", {}, el("span", { class: "tfe-scale signed" }), el("span", { text: t(TEXT.signed, { n: number(it.limit) }) })),
      el("span", {}, el("span", { class: "tfe-scale" }), el("span", { text: t(TEXT.weights) })),
      el("span", {}, el("span", { class: "tfe-terms-mark" }), el("span", { text: t(TEXT.never) })),
    );
    drawBoards();
    drawTable();
  }

  function drawBoards() {
    if (!it || !panel.opened()) return;
    room = Math.round(frame.clientWidth);
    const cell = told();
    const list = sentence(cell);
    words.replaceChildren(...list.map((part) => (typeof part === "string" ? document.createTextNode(part) : el("b", { class: `tfe-${part.role}`, text: part.text }))));
    const plain = list.map((part) => part.text ?? part).join("");
    frame.setAttribute("aria-label", t(TEXT.figure, { title: t(TEXT.question) }));
    if (!room) return;
    const big = projected();
    const how = { width: big ? room : Math.min(room, 1320), height: window.innerHeight - 390, big, narrow: room < 520, it, images: painted().maps, bias: painted().bias, cell };
    at = place(how);
    const made = drawn(how);
    made.setAttribute("aria-label", plain);
    board.replaceChildren(made);
    root.dataset.drawn = `${it.value.layer + 1}.${it.value.head + 1} ${it.rows} ${it.queries.positions.at(-1)} ${cell.join(",")}`;
  }

  /** The keys that the query told of gives most, with their six numbers. */
  function rows() {
    const [q] = told();
    const order = Array.from({ length: Math.max(0, own(q)) + 1 }, (_, k) => k).sort((a, b) => it.values.weights[q * it.columns + b] - it.values.weights[q * it.columns + a]);
    const lines = order.slice(0, QUERIES_SHOWN).map((k) => [name("keys", k), own(q) - k, ...MAPS.map((map) => number(it.values[map][q * it.columns + k], map === "weights" ? 4 : 3))]);
    return [[t(TEXT.key), t(TEXT.distance), ...MAPS.map((map) => t(NAMES[map]))], ...lines];
  }

  function drawTable() {
    sheet.hidden = !table_ || !it;
    if (sheet.hidden) return;
    const caption = t(TEXT.caption, { q: name("queries", told()[0]) });
    const [first, ...lines] = rows();
    sheet.setAttribute("aria-label", caption);
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: caption }),
        el("thead", {}, el("tr", {}, first.map((column) => el("th", { scope: "col", text: column })))),
        el("tbody", {}, lines.map((line) => el("tr", {}, line.map((one, i) => el(i ? "td" : "th", { scope: i ? null : "row", text: String(one) }))))),
      ),
    );
  }

  // ── taking it along ──
  const names = () => [`${it.value.layer + 1}.${it.value.head + 1}`, "terms", String(it.queries.positions.at(-1))];

  function saveCsv() {
    const lines = [["query", "says", "key", "carries", "distance", ...MAPS]];
    for (let q = 0; q < it.rows; q += 1)
      for (let k = 0; k < it.columns; k += 1) {
        const i = q * it.columns + k;
        if (it.values.allowed[i]) lines.push([it.queries.positions[q], it.queries.names[q], it.keys.positions[k], it.keys.names[k], own(q) - k, ...MAPS.map((map) => it.values[map][i])]);
      }
    save(fileName(names(), "csv"), csv(lines), "text/csv");
  }

  function saveNpz() {
    const shape = [it.rows, it.columns];
    const arrays = Object.fromEntries(MAPS.map((map) => [map, { shape, data: it.values[map] }]));
    const line = (data) => ({ shape: [data.length], data });
    save(
      fileName(names(), "npz"),
      npz({
        ...arrays,
        allowed: { shape, data: Uint8Array.from(it.values.allowed) },
        elsewhere: line(it.values.elsewhere),
        u: line(it.values.u),
        v: line(it.values.v),
        query_positions: line(Int32Array.from(it.queries.positions)),
        key_positions: line(Int32Array.from(it.keys.positions)),
        says: it.queries.names,
        carries: it.keys.names,
      }),
    );
  }

  // ── alive ──
  const projected = () => document.body.classList.contains("tfe-projecting") && figure.classList.contains("tfe-projected");
  const lock = ([q, k]) => view.set({ tcell: `${it.rows - 1 - q}.${Math.max(0, own(q) - k)}` });
  const go = (by, ofKey = false) => {
    if (!it) return;
    hovered = null;
    const [q, k] = told();
    if (ofKey) {
      lock([q, Math.max(0, Math.min(own(q), k + by))]);
      return;
    }
    const next = Math.max(0, Math.min(it.rows - 1, q + by));
    lock([next, Math.max(0, Math.min(own(next), k + next - q))]);
  };
  const shift = (by) => {
    if (!it) return;
    const { layers, heads, layer, head: number_ } = it.value;
    const next = (layer * heads + number_ + by + layers * heads) % (layers * heads);
    view.set({ head: `${Math.floor(next / heads) + 1}.${(next % heads) + 1}` });
  };
  keys(frame, {
    ArrowLeft: (event) => go(-1, event.shiftKey),
    ArrowRight: (event) => go(1, event.shiftKey),
    PageUp: () => go(-1),
    PageDown: () => go(1),
    ArrowUp: () => shift(-1),
    ArrowDown: () => shift(1),
    Escape: () => (view.get("tcell") === null ? false : view.set({ tcell: null })),
  });
  const under = (event) => {
    if (!it || !at || !board.firstChild) return null;
    const box = board.firstChild.getBoundingClientRect();
    const part = at.width / box.width;
    return cellAt(at, it, (event.clientX - box.left) * part, (event.clientY - box.top) * part);
  };
  const preview = (cell) => {
    if (!it || String(cell) === String(hovered)) return;
    hovered = cell;
    drawBoards();
  };
  board.addEventListener("pointermove", (event) => event.pointerType !== "touch" && preview(under(event)));
  board.addEventListener("pointerleave", () => preview(null));
  board.addEventListener("click", (event) => {
    const cell = under(event);
    if (!cell || !it.values.allowed[cell[0] * it.columns + cell[1]]) return;
    if (event.pointerType === "touch") hovered = null;
    lock(cell);
  });
  view.on(["tcell"], () => {
    drawBoards();
    drawTable();
  });
  view.on(["model", "head", "pos", "tqueries"], () => {
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

// Reversible layers on the run's own sequence: forward, then back from the outputs alone; and what that, and computing in parts, saves.

import { unpack } from "./lib/arrays.js";
import { el } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { folded } from "./lib/folded.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { NAME, parts } from "./lib/maps.js";
import { nested } from "./lib/nested.js";
import { drawn, place, positionAt, tiny } from "./lib/rewindboard.js";
import { bus, judge, positionsIn, request, view } from "./lib/state.js";
import { onTheme } from "./lib/theme.js";

const TITLE = { en: "What need not be kept? Reversible layers", zh: "什么不必保留？可逆层" };
const TEXT = {
  question: { en: "Do the inputs come back from the outputs alone?", zh: "只凭输出，能否找回输入？" },
  follows: {
    en: "Real numbers: {model}, {layers} on {n} positions, forward, then back from what the last layer gave.",
    zh: "真实的数：{model}，{layers}，{n} 个位置；先前向，再从最后一层的输出往回算。",
  },
  one: { en: "1 layer", zh: "1 层" },
  many: { en: "{n} layers", zh: "{n} 层" },
  forward: { en: "forward", zh: "前向" },
  back: { en: "back", zh: "往回" },
  spoken: { en: "y1 is x1 plus attention of x2; y2 is x2 plus the feed-forward network of y1. Back: x2 is y2 minus the feed-forward network of y1; x1 is y1 minus attention of x2.", zh: "y1 等于 x1 加 x2 的注意力；y2 等于 x2 加 y1 的前馈网络。往回：x2 等于 y2 减 y1 的前馈网络；x1 等于 y1 减 x2 的注意力。" },
  went: { en: "went in, then let go", zh: "进入，随后丢弃" },
  came: { en: "computed again from the outputs", zh: "由输出重新算出" },
  single: { en: "float32", zh: "float32" },
  double: { en: "float64", zh: "float64" },
  step: { en: "layer by layer", zh: "逐层" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  hint: { en: "hover preview · click lock · Esc reset · ← → step · shift ← → position · Space play", zh: "悬停预览 · 点击锁定 · Esc 复位 · ← → 步 · shift ← → 换位置 · 空格播放" },
  figure: { en: "{title} Left and right go forward and back through the layers, with Shift through positions; Space plays.", zh: "{title} 左右键逐层前进与返回，加 Shift 换位置；空格键播放。" },
  at: { en: "{i} of {n}", zh: "{i} / {n}" },
  begin: { en: "Nothing has gone in yet.", zh: "还没有输入进入。" },
  going: { en: "Forward through layer {l} of {n}: its input stands for the moment, and every earlier one is let go.", zh: "前向经过第 {l} 层（共 {n} 层）：此刻只存有它的输入，之前的都已丢弃。" },
  coming: { en: "Back through layer {l} of {n}: x₂ = y₂ − FF(y₁), then x₁ = y₁ − Attention(x₂). What comes back differs from what went in by {single} at most in float32, by {double} in float64.", zh: "往回经过第 {l} 层（共 {n} 层）：x₂ = y₂ − FF(y₁)，再 x₁ = y₁ − Attention(x₂)。找回的与原来的在 float32 下最多相差 {single}，在 float64 下最多 {double}。" },
  all: { en: "From the outputs alone the inputs of {layers} come back: they differ from what went in by {single} at most in float32, and by {double} in float64.", zh: "只凭输出就找回了 {layers}的输入：与原来的在 float32 下最多相差 {single}，在 float64 下最多 {double}。" },
  here: { en: " At {query} a vector of length {a} went into layer {l}, and one of length {b} came back.", zh: "在{query}，长度 {a} 的向量进入第 {l} 层，找回的长度为 {b}。" },
  position: { en: "position ", zh: "位置 " },
  caption: { en: "Largest difference between what went in and what came back, by layer", zh: "各层进入与找回的最大差" },
  layer: { en: "layer", zh: "层" },
  stored: { en: "stored", zh: "已存储" },
};
const PACE = 700; // ms that a step stands while it plays

/** props, value and event: see rewind.py. */
export function mount(root, props, emit, watch) {
  let it = null; // the answer in view, its numbers unpacked
  let hovered = null; // a position under the pointer
  let far = null; // one that another view points at
  let room = 0;
  let table_ = false;
  let at = null;
  let timer = null;

  // ── what stands where ──
  const follows = el("p", { class: "tfe-note" });
  const names_ = props.equations.map(() => el("span", { class: "tfe-label" }));
  const part = ([style, text]) => el(style === "sub" ? "sub" : "span", { text });
  const equation = el("div", { class: "tfe-rewind-equation", role: "img" }, props.equations.map((one, i) => el("span", { class: "tfe-rewind-equality" }, names_[i], el("i", {}, one.map(part)))));
  const slider = el("input", { class: "tfe-range", id: "tfe-rewind-step", type: "range", min: "0", step: "1", oninput: () => (stop(), look(Number(slider.value))) });
  const label = el("label", { class: "tfe-label", for: "tfe-rewind-step" });
  const said = el("output", { for: "tfe-rewind-step" });
  const play = el("button", { type: "button", class: "tfe-button small", onclick: () => toggle() });
  const legend = el("span", { class: "tfe-legend" });
  const hint = el("p", { class: "tfe-note tfe-controls" });
  const board = el("div", { class: "tfe-rewind-board" });
  const frame = el("div", { class: "tfe-rewind-frame", tabindex: "0", role: "application" }, board);
  const words = el("p", { class: "tfe-words", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll tfe-rewind-table", tabindex: "0", role: "region", hidden: true });
  const now = () => (it ? { drawing: board.firstChild, title: t(TEXT.question), sentence: words.textContent, name: names(), more: lines() } : null);
  const exports = exportBar(
    { ...leaving(now), CSV: saveCsv, NPZ: saveNpz },
    {
      onTable: (open) => {
        table_ = open;
        drawTable();
      },
    },
  );
  const knobs = el("div", { class: "tfe-rewind-knobs tfe-controls" }, play, label, slider, said);
  const figure = el("figure", { class: "tfe-rewind-figure tfe-projectable" }, el("div", { class: "tfe-row apart" }, equation, knobs), hint, legend, frame, words, el("div", { class: "tfe-controls" }, exports), sheet);
  const further = ["depth", "peers", "parts"].map((key) => ({ key, ...nested(props.plotly, `tfe-rewind-${key}`) }));
  const notes = el("div", { class: "tfe-rewind-notes" });
  const others = el("div", { class: "tfe-rewind-others" }, further.map(({ node }) => node), notes);

  const layerInView = () => {
    const found = /^(\d{1,2})\.\d{1,2}$/.exec(view.get("head") ?? "");
    return found && Number(found[1]) > 0 ? Number(found[1]) - 1 : null;
  };
  const panel = folded({ root, key: "rewind", title: TITLE, body: [follows, figure, others], props, watch, emit, keep: 8, wish: () => ({ model: view.get("model"), layer: layerInView() }), draw: take });

  const opened = new WeakMap(); // answers with their numbers unpacked
  let newest = null;
  async function take(value) {
    newest = value;
    if (!opened.has(value)) opened.set(value, Promise.all([unpack(value.forward), unpack(value.again)]));
    const [forward, again] = await opened.get(value);
    if (newest !== value) return; // overtaken
    if (it?.value !== value) {
      it = { value, forward: forward.data, again: again.data, layers: forward.shape[0], positions: forward.shape[1] };
      for (const { key, node, set } of further) {
        node.hidden = value[key] === null;
        set(value[key]);
      }
    }
    draw();
  }

  // ── what is looked at ──
  const step = () => {
    const text = view.get("rewindstep") ?? "";
    return /^\d{1,3}$/.test(text) ? Math.min(2 * it.layers, Number(text)) : 2 * it.layers;
  };
  const look = (number) => view.set({ rewindstep: number >= 2 * it.layers ? null : Math.max(0, number) });
  const position = () => {
    const locked = /(?:^|,)(\d+)$/.exec(view.get("pos") ?? "")?.[1];
    const found = hovered ?? far ?? (locked === undefined ? null : Number(locked));
    return found !== null && found < it.positions ? found : null;
  };

  // ── in words ──
  function sentence() {
    const number = step();
    const { layers, value } = it;
    const most = (list) => tiny(Math.max(...list));
    const counted = layers === 1 ? t(TEXT.one) : t(TEXT.many, { n: layers });
    const layer = number <= layers ? number : 2 * layers - number + 1;
    const whole = number >= 2 * layers;
    const say = number === 0 ? TEXT.begin : number <= layers ? TEXT.going : whole ? TEXT.all : TEXT.coming;
    const list = parts(t(say), { l: layer, n: layers, layers: counted, single: whole ? most(value.single) : tiny(value.single[layer - 1] ?? 0), double: whole ? most(value.double) : tiny(value.double[layer - 1] ?? 0) });
    const pos = position();
    if (pos === null || number <= layers) return list;
    const name = NAME(value.tokens[pos], pos, "query");
    const place_ = (layer - 1) * it.positions + pos;
    return [...list, ...parts(t(TEXT.here), { query: { ...name, text: t(TEXT.position) + name.text }, l: layer, a: it.forward[place_].toFixed(4), b: it.again[place_].toFixed(4) })];
  }

  // ── drawing ──
  function draw() {
    if (!it || !panel.opened()) return;
    const { value, layers } = it;
    judge({ rewindstep: positionsIn(2 * layers + 1) }, request.get());
    follows.textContent = t(TEXT.follows, { model: t(value.model), n: it.positions.toLocaleString("en"), layers: layers === 1 ? t(TEXT.one) : t(TEXT.many, { n: layers }) });
    figure.dataset.question = t(TEXT.question);
    [TEXT.forward, TEXT.back].forEach((one, i) => {
      names_[i].textContent = t(one);
    });
    equation.setAttribute("aria-label", t(TEXT.spoken));
    hint.textContent = t(TEXT.hint);
    label.textContent = t(TEXT.step);
    slider.setAttribute("aria-label", t(TEXT.step)); // a phone has no room for the label
    const mark = (kind, text) => el("span", {}, el("span", { class: `tfe-rewind-mark ${kind}` }), el("span", { text: t(text) }));
    legend.replaceChildren(mark("went", TEXT.went), mark("came", TEXT.came), mark("single", TEXT.single), mark("double", TEXT.double));
    notes.replaceChildren(...value.notes.map((note) => el("p", { class: "tfe-note", text: t(note) })));
    notes.hidden = !value.notes.length;
    drawBoard();
    drawTable();
  }

  function drawBoard() {
    if (!it || !panel.opened()) return;
    room = Math.round(frame.clientWidth);
    const number = step();
    slider.max = String(2 * it.layers);
    slider.value = String(number);
    slider.style.setProperty("--at", `${(100 * number) / (2 * it.layers)}%`);
    said.textContent = t(TEXT.at, { i: number, n: 2 * it.layers });
    play.textContent = t(timer ? TEXT.pause : TEXT.play);
    const list = sentence();
    words.replaceChildren(...list.map((one) => (one.role ? el("b", { class: `tfe-${one.role}`, text: one.text }) : document.createTextNode(one.text))));
    frame.setAttribute("aria-label", t(TEXT.figure, { title: t(TEXT.question) }));
    if (!room) return;
    const big = projected();
    const how = { width: big ? room : Math.min(room, 1320), height: window.innerHeight - 350, big, it, step: number, pos: position() };
    at = place({ ...how, layers: it.layers });
    const made = drawn(how);
    made.setAttribute("aria-label", words.textContent);
    board.replaceChildren(made);
    root.dataset.drawn = `${it.layers} ${number} ${how.pos ?? "–"}`;
  }

  const lines = () => [[t(TEXT.layer), t(TEXT.single), t(TEXT.double)], ...it.value.single.map((off, i) => [String(i + 1), tiny(off), tiny(it.value.double[i])])];

  function drawTable() {
    sheet.hidden = !table_ || !it;
    if (sheet.hidden) return;
    const [first, ...rest] = lines();
    sheet.setAttribute("aria-label", t(TEXT.caption));
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: t(TEXT.caption) }),
        el("thead", {}, el("tr", {}, first.map((column) => el("th", { scope: "col", text: column })))),
        el("tbody", {}, rest.map((row) => el("tr", {}, row.map((one, i) => el(i ? "td" : "th", { scope: i ? null : "row", text: one }))))),
      ),
    );
  }

  // ── taking it along ──
  const names = () => ["reversible", `${step()}`];

  function saveCsv() {
    const { tokens } = it.value;
    const rows = Array.from(it.forward, (norm, i) => [Math.floor(i / tokens.length) + 1, i % tokens.length, tokens[i % tokens.length], norm, it.again[i]]);
    save(fileName(["reversible"], "csv"), csv([["layer", "position", "token", "went_in", "came_back"], ...rows]), "text/csv");
  }

  function saveNpz() {
    const shape = [it.layers, it.positions];
    const line = (list) => ({ shape: [list.length], data: Float64Array.from(list) });
    save(fileName(["reversible"], "npz"), npz({ forward: { shape, data: it.forward }, again: { shape, data: it.again }, single: line(it.value.single), double: line(it.value.double), tokens: it.value.tokens }));
  }

  // ── alive ──
  const projected = () => document.body.classList.contains("tfe-projecting") && figure.classList.contains("tfe-projected");
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = t(TEXT.play);
  }
  function toggle() {
    if (!it || timer) return stop();
    if (step() >= 2 * it.layers) look(0);
    timer = setInterval(() => {
      if (!root.isConnected || step() >= 2 * it.layers) return stop();
      if (step() + 1 >= 2 * it.layers) stop();
      return look(step() + 1);
    }, PACE);
    return drawBoard();
  }
  const go = (by) => {
    if (!it) return;
    stop();
    look(step() + by);
  };
  const move = (by) => {
    if (!it) return;
    hovered = far = null;
    const from = position() ?? (by > 0 ? -1 : it.positions);
    view.set({ pos: Math.max(0, Math.min(it.positions - 1, from + by)) });
  };
  keys(figure, {
    ArrowLeft: (event) => (event.shiftKey ? move(-1) : go(-1)),
    ArrowRight: (event) => (event.shiftKey ? move(1) : go(1)),
    PageUp: () => go(-1),
    PageDown: () => go(1),
    " ": () => toggle(),
    Escape: () => {
      stop();
      return view.get("pos") === null && view.get("rewindstep") === null ? false : view.set({ pos: null, rewindstep: null });
    },
  });
  const beneath = (event) => {
    if (!it || !at || !board.firstChild) return null;
    const box = board.firstChild.getBoundingClientRect();
    return positionAt(at, it, ((event.clientX - box.left) * at.width) / box.width, ((event.clientY - box.top) * at.width) / box.width);
  };
  const preview = (found) => {
    if (!it || found === hovered) return;
    hovered = found;
    bus.fire("hover-pos", { pos: found });
    drawBoard();
  };
  board.addEventListener("pointermove", (event) => event.pointerType !== "touch" && preview(beneath(event)));
  board.addEventListener("pointerleave", () => preview(null));
  board.addEventListener("click", (event) => {
    const found = beneath(event);
    if (found === null) return;
    if (event.pointerType === "touch") hovered = null;
    const before = /^\d+(,\d+)*$/.test(view.get("pos") ?? "") ? view.get("pos").split(",").map(Number) : [];
    view.set({ pos: event.shiftKey ? [...before.filter((pos) => pos !== found), found].join(",") : found });
  });
  bus.on("hover-pos", ({ pos }) => {
    if (!it || hovered !== null) return; // our own
    const next = Number.isInteger(pos) && pos >= 0 && pos < it.positions ? pos : null;
    if (next === far) return;
    far = next;
    drawBoard();
  });
  view.on(["rewindstep", "pos"], drawBoard);
  view.on(["model", "head"], () => panel.ask());
  onLang(draw);
  onTheme(draw);
  new ResizeObserver(() => {
    if (Math.round(frame.clientWidth) !== room) drawBoard();
  }).observe(frame);
  let was = false;
  new MutationObserver(() => {
    if (projected() === was) return;
    was = projected();
    requestAnimationFrame(drawBoard);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

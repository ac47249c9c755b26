// What hashing misses of full attention: two maps of the same cells, what every query misses, and missed weight by rounds and buckets. Rounds
// are answered here; the map of another number of buckets is asked for, and its curve stands there meanwhile.

import { unpack } from "./lib/arrays.js";
import { el } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { folded } from "./lib/folded.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { NAME, parts, plainText } from "./lib/maps.js";
import { LEAST, drawn, percent, picture, place, under } from "./lib/missedboards.js";
import { headOf, inSquare, lostOf, met, missing, pooled, seenOf, telling } from "./lib/missednumbers.js";
import { table as scaleOf } from "./lib/raster.js";
import { bus, request, view } from "./lib/state.js";
import { css, dark, onTheme } from "./lib/theme.js";

const TITLE = { en: "What was missed?", zh: "漏掉了什么？" };
const TEXT = {
  question: { en: "How much of full attention does hashing miss?", zh: "哈希漏掉了完整注意力的多少？" },
  follows: {
    en: "Real numbers: layer {layer}, head {head} of {model}, {n} positions, chunks of {chunk} places, rotations from seed {seed}. A query may look at earlier keys; hashing lets it meet those in its own chunk and the one before.",
    zh: "真实的数：{model} 第 {layer} 层第 {head} 头，{n} 个位置，每块 {chunk} 位，旋转由种子 {seed} 产生。查询可以看更早的键；哈希只让它遇到自己块和前一块中的键。",
  },
  unhashed: { en: " This model was trained on full attention, without hashing; its queries are hashed here all the same.", zh: "此模型用完整注意力训练，没有哈希；这里仍将其查询做哈希。" },
  pooled: { en: " Maps pooled {n}×: a cell shows its largest weight.", zh: "图已按 {n}× 合并：每格显示其中最大的权重。" },
  rounds: { en: "rounds", zh: "轮数" },
  buckets: { en: "buckets", zh: "桶数" },
  missed: { en: "of the weight is missed", zh: "的权重被漏掉" },
  weights: { en: "weight, 0 to 1 (colour: w^0.8)", zh: "权重，0 至 1（颜色：w^0.8）" },
  gone: { en: "missed, weight {n} or more", zh: "漏掉，权重不低于 {n}" },
  sunk: { en: "never met: not looked at", zh: "从未相遇：未被看到" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  hint: { en: "hover preview · click lock · shift-click add · Esc reset · ← → round · shift ← → query · ↑ ↓ head · Space play", zh: "悬停预览 · 点击锁定 · shift 点击添加 · Esc 复位 · ← → 轮数 · shift ← → 换查询 · ↑ ↓ 换头 · 空格播放" },
  figure: { en: "{title} Left and right change the rounds, with Shift the query, up and down the head; Space plays the rounds.", zh: "{title} 左右键改变轮数，加 Shift 换查询，上下键换头；空格键逐轮播放。" },
  says: { en: "{r} with {b} buckets {see} {pairs} % of the pairs and {keep} {kept} % of the weight; {gone} % is missed.", zh: "{r}、{b} 个桶看到 {pairs} % 的查询–键对，保留 {kept} % 的权重；漏掉 {gone} %。" },
  one: { en: "1 round", zh: "1 轮" },
  many: { en: "{n} rounds", zh: "{n} 轮" },
  never: { en: " {query} misses {lost} %: {key} has weight {w}, and they meet in none of {of} rounds.", zh: "{query}漏掉 {lost} %：{key}的权重为 {w}，两者在 {of} 轮中都不相遇。" },
  later: { en: " {query} misses {lost} %: {key} has weight {w}, and they first meet in round {m}.", zh: "{query}漏掉 {lost} %：{key}的权重为 {w}，两者到第 {m} 轮才首次相遇。" },
  sees: { en: " {query} misses {lost} %; it meets {key}, weight {w}, in round {m}, and gives it {v} here.", zh: "{query}漏掉 {lost} %；它在第 {m} 轮遇到{key}（权重 {w}），这里给予 {v}。" },
  first: { en: " {query} has no earlier key, and nothing to miss.", zh: "{query}之前没有键，没有可漏掉的。" },
  waits: { en: " The maps for {b} buckets are on their way.", zh: "{b} 个桶的图正在计算。" },
  query: { en: "Query ", zh: "查询 " },
  key: { en: "key ", zh: "键 " },
  caption: { en: "Missed weight in per cent, by rounds and number of buckets", zh: "漏掉的权重（%），按轮数和桶数" },
};
const PACE = 600; // ms that a round stands while it plays

/** props, value and event: see missed.py. */
export function mount(root, props, emit, watch) {
  let it = null; // the answer in view, its numbers unpacked
  let pointed = null; // what is under the pointer: {square}, {query}, {point}, or {far: position} of another view
  let room = 0;
  let table_ = false;
  let at = null;
  let timer = null;

  // ── what stands where ──
  const slider = (id, name, onInput) => {
    const label = el("label", { class: "tfe-label", for: `tfe-missed-${id}` });
    const said = el("output", { for: `tfe-missed-${id}` });
    const input = el("input", { class: "tfe-range", id: `tfe-missed-${id}`, type: "range", step: "1", oninput: () => onInput(Number(input.value)) });
    const node = el("span", { class: "tfe-missed-knob" }, label, input, said);
    return {
      node,
      set(value, low, high, text) {
        label.textContent = t(name);
        Object.assign(input, { min: String(low), max: String(high), value: String(value) });
        input.style.setProperty("--at", `${(100 * (value - low)) / Math.max(1, high - low)}%`);
        input.setAttribute("aria-valuetext", text);
        said.textContent = text;
      },
    };
  };
  const byRounds = slider("rounds", TEXT.rounds, (value) => {
    stop();
    view.set({ missedrounds: value });
  });
  const byBuckets = slider("buckets", TEXT.buckets, (value) => view.set({ missedbuckets: it.value.kinds[value] }));
  const play = el("button", { type: "button", class: "tfe-button small", onclick: () => toggle() });
  const follows = el("p", { class: "tfe-note" });
  const big = el("strong", { class: "tfe-number tfe-missed-number" });
  const bigOf = el("span", { class: "tfe-label" });
  const legend = el("span", { class: "tfe-legend" });
  const board = el("div", { class: "tfe-missed-board" });
  const frame = el("div", { class: "tfe-missed-frame", tabindex: "0", role: "application" }, board);
  const hint = el("p", { class: "tfe-note tfe-controls" });
  const words = el("p", { class: "tfe-words", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll tfe-missed-table", tabindex: "0", role: "region", hidden: true });
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
  const knobs = el("div", { class: "tfe-missed-knobs tfe-controls" }, byRounds.node, byBuckets.node, play);
  const number = el("p", { class: "tfe-missed-numbers" }, big, bigOf);
  const figure = el("figure", { class: "tfe-missed-figure tfe-projectable" }, el("div", { class: "tfe-row apart tfe-missed-top" }, number, knobs), hint, legend, frame, words, el("div", { class: "tfe-controls" }, exports), sheet);

  const whole = (key) => (/^\d{1,3}$/.test(view.get(key) ?? "") ? Number(view.get(key)) : null);
  const wanted = () => ({ model: view.get("model"), head: /^\d+\.\d+$/.test(view.get("head") ?? "") ? view.get("head") : null, buckets: whole("missedbuckets") });
  const panel = folded({ root, key: "missed", title: TITLE, body: [follows, figure], props, watch, emit, keep: 16, wish: wanted, draw: take });

  const opened = new WeakMap(); // answers with their numbers unpacked
  let newest = null;
  async function take(value) {
    newest = value;
    if (!opened.has(value)) opened.set(value, Promise.all(["log_full", "first", "table", "pairs"].map((name) => unpack(value[name]))));
    const [log, first, table, pairs] = await opened.get(value);
    if (newest !== value) return; // overtaken
    if (it?.value !== value) {
      it = { value, head: headOf(log.data, first.data, value.tokens.length), table: table.data, pairs: pairs.data, rounds: table.shape[0], seen: null, images: null, asked: JSON.stringify([value.run, value.wish?.model ?? null, value.wish?.head ?? null]) };
      if (pointed && !("far" in pointed)) pointed = null;
    }
    draw();
  }

  // ── what is looked at ──
  /** [rounds, column] that the sliders stand at. */
  function chosen() {
    const { kinds, ran, trained } = it.value;
    const rounds = Math.max(1, Math.min(it.rounds, whole("missedrounds") ?? (ran[0] || trained || 4)));
    const column = kinds.indexOf(whole("missedbuckets") ?? it.value.chosen);
    return [rounds, column < 0 ? kinds.indexOf(it.value.chosen) : column];
  }
  const point = () => pointed?.point ?? chosen();
  const locked = () => {
    const said = view.get("pos") ?? "";
    return /^\d+(,\d+)*$/.test(said) ? said.split(",").map(Number).filter((pos) => pos < it.head.length) : [];
  };

  /** The pair that is told of: the one under the pointer, or of the locked query the heaviest key that is missed. */
  function told(rounds) {
    if (pointed?.square) {
      const pair = inSquare(it.head, rounds, pointed.square, at?.by ?? 1);
      if (pair) return pair;
    }
    const hovered = pointed?.far ?? pointed?.query ?? (pointed?.square ? pointed.square[0] : null);
    const query = Math.min(it.head.length - 1, hovered ?? locked().at(-1) ?? it.value.pos);
    return [query, telling(it.head, query, rounds)];
  }

  /** What these rounds see, worked out once. */
  function seenBy(rounds) {
    if (it.seen?.rounds !== rounds) it.seen = { rounds, map: seenOf(it.head, rounds), lost: lostOf(it.head, rounds), missing: missing(it.head, rounds, LEAST, 200) };
    return it.seen;
  }

  function painted(rounds, by) {
    const theme = dark();
    if (it.images?.theme !== theme || it.images.by !== by) it.images = { theme, by, full: null, seen: null, rounds: null };
    const scale = scaleOf(props.weights, 0.8);
    const none = [1, 3, 5].map((from) => Number.parseInt(css("--sunk").slice(from, from + 2), 16));
    const of = (map) => picture(pooled(map, it.head.length, by), scale, none);
    it.images.full ??= of(it.head.weights);
    if (it.images.rounds !== rounds) Object.assign(it.images, { rounds, seen: of(seenBy(rounds).map) });
    return it.images;
  }

  // ── in words ──
  function sentence([rounds, column], [q, k], old) {
    const { kinds, tokens } = it.value;
    const here = (rounds - 1) * kinds.length + column;
    const gone = percent(it.table[here]);
    const rest = gone.startsWith("<") ? ">99.9" : (100 - Number(gone)).toFixed(1);
    const list = parts(t(TEXT.says), { r: rounds === 1 ? t(TEXT.one) : t(TEXT.many, { n: rounds }), see: rounds === 1 ? "sees" : "see", keep: rounds === 1 ? "keeps" : "keep", b: kinds[column], pairs: percent(it.pairs[here]), kept: rest, gone });
    if (old) return [...list, { text: t(TEXT.waits, { b: kinds[column] }) }];
    const i = q * it.head.length + k;
    const name = (which, n, role) => ({ ...NAME(tokens[n], n, role), text: t(TEXT[which]) + NAME(tokens[n], n, role).text });
    const { first, weights } = it.head;
    const say = q === 0 ? TEXT.first : met(first[i], rounds) ? TEXT.sees : first[i] ? TEXT.later : TEXT.never;
    const digits = (w) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w.toPrecision(1));
    const filled = { query: name("query", q, "query"), key: name("key", k, "key"), lost: percent(100 * seenBy(rounds).lost[q]), w: digits(q ? weights[i] : 1), m: first[i], of: it.rounds, v: digits(seenBy(rounds).map[i] || 0) };
    return [...list, ...parts(t(say), filled)];
  }

  // ── drawing ──
  function draw() {
    if (!it || !panel.opened()) return;
    const { value } = it;
    const by = Math.ceil(it.head.length / 256);
    follows.textContent =
      t(TEXT.follows, { layer: value.layer + 1, head: value.head + 1, model: t(value.model), n: it.head.length.toLocaleString("en"), chunk: value.chunk, seed: value.seed }) +
      (value.trained ? "" : t(TEXT.unhashed)) +
      (by > 1 ? t(TEXT.pooled, { n: by }) : "");
    figure.dataset.question = t(TEXT.question);
    hint.textContent = t(TEXT.hint);
    bigOf.textContent = t(TEXT.missed);
    legend.replaceChildren(
      el("span", {}, el("span", { class: "tfe-scale" }), el("span", { text: t(TEXT.weights) })),
      el("span", {}, el("span", { class: "tfe-missed-mark out" }), el("span", { text: t(TEXT.gone, { n: LEAST }) })),
      el("span", {}, el("span", { class: "tfe-missed-mark" }), el("span", { text: t(TEXT.sunk) })),
    );
    drawBoards();
    drawTable();
  }

  function drawBoards() {
    if (!it || !panel.opened()) return;
    room = Math.round(frame.clientWidth);
    const [rounds, column] = chosen();
    const here = point();
    const { kinds } = it.value;
    byRounds.set(rounds, 1, it.rounds, String(rounds));
    byBuckets.set(column, 0, kinds.length - 1, String(kinds[column]));
    play.textContent = t(timer ? TEXT.pause : TEXT.play);
    big.textContent = `${percent(it.table[(here[0] - 1) * kinds.length + here[1]])} %`;
    const other = it.asked !== JSON.stringify([request.get(), wanted().model, wanted().head]); // of another run or head: all of it is old
    figure.classList.toggle("tfe-missed-stale", other);
    const old = kinds[here[1]] !== it.value.chosen;
    const pair = told(here[0]);
    const list = sentence(here, pair, old);
    words.replaceChildren(...list.map((part) => (part.role ? el("b", { class: `tfe-${part.role}`, text: part.text }) : document.createTextNode(part.text))));
    frame.setAttribute("aria-label", t(TEXT.figure, { title: t(TEXT.question) }));
    if (!room) return;
    const projected_ = projected();
    const how = { width: projected_ ? room : Math.min(room, 1400), height: window.innerHeight - 330, big: projected_, it };
    at = place({ ...how, length: it.head.length });
    const made = drawn({ ...how, images: painted(here[0], at.by), lost: seenBy(here[0]).lost, missing: seenBy(here[0]).missing, point: here, told: pair, rows: locked(), old });
    made.setAttribute("aria-label", plainText(list));
    board.replaceChildren(made);
    root.dataset.drawn = `${it.value.layer + 1}.${it.value.head + 1} ${here[0]} ${kinds[here[1]]}${old ? "?" : ""} ${pair.join(",")}`;
  }

  const lines = () => [[t(TEXT.rounds), ...it.value.kinds.map((count) => `${count} ${t(TEXT.buckets)}`)], ...Array.from({ length: it.rounds }, (_, i) => [String(i + 1), ...it.value.kinds.map((__, c) => it.table[i * it.value.kinds.length + c].toFixed(2))])];

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
        el("tbody", {}, rest.map((line) => el("tr", {}, line.map((one, i) => el(i ? "td" : "th", { scope: i ? null : "row", text: one }))))),
      ),
    );
  }

  // ── taking it along ──
  const names = () => [`${it.value.layer + 1}.${it.value.head + 1}`, "missed", String(chosen()[0]), String(it.value.chosen)];

  function saveCsv() {
    const { kinds } = it.value;
    const rows = Array.from(it.table, (gone, i) => [Math.floor(i / kinds.length) + 1, kinds[i % kinds.length], gone, it.pairs[i]]);
    save(fileName(names(), "csv"), csv([["rounds", "buckets", "missed_percent", "pairs_percent"], ...rows]), "text/csv");
  }

  function saveNpz() {
    const { kinds, tokens, chosen: buckets } = it.value;
    const [rounds] = chosen();
    const shape = [tokens.length, tokens.length];
    const grid = [it.rounds, kinds.length];
    const none = (map) => ({ shape, data: Float32Array.from(map, (w) => (w === w ? w : 0)) });
    const { map, lost } = seenBy(rounds);
    save(
      fileName(names(), "npz"),
      npz({
        full: none(it.head.weights),
        hashed: none(map),
        first_round: { shape, data: it.head.first },
        lost: { shape: [tokens.length], data: lost },
        rounds_buckets: { shape: [2], data: Int32Array.of(rounds, buckets) },
        missed_percent: { shape: grid, data: it.table },
        pairs_percent: { shape: grid, data: it.pairs },
        kinds: { shape: [kinds.length], data: Int32Array.from(kinds) },
        tokens,
      }),
    );
  }

  // ── alive ──
  const projected = () => document.body.classList.contains("tfe-projecting") && figure.classList.contains("tfe-projected");
  const go = (by) => {
    if (!it) return;
    pointed = null;
    view.set({ missedrounds: Math.max(1, Math.min(it.rounds, chosen()[0] + by)) });
  };
  const ask = (by) => {
    if (!it) return;
    pointed = null;
    const [query] = told(chosen()[0]);
    view.set({ pos: Math.max(0, Math.min(it.head.length - 1, query + by)) });
  };
  const shift = (by) => {
    if (!it) return;
    const { layers, heads, layer, head } = it.value;
    const next = (layer * heads + head + by + layers * heads) % (layers * heads);
    view.set({ head: `${Math.floor(next / heads) + 1}.${(next % heads) + 1}` });
  };
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = t(TEXT.play);
  }
  function toggle() {
    if (!it || timer) return stop();
    pointed = null;
    view.set({ missedrounds: chosen()[0] >= it.rounds ? 1 : chosen()[0] });
    timer = setInterval(() => {
      if (!root.isConnected || chosen()[0] >= it.rounds) return stop();
      go(1);
    }, PACE);
    return drawBoards();
  }
  keys(figure, {
    ArrowLeft: (event) => (event.shiftKey ? ask(-1) : (stop(), go(-1))),
    ArrowRight: (event) => (event.shiftKey ? ask(1) : (stop(), go(1))),
    PageUp: () => (stop(), go(-1)),
    PageDown: () => (stop(), go(1)),
    ArrowUp: () => shift(-1),
    ArrowDown: () => shift(1),
    " ": () => toggle(),
    Escape: () => {
      const mine = ["pos", "missedrounds", "missedbuckets"].some((key) => view.get(key) !== null);
      stop();
      return mine ? view.set({ pos: null, missedrounds: null, missedbuckets: null }) : false;
    },
  });
  const beneath = (event) => {
    if (!it || !at || !board.firstChild) return null;
    const box = board.firstChild.getBoundingClientRect();
    return under(at, it, ((event.clientX - box.left) * at.width) / box.width, ((event.clientY - box.top) * at.width) / box.width);
  };
  const preview = (found) => {
    if (!it || JSON.stringify(found) === JSON.stringify(pointed)) return;
    const was = pointed && !("far" in pointed) && !pointed.point;
    pointed = found;
    if (was || (found && !found.point)) bus.fire("hover-pos", { pos: found && !found.point ? told(point()[0])[0] : null });
    drawBoards();
  };
  board.addEventListener("pointermove", (event) => event.pointerType !== "touch" && preview(beneath(event)));
  board.addEventListener("pointerleave", () => preview(null));
  board.addEventListener("click", (event) => {
    const found = beneath(event);
    if (!found) return;
    pointed = null;
    if (found.point) {
      stop();
      view.set({ missedrounds: found.point[0], missedbuckets: it.value.kinds[found.point[1]] });
      return;
    }
    pointed = found;
    const [query] = told(chosen()[0]);
    if (event.pointerType === "touch") pointed = null;
    const before = locked();
    view.set({ pos: event.shiftKey && before.length ? [...before.filter((pos) => pos !== query), query].join(",") : query });
  });
  bus.on("hover-pos", ({ pos }) => {
    if (!it || (pointed && !("far" in pointed))) return; // our own
    const far = Number.isInteger(pos) && pos >= 0 && pos < it.head.length ? { far: pos } : null;
    if (JSON.stringify(far) === JSON.stringify(pointed)) return;
    pointed = far;
    drawBoards();
  });
  view.on(["missedrounds", "pos"], drawBoards);
  view.on(["model", "head", "missedbuckets"], () => {
    pointed = null;
    drawBoards();
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

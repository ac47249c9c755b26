// All heads small, one head large. The server sends the weights once; from then on every look is the browser's own.

import { unpack } from "./lib/arrays.js";
import { clear, el, segmented } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { blob, csv, exportBar, fileName, footLines, npz, page, save } from "./lib/export.js";
import { lang, onLang, t } from "./lib/lang.js";
import { attention, finely, isWord, keenest, number, ordinal, plainText, pooled, sentence, short, shorten, signed, strongest, telling, width } from "./lib/maps.js";
import { keys } from "./lib/keys.js";
import { longMap } from "./lib/longmap.js";
import { escape, plot } from "./lib/plot.js";
import { fit, paint, table } from "./lib/raster.js";
import { positionInView, stepInView, STEPS } from "./lib/steps.js";
import { bus, headIn, judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { css, dark, onTheme } from "./lib/theme.js";

const TEXT = {
  title: { en: "Attention", zh: "注意力" },
  kinds: { en: "Which attention", zh: "哪种注意力" },
  direction: { en: "Direction", zh: "方向" },
  to: { en: "attends to", zh: "看向" },
  by: { en: "attended by", zh: "被看" },
  threshold: { en: "threshold ≥ {n}", zh: "阈值 ≥ {n}" },
  weight: { en: "weight", zh: "权重" },
  size: { en: "{layers} layers × {heads} heads", zh: "{layers} 层 × {heads} 头" },
  previous: { en: "Previous head", zh: "上一个头" },
  next: { en: "Next head", zh: "下一个头" },
  layer: { en: "Layer {n}", zh: "第 {n} 层" },
  head: { en: "Head {n}", zh: "第 {n} 头" },
  pickLayer: { en: "Layer", zh: "层" },
  pickHead: { en: "Head", zh: "头" },
  mean: { en: "mean", zh: "平均" },
  max: { en: "max", zh: "最大" },
  rollout: { en: "rollout", zh: "逐层累积" },
  meanAll: { en: "mean of all {n} heads", zh: "全部 {n} 个头的平均" },
  maxAll: { en: "maximum of all {n} heads", zh: "全部 {n} 个头的最大值" },
  rolloutAll: { en: "rollout through {n} layers", zh: "穿过 {n} 层的累积" },
  jobs: { en: "Heads with a job", zh: "各司其职的头" },
  noJobs: { en: "No head does one clear thing here.", zh: "这里没有职责分明的头。" },
  whole: { en: "Whole map", zh: "整张图" },
  grid: { en: "{size}. Arrow keys choose a head, Shift and Enter silence it. Chosen: {name}.", zh: "{size}。方向键选择头，Shift 加 Enter 关掉它。当前：{name}。" },
  map: { en: "Attention map, {name}. Left and right step through rows, up and down through heads, Escape unlocks.", zh: "注意力图，{name}。左右键逐行移动，上下键换头，Esc 解除锁定。" },
  named: { en: "layer {layer}, head {head}", zh: "第 {layer} 层第 {head} 头" },
  only: { en: "the only head", zh: "唯一的头" },
  gone: { en: "silenced", zh: "已关掉" },
  cardWeight: { en: "weight", zh: "权重" },
  cardRank: { en: "{rank} of {n}", zh: "第 {rank}（共 {n}）" },
  cardDo: { en: "click to lock · shift-click to add", zh: "点击锁定 · shift-点击追加" },
  cardTap: { en: "tap again to lock", zh: "再点一次即锁定" },
  cardMasked: { en: "not allowed: it comes later", zh: "不允许：它在后面" },
  cardPooled: { en: "sum of {n} keys", zh: "{n} 个键之和" },
  tileTop: { en: "largest", zh: "最大" },
  tileBlock: { en: "largest block, a mean of sums:", zh: "最大的块（和的平均）：" },
  gridStill: { en: "{size}. Arrow keys choose a head. Chosen: {name}.", zh: "{size}。方向键选择头。当前：{name}。" },
  tileLook: { en: "click to look", zh: "点击查看" },
  tileDo: { en: "click to look · shift-click to silence", zh: "点击查看 · shift-点击关掉" },
  tileWake: { en: "click to look · shift-click to restore", zh: "点击查看 · shift-点击恢复" },
  masked: { en: "grey: not allowed; no query sees what comes later", zh: "灰色：不允许；查询看不到后面的内容" },
  pooledNote: { en: "pooled {n}×: each column is the sum of {n} keys", zh: "合并 {n}×：每列是 {n} 个键之和" },
  pooledMax: { en: "pooled {n}×: each column is the largest of {n} keys", zh: "合并 {n}×：每列取 {n} 个键中的最大值" },
  pooledBoth: { en: "{pooled}: a cell is the mean over {q} queries of the sum over {k} keys", zh: "{pooled}：每格先对 {k} 个键求和，再对 {q} 个查询取平均" },
  pooledRollout: { en: "multiplied from pooled maps, so an estimate", zh: "由合并后的图相乘而得，是估计值" },
  exactTake: { en: "“CSV 1×” and NPZ hold the exact rows of the chosen block", zh: "“CSV 1×”与 NPZ 含所选块的精确各行" },
  thresholdBlocks: { en: "blocks under {n} are drawn as 0", zh: "小于 {n} 的块画作 0" },
  noRows: { en: "Choose a block under one head first: its exact rows are then here.", zh: "请先在某个头下选一块，才有精确的各行。" },
  around: { en: "exact weights around the chosen block; keys under {n} in all rows are left out", zh: "所选块附近的精确权重；各行中都小于 {n} 的键已省略" },
  meanOfSums: { en: "the mean over queries of the sum over keys", zh: "对键求和再对查询取平均" },
  position: { en: "key", zh: "键" },
  thresholdNote: { en: "weights under {n} are drawn as 0", zh: "小于 {n} 的权重画作 0" },
  silencedNote: { en: "{name} is silenced: its weights stand, its output counts 0", zh: "{name} 已关掉：权重仍在，输出按 0 计" },
  rolloutOwn: {
    en: "Rollout (Abnar and Zuidema, 2020): in each layer half the mean attention, half the residual path; multiplied from layer 1 to {n}.",
    zh: "逐层累积（Abnar 与 Zuidema，2020）：每层一半取各头平均注意力，一半取残差通路，从第 1 层乘到第 {n} 层。",
  },
  rolloutCross: {
    en: "Rollout: the mean of all cross-attention heads, times the rollout through the encoder (Abnar and Zuidema, 2020), so it tells which input word arrives.",
    zh: "逐层累积：全部交叉注意力头的平均，再乘以编码器的累积（Abnar 与 Zuidema，2020），表示最终到达的是哪个输入词。",
  },
  stale: { en: "from your last sentence", zh: "来自上一个句子" },
  rows: { en: "rows: ", zh: "行：" },
  columns: { en: "columns: ", zh: "列：" },
  queries: { en: "queries", zh: "查询" },
  keys: { en: "keys", zh: "键" },
  question: { en: "Who looks at whom?", zh: "谁在看谁？" },
  caption: { en: "{kind}, {name}: weights of queries (rows) on keys (columns)", zh: "{kind}，{name}：查询（行）对键（列）的权重" },
  failed: { en: "The weights did not arrive: {why}. Run the input once more.", zh: "权重未能送达：{why}。请再运行一次。" },
  bars: { en: "The strongest keys of the locked row", zh: "锁定行中最强的键" },
  barsBlocks: { en: "The strongest blocks of the locked row", zh: "锁定行中最强的块" },
  other: { en: "Head", zh: "头" },
};

const STATS = ["mean", "max", "rollout"];
const GAP = 4;
const LEAST = 0.001; // weight of a key that stands in a saved page's table
const FONT = '"Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const font = (size, weight = 400) => `${weight} ${size}px ${FONT}`;
const whole = (text) => (/^\d+$/.test(text) ? Number(text) : null);
const list = (text) => [...new Set((text ?? "").split(",").map(whole).filter((n) => n !== null))];

export function mount(root, props, emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const kinds = segmented({ options: [], value: "", label: "", onPick: (key) => setKind(key) });
  const by = segmented({ options: [], value: "to", label: "", onPick: (key) => set({ by: key === "to" ? null : key, ...(key === "by" ? lockForBy() : {}) }) });
  const thresholdText = el("label", { class: "tfe-label", for: "tfe-attention-threshold" });
  const threshold = el("input", {
    type: "range",
    id: "tfe-attention-threshold",
    class: "tfe-range",
    min: "0",
    max: "1",
    step: "0.01",
    oninput: () => {
      draft = threshold.value;
      update();
      clearTimeout(resting);
      resting = setTimeout(settle, 200); // browsers bound how often a page may write its address
    },
    onchange: () => settle(),
  });
  const legend = el("span", { class: "tfe-attention-legend tfe-label" });
  const head = el(
    "div",
    { class: "tfe-attention-head tfe-controls" },
    title,
    kinds.node,
    by.node,
    el("span", { class: "tfe-attention-space" }),
    el("span", { class: "tfe-attention-threshold" }, thresholdText, threshold),
    legend,
  );

  const size = el("span", { class: "tfe-label" });
  const up = el("button", { type: "button", class: "tfe-attention-key", text: "↑", onclick: () => stepHead(-1) });
  const down = el("button", { type: "button", class: "tfe-attention-key", text: "↓", onclick: () => stepHead(1) });
  const pickLayer = el("select", { class: "tfe-select", onchange: () => setHead(Number(pickLayer.value), now.head) });
  const pickHead = el("select", { class: "tfe-select", onchange: () => (STATS.includes(pickHead.value) ? setStat(pickHead.value) : setHead(now.layer, Number(pickHead.value))) });
  const strip = el("div", { class: "tfe-attention-strip" }, size, el("span", { class: "tfe-attention-pickers" }, pickLayer, pickHead), el("span", { class: "tfe-attention-keys" }, up, down));
  const canvas = el("canvas", { class: "tfe-attention-tiles", tabindex: "0", role: "application" });
  const ring = el("span", { class: "tfe-attention-ring", "aria-hidden": "true" });
  const marks = el("span", { class: "tfe-attention-marks", "aria-hidden": "true" });
  const grid = el("div", { class: "tfe-attention-grid" }, marks, canvas, ring);
  const stats = el(
    "div",
    { class: "tfe-attention-stats", role: "group" },
    STATS.map((name) => el("button", { type: "button", class: "tfe-attention-stat", "data-stat": name, onclick: () => setStat(now.name === name ? null : name) }, el("canvas", { "aria-hidden": "true" }), el("span"))),
  );
  const jobsTitle = el("h3", { class: "tfe-label" });
  const jobs = el("ul", { class: "tfe-attention-jobs" });
  // A map on one screen leaves as it is drawn, with the exact rows below; of cells with names the whole figure is made anew.
  const whole_ = leaving(() => ({ drawing: long.drawing(now), title: [heading(), now.it.pooling()].filter(Boolean).join(" · "), sentence: saidNow(), name: names(), more: exactTable(), note: notes(false) }));
  const either = (kind, make) => () => (now.it.kind.look ? whole_[kind]() : make());
  const exports = exportBar(
    { PNG: either("PNG", () => picture("png")), SVG: either("SVG", () => picture("svg")), HTML: either("HTML", savePage), CSV: () => (now.it.blocks ? saveBlocks() : saveCsv()), "CSV 1×": saveRows, NPZ: saveNpz },
    { onTable: openTable },
  );
  const rowsButton = exports.querySelector('[data-kind="CSV 1×"]');
  const left = el("div", { class: "tfe-attention-left tfe-controls" }, strip, grid, el("div", { class: "tfe-attention-under" }, stats, el("div", { class: "tfe-attention-work" }, jobsTitle, jobs)), el("div", { class: "tfe-attention-take" }, exports));

  const roles = el("p", { class: "tfe-attention-roles tfe-legend" });
  const board = el("div", { class: "tfe-attention-plot" });
  const frame = el("div", { class: "tfe-attention-frame", tabindex: "0", role: "application" }, board);
  const zoomOut = el("button", { type: "button", class: "tfe-button small tfe-attention-whole", hidden: true, onclick: () => (figure.relayout(fullRange()), frame.focus()) });
  const scale = el("div", { class: "tfe-attention-scale", "aria-hidden": "true" }, el("span", { text: "1" }), el("span", { class: "bar" }), el("span", { text: "0" }));
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-attention-words" });
  const strengths = el("ol", { class: "tfe-attention-strengths" });
  const note = el("p", { class: "tfe-note tfe-attention-note" });
  const long = longMap({ onLock: (row, column) => (lock([row], [column]), frame.focus({ preventScroll: true })), onExact: () => value && drawWords(), colours: () => table(props.figure.data[0].colorscale) });
  frame.append(long.node);
  const right = el("div", { class: "tfe-attention-right" }, roles, el("div", { class: "tfe-attention-view" }, frame, scale, zoomOut), words, strengths, note);
  const body = el("div", { class: "tfe-attention-body" }, left, right);
  const sheet = el("div", { class: "tfe-attention-table tfe-scroll", tabindex: "0", role: "region", hidden: true });
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const panel = el("section", { class: "tfe-panel tfe-attention-panel" }, head, empty, body, sheet);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.classList.add("tfe-projectable");
  root.append(panel, card);
  frame.setAttribute("aria-describedby", words.id);

  // ── state ──
  let value = null;
  let draft = null; // the threshold while the slider moves
  let resting = 0;
  let seen = new Map(); // kind key -> attention()
  let now = null; // what is looked at, read from the address and completed
  let lastHead = [1, 1];
  const locked = () => view.get("row") !== null || view.get("col") !== null;
  let asked = locked() && request.get() !== ""; // is a result on its way for which the address holds the lock? then that result keeps it
  let chosen = view.get("head") !== null || view.get("stat") !== null || view.get("kind") !== null;
  let mine = false; // the change of the address under way is our own
  let changing = false; // is the answer under way that to a change of the model?
  let room = 0; // widths of the panel and of its two columns, measured when they change: asking costs a layout
  let roomLeft = 0;
  let roomRight = 0;
  let drawn = null; // the geometry of the picture that stands
  let over = null; // the row another widget points at
  let arriving = 0;
  let turn = 0; // how many pictures were begun

  const figure = plot(board, props.plotly, {
    plotly_click: (event) => clicked(event),
    plotly_hover: (event) => hovered(event),
    plotly_unhover: () => leave(),
    plotly_relayout: () => zoomed(),
  });

  /** What is looked at: the address, completed by the telling example and by what exists. */
  function read() {
    const kindKey = [view.get("kind"), value.pick?.kind].find((key) => seen.has(key)) ?? value.kinds[0].key;
    const it = seen.get(kindKey);
    judge({ kind: (key) => seen.has(key), head: headIn(it.layers, it.heads), ...(asked ? {} : { row: positionsIn(it.rows), col: positionsIn(it.columns) }) }, request.get());
    const stat = view.get("stat");
    const asHead = view.get("head");
    const picked = value.pick && value.pick.kind === kindKey ? `${value.pick.layer + 1}.${value.pick.head + 1}` : null;
    let head = it.has(asHead) && asHead.includes(".") ? asHead : it.has(picked) ? picked : `${Math.min(lastHead[0], it.layers)}.${Math.min(lastHead[1], it.heads)}`;
    const stepped_ = it.kind.axis === "step" ? stepInView(it.layers) : null;
    if (stepped_ !== null && asHead === null) head = `${stepped_}.${head.split(".")[1]}`;
    const [layer, number_] = head.split(".").map(Number);
    lastHead = [layer, number_];
    const name = STATS.includes(stat) ? stat : head;
    const [row, col] = [view.get("row"), view.get("col")];
    let rows = list(row).filter((i) => i < it.rows);
    let columns = list(col).filter((j) => j < it.columns);
    const held = it.kind.axis === "step" || value.positions ? heldIn(it) : null;
    if (row === null && col === null && held !== null) rows = [held];
    else if (row === null && col === null) {
      if (value.pick && value.pick.kind === kindKey && picked === name) [rows, columns] = [[value.pick.row], [value.pick.col]];
      else {
        const [i, j] = telling(it, it.map(name));
        [rows, columns] = [[i], [j]];
      }
    }
    // A row without a key shows its strongest key, whichever head is looked at.
    const follows = col === null && rows.length === 1 && !columns.length;
    const silent = rows.length === 1 && it.gone(rows[0], STATS.includes(stat) ? 0 : layer); // it asks nothing any more
    if (silent && follows) columns = [];
    else if (follows) columns = [strongest(it.map(name), rows[0])];
    const thr = Number(draft ?? view.get("thr"));
    return { it, kindKey, name, layer, head: number_, rows, columns, follows, by: view.get("by") === "by", threshold: thr > 0 && thr <= 1 ? thr : 0 };
  }

  function settle() {
    clearTimeout(resting);
    if (draft === null) return;
    const chosen_ = Number(draft);
    draft = null;
    set({ thr: chosen_ ? chosen_.toFixed(2) : null });
  }

  function set(patch) {
    mine = true;
    try {
      view.set(patch);
    } finally {
      mine = false;
    }
    update();
  }

  function lock(rows, columns) {
    asked = false;
    const text = (numbers) => (numbers.length ? numbers.join(",") : "none");
    set({ row: text(rows), col: columns.length ? columns.join(",") : rows.length ? null : "none", ...((stepping() || value.positions) && rows.length === 1 ? { pos: rows[0] * ((value.positions && now.it.kind.pooled?.[0]) || 1) } : {}) });
  }

  /** The row of the position that other views have locked, or null: a row may stand for several. */
  function heldIn(it) {
    const [by] = (value.positions && it.kind.pooled) || [1];
    const at = positionInView(it.rows * by);
    return at === null ? null : Math.floor(at / by);
  }

  /** Does the first axis count steps? Then this view and the one of the steps look at the same step and position. */
  const stepping = () => now?.it.kind.axis === "step";
  const say = (name, values) => t((stepping() && STEPS[name]) || TEXT[name], values);

  const lockForBy = () => (now && !now.columns.length && now.rows.length ? { col: strongest(now.it.map(now.name), now.rows[0]) } : {});

  function setKind(key) {
    if (!now || key === now.kindKey) return;
    chosen = true;
    const [from, to] = [now.it, seen.get(key)];
    // The same queries: the row stays locked, so that one word's looks can be compared. Otherwise a telling cell of the new map.
    const same = from.kind.queries.join("\n") === to.kind.queries.join("\n") && now.rows.length;
    set({ kind: key, head: now.name.includes(".") && to.has(now.name) ? now.name : view.get("head"), row: same ? now.rows.join(",") : null, col: null });
  }

  /** Opens a head with a job; one that is about two words is shown at their cell. */
  function takeJob(job) {
    chosen = true;
    const place = job.row === undefined ? keep() : { row: job.row, col: job.col };
    set({ head: `${job.layer + 1}.${job.head + 1}`, stat: null, kind: now.kindKey, ...place, ...(stepping() ? { step: job.layer + 1 } : {}) });
  }

  function setHead(layer, head_) {
    chosen = true;
    set({ head: `${layer}.${head_}`, stat: null, kind: now.kindKey, ...keep(), ...(stepping() ? { step: layer } : {}) });
  }

  function setStat(name) {
    chosen = true;
    set({ stat: name, head: `${now.layer}.${now.head}`, kind: now.kindKey, ...keep() });
  }

  // The same cell is compared across heads, so the lock is written down before the head changes.
  const keep = () => ({ row: now.rows.length ? now.rows.join(",") : "none", col: now.columns.length && !now.follows ? now.columns.join(",") : now.rows.length ? null : "none" });

  function stepHead(by_) {
    const count = now.it.layers * now.it.heads;
    const at = (now.layer - 1) * now.it.heads + now.head - 1;
    const next = now.name.includes(".") ? (at + by_ + count) % count : at;
    setHead(Math.floor(next / now.it.heads) + 1, (next % now.it.heads) + 1);
  }

  function stepRow(by_) {
    if (now.by) {
      const at = now.columns[0] ?? (by_ > 0 ? -1 : 0);
      const j = (at + by_ + now.it.columns) % now.it.columns;
      lock([keenest(now.it.map(now.name), j)], [j]);
    } else {
      const at = now.rows[0] ?? (by_ > 0 ? -1 : 0);
      const i = (at + by_ + now.it.rows) % now.it.rows;
      lock([i], []);
    }
  }

  function reset() {
    leave();
    asked = false;
    set({ row: "none", col: "none", thr: null });
    figure.relayout(fullRange());
  }

  // ── a new result ──
  async function arrive() {
    const mineTurn = (arriving += 1);
    const next = props.value;
    if (!next || !next.kinds) {
      value = null;
      draw();
      return;
    }
    let arrays;
    try {
      arrays = await Promise.all(next.kinds.map((kind) => unpack(kind.weights)));
    } catch (error) {
      note.textContent = t(TEXT.failed, { why: error.message });
      note.hidden = false;
      return;
    }
    if (mineTurn !== arriving) return; // a newer result overtook this one
    const before = value && sign(value);
    value = next;
    seen = new Map();
    value.kinds.forEach((kind, i) => seen.set(kind.key, attention(kind, arrays[i], (key) => seen.get(key) ?? null)));
    if (before !== null && before !== sign(value) && !asked) {
      // Another sentence: a lock of the old one tells nothing here. What the visitor chose to look at stays.
      mine = true;
      view.set(chosen ? { row: null, col: null } : { kind: null, head: null, stat: null, row: null, col: null });
      mine = false;
    }
    if (changing && before === sign(value) && !asked && now) stay();
    changing = false;
    if (before !== null) asked = false;
    leave();
    options();
    update(true);
  }

  /** The model was changed, and the input is the same: the head in view stays, though another one may now tell more. */
  function stay() {
    const { kindKey, name, layer, head } = now;
    const it = seen.get(kindKey);
    if (!it || !name.includes(".") || read().name === name) return;
    mine = true;
    view.set({ kind: kindKey, head: it.has(name) ? name : `${Math.min(layer, it.layers)}.${Math.min(head, it.heads)}` });
    mine = false;
  }

  const sign = (made) => JSON.stringify(made.kinds.map((kind) => [kind.queries, kind.keys]));

  function options() {
    if (!value) return;
    kinds.set({ options: value.kinds.map((kind) => ({ key: kind.key, label: t(kind.label) })), label: t(TEXT.kinds) });
  }

  function update(all = false) {
    if (!value) return;
    now = read();
    draw(all);
    tell();
  }

  /** Others may follow the cell in view: {kind, layer, head, row, col} from 0, row and col null without a lock. */
  const tell = () => bus.fire("looked", { kind: now.kindKey, layer: now.layer - 1, head: now.head - 1, row: now.rows[0] ?? null, col: now.columns[0] ?? null });

  // ── texts ──
  const shortName = () => (now.name.includes(".") ? `${now.layer}·${now.head}` : say(now.name));
  const single = () => now.it.layers * now.it.heads === 1; // then there is no head to choose
  const longName = () =>
    single() ? t(TEXT.only) : now.name.includes(".") ? say("named", { layer: now.layer, head: now.head }) : say(`${now.name}All`, { n: now.name === "rollout" ? now.it.layers : now.it.layers * now.it.heads, heads: now.it.heads });
  const isGone = (layer, head_, kind = now.kindKey) => (value.silenced ?? []).some(([k, l, h]) => k === kind && l === layer - 1 && h === head_ - 1);
  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;
  const phone = () => room < 560 && !projecting();

  function labels() {
    title.textContent = t(TEXT.title);
    by.set({ options: [{ key: "to", label: t(TEXT.to) }, { key: "by", label: t(TEXT.by) }], label: t(TEXT.direction), value: now?.by ? "by" : "to" });
    clear(legend).append(t(TEXT.weight), " 0 ", el("span", { class: "tfe-scale" }), " 1");
    up.setAttribute("aria-label", t(TEXT.previous));
    down.setAttribute("aria-label", t(TEXT.next));
    pickHead.setAttribute("aria-label", t(TEXT.pickHead));
    jobsTitle.textContent = t(TEXT.jobs);
    zoomOut.textContent = t(TEXT.whole);
    empty.textContent = t(props.empty ?? { en: "Nothing has been run yet.", zh: "还没有运行结果。" });
  }

  // ── drawing ──
  let tilesKey = "";
  let tiles = { width: 44, height: 40, left: 24, top: 20, layers: [1] };

  function draw(all = false) {
    const nothing = !value;
    empty.hidden = !nothing;
    body.hidden = nothing;
    for (const node of [kinds.node, by.node, legend, threshold.parentElement]) node.hidden = nothing;
    if (nothing) {
      sheet.hidden = true;
      return;
    }
    turn += 1;
    panel.classList.toggle("is-phone", phone());
    panel.classList.toggle("is-single", single());
    body.classList.toggle("tfe-stale", value.state === "stale");
    kinds.set({ value: now.kindKey });
    by.set({ value: now.by ? "by" : "to" });
    threshold.value = String(now.threshold);
    threshold.style.setProperty("--at", `${now.threshold * 100}%`);
    thresholdText.textContent = t(TEXT.threshold, { n: now.threshold.toFixed(2) });
    size.textContent = say("size", { layers: now.it.layers, heads: now.it.heads });
    if (!roomRight || !roomLeft) [roomLeft, roomRight] = [phone() ? body.clientWidth || panel.clientWidth - 26 : left.clientWidth, right.clientWidth];
    drawTiles(all);
    drawMap();
    drawWords();
    drawJobs();
    if (!sheet.hidden) drawTable();
  }

  function drawTiles(all) {
    const { it } = now;
    const narrow = phone();
    const inside = roomLeft || 412;
    const layers = narrow ? [now.layer] : Array.from({ length: it.layers }, (_, i) => i + 1);
    const side = 26;
    const w = Math.max(20, Math.min(44, Math.floor((inside - side - GAP * (it.heads - 1) - 4) / it.heads)));
    const h = narrow ? w : Math.round((w * 40) / 44);
    const key = JSON.stringify([turnOf(value), now.kindKey, layers, w, dark(), value.silenced, lang(), window.devicePixelRatio]);
    tiles = { width: w, height: h, left: side, top: 20, layers };
    if (all || key !== tilesKey) {
      tilesKey = key;
      const context = fit(canvas, it.heads * (w + GAP) - GAP, layers.length * (h + GAP) - GAP);
      const colours = table(props.figure.data[0].colorscale, 0.8);
      layers.forEach((layer, row) => {
        for (let head_ = 1; head_ <= it.heads; head_ += 1) {
          const gone = isGone(layer, head_);
          const [x, y] = [(head_ - 1) * (w + GAP), row * (h + GAP)];
          paint(context, { data: it.map(`${layer}.${head_}`).data, rows: it.rows, columns: it.columns, colours, empty: css("--sunk"), x, y, width: w, height: h, radius: 4, alpha: gone ? 0.28 : 1 });
          if (gone) {
            context.strokeStyle = css("--ink");
            context.lineWidth = 2;
            context.beginPath();
            context.moveTo(x + 5, y + h - 5);
            context.lineTo(x + w - 5, y + 5);
            context.stroke();
          }
        }
      });
      const small = () => {
        for (const button of stats.children) {
          const inner = fit(button.firstChild, 56, 50);
          paint(inner, { data: it.map(button.dataset.stat).data, rows: it.rows, columns: it.columns, colours, empty: css("--sunk"), x: 0, y: 0, width: 56, height: 50, radius: 4 });
        }
      };
      // A rollout multiplies maps: with many positions it comes when the large map stands.
      if (it.kind.look) setTimeout(() => key === tilesKey && small(), 60);
      else small();
      clear(marks);
      for (let head_ = 1; head_ <= it.heads; head_ += 1) marks.append(el("span", { text: head_, "data-axis": "head", style: { left: `${side + (head_ - 1) * (w + GAP)}px`, top: "0", width: `${w}px` } }));
      layers.forEach((layer, row) => marks.append(el("span", { text: layer, "data-axis": "layer", style: { left: "0", top: `${20 + row * (h + GAP)}px`, width: `${side - 8}px`, height: `${h}px`, lineHeight: `${h}px` } })));
      pickLayer.replaceChildren(...Array.from({ length: it.layers }, (_, i) => el("option", { value: i + 1, text: say("layer", { n: i + 1 }) })));
      pickHead.replaceChildren(
        ...Array.from({ length: it.heads }, (_, i) => el("option", { value: i + 1, text: t(TEXT.head, { n: i + 1 }) })),
        ...STATS.map((name) => el("option", { value: name, text: say(name) })),
      );
    }
    pickLayer.setAttribute("aria-label", say("pickLayer"));
    for (const button of stats.children) button.lastChild.textContent = say(button.dataset.stat);
    const single = now.name.includes(".");
    for (const mark of marks.children) mark.classList.toggle("here", single && Number(mark.textContent) === (mark.dataset.axis === "head" ? now.head : now.layer));
    const at = layers.indexOf(now.layer);
    ring.hidden = !single || at < 0;
    Object.assign(ring.style, { left: `${side + (now.head - 1) * (w + GAP)}px`, top: `${20 + at * (h + GAP)}px`, width: `${w}px`, height: `${h}px` });
    pickLayer.value = String(now.layer);
    pickHead.value = single ? String(now.head) : now.name;
    canvas.setAttribute("aria-label", t(value.silences === false ? TEXT.gridStill : TEXT.grid, { size: size.textContent, name: longName() + (single && isGone(now.layer, now.head) ? `, ${t(TEXT.gone)}` : "") }));
    for (const button of stats.children) {
      button.setAttribute("aria-pressed", String(button.dataset.stat === now.name));
      button.title = say(`${button.dataset.stat}All`, { n: button.dataset.stat === "rollout" ? it.layers : it.layers * it.heads, heads: it.heads });
    }
  }

  const turns = new WeakMap();
  let lastTurn = 0;
  const turnOf = (object) => {
    if (!turns.has(object)) turns.set(object, (lastTurn += 1));
    return turns.get(object);
  };

  const measured = new WeakMap(); // by kind: a head more changes nothing in the geometry
  /** Where everything stands in the large picture, from the room there is. */
  function measure(look, space, how = {}) {
    const key = JSON.stringify([look.by, space, how]);
    const kept = measured.get(look.it);
    if (kept?.key === key) return kept.g;
    const g = geometry(look, space, how);
    measured.set(look.it, { key, g });
    return g;
  }

  function geometry({ it, by: turned }, space, { big = false, small = false, height: tall = 0 } = {}) {
    const f = big ? 22 : 12;
    const index = big ? 20 : 11;
    const inner = { font: f, index, number: big ? 20 : 12, bold: font(f, 650) };
    const limit = it.kind.spaced ? (small ? 104 : big ? 360 : 190) : small ? 78 : big ? 240 : 112;
    const rowLabels = it.kind.queries.map((text) => shorten(it.shown(text), inner.bold, limit));
    const keyLabels = it.kind.keys.map((text) => shorten(it.shown(text), inner.bold, limit));
    const mark = width("‐", inner.bold);
    const digits = (n) => width(String(n), font(index));
    const longestRow = Math.max(...rowLabels.map((text, i) => width(text, inner.bold) + (continues(it.kind.query_space, it.kind.queries, i) ? mark : 0)));
    const leftSide = Math.ceil(longestRow + digits(it.rows - 1) + f * 0.5 + 8);
    const side = turned ? (small ? 56 : big ? 120 : 76) : 0;
    const avail = Math.max(120, space - leftSide - side - 3);
    const thin = f + 1;
    const group = avail / it.columns >= thin ? 1 : Math.ceil((thin * it.columns) / avail);
    const columns = Math.ceil(it.columns / group);
    const cell = Math.min(big ? 120 : 72, avail / columns);
    const names = Array.from({ length: columns }, (_, j) => {
      const [from, to] = [j * group, Math.min(it.columns, (j + 1) * group) - 1];
      return { text: group === 1 ? keyLabels[from] : `${keyLabels[from]}${to > from ? "…" : ""}`, index: group === 1 || to === from ? it.keyAt(from) : `${it.keyAt(from)}–${it.keyAt(to)}`, from, to };
    });
    const longest = Math.max(...names.map((name) => width(name.text, inner.bold) + (group === 1 && continues(it.kind.key_space, it.kind.keys, name.from) ? mark : 0)));
    const rotated = group > 1 || longest > 1.1 * cell;
    const labels_ = rotated ? Math.ceil(longest + Math.max(...names.map((name) => digits(name.index))) + f) : Math.ceil(f * 1.3 + index * 1.3 + 6);
    const bars = small ? 0 : big ? 104 : 58;
    const rowHeight = big ? Math.max(26, Math.min(56, (tall - bars - labels_) / it.rows)) : small ? Math.max(18, Math.min(26, cell)) : Math.max(16, Math.min(30, 240 / it.rows));
    return { ...inner, it, group, columns, cell, rowHeight, names, rowLabels, rotated, labels: labels_, bars, left: leftSide, side, big, small, width: leftSide + columns * cell + side + 3, height: bars + labels_ + it.rows * rowHeight + 3 };
  }

  const continues = (space, texts, i) => Boolean(space) && i > 0 && !space[i] && isWord(texts[i]);

  function tick(text, index, between, g, { joined, role }) {
    const mark = joined ? `<span style="color:var(--ink3)">‐</span>` : "";
    const name = `${mark}\u2068${escape(text)}\u2069`;
    const small = `<span style="color:${role ? `var(--${role})` : "var(--ink3)"};font-size:${g.index}px">${index}</span>`;
    return `${role ? `<b><span style="color:var(--${role})">${name}</span></b>` : name}${between}${small}`;
  }

  /** The figure of what is looked at: the skeleton, filled. */
  function build(look, g, range = null) {
    const { it, name, rows, columns, by: turned, threshold: least } = look;
    const full = it.map(name);
    const map = pooled(full, g.group, name === "max");
    const figure_ = structuredClone(props.figure);
    const [weights, lines, numbers, rowBars, columnBars] = figure_.data;
    const layout = figure_.layout;
    const [across, along] = [Array.from({ length: map.columns }, (_, j) => j), Array.from({ length: map.rows }, (_, i) => i)];
    const groupOf = (j) => Math.floor(j / g.group);
    const here = columns.map(groupOf);
    const data = least ? map.data.map((w) => (w < least ? 0 : w)) : map.data;
    const at = (i, j) => map.data[i * map.columns + j];

    Object.assign(weights, { x: across, y: along, z: along.map((i) => data.subarray(i * map.columns, (i + 1) * map.columns)) });

    const path = { x: [], y: [] };
    if (g.cell >= 10 && g.rowHeight >= 10) {
      for (let j = 1; j < map.columns; j += 1) (path.x.push(j - 0.5, j - 0.5, null), path.y.push(-0.5, map.rows - 0.5, null));
      for (let i = 1; i < map.rows; i += 1) (path.x.push(-0.5, map.columns - 0.5, null), path.y.push(i - 0.5, i - 0.5, null));
    }
    Object.assign(lines, path);

    // Numbers need room: what zooming makes larger gets its numbers back.
    const shownColumns = range ? Math.abs(range.x[1] - range.x[0]) : map.columns;
    const shownRows = range ? Math.abs(range.y[1] - range.y[0]) : map.rows;
    const [cellWidth, cellHeight] = [(g.cell * map.columns) / shownColumns, (g.rowHeight * map.rows) / shownRows];
    const lower = 1 / cellHeight; // digits have no descenders: one pixel down puts them in the middle
    const printed = { x: [], y: [], text: [], color: [] };
    if (cellWidth >= g.number * 2.1 && cellHeight >= g.number + 2) {
      for (const i of along) {
        for (const j of across) {
          const w = at(i, j);
          if (w >= 0.1 && w >= least) (printed.x.push(j), printed.y.push(i + lower), printed.text.push(short(w)), printed.color.push(w < 0.47 ? "#ffffff" : "#000000"));
        }
      }
    }
    Object.assign(numbers, { x: printed.x, y: printed.y, text: printed.text, textfont: { ...numbers.textfont, size: g.number, color: printed.color } });

    // Above: the locked rows; for "attended by" what every key gets in all, and at the side who gives it.
    const bars = [];
    let top = 1;
    const barText = g.big ? 22 : 13;
    if (g.bars && turned) {
      const sums = across.map((j) => along.reduce((sum, i) => sum + (Number.isNaN(at(i, j)) ? 0 : at(i, j)), 0));
      top = Math.max(1, ...sums);
      bars.push({
        ...rowBars,
        x: across,
        y: sums,
        text: across.map((j) => (here.includes(j) ? number(sums[j]) : "")),
        textfont: { ...rowBars.textfont, size: barText },
        marker: { ...rowBars.marker, opacity: across.map((j) => (here.includes(j) ? 1 : 0.45)) },
      });
    } else if (g.bars) {
      rows.slice(0, 4).forEach((i, order) => {
        const count = Math.min(4, rows.length);
        const wide = rowBars.width / count;
        const best = across.reduce((b, j) => (at(i, j) > at(i, b) ? j : b), 0);
        const full_ = count === 1 ? (here[0] ?? best) : best;
        bars.push({
          ...rowBars,
          name: order ? `row ${order + 1}` : rowBars.name,
          x: across,
          y: across.map((j) => (Number.isNaN(at(i, j)) ? null : at(i, j))),
          width: wide,
          offset: -rowBars.width / 2 + order * wide,
          text: across.map((j) => (j === full_ ? number(at(i, j)) : at(i, j) >= 0.1 && cellWidth > (g.big ? 60 : 34) && count === 1 ? number(at(i, j)) : "")),
          textfont: { ...rowBars.textfont, size: count > 1 ? barText - 1 : barText, weight: 650 },
          marker: { ...rowBars.marker, opacity: across.map((j) => (j === full_ ? 1 : 0.45)) },
        });
      });
    }
    const sideBars = [];
    if (turned && here.length) {
      sideBars.push({
        ...columnBars,
        y: along,
        x: along.map((i) => (Number.isNaN(at(i, here[0])) ? null : at(i, here[0]))),
        text: along.map((i) => (at(i, here[0]) >= 0.1 ? number(at(i, here[0])) : "")),
        textfont: { ...columnBars.textfont, size: Math.min(barText, Math.max(11, g.rowHeight - 3)) },
        marker: { ...columnBars.marker, opacity: along.map((i) => (rows.includes(i) ? 1 : 0.45)) },
      });
    }
    figure_.data = [weights, lines, numbers, ...(bars.length ? bars : [{ ...rowBars, x: [], y: [] }]), ...(sideBars.length ? sideBars : [{ ...columnBars, x: [], y: [] }])];

    const inner = { width: g.columns * g.cell + g.side, height: g.bars + g.labels + map.rows * g.rowHeight };
    const across_ = (g.columns * g.cell) / inner.width;
    const down_ = (map.rows * g.rowHeight) / inner.height;
    Object.assign(layout, {
      width: g.width,
      height: g.height,
      autosize: false,
      margin: { l: g.left, r: 2, t: 0, b: 2, pad: 0, autoexpand: false },
      font: { ...layout.font, size: g.font },
      uirevision: `${turnOf(it.kind)} ${g.group}`,
      dragmode: matchMedia("(pointer: coarse)").matches || g.big ? false : "zoom",
    });
    Object.assign(layout.xaxis, {
      range: [-0.5, map.columns - 0.5],
      minallowed: -0.5,
      maxallowed: map.columns - 0.5,
      domain: [0, across_],
      tickvals: across,
      ticktext: g.names.map((each, j) => tick(each.text, each.index, g.rotated ? " " : "<br>", g, { joined: g.group === 1 && continues(it.kind.key_space, it.kind.keys, each.from), role: here.includes(j) ? "key" : null })),
      tickangle: g.rotated ? -90 : 0,
      tickfont: { ...layout.xaxis.tickfont, size: g.font },
    });
    Object.assign(layout.yaxis, {
      range: [map.rows - 0.5, -0.5],
      minallowed: -0.5,
      maxallowed: map.rows - 0.5,
      domain: [0, down_],
      tickvals: along,
      ticktext: along.map((i) => tick(g.rowLabels[i], i, " ", g, { joined: continues(it.kind.query_space, it.kind.queries, i), role: rows.includes(i) ? "query" : null })),
      tickfont: { ...layout.yaxis.tickfont, size: g.font },
    });
    Object.assign(layout.yaxis2, { domain: g.bars ? [Math.min(1, down_ + g.labels / inner.height), 1] : [1 - 1e-3, 1], range: [0, (top * Math.max(1, g.bars)) / Math.max(1, g.bars - barText - 6)], visible: g.bars > 0 && bars.length > 0 });
    Object.assign(layout.xaxis2, { domain: g.side ? [Math.min(1, across_ + 4 / inner.width), 1] : [1 - 1e-3, 1], range: [0, Math.max(1, g.side) / Math.max(1, g.side - barText * 2.6 - 6)], visible: g.side > 0 });

    const shapes = [{ type: "rect", layer: "below", xref: "x domain", yref: "y domain", x0: 0, x1: 1, y0: 0, y1: 1, fillcolor: "var(--sunk)", line: { width: 0 } }];
    for (const i of rows) shapes.push({ type: "rect", layer: "below", xref: "paper", yref: "y", x0: -g.left / inner.width, x1: -1.5 / inner.width, y0: i - 0.5, y1: i + 0.5, fillcolor: "var(--query-soft)", line: { width: 0 } });
    for (const j of here) shapes.push({ type: "rect", layer: "below", xref: "x", yref: "paper", x0: j - 0.5, x1: j + 0.5, y0: down_ + 1 / inner.height, y1: Math.min(1, down_ + g.labels / inner.height), fillcolor: "var(--key-soft)", line: { width: 0 } });
    const [px, py] = [1 / cellWidth, 1 / cellHeight];
    const outline = (x0, x1, y0, y1, role, thick) => {
      const halo = thick + 1;
      const rect = (by_, colour, w) => ({ type: "rect", x0: x0 + (by_ / 2) * px, x1: x1 - (by_ / 2) * px, y0: y0 + (by_ / 2) * py, y1: y1 - (by_ / 2) * py, line: { color: colour, width: w } });
      shapes.push(rect(halo, "var(--panel)", halo), rect(thick, `var(--${role})`, thick));
    };
    if (turned) {
      for (const j of here) outline(j - 0.5, j + 0.5, -0.5, map.rows - 0.5, "key", g.big ? 3.5 : 2.5);
      for (const j of here.slice(0, 1)) for (const i of rows.slice(0, 1)) outline(j - 0.5, j + 0.5, i - 0.5, i + 0.5, "query", g.big ? 4 : 3);
    } else {
      for (const i of rows) outline(-0.5, map.columns - 0.5, i - 0.5, i + 0.5, "query", g.big ? 3.5 : 2.5);
      for (const i of rows.slice(0, 1)) for (const j of here.slice(0, 1)) outline(j - 0.5, j + 0.5, i - 0.5, i + 0.5, "key", g.big ? 4 : 3);
    }
    if (over !== null && over < map.rows && !rows.includes(over)) shapes.push({ type: "rect", x0: -0.5, x1: map.columns - 0.5, y0: over - 0.5, y1: over + 0.5, line: { color: "var(--query)", width: 1.5, dash: "dot" } });
    layout.shapes = shapes;
    return figure_;
  }

  /** A map of blocks, whose exact rows the server tells: on a canvas, for Plotly would be too slow. */
  function drawLong() {
    drawn = { look: now, g: { it: now.it, group: 1, columns: now.it.columns, rowHeight: 0, left: 0, cell: 0 } };
    frame.setAttribute("aria-label", t(TEXT.map, { name: longName() }));
    zoomOut.hidden = true;
    long.draw({ ...now, it: Object.assign(now.it, { turn: turnOf(now.it.kind) }) }, projecting() ? roomRight - 90 : roomRight, projecting());
    root.dataset.drawn = `${now.kindKey} ${now.name}`;
    frame.setAttribute("aria-busy", "false");
    drawLegend();
  }

  const exactNow = () => (now.it.blocks ? long.exact(now) : null);
  const saidNow = () => plainText(sentence(now.it, now, exactNow()));

  /** The grid above the map or beside it; true where that is a change. */
  function stack(above) {
    if (above === body.classList.contains("is-stacked")) return false;
    body.classList.toggle("is-stacked", above);
    [roomLeft, roomRight] = [phone() ? body.clientWidth || panel.clientWidth - 26 : left.clientWidth, right.clientWidth];
    drawTiles(false);
    return true;
  }

  function drawMap() {
    board.hidden = Boolean(now.it.kind.look);
    long.node.hidden = !board.hidden;
    if (board.hidden) {
      if (!projecting() && room >= 820) stack(false);
      drawLong();
      return;
    }
    const big = projecting();
    const small = phone();
    if (!roomRight) roomRight = right.clientWidth;
    const space = big ? Math.max(300, roomRight - 90) : roomRight;
    let g = measure(now, space, { big, small, height: big ? window.innerHeight - 330 : 0 });
    // Too many keys for the right column: the grid moves above and the map takes the whole width.
    if (!big && !small) {
      const need = now.it.columns * 13 + 120;
      if (stack(room < 820 || need > room - 412 - 60)) g = measure(now, roomRight, {});
    } else body.classList.remove("is-stacked");
    drawn = { g, look: now };
    const same = figure.ranges();
    const keeps = same && board.dataset.revision === `${turnOf(now.it.kind)} ${g.group}`;
    board.dataset.revision = `${turnOf(now.it.kind)} ${g.group}`;
    board.style.width = `${g.width}px`;
    board.style.height = `${g.height}px`;
    scale.style.height = `${g.it.rows * g.rowHeight}px`;
    frame.setAttribute("aria-label", t(TEXT.map, { name: longName() }));
    const made = build(now, g, keeps ? same : null);
    const [mineTurn, what] = [turn, `${now.kindKey} ${now.name}`];
    frame.setAttribute("aria-busy", "true");
    figure.draw(made).then(() => {
      if (mineTurn !== turn) return; // a newer picture is on its way
      root.dataset.drawn = what;
      frame.setAttribute("aria-busy", "false");
    });
    drawLegend();
  }

  function drawLegend() {
    root.dataset.question = now.it.kind.question ? t(now.it.kind.question) : t(TEXT.question);
    const sides = now.it.kind.roles ?? [{ en: "", zh: "" }, { en: "", zh: "" }];
    clear(roles).append(
      el("span", { text: `${t(now.it.kind.label)} · ${longName()}` }),
      el("span", {}, `${t(TEXT.rows)}${t(sides[0])} `, el("b", { class: "tfe-query", text: t(TEXT.queries) })),
      el("span", {}, `${t(TEXT.columns)}${t(sides[1])} `, el("b", { class: "tfe-key", text: t(TEXT.keys) })),
    );
  }

  function drawWords() {
    const list_ = sentence(now.it, now, exactNow());
    const text = plainText(list_);
    if (words.dataset.text !== text) {
      words.dataset.text = text;
      words.replaceChildren(...list_.map((part) => (part.role ? el("b", { class: `tfe-${part.role}`, dir: "auto", text: part.text }) : document.createTextNode(part.text))));
    }
    const { it } = now;
    note.textContent = notes();
    note.hidden = !note.textContent;
    rowsButton.hidden = !it.blocks;
    // On a phone there is no room for bars above the map: the strongest keys stand below it.
    clear(strengths);
    if (phone() && now.rows.length && !now.by) strongestKeys();
  }

  /** The lines below the sentence. @param {boolean} [buttons] are the buttons beside it that it may name? */
  function notes(buttons = true) {
    const { it } = now;
    const notes = [];
    if (value.state === "stale") notes.push(t(TEXT.stale));
    if (now.name === "rollout") notes.push(it.kind.own ? say("rolloutOwn", { n: it.layers }) : t(TEXT.rolloutCross, { n: it.layers }));
    if (it.kind.mask) notes.push(t(TEXT.masked));
    if (now.name.includes(".") && it.kind.taken?.some((_, i) => it.gone(i, now.layer))) notes.push(t(STEPS.stopped));
    if (it.blocks) notes.push(t(TEXT.pooledBoth, { pooled: it.pooling(), q: it.kind.pooled[0], k: it.kind.pooled[1] }));
    if (it.blocks && now.name === "rollout") notes.push(t(TEXT.pooledRollout));
    if (buttons && it.blocks && now.name.includes(".")) notes.push(t(TEXT.exactTake));
    if (drawn.g.group > 1) notes.push(t(now.name === "max" ? TEXT.pooledMax : TEXT.pooledNote, { n: drawn.g.group }));
    if (now.threshold) notes.push(t(it.blocks ? TEXT.thresholdBlocks : TEXT.thresholdNote, { n: now.threshold.toFixed(2) }));
    if (now.name.includes(".") && isGone(now.layer, now.head)) notes.push(t(TEXT.silencedNote, { name: shortName() }));
    return notes.map((text_) => text_.replace(/[.。]$/, "")).join(" · ");
  }

  function strongestKeys() {
    const { it } = now;
    const map = it.map(now.name);
    const row = now.rows[0];
    const top = Array.from({ length: map.columns }, (_, j) => [map.data[row * map.columns + j], j]).filter(([w]) => w >= 0.01);
    top.sort((a, b) => b[0] - a[0]);
    strengths.setAttribute("aria-label", t(it.blocks ? TEXT.barsBlocks : TEXT.bars));
    for (const [w, j] of top.slice(0, 4)) {
      const name = it.blocks ? [el("span", { text: it.keyAt(j) })] : [el("span", { text: it.shown(it.key(j)) }), el("small", { text: `·${it.keyAt(j)}` })];
      strengths.append(el("li", {}, el("span", { class: "name" }, name), el("span", { class: "track" }, el("span", { style: { width: `${100 * w}%` } })), el("span", { text: number(w) })));
    }
  }

  function drawJobs() {
    const here = (value.jobs ?? []).filter((job) => job.kind === now.kindKey);
    const mine_ = here.filter((job, i) => here.findIndex((other) => other.job === job.job) === i).slice(0, 5); // the best of each
    const key = JSON.stringify([mine_, lang(), now.name]);
    if (jobs.dataset.key === key) return;
    const had = jobs.contains(document.activeElement) ? [...jobs.querySelectorAll("button")].indexOf(document.activeElement) : -1;
    jobs.dataset.key = key;
    jobs.replaceChildren(
      ...mine_.map((job) => {
        const here = now.name === `${job.layer + 1}.${job.head + 1}`;
        return el("li", {}, el("button", { type: "button", class: here ? "here" : "", "aria-pressed": String(here), onclick: () => takeJob(job) }, el("b", { text: `${job.layer + 1}·${job.head + 1}` }), el("span", { text: t(job.name) }), el("span", { text: number(job.score) })));
      }),
    );
    if (!mine_.length) jobs.append(el("li", { class: "tfe-note", text: t(TEXT.noJobs) }));
    if (had >= 0) jobs.querySelectorAll("button")[had]?.focus();
  }

  // ── the large map, used ──
  const fullRange = () => ({ "xaxis.range": [-0.5, (drawn?.g.columns ?? 1) - 0.5], "yaxis.range": [(drawn?.g.it.rows ?? 1) - 0.5, -0.5] });

  const isZoomed = () => {
    const seenRange = figure.ranges();
    if (!seenRange || !drawn) return false;
    return Math.abs(seenRange.x[1] - seenRange.x[0]) < drawn.g.columns - 0.01 || Math.abs(seenRange.y[1] - seenRange.y[0]) < drawn.g.it.rows - 0.01;
  };

  function zoomed() {
    leave();
    zoomOut.hidden = !isZoomed() || projecting();
    if (now && drawn) figure.draw(build(now, drawn.g, figure.ranges()));
  }

  function cellOf(event) {
    const point = event.points?.find((each) => each.data?.name === "weights" || each.curveNumber === 0);
    if (!point) return null;
    const [j, i] = [Number(point.x), Number(point.y)];
    return { i, j };
  }

  /** The key behind a column: where columns are pooled, the strongest of its group. */
  function keyOf(i, j) {
    const { group } = drawn.g;
    const map = now.it.map(now.name);
    let best = j * group;
    for (let k = best; k < Math.min(map.columns, (j + 1) * group); k += 1) if (map.data[i * map.columns + k] > map.data[i * map.columns + best]) best = k;
    return best;
  }

  /** The cell under a click or a tap, by its place: the points Plotly names are up to 50 ms old, another cell's under a quick hand. */
  function cellUnder(event) {
    const { clientX, clientY } = event.changedTouches?.[0] ?? event;
    const { xaxis, yaxis } = board._fullLayout;
    const { left: x, top: y } = board.getBoundingClientRect();
    const [j, i] = [Math.round(xaxis.p2l(clientX - x - xaxis._offset)), Math.round(yaxis.p2l(clientY - y - yaxis._offset))];
    const { rows, columns } = now.it.map(now.name);
    return i >= 0 && i < rows && j >= 0 && j < Math.ceil(columns / drawn.g.group) ? { i, j } : null;
  }

  let tapped = "";
  function clicked(event) {
    const cell = now && drawn && cellUnder(event.event);
    if (!cell) return;
    const { i } = cell;
    const j = keyOf(i, cell.j);
    const touch = event.event?.pointerType === "touch" || (event.event?.sourceCapabilities?.firesTouchEvents ?? false);
    if (touch && tapped !== `${i} ${j}`) {
      tapped = `${i} ${j}`;
      showCard(cell, true);
      return;
    }
    tapped = "";
    leave();
    const more = event.event?.shiftKey;
    const toggle = (all, one) => (all.includes(one) ? all.filter((other) => other !== one) : [...all, one]);
    if (more && now.by) lock(now.rows, toggle(now.columns, j));
    else if (more) lock(toggle(now.rows, i), now.follows ? [] : now.columns.slice(0, 1));
    else lock([i], [j]);
    frame.focus({ preventScroll: true });
  }

  let waiting = 0;
  function hovered(event) {
    const cell = cellOf(event);
    clearTimeout(waiting);
    if (!cell) return;
    bus.fire("hover", { row: cell.i, col: keyOf(cell.i, cell.j), kind: now.kindKey });
    waiting = setTimeout(() => showCard(cell), 80);
  }

  function leave() {
    clearTimeout(waiting);
    if (!card.hidden) card.hidden = true;
    bus.fire("hover", null);
  }

  /** The card 12 px beside a box, never over it. */
  function place(box) {
    card.hidden = false;
    const { offsetWidth: w, offsetHeight: h } = card;
    const right_ = box.right + 12 + w <= window.innerWidth - 8;
    const left_ = box.left - 12 - w >= 8;
    let x = right_ ? box.right + 12 : left_ ? box.left - 12 - w : Math.max(8, Math.min(window.innerWidth - w - 8, box.left));
    let y = right_ || left_ ? Math.max(8, Math.min(window.innerHeight - h - 8, box.top - 4)) : box.bottom + 12;
    if (!right_ && !left_ && y + h > window.innerHeight - 8) y = box.top - 12 - h;
    Object.assign(card.style, { left: `${x}px`, top: `${y}px` });
  }

  function cellBox({ i, j }) {
    const { xaxis, yaxis } = board._fullLayout ?? {};
    if (!xaxis) return null;
    const frame_ = board.getBoundingClientRect();
    const x = (value_) => frame_.left + xaxis._offset + xaxis.l2p(value_);
    const y = (value_) => frame_.top + yaxis._offset + yaxis.l2p(value_);
    return { left: x(j - 0.5), right: x(j + 0.5), top: y(i - 0.5), bottom: y(i + 0.5) };
  }

  function showCard(cell, tap = false) {
    if (!now || !drawn || projecting()) return;
    const { it, name } = now;
    const { group } = drawn.g;
    const map = it.map(name);
    const { i } = cell;
    const j = keyOf(i, cell.j);
    const weight = map.data[i * map.columns + j];
    const box = cellBox(cell);
    if (!box) return;
    const row = Array.from(map.data.subarray(i * map.columns, (i + 1) * map.columns)).filter((w) => !Number.isNaN(w));
    clear(card).append(
      el("div", {}, el("b", { class: "tfe-query", dir: "auto", text: `“${it.shown(it.query(i))}” (${it.queryAt(i)})` }), " → ", el("b", { class: "tfe-key", dir: "auto", text: `“${it.shown(it.key(j))}” (${it.keyAt(j)})` })),
      Number.isNaN(weight)
        ? el("div", { text: say("cardMasked") })
        : el("div", {}, `${t(TEXT.cardWeight)} `, el("b", { text: weight >= 0.0995 || weight === 0 ? number(weight) : weight.toFixed(4) }), ` · ${t(TEXT.cardRank, { rank: ordinal(1 + row.filter((w) => w > weight).length), n: row.length })}`),
      group > 1 ? el("div", { text: `${t(TEXT.cardPooled, { n: group })}: ${number(pooled(map, group, name === "max").data[i * drawn.g.columns + cell.j])}` }) : null,
      el("div", { class: "tfe-note", text: t(tap ? TEXT.cardTap : TEXT.cardDo) }),
    );
    for (const child of [...card.childNodes]) if (child.nodeType === 3 && child.data === "null") child.remove();
    place(box);
  }

  function stepped(move) {
    if (!now) return;
    move();
    if (!frame.matches(":focus-visible") || !now.rows.length || !now.columns.length || projecting()) return;
    if (now.it.kind.look) return; // the rows below tell it
    const cell = { i: now.rows[0], j: Math.floor(now.columns[0] / drawn.g.group) };
    clearTimeout(waiting);
    waiting = setTimeout(() => figure.settled().then(() => frame.matches(":focus-visible") && showCard(cell)), 80); // as under the pointer: the picture comes first
  }
  keys(frame, {
    ArrowLeft: () => stepped(() => stepRow(-1)),
    ArrowRight: () => stepped(() => stepRow(1)),
    ArrowUp: () => stepped(() => stepHead(-1)),
    ArrowDown: () => stepped(() => stepHead(1)),
    Escape: () => (projecting() || !now ? false : reset()),
  });
  frame.addEventListener("blur", leave);

  // ── the grid, used ──
  const tileAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const [column, row] = [Math.floor(x / (tiles.width + GAP)), Math.floor(y / (tiles.height + GAP))];
    if (!now || column < 0 || column >= now.it.heads || row < 0 || row >= tiles.layers.length) return null;
    return { layer: tiles.layers[row], head: column + 1, x: box.left + column * (tiles.width + GAP), y: box.top + row * (tiles.height + GAP) };
  };
  const silence = (layer, head_) => value.silences !== false && bus.fire("silence", { kind: now.kindKey, layer: layer - 1, head: head_ - 1 });

  canvas.addEventListener("click", (event) => {
    const tile = tileAt(event);
    if (!tile) return;
    if (event.shiftKey && value.silences !== false) silence(tile.layer, tile.head);
    else setHead(tile.layer, tile.head);
  });
  let lastTile = "";
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const tile = tileAt(event);
    const key = tile ? `${tile.layer}.${tile.head}` : "";
    if (key === lastTile) return;
    lastTile = key;
    clearTimeout(waiting);
    card.hidden = true;
    if (tile) waiting = setTimeout(() => tileCard(tile), 80);
  });
  canvas.addEventListener("pointerleave", () => {
    lastTile = "";
    leave();
  });

  function tileCard({ layer, head: head_, x, y }) {
    if (!now) return;
    const { it } = now;
    const map = it.map(`${layer}.${head_}`);
    let best = 0;
    for (let n = 1; n < map.data.length; n += 1) if (!(map.data[best] >= map.data[n]) && !Number.isNaN(map.data[n])) best = n;
    const [i, j] = [Math.floor(best / map.columns), best % map.columns];
    const job = (value.jobs ?? []).find((each) => each.kind === now.kindKey && each.layer === layer - 1 && each.head === head_ - 1);
    const gone = isGone(layer, head_);
    clear(card).append(
      el("div", {}, el("b", { text: `${layer}·${head_}` }), job ? ` ${t(job.name)} ${number(job.score)}` : "", gone ? ` · ${t(TEXT.gone)}` : ""),
      it.blocks
        ? el("div", {}, `${t(TEXT.tileBlock)} `, el("b", { text: finely(map.data[best]) }), " ", el("b", { class: "tfe-query", text: it.queryAt(i) }), " → ", el("b", { class: "tfe-key", text: it.keyAt(j) }))
        : el("div", {}, `${t(TEXT.tileTop)} `, el("b", { text: number(map.data[best]) }), " ", el("b", { class: "tfe-query", dir: "auto", text: `“${it.shown(it.query(i))}” (${it.queryAt(i)})` }), " → ", el("b", { class: "tfe-key", dir: "auto", text: `“${it.shown(it.key(j))}” (${it.keyAt(j)})` })),
      el("div", { class: "tfe-note", text: t(value.silences === false ? TEXT.tileLook : gone ? TEXT.tileWake : TEXT.tileDo) }),
    );
    place({ left: x, right: x + tiles.width, top: y, bottom: y + tiles.height });
  }

  canvas.addEventListener("keydown", (event) => {
    if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
    const { it, layer, head: head_ } = now;
    const clamp = (n, most) => Math.max(1, Math.min(most, n));
    const moves = {
      ArrowLeft: [layer, clamp(head_ - 1, it.heads)],
      ArrowRight: [layer, clamp(head_ + 1, it.heads)],
      ArrowUp: [clamp(layer - 1, it.layers), head_],
      ArrowDown: [clamp(layer + 1, it.layers), head_],
      Home: [layer, 1],
      End: [layer, it.heads],
    };
    if (event.key === "Enter" && event.shiftKey && value.silences !== false) silence(layer, head_);
    else if (event.key === "Escape") reset();
    else if (moves[event.key]) setHead(...moves[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // ── the table ──
  function openTable(open) {
    sheet.hidden = !open;
    if (open) drawTable();
  }

  function drawTable() {
    const { it, name } = now;
    const map = it.map(name);
    const caption = [t(TEXT.caption, { kind: t(it.kind.label), name: longName() }), it.blocks && `${it.pooling()}, ${t(TEXT.meanOfSums)}`].filter(Boolean).join("; ");
    const called = (text, at) => (it.blocks ? at : `${it.shown(text)}·${at}`);
    const top = el("tr", {}, el("th", { scope: "col" }));
    for (let j = 0; j < map.columns; j += 1) top.append(el("th", { scope: "col", text: called(it.key(j), it.keyAt(j)) }));
    const rows = Array.from({ length: map.rows }, (_, i) => {
      const tr = el("tr", {}, el("th", { scope: "row", text: called(it.query(i), it.queryAt(i)) }));
      for (let j = 0; j < map.columns; j += 1) {
        const w = map.data[i * map.columns + j];
        tr.append(el("td", { class: now.rows.includes(i) && now.columns.includes(j) ? "here" : null, text: Number.isNaN(w) ? "–" : w.toFixed(3) }));
      }
      return tr;
    });
    sheet.setAttribute("aria-label", caption);
    sheet.replaceChildren(el("table", { class: "tfe-table" }, el("caption", { class: "tfe-note", text: caption }), el("thead", {}, top), el("tbody", {}, rows)));
  }

  // ── taking it along ──
  const names = () => [now.kindKey, now.name, now.it.blocks ? `pooled ${now.it.kind.pooled.join("x")}` : ""];
  const inFiles = (it) => `pooled ${it.kind.pooled[0] === it.kind.pooled[1] ? it.kind.pooled[0] : it.kind.pooled.join("× by ")}×`; // numbers for programs keep English names
  const heading = () => `${t(now.it.kind.label)} · ${longName()}`;

  function wrap(text, space, font_) {
    const lines = [];
    let line = "";
    for (const word of text.split(/(?<=[\s，；：。])/u)) {
      if (line && width(line + word, font_) > space) {
        lines.push(line.trim());
        line = word;
      } else line += word;
    }
    return [...lines, line.trim()];
  }

  /** The figure for leaving the page: on its own ground, with its title above, its sentence and where it comes from below. */
  function portable() {
    const g = measure(now, Math.max(640, now.it.columns * 20 + 150), {});
    const made = build(now, g);
    const text = wrap(saidNow(), g.width - 24, font(15));
    const from = footLines(g.width - 24);
    const [top, bottom] = [40, 32 + 22 * text.length + 18 * from.length];
    const line = { xref: "paper", yref: "paper", x: 0, xanchor: "left", xshift: 12 - g.left, showarrow: false, align: "left" };
    Object.assign(made.layout, {
      width: Math.max(g.width + 12, 360),
      height: g.height + top + bottom,
      margin: { ...made.layout.margin, t: top, b: bottom, r: Math.max(g.width + 12, 360) - g.width + 2 },
      paper_bgcolor: "var(--panel)",
      annotations: [
        { ...line, y: 1, yanchor: "bottom", yshift: 12, text: `<b>${escape(heading())}</b>`, font: { size: 15 } },
        { ...line, y: 0, yanchor: "top", yshift: -12, text: text.map(escape).join("<br>"), font: { size: 15, family: 'Charter, "Iowan Old Style", "Noto Serif", Georgia, serif' } },
        { ...line, y: 0, yanchor: "top", yshift: 8 + 18 * from.length - bottom, text: from.map(escape).join("<br>"), font: { size: 12, color: "var(--ink3)" } },
      ],
    });
    return made;
  }

  async function picture(format) {
    const made = portable();
    const address = await figure.image(made, { format, width: made.layout.width, height: made.layout.height, scale: format === "png" ? 2 : 1 });
    save(fileName(names(), format), blob(address));
  }

  function resolved(made) {
    const text = JSON.stringify(made, (_, each) => (ArrayBuffer.isView(each) ? Array.from(each, (n) => (Number.isNaN(n) ? null : Math.round(n * 1e4) / 1e4)) : each));
    return JSON.parse(text.replace(/var\((--[\w-]+)\)/g, (_, name) => css(name)));
  }

  async function savePage() {
    const { it } = now;
    const made = build(now, measure(now, Math.max(640, it.columns * 20 + 150), {}));
    made.layout.paper_bgcolor = "var(--panel)";
    made.data[0].hoverinfo = "x+y+z";
    const all = [...Array.from({ length: it.layers * it.heads }, (_, n) => `${Math.floor(n / it.heads) + 1}.${(n % it.heads) + 1}`), ...STATS];
    const title_ = (name) => (name.includes(".") ? name.replace(".", "·") : say(name));
    const choices = all.map((name) => {
      const map = it.map(name);
      return [title_(name), Array.from({ length: it.rows }, (_, i) => Array.from(map.data.subarray(i * it.columns, (i + 1) * it.columns), (n) => (Number.isNaN(n) ? null : Math.round(n * 1e4) / 1e4)))];
    });
    const row = now.by ? -1 : (now.rows[0] ?? -1);
    const script = `const at = {x: [], y: [], text: [], color: []};
choice.forEach((line, y) => line.forEach((w, x) => { if (w >= 0.1) { at.x.push(x); at.y.push(y); at.text.push(w >= 0.995 ? "1.0" : w.toFixed(2).slice(1)); at.color.push(w < 0.47 ? "#ffffff" : "#000000"); } }));
Plotly.restyle(node, {z: [choice]}, [0]); Plotly.restyle(node, {x: [at.x], y: [at.y], text: [at.text], "textfont.color": [at.color]}, [2]);
if (${row} >= 0) Plotly.restyle(node, {y: [choice[${row}]], text: [choice[${row}].map((w) => (w >= 0.1 ? w.toFixed(2) : ""))]}, [3]);
document.querySelector(".words").hidden = document.getElementById("choice").value !== ${JSON.stringify(title_(now.name))};`;
    const text = await page({
      address: props.plotly,
      figure: resolved(made),
      title: `${t(TEXT.title)}: ${t(it.kind.label)}`,
      sentence: saidNow(),
      note: note.hidden ? "" : note.textContent,
      // In "attended by" bars stand on two sides and follow their head; such a page keeps the one head it shows.
      more: now.by ? undefined : { label: t(TEXT.other), choices, chosen: title_(now.name), script },
    });
    save(fileName(names(), "html"), text, "text/html");
  }

  function saveCsv() {
    const { it, name } = now;
    const map = it.map(name);
    const rows = [["kind", "head", "query_index", "query", "key_index", "key", "weight"]];
    for (let i = 0; i < map.rows; i += 1) for (let j = 0; j < map.columns; j += 1) rows.push([now.kindKey, name, i, it.query(i), it.keyNumber(j), it.key(j), Number(map.data[i * map.columns + j].toPrecision(6))]);
    save(fileName(names(), "csv"), csv(rows), "text/csv");
  }

  /** Blocks by the positions that they hold. */
  function saveBlocks() {
    const { it, name } = now;
    const map = it.map(name);
    const rows = [["kind", "head", "queries", "keys", `weight ${inFiles(it)}: mean over queries of the sum over keys`]];
    for (let i = 0; i < map.rows; i += 1) for (let j = 0; j < map.columns; j += 1) if (!Number.isNaN(map.data[i * map.columns + j])) rows.push([now.kindKey, name, it.queryAt(i), it.keyAt(j), Number(map.data[i * map.columns + j].toFixed(4))]);
    save(fileName(names(), "csv"), csv(rows), "text/csv");
  }

  /** A line for each key, a column for each exact row of the chosen block. */
  function exactLines(digits, least = -1) {
    const exact = exactNow();
    if (!exact) return null;
    const { it } = now;
    const queries = Array.from({ length: exact.count }, (_, r) => r);
    const head = ["key_index", "key", ...queries.map((r) => `weight from query ${exact.first + r} ${it.all.queries[exact.first + r]}`)];
    const lines = it.all.keys.map((key, k) => [it.keyNumber(k), key, ...queries.map((r) => exact.at(r, k))]).filter(([, , ...row]) => row.some((w) => w >= least));
    return [head, ...lines.map(([k, key, ...row]) => [k, key, ...row.map((w) => (Number.isNaN(w) ? w : Number(w.toFixed(digits))))])];
  }

  function saveRows() {
    const lines = exactLines(6);
    if (!lines) throw new Error(t(TEXT.noRows));
    save(fileName([now.kindKey, now.name, "exact rows"], "csv"), csv(lines), "text/csv");
  }

  /** What of them stands in a saved page. */
  function exactTable() {
    const { it } = now;
    const exact = exactNow();
    const lines = exactLines(4, LEAST);
    if (!lines) return [[t(TEXT.position)]];
    const heads = Array.from({ length: exact.count }, (_, r) => `${it.shown(it.all.queries[exact.first + r])}·${exact.first + r}`);
    return [[`${t(TEXT.position)} · ${t(TEXT.around, { n: LEAST })}`, ...heads], ...lines.slice(1).map(([k, key, ...row]) => [`${it.shown(key)}·${signed(k)}`, ...row.map((w) => (Number.isNaN(w) ? "–" : w.toFixed(4)))])];
  }

  function saveNpz() {
    if (now.it.blocks) return saveBlocksNpz();
    const files = {};
    for (const [key, it] of seen) {
      files[`${key}_weights`] = { shape: it.array.shape, data: it.array.data };
      files[`${key}_queries`] = Array.from(it.kind.queries);
      files[`${key}_keys`] = Array.from(it.kind.keys);
      files[`${key}_key_index`] = { shape: [it.columns], data: Int32Array.from({ length: it.columns }, (_, j) => it.keyNumber(j)) };
      if (it.kind.taken) files[`${key}_taken`] = { shape: [it.rows], data: Float32Array.from(it.kind.taken) };
    }
    const map = now.it.map(now.name);
    files.shown = { shape: [map.rows, map.columns], data: Float32Array.from(map.data) };
    files.shown_name = `${now.kindKey} ${now.name}`;
    save(fileName([now.kindKey], "npz"), npz(files));
  }

  /** The map in view by blocks, and the exact rows of the chosen one; every head in whole steps of 1/255, as the browser has it. */
  function saveBlocksNpz() {
    const { it } = now;
    const by = inFiles(it).replace("×", "x").replaceAll(/\W+/g, "_");
    const exact = exactNow();
    const map = it.map(now.name);
    const files = {
      [`shown_${by}`]: { shape: [map.rows, map.columns], data: Float32Array.from(map.data) },
      [`all_heads_255_${by}`]: { shape: it.array.shape, data: Uint8Array.from(it.array.data, (w) => Math.round(255 * w)) },
      [`queries_${by}`]: Array.from({ length: it.rows }, (_, i) => it.queryAt(i)),
      [`keys_${by}`]: Array.from({ length: it.columns }, (_, j) => it.keyAt(j)),
      queries: Array.from(it.all.queries),
      keys: Array.from(it.all.keys),
      key_index: { shape: [it.all.keys.length], data: Int32Array.from(it.all.keys, (_, k) => it.keyNumber(k)) },
      shown_name: `${now.kindKey} ${now.name}, ${inFiles(it)}: mean over queries of the sum over keys`,
    };
    if (exact) {
      const n = it.all.keys.length;
      files.exact_rows = { shape: [exact.count, n], data: Float32Array.from({ length: exact.count * n }, (_, place) => exact.at(Math.floor(place / n), place % n) || 0) };
      files.exact_rows_query_index = { shape: [exact.count], data: Int32Array.from({ length: exact.count }, (_, r) => exact.first + r) };
    }
    save(fileName(names(), "npz"), npz(files));
  }

  // ── alive ──
  const resized = new ResizeObserver(() => {
    const next = Math.round(panel.clientWidth);
    if (!next || next === room) return;
    room = next;
    roomLeft = roomRight = 0;
    if (value) draw();
  });
  room = Math.round(panel.clientWidth) || 1000;
  resized.observe(panel);

  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    leave();
    roomLeft = roomRight = 0;
    if (value) requestAnimationFrame(() => draw(true));
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => {
    if (!projecting() || !value) return;
    roomLeft = roomRight = 0;
    draw();
  });

  view.on(["kind", "head", "row", "col", "by", "thr", "stat"], () => {
    if (mine) return;
    if (view.get("head") !== null || view.get("stat") !== null) chosen = true;
    update();
  });
  view.on(["step", "pos"], (changed) => {
    if (mine || !value || !(stepping() || value.positions)) return;
    const own = changed.some((key) => ["head", "stat", "row", "col"].includes(key)); // a whole view was opened, ours with it
    const [step_, position] = [stepInView(now.it.layers), heldIn(now.it)];
    const patch = {};
    if (!own && stepping() && changed.includes("step")) Object.assign(patch, { head: `${step_ ?? now.it.layers}.${now.head}`, stat: null }); // no step is the last
    if (!own && changed.includes("pos") && position !== null) Object.assign(patch, { row: position, col: null });
    if (Object.keys(patch).length) set(patch);
    else update();
  });
  onOpen(() => {
    asked = locked();
  });
  bus.on("wishing", ({ changes, stopped }) => {
    changing = Boolean(changes) && !stopped;
  });
  bus.on("hover-row", (detail) => {
    over = detail?.row ?? null;
    if (now && drawn && !now.it.kind.look && !(now.it.kind.own && !now.it.kind.mask)) figure.draw(build(now, drawn.g, isZoomed() ? figure.ranges() : null));
  });
  onLang(() => {
    labels();
    options();
    if (value) update(true);
  });
  onTheme(() => value && drawTiles(true));
  bus.on("looking", () => value && now && tell());
  labels();
  watch("value", arrive);
  arrive();
}

// What picture shall be made: of a kind, the rest of a given one, or a small one made larger; with the knobs of the drawing,
// the badge that says where a result comes from, and the ways in which a visitor gives a picture: ours, a file, or by hand.

import { asking } from "./lib/asking.js";
import { badgeOf, grouped } from "./lib/badge.js";
import { unpack } from "./lib/arrays.js";
import { el, segmented } from "./lib/dom.js";
import { onLang, t } from "./lib/lang.js";
import { colours, paintPicture, pad as drawingPad, spelled, unspelled } from "./lib/pad.js";
import { seedBox } from "./lib/seed.js";
import { onTheme } from "./lib/theme.js";

const TEXT = {
  make: { en: "make", zh: "生成" },
  generate: { en: "a class", zh: "一个类别" },
  complete: { en: "the rest of mine", zh: "补完我的图" },
  enlarge: { en: "larger", zh: "放大" },
  go_generate: { en: "Generate", zh: "生成" },
  go_complete: { en: "Complete", zh: "补完" },
  go_enlarge: { en: "Enlarge", zh: "放大" },
  kind: { en: "class", zh: "类别" },
  untold: { en: "not told", zh: "不告知" },
  temperature: { en: "temperature", zh: "温度" },
  temperatureLong: {
    en: "Temperature {value}: 1 is the model's own distribution, less plays safe, more dares",
    zh: "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆",
  },
  topk: { en: "top-k", zh: "前 k 个" },
  topkLong: { en: "Of how many of the likeliest grey levels each pixel is drawn", zh: "每个像素从最可能的多少个灰度中抽取" },
  all: { en: "all", zh: "全部" },
  seed: { en: "seed", zh: "种子" },
  seedLong: { en: "Seed of all draws: the same seed makes the same picture", zh: "所有抽样的种子：同一种子得到同一张图" },
  count: { en: "pictures", zh: "张数" },
  examples: { en: "examples", zh: "示例" },
  example: { en: "Example {n}: {title}", zh: "示例 {n}：{title}" },
  stop: { en: "Stop", zh: "停止" },
  running: { en: "live · pixel {at} of {of}{device}", zh: "实时 · 第 {at} / {of} 像素{device}" },
  ours: { en: "Held-out pictures, which no model has learned from", zh: "留出的图片，没有模型用它们学习过" },
  ourOne: { en: "Picture {n}: {name}", zh: "图片 {n}：{name}" },
  own: { en: "Your picture", zh: "您的图片" },
  given: { en: "given", zh: "给定" },
  shown: { en: "reduced", zh: "缩小" },
  kept: { en: "rows kept", zh: "保留行数" },
  keptPart: { en: "The picture to begin with, its upper {n} of {of} rows kept", zh: "起始图片，保留上方 {n} 行，共 {of} 行" },
  smallPart: { en: "The picture to begin with, and reduced to {n} × {n} pixels", zh: "起始图片，以及缩小到 {n} × {n} 像素的样子" },
  upload: { en: "Upload …", zh: "上传……" },
  uploadLong: { en: "Upload a PNG, JPEG or WebP picture of up to {mb} MB; dropping or pasting one works too", zh: "上传 PNG、JPEG 或 WebP 图片，至多 {mb} MB；也可拖放或粘贴" },
  drop: { en: "or drop or paste a PNG, JPEG or WebP", zh: "也可拖放或粘贴 PNG、JPEG、WebP" },
  dropHere: { en: "Drop the picture here", zh: "把图片放在这里" },
  readingFile: { en: "Reading …", zh: "正在读……" },
  draw: { en: "Draw", zh: "手绘" },
  unread: { en: "The picture did not reach the server; it can be sent again.", zh: "图片没有送达服务器；可以再次发送。" },
  heavy: { en: "Your file has {mb} MB; pictures of up to {most} MB are read.", zh: "您的文件有 {mb} MB；最多读 {most} MB 的图片。" },
  noFile: { en: "What was dropped is no file; PNG, JPEG and WebP pictures are read.", zh: "放下的不是文件；可读 PNG、JPEG 和 WebP 图片。" },
  noPicture: { en: "No picture is chosen yet; take one of ours, upload one, or draw.", zh: "还没有选图片；请选一张我们的、上传一张，或手绘。" },
  blank: { en: "Your drawing is empty; a few strokes in its upper rows are enough.", zh: "您的画还是空的；在上方几行画几笔就够了。" },
  noLink: { en: "This picture is too large for a link; save it as a file instead.", zh: "这张图片太大，放不进链接；请存为文件。" },
};

const MODES = ["generate", "complete", "enlarge"];
const megabytes = (bytes) => (Math.ceil((bytes / 2 ** 20) * 10) / 10).toFixed(1);

let serial = 0;

/** props, value and events: see maker.py. */
export function mount(root, props, emit, watch) {
  const { texts, kinds, examples, pictures, limits, upload } = props;
  const modes = MODES.filter((mode) => mode !== "enlarge" || pictures.colour);
  const id = `tfe-maker-${(serial += 1)}`;
  const setOf = (mode) => (mode === "enlarge" ? "colour" : "grey");
  let value = props.value ?? { state: "empty" };
  let filled = null; // what the controls were last filled from, or asked for
  let local = { error: null, notice: null }; // said here, not by the model
  let reading = null; // the file on its way to the server
  let painted = null;

  // What stands in the controls. Each way to begin keeps its own class, number and picture.
  const usual = { kind: 0, seed: 7, temperature: 1, top_k: limits.top_k.at(-1), keep: limits.rows_kept[Math.floor(limits.rows_kept.length / 2)] };
  const now = { mode: modes[0], seed: usual.seed, temperature: usual.temperature, top_k: usual.top_k, keep: usual.keep, by: {} };
  for (const mode of modes) {
    const like = examples.find((example) => example.mode === mode);
    now.by[mode] = { kind: like?.kind ?? (mode === "complete" ? kinds.length : usual.kind), count: like?.count ?? 1, picture: mode === "generate" ? "" : "test:0" };
  }
  const own = { grey: null, colour: null }; // the visitor's pictures, as levels
  const ours = { grey: null, colour: null };
  const side = (set) => (set === "colour" ? limits.large : limits.side);
  const channels = (set) => (set === "colour" ? 3 : 1);

  // ── the bar ──
  const name = (key, ...more) => el("span", { class: "tfe-maker-name", "data-text": key }, ...more);
  const field = (key, control, tag = "label") => {
    const label = name(key);
    return { label, node: el(tag, { class: `tfe-maker-field is-${key}` }, label, control) };
  };
  const modePick = segmented({ options: [], value: now.mode, label: "", onPick: (mode) => choose({ mode }) });
  const kindPick = el("select", { class: "tfe-select", onchange: () => choose({ kind: Number(kindPick.value) }) });
  const heat = el("input", {
    class: "tfe-range",
    type: "range",
    min: limits.temperature[0],
    max: limits.temperature[1],
    step: limits.temperature[2],
    oninput: () => choose({ temperature: Number(heat.value) }),
  });
  const heatValue = el("span", { class: "tfe-maker-value", "aria-hidden": "true" });
  const topPick = el("select", { class: "tfe-select", onchange: () => choose({ top_k: Number(topPick.value) }) });
  const seed = seedBox({ most: limits.seed, className: "tfe-maker-seed", onSeed: (chosen) => choose({ seed: chosen }), onWrong: () => paintState(), onEnter: () => run() });
  const countPick = el("select", { class: "tfe-select", onchange: () => choose({ count: Number(countPick.value) }) });
  const exampleButtons = examples.map((example, index) =>
    el("button", { type: "button", class: "tfe-maker-example", text: String(index + 1), onclick: () => show(example) }),
  );
  const fields = {
    make: field("make", modePick.node, "div"),
    kind: field("kind", kindPick),
    temperature: field("temperature", heat),
    topk: field("topk", topPick),
    seed: field("seed", seed.node),
    count: field("count", countPick),
    examples: field("examples", el("div", { class: "tfe-maker-examples" }, ...exampleButtons), "div"),
  };
  fields.examples.node.setAttribute("role", "group");
  fields.temperature.label.after(heatValue);
  const badge = badgeOf(() => paintState());
  const goLabel = el("span", {});
  const goKey = el("kbd", { "aria-hidden": "true", text: "Esc" });
  const go = el("button", { type: "submit", class: "tfe-button primary tfe-maker-go" }, goLabel);
  const bar = el(
    "div",
    { class: "tfe-maker-bar" },
    ...Object.values(fields).map((each) => each.node),
    el("div", { class: "tfe-maker-end" }, badge.node, go),
  );

  // ── the picture to begin with ──
  const before = el("canvas", { class: "tfe-maker-before", role: "img" });
  const reduced = el("canvas", { class: "tfe-maker-before", "aria-hidden": "true" });
  const strip = el("div", { class: "tfe-maker-strip", role: "radiogroup" });
  const keepPick = segmented({
    options: limits.rows_kept.map((rows) => ({ key: String(rows), label: String(rows) })),
    value: String(now.keep),
    label: "",
    onPick: (rows) => choose({ keep: Number(rows) }),
  });
  const keepField = field("kept", keepPick.node, "div");
  const chooser = el("input", { type: "file", accept: "image/png,image/jpeg,image/webp", hidden: true });
  const uploadButton = el("button", { type: "button", class: "tfe-button small", onclick: () => chooser.click() });
  const drawButton = el("button", { type: "button", class: "tfe-button small", "aria-controls": `${id}-pad`, onclick: () => openPad(pad.node.hidden) });
  const hint = el("span", { class: "tfe-maker-hint" });
  const start = el(
    "div",
    { class: "tfe-maker-start", hidden: true },
    el("div", { class: "tfe-maker-befores" }, before, reduced),
    strip,
    el("div", { class: "tfe-maker-give" }, el("div", { class: "tfe-maker-ways" }, keepField.node, el("div", { class: "tfe-maker-buttons" }, uploadButton, drawButton, chooser)), hint),
  );
  const pad = drawingPad({ id: `${id}-pad`, side: limits.side, onDraw: drawn, onClose: () => openPad(false) });

  const error = el("p", { id: `${id}-error`, class: "tfe-error tfe-maker-error", role: "alert", hidden: true });
  const note = el("p", { class: "tfe-maker-note", role: "status", hidden: true });
  const form = el("form", { class: "tfe-panel tfe-maker-panel", novalidate: true }, bar, start, pad.node, error, note);
  root.replaceChildren(form);

  const wish = asking({ emit, first: value.query, noLink: TEXT.noLink, paint: paintState });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (wish.pending) wish.stop();
    else run();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !wish.pending) return;
    event.preventDefault();
    event.stopPropagation();
    wish.stop();
  });

  // ── asking ──
  const mine = () => now.by[now.mode];

  /** The request as the controls stand; heads stay silenced and memory cut for the next picture too. */
  function asked() {
    const { kind, count, picture } = mine();
    const like = examples.find((example) => example.mode === now.mode) ?? {};
    const last = value.request ?? examples[0] ?? {};
    const { query, title, ...shape } = like;
    return {
      ...shape,
      ...last,
      mode: now.mode,
      kind: now.mode === "enlarge" ? (like.kind ?? usual.kind) : kind,
      seed: now.seed,
      temperature: now.temperature,
      top_k: now.top_k,
      count,
      picture,
      keep: now.mode === "complete" ? now.keep : usual.keep,
    };
  }

  function run() {
    const wanted = asked();
    local.error = unready(wanted);
    if (seed.judge() || local.error) {
      paintState();
      return;
    }
    filled = stamp(wanted);
    wish.begin(null, () => emit.run({ request: wanted }));
  }

  /** Why this cannot be asked yet, or null. */
  function unready(wanted) {
    if (wanted.mode === "generate") return null;
    if (!wanted.picture) return TEXT.noPicture;
    const levels = wanted.picture.startsWith("test:") ? null : own[setOf(wanted.mode)];
    if (levels?.every((level) => level === 0)) return TEXT.blank;
    return null;
  }

  function show(example) {
    local = { error: null, notice: null };
    take(example);
    const { query, title, ...wanted } = example;
    wish.begin(query || null, () => emit.run({ request: wanted }));
  }

  // ── what stands in the controls ──
  function choose(patch) {
    for (const [key, chosen] of Object.entries(patch)) {
      if (key === "kind" || key === "count" || key === "picture") mine()[key] = chosen;
      else now[key] = chosen;
    }
    if (patch.mode || patch.picture !== undefined) local = { error: null, notice: null };
    if (patch.mode && patch.mode !== "complete") openPad(false);
    paint();
  }

  const stamp = (wanted) => JSON.stringify(["mode", "kind", "seed", "temperature", "top_k", "count", "picture", "keep"].map((key) => wanted[key]));

  /** The controls follow a request, unless it came from them, or they were filled from it already, and have been changed since. */
  function take(wanted) {
    if (!wanted || stamp(wanted) === filled) return;
    filled = stamp(wanted);
    const { mode, kind, count, picture } = wanted;
    if (!modes.includes(mode)) return;
    Object.assign(now, { mode, seed: wanted.seed, temperature: wanted.temperature, top_k: wanted.top_k });
    seed.show(now.seed, true);
    if (mode === "complete") now.keep = wanted.keep;
    Object.assign(mine(), { count, picture: picture ?? "" }, mode === "enlarge" ? {} : { kind });
    if (mode !== "generate" && picture && !picture.startsWith("test:")) {
      own[setOf(mode)] = unspelled(picture, side(setOf(mode)) ** 2 * channels(setOf(mode)));
    }
    if (mode !== "complete") openPad(false);
    paint();
  }

  /** The levels that a mode begins with, or null. */
  function levelsOf(mode) {
    const set = setOf(mode);
    const { picture } = now.by[mode];
    if (!picture) return null;
    if (!picture.startsWith("test:")) return own[set];
    return ours[set]?.slice(Number(picture.slice(5))) ?? null;
  }

  // ── a visitor's picture ──
  function give(set, levels) {
    own[set] = levels;
    const mode = set === "colour" ? "enlarge" : "complete";
    now.by[mode].picture = spelled(levels);
  }

  async function read(file) {
    if (now.mode === "generate") choose({ mode: "complete" });
    const set = setOf(now.mode);
    local = { error: null, notice: null };
    if (!file) local.error = TEXT.noFile;
    else if (file.size > limits.file) local.error = filledIn(TEXT.heavy, { mb: megabytes(file.size), most: megabytes(limits.file).replace(".0", "") });
    if (local.error) {
      paintState();
      return;
    }
    reading?.abort();
    const mine_ = new AbortController();
    reading = mine_;
    openPad(false);
    paintState();
    try {
      const answer = await fetch(new URL(upload[set], location.origin), { method: "POST", body: file, signal: mine_.signal });
      const told = await answer.json().catch(() => ({}));
      if (reading !== mine_) return;
      if (answer.ok) {
        give(set, Uint8Array.from((await unpack(told.levels)).data));
        local.notice = told.notice;
      } else local.error = told.error ?? TEXT.unread;
    } catch {
      if (reading !== mine_) return;
      local.error = TEXT.unread;
    }
    reading = null;
    paint();
    if (!local.error && setOf(now.mode) === set) run();
  }

  const filledIn = (text, values) => Object.fromEntries(Object.entries(text).map(([language, raw]) => [language, raw.replace(/\{(\w+)\}/g, (_, key) => values[key])]));

  chooser.addEventListener("change", () => {
    const [file] = chooser.files;
    chooser.value = ""; // the same file may be chosen again
    if (file) read(file);
  });
  let inside = 0; // dragenter and dragleave of children come in pairs
  const over = (count) => {
    inside = count;
    form.classList.toggle("is-over", inside > 0);
    paintHint();
  };
  const brings = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  form.addEventListener("dragenter", (event) => brings(event) && (event.preventDefault(), over(inside + 1)));
  form.addEventListener("dragleave", (event) => brings(event) && over(Math.max(0, inside - 1)));
  form.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  form.addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    over(0);
    read(event.dataTransfer.files[0]);
  });
  document.addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])].find((each) => each.type.startsWith("image/"));
    if (!file || !root.isConnected) return;
    event.preventDefault();
    read(file);
  });

  // ── drawing by hand ──
  function openPad(open) {
    if (pad.node.hidden === !open) return;
    pad.node.hidden = !open;
    drawButton.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const given = levelsOf("complete");
    pad.open({ levels: own.grey && mine().picture && !mine().picture.startsWith("test:") ? own.grey : null, given, keep: now.keep });
  }

  function drawn(levels) {
    local = { error: null, notice: null };
    give("grey", levels);
    paint();
  }

  // ── drawing the bar ──
  function paint() {
    paintTexts();
    paintStrip();
    paintBefore();
    paintState();
  }

  const option = (key, text) => el("option", { value: key, text });
  const choices = (select, options, chosen) => {
    const is = JSON.stringify(options);
    if (select.dataset.is !== is) {
      select.replaceChildren(...options.map(([key, text]) => option(key, text)));
      select.dataset.is = is;
    }
    select.value = String(chosen);
  };

  function paintTexts() {
    form.setAttribute("aria-label", t(texts.region));
    for (const node of form.querySelectorAll("[data-text]")) node.textContent = t(TEXT[node.dataset.text]);
    const wanted = JSON.stringify([t(TEXT.make), now.mode]);
    if (painted !== wanted) {
      painted = wanted;
      modePick.set({ label: t(TEXT.make), value: now.mode, options: modes.map((key) => ({ key, label: t(TEXT[key]) })) });
    }
    fields.examples.node.setAttribute("aria-label", t(TEXT.examples));
    fields.kind.node.hidden = now.mode === "enlarge";
    choices(kindPick, [...kinds, TEXT.untold].map((kind, index) => [index, t(kind)]), mine().kind);
    heat.value = String(now.temperature);
    const [low, high] = limits.temperature;
    heat.style.setProperty("--at", `${((now.temperature - low) / (high - low)) * 100}%`);
    heatValue.textContent = Number(now.temperature).toFixed(1);
    heat.setAttribute("aria-valuetext", heatValue.textContent);
    fields.temperature.node.title = t(TEXT.temperatureLong, { value: heatValue.textContent });
    const tops = [...new Set([...limits.top_k, now.top_k])].sort((a, b) => a - b);
    choices(topPick, tops.map((k) => [k, k === limits.top_k.at(-1) ? t(TEXT.all) : String(k)]), now.top_k);
    fields.topk.node.title = t(TEXT.topkLong);
    seed.show(now.seed);
    fields.seed.node.title = t(TEXT.seedLong);
    choices(countPick, Array.from({ length: limits.count }, (_, index) => [index + 1, String(index + 1)]), mine().count);
    exampleButtons.forEach((button, index) => {
      const named = t(TEXT.example, { n: index + 1, title: t(examples[index].title) });
      button.setAttribute("aria-label", named);
      button.title = named;
    });

    start.hidden = now.mode === "generate";
    form.dataset.mode = now.mode;
    strip.setAttribute("aria-label", t(TEXT.ours));
    keepField.node.hidden = now.mode !== "complete";
    keepPick.set({ value: String(now.keep), label: t(TEXT.kept) });
    const mb = megabytes(limits.file).replace(".0", "");
    uploadButton.textContent = t(reading ? TEXT.readingFile : TEXT.upload);
    uploadButton.title = t(TEXT.uploadLong, { mb });
    drawButton.textContent = t(TEXT.draw);
    drawButton.hidden = now.mode !== "complete";
    drawButton.setAttribute("aria-expanded", String(!pad.node.hidden));
    paintHint();
    pad.paint({ keep: now.keep, given: levelsOf("complete") });
  }

  function paintHint() {
    hint.textContent = t(form.classList.contains("is-over") ? TEXT.dropHere : TEXT.drop);
  }

  /** The pictures to choose from: the visitor's own first, then ours. One tab stop; arrows move, Enter asks for it. */
  function paintStrip() {
    if (now.mode === "generate") return;
    const set = setOf(now.mode);
    const names = pictures[set]?.names ?? [];
    const chosen = mine().picture;
    const keys = [...(own[set] ? ["own"] : []), ...names.map((_, index) => `test:${index}`)];
    const here = chosen.startsWith("test:") ? chosen : own[set] ? "own" : "";
    const had = strip.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    if (strip.dataset.of !== `${set} ${keys.length} ${ours[set] !== null}`) {
      strip.dataset.of = `${set} ${keys.length} ${ours[set] !== null}`;
      strip.style.setProperty("--columns", String(keys.length > 10 ? Math.ceil(keys.length / 2) : keys.length));
      strip.replaceChildren(...keys.map((key) => el("button", { type: "button", role: "radio", class: "tfe-maker-picture", "data-key": key, onclick: () => pickPicture(key, true) }, el("canvas", { "aria-hidden": "true" }))));
    }
    for (const button of strip.children) {
      const { key } = button.dataset;
      const on = key === here;
      const index = Number(key.slice(5));
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on || (here === "" && button === strip.firstElementChild) ? 0 : -1;
      const named = key === "own" ? t(TEXT.own) : t(TEXT.ourOne, { n: index + 1, name: t(names[index]) });
      button.setAttribute("aria-label", named);
      button.title = named;
      const levels = key === "own" ? own[set] : ours[set]?.slice(index);
      const canvas = button.firstElementChild;
      if (levels) paintPicture(canvas, { levels, side: side(set), channels: channels(set) });
    }
    if (had) [...strip.children].find((button) => button.dataset.key === had)?.focus({ preventScroll: true });
  }

  function pickPicture(key, ask) {
    const set = setOf(now.mode);
    choose({ picture: key === "own" ? spelled(own[set]) : key });
    if (key !== "own") openPad(false);
    if (ask) run();
  }

  strip.addEventListener("keydown", (event) => {
    const all = [...strip.children];
    const at = all.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = all[(to + all.length) % all.length];
    next.focus();
    pickPicture(next.dataset.key, false);
  });

  /** The picture as it goes in: what is kept of it, or what is left after it was made small. */
  function paintBefore() {
    if (now.mode === "generate") return;
    const set = setOf(now.mode);
    const levels = levelsOf(now.mode);
    const shape = { side: side(set), channels: channels(set) };
    const tokens = colours();
    paintPicture(before, { ...shape, levels, scale: set === "colour" ? 5 : 3, keep: now.mode === "complete" ? now.keep : null, tokens });
    reduced.hidden = now.mode !== "enlarge";
    if (levels && set === "colour") paintPicture(reduced, { levels: averaged(levels, limits.large, limits.small), side: limits.small, channels: 3, scale: 10, tokens });
    before.setAttribute("aria-label", now.mode === "complete" ? t(TEXT.keptPart, { n: now.keep, of: limits.side }) : t(TEXT.smallPart, { n: limits.small }));
  }

  /** How far the pictures have come. */
  function progress() {
    const { done, device } = value.badge;
    return t(TEXT.running, { at: grouped(done.at), of: grouped(done.of), device: device ? ` · ${device}` : "" });
  }

  function paintState() {
    const busy = wish.pending;
    form.setAttribute("aria-busy", String(busy || reading !== null));
    go.classList.toggle("primary", !busy);
    goLabel.textContent = t(busy ? TEXT.stop : TEXT[`go_${now.mode}`]);
    if (!busy) goKey.remove();
    else if (!goKey.isConnected) go.append(goKey);
    go.disabled = reading !== null && !busy;
    uploadButton.textContent = t(reading ? TEXT.readingFile : TEXT.upload);
    const wrong = busy ? null : (seed.refused() ?? local.error ?? (value.state === "refused" ? value.error : null));
    badge.paint({ value, wish, wrong, differs: () => seed.wrong() !== null || stamp(asked()) !== stamp(value.request), progress });
    error.hidden = !wrong;
    error.textContent = wrong ? t(wrong) : "";
    const about = value.state !== "refused" && value.request?.mode === now.mode; // remarks belong to a result of this kind
    const said = [local.notice, about && value.notice, about && value.warning].filter(Boolean).map((each) => t(each));
    note.hidden = said.length === 0;
    note.textContent = said.join(" ");
  }

  // ── wiring ──
  function receive() {
    const next = props.value ?? { state: "empty" };
    if (!wish.receive(next)) return;
    const { error: _e, notice: _n, ...kept } = value;
    value = next.state === "waiting" || next.state === "refused" ? { ...kept, ...next } : next;
    if (next.request && next.state !== "waiting" && next.state !== "refused") take(next.request);
    paintState();
  }
  watch("value", receive);
  onLang(() => {
    painted = null;
    pad.paint({});
    paint();
  });
  onTheme(() => {
    paintBefore();
    pad.paint({});
  });
  take(value.request);
  paint();
  for (const set of ["grey", "colour"]) {
    if (!pictures[set] || !pictures[set].names.length) continue;
    unpack(pictures[set].levels).then((all) => {
      ours[set] = all;
      paintStrip();
      paintBefore();
    });
  }
  wish.follow(() => {
    local = { error: null, notice: null };
    filled = null;
  });
}

/** A picture of three channels averaged from `large` to `small` pixels a side. */
function averaged(levels, large, small) {
  const step = large / small;
  const out = new Uint8Array(small * small * 3);
  for (let row = 0; row < small; row += 1) {
    for (let column = 0; column < small; column += 1) {
      for (let c = 0; c < 3; c += 1) {
        let sum = 0;
        for (let i = 0; i < step; i += 1) for (let j = 0; j < step; j += 1) sum += levels[3 * ((row * step + i) * large + column * step + j) + c];
        out[3 * (row * small + column) + c] = Math.round(sum / step ** 2);
      }
    }
  }
  return out;
}

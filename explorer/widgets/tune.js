// Which motif is given (ours, played, a MIDI file), what is made of it, and the knobs of the drawing; with the badge that says where a
// result comes from. What is played is written here, as a request carries it.

import { asking } from "./lib/asking.js";
import { badgeOf, grouped } from "./lib/badge.js";
import { el, segmented } from "./lib/dom.js";
import { onLang, t } from "./lib/lang.js";
import { cellsOf, eventsOf, notesOf, pitchName, playedCells, playedFrom, sopranoOf, spelled, unspelled } from "./lib/noteevents.js";
import { keyboard } from "./lib/notekeys.js";
import { paintNotes } from "./lib/noteroll.js";
import { seedBox } from "./lib/seed.js";
import { recorder } from "./lib/takes.js";
import { css, onTheme } from "./lib/theme.js";
import { tone } from "./lib/tone.js";

const TEXT = {
  motif: { en: "motif", zh: "动机" },
  ours: { en: "Example", zh: "示例" },
  play: { en: "Play it", zh: "自己弹" },
  file: { en: "My MIDI", zh: "我的 MIDI" },
  examples: { en: "Which example", zh: "哪个示例" },
  mode: { en: "make", zh: "生成" },
  continue: { en: "continue", zh: "续写" },
  harmonise: { en: "harmonise", zh: "配和声" },
  modeLong: {
    en: "Continue: the models go on from the motif. Harmonise: its melody stays, and they make alto, tenor and bass below it",
    zh: "续写：模型从动机往下写。配和声：保留旋律，由模型写出女低音、男高音和男低音",
  },
  go_continue: { en: "Continue", zh: "续写" },
  go_ways: { en: "Continue {n} ways", zh: "{n}种续写" },
  go_harmonise: { en: "Harmonise", zh: "配和声" },
  style: { en: "as", zh: "作为" },
  length: { en: "length", zh: "长度" },
  lengthLong: { en: "How much is made after the motif", zh: "在动机之后写多长" },
  bars: { en: "{n} bars", zh: "{n} 小节" },
  bar: { en: "1 bar", zh: "1 小节" },
  cells: { en: "{n} cells", zh: "{n} 格" },
  events: { en: "{n} events", zh: "{n} 个事件" },
  temperature: { en: "temperature", zh: "温度" },
  temperatureLong: {
    en: "Temperature {value}: 1 is the models' own distribution, less plays safe, more dares, 0 takes the likeliest every time",
    zh: "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆，0 每次取最可能的",
  },
  seed: { en: "seed", zh: "种子" },
  seedLong: { en: "Seed of all draws, the same for every model: the same seed makes the same music", zh: "所有抽样的种子，各模型相同：同一种子得到同样的音乐" },
  stop: { en: "Stop", zh: "停止" },
  running_piano: { en: "live · event {at} of {of}{device}", zh: "实时 · 第 {at} / {of} 个事件{device}" },
  running_chorale: { en: "live · cell {at} of {of}{device}", zh: "实时 · 第 {at} / {of} 格{device}" },
  undo: { en: "Undo", zh: "撤销" },
  clear: { en: "Clear", zh: "清空" },
  lower: { en: "Octave down", zh: "低八度" },
  higher: { en: "Octave up", zh: "高八度" },
  legend: { en: "letters Z S X … and Q 2 W … play · ←→↑↓ move · Space plays · Backspace takes back", zh: "Z S X … 与 Q 2 W … 弹奏 · ←→↑↓ 移动 · 空格弹奏 · Backspace 撤销" },
  nothing: { en: "Play a few notes; the clock starts with the first, and a pause counts for a second at most.", zh: "弹几个音；从第一个音开始计时，停顿最多按一秒计。" },
  noneYet: { en: "No file yet.", zh: "还没有文件。" },
  notes: { en: "{n} notes, {low} to {high}, {s} s", zh: "{n} 个音，{low} 到 {high}，{s} 秒" },
  note: { en: "1 note, {low}, {s} s", zh: "1 个音，{low}，{s} 秒" },
  left_melody: { en: " · {n} left out: a melody has one note at a time and lasts up to {s} s", zh: " · 略去 {n} 个：旋律一次一个音，至多 {s} 秒" },
  left_voices: { en: " · {n} left out: there are four voices, for up to {s} s", zh: " · 略去 {n} 个：只有四个声部，至多 {s} 秒" },
  left_events: { en: " · {n} left out: a motif has up to {most} events", zh: " · 略去 {n} 个：动机至多 {most} 个事件" },
  roll: { en: "The motif: {notes}", zh: "动机：{notes}" },
  upload: { en: "Upload …", zh: "上传……" },
  uploadLong: { en: "Upload a MIDI file of up to {kb} KB; dropping one works too", zh: "上传 MIDI 文件，至多 {kb} KB；也可拖放" },
  drop: { en: "or drop a MIDI file", zh: "也可拖放 MIDI 文件" },
  dropHere: { en: "Drop the MIDI file here", zh: "把 MIDI 文件放在这里" },
  readingFile: { en: "Reading …", zh: "正在读……" },
  unread: { en: "The file did not reach the server; it can be sent again.", zh: "文件没有送达服务器；可以再次发送。" },
  heavy: { en: "Your file has {kb} KB; MIDI files of up to {most} KB are read.", zh: "您的文件有 {kb} KB；最多读 {most} KB 的 MIDI 文件。" },
  dropped: { en: "What was dropped is no file; MIDI files are read.", zh: "放下的不是文件；可读 MIDI 文件。" },
  noFile: { en: "No file is chosen yet; upload a MIDI file, or play a motif.", zh: "还没有选文件；请上传 MIDI 文件，或自己弹一段动机。" },
  silent: { en: "Nothing is played yet; a few notes are enough.", zh: "还没有弹奏；几个音就够了。" },
  noLink: { en: "This motif is too long for a link; save the view as a file instead.", zh: "这段动机太长，放不进链接；请把视图存为文件。" },
};
const NUMBERS = { 2: { en: "two", zh: "两" }, 3: { en: "three", zh: "三" } };

const VOICES = { continue: 4, harmonise: 1 }; // of a chorale's motif
const BAR = 64; // cells of a chorale: four quarters of four sixteenths of four voices
const LINES = { chorale: { beat: 500, bar: 2000 }, piano: { beat: 1000, bar: 5000 } }; // milliseconds between lines of the small roll
const SPAN = 8000; // milliseconds that the small roll shows at least
const HAND = { chorale: 60, piano: 48 }; // the C that the letter Z plays at first
const UNTOUCHED = { silenced: [], farthest: -1, semitones: 0, stretch: 1 }; // the models and the motif as they are

const kilobytes = (bytes) => grouped(Math.ceil(bytes / 1024));
const filledIn = (text, values) => Object.fromEntries(Object.entries(text).map(([language, raw]) => [language, raw.replace(/\{(\w+)\}/g, (_, key) => values[key])]));

let serial = 0;

/** props, value and events: see tune.py. */
export function mount(root, props, emit, watch) {
  const { texts, examples, styles, limits, upload } = props;
  const id = `tfe-tune-${(serial += 1)}`;
  const styleOf = (key) => styles.find((style) => style.key === key);
  let value = props.value ?? { state: "empty" };
  let filled = null; // what the controls were last filled from, or asked for
  let local = { error: null, notice: null }; // said here, not by the models
  let reading = null; // the file on its way to the server
  let pressed = false; // was a way to begin chosen by a press, or only reached with the arrows?
  let drawn = null; // what the lists of choices were last built from
  let ticking = false;

  // What stands in the controls. source: number of an example, "play" or "file".
  const [start] = examples;
  const now = { source: "0", style: start.style, mode: start.mode, seed: start.seed, temperature: start.temperature, length: {} };
  for (const { key } of styles) now.length[key] = examples.find((each) => each.style === key)?.length ?? limits.made[key] / 2;
  const take = recorder();
  // Motifs as they came, by "style/mode"; what is not here is written from the notes.
  const own = { play: {}, file: null };

  // ── the bar ──
  const name = (key) => el("span", { class: "tfe-tune-name", "data-text": key });
  const field = (key, control, tag = "label") => {
    const label = name(key);
    return { label, node: el(tag, { class: `tfe-tune-field is-${key}` }, label, control) };
  };
  const motifPick = segmented({ options: [], value: "ours", label: "", onPick: pickMotif });
  const examplePick = el("select", { class: "tfe-select", onchange: () => show(examples[examplePick.value]) });
  const modePick = segmented({ options: [], value: now.mode, label: "", onPick: (mode) => choose({ mode }) });
  const lengthPick = el("select", { class: "tfe-select", onchange: () => choose({ length: Number(lengthPick.value) }) });
  const heat = el("input", {
    class: "tfe-range",
    type: "range",
    min: limits.temperature[0],
    max: limits.temperature[1],
    step: limits.temperature[2],
    oninput: () => choose({ temperature: Number(heat.value) }),
  });
  const heatValue = el("span", { class: "tfe-tune-value", "aria-hidden": "true" });
  const seed = seedBox({ most: limits.seed, className: "tfe-tune-seed", onSeed: (chosen) => choose({ seed: chosen }), onWrong: () => paintState(), onEnter: () => run() });
  const fields = {
    motif: field("motif", el("div", { class: "tfe-tune-motif" }, motifPick.node, examplePick), "div"),
    mode: field("mode", modePick.node, "div"),
    length: field("length", lengthPick),
    temperature: field("temperature", heat),
    seed: field("seed", seed.node),
  };
  fields.temperature.label.after(heatValue);
  const badge = badgeOf(() => paintState());
  const goLabel = el("span", {});
  const goKey = el("kbd", { "aria-hidden": "true", text: "Esc" });
  const go = el("button", { type: "submit", class: "tfe-button primary tfe-tune-go" }, goLabel);
  const bar = el("div", { class: "tfe-tune-bar" }, ...Object.values(fields).map((each) => each.node), el("div", { class: "tfe-tune-end" }, badge.node, go));

  // ── the visitor's own motif ──
  const button = (act) => el("button", { type: "button", class: "tfe-button small", onclick: act });
  const stylePick = segmented({ options: [], value: now.style, label: "", onPick: (style) => choose({ style }) });
  const styleName = name("style");
  const styleField = el("div", { class: "tfe-tune-style" }, styleName, stylePick.node);
  const undo = button(() => edit(() => take.undo()));
  const clear = button(() => edit(() => take.load([])));
  const lower = button(() => move(-1));
  const higher = button(() => move(1));
  const chooser = el("input", { type: "file", accept: ".mid,.midi,audio/midi,audio/x-midi", hidden: true });
  const uploadButton = button(() => chooser.click());
  const fileName = el("span", { class: "tfe-tune-file tfe-mono" });
  const hint = el("span", { class: "tfe-tune-hint" });
  const summary = el("p", { class: "tfe-tune-summary", id: `${id}-notes` });
  const roll = el("canvas", { class: "tfe-tune-roll", role: "img" });
  const piano = keyboard({ onPress, onRelease, onUndo: () => edit(() => take.undo()) });
  const legend = el("p", { class: "tfe-tune-hint is-legend" });
  const playing = [undo, clear, lower, higher];
  const sending = [uploadButton, fileName, hint];
  const mine = el(
    "div",
    { class: "tfe-tune-own", hidden: true },
    el("div", { class: "tfe-tune-row" }, styleField, summary, el("div", { class: "tfe-tune-tools" }, ...sending, ...playing, chooser)),
    roll,
    piano.node,
    legend,
  );

  const error = el("p", { id: `${id}-error`, class: "tfe-error tfe-tune-error", role: "alert", hidden: true });
  const note = el("p", { class: "tfe-tune-note", role: "status", hidden: true });
  const form = el("form", { class: "tfe-panel tfe-tune-panel", novalidate: true }, bar, mine, error, note);
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

  // ── motifs ──
  const isOurs = () => now.source in examples;
  const wayOf = (style, mode) => `${style}/${mode}`;

  /** Notes of a motif that was written; none where it cannot be read, which the server will say. */
  function playedOf(text, style, mode) {
    const values = unspelled(text) ?? [];
    return style === "piano" ? playedFrom(values) : playedCells(values, { voices: VOICES[mode], grid: limits.grid[style] });
  }

  /** The motif that notes make: {text, left}, left: how many of them are left out. */
  function written(notes, style, mode) {
    const most = limits.motif[style];
    if (style !== "piano") {
      const { cells, left } = cellsOf(notes, { voices: VOICES[mode], grid: limits.grid[style], most: mode === "harmonise" ? most / 4 : most });
      return { text: spelled(cells), left };
    }
    const kept = notesOf(notes);
    let values = eventsOf(kept);
    while (values.length > most) {
      kept.pop();
      values = eventsOf(kept);
    }
    return { text: spelled(values), left: notes.length - kept.length };
  }

  /** What the source gives, as the style and the mode want it: {text, left, notes}. */
  function motif() {
    const { style, mode } = now;
    let kept;
    let notes;
    if (isOurs()) {
      const example = examples[now.source];
      kept = { [wayOf(example.style, example.mode)]: example.motif };
      notes = () => playedOf(example.motif, example.style, example.mode);
    } else if (now.source === "file") {
      kept = own.file?.kept ?? {};
      notes = () => own.file?.notes ?? [];
    } else {
      kept = own.play;
      notes = () => take.notes(performance.now());
    }
    const asIs = kept[wayOf(style, mode)];
    if (asIs !== undefined) return { text: asIs, left: 0, notes };
    const whole = kept[wayOf("chorale", "continue")];
    if (style === "chorale" && mode === "harmonise" && whole !== undefined) return { text: spelled(sopranoOf(unspelled(whole) ?? [])), left: 0, notes };
    return { ...written(notes(), style, mode), notes };
  }

  // ── asking ──
  /** The request as the controls stand; what was changed in the models stays changed for the next motif of the same style too. */
  function asked() {
    const { query, title, ...shape } = examples.find((each) => each.style === now.style) ?? start;
    const last = value.request?.style === now.style ? value.request : {};
    return { ...shape, ...UNTOUCHED, ...last, style: now.style, mode: now.mode, motif: motif().text, length: now.length[now.style], seed: now.seed, temperature: now.temperature };
  }

  function run() {
    piano.silence();
    if (now.source === "play" && take.notes().length === 0) local.error = TEXT.silent;
    else if (now.source === "file" && !own.file) local.error = TEXT.noFile;
    else local.error = null;
    if (seed.judge() || local.error) {
      paintState();
      return;
    }
    const wanted = asked();
    filled = stamp(wanted);
    wish.begin(null, () => emit.run({ request: wanted }));
  }

  /** The controls as an example has them, whatever was changed in them. */
  function refill(example) {
    local = { error: null, notice: null };
    filled = null;
    now.source = String(examples.indexOf(example)); // two examples may begin alike
    fill(example);
  }

  function show(example) {
    refill(example);
    const { query, title, ...wanted } = example;
    wish.begin(query || null, () => emit.run({ request: wanted }));
  }

  // ── what stands in the controls ──
  motifPick.node.addEventListener(
    "click",
    () => {
      pressed = true;
    },
    true,
  );
  motifPick.node.addEventListener("click", () => {
    pressed = false;
    if (now.source === "play") piano.focus(); // so that letters play at once
  });

  function pickMotif(source) {
    if (source !== "ours") choose({ source });
    else if (isOurs()) return;
    else if (pressed) show(examples[examplePick.value]);
    else refill(examples[examplePick.value]);
  }

  function choose(patch) {
    if (patch.source !== undefined || patch.mode || patch.style) local = { error: null, notice: null };
    const { length, ...rest } = patch;
    Object.assign(now, rest);
    if (length !== undefined) now.length[now.style] = length;
    const { modes } = styleOf(now.style);
    if (!modes.includes(now.mode)) [now.mode] = modes;
    if (patch.style) fitKeys();
    paint();
    if (patch.style && now.source === "file" && own.file && own.file.style !== now.style) read(own.file.from, false);
  }

  const stamp = (wanted) => JSON.stringify(["style", "mode", "motif", "length", "seed", "temperature"].map((key) => wanted[key]));

  /** The controls follow a request, unless it came from them, or they were filled from it already, and have been changed since. */
  function fill(wanted) {
    if (!wanted || stamp(wanted) === filled) return;
    filled = stamp(wanted);
    const { style, mode, motif: text } = wanted;
    if (!styleOf(style)?.modes.includes(mode)) return;
    const anew = style !== now.style;
    Object.assign(now, { style, mode, seed: wanted.seed, temperature: wanted.temperature });
    seed.show(now.seed, true);
    now.length[style] = wanted.length;
    const same = (each) => each.style === style && each.mode === mode && each.motif === text;
    const ours = isOurs() && same(examples[now.source]) ? now.source : examples.findIndex(same);
    if (ours !== -1) now.source = String(ours);
    else if (own.file?.kept[wayOf(style, mode)] === text) now.source = "file";
    else {
      now.source = "play";
      own.play = { [wayOf(style, mode)]: text };
      take.load(playedOf(text, style, mode));
    }
    if (anew) fitKeys();
    paint();
  }

  // ── playing ──
  const ending = new Map(); // pitch -> ends its tone

  function onPress(pitch, at) {
    ending.get(pitch)?.();
    ending.set(pitch, tone(pitch));
    own.play = {};
    local = { error: null, notice: null };
    take.press(pitch, at);
    if (!ticking) requestAnimationFrame(tick);
    ticking = true;
    paintMine();
    paintState();
  }

  function onRelease(pitch, at) {
    ending.get(pitch)?.();
    ending.delete(pitch);
    take.release(pitch, at);
    paintMine();
  }

  /** A note grows as long as its key is down. */
  function tick() {
    ticking = take.sounding();
    if (!ticking) return;
    paintRoll();
    requestAnimationFrame(tick);
  }

  function edit(change) {
    piano.silence();
    change();
    own.play = {};
    local = { error: null, notice: null };
    paintMine();
    paintState();
  }

  function move(octaves) {
    piano.move(octaves);
    paintMine();
  }

  function fitKeys() {
    const [low, high] = limits.keys[now.style];
    piano.range(low, high, HAND[now.style]);
  }

  // ── a visitor's file ──
  /** ask: whether the models are asked at once. */
  async function read(file, ask) {
    choose({ source: "file" });
    if (!file) local.error = TEXT.dropped;
    else if (file.size > limits.file) local.error = filledIn(TEXT.heavy, { kb: kilobytes(file.size), most: kilobytes(limits.file) });
    if (local.error) {
      paintState();
      return;
    }
    reading?.abort();
    const under = new AbortController();
    reading = under;
    paint();
    const { style } = now;
    try {
      const answer = await fetch(new URL(upload[style], location.origin), { method: "POST", body: file, signal: under.signal });
      const told = await answer.json().catch(() => ({}));
      if (reading !== under) return;
      if (answer.ok) {
        own.file = { from: file, style, kept: { [wayOf(style, "continue")]: told.motif }, notes: playedOf(told.motif, style, "continue") };
        local.notice = told.notice;
      } else local.error = told.error ?? TEXT.unread;
    } catch {
      if (reading !== under) return;
      local.error = TEXT.unread;
    }
    reading = null;
    paint();
    if (ask && !local.error && now.source === "file" && now.style === style) run();
  }

  chooser.addEventListener("change", () => {
    const [file] = chooser.files;
    chooser.value = ""; // the same file may be chosen again
    if (file) read(file, true);
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
    read(event.dataTransfer.files[0], true);
  });

  // ── drawing the bar ──
  function paint() {
    paintTexts();
    paintMine();
    paintState();
  }

  const choices = (select, options, chosen) => {
    const is = JSON.stringify(options);
    if (select.dataset.is !== is) {
      select.replaceChildren(...options.map(([key, text]) => el("option", { value: key, text })));
      select.dataset.is = is;
    }
    select.value = String(chosen);
  };

  function lengthName(length) {
    if (now.style === "piano") return t(TEXT.events, { n: grouped(length) });
    if (length % BAR) return t(TEXT.cells, { n: length });
    return length === BAR ? t(TEXT.bar) : t(TEXT.bars, { n: length / BAR });
  }

  function paintTexts() {
    form.setAttribute("aria-label", t(texts.region));
    for (const node of form.querySelectorAll("[data-text]")) node.textContent = t(TEXT[node.dataset.text]);
    const { modes } = styleOf(now.style);
    const lists = JSON.stringify([document.documentElement.lang, now.style]);
    if (drawn !== lists) {
      drawn = lists;
      motifPick.set({ label: t(TEXT.motif), options: ["ours", "play", "file"].map((key) => ({ key, label: t(TEXT[key]) })) });
      examplePick.setAttribute("aria-label", t(TEXT.examples));
      modePick.set({ label: t(TEXT.mode), options: modes.map((key) => ({ key, label: t(TEXT[key]) })) });
      stylePick.set({ label: t(TEXT.style), options: styles.map((style) => ({ key: style.key, label: t(style.name) })) });
    }
    motifPick.set({ value: isOurs() ? "ours" : now.source });
    choices(
      examplePick,
      examples.map((example, i) => [i, t(example.title)]),
      isOurs() ? now.source : examplePick.value || 0,
    );
    examplePick.hidden = !isOurs();
    modePick.set({ value: now.mode });
    stylePick.set({ value: now.style });
    fields.mode.node.hidden = modes.length < 2;
    fields.mode.node.title = t(TEXT.modeLong);
    fields.length.node.hidden = now.mode === "harmonise";
    fields.length.node.title = t(TEXT.lengthLong);
    const most = limits.made[now.style];
    const length = now.length[now.style];
    const lengths = [...new Set([most / 8, most / 4, most / 2, (3 * most) / 4, most, length])].sort((a, b) => a - b);
    choices(
      lengthPick,
      lengths.map((n) => [n, lengthName(n)]),
      length,
    );
    heat.value = String(now.temperature);
    const [low, high] = limits.temperature;
    heat.style.setProperty("--at", `${((now.temperature - low) / (high - low)) * 100}%`);
    heatValue.textContent = Number(now.temperature).toFixed(1);
    heat.setAttribute("aria-valuetext", heatValue.textContent);
    fields.temperature.node.title = t(TEXT.temperatureLong, { value: heatValue.textContent });
    seed.show(now.seed);
    fields.seed.node.title = t(TEXT.seedLong);
    styleField.hidden = styles.length < 2;
    undo.textContent = t(TEXT.undo);
    clear.textContent = t(TEXT.clear);
    lower.textContent = t(TEXT.lower);
    higher.textContent = t(TEXT.higher);
    legend.textContent = t(TEXT.legend);
    uploadButton.textContent = t(reading ? TEXT.readingFile : TEXT.upload);
    uploadButton.title = t(TEXT.uploadLong, { kb: kilobytes(limits.file) });
    paintHint();
    piano.paint();
  }

  function paintHint() {
    hint.textContent = t(form.classList.contains("is-over") ? TEXT.dropHere : TEXT.drop);
  }

  /** What the visitor has played or sent. */
  function paintMine() {
    mine.hidden = isOurs();
    if (mine.hidden) return;
    const played = now.source === "play";
    for (const node of [...playing, piano.node, legend]) node.hidden = !played;
    for (const node of sending) node.hidden = played;
    const { left, notes: found } = motif();
    const notes = found();
    undo.disabled = clear.disabled = notes.length === 0;
    lower.disabled = !piano.moves(-1);
    higher.disabled = !piano.moves(1);
    fileName.textContent = own.file?.from.name ?? "";
    roll.hidden = !played && notes.length === 0;
    summary.textContent = notes.length ? told(notes) + lost(left) : t(played ? TEXT.nothing : TEXT.noneYet);
    roll.setAttribute("aria-label", t(TEXT.roll, { notes: summary.textContent }));
    paintRoll(notes);
  }

  function told(notes) {
    const pitches = notes.map((each) => each.pitch);
    const seconds = (Math.max(...notes.map((each) => each.end)) - Math.min(...notes.map((each) => each.onset))) / 1000;
    const values = { n: grouped(notes.length), low: pitchName(Math.min(...pitches)), high: pitchName(Math.max(...pitches)), s: seconds.toFixed(1) };
    return t(notes.length === 1 ? TEXT.note : TEXT.notes, values);
  }

  function lost(left) {
    if (!left) return "";
    if (now.style === "piano") return t(TEXT.left_events, { n: left, most: grouped(limits.motif.piano) });
    const s = (limits.motif.chorale / 4) * (limits.grid.chorale / 1000);
    return t(now.mode === "harmonise" ? TEXT.left_melody : TEXT.left_voices, { n: left, s });
  }

  function paintRoll(notes = take.notes(performance.now())) {
    const tokens = { sunk: css("--sunk"), line: css("--line"), control: css("--control"), ink2: css("--ink2"), accent: css("--accent") };
    paintNotes(roll, { notes, ...LINES[now.style], span: SPAN, tokens });
  }

  function goName() {
    if (now.mode === "harmonise") return t(TEXT.go_harmonise);
    const number = NUMBERS[styleOf(now.style).models];
    return number ? t(TEXT.go_ways, { n: t(number) }) : t(TEXT.go_continue);
  }

  /** How far the slowest model has come. */
  function progress() {
    const { done, device } = value.badge;
    return t(value.request.style === "piano" ? TEXT.running_piano : TEXT.running_chorale, { at: grouped(done.at), of: grouped(done.of), device: device ? ` · ${device}` : "" });
  }

  function paintState() {
    const busy = wish.pending;
    form.setAttribute("aria-busy", String(busy || reading !== null));
    go.classList.toggle("primary", !busy);
    goLabel.textContent = busy ? t(TEXT.stop) : goName();
    if (!busy) goKey.remove();
    else if (!goKey.isConnected) go.append(goKey);
    go.disabled = reading !== null && !busy;
    const wrong = busy ? null : (seed.refused() ?? local.error ?? (value.state === "refused" ? value.error : null));
    badge.paint({ value, wish, wrong, differs: () => seed.wrong() !== null || stamp(asked()) !== stamp(value.request), progress });
    error.hidden = !wrong;
    error.textContent = wrong ? t(wrong) : "";
    const about = value.state !== "refused" && value.request?.style === now.style; // remarks belong to a result of this kind
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
    if (next.request && next.state !== "waiting" && next.state !== "refused") fill(next.request);
    paintState();
  }
  watch("value", receive);
  onLang(paint);
  onTheme(() => paintMine());
  new ResizeObserver(() => !mine.hidden && paintMine()).observe(roll);
  fitKeys();
  fill(value.request);
  paint();
  wish.follow(() => {
    local = { error: null, notice: null };
    filled = null;
  });
}

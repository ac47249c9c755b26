// What shall be read and gone on with: a digit of which some rows stay, or a text; with the knobs of the making, and the badge that says
// where a result comes from. It looks as maker.js does and shares its rules (maker.css).

import { unpack } from "./lib/arrays.js";
import { asking } from "./lib/asking.js";
import { badgeOf, grouped } from "./lib/badge.js";
import { el, segmented } from "./lib/dom.js";
import { onLang, t } from "./lib/lang.js";
import { colours, paintPicture, pad as drawingPad } from "./lib/pad.js";
import { seedBox } from "./lib/seed.js";
import { field, paintSlider, slider } from "./lib/sketchbar.js";
import { fitted, greys, inked, spelled, unspelled } from "./lib/sketchbits.js";
import { bringing, read, unfit } from "./lib/sketchgive.js";
import { strip as pictureStrip } from "./lib/sketchstrip.js";
import { TEXT, filledIn, joined, lengthOf, megabytes } from "./lib/sketchwords.js";
import { view } from "./lib/state.js";
import { onTheme } from "./lib/theme.js";

const BROAD = 1.3; // radius of the brush, pixels: strokes as broad as those of the digits that were learned from
const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);
const FIELDS = ["task", "drawing", "keep", "text", "length", "seed", "temperature"];

/** An example's request, without what the page calls it. */
const requestOf = ({ query, title, ...wanted }) => wanted;
const stamp = (wanted) => JSON.stringify(FIELDS.map((key) => wanted[key]));

let serial = 0;

/** props, value and events: see sketch.py. */
export function mount(root, props, emit, watch) {
  const { texts, tasks, names, limits, examples, neutral, upload } = props;
  const { side } = limits;
  const id = `tfe-sketch-${(serial += 1)}`;
  const first = Object.fromEntries(tasks.map((task) => [task, requestOf(examples.find((example) => example.task === task))]));
  let value = props.value ?? { state: "empty" };
  let filled = null; // what the controls were last filled from, or asked for
  let local = { error: null, notice: null }; // said here, not by the models
  let reading = null; // the file on its way to the server
  let ours = null; // the held-out digits, once they are unpacked
  let thresholds = null; // which grey becomes ink
  let own = null; // the visitor's digit: {levels, pixels, hand: was it drawn here?}
  const { drawing, keep } = first.digit ?? {};
  const now = { task: tasks[0], drawing, keep, length: first.text?.length, seed: first[tasks[0]].seed, temperature: first[tasks[0]].temperature };

  // ── the bar ──
  const taskPick = segmented({ options: [], value: now.task, label: "", onPick: (task) => choose({ task }) });
  const make = field("make", taskPick.node, { tag: "div" });
  const length = slider("length", [0, limits.positions, 1], (n) => choose({ length: n }));
  const heat = slider("temperature", limits.temperature, (temperature) => choose({ temperature }));
  const draws = seedBox({ most: limits.seed, className: "tfe-maker-seed", onSeed: (n) => choose({ seed: n }), onWrong: () => paintState(), onEnter: run });
  const seed = field("seed", draws.node);
  const exampleButtons = examples.map((example) => el("button", { type: "button", class: "tfe-maker-example", onclick: () => show(example) }));
  const exampleRow = field("examples", el("div", { class: "tfe-maker-examples" }, exampleButtons), { tag: "div" });
  exampleRow.node.setAttribute("role", "group");
  const badge = badgeOf(() => paintState());
  const goLabel = el("span", {});
  const goKey = el("kbd", { "aria-hidden": "true", text: "Esc" });
  const go = el("button", { type: "submit", class: "tfe-button primary tfe-maker-go" }, goLabel);
  const bar = el("div", { class: "tfe-maker-bar" }, make.node, length.node, heat.node, seed.node, exampleRow.node, el("div", { class: "tfe-maker-end" }, badge.node, go));

  // ── a digit ──
  const before = el("canvas", { class: "tfe-maker-before", role: "img" });
  const strip = pictureStrip({ side, names, onPick: pickDigit });
  const kept = slider("keep", [0, side, 1], (rows) => choose({ keep: rows }));
  const chooser = el("input", { type: "file", accept: "image/png,image/jpeg,image/webp", hidden: true });
  const uploadButton = el("button", { type: "button", class: "tfe-button small", onclick: () => chooser.click() });
  const drawButton = el("button", { type: "button", class: "tfe-button small", "aria-controls": `${id}-pad`, onclick: () => openPad(pad.node.hidden) });
  const hint = el("span", { class: "tfe-maker-hint" });
  const ways = el("div", { class: "tfe-maker-ways" }, kept.node, el("div", { class: "tfe-maker-buttons" }, drawButton, uploadButton, chooser));
  const start = el("div", { class: "tfe-maker-start" }, el("div", { class: "tfe-maker-befores" }, before), strip.node, el("div", { class: "tfe-maker-give" }, ways, hint));
  const pad = drawingPad({ id: `${id}-pad`, side, onDraw: drawn, onClose: () => openPad(false), title: TEXT.padTitle, note: TEXT.padNote, white: true, broad: BROAD });

  // ── a text ──
  const label = el("label", { class: "tfe-maker-name", for: id });
  const box = el("textarea", {
    id,
    class: "tfe-input tfe-sketch-box",
    rows: "4",
    dir: "auto",
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": `${id}-count ${id}-error`,
    oninput: () => {
      local = { error: null, notice: null };
      paint();
    },
  });
  box.value = first.text?.text ?? "";
  const keyLine = el("span", { class: "tfe-maker-hint tfe-sketch-keys" });
  const count = el("span", { id: `${id}-count`, class: "tfe-sketch-count" });
  const writing = el("div", { class: "tfe-sketch-text" }, label, box, el("p", { class: "tfe-sketch-foot" }, keyLine, count));

  const error = el("p", { id: `${id}-error`, class: "tfe-error tfe-maker-error", role: "alert", hidden: true });
  const note = el("p", { class: "tfe-maker-note", role: "status", hidden: true });
  const form = el("form", { class: "tfe-panel tfe-maker-panel", novalidate: true }, bar, start, pad.node, writing, error, note);
  root.classList.add("tfe-maker"); // whose rules it shares
  root.replaceChildren(form);

  const wish = asking({ emit, first: value.query, noLink: TEXT.noLink, paint: paintState });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (wish.pending) wish.stop();
    else run();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && wish.pending) {
      event.preventDefault();
      event.stopPropagation();
      wish.stop();
    } else if (event.target === box && event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
      event.preventDefault();
      run();
    }
  });

  // ── asking ──
  const sameInput = (one, other) => ["task", "drawing", "text"].every((key) => one[key] === other[key]);

  /** The request as the controls stand; what was changed in the models stays changed for the same digit or text, and for no other. */
  function asked() {
    const { task, seed: draws, temperature } = now;
    const what = task === "digit" ? { drawing: now.drawing, keep: now.keep } : { text: box.value, length: now.length };
    const wanted = { ...first[task], ...neutral, task, ...what, seed: draws, temperature };
    const last = value.request;
    if (!last || !sameInput(last, wanted)) return wanted;
    return { ...wanted, ...Object.fromEntries(Object.keys(neutral).map((key) => [key, last[key]])) };
  }

  /** Why this cannot be asked yet, or null. */
  function unready(wanted) {
    if (wanted.task === "text") {
      const n = lengthOf(wanted.text);
      if (n + wanted.length > limits.positions) return filledIn(TEXT.long, { n: grouped(n), made: grouped(wanted.length), most: grouped(limits.positions) });
      return n + wanted.length ? null : TEXT.nothing;
    }
    // A digit that was brought may well be empty at its top; where strokes were made by hand, they were meant to count.
    const drawn_ = wanted.drawing.startsWith("test:") || !own?.hand ? null : own.pixels;
    if (!drawn_ || wanted.keep === 0 || drawn_.subarray(0, wanted.keep * side).some(Boolean)) return null;
    return drawn_.some(Boolean) ? filledIn(TEXT.below, { n: wanted.keep }) : TEXT.blank;
  }

  /** query: of an example whose stored result will do. */
  function ask(wanted, query = null) {
    const last = value.request;
    filled = stamp(wanted);
    wish.begin(query, () => emit.run({ request: wanted }));
    // A place in one text, or a model of digits, says nothing about another text.
    if (last && last.task !== wanted.task) view.set({ pos: null, model: null, head: null });
    else if (last && last.text !== wanted.text) view.set({ pos: null });
    paint();
  }

  function run() {
    const wanted = asked();
    local.error = unready(wanted);
    if (draws.judge() || local.error) paintState();
    else ask(wanted);
  }

  function show(example) {
    local = { error: null, notice: null };
    const wanted = requestOf(example);
    filled = null;
    take(wanted);
    ask(wanted, example.query || null);
  }

  // ── what stands in the controls ──
  function choose(patch) {
    Object.assign(now, patch);
    if (patch.task || patch.drawing !== undefined) local = { error: null, notice: null };
    if (patch.task === "text") openPad(false);
    paint();
  }

  /** The controls follow a request, unless it came from them, or they were filled from it already, and have been changed since. */
  function take(wanted) {
    if (!wanted || stamp(wanted) === filled) return;
    filled = stamp(wanted);
    const { task } = wanted;
    if (!tasks.includes(task)) return;
    Object.assign(now, { task, seed: wanted.seed, temperature: wanted.temperature });
    draws.show(now.seed, true);
    if (task === "text") {
      now.length = wanted.length;
      if (box.value !== wanted.text) box.value = wanted.text;
      box.scrollTop = 0;
      openPad(false);
    } else {
      Object.assign(now, { drawing: wanted.drawing, keep: wanted.keep });
      const pixels = wanted.drawing.startsWith("test:") ? null : unspelled(wanted.drawing, side * side);
      if (pixels && !(own && spelled(own.pixels) === wanted.drawing)) own = { levels: greys(pixels), pixels, hand: false };
    }
    paint();
  }

  /** The pixels of the digit that is chosen, or null. */
  function pixelsNow() {
    if (!now.drawing?.startsWith("test:")) return own?.pixels ?? null;
    const number = Number(now.drawing.slice(5));
    return number < names.length ? (ours?.slice(number) ?? null) : null;
  }

  function pickDigit(key, wants) {
    choose({ drawing: key === "own" ? spelled(own.pixels) : key });
    if (key !== "own") openPad(false);
    if (wants) run();
  }

  // ── a visitor's digit ──
  function give(levels, hand) {
    own = { levels, pixels: inked(levels, thresholds), hand };
    now.drawing = spelled(own.pixels);
  }

  function drawn(levels) {
    local = { error: null, notice: null };
    give(levels, true);
    paint();
  }

  function openPad(open) {
    if (pad.node.hidden === !open) return;
    pad.node.hidden = !open;
    drawButton.setAttribute("aria-expanded", String(open));
    if (open) pad.open({ levels: own && !now.drawing.startsWith("test:") ? own.levels : null, given: given(), keep: now.keep });
  }

  /** What the pad may copy. */
  const given = () => {
    const pixels = pixelsNow();
    return pixels ? greys(pixels) : null;
  };

  async function bring(file) {
    if (!tasks.includes("digit")) return;
    if (now.task !== "digit") choose({ task: "digit" });
    local = { error: unfit(file, limits.file), notice: null };
    if (local.error) {
      paintState();
      return;
    }
    reading?.abort();
    const mine = new AbortController();
    reading = mine;
    openPad(false);
    paintState();
    const told = await read(file, upload, mine.signal);
    if (reading !== mine) return;
    reading = null;
    if (told.error) local.error = told.error;
    else {
      const { levels, changed } = fitted(told.levels, side);
      give(levels, false);
      local.notice = joined(told.notice, changed && TEXT.fitted, levels.some((level) => level > 0 && level < 255) && TEXT.once);
    }
    paint();
    if (!local.error && now.task === "digit") run();
  }

  bringing({
    form,
    chooser,
    onFile: bring,
    onOver(yes) {
      form.classList.toggle("is-over", yes && tasks.includes("digit"));
      paintHint();
    },
  });

  // ── drawing the bar ──
  function paint() {
    paintTexts();
    strip.paint({ chosen: now.drawing?.startsWith("test:") ? now.drawing : "own", own: own?.pixels ?? null, ours });
    paintBefore();
    paintState();
  }

  function paintTexts() {
    const digit = now.task === "digit";
    form.setAttribute("aria-label", t(texts.region));
    form.dataset.task = now.task;
    make.node.hidden = tasks.length < 2;
    make.name.textContent = t(TEXT.task);
    taskPick.set({ label: t(TEXT.task), value: now.task });
    length.node.hidden = writing.hidden = digit;
    start.hidden = !digit;
    if (!digit) paintSlider(length, TEXT.length, { at: now.length, reads: t(TEXT.lengthValue, { n: grouped(now.length) }), long: t(TEXT.lengthLong) });
    const hot = Number(now.temperature).toFixed(1);
    paintSlider(heat, TEXT.temperature, { at: now.temperature, reads: hot, long: t(TEXT.temperatureLong, { value: hot }) });
    seed.name.textContent = t(TEXT.seed);
    seed.node.title = t(TEXT.seedLong);
    draws.show(now.seed);
    exampleRow.name.textContent = t(TEXT.examples);
    exampleRow.node.setAttribute("aria-label", t(TEXT.examples));
    let n = 0;
    exampleButtons.forEach((button, at) => {
      button.hidden = examples[at].task !== now.task;
      if (button.hidden) return;
      button.textContent = String((n += 1));
      button.title = t(TEXT.example, { n, title: t(examples[at].title) });
      button.setAttribute("aria-label", button.title);
    });
    if (digit) paintDigit();
    else paintWriting();
  }

  function paintDigit() {
    const said = now.keep === side ? TEXT.keptAll : now.keep === 0 ? TEXT.keptNone : TEXT.keptSome;
    paintSlider(kept, TEXT.kept, { at: now.keep, reads: t(said, { n: now.keep, of: side }), long: t(TEXT.keptLong) });
    drawButton.textContent = t(TEXT.draw);
    drawButton.setAttribute("aria-expanded", String(!pad.node.hidden));
    uploadButton.title = t(TEXT.uploadLong, { mb: megabytes(limits.file).replace(".0", "") });
    paintHint();
    pad.paint({ keep: now.keep, given: given() });
  }

  function paintWriting() {
    const n = lengthOf(box.value);
    label.textContent = t(texts.label);
    box.placeholder = t(texts.placeholder);
    keyLine.textContent = t(TEXT.keys, { keys: APPLE ? "⌘+Enter" : "Ctrl+Enter" });
    count.textContent = t(TEXT.count, { n: grouped(n), made: grouped(now.length), most: grouped(limits.positions) });
    count.classList.toggle("is-over", n + now.length > limits.positions);
  }

  function paintHint() {
    hint.textContent = t(form.classList.contains("is-over") ? TEXT.dropHere : TEXT.drop);
  }

  /** The digit as it goes in, with the line below which the models make it. */
  function paintBefore() {
    if (now.task !== "digit") return;
    const pixels = pixelsNow();
    const tokens = colours();
    paintPicture(before, { levels: pixels ? greys(pixels) : null, side, scale: 3, keep: now.keep, tokens });
    const cell = before.height / side;
    const context = before.getContext("2d");
    context.fillStyle = tokens.accent;
    if (now.keep > 0 && now.keep < side) context.fillRect(0, now.keep * cell - cell / 3, before.width, (2 * cell) / 3);
    before.setAttribute("aria-label", t(TEXT.keptPart, { n: now.keep, of: side }));
  }

  const goes = () => {
    if (now.task === "text") return now.length ? TEXT.writeOn : TEXT.readOnly;
    return now.keep === side ? TEXT.readOnly : now.keep ? TEXT.makeRest : TEXT.makeAll;
  };

  /** How far the slowest model has come. */
  function progress() {
    const { done, device } = value.badge;
    return t(value.request.task === "text" ? TEXT.atText : TEXT.atDigit, { at: grouped(done.at), of: grouped(done.of), device: device ? ` · ${device}` : "" });
  }

  function paintState() {
    const busy = wish.pending;
    form.setAttribute("aria-busy", String(busy || reading !== null));
    go.classList.toggle("primary", !busy);
    goLabel.textContent = t(busy ? TEXT.stop : goes());
    if (!busy) goKey.remove();
    else if (!goKey.isConnected) go.append(goKey);
    go.disabled = reading !== null && !busy;
    uploadButton.textContent = t(reading ? TEXT.readingFile : TEXT.upload);
    const wrong = busy ? null : (draws.refused() ?? local.error ?? (value.state === "refused" ? value.error : null));
    badge.paint({ value, wish, wrong, differs: () => draws.wrong() !== null || stamp(asked()) !== stamp(value.request), progress });

    error.hidden = !wrong;
    error.textContent = wrong ? t(wrong) : "";
    box.setAttribute("aria-invalid", String(Boolean(wrong) && now.task === "text"));
    const about = value.state !== "refused" && value.request?.task === now.task; // remarks belong to a result of this kind
    const said = [local.notice, about && value.notice, about && value.warning].filter(Boolean).map((each) => t(each));
    note.hidden = said.length === 0;
    note.textContent = said.join(" ");
  }

  // ── wiring ──
  /** The rest of the page shows what is drawn of digits or of texts, whichever the result in view is. */
  function showTask() {
    document.body.dataset.task = value.request?.task ?? tasks[0];
  }

  function receive() {
    const next = props.value ?? { state: "empty" };
    if (!wish.receive(next)) return;
    const { error: _e, notice: _n, ...stays } = value;
    const partial = next.state === "waiting" || next.state === "refused";
    value = partial ? { ...stays, ...next } : next;
    if (next.request && !partial) take(next.request);
    showTask();
    paintState();
  }
  const renew = () => {
    taskPick.set({ options: tasks.map((task) => ({ key: task, label: t(TEXT[task]) })) });
    paint();
  };
  watch("value", receive);
  onLang(renew);
  onTheme(() => {
    paintBefore();
    pad.paint({});
  });
  take(value.request);
  showTask();
  renew();
  unpack(props.thresholds).then(({ data }) => {
    thresholds = data;
  });
  unpack(props.pictures).then((all) => {
    ours = all;
    paint();
  });
  wish.follow(() => {
    local = { error: null, notice: null };
    filled = null;
  });
}

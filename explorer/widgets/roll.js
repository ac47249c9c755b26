// What each model made of a motif, one roll under another, heard with one cursor; a note shows by arcs which earlier notes it looked back to.
// Only exact weights and sound are fetched, each from an address in the value; everything else is computed here.

import { unpack } from "./lib/arrays.js";
import { el, segmented, svg } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { VOICES, ground, noteAt, over, place } from "./lib/rollboard.js";
import { caption, exporters, table } from "./lib/rollexport.js";
import { headsOf } from "./lib/rollheads.js";
import { player } from "./lib/rollplay.js";
import { rowsOf } from "./lib/rollrows.js";
import { LETTERS, TEXT, clock, moment, nodes, noteName, plain, sentence, weight } from "./lib/rollwords.js";
import { bus, headIn, judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { onTheme } from "./lib/theme.js";

const NARROW = 560; // px of the panel below which rolls are low
const KEYS = ["model", "head", "note", "motifs"];
const HOLD = 60; // ms that the pointer rests on a note before its weights are fetched
const RESTLESS = 250; // ms between sentences while music is made or played

const icon = (path) => svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" }));
const ICONS = { play: "M5 3.5v9l7-4.5z", pause: "M5.5 3.5v9M10.5 3.5v9", start: "M4 4v8M11 4l-4 4 4 4" };
const write = (node, text) => node.textContent !== text && (node.textContent = text);
const put = (node, name, text) => node.getAttribute(name) !== text && node.setAttribute(name, text);

export function mount(root, props, emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const legend = el("p", { class: "tfe-legend tfe-roll-legend" });
  const layers = { ground: svg("g"), over: svg("g"), veil: svg("g"), cursor: svg("line", { class: "tfe-roll-cursor", stroke: "var(--ink)", "stroke-width": 2, visibility: "hidden" }) };
  const picture = svg("svg", { class: "tfe-roll-picture", "aria-hidden": "true" }, layers.ground, layers.veil, layers.over, layers.cursor);
  const board = el("div", { class: "tfe-roll-board", tabindex: "0", role: "application" }, picture);
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-roll-words" });
  const note = el("p", { class: "tfe-note tfe-roll-note" });
  const press = (name, act) => el("button", { type: "button", class: "tfe-roll-press", onclick: act }, icon(ICONS[name]));
  const [start, play] = [press("start", () => sound.seek(0)), press("play", () => sound.toggle())];
  play.classList.add("is-play");
  const time = el("span", { class: "tfe-roll-time" });
  const seek = el("input", { type: "range", class: "tfe-range", min: "0", step: "0.01", oninput: () => sound.seek(Number(seek.value)) });
  const where = el("span", { class: "tfe-roll-where" });
  const source = segmented({ options: [], value: "", label: "", onPick: (key) => set({ model: key, note: null, head: null }) });
  const heard = el("span", { class: "tfe-roll-heard tfe-label" });
  const motifs = el("button", { type: "button", class: "tfe-chip tfe-roll-motifs", onclick: () => set({ motifs: now.motifs ? null : 1 }) });
  const under = el("div", { class: "tfe-roll-under tfe-controls" }, note, motifs);
  const error = el("p", { class: "tfe-error tfe-roll-error tfe-controls", role: "alert", hidden: true });
  const transport = el("div", { class: "tfe-roll-transport tfe-controls" }, start, play, time, seek, where, source.node, heard);
  const take = el("div", { class: "tfe-roll-take tfe-controls" });
  const sheet = el("div", { class: "tfe-roll-table tfe-scroll tfe-controls", tabindex: "0", role: "region", hidden: true });
  const body = el("div", { class: "tfe-roll-body" }, board, words, under, transport, error, take, sheet);
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const head = el("div", { class: "tfe-roll-head" }, title, legend);
  const panel = el("section", { class: "tfe-panel tfe-roll-panel" }, head, empty, body);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  const sound = player({
    moved: () => run && moveCursor(),
    changed: () => {
      if (sound.playing) bus.fire("sounding", "roll");
      if (run) transported();
    },
    failed: () => silent(),
  });
  bus.on("sounding", (who) => who !== "roll" && sound.stop()); // one sound at a time
  root.classList.add("tfe-projectable");
  root.append(panel, card, sound.node);
  board.setAttribute("aria-describedby", words.id);

  // ── state ──
  let run = null; // what is drawn: the value with its numbers at hand
  let now = null; // what is looked at, read from the address and completed
  let scene = null; // the same with everything that drawing needs
  let at = null; // where it stands, from `place`
  let mine = false; // the change of the address under way is our own
  let arriving = 0;
  let room = 0;
  let hover = null; // {at: index of a model, note}
  let waiting = 0;
  let tapped = null;
  let grounded = ""; // what the ground shows
  let turn = 0; // how-manieth result it is
  let spoken = 0;
  let halted = false; // was the run in view stopped before it was done?
  let home = null; // the finished run whose note is locked
  const locked = () => ["head", "note"].some((key) => view.get(key) !== null);
  let asked = locked() && request.get() !== "";

  const looks = rowsOf(() => run && draw());
  const beside = headsOf({
    colours: props.scales.weights,
    pick: (layer, number) => set({ head: `${layer}.${number}`, ...keep() }),
    silence: (layer, number) => bus.fire("silence", { model: now.key, layer: layer - 1, head: number - 1 }),
    step: (by) => run && stepHead(by),
  });
  const stand = (where_) => {
    where_.append(beside.node);
    beside.forget();
    if (run) draw();
  };
  body.append(beside.node);
  const slot = document.querySelector(".tfe-rollside");
  if (slot) stand(slot);
  bus.on("rollside", stand);

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;
  const finished = () => run.state !== "running" && run.state !== "stopped";
  const chosen = () => run.models.findIndex((model) => model.key === now.key);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  /** What is looked at: the address, completed by the telling note and by what exists. */
  function read() {
    const pick = run.pick ?? {};
    const key = [view.get("model"), pick.model].find((name) => run.models.some((model) => model.key === name)) ?? run.models[0].key;
    const model = run.models.find((each) => each.key === key);
    const own = pick.model === key ? pick : {};
    const [most, count] = model.heads ?? [1, 1];
    const within = (text, top) => Math.max(1, Math.min(top, Number.parseInt(text, 10) || 1));
    if (finished()) judge({ model: (name) => run.models.some((one) => one.key === name), head: headIn(...(model.heads ?? [Infinity, Infinity])), note: positionsIn(model.count) }, run.query);
    const [layer, number] = (view.get("head") ?? own.head ?? pick.head ?? "1.1").split(".");
    const text = astray() ? null : view.get("note");
    const fallback = own.note ?? lastMade(model);
    const listed = text === "none" ? [] : text === null ? [fallback] : text.split(",").map((one) => Number.parseInt(one, 10));
    const notes = finished() && model.heads ? [...new Set(listed)].filter((one) => one >= 0 && one < model.count) : [];
    return { key, layer: within(layer, most), head: within(number ?? "1", count), notes, motifs: view.get("motifs") === "1" };
  }

  /** Is another note locked than one of this run? A lock stays while the music is the same up to it, whatever is changed in the models. */
  function astray() {
    const text = view.get("note");
    if (!home || home === run || home.same !== run.same || !finished() || !text || text === "none") return false;
    const key = view.get("model") ?? home.pick?.model ?? home.models[0].key;
    const [was, is] = [home, run].map(({ models }) => models.find((model) => model.key === key)?.notes ?? []);
    const end = 4 * (Math.max(...text.split(",").map(Number)) + 1);
    return !(end <= is.length && was.slice(0, end).every((value, at) => value === is[at]));
  }

  /** A note to begin with where none is told: one in the later half of what was made. */
  function lastMade(model) {
    const made = [];
    for (let n = 0; n < model.count; n += 1) if (!model.givenNotes[n]) made.push(n);
    return made.length ? made[Math.floor(0.7 * made.length)] : model.count - 1;
  }

  function quietly(patch) {
    mine = true;
    try {
      view.set(patch);
    } finally {
      mine = false;
    }
  }

  function set(patch) {
    quietly(patch);
    update();
  }

  // The same note is compared across heads, so the lock is written down before they change.
  const keep = () => (now.notes.length ? { note: now.notes.join(","), model: now.key } : {});

  // ── moving ──
  function lock(index, number, add = false) {
    const model = run.models[index];
    asked = false;
    home = run;
    if (!model.heads) {
      set({ model: model.key, note: null, head: null });
      return;
    }
    const same = model.key === now.key;
    const others = add && same ? now.notes.filter((one) => one !== number) : [];
    set({ model: model.key, note: [...others, number].join(","), ...(same ? {} : { head: null }) });
  }

  function step(by) {
    if (!run || !finished()) return;
    const model = run.models[chosen()];
    if (!model.count) return;
    const from = now.notes.length ? now.notes.at(-1) + by : by > 0 ? 0 : model.count - 1;
    lock(chosen(), Math.max(0, Math.min(model.count - 1, from)));
  }

  function stepHead(by) {
    const model = run.models[chosen()];
    if (!model.heads || !finished()) return;
    const [most, count] = model.heads;
    const next = ((now.layer - 1) * count + now.head - 1 + by + most * count) % (most * count);
    set({ head: `${Math.floor(next / count) + 1}.${(next % count) + 1}`, ...keep() });
  }

  function reset() {
    leave();
    asked = false;
    sound.stop();
    set({ note: null, head: null, model: null, motifs: null });
  }

  // ── a new result ──
  async function arrive() {
    const mineNow = (arriving += 1);
    const next = props.value;
    if (!next?.models?.length) {
      run = null;
      sound.stop();
      draw();
      return;
    }
    let models;
    try {
      models = await Promise.all(next.models.map(numbersOf));
    } catch (problem) {
      if (mineNow === arriving) complain({ en: `The notes did not arrive: ${problem.message}.`, zh: `音符未能送达：${problem.message}。` });
      return;
    }
    if (mineNow !== arriving) return; // a newer update overtook this one
    const was = run;
    run = { ...next, models };
    turn += 1;
    halted = false;
    error.hidden = true;
    if (was && (was.query !== next.query || (was.state !== "running" && next.state === "running"))) {
      // Another motif: a lock of the old one tells nothing here. The model that the visitor chose stays.
      leave();
      sound.stop();
      sound.choose(null, 0);
      if (!asked && was.same !== next.same) quietly({ note: null, head: null });
    }
    if (finished() && !document.body.classList.contains("tfe-before")) {
      if (!asked && astray()) quietly({ note: null });
      home = run;
    }
    if (was && next.state !== "running") asked = false;
    const options = models.map((model) => ({ key: model.key, label: t(model.name) }));
    source.set({ options, label: t(TEXT.source) });
    beside.forget();
    update();
  }

  async function numbersOf(model) {
    const names = ["notes", "at", "given_notes", "owner", "said", "costs", "thumbs", "distance"];
    const arrays = await Promise.all(names.map((name) => model[name] && unpack(model[name])));
    const [notes, starts, given, owner, said, costs, thumbs, distance] = arrays.map((array) => array?.data ?? new Float32Array());
    const count = notes.length / 4;
    let [lowest, highest] = [127, 0];
    for (let n = 0; n < count; n += 1) [lowest, highest] = [Math.min(lowest, notes[4 * n + 2]), Math.max(highest, notes[4 * n + 2])];
    return { ...model, notes, at: starts, givenNotes: given, owner, said, costs, thumbs, distance, count, lowest, highest };
  }

  // ── drawing ──
  function update() {
    if (!run) return;
    now = read();
    draw();
  }

  function draw() {
    empty.hidden = Boolean(run);
    body.hidden = legend.hidden = !run;
    if (!run) {
      delete root.dataset.drawn;
      beside.node.hidden = true;
      labels();
      return;
    }
    const big = projecting();
    const narrow = room < NARROW && !big;
    const index = chosen();
    const model = run.models[index];
    const seen = now.notes.map((one) => looks.of(model, now.layer, now.head, one));
    const under = hover && finished() && hover.at < run.models.length ? { ...hover, look: hover.ready && hover.at === index ? looks.of(model, now.layer, now.head, hover.note) : null } : null;
    scene = { run, chosen: index, model, now, looks: seen, hover: under, room: big ? Math.min(1800, window.innerWidth - 88) : room, narrow, big, height: window.innerHeight - 330 };
    at = place(scene);
    panel.classList.toggle("is-narrow", narrow);
    body.classList.toggle("tfe-stale", run.state === "stale");
    const base = [turn, index, at.width, at.height, narrow, big, document.documentElement.lang].join();
    if (base !== grounded) {
      grounded = base;
      picture.setAttribute("viewBox", `0 0 ${at.width} ${at.height}`);
      picture.setAttribute("width", at.width);
      picture.setAttribute("height", at.height);
      layers.ground.replaceChildren(...ground(scene, at));
      layers.veil.replaceChildren(...at.rolls.map(({ y0, y1 }) => svg("rect", { y: y0, height: y1 - y0, fill: "var(--panel)", "fill-opacity": 0.55, x: at.end, width: 0 })));
      layers.cursor.setAttribute("y1", at.rolls[0].y0);
      layers.cursor.setAttribute("y2", at.rolls.at(-1).y1);
    }
    layers.over.replaceChildren(...over(scene, at));
    beside.draw(scene);
    const [heardNow, seconds] = [finished() ? model.sound : null, finished() ? (model.steps ?? run.steps) * (run.grid / 1000) : 0];
    sound.choose(heardNow?.wav ?? null, seconds);
    const time_ = performance.now();
    if (finished() || time_ - spoken > RESTLESS) {
      spoken = time_;
      speak();
    }
    if (!sheet.hidden) drawTable();
    moveCursor();
    transported();
    labels();
    root.dataset.drawn = `${now.key} ${now.layer}.${now.head} ${now.notes.join(",") || "none"} ${run.state === "running" ? "growing" : !finished() || !model.heads ? "bare" : seen.length && seen.every(Boolean) ? "looked" : seen.length ? "waits" : "bare"}`;
  }

  const told = () => sentence({ run, model: scene.model, notes: now.notes, layer: now.layer, head: now.head, look: scene.looks.at(-1) ?? null, trouble: t(looks.trouble()) });

  function speak() {
    const parts = told();
    put(words, "aria-live", run.state === "running" ? "off" : "polite");
    if (words.textContent !== plain(parts)) words.replaceChildren(...nodes(parts));
  }

  /** The step where one is; whoever wants no motion sees it jump from note to note. */
  function cursorStep() {
    const step = (1000 * sound.place) / run.grid;
    if (!calm.matches || !sound.playing) return step;
    let last = 0;
    const { notes, count } = scene.model;
    for (let n = 0; n < count && notes[4 * n] <= step; n += 1) last = notes[4 * n];
    return last;
  }

  function moveCursor() {
    if (!scene) return;
    const step = cursorStep();
    const shown = finished() && (sound.playing || sound.place > 0);
    const x = Math.min(at.end, at.x(step)).toFixed(1);
    layers.cursor.setAttribute("x1", x);
    layers.cursor.setAttribute("x2", x);
    layers.cursor.setAttribute("visibility", shown ? "visible" : "hidden");
    for (const veil of layers.veil.children) {
      veil.setAttribute("x", x);
      veil.setAttribute("width", shown ? Math.max(0, at.end - x) : 0);
    }
    write(time, `${clock(sound.place)} / ${clock(sound.total)}`);
    write(where, sound.total ? moment(run, Math.floor(Math.min(step, Math.max(0, run.steps - 1)))) : "");
    seek.max = String(sound.total || 1);
    seek.value = String(sound.place);
    seek.style.setProperty("--at", `${sound.total ? (100 * sound.place) / sound.total : 0}%`);
    put(seek, "aria-valuetext", `${clock(sound.place)}, ${where.textContent}`);
    root.dataset.place = sound.place.toFixed(2);
  }

  function transported() {
    const on = sound.playing;
    if (on) error.hidden = true;
    put(root, "data-playing", String(on));
    play.disabled = start.disabled = seek.disabled = !sound.total;
    if (play.dataset.icon !== String(on)) {
      play.dataset.icon = String(on);
      play.replaceChildren(icon(ICONS[on ? "pause" : "play"]));
    }
    put(play, "aria-label", t(on ? TEXT.pause : TEXT.play));
    play.title = t(on ? TEXT.pause : TEXT.play);
    moveCursor();
  }

  function complain(text) {
    error.hidden = false;
    error.dataset.en = text.en;
    error.dataset.zh = text.zh;
    write(error, t(text));
  }
  const silent = () => complain(TEXT.noSound);

  function labels() {
    write(title, t(TEXT.title));
    write(empty, t(props.empty ?? { en: "Nothing has been made yet.", zh: "还没有生成音乐。" }));
    put(root, "data-question", t(now?.motifs ? TEXT.questionMotifs : TEXT.question));
    put(start, "aria-label", t(TEXT.start));
    start.title = t(TEXT.start);
    put(seek, "aria-label", t(TEXT.seek));
    write(motifs, t(TEXT.motifs));
    put(board, "aria-label", t(TEXT.board, { title: t(TEXT.title) }));
    if (!error.hidden) write(error, t({ en: error.dataset.en, zh: error.dataset.zh }));
    if (!run) return;
    const { model } = scene;
    put(motifs, "aria-pressed", String(now.motifs));
    motifs.disabled = !finished();
    source.set({ value: now.key });
    source.node.hidden = run.models.length < 2;
    const said = model.sound ? [t(TEXT[model.sound.source] ?? TEXT.piano), model.sound.whole ? "" : t(TEXT.cut)] : [finished() ? t(TEXT.silent) : ""];
    write(heard, said.join(""));
    const remarks = run.state === "running" ? [t(TEXT.growingNote)] : finished() && model.heads ? [t(TEXT.note)] : [];
    if (run.state === "stale") remarks.push(t(TEXT.from));
    if (now.motifs && !(run.repeats[now.key] ?? []).length && finished()) remarks.push(t(TEXT.noMotifs));
    if (run.licence) remarks.push(t(run.licence));
    write(note, remarks.join(" "));
    roles();
  }

  /** The legend: roles in words; of a chorale its voices by letter and colour. */
  function roles() {
    const key = [document.documentElement.lang, run.style, Boolean(scene.model.heads)].join();
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    const dot = (kind, text) => el("span", { class: `tfe-${kind}` }, el("span", { class: "tfe-roll-dot" }), text);
    const voices = run.style === "chorale" ? LETTERS.map((letter, i) => el("span", {}, el("span", { class: "tfe-roll-line", style: { background: VOICES[i] } }), `${letter} ${t({ en: TEXT.voices.en[i], zh: TEXT.voices.zh[i] })}`)) : [];
    legend.replaceChildren(...(scene.model.heads ? [dot("query", t(TEXT.query)), dot("key", t(TEXT.key))] : []), ...voices, el("span", {}, el("span", { class: "tfe-roll-line", style: { background: "var(--ink3)" } }), t(TEXT.given)));
  }

  function drawTable() {
    const [names, ...lines] = table(scene);
    const text = caption(scene);
    sheet.setAttribute("aria-label", text);
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text }),
        el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col", text: name })))),
        el("tbody", {}, lines.map(([rank, ...cells]) => el("tr", {}, el("th", { scope: "row", text: rank }), cells.map((cell) => el("td", { text: cell }))))),
      ),
    );
  }

  // ── mouse, finger and pen ──
  const point = (event) => {
    const box = picture.getBoundingClientRect();
    return [((event.clientX - box.left) * at.width) / box.width, ((event.clientY - box.top) * at.height) / box.height];
  };
  const same = (a, b) => a?.at === b?.at && a?.note === b?.note;

  function leave() {
    clearTimeout(waiting);
    card.hidden = true;
    tapped = null;
    if (!hover) return;
    hover = null;
    if (run) draw();
  }

  function over_(found, tap) {
    clearTimeout(waiting);
    hover = found && { ...found, ready: tap };
    card.hidden = true;
    draw();
    if (!hover) return;
    if (tap) show(true);
    else
      waiting = setTimeout(() => {
        hover.ready = true;
        draw();
        show(false);
      }, HOLD);
  }

  board.addEventListener("pointermove", (event) => {
    if (!run || event.pointerType === "touch") return;
    const found = noteAt(scene, at, ...point(event));
    board.classList.toggle("is-over", Boolean(found));
    if (!same(found, hover)) over_(found, false);
  });
  board.addEventListener("pointerleave", () => tapped === null && leave());
  board.addEventListener("click", (event) => {
    if (!run || !finished()) return;
    const [x, y] = point(event);
    const found = noteAt(scene, at, x, y);
    if (event.pointerType === "touch" && found && !same(found, tapped)) {
      tapped = found; // the first tap previews, the second locks
      over_(found, true);
      return;
    }
    leave();
    if (found) lock(found.at, found.note, event.shiftKey);
    else if (x >= at.left && x <= at.end) {
      const index = at.rolls.findIndex(({ title: name, y1 }) => y >= name - at.title && y <= y1);
      if (index >= 0 && y < at.rolls[index].y0) set({ model: run.models[index].key, ...(run.models[index].key === now.key ? {} : { note: null, head: null }) });
      else sound.seek((at.step(x) * run.grid) / 1000);
    }
  });

  function show(tap) {
    if (!hover || scene.big || !scene.hover) return;
    const model = run.models[hover.at];
    const n = hover.note;
    const [onset, end, pitch, fourth] = model.notes.subarray(4 * n, 4 * n + 4);
    const told_ = run.style === "piano" ? `${t(TEXT.loud)} ${4 * fourth + 2}` : `${LETTERS[fourth]} ${t({ en: TEXT.voices.en[fourth], zh: TEXT.voices.zh[fourth] })}`;
    const cost = model.givenNotes[n] ? t(TEXT.cardGiven) : model.costs.length ? t(TEXT.cardMade, { n: model.costs[model.at[n]].toFixed(2) }) : t(TEXT.cardMadeBare);
    const lines = [el("div", {}, el("b", { text: noteName(run, model, n) }), ` · ${told_}`), el("div", { text: cost })];
    const look = scene.looks.at(-1);
    if (hover.at === scene.chosen && look && now.notes.at(-1) !== n) lines.push(el("div", { text: t(TEXT.cardWeight, { w: weight(look.notes[n]) }) }));
    lines.push(el("div", { class: "tfe-note", text: t(tap ? TEXT.cardTap : TEXT.cardDo) }));
    card.replaceChildren(...lines);
    card.hidden = false;
    // Below the note, never over it.
    const box = picture.getBoundingClientRect();
    const part = box.width / at.width;
    const roll = at.rolls[hover.at];
    const [x, y, x1] = [box.left + part * at.x(onset), box.top + part * roll.y(pitch), box.left + part * at.x(end)];
    const { offsetWidth: w, offsetHeight: h } = card;
    Object.assign(card.style, {
      left: `${Math.max(8, Math.min(window.innerWidth - w - 8, (x + x1) / 2 - w / 2))}px`,
      top: `${y + 14 + h <= window.innerHeight - 8 ? y + 14 : y - 14 - h}px`,
    });
  }

  // ── alive ──
  const actions = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    PageUp: () => (projecting() ? step(-1) : false),
    PageDown: () => (projecting() ? step(1) : false),
    ArrowUp: () => run && stepHead(-1),
    ArrowDown: () => run && stepHead(1),
    " ": () => run && sound.toggle(),
    Escape: () => (projecting() || !run ? false : reset()),
  };
  keys(root, actions);
  keys(beside.node, { ...actions, Escape: () => (projecting() || !run || root.contains(beside.node) ? false : reset()) });

  take.append(
    exportBar(exporters(() => run && finished() && { ...scene, words: plain(told()) }), {
      onTable(open) {
        sheet.hidden = !open;
        if (run) drawTable();
      },
    }),
  );

  const measure = () => {
    const { paddingLeft, paddingRight } = getComputedStyle(panel);
    return Math.floor(panel.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
  };
  room = Math.max(0, measure()) || 640; // nothing is measured where another figure is projected
  new ResizeObserver(() => {
    const next = measure();
    if (next <= 0 || next === room) return;
    room = next;
    beside.forget();
    if (run) draw();
  }).observe(panel);
  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    leave();
    beside.forget();
    if (run) requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => projecting() && run && draw());
  bus.on("asking", (yes) => {
    // No wish is under way any more, and yet the music in view is not whole: it was stopped.
    if (yes || run?.state !== "running" || halted) return;
    halted = true;
    setTimeout(() => {
      if (!halted || run?.state !== "running") return;
      run.state = "stopped";
      update();
    }, 1500);
  });
  view.on(KEYS, () => !mine && update());
  onOpen(() => {
    asked = locked();
  });
  onLang(() => {
    grounded = "";
    if (!run) {
      labels();
      return;
    }
    source.set({ options: run.models.map((model) => ({ key: model.key, label: t(model.name) })), label: t(TEXT.source) });
    delete legend.dataset.key;
    draw();
  });
  onTheme(() => run && draw());
  labels();
  watch("value", arrive);
  arrive();
}

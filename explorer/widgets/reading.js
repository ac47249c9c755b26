// The text that one or two models read and wrote: every character with its loss below it, and those that a head looked at to say it.
// Only exact weights are fetched, from an address in the value; everything else is computed here.

import { unpack } from "./lib/arrays.js";
import { el, segmented, svg } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { keysOf } from "./lib/patternmath.js";
import { fit, table as shades } from "./lib/raster.js";
import { canvasPen, charAt, corner, drawRows, drawStrip, place, svgPen } from "./lib/readingboard.js";
import { caption, exporters } from "./lib/readingexport.js";
import { headsOf } from "./lib/readingheads.js";
import { outlived } from "./lib/locks.js";
import { cardOf, legendOf, namesOf, noteOf, perCharacter, tableOf } from "./lib/readingparts.js";
import { player } from "./lib/readingplay.js";
import { rowsOf } from "./lib/readingrows.js";
import { TEXT, count, plain, sentence } from "./lib/readingwords.js";
import { spoken } from "./lib/spoken.js";
import { bus, headIn, judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { css, dark, onTheme } from "./lib/theme.js";

const NARROW = 560; // px of the panel below which one model stands at a time
const TALLEST = 420; // px of the board
const KEYS = ["pos", "model", "head"];
const HOLD = 60; // ms that the pointer rests on a character before its weights are fetched
const RESTLESS = 250; // ms between sentences while a text is read and written
const TOKENS = ["panel", "sunk", "line", "control", "ink", "ink2", "ink3", "query", "query-soft", "key", "key-soft", "out", "out-soft"];
const DEEPEST = { light: 0.72, dark: 0.5 }; // opacity of the largest weight: ink on it stays legible

const icon = (path) => svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" }));
const ICONS = { play: "M5 3.5v9l7-4.5z", pause: "M5.5 3.5v9M10.5 3.5v9", start: "M4 4v8M11 4l-4 4 4 4" };
const write = (node, text) => node.textContent !== text && (node.textContent = text);
const put = (node, name, text) => node.getAttribute(name) !== text && node.setAttribute(name, text);

export function mount(root, props, emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const source = segmented({ options: [], value: "", label: "", onPick: (key) => set({ model: key, ...(now.positions.length ? { pos: now.positions.join(",") } : {}) }) });
  const legend = el("p", { class: "tfe-legend tfe-reading-legend" });
  const loss = el("p", { class: "tfe-units tfe-reading-loss" });
  const names = el("div", { class: "tfe-reading-names" });
  const canvas = el("canvas", { class: "tfe-reading-canvas", "aria-hidden": "true" });
  const spacer = el("div", { class: "tfe-reading-spacer" }, canvas);
  const board = el("div", { class: "tfe-reading-board", tabindex: "0", role: "application" }, spacer);
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-reading-words" });
  const note = el("p", { class: "tfe-note tfe-reading-note tfe-controls" });
  const error = el("p", { class: "tfe-error tfe-controls", role: "alert", hidden: true });
  const press = (name, act) => el("button", { type: "button", class: "tfe-reading-press", onclick: act }, icon(ICONS[name]));
  const [start, play] = [press("start", () => replay.seek(0)), press("play", () => replay.toggle())];
  play.classList.add("is-play");
  const seek = el("input", { type: "range", class: "tfe-range", min: "0", step: "1", oninput: () => replay.seek(Number(seek.value)) });
  const where = el("span", { class: "tfe-reading-where" });
  const transport = el("div", { class: "tfe-reading-transport tfe-controls" }, start, play, seek, where);
  const take = el("div", { class: "tfe-reading-take tfe-controls" });
  const sheet = el("div", { class: "tfe-reading-table tfe-scroll tfe-controls", tabindex: "0", role: "region", hidden: true });
  const body = el("div", { class: "tfe-reading-body" }, names, board, words, note, error, transport, take, sheet);
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const headline = el("div", { class: "tfe-reading-head" }, title, el("span", { class: "tfe-controls" }, source.node), loss, legend);
  const panel = el("section", { class: "tfe-panel tfe-reading-panel" }, headline, empty, body);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  const replay = player({ moved: () => run && (follow(replay.place), paint(), transported()), changed: () => run && transported() });
  root.classList.add("tfe-projectable");
  root.append(panel, card);
  board.setAttribute("aria-describedby", words.id);

  // ── state ──
  let run = null; // what is drawn: the value with its numbers at hand
  let settled = null; // the last finished one
  let now = null; // what is looked at, read from the address and completed
  let scene = null; // the same with everything that drawing needs
  let at = null; // where it stands, from `place`
  let mine = false; // the change of the address under way is our own
  let arriving = 0;
  let room = 0;
  let hover = null; // {index, position, ready}
  let elsewhere = null; // a character that another widget points at
  let waiting = 0;
  let tapped = null;
  let turn = 0; // how-manieth result it is
  let spoken_ = 0;
  let halted = false; // was the run in view stopped before it was done?
  let following = true; // does the board keep up with what is written?
  let scrolled = 0; // where we put the board ourselves
  let shownLock = ""; // the lock that was brought into view
  let lastHead = "1.1";
  const locked = () => KEYS.some((key) => view.get(key) !== null);
  let asked = locked() && request.get() !== "";

  const looks = rowsOf(() => run && draw());
  const beside = headsOf({ pick: (layer, number) => set({ head: `${layer}.${number}`, ...keep() }), step: (by) => run && stepHead(by) });
  const stand = (where_) => {
    where_.append(beside.node);
    beside.forget();
    if (run) draw();
  };
  beside.node.hidden = true;
  body.append(beside.node);
  const slot = document.querySelector(".tfe-readside");
  if (slot) stand(slot);
  bus.on("readside", stand);

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;
  /** Which characters a position's pattern lets it look at; null where that is everything before it. Column j has read character j − 1. */
  const sees = ({ pattern }, position) => (pattern && position !== undefined ? new Set(keysOf(pattern, "union", position).map((column) => column - 1).filter((at_) => at_ >= 0)) : null);

  const finished = () => run.state !== "running" && run.state !== "stopped";

  /** What is looked at: the address, completed by the telling character and by what exists. */
  function read() {
    const pick = run.pick ?? {};
    const key = [view.get("model"), pick.model].find((name) => run.models.some((model) => model.key === name)) ?? run.models[0].key;
    const index = run.models.findIndex((model) => model.key === key);
    const model = run.models[index];
    const within = (text, top) => Math.max(1, Math.min(Math.max(1, top), Number.parseInt(text, 10) || 1));
    if (finished()) judge({ model: (name) => run.models.some((one) => one.key === name), head: headIn(model.layers || Infinity, model.heads || Infinity), pos: positionsIn(model.count) }, run.query);
    const wished = view.get("head") ?? pick.head ?? "1.1";
    const one = /^\d+\.\d+$/.test(wished) ? wished : lastHead; // "mean" and the like are other widgets'
    lastHead = one;
    const [layer, number] = one.split(".");
    const text = view.get("pos");
    const fallback = pick.pos ?? (model.count ? Math.floor(0.7 * model.count) : null);
    const listed = text === "none" ? [] : text === null ? [fallback] : text.split(",").map((each) => Number.parseInt(each, 10));
    const positions = finished() ? [...new Set(listed)].filter((each) => Number.isInteger(each) && each >= 0 && each < model.count) : [];
    return { key, index, layer: within(layer, model.layers), head: within(number, model.heads), positions };
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

  // The same character is compared across heads, so the lock is written down before they change.
  const keep = () => (now.positions.length ? { pos: now.positions.join(","), model: now.key } : {});

  // ── moving ──
  function lock(index, position, add = false) {
    asked = false;
    const others = add ? now.positions.filter((one) => one !== position) : [];
    set({ model: run.models[index].key, pos: [...others, position].join(",") });
  }

  function step(by) {
    if (!run || !finished() || !scene.model.count) return;
    const last = scene.model.count - 1;
    const from = now.positions.length ? now.positions.at(-1) + by : by > 0 ? 0 : last;
    lock(now.index, Math.max(0, Math.min(last, from)));
  }

  function stepHead(by) {
    const { layers, heads } = scene.model;
    if (!heads || !finished()) return;
    const next = ((now.layer - 1) * heads + now.head - 1 + by + layers * heads) % (layers * heads);
    set({ head: `${Math.floor(next / heads) + 1}.${(next % heads) + 1}`, ...keep() });
  }

  function reset() {
    leave();
    asked = false;
    replay.forget();
    set({ pos: null, head: null, model: null });
  }

  // ── a new result ──
  async function arrive() {
    const mineNow = (arriving += 1);
    const next = props.value;
    if (!next?.models?.length) {
      run = null;
      replay.forget();
      draw();
      return;
    }
    let models;
    let unknown;
    try {
      [unknown, ...models] = await Promise.all([unpack(next.unknown), ...next.models.map(numbersOf)]);
    } catch (problem) {
      if (mineNow === arriving) complain({ en: `The text did not arrive: ${problem.message}.`, zh: `文本未能送达：${problem.message}。` });
      return;
    }
    if (mineNow !== arriving) return; // a newer update overtook this one
    const was = run;
    const strange = new Set(unknown.data);
    for (const model of models) model.strange = strange;
    run = { ...next, models, strange, shared: sharedBy(models) };
    turn += 1;
    halted = false;
    error.hidden = true;
    if (was && (was.query !== next.query || (was.state !== "running" && next.state === "running"))) {
      // Another text: a lock of the old one tells nothing here. The model that the visitor chose stays.
      leave();
      replay.forget();
      following = true;
      shownLock = "";
      if (!asked) quietly(outlived(settled, run, view.get("pos")));
    }
    if (was && next.state !== "running") asked = false;
    if (next.state !== "running") settled = run;
    if (!was || was.models.map((model) => model.key).join() !== models.map((model) => model.key).join()) offer();
    update();
  }

  const offer = () => source.set({ options: run.models.map((model) => ({ key: model.key, label: t(model.name) })), label: t(TEXT.model) });

  async function numbersOf(model) {
    const arrays = await Promise.all(["nats", "profiles", "ends", "first_seen"].map((name) => model[name] && unpack(model[name])));
    const [nats, profiles, ends, first] = arrays.map((array) => array?.data ?? null);
    const codes = Uint32Array.from(model.text, (letter) => letter.codePointAt(0));
    return { ...model, codes, nats, profiles, ends, first, count: codes.length };
  }

  /** Up to where all texts are the same. */
  function sharedBy(models) {
    const least = Math.min(...models.map((model) => model.count));
    for (let i = 0; i < least; i += 1) if (models.some((model) => model.codes[i] !== models[0].codes[i])) return i;
    return least;
  }

  // ── drawing ──
  function update() {
    if (!run) return;
    now = read();
    draw();
  }

  function draw() {
    empty.hidden = Boolean(run);
    body.hidden = legend.hidden = loss.hidden = !run;
    source.node.hidden = !run || run.models.length < 2;
    if (!run) {
      delete root.dataset.drawn;
      beside.node.hidden = true;
      labels();
      return;
    }
    const big = projecting();
    const narrow = room < NARROW && !big;
    const model = run.models[now.index];
    const seen = finished() && now.positions.length ? looks.of(model, now.layer, now.head, now.positions.at(-1)) : null;
    const under = hover?.ready && hover.index === now.index && finished() ? looks.of(model, now.layer, now.head, hover.position) : null;
    const may = finished() ? sees(model, now.positions.at(-1)) : null;
    scene = { run, chosen: now.index, model, now, look: seen, under, may, big };
    at = place({ run, chosen: now.index, room: big ? Math.min(1800, window.innerWidth - 104) : room, narrow, big, tall: big ? Math.max(200, window.innerHeight - 400) : TALLEST });
    panel.classList.toggle("is-narrow", narrow);
    body.classList.toggle("tfe-stale", run.state === "stale");
    spacer.style.height = `${at.height}px`;
    board.style.height = `${at.view}px`;
    const lockNow = `${turn} ${now.positions.at(-1) ?? ""} ${at.columns} ${big}`;
    if (run.state === "running") {
      if (following) scrollTo_(Math.ceil(Math.max(...run.models.map((each) => each.count)) / at.columns) * at.row - at.view);
    } else if (lockNow !== shownLock) {
      shownLock = lockNow;
      if (now.positions.length) bring(now.positions.at(-1));
    }
    replay.choose(finished() ? Math.max(...run.models.map((each) => each.count)) : 0);
    nameColumns();
    paint();
    beside.draw(scene);
    const time = performance.now();
    if (finished() || time - spoken_ > RESTLESS) {
      spoken_ = time;
      speak();
    }
    if (!sheet.hidden) drawTable();
    transported();
    labels();
    const how = run.state === "running" ? "growing" : !finished() || !model.look || !now.positions.length ? "bare" : seen ? "looked" : "waits";
    root.dataset.drawn = `${now.key} ${now.layer}.${now.head} ${now.positions.join(",") || "none"} ${how}`;
  }

  let painted = null; // the theme's colours, read once
  function colours() {
    if (painted) return painted;
    const { worst, surprise } = props.scales;
    const mode = dark() ? "dark" : "light";
    const scale = shades(surprise[mode]);
    const hex = Array.from({ length: 256 }, (_, i) => `rgb(${scale.subarray(3 * i, 3 * i + 3).join()})`);
    painted = { worst, loss: (cost) => hex[Math.max(0, Math.min(255, Math.round((255 * cost) / worst)))], most: DEEPEST[mode], fonts: { mono: css("--font-mono"), ui: css("--font-ui") } };
    for (const token of TOKENS) painted[token] = css(`--${token}`);
    return painted;
  }

  /** Only the rows in view stand on the canvas. */
  function paint() {
    const top = board.scrollTop;
    const context = fit(canvas, at.width, at.view);
    const [first, last] = [Math.max(0, Math.floor(top / at.row) - 1), Math.min(at.rows - 1, Math.floor((top + at.view) / at.row) + 1)];
    const shade = colours();
    const may = scene.under ? sees(scene.model, hover.position) : scene.may;
    const shown = { ...scene, look: scene.under ?? scene.look, may, asks: scene.under ? hover.position : now.positions.at(-1), hover: hover?.position ?? elsewhere, cursor: finished() ? replay.shown : null };
    const pen = canvasPen(context, at, top, shade.fonts);
    drawRows(pen, shown, at, first, last, shade);
    drawStrip(pen, shown, at, top, shade);
  }

  /** The rows in view as a drawing that leaves the page. */
  function drawing() {
    const top = Math.floor(board.scrollTop / at.row) * at.row;
    const shade = colours();
    const pen = svgPen(top - 4, shade.fonts);
    drawRows(pen, { ...scene, asks: now.positions.at(-1), hover: null, cursor: replay.shown }, at, top / at.row, Math.min(at.rows - 1, (top + at.view) / at.row - 1), shade);
    const title_ = (text) => svg("text", { x: text.x, y: 16, "font-size": 14, "font-weight": 650, fill: shade.ink, text: `${t(run.models[text.index].name)} · ${perCharacter(run.models[text.index])}` });
    return svg("svg", { viewBox: `0 0 ${at.width} ${at.view + 34}`, width: at.width, height: at.view + 34 }, at.texts.map(title_), svg("svg", { x: 0, y: 26, width: at.width, height: at.view + 8 }, pen.nodes));
  }

  function scrollTo_(top) {
    scrolled = Math.max(0, Math.min(at.height - at.view, top));
    board.scrollTop = scrolled;
  }

  /** A character comes into view, with a row around it. */
  function bring(position) {
    const y = Math.floor(position / at.columns) * at.row;
    if (y < board.scrollTop || y + at.row > board.scrollTop + at.view) scrollTo_(y - Math.floor(at.view / at.row / 2) * at.row);
  }
  function follow(position) {
    const y = Math.floor(Math.min(position, run.of - 1) / at.columns) * at.row;
    if (y < board.scrollTop || y + at.row > board.scrollTop + at.view) scrollTo_(y - (position ? at.view - 2 * at.row : 0));
  }

  function nameColumns() {
    const wanted = [turn, run.state === "running", now.key, at.texts.map((text) => text.x).join(), at.wide, document.documentElement.lang].join();
    if (names.dataset.key === wanted) return;
    names.dataset.key = wanted;
    names.replaceChildren(...namesOf(run, now, at));
  }

  const told = () => sentence({ run, model: scene.model, now, look: scene.look, may: scene.may, trouble: t(looks.trouble()) });

  function speak() {
    const parts = told();
    put(words, "aria-live", run.state === "running" ? "off" : "polite");
    if (words.textContent !== plain(parts)) words.replaceChildren(...spoken(parts));
  }

  function transported() {
    const on = replay.playing;
    put(root, "data-playing", String(on));
    play.disabled = start.disabled = seek.disabled = !replay.total;
    if (play.dataset.icon !== String(on)) {
      play.dataset.icon = String(on);
      play.replaceChildren(icon(ICONS[on ? "pause" : "play"]));
    }
    put(play, "aria-label", t(on ? TEXT.pause : TEXT.play));
    play.title = t(on ? TEXT.pause : TEXT.play);
    const segment = run.segment && replay.total ? ` · ${t(TEXT.inSegment, { n: Math.floor(Math.max(0, replay.place - 1) / run.segment) + 1 })}` : "";
    write(where, replay.total ? t(TEXT.place, { n: count(replay.place), of: count(replay.total) }) + segment : "");
    seek.max = String(replay.total || 1);
    seek.value = String(replay.place);
    seek.style.setProperty("--at", `${replay.total ? (100 * replay.place) / replay.total : 0}%`);
    put(seek, "aria-valuetext", where.textContent);
    root.dataset.place = replay.shown === null ? "all" : String(replay.place);
  }

  function complain(text) {
    error.hidden = false;
    write(error, t(text));
  }

  function labels() {
    write(title, t(TEXT.title));
    write(empty, t(props.empty ?? TEXT.empty));
    put(root, "data-question", t(TEXT.question));
    put(start, "aria-label", t(TEXT.start));
    start.title = t(TEXT.start);
    put(seek, "aria-label", t(TEXT.seek));
    put(board, "aria-label", t(TEXT.board, { title: t(TEXT.title) }));
    if (!run) return;
    source.set({ value: now.key });
    write(note, noteOf(run, at, finished() && scene.model.heads > 0));
    roles();
  }

  /** The legend is built anew only where it would say something else. */
  function roles() {
    const heads = finished() && scene.model.heads > 0;
    const key = [document.documentElement.lang, heads, run.models.some((model) => model.first !== null), run.models.some((model) => model.pattern), run.strange.size > 0, run.segment > 0, run.of > run.given].join();
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    legend.replaceChildren(...legendOf(run, heads));
    loss.replaceChildren(`${t(TEXT.loss)} 0`, el("span", { class: "tfe-scale surprise" }), `${props.scales.worst}+`);
  }

  function drawTable() {
    sheet.setAttribute("aria-label", caption(scene));
    sheet.replaceChildren(tableOf(scene));
  }

  // ── mouse, finger and pen ──
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) * at.width) / box.width, event.clientY - box.top + board.scrollTop];
  };
  const same = (a, b) => a?.index === b?.index && a?.position === b?.position;

  function leave() {
    clearTimeout(waiting);
    card.hidden = true;
    tapped = null;
    if (!hover) return;
    hover = null;
    bus.fire("hover-pos", { pos: null });
    if (run) draw();
  }

  function over(found, tap) {
    if (!found) {
      leave();
      return;
    }
    clearTimeout(waiting);
    hover = { ...found, ready: tap };
    card.hidden = true;
    bus.fire("hover-pos", { pos: found.position });
    if (tap) {
      draw();
      show(true);
      return;
    }
    if (scene.under) draw();
    else paint();
    waiting = setTimeout(() => {
      hover.ready = true;
      draw();
      show(false);
    }, HOLD);
  }

  canvas.addEventListener("pointermove", (event) => {
    if (!run || event.pointerType === "touch") return;
    const found = charAt(at, run, ...point(event));
    canvas.classList.toggle("is-over", Boolean(found) && finished());
    if (!same(found, hover)) over(found, false);
  });
  canvas.addEventListener("pointerleave", () => tapped === null && leave());
  canvas.addEventListener("click", (event) => {
    if (!run || !finished()) return;
    const found = charAt(at, run, ...point(event));
    if (!found) return;
    if (event.pointerType === "touch" && !same(found, tapped)) {
      over(found, true); // the first tap previews, the second locks
      tapped = found;
      return;
    }
    leave();
    lock(found.index, found.position, event.shiftKey);
  });
  board.addEventListener("scroll", () => {
    if (!run) return;
    if (Math.abs(board.scrollTop - scrolled) > 2) {
      // The visitor scrolled: what is written is followed again once they are back at its end.
      following = run.state !== "running" || board.scrollTop >= scrolled - at.row;
      scrolled = board.scrollTop;
      if (hover) leave();
    }
    paint();
  }, { passive: true });

  function show(tap) {
    if (!hover || scene.big) return;
    const { index, position } = hover;
    card.replaceChildren(...cardOf(scene, index, position), ...(finished() ? [el("div", { class: "tfe-note", text: t(tap ? TEXT.cardTap : TEXT.cardDo) })] : []));
    card.hidden = false;
    // Below the character, never over it.
    const box = canvas.getBoundingClientRect();
    const part = box.width / at.width;
    const [x, y] = corner(at, at.texts.find((text) => text.index === index), position);
    const [left, top] = [box.left + part * (x + at.cell / 2), box.top + y - board.scrollTop];
    const { offsetWidth: w_, offsetHeight: h } = card;
    Object.assign(card.style, {
      left: `${Math.max(8, Math.min(window.innerWidth - w_ - 8, left - w_ / 2))}px`,
      top: `${top + at.row + 8 + h <= window.innerHeight - 8 ? top + at.row + 8 : top - 10 - h}px`,
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
    " ": () => run && replay.toggle(),
    Escape: () => (projecting() || !run ? false : reset()),
  };
  keys(root, actions);
  keys(beside.node, { ...actions, Escape: () => (projecting() || !run || root.contains(beside.node) ? false : reset()) });

  take.append(
    exportBar(exporters(() => run && run.state !== "running" && { ...scene, words: plain(told()), drawing }), {
      onTable(open) {
        sheet.hidden = !open;
        if (run) drawTable();
      },
    }),
  );

  const measure = () => {
    const { paddingLeft, paddingRight } = getComputedStyle(panel);
    const bar = board.offsetWidth - board.clientWidth; // a scrollbar takes its room
    return Math.floor(panel.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - bar);
  };
  room = measure() || 640;
  const resized = () => {
    const next = measure();
    if (next <= 0 || next === room) return;
    room = next;
    beside.forget();
    if (run) draw();
  };
  new ResizeObserver(resized).observe(panel);
  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    leave();
    beside.forget();
    if (run) requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => projecting() && run && draw());
  bus.on("hover-pos", ({ pos }) => {
    if (hover || pos === elsewhere) return; // our own
    elsewhere = pos;
    if (run) paint();
  });
  bus.on("asking", (yes) => {
    // No wish is under way any more, and yet the text in view is not whole: it was stopped.
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
    if (!run) {
      labels();
      return;
    }
    offer();
    delete legend.dataset.key;
    draw();
  });
  onTheme(() => {
    painted = null;
    if (run) draw();
  });
  labels();
  watch("value", arrive);
  arrive();
}

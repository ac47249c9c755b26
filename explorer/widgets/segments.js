// A text read segment by segment: what is computed, what is remembered, where gradients stop, and how far information travels.
// Only exact weights are fetched, from an address in the value; everything else is computed here.

import { unpack } from "./lib/arrays.js";
import { el, segmented, svg } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { outlived } from "./lib/locks.js";
import { ground, marked, over, place, under } from "./lib/segmentboard.js";
import { exporters, table } from "./lib/segmentexport.js";
import { rowsOf } from "./lib/segmentrows.js";
import { TEXT, charName, nodes, plain, sentence, shareAt, weight } from "./lib/segmentwords.js";
import { bus, headIn, judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { onTheme } from "./lib/theme.js";

const NARROW = 560; // px of the panel below which labels are short
const KEYS = ["model", "head", "pos"];
const PACE = 1100; // ms that a segment stands while they are played
const RESTLESS = 250; // ms between sentences while a text is read

const icon = (path) => svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" }));
const ICONS = { play: "M5 3.5v9l7-4.5z", pause: "M5.5 3.5v9M10.5 3.5v9", before: "M10 3.5L5.5 8l4.5 4.5", after: "M6 3.5L10.5 8 6 12.5", up: "M8 13V3M4 7l4-4 4 4", down: "M8 3v10M4 9l4 4 4-4" };
const write = (node, text) => node.textContent !== text && (node.textContent = text);
const put = (node, name, text) => node.getAttribute(name) !== text && node.setAttribute(name, text);

export function mount(root, props, emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const units = el("span", { class: "tfe-units" });
  const legend = el("p", { class: "tfe-legend tfe-segments-legend" });
  const layers = { ground: svg("g"), over: svg("g"), hover: svg("g") };
  const picture = svg("svg", { class: "tfe-segments-picture", "aria-hidden": "true" }, layers.ground, layers.over, layers.hover);
  const board = el("div", { class: "tfe-segments-board", tabindex: "0", role: "application" }, picture);
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-segments-words" });
  const hint = el("p", { class: "tfe-note tfe-segments-hint tfe-controls" });
  const press = (name, act) => el("button", { type: "button", class: "tfe-segments-press", onclick: act }, icon(ICONS[name]));
  const [before, after, up, down] = [press("before", () => step(-1)), press("after", () => step(1)), press("up", () => stepHead(-1)), press("down", () => stepHead(1))];
  const play = press("play", () => toggle());
  const where = el("span", { class: "tfe-segments-where" });
  const headName = el("span", { class: "tfe-segments-where" });
  const mean = el("button", { type: "button", class: "tfe-chip", onclick: () => set({ head: now.head === null ? (now.last ?? firstHead()) : "mean", ...keep() }) });
  const source = segmented({ options: [], value: "", label: "", onPick: (key) => set({ model: key, ...keep() }) });
  const bar = el("div", { class: "tfe-segments-bar tfe-controls" }, source.node, el("span", { class: "tfe-row tight" }, before, play, after, where), el("span", { class: "tfe-row tight" }, up, down, headName, mean));
  const error = el("p", { class: "tfe-error tfe-controls", role: "alert", hidden: true });
  const sheet = el("div", { class: "tfe-segments-table tfe-scroll tfe-controls", tabindex: "0", role: "region", hidden: true });
  const take = el("div", { class: "tfe-controls" });
  const body = el("div", { class: "tfe-segments-body" }, bar, hint, board, words, error, take, sheet);
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const panel = el("section", { class: "tfe-panel tfe-segments-panel" }, el("div", { class: "tfe-segments-head" }, el("span", { class: "tfe-row tight" }, title, units), legend), empty, body);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  board.setAttribute("aria-describedby", words.id);
  root.classList.add("tfe-projectable");
  root.append(panel, card);

  // ── state ──
  let run = null; // what is drawn: the value with its numbers at hand
  let settled = null; // the last finished one
  let now = null; // what is looked at, read from the address and completed
  let scene = null; // the same with everything that drawing needs
  let at = null; // where it stands, from `place`
  let mine = false; // the change of the address under way is our own
  let arriving = 0;
  let room = 0;
  let hover = null; // {pos, layer} under the pointer, or {pos, layer: null, far: true} of another widget
  let tapped = null;
  let resting = 0; // the segment in view while nothing is locked
  let lastHead = null; // before the mean of heads was chosen
  let timer = 0; // of playing
  let spoken = 0;
  const locked = () => ["head", "pos"].some((key) => view.get(key) !== null);
  let asked = locked() && request.get() !== "";
  const looks = rowsOf(() => run && draw());

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;
  const finished = () => run !== null && run.state !== "running";
  const firstHead = () => (run?.pick?.head && run.pick.head !== "mean" ? run.pick.head : "1.1");

  /** What is looked at: the address, completed by the telling position and by what exists. */
  function read() {
    const pick = run.pick ?? {};
    const key = [view.get("model"), pick.model].find((name) => run.models.some((model) => model.key === name)) ?? run.models[0].key;
    const model = run.models.find((each) => each.key === key);
    if (finished()) judge({ model: (name) => run.models.some((one) => one.key === name), head: headIn(run.layers, model.heads ?? Infinity), pos: positionsIn(model.length) }, run.query);
    const said = view.get("head") ?? pick.head ?? "mean";
    const named = /^(\d+)\.(\d+)$/.exec(said);
    const within = (text, top) => Math.max(1, Math.min(top, Number(text)));
    const [layer, head] = named && model.heads ? [within(named[1], run.layers), within(named[2], model.heads)] : [null, null];
    const text = view.get("pos");
    const listed = !finished() || text === "none" ? [] : text === null ? [pick.pos ?? -1] : text.split(",").map((one) => (/^\d+$/.test(one) ? Number(one) : -1));
    return { key, layer, head, positions: [...new Set(listed)].filter((one) => one >= 0 && one < model.length), last: lastHead };
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

  // The same character is compared across heads and models, so the lock is written down before they change.
  const keep = () => ({ pos: now.positions.join(",") || "none" });

  // ── moving ──
  function lock(position, layer, add = false) {
    asked = false;
    const others = add ? now.positions.filter((one) => one !== position) : [];
    set({ pos: [...others, position].join(","), ...(layer && now.head !== null ? { head: `${layer}.${now.head}` } : {}) });
  }

  function step(by, playing = false) {
    if (!finished()) return;
    if (!playing) stop();
    const { model, number, first } = scene;
    const next = number + by;
    if (next < 0 || next >= Math.ceil(model.length / run.segment)) return;
    const position = now.positions.at(-1);
    const offset = position === undefined ? null : position - first;
    if (offset === null) {
      resting = next;
      update();
    } else set({ pos: Math.min(model.length - 1, next * run.segment + offset) });
  }

  function stepHead(by) {
    if (!finished() || !scene.model.heads) return;
    const [most, count] = [run.layers, scene.model.heads];
    const from = now.head === null ? (by > 0 ? -1 : most * count) : (now.layer - 1) * count + now.head - 1;
    const next = (from + by + most * count) % (most * count);
    set({ head: `${Math.floor(next / count) + 1}.${(next % count) + 1}`, ...keep() });
  }

  function stop() {
    if (!timer) return;
    clearInterval(timer);
    timer = 0;
    controls();
  }

  function toggle() {
    if (!finished()) return;
    if (timer) {
      stop();
      return;
    }
    const of = Math.ceil(scene.model.length / run.segment);
    if (scene.number + 1 >= of) step(-scene.number, true);
    else step(1, true);
    timer = setInterval(() => {
      step(1, true);
      if (scene.number + 1 >= of) stop();
    }, PACE);
    controls();
  }

  function reset() {
    stop();
    leave();
    asked = false;
    lastHead = null;
    set({ pos: null, head: null, model: null });
  }

  // ── a new result ──
  async function arrive() {
    const turn = (arriving += 1);
    const next = props.value;
    if (!next?.models?.length) {
      stop();
      run = null;
      draw();
      return;
    }
    let models;
    try {
      models = await Promise.all(next.models.map(numbersOf));
    } catch (problem) {
      if (turn === arriving) complain({ en: `The numbers did not arrive: ${problem.message}.`, zh: `数据未能送达：${problem.message}。` });
      return;
    }
    if (turn !== arriving) return; // a newer update overtook this one
    const was = run;
    run = { ...next, models };
    error.hidden = true;
    if (was && (was.query !== next.query || (was.state !== "running" && next.state === "running"))) {
      // Another text: a lock of the old one tells nothing here. The model that the visitor chose stays.
      stop();
      leave();
      if (!asked) quietly(outlived(settled, run, view.get("pos")));
    }
    if (was && next.state !== "running") asked = false;
    if (next.state !== "running") settled = run;
    update();
  }

  async function numbersOf(model) {
    const chars = Array.from(model.text);
    const length = chars.length;
    if (!model.across) return { ...model, chars, length };
    const [across, remembered, travelled] = await Promise.all([model.across, model.remembered, model.travelled].map(unpack));
    return { ...model, chars, length, across: across.data, remembered: remembered.data, slots: remembered.shape[1], travelled: travelled.data };
  }

  // ── drawing ──
  function update() {
    if (!run) return;
    now = read();
    if (now.head !== null) lastHead = `${now.layer}.${now.head}`;
    draw();
  }

  /** The segment in view, what it remembers, and where the locked character looks. */
  function seen() {
    const model = run.models.find((each) => each.key === now.key);
    const position = now.positions.at(-1);
    const of = Math.ceil(model.length / run.segment);
    if (!finished()) {
      const number = Math.max(0, of - 1);
      const first = number * run.segment;
      return { model, number, of, first, end: Math.max(first, model.length), held: Math.min(first, run.intervention === "cut" ? 0 : model.memory), slots: [], look: null };
    }
    const number = position === undefined ? Math.min(resting, of - 1) : Math.floor(position / run.segment);
    resting = number;
    const slots = Array.from(model.remembered.subarray(number * model.slots, (number + 1) * model.slots)).filter((key) => key >= 0);
    const look = position !== undefined && now.head !== null ? looks.of(model, now.layer, now.head, position) : null;
    const first = number * run.segment;
    return { model, number, of, first, end: Math.min(model.length, first + run.segment), held: slots.length, slots, look };
  }

  function draw() {
    empty.hidden = Boolean(run);
    body.hidden = legend.hidden = units.hidden = !run;
    if (!run) {
      delete root.dataset.drawn;
      labels();
      return;
    }
    const big = projecting();
    const narrow = room < NARROW && !big;
    scene = { run, now, ...seen(), room: big ? Math.min(1800, window.innerWidth - 88) : room, narrow, big, height: window.innerHeight - 305 };
    at = place(scene);
    panel.classList.toggle("is-narrow", narrow);
    body.classList.toggle("tfe-stale", run.state === "stale");
    for (const [name, size] of [["viewBox", `0 0 ${at.width} ${at.height}`], ["width", at.width], ["height", at.height]]) put(picture, name, String(size));
    layers.ground.replaceChildren(...ground(scene, at));
    layers.over.replaceChildren(...over(scene, at));
    preview();
    const time = performance.now();
    if (finished() || time - spoken > RESTLESS) {
      spoken = time;
      speak();
    }
    labels();
    controls();
    drawTable();
    const head = now.head === null ? "mean" : `${now.layer}.${now.head}`;
    root.dataset.drawn = `${now.key} ${head} ${now.positions.join(",") || "none"} ${scene.number} ${!finished() ? "growing" : scene.look ? "looked" : now.head !== null && now.positions.length && scene.model.look ? "waits" : "bare"}`;
  }

  function preview() {
    const there = hover && run && hover.pos < scene.model.length ? marked(at, hover.pos, scene, "preview") : [];
    layers.hover.replaceChildren(...there);
  }

  const told = () => sentence({ ...scene, trouble: t(looks.trouble()) });

  function speak() {
    const parts = told();
    put(words, "aria-live", run.state === "running" || timer ? "off" : "polite");
    if (words.textContent !== plain(parts)) words.replaceChildren(...nodes(parts));
  }

  function complain(text) {
    error.hidden = false;
    error.dataset.en = text.en;
    error.dataset.zh = text.zh;
    write(error, t(text));
  }

  function labels() {
    write(title, t(TEXT.title));
    write(empty, t(props.empty ?? { en: "No text has been read yet.", zh: "还没有读取文本。" }));
    put(root, "data-question", t(TEXT.question));
    put(board, "aria-label", t(TEXT.board, { title: t(TEXT.title) }));
    write(hint, t(TEXT.hint));
    if (!error.hidden) write(error, t({ en: error.dataset.en, zh: error.dataset.zh }));
    if (!run) return;
    write(units, [t(scene.model.name), t(scene.model.about), run.state === "stale" ? t(TEXT.from) : ""].filter(Boolean).join(" · "));
    source.set({ options: run.models.map((model) => ({ key: model.key, label: t(model.name) })), value: now.key, label: t(TEXT.model) });
    source.node.hidden = run.models.length < 2;
    const kept = run.intervention !== "cut" && scene.model.memory > 0;
    const swatch = (kind, text, className = "") => el("span", { class: className }, el("span", { class: `tfe-segments-swatch ${kind}` }), text);
    const said = [kept, run.intervention, document.documentElement.lang, t(run.book)].join();
    if (legend.dataset.said === said) return;
    legend.dataset.said = said;
    const heldText = run.intervention === "foreign" ? (run.book ? t(TEXT.foreignOf, { book: t(run.book) }) : t(TEXT.foreign)) : t(run.intervention === "shuffled" ? TEXT.broken : TEXT.remembered);
    legend.replaceChildren(
      swatch("now", t(TEXT.computed), "tfe-out"),
      ...(kept ? [swatch(`memory ${run.intervention}`, heldText, "tfe-key")] : []),
      swatch("asks", t(TEXT.asks), "tfe-query"),
      swatch("gone", t(TEXT.gone)),
      swatch("later", t(TEXT.later)),
    );
  }

  function controls() {
    if (!run) return;
    const done = finished();
    const { number, of } = scene;
    for (const [button, text, off] of [[before, TEXT.previous, number === 0], [after, TEXT.next, number + 1 >= of], [play, timer ? TEXT.pause : TEXT.play, of < 2], [up, TEXT.headUp, !scene.model.heads], [down, TEXT.headDown, !scene.model.heads]]) {
      put(button, "aria-label", t(text));
      button.title = t(text);
      button.disabled = !done || off;
    }
    const shape = timer ? "pause" : "play";
    if (play.dataset.icon !== shape) {
      play.dataset.icon = shape;
      play.replaceChildren(icon(ICONS[shape]));
    }
    put(root, "data-playing", String(Boolean(timer)));
    write(where, t(TEXT.place, { n: number + 1, of: done ? of : Math.ceil(run.of / run.segment) }));
    write(headName, now.head === null ? t(TEXT.meanHead) : t(TEXT.head, { head: `${now.layer}·${now.head}` }));
    write(mean, t(TEXT.meanHead));
    put(mean, "aria-pressed", String(now.head === null));
    mean.disabled = !done;
    headName.hidden = now.head === null;
  }

  function drawTable() {
    if (sheet.hidden || !finished()) return;
    const { text, rows } = table(scene);
    const [names, ...lines] = rows;
    sheet.setAttribute("aria-label", text);
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text }),
        el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col", text: name })))),
        el("tbody", {}, lines.map(([layer, ...cells], l) => el("tr", {}, el("th", { scope: "row", text: layer }), cells.map((cell, h) => el("td", { class: now.layer === l + 1 && now.head === h + 1 ? "here" : null, text: cell }))))),
      ),
    );
  }

  // ── mouse, finger and pen ──
  const point = (event) => {
    const box = picture.getBoundingClientRect();
    return [((event.clientX - box.left) * at.width) / box.width, ((event.clientY - box.top) * at.height) / box.height];
  };

  function leave(tell = true) {
    card.hidden = true;
    tapped = null;
    if (!hover) return;
    const far = hover.far;
    hover = null;
    if (tell && !far) bus.fire("hover-pos", { pos: null });
    if (run) preview();
  }

  function point_at(found, event) {
    const same = hover && found && hover.pos === found.pos && hover.layer === found.layer;
    hover = found;
    if (!same) {
      bus.fire("hover-pos", { pos: found.pos });
      preview();
    }
    show(event, tapped !== null);
  }

  function show(event, tap) {
    const { model, first, end, held } = scene;
    const { pos, layer } = hover;
    const n = Math.floor(pos / run.segment) + 1;
    const state = pos >= end ? TEXT.cardLater : pos >= first ? TEXT.cardNow : pos >= first - held ? TEXT.cardMemory : TEXT.cardGone;
    const lines = [el("div", {}, el("b", { text: charName(model, pos) })), el("div", { text: t(state, { n }) })];
    if (finished() && pos >= run.segment && model.memory > 0) {
      if (layer) lines.push(el("div", { text: t(TEXT.cardMean, { layer, w: weight(shareAt(model, layer, null, pos)) }) }));
      if (now.head !== null) lines.push(el("div", { text: t(TEXT.cardHead, { head: `${layer ?? now.layer}·${now.head}`, w: weight(shareAt(model, layer ?? now.layer, now.head, pos)) }) }));
    }
    if (finished()) lines.push(el("div", { class: "tfe-note", text: t(tap ? TEXT.cardTap : TEXT.cardDo) }));
    card.replaceChildren(...lines);
    card.hidden = scene.big;
    const { offsetWidth: w, offsetHeight: h } = card;
    const below = event.clientY + 18 + h <= window.innerHeight - 8;
    Object.assign(card.style, { left: `${Math.max(8, Math.min(window.innerWidth - w - 8, event.clientX + 14))}px`, top: `${below ? event.clientY + 18 : event.clientY - 14 - h}px` });
  }

  board.addEventListener("pointermove", (event) => {
    if (!run || event.pointerType === "touch") return;
    const found = under(scene, at, ...point(event));
    board.classList.toggle("is-over", Boolean(found) && finished());
    if (found) point_at(found, event);
    else leave();
  });
  board.addEventListener("pointerleave", () => tapped === null && leave());
  board.addEventListener("click", (event) => {
    if (!finished()) return;
    const found = under(scene, at, ...point(event));
    if (event.pointerType === "touch" && found && !(tapped && Math.abs(tapped.pos - found.pos) <= 3)) {
      tapped = found; // the first tap previews, the second locks
      point_at(found, event);
      return;
    }
    const goal = tapped ?? found;
    leave();
    stop();
    if (goal) lock(goal.pos, goal.layer, event.shiftKey);
  });
  bus.on("hover-pos", ({ pos }) => {
    if (!run || (hover && !hover.far)) return; // our own
    hover = pos === null || pos === undefined ? null : { pos, layer: null, far: true };
    preview();
  });

  // ── alive ──
  const paged = (by) => () => (projecting() ? step(by) : document.activeElement === board ? step(by) : false);
  keys(root, {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    PageUp: paged(-1),
    PageDown: paged(1),
    ArrowUp: () => stepHead(-1),
    ArrowDown: () => stepHead(1),
    " ": () => toggle(),
    Escape: () => (projecting() || !run ? false : reset()),
  });
  take.append(
    exportBar(
      exporters(() => (finished() ? { ...scene, words: plain(told()) } : null)),
      {
        onTable(open) {
          sheet.hidden = !open;
          if (run) drawTable();
        },
      },
    ),
  );

  const measure = () => {
    const { paddingLeft, paddingRight } = getComputedStyle(panel);
    return Math.floor(panel.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
  };
  room = measure() > 0 ? measure() : 640;
  new ResizeObserver(() => {
    const next = measure();
    if (next <= 0 || next === room) return;
    room = next;
    if (run) draw();
  }).observe(panel);
  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    leave();
    if (run) requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => projecting() && run && draw());
  view.on(KEYS, () => {
    if (mine) return;
    stop();
    update();
  });
  onOpen(() => {
    asked = locked();
  });
  onLang(() => {
    if (run) draw();
    else labels();
  });
  onTheme(() => run && draw());
  labels();
  watch("value", arrive);
  arrive();
}

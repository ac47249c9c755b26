// The same digit made by several models side by side: it grows pixel by pixel, and every pixel shows what it could look at and what a head
// looked at when it was made. Only exact weights are fetched, from addresses in the value; everything else is computed here.

import { unpack } from "./lib/arrays.js";
import { boardsOf, put, write } from "./lib/digitboards.js";
import { exporters } from "./lib/digitexport.js";
import { headsOf, offsetsOf } from "./lib/digitheads.js";
import { looksOf } from "./lib/digitlooks.js";
import { drawTable, legendOf } from "./lib/digitparts.js";
import { player } from "./lib/digitplay.js";
import { TEXT, factorName, nodes, plain, sentence, weight } from "./lib/digitwords.js";
import { el, segmented, svg } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { table as shades } from "./lib/raster.js";
import { bus, headIn, judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { css, dark, onTheme } from "./lib/theme.js";

const NARROW = 560; // px of the panel below which one board is shown at a time
const RESTLESS = 150; // ms between sentences while the digits move
const OWN = ["digitsroll", "digitssee", "digitsghost", "digitswhole"];
const KEYS = ["model", "head", "pos", ...OWN];
const TOKENS = ["sunk", "control", "panel", "query", "key", "ink", "ink2", "ink3", "out", "out-soft", "cat-6"];

const icon = (path) => svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" }));
const ICONS = { play: "M5 3.5v9l7-4.5z", pause: "M5.5 3.5v9M10.5 3.5v9", before: "M9.5 4l-4 4 4 4", after: "M6.5 4l4 4-4 4", start: "M4 4v8M11 4l-4 4 4 4" };

export function mount(root, props, emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const source = segmented({ options: [], value: "", label: "", onPick: (key) => set({ model: key, ...keep() }) });
  const legend = el("p", { class: "tfe-digits-legend tfe-legend" });
  const board = el("div", { class: "tfe-digits-boards", tabindex: "0", role: "application" });
  const press = (name, act) => el("button", { type: "button", class: "tfe-digits-step", onclick: act }, icon(ICONS[name]));
  const [start, play, before, after] = [press("start", () => run && go(first())), press("play", () => toggle()), press("before", () => step(-1)), press("after", () => step(1))];
  play.classList.add("is-play");
  const seek = el("input", { type: "range", class: "tfe-range", min: "0", step: "1", oninput: () => go(Number(seek.value)) });
  const count = el("span", { class: "tfe-digits-count" });
  const transport = el("div", { class: "tfe-digits-transport tfe-controls" }, start, play, before, after, seek, count);
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-digits-words" });
  const [seeName, seeMore] = [el("span", { class: "tfe-label" }), el("span", { class: "tfe-label" })];
  const see = segmented({ options: [], value: "0", label: "", onPick: (key) => set({ digitsroll: key === "0" ? null : key, digitssee: null, ...keep() }) });
  const chip = (act) => el("button", { type: "button", class: "tfe-chip", onclick: act });
  const surprise = chip(() => set({ digitssee: now.surprise ? null : "surprise", ...keep() }));
  const ghost = chip(() => set({ digitsghost: now.ghost ? null : 1 }));
  const whole = chip(() => set({ digitswhole: now.whole ? null : 1 }));
  const pickers = el("div", { class: "tfe-digits-pickers tfe-controls" }, seeName, see.node, seeMore, el("span", { class: "tfe-digits-chips" }, surprise, ghost, whole));
  const headsName = el("h3", { class: "tfe-label tfe-digits-headline" });
  const headsNote = el("p", { class: "tfe-kicker" });
  const [scaleFrom, scaleTo] = [el("span"), el("span")];
  const scale = el("span", { class: "tfe-label tfe-digits-headscale" }, scaleFrom, el("span", { class: "tfe-scale" }), scaleTo);
  const grids = el("div", { class: "tfe-digits-grids" });
  const many = el("div", { class: "tfe-digits-heads tfe-controls" }, el("div", { class: "tfe-digits-headrow" }, headsName, scale), grids, headsNote);
  const note = el("p", { class: "tfe-note tfe-digits-note tfe-controls" });
  const take = el("div", { class: "tfe-digits-take tfe-controls" });
  const sheet = el("div", { class: "tfe-digits-table tfe-scroll tfe-controls", tabindex: "0", role: "region", hidden: true });
  const body = el("div", { class: "tfe-digits-body" }, board, transport, words, pickers, many, note, take, sheet);
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const headline = el("div", { class: "tfe-digits-head" }, title, el("span", { class: "tfe-controls tfe-digits-switch" }, source.node), legend);
  const panel = el("section", { class: "tfe-panel tfe-digits-panel" }, headline, empty, error, body);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.classList.add("tfe-projectable");
  root.append(panel, card);
  board.setAttribute("aria-describedby", words.id);

  // ── state ──
  let run = null; // what is drawn: the value with its numbers at hand
  let now = null; // what is looked at, read from the address and completed
  let scene = null; // the same with everything that drawing needs
  let following = true; // the boards stay at their fronts while they grow
  let mine = false; // the change of the address under way is our own
  let arriving = 0;
  let room = 0;
  let palette = null; // the theme's colours, read once
  let hover = null; // {at, position, ready}
  let elsewhere = null; // a position that another widget points at
  let preview = null; // the hovered position that is drawn: the last whose weights were there
  let spoken = 0;
  let built = "";
  let pickedOf = "";
  let lastHead = "1.1";
  const locked = () => ["pos", "digitswhole", "digitsroll"].some((key) => view.get(key) !== null);
  let asked = locked() && request.get() !== "";
  const looks = looksOf(() => run && draw());

  const boards = boardsOf(board, card, () => scene, {
    lock(index, position, add) {
      stop(false);
      following = false;
      asked = false;
      const others = add ? now.positions.filter((one) => one !== position) : [];
      set({ model: run.models[index].key, pos: [...others, position].join(","), digitswhole: null });
    },
    hovered(next) {
      hover = next;
      if (!next) preview = null;
      bus.fire("hover-pos", { pos: next?.position ?? null, from: root });
      if (run) draw();
    },
  });
  const heads = headsOf(grids, { pick: (index, layer, head) => set({ model: run.models[index].key, head: `${layer}.${head}`, digitsroll: null, digitssee: null, ...keep() }) });

  const playing = player({
    side: () => run.side,
    last: () => made() - 1,
    moved: () => draw(),
    ended: () => !running(),
    over: () => set({ digitswhole: 1 }), // what was made stands there whole
  });

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;
  const made = () => Math.min(...run.models.map((model) => model.count));
  const running = () => run.state === "running";
  const finished = () => !running() && run.state !== "stopped";
  const first = () => (run.models[0].given < run.models[0].length ? run.models[0].given : 0);

  /** What is looked at: the address, completed by the telling pixel and by what exists. */
  function read() {
    const pick = run.pick ?? {};
    const key = [view.get("model"), pick.model].find((name) => run.models.some((model) => model.key === name)) ?? run.models[0].key;
    const index = run.models.findIndex((model) => model.key === key);
    const model = run.models[index];
    const within = (text, top) => Math.max(1, Math.min(top, Number.parseInt(text, 10) || 1));
    if (finished()) judge({ model: (name) => run.models.some((one) => one.key === name), head: headIn(model.layers, model.heads), pos: positionsIn(made()), digitsroll: (text) => /^\d+$/.test(text) && text >= 1 && text <= model.layers }, run.query);
    const wished = view.get("head") ?? pick.head ?? lastHead;
    if (/^\d+\.\d+$/.test(wished)) lastHead = wished; // "mean" and the like are other widgets'
    const [layer, head] = lastHead.split(".");
    const top = made();
    const text = view.get("pos");
    const chosen = text === null ? [finished() ? (pick.pos ?? null) : null] : text.split(",").map((each) => Number.parseInt(each, 10));
    const found = [...new Set(chosen)].filter((each) => Number.isInteger(each) && each >= 0).map((each) => Math.min(each, top - 1));
    const bare = view.get("digitswhole") === "1" || top === 0;
    const positions = bare ? [] : [...new Set(found)];
    const roll = Number.parseInt(view.get("digitsroll") ?? "", 10);
    return {
      key,
      index,
      layer: within(layer, model.layers),
      head: within(head, model.heads),
      roll: finished() && roll >= 1 ? Math.min(roll, model.layers) : 0,
      positions,
      position: positions.at(-1) ?? null,
      whole: !positions.length,
      surprise: view.get("digitssee") === "surprise",
      ghost: view.get("digitsghost") === "1" && run.whole !== null,
    };
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

  // The same pixel is compared across models and heads, so the lock is written down before they change.
  const keep = () => (now.positions.length && !(running() && following) ? { pos: now.positions.join(",") } : {});

  // ── moving ──
  function go(position) {
    if (!run) return;
    stop(false);
    asked = false;
    following = running() && position >= made();
    set({ pos: following ? null : Math.max(0, Math.min(made() - 1, position)), digitswhole: null });
  }
  const at = () => playing.at() ?? (running() && following ? made() : now.position);
  const step = (by) => run && go((at() ?? (by > 0 ? -1 : made())) + by);

  function stepHead(by) {
    const { layers, heads: most } = run.models[now.index];
    const next = ((now.layer - 1) * most + now.head - 1 + by + layers * most) % (layers * most);
    set({ head: `${Math.floor(next / most) + 1}.${(next % most) + 1}`, digitsroll: null, digitssee: null, ...keep() });
  }

  function reset() {
    stop(false);
    boards.leave();
    asked = false;
    following = true;
    set(Object.fromEntries(KEYS.map((key) => [key, null])));
  }

  function stop(lock = true) {
    const reached = playing.stop();
    if (lock && reached !== null) set({ pos: reached, digitswhole: null });
  }

  function toggle() {
    if (!run) return;
    if (playing.at() !== null) {
      stop();
      return;
    }
    following = false;
    asked = false;
    boards.leave();
    const here = at();
    playing.start(here === null || here >= made() - 1 ? Math.min(first(), made() - 1) : here);
  }

  // ── a new result ──
  async function arrive() {
    const turn = (arriving += 1);
    const next = props.value;
    if (!next?.models?.length) {
      playing.stop();
      run = null;
      draw();
      return;
    }
    let models;
    let digit;
    try {
      [digit, ...models] = await Promise.all([next.whole && unpack(next.whole), ...next.models.map(numbersOf)]);
      error.hidden = true;
    } catch (problem) {
      if (turn !== arriving) return;
      error.textContent = t({ en: `The digits did not arrive: ${problem.message}.`, zh: `数字未能送达：${problem.message}。` });
      error.hidden = false;
      return;
    }
    if (turn !== arriving) return; // a newer update overtook this one
    const was = run;
    const grew = was?.state === "running" && following && playing.at() === null;
    run = { ...next, models, whole: digit?.data ?? null };
    looks.forget();
    if (was && (was.query !== next.query || (was.state !== "running" && next.state === "running"))) {
      // Another digit: a lock of the old one tells nothing here, unless only the models were changed. Model and head that were chosen stay.
      if (next.same && was.same === next.same && locked()) asked = true;
      stop(false);
      boards.leave();
      following = true;
      if (!asked) quietly({ pos: null, digitswhole: null, digitsroll: null });
    }
    if (next.state !== "running") {
      // It grew before the visitor's eyes: it stays whole until a pixel is locked.
      if (grew && !asked && was.query === next.query) quietly({ digitswhole: 1, pos: null });
      if (was) asked = false;
    }
    const parts = models.map((model) => model.key).join();
    if (parts !== built) {
      built = parts;
      boards.build({ seen: models });
      heads.build({ seen: models });
      offer();
    }
    update();
  }

  async function numbersOf(model) {
    const [symbols, nats, offsets] = await Promise.all([unpack(model.symbols), unpack(model.nats), offsetsOf(model.offsets)]);
    return { ...model, symbols: symbols.data, nats: nats.data, offsets, length: symbols.data.length };
  }

  function offer() {
    pickedOf = "";
    source.set({ options: run.models.map((model) => ({ key: model.key, label: t(model.name) })), label: t(TEXT.model) });
    source.node.hidden = run.models.length < 2;
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
    source.node.hidden = !run || run.models.length < 2;
    if (!run) {
      delete root.dataset.drawn;
      labels();
      return;
    }
    palette ??= colours();
    const cursor = playing.at();
    const fetches = finished() && cursor === null && !now.surprise;
    const front = running() && following && cursor === null;
    const own = front ? null : (cursor ?? now.position);
    const lookAt = (position) => looks.of(run.models, now, position, fetches, palette.tokens);
    // A preview is drawn once all of its weights are here: until then what stood there stays.
    const wish = hover?.ready && finished() && cursor === null ? hover.position : null;
    const held = lookAt(own);
    let shown = held;
    if (wish !== null && wish !== own && (!fetches || looks.trouble() || !looks.waits(run.models, now, lookAt(wish)))) preview = wish;
    if (preview !== null && wish !== own && cursor === null) shown = lookAt(preview);
    const previewing = shown !== held;
    const position = previewing ? preview : own;
    const hovered = hover?.position ?? elsewhere;
    scene = { run, seen: run.models, side: run.side, now, shown, held, position, hover: front ? null : hovered, playing: cursor !== null, following: front, running: running(), finished: finished(), whole: run.whole, worst: props.scales.worst, palette, tokens: palette.tokens, font: palette.font, room, narrow: room < NARROW && !projecting(), projecting: projecting(), previewing };
    panel.classList.toggle("is-narrow", scene.narrow);
    body.classList.toggle("tfe-stale", run.state === "stale");
    const { width, gap } = boards.draw(scene);
    const most = heads.draw(scene, width);
    grids.style.gap = `${gap}px`;
    write(scaleTo, weight(most));
    const time = performance.now();
    if (!(cursor !== null || front) || time - spoken > RESTLESS) {
      spoken = time;
      speak();
      if (!sheet.hidden) drawTable(sheet, scene);
    }
    labels();
    const waits = looks.waits(run.models, now, held);
    const how = running() ? "growing" : !finished() ? "stopped" : cursor !== null ? "playing" : now.surprise ? "surprise" : now.whole ? "whole" : waits ? "waits" : "looked";
    root.dataset.drawn = `${now.key} ${now.roll ? `roll${now.roll}` : `${now.layer}.${now.head}`} ${front ? made() : cursor !== null ? cursor : now.positions.join(",") || "none"} ${how}`;
  }

  function colours() {
    const tokens = Object.fromEntries(TOKENS.map((name) => [name, css(`--${name}`)]));
    tokens.ground = css(dark() ? "--paper" : "--panel"); // a digit is bright on the darkest ground there is
    return { tokens, font: css("--font-ui"), weights: shades(props.scales.weights), surprise: shades(props.scales.surprise[dark() ? "dark" : "light"]) };
  }

  /** The sentence, as pieces. */
  function told() {
    const { shown, position } = scene;
    return sentence({ ...scene, index: now.index, position: scene.following ? null : position, layer: now.layer, head: now.head, roll: now.roll, surprise: now.surprise, best: shown[now.index].best, counts: shown.map((look) => look.count), running: scene.following || !finished() });
  }

  function speak() {
    const parts = told();
    put(words, "aria-live", playing.at() !== null || running() ? "off" : "polite");
    if (words.textContent !== plain(parts)) words.replaceChildren(...nodes(parts));
  }

  function labels() {
    write(title, t(TEXT.title));
    write(empty, t(props.empty ?? { en: "No digit has been made yet.", zh: "还没有生成数字。" }));
    put(root, "data-question", t(TEXT.question));
    write(headsName, t(TEXT.heads));
    write(seeName, t(TEXT.see));
    write(seeMore, t(TEXT.seeMore));
    write(headsNote, t(TEXT.headsNote));
    write(scaleFrom, `${t(TEXT.mean)} 0`);
    for (const [node, text] of [[surprise, TEXT.surprise], [ghost, TEXT.ghost], [whole, TEXT.whole]]) write(node, t(text));
    const plays = playing.at() !== null;
    for (const [node, text] of [[start, TEXT.start], [play, plays ? TEXT.pause : TEXT.play], [before, TEXT.before], [after, TEXT.after], [seek, TEXT.seek]]) {
      if (node.getAttribute("aria-label") === t(text)) continue;
      put(node, "aria-label", t(text));
      if (node !== seek) node.title = t(text);
      if (node === play) play.replaceChildren(icon(ICONS[plays ? "pause" : "play"]));
    }
    if (!run) return;
    const model = run.models[now.index];
    const front = Math.min(model.length - 1, at() ?? made() - 1);
    write(count, t(TEXT.count, { n: front + 1, of: model.length }));
    const trouble = finished() && looks.trouble();
    write(note, running() ? t(TEXT.growing) : !finished() ? t(TEXT.stopped) : trouble || t(now.roll ? TEXT.noteRoll : TEXT.note));
    put(board, "aria-label", t(TEXT.boards, { title: t(TEXT.title) }));
    for (const [node, on, may] of [[surprise, now.surprise, true], [ghost, now.ghost, run.whole !== null && model.given < model.length], [whole, now.whole && !plays && !running(), !running()]]) {
      put(node, "aria-pressed", String(on));
      node.disabled = !may;
    }
    seek.max = String(model.length - 1);
    seek.value = String(front);
    seek.style.setProperty("--at", `${(100 * front) / (model.length - 1)}%`);
    const rolls = run.models.some((one) => one.roll);
    seeName.hidden = seeMore.hidden = see.node.hidden = finished() && !rolls;
    const picked = [now.key, now.layer, now.head, now.roll, now.surprise, model.layers, document.documentElement.lang].join();
    if (picked !== pickedOf) {
      pickedOf = picked;
      source.set({ value: now.key });
      const through = Array.from({ length: model.layers }, (_, n) => ({ key: String(n + 1), label: String(n + 1) }));
      see.set({ options: [{ key: "0", label: t(TEXT.oneHead, { head: `${now.layer}·${now.head}` }) }, ...through], value: now.surprise ? "" : String(now.roll), label: t(TEXT.seeLong) });
    }
    legendOf(legend, scene);
  }

  // ── alive ──
  keys(root, {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    PageUp: () => step(-1),
    PageDown: () => step(1),
    ArrowUp: () => run && stepHead(-1),
    ArrowDown: () => run && stepHead(1),
    Home: () => go(0),
    End: () => run && go(running() ? made() : made() - 1),
    " ": () => toggle(),
    Escape: () => (projecting() || !run ? false : playing.at() !== null ? stop() : reset()),
  });
  const what = () => (now.surprise ? t(TEXT.surprise) : now.roll ? `${t(TEXT.rollout)}, ${now.roll}` : `${t(TEXT.oneHead, { head: `${now.layer}·${now.head}` })}, ${factorName(run.models[now.index].factors?.[now.layer - 1]?.[now.head - 1] ?? "")}`);
  const makers = exporters(() => run && { ...scene, title: t(TEXT.title), words: plain(told()), what: what() });
  take.append(
    exportBar(makers, {
      onTable(open) {
        sheet.hidden = !open;
        if (run) draw();
      },
    }),
  );

  const measure = () => {
    const { paddingLeft, paddingRight } = getComputedStyle(panel);
    return Math.floor(panel.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
  };
  room = measure() || 640;
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
    boards.leave();
    if (run) requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => projecting() && run && draw());
  view.on(KEYS, (changed) => {
    if (mine) return;
    stop(false);
    // A pixel or a head that another widget chose is looked at, whatever stood here in its place.
    const stale = { digitswhole: "pos", digitsroll: "head" };
    for (const [own, other] of Object.entries(stale)) if (changed.includes(other) && view.get(other) !== null && !changed.includes(own)) quietly({ [own]: null });
    if (view.get("pos") !== null) following = false;
    update();
  });
  bus.on("hover-pos", (detail) => {
    if (detail?.from === root) return;
    elsewhere = Number.isInteger(detail?.pos) && run && detail.pos < run.models[0].length ? detail.pos : null;
    if (run) draw();
  });
  onOpen(() => {
    asked = locked();
  });
  onLang(() => {
    if (run) {
      offer();
      draw();
    } else labels();
  });
  onTheme(() => {
    palette = null;
    if (run) draw();
  });
  labels();
  watch("value", arrive);
  arrive();
}

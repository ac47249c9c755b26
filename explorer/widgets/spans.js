// A picture that grows pixel by pixel, in rows and in tiles side by side: what each pixel may look at, how hard each head looks, and what
// it can know of layer by layer. Everything but the weights of a new layer is computed here, from what was sent once.

import { unpack } from "./lib/arrays.js";
import { el, segmented, svg } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { lang, onLang, t } from "./lib/lang.js";
import { byPixel, layout } from "./lib/layout.js";
import { table } from "./lib/raster.js";
import { boardsOf, put, stages, write } from "./lib/spanboards.js";
import { exporters } from "./lib/spanexport.js";
import { looks } from "./lib/spanlooks.js";
import { drawTable, fieldsOf, headsOf, thumbsOf } from "./lib/spantiles.js";
import { TEXT, nodes, plain, sentence, weight } from "./lib/spanwords.js";
import { bus, headIn, judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { css, onTheme } from "./lib/theme.js";

const PLAYED = 12; // seconds that a whole picture takes when played
const NARROW = 560; // px of the panel below which one board is shown at a time
const RESTLESS = 120; // ms between sentences while the picture moves
const KEYS = ["pattern", "head", "pos", "whole", "pic", "field"];

const icon = (path) => svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" }));
const ICONS = { play: "M5 3.5v9l7-4.5z", pause: "M5.5 3.5v9M10.5 3.5v9", before: "M9.5 4l-4 4 4 4", after: "M6.5 4l4 4-4 4", start: "M4 4v8M11 4l-4 4 4 4" };

export function mount(root, props, emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const legend = el("p", { class: "tfe-spans-legend tfe-legend" });
  const sideSwitch = segmented({ options: [], value: "", label: "", onPick: (key) => set({ pattern: key }) });
  const board = el("div", { class: "tfe-spans-boards", tabindex: "0", role: "application" });
  const strip = el("div", { class: "tfe-spans-strip" });
  const press = (name, act) => el("button", { type: "button", class: "tfe-spans-step", onclick: act }, icon(ICONS[name]));
  const [start, play, before, after] = [press("start", () => go(0)), press("play", () => toggle()), press("before", () => step(-1)), press("after", () => step(1))];
  play.classList.add("is-play");
  const seek = el("input", { type: "range", class: "tfe-range", min: "0", step: "1", oninput: () => go(Number(seek.value)) });
  const count = el("span", { class: "tfe-spans-count" });
  const whole = el("button", { type: "button", class: "tfe-chip tfe-spans-whole", onclick: () => set({ whole: now.whole ? null : 1, ...keep() }) });
  const transport = el("div", { class: "tfe-spans-transport tfe-controls" }, start, play, before, after, seek, count, whole);
  const patternPick = segmented({ options: [], value: "", label: "", onPick: (key) => set({ pattern: key }) });
  const layerName = el("span", { class: "tfe-label" });
  const layerPick = segmented({ options: [], value: "", label: "", onPick: (key) => set({ head: `${key}.${now.head}`, field: null, ...keep() }) });
  const headsName = el("span", { class: "tfe-label" });
  const scale = el("span", { class: "tfe-label tfe-spans-scale" });
  const pickers = el("div", { class: "tfe-spans-pickers tfe-controls" }, patternPick.node, layerName, layerPick.node, headsName, scale);
  const tiles = el("div", { class: "tfe-spans-tiles tfe-controls", role: "group" });
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-spans-words" });
  const side = el("div", { class: "tfe-spans-side" }, tiles, words);
  const fieldName = el("h3", { class: "tfe-label" });
  const field = el("div", { class: "tfe-spans-fields" });
  const note = el("p", { class: "tfe-note tfe-spans-note tfe-controls" });
  const take = el("div", { class: "tfe-spans-take tfe-controls" });
  const sheet = el("div", { class: "tfe-spans-table tfe-scroll tfe-controls", tabindex: "0", role: "region", hidden: true });
  const body = el("div", { class: "tfe-spans-body" }, board, strip, transport, pickers, side, el("div", { class: "tfe-spans-field tfe-controls" }, fieldName, field), note, take, sheet);
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const head = el("div", { class: "tfe-spans-head" }, title, el("span", { class: "tfe-controls tfe-spans-switch" }, sideSwitch.node), legend);
  const panel = el("section", { class: "tfe-panel tfe-spans-panel" }, head, empty, body);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.classList.add("tfe-projectable");
  root.append(panel, card);
  board.setAttribute("aria-describedby", words.id);

  // ── state ──
  let value = null;
  let seen = []; // of each pattern: {pattern, it: its layout, pictures, bits, count}
  let truth = null;
  let small = null;
  let now = null; // what is looked at, read from the address and completed
  let scene = null; // the same with everything that drawing needs
  let following = true; // the cursor stays at the front while the picture grows
  let cursor = null; // the position while playing
  let timer = 0;
  let mine = false; // the change of the address under way is our own
  let arriving = 0;
  let room = 0; // asked for when it changes: asking makes the page lay itself out anew, and so does asking for a colour
  let palette = null;
  let spoken = 0; // when the sentence was written last
  let picked = ""; // what the segmented choices show
  let built = "";
  // Does the address speak of a result that is still on its way? Then that result keeps what is locked.
  const locked = () => ["pos", "whole", "pic", "field"].some((key) => view.get(key) !== null);
  let asked = locked() && request.get() !== "";
  const layouts = new Map(); // those that were seen before
  const colours = table(props.scales.weights);
  const known = looks(emit.look, () => value && draw());

  const boards = boardsOf(board, card, () => scene, {
    changed: () => value && draw(),
    lock(at_, position) {
      stop(false);
      following = false;
      asked = false;
      set({ pattern: seen[at_].pattern.key, pos: position });
    },
  });
  const heads = headsOf(tiles, {
    pick: (h) => set({ head: `${now.layer}.${h + 1}`, field: null, ...keep() }),
    silence: (h) => bus.fire("silence", { kind: now.pattern, layer: now.layer - 1, head: h }),
  });
  const fields = fieldsOf(field, { pick: (at_, layer) => set({ field: now.field === layer ? null : layer, pattern: seen[at_].pattern.key, ...keep() }) });
  const thumbs = thumbsOf(strip, { pick: (at_, picture) => set({ pic: picture ? picture + 1 : null, pattern: seen[at_].pattern.key, ...keep() }) });

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;
  const made = () => seen[0].pattern.made;
  const running = () => value?.state === "running" && made() < seen[0].it.length;
  const unfinished = () => value.state === "running" || value.state === "stopped";
  const active = () => seen.find((each) => each.pattern.key === now.pattern);

  /** What is looked at: the address, completed by the telling pixel and by what exists. */
  function read() {
    const pick = value.pick ?? {};
    const { layers, heads: most } = seen[0].pattern;
    const pattern = [view.get("pattern"), pick.pattern].find((key) => seen.some((each) => each.pattern.key === key)) ?? seen.at(-1).pattern.key;
    const within = (text, top, otherwise) => {
      const n = Number.parseInt(text ?? "", 10);
      return Number.isFinite(n) ? Math.max(1, Math.min(top, n)) : otherwise;
    };
    if (!unfinished()) judge({ pattern: (key) => seen.some((each) => each.pattern.key === key), head: headIn(layers, most), pos: positionsIn(made()) }, value.query);
    const [asLayer, asHead] = (view.get("head") ?? "").split(".");
    const last = Math.max(0, made() - 1);
    const pos = Number.parseInt(view.get("pos") ?? "", 10);
    const position = view.get("pos") === "none" ? null : Math.max(0, Math.min(last, Number.isFinite(pos) ? pos : (pick.position ?? last)));
    return {
      pattern,
      layer: within(asLayer, layers, Math.min(layers, (pick.layer ?? 3) + 1)),
      head: within(asHead, most, Math.min(most, (pick.head ?? 0) + 1)),
      position,
      whole: view.get("whole") === "1" || position === null,
      picture: within(view.get("pic"), seen[0].count, 1) - 1,
      field: within(view.get("field"), layers, 0),
    };
  }

  /** The place that is drawn: the front of what grows, the cursor of what plays, or what is locked. */
  function at() {
    if (running() && following) return Math.min(made(), seen[0].it.length - 1);
    return cursor ?? now.position;
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

  // The same pixel is compared across heads and layers, so the lock is written down before they change.
  const keep = () => (now.position === null || (running() && following) ? {} : { pos: now.position });

  // ── moving ──
  function go(position) {
    if (!value) return;
    stop(false);
    asked = false;
    following = running() && position >= made();
    set({ pos: following ? null : Math.max(0, Math.min(made() - 1, position)), whole: null });
  }
  const step = (by) => value && go((at() ?? (by > 0 ? -1 : made())) + by);

  function stepHead(by) {
    const { layers, heads: most } = seen[0].pattern;
    const next = ((now.layer - 1) * most + now.head - 1 + by + layers * most) % (layers * most);
    set({ head: `${Math.floor(next / most) + 1}.${(next % most) + 1}`, field: null, ...keep() });
  }

  function reset() {
    stop(false);
    boards.leave();
    asked = false;
    following = true;
    set({ pos: null, head: null, pattern: null, whole: null, field: null, pic: null });
  }

  function stop(lock = true) {
    if (!timer) return;
    cancelAnimationFrame(timer);
    timer = 0;
    const reached = cursor;
    cursor = null;
    if (lock) set({ pos: reached, whole: null });
  }

  function toggle() {
    if (!value) return;
    if (timer) {
      stop();
      return;
    }
    const { length, columns } = seen[0].it;
    following = false;
    asked = false;
    const from = (at() ?? 0) >= made() - 1 ? 0 : (at() ?? 0);
    cursor = from;
    // Whoever wants no motion sees whole rows at a time.
    const stride = matchMedia("(prefers-reduced-motion: reduce)").matches ? columns : 1;
    let begun = null;
    const tick = (time) => {
      begun ??= time;
      const next = Math.min(made() - 1, from + Math.floor(((time - begun) / 1000 / PLAYED) * (length / stride)) * stride);
      timer = requestAnimationFrame(tick);
      if (next !== cursor) {
        cursor = next;
        draw();
      }
      if (cursor >= made() - 1 && !running()) stop();
    };
    timer = requestAnimationFrame(tick);
    draw();
  }

  // ── a new result ──
  async function arrive() {
    const turn = (arriving += 1);
    const next = props.value;
    if (!next?.patterns?.length) {
      value = null;
      draw();
      return;
    }
    const arrays = await Promise.all([...next.patterns.flatMap(({ order, pictures, bits }) => [order, pictures, bits]), next.truth, next.small].map((packed) => packed && unpack(packed)));
    if (turn !== arriving) return; // a newer update overtook this one
    const was = value;
    const grew = was?.state === "running" && following && !timer;
    value = next;
    [truth, small] = arrays.slice(-2);
    seen = next.patterns.map((pattern, i) => {
      const [order, pictures, bits] = arrays.slice(3 * i, 3 * i + 3);
      const key = JSON.stringify([pattern.starts, pattern.memory, pattern.channels, pattern.columns, pattern.order]);
      if (!layouts.has(key)) {
        if (layouts.size > 8) layouts.clear();
        layouts.set(key, layout(pattern, order.data));
      }
      return { pattern, it: layouts.get(key), pictures, bits, count: pictures.shape[0] };
    });
    // First: what is let go of below is drawn at once, of these pictures.
    const parts = JSON.stringify([seen.map(({ pattern, count: n }) => [pattern.key, pattern.rows, pattern.layers, pattern.heads, n]), Boolean(truth), Boolean(small)]);
    if (parts !== built) {
      built = parts;
      for (const part of [boards, heads, fields, thumbs]) part.build({ seen, truth, small });
      options();
    }
    now = read();
    if (was && (was.query !== next.query || (was.state !== "running" && next.state === "running"))) {
      // Another picture: a lock of the old one tells nothing here, unless only the models were changed. Pattern and head that were chosen stay.
      if (next.same && was.same === next.same && locked()) asked = true;
      stop(false);
      boards.leave();
      following = true;
      if (!asked) quietly({ pos: null, whole: null, pic: null, field: null });
    }
    if (next.state !== "running") {
      // It grew before the visitor's eyes: it stays whole, and a telling pixel is locked on it.
      if (grew && !asked && was.query === next.query) quietly({ whole: 1, pos: null });
      if (was) asked = false;
    }
    if (next.state !== "running") for (const look of next.looks ?? []) known.take(look); // this draws: what is drawn stands by now
    update();
  }

  function options() {
    if (!value) return;
    picked = "";
    const choices = (name) => seen.map(({ pattern }) => ({ key: pattern.key, label: t(pattern[name]) }));
    patternPick.set({ options: choices("short"), label: t(TEXT.pattern) });
    sideSwitch.set({ options: choices("label"), label: t(TEXT.pattern) });
    layerPick.set({ options: Array.from({ length: seen[0].pattern.layers }, (_, i) => ({ key: String(i + 1), label: String(i + 1) })), label: t(TEXT.layer) });
    patternPick.node.hidden = sideSwitch.node.hidden = seen.length < 2;
  }

  // ── drawing ──
  function update() {
    if (!value) return;
    now = read();
    draw();
  }

  /** What a query of a pattern looks at, head by head; null while it is not known. */
  function looking({ pattern, it }, position) {
    if (position === null || now.picture > 0 || unfinished()) return null;
    const layer = known.get(value.query, pattern.key, now.layer - 1);
    return layer && Array.from({ length: pattern.heads }, (_, h) => byPixel(it, position, layer(h, position)));
  }

  function draw() {
    empty.hidden = Boolean(value);
    body.hidden = legend.hidden = !value;
    if (!value) {
      delete root.dataset.drawn;
      labels();
      return;
    }
    palette ??= Object.fromEntries(["sunk", "control", "panel", "query", "key", "ink"].map((name) => [name, css(`--${name}`)]));
    const position = at();
    const narrow = room < NARROW && !projecting();
    const watched = now.picture === 0 && position !== null && !unfinished();
    if (watched) known.want(value.query, [now.pattern, ...(narrow ? [] : seen.map(({ pattern }) => pattern.key))], now.layer - 1);
    const weights = seen.map((each) => looking(each, position));
    const here = weights[seen.indexOf(active())];
    scene = { value, seen, now, position, cursor, weights, waits: watched && !here, truth, small, colours, tokens: palette, room, narrow, projecting: projecting() };
    panel.classList.toggle("is-narrow", narrow);
    body.classList.toggle("tfe-stale", value.state === "stale");
    boards.draw(scene);
    thumbs.draw(scene, boards.cellSize(scene));
    heads.draw(scene);
    const time = performance.now();
    if (!(timer || (running() && following)) || time - spoken > RESTLESS) {
      spoken = time;
      speak();
      fields.draw(scene);
      if (!sheet.hidden) drawTable(sheet, scene, note.textContent);
    }
    labels();
    root.dataset.drawn = `${now.pattern} ${now.layer}.${now.head} ${position ?? "none"} ${running() ? "growing" : here ? "looked" : "bare"}`;
  }

  /** The sentence, as pieces. */
  function told(growing) {
    const { position, weights } = scene;
    if (position === null) return [t(TEXT.print)];
    const each = active();
    const other = seen.find((one) => one !== each) ?? null;
    return sentence({ ...each, other, position, layer: now.layer, head: now.head, best: weights[seen.indexOf(each)]?.[now.head - 1] ?? null, field: now.field, growing });
  }

  function speak() {
    const parts = told(Boolean(timer) || (running() && following));
    put(words, "aria-live", timer || running() ? "off" : "polite");
    if (words.textContent !== plain(parts)) words.replaceChildren(...nodes(parts));
  }

  function labels() {
    write(title, t(TEXT.title));
    write(empty, t(props.empty ?? { en: "Nothing has been made yet.", zh: "还没有生成图片。" }));
    write(whole, t(TEXT.whole));
    write(layerName, t(TEXT.layer));
    put(root, "data-question", t(now?.field ? TEXT.questionField : TEXT.question));
    for (const [node, text] of [[start, TEXT.start], [play, timer ? TEXT.pause : TEXT.play], [before, TEXT.before], [after, TEXT.after], [seek, TEXT.seek]]) {
      if (node.getAttribute("aria-label") === t(text)) continue;
      put(node, "aria-label", t(text));
      if (node !== seek) node.title = t(text);
      if (node === play) play.replaceChildren(icon(ICONS[timer ? "pause" : "play"]));
    }
    if (!value) return;
    const { it, pattern } = active();
    const front = scene.position ?? it.length - 1;
    write(fieldName, t(it.channels > 1 ? TEXT.knownValues : TEXT.knownPixels));
    write(headsName, t(TEXT.heads, { n: pattern.heads }));
    write(count, t(it.channels === 1 ? TEXT.count : TEXT.countValue, { n: front + 1, of: it.length }));
    write(note, now.picture > 0 ? t(TEXT.firstOnly) : running() ? t(TEXT.growing) : (known.trouble() && t(known.trouble())) || t(TEXT.print));
    put(board, "aria-label", t(TEXT.boards, { title: t(TEXT.title) }));
    put(whole, "aria-pressed", String(now.whole && cursor === null && made() >= it.length));
    whole.disabled = running();
    seek.max = String(it.length - 1);
    seek.value = String(front);
    seek.style.setProperty("--at", `${(100 * front) / (it.length - 1)}%`);
    if (picked !== `${now.pattern} ${now.layer}`) {
      picked = `${now.pattern} ${now.layer}`;
      for (const choice of [patternPick, sideSwitch]) choice.set({ value: now.pattern });
      layerPick.set({ value: String(now.layer) });
    }
    roles();
  }

  /** The legend, and what the ends of the scale stand for: each board is drawn against its own largest weight. */
  function roles() {
    const shown = seen.filter(({ pattern }) => !scene.narrow || pattern.key === now.pattern);
    const ends = shown.flatMap((each) => {
      const look = scene.weights[seen.indexOf(each)]?.[now.head - 1];
      if (!look) return [];
      return [shown.length > 1 ? `${t(each.pattern.short)} ${weight(look.most)}` : weight(look.most)];
    });
    const key = [lang(), now.field, ends, scene.projecting].join();
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    const bar = () => (ends.length && !now.field ? [`${t(TEXT.weight)} 0`, el("span", { class: "tfe-scale" }), ends.join(" · ")] : []);
    const swatch = (kind, text) => el("span", { class: `tfe-${kind}` }, el("span", { class: "swatch" }), text);
    const layers = now.field === 1 ? t(TEXT.oneLayer) : t(TEXT.layers, { n: now.field });
    const second = now.field ? el("span", { class: "tfe-key" }, el("span", { class: "tfe-spans-depth" }), t(TEXT.known, { n: layers })) : swatch("key", t(TEXT.memory));
    scale.replaceChildren(...bar());
    legend.replaceChildren(swatch("query", t(TEXT.query)), second, ...(scene.projecting ? [el("span", {}, bar())] : []));
  }

  // ── alive ──
  keys(root, {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    ArrowUp: () => value && stepHead(-1),
    ArrowDown: () => value && stepHead(1),
    Home: () => go(0),
    End: () => value && go(running() ? made() : made() - 1),
    " ": () => toggle(),
    Escape: () => (projecting() || !value ? false : timer ? stop() : reset()),
  });

  const makers = exporters(() => {
    const layers = seen.map(({ pattern }) => known.raw(value.query, pattern.key, now.layer - 1));
    return { ...scene, layers, stages: seen.map((each) => stages(scene, each, scene.position)), title: t(TEXT.title), words: plain(told(false)) };
  });
  const bar = exportBar(makers, {
    onTable(open) {
      sheet.hidden = !open;
      if (value) draw();
    },
  });
  take.append(bar);

  const measure = () => {
    const { paddingLeft, paddingRight } = getComputedStyle(panel);
    return Math.floor(panel.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
  };
  room = measure() || 640;
  new ResizeObserver(() => {
    const next = measure();
    if (next <= 0 || next === room) return;
    room = next;
    heads.forget();
    if (value) draw();
  }).observe(panel);
  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    boards.leave();
    heads.forget();
    if (value) requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => projecting() && value && draw());
  view.on(KEYS, () => {
    if (mine) return;
    stop(false);
    if (view.get("pos") !== null) following = false;
    update();
  });
  onOpen(() => {
    asked = locked();
  });
  onLang(() => {
    options();
    if (value) draw();
    else labels();
  });
  onTheme(() => {
    palette = null;
    if (value) draw();
  });
  labels();
  watch("value", arrive);
  arrive();
}

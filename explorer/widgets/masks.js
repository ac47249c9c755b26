// How far each head looks, as bars of layers and heads, and the soft mask of one over distance with what it takes away. A span is dragged
// here, seen at once, and run by the server once the hand rests. Only exact weights of a character are fetched.

import { el, segmented, svg } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { bars, place as placeBars } from "./lib/maskbars.js";
import { board as boardOf, cross, place as placeBoard } from "./lib/maskboard.js";
import { handleOf } from "./lib/maskhandle.js";
import { inLink, kept, reach, spelled } from "./lib/masknumbers.js";
import { pointerOf } from "./lib/maskpointer.js";
import { rowsOf } from "./lib/maskrows.js";
import { runOf, seen } from "./lib/maskrun.js";
import { exporters, table } from "./lib/maskexport.js";
import { TEXT, nodes, plain, sentence, spanText } from "./lib/maskwords.js";
import { bus, headIn, judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { onTheme } from "./lib/theme.js";

const NARROW = 680; // px of the panel below which bars and mask stand one under the other
const KEYS = ["head", "pos", "masksaxis"];
const REST = 450; // ms after the last key until a span is sent

const write = (node, text) => node.textContent !== text && (node.textContent = text);
const put = (node, name, text) => node.getAttribute(name) !== text && node.setAttribute(name, text);

export function mount(root, props, _emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const units = el("span", { class: "tfe-units" });
  const legend = el("p", { class: "tfe-legend tfe-masks-legend" });
  const layer = { bars: svg("g"), board: svg("g"), over: svg("g", { "pointer-events": "none" }) };
  const barsPicture = svg("svg", { class: "tfe-masks-picture", "aria-hidden": "true" }, layer.bars);
  const barsBoard = el("div", { class: "tfe-masks-bars", tabindex: "0", role: "application" }, barsPicture);
  const picture = svg("svg", { class: "tfe-masks-picture", "aria-hidden": "true" }, layer.board, layer.over);
  const handle = handleOf({ move: dragged, rest: send, step: REST });
  const board = el("div", { class: "tfe-masks-board", tabindex: "0", role: "application" }, picture);
  const stage = el("div", { class: "tfe-masks-stage" }, board, handle.node);
  const maskTitle = el("h3", { class: "tfe-title" });
  const equation = el("span", { class: "tfe-units tfe-masks-equation" }, "m", el("sub", { text: "z" }), "(x) = clamp((R + z − x) / R, 0, 1)");
  const scopeName = el("span", { class: "tfe-label" });
  const scopePick = segmented({ options: [], value: "head", label: "", onPick: (key) => ((scope = key), run && labels()) });
  const axisPick = segmented({ options: [], value: "linear", label: "", onPick: (key) => set({ masksaxis: key === "log" ? "log" : null }) });
  const restoreText = el("span");
  const restore = el("button", { type: "button", class: "tfe-button small tfe-masks-restore", onclick: () => wish(new Float32Array(run.count).fill(Number.NaN), true) }, restoreText);
  const knobs = el("div", { class: "tfe-masks-knobs tfe-controls" }, el("div", { class: "tfe-row tight" }, scopeName, scopePick.node, restore), axisPick.node);
  const left = el("div", { class: "tfe-masks-left" }, barsBoard);
  const right = el("div", { class: "tfe-masks-right" }, el("div", { class: "tfe-row tight tfe-masks-what" }, maskTitle, equation), stage, knobs);
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-masks-words" });
  const note = el("p", { class: "tfe-note tfe-masks-note tfe-controls" });
  const take = el("div", { class: "tfe-masks-take tfe-controls" });
  const sheet = el("div", { class: "tfe-masks-table tfe-scroll tfe-controls", tabindex: "0", role: "region", hidden: true });
  const body = el("div", { class: "tfe-masks-body" }, el("div", { class: "tfe-masks-both" }, left, right), words, note, take, sheet);
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const head = el("div", { class: "tfe-masks-head" }, title, units, legend);
  const panel = el("section", { class: "tfe-panel tfe-masks-panel" }, head, empty, body);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.classList.add("tfe-projectable");
  root.append(panel, card);
  board.setAttribute("aria-describedby", words.id);

  // ── state ──
  let run = null; // what is drawn: the value with its numbers at hand
  let coming = null; // a run under way: its state
  let now = null; // what is looked at, read from the address and completed
  let scene = null; // the same with everything that drawing needs
  let at = null; // where it stands: {bars, board}
  let draft = null; // (layer · head) spans that are wished for, NaN as trained; null where nothing is wished beyond the run
  let asked = null; // the wish that was sent, as text
  let scope = "head";
  let mine = false; // the change of the address under way is our own
  let arriving = 0;
  let room = 0;
  let elsewhere = false; // other text is being read
  const linked = () => ["head", "pos"].some((key) => view.get(key) !== null);
  let wanted = linked() && request.get() !== "";
  const rows = rowsOf(() => run && draw());

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;
  const index = () => (now.layer - 1) * run.heads[1] + now.head - 1;

  /** What is looked at: the address, completed by the telling head and character and by what exists. */
  function read() {
    const [layers, heads] = run.heads;
    const within = (text, top) => Math.max(1, Math.min(top, Number.parseInt(text, 10) || 1));
    judge({ head: headIn(layers, heads), pos: positionsIn(run.length) }, run.query);
    const told = view.get("head");
    const [l, h] = (/^\d+\.\d+$/.test(told ?? "") ? told : (run.pick?.head ?? "1.1")).split(".");
    const text = view.get("pos");
    const listed = text === "none" ? [] : text === null ? [run.pick?.pos ?? run.length - 1] : text.split(",").map((one) => Number.parseInt(one, 10));
    return { layer: within(l, layers), head: within(h, heads), positions: [...new Set(listed)].filter((one) => one >= 0 && one < run.length), axis: view.get("masksaxis") === "log" ? "log" : "linear" };
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

  // ── moving ──
  const choose = (i) => set({ head: `${Math.floor(i / run.heads[1]) + 1}.${(i % run.heads[1]) + 1}` });

  function lock(position, add = false) {
    const others = add ? now.positions.filter((one) => one !== position) : [];
    wanted = false;
    set({ pos: [...others, position].join(",") });
  }

  function step(by) {
    if (!run) return;
    const from = now.positions.length ? now.positions.at(-1) + by : by > 0 ? 0 : run.length - 1;
    lock(Math.max(0, Math.min(run.length - 1, from)));
  }

  const stepHead = (by) => run && choose((index() + by + run.count) % run.count);

  function reset() {
    pointer.leave();
    wanted = false;
    set({ head: null, pos: null, masksaxis: null });
  }

  // ── spans that are wished for ──
  const forcedNow = () => draft ?? run.forcing;

  /** Forces the heads that the scope names to a span. */
  function dragged(z) {
    if (!run || elsewhere || run.state === "stale") return;
    const [, heads] = run.heads;
    const next = Float32Array.from(forcedNow());
    next.forEach((_, i) => {
      if (scope === "all" || (scope === "layer" ? Math.floor(i / heads) + 1 === now.layer : i === index())) next[i] = z;
    });
    wish(next, false);
  }

  function wish(next, rests) {
    if (!run || elsewhere) return;
    draft = next;
    draw();
    if (rests) send();
  }

  const asText = (forced) => inLink(spelled(forced, ...run.heads));

  function send() {
    if (!run || !draft) return;
    const spans = asText(draft);
    if (asked === null && draft.every((z, i) => Object.is(z, run.forcing[i]))) {
      draft = null;
      draw();
      return;
    }
    if (asked === spans) return;
    asked = spans;
    bus.fire("wish", { query: run.query, set: { spans }, changes: true });
    draw();
  }

  // ── a new result ──
  async function arrive() {
    const turn = (arriving += 1);
    const next = props.value;
    if (next?.state === "running") {
      coming = next;
      if (run) draw();
      else blank();
      return;
    }
    coming = null;
    if (!next?.heads) {
      run = draft = asked = null;
      blank();
      return;
    }
    let made;
    try {
      made = await runOf(next);
    } catch (problem) {
      if (turn === arriving) write(note, t({ en: `The spans did not arrive: ${problem.message}.`, zh: `跨度未能送达：${problem.message}。` }));
      return;
    }
    if (turn !== arriving) return; // a newer update overtook this one
    const was = run;
    run = made;
    // The answer to a wish that a newer one of this widget has overtaken: the newer one is still on its way.
    const overtaken = asked !== null && asText(run.forcing) !== asked && was?.variant === run.variant && was.text.slice(0, was.given) === run.text.slice(0, run.given);
    if (!handle.busy() && !overtaken) draft = asked = null;
    if (was && (was.text !== run.text || was.variant !== run.variant) && !overtaken) {
      pointer.leave();
      // Another text: a lock of the old one tells nothing here, unless a link or a step named it.
      if (!wanted && view.get("pos") !== null && was.text.slice(0, was.given) !== run.text.slice(0, run.given)) {
        mine = true;
        view.set({ pos: null });
        mine = false;
      }
    }
    wanted = false;
    update();
  }

  // ── drawing ──
  function update() {
    if (!run) return;
    now = read();
    draw();
  }

  function blank() {
    delete root.dataset.drawn;
    body.hidden = legend.hidden = units.hidden = true;
    empty.hidden = false;
    handle.node.hidden = true;
    bus.fire("changing", { by: "masks", state: null });
    labels();
  }

  /** The share of its weight that the mask leaves a head on this text; null where it cannot be told. */
  function leftOf(i) {
    const same = !draft || Object.is(draft[i], run.forcing[i]);
    if (same && run.kept) return run.kept[i];
    const profile = run.profile(i);
    if (!profile || (run.dynamic && Number.isNaN(forcedNow()[i]))) return null;
    return kept(profile.before, run.counts, spanOf(i), run.ramp);
  }

  /** The span of a head as it is wished for, else as it ran. */
  function spanOf(i) {
    if (!draft || Object.is(draft[i], run.forcing[i])) return run.z[i];
    if (!Number.isNaN(draft[i])) return draft[i];
    return Number.isNaN(run.learned[i]) ? run.z[i] : run.learned[i];
  }

  function draw() {
    const big = projecting();
    const narrow = room < NARROW && !big;
    const i = index();
    const { preview, hover } = pointer;
    const position = preview !== null && preview < run.length ? preview : (now.positions.at(-1) ?? null);
    const found = preview === null || pointer.rests() ? rows.of(run, now.layer, now.head, position) : null;
    scene = { run, now, position, hover, narrow, big, ...seen({ run, i, draft, spanOf, leftOf, position, found }) };
    const { z, row } = scene;
    bus.fire("changing", { by: "masks", state: asked !== null ? "running" : draft !== null ? "unrun" : null });
    empty.hidden = true;
    body.hidden = legend.hidden = units.hidden = false;
    panel.classList.toggle("is-narrow", narrow);
    body.classList.toggle("tfe-stale", run.state === "stale");
    body.classList.toggle("is-waiting", (asked !== null || coming !== null) && !handle.busy());
    const whole = big ? Math.min(1800, window.innerWidth - 204) : room; // the code for the audience keeps its corner
    const widths = narrow ? [whole, whole] : [Math.round(whole * (big ? 0.36 : 0.37)), 0];
    if (!narrow) widths[1] = whole - widths[0] - (big ? 40 : 28);
    const barsAt = placeBars(scene, widths[0]);
    scene.height = big ? window.innerHeight - 306 : narrow ? 400 : barsAt.height + 12;
    at = { bars: barsAt, board: placeBoard(scene, widths[1]) };
    for (const [node, spot] of [[barsPicture, at.bars], [picture, at.board]]) {
      put(node, "viewBox", `0 0 ${spot.width} ${spot.height}`);
      put(node, "width", String(spot.width));
      put(node, "height", String(spot.height));
    }
    layer.bars.replaceChildren(...bars(scene, at.bars));
    layer.board.replaceChildren(...boardOf(scene, at.board));
    layer.over.replaceChildren(...(hover?.kind === "distance" ? [cross(at.board, hover.x)] : []));
    handle.place({ x: at.board.x(z), top: at.board.top, bottom: at.board.bottom, z: Math.round(z), span: run.span, ramp: run.ramp, of: at.board.distance, disabled: elsewhere || run.state === "stale", big });
    const parts = told();
    if (words.textContent !== plain(parts)) words.replaceChildren(...nodes(parts));
    if (!sheet.hidden) drawTable();
    labels();
    const state = asked !== null ? "asked" : draft ? "dragged" : row ? "looked" : position !== null && run.looks.before ? "waits" : "bare";
    root.dataset.drawn = `${run.variant} ${now.layer}.${now.head} ${position ?? "none"} ${state}`;
  }

  const told = () => sentence({ ...scene, z: scene.spans[index()] });

  function labels() {
    write(title, t(TEXT.title));
    write(empty, coming ? t(TEXT.growingFirst, { n: Array.from(coming.text).length, of: coming.of }) : t(props.empty ?? TEXT.empty));
    put(root, "data-question", t(TEXT.question));
    if (!run || !scene) return;
    const { layer: l, head: h } = now;
    const where = `${l}·${h}`;
    write(units, t(TEXT.units, { span: run.span.toLocaleString("en") }));
    write(maskTitle, t(TEXT.mask, { head: where }));
    write(scopeName, t(TEXT.scope));
    write(restoreText, t(TEXT.restore));
    put(restore, "aria-label", t(TEXT.restores));
    restore.hidden = forcedNow().every(Number.isNaN);
    restore.disabled = elsewhere;
    const listed = (names, kinds) => kinds.map((key, n) => ({ key, label: t({ en: names.en[n], zh: names.zh[n] }) }));
    const key = document.documentElement.lang;
    if (scopePick.node.dataset.lang !== key) {
      scopePick.node.dataset.lang = key;
      scopePick.set({ options: listed(TEXT.scopes, ["head", "layer", "all"]), value: scope, label: t(TEXT.scope) });
      axisPick.set({ options: listed(TEXT.axes, ["linear", "log"]), value: now.axis, label: t(TEXT.axis) });
    }
    axisPick.set({ value: now.axis });
    handle.label(t(scope === "all" ? TEXT.sliderAll : scope === "layer" ? TEXT.sliderLayer : TEXT.slider, { head: where, layer: l }), t(TEXT.sliderNow, { z: spanText(Math.round(scene.z)), reach: reach(scene.z, run.ramp, run.span), span: run.span }));
    put(barsBoard, "aria-label", t(TEXT.bars, { layers: run.heads[0], heads: run.heads[1], head: where, reach: reach(scene.spans[index()], run.ramp, run.span) }));
    put(board, "aria-label", t(TEXT.board, { head: where }));
    const remarks = [];
    if (coming) remarks.push(t(TEXT.growing, { n: Array.from(coming.text).length, of: coming.of }));
    else if (asked !== null) remarks.push(t(TEXT.waits));
    else remarks.push(t(TEXT.drag));
    if (run.watched && run.watched[0] < run.watched[1]) remarks.push(t(TEXT.watched, { n: run.watched[0].toLocaleString("en"), of: run.watched[1].toLocaleString("en") }));
    if (run.state === "stale") remarks.push(t(TEXT.from));
    if (rows.trouble()) remarks.push(t(rows.trouble()));
    write(note, remarks.join(" "));
    roles();
  }

  /** The legend: what stands for what, as small pieces of the picture. */
  function roles() {
    const forced = scene.forced.some(Boolean);
    const key = [document.documentElement.lang, forced, Boolean(scene.profile)].join();
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    const entry = (kind, text) => el("span", {}, el("span", { class: `tfe-masks-mark is-${kind}` }), text);
    legend.replaceChildren(
      entry("mask", t(TEXT.legendMask)),
      ...(forced ? [entry("forced", t(TEXT.legendForced)), entry("trained", t(TEXT.legendTrained))] : []),
      ...(scene.profile ? [entry("before", t(TEXT.legendBefore)), entry("after", t(TEXT.legendAfter))] : []),
    );
  }

  function drawTable() {
    const [names, ...lines] = table(scene);
    put(sheet, "aria-label", t(TEXT.caption));
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: t(TEXT.caption) }),
        el("thead", {}, el("tr", {}, names.map((one) => el("th", { scope: "col", text: one })))),
        el("tbody", {}, lines.map((cells, n) => el("tr", {}, cells.map((cell, c) => el(c ? "td" : "th", { scope: c ? null : "row", class: n === index() ? "here" : null, text: cell }))))),
      ),
    );
  }

  const pointer = pointerOf({
    card, picture, board, barsPicture, barsBoard, draw, choose, lock,
    busy: () => !run || handle.busy(),
    now: () => ({ scene, at }),
  });

  // ── alive ──
  keys(root, {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    PageUp: () => (projecting() ? step(-1) : false),
    PageDown: () => (projecting() ? step(1) : false),
    ArrowUp: () => stepHead(-1),
    ArrowDown: () => stepHead(1),
    Escape: () => (projecting() || !run ? false : reset()),
  });
  take.append(
    exportBar(exporters(() => run && { ...scene, words: plain(told()) }), {
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
    pointer.leave();
    if (run) requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => projecting() && run && draw());
  bus.on("asking", (yes) => {
    elsewhere = yes && asked === null;
    if (!yes) {
      // The wish was answered, refused or stopped: where nothing comes any more, what was wished is taken back.
      const [was_, turn] = [asked, arriving];
      setTimeout(() => {
        if (arriving !== turn || asked !== was_ || handle.busy() || (asked === null && coming === null)) return;
        draft = asked = coming = null;
        if (run) draw();
      }, 1500);
    }
    if (run) draw();
  });
  view.on(KEYS, () => !mine && update());
  onOpen(() => {
    wanted = linked();
  });
  onLang(() => {
    delete legend.dataset.key;
    if (run) draw();
    else labels();
  });
  onTheme(() => run && draw());
  blank();
  watch("value", arrive);
  arrive();
}

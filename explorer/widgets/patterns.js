// The sparse patterns themselves: what one position attends to, on an image and in the connectivity matrix; who is reached in two steps, found
// by search; and what it costs. All of it is computed here, nothing is asked of the server.

import { el, segmented, svg } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { plainText } from "./lib/maps.js";
import { codesOf, grid, matrixOver, paintMatrix, place, scaled, tones } from "./lib/patternboards.js";
import { exporters, table } from "./lib/patternexport.js";
import { grown, growth, lengths, uses } from "./lib/patternfoot.js";
import { look } from "./lib/patternlook.js";
import { KINDS, USES, counted, path, reach } from "./lib/patternmath.js";
import { pointerOf } from "./lib/patternpointer.js";
import { searching } from "./lib/patternsearch.js";
import { FORMULAS, NAMES, TEXT, USE_NAMES, cardText, proof, sentence, share, times, whole } from "./lib/patternwords.js";
import { view } from "./lib/state.js";
import { onTheme } from "./lib/theme.js";

// of the address
const KEYS = ["pattern", "patternpos", "patternto", "patternside", "patternstride", "patternsummary", "patternuse"];

const NARROW = 700; // px of the panel below which one pattern stands there at a time
const GAP = 24;

const write = (node, text) => node.textContent !== text && (node.textContent = text);
const put = (node, name, text) => node.getAttribute(name) !== String(text) && node.setAttribute(name, String(text));

/** props.trained, props.sides and value: see patterns.py. */
export function mount(root, props, emit, watch) {
  let now = null; // what is looked at
  let scene = null; // the same with the preview and everything that drawing needs
  let draft = {}; // sizes of a slider under the hand
  let room = 0;
  let open = false;
  let tone = null; // the colours of the theme in view

  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const units = el("span", { class: "tfe-units" });
  const legend = el("p", { class: "tfe-legend tfe-patterns-legend" });
  const choose = segmented({ options: [], value: "", label: "", onPick: (key) => set({ pattern: key }) });
  const presets = segmented({ options: [], value: "", label: "", onPick: preset });
  const slider = (name, address) => {
    const label = el("label", { class: "tfe-label", for: `tfe-patterns-${name}` });
    const said = el("output", { for: `tfe-patterns-${name}` });
    const input = el("input", {
      class: "tfe-range", id: `tfe-patterns-${name}`, type: "range", step: "1",
      oninput: () => {
        draft = { ...draft, [name]: Number(input.value) };
        update();
      },
      onchange: () => {
        draft = {};
        set({ [address]: input.value, ...(name === "side" ? { patternpos: null, patternto: null } : {}) });
      },
    });
    return { node: el("span", { class: "tfe-patterns-slider" }, label, input, said), label, said, input };
  };
  const sliders = { side: slider("side", "patternside"), stride: slider("stride", "patternstride"),
    summary: slider("summary", "patternsummary") };
  const knobs = el("div", { class: "tfe-patterns-knobs tfe-controls" }, choose.node, ...Object.values(sliders)
    .map((one) => one.node));
  const hint = el("p", { class: "tfe-note tfe-patterns-hint" });
  const sizes = el("div", { class: "tfe-patterns-sizes tfe-controls" }, presets.node, hint);
  const columns = Object.fromEntries(KINDS.map((kind) => [kind, columnOf(kind)]));
  const board = el("div", { class: "tfe-patterns-board", tabindex: "0", role: "application" }, Object.values(columns)
    .map((one) => one.node));
  const words = el("p", { class: "tfe-words", id: "tfe-patterns-words", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll tfe-patterns-table tfe-controls", tabindex: "0", role: "region",
      hidden: true });
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  const take = el("div", { class: "tfe-patterns-take tfe-controls" });
  const head = el("div", { class: "tfe-patterns-head" }, title, units, legend);
  const figure = el("section", { class: "tfe-panel tfe-patterns-figure tfe-projectable" }, head, knobs, sizes, board,
    words, take, sheet);
  const part = (...rest) => {
    const heading = el("h3", { class: "tfe-title" });
    const unit = el("span", { class: "tfe-units" });
    const drawing = el("div", { class: "tfe-patterns-stage" });
    const said = el("p", { class: "tfe-words" });
    return { node: el("section", { class: "tfe-patterns-part" },
        el("div", { class: "tfe-patterns-head" }, heading, unit), ...rest, drawing, said), heading, unit,
      drawing, said };
  };
  const pickUse = segmented({ options: [], value: "", label: "", onPick: (key) => set({ patternuse: key }) });
  const [longer, used, larger] = [part(), part(el("div", { class: "tfe-controls" }, pickUse.node)), part()];
  const foot = el("section", { class: "tfe-panel tfe-patterns-foot tfe-projectable", tabindex: "0" }, longer.node,
    used.node, larger.node);
  board.setAttribute("aria-describedby", words.id);
  root.append(figure, foot, card);

  function columnOf(kind) {
    const name = el("h3", { class: "tfe-patterns-name" });
    const formula = el("p", { class: "tfe-patterns-formula" },
      FORMULAS[kind]
      .map(([symbol, which, rest]) => el("span", {}, el("span", { class: `tfe-patterns-mark is-${which}` }),
          el("i", { text: symbol }), rest)));
    const image = svg("svg", { class: "tfe-patterns-picture", "data-board": "grid", "aria-hidden": "true" });
    const canvas = el("canvas", { class: "tfe-patterns-canvas", "aria-hidden": "true" });
    const over = svg("svg", { class: "tfe-patterns-picture", "data-board": "matrix", "aria-hidden": "true" });
    const caption = el("p", { class: "tfe-patterns-caption" });
    const [pairs, bar, ...lines] = [el("p", { class: "tfe-patterns-pairs" }),
      el("div", { class: "tfe-patterns-bar" }, el("span")), el("p"), el("p"), el("p"), el("p")];
    const node = el("div", { class: "tfe-patterns-column", "data-kind": kind }, name, formula, image, caption,
      el("div", { class: "tfe-patterns-matrix" }, canvas, over),
      el("div", { class: "tfe-patterns-stats" }, pairs, bar, lines));
    return { node, name, formula, image, canvas, over, caption, pairs, bar: bar.firstChild, lines, painted: "" };
  }

  // ── what is looked at ──
  const read = () => look({ sides: props.sides, pick: props.value?.pick, use: props.trained.use, draft });
  let mine = false;

  function set(patch) {
    mine = true;
    try {
      view.set(patch);
    } finally {
      mine = false;
    }
    update();
  }

  function update() {
    now = read();
    draw();
  }

  function preset(key) {
    const { side, stride, summary } = props.trained;
    const own = key === "trained" ? { patternside: side, patternstride: stride, patternsummary: summary }
      : { patternside: null, patternstride: null, patternsummary: null };
    set({ ...own, patternpos: null, patternto: null });
  }

  const lockAt = (position, far) =>
    set({ patternpos: position, patternto: far !== null && far < position ? far : "none" });

  /** What was clicked: a cell of a matrix names both ends; on the image a position, and with shift the start of the path. */
  function lock(found, add) {
    const other = found.kind !== now.kind ? { pattern: found.kind } : {};
    if (found.board === undefined) set(other);
    else if (found.board === "matrix") set({ ...other, patternpos: found.query, patternto: found.key < found.query
        ? found.key : "none" });
    else if (add && found.key < now.position) set({ ...other, patternpos: now.position, patternto: found.key === now.far
        ? "none" : found.key });
    else if (!add) {
      if (other.pattern) view.set(other);
      lockAt(found.key, now.far);
    }
  }

  function step(by, event) {
    if (event?.shiftKey) {
      const from = now.far ?? now.position;
      const next = Math.max(0, Math.min(now.position - 1, from + by));
      if (next >= 0) lockAt(now.position, next);
    } else lockAt(Math.max(0, Math.min(now.length - 1, now.position + by)), now.far);
  }

  const turn = (by) => set({ pattern: KINDS[(KINDS.indexOf(now.kind) + by + KINDS.length) % KINDS.length] });
  const reset = () => {
    pointer.leave();
    set({ pattern: null, patternpos: null, patternto: null, patternuse: null });
  };

  // ── drawing ──
  const projected = (node) => document.body.classList.contains("tfe-projecting") &&
    node.classList.contains("tfe-projected");
  const search = searching((kind) => {
    if (!scene) return;
    drawMatrix(kind);
    drawFoot();
    say();
    if (open) drawTable();
    stamp();
  });

  function draw() {
    const { hover } = pointer;
    const big = projected(figure);
    const narrow = room < NARROW && !big;
    const { length, side, patterns, kind } = now;
    const previewed = hover && hover.position < length ? { position: hover.position, far: hover.far }
      : { position: now.position, far: now.far };
    const found = search.of(patterns, length, kind);
    tone ??= tones();
    const span = big ? window.innerWidth - 90 : room;
    const wide = narrow ? span : (span - 2 * GAP) / 3;
    const margin = big ? 52 : 36;
    const below = window.innerWidth > 1500 ? 392 : 426; // a wide screen takes the sentence in two lines
    const tall = big ? (window.innerHeight - below) / 2 : narrow ? 420 : 400;
    const how = scaled(Math.floor(Math.max(150, Math.min(wide - margin, tall))), length,
      Math.max(1, window.devicePixelRatio || 1), big ? 0.95 : undefined);
    const places = { grid: place({ size: how.size, count: side, big }),
      matrix: place({ size: how.size, count: length, big }) };
    const routes =
      Object.fromEntries(KINDS.map((one) => [one, previewed.far === null ? null
          : path(patterns[one], previewed.far, previewed.position)]));
    scene = { ...now, ...previewed, shown: hover?.kind ?? kind, hover, big, narrow, how, places, found,
      tones: tone, routes };
    figure.classList.toggle("is-narrow", narrow);
    for (const one of KINDS) {
      const column = columns[one];
      column.node.hidden = narrow && one !== kind;
      column.node.classList.toggle("is-here", one === scene.shown);
      if (!column.node.hidden) drawColumn(one);
    }
    say();
    drawControls();
    drawFoot();
    if (open) drawTable();
    stamp();
  }

  const rowOf = (kind) => {
    const { length, position, patterns } = scene;
    return { codes: codesOf(patterns[kind], length).subarray(position * length, position * length + position + 1),
      ...reach(patterns[kind], position) };
  };
  const axes = () => ({ query: t(TEXT.query), key: t(TEXT.key) });
  const seenOf = (kind) => ({ kind, side: scene.side, length: scene.length, position: scene.position, far: scene.far,
      route: scene.routes[kind], tones: scene.tones, names: axes() });

  const pooled = () => (scene.how.pixels < scene.length
    ? ` · ${t(TEXT.pooled, { n: times(scene.length / scene.how.pixels) })}` : "");

  function drawColumn(kind) {
    const column = columns[kind];
    const { places, how, length } = scene;
    for (const [picture, at] of [[column.image, places.grid], [column.over, places.matrix]]) {
      put(picture, "viewBox", `0 0 ${at.width} ${at.height}`);
      put(picture, "width", at.width);
      put(picture, "height", at.height);
    }
    column.image.replaceChildren(...grid({ ...seenOf(kind), ...rowOf(kind) }, places.grid));
    column.over.replaceChildren(...matrixOver(seenOf(kind), places.matrix));
    Object.assign(column.canvas.style, { left: `${places.matrix.left}px`, top: `${places.matrix.top}px`,
        width: `${how.size}px`, height: `${how.size}px` });
    drawMatrix(kind);
    write(column.name, t(NAMES[kind]));
    write(column.caption, `${t(TEXT.matrix)}, ${length} × ${length}${pooled()}`);
    const [pairs, ...lines] = statsOf(kind);
    write(column.pairs, pairs);
    lines.forEach((line, n) => write(column.lines[n], line));
    column.bar.style.width = `${(100 * counted(scene.patterns[kind], length).pairs) / ((length * (length + 1)) / 2)}%`;
    column.node.style.setProperty("--at", `${places.grid.left}px`);
    column.node.style.setProperty("--size", `${how.size}px`);
  }

  /** The numbers under a column: pairs, their shares, the busiest query, and what twice the side would take. */
  function statsOf(kind) {
    const { length, side, patterns } = scene;
    const { pairs, busiest } = counted(patterns[kind], length);
    const twice = counted(grown(patterns[kind], side, 2 * side), 4 * length).pairs / pairs;
    return [
      `${whole(pairs)} ${t(TEXT.pairs)}`,
      `${share(pairs, length ** 2)} ${t(TEXT.ofSquare, { n: whole(length ** 2) })}`,
      `${share(pairs, (length * (length + 1)) / 2)} ${t(TEXT.ofCausal, { n: whole((length * (length + 1)) / 2) })}`,
      `${t(TEXT.busiest, { n: whole(busiest), of: whole(length) })} ${t(TEXT.roots, { n: times(busiest / side) })}`,
      t(TEXT.twice, { n: times(twice) }),
    ];
  }

  function drawMatrix(kind) {
    const { patterns, length, how, found, tones: tone, narrow } = scene;
    if (narrow && kind !== scene.kind) return;
    const { steps, done } = found[kind];
    const name = [length, patterns[kind].l, patterns[kind].c, done, how.pixels, Object.values(tone)].join();
    if (columns[kind].painted === name) return;
    columns[kind].painted = name;
    paintMatrix(columns[kind].canvas, { kind, length, steps, codes: codesOf(patterns[kind], length),
        tones: tone }, how);
  }

  const told = () => sentence({ ...seenOf(scene.shown), ...rowOf(scene.shown) });

  function say() {
    const list = told();
    if (words.textContent !== plainText(list))
      words.replaceChildren(...list.map(({ text, role }) =>
        (role ? el("b", { class: role === "strong" ? null : role === "second" ? "tfe-patterns-second" : `tfe-${role}`,
            text }) : document.createTextNode(text))));
  }

  function drawControls() {
    const { side, length, l, c, kind, narrow } = scene;
    write(title, t(TEXT.title));
    write(units, t(TEXT.units, { side, n: whole(length), l, c }) + (scene.big ? pooled() : ""));
    write(hint, t(TEXT.hint));
    put(figure, "data-question", t(TEXT.question));
    put(board, "aria-label", t(TEXT.board));
    offer(choose, KINDS.map((one) => ({ key: one, label: t(NAMES[one]) })), kind, t(TEXT.kind));
    const { trained } = props;
    const same = [side, l, c].join() === [trained.side, trained.stride, trained.summary].join();
    const small = ["patternside", "patternstride", "patternsummary"].every((key) => view.get(key) === null) &&
      !Object.keys(draft).length;
    const first = look({ sides: props.sides, pick: props.value?.pick, use: trained.use, blank: true });
    const offered = [{ key: "small", label: `${first.side} × ${first.side}` },
      { key: "trained", label: t(TEXT.trained, { side: trained.side }) }];
    offer(presets, offered, same ? "trained" : small ? "small" : "", t(TEXT.sizes));
    const ranges = { side: [...props.sides, side], stride: [1, Math.max(2 * side, l), l], summary: [1, l, c] };
    for (const [name, [low, high, value]] of Object.entries(ranges)) {
      const { input, said, label } = sliders[name];
      put(input, "min", low);
      put(input, "max", high);
      if (input.value !== String(value)) input.value = String(value);
      input.style.setProperty("--at", `${(100 * (value - low)) / Math.max(1, high - low)}%`);
      write(said, String(value));
      write(label, t(TEXT[name]));
    }
    const missing = KINDS.some((one) => scene.found[one].done === length &&
      (scene.found[one].missing || scene.found[one].tally.length > 3));
    const entries = [["own", TEXT.itself], ["first", TEXT.first], ["second", TEXT.second], ["both", TEXT.both],
      ["two", TEXT.two], ...(missing ? [["none", TEXT.none]] : []), ["later", TEXT.later]];
    const shown = [document.documentElement.lang, missing, narrow].join();
    if (legend.dataset.shown !== shown)
      legend.replaceChildren(...entries.map(([name, text]) =>
        el("span", {}, el("span", { class: `tfe-patterns-mark is-${name}` }), t(text))));
    legend.dataset.shown = shown;
  }

  const offers = new Map(); // what each choice offers: its buttons are made anew only where that changes
  function offer(choice, options, value, label) {
    const said = JSON.stringify(options);
    choice.set({ value, label, ...(offers.get(choice) === said ? {} : { options }) });
    offers.set(choice, said);
  }

  function drawFoot() {
    const big = projected(foot);
    const { length, side, l, c, patterns, found, kind, use, tones: tone, narrow } = scene;
    const { position } = now; // not the one that is only pointed at: what stands here keeps still under the pointer
    const shown = [length, l, c, position, kind, use, big, narrow, room, window.innerWidth,
      document.documentElement.lang, Object.values(tone), KINDS.map((one) => found[one].done)].join();
    if (foot.dataset.shown === shown) return;
    foot.dataset.shown = shown;
    const span = big ? window.innerWidth - 90 : room;
    const width = Math.floor(narrow && !big ? span : (span - 2 * GAP) / 3);
    put(foot, "data-question", t(TEXT.longerQuestion));
    put(foot, "aria-label", t(TEXT.longerQuestion));
    foot.classList.toggle("is-narrow", narrow && !big);
    write(longer.heading, t(TEXT.longer));
    write(longer.unit, t(TEXT.longerUnits));
    longer.drawing.replaceChildren(lengths({ rows: KINDS.map((one) => ({ kind: one, found: found[one], length })),
          shown: kind, tones: tone }, { width, big }));
    write(longer.said, proof({ kind, length, found: found[kind] }));
    write(used.heading, t(TEXT.uses));
    write(used.unit, t(NAMES[kind]));
    offer(pickUse, USES.map((one) => ({ key: one, label: t(USE_NAMES[one]) })), use, t(TEXT.usesLabel));
    const { layers, heads } = props.trained;
    const { drawing, counts } = uses({ pattern: patterns[kind], use, position, layers, heads, tones: tone },
      { width, big });
    used.drawing.replaceChildren(drawing);
    const k = counts.indexOf(position + 1) + 1;
    const at = { i: whole(position), of: whole(position + 1), k: k || layers, n: whole(counts.at(-1)) };
    write(used.said, t(k ? TEXT.sayUse[kind === "full" ? "full" : use] : TEXT.sayUse.short, at));
    write(larger.heading, t(TEXT.growth));
    write(larger.unit, t(TEXT.growthUnits));
    larger.drawing.replaceChildren(growth({ l, c, side, shown: kind }, { width, big }));
    const ratio =
      Object.fromEntries(KINDS.map((one) =>
        [one, times(counted(grown(patterns[one], side, 2 * side), 4 * length).pairs / counted(patterns[one],
            length).pairs)]));
    write(larger.said, t(TEXT.sayGrowth, { a: side, b: 2 * side, ...ratio }));
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
        el("tbody", {},
          lines.map((cells) =>
            el("tr", {}, cells.map((cell, n) => el(n ? "td" : "th", { scope: n ? null : "row", text: cell }))))),
      ),
    );
  }

  function stamp() {
    const { shown, side, l, c, position, far, use, found, length } = scene;
    root.dataset.drawn = [shown, side, l, c, position, far ?? "none", use,
      KINDS.every((one) => found[one].done === length) ? "proved" : "searching"].join(" ");
  }

  function leavingNow() {
    search.finish();
    pointer.leave();
    draw();
    return {
      ...scene,
      words: `${plainText(told())} ${proof({ kind: scene.shown, length: scene.length, found: scene.found[scene.shown] })}`,
      legend: [["own", "query"], ["first", "first"], ["second", "second"], ["both", "first", "second"], ["two", "two"],
        ["later", "later"]]
        .map(([name, colour, half]) => [t(TEXT[name === "own" ? "itself" : name]), scene.tones[colour], half &&
          scene.tones[half]]),
      columns: KINDS.map((kind) =>
        ({ seen: { ...seenOf(kind), ...rowOf(kind) }, names: axes(), stats: statsOf(kind) })),
    };
  }

  const pointer = pointerOf({
    board, card, draw, lock,
    now: () => scene && { position: now.position, far: now.far, places: scene.places },
    say: ({ kind, query, key }) =>
      cardText({ kind, side: now.side, query, key, route: key < query ? path(now.patterns[kind], key, query) : null,
        code: codesOf(now.patterns[kind], now.length)[query * now.length + key] }),
  });

  // ── alive ──
  const actions = {
    ArrowLeft: (event) => step(-1, event),
    ArrowRight: (event) => step(1, event),
    PageUp: () => (document.body.classList.contains("tfe-projecting") ? step(-1) : false),
    PageDown: () => (document.body.classList.contains("tfe-projecting") ? step(1) : false),
    ArrowUp: () => turn(-1),
    ArrowDown: () => turn(1),
    Escape: () => (document.body.classList.contains("tfe-projecting") ? false : reset()),
  };
  keys(root, actions);
  take.append(
    exportBar(exporters(leavingNow), {
      onTable(yes) {
        open = yes;
        sheet.hidden = !yes;
        if (yes) drawTable();
      },
    }),
  );
  const measure = () => {
    const { paddingLeft, paddingRight } = getComputedStyle(figure);
    return Math.floor(figure.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
  };
  room = measure() || 960;
  new ResizeObserver(() => {
    const next = measure();
    if (next <= 0 || next === room) return;
    room = next;
    draw();
  }).observe(figure);
  let was = "";
  new MutationObserver(() => {
    const next = [projected(figure), projected(foot)].join();
    if (next === was) return;
    was = next;
    pointer.leave();
    requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => document.body.classList.contains("tfe-projecting") && draw());
  view.on(KEYS, () => !mine && update());
  onLang(draw);
  onTheme(() => {
    tone = null;
    draw();
  });
  watch("value", update);
  update();
}

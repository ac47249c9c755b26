// Hash, sort, chunk, attend, back in place: five steps on the visitor's own sequence. What follows from the buckets is worked out here;
// rotated vectors and weights of a head and round are asked for as somebody looks.

import { el, segmented } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { dense, row as rowOf } from "./lib/hashnumbers.js";
import { exporters, table as tableOf } from "./lib/hashexport.js";
import { headsOf } from "./lib/hashheads.js";
import { palette } from "./lib/hashpen.js";
import { placesOf } from "./lib/hashplaces.js";
import { pointerOf } from "./lib/hashpointer.js";
import { looksOf, runOf, source } from "./lib/hashrun.js";
import { drawing, stageOf } from "./lib/hashstage.js";
import { TEXT, comparedBy, metBy, plain, roundsText, sentence } from "./lib/hashwords.js";
import { keys } from "./lib/keys.js";
import { lang, onLang, t } from "./lib/lang.js";
import { table } from "./lib/raster.js";
import { spoken } from "./lib/spoken.js";
import { headIn, judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { dark, onTheme } from "./lib/theme.js";

const NARROW = 620; // px of the panel below which things stand one under the other
const HIGH = 440; // px of the stage, where a step does not need more
const KEYS = ["model", "head", "pos", "hashingstep", "hashinground", "hashingplane"];
const STEPS = 5;

const write = (node, text) => node.textContent !== text && (node.textContent = text);
const put = (node, name, text) => node.getAttribute(name) !== text && node.setAttribute(name, text);

export function mount(root, props, emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const units = el("span", { class: "tfe-units" });
  const legend = el("p", { class: "tfe-legend tfe-hashing-legend" });
  const modelPick = segmented({ options: [], value: "", label: "", onPick: (key) => set({ model: key, head: null }) });
  const roundName = el("span", { class: "tfe-label" });
  const roundPick = segmented({ options: [], value: "", label: "", onPick: (key) => set(key === "all" ? { hashinground: key, hashingstep: STEPS } : { hashinground: key }) });
  const planeName = el("span", { class: "tfe-label" });
  const planePick = segmented({ options: [], value: "", label: "", onPick: (key) => set({ hashingplane: key === "first" ? key : null }) });
  const planeRow = el("div", { class: "tfe-row tight" }, planeName, planePick.node);
  const roundRow = el("div", { class: "tfe-row tight" }, roundName, roundPick.node);
  const picks = el("div", { class: "tfe-hashing-picks tfe-controls" }, modelPick.node, roundRow, planeRow);
  const stops = Array.from({ length: STEPS }, (_, n) => {
    const name = el("span", { class: "tfe-hashing-stepname" });
    return { name, node: el("button", { type: "button", class: "tfe-hashing-step", "data-step": n + 1, onclick: () => set({ hashingstep: n + 1 }) }, el("span", { class: "tfe-hashing-number", text: n + 1 }), name) };
  });
  const forth = el("button", { type: "button", class: "tfe-button small tfe-hashing-forth", onclick: () => step(1) });
  const rail = el("div", { class: "tfe-hashing-rail tfe-controls", role: "group" }, el("ol", { class: "tfe-hashing-steps" }, stops.map(({ node }) => el("li", {}, node))), forth);
  const where = el("p", { class: "tfe-hashing-where" });
  const canvas = el("canvas", { "aria-hidden": "true" });
  const board = el("div", { class: "tfe-hashing-board", tabindex: "0", role: "application" }, canvas);
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-hashing-words" });
  const headsName = el("span", { class: "tfe-label" });
  const tiles = el("div", { class: "tfe-hashing-heads", role: "group" });
  const headsRow = el("div", { class: "tfe-hashing-headsrow tfe-controls" }, headsName, tiles);
  const note = el("p", { class: "tfe-note tfe-hashing-note tfe-controls" });
  const grammar = el("p", { class: "tfe-note tfe-hashing-grammar tfe-controls" });
  const take = el("div", { class: "tfe-hashing-take tfe-controls" });
  const sheet = el("div", { class: "tfe-hashing-table tfe-scroll tfe-controls", tabindex: "0", role: "region", hidden: true });
  const body = el("div", { class: "tfe-hashing-body" }, rail, grammar, where, board, words, note, headsRow, take, sheet);
  const full = el("p", { class: "tfe-hashing-full tfe-lead", hidden: true });
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const panel = el("section", { class: "tfe-panel tfe-hashing-panel" }, el("div", { class: "tfe-hashing-head" }, title, units, legend), picks, empty, full, body);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.classList.add("tfe-projectable");
  root.append(panel, card);
  board.setAttribute("aria-describedby", words.id);

  // ── state ──
  let run = null;
  let coming = null; // a run under way
  let now = null; // what is looked at, read from the address and completed
  let scene = null;
  let colors = null;
  let mine = false; // the change of the address under way is our own
  let arriving = 0;
  let room = 0;
  let options = "";
  let travelled = ""; // what the tokens' places follow from
  const cache = {};
  const colours = table(props.scales.weights);
  const linked = () => ["pos", "head"].some((key) => view.get(key) !== null);
  let wanted = linked() && request.get() !== "";
  const looks = looksOf(emit.look, () => run && draw());
  const stage = stageOf(canvas, (moving) => root.toggleAttribute("data-moving", moving));
  const heads = headsOf(tiles, { pick: (layer, head) => set({ head: `${layer + 1}.${head + 1}` }) });

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;

  /** What is looked at: the address, completed by what is telling and by what exists. */
  function read() {
    const pick = run.pick ?? {};
    const model = [view.get("model"), pick.model].map((key) => run.models.find((one) => one.key === key)).find(Boolean) ?? run.models[0];
    const within = (text, top, otherwise) => {
      const n = Number.parseInt(text ?? "", 10);
      return Math.max(1, Math.min(top, Number.isFinite(n) ? n : otherwise));
    };
    const upTo = (top) => (text) => /^\d+$/.test(text) && text >= 1 && text <= top;
    const looks = { hashingstep: upTo(STEPS), hashinground: (text) => text === "all" || upTo(Math.max(1, model.rounds))(text) };
    judge({ model: (key) => run.models.some((one) => one.key === key), head: headIn(model.layers, model.heads), pos: positionsIn(run.length), ...looks }, run.query);
    const told = view.get("head");
    const [l, h] = (/^\d+\.\d+$/.test(told ?? "") ? told : (pick.head ?? "1.1")).split(".");
    const text = view.get("pos");
    const listed = text === "none" ? [] : text === null ? [pick.pos ?? run.length - 1] : text.split(",").map((one) => Number.parseInt(one, 10));
    const at = within(view.get("hashingstep"), STEPS, pick.step ?? 1);
    const wish = view.get("hashinground");
    const shown = within(wish, Math.max(1, model.rounds), pick.round ?? 1) - 1;
    return {
      model,
      layer: within(l, model.layers, 1) - 1,
      head: within(h, model.heads, 1) - 1,
      locked: [...new Set(listed)].filter((one) => one >= 0 && one < run.length),
      step: at,
      shown, // the round whose order is drawn
      turn: wish === "all" && at === STEPS && model.rounds > 1 ? -1 : shown,
      plane: view.get("hashingplane") === "first" ? "first" : "deciding",
    };
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
  const step = (by) => run && set({ hashingstep: Math.max(1, Math.min(STEPS, now.step + by)) });
  const play = () => run && set({ hashingstep: (now.step % STEPS) + 1 });
  const last = () => now.locked.at(-1) ?? null;

  function lock(position, add = false) {
    wanted = false;
    const others = add ? now.locked.filter((one) => one !== position) : [];
    set({ pos: [...others, position].join(",") });
  }

  function along(by) {
    if (!run) return;
    lock(Math.max(0, Math.min(run.length - 1, last() === null ? (by > 0 ? 0 : run.length - 1) : last() + by)));
  }

  function stepHead(by) {
    if (!run) return;
    const { layers, heads: most } = now.model;
    const next = (now.layer * most + now.head + by + layers * most) % (layers * most);
    set({ head: `${Math.floor(next / most) + 1}.${(next % most) + 1}` });
  }

  function reset() {
    pointer.leave();
    wanted = false;
    set(Object.fromEntries(KEYS.map((key) => [key, null])));
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
    if (!next?.models?.length) {
      run = null;
      blank();
      return;
    }
    let made;
    try {
      made = await runOf(next);
    } catch (problem) {
      if (turn === arriving) write(note, t({ en: `The buckets did not arrive: ${problem.message}.`, zh: `桶未能送达：${problem.message}。` }));
      return;
    }
    if (turn !== arriving) return; // a newer update overtook this one
    if (next.looked) await looks.take(next.looked);
    if (turn !== arriving) return;
    const was = run;
    run = made;
    if (was && was.query !== run.query) {
      pointer.leave();
      // Another sequence: a lock of the old one tells nothing here, unless a link or a step named it.
      if (!wanted && was.tokens.join("") !== run.tokens.join("")) {
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
    body.hidden = picks.hidden = full.hidden = legend.hidden = units.hidden = true;
    empty.hidden = false;
    stage.forget();
    labels();
  }

  /** Everything that drawing needs. @param {number} width of the stage in pixels */
  function sceneOf(width, big, pointed) {
    const { model, layer, head, shown, turn, locked } = now;
    const rounds = model.rounded(layer, head);
    const round = rounds[shown];
    const anchor = locked.at(-1) ?? null;
    const preview = pointed ? (pointed.pos ?? pointed.query ?? null) : pointed === null ? pointer.elsewhere : null;
    const position = preview !== null && preview < run.length ? preview : anchor;
    const address = { query: run.query, model: model.key, head: `${layer + 1}.${head + 1}` };
    const detail = looks.get({ ...address, round: shown + 1 });
    const seen = model.seen(layer, head, turn);
    const version = [run.query, model.key, layer, head, turn].join();
    const matrix = now.step === STEPS ? matrixOf(version, seen, round, turn < 0 ? looks.get({ ...address, round: 0 }) : detail, turn) : null;
    const matrixRow = (query) => (matrix ? matrix.subarray(query * run.length, (query + 1) * run.length) : detail?.weights && now.step < STEPS ? rowOf(round, detail.weights.data, query) : null);
    const base = {
      ...now, run, rounds, round, anchor, position, detail, seen, matrix, matrixRow, cache, address, version: `${version} ${Boolean(matrix)}`,
      partner: source(run, position), row: position === null ? null : matrixRow(position), compare: comparedBy(seen, run.length), met: run.word ? metBy(run, rounds, turn) : 0,
      hover: pointed || null, colors, table: colours, theme: dark(), big, narrow: width < NARROW && !big, width, size: big ? 20 : 12,
    };
    base.high = big ? Math.max(380, window.innerHeight - 316) : base.narrow ? 400 : HIGH;
    base.places = placesOf({ ...base, position: now.step === 1 ? anchor : position });
    return base;
  }

  /** (query · key) weights, NaN where nothing was computed; null while they are not here. */
  function matrixOf(version, seen, round, look, turn) {
    if (!look?.weights) return null;
    if (cache.matrixOf !== version) {
      cache.matrixOf = version;
      cache.matrix = turn < 0 ? look.weights.data.map((w, at) => (seen[at] ? w : Number.NaN)) : dense(round, look.weights.data);
    }
    return cache.matrix;
  }

  function draw() {
    const { model } = now;
    colors ??= palette();
    empty.hidden = true;
    picks.hidden = legend.hidden = units.hidden = false;
    const hashes = model.rounds > 0;
    full.hidden = hashes;
    body.hidden = !hashes;
    if (!hashes) {
      stage.forget();
      travelled = "";
      labels();
      root.dataset.drawn = `${model.key} none`;
      return;
    }
    const big = projecting();
    const width = big ? Math.min(1800, window.innerWidth - 92) : room;
    scene = sceneOf(width, big, pointer.hover);
    const address = { ...scene.address, round: now.turn < 0 ? 0 : now.shown + 1 };
    looks.want(address);
    const waits = !looks.get(address);
    panel.classList.toggle("is-narrow", scene.narrow);
    body.classList.toggle("tfe-stale", run.state === "stale");
    body.classList.toggle("is-waiting", coming !== null || (waits && now.step === 1));
    // The plane shows nothing before its vectors are there: the last picture stays, dimmed.
    if (!(now.step === 1 && !scene.detail && travelled)) {
      const next = [run.query, model.key, now.layer, now.head, now.shown, now.step, now.step === 1 ? [scene.anchor, now.plane, Boolean(scene.detail)].join() : ""].join();
      stage.show(scene, travelled !== "" && next !== travelled);
      travelled = next;
    }
    heads.draw(scene);
    const parts = sentence(scene);
    if (words.textContent !== plain(parts)) words.replaceChildren(...spoken(parts));
    if (!sheet.hidden) drawTable();
    labels();
    root.dataset.drawn = `${model.key} ${now.layer + 1}.${now.head + 1} ${scene.position ?? "none"} ${now.step} ${now.turn < 0 ? "all" : now.shown + 1} ${waits ? "waits" : "looked"}`;
  }

  function labels() {
    write(title, t(TEXT.title));
    write(empty, coming ? t(TEXT.growingFirst, { n: coming.done, of: coming.of }) : t(props.empty ?? TEXT.empty));
    put(root, "data-question", t(TEXT.question));
    if (!run || !now) return;
    const { model } = now;
    write(units, model.rounds ? t(TEXT.units, { rounds: roundsText(model.rounds), kinds: model.kinds, chunk: model.chunk }) : "");
    choices(model);
    if (!model.rounds) {
      const other = run.models.find((one) => one.rounds);
      const pairs = ((run.length * (run.length - 1)) / 2).toLocaleString("en");
      write(full, t(TEXT.full, { name: t(model.name), n: run.length, pairs }) + (other ? (lang() === "zh" ? "" : " ") + t(TEXT.fullOther, { name: t(other.name) }) : ""));
      legend.replaceChildren();
      delete legend.dataset.key;
      return;
    }
    const name = (n) => t({ en: TEXT.steps.en[n], zh: TEXT.steps.zh[n] });
    stops.forEach(({ node, name: label }, n) => {
      write(label, name(n));
      put(node, "aria-label", t(TEXT.stepN, { n: n + 1, name: name(n) }));
      put(node, "aria-current", n + 1 === now.step ? "step" : "false");
      node.classList.toggle("is-done", n + 1 < now.step);
    });
    write(where, `${now.step} · ${name(now.step - 1)}`);
    put(rail, "aria-label", t(TEXT.rail));
    write(forth, t(TEXT.next));
    forth.disabled = now.step === STEPS;
    put(board, "aria-label", t(TEXT.board, { n: now.step, name: name(now.step - 1) }));
    write(grammar, t(TEXT.keys));
    write(headsName, t(run.word ? TEXT.headsWord : TEXT.heads));
    const remarks = [];
    const half = model.kinds / 2;
    if (coming) remarks.push(t(TEXT.growing, { n: coming.done, of: coming.of }));
    if (run.state === "stale") remarks.push(t(TEXT.from));
    if (now.step === 1 && half > 2) remarks.push(t(TEXT.others, { n: half - 2 }));
    if (now.step === 2 && !scene.places.steps[1].numbers) remarks.push(t(TEXT.small));
    const address = { ...scene.address, round: now.turn < 0 ? 0 : now.shown + 1 };
    const trouble = looks.trouble(address);
    if (trouble) remarks.push(t(trouble));
    else if (!looks.get(address)) remarks.push(t(TEXT.waits));
    write(note, remarks.join(lang() === "zh" ? "" : " "));
    roles();
  }

  /** The segmented choices: built anew only where there is something else to choose from. */
  function choices(model) {
    const key = [lang(), model.rounds, run.models.map((one) => one.key)].join();
    if (key !== options) {
      options = key;
      modelPick.set({ options: run.models.map((one) => ({ key: one.key, label: t(one.name) })), label: t(TEXT.model) });
      const numbers = Array.from({ length: model.rounds }, (_, n) => ({ key: String(n + 1), label: String(n + 1) }));
      roundPick.set({ options: [...numbers, ...(model.rounds > 1 ? [{ key: "all", label: t(TEXT.all) }] : [])], label: t(TEXT.round) });
      planePick.set({ options: ["deciding", "first"].map((one, n) => ({ key: one, label: t({ en: TEXT.planes.en[n], zh: TEXT.planes.zh[n] }) })), label: t(TEXT.plane) });
      write(roundName, t(TEXT.round));
      write(planeName, t(TEXT.plane));
    }
    modelPick.set({ value: model.key });
    roundPick.set({ value: now.turn < 0 ? "all" : String(now.shown + 1) });
    planePick.set({ value: now.plane });
    modelPick.node.hidden = run.models.length < 2;
    roundRow.hidden = model.rounds < 1;
    planeRow.hidden = now.step !== 1 || model.kinds <= 4 || model.rounds < 1;
  }

  function roles() {
    const key = [lang(), now.step, run.word].join();
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    const entry = (role, text) => el("span", { class: `tfe-${role}` }, el("span", { class: "swatch" }), text);
    const sets = el("span", {}, el("span", { class: "tfe-hashing-set", "aria-hidden": "true" }, [1, 2, 3, 4].map((n) => el("i", { style: { background: `var(--cat-${n})` } }))), t(TEXT.legendBucket));
    legend.replaceChildren(entry("query", t(TEXT.legendAsks)), entry("key", t(run.word ? TEXT.legendLetter : TEXT.legendKey)), now.step > 3 ? el("span", {}, t(TEXT.legendWeight), el("span", { class: "tfe-scale" }), "1") : sets);
  }

  function drawTable() {
    const [names, ...lines] = tableOf(scene);
    put(sheet, "aria-label", t(TEXT.caption));
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: t(TEXT.caption) }),
        el("thead", {}, el("tr", {}, names.map((one) => el("th", { scope: "col", text: one })))),
        el("tbody", {}, lines.map((cells, i) => el("tr", {}, cells.map((cell, c) => el(c ? "td" : "th", { scope: c ? null : "row", class: i === scene.position ? "here" : null, text: cell }))))),
      ),
    );
  }

  const pointer = pointerOf({
    canvas, card, draw, lock,
    scene: () => (run && now?.model.rounds ? scene : null),
    resting: () => !root.hasAttribute("data-moving"),
    shareOf(turn) {
      const { count, of } = comparedBy(now.model.seen(now.layer, now.head, turn), run.length);
      return count / of;
    },
    round: (turn) => set({ hashinground: turn < 0 ? "all" : turn + 1 }),
  });

  // ── alive ──
  keys(root, {
    ArrowLeft: (event) => (event.shiftKey ? along(-1) : step(-1)),
    ArrowRight: (event) => (event.shiftKey ? along(1) : step(1)),
    PageUp: () => (projecting() ? step(-1) : false),
    PageDown: () => (projecting() ? step(1) : false),
    ArrowUp: () => stepHead(-1),
    ArrowDown: () => stepHead(1),
    " ": () => play(),
    Escape: () => (projecting() || !run ? false : reset()),
  });
  take.append(
    exportBar(
      exporters((width) => {
        if (!run || !now.model.rounds) return null;
        const made = sceneOf(width, false, undefined);
        return { ...made, words: plain(sentence(made)) };
      }, drawing),
      {
        onTable(open) {
          sheet.hidden = !open;
          if (run && scene) draw();
        },
      },
    ),
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
  view.on(KEYS, () => !mine && update());
  onOpen(() => {
    wanted = linked();
  });
  onLang(() => {
    options = "";
    delete legend.dataset.key;
    if (run) draw();
    else labels();
  });
  onTheme(() => {
    colors = null;
    if (run) draw();
  });
  blank();
  watch("value", arrive);
  arrive();
}

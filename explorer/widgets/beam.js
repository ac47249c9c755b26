// How was this translation searched for? The tree of hypotheses grows step by step; α ranks the finished ones anew without a new run.

import { FATES, tree } from "./lib/beamtree.js";
import { SIZES, draw as drawing } from "./lib/beamdraw.js";
import { clear, el, segmented } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { folded } from "./lib/folded.js";
import { keys, projecting } from "./lib/keys.js";
import { t } from "./lib/lang.js";
import { number, ordinal, parts, plainText, shown } from "./lib/maps.js";
import { judge, positionsIn, request, view } from "./lib/state.js";
import { TEXT } from "./lib/beamwords.js";
import { hovering, spoken } from "./lib/spoken.js";

const PACE = 700; // milliseconds a step while it plays
const MOST = 2; // the largest α that the server's search holds

/** props: none. value: see beam.py. In the address: beam (open), btree ("4" or "4.endless"), bstep, bnode, balpha. */
export function mount(root, props, emit, watch) {
  let value = null;
  let it = null;
  let playing = 0;

  // what is looked at
  const asked = () => {
    const found = /^([1-8])(\.endless)?$/.exec(view.get("btree") ?? "");
    return found ? { beam: Number(found[1]), endless: Boolean(found[2]) } : null;
  };
  const alpha = () => {
    const given = Number.parseFloat(view.get("balpha") ?? "");
    return given >= 0 && given <= MOST ? given : value.alpha;
  };
  const end = () => it.outcome(alpha());
  const now = () => {
    const given = Number.parseInt(view.get("bstep") ?? "", 10);
    const { last } = end();
    return given >= 0 && given < last ? given : last;
  };
  const locked = () => {
    const node = Number.parseInt(view.get("bnode") ?? "", 10);
    return node > 0 && node < value.step.length && value.step[node] <= now() ? node : null;
  };

  // controls
  const width = segmented({ options: [], value: "", label: "", onPick: (beam) => ask({ beam: Number(beam) }) });
  const may = segmented({ options: [], value: "", label: "", onPick: (key) => ask({ endless: key === "forbidden" }) });
  const slope = el("input", { type: "range", class: "tfe-range", min: 0, max: MOST, step: 0.1, oninput: () => view.set({ balpha: slope.value }) });
  const slopeSays = el("output", { class: "tfe-label" });
  const time = el("input", { type: "range", class: "tfe-range", min: 0, step: 1, oninput: () => go(Number(time.value)) });
  const timeSays = el("output", { class: "tfe-label" });
  const play = el("button", { type: "button", class: "tfe-button small tfe-beam-play", onclick: () => (playing ? rest() : run()) });
  const label = () => el("span", { class: "tfe-label" });
  const [widthName, mayName, slopeName, timeName] = [label(), label(), label(), label()];
  const knobs = el(
    "div",
    { class: "tfe-beam-knobs tfe-controls" },
    el("div", { class: "tfe-row tight" }, widthName, width.node),
    el("div", { class: "tfe-row tight" }, mayName, may.node),
    el("label", { class: "tfe-row tight tfe-beam-slide" }, slopeName, slope, slopeSays),
  );
  const transport = el("div", { class: "tfe-row tight tfe-controls tfe-beam-time" }, play, el("label", { class: "tfe-row tight tfe-beam-slide" }, timeName, time, timeSays));

  // the figure
  const title = el("h3", { class: "tfe-title" });
  const legend = el("div", { class: "tfe-legend" });
  const board = el("div", { class: "tfe-beam-board tfe-scroll", tabindex: "0", role: "application" });
  const detail = el("p", { class: "tfe-note tfe-beam-detail", "aria-live": "polite" });
  const words = el("p", { class: "tfe-words", id: "tfe-beam-words" });
  const ending = el("div", { class: "tfe-beam-ending" });
  const figure = el("figure", { class: "tfe-beam-figure tfe-projectable" }, el("div", { class: "tfe-row apart" }, title, legend), board, detail, words, ending);
  const guesses = el("div", { class: "tfe-scroll", tabindex: "0", role: "region" });
  const note = el("p", { class: "tfe-note" });
  const sheet = el("div", { class: "tfe-scroll tfe-beam-sheet", tabindex: "0", role: "region", hidden: true });
  board.setAttribute("aria-describedby", words.id);
  const take = exportBar(
    {
      ...leaving(() => value && { drawing: board.querySelector("svg"), title: t(TEXT.title), sentence: words.textContent, name: named(), more: listed() }),
      CSV: () => save(fileName(named(), "csv"), csv(rows()), "text/csv"),
      NPZ: () => save(fileName(named(), "npz"), numbers()),
    },
    { onTable: (open) => ((sheet.hidden = !open), paint()) },
  );
  const named = () => ["beam", value.beam, value.endless ? "endless" : ""];

  function ask(change) {
    const { beam, endless } = { ...(value ?? {}), ...change };
    rest();
    view.set({ btree: `${beam}${endless ? ".endless" : ""}`, bstep: null, bnode: null });
    panel.ask();
  }

  // time
  const go = (step) => view.set({ bstep: step >= end().last ? null : Math.max(0, step) });
  function run() {
    if (now() >= end().last) view.set({ bstep: 0 });
    const next = () => {
      go(now() + 1);
      if (now() >= end().last) rest();
    };
    playing = setInterval(next, PACE);
    paint();
  }
  function rest() {
    clearInterval(playing);
    playing = 0;
    if (it) play.textContent = t(TEXT.play);
  }

  function move(by) {
    const column = it.at[now()];
    const here = column.indexOf(locked());
    view.set({ bnode: column[here < 0 ? 0 : Math.max(0, Math.min(column.length - 1, here + by))] || null });
  }

  function draw(next) {
    if (next !== value) {
      value = next;
      it = tree(value);
      rest();
    }
    paint();
  }

  function paint() {
    if (!value) return;
    judge({ btree: () => asked() !== null, balpha: (text) => Number(text) >= 0 && Number(text) <= MOST, bnode: positionsIn(value.step.length) }, request.get());
    const { last, ranking } = end();
    judge({ bstep: positionsIn(last + 1) }, request.get());
    const a = alpha();
    const step = now();
    const node = locked();
    const leading = it.held(step, a)[0] ?? it.at[step].find((each) => value.fate[each] === FATES.kept) ?? 0;
    const state = it.state(step, a);
    title.textContent = t(value.endless ? TEXT.endlessTitle : TEXT.title);
    const picked = (segment, name, key, options) => segment.set({ label: t(name), value: key, options });
    picked(width, TEXT.beam, String(value.beam), Array.from({ length: 8 }, (_, i) => ({ key: String(i + 1), label: String(i + 1) })));
    picked(may, TEXT.stop, value.endless ? "forbidden" : "allowed", ["allowed", "forbidden"].map((key) => ({ key, label: t(TEXT[key]) })));
    for (const [node_, name] of [[widthName, TEXT.beam], [mayName, TEXT.stop], [slopeName, TEXT.alpha], [timeName, TEXT.step]]) node_.textContent = t(name);
    slope.value = a;
    slope.style.setProperty("--at", `${(a / MOST) * 100}%`);
    slopeSays.textContent = a.toFixed(1);
    time.max = last;
    time.value = step;
    time.style.setProperty("--at", `${(step / last) * 100}%`);
    timeSays.textContent = `${step} / ${last}`;
    play.textContent = t(playing ? TEXT.pause : TEXT.play);

    const line = it.path(node ?? leading);
    const said = sentence({ step, last, ranking, a });
    const picture = drawing(value, it, {
      now: step,
      last,
      alpha: a,
      state,
      best: new Set(it.path(leading)),
      greedy: new Set(value.greedy),
      locked: node,
      line: [0, ...line],
      label: `${t(TEXT.title)} ${plainText(said)}`,
      texts: {
        step: t(TEXT.step),
        rank: t(TEXT.rank),
        stop: t(TEXT.chance, { text: soFar(value.fate[node ?? leading] === FATES.finished ? value.parent[node ?? leading] : (node ?? leading)) || "<s>" }),
        fell: (at) => `✕${at}`,
        place: (each) => placed(each, step, a),
      },
    });
    const grow = projecting() && figure.closest(".tfe-projected") ? 1.7 : 1;
    picture.style.width = `${picture.viewBox.baseVal.width * grow}px`;
    picture.style.height = "auto";
    const from = board.scrollLeft;
    clear(board).append(picture);
    board.scrollLeft = from;
    reveal(grow, step);
    board.setAttribute("aria-label", t(TEXT.board));
    detail.textContent = node === null ? t(TEXT.point) : `${about(node, step, a).join(" · ")}.`;
    words.replaceChildren(...spoken(said));
    paintLegend();
    paintEnding(ranking);
    paintGuesses(it.held(step, a), a);
    note.textContent = [value.plainBeam === value.beam ? "" : t(value.plainBeam === 1 ? TEXT.otherGreedy : TEXT.other, { n: value.plainBeam, beam: value.beam }), t(TEXT.honest)].filter(Boolean).join(" ");
    if (!sheet.hidden) paintSheet();
    root.dataset.drawn = `${value.beam}${value.endless ? ".endless" : ""} ${step} ${a.toFixed(1)}`;
  }

  /** The step in view stays in view where the tree is wider than its box. */
  function reveal(grow, step) {
    const right = (SIZES.left + (step + 1) * SIZES.column) * grow;
    if (right > board.scrollLeft + board.clientWidth) board.scrollLeft = right - board.clientWidth;
    else if (right - 2 * SIZES.column * grow < board.scrollLeft) board.scrollLeft = Math.max(0, right - 2 * SIZES.column * grow);
  }

  const soFar = (node) => {
    let text = "";
    for (const each of it.path(node)) text += (value.space[each] && text ? " " : "") + shown(value.pieces[each]);
    return text;
  };
  const placed = (node, step, a) => {
    const place = it.held(step, a).indexOf(node);
    return place < 0 ? `</s> ${number(it.score(node, a))}` : `${ordinal(place + 1)} ${number(it.score(node, a))}`;
  };

  function about(node, step, a) {
    const { what, when } = it.state(step, a);
    const place = it.held(step, a).indexOf(node);
    const kind = value.fate[node] === FATES.finished && place >= 0 ? t(TEXT.place, { place: ordinal(place + 1) }) : t(TEXT[what[node]], { at: when[node] });
    return [
      `“${soFar(node)}”`,
      t(TEXT.ownP, { p: number(value.logp[node]) }),
      t(TEXT.sum, { p: number(value.total[node]) }),
      t(TEXT.score, { p: number(it.score(node, a)) }),
      t(TEXT.ranked, { rank: value.rank[node], step: value.step[node] }),
      ...(value.stop[node] === null ? [] : [t(TEXT.stopNext, { p: Math.exp(value.stop[node]).toFixed(3) })]),
      kind,
    ];
  }

  function sentence({ step, last, ranking, a }) {
    const count = it.count(step, a);
    const greedy = it.greedy(value.greedy, step, a);
    const leading = it.held(step, a)[0];
    const values = { step, last, a: a.toFixed(1), n: count.all, fell: count.fell, finished: count.finished, live: count.live };
    if (value.endless) {
      const wished = it.path(ranking[0]).find((node) => value.stop[node] !== null && Math.exp(value.stop[node]) > 0.5); // here it would have stopped
      const far = wished === undefined || step < last;
      return parts(far ? (step < last ? TEXT.saysStep : TEXT.saysEndless) : TEXT.saysForbidden, {
        ...values,
        limit: value.limit,
        best: { text: `“${far ? "" : soFar(wished)}”`, role: "out" },
        p: far ? "" : Math.exp(value.stop[wished]).toFixed(2),
      });
    }
    const said = parts(step === last ? TEXT.saysEnd : TEXT.saysStep, values);
    if (leading !== undefined) said.push(...parts(TEXT.saysBest, { text: { text: `“${value.texts[leading]}”`, role: "out" }, score: number(it.score(leading, a)) }));
    const own = value.greedyTotal / ((5 + value.greedyLength) / 6) ** a;
    const fate = { place: greedy.at === 1 ? TEXT.greedyFirst : TEXT.greedyPlace, outranked: TEXT.greedyOut, fell: TEXT.greedyFell, live: TEXT.greedyLive }[greedy.kind];
    said.push(...parts(fate, { at: greedy.kind === "place" ? ordinal(greedy.at) : greedy.at, text: value.greedyText, score: number(own) }));
    return said;
  }

  function paintLegend() {
    const mark = (style, text) => el("span", {}, el("span", { class: `tfe-beam-mark ${style}` }), el("span", { text }));
    legend.replaceChildren(...["front", "kept", "fallen", "done", "greedy"].map((key) => mark(key, t(TEXT.legend[key]))));
  }

  function paintEnding(ranking) {
    ending.hidden = !value.endless;
    if (!value.endless) return;
    const nodes = it.path(ranking[0]).slice(0, -1);
    const [begin, period] = value.loop ?? [nodes.length, 0];
    const token = (node, i) => el("span", { class: i >= begin ? ((i - begin) % (2 * period) < period ? "tfe-token out" : "tfe-token key") : "tfe-token", text: shown(value.pieces[node]) }, el("span", { class: "index", text: i }));
    const rounds = period ? Math.floor((nodes.length - begin) / period) : 0;
    ending.replaceChildren(
      el("p", { class: "tfe-beam-tokens", lang: "de" }, ...nodes.map(token)),
      el("p", { class: "tfe-note", text: t(period ? TEXT.loop : TEXT.noLoop, { begin, period, rounds, limit: value.limit }) }),
    );
  }

  function listed() {
    const a = alpha();
    return [[t(TEXT.columns.place), t(TEXT.columns.text), t(TEXT.columns.total), t(TEXT.columns.length), t(TEXT.columns.score)], ...it.held(now(), a).map((node, i) => [i + 1, value.texts[node] || soFar(node), number(value.total[node]), value.step[node], number(it.score(node, a))])];
  }

  const isText = (cell) => typeof cell === "string" && !/^[−\d.–]+$/.test(cell);
  function table(lines, caption) {
    const [head, ...body] = lines;
    return el(
      "table",
      { class: "tfe-table" },
      el("caption", { class: "tfe-unseen", text: caption }),
      el("thead", {}, el("tr", {}, head.map((text, i) => el("th", { scope: "col", style: isText(body[0]?.[i]) ? { textAlign: "left" } : null, text })))),
      el("tbody", {}, body.map((cells) => el("tr", {}, cells.map((cell, i) => el(i ? "td" : "th", { scope: i ? null : "row", class: isText(cell) ? "text" : null, text: cell }))))),
    );
  }

  function paintGuesses(list) {
    guesses.hidden = !list.length;
    guesses.setAttribute("aria-label", t(TEXT.finishedList));
    guesses.replaceChildren(table(listed(), t(TEXT.finishedList)));
  }

  const COLUMNS = ["node", "step", "rank", "piece", "parent", "log_p", "sum", "score", "p_stop_next", "fate"];
  function rows() {
    const a = alpha();
    const { what, when } = it.state(end().last, a);
    const all = value.step.map((_, node) => node).filter((node) => value.step[node] <= end().last);
    return [COLUMNS, ...all.map((node) => [node, value.step[node], value.rank[node], value.pieces[node], value.parent[node], value.logp[node], value.total[node], Number(it.score(node, a).toFixed(5)), value.stop[node] === null ? "" : Number(Math.exp(value.stop[node]).toPrecision(5)), what[node] === "fell" ? `fell ${when[node]}` : what[node]])];
  }
  function paintSheet() {
    sheet.setAttribute("aria-label", t(TEXT.nodes));
    sheet.replaceChildren(table(rows(), t(TEXT.nodes)));
  }
  function numbers() {
    const ints = (list) => ({ shape: [list.length], data: Int32Array.from(list) });
    const reals = (list) => ({ shape: [list.length], data: Float64Array.from(list, (x) => x ?? Number.NaN) });
    return npz({ pieces: value.pieces, parent: ints(value.parent), step: ints(value.step), rank: ints(value.rank), fate: ints(value.fate), log_p: reals(value.logp), total: reals(value.total), log_p_stop: reals(value.stop), alpha: reals([alpha()]), beam: ints([value.beam]) });
  }

  // hand and keys
  const nodeOf = (event) => {
    const found = event.target.closest?.("[data-node]");
    return found ? Number(found.dataset.node) : null;
  };
  board.addEventListener("click", (event) => {
    const node = nodeOf(event);
    if (node) view.set({ bnode: node === locked() ? null : node });
  });
  hovering(board, "[data-node]", (place) => (Number(place.dataset.node) ? about(Number(place.dataset.node), now(), alpha()) : null));
  const alive = (fn) => () => (it && panel.opened() ? fn() : false);
  keys(figure, {
    ArrowLeft: alive(() => go(now() - 1)),
    ArrowRight: alive(() => go(now() + 1)),
    ArrowUp: alive(() => move(-1)),
    ArrowDown: alive(() => move(1)),
    " ": alive(() => (playing ? rest() : run())),
    Escape: alive(() => (projecting() || (locked() === null && view.get("bstep") === null) ? false : view.set({ bnode: null, bstep: null }))),
  });

  const body = [knobs, transport, figure, guesses, note, el("div", { class: "tfe-controls" }, take), sheet];
  const panel = folded({ root, key: "beam", title: TEXT.panel, body, props, watch, emit, wish: asked, draw });
  view.on(["btree"], panel.ask);
  view.on(["bstep", "bnode", "balpha"], () => panel.opened() && paint());
  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    requestAnimationFrame(paint);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

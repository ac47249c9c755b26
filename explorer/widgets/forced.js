// How likely is your own German? Teacher forcing: every given word goes in, whatever the model would have said, and each is scored.

import { unpack } from "./lib/arrays.js";
import { clear, el } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { folded } from "./lib/folded.js";
import { draw as drawing, table as colours, colour, inkOn } from "./lib/forceddraw.js";
import { TEXT } from "./lib/forcedwords.js";
import { keys, projecting } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { NAME, number, ordinal, parts, plainText, shown } from "./lib/maps.js";
import { hovering, spoken } from "./lib/spoken.js";
import { bus, headIn, judge, positionsIn, request, view } from "./lib/state.js";
import { dark, onTheme } from "./lib/theme.js";

const LINKED = 600; // characters of a text that travel in the address
const WORST = 6; // nats; from here on a word has the last colour of the scale

/** props.scales, props.most: see forced.py. value: see there too. */
export function mount(root, props, emit, watch) {
  let value = null;
  let cross = null; // unpacked
  let wanted = fromAddress(); // {german} | {own: true} | null
  let dirty = false; // does the box hold something that was not sent?
  let sentence = source();

  function fromAddress() {
    const text = view.get("german");
    return text === null ? null : text === "*" ? { own: true } : { german: text };
  }
  /** What the run in the address translates, its search and interventions left out. */
  function source() {
    const kept = [...new URLSearchParams(request.get())].filter(([key]) => !["v", "beam", "alpha", "silenced", "hidden", "without"].includes(key));
    return JSON.stringify(kept);
  }

  // input
  const name = el("span", { class: "tfe-label" });
  const box = el("textarea", { class: "tfe-input tfe-forced-box", rows: 2, lang: "de", spellcheck: "false", oninput: () => ((dirty = true), said("")) });
  const send = el("button", { type: "submit", class: "tfe-button primary" });
  const own = el("button", { type: "button", class: "tfe-button", onclick: () => ask({ own: true }) });
  const complaint = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const explained = el("p", { class: "tfe-note" });
  const form = el("form", { class: "tfe-forced-form tfe-controls" }, el("label", {}, name, box), el("div", { class: "tfe-row tight" }, send, own), complaint);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (box.value.length > props.most) said(t(TEXT.long, { n: box.value.length.toLocaleString("en"), most: props.most.toLocaleString("en") }));
    else ask({ german: box.value === "*" ? " *" : box.value });
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  function said(text) {
    complaint.textContent = text;
    complaint.hidden = !text;
  }

  function ask(next) {
    wanted = next;
    dirty = false;
    said("");
    const text = next.own ? "*" : next.german;
    view.set({ german: text.length <= LINKED ? text : null, fword: null });
    panel.ask();
  }

  // figure
  const title = el("h3", { class: "tfe-title" });
  const scale = el("span", { class: "tfe-units tfe-forced-scale" });
  const chips = el("div", { class: "tfe-forced-chips", lang: "de", role: "group" });
  const board = el("div", { class: "tfe-forced-board tfe-scroll", tabindex: "0", role: "application" });
  const words = el("p", { class: "tfe-words", id: "tfe-forced-words" });
  const which = el("select", { class: "tfe-select", onchange: () => view.set({ fhead: which.value }) });
  const whichName = el("span", { class: "tfe-label" });
  const five = el("div", { class: "tfe-forced-five", "aria-live": "polite" });
  const figure = el(
    "figure",
    { class: "tfe-forced-figure tfe-projectable" },
    el("div", { class: "tfe-row apart" }, title, scale),
    chips,
    el("label", { class: "tfe-row tight tfe-controls" }, whichName, which),
    el("div", { class: "tfe-forced-both" }, board, five),
    words,
  );
  const sheet = el("div", { class: "tfe-scroll tfe-forced-sheet", tabindex: "0", role: "region", hidden: true });
  const linkNote = el("p", { class: "tfe-note" });
  board.setAttribute("aria-describedby", words.id);
  const take = exportBar(
    {
      ...leaving(() => value && { drawing: board.querySelector("svg"), title: t(TEXT.title), sentence: words.textContent, name: ["forced"], more: rows() }),
      CSV: () => save(fileName(["forced"], "csv"), csv(rows()), "text/csv"),
      NPZ: () => save(fileName(["forced"], "npz"), numbers()),
    },
    { onTable: (open) => ((sheet.hidden = !open), paint()) },
  );

  const surprise = (i) => -value.logp[i];
  const worst = () => value.logp.reduce((best, p, i) => (p < value.logp[best] ? i : best), 0);
  function picked() {
    const given = Number.parseInt(view.get("fword") ?? "", 10);
    return given >= 0 && given < value.logp.length ? given : worst();
  }
  /** The attention in view: {layer, head} from 0; head null is the mean of the layer's heads. */
  function head() {
    const [layers, heads] = cross.shape;
    const [, layer, one] = /^(\d+)(?:\.(\d+))?$/.exec(view.get("fhead") ?? "") ?? [];
    const fits = layer >= 1 && layer <= layers && (one === undefined || (one >= 1 && one <= heads));
    return fits ? { layer: layer - 1, head: one === undefined ? null : one - 1 } : { layer: layers - 1, head: null };
  }
  function weights() {
    const { layer, head: one } = head();
    if (one !== null) return cross.slice(layer, one);
    const heads = cross.shape[1];
    const out = new Float32Array(cross.shape[2] * cross.shape[3]);
    for (let h = 0; h < heads; h += 1) cross.slice(layer, h).forEach((w, i) => (out[i] += w / heads));
    return out;
  }

  async function draw(next) {
    if (next !== value || !cross) {
      const arrived = await unpack(next.cross);
      if (props.value !== next) return; // a newer answer came
      [value, cross] = [next, arrived];
      if (!dirty) box.value = value.german;
    }
    paint();
  }

  function paint() {
    if (!value) return;
    const there = headIn(...cross.shape);
    judge({ fword: positionsIn(value.logp.length), fhead: (text) => there(/^\d+$/.test(text) ? `${text}.1` : text) }, request.get());
    const now = picked();
    const ramp = colours(props.scales.surprise[dark() ? "dark" : "light"]);
    title.textContent = t(TEXT.title);
    scale.replaceChildren(`${t(TEXT.surprise)} 0`, el("span", { class: "tfe-scale surprise" }), `${WORST}+ ${t(TEXT.nats)}`);
    chips.setAttribute("aria-label", t(TEXT.chips));
    const focused = chips.contains(document.activeElement);
    chips.replaceChildren(
      ...value.target.pieces.map((piece, i) => {
        const at = Math.min(1, surprise(i) / WORST);
        return el(
          "button",
          {
            type: "button",
            class: `tfe-forced-chip${value.target.space[i] || !i ? "" : " inner"}`,
            "aria-pressed": String(i === now),
            tabindex: i === now ? "0" : "-1",
            style: { background: colour(ramp, at), color: inkOn(ramp, at) },
            onclick: () => view.set({ fword: i }),
          },
          shown(piece),
          el("span", { class: "index", text: i }),
        );
      }),
    );
    if (focused) chips.children[now].focus({ preventScroll: true });
    paintPicker();
    const sentence_ = says(now);
    const looked = weights();
    const picture = drawing({
      value,
      now,
      weights: looked,
      high: props.scales.weights,
      ramp,
      worst: WORST,
      label: `${t(TEXT.title)} ${plainText(sentence_)}`,
      texts: Object.fromEntries(["word", "surprise", "rank", "favourite", "looks"].map((key) => [key, t(TEXT.head[key])])),
    });
    const grow = projecting() && figure.closest(".tfe-projected") ? 1.7 : 1;
    Object.assign(picture.style, { width: `${picture.viewBox.baseVal.width * grow}px`, height: "auto" });
    const from = board.scrollLeft;
    clear(board).append(picture);
    board.scrollLeft = from;
    board.setAttribute("aria-label", t(TEXT.board));
    words.replaceChildren(...spoken(sentence_));
    paintFive(now);
    linkNote.textContent = value.german.length > LINKED ? t(TEXT.unlinked, { n: LINKED }) : "";
    linkNote.hidden = !linkNote.textContent;
    if (!sheet.hidden) paintSheet();
    root.dataset.drawn = `${now} ${JSON.stringify(head())}`;
  }

  function paintPicker() {
    const [layers, heads] = cross.shape;
    whichName.textContent = t(TEXT.attention);
    const options = Array.from({ length: layers }, (_, layer) => [
      [`${layer + 1}`, t(TEXT.mean, { layer: layer + 1 })],
      ...Array.from({ length: heads }, (_, h) => [`${layer + 1}.${h + 1}`, t(TEXT.one, { name: `${layer + 1}·${h + 1}` })]),
    ]);
    which.replaceChildren(...options.map((group, layer) => el("optgroup", { label: t(TEXT.layer, { layer: layer + 1 }) }, group.map(([key, text]) => el("option", { value: key, text })))));
    const { layer, head: one } = head();
    which.value = one === null ? `${layer + 1}` : `${layer + 1}.${one + 1}`;
  }

  function says(now) {
    const total = value.logp.reduce((sum, p) => sum + p, 0);
    const gap = total - value.ownLogP;
    const factor = Math.exp(Math.min(Math.abs(gap), 30));
    const times = factor < 10 ? factor.toFixed(1) : factor > 1e6 ? t(TEXT.million) : Math.round(factor).toLocaleString("en");
    const best = value.favourites[now][0];
    const values = {
      total: number(total),
      n: value.logp.length,
      own: { text: `“${value.own}”`, role: "out" },
      ownP: number(value.ownLogP),
      times,
      word: NAME(value.target.pieces[now], now, "query"),
      p: chance(Math.exp(value.logp[now])),
      rank: ordinal(value.ranks[now]),
      best: { text: `“${shown(best)}”`, role: "out" },
      bestP: chance(value.probabilities[now][0]),
    };
    const first = value.german === value.own ? TEXT.saysOwn : Math.abs(gap) < 0.05 ? TEXT.saysEqual : gap < 0 ? TEXT.saysLess : TEXT.saysMore;
    return [...parts(first, values), ...parts(value.ranks[now] === 1 ? TEXT.saysExpected : now === worst() ? TEXT.saysMost : TEXT.saysWord, values)];
  }
  const chance = (p) => (p >= 0.01 ? p.toFixed(2) : p >= 1e-4 ? p.toFixed(4) : p.toExponential(0).replace("-", "−"));

  function paintFive(now) {
    const rank = value.ranks[now];
    const listed = value.favourites[now].map((piece, i) => ({ piece, p: value.probabilities[now][i], place: i + 1, given: i + 1 === rank && piece === value.target.pieces[now] }));
    if (!listed.some((one) => one.given)) listed.push({ piece: value.target.pieces[now], p: Math.exp(value.logp[now]), place: rank, given: true });
    five.replaceChildren(
      el("p", { class: "tfe-label" }, ...spoken(parts(TEXT.five, { before: now ? { text: `“… ${shown(value.target.pieces[now - 1])}”` } : { text: "<s>" }, word: NAME(value.target.pieces[now], now, "query") }))),
      el(
        "ol",
        {},
        listed.map((one) =>
          el(
            "li",
            { class: one.given ? "given" : null },
            el("span", { class: "place", text: one.place }),
            el("span", { class: one.given ? "piece tfe-query" : "piece", lang: "de", text: shown(one.piece) }),
            el("span", { class: "bar" }, el("span", { style: { width: `${Math.max(0.5, 100 * one.p)}%` } })),
            el("span", { class: "p", text: chance(one.p) }),
          ),
        ),
      ),
    );
  }

  function rows() {
    const c = TEXT.columns;
    return [
      [c.index, c.word, c.logp, c.p, c.rank, c.best, c.bestP].map(t),
      ...value.target.pieces.map((piece, i) => [i, piece, value.logp[i], Number(Math.exp(value.logp[i]).toPrecision(4)), value.ranks[i], value.favourites[i][0], value.probabilities[i][0]]),
    ];
  }
  function paintSheet() {
    const [top, ...body] = rows();
    sheet.setAttribute("aria-label", t(TEXT.title));
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-unseen", text: t(TEXT.title) }),
        el("thead", {}, el("tr", {}, top.map((text) => el("th", { scope: "col", text })))),
        el("tbody", {}, body.map((cells) => el("tr", {}, cells.map((cell, i) => el(i ? "td" : "th", { scope: i ? null : "row", class: typeof cell === "string" ? "text" : null, text: typeof cell === "string" ? shown(cell) : String(cell).replace("-", "−") }))))),
      ),
    );
  }
  function numbers() {
    const reals = (list) => ({ shape: [list.length], data: Float32Array.from(list) });
    return npz({
      source: value.source.pieces,
      target: value.target.pieces,
      log_probabilities: reals(value.logp),
      ranks: { shape: [value.ranks.length], data: Int32Array.from(value.ranks) },
      favourites: value.favourites.map((row) => row.join(" ")),
      probabilities: { shape: [value.probabilities.length, value.probabilities[0].length], data: Float32Array.from(value.probabilities.flat()) },
      cross: { shape: cross.shape, data: cross.data },
    });
  }

  // hand and keys
  board.addEventListener("click", (event) => {
    const row = event.target.closest?.("[data-row]");
    if (row) view.set({ fword: row.dataset.row });
  });
  hovering(board, "[data-cell]", (place) => {
    const [i, j] = place.dataset.cell.split(",").map(Number);
    const w = weights()[i * value.source.pieces.length + j];
    return [`“${shown(value.target.pieces[i])}” (${i}) → “${shown(value.source.pieces[j])}” (${j})`, t(TEXT.weight, { w: number(w) })];
  });
  const move = (by) => () => (value && panel.opened() ? view.set({ fword: Math.max(0, Math.min(value.logp.length - 1, picked() + by)) }) : false);
  keys(figure, {
    ArrowLeft: move(-1),
    ArrowRight: move(1),
    ArrowUp: move(-1),
    ArrowDown: move(1),
    Escape: () => (projecting() || view.get("fword") === null ? false : view.set({ fword: null })),
  });

  function label() {
    name.textContent = t(TEXT.name);
    box.placeholder = t(TEXT.placeholder);
    send.textContent = t(TEXT.send);
    own.textContent = t(TEXT.own);
    explained.textContent = t(TEXT.explained);
  }
  onLang(label);
  label();

  // Another sentence: what was typed for the last one is no translation of it. A link brings its own German.
  bus.on("request", () => {
    if (source() === sentence) return;
    sentence = source();
    wanted = null;
    dirty = false;
    box.value = "";
    view.set({ german: null, fword: null });
  });
  const panel = folded({ root, key: "forced", title: TEXT.panel, head: [explained, form], body: [figure, linkNote, el("div", { class: "tfe-controls" }, take), sheet], props, watch, emit, wish: () => wanted, draw });
  view.on(["german"], () => {
    const next = fromAddress();
    sentence = source();
    if (JSON.stringify(next) === JSON.stringify(wanted) || (next === null && (wanted?.german ?? "").length > LINKED)) return;
    wanted = next;
    dirty = false;
    panel.ask();
  });
  view.on(["fword", "fhead"], () => panel.opened() && cross && paint());
  onTheme(() => panel.opened() && cross && paint());
  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    if (cross) requestAnimationFrame(paint);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

// The same characters before and after a change, as each model reads them: one number, three strips on one scale, what it writes or answers
// each time, and a table. Each model that the change reaches is shown in turn; of the others one line says so.

import { unpack } from "./arrays.js";
import { el, segmented } from "./dom.js";
import { leaving } from "./drawing.js";
import { exportBar } from "./export.js";
import { keys, projecting } from "./keys.js";
import { t } from "./lang.js";
import { drawn as drawing, limits, mark, said, stretches, under } from "./strips.js";
import { coloured, filesOf } from "./result.js";
import { TEXT, digitsOf, named, number, parted, plus, signed, table } from "./stripwords.js";
import { bus, view } from "./state.js";
import { dark, onTheme } from "./theme.js";

const WIDE = 720; // px of a picture that is taken along

/**
 * @param {{root: HTMLElement, scales: any}} how root: says what is painted, as data-painted. scales: of colours, by name and mode
 *
 * value, in `set`: {sides, sentence, pick}, as change.py spells them, or null while there is none. draw: all texts anew.
 * unlock: lets go of the locked characters, and says whether there were any.
 */
export function sidesOf({ root, scales: colours }) {
  let value = null;
  let sides = []; // of the answer in view, those with pictures: their numbers unpacked
  let scale = null; // what all of them share
  let hovered = null;
  let room = 0;

  const models = segmented({ options: [], value: "", label: "", onPick: (key) => view.set({ model: key }) });
  const name = el("span", { class: "tfe-strips-name" });
  const big = el("strong", { class: "tfe-number tfe-strips-number" });
  const from = el("span", { class: "tfe-strips-from" });
  const fromUnit = el("span", {});
  const numbers = el("div", { class: "tfe-strips-numbers" }, big, el("span", { class: "tfe-strips-what" }, from, fromUnit));
  const strips = el("div", { class: "tfe-strips-lines" });
  const board = el("div", { class: "tfe-strips-board", tabindex: "0", role: "application" }, strips);
  const readout = el("p", { class: "tfe-strips-readout tfe-controls" });
  const hint = el("p", { class: "tfe-note tfe-strips-hint tfe-controls" });
  const writing = el("div", { class: "tfe-strips-writing tfe-controls" });
  const sentence = el("p", { class: "tfe-words tfe-strips-sentence", "aria-live": "polite" });
  const rest = el("div", { class: "tfe-strips-rest tfe-controls" });
  const exports = exportBar({ ...leaving(taken), ...filesOf({ CSV: alive(columns), NPZ: alive(arrays), TXT: alive(lines) }, sentence) });
  const sheetName = el("summary", {});
  const sheet = el("div", { class: "tfe-scroll tfe-strips-sheet", tabindex: "0", role: "region" });
  const sheets = el("details", { class: "tfe-strips-table tfe-controls", open: view.get("change_table") !== null }, sheetName, sheet);
  const figure = el("figure", { class: "tfe-strips-figure tfe-projectable" }, el("div", { class: "tfe-controls tfe-strips-models" }, models.node, name), numbers, hint, board, readout, writing, sentence);
  const node = el("div", { class: "tfe-strips-result", hidden: true }, figure, rest, el("div", { class: "tfe-controls" }, exports), sheets);

  // ── what is looked at ──
  const projected = () => projecting() && figure.classList.contains("tfe-projected");

  /** The model whose pictures are shown: the one in view, if the change reaches it. */
  const shown = () => [view.get("model"), value?.pick?.model].map((key) => sides.find((side) => side.key === key)).find(Boolean) ?? sides[0] ?? null;

  /** The locked characters, the last one told of. */
  function locked() {
    const text = view.get("pos") ?? String(value?.pick?.pos ?? "");
    return /^\d+(,\d+)*$/.test(text) ? text.split(",").map((at) => Number(at) - first()) : [];
  }

  /** The position, as the address counts them, of the first character of the model in view. */
  const first = () => shown()?.first ?? 0;

  function step(by) {
    const side = shown();
    if (!side) return false;
    const at = locked().at(-1) ?? (by > 0 ? -1 : side.count);
    return view.set({ pos: first() + Math.max(0, Math.min(side.count - 1, at + by)) });
  }

  // ── drawing ──
  function paint() {
    if (!value || sides.length !== value.sides.filter(({ reached }) => reached).length) return; // its numbers are on their way
    const side = shown();
    const { number: told, name: who } = side ?? value.sides[0];
    const difference = told.after - told.before;
    const digits = digitsOf(difference);
    const many = sides.length > 1;
    models.node.hidden = !many;
    name.hidden = many || value.sides.length < 2 || !side;
    name.textContent = t(who);
    models.set({
      label: t(TEXT.models),
      value: side?.key ?? "",
      options: many ? sides.map((one) => ({ key: one.key, label: `${t(one.name)} ${plus(one.number.after - one.number.before, digitsOf(one.number.after - one.number.before))}` })) : [],
    });
    big.textContent = plus(difference, digits);
    from.textContent = `${number(told.before, digits)} → ${number(told.after, digits)}`;
    fromUnit.textContent = t((side ?? value.sides[0]).unit ?? TEXT.bits);
    board.hidden = hint.hidden = readout.hidden = exports.hidden = sheets.hidden = !side;
    hint.textContent = t(TEXT.hint);
    sentence.replaceChildren(...coloured(value.sentence));
    const rows = value.sides.filter((one) => !one.reached).map((one) => el("p", { class: "tfe-note" }, el("b", { text: t(one.name) }), ` · ${t(one.unreached ?? TEXT.unreached, { n: number(one.number.before) })}`));
    rest.replaceChildren(...rows);
    rest.hidden = !rows.length;
    if (side?.answers) paintAnswers(side);
    else paintWriting(side);
    paintTable(side);
    paintStrips();
  }

  /** Both texts that were written: what they share, what vanished, what is new; each scrolled to where they part. */
  function paintWriting(side) {
    writing.hidden = !side?.written;
    if (writing.hidden) return;
    const { common, count, gone, came } = parted(...side.written);
    const heading = el("p", { class: "tfe-label", text: t(TEXT.writes) });
    if (!gone && !came) {
      writing.replaceChildren(heading, el("p", { class: "tfe-note", text: t(TEXT.alike, { n: count }) }));
      return;
    }
    const box = (which, own, mark_) => {
      const text = own || (common ? "" : t(TEXT.nothing));
      const own_ = text ? el(mark_ === "tfe-struck" ? "del" : "ins", { class: mark_, text }) : el("span", {});
      const node = el("p", { class: "tfe-strips-text", tabindex: "0", role: "region", "aria-label": `${t(TEXT.writes)}, ${t(TEXT[which])}`, dir: "auto" }, el("span", { text: common }), own_);
      return { node, own: own_, row: el("div", { class: "tfe-strips-written" }, el("span", { class: "tfe-strips-which", text: t(TEXT[which]) }), node) };
    };
    const boxes = [box("before", gone, "tfe-struck"), box("after", came, "tfe-new")];
    writing.replaceChildren(heading, ...boxes.map(({ row }) => row), ...(count ? [el("p", { class: "tfe-note", text: t(TEXT.common, { n: count }) })] : []));
    requestAnimationFrame(() => {
      for (const { node, own } of boxes) {
        const [line] = own.getClientRects();
        if (line) node.scrollTop += line.top - node.getBoundingClientRect().top - 24;
      }
    });
  }

  /** What the model says before and after, letter by letter: those that changed are marked, right ones and wrong ones each in their way. */
  function paintAnswers(side) {
    const [before, after, right] = side.answers.map((text) => [...text]);
    const changes = before.map((letter, i) => letter !== after[i]);
    writing.hidden = false;
    const heading = el("p", { class: "tfe-label", text: t(TEXT.answers) });
    if (!changes.some(Boolean)) {
      writing.replaceChildren(heading, el("p", { class: "tfe-note", text: t(TEXT.unchanged, { n: before.length }) }));
      return;
    }
    const letter = (text, i) => {
      if (!changes[i]) return document.createTextNode(signed(text[i]));
      const title = t(TEXT.letter, { i: i + side.first, before: signed(before[i]), after: signed(after[i]), right: signed(right[i]) });
      return el(text === after ? "ins" : "del", { class: text[i] === right[i] ? "tfe-strips-right" : "tfe-strips-wrong", title, text: signed(text[i]) });
    };
    const row = (which, text) =>
      el(
        "div",
        { class: "tfe-strips-written" },
        el("span", { class: "tfe-strips-which", text: t(TEXT[which]) }),
        el("p", { class: "tfe-strips-text", tabindex: "0", role: "region", "aria-label": `${t(TEXT.answers)}, ${t(TEXT[which])}` }, text.map((_, i) => letter(text, i))),
      );
    writing.replaceChildren(heading, row("before", before), row("after", after));
  }

  function paintTable(side) {
    sheetName.textContent = t(TEXT.table);
    sheet.hidden = !sheets.open || !side;
    if (sheet.hidden) return;
    const caption = t(TEXT.caption, { model: t(side.name) });
    sheet.setAttribute("aria-label", caption);
    const columns = [side.segment ? TEXT.segment : TEXT.stretch, TEXT.positions, TEXT.before, TEXT.after, TEXT.difference];
    const rows = table(side).map((row) =>
      el(
        "tr",
        { class: row.total ? "is-total" : null },
        el("th", { scope: "row", text: row.name }),
        [`${row.first + first()}–${row.end - 1 + first()}`, number(row.before), number(row.after), plus(row.difference)].map((text) => el("td", { text })),
      ),
    );
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: caption }),
        el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", text: t(column) })))),
        el("tbody", {}, rows),
      ),
    );
  }

  const scales = () => Object.fromEntries(Object.entries(colours).map(([key, modes]) => [key, modes[dark() ? "dark" : "light"]]));
  const picture = (side, width, large) => drawing({ side, limits: scale, scales: scales(), width, big: large });

  function paintStrips() {
    const side = shown();
    if (!side || node.hidden) return;
    room = Math.floor(board.clientWidth);
    if (!room) return;
    board.setAttribute("aria-label", t(TEXT.figure, { model: t(side.name), n: side.count }));
    strips.replaceChildren(picture(side, room, projected()));
    paintMarks();
    root.dataset.painted = `${side.key} ${big.textContent}`;
  }

  function paintMarks() {
    const side = shown();
    const picture_ = strips.firstChild;
    if (!side || !picture_) return;
    mark(picture_, { side, width: room, big: projected(), hovered, locked: locked() });
    const here = [hovered, ...locked().slice(-1)].find((at) => at !== null && at !== undefined && at >= 0 && at < side.count);
    if (here === undefined) {
      readout.replaceChildren();
      return;
    }
    const one = { before: side.before[here], after: side.after[here], difference: side.after[here] - side.before[here] };
    const bar = stretches(side).bars.find(({ end }) => here < end);
    readout.replaceChildren(
      el("span", {}, el("b", { class: "tfe-mono tfe-query", text: named(side.letters, here, first()) }), ` ${t(TEXT.here, said(one, 2))}`),
      bar.end - bar.first > 1 ? el("span", { text: t(TEXT.around, { a: bar.first + first(), b: bar.end - 1 + first(), ...said(bar, 2) }) }) : "",
    );
  }

  async function unpackSides() {
    const now = value;
    const found = await Promise.all(
      now.sides
        .filter(({ reached }) => reached)
        .map(async (side) => {
          const [before, after] = (await Promise.all([side.before, side.after].map(unpack))).map(({ data }) => data);
          return { ...side, before, after, count: before.length, letters: [...side.text] };
        }),
    );
    if (now !== value) return;
    sides = found;
    scale = sides.length ? limits(sides) : null;
    paint();
  }

  // ── take along ──
  function alive(make) {
    return () => (shown() ? make() : null);
  }

  function taken() {
    const side = shown();
    if (!side) return null;
    const node = picture(side, WIDE, false);
    mark(node, { side, width: WIDE, hovered: null, locked: locked() });
    const head_ = [side.segment ? TEXT.segment : TEXT.stretch, TEXT.positions, TEXT.before, TEXT.after, TEXT.difference].map((column) => t(column));
    const rows = table(side).map((row) => [row.name, `${row.first + first()}–${row.end - 1 + first()}`, number(row.before), number(row.after), plus(row.difference)]);
    return { drawing: node, title: `${t(side.name)}: ${big.textContent} (${from.textContent} ${fromUnit.textContent})`, sentence: sentence.textContent, name: ["what-if", side.key], more: [head_, ...rows] };
  }

  /** Every character as it came, in bits. */
  function columns() {
    const rows = [["model", "position", "character", "given", "before_bits", "after_bits", "difference_bits"]];
    for (const side of sides) for (let i = 0; i < side.count; i += 1) rows.push([side.key, i + (side.first ?? 0), side.letters[i] ?? "", Number(i < side.given), side.before[i], side.after[i], side.after[i] - side.before[i]]);
    return rows;
  }

  function arrays() {
    const found = Object.fromEntries(sides.flatMap((side) => ["before", "after"].map((which) => [`${side.key}.${which}_bits`, { shape: [side.count], data: side[which] }])));
    for (const { key, given } of sides) found[`${key}.given`] = { shape: [], data: Int32Array.of(given) };
    return found;
  }

  function lines() {
    return value.sides.flatMap(({ name: who, number: told, unit, written, answers }) => {
      const digits = digitsOf(told.after - told.before);
      const head_ = `${t(who)}, ${t(unit ?? TEXT.bits)}: ${plus(told.after - told.before, digits)} (${number(told.before, digits)} → ${number(told.after, digits)})`;
      if (answers) return [head_, ...["before", "after"].map((which, i) => `${t(TEXT[which])}: ${answers[i]}`)];
      return [head_, ...(written ? ["before", "after"].map((which, at) => `${t(TEXT.writes)}, ${t(TEXT[which])}:\n${written[at]}`) : [])];
    });
  }

  // ── alive ──
  const at = (event) => {
    const box = strips.getBoundingClientRect();
    return under(event.clientX - box.left, { side: shown(), width: room, big: projected() });
  };
  strips.addEventListener("pointermove", (event) => event.pointerType !== "touch" && shown() && bus.fire("hover-pos", { pos: at(event) + first() }));
  strips.addEventListener("pointerleave", () => bus.fire("hover-pos", { pos: null }));
  strips.addEventListener("click", (event) => {
    if (!shown()) return;
    const position = at(event);
    const others = event.shiftKey ? locked().filter((other) => other !== position) : [];
    view.set({ pos: [...others, position].map((one) => one + first()).join(",") });
  });
  keys(board, { ArrowLeft: () => step(-1), ArrowRight: () => step(1), PageUp: () => step(-1), PageDown: () => step(1), Home: () => step(-Infinity), End: () => step(Infinity) });
  sheets.addEventListener("toggle", () => {
    view.set({ change_table: sheets.open ? "open" : null });
    paintTable(shown());
  });
  view.on(["model"], paint);
  view.on(["pos"], paintMarks);
  view.on(["change_table"], () => {
    sheets.open = view.get("change_table") !== null;
    paintTable(shown());
  });
  bus.on("hover-pos", ({ pos }) => {
    const next = typeof pos === "number" ? pos - first() : pos;
    if (next === hovered) return;
    hovered = next;
    paintMarks();
  });
  new ResizeObserver(() => Math.floor(board.clientWidth) !== room && paintStrips()).observe(board);
  let was = false;
  new MutationObserver(() => {
    if (projected() === was) return;
    was = projected();
    requestAnimationFrame(paintStrips);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  onTheme(paintStrips);

  return {
    node,
    /** Draws another answer, or nothing. */
    set(next) {
      if (next === value) return;
      value = next;
      if (value) unpackSides();
    },
    draw() {
      figure.dataset.question = t(TEXT.question);
      paint();
    },
    unlock(target) {
      if (!board.contains(target) || view.get("pos") === null) return false;
      view.set({ pos: null });
      return true;
    },
  };
}

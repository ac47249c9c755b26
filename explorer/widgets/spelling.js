// A word said twice. The letters that were given stand in the first row, what each model says under them; one letter is locked, and the
// other widgets of the page move to the position that says it. A text stands alone, coloured by what each of its letters cost.

import { unpack } from "./lib/arrays.js";
import { el } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, save } from "./lib/export.js";
import { keys, projecting } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { foot } from "./lib/source.js";
import { bus, view } from "./lib/state.js";
import { dark, onTheme } from "./lib/theme.js";
import { WORST, cellOf, drawing, roundsTable, shown, tint } from "./lib/spellingdraw.js";

const TEXT = {
  word: { en: "Said twice", zh: "说两遍" },
  text: { en: "A text, letter by letter", zh: "逐字符读文本" },
  wordQuestion: { en: "Which letters does each model get right?", zh: "每个模型说对了哪些字母？" },
  textQuestion: { en: "Which letters did it not expect?", zh: "哪些字符出乎它的意料？" },
  given: { en: "given", zh: "给定" },
  right: { en: "right", zh: "正确" },
  wrong: { en: "wrong", zh: "错误" },
  bits: { en: "bits", zh: "比特" },
  hint: { en: "hover: preview · click: lock · shift-click: add · ← →: letter · ↑ ↓: model · Esc: reset", zh: "悬停：预览 · 点击：锁定 · shift-点击：追加 · ← →：字母 · ↑ ↓：模型 · Esc：复位" },
  hintText: { en: "hover: preview · click: lock · shift-click: add · ← →: character · Esc: reset", zh: "悬停：预览 · 点击：锁定 · shift-点击：追加 · ← →：字符 · Esc：复位" },
  board: {
    en: "A word of {n} letters, and what {models} models say. Left and right move the locked letter, up and down choose a model.",
    zh: "一个 {n} 个字母的词，以及 {models} 个模型的回答。左右键移动锁定的字母，上下键选择模型。",
  },
  boardText: { en: "A text of {n} characters, coloured by loss. Left and right move the locked character.", zh: "{n} 个字符的文本，按损失着色。左右键移动锁定的字符。" },
  says: { en: "{model} “{said}”, p of “{letter}” {p}", zh: "{model} 说“{said}”，给“{letter}”的概率 {p}" },
  letter: { en: "Letter {i} is “{letter}”, said at position {pos}: {each}.", zh: "第 {i} 个字母是“{letter}”，在位置 {pos} 说出：{each}。" },
  character: { en: "Character {i}, “{letter}”, cost {bits} bits: p = {p}; likeliest was “{said}”.", zh: "第 {i} 个字符“{letter}”花费 {bits} 比特：p = {p}；最可能的是“{said}”。" },
  share: { en: "{model} {right} of {n}", zh: "{model} {right}/{n}" },
  shares: { en: "Right letters of the second word: {each}.", zh: "第二遍说对的字母：{each}。" },
  cost: { en: "{bits} bits per character on these {n} characters; {right} of them were its first guess.", zh: "这 {n} 个字符平均每字符 {bits} 比特；其中 {right} 个是它的首选。" },
  column: { en: "letter", zh: "字母" },
  position: { en: "said at position", zh: "说出的位置" },
  sheet: { en: "Every letter: what is said, and the probability of the right one", zh: "每个字母：说出的内容，以及正确字母的概率" },
  table: { en: "Rounds of training, rounds of evaluation", zh: "训练轮数与评估轮数" },
};

const probability = (nats) => {
  const p = Math.exp(-nats);
  return p > 0.9995 && p < 1 ? "> 0.999" : p < 0.0005 ? "< 0.001" : p.toFixed(3);
};

/** props, value: see spelling.py. */
export function mount(root, props, _emit, watch) {
  let value = null;
  let runs = []; // of the value, their numbers unpacked
  let letters = []; // that were given
  let hovered = null; // a letter, from 0
  let room = 0;
  let turn = 0;
  let nodes = []; // of the board, [letter][row]: the given one, then each model's

  const title = el("h2", { class: "tfe-title" });
  const units = el("span", { class: "tfe-units" });
  const legend = el("div", { class: "tfe-legend tfe-spelling-legend" });
  const hint = el("p", { class: "tfe-note tfe-controls tfe-spelling-hint" });
  const board = el("div", { class: "tfe-spelling-board", tabindex: "0", role: "application" });
  const words = el("p", { class: "tfe-words", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll tfe-spelling-sheet", tabindex: "0", role: "region", hidden: true });
  const exports = exportBar({ ...leaving(taken), CSV: saveCsv, TXT: saveText }, { onTable: (open) => ((sheet.hidden = !open), paintSheet()) });
  const body = el("div", { class: "tfe-spelling-body" }, hint, board, words, el("div", { class: "tfe-controls" }, exports), sheet);
  const run = el("div", { class: "tfe-spelling-run tfe-projectable" }, el("div", { class: "tfe-row apart tfe-spelling-head" }, el("div", { class: "tfe-row tight" }, title, units), legend), body);
  const heading = el("h3", { class: "tfe-title" });
  const rounds = props.rounds ? el("div", { class: "tfe-spelling-rounds tfe-projectable" }) : null;
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.replaceChildren(el("section", { class: "tfe-panel tfe-spelling-panel" }, run, rounds), card);

  // ── what is looked at ──
  const isText = () => value?.mode === "text";
  const model = () => [view.get("model"), value?.pick?.model].find((key) => runs.some((one) => one.key === key)) ?? runs[0]?.key ?? null;
  const indexOf = (pos) => (pos >= value.first ? pos - value.first : !isText() && pos > 0 && pos <= letters.length ? pos - 1 : null);

  /** The locked letters, from 0; a position of the first word stands for its letter. */
  function locked() {
    const text = view.get("pos") ?? String(value?.pick?.pos ?? "");
    if (!value || !/^\d+(,\d+)*$/.test(text)) return [];
    return text.split(",").map((pos) => indexOf(Number(pos))).filter((i) => i !== null && i < letters.length);
  }

  function step(by) {
    if (!letters.length) return false;
    const at = locked().at(-1) ?? (by > 0 ? -1 : letters.length);
    return view.set({ pos: value.first + Math.max(0, Math.min(letters.length - 1, at + by)) });
  }

  function choose(by) {
    if (runs.length < 2) return false;
    const at = runs.findIndex(({ key }) => key === model());
    return view.set({ model: runs[Math.max(0, Math.min(runs.length - 1, at + by))].key });
  }

  // ── drawing ──
  const projected = () => projecting() && run.classList.contains("tfe-projected");
  const wrong = (one, i) => one.said[i] !== letters[i];

  async function arrive() {
    const mine = (turn += 1);
    const next = props.value;
    if (!next?.runs?.length) return draw();
    const nats = await Promise.all(next.runs.map((one) => unpack(one.nats)));
    if (mine !== turn) return;
    value = next;
    letters = [...value.given];
    runs = value.runs.map((one, i) => ({ ...one, said: [...one.said], nats: nats[i].data }));
    hovered = null;
    card.hidden = true;
    draw();
  }

  function draw() {
    run.hidden = !value;
    paintRounds();
    if (!value) return;
    title.textContent = t(isText() ? TEXT.text : TEXT.word);
    run.dataset.question = t(isText() ? TEXT.textQuestion : TEXT.wordQuestion);
    units.textContent = t(isText() ? TEXT.textQuestion : TEXT.wordQuestion);
    hint.textContent = t(isText() ? TEXT.hintText : TEXT.hint);
    legend.replaceChildren(
      ...(isText()
        ? [el("span", {}, `${t(TEXT.bits)} 0`, el("span", { class: "tfe-scale surprise" }), `${WORST}+`)]
        : [el("span", {}, el("span", { class: "tfe-spelling-letter", text: "a" }), t(TEXT.right)), el("span", {}, el("span", { class: "tfe-spelling-letter is-wrong", text: "a" }), t(TEXT.wrong))]),
    );
    board.setAttribute("aria-label", t(isText() ? TEXT.boardText : TEXT.board, { n: letters.length, models: runs.length }));
    if (isText()) paintText();
    else paintWord();
    paintMarks();
    paintSheet();
  }

  /** Letters in columns, as many in a line as there is room for; every line names its rows. */
  function paintWord() {
    const { cell, side, lines, each } = cellOf({ room: room || Math.floor(board.clientWidth) || 600, count: letters.length, big: projected() });
    board.classList.toggle("is-narrow", !side);
    board.style.setProperty("--cell", `${cell}px`);
    board.style.setProperty("--side", `${side}px`);
    nodes = letters.map(() => []);
    const row = (line, key, name, text, end) => {
      const cells = letters.slice(line * each, (line + 1) * each).map((_, at) => {
        const i = line * each + at;
        const one = runs.find((some) => some.key === key);
        const node = el("span", { class: `tfe-spelling-letter ${one && wrong(one, i) ? "is-wrong" : ""}`, "data-i": i, text: shown(text[i]) });
        if (one) node.style.setProperty("--p", `${100 * Math.exp(-one.nats[i])}%`);
        nodes[i].push(node);
        return node;
      });
      return el("div", { class: `tfe-spelling-row ${key ? "" : "is-given"}`, "data-model": key }, el("span", { class: "tfe-spelling-name", text: name }), el("span", { class: "tfe-spelling-cells" }, cells), line === lines - 1 ? el("span", { class: "tfe-spelling-share", text: end }) : null);
    };
    const ruler = (line) =>
      el(
        "div",
        { class: "tfe-spelling-row is-ruler", "aria-hidden": "true" },
        el("span", { class: "tfe-spelling-name" }),
        el("span", { class: "tfe-spelling-cells" }, letters.slice(line * each, (line + 1) * each).map((_, at) => el("span", { text: at % 5 === 0 ? String(line * each + at + 1) : "" }))),
      );
    board.replaceChildren(
      ...Array.from({ length: lines }, (_, line) =>
        el("div", { class: "tfe-spelling-line" }, ruler(line), row(line, null, t(TEXT.given), letters, ""), ...runs.map((one) => row(line, one.key, t(one.name), one.said, (one.right / letters.length).toFixed(3)))),
      ),
    );
  }

  /** One text, each letter on the colour of its bits. */
  function paintText() {
    board.classList.remove("is-narrow");
    const [one] = runs;
    const stops = props.surprise[dark() ? "dark" : "light"];
    nodes = letters.map((letter, i) => {
      const { ground, ink } = tint(stops, one.nats[i] / Math.LN2);
      const node = el("span", { class: "tfe-spelling-character", "data-i": i, style: { background: ground, color: ink }, text: letter === "\n" ? "⏎\n" : letter === " " ? "␠\u200b" : letter });
      return [node];
    });
    board.replaceChildren(el("p", { class: "tfe-spelling-text", dir: "auto" }, nodes.flat()));
  }

  function paintMarks() {
    const [chosen, now] = [locked(), model()];
    nodes.forEach((column, i) => column.forEach((node) => {
      node.classList.toggle("is-locked", chosen.includes(i));
      node.classList.toggle("is-hovered", i === hovered);
    }));
    for (const row of board.querySelectorAll("[data-model]")) row.classList.toggle("is-here", row.dataset.model === now && runs.length > 1);
    const told = chosen.at(-1);
    words.textContent = told === undefined ? whole() : sentence(told);
    root.dataset.drawn = `${value.state} ${now} ${told ?? "none"}`;
    paintHere();
  }

  const each = (parts) => parts.join(t({ en: ", ", zh: "，" }));

  function sentence(i) {
    const said = (one) => ({ model: t(one.name), said: shown(one.said[i]), letter: shown(letters[i]), p: probability(one.nats[i]) });
    if (isText()) return t(TEXT.character, { i: i + 1, bits: (runs[0].nats[i] / Math.LN2).toFixed(2), ...said(runs[0]) });
    return t(TEXT.letter, { i: i + 1, letter: shown(letters[i]), pos: value.first + i, each: each(runs.map((one) => t(TEXT.says, said(one)))) });
  }

  function whole() {
    if (isText()) return t(TEXT.cost, { bits: runs[0].bits.toFixed(2), n: letters.length, right: runs[0].right });
    return t(TEXT.shares, { each: each(runs.map((one) => t(TEXT.share, { model: t(one.name), right: one.right, n: letters.length }))) });
  }

  function paintRounds() {
    if (!rounds) return;
    heading.textContent = t(TEXT.table);
    rounds.dataset.question = t(TEXT.table);
    rounds.replaceChildren(heading, ...roundsTable(props.rounds));
    paintHere();
  }

  /** The figures of the model in view, with the rounds of its run. */
  function paintHere() {
    if (!rounds) return;
    const now = model();
    const column = isText() ? null : runs.find(({ key }) => key === now)?.rounds;
    for (const node of rounds.querySelectorAll("[data-row]")) {
      const [row, at] = [!isText() && node.dataset.row === now, node.dataset.column !== undefined && node.dataset.column === column];
      node.classList.toggle("is-row", row || at);
      node.classList.toggle("is-cell", row && at);
    }
  }

  function paintSheet() {
    if (sheet.hidden || !value) return;
    sheet.setAttribute("aria-label", t(TEXT.sheet));
    const th = (text) => el("th", { scope: "col", text });
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: t(TEXT.sheet) }),
        el("thead", {}, el("tr", {}, th(t(TEXT.column)), th(t(TEXT.position)), runs.map((one) => th(t(one.name))))),
        el("tbody", {}, letters.map((letter, i) => el("tr", {}, el("th", { scope: "row", text: `${shown(letter)}·${value.first + i + 1}` }), el("td", { text: value.first + i }), runs.map((one) => el("td", { text: `${shown(one.said[i])} ${wrong(one, i) ? "✗" : "✓"} ${probability(one.nats[i])}` }))))),
      ),
    );
  }

  // ── taking it along ──
  function taken() {
    if (!value) return null;
    const stops = props.surprise[dark() ? "dark" : "light"];
    const head = [t(TEXT.column), t(TEXT.position), ...runs.flatMap((one) => [t(one.name), "p"])];
    const rows = letters.map((letter, i) => [shown(letter), value.first + i, ...runs.flatMap((one) => [shown(one.said[i]), probability(one.nats[i])])]);
    return { drawing: drawing({ letters, runs, given: t(TEXT.given), text: isText(), stops }), title: title.textContent, sentence: words.textContent, name: ["spelling"], more: [head, ...rows] };
  }

  function saveCsv() {
    const rows = [["letter", "said_at_position", "given", ...runs.flatMap((one) => [`${one.key}_says`, `${one.key}_nats`])]];
    letters.forEach((letter, i) => rows.push([i + 1, value.first + i, letter, ...runs.flatMap((one) => [one.said[i], Number(one.nats[i].toFixed(6))])]));
    save(fileName(["spelling"], "csv"), csv(rows), "text/csv");
  }

  function saveText() {
    const lines = [`${t(TEXT.given)}: ${value.given}`, ...runs.map((one) => `${t(one.name)} (${one.right} / ${letters.length}): ${one.said.join("")}`)];
    save(fileName(["spelling"], "txt"), `${[...lines, words.textContent, foot()].join("\n")}\n`, "text/plain");
  }

  // ── alive ──
  const under = (event) => {
    const node = event.target.closest?.("[data-i]");
    return node && board.contains(node) ? Number(node.dataset.i) : null;
  };

  function point(i, node) {
    if (i !== hovered) bus.fire("hover-pos", { pos: i === null ? null : value.first + i });
    card.hidden = i === null || projecting();
    if (card.hidden) return;
    card.replaceChildren(
      el("div", {}, el("b", { class: "tfe-mono", text: `${shown(letters[i])}·${value.first + i}` }), isText() ? ` · ${(runs[0].nats[i] / Math.LN2).toFixed(2)} ${t(TEXT.bits)}` : ""),
      ...runs.map((one) => el("div", {}, `${t(one.name)}: `, el("b", { class: "tfe-mono", text: shown(one.said[i]) }), ` ${wrong(one, i) ? "✗" : "✓"} · p(${shown(letters[i])}) ${probability(one.nats[i])}`)),
    );
    const box = node.getBoundingClientRect();
    const { offsetWidth: w, offsetHeight: h } = card;
    const below = box.bottom + 12 + h < window.innerHeight;
    Object.assign(card.style, { left: `${Math.max(8, Math.min(window.innerWidth - w - 8, box.left))}px`, top: `${below ? box.bottom + 12 : Math.max(8, box.top - 12 - h)}px` });
  }

  board.addEventListener("pointerover", (event) => event.pointerType !== "touch" && value && point(under(event), event.target));
  board.addEventListener("pointerleave", () => value && point(null));
  board.addEventListener("click", (event) => {
    if (!value) return;
    const i = under(event);
    const key = event.target.closest("[data-model]")?.dataset.model;
    const patch = key && runs.some((one) => one.key === key) ? { model: key } : {};
    if (i !== null) {
      const others = event.shiftKey ? locked().filter((other) => other !== i) : [];
      Object.assign(patch, { pos: [...others, i].map((one) => value.first + one).join(",") });
    }
    view.set(patch);
  });
  keys(run, {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    PageUp: () => step(-1),
    PageDown: () => step(1),
    Home: () => step(-Infinity),
    End: () => step(Infinity),
    ArrowUp: () => choose(-1),
    ArrowDown: () => choose(1),
    Escape: () => (projecting() || view.get("pos") === null ? false : view.set({ pos: null })),
  });
  bus.on("hover-pos", (detail) => {
    const next = value && typeof detail?.pos === "number" ? indexOf(detail.pos) : null;
    if (next === hovered) return;
    hovered = next;
    if (value) paintMarks();
  });
  view.on(["pos", "model"], () => value && paintMarks());
  let was = false;
  const measure = () => {
    const now = Math.floor(board.clientWidth);
    if (!now || (now === room && projected() === was)) return;
    [room, was] = [now, projected()];
    if (value) draw();
  };
  new ResizeObserver(measure).observe(board);
  new MutationObserver(() => requestAnimationFrame(measure)).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  onLang(draw);
  onTheme(() => value && draw());
  watch("value", arrive);
  draw();
  arrive();
}

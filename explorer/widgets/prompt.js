// A text goes in, words come out: the input with its examples and knobs, the badge that says where the result comes from,
// and the produced pieces, each linked with its row of the attention view.

import { asking } from "./lib/asking.js";
import { badgeOf, grouped } from "./lib/badge.js";
import { clear, el } from "./lib/dom.js";
import { onLang, t } from "./lib/lang.js";
import { fileName, save } from "./lib/export.js";
import { foot } from "./lib/source.js";
import { bus, view } from "./lib/state.js";

const TEXT = {
  examples: { en: "Examples:", zh: "示例：" },
  example: { en: "Example {n}: {text}", zh: "示例 {n}：{text}" },
  take: { en: "TXT: save sentence and translation as a text file", zh: "TXT：把句子和译文存为文本文件" },
  stop: { en: "Stop", zh: "停止" },
  running: { en: "live · word {n}", zh: "实时 · 第 {n} 个词元" },
  stale: { en: "from your last sentence", zh: "来自上一个句子" },
  empty: { en: "Type a sentence, or begin with one of ours.", zh: "输入一个句子，或从我们的例子开始。" },
  noLink: { en: "This sentence is too long for a link; save it as text instead.", zh: "这个句子太长，放不进链接；请存为文本。" },
  use: { en: "Use example {n}", zh: "用示例 {n}" },
  greedy: { en: "greedy", zh: "贪心解码" },
  beam: { en: "beam {n}", zh: "束搜索 {n}" },
  search: { en: "Search: greedy takes the best word at once, a beam keeps several guesses", zh: "搜索方式：贪心每次只取最好的词，束搜索保留几个候选" },
  alpha: { en: "length penalty α", zh: "长度惩罚 α" },
  nats: { en: "log P {value}", zh: "log P {value}" },
  natsLong: { en: "log-probability of the whole translation, in nats", zh: "整句译文的对数概率，单位纳特" },
  pieces: { en: "Translation; choose a piece to lock its row", zh: "译文；选中一个词元即锁定它那一行" },
  piece: { en: "“{piece}” ({i}): lock its row", zh: "“{piece}” ({i})：锁定这一行" },
  endPiece: { en: "the stop token ({i}): lock its row", zh: "终止符 ({i})：锁定这一行" },
  guesses: { en: "All {n} guesses, best score first", zh: "全部 {n} 个候选，得分高的在前" },
  guess: { en: "guess", zh: "候选" },
  score: { en: "score", zh: "得分" },
  long: {
    en: "Your text has {n} characters. This lab reads up to {characters} characters and {tokens} tokens, about {words} words.",
    zh: "您的文本有 {n} 个字符。本实验最多读 {characters} 个字符、{tokens} 个词元，约 {words} 个词。",
  },
  words: {
    en: "Your text has {n} words. This lab reads up to {tokens} tokens, about {words} words.",
    zh: "您的文本有 {n} 个词。本实验最多读 {tokens} 个词元，约 {words} 个词。",
  },
};

const MINUS = "\u2212";
const TARGET = 26; // px that a piece of text can be hit on: 24, and a little for letters that are measured before their font has come
/** A number with a true minus sign. */
const signed = (value, digits = 2) => Number(value).toFixed(digits).replace("-", MINUS);

let serial = 0;

/**
 * props.texts: {region, label, output, run, placeholder} each {en, zh}; {tokens} in a label is filled from props.limits.
 * props.limits: {tokens, words, characters, beam: [min, max], alpha: [min, max, step]} · props.examples: [request]
 * props.outputLanguage: the language of the output, for screen readers ("de").
 * value: see prompt.py. Events: run(request), open({query}), stop({}).
 */
export function mount(root, props, emit, watch) {
  const { texts, limits, examples } = props;
  const id = `tfe-prompt-${(serial += 1)}`;
  let value = props.value ?? { state: "empty" };
  let mine = value.request?.sentence ?? ""; // what we last put into the box

  // ── the input ──
  const label = el("label", { for: id });
  const exampleLabel = el("span", {});
  const exampleButtons = examples.map((example, index) =>
    el("button", { type: "button", class: "tfe-prompt-example", text: String(index + 1), onclick: () => show(example) }),
  );
  const exampleRow = el(
    "div",
    { class: "tfe-prompt-examples", role: "group" },
    exampleLabel,
    ...exampleButtons.flatMap((button, index) => (index ? [el("span", { text: "·", "aria-hidden": "true" }), button] : [button])),
  );
  const box = el("textarea", {
    id,
    class: "tfe-input tfe-prompt-box",
    rows: "1",
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": `${id}-error`,
    oninput: () => {
      grow();
      paintState();
    },
  });
  box.value = mine;
  const goLabel = el("span", {});
  const goKey = el("span", { class: "tfe-prompt-return", text: "⏎", "aria-hidden": "true" });
  const go = el("button", { type: "submit", class: "tfe-button primary tfe-prompt-go" }, goLabel, goKey);
  const error = el("p", { id: `${id}-error`, class: "tfe-error tfe-prompt-error", role: "alert", hidden: true });
  const form = el(
    "form",
    { class: "tfe-prompt-in", novalidate: true },
    el("div", { class: "tfe-prompt-head" }, label, exampleRow),
    el("div", { class: "tfe-prompt-row" }, box, go),
    error,
  );

  // ── the output ──
  const outLabel = el("span", { class: "tfe-prompt-outlabel" });
  const search = el("select", { class: "tfe-select tfe-prompt-search", onchange: () => run() });
  const alphaValue = el("output", { class: "tfe-prompt-alphavalue", for: `${id}-alpha` });
  const alpha = el("input", {
    id: `${id}-alpha`,
    class: "tfe-range",
    type: "range",
    min: limits.alpha[0],
    max: limits.alpha[1],
    step: limits.alpha[2],
    oninput: () => {
      paintAlpha();
      paintState();
    },
    onchange: () => run(),
  });
  const alphaLabel = el("label", { for: `${id}-alpha` });
  const alphaBox = el("span", { class: "tfe-prompt-alpha", hidden: true }, alphaLabel, alpha, alphaValue);
  const nats = el("span", { class: "tfe-prompt-nats" });
  const badge = badgeOf(() => paintState());
  const take = el("button", { type: "button", class: "tfe-button small bare tfe-prompt-take", text: "TXT", onclick: saveText });
  const pieces = el("div", { class: "tfe-prompt-pieces", role: "group", lang: props.outputLanguage });
  const note = el("p", { class: "tfe-prompt-note", hidden: true });
  const guesses = el("details", { class: "tfe-prompt-guesses", hidden: true });
  const out = el(
    "div",
    { class: "tfe-prompt-out" },
    el("div", { class: "tfe-prompt-head" }, el("span", { class: "tfe-prompt-how" }, outLabel, search, alphaBox), el("span", { class: "tfe-prompt-state" }, nats, take, badge.node)),
    pieces,
    note,
    guesses,
  );
  const panel = el("section", { class: "tfe-panel tfe-prompt-panel" }, form, out);
  root.replaceChildren(panel);

  const wish = asking({ emit, first: value.query, noLink: TEXT.noLink, paint: paintState });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (wish.pending) wish.stop();
    else run();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && wish.pending) {
      event.stopPropagation();
      wish.stop();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      run();
    }
  });

  function grow() {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight + 2}px`;
  }

  // ── asking ──
  /** The request as the controls stand. Heads stay silenced and parts left out for a new sentence; hidden words belong to the old one. */
  function asked() {
    const last = value.request ?? {};
    const sentence = box.value;
    return {
      sentence,
      beam: Number(search.value) || 1,
      alpha: Number(alpha.value),
      silenced: last.silenced ?? [],
      hidden: sentence === last.sentence ? (last.hidden ?? []) : [],
      without: last.without ?? [],
    };
  }

  /** Do the controls ask for something else than what is in view? */
  const differs = () => {
    const wanted = asked();
    return ["sentence", "beam", "alpha"].some((key) => wanted[key] !== value.request[key]);
  };

  /** The sentence that refuses a text too long to be sent at all, or null. */
  function tooLong(text) {
    if (text.length <= limits.characters) return null;
    const words = text.split(/\s+/).filter(Boolean).length;
    const fill = { tokens: limits.tokens, words: limits.words, characters: grouped(limits.characters) };
    const shape = words > limits.words ? TEXT.words : TEXT.long;
    const n = grouped(words > limits.words ? words : text.length);
    const put = (text_) => text_.replace(/\{(\w+)\}/g, (_, key) => (key === "n" ? n : fill[key]));
    return { en: put(shape.en), zh: put(shape.zh) };
  }

  /** example: the query of an example whose stored result will do. */
  function run(example = null) {
    const detail = asked();
    const refusal = tooLong(detail.sentence);
    if (refusal) {
      value = { ...value, state: "refused", error: refusal };
      draw();
      return;
    }
    const changed = detail.silenced.length > 0 || detail.hidden.length > 0 || detail.without.length > 0;
    wish.begin(changed ? null : example, () => emit.run(detail));
  }

  function show(example) {
    box.value = mine = example.sentence;
    search.value = String(example.beam);
    alpha.value = String(example.alpha);
    grow();
    run(example.query);
    view.set({ row: null, col: null });
  }

  // ── drawing ──
  /** The controls follow the request that is shown, except a text that was changed meanwhile. */
  function fillControls() {
    const shown = value.request;
    if (!shown || value.state === "refused" || value.state === "waiting") return;
    if (box.value === mine) box.value = mine = shown.sentence;
    search.value = String(shown.beam);
    alpha.value = String(shown.alpha);
    grow();
    paintState();
  }

  function draw() {
    paintTexts();
    paintState();
    paintPieces();
    paintGuesses();
  }

  function paintTexts() {
    const fill = { tokens: limits.tokens, words: limits.words };
    panel.setAttribute("aria-label", t(texts.region));
    label.textContent = t(texts.label, fill);
    exampleLabel.textContent = t(TEXT.examples);
    exampleRow.setAttribute("aria-label", t(TEXT.examples));
    exampleButtons.forEach((button, index) => {
      const name = t(TEXT.example, { n: index + 1, text: examples[index].sentence });
      button.setAttribute("aria-label", name);
      button.title = examples[index].sentence;
      button.setAttribute("aria-pressed", String(value.request?.sentence === examples[index].sentence));
    });
    box.placeholder = t(texts.placeholder);
    outLabel.textContent = t(texts.output);
    search.setAttribute("aria-label", t(TEXT.search));
    search.title = t(TEXT.search);
    const chosen = search.value || String(value.request?.beam ?? 1);
    const options = [];
    for (let n = limits.beam[0]; n <= limits.beam[1]; n += 1) {
      options.push(el("option", { value: n, text: n === 1 ? t(TEXT.greedy) : t(TEXT.beam, { n }) }));
    }
    search.replaceChildren(...options);
    search.value = chosen;
    alphaLabel.textContent = t(TEXT.alpha);
    alphaBox.hidden = Number(search.value) === 1;
    paintAlpha();
    pieces.setAttribute("aria-label", t(TEXT.pieces));
  }

  function paintAlpha() {
    const [low, high] = limits.alpha;
    alpha.style.setProperty("--at", `${((alpha.value - low) / (high - low)) * 100}%`);
    alphaValue.textContent = Number(alpha.value).toFixed(1);
  }

  function paintState() {
    const busy = wish.pending;
    go.classList.toggle("primary", !busy);
    goLabel.textContent = busy ? t(TEXT.stop) : t(texts.run);
    goKey.textContent = busy ? "Esc" : "⏎";
    panel.setAttribute("aria-busy", String(busy));
    const streaming = busy && wish.heard && value.state === "running";
    panel.classList.toggle("is-stale", busy && !streaming);
    const wrong = !busy && value.state === "refused";
    badge.paint({ value, wish, wrong, differs, progress: () => t(TEXT.running, { n: value.output?.pieces.length ?? 0 }) });

    error.hidden = !(value.state === "refused" && value.error);
    error.textContent = error.hidden ? "" : t(value.error);
    box.setAttribute("aria-invalid", String(!error.hidden));

    const done = !busy && value.log_probability !== undefined && value.log_probability !== null && value.state !== "refused";
    nats.hidden = !done;
    nats.textContent = done ? t(TEXT.nats, { value: signed(value.log_probability) }) : "";
    nats.title = t(TEXT.natsLong);
    take.hidden = !done;
    take.title = t(TEXT.take);
    take.setAttribute("aria-label", t(TEXT.take));
    const said = [value.notice, value.warning].filter(Boolean).map((text_) => t(text_));
    if (value.state === "refused" && value.output) said.push(t(TEXT.stale));
    note.hidden = said.length === 0;
    note.textContent = said.join(" ");
  }

  const buttonOf = (index) => pieces.querySelector(`[data-row="${index}"]`);

  function paintPieces() {
    const shown = value.output;
    pieces.classList.toggle("is-stale", value.state === "refused");
    if (!shown || !shown.pieces.length) {
      clear(pieces);
      if (value.state === "empty" || (value.state === "refused" && !shown)) {
        pieces.append(el("span", { class: "tfe-prompt-empty", text: t(TEXT.empty) }), el("button", { type: "button", class: "tfe-button", text: t(TEXT.use, { n: 1 }), onclick: () => show(examples[0]) }));
      }
      return;
    }
    const had = document.activeElement?.dataset?.row;
    const nodes = [];
    shown.pieces.forEach((piece, index) => {
      const end = piece === "</s>";
      if ((shown.space[index] || end) && index) nodes.push(document.createTextNode(" "));
      nodes.push(
        // A span, so that the translation can be selected and copied as one text; in all else a button.
        el("span", {
          role: "button",
          class: end ? "tfe-prompt-piece is-end" : "tfe-prompt-piece",
          "data-row": index,
          text: piece,
          "aria-label": t(end ? TEXT.endPiece : TEXT.piece, { piece, i: index }),
          tabindex: "-1",
          onclick: () => getSelection().isCollapsed && lock(index),
          onmouseenter: () => bus.fire("hover-row", { row: index }),
          onmouseleave: () => bus.fire("hover-row", { row: null }),
        }),
      );
    });
    pieces.replaceChildren(...nodes);
    const reaches = [...pieces.children].map((node) => (TARGET - node.getBoundingClientRect().width) / 2); // all are asked before any changes
    reaches.forEach((reach, at) => {
      if (reach <= 0) return;
      pieces.children[at].classList.add("is-narrow");
      pieces.children[at].style.setProperty("--reach", `${reach}px`);
    });
    paintLock();
    if (had !== undefined && pieces.isConnected) buttonOf(had)?.focus({ preventScroll: true });
  }

  const rowsAreOutput = () => (view.get("kind") ?? value.pick?.kind ?? "cross") !== (props.inputKind ?? "encoder");
  /** The locked rows, as the attention view writes them: "9", "9,10" or "none"; before anybody chose, the telling one. */
  const lockedRows = () => {
    const kind = view.get("kind");
    const asked = view.get("row") ?? (kind === null || kind === value.pick?.kind ? value.pick?.row : null);
    return String(asked ?? "").split(",").map((row) => Number.parseInt(row, 10));
  };

  function lock(index) {
    if (!rowsAreOutput()) view.set({ kind: "cross", row: index, col: null });
    else view.set({ row: index, col: null });
  }

  function paintLock(over = null) {
    const locked = rowsAreOutput() ? lockedRows() : [];
    const buttons = [...pieces.querySelectorAll("[data-row]")];
    let stop_ = buttons[0];
    for (const button of buttons) {
      const index = Number(button.dataset.row);
      const on = locked.includes(index) && value.state !== "running";
      button.setAttribute("aria-pressed", String(on));
      button.classList.toggle("is-locked", on);
      button.classList.toggle("is-over", index === over);
      if (on) stop_ = button;
    }
    for (const button of buttons) button.tabIndex = button === stop_ ? 0 : -1;
  }

  pieces.addEventListener("keydown", (event) => {
    if (event.target.dataset.row && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      lock(Number(event.target.dataset.row));
    }
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move || !event.target.dataset.row) return;
    event.preventDefault();
    const buttons = [...pieces.querySelectorAll("[data-row]")];
    const next = buttons[buttons.indexOf(event.target) + move];
    if (next) {
      next.focus();
      lock(Number(next.dataset.row));
    }
  });

  function paintGuesses() {
    const list = value.hypotheses ?? [];
    guesses.hidden = list.length < 2 || value.state === "refused";
    if (guesses.hidden) return;
    const open = guesses.childElementCount === 0 ? true : guesses.open;
    const head = el("tr", {}, ...["", t(TEXT.guess), "log P", t(TEXT.score)].map((text) => el("th", { scope: "col", text })));
    const rows = list.map(([text, logp, score], index) =>
      el(
        "tr",
        { class: index === 0 ? "is-best" : null },
        el("th", { scope: "row", text: String(index + 1) }),
        el("td", { lang: props.outputLanguage, text: text || "–" }),
        el("td", { class: "number", text: signed(logp) }),
        el("td", { class: "number", text: signed(score, 3) }),
      ),
    );
    guesses.replaceChildren(
      el("summary", { text: t(TEXT.guesses, { n: list.length }) }),
      el("div", { class: "tfe-prompt-table" }, el("table", { class: "tfe-table" }, el("thead", {}, head), el("tbody", {}, ...rows))),
    );
    guesses.open = open;
  }

  /** What went in and what came out, with the address of this view. */
  function saveText() {
    const how = [search.selectedOptions[0].textContent, ...(value.request.beam > 1 ? [`α ${value.request.alpha}`] : []), nats.textContent];
    const lines = [value.request.sentence, written(value.output), how.join(" · ")];
    for (const [index, [text, logp]] of (value.hypotheses ?? []).entries()) lines.push(`${index + 1}. ${text} · log P ${signed(logp)}`);
    save(fileName(["text"], "txt"), `${[...lines, foot()].join("\n")}\n`, "text/plain");
  }

  /** Pieces as one text, the stop token left out. */
  function written({ pieces: all, space }) {
    return all.map((piece, index) => (piece === "</s>" ? "" : (space[index] && index ? " " : "") + piece)).join("");
  }

  // ── wiring ──
  const receive = () => {
    const next = props.value ?? { state: "empty" };
    if (!wish.receive(next)) return;
    const { error: _e, notice: _n, ...kept } = value;
    value = next.state === "waiting" || next.state === "refused" ? { ...kept, ...next } : next;
    fillControls();
    draw();
  };
  watch("value", receive);
  view.on(["row", "kind"], () => paintLock());
  bus.on("hover", (detail) => paintLock(detail && rowsAreOutput() ? detail.row : null));
  onLang(draw);
  draw();
  fillControls();
  wish.follow(() => {
    mine = box.value; // another state of the page is wanted: its sentence replaces what stands here
  });
}

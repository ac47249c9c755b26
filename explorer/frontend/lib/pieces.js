// An answer of pieces that a network produced, each linked with its row of the attention in view;
// below it all hypotheses of a beam.

import { el, focusIn } from "./dom.js";
import { plain } from "./keys.js";
import { t } from "./lang.js";
import { number } from "./signs.js";
import { bus, view } from "./state.js";

const TEXT = {
  pieces: {
    en: "Translation; choose a piece to lock its row",
    zh: "译文；选中一个词片即锁定它那一行",
  },
  piece: { en: "“{piece}” ({i}): lock its row", zh: "“{piece}” ({i})：锁定这一行" },
  endPiece: { en: "the stop token ({i}): lock its row", zh: "终止符 ({i})：锁定这一行" },
  nats: { en: "log P {value}", zh: "log P {value}" },
  natsLong: {
    en: "log-probability of the whole translation, in nats",
    zh: "整句译文的对数概率，单位纳特",
  },
  guesses: { en: "All {n} guesses, best score first", zh: "全部 {n} 个候选，得分高的在前" },
  guess: { en: "guess", zh: "候选" },
  score: { en: "score", zh: "得分" },
  ended: { en: "ended by", zh: "结束原因" },
  token: { en: "stop token", zh: "终止符" },
  limit: { en: "limit", zh: "上限" },
};
const STOP = "</s>";
// px that a piece of text can be hit on: 24, and a little for letters that are measured before
// their font has come
const TARGET = 26;
const written = ({ pieces, space }) =>
  pieces.map((piece, at) => (piece === STOP ? "" : (space[at] && at ? " " : "") + piece)).join("");

/**
 * node; nats: what its log-probability is, for the head of the answer; paint(answer, grows);
 * text(answer): lines of a file.
 *
 * answer: see `pieces` in ask.py. pick: () => {kind, row} looked at on arrival. Rows of the
 * attention called "encoder" are what was read.
 */
export function piecesOf({ pick }) {
  const line = el("div", { class: "tfe-pieces-line", role: "group" });
  const nats = el("span", { class: "tfe-pieces-nats", hidden: true });
  const guesses = el("details", { class: "tfe-pieces-guesses", hidden: true, open: true });
  const node = el("div", { class: "tfe-pieces", hidden: true }, line, guesses);
  let growing = false;

  function paintLine({ pieces, space, language }) {
    const had = focusIn(line)?.dataset.row;
    line.lang = language;
    line.setAttribute("aria-label", t(TEXT.pieces));
    line.replaceChildren(
      ...pieces.flatMap((piece, row) => {
        const end = piece === STOP;
        const one = el("span", {
          role: "button", // so that the translation can be selected and copied as one text; in all else a button
          class: `tfe-pieces-piece${end ? " is-end" : ""}`,
          "data-row": row,
          text: piece,
          "aria-label": t(end ? TEXT.endPiece : TEXT.piece, { piece, i: row }),
          tabindex: "-1",
          onclick: () => getSelection().isCollapsed && lock(row),
          onmouseenter: () => bus.fire("hover-pos", { pos: row, from: line }),
          onmouseleave: () => bus.fire("hover-pos", { pos: null, from: line }),
        });
        return row && (space[row] || end) ? [" ", one] : [one];
      }),
    );
    // all are asked before any changes
    const reaches = [...line.children].map((one) =>
      (TARGET - one.getBoundingClientRect().width) / 2
    );
    reaches.forEach((reach, at) => {
      if (reach <= 0) return;
      line.children[at].classList.add("is-narrow");
      line.children[at].style.setProperty("--reach", `${reach}px`);
    });
    paintLock();
    if (had !== undefined) {
      line.querySelector(`[data-row="${had}"]`)?.focus({ preventScroll: true });
    }
  }

  const rowsAreOurs = () => (view.get("kind") ?? pick()?.kind) !== "encoder";
  /**
   * The locked rows, as the attention view writes them: "9", "9,10" or "none"; before anybody
   * chose, the telling one.
   */
  function lockedRows() {
    const kind = view.get("kind");
    const asked = view.get("row") ?? (kind === null || kind === pick()?.kind ? pick()?.row : null);
    return String(asked ?? "").split(",").map((row) => Number.parseInt(row, 10));
  }

  const lock = (row) => view.set({ ...(rowsAreOurs() ? {} : { kind: "cross" }), row, col: null });

  function paintLock(over = null) {
    const locked = rowsAreOurs() && !growing ? lockedRows() : [];
    let stop = line.firstElementChild;
    for (const one of line.children) {
      const row = Number(one.dataset.row);
      const on = locked.includes(row);
      one.setAttribute("aria-pressed", String(on));
      one.classList.toggle("is-locked", on);
      one.classList.toggle("is-over", row === over);
      if (on) stop = one;
    }
    for (const one of line.children) one.tabIndex = one === stop ? 0 : -1;
  }

  line.addEventListener("keydown", (event) => {
    const { row } = event.target.dataset;
    const move = { ArrowRight: 1, ArrowLeft: -1, Enter: 0, " ": 0 }[event.key];
    if (row === undefined || move === undefined || !plain(event)) return;
    event.preventDefault();
    const next = line.children[Number(row) + move];
    next?.focus();
    if (next) lock(Number(next.dataset.row));
  });

  function paintGuesses({ hypotheses, language }) {
    guesses.hidden = hypotheses.length < 2;
    if (guesses.hidden) return;
    const head = el(
      "tr",
      {},
      ...["#", t(TEXT.guess), "log P", t(TEXT.score), t(TEXT.ended)]
        .map((text) => el("th", { scope: "col", text })),
    );
    const rows = hypotheses.map(([text, logP, score, reason], at) =>
      el(
        "tr",
        { class: at ? null : "is-best" },
        el("th", { scope: "row", text: String(at + 1) }),
        el("td", { lang: language, text: text || "–" }),
        el("td", { class: "number", text: number(logP) }),
        el("td", { class: "number", text: number(score, 3) }),
        el("td", { text: t(TEXT[reason]) }),
      )
    );
    const table = el(
      "table",
      { class: "tfe-table" },
      el("thead", {}, head),
      el("tbody", {}, ...rows),
    );
    // on a phone it does: keys must reach it
    const scrolled = el("div", { class: "tfe-pieces-table", tabindex: "0" }, table);
    guesses.replaceChildren(
      el("summary", { text: t(TEXT.guesses, { n: hypotheses.length }) }),
      scrolled,
    );
  }

  const natsOf = (
    { log_probability: logP },
  ) => (logP === null ? "" : t(TEXT.nats, { value: number(logP) }));

  view.on(["row", "kind"], () => paintLock());
  bus.on("hover-pos", ({ pos, from }) => from !== line && paintLock(rowsAreOurs() ? pos : null));
  return {
    node,
    nats,
    /** grows: more of it is to come. */
    paint(answer, grows) {
      growing = grows;
      node.hidden = nats.hidden = !answer;
      if (!answer) return;
      nats.textContent = natsOf(answer);
      nats.title = t(TEXT.natsLong);
      paintLine(answer);
      paintGuesses(answer);
    },
    text: (
      answer,
    ) => [
      answer.text || written(answer),
      natsOf(answer),
      ...answer.hypotheses.map(([text, logP, , reason], at) =>
        `${at + 1}. ${text} · log P ${number(logP)} · ${t(TEXT.ended)}: ${t(TEXT[reason])}`
      ),
    ],
  };
}

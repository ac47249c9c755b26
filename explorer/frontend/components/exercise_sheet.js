// The page of all exercises: what this browser has solved, the printed sheet, results as CSV, and
// the code that a student hands in.

import { el } from "../lib/dom.js";
import { csv, fileName, save } from "../lib/export.js";
import { t } from "../lib/lang.js";
import { readCode, solvedExercises, writeCode } from "../lib/progress.js";
import { speaking } from "../lib/speaking.js";
import { pageAt } from "../lib/state.js";

/** The code of this browser, and a line that reads the code of another one. */
function codeBox({ texts, all, ids, isSolved }, { paint, say, name }) {
  const nameExercise = ({ lab, at }) => `${t(lab.title)} ${at + 1}`;
  const code = say(
    el("code", { class: "tfe-exercise-code" }),
    () => writeCode(ids, isSolved),
  );
  const given = el("input", { class: "tfe-input", spellcheck: "false", autocomplete: "off" });
  name(given, texts.read);
  const verdict = say(el("p", { class: "tfe-note", role: "status" }), () => {
    if (!given.value.trim()) return "";
    const found = readCode(given.value, ids);
    if (!found) return t(texts.broken);
    const which = all.filter(({ id }) => found.includes(id)).map(nameExercise);
    return t(texts.says, {
      n: found.length,
      of: ids.length,
      which: which.join(", ") || t(texts.none),
    });
  });
  given.addEventListener("input", paint);
  return el(
    "div",
    { class: "tfe-panel tfe-exercise-codes" },
    say(el("h2", { class: "tfe-title" }), texts.code),
    code,
    say(el("p", { class: "tfe-note" }), texts.hand_in),
    el("label", { class: "tfe-row" }, say(el("span"), texts.read), given),
    verdict,
  );
}

/** One exercise: whether it is solved, its question, and its answer for the printed sheet. */
function exerciseRow(one, { texts, isSolved }, { say, name, links }) {
  const mark = say(
    el("span", { class: "tfe-exercise-mark" }),
    () => (isSolved(one.id) ? "✓" : ""),
  );
  name(mark, () => t(isSolved(one.id) ? texts.solved : texts.open));
  mark.setAttribute("role", "img");
  return el(
    "li",
    { class: "tfe-exercise" },
    mark,
    el(
      "div",
      {},
      links(
        say(el("a", { class: "tfe-link" }), one.question),
        () => pageAt(one.lab.path, { _exercises: "open" }),
      ),
      el(
        "p",
        { class: "tfe-note tfe-exercise-answer" },
        say(el("b"), texts.answer),
        " ",
        say(el("span"), one.answer),
        " ",
        links(
          say(el("a", { class: "tfe-link" }), texts.see),
          () => pageAt(one.lab.path, Object.fromEntries(new URLSearchParams(one.solution))),
        ),
      ),
    ),
  );
}

/** props.labs: in teaching order, see exercises.py. */
export function mount(root, props) {
  const { labs, texts } = props;
  const all = labs.flatMap((lab) => lab.exercises.map((one, at) => ({ ...one, lab, at })));
  const ids = all.map(({ id }) => id);
  const speaks = speaking();
  const { paint, say } = speaks;
  const isSolved = (id) => id in solvedExercises();
  const sheet = { texts, all, ids, isSolved };
  const button = (text, act, kind = "") =>
    say(el("button", { type: "button", class: `tfe-button ${kind}`, onclick: act }), text);
  function printSheet(hasAnswers) {
    root.classList.toggle("with-answers", hasAnswers);
    window.print();
  }
  function saveResults() {
    const solved = solvedExercises();
    const head = [texts.lab, texts.exercise, texts.done].map(t);
    const rows = all.map((one) => [t(one.lab.title), t(one.question), solved[one.id] ?? ""]);
    save(fileName([], "csv"), csv([head, ...rows]), "text/csv");
  }

  root.append(
    el(
      "div",
      { class: "tfe-lecture-hero" },
      say(el("h1", { class: "tfe-lecture-title" }), texts.title),
      say(el("p", { class: "tfe-lead" }), texts.lead),
      say(
        el("p", { class: "tfe-exercise-count" }),
        () => t(texts.count, { n: ids.filter(isSolved).length, of: ids.length }),
      ),
      el(
        "div",
        { class: "tfe-row" },
        button(texts.sheet, () => printSheet(false)),
        button(texts.answers, () => printSheet(true)),
        button(texts.csv, saveResults),
      ),
      codeBox(sheet, speaks),
    ),
    el(
      "ol",
      { class: "tfe-lecture-labs tfe-exercise-labs" },
      labs.map((lab) =>
        el(
          "li",
          { class: "tfe-panel tfe-lecture-lab" },
          say(el("h2", { class: "tfe-title" }), lab.title),
          el(
            "ol",
            { class: "tfe-exercises-list" },
            all.filter((one) => one.lab === lab).map((one) => exerciseRow(one, sheet, speaks)),
          ),
        )
      ),
    ),
  );
  addEventListener("storage", paint); // solved in another tab
  addEventListener("pageshow", paint);
  addEventListener("afterprint", () => root.classList.remove("with-answers"));
  paint();
}

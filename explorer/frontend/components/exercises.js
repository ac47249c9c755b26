// The exercises of a lab. The server checks one when it is asked to, on the run and the selection
// in view.

import { el } from "../lib/dom.js";
import { folded } from "../lib/folded.js";
import { t } from "../lib/lang.js";
import { recordExercise, solvedExercises } from "../lib/progress.js";
import { speaking } from "../lib/speaking.js";
import { pageAt, read } from "../lib/state.js";

/** props: see exercises.py. Event: ask({run, wish: {exercise, look} | null}). */
export function mount(root, props, emit, watch) {
  const { texts, exercises } = props;
  let asked = null; // the exercise that is being checked
  const { paint, say, links } = speaking();

  const rows = new Map(exercises.map((exercise) => {
    const state = el("p", { class: "tfe-note tfe-exercise-state", role: "status" });
    const mark = el("span", { class: "tfe-exercise-mark", "aria-hidden": "true" });
    const button = say(
      el("button", { type: "button", class: "tfe-button", onclick: () => check(exercise.key) }),
      texts.check,
    );
    const node = el(
      "li",
      { class: "tfe-exercise" },
      mark,
      el("div", {}, say(el("p"), exercise.question), state),
      button,
    );
    return [exercise.key, { ...exercise, node, mark, state, text: null }];
  }));

  function showState(row, text) {
    const isSolved = row.id in solvedExercises();
    row.text = text;
    row.node.classList.toggle("solved", isSolved);
    row.mark.textContent = isSolved ? "✓" : "";
    paint();
  }

  function check(key) {
    const look = Object.fromEntries(
      [...read()].filter(([name]) => name.startsWith("_")).map(([name, text]) => [
        name.slice(1),
        text,
      ]),
    );
    asked = { exercise: key, look };
    showState(rows.get(key), texts.checking);
    panel.ask();
  }

  const panel = folded({
    root,
    key: "exercises",
    title: texts.title,
    head: [
      el("ol", { class: "tfe-exercises-list" }, [...rows.values()].map(({ node }) => node)),
      links(
        say(el("a", { class: "tfe-button small tfe-exercise-all" }), texts.all),
        () => pageAt("/exercises", {}),
      ),
    ],
    body: [],
    props,
    watch,
    emit,
    wish: () => asked,
    draw({ wish, solved }) {
      const row = rows.get(wish?.exercise);
      if (!row) return;
      asked = null;
      if (solved) recordExercise(row.id);
      showState(row, solved ? texts.solved : texts.not_yet);
    },
  });

  watch("value", () => {
    if (props.value?.state !== "refused" || !asked) return;
    const row = rows.get(asked.exercise);
    asked = null;
    showState(row, null);
  });
  for (const row of rows.values()) {
    say(row.state, () => {
      const text = row.text ?? (row.id in solvedExercises() ? texts.solved : null);
      return text ? t(text) : "";
    });
    showState(row, null);
  }
}

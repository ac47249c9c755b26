// How a model was trained: the table of its time, and its own recipe in figures.

import { clear, el } from "./lib/dom.js";
import { folded } from "./lib/folded.js";
import { t } from "./lib/lang.js";
import { nested } from "./lib/nested.js";

/** props: see training.py. Event: ask({run, wish}). */
export function mount(root, props, emit, watch) {
  const sheet = el("div", { class: "tfe-scroll", tabindex: "0", role: "region" });
  const board = el("div", { class: "tfe-training-figures" });
  const facts = el("dl", { class: "tfe-training-facts" });
  const notes = el("div", { class: "tfe-training-notes" });
  let figures = [];

  folded({ root, key: "training", title: props.title_text, body: [sheet, notes, board, facts], props, watch, emit, draw });

  function draw(value) {
    sheet.setAttribute("aria-label", t(props.title_text));
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table tfe-training-table" },
        el("thead", {}, el("tr", {}, value.table.columns.map((column) => el("th", { scope: "col", text: t(column) })))),
        el(
          "tbody",
          {},
          value.table.rows.map(({ cells, ours }) =>
            el("tr", { class: ours ? "ours" : null }, cells.map((cell, i) => el(i ? "td" : "th", { scope: i ? null : "row", text: t(cell) }))),
          ),
        ),
      ),
    );
    clear(notes).append(...value.notes.map((note) => el("p", { class: "tfe-note", text: t(note) })));
    clear(facts).append(...value.facts.map(([name, what]) => el("div", {}, el("dt", { text: t(name) }), el("dd", { text: t(what) }))));
    if (figures.length !== value.figures.length) {
      figures = value.figures.map(() => nested(props.plotly));
      clear(board).append(...figures.map((figure) => figure.node));
    }
    figures.forEach((figure, i) => figure.set(value.figures[i]));
  }
}

// What Python makes of a panel, part by part in the order of its value: figures and choices among
// them, notes, lines of pieces, a table, facts. The kinds of parts are told in
// explorer/components/figure.py.

import { el, segmented } from "./dom.js";
import { lang, t } from "./lang.js";
import { nested } from "./nested.js";
import { shown } from "./signs.js";
import { judge, request, view } from "./state.js";

const chosen = (
  { key, pick, options },
) => (options.some((one) => one.key === view.get(key)) ? view.get(key) : pick);

const piece = ({ text, index, role, joined }) =>
  el(
    "span",
    { class: ["tfe-token", role, joined && "joined"].filter(Boolean).join(" ") },
    el("bdi", { text: shown(text) }),
    el("span", { class: "index", text: String(index) }),
  );

/**
 * The parts of a panel: each is built once, {node, set(content, {plotly, title, look})}; look:
 * {key: what is chosen}.
 */
const PARTS = {
  notes() {
    const node = el("div", { class: "tfe-opened-notes" });
    return {
      node,
      set: (notes) =>
        node.replaceChildren(...notes.map((note) => el("p", { class: "tfe-note", text: t(note) }))),
    };
  },
  heading() {
    const node = el("h3", { class: "tfe-title" });
    return { node, set: (text) => (node.textContent = t(text)) };
  },
  choices() {
    let [built, made] = ["", []];
    const node = el("div", { class: "tfe-row tfe-controls" });
    return {
      node,
      set(choices, { look }) {
        const shape = JSON.stringify([choices, lang()]);
        if (built !== shape) {
          built = shape;
          made = choices.map(({ key, label, options }) => {
            const named = options.map((one) => ({ key: one.key, label: t(one.label) }));
            return segmented({
              options: named,
              value: "",
              label: t(label),
              onPick: (picked) => view.set({ [key]: picked }),
            });
          });
          node.replaceChildren(...choices.map(({ label }, at) =>
            el(
              "span",
              { class: "tfe-row tight" },
              el("span", { class: "tfe-label", text: t(label) }),
              made[at].node,
            )
          ));
          node.hidden = !choices.length;
        }
        choices.forEach(({ key }, at) => made[at].set({ value: look[key] }));
      },
    };
  },
  figures() {
    const drawn = [];
    const node = el("div", { class: "tfe-opened-figures" });
    return {
      node,
      set(figures, { plotly, look }) {
        const there = figures.filter(({ when = {} }) =>
          Object.entries(when).every(([key, text]) => look[key] === text)
        );
        while (drawn.length < there.length) {
          drawn.push(nested(plotly));
          node.append(drawn.at(-1).node);
        }
        node.dataset.figures = drawn.length; // how many stand beside each other
        drawn.forEach((one, at) => one.set(there[at]?.figure ?? null));
      },
    };
  },
  lines() {
    const node = el("div", { class: "tfe-opened-lines" });
    return {
      node,
      set: (lines) =>
        node.replaceChildren(
          ...lines.flatMap((
            { label, lang: of, pieces },
          ) => [
            el("span", { class: "tfe-label", text: t(label) }),
            el("p", { class: "tfe-opened-pieces", lang: of }, pieces.map(piece)),
          ]),
        ),
    };
  },
  button() {
    let set = {};
    const button = el("button", {
      type: "button",
      class: "tfe-button small",
      onclick: () => view.set(set),
    });
    return {
      node: el("div", { class: "tfe-row" }, button),
      set(how) {
        button.textContent = t(how.label);
        ({ set } = how);
      },
    };
  },
  table() {
    const node = el("div", { class: "tfe-scroll", tabindex: "0", role: "region" });
    return {
      node,
      set({ columns, rows, langs = [] }, { title }) {
        const cell = (text, i, { marks = [] }) =>
          el(i ? "td" : "th", {
            scope: i ? null : "row",
            text: t(text),
            class: marks[i] ?? null,
            lang: langs[i] ?? null,
          });
        const head = (text, i) =>
          el("th", { scope: "col", text: t(text), class: langs[i] ? "text" : null });
        node.setAttribute("aria-label", t(title));
        node.replaceChildren(
          el(
            "table",
            { class: "tfe-table tfe-opened-table" },
            el("thead", {}, el("tr", {}, columns.map(head))),
            el(
              "tbody",
              {},
              rows.map((row) =>
                el(
                  "tr",
                  { class: row.ours ? "ours" : null },
                  row.cells.map((text, i) => cell(text, i, row)),
                )
              ),
            ),
          ),
        );
      },
    };
  },
  facts() {
    const node = el("dl", { class: "tfe-opened-facts" });
    return {
      node,
      set: (facts) =>
        node.replaceChildren(
          ...facts.map(([name, what]) =>
            el("div", {}, el("dt", { text: t(name) }), el("dd", { text: t(what) }))
          ),
        ),
    };
  },
};

/**
 * @returns {{node: HTMLElement, set: (value: any) => void}} of a panel with a title. plotly: the
 * address of plotly.js
 */
export function parts({ plotly, title }) {
  const node = el("div", { class: "tfe-opened-parts" });
  let made = {}; // those that stand, by their names
  return {
    node,
    set(value) {
      const all = Object.entries(value).filter(([name]) => PARTS[name.split("_")[0]]);
      const choices = value.choices ?? [];
      judge(
        Object.fromEntries(
          choices.map((
            { key, options },
          ) => [key, (text) => options.some((one) => one.key === text)]),
        ),
        request.get(),
      );
      const look = Object.fromEntries(choices.map((one) => [one.key, chosen(one)]));
      if (Object.keys(made).join() !== all.map(([name]) => name).join()) {
        made = Object.fromEntries(all.map(([name]) => [name, PARTS[name.split("_")[0]]()]));
        node.replaceChildren(...Object.values(made).map((one) => one.node));
      }
      for (const [name, content] of all) made[name].set(content, { plotly, title, look });
    },
  };
}

// Regions of the frame around a page: where in the network one is, and the sheet of keys.

import { clear, el } from "../lib/dom.js";
import { projecting } from "../lib/keys.js";
import { t } from "../lib/lang.js";
import { bus, view } from "../lib/state.js";

/**
 * The network's parts as buttons; the part whose panel is in view is lit.
 * @param {{columns: (import("../border.d.ts").NetworkPart & {button?: any, at?: any})[][], main:
 * HTMLElement, say: Function, name: Function, words: any, visit: (part: any, node: Element | null)
 * => void}} how
 *   visit: goes to a part, of which the page shows this node
 */
export function networkMap({ columns, main, say, name, words, visit }) {
  const parts = columns.flat();
  for (const part of parts) {
    part.button = say(el("button", { type: "button", onclick: () => go(part) }), part.name);
  }
  const nodeOf = ({ panel }) => main.querySelector(`.tfe-${panel}`);
  const node = name(
    el(
      "section",
      { class: "tfe-shell-where", hidden: !parts.length },
      say(el("p", { class: "tfe-shell-heading" }), words.where),
      el(
        "div",
        { class: "tfe-shell-network" },
        ...columns.map((column) =>
          el("ol", {}, ...column.map(({ button }) => el("li", {}, button)))
        ),
      ),
    ),
    words.where,
  );
  let visited = null; // the part that was gone to, until the visitor moves on
  for (const act of ["wheel", "touchmove", "keydown"]) {
    addEventListener(act, () => (visited = null), { passive: true });
  }
  function go(part) {
    visited = part;
    visit(part, nodeOf(part));
    relocate();
  }
  /**
   * Lights the part whose panel is nearest to the middle of the screen; where several share it, the
   * one that is looked at there.
   */
  function locate() {
    const seen = parts.filter((part) => {
      const panel = nodeOf(part);
      part.at = panel?.getClientRects()[0];
      part.button.parentElement.hidden = !part.at && !panel?.closest("details:not([open])") &&
        !Object.values(part.view).includes("open");
      return part.at;
    });
    /** @param {any} part */
    const away = ({ at }) =>
      Math.max(at.top - 0.55 * innerHeight, 0.55 * innerHeight - at.bottom, 0);
    const nearest = seen.reduce(
      (best, part) => (!best || away(part) < away(best) ? part : best),
      null,
    );
    const here = seen.filter(({ panel }) => panel === nearest?.panel);
    const told = seen.find((part) => part === visited && part.at.top < innerHeight) ??
      here.find((part) =>
        Object.entries(part.view).every(([key, text]) => view.get(key) === text)
      ) ?? here.at(-1);
    for (const { button } of parts) button.toggleAttribute("aria-current", false);
    told?.button.setAttribute("aria-current", "location");
  }
  let locating = 0;
  const relocate = () => {
    locating ||= setTimeout(() => {
      locating = 0;
      if (!projecting()) locate();
    }, 120);
  };
  if (parts.length) {
    addEventListener("scroll", relocate, { passive: true });
    addEventListener("resize", relocate);
    bus.on("view", relocate);
  }
  return { node, relocate };
}

/** The sheet of keys. rows: [keys, what they do], both in two languages. */
export function keysSheet({ say, name, paints, words, rows }) {
  const sheetRows = el("dl");
  const sheetWhere = say(el("p", { class: "tfe-note" }), words.grammar_where);
  const sheet = el(
    "dialog",
    { class: "tfe tfe-shell-sheet" },
    say(el("h2", { class: "tfe-title" }), words.keys),
    sheetRows,
    sheetWhere,
    say(
      el("button", { type: "button", class: "tfe-button", onclick: () => sheet.close() }),
      words.close,
    ),
  );
  name(sheet, words.keys);
  paints(sheetRows, () => {
    clear(sheetRows);
    for (const [act, effect] of rows) {
      sheetRows.append(el(
        "div",
        {},
        el(
          "dt",
          {},
          ...t(act).split(/, |、/)
            .flatMap((key, at) => [at ? " " : null, el("kbd", { text: key })]),
        ),
        el("dd", { text: t(effect) }),
      ));
    }
  });
  return sheet;
}

// The menu of what a visitor takes along of a picture on the stage.

import { el } from "./dom.js";
import { exportBar } from "./export.js";
import { onLang, t } from "./lang.js";
import { view } from "./state.js";
import { takes } from "./take.js";

const TEXT = { en: "Take along", zh: "带走" };

/**
 * @param {() => any} stand the board that draws it @param {{picture: any, root: HTMLElement, name: string, address: string, texts: any}} what
 * @param {() => any} value what is drawn
 */
export function taking(stand, what, value) {
  function state() {
    const { run, look } = stand();
    if (!run) return null;
    const seen = Object.keys(what.picture.looks).filter((key) => view.get(key) !== null)
      .map((key) => [key, view.get(key)]);
    return { ...what, value: { ...value(), ...what.picture.keeps?.(run, look) }, run, look, seen,
      title: stand().title(), units: stand().units(), words: stand().words(), width: stand().width() };
  }
  const take = el("summary", { class: "tfe-button small" });
  const menu = el("details", { class: "tfe-stage-take" }, take,
    exportBar(takes(state, what.picture.files), { onTable: (open) => stand().table(open) }));
  const label = () => (take.textContent = t(TEXT));
  onLang(label);
  label();
  // A file is saved by a click of ours on a link, which closes nothing.
  document.addEventListener("click", (event) => !event.isTrusted || menu.contains(event.target) || (menu.open = false));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    take.focus();
  });
  return menu;
}

// The pictures to choose from, the visitor's own first, then ours: one tab stop, arrows move, Enter
// asks.

import { el, focusIn, roving } from "../lib/dom.js";
import { t } from "../lib/lang.js";
import { paintPicture } from "./pad.js";

/**
 * @param {{side: number, channels: number, names: {en: string, zh: string}[], said: any, greys:
 * (pixels: any) => any, onPick: (key: string, ask: boolean) => void}} how
 *   said: words for them (picturewords.js). greys: how their pixels are shown. onPick: key "own" or
 *   "test:N"; ask: what was chosen is also asked for
 * @returns {{node: HTMLElement, paint: (what: {chosen: string, own: Uint8Array | null, ours:
 * {slice: (index: number) => ArrayLike<number>} | null}) => void}}
 *   chosen: a key; own, ours: pixels
 */
export function strip({ side, channels, names, said, greys, onPick }) {
  const node = el("div", { class: "tfe-picture-strip", role: "radiogroup" });
  // Images are what is shown: a browser puts all canvases of a page together anew in every frame.
  const sheet = el("canvas");

  function build(keys) {
    node.dataset.of = String(keys.length);
    node.style.setProperty(
      "--columns",
      String(keys.length > 10 ? Math.ceil(keys.length / 2) : keys.length),
    );
    node.replaceChildren(
      ...keys.map((key) =>
        el("button", {
          type: "button",
          role: "radio",
          class: "tfe-picture-choice",
          "data-key": key,
          onclick: () => onPick(key, true),
        }, el("img", { alt: "", draggable: "false" }))
      ),
    );
  }

  function paint({ chosen, own, ours }) {
    node.setAttribute("aria-label", t(said.ours));
    const keys = [...(own ? ["own"] : []), ...names.map((_, index) => `test:${index}`)];
    const had = focusIn(node)?.dataset.key ?? null;
    if (node.dataset.of !== String(keys.length)) build(keys);
    for (const button of node.children) {
      const { key } = button.dataset;
      const on = key === chosen;
      const index = Number(key.slice(5));
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on || (!keys.includes(chosen) && button === node.firstElementChild)
        ? 0
        : -1;
      const named = key === "own"
        ? t(said.own)
        : t(said.ourOne, { n: index + 1, name: t(names[index]) });
      button.setAttribute("aria-label", named);
      button.title = named;
      const pixels = key === "own" ? own : ours?.slice(index);
      if (!pixels) continue;
      paintPicture(sheet, { levels: greys(pixels), side, channels });
      button.firstElementChild.src = sheet.toDataURL();
    }
    if (had) {
      [...node.children].find((button) => button.dataset.key === had)?.focus({
        preventScroll: true,
      });
    }
  }

  roving(node, () => [...node.children], (next) => onPick(next.dataset.key, false));
  return { node, paint };
}

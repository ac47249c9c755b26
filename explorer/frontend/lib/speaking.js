// What on a page speaks a language: nodes whose text, name or address is written anew whenever the
// language changes.

import { onLang, t } from "./lang.js";

/**
 * paints(node, write): write() is called by `paint` and in every new language; say, name: a text
 * {en, zh} or a function that gives one; links: the function that gives an address. Each returns
 * the node. paint: all of them, before `after`.
 */
export function speaking(after = () => {}) {
  const painters = [];
  const said = (text) => (typeof text === "function" ? text() : t(text));
  const paints = (node, write) => (painters.push(write), node);
  const paint = () => {
    for (const write of [...painters]) write();
    after();
  };
  onLang(paint);
  return {
    paint,
    paints,
    say: (node, text) => paints(node, () => (node.textContent = said(text))),
    name: (node, text) => paints(node, () => node.setAttribute("aria-label", said(text))),
    links: (node, address) => paints(node, () => (node.href = address())),
  };
}

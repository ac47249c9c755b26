// What a hand types with beside the line itself: a row of bits that are switched, and words that
// are put where the caret stands.

import { el, roving } from "./dom.js";
import { plain } from "./keys.js";
import { onLang, t } from "./lang.js";

const TEXT = {
  bits: {
    en: "Bits; click or Space switches one, 0, 1 and Delete write, arrows move",
    zh: "比特；点击或按空格切换，按 0、1、Delete 改写，方向键移动",
  },
  bit: { en: "place {n}: {bit}", zh: "第 {n} 位：{bit}" },
  none: { en: "empty", zh: "空" },
  words: { en: "Words to write with", zh: "可用的单词" },
};

const WIDE = /[\uff01-\uff5e]/g; // what Chinese and Japanese keyboards type as wide as their letters
const narrow = (letter) => String.fromCharCode(letter.charCodeAt(0) - 0xfee0);
const GAPS = /[\s,;|]/g;
const EMPTY = /[·_]/g;

/**
 * The places that a text of bits says, "0", "1" or "." each; null where it says something else or
 * more than fits.
 */
export function placesOf(text, most) {
  const plain = text.replace(WIDE, narrow).replace(GAPS, "").replace(EMPTY, ".");
  return /^[01.]*$/.test(plain) && plain.length <= most ? [...plain] : null;
}

/** Those places as a text, without the empty ones at its end. */
export const textOf = (places) => places.join("").replace(/\.+$/, "");

/**
 * A row of places, each 1, 0 or empty: one tab stop, a click switches.
 * @param {(text: string) => void} onWrite called with the whole text when a place has been changed
 */
export function bitRow(onWrite) {
  const node = el("div", { class: "tfe-ask-bits", role: "group" });
  let places = []; // what the line says, or null
  let at = 0; // the place under the hand

  const read = (index) => places?.[index] ?? ".";
  function write(index, bit) {
    const now = [...(places ?? [])];
    while (now.length <= index) now.push(".");
    now[index] = bit;
    onWrite(textOf(now));
  }
  function go(index) {
    at = Math.min(node.childElementCount - 1, Math.max(0, index));
    paint();
    node.children[at].focus();
  }

  function paint() {
    node.setAttribute("aria-label", t(TEXT.bits));
    [...node.children].forEach((button, index) => {
      const bit = read(index);
      button.textContent = bit === "." ? "" : bit;
      button.setAttribute(
        "aria-label",
        t(TEXT.bit, { n: index + 1, bit: bit === "." ? t(TEXT.none) : bit }),
      );
      button.setAttribute("aria-pressed", bit === "." ? "mixed" : String(bit === "1"));
      button.disabled = places === null;
      button.tabIndex = index === at ? 0 : -1;
    });
  }

  node.addEventListener("click", (event) => {
    const index = [...node.children].indexOf(event.target);
    if (index < 0) return;
    at = index;
    write(index, read(index) === "1" ? "0" : "1");
  });
  node.addEventListener("keydown", (event) => {
    const index = [...node.children].indexOf(event.target);
    if (index < 0 || !plain(event)) return;
    const to = {
      ArrowRight: index + 1,
      ArrowLeft: index - 1,
      Home: 0,
      End: node.childElementCount - 1,
    }[event.key];
    const bit = { 0: "0", 1: "1", ".": ".", Delete: ".", Backspace: "." }[event.key];
    if (to === undefined && bit === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (to !== undefined) go(to);
    else {
      write(index, bit);
      go(index + (event.key === "Backspace" ? -1 : 1));
    }
  });
  return {
    node,
    /** Shows a text; most: how many places there are. */
    set(text, most) {
      places = placesOf(text, most);
      if (node.childElementCount !== most) {
        at = 0;
        node.replaceChildren(
          ...Array.from(
            { length: most },
            () => el("button", { type: "button", class: "tfe-ask-bit" }),
          ),
        );
      }
      paint();
    },
    paint,
  };
}

/**
 * Puts a word where the caret of a field stands, with the spaces around it and what belongs before
 * it: "the", unless it stands there.
 */
export function insertWord(field, word, before = "") {
  const { selectionStart: start, selectionEnd: end, value } = field;
  const left = value.slice(0, start);
  const right = value.slice(end);
  const sign = /^[.?!]$/.test(word);
  const there = before && left.trimEnd().split(/[\s.?!]+/).pop().toLowerCase() === before;
  const written = before && !there ? `${before} ${word}` : word;
  const head = sign ? left.trimEnd() : left + (left && !/\s$/.test(left) ? " " : "");
  const tail = /^[\s.?!]/.test(right) ? "" : " ";
  field.value = head + written + tail + right;
  const caret = (head + written + tail).length;
  field.setSelectionRange(caret, caret);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * Words in groups; a click puts one into the field that was used last. One tab stop a group, arrows
 * move in it.
 * @param {{name: {en, zh}, words: string[], before: string}[]} groups
 * @param {() => HTMLInputElement | HTMLTextAreaElement} field
 */
export function wordChips(groups, field) {
  const node = el("div", { class: "tfe-ask-words", role: "group" });
  const rows = groups.map((group) => {
    const name = el("span", { class: "tfe-ask-groupname" });
    const chips = group.words.map((word, index) =>
      el("button", {
        type: "button",
        class: "tfe-chip tfe-ask-word",
        text: word,
        lang: "en",
        tabindex: index ? "-1" : "0",
        onpointerdown: (event) => event.preventDefault(), // the caret stays where it is
        onclick: (event) => {
          const target = field();
          insertWord(target, word, group.before);
          // a click of a pointer; keys stay among the words
          if (event.detail > 0) target.focus({ preventScroll: true });
        },
      })
    );
    const row = el("div", { class: "tfe-ask-group", role: "group" }, name, ...chips);
    roving(row, () => chips, (next) => {
      for (const chip of chips) chip.tabIndex = chip === next ? 0 : -1;
    });
    return { group, name, row };
  });
  node.append(...rows.map(({ row }) => row));
  const paint = () => {
    node.setAttribute("aria-label", t(TEXT.words));
    for (const { group, name, row } of rows) {
      name.textContent = t(group.name);
      row.setAttribute("aria-label", t(group.name));
    }
  };
  onLang(paint);
  paint();
  return node;
}

// One grammar of keys. A view's keys act while the focus is inside it, or while it is the one that
// is projected; a text field keeps all of its own. Keys of the page (P, ?) act from anywhere but a
// text field.

const TEXT =
  "input:not([type=range]):not([type=checkbox]):not([type=radio]):not([type=button]), textarea, select, [contenteditable=true]";

/** Does this element want the letters typed into it? */
export const wantsText = (node) => node instanceof Element && node.matches(TEXT);

export const projecting = () => document.body.classList.contains("tfe-projecting");

/**
 * By how much everything is larger before a hall than on the smallest screen that a lecture is made
 * for, 1280 × 720.
 */
export const hallScale = () => Math.max(1, Math.min(innerWidth / 1280, innerHeight / 720));

const FOOT = 160; // px at the foot of the screen for what a figure says, beside the code for the audience

/**
 * How high a projected picture may be, so that what stands below it, `below` px, and the code share
 * the foot of the screen.
 */
export const tallest = (picture, below) =>
  Math.max(
    240,
    innerHeight - picture.getBoundingClientRect().top - scrollY -
      Math.max(FOOT * hallScale(), below),
  );

const FULL = 240; // columns of a sentence that fill four lines beside the code; a Chinese character takes two

/** Marks a sentence that is long: a hall is shown it in smaller letters. */
export const fitted = (words) =>
  words.classList.toggle(
    "is-long",
    words.textContent.replace(/[\u3000-\u9fff\uff00-\uffef]/g, "··").length > FULL,
  );

/** Is it a key alone, with Shift at most, and no part of a word that is being composed? */
export const plain = (event) =>
  !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;

/**
 * Gives a view its keys: keys(root, {ArrowLeft: () => …, " ": () => …, Escape: () => …}).
 * @param {HTMLElement} view
 * @param {Record<string, (event: KeyboardEvent) => unknown>} actions by event.key; one that returns
 * false leaves the key to the browser
 * @returns {() => void} stops listening
 */
export function keys(view, actions) {
  const act = (event) => {
    const action = actions[event.key];
    if (!action || event.defaultPrevented || !plain(event) || wantsText(event.target)) return;
    const inside = view.contains(event.target);
    // A slider and a button under the focus need the keys that move and press them.
    const moves = /^(Arrow|Page|Home|End)/.test(event.key);
    if (inside && moves && event.target.matches("input[type=range], input[type=radio]")) return;
    if (
      inside && event.target.matches("button, a[href], summary") &&
      (event.key === " " || event.key === "Enter")
    ) {
      return;
    }
    const projected = projecting() && (view.matches(".tfe-projected, .tfe-projected *") ||
      view.querySelector(".tfe-projected"));
    if (!inside && !projected) return;
    if (action(event) !== false) event.preventDefault();
  };
  document.addEventListener("keydown", act);
  return () => document.removeEventListener("keydown", act);
}

/**
 * Gives the page its keys; they come before those of the views. An action that returns false lets
 * the key go on.
 */
export function pageKeys(actions) {
  const act = (event) => {
    const action = actions[event.key];
    if (!action || !plain(event) || (wantsText(event.target) && event.key !== "Escape")) return;
    if (action(event) === false) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("keydown", act, true);
  return () => document.removeEventListener("keydown", act, true);
}

// The box of a seed. What is typed stays there: what is no seed is refused in words, never
// replaced.

import { el } from "./dom.js";
import { filled } from "./lang.js";

const TEXT = {
  wrong: {
    en: "The seed is {given}; it can be a whole number from 0 to {most}.",
    zh: "种子为 {given}；可以取 0 到 {most} 的整数。",
  },
  empty: {
    en: "The seed's box is empty; a seed is a whole number from 0 to {most}.",
    zh: "种子是空的；种子可以取 0 到 {most} 的整数。",
  },
  none: {
    en: "The seed's box does not hold a number; a seed is a whole number from 0 to {most}.",
    zh: "种子框里不是数字；种子可以取 0 到 {most} 的整数。",
  },
};

/**
 * @param {{most: number, className: string, onSeed: (seed: number) => void, onWrong: () => void,
 * onEnter: () => void}} how
 *   most: the largest seed. onSeed: hears of one that may be; onWrong: what stands there is none,
 *   or is refused now
 */
export function seedBox({ most, className, onSeed, onWrong, onEnter }) {
  let shown = null; // the seed in force
  let refused = null; // the sentence that is said of what stands there
  const node = el("input", {
    class: `tfe-input ${className}`,
    type: "number",
    inputmode: "numeric",
    min: 0,
    max: most,
    step: 1,
  });

  function wrong() {
    const given = node.value;
    const seed = Number(given);
    if (given !== "" && Number.isInteger(seed) && seed >= 0 && seed <= most) return null;
    const text = node.validity.badInput ? TEXT.none : given === "" ? TEXT.empty : TEXT.wrong;
    return filled(text, { given: given.slice(0, 24), most: most.toLocaleString("en-US") });
  }
  const judge = () => {
    refused = wrong();
    node.setAttribute("aria-invalid", String(refused !== null));
    return refused;
  };
  node.addEventListener("input", () => {
    if (wrong() === null) {
      shown = Number(node.value);
      judge();
      onSeed(shown);
    } else {
      if (refused) judge();
      onWrong();
    }
  });
  node.addEventListener("change", () => {
    if (judge()) onWrong();
  });
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the form's own answer would press Stop
    onEnter();
  });
  return {
    node,
    wrong,
    /** What is refused of it, once the visitor has left the box or wants a run. */
    refused: () => refused,
    judge,
    /**
     * The seed in force; anew: of another request, which takes the place of whatever stands there.
     */
    show(seed, anew = false) {
      if (!anew && shown !== null && (seed === shown || wrong() !== null)) return;
      shown = seed;
      if (node.value !== String(seed)) node.value = String(seed);
      judge();
    },
  };
}

// The words of the knobs of “What changes if …”, numbers and computed sentences as its pictures write them. Nothing
// here touches the page.

import { t } from "./lang.js";

export const TEXT = {
  trained: { en: "as trained", zh: "同训练时" },
  bounded: { en: "all that “{label}” allows", zh: "“{label}”允许的最大值" },
  all: { en: "all heads", zh: "所有头" },
  layer: { en: "layer {layer}", zh: "第 {layer} 层" },
  column: { en: "head {head} of all layers", zh: "各层的头 {head}" },
  head: { en: "head {layer}·{head}", zh: "头 {layer}·{head}" },
  characters: { en: "{n} characters", zh: "{n} 个字符" },
  ramp: { en: "A span ends softly, over a ramp of {n} characters.", zh: "跨度在 {n} 个字符的斜坡上逐渐结束。" },
  give: { en: "{heads}, span {z}: give it back", zh: "{heads}，跨度 {z}：恢复" },
  silence: { en: "Silence {head}", zh: "关掉 {head}" },
  wake: { en: "Give {head} back", zh: "恢复 {head}" },
  ofModel: { en: "head {head} of {model}", zh: "{model} 的头 {head}" },
};

const MINUS = "\u2212";
/** A number; what rounds to nothing has no sign. */
export const number = (value, digits = 2) => value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", MINUS);

/** With its sign. */
export const plus = (value, digits = 2) => (/[1-9]/.test(value.toFixed(digits)) && value > 0 ? "+" : "")
    + number(value, digits);

/** The heads that an entry [layer, head, z] of the spans speaks of: −1 is all. */
export function headsOf([layer, head]) {
  if (layer < 0 && head < 0) return t(TEXT.all);
  if (head < 0) return t(TEXT.layer, { layer: layer + 1 });
  if (layer < 0) return t(TEXT.column, { head: head + 1 });
  return `${layer + 1}·${head + 1}`;
}

/** A computed sentence in parts; those between ⟦…⟧ wear the colour of their role: ⟦k:segment 4⟧. */
export const roles = (sentence) => t(sentence).split(/(⟦[qko]:[^⟧]*⟧)/).map((part) => {
      const role = /^⟦([qko]):([^⟧]*)⟧$/.exec(part);
      return role ? { text: role[2], role: { q: "query", k: "key", o: "out" }[role[1]] } : { text: part };
    });

// Numbers, characters and texts of “What changes if …” on long texts. Nothing here touches the page.

import { t } from "./lang.js";

export const TEXT = {
  question: { en: "What does the change cost, character by character?", zh: "这个改变让每个字符多付多少代价？" },
  trained: { en: "as trained", zh: "同训练时" },
  bounded: { en: "all that “{label}” allows", zh: "“{label}”允许的最大值" },
  span: { en: "attention span of", zh: "注意力跨度：" },
  all: { en: "all heads", zh: "所有头" },
  layer: { en: "layer {layer}", zh: "第 {layer} 层" },
  column: { en: "head {head} of all layers", zh: "各层的头 {head}" },
  head: { en: "head {layer}·{head}", zh: "头 {layer}·{head}" },
  characters: { en: "{n} characters", zh: "{n} 个字符" },
  ramp: { en: "A span ends softly, over a ramp of {n} characters.", zh: "跨度在 {n} 个字符的斜坡上逐渐结束。" },
  give: { en: "{heads}, span {z}: give it back", zh: "{heads}，跨度 {z}：恢复" },
  silenced: { en: "silenced heads", zh: "关掉的头" },
  silence: { en: "Silence {head}", zh: "关掉 {head}" },
  wake: { en: "Give {head} back", zh: "恢复 {head}" },
  ofModel: { en: "head {head} of {model}", zh: "{model} 的头 {head}" },
  answers: { en: "What it says; the letters that changed are marked", zh: "它的回答；变化的字母有标记" },
  unchanged: { en: "It says the same {n} letters.", zh: "它的 {n} 个字母都没有变。" },
  letter: { en: "{i}: {before} → {after}, right is {right}", zh: "{i}：{before} → {after}，正确的是 {right}" },
  models: { en: "Model", zh: "模型" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差别" },
  bits: { en: "bits per character", zh: "每字符比特数" },
  pooled: { en: "bits per character, means of {n}", zh: "每字符比特数，每 {n} 个平均" },
  dearer: { en: "costs more", zh: "代价更高" },
  cheaper: { en: "costs less", zh: "代价更低" },
  given: { en: "given", zh: "给定" },
  written: { en: "written", zh: "写出" },
  character: { en: "character", zh: "字符" },
  here: { en: "{before} → {after} bits ({difference})", zh: "{before} → {after} 比特（{difference}）" },
  around: { en: "characters {a}–{b}: {before} → {after} ({difference})", zh: "字符 {a}–{b}：{before} → {after}（{difference}）" },
  hint: { en: "hover: preview · click: lock · ← →: step · Esc: reset", zh: "悬停：预览 · 点击：锁定 · ← →：移动 · Esc：复位" },
  figure: {
    en: "{model}: bits per character along {n} characters, before, after and the difference. Arrow keys move the locked character.",
    zh: "{model}：{n} 个字符上的每字符比特数，之前、之后和差别。方向键移动锁定的字符。",
  },
  writes: { en: "What it writes after the given text", zh: "它在给定文本之后写出的内容" },
  alike: { en: "It writes the same {n} characters.", zh: "它写出相同的 {n} 个字符。" },
  common: { en: "the first {n} characters {n|is|are} the same", zh: "前 {n} 个字符相同" },
  nothing: { en: "nothing", zh: "没有内容" },
  unreached: { en: "The change does not reach it: {n} bits per character, as before.", zh: "这个改变影响不到它：每字符仍为 {n} 比特。" },
  table: { en: "Table", zh: "数据表" },
  segment: { en: "segment", zh: "片段" },
  stretch: { en: "stretch", zh: "段" },
  positions: { en: "characters", zh: "字符" },
  caption: { en: "{model}: mean bits per character", zh: "{model}：平均每字符比特数" },
};

const MINUS = "\u2212";
/** A number; what rounds to nothing has no sign. */
export const number = (value, digits = 2) => value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", MINUS);

/** With its sign. */
export const plus = (value, digits = 2) => (/[1-9]/.test(value.toFixed(digits)) && value > 0 ? "+" : "") + number(value, digits);

/** How many digits tell a difference: two, and three where it is small. */
export const digitsOf = (difference) => (Math.abs(difference) < 0.0995 && Math.abs(difference) >= 0.0005 ? 3 : 2);

const SHOWN = { " ": "␠", "\u00a0": "␠", "\u3000": "␠", "\n": "⏎", "\t": "⇥" };

/** A character as a label, "e·412"; its number alone where the text is not known. */
export const named = (letters, position, first = 0) => (letters.length ? `${signed(letters[position])}·${position + first}` : `${t(TEXT.character)} ${position + first}`);

/** A character as it is drawn: white space has a sign. */
export const signed = (letter) => SHOWN[letter] ?? letter;

/** The heads that an entry [layer, head, z] of the spans speaks of: −1 is all. */
export function headsOf([layer, head]) {
  if (layer < 0 && head < 0) return t(TEXT.all);
  if (head < 0) return t(TEXT.layer, { layer: layer + 1 });
  if (layer < 0) return t(TEXT.column, { head: head + 1 });
  return `${layer + 1}·${head + 1}`;
}

/** Two texts: what they begin with alike, and how each goes on. Whole characters, so that no half of one is left over. */
export function parted(first, second) {
  const [a, b] = [[...first], [...second]];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  return { common: a.slice(0, same).join(""), count: same, gone: a.slice(same).join(""), came: b.slice(same).join("") };
}

/** A computed sentence in parts; those between ⟦…⟧ wear the colour of their role: ⟦k:segment 4⟧. */
export const roles = (sentence) =>
  t(sentence)
    .split(/(⟦[qko]:[^⟧]*⟧)/)
    .map((part) => {
      const role = /^⟦([qko]):([^⟧]*)⟧$/.exec(part);
      return role ? { text: role[2], role: { q: "query", k: "key", o: "out" }[role[1]] } : { text: part };
    });

/** Means of stretches [first, end) of bits, before and after. */
export function means({ before, after }, first, end) {
  const [sums, count] = [[0, 0], Math.max(1, end - first)];
  for (let i = first; i < end; i += 1) {
    sums[0] += before[i];
    sums[1] += after[i];
  }
  const [was, is] = [sums[0] / count, sums[1] / count];
  return { first, end, before: was, after: is, difference: is - was };
}

const ROUGH = 128; // characters of a stretch where a text is not read in segments

/** The rows of the table: a segment each, then what was given and what was written as a whole. */
export function table(side) {
  const step = side.segment || ROUGH;
  const rows = [];
  for (let first = 0; first < side.count; first += step) rows.push({ name: String(rows.length + 1), ...means(side, first, Math.min(side.count, first + step)) });
  rows.push({ name: t(TEXT.given), total: true, ...means(side, 0, side.given) });
  if (side.given < side.count) rows.push({ name: t(TEXT.written), total: true, ...means(side, side.given, side.count) });
  return rows;
}

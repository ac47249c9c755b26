// What the masks widget says: names of heads and characters, its labels, and the sentence computed from what is looked at.

import { el } from "./dom.js";
import { lang, t } from "./lang.js";
import { reach } from "./masknumbers.js";

export const TEXT = {
  title: { en: "Who looks far", zh: "谁看得远" },
  units: { en: "characters back, of S = {span}", zh: "往回的字符数，上限 S = {span}" },
  question: { en: "How far does each head look back?", zh: "每个头往回看多远？" },
  mask: { en: "Soft mask of head {head}", zh: "头 {head} 的软掩码" },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  mean: { en: "mean {n}", zh: "平均 {n}" },
  meanAll: { en: "mean of all heads {n}: {share} of S", zh: "所有头平均 {n}：S 的 {share}" },
  legendMask: { en: "soft mask", zh: "软掩码" },
  legendTrained: { en: "as trained", zh: "训练所得" },
  legendForced: { en: "forced", zh: "强制设定" },
  legendBefore: { en: "weight before the mask", zh: "掩码之前的权重" },
  legendAfter: { en: "after", zh: "之后" },
  distance: { en: "characters back · 0 is the one read last", zh: "往回的字符数 · 0 为最近读到的字符" },
  scale: { en: "weight, square-root scale", zh: "权重（平方根刻度）" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  looks: { en: "looks back", zh: "往回看" },
  keeps: { en: "keeps {w}", zh: "保留 {w}" },
  span: { en: "span z at each character", zh: "每个字符处的跨度 z" },
  whole: { en: "the whole text", zh: "整段文本" },
  label: { en: "z = {z} · looks {reach} back", zh: "z = {z} · 往回看 {reach}" },
  ramp: { en: "R", zh: "R" },
  scope: { en: "Dragging changes", zh: "拖动改变" },
  scopes: { en: ["this head", "this layer", "all heads"], zh: ["这个头", "这一层", "所有头"] },
  axis: { en: "Distance axis", zh: "距离轴" },
  axes: { en: ["linear", "log"], zh: ["线性", "对数"] },
  restore: { en: "Restore", zh: "复原" },
  restores: { en: "Restore the trained spans", zh: "恢复训练所得的跨度" },
  drag: { en: "Drag the round handle: the text is read and written again under the new spans.", zh: "拖动圆形手柄：文本会以新的跨度重新读写。" },
  watched: { en: "Means by distance over {n} of {of} characters.", zh: "各距离的平均取自 {of} 个字符中的 {n} 个。" },
  waits: { en: "The new spans are on their way; the weights are still those of the last run.", zh: "新的跨度正在计算；权重仍是上一次运行的。" },
  from: { en: "From your last run.", zh: "来自上一次运行。" },
  growing: { en: "{n} of {of} characters are read or written; the heads in view are those of the last run.", zh: "已读写 {n} / {of} 个字符；所示的头来自上一次运行。" },
  growingFirst: { en: "{n} of {of} characters are read or written.", zh: "已读写 {n} / {of} 个字符。" },
  slider: { en: "Span z of head {head}", zh: "头 {head} 的跨度 z" },
  sliderLayer: { en: "Span z of all heads of layer {layer}", zh: "第 {layer} 层所有头的跨度 z" },
  sliderAll: { en: "Span z of all heads", zh: "所有头的跨度 z" },
  sliderNow: { en: "z = {z}, looks {reach} of {span} characters back", zh: "z = {z}，往回看 {span} 个字符中的 {reach} 个" },
  bars: { en: "How far each head looks: {layers} layers of {heads} heads. Up and down choose a head. Chosen: {head}, {reach} characters.", zh: "每个头看多远：{layers} 层，每层 {heads} 个头。上下键选择头。当前：{head}，{reach} 个字符。" },
  board: { en: "The soft mask and what head {head} looks at. Left and right step through characters, up and down through heads, Escape resets.", zh: "软掩码以及头 {head} 所看之处。左右键逐字符移动，上下键换头，Esc 复位。" },
  empty: { en: "Nothing has been read yet.", zh: "还没有读入文本。" },
  cardReach: { en: "looks {reach} back: z = {z}, R = {ramp}", zh: "往回看 {reach}：z = {z}，R = {ramp}" },
  cardRange: { en: "z from {low} to {high} in this text", zh: "本文中 z 从 {low} 到 {high}" },
  cardTrained: { en: "as trained: z = {z}", zh: "训练所得：z = {z}" },
  cardKept: { en: "the mask keeps {w} of its weight", zh: "掩码保留其权重的 {w}" },
  cardMask: { en: "mask {m}", zh: "掩码 {m}" },
  cardMean: { en: "mean weight {before} → {after}", zh: "平均权重 {before} → {after}" },
  cardWeight: { en: "weight {before} → {after}", zh: "权重 {before} → {after}" },
  cardBack: { en: "{n} back", zh: "往回 {n}" },
  cardSpan: { en: "z = {z}", zh: "z = {z}" },
  start: { en: "the start", zh: "开头" },
  none: { en: "No character is locked.", zh: "没有锁定字符。" },
  short: { en: "before the text", zh: "文本之前" },
  columns: {
    en: ["layer", "head", "z", "looks back", "share of S", "forced", "z as trained", "z at least", "z at most", "weight kept"],
    zh: ["层", "头", "z", "往回看", "占 S", "强制", "训练所得 z", "z 最小", "z 最大", "保留的权重"],
  },
  caption: { en: "The span of every head", zh: "每个头的跨度" },
  yes: { en: "yes", zh: "是" },
  no: { en: "no", zh: "否" },
};

const SHOWN = { " ": "␠", "\n": "⏎", "\t": "⇥", "\u00a0": "␠", "\u3000": "␠" };

/** A character as it is shown: white space by a sign. */
export const shown = (letter) => SHOWN[letter] ?? letter;

/** A span as it is read: whole, or with a tenth. */
export const spanText = (z) => String(Number(z.toFixed(1)));

/** A weight as it is read: two digits, more where two would say nothing. */
export const weight = (w) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w < 0.0001 ? "<0.0001" : w.toFixed(4));

/** A share, "9 %". */
export const percent = (share) => (share > 0 && share < 0.005 ? "<1 %" : share < 1 && share >= 0.995 ? ">99 %" : `${Math.round(100 * share)} %`);

/** “e”·412, or the start. */
export const letterName = (letters, position) => (position < 0 ? t(TEXT.start) : `“${shown(letters[position])}”·${position}`);

/**
 * The sentence under the figure, as pieces: texts, and {query: …} for words in the colour of their role.
 * @param {{run: any, now: any, z: number, left: number | null, row: any, would: boolean, range: any}} scene z: of the head in view, on the mean where it follows the token; left: the share that the mask leaves it;
 *   row: of the locked character; would: the spans in view are wished for, not run yet; range: {here, low, high} where it follows the token
 */
export function sentence({ run, now, z, left, row, would, range }) {
  const zh = lang() === "zh";
  const head = `${now.layer}·${now.head}`;
  const far = reach(z, run.ramp, run.span);
  const share = percent(far / run.span);
  const keeps = left === null ? "" : weight(left);
  const parts = [];
  if (range) {
    parts.push(
      zh ? `头 ${head} 平均往回看 ${far} 个字符（z 平均 ${spanText(z)}，斜坡 ${run.ramp}）：${run.span} 的 ${share}` : `Head ${head} looks ${far} back on the mean (mean z = ${spanText(z)}, ramp ${run.ramp}): ${share} of ${run.span}`,
    );
  } else if (would) parts.push(zh ? `头 ${head} 将往回看 ${far} 个字符（z = ${spanText(z)}，斜坡 ${run.ramp}）：${run.span} 的 ${share}` : `Head ${head} would look ${far} back (z = ${spanText(z)}, ramp ${run.ramp}): ${share} of ${run.span}`);
  else parts.push(zh ? `头 ${head} 往回看 ${far} 个字符（z = ${spanText(z)}，斜坡 ${run.ramp}）：${run.span} 的 ${share}` : `Head ${head} looks ${far} back (z = ${spanText(z)}, ramp ${run.ramp}): ${share} of ${run.span}`);
  if (keeps) {
    if (would) parts.push(zh ? `；按上一次运行的权重，掩码会保留其中的 ${keeps}。` : `; of the weights of the last run the mask would keep ${keeps}.`);
    else parts.push(zh ? `；在这段文本上掩码保留其权重的 ${keeps}。` : `; on this text the mask keeps ${keeps} of its weight.`);
  } else parts.push(zh ? "。" : ".");
  const position = now.positions.at(-1);
  if (position === undefined) return parts;
  const q = { query: letterName(run.letters, position) };
  if (range) parts.push(zh ? "在 " : " At ", q, zh ? ` 处 z 为 ${spanText(range.here)}，本文中介于 ${spanText(range.low)} 与 ${spanText(range.high)} 之间` : ` z is ${spanText(range.here)}, between ${spanText(range.low)} and ${spanText(range.high)} in this text`);
  if (!row) {
    if (range) parts.push(zh ? "。" : ".");
    return parts;
  }
  if (range) return [...parts, zh ? `；那里掩码保留 ${weight(row.kept)}。` : `; there the mask keeps ${weight(row.kept)}.`];
  parts.push(zh ? "在 " : " At ", q, zh ? " 处保留 " : " it keeps ");
  let best = 0;
  for (let x = 1; x < row.after.length; x += 1) if (row.after[x] > row.after[best]) best = x;
  const k = { key: letterName(run.letters, position - 1 - best) };
  const [plain_, masked] = [weight(row.before[best]), weight(row.after[best])];
  const change = plain_ === masked ? (zh ? `${masked}，有无掩码都一样` : `${masked}, with the mask or without`) : `${plain_} → ${masked}`;
  parts.push(weight(row.kept), zh ? "，所得最多的是 " : "; most goes to ", k, zh ? `（往回 ${best}）：${change}。` : `, ${best} back: ${change}.`);
  return parts;
}

/** The pieces as nodes. */
export const nodes = (parts) => parts.map((part) => (typeof part === "string" ? document.createTextNode(part) : el("b", { class: part.query ? "tfe-query" : "tfe-key", text: part.query ?? part.key })));

/** The pieces as one text. */
export const plain = (parts) => parts.map((part) => (typeof part === "string" ? part : (part.query ?? part.key))).join("");

// What the segments widget says: names of characters, its labels, and the sentence computed from the position that is looked at.

import { el } from "./dom.js";
import { lang, t } from "./lang.js";

export const TEXT = {
  title: { en: "Segments and memory", zh: "片段与记忆" },
  question: { en: "What is remembered, and how far back does it reach?", zh: "什么被记住，又能追溯多远？" },
  computed: { en: "computed now", zh: "正在计算" },
  remembered: { en: "remembered, no gradient", zh: "被记住，无梯度" },
  broken: { en: "remembered, order broken", zh: "被记住，顺序打乱" },
  foreign: { en: "memory of another text", zh: "另一文本的记忆" },
  foreignOf: { en: "memory of {book}", zh: "{book}的记忆" },
  asks: { en: "chosen character and its reach", zh: "选中的字符及其所及" },
  gone: { en: "gone", zh: "已丢弃" },
  later: { en: "not read yet", zh: "尚未读取" },
  stops: { en: "gradient stops here", zh: "梯度到此为止" },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  inputs: { en: "inputs", zh: "输入" },
  positions: { en: "character", zh: "字符" },
  given: { en: "given", zh: "给定" },
  written: { en: "written by the model", zh: "模型写出" },
  after: { en: "after {n} layers: {back} back", zh: "{n} 层后：往回 {back}" },
  afterOne: { en: "after 1 layer: {back} back", zh: "1 层后：往回 {back}" },
  short: { en: "{n}: −{back}", zh: "{n}：−{back}" },
  share: { en: "share of attention that crosses the border, to the memory", zh: "越过边界、给予记忆的注意力份额" },
  shareShort: { en: "share that goes to the memory", zh: "给予记忆的份额" },
  none: { en: "nothing is remembered: nothing crosses", zh: "没有记忆：无物越过边界" },
  firstSegment: { en: "the first segment: nothing is remembered yet", zh: "第一个片段：还没有记忆" },
  waits: { en: "once the text is read", zh: "读完文本之后显示" },
  model: { en: "Model in view", zh: "所看的模型" },
  previous: { en: "Previous segment", zh: "上一个片段" },
  next: { en: "Next segment", zh: "下一个片段" },
  play: { en: "Play segment by segment", zh: "逐片段播放" },
  pause: { en: "Pause", zh: "暂停" },
  place: { en: "segment {n} of {of}", zh: "片段 {n} / {of}" },
  head: { en: "head {head}", zh: "头 {head}" },
  meanHead: { en: "mean of heads", zh: "各头平均" },
  headUp: { en: "Previous head", zh: "上一个头" },
  headDown: { en: "Next head", zh: "下一个头" },
  hint: { en: "hover preview · click lock · shift-click add · Esc reset · ← → segment · ↑ ↓ head · Space play", zh: "悬停预览 · 点击锁定 · shift-点击追加 · Esc 复位 · ← → 换片段 · ↑ ↓ 换头 · 空格播放" },
  board: { en: "{title}. Left and right go from segment to segment, up and down through heads, Space plays, Escape resets.", zh: "{title}。左右键换片段，上下键换头，空格播放，Esc 复位。" },
  cardGone: { en: "segment {n}: gone; what later segments know of it has travelled through memories", zh: "片段 {n}：已丢弃；后面的片段只能经由记忆得知它" },
  cardMemory: { en: "segment {n}: remembered, no gradient", zh: "片段 {n}：被记住，无梯度" },
  cardNow: { en: "segment {n}: computed now", zh: "片段 {n}：正在计算" },
  cardLater: { en: "segment {n}: not read yet", zh: "片段 {n}：尚未读取" },
  cardMean: { en: "layer {layer}, mean of heads: {w} to the memory", zh: "第 {layer} 层各头平均：{w} 给予记忆" },
  cardHead: { en: "head {head}: {w} to the memory", zh: "头 {head}：{w} 给予记忆" },
  cardDo: { en: "click to lock · shift-click to add", zh: "点击锁定 · shift-点击追加" },
  cardTap: { en: "tap again to lock", zh: "再点一次即锁定" },
  tableLayer: { en: "layer", zh: "层" },
  tableHead: { en: "head {n}", zh: "头 {n}" },
  tableMean: { en: "mean", zh: "平均" },
  caption: { en: "{model}: mean share of attention that goes to the memory, characters {first} to {last}", zh: "{model}：字符 {first} 至 {last} 给予记忆的注意力份额平均" },
  from: { en: "From your last text.", zh: "来自上一个文本。" },
};

const SPACES = { " ": "␠", "\n": "⏎", "\t": "⇥" };
export const shown = (character) => SPACES[character] ?? character;
export const whole = (n) => n.toLocaleString("en");

/** A share or weight as it is read: two digits, more where two would say nothing. */
export const weight = (w) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w < 0.0001 ? "<0.0001" : w.toFixed(4));

/** "“e” (412)" */
export const charName = (model, position) => (lang() === "zh" ? `“${shown(model.chars[position] ?? "")}”（${position}）` : `“${shown(model.chars[position] ?? "")}” (${position})`);

/** What a key carries: the character before its place; of another text it is not told which. */
export function keyName(run, model, key) {
  if (key >= model.length) return run.book ? t(run.book) : t(TEXT.foreign);
  if (key === 0) return lang() === "zh" ? "文本之前的换行" : "the line break before the text";
  return charName(model, key - 1);
}

/** Share of attention to the memory at a position: of a head, or with `head` null the mean of the layer's heads. Layer and head from 1. */
export function shareAt(model, layer, head, position) {
  const of = (h) => model.across[((layer - 1) * model.heads + h) * model.length + position];
  if (head !== null) return of(head - 1);
  let sum = 0;
  for (let h = 0; h < model.heads; h += 1) sum += of(h);
  return sum / model.heads;
}

/** Mean share over a segment. */
export function meanShare(model, layer, head, first, end) {
  let sum = 0;
  for (let p = first; p < end; p += 1) sum += shareAt(model, layer, head, p);
  return sum / Math.max(1, end - first);
}

/** The key that gets most of a look, {key, w}, or null. */
export function strongest(look) {
  let best = 0;
  for (let j = 1; j < look.length; j += 1) if (look[j] > look[best]) best = j;
  return look.length ? { key: best, w: look[best] } : null;
}

/**
 * The sentence under the picture, as pieces: texts, and {query: …}, {key: …} or {out: …} for words in the colour of their role.
 * @param {any} scene see segmentboard.js; trouble: why there are no weights
 */
export function sentence({ run, model, now, first, end, held, look, trouble }) {
  const zh = lang() === "zh";
  if (run.state === "running") {
    const done = whole(model.length);
    return [zh ? `已读写 ${done} / ${whole(run.of)} 个字符，每次一个片段（${run.segment} 个字符）。` : `${done} of ${whole(run.of)} characters are read and written, ${run.segment} at a time.`];
  }
  const position = now.positions.at(-1);
  const layers = Array.from({ length: run.layers }, (_, i) => i + 1);
  const shares = (p) => layers.map((layer) => weight(p === undefined ? meanShare(model, layer, null, first, end) : shareAt(model, layer, null, p))).join(zh ? "、" : ", ");
  const nothing = () => {
    if (first === 0 && model.memory > 0 && run.intervention !== "cut") return zh ? "文本从这个片段开始，还没有记忆" : "The text begins with this segment, and nothing is remembered yet";
    if (model.memory === 0) return zh ? `${t(model.name)} 没有记忆，无物越过边界` : `${t(model.name)} remembers nothing, and nothing crosses the border`;
    return zh ? "记忆被切断，无物越过边界" : "The memory is cut, and nothing crosses the border";
  };
  const what = () => {
    if (run.intervention === "foreign") return zh ? `记忆（属于${run.book ? t(run.book) : "另一文本"}）` : `the memory, which holds ${run.book ? t(run.book) : "another text"}`;
    if (run.intervention === "shuffled") return zh ? "顺序被打乱的记忆" : "the memory, whose order is broken";
    return zh ? "记忆" : "the memory";
  };
  if (position === undefined) {
    const now_ = { out: zh ? `字符 ${whole(first)} 至 ${whole(end - 1)} ` : `Characters ${whole(first)} to ${whole(end - 1)}` };
    if (!held) return zh ? [now_, `一次算出。${nothing()}。`] : [now_, ` are computed at once. ${nothing()}.`];
    const kept = { key: zh ? `${whole(held)} 个更早的位置` : `${whole(held)} positions before them` };
    return zh ? [now_, "一次算出，", kept, `被记住而没有梯度；第 1 至 ${run.layers} 层平均把 ${shares()} 的注意力给予${what()}。`] : [now_, " are computed at once, ", kept, ` are remembered without a gradient; on average layers 1 to ${run.layers} give ${shares()} of their attention to ${what()}.`];
  }
  const q = { query: charName(model, position) };
  const from = model.travelled[run.layers * model.length + position];
  const back = whole(position - from);
  const knows = zh ? `${run.layers} 层之后它能知道从 ${whole(from)} 起的字符：往回 ${back} 个；梯度止于 ${whole(first)}。` : `after ${run.layers} layers it can know of characters from ${whole(from)} on: ${back} back; the gradient stops at ${whole(first)}.`;
  if (!held) return zh ? [`${nothing()}：要说出 `, q, "，", knows] : [`${nothing()}: to say `, q, ", ", knows];
  if (now.head === null) {
    return zh ? ["要说出 ", q, `，第 1 至 ${run.layers} 层各头平均把 ${shares(position)} 的注意力给予${what()}；`, knows] : ["To say ", q, ` layers 1 to ${run.layers} give ${shares(position)} of their attention to ${what()}, the mean of their heads; `, knows];
  }
  const share = weight(shareAt(model, now.layer, now.head, position));
  const head = `${now.layer}·${now.head}`;
  const best = look && strongest(look);
  const most = best ? [zh ? "；最大的权重 " : "; its largest weight, ", `${weight(best.w)}${zh ? " 给 " : ", goes to "}`, { key: keyName(run, model, best.key) }] : trouble ? [zh ? `（${trouble}）` : ` (${trouble})`] : [];
  return zh ? ["要说出 ", q, `，头 ${head} 把 ${share} 的注意力给予${what()}`, ...most, "；", knows] : ["To say ", q, ` head ${head} gives ${share} of its attention to ${what()}`, ...most, "; ", knows];
}

const role = (part) => Object.keys(part)[0];

/** The pieces as nodes. */
export const nodes = (parts) => parts.map((part) => (typeof part === "string" ? document.createTextNode(part) : el("b", { class: `tfe-${role(part)}`, text: part[role(part)] })));

/** The pieces as one text. */
export const plain = (parts) => parts.map((part) => (typeof part === "string" ? part : part[role(part)])).join("");

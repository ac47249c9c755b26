// What the digits widget says: its labels, and the sentence computed from what is looked at.

import { el } from "./dom.js";
import { lang, t } from "./lang.js";
import { weight as asRead } from "./signs.js";

export const weight = asRead;

/** A sentence of texts, {query: text} and {key: text}, as nodes and as one text. */
export const nodes = (parts) => parts.map((part) => (typeof part === "string" ? document.createTextNode(part) : el("b", { class: part.query ? "tfe-query" : "tfe-key", text: part.query ?? part.key })));
export const plain = (parts) => parts.map((part) => (typeof part === "string" ? part : (part.query ?? part.key))).join("");

export const TEXT = {
  title: { en: "The same digit, made pixel by pixel", zh: "同一个数字，逐个像素生成" },
  question: { en: "What does a pixel look at, when it may not look at all?", zh: "不能全看时，一个像素看哪里？" },
  model: { en: "Model", zh: "模型" },
  query: { en: "asks", zh: "提问的像素" },
  first: { en: "A1 may look", zh: "A1 可看" },
  second: { en: "A2 may look", zh: "A2 可看" },
  may: { en: "may look", zh: "可看" },
  reaches: { en: "reaches it", zh: "可到达" },
  out: { en: "made", zh: "生成的" },
  weight: { en: "√ weight", zh: "√ 权重" },
  rollout: { en: "√ rollout", zh: "√ 累积" },
  surpriseScale: { en: "nats", zh: "纳特" },
  costs: { en: "{given} given + {made} made = {whole} nats", zh: "给定 {given} + 生成 {made} = {whole} 纳特" },
  costsGiven: { en: "{whole} nats, all of it given", zh: "{whole} 纳特，全部是给定的" },
  costsMade: { en: "{whole} nats, all of it made", zh: "{whole} 纳特，全部是生成的" },
  comma: { en: ", ", zh: "，" },
  unusual: { en: "what was given is unlike the digits learned from", zh: "给定部分不像学习过的数字" },
  start: { en: "Back to the first pixel that was made", zh: "回到第一个生成的像素" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  before: { en: "One pixel back", zh: "后退一个像素" },
  after: { en: "One pixel on", zh: "前进一个像素" },
  seek: { en: "Pixel in the order of making", zh: "生成顺序中的像素" },
  count: { en: "pixel {n} / {of}", zh: "像素 {n} / {of}" },
  see: { en: "Attention of", zh: "注意力：" },
  seeMore: { en: "layers, rolled out", zh: "层累积" },
  seeLong: { en: "Attention of one head, or rolled out through so many layers", zh: "一个头的注意力，或经若干层的累积" },
  mean: { en: "√ mean weight", zh: "√ 平均权重" },
  oneHead: { en: "head {head}", zh: "头 {head}" },
  through: { en: "{n} layers", zh: "{n} 层" },
  throughOne: { en: "1 layer", zh: "1 层" },
  surprise: { en: "Surprise", zh: "惊讶" },
  ghost: { en: "The digit it was cut from", zh: "被截去的原数字" },
  whole: { en: "Whole digits", zh: "完整数字" },
  heads: { en: "Where every head looks, on the mean", zh: "每个头平均看向哪里" },
  headsNote: {
    en: "Six rows up × seven columns to each side of the pixel that asks (bottom middle). Grey: never allowed.",
    zh: "提问像素（底行中央）向上六行 × 左右各七列。灰色：从不允许。",
  },
  grid: { en: "Heads of {name}, {layers} layers × {heads} heads; head {head} is in view. Arrow keys choose.", zh: "{name} 的头，{layers} 层 × {heads} 头；当前为头 {head}。方向键选择。" },
  tile: { en: "{name} {head} ({factor}): mostly {where}, {w} on the mean; {beyond} % lies farther than this map", zh: "{name} {head}（{factor}）：主要看{where}，平均 {w}；{beyond} % 在此图之外" },
  tileNone: { en: "{name} {head} ({factor}): looks nowhere on this map", zh: "{name} {head}（{factor}）：不看此图内的位置" },
  each: { en: "every head: {factor}", zh: "每个头：{factor}" },
  differ: { en: "by layer or head: {factors}", zh: "按层或头：{factors}" },
  note: {
    en: "A key carries the pixel made just before it, so the pixel’s own place stands for the one before.",
    zh: "键携带的是它前一个像素，所以像素自己的位置代表前一个像素。",
  },
  noteRoll: {
    en: "Rollout (Abnar and Zuidema, 2020): at each layer half the mean of all heads, half the residual path; multiplied through the layers.",
    zh: "累积（Abnar 与 Zuidema，2020）：每层一半取各头平均，一半取残差通路，逐层相乘。",
  },
  growing: { en: "What the heads look at can be seen when the digits are finished.", zh: "数字完成后可以查看各头看向哪里。" },
  stopped: { en: "Stopped before the digits were finished: their heads cannot be looked at.", zh: "在完成之前停止：无法查看各头。" },
  boards: { en: "{title}. Arrow keys step through the pixels and the heads, Space plays.", zh: "{title}。方向键逐个像素、逐个头移动，空格播放。" },
  cardPixel: { en: "pixel {n} of {of}", zh: "第 {n} 个像素，共 {of} 个" },
  cardInk: { en: "ink", zh: "有墨" },
  cardBlank: { en: "blank", zh: "空白" },
  cardGiven: { en: "given", zh: "给定" },
  cardMade: { en: "made", zh: "生成" },
  cardLater: { en: "not made yet", zh: "尚未生成" },
  cardNats: { en: "cost {n} nats", zh: "花费 {n} 纳特" },
  cardWeight: { en: "{q} gives it {w}, {n} of {of}", zh: "{q} 给它 {w}，排第 {n}，共 {of}" },
  cardHidden: { en: "{q} may not look here", zh: "{q} 看不到这里" },
  cardAfter: { en: "{q} comes before it", zh: "{q} 在它之前" },
  cardDo: { en: "click: lock · shift-click: add", zh: "点击：锁定 · shift-点击：添加" },
  cardTap: { en: "tap again: lock this pixel", zh: "再点一次：锁定这个像素" },
  rank: { en: "rank", zh: "名次" },
  weightOf: { en: "{name}: weight", zh: "{name}：权重" },
  pixelOf: { en: "{name}: pixel", zh: "{name}：像素" },
  captionCosts: { en: "What each model paid, in nats", zh: "各模型的花费（纳特）" },
  captionLook: { en: "What pixel {q} looks at most, {what}", zh: "像素 {q} 最看重的位置，{what}" },
  given: { en: "given", zh: "给定" },
  made: { en: "made", zh: "生成" },
  wholeCost: { en: "whole", zh: "合计" },
};

const FACTORS = {
  all: { en: "all before", zh: "之前全部" },
  row: { en: "A1, row", zh: "A1，行" },
  column: { en: "A2, column", zh: "A2，列" },
  strided: { en: "A1 ∪ A2, row and column", zh: "A1 ∪ A2，行与列" },
  block: { en: "A1, block", zh: "A1，块" },
  summary: { en: "A2, summary columns", zh: "A2，摘要列" },
  fixed: { en: "A1 ∪ A2, block and summary columns", zh: "A1 ∪ A2，块与摘要列" },
};
export const factorName = (name) => t(FACTORS[name] ?? name);

const SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const spelled = (n) => SMALL[n] ?? String(n);
export const nats = (n) => n.toFixed(n < 10 ? 2 : 1);
/** What a model paid for its digit. Both parts and their sum have as many digits as it takes for the sum to be right as it is printed. */
export function costsOf(model) {
  const text = model.given >= model.length ? TEXT.costsGiven : model.given ? TEXT.costs : TEXT.costsMade;
  const { given, made, whole } = model.cost;
  const right = (digits) => (Number(given.toFixed(digits)) + Number(made.toFixed(digits))).toFixed(digits) === whole.toFixed(digits);
  const digits = text === TEXT.costs ? [1, 2, 3].find(right) : null;
  return t(text, Object.fromEntries(Object.entries(model.cost).map(([key, n]) => [key, digits ? n.toFixed(digits) : nats(n)])));
}
export const place = (side, p) => `(${Math.floor(p / side)}, ${p % side})`;

/** A displacement in words: "one row up, two left"; "" for none. */
export function towards(up, right) {
  if (lang() === "zh") return [up && `上 ${up} 行`, right && `${right < 0 ? "左" : "右"} ${Math.abs(right)}`].filter(Boolean).join("、");
  return [up && `${spelled(up)} ${up === 1 ? "row" : "rows"} up`, right && `${spelled(Math.abs(right))} ${right < 0 ? "left" : "right"}`].filter(Boolean).join(", ");
}

/** From one position back to another, in words. */
export function away(side, from, to) {
  if (from === to) return t({ en: "its own place, which stands for the pixel before", zh: "自己的位置，代表前一个像素" });
  return towards(Math.floor(from / side) - Math.floor(to / side), (to % side) - (from % side));
}

const listed = (parts) => (lang() === "zh" ? parts.join("，") : parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** What the models paid: nothing is locked. */
function costs({ seen, side }) {
  const all = seen[0].length;
  const { given } = seen[0];
  const each = (what, says) => listed(seen.map((one, i) => says(t(one.name), nats(one.cost[what]), i)));
  const zh = lang() === "zh";
  const said = (name, n) => (zh ? `${name} ${n} 纳特` : `${name} ${n}`);
  const firstUnit = (name, n, i) => (zh ? said(name, n) : i ? said(name, n) : `${name} ${n} nats`);
  if (given >= all) return [zh ? `读完整个数字的花费：${each("whole", said)}；越少，说明越熟悉。` : `Reading the whole digit costs ${each("whole", firstUnit)}: the fewer, the better it is known.`];
  const made = all - given;
  const rows = given / side;
  const fresh = zh ? `各自生成的 ${made} 个像素：${each("made", said)}。` : `for the ${made} pixels of its own, each paid: ${each("made", firstUnit)}.`;
  if (!given) return [zh ? fresh : `Nothing was given; ${fresh}`];
  return [zh ? `给定的 ${rows} 行花费：${each("given", said)}；${fresh}` : `The ${rows} given rows cost ${each("given", firstUnit)}; ${fresh}`];
}

/**
 * The sentence under the boards, as pieces: texts, and {query: …} or {key: …} for words in the colour of their role.
 * @param {any} look seen, side, index (of the model in view), position or null, layer, head (from 1), roll (layers, or 0), surprise, best
 *   {where, most} or null, counts (by model, how many positions may be looked at), running
 */
export function sentence(look) {
  const { seen, side, index, position, layer, head, roll, surprise, best, counts, running } = look;
  const zh = lang() === "zh";
  const model = seen[index];
  const name = t(model.name);
  if (running) {
    const at = Math.min(model.count, model.length - 1);
    const paid = nats(model.cost.whole);
    const q = { query: place(side, at) };
    return zh ? [`${name}正在${at < model.given ? "读" : "生成"}像素 `, q, `，第 ${at + 1} 个，共 ${model.length} 个；至今花费 ${paid} 纳特。`] : [`${name} ${at < model.given ? "reads" : "makes"} pixel `, q, `, ${at + 1} of ${model.length}; it has paid ${paid} nats so far.`];
  }
  if (position === null) return costs(look);
  const q = { query: place(side, position) };
  const others = (says) => seen.filter((_, i) => i !== index).map(says);
  if (surprise) {
    const worst = model.nats.reduce((most, n, p) => (n > model.nats[most] ? p : most), 0);
    const beside = others((one) => `${t(one.name)} ${nats(one.nats[position])}`);
    return zh
      ? [`${name}：像素 `, q, ` 花费 ${nats(model.nats[position])} 纳特${beside.length ? `（${beside.join("，")}）` : ""}；最贵的是 ${place(side, worst)}，${nats(model.nats[worst])}。`]
      : [`${name} paid ${nats(model.nats[position])} nats for pixel `, q, `${beside.length ? ` (${beside.join(", ")})` : ""}; the most, ${nats(model.nats[worst])}, for ${place(side, worst)}.`];
  }
  const all = position + 1;
  const [mine, rest] = [counts[index], others((one) => `${t(one.name)} ${counts[seen.indexOf(one)]}`)];
  if (roll) {
    const layers = roll === 1 ? t(TEXT.throughOne) : t(TEXT.through, { n: roll });
    const most = best ? (zh ? ["；累积给 ", { key: place(side, best.where) }, ` ${weight(best.most)}，${away(side, position, best.where)}，自身除外最多`] : ["; beside itself, the rollout gives most to ", { key: place(side, best.where) }, `, ${away(side, position, best.where)}, ${weight(best.most)}`]) : [];
    const reach = zh ? `有 ${mine === all ? `全部 ${all}` : `${mine} / ${all}`} 个位置能到达它` : `${mine === all ? `all ${all}` : `${mine} of the ${all}`} places up to its own reach it`;
    const beside = rest.length ? (zh ? `（${rest.join("，")}）` : ` (${rest.join(", ")})`) : "";
    return zh ? [`${name}，经 ${layers}：像素 `, q, ` ${reach}${beside}`, ...most, "。"] : [`${name}, through ${layers}: of pixel `, q, `, ${reach}${beside}`, ...most, "."];
  }
  const may = zh ? `它能看到${mine === all ? `全部 ${all} 个位置` : ` ${all} 个位置中的 ${mine} 个`}${rest.length ? `（${rest.join("，")}）` : ""}` : `it may look at ${mine === all ? `all ${all}` : `${mine} of the ${all}`} places up to its own${rest.length ? ` (${rest.join(", ")})` : ""}`;
  const start = zh ? [`${name}，头 ${layer}·${head}：像素 `, q] : [`${name}, head ${layer}·${head}: pixel `, q];
  if (!mine) return [...start, zh ? " 看不到任何位置。" : " may look at nothing."];
  if (!best) return [...start, zh ? `；${may}。` : `; ${may}.`];
  const k = { key: place(side, best.where) };
  return zh ? [...start, " 看向 ", k, `，${away(side, position, best.where)}，${weight(best.most)}；${may}。`] : [...start, " looks at ", k, `, ${away(side, position, best.where)}, ${weight(best.most)}; ${may}.`];
}

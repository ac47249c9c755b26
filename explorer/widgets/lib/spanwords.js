// What the spans widget says: its labels, and the sentence computed from the pixel that is looked at.

import { el } from "./dom.js";
import { lang, t } from "./lang.js";

export const TEXT = {
  title: { en: "What one pixel may look at", zh: "一个像素能看到什么" },
  question: { en: "Where may a pixel look: in rows, or in tiles?", zh: "一个像素能看哪里：按行，还是按瓦片？" },
  questionField: { en: "What can a pixel know of, layer by layer?", zh: "一层一层，一个像素能知道什么？" },
  query: { en: "query block", zh: "查询块" },
  memory: { en: "memory block", zh: "记忆块" },
  weight: { en: "weight", zh: "权重" },
  known: { en: "known through {n}", zh: "经 {n} 可知" },
  layers: { en: "{n} layers", zh: "{n} 层" },
  oneLayer: { en: "1 layer", zh: "1 层" },
  start: { en: "Back to the first pixel", zh: "回到第一个像素" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  before: { en: "One pixel back", zh: "后退一个像素" },
  after: { en: "One pixel on", zh: "前进一个像素" },
  seek: { en: "Place in the order of making", zh: "生成顺序中的位置" },
  count: { en: "pixel {n} / {of}", zh: "像素 {n} / {of}" },
  countValue: { en: "value {n} / {of}", zh: "值 {n} / {of}" },
  whole: { en: "Whole picture", zh: "整张图" },
  pattern: { en: "Pattern", zh: "模式" },
  layer: { en: "layer", zh: "层" },
  heads: { en: "{n} heads", zh: "{n} 个头" },
  head: { en: "Layer {layer}, head {head}: most {w} at {where}", zh: "第 {layer} 层，第 {head} 头：最大 {w}，在 {where}" },
  headBare: { en: "Layer {layer}, head {head}", zh: "第 {layer} 层，第 {head} 头" },
  gone: { en: "silenced", zh: "已关掉" },
  tileDo: { en: "click: look · shift-click: silence it", zh: "点击：查看 · shift-点击：关掉它" },
  tileWake: { en: "shift-click: let it speak again", zh: "shift-点击：让它恢复" },
  knownPixels: { en: "Pixels it can know of, layer by layer", zh: "一层一层，它能知道的像素" },
  knownValues: { en: "Values it can know of, layer by layer", zh: "一层一层，它能知道的值" },
  fieldLabel: { en: "{pattern}, {layers}: {n} pixels", zh: "{pattern}，{layers}：{n} 个像素" },
  picture: { en: "{pattern}, picture {n}", zh: "{pattern}，第 {n} 张" },
  truth: { en: "given", zh: "原图" },
  small: { en: "from", zh: "起点" },
  smallLong: { en: "What it starts from", zh: "起点" },
  smallNote: { en: "{rows} × {columns} pixels, seen whole", zh: "{rows} × {columns} 像素，全部可见" },
  keptNote: { en: "{n} rows given, above the line", zh: "线以上 {n} 行是给定的" },
  print: {
    en: "A key carries the level made just before it, so the query’s own place stands for the pixel before.",
    zh: "键携带的是它前一个生成的灰度，所以查询自己的位置代表它的前一个像素。",
  },
  firstOnly: { en: "Heads are watched on the first picture only.", zh: "只对第一张图记录各头的权重。" },
  growing: { en: "The heads appear when the picture is finished.", zh: "图片完成后显示各头。" },
  cardMade: { en: "made {nth} of {of}", zh: "第 {nth} 个生成，共 {of} 个" },
  cardGiven: { en: "given", zh: "给定" },
  cardLevel: { en: "level {n}", zh: "灰度 {n}" },
  cardColour: { en: "colour {n}", zh: "颜色 {n}" },
  cardBits: { en: "cost {n} bits", zh: "花费 {n} 比特" },
  cardWeight: { en: "head {head} of the locked pixel gives it {w}, {n} of {of}", zh: "锁定像素的头 {head} 给它 {w}，排第 {n}，共 {of}" },
  cardHidden: { en: "the locked pixel may not look here", zh: "锁定的像素看不到这里" },
  cardDo: { en: "click: lock this pixel", zh: "点击：锁定这个像素" },
  cardTap: { en: "tap again: lock this pixel", zh: "再点一次：锁定这个像素" },
  boards: { en: "{title}. Arrow keys step through the order and the heads, Space plays.", zh: "{title}。方向键逐个像素、逐个头移动，空格播放。" },
  rank: { en: "rank", zh: "名次" },
  pixel: { en: "pixel", zh: "像素" },
  level: { en: "level", zh: "灰度" },
  headN: { en: "head {n}", zh: "头 {n}" },
  caption: {
    en: "{pattern}, layer {layer}: the {n} places that pixel {q} looks at hardest, by head {head}; each column sums to 1 over all {of} places",
    zh: "{pattern}，第 {layer} 层：像素 {q} 最看重的 {n} 处，按头 {head} 排序；每列对全部 {of} 处求和为 1",
  },
  another: { en: "Head", zh: "头" },
  position: { en: "Pixel", zh: "像素" },
};

const SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const spelled = (n) => SMALL[n] ?? String(n);

/** 1st, 2nd, 3rd; in Chinese the number alone. */
export function ordinal(n) {
  if (lang() === "zh") return String(n);
  const ten = n % 100;
  const ending = ten >= 11 && ten <= 13 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${n}${ending}`;
}

/** A weight as it is read: two digits, more where two would say nothing. */
export const weight = (w) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w.toPrecision(1).includes("e") ? "<0.0001" : w.toFixed(4));

const CHANNELS = { en: ["red", "green", "blue"], zh: ["红", "绿", "蓝"] };

/** "(18, 20)", with the channel where there are several. */
export function place(it, position) {
  const where = `(${it.row(position)}, ${it.column(position)})`;
  return it.channels === 1 ? where : `${where} ${CHANNELS[lang()][position % it.channels]}`;
}

/** From the query to another pixel, in words: "one up, two left". */
export function away(it, from, to) {
  const [up, left] = [Math.floor(from / it.columns) - Math.floor(to / it.columns), (from % it.columns) - (to % it.columns)];
  if (lang() === "zh") return [up && `${up > 0 ? "上" : "下"} ${Math.abs(up)}`, left && `${left > 0 ? "左" : "右"} ${Math.abs(left)}`].filter(Boolean).join("、");
  return [up && `${spelled(Math.abs(up))} ${up > 0 ? "up" : "down"}`, left && `${spelled(Math.abs(left))} ${left > 0 ? "left" : "right"}`].filter(Boolean).join(", ");
}

/**
 * The sentence under the boards, as pieces: texts, and {query: …} or {key: …} for words in the colour of their role.
 * @param {{it: any, pattern: any, other: {it: any, pattern: any} | null, position: number, layer: number, head: number,
 *   best: {where: number, most: number} | null, field: number, growing: boolean}} look layer and head from 1
 */
export function sentence(look) {
  const { it, pattern, other, position, layer, head, best, field, growing } = look;
  const zh = lang() === "zh";
  const q = { query: place(it, position) };
  const name = t(pattern.short);
  const count = it.seen(position);
  const unit = it.channels === 1 ? (zh ? "个像素" : count === 1 ? "pixel" : "pixels") : zh ? "个值" : "values";
  if (growing) {
    const also = other ? (zh ? `，在 ${t(other.pattern.short)} 中 ${other.it.seen(position)} 个` : `, in ${t(other.pattern.short)} at ${other.it.seen(position)}`) : "";
    return zh
      ? ["正在生成像素 ", q, `，第 ${position + 1} 个，共 ${it.length} 个；在 ${name} 中它能看 ${count} ${unit}${also}。`]
      : ["Pixel ", q, ` is being made, ${ordinal(position + 1)} of ${it.length}; in ${name} it may look at ${count} ${unit}${also}.`];
  }
  if (field) {
    const told = [{ it, pattern }, ...(other ? [other] : [])].map((each) => ({ name: t(each.pattern.short), n: each.it.reach(position, field).counts[field - 1] }));
    const all = position; // every level made before
    const part = ({ name: name_, n }) => (zh ? `${name_} 中 ${n} 个${n === all ? "，即全部" : ""}` : `${n} in ${name_}${n === all ? ", all there are" : ""}`);
    return zh
      ? ["像素 ", q, ` 之前已生成 ${all} 个；经 ${field} 层它能知道 ${told.map(part).join("，")}。每一层都把看到的再传一次。`]
      : ["Of the ", `${all} ${all === 1 ? "pixel" : "pixels"} made before `, q, `, ${field === 1 ? "one layer lets" : `${spelled(field)} layers let`} it know ${told.map(part).join(" and ")}. Each layer passes on what the one below saw.`];
  }
  const parts = zh ? ["像素 ", q, `，第 ${position + 1} 个生成，在 ${name} 中能看到 ${count} ${unit}`] : ["Pixel ", q, `, made ${ordinal(position + 1)}, sees ${count} ${unit} in ${name}`];
  if (best) {
    const itself = best.where === it.order[position];
    const k = { key: `(${Math.floor(best.where / it.columns)}, ${best.where % it.columns})` };
    const where = itself ? (zh ? "自己的位置，代表前一个像素" : "its own place, which stands for the pixel before") : away(it, it.order[position], best.where);
    parts.push(...(zh ? [`；第 ${layer} 层的头 ${head} 给 `, k, ` ${weight(best.most)}，${where}`] : [`; head ${head} of layer ${layer} gives `, k, ` ${weight(best.most)}, ${where}`]));
  }
  parts.push(zh ? "。" : ".");
  if (other) parts.push(zh ? `在 ${t(other.pattern.short)} 中同一步落在` : ` In ${t(other.pattern.short)} the same turn falls on `, other.it.order[position] === it.order[position] ? (zh ? "同一个像素" : "the same pixel") : `${zh ? " " : ""}${place(other.it, position)}`, zh ? "。" : ".");
  return parts;
}

/** The pieces as nodes. */
export const nodes = (parts) => parts.map((part) => (typeof part === "string" ? document.createTextNode(part) : el("b", { class: part.query ? "tfe-query" : "tfe-key", text: part.query ?? part.key })));

/** The pieces as one text. */
export const plain = (parts) => parts.map((part) => (typeof part === "string" ? part : (part.query ?? part.key))).join("");

// What the picture of spans says: its labels, and the sentence computed from the pixel that is
// looked at.

import { lang, parts, t } from "../../frontend/lib/lang.js";
import { ordinal, weight } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: {
    en: "Where may a pixel look: in rows, or in tiles?",
    zh: "一个像素能看哪里：按行，还是按小块？",
  },
  questionField: {
    en: "What can a pixel know of, layer by layer?",
    zh: "一层一层，一个像素能知道什么？",
  },
  query: { en: "query block", zh: "查询块" },
  memory: { en: "memory block", zh: "记忆块" },
  weight: { en: "weight", zh: "权重" },
  known: { en: "known through {n} layers", zh: "经 {n} 层可知" },
  start: { en: "Back to the first pixel", zh: "回到第一个像素" },
  before: { en: "One pixel back", zh: "后退一个像素" },
  after: { en: "One pixel on", zh: "前进一个像素" },
  seek: { en: "Place in the order of making", zh: "生成顺序中的位置" },
  count: { en: "pixel {n} / {of}", zh: "像素 {n} / {of}" },
  countValue: { en: "value {n} / {of}", zh: "值 {n} / {of}" },
  whole: { en: "Whole picture", zh: "整张图" },
  pattern: { en: "Pattern", zh: "模式" },
  layer: { en: "layer", zh: "层" },
  heads: { en: "The {n} heads of layer {layer}", zh: "第 {layer} 层的 {n} 个头" },
  head: { en: "Layer {layer}, head {head}", zh: "第 {layer} 层，第 {head} 头" },
  most: { en: "most {w} at {where}", zh: "最大 {w}，在 {where}" },
  gone: { en: "silenced", zh: "已关掉" },
  tileDo: { en: "click: look · shift-click: silence it", zh: "点击：查看 · shift-点击：关掉它" },
  tileWake: {
    en: "click: look · shift-click: let it speak again",
    zh: "点击：查看 · shift-点击：让它恢复",
  },
  tileTap: { en: "click: look", zh: "点击：查看" },
  knownPixels: { en: "Pixels it can know of, layer by layer", zh: "一层一层，它能知道的像素" },
  knownValues: { en: "Values it can know of, layer by layer", zh: "一层一层，它能知道的值" },
  field: { en: "{pattern}, {layers} layers: {n} pixels", zh: "{pattern}，{layers} 层：{n} 个像素" },
  fieldValues: {
    en: "{pattern}, {layers} layers: {n} values",
    zh: "{pattern}，{layers} 层：{n} 个值",
  },
  fieldDo: {
    en: "click: show it · Shift with ← → goes through the layers",
    zh: "点击：显示 · Shift 加 ← → 逐层查看",
  },
  picture: { en: "{pattern}, picture {n}", zh: "{pattern}，第 {n} 张" },
  truth: { en: "given", zh: "原图" },
  smallLong: { en: "What it starts from", zh: "起点" },
  smallNote: {
    en: "{rows} × {columns} pixels, seen whole",
    zh: "{rows} × {columns} 像素，全部可见",
  },
  keptNote: { en: "{n} rows given, above the line", zh: "线以上 {n} 行是给定的" },
  print: {
    en: "A key carries the level made just before it, so the query’s own place means the pixel " +
      "before.",
    zh: "键携带的是它前一个生成的灰度，所以查询自己的位置代表它的前一个像素。",
  },
  firstOnly: {
    en: "Heads are watched on the first picture only.",
    zh: "只对第一张图记录各头的权重。",
  },
  growing: { en: "The heads appear when the picture is finished.", zh: "图片完成后显示各头。" },
  cardMade: { en: "made {nth} of {of}", zh: "第 {nth} 个生成，共 {of} 个" },
  cardGiven: { en: "given", zh: "给定" },
  cardLevel: { en: "level {n}", zh: "灰度 {n}" },
  cardColour: { en: "colour {n}", zh: "颜色 {n}" },
  cardBits: { en: "cost {n} bits", zh: "花费 {n} 比特" },
  cardWeight: {
    en: "head {head} of the locked pixel gives it {w}, {n} of {of}",
    zh: "锁定像素的头 {head} 给它 {w}，排第 {n}，共 {of}",
  },
  cardHidden: { en: "the locked pixel may not look here", zh: "锁定的像素看不到这里" },
  board: {
    en: "{title}. Arrow keys step through the order and the heads, with Shift through layers of " +
      "what is known; Space plays, Escape resets.",
    zh: "{title}。方向键逐个像素、逐个头移动，加 Shift 逐层查看所知，空格播放，Esc 复位。",
  },
  columns: { en: "rank|row|column|level|head {n}, weight", zh: "名次|行|列|灰度|头 {n}（权重）" },
  caption: {
    en: "{pattern}, layer {layer}: the places that pixel {q} looks at, hardest first by head " +
      "{head}; each head sums to 1 over all {of}",
    zh:
      "{pattern}，第 {layer} 层：像素 {q} 所看之处，按头 {head} 从大到小；每个头对全部 {of} 处求和为 1",
  },
};

const SMALL = [
  "no",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];
const spelled = (n) => SMALL[n] ?? String(n);
const CHANNELS = { en: ["red", "green", "blue"], zh: ["红", "绿", "蓝"] };

/** "(18, 20)" */
export const where = (it, pixel) => `(${Math.floor(pixel / it.columns)}, ${pixel % it.columns})`;

/** The same of a position, with the channel where there are several. */
export const place = (it, position) =>
  where(it, it.order[position]) +
  (it.channels === 1 ? "" : ` ${CHANNELS[lang()][position % it.channels]}`);

/** From the query to another pixel, in words: "one up, two left". */
function away(it, from, to) {
  const up = Math.floor(from / it.columns) - Math.floor(to / it.columns);
  const left = (from % it.columns) - (to % it.columns);
  const said = (n, names) =>
    n &&
    (lang() === "zh"
      ? `${names[n > 0 ? 2 : 3]} ${Math.abs(n)}`
      : `${spelled(Math.abs(n))} ${names[n > 0 ? 0 : 1]}`);
  return [said(up, ["up", "down", "上", "下"]), said(left, ["left", "right", "左", "右"])].filter(
    Boolean,
  ).join(lang() === "zh" ? "、" : ", ");
}

const SAY = {
  pixels: { en: "{n} pixels", zh: "{n} 个像素" },
  values: { en: "{n} values", zh: "{n} 个值" },
  made: {
    en: "Pixel {q} is being made, {nth} of {of}; in {name} it may look at {seen}{also}.",
    zh: "正在生成像素 {q}，第 {n} 个，共 {of} 个；在 {name} 中它能看 {seen}{also}。",
  },
  also: { en: ", in {name} at {n}", zh: "，在 {name} 中 {n} 个" },
  field: {
    en:
      "Of the {seen} made before {q}, {layers} it know {told}. Each layer passes on what the one " +
      "below saw.",
    zh: "像素 {q} 之前已生成 {seen}；经 {field} 层它能知道 {told}。每一层都把看到的再传一次。",
  },
  some: { en: "{n} in {name}", zh: "{name} 中 {n} 个" },
  every: { en: "{n} in {name}, all there are", zh: "{name} 中 {n} 个，即全部" },
  and: { en: " and ", zh: "，" },
  sees: {
    en: "Pixel {q}, made {nth}, sees {seen} in {name}",
    zh: "像素 {q}，第 {n} 个生成，在 {name} 中能看到 {seen}",
  },
  gives: {
    en: "; head {head} of layer {layer} gives {k} {w}, {far}",
    zh: "；第 {layer} 层的头 {head} 给 {k} {w}，{far}",
  },
  own: { en: "its own place, which means the pixel before", zh: "自己的位置，代表前一个像素" },
  end: { en: ".", zh: "。" },
  there: {
    en: " In {name}, the pixel made at the same moment is {place}.",
    zh: "在 {name} 中，同一时刻生成的是 {place}。",
  },
  same: {
    en: " In {name}, the pixel made at the same moment is the same.",
    zh: "在 {name} 中，同一时刻生成的是同一个像素。",
  },
};

/** The sentence of what is looked at, as `seen` of spans.js gives it. */
export function sentenceOf(run, { at, position, layer, head, weights, field, moves }) {
  if (position === null) return [t(TEXT.print)];
  const [{ it, short }, other] = [run.patterns[at], run.patterns.find((_, i) => i !== at)];
  const counted = (n) => t(it.channels > 1 ? SAY.values : SAY.pixels, { n });
  const told = {
    q: { role: "query", text: place(it, position) },
    name: t(short),
    seen: counted(it.seen(position)),
    n: position + 1,
    nth: ordinal(position + 1),
    of: it.length,
  };
  if (moves) {
    return parts(SAY.made, {
      ...told,
      also: other ? t(SAY.also, { name: t(other.short), n: other.it.seen(position) }) : "",
    });
  }
  if (field) {
    const each = [run.patterns[at], ...(other ? [other] : [])].map((one) => {
      const n = one.it.reach(position, field).counts[field - 1];
      return t(n === position ? SAY.every : SAY.some, { n, name: t(one.short) }); // as many levels were made before
    });
    const layers = field === 1 ? "one layer lets" : `${spelled(field)} layers let`;
    return parts(SAY.field, {
      ...told,
      seen: counted(position),
      field,
      layers,
      told: each.join(t(SAY.and)),
    });
  }
  const best = weights[at]?.[head - 1];
  if (best) {
    Object.assign(told, {
      head,
      layer,
      k: { role: "key", text: where(it, best.where) },
      w: weight(best.most),
      far: best.where === it.order[position]
        ? t(SAY.own)
        : away(it, it.order[position], best.where),
    });
  }
  const said = [SAY.sees, ...(best ? [SAY.gives] : []), SAY.end].flatMap((text) =>
    parts(text, told)
  );
  if (!other) return said;
  return [
    ...said,
    ...parts(other.it.order[position] === it.order[position] ? SAY.same : SAY.there, {
      name: t(other.short),
      place: place(other.it, position),
    }),
  ];
}

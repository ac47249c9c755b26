// What the digits say: their labels, what models paid, and the sentence computed from what is
// looked at.

import { lang, parts, t } from "../../frontend/lib/lang.js";
import { colour, shade } from "../../frontend/lib/pen.js";
import { ordinal, weight } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: {
    en: "What does a pixel look at when it may not look at everything?",
    zh: "不能全看时，一个像素看哪里？",
  },
  model: { en: "Model", zh: "模型" },
  query: { en: "asks", zh: "提问的像素" },
  first: { en: "A1 may look", zh: "A1 可看" },
  second: { en: "A2 may look", zh: "A2 可看" },
  may: { en: "may look", zh: "可看" },
  reaches: { en: "reaches it", zh: "可到达" },
  out: { en: "made", zh: "生成的" },
  weight: { en: "√ weight, 0 to {ends}", zh: "√ 权重，0 至 {ends}" },
  rollout: { en: "√ rollout, 0 to {ends}", zh: "√ 累积，0 至 {ends}" },
  nats: { en: "0 to {worst} nats and more", zh: "0 至 {worst} 纳特及以上" },
  costs: {
    en: "{given} given + {made} made = {whole} nats",
    zh: "给定 {given} + 生成 {made} = {whole} 纳特",
  },
  costsGiven: { en: "{whole} nats, all of it given", zh: "{whole} 纳特，全部是给定的" },
  costsMade: { en: "{whole} nats, all of it made", zh: "{whole} 纳特，全部是生成的" },
  unusual: {
    en: "What was given is unlike the digits learned from.",
    zh: "给定部分不像学习过的数字。",
  },
  start: { en: "Back to the first pixel", zh: "回到第一个像素" },
  before: { en: "One pixel back", zh: "后退一个像素" },
  after: { en: "One pixel on", zh: "前进一个像素" },
  seek: { en: "Pixel in the order of making", zh: "生成顺序中的像素" },
  count: { en: "pixel {n} / {of}", zh: "像素 {n} / {of}" },
  attention: { en: "Attention of", zh: "注意力：" },
  head: { en: "head {head}", zh: "头 {head}" },
  through: { en: "{n} layers", zh: "{n} 层" },
  colours: { en: "Colours of pixels", zh: "像素的颜色" },
  looks: { en: "attention", zh: "注意力" },
  surprise: { en: "surprise", zh: "惊讶" },
  ghost: { en: "The digit it was cut from", zh: "被截去的原数字" },
  whole: { en: "Whole digits", zh: "完整数字" },
  heads: { en: "Where every head looks, on average", zh: "每个头平均看向哪里" },
  mean: { en: "√ mean weight", zh: "√ 平均权重" },
  tile: { en: "{name} {head} ({factor})", zh: "{name} {head}（{factor}）" },
  tileMost: { en: "mostly {where}, {w} on average", zh: "主要看{where}，平均 {w}" },
  tileBeyond: { en: "{beyond} % lies farther than this map", zh: "{beyond} % 在此图之外" },
  tileNone: { en: "looks nowhere on this map", zh: "不看此图内的位置" },
  each: { en: "every head: {factor}", zh: "每个头：{factor}" },
  differ: { en: "by layer or head: {factors}", zh: "按层或头：{factors}" },
  headsNote: {
    en: "Small maps: six rows up × seven columns to each side of the pixel that asks (bottom " +
      "middle), on average. Grey: never allowed.",
    zh: "小图：提问像素（底行中央）向上六行 × 左右各七列，取平均。灰色：从不允许。",
  },
  note: {
    en:
      "A key carries the pixel made just before it, so the pixel’s own place means the one before.",
    zh: "键携带的是它前一个像素，所以像素自己的位置代表前一个像素。",
  },
  noteRoll: {
    en: "Rollout (Abnar and Zuidema, 2020): at each layer half the mean of all heads, half the " +
      "residual path; multiplied through the layers.",
    zh: "累积（Abnar 与 Zuidema，2020）：每层一半取各头平均，一半取残差通路，逐层相乘。",
  },
  growing: {
    en: "What the heads look at can be seen when the digits are finished.",
    zh: "数字完成后可以查看各头看向哪里。",
  },
  board: {
    en: "{title}. Arrow keys step through the pixels and the heads, Space plays, Escape resets.",
    zh: "{title}。方向键逐个像素、逐个头移动，空格播放，Esc 复位。",
  },
  cardPixel: { en: "{q} · pixel {n} of {of}", zh: "{q} · 第 {n} 个像素，共 {of} 个" },
  cardInk: { en: "ink", zh: "有墨" },
  cardBlank: { en: "blank", zh: "空白" },
  given: { en: "given", zh: "给定" },
  made: { en: "made", zh: "生成" },
  cardLater: { en: "not made yet", zh: "尚未生成" },
  cardNats: { en: "cost {n} nats", zh: "花费 {n} 纳特" },
  cardWeight: { en: "{q} gives it {w}, {n} of {of}", zh: "{q} 给它 {w}，排第 {n}，共 {of}" },
  cardHidden: { en: "{q} may not look here", zh: "{q} 看不到这里" },
  cardAfter: { en: "{q} comes before it", zh: "{q} 在它之前" },
  caption: { en: "Every pixel and what it cost. {costs}.", zh: "每个像素及其花费。{costs}。" },
  position: { en: "position", zh: "位置" },
  row: { en: "row", zh: "行" },
  column: { en: "column", zh: "列" },
  ofInk: { en: "{name}, ink", zh: "{name}，墨" },
  ofGiven: { en: "{name}, given", zh: "{name}，给定" },
  ofNats: { en: "{name}, nats", zh: "{name}，纳特" },
  ofWeight: { en: "{name}, weight of {what}", zh: "{name}，{what}的权重" },
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

const place = (side, p) => `(${Math.floor(p / side)}, ${p % side})`;
const nats = (n) => n.toFixed(n < 10 ? 2 : 1);
export const factorName = (name) => t(FACTORS[name] ?? name);
const listed = (
  all,
) => (lang() === "zh"
  ? all.join("，")
  : all.length < 2
  ? all.join("")
  : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`);

/** What the head in view, or the rollout, is called. */
export const whatOf = (
  look,
) => (Number(look.digitsroll)
  ? `${t({ en: "rollout", zh: "累积" })}, ${t(TEXT.through, { n: look.digitsroll })}`
  : t(TEXT.head, { head: look.head.replace(".", "·") }));

/**
 * What a model paid for its digit. Both parts and their sum have as many digits as it takes for the
 * sum to be right as it is printed.
 */
export function costsOf(model) {
  const text = model.given >= model.length
    ? TEXT.costsGiven
    : model.given
    ? TEXT.costs
    : TEXT.costsMade;
  const { given, made: own, whole } = model.cost;
  const right = (digits) =>
    (Number(given.toFixed(digits)) +
      Number(own.toFixed(digits))).toFixed(digits) === whole.toFixed(digits);
  const digits = text === TEXT.costs ? [1, 2, 3].find(right) : null;
  return t(
    text,
    Object.fromEntries(
      Object.entries(model.cost).map(([key, n]) => [key, digits ? n.toFixed(digits) : nats(n)]),
    ),
  );
}

/** A displacement in words: "one row up, two left"; "" for none. */
function towards(up, right) {
  if (lang() === "zh") {
    return [up && `上 ${up} 行`, right && `${right < 0 ? "左" : "右"} ${Math.abs(right)}`].filter(
      Boolean,
    ).join("、");
  }
  const small = [
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
  const spelled = (n) => small[n] ?? String(n);
  return [
    up && `${spelled(up)} ${up === 1 ? "row" : "rows"} up`,
    right && `${spelled(Math.abs(right))} ${right < 0 ? "left" : "right"}`,
  ].filter(Boolean).join(", ");
}

/** What a head looks at on the mean, in words. */
export function tileCard(model, map, layer, head) {
  const [, , rows, columns] = model.offsets.shape;
  const best = map.reduce((most, one, n) => (one > (map[most] || 0) ? n : most), 0);
  const title = t(TEXT.tile, {
    name: t(model.name),
    head: `${layer}·${head}`,
    factor: factorName(model.factors[layer - 1][head - 1]),
  });
  if (!(map[best] > 0)) return [title, t(TEXT.tileNone)];
  const where =
    towards(rows - 1 - Math.floor(best / columns), (best % columns) - Math.floor(columns / 2)) ||
    t({ en: "its own place", zh: "自己的位置" });
  return [
    title,
    t(TEXT.tileMost, { where, w: weight(map[best] ** 2) }),
    t(TEXT.tileBeyond, { beyond: Math.round(100 * model.beyond[layer - 1][head - 1]) }),
  ];
}

/** From one position back to another, in words. */
function away(side, from, to) {
  if (from === to) {
    return t({
      en: "its own place, which means the pixel before",
      zh: "自己的位置，代表前一个像素",
    });
  }
  return towards(Math.floor(from / side) - Math.floor(to / side), (to % side) - (from % side));
}

/** What is said of a pixel of one model. now: what is looked at (digits.js). */
export function card({ models, side }, { held, positions, surprise }, i, position) {
  const model = models[i];
  const known = position < Math.max(model.count, model.given);
  const what = known
    ? [
      t(position < model.given ? TEXT.given : TEXT.made),
      t(model.symbols[position] ? TEXT.cardInk : TEXT.cardBlank),
    ]
    : [t(TEXT.cardLater)];
  if (position < model.count) what.push(t(TEXT.cardNats, { n: nats(model.nats[position]) }));
  const lines = [
    t(TEXT.cardPixel, { q: place(side, position), n: position + 1, of: model.length }),
    what.join(" · "),
  ];
  const from = positions.at(-1);
  if (from === undefined || from === position || surprise || !held[i].mask) return lines;
  // What the locked pixel gives to this one.
  const [q, { mask, weights, count }] = [place(side, from), held[i]];
  if (position > from) return [...lines, t(TEXT.cardAfter, { q })];
  if (!mask[position]) return [...lines, t(TEXT.cardHidden, { q })];
  if (!weights) return lines;
  const rank = 1 + weights.filter((one) => one > weights[position]).length;
  return [
    ...lines,
    t(TEXT.cardWeight, { q, w: weight(weights[position]), n: ordinal(rank), of: count }),
  ];
}

const SAY = {
  nats: { en: "{name} {n} nats", zh: "{name} {n} 纳特" },
  more: { en: "{name} {n}", zh: "{name} {n} 纳特" },
  read: {
    en: "Reading the whole digit costs {each}: the fewer, the better it is known.",
    zh: "读完整个数字的花费：{each}；越少，说明越熟悉。",
  },
  fresh: {
    en: "for the {n} pixels of its own, each paid: {each}.",
    zh: "各自生成的 {n} 个像素：{each}。",
  },
  free: { en: "Nothing was given; {fresh}", zh: "{fresh}" },
  begun: {
    en: "The {rows} given rows cost {each}; {fresh}",
    zh: "给定的 {rows} 行花费：{each}；{fresh}",
  },
  reading: {
    en: "{name} reads pixel {q}, {n} of {of}; it has paid {paid} nats so far.",
    zh: "{name}正在读像素 {q}，第 {n} 个，共 {of} 个；至今花费 {paid} 纳特。",
  },
  making: {
    en: "{name} makes pixel {q}, {n} of {of}; it has paid {paid} nats so far.",
    zh: "{name}正在生成像素 {q}，第 {n} 个，共 {of} 个；至今花费 {paid} 纳特。",
  },
  others: { en: " ({all})", zh: "（{all}）" },
  comma: { en: ", ", zh: "，" },
  surprise: {
    en: "{name} paid {paid} nats for pixel {q}{beside}; the most, {most}, for {worst}.",
    zh: "{name}：像素 {q} 花费 {paid} 纳特{beside}；最贵的是 {worst}，{most}。",
  },
  bare: { en: "{name}: pixel {q}.", zh: "{name}：像素 {q}。" },
  rolled: { en: "{name}, through {layers}: of pixel {q}, ", zh: "{name}，经 {layers}：像素 {q} " },
  reachAll: {
    en: "all {all} places up to its own reach it{beside}",
    zh: "全部 {all} 个位置都能到达它{beside}",
  },
  reachSome: {
    en: "{count} of the {all} places up to its own reach it{beside}",
    zh: "有 {count} / {all} 个位置能到达它{beside}",
  },
  rollMost: {
    en: "; beside itself, the rollout gives most to {k}, {away}, {w}",
    zh: "；累积给 {k} {w}，{away}，自身除外最多",
  },
  end: { en: ".", zh: "。" },
  mayAll: {
    en: "it may look at all {all} places up to its own{beside}",
    zh: "它能看到全部 {all} 个位置{beside}",
  },
  maySome: {
    en: "it may look at {count} of the {all} places up to its own{beside}",
    zh: "它能看到 {all} 个位置中的 {count} 个{beside}",
  },
  head: { en: "{name}, head {head}: pixel {q}", zh: "{name}，头 {head}：像素 {q}" },
  blind: { en: " may look at nothing.", zh: " 看不到任何位置。" },
  may: { en: "; {may}.", zh: "；{may}。" },
  looks: { en: " looks at {k}, {away}, {w}; {may}.", zh: " 看向 {k}，{away}，{w}；{may}。" },
};

/** What the models paid: nothing is locked. */
function costs({ models, side }) {
  const { given, length: all } = models[0];
  const each = (what) =>
    listed(
      models.map((one, i) =>
        t(i ? SAY.more : SAY.nats, { name: t(one.name), n: nats(one.cost[what]) })
      ),
    );
  if (given >= all) return t(SAY.read, { each: each("whole") });
  const fresh = t(SAY.fresh, { n: all - given, each: each("made") });
  return t(given ? SAY.begun : SAY.free, { fresh, rows: given / side, each: each("given") });
}

/** now: what is looked at (digits.js). */
export function sentenceOf(run, look, now) {
  const { models, side } = run;
  const { model, position, views } = now;
  const q = (p) => ({ text: place(side, p), role: "query" });
  const name = t(model.name);
  if (now.front) {
    const at = Math.min(model.count, model.length - 1);
    return parts(at < model.given ? SAY.reading : SAY.making, {
      name,
      q: q(at),
      n: at + 1,
      of: model.length,
      paid: nats(model.cost.whole),
    });
  }
  if (position === null) return [costs(run)];
  const others = (says) => {
    const all = models.filter((one) => one !== model).map((one) => `${t(one.name)} ${says(one)}`);
    return all.length ? t(SAY.others, { all: all.join(t(SAY.comma)) }) : "";
  };
  const told = { name, q: q(position), head: look.head.replace(".", "·") };
  if (now.surprise) {
    const worst = model.nats.reduce((most, n, p) => (n > model.nats[most] ? p : most), 0);
    return parts(SAY.surprise, {
      ...told,
      paid: nats(model.nats[position]),
      most: nats(model.nats[worst]),
      beside: others((one) => nats(one.nats[position])),
      worst: place(side, worst),
    });
  }
  if (!model.factors) return parts(SAY.bare, told);
  const viewOf = (one) => views[models.indexOf(one)];
  const [{ best, count }, all] = [viewOf(model), position + 1];
  Object.assign(told, { count, all, beside: others((one) => viewOf(one).count) });
  if (best) {
    Object.assign(told, {
      k: { text: place(side, best.where), role: "key" },
      away: away(side, position, best.where),
      w: weight(best.most),
    });
  }
  const roll = Number(look.digitsroll);
  if (roll) {
    told.layers = t(TEXT.through, { n: roll });
    return [
      SAY.rolled,
      count === all ? SAY.reachAll : SAY.reachSome,
      ...(best ? [SAY.rollMost] : []),
      SAY.end,
    ]
      .flatMap((text) => parts(text, told));
  }
  told.may = t(count === all ? SAY.mayAll : SAY.maySome, told);
  return [SAY.head, !count ? SAY.blind : best ? SAY.looks : SAY.may].flatMap((text) =>
    parts(text, told)
  );
}

/** What the colours mean; each digit is drawn against its own largest weight. */
export function legendOf(run, look, { views, surprise, position, front }) {
  const looking = !surprise && !front && position !== null;
  const edges = looking ? views.flatMap((view) => view.edges) : [];
  const second = edges.some(({ line }) => line !== "key");
  const roll = Number(look.digitsroll);
  const named = ({ name }) => (run.models.length > 1 ? `${t(name)} ` : "");
  const ends = run.models.map((model, i) =>
    views[i].weights && `${named(model)}${weight(views[i].most)}`
  )
    .filter(Boolean).join(" · ");
  const shades = (of) => [1, 2, 3, 4, 5, 6, 7, 8].map((n) => of(n / 8));
  return [
    [!surprise && run.models.some(({ given, length }) => given < length), TEXT.out, {
      fill: "out",
      radius: 2,
    }],
    [surprise, TEXT.nats, { shades: shades((share) => shade("surprise", share)), wide: 64 }],
    [looking, TEXT.query, { fill: "query", radius: 2 }],
    [
      edges.some(({ line }) => line === "key"),
      roll ? TEXT.reaches : edges.some(({ part }) => part !== "all") ? TEXT.first : TEXT.may,
      { line: "key", width: 2, radius: 2 },
    ],
    [second, TEXT.second, { line: "cat-6", width: 2, radius: 2 }],
    [looking && ends, roll ? TEXT.rollout : TEXT.weight, {
      shades: shades((share) => colour("key", share)),
      wide: 64,
    }],
  ].filter(([there]) => there).map(([, text, mark]) => ({
    text: t(text, { worst: run.worst, ends }),
    mark,
  }));
}

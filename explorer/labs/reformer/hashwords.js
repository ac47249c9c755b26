// What the picture of hashing says: names of tokens, its labels, and the sentence of each step,
// computed from what is looked at.

import { parts, t } from "../../frontend/lib/lang.js";
import { number, shown } from "../../frontend/lib/signs.js";
import { ranked, share, sight } from "./hashnumbers.js";

export const TEXT = {
  question: {
    en: "How does it find alike vectors without comparing all?",
    zh: "不逐一比较，怎样找到相似的向量？",
  },
  legendWeight: { en: "weight, 0 to 1", zh: "权重，0 至 1" },
  board: {
    en: "{title}. Left and right move through the steps, Shift with left and right through " +
      "positions, up and down through heads, Space plays, Escape resets.",
    zh: "{title}。左右键换步骤，Shift 加左右键换位置，上下键换头，空格播放，Esc 复位。",
  },
  step: { en: "Step {n} of 5: {name}", zh: "第 {n} 步，共 5 步：{name}" },
  steps: { en: "Steps of hashing", zh: "哈希的步骤" },
  step1: { en: "Vectors", zh: "向量" },
  step2: { en: "Buckets", zh: "桶" },
  step3: { en: "Sort", zh: "排序" },
  step4: { en: "Chunks", zh: "分块" },
  step5: { en: "Back in place", zh: "放回原位" },
  deciding: { en: "the two that decide", zh: "起决定作用的两个坐标" },
  first: { en: "first two", zh: "前两个坐标" },
  columns: {
    en: "position|token|bucket|place sorted|chunk|may look at|looks hardest at|weight",
    zh: "位置|词元|桶|排序后|块|可看|最关注|权重",
  },
  units: {
    en: "{rounds} of {kinds} buckets, chunks of {chunk}",
    zh: "{rounds}，{kinds} 个桶，块长 {chunk}",
  },
  round1: { en: "1 round", zh: "1 轮" },
  roundsN: { en: "{n} rounds", zh: "{n} 轮" },
  model: { en: "Model", zh: "模型" },
  round: { en: "Round", zh: "轮" },
  all: { en: "all", zh: "全部" },
  plane: { en: "Plane", zh: "平面" },
  heads: { en: "Heads, by the buckets of this round", zh: "各个头在本轮的桶" },
  headsWord: {
    en: "Heads · how many letters share a bucket with the place that asks for them",
    zh: "各个头 · 有多少字母与询问它的位置同桶",
  },
  head: {
    en: "Head {head}: {n} of {of} letters share a bucket",
    zh: "头 {head}：{of} 个字母中有 {n} 个同桶",
  },
  headText: {
    en: "Head {head}: {n} of {of} buckets are in use",
    zh: "头 {head}：用到 {of} 个桶中的 {n} 个",
  },
  legendAsks: { en: "who asks", zh: "提问者" },
  legendLetter: { en: "the letter to predict", zh: "它要预测的字母" },
  legendKey: { en: "what is looked at", zh: "被看的位置" },
  legendBucket: { en: "number, colour and edge: its bucket", zh: "号码、颜色与边框：它的桶" },
  others: {
    en: "Pale dots: one of the other {n} coordinates is larger, and decides.",
    zh: "淡色的点：另外 {n} 个坐标中有更大的，由它决定。",
  },
  small: {
    en: "no room for numbers: point at a tile, or see the table",
    zh: "桶号无处可写：指向方块，或见数据表",
  },
  tie: { en: "Another coordinate is as large, to rounding.", zh: "另一个坐标在舍入误差内一样大。" },
  waits: {
    en: "the vectors and weights of this head are on their way",
    zh: "这个头的向量和权重正在传来",
  },
  full: {
    en: "{name} does not hash: each of its {n} positions is compared with all before it, {pairs} " +
      "pairs in every head, so there is nothing to sort.",
    zh:
      "{name} 不做哈希：{n} 个位置各自与之前的所有位置比较，每个头 {pairs} 对，因此没有什么可排序。",
  },
  fullOther: { en: "Choose {name} to see hashing.", zh: "选择 {name} 查看哈希。" },
  bucketN: { en: "bucket {n}", zh: "桶 {n}" },
  coordinates: { en: "All {n} coordinates of {name}", zh: "{name} 的全部 {n} 个坐标" },
  both: { en: "Both coordinates of {name}", zh: "{name} 的两个坐标" },
  only: { en: "The coordinate of {name}", zh: "{name} 的坐标" },
  barsUnits: { en: "rotated, length 1 before", zh: "旋转后；旋转前长度为 1" },
  theLetter: {
    en: "{name}, the letter to predict: {value} here",
    zh: "{name}，它要预测的字母：此处为 {value}",
  },
  alongTitle: { en: "Each place in the colour of its bucket", zh: "每个位置以其桶的颜色表示" },
  underWord: {
    en: "second row: each place stands under the letter that it must predict next",
    zh: "第二行：每个位置排在它接下来要预测的字母之下",
  },
  underText: { en: "in the order of the text", zh: "按文本顺序" },
  piles: { en: "The buckets", zh: "各个桶" },
  pilesUnits: {
    en: "by number, each with the positions that fell into it",
    zh: "按桶号，其中是落入的位置",
  },
  sequence: { en: "In the sequence", zh: "序列中" },
  sequenceUnits: { en: "by place, from 0", zh: "按位置，从 0 起" },
  sorted: { en: "Sorted", zh: "排序后" },
  sortedUnits: { en: "by bucket, then by place", zh: "先按桶，再按位置" },
  chunkTitle: { en: "Chunks of {n}", zh: "每块 {n} 个" },
  chunkUnits: { en: "in sorted order, whatever bucket", zh: "按排序后的次序，不论哪个桶" },
  chunkN: { en: "chunk {n}", zh: "块 {n}" },
  beforeN: { en: "chunk {n}, the one before", zh: "块 {n}（前一块）" },
  ownN: { en: "chunk {n}, its own", zh: "块 {n}（自己的块）" },
  looksAt: { en: "{name} looks at", zh: "{name} 所看之处" },
  mapOne: { en: "Round {n}", zh: "第 {n} 轮" },
  mapAll: { en: "All {n} rounds together", zh: "全部 {n} 轮合在一起" },
  mapUnits: { en: "queries down, keys across", zh: "纵向为查询，横向为键" },
  diagonal: { en: "the letter to predict, {n} back", zh: "要预测的字母，往回 {n}" },
  computed: { en: "of the causal pairs were computed", zh: "的因果对被计算" },
  computedShort: { en: "of the causal pairs", zh: "的因果对" },
  ofPairs: { en: "{n} of {of}", zh: "{of} 对中的 {n} 对" },
  foundOne: {
    en: "{n} of {of} places see the letter they must predict",
    zh: "{of} 个位置中有 {n} 个看得到要预测的字母",
  },
  foundAll: {
    en: "in {rounds} rounds, {n} of {of} places see their letter",
    zh: "{rounds} 轮之内，{of} 个位置中有 {n} 个看得到要预测的字母",
  },
  cardBucket: { en: "bucket {n}", zh: "桶 {n}" },
  cardPlace: {
    en: "place {n} of the sorted order, chunk {chunk}",
    zh: "排序后第 {n} 位，块 {chunk}",
  },
  cardWeight: { en: "weight {w}", zh: "权重 {w}" },
  cardNot: { en: "did not meet: not computed", zh: "没有相遇：未计算" },
  cardFuture: { en: "later: not allowed", zh: "在后面：不允许" },
  cardRound: { en: "Round {n}: {share} of the causal pairs", zh: "第 {n} 轮：因果对的 {share}" },
  cardAll: { en: "All rounds: {share} of the causal pairs", zh: "全部轮：因果对的 {share}" },
  caption: { en: "Every position in this round", zh: "本轮中的每个位置" },
};

const SAY = {
  vector: {
    en: "{q}, turned, is farthest along coordinate {j}, with {v}: bucket {b} of {kinds}.",
    zh: "{q} 旋转后在坐标 {j} 上最远，为 {v}：落入 {kinds} 个桶中的桶 {b}。",
  },
  vectorMinus: {
    en: "{q}, turned, is farthest against coordinate {j}, with {v}: bucket {j} + {half} = {b} of " +
      "{kinds}.",
    zh: "{q} 旋转后在坐标 {j} 的反方向上最远，为 {v}：落入 {kinds} 个桶中的桶 {j} + {half} = {b}。",
  },
  letterSame: {
    en: "The letter to predict, {k}, falls into the same bucket.",
    zh: "它要预测的字母 {k} 落入同一个桶。",
  },
  letterOther: {
    en:
      "The letter to predict, {k}, falls into bucket {b}: in this round they may miss each other.",
    zh: "它要预测的字母 {k} 落入桶 {b}：这一轮它们可能错过。",
  },
  falls: {
    en: "In this round {q} fell into bucket {b} of {kinds}.",
    zh: "{q} 落入 {kinds} 个桶中的桶 {b}。",
  },
  shares: { en: "It shares it with {n} other positions.", zh: "同桶的还有 {n} 个位置。" },
  share1: { en: "It shares it with one other position.", zh: "同桶的还有 1 个位置。" },
  share0: { en: "It is alone there.", zh: "桶里只有它自己。" },
  pairs: {
    en: "{n} of {of} places share a bucket with the letter they must predict; of equal letters, " +
      "{twins} of {pairs} pairs do.",
    zh: "{of} 个位置中有 {n} 个与要预测的字母同桶；相同字母的 {pairs} 对中有 {twins} 对同桶。",
  },
  used: {
    en: "{length} positions fall into {n} of {kinds} buckets; the fullest, {b}, holds {most}.",
    zh: "{length} 个位置落入 {kinds} 个桶中的 {n} 个；最满的桶 {b} 有 {most} 个。",
  },
  moves: { en: "{q} goes to place {p}.", zh: "{q} 移到第 {p} 位。" },
  apart: {
    en: "The letter to predict, {k}, was {before} places away and is now {after}.",
    zh: "它要预测的字母 {k} 原来相距 {before} 位，现在相距 {after} 位。",
  },
  stays: {
    en: "Within a bucket the order of the sequence stays.",
    zh: "同一个桶内保持序列的次序。",
  },
  chunk: {
    en:
      "{q} stands in chunk {c} of {of} and may look at {n} earlier {n|position|positions}, in it " +
      "and in the one before.",
    zh: "{q} 在 {of} 块中的第 {c} 块，可以看本块和前一块中的 {n} 个更早的位置。",
  },
  chunkFirst: {
    en: "{q} stands in chunk 1 of {of}, which has none before it, and may look at {n} earlier " +
      "{n|position|positions}.",
    zh: "{q} 在 {of} 块中的第 1 块，前面没有块，可以看 {n} 个更早的位置。",
  },
  alone: {
    en: "It sees no other, so it attends to itself.",
    zh: "它看不到别的位置，所以只注意自己。",
  },
  gives: { en: "It gives {k} {w}{tail}.", zh: "它给 {k} 的权重是 {w}{tail}。" },
  isLetter: { en: ", the letter to predict", zh: "，正是它要预测的字母" },
  missed: {
    en: "The letter to predict, {k}, is not among them.",
    zh: "它要预测的字母 {k} 不在其中。",
  },
  back: {
    en: "Back in place: {n} of {of} pairs with an earlier position were computed in round {r}, " +
      "{share}.",
    zh: "放回原位：第 {r} 轮计算了与更早位置的 {of} 对中的 {n} 对，即 {share}。",
  },
  backAll: {
    en: "Back in place: {n} of {of} pairs with an earlier position were computed in {r} rounds, " +
      "{share}.",
    zh: "放回原位：{r} 轮共计算了与更早位置的 {of} 对中的 {n} 对，即 {share}。",
  },
  gave: { en: "{q} gives {k}, {d} back, {w}.", zh: "{q} 给往回 {d} 的 {k} 权重 {w}。" },
  sees: {
    en: "{n} of {of} places see the letter they must predict.",
    zh: "{of} 个位置中有 {n} 个看得到要预测的字母。",
  },
  none: { en: "No position is locked.", zh: "没有锁定位置。" },
};

/** “l”·28 */
export const nameOf = (run, position) => `“${shown(run.tokens[position])}”·${position}`;
export const percent = (part) => {
  if (!Number.isFinite(part)) return "–"; // of no pairs at all
  const points = 100 * part;
  return `${points > 0 && points < 9.95 ? points.toFixed(1) : Math.round(points)} %`;
};
export const roundsText = (n) => (n === 1 ? t(TEXT.round1) : t(TEXT.roundsN, { n }));

/** What stands under the picture, as parts. scene: see hashing.js. */
export function sentenceOf(scene) {
  const { run, model } = scene;
  if (!model.rounds) {
    const pairs = ((run.length * (run.length - 1)) / 2).toLocaleString("en");
    return [t(TEXT.full, { name: t(model.name), n: run.length, pairs }), ...other(run)];
  }
  const list = [vectors, buckets, sorting, chunks, back][scene.step - 1](scene);
  return list.flatMap((one, n) => [...(n && t({ en: " ", zh: "" }) ? [" "] : []), ...one]);
}

function other(run) {
  const one = run.models.find(({ rounds }) => rounds);
  return one ? [t({ en: " ", zh: "" }) + t(TEXT.fullOther, { name: t(one.name) })] : [];
}

const query = ({ run, position }) => ({ text: nameOf(run, position), role: "query" });
const key = ({ run }, position) => ({ text: nameOf(run, position), role: "key" });

function vectors(scene) {
  const { round, model, position, partner, detail } = scene;
  if (position === null) return [parts(SAY.none, {})];
  const [b, half] = [round.buckets[position], model.kinds / 2];
  const own = detail?.rotated?.slice(position);
  const out = [];
  if (own) {
    const j = b % half;
    out.push(
      parts(b < half ? SAY.vector : SAY.vectorMinus, {
        q: query(scene),
        j,
        v: number(own[j]),
        b,
        half,
        kinds: model.kinds,
      }),
    );
    if (own.some((v, c) => c !== j && Math.abs(v) > Math.abs(own[j]))) {
      out.push(parts(TEXT.tie, {}));
    }
  } else out.push(parts(SAY.falls, { q: query(scene), b, kinds: model.kinds }));
  if (partner !== null) {
    const its = round.buckets[partner];
    return [
      ...out,
      parts(its === b ? SAY.letterSame : SAY.letterOther, { k: key(scene, partner), b: its }),
    ];
  }
  const n = round.buckets.filter((one) => one === b).length - 1;
  return [...out, parts(n === 0 ? SAY.share0 : n === 1 ? SAY.share1 : SAY.shares, { n })];
}

function buckets({ run, round, model }) {
  const count = new Map();
  for (const b of round.buckets) count.set(b, (count.get(b) ?? 0) + 1);
  const [b, most] = [...count].reduce((a, one) => (one[1] > a[1] ? one : a));
  const used = parts(SAY.used, {
    length: run.length.toLocaleString("en"),
    n: count.size,
    kinds: model.kinds,
    b,
    most,
  });
  return run.word
    ? [
      parts(SAY.pairs, {
        n: share(run.copies, round.buckets),
        of: run.copies.length,
        twins: share(run.twins, round.buckets),
        pairs: run.twins.length,
      }),
      used,
    ]
    : [used];
}

function sorting(scene) {
  const { round, position, partner } = scene;
  if (position === null) return [parts(SAY.none, {}), parts(SAY.stays, {})];
  const after = partner === null ? 0 : Math.abs(round.rank[position] - round.rank[partner]);
  return [
    parts(SAY.moves, { q: query(scene), p: round.rank[position] }),
    ...(partner === null
      ? []
      : [parts(SAY.apart, { k: key(scene, partner), before: position - partner, after })]),
    parts(SAY.stays, {}),
  ];
}

function chunks(scene) {
  const { round, position, partner, row } = scene;
  if (position === null) return [parts(SAY.none, {})];
  const [c, n] = [round.number(position) + 1, sight(round, position)];
  const out = [
    parts(c === 1 ? SAY.chunkFirst : SAY.chunk, { q: query(scene), c, of: round.chunks, n }),
  ];
  if (!n) return [...out, parts(SAY.alone, {})];
  if (!row) return out;
  const [one] = ranked(row, 1);
  out.push(
    parts(SAY.gives, {
      k: key(scene, one.key),
      w: one.w.toFixed(2),
      tail: one.key === partner ? t(SAY.isLetter) : "",
    }),
  );
  return partner !== null && row[partner] !== row[partner]
    ? [...out, parts(SAY.missed, { k: key(scene, partner) })]
    : out;
}

function back(scene) {
  const { run, model, position, turn, compare: { count, of }, row, met } = scene;
  const values = {
    n: count.toLocaleString("en"),
    of: of.toLocaleString("en"),
    share: percent(count / of),
  };
  const out = [
    turn < 0
      ? parts(SAY.backAll, { ...values, r: model.rounds })
      : parts(SAY.back, { ...values, r: turn + 1 }),
  ];
  if (run.word) out.push(parts(SAY.sees, { n: met, of: run.word }));
  if (position === null || !row) return out;
  const [one] = ranked(row, 1);
  return [
    ...out,
    one.key === position ? parts(SAY.alone, {}) : parts(SAY.gave, {
      q: query(scene),
      k: key(scene, one.key),
      d: position - one.key,
      w: one.w.toFixed(2),
    }),
  ];
}

// ── cards: a title, then lines ──
/** What the card says of a position. */
export const cardOf = (
  { run, round },
  i,
) => [
  nameOf(run, i),
  t(TEXT.cardBucket, { n: round.buckets[i] }),
  t(TEXT.cardPlace, { n: round.rank[i], chunk: round.number(i) + 1 }),
];

/** What the card says of a cell of a map. */
export function cardOfPair({ run, round, rowOf, seen, step }, q, k) {
  const row = rowOf(q);
  const met = step === 5 ? seen[q * run.length + k] : row?.[k] === row?.[k];
  const said = k > q
    ? t(TEXT.cardFuture)
    : !met
    ? t(TEXT.cardNot)
    : row
    ? t(TEXT.cardWeight, { w: row[k].toFixed(3) })
    : "";
  const both = t(TEXT.cardBucket, { n: `${round.buckets[q]} · ${round.buckets[k]}` });
  return [`${nameOf(run, q)} → ${nameOf(run, k)}`, said, both].filter(Boolean);
}

/** What the card says of a round, −1 for all of them. */
export const cardOfRound = (
  turn,
  { count, of },
) => [t(turn < 0 ? TEXT.cardAll : TEXT.cardRound, { n: turn + 1, share: percent(count / of) })];

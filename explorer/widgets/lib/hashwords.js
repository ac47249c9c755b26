// What the hashing widget says: names of tokens, its labels, and the sentence of each step, computed from what is looked at.

import { compared, meet, ranked, share } from "./hashnumbers.js";
import { agreed, t } from "./lang.js";

export const TEXT = {
  title: { en: "Hash, sort, chunk, attend", zh: "哈希、排序、分块、注意" },
  question: { en: "How does it find alike vectors without comparing all?", zh: "不逐一比较，怎样找到相似的向量？" },
  units: { en: "{rounds} of {kinds} buckets, chunks of {chunk}", zh: "{rounds}，{kinds} 个桶，块长 {chunk}" },
  round1: { en: "1 round", zh: "1 轮" },
  roundsN: { en: "{n} rounds", zh: "{n} 轮" },
  steps: { en: ["Vectors", "Buckets", "Sort", "Chunks", "Back in place"], zh: ["向量", "桶", "排序", "分块", "放回原位"] },
  stepN: { en: "Step {n} of 5: {name}", zh: "第 {n} 步，共 5 步：{name}" },
  rail: { en: "Steps of hashing", zh: "哈希的步骤" },
  next: { en: "Next step", zh: "下一步" },
  previous: { en: "Step before", zh: "上一步" },
  model: { en: "Model", zh: "模型" },
  round: { en: "Round", zh: "轮" },
  all: { en: "all", zh: "全部" },
  plane: { en: "Plane", zh: "平面" },
  planes: { en: ["the two that decide", "first two"], zh: ["起决定作用的两个坐标", "前两个坐标"] },
  heads: { en: "Heads, by the buckets of this round", zh: "各个头在本轮的桶" },
  headsWord: { en: "Heads · how many letters share a bucket with the place that asks for them", zh: "各个头 · 有多少字母与询问它的位置同桶" },
  head: { en: "Head {head}: {n} of {of} letters share a bucket", zh: "头 {head}：{of} 个字母中有 {n} 个同桶" },
  headText: { en: "Head {head}: {n} of {of} buckets are in use", zh: "头 {head}：用到 {of} 个桶中的 {n} 个" },
  legendAsks: { en: "who asks", zh: "提问者" },
  legendLetter: { en: "the letter it is to say", zh: "它要说出的字母" },
  legendKey: { en: "what is looked at", zh: "被看的位置" },
  legendBucket: { en: "number, colour and edge: its bucket", zh: "号码、颜色与边框：它的桶" },
  legendWeight: { en: "weight 0", zh: "权重 0" },
  keys: {
    en: "Hover previews · click locks · shift-click adds · Esc resets · ← → or Space: steps · Shift + ← →: positions · ↑ ↓: heads",
    zh: "悬停预览 · 点击锁定 · Shift 加点击添加 · Esc 复位 · ← → 或空格：步骤 · Shift 加 ← →：位置 · ↑ ↓：头",
  },
  board: {
    en: "Step {n} of 5, {name}. Left, right and Space move through the steps, Shift with left and right through positions, up and down through heads, Escape resets.",
    zh: "第 {n} 步，共 5 步：{name}。左右键或空格换步骤，Shift 加左右键换位置，上下键换头，Esc 复位。",
  },
  others: { en: "Pale dots: one of the other {n} coordinates is larger, and decides.", zh: "淡色的点：另外 {n} 个坐标中有更大的，由它决定。" },
  small: { en: "Numbers of buckets have no room here; pointing at a tile tells its own, and so does the table.", zh: "此处没有空间写桶号；指向方块即可看到，数据表中也有。" },
  tie: { en: "Another coordinate is as large, to rounding.", zh: "另一个坐标在舍入误差内一样大。" },
  waits: { en: "The vectors and weights of this head are on their way.", zh: "这个头的向量和权重正在传来。" },
  growing: { en: "{n} of {of} models have read it; the picture is that of the last run.", zh: "{of} 个模型中已有 {n} 个读完；图中仍是上一次运行。" },
  growingFirst: { en: "{n} of {of} models have read it.", zh: "{of} 个模型中已有 {n} 个读完。" },
  from: { en: "From your last run.", zh: "来自上一次运行。" },
  empty: { en: "Nothing has been read yet.", zh: "还没有读入任何内容。" },
  full: {
    en: "{name} does not hash: each of its {n} positions is compared with all before it, {pairs} pairs in every head, so there is nothing to sort.",
    zh: "{name} 不做哈希：{n} 个位置各自与之前的所有位置比较，每个头 {pairs} 对，因此没有什么可排序。",
  },
  fullOther: { en: "Choose {name} to see hashing.", zh: "选择 {name} 查看哈希。" },
  bucketN: { en: "bucket {n}", zh: "桶 {n}" },
  coordinates: { en: "All {n} coordinates of {name}", zh: "{name} 的全部 {n} 个坐标" },
  both: { en: "Both coordinates of {name}", zh: "{name} 的两个坐标" },
  only: { en: "The coordinate of {name}", zh: "{name} 的坐标" },
  barsUnits: { en: "rotated, length 1 before", zh: "旋转后；旋转前长度为 1" },
  theLetter: { en: "{name}, the letter it is to say: {value} here", zh: "{name}，它要说出的字母：此处为 {value}" },
  alongTitle: { en: "Each place in the colour of its bucket", zh: "每个位置以其桶的颜色表示" },
  underWord: { en: "second row: each place stands under the letter that it is to say next", zh: "第二行：每个位置排在它接下来要说出的字母之下" },
  underText: { en: "in the order of the text", zh: "按文本顺序" },
  piles: { en: "The buckets", zh: "各个桶" },
  pilesUnits: { en: "by number, each with the positions that fell into it", zh: "按桶号，其中是落入的位置" },
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
  diagonal: { en: "the letter to say, {n} back", zh: "要说出的字母，往回 {n}" },
  computed: { en: "of the causal pairs were computed", zh: "的因果对被计算" },
  computedShort: { en: "of the causal pairs", zh: "的因果对" },
  ofPairs: { en: "{n} of {of}", zh: "{of} 对中的 {n} 对" },
  foundOne: { en: "{n} of {of} places see the letter they are to say", zh: "{of} 个位置中有 {n} 个看得到要说出的字母" },
  foundAll: { en: "in {rounds} rounds, {n} of {of} places see their letter", zh: "{rounds} 轮之内，{of} 个位置中有 {n} 个看得到要说出的字母" },
  cardBucket: { en: "bucket {n}", zh: "桶 {n}" },
  cardPlace: { en: "place {n} of the sorted order, chunk {chunk}", zh: "排序后第 {n} 位，块 {chunk}" },
  cardWeight: { en: "weight {w}", zh: "权重 {w}" },
  cardNot: { en: "did not meet: not computed", zh: "没有相遇：未计算" },
  cardFuture: { en: "later: not allowed", zh: "在后面：不允许" },
  cardRound: { en: "Round {n}: {share} of the causal pairs", zh: "第 {n} 轮：因果对的 {share}" },
  cardAll: { en: "All rounds: {share} of the causal pairs", zh: "全部轮：因果对的 {share}" },
  caption: { en: "Every position in this round", zh: "本轮中的每个位置" },
  columns: {
    en: ["position", "token", "bucket", "place sorted", "chunk", "may look at", "looks hardest at", "weight"],
    zh: ["位置", "词元", "桶", "排序后", "块", "可看", "最关注", "权重"],
  },
};

const SHOWN = { " ": "␠", "\n": "⏎", "\t": "⇥", "\u00a0": "␠", "\u3000": "␠" };
export const charOf = (token) => SHOWN[token] ?? token;
/** “l”·28 */
export const nameOf = (run, position) => `“${charOf(run.tokens[position])}”·${position}`;
export const weight = (w) => w.toFixed(2);
export const number = (x) => x.toFixed(2).replace("-", "−");
export const percent = (share) => {
  if (!Number.isFinite(share)) return "–"; // of no pairs at all
  const points = 100 * share;
  return `${points > 0 && points < 9.95 ? points.toFixed(1) : Math.round(points)} %`;
};
export const roundsText = (n) => (n === 1 ? t(TEXT.round1) : t(TEXT.roundsN, { n }));

const SAY = {
  vector: { en: "{q}, turned, is farthest along coordinate {j}, with {v}: bucket {b} of {kinds}.", zh: "{q} 旋转后在坐标 {j} 上最远，为 {v}：落入 {kinds} 个桶中的桶 {b}。" },
  vectorMinus: { en: "{q}, turned, is farthest against coordinate {j}, with {v}: bucket {j} + {half} = {b} of {kinds}.", zh: "{q} 旋转后在坐标 {j} 的反方向上最远，为 {v}：落入 {kinds} 个桶中的桶 {j} + {half} = {b}。" },
  letterSame: { en: "The letter that it is to say, {k}, falls into the same bucket.", zh: "它要说出的字母 {k} 落入同一个桶。" },
  letterOther: { en: "The letter that it is to say, {k}, falls into bucket {b}: in this round they may miss each other.", zh: "它要说出的字母 {k} 落入桶 {b}：这一轮它们可能错过。" },
  shares: { en: "It shares it with {n} other positions.", zh: "同桶的还有 {n} 个位置。" },
  share1: { en: "It shares it with one other position.", zh: "同桶的还有 1 个位置。" },
  share0: { en: "It is alone there.", zh: "桶里只有它自己。" },
  pairs: { en: "{n} of {of} places share a bucket with the letter that they are to say; of equal letters, {twins} of {pairs} pairs do.", zh: "{of} 个位置中有 {n} 个与要说出的字母同桶；相同字母的 {pairs} 对中有 {twins} 对同桶。" },
  used: { en: "{length} positions fall into {n} of {kinds} buckets; the fullest, {b}, holds {most}.", zh: "{length} 个位置落入 {kinds} 个桶中的 {n} 个；最满的桶 {b} 有 {most} 个。" },
  moves: { en: "{q} goes to place {p}.", zh: "{q} 移到第 {p} 位。" },
  apart: { en: "The letter that it is to say, {k}, was {before} places away and is now {after}.", zh: "它要说出的字母 {k} 原来相距 {before} 位，现在相距 {after} 位。" },
  stays: { en: "Within a bucket the order of the sequence stays.", zh: "同一个桶内保持序列的次序。" },
  chunk: { en: "{q} stands in chunk {c} of {of} and may look at {n} earlier positions, in it and in the one before.", zh: "{q} 在 {of} 块中的第 {c} 块，可以看本块和前一块中的 {n} 个更早的位置。" },
  chunkFirst: { en: "{q} stands in chunk 1 of {of}, which has none before it, and may look at {n} earlier positions.", zh: "{q} 在 {of} 块中的第 1 块，前面没有块，可以看 {n} 个更早的位置。" },
  alone: { en: "It sees no other, so it attends to itself.", zh: "它看不到别的位置，所以只注意自己。" },
  gives: { en: "It gives {k} {w}{tail}.", zh: "它给 {k} 的权重是 {w}{tail}。" },
  isLetter: { en: ", the letter that it is to say", zh: "，正是它要说出的字母" },
  missed: { en: "The letter that it is to say, {k}, is not among them.", zh: "它要说出的字母 {k} 不在其中。" },
  back: { en: "Back in place: {n} of {of} pairs with an earlier position were computed in round {r}, {share}.", zh: "放回原位：第 {r} 轮计算了与更早位置的 {of} 对中的 {n} 对，即 {share}。" },
  backAll: { en: "Back in place: {n} of {of} pairs with an earlier position were computed in {r} rounds, {share}.", zh: "放回原位：{r} 轮共计算了与更早位置的 {of} 对中的 {n} 对，即 {share}。" },
  gave: { en: "{q} gives {k}, {d} back, {w}.", zh: "{q} 给往回 {d} 的 {k} 权重 {w}。" },
  sees: { en: "{n} of {of} places see the letter that they are to say.", zh: "{of} 个位置中有 {n} 个看得到要说出的字母。" },
  none: { en: "No position is locked.", zh: "没有锁定位置。" },
};

/** A sentence with names in the colours of their roles. */
function say(text, values, roles = {}) {
  const out = [];
  for (const [n, piece] of agreed(t(text), values).split(/\{(\w+)\}/).entries()) {
    if (n % 2) out.push({ text: String(values[piece]), role: roles[piece] });
    else if (piece) out.push({ text: piece });
  }
  return out;
}

const ROLES = { q: "query", k: "key" };

/** What stands under the picture: [{text, role}]. */
export function sentence(scene) {
  const { step } = scene;
  const list = { 1: vectors, 2: buckets, 3: sorting, 4: chunks, 5: back }[step](scene);
  return list.flatMap((one, n) =>
    (n ? [{ text: document.documentElement.lang.startsWith("zh") ? "" : " " }, ...one] : one));
}

function vectors({ run, round, model, position, partner, detail }) {
  if (position === null) return [say(SAY.none, {})];
  const b = round.buckets[position];
  const half = model.kinds / 2;
  const own = detail?.rotated?.slice(position);
  const out = [];
  if (own) {
    const j = b % half;
    out.push(say(b < half ? SAY.vector : SAY.vectorMinus,
        { q: nameOf(run, position), j, v: number(own[j]), b, half, kinds: model.kinds }, ROLES));
    if (own.some((v, c) => c !== j && Math.abs(v) > Math.abs(own[j]))) out.push(say(TEXT.tie, {}));
  }
  if (partner !== null) {
    const other = round.buckets[partner];
    out.push(say(other === b ? SAY.letterSame : SAY.letterOther, { k: nameOf(run, partner), b: other }, ROLES));
  } else {
    const n = round.buckets.filter((one) => one === b).length - 1;
    out.push(say(n === 0 ? SAY.share0 : n === 1 ? SAY.share1 : SAY.shares, { n }));
  }
  return out;
}

function buckets({ run, round, model }) {
  const count = new Map();
  for (const b of round.buckets) count.set(b, (count.get(b) ?? 0) + 1);
  const [b, most] = [...count].reduce((a, one) => (one[1] > a[1] ? one : a));
  const out = [];
  if (run.word)
    out.push(say(SAY.pairs, { n: share(run.copies, round.buckets), of: run.copies.length,
        twins: share(run.twins, round.buckets), pairs: run.twins.length }));
  out.push(say(SAY.used, { length: run.length.toLocaleString("en"), n: count.size, kinds: model.kinds, b, most }));
  return out;
}

function sorting({ run, round, position, partner }) {
  if (position === null) return [say(SAY.none, {}), say(SAY.stays, {})];
  const out = [say(SAY.moves, { q: nameOf(run, position), p: round.rank[position] }, ROLES)];
  if (partner !== null)
    out.push(say(SAY.apart,
      { k: nameOf(run, partner), before: position - partner,
        after: Math.abs(round.rank[position] - round.rank[partner]) }, ROLES));
  out.push(say(SAY.stays, {}));
  return out;
}

/** How many earlier positions a query may look at. */
export function sight(round, query) {
  const own = round.number(query);
  const [first, end] = [Math.max(0, own - 1) * round.chunk, Math.min(round.order.length, (own + 1) * round.chunk)];
  let n = 0;
  for (let place = first; place < end; place += 1) n += Number(round.order[place] < query);
  return n;
}

function chunks({ run, round, position, partner, row }) {
  if (position === null) return [say(SAY.none, {})];
  const c = round.number(position) + 1;
  const n = sight(round, position);
  const out = [say(c === 1 ? SAY.chunkFirst : SAY.chunk, { q: nameOf(run, position), c, of: round.chunks, n }, ROLES)];
  if (!n) return [...out, say(SAY.alone, {})];
  if (row) {
    const [{ key, w }] = ranked(row, 1);
    out.push(say(SAY.gives, { k: nameOf(run, key), w: weight(w), tail: key === partner ? t(SAY.isLetter)
          : "" }, ROLES));
    if (partner !== null && row[partner] !== row[partner])
      out.push(say(SAY.missed, { k: nameOf(run, partner) }, ROLES));
  }
  return out;
}

function back({ run, model, position, turn, compare, row, met }) {
  const values = { n: compare.count.toLocaleString("en"), of: compare.of.toLocaleString("en"),
    share: percent(compare.count / compare.of) };
  const out = [turn < 0 ? say(SAY.backAll, { ...values, r: model.rounds }) : say(SAY.back, { ...values, r: turn + 1 })];
  if (run.word) out.push(say(SAY.sees, { n: met, of: run.word }));
  if (position !== null && row) {
    const [{ key, w }] = ranked(row, 1);
    out.push(key === position ? say(SAY.alone, {})
      : say(SAY.gave, { q: nameOf(run, position), k: nameOf(run, key), d: position - key, w: weight(w) }, ROLES));
  }
  return out;
}

export const plain = (parts) => parts.map(({ text }) => text).join("");

/** How many of the letters the places that ask for them see: in a round, or in any where `turn` is −1. */
export function metBy(run, rounds, turn) {
  if (turn >= 0) return meet(run.copies, rounds[turn]);
  return run.copies.filter((pair) => rounds.some((round) => meet([pair], round))).length;
}

export const comparedBy = (seen, length) => compared(seen, length);

/** What the card says of a position, or of a cell (query, key) of a map: a title first. */
export function cardLines(scene, hover) {
  const { run, round, matrixRow, seen, step } = scene;
  const facts = (i) => [t(TEXT.cardBucket, { n: round.buckets[i] }),
    t(TEXT.cardPlace, { n: round.rank[i], chunk: round.number(i) + 1 })];
  if (hover.turn !== undefined)
    return [hover.turn < 0 ? t(TEXT.cardAll, { share: percent(hover.share) })
    : t(TEXT.cardRound, { n: hover.turn + 1, share: percent(hover.share) })];
  if (hover.key === undefined || hover.key === null) return [nameOf(run, hover.pos), ...facts(hover.pos)];
  const { query, key } = hover;
  const weights = matrixRow(query);
  const said = key > query ? t(TEXT.cardFuture)
    : !(step === 5 ? seen[query * run.length + key] : weights?.[key] === weights?.[key]) ? t(TEXT.cardNot) : weights
    ? t(TEXT.cardWeight, { w: weights[key].toFixed(3) }) : "";
  return [`${nameOf(run, query)} → ${nameOf(run, key)}`, said,
    t(TEXT.cardBucket, { n: `${round.buckets[query]} · ${round.buckets[key]}` })].filter(Boolean);
}

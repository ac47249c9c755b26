// What the reading widget says: names of characters, its labels, and the sentence computed from the character that is looked at.

import { lang, t } from "./lang.js";

export const TEXT = {
  title: { en: "What was read and written", zh: "读到的与写下的" },
  question: { en: "To say the next character, where does the model look?", zh: "要说出下一个字符，模型看向哪里？" },
  empty: { en: "Nothing has been read yet.", zh: "还没有读过文本。" },
  board: { en: "{title}. Left and right step through characters, up and down through heads, Space plays, Escape resets.", zh: "{title}。左右键逐字符移动，上下键换头，空格播放，Esc 复位。" },
  query: { en: "chosen character", zh: "选中的字符" },
  key: { en: "where the head looks", zh: "这个头所看之处" },
  may: { en: "what its pattern allows", zh: "模式允许看的" },
  written: { en: "written", zh: "写下的" },
  unknown: { en: "unknown", zh: "不认识的" },
  beyond: { en: "out of its reach", zh: "看不到的" },
  segments: { en: "segment", zh: "片段" },
  loss: { en: "loss in bits", zh: "损失（比特）" },
  model: { en: "Model in view", zh: "所看的模型" },
  per: { en: "bits per character", zh: "每字符比特数" },
  perGiven: { en: "given", zh: "给定" },
  perWritten: { en: "written", zh: "写下" },
  border: { en: "The first {n} characters {n|was|were} given; the rest, on green, each model wrote itself.", zh: "前 {n} 个字符是给定的；其余（绿底）由各模型自己写下。" },
  borderAlike: { en: "The first {n} characters {n|was|were} given; the rest, on green, is the same text for both.", zh: "前 {n} 个字符是给定的；其余（绿底）两边是同一段文字。" },
  borderOne: { en: "The first {n} characters {n|was|were} given; the rest, on green, was written.", zh: "前 {n} 个字符是给定的；其余（绿底）是写下的。" },
  allGiven: { en: "All {n} characters {n|was|were} given; nothing was written.", zh: "全部 {n} 个字符都是给定的，没有续写。" },
  allWritten: { en: "Nothing was given; all {n} characters {n|was|were} written.", zh: "没有给定文本；全部 {n} 个字符都是写下的。" },
  unknownNote: { en: "{n} characters that the model does not know are all read as one unknown character.", zh: "模型不认识的 {n} 个字符都读作同一个未知字符。" },
  unknownOne: { en: "One character that the model does not know is read as the unknown character.", zh: "有 1 个模型不认识的字符，读作未知字符。" },
  strip: { en: "At the right edge stands the whole text in small.", zh: "右缘是整段文本的缩略。" },
  stripLooks: { en: "At the right edge stands the whole text in small, with where the head looks.", zh: "右缘是整段文本的缩略，并标出这个头所看之处。" },
  growingNote: { en: "Where the heads look is shown once everything is read.", zh: "全部读完后即可查看各个头所看之处。" },
  from: { en: "from your last text", zh: "来自上一段文本" },
  growing: { en: "{n} of {of} characters are read or written; the last one, {char}, cost {bits} bits.", zh: "已读或写 {n} / {of} 个字符；最后一个 {char} 花了 {bits} 比特。" },
  growingNone: { en: "{n} of {of} characters are read or written.", zh: "已读或写 {n} / {of} 个字符。" },
  stopped: { en: "Stopped after {n} of {of} characters.", zh: "在 {n} / {of} 个字符处停止。" },
  none: { en: "Choose a character to see what it cost and where the heads looked to say it.", zh: "选一个字符，看它花了多少比特、各个头为说出它看了哪里。" },
  start: { en: "Back to start", zh: "回到开头" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  seek: { en: "Place in the text", zh: "文本中的位置" },
  place: { en: "{n} / {of}", zh: "{n} / {of}" },
  inSegment: { en: "segment {n}", zh: "第 {n} 片段" },
  isGiven: { en: "given", zh: "给定" },
  isWritten: { en: "written", zh: "写下" },
  isUnknown: { en: "unknown to the model", zh: "模型不认识" },
  cardBits: { en: "{name}: {n} bits", zh: "{name}：{n} 比特" },
  cardOther: { en: "{name}: {char}, {n} bits", zh: "{name}：{char}，{n} 比特" },
  cardWeight: { en: "{q} looks at it with {w}", zh: "{q} 给它的权重 {w}" },
  cardDo: { en: "click to lock · shift-click to add", zh: "点击锁定 · shift-点击追加" },
  cardTap: { en: "tap again to lock", zh: "再点一次即锁定" },
  heads: { en: "How far each head looks back", zh: "每个头往回看多远" },
  grid: { en: "{title}: {layers} layers of {heads} heads of {name}. Arrow keys choose a head. Chosen: {head}.", zh: "{title}：{name} 的 {layers} 层，每层 {heads} 个头。方向键选择头。当前：{head}。" },
  tile: { en: "head {head}: half of what it looks at lies at most {n} back", zh: "头 {head}：所看的一半在往回 {n} 个字符之内" },
  tilesNote: { en: "From 1 character back at the right of a tile to {n} at its left; each to its own height.", zh: "小图右端是往回 1 个字符，左端是 {n} 个；各按自己的高度。" },
  previous: { en: "Previous head", zh: "上一个头" },
  next: { en: "Next head", zh: "下一个头" },
  noHeads: { en: "The heads of {name} are not looked at here.", zh: "这里不看 {name} 的各个头。" },
  far: { en: "Head {head} looks back", zh: "头 {head} 往回看" },
  farUnits: { en: "mean weight by characters back", zh: "按往回的字符数平均的权重" },
  farWords: { en: "Half of what head {head} looks at lies at most {half} back", zh: "头 {head} 所看的一半在往回 {half} 个字符之内" },
  farBeyond: { en: ", {w} of its weight beyond a segment of {n}", zh: "，{w} 的权重越过 {n} 个字符的片段" },
  farEnd: { en: ", and its span ends at {n}", zh: "，跨度止于 {n}" },
  end: { en: ".", zh: "。" },
  markSegment: { en: "segment", zh: "片段" },
  markMemory: { en: "memory", zh: "记忆" },
  markSpan: { en: "span", zh: "跨度" },
  tablePos: { en: "position", zh: "位置" },
  tableChar: { en: "character", zh: "字符" },
  tableWeight: { en: "weight", zh: "权重" },
  tableGiven: { en: "origin", zh: "来源" },
  caption: { en: "Characters around {q}; weights of {model}, head {head}", zh: "{q} 附近的字符；权重取自 {model} 的头 {head}" },
  captionBare: { en: "Characters and what they cost", zh: "字符及其花费" },
};

const SIGNS = new Map([[32, "␠"], [10, "⏎"], [9, "⇥"], [0xa0, "⍽"], [0x3000, "␠"]]);

/** A character in a label: white space by its sign, what has no shape of its own by its number. */
export function sign(code) {
  if (SIGNS.has(code)) return SIGNS.get(code);
  const char = String.fromCodePoint(code);
  if (/[\p{C}\p{Z}]/u.test(char)) return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return /\p{M}/u.test(char) ? `◌${char}` : char; // a mark stands on a carrier
}

/** “e” (412) */
export const named = (code, position) => (lang() === "zh" ? `“${sign(code)}”（${position}）` : `“${sign(code)}” (${position})`);
/** e·412 */
export const short = (code, position) => `${sign(code)}·${position}`;

export const bits = (nats) => (nats / Math.LN2).toFixed(2);
/** A weight as it is read: two digits, more where two would say nothing. */
export const weight = (w) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w < 0.0001 ? "<0.0001" : w.toFixed(4));
export const percent = (w) => (w > 0 && w < 0.01 ? t({ en: "less than 1 %", zh: "不到 1 %" }) : `${Math.round(100 * w)} %`);
export const count = (n) => Math.round(n).toLocaleString("en");

const text = (words) => ({ text: words });

/** What another model did where `position` is: paid for the same character, or wrote one of its own. */
function beside(run, model, position) {
  const zh = lang() === "zh";
  return run.models
    .filter((other) => other !== model && position < other.count)
    .map((other) => {
      const [cost, name] = [bits(other.nats[position]), t(other.name)];
      // Where their texts have parted, even the same sign is said after something else.
      if (position < run.shared) return zh ? `${name}付出 ${cost}` : `${name} paid ${cost}`;
      return zh ? `${name}在此处是 “${sign(other.codes[position])}”，花了 ${cost}` : `${name} has “${sign(other.codes[position])}” here, for ${cost}`;
    })
    .join(zh ? "，" : ", ");
}

/**
 * The sentence under the text as parts {text, role}.
 * @param {{run: any, model: any, now: any, look: any, may: Set<number> | null, trouble: string}} scene look: of the last locked character, or null;
 *   may: the characters that its pattern lets it look at, null for all before it
 */
export function sentence({ run, model, now, look, may, trouble }) {
  const zh = lang() === "zh";
  if (run.state === "running" || run.state === "stopped") {
    const how = { n: count(Math.min(...run.models.map((each) => each.count))), of: count(run.of) };
    if (run.state === "stopped") return [text(t(TEXT.stopped, how))];
    const last = model.count - 1;
    if (last < 0) return [text(t(TEXT.growingNone, how))];
    return [text(t(TEXT.growing, { ...how, char: `“${sign(model.codes[last])}”`, bits: bits(model.nats[last]) }))];
  }
  const position = now.positions.at(-1);
  if (position === undefined || position >= model.count) return [text(t(TEXT.none))];
  const others = beside(run, model, position);
  const cost = bits(model.nats[position]);
  const parts = [
    text(zh ? "字符" : "Character "),
    { text: named(model.codes[position], position), role: "query" },
    text(zh ? `花了 ${cost} 比特${others && `（${others}）`}` : ` cost ${cost} bits${others && ` (${others})`}`),
  ];
  if (may) parts.push(text(zh ? `；模式允许它看之前 ${count(position)} 个中的 ${count(may.size)} 个` : `; its pattern lets it look at ${count(may.size)} of the ${count(position)} before it`));
  if (!model.heads) return [...parts, text(t(TEXT.end))];
  const head = `${now.layer}·${now.head}`;
  if (!look) {
    const wait = trouble || (zh ? "权重正在路上……" : "the weights are on their way …");
    return [...parts, text(zh ? `；${wait}` : `; ${wait}`)];
  }
  const { best } = look;
  parts.push(text(zh ? `；头 ${head} 给` : `; head ${head} gives `));
  parts.push({ text: best.column === 0 ? (zh ? "开头" : "the start") : named(model.codes[best.column - 1], best.column - 1), role: "key" });
  parts.push(text(zh && best.column ? weight(best.w) : ` ${weight(best.w)}`));
  if (look.foreign > 0.0005) parts.push(text(zh ? `；${percent(look.foreign)} 的注意力落在另一本书的记忆上` : `; ${percent(look.foreign)} of its attention goes to another book’s memory`));
  else if (look.memory !== null) parts.push(text(zh ? `；${percent(look.memory)} 的注意力落在记忆上` : `; ${percent(look.memory)} of its attention goes to the memory`));
  parts.push(text(t(TEXT.end)));
  if (now.positions.length > 1) parts.push(text(zh ? `共选中 ${now.positions.length} 个字符。` : ` ${now.positions.length} characters are chosen.`));
  return parts;
}

/** The parts as one text. */
export const plain = (parts) => parts.map((part) => part.text).join("");

// What the rolls and their heads say: names of notes and moments, labels, and the sentence computed
// from the note that is looked at.

import { lang, parts, t } from "../../frontend/lib/lang.js";
import { weight } from "../../frontend/lib/signs.js";
import { pitchName } from "./noteevents.js";

export { pitchName, weight };

export const TEXT = {
  question: {
    en: "Which earlier notes does a note look back to?",
    zh: "一个音会回头看哪些更早的音？",
  },
  questionMotifs: { en: "Which motifs come back?", zh: "哪些动机再次出现？" },
  query: { en: "chosen note", zh: "选中的音" },
  key: { en: "where it looks", zh: "它所看的音" },
  given: { en: "given", zh: "给定的" },
  voices: [
    { en: "soprano", zh: "女高音" },
    { en: "alto", zh: "女低音" },
    { en: "tenor", zh: "男高音" },
    { en: "bass", zh: "男低音" },
  ],
  made: { en: "made", zh: "生成的" },
  units: { en: "pitch over bars", zh: "音高与小节" },
  unitsPiano: { en: "pitch over seconds", zh: "音高与秒" },
  cells: { en: "nats per cell", zh: "纳特/格" },
  events: { en: "nats per event", zh: "纳特/事件" },
  bar: { en: "bar", zh: "小节" },
  seconds: { en: "seconds", zh: "秒" },
  seek: { en: "Place in the music", zh: "音乐中的位置" },
  earlier: { en: "One bar or second back", zh: "后退一小节或一秒" },
  later: { en: "One bar or second on", zh: "前进一小节或一秒" },
  heard: { en: "Sound: {what}.", zh: "音色：{what}。" },
  source: { en: "Looked at and heard", zh: "所看与所听" },
  piano: { en: "piano", zh: "钢琴" },
  sine: { en: "sine waves", zh: "正弦波" },
  silent: { en: "no sound", zh: "无声音" },
  cut: { en: " · the first 20 minutes", zh: " · 前 20 分钟" },
  motifs: { en: "motifs that come back", zh: "再现的动机" },
  noMotifs: { en: "No run of five notes comes back here.", zh: "这里没有五个音以上的片段再现。" },
  noHeads: {
    en: "No attention, no heads: {name} knows the past only through its state.",
    zh: "没有注意力，也没有头：{name} 对过去所知，全在它携带的状态里。",
  },
  gone: { en: "silenced", zh: "已关掉" },
  headsUnits: {
    en: "{layers} layers × {heads} heads, queries down, keys across",
    zh: "{layers} 层 × {heads} 头，行为查询，列为键",
  },
  headsBoard: {
    en: "{title}. Arrow keys choose a head, Shift and Enter silence it.",
    zh: "{title}。方向键选择头，Shift 加 Enter 关掉它。",
  },
  tile: { en: "head {head}", zh: "头 {head}" },
  tileDo: { en: "click: look · shift-click: silence", zh: "点击：查看 · shift-点击：关掉" },
  farBeats: { en: "mean weight by beats back, head {head}", zh: "按往回拍数平均的权重，头 {head}" },
  farEvents: {
    en: "mean weight by events back, head {head}",
    zh: "按往回事件数平均的权重，头 {head}",
  },
  farCaption: {
    en: "Mean weight of each head of {name} by events back",
    zh: "{name} 各头按往回事件数平均的权重",
  },
  farFrom: { en: "events back", zh: "往回事件数" },
  board: {
    en: "{title}. Left and right step through notes, up and down through heads, Space plays, " +
      "Escape resets.",
    zh: "{title}。左右键逐音移动，上下键换头，空格播放，Esc 复位。",
  },
  cellsMade: { en: "{n} of {of} cells are made.", zh: "已生成 {n} / {of} 格。" },
  eventsMade: { en: "{n} of {of} events are made.", zh: "已生成 {n} / {of} 个事件。" },
  far: { en: "How far back", zh: "往回看多远" },
  farMost: {
    en: "Head {head} looks most {back} back: mean weight {w}, over {n} of {of} events.",
    zh: "头 {head} 最注意往回 {back}处：平均权重 {w}，取自 {of} 个事件中的 {n} 个。",
  },
  oneBack: { en: "1 event", zh: "1 个事件" },
  eventsBack: { en: "{n} events", zh: "{n} 个事件" },
  none: {
    en: "Choose a note to see which earlier notes it looked back to.",
    zh: "选一个音，看它回头看了哪些更早的音。",
  },
  noAttention: {
    en:
      "{name} has no attention: it keeps the motif in the numbers of its state, so there are no " +
      "arcs to draw.",
    zh: "{name} 没有注意力：它对动机的记忆都在状态的数值里，画不出弧线。",
  },
  growingNote: {
    en: "Attention appears once everything is made.",
    zh: "全部生成后即可查看注意力。",
  },
  note: {
    en: "The arcs are weights from the moment a note was made; weights on no note are not drawn.",
    zh: "所画为生成该音那一刻的权重；不属于任何音的部分未画出。",
  },
  cardGiven: { en: "given", zh: "给定" },
  cardMade: { en: "made at {n} nats", zh: "生成，{n} 纳特" },
  cardWeight: { en: "looked at with {w}", zh: "所得权重 {w}" },
  noSound: {
    en: "The sound could not be fetched; run the motif once more.",
    zh: "无法取得声音；请再运行一次。",
  },
  rank: { en: "rank", zh: "名次" },
  tableNote: { en: "note", zh: "音" },
  tableWhere: { en: "where", zh: "位置" },
  tableBack: { en: "back", zh: "往回" },
  tableWeight: { en: "weight", zh: "权重" },
  caption: {
    en: "{model}, head {head}: the notes that {q} looked back to",
    zh: "{model}，头 {head}：{q} 回头所看的音",
  },
  loud: { en: "velocity", zh: "力度" },
};

export const LETTERS = ["S", "A", "T", "B"];

/** Minutes and seconds with tenths: "0:09.6". */
export function clock(seconds) {
  const tenths = Math.round(10 * Math.max(0, seconds));
  return `${Math.floor(tenths / 600)}:${String(Math.floor((tenths % 600) / 10)).padStart(2, "0")}.${
    tenths % 10
  }`;
}

const secondsText = (milliseconds) =>
  t({ en: "{n} s", zh: "{n} 秒" }, { n: (milliseconds / 1000).toFixed(1) });

/** Where a step of the grid lies: "bar 5, beat 2", or for piano "9.6 s". */
export function moment({ style, grid }, step) {
  if (style === "piano") return secondsText(step * grid);
  const [bar, beat, part] = [Math.floor(step / 16) + 1, Math.floor((step % 16) / 4) + 1, step % 4];
  const inside = ["", "¼", "½", "¾"][part];
  return lang() === "zh"
    ? `第 ${bar} 小节第 ${beat}${inside} 拍`
    : `bar ${bar}, beat ${beat}${inside}`;
}

/** How far back, in the music's own measure. */
export function distance({ style, grid }, steps) {
  if (style === "piano") return secondsText(steps * grid);
  const beats = steps / 4;
  const [whole, part] = [Math.floor(beats), ["", "¼", "½", "¾"][Math.round((beats % 1) * 4)]];
  const number = `${whole || !part ? whole : ""}${part}`;
  return lang() === "zh"
    ? `${number} 拍`
    : `${number} ${beats > 1 || beats === 0 ? "beats" : "beat"}`;
}

/** "D5 (bar 5, beat 2)" */
export function noteName(run, model, note) {
  const name = pitchName(model.notes[4 * note + 2]);
  const where = moment(run, model.notes[4 * note]);
  return lang() === "zh" ? `${name}（${where}）` : `${name} (${where})`;
}

/** The notes that get most of a look, largest first: [{note, w}], those of at least `least`. */
export function strongest(look, least = 0.01, most = 12) {
  const found = [];
  look.notes.forEach((w, note) => w >= least && found.push({ note, w }));
  return found.sort((a, b) => b.w - a.w).slice(0, most);
}

const SAY = {
  waits: { en: "Note {q}: {why}", zh: "音 {q}：{why}" },
  way: { en: "its weights are on their way …", zh: "权重正在路上……" },
  time: { en: "time shifts, velocities and the start", zh: "时移、力度与开头" },
  rests: { en: "rests and the start", zh: "休止与开头" },
  nothing: {
    en:
      "Note {q} has no note before it to look at: head {head} gives all its weight to {elsewhere}.",
    zh: "音 {q} 之前没有可看的音：头 {head} 的权重全在{elsewhere}。",
  },
  motif: { en: ", to the motif", zh: "，看向动机" },
  far: { en: "head {head} looks {back} back", zh: "头 {head} 往回看 {back}" },
  near: { en: "head {head} looks at the same moment", zh: "头 {head} 看的是同一时刻" },
  more: { en: " {n} notes are chosen.", zh: "共选中 {n} 个音。" },
  gives: {
    en: "Note {q} gives {k} {w}: {far}{motif}; all notes get {all}, {elsewhere} {rest}.{more}",
    zh: "音 {q} 给 {k} {w}：{far}{motif}；全部音共得 {all}，其余 {rest} 归{elsewhere}。{more}",
  },
};

/**
 * The sentence under the rolls. back: what the last of the notes looked back to, null while it is
 * on its way; trouble: why it is not here.
 */
export function sentenceOf({ run, model, notes, head, back, trouble }) {
  if (run.state === "running") {
    const slowest = run.models.reduce((a, b) => (b.events / b.of < a.events / a.of ? b : a));
    const [n, of] = [slowest.events, slowest.of].map((each) => each.toLocaleString("en"));
    return [t(run.style === "piano" ? TEXT.eventsMade : TEXT.cellsMade, { n, of })];
  }
  if (!model.heads) return [t(TEXT.noAttention, { name: t(model.name) })];
  if (!notes.length) return [t(TEXT.none)];
  const note = notes.at(-1);
  const q = { text: noteName(run, model, note), role: "query" };
  if (!back) return parts(SAY.waits, { q, why: trouble || t(SAY.way) });
  const told = {
    q,
    head: head.replace(".", "·"),
    elsewhere: t(run.style === "piano" ? SAY.time : SAY.rests),
  };
  const [best] = strongest(back, 0.0005, 1);
  if (!best) return parts(SAY.nothing, told);
  const rest = back.start + back.rest;
  const [onset, from] = [model.notes[4 * note], model.notes[4 * best.note]];
  return parts(SAY.gives, {
    ...told,
    k: { text: noteName(run, model, best.note), role: "key" },
    w: weight(best.w),
    far: t(onset > from ? SAY.far : SAY.near, {
      head: told.head,
      back: distance(run, onset - from),
    }),
    motif: model.givenNotes[best.note] ? t(SAY.motif) : "",
    all: weight(1 - rest),
    rest: weight(rest),
    more: notes.length > 1 ? t(SAY.more, { n: notes.length }) : "",
  });
}

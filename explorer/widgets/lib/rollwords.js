// What the roll widget says: names of notes and moments, its labels, and the sentence computed from the note that is looked at.

import { el } from "./dom.js";
import { lang, t } from "./lang.js";

export const TEXT = {
  title: { en: "What was made of the motif", zh: "由动机作成的音乐" },
  question: { en: "Which earlier notes does a note look back to?", zh: "一个音会回头看哪些更早的音？" },
  questionMotifs: { en: "Which motifs come back?", zh: "哪些动机再次出现？" },
  query: { en: "chosen note", zh: "选中的音" },
  key: { en: "where it looks", zh: "它所看的音" },
  given: { en: "given", zh: "给定的" },
  voices: { en: ["soprano", "alto", "tenor", "bass"], zh: ["女高音", "女低音", "男高音", "男低音"] },
  cells: { en: "nats per cell", zh: "纳特/格" },
  events: { en: "nats per event", zh: "纳特/事件" },
  bar: { en: "bar", zh: "小节" },
  seconds: { en: "seconds", zh: "秒" },
  start: { en: "Back to start", zh: "回到开头" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  seek: { en: "Place in the music", zh: "音乐中的位置" },
  source: { en: "Looked at and heard", zh: "所看与所听" },
  piano: { en: "piano", zh: "钢琴" },
  sine: { en: "sine waves", zh: "正弦波" },
  silent: { en: "no sound", zh: "无声音" },
  cut: { en: " · the first 20 minutes", zh: " · 前 20 分钟" },
  motifs: { en: "motifs that come back", zh: "再现的动机" },
  noMotifs: { en: "No run of five notes comes back here.", zh: "这里没有五个音以上的片段再现。" },
  heads: { en: "{layers} layers × {heads} heads", zh: "{layers} 层 × {heads} 头" },
  grid: { en: "{size} of {name}. Arrow keys choose a head, Shift and Enter silence it. Chosen: {head}.", zh: "{name}：{size}。方向键选择头，Shift 加 Enter 关掉它。当前：{head}。" },
  gone: { en: "silenced", zh: "已关掉" },
  tileDo: { en: "{head} · click to look · shift-click to silence", zh: "{head} · 点击查看 · shift-点击关掉" },
  previous: { en: "Previous head", zh: "上一个头" },
  next: { en: "Next head", zh: "下一个头" },
  noHeads: { en: "No attention, no heads: what {name} knows of the past is the state that it carries along.", zh: "没有注意力，也没有头：{name} 对过去所知，全在它携带的状态里。" },
  far: { en: "How far back", zh: "往回看多远" },
  farBeats: { en: "beats, head {head}", zh: "拍，头 {head}" },
  farEvents: { en: "events, head {head}", zh: "事件，头 {head}" },
  farMost: { en: "Head {head} listens hardest {back} back: mean weight {w}, over {n} of {of} events.", zh: "头 {head} 最注意往回 {back}处：平均权重 {w}，取自 {of} 个事件中的 {n} 个。" },
  oneBack: { en: "1 event", zh: "1 个事件" },
  eventsBack: { en: "{n} events", zh: "{n} 个事件" },
  beatsBack: { en: "{n} beats", zh: "{n} 拍" },
  board: { en: "{title}. Left and right step through notes, up and down through heads, Space plays, Escape resets.", zh: "{title}。左右键逐音移动，上下键换头，空格播放，Esc 复位。" },
  none: { en: "Choose a note to see which earlier notes it looked back to.", zh: "选一个音，看它回头看了哪些更早的音。" },
  noAttention: { en: "{name} has no attention: what it keeps of the motif is in the numbers of its state, and no arc can be drawn.", zh: "{name} 没有注意力：它对动机的记忆都在状态的数值里，画不出弧线。" },
  growing: { en: "{n} of {of} {what} are made.", zh: "已生成 {n} / {of} 个{what}。" },
  whatCells: { en: "cells", zh: "格" },
  whatEvents: { en: "events", zh: "事件" },
  stopped: { en: "Stopped after {n} of {of} {what}.", zh: "在 {n} / {of} 个{what}处停止。" },
  growingNote: { en: "Attention is looked at once everything is made.", zh: "全部生成后即可查看注意力。" },
  note: { en: "Weights of the moment in which a note was made; what belongs to no note is not drawn.", zh: "所画为生成该音那一刻的权重；不属于任何音的部分未画出。" },
  cardGiven: { en: "given", zh: "给定" },
  cardMade: { en: "made at {n} nats", zh: "生成，{n} 纳特" },
  cardMadeBare: { en: "made", zh: "生成" },
  cardWeight: { en: "looked at with {w}", zh: "所得权重 {w}" },
  cardDo: { en: "click to lock · shift-click to add", zh: "点击锁定 · shift-点击追加" },
  cardTap: { en: "tap again to lock", zh: "再点一次即锁定" },
  noSound: { en: "The sound could not be fetched; run the motif once more.", zh: "无法取得声音；请再运行一次。" },
  rank: { en: "rank", zh: "名次" },
  tableNote: { en: "note", zh: "音" },
  tableWhere: { en: "where", zh: "位置" },
  tableBack: { en: "back", zh: "往回" },
  tableWeight: { en: "weight", zh: "权重" },
  caption: { en: "{model}, head {head}: the notes that {q} looked back to", zh: "{model}，头 {head}：{q} 回头所看的音" },
  loud: { en: "velocity", zh: "力度" },
  from: { en: "from your last run", zh: "来自上一次运行" },
};

export const LETTERS = ["S", "A", "T", "B"];
const NAMES = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"];

/** 60 -> "C4" */
export const pitchName = (pitch) => `${NAMES[pitch % 12]}${Math.floor(pitch / 12) - 1}`;

/** Minutes and seconds with tenths: "0:09.6". */
export function clock(seconds) {
  const tenths = Math.round(10 * Math.max(0, seconds));
  return `${Math.floor(tenths / 600)}:${String(Math.floor((tenths % 600) / 10)).padStart(2, "0")}.${tenths % 10}`;
}

/** Where a step of the grid lies: "bar 5, beat 2", or for piano "9.6 s". */
export function moment({ style, grid }, step) {
  if (style === "piano") return lang() === "zh" ? `${((step * grid) / 1000).toFixed(1)} 秒` : `${((step * grid) / 1000).toFixed(1)} s`;
  const [bar, beat, part] = [Math.floor(step / 16) + 1, Math.floor((step % 16) / 4) + 1, step % 4];
  const inside = ["", "¼", "½", "¾"][part];
  return lang() === "zh" ? `第 ${bar} 小节第 ${beat}${inside} 拍` : `bar ${bar}, beat ${beat}${inside}`;
}

/** How far back, in the music's own measure. */
export function distance({ style, grid }, steps) {
  if (style === "piano") {
    const seconds = ((steps * grid) / 1000).toFixed(1);
    return lang() === "zh" ? `${seconds} 秒` : `${seconds} s`;
  }
  const beats = steps / 4;
  const [whole, part] = [Math.floor(beats), ["", "¼", "½", "¾"][Math.round((beats % 1) * 4)]];
  const number = `${whole || !part ? whole : ""}${part}`;
  return lang() === "zh" ? `${number} 拍` : `${number} ${beats > 1 || beats === 0 ? "beats" : "beat"}`;
}

/** A weight as it is read: two digits, more where two would say nothing. */
export const weight = (w) => (w >= 0.0095 || w === 0 ? w.toFixed(2) : w < 0.0001 ? "<0.0001" : w.toFixed(4));

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

/**
 * The sentence under the rolls, as pieces: texts, and {query: …} or {key: …} for words in the colour of their role.
 * @param {{run: any, model: any, notes: number[], layer: number, head: number, look: any, trouble: string}} scene look: of the last note
 */
export function sentence({ run, model, notes, layer, head, look, trouble }) {
  const zh = lang() === "zh";
  if (run.state === "running" || run.state === "stopped") {
    const slowest = run.models.reduce((a, b) => (b.events / b.of < a.events / a.of ? b : a));
    const what = t(run.style === "piano" ? TEXT.whatEvents : TEXT.whatCells);
    return [t(run.state === "running" ? TEXT.growing : TEXT.stopped, { n: slowest.events.toLocaleString("en"), of: slowest.of.toLocaleString("en"), what })];
  }
  if (!model.heads) return [t(TEXT.noAttention, { name: t(model.name) })];
  if (!notes.length) return [t(TEXT.none)];
  const note = notes.at(-1);
  const q = { query: noteName(run, model, note) };
  const where = `${layer}·${head}`;
  if (!look) return [zh ? "音 " : "Note ", q, trouble ? (zh ? `：${trouble}` : `: ${trouble}`) : zh ? "：权重正在路上……" : ": its weights are on their way …"];
  const [best] = strongest(look, 0.0005, 1);
  const rest = look.start + look.rest;
  const elsewhere = run.style === "piano" ? (zh ? "时移、力度与开头" : "time shifts, velocities and the start") : zh ? "休止与开头" : "rests and the start";
  if (!best) return zh ? ["音 ", q, ` 之前没有可看的音：头 ${where} 的权重全在${elsewhere}。`] : ["Note ", q, ` has no note before it to look at: head ${where} gives all its weight to ${elsewhere}.`];
  const k = { key: noteName(run, model, best.note) };
  const [onset, from] = [model.notes[4 * note], model.notes[4 * best.note]];
  const motif = model.givenNotes[best.note] ? (zh ? "，看向动机" : ", to the motif") : "";
  const back = onset > from ? (zh ? `头 ${where} 往回看 ${distance(run, onset - from)}` : `head ${where} looks ${distance(run, onset - from)} back`) : zh ? `头 ${where} 看的是同一时刻` : `head ${where} looks at the same moment`;
  const more = notes.length > 1 ? (zh ? `共选中 ${notes.length} 个音。` : ` ${notes.length} notes are chosen.`) : "";
  return zh
    ? ["音 ", q, " 给 ", k, ` ${weight(best.w)}：${back}${motif}；全部音共得 ${weight(1 - rest)}，其余 ${weight(rest)} 归${elsewhere}。${more}`]
    : ["Note ", q, " gives ", k, ` ${weight(best.w)}: ${back}${motif}; all notes get ${weight(1 - rest)}, ${elsewhere} ${weight(rest)}.${more}`];
}

/** The pieces as nodes. */
export const nodes = (parts) => parts.map((part) => (typeof part === "string" ? document.createTextNode(part) : el("b", { class: part.query ? "tfe-query" : "tfe-key", text: part.query ?? part.key })));

/** The pieces as one text. */
export const plain = (parts) => parts.map((part) => (typeof part === "string" ? part : (part.query ?? part.key))).join("");

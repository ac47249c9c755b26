// What the ponder widget says: its labels, the sentence computed from what is looked at, and the shades of the steps.

import { el } from "./dom.js";
import { lang, t } from "./lang.js";

export const TEXT = {
  question: { en: "Who stops thinking when?", zh: "谁在什么时候停止思考？" },
  empty: { en: "Nothing has been run yet.", zh: "还没有运行。" },
  units: { en: "{step}s of each {axis}, then its halting probability adding up to 1 − ε = {edge}", zh: "每个{axis}的{step}数，以及停止概率如何累加到 1 − ε = {edge}" },
  unitsForced: { en: "every {axis} takes {n} {step}{n||s}, whatever its halting unit says", zh: "每个{axis}都走 {n} {step}，不问停止单元" },
  legendShades: { en: "first to last {step}", zh: "从第一到最后一{step}" },
  legendStopped: { en: "has stopped", zh: "已停止" },
  legendAhead: { en: "still to come", zh: "尚未发生" },
  legendRest: { en: "remainder R", zh: "余量 R" },
  legendAnswer: { en: "the answer is read here", zh: "从这里读出答案" },
  legendMark: { en: "the answer needs it", zh: "答案需要它" },
  stopped: { en: "stopped", zh: "已停" },
  stops: { en: "stops", zh: "停止" },
  stoppedAt: { en: "stopped after {n}", zh: "{n} 后停止" },
  stepOf: { en: "{step} {n} of {of}", zh: "第 {n} {step}，共 {of}" },
  hAt: { en: "h{n} = {h}, Σh = {sum}", zh: "h{n} = {h}，Σh = {sum}" },
  farAt: { en: "{step} {n}: {d} from its last state", zh: "第 {n} {step}：距最后状态 {d}" },
  tick: { en: "{step} {n}", zh: "第 {n} {step}" },
  stepsCaption: { en: "{step}s", zh: "{step}数" },
  sumsCaption: { en: "halting probability, adding up", zh: "停止概率的累加" },
  stepsBrief: { en: "{step}s", zh: "{step}数" },
  sumsBrief: { en: "Σ h", zh: "Σ h" },
  farBrief: { en: "distance", zh: "距离" },
  farCaption: { en: "distance to the last state, 0 … {most}", zh: "到最后状态的距离，0 … {most}" },
  start: { en: "Back to the first {step}", zh: "回到第一{step}" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  before: { en: "One {step} back", zh: "后退一{step}" },
  after: { en: "One {step} on", zh: "前进一{step}" },
  seek: { en: "{step} of thinking", zh: "思考的第几{step}" },
  count: { en: "{step} {n} of {of}", zh: "第 {n} {step}，共 {of}" },
  chips: { en: "If all stopped now", zh: "如果此刻全部停止" },
  chip: { en: "after {n}", zh: "{n} {step}后" },
  right: { en: "right", zh: "对" },
  wrong: { en: "wrong", zh: "错" },
  wrongSigns: { en: "{n} of {of} wrong", zh: "{of} 个中错 {n} 个" },
  far: { en: "Distance to the last state", zh: "到最后状态的距离" },
  sum: { en: "The sum that halts", zh: "决定停止的和" },
  goesOn: { en: "it goes on", zh: "继续" },
  limitSays: { en: "the limit M stops it", zh: "被上限 M 停下" },
  forcedSays: { en: "told to take {n}: its halting unit is not asked", zh: "规定走 {n} {step}：不问停止单元" },
  output: { en: "output", zh: "输出" },
  cost: { en: "ponder cost", zh: "思考代价" },
  cardSteps: { en: "{n} {step}s, at most {limit}", zh: "{n} {step}，最多 {limit}" },
  cardStep: { en: "1 {step}, at most {limit}", zh: "1 {step}，最多 {limit}" },
  cardSum: { en: "Σh = {sum} after {step} {n}", zh: "第 {n} {step}后 Σh = {sum}" },
  cardRest: { en: "R = {rest}, ponder cost {cost}", zh: "R = {rest}，思考代价 {cost}" },
  cardDo: { en: "click: lock it", zh: "点击：锁定" },
  cardTap: { en: "tap again: lock it", zh: "再点一次：锁定" },
  board: { en: "{title}. Left and right step, up and down change the {axis}, Space plays.", zh: "{title}。左右键换步，上下键换{axis}，空格播放。" },
  table: { en: "Every {axis} and {step}", zh: "每个{axis}的每一{step}" },
  tableIndex: { en: "index", zh: "序号" },
  tableWhy: { en: "stopped by", zh: "停止原因" },
  enough: { en: "Σh ≥ 1 − ε", zh: "Σh ≥ 1 − ε" },
  limit: { en: "limit M", zh: "上限 M" },
  forced: { en: "told to", zh: "规定" },
};

const channels = (hex) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

/** A mixture of two colours "#rrggbb": `share` of the first. */
export function mixed(first, second, share) {
  const [a, b] = [channels(first), channels(second)];
  return `#${a.map((value, i) => Math.round(share * value + (1 - share) * b[i]).toString(16).padStart(2, "0")).join("")}`;
}

/** The shade of step n of `steps`, from pale to full accent, and the stronger of black and white upon it. */
export function shade({ accent, panel }, n, steps) {
  const share = steps < 2 ? 1 : 0.52 + (0.48 * (n - 1)) / (steps - 1);
  const colour = mixed(accent, panel, share);
  return { colour, ink: luminance(channels(colour)) > 0.179 ? "#000000" : "#ffffff" };
}

/** How many digits make a sum of these numbers come out as printed; four at the most. */
export function digits(parts, total) {
  for (const d of [2, 3]) {
    const sum = parts.reduce((all, part) => all + Number(part.toFixed(d)), 0);
    if (sum.toFixed(d) === total.toFixed(d)) return d;
  }
  return 4;
}

const quoted = (label) => (lang() === "zh" ? `“${label}”` : `“${label}”`);

/** How a position is called: “7” (1); a single one by its text alone. */
export const called = (run, p) => (run.count === 1 ? quoted(run.labels[p]) : `${quoted(run.labels[p])} (${p})`);

/**
 * The sentence under the figure, as pieces: texts, and {role, text} for words in the colour of their role.
 * @param {any} run @param {{pos: number, step: number}} look
 */
export function sentence(run, { pos, step }) {
  const zh = lang() === "zh";
  const axis = t(run.axis);
  const unit = t(run.unit);
  const [last, rest, sum] = [run.last[pos], run.rest[pos], run.sum(pos, Math.min(step, run.last[pos]))];
  const who = { role: "query", text: called(run, pos) };
  const Axis = axis[0].toUpperCase() + axis.slice(1);
  const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${n} times`);
  const parts = zh ? [`${axis} `, who] : [`${Axis} `, who];
  const d = 2;
  if (step < last) {
    const running = run.last.filter((n) => n > step).length;
    if (run.forced) parts.push(zh ? ` 在第 ${step} ${unit}后继续：规定走 ${run.forced} ${unit}。` : ` goes on after ${unit} ${step}: it was told to take ${run.forced}.`);
    else if (zh) parts.push(` 在第 ${step} ${unit}后累加到 ${sum.toFixed(d)}，不到 ${edge(run)}，继续思考`);
    else parts.push(` has added up ${sum.toFixed(d)} after ${unit} ${step}, less than ${edge(run)}, and goes on`);
    if (!run.forced) {
      const others = run.count > 1;
      const stopped = run.count - running;
      parts.push(zh ? (others ? `；${run.count} 个中有 ${stopped} 个已停止。` : "。") : others ? `; ${stopped === 0 ? "none" : stopped} of ${run.count} ${stopped === 1 ? "has" : "have"} stopped.` : ".");
    }
  } else if (run.reasons[pos] === "forced") {
    parts.push(zh ? ` 按规定走了 ${last} ${unit}，停止单元没有发言权；它的输出就是最后的状态。` : ` was updated ${times(last)} because it was told to; its halting unit had no say, and its output is the last state alone.`);
  } else if (run.reasons[pos] === "limit") {
    parts.push(zh ? ` 更新了 ${last} 次，直到上限 M = ${run.limit}：停止概率只累加到 ${run.sum(pos, last).toFixed(d)}，最后一${unit}取余量 ${rest.toFixed(d)}。` : ` was updated ${times(last)}, up to the limit M = ${run.limit}: its halting probability had reached only ${run.sum(pos, last).toFixed(d)}, and the last ${unit} takes the remainder ${rest.toFixed(d)}.`);
  } else if (last === 1) {
    parts.push(zh ? ` 只更新了 1 次：第一${unit}的停止概率就是 ${run.h(pos, 1).toFixed(d)}，达到 ${edge(run)}。` : ` was updated once: its first halting probability is ${run.h(pos, 1).toFixed(d)}, and ${edge(run)} is enough.`);
  } else {
    const before = run.sum(pos, last - 1).toFixed(d);
    parts.push(zh ? ` 更新了 ${last} 次：第 ${last - 1} ${unit}后停止概率累加到 ${before}，第 ${last} ${unit}越过 ${edge(run)}，取余量 ${rest.toFixed(d)}。` : ` was updated ${times(last)}: its halting probability had reached ${before} after ${unit} ${last - 1}, ${unit} ${last} passes ${edge(run)} and takes the remainder ${rest.toFixed(d)}.`);
  }
  const now = run.stopped[step - 1];
  const said = { role: now.right ? "out" : null, text: t(now.answer) };
  const end = step === run.steps;
  if (zh) parts.push(end ? "答案是 " : "如果此刻全部停止，答案会是 ", said, now.right ? "，正确。" : `，错误；正确的是 ${t(run.expected)}。`);
  else parts.push(end ? " The answer is " : " If all stopped now, the answer would be ", said, now.right ? ", which is right." : `; right is ${t(run.expected)}.`);
  return parts;
}

/** 1 − ε as it is written. */
export const edge = (run) => String(Math.round(run.threshold * 1e4) / 1e4);

/** The pieces as nodes, and as one text. */
export const nodes = (parts) => parts.map((part) => (typeof part === "string" ? document.createTextNode(part) : el("b", { class: part.role ? `tfe-${part.role}` : null, text: part.text })));
export const plain = (parts) => parts.map((part) => (typeof part === "string" ? part : part.text)).join("");

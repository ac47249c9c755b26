// Adaptive computation in words: labels, the sentence, and the card of a position. See ponder.js.

import { parts, t } from "../lib/lang.js";
import { rounded } from "../lib/signs.js";

export const TEXT = {
  question: { en: "Who stops thinking when?", zh: "谁在什么时候停止思考？" },
  units: {
    en: "{step}s of each {axis}, then its halting probability, summed up to 1 − ε = {edge}",
    zh: "每个{axis}的{step}数，以及停止概率如何累加到 1 − ε = {edge}",
  },
  unitsForced: {
    en: "every {axis} takes {n} {step}{n||s}, whatever its halting unit says",
    zh: "每个{axis}都走 {n} {step}，不问停止单元",
  },
  legendShades: { en: "first to last {step}", zh: "从第一到最后一{step}" },
  legendStopped: { en: "has stopped", zh: "已停止" },
  legendAhead: { en: "still to come", zh: "尚未发生" },
  legendRest: { en: "remainder R", zh: "余量 R" },
  legendAnswer: { en: "the answer is read here", zh: "从这里读出答案" },
  legendMark: { en: "the answer needs it", zh: "答案需要它" },
  stopped: { en: "stopped", zh: "已停" },
  stops: { en: "stops", zh: "停止" },
  stoppedAt: { en: "stopped after {n}", zh: "{n} 后停止" },
  tick: { en: "{step} {n}", zh: "第 {n} {step}" },
  steps: { en: "{step}s", zh: "{step}数" },
  sums: { en: "halting probability, adding up", zh: "停止概率的累加" },
  sumsBrief: { en: "Σ h", zh: "Σ h" },
  far: { en: "distance to the last state, 0 … {most}", zh: "到最后状态的距离，0 … {most}" },
  farBrief: { en: "distance", zh: "距离" },
  farther: { en: "Distance to the last state", zh: "到最后状态的距离" },
  start: { en: "Back to the first {step}", zh: "回到第一{step}" },
  before: { en: "One {step} back", zh: "后退一{step}" },
  after: { en: "One {step} on", zh: "前进一{step}" },
  seek: { en: "{step} of thinking", zh: "思考的第几{step}" },
  count: { en: "{step} {n} of {of}", zh: "第 {n} {step}，共 {of}" },
  chips: { en: "If all stopped now", zh: "如果此刻全部停止" },
  chip: { en: "after {n}", zh: "{n} {step}后" },
  right: { en: "right", zh: "对" },
  wrong: { en: "wrong", zh: "错" },
  wrongSigns: { en: "{n} of {of} wrong", zh: "{of} 个中错 {n} 个" },
  sum: { en: "The sum that halts", zh: "决定停止的和" },
  goesOn: { en: "it goes on", zh: "继续" },
  limitSays: { en: "the limit M stops it", zh: "被上限 M 停下" },
  forcedSays: {
    en: "forced to take {n}: its halting unit is ignored",
    zh: "规定走 {n} {step}：不问停止单元",
  },
  output: { en: "output", zh: "输出" },
  cost: { en: "ponder cost", zh: "思考代价" },
  cardSteps: { en: "{n} {step}{n||s}, at most {limit}", zh: "{n} {step}，最多 {limit}" },
  cardSum: { en: "Σh = {sum} after {step} {n}", zh: "第 {n} {step}后 Σh = {sum}" },
  cardRest: { en: "R = {rest}, ponder cost {cost}", zh: "R = {rest}，思考代价 {cost}" },
  table: { en: "Every {axis} and {step}", zh: "每个{axis}的每一{step}" },
  index: { en: "index", zh: "序号" },
  why: { en: "stopped by", zh: "停止原因" },
  enough: { en: "Σh ≥ 1 − ε", zh: "Σh ≥ 1 − ε" },
  limit: { en: "limit M", zh: "上限 M" },
  forced: { en: "told to", zh: "规定" },
};

/** A text with the words of the run. */
export const say = (run, name, values = {}) =>
  t(TEXT[name], { step: t(run.unit), axis: t(run.axis), ...values });
/** Two digits, or three where the first two say nothing. */
export const short = (
  value,
) => (value === 0 || value >= 0.005 || value < 0.0005 ? value.toFixed(2) : value.toFixed(3));
/** 1 − ε as it is printed. */
export const edge = (run) => String(rounded(run.threshold));
/** A position by what stands there, and its number where there are several. */
export const called = (run, p, step) =>
  `“${step ? run.given(p, step) : run.labels[p]}”${run.count === 1 ? "" : ` (${p})`}`;

const SAY = {
  stillForced: {
    en: "{Axis} {who} goes on after {unit} {step}: it is forced to take {forced}.",
    zh: "{Axis} {who} 在第 {step} {unit}后继续：规定走 {forced} {unit}。",
  },
  still: {
    en:
      "{Axis} {who} has added up {sum} after {unit} {step}, less than {edge}, and goes on{others}.",
    zh: "{Axis} {who} 在第 {step} {unit}后累加到 {sum}，不到 {edge}，继续思考{others}。",
  },
  others: { en: "; {gone} of {count} {n|has|have} stopped", zh: "；{count} 个中有 {n} 个已停止" },
  ranForced: {
    en: "{Axis} {who} was stopped by force after {last} {unit}{last||s}; its halting unit is " +
      "ignored, and its output is the last state.",
    zh: "{Axis} {who} 走了 {last} {unit}后被强制停止，停止单元不起作用；它的输出就是最后的状态。",
  },
  atLimit: {
    en: "{Axis} {who} took {last} {unit}{last||s}, up to the limit M = {limit}: its halting " +
      "probability had reached only {sum}, and the last {unit} takes the remainder {rest}.",
    zh:
      "{Axis} {who} 走了 {last} {unit}，直到上限 M = {limit}：停止概率只累加到 {sum}，最后一{unit}取余量 {rest}。",
  },
  once: {
    en:
      "{Axis} {who} took one {unit}: its first halting probability is {sum}, and {edge} is enough.",
    zh: "{Axis} {who} 只走了 1 {unit}：第一{unit}的停止概率就是 {sum}，达到 {edge}。",
  },
  enough: {
    en: "{Axis} {who} took {last} {unit}{last||s}: its halting probability had reached {before} " +
      "after {unit} {m}, {unit} {last} passes {edge} and takes the remainder {rest}.",
    zh:
      "{Axis} {who} 走了 {last} {unit}：第 {m} {unit}后停止概率累加到 {before}，第 {last} {unit}越过 {edge}，取余量 " +
      "{rest}。",
  },
  answer: { en: " The answer is {answer}", zh: "答案是 {answer}" },
  would: {
    en: " If all stopped now, the answer would be {answer}",
    zh: "如果此刻全部停止，答案会是 {answer}",
  },
  right: { en: ", which is right.", zh: "，正确。" },
  wrong: { en: "; right is {expected}.", zh: "，错误；正确的是 {expected}。" },
};

export function sentence(run, { pos, step }) {
  const [axis, last, now] = [t(run.axis), run.last[pos], run.stopped[step - 1]];
  // as many digits as it takes to tell it from the edge that it has reached, or has not
  const sum = (n) =>
    [2, 3, 4, 5].map((digits) => run.sum(pos, n).toFixed(digits)).find((text, at) =>
      at === 3 || (Number(text) >= Number(edge(run))) === (run.sum(pos, n) >= run.threshold)
    );
  const gone = run.last.filter((n) => n <= step).length;
  const values = {
    Axis: `${axis[0].toUpperCase()}${axis.slice(1)}`,
    who: { role: "query", text: called(run, pos, step) },
    unit: t(run.unit),
    step,
    last,
    m: last - 1,
    sum: sum(Math.min(step, last)),
    before: sum(last - 1),
    rest: run.rest[pos].toFixed(2),
    edge: edge(run),
    limit: run.limit,
    forced: run.forced,
    others: run.count === 1
      ? ""
      : t(SAY.others, { n: gone, gone: gone || "none", count: run.count }),
    answer: { role: now.right ? "out" : null, text: t(now.answer) },
    expected: t(run.expected),
  };
  const how = step < last
    ? (run.forced ? "stillForced" : "still")
    : run.forced
    ? "ranForced"
    : run.reasons[pos] === "limit"
    ? "atLimit"
    : last === 1
    ? "once"
    : "enough";
  return [how, step === run.steps ? "answer" : "would", now.right ? "right" : "wrong"]
    .flatMap((key) => parts(SAY[key], values));
}

/** What the card of a position says. */
export function card(run, p, step) {
  const n = Math.min(step, run.last[p]);
  return [
    called(run, p),
    `${say(run, "cardSteps", { n: run.last[p], limit: run.forced || run.limit })} · ${
      say(run, run.reasons[p])
    }`,
    ...(run.forced ? [] : [say(run, "cardSum", { sum: run.sum(p, n).toFixed(2), n })]),
    say(run, "cardRest", {
      rest: short(run.rest[p]),
      cost: (run.last[p] + run.rest[p]).toFixed(2),
    }),
    ...(run.marks.includes(p) ? [say(run, "legendMark")] : []),
    ...(run.wanted.includes(p) && run.count > 1 ? [say(run, "legendAnswer")] : []),
  ];
}

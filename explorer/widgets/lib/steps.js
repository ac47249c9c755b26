// What the attention widget calls its first axis where one block is used step after step, and how it follows the step in view.

import { view } from "./state.js";

export const STEPS = {
  size: { en: "{layers} steps × {heads} heads", zh: "{layers} 步 × {heads} 头" },
  layer: { en: "Step {n}", zh: "第 {n} 步" },
  pickLayer: { en: "Step", zh: "步" },
  meanAll: { en: "mean of {heads} heads over the steps taken", zh: "{heads} 个头在所走各步上的平均" },
  maxAll: { en: "maximum of {heads} heads over all steps", zh: "{heads} 个头在各步中的最大值" },
  rolloutAll: { en: "rollout through {n} steps", zh: "穿过 {n} 步的累积" },
  named: { en: "step {layer}, head {head}", zh: "第 {layer} 步第 {head} 头" },
  cardMasked: { en: "stopped before this step: it asks nothing any more", zh: "在这一步之前已停止：不再提问" },
  rolloutOwn: {
    en: "Rollout (Abnar and Zuidema, 2020): at each step half the mean attention, half the residual path; multiplied from step 1 to {n}. What has stopped stays as it is.",
    zh: "逐步累积（Abnar 与 Zuidema，2020）：每步一半取各头平均注意力，一半取残差通路，从第 1 步乘到第 {n} 步。已停止的保持不变。",
  },
  rollout: { en: "rollout", zh: "逐步累积" },
  stopped: { en: "grey: stopped before this step; not computed any more, but still looked at", zh: "灰色：在这一步之前已停止；不再计算，但仍可被看到" },
};

const whole = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : null);

/** The step in view, 1 to `most`, or null: another widget of the page may have chosen it. */
export function stepInView(most) {
  const step = whole(view.get("step"));
  return step === null || step < 1 ? null : Math.min(step, most);
}

/** The position in view, from 0, or null. */
export function positionInView(count) {
  const position = whole(view.get("pos"));
  return position === null || position >= count ? null : position;
}

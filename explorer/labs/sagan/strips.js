// Strips of generated pictures: the same noise under other γ, the way between two seeds, the same
// noise in every class. Below each strip stands the number that goes with it. A click asks for that
// picture.

import { opened, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { edgeAt, grey, pictureAt, SIDE, strip, stripAxes } from "../../frontend/lib/mosaic.js";
import { number } from "../../frontend/lib/signs.js";

export const TEXT = {
  board: { en: "{title}", zh: "{title}" },
  strip: { en: "Strip", zh: "画条" },
  names: {
    gamma: { en: "γ", zh: "γ" },
    walk: { en: "Walk", zh: "行走" },
    kinds: { en: "Classes", zh: "类别" },
  },
  gamma: { en: "{n} γ", zh: "{n} γ" },
  walk: { en: "{n} %", zh: "{n} %" },
  score: { en: "discriminator's logit", zh: "判别器的 logit" },
  kept: { en: "classifier's probability of the class", zh: "分类器给出的该类概率" },
  said: {
    gamma: {
      en: "With {name} the logit is {score}; with 0 γ the generator is a plain convolutional one.",
      zh: "{name} 时 logit 为 {score}；0 γ 时生成器是普通的卷积生成器。",
    },
    walk: {
      en: "At {name} of the way from seed {seed} to seed {other} the logit is {score}.",
      zh: "从种子 {seed} 走向种子 {other} 的 {name} 处，logit 为 {score}。",
    },
    kinds: {
      en: "The same noise as “{name}”: the classifier gives that class a probability of {score}.",
      zh: "同样的噪声作为“{name}”：分类器给这一类的概率为 {score}。",
    },
  },
  click: { en: "Click: make this picture", zh: "点击：生成这张图片" },
  caption: { en: "The pictures of the strip", zh: "画条中的图片" },
  picture: { en: "picture", zh: "图片" },
};

export const looks = { strip: "choice", at: "position" };
const NAMES = ["gamma", "walk", "kinds"];
export const read = opened;
export const bounds = (run, { strip: name }) => {
  const it = run.strips?.[name ?? "gamma"];
  return { strip: { names: NAMES }, at: { count: it?.values.length ?? 1, pick: it?.here ?? 0 } };
};
export const choices = () => [{
  key: "strip",
  label: t(TEXT.strip),
  options: NAMES.map((value) => ({ value, label: t(TEXT.names[value]) })),
}];
export const same = () => true;
export const along = "at";

const scoreName = (look) => t(look.strip === "kinds" ? TEXT.kept : TEXT.score);
function labelOf(run, look, at, brief = false) {
  const n = run.strips[look.strip].labels[at];
  return typeof n !== "string" ? t(n) : brief ? n : t(TEXT[look.strip], { n });
}

export function figure(run, look, pen) {
  const it = run.strips[look.strip];
  const [n, here, size] = [it.values.length, look.at, pen.big ? 20 : 12];
  const height = pen.tall || Math.round(pen.width / n + 210);
  const split = 1 - Math.min(0.55, (pen.width / n + 8) / height);
  const axes = stripAxes(n);
  const middles = upTo(n, (at) => edgeAt(at) + SIDE / 2);
  const ticks = {
    showticklabels: true,
    tickvals: middles,
    ticktext: upTo(n, (at) => labelOf(run, look, at, pen.narrow)),
    tickfont: { size },
    tickangle: pen.narrow && look.strip === "kinds" ? -60 : 0,
  };
  const title = { text: scoreName(look), font: { size } };
  const square = { x0: edgeAt(here), x1: edgeAt(here) + SIDE, y0: -0.5, y1: SIDE - 0.5 };
  const mark = (yes, no) => upTo(n, (at) => (at === here ? yes : no));
  return {
    data: [
      grey(strip(n, (at) => it.pictures.slice(at))),
      {
        ...{ type: "scatter", x: middles, y: Array.from(it.scores.data), yaxis: "y2" },
        mode: look.strip === "kinds" ? "markers" : "lines+markers",
        marker: { color: mark("var(--out)", "var(--cat-1)"), size: mark(14, 9) },
        line: { color: "var(--cat-1)", width: 2 },
      },
    ],
    layout: {
      height,
      margin: { l: pen.big ? 100 : 64, r: 8, t: 6, b: pen.big ? 60 : 40 },
      xaxis: { ...axes.x, ...ticks, anchor: "y2" },
      yaxis: { ...axes.y, domain: [split + 0.06, 1] },
      yaxis2: { domain: [0, split], title, tickfont: { size } },
      shapes: [{ type: "rect", ...square, line: { color: "var(--out)", width: 3 } }],
    },
  };
}

export function pick(run, look, { trace, i }) {
  const it = run.strips[look.strip];
  const at = trace === 0 ? Math.min(pictureAt(i[1]), it.values.length - 1) : i;
  const said = `${scoreName(look)}: ${number(it.scores.data[at])}`;
  return {
    look: { at },
    card: () => [labelOf(run, look, at), said, t(TEXT.click)],
    set: { [it.field]: it.values[at] },
  };
}

export const sentence = (run, look) => [
  t(TEXT.said[look.strip], {
    name: labelOf(run, look, look.at),
    score: number(run.strips[look.strip].scores.data[look.at]),
    seed: run.seed,
    other: run.other,
  }),
];

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: [t(TEXT.picture), scoreName(look)],
  rows: Array.from(
    run.strips[look.strip].scores.data,
    (score, at) => [labelOf(run, look, at), score.toFixed(4)],
  ),
  here: look.at,
});

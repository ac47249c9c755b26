// Training replayed: ten pictures from the same noise, one of each class, over the steps of
// training; below them both losses, both γ and the distance to real pictures. The step in view is a
// line through all of them.

import { opened } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { axesOf, grey, nth, strip, stripAxes } from "../../frontend/lib/mosaic.js";
import { number } from "../../frontend/lib/signs.js";

export const TEXT = {
  board: { en: "{title}", zh: "{title}" },
  question: { en: "How does it learn?", zh: "它是怎样学会的？" },
  step: { en: "training step", zh: "训练步" },
  losses: { en: "losses", zh: "损失" },
  gammas: { en: "γ", zh: "γ" },
  distance: { en: "Fréchet distance", zh: "Fréchet 距离" },
  names: {
    loss_d: { en: "discriminator's loss", zh: "判别器的损失" },
    loss_g: { en: "generator's loss", zh: "生成器的损失" },
    gamma_d: { en: "γ of the discriminator", zh: "判别器的 γ" },
    gamma_g: { en: "γ of the generator", zh: "生成器的 γ" },
    distance: { en: "distance, with attention", zh: "距离，有注意力" },
    control: { en: "distance, without attention", zh: "距离，没有注意力" },
  },
  at: { en: "step {n} of {of}", zh: "第 {n} 步，共 {of} 步" },
  seek: { en: "Step of training", zh: "训练步" },
  said: {
    en: "After {n} steps: losses {loss_d} and {loss_g}, γ {gamma_d} in the discriminator and " +
      "{gamma_g} in the generator",
    zh: "{n} 步之后：损失 {loss_d} 与 {loss_g}，判别器 γ 为 {gamma_d}，生成器 γ 为 {gamma_g}",
  },
  far: { en: ", Fréchet distance {distance}.", zh: "，Fréchet 距离 {distance}。" },
  end: { en: ".", zh: "。" },
  before: {
    en: "Before training the generator makes the same grey of every noise.",
    zh: "训练之前，生成器把任何噪声都变成同样的灰色。",
  },
  caption: { en: "The training, step by step", zh: "逐步的训练过程" },
};

const COLOURS = {
  loss_d: "cat-2",
  loss_g: "cat-1",
  gamma_d: "cat-2",
  gamma_g: "cat-1",
  distance: "out",
  control: "cat-7",
};
const TITLES = ["losses", "gammas", "distance"];
const ROWS = [["loss_d", "loss_g"], ["gamma_d", "gamma_g"], ["distance", "control"]];

const NAMES = ROWS.flat();

export const looks = { frame: "step" };
export const read = opened;
export const bounds = (run) => ({ frame: { steps: run.steps.length } });
export const same = () => true;
export const along = "frame";
export const clock = (run) => ({
  key: "frame",
  pace: 300,
  says: (n) => t(TEXT.at, { n: run.steps[n - 1], of: run.steps.at(-1) }),
  texts: { seek: t(TEXT.seek) },
});
const keysOf = (run) => NAMES.filter((key) => run.curves[key]);
const mark = (key) => ({ fill: COLOURS[key], wide: 14, tall: 4 });
export const legend = (run) =>
  keysOf(run).map((key) => ({ text: t(TEXT.names[key]), mark: mark(key) }));

export function figure(run, look, pen) {
  const size = pen.big ? 20 : 12;
  const axes = stripAxes(10);
  const step = run.steps[look.frame - 1];
  const layout = {
    height: pen.tall || 520,
    margin: { l: pen.big ? 90 : 60, r: 8, t: 6, b: pen.big ? 60 : 40 },
    grid: { rows: 4, columns: 1, pattern: "independent", ygap: 0.16 },
    showlegend: false,
    xaxis: { ...axes.x, constrain: "domain" },
    yaxis: { ...axes.y, scaleanchor: "x", constrain: "domain" },
    shapes: [],
  };
  /** @type {any[]} */
  const data = [grey(strip(10, (at) => run.frames.slice(look.frame - 1, at)))];
  ROWS.forEach((keys, at) => {
    const [row, last] = [at + 1, at === 2];
    const text = (name) => ({ title: { text: t(TEXT[name]), font: { size } }, tickfont: { size } });
    const ticks = last ? { type: "log", tickvals: [5, 10, 20, 50, 100, 200, 500] } : {};
    const named = last ? text("step") : {};
    layout[`xaxis${nth(row)}`] = { range: [0, run.steps.at(-1)], showticklabels: last, ...named };
    layout[`yaxis${nth(row)}`] = { ...text(TITLES[at]), ...ticks };
    keys.filter((key) => run.curves[key]).forEach((key) => {
      const [x, y] = [0, 1].map((part) => run.curves[key].map((point) => point[part]));
      const line = { color: `var(--${COLOURS[key]})`, width: 2 };
      data.push({ type: "scatter", mode: "lines", x, y, line, ...axesOf(row) });
    });
    const place = { xref: `x${nth(row)}`, x0: step, x1: step, yref: `y${nth(row)} domain` };
    const line = { color: "var(--ink)", width: 2, dash: "dot" };
    layout.shapes.push({ type: "line", ...place, y0: 0, y1: 1, line });
  });
  return { data, layout };
}

const nearest = (list, x) =>
  list.reduce((best, one, at) => (Math.abs(one - x) < Math.abs(list[best] - x) ? at : best), 0);

export function pick(run, _look, { trace, x, y }) {
  const key = keysOf(run)[trace - 1];
  if (!key) return null;
  const card = () => [t(TEXT.names[key]), `${t(TEXT.step)} ${x}: ${number(y, 3)}`];
  return { look: { frame: nearest(run.steps, x) + 1 }, card };
}

/** The value of a curve at a step, or null where the step is before its first one. */
function valueAt(run, key, step, digits) {
  const curve = run.curves[key];
  const at = nearest(curve.map(([there]) => there), step);
  return step < curve[0][0] ? null : number(curve[at][1], digits);
}

export function sentence(run, look) {
  const n = run.steps[look.frame - 1];
  if (!n) return [t(TEXT.before)];
  const named = NAMES.slice(0, 4).map((key) => [key, valueAt(run, key, n)]);
  const distance = valueAt(run, "distance", n, 1);
  const end = distance === null ? t(TEXT.end) : t(TEXT.far, { distance });
  return [t(TEXT.said, { n, ...Object.fromEntries(named) }) + end];
}

export const table = (run) => ({
  caption: t(TEXT.caption),
  columns: [t(TEXT.step), ...keysOf(run).map((key) => t(TEXT.names[key]))],
  rows: run.curves.distance.map(([step]) => [
    step,
    ...keysOf(run).map((key) => valueAt(run, key, step, 4) ?? ""),
  ]),
  here: null,
});

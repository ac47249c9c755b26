// Twins in training: the held-out loss of both runs over the bands of five stored seeds, the gap
// between them shaded, and below it their learning rates. The moment in view is a line through
// both. The value is made by explorer/labs/twins/views.py.

import { filed, opened, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { number } from "../../frontend/lib/signs.js";

export const TEXT = {
  board: {
    en: "{title}. Left and right go from moment to moment, Space plays, Escape resets.",
    zh: "{title}。左右键移动时刻，空格播放，Esc 复位。",
  },
  step: { en: "training step", zh: "训练步" },
  loss: { en: "held-out loss, nats a digit", zh: "留出损失，奈特/位" },
  rate: { en: "rate", zh: "学习率" },
  seek: { en: "Step of training", zh: "训练步" },
  at: { en: "step {n} of {of}", zh: "第 {n} 步，共 {of} 步" },
  said: { en: "After {n} steps ", zh: "{n} 步之后，" },
  one: {
    en: "{name} has a held-out loss of {loss} and {right} % of digits right",
    zh: "{name}的留出损失为 {loss}，{right} % 的数字正确",
  },
  and: { en: "; ", zh: "；" },
  end: { en: ".", zh: "。" },
  broken: { en: "{name} broke at step {n}", zh: "{name}在第 {n} 步损坏" },
  stopped: { en: " Stopped.", zh: "已停止。" },
  band: { en: "five stored seeds", zh: "存储的五个种子" },
  gap: { en: "gap", zh: "差距" },
  caption: { en: "The training, moment by moment", zh: "逐时刻的训练" },
  lossOf: { en: "loss (nats), {name}", zh: "损失（奈特），{name}" },
  rightOf: { en: "digits right (%), {name}", zh: "正确的数字（%），{name}" },
  rateOf: { en: "rate, {name}", zh: "学习率，{name}" },
};

const COLOURS = ["cat-1", "cat-2"];
const BAND = 0.16; // opacity of a band

export const looks = { frame: "step" };
export const read = opened;
export const bounds = (run) => ({ frame: { steps: run.steps.length } });
export const same = () => true;
export const along = "frame";
export const clock = (run) => ({
  key: "frame",
  pace: 160,
  says: (n) => t(TEXT.at, { n: run.steps[n - 1], of: run.of }),
  texts: { seek: t(TEXT.seek) },
});

const mean = (list) => {
  const there = list.filter((one) => one !== null);
  return there.length ? there.reduce((a, b) => a + b, 0) / there.length : null;
};
/** The mean loss, or share, of a kind at every frame, null once all its runs are broken. */
const meansOf = (run, key, kind) => run[key].map((frame) => mean(frame[kind]));

export const legend = (run) => [
  ...run.names.map((name, kind) => ({
    text: t(name),
    mark: { fill: COLOURS[kind], wide: 14, tall: 4 },
  })),
  ...run.bands.flatMap((band, kind) =>
    band ? [{ text: t(TEXT.band), mark: { fill: COLOURS[kind] } }] : []
  ),
];

const both = (steps) => [...steps, ...steps.toReversed()];

/** A filled outline between two curves over the same steps. */
const filled = (x, low, high, colour) => ({
  type: "scatter",
  mode: "lines",
  x: both(x),
  y: [...low, ...high.toReversed()],
  fill: "toself",
  fillcolor: `var(--${colour})`,
  line: { width: 0, color: `var(--${colour})` },
  opacity: BAND,
  hoverinfo: "skip",
});

/** The stored bands, and the gap between the twins where both are whole. */
function grounds(run) {
  const found = run.bands.flatMap((band, kind) =>
    band ? [filled(band.steps, band.low, band.high, COLOURS[kind])] : []
  );
  if (run.names.length > 1) {
    const [a, b] = [0, 1].map((kind) => meansOf(run, "loss", kind));
    const until = upTo(run.steps.length).filter((at) => a[at] !== null && b[at] !== null);
    const [low, high] = [a, b].map((curve) => until.map((at) => curve[at]));
    found.push(filled(until.map((at) => run.steps[at]), low, high, "ink3"));
  }
  return found;
}

const lineOf = (x, y, kind, more = {}) => ({
  type: "scatter",
  mode: "lines",
  x,
  y,
  line: { color: `var(--${COLOURS[kind]})`, width: 2.5, dash: kind ? "dash" : "solid" },
  ...more,
});

export function figure(run, look, pen) {
  const size = pen.big ? 20 : 12;
  const text = (name) => ({ title: { text: t(TEXT[name]), font: { size } }, tickfont: { size } });
  const data = grounds(run);
  const here = run.steps[look.frame - 1];
  const top = Math.max(...run.loss.flat(2).filter((one) => one !== null), 2.4);
  run.names.forEach((_, kind) => {
    upTo(
      run.loss[0][kind].length,
      (seed) =>
        data.push(lineOf(run.steps, run.loss.map((frame) => frame[kind][seed]), kind, {
          ...(run.loss[0][kind].length > 1 ? { opacity: 0.35 } : {}),
        })),
    );
    if (run.loss[0][kind].length > 1) {
      data.push(lineOf(run.steps, meansOf(run, "loss", kind), kind));
    }
    data.push({
      ...lineOf(run.steps, run.rate.map((frame) => frame[kind]), kind),
      xaxis: "x2",
      yaxis: "y2",
    });
    data.push({
      ...{ type: "scatter", mode: "markers", x: [here] },
      y: [meansOf(run, "loss", kind)[look.frame - 1]],
      marker: { size: 11, color: `var(--${COLOURS[kind]})` },
    });
  });
  const axis = { range: [0, run.of], showgrid: false };
  const line = (ref) => ({
    ...{ type: "line", xref: ref, yref: `${ref.replace("x", "y")} domain` },
    ...{ x0: here, x1: here, y0: 0, y1: 1 },
    line: { color: "var(--ink)", width: 1.5, dash: "dot" },
  });
  return {
    data,
    layout: {
      height: pen.tall || 296,
      margin: { l: pen.big ? 100 : 62, r: 12, t: 8, b: pen.big ? 64 : 40 },
      showlegend: false,
      xaxis: { ...axis, showticklabels: false, anchor: "y" },
      yaxis: { ...text("loss"), domain: [0.36, 1], range: [0, Math.min(top, 4) * 1.04] },
      xaxis2: { ...axis, ...text("step"), anchor: "y2" },
      yaxis2: { ...text("rate"), domain: [0, 0.26], rangemode: "tozero", nticks: 3 },
      shapes: [line("x"), line("x2")],
    },
  };
}

const nearest = (list, x) =>
  list.reduce((best, one, at) => (Math.abs(one - x) < Math.abs(list[best] - x) ? at : best), 0);

export function pick(run, _look, { x, y }) {
  if (x === undefined || y === null) return null;
  const at = nearest(run.steps, x);
  const card = () => [
    `${t(TEXT.step)} ${run.steps[at]}`,
    ...run.names.map((name, kind) => `${t(name)}: ${told(meansOf(run, "loss", kind)[at])}`),
  ];
  return { look: { frame: at + 1 }, card };
}

const told = (value, digits = 2) => (value === null ? "–" : number(value, digits));

export function sentence(run, look) {
  const at = look.frame - 1;
  const each = run.names.map((name, kind) => {
    const broke = Math.max(...run.broke[kind]);
    const loss = meansOf(run, "loss", kind)[at];
    if (loss === null) return t(TEXT.broken, { name: t(name), n: broke });
    const right = (100 * meansOf(run, "right", kind)[at]).toFixed(0);
    return t(TEXT.one, { name: t(name), loss: number(loss, 2), right });
  });
  const said = t(TEXT.said, { n: run.steps[at] }) + each.join(t(TEXT.and)) + t(TEXT.end);
  return [said + (run.stopped ? t(TEXT.stopped) : "")];
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: [
    t(TEXT.step),
    ...run.names.flatMap((name) =>
      ["lossOf", "rightOf", "rateOf"].map((key) => t(TEXT[key], { name: t(name) }))
    ),
  ],
  rows: run.steps.map((step, at) => [
    step,
    ...run.names.flatMap((_, kind) => [
      told(meansOf(run, "loss", kind)[at], 4),
      told(100 * meansOf(run, "right", kind)[at], 1),
      run.rate[at][kind].toPrecision(4),
    ]),
  ]),
  here: look.frame - 1,
});

/** The weights at the end, named as PyTorch names them, behind the curves. */
export const arrays = (run) => {
  const kinds = run.names.length;
  const flat = (key) => Float32Array.from(run[key].flat(2), (one) => one ?? NaN);
  const seeds = run.loss[0][0].length;
  const found = {
    steps: filed(Int32Array.from(run.steps), "frame", "step"),
    loss: filed(flat("loss"), ["frame", "run", "seed"], "nats", [run.steps.length, kinds, seeds]),
    rate: filed(flat("rate"), ["frame", "run"], "rate", [run.steps.length, kinds]),
  };
  upTo(run.trained ? kinds : 0, (kind) => {
    const all = run.trained.slice(kind);
    run.parameters.forEach(([name, at, shape]) => {
      const count = shape.reduce((a, b) => a * b, 1);
      found[`${kind + 1}/${name}`] = {
        ...filed(all.slice(at, at + count), shape.map((_, axis) => `axis ${axis}`), "", shape),
      };
    });
  });
  return found;
};

/** The script that makes the same runs in PyTorch alone. */
const script = (kind) => (run) =>
  run.scripts?.[kind]
    ? {
      name: `run-${kind + 1}`,
      ending: "py",
      blob: () => new Blob([run.scripts[kind]], { type: "text/x-python" }),
    }
    : null;
export const files = { "PY 1": script(0), "PY 2": script(1) };

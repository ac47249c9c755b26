// Reversible layers on the run's own sequence: forward, then back from the outputs alone. A row for
// each layer: how long the vectors are that went in and that came back, and how far apart the two
// are. The value is made by deeper/rewind.py.

import { filed } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { NAME, raised, shown, tiny } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: {
    en: "Can the inputs be recovered from the outputs alone?",
    zh: "只凭输出，能否找回输入？",
  },
  follows: {
    en: "Real numbers: {model}, {layers} on {n} positions, forward, then back from what the last " +
      "layer gave.",
    zh: "真实的数：{model}，{layers}，{n} 个位置；先前向，再从最后一层的输出往回算。",
  },
  one: { en: "1 layer", zh: "1 层" },
  many: { en: "{n} layers", zh: "{n} 层" },
  forward: { en: "forward", zh: "前向" },
  back: { en: "back", zh: "往回" },
  went: { en: "went in, then let go", zh: "进入，随后丢弃" },
  came: { en: "computed again from the outputs", zh: "由输出重新算出" },
  start: { en: "Before anything went in", zh: "还没有输入进入" },
  before: { en: "One layer back", zh: "退一层" },
  after: { en: "One layer on", zh: "进一层" },
  seek: { en: "layer by layer", zh: "逐层" },
  at: { en: "{i} of {n}", zh: "{i} / {n}" },
  board: {
    en:
      "{title} Forward: y1 is x1 plus attention of x2; y2 is x2 plus the feed-forward network of " +
      "y1. Back: x2 is y2 minus the feed-forward network of y1; x1 is y1 minus attention of x2. " +
      "Left and right go forward and back through the layers, with Shift through positions; " +
      "Space plays.",
    zh:
      "{title} 前向：y1 等于 x1 加 x2 的注意力；y2 等于 x2 加 y1 的前馈网络。往回：x2 等于 y2 减 y1 的前馈网络；x1 等于 y1 减 x2 " +
      "的注意力。左右键逐层前进与返回，加 Shift 换位置；空格键播放。",
  },
  begin: { en: "Nothing has gone in yet.", zh: "还没有输入进入。" },
  going: {
    en: "Forward through layer {l} of {n}: its input is kept for now, and every earlier one is " +
      "dropped.",
    zh: "前向经过第 {l} 层（共 {n} 层）：此刻只存有它的输入，之前的都已丢弃。",
  },
  coming: {
    en: "Back through layer {l} of {n}: x₂ = y₂ − FF(y₁), then x₁ = y₁ − Attention(x₂). The " +
      "recovered inputs differ from the originals by {single} at most in float32, by {double} in " +
      "float64.",
    zh:
      "往回经过第 {l} 层（共 {n} 层）：x₂ = y₂ − FF(y₁)，再 x₁ = y₁ − Attention(x₂)。找回的与原来的在 float32 下最多相差 " +
      "{single}，在 float64 下最多 {double}。",
  },
  all: {
    en: "From the outputs alone the inputs of {layers} are recovered: they differ from the " +
      "originals by {single} at most in float32, and by {double} in float64.",
    zh:
      "只凭输出就找回了 {layers}的输入：与原来的在 float32 下最多相差 {single}，在 float64 下最多 {double}。",
  },
  here: {
    en: " At {query} a vector of length {a} went into layer {l}, and one of length {b} came back.",
    zh: "在{query}，长度 {a} 的向量进入第 {l} 层，找回的长度为 {b}。",
  },
  position: { en: "position ", zh: "位置 " },
  card: { en: "layer {l}: {a} in, {b} back", zh: "第 {l} 层：进入 {a}，找回 {b}" },
  caption: {
    en: "Largest difference between the inputs and the recovered inputs, by layer",
    zh: "各层进入与找回的最大差",
  },
  columns: {
    en: "layer|float32, largest difference|float64, largest difference",
    zh: "层|float32（最大差）|float64（最大差）",
  },
  lines: {
    en: "layer|position|token|went in, length|came back, length",
    zh: "层|位置|词元|进入（长度）|找回（长度）",
  },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  norms: { en: "length of the vector at each position", zh: "各位置向量的长度" },
  norms2: { en: "both halves of the stream", zh: "两半残差流合计" },
  off: { en: "largest difference", zh: "最大差" },
  off2: { en: "logarithmic", zh: "对数刻度" },
  held: { en: "stored now", zh: "现在存有" },
  gone: { en: "let go", zh: "已丢弃" },
  returned: { en: "back again", zh: "已重算" },
  kept: {
    en: "only the last outputs y₁, y₂ and the buckets are stored",
    zh: "只保留最后的输出 y₁、y₂ 和各桶编号",
  },
  keptFull: { en: "the last outputs y₁, y₂ are all that is kept", zh: "只保留最后的输出 y₁、y₂" },
};
const EQUATIONS = {
  forward: "y₁ = x₁ + Attention(x₂),  y₂ = x₂ + FF(y₁)",
  back: "x₂ = y₂ − FF(y₁),  x₁ = y₁ − Attention(x₂)",
};
const EXACT = 1e-18; // the left end of the axis: what is exactly equal is drawn there
const LARGE = 1e-2;
const PACE = 700; // ms that a step stands while it plays

const listed = (name) => t(TEXT[name]).split("|");
const counted = (layers) => (layers === 1 ? t(TEXT.one) : t(TEXT.many, { n: layers }));

export function read(value) {
  const { forward: { data, shape: [layers, positions] }, again } = value;
  return { ...value, forward: data, again: again.data, layers, positions };
}

const position = ({ pos, over }) => [over?.pos ?? pos].flat().at(-1) ?? null;

/**
 * How a layer (from 0) stands after so many steps: "held", "gone", "returned"; null while nothing
 * went in.
 */
function stands({ layers }, step, layer) {
  if (step > layers && layer >= 2 * layers - step) return "returned";
  if (step > layer + 1 || step > layers) return "gone";
  return step === layer + 1 ? "held" : null;
}

export function scene(run, look, pen) {
  const { layers, positions, forward, again } = run;
  const { big, narrow, width, tall, small: font } = pen;
  const [step, pos] = [look.rewindstep, position(look)];
  const line = Math.round(font * 1.45);
  const write = (x, y, text, style = {}) =>
    pen.text(x, y, text, { size: font, colour: "ink3", ...style });
  const top = equations(pen, font);
  const left = big ? 156 : narrow ? 58 : 98;
  const above = top + (narrow ? line + 8 : 2 * line + 8);
  const off = narrow ? 0 : Math.min(big ? 420 : 330, Math.round(width * 0.33)); // px of the differences
  const under = narrow ? 3 * line : 0; // on a phone the differences stand below each row
  const room = big ? (tall - above - line - 14) / layers : layers > 2 ? 74 : 104;
  const pitch = Math.max(3.4 * font, Math.min(room, big ? 150 : 104)) + under;
  const high = pitch - under - (big ? 26 : 18);
  const from = { x0: left, x1: width - off - (narrow ? 36 : big ? 86 : 60) };
  const px = (n) => from.x0 + ((n + 0.5) / positions) * (from.x1 - from.x0);
  write(from.x0, above - (narrow ? 0.9 : 2.05) * line, t(TEXT.norms), {
    colour: "ink",
    weight: 650,
  });
  // Room at the right of the differences for their numbers.
  const axis = {
    x0: narrow ? left : width - off,
    x1: width - pen.measure("8.8\u00a0×\u00a010⁻¹⁶", { size: font }) - 1.5 * font,
  };
  const dx = (value) =>
    axis.x0 + font / 2 +
    (Math.log10(Math.max(EXACT, Math.min(LARGE, value)) / EXACT) / Math.log10(LARGE / EXACT)) *
      (axis.x1 - axis.x0 - font);
  if (!narrow) {
    write(from.x0, above - 0.95 * line, t(TEXT.norms2));
    write(axis.x0, above - 2.05 * line, t(TEXT.off), { colour: "ink", weight: 650 });
    write(axis.x0, above - 0.95 * line, t(TEXT.off2));
  }
  for (let layer = 0; layer < layers; layer += 1) {
    const y = above + layer * pitch;
    const state = stands(run, step, layer);
    const came = state === "returned";
    const here = step > 0 && layer === (step <= layers ? step - 1 : 2 * layers - step);
    write(left - 12, y + high / 2 - font * 0.35, t(TEXT.layer, { n: layer + 1 }), {
      colour: here ? "ink" : "ink2",
      weight: here ? 650 : 400,
      align: "right",
    });
    if (state) {
      write(
        left - 12,
        y + high / 2 + line - font * 0.35,
        `${came ? "↑" : "↓"}${narrow ? "" : ` ${t(TEXT[state])}`}`,
        { align: "right", ...(came ? { colour: "out", weight: 650 } : {}) },
      );
    }
    pen.rect({ ...from, y0: y, y1: y + high }, { fill: here ? "accent-soft" : "sunk", radius: 3 });
    const [row, found] = [forward, again].map((all) =>
      all.subarray(layer * positions, (layer + 1) * positions)
    );
    const [low, most] = [Math.min(...row, ...found), Math.max(...row, ...found)];
    const py = (norm) => y + high - 4 - ((norm - low) / Math.max(1e-9, most - low)) * (high - 8);
    const path = (norms) =>
      Array.from(norms, (norm, n) => `${n ? "L" : "M"}${px(n).toFixed(1)} ${py(norm).toFixed(1)}`)
        .join("");
    if (came) pen.path(path(found), { line: "out", width: big ? 5 : 3.4, alpha: 0.55 });
    if (state) {
      const held = state === "held";
      pen.path(path(row), {
        line: held ? "ink" : "ink2",
        width: big ? 2.5 : held ? 2 : 1.2,
        dash: held ? null : [4, 3],
      });
      write(from.x1 + 5, y + font * 0.55, most.toFixed(1));
      write(from.x1 + 5, y + high - font * 0.35, low.toFixed(1));
    }
    if (pos !== null && state) {
      pen.line(px(pos), y, px(pos), y + high, { line: "query", width: big ? 2.5 : 1.5 });
      pen.circle(px(pos), py((came ? found : row)[pos]), big ? 7 : 4.5, {
        fill: came ? "out" : "ink",
        line: "panel",
        width: 1.5,
      });
    }
    differences(run, pen, {
      layer,
      came,
      axis,
      dx,
      font,
      line,
      y: narrow ? y + high + 6 : y,
      high: narrow ? 2.2 * line : high,
    });
  }
  // Below: powers of ten, positions, and what is kept.
  const floor = above + layers * pitch;
  const foot = floor - (narrow ? under - 2.2 * line - 6 : 0) - (pitch - under - high) + line * 0.75;
  for (let exponent = -16; exponent <= -4; exponent += axis.x1 - axis.x0 < 140 ? 6 : 4) {
    pen.line(dx(10 ** exponent), foot - line * 0.75, dx(10 ** exponent), foot - line * 0.75 + 4, {
      line: "control",
    });
    write(dx(10 ** exponent), foot + 2, `10${raised(exponent)}`, { align: "center" });
  }
  const ground = narrow ? floor + line * 0.4 : foot + 2;
  tokens(run, pen, { pos, px, from, font, y: ground });
  if (!narrow && step >= layers) {
    write(
      from.x0,
      ground + line,
      `↳ ${t(run.hashed ? TEXT.kept : TEXT.keptFull)}`,
      step === layers ? { colour: "ink", weight: 650 } : {},
    );
  }
  const box = (n) => ({
    x0: px(n - 0.5),
    x1: px(n + 0.5),
    y0: above,
    y1: floor,
    look: { pos: n },
    still: true,
    card: () => [
      plainName(run, n),
      ...Array.from({ length: layers }, (_, l) => [l, stands(run, step, l)]).filter(([, state]) =>
        state === "returned"
      )
        .map(([l]) =>
          t(TEXT.card, {
            l: l + 1,
            a: forward[l * positions + n].toFixed(4),
            b: again[l * positions + n].toFixed(4),
          })
        ),
    ],
  });
  pen.hit({
    ...from,
    y0: above,
    y1: floor,
    of: (n) => (n >= 0 && n < positions ? box(n) : null),
    at: (x) =>
      box(
        Math.max(
          0,
          Math.min(positions - 1, Math.floor(((x - from.x0) / (from.x1 - from.x0)) * positions)),
        ),
      ),
  });
  pen.size(width, ground + line * (narrow ? 0.6 : 1.6));
}

/** How an output is made, and how its inputs come back. Returns where they end. */
function equations(pen, font) {
  const { narrow, big } = pen;
  const size = big ? 26 : narrow ? 14 : 17;
  let y = 0;
  for (const [name, text] of Object.entries(EQUATIONS)) {
    if (narrow) pen.text(0, y + 8, t(TEXT[name]), { size: font });
    const [x, down] = narrow ? [0, 16] : [big ? 124 : 72, 0];
    if (!narrow) pen.text(0, y + size * 0.75, t(TEXT[name]), { size: font });
    pen.text(x, y + down + size * 0.75, text, { size, face: "title", colour: "ink" });
    y += down + size * 1.5;
  }
  return y + (big ? 16 : 10);
}

/** How far what came back is from what had gone in, in both precisions. */
function differences({ single, double }, pen, { layer, came, axis, dx, font, line, y, high }) {
  pen.rect({ ...axis, y0: y, y1: y + high }, { fill: "sunk", radius: 3 });
  if (!came) return;
  [[single[layer], "cat-2"], [double[layer], "cat-1"]].forEach(([value, colour], n) => {
    const [x, middle, r] = [
      dx(value),
      y + high / 2 + (n - 0.5) * Math.min(1.24 * line, high / 2),
      pen.big ? 8 : 5,
    ];
    pen.line(axis.x0 + font / 2, middle, x, middle, { line: colour, width: pen.big ? 4 : 2.5 });
    if (n) {
      pen.path(`M${x - r} ${middle}L${x} ${middle - r}L${x + r} ${middle}L${x} ${middle + r}Z`, {
        fill: colour,
      });
    } else pen.circle(x, middle, r, { fill: colour });
    pen.text(axis.x1 + font, middle, tiny(value), { size: font, colour: "ink" });
  });
}

/**
 * Names of positions where there is room for all, else numbers now and then; that of the one in
 * view always.
 */
function tokens({ tokens: all, positions }, pen, { pos, px, from, font, y }) {
  const wide = (from.x1 - from.x0) / positions;
  const spell = wide >= font * 0.95;
  const every = spell
    ? 1
    : ([2, 5, 10, 20, 25, 50, 100, 200, 250, 500].find((n) => n * wide >= 3.4 * font) ?? 500);
  const own = pos === null ? "" : `${shown(all[pos])}·${pos}`;
  const half = pen.measure(own, { size: font, weight: 650 }) / 2 + 4;
  const middle = pos === null ? -1e6 : Math.max(from.x0 + half, Math.min(from.x1 - half, px(pos)));
  for (let n = 0; n < positions; n += every) {
    if (Math.abs(px(n) - middle) > half + (spell ? font / 2 : 1.2 * font)) {
      pen.text(px(n), y, spell ? shown(all[n]) : String(n), {
        size: font,
        colour: "ink3",
        align: "center",
      });
    }
  }
  if (pos !== null) {
    pen.text(middle, y, own, { size: font, colour: "query", weight: 650, align: "center" });
  }
}

// ── in words and numbers ──
const nameOf = (run, pos) => ({
  role: "query",
  text: t(TEXT.position) + NAME(run.tokens[pos], pos, "query").text,
});
const plainName = (run, pos) => NAME(run.tokens[pos], pos, "query").text;

export function sentence(run, look) {
  const { layers, single, double, positions, forward, again } = run;
  const [step, pos] = [look.rewindstep, position(look)];
  const layer = step <= layers ? step : Math.max(1, 2 * layers - step + 1);
  const whole = step >= 2 * layers;
  const say = step === 0
    ? TEXT.begin
    : step <= layers
    ? TEXT.going
    : whole
    ? TEXT.all
    : TEXT.coming;
  const most = (list) => tiny(whole ? Math.max(...list) : (list[layer - 1] ?? 0));
  const said = parts(t(say), {
    l: layer,
    n: layers,
    layers: counted(layers),
    single: most(single),
    double: most(double),
  });
  const place = (layer - 1) * positions + pos;
  const here = pos === null || step <= layers ? [] : parts(t(TEXT.here), {
    query: nameOf(run, pos),
    l: layer,
    a: forward[place].toFixed(4),
    b: again[place].toFixed(4),
  });
  return [...said, ...here].map((one) => (one.role || typeof one === "string" ? one : one.text));
}

export const table = ({ single, double }) => ({
  caption: t(TEXT.caption),
  columns: listed("columns"),
  rows: single.map((off, i) => [i + 1, tiny(off), tiny(double[i])]),
});

export const lines = ({ tokens: all, positions, forward, again }) => ({
  columns: listed("lines"),
  rows: Array.from(
    forward,
    (norm, i) => [Math.floor(i / positions) + 1, i % positions, all[i % positions], norm, again[i]],
  ),
});

export function arrays({ layers, positions, forward, again, single, double, tokens: all }) {
  const norms = (data) =>
    filed(data, ["layer", "position"], "length of the vector", [layers, positions]);
  const off = (list) => filed(Float64Array.from(list), "layer", "largest difference");
  return {
    forward: norms(forward),
    again: norms(again),
    single: off(single),
    double: off(double),
    tokens: all,
  };
}

export const looks = { rewindstep: "step", pos: "positions" };
export const hovers = true;
export const aside = "pos";
export const follows = ["model", "head"];

export function wish(get) {
  const [, layer] = /^(\d{1,2})\.\d{1,2}$/.exec(get("head") ?? "") ?? [];
  return { model: get("model"), layer: layer > 0 ? layer - 1 : null };
}

export const bounds = ({ layers, positions }) => ({
  rewindstep: { steps: 2 * layers, first: 0 },
  pos: { count: positions },
});
export const units = (run) =>
  t(TEXT.follows, {
    model: t(run.model),
    n: run.positions.toLocaleString("en"),
    layers: counted(run.layers),
  });
export const legend = () => [
  {
    text: t(TEXT.went),
    mark: { shades: ["ink2", "panel", "ink2", "panel", "ink2"], wide: 20, tall: 2 },
  },
  { text: t(TEXT.came), mark: { fill: "out", wide: 20, tall: 4 } },
  { text: "float32", mark: { fill: "cat-2", radius: 99, wide: 10, tall: 10 } },
  { text: "float64", mark: { fill: "cat-1", wide: 9, tall: 9 } },
];
export const clock = (run) => ({
  key: "rewindstep",
  pace: PACE,
  texts: TEXT,
  says: (at) => t(TEXT.at, { i: at, n: 2 * run.layers }),
});

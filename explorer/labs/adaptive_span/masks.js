// How far each head looks, as bars of layers and heads, and the soft mask of one over distance: what it takes away on
// the mean and of the locked character, and, where the span follows the token, the span along the text. A span is
// dragged and seen at once; it is run when the hand rests. The value is made by explorer/labs/adaptive_span/figures/masks.py; exact
// weights of a character come from the addresses that it names.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { headOf } from "../../frontend/lib/selection.js";
import { looksOf } from "../../frontend/lib/exact_rows.js";
import { colour } from "../../frontend/lib/pen.js";
import { ceiling, mark, weight } from "../../frontend/lib/signs.js";

export const TEXT = {
  question: { en: "How far does each head look back?", zh: "每个头往回看多远？" },
  units: { en: "characters back, of S = {span}", zh: "往回的字符数，上限 S = {span}" },
  mask: { en: "Soft mask of head {head}", zh: "头 {head} 的软掩码" },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  mean: { en: "mean {n}", zh: "平均 {n}" },
  meanAll: { en: "mean of all heads {n}: {share} of S", zh: "所有头平均 {n}：S 的 {share}" },
  legendMask: { en: "soft mask", zh: "软掩码" },
  legendTrained: { en: "as trained", zh: "训练所得" },
  legendForced: { en: "forced", zh: "强制设定" },
  legendBefore: { en: "weight before the mask", zh: "掩码之前的权重" },
  legendAfter: { en: "after", zh: "之后" },
  distance: {
    en: "characters back · 0 is the one read last",
    zh: "往回的字符数 · 0 为最近读到的字符",
  },
  scale: { en: "weight, square-root scale", zh: "权重（平方根刻度）" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  looks: { en: "looks back", zh: "往回看" },
  keeps: { en: "keeps {w}", zh: "保留 {w}" },
  span: { en: "span z at each character", zh: "每个字符处的跨度 z" },
  label: { en: "z = {z} · looks {reach} back", zh: "z = {z} · 往回看 {reach}" },
  scope: { en: "Dragging changes", zh: "拖动改变" },
  scopes: { en: "this head|this layer|all heads", zh: "这个头|这一层|所有头" },
  axis: { en: "Distance axis", zh: "距离轴" },
  axes: { en: "linear|log", zh: "线性|对数" },
  restore: { en: "Restore the trained spans", zh: "恢复训练所得的跨度" },
  drag: {
    en: "Drag the round handle: the text is read and written again under the new spans.",
    zh: "拖动圆形手柄：文本会以新的跨度重新读写。",
  },
  slider: { en: "Span z of head {head}", zh: "头 {head} 的跨度 z" },
  sliderLayer: { en: "Span z of all heads of layer {layer}", zh: "第 {layer} 层所有头的跨度 z" },
  sliderAll: { en: "Span z of all heads", zh: "所有头的跨度 z" },
  sliderNow: {
    en: "z = {z}, looks {reach} of {span} characters back",
    zh: "z = {z}，往回看 {span} 个字符中的 {reach} 个",
  },
  cardReach: {
    en: "looks {reach} back: z = {z}, R = {ramp} · {share}",
    zh: "往回看 {reach}：z = {z}，R = {ramp} · {share}",
  },
  cardRange: { en: "z from {low} to {high} in this text", zh: "本文中 z 从 {low} 到 {high}" },
  cardTrained: { en: "as trained: z = {z}", zh: "训练所得：z = {z}" },
  cardKept: { en: "the mask keeps {w} of its weight", zh: "掩码保留其权重的 {w}" },
  cardBack: { en: "{n} back · mask {m}", zh: "往回 {n} · 掩码 {m}" },
  cardMean: { en: "mean weight {before} → {after}", zh: "平均权重 {before} → {after}" },
  cardWeight: { en: "weight {before} → {after}", zh: "权重 {before} → {after}" },
  start: { en: "the start", zh: "开头" },
  none: { en: "No character is locked.", zh: "没有锁定字符。" },
  short: { en: "before the text", zh: "文本之前" },
  columns: {
    en:
      "layer|head|z, characters|looks back, characters|share of S|forced|z as trained|z at least|z at most|weight kept",
    zh: "层|头|z（字符）|往回看（字符）|占 S|强制|训练所得 z|z 最小|z 最大|保留的权重",
  },
  caption: { en: "The span of every head", zh: "每个头的跨度" },
  yes: { en: "yes", zh: "是" },
  no: { en: "no", zh: "否" },
};

const listed = (name) => t(TEXT[name]).split("|");
const letter = (run, at) => mark(run.letters[at]);
const named = (run, at) => (at < 0 ? t(TEXT.start) : `“${letter(run, at)}”·${at}`);
const round = (z) => String(Number(z.toFixed(1)));
const percent = (
  share,
) => (share > 0 && share < 0.005
  ? "<1 %"
  : share < 1 && share >= 0.995
  ? ">99 %"
  : `${Math.round(100 * share)} %`);

// ── numbers ──
/** m_z(x) = clamp((R + z − x) / R, 0, 1). */
export const soft = (z, ramp, x) => Math.max(0, Math.min(1, (ramp + z - x) / ramp));

/** The mean of spans with their ramps, min(S, z + R), as models report it: between whole positions too. */
const meanSpan = (spans, ramp, span) =>
  spans.reduce((sum, z) => sum + Math.min(span, z + ramp), 0) / spans.length;

/** Positions that a head of span z attends to, its ramp included: min(S, ⌈z + R⌉), at least one. */
export const reach = (z, ramp, span) => Math.min(span, Math.max(1, Math.ceil(z + ramp)));

/** Weights by distance under a mask, brought back to their sum, and the share that it leaves. */
export function masked(before, z, ramp) {
  const after = Float32Array.from(before, (w, x) => w * soft(z, ramp, x));
  const [left, whole] = [after, before].map((list) => list.reduce((sum, w) => sum + w, 0));
  return {
    after: left > 0 ? after.map((w) => (w / left) * whole) : after,
    kept: whole > 0 ? left / whole : 1,
  };
}

/**
 * Forced spans (layer · head), NaN where none is, as a link has them: "layer.head.z" from 0, −1 for every one, in one
 * way only.
 */
export function spelled(forced, layers, heads) {
  const rows = upTo(
    layers,
    (l) => Array.from(forced.slice(l * heads, (l + 1) * heads), (z) => Number(z.toFixed(3))),
  );
  const same = (list) => (list.every((z) => z === list[0]) ? list[0] : null);
  const each = rows.map(same);
  const all = same(each);
  const own = (
    row,
    l,
  ) => (each[l] !== null
    ? [[l, -1, each[l]]]
    : row.flatMap((z, h) => (Number.isNaN(z) ? [] : [[l, h, z]])));
  const spans = all !== null ? [[-1, -1, all]] : rows.flatMap(own);
  return spans.map((one) => one.map((part) => String(part).replace(".", "%2E")).join(".")).join(
    ",",
  );
}

/** Where a distance stands on an axis from 0 to 1, and back. */
const AXES = {
  linear: (span) => ({ at: (x) => x / span, of: (u) => u * span }),
  log: (span) => ({
    at: (x) => Math.log1p(x) / Math.log1p(span),
    of: (u) => Math.expm1(u * Math.log1p(span)),
  }),
};

/** Distances to write on an axis, each with room of its own. */
function ticks(kind, span, wide, room) {
  const { at } = AXES[kind](span);
  const found = [0];
  const steps = span % 8 ? [10, 20, 50, 100, 200, 500, 1000, 2000] : [span / 8, span / 4, span / 2];
  const step = steps.find((one) => wide * at(one) >= room) ?? span;
  for (let x = kind === "log" ? 1 : step; x < span; x = kind === "log" ? 2 * x : x + step) {
    if (wide * (at(x) - at(found.at(-1))) >= room * 0.99 && wide * (1 - at(x)) >= room * 0.8) {
      found.push(x);
    }
  }
  return [...found, span];
}

/** Where a scale of weights ends. */
const scaleOf = ({ before, after }) =>
  Math.min(1, ceiling(Math.max(...before, ...after), [1, 2, 4, 8, 10]));

// ── a run ──
export function read(value, { again }) {
  if (!value.heads) return null;
  const { z, forced, learned, before, after } = value;
  const letters = Array.from(value.text);
  const count = value.heads[0] * value.heads[1];
  const size = z.shape[2];
  const series = (i) => z.data.subarray(i * size, (i + 1) * size);
  const of = (make) => Float32Array.from({ length: count }, (_, i) => make(series(i), i));
  const far = before.shape[2];
  const part = (array, i) => array.data.subarray(i * far, (i + 1) * far);
  const mean = of((own) => own.reduce((sum, one) => sum + one, 0) / size);
  const run = {
    ...value,
    letters,
    count,
    series,
    length: letters.length,
    dynamic: size > 1,
    z: mean,
    all: z,
    weights: [1, 2].map(() => looksOf(again, value.weights)), // before the mask, and after it
    lows: size > 1 && of((own) => Math.min(...own)),
    highs: size > 1 && of((own) => Math.max(...own)),
    forcing: of((own, i) => (forced.data[i] ? own[0] : Number.NaN)), // NaN where nothing is forced
    // NaN where it is not known
    learned: of((
      _,
      i,
    ) => (!forced.data[i] ? mean[i] : learned?.data[i] >= 0 ? learned.data[i] : Number.NaN)),
    // mean weights by distance
    profile: (i) => ({ before: part(before, i), after: part(after, i) }),
  };
  return { ...run, row: rowOf(run) };
}

/** (layer, head, position) -> {before, after} weights of a character by distance; null while they are not here. */
const rowOf = ({ looks, length, span, weights }) => (layer, head, position) => {
  const [before, after] = [looks.before, looks.after]
    .map((look, i) => weights[i].of(look, layer, head, position, length, true));
  const back = (row) =>
    Float32Array.from({ length: Math.min(span, position + 1) }, (_, x) => row[position - x]);
  return before && after && { before: back(before), after: back(after) };
};

const handle = (look) => `z ${look.head} ${look.masksscope}`;

/** Spans forced by the handles that were moved, NaN as trained; each is named by its head and by what it changes. */
function forcedBy({ heads, forcing }, draft) {
  const all = Float32Array.from(forcing);
  for (const [name, z] of Object.entries(draft)) {
    const [, head, scope] = name.split(" ");
    const [layer, own] = headOf(head);
    for (let i = 0; i < all.length; i += 1) {
      const mine = scope === "all" || Math.floor(i / heads[1]) + 1 === layer;
      if (mine && (scope !== "head" || (i % heads[1]) + 1 === own)) all[i] = z;
    }
  }
  return all;
}

/**
 * What is drawn of a run: the spans of all heads as they are wished for, and what the head in view does with the
 * character in view.
 */
function seen(run, look) {
  const { head, pos } = { ...look, ...look.over };
  const position = [pos].flat().at(-1) ?? null;
  const [layer, own] = headOf(head);
  const i = (layer - 1) * run.heads[1] + own - 1;
  const forcing = forcedBy(run, look.draft ?? {});
  const fresh = (n) => Object.is(forcing[n], run.forcing[n]); // the run's own span, not a wished one
  const spans = Float32Array.from(run.z, (z, n) => (fresh(n) ? z : forcing[n]));
  const follows = run.dynamic && fresh(i) && Number.isNaN(forcing[i]);
  const series = follows
    ? run.series(i)
    : new Float32Array(run.dynamic ? run.length : 0).fill(spans[i]);
  const z = follows && position !== null ? series[position] : spans[i];
  const found = run.row(layer, own, position);
  const under = found && masked(found.before, z, run.ramp);
  const profile = run.profile(i);
  const left = (n) => {
    if (run.dynamic && Number.isNaN(forcing[n])) return null;
    return masked(run.profile(n).before.map((w, x) => w * (run.length - x)), spans[n], run.ramp)
      .kept;
  };
  const forced = Array.from(forcing, (one) => !Number.isNaN(one));
  return {
    i,
    layer,
    own,
    position,
    z,
    series,
    follows,
    spans,
    left,
    forced,
    would: Object.keys(look.draft ?? {}).length > 0,
    trained: forced.map((yes, n) => (yes && !Number.isNaN(run.learned[n]) ? run.learned[n] : null)),
    lows: (n) => run.dynamic && !forced[n] && run.lows[n],
    far: (n) => reach(spans[n], run.ramp, run.span),
    row: found &&
      { before: found.before, after: fresh(i) ? found.after : under.after, kept: under.kept },
    profile: fresh(i)
      ? profile
      : { before: profile.before, after: masked(profile.before, z, run.ramp).after },
  };
}

// ── the figure ──
export function scene(run, look, pen) {
  const { big, width, tall } = pen;
  const now = seen(run, look);
  const stacked = width < 680 && !big;
  const wide = stacked ? width : Math.round(width * (big ? 0.36 : 0.37));
  const from = stacked ? 0 : wide + (big ? 40 : 28);
  const high = bars(run, look, pen, now, wide);
  const end = board(run, look, pen, now, {
    from,
    to: width - (big ? 150 : 0),
    top: stacked ? high + 16 : 0,
    height: tall || (stacked ? 400 : high),
  });
  // other views point at a character
  for (let p = 0; p < run.length; p += 1) {
    pen.hit({ x0: -1, x1: -1, y0: -1, y1: -1, look: { pos: p }, still: true });
  }
  pen.size(width, Math.max(high, end));
}

/** An axis of distances: px of a distance, and back. */
function axisOf(run, look, from, to) {
  const { at, of } = AXES[look.masksaxis](run.span);
  const x = (d) => from + (to - from) * at(Math.max(0, Math.min(run.span, d)));
  return { x, back: (px) => Math.max(0, Math.min(run.span, of((px - from) / (to - from)))) };
}

function bars(run, look, pen, now, width) {
  const { big, tall, small: size } = pen;
  const [layers, heads] = run.heads;
  const { span, ramp } = run;
  const [line, apart] = big ? [28, 6] : [18, 6]; // of a layer's name; between layers
  const fair = big
    ? (tall - 2 * size - 24 - layers * (line + apart)) / run.count
    : run.dynamic
    ? 22
    : 15;
  const pitch = Math.max(7, Math.min(fair, big ? 44 : 600 / run.count));
  const thick = Math.max(3, Math.min(pitch - 3, big ? 28 : run.dynamic ? 15 : 13));
  const [left, right] = [size * 2.7, width - size * 3.4];
  const { x, back } = axisOf(run, look, left, right);
  const bottom = 2 + layers * (line + apart) + run.count * pitch;
  const marks = ticks(look.masksaxis, span, right - left, size * 3);
  for (const d of marks) {
    pen.line(x(d), 2, x(d), bottom, { line: "line" });
    pen.text(x(d), bottom + size, d.toLocaleString("en"), {
      size,
      align: "center",
      colour: "ink3",
    });
  }
  const numbers = []; // they stand before the lines of the means
  for (let l = 0; l < layers; l += 1) {
    const top = 2 + l * (line + apart + heads * pitch);
    const own = upTo(heads, (h) => now.far(l * heads + h));
    const mean = meanSpan(now.spans.slice(l * heads, (l + 1) * heads), ramp, span);
    pen.text(0, top + line / 2, t(TEXT.layer, { n: l + 1 }), { size, weight: 650 });
    pen.text(width, top + line / 2, t(TEXT.mean, { n: Math.round(mean) }), {
      size,
      align: "right",
    });
    for (let h = 0; h < heads; h += 1) {
      const i = l * heads + h;
      const middle = top + line + (h + 0.5) * pitch;
      const y = Math.round(middle - thick / 2);
      const box = (to) => ({ x0: left, x1: Math.max(left + 1, x(to)), y0: y, y1: y + thick });
      const chosen = i === now.i;
      const z = now.spans[i];
      pen.rect(box(span), { fill: "sunk", radius: 2 });
      if (now.forced[i]) {
        pen.rect(box(own[h]), { fill: "panel", line: "accent", hatch: "accent" });
        if (now.trained[i] !== null) {
          for (
            const style of [{ line: "panel", width: 4 }, { line: "ink", width: 1.5, dash: [4, 3] }]
          ) pen.rect(box(reach(now.trained[i], ramp, span)), style);
        }
      } else {
        const [full, fade] = [Math.round(x(z)), Math.round(x(z + ramp))]; // whole to z, then fading over the ramp
        if (full > left) pen.rect({ ...box(z), x1: full }, { fill: "accent" });
        const slices = Math.max(1, Math.min(64, Math.ceil((fade - full) / 2)));
        const data = Float32Array.from(
          { length: slices },
          (_, n) => soft(z, ramp, back(full + ((n + 0.5) * (fade - full)) / slices)),
        );
        if (fade > full) {
          pen.cells({ ...box(z), x0: full, x1: fade }, {
            data,
            rows: 1,
            columns: slices,
            scale: ["sunk", "accent"],
          });
        }
      }
      const ranges = now.lows(i) !== false
        ? [run.lows[i], run.highs[i]].map((one) => x(reach(one, ramp, span)))
        : null;
      if (ranges) {
        const d = `M${ranges[0]},${middle}H${ranges[1]}M${ranges[0]},${middle - 3}v6M${ranges[1]},${
          middle - 3
        }v6`;
        for (const style of [{ line: "panel", width: 4 }, { line: "ink", width: 1.5 }]) {
          pen.path(d, style);
        }
      }
      if (chosen) {
        pen.rect({ x0: left - 3, x1: right + 3, y0: y - 3, y1: y + thick + 3 }, {
          line: "query",
          width: 2.5,
          radius: 4,
        });
      }
      if (pitch >= size || chosen) {
        const style = { size, weight: chosen ? 650 : 400, colour: chosen ? "query" : "ink3" };
        pen.text(left - 7, middle, `${l + 1}·${h + 1}`, { ...style, align: "right" });
        const ends = [
          x(own[h]),
          ranges?.[1] ?? 0,
          now.trained[i] === null ? 0 : x(reach(now.trained[i], ramp, span)),
        ];
        numbers.push([Math.max(...ends) + 6, middle, String(own[h]), {
          ...style,
          weight: chosen ? 650 : 500,
          colour: chosen ? "query" : "ink",
          halo: "sunk",
        }]);
      }
      const where = { x0: 0, x1: width, y0: middle - pitch / 2, y1: middle + pitch / 2 };
      pen.hit({
        ...where,
        still: true,
        look: { head: `${l + 1}.${h + 1}` },
        card: () => headLines(run, now, i),
      });
    }
    const ends = [x(mean), top + line - 4, x(mean), top + line + heads * pitch];
    pen.line(...ends, { line: "panel", width: big ? 5 : 3 });
    pen.line(...ends, { line: "ink2", width: big ? 2 : 1.2, dash: [3, 2] });
  }
  pen.line(left, bottom, right, bottom, { line: "control" });
  const all = meanSpan(now.spans, ramp, span);
  pen.text(
    left,
    bottom + 2 * size + 8,
    t(TEXT.meanAll, { n: Math.round(all), share: percent(all / span) }),
    { size, weight: 650 },
  );
  for (const one of numbers) pen.text(...one);
  return bottom + 2.6 * size + 8;
}

function headLines(run, now, i) {
  const [far, left] = [now.far(i), now.left(i)];
  const of = (list, n = i) => round(list[n]);
  return [
    `${Math.floor(i / run.heads[1]) + 1}·${(i % run.heads[1]) + 1}`,
    t(TEXT.cardReach, {
      reach: far,
      z: of(now.spans),
      ramp: run.ramp,
      share: percent(far / run.span),
    }),
    ...(now.lows(i) === false
      ? []
      : [t(TEXT.cardRange, { low: of(run.lows), high: of(run.highs) })]),
    ...(now.trained[i] === null ? [] : [t(TEXT.cardTrained, { z: of(now.trained) })]),
    ...(left === null ? [] : [t(TEXT.cardKept, { w: left.toFixed(2) })]),
  ];
}

/** The steps of weights by distance, from a base line; of several that share a pixel the largest shows. */
function steps(x, weights, base, tall, most) {
  let d = `M${x(0)},${base}`;
  for (let from = 0, to = 1; from < weights.length; from = to, to += 1) {
    let top = weights[from];
    while (to < weights.length && x(to + 1) - x(from) < 1) top = Math.max(top, weights[to++]);
    d += `V${(base - tall * Math.sqrt(Math.max(0, Math.min(1, top / most)))).toFixed(1)}H${
      x(to).toFixed(1)
    }`;
  }
  return `${d}V${base}Z`;
}

/**
 * The soft mask and the mean weights, the look of one character in two strips under it, and the span along the text.
 * Returns its lower end.
 */
function board(run, look, pen, now, { from, to, top: above, height }) {
  const { big, small: size } = pen;
  const { span, ramp } = run;
  const { z, profile, position } = now;
  const log = look.masksaxis === "log";
  const [left, right] = [from + (big ? 76 : 48), to - (big ? 84 : 48)];
  const strip = big ? (height > 560 ? 46 : 30) : 34;
  const gap = log ? size + 6 : 4; // between the strips: characters stand there where they have room
  const under = size + 6 + 2 * strip + gap;
  const along = run.dynamic ? (big ? 160 : 128) : 0;
  // the spans along the text take the place of what one character looks at
  const short = big && run.dynamic && height < 480;
  const [title, formula] = [{ size: big ? 20 : 14, weight: 650, colour: "ink" }, {
    size,
    face: "title",
    colour: "ink3",
  }];
  const [heading, equation] = [
    t(TEXT.mask, { head: `${now.layer}·${now.own}` }),
    "m(x) = clamp((R + z − x) / R, 0, 1)",
  ];
  const after = from + pen.measure(heading, title) + 12; // of the name, where its equation stands if there is room
  const second = after + pen.measure(equation, formula) > to ? size + 8 : 0;
  const { x, back } = axisOf(run, look, left, right);
  const [zx, end] = [x(Math.min(z, span)), x(z + ramp)];
  const label = t(TEXT.label, { z: round(z), reach: reach(z, ramp, span) });
  const told = { size, weight: 650, colour: "ink" };
  const wide = pen.measure(label, told);
  // where its two numbers have room beside the ramp
  const [beyond, before] = [right - end > wide + 8, zx - left > wide + 18];
  const lifted = beyond || before ? 0 : size;
  const top = above + (big ? 104 : 66) + second + lifted;
  const tall = Math.max(
    short ? 56 : big ? 90 : 130,
    Math.min(big ? 640 : 230, height - (top - above) - 2 * size - (short ? 0 : 32 + under) - along),
  );
  const bottom = top + tall;
  const y = (m) => bottom - tall * m;
  const write = (px, py, text, style = {}) =>
    pen.text(px, py, text, { size, colour: "ink3", ...style });
  const name = `${now.layer}·${now.own}`;

  write(from, above + size * 0.8, heading, title);
  write(second ? from : after, above + size * 0.8 + second, equation, formula);
  for (const m of [0, 0.5, 1]) {
    pen.line(left, y(m), right, y(m), { line: m ? "line" : "control" });
    write(left - 8, y(m), String(m), { align: "right", colour: m ? "accent" : "ink3" });
  }
  for (const d of ticks(look.masksaxis, span, right - left, size * 3.2)) {
    pen.line(x(d), bottom, x(d), bottom + 4, { line: "control" });
    write(x(d), bottom + size + 2, d.toLocaleString("en"), { align: "center" });
  }
  if (!short) {
    write((left + right) / 2, bottom + 2 * size + 6, t(TEXT.distance), {
      align: "center",
      colour: "ink2",
    });
  }
  // farther than this text goes
  if (run.length < span) {
    pen.rect({ x0: x(run.length), x1: right, y0: top, y1: bottom }, { fill: "sunk" });
  }
  const most = scaleOf(profile);
  const alpha = now.would ? 0.5 : 1;
  pen.path(steps(x, profile.before, bottom, tall, most), { fill: "control", alpha: 0.45 * alpha });
  pen.path(steps(x, profile.after, bottom, tall, most), { fill: "key", alpha: 0.8 * alpha });
  for (const part of [0.25, 1]) {
    write(right + size, y(Math.sqrt(part)), String(Number((most * part).toPrecision(3))), {
      colour: "key",
    });
  }
  write(to, top - (big ? 60 : 34) - lifted, t(TEXT.scale), { align: "right" });
  // The mask, where it was as trained, and its two numbers.
  const shape = (of) =>
    [
      0,
      ...Array.from({ length: 25 }, (_, n) =>
        Math.min(span, of) + ((Math.min(span, of + ramp) - Math.min(span, of)) * n) / 24),
    ]
      .map((d, n) =>
        `${n ? "L" : "M"}${x(d).toFixed(1)},${y(soft(of, ramp, d)).toFixed(1)}`
      ).join(
        "",
      );
  pen.path(`${shape(z)}V${bottom}H${left}Z`, { fill: "accent", alpha: 0.1 });
  if (now.trained[now.i] !== null) {
    pen.path(shape(now.trained[now.i]), { line: "ink2", width: big ? 2.5 : 1.5, dash: true });
  }
  pen.path(`${shape(z)}H${right}`, { line: "accent", width: big ? 4 : 2.5 });
  pen.line(zx, top, zx, bottom, { line: "accent", width: big ? 2 : 1, dash: [2, 3] });
  const rail = top - (big ? 24 : 15);
  if (end - zx > 6) {
    pen.path(`M${zx},${rail + 4}V${rail}H${end}V${rail + 4}`, {
      line: "accent",
      width: big ? 2 : 1.2,
    });
  }
  const at = beyond
    ? end + 8
    : before
    ? zx - 14 - wide
    : Math.max(left, Math.min(right - wide, zx - wide / 2));
  write(at, rail - lifted, label, told);
  if (end - zx > size && (beyond || before)) {
    write((zx + end) / 2, rail - size * 0.7, "R", { align: "center", colour: "accent" });
  }

  // What the character in view looks at: before the mask upwards, after it downwards.
  const line = short ? bottom + size + 16 : bottom + 3 * size + 20;
  const [upper, lower] = [line + size * 0.5 + 6 + strip, line + size * 0.5 + 6 + strip + gap];
  if (position === null && !short) write(left, line, t(TEXT.none));
  else if (!short) {
    const who = named(run, position);
    const whole = Math.min(span, position + 1);
    const far = x(Math.min(reach(z, ramp, span), whole));
    write(left, line, who, { weight: 650, colour: "query" });
    const [begun, kept] = [
      pen.measure(`${who} `, { size, weight: 650 }),
      now.row ? t(TEXT.keeps, { w: weight(now.row.kept) }) : "",
    ];
    if (
      begun + pen.measure(`${t(TEXT.looks)} `, { size }) + pen.measure(kept, told) < right - left
    ) {
      write(left + begun, line, t(TEXT.looks), { colour: "ink2" });
    }
    for (const [x1, y0] of [[x(whole), upper - strip], [far, lower]]) {
      pen.rect({ x0: left, x1, y0, y1: y0 + strip }, { fill: "sunk", alpha: 0.55 });
    }
    write(left - 8, upper - strip / 2, t(TEXT.before), { align: "right" });
    write(left - 8, lower + strip / 2, t(TEXT.after), { align: "right", colour: "key" });
    if (whole < span && right - x(whole) > size * 7) {
      write(x(whole) + 8, upper + gap / 2, t(TEXT.short));
    }
    if (now.row) {
      const most = scaleOf(now.row);
      pen.path(steps(x, now.row.before, upper, strip, most), { fill: "control" });
      pen.path(steps(x, now.row.after, lower, -strip, most), { fill: "key" });
      for (const py of [upper - strip + size / 2, lower + strip - size / 2]) {
        write(right + size, py, String(most));
      }
      write(right, line, kept, { ...told, align: "right" });
      pen.line(far, upper - strip, far, lower + strip, {
        line: "accent",
        width: big ? 2 : 1,
        dash: [2, 3],
      });
      for (let d = 0; log && d < whole && x(d + 1) - x(d) >= size; d += 1) {
        write(
          (x(d) + x(d + 1)) / 2,
          (upper + lower) / 2,
          position <= d ? "▸" : letter(run, position - 1 - d),
          { align: "center", colour: "ink", face: "mono" },
        );
      }
    }
  }
  pen.hit({
    x0: left,
    x1: right,
    y0: top,
    y1: lower + strip,
    at(px) {
      const d = Math.min(span - 1, Math.floor(back(px)));
      const key = position === null ? -1 : position - 1 - d;
      const place = { x0: x(d), x1: Math.max(x(d) + 1, x(d + 1)), y0: top, y1: lower + strip };
      return {
        ...place,
        quiet: true,
        ...(key >= 0 ? { look: { pos: key } } : {}),
        card: () => distanceLines(run, now, d, key),
      };
    },
  });
  const grip = pen.narrow ? 22 : 18;
  pen.handle({
    x0: zx - grip,
    x1: zx + grip,
    y0: top - grip,
    y1: top + grip,
    name: handle(look),
    value: Math.round(z),
    most: span,
    disabled: run.state === "stale",
    label: t(TEXT[{ head: "slider", layer: "sliderLayer", all: "sliderAll" }[look.masksscope]], {
      head: name,
      layer: now.layer,
    }),
    says: t(TEXT.sliderNow, {
      z: round(Math.round(z)),
      reach: reach(Math.round(z), ramp, span),
      span,
    }),
    of: (px) => back(px),
    set: (value) => ({
      spans: spelled(forcedBy(run, { ...look.draft, [handle(look)]: value }), ...run.heads),
    }),
  });
  return run.dynamic
    ? alongText(run, look, pen, now, {
      left,
      right,
      top: short ? line : lower + strip + 14,
      size,
      write,
      short,
    })
    : lower + strip + 6;
}

function distanceLines(run, now, d, key) {
  const { profile, row, position } = now;
  const pair = (list) => ({ before: weight(list.before[d]), after: weight(list.after[d]) });
  return [
    t(TEXT.cardBack, { n: d, m: soft(now.z, run.ramp, d).toFixed(2) }),
    ...(position !== null && d <= position ? [named(run, key)] : []),
    ...(d < profile.before.length ? [t(TEXT.cardMean, pair(profile))] : []),
    ...(row && d < row.before.length ? [t(TEXT.cardWeight, pair(row))] : []),
  ];
}

/** The span at each character: a window of the text with its spans under it, and the whole text. */
function alongText(run, look, pen, now, { left, right, top, size, write, short }) {
  const { big } = pen;
  const { series, position } = now;
  const wide = right - left;
  const count = Math.max(8, Math.min(run.length, Math.floor(wide / (big ? 20 : 12))));
  // It turns over like pages, about the locked character, not the hovered one: what is under the pointer stays there.
  const stride = Math.max(1, Math.floor(0.6 * count));
  const page = (here) =>
    Math.max(
      0,
      Math.min(run.length - count, Math.floor(here / stride) * stride - Math.floor(0.3 * count)),
    );
  const own = page([look.pos].flat().at(-1) ?? run.given);
  const first = position === null || (position >= own && position < own + count)
    ? own
    : page(position);
  const cell = wide / count;
  const [letters, tall, strip] = [top + size * 1.9 + 8, big ? 52 : 44, big ? 30 : 24];
  const base = letters + size + tall;
  const high = (z, room) => (room * z) / run.span;
  write(left, top + size * 0.6, t(TEXT.span), { colour: "ink2" });
  for (const [py, z] of [[base, 0], [base - tall, run.span]]) {
    pen.line(left, py, right, py, { line: "line" });
    write(left - 8, py, String(z), { align: "right" });
  }
  let d = "";
  for (let n = 0; n < count; n += 1) {
    const i = first + n;
    const x = left + n * cell;
    d += `${n ? "V" : `M${x},`}${(base - high(series[i], tall)).toFixed(1)}H${
      (x + cell).toFixed(1)
    }`;
    if (i === position) {
      pen.rect(
        { x0: x - 1, x1: x + cell + 1, y0: letters - size * 0.9, y1: letters + size * 0.8 },
        { fill: "query-soft", line: "query", width: big ? 2.5 : 1.5, radius: 3 },
      );
      pen.rect({ x0: x, x1: x + cell, y0: base - tall, y1: base }, { fill: "query", alpha: 0.16 });
    }
    write(x + cell / 2, letters, letter(run, i), {
      align: "center",
      face: "mono",
      colour: i === position ? "query" : i < run.given ? "ink" : "out",
    });
  }
  pen.path(`${d}V${base}H${left}Z`, { fill: "accent", alpha: 0.22 });
  pen.path(d, { line: "accent", width: big ? 2.5 : 1.5 });
  const box = (i, place) => ({
    ...place,
    still: true,
    look: { pos: i },
    card: () => [named(run, i), `z = ${round(series[i])}`],
  });
  const within = (i) => Math.max(0, Math.min(run.length - 1, Math.floor(i)));
  pen.hit({
    x0: left,
    x1: right,
    y0: top,
    y1: base + 4,
    at: (px) => box(within(first + (px - left) / cell), { x0: px, x1: px, y0: top, y1: base }),
  });
  if (short) return base + 6;
  const [over, low] = [base + 8, base + 8 + strip];
  const x = (i) => left + (wide * i) / run.length;
  const lane = Math.max(1, Math.floor(run.length / wide));
  let all = `M${left},${low}`;
  for (let i = 0; i < run.length; i += lane) {
    all += `V${(low - high(Math.max(...series.subarray(i, i + lane)), strip)).toFixed(1)}` +
      `H${x(Math.min(run.length, i + lane)).toFixed(1)}`;
  }
  pen.rect({ x0: left, x1: right, y0: over, y1: low }, { fill: "sunk" });
  pen.path(`${all}V${low}Z`, { fill: "accent", alpha: 0.55 });
  pen.rect({
    x0: x(first),
    x1: Math.max(x(first) + 3, x(first + count)),
    y0: over - 1,
    y1: low + 1,
  }, { line: "ink2", width: 1.5, radius: 2 });
  if (position !== null) {
    pen.line(x(position + 0.5), over - 3, x(position + 0.5), low + 3, { line: "query", width: 2 });
  }
  pen.hit({
    x0: left,
    x1: right,
    y0: base + 4,
    y1: low + 3,
    at: (px) =>
      box(within(((px - left) / wide) * run.length), { x0: px, x1: px, y0: over, y1: low }),
  });
  return low + 8;
}

export function legend(run, look) {
  const now = seen(run, look);
  const shades = upTo(9, (n) => colour("accent", 1 - n / 9));
  return [
    { text: t(TEXT.legendMask), mark: { shades, wide: 18 } },
    ...(now.forced.includes(true)
      ? [{ text: t(TEXT.legendForced), mark: { line: "accent", hatch: "accent", wide: 18 } }, {
        text: t(TEXT.legendTrained),
        mark: { line: "ink2", width: 1.5, dash: [3, 2], wide: 18 },
      }]
      : []),
    { text: t(TEXT.legendBefore), mark: { fill: colour("control", 0.6) } },
    { text: t(TEXT.legendAfter), mark: { fill: "key" } },
  ];
}

export function below(run, look, _lock, ask) {
  const now = seen(run, look);
  const trouble = run.weights.map((rows) => rows.trouble()).find(Boolean);
  return [
    ask && now.forced.includes(true) &&
    el("button", {
      type: "button",
      class: "tfe-button small tfe-controls",
      text: t(TEXT.restore),
      onclick: () => ask({ spans: "" }),
    }),
    [ask && t(TEXT.drag), trouble].filter(Boolean).join(" "),
  ];
}

// ── in words and numbers ──
const SAY = {
  mean: {
    en: "Head {head} looks {far} back on average (mean z = {z}, ramp {ramp}): {share} of {span}",
    zh: "头 {head} 平均往回看 {far} 个字符（z 平均 {z}，斜坡 {ramp}）：{span} 的 {share}",
  },
  would: {
    en: "Head {head} would look {far} back (z = {z}, ramp {ramp}): {share} of {span}",
    zh: "头 {head} 将往回看 {far} 个字符（z = {z}，斜坡 {ramp}）：{span} 的 {share}",
  },
  looks: {
    en: "Head {head} looks {far} back (z = {z}, ramp {ramp}): {share} of {span}",
    zh: "头 {head} 往回看 {far} 个字符（z = {z}，斜坡 {ramp}）：{span} 的 {share}",
  },
  end: { en: ".", zh: "。" },
  wouldKeep: {
    en: "; of the weights of the last run the mask would keep {left}.",
    zh: "；按上一次运行的权重，掩码会保留其中的 {left}。",
  },
  keeps: {
    en: "; on this text the mask keeps {left} of its weight.",
    zh: "；在这段文本上掩码保留其权重的 {left}。",
  },
  at: { en: " At {q}", zh: "在 {q}" },
  varies: {
    en: " z is {here}, between {low} and {high} in this text",
    zh: " 处 z 为 {here}，本文中介于 {low} 与 {high} 之间",
  },
  there: { en: "; there the mask keeps {kept}.", zh: "；那里掩码保留 {kept}。" },
  gets: {
    en: " it keeps {kept}; most goes to {k}, {best} back: {change}.",
    zh: " 处保留 {kept}，所得最多的是 {k}（往回 {best}）：{change}。",
  },
  same: { en: "{w}, with the mask or without", zh: "{w}，有无掩码都一样" },
};

export function sentence(run, look) {
  const now = seen(run, look);
  const { i, row, position, would } = now;
  const [far, left] = [now.far(i), now.left(i)];
  const range = now.follows && position !== null;
  const told = {
    head: `${now.layer}·${now.own}`,
    far,
    z: round(now.spans[i]),
    ramp: run.ramp,
    span: run.span,
    share: percent(far / run.span),
    left: left === null ? "" : weight(left),
  };
  const said = [
    range ? "mean" : would ? "would" : "looks",
    left === null ? "end" : would ? "wouldKeep" : "keeps",
  ];
  if (position !== null && (range || row)) {
    const [here, low, high] = range ? [now.z, run.lows[i], run.highs[i]].map(round) : [];
    Object.assign(told, { q: { role: "query", text: named(run, position) }, here, low, high });
    if (row) {
      const best = row.after.indexOf(Math.max(...row.after));
      const [plain, w] = [weight(row.before[best]), weight(row.after[best])];
      Object.assign(told, {
        kept: weight(row.kept),
        best,
        k: { role: "key", text: named(run, position - 1 - best) },
        change: plain !== w ? `${plain} → ${w}` : t(SAY.same, { w }),
      });
    }
    said.push("at", ...(range ? ["varies", row ? "there" : "end"] : ["gets"]));
  }
  return said.flatMap((key) => parts(SAY[key], told));
}

export function table(run, look) {
  const now = seen(run, look);
  const exact = (value) => Number(value.toFixed(4));
  const rows = Array.from(now.spans, (z, i) => {
    const [far, left, follows] = [now.far(i), now.left(i), now.lows(i) !== false];
    return [
      Math.floor(i / run.heads[1]) + 1,
      (i % run.heads[1]) + 1,
      exact(z),
      far,
      exact(far / run.span),
      t(now.forced[i] ? TEXT.yes : TEXT.no),
      now.trained[i] === null ? null : exact(now.trained[i]),
      follows ? exact(run.lows[i]) : null,
      follows ? exact(run.highs[i]) : null,
      left === null ? null : exact(left),
    ];
  });
  return { caption: t(TEXT.caption), columns: listed("columns"), rows, here: now.i };
}

export function arrays(run, look) {
  const now = seen(run, look);
  const [each, far, sides] = [["layer", "head"], "distance, characters", ["before", "after"]];
  const means = sides.filter((name) => run[name]).map((
    name,
  ) => [
    `mean_weight_by_distance_${name}`,
    filed(run[name].data, [...each, far], "weight", run[name].shape),
  ]);
  const own = now.row
    ? sides.map((name) => [`weight_by_distance_${name}`, filed(now.row[name], far, "weight")])
    : [];
  return {
    z: filed(
      run.all.data,
      [...each, run.dynamic ? "position" : "one for all"],
      "characters",
      run.all.shape,
    ),
    forced: filed(Uint8Array.from(now.forced, Number), each, undefined, run.heads),
    z_trained: filed(run.learned, each, "characters", run.heads),
    span_and_ramp: { shape: [2], data: [run.span, run.ramp], unit: "characters" },
    text: [run.text],
    looked_at: [
      `${run.variant}, layer ${now.layer}, head ${now.own}, position ${now.position ?? "none"}`,
    ],
    ...Object.fromEntries([...means, ...own]),
  };
}

export const looks = { head: "head", pos: "positions", masksaxis: "choice", masksscope: "choice" };
export const hovers = true;
export const resets = ["head", "pos", "masksaxis"];
export const bounds = ({ heads: [layers, heads], length, pick }) => ({
  head: { layers, heads, pick: pick?.head },
  pos: { count: length, pick: pick?.pos ?? length - 1 },
  masksaxis: { names: ["linear", "log"] },
  masksscope: { names: ["head", "layer", "all"] },
});
export const units = (run) => t(TEXT.units, { span: run.span.toLocaleString("en") });
export const choices = () => {
  const options = (names, keys) => keys.map((value, n) => ({ value, label: listed(names)[n] }));
  return [
    {
      key: "masksscope",
      label: t(TEXT.scope),
      shown: true,
      options: options("scopes", ["head", "layer", "all"]),
    },
    { key: "masksaxis", label: t(TEXT.axis), options: options("axes", ["linear", "log"]) },
  ];
};
export const waits = (run, look) => {
  const now = seen(run, look);
  return run.looks.before !== null && now.position !== null && !now.row &&
    !run.weights.some((rows) => rows.trouble());
};
export const same = (was, run) => was.text.slice(0, was.given) === run.text.slice(0, run.given);
export const keeps = (run) => ({
  weights: Object.assign({}, ...run.weights.map((rows) => rows.held())),
});

// How far each head looks, as bars of layers and heads, and the soft mask of one over distance:
// what it takes away on the mean and of the locked character, and, where the span follows the
// token, the span along the text. A span is dragged and seen at once; it is run when the hand
// rests. The value is made by explorer/labs/adaptive_span/figures/masks.py; exact weights of a
// character come from the addresses that it names.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { headOf } from "../../frontend/lib/selection.js";
import { looksOf } from "../../frontend/lib/exact_rows.js";
import { colour } from "../../frontend/lib/pen.js";
import { faint, Sheet, ticksAt } from "../../frontend/lib/sheet.js";
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
    en: "layer|head|z, characters|looks back, characters|share of S|forced|z as trained|z at " +
      "least|z at most|weight kept",
    zh: "层|头|z（字符）|往回看（字符）|占 S|强制|训练所得 z|z 最小|z 最大|保留的权重",
  },
  caption: { en: "The span of every head", zh: "每个头的跨度" },
  yes: { en: "yes", zh: "是" },
  no: { en: "no", zh: "否" },
};

const SHADE = 2.5; // px of a shade of a bar that fades out
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

/**
 * The mean of spans with their ramps, min(S, z + R), as models report it: between whole positions
 * too.
 */
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
 * Forced spans (layer · head), NaN where none is, as a link has them: "layer.head.z" from 0, −1 for
 * every one, in one way only.
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

/** Where a distance stands on an axis, and back. */
const AXES = {
  linear: { at: (x) => x, of: (u) => u },
  log: { at: Math.log1p, of: Math.expm1 },
};
const atOf = (look) => AXES[look.masksaxis].at;

/** Distances to write on an axis, each with room of its own. */
function ticks(kind, span, wide, room) {
  const at = (x) => AXES[kind].at(x) / AXES[kind].at(span);
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

/** An axis of distances over so many px. */
function distances({ span }, look, pen, wide) {
  const marks = ticks(look.masksaxis, span, wide, pen.small * 3);
  const range = [0, atOf(look)(span)];
  const texts = marks.map((d) => d.toLocaleString("en"));
  return { range, ...ticksAt(marks.map(atOf(look)), texts, pen.type(pen.small)) };
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

/**
 * (layer, head, position) -> {before, after} weights of a character by distance; null while they
 * are not here.
 */
const rowOf = ({ looks, length, span, weights }) => (layer, head, position) => {
  const [before, after] = [looks.before, looks.after]
    .map((look, i) => weights[i].of(look, layer, head, position, length, true));
  const back = (row) =>
    Float32Array.from({ length: Math.min(span, position + 1) }, (_, x) => row[position - x]);
  return before && after && { before: back(before), after: back(after) };
};

const handle = (look) => `z ${look.head} ${look.masksscope}`;

/**
 * Spans forced by the handles that were moved, NaN as trained; each is named by its head and by
 * what it changes.
 */
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
 * What is drawn of a run: the spans of all heads as they are wished for, and what the head in view
 * does with the character in view.
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
  const bars = drawBars(run, look, pen, now, wide);
  const head = drawHead(run, look, pen, now, {
    from,
    to: width - (big ? 150 : 0),
    top: stacked ? bars + 16 : 0,
    height: tall || (stacked ? 400 : bars),
  });
  // other views point at a character
  const nowhere = { x0: -1, x1: -1, y0: -1, y1: -1, still: true };
  pen.hit({ ...nowhere, of: (pos) => pos < run.length && { ...nowhere, look: { pos } } });
  pen.size(width, Math.max(bars, head));
}

/**
 * A soft mask as bars over each other in so many shades, the faintest first: [end, share of the
 * colour].
 */
const fading = (z, ramp, span, shades) => [
  ...upTo(shades, (n) => [Math.min(span, z + (ramp * (shades - n)) / shades), n / shades]),
  ...(z > 0 ? [[Math.min(span, z), 1]] : []),
];

/** A trace of bars. marker: its colours */
const barOf = (width, name, y, x, marker) => ({
  ...{ type: "bar", orientation: "h", name, x, y, width },
  marker: { line: { width: 0 }, ...marker },
});

/**
 * The range of each span that follows the token, as whiskers over its bar; where they end is
 * written into ends.
 */
function drawRanges(run, now, part, at, middle, ends) {
  const moving = upTo(run.count).filter((i) => now.lows(i) !== false);
  if (!moving.length) return;
  const range = moving.map((i) =>
    [run.lows[i], run.highs[i]].map((z) => at(reach(z, run.ramp, run.span)))
  );
  moving.forEach((i, n) => (ends[i] = Math.max(ends[i], range[n][1])));
  const whiskers = (color, thickness) => ({
    type: "scatter",
    mode: "markers",
    name: "range of z",
    x: range.map(([low]) => low),
    y: moving.map(middle),
    marker: { opacity: 0, size: 1 },
    error_x: {
      type: "data",
      symmetric: false,
      array: range.map(([low, high]) => high - low),
      arrayminus: range.map(() => 0),
      thickness,
      width: 3,
      color,
    },
  });
  part.add(whiskers("var(--panel)", 4), whiskers("var(--ink)", 1.5));
}

/** Names and numbers of bars where they have room, what is locked, and what can be pointed at. */
function nameBars(run, now, sheet, part, { left, right, width, pitch, thick, middle, ends }) {
  const { pen } = sheet;
  const [size, heads, all] = [pen.small, run.heads[1], upTo(run.count)];
  const nameOf = (i) => `${Math.floor(i / heads) + 1}·${(i % heads) + 1}`;
  const farther = (i) => `\u2002${now.far(i)}`;
  const named = pitch >= size ? all : [];
  for (const i of named) {
    sheet.write(left - 7, middle(i), nameOf(i), { size, align: "right", colour: "ink3" });
  }
  part.add({
    type: "scatter",
    mode: "text",
    name: "looks back",
    cliponaxis: false,
    x: named.map((i) => ends[i]),
    y: named.map(middle),
    text: named.map(farther),
    textposition: "middle right",
    textfont: {
      size: pen.type(size),
      weight: 500,
      color: "var(--ink)",
      shadow: "0 0 2px var(--sunk), 0 0 2px var(--sunk), 0 0 3px var(--sunk)",
    },
  });
  const row = middle(now.i);
  const bold = { size, weight: 650, colour: "query" };
  sheet.plane.note(left - 7, row, nameOf(now.i), {
    ...bold,
    align: "right",
    ground: "panel",
    height: thick + 2,
  });
  part.note(ends[now.i], row, farther(now.i), { ...bold, ground: "sunk", height: thick + 2 });
  sheet.plane.rect(left - 3, right + 3, row - thick / 2 - 3, row + thick / 2 + 3, {
    line: "query",
    width: 2.5,
    radius: 4,
  });
  for (const i of all) {
    pen.hit({
      x0: 0,
      x1: width,
      y0: middle(i) - pitch / 2,
      y1: middle(i) + pitch / 2,
      still: true,
      look: { head: `${Math.floor(i / heads) + 1}.${(i % heads) + 1}` },
      card: () => headLines(run, now, i),
    });
  }
}

/** The spans of all heads as bars. Returns their lower end. */
function drawBars(run, look, pen, now, width) {
  const sheet = new Sheet(pen);
  const { big, tall, small: size } = pen;
  const [layers, heads] = run.heads;
  const { span, ramp, count } = run;
  const at = atOf(look);
  const [line, apart] = big ? [28, 6] : [18, 6]; // of a layer's name; between layers
  const fair = big
    ? (tall - 2 * size - 24 - layers * (line + apart)) / count
    : run.dynamic
    ? 22
    : 15;
  const pitch = Math.max(7, Math.min(fair, big ? 44 : 600 / count));
  const thick = Math.max(3, Math.min(pitch - 3, big ? 28 : run.dynamic ? 15 : 13));
  const [left, right] = [size * 2.7, width - size * 3.4];
  const topOf = (l) => 2 + l * (line + apart + heads * pitch);
  const middle = (i) => topOf(Math.floor(i / heads)) + line + ((i % heads) + 0.5) * pitch;
  const bottom = topOf(layers);
  const axis = distances(run, look, pen, right - left);
  const part = sheet.part({ x0: left, x1: right, y0: 2, y1: bottom }, {
    x: { ...axis, showgrid: true, showline: true },
    y: { range: [2, bottom], fixedrange: true },
  });
  const all = upTo(count);
  const [free, forced] = [all.filter((i) => !now.forced[i]), all.filter((i) => now.forced[i])];
  const faded = free.flatMap((i) => {
    const z = now.spans[i];
    const shades = Math.ceil((part.x(at(Math.min(span, z + ramp))) - part.x(at(z))) / SHADE);
    return fading(z, ramp, span, Math.max(1, Math.min(32, shades)))
      .map(([end, share]) => [middle(i), at(end), share]);
  });
  const bar = (...how) => barOf(thick, ...how);
  const far = all.map((i) => at(now.far(i)));
  part.add(
    bar("S", all.map(middle), all.map(() => at(span)), { color: "var(--sunk)" }),
    bar("soft mask", faded.map(([y]) => y), faded.map(([, end]) => end), {
      color: faded.map(([, , share]) => colour("accent", share, "sunk")),
    }),
    bar("forced", forced.map(middle), forced.map((i) => far[i]), {
      color: "var(--panel)",
      line: { width: 1, color: "var(--accent)" },
      pattern: { shape: "/", fgcolor: "var(--accent)", bgcolor: "var(--panel)", size: 6 },
    }),
  );
  const ends = [...far];
  for (const i of all.filter((n) => now.trained[n] !== null)) {
    const end = at(reach(now.trained[i], ramp, span));
    ends[i] = Math.max(ends[i], end);
    const [y0, y1] = [middle(i) - thick / 2, middle(i) + thick / 2];
    part.rect(0, end, y0, y1, { line: "panel", width: 4 });
    part.rect(0, end, y0, y1, { line: "ink", width: 1.5, dash: "4px,3px" });
  }
  drawRanges(run, now, part, at, middle, ends);
  const means = upTo(
    layers,
    (l) => meanSpan(now.spans.slice(l * heads, (l + 1) * heads), ramp, span),
  );
  means.forEach((mean, l) => {
    const y = topOf(l) + line / 2;
    sheet.write(0, y, t(TEXT.layer, { n: l + 1 }), { size, weight: 650 });
    sheet.write(width, y, t(TEXT.mean, { n: Math.round(mean) }), { size, align: "right" });
  });
  const dashes = (color, thickness, dash = "solid") => ({
    type: "scatter",
    mode: "lines",
    name: "mean",
    x: means.flatMap((mean) => [at(mean), at(mean), null]),
    y: upTo(layers).flatMap((l) => [topOf(l) + line - 4, topOf(l) + line + heads * pitch, null]),
    line: { color, width: thickness, dash },
  });
  part.add(dashes("var(--panel)", big ? 5 : 3), dashes("var(--ink2)", big ? 2 : 1.2, "3px,2px"));
  nameBars(run, now, sheet, part, { left, right, width, pitch, thick, middle, ends });
  const mean = meanSpan(now.spans, ramp, span);
  const total = t(TEXT.meanAll, { n: Math.round(mean), share: percent(mean / span) });
  sheet.write(left, bottom + 2 * size + 8, total, { size, weight: 650 });
  sheet.place({
    x0: 0,
    x1: Math.max(width, left + 1.06 * pen.measure(total, { size, weight: 650 })),
    y0: 0,
    y1: bottom + 2.6 * size + 8,
  });
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

/**
 * Weights by distance as an area of steps. at: of the axis; most: where their square-root scale
 * ends
 */
const areaOf = (name, weights, at, most, role, alpha = 1) => ({
  type: "scatter",
  mode: "lines",
  name,
  x: upTo(weights.length + 1, at),
  y: upTo(
    weights.length + 1,
    (d) => Math.sqrt(Math.max(0, Math.min(1, weights[Math.min(d, weights.length - 1)] / most))),
  ),
  line: { shape: "hv", width: 0 },
  fill: "tozeroy",
  fillcolor: faint(role, alpha),
});

/**
 * The soft mask and the mean weights, the look of one character in two strips under it, and the
 * span along the text. Returns its lower end.
 */
function drawHead(run, look, pen, now, { from, to, top: above, height }) {
  const sheet = new Sheet(pen);
  const { big, small: size } = pen;
  const [left, right] = [from + (big ? 76 : 48), to - (big ? 84 : 48)];
  const strip = big ? (height > 560 ? 46 : 30) : 34;
  const gap = look.masksaxis === "log" ? size + 6 : 4; // characters stand there where they have room
  // the spans along the text take the place of what one character looks at
  const short = big && run.dynamic && height < 480;
  const under = short ? 0 : 32 + size + 6 + 2 * strip + gap;
  const along = run.dynamic ? (big ? 160 : 128) : 0;
  const [title, formula] = [{ size: big ? 20 : 14, weight: 650, colour: "ink" }, {
    size,
    face: "title",
    colour: "ink3",
  }];
  const heading = t(TEXT.mask, { head: `${now.layer}·${now.own}` });
  const equation = "m(x) = clamp((R + z − x) / R, 0, 1)";
  const after = from + pen.measure(heading, title) + 12; // of the name, where its equation stands if there is room
  const second = after + pen.measure(equation, formula) > to ? size + 8 : 0;
  const label = labelOf(run, look, pen, now, left, right);
  const place = {
    from,
    to,
    left,
    right,
    size,
    top: above + (big ? 104 : 66) + second + (label.lifted ? size : 0),
    label,
    write: (x, y, text, style = {}) => sheet.write(x, y, text, { size, colour: "ink3", ...style }),
  };
  place.bottom = place.top + Math.max(
    short ? 56 : big ? 90 : 130,
    Math.min(big ? 640 : 230, height - (place.top - above) - 2 * size - under - along),
  );
  sheet.write(from, above + size * 0.8, heading, title);
  sheet.write(second ? from : after, above + size * 0.8 + second, equation, formula);
  const at = drawMask(run, look, sheet, now, place);
  const line = short ? place.bottom + size + 16 : place.bottom + 3 * size + 20;
  const upper = line + size * 0.5 + 6 + strip;
  const strips = { ...place, line, upper, lower: upper + gap, strip, at };
  if (!short) drawLook(run, look, sheet, now, strips);
  const end = strips.lower + strip;
  pen.hit({
    x0: left,
    x1: right,
    y0: place.top,
    y1: end,
    at(px) {
      const d = Math.max(0, Math.min(run.span - 1, Math.floor(at.of(px))));
      const key = now.position === null ? -1 : now.position - 1 - d;
      const [x0, x1] = [at.x(d), at.x(d + 1)];
      return {
        x0,
        x1: Math.max(x0 + 1, x1),
        y0: place.top,
        y1: end,
        quiet: true,
        ...(key >= 0 ? { look: { pos: key } } : {}),
        card: () => distanceLines(run, now, d, key),
      };
    },
  });
  const low = run.dynamic
    ? drawAlong(run, look, sheet, now, { ...place, top: short ? line : end + 14, short })
    : end + 6;
  sheet.place({ x0: from, x1: pen.width, y0: above, y1: low });
  return low;
}

/** The two numbers of a mask, where they have room beside its ramp, or above it: lifted. */
function labelOf({ span, ramp }, look, pen, { z }, left, right) {
  const at = atOf(look);
  const px = (d) => left + (right - left) * at(Math.min(span, d)) / at(span);
  const [from, end] = [px(z), px(z + ramp)];
  const style = { size: pen.small, weight: 650, colour: "ink" };
  const text = t(TEXT.label, { z: round(z), reach: reach(z, ramp, span) });
  const wide = pen.measure(text, style);
  const [beyond, before] = [right - end > wide + 8, from - left > wide + 18];
  const centre = Math.max(left, Math.min(right - wide, from - wide / 2));
  const x = beyond ? end + 8 : before ? from - 14 - wide : centre;
  return { text, style, x, lifted: !beyond && !before };
}

/**
 * The mask over the mean weights, with its handle. Returns where distances stand: {x(d): px,
 * of(px): d, axis}.
 */
function drawMask(run, look, sheet, now, place) {
  const { to, left, right, top, bottom, size, write, label } = place;
  const { pen } = sheet;
  const { big } = pen;
  const { span, ramp } = run;
  const { z, profile } = now;
  const at = atOf(look);
  const tall = bottom - top;
  const room = big ? 60 : 40; // above the mask, for its two numbers
  const part = sheet.part({ x0: left, x1: right, y0: top - room, y1: bottom }, {
    x: { ...distances(run, look, pen, right - left), showline: true, ticks: "outside", ticklen: 4 },
    y: {
      range: [1 + room / tall, 0],
      fixedrange: true,
      showgrid: true,
      tickvals: [0.5, 1],
    },
  });
  for (const m of [0, 0.5, 1]) {
    write(left - 8, part.y(m), String(m), { align: "right", colour: m ? "accent" : "ink3" });
  }
  write((left + right) / 2, bottom + 2 * size + 6, t(TEXT.distance), {
    align: "center",
    colour: "ink2",
  });
  // farther than this text goes
  if (run.length < span) {
    part.rect(at(run.length), at(span), 0, 1, { fill: "sunk", layer: "below" });
  }
  const most = scaleOf(profile);
  const alpha = now.would ? 0.5 : 1;
  for (const share of [0.25, 1]) {
    write(right + size, part.y(Math.sqrt(share)), String(Number((most * share).toPrecision(3))), {
      colour: "key",
    });
  }
  write(to, top - (big ? 60 : 34) - (label.lifted ? size : 0), t(TEXT.scale), { align: "right" });
  const slope = (of) => {
    const [first, last] = [Math.min(span, of), Math.min(span, of + ramp)];
    const places = [0, ...upTo(25, (n) => first + ((last - first) * n) / 24), span];
    return { x: places.map(at), y: places.map((d) => soft(of, ramp, d)) };
  };
  const curve = { type: "scatter", mode: "lines" };
  const trained = now.trained[now.i];
  part.add(
    areaOf("before", profile.before, at, most, "control", 0.45 * alpha),
    areaOf("after", profile.after, at, most, "key", 0.8 * alpha),
    ...(trained === null ? [] : [{
      ...curve,
      ...slope(trained),
      name: "as trained",
      line: { color: "var(--ink2)", width: big ? 2.5 : 1.5, dash: "5px,4px" },
    }]),
    {
      ...curve,
      ...slope(z),
      name: "soft mask",
      cliponaxis: false,
      line: { color: "var(--accent)", width: big ? 4 : 2.5 },
      fill: "tozeroy",
      fillcolor: faint("accent", 0.1),
    },
  );
  const [zx, end] = [part.x(at(Math.min(z, span))), part.x(at(Math.min(span, z + ramp)))];
  const thin = { line: "accent", width: big ? 2 : 1.2 };
  part.line(at(Math.min(z, span)), 0, at(Math.min(z, span)), 1, { ...thin, dash: "2px,3px" });
  const [rail, foot] = [big ? 24 : 15, big ? 20 : 11].map((px) => 1 + px / tall);
  const [a, b] = [part.backX(zx), part.backX(end)];
  if (end - zx > 6) {
    part.shape({ type: "path", path: `M${a},${foot}V${rail}H${b}V${foot}` }, thin);
  }
  write(label.x, part.y(rail) - (label.lifted ? size : 0), label.text, label.style);
  if (end - zx > size && !label.lifted) {
    write((zx + end) / 2, part.y(rail) - size * 0.7, "R", { align: "center", colour: "accent" });
  }
  const of = (px) => Math.max(0, Math.min(span, AXES[look.masksaxis].of(part.backX(px))));
  addHandle(run, look, pen, now, { x: zx, y: top, of });
  return { x: (d) => part.x(at(d)), of, axis: part.refs.xref };
}

/** The handle by which the span of the head in view, of its layer or of all heads is dragged. */
function addHandle(run, look, pen, now, { x, y, of }) {
  const { span, ramp } = run;
  const z = Math.round(now.z);
  const grip = pen.narrow ? 22 : 18;
  pen.handle({
    x0: x - grip,
    x1: x + grip,
    y0: y - grip,
    y1: y + grip,
    name: handle(look),
    value: z,
    most: span,
    disabled: run.state === "stale",
    label: t(TEXT[{ head: "slider", layer: "sliderLayer", all: "sliderAll" }[look.masksscope]], {
      head: `${now.layer}·${now.own}`,
      layer: now.layer,
    }),
    says: t(TEXT.sliderNow, {
      z: round(z),
      reach: reach(z, ramp, span),
      span,
    }),
    of,
    set: (value) => ({
      spans: spelled(forcedBy(run, { ...look.draft, [handle(look)]: value }), ...run.heads),
    }),
  });
}

/** What the character in view looks at: before the mask upwards, after it downwards. */
function drawLook(
  run,
  look,
  sheet,
  now,
  { left, right, line, upper, lower, strip, size, at, write },
) {
  const { pen } = sheet;
  const { position, row } = now;
  const { span, ramp } = run;
  if (position === null) return write(left, line, t(TEXT.none));
  const [who, bold] = [named(run, position), { size, weight: 650 }];
  const whole = Math.min(span, position + 1);
  const far = Math.min(reach(now.z, ramp, span), whole);
  const kept = row ? t(TEXT.keeps, { w: weight(row.kept) }) : "";
  write(left, line, who, { ...bold, colour: "query" });
  const begun = pen.measure(`${who} `, bold);
  const room = right - left - pen.measure(kept, bold);
  if (begun + pen.measure(`${t(TEXT.looks)} `, { size }) < room) {
    write(left + begun, line, t(TEXT.looks), { colour: "ink2" });
  }
  write(right, line, kept, { ...bold, colour: "ink", align: "right" });
  write(left - 8, upper - strip / 2, t(TEXT.before), { align: "right" });
  write(left - 8, lower + strip / 2, t(TEXT.after), { align: "right", colour: "key" });
  if (whole < span && right - at.x(whole) > size * 7) {
    write(at.x(whole) + 8, (upper + lower) / 2, t(TEXT.short));
  }
  const [on, most] = [atOf(look), row && scaleOf(row)];
  const x = { range: [0, on(span)], matches: at.axis };
  for (
    const [y0, range, end, name, role] of [
      [upper - strip, [1, 0], whole, "before", "control"],
      [lower, [0, 1], far, "after", "key"],
    ]
  ) {
    const box = { x0: left, x1: right, y0, y1: y0 + strip };
    const part = sheet.part(box, { x, y: { range, fixedrange: true } });
    part.rect(0, on(end), 0, 1, { fill: "sunk", alpha: 0.55, layer: "below" });
    if (!row) continue;
    part.add(areaOf(name, row[name], on, most, role));
    part.line(on(far), 0, on(far), 1, {
      line: "accent",
      width: pen.big ? 2 : 1,
      dash: "2px,3px",
    });
    write(right + size, part.y(1) + (range[0] ? size / 2 : -size / 2), String(most));
  }
  for (
    let d = 0;
    row && look.masksaxis === "log" && d < whole && at.x(d + 1) - at.x(d) >= size;
    d += 1
  ) {
    write(
      (at.x(d) + at.x(d + 1)) / 2,
      (upper + lower) / 2,
      position <= d ? "▸" : letter(run, position - 1 - d),
      { align: "center", colour: "ink", face: "mono" },
    );
  }
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
function drawAlong(run, look, sheet, now, { left, right, top, size, write, short }) {
  const { pen } = sheet;
  const { big } = pen;
  const { series, position } = now;
  const { length, span } = run;
  const count = Math.max(8, Math.min(length, Math.floor((right - left) / (big ? 20 : 12))));
  // It turns over like pages, about the locked character, not the hovered one: what is under the
  // pointer stays there.
  const stride = Math.max(1, Math.floor(0.6 * count));
  const page = (here) =>
    Math.max(
      0,
      Math.min(length - count, Math.floor(here / stride) * stride - Math.floor(0.3 * count)),
    );
  const own = page([look.pos].flat().at(-1) ?? run.given);
  const first = position === null || (position >= own && position < own + count)
    ? own
    : page(position);
  const [letters, tall, strip] = [top + size * 1.9 + 8, big ? 52 : 44, big ? 30 : 24];
  const base = letters + size + tall;
  write(left, top + size * 0.6, t(TEXT.span), { colour: "ink2" });
  for (const [y, z] of [[base, 0], [base - tall, span]]) {
    write(left - 8, y, String(z), { align: "right" });
  }
  /** The spans of so many characters from one on, in a box of px that can be pointed at. */
  const stretch = (from, many, [y0, y1], hit, style) => {
    const part = sheet.part({ x0: left, x1: right, y0, y1 }, {
      x: { range: [from, from + many], fixedrange: true },
      y: { range: [span, 0], fixedrange: true, showgrid: true, tickvals: [0, span] },
    });
    part.add({
      type: "scatter",
      mode: "lines",
      name: "span z",
      x: upTo(many + 1, (n) => from + n),
      y: upTo(many + 1, (n) => series[Math.min(length - 1, from + n)]),
      line: { shape: "hv", color: "var(--accent)", width: style.width },
      fill: "tozeroy",
      fillcolor: faint("accent", style.alpha),
    });
    pen.hit({
      ...{ x0: left, x1: right },
      ...hit,
      at(px) {
        const i = Math.max(0, Math.min(length - 1, Math.floor(part.backX(px))));
        return {
          ...{ x0: px, x1: px, y0, y1, still: true, look: { pos: i } },
          card: () => [named(run, i), `z = ${round(series[i])}`],
        };
      },
    });
    return part;
  };
  const near = stretch(first, count, [base - tall, base], { y0: top, y1: base + 4 }, {
    width: big ? 2.5 : 1.5,
    alpha: 0.22,
  });
  for (let i = first; i < first + count; i += 1) {
    write(near.x(i + 0.5), letters, letter(run, i), {
      align: "center",
      face: "mono",
      colour: i === position ? "query" : i < run.given ? "ink" : "out",
    });
  }
  if (position !== null) {
    const [x0, x1] = [near.x(position) - 1, near.x(position + 1) + 1];
    const ring = { line: "query", width: big ? 2.5 : 1.5, radius: 3 };
    sheet.plane.rect(x0, x1, letters - size * 0.9, letters + size * 0.8, {
      ...ring,
      layer: "below",
    });
    near.rect(position, position + 1, 0, span, { fill: "query", alpha: 0.16 });
  }
  if (short) return base + 6;
  const [over, low] = [base + 8, base + 8 + strip];
  const all = stretch(0, length, [over, low], { y0: base + 4, y1: low + 3 }, {
    width: 0,
    alpha: 0.55,
  });
  all.rect(0, length, 0, span, { fill: "sunk", layer: "below" });
  const [x0, x1] = [all.x(first), Math.max(all.x(first) + 3, all.x(first + count))];
  sheet.plane.rect(x0, x1, over - 1, low + 1, { line: "ink2", width: 1.5, radius: 2 });
  if (position !== null) {
    const x = all.x(position + 0.5);
    sheet.plane.line(x, over - 3, x, low + 3, { line: "query", width: 2 });
  }
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

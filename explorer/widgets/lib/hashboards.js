// What is drawn beside the tokens in the first three steps: the plane and the bars of one vector, the two words, the lines of sorting.

import { measure, mix } from "./hashpen.js";
import { clamp } from "./hashplaces.js";
import { TEXT, charOf, nameOf, number } from "./hashwords.js";
import { t } from "./lang.js";

const num = (x) => x.toFixed(1);

/** One token: a tile in the colour of its bucket, or a dot. */
export function token(pen, scene, i, { x, y, w, h, round, alpha }, dim = 1) {
  const style = scene.colors.bucket(scene.round.buckets[i]);
  const r = Math.min(4, w * 0.22) * (1 - round) + (w / 2) * round;
  if (w < 4) {
    pen.rect(x, y, w, h, { fill: style.flat, alpha: alpha * dim });
    return;
  }
  const how = { fill: style.fill, alpha: alpha * dim };
  const edge = style.kind === 1 || style.kind === 2 ? Math.min(2.2, w / 7) : 0;
  if (edge) pen.rect(x + edge / 2, y + edge / 2, w - edge, h - edge, { ...how, stroke: style.line, width: edge, r });
  else pen.rect(x, y, w, h, { ...how, r });
  if (style.kind === 3 && w >= 8) {
    const [a, b] = [w * 0.3, h * 0.3]; // a corner is cut off where colours come a fourth time
    pen.path(`M${num(x + w - a)} ${num(y)}h${num(a)}v${num(b)}z`, { fill: scene.colors.panel, alpha: alpha * dim });
  }
  if (w < 9.5 || (round > 0.5 && w < 14)) return;
  const char = charOf(scene.run.tokens[i]);
  const size = clamp(Math.min(h * 0.66, w * 0.98), 12, scene.big ? 30 : 20);
  pen.text(x + w / 2, y + h / 2 + size * 0.35, char, { size, mono: true, weight: 600, align: "center", fill: style.ink, alpha: alpha * dim });
}

/** A ring around a token in the colour of its role. */
export function ring(pen, scene, { x, y, w, h, round }, role, soft = false) {
  const far = Math.min(3, Math.max(1.5, w / 6));
  const wide = scene.big ? 4 : 2.6;
  const r = (Math.min(4, w * 0.22) + far) * (1 - round) + (w / 2 + far) * round;
  const at = [x - far, y - far, w + 2 * far, h + 2 * far];
  pen.rect(...at, { stroke: scene.colors.panel, width: wide + 2.5, r });
  pen.rect(...at, { stroke: scene.colors[role], width: wide, r, alpha: soft ? 0.75 : 1 });
}

export const caption = (pen, { colors, size }, x, y, strong, rest, width = Number.POSITIVE_INFINITY) => {
  const wide = measure(strong, { size, weight: 650 });
  pen.text(x, y, strong, { size, weight: 650, fill: colors.ink, halo: colors.panel });
  const gap = size * 0.75;
  if (rest && wide + gap + measure(rest, { size }) <= width) pen.text(x + wide + gap, y, rest, { size, fill: colors.ink3, halo: colors.panel });
};

// ── 1 · vectors ──
export function plane(pen, scene, at) {
  const { colors, size, model, round, position, detail, narrow } = scene;
  const [cx, cy] = at.centre;
  const half = model.kinds / 2;
  const [a, b] = at.axes;
  const R = at.radius + at.dot / 2 + 6;
  const circle = (r) => `M${num(cx - r)} ${num(cy)}a${num(r)} ${num(r)} 0 1 0 ${num(2 * r)} 0a${num(r)} ${num(r)} 0 1 0 ${num(-2 * r)} 0z`;
  pen.path(circle(R), { fill: mix(colors.panel, colors.sunk, 0.55), stroke: colors.line, width: 1 });
  const c = R * Math.SQRT1_2;
  // Sectors of [a; b; −a; −b]. Where there are more buckets, only the one of the position in view: beyond it other coordinates decide.
  const wedges = [
    [a, `M${cx} ${cy}L${num(cx + c)} ${num(cy - c)}A${num(R)} ${num(R)} 0 0 1 ${num(cx + c)} ${num(cy + c)}z`],
    [b, `M${cx} ${cy}L${num(cx - c)} ${num(cy - c)}A${num(R)} ${num(R)} 0 0 1 ${num(cx + c)} ${num(cy - c)}z`],
    [a + half, `M${cx} ${cy}L${num(cx - c)} ${num(cy + c)}A${num(R)} ${num(R)} 0 0 1 ${num(cx - c)} ${num(cy - c)}z`],
    [b + half, `M${cx} ${cy}L${num(cx + c)} ${num(cy + c)}A${num(R)} ${num(R)} 0 0 1 ${num(cx - c)} ${num(cy + c)}z`],
  ];
  const halves = [
    [a, `M${cx} ${num(cy - R)}A${num(R)} ${num(R)} 0 0 1 ${cx} ${num(cy + R)}z`],
    [a + half, `M${cx} ${num(cy - R)}A${num(R)} ${num(R)} 0 0 0 ${cx} ${num(cy + R)}z`],
  ];
  const own = position === null ? null : round.buckets[position];
  for (const [bucket, d] of b === null ? halves : wedges) {
    if (half <= 2 || (bucket === own && a === own % half)) pen.path(d, { fill: mix(colors.panel, colors.bucket(bucket).line, bucket === own ? 0.28 : 0.14) });
  }
  if (b !== null) pen.path(`M${num(cx - c)} ${num(cy - c)}L${num(cx + c)} ${num(cy + c)}M${num(cx - c)} ${num(cy + c)}L${num(cx + c)} ${num(cy - c)}`, { stroke: colors.control, dash: [3, 4], alpha: 0.8 });
  pen.path(`M${num(cx - R)} ${cy}H${num(cx + R)}${b === null ? "" : `M${cx} ${num(cy - R)}V${num(cy + R)}`}`, { stroke: colors.control, alpha: 0.6 });
  pen.path(circle(R), { stroke: colors.control, width: 1 });
  // Each end of an axis is a bucket.
  const end = (bucket, x, y, align) => {
    const text = t(TEXT.bucketN, { n: bucket });
    const style = colors.bucket(bucket);
    const wide = measure(text, { size, weight: 650 }) + size * 1.2;
    const x0 = clamp(align === "center" ? x - wide / 2 : align === "right" ? x - wide : x, 0, at.side - wide);
    pen.rect(x0 - 3, y - size, wide + 6, size + 6, { fill: colors.panel, r: 4, alpha: 0.85 });
    pen.rect(x0, y - size * 0.8, size * 0.85, size * 0.85, { fill: style.fill, stroke: style.line, width: 1.5, r: 2 });
    pen.text(x0 + size * 1.2, y, text, { size, weight: 650, fill: colors.ink2 });
  };
  if (b !== null) {
    end(b, cx, cy - R - 6, "center");
    end(b + half, cx, cy + R + size + 3, "center");
  }
  end(a, at.side, cy + size * 0.4 - (narrow ? 0 : 0), "right");
  end(a + half, 0, cy + size * 0.4, "left");
  if (detail?.rotated && position !== null) bars(pen, scene, at);
}

/** All rotated coordinates of the position, with the one that decides. */
function bars(pen, scene, at) {
  const { colors, size, model, round, position, partner, detail, run } = scene;
  const { x, y, w, h } = at.bars;
  const half = model.kinds / 2;
  const own = detail.rotated.slice(position);
  const other = partner === null ? null : detail.rotated.slice(partner);
  const bucket = round.buckets[position];
  let most = 1;
  for (const each of [own, other ?? own]) for (const v of each) most = Math.max(most, Math.abs(v));
  const zero = y + h / 2;
  const up = (v) => zero - (v / most) * (h / 2);
  const step = w / half;
  const gap = step > 5 ? Math.max(Math.min(6, step * 0.22), step - (scene.big ? 120 : 72)) : 0;
  caption(pen, scene, scene.narrow ? 0 : x, y - size - 12, t(half === 2 ? TEXT.both : half === 1 ? TEXT.only : TEXT.coordinates, { name: nameOf(run, position), n: half }), t(TEXT.barsUnits), w);
  for (const one of [-1, 0, 1].map((sign) => sign * Math.floor(most))) {
    pen.path(`M${num(x)} ${num(up(one))}H${num(x + w)}`, { stroke: one ? colors.line : colors.control });
    pen.text(x - 8, up(one) + size * 0.35, one < 0 ? `−${-one}` : `${one}`, { size, align: "right", fill: colors.ink3 });
  }
  const win = bucket % half;
  for (let j = 0; j < half; j += 1) {
    const mine = colors.bucket(own[j] >= 0 ? j : j + half);
    const [top, bottom] = own[j] >= 0 ? [up(own[j]), zero] : [zero, up(own[j])];
    const left = x + j * step + gap / 2;
    if (j === win) {
      pen.rect(left, top, step - gap, bottom - top, { fill: mine.fill, stroke: mine.line, width: 1.5 });
      const far = Math.min(4, step / 3);
      pen.rect(left - far, top - far, step - gap + 2 * far, bottom - top + 2 * far, { stroke: colors.query, width: scene.big ? 3.5 : 2.5, r: 4 });
    } else pen.rect(left, top, step - gap, bottom - top, { fill: mix(colors.panel, mine.line, 0.45) });
    if (other) pen.rect(left - 1, up(other[j]) - (scene.big ? 2 : 1.4), step - gap + 2, scene.big ? 4 : 2.8, { fill: colors.key });
  }
  const label = t(TEXT.bucketN, { n: bucket });
  const place = x + (win + 0.5) * step;
  const wide = measure(label, { size: size + 2, weight: 700 });
  const edge = own[win] >= 0 ? up(own[win]) - 9 : up(own[win]) + size + 12;
  pen.text(clamp(place, x + wide / 2, x + w - wide / 2), edge, label, { size: size + 2, weight: 700, align: "center", fill: colors.query, halo: colors.panel });
  const foot = y + h + size * 3.2;
  const every = Math.ceil((2.2 * size) / step);
  for (let j = 0; j < half; j += every) if (Math.abs(j - win) * step >= 1.6 * size) pen.text(x + (j + 0.5) * step, foot, String(j), { size, align: "center", fill: colors.ink3 });
  pen.text(place, foot, String(win), { size, weight: 700, align: "center", fill: colors.query });
  if (other && !scene.narrow) {
    pen.rect(x, foot + size * 1.3, size * 1.4, scene.big ? 4 : 2.8, { fill: colors.key });
    pen.text(x + size * 2, foot + size * 1.75, t(TEXT.theLetter, { name: nameOf(run, partner), value: number(other[win]) }), { size, fill: colors.key, weight: 650 });
  }
}

// ── 2 · buckets ──
export function words(pen, scene, at) {
  const { run, round, colors, size, partner, position } = scene;
  const of = run.word ? t(TEXT.underWord) : t(TEXT.underText);
  caption(pen, scene, 0, size, t(TEXT.alongTitle), of, scene.width);
  // Where the place that asks and its letter share a bucket, a bridge joins them.
  for (const [q, k] of run.copies) {
    const style = colors.bucket(round.buckets[q]);
    const same = round.buckets[q] === round.buckets[k];
    const from = at.y[k] + at.unit;
    const x = at.x[k] + at.w[k] / 2;
    const chosen = position === q && partner === k;
    if (same) pen.rect(x - (chosen ? 4 : 2.5), from + 1, chosen ? 8 : 5, at.inner - 3, { fill: style.line, r: 2.5 });
    else pen.path(`M${num(x - 3)} ${num(from + at.inner / 2 - 3)}l6 6m0 -6l-6 6`, { stroke: colors.ink3, width: 1.3, alpha: 0.75 });
  }
  if (at.numbers) {
    for (let i = 0; i < run.length; i += 1) {
      const strong = i === position || i === partner;
      pen.text(at.x[i] + at.w[i] / 2, at.y[i] + at.tall + size + 3, String(round.buckets[i]), { size, align: "center", weight: strong ? 700 : 400, fill: i === position ? colors.query : i === partner ? colors.key : colors.ink2 });
    }
  }
  if (at.piles) piles(pen, scene, at.piles);
}

/** The buckets with their positions piled up, in the order of the sequence from below. */
function piles(pen, scene, { x, y, h, step, unit, count }) {
  const { run, round, colors, size, position, partner } = scene;
  const floor = y + h;
  const every = [1, 2, 4, 8, 16, 32].find((n) => n * step >= size * 1.9) ?? 64;
  caption(pen, scene, 0, y - size - 2, t(TEXT.piles), t(TEXT.pilesUnits), scene.width);
  pen.path(`M${num(x)} ${num(floor + 1)}h${num(step * count.length)}`, { stroke: colors.control });
  const up = new Int32Array(count.length);
  const gap = unit > 5 ? 1 : 0;
  const wide = Math.min(step - 1, Math.max(unit * 1.25, step * 0.72));
  for (let i = 0; i < run.length; i += 1) {
    const bucket = round.buckets[i];
    const at = { x: x + bucket * step + (step - wide) / 2, y: floor - (up[bucket] + 1) * unit + gap, w: wide, h: unit - gap, round: 0, alpha: 1 };
    up[bucket] += 1;
    const style = colors.bucket(bucket);
    const role = i === position ? "query" : i === partner ? "key" : null;
    pen.rect(at.x, at.y, at.w, at.h, { fill: role ? colors[role] : style.flat, r: Math.min(3, unit / 5) });
    if (unit >= size + 1 && wide >= 10) pen.text(at.x + wide / 2, at.y + at.h / 2 + size * 0.35, charOf(run.tokens[i]), { size, mono: true, weight: 600, align: "center", fill: role ? colors.panel : style.flat === style.line ? (style.kind ? colors.ink : style.ink) : colors.ink });
  }
  const own = position === null ? null : round.buckets[position];
  for (let bucket = 0; bucket < count.length; bucket += 1) {
    if (bucket !== own && (bucket % every || (own !== null && Math.abs(bucket - own) * step < size * 1.6))) continue;
    pen.text(x + (bucket + 0.5) * step, floor + size + 5, String(bucket), { size, align: "center", weight: bucket === own ? 700 : 400, fill: bucket === own ? colors.query : colors.ink2 });
  }
}

// ── 3 · sort ──
export const curve = (at, round, i) => {
  const [x0, x1] = [at.at(i) + at.cell / 2, at.x[i] + at.w[i] / 2];
  const [y0, y1] = [at.top + at.tall + 1, at.bottom - 1];
  const bend = (y1 - y0) * 0.5;
  return `M${num(x0)} ${num(y0)}C${num(x0)} ${num(y0 + bend)} ${num(x1)} ${num(y1 - bend)} ${num(x1)} ${num(y1)}`;
};

export function lines(pen, scene, at) {
  const { run, round, colors, size, position, partner, hover } = scene;
  caption(pen, scene, 0, size, t(TEXT.sequence), t(TEXT.sequenceUnits), scene.width);
  const bucket = position === null ? null : round.buckets[position];
  const together = new Map(); // one path for each bucket
  for (let i = 0; i < run.length; i += 1) {
    if (i === position || i === partner) continue;
    const b = round.buckets[i];
    together.set(b, (together.get(b) ?? "") + curve(at, round, i));
  }
  const thin = run.length > 300 ? 0.8 : run.length > 120 ? 1.2 : 1.6;
  const drawn = [...together].sort(([a], [b]) => (a === bucket) - (b === bucket));
  for (const [b, d] of drawn) {
    const mine = bucket === null || b === bucket;
    pen.path(d, { stroke: colors.bucket(b).line, width: (mine && bucket !== null ? thin * 1.5 : thin) * (scene.big ? 1.6 : 1), alpha: mine ? (bucket === null ? 0.6 : 0.95) : 0.4 });
  }
  for (const [i, role] of [[partner, "key"], [position, "query"]]) {
    if (i === null) continue;
    const d = curve(at, round, i);
    pen.path(d, { stroke: colors.panel, width: scene.big ? 8 : 5.5, alpha: 0.9 });
    pen.path(d, { stroke: colors[role], width: scene.big ? 5 : 3.2 });
  }
  if (hover?.pos !== undefined && hover.pos !== position) pen.path(curve(at, round, hover.pos), { stroke: colors.ink, width: 2 });
  for (let i = 0; i < run.length; i += 1) token(pen, scene, i, { x: at.at(i) + at.gap, y: at.top, w: at.cell - 2 * at.gap, h: at.tall, round: 0, alpha: 1 });
  for (const [i, role] of [[partner, "key"], [position, "query"]]) if (i !== null) ring(pen, scene, { x: at.at(i) + at.gap, y: at.top, w: at.cell - 2 * at.gap, h: at.tall, round: 0 }, role);
  caption(pen, scene, 0, at.bottom - 10, t(TEXT.sorted), t(TEXT.sortedUnits), scene.width);
  ticks(pen, scene, at.at, at.cell, at.top - 5);
  if (at.numbers) {
    const y = at.bottom + at.tall + size + 3;
    for (let i = 0; i < run.length; i += 1) pen.text(at.x[i] + at.w[i] / 2, y, String(i), { size, align: "center", fill: i === position ? colors.query : i === partner ? colors.key : colors.ink3, weight: i === position || i === partner ? 700 : 400 });
  }
  brackets(pen, scene, at, (place) => at.left + place * at.cell, at.bottom + at.tall + (at.numbers ? size + 10 : 6));
}

/** Numbers of positions above a strip: round ones, and those in view. */
export function ticks(pen, { run, colors, size, position, partner, width }, x, cell, y) {
  const inside = (middle, text, weight) => {
    const wide = measure(text, { size, weight }) / 2;
    return clamp(middle, wide, width - wide);
  };
  const every = [1, 2, 4, 8, 16, 32, 64, 128, 256].find((n) => n * cell >= size * 2.6) ?? 512;
  const shown = new Map();
  for (const [i, role] of [[partner, "key"], [position, "query"]]) if (i !== null) shown.set(i, role);
  for (let i = 0; i < run.length; i += every) {
    if ([...shown.keys()].some((one) => shown.get(one) && Math.abs(one - i) * cell < size * 3)) continue;
    pen.text(inside(x(i) + cell / 2, String(i), 400), y, String(i), { size, align: "center", fill: colors.ink3 });
  }
  const both = [...shown.keys()];
  const names = both.map((i) => (cell < 9.5 ? nameOf(run, i) : String(i)));
  const middle = both.map((i) => x(i) + cell / 2);
  const apart = both.length < 2 || Math.abs(middle[0] - middle[1]) > size * (cell < 9.5 ? 4.2 : 1.7);
  both.forEach((i, n) => {
    const align = apart ? "center" : middle[n] <= middle[1 - n] ? "right" : "left";
    const wide = measure(names[n], { size, weight: 700 });
    const left = clamp(align === "center" ? middle[n] - wide / 2 : align === "right" ? middle[n] - wide - 2 : middle[n] + 2, 0, width - wide);
    pen.text(left, y, names[n], { size, weight: 700, fill: colors[shown.get(i)], halo: colors.panel });
  });
}

/** Under the sorted order, where each bucket stands, with its number. */
export function brackets(pen, { run, round, colors, size, position }, at, x, y) {
  let right = Number.NEGATIVE_INFINITY;
  const own = position === null ? null : round.buckets[position];
  const spans = [];
  for (let place = 0; place < run.length; ) {
    const bucket = round.buckets[round.order[place]];
    let end = place + 1;
    while (end < run.length && round.buckets[round.order[end]] === bucket) end += 1;
    spans.push([bucket, x(place), x(end)]);
    place = end;
  }
  for (const [bucket, from, to] of spans) {
    const inset = Math.min(1, (to - from) / 6);
    pen.rect(from + inset, y, to - from - 2 * inset, bucket === own ? 5 : 3, { fill: colors.bucket(bucket).line, r: 1.5 });
  }
  // The bucket in view is named first; others where they have room.
  const taken = [];
  const say = ([bucket, from, to], strong) => {
    const wide = measure(String(bucket), { size, weight: strong ? 700 : 400 }) + 4;
    const middle = clamp((from + to) / 2, wide / 2, x(run.length) - wide / 2);
    if (taken.some(([a, b]) => middle - wide / 2 < b && middle + wide / 2 > a)) return;
    taken.push([middle - wide / 2, middle + wide / 2]);
    pen.text(middle, y + size + 7, String(bucket), { size, align: "center", weight: strong ? 700 : 400, fill: strong ? colors.query : colors.ink2 });
  };
  const mine = spans.find(([bucket]) => bucket === own);
  if (mine) say(mine, true);
  for (const one of spans) if (one !== mine && one[1] > right) say(one, false);
}

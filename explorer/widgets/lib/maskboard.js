// The soft mask of one head over distance, what the head puts at each, the locked character's own look in two strips, and, where the span
// follows the token, the span along the text. All on one axis of distances.

import { svg } from "./dom.js";
import { t } from "./lang.js";
import { text } from "./maskbars.js";
import { axis, ceiling, reach, soft, ticks } from "./masknumbers.js";
import { TEXT, letterName, shown, spanText, weight } from "./maskwords.js";

const num = (x) => x.toFixed(1);

/** Where everything stands. */
export function place({ run, now, big, height }, width) {
  const size = big ? 20 : 12;
  const [left, right] = big ? [76, 84] : [48, 48];
  const dynamic = run.dynamic;
  const strip = big ? (height > 560 ? 46 : 30) : 34; // of one of the two
  const under = (big ? 26 : 18) + 2 * strip + (now.axis === "log" ? size + 6 : 4);
  const along = dynamic ? (big ? 150 : 128) : 0;
  const top = big ? 70 : 44;
  const axisRoom = size * 2 + 14;
  const tall = Math.max(big ? 110 : 130, Math.min(big ? 640 : 230, height - top - axisRoom - under - along - 8));
  const scale = axis(now.axis, run.span);
  const room = width - left - right;
  const bottom = top + tall;
  const strips = bottom + axisRoom;
  const middle = strips + (big ? 26 : 18) + strip;
  const gap = now.axis === "log" ? size + 6 : 4; // between the strips: characters stand there where they have room
  const alongTop = strips + under + 10;
  return {
    width, height: alongTop + along, left, right, room, size, big, top, tall, bottom, strips, strip, middle, gap, alongTop, dynamic,
    end: left + room,
    x: (d) => left + room * scale.at(Math.max(0, Math.min(run.span, d))),
    distance: (x) => Math.max(0, Math.min(run.span, scale.of((x - left) / room))),
    y: (m) => bottom - tall * m,
  };
}

/** The steps of weights by distance, from a base line; of several that share a pixel the largest shows. */
function steps(at, weights, base, tall, most) {
  const up = (w) => base - tall * Math.sqrt(Math.max(0, Math.min(1, w / most)));
  let d = `M${num(at.x(0))} ${base}`;
  for (let x = 0; x < weights.length; ) {
    let [end, top] = [x + 1, weights[x]];
    while (end < weights.length && at.x(end + 1) - at.x(x) < 1) top = Math.max(top, weights[end++]);
    d += `V${num(up(top))}H${num(at.x(end))}`;
    x = end;
  }
  return `${d}V${base}Z`;
}

/** The mask as a line, from the left end to where it is 0, and on. */
function line(at, z, { ramp, span }) {
  const far = Math.min(span, z + ramp);
  const points = [[0, soft(z, ramp, 0)], [Math.min(z, span), 1]];
  for (let n = 1; n <= 24; n += 1) points.push([Math.min(z, span) + ((far - Math.min(z, span)) * n) / 24, soft(z, ramp, Math.min(z, span) + ((far - Math.min(z, span)) * n) / 24)]);
  return points.map(([d, m], n) => `${n ? "L" : "M"}${num(at.x(d))} ${num(at.y(m))}`).join("");
}

function mask(scene, at) {
  const { run, z, trained } = scene;
  const { ramp, span } = run;
  const far = Math.min(span, z + ramp);
  const path = line(at, z, run);
  const thick = at.big ? 4 : 2.5;
  const out = [svg("path", { class: "area", d: `${path}L${num(at.x(far))} ${at.bottom}L${num(at.x(0))} ${at.bottom}Z`, fill: "var(--accent)", "fill-opacity": 0.1 })];
  if (trained !== null) out.push(svg("path", { class: "trained", d: line(at, trained, run), fill: "none", stroke: "var(--ink2)", "stroke-width": at.big ? 2.5 : 1.5, "stroke-dasharray": "5 4" }));
  out.push(svg("path", { class: "mask", d: `${path}H${num(at.end)}`, fill: "none", stroke: "var(--accent)", "stroke-width": thick, "stroke-linejoin": "round" }));
  // z and the ramp above, told once, on the side that has room.
  const [zx, fx] = [at.x(Math.min(z, span)), at.x(far)];
  const rail = at.top - (at.big ? 20 : 13);
  out.push(svg("path", { d: `M${num(zx)} ${at.top}V${at.bottom}`, stroke: "var(--accent)", "stroke-dasharray": "2 3", "stroke-width": at.big ? 2 : 1 }));
  if (fx - zx > 6) out.push(svg("path", { class: "ramp", d: `M${num(zx)} ${rail + 4}V${rail}H${num(fx)}V${rail + 4}`, fill: "none", stroke: "var(--accent)", "stroke-width": at.big ? 2 : 1.2 }));
  const label = t(TEXT.label, { z: spanText(z), reach: reach(z, ramp, span) });
  const wide = label.length * at.size * 0.62;
  const how = { class: "told", "font-size": at.size, "font-weight": 650, fill: "var(--ink)" };
  const line_ = rail + at.size * 0.35;
  if (at.end - fx > wide + 8) out.push(text(fx + 8, line_, label, how));
  else if (zx - at.left > wide + 14) out.push(text(zx - (fx - zx > 6 ? 8 : 14), line_, label, { ...how, "text-anchor": "end" }));
  else {
    out.push(text(Math.max(at.left, Math.min(at.end - wide, zx - wide / 2)), rail - 6, label, how));
    return out;
  }
  if (fx - zx > at.size) out.push(text((zx + fx) / 2, rail - 5, t(TEXT.ramp), { "font-size": at.size, "text-anchor": "middle", "font-style": "italic", fill: "var(--accent)" }));
  return out;
}

/** The board without what the pointer adds. */
export function board(scene, at) {
  const { run, now, profile } = scene;
  const { span } = run;
  const out = [];
  const label = (x, y, words, more = {}) => text(x, y, words, { "font-size": at.size, ...more });
  out.push(svg("rect", { x: at.left, y: at.top, width: at.room, height: at.tall, fill: "none" }));
  for (const m of [0.5, 1]) out.push(svg("path", { d: `M${at.left} ${at.y(m)}H${at.end}`, stroke: "var(--line)" }));
  const marks = ticks(now.axis, span, at.room, at.size * 3.2);
  out.push(svg("path", { d: marks.map((d) => `M${num(at.x(d))} ${at.bottom}v4`).join(""), stroke: "var(--control)" }));
  for (const d of marks) out.push(label(at.x(d), at.bottom + at.size + 6, d.toLocaleString("en"), { "text-anchor": "middle" }));
  out.push(label((at.left + at.end) / 2, at.bottom + 2 * at.size + 10, t(TEXT.distance), { "text-anchor": "middle", fill: "var(--ink2)" }));
  for (const m of [0, 0.5, 1]) out.push(label(at.left - 8, at.y(m) + at.size * 0.35, String(m), { "text-anchor": "end", fill: m ? "var(--accent)" : "var(--ink3)" }));
  const cells = Math.min(span, run.length); // distances that this text has
  if (cells < span) out.push(svg("rect", { x: at.x(cells), y: at.top, width: at.end - at.x(cells), height: at.tall, fill: "var(--sunk)" }));
  if (profile) {
    const most = ceiling(Math.max(...profile.before, ...profile.after));
    const dim = scene.would ? { opacity: 0.5 } : {};
    out.push(svg("path", { class: "before", d: steps(at, profile.before, at.bottom, at.tall, most), fill: "var(--control)", "fill-opacity": 0.45, ...dim }));
    out.push(svg("path", { class: "after", d: steps(at, profile.after, at.bottom, at.tall, most), fill: "var(--key)", "fill-opacity": 0.8, ...dim }));
    for (const part of [0.25, 1]) out.push(label(at.end + (at.big ? 20 : 13), at.y(Math.sqrt(part)) + at.size * 0.35, String(Number((most * part).toPrecision(3))), { fill: "var(--key)" }));
    out.push(label(at.end + at.right, at.size, t(TEXT.scale), { "text-anchor": "end" }));
  }
  out.push(svg("path", { d: `M${at.left} ${at.bottom}H${at.end}`, stroke: "var(--control)" }));
  out.push(...mask(scene, at));
  out.push(...strips(scene, at));
  if (at.dynamic) out.push(...alongText(scene, at));
  return out;
}

/** The look of one character before the mask, upwards, and after it, downwards, over the last S characters. */
function strips(scene, at) {
  const { run, row, position, z, now } = scene;
  const label = (x, y, words, more = {}) => text(x, y, words, { "font-size": at.size, ...more });
  const y0 = at.strips + at.size;
  if (position === null) return [label(at.left, y0, t(TEXT.none))];
  const name = letterName(run.letters, position);
  const out = [svg("text", { x: at.left, y: y0, "font-size": at.size, fill: "var(--ink2)" }, svg("tspan", { fill: "var(--query)", "font-weight": 650, class: "who", text: name }), svg("tspan", { text: ` ${t(TEXT.looks)}` }))];
  const [upper, lower] = [at.middle, at.middle + at.gap];
  const cells = Math.min(run.span, position + 1);
  const far = at.x(Math.min(reach(z, run.ramp, run.span), cells));
  out.push(svg("rect", { x: at.left, y: upper - at.strip, width: at.x(cells) - at.left, height: at.strip, fill: "var(--sunk)", "fill-opacity": 0.55 }));
  out.push(svg("rect", { x: at.left, y: lower, width: far - at.left, height: at.strip, fill: "var(--sunk)", "fill-opacity": 0.55 }));
  out.push(label(at.left - 8, upper - at.strip / 2 + at.size * 0.35, t(TEXT.before), { "text-anchor": "end" }));
  out.push(label(at.left - 8, lower + at.strip / 2 + at.size * 0.35, t(TEXT.after), { "text-anchor": "end", fill: "var(--key)" }));
  if (cells < run.span && at.end - at.x(cells) > at.size * 7) out.push(label(at.x(cells) + 8, upper + at.gap / 2 + at.size * 0.35, t(TEXT.short)));
  if (!row) return out;
  const most = ceiling(Math.max(...row.before, ...row.after));
  out.push(svg("path", { class: "row-before", d: steps(at, row.before, upper, at.strip, most), fill: "var(--control)" }));
  out.push(svg("path", { class: "row-after", d: steps(at, row.after, lower, -at.strip, most), fill: "var(--key)" }));
  for (const y of [upper - at.strip, lower + at.strip]) out.push(label(at.end + (at.big ? 20 : 13), y + at.size * 0.35, String(most)));
  out.push(label(at.end, y0, t(TEXT.keeps, { w: weight(row.kept) }), { "text-anchor": "end", "font-weight": 650, fill: "var(--ink)", class: "keeps" }));
  out.push(svg("path", { d: `M${num(far)} ${upper - at.strip}V${lower + at.strip}`, stroke: "var(--accent)", "stroke-dasharray": "2 3", "stroke-width": at.big ? 2 : 1 }));
  if (now.axis === "log") {
    for (let x = 0; x < cells; x += 1) {
      if (at.x(x + 1) - at.x(x) < at.size) break;
      const letter = position - 1 - x;
      out.push(label((at.x(x) + at.x(x + 1)) / 2, (upper + lower) / 2 + at.size * 0.35, letter < 0 ? "▸" : shown(run.letters[letter]), { "text-anchor": "middle", fill: "var(--ink)", class: "tfe-mono", "font-family": "monospace" }));
    }
  }
  return out;
}

/** How many characters of the window stand along the text, and from which. */
export function windowOf(scene, at) {
  const cell = at.big ? 20 : 12;
  const count = Math.max(8, Math.min(scene.run.length, Math.floor(at.room / cell)));
  // It turns over like pages, about the locked character, not the hovered one: what is under the pointer stays there.
  const stride = Math.max(1, Math.floor(0.6 * count));
  const page = (here) => Math.max(0, Math.min(scene.run.length - count, Math.floor(here / stride) * stride - Math.floor(0.3 * count)));
  const own = page(scene.now.positions.at(-1) ?? scene.run.given);
  const { position } = scene;
  const first = position === null || (position >= own && position < own + count) ? own : page(position);
  return { first, count, cell: at.room / count, letters: at.alongTop + at.size * 2 + 8, tall: at.big ? 52 : 44, strip: at.big ? 30 : 24 };
}

/** The span at each character: a window of the text with its spans under it, and the whole text. */
function alongText(scene, at) {
  const { run, series, position } = scene;
  const label = (x, y, words, more = {}) => text(x, y, words, { "font-size": at.size, ...more });
  const win = windowOf(scene, at);
  const base = win.letters + 8 + win.tall;
  const out = [label(at.left, at.alongTop + at.size, t(TEXT.span), { fill: "var(--ink2)" })];
  const most = run.span;
  out.push(svg("path", { d: `M${at.left} ${base}H${at.end}M${at.left} ${base - win.tall}H${at.end}`, stroke: "var(--line)" }));
  let d = `M${at.left} ${base}`;
  for (let n = 0; n < win.count; n += 1) {
    const i = win.first + n;
    d += `V${num(base - (win.tall * series[i]) / most)}H${num(at.left + (n + 1) * win.cell)}`;
    if (i === position) {
      out.push(svg("rect", { x: at.left + n * win.cell - 1, y: win.letters - at.size - 1, width: win.cell + 2, height: at.size + 7, rx: 3, fill: "var(--query-soft)", stroke: "var(--query)", "stroke-width": at.big ? 2.5 : 1.5 }));
      out.push(svg("rect", { x: at.left + n * win.cell, y: base - win.tall, width: win.cell, height: win.tall, fill: "var(--query)", "fill-opacity": 0.16 }));
    }
    out.push(label(at.left + (n + 0.5) * win.cell, win.letters, shown(run.letters[i]), { "text-anchor": "middle", class: "tfe-mono", "font-family": "monospace", fill: i === position ? "var(--query)" : i < run.given ? "var(--ink)" : "var(--out)" }));
  }
  out.push(svg("path", { class: "series", d: `${d}V${base}Z`, fill: "var(--accent)", "fill-opacity": 0.22 }));
  out.push(svg("path", { d: d.replace(`M${at.left} ${base}V`, `M${at.left} `), fill: "none", stroke: "var(--accent)", "stroke-width": at.big ? 2.5 : 1.5 }));
  for (const [z, y] of [[most, base - win.tall], [0, base]]) out.push(label(at.left - 8, y + at.size * 0.35, String(z), { "text-anchor": "end" }));
  const [top, low] = [base + 8, base + 8 + win.strip];
  const x = (i) => at.left + (at.room * i) / run.length;
  const lane = Math.max(1, Math.floor(run.length / at.room));
  let all = `M${at.left} ${low}`;
  for (let i = 0; i < run.length; i += lane) all += `V${num(low - (win.strip * Math.max(...series.subarray(i, i + lane))) / most)}H${num(x(Math.min(run.length, i + lane)))}`;
  out.push(svg("rect", { x: at.left, y: top, width: at.room, height: win.strip, fill: "var(--sunk)" }));
  out.push(svg("path", { d: `${all}V${low}Z`, fill: "var(--accent)", "fill-opacity": 0.55 }));
  out.push(svg("rect", { x: x(win.first), y: top - 1, width: Math.max(3, x(win.first + win.count) - x(win.first)), height: win.strip + 2, rx: 2, fill: "none", stroke: "var(--ink2)", "stroke-width": 1.5 }));
  if (position !== null) out.push(svg("path", { d: `M${num(x(position + 0.5))} ${top - 3}V${low + 3}`, stroke: "var(--query)", "stroke-width": 2 }));
  return out;
}

/** What stands under the pointer: {kind: "distance", x} over mask and strips, {kind: "letter", position} along the text, or null. */
export function boardAt(scene, at, x, y) {
  if (x < at.left || x > at.end) return null;
  if (at.dynamic && y >= at.alongTop) {
    const win = windowOf(scene, at);
    const base = win.letters + 8 + win.tall;
    if (y < base + 4) return { kind: "letter", position: Math.min(scene.run.length - 1, win.first + Math.floor((x - at.left) / win.cell)) };
    return { kind: "letter", position: Math.min(scene.run.length - 1, Math.floor(((x - at.left) / at.room) * scene.run.length)) };
  }
  if (y < at.top || y > at.middle + at.gap + at.strip) return null;
  return { kind: "distance", x: Math.min(scene.run.span - 1, Math.floor(at.distance(x))) };
}

/** A thin line through mask and strips at the distance under the pointer. */
export function cross(at, x) {
  const middle = (at.x(x) + at.x(x + 1)) / 2;
  return svg("path", { d: `M${num(middle)} ${at.top}V${at.bottom}M${num(middle)} ${at.middle - at.strip}V${at.middle + at.gap + at.strip}`, stroke: "var(--ink)", "stroke-width": 1, "pointer-events": "none" });
}

/** What the card says of a distance. */
export function distanceLines({ run, z, profile, row, position }, x) {
  const letter = position === null ? null : position - 1 - x;
  const lines = [[t(TEXT.cardBack, { n: x }), ` · ${t(TEXT.cardMask, { m: soft(z, run.ramp, x).toFixed(2) })}`]];
  if (profile && x < profile.before.length) lines.push(["", t(TEXT.cardMean, { before: weight(profile.before[x]), after: weight(profile.after[x]) })]);
  if (row && x < row.before.length) lines.push([letterName(run.letters, letter), ` ${t(TEXT.cardWeight, { before: weight(row.before[x]), after: weight(row.after[x]) })}`]);
  return lines;
}

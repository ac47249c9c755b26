// The bars of all heads: how far each looks, layer by layer, its ramp fading, on an axis from 0 to S.

import { svg } from "./dom.js";
import { t } from "./lang.js";
import { axis, reach, soft, ticks } from "./masknumbers.js";
import { TEXT, percent, spanText } from "./maskwords.js";

const HATCH = "tfe-masks-hatch";

export const text = (x, y, words, more = {}) => svg("text", { x, y, "font-size": 12, fill: "var(--ink3)", text: words, ...more });

/** What the bars of forced heads are filled with. */
export const hatch = () =>
  svg("defs", {}, svg("pattern", { id: HATCH, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("rect", { width: 5, height: 5, fill: "var(--panel)" }), svg("rect", { width: 2, height: 5, fill: "var(--accent)" })));

/** Where everything stands: rows of heads under a line for their layer. */
export function place({ run, now, big, narrow }, width) {
  const [layers, heads] = run.heads;
  const size = big ? 20 : 12;
  const free = window.innerHeight - 270 - layers * 34 - 62;
  const fair = big ? Math.max(13, Math.min(44, free / (layers * heads))) : run.dynamic ? 22 : 18;
  const pitch = layers * heads <= 40 ? fair : Math.max(6, Math.min(fair, 640 / (layers * heads)));
  const told = pitch >= size; // is there room for a head's name and number?
  const line = big ? 28 : 20; // of a layer
  const [left, right] = [size * 2.7, size * 3.4];
  const top = 2;
  const rows = [];
  const titles = [];
  let y = top;
  for (let l = 0; l < layers; l += 1) {
    titles.push(y);
    y += line;
    for (let h = 0; h < heads; h += 1, y += pitch) rows.push(y);
    y += big ? 6 : 8;
  }
  const bottom = y;
  const scale = axis(now.axis, run.span);
  const room = width - left - right;
  return { width, height: bottom + 2 * size + 22, left, room, size, pitch, thick: Math.max(3, Math.min(pitch - 4, big ? 28 : run.dynamic ? 15 : 13)), told, rows, titles, bottom, narrow, x: (d) => left + room * scale.at(Math.max(0, Math.min(run.span, d))), distance: (x) => scale.of((x - left) / room) };
}

/** A bar of span z: solid to z, then fading over the ramp. */
function solid(at, { z, ramp, span, y, fill }) {
  const [zero, full, far] = [at.x(0), at.x(Math.min(z, span)), at.x(Math.min(z + ramp, span))].map(Math.round);
  const parts = full > zero ? [svg("rect", { x: zero, y, width: full - zero, height: at.thick, fill })] : [];
  // Slices of two whole pixels: edges between pixels would show as stripes.
  for (let x = full; x < far; x += 2) parts.push(svg("rect", { x, y, width: Math.min(2, far - x), height: at.thick, fill, "fill-opacity": soft(z, ramp, at.distance(x + 1)).toFixed(3) }));
  return parts;
}

function outline(at, { z, ramp, span, y, ...how }) {
  return svg("rect", { x: at.x(0), y: y + 0.5, width: Math.max(1, at.x(reach(z, ramp, span)) - at.x(0)), height: at.thick - 1, fill: "none", ...how });
}

/** All of it as nodes. */
export function bars(scene, at) {
  const { run, now, spans, forced, lows, highs, hover } = scene;
  const [layers, heads] = run.heads;
  const { span, ramp } = run;
  const out = [hatch()];
  const numbers = []; // they stand before the lines of the means
  const marks = ticks(now.axis, span, at.room, at.size * 3);
  out.push(svg("path", { d: marks.map((d) => `M${at.x(d).toFixed(1)} 2V${at.bottom}`).join(""), stroke: "var(--line)" }));
  for (let l = 0; l < layers; l += 1) {
    const own = Array.from({ length: heads }, (_, h) => reach(spans[l * heads + h], ramp, span));
    const mean = own.reduce((sum, n) => sum + n, 0) / heads;
    const base = at.titles[l] + at.size + 3;
    out.push(text(0, base, t(TEXT.layer, { n: l + 1 }), { "font-size": at.size, "font-weight": 650, fill: "var(--ink2)" }));
    out.push(text(at.width, base, t(TEXT.mean, { n: Math.round(mean) }), { "font-size": at.size, "text-anchor": "end", fill: "var(--ink2)" }));
    for (let h = 0; h < heads; h += 1) {
      const i = l * heads + h;
      const y = Math.round(at.rows[i] + (at.pitch - at.thick) / 2);
      const chosen = l + 1 === now.layer && h + 1 === now.head;
      const over = hover?.kind === "bar" && hover.index === i;
      const z = spans[i];
      const row = svg("g", { class: "head", "data-head": `${l + 1}.${h + 1}` });
      row.append(svg("rect", { x: at.x(0), y, width: at.room, height: at.thick, rx: 2, fill: "var(--sunk)" }));
      if (forced[i]) {
        row.append(outline(at, { z, ramp, span, y, fill: `url(#${HATCH})`, stroke: "var(--accent)", class: "forced" }));
        if (!Number.isNaN(scene.learned[i])) {
          const was = { z: scene.learned[i], ramp, span, y };
          row.append(outline(at, { ...was, stroke: "var(--panel)", "stroke-width": 4 }), outline(at, { ...was, stroke: "var(--ink)", "stroke-dasharray": "4 3", "stroke-width": 1.5, class: "trained" }));
        }
      } else row.append(...solid(at, { z, ramp, span, y, fill: "var(--accent)" }));
      if (lows && !forced[i]) {
        const [from, to, middle] = [at.x(reach(lows[i], ramp, span)), at.x(reach(highs[i], ramp, span)), y + at.thick / 2];
        for (const [colour, wide] of [["var(--panel)", 4], ["var(--ink)", 1.5]]) row.append(svg("path", { class: "range", d: `M${from.toFixed(1)} ${middle}H${to.toFixed(1)}M${from.toFixed(1)} ${middle - 3}v6M${to.toFixed(1)} ${middle - 3}v6`, stroke: colour, "stroke-width": wide }));
      }
      if (chosen || over) {
        row.append(svg("rect", { class: chosen ? "chosen" : "", x: at.x(0) - 2.5, y: y - 2.5, width: at.room + 5, height: at.thick + 5, rx: 4, fill: "none", stroke: chosen ? "var(--query)" : "var(--control)", "stroke-width": chosen ? 2.5 : 1.5 }));
      }
      if (at.told || chosen) {
        const line = at.rows[i] + at.pitch / 2 + at.size * 0.36;
        row.append(text(at.left - 7, line, `${l + 1}·${h + 1}`, { "font-size": at.size, "text-anchor": "end", fill: chosen ? "var(--query)" : "var(--ink3)", "font-weight": chosen ? 650 : 400 }));
        // The number stands at the end of its bar, beyond everything that is drawn there.
        const ends = [own[h], lows && !forced[i] ? reach(highs[i], ramp, span) : 0, forced[i] && !Number.isNaN(scene.learned[i]) ? reach(scene.learned[i], ramp, span) : 0];
        numbers.push(text(at.x(Math.max(...ends)) + 6, line, String(own[h]), { class: "reach", "font-size": at.size, "font-weight": chosen ? 650 : 500, fill: chosen ? "var(--query)" : "var(--ink)", stroke: "var(--sunk)", "stroke-width": 4, "paint-order": "stroke", "stroke-linejoin": "round" }));
      }
      out.push(row);
    }
    const ends = `M${at.x(mean).toFixed(1)} ${at.rows[l * heads] - 4}V${at.rows[l * heads + heads - 1] + at.pitch}`;
    out.push(svg("path", { d: ends, stroke: "var(--panel)", "stroke-width": at.size > 12 ? 5 : 3 }), svg("path", { class: "mean", d: ends, stroke: "var(--ink2)", "stroke-dasharray": "3 2", "stroke-width": at.size > 12 ? 2 : 1.2 }));
  }
  out.push(svg("path", { d: `M${at.x(0)} ${at.bottom}H${at.x(span)}`, stroke: "var(--control)" }));
  for (const d of marks) out.push(text(at.x(d), at.bottom + at.size + 4, d.toLocaleString("en"), { "font-size": at.size, "text-anchor": "middle" }));
  const all = spans.reduce((sum, z) => sum + reach(z, ramp, span), 0) / run.count;
  out.push(text(at.left, at.bottom + 2 * at.size + 16, t(TEXT.meanAll, { n: Math.round(all), share: percent(all / span) }), { "font-size": at.size, "font-weight": 650, fill: "var(--ink2)", class: "all" }));
  return [...out, ...numbers];
}

/** The head whose row is there, a number from 0, or null. */
export function headAt(at, y) {
  const found = at.rows.findIndex((top) => y >= top && y < top + at.pitch);
  return found < 0 ? null : found;
}

/** What the card of a head says. */
export function headLines({ run, spans, lows, highs, forced, learned, leftOf }, i) {
  const heads = run.heads[1];
  const far = reach(spans[i], run.ramp, run.span);
  const lines = [[`${Math.floor(i / heads) + 1}·${(i % heads) + 1}`, ` ${t(TEXT.cardReach, { reach: far, z: spanText(spans[i]), ramp: run.ramp })} · ${percent(far / run.span)}`]];
  if (lows && !forced[i]) lines.push(["", t(TEXT.cardRange, { low: spanText(lows[i]), high: spanText(highs[i]) })]);
  if (forced[i] && !Number.isNaN(learned[i])) lines.push(["", t(TEXT.cardTrained, { z: spanText(learned[i]) })]);
  const left = leftOf(i);
  if (left !== null) lines.push(["", t(TEXT.cardKept, { w: left.toFixed(2) })]);
  return lines;
}

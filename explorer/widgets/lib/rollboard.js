// The rolls as one drawing: every model's notes on the same scale of time and pitch, arcs above the one that is looked at, one cursor.

import { svg } from "./dom.js";
import { t } from "./lang.js";
import { LETTERS, TEXT, pitchName, strongest, weight } from "./rollwords.js";

const ARCS = 12; // that are drawn of a note
const LABELLED = 0.1; // weights that are printed
export const VOICES = [3, 6, 5, 9].map((n) => `var(--cat-${n})`); // soprano to bass: far from each other and from the colours of query and key

/** Where everything stands, in pixels. @param {{run: any, chosen: number, room: number, narrow: boolean, big: boolean, height: number}} scene */
export function place(scene) {
  const { run, chosen, room, narrow, big } = scene;
  const chorale = run.style === "chorale";
  const font = big ? 20 : 12;
  const [left, right] = big ? [96, chorale ? 30 : 10] : [narrow ? 40 : 52, chorale ? 18 : 8];
  const title = big ? 36 : 24;
  const gap = big ? 14 : 8;
  const arched = run.models[chosen].heads !== null || run.state === "running";
  const arcs = arched ? (big ? 96 : narrow ? 44 : 64) : 0;
  const count = run.models.length;
  let [tall, low] = narrow ? [132, 62] : count > 2 ? [168, 96] : [184, 116];
  if (big) {
    const space = Math.max(160, scene.height - count * (title + gap) - arcs - 34);
    tall = count > 1 ? space * 0.56 : space;
    low = (space - tall) / Math.max(1, count - 1);
  }
  const pitches = run.models.flatMap((model) => (model.count ? [model.lowest, model.highest] : []));
  let [bottom, top] = pitches.length ? [Math.min(...pitches) - 2, Math.max(...pitches) + 2] : [55, 79];
  if (top - bottom < 24) [bottom, top] = [Math.floor((top + bottom) / 2) - 12, Math.floor((top + bottom) / 2) + 12];
  let y = 0;
  const rolls = run.models.map((model, i) => {
    const above = i === chosen ? arcs : 0;
    const y0 = y + title + above;
    const y1 = y0 + (i === chosen ? tall : low);
    const row = (y1 - y0) / (top - bottom + 1);
    const roll = { title: y + title - (big ? 12 : 8), y0, y1, row, thick: Math.max(big ? 4 : 2.5, Math.min(big ? 12 : 7, row * 0.82)), above, y: (pitch) => y1 - (pitch - bottom + 0.5) * row };
    y = y1 + gap;
    return roll;
  });
  const wide = room - left - right;
  // While music is made, time has room for all of a chorale; of piano nobody knows how long it will last.
  const total = run.state === "running" || run.state === "stopped" ? (chorale ? Math.max(...run.models.map((model) => model.of)) / 4 : Math.ceil((run.steps + 1) / 500) * 500) : Math.max(1, run.steps);
  return { font, left, right, title, rolls, width: room, height: y - gap + (big ? 30 : 20), bottom, top, total, x: (step) => left + (step / total) * wide, step: (x) => ((x - left) / wide) * total, end: left + wide, axis: y - gap + (big ? 24 : 15) };
}

/** Lines through time and their names: bars of a chorale, seconds of piano. */
function ticks({ run }, at) {
  const unit = run.style === "chorale" ? 16 : 1000 / run.grid;
  const space = (at.end - at.left) / (at.total / unit); // px of a bar or a second
  const every = [1, 2, 4, 5, 10, 20, 30, 60, 120].find((n) => n * space >= 2.6 * at.font) ?? 300;
  const lines = run.style === "chorale" && space >= 8 ? 1 : every;
  return Array.from({ length: Math.floor(at.total / unit) + 1 }, (_, n) => ({ n, step: n * unit, line: n % lines === 0, name: n % every === 0 })).filter(({ line, name }) => line || name);
}

const path = (parts) => parts.join("");

/** What stays while notes and heads are chosen: grounds, lines, names, the notes themselves. */
export function ground(scene, at) {
  const { run, chosen, big, narrow } = scene;
  const out = [];
  const marks = ticks(scene, at);
  const octaves = Array.from({ length: 11 }, (_, n) => 12 * n).filter((pitch) => pitch > at.bottom && pitch < at.top);
  const text = (x, y, words, more) => svg("text", { x, y, "font-size": at.font, fill: "var(--ink3)", text: words, ...more });
  run.models.forEach((model, i) => {
    const { title, y0, y1, y, thick, row } = at.rolls[i];
    const head = svg("text", { x: narrow ? 0 : at.left, y: title, "font-size": big ? 22 : 13, "font-weight": 650, fill: i === chosen ? "var(--accent)" : "var(--ink)" }, svg("tspan", { text: t(model.name) }));
    if (!narrow || big) head.append(svg("tspan", { dx: 8, "font-size": at.font, "font-weight": 400, fill: "var(--ink3)", text: t(model.about) }));
    out.push(head);
    if (model.nats !== null) out.push(text(at.end, title, `${model.nats.toFixed(2)} ${t(run.style === "piano" ? TEXT.events : TEXT.cells)}`, { "text-anchor": "end", fill: "var(--ink2)" }));
    out.push(svg("rect", { x: at.left, y: y0, width: at.end - at.left, height: y1 - y0, fill: "var(--panel)", stroke: "var(--line)", "stroke-width": 1 }));
    if (model.until > 0) out.push(svg("rect", { x: at.left, y: y0, width: Math.min(at.end, at.x(model.until)) - at.left, height: y1 - y0, fill: "var(--sunk)" }));
    out.push(svg("path", { d: path(marks.filter(({ line, step }) => line && step > 0 && step < at.total).map(({ step }) => `M${at.x(step).toFixed(1)} ${y0}V${y1}`)), stroke: "var(--line)", "stroke-width": 1 }));
    out.push(svg("path", { d: path(octaves.map((pitch) => `M${at.left} ${y(pitch).toFixed(1)}H${at.end}`)), stroke: "var(--line)", "stroke-width": 1, "stroke-dasharray": "2 3" }));
    const apart = 12 * row >= at.font * 1.1 ? 1 : 2;
    out.push(...octaves.filter((_, n) => n % apart === 0).map((pitch) => text(at.left - 6, y(pitch) + at.font * 0.35, pitchName(pitch), { "text-anchor": "end" })));
    const lines = Array.from({ length: 5 }, () => []); // of what was given, and of the voices that were made
    const last = [null, null, null, null];
    for (let n = 0; n < model.count; n += 1) {
      const [onset, end, pitch, voice] = [model.notes[4 * n], model.notes[4 * n + 1], model.notes[4 * n + 2], model.notes[4 * n + 3]];
      const from = at.x(onset);
      const wide = Math.max(1.2, at.x(end) - from - 0.8);
      lines[model.givenNotes[n] ? 0 : run.style === "chorale" ? voice + 1 : 1].push(`M${from.toFixed(1)} ${y(pitch).toFixed(1)}h${wide.toFixed(1)}`);
      if (run.style === "chorale" && (last[voice] === null || model.notes[4 * last[voice]] < onset)) last[voice] = n;
    }
    lines.forEach((each, voice) => {
      if (each.length) out.push(svg("path", { class: voice ? "made" : "given", d: path(each), stroke: voice === 0 ? "var(--ink3)" : run.style === "chorale" ? VOICES[voice - 1] : "var(--accent)", "stroke-width": thick, fill: "none" }));
    });
    // The voices' letters stand where their lines end, none over another.
    let above = -Infinity;
    last
      .map((n, voice) => (n === null ? null : { voice, n, y: y(model.notes[4 * n + 2]) }))
      .filter(Boolean)
      .sort((a, b) => a.y - b.y)
      .forEach(({ voice, n, y: place_ }) => {
        above = Math.max(place_, above + at.font * 0.86);
        const x = Math.min(at.end, at.x(model.notes[4 * n + 1])) + 4;
        out.push(text(x, above + at.font * 0.35, LETTERS[voice], { "font-weight": 650, fill: "var(--ink2)" }));
      });
  });
  out.push(text(0, at.axis, t(run.style === "piano" ? TEXT.seconds : TEXT.bar)));
  for (const { n, step, name } of marks) if (name && at.x(step) < at.end - at.font / 2) out.push(text(at.x(step), at.axis, run.style === "piano" ? n : n + 1, { "text-anchor": n ? "middle" : "start" }));
  return out;
}

const noteLine = (at, i, model, note) => {
  const from = at.x(model.notes[4 * note]);
  return `M${from.toFixed(1)} ${at.rolls[i].y(model.notes[4 * note + 2]).toFixed(1)}h${Math.max(2, at.x(model.notes[4 * note + 1]) - from - 0.8).toFixed(1)}`;
};

/** Arcs from a note to those it looked back to. kind: "locked", or "preview" for the one under the pointer. */
function arcs(at, i, model, note, look, kind, labels) {
  const roll = at.rolls[i];
  const out = [];
  const middle = (n) => at.x(model.notes[4 * n]) + Math.min(5, (at.x(model.notes[4 * n + 1]) - at.x(model.notes[4 * n])) / 2);
  const [x, y] = [at.x(model.notes[4 * note]), roll.y(model.notes[4 * note + 2])];
  const found = look ? strongest(look, 0.01, ARCS) : [];
  const most = found.length ? found[0].w : 1;
  const printed = [];
  for (const { note: key, w } of [...found].reverse()) {
    const [kx, ky] = [middle(key), roll.y(model.notes[4 * key + 2])];
    const part = w / most;
    const reach = roll.y0 - roll.above * (0.22 + 0.7 * Math.sqrt(Math.min(1, Math.abs(x - kx) / (at.end - at.left))));
    const top = (Math.min(y, ky) - reach) / 0.75;
    const peak = Math.min(y, ky) - top;
    out.push(svg("path", { class: "arc", d: `M${x.toFixed(1)} ${y.toFixed(1)}C${x.toFixed(1)} ${peak.toFixed(1)} ${kx.toFixed(1)} ${peak.toFixed(1)} ${kx.toFixed(1)} ${ky.toFixed(1)}`, fill: "none", stroke: "var(--key)", "stroke-width": (1 + 5 * Math.min(1, 2 * w) ** 0.7) * (at.font / 12), "stroke-opacity": kind === "preview" ? 0.45 : 0.45 + 0.5 * part, "stroke-dasharray": kind === "preview" ? "4 3" : null }));
    if (kind === "locked") out.push(svg("path", { d: noteLine(at, i, model, key), stroke: "var(--key)", "stroke-width": roll.thick + 1, "stroke-opacity": 0.35 + 0.65 * part, fill: "none" }));
    if (labels && w >= LABELLED) printed.unshift({ x: kx, y: Math.max(ky - roll.thick / 2 - 4, roll.y0 - roll.above + at.font), w });
  }
  out.push(svg("path", { d: noteLine(at, i, model, note), stroke: "var(--query)", "stroke-width": roll.thick + 2, fill: "none" }));
  out.push(svg("circle", { class: kind === "locked" ? "chosen" : "over", cx: x, cy: y, r: at.font / 2.6, fill: "var(--query)", stroke: "var(--panel)", "stroke-width": 1.5 }));
  const taken = [];
  for (const { x: lx, y: ly, w } of printed) {
    const from = Math.max(at.left, lx - at.font * 2.2);
    if (taken.some(([a, b]) => Math.abs(a - from) < at.font * 2.6 && Math.abs(b - ly) < at.font)) continue;
    taken.push([from, ly]);
    out.push(svg("text", { class: "weight", x: from, y: ly, "font-size": at.font, "font-weight": 650, fill: "var(--key)", stroke: "var(--panel)", "stroke-width": 3, "paint-order": "stroke", text: weight(w) }));
  }
  return out;
}

/** Motifs that come back, bracketed: a and a′, b and b′; by how many semitones the second stands higher. */
function brackets(at, i, model, pairs) {
  const roll = at.rolls[i];
  return pairs.flatMap(([first, again, semitones], n) =>
    [first, again].flatMap((part, second) => {
      const highest = Math.max(...part.map((note) => model.notes[4 * note + 2]));
      const [from, to] = [at.x(model.notes[4 * part[0]]), at.x(model.notes[4 * part.at(-1) + 1])];
      const y = roll.y(highest) - roll.thick / 2 - 4;
      const name = `${String.fromCharCode(97 + n)}${second ? `′${semitones ? ` ${semitones > 0 ? "+" : "−"}${Math.abs(semitones)}` : ""}` : ""}`;
      return [
        svg("path", { class: "motif", d: `M${from.toFixed(1)} ${y + 4}V${y}H${to.toFixed(1)}V${y + 4}`, fill: "none", stroke: "var(--ink)", "stroke-width": at.font / 8 }),
        svg("text", { x: from + 2, y: y - 3, "font-size": at.font, "font-weight": 650, fill: "var(--ink)", stroke: "var(--panel)", "stroke-width": 3, "paint-order": "stroke", text: name }),
      ];
    }),
  );
}

/** What changes as notes, heads and motifs are chosen. */
export function over(scene, at) {
  const { run, chosen, now, looks, hover } = scene;
  const model = run.models[chosen];
  const out = [];
  if (now.motifs) out.push(...brackets(at, chosen, model, run.repeats[model.key] ?? []));
  now.notes.forEach((note, n) => out.push(...arcs(at, chosen, model, note, looks[n], "locked", n === now.notes.length - 1)));
  if (hover && !(hover.at === chosen && now.notes.includes(hover.note))) out.push(...arcs(at, hover.at, run.models[hover.at], hover.note, hover.at === chosen ? hover.look : null, "preview", false));
  return out;
}

/** The whole drawing, for what leaves the page. */
export function drawing(scene) {
  const at = place(scene);
  return svg("svg", { viewBox: `0 0 ${at.width} ${at.height}`, width: at.width, height: at.height }, ground(scene, at), over(scene, at));
}

/** The note under a point of the drawing, {at: index of a model, note}, or null. */
export function noteAt({ run }, at, x, y) {
  for (let i = 0; i < run.models.length; i += 1) {
    const roll = at.rolls[i];
    if (y < roll.y0 - 4 || y > roll.y1 + 4) continue;
    const model = run.models[i];
    let [best, least] = [null, Infinity];
    for (let n = 0; n < model.count; n += 1) {
      const [from, to] = [at.x(model.notes[4 * n]), at.x(model.notes[4 * n + 1])];
      const beside = Math.max(0, from - x, x - to);
      const away = Math.abs(roll.y(model.notes[4 * n + 2]) - y);
      if (beside > 3 || away > Math.max(6, roll.thick)) continue;
      if (away + beside < least) [best, least] = [n, away + beside];
    }
    return best === null ? null : { at: i, note: best };
  }
  return null;
}

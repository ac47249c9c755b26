// Where the tokens stand in each of the five steps, and how they travel from one step to the next. A scene's stage is `width` × `height` pixels.

import { deciding } from "./hashnumbers.js";

export const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const ease = (u) => 1 - (1 - u) ** 3;

/** A place for every token: x, y (of its upper left corner), w, h, and how strongly it is drawn; `round`: as dots. */
const room = (n, round) => ({ x: new Float32Array(n), y: new Float32Array(n), w: new Float32Array(n), h: new Float32Array(n), alpha: new Float32Array(n).fill(1), round });

/** The two coordinates that the plane shows, for the position that is told of. */
export function axesOf({ detail, position, plane, round }) {
  const half = detail?.rotated?.shape[1] ?? 1;
  if (plane === "first" || half <= 2 || position === null || !detail?.rotated) return [0, half > 1 ? 1 : null];
  return deciding(detail.rotated.slice(position), round.buckets[position]);
}

function vectors(scene) {
  const { run, width, narrow, big, size, detail, round, model } = scene;
  const n = run.length;
  const side = narrow ? width : Math.min(scene.high, Math.round(width * 0.47));
  const dot = (n <= 64 ? 20 : n <= 140 ? 15 : n <= 300 ? 11 : 7) * (big ? 1.5 : narrow ? 0.8 : 1);
  const centre = [side / 2, narrow ? side / 2 : scene.high / 2];
  const radius = side / 2 - size * 2.3 - dot / 2;
  const [a, b] = axesOf(scene);
  const half = model.kinds / 2;
  const out = room(n, true);
  let most = 1;
  const at = (i, c) => (c === null || !detail?.rotated ? 0 : detail.rotated.data[i * half + c]);
  for (let i = 0; i < n; i += 1) most = Math.max(most, Math.hypot(at(i, a), at(i, b)));
  for (let i = 0; i < n; i += 1) {
    out.x[i] = centre[0] + (radius * at(i, a)) / most - dot / 2;
    out.y[i] = centre[1] - (radius * at(i, b)) / most - dot / 2;
    out.w[i] = out.h[i] = dot;
    // Decided along an axis of this plane, or by a coordinate that it does not show.
    out.alpha[i] = round.buckets[i] % half === a || round.buckets[i] % half === b ? 1 : 0.4;
  }
  const bars = narrow ? { x: 34, y: side + 52, w: width - 38, h: 150 } : { x: side + (big ? 96 : 64), y: size * 3.4, w: width - side - (big ? 100 : 68), h: scene.high - size * 10 };
  return { ...out, side, centre, radius, most, axes: [a, b], bars, dot, need: narrow ? side + 262 : 0 };
}

function along(scene) {
  const { run, width, narrow, big, size, model, round } = scene;
  const n = run.length;
  const columns = run.word ? run.word + 1 : n;
  const digits = String(model.kinds - 1).length;
  const top = size + 14;
  const edge = 4;
  const fit = (cell, numbers) => {
    const most = Math.max(1, Math.floor((width - 2 * edge) / cell + 1e-6));
    const bands = Math.ceil(columns / most);
    const per = Math.ceil(columns / bands);
    const inner = bands === 1 ? (big ? 44 : 30) : big ? 22 : 13; // between the two words
    const tall = Math.min(cell * (bands === 1 ? 1.1 : 0.92), big ? 52 : 38);
    const unit = tall + (numbers ? size + 6 : 0);
    const band = run.word ? 2 * unit + inner + (big ? 30 : 20) : unit + (numbers ? 10 : 6);
    return { cell, per, bands, inner, tall, unit, band, numbers, height: top + bands * band };
  };
  const least = Math.max(17, digits * 7.5 + 2) * (big ? 1.5 : 1);
  const whole = Math.min(big ? 60 : 40, (width - 2 * edge) / columns);
  let found = whole >= least * 1.3 ? fit(whole, true) : null; // in one row, where that leaves room to read
  for (let cell = big ? 58 : 38; cell >= least && !found; cell -= 0.5) found = fit(cell, true).height <= scene.high ? fit(cell, true) : null;
  if (!found && fit(least, true).height <= scene.high * (narrow ? 1.2 : 1.5)) found = fit(least, true);
  for (let cell = least; cell >= 8 && !found; cell -= 0.5) found = fit(cell, false).height <= scene.high || cell <= 8.5 ? fit(cell, false) : null;
  const { cell, per, band, unit, tall, inner, height } = found;
  const left = (width - per * cell) / 2;
  const out = room(n, false);
  for (let i = 0; i < n; i += 1) {
    const second = run.word && i > run.word;
    const column = second ? i - run.word : i;
    out.x[i] = left + (column % per) * cell + 1;
    out.y[i] = top + Math.floor(column / per) * band + (second ? unit + inner : 0);
    out.w[i] = cell - 2;
    out.h[i] = tall;
  }
  // What is left of the stage holds the buckets themselves, with their positions piled up.
  const count = new Int32Array(model.kinds);
  for (const bucket of round.buckets) count[bucket] += 1;
  const free = scene.high - height;
  const step = (width - 2 * edge) / model.kinds;
  const most = count.reduce((a, b) => Math.max(a, b), 1);
  const high = free - 3.6 * size - 10;
  const piles = free >= 110 ? { x: edge, y: height + 2 * size + 4, w: width - 2 * edge, h: high, step, unit: Math.min(high / most, big ? 40 : 26, step * 1.05), count, most } : null;
  return { ...out, ...found, left, top, piles, need: height };
}

function sorting(scene) {
  const { run, width, big, size, round, high } = scene;
  const n = run.length;
  const cell = Math.min((width - 8) / n, big ? 44 : 34); // rings keep their room at both ends
  const left = (width - cell * n) / 2;
  const tall = clamp(cell * 1.15, big ? 22 : 16, big ? 44 : 30);
  const top = 2 * size + 16;
  const numbers = cell >= 2.05 * size * (n > 100 ? 0.95 : 0.7);
  const bottom = high - tall - (numbers ? size + 6 : 2) - 2 * size - 22;
  const gap = cell > 5 ? 1 : cell > 2.5 ? 0.4 : 0;
  const out = room(n, false);
  for (let i = 0; i < n; i += 1) {
    out.x[i] = left + round.rank[i] * cell + gap;
    out.y[i] = bottom;
    out.w[i] = cell - 2 * gap;
    out.h[i] = tall;
  }
  return { ...out, cell, left, tall, top, bottom, gap, numbers, at: (i) => left + i * cell, need: 0 };
}

function chunked(scene) {
  const { run, width, big, size, round, narrow, position, high } = scene;
  const n = run.length;
  const gap = Math.min(big ? 24 : 14, (width * 0.16) / round.chunks);
  const cell = Math.min((width - 8 - gap * (round.chunks - 1)) / n, big ? 44 : 34);
  const left = (width - cell * n - gap * (round.chunks - 1)) / 2;
  const tall = clamp(cell * 1.15, big ? 22 : 16, big ? 44 : 30);
  const top = 2 * size + 14;
  const x = (place) => left + place * cell + Math.floor(place / round.chunk) * gap;
  const own = position === null ? Math.floor(round.chunks / 2) : round.number(position);
  const first = Math.max(0, own - 1) * round.chunk;
  const end = Math.min(n, (own + 1) * round.chunk);
  const inset = cell > 5 ? 1 : cell > 2.5 ? 0.4 : 0;
  const out = room(n, false);
  for (let i = 0; i < n; i += 1) {
    const place = round.rank[i];
    out.x[i] = x(place) + inset;
    out.y[i] = top;
    out.w[i] = cell - 2 * inset;
    out.h[i] = tall;
    out.alpha[i] = place >= first && place < end ? 1 : 0.3;
  }
  // The map of this chunk: its queries, and the keys of the one before and its own.
  const begin = own * round.chunk;
  const [rows, columns] = [end - begin, end - first];
  const names = big ? 92 : 58;
  const heat = top + tall + 4;
  const heatTall = big ? 20 : 12;
  const mapTop = heat + heatTall + (big ? 64 : 46) + size;
  const most = narrow ? width - names : width * 0.6 - names;
  const unit = Math.max(0.5, Math.min(most / columns, (narrow ? 260 : high - mapTop - 8) / rows, big ? 40 : 26));
  const map = { x: names, y: mapTop, unit, rows, columns, begin, first, w: unit * columns, h: unit * rows };
  const list = narrow ? { x: 0, y: mapTop + map.h + 34, w: width } : { x: names + map.w + (big ? 70 : 44), y: mapTop + size, w: width - names - map.w - (big ? 70 : 44) };
  if (!narrow) list.w = Math.min(list.w, big ? 640 : 420);
  return { ...out, cell, gap, left, tall, top, xOf: x, own, heat, heatTall, map, list, need: narrow ? mapTop + Math.min(260, map.h) + 34 + 6 * 24 : 0 };
}

function inPlace(scene) {
  const { run, width, big, size, narrow, high } = scene;
  const n = run.length;
  const names = big ? 40 : 30;
  const top = 2 * size + 12;
  const side = narrow ? width - names - 2 : Math.min(high - top - names - 4, width * 0.5);
  const unit = side / n;
  const band = clamp(unit, big ? 12 : 7, big ? 26 : 16); // the sequence along both axes
  const out = room(n, false);
  const x0 = names + band;
  for (let i = 0; i < n; i += 1) {
    out.x[i] = x0 + i * unit + (unit > 5 ? 0.5 : 0);
    out.y[i] = top;
    out.w[i] = Math.max(0.5, unit - (unit > 5 ? 1 : 0));
    out.h[i] = band;
  }
  const map = { x: x0, y: top + band + 3, side: unit * n, unit };
  const info = narrow ? { x: 0, y: map.y + map.side + 24, w: width } : { x: x0 + map.side + (big ? 60 : 44), y: top, w: width - x0 - map.side - (big ? 60 : 44) };
  const tiles = tilesOf(scene, info);
  return { ...out, band, names, top, map, info, tiles, need: narrow ? info.y + tiles.end - info.y + 8 : tiles.end };
}

/** Small maps of the rounds, and of all together: {x, y, side, turn} each, as large as they fit. */
function tilesOf({ model, big, size, narrow, high }, info) {
  const count = model.rounds + (model.rounds > 1 ? 1 : 0);
  const y = info.y + (narrow ? 84 : big ? 150 : 100) + size * 2;
  const gap = big ? 18 : 12;
  const tall = narrow ? 1000 : Math.max(120, high - y - 6);
  let [side, per] = [0, 1];
  for (let across = narrow ? Math.min(count, 5) : 1; across <= (narrow ? 5 : count); across += 1) {
    const rows = Math.ceil(count / across);
    const one = Math.min((info.w - gap * (across - 1)) / across, (tall - gap * (rows - 1)) / rows, big ? 220 : narrow ? 96 : 150);
    if (one > side + 0.5) [side, per] = [one, across];
  }
  const list = Array.from({ length: count }, (_, n) => ({ x: info.x + (n % per) * (side + gap), y: y + Math.floor(n / per) * (side + gap), side, turn: n < model.rounds ? n : -1 }));
  return { list, y, end: count ? list.at(-1).y + side + 4 : y };
}

/** The places of all five steps. */
export function placesOf(scene) {
  const steps = [vectors(scene), along(scene)];
  const flat = [chunked(scene), inPlace(scene)];
  const high = Math.max(scene.high, ...[...steps, ...flat].map((one) => one.need));
  return { high: Math.ceil(high), steps: [steps[0], steps[1], sorting({ ...scene, high: scene.narrow ? Math.min(high, 420) : high }), ...flat] };
}

/** Where token i is, `u` of the way from one step to another (0 … 1): writes x, y, w, h, alpha and roundness into `into`. */
export function between(places, from, to, u, i, rank, into) {
  const [a, b] = [places.steps[from], places.steps[to]];
  const n = a.x.length;
  const part = rank / n;
  const lean = (p, q, v) => p + (q - p) * v;
  if (Math.abs(from - to) === 1 && Math.min(from, to) === 1) {
    // Between the words and the sorted order lies the plain sequence: first in one row, then along the lines.
    const forth = to === 2;
    const v = forth ? u : 1 - u;
    const [words, order] = [places.steps[1], places.steps[2]];
    const one = ease(clamp(v / 0.42, 0, 1));
    const two = ease(clamp((v - 0.38 - 0.2 * part) / 0.42, 0, 1));
    const x0 = lean(words.x[i], order.at(i) + order.gap, one);
    const y0 = lean(words.y[i], order.top, one);
    // A cubic whose handles stand straight below and above its ends, as the lines are drawn.
    const s = two * two * (3 - 2 * two);
    into.x = lean(x0, order.x[i], s);
    into.y = lean(y0, order.y[i], two);
    into.w = lean(words.w[i], order.w[i], one);
    into.h = lean(words.h[i], order.h[i], one);
    into.alpha = 1;
    into.round = 0;
    return into;
  }
  const v = ease(clamp((u - 0.25 * part) / 0.75, 0, 1));
  for (const name of ["x", "y", "w", "h", "alpha"]) into[name] = lean(a[name][i], b[name][i], v);
  into.round = lean(a.round ? 1 : 0, b.round ? 1 : 0, v);
  return into;
}

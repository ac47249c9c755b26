// What is drawn beside the tokens in the last two steps: chunks with the weights inside one, and the whole map back in its own order.

import { caption, ticks } from "./hashboards.js";
import { ranked } from "./hashnumbers.js";
import { measure, mix } from "./hashpen.js";
import { TEXT, charOf, nameOf, percent, weight } from "./hashwords.js";
import { t } from "./lang.js";
import { paint } from "./raster.js";

const num = (x) => x.toFixed(1);

const colourOf = (table, w) => {
  const at = 3 * Math.round(Math.max(0, Math.min(1, w)) * 255);
  return `#${[0, 1, 2].map((c) => table[at + c].toString(16).padStart(2, "0")).join("")}`;
};

/** A map as a small picture of its own, a pixel for each cell or more. NaN is sunk, −1 stands open. */
export function picture(data, rows, columns, colours, empty, pixels) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.max(1, Math.round(pixels[0])), Math.max(1, Math.round(pixels[1]))];
  paint(canvas.getContext("2d"), { data, rows, columns, colours, empty, x: 0, y: 0, width: canvas.width, height: canvas.height });
  return canvas;
}

// ── 4 · chunks ──
export function chunks(pen, scene, at) {
  const { run, round, colors, size, position, row, big, table, hover } = scene;
  const { map, xOf } = at;
  caption(pen, scene, 0, size, t(TEXT.chunkTitle, { n: round.chunk }), t(TEXT.chunkUnits), scene.width);
  const edge = (chunk) => [xOf(chunk * round.chunk), xOf(Math.min(run.length, (chunk + 1) * round.chunk) - 1) + at.cell];
  let last = Number.NEGATIVE_INFINITY;
  for (let chunk = 0; chunk < round.chunks; chunk += 1) {
    const [x0, x1] = edge(chunk);
    const mine = chunk === at.own;
    const near = chunk === at.own - 1;
    const long = t(TEXT.chunkN, { n: chunk + 1 });
    const label = measure(long, { size, weight: 700 }) <= x1 - x0 + at.gap - 4 ? long : String(chunk + 1);
    const wide = measure(label, { size, weight: mine ? 700 : near ? 650 : 400 });
    const middle = Math.max(wide / 2, Math.min(scene.width - wide / 2, (x0 + x1) / 2));
    if (mine || (middle - wide / 2 > last + 4 && (near || chunk > at.own || (edge(at.own)[0] + edge(at.own)[1]) / 2 - wide > middle + wide / 2))) {
      pen.text(middle, at.top - 6, label, { size, align: "center", weight: mine ? 700 : near ? 650 : 400, fill: mine ? colors.query : near ? colors.key : colors.ink3 });
      last = middle + wide / 2;
    }
    pen.rect(x0 - 2, at.top - 2, x1 - x0 + 4, at.tall + 4 + (mine || near ? at.heatTall + 6 : 0), { stroke: mine ? colors.query : near ? colors.key : colors.control, width: mine || near ? (big ? 3 : 2) : 1, r: 4, alpha: mine || near ? 1 : 0.6 });
  }
  // What the query may look at, and how hard, right under the keys.
  for (let c = 0; c < map.columns; c += 1) {
    const place = map.first + c;
    const key = round.order[place];
    const may = row !== null && row[key] === row[key];
    const open = position !== null && key < position;
    pen.rect(xOf(place) + at.gap * 0.01, at.heat, Math.max(0.6, at.cell - (at.cell > 5 ? 1 : 0)), at.heatTall, { fill: may ? colourOf(table, row[key]) : open && row === null ? mix(colors.sunk, colors.control, 0.4) : colors.sunk });
  }
  const [x0, x1] = [xOf(map.first), xOf(map.first + map.columns - 1) + at.cell];
  const foot = at.heat + at.heatTall + 3;
  pen.path(`M${num(x0)} ${foot}L${num(x1)} ${foot}L${num(map.x + map.w)} ${num(map.y - size * 1.6)}L${num(map.x)} ${num(map.y - size * 1.6)}z`, { fill: colors.sunk, alpha: 0.75 });
  inside(pen, scene, at);
  if (row) list(pen, scene, at.list, t(TEXT.looksAt, { name: nameOf(run, position) }));
  if (hover?.key !== undefined && hover.key !== null && round.rank[hover.key] >= map.first && round.rank[hover.key] < map.first + map.columns) {
    const place = round.rank[hover.key];
    pen.rect(xOf(place) - 1, at.heat - 1, at.cell + 2, at.heatTall + 2, { stroke: colors.key, width: 2 });
  }
}

/** Its weights, (row, column): NaN where a query may not look. */
function within({ round, detail }, map, own) {
  const { chunk, order } = round;
  const data = new Float32Array(map.rows * map.columns).fill(Number.NaN);
  for (let r = 0; r < map.rows; r += 1) {
    const query = order[map.begin + r];
    let others = 0;
    for (let c = 0; c < map.columns; c += 1) {
      if (order[map.first + c] >= query) continue;
      others += 1;
      data[r * map.columns + c] = detail?.weights ? detail.weights.data[(map.begin + r) * 2 * chunk + (map.first + c - (own - 1) * chunk)] : 0;
    }
    if (!others) data[r * map.columns + map.begin - map.first + r] = 1;
  }
  return data;
}

/** The map of one chunk: its queries from above, the keys of the one before and its own. */
function inside(pen, scene, { map, own }) {
  const { run, round, colors, size, position, detail, table, partner, hover, big } = scene;
  const { order } = round;
  const sharp = pen.sharp ?? 2;
  const key = [scene.version, scene.shown, own, Boolean(detail?.weights), scene.theme, Math.round(map.w * sharp), Math.round(map.h * sharp)].join();
  if (scene.cache.chunk !== key) {
    scene.cache.chunk = key;
    scene.cache.inside = picture(within(scene, map, own), map.rows, map.columns, table, colors.sunk, [map.w * sharp, map.h * sharp]);
  }
  pen.image(scene.cache.inside, map.x, map.y, map.w, map.h);
  if (map.unit >= 6) {
    let grid = "";
    for (let c = 1; c < map.columns; c += 1) grid += `M${num(map.x + c * map.unit)} ${num(map.y)}v${num(map.h)}`;
    for (let r = 1; r < map.rows; r += 1) grid += `M${num(map.x)} ${num(map.y + r * map.unit)}h${num(map.w)}`;
    pen.path(grid, { stroke: colors.panel, width: 1, alpha: 0.28 });
  }
  const border = map.x + (map.begin - map.first) * map.unit;
  if (map.begin > map.first) {
    pen.path(`M${num(border)} ${num(map.y - size * 1.5)}V${num(map.y + map.h)}`, { stroke: colors.panel, width: big ? 5 : 3 });
    pen.path(`M${num(border)} ${num(map.y - size * 1.5)}V${num(map.y + map.h)}`, { stroke: colors.ink2, width: big ? 2 : 1.2, dash: [4, 3] });
    said(pen, [t(TEXT.beforeN, { n: own }), t(TEXT.chunkN, { n: own })], (map.x + border) / 2, map.y - size * 1.9, border - map.x, { size, fill: colors.key });
  }
  said(pen, [t(TEXT.ownN, { n: own + 1 }), t(TEXT.chunkN, { n: own + 1 })], (border + map.x + map.w) / 2, map.y - size * 1.9, map.x + map.w - border, { size, fill: colors.query });
  // Names along both sides, in the colours of their buckets.
  for (let c = 0; c < map.columns; c += 1) {
    const key = order[map.first + c];
    const style = colors.bucket(round.buckets[key]);
    const x = map.x + c * map.unit;
    if (map.unit >= 9) pen.text(x + map.unit / 2, map.y - 6, charOf(run.tokens[key]), { size, mono: true, align: "center", weight: key === partner ? 700 : 400, fill: key === partner ? colors.key : colors.ink2 });
    pen.rect(x + 0.5, map.y - 4, Math.max(0.5, map.unit - 1), 3, { fill: style.flat });
  }
  for (let r = 0; r < map.rows; r += 1) {
    const query = order[map.begin + r];
    const y = map.y + r * map.unit;
    pen.rect(map.x - 5, y + 0.5, 4, Math.max(0.5, map.unit - 1), { fill: colors.bucket(round.buckets[query]).flat });
    const here = query === position;
    if (map.unit >= size || here) pen.text(map.x - 10, Math.min(y + map.unit / 2, map.y + map.h) + size * 0.35, `${charOf(run.tokens[query])} ${query}`, { size, align: "right", weight: here ? 700 : 400, fill: here ? colors.query : colors.ink3, halo: here ? colors.panel : undefined });
  }
  if (position !== null) {
    const y = map.y + (round.rank[position] - map.begin) * map.unit;
    pen.rect(map.x - 2, y - 1, map.w + 4, map.unit + 2, { stroke: colors.panel, width: big ? 7 : 5, r: 2 });
    pen.rect(map.x - 2, y - 1, map.w + 4, map.unit + 2, { stroke: colors.query, width: big ? 4 : 2.5, r: 2 });
    const key = hover?.key ?? partner;
    const c = key === null || key === undefined ? -1 : round.rank[key] - map.first;
    if (c >= 0 && c < map.columns) pen.rect(map.x + c * map.unit - 1, y - 1, map.unit + 2, map.unit + 2, { stroke: colors.key, width: big ? 5 : 3, r: 2 });
  }
}

/** The first of some texts that fits. */
const said = (pen, texts, x, y, width, how) => {
  const text = texts.find((one) => measure(one, { size: how.size, weight: 650 }) <= width);
  if (text) pen.text(x, y, text, { ...how, weight: 650, align: "center" });
};

/** What the row looks at, as bars, heaviest first. */
function list(pen, scene, { x, y, w }, title, most = 6) {
  const { run, row, colors, size, big, partner } = scene;
  const found = ranked(row, most);
  const line = big ? 40 : 24;
  const names = Math.max(...found.map(({ key }) => measure(nameOf(run, key), { size: size + 1, weight: 650 }))) + 10;
  const numbers = size * 3.2;
  caption(pen, scene, x, y, title, "", w);
  found.forEach(({ key, w: value }, n) => {
    const top = y + 8 + n * line;
    const long = Math.max(0, w - names - numbers);
    pen.text(x + names - 10, top + line / 2 + size * 0.35, nameOf(run, key), { size: size + 1, align: "right", weight: key === partner ? 700 : 400, fill: key === partner ? colors.key : colors.ink });
    pen.rect(x + names, top + 3, long, line - 6, { fill: colors.sunk, r: 3 });
    if (value > 0) pen.rect(x + names, top + 3, Math.max(1.5, long * value), line - 6, { fill: colors.key, r: 3, alpha: key === partner ? 1 : 0.7 });
    pen.text(x + w, top + line / 2 + size * 0.35, weight(value), { size: size + 1, align: "right", weight: 650, fill: colors.ink });
  });
}

// ── 5 · back in place ──
/** The whole map: −1 in the future, NaN where nothing was computed. */
function whole(scene) {
  const { run, seen, matrix } = scene;
  const n = run.length;
  const data = new Float32Array(n * n).fill(Number.NaN);
  for (let at = 0; at < n * n; at += 1) if (seen[at]) data[at] = matrix ? matrix[at] : 0;
  return data;
}

export function back(pen, scene, at) {
  const { run, colors, size, position, partner, table, big, turn, model, compare, hover } = scene;
  const { map, info, tiles } = at;
  const n = run.length;
  const key = [scene.version, Math.round(map.side), scene.theme].join();
  if (scene.cache.map !== key) {
    scene.cache.map = key;
    scene.cache.picture = picture(whole(scene), n, n, table, colors.sunk, [Math.max(n, map.side * 2), Math.max(n, map.side * 2)]);
  }
  caption(pen, scene, 0, size, turn < 0 ? t(TEXT.mapAll, { n: model.rounds }) : t(TEXT.mapOne, { n: turn + 1 }), t(TEXT.mapUnits), map.x + map.side);
  pen.image(scene.cache.picture, map.x, map.y, map.side, map.side);
  // The future is no part of the map.
  pen.path(`M${num(map.x + map.unit)} ${num(map.y)}H${num(map.x + map.side)}V${num(map.y + map.side - map.unit)}${stairs(map, n)}z`, { fill: colors.panel });
  pen.path(`M${num(map.x)} ${num(map.y)}V${num(map.y + map.side)}H${num(map.x + map.side)}`, { stroke: colors.control });
  for (let i = 0; i < n; i += 1) pen.rect(map.x - at.band - 3, map.y + i * map.unit, at.band, Math.max(0.6, map.unit - (map.unit > 5 ? 1 : 0)), { fill: colors.bucket(scene.round.buckets[i]).flat });
  if (run.word) {
    const w = run.word;
    const far = map.unit * 1.1;
    // A line on either side of the cells (i, i − |w|), from the first letter to the last.
    const line = (d, end) => `M${num(map.x + map.unit)} ${num(map.y + map.unit * (w + 1) + d)}L${num(map.x + map.unit * (w + 1) - end)} ${num(map.y + map.unit * (2 * w + 1) + d - end)}`;
    pen.path(line(-2 * far, 0) + line(2 * far, 2 * far), { stroke: colors.key, width: big ? 2.5 : 1.5, dash: [5, 4] });
    const say = t(TEXT.diagonal, { n: w });
    const width = measure(say, { size, weight: 650 });
    // In the empty half, where it covers nothing.
    if (width + 12 < map.side * 0.5) {
      const [x, y] = [map.x + map.side - 4, map.y + map.side * 0.34];
      pen.text(x, y, say, { size, weight: 650, align: "right", fill: colors.key });
      pen.path(`M${num(x - width / 2)} ${num(y + 6)}Q${num(x - width / 2)} ${num(map.y + map.side * 0.62)} ${num(map.x + map.unit * (w * 0.62) + far + 5)} ${num(map.y + map.unit * (w * 1.62) - far - 1)}`, { stroke: colors.key, width: 1.2 });
    }
  }
  const mark = (i, role) => {
    const y = map.y + i * map.unit;
    pen.rect(map.x - at.band - 4, y - 1.5, at.band + 4 + map.unit * (i + 1) + 2, map.unit + 3, { stroke: colors.panel, width: big ? 6 : 4.5, r: 2 });
    pen.rect(map.x - at.band - 4, y - 1.5, at.band + 4 + map.unit * (i + 1) + 2, map.unit + 3, { stroke: colors[role], width: big ? 3.5 : 2.2, r: 2 });
  };
  if (position !== null) {
    mark(position, "query");
    const found = hover?.key ?? partner;
    if (found !== null && found !== undefined && found <= position) pen.rect(map.x + found * map.unit - 2, map.y + position * map.unit - 2, map.unit + 4, map.unit + 4, { stroke: colors.key, width: big ? 4 : 2.6, r: 2 });
    pen.text(map.x - at.band - 8, map.y + (position + 0.5) * map.unit + size * 0.35, charOf(run.tokens[position]), { size: size + 1, mono: true, weight: 700, align: "right", fill: colors.query });
  }
  ticks(pen, scene, (i) => map.x + i * map.unit, map.unit, at.top - 5);
  told(pen, scene, info, compare);
  rounds(pen, scene, tiles.list);
}

/** The edge of the future, from the last query up to the first. */
function stairs({ x, y, unit }, n) {
  if (unit < 2) return `L${num(x + unit)} ${num(y)}`;
  let d = "";
  for (let q = n - 2; q >= 0; q -= 1) d += `V${num(y + (q + 1) * unit)}H${num(x + (q + 1) * unit)}`;
  return d;
}

/** The one number: how much of the map was computed. */
function told(pen, { colors, size, big, run, met, turn, model }, { x, y, w }, compare) {
  const large = big ? 64 : 40;
  const shown = percent(compare.count / compare.of);
  pen.text(x, y + large * 0.8, shown, { size: large, weight: 700, fill: colors.ink });
  const side = x + measure(shown, { size: large, weight: 700 }) + 14;
  const long = t(TEXT.computed);
  const fits = side + measure(long, { size: size + 1, weight: 650 }) <= x + w;
  pen.text(side, y + large * 0.36, fits ? long : t(TEXT.computedShort), { size: size + 1, weight: 650, fill: colors.ink });
  pen.text(side, y + large * 0.36 + size + 8, t(TEXT.ofPairs, { n: compare.count.toLocaleString("en"), of: compare.of.toLocaleString("en") }), { size, fill: colors.ink3 });
  const bar = y + large + (big ? 16 : 10);
  pen.rect(x, bar, w, big ? 14 : 8, { fill: colors.sunk, r: 3 });
  pen.rect(x, bar, Math.max(2, (w * compare.count) / Math.max(1, compare.of)), big ? 14 : 8, { fill: colors.accent, r: 3 });
  if (run.word) pen.text(x, bar + (big ? 14 : 8) + size + 8, t(turn < 0 ? TEXT.foundAll : TEXT.foundOne, { n: met, of: run.word, rounds: model.rounds }), { size: size + 1, weight: 650, fill: colors.key });
}

/** A small map of every round, who meets whom: one of them, or all together, is what stands left. */
function rounds(pen, scene, list) {
  const { run, model, layer, head, colors, size, turn, cache, theme, big } = scene;
  if (!list.length) return;
  const n = run.length;
  for (const { x, y, side, turn: one } of list) {
    const here = one === turn;
    const key = [model.key, layer, head, one, Math.round(side), theme, run.query].join();
    cache.tiles ??= new Map();
    if (!cache.tiles.has(key)) {
      if (cache.tiles.size > 60) cache.tiles.clear();
      const seen = model.seen(layer, head, one);
      const pixels = Math.round(Math.min(2 * side, 256));
      const data = new Float32Array(n * n);
      for (let at = 0; at < n * n; at += 1) data[at] = seen[at] ? 1 : Number.NaN;
      const two = new Uint8ClampedArray(256 * 3);
      const channels = (hex) => [1, 3, 5].map((c) => Number.parseInt(hex.slice(c, c + 2), 16));
      for (let c = 0; c < 256; c += 1) two.set(channels(one < 0 ? colors.accent : colors.ink2), 3 * c);
      let count = 0;
      for (let q = 0; q < n; q += 1) for (let k = 0; k < q; k += 1) count += seen[q * n + k];
      cache.tiles.set(key, { canvas: picture(data, n, n, two, colors.sunk, [pixels, pixels]), share: count / ((n * (n - 1)) / 2) });
    }
    const { canvas, share } = cache.tiles.get(key);
    pen.image(canvas, x, y, side, side);
    pen.path(`M${num(x)} ${num(y)}H${num(x + side)}V${num(y + side)}z`, { fill: colors.panel });
    pen.rect(x - (here ? 2 : 0), y - (here ? 2 : 0), side + (here ? 4 : 0), side + (here ? 4 : 0), { stroke: here ? colors.accent : colors.line, width: here ? (big ? 4 : 2.5) : 1, r: 3 });
    const name = one < 0 ? t(TEXT.all) : String(one + 1);
    const label = `${name} · ${percent(share)}`;
    const fits = measure(label, { size, weight: 700 }) <= side * 0.7;
    pen.text(x + side - 4, y + size + 4, fits ? label : name, { size, align: "right", weight: here ? 700 : 400, fill: here ? colors.accent : colors.ink2 });
  }
}

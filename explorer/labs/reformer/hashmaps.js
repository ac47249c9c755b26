// The last two steps of hashing: chunks with the weights inside one, and the whole map back in its
// own order. A scene, `s`, is made by hashing.js.

import { upTo } from "../../frontend/lib/arrays.js";
import { blocks } from "../../frontend/lib/blocks.js";
import { t } from "../../frontend/lib/lang.js";
import { shade } from "../../frontend/lib/pen.js";
import { heatOf, lattice } from "../../frontend/lib/sheet.js";
import { shown } from "../../frontend/lib/signs.js";
import { ticks } from "./hashboards.js";
import { ranked, window_ } from "./hashnumbers.js";
import {
  caption,
  clamp,
  css,
  inData,
  notesIn,
  partAround,
  SPOT,
  styleOf,
  tilesIn,
  tokensIn,
} from "./hashtiles.js";
import { pooled, triangle } from "./triangle.js";
import { cardOf, cardOfPair, cardOfRound, nameOf, percent, TEXT } from "./hashwords.js";

// ── 4 · chunks ──
export const chunks = {
  place(s) {
    const { run, width, big, size, round, narrow, position, high } = s;
    const gap = Math.min(big ? 24 : 14, (width * 0.16) / round.chunks);
    const cell = Math.min((width - 8 - gap * (round.chunks - 1)) / run.length, big ? 44 : 34);
    const left = (width - cell * run.length - gap * (round.chunks - 1)) / 2;
    const tall = clamp(cell * 1.15, big ? 22 : 16, big ? 44 : 30);
    const top = 2 * size + 14;
    const x = (place) => left + place * cell + Math.floor(place / round.chunk) * gap;
    const own = position === null ? Math.floor(round.chunks / 2) : round.number(position);
    const [first, end] = window_(round, own);
    const inset = cell > 5 ? 1 : cell > 2.5 ? 0.4 : 0;
    const spots = Array.from(
      round.rank,
      (place) => ({
        ...SPOT,
        x: x(place) + inset,
        y: top,
        w: cell - 2 * inset,
        h: tall,
        alpha: place >= first && place < end ? 1 : 0.3,
      }),
    );
    // The map of this chunk: its queries, and the keys of the one before and its own.
    const begin = own * round.chunk;
    const [rows, columns, names] = [end - begin, end - first, big ? 92 : 58];
    const [heat, heatTall] = [top + tall + 4, big ? 20 : 12];
    const y = heat + heatTall + (big ? 64 : 46) + size;
    const most = narrow ? width - names : width * 0.6 - names;
    const unit = Math.max(
      0.5,
      Math.min(most / columns, (narrow ? 260 : high - y - 8) / rows, big ? 40 : 26),
    );
    const map = {
      x: names,
      y,
      unit,
      rows,
      columns,
      begin,
      first,
      w: unit * columns,
      h: unit * rows,
    };
    const side = names + map.w + (big ? 70 : 44);
    const list = narrow
      ? { x: 0, y: y + map.h + 34, w: width }
      : { x: side, y: y + size, w: Math.min(width - side, big ? 640 : 420) };
    return {
      spots,
      cell,
      gap,
      tall,
      top,
      x,
      own,
      heat,
      heatTall,
      map,
      list,
      need: narrow ? y + Math.min(260, map.h) + 184 : 0,
    };
  },

  draw(s, at) {
    const { run, round, size, position, row, big, pen, sheet } = s;
    const { map, x, own } = at;
    caption(s, 0, size, t(TEXT.chunkTitle, { n: round.chunk }), t(TEXT.chunkUnits));
    const edge = (
      chunk,
    ) => [x(chunk * round.chunk), x(Math.min(run.length, (chunk + 1) * round.chunk) - 1) + at.cell];
    const end = at.x(run.length - 1) + at.cell;
    const strip = { x: at.x(0), y: at.top, w: end - at.x(0), h: at.heat + at.heatTall - at.top };
    const part = partAround(s, strip, [strip.w / at.cell, 1], { top: size + 10, bottom: 6 });
    const [taken, notes] = [[], []];
    // Its own chunk is named first, then the one before, others where they have room.
    const near = (chunk) => [own - 1, own].indexOf(chunk);
    for (const chunk of upTo(round.chunks).sort((a, b) => near(b) - near(a))) {
      const [x0, x1] = edge(chunk);
      const role = chunk === own ? "query" : chunk === own - 1 ? "key" : null;
      const how = { weight: chunk === own ? 700 : role ? 650 : 400, colour: role ?? "ink3" };
      const long = t(TEXT.chunkN, { n: chunk + 1 });
      const label = pen.measure(long, { size, weight: 700 }) <= x1 - x0 + at.gap - 4
        ? long
        : String(chunk + 1);
      const half = pen.measure(label, { ...how, size }) / 2;
      const middle = clamp((x0 + x1) / 2, half, s.width - half);
      if (taken.every((one) => Math.abs(one.middle - middle) > one.half + half + 4)) {
        taken.push({ middle, half });
        notes.push([middle, at.top - 6 - 0.36 * size, label, how]);
      }
      const frame = { x: x0, y: at.top, w: x1 - x0, h: at.tall + (role ? at.heatTall + 6 : 0) };
      part.rect(...inData(part, frame, 2), {
        line: role ?? "control",
        radius: 4,
        width: role ? (big ? 3 : 2) : 1,
        alpha: role ? 1 : 0.6,
      });
    }
    notesIn(part, notes, size);
    // What the query may look at, and how hard, right under the keys.
    const wide = Math.max(0.6, at.cell - (at.cell > 5 ? 1 : 0));
    const cell = (place) => ({ x: x(place), y: at.heat, w: wide, h: at.heatTall });
    const ends = [x(map.first), x(map.first + map.columns - 1) + at.cell];
    const heat = { x: ends[0], y: at.heat, w: ends[1] - ends[0], h: at.heatTall };
    const beneath = s.panel({
      x0: heat.x - 2,
      x1: ends[1] + 2,
      y0: heat.y - 2,
      y1: heat.y + heat.h + 2,
    });
    const under = partAround({ sheet: beneath }, heat, [heat.w / at.cell, 1], {
      ...{ left: 2, right: 2, top: 2, bottom: 2 },
    });
    tilesIn(
      under,
      upTo(map.columns, (n) => {
        const key = round.order[map.first + n];
        const has = row && row[key] === row[key];
        const early = position !== null && key < position && !row;
        const fill = has ? shade("weights", row[key]) : `var(--${early ? "line" : "sunk"})`;
        return { ...cell(map.first + n), fill };
      }),
    );
    tokensIn(s, part, [...at.spots.entries()]);
    const [foot, top] = [at.heat + at.heatTall + 3, map.y - size * 1.6];
    const path = `M${x(map.first)},${foot}L${x(map.first + map.columns - 1) + at.cell},${foot}L${
      map.x + map.w
    },${top}L${map.x},${top}Z`;
    sheet.plane.shape({ type: "path", path }, { fill: "sunk", alpha: 0.75, layer: "below" });
    inside(s, at);
    if (row) list(s, at.list, t(TEXT.looksAt, { name: nameOf(run, position) }));
    const place = s.key === null ? -1 : round.rank[s.key];
    if (place >= map.first && place < map.first + map.columns) {
      under.rect(...inData(under, cell(place), 1), { line: "key", width: 2 });
    }
  },

  point(s, at) {
    const { round, anchor, pen } = s;
    const { map } = at;
    const box = (i) => {
      const { x, w } = at.spots[i];
      const place = round.rank[i];
      const inSight = anchor !== null && i < anchor && place >= map.first &&
        place < map.first + map.columns;
      return {
        x0: x,
        x1: x + w,
        y0: at.top,
        y1: at.heat + at.heatTall,
        still: true,
        ...(inSight
          ? { look: { pos: anchor, key: i, to: i }, pos: i, card: () => cardOfPair(s, anchor, i) }
          : { look: { pos: i }, card: () => cardOf(s, i) }),
      };
    };
    pen.hit({
      x0: 0,
      x1: s.width,
      y0: at.top - 4,
      y1: at.heat + at.heatTall + 4,
      of: (i) => (at.spots[i] ? { ...box(i), look: { pos: i } } : null),
      at(x) {
        const i = at.spots.findIndex((spot) => x >= spot.x && x <= spot.x + Math.max(spot.w, 1));
        return i < 0 ? null : box(i);
      },
    });
    pen.hit({
      x0: 0,
      x1: map.x + map.w - 0.01,
      y0: map.y,
      y1: map.y + map.h - 0.01,
      at(x, y) {
        const [c, r] = [Math.floor((x - map.x) / map.unit), Math.floor((y - map.y) / map.unit)];
        const query = round.order[map.begin + r];
        const area = {
          x0: map.x + c * map.unit,
          x1: map.x + (c + 1) * map.unit,
          y0: map.y + r * map.unit,
          y1: map.y + (r + 1) * map.unit,
          still: true,
        };
        if (c < 0) return { ...area, look: { pos: query }, card: () => cardOf(s, query) };
        const key = round.order[map.first + c];
        return {
          ...area,
          look: { pos: query, key },
          pos: key,
          card: () => cardOfPair(s, query, key),
        };
      },
    });
  },
};

/**
 * Its weights, (row, column): NaN where a query may not look, 0 where they are still on their way.
 */
function within({ round, rowOf }, map) {
  const data = new Float32Array(map.rows * map.columns);
  for (let r = 0; r < map.rows; r += 1) {
    const query = round.order[map.begin + r];
    const row = rowOf(query);
    for (let c = 0; c < map.columns; c += 1) {
      const key = round.order[map.first + c];
      data[r * map.columns + c] = row ? row[key] : key < query ? 0 : Number.NaN;
    }
  }
  return data;
}

/** The map of one chunk: its queries from above, the keys of the one before and its own. */
function inside(s, { map, own }) {
  const { run, round, size, position, partner, big, pen } = s;
  const { order } = round;
  const box = { x0: map.x, x1: map.x + map.w, y0: map.y, y1: map.y + map.h };
  const around = { left: map.x, top: size * 3 };
  const sheet = s.panel({ ...box, x0: 0, x1: box.x1 + 4, y0: box.y0 - size * 3, y1: box.y1 + 4 });
  const part = partAround({ sheet }, map, [map.columns, map.rows], around);
  const whole = [-0.5, map.columns - 0.5, -0.5, map.rows - 0.5];
  part.rect(...whole, { fill: "sunk", layer: "below" });
  part.add(heatOf({ data: within(s, map), rows: map.rows, columns: map.columns }));
  if (map.unit >= 6) sheet.shapes.push(...lattice(map.rows, map.columns, part.refs));
  const notes = [];
  const border = map.begin - map.first - 0.5;
  const named = (texts, from, to, role) => {
    const text = texts.find((one) => pen.measure(one, { size, weight: 650 }) <= to - from);
    const style = { weight: 650, colour: role };
    if (text) notes.push([(from + to) / 2, map.y - size * 2.26, text, style]);
  };
  if (map.begin > map.first) {
    const high = -0.5 - (size * 1.5) / map.unit;
    part.line(border, high, border, map.rows - 0.5, { line: "panel", width: big ? 5 : 3 });
    part.line(border, high, border, map.rows - 0.5, {
      line: "ink2",
      width: big ? 2 : 1.2,
      dash: "4px,3px",
    });
    const texts = [t(TEXT.beforeN, { n: own }), t(TEXT.chunkN, { n: own })];
    named(texts, map.x, part.x(border), "key");
  }
  named(
    [t(TEXT.ownN, { n: own + 1 }), t(TEXT.chunkN, { n: own + 1 })],
    part.x(border),
    box.x1,
    "query",
  );
  // Names along both sides, in the colours of their buckets.
  const tiles = [];
  const colourOf = (i) => styleOf(round.buckets[i]).flat;
  for (let c = 0; c < map.columns; c += 1) {
    const [key, x] = [order[map.first + c], map.x + c * map.unit];
    const name = (
      style,
    ) => [x + map.unit / 2, map.y - 6 - 0.36 * size, shown(run.tokens[key]), style];
    if (map.unit >= (big ? 13 : 9)) notes.push(name({ face: "mono" }));
    if (key === partner) notes.push(name({ weight: 700, colour: "key" }));
    tiles.push({ x: x + 0.5, y: map.y - 4, w: Math.max(0.5, map.unit - 1), h: 3, key });
  }
  for (let r = 0; r < map.rows; r += 1) {
    const [query, y] = [order[map.begin + r], map.y + r * map.unit];
    const name = (style) => [
      map.x - 8,
      y + map.unit / 2,
      `${shown(run.tokens[query])} ${query}`,
      { align: "right", ...style },
    ];
    if (map.unit >= size) notes.push(name({ colour: "ink3" }));
    if (query === position) notes.push(name({ weight: 700, colour: "query" }));
    tiles.push({ x: map.x - 5, y: y + 0.5, w: 4, h: Math.max(0.5, map.unit - 1), key: query });
  }
  tilesIn(part, tiles.map(({ key, ...tile }) => ({ ...tile, fill: css(colourOf(key)) })));
  notesIn(part, notes, size);
  if (position === null) return;
  const r = round.rank[position] - map.begin;
  part.outline(-0.5, map.columns - 0.5, r - 0.5, r + 0.5, "query", big ? 4 : 2.5);
  const key = s.key ?? partner;
  const c = key === null ? -1 : round.rank[key] - map.first;
  if (c >= 0 && c < map.columns) {
    part.outline(c - 0.5, c + 0.5, r - 0.5, r + 0.5, "key", big ? 5 : 3);
  }
}

/** What the row looks at, as bars, heaviest first. */
function list(s, { x, y, w }, title) {
  const { run, row, size, big, partner, pen } = s;
  const line = big ? 34 : 24;
  const found = ranked(
    row,
    big ? Math.max(2, Math.min(6, Math.floor((s.high - y - 8) / line))) : 6,
  );
  const style = { size: size + 1, weight: 650 };
  const names = Math.max(...found.map(({ key }) => pen.measure(nameOf(run, key), style))) + 10;
  const long = Math.max(1, w - names - size * 3.2);
  caption(s, x, y, title, "", w);
  const box = { x: x + names, y: y + 8, w: long, h: found.length * line };
  const sheet = s.panel({ x0: x, x1: x + w, y0: box.y - 4, y1: box.y + box.h + 4 });
  const around = { left: names, right: w - names - long };
  const part = partAround({ sheet }, box, [1, found.length], around);
  const wide = (line - 6) / line;
  const here = ({ key }) => key === partner;
  const bars = (to, fill, alpha) =>
    blocks(
      found.map((one, at) => ({
        ...{ at, wide, fill, from: -0.5, to: to(one) - 0.5 },
        alpha: alpha(one),
      })),
      { upright: false },
    );
  part.add(
    bars(() => 1, "var(--sunk)", () => 1),
    bars(({ w: value }) => value, "var(--key)", (one) => (here(one) ? 1 : 0.7)),
  );
  const middle = (at) => y + 8 + (at + 0.5) * line;
  notesIn(part, [
    ...found.map((one, at) => [x + names - 8, middle(at), nameOf(run, one.key), {
      size: size + 1,
      align: "right",
      weight: here(one) ? 700 : 400,
      colour: here(one) ? "key" : "ink",
    }]),
    ...found.map(({ w: value }, at) => [x + w - 1, middle(at), value.toFixed(2), {
      ...style,
      align: "right",
      colour: "ink",
    }]),
  ], size);
}

// ── 5 · back in place ──
export const back = {
  place(s) {
    const { run, width, big, size, narrow, high, model } = s;
    const [names, top] = [big ? 40 : 30, 2 * size + 12];
    const side = narrow ? width - names - 20 : Math.min(high - top - names - 4, width * 0.5);
    const unit = side / run.length;
    const band = clamp(unit, big ? 12 : 7, big ? 26 : 16); // the sequence along both axes
    const gap = unit > 5 ? 0.5 : 0;
    const map = { x: names + band, y: top + band + 3, side, unit };
    const spots = upTo(
      run.length,
      (i) => ({
        ...SPOT,
        x: map.x + i * unit + gap,
        y: top,
        w: Math.max(0.5, unit - 2 * gap),
        h: band,
      }),
    );
    const beside = map.x + side + (big ? 60 : 44);
    const info = narrow
      ? { x: 0, y: map.y + side + 24, w: width }
      : { x: beside, y: top, w: width - beside };
    // Small maps of the rounds, and of all together, as large as they fit.
    const count = model.rounds + (model.rounds > 1 ? 1 : 0);
    const [from, apart] = [info.y + (narrow ? 84 : big ? 150 : 100) + size * 2, big ? 18 : 12];
    const tall = narrow ? 1000 : Math.max(120, high - from - 6);
    const sized = (across) =>
      Math.min(
        (info.w - apart * (across - 1)) / across,
        big ? 220 : narrow ? 96 : 150,
        (tall - apart * (Math.ceil(count / across) - 1)) / Math.ceil(count / across),
      );
    const ways = narrow ? [Math.min(count, 5)] : upTo(count, (n) => n + 1);
    const per = ways.reduce(
      (best, across) => (sized(across) > sized(best) + 0.5 ? across : best),
      ways[0] ?? 1,
    );
    const tiles = upTo(
      count,
      (n) => ({
        x: info.x + (n % per) * (sized(per) + apart),
        side: sized(per),
        y: from + Math.floor(n / per) * (sized(per) + apart),
        turn: n < model.rounds ? n : -1,
      }),
    );
    return {
      spots,
      band,
      top,
      map,
      info,
      tiles,
      need: count ? tiles.at(-1).y + sized(per) + 12 : from,
    };
  },

  draw(s, at) {
    const { run, round, size, position, partner, big, turn, model } = s;
    const [{ map, band }, n] = [at, run.length];
    caption(
      s,
      0,
      size,
      turn < 0 ? t(TEXT.mapAll, { n: model.rounds }) : t(TEXT.mapOne, { n: turn + 1 }),
      t(TEXT.mapUnits),
      map.x + map.side,
    );
    const around = { left: map.x, right: 8, top: map.y - at.top + size + 10 };
    const part = partAround(s, { ...map, w: map.side, h: map.side }, [n, n], around);
    const weight = (
      q,
      k,
    ) => (s.seen[q * n + k] ? (s.matrix ? s.matrix[q * n + k] : 0) : Number.NaN);
    const { by, ...heat } = s.kept("map", () => {
      const { data, rows, columns } = pooled(n, weight, 512);
      const by = Math.ceil(n / 512);
      const first = (by - 1) / 2;
      return { ...heatOf({ data, rows, columns }), x0: first, dx: by, y0: first, dy: by, by };
    });
    // The future is no part of the map; what a query does not see before it is.
    const stairs = upTo(Math.ceil(n / by), (i) => Math.min(n, (i + 1) * by) - 0.5)
      .map((end) => `H${end}V${end}`).join("");
    part.shape({ type: "path", path: `M-0.5,-0.5${stairs}H-0.5Z` }, {
      fill: "sunk",
      layer: "below",
    });
    part.add(heat);
    for (const end of [[-0.5, -0.5], [n - 0.5, n - 0.5]]) {
      part.line(-0.5, n - 0.5, ...end, { line: "control" });
    }
    const thick = Math.max(0.6, map.unit - (map.unit > 5 ? 1 : 0));
    const left = map.x - band - 3;
    tilesIn(
      part,
      upTo(n, (i) => ({
        ...{ x: left, y: map.y + i * map.unit, w: band, h: thick },
        fill: css(styleOf(round.buckets[i]).flat),
      })),
    );
    tokensIn(s, part, [...at.spots.entries()]);
    const ticks_ = ticks(s, (i) => map.x + i * map.unit, map.unit, at.top - 5 - 0.36 * size);
    if (run.word) diagonal(s, part, map);
    if (position !== null) {
      const row = { x: left, y: map.y + position * map.unit, h: map.unit };
      part.rect(...inData(part, { ...row, w: band + 3 + map.unit * (position + 1) }, 1.5), {
        line: "query",
        width: big ? 3.5 : 2.2,
        radius: 2,
      });
      const key = s.key ?? partner;
      if (key !== null && key <= position) {
        part.rect(...inData(part, { ...row, x: map.x + key * map.unit, w: map.unit }, 2), {
          line: "key",
          width: big ? 4 : 2.6,
          radius: 2,
        });
      }
      ticks_.push([left - 5, row.y + map.unit / 2, shown(run.tokens[position]), {
        size: size + 1,
        face: "mono",
        weight: 700,
        align: "right",
        colour: "query",
      }]);
    }
    notesIn(part, ticks_, size);
    share(s, at.info);
    rounds(s, at.tiles);
  },

  point(s, at) {
    const { map } = at;
    s.pen.hit({
      x0: map.x - at.band - 4,
      x1: map.x + map.side - 0.01,
      y0: at.top - 4,
      y1: map.y + map.side - 0.01,
      of: (i) => ({ ...row(i), look: { pos: i } }),
      at(x, y) {
        const [k, q] = [Math.floor((x - map.x) / map.unit), Math.floor((y - map.y) / map.unit)];
        if (q < 0) return k < 0 ? null : { ...row(k), look: { pos: k }, card: () => cardOf(s, k) };
        if (k < 0) return { ...row(q), look: { pos: q }, card: () => cardOf(s, q) };
        return k > q ? null : {
          ...row(q),
          x0: map.x + k * map.unit,
          look: { pos: q, key: k },
          pos: k,
          card: () => cardOfPair(s, q, k),
        };
      },
    });
    const row = (i) => ({
      x0: map.x - at.band,
      x1: map.x,
      y0: map.y + i * map.unit,
      y1: map.y + (i + 1) * map.unit,
      still: true,
    });
    for (const { x, y, side, turn } of at.tiles) {
      s.pen.hit({
        x0: x,
        x1: x + side,
        y0: y,
        y1: y + side,
        quiet: true,
        look: { hashinground: turn < 0 ? "all" : String(turn + 1) },
        card: () => cardOfRound(turn, s.comparedBy(turn)),
      });
    }
  },
};

/**
 * A line on either side of the cells (i, i − |w|), from the first letter to the last, and what they
 * are.
 */
function diagonal({ run: { word: w }, big, size, pen }, part, { x, y, side, unit }) {
  const style = { line: "key", width: big ? 2.5 : 1.5, dash: "5px,4px" };
  part.line(0.5, w - 1.7, w + 0.5, 2 * w - 1.7, style);
  part.line(0.5, w + 2.7, w - 1.7, 2 * w + 0.5, style);
  const say = t(TEXT.diagonal, { n: w });
  const wide = pen.measure(say, { size, weight: 650 });
  if (wide + 12 >= side * 0.5) return;
  const [tx, ty] = [x + side - 4, y + side * 0.34]; // in the empty half, where it covers nothing
  notesIn(part, [[tx, ty, say, { weight: 650, align: "right", colour: "key" }]], size);
  const at = (px, py) => `${part.backX(px)},${part.backY(py)}`;
  const end = at(x + unit * (w * 0.62 + 1.1) + 5, y + unit * (w * 1.62 - 1.1) - 1);
  const path = `M${at(tx - wide / 2, ty + 9)}Q${at(tx - wide / 2, y + side * 0.62)} ${end}`;
  part.shape({ type: "path", path }, { line: "key", width: 1.2 });
}

/** The one number: how much of the map was computed. */
function share(s, { x, y, w }) {
  const { size, big, run, met, turn, model, compare: { count, of }, pen } = s;
  const [large, tall] = big ? [64, 14] : [40, 8];
  const value = percent(count / of);
  s.text(x, y + large * 0.8, value, { size: large, weight: 700, colour: "ink" });
  const side = x + pen.measure(value, { size: large, weight: 700 }) + 14;
  const strong = { size: size + 1, weight: 650 };
  const fits = side + pen.measure(t(TEXT.computed), strong) <= x + w;
  s.text(side, y + large * 0.36, t(fits ? TEXT.computed : TEXT.computedShort), {
    ...strong,
    colour: "ink",
  });
  s.text(
    side,
    y + large * 0.36 + size + 8,
    t(TEXT.ofPairs, { n: count.toLocaleString("en"), of: of.toLocaleString("en") }),
    { colour: "ink3" },
  );
  const bar = y + large + (big ? 16 : 10);
  const part = s.sheet.part({ x0: x, x1: x + w, y0: bar, y1: bar + tall }, {
    x: { range: [0, Math.max(1, of)], fixedrange: true },
    y: { range: [0, 1], fixedrange: true },
  });
  part.add(blocks([
    { at: 0.5, from: 0, to: Math.max(1, of), fill: "var(--sunk)" },
    { at: 0.5, from: 0, to: count, fill: "var(--accent)" },
  ], { upright: false }));
  if (!run.word) return;
  const found = t(turn < 0 ? TEXT.foundAll : TEXT.foundOne, {
    n: met,
    of: run.word,
    rounds: model.rounds,
  });
  pen.lines(found, w, strong)
    .forEach((line, n) =>
      s.text(x, bar + tall + (size + 8) * (n + 1), line, { ...strong, colour: "key" })
    );
}

/**
 * A small map of every round, who meets whom: one of them, or all together, is what stands left.
 * The pen draws them: as Plotly's they would cost as much as the large one each.
 */
function rounds(s, tiles) {
  const { run: { length: n }, size, turn, big, pen } = s;
  for (const { x, y, side, turn: one } of tiles) {
    const here = one === turn;
    const seen = s.seenIn(one);
    const scale = ["sunk", one < 0 ? "accent" : "ink2"];
    triangle(pen, { x0: x, x1: x + side, y0: y, y1: y + side }, {
      ...s.kept(`tile ${one}`, () => pooled(n, (q, k) => seen[q * n + k], 256)),
      scale,
    });
    const grow = here ? 2 : 0;
    s.rect(x - grow, y - grow, side + 2 * grow, side + 2 * grow, {
      line: here ? "accent" : "line",
      width: here ? (big ? 4 : 2.5) : 1,
      radius: 3,
    });
    const { count, of } = s.comparedBy(one);
    const name = one < 0 ? t(TEXT.all) : String(one + 1);
    const label = `${name} · ${percent(count / of)}`;
    const fits = pen.measure(label, { size, weight: 700 }) <= side * 0.7;
    s.write(x + side - 4, y + size + 4, fits ? label : name, {
      align: "right",
      weight: here ? 700 : 400,
      colour: here ? "accent" : "ink2",
    });
  }
}

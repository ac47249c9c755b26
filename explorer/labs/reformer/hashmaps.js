// The last two steps of hashing: chunks with the weights inside one, and the whole map back in its own order. A scene,
// `s`, is made by hashing.js.

import { upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { shade } from "../../frontend/lib/pen.js";
import { shown } from "../../frontend/lib/signs.js";
import { caption, clamp, SPOT, styleOf, ticks } from "./hashboards.js";
import { ranked, window_ } from "./hashnumbers.js";
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
    const { run, round, size, position, row, big, pen } = s;
    const { map, x, own } = at;
    caption(s, 0, size, t(TEXT.chunkTitle, { n: round.chunk }), t(TEXT.chunkUnits));
    const edge = (
      chunk,
    ) => [x(chunk * round.chunk), x(Math.min(run.length, (chunk + 1) * round.chunk) - 1) + at.cell];
    const taken = [];
    // Its own chunk is named first, then the one before, others where they have room.
    const near = (chunk) => [own - 1, own].indexOf(chunk);
    for (const chunk of upTo(round.chunks, (n) => n).sort((a, b) => near(b) - near(a))) {
      const [[x0, x1], role] = [
        edge(chunk),
        chunk === own ? "query" : chunk === own - 1 ? "key" : null,
      ];
      const how = {
        align: "center",
        weight: chunk === own ? 700 : role ? 650 : 400,
        colour: role ?? "ink3",
      };
      const long = t(TEXT.chunkN, { n: chunk + 1 });
      const label = pen.measure(long, { size, weight: 700 }) <= x1 - x0 + at.gap - 4
        ? long
        : String(chunk + 1);
      const half = pen.measure(label, { ...how, size }) / 2;
      const middle = clamp((x0 + x1) / 2, half, s.width - half);
      if (taken.every((one) => Math.abs(one.middle - middle) > one.half + half + 4)) {
        taken.push({ middle, half });
        s.text(middle, at.top - 6, label, how);
      }
      s.rect(x0 - 2, at.top - 2, x1 - x0 + 4, at.tall + 4 + (role ? at.heatTall + 6 : 0), {
        line: role ?? "control",
        radius: 4,
        width: role ? (big ? 3 : 2) : 1,
        alpha: role ? 1 : 0.6,
      });
    }
    // What the query may look at, and how hard, right under the keys.
    for (let place = map.first; place < map.first + map.columns; place += 1) {
      const key = round.order[place];
      const fill = row && row[key] === row[key]
        ? shade("weights", row[key])
        : position !== null && key < position && !row
        ? "line"
        : "sunk";
      s.rect(x(place), at.heat, Math.max(0.6, at.cell - (at.cell > 5 ? 1 : 0)), at.heatTall, {
        fill,
      });
    }
    const [x0, x1, foot, head] = [
      x(map.first),
      x(map.first + map.columns - 1) + at.cell,
      at.heat + at.heatTall + 3,
      map.y - size * 1.6,
    ];
    pen.path(`M${x0},${foot}L${x1},${foot}L${map.x + map.w},${head}L${map.x},${head}z`, {
      fill: "sunk",
      alpha: 0.75,
    });
    inside(s, at);
    if (row) list(s, at.list, t(TEXT.looksAt, { name: nameOf(run, position) }));
    const place = s.key === null ? -1 : round.rank[s.key];
    if (place >= map.first && place < map.first + map.columns) {
      s.rect(x(place) - 1, at.heat - 1, at.cell + 2, at.heatTall + 2, { line: "key", width: 2 });
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

/** Its weights, (row, column): NaN where a query may not look, 0 where they are still on their way. */
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
  pen.cells(box, { data: within(s, map), rows: map.rows, columns: map.columns });
  if (map.unit >= 6) {
    const columns = upTo(
      map.columns - 1,
      (c) => `M${map.x + (c + 1) * map.unit},${map.y}v${map.h}`,
    );
    const rows = upTo(map.rows - 1, (r) => `M${map.x},${map.y + (r + 1) * map.unit}h${map.w}`);
    pen.path([...columns, ...rows].join(""), { line: "panel", alpha: 0.28 });
  }
  const border = map.x + (map.begin - map.first) * map.unit;
  const named = (texts, x, room, role) => {
    const text = texts.find((one) => pen.measure(one, { size, weight: 650 }) <= room);
    if (text) s.text(x, map.y - size * 1.9, text, { align: "center", weight: 650, colour: role });
  };
  if (map.begin > map.first) {
    pen.line(border, map.y - size * 1.5, border, box.y1, { line: "panel", width: big ? 5 : 3 });
    pen.line(border, map.y - size * 1.5, border, box.y1, {
      line: "ink2",
      width: big ? 2 : 1.2,
      dash: [4, 3],
    });
    named(
      [t(TEXT.beforeN, { n: own }), t(TEXT.chunkN, { n: own })],
      (map.x + border) / 2,
      border - map.x,
      "key",
    );
  }
  named(
    [t(TEXT.ownN, { n: own + 1 }), t(TEXT.chunkN, { n: own + 1 })],
    (border + box.x1) / 2,
    box.x1 - border,
    "query",
  );
  // Names along both sides, in the colours of their buckets.
  for (let c = 0; c < map.columns; c += 1) {
    const [key, x] = [order[map.first + c], map.x + c * map.unit];
    const how = {
      face: "mono",
      align: "center",
      weight: key === partner ? 700 : 400,
      colour: key === partner ? "key" : "ink2",
    };
    if (map.unit >= (big ? 13 : 9)) {
      s.text(x + map.unit / 2, map.y - 6, shown(run.tokens[key]), how);
    }
    s.rect(x + 0.5, map.y - 4, Math.max(0.5, map.unit - 1), 3, {
      fill: styleOf(round.buckets[key]).flat,
    });
  }
  for (let r = 0; r < map.rows; r += 1) {
    const [query, y] = [order[map.begin + r], map.y + r * map.unit];
    const here = query === position;
    s.rect(map.x - 5, y + 0.5, 4, Math.max(0.5, map.unit - 1), {
      fill: styleOf(round.buckets[query]).flat,
    });
    if (map.unit >= size || here) {
      pen.text(map.x - 10, y + map.unit / 2, `${shown(run.tokens[query])} ${query}`, {
        size,
        align: "right",
        weight: here ? 700 : 400,
        colour: here ? "query" : "ink3",
        ...(here ? { halo: "panel" } : {}),
      });
    }
  }
  if (position === null) return;
  const y = map.y + (round.rank[position] - map.begin) * map.unit;
  s.rect(map.x - 3, y - 2, map.w + 6, map.unit + 4, {
    line: "panel",
    width: big ? 7 : 5,
    radius: 2,
  });
  s.rect(map.x - 2, y - 1, map.w + 4, map.unit + 2, {
    line: "query",
    width: big ? 4 : 2.5,
    radius: 2,
  });
  const key = s.key ?? partner;
  const c = key === null ? -1 : round.rank[key] - map.first;
  if (c >= 0 && c < map.columns) {
    s.rect(map.x + c * map.unit - 1, y - 1, map.unit + 2, map.unit + 2, {
      line: "key",
      width: big ? 5 : 3,
      radius: 2,
    });
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
  const names = Math.max(
    ...found.map(({ key }) => pen.measure(nameOf(run, key), { size: size + 1, weight: 650 })),
  ) +
    10;
  const long = Math.max(0, w - names - size * 3.2);
  caption(s, x, y, title, "", w);
  found.forEach(({ key, w: value }, n) => {
    const [top, here] = [y + 8 + n * line, key === partner];
    const style = { size: size + 1, align: "right" };
    pen.text(x + names - 10, top + line / 2, nameOf(run, key), {
      ...style,
      weight: here ? 700 : 400,
      colour: here ? "key" : "ink",
    });
    s.rect(x + names, top + 3, long, line - 6, { fill: "sunk", radius: 3 });
    if (value > 0) {
      s.rect(x + names, top + 3, Math.max(1.5, long * value), line - 6, {
        fill: "key",
        radius: 3,
        alpha: here ? 1 : 0.7,
      });
    }
    pen.text(x + w, top + line / 2, value.toFixed(2), { ...style, weight: 650, colour: "ink" });
  });
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
    const { run, size, position, partner, big, turn, model, pen } = s;
    const [{ map }, n] = [at, run.length];
    const box = { x0: map.x, x1: map.x + map.side, y0: map.y, y1: map.y + map.side };
    caption(
      s,
      0,
      size,
      turn < 0 ? t(TEXT.mapAll, { n: model.rounds }) : t(TEXT.mapOne, { n: turn + 1 }),
      t(TEXT.mapUnits),
      box.x1,
    );
    triangle(
      pen,
      box,
      s.kept("map", () =>
        pooled(
          n,
          (q, k) => (s.seen[q * n + k] ? (s.matrix ? s.matrix[q * n + k] : 0) : Number.NaN),
          512,
        )),
    );
    pen.path(`M${box.x0},${box.y0}V${box.y1}H${box.x1}`, { line: "control" });
    for (let i = 0; i < n; i += 1) {
      s.rect(
        map.x - at.band - 3,
        map.y + i * map.unit,
        at.band,
        Math.max(0.6, map.unit - (map.unit > 5 ? 1 : 0)),
        { fill: styleOf(s.round.buckets[i]).flat },
      );
    }
    if (run.word) diagonal(s, map);
    const width = big ? 3.5 : 2.2;
    if (position !== null) {
      const [y, from] = [map.y + position * map.unit, map.x - at.band - 4];
      const wide = at.band + 4 + map.unit * (position + 1) + 2;
      s.rect(from - 1.5, y - 3, wide + 3, map.unit + 6, {
        line: "panel",
        width: width + 2.4,
        radius: 2,
      });
      s.rect(from, y - 1.5, wide, map.unit + 3, { line: "query", width, radius: 2 });
      const key = s.key ?? partner;
      if (key !== null && key <= position) {
        s.rect(map.x + key * map.unit - 2, y - 2, map.unit + 4, map.unit + 4, {
          line: "key",
          width: big ? 4 : 2.6,
          radius: 2,
        });
      }
      pen.text(map.x - at.band - 8, y + map.unit / 2, shown(run.tokens[position]), {
        size: size + 1,
        face: "mono",
        weight: 700,
        align: "right",
        colour: "query",
      });
    }
    ticks(s, (i) => map.x + i * map.unit, map.unit, at.top - 5);
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

/** A line on either side of the cells (i, i − |w|), from the first letter to the last, and what they are. */
function diagonal({ run: { word: w }, big, size, pen, text }, { x, y, side, unit }) {
  const far = unit * 1.1;
  for (const [d, end] of [[-2 * far, 0], [2 * far, 2 * far]]) {
    pen.line(
      x + unit,
      y + unit * (w + 1) + d,
      x + unit * (w + 1) - end,
      y + unit * (2 * w + 1) + d - end,
      { line: "key", width: big ? 2.5 : 1.5, dash: [5, 4] },
    );
  }
  const say = t(TEXT.diagonal, { n: w });
  const wide = pen.measure(say, { size, weight: 650 });
  if (wide + 12 >= side * 0.5) return;
  const [tx, ty] = [x + side - 4, y + side * 0.34]; // in the empty half, where it covers nothing
  text(tx, ty, say, { weight: 650, align: "right", colour: "key" });
  const to = [x + unit * w * 0.62 + far + 5, y + unit * w * 1.62 - far - 1];
  pen.path(`M${tx - wide / 2},${ty + 6}Q${tx - wide / 2},${y + side * 0.62} ${to}`, {
    line: "key",
    width: 1.2,
  });
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
  s.rect(x, bar, w, tall, { fill: "sunk", radius: 3 });
  s.rect(x, bar, Math.max(2, (w * count) / Math.max(1, of)), tall, { fill: "accent", radius: 3 });
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

/** A small map of every round, who meets whom: one of them, or all together, is what stands left. */
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
    s.text(x + side - 4, y + size + 4, fits ? label : name, {
      align: "right",
      weight: here ? 700 : 400,
      colour: here ? "accent" : "ink2",
    });
  }
}

// A picture made pixel by pixel, in rows and in tiles side by side, as Plotly figures: what each
// pixel may look at and how hard a head looks. Small maps of heads, of layers and of pictures stay
// with the pen, since Plotly takes too long for a dozen of them at each step. The value is made by
// drawn.py; the weights of a layer come from the addresses that it names, all heads of a position
// in one row.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { headOf } from "../../frontend/lib/selection.js";
import { looksOf } from "../../frontend/lib/exact_rows.js";
import { around, colour, onCanvas, Pen, shade } from "../../frontend/lib/pen.js";
import { border, rgb } from "../../frontend/lib/raster.js";
import { faint, heatOf, Sheet } from "../../frontend/lib/sheet.js";
import { ordinal, weight } from "../../frontend/lib/signs.js";
import { byPixel, layout } from "./layout.js";
import { place, sentenceOf, TEXT, where } from "./saying.js";

const SECONDS = 12; // that a whole picture takes when played
const ROWS = 128; // of weights that come at once
const GAP = 20; // px between two boards
const GHOST = 0.3; // of what is still to come
const TILE = 66; // px of a head's height
const FIELD = 34;
const STOPS = 33; // colours of the scale of weights
const KNOWN = 6; // layers that differ in the strength of their blue
const strength = (layer) => Math.max(0.26, 0.86 - 0.14 * layer); // of it, layers from 0
const layouts = new Map(); // those that were seen before, for a picture that grows comes many times

function laid(pattern) {
  const { starts, memory, channels, columns, order: { packed } } = pattern;
  const key = JSON.stringify([starts, memory, channels, columns, packed]);
  if (layouts.size > 8) layouts.clear();
  if (!layouts.has(key)) layouts.set(key, layout(pattern, pattern.order.data));
  return layouts.get(key);
}

// ── a run ──
export function read(value, { again }) {
  if (!value.patterns?.length) return null;
  const patterns = value.patterns.map((pattern) => ({ ...pattern, it: laid(pattern) }));
  const [first, { small }] = [patterns[0], value];
  const grows = value.state === "running" && first.made < first.it.length;
  return {
    ...value,
    patterns,
    small: patterns.length === 1 ? small : null,
    given: small,
    grows,
    made: first.made,
    length: first.it.length,
    count: first.pictures.shape[0],
    weights: looksOf(again, value.weights, ROWS),
  };
}

/**
 * What is drawn: what is locked or pointed at, and of each pattern how hard every head looks at
 * each pixel; null while that is not known.
 */
function seen(run, look) {
  const { pattern, head, pos: position, pic, field, whole, plays } = {
    ...look,
    ...(look.over?.pos === undefined ? look.over : {}),
  };
  const at = run.patterns.findIndex(({ key }) => key === pattern);
  const [layer, own] = headOf(head);
  const known = run.state !== "running" && run.state !== "stopped" && position !== null && pic < 2;
  const weights = run.patterns.map((each) => {
    const row = known && run.weights.of(each.look, layer, 1, position, run.length);
    const slots = row ? row.length / each.heads : 0;
    return row &&
      upTo(each.heads, (h) => byPixel(each.it, position, row.subarray(h * slots, (h + 1) * slots)));
  });
  return {
    at,
    layer,
    head: own,
    position,
    weights,
    known,
    plays,
    field: Math.round(field),
    picture: Math.round(pic) - 1,
    whole: (whole && !plays) || position === null,
    moves: plays || (run.grows && position >= run.made),
  };
}

const silenced = (run, { at, layer }, head) =>
  (run.silenced ?? [])
    .some(([kind, of, one]) =>
      kind === run.patterns[at].key && of === layer - 1 && one === head - 1
    );

// ── the figure ──
/** Of each pixel: 2 made by then, 1 made later, 0 not made; null where all is shown as made. */
function stages({ whole, position }, { it, made }) {
  if (made >= it.length && whole) return null;
  const stage = new Uint8Array(it.size);
  for (let p = 0; p < made; p += 1) {
    stage[it.order[p]] = Math.max(stage[it.order[p]], whole || p < position ? 2 : 1);
  }
  return stage;
}

/**
 * The colours of a picture, 0 … 255, three to each pixel. levels: (row, column[, channel]). stage:
 * see `stages`.
 */
function colours({ channels, size }, levels, stage) {
  const [ground, ink] = ["sunk", "ink"].map((name) => rgb(colour(name)));
  return Uint8ClampedArray.from({ length: 3 * size }, (_, n) => {
    const [i, k] = [Math.floor(n / 3), n % 3];
    const [at, level] = [stage ? stage[i] : 2, levels[channels === 1 ? i : n]];
    if (at === 2) return level;
    // What is still to come is a faint drawing on the ground, so that its black is not taken for a
    // level that was made.
    const ghost = channels === 1 ? ((ink[k] - ground[k]) * level) / 255 : level - ground[k];
    return ground[k] + (at ? ghost * GHOST : 0);
  });
}

/** The same as a picture that the pen takes. */
function coloured(shape, levels, stage = null) {
  const { rows, columns } = shape;
  const out = new ImageData(columns, rows);
  const all = colours({ ...shape, size: rows * columns }, levels, stage);
  out.data.fill(255);
  all.forEach((one, n) => (out.data[4 * Math.floor(n / 3) + (n % 3)] = one));
  return out;
}

export function scene(run, look, pen) {
  const now = seen(run, look);
  const { big, narrow, width, tall } = pen;
  const { it } = run.patterns[now.at];
  const size = big ? 20 : 13;
  const shown = narrow ? [run.patterns[now.at]] : run.patterns;
  const places = [...shown, ...(run.small ? [null] : [])];
  const columns = narrow ? 1 : places.length;
  const above = big ? 60 : 22; // room of a name
  const most = big
    ? (tall - above) / it.rows
    : (places.length === 1 && !narrow ? 420 : 392) / it.columns;
  const cell = Math.max(
    1,
    Math.floor(Math.min((width - GAP * (columns - 1)) / columns / it.columns, most)),
  );
  const [wide, high] = [it.columns * cell, it.rows * cell];
  const left = big
    ? 0
    : Math.max(0, Math.floor((width - columns * wide - GAP * (columns - 1)) / 2));
  const sheet = new Sheet(pen);
  let y = 0;
  places.forEach((each, n) => {
    const x = left + (n % columns) * (wide + (big ? 2 : 1) * GAP);
    if (narrow && n) y += high + above + 8;
    const box = { x0: x, y0: y + above, x1: x + wide, y1: y + above + high };
    if (each) {
      const note = each.kept ? t(TEXT.keptNote, { n: each.kept }) : t(each.note);
      caption(pen, { x, y, wide, size, name: t(each.label), note });
      board(run, look, pen, sheet, now, each, box);
    } else {
      const [rows, across, channels = 1] = run.small.shape;
      caption(pen, {
        x,
        y,
        wide,
        size,
        name: t(TEXT.smallLong),
        note: t(TEXT.smallNote, { rows, columns: across }),
      });
      pen.pixels(box, {
        image: coloured({ rows, columns: across, channels }, run.small.data),
        radius: 4,
      });
    }
  });
  const across = columns * wide + (columns - 1) * (big ? 2 : 1) * GAP;
  // A held pointer goes from pixel to pixel; the bar of buttons makes it zoom.
  const boards = { x0: left, x1: left + across, y0: 0, y1: y + above + high };
  sheet.place(boards, { dragmode: false });
  y += above + high;
  const right = columns * (wide + 2 * GAP);
  if (big) {
    if (width - right > 280) {
      heads(run, now, pen, { x: right, y: 0, wide: Math.min(460, width - right), size, across: 2 });
    }
    return pen.size(width, y);
  }
  if (run.count > 1 || run.truth) y = thumbs(run, now, pen, shown, { left, y: y + 8, wide });
  y = pen.say(y + 4) + 4;
  const beside = narrow ? 0 : GAP + 24 + run.patterns[0].layers * (FIELD + 4);
  const room = Math.min(480, width - beside);
  const under = heads(run, now, pen, {
    x: 0,
    y,
    wide: room,
    size,
    across: run.patterns[now.at].heads,
  });
  const end = fields(
    run,
    now,
    pen,
    shown,
    narrow ? { x: 0, y: under + 8, size } : { x: room + GAP, y, size },
  );
  return pen.size(width, Math.max(under, end));
}

/** The name of a board, and a note beside or under it. */
function caption(pen, { x, y, wide, size, name, note }) {
  const style = { size, weight: 650, colour: "ink" };
  const [first, ...more] = pen.lines(`${name} · ${note}`, wide, { size });
  const bold = pen.measure(name, style);
  pen.text(x, y + size * 0.75, name, style);
  pen.text(x + bold, y + size * 0.75, ` ${first.slice(name.length + 1)}`, {
    size,
    room: pen.big ? undefined : wide - bold,
  });
  if (pen.big && more.length) pen.text(x, y + size * 2.15, more.join(" "), { size, room: wide });
}

/**
 * What lies over the pixels of a picture: how hard the head looks at each, or through which layer
 * each is known.
 */
function over({ it }, { position, field }, best) {
  const shape = { rows: it.rows, columns: it.columns };
  const half = { name: "memory", x0: 0.5, y0: 0.5 };
  if (field && position !== null) {
    const { pixels } = it.reach(position, field);
    const data = Float32Array.from(pixels, (layer) => layer && layer <= field ? layer : Number.NaN);
    const scale = upTo(KNOWN, (n) => [n / (KNOWN - 1), faint("key", strength(n))]);
    return heatOf({ ...shape, data }, { ...half, zmin: 1, zmax: KNOWN, colorscale: scale });
  }
  const data = best ? best.pixels : new Float32Array(it.size).fill(Number.NaN);
  const scale = upTo(STOPS, (n) => {
    const share = (n / (STOPS - 1)) ** 0.8;
    return [n / (STOPS - 1), faint(shade("weights", share), 0.5 + 0.42 * share)];
  });
  return heatOf({ ...shape, data }, { ...half, zmax: best?.most || 1, colorscale: scale });
}

/** One pattern's picture with what its pixel may look at. */
function board(run, look, pen, sheet, now, each, box) {
  const { it, kept, made } = each;
  const { rows, columns } = it;
  const { position, field, picture } = now;
  const best = field ? null : now.weights[run.patterns.indexOf(each)]?.[now.head - 1];
  const [stage, levels] = [stages(now, each), each.pictures.slice(picture)];
  const part = sheet.part(box, { x: { range: [0, columns] }, y: { range: [0, rows] } });
  const px = 1 / part.step.cell; // of the picture, in pixels of the model
  const all = colours(it, levels, stage);
  part.add({
    type: "image",
    name: each.key,
    x0: 0.5,
    y0: 0.5,
    z: upTo(rows, (i) =>
      upTo(columns, (j) => {
        const at = 3 * (i * columns + j);
        return [all[at], all[at + 1], all[at + 2]];
      })),
  }, over(each, now, best));
  const square = (pixel, grow, style) => {
    const [row, column, by] = [Math.floor(pixel / columns), pixel % columns, grow * px];
    part.rect(column - by, column + 1 + by, row - by, row + 1 + by, style);
  };
  if (stage && px <= 1 / 3) {
    // What is not made is not black: dots on the ground.
    const dot = Math.max(px, 1 / 9);
    const side = (pixel) => {
      const [x, y] = [pixel % columns, Math.floor(pixel / columns)].map((n) => n + (1 - dot) / 2);
      return `M${x},${y}H${x + dot}V${y + dot}H${x}Z`;
    };
    for (const [which, alpha] of [[1, 0.35], [0, 0.7]]) {
      const path = upTo(it.size).filter((pixel) => stage[pixel] === which).map(side).join("");
      if (path) part.shape({ type: "path", path }, { fill: "control", alpha });
    }
  }
  const thick = Math.max(2.5, 1 / px / 5.5);
  const line = (mask, inset, style) =>
    part.shape({ type: "path", path: border(mask, rows, columns, 1, inset * px) }, style);
  if (position !== null) {
    const { query, memory } = it.blocks(position);
    for (const [mask, name] of [...(field ? [] : [[memory, "key"]]), [query, "query"]]) {
      line(mask, thick / 2 + 1, { line: "panel", width: thick + 2 });
      line(mask, thick / 2 + 1, { line: name, width: thick });
    }
  }
  if (look.over?.pos !== undefined && look.over.pattern === each.key) {
    const { query, memory } = it.blocks(look.over.pos);
    for (const [mask, name] of [[memory, "key"], [query, "query"]]) {
      line(mask, thick / 2, { line: "panel", width: thick });
      line(mask, thick / 2, { line: name, width: thick * 0.7, dash: "5px,4px" });
    }
  }
  if (kept > 0 && kept < rows) {
    part.line(0, kept, columns, kept, { line: "panel", width: 3.5 });
    part.line(0, kept, columns, kept, { line: "ink", width: 1.5, dash: "6px,4px" });
  }
  const query = position === null ? null : it.order[position];
  if (best && best.where !== query) {
    square(best.where, thick / 2 + 1, { line: "panel", width: thick + 2 });
    square(best.where, thick / 2 + 1, { line: "key", width: thick });
  }
  if (query !== null) {
    square(query, 1.5, { fill: "panel" });
    square(query, 0, { fill: "query" });
  }
  pen.grid(box, rows, columns, (row, column) => {
    const pixel = row * columns + column;
    const pos = it.first[pixel];
    return {
      still: true,
      drags: true,
      card: () => card(run, now, each, pixel, best, levels),
      look: pos < made ? { pattern: each.key, pos } : undefined,
    };
  });
}

function card(_run, now, { it, kept, made, bits }, pixel, best, levels) {
  const position = it.first[pixel];
  const lines = [
    `${where(it, pixel)} · ${t(TEXT.cardMade, { nth: ordinal(position + 1), of: it.length })}`,
  ];
  if (position < made) {
    const places = upTo(it.channels, (c) => pixel * it.channels + c);
    const cost = places.reduce((sum, n) => sum + bits.slice(now.picture)[n], 0).toFixed(1);
    lines.push(
      [
        t(it.channels === 1 ? TEXT.cardLevel : TEXT.cardColour, {
          n: places.map((n) => levels[n]).join(", "),
        }),
        Math.floor(pixel / it.columns) < kept ? t(TEXT.cardGiven) : t(TEXT.cardBits, { n: cost }),
      ].join(" · "),
    );
  }
  if (!best) return lines;
  const [w, all] = [best.pixels[pixel], best.pixels.filter((one) => one === one)];
  const rank = { n: ordinal(1 + all.filter((one) => one > w).length), of: all.length };
  return [
    ...lines,
    w === w
      ? t(TEXT.cardWeight, { head: `${now.layer}·${now.head}`, w: weight(w), ...rank })
      : t(TEXT.cardHidden),
  ];
}

/**
 * All pictures of a run under their boards, with the given one beside them. Returns where they end.
 */
function thumbs(run, now, pen, shown, { left, y, wide }) {
  const { it } = run.patterns[0];
  const side = (2 * it.columns >= 48 ? 2 : 3) * it.columns;
  const tall = (side * it.rows) / it.columns;
  shown.forEach((each, n) => {
    const from = left + n * (wide + GAP);
    const one = (x, name, image, mine) => {
      const box = { x0: x, x1: x + side, y0: y + 3, y1: y + 3 + tall };
      pen.pixels(box, { image, radius: 4 });
      if (mine) pen.rect(around(box, 3), { line: "accent", width: 2, radius: 5 });
      const style = mine ? { weight: 650, colour: "accent" } : {};
      pen.text(x + side / 2, box.y1 + 12, name, { size: 12, align: "center", ...style });
      return box;
    };
    for (let i = 0; i < run.count; i += 1) {
      const image = coloured(it, each.pictures.slice(i), stages(now, each));
      pen.hit({
        ...one(from + 3 + i * (side + 6), String(i + 1), image, i === now.picture),
        quiet: true,
        still: true,
        look: { pattern: each.key, pic: i + 1 },
        card: () => [t(TEXT.picture, { pattern: t(each.label), n: i + 1 })],
      });
    }
    if (run.truth) {
      one(
        from + Math.max(wide - side - 3, run.count * (side + 6) + 3),
        t(TEXT.truth),
        coloured(it, run.truth.data),
        false,
      );
    }
  });
  return y + tall + 24;
}

/** The heads of the layer in view, over what the pixel may look at. Returns where they end. */
function heads(run, now, pen, { x: left, y: top, wide: room, size, across }) {
  const each = run.patterns[now.at];
  const { it } = each;
  const all = now.weights[now.at];
  const { position, head, layer } = now;
  const box = position === null
    ? { top: 0, left: 0, rows: it.rows, columns: it.columns }
    : it.blocks(position).box;
  const line = size * 1.5;
  pen.text(left, top + size * 0.75, t(TEXT.heads, { n: each.heads, layer }), { size });
  const ends = now.field ? [] : run.patterns.flatMap(({ short }, i) => {
    const best = (!pen.narrow || i === now.at) && now.weights[i]?.[head - 1];
    return best
      ? [
        run.patterns.length > 1 && !pen.narrow
          ? `${t(short)} ${weight(best.most)}`
          : weight(best.most),
      ]
      : [];
  }).join(" · ");
  const from = top + 2 * line + 4;
  if (ends.length) {
    const x = left + pen.measure(`${t(TEXT.weight)} 0`, { size }) + 6;
    pen.scale({ x0: x, x1: x + 64, y0: top + line + 2, y1: top + line + 12 }, {
      high: ends,
      title: t(TEXT.weight),
      size,
    });
  }
  const high = pen.big ? 110 : TILE;
  const pitch = high + line + (pen.big ? 14 : 0);
  const wide = Math.max(40, Math.floor((room - 4 - 8 * (across - 1)) / across));
  // Blocks at the rim are smaller: they keep the scale of whole ones.
  const scale = Math.min(
    wide / Math.max(box.columns, it.columns * 0.75),
    high / Math.max(box.rows, it.rows * 0.5),
  );
  for (let h = 1; h <= each.heads; h += 1) {
    const [x, y] = [
      left + 3 + ((h - 1) % across) * (wide + 8),
      from + 3 + Math.floor((h - 1) / across) * pitch,
    ];
    const tile = { x0: x, x1: x + wide - 3, y0: y, y1: y + high };
    const inner = {
      x0: x + (wide - 3 - box.columns * scale) / 2,
      y0: y + (high - box.rows * scale) / 2,
    };
    const [best, gone, mine] = [all?.[h - 1], silenced(run, now, h), h === head && !now.field];
    const over = { ...inner, x1: inner.x0 + box.columns * scale, y1: inner.y0 + box.rows * scale };
    pen.rect(tile, { fill: "sunk", radius: 4 });
    if (best) {
      const data = Float32Array.from(
        { length: box.rows * box.columns },
        (_, i) =>
          best
            .pixels[
              (box.top + Math.floor(i / box.columns)) * it.columns + box.left + (i % box.columns)
            ],
      );
      pen.cells(over, {
        data,
        rows: box.rows,
        columns: box.columns,
        high: best.most || 1,
        gamma: 0.8,
        radius: 3,
        alpha: gone ? 0.28 : 1,
      });
      const [qx, qy] = [
        over.x0 + (it.column(position) - box.left) * scale,
        over.y0 + (it.row(position) - box.top) * scale,
      ];
      pen.rect({ x0: qx, x1: qx + scale, y0: qy, y1: qy + scale }, { fill: "query" });
    } // no weights: what every head has before it
    else {
      pen.pixels(over, {
        image: coloured(it, each.pictures.slice(now.picture), stages(now, each)),
        crop: box,
        alpha: gone ? 0.28 : 0.55,
      });
    }
    if (gone) pen.line(x + 6, y + high - 6, x + wide - 9, y + 6, { line: "ink", width: 2 });
    if (mine) pen.rect(around(tile, 3), { line: "query", width: 2.5, radius: 6 });
    pen.text(x, tile.y1 + size, String(h), {
      size: Math.min(size, 20),
      weight: 650,
      colour: mine ? "query" : "ink",
    });
    if (best) {
      pen.text(
        x + size,
        tile.y1 + size,
        `${weight(best.most)}${pen.narrow ? "" : ` ${where(it, best.where)}`}`,
        { size: pen.big ? 20 : 12, room: wide - size },
      );
    }
    const told = best ? [t(TEXT.most, { w: weight(best.most), where: where(it, best.where) })] : [];
    pen.hit({
      ...tile,
      y1: tile.y1 + line,
      still: true,
      look: { head: `${layer}.${h}`, field: 0 },
      add: silencing(each, layer, h),
      does: t(gone ? TEXT.tileWake : TEXT.tileDo),
      card: () => [t(TEXT.head, { layer, head: h }), ...told, ...(gone ? [t(TEXT.gone)] : [])],
    });
  }
  return from + Math.ceil(each.heads / across) * pitch + 4;
}

const silencing = ({ key }, layer, head) => ({
  fire: ["silence", { kind: key, layer: layer - 1, head: head - 1 }],
});

/** What the pixel knows of through one layer, two, … for each pattern. Returns where it ends. */
function fields(_run, now, pen, shown, { x: left, y: top, size }) {
  const { position } = now;
  pen.text(
    left,
    top + size * 0.75,
    t(shown[0].it.channels > 1 ? TEXT.knownValues : TEXT.knownPixels),
    { size },
  );
  const pitch = FIELD + 18;
  if (position !== null) {
    shown.forEach((each, n) => {
      const { it, layers, short, label } = each;
      const { pixels, counts } = it.reach(position, layers);
      const y = top + size * 1.5 + 8 + n * pitch;
      pen.text(left, y + FIELD / 2, t(short), { size: 12, weight: 650, colour: "ink" });
      for (let layer = 1; layer <= layers; layer += 1) {
        if (
          layer > 1 && counts[layer - 1] === counts[layer - 2] &&
          now.field !== layer
        ) continue; // it adds nothing to the one before
        const x = left + 24 + (layer - 1) * (FIELD + 4);
        const box = { x0: x, x1: x + FIELD, y0: y, y1: y + FIELD };
        pen.cells(box, {
          data: Float32Array.from(
            pixels,
            (through) => (through && through <= layer ? 1 : Number.NaN),
          ),
          rows: it.rows,
          columns: it.columns,
          scale: [colour("key", 0.86, "sunk"), colour("key", 0.86, "sunk")],
          radius: 4,
        });
        const [qx, qy] = [it.column(position), it.row(position)].map((one, i) =>
          Math.round((one * FIELD) / [it.columns, it.rows][i] - 0.5)
        );
        pen.rect({ x0: x + qx, x1: x + qx + 3, y0: y + qy, y1: y + qy + 3 }, { fill: "query" });
        const mine = now.field === layer;
        if (mine) pen.rect(around(box, 3), { line: "accent", width: 2, radius: 6 });
        pen.text(x, box.y1 + 10, String(layer), { size: 11, weight: 650, colour: "ink" });
        pen.text(x + FIELD, box.y1 + 10, String(counts[layer - 1]), { size: 11, align: "right" });
        const told = { pattern: t(label), layers: layer, n: counts[layer - 1] };
        pen.hit({
          ...box,
          y1: box.y1 + 16,
          quiet: true,
          still: true,
          look: { pattern: each.key, field: mine ? 0 : layer },
          does: t(TEXT.fieldDo),
          card: () => [t(it.channels > 1 ? TEXT.fieldValues : TEXT.field, told)],
        });
      }
    });
  }
  return top + size * 1.5 + 8 + shown.length * pitch;
}

export function legend(run, look) {
  const { field } = seen(run, look);
  const known = upTo(
    Math.max(1, field),
    (n) => colour("key", strength(n), "sunk"),
  );
  return [
    { text: t(TEXT.query), mark: { line: "query", width: 2.5, wide: 12 } },
    field
      ? { text: t(TEXT.known, { n: field }), mark: { shades: known, wide: 32 } }
      : { text: t(TEXT.memory), mark: { line: "key", width: 2.5, wide: 12 } },
  ];
}

export const below = (
  run,
  look,
) => [
  look.pic > 1
    ? t(TEXT.firstOnly)
    : run.grows
    ? t(TEXT.growing)
    : run.weights.trouble() || t(TEXT.print),
];

// ── in numbers ──
/** The places that the pixel may look at, those that the head looks at hardest first. */
export function table(run, look) {
  const now = seen(run, look);
  const { it, label, heads: many, pictures } = run.patterns[now.at];
  const [columns, each] = [t(TEXT.columns).split("|"), now.weights[now.at]];
  const names = [
    ...columns.slice(0, -1),
    ...Array.from({ length: many }, (_, h) => columns.at(-1).replace("{n}", h + 1)),
  ];
  const all = each?.[now.head - 1]?.pixels;
  const order = all
    ? Array.from(all.keys()).filter((pixel) => all[pixel] === all[pixel]).sort((a, b) =>
      all[b] - all[a]
    )
    : [];
  const levels = pictures.slice(now.picture);
  const rows = order.map((
    pixel,
    n,
  ) => [
    n + 1,
    Math.floor(pixel / it.columns),
    pixel % it.columns,
    it.channels === 1
      ? levels[pixel]
      : Array.from(levels.subarray(3 * pixel, 3 * pixel + 3)).join(", "),
    ...each.map((one) => Number(one.pixels[pixel].toFixed(4))),
  ]);
  const q = now.position === null ? "–" : place(it, now.position);
  return {
    caption: t(TEXT.caption, {
      pattern: t(label),
      layer: now.layer,
      q,
      head: now.head,
      of: order.length,
    }),
    columns: names,
    rows,
  };
}

export function arrays(run, look) {
  const now = seen(run, look);
  const { position, layer } = now;
  const [axes, unit] = [["picture", "row", "column", "channel"], "level, 0 to 255"];
  const files = {};
  run.patterns.forEach(({ key, it, pictures, bits, heads: many, look: address }, i) => {
    const own = axes.slice(0, pictures.shape.length);
    files[`${key}_pictures`] = filed(Uint8Array.from(pictures.data), own, unit, pictures.shape);
    files[`${key}_bits`] = filed(bits.data, own, "bits", bits.shape);
    files[`${key}_order`] = filed(it.order, "position", "pixel, row · columns + column");
    files[`${key}_starts`] = filed(it.starts, "block", "position");
    const all = now.known && run.weights.all(address, layer, 1, run.length);
    if (all) {
      const slots = all.length / many / run.length;
      const data = Float32Array.from(all, (_, n) => {
        const [head, at, slot] = [
          Math.floor(n / slots / run.length),
          Math.floor(n / slots) % run.length,
          n % slots,
        ];
        return all[(at * many + head) * slots + slot];
      });
      files[`${key}_layer_${layer}_weights`] = filed(data, ["head", "position", "slot"], "weight", [
        many,
        run.length,
        slots,
      ]);
    }
    if (position !== null) {
      files[`${key}_keys_of_query`] = filed(it.keys(position), "slot", "position");
    }
    if (now.weights[i]) {
      files[`${key}_weights_by_pixel`] = filed(
        Float32Array.from(now.weights[i].flatMap(({ pixels }) => [...pixels])),
        ["head", "row", "column"],
        "weight",
        [many, it.rows, it.columns],
      );
    }
  });
  for (const [name, one] of Object.entries({ given: run.truth, small: run.given })) {
    if (one) {
      files[name] = filed(
        Uint8Array.from(one.data),
        axes.slice(1, 1 + one.shape.length),
        unit,
        one.shape,
      );
    }
  }
  return {
    ...files,
    looked_at: [`position ${position ?? "none"}, layer ${layer}, head ${now.head}`],
  };
}

/**
 * What was made, and nothing over it: all pictures side by side, a row for each pattern, eight
 * pixels to each of theirs.
 */
function bare(run) {
  const { it } = run.patterns[0];
  const [wide, tall] = [it.columns * 8, it.rows * 8];
  const pen = new Pen({ width: run.count * (wide + 8) - 8 });
  run.patterns.forEach((each, i) => {
    for (let n = 0; n < run.count; n += 1) {
      const [x0, y0] = [n * (wide + 8), i * (tall + 8)];
      const image = coloured(it, each.pictures.slice(n), stages({ whole: true }, each));
      pen.pixels({ x0, y0, x1: x0 + wide, y1: y0 + tall }, { image });
    }
  });
  const canvas = Object.assign(document.createElement("canvas"), {
    width: pen.width,
    height: run.patterns.length * (tall + 8) - 8,
  });
  onCanvas(canvas.getContext("2d"), pen.marks);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export const looks = {
  pattern: "choice",
  head: "head",
  pos: "position",
  whole: "flag",
  pic: "number",
  field: "number",
};
export const hovers = true;
export const aside = "field";
export const resets = ["pattern", "head", "pos", "whole", "pic", "field"];
export const input = ["pos", "whole", "pic", "field"];
export const grown = { whole: "1" };
export const question = (_run, look) => (look.field ? TEXT.questionField : TEXT.question);

export function bounds({ patterns, pick, grows, made, length, count }) {
  const [{ layers, heads: many }, least] = [patterns[0], Math.max(0, made - 1)];
  return {
    pattern: { names: patterns.map(({ key }) => key), pick: pick?.pattern ?? patterns.at(-1).key },
    head: {
      layers,
      heads: many,
      pick: `${Math.min(layers, (pick?.layer ?? 3) + 1)}.${Math.min(many, (pick?.head ?? 0) + 1)}`,
    },
    pos: grows
      ? { count: Math.min(made + 1, length), pick: Math.min(made, length - 1) }
      : { count: least + 1, pick: pick?.position ?? least },
    pic: { least: 1, most: count, whole: true },
    field: { least: 0, most: layers, whole: true },
  };
}

export const sentence = (run, look) => sentenceOf(run, seen(run, look));
export const choices = ({ patterns }, { head }) => [
  ...(patterns.length > 1
    ? [{
      key: "pattern",
      label: t(TEXT.pattern),
      options: patterns.map(({ key, short }) => ({ value: key, label: t(short) })),
    }]
    : []),
  {
    key: "head",
    label: t(TEXT.layer),
    shown: true,
    options: upTo(
      patterns[0].layers,
      (n) => ({ value: `${n + 1}.${headOf(head)[1]}`, label: String(n + 1) }),
    ),
  },
  { key: "whole", label: t(TEXT.whole) },
];
export const clock = ({ patterns: [{ it }], made, length }) => ({
  key: "pos",
  seconds: (SECONDS * Math.max(1, made)) / length,
  stride: it.columns,
  texts: TEXT,
  says: (at) => t(it.channels === 1 ? TEXT.count : TEXT.countValue, { n: at + 1, of: length }),
});
export const move = (
  run,
  look,
  key,
  by,
) => (key !== "field"
  ? null
  : { field: (look.field + by + run.patterns[0].layers + 1) % (run.patterns[0].layers + 1) });

/**
 * The same pixel is compared across heads and layers, and who steps wants to see how far it was
 * made by then.
 */
export function completes(run, look, patch) {
  if ("pos" in patch) {
    return { ...patch, pos: run.grows && patch.pos >= run.made ? null : patch.pos, whole: null };
  }
  const keeps = look.pos === null || (run.grows && look.pos >= run.made) ? {} : { pos: look.pos };
  return { ...("head" in patch ? { field: 0 } : {}), ...keeps, ...patch };
}

export const press = (run, look) =>
  silencing(run.patterns.find(({ key }) => key === look.pattern), ...headOf(look.head));
export const same = (was, run) => Boolean(run.same) && was.same === run.same;

export function waits(run, look) {
  const { known, weights } = seen(run, look);
  return known && weights.includes(null) && !run.weights.trouble();
}

export const gather = (
  run,
  look,
) => (seen(run, look).known
  ? Promise.all(
    run.patterns.map((each) => run.weights.gather(each.look, headOf(look.head)[0], 1, run.length)),
  )
  : null);
export const keeps = (run) => ({ weights: run.weights.held() });
export const files = { "PNG 8×": (run) => ({ name: "pixels", blob: () => bare(run) }) };
export { TEXT };

// The same digit made by several models side by side: it grows pixel by pixel; every pixel shows
// what it could look at and what a head looked at when it was made, and below each digit stands
// where every head looks, on the mean. The value: drawn.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { headOf, KINDS, modelOf, modelsOf, oneOf } from "../../frontend/lib/selection.js";
import { looksOf } from "../../frontend/lib/exact_rows.js";
import { keysOf } from "../../frontend/pictures/patternmath.js";
import { around, cellIn, colour, shades } from "../../frontend/lib/pen.js";
import { border, rgb } from "../../frontend/lib/raster.js";
import { weight } from "../../frontend/lib/signs.js";
import { dark } from "../../frontend/lib/theme.js";
import {
  card,
  costsOf,
  factorName,
  legendOf,
  sentenceOf,
  TEXT,
  tileCard,
  whatOf,
} from "./digitwords.js";

// The factors that a head attends with: pattern and part of it; those of a union one by one.
const PARTS = {
  all: ["full", "union"],
  row: ["strided", "first"],
  column: ["strided", "second"],
  strided: ["strided", "union"],
  block: ["fixed", "first"],
  summary: ["fixed", "second"],
  fixed: ["fixed", "union"],
};
const UNIONS = { strided: ["row", "column"], fixed: ["block", "summary"] };
const PACE = 1000 / 56; // ms a pixel, when it is played
const [GAP, MOST] = [20, 14]; // px between two digits, and of a pixel on the page
const KEPT = 64; // patterns remembered
const COVERS = 0.3; // of the largest weight, from which a pixel's own colour is repeated in its middle
const FAINT = { ahead: 0.7, later: 0.35 }; // of dots on what is not made yet, on what comes after the pixel in view
const GROUND = () => (dark() ? "paper" : "panel"); // a digit is bright on the darkest ground there is
const NONE = { mask: null, edges: [], weights: null, most: 0, best: null, count: 0 };

const finished = (run) => run.state !== "running";
const made = (run) => Math.min(...run.models.map((model) => model.count));
const factorOf = (model, look) =>
  model.factors?.[headOf(look.head)[0] - 1]?.[headOf(look.head)[1] - 1] ?? "";
let head = "1.1"; // of the run before, while the next one grows

export function read(value, { again, away }) {
  if (!value.models?.length) return null;
  head = value.pick?.head ?? head;
  const models = value.models.map((model) => {
    const { symbols: { data: symbols }, nats: { data: nats }, offsets } = model;
    const roots = offsets &&
      Float32Array.from(offsets.data, (raw) => (raw ? (raw - 1) / 254 : Number.NaN));
    return {
      ...model,
      symbols,
      nats,
      length: symbols.length,
      masks: new Map(),
      offsets: roots &&
        {
          shape: offsets.shape,
          roots,
          most: roots.reduce((most, one) => (one > most ? one : most), 0),
        },
      rows: looksOf(again, value.kept?.[model.key] ?? (away ? {} : null)),
    };
  });
  return { ...value, models, head, whole: value.whole?.data ?? null };
}

// ── what is looked at ──
/** (position,) 1 where the query at i may look by a factor. */
function allowed({ stride, summary, length }, factor, i) {
  const mask = new Uint8Array(length);
  const [kind, part] = PARTS[factor];
  for (const j of keysOf({ kind, l: stride, c: summary }, part, i)) mask[j] = 1;
  return mask;
}

/**
 * What reaches a position through the layers 1 … depth of a model; itself is reached, the sum
 * around a sublayer carries it.
 */
function reached(model, position, depth) {
  const found = new Uint8Array(model.length);
  found[position] = 1;
  for (let layer = depth - 1; layer >= 0; layer -= 1) {
    for (const i of [...found.keys()].filter((one) => found[one])) {
      for (const factor of new Set(model.factors[layer])) {
        allowed(model, factor, i).forEach((one, j) =>
          one &&
          (found[j] = 1)
        );
      }
    }
  }
  return found;
}

/**
 * The pattern of a pixel under a head, or through so many layers: {mask, edges: [{mask, line}],
 * count}.
 */
function patternOf(model, position, roll, factor) {
  const name = `${position} ${roll || factor}`;
  if (!model.masks.has(name)) {
    if (model.masks.size > KEPT) model.masks.clear();
    const mask = roll ? reached(model, position, roll) : allowed(model, factor, position);
    const edges = roll ? [{ mask, part: "all", line: "key" }] : (UNIONS[factor] ?? [factor])
      .map((part) => ({
        mask: allowed(model, part, position),
        part,
        line: PARTS[part][1] === "second" ? "cat-6" : "key",
      }));
    model.masks.set(name, { mask, edges, count: mask.reduce((sum, one) => sum + one, 0) });
  }
  return model.masks.get(name);
}

/**
 * What a pixel could look at, and what it looked at: the weights where they are here, asked for
 * where `fetches`.
 */
function viewOf(model, look, position, fetches, pointed) {
  if (position === null || !model.factors) return NONE;
  const [layer, head] = headOf(look.head);
  const roll = Math.min(Number(look.digitsroll), model.layers);
  const pattern = patternOf(model, position, roll, factorOf(model, look));
  const weights = fetches
    ? model.rows.of(
      roll ? model.roll : model.look,
      roll || layer,
      roll ? 1 : head,
      position,
      model.length,
      pointed,
    )
    : null;
  let [where, most] = [-1, 0];
  for (let p = 0; weights && p <= position; p += 1) {
    if (weights[p] > most && !(roll && p === position)) [where, most] = [p, weights[p]]; // half of each layer stays where it is
  }
  return { ...pattern, weights, most, best: where < 0 ? null : { where, most } };
}

const trouble = (run) => run.models.map(({ rows }) => rows.trouble()).find(Boolean) ?? "";
const lacks = (run, look, views) =>
  !trouble(run) &&
  run.models.some((model, i) =>
    (Number(look.digitsroll) ? model.roll : model.look) &&
    !views[i].weights
  );

/**
 * {model, position: of the pixel in view, or null, positions: all that are locked, views: by model,
 * held: those of what is locked, played: are they made once more? front: do they grow? surprise}. A
 * preview is drawn once all of its weights are here.
 */
function seen(run, look, over) {
  const [count, played] = [made(run), look.plays];
  const surprise = look.digitssee === "surprise";
  const front = !finished(run) && !played && (look.pos.at(-1) ?? count) >= count - 1;
  const positions = front || (look.digitswhole && !played) ? [] : look.pos.filter((p) => p < count);
  const own = positions.at(-1) ?? null;
  const fetches = finished(run) && !played && !surprise;
  const viewsAt = (position, pointed) =>
    run.models.map((model) => viewOf(model, look, position, fetches, pointed));
  const held = viewsAt(own, false);
  const now = {
    model: modelOf(run, look),
    position: own,
    views: held,
    held,
    positions,
    played,
    surprise,
    front,
  };
  if (
    over?.pos === undefined || over.pos === own || over.pos >= count || !finished(run) || played
  ) return now;
  const views = viewsAt(over.pos, true);
  return fetches && lacks(run, look, views)
    ? now
    : { ...now, model: modelOf(run, over), position: over.pos, views };
}

// ── the digits ──
/** The colour of every pixel, (side, side, 4). */
function coloursOf(model, { upto, locked, view, costs, worst }) {
  const [ground, sunk, ink, soft, out, key] = [GROUND(), "sunk", "ink", "out-soft", "out", "key"]
    .map((name) => rgb(colour(name)));
  const mix = (a, b, part) => a.map((one, k) => one + (b[k] - one) * part);
  const table = shades("surprise");
  const data = new Uint8ClampedArray(4 * model.length);
  for (let p = 0; p < model.length; p += 1) {
    const [blank, full] = p < model.given ? [ground, ink] : [soft, out];
    const faint = (share) => (model.symbols[p] ? mix(sunk, full, share) : sunk);
    let shown = model.symbols[p] ? full : blank;
    if (p >= upto) shown = sunk;
    else if (costs) {
      shown = table.subarray(
        3 * Math.max(0, Math.min(255, Math.round((255 * model.nats[p]) / worst))),
      ).slice(0, 3);
    } else if (locked !== null && p > locked) shown = faint(0.2);
    else if (view.mask && !view.mask[p]) shown = faint(0.42);
    else if (view.weights && view.most > 0) {
      shown = mix(shown, key, 0.92 * Math.sqrt(Math.min(1, view.weights[p] / view.most)));
    }
    data.set([...shown, 255], 4 * p);
  }
  return data;
}

function digit(pen, box, run, look, now, i) {
  const { side } = run;
  const { x0, y0, cell } = box;
  const model = run.models[i];
  const size = side * cell;
  const { position, played, surprise, front } = now;
  const plain = surprise || front || position === null;
  const view = plain ? NONE : played ? { ...NONE, edges: now.views[i].edges } : now.views[i];
  const locked = front ? null : position;
  let upto = Math.max(!finished(run) && surprise ? 0 : model.given, model.count);
  if (played) upto = Math.min(upto, Math.max(position + 1, model.given));
  const image = new ImageData(
    coloursOf(model, { upto, locked, view, costs: surprise, worst: run.worst }),
    side,
    side,
  );
  const whole = { x0, y0, x1: x0 + size, y1: y0 + size };
  pen.pixels(whole, { image, radius: 4 });
  const square = (p) => cellIn(whole, side, side, Math.floor(p / side), p % side);
  // What is not made is not blank: dots on the ground. What a weight covers keeps its own colour in
  // the middle.
  const dot = Math.max(1, Math.round(cell / 9));
  const inner = Math.max(2, Math.round(cell * 0.4));
  const shapes = new Map(); // what squares are filled with, and their path
  const put = (fill, p, wide) => {
    const [x, y] = [x0 + (p % side) * cell, y0 + Math.floor(p / side) * cell].map((n) =>
      n + (cell - wide) / 2
    );
    shapes.set(fill, `${shapes.get(fill) ?? ""}M${x},${y}h${wide}v${wide}h${-wide}z`);
  };
  for (let p = 0; p < model.length; p += 1) {
    const ink = model.symbols[p];
    if (p >= upto) put("ahead", p, dot);
    else if (!surprise && locked !== null && p > locked) put("later", p, dot);
    else if (view.weights && p < locked && view.mask[p] && view.weights[p] > COVERS * view.most) {
      put(p < model.given ? (ink ? "ink" : GROUND()) : ink ? "out" : "out-soft", p, inner);
    }
  }
  for (const [fill, path] of shapes) {
    pen.path(path, FAINT[fill] ? { fill: "control", alpha: FAINT[fill] } : { fill });
  }
  const outline = (mask, line, width) =>
    pen.group(x0, y0, () => pen.path(border(mask, side, side, cell, width / 2), { line, width }));
  if (surprise) outline(model.symbols.map((ink, p) => (p < upto ? ink : 0)), "ink2", 1);
  for (const { mask, line } of view.edges) outline(mask, line, Math.max(1.25, cell / 7));
  if (look.digitsghost && run.whole) {
    const ghost = run.whole.map((ink, p) => (p >= model.given ? ink : 0));
    outline(ghost, "panel", Math.max(1.5, cell / 6) + 1);
    outline(ghost, "ink", Math.max(1.5, cell / 6));
  }
  if (model.given > 0 && model.given < model.length) {
    const y = y0 + (model.given / side) * cell;
    pen.line(x0, y, x0 + size, y, { line: "panel", width: 4.5 });
    pen.line(x0, y, x0 + size, y, { line: "ink", width: 2 });
  }
  const frame = (p, line, width) => {
    for (const [more, ink] of [[width + 2, "panel"], [width, line]]) {
      pen.rect(around(square(p), more / 2 + 0.5), { line: ink, width: more });
    }
  };
  const thick = Math.max(2, cell / 5);
  const others = front
    ? (model.count < model.length ? [model.count] : [])
    : now.positions.filter((p) => p !== position);
  for (const p of others) frame(p, "query", thick * 0.7);
  if (view.best && view.best.where !== locked) frame(view.best.where, "key", thick);
  if (locked !== null && surprise) frame(locked, "query", thick); // what it cost stays in view
  else if (locked !== null) {
    pen.rect(around(square(locked), 1.5), { fill: "panel" });
    pen.rect(square(locked), { fill: "query" });
  }
  pen.rect(whole, { line: "control", radius: 4 });
  const at = (p) => ({
    ...square(p),
    pos: p,
    drags: p < model.count,
    card: () => card(run, now, i, p),
    look: p < model.count ? { model: model.key, pos: p } : undefined,
  });
  pen.grid(whole, side, side, (row, column) => at(row * side + column), {
    of: (p) => (model.key === modelOf(run, look).key && p < model.count ? at(p) : null),
  });
}

// ── all heads, on the mean ──
const mapOf = ({ shape: [, heads, rows, columns], roots }, layer, head) =>
  roots.subarray(((layer - 1) * heads + head - 1) * rows * columns).subarray(0, rows * columns);

const kept = new Map(); // by model, what stood here last: it stays, pale, while another digit is made
/** The heads of one model; returns where they end. */
function tiles(pen, x, y, width, _run, look, model, most) {
  const old = !model.offsets;
  const one = old ? (kept.get(model.key) ?? model) : model;
  if (!old) kept.set(model.key, model);
  const [left, gap, chosen] = [18, 4, headOf(look.head)];
  const { layers, heads } = one;
  const cell = Math.max(1, Math.floor((width - left - gap * (heads - 1) - 2) / heads / 15));
  const across = heads > 1 ? Math.floor((width - left - 15 * cell - 2) / (heads - 1)) : 15 * cell;
  const down = Math.max(7 * cell + gap, pen.narrow ? 44 : 28);
  const names = [...new Set((one.factors ?? []).flat())].map(factorName);
  const said = names.length
    ? t(names.length > 1 ? TEXT.differ : TEXT.each, {
      factor: names[0],
      factors: names.join(" · "),
    })
    : "";
  pen.lines(said, width, { size: 12 }).slice(0, 2).forEach((line, n) =>
    pen.text(x, y + 7 + 15 * n, line, { size: 12, colour: "ink3" })
  );
  const top = y + 52;
  const mark = (n, here) => ({ size: 12, colour: n === here ? "query" : "ink3" });
  for (let head = 1; head <= heads; head += 1) {
    pen.text(x + left + (head - 1) * across + 7.5 * cell, top - 10, head, {
      ...mark(head, chosen[1]),
      align: "center",
    });
  }
  for (let layer = 1; layer <= layers; layer += 1) {
    const y0 = top + (layer - 1) * down;
    pen.text(x + left - 7, y0 + 3.5 * cell, layer, { ...mark(layer, chosen[0]), align: "right" });
    for (let head = 1; head <= heads; head += 1) {
      const x0 = x + left + (head - 1) * across;
      const box = { x0, y0, x1: x0 + 15 * cell, y1: y0 + 7 * cell };
      const data = one.offsets
        ? mapOf(one.offsets, layer, head)
        : new Float32Array(105).fill(Number.NaN);
      pen.cells(box, { data, rows: 7, columns: 15, high: most, radius: 3, alpha: old ? 0.45 : 1 });
      const dot = Math.max(1.5, cell / 2);
      pen.rect({
        x0: x0 + 7.25 * cell,
        y0: y0 + 6.25 * cell,
        x1: x0 + 7.25 * cell + dot,
        y1: y0 + 6.25 * cell + dot,
      }, { fill: "query" });
      const own = model.key === look.model;
      if (layer === chosen[0] && head === chosen[1] && !Number(look.digitsroll)) {
        for (
          const [width_, line, more] of [[1, "panel", 2], [own ? 3 : 1.5, "query", own ? 4 : 3]]
        ) {
          pen.rect(around(box, more), { line, width: width_, radius: 5 });
        }
      }
      if (one.offsets) {
        pen.hit({
          ...box,
          y1: Math.max(box.y1, y0 + down - gap),
          look: { model: model.key, head: `${layer}.${head}` },
          quiet: true,
          card: () => tileCard(one, mapOf(one.offsets, layer, head), layer, head),
        });
      }
    }
  }
  return top + layers * down;
}

export function scene(run, look, pen) {
  const now = seen(run, look, look.over);
  const { big } = pen;
  const shown = pen.narrow ? [modelOf(run, look)] : run.models;
  const size = big ? 20 : 13;
  const line = size * 1.4;
  const wide = (pen.width - GAP * (shown.length - 1)) / shown.length;
  const tall = pen.tall ? (pen.tall - 4 * line - 12) / run.side : MOST;
  const cell = Math.max(1, Math.floor(2 * Math.min(wide / run.side, tall)) / 2);
  const room = run.side * cell;
  const gap = Math.min(48, (pen.width - shown.length * room) / Math.max(1, shown.length - 1));
  const left = Math.max(0, (pen.width - shown.length * room - (shown.length - 1) * gap) / 2);
  const most = Math.max(
    1e-6,
    ...run.models.map((model) => (model.offsets ?? kept.get(model.key)?.offsets)?.most ?? 0),
  );
  const y0 = 2 * line + 6;
  let end = 0;
  shown.forEach((model, n) => {
    const x = left + n * (room + gap);
    const bold = { size, weight: 650, colour: "ink" };
    pen.text(x, line / 2, t(model.name), bold);
    if (model.key === look.model && run.models.length > 1) {
      pen.rect({ x0: x, x1: x + pen.measure(t(model.name), bold), y0: line, y1: line + 2 }, {
        fill: "accent",
      });
    }
    if (model.note) pen.text(x, line * 1.6 + 1, t(model.note), { size: big ? 20 : 12, room });
    digit(pen, { x0: x, y0, cell }, run, look, now, run.models.indexOf(model));
    const lines = pen.lines(costsOf(model), room, { size });
    lines.forEach((text, k) => pen.text(x, y0 + room + line * (0.8 + k), text, { size }));
    const least = big || shown.length < 3 ? 1 : 2; // costs grow, and what stands below keeps its place
    end = Math.max(end, y0 + room + line * (Math.max(least, lines.length) + 0.6));
  });
  if (big) return pen.size(pen.width, end);
  const style = { size: 13, weight: 600, colour: "ink" };
  const [title, bar] = [
    pen.measure(t(TEXT.heads), style),
    pen.measure(`${t(TEXT.mean)} 0`, { size: 12 }),
  ];
  const [x0, y] = pen.narrow ? [bar + 6, end + 40] : [title + 18 + bar, end + 20];
  pen.line(0, end + 4, pen.width, end + 4, { line: "line" });
  pen.text(0, end + 20, t(TEXT.heads), style);
  pen.scale({ x0, x1: x0 + 64, y0: y - 5, y1: y + 5 }, {
    title: t(TEXT.mean),
    high: weight(most ** 2),
  });
  let low = y;
  shown.forEach((model, n) => {
    low = Math.max(low, tiles(pen, left + n * (room + gap), y + 16, room, run, look, model, most));
  });
  return pen.size(pen.width, low + 4);
}

// ── numbers ──
/**
 * Every pixel, and of each model what it is, whether it was given, what it cost, and what the pixel
 * in view gives to it.
 */
export function table(run, look) {
  const { views, position } = seen(run, look);
  const name = (text, model) => t(text, { name: t(model.name), what: whatOf(look) });
  const columns = [
    t(TEXT.position),
    t(TEXT.row),
    t(TEXT.column),
    ...run.models.flatMap((model, i) =>
      [TEXT.ofInk, TEXT.ofGiven, TEXT.ofNats, ...(views[i].weights ? [TEXT.ofWeight] : [])].map((
        text,
      ) => name(text, model))
    ),
  ];
  const rows = upTo(
    run.models[0].length,
    (
      p,
    ) => [
      p,
      Math.floor(p / run.side),
      p % run.side,
      ...run.models.flatMap((
        model,
        i,
      ) => [
        p < model.count ? model.symbols[p] : null,
        p < model.given ? 1 : 0,
        p < model.count ? Number(model.nats[p].toFixed(5)) : null,
        ...(views[i].weights
          ? [views[i].mask[p] ? Number(views[i].weights[p].toFixed(6)) : null]
          : []),
      ]),
    ],
  );
  const costs = run.models.map((model) => `${t(model.name)}: ${costsOf(model)}`).join(
    t({ en: "; ", zh: "；" }),
  );
  return { caption: t(TEXT.caption, { costs }), columns, rows, here: position };
}

export function arrays(run, look) {
  const { views, position } = seen(run, look);
  const of = (Type, data, unit) =>
    filed(Type.from(data), ["row", "column"], unit, [run.side, run.side]);
  const each = run.models.flatMap(({ key, symbols, nats, offsets }, i) => {
    const { mask, weights } = views[i];
    return Object.entries({
      pixels: of(Uint8Array, symbols, "1 where there is ink"),
      nats: of(Float32Array, nats, "nats"),
      mean_by_displacement: offsets &&
        filed(
          offsets.roots.map((root) => root * root),
          [
            "layer",
            "head",
            "row, the last is the pixel's own",
            "column, the middle is the pixel's own",
          ],
          "mean weight",
          offsets.shape,
        ),
      allowed: mask && of(Uint8Array, mask, "1 where it may look"),
      weights: weights && of(Float32Array, weights, "weight"),
    }).filter(([, one]) => one).map(([name, one]) => [`${key}_${name}`, one]);
  });
  return {
    ...Object.fromEntries(each),
    ...(run.whole ? { whole: of(Uint8Array, run.whole, "1 where there is ink") } : {}),
    given_pixels: { shape: [1], data: [run.models[0].given] },
    looked_at: [`position ${position ?? "none"}, ${whatOf(look)}`],
  };
}

// ── what one chooses ──
/** A pixel, a head, a rollout or costs: what is chosen last is looked at. */
export function completes(run, look, patch, { add }) {
  const { pos } = patch;
  // What was made stands there whole.
  if (look.plays && pos === made(run) - 1) return { pos: null, digitswhole: 1 };
  const one = typeof pos === "number" && add
    ? KINDS.positions.add(look.digitswhole ? [] : look.pos, pos)
    : pos;
  return {
    ...patch,
    ...(pos === undefined ? {} : { pos: one, digitswhole: null }),
    ...(patch.head ? { digitsroll: null, digitssee: null } : {}),
    ...(patch.digitsroll === undefined ? {} : { digitssee: null }),
  };
}

export function choices(run, look) {
  const count = run.models[0].layers;
  const layers = upTo(
    count,
    (n) => ({
      value: String(n + 1),
      label: n + 1 < count ? String(n + 1) : t(TEXT.through, { n: count }),
    }),
  );
  const option = (value, label) => ({
    value,
    label: t(label, { head: look.head.replace(".", "·") }),
  });
  return [
    oneOf("model", TEXT.model, run.models),
    ...(finished(run) && !run.models.some(({ roll }) => roll) ? [] : [{
      key: "digitsroll",
      label: t(TEXT.attention),
      shown: true,
      options: [option("", TEXT.head), ...layers],
    }]),
    {
      key: "digitssee",
      label: t(TEXT.colours),
      options: [option("", TEXT.looks), option("surprise", TEXT.surprise)],
    },
    ...(run.whole && run.models[0].given < run.models[0].length
      ? [{ key: "digitsghost", label: t(TEXT.ghost) }]
      : []),
    { key: "digitswhole", label: t(TEXT.whole) },
  ];
}

export function below(run, look) {
  const what = !finished(run) ? t(TEXT.growing) : trouble(run) ||
    t(Number(look.digitsroll) ? TEXT.noteRoll : TEXT.note);
  return [run.models.some(({ unusual }) => unusual) && t(TEXT.unusual), t(TEXT.headsNote), what];
}

export const looks = {
  model: "choice",
  head: "head",
  digitsroll: "choice",
  digitssee: "choice",
  digitsghost: "flag",
  digitswhole: "flag",
  pos: "positions",
};
export const hovers = true;
export const resets = [
  "model",
  "head",
  "digitsroll",
  "digitssee",
  "digitsghost",
  "digitswhole",
  "pos",
];
export const input = ["pos", "digitswhole", "digitsroll"];
export const grown = { digitswhole: "1" };
export const follows = ["pos", "head"];

export function bounds(run, look) {
  const [model, pick, count] = [modelOf(run, look), run.pick ?? {}, made(run)];
  const last = count ? count - 1 : undefined;
  return {
    model: modelsOf(run),
    head: { layers: model.layers, heads: model.heads, pick: run.head },
    digitsroll: { names: ["", ...Array.from({ length: model.layers }, (_, n) => String(n + 1))] },
    digitssee: { names: ["", "surprise"] },
    pos: { count, pick: finished(run) && !look.digitswhole ? pick.pos : last },
  };
}

/** A pixel or a head that another view chose is looked at, whatever stood here in its place. */
export function follow(_run, _look, changed, get) {
  const stale = [["digitswhole", "pos"], ["digitsroll", "head"]]
    .filter(([own, other]) =>
      changed.includes(other) && get(other) !== null && !changed.includes(own) &&
      get(own) !== null
    );
  return stale.length ? Object.fromEntries(stale.map(([own]) => [own, null])) : null;
}

export const sentence = (run, look, over) => sentenceOf(run, look, seen(run, look, over));
export const legend = (run, look) => legendOf(run, look, seen(run, look));

export function clock(run) {
  const of = run.models[0].length;
  return {
    pace: PACE,
    stride: run.side,
    says: (p) => t(TEXT.count, { n: p + 1, of }),
    texts: TEXT,
  };
}

export function waits(run, look) {
  const { played, position, surprise, held } = seen(run, look);
  return finished(run) && !played && !surprise && position !== null && lacks(run, look, held);
}

export const keeps = (run) => ({
  kept: Object.fromEntries(run.models.map(({ key, rows }) => [key, rows.held()])),
});
export const named = (
  run,
  look,
) => [look.model, `position ${seen(run, look).position ?? "none"}`, whatOf(look)];
export const same = (was, run) => Boolean(run.same) && was.same === run.same;
export { TEXT };

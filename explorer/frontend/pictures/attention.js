// Attention: all heads small, one head large, with the sentence that says what it shows. The server
// sends the weights once; from then on every look is the browser's own, except the exact rows of a
// map that is pooled. The value is made by explorer/figures/attention.py.

import { upTo } from "../lib/arrays.js";
import { el } from "../lib/dom.js";
import { exactRows } from "./attentionrows.js";
import { t } from "../lib/lang.js";
import { KINDS, oneOf } from "../lib/selection.js";
import { drawLong, drawMap, drawStrip, drawTile, drawTiles, widthOfTiles } from "../lib/map.js";
import {
  attention,
  keenest,
  looksAtNothing,
  sentence as sentenceOf,
  strongest,
} from "../lib/maps.js";
import { isWord, number, ordinal, signed, weight } from "../lib/signs.js";
import { STEPS, TEXT } from "./attentionwords.js";
import { arraysOf, exactLines, linesOf, tableOf } from "./attentionfiles.js";

const STATS = ["mean", "max", "rollout"];
const STRONG = 4; // keys of the locked row that are listed on a phone
const NEAR = { cell: 46, rows: 14, from: { rows: 24, columns: 16 } }; // a part of a large map, with its numbers
// px; above: where they stand above the map, which they leave its room
const TILES = { room: 412, above: 272, stat: [56, 50] };

export function read(value, { again, away = false }) {
  if (!value.kinds) return null;
  const kinds = new Map();
  for (const kind of value.kinds) {
    kinds.set(kind.key, attention(kind, kind.weights, (key) => kinds.get(key) ?? null));
  }
  const gone = new Set(
    (value.silenced ?? []).map(([kind, layer, head]) => `${kind} ${layer + 1}.${head + 1}`),
  );
  return {
    ...value,
    kinds,
    gone,
    away,
    silences: value.silences !== false && !away,
    exact: exactRows(again, value.exact),
  };
}

// ── what is looked at ──
const steps = (it) => it.kind.axis === "step";
const say = (it, name, values) => t((steps(it) && STEPS[name]) || TEXT[name], values);
const whole = (
  text,
  count,
) => (/^\d+$/.test(text ?? "") && Number(text) < count ? Number(text) : null);
const every = (it) => it.layers * it.heads;

/** What a look stands for: the attention, the name of its map ("3.4" or "mean"), what is locked. */
function seen(run, look) {
  const it = run.kinds.get(look.kind);
  const [layer, head] = look.head.split(".").map(Number);
  const name = look.stat === "head" ? look.head : look.stat;
  return {
    it,
    key: look.kind,
    name,
    layer,
    head,
    rows: look.row,
    columns: look.col,
    by: look.by === "by",
    threshold: look.thr,
  };
}

/** How many positions a row stands for where rows are positions of the page. */
const stride = (run, it) => (run.positions && it.kind.pooled[0]) || 1;

/** The row of the position that other views have locked, or null. */
function held(run, it, get) {
  if (!(steps(it) || run.positions)) return null;
  const at = whole(get("pos"), it.rows * stride(run, it));
  return at === null ? null : Math.floor(at / stride(run, it));
}

const stepAt = (it, get) => (steps(it) ? whole(get("step"), 1e7) : null);

export function bounds(run, look, get = (_key) => null) {
  const made = {
    kind: { names: [...run.kinds.keys()], pick: run.pick.kind },
    stat: { names: ["head", ...STATS] },
    by: { names: ["to", "by"] },
  };
  const it = run.kinds.get(look.kind);
  if (!it) return made;
  const [step, picked] = [stepAt(it, get), run.pick.kind === look.kind];
  const layer = Math.max(1, Math.min(it.layers, step || run.pick.layer + 1));
  made.head = {
    layers: it.layers,
    heads: it.heads,
    pick: `${layer}.${Math.min(it.heads, run.pick.head + 1)}`,
  };
  if (!look.head) return made;
  const now = seen(run, { ...look, row: [], col: [] });
  const [free, row] = [get("row") === null && get("col") === null, held(run, it, get)];
  const place = !free || row !== null
    ? null
    : picked && now.name === `${run.pick.layer + 1}.${run.pick.head + 1}`
    ? [run.pick.row, run.pick.col]
    : it.telling(now.name);
  made.row = { count: it.rows, pick: free ? (row ?? place[0]) : null };
  // A row without a key shows its strongest key, whichever head is looked at; one that has stopped
  // asks nothing any more.
  const map = it.map(now.name);
  const alone = look.row?.length === 1 &&
    !it.gone(look.row[0], look.stat === "head" ? now.layer : 0) &&
    !looksAtNothing(map, look.row[0]);
  made.col = {
    count: it.columns,
    pick: place ? place[1] : alone ? strongest(map, look.row[0]) : null,
  };
  return made;
}

/** Does the key in view follow the row? */
const trails = (run, look, get) =>
  get("col") === null && look.row.length === 1 &&
  !(get("row") === null && held(run, run.kinds.get(look.kind), get) === null);

/**
 * What is locked with what a visitor locks: the same cell while heads are compared, the step and
 * the position of other views.
 */
export function completes(run, look, patch, { get, add }) {
  const [it, out, loose] = [run.kinds.get(look.kind), { ...patch }, trails(run, look, get)];
  const toggled = KINDS.positions.add;
  if (add && look.by === "by" && "col" in patch) {
    Object.assign(out, { row: look.row, col: toggled(look.col, patch.col) });
  } else if (add && "row" in patch) {
    Object.assign(out, {
      row: toggled(look.row, patch.row),
      col: loose ? null : look.col.slice(0, 1),
    });
  } else if ("row" in patch && !("col" in patch)) out.col = null;
  if ("head" in patch || "stat" in patch) {
    Object.assign(out, { stat: "head", head: look.head, ...out });
    if (!("row" in patch)) {
      Object.assign(out, {
        row: look.row,
        col: !look.row.length || (look.col.length && !loose) ? look.col : null,
      });
    }
    if (steps(it) && "head" in patch) out.step = out.head.split(".")[0];
  }
  if ("kind" in patch && patch.kind !== look.kind) {
    // The same queries: the row stays locked, so that one word's looks can be compared. Otherwise a
    // telling cell of the new map.
    const [from, to] = [it, run.kinds.get(patch.kind)];
    const same = look.row.length && from.kind.queries.join("\n") === to.kind.queries.join("\n");
    Object.assign(out, {
      head: to.has(look.head) && get("head") !== null ? look.head : null,
      row: same ? look.row : null,
      col: null,
    });
  }
  if (patch.by === "by" && !look.col.length && look.row.length) {
    out.col = strongest(it.map(seen(run, look).name), look.row[0]);
  }
  const rows = "row" in patch ? [out.row ?? []].flat() : [];
  if (rows.length === 1 && (steps(it) || run.positions)) out.pos = rows[0] * stride(run, it);
  return out;
}

/** Other views have chosen another step or position. */
export function follow(run, look, changed, get) {
  const it = run.kinds.get(look.kind);
  const row = held(run, it, get);
  // a whole view was opened, ours with it
  if (["head", "stat", "row", "col"].some((key) => changed.includes(key))) return null;
  return {
    ...(changed.includes("step") && steps(it)
      ? {
        head: `${Math.max(1, Math.min(it.layers, stepAt(it, get) ?? it.layers))}.${
          look.head.split(".")[1]
        }`,
        stat: null,
      }
      : {}),
    ...(changed.includes("pos") && row !== null ? { row, col: null } : {}),
  };
}

export function move(run, look, key, by) {
  const now = seen(run, look);
  const { it } = now;
  if (key === "head" && look.stat !== "head") return { head: look.head };
  if (key === "head") return { head: KINDS.head.move(look.head, by, it) };
  const [list, count] = now.by ? [now.columns, it.columns] : [now.rows, it.rows];
  const next = ((list[0] ?? (by > 0 ? -1 : 0)) + by + count) % count;
  return now.by ? { row: keenest(it.map(now.name), next), col: next } : { row: next };
}

const exactOf = (
  run,
  now,
) => (now.it.blocks && now.rows.length === 1 && now.name.includes(".")
  ? run.exact.of(now.it, now.layer, now.head, now.rows[0])
  : null);

/** The exact rows of what is locked, also of a long map whose cells are single weights. */
const rowsOf = (
  run,
  now,
) => (now.it.kind.look && now.rows.length && now.name.includes(".")
  ? run.exact.of(now.it, now.layer, now.head, now.rows[0])
  : null);

// ── names ──
const longName = ({ it, name, layer, head }) =>
  every(it) === 1
    ? t(TEXT.only)
    : name.includes(".")
    ? say(it, "named", { layer, head })
    : say(it, `${name}All`, { n: name === "rollout" ? it.layers : every(it), heads: it.heads });
const isGone = (run, key, name) => run.gone.has(`${key} ${name}`);
const told = (it, text, at) => `“${it.shown(text)}” (${at})`;
const continues = (space, texts, i) => Boolean(space) && i > 0 && !space[i] && isWord(texts[i]);

export function units(run, look) {
  const now = seen(run, look);
  const parts = [
    t(now.it.kind.label),
    longName(now),
    every(now.it) > 1 &&
    say(now.it, "size", { layers: now.it.layers, heads: now.it.heads }),
    now.it.pooling(),
  ];
  return parts.filter(Boolean).join(" · ");
}

function titles({ it }) {
  const [rows, columns] = (it.kind.roles ?? ["", ""]).map((role) => t(role));
  return [`${t(TEXT.queries)} ↓ ${rows}`.trim(), `${t(TEXT.keys)} → ${columns}`.trim()];
}

// ── the figure ──
export function scene(run, look, pen) {
  const now = seen(run, look);
  const { it } = now;
  const grid = every(it) > 1 && !pen.big && !pen.away;
  let [x, y, low] = [0, 2, 0];
  if (grid) {
    const need = it.kind.look ? 400 : it.columns * 13 + 120;
    const beside = pen.width >= 780 && need <= pen.width - widthOfTiles(it.heads, TILES.room) - 24;
    const room = pen.narrow ? pen.width : beside ? TILES.room : TILES.above;
    const wide = widthOfTiles(it.heads, room);
    const size = drawTiles(pen, 0, 0, room, {
      layers: it.layers,
      heads: it.heads,
      grid: (layer, head) => it.map(`${layer}.${head}`),
      one: (layer, head) => tile(run, now, `${layer}.${head}`, pen),
    });
    const aside = !beside && pen.width - wide > 240;
    const top = aside ? 20 : size.height + 8; // of mean, maximum and rollout
    if (!pen.narrow) stats(run, now, pen, aside ? wide + 20 : 26, top);
    low = Math.max(size.height + 8, pen.narrow ? 0 : top + TILES.stat[1] + 24);
    // of two heads the summaries are wider
    if (beside) x = Math.max(wide + 24, 26 + STATS.length * (TILES.stat[0] + 10));
    else y = low + 6;
  }
  const made = it.kind.look ? long(run, now, pen, x, y) : single(run, look, now, pen, x, y);
  pen.size(Math.max(pen.width, x + made.width), Math.max(low, y + made.height));
}

/** What a small map shows, and what can be done with it. */
function tile(run, now, name, pen) {
  const { it, key } = now;
  const gone = isGone(run, key, name);
  const [layer, head] = name.split(".").map(Number);
  const card = () => {
    const map = it.map(name);
    const best = map.data.reduce(
      (most, w, n) => (w > map.data[most] || map.data[most] !== map.data[most] ? n : most),
      0,
    );
    const [i, j] = [Math.floor(best / map.columns), best % map.columns];
    const job = (run.jobs ?? []).find((one) =>
      one.kind === key && one.layer === layer - 1 && one.head === head - 1
    );
    const title = [
      `${layer}·${head}`,
      job && `${t(job.name)} ${number(job.score)}`,
      gone && t(TEXT.gone),
    ]
      .filter(Boolean).join(" · ");
    if (map.data[best] === 0) return [title, t(TEXT.tileNothing)];
    return [
      title,
      it.blocks
        ? `${t(TEXT.tileBlock)} ${weight(map.data[best])} ${it.queryAt(i)} → ${it.keyAt(j)}`
        : `${t(TEXT.tileTop)} ${number(map.data[best])} ${told(it, it.query(i), it.queryAt(i))} → ${
          told(it, it.key(j), it.keyAt(j))
        }`,
    ];
  };
  const add = run.silences
    ? { fire: ["silence", { kind: key, layer: layer - 1, head: head - 1 }] }
    : {};
  return {
    gone,
    here: now.name === name,
    still: true,
    look: { head: name },
    add,
    card: pen.narrow ? null : card,
    does: t(run.silences ? (gone ? TEXT.tileWake : TEXT.tileDo) : TEXT.tileLook),
  };
}

function stats(_run, now, pen, x, y) {
  STATS.forEach((name, at) => {
    const [w, h] = TILES.stat;
    const box = { x0: x + at * (w + 10), x1: x + at * (w + 10) + w, y0: y, y1: y + h };
    drawTile(pen, box, now.it.map(name), {
      here: now.name === name,
      still: true,
      look: { stat: name },
      card: () => [longName({ ...now, name })],
      does: t(TEXT.tileLook),
    });
    pen.text(box.x0, y + h + 11, say(now.it, name), {
      size: 12,
      ...(now.name === name ? { colour: "query", weight: 650 } : {}),
    });
  });
}

function single(run, look, now, pen, x, y) {
  const { it, name } = now;
  const full = it.map(name);
  const [width, part] = [
    pen.width - x - (pen.big ? 20 : 0),
    look.near
      ? { columns: Math.max(4, Math.floor((pen.width - x - 150) / NEAR.cell)), rows: NEAR.rows }
      : { columns: it.columns, rows: it.rows },
  ];
  const from = (at, size, count) =>
    Math.max(0, Math.min(count - size, Math.floor((at ?? 0) / size) * size));
  const [r0, c0] = [
    from(now.rows[0], part.rows, it.rows),
    from(now.columns[0], part.columns, it.columns),
  ];
  const [rows, columns] = [
    Math.min(part.rows, it.rows - r0),
    Math.min(part.columns, it.columns - c0),
  ];
  const grid = rows === it.rows && columns === it.columns ? full : {
    rows,
    columns,
    data: Float32Array.from(
      { length: rows * columns },
      (_, n) => full.data[(r0 + Math.floor(n / columns)) * it.columns + c0 + (n % columns)],
    ),
  };
  const inside = (list, start, count) =>
    list.map((one) => one - start).filter((one) => one >= 0 && one < count);
  const { queries, keys, query_space: qs, key_space: ks } = it.kind;
  // Rows are pieces of the answer, or positions of the page: other views that show these point at
  // them.
  const pos = (
    i,
  ) => (run.positions || steps(it)
    ? i * stride(run, it)
    : it.kind.own && !it.kind.mask
    ? undefined
    : i);
  const made = drawMap(pen, x, y, width, {
    grid,
    rows: upTo(
      rows,
      (i) => ({
        text: it.shown(it.query(r0 + i)),
        at: it.queryAt(r0 + i),
        joined: continues(qs, queries, r0 + i),
      }),
    ),
    columns: upTo(
      columns,
      (j) => ({
        text: it.shown(it.key(c0 + j)),
        at: it.keyAt(c0 + j),
        joined: continues(ks, keys, c0 + j),
      }),
    ),
    locked: { rows: inside(now.rows, r0, rows), columns: inside(now.columns, c0, columns) },
    by: now.by,
    largest: name === "max",
    threshold: now.threshold,
    spaced: it.kind.spaced,
    tall: pen.tall,
    titles: titles(now),
    title: t(TEXT.weight),
    hit: (i, j, sum) => ({
      look: { row: r0 + i, col: c0 + j },
      pos: pos(r0 + i),
      card: () => cellCard(now, r0 + i, c0 + j, sum),
    }),
    row: (i) => ({
      look: now.by ? { row: r0 + i, col: strongest(full, r0 + i) } : { row: r0 + i },
      pos: pos(r0 + i),
    }),
    column: (j) => ({
      look: { row: now.by || !now.rows.length ? keenest(full, c0 + j) : now.rows[0], col: c0 + j },
    }),
  });
  if (made.group === 1) return made;
  const size = pen.big ? 20 : 12;
  const note = pen.lines(
    t(name === "max" ? TEXT.pooledMax : TEXT.pooledNote, { n: made.group }),
    width,
    { size },
  );
  note.forEach((line, n) =>
    pen.text(x, y + made.height + (n + 0.7) * size * 1.4, line, { size, colour: "ink3" })
  );
  return { ...made, height: made.height + (note.length + 0.4) * size * 1.4 };
}

function cellCard({ it, name }, i, j, sum = null) {
  const map = it.map(name);
  const w = map.data[i * map.columns + j];
  const row = Array.from(map.data.subarray(i * map.columns, (i + 1) * map.columns)).filter((one) =>
    one === one
  );
  const title = `${told(it, it.query(i), it.queryAt(i))} → ${told(it, it.key(j), it.keyAt(j))}`;
  if (w !== w) {
    return [
      title,
      say(it, it.gone(i, Number(name.split(".")[0]) || 0) ? "cardStopped" : "cardMasked"),
    ];
  }
  const rank = t(TEXT.cardRank, {
    rank: ordinal(1 + row.filter((one) => one > w).length),
    n: row.length,
  });
  return [
    title,
    `${t(TEXT.weight)} ${w >= 0.0995 || w === 0 ? number(w) : w.toFixed(4)} · ${rank}`,
    ...(sum === null ? [] : [`${t(TEXT.cardPooled)}: ${number(sum)}`]),
  ];
}

/** A map of blocks, whose exact rows the server tells, and these rows below it. */
function long(run, now, pen, x, y) {
  const { it, name } = now;
  const [map, { queries, keys }] = [it.map(name), it.all];
  const room = pen.width - x - 60;
  const exact = rowsOf(run, now);
  const side = Math.max(160, Math.min(room, pen.big ? pen.tall - 110 : 560));
  const hit = (i, j) => ({
    look: { row: i, col: j },
    pos: run.positions ? i * stride(run, it) : undefined,
    down: () => name.includes(".") && run.exact.ask(it, now.layer, now.head, i),
    card: it.blocks
      ? () => {
        const w = map.data[i * it.columns + j];
        return [
          `${it.queryAt(i)} → ${it.keyAt(j)}`,
          w === w ? t(TEXT.cell, { w: weight(w) }) : t(TEXT.cardMasked),
        ];
      }
      : () => cellCard(now, i, j),
  });
  const ends = [[0, queries.length - 1], [it.keyNumber(0), it.keyNumber(keys.length - 1)]];
  const made = drawLong(pen, x, y, side, {
    grid: map,
    ends,
    locked: { rows: now.rows, columns: now.columns },
    threshold: now.threshold,
    titles: titles(now),
    title: t(TEXT.weight),
    hit,
  });
  if (!exact) return made;
  const where = framed(now, exact);
  // a hall has room for them beside the map
  const [from, top] = pen.big ? [x + made.width + 48, y + 72] : [x, y + made.height + 12];
  const [wide, size] = [
    pen.big ? pen.width - from - 8 : Math.min(pen.width - x - 8, Math.max(side, made.width)),
    pen.big ? 20 : 12,
  ];
  pen.text(from, top, t(it.blocks ? TEXT.exact : TEXT.exactOne, where), {
    size,
    colour: "ink2",
    room: wide,
  });
  const data = Float32Array.from(
    { length: exact.count * keys.length },
    (_, n) => exact.at(Math.floor(n / keys.length), n % keys.length),
  );
  const high = drawStrip(pen, from + 2, top + size + 4, wide, {
    rows: exact.count,
    columns: keys.length,
    data,
    from: where.from,
    to: where.to,
  });
  return {
    width: Math.max(made.width, from - x + wide + 8),
    height: Math.max(made.height, top + size + 8 + high - y),
  };
}

/** Which rows and keys the exact ones are. */
function framed({ it, columns }, exact) {
  const [from, to] = columns.length ? it.keysOf(columns[0]) : [0, it.kind.pooled[1] - 1];
  return {
    a: exact.first,
    b: exact.first + exact.count - 1,
    c: signed(it.keyNumber(from)),
    d: signed(it.keyNumber(to)),
    n: it.all.keys.length,
    from,
    to: Math.min(to, it.all.keys.length - 1),
  };
}

// ── under it ──
export function below(run, look, lock) {
  const now = seen(run, look);
  return [strengths(now), sheet(run, now), work(run, now, lock), notes(run, now)].filter(Boolean);
}

/** Mean, maximum and rollout, and the heads that do one clear thing. */
function work(run, now, lock) {
  if (every(now.it) === 1) return null;
  const chip = (text, on, act, more) =>
    el("button", {
      type: "button",
      class: "tfe-chip",
      "aria-pressed": String(on),
      onclick: act,
      ...more,
    }, text);
  const choose = STATS.map((name) =>
    chip(
      say(now.it, name),
      now.name === name,
      () => lock({ stat: now.name === name ? "head" : name }),
      { "data-stat": name, title: longName({ ...now, name }) },
    )
  );
  const here = (run.jobs ?? []).filter((job) => job.kind === now.key);
  // of each job
  const best = here.filter((job, i) => here.findIndex((other) => other.job === job.job) === i)
    .slice(0, 5);
  const jobs = best.map((job) => {
    const name = `${job.layer + 1}.${job.head + 1}`;
    const place = job.row === undefined ? {} : { row: job.row, col: job.col };
    return el(
      "li",
      {},
      chip(
        [
          el("b", { text: name.replace(".", "·") }),
          ` ${t(job.name)} `,
          el("span", { class: "score", text: number(job.score) }),
        ],
        now.name === name,
        () => lock({ head: name, ...place }),
      ),
    );
  });
  return el(
    "div",
    { class: "tfe-attention-work tfe-controls" },
    el("div", { class: "tfe-attention-stats", role: "group", "aria-label": t(TEXT.over) }, choose),
    run.jobs === null ? null : el(
      "div",
      { class: "tfe-attention-jobs" },
      el("h3", { class: "tfe-label", text: t(TEXT.jobs) }),
      jobs.length ? el("ul", {}, jobs) : el("p", { class: "tfe-note", text: t(TEXT.noJobs) }),
    ),
  );
}

/** On a phone there is no room for bars above the map: the strongest keys of the locked row. */
function strengths({ it, name, rows, by }) {
  if (!rows.length || by || it.kind.look) return null;
  const map = it.map(name);
  const top = upTo(map.columns, (j) => [map.data[rows[0] * map.columns + j], j]).filter(([w]) =>
    w >= 0.01
  );
  const line = ([w, j]) =>
    el(
      "li",
      {},
      el(
        "span",
        { class: "name" },
        el("bdi", { text: it.shown(it.key(j)) }),
        el("span", { class: "at", text: `·${it.keyAt(j)}` }),
      ),
      el("span", { class: "track" }, el("span", { style: { width: `${100 * w}%` } })),
      el("span", { text: number(w) }),
    );
  return el(
    "ol",
    { class: "tfe-attention-strengths", "aria-label": t(TEXT.bars) },
    top.sort((a, b) => b[0] - a[0])
      .slice(0, STRONG).map(line),
  );
}

/** The exact weights of the chosen block. */
function sheet(run, now) {
  const { it } = now;
  if (!it.kind.look) return null;
  const [exact, trouble] = [rowsOf(run, now), run.exact.trouble()];
  if (trouble) {
    return el("p", {
      class: "tfe-error",
      role: "alert",
      text: t(TEXT.exactFailed, { why: trouble }),
    });
  }
  if (!exact) {
    return el("p", {
      class: "tfe-note tfe-controls",
      text: t(!now.name.includes(".") ? TEXT.single : it.blocks ? TEXT.hint : TEXT.hintOne),
    });
  }
  const where = framed(now, exact);
  const keys = upTo(where.to - where.from + 1, (at) => where.from + at);
  const cells = (r) =>
    keys.map((k) =>
      el("td", { text: Number.isNaN(exact.at(r, k)) ? "–" : exact.at(r, k).toFixed(4) })
    );
  const rows = upTo(
    exact.count,
    (r) =>
      el(
        "tr",
        {},
        el("th", { scope: "row", text: `${it.shown(it.all.queries[where.a + r])}·${where.a + r}` }),
        cells(r),
      ),
  );
  const top = el(
    "tr",
    {},
    el("td"),
    keys.map((k) =>
      el("th", { scope: "col", text: `${it.shown(it.all.keys[k])}·${signed(it.keyNumber(k))}` })
    ),
  );
  const made = el("table", { class: "tfe-table" }, el("thead", {}, top), el("tbody", {}, rows));
  return el("div", {
    class: "tfe-attention-exact tfe-controls tfe-scroll",
    tabindex: "0",
    role: "region",
    "aria-label": t(TEXT.table, where),
    "data-exact": `${now.name} ${where.a} ${where.b} ${where.c} ${where.d}`,
  }, it.blocks ? made : null);
}

function notes(run, now) {
  const { it, name, threshold } = now;
  const parts = [
    run.state === "stale" && t(TEXT.stale),
    name === "rollout" &&
    (it.kind.own ? say(it, "rolloutOwn", { n: it.layers }) : t(TEXT.rolloutCross)),
    it.kind.mask && t(TEXT.masked),
    name.includes(".") && it.kind.taken?.some((_, i) => it.gone(i, now.layer)) && t(STEPS.stopped),
    it.blocks &&
    t(TEXT.pooledBoth, { pooled: it.pooling(), q: it.kind.pooled[0], k: it.kind.pooled[1] }),
    it.blocks && name === "rollout" && t(TEXT.pooledRollout),
    threshold &&
    t(it.blocks ? TEXT.thresholdBlocks : TEXT.thresholdNote, { n: threshold.toFixed(2) }),
    name.includes(".") && isGone(run, now.key, name) &&
    t(TEXT.silencedNote, { name: name.replace(".", "·") }),
  ];
  const files = it.blocks && name.includes(".") ? [t(TEXT.exactTake)] : []; // a hall takes none along
  const joined = (texts) =>
    texts.filter(Boolean).map((text) => text.replace(/[.。]$/, "")).join(" · ");
  return el(
    "p",
    { class: "tfe-note tfe-attention-note" },
    joined(parts),
    files.length ? el("span", { class: "tfe-controls", text: ` · ${joined(files)}` }) : null,
  );
}

export function choices(run, look) {
  const it = run.kinds.get(look.kind);
  return [
    oneOf(
      "kind",
      TEXT.kinds,
      [...run.kinds.values()].map(({ kind: { key, label: name } }) => ({ key, name })),
    ),
    {
      key: "by",
      label: t(TEXT.direction),
      options: ["to", "by"].map((value) => ({ value, label: t(TEXT[value]) })),
    },
    ...(!it.kind.look && (it.rows > NEAR.from.rows || it.columns > NEAR.from.columns)
      ? [{ key: "near", label: t(TEXT.near) }]
      : []),
    { key: "thr", label: t(TEXT.threshold), say: (n) => n.toFixed(2) },
  ];
}

const sign = (run) =>
  JSON.stringify([...run.kinds.values()].map(({ kind }) => [kind.queries, kind.keys]));
const filed = (make) => (run, look) =>
  make(seen(run, look), {
    run,
    exact: exactOf(run, seen(run, look)),
    title: longName(seen(run, look)),
  });

export const looks = {
  kind: "choice",
  stat: "choice",
  head: "head",
  row: "positions",
  col: "positions",
  by: "choice",
  thr: "number",
  near: "flag",
};
export const free = { row: "none", col: "none", thr: null };
export const input = ["row", "col"];
export const stays = ["kind", "head", "row", "col"];
export const follows = ["step", "pos"];
export const title = () => TEXT.title;
export const question = (run, look) => run?.kinds.get(look.kind).kind.question ?? TEXT.question;
export const leap = (run, look) => run.kinds.get(look.kind).heads;
export const press = (
  run,
  look,
) => (run.silences && look.stat === "head" ? tile(run, seen(run, look), look.head, {}).add : null);
export const sentence = (run, look) =>
  sentenceOf(seen(run, look).it, seen(run, look), exactOf(run, seen(run, look)));
export const table = filed(tableOf);
export const lines = filed(linesOf);
export const arrays = filed(arraysOf);
export const files = { "CSV 1×": filed(exactLines) };
export const named = (
  run,
  look,
) => [
  look.kind,
  seen(run, look).name,
  seen(run, look).it.blocks ? `pooled ${seen(run, look).it.kind.pooled.join("x")}` : "",
];
export const kept = (run, value) => ({ ...value, exact: run.exact.held() });
export const tells = (
  _run,
  { kind, head, row, col },
) => ["looked", {
  kind,
  layer: Number(head.split(".")[0]) - 1,
  head: Number(head.split(".")[1]) - 1,
  row: row[0] ?? null,
  col: col[0] ?? null,
}];
export const same = (was, run) => sign(was) === sign(run);
export { TEXT };

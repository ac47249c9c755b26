// Hash, sort, chunk, attend, back in place: five steps on the visitor's own sequence. What follows
// from the buckets is worked out here; rotated vectors and weights of a head and round are asked
// for as somebody looks. The value is made by explorer/labs/reformer/figures/hashing.py.

import { filed, opened, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { modelOf, modelsOf, oneOf } from "../../frontend/lib/selection.js";
import { ramp } from "../../frontend/lib/pen.js";
import { Sheet } from "../../frontend/lib/sheet.js";
import { shown } from "../../frontend/lib/signs.js";
import { between, FIRST } from "./hashboards.js";
import { back, chunks } from "./hashmaps.js";
import {
  compared,
  copies,
  dense,
  meet,
  ranked,
  roundOf,
  row as rowOf,
  seenBy,
  share,
  sight,
  twins,
} from "./hashnumbers.js";
import { styleOf, token } from "./hashtiles.js";
import { nameOf, roundsText, sentenceOf, TEXT } from "./hashwords.js";

const BOARDS = [...FIRST, chunks, back];
const STEPS = BOARDS.length;
const HIGH = { narrow: 400, page: 340 }; // px of a step that needs no more
const TRAVEL = { plain: 400, sorting: 900 }; // ms; the second through the plain sequence and along the lines
const KEPT = 40; // heads and rounds that are remembered; one is at most 1.5 MB
const AGAIN = 5_000; // ms after which the next look asks once more for what could not be had
const TILE = { tall: 22, least: 130 }; // px of the buckets of a head

// ── a run, and what is asked for as somebody looks ── address as text -> {raw, rotated: (position,
// half), weights: (place, slot), or (query, key) of all rounds}
const details = new Map();
const failed = new Map(); // address as text -> the sentence that says why
const addressed = ({ query, model, head, round }) => [query, model, head, round].join("\n");

/** What the server sent of a head and round. */
export async function takes(_run, value) {
  if (value?.kind !== "hashing") return;
  const name = addressed(value);
  const fails = (why) => {
    failed.set(name, why);
    setTimeout(() => failed.delete(name), AGAIN);
  };
  if (value.error) return void fails(value.error);
  try {
    const { rotated, weights } = await opened(value);
    const raw = { ...value, rotated: rotated?.packed, weights: weights?.packed };
    if (details.size >= KEPT) details.delete(details.keys().next().value);
    details.set(name, { raw, rotated, weights });
    failed.delete(name);
  } catch (error) {
    fails({
      en: `This head could not be fetched: ${error.message}.`,
      zh: `无法取得这个头：${error.message}。`,
    });
  }
}

/**
 * Models have `rounded(layer, head)`, the rounds of a head, and `seen(layer, head, turn)`, who may
 * look at whom; turn −1: in any round.
 */
export async function read(value) {
  if (!value.models?.length) return null;
  await Promise.all([value.looked ?? []].flat().map((one) => takes(null, one)));
  const [length, remembered] = [value.tokens.length, new Map()];
  const kept = (name, make) => {
    if (!remembered.has(name)) {
      if (remembered.size > 80) remembered.clear();
      remembered.set(name, make());
    }
    return remembered.get(name);
  };
  const models = value.models.map((model, m) => {
    const rounded = (layer, head) =>
      kept(
        `${m} ${layer} ${head}`,
        () =>
          upTo(
            model.rounds,
            (turn) => roundOf(model.buckets.slice(layer, head, turn), model.chunk),
          ),
      );
    const seen = (layer, head, turn) =>
      kept(
        `${m} ${layer} ${head} ${turn}`,
        () => seenBy(turn < 0 ? rounded(layer, head) : [rounded(layer, head)[turn]], length),
      );
    return { ...model, rounded, seen };
  });
  return {
    ...value,
    length,
    models,
    kept,
    copies: value.word ? copies(value.word) : [],
    twins: value.word ? twins(value.word) : [],
  };
}

export function bounds(run, look) {
  const [model, pick] = [modelOf(run, look), run.pick ?? {}];
  const rounds = Math.max(1, model.rounds);
  return {
    model: modelsOf(run),
    head: { layers: model.layers, heads: model.heads, pick: pick.head },
    hashingstep: { steps: STEPS, pick: pick.step ?? 1 },
    hashinground: {
      names: [...Array.from({ length: rounds }, (_, n) => String(n + 1)), "all"],
      pick: String(Math.min(rounds, pick.round ?? 1)),
    },
    hashingplane: { names: ["deciding", "first"] },
    pos: { count: run.length, pick: pick.pos ?? run.length - 1 },
  };
}

/**
 * Whose head, which round is drawn, and which is told of: −1 for all of them together, in the last
 * step.
 */
function chosen(run, look) {
  const model = modelOf(run, look);
  const [layer, head] = look.head.split(".").map((one) => Number(one) - 1);
  const all = look.hashinground === "all";
  const drawn = all
    ? Math.min(Math.max(1, model.rounds), run.pick?.round ?? 1) - 1
    : Number(look.hashinground) - 1;
  const turn = all && look.hashingstep === STEPS && model.rounds > 1 ? -1 : drawn;
  return {
    model,
    layer,
    head,
    drawn,
    turn,
    address: { query: run.query, model: model.key, head: look.head, round: turn + 1 },
  };
}

const detailOf = (address) => details.get(addressed(address)) ?? null;

export function lacks(run, look) {
  const { model, address } = chosen(run, look);
  return model.rounds && !detailOf(address) && !failed.has(addressed(address)) ? address : null;
}

/** Everything that drawing and telling need; pen is null where nothing is drawn. */
function sceneOf(run, look, pen = null) {
  const { model, layer, head, drawn: shown_, turn, address } = chosen(run, look);
  if (!model.rounds) return { run, model };
  const over = look.over ?? {};
  const anchor = look.pos.at(-1) ?? null;
  const [position, step, rounds] = [
    over.pos ?? anchor,
    look.hashingstep,
    model.rounded(layer, head),
  ];
  const [round, seen] = [rounds[shown_], model.seen(layer, head, turn)];
  const detail = detailOf({ ...address, round: shown_ + 1 });
  const here = detailOf(address);
  const name = `${model.key} ${layer} ${head} ${turn} ${Boolean(here)}`;
  const all = turn < 0 && here?.weights.data;
  const matrix = step !== STEPS || !here
    ? null
    : run.kept(`matrix ${name}`, () => (all
      ? all.map((w, at) => (seen[at] ? w : Number.NaN))
      : dense(round, here.weights.data)));
  const row = (
    q,
  ) => (matrix
    ? matrix.subarray(q * run.length, (q + 1) * run.length)
    : detail?.weights && step < STEPS
    ? rowOf(round, detail.weights.data, q)
    : null);
  const seenIn = (one) => model.seen(layer, head, one);
  const comparedBy = (one) =>
    run.kept(
      `compared ${model.key} ${layer} ${head} ${one}`,
      () => compared(seenIn(one), run.length),
    );
  const scene_ = {
    run,
    model,
    layer,
    head,
    rounds,
    round,
    turn,
    step,
    seen,
    detail,
    matrix,
    anchor,
    position,
    locked: look.pos,
    seenIn,
    comparedBy,
    shown: shown_,
    plane: look.hashingplane,
    key: over.key ?? null,
    rowOf: row,
    row: position === null ? null : row(position),
    // the letter that it is to say, in the first word
    partner: run.word && position !== null && position > run.word ? position - run.word : null,
    compare: comparedBy(turn),
    met: meet(run.copies, turn < 0 ? rounds : [round]),
    kept: (what, make) => run.kept(`${what} ${name}`, make),
  };
  if (!pen) return scene_;
  // Where vectors are on their way the last ones stay, as long as they have as many coordinates.
  const before = run.vectors?.shape[1] === model.kinds / 2 ? run.vectors : null;
  run.vectors = detail?.rotated ?? before;
  const { width, big, narrow, small: size } = pen;
  return {
    ...scene_,
    pen,
    width,
    big,
    narrow,
    size,
    drawn: run.vectors,
    high: big ? Math.max(300, pen.tall) : narrow ? HIGH.narrow : HIGH.page,
    rect: (x, y, w, h, how) => pen.rect({ x0: x, x1: x + w, y0: y, y1: y + h }, how),
    sheet: new Sheet(pen),
    panels: [],
    /** A figure of its own in a box: Plotly draws anew only those that say something else. */
    panel(box) {
      this.panels.push([box, new Sheet(pen)]);
      return this.panels.at(-1)[1];
    },
    /** y: the foot of its letters. */
    text(x, y, words, how) {
      this.sheet.write(x, y - 0.36 * (how.size ?? size), words, { size, ...how });
    },
    /** The same over what is drawn there. */
    over(x, y, words, { room: _room, ...how }) {
      this.sheet.plane.note(x, y - 0.36 * size, words, { size, ...how, ground: "panel" });
    },
    /** The same by the pen, beside the figure. */
    write: (x, y, words, how) =>
      pen.text(x, y - 0.36 * (how.size ?? size), words, { size, ...how }),
  };
}

/** The height of all steps together, so that the page stays where it is, and the places of one. */
function placed(s) {
  const at = BOARDS.map((board) => board.place(s));
  const high = Math.ceil(Math.max(s.high, ...at.map(({ need }) => need)));
  return {
    at: s.step === 3
      ? FIRST[2].place({ ...s, high: s.narrow ? Math.min(high, 420) : high })
      : at[s.step - 1],
    high,
  };
}

export function scene(run, look, pen) {
  const s = sceneOf(run, look, pen);
  if (!s.model.rounds) {
    pen.size(pen.width, 1);
    return;
  }
  const { at, high } = placed(s);
  const was = pen.was && sceneOf(run, pen.was, pen);
  if (was) {
    const from = placed(was).at;
    at.spots.forEach((_, i) =>
      token(
        s,
        i,
        between(s, { step: was.step, at: from }, { step: s.step, at }, pen.part, i),
      )
    );
  } else {
    const board = BOARDS[s.step - 1];
    board.draw(s, at);
    const whole = { x0: 0, x1: pen.width, y0: 0, y1: high };
    for (const [box, sheet] of [[whole, s.sheet], ...s.panels]) {
      const { data, layout } = sheet.figure(box);
      pen.plot(box, { data, layout: { ...layout, uirevision: `${run.query} ${s.step}` } });
    }
    board.point({ ...s, high }, at);
  }
  const end = pen.big ? high : pen.say(high);
  pen.size(pen.width, end + (pen.big || pen.away ? 0 : heads(s, end + 10)));
}

/** How long tokens travel: between steps, heads, rounds, planes; not while somebody points. */
export function moves(run, was, look) {
  if (was.model !== look.model || !modelOf(run, look).rounds) return 0;
  if (was.hashingstep !== look.hashingstep) {
    return [was.hashingstep, look.hashingstep].sort().join() === "2,3"
      ? TRAVEL.sorting
      : TRAVEL.plain;
  }
  const other = [
    "head",
    "hashinground",
    ...(look.hashingstep === 1 ? ["hashingplane", "pos"] : []),
  ];
  return other.some((key) => String(was[key]) !== String(look[key])) ? TRAVEL.plain : 0;
}

/**
 * Layers × heads as small pictures, the buckets of the sequence as strips, and how many pairs share
 * one. Returns how high they are.
 */
function heads(s, top) {
  const { run, model, size, pen, width } = s;
  const title = pen.lines(t(run.word ? TEXT.headsWord : TEXT.heads), width, { size });
  title.forEach((line, n) => s.write(0, top + size * (1 + 1.4 * n), line, { colour: "ink2" }));
  const under = top + size * 1.4 * (title.length - 1);
  const per = Math.max(1, Math.min(model.heads, Math.floor((width + 8) / (TILE.least + 8))));
  const wide = Math.min(320, (width + 8) / per - 8);
  const tall = size + TILE.tall + 14;
  const lines = Math.ceil(model.heads / per);
  for (let layer = 0; layer < model.layers; layer += 1) {
    for (let head = 0; head < model.heads; head += 1) {
      const [x, y] = [
        (head % per) * (wide + 8),
        under + size + 10 + (layer * lines + Math.floor(head / per)) * (tall + 6),
      ];
      const here = layer === s.layer && head === s.head;
      const { buckets } = model.rounded(layer, head)[s.shown];
      const [n, of] = run.word
        ? [share(run.copies, buckets), run.word]
        : [new Set(buckets).size, model.kinds];
      const name = `${layer + 1}·${head + 1}`;
      s.rect(x, y, wide, tall, { line: here ? "query" : "line", width: here ? 3 : 1, radius: 6 });
      s.write(x + 8, y + size + 4, name, { weight: 650, colour: "ink" });
      s.write(x + wide - 8, y + size + 4, `${n}/${of}`, { align: "right" });
      const strips = run.kept(
        `strips ${model.key} ${layer} ${head} ${s.shown} ${wide}`,
        () => stripsOf(run, buckets, wide - 12),
      );
      pen.group(
        x + 6,
        y + size + 8,
        () => strips.forEach((d, bucket) => pen.path(d, { fill: styleOf(bucket).flat })),
      );
      pen.hit({
        x0: x,
        x1: x + wide,
        y0: y,
        y1: y + tall,
        quiet: true,
        look: { head: `${layer + 1}.${head + 1}` },
        card: () => [t(run.word ? TEXT.head : TEXT.headText, { head: name, n, of })],
      });
    }
  }
  return under - top + size + 14 + model.layers * lines * (tall + 6);
}

/** The buckets of a sequence as strips, one path for each bucket. */
function stripsOf({ word, length }, buckets, wide) {
  const [cell, high] = [wide / (word ? word + 1 : length), word ? TILE.tall / 2 - 1 : TILE.tall];
  const [thick, paths] = [Math.max(0.5, cell - (cell > 4 ? 0.6 : 0)).toFixed(2), new Map()];
  buckets.forEach((bucket, i) => {
    const second = word && i > word;
    const x = ((second ? i - word : i) * cell).toFixed(2);
    paths.set(
      bucket,
      `${paths.get(bucket) ?? ""}M${x},${second ? high + 2 : 0}h${thick}v${high}h-${thick}z`,
    );
  });
  return paths;
}

// ── around it ──
export function below(run, look) {
  const s = sceneOf(run, look);
  if (!s.model.rounds) return [];
  const half = s.model.kinds / 2;
  return [
    s.step === 1 && half > 2 && t(TEXT.others, { n: half - 2 }),
    t(failed.get(addressed(chosen(run, look).address))),
  ];
}

export function legend(run, look) {
  if (!modelOf(run, look).rounds) return [];
  const ring = (line) => ({ line, width: 2, radius: 3 });
  return [
    { text: t(TEXT.legendAsks), mark: ring("query") },
    { text: t(run.word ? TEXT.legendLetter : TEXT.legendKey), mark: ring("key") },
    look.hashingstep > 3 ? { text: t(TEXT.legendWeight), mark: ramp("weights", 72, 24) } : {
      text: t(TEXT.legendBucket),
      mark: { shades: [1, 2, 3, 4].map((n) => `cat-${n}`), wide: 44 },
    },
  ];
}

export function choices(run, look) {
  const model = modelOf(run, look);
  const option = (value, label = t(TEXT[value])) => ({ value, label });
  const numbers = upTo(model.rounds, (n) => option(String(n + 1), String(n + 1)));
  return [
    oneOf("model", TEXT.model, run.models),
    ...(model.rounds
      ? [{
        key: "hashinground",
        label: t(TEXT.round),
        shown: true,
        options: model.rounds > 1 ? [...numbers, option("all")] : numbers,
      }, {
        key: "hashingstep",
        label: t(TEXT.steps),
        options: BOARDS.map((_, n) => option(n + 1, `${n + 1} ${t(TEXT[`step${n + 1}`])}`)),
      }]
      : []),
    ...(look.hashingstep === 1 && model.kinds > 4 && model.rounds
      ? [{
        key: "hashingplane",
        label: t(TEXT.plane),
        shown: true,
        options: ["deciding", "first"].map((one) => option(one)),
      }]
      : []),
  ];
}

export function units(run, look) {
  const { rounds, kinds, chunk } = modelOf(run, look);
  const n = look.hashingstep;
  return rounds
    ? [
      t(TEXT.step, { n, name: t(TEXT[`step${n}`]) }),
      t(TEXT.units, { rounds: roundsText(rounds), kinds, chunk }),
      ...(lacks(run, look) ? [t(TEXT.waits)] : []),
    ].join(" · ")
    : "";
}

/** What is locked with a click: of a cell its query, of a key in sight itself. */
export function completes(_run, look, { key: _key, to, ...patch }, { add }) {
  const out = {
    ...patch,
    ...(patch.hashinground === "all" ? { hashingstep: STEPS } : {}),
    ...(patch.model ? { head: null } : {}),
  };
  const pos = to ?? patch.pos;
  if (typeof pos === "number") {
    out.pos = add ? [...look.pos.filter((one) => one !== pos), pos] : pos;
  }
  return out;
}

// ── numbers ──
/**
 * [position, token, bucket, place, chunk, may look at, looks hardest at, weight] of every position.
 */
function positions(run, look) {
  const { model, round, detail } = sceneOf(run, look);
  return model.rounds
    ? run.tokens.map((token, i) => {
      const best = detail?.weights ? ranked(rowOf(round, detail.weights.data, i), 1)[0] : null;
      return [
        i,
        token,
        round.buckets[i],
        round.rank[i],
        round.number(i) + 1,
        sight(round, i),
        best?.key ?? null,
        best ? Number(best.w.toFixed(5)) : null,
      ];
    })
    : [];
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: t(TEXT.columns).split("|"),
  rows: positions(run, look).map((
    [i, token, ...rest],
  ) => [i, shown(token), ...rest.with(4, rest[4] === null ? null : nameOf(run, rest[4]))]),
  here: look.pos.at(-1) ?? null,
});

export const lines = (run, look) => ({
  rows: positions(run, look),
  columns: [
    "position",
    "token",
    "bucket",
    "place",
    "chunk",
    "may_look_at",
    "looks_hardest_at",
    "weight",
  ],
});

export function arrays(run, look) {
  const { model, layer, head, rounds, round, turn, seen, detail, matrix } = sceneOf(run, look);
  const n = run.length;
  if (!model.rounds) return { tokens: run.tokens };
  const pairs = (data, unit) => filed(data, ["query", "key"], unit, [n, n]);
  return {
    tokens: run.tokens,
    buckets: filed(
      rounds.flatMap(({ buckets }) => [...buckets]),
      ["round", "position"],
      undefined,
      [rounds.length, n],
    ),
    order: filed(round.order, "place", "position"),
    chunk: { shape: [1], data: [round.chunk], unit: "places" },
    seen: pairs(seen),
    looked_at: [
      `${model.key}, layer ${layer + 1}, head ${head + 1}, ${
        turn < 0 ? "all rounds" : `round ${turn + 1}`
      }`,
    ],
    ...(detail?.rotated
      ? {
        rotated: filed(
          detail.rotated.data,
          ["position", "coordinate"],
          "of a vector of length 1",
          detail.rotated.shape,
        ),
      }
      : {}),
    ...(matrix ? { weights: pairs(matrix.map((w) => (w === w ? w : 0)), "weight") } : {}),
  };
}

export const looks = {
  model: "choice",
  head: "head",
  pos: "positions",
  hashingstep: "step",
  hashinground: "choice",
  hashingplane: "choice",
};
export const hovers = true;
export const aside = "pos";
export const resets = ["model", "head", "pos", "hashingstep", "hashinground", "hashingplane"];
export const input = ["pos"];
export const stays = ["model", "head", "pos"];
export const sentence = (run, look) => sentenceOf(sceneOf(run, look));
export const named = (
  _run,
  look,
) => [
  "hashing",
  look.model,
  look.head,
  look.hashinground === "all" ? "all" : `round${look.hashinground}`,
  `step${look.hashingstep}`,
];
export const clock = (
  run,
  look,
) => (modelOf(run, look).rounds ? { key: "hashingstep", pace: 2600 } : null);
export const same = (was, run) => was.tokens.join("") === run.tokens.join("");
export const kept = (run, value) => ({
  ...value,
  looked: [...details.values()].map(({ raw }) => raw).filter(({ query }) => query === run.query),
});
export const waits = (run, look) =>
  Boolean(modelOf(run, look).rounds) && !detailOf(chosen(run, look).address);
export { TEXT };

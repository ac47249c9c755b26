// What each model made of a motif, one roll under another, heard with one cursor; arcs lead from a
// note to those that it looked back to. The value is made by explorer/labs/music/figures/roll.py;
// exact weights and sound are fetched, each from an address in the value.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { t } from "../../frontend/lib/lang.js";
import { headOf, KINDS, modelOf, modelsOf, oneOf } from "../../frontend/lib/selection.js";
import { looksOf } from "../../frontend/lib/exact_rows.js";
import {
  clock,
  distance,
  LETTERS,
  moment,
  noteName,
  pitchName,
  sentenceOf,
  strongest,
  TEXT,
  weight,
} from "./rollwords.js";

const ARCS = 12; // that are drawn of a note
const LABELLED = 0.1; // weights that are printed
// soprano to bass: far from each other and from the colours of query and key
const VOICES = ["cat-3", "cat-6", "cat-5", "cat-9"];
const FINE = 100; // places of a second at which the cursor may stand

export const read = (
  value,
  { again, away = false },
) => (value.models?.length
  ? {
    ...value,
    away,
    again,
    mute: false,
    models: value.models.map(numbersOf),
    told: new Map(),
    exact: looksOf(again, away ? value.exact : null),
  }
  : null);

function numbersOf(model) {
  const [notes, at, givenNotes, owner, said, costs] = [
    "notes",
    "at",
    "given_notes",
    "owner",
    "said",
    "costs",
  ]
    .map((name) => model[name]?.data ?? new Float32Array());
  const count = notes.length / 4;
  let [lowest, highest] = [127, 0];
  for (let n = 0; n < count; n += 1) {
    [lowest, highest] = [Math.min(lowest, notes[4 * n + 2]), Math.max(highest, notes[4 * n + 2])];
  }
  return { ...model, notes, at, givenNotes, owner, said, costs, count, lowest, highest };
}

const finished = (run) => run.state !== "running";
const secondsOf = (run, look) => (finished(run) ? (modelOf(run, look).steps * run.grid) / 1000 : 0);

export function bounds(run, look) {
  const model = modelOf(run, look.model ? look : (run.pick ?? {}));
  const [layers, heads] = model.heads ?? [Infinity, Infinity];
  return {
    model: modelsOf(run),
    head: { layers, heads, pick: run.pick?.head ?? "1.1" },
    note: { count: model.count, pick: finished(run) && model.heads ? model.note : null },
    at: { count: Math.ceil(FINE * secondsOf(run, look)) + 1, pick: null },
  };
}

/** The notes that are looked at: of a model with attention, once everything is made. */
const notesOf = (run, look) => (finished(run) && modelOf(run, look).heads ? look.note : []);

/**
 * What a row of weights gives to each note: {notes, start: what goes to before the first event,
 * rest: to events of no note}.
 */
export function byNote(model, row, weights) {
  const notes = new Float32Array(model.count);
  let rest = 0;
  for (let j = 1; j <= row; j += 1) {
    const note = model.owner[j - 1]; // the key at place j carries the event before it
    if (note >= 0) notes[note] += weights[j];
    else rest += weights[j];
  }
  return { notes, start: weights[0], rest };
}

/** What a note looked back to under the head in view; null while it is not here. */
function backOf(run, look, note, pointed = false) {
  const model = modelOf(run, look);
  const name = `${model.key} ${look.head} ${note}`;
  if (run.told.has(name)) return run.told.get(name);
  const weights = run.exact.of(
    model.look,
    ...headOf(look.head),
    model.at[note],
    model.events,
    pointed,
  );
  if (weights) run.told.set(name, byNote(model, model.at[note], weights));
  return run.told.get(name) ?? null;
}

/** What is looked at, with its numbers. */
function seen(run, look) {
  const notes = notesOf(run, look);
  return {
    run,
    model: modelOf(run, look),
    notes,
    head: look.head,
    trouble: run.exact.trouble(),
    back: notes.length ? backOf(run, look, notes.at(-1)) : null,
  };
}

// ── where everything stands, in px ──
function place(run, look, pen) {
  const { big, narrow, small: size } = pen;
  const chorale = run.style === "chorale";
  const [left, right] = big ? [96, chorale ? 30 : 10] : [narrow ? 40 : 52, chorale ? 18 : 8];
  const [title, gap] = big ? [36, 14] : [24, 8];
  const model = modelOf(run, look);
  const arcs = model.heads || !finished(run) ? (big ? 96 : narrow ? 44 : 64) : 0;
  const count = run.models.length;
  let [tall, low] = narrow ? [132, 62] : count > 2 ? [168, 96] : [184, 116];
  if (big) {
    const space = Math.max(160, pen.tall - count * (title + gap) - arcs - 34);
    tall = count > 1 ? space * 0.56 : space;
    low = (space - tall) / Math.max(1, count - 1);
  }
  const pitches = run.models.flatMap((one) => (one.count ? [one.lowest, one.highest] : []));
  let [bottom, top] = pitches.length
    ? [Math.min(...pitches) - 2, Math.max(...pitches) + 2]
    : [55, 79];
  if (top - bottom < 24) {
    [bottom, top] = [Math.floor((top + bottom) / 2) - 12, Math.floor((top + bottom) / 2) + 12];
  }
  let y = 0;
  const rolls = run.models.map((one) => {
    const above = one === model ? arcs : 0;
    const [name, y0] = [y + title - (big ? 19 : 12), y + title + above];
    const y1 = y0 + (one === model ? tall : low);
    const row = (y1 - y0) / (top - bottom + 1);
    y = y1 + gap;
    return {
      name,
      y0,
      y1,
      row,
      above,
      thick: Math.max(big ? 4 : 2.5, Math.min(big ? 12 : 7, row * 0.82)),
      y: (pitch) => y1 - (pitch - bottom + 0.5) * row,
    };
  });
  const wide = pen.width - left - right;
  // While music is made, time has room for all of a chorale; of piano nobody knows how long it will
  // last.
  const total = finished(run)
    ? Math.max(1, run.steps)
    : chorale
    ? Math.max(...run.models.map((one) => one.of)) / 4
    : Math.ceil((run.steps + 1) / 500) * 500;
  return {
    size,
    left,
    rolls,
    bottom,
    top,
    total,
    end: left + wide,
    axis: y - gap + (big ? 17 : 11),
    height: y - gap + (big ? 30 : 20),
    x: (step) => left + (step / total) * wide,
    step: (x) => ((x - left) / wide) * total,
  };
}

/** Lines through time and their names: bars of a chorale, seconds of piano. */
function ticks(run, at) {
  const unit = run.style === "chorale" ? 16 : 1000 / run.grid;
  const space = (at.end - at.left) / (at.total / unit); // px of a bar or a second
  const every = [1, 2, 4, 5, 10, 20, 30, 60, 120].find((n) => n * space >= 2.6 * at.size) ?? 300;
  const lines = run.style === "chorale" && space >= 8 ? 1 : every;
  return upTo(
    Math.floor(at.total / unit) + 1,
    (n) => ({ n, step: n * unit, line: n % lines === 0, name: n % every === 0 }),
  );
}

// ── drawing ──
export function scene(run, look, pen) {
  const at = place(run, look, pen);
  const chosen = run.models.indexOf(modelOf(run, look));
  const marks = ticks(run, at);
  run.models.forEach((_, i) => ground(run, at, i, chosen, marks, pen));
  const { size, axis } = at;
  pen.text(0, axis, t(run.style === "piano" ? TEXT.seconds : TEXT.bar), { size, colour: "ink3" });
  for (const { n, step, name } of marks) {
    if (name && at.x(step) < at.end - size / 2) {
      pen.text(at.x(step), axis, run.style === "piano" ? n : n + 1, {
        size,
        colour: "ink3",
        align: n ? "center" : "left",
      });
    }
  }
  const notes = notesOf(run, look);
  const heard = finished(run) && (look.plays || look.at > 0)
    ? at.x((1000 * look.at) / FINE / run.grid)
    : null;
  if (heard !== null) {
    for (const { y0, y1 } of at.rolls) {
      pen.rect({ x0: heard, x1: at.end, y0, y1 }, { fill: "panel", alpha: 0.55 });
    }
  }
  if (look.motifs && finished(run)) brackets(at, chosen, run, pen);
  notes.forEach((note, n) =>
    arcs(at, chosen, run.models[chosen], note, backOf(run, look, note), pen, {
      labels: n === notes.length - 1,
    })
  );
  const over = look.over?.note === undefined
    ? null
    : { i: run.models.findIndex(({ key }) => key === look.over.model) };
  if (over && !(over.i === chosen && notes.includes(look.over.note))) {
    arcs(
      at,
      over.i,
      run.models[over.i],
      look.over.note,
      over.i === chosen && finished(run) ? backOf(run, look, look.over.note, true) : null,
      pen,
      { preview: true },
    );
  }
  if (heard !== null) {
    pen.line(heard, at.rolls[0].y0, heard, at.rolls.at(-1).y1, { line: "ink", width: 2 });
  }
  if (finished(run)) run.models.forEach((_model, i) => hits(run, look, at, i, pen));
  const said = pen.away && run.licence ? pen.lines(t(run.licence), pen.width, { size: 12 }) : [];
  said.forEach((line, n) =>
    pen.text(0, at.height + 12 + 16 * n, line, { size: 12, colour: "ink3" })
  );
  pen.size(pen.width, at.height + (said.length ? 20 + 16 * said.length : 0));
}

/** What stays while notes and heads are chosen: the ground, lines, names, the notes themselves. */
function ground(run, at, i, chosen, marks, pen) {
  const [model, chorale] = [run.models[i], run.style === "chorale"];
  const { name, y0, y1, y, thick, row } = at.rolls[i];
  const { size, left, end } = at;
  const title = { size: pen.big ? 22 : 13, weight: 650, colour: i === chosen ? "accent" : "ink" };
  const x = pen.narrow ? 0 : left;
  pen.text(x, name, t(model.name), title);
  if (!pen.narrow) {
    pen.text(x + pen.measure(t(model.name), title) + 8, name, t(model.about), {
      size,
      colour: "ink3",
    });
  }
  if (model.nats !== null) {
    pen.text(end, name, `${model.nats.toFixed(2)} ${t(chorale ? TEXT.cells : TEXT.events)}`, {
      size,
      align: "right",
    });
  }
  pen.rect({ x0: left, x1: end, y0, y1 }, { fill: "panel", line: "line" });
  if (model.until > 0) {
    pen.rect({ x0: left, x1: Math.min(end, at.x(model.until)), y0, y1 }, { fill: "sunk" });
  }
  const bars = marks.filter(({ line, step }) => line && step > 0 && step < at.total);
  pen.path(bars.map(({ step }) => `M${at.x(step).toFixed(1)},${y0}V${y1}`).join(""), {
    line: "line",
  });
  const octaves = upTo(11, (n) => 12 * n).filter((pitch) => pitch > at.bottom && pitch < at.top);
  pen.path(octaves.map((pitch) => `M${left},${y(pitch).toFixed(1)}H${end}`).join(""), {
    line: "line",
    dash: [2, 3],
  });
  const apart = Math.ceil((size * 1.1) / (12 * row));
  octaves.filter((_, n) => n % apart === 0)
    .forEach((pitch) =>
      pen.text(left - 6, y(pitch), pitchName(pitch), { size, align: "right", colour: "ink3" })
    );
  const lines = Array.from({ length: 5 }, () => []); // of what was given, and of the voices that were made
  const last = [null, null, null, null];
  for (let n = 0; n < model.count; n += 1) {
    const [onset, , , voice] = model.notes.subarray(4 * n, 4 * n + 4);
    lines[model.givenNotes[n] ? 0 : chorale ? voice + 1 : 1].push(line(at, i, model, n, 1.2));
    if (chorale && (last[voice] === null || model.notes[4 * last[voice]] < onset)) last[voice] = n;
  }
  lines.forEach((each, voice) => {
    if (each.length) {
      pen.path(each.join(""), {
        line: voice === 0 ? "ink3" : chorale ? VOICES[voice - 1] : "accent",
        width: thick,
      });
    }
  });
  // The voices' letters stand where their lines end, none over another.
  let above = -Infinity;
  const letters = last.map((n, voice) => n !== null && { voice, n, y: y(model.notes[4 * n + 2]) })
    .filter(Boolean);
  for (const one of letters.sort((a, b) => a.y - b.y)) {
    above = Math.max(one.y, above + size * 0.86);
    pen.text(Math.min(end, at.x(model.notes[4 * one.n + 1])) + 4, above, LETTERS[one.voice], {
      size,
      weight: 650,
    });
  }
}

function line(at, i, { notes }, note, least = 2) {
  const from = at.x(notes[4 * note]);
  const wide = Math.max(least, at.x(notes[4 * note + 1]) - from - 0.8);
  return `M${from.toFixed(1)},${at.rolls[i].y(notes[4 * note + 2]).toFixed(1)}h${wide.toFixed(1)}`;
}

/** Arcs from a note to those it looked back to. */
function arcs(at, i, model, note, back, pen, { labels = false, preview = false }) {
  const roll = at.rolls[i];
  const middle = (n) => {
    const from = at.x(model.notes[4 * n]);
    return from + Math.min(5, (at.x(model.notes[4 * n + 1]) - from) / 2);
  };
  const [x, y] = [at.x(model.notes[4 * note]), roll.y(model.notes[4 * note + 2])];
  const found = back ? strongest(back, 0.01, ARCS) : [];
  const printed = [];
  for (const { note: key, w } of found.toReversed()) {
    const [kx, ky, part] = [middle(key), roll.y(model.notes[4 * key + 2]), w / found[0].w];
    const reach = roll.y0 -
      roll.above * (0.22 + 0.7 * Math.sqrt(Math.min(1, Math.abs(x - kx) / (at.end - at.left))));
    const peak = Math.min(y, ky) - (Math.min(y, ky) - reach) / 0.75;
    const points = [[x, y], [x, peak], [kx, peak], [kx, ky]].map((pair) =>
      pair.map((one) => one.toFixed(1)).join()
    );
    pen.path(`M${points[0]}C${points.slice(1).join(" ")}`, {
      line: "key",
      width: (1 + 5 * Math.min(1, 2 * w) ** 0.7) * (at.size / 12),
      dash: preview ? [4, 3] : undefined,
      alpha: preview ? 0.45 : 0.45 + 0.5 * part,
    });
    if (!preview) {
      pen.path(line(at, i, model, key), {
        line: "key",
        width: roll.thick + 1,
        alpha: 0.35 + 0.65 * part,
      });
    }
    if (labels && w >= LABELLED) {
      printed.unshift({
        w,
        x: kx,
        y: Math.max(ky - roll.thick / 2 - 8, roll.y0 - roll.above + at.size / 2),
      });
    }
  }
  pen.path(line(at, i, model, note), { line: "query", width: roll.thick + 2 });
  pen.circle(x, y, at.size / 2.6, { fill: "query", line: "panel", width: 1.5 });
  const taken = [];
  for (const one of printed) {
    const from = Math.max(at.left, one.x - at.size * 2.2);
    if (
      taken.some(([a, b]) => Math.abs(a - from) < at.size * 2.6 && Math.abs(b - one.y) < at.size)
    ) continue;
    taken.push([from, one.y]);
    pen.text(from, one.y, weight(one.w), {
      size: at.size,
      weight: 650,
      colour: "key",
      halo: "panel",
    });
  }
}

/**
 * Motifs that come back, bracketed: a and a′, b and b′; by how many semitones the second stands
 * higher.
 */
function brackets(at, i, run, pen) {
  const [model, roll] = [run.models[i], at.rolls[i]];
  (run.repeats[model.key] ?? []).forEach(([first, again, semitones], n) =>
    [first, again].forEach((part, second) => {
      const y = roll.y(Math.max(...part.map((note) => model.notes[4 * note + 2]))) -
        roll.thick / 2 - 4;
      const [from, to] = [at.x(model.notes[4 * part[0]]), at.x(model.notes[4 * part.at(-1) + 1])];
      const moved = semitones ? ` ${semitones > 0 ? "+" : "−"}${Math.abs(semitones)}` : "";
      pen.path(`M${from.toFixed(1)},${y + 4}V${y}H${to.toFixed(1)}V${y + 4}`, {
        line: "ink",
        width: at.size / 8,
      });
      pen.text(
        from + 2,
        y - at.size / 2 - 1,
        `${String.fromCharCode(97 + n)}${second ? `′${moved}` : ""}`,
        { size: at.size, weight: 650, colour: "ink", halo: "panel" },
      );
    })
  );
}

/**
 * What can be pointed at in a roll: its name chooses the model, a note is looked at, anywhere else
 * the music is heard from there.
 */
function hits(run, look, at, i, pen) {
  const [model, { name, y0, y1, y, thick }] = [run.models[i], at.rolls[i]];
  pen.hit({
    x0: 0,
    x1: pen.width,
    y0: name - at.size,
    y1: y0,
    still: true,
    quiet: true,
    card: null,
    look: { model: model.key },
  });
  pen.hit({
    x0: at.left,
    x1: at.end,
    y0: y0 - 4,
    y1: y1 + 4,
    at(px, py) {
      const n = noteAt(at, i, model, px, py);
      if (n === null) {
        const second = (Math.max(0, at.step(px)) * run.grid) / 1000;
        return {
          x0: px,
          x1: px,
          y0,
          y1,
          still: true,
          quiet: true,
          card: null,
          look: { at: Math.round(FINE * second) },
        };
      }
      const [onset, end, pitch] = model.notes.subarray(4 * n, 4 * n + 3);
      return {
        x0: at.x(onset) - 2,
        x1: at.x(end) + 2,
        y0: y(pitch) - thick / 2 - 2,
        y1: y(pitch) + thick / 2 + 2,
        look: model.heads ? { model: model.key, note: n } : { model: model.key },
        card: () => card(run, look, i, n),
      };
    },
  });
}

/** The note under a point of a roll, or the nearest within a few px; null for none. */
function noteAt(at, i, model, x, y) {
  let [best, least] = [null, Infinity];
  for (let n = 0; n < model.count; n += 1) {
    const [onset, end, pitch] = model.notes.subarray(4 * n, 4 * n + 3);
    const [beside, away] = [
      Math.max(0, at.x(onset) - x, x - at.x(end)),
      Math.abs(at.rolls[i].y(pitch) - y),
    ];
    if (beside > 3 || away > Math.max(6, at.rolls[i].thick)) continue;
    if (away + beside < least) [best, least] = [n, away + beside];
  }
  return best;
}

function card(run, look, i, n) {
  const model = run.models[i];
  const fourth = model.notes[4 * n + 3];
  const told = run.style === "piano"
    ? `${t(TEXT.loud)} ${4 * fourth + 2}`
    : `${LETTERS[fourth]} ${t(TEXT.voices[fourth])}`;
  const cost = model.givenNotes[n]
    ? t(TEXT.cardGiven)
    : t(TEXT.cardMade, { n: model.costs[model.at[n]].toFixed(2) });
  const { back, notes } = seen(run, look);
  const given = model === modelOf(run, look) && back && notes.at(-1) !== n;
  return [
    `${noteName(run, model, n)} · ${told}`,
    cost,
    ...(given ? [t(TEXT.cardWeight, { w: weight(back.notes[n]) })] : []),
  ];
}

// ── moving and playing ──
/**
 * What is locked with what a visitor locks: the same note while heads are compared; another model
 * has notes of its own.
 */
export function completes(_run, look, patch, { add }) {
  const out = { ...patch };
  if (patch.model && patch.model !== look.model) {
    Object.assign(out, { head: null, note: patch.note ?? null });
  } else if (add && typeof patch.note === "number") {
    out.note = KINDS.positions.add(look.note, patch.note);
  } else if (patch.head && look.note.length) {
    Object.assign(out, { model: look.model, note: look.note });
  }
  return out;
}

export function move(run, look, key, by) {
  const model = modelOf(run, look);
  if (key !== "at") return model.heads && finished(run) ? null : {};
  const unit = run.style === "chorale" ? (FINE * 16 * run.grid) / 1000 : FINE;
  const next = by > 0
    ? Math.floor((look.at ?? 0) / unit + 1e-6) + 1
    : Math.ceil((look.at ?? 0) / unit - 1e-6) - 1;
  return { at: Math.round(Math.max(0, Math.min(FINE * secondsOf(run, look), next * unit))) };
}

/** The place of a second; who wants no motion sees the cursor jump from note to note. */
function placeAt(run, look, second) {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) return Math.round(FINE * second);
  const { notes, count } = modelOf(run, look);
  let last = 0;
  for (let n = 0; n < count && notes[4 * n] * run.grid <= 1000 * second; n += 1) {
    last = notes[4 * n];
  }
  return Math.round((FINE * last * run.grid) / 1000);
}

function playing(run, look) {
  const seconds = secondsOf(run, look);
  const says = (place_) =>
    `${clock(place_ / FINE)} / ${clock(seconds)} · ${
      moment(
        run,
        Math.floor(Math.min((1000 * place_) / FINE / run.grid, Math.max(0, run.steps - 1))),
      )
    }`;
  const { sound } = modelOf(run, look);
  return {
    key: "at",
    seconds,
    says,
    texts: { seek: TEXT.seek, before: TEXT.earlier, after: TEXT.later },
    sound: run.away || run.mute ? null : (sound?.wav ?? null),
    at: (second) => placeAt(run, look, second),
    when: (place_) => (place_ ?? 0) / FINE,
  };
}

// ── around it ──
export function legend(run, look) {
  const dot = (fill, text) => ({ text: t(text), mark: { fill, radius: 5, wide: 10, tall: 10 } });
  const bar = (fill, text) => ({ text, mark: { fill, radius: 2, wide: 16, tall: 5 } });
  const voices = run.style === "chorale"
    ? LETTERS.map((letter, i) => bar(VOICES[i], `${letter} ${t(TEXT.voices[i])}`))
    : [bar("accent", t(TEXT.made))];
  return [
    ...(modelOf(run, look).heads ? [dot("query", TEXT.query), dot("key", TEXT.key)] : []),
    ...voices,
    bar("ink3", t(TEXT.given)),
  ];
}

export function below(run, look) {
  const model = modelOf(run, look);
  const { sound } = model;
  const said = [
    !finished(run) ? t(TEXT.growingNote) : model.heads ? t(TEXT.note) : "",
    finished(run) && t(TEXT.heard, {
      what: sound
        ? t(TEXT[sound.source] ?? TEXT.piano) +
          (sound.whole ? "" : t(TEXT.cut))
        : t(TEXT.silent),
    }),
    look.motifs && finished(run) && !(run.repeats[model.key] ?? []).length && t(TEXT.noMotifs),
    run.licence && t(run.licence),
  ];
  return [
    ...(run.mute ? [el("p", { class: "tfe-error", role: "alert", text: t(TEXT.noSound) })] : []),
    said.filter(Boolean).join(" "),
  ];
}

// ── what is taken along ──
export function table(run, look) {
  const { model, notes, head, back } = seen(run, look);
  const columns = ["rank", "tableNote", "tableWhere", "tableBack", "tableWeight"].map((name) =>
    t(TEXT[name])
  );
  if (!back) return { caption: t(TEXT.none), columns, rows: [] };
  const [note, rows] = [notes.at(-1), strongest(back, 0.0005, 20)];
  return {
    caption: t(TEXT.caption, {
      model: t(model.name),
      head: head.replace(".", "·"),
      q: noteName(run, model, note),
    }),
    columns,
    rows: rows.map((
      { note: key, w },
      n,
    ) => [
      n + 1,
      pitchName(model.notes[4 * key + 2]),
      moment(run, model.notes[4 * key]),
      distance(run, model.notes[4 * note] - model.notes[4 * key]),
      weight(w),
    ]),
  };
}

/** Every note of every model, with what the one in view gives to it. */
export function lines(run, look) {
  const { model: here, back } = seen(run, look);
  const piano = run.style === "piano";
  const seconds = (step) => Number(((step * run.grid) / 1000).toFixed(3));
  const rows = run.models.flatMap((model) =>
    upTo(model.count, (n) => {
      const [onset, end, pitch, fourth] = model.notes.subarray(4 * n, 4 * n + 4);
      const given = model.givenNotes[n];
      return [
        model.key,
        n,
        seconds(onset),
        seconds(end),
        pitch,
        pitchName(pitch),
        piano ? fourth : LETTERS[fourth],
        given ? 1 : 0,
        given ? null : Number(model.costs[model.at[n]].toFixed(4)),
        model === here && back ? Number(back.notes[n].toFixed(6)) : null,
      ];
    })
  );
  const columns = [
    "model",
    "note",
    "onset_s",
    "end_s",
    "pitch",
    "name",
    piano ? "velocity" : "voice",
    "given",
    "nats",
    "weight",
  ];
  return { columns, rows: run.licence ? [...rows, [t(run.licence)]] : rows };
}

export function arrays(run, look) {
  const { model: here, notes, back, head } = seen(run, look);
  const piano = run.style === "piano";
  const all = run.models.flatMap(({ key, ...model }) =>
    Object.entries({
      notes: filed(
        Int32Array.from(model.notes),
        ["note", `onset, end, pitch, ${piano ? "velocity / 4" : "voice"}`],
        `steps of ${run.grid} ms, MIDI pitch`,
        [model.count, 4],
      ),
      event_of_note: filed(Int32Array.from(model.at), "note", "event"),
      given_note: filed(Uint8Array.from(model.givenNotes), "note", "1: given"),
      events: filed(
        Int32Array.from(model.said),
        "event",
        piano ? "event" : "MIDI pitch − 35, 0: rest",
      ),
      nats: filed(model.costs, "event", "nats"),
    }).map(([name, one]) => [`${key}_${name}`, one])
  );
  return {
    ...Object.fromEntries(all),
    ...(back ? { weight_by_note: filed(back.notes, "note", "weight") } : {}),
    grid_ms: filed([run.grid], "run", "ms"),
    looked_at: `${here.key}, head ${head}, note ${notes.at(-1) ?? "none"}`,
    ...(run.licence ? { licence: t(run.licence) } : {}),
  };
}

/** An event of piano by its name, as Simon and Oore (2017) call them. */
const eventName = (
  event,
) => (event < 128
  ? `NOTE_ON ${event}`
  : event < 256
  ? `NOTE_OFF ${event - 128}`
  : event < 356
  ? `TIME_SHIFT ${10 * (event - 255)} ms`
  : `VELOCITY ${event - 356}`);

/**
 * All events of all models as text: of piano one a line, of a chorale a sixteenth a line. A star
 * stands before what was given.
 */
function events(run) {
  const star = (given) => (given ? "*" : " ");
  const cell = (said) => (said ? pitchName(said + 35) : "–");
  const parts = run.models.map(({ key, said, given, until }) => {
    const all = run.style === "piano"
      ? Array.from(said, (event, i) => `${star(i < given)} ${i}\t${eventName(event)}`)
      : upTo(
        said.length / 4,
        (i) =>
          `${star(i < until)} ${i}\t${
            LETTERS.map((voice, v) => `${voice} ${cell(said[4 * i + v])}`).join("\t")
          }`,
      );
    return `# ${key}\n${all.join("\n")}\n`;
  });
  return (run.licence ? `# ${t(run.licence)}\n` : "") + parts.join("\n");
}

const file = (kind, ending) => (run, look) => {
  const { key, sound } = modelOf(run, look);
  return finished(run) && sound
    ? {
      name: key,
      ending,
      async blob() {
        const answer = await fetch(new URL(sound[kind], location.origin));
        if (!answer.ok) throw new Error(t(TEXT.noSound));
        return answer.blob();
      },
    }
    : null;
};

/** Is the music of two runs on one motif the same up to what is locked? */
export function same(was, run, look) {
  if (was.same !== run.same) return false;
  const [before, now] = [was, run].map((one) => modelOf(one, look).notes);
  const end = 4 * (Math.max(-1, ...look.note) + 1);
  return end <= now.length && before.subarray(0, end).every((value, n) => value === now[n]);
}

export const looks = {
  model: "choice",
  head: "head",
  note: "positions",
  motifs: "flag",
  at: "position",
};
export const resets = ["model", "head", "note", "motifs", "at"];
export const stays = ["note"];
export const hovers = true;
export const question = (_run, look) => (look?.motifs ? TEXT.questionMotifs : TEXT.question);
export const units = (run) => t(run.style === "piano" ? TEXT.unitsPiano : TEXT.units);
export const sentence = (run, look) => sentenceOf(seen(run, look));
export const files = {
  MIDI: file("midi", "mid"),
  WAV: file("wav", "wav"),
  events: (
    run,
  ) => (finished(run)
    ? { name: "events", ending: "txt", blob: () => new Blob([events(run)]) }
    : null),
};
export const named = (
  run,
  look,
) => [
  look.model,
  ...(modelOf(run, look).heads ? [look.head] : []),
  ...notesOf(run, look).slice(-1).map((note) => `note ${note}`),
];
export const kept = (run, value) => ({ ...value, exact: run.exact.held() });

export function silent(run, draw) {
  run.mute = true;
  draw();
}

export const waits = (run, look) => notesOf(run, look).some((note) => !backOf(run, look, note));
export const choices = (run) => (finished(run)
  ? [
    oneOf("model", TEXT.source, run.models),
    { key: "motifs", label: t(TEXT.motifs) },
  ]
  : []);
export { playing as clock, TEXT };

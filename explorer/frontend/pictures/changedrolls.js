// Music before and after a change, as each model makes it: its roll before, after and the
// difference on one scale, one signed number: how much dearer the notes before become; and both can
// be heard. The value is made by explorer/figures/rollpairs.py.

import { filed, upTo } from "../lib/arrays.js";
import { both, comparison, headline, WHICH } from "./changed.js";
import { t } from "../lib/lang.js";
import { shade } from "../lib/pen.js";

const TEXT = {
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差别" },
  moved: { en: "difference, moved back", zh: "差别（移回后）" },
  gone: { en: "gone", zh: "消失" },
  came: { en: "new", zh: "新增" },
  stayed: { en: "in both", zh: "两者都有" },
  given: { en: "given", zh: "给定的" },
  made: { en: "made", zh: "生成的" },
  stretched: {
    en: "Times were stretched, so there is no difference note by note.",
    zh: "时间被伸缩了，所以没有逐音的差别。",
  },
  cell: {
    en: "nats per cell of the earlier music, read with the change",
    zh: "纳特/格，之前写出的音乐，改变后再读",
  },
  event: {
    en: "nats per event of the earlier music, read with the change",
    zh: "纳特/事件，之前写出的音乐，改变后再读",
  },
  heard: { en: "Heard", zh: "所听" },
  hears: { en: "{model}, {which}", zh: "{model}，{which}" },
  silent: { en: "The sound could not be fetched.", zh: "无法取得声音。" },
  bar: { en: "bar {bar}, beat {beat}", zh: "第 {bar} 小节第 {beat} 拍" },
  second: { en: "second {second}", zh: "第 {second} 秒" },
};
const VOICES = ["S", "A", "T", "B"];
const NAMES = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"];
const [BEAT, BAR] = [4, 16]; // steps of a chorale's grid
const FINE = 100; // places of a second at which the cursor may stand

export function read(value, { away = false }) {
  const side = ({ notes, given, kept, steps, sound }) => ({
    steps,
    sound,
    notes: upTo(notes.shape[0], (i) => {
      const [onset, end, pitch, last] = notes.slice(i);
      return { onset, end, pitch, last, given: given.data[i] > 0, kept: kept.data[i] > 0 };
    }),
  });
  const rolls = value.rolls.map((one) => {
    const roll = { ...one, before: side(one.before), after: side(one.after) };
    const pitches = WHICH.flatMap((which) => coloured(roll, which)).map(({ pitch }) => pitch);
    const [low, high] = pitches.length ? [Math.min(...pitches), Math.max(...pitches)] : [60, 60];
    return {
      ...roll,
      low: low - 1,
      high: high + 1,
      steps: Math.max(1, roll.before.steps, roll.after.steps),
    };
  });
  return { ...value, rolls, away, mute: false };
}

/** The notes of one of the three rolls with their colours; fate: what became of each. */
function coloured({ before, after, moved }, which) {
  if (which !== "difference") {
    return (which === "before" ? before : after).notes.map((note) => ({
      ...note,
      colour: note.given ? "control" : "accent",
    }));
  }
  return [
    ...before.notes.map((
      note,
    ) => (note.kept
      ? { ...note, colour: "control", alpha: 0.55, fate: "stayed" }
      : { ...note, colour: shade("signed", 0), fate: "gone" })
    ),
    ...after.notes.filter((note) => !note.kept)
      .map((note) => ({
        ...note,
        pitch: note.pitch - moved,
        colour: shade("signed", 1),
        fate: "came",
      })),
  ];
}

/** Steps at the beginning in which everything was given; 0 where a voice alone was. */
function shaded({ notes }) {
  const made = notes.filter((note) => !note.given);
  const first = made.reduce((least, note) => Math.min(least, note.onset), Infinity);
  const last = notes.reduce((most, note) => (note.given ? Math.max(most, note.end) : most), 0);
  return made.length && last > first ? 0 : last;
}

const each = (run) =>
  run.rolls.map(({ key, number, voices }) => ({
    key,
    name: t(run.names[key] ?? key),
    ...number,
    unit: t(voices ? TEXT.cell : TEXT.event),
  }));
const named = (which, roll) => t(which === "difference" && roll.moved ? TEXT.moved : TEXT[which]);

export function scene(run, look, pen) {
  const size = pen.big ? 20 : 12;
  const tall = pen.big
    ? Math.max(60, (pen.tall / Math.max(1, run.rolls.length) - 300) / 3)
    : pen.away
    ? 110
    : 46;
  const numbers = each(run);
  let y = 0;
  run.rolls.forEach((roll, at) => {
    y = headline(pen, y, numbers[at]);
    for (const which of WHICH) {
      const compared = which !== "difference" || roll.compared;
      const said = compared
        ? [named(which, roll)]
        : pen.lines(t(TEXT.stretched), pen.width, { size });
      said.forEach((line) => pen.text(0, (y += 1.4 * size) - 0.5 * size, line, { size }));
      if (!compared) continue;
      painted(roll, which, { x0: 0, x1: pen.width, y0: y + 4, y1: y + 4 + tall }, pen);
      if (look.heard === `${roll.key}.${which}` && (look.plays || look.heardat > 0)) {
        const x = (pen.width * ((1000 * look.heardat) / FINE / roll.grid)) / roll.steps;
        pen.line(x, y + 4, x, y + 4 + tall, { line: "ink", width: 2 });
      }
      y += tall + 8;
    }
    y += 10;
  });
  pen.size(pen.width, y);
}

function painted(roll, which, box, pen) {
  const { low, high, steps, voices } = roll;
  const [across, row] = [(box.x1 - box.x0) / steps, (box.y1 - box.y0) / (high - low + 1)];
  const [notes, thick] = [coloured(roll, which), Math.max(2, row - 0.5)];
  const [x, y] = [(step) => box.x0 + step * across, (pitch) => box.y0 + (high - pitch + 0.5) * row];
  const shade_ = shaded(which === "after" ? roll.after : roll.before);
  pen.rect(box, { fill: "paper", line: "line", radius: 4 });
  if (shade_) pen.rect({ ...box, x1: x(shade_) }, { fill: "sunk" });
  let lines = "";
  for (let step = BAR; voices && step < steps; step += BAR) {
    lines += `M${x(step).toFixed(1)},${box.y0}V${box.y1}`;
  }
  for (let pitch = 12 * Math.ceil(low / 12); pitch <= high; pitch += 12) {
    lines += `M${box.x0},${(y(pitch) + row / 2).toFixed(1)}H${box.x1}`;
  }
  if (lines) pen.path(lines, { line: "line" });
  const paths = new Map();
  for (const { onset, end, pitch, colour, alpha = 1 } of notes) {
    const name = JSON.stringify([colour, alpha]);
    const wide = Math.max(1.5, (end - onset) * across - 0.75);
    paths.set(
      name,
      `${paths.get(name) ?? ""}M${x(onset).toFixed(1)},${y(pitch).toFixed(1)}h${wide.toFixed(1)}`,
    );
  }
  for (const [name, d] of paths) {
    const [colour, alpha] = JSON.parse(name);
    pen.path(d, { line: colour, alpha, width: thick });
  }
  pen.hit({
    ...box,
    at(px, py) {
      const far = ({ onset, end, pitch }) =>
        Math.hypot(Math.max(x(onset) - px, px - x(end), 0), Math.abs(y(pitch) - py));
      const note = notes.reduce(
        (best, one) => (far(one) < (best ? far(best) : 6) ? one : best),
        null,
      );
      return note &&
        {
          x0: x(note.onset) - 2,
          x1: x(note.end) + 2,
          y0: y(note.pitch) - thick / 2 - 2,
          y1: y(note.pitch) + thick / 2 + 2,
          card: () => card(roll, note),
        };
    },
  });
}

function card({ voices, grid }, { pitch, last, onset, fate }) {
  const name = `${NAMES[((pitch % 12) + 12) % 12]}${Math.floor(pitch / 12) - 1}${
    voices ? ` ${VOICES[last]}` : ""
  }`;
  const where = voices
    ? t(TEXT.bar, { bar: Math.floor(onset / BAR) + 1, beat: Math.floor((onset % BAR) / BEAT) + 1 })
    : t(TEXT.second, { second: ((onset * grid) / 1000).toFixed(1) });
  return [name, where, ...(fate ? [t(TEXT[fate])] : [])];
}

/** What can be heard: {"jsb_relative.before": {model, which, side}}. */
const sounds = (run) =>
  Object.fromEntries(run.rolls.flatMap((roll) =>
    ["before", "after"]
      .filter((which) => roll[which].sound)
      .map((which) => [`${roll.key}.${which}`, { roll, which, side: roll[which] }])
  ));

const secondsOf = (run, { heard }) => {
  const one = sounds(run)[heard];
  return one ? (one.side.steps * one.roll.grid) / 1000 : 0;
};

export const common = comparison(each);
export const looks = { heard: "choice", heardat: "position" };
export const bounds = (run, look) => ({
  heard: { names: Object.keys(sounds(run)) },
  heardat: { count: Math.ceil(FINE * secondsOf(run, look)) + 1, pick: null },
});
export const choices = (run) =>
  [{
    key: "heard",
    label: t(TEXT.heard),
    options: Object.entries(sounds(run)).map(([value, { roll, which }]) => ({
      value,
      label: run.rolls.length > 1
        ? t(TEXT.hears, { model: t(run.names[roll.key] ?? roll.key), which: t(TEXT[which]) })
        : t(TEXT[which]),
    })),
  }].filter(({ options }) => options.length);

export function clock(run, look) {
  const [one, seconds] = [sounds(run)[look.heard], secondsOf(run, look)];
  const says = (at) => `${(at / FINE).toFixed(1)} / ${seconds.toFixed(1)} s`;
  return one &&
    {
      seconds,
      says,
      sound: run.away || run.mute ? null : one.side.sound.wav,
      at: (second) => Math.round(FINE * second),
      when: (at) => (at ?? 0) / FINE,
    };
}

export function silent(run, draw) {
  run.mute = true;
  draw();
}

export const units = (run) => (run.mute ? t(TEXT.silent) : "");
export const legend = () =>
  [["gone", shade("signed", 0)], ["came", shade("signed", 1)], ["made", "accent"], [
    "given",
    "control",
  ]]
    .map(([name, fill]) => ({ text: t(TEXT[name]), mark: { fill, wide: 14, tall: 6, radius: 2 } }));

export function lines(run) {
  const columns = [
    "model",
    "which",
    "onset_step",
    "end_step",
    "pitch",
    run.rolls[0]?.voices ? "voice" : "velocity",
    "given",
    "in_both",
  ];
  const rows = run.rolls.flatMap((roll) =>
    ["before", "after"].flatMap((which) =>
      roll[which].notes.map((
        note,
      ) => [
        roll.key,
        which,
        note.onset,
        note.end,
        note.pitch,
        roll.voices ? VOICES[note.last] : note.last,
        Number(note.given),
        Number(note.kept),
      ])
    )
  );
  return { columns, rows };
}

export const arrays = (run) =>
  Object.fromEntries(run.rolls.flatMap(({ key, number, ...roll }) => [
    ...["before", "after"].flatMap((which) => {
      const { notes } = roll[which];
      const flag = (name) => filed(Uint8Array.from(notes, (note) => Number(note[name])), "note");
      const all = notes.flatMap(({ onset, end, pitch, last }) => [onset, end, pitch, last]);
      return [[
        `${key}.${which}.notes`,
        filed(
          Int32Array.from(all),
          ["note", "onset, end, pitch, voice or velocity"],
          "steps, MIDI pitch",
          [notes.length, 4],
        ),
      ], ...["given", "kept"].map((name) => [`${key}.${which}.${name}`, flag(name)])];
    }),
    [`${key}.nats`, both(number, "nats")],
  ]));

// What is looked at, by the kind of its key in the address: how it is read, spelled, moved by an
// arrow key, and whether a link names something that is there. The bounds of a key come from the
// picture: {count, pick}, {steps, first}, {layers, heads, names}, {rows, columns}, {counts},
// {names}, {least, most}.

import { opened, upTo } from "./arrays.js";
import { t } from "./lang.js";
import { headIn, positionsIn } from "./state.js";

const whole = (
  text,
  least,
  most,
) => (/^\d{1,7}$/.test(text ?? "") ? Math.max(least, Math.min(most, Number(text))) : null);
export const among = (value, least, most) => Math.max(least, Math.min(most, value));
const many = (pick) => (pick === undefined || pick === null ? [] : [pick].flat());

/** Layer and head of "2.3", both from 1. */
export const headOf = (head) => head.split(".").map(Number);
/** [layer, head] of all heads. */
export const headsOf = (layers, heads) =>
  upTo(layers * heads, (i) => [Math.floor(i / heads) + 1, (i % heads) + 1]);
/** The head that lies so many layers, or heads of its layer, from another one in their grid. */
export function headBeside(head, key, by, layers, heads) {
  const [l, h] = headOf(head);
  return key === "layer" ? `${among(l + by, 1, layers)}.${h}` : `${l}.${among(h + by, 1, heads)}`;
}

/**
 * Of the models that a run tells of side by side the one that is looked at; and the bounds of the
 * key "model".
 */
export const modelOf = (run, { model }) =>
  run.models.find(({ key }) => key === model) ?? run.models[0];
export const modelsOf = (run) => ({
  names: run.models.map(({ key }) => key),
  pick: modelOf(run, run.pick ?? {}).key,
});
/** A choice of one of several things, {key, name} each. */
export const oneOf = (key, label, list) => ({
  key,
  label: t(label),
  options: list.map(({ key: value, name }) => ({ value, label: t(name) })),
});

/** Is a text, in characters or pieces, the same up to what is locked in it? of(run): the text. */
export function sameText(was, run, pos, of) {
  const [one, other] = [of(was), of(run)];
  const until = Math.max(was.given, ...pos.map((at) => at + 1));
  return was.given === run.given && upTo(until).every((at) => one[at] === other[at]);
}

/** A list of places with one more or one fewer, in order. */
export const flipped = (list, at) =>
  (list.includes(at) ? list.filter((one) => one !== at) : [...list, at])
    .sort((a, b) => a - b);

const HIGH = 420; // px of a figure that does not say how high it is

/** The scene of a picture that is one Plotly figure. */
function sceneOf({ figure, pick }) {
  return (run, look, pen) => {
    const { data, layout = {}, keep = null } = figure(run, look, pen);
    const height = pen.tall || layout.height || HIGH;
    const width = Math.max(pen.width, layout.width ?? 0);
    const own = (point) => point.customdata?.look && point.customdata;
    pen.plot({ x0: 0, y0: 0, x1: width, y1: height }, {
      data,
      layout,
      pick: pick ? (point) => pick(run, look, point) : own,
    });
    pen.size(width, height, keep);
  };
}

/**
 * A picture is what its module exports, and what that has in common with others; it reads values
 * with their arrays.
 * @param {any} module
 * @returns {any}
 */
export function pictureOf({ common = {}, TEXT = {}, ...own }) {
  const picture = {
    ...common,
    label: TEXT.board,
    question: TEXT.question ?? common.question,
    ...own,
  };
  if (picture.figure) picture.scene = sceneOf(picture);
  return { ...picture, read: async (value, how) => picture.read(await opened(value), how) };
}

export const KINDS = {
  /** A place from 0. */
  position: {
    locks: true,
    read: (
      text,
      { count, pick = null },
    ) => (text === "none" ? null : (whole(text, 0, count - 1) ?? pick)),
    there: ({ count }) => positionsIn(count),
    spell: (value) => value ?? "none",
    move: (value, by, { count }) =>
      among(value === null ? (by > 0 ? 0 : count - 1) : value + by, 0, count - 1),
    ends: ({ count }) => [0, count - 1],
  },
  /** Several places: a list; the last one was locked last. */
  positions: {
    locks: true,
    read: (
      text,
      { count, pick },
    ) => (text === "none"
      ? []
      : text === null
      ? many(pick)
      : [...new Set(text.split(",").map((one) => whole(one, 0, count - 1)))].filter((one) =>
        one !== null
      )),
    there: ({ count }) => positionsIn(count),
    spell: (list) => (list.length ? list.join(",") : "none"),
    move: (
      list,
      by,
      { count, first = 0 },
    ) => [among(list.length ? list.at(-1) + by : by > 0 ? first : count - 1, first, count - 1)],
    ends: ({ count, first = 0 }) => [[first], [count - 1]],
    add: (
      list,
      value,
    ) => (list.includes(value) ? list.filter((one) => one !== value) : [...list, value]),
    of: (value) => [value].flat(),
  },
  /** A step, from 1 where nothing is said; the last where none is named. */
  step: {
    locks: true,
    read: (text, { steps, first = 1, pick = steps }) => whole(text, first, steps) ?? pick,
    there: ({ steps, first = 1 }) => (text) => /^\d+$/.test(text) && text >= first && text <= steps,
    spell: (value, { steps, pick = steps }) => (value === pick ? null : value),
    move: (value, by, { steps, first = 1 }) => among(value + by, first, steps),
    ends: ({ steps, first = 1 }) => [first, steps],
  },
  /** "2.3", layer and head from 1, or one of the names ("mean"). */
  head: {
    read(text, { layers, heads, names = [], pick = "1.1" }) {
      if (names.includes(text)) return text;
      if (names.includes(pick) && !/^\d+\.\d+$/.test(text ?? "")) return pick;
      const [layer, head] = headOf(/^\d+\.\d+$/.test(text ?? "") ? text : pick);
      return `${among(layer, 1, layers)}.${among(head, 1, heads)}`;
    },
    there: ({ layers, heads, names = [] }) => (text) =>
      names.includes(text) || headIn(layers, heads)(text),
    spell: (value) => value,
    move(value, by, { layers, heads }) {
      const [layer, head] = value.includes(".") ? headOf(value) : [1, 1];
      const next = ((layer - 1) * heads + head - 1 + by + layers * heads) % (layers * heads);
      return `${Math.floor(next / heads) + 1}.${(next % heads) + 1}`;
    },
  },
  /** A pixel, of rows × columns counted through; "18,20" are its row and column from 0. */
  pixel: {
    locks: true,
    read(text, { rows, columns }) {
      const [row, column] = /^\d+,\d+$/.test(text ?? "")
        ? text.split(",").map(Number)
        : [rows, columns];
      return row < rows && column < columns ? row * columns + column : null;
    },
    there: ({ rows, columns }) => (text) => KINDS.pixel.read(text, { rows, columns }) !== null,
    spell: (value, { columns }) =>
      value === null ? null : `${Math.floor(value / columns)},${value % columns}`,
  },
  /** Two numbers from 0, "2.13". */
  pair: {
    locks: true,
    read: (
      text,
      { counts, pick },
    ) => (KINDS.pair.there({ counts })(text ?? "") ? text.split(".").map(Number) : pick),
    there: ({ counts }) => (text) =>
      /^\d+\.\d+$/.test(text) && text.split(".")
        .every((one, i) => Number(one) < counts[i]),
    spell: (value) => value.join("."),
  },
  /** One of some names. */
  choice: {
    read: (text, { names, pick = names[0] }) => (names.includes(text) ? text : pick),
    there: ({ names }) => (text) => names.includes(text),
    spell: (value, { names, pick = names[0] }) => (value === pick ? null : value),
    move: (value, by, { names }) =>
      names[(names.indexOf(value) + by + names.length) % names.length],
  },
  /** On or off. */
  flag: { read: (text) => text === "1", spell: (value) => (value ? 1 : null) },
  /** A number between two ends; whole: one without a fraction. */
  number: {
    locks: true,
    read(text, { least = 0, most = 1, pick = least, whole: round = false }) {
      const value = text === null ? Number.NaN : Number(text);
      return Number.isFinite(value) ? among(round ? Math.round(value) : value, least, most) : pick;
    },
    spell: (
      value,
      { least = 0, pick = least },
    ) => (value === pick ? null : Number(value.toFixed(4))),
    there: ({ least = -Infinity, most = Infinity }) => (text) =>
      Number(text) >= least && Number(text) <= most,
  },
};

/**
 * What is looked at of a run. get(key): what the address says, or null.
 * @returns {{look: Record<string, any>, bounds: Record<string, any>}}
 */
export function looking(picture, run, get) {
  const look = {};
  let bounds = {};
  for (const [key, kind] of Object.entries(picture.looks)) {
    bounds = picture.bounds?.(run, look, get) ?? {};
    look[key] = KINDS[kind].read(get(key), bounds[key] ?? {});
  }
  return { look, bounds: picture.bounds?.(run, look, get) ?? bounds };
}

/**
 * For `judge`: of each key of a picture, whether what a link names is there. bounds: of the run in
 * view.
 */
export const thereOf = (picture, bounds) =>
  Object.fromEntries(
    Object.entries(picture.looks).map((
      [key, kind],
    ) => [key, KINDS[kind].there?.(bounds[key] ?? {})])
      .filter(([, test]) => test),
  );

// Small piano rolls on canvases that share one scale, and what a place in them is called.

import { fit } from "./raster.js";
import { css } from "./theme.js";

const NAMES = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"];

/** 60 -> "C4" */
export const pitchName = (pitch) => `${NAMES[((pitch % 12) + 12) % 12]}${Math.floor(pitch / 12) - 1}`;

const BEAT = 4; // steps of a chorale's grid
const BAR = 16;

/** Where a step of the grid lies: [text key, values] of "bar" or "second". */
export const placed = (step, voices, grid) =>
  voices ? ["bar", { bar: Math.floor(step / BAR) + 1, beat: Math.floor((step % BAR) / BEAT) + 1 }] : ["second", { second: ((step * grid) / 1000).toFixed(1) }];

/**
 * The scale that rolls side by side share. @param {{onset: number, end: number, pitch: number}[][]} rolls @param {number} steps
 * @returns {{low: number, high: number, steps: number}}
 */
export function shared(rolls, steps) {
  let [low, high] = [127, 0];
  for (const roll of rolls) {
    for (const { pitch } of roll) [low, high] = [Math.min(low, pitch), Math.max(high, pitch)];
  }
  if (low > high) [low, high] = [60, 60];
  return { low: low - 1, high: high + 1, steps: Math.max(1, steps) };
}

/**
 * Paints a roll. @param {HTMLCanvasElement} canvas
 * @param {{notes: {onset: number, end: number, pitch: number, colour: string, alpha?: number}[], scale: ReturnType<typeof shared>, shade?: number,
 *   width: number, height: number, voices: boolean}} how colour: a token or "#…"; shade: steps of the given motif, on a darker ground
 */
export function paintRoll(canvas, { notes, scale, shade = 0, width, height, voices }) {
  const context = fit(canvas, width, height);
  const across = width / scale.steps;
  const tall = height / (scale.high - scale.low + 1);
  const colours = new Map();
  const colour = (name) => {
    if (!colours.has(name)) colours.set(name, name.startsWith("--") ? css(name) : name);
    return colours.get(name);
  };
  context.fillStyle = colour("--paper");
  context.fillRect(0, 0, width, height);
  context.fillStyle = colour("--sunk");
  if (shade) context.fillRect(0, 0, shade * across, height);
  context.fillStyle = colour("--line");
  if (voices) for (let step = BAR; step < scale.steps; step += BAR) context.fillRect(Math.round(step * across), 0, 1, height);
  for (let pitch = scale.low; pitch <= scale.high; pitch += 1) if (pitch % 12 === 0) context.fillRect(0, Math.round((scale.high - pitch + 1) * tall) - 1, width, 1);
  for (const note of notes) {
    context.globalAlpha = note.alpha ?? 1;
    context.fillStyle = colour(note.colour);
    const left = note.onset * across;
    const thick = Math.max(2, tall - 0.5);
    context.fillRect(left, (scale.high - note.pitch + 0.5) * tall - thick / 2, Math.max(1.5, (note.end - note.onset) * across - 0.75), thick);
  }
  context.globalAlpha = 1;
}

/** The note under a place of the roll, or the nearest within a few pixels; null for none. x, y in CSS pixels. */
export function noteAt(notes, scale, width, height, x, y) {
  const across = width / scale.steps;
  const tall = height / (scale.high - scale.low + 1);
  let [best, far] = [null, 6];
  for (const note of notes) {
    const aside = Math.max(note.onset * across - x, x - note.end * across, 0);
    const away = Math.abs((scale.high - note.pitch + 0.5) * tall - y);
    if (Math.hypot(aside, away) < far) [best, far] = [note, Math.hypot(aside, away)];
  }
  return best;
}

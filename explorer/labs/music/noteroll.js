// A motif at a glance: a small piano roll on a canvas.

import { css } from "../../frontend/lib/theme.js";

/**
 * @param {HTMLCanvasElement} canvas as wide and high as CSS makes it
 * @param {{notes: {pitch: number, onset: number, end: number, sounds?: boolean}[], beat: number,
 * bar: number, span: number}} how
 *   beat, bar: milliseconds between fine lines and strong ones. span: milliseconds that are shown
 *   at least.
 */
export function paintNotes(canvas, { notes, beat, bar, span }) {
  const fine = Math.max(1, window.devicePixelRatio || 1);
  const box = { width: canvas.clientWidth, height: canvas.clientHeight };
  if (!box.width) return;
  const size = [Math.round(box.width * fine), Math.round(box.height * fine)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const draw = canvas.getContext("2d");
  draw.setTransform(fine, 0, 0, fine, 0, 0);
  draw.fillStyle = css("--sunk");
  draw.fillRect(0, 0, box.width, box.height);
  const first = Math.min(
    ...notes.map((note) => note.onset),
    notes.length ? Number.POSITIVE_INFINITY : 0,
  );
  const length = Math.max(span, ...notes.map((note) => note.end - first));
  const x = (time) => ((time - first) / length) * box.width;
  const dense = x(first + beat) < 6; // lines that would touch are no help
  for (let time = beat; time < length; time += beat) {
    const strong = time % bar === 0;
    if (dense && !strong) continue;
    draw.fillStyle = strong ? css("--control") : css("--line");
    draw.fillRect(Math.round(x(first + time)), 0, 1, box.height);
  }
  if (!notes.length) return;
  let low = Math.min(...notes.map((note) => note.pitch));
  let high = Math.max(...notes.map((note) => note.pitch));
  const wider = Math.max(0, 14 - (high - low));
  low -= 1 + Math.floor(wider / 2);
  high += 1 + Math.ceil(wider / 2);
  const row = box.height / (high - low + 1);
  const thick = Math.max(2, Math.min(6, row - 0.5));
  for (const note of notes) {
    const left = x(note.onset);
    draw.fillStyle = note.sounds ? css("--accent") : css("--ink2");
    draw.fillRect(
      left,
      (high - note.pitch + 0.5) * row - thick / 2,
      Math.max(2, x(note.end) - left - 1),
      thick,
    );
  }
}

// The stage: one canvas on which the tokens travel from step to step, and what lies under the pointer.

import { lines, plane, ring, token, words } from "./hashboards.js";
import { back, chunks } from "./hashmaps.js";
import { measure, onCanvas } from "./hashpen.js";
import { between, clamp } from "./hashplaces.js";
import { nameOf } from "./hashwords.js";
import { fit } from "./raster.js";

const TRAVEL = 400; // ms
const SORTING = 900; // ms through the plain sequence and along the lines
const PARTS = ["x", "y", "w", "h", "alpha"];
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const decor = (pen, scene) => [plane, words, lines, chunks, back][scene.step - 1](pen, scene, scene.places.steps[scene.step - 1]);
const placeOf = (at, i) => ({ x: at.x[i], y: at.y[i], w: at.w[i], h: at.h[i], alpha: at.alpha[i], round: at.round ? 1 : 0 });

/** Rings around what is locked, and names beside dots and small tiles. */
function marks(pen, scene, spot) {
  const { position, partner, locked, step, run, size, colors, hover } = scene;
  for (const one of locked) if (one !== position) ring(pen, scene, spot(one), "query", true);
  if (hover?.key !== undefined && hover.key !== null && hover.key !== partner) ring(pen, scene, spot(hover.key), "key", true);
  const both = [[partner, "key"], [position, "query"]].filter(([i]) => i !== null);
  for (const [i, role] of both) {
    const at = spot(i);
    if (step === 5 && at.w < 4) {
      pen.rect(at.x - 1, at.y - 2, at.w + 2, at.h + 4, { fill: colors[role] });
      continue;
    }
    token(pen, scene, i, { ...at, alpha: 1 });
    ring(pen, scene, at, role);
  }
  if (step !== 1) return;
  // Two dots that nearly coincide are named on either side.
  const side = both.length === 2 && spot(partner).x > spot(position).x ? [1, -1] : [-1, 1];
  both.forEach(([i, role], n) => {
    const at = spot(i);
    const right = both.length === 2 ? side[n] > 0 : true;
    const name = nameOf(run, i);
    const wide = measure(name, { size: size + 1, weight: 700 });
    const x = right ? at.x + at.w + 8 : at.x - 8 - wide;
    pen.text(clamp(x, 2, scene.width - wide - 2), at.y + at.h / 2 + size * 0.35, name, { size: size + 1, weight: 700, fill: colors[role], halo: colors.panel });
  });
}

/** The whole picture as it stands when nothing moves. */
export function drawing(pen, scene) {
  const at = scene.places.steps[scene.step - 1];
  decor(pen, scene);
  for (const i of inOrder(scene)) token(pen, scene, i, placeOf(at, i));
  marks(pen, scene, (i) => placeOf(at, i));
}

/** Pale dots first, so that those that are decided here lie above. */
function inOrder({ run, places, step }) {
  const { alpha } = places.steps[step - 1];
  const all = Array.from({ length: run.length }, (_, i) => i);
  return step === 1 ? all.sort((a, b) => alpha[a] - alpha[b]) : all;
}

/** @param {HTMLCanvasElement} canvas @param {(moving: boolean) => void} told says when tokens begin and stop to move */
export function stageOf(canvas, told) {
  let shown = null; // the scene in view
  let move = null; // {before: scene, from: places, begin, lasts, plainly}
  let now = null; // where each token is at the moment
  let frame = 0;

  function paint(time) {
    frame = 0;
    const scene = shown;
    const pen = onCanvas(fit(canvas, scene.width, scene.places.high));
    pen.sharp = canvas.width / scene.width;
    const u = move ? clamp((time - move.begin) / move.lasts, 0, 1) : 1;
    if (u >= 1 && move) {
      move = null;
      told(false);
    }
    const at = scene.places.steps[scene.step - 1];
    const n = scene.run.length;
    if (!move) {
      now = { n, x: at.x, y: at.y, w: at.w, h: at.h, alpha: at.alpha, round: new Float32Array(n).fill(at.round ? 1 : 0) };
      drawing(pen, scene);
      return;
    }
    const other = move.before.step !== scene.step;
    if (other && u < 0.35) pen.group(1 - u / 0.35, () => decor(pen, move.before));
    const enters = other ? clamp((u - (scene.step === 3 ? 0.4 : 0.55)) / 0.4, 0, 1) : 1;
    if (enters > 0) pen.group(enters, () => decor(pen, scene));
    now = { n, ...Object.fromEntries([...PARTS, "round"].map((name) => [name, new Float32Array(n)])) };
    const spot = {};
    for (let i = 0; i < n; i += 1) {
      const rank = scene.round.rank[i];
      if (move.along) between(move.places, move.before.step - 1, scene.step - 1, u, i, rank, spot);
      else {
        const part = clamp((u - (0.25 * rank) / n) / 0.75, 0, 1);
        const v = 1 - (1 - part) ** 3;
        for (const name of PARTS) spot[name] = move.from[name][i] + (at[name][i] - move.from[name][i]) * v;
        spot.round = move.from.round[i] + ((at.round ? 1 : 0) - move.from.round[i]) * v;
      }
      for (const name of [...PARTS, "round"]) now[name][i] = spot[name];
      token(pen, scene, i, spot);
    }
    for (const [i, role] of [[scene.partner, "key"], [scene.position, "query"]]) {
      if (i === null) continue;
      const here = Object.fromEntries([...PARTS, "round"].map((name) => [name, now[name][i]]));
      ring(pen, scene, here, role);
      token(pen, scene, i, { ...here, alpha: 1 });
    }
    frame = requestAnimationFrame(paint);
  }

  return {
    /** Draws a scene; tokens travel there from where they are, if the two are of one run and `travels`. */
    show(scene, travels) {
      const before = shown;
      shown = scene;
      const same = before && now && now.n === scene.run.length && before.width === scene.width && before.run.query === scene.run.query;
      const moving = move !== null;
      if (travels && same && !still()) {
        const along = !moving && before.round === scene.round && Math.abs(before.step - scene.step) === 1 && Math.min(before.step, scene.step) === 2;
        move = { before, from: now, along, places: scene.places, begin: performance.now(), lasts: along ? SORTING : TRAVEL };
        if (!moving) told(true);
      } else if (!(moving && same && before.step === scene.step)) {
        if (move) told(false);
        move = null;
      }
      if (frame) cancelAnimationFrame(frame);
      if (move) frame = requestAnimationFrame(paint);
      else paint(performance.now());
    },
    forget() {
      if (frame) cancelAnimationFrame(frame);
      if (move) told(false);
      frame = 0;
      shown = move = now = null;
    },
  };
}

/** What lies at a point of the stage: {pos}, {query, key}, {turn, share} or null. */
export function under(scene, x, y) {
  const at = scene.places.steps[scene.step - 1];
  const { run, round, step, position, size } = scene;
  const inside = (i, more = 0) => x >= at.x[i] - 1 && x <= at.x[i] + at.w[i] + 1 && y >= at.y[i] - 1 && y <= at.y[i] + at.h[i] + more;
  if (step === 1) {
    let best = null;
    let near = 14;
    for (let i = 0; i < run.length; i += 1) {
      const d = Math.hypot(at.x[i] + at.w[i] / 2 - x, at.y[i] + at.h[i] / 2 - y) - (at.alpha[i] < 1 ? 0 : 2);
      if (d < near) [best, near] = [i, d];
    }
    return best === null ? null : { pos: best };
  }
  if (step === 2) {
    for (let i = 0; i < run.length; i += 1) if (inside(i, at.unit - at.tall)) return { pos: i };
    return null;
  }
  if (step === 3) {
    const column = Math.floor((x - at.left) / at.cell);
    if (column < 0 || column >= run.length) return null;
    if (y >= 0 && y >= at.top - size - 8 && y <= at.top + at.tall + 6) return { pos: column };
    if (y >= at.bottom - 6 && y <= at.bottom + at.tall + 3 * size) return { pos: round.order[column] };
    return null;
  }
  const { map } = at;
  if (step === 4) {
    if (y >= at.top - 4 && y <= at.heat + at.heatTall + 4) {
      for (let i = 0; i < run.length; i += 1) {
        if (x < at.x[i] || x > at.x[i] + Math.max(at.w[i], 1)) continue;
        const place = round.rank[i];
        if (position !== null && i !== position && place >= map.first && place < map.first + map.columns && i < scene.anchor) return { query: scene.anchor, key: i, click: i };
        return { pos: i };
      }
      return null;
    }
    const [c, r] = [Math.floor((x - map.x) / map.unit), Math.floor((y - map.y) / map.unit)];
    if (c < (x < map.x ? -99 : 0) || c >= map.columns || r < 0 || r >= map.rows) return null;
    const query = round.order[map.begin + r];
    return x < map.x ? { pos: query } : { query, key: round.order[map.first + c], click: query };
  }
  for (const tile of at.tiles.list) if (x >= tile.x && x <= tile.x + tile.side && y >= tile.y && y <= tile.y + tile.side) return { turn: tile.turn };
  const [k, q] = [Math.floor((x - map.x) / map.unit), Math.floor((y - map.y) / map.unit)];
  if (k >= 0 && k < run.length && q < 0 && y >= at.top - 4) return { pos: k };
  if (q < 0 || q >= run.length || k >= run.length || x < map.x - at.band - 4) return null;
  if (k < 0) return { pos: q };
  return k > q ? null : { query: q, key: k, click: q };
}

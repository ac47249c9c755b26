// Boxes of a run, as its pictures share them: answers, overlaps, duplicates, the matching, the
// picture as an address.

import { upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";

export const SIDE = 96; // pixels of a scene
const SAME = 0.5; // IoU from which two boxes of one class count as the same object
export const WEIGHTS = [1, 5, 2]; // of class, distance and GIoU in the cost

/** A colour for each query, the same in every picture. */
export const colourOf = (query) => `var(--cat-${(query % 10) + 1})`;
export const nameOf = (run, kind) => t(run.names[kind]);

/** Left, top, right and bottom of a box given by its middle and size. */
export const cornersOf = ([x, y, w, h]) => [x - w / 2, y - h / 2, x + w / 2, y + h / 2];

/** @param {number[]} corners */
const area = ([left, top, right, bottom]) => Math.max(0, right - left) * Math.max(0, bottom - top);

/** IoU and GIoU of two boxes given by their middles and sizes. */
export function compared(one, other) {
  const [a, b] = [cornersOf(one), cornersOf(other)];
  const low = [0, 1].map((at) => Math.max(a[at], b[at]));
  const high = [2, 3].map((at) => Math.min(a[at], b[at]));
  const shared = area([...low, ...high]);
  const union = area(a) + area(b) - shared;
  const hull = area([
    ...[0, 1].map((at) => Math.min(a[at], b[at])),
    ...[2, 3].map((at) => Math.max(a[at], b[at])),
  ]);
  const iou = union > 0 ? shared / union : 0;
  return { iou, giou: iou - (hull - union) / hull };
}

/** The answer of each query after a layer, from 1: {query, kind, score, none, box}. */
export function answersOf(run, after) {
  return upTo(run.queries, (query) => {
    const chances = [...run.chances.slice(after - 1, query)];
    const none = chances.pop();
    const score = Math.max(...chances);
    return {
      query,
      kind: chances.indexOf(score),
      score,
      none,
      box: [...run.found.slice(after - 1, query)],
    };
  });
}

/** The queries whose answer repeats a surer one: what non-maximum suppression removes. */
export function repeated(answers) {
  const kept = [];
  const found = new Set();
  for (const one of answers.toSorted((a, b) => b.score - a.score)) {
    const twice = kept.some((other) =>
      other.kind === one.kind && compared(other.box, one.box).iou >= SAME
    );
    if (twice) found.add(one.query);
    else kept.push(one);
  }
  return found;
}

/** The answers that count: those from a score on, and which of them are repeated. */
export function standing(run, { after, sure }) {
  const answers = answersOf(run, after);
  const sureOnes = answers.filter(({ score }) => score >= sure);
  return { answers, sureOnes, twice: repeated(sureOnes) };
}

/** The three terms of the cost of each query for an object: −p, 5 · L1 and −2 · GIoU. */
export function termsOf(run, after, kind, box) {
  return answersOf(run, after).map(({ query, box: found }) => [
    -WEIGHTS[0] * run.chances.slice(after - 1, query)[kind],
    WEIGHTS[1] * box.reduce((sum, value, at) => sum + Math.abs(value - found[at]), 0),
    -WEIGHTS[2] * compared(found, box).giou,
  ]);
}

/**
 * The column of each row, all different, of the least sum: as models/detection/matching.py finds
 * it.
 */
export function matchRows(cost) {
  const columns = cost[0]?.length ?? 0;
  const [priceRow, priceColumn] = [cost.map(() => 0), upTo(columns, () => 0)];
  const owner = upTo(columns, () => -1);
  cost.forEach((_, start) => {
    if (start >= columns) return;
    let least = upTo(columns, () => Infinity);
    const before = upTo(columns, () => -1);
    const visited = [];
    let [row, last] = [start, -1];
    for (;;) {
      let [step, nearest] = [Infinity, -1];
      for (let column = 0; column < columns; column += 1) {
        if (visited.includes(column)) continue;
        const reduced = cost[row][column] - priceRow[row] - priceColumn[column];
        if (reduced < least[column]) [least[column], before[column]] = [reduced, last];
        if (least[column] < step) [step, nearest] = [least[column], column];
      }
      priceRow[start] += step;
      for (const column of visited) {
        priceRow[owner[column]] += step;
        priceColumn[column] -= step;
      }
      least = least.map((value) => value - step);
      visited.push(nearest);
      last = nearest;
      if (owner[nearest] < 0) break;
      row = owner[nearest];
    }
    while (last >= 0) {
      const previous = before[last];
      owner[last] = previous < 0 ? start : owner[previous];
      last = previous;
    }
  });
  return cost.map((_, row) => owner.indexOf(row));
}

/** Grey levels as the address of a picture, for layout.images. */
export function addressOf(levels, side = SIDE) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [side, side];
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  levels.forEach((level, at) => image.data.set([level, level, level, 255], 4 * at));
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** The run of a value, with what all pictures of it need. */
export function runOf(value) {
  if (!value?.chances) return null;
  const [layers, queries] = value.chances.shape;
  return { ...value, layers, queries, source: addressOf(value.picture.data) };
}

/** The scene as an image of a layout, on two axes in pixels. */
export const imageOn = (run, x = "x", y = "y") => ({
  source: run.source,
  xref: x,
  yref: y,
  x: 0,
  y: 0,
  sizex: SIDE,
  sizey: SIDE,
  xanchor: "left",
  yanchor: "top",
  sizing: "stretch",
  layer: "below",
});

/** Two axes without lines over `count` places, the first row above. */
export const bare = (count, domains, anchor) => {
  const axis = {
    visible: false,
    showgrid: false,
    zeroline: false,
    fixedrange: true,
    automargin: false,
  };
  return [
    { ...axis, range: [0, count], domain: domains[0], anchor: `y${anchor}` },
    { ...axis, range: [count, 0], domain: domains[1], anchor: `x${anchor}` },
  ];
};

/** The outline of a box in pixels, as a shape of a layout. */
export const outline = (box, line, x = "x", y = "y") => {
  const [x0, y0, x1, y1] = cornersOf(box).map((value) => value * SIDE);
  return { type: "rect", xref: x, yref: y, x0, x1, y0, y1, line };
};

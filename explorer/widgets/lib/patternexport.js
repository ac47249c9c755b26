// What of the patterns leaves the page: the picture, its table, and the matrices.

import { svg } from "./dom.js";
import { leaving } from "./drawing.js";
import { csv, fileName, npz, save } from "./export.js";
import { lang, t } from "./lang.js";
import { cellOf, codesOf, grid, matrixOver, place } from "./patternboards.js";
import { KINDS, counted } from "./patternmath.js";
import { NAMES, TEXT, share, whole } from "./patternwords.js";

const [COLUMN, SIZE] = [340, 300];
const num = (x) => String(Math.round(1000 * x) / 1000);

/** One line of the table for each pattern, the names of the columns first. found: of the search, by kind. */
export function table({ patterns, length, found }) {
  const [square, causal] = [length * length, (length * (length + 1)) / 2];
  const names = TEXT.columns[lang()] ?? TEXT.columns.en;
  return [
    names,
    ...KINDS.map((kind) => {
      const { pairs, busiest } = counted(patterns[kind], length);
      const codes = codesOf(patterns[kind], length);
      const [first, second] = [1, 2].map((bit) => codes.reduce((sum, code) => sum + ((code & bit) > 0), 0));
      const { done, tally } = found[kind];
      const reached = done === length ? [whole(tally[1]), whole(tally[2]), whole(causal - tally[0] - tally[1] - tally[2])] : ["–", "–", "–"];
      const { l, c } = patterns[kind];
      return [t(NAMES[kind]), kind === "full" ? "–" : String(l), kind === "fixed" ? String(c) : "–", whole(length), whole(pairs), share(pairs, square), share(pairs, causal), whole(first), kind === "full" ? "–" : whole(second), whole(busiest), ...reached];
    }),
  ];
}

/** The matrix as shapes: a run of equal cells is one rectangle, a cell of both factors has a half of the second's colour. */
function cells({ kind, patterns, length, found, tones }, at) {
  const { steps } = found[kind];
  const codes = codesOf(patterns[kind], length);
  const { left, top, size } = at;
  const cell = size / length;
  const shapes = { first: [], second: [], two: [], upper: [], own: Array.from({ length }, (_, i) => `M${num(left + i * cell)} ${num(top + i * cell)}h${num(cell)}v${num(cell)}h${num(-cell)}z`) };
  const name = (i, j) => ["none", "first", "second", "both"][cellOf(kind, codes[i * length + j])].replace("none", steps[i * length + j] === 2 ? "two" : "none");
  for (let i = 0; i < length; i += 1) {
    for (let j = 0; j <= i; ) {
      const what = name(i, j);
      let end = j + 1;
      while (end <= i && name(i, end) === what) end += 1;
      const [x, y] = [left + j * cell, top + i * cell];
      if (what !== "none") shapes[what === "both" ? "first" : what].push(`M${num(x)} ${num(y)}h${num((end - j) * cell)}v${num(cell)}h${num((j - end) * cell)}z`);
      if (what === "both") for (let k = j; k < end; k += 1) shapes.upper.push(`M${num(left + k * cell)} ${num(y)}h${num(cell)}v${num(cell)}z`);
      j = end;
    }
  }
  const fill = (which, colour) => svg("path", { d: shapes[which].join(""), fill: colour, "shape-rendering": "crispEdges" });
  return [svg("rect", { x: left, y: top, width: size, height: size, fill: tones.later }), svg("path", { d: `M${left} ${top}v${size}h${size}z`, fill: tones.panel }), fill("two", tones.two), fill("first", tones.first), fill("second", tones.second), svg("path", { d: shapes.upper.join(""), fill: tones.second }), fill("own", tones.query)];
}

/** Three columns with what is drawn above each other, and their numbers. */
function drawing(scene) {
  const { columns, length, legend } = scene;
  const nodes = [];
  let x = 30;
  for (const [words, colour, half] of legend) {
    nodes.push(svg("rect", { x, y: 4, width: 12, height: 12, rx: 2, fill: colour }), half ? svg("path", { d: `M${x} 4h12v12z`, fill: half }) : null, svg("text", { x: x + 18, y: 15, "font-size": 13, fill: "var(--ink2)", text: words }));
    x += 44 + words.length * (lang() === "zh" ? 12 : 6.6);
  }
  let height = 0;
  columns.forEach(({ seen, names, stats }, n) => {
    const image = place({ size: SIZE, count: seen.side, big: false });
    const matrix = place({ size: SIZE, count: length, big: false });
    const lines = stats.map((line, k) => svg("text", { x: image.left, y: image.height + matrix.height + 62 + 19 * k, "font-size": k ? 13 : 15, "font-weight": k ? 400 : 650, fill: k ? "var(--ink2)" : "var(--ink)", text: line }));
    nodes.push(
      svg("g", { transform: `translate(${n * COLUMN} 30)` }, svg("text", { x: image.left, y: 16, "font-size": 15, "font-weight": 650, fill: "var(--ink)", text: t(NAMES[seen.kind]) }), svg("g", { transform: "translate(0 24)" }, grid(seen, image)), svg("g", { transform: `translate(0 ${24 + image.height + 10})` }, cells({ ...scene, kind: seen.kind }, matrix), matrixOver({ ...seen, names }, matrix)), lines),
    );
    height = Math.max(height, 30 + image.height + matrix.height + 62 + 19 * stats.length);
  });
  return svg("svg", { viewBox: `0 0 ${3 * COLUMN} ${height}` }, nodes.filter(Boolean));
}

/** The makers of the export bar; now() tells what is in view, the searches finished. */
export function exporters(now) {
  const parts = ({ patterns, side }) => ["patterns", `${side}x${side}`, `l${patterns.strided.l}`, `c${patterns.fixed.c}`];

  function rows({ patterns, length, found }) {
    const codes = KINDS.map((kind) => codesOf(patterns[kind], length));
    const out = [["query", "key", ...KINDS, ...KINDS.map((kind) => `steps_${kind}`)]];
    for (let i = 0; i < length; i += 1) {
      for (let j = 0; j <= i; j += 1) out.push([i, j, ...codes.map((code) => code[i * length + j]), ...KINDS.map((kind) => found[kind].steps[i * length + j])]);
    }
    return out;
  }

  function numbers({ patterns, length, side, found }) {
    const shape = [length, length];
    const files = { side_stride_summary: { shape: [3], data: Int32Array.of(side, patterns.strided.l, patterns.fixed.c) } };
    for (const kind of KINDS) {
      files[`connectivity_${kind}`] = { shape, data: codesOf(patterns[kind], length) };
      files[`steps_${kind}`] = { shape, data: found[kind].steps };
    }
    return npz(files);
  }

  return {
    ...leaving(() => {
      const seen = now();
      return { drawing: drawing(seen), title: t(TEXT.title), sentence: seen.words, name: parts(seen), more: table(seen) };
    }),
    CSV: () => {
      const seen = now();
      save(fileName(parts(seen), "csv"), csv(rows(seen)), "text/csv");
    },
    NPZ: () => {
      const seen = now();
      save(fileName(parts(seen), "npz"), numbers(seen));
    },
  };
}

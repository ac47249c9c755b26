// Where generator and discriminator look: the same picture twice, over it the attention of one cell
// on the same scale from 0 to 1. A click on a pixel asks another cell. Or, for all cells, how much
// each is looked at.

import { opened, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { colour } from "../../frontend/lib/pen.js";
import { grey, panels, rowsOf, SIDE, square } from "../../frontend/lib/mosaic.js";

const CELLS = 8; // of a side
const SIZE = 4; // pixels of a cell's side
const KEY = "key-bright"; // pictures are black in both themes, so a key is as bright in both
const LEGEND = [0.01, 0.1, 0.5, 1];
const LEAST = 0.004; // a weight below is not drawn

export const TEXT = {
  board: { en: "{title}", zh: "{title}" },
  question: { en: "Where does this cell look?", zh: "这个格子看向哪里？" },
  generator: { en: "Generator, γ = {gamma}", zh: "生成器，γ = {gamma}" },
  discriminator: { en: "Discriminator, γ = {gamma}", zh: "判别器，γ = {gamma}" },
  hubs: { en: "How much each cell is looked at", zh: "每个格子被看了多少" },
  cell: { en: "row {row}, column {column}", zh: "第 {row} 行第 {column} 列" },
  weight: { en: "{who}: {share} %", zh: "{who}：{share} %" },
  short: {
    generator: { en: "generator", zh: "生成器" },
    discriminator: { en: "discriminator", zh: "判别器" },
  },
  query: { en: "The cell in ", zh: "" },
  asks: { en: ": ", zh: "的格子：" },
  said: {
    en: "the {who} puts {share} % of its attention on {cell}, {far} cells away",
    zh: "{who}把 {share} % 的注意力放在{cell}，相距 {far} 格",
  },
  hub: {
    en: "of all 64 cells\u2019 attention, {cell} receives that of {share} in the {who}",
    zh: "64 个格子的注意力中，{who}的{cell}得到 {share} 个格子的份量",
  },
  all: { en: "Added up: ", zh: "加起来：" },
  joint: { en: "; ", zh: "；" },
  end: { en: ".", zh: "。" },
  caption: { en: "Attention of the cell in {cell}", zh: "{cell}的格子的注意力" },
  received: { en: "Attention that each cell receives", zh: "每个格子得到的注意力" },
  row: { en: "row", zh: "行" },
  column: { en: "column", zh: "列" },
  share: { en: "{who} (%)", zh: "{who}（%）" },
};

export const looks = { pos: "position", hubs: "flag" };
export const read = opened;
export const bounds = (run) => ({ pos: { count: CELLS * CELLS, pick: run.pick } });
export const choices = () => [{ key: "hubs", label: t(TEXT.hubs) }];
export const same = () => true;
export const legend = (_run, look) =>
  look.hubs ? [] : LEGEND.map((share) => ({
    text: `${share * 100} %`,
    mark: { fill: colour(KEY, strength(share), "#000000"), wide: 14, tall: 14 },
  }));

const cellOf = (at) => t(TEXT.cell, { row: Math.floor(at / CELLS) + 1, column: at % CELLS + 1 });
const name = (side) => t(TEXT.short[side.key]);
const per = (share) => (share * 100).toFixed(share >= 0.0995 || share === 0 ? 0 : 1);
const farOf = (a, b) =>
  Math.hypot(Math.floor(a / CELLS) - Math.floor(b / CELLS), a % CELLS - b % CELLS).toFixed(1);

/**
 * How strongly a share is drawn, on one scale for both: by its root, so that a hundredth is seen.
 */
const strength = (share) => 0.9 * Math.sqrt(Math.min(1, share));

/** What is drawn of one side: the row of the query, or, of all rows, the sum over queries. */
function sharesOf(side, look) {
  if (!look.hubs) return look.pos === null ? [] : side.weights.slice(look.pos);
  return upTo(
    CELLS * CELLS,
    (key) =>
      upTo(CELLS * CELLS, (query) => side.weights.slice(query)[key]).reduce((a, b) => a + b, 0),
  );
}

export function figure(run, look, pen) {
  const titles = run.sides.map((side) => t(TEXT[side.key], { gamma: side.gamma }));
  const layout = panels(titles, pen, run.sides.map(() => SIDE));
  run.sides.forEach((side, i) => {
    const shares = sharesOf(side, look);
    const most = look.hubs ? Math.max(...shares) : 1;
    const draw = (cell, style) => layout.shapes.push(square(i, cell, SIZE, CELLS, style));
    shares.forEach((share, key) => {
      const opacity = strength(share / most);
      if (share > LEAST) draw(key, { fillcolor: `var(--${KEY})`, opacity, line: { width: 0 } });
    });
    if (look.pos !== null && !look.hubs) {
      draw(look.pos, { line: { color: "var(--query)", width: 3 } });
    }
  });
  return { data: run.sides.map((_, i) => grey(rowsOf(run.picture.data), i)), layout };
}

export function pick(run, look, { i }) {
  const at = Math.floor(i[0] / SIZE) * CELLS + Math.floor(i[1] / SIZE);
  const said = (side) =>
    t(TEXT.weight, { who: name(side), share: per(sharesOf(side, look)[at] ?? 0) });
  return { look: { pos: at }, card: () => [cellOf(at), ...run.sides.map(said)] };
}

export function sentence(run, look) {
  const told = run.sides.map((side) => {
    const shares = Array.from(sharesOf(side, look));
    const best = shares.indexOf(Math.max(...shares));
    return look.hubs
      ? t(TEXT.hub, { who: name(side), cell: cellOf(best), share: shares[best].toFixed(1) })
      : t(TEXT.said, {
        who: name(side),
        share: per(shares[best]),
        cell: cellOf(best),
        far: farOf(look.pos, best),
      });
  });
  const all = told.join(t(TEXT.joint)) + t(TEXT.end);
  if (look.hubs) return [t(TEXT.all) + all];
  return [
    t(TEXT.query),
    { text: cellOf(look.pos), role: "query" },
    t(TEXT.asks),
    { text: all, role: "key" },
  ];
}

export const table = (run, look) => ({
  caption: look.hubs ? t(TEXT.received) : t(TEXT.caption, { cell: cellOf(look.pos) }),
  columns: [
    t(TEXT.row),
    t(TEXT.column),
    ...run.sides.map((side) => t(TEXT.share, { who: name(side) })),
  ],
  rows: upTo(CELLS * CELLS, (key) => [
    Math.floor(key / CELLS) + 1,
    key % CELLS + 1,
    ...run.sides.map((side) => (sharesOf(side, look)[key] * 100).toFixed(2)),
  ]),
  here: null,
});

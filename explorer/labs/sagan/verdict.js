// The verdict map: what each of 4 × 4 cells adds to the discriminator's logit. A click paints a
// cell black; what the verdicts outside of its 22 pixels then change by is attention's alone.

import { opened, upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { plus } from "../../frontend/lib/signs.js";
import { grey, panels, rowsOf, SIDE, signedMap, square } from "../../frontend/lib/mosaic.js";

const CELLS = 4; // of a side
const SIZE = 8; // pixels of a cell's side

export const TEXT = {
  board: { en: "{title}", zh: "{title}" },
  question: { en: "Where does it believe?", zh: "它相信哪里？" },
  picture: { en: "The picture", zh: "图片" },
  verdicts: { en: "Verdicts, logit {logit}", zh: "裁决，logit {logit}" },
  change: { en: "Change by the erased cell", zh: "抹去格子后的变化" },
  cell: { en: "row {row}, column {column}", zh: "第 {row} 行第 {column} 列" },
  adds: { en: "adds {value}", zh: "贡献 {value}" },
  moves: { en: "changes by {value}", zh: "变化 {value}" },
  alone: { en: "without attention: {value}", zh: "没有注意力时：{value}" },
  erase: { en: "Click: paint it black", zh: "点击：把它涂黑" },
  restore: { en: "Click: bring it back", zh: "点击：恢复它" },
  sum: {
    en: "The 16 verdicts add up to {sum}; with the bias of {bias} the logit is {logit}: ",
    zh: "16 个裁决之和为 {sum}；加上偏置 {bias}，logit 为 {logit}：",
  },
  real: { en: "taken for real.", zh: "被当作真图。" },
  fake: { en: "taken for generated.", zh: "被当作生成图。" },
  outside: {
    en: " Outside the reach of the erased cell, verdicts change by up to {most}",
    zh: "在被抹去格子够不到的地方，裁决最多变化 {most}",
  },
  attention: {
    en: ", all of it through attention: with γ = 0 they change by {none}.",
    zh: "，全部来自注意力：γ = 0 时变化为 {none}。",
  },
  caption: { en: "The verdict of each cell", zh: "每个格子的裁决" },
  row: { en: "row", zh: "行" },
  column: { en: "column", zh: "列" },
  verdict: { en: "verdict (logit)", zh: "裁决（logit）" },
  after: { en: "verdict with the cell erased (logit)", zh: "抹去格子后的裁决（logit）" },
  without: { en: "change without attention (logit)", zh: "没有注意力时的变化（logit）" },
};

export const looks = { cell: "position" };
export const read = opened;
export const bounds = () => ({ cell: { count: CELLS * CELLS, pick: null } });
export const same = () => true;

const placeOf = (at) => [Math.floor(at / CELLS) + 1, at % CELLS + 1];
const cellOf = (at) => t(TEXT.cell, { row: placeOf(at)[0], column: placeOf(at)[1] });
const shownOf = (run) => run.erased ?? run;
const changeOf = (run) =>
  Array.from(run.erased.verdicts.data, (value, at) => value - run.verdicts.data[at]);
const largest = (...lists) => Math.max(0, ...lists.flatMap((list) => Array.from(list, Math.abs)));

export function figure(run, look, pen) {
  const { verdicts, picture, logit } = shownOf(run);
  const titles = [t(TEXT.picture), t(TEXT.verdicts, { logit: plus(logit) })];
  if (run.erased) titles.push(t(TEXT.change));
  const layout = panels(titles, pen, [SIDE, CELLS, CELLS]);
  const most = largest([0.1], run.verdicts.data, verdicts.data);
  const data = [
    grey(rowsOf(picture.data)),
    signedMap(rowsOf(verdicts.data, CELLS), most, 1, run.scale, pen),
  ];
  const outline = (i, cell, color, dash = "solid") =>
    layout.shapes.push(
      square(i, cell, i ? 1 : SIZE, CELLS, { line: { color: `var(--${color})`, width: 3, dash } }),
    );
  if (run.erased) {
    const change = changeOf(run);
    const far = largest([0.01], change);
    data.push(signedMap(rowsOf(change, CELLS), far, 2, run.scale, pen, 3));
    run.erased.inside.data.forEach((inside, at) => inside && outline(2, at, "ink3", "dot"));
    outline(0, run.number - 1, "query");
  }
  if (look.cell !== null) [0, 1].forEach((i) => outline(i, look.cell, "key"));
  return { data, layout };
}

export function pick(run, _look, { trace, i }) {
  const [row, column] = trace === 0 ? i.map((at) => Math.floor(at / SIZE)) : i;
  const at = row * CELLS + column;
  const erased = run.number === at + 1;
  const say = (name, list) => t(TEXT[name], { value: plus(list[at], 3) });
  const lines = [say("adds", shownOf(run).verdicts.data)];
  if (run.erased) lines.push(say("moves", changeOf(run)), say("alone", run.erased.plain.data));
  return {
    look: { cell: at },
    card: () => [cellOf(at), ...lines, t(erased ? TEXT.restore : TEXT.erase)],
    set: { erase: String(erased ? 0 : at + 1) },
  };
}

export function sentence(run) {
  const { verdicts, logit } = shownOf(run);
  const sum = verdicts.data.reduce((a, b) => a + b, 0);
  const told = [
    t(TEXT.sum, { sum: plus(sum), bias: plus(run.bias), logit: plus(logit) }),
    { text: t(logit > 0 ? TEXT.real : TEXT.fake), role: "out" },
  ];
  if (!run.erased) return told;
  const outside = (list) =>
    largest(Array.from(list).filter((_, at) => !run.erased.inside.data[at])).toFixed(3);
  const none = run.erased.plain.data;
  return [
    ...told,
    t(TEXT.outside, { most: outside(changeOf(run)) }) + t(TEXT.attention, { none: outside(none) }),
  ];
}

export function table(run) {
  const further = run.erased ? { after: run.erased.verdicts, without: run.erased.plain } : {};
  const columns = Object.entries({ verdict: run.verdicts, ...further });
  return {
    caption: t(TEXT.caption),
    columns: [t(TEXT.row), t(TEXT.column), ...columns.map(([name]) => t(TEXT[name]))],
    rows: upTo(CELLS * CELLS, (at) => [
      ...placeOf(at),
      ...columns.map(([, { data }]) => data[at].toFixed(4)),
    ]),
    here: null,
  };
}

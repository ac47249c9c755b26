// Pretty or needed: for each head how much it looks at the lamp in this run, for each gate how far
// it opens; beside it the stored success without that head, or with that gate shut. The value is
// made by explorer/labs/gtrxl/views.py.

import { upTo } from "../../frontend/lib/arrays.js";
import { offers } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { rounded } from "../../frontend/lib/signs.js";

export const TEXT = {
  board: {
    en: "{title}. Up and down go from switch to switch, Shift with Enter turns it, Escape resets.",
    zh: "{title}。上下键逐个移动，Shift 加回车切换，Esc 复位。",
  },
  head: { en: "head {key}", zh: "头 {key}" },
  gate: { en: "gate: {name}", zh: "门：{name}" },
  off: { en: "{name} · off", zh: "{name} · 关" },
  shown: { en: "looks at the lamp, or z", zh: "看灯的权重，或 z" },
  right: { en: "success without it", zh: "没有它时的成功率" },
  looksAt: {
    en: "weight on the lamp’s two steps, at the last step",
    zh: "最后一步给灯所在两步的权重",
  },
  opens: { en: "z, mean of this walk", zh: "z，这次行走的平均" },
  without: { en: "success when it is silenced or shut", zh: "关掉后的成功率" },
  said: {
    en: "{name} puts {shown} on the lamp at the last step. Without it {right} of the turns are " +
      "right ({n} corridors of {cells} cells, stored).",
    zh:
      "{name}在最后一步把 {shown} 放在灯上。没有它时 {right} 转对（{n} 条 {cells} 格走廊，已存储）。",
  },
  saidGate: {
    en: "{name} opens to z = {shown} on average. Shut, {right} of the turns are right ({n} " +
      "corridors of {cells} cells, stored).",
    zh: "{name}平均开到 z = {shown}。关上时 {right} 转对（{n} 条 {cells} 格走廊，已存储）。",
  },
  late: { en: " In {late} the steps run out.", zh: "有 {late} 步数用尽。" },
  turnOff: { en: "Turn off {name}", zh: "关掉{name}" },
  turnOn: { en: "Turn on {name}", zh: "打开{name}" },
  live: {
    en: "A switch that is turned runs the walk again; the panel beside measures 100 corridors.",
    zh: "切换后会重新行走；旁边的面板在 100 条走廊里测量。",
  },
  add: { en: "shift-click: turn it off or on", zh: "Shift 加点击：关掉或打开" },
  chance: { en: "chance", zh: "随机" },
  caption: { en: "Heads and gates", zh: "头与门" },
  columns: {
    en: "switch|off now|on the lamp, or z|success without it|steps ran out",
    zh: "开关|现已关|灯上的权重，或 z|没有它时的成功率|步数用尽",
  },
  yes: { en: "yes", zh: "是" },
  no: { en: "no", zh: "否" },
};
const ROW = 22; // px of a switch
const AROUND = 74; // px above and below

const nameOf = ({ kind, key, name }) =>
  kind === "head" ? t(TEXT.head, { key: key.replace(".", "·") }) : t(TEXT.gate, { name: t(name) });

export const read = (value) => (value.rows.length ? value : null);

const current = (run, look) => run.rows.find(({ key }) => key === look.switch) ?? run.rows[0];

export function figure(run, look, pen) {
  const n = run.rows.length;
  const names = run.rows.map((row) => row.off ? t(TEXT.off, { name: nameOf(row) }) : nameOf(row));
  const side = (key, colour, number) => ({
    type: "bar",
    orientation: "h",
    x: run.rows.map((row) => row[key]),
    y: upTo(n),
    width: 0.72,
    xaxis: number > 1 ? "x2" : "x",
    text: run.rows.map((row) => row[key].toFixed(2)),
    textposition: "outside",
    cliponaxis: false,
    marker: { color: run.rows.map(colour) },
  });
  const axis = (domain, title) => ({
    domain,
    range: [0, 1.2],
    tickvals: [0, 0.5, 1],
    fixedrange: true,
    title: { text: pen.narrow ? "" : t(title) },
  });
  const at = run.rows.indexOf(current(run, look));
  const left = pen.big ? 250 : pen.narrow ? 118 : 170;
  return {
    data: [
      side("shown", ({ kind }) => (kind === "head" ? "var(--key)" : "var(--cat-3)"), 1),
      side("right", ({ off }) => (off ? "var(--control)" : "var(--out)"), 2),
    ],
    layout: {
      height: AROUND + n * ROW,
      margin: { l: left, r: 14, t: 8, b: pen.big ? 64 : 44 },
      xaxis: axis([0, 0.47], TEXT.shown),
      xaxis2: { ...axis([0.53, 1], TEXT.right), anchor: "y" },
      yaxis: {
        range: [n - 0.5, -0.5],
        tickvals: upTo(n),
        ticktext: pen.narrow ? names.map((name) => name.replace(/^gate: |^门：/, "")) : names,
        showgrid: false,
        fixedrange: true,
      },
      shapes: [
        {
          type: "rect",
          xref: "paper",
          x0: 0,
          x1: 1,
          y0: at - 0.5,
          y1: at + 0.5,
          line: { color: "var(--query)", width: 2 },
        },
        {
          type: "line",
          xref: "x2",
          x0: 0.5,
          x1: 0.5,
          y0: -0.5,
          y1: n - 0.5,
          line: { color: "var(--ink3)", width: 1.5, dash: "dot" },
        },
      ],
    },
  };
}

export function pick(run, _look, { i }) {
  const row = run.rows[i];
  return {
    look: { switch: row.key },
    add: { set: row.set },
    card: () => [
      nameOf(row),
      `${t(row.kind === "head" ? TEXT.looksAt : TEXT.opens)}: ${row.shown.toFixed(2)}`,
      `${t(TEXT.without)}: ${row.right.toFixed(2)}`,
      t(TEXT.add),
    ],
  };
}

export function sentence(run, look) {
  const row = current(run, look);
  const found = parts(row.kind === "head" ? TEXT.said : TEXT.saidGate, {
    name: { text: nameOf(row), role: "query" },
    shown: { text: row.shown.toFixed(2), role: "key" },
    right: { text: row.right.toFixed(2), role: "out" },
    n: run.n,
    cells: run.cells,
  });
  return row.late ? [...found, ...parts(TEXT.late, { late: row.late.toFixed(2) })] : found;
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: t(TEXT.columns).split("|"),
  rows: run.rows.map((row) => [
    nameOf(row),
    t(row.off ? TEXT.yes : TEXT.no),
    rounded(row.shown),
    row.right,
    row.late,
  ]),
  here: run.rows.indexOf(current(run, look)),
});

export function below(run, look, _lock, ask) {
  const row = current(run, look);
  const name = nameOf(row);
  return [
    ...offers(ask, [[t(row.off ? TEXT.turnOn : TEXT.turnOff, { name }), row.set]]),
    t(TEXT.live),
  ];
}

export const legend = () => [
  { text: t(TEXT.looksAt), mark: { fill: "key" } },
  { text: t(TEXT.opens), mark: { fill: "cat-3" } },
  { text: t(TEXT.without), mark: { fill: "out" } },
];

export const looks = { switch: "choice" };
export const across = "switch";
export const resets = ["switch"];
/** A head that is locked elsewhere is the switch in view. */
export const bounds = (run) => ({
  switch: {
    names: run.rows.map(({ key }) => key),
    pick: run.pick.head ?? run.rows[0].key,
  },
});
export const press = (run, look) => ({ set: current(run, look).set });
export const same = (was, run) => was.network === run.network;
export const stays = ["switch"];

// What “said twice” draws: room for letters, colours of characters, a picture to take along, and the table of rounds.

import { el, svg } from "./dom.js";
import { t } from "./lang.js";

export const WORST = 8; // bits where the scale of the loss ends
const SIGNS = { " ": "␠", "\u00a0": "␠", "\n": "⏎", "\t": "⇥" };

/** A letter as it is drawn: white space has a sign. */
export const shown = (letter) => SIGNS[letter] ?? letter;

const TEXT = {
  full: { en: "full", zh: "完整" },
  one: { en: "1 round", zh: "1 轮" },
  rounds: { en: "{n} rounds", zh: "{n} 轮" },
  trained: { en: "trained with", zh: "训练时" },
  evaluated: { en: "evaluated with", zh: "评估时" },
  legend: { en: "measured here / published", zh: "本项目实测 / 论文发表" },
  seeds: { en: "Every training of {name}, whatever it came to", zh: "{name} 的每一次训练，无论结果如何" },
  seed: { en: "seed {n}", zh: "种子 {n}" },
  early: { en: "stopped early", zh: "提前停止" },
  caption: { en: "Share of right letters, by rounds of training and of evaluation", zh: "答对字母的比例，按训练轮数与评估轮数" },
};
const MISSING = "–";

const rounds = (name) => (name === "full" ? t(TEXT.full) : name === "1" ? t(TEXT.one) : t(TEXT.rounds, { n: name }));

/** How letters stand: as large as there is room for, in as few lines as that allows. */
export function cellOf({ room, count, big }) {
  const [least, most, name, share] = big ? [26, 44, 190, 110] : [17, 26, 118, 56];
  const side = room >= 480 ? name : 0; // else names stand above their row
  const free = Math.max(least, room - (side ? side + share : 0));
  const lines = Math.max(1, Math.ceil((count * least) / free));
  const each = Math.max(1, Math.ceil(count / lines));
  return { side, each, lines: Math.ceil(count / each), cell: Math.max(least, Math.min(most, Math.floor(free / each))) };
}

const channels = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
const luminance = (rgb) => rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);

/** The colour of a loss in bits, and black or white on it, whichever is stronger. */
export function tint(stops, bits) {
  const place = Math.max(0, Math.min(1, bits / WORST)) * (stops.length - 1);
  const left = Math.min(Math.floor(place), stops.length - 2);
  const [a, b] = [channels(stops[left]), channels(stops[left + 1])];
  const rgb = a.map((value, i) => Math.round(value + (b[i] - value) * (place - left)));
  return { ground: `rgb(${rgb.join(", ")})`, ink: luminance(rgb) > 0.179 ? "#000000" : "#ffffff" };
}

const CELL = 22;
const LINE = 40; // letters of a line of the picture

/** The picture to take along: the letters of all models under those that were given, or a text on its colours. */
export function drawing({ letters, runs, given, text, stops }) {
  const rows = text ? [] : [{ name: given, said: letters }, ...runs.map((one) => ({ name: t(one.name), said: one.said, one }))];
  const count = Math.ceil(letters.length / LINE);
  const [left, tall] = [text ? 0 : 130, text ? CELL : CELL * rows.length + 26];
  const width = left + Math.min(LINE, letters.length) * CELL + 4;
  const node = svg("svg", { viewBox: `0 0 ${width} ${count * tall}`, width, height: count * tall });
  const letter = (x, y, sign, attributes) => svg("text", { x: x + CELL / 2, y: y + 16, "font-size": 14, "font-family": "monospace", "text-anchor": "middle", fill: "var(--ink)", ...attributes, text: sign });
  letters.forEach((own, i) => {
    const [x, top] = [left + (i % LINE) * CELL, Math.floor(i / LINE) * tall];
    if (text) {
      const { ground, ink } = tint(stops, runs[0].nats[i] / Math.LN2);
      node.append(svg("rect", { x, y: top, width: CELL, height: CELL, fill: ground }), letter(x, top, shown(own), { fill: ink }));
      return;
    }
    if (i % 5 === 0) node.append(svg("text", { x: x + CELL / 2, y: top + 14, "font-size": 12, "text-anchor": "middle", fill: "var(--ink3)", text: String(i + 1) }));
    rows.forEach(({ name, said, one }, row) => {
      const y = top + 20 + row * CELL;
      if (i % LINE === 0) node.append(svg("text", { x: 0, y: y + 16, "font-size": 13, fill: one ? "var(--ink)" : "var(--ink3)", text: name }));
      const wrong = one && said[i] !== own;
      if (wrong) node.append(svg("rect", { x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2, fill: "var(--bad-soft)" }), svg("line", { x1: x + 3, x2: x + CELL - 3, y1: y + CELL - 3, y2: y + CELL - 3, stroke: "var(--bad)", "stroke-width": 2 }));
      node.append(letter(x, y, shown(said[i]), wrong ? { fill: "var(--bad)", "font-weight": 700 } : {}));
    });
  });
  return node;
}

const figure = (value) => (value === null ? MISSING : value.toFixed(3));

/** The table of rounds and what is said of it. Cells carry the model of their row and the rounds of their column. */
export function roundsTable({ columns, rows, seeds, name, sentence, why }) {
  const cell = (row, i, ours, printed) => {
    const node = el("td", { "data-row": row, "data-column": columns[i] }, el("b", { text: figure(ours) }), printed === undefined ? null : el("span", { class: "tfe-spelling-printed", text: ` / ${figure(printed)}` }));
    if (ours !== null) node.style.setProperty("--share", `${Math.round(38 * ours)}%`);
    return node;
  };
  const corner = el("th", { scope: "col", class: "tfe-spelling-corner" }, el("span", { text: `${t(TEXT.trained)} ↓` }), el("span", { text: `${t(TEXT.evaluated)} →` }));
  const table = el(
    "table",
    { class: "tfe-table tfe-spelling-table", "aria-label": t(TEXT.caption) },
    el("thead", {}, el("tr", {}, corner, columns.map((column) => el("th", { scope: "col", text: rounds(column) })))),
    el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row", "data-row": row.key, text: t(row.name) }), row.ours.map((ours, i) => cell(row.key, i, ours, row.printed[i]))))),
  );
  const tried = el(
    "details",
    { class: "tfe-spelling-seeds tfe-controls" },
    el("summary", { text: t(TEXT.seeds, { name: t(name) }) }),
    el(
      "div",
      { class: "tfe-scroll", tabindex: "0", role: "region", "aria-label": t(TEXT.seeds, { name: t(name) }) },
      el(
        "table",
        { class: "tfe-table" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col", text: t(name) }), columns.map((column) => el("th", { scope: "col", text: rounds(column) })))),
        el("tbody", {}, seeds.map((one) => el("tr", {}, el("th", { scope: "row", text: t(TEXT.seed, { n: one.seed }) + (one.finished ? "" : ` · ${t(TEXT.early)}`) }), one.ours.map((value) => el("td", { text: figure(value) }))))),
      ),
    ),
  );
  return [
    el("p", { class: "tfe-units", text: t(TEXT.legend) }),
    el("div", { class: "tfe-scroll tfe-spelling-frame", tabindex: "0", role: "region", "aria-label": t(TEXT.caption) }, table),
    el("p", { class: "tfe-words", text: t(sentence) }),
    el("p", { class: "tfe-note", text: t(why) }),
    seeds.length ? tried : null,
  ].filter(Boolean);
}

// Pictures before and after a change, as each model makes them: before, after and the difference in equal sizes, and one big signed number:
// how much dearer the picture before becomes; where it is told, pixel by pixel too.

import { unpack } from "./arrays.js";
import { el } from "./dom.js";
import { t } from "./lang.js";
import { table } from "./raster.js";
import { resultOf, sheetOf } from "./result.js";
import { bus } from "./state.js";
import { number, plus } from "./stripwords.js";
import { dark, onTheme } from "./theme.js";

const TEXT = {
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差值" },
  within: { en: "diff. ±{most}", zh: "差 ±{most}" },
  picture: { en: "{pattern}, {which}: {rows} rows by {columns} columns", zh: "{pattern}，{which}：{rows} 行 {columns} 列" },
  pixel: { en: "({row}, {column}): {before} → {after}", zh: "({row}, {column})：{before} → {after}" },
  dearer: { en: "what each pixel costs more, {unit}", zh: "每个像素多付的代价，{unit}" },
};
const WHICH = ["before", "after", "difference", "dearer"];
const LONG = 3; // letters of a name that stands beside its pictures; a longer one stands above them
const lengthOf = (name) => [...name].reduce((sum, letter) => sum + (letter > "\u2e80" ? 2 : 1), 0); // a Chinese character is as wide as two
const evenly = (stops) => stops.map((hex, index) => [index / (stops.length - 1), hex]);
const largest = (maps, least) => Math.max(least, ...maps.map((map) => map.reduce((most, each) => Math.max(most, Math.abs(each)), 0)));

/**
 * @param {{light: string[], dark: string[]}} signed evenly spaced colours of a signed scale
 *
 * value, in `set`: {pairs, sentence, measure, names}, as figures/pairs.py spells them, or null while there is none. draw: all texts anew.
 */
export function pairsOf(signed) {
  const names = el("div", { class: "tfe-pairs-names", "aria-hidden": "true" });
  const board = el("div", { class: "tfe-pairs-board" });
  const readout = el("p", { class: "tfe-pairs-readout" });
  const own = resultOf("pairs", { parts: (value) => value.pairs, unpacked, paint, files: { PNG: picture, NPZ: arrays, TXT: lines } });
  const node = el("div", { class: "tfe-pairs", hidden: true }, names, board, readout, own.sentence, own.exports);

  const nameOf = (key) => t(own.value.names[key] ?? key);
  const unit = () => (own.value.measure.unit ? t(own.value.measure.unit) : "");

  function paint() {
    const { value, drawn } = own;
    const colours_ = table(evenly(signed[dark() ? "dark" : "light"]));
    const change = drawn.map(({ before, after, channels }) => differences(before, after, channels));
    const limit = largest(change, 32);
    const maps = drawn.flatMap(({ more }) => (more ? [more] : []));
    const dearest = largest(maps, 0.05);
    const which = maps.length ? WHICH : WHICH.slice(0, 3);
    const said = { difference: t(TEXT.within, { most: Math.ceil(limit) }), dearer: `${unit()} ±${number(dearest)}` };
    node.classList.toggle("is-stacked", maps.length > 0 || value.pairs.some(({ key }) => lengthOf(nameOf(key)) > LONG));
    node.style.setProperty("--pictures", String(which.length));
    names.hidden = !value.pairs.length;
    names.replaceChildren(...which.map((one) => el("span", { text: said[one] ?? t(TEXT[one]) })), el("span", { text: t(value.measure.label) }));
    board.replaceChildren(
      ...value.pairs.map(({ key, number: costs }, at) => {
        const pattern = nameOf(key);
        const tile = (one) => {
          const [map, most] = one === "difference" ? [change[at], limit] : one === "dearer" ? [drawn[at].more, dearest] : [null, 0];
          const colours = map ? (i) => from(colours_, map[i] / most) : greys(one === "after" ? drawn[at].after : drawn[at].before, drawn[at].channels);
          return painted(drawn[at], { colours, label: t(TEXT.picture, { pattern, which: t(TEXT[one], { unit: unit() }), rows: drawn[at].rows, columns: drawn[at].columns }), which: one });
        };
        const big = el("strong", { class: "tfe-number tfe-pairs-number", text: plus(costs.after - costs.before) });
        const both = el("span", { class: "tfe-pairs-from", text: `${number(costs.before)} → ${number(costs.after)}` });
        const tiles = which.filter((one) => one !== "dearer" || drawn[at].more).map(tile);
        return el("div", { class: "tfe-pairs-pair", "data-pattern": key }, el("span", { class: "tfe-pairs-name", text: pattern, title: pattern }), ...tiles, el("div", { class: "tfe-pairs-numbers" }, big, both));
      }),
    );
  }

  /** The colour of a signed value, −1 … 1, of a table of 256. */
  function from(colours, value_) {
    const at = 3 * Math.round(((value_ + 1) / 2) * 255);
    return colours.subarray(at, at + 3);
  }

  const greys = (levels, channels) => (i) => [0, 1, 2].map((c) => levels[i * channels + (channels > 1 ? c : 0)]);

  /** A picture of one canvas pixel for each of its own. colours(i): of pixel i. */
  function painted(one, { colours, label, which }) {
    const { rows, columns } = one;
    const canvas = el("canvas", { role: "img", width: String(columns), height: String(rows), "aria-label": label, "data-which": which });
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; i += 1) image.data.set([...colours(i), 255], 4 * i);
    context.putImageData(image, 0, 0);
    canvas.addEventListener("pointermove", (event) => read(canvas, one, event));
    canvas.addEventListener("pointerleave", () => {
      readout.textContent = "";
      if (own.value.measure.raster) bus.fire("hover-pos", { pos: null });
    });
    return canvas;
  }

  /** After minus before of each pixel, the mean of its channels. */
  function differences(before, after, channels) {
    const found = new Float32Array(before.length / channels);
    for (let i = 0; i < before.length; i += 1) found[Math.floor(i / channels)] += (after[i] - before[i]) / channels;
    return found;
  }

  function read(canvas, { rows, columns, channels, before, after, more }, event) {
    const box = canvas.getBoundingClientRect();
    const column = Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns)));
    const row = Math.min(rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * rows)));
    const at = (row * columns + column) * channels;
    const levels = (of) => of.slice(at, at + channels).join(" ");
    if (own.value.measure.raster) bus.fire("hover-pos", { pos: row * columns + column });
    const dearer = more ? ` · ${plus(more[row * columns + column])} ${unit()}` : "";
    readout.textContent = t(TEXT.pixel, { row, column, before: levels(before), after: levels(after) }) + dearer;
  }

  async function unpacked({ before, after, more }) {
    const [one, other, map] = await Promise.all([unpack(before), unpack(after), more ? unpack(more) : null]);
    return { rows: one.shape[0], columns: one.shape[1], channels: one.shape[2] ?? 1, before: one.data, after: other.data, more: map?.data ?? null };
  }

  // ── take along ──
  /** All pictures of every pattern, each pixel 8 × 8, with their names. */
  function picture() {
    const { value, drawn } = own;
    if (!drawn.length) return null;
    const [side, gap, head] = [8, 24, 28];
    const { rows, columns } = drawn[0];
    const across = drawn.some(({ more }) => more) ? WHICH.length : 3;
    const [sheet, context] = sheetOf(across * columns * side + (across + 1) * gap, drawn.length * (rows * side + head) + gap);
    [...board.children].forEach((line, at) => {
      const { key } = value.pairs[at];
      const top = at * (rows * side + head);
      for (const canvas of line.querySelectorAll("canvas")) {
        const { which } = canvas.dataset;
        const left = gap + WHICH.indexOf(which) * (columns * side + gap);
        context.fillText(`${nameOf(key)} · ${t(TEXT[which], { unit: unit() })}`, left, top + 19, columns * side);
        context.drawImage(canvas, left, top + head, columns * side, rows * side);
      }
    });
    return sheet;
  }

  function arrays() {
    const { value, drawn } = own;
    const found = {};
    value.pairs.forEach(({ key, number: costs }, at) => {
      const { rows, columns, channels } = drawn[at];
      const shape = channels > 1 ? [rows, columns, channels] : [rows, columns];
      for (const which of ["before", "after"]) found[`${key}.${which}`] = { shape, data: Uint8Array.from(drawn[at][which]) };
      if (drawn[at].more) found[`${key}.more`] = { shape: [rows, columns], data: drawn[at].more };
      found[`${key}.${value.measure.key}`] = { shape: [2], data: new Float64Array([costs.before, costs.after]) };
    });
    return found;
  }

  function lines() {
    return own.value.pairs.map(({ key, number: costs }) => `${nameOf(key)}, ${t(own.value.measure.label)}: ${plus(costs.after - costs.before)} (${number(costs.before)} → ${number(costs.after)})`);
  }

  onTheme(own.draw);
  return { node, set: own.set, draw: own.draw };
}

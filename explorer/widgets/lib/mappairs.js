// Attention before and after a change, in three equal pictures, the difference beside both; the texts, the one number and the sentence.

import { unpack } from "./arrays.js";
import { el } from "./dom.js";
import { lang, t } from "./lang.js";
import { table } from "./raster.js";
import { resultOf, sheetOf } from "./result.js";
import { number, plus } from "./stripwords.js";
import { dark, onTheme } from "./theme.js";

const TEXT = {
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差值" },
  same: { en: "the same words", zh: "词语不变" },
  maps: { en: "picture of", zh: "图示" },
  map: { en: "{which}: {label}, {rows} rows by {columns} columns", zh: "{which}：{label}，{rows} 行 {columns} 列" },
  nats: { en: "nats", zh: "纳特" },
};
const MOVED = 0.05; // of a word's probability, which makes it stand out
const WHICH = ["before", "after", "difference"];
const short = (value) => plus(value).replace("0.", ".").replace(/0$/, "");
const evenly = (stops) => stops.map((hex, index) => [index / (stops.length - 1), hex]);
const glued = /^[.,;:!?%)\]]/; // no space before it

/**
 * @param {{weights: string[], signed: {light: string[], dark: string[]}}} scales evenly spaced colours
 *
 * value, in `set`: {maps, texts, language, number, unit, sentence}, see change.py, or null while there is none. draw: all texts anew.
 */
export function mapsOf(scales) {
  const weights = table(evenly(scales.weights));
  let chosen = null; // the map that is looked at

  const texts = el("dl", { class: "tfe-maps-texts" });
  const chances = el("div", { class: "tfe-maps-chances" });
  const which = el("select", { class: "tfe-select tfe-maps-which", onchange: () => ((chosen = which.value), own.draw()) });
  const readout = el("p", { class: "tfe-maps-readout" });
  const figures = WHICH.map((key) => {
    const canvas = el("canvas", { role: "img" });
    canvas.addEventListener("mousemove", (event) => read(canvas, event));
    canvas.addEventListener("mouseleave", () => (readout.textContent = ""));
    const [name, unit] = [el("span", { class: "tfe-maps-name" }), el("span", {})];
    return { key, canvas, name, unit, node: el("figure", { class: "tfe-maps-map", "data-map": key }, el("figcaption", {}, name, unit), canvas) };
  });
  const big = el("strong", { class: "tfe-number tfe-maps-number" });
  const label = el("span", { class: "tfe-maps-label" });
  const from = el("span", { class: "tfe-maps-from" });
  const own = resultOf("maps", {
    parts: (value) => value.maps,
    unpacked: ({ before, after }) => Promise.all([unpack(before), unpack(after)]), // [before, after] of a map
    paint,
    files: { PNG: picture, CSV: rows, NPZ: arrays, TXT: lines },
    named: () => [current().map.key],
  });
  const node = el(
    "div",
    { class: "tfe-maps", hidden: true },
    el("div", { class: "tfe-maps-said" }, texts, own.sentence, chances),
    el("div", { class: "tfe-maps-pictures" }, el("div", { class: "tfe-maps-row" }, ...figures.map((one) => one.node)), which, readout, own.exports),
    el("div", { class: "tfe-maps-numbers" }, label, big, from),
  );

  const marked = (runs) =>
    runs.flatMap(([text, mark], at) => [at && !glued.test(text) ? " " : "", mark === "gone" ? el("del", { class: "tfe-struck", text }) : mark === "new" ? el("ins", { class: "tfe-new", text }) : text]);

  function paintTexts() {
    const { value } = own;
    const [before, after] = value.texts;
    const same = ![...before, ...after].some(([, mark]) => mark);
    const row = (name, runs, ...more) => [el("dt", { text: t(name) }), el("dd", { lang: value.language }, ...marked(runs), ...more)];
    texts.replaceChildren(...row(TEXT.before, before), ...row(TEXT.after, after, same ? el("span", { class: "tfe-maps-same", lang: lang(), text: ` ${t(TEXT.same)}` }) : ""));
    const moved = ([, was, is]) => Math.abs(is - was) >= MOVED;
    const word = (one) => el("li", { class: moved(one) ? "is-moved" : null }, el("span", { lang: value.language, text: one[0] }), ` ${one[1].toFixed(2)} → ${one[2].toFixed(2)}`);
    chances.replaceChildren(el("span", { class: "tfe-maps-label", text: t(value.words_title) }), el("ul", {}, ...value.words.map(word)));
    label.textContent = t(value.unit);
    big.textContent = plus(value.number.after - value.number.before);
    from.textContent = `${number(value.number.before)} → ${number(value.number.after)} ${t(TEXT.nats)}`;
  }

  function current() {
    const { value, drawn } = own;
    const at = Math.max(0, value.maps.findIndex(({ key }) => key === chosen));
    const [before, after] = drawn[at];
    const [rows, columns] = before.shape;
    return { map: value.maps[at], rows, columns, before: before.data, after: after.data, difference: after.data.map((each, i) => each - before.data[i]) };
  }

  function paint() {
    paintTexts();
    const now = current();
    which.replaceChildren(...own.value.maps.map(({ key, label: name }) => el("option", { value: key, text: t(name) })));
    which.value = now.map.key;
    which.setAttribute("aria-label", t(TEXT.maps));
    const limit = Math.max(0.05, Math.ceil(now.difference.reduce((most, each) => Math.max(most, Math.abs(each)), 0) * 20) / 20);
    const differences = table(evenly(scales.signed[dark() ? "dark" : "light"]));
    for (const { key, canvas, name, unit } of figures) {
      const signed = key === "difference";
      name.textContent = t(TEXT[key]);
      unit.textContent = signed ? `${short(-limit)} … ${short(limit)}` : t(now.map.unit);
      canvas.setAttribute("aria-label", t(TEXT.map, { which: t(TEXT[key]), label: t(now.map.label), rows: now.rows, columns: now.columns }));
      cells(canvas, now, now[key], signed ? [differences, -limit, limit] : [weights, 0, 1]);
    }
  }

  /** One canvas pixel for each cell. */
  function cells(canvas, { rows, columns }, values, [colours, low, high]) {
    Object.assign(canvas, { width: columns, height: rows });
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    values.forEach((each, i) => {
      const at = 3 * Math.max(0, Math.min(255, Math.round(((each - low) / (high - low)) * 255)));
      image.data.set([...colours.subarray(at, at + 3), 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
  }

  function read(canvas, event) {
    if (!own.drawn.length) return;
    const { map, rows, columns, before, after } = current();
    const box = canvas.getBoundingClientRect();
    const place = (at, size, count) => Math.min(count - 1, Math.max(0, Math.floor((at / size) * count)));
    const [row, column] = [place(event.clientY - box.top, box.height, rows), place(event.clientX - box.left, box.width, columns)];
    const [was, is] = [before, after].map((values) => values[row * columns + column]);
    readout.textContent = `“${map.queries[row]}” (${row}) → “${map.keys[column]}” (${column}): ${number(was)} → ${number(is)}, ${plus(is - was)}`;
  }

  // ── take along ──
  /** Each map as one table: query, key, before, after, difference. */
  function rows() {
    const { value, drawn } = own;
    const found = [["picture", "row", "query", "column", "key", "before", "after", "difference"]];
    value.maps.forEach((map, at) => {
      const [before, after] = drawn[at];
      const columns = before.shape[1];
      before.data.forEach((was, i) => {
        const [row, column, is] = [Math.floor(i / columns), i % columns, after.data[i]];
        found.push([map.key, row, map.queries[row], column, map.keys[column], was, is, is - was]);
      });
    });
    return found;
  }

  function arrays() {
    const { value, drawn } = own;
    const found = { log_probability: { shape: [2], data: new Float64Array([value.number.before, value.number.after]) } };
    value.maps.forEach(({ key }, at) => drawn[at].forEach((one, i) => (found[`${key}.${WHICH[i]}`] = { shape: one.shape, data: one.data })));
    return found;
  }

  /** The three pictures side by side, each cell 12 pixels, with their names. */
  function picture() {
    const { rows, columns } = current();
    const [side, gap, head] = [12, 24, 28];
    const [sheet, context] = sheetOf(3 * columns * side + 4 * gap, rows * side + head + gap);
    figures.forEach(({ canvas, name, unit, key }, at) => {
      const left = gap + at * (columns * side + gap);
      context.fillText(key === "difference" ? `${name.textContent} ${unit.textContent}` : name.textContent, left, 19, columns * side + gap - 4);
      context.drawImage(canvas, left, head, columns * side, rows * side);
    });
    return sheet;
  }

  function lines() {
    const plain = (runs) => runs.map(([text], at) => (at && !glued.test(text) ? ` ${text}` : text)).join("");
    const { value } = own;
    const [before, after] = value.texts.map(plain);
    const words = value.words.map(([word, was, is]) => `${word} ${was.toFixed(2)} → ${is.toFixed(2)}`).join(" · ");
    return [`${t(TEXT.before)}: ${before}`, `${t(TEXT.after)}: ${after}`, `${label.textContent}: ${big.textContent} (${from.textContent})`, `${t(value.words_title)}: ${words}`];
  }

  onTheme(own.draw);
  return { node, set: own.set, draw: own.draw };
}

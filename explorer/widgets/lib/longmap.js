// A map of more positions than a screen has room for: pooled, on a canvas, and the exact rows of the block that is chosen.

import { el } from "./dom.js";
import { lang, t } from "./lang.js";
import { NAME, number, parts, plainText, shown } from "./maps.js";
import { fit, paint } from "./raster.js";
import { css } from "./theme.js";

const TEXT = {
  hint: { en: "Choose a block to see its exact rows.", zh: "选一块，看它的精确各行。" },
  hintOne: { en: "Choose a cell to see its row.", zh: "选一格，看它所在的行。" },
  exact: { en: "Exact rows {a} to {b}, all {n} keys; framed: keys {c} to {d}", zh: "精确的第 {a} 到 {b} 行，全部 {n} 个键；方框：键 {c} 到 {d}" },
  exactOne: { en: "Row {a}, all {n} keys; framed: key {c}", zh: "第 {a} 行，全部 {n} 个键；方框：键 {c}" },
  cellOne: { en: "query {q}, key {k}: {w}", zh: "查询 {q}，键 {k}：{w}" },
  sayOne: { en: "Query {q} gives key {k} {w}, its largest weight; the row sums to {sum}.", zh: "查询 {q} 给键 {k} 的权重是 {w}，是它最大的权重；这一行之和为 {sum}。" },
  cell: { en: "queries {a}–{b}, keys {c}–{d}: {w}", zh: "查询 {a}–{b}，键 {c}–{d}：{w}" },
  say: { en: "Exactly: query {q} gives key {k} {w}, the largest weight of these {n} rows; a row sums to {sum}.", zh: "精确地说：查询 {q} 给键 {k} 的权重是 {w}，在这 {n} 行中最大；一行之和为 {sum}。" },
  table: { en: "Exact weights of queries {a} to {b} on keys {c} to {d}", zh: "查询 {a} 到 {b} 对键 {c} 到 {d} 的精确权重" },
  single: { en: "Exact rows are those of one head: choose a head.", zh: "精确的行属于单个头：请选一个头。" },
  failed: { en: "The exact rows did not arrive: {why}.", zh: "精确的行未能送达：{why}。" },
};
const KEPT = 24; // answers remembered
const LEVELS = 65535; // of a weight: explorer/looks.py

/**
 * @param {{onLock: (row: number, column: number) => void, colours: () => Uint8ClampedArray}} how
 * @returns {{node: HTMLElement, draw: (look: any, space: number, big: boolean) => void}} draw: with what the attention view looks at
 */
export function longMap({ onLock, colours }) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const row = el("span", { class: "tfe-long-row", "aria-hidden": "true", hidden: true });
  const cell = el("span", { class: "tfe-long-cell", "aria-hidden": "true", hidden: true });
  const marks = el("span", { class: "tfe-long-marks", "aria-hidden": "true" });
  const map = el("div", { class: "tfe-long-map" }, marks, canvas, row, cell);
  const readout = el("p", { class: "tfe-note tfe-controls" });
  const name = el("p", { class: "tfe-label" });
  const strip = el("canvas", { "aria-hidden": "true" });
  const frame = el("span", { class: "tfe-long-cell", "aria-hidden": "true" });
  const exact = el("div", { class: "tfe-long-strip" }, strip, frame);
  const words = el("p", { class: "tfe-note", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll", tabindex: "0", role: "region" });
  const found = el("div", { class: "tfe-long-exact", hidden: true }, name, exact, words, sheet);
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const node = el("div", { class: "tfe-long" }, map, readout, error, found);

  const kept = new Map(); // promises of rows by their address, the newest last
  let now = null; // {look, side, left, top, width}
  let painted = ""; // what the canvas shows
  let turn = 0;

  const factors = (it) => it.kind.pooled;
  const hintOf = (look) => (look.name.includes(".") ? (factors(look.it)[0] > 1 ? TEXT.hint : TEXT.hintOne) : TEXT.single);
  const span = (i, by, count) => [i * by, Math.min(count, (i + 1) * by) - 1];

  async function fetched(address) {
    const answer = await fetch(new URL(address, location.origin));
    if (!answer.ok) throw new Error(`${answer.status}`);
    return new Uint16Array(await answer.arrayBuffer());
  }

  /** Rows under way or here; what failed is asked for anew the next time. */
  function rowsOf(address) {
    if (!kept.has(address)) {
      kept.set(address, fetched(address));
      kept.get(address).catch(() => kept.delete(address));
      if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    }
    return kept.get(address);
  }

  function addressOf({ it, layer, head }, i) {
    const [a, b] = span(i, factors(it)[0], it.kind.whole.queries.length);
    return `${it.kind.look}/${layer - 1}/${head - 1}/${a}/${b - a + 1}`;
  }

  /** @param {any} look as attention.js reads it: it, name, layer, head, rows, columns */
  function draw(look, space, big) {
    const { it } = look;
    const side = Math.max(160, Math.min(space - 56, big ? innerHeight - 330 : 560));
    now = { look, space, left: 48, top: 20, side };
    const key = JSON.stringify([look.name, side, css("--sunk"), devicePixelRatio]);
    if (painted !== key || map.dataset.turn !== String(it.turn)) {
      painted = key;
      map.dataset.turn = String(it.turn);
      const context = fit(canvas, side, side);
      paint(context, { data: it.map(look.name).data, rows: it.rows, columns: it.columns, colours: colours(), empty: css("--sunk"), x: 0, y: 0, width: side, height: side });
      const { queries, keys } = it.kind.whole;
      const ticks = [0, 0.25, 0.5, 0.75, 1];
      marks.replaceChildren(
        ...ticks.map((at) => el("span", { text: Math.round(at * (keys.length - 1)), style: { left: `${now.left + at * side - 24}px`, top: "0", width: "48px", textAlign: "center" } })),
        ...ticks.map((at) => el("span", { text: Math.round(at * (queries.length - 1)), style: { left: "0", top: `${now.top + at * side - 8}px`, width: `${now.left - 6}px`, textAlign: "right" } })),
      );
      Object.assign(map.style, { width: `${side + now.left + 8}px`, height: `${side + now.top}px` });
      Object.assign(canvas.style, { left: `${now.left}px`, top: `${now.top}px` });
    }
    const [i, j] = [look.rows[0], look.columns[0]];
    const [h, w] = [side / it.rows, side / it.columns];
    row.hidden = i === undefined;
    cell.hidden = i === undefined || j === undefined;
    if (!row.hidden) Object.assign(row.style, { left: `${now.left}px`, top: `${now.top + i * h}px`, width: `${side}px`, height: `${Math.max(3, h)}px` });
    if (!cell.hidden) Object.assign(cell.style, { left: `${now.left + j * w}px`, top: `${now.top + i * h}px`, width: `${Math.max(4, w)}px`, height: `${Math.max(4, h)}px` });
    readout.textContent = t(hintOf(look));
    show();
  }

  /** The exact rows of the locked block. */
  async function show() {
    const { look, space } = now;
    const { it } = look;
    const i = look.rows[0];
    if (i === undefined || !look.name.includes(".")) {
      found.hidden = true;
      return;
    }
    const mine = (turn += 1);
    const [byQuery, byKey] = factors(it);
    const { queries, keys } = it.kind.whole;
    const [a, b] = span(i, byQuery, queries.length);
    let rows;
    try {
      rows = await rowsOf(addressOf(look, i));
    } catch (problem) {
      error.textContent = t(TEXT.failed, { why: problem.message });
      error.hidden = false;
      found.hidden = true;
      return;
    }
    if (mine !== turn) return; // another block was chosen meanwhile
    error.hidden = true;
    const n = keys.length;
    const at = (r, k) => rows[r * n + k] / LEVELS;
    let [r, k] = [0, 0];
    for (let place = 0; place < rows.length; place += 1) if (rows[place] > rows[r * n + k]) [r, k] = [Math.floor(place / n), place % n];
    const j = look.columns[0] ?? Math.floor(k / byKey);
    const [c, d] = span(j, byKey, n);
    const height = 12;
    const wide = Math.max(160, space - 8);
    const data = Float32Array.from(rows, (raw) => raw / LEVELS);
    if (it.kind.mask === "causal") for (let q = a; q <= b; q += 1) data.fill(Number.NaN, (q - a) * n + q + 1, (q - a + 1) * n);
    paint(fit(strip, wide, height * (b - a + 1)), { data, rows: b - a + 1, columns: n, colours: colours(), empty: css("--sunk"), x: 0, y: 0, width: wide, height: height * (b - a + 1) });
    Object.assign(frame.style, { left: `${(c / n) * wide}px`, top: "0", width: `${Math.max(4, ((d - c + 1) / n) * wide)}px`, height: `${height * (b - a + 1)}px` });
    const single = byQuery === 1 && byKey === 1;
    name.textContent = t(single ? TEXT.exactOne : TEXT.exact, { a, b, c, d, n });
    let sum = 0;
    for (let one = 0; one < n; one += 1) sum += at(r, one);
    const said = parts(single ? TEXT.sayOne : TEXT.say, { q: NAME(queries[a + r], a + r, "query"), k: NAME(keys[k], k, "key"), w: at(r, k).toFixed(4), n: b - a + 1, sum: number(sum) });
    words.replaceChildren(...said.map((part) => (part.role ? el("b", { class: `tfe-${part.role}`, dir: "auto", text: part.text }) : document.createTextNode(part.text))));
    sheet.hidden = single; // the sentence says its only number
    const title = t(TEXT.table, { a, b, c, d });
    sheet.setAttribute("aria-label", title);
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("thead", {}, el("tr", {}, el("td"), Array.from({ length: d - c + 1 }, (_, y) => el("th", { scope: "col", text: `${shown(keys[c + y])}·${c + y}` })))),
        el(
          "tbody",
          {},
          Array.from({ length: b - a + 1 }, (_, x) =>
            el(
              "tr",
              {},
              el("th", { scope: "row", text: `${shown(queries[a + x])}·${a + x}` }),
              Array.from({ length: d - c + 1 }, (__, y) => el("td", { text: Number.isNaN(data[x * n + c + y]) ? "–" : at(x, c + y).toFixed(4) })),
            ),
          ),
        ),
      ),
    );
    found.hidden = false;
    node.dataset.exact = `${look.name} ${a} ${b} ${plainText(said)} ${lang()}`;
  }

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const { it } = now.look;
    const inside = (value, count) => Math.max(0, Math.min(count - 1, Math.floor(value * count)));
    return [inside((event.clientY - box.top) / box.height, it.rows), inside((event.clientX - box.left) / box.width, it.columns)];
  };
  // The finger goes up a tenth of a second later: by then the rows may be here.
  canvas.addEventListener("pointerdown", (event) => now?.look.name.includes(".") && rowsOf(addressOf(now.look, place(event)[0])).catch(() => {}));
  canvas.addEventListener("click", (event) => onLock(...place(event)));
  canvas.addEventListener("pointermove", (event) => {
    if (!now || event.pointerType === "touch") return;
    const { it, name: which } = now.look;
    const [i, j] = place(event);
    const [byQuery, byKey] = factors(it);
    const [[a, b], [c, d]] = [span(i, byQuery, it.kind.whole.queries.length), span(j, byKey, it.kind.whole.keys.length)];
    const { queries, keys } = it.kind.whole;
    const w = number(it.map(which).data[i * it.columns + j]);
    readout.textContent = byQuery === 1 && byKey === 1 ? t(TEXT.cellOne, { q: `${shown(queries[i])}·${i}`, k: `${shown(keys[j])}·${j}`, w }) : t(TEXT.cell, { a, b, c, d, w });
  });
  canvas.addEventListener("pointerleave", () => now && (readout.textContent = t(hintOf(now.look))));
  return { node, draw };
}

// A map of more positions than a screen has room for: pooled, on a canvas, and the exact rows of the block that is chosen.

import { el, svg } from "./dom.js";
import { lang, t } from "./lang.js";
import { finely, shown, signed } from "./maps.js";
import { fit, paint } from "./raster.js";
import { css } from "./theme.js";

const TEXT = {
  hint: { en: "Choose a block to see its exact rows.", zh: "选一块，看它的精确各行。" },
  hintOne: { en: "Choose a cell to see its row.", zh: "选一格，看它所在的行。" },
  exact: { en: "Exact rows {a} to {b}, all {n} keys; framed: keys {c} to {d}", zh: "精确的第 {a} 到 {b} 行，全部 {n} 个键；方框：键 {c} 到 {d}" },
  exactOne: { en: "Row {a}, all {n} keys; framed: key {c}", zh: "第 {a} 行，全部 {n} 个键；方框：键 {c}" },
  cellOne: { en: "query {q}, key {k}: {w}", zh: "查询 {q}，键 {k}：{w}" },
  cell: { en: "queries {i}, keys {j}: {w}, the mean over queries of the sum over keys", zh: "查询 {i}，键 {j}：{w}，对键求和再对查询取平均" },
  table: { en: "Exact weights of queries {a} to {b} on keys {c} to {d}", zh: "查询 {a} 到 {b} 对键 {c} 到 {d} 的精确权重" },
  queries: { en: "queries", zh: "查询" },
  keys: { en: "keys", zh: "键" },
  single: { en: "Exact rows are those of one head: choose a head.", zh: "精确的行属于单个头：请选一个头。" },
  failed: { en: "The exact rows did not arrive: {why}.", zh: "精确的行未能送达：{why}。" },
};
const KEPT = 24; // answers remembered
const SIDE = 768; // px of a map that is taken along
const LEVELS = 65535; // of a weight: explorer/looks.py

/**
 * @param {{onLock: (row: number, column: number) => void, onExact: () => void, colours: () => Uint8ClampedArray}} how onExact: rows have come
 * @returns {{node: HTMLElement, draw: (look: any, space: number, big: boolean) => void, exact: (look: any) => any, drawing: (look: any) => any}}
 *   draw: with what the attention view looks at. exact: the exact rows of the locked block, or null while they are not here.
 *   drawing: the map, and below it these rows, as SVG
 */
export function longMap({ onLock, onExact, colours }) {
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
  const sheet = el("div", { class: "tfe-scroll", tabindex: "0", role: "region" });
  const found = el("div", { class: "tfe-long-exact", hidden: true }, name, exact, sheet);
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const node = el("div", { class: "tfe-long" }, map, readout, error, found);

  const kept = new Map(); // promises of rows by their address, the newest last
  const here = new Map(); // the rows that have come, of those
  let now = null; // {look, side, left, top, width}
  let painted = ""; // what the canvas shows
  let turn = 0;

  const factors = (it) => it.kind.pooled;
  const hintOf = (look) => (look.name.includes(".") ? (factors(look.it)[0] > 1 ? TEXT.hint : TEXT.hintOne) : TEXT.single);

  async function fetched(address) {
    const answer = await fetch(new URL(address, location.origin));
    if (!answer.ok) throw new Error(`${answer.status}`);
    return new Uint16Array(await answer.arrayBuffer());
  }

  /** Rows under way or here; what failed is asked for anew the next time. */
  function rowsOf(address) {
    if (!kept.has(address)) {
      kept.set(address, fetched(address));
      kept.get(address).then(
        (rows) => kept.has(address) && here.set(address, rows),
        () => kept.delete(address),
      );
      if (kept.size > KEPT) {
        const oldest = kept.keys().next().value;
        kept.delete(oldest);
        here.delete(oldest);
      }
    }
    return kept.get(address);
  }

  function addressOf({ it, layer, head }, i) {
    const [a, b] = it.queriesOf(i);
    return `${it.kind.look}/${layer - 1}/${head - 1}/${a}/${b - a + 1}`;
  }

  /** The exact rows of the block that is locked under one head, as maps.js tells of them; null where there are none, or not yet. */
  function exactOf(look) {
    const [i] = look.rows;
    const rows = look.rows.length === 1 && look.name.includes(".") ? here.get(addressOf(look, i)) : null;
    if (!rows) return null;
    const [a, b] = look.it.queriesOf(i);
    const n = look.it.all.keys.length;
    const later = (r, k) => look.it.kind.mask === "causal" && k > a + r;
    return { first: a, count: b - a + 1, at: (r, k) => (later(r, k) ? Number.NaN : rows[r * n + k] / LEVELS) };
  }

  /** What the canvas shows: what is under the threshold as 0. */
  const cells = ({ it, name: which, threshold: least }) => (least ? it.map(which).data.map((w) => (w < least ? 0 : w)) : it.map(which).data);

  /** @param {any} look as attention.js reads it: it, name, layer, head, rows, columns, threshold */
  function draw(look, space, big) {
    const { it } = look;
    const side = Math.max(160, Math.min(space - 56, big ? innerHeight - 330 : 560));
    now = { look, space, left: 48, top: 20, side };
    const key = JSON.stringify([look.name, look.threshold, side, css("--sunk"), devicePixelRatio]);
    if (painted !== key || map.dataset.turn !== String(it.turn)) {
      painted = key;
      map.dataset.turn = String(it.turn);
      const context = fit(canvas, side, side);
      paint(context, { data: cells(look), rows: it.rows, columns: it.columns, colours: colours(), empty: css("--sunk"), x: 0, y: 0, width: side, height: side });
      const { queries, keys } = it.kind.whole;
      const ticks = [0, 0.25, 0.5, 0.75, 1];
      marks.replaceChildren(
        ...ticks.map((at) => el("span", { text: signed(it.keyNumber(Math.round(at * (keys.length - 1)))), style: { left: `${now.left + at * side - 24}px`, top: "0", width: "48px", textAlign: "center" } })),
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
    const { queries, keys } = it.all;
    const [a, b] = it.queriesOf(i);
    const had = exactOf(look) !== null;
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
    if (!had) onExact();
    const found_ = exactOf(look);
    if (!found_) return; // so many were asked for meanwhile that these left
    const j = look.columns[0];
    const [c, d] = j === undefined ? [0, Math.min(n, factors(it)[1]) - 1] : it.keysOf(j);
    const height = 12;
    const wide = Math.max(160, space - 8);
    const data = Float32Array.from(rows, (_, place) => found_.at(Math.floor(place / n), place % n));
    paint(fit(strip, wide, height * (b - a + 1)), { data, rows: b - a + 1, columns: n, colours: colours(), empty: css("--sunk"), x: 0, y: 0, width: wide, height: height * (b - a + 1) });
    Object.assign(frame.style, { left: `${(c / n) * wide}px`, top: "0", width: `${Math.max(4, ((d - c + 1) / n) * wide)}px`, height: `${height * (b - a + 1)}px` });
    const where = { a, b, c: signed(it.keyNumber(c)), d: signed(it.keyNumber(d)), n };
    name.textContent = t(it.blocks ? TEXT.exact : TEXT.exactOne, where);
    sheet.hidden = !it.blocks; // the sentence says its only number
    const title = t(TEXT.table, where);
    sheet.setAttribute("aria-label", title);
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("thead", {}, el("tr", {}, el("td"), Array.from({ length: d - c + 1 }, (_, y) => el("th", { scope: "col", text: `${shown(keys[c + y])}·${signed(it.keyNumber(c + y))}` })))),
        el(
          "tbody",
          {},
          Array.from({ length: b - a + 1 }, (_, x) =>
            el(
              "tr",
              {},
              el("th", { scope: "row", text: `${shown(queries[a + x])}·${a + x}` }),
              Array.from({ length: d - c + 1 }, (__, y) => el("td", { text: Number.isNaN(data[x * n + c + y]) ? "–" : data[x * n + c + y].toFixed(4) })),
            ),
          ),
        ),
      ),
    );
    found.hidden = false;
    node.dataset.exact = `${look.name} ${a} ${b} ${c} ${d} ${lang()}`;
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
    const weight = it.map(which).data[i * it.columns + j];
    const w = Number.isNaN(weight) ? "–" : finely(weight);
    readout.textContent = it.blocks ? t(TEXT.cell, { i: it.queryAt(i), j: it.keyAt(j), w }) : t(TEXT.cellOne, { q: `${shown(it.query(i))}·${it.queryAt(i)}`, k: `${shown(it.key(j))}·${it.keyAt(j)}`, w });
  });
  canvas.addEventListener("pointerleave", () => now && (readout.textContent = t(hintOf(now.look))));

  /** The map with its axes, what is locked, and below it the exact rows: a raster with lines and words around it, for taking along. */
  function drawing(look) {
    const { it } = look;
    const [left, top, wide] = [84, 40, SIDE];
    const raster = (how, width, height) => {
      const picture = document.createElement("canvas");
      [picture.width, picture.height] = [width, height];
      paint(picture.getContext("2d"), { colours: colours(), empty: css("--sunk"), x: 0, y: 0, width, height, ...how });
      return picture.toDataURL();
    };
    const words = (x, y, said, more = {}) => svg("text", { x, y, "font-size": 12, fill: "var(--ink3)", text: said, ...more });
    const image = (x, y, width, height, href) => svg("image", { x, y, width, height, href, preserveAspectRatio: "none", style: { imageRendering: "pixelated" } });
    const box = (x, y, width, height, role) => svg("rect", { x, y, width, height, fill: "none", stroke: `var(--${role})`, "stroke-width": 2 });
    const parts = [words(left, 14, `${t(TEXT.keys)} →`), words(4, 14, `${t(TEXT.queries)} ↓`)];
    parts.push(image(left, top, wide, wide, raster({ data: cells(look), rows: it.rows, columns: it.columns }, it.columns, it.rows)));
    const { queries, keys } = it.all;
    for (const at of [0, 0.25, 0.5, 0.75, 1]) {
      parts.push(words(left + at * wide, top - 8, signed(it.keyNumber(Math.round(at * (keys.length - 1)))), { "text-anchor": "middle" }));
      parts.push(words(left - 8, top + at * wide + 4, Math.round(at * (queries.length - 1)), { "text-anchor": "end" }));
    }
    const [i, j] = [look.rows[0], look.columns[0]];
    const [w, h] = [wide / it.columns, wide / it.rows];
    if (i !== undefined) parts.push(box(left, top + i * h, wide, Math.max(3, h), "query"));
    if (i !== undefined && j !== undefined) parts.push(box(left + j * w, top + i * h, Math.max(4, w), Math.max(4, h), "key"));
    let height = top + wide + 16;
    const exact_ = exactOf(look);
    if (exact_) {
      const { first, count, at } = exact_;
      const tall = 12 * count;
      const [c, d] = j === undefined ? [0, 0] : it.keysOf(j);
      parts.push(words(left, height + 14, t(it.blocks ? TEXT.exact : TEXT.exactOne, { a: first, b: first + count - 1, c: signed(it.keyNumber(c)), d: signed(it.keyNumber(d)), n: keys.length })));
      const data = Float32Array.from({ length: count * keys.length }, (_, place) => at(Math.floor(place / keys.length), place % keys.length));
      parts.push(image(left, height + 24, wide, tall, raster({ data, rows: count, columns: keys.length }, Math.min(keys.length, 2 * wide), count)));
      if (j !== undefined) parts.push(box(left + (c / keys.length) * wide, height + 24, Math.max(4, ((d - c + 1) / keys.length) * wide), tall, "key"));
      height += 40 + tall;
    }
    return svg("svg", { viewBox: `0 0 ${left + wide + 24} ${height}` }, parts);
  }

  return { node, draw, exact: exactOf, drawing };
}

// A table {columns, rows} as an element, and its columns as arrays that are saved.

import { el } from "./dom.js";
import { signed } from "./signs.js";

const LONGEST = 200; // rows of a table that stand at once

/**
 * A table {caption, columns, rows, here} as an element; here: the number of a row that stands out.
 * Of one longer than `longest` the rows around it.
 */
export function tableOf({ caption, columns, rows, here = null }, longest = LONGEST) {
  const cell = (value, i, row) =>
    el(i ? "td" : "th", {
      scope: i ? null : "row",
      class: [typeof value === "number" ? "" : "text", row === here ? "here" : ""].join(" ")
        .trim() || null,
      text: typeof value === "number" ? signed(value) : (value ?? "–"),
    });
  const from = Math.max(0, Math.min(rows.length - longest, (here ?? 0) - longest / 2));
  const body = rows.slice(from, from + longest)
    .map((row, n) => el("tr", {}, row.map((value, i) => cell(value, i, from + n))));
  return el(
    "table",
    { class: "tfe-table" },
    el("caption", { class: "tfe-note", text: caption }),
    el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col", text: name })))),
    el("tbody", {}, body),
  );
}

/** Its columns as arrays; a cell that is missing is NaN, or no text. */
export function columnsOf({ columns, rows }) {
  const out = { columns };
  columns.forEach((_, at) => {
    const cells = rows.map((row) => row[at]);
    out[`column_${at}`] = cells.some((cell) => typeof cell === "string")
      ? cells.map((cell) => String(cell ?? ""))
      : { shape: [cells.length], data: Float64Array.from(cells, (cell) => cell ?? Number.NaN) };
  });
  return out;
}

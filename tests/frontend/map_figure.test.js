import assert from "node:assert/strict";
import "./page.js";
import { mapFigure } from "../../explorer/frontend/lib/map_figure.js";

const AT = {
  size: 12,
  index: 11,
  rows: [{ text: "a<b", at: 0 }, { text: "b", at: 1 }],
  names: [{ text: "x", at: 0 }, { text: "y", at: 1 }, { text: "z", at: 2 }],
  cell: 40,
  row: 30,
  rotated: false,
  labels: 30,
  bars: 52,
  left: 60,
  side: 0,
  nth: { row: 1, column: 1 },
};
const MAP = { rows: 2, columns: 3, data: [0.9, 0.1, Number.NaN, 0.2, 0.3, 0.5] };
const of = (more) =>
  mapFigure({
    at: AT,
    map: MAP,
    here: [1],
    locked: { rows: [0] },
    by: false,
    threshold: 0.15,
    big: false,
    ...more,
  });

Deno.test("cells under the threshold are 0", () => {
  const { data, layout } = of();
  assert.deepEqual(data[0].z, [[0.9, 0, null], [0.2, 0.3, 0.5]]);
  assert.deepEqual([data[0].zmin, data[0].zmax], [0, 1]);
  assert.equal(data[0].colorscale.length, 33);
  assert.deepEqual(layout.yaxis.range, [1.5, -0.5]);
});

Deno.test("large cells have numbers", () => {
  const numbers = of().data.find(({ mode }) => mode === "text");
  assert.deepEqual(numbers.text, [".90", ".20", ".30", ".50"]);
  assert.deepEqual([numbers.x, numbers.y], [[0, 0, 1, 2], [0, 1, 1, 1]]);
  assert.equal(of({ at: { ...AT, cell: 12 } }).data.some(({ mode }) => mode === "text"), false);
});

Deno.test("locked rows stand as bars above", () => {
  const [bars] = of().data.filter(({ type }) => type === "bar");
  assert.deepEqual(bars.y, [0.9, 0.1, 0]);
  assert.deepEqual(bars.marker.opacity, [0.45, 1, 0.45]);
  assert.equal(bars.yaxis, "y2");
});

Deno.test("read by columns, keys are summed", () => {
  const { data } = of({ by: true, at: { ...AT, side: 76 } });
  const [above, beside] = data.filter(({ type }) => type === "bar");
  assert.deepEqual(above.y.map((value) => value.toFixed(2)), ["1.00", "0.36", "0.45"]);
  assert.deepEqual(beside.x, [0.1, 0.3]);
  assert.equal(beside.orientation, "h");
});

Deno.test("names are never markup", () => {
  const { ticktext } = of().layout.yaxis;
  assert.match(ticktext[0].html, /a&#60;b/);
  assert.match(ticktext[0].html, /var\(--query\)/);
  assert.match(ticktext[1].html, /var\(--ink3\)/);
});

Deno.test("what is locked is outlined", () => {
  const lines = of().layout.shapes.filter(({ line }) => line?.color === "var(--query)");
  assert.equal(lines.length, 1);
  assert.ok(Math.abs(lines[0].y0 - (-0.5 + 1.25 / 30)) < 1e-9);
  const keys = of().layout.shapes.filter(({ line }) => line?.color === "var(--key)");
  assert.equal(keys.length, 1);
});

Deno.test("crowded names leave out some", () => {
  const rows = Array.from({ length: 9 }, (_, at) => ({ text: "w", at }));
  const map = { rows: 9, columns: 3, data: new Array(27).fill(0) };
  const { layout } = of({ at: { ...AT, rows, nth: { row: 3, column: 1 } }, map, here: [] });
  assert.deepEqual(layout.yaxis.tickvals, [0, 3, 6]);
  const locked = of({
    at: { ...AT, rows, nth: { row: 3, column: 1 } },
    map,
    here: [],
    locked: { rows: [4] },
  });
  assert.deepEqual(locked.layout.yaxis.tickvals, [0, 4]);
});

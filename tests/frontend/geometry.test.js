import assert from "node:assert/strict";
import "./page.js";
import { beside, figureOf, markOf, pixelKeys, rowsOf } from "../../explorer/frontend/lib/panels.js";
import * as mosaic from "../../explorer/frontend/lib/mosaic.js";
import { border, rgb, table } from "../../explorer/frontend/lib/raster.js";
import * as sheet from "../../explorer/frontend/lib/sheet.js";
import { CONFIG, escape, resolve } from "../../explorer/frontend/lib/plot.js";

const PEN = { width: 600, tall: 0, big: false, narrow: false };

Deno.test("panels share the width", () => {
  const { data, layout } = figureOf(
    [{ title: "a", side: 4, marks: [markOf(1, 2, "query")] }, { title: "b", side: 4, under: "u" }],
    PEN,
  );
  assert.equal(data.length, 2);
  assert.deepEqual([data[1].xaxis, data[1].yaxis], ["x2", "y2"]);
  assert.ok(Math.abs(layout.xaxis2.domain[1] - 596 / 600) < 1e-9);
  assert.deepEqual(layout.xaxis.range, [-0.5, 3.5]);
  assert.deepEqual(layout.yaxis.range, [3.5, -0.5]);
  assert.equal(layout.shapes.length, 2);
  assert.deepEqual([layout.shapes[0].x0, layout.shapes[0].y1], [1.5, 1.5]);
  assert.deepEqual(layout.annotations.map(({ text }) => text), ["a", "b", "u"]);
});

Deno.test("a phone has two panels to a line", () => {
  const panels = [1, 2, 3].map((title) => ({ title: String(title), side: 4 }));
  const { layout } = figureOf(panels, { ...PEN, width: 320, narrow: true });
  assert.equal(layout.xaxis.domain[0], layout.xaxis3.domain[0]);
  assert.ok(layout.yaxis3.domain[1] < layout.yaxis.domain[0]);
});

Deno.test("the pixel beside another", () => {
  const plane = { rows: 3, columns: 4 };
  assert.equal(beside(plane, 5, "pixel", 1), 6);
  assert.equal(beside(plane, 5, "row", 1), 9);
  assert.equal(beside(plane, 11, "pixel", 1), 11);
  assert.equal(beside(plane, 0, "row", -1), 0);
  assert.deepEqual(rowsOf([1, 2, 3, 4], 2), [[1, 2], [3, 4]]);
  const keys = pixelKeys("at");
  assert.deepEqual(keys.bounds(plane), { at: plane });
  assert.ok(keys.same(plane, { rows: 3, columns: 4 }) && !keys.same(plane, { rows: 3 }));
});

Deno.test("a strip of pictures has gaps", () => {
  const rows = mosaic.strip(2, (at) => new Array(1024).fill(at + 1));
  assert.equal(rows.length, 32);
  assert.equal(rows[0].length, 66);
  assert.deepEqual(rows[0].slice(31, 35), [1, null, null, 2]);
  assert.equal(mosaic.pictureAt(35), 1);
  assert.equal(mosaic.edgeAt(1), 33.5);
  assert.deepEqual(mosaic.stripAxes(2).x.range, [-0.5, 65.5]);
  assert.deepEqual([mosaic.nth(0), mosaic.nth(2)], ["", "3"]);
  assert.deepEqual(mosaic.axesOf(1), { xaxis: "x2", yaxis: "y2" });
});

Deno.test("squares and signed maps", () => {
  const shape = mosaic.square(0, 9, 4, 8, { opacity: 1 });
  assert.deepEqual([shape.x0, shape.x1, shape.y0, shape.y1], [3.5, 7.5, 3.5, 7.5]);
  const map = mosaic.signedMap([[-1, 0.5]], 1, 1, [], PEN);
  assert.deepEqual(map.text, [["−1.00", "+0.50"]]);
  assert.deepEqual([map.zmin, map.zmax], [-1, 1]);
  const layout = mosaic.panels(["a", "b"], { ...PEN, width: 800 }, [4, 8]);
  assert.deepEqual([layout.grid.rows, layout.grid.columns], [1, 2]);
  assert.deepEqual(layout.yaxis2.range, [7.5, -0.5]);
});

Deno.test("colours between stops", () => {
  assert.deepEqual(rgb("#0a10ff"), [10, 16, 255]);
  const colours = table([[0, "#000000"], [0.5, "#ff0000"], [1, "#ffffff"]]);
  assert.deepEqual([...colours.slice(0, 3)], [0, 0, 0]);
  assert.deepEqual([...colours.slice(765)], [255, 255, 255]);
  assert.ok(colours[3 * 127] > 250 && colours[3 * 127 + 1] < 3);
  assert.ok(table([[0, "#000000"], [1, "#ffffff"]], 0.5)[3 * 64] > 100);
});

Deno.test("the border of a mask", () => {
  assert.equal(border([0, 0, 0, 1], 2, 2, 10, 0), "M10,10L20,10L20,20L10,20Z");
  assert.equal(border([0, 0, 0, 1], 2, 2, 10, 1), "M11,11L19,11L19,19L11,19Z");
  assert.equal(border([1, 0, 0, 1], 2, 2, 1, 0).split("L").length, 8); // two squares, one path
  assert.equal(border([1, 1, 1, 1], 2, 2, 5, 0), "M0,0L10,0L10,10L0,10Z");
  assert.equal(border([0, 0, 0, 0], 2, 2, 5, 0), "");
});

Deno.test("what Plotly figures share", () => {
  assert.equal(sheet.weightScale().length, 33);
  assert.deepEqual(sheet.weightScale()[0], [0, "#ffffff"]);
  const axis = sheet.namedAxis(["a", "b", "c"], 12, 2);
  assert.deepEqual([axis.tickvals, axis.ticktext], [[0, 2], ["a", "c"]]);
  assert.equal(sheet.headName("1.3"), "1·3");
  assert.deepEqual(sheet.headChoice("head", ["1.3"]).options, [{ value: "1.3", label: "1·3" }]);
  assert.equal(sheet.lockFrame("2", 0, 1, 2, 3).yref, "y2");
  assert.equal(sheet.partTitle("t", 0, 1, 12).text, "t");
});

Deno.test("a sheet places its parts in px", () => {
  const pen = { type: (size) => size, cut: (text) => text };
  const page = new sheet.Sheet(pen);
  const part = page.part({ x0: 20, x1: 60, y0: 0, y1: 50 }, {
    x: { range: [0, 4] },
    y: { range: [0, 5] },
  });
  part.rect(1, 2, 0, 1, { fill: "query" });
  part.add({ type: "bar" });
  page.write(5, 10, "a", { colour: "ink" });
  const { data, layout } = page.figure({ x0: 0, x1: 100, y0: 0, y1: 100 });
  assert.deepEqual([part.x(2), part.backX(40), part.step], [40, 2, { cell: 10, row: 10 }]);
  assert.deepEqual(layout.xaxis2.domain, [0.2, 0.6]);
  assert.deepEqual(layout.yaxis2.domain, [0.5, 1]);
  assert.deepEqual(layout.yaxis2.range, [5, 0]);
  assert.deepEqual([layout.shapes[0].xref, layout.shapes[0].fillcolor], ["x2", "var(--query)"]);
  assert.deepEqual([data[0].text, data[0].textfont.color], [["a"], ["var(--ink)"]]);
  assert.deepEqual([data[1].xaxis, data[1].yaxis], ["x2", "y2"]);
});

Deno.test("tokens become colours, text no markup", () => {
  const list = [1, 2, 3];
  const figure = resolve({ a: ["var(--query)"], list, bytes: Uint8Array.of(1), n: null });
  assert.deepEqual(figure.a, ["#00--query"]);
  assert.equal(figure.list, list);
  assert.ok(figure.bytes instanceof Uint8Array && figure.n === null);
  assert.equal(escape("<a b='c'>&"), "&#60;a b=&#39;c&#39;&#62;&#38;");
  assert.deepEqual([CONFIG.showSendToCloud, CONFIG.plotlyServerURL], [false, ""]);
});

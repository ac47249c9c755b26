import assert from "node:assert/strict";
import "./page.js";
import { setLang } from "../../explorer/frontend/lib/lang.js";
import * as signs from "../../explorer/frontend/lib/signs.js";

Deno.test("what nobody sees is named", () => {
  assert.equal(signs.sign(32), "␣");
  assert.equal(signs.sign(0x202e), "U+202E");
  assert.equal(signs.sign(0x301), "◌́");
  assert.equal(signs.shown(""), "∅");
  assert.equal(signs.shown("a b\n\u0001\u202e"), "a␣b⏎␁⟨U+202E⟩");
  assert.equal(signs.mark(""), "");
  assert.equal(signs.mark("\t"), "⇥");
  assert.ok(signs.isWord("3") && !signs.isWord("</s>") && !signs.isWord("…"));
});

Deno.test("numbers have the sign of minus", () => {
  assert.equal(signs.number(-1.005, 1), "−1.0");
  assert.equal(signs.number(-0.001), "0.00");
  assert.equal(signs.number(Number.NaN), "–");
  assert.equal(signs.plus(0.5), "+0.50");
  assert.equal(signs.plus(0.001), "0.00");
  assert.equal(signs.plus(-2, 0), "−2");
  assert.equal(signs.signed(-7), "−7");
});

Deno.test("weights are as short as they may be", () => {
  assert.equal(signs.short(0.794), ".79");
  assert.equal(signs.short(0.996), "1.0");
  assert.equal(signs.weight(0.25), "0.25");
  assert.equal(signs.weight(0.0012), "0.0012");
  assert.equal(signs.weight(0.00001), "<0.0001");
  assert.equal(signs.percent(0.005), "less than 1 %");
  assert.equal(signs.percent(0.304), "30 %");
  assert.equal(signs.rounded(0.123456), 0.1235);
  assert.equal(signs.count(12345.4), "12,345");
  assert.equal(signs.bits(Math.LN2), "1.00");
});

Deno.test("an axis ends at a round number", () => {
  assert.equal(signs.ceiling(0.3), 0.5);
  assert.equal(signs.ceiling(7), 10);
  assert.equal(signs.ceiling(2), 2);
  assert.equal(signs.ceiling(30, [1, 4, 10]), 40);
});

Deno.test("powers and ordinals", () => {
  assert.equal(signs.raised(-17), "⁻¹⁷");
  assert.equal(signs.tiny(4.8e-7), "4.8\u00a0×\u00a010⁻⁷");
  assert.equal(signs.tiny(0), "0");
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 112].map(signs.ordinal), [
    "1st",
    "2nd",
    "3rd",
    "4th",
    "11th",
    "12th",
    "13th",
    "21st",
    "112th",
  ]);
});

Deno.test("a place in both languages", () => {
  assert.equal(signs.placed("the", 4), "“the” (4)");
  assert.equal(signs.named(10, 2), "“⏎” (2)");
  assert.deepEqual(signs.NAME("a b", -1, "key"), { text: "“a␣b” (−1)", role: "key" });
  setLang("zh");
  assert.equal(signs.placed("the", 4), "“the”（4）");
  assert.equal(signs.ordinal(3), "3");
  setLang("en");
});

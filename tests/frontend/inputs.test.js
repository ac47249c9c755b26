import assert from "node:assert/strict";
import "./page.js";
import { badgeOf, grouped } from "../../explorer/frontend/lib/badge.js";
import { bitRow, insertWord, placesOf, textOf } from "../../explorer/frontend/lib/keyboards.js";
import { keys, plain } from "../../explorer/frontend/lib/keys.js";
import { seedBox } from "../../explorer/frontend/lib/seed.js";
import { keep, kept } from "../../explorer/frontend/lib/session_storage.js";
import { bus } from "../../explorer/frontend/lib/state.js";
import { columnsOf, tableOf } from "../../explorer/frontend/lib/tables.js";

Deno.test("bits are read as anyone types them", () => {
  assert.deepEqual(placesOf("1 0,·", 4), ["1", "0", "."]);
  assert.deepEqual(placesOf("１０", 4), ["1", "0"]);
  assert.equal(placesOf("102", 4), null);
  assert.equal(placesOf("11111", 4), null);
  assert.equal(textOf(["1", ".", "0", "."]), "1.0");
});

Deno.test("a row of bits writes whole texts", () => {
  const texts = [];
  const row = bitRow((text) => texts.push(text));
  row.set("10", 4);
  assert.equal(row.node.children.length, 4);
  assert.deepEqual(row.node.children.map((one) => one.getAttribute("aria-pressed")), [
    "true",
    "false",
    "mixed",
    "mixed",
  ]);
  row.set("xx", 4);
  assert.ok(row.node.children[0].disabled);
});

Deno.test("a word goes where the caret stands", () => {
  const write = (value, at, word, before) => {
    const field = {
      value,
      selectionStart: at,
      selectionEnd: at,
      setSelectionRange: (start) => (field.caret = start),
      dispatchEvent: () => {},
    };
    insertWord(field, word, before);
    return [field.value, field.caret];
  };
  assert.deepEqual(write("", 0, "John"), ["John ", 5]);
  assert.deepEqual(write("John", 4, "went"), ["John went ", 10]);
  assert.deepEqual(write("to ", 3, "kitchen", "the"), ["to the kitchen ", 15]);
  assert.deepEqual(write("to the ", 7, "kitchen", "the"), ["to the kitchen ", 15]);
  assert.deepEqual(write("John went ", 10, "."), ["John went. ", 11]);
});

Deno.test("numbers in groups of three", () => {
  assert.equal(grouped("1234567"), "1,234,567");
});

Deno.test("the badge says where a result is from", () => {
  let repaints = 0;
  const badge = badgeOf(() => (repaints += 1));
  const wish = { pending: false, stopped: false, lost: false, heard: true };
  const say = (value, more = {}) => {
    badge.paint({ value, wish, wrong: null, differs: () => false, ...more });
    return badge.node.textContent;
  };
  assert.equal(say({ state: "stored" }), "stored");
  assert.equal(
    say({ state: "live", badge: { milliseconds: 1500, device: "CPU" } }),
    "live · 1.5 s · CPU",
  );
  assert.equal(say({ state: "live", request: {} }, { differs: () => true }), "not run yet");
  assert.equal(say({ state: "stored" }, { wrong: {} }), "refused");
  assert.equal(say({}, { wish: { ...wish, stopped: true } }), "stopped");
  assert.equal(say({}, { wish: { ...wish, lost: true } }), "no connection");
  const waiting = { state: "waiting", badge: { place: 2, of: 3, seconds: 0.2 } };
  assert.equal(say(waiting, { wish: { ...wish, pending: true } }), "2nd of 3 · about 1 s");
  assert.equal(say({}, { wish: { ...wish, pending: true } }), "live · running");
  bus.fire("changing", { by: "panel", state: "unrun" });
  bus.fire("changing", { by: "panel", state: "unrun" });
  assert.equal(repaints, 1);
  assert.equal(say({ state: "stored" }), "not run yet");
});

Deno.test("a seed is never replaced by another", () => {
  const seeds = [];
  const box = seedBox({
    most: 9,
    className: "",
    onSeed: (seed) => seeds.push(seed),
    onWrong: () => seeds.push("wrong"),
    onEnter: () => {},
  });
  const type = (text) => {
    box.node.value = text;
    box.node.dispatchEvent(new Event("input"));
  };
  box.show(3);
  type("7");
  type("12");
  assert.deepEqual(seeds, [7, "wrong"]);
  assert.equal(box.node.value, "12");
  assert.match(box.judge().en, /The seed is 12; .* from 0 to 9/);
});

Deno.test("keys act inside their view alone", () => {
  const view = document.createElement("div");
  const inner = Object.assign(document.createElement("p"), { matches: () => false });
  Object.assign(view, {
    contains: (node) => node === inner,
    matches: () => false,
    querySelector: () => null,
  });
  const pressed = [];
  const stop = keys(view, { ArrowLeft: () => pressed.push("left"), x: () => false });
  const press = (key, { target = inner, ...more } = {}) => {
    const event = Object.assign(new Event("keydown", { cancelable: true }), { key, ...more });
    Object.defineProperty(event, "target", { value: target });
    document.dispatchEvent(event);
    return event.defaultPrevented;
  };
  assert.ok(press("ArrowLeft"));
  assert.ok(!press("x"));
  assert.ok(!press("ArrowLeft", { ctrlKey: true }));
  const outside = Object.assign(document.createElement("p"), { matches: () => false });
  assert.ok(!press("ArrowLeft", { target: outside }));
  stop();
  press("ArrowLeft");
  assert.deepEqual(pressed, ["left"]);
  assert.ok(!plain({ isComposing: true }) && plain({ shiftKey: true }));
});

Deno.test("a tab that may not store remembers", () => {
  keep("a", "1");
  assert.equal(kept("a"), "1");
  assert.equal(kept("b"), null);
  keep("large", "x".repeat(11_000_000));
  assert.equal(kept("large").length, 11_000_000);
  assert.equal(sessionStorage.getItem("large"), null);
});

Deno.test("columns of a table are arrays", () => {
  const table = { columns: ["word", "n"], rows: [["a", 1], [null, null]] };
  const { column_0: words, column_1: numbers } = columnsOf(table);
  assert.deepEqual(words, ["a", ""]);
  assert.deepEqual([...numbers.data], [1, Number.NaN]);
  assert.deepEqual(numbers.shape, [2]);
});

Deno.test("a long table stands around its row", () => {
  const rows = Array.from({ length: 9 }, (_, n) => [`r${n}`, -n]);
  const node = tableOf({ caption: "c", columns: ["a", "b"], rows, here: 7 }, 4);
  const body = node.children.at(-1);
  assert.equal(body.children.length, 4);
  assert.equal(body.children[0].textContent, "r5−5");
  assert.ok(body.children[2].children[1].classList.contains("here"));
});

import assert from "node:assert/strict";
import "./page.js";
import {
  among,
  flipped,
  headBeside,
  headsOf,
  KINDS,
  looking,
  modelOf,
  modelsOf,
  oneOf,
  pictureOf,
  sameText,
  thereOf,
} from "../../explorer/frontend/lib/selection.js";

Deno.test("a position stays inside", () => {
  const { read, move, spell, ends } = KINDS.position;
  assert.equal(read("3", { count: 5 }), 3);
  assert.equal(read("9", { count: 5 }), 4);
  assert.equal(read("none", { count: 5, pick: 2 }), null);
  assert.equal(read("x", { count: 5, pick: 2 }), 2);
  assert.equal(move(null, 1, { count: 5 }), 0);
  assert.equal(move(null, -1, { count: 5 }), 4);
  assert.equal(move(4, 1, { count: 5 }), 4);
  assert.equal(spell(null), "none");
  assert.deepEqual(ends({ count: 5 }), [0, 4]);
});

Deno.test("several positions are a list", () => {
  const { read, add, move, spell } = KINDS.positions;
  assert.deepEqual(read("1,7,1", { count: 5 }), [1, 4]);
  assert.deepEqual(read(null, { count: 5, pick: 3 }), [3]);
  assert.deepEqual(read("none", { count: 5, pick: 3 }), []);
  assert.deepEqual(add([1, 2], 2), [1]);
  assert.deepEqual(add([1], 2), [1, 2]);
  assert.deepEqual(move([1, 3], 1, { count: 5 }), [4]);
  assert.equal(spell([2, 4]), "2,4");
  assert.equal(spell([]), "none");
});

Deno.test("a step begins at its first", () => {
  const { read, there, spell, move } = KINDS.step;
  assert.equal(read(null, { steps: 8 }), 8);
  assert.equal(read("0", { steps: 8 }), 1);
  assert.equal(read("0", { steps: 8, first: 0 }), 0);
  assert.ok(!there({ steps: 8 })("9"));
  assert.ok(there({ steps: 8 })("8"));
  assert.equal(spell(8, { steps: 8 }), null);
  assert.equal(spell(3, { steps: 8 }), 3);
  assert.equal(move(8, 1, { steps: 8 }), 8);
});

Deno.test("a head goes round", () => {
  const bounds = { layers: 2, heads: 3, names: ["mean"] };
  const { read, move, there } = KINDS.head;
  assert.equal(read("9.9", bounds), "2.3");
  assert.equal(read("mean", bounds), "mean");
  assert.equal(read("x", { ...bounds, pick: "mean" }), "mean");
  assert.equal(move("2.3", 1, bounds), "1.1");
  assert.equal(move("1.1", -1, bounds), "2.3");
  assert.equal(move("mean", 1, bounds), "1.2");
  assert.ok(there(bounds)("2.3") && !there(bounds)("3.1"));
  assert.equal(headBeside("1.3", "layer", 5, 2, 3), "2.3");
  assert.equal(headBeside("1.3", "head", 1, 2, 3), "1.3");
  assert.deepEqual(headsOf(2, 2), [[1, 1], [1, 2], [2, 1], [2, 2]]);
});

Deno.test("a pixel is row and column", () => {
  const plane = { rows: 4, columns: 5 };
  assert.equal(KINDS.pixel.read("2,3", plane), 13);
  assert.equal(KINDS.pixel.read("4,0", plane), null);
  assert.equal(KINDS.pixel.spell(13, plane), "2,3");
  assert.ok(KINDS.pixel.there(plane)("3,4"));
});

Deno.test("pairs, choices, flags and numbers", () => {
  assert.deepEqual(KINDS.pair.read("2.1", { counts: [3, 2] }), [2, 1]);
  assert.deepEqual(KINDS.pair.read("3.1", { counts: [3, 2], pick: [0, 0] }), [0, 0]);
  assert.equal(KINDS.pair.spell([2, 13]), "2.13");
  assert.equal(KINDS.choice.move("b", 1, { names: ["a", "b"] }), "a");
  assert.equal(KINDS.choice.spell("a", { names: ["a", "b"] }), null);
  assert.equal(KINDS.choice.read("z", { names: ["a", "b"] }), "a");
  assert.equal(KINDS.flag.read("1"), true);
  assert.equal(KINDS.flag.spell(false), null);
  assert.equal(KINDS.number.read("0.7", { most: 0.5 }), 0.5);
  assert.equal(KINDS.number.read("2.6", { most: 9, whole: true }), 3);
  assert.equal(KINDS.number.read(null, { pick: 0.2 }), 0.2);
  assert.equal(KINDS.number.spell(0.123456, {}), 0.1235);
});

Deno.test("bounds see the keys before", () => {
  const picture = {
    looks: { pos: "position", step: "step" },
    bounds: (run, look) => ({ pos: { count: run.n }, step: { steps: (look.pos ?? 0) + 1 } }),
  };
  const { look, bounds } = looking(picture, { n: 9 }, (key) => ({ pos: "4", step: "99" })[key]);
  assert.deepEqual(look, { pos: 4, step: 5 });
  assert.equal(bounds.step.steps, 5);
  assert.ok(!thereOf(picture, bounds).pos("9"));
});

Deno.test("a figure becomes a scene", async () => {
  const picture = pictureOf({
    TEXT: { board: "b" },
    read: (value) => value.n + 1,
    figure: () => ({ data: [1], layout: { height: 300 } }),
  });
  assert.equal(await picture.read({ n: 1 }), 2);
  assert.equal(picture.label, "b");
  const calls = [];
  picture.scene(null, {}, {
    width: 500,
    tall: 0,
    plot: (box, { data }) => calls.push([box.y1, data]),
    size: (...size) => calls.push(size),
  });
  assert.deepEqual(calls, [[300, [1]], [500, 300, null]]);
});

Deno.test("lists and models", () => {
  assert.deepEqual(flipped([5, 1], 3), [1, 3, 5]);
  assert.deepEqual(flipped([1, 3], 3), [1]);
  assert.equal(among(9, 0, 4), 4);
  const run = { models: [{ key: "a" }, { key: "b" }] };
  assert.equal(modelOf(run, { model: "b" }).key, "b");
  assert.equal(modelOf(run, { model: "z" }).key, "a");
  assert.deepEqual(modelsOf(run), { names: ["a", "b"], pick: "a" });
  const choice = oneOf("k", { en: "K", zh: "键" }, [{ key: 1, name: { en: "one", zh: "一" } }]);
  assert.deepEqual(choice, { key: "k", label: "K", options: [{ value: 1, label: "one" }] });
  const of = (run) => run.text;
  const [was, now] = ["abcd", "abxd"].map((text) => ({ given: 1, text }));
  assert.ok(sameText(was, now, [1], of) && !sameText(was, now, [2], of));
});

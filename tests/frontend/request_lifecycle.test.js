import assert from "node:assert/strict";
import "./page.js";

const FIRST = "task=copy";
document.querySelector = (what) =>
  what.includes("tfe-stored") ? { content: JSON.stringify({ "task=add": "/stored/add" }) } : null;
performance.getEntriesByType = () => [{ type: "navigate" }];
const before = globalThis.fetch;
globalThis.fetch = (address) =>
  Promise.resolve(
    address === "/stored/add" ? Response.json({ ask: { state: "stored" } }) : new Response("", {
      status: 404,
    }),
  );
// wire.js looks at silent streams now and then, which no test waits for.
const ticking = globalThis.setInterval;
globalThis.setInterval = () => 0;
const { asking } = await import("../../explorer/frontend/lib/request_lifecycle.js");
const { bus, linkRefusal, request } = await import("../../explorer/frontend/lib/state.js");
const stored = await import("../../explorer/frontend/lib/stored.js");
globalThis.setInterval = ticking;
globalThis.fetch = before;

const NO_LINK = { en: "no link", zh: "没有链接" };
const sent = [];
let paints = 0;
const emit = { ask: (detail) => sent.push(detail), stop: () => sent.push("stop") };
const wish = asking({ emit, first: FIRST, noLink: NO_LINK, paint: () => (paints += 1) });

Deno.test("a request goes to the model", () => {
  const heard = [];
  const stop = bus.on("asking", (yes) => heard.push(yes));
  wish.begin("task=sort", { query: "task=sort" });
  assert.deepEqual(sent, [{ query: "task=sort" }]);
  assert.ok(wish.pending && !wish.heard);
  assert.ok(wish.receive({ state: "running", query: "task=sort" }));
  assert.ok(wish.heard && wish.pending);
  assert.ok(wish.receive({ state: "live", query: "task=sort" }));
  assert.ok(!wish.pending);
  assert.equal(request.get(), "task=sort");
  assert.deepEqual(heard, [true, false]);
  assert.ok(paints > 0);
  stop();
});

Deno.test("what was stopped says nothing more", () => {
  wish.begin(null, { set: 1 });
  wish.stop();
  assert.equal(sent.at(-1), "stop");
  assert.ok(wish.stopped && !wish.pending);
  assert.ok(!wish.receive({ state: "running" }));
});

Deno.test("a result without a query has no link", () => {
  wish.begin(null, { set: 2 });
  assert.ok(wish.receive({ state: "live", query: null }));
  assert.equal(linkRefusal(), NO_LINK);
  wish.begin(null, { set: 3 });
  wish.receive({ state: "live", query: "task=sort" });
  assert.equal(linkRefusal(), null);
});

Deno.test("the wish is kept over a reload", () => {
  wish.begin(null, { set: 4 }, { changes: true });
  const name = Object.keys(sessionStorage).find((key) => key.startsWith("tfe-wish"));
  assert.equal(JSON.parse(sessionStorage.getItem(name)).detail.set, 4);
  assert.ok(wish.changes);
  wish.receive({ state: "live", query: "task=sort" });
  assert.equal(sessionStorage.getItem(name), "");
});

Deno.test("a stored result needs no model", async () => {
  const count = sent.length;
  const shown = [];
  const stop = bus.on("stored", (values) => shown.push(values));
  globalThis.fetch = () => Promise.resolve(Response.json({ ask: { state: "stored" } }));
  assert.ok(stored.isStored("task=add") && !stored.isStored("task=sort"));
  wish.begin("task=add", { query: "task=add" });
  for (let n = 0; n < 5; n += 1) await new Promise((done) => setTimeout(done));
  globalThis.fetch = before;
  assert.equal(sent.length, count);
  assert.deepEqual(shown, [{ ask: { state: "stored" } }]);
  assert.ok(!wish.receive({ state: "running" })); // of an older wish
  wish.receive({ state: "stored", query: "task=add" });
  stop();
});

Deno.test("what was overtaken comes too late", () => {
  stored.show({});
  stored.overtake();
  assert.ok(stored.late({ wished: 1 }));
  assert.ok(!stored.late({ wished: 1000 }) && !stored.late(null));
  wish.begin(null, { set: 5 });
  assert.ok(!wish.receive({ state: "live", wished: 1 }));
  assert.ok(wish.pending);
  wish.stop();
});

Deno.test("a widget draws nothing older", () => {
  const node = document.createElement("div");
  const props = { value: { wished: 50, state: "live" } };
  let [draw, drawn] = [null, 0];
  const module = { mount: (_root, _props, _emit, watch) => watch("value", () => (drawn += 1)) };
  stored.mount("figure", module, node, props, {}, (_, fn) => (draw = fn));
  draw();
  assert.equal(drawn, 1);
  assert.equal(node.dataset.wish, 50);
  props.value = { wished: 49, state: "live" };
  draw();
  assert.equal(drawn, 1);
  assert.equal(props.value.wished, 50);
  props.value = { wished: 51, state: "live" };
  draw();
  assert.equal(drawn, 2);
});

Deno.test("a link asks for its run", () => {
  const count = sent.length;
  wish.follow(() => {});
  assert.equal(sent.length, count); // the page stands at the first example's own address
});

import assert from "node:assert/strict";
import "./page.js";
import {
  bus,
  comparing,
  headIn,
  judge,
  lecture,
  link,
  linkRefusal,
  onOpen,
  open,
  pageAt,
  positionsIn,
  read,
  refuseLink,
  request,
  step,
  told,
  view,
} from "../../explorer/frontend/lib/state.js";

// The page stands at /lab?task=copy&_head=2.3&_row=99 (Makefile).

Deno.test("a link names what is not there", async () => {
  assert.equal(view.get("head"), "2.3");
  judge({ head: headIn(2, 3), row: positionsIn(9) }, "task=other");
  assert.equal(told.length, 0);
  judge({ head: headIn(2, 3), row: positionsIn(9) }, "task=copy");
  assert.equal(told.length, 1);
  assert.match(told[0].en, /“_row” is “99”/);
  await Promise.resolve();
  assert.equal(view.get("row"), null);
  assert.equal(view.get("head"), "2.3");
});

Deno.test("looking writes the address", () => {
  const heard = [];
  const stop = view.on(["head", "pos"], (keys) => heard.push(keys));
  view.set({ pos: 4 });
  view.set({ pos: 4 });
  view.set({ other: 1 });
  assert.equal(read().get("_pos"), "4");
  assert.deepEqual(heard, [["pos"]]);
  stop();
  view.set({ pos: null, other: undefined });
  assert.ok(!link().includes("pos="));
  assert.ok(view.any());
});

Deno.test("a run enters the history", () => {
  const fired = [];
  const stop = bus.on("request", (query) => fired.push(query));
  assert.equal(request.get(), "task=copy");
  assert.ok(request.is("task=copy&_head=1.1&lang=zh"));
  request.leave();
  request.set("task=add", { enters: true });
  assert.match(history.addresses.at(-1), /^new .*\?task=add&_head=2.3/);
  assert.match(history.addresses.at(-2), /task=copy/);
  assert.deepEqual(fired, ["task=add"]);
  stop();
});

Deno.test("steps and the lecture", () => {
  assert.equal(step.get(), 0);
  step.set(3);
  assert.equal(step.get(), 3);
  lecture.set("projector");
  assert.equal(lecture.get(), "projector");
  step.set(0);
  assert.ok(!read().has("step"));
});

Deno.test("another state of the page is opened", () => {
  const queries = [];
  open({ query: "task=sort", view: { head: "1.1" }, step: 2 });
  const stop = onOpen((query) => queries.push(query)); // whoever owns the input arrives later
  assert.deepEqual(queries, ["task=sort"]);
  assert.equal(view.get("head"), "1.1");
  assert.equal(lecture.get(), "projector");
  open({ query: "task=sort", view: { head: "2.1" } });
  assert.equal(queries.length, 1);
  open({ query: "task=copy" });
  assert.deepEqual(queries, ["task=sort", "task=copy"]);
  stop();
});

Deno.test("addresses of other pages", () => {
  assert.equal(pageAt("/x", { a: 1 }), "http://explorer.test/x?a=1");
  const both = new URL(comparing(new URL("http://h/a?b=1"), new URL("http://h/c?d=2")));
  assert.equal(both.searchParams.get("left"), "/a?b=1");
  assert.equal(both.searchParams.get("right"), "/c?d=2");
  refuseLink({ en: "too long", zh: "太长" });
  assert.equal(linkRefusal().en, "too long");
  refuseLink(undefined);
  assert.equal(linkRefusal(), null);
});

Deno.test("which heads and positions are there", () => {
  const isHead = headIn(2, 3);
  assert.ok(isHead("2.3") && isHead("mean"));
  assert.ok(!isHead("0.1") && !isHead("2.4") && !isHead("12"));
  const isPosition = positionsIn(4);
  assert.ok(isPosition("0,3") && isPosition("none"));
  assert.ok(!isPosition("4") && !isPosition("1,") && !isPosition("-1"));
});

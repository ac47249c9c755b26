import assert from "node:assert/strict";
import "./page.js";
import * as connection from "../../explorer/frontend/lib/connection.js";
import { bus } from "../../explorer/frontend/lib/state.js";

Deno.test("tries come later and later", () => {
  assert.equal(connection.pause(0, 0), 1000);
  assert.equal(connection.pause(0, 1), 3000);
  assert.equal(connection.pause(1, 0.5), 4000);
  assert.equal(connection.pause(9, 0.5), 8000);
});

Deno.test("a refusal says why, once", () => {
  let fired = 0;
  const stop = bus.on("connection", () => (fired += 1));
  connection.send(1, "change ask", () => {}, 1);
  assert.deepEqual(connection.standing("change ask").state, "");
  connection.refuse(1, "too large");
  assert.equal(connection.standing("change ask").state, "abandoned");
  connection.send(2, "other load", () => {}, 1);
  connection.refuse(2, "$& is odd");
  assert.deepEqual(connection.abandoned(), [{
    en: "The server does not take this request: $& is odd",
    zh: "服务器不接受这个请求：$& is odd",
  }]);
  connection.send(3, "other load", () => {}, 1); // replaces what was abandoned
  assert.deepEqual(connection.abandoned(), []);
  connection.finish(3);
  assert.equal(connection.standing("other load").state, "");
  connection.drop("change ask");
  assert.equal(connection.standing("change ask").state, "");
  assert.ok(fired >= 3);
  stop();
});

Deno.test("only the newest is sent again", async () => {
  const before = globalThis.fetch;
  globalThis.fetch = () => Promise.resolve(Response.json({ app_id: 1 }));
  const sendings = [];
  connection.send(4, "ask ask", () => sendings.push("old"), 1);
  connection.send(5, "ask ask", (times) => sendings.push(times), 1);
  connection.lose([4, 5]);
  assert.equal(connection.standing("ask ask").state, "lost");
  connection.retry();
  await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual(sendings, [1]);
  connection.drop("ask ask");
  globalThis.fetch = before;
});

Deno.test("what breaks three times is given up", async () => {
  const before = globalThis.fetch;
  globalThis.fetch = () => Promise.resolve(Response.json({ app_id: 1 }));
  const again = (times) => {
    connection.send(6 + times, "ask ask", again, times);
    connection.lose([6 + times]);
  };
  connection.send(6, "ask ask", again, 3);
  connection.lose([6]);
  connection.retry();
  for (let n = 0; n < 3; n += 1) {
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.equal(connection.standing("ask ask").state, "lost");
  connection.drop("ask ask");
  globalThis.fetch = before;
});

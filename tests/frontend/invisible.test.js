import assert from "node:assert/strict";
import { nameInvisible } from "../../explorer/frontend/lib/invisible.js";

Deno.test("marks that nobody sees are named", () => {
  assert.equal(nameInvisible("a\u200bb"), "a⟨U+200B zero width space⟩b");
  assert.equal(nameInvisible("\u0000"), "⟨U+0000 null⟩");
  assert.equal(nameInvisible("\u{e0001}"), "⟨U+E0001⟩");
  assert.equal(nameInvisible("a\tb\nc"), "a\tb\nc");
});

Deno.test("the joiner of an emoji stays", () => {
  assert.equal(nameInvisible("👩\u200d🚀"), "👩\u200d🚀");
  assert.equal(nameInvisible("a\u200db"), "a⟨U+200D zero width joiner⟩b");
});

import assert from "node:assert/strict";
import "./page.js";
import {
  agreed,
  filled,
  lang,
  onLang,
  parts,
  plain,
  roles,
  setLang,
  t,
} from "../../explorer/frontend/lib/lang.js";

Deno.test("nouns agree with their number", () => {
  assert.equal(t("{n} layers", { n: 1 }), "1 layer");
  assert.equal(t("{n} layers", { n: 2 }), "2 layers");
  assert.equal(t("{n} queries and {m} boxes", { n: 1, m: 1 }), "1 query and 1 box");
  assert.equal(t("{n} hypotheses", { n: 1 }), "1 hypothesis");
  assert.equal(t("{n} other heads", { n: 1 }), "1 other head");
  assert.equal(t("{n|this head is|these heads are} off", { n: 1 }), "this head is off");
  assert.equal(t("{n|this head is|these heads are} off", { n: 3 }), "these heads are off");
  assert.equal(agreed("{n} layersome", { n: 1 }), "{n} layersome");
});

Deno.test("a text in the visitor's language", () => {
  const text = { en: "head {n}", zh: "头 {n}" };
  assert.equal(t(text, { n: 2 }), "head 2");
  assert.equal(t(null), "");
  assert.equal(t("{a}"), "{a}");
  assert.equal(t("{a}", { a: "x\u202e" }), "x⟨U+202E right-to-left override⟩");
  const heard = [];
  const stop = onLang((next) => heard.push(next));
  setLang("zh");
  setLang("zh");
  assert.equal(t(text, { n: 2 }), "头 2");
  assert.equal(t({ en: "only" }), "only");
  assert.equal(lang(), "zh");
  assert.equal(document.documentElement.getAttribute("lang"), "zh-CN");
  assert.equal(sessionStorage.getItem("tfe-lang"), "zh");
  stop();
  setLang("en");
  assert.deepEqual(heard, ["zh"]);
});

Deno.test("parts keep their roles", () => {
  const role = { text: "a", role: "key" };
  assert.deepEqual(parts({ en: "see {k}, {n} heads", zh: "" }, { k: role, n: 1 }), [
    { text: "see " },
    role,
    { text: ", " },
    { text: "1" },
    { text: " head" },
  ]);
  assert.deepEqual(roles("a ⟦k:b⟧ c"), [{ text: "a " }, { text: "b", role: "key" }, {
    text: " c",
  }]);
  assert.equal(plain(["a ", { text: "b" }]), "a b");
  assert.deepEqual(filled({ en: "{n} rows", zh: "{n} 行" }, { n: 1 }), {
    en: "1 row",
    zh: "1 行",
  });
});

// How likely is your own German? Teacher forcing: every given word goes in, whatever the model
// would have said, and each is scored. The value is made by
// explorer/labs/translation/panels/forced.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { lang, parts, t } from "../../frontend/lib/lang.js";
import { around, cellIn, ink, ramp, shade } from "../../frontend/lib/pen.js";
import { NAME, number, ordinal, shown } from "../../frontend/lib/signs.js";
import { bus, request } from "../../frontend/lib/state.js";

const LINKED = 600; // characters of a text that travel in the address
// fields that change nothing about what is translated
const ASIDE = ["v", "beam", "alpha", "silenced", "hidden", "without"];
const WORST = 6; // nats; from here on a word has the last colour of the scale
export const TEXT = {
  title: { en: "How much does each word surprise the model?", zh: "每个词让模型多意外？" },
  explained: {
    en: "Teacher forcing: the sentence above is read, and your German goes in word by word. At " +
      "each place the model says what it expects; then your word goes in all the same, and the " +
      "next one is judged.",
    zh:
      "教师强制：读入上面的英文句子，再把您的德文逐词送入。在每个位置，模型先说出它期待什么；然后不管它说了什么，您的词照样送入，再评判下一个。",
  },
  name: { en: "Your German for it", zh: "您的德文译文" },
  placeholder: { en: "Type a German translation", zh: "输入一个德文译文" },
  send: { en: "Score it", zh: "打分" },
  own: { en: "The model's own", zh: "模型自己的译文" },
  long: {
    en: "Your German has {n} characters; at most {most} characters and 60 word pieces can be read.",
    zh: "您的德文有 {n} 个字符；最多可读取 {most} 个字符、60 个词片。",
  },
  unlinked: {
    en: "A text of more than {n} characters does not travel in the link.",
    zh: "超过 {n} 个字符的文本不写入链接。",
  },
  nats: {
    en: "surprise: {least} to {most} nats and more",
    zh: "意外：{least} 至 {most} 纳特及以上",
  },
  board: {
    en:
      "A row for each word: surprise, rank, what would have been said, and where it looks. Arrow " +
      "keys choose a word; Escape resets.",
    zh: "每个词一行：意外、名次、模型本会说什么、看向哪里。方向键选词，Esc 复位。",
  },
  attention: { en: "cross-attention of this pass", zh: "本次前向的交叉注意力" },
  mean: { en: "looks at: mean of layer {layer}", zh: "看向：第 {layer} 层平均" },
  one: { en: "looks at: head {name}", zh: "看向：头 {name}" },
  word: { en: "given word", zh: "给定的词" },
  surprise: { en: "surprise, −log p", zh: "意外 −log p" },
  rank: { en: "rank", zh: "名次" },
  favourite: { en: "it would have said", zh: "模型本会说" },
  weight: { en: "weight {w}", zh: "权重 {w}" },
  million: { en: "more than a million", zh: "一百多万" },
  saysOwn: {
    en: "This is what the model itself says: log P {total} for {n} pieces. ",
    zh: "这正是模型自己的译文：{n} 个词片的 log P 为 {total}。",
  },
  saysEqual: {
    en: "Your German gets log P {total}, as much as the model's own {own}. ",
    zh: "您的德文的 log P 为 {total}，与模型自己的 {own} 一样。",
  },
  saysLess: {
    en: "Your German gets log P {total} for {n} pieces, the model's own {own} {ownP}: yours is " +
      "{times} times less likely. ",
    zh:
      "您的德文（{n} 个词片）的 log P 为 {total}，模型自己的 {own} 为 {ownP}：前者的可能性是后者的 {times} 分之一。",
  },
  saysMore: {
    en: "Your German gets log P {total} for {n} pieces, the model's own {own} only {ownP}: yours " +
      "is {times} times likelier, and the greedy search missed it. ",
    zh:
      "您的德文（{n} 个词片）的 log P 为 {total}，模型自己的 {own} 只有 {ownP}：前者的可能性是后者的 {times} 倍，贪心搜索错过了它。",
  },
  saysExpected: { en: "It expected {word}, with {p}.", zh: "它期待的正是 {word}，概率 {p}。" },
  saysMost: {
    en: "Its largest surprise is {word}: {p}, {rank} in its list; it would have said {best} with " +
      "{bestP}.",
    zh: "最让它意外的是 {word}：概率 {p}，排第 {rank}；它本会说 {best}，概率 {bestP}。",
  },
  saysWord: {
    en: "{word} gets {p}, {rank} in its list; it would have said {best} with {bestP}.",
    zh: "{word} 的概率为 {p}，排第 {rank}；它本会说 {best}，概率 {bestP}。",
  },
  five: {
    en: "After {before}, in the place of {word}, it expected",
    zh: "在 {before} 之后、{word} 的位置，它期待的是",
  },
  columns: {
    en: "position|given word|log p, nats|p|rank|favourite|its p",
    zh: "位置|给定的词|log p（纳特）|p|名次|最期待的词|其概率",
  },
};
const [WORD, BAR, RANK, SAID, CELL, ROW] = [132, 132, 52, 148, 24, 24]; // px

export function read(value) {
  const [layers, heads] = value.cross.shape;
  const worst = value.logp.reduce((best, p, i) => (p < value.logp[best] ? i : best), 0);
  return { ...value, worst, layers, heads };
}

/** (word, source) weights of a head, or the mean of a layer's heads. */
function weightsOf({ cross, heads }, { fhead }) {
  const [layer, head] = fhead.split(".").map((one) => Number(one) - 1);
  if (head !== undefined) return cross.slice(layer, head);
  const out = new Float32Array(cross.slice(layer, 0).length);
  for (let h = 0; h < heads; h += 1) cross.slice(layer, h).forEach((w, i) => (out[i] += w / heads));
  return out;
}

const heat = (run, i) => shade("surprise", Math.min(1, -run.logp[i] / WORST));

/** The words in a line, each in the colour of its surprise. Returns how high that is. */
function chips(run, look, pen) {
  const [size, small] = pen.big ? [24, 20] : [15, 11];
  const high = 1.9 * size;
  let [x, y] = [2, 2];
  run.target.pieces.forEach((piece, i) => {
    const joined = i > 0 && !run.target.space[i];
    const text = pen.cut(shown(piece), pen.width - 60, { size });
    const [wide, label] = [pen.measure(text, { size }), pen.measure(String(i), { size: small })];
    if (!joined && x > 2) x += 4;
    if (x + wide + label + 20 > pen.width && x > 2) [x, y] = [2, y + high + 5];
    const box = { x0: x, x1: x + wide + label + 18, y0: y, y1: y + high };
    pen.rect(box, { fill: heat(run, i), line: "control", radius: 6 });
    if (i === look.fword) pen.rect(around(box, 2), { line: "query", width: 2.5, radius: 7 });
    pen.text(x + 7, y + high / 2, text, { size, colour: ink(heat(run, i)) });
    pen.text(x + wide + 11, y + high / 2 + 2, i, { size: small, colour: ink(heat(run, i)) });
    pen.hit({ ...box, look: { fword: i }, card: null, still: true });
    x = box.x1 + 1;
  });
  return y + high + 10;
}

export function scene(run, look, pen) {
  const by = pen.big ? 1.7 : 1;
  const size = 12 * by;
  const [word, bar, rank, said, cell, high] = [WORD, BAR, RANK, SAID, CELL, ROW].map((one) =>
    one * by
  );
  const [n, m] = [run.target.pieces.length, run.source.pieces.length];
  const names = run.source.pieces.map((piece, j) =>
    `${pen.cut(shown(piece), 84 * by, { size })} ${j}`
  );
  const [barAt, rankAt, saidAt, map] = [
    word,
    word + bar,
    word + bar + rank,
    word + bar + rank + said,
  ];
  const start = chips(run, look, pen);
  const top = start + Math.max(40 * by, ...names.map((name) => pen.measure(name, { size }) + 14));
  const head = { size, colour: "ink3" };
  pen.text(word - 10, top - 12, t(TEXT.word), { ...head, align: "right" });
  pen.text(barAt, top - 12, t(TEXT.surprise), head);
  pen.text(rankAt + rank - 14, top - 12, t(TEXT.rank), { ...head, align: "right" });
  pen.text(saidAt, top - 12, t(TEXT.favourite), head);
  names.forEach((name, j) =>
    pen.text(map + (j + 0.5) * cell, top - 6, name, { size, colour: "key", turn: -90 })
  );
  const weights = weightsOf(run, look);
  const most = Math.max(2, Math.ceil(Math.max(...run.logp.map((p) => -p))));
  const wide = Math.max(map + m * cell + 8, pen.width);
  for (let i = 0; i < n; i += 1) {
    const [y, middle, here] = [top + i * high, top + (i + 0.5) * high, i === look.fword];
    if (here) pen.rect({ x0: 0, x1: map - 4, y0: y, y1: y + high }, { fill: "query-soft" });
    pen.text(word - 10, middle, `${pen.cut(shown(run.target.pieces[i]), 96 * by, { size })} ${i}`, {
      size,
      align: "right",
      colour: here ? "query" : "ink",
      weight: here ? 650 : 400,
    });
    const length = Math.max(1, (84 * by * -run.logp[i]) / most);
    pen.rect({ x0: barAt, x1: barAt + length, y0: y + 5, y1: y + high - 5 }, {
      fill: heat(run, i),
      line: "control",
    });
    pen.text(barAt + length + 6, middle, number(-run.logp[i]), { size, colour: "ink" });
    pen.text(rankAt + rank - 14, middle, run.ranks[i], { size, align: "right", colour: "ink" });
    const best = `${pen.cut(shown(run.favourites[i][0]), 92 * by, { size })} ${
      run.probabilities[i][0].toFixed(2)
    }`;
    pen.text(saidAt, middle, best, {
      size,
      ...(run.ranks[i] === 1 ? { colour: "ink3" } : { colour: "out", weight: 650 }),
    });
    pen.hit({ x0: 0, x1: map, y0: y, y1: y + high, look: { fword: i }, card: null, still: true });
  }
  const box = { x0: map, x1: map + m * cell, y0: top, y1: top + n * high };
  pen.cells(box, { data: weights, rows: n, columns: m });
  let grid = "";
  for (let j = 1; j < m; j += 1) grid += `M${map + j * cell},${top}V${box.y1}`;
  for (let i = 1; i < n; i += 1) grid += `M${map},${top + i * high}H${box.x1}`;
  if (grid) pen.path(grid, { line: "panel", alpha: 0.35 });
  pen.rect(around(cellIn(box, n, 1, look.fword, 0), 2), { line: "query", width: 2.5 });
  pen.grid(
    box,
    n,
    m,
    (i, j) => ({
      look: { fword: i },
      card: () => [
        `“${shown(run.target.pieces[i])}” (${i}) → “${shown(run.source.pieces[j])}” (${j})`,
        t(TEXT.weight, { w: number(weights[i * m + j]) }),
      ],
    }),
  );
  pen.size(wide, pen.big ? five(run, look, pen, box.y1) : box.y1 + 8);
}

const chance = (
  p,
) => (p >= 0.01 ? p.toFixed(2) : p >= 1e-4 ? p.toFixed(4) : p.toExponential(0).replace("-", "−"));

export function sentence(run, { fword }) {
  const total = run.logp.reduce((sum, p) => sum + p, 0);
  const gap = total - run.ownLogP;
  const factor = Math.exp(Math.min(Math.abs(gap), 30));
  const values = {
    total: number(total),
    n: run.logp.length,
    own: { text: `“${run.own}”`, role: "out" },
    ownP: number(run.ownLogP),
    times: factor < 10
      ? factor.toFixed(1)
      : factor > 1e6
      ? t(TEXT.million)
      : Math.round(factor).toLocaleString("en"),
    word: NAME(run.target.pieces[fword], fword, "query"),
    p: chance(Math.exp(run.logp[fword])),
    rank: ordinal(run.ranks[fword]),
    best: { text: `“${shown(run.favourites[fword][0])}”`, role: "out" },
    bestP: chance(run.probabilities[fword][0]),
  };
  const first = run.german === run.own
    ? TEXT.saysOwn
    : Math.abs(gap) < 0.05
    ? TEXT.saysEqual
    : gap < 0
    ? TEXT.saysLess
    : TEXT.saysMore;
  const second = run.ranks[fword] === 1
    ? TEXT.saysExpected
    : fword === run.worst
    ? TEXT.saysMost
    : TEXT.saysWord;
  return [...parts(first, values), ...parts(second, values)];
}

/**
 * The likeliest five in the place of a word, and the word itself where it is none of them; and what
 * stands above them.
 */
function expected(run, fword) {
  const [rank, piece] = [run.ranks[fword], run.target.pieces[fword]];
  const listed = run.favourites[fword].map((text, i) => ({
    text,
    p: run.probabilities[fword][i],
    place: i + 1,
    given: i + 1 === rank && text === piece,
  }));
  if (!listed.some((one) => one.given)) {
    listed.push({ text: piece, p: Math.exp(run.logp[fword]), place: rank, given: true });
  }
  const before = { text: fword ? `“… ${shown(run.target.pieces[fword - 1])}”` : "<s>" };
  return { listed, title: parts(TEXT.five, { before, word: NAME(piece, fword, "query") }) };
}

export function beside(run, { fword }) {
  const { listed, title } = expected(run, fword);
  const row = ({ text, p, place, given }) =>
    el(
      "li",
      { class: given ? "given" : null },
      el("span", { class: "place", text: String(place) }),
      el("span", { class: given ? "piece tfe-query" : "piece", lang: "de", text: shown(text) }),
      el("span", { class: "bar" }, el("span", { style: { width: `${Math.max(0.5, 100 * p)}%` } })),
      el("span", { class: "p", text: chance(p) }),
    );
  return [
    el(
      "div",
      { class: "tfe-forced-five" },
      el(
        "p",
        { class: "tfe-label" },
        title.map(({ text, role }) =>
          el(role ? "b" : "span", { class: role ? `tfe-${role}` : null, text })
        ),
      ),
      el("ol", {}, listed.map(row)),
    ),
  ];
}

/** The same for an audience, under the rows. Returns where it ends. */
function five(run, { fword }, pen, y) {
  const { listed, title } = expected(run, fword);
  pen.text(0, y + 24, title.map(({ text }) => text).join(""), { size: 20 });
  listed.forEach(({ text, p, place, given }, i) => {
    const middle = y + 58 + 30 * i;
    const colour = given ? "query" : "out";
    pen.text(36, middle, place, { size: 20, align: "right" });
    pen.text(52, middle, shown(text), {
      size: 20,
      weight: given ? 650 : 400,
      colour: given ? "query" : "ink",
      room: 190,
    });
    pen.rect({ x0: 260, x1: 260 + Math.max(1, 320 * p), y0: middle - 8, y1: middle + 8 }, {
      fill: colour,
    });
    pen.text(270 + 320 * p, middle, chance(p), { size: 20 });
  });
  return y + 48 + 30 * listed.length;
}

export function table(run, { fword }) {
  const rows = run.target.pieces.map((
    piece,
    i,
  ) => [
    i,
    piece,
    run.logp[i],
    Number(Math.exp(run.logp[i]).toPrecision(4)),
    run.ranks[i],
    run.favourites[i][0],
    run.probabilities[i][0],
  ]);
  return { caption: t(TEXT.title), columns: t(TEXT.columns).split("|"), rows, here: fword };
}

/** What the run in the address translates, its search and what is changed in the model left out. */
const sentenceOf = () =>
  JSON.stringify([...new URLSearchParams(request.get())].filter(([key]) => !ASIDE.includes(key)));

/**
 * What stands above: the German is typed here. write(patch, kept): into the address, and what is
 * too long for it.
 */
export function above(write) {
  let [dirty, most, language] = [false, Infinity, ""];
  let source = sentenceOf();
  const name = el("span", { class: "tfe-label" });
  const box = el("textarea", {
    class: "tfe-input tfe-forced-box",
    rows: 2,
    lang: "de",
    spellcheck: "false",
    oninput: () => ((dirty = true), said("")),
  });
  const send = el("button", { type: "submit", class: "tfe-button primary" });
  const own = el("button", { type: "button", class: "tfe-button", onclick: () => ask("*") });
  const complaint = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const explained = el("p", { class: "tfe-note" });
  const form = el(
    "form",
    { class: "tfe-forced-form tfe-controls" },
    el("label", {}, name, box),
    el("div", { class: "tfe-row tight" }, send, own),
    complaint,
  );
  const said = (text) => Object.assign(complaint, { textContent: text, hidden: !text });
  function ask(german) {
    dirty = false;
    said("");
    const short = german.length <= LINKED;
    write({ german: short ? german : null, fword: null }, { german: short ? undefined : german });
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { length } = [...box.value]; // whole characters, as the server counts them
    if (length > most) {
      said(t(TEXT.long, { n: length.toLocaleString("en"), most: most.toLocaleString("en") }));
    } else ask(box.value === "*" ? " *" : box.value);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  // Another sentence: what was typed for the last one is no translation of it. A link brings its
  // own German.
  bus.on("request", () => {
    if (sentenceOf() === source) return;
    source = sentenceOf();
    dirty = false;
    box.value = "";
    write({ german: null, fword: null }, { german: undefined });
  });
  function set(run) {
    if (run) most = run.most;
    if (run && !dirty) box.value = run.german;
    if (language === lang()) return;
    language = lang();
    for (
      const [node, text] of [[name, TEXT.name], [send, TEXT.send], [own, TEXT.own], [
        explained,
        TEXT.explained,
      ]]
    ) node.textContent = t(text);
    box.placeholder = t(TEXT.placeholder);
  }
  set(null);
  return { nodes: [explained, form], set };
}

export const looks = { fword: "position", fhead: "head" };
export const follows = ["german"];

export function wish(get) {
  const german = get("german");
  return german === null ? null : german === "*" ? { own: true } : { german };
}

export const title = () => TEXT.title;
export const question = TEXT.title;
export const units = () => t(TEXT.title);
export const across = "fword";
export const bounds = (run) => ({
  fword: { count: run.logp.length, pick: run.worst },
  fhead: {
    layers: run.layers,
    heads: run.heads,
    names: upTo(run.layers, (layer) => String(layer + 1)),
    pick: String(run.layers),
  },
});
export const move = (
  run,
  { fword },
  key,
  by,
) => (key === "fword" ? { fword: Math.max(0, Math.min(run.logp.length - 1, fword + by)) } : null);
export const legend =
  () => [{ text: t(TEXT.nats, { least: 0, most: WORST }), mark: ramp("surprise", 60, 7) }];
export const choices = (
  run,
) => [{
  key: "fhead",
  label: t(TEXT.attention),
  options: upTo(run.layers, (layer) => [
    { value: String(layer + 1), label: t(TEXT.mean, { layer: layer + 1 }) },
    ...Array.from(
      { length: run.heads },
      (__, h) => ({
        value: `${layer + 1}.${h + 1}`,
        label: t(TEXT.one, { name: `${layer + 1}·${h + 1}` }),
      }),
    ),
  ]).flat(),
}];
export const below = (
  run,
) => (run.german.length > LINKED
  ? [el("p", { class: "tfe-note", text: t(TEXT.unlinked, { n: LINKED }) })]
  : []);

export const arrays = (
  { source, target, logp, ranks, favourites, probabilities, cross: { data, shape } },
) => ({
  source: source.pieces,
  target: target.pieces,
  log_probabilities: filed(Float32Array.from(logp), "word", "nats"),
  ranks: filed(ranks, "word"),
  favourites: favourites.map((row) => row.join(" ")),
  probabilities: filed(Float32Array.from(probabilities.flat()), ["word", "rank"], undefined, [
    probabilities.length,
    probabilities[0].length,
  ]),
  cross: filed(data, ["layer", "head", "word", "source"], "weight", shape),
});

// A text goes in, a model reads it and writes on: the box with its examples, how much is written and how boldly, and the badge that says
// where a result comes from. What was written stands in another widget; here it can only be saved.

import { asking } from "./lib/asking.js";
import { badgeOf, grouped } from "./lib/badge.js";
import { el } from "./lib/dom.js";
import { fileName, save } from "./lib/export.js";
import { onLang, t } from "./lib/lang.js";
import { seedBox } from "./lib/seed.js";
import { foot } from "./lib/source.js";
import { linkRefusal, view } from "./lib/state.js";

const TEXT = {
  examples: { en: "Examples", zh: "示例" },
  pages: { en: "Further pages", zh: "其他书页" },
  example: { en: "Example: {title}", zh: "示例：{title}" },
  page: { en: "Page: {title}; all else stays as it is set", zh: "书页：{title}；其余设置不变" },
  length: { en: "write", zh: "续写" },
  lengthValue: { en: "{n} characters", zh: "{n} 个字符" },
  lengthLong: { en: "How many characters the model writes after the text", zh: "模型在文本之后写多少个字符" },
  temperature: { en: "temperature", zh: "温度" },
  temperatureLong: {
    en: "Temperature {value}: 1 is the model's own distribution, less plays safe, more dares, 0 takes the likeliest character every time",
    zh: "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆，0 每次取最可能的字符",
  },
  seed: { en: "seed", zh: "种子" },
  seedLong: { en: "Seed of all draws: the same seed writes the same text", zh: "所有抽样的种子：同一种子写出同样的文本" },
  runLong: { en: "{run} ({keys}; Enter alone begins a new line)", zh: "{run}（{keys}；单按 Enter 换行）" },
  stopLong: { en: "Stop (Esc)", zh: "停止（Esc）" },
  take: { en: "TXT: save the text and what was written as a text file", zh: "TXT：把原文和续写的文本存为文本文件" },
  held: { en: "held out: {source}", zh: "留出的书页：{source}" },
  ours: { en: "an opening of ours, from no book", zh: "我们写的开头，不出自任何书" },
  own: { en: "your own text", zh: "您自己的文本" },
  count: { en: "{n} of {most} characters", zh: "{n} / {most} 个字符" },
  nothing: { en: "The box is empty: type a text, or begin with one of ours.", zh: "文本框是空的：请输入文本，或从我们的例子开始。" },
  blank: { en: "The text is nothing but white space: type at least one character.", zh: "文本只有空白：请至少输入一个字符。" },
  long: { en: "The text has {n} characters; at most {most} can be read.", zh: "文本有 {n} 个字符；最多可读取 {most} 个。" },
  stop: { en: "Stop", zh: "停止" },
  reads: { en: "live · reading {n} of {most}{device}", zh: "实时 · 读到 {n} / {most}{device}" },
  writes: { en: "live · writing {n} of {most}{device}", zh: "实时 · 写到 {n} / {most}{device}" },
  noLink: { en: "This text is too long for a link; save the view as a file instead.", zh: "这段文本太长，放不进链接；请把视图存为文件。" },
  wrote: { en: "{name} wrote", zh: "{name} 续写" },
  bits: { en: "{name} {bits} bits per character of the text given", zh: "{name} 读原文每字符 {bits} 比特" },
};

// What the models take for white space too: not all of it is to a browser.
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;
const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/** Characters as the models count them, code points. */
const lengthOf = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
const filledIn = (text, values) => Object.fromEntries(Object.entries(text).map(([language, raw]) => [language, raw.replace(/\{(\w+)\}/g, (_, key) => values[key])]));
const alike = (a, b) => JSON.stringify(a) === JSON.stringify(b);
/** An example's request, without what the page calls it. */
const requestOf = ({ query, title, short, ...wanted }) => wanted;

let serial = 0;

/** props, value and events: see writer.py. */
export function mount(root, props, emit, watch) {
  const { texts, limits, pages, examples, choices } = props;
  const id = `tfe-writer-${(serial += 1)}`;
  const start = requestOf(examples[0]);
  const most = grouped(limits.characters);
  const knobs = ["length", "seed", "temperature", ...choices.map((choice) => choice.field)];
  const further = pages.filter((page) => !examples.some((example) => !example.text && example.page === page.key));
  let value = props.value ?? { state: "empty" };
  let local = null; // a refusal said here, not by the models
  let filled = {}; // what the controls were last filled from, or asked for: {text, …knobs}
  const now = Object.fromEntries(knobs.map((key) => [key, start[key]])); // what stands in the controls, the box apart

  // ── the text ──
  const label = el("label", { class: "tfe-writer-label", for: id });
  const chip = (act) => el("button", { type: "button", class: "tfe-chip tfe-writer-chip", onclick: act });
  const exampleChips = examples.map((example) => chip(() => show(example)));
  const pageChips = further.map((page) => chip(() => turn(page)));
  const exampleRow = el("div", { class: "tfe-writer-chips", role: "group" }, exampleChips);
  const pageRow = el("div", { class: "tfe-writer-chips is-pages", role: "group", hidden: !further.length }, pageChips);
  const badge = badgeOf(() => paintState());
  const take = el("button", { type: "button", class: "tfe-button small bare tfe-writer-take", text: "TXT", onclick: saveText });
  const box = el("textarea", {
    id,
    class: "tfe-input tfe-writer-box",
    rows: "6",
    dir: "auto",
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": `${id}-from ${id}-count ${id}-error`,
    oninput: () => {
      local = null;
      paintFrom();
      paintState();
    },
  });
  const from = el("span", { id: `${id}-from`, class: "tfe-writer-from" });
  const count = el("span", { id: `${id}-count`, class: "tfe-writer-count" });
  const error = el("p", { id: `${id}-error`, class: "tfe-error tfe-writer-error", role: "alert", hidden: true });
  const note = el("p", { class: "tfe-writer-note", role: "status", hidden: true });

  // ── the knobs ──
  const field = (key, control) => {
    const name = el("span", { class: "tfe-writer-name" });
    const reading = el("span", { class: "tfe-writer-value", "aria-hidden": "true" });
    return { name, reading, control, node: el("label", { class: `tfe-writer-field is-${key}` }, name, reading, control) };
  };
  const slider = (key, [low, high, step]) =>
    el("input", { class: "tfe-range", type: "range", min: low, max: high, step, oninput: (event) => choose(key, Number(event.target.value)) });
  const length = field("length", slider("length", limits.written));
  const heat = field("temperature", slider("temperature", limits.temperature));
  const draws = seedBox({
    most: limits.seed,
    className: "tfe-writer-seed",
    onSeed: (wanted) => choose("seed", wanted),
    onWrong: () => paintState(),
    onEnter: () => run(),
  });
  const seed = field("seed", draws.node);
  const picks = choices.map((choice) =>
    field("choice", el("select", { class: "tfe-select", onchange: (event) => choose(choice.field, choice.options[event.target.value][0]) })),
  );
  const goLabel = el("span", {});
  const goKey = el("kbd", { "aria-hidden": "true" });
  const go = el("button", { type: "submit", class: "tfe-button primary tfe-writer-go" }, goLabel, goKey);

  const form = el(
    "form",
    { class: "tfe-panel tfe-writer-panel", novalidate: true },
    el("div", { class: "tfe-writer-head" }, label, el("div", { class: "tfe-writer-offers" }, exampleRow, pageRow)),
    el("div", { class: "tfe-writer-state" }, take, badge.node),
    el("div", { class: "tfe-writer-in" }, box, el("p", { class: "tfe-writer-foot" }, from, count), error),
    el("div", { class: "tfe-writer-knobs" }, [length, heat, seed, ...picks].map((each) => each.node), go),
    note,
  );
  root.replaceChildren(form);

  const wish = asking({ emit, first: value.query, noLink: TEXT.noLink, paint: paintState });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (wish.pending) wish.stop();
    else run();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && wish.pending) {
      event.preventDefault();
      event.stopPropagation();
      wish.stop();
    } else if (event.target === box && event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
      event.preventDefault();
      run();
    }
  });

  // ── asking ──
  const pageOf = (text) => pages.find((page) => page.text === text);
  /** The text that a request is about, as it stands in the box. */
  const textOf = (wanted) => wanted.text || (pages.find((page) => page.key === wanted.page)?.text ?? "");
  const stamp = (wanted) => ({ text: textOf(wanted), ...Object.fromEntries(knobs.map((key) => [key, wanted[key]])) });

  /** The request as the controls stand; what they know nothing of is as in the last one. A page is told by name, so that links stay short. */
  function asked() {
    const page = pageOf(box.value);
    const what = page ? { text: "", page: page.key } : { text: box.value, page: start.page };
    return { ...start, ...value.request, ...what, ...now };
  }

  /** The sentence that refuses a text before it is sent, or null. */
  function wrong(text) {
    const n = lengthOf(text);
    if (n > limits.characters) return filledIn(TEXT.long, { n: grouped(n), most });
    if (text === "") return TEXT.nothing;
    return BLANK.test(text) ? TEXT.blank : null;
  }

  /** query: of an example whose stored result will do. */
  function ask(wanted, query = null) {
    local = null;
    filled = stamp(wanted);
    wish.begin(query, () => emit.run({ request: wanted }));
    // A place in another text says nothing about this one.
    if (value.request && textOf(value.request) !== textOf(wanted)) view.set({ pos: null });
    paint();
  }

  function run() {
    local = wrong(box.value);
    if (draws.judge() || local) paintState();
    else ask(asked());
  }

  function show(example) {
    const wanted = requestOf(example);
    filled = {};
    fill(wanted);
    ask(wanted, example.query || null);
  }

  /** A page of no example: its text, everything else as it is set. */
  function turn(page) {
    box.value = page.text;
    box.scrollTop = 0;
    run();
  }

  function choose(key, wanted) {
    now[key] = wanted;
    paint();
  }

  /** The controls follow a request, each unless it came from there, or has been changed since it was filled from the same. */
  function fill(wanted) {
    if (!wanted) return;
    const next = stamp(wanted);
    for (const key of knobs) if (!alike(next[key], filled[key])) now[key] = next[key];
    if (next.seed !== filled.seed) draws.show(now.seed, true);
    if (next.text !== filled.text && next.text !== box.value && (filled.text === undefined || box.value === filled.text)) {
      box.value = next.text;
      box.scrollTop = 0;
    }
    filled = next;
    paint();
  }

  // ── drawing ──
  function paint() {
    paintTexts();
    paintKnobs();
    paintFrom();
    paintState();
  }

  function paintTexts() {
    const fill_ = { characters: most };
    form.setAttribute("aria-label", t(texts.region));
    label.textContent = t(texts.label, fill_);
    box.placeholder = t(texts.placeholder, fill_);
    exampleRow.setAttribute("aria-label", t(TEXT.examples));
    pageRow.setAttribute("aria-label", t(TEXT.pages));
    const named = (button, short, title) => {
      button.textContent = t(short);
      button.title = title;
    };
    exampleChips.forEach((button, i) => named(button, examples[i].short, t(TEXT.example, { title: t(examples[i].title) })));
    pageChips.forEach((button, i) => named(button, further[i].short, t(TEXT.page, { title: t(further[i].title) })));
    take.title = t(TEXT.take);
    take.setAttribute("aria-label", t(TEXT.take));
  }

  function paintSlider({ name, reading, control, node }, key, said, long) {
    const [low, high] = [Number(control.min), Number(control.max)];
    control.value = String(now[key]);
    control.style.setProperty("--at", `${Math.min(100, Math.max(0, ((now[key] - low) / (high - low)) * 100))}%`);
    control.setAttribute("aria-valuetext", said);
    name.textContent = t(TEXT[key]);
    reading.textContent = said;
    node.title = long;
  }

  function paintKnobs() {
    paintSlider(length, "length", t(TEXT.lengthValue, { n: grouped(now.length) }), t(TEXT.lengthLong));
    const hot = Number(now.temperature).toFixed(1);
    paintSlider(heat, "temperature", hot, t(TEXT.temperatureLong, { value: hot }));
    seed.name.textContent = t(TEXT.seed);
    seed.node.title = t(TEXT.seedLong);
    draws.show(now.seed);
    choices.forEach((choice, i) => {
      const { name, control } = picks[i];
      name.textContent = t(choice.label);
      const names = choice.options.map(([, each]) => t(each));
      if (!alike([...control.options].map((option) => option.textContent), names)) {
        control.replaceChildren(...names.map((text, k) => el("option", { value: k, text })));
      }
      control.selectedIndex = choice.options.findIndex(([key]) => key === now[choice.field]);
    });
  }

  /** Where the text in the box is from, and how long it is. */
  function paintFrom() {
    const text = box.value;
    const page = pageOf(text);
    const n = lengthOf(text);
    from.textContent = page ? t(TEXT.held, { source: t(page.source) }) : text === "" ? "" : t(examples.some((each) => each.text === text) ? TEXT.ours : TEXT.own);
    from.title = from.textContent;
    count.textContent = t(TEXT.count, { n: grouped(n), most });
    count.classList.toggle("is-over", n > limits.characters);
    const wanted = asked();
    exampleChips.forEach((button, i) => {
      const shape = requestOf(examples[i]);
      const same = Object.keys(shape).every((key) => key === "page" || alike(shape[key], wanted[key])) && textOf(shape) === text;
      button.setAttribute("aria-pressed", String(same));
    });
    pageChips.forEach((button, i) => button.setAttribute("aria-pressed", String(further[i].text === text)));
  }

  /** How far the slowest model has come. */
  function progress() {
    const { device, read, written, of } = value.badge;
    const at = device ? ` · ${device}` : "";
    const all = lengthOf(textOf(value.request));
    if (written === 0 && read < all) return t(TEXT.reads, { n: grouped(read), most: grouped(all), device: at });
    return t(TEXT.writes, { n: grouped(written), most: grouped(of), device: at });
  }

  function paintState() {
    const busy = wish.pending;
    form.setAttribute("aria-busy", String(busy));
    go.classList.toggle("primary", !busy);
    goLabel.textContent = busy ? t(TEXT.stop) : t(texts.run);
    goKey.textContent = busy ? "Esc" : APPLE ? "⌘ ⏎" : "Ctrl ⏎";
    go.title = busy ? t(TEXT.stopLong) : t(TEXT.runLong, { run: t(texts.run), keys: APPLE ? "⌘+Enter" : "Ctrl+Enter" });
    go.setAttribute("aria-keyshortcuts", busy ? "Escape" : "Control+Enter Meta+Enter");
    const refusal = busy ? null : (draws.refused() ?? local ?? (value.state === "refused" ? value.error : null));
    badge.paint({ value, wish, wrong: refusal, differs: () => draws.wrong() !== null || !alike(stamp(asked()), stamp(value.request)), progress });
    error.hidden = !refusal;
    error.textContent = refusal ? t(refusal) : "";
    box.setAttribute("aria-invalid", String(Boolean(refusal)));
    take.hidden = busy || !value.readers;
    const said = busy ? [] : [value.notice, value.warning].filter(Boolean).map((each) => t(each));
    note.hidden = said.length === 0;
    note.textContent = said.join(" ");
  }

  /** What was given, what each model wrote after it, the numbers, where it comes from and what was asked. */
  function saveText() {
    const { request, given, readers } = value;
    const page = pageOf(textOf(request));
    const lines = page ? [t(TEXT.held, { source: t(page.source) }), "", given] : [given];
    const wrote = readers.filter((reader) => reader.written !== null);
    for (const { name, written } of wrote) lines.push("", `[${t(TEXT.wrote, { name: t(name) })}]`, written);
    const numbers = [
      t(TEXT.lengthValue, { n: `${grouped(lengthOf(given))} + ${grouped(request.length)}` }),
      `${t(TEXT.temperature)} ${request.temperature}`,
      `${t(TEXT.seed)} ${request.seed}`,
      ...readers.map(({ name, bits }) => t(TEXT.bits, { name: t(name), bits: bits.toFixed(2) })),
    ];
    const refused = linkRefusal() ? [t(linkRefusal())] : [];
    save(fileName(["text"], "txt"), `${[...lines, "", numbers.join(" · "), ...refused, foot()].join("\n")}\n`, "text/plain;charset=utf-8");
  }

  // ── wiring ──
  function receive() {
    const next = props.value ?? { state: "empty" };
    if (!wish.receive(next)) return;
    const { error: _e, notice: _n, ...kept } = value;
    const partial = next.state === "waiting" || next.state === "refused";
    value = partial ? { ...kept, ...next } : next;
    if (next.request && !partial) fill(next.request);
    else {
      // What was refused stays in the controls, whatever an answer to the request before it brings.
      if (next.state === "refused" && value.request) filled = stamp(value.request);
      paint();
    }
  }
  watch("value", receive);
  onLang(paint);
  fill(value.request ?? start);
  wish.follow(() => {
    local = null;
    filled = {}; // another state of the page is wanted: its text replaces what stands here
  });
}

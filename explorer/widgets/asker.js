// What is asked: a task, what is typed for it with that task's keyboard, and the answer, large, with a mark whether it is right, how
// long the network pondered, and what other networks answer to the same.

import { asking } from "./lib/asking.js";
import { badgeOf, grouped } from "./lib/badge.js";
import { el, segmented } from "./lib/dom.js";
import { fileName, save } from "./lib/export.js";
import { bitRow, wordChips } from "./lib/keyboards.js";
import { onLang, t } from "./lib/lang.js";
import { foot } from "./lib/source.js";

const TEXT = {
  task: { en: "Task", zh: "任务" },
  run: { en: "Ask", zh: "提问" },
  stop: { en: "Stop", zh: "停止" },
  question: { en: "Question", zh: "问题" },
  words: { en: "Words that it knows", zh: "它认识的单词" },
  examples: { en: "Examples:", zh: "示例：" },
  example: { en: "Example {n}: {title}", zh: "示例 {n}：{title}" },
  use: { en: "Use example {n}", zh: "用示例 {n}" },
  empty: { en: "Type your own, or begin with one of ours.", zh: "请自己输入，或从我们的例子开始。" },
  answer: { en: "Answer", zh: "回答" },
  right: { en: "right", zh: "正确" },
  wrong: { en: "wrong", zh: "错误" },
  instead: { en: "wrong, right is {expected}", zh: "错误，正确的是 {expected}" },
  nothing: { en: "(nothing)", zh: "（空）" },
  sure: { en: "least sure part {p}", zh: "最不确定的部分 {p}" },
  sureLong: { en: "The smallest probability that the network gave to a part of its answer", zh: "网络给答案各部分的概率中最小的一个" },
  ponder: { en: "ponder {n}", zh: "思考步数 {n}" },
  ponderLong: { en: "Updates and remainder, N + R, the mean over the input", zh: "更新次数加余量 N + R，在整个输入上取平均" },
  beside: { en: "What other networks answer", zh: "其他网络的回答" },
  take: { en: "TXT: save question and answers as a text file", zh: "TXT：把问题和各个回答存为文本文件" },
  stale: { en: "The answer is still that of your last input.", zh: "显示的仍是上一个输入的回答。" },
  long: { en: "Your text has {n} characters; at most {most} can be read.", zh: "您的文本有 {n} 个字符；最多可读取 {most} 个。" },
  noLink: { en: "This input is too long for a link; save it as text instead.", zh: "这个输入太长，放不进链接；请存为文本。" },
};

const MARK = { true: "✓", false: "✗" };
const LONG = 24; // characters of an answer from which on it is written smaller
/** A probability; what is not quite 1 does not read as 1. */
const probability = (p) => (p < 1 && p > 0.995 ? "> 0.99" : p.toFixed(2));

let serial = 0;

/** props, value and events: see asker.py. */
export function mount(root, props, emit, watch) {
  const { texts, tasks, examples, neutral, vocabulary } = props;
  const id = `tfe-asker-${(serial += 1)}`;
  const asksQuestions = tasks.some((task) => task.keyboard === "story");
  let value = props.value ?? { state: "empty" };
  let filled = null; // what the controls were last filled from, or asked for
  let local = null; // a refusal of our own, before anything is sent

  // What stands in the controls; each task keeps its own.
  const now = { task: tasks[0].key, by: {} };
  for (const task of tasks) {
    const like = examples.find((example) => example.task === task.key);
    now.by[task.key] = { text: like?.text ?? "", question: like?.question ?? "" };
  }
  const taskOf = (key) => tasks.find((task) => task.key === key);
  const wide = ({ keyboard }) => keyboard === "story" || keyboard === "text"; // typed into a field of several lines

  // ── the input ──
  const taskPick = segmented({ options: [], value: now.task, label: "", onPick: (task) => choose(task) });
  const exampleLabel = el("span", {});
  const exampleButtons = examples.map((example, index) => el("button", { type: "button", class: "tfe-asker-example", text: String(index + 1), onclick: () => show(example) }));
  const exampleRow = el(
    "div",
    { class: "tfe-asker-examples", role: "group" },
    exampleLabel,
    ...exampleButtons.flatMap((button, index) => (index ? [el("span", { text: "·", "aria-hidden": "true" }), button] : [button])),
  );
  const label = el("label", { class: "tfe-label", for: `${id}-line` });
  const hint = el("span", { class: "tfe-asker-hint", id: `${id}-hint` });
  const described = { spellcheck: "false", autocomplete: "off", autocapitalize: "off", "aria-describedby": `${id}-hint ${id}-error` };
  const line = el("input", { id: `${id}-line`, class: "tfe-input tfe-asker-line", type: "text", ...described });
  const story = el("textarea", { id: `${id}-story`, class: "tfe-input tfe-asker-story", rows: "2", lang: "en", ...described });
  const questionLabel = el("label", { class: "tfe-label", for: `${id}-question` });
  const question = el("input", { id: `${id}-question`, class: "tfe-input tfe-asker-question", type: "text", lang: "en", ...described });
  const questionRow = el("div", { class: "tfe-asker-questionrow" }, questionLabel, question);
  let last = story; // the field that words go into
  for (const field of [line, story, question]) {
    field.addEventListener("input", typed);
    field.addEventListener("focus", () => {
      last = field;
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault(); // the form's own answer would press Stop
      run();
    });
  }
  const bits = bitRow((text) => {
    line.value = text;
    typed();
  });
  const goLabel = el("span", {});
  const goKey = el("span", { class: "tfe-asker-return", "aria-hidden": "true" });
  const go = el("button", { type: "submit", class: "tfe-button primary tfe-asker-go" }, goLabel, goKey);
  const fields = el("div", { class: "tfe-asker-fields" }, line, story, questionRow);
  const error = el("p", { id: `${id}-error`, class: "tfe-error tfe-asker-error", role: "alert", hidden: true });
  const form = el(
    "form",
    { class: "tfe-asker-in", novalidate: true },
    el("div", { class: "tfe-asker-head" }, taskPick.node, exampleRow),
    el("div", { class: "tfe-asker-labels" }, label, hint),
    el("div", { class: "tfe-asker-row" }, fields, go),
    bits.node,
    error,
  );

  // ── the answer ──
  const outLabel = el("span", {});
  const take = el("button", { type: "button", class: "tfe-button small bare tfe-asker-take", text: "TXT", onclick: saveText });
  const badge = badgeOf(() => paintState());
  const given = el("span", { class: "tfe-asker-given" });
  const answer = el("strong", { class: "tfe-asker-answer" });
  const mark = el("span", { class: "tfe-asker-mark" });
  const facts = el("p", { class: "tfe-asker-facts" });
  const beside = el("dl", { class: "tfe-asker-beside" });
  const result = el("div", { class: "tfe-asker-result" }, el("p", { class: "tfe-asker-said", "aria-live": "polite" }, given, answer, mark), facts, beside);
  const start = el("div", { class: "tfe-asker-start" });
  const note = el("p", { class: "tfe-asker-note", role: "status", hidden: true });
  const out = el(
    "div",
    { class: "tfe-asker-out" },
    el("div", { class: "tfe-asker-head" }, outLabel, el("span", { class: "tfe-asker-state" }, take, badge.node)),
    start,
    result,
    note,
  );

  // ── words of stories ──
  const chips = wordChips(vocabulary, () => (last === question ? question : story));
  chips.id = `${id}-words`;
  const wordsButton = el("button", { type: "button", class: "tfe-button small tfe-phone tfe-asker-more", "aria-controls": chips.id, "aria-expanded": "false", onclick: unfold }); // where there is room they stand unfolded
  const words = el("div", { class: "tfe-asker-vocabulary is-folded" }, wordsButton, chips);
  const panel = el("section", { class: "tfe-panel tfe-asker-panel" }, form, out, vocabulary.length ? words : null);
  root.replaceChildren(panel);

  const wish = asking({ emit, first: value.query, noLink: TEXT.noLink, paint: paintState });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (wish.pending) wish.stop();
    else run();
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !wish.pending) return;
    event.preventDefault();
    event.stopPropagation();
    wish.stop();
  });

  // ── asking ──
  const mine = () => now.by[now.task];
  const stamp = (wanted) => JSON.stringify(["task", "text", "question"].map((key) => wanted[key] ?? ""));

  /** The request as the controls stand, the network as it was trained. */
  function asked() {
    const { text, question: about } = mine();
    const story_ = taskOf(now.task).keyboard === "story";
    return { task: now.task, text, ...(asksQuestions ? { question: story_ ? about : "" } : {}), ...neutral };
  }

  function run() {
    const wanted = asked();
    const { most } = taskOf(now.task);
    const n = wanted.text.length + (wanted.question ?? "").length;
    local = n > most ? { en: TEXT.long.en.replace("{n}", grouped(n)).replace("{most}", grouped(most)), zh: TEXT.long.zh.replace("{n}", grouped(n)).replace("{most}", grouped(most)) } : null;
    if (local) {
      paintState();
      return;
    }
    filled = stamp(wanted);
    wish.begin(null, () => emit.run({ request: wanted }));
  }

  function show(example) {
    const { query, title, ...wanted } = example;
    filled = null; // also where it stood here before and was written over
    take_(wanted);
    wish.begin(query || null, () => emit.run({ request: wanted }));
  }

  function choose(task) {
    now.task = task;
    local = null;
    paintInput();
    paintState();
  }

  function typed() {
    const task = taskOf(now.task);
    mine().text = (wide(task) ? story : line).value;
    if (task.keyboard === "story") mine().question = question.value;
    if (task.keyboard === "bits") bits.set(line.value, task.places);
    grow();
    paintState();
  }

  /** The controls follow a request, unless it came from them, or they were filled from it already, and have been changed since. */
  function take_(wanted) {
    if (!wanted || stamp(wanted) === filled || !taskOf(wanted.task)) return;
    filled = stamp(wanted);
    now.task = wanted.task;
    now.by[wanted.task] = { text: wanted.text, question: wanted.question ?? "" };
    local = null;
    paintInput();
  }

  function unfold() {
    wordsButton.setAttribute("aria-expanded", String(!words.classList.toggle("is-folded")));
  }

  // ── drawing ──
  function grow() {
    if (story.hidden) return;
    story.style.height = "auto";
    story.style.height = `${story.scrollHeight + 2}px`;
  }

  function paintInput() {
    const task = taskOf(now.task);
    const isStory = task.keyboard === "story";
    const isWide = wide(task);
    panel.dataset.keyboard = task.keyboard;
    taskPick.set({ label: t(TEXT.task), value: now.task, options: tasks.map(({ key, label: name }) => ({ key, label: t(name) })) });
    taskPick.node.hidden = tasks.length < 2;
    label.textContent = t(task.prompt);
    label.setAttribute("for", isWide ? story.id : line.id);
    hint.textContent = t(task.hint);
    [line.hidden, story.hidden, questionRow.hidden, words.hidden] = [isWide, !isWide, !isStory, !isStory];
    const field = isWide ? story : line;
    const { text, question: about } = mine();
    if (field.value !== text) field.value = text;
    if (isStory && question.value !== about) question.value = about;
    field.placeholder = task.placeholder;
    question.placeholder = task.question;
    line.setAttribute("inputmode", { sum: "tel", bits: "numeric" }[task.keyboard] ?? "text");
    bits.node.hidden = task.keyboard !== "bits";
    if (task.keyboard === "bits") bits.set(text, task.places);
    grow();
  }

  function paintTexts() {
    panel.setAttribute("aria-label", t(texts.region));
    exampleLabel.textContent = t(TEXT.examples);
    exampleRow.setAttribute("aria-label", t(TEXT.examples));
    exampleButtons.forEach((button, index) => {
      const named = t(TEXT.example, { n: index + 1, title: t(examples[index].title) });
      button.setAttribute("aria-label", named);
      button.title = named;
    });
    questionLabel.textContent = t(TEXT.question);
    wordsButton.textContent = t(TEXT.words);
    outLabel.textContent = t(TEXT.answer);
    take.title = t(TEXT.take);
    take.setAttribute("aria-label", t(TEXT.take));
  }

  const written = (text) => t(text) || t(TEXT.nothing);
  const verdictOf = (other) => t(other.verdict ?? (other.right ? TEXT.right : TEXT.wrong));
  /** What was asked, on one line: the question of a story, else what was typed. */
  const questionOf = (request) => request.question || request.text;

  function paintResult() {
    const shown = value.answer !== undefined;
    result.hidden = !shown;
    start.hidden = shown;
    if (!shown) {
      const offer = examples.length ? [el("button", { type: "button", class: "tfe-button", text: t(TEXT.use, { n: 1 }), onclick: () => show(examples[0]) })] : [];
      start.replaceChildren(el("span", { class: "tfe-asker-empty", text: t(TEXT.empty) }), ...offer);
      return;
    }
    given.textContent = questionOf(value.request);
    result.dataset.keyboard = taskOf(value.request.task)?.keyboard ?? ""; // of what was answered, whatever stands in the controls now
    answer.textContent = written(value.answer);
    answer.className = `tfe-asker-answer ${value.right === null ? "" : value.right ? "is-right" : "is-wrong"}`;
    answer.classList.toggle("is-long", [...answer.textContent].length > LONG);
    mark.hidden = value.right === null;
    mark.className = `tfe-asker-mark ${value.right ? "is-right" : "is-wrong"}`;
    const said = value.verdict ? t(value.verdict) : value.right ? t(TEXT.right) : t(TEXT.instead, { expected: written(value.expected) });
    mark.replaceChildren(el("span", { text: MARK[Boolean(value.right)], "aria-hidden": "true" }), ` ${said}`);
    const told = (number_, title, text) => (typeof number_ === "number" ? [el("span", { title: t(title), text })] : []);
    facts.replaceChildren(
      ...told(value.ponder, TEXT.ponderLong, t(TEXT.ponder, { n: value.ponder?.toFixed(2) })),
      ...told(value.sure, TEXT.sureLong, t(TEXT.sure, { p: probability(value.sure ?? 0) })),
    );
    facts.hidden = !facts.children.length;
    beside.setAttribute("aria-label", t(TEXT.beside));
    beside.hidden = !value.beside.length;
    beside.replaceChildren(
      ...value.beside.map((other) =>
        el(
          "div",
          {},
          el("dt", { text: t(other.name) }),
          el("dd", { class: other.right ? "is-right" : "is-wrong" }, el("b", { text: written(other.answer) }), ` ${MARK[other.right]} `, el("span", { text: verdictOf(other) })),
        ),
      ),
    );
  }

  function paintState() {
    const busy = wish.pending;
    panel.setAttribute("aria-busy", String(busy));
    panel.classList.toggle("is-stale", busy);
    go.classList.toggle("primary", !busy);
    goLabel.textContent = t(busy ? TEXT.stop : TEXT.run);
    goKey.textContent = busy ? "Esc" : "⏎";

    const wrong = busy ? null : (local ?? (value.state === "refused" ? value.error : null));
    badge.paint({ value, wish, wrong, differs: () => stamp(asked()) !== stamp(value.request) });
    error.hidden = !wrong;
    error.textContent = wrong ? t(wrong) : "";
    for (const field of [line, story, question]) field.setAttribute("aria-invalid", String(Boolean(wrong)));
    const done = !busy && !wrong && value.answer !== undefined;
    take.hidden = !done;
    result.classList.toggle("is-stale", Boolean(wrong));
    const said = [value.notice, value.warning].filter(Boolean).map((each) => t(each));
    if (wrong && value.answer !== undefined) said.push(t(TEXT.stale));
    note.hidden = said.length === 0;
    note.textContent = said.join(" ");
  }

  /** What was asked and what was answered, with the address of this view. */
  function saveText() {
    const { request } = value;
    const lines = [request.text, ...(request.question ? [request.question] : []), `${t(TEXT.answer)}: ${written(value.answer)} ${mark.hidden ? "" : mark.textContent}`.trim(), ...(facts.hidden ? [] : [facts.innerText.replace(/\s*\n\s*/g, " · ")])];
    for (const other of value.beside) lines.push(`${t(other.name)}: ${written(other.answer)} ${MARK[other.right]} ${verdictOf(other)}`);
    save(fileName(["answer"], "txt"), `${[...lines, foot()].join("\n")}\n`, "text/plain");
  }

  function draw() {
    paintTexts();
    paintInput();
    paintResult();
    paintState();
  }

  // ── wiring ──
  function receive() {
    const next = props.value ?? { state: "empty" };
    if (!wish.receive(next)) return;
    const { error: _e, notice: _n, ...kept } = value;
    value = next.state === "waiting" || next.state === "refused" ? { ...kept, ...next } : next;
    if (next.request) take_(next.request);
    paintResult();
    paintState();
  }
  watch("value", receive);
  onLang(draw);
  take_(value.request);
  draw();
  wish.follow(() => {
    local = null;
    filled = null; // another state of the page is wanted: its input replaces what stands here
  });
}

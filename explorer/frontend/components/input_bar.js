// The input bar: what is asked, by a control for each field of the request that is input; where the
// result comes from; the answer. All wishes of the page are sent here, also those of the panel of
// changes: {query, set}.

import { answerOf } from "../lib/answer.js";
import { asking } from "../lib/request_lifecycle.js";
import { badgeOf, grouped } from "../lib/badge.js";
import { beforeOf } from "../lib/before.js";
import { el, segmented } from "../lib/dom.js";
import { fileName, save } from "../lib/export.js";
import { nameInvisible } from "../lib/invisible.js";
import { bitRow, wordChips } from "../lib/keyboards.js";
import { filled as filledIn, onLang, t } from "../lib/lang.js";
import { load } from "../lib/modules.js";
import { piecesOf } from "../lib/pieces.js";
import { retryButton } from "../lib/retry.js";
import { settingsOf } from "../lib/settings.js";
import { foot } from "../lib/source.js";
import { bus, request, step, view } from "../lib/state.js";
import { guard, opened } from "../lib/stored.js";

const TEXT = {
  run: { en: "Ask", zh: "提问" },
  stop: { en: "Stop", zh: "停止" },
  examples: { en: "Examples:", zh: "示例：" },
  example: { en: "Example {n}: {title}", zh: "示例 {n}：{title}" },
  words: { en: "Words that it knows", zh: "它认识的单词" },
  edit: { en: "Edit", zh: "编辑" },
  done: { en: "Close", zh: "收起" },
  use: { en: "Use example {n}", zh: "用示例 {n}" },
  empty: {
    en: "Type your own, or begin with one of ours.",
    zh: "请自己输入，或从我们的例子开始。",
  },
  answer: { en: "Answer", zh: "结果" },
  take: {
    en: "TXT: save question and answers as a text file",
    zh: "TXT：把问题和各个回答存为文本文件",
  },
  lost: {
    en: "The connection to the server is lost. Your input is sent again as soon as it is back.",
    zh: "与服务器的连接已中断。恢复后会立即重新发送您的输入。",
  },
  cut: { en: "cancelled", zh: "已取消" },
  cancelled: {
    en: "This run was cancelled: the page shows what it had computed.",
    zh: "运行已取消：这里是取消之前已生成的部分。",
  },
  stale: { en: "The answer is still that of your last input.", zh: "显示的仍是上一个输入的结果。" },
  long: {
    en: "Your text has {n} characters; at most {most} can be read.",
    zh: "您的文本有 {n} 个字符；最多可读取 {most} 个。",
  },
  noLink: {
    en: "This input is too long for a link; save it as text instead.",
    zh: "这个输入太长，放不进链接；请存为文本。",
  },
};
const TYPED = [
  "bits",
  "sum",
  "letters",
  "sentence",
  "text",
  "story",
  "question",
  "passage",
  "drawing",
  "motif",
  "scene",
];
const SET = ["number", "seed", "select"];
const ENTER = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ ⏎" : "Ctrl ⏎"; // what runs where Enter begins a new line

const ofTask = new CSSStyleSheet(); // also for what is placed on the page later
document.adoptedStyleSheets.push(ofTask);

let serial = 0;

/**
 * props, value and events: see ask.py.
 * @param {import("../border.d.ts").InputBarProps & {value?: any}} props
 */
export async function mount(root, props, emit, watch) {
  const { region, controls, examples } = props;
  const id = `tfe-ask-${(serial += 1)}`;
  guard(props.answers);
  const opening = Object.entries(props.typing)
    .map(async ([kind, address]) => [kind, await load(address)]);
  const inputs = Object.fromEntries(await Promise.all(opening)); // of kinds that stand here
  let value = props.value ?? { state: "empty" };
  let filled = null; // what the controls were last filled from, or asked for
  let local = null; // a refusal of our own, before anything is sent
  let grew = false; // has a part of the answer under way come?
  let remark = null; // what is said of a file that was brought
  let last = null; // the field that was used last: words go into it

  // ── what stands in the controls: each typed one keeps its own draft ──
  const fits = ({ when }, fields) =>
    Object.entries(when).every(([field, values]) => values.includes(fields[field]));
  const begin = (control) =>
    examples.find(({ fields }) => fits(control, fields))?.fields[control.field] ??
      control.default;
  const picks = controls.filter(({ kind }) => kind === "choice").map(pickOf);
  const lines = controls.filter(({ kind }) => TYPED.includes(kind)).map((control, at) =>
    ({ passage: longOf, drawing: drawnOf, motif: played, scene: played })[control.kind]?.(
      control,
      at,
    ) ??
      lineOf(control, at)
  );
  const settings = settingsOf(controls.filter(({ kind }) => SET.includes(kind)), {
    begin,
    changed: touched,
    run,
    here: (control) => fits(control, { ...settings.values(), ...chosen() }),
  });
  const inView = !lines.length ||
    lines.some(({ control }) => ["passage", "drawing", "motif", "scene"].includes(control.kind)); // the answer stands in a view
  const broad = lines.every(({ control }) => control.kind === "drawing") &&
    new Set(settings.controls.map(({ field }) => field)).size > 4; // they stand in one line
  // What is chosen in a picture, as the words that are hidden, stands in no control: it stays as
  // the run in view has it.
  const pictured = controls.filter(({ kind }) => kind === "items").map(({ field }) => field);
  const looked = () =>
    Object.fromEntries(
      pictured.filter((_field) => value.fields)
        .map((field) => [field, value.fields[field]]),
    );
  const passage = () => open().find(({ control }) => control.kind === "passage") ?? null;
  const chosen = () =>
    picks.reduce((so, { control, now }) => ({ ...so, [control.field]: now(so) }), {});
  const open = () => lines.filter(({ control }) => fits(control, chosen()));
  const typed = (line) => line.fields?.() ?? { [line.control.field]: line.text };
  const asked = () =>
    Object.assign(
      {},
      ...lines.map((line) => line.absent ?? { [line.control.field]: "" }),
      chosen(),
      looked(),
      settings.fields(),
      ...open().map(typed),
    ); // what no control shows is empty
  const stamp = (fields) =>
    JSON.stringify([
      ...Object.keys(chosen()).map((field) => fields?.[field] ?? ""),
      ...open().map((line) => line.of(fields)),
      ...settings.of(fields),
    ]);

  function pickOf(control) {
    let now = control.default;
    const pick = segmented({ options: [], value: now, label: "", onPick: choose });
    function choose(key) {
      now = key;
      local = remark = null;
      paintInput();
      paintState();
    }
    /** A choice that is not shown is what the examples have that begin so. */
    const usual = (so) =>
      examples.find(({ fields }) =>
        Object.entries(so).every(([field, key]) => fields[field] === key)
      )?.fields[control.field] ?? control.default;
    function paint() {
      pick.set({
        label: t(control.label),
        value: now,
        options: control.values.map((key) => ({
          key,
          label: t(new Map(control.names).get(key)) || key,
        })),
      });
      pick.node.title = control.hint ? t(control.hint) : "";
      pick.node.hidden = !fits(control, chosen());
    }
    return {
      control,
      node: pick.node,
      now: (so) => (fits(control, so) ? now : usual(so)),
      set: (key) => control.values.includes(key) && (now = key),
      paint,
    };
  }

  function touched() {
    local = null;
    for (const line of open()) if (line.reading || line.press) line.paint(); // it shows what some setting says
    paintState();
  }

  function longOf(control) {
    const own = examples.filter(({ fields }) => fits(control, fields));
    return inputs.passage.lineOf(control, {
      id,
      examples: own,
      set: (field) => settings.now(field),
      input: touched,
      run,
      show,
    });
  }

  /** A file that was brought is refused, or something is said of it, or neither. */
  function say(told) {
    local = told.error ?? null;
    remark = told.remark ?? null;
    paintState();
  }

  function drawnOf(control, at) {
    return inputs.drawing.lineOf(control, {
      id: `${id}-${at}`,
      begin: begin(control),
      rows: () =>
        Number(control.drawings.rows ? settings.now(control.drawings.rows) : control.drawings.side),
      mine: () =>
        [...open(), ...lines].find((line) => line.control.kind === "drawing").control === control,
      say,
      open() {
        if (fits(control, chosen())) return;
        for (const pick of picks) {
          if (pick.control.field in control.when) pick.set(control.when[pick.control.field][0]);
        }
        paintInput();
      },
      run,
    });
  }

  function played(control) {
    return inputs[control.kind].lineOf(control, {
      id,
      examples,
      now: () => ({ ...examples[0].fields, ...chosen() }),
      say,
      run,
      show,
      fill(fields) {
        filled = local = remark = null;
        fill(fields);
      },
    });
  }

  function lineOf(control, at) {
    const wide = ["sentence", "text", "story"].includes(control.kind);
    const below_ = control.kind === "question";
    const own = `${id}-${at}`;
    const described = {
      id: own,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      "aria-describedby": `${control.hint ? `${own}-hint ` : ""}${id}-error`,
      placeholder: control.placeholder,
    };
    if (below_ || control.kind === "story") described.lang = "en"; // the words are those of the network
    const inputmode = { sum: "tel", bits: "numeric" }[control.kind] ?? "text";
    const box = wide
      ? el("textarea", {
        class: "tfe-input tfe-ask-story",
        rows: control.kind === "sentence" ? "1" : "2",
        ...described,
      })
      : el("input", {
        class: `tfe-input tfe-ask-${below_ ? "question" : "line"}`,
        type: "text",
        inputmode,
        ...described,
      });
    const label = el("label", { class: "tfe-label", for: own });
    const hint = el("span", { class: "tfe-ask-hint", id: `${own}-hint` });
    const first = examples.find(({ fields }) => fits(control, fields));
    const line = {
      control,
      box,
      node: below_ ? el("div", { class: "tfe-ask-questionrow" }, label, box) : box,
      above: below_ ? [] : [label, hint],
      words: control.words.length
        ? wordsOf(control.words, () => (open().find((one) => one.box === last) ?? line).box)
        : null,
      text: first?.fields[control.field] ?? "",
      of: (fields) => fields?.[control.field] ?? "",
      bits: control.kind === "bits" ? bitRow((text) => line.write(text)) : null,
      write(text) {
        line.text = text;
        line.paint();
        paintState();
      },
      paint() {
        label.textContent = t(control.label);
        // where the bar is folded its label is hidden, and the hint alone does not name it
        if (control.hint) box.setAttribute("aria-label", t(control.label));
        hint.textContent = control.hint ? t(control.hint) : "";
        if (box.value !== line.text) box.value = line.text;
        line.bits?.set(line.text, control.places);
        if (!wide || !box.isConnected) return;
        box.style.height = "auto";
        box.style.height = `${box.scrollHeight + 2}px`;
      },
    };
    box.addEventListener("input", () => line.write(box.value));
    if (wide) addEventListener("resize", line.paint); // its text breaks into other lines
    box.addEventListener("focus", () => {
      last = box;
    });
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault(); // the form's own answer would press Stop
      run();
    });
    return line;
  }

  /** Words to insert into the field that `field()` says; where there is no room they are folded. */
  function wordsOf(groups, field) {
    const chips = wordChips(groups, field);
    chips.id = `${id}-words`;
    const unfold = () =>
      more.setAttribute("aria-expanded", String(!node.classList.toggle("is-folded")));
    const more = el("button", {
      type: "button",
      class: "tfe-button small tfe-phone tfe-ask-more",
      "aria-controls": chips.id,
      "aria-expanded": "false",
      onclick: unfold,
    });
    const node = el("div", { class: "tfe-ask-vocabulary is-folded" }, more, chips);
    return { node, paint: () => (more.textContent = t(TEXT.words)) };
  }

  // ── the input ──
  const exampleLabel = el("span", {});
  const exampleButtons = examples.map((example, at) =>
    el("button", {
      type: "button",
      class: "tfe-ask-example",
      text: String(at + 1),
      onclick: () => show(example),
    })
  );
  const between = (
    button,
    at,
  ) => (at ? [el("span", { text: "·", "aria-hidden": "true" }), button] : [button]);
  const exampleRow = el(
    "div",
    { class: "tfe-ask-examples", role: "group" },
    exampleLabel,
    ...exampleButtons.flatMap(between),
  );
  const labels = el("div", { class: "tfe-ask-labels" });
  const fields = el("div", { class: "tfe-ask-fields" });
  const below = el("div", { class: "tfe-ask-below" });
  const goLabel = el("span", {});
  const goKey = el("span", { class: "tfe-ask-return", "aria-hidden": "true" });
  const go = el(
    "button",
    { type: "submit", class: "tfe-button primary tfe-ask-go" },
    goLabel,
    goKey,
  );
  const error = el("p", {
    id: `${id}-error`,
    class: "tfe-error tfe-ask-error",
    role: "alert",
    hidden: true,
  });
  const again = retryButton();
  const head = el("div", { class: "tfe-ask-head" }, ...picks.map(({ node }) => node), exampleRow);
  const form = el(
    "form",
    { class: "tfe-ask-in", novalidate: true },
    head,
    labels,
    el("div", { class: "tfe-ask-row" }, fields, go),
    below,
    error,
    again.node,
  );

  // ── the answer ──
  const outLabel = el("span", {});
  const take = el("button", {
    type: "button",
    class: "tfe-button small bare tfe-ask-take",
    text: "TXT",
    onclick: saveText,
  });
  const badge = badgeOf(() => paintState());
  const before = beforeOf({
    take: () => bus.fire("restore", {}),
    fetch: (query) => emit.before({ query }),
    ready: () => !wish.pending,
    paint: paintAnswer,
  });
  const parts = piecesOf({ pick: () => value.pick });
  const answer = answerOf();
  const ended = el("span", { class: "tfe-pieces-nats tfe-ask-ended", hidden: true });
  const start = el("div", { class: "tfe-ask-start" });
  const note = el("p", { class: "tfe-ask-note", role: "status", hidden: true });
  const state = el("span", { class: "tfe-ask-state" }, parts.nats, ended, take, badge.node);
  const out = el(
    "div",
    { class: "tfe-ask-out" },
    el("div", { class: "tfe-ask-head" }, outLabel, state),
    before.node,
    start,
    answer.node,
    parts.node,
    note,
  );
  // On a phone what is asked stands in two lines until somebody wants to edit it.
  const brief = el("p", { class: "tfe-ask-brief tfe-phone", dir: "auto" });
  const edit = el("button", {
    type: "button",
    class: "tfe-link tfe-ask-edit tfe-phone",
    "aria-controls": `${id}-form`,
    onclick: () => fold(!panel.classList.contains("is-folded")),
  });
  form.id = `${id}-form`;
  const panel = el(
    "section",
    { class: `tfe-panel tfe-ask-panel is-folded${inView ? " is-viewed" : ""}` },
    brief,
    form,
    out,
    edit,
    ...lines.flatMap(({ words }) => (words ? [words.node] : [])),
  );
  root.replaceChildren(panel);
  for (const line of lines) line.attach?.(panel);

  const wish = asking({
    emit,
    first: value.query,
    noLink: TEXT.noLink,
    paint: paintState,
    restore: ({ set }) => set && fill({ ...value.fields, ...set }),
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (wish.pending) wish.stop();
    else run();
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || !wish.pending) return;
    event.preventDefault();
    event.stopPropagation();
    wish.stop();
  });

  function fold(folded) {
    panel.classList.toggle("is-folded", folded);
    edit.setAttribute("aria-expanded", String(!folded));
    edit.textContent = t(folded ? TEXT.edit : TEXT.done);
    for (const line of open()) line.paint(); // a box grows with its text once it has a width
  }

  /** What is asked: what was typed, else the example that it is, else what is chosen. */
  function paintBrief() {
    const said = open().filter(({ control }) =>
      !["drawing", "motif", "scene"].includes(control.kind)
    ).map((
      { text },
    ) => text).filter(Boolean);
    const example = examples.find(({ fields }) =>
      value.fields && stamp(fields) === stamp(value.fields)
    );
    const names = picks.filter(({ control }) => fits(control, chosen())).map(({ control, now }) =>
      t(new Map(control.names).get(now(chosen())))
    );
    brief.textContent = nameInvisible(said.join(" · ")) ||
      (example ? t(example.title) : names.join(" · "));
  }

  // ── wishes ──
  /** query and fields set anew on top of it; a query alone may be held ready by the server. */
  /** @param {{query: string | null, set?: any, changes?: boolean}} how */
  function wished({ query, set, changes = false }) {
    local = null;
    grew = false;
    before.end();
    if (changes) hold(value.pick ?? {});
    if (changes && !query) set = { ...value.fields, ...set }; // a run without a link is spelled out
    wish.begin(set ? null : query, { query, set }, { changes });
  }

  /**
   * A change of the model leaves in view what is looked at, though another head or position might
   * be more telling then.
   */
  function hold(pick) {
    const free = Object.entries(pick).filter(([key]) => view.get(key) === null);
    if (free.length) view.set(Object.fromEntries(free.map(([key, at]) => [key, String(at)])));
  }

  /** A place in one text, or a model of one task, says nothing about another. */
  function leave(next) {
    const was = value.fields;
    const long = passage();
    if (!was || !inView) return;
    if (picks.some(({ control: { field } }) => next[field] !== was[field])) {
      view.set({ pos: null, model: null, head: null });
    } else if (long && long.of(was) !== long.of(next)) view.set({ pos: null });
  }

  function run() {
    const set = asked();
    local = open().map((line) => line.refusal?.() ?? null).find(Boolean) ?? null;
    if (settings.judge() || local) return paintState();
    const count = ({ text }) => [...text].length; // whole characters, as the server counts them
    const long = open().find((line) => !line.refusal && count(line) > line.control.most);
    local = long
      ? filledIn(TEXT.long, { n: grouped(count(long)), most: grouped(long.control.most) })
      : null;
    if (local) return paintState();
    filled = stamp(set);
    leave(set);
    return wished({ query: "", set });
  }

  function show(example) {
    filled = null; // also where it stood here before and was written over
    remark = null;
    fill(example.fields);
    if (picks.length) leave(example.fields);
    wished({ query: example.query });
  }

  /**
   * The controls follow a request, unless it came from them, or they were filled from it already,
   * and have been changed since.
   */
  function fill(from) {
    if (!from) return;
    const others = Object.entries(chosen()).some(([field, key]) => from[field] !== key);
    if (stamp(from) === filled && !others) return;
    for (const pick of picks) pick.set(from[pick.control.field]);
    for (const line of open()) line.text = line.of(from);
    settings.set(from);
    filled = stamp(from);
    local = null;
    paintInput();
  }

  // ── drawing ──
  function paintInput() {
    const now = open();
    for (const pick of picks) pick.paint();
    panel.dataset.keyboard = now[0]?.control.kind ?? "";
    panel.classList.toggle("is-broad", inView && (broad || !now.length)); // nothing is typed
    const put = (node, children) =>
      [...node.children].some((child, at) => child !== children[at]) ||
        node.children.length !== children.length
        ? node.replaceChildren(...children)
        : null;
    put(labels, now.flatMap(({ above }) => above));
    put(fields, now.map(({ node }) => node));
    put(below, [
      ...now.flatMap(({ bits }) => (bits ? [bits.node] : [])),
      ...(settings.node.children.length ? [settings.node] : []),
    ]);
    settings.paint();
    for (const line of now) line.paint();
    for (const line of lines) if (line.words) line.words.node.hidden = !now.includes(line);
  }

  function paintTexts() {
    panel.setAttribute("aria-label", t(region));
    exampleLabel.textContent = t(TEXT.examples);
    exampleRow.setAttribute("aria-label", t(TEXT.examples));
    exampleButtons.forEach((button, at) => {
      button.title = t(TEXT.example, { n: at + 1, title: t(examples[at].title) });
      button.setAttribute("aria-label", button.title);
    });
    for (const { words } of lines) words?.paint();
    outLabel.textContent = t(TEXT.answer);
    take.title = t(TEXT.take);
    take.setAttribute("aria-label", t(TEXT.take));
  }

  function paintAnswer() {
    const shown = before.shown?.ask ?? value;
    const said = shown.grown ?? shown.answer ?? null;
    const kind =
      lines.find(({ control }) => shown.fields && fits(control, shown.fields))?.control.kind ?? "";
    answer.paint(said?.pieces ? null : said, kind);
    parts.paint(said?.pieces ? said : null, Boolean(shown.grown));
    paintStart();
    paintEnded();
  }

  /** What is offered where nothing was asked yet, and while no answer is on its way. */
  function paintStart() {
    const shown = before.shown?.ask ?? value;
    start.hidden = Boolean(shown.grown ?? shown.answer) || inView || wish.pending;
    if (start.hidden) return;
    const offer = examples.length
      ? [
        el("button", {
          type: "button",
          class: "tfe-button",
          text: t(TEXT.use, { n: 1 }),
          onclick: () => show(examples[0]),
        }),
      ]
      : [];
    start.replaceChildren(el("span", { class: "tfe-ask-empty", text: t(TEXT.empty) }), ...offer);
  }

  /** Was what stands in view cancelled while it grew? */
  const isCut = () => wish.stopped && grew;

  /** Why what was generated ends: briefly, in full where it is pointed at. */
  function paintEnded() {
    const cut = isCut();
    const { ended: all = [] } = before.shown?.ask ?? value;
    const briefs = cut
      ? [t(TEXT.cut)]
      : wish.pending && grew
      ? []
      : all.map(({ brief }) => t(brief));
    ended.hidden = briefs.length === 0;
    ended.textContent = [...new Set(briefs)].join(" · ");
    ended.title = cut ? t(TEXT.cancelled) : all.map(({ text }) => t(text)).join(" ");
  }

  function paintState() {
    const busy = wish.pending;
    panel.classList.toggle("is-stale", busy && !value.grown);
    go.classList.toggle("primary", !busy);
    const reading = open().some((line) => line.reading?.());
    panel.setAttribute("aria-busy", String(busy || reading));
    go.disabled = reading && !busy;
    goLabel.textContent = t(busy ? TEXT.stop : (open()[0]?.goes?.() ?? props.run ?? TEXT.run));
    goKey.textContent = busy ? "Esc" : passage() ? ENTER : "⏎";
    const wrong = busy ? null : (settings.refusal() ?? local ?? wish.abandoned ??
      (value.state === "refused" ? value.error : null));
    const same = (fields) => !settings.unsaid() && stamp(asked()) === stamp(fields);
    badge.paint({
      value: { ...value, request: value.fields },
      wish,
      wrong,
      differs: () => !same(value.fields),
      progress: () => t(value.badge.progress),
    });
    passage()?.press(same);
    if (wrong || value.state === "empty") fold(false);
    paintBrief();
    error.hidden = !wrong;
    error.textContent = wrong ? t(wrong) : "";
    again.paint(Boolean(wrong) && wrong === wish.abandoned);
    for (const { box } of lines) box?.setAttribute("aria-invalid", String(Boolean(wrong)));
    const whole = Boolean(value.answer) || Boolean(value.lines?.length);
    paintStart();
    const cut = isCut();
    paintEnded();
    take.hidden = busy || Boolean(wrong) || !whole || cut;
    for (const { node } of [answer, parts]) node.classList.toggle("is-stale", Boolean(wrong));
    const said = [
      wish.lost ? TEXT.lost : null,
      cut ? TEXT.cancelled : null,
      remark,
      value.notice,
      value.warning,
      whole && !value.query ? TEXT.noLink : null,
    ].filter(Boolean).map((each) => t(each));
    if (wrong && whole) said.push(t(TEXT.stale));
    note.hidden = said.length === 0;
    note.textContent = said.join(" ");
    exampleButtons.forEach((button, at) =>
      button.setAttribute(
        "aria-pressed",
        String(value.fields !== undefined && stamp(examples[at].fields) === stamp(value.fields)),
      )
    );
  }

  /** What was asked and what was answered, with the address of this view. */
  function saveText() {
    const shown = before.shown?.ask ?? value;
    const said = [
      ...(shown.answer ? (shown.answer.pieces ? parts : answer).text(shown.answer) : []),
      ...shown.lines.map((line) => t(line)),
      ...shown.ended.map(({ text }) => t(text)),
    ];
    save(
      fileName(["answer"], "txt"),
      `${[...said, foot()].join("\n")}\n`,
      "text/plain;charset=utf-8",
    );
  }

  function draw() {
    fold(panel.classList.contains("is-folded"));
    paintTexts();
    paintInput();
    paintAnswer();
    paintState();
  }

  // ── wiring ──
  /** What is drawn of one task is hidden while a run of another one is in view. */
  /** @param {{task?: any}} [now] */
  function showTask({ task } = {}) {
    if (task) {
      ofTask.replaceSync(
        `[class*="tfe-of-"]:not(.tfe-of-${CSS.escape(task)}) { display: none !important; }`,
      );
    }
  }

  function receive() {
    const next = props.value ?? { state: "empty" };
    if (next.state === "before") {
      before.arrived(next.query, next.values);
      return;
    }
    if (!wish.receive(next)) return;
    const { error: _error, notice: _notice, grown: _grown, ...rest } = value;
    const under = next.state === "waiting" || next.state === "running";
    grew = next.state === "running" || (grew && under);
    value = under
      ? { ...rest, state: next.state, badge: next.badge, grown: next.grown }
      : next.state === "refused"
      ? { ...rest, ...next }
      : next;
    if (next.fields) fill(next.fields);
    showTask(next);
    if (!under) before.of(value);
    paintAnswer();
    paintState();
  }
  watch("value", receive);
  bus.on("wish", wished);
  onLang(draw);
  fill(value.fields);
  showTask(value);
  before.of(value);
  draw();
  wish.follow(() => {
    local = remark = null;
    filled = null; // another state of the page is wanted: its input replaces what stands here
    before.end();
  });
  // nothing is stored of a model that somebody brings along
  if (props.begins && !wish.pending && !request.get()) show(examples[0]);
  if (!wish.pending && (request.get() || !step.get())) opened(); // else the shell opens what the step asks
}

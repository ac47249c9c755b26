// What changes if the network may think less, or more, or must stop when it is told to: the knobs of the halting unit, then one big
// signed number, the change of held-out accuracy, and one table of before, after and difference.

import { el, segmented } from "./lib/dom.js";
import { csv, exportBar, fileName, save } from "./lib/export.js";
import { onLang, t } from "./lib/lang.js";
import { foot } from "./lib/source.js";
import { bus } from "./lib/state.js";
import { late, overtake } from "./lib/stored.js";

const TEXT = {
  title: { en: "What changes if …", zh: "如果……会怎样" },
  changes: { en: "What may be changed", zh: "可以改变什么" },
  restore: { en: "Restore", zh: "复原" },
  epsilon: { en: "ε, halts at 1 − ε", zh: "ε，累计到 1 − ε 即停" },
  bias: { en: "halting bias", zh: "停止偏置" },
  free: { en: "off", zh: "关" },
  on: { en: "on", zh: "开" },
  off: { en: "off", zh: "关" },
  idle: { en: "no effect while the number is forced", zh: "次数被强制时不起作用" },
  points: { en: "points of accuracy, held out", zh: "个百分点：留出数据的准确率" },
  from: { en: "{before} % → {after} %", zh: "{before} % → {after} %" },
  what: { en: "what", zh: "项目" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差值" },
  own: { en: "this input", zh: "这个输入" },
  held: { en: "{n} held-out inputs", zh: "{n} 个留出的输入" },
  answer: { en: "answer", zh: "回答" },
  ponder: { en: "ponder N + R", zh: "思考步数 N + R" },
  accuracy: { en: "accuracy, %", zh: "准确率，%" },
  time: { en: "time, ms", zh: "用时，毫秒" },
  answerBefore: { en: "answer before", zh: "之前的回答" },
  answerAfter: { en: "answer after", zh: "之后的回答" },
  same: { en: "the same", zh: "相同" },
  other: { en: "another", zh: "不同" },
  lost: { en: "now wrong", zh: "变错了" },
  won: { en: "now right", zh: "变对了" },
  right: { en: "right", zh: "正确" },
  wrong: { en: "wrong", zh: "错误" },
  nothing: { en: "(nothing)", zh: "（空）" },
};

const MINUS = "\u2212";
const MARK = { true: "✓", false: "✗" };
const number = (value, digits) => value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", MINUS); // no minus before a zero
const plus = (value, digits) => (/[1-9]/.test(value.toFixed(digits)) && value > 0 ? "+" : "") + number(value, digits);
const LONG = 8; // signs of an answer that no longer stands in a column

/** props, value and event: see rethink.py. */
export function mount(root, props, emit, watch) {
  const { limits } = props;
  let value = props.value ?? { state: "empty" };
  let wanted = value.request ?? null; // the request as the controls stand, ahead of the answer
  let waiting = false;
  let mine = false; // the answer under way is to this panel's own question
  let elsewhere = false; // another input is being answered

  /** M as trained, for the task in view. */
  const trained = () => limits.trained[wanted?.task] ?? limits.max_limit;
  const limitOf = (request) => request.limit || trained();

  // ── what stands where ──
  const KNOBS = [
    { field: "forced", label: props.texts.forced, low: 0, high: limits.most_forced, step: 1, said: (n) => (n === 0 ? t(TEXT.free) : String(n)) },
    { field: "limit", label: props.texts.limit, low: 1, high: limits.max_limit, step: 1, said: (n) => String(n), read: limitOf, write: (n) => (n === trained() ? 0 : n) },
    { field: "epsilon", label: TEXT.epsilon, low: 0, high: limits.max_epsilon, step: 0.01, said: (n) => n.toFixed(2) },
    { field: "bias", label: TEXT.bias, low: -limits.max_bias, high: limits.max_bias, step: 0.5, said: (n) => plus(n, 1) },
  ];
  const title = el("h2", { class: "tfe-title" });
  const restoreText = el("span", {});
  const restore = el("button", { type: "button", class: "tfe-button small tfe-rethink-restore", onclick: reset }, restoreText, el("kbd", { text: "Esc" }));
  const sliders = KNOBS.map((knob) => {
    const id = `tfe-rethink-${knob.field}`;
    const input = el("input", { id, class: "tfe-range", type: "range", min: knob.low, max: knob.high, step: knob.step, "data-field": knob.field });
    const slider = { knob, input, label: el("label", { class: "tfe-label", for: id }), output: el("output", { for: id }) };
    input.addEventListener("input", () => paintSlider(slider));
    input.addEventListener("change", () => ask({ [knob.field]: (knob.write ?? Number)(Number(input.value)) }));
    return slider;
  });
  const told = segmented({ options: [], value: "on", label: "", onPick: (key) => ask({ told: key === "on" }) });
  const toldLabel = el("span", { class: "tfe-label" });
  const knobs = el(
    "div",
    { class: "tfe-rethink-knobs", role: "group" },
    ...sliders.flatMap(({ label, input, output }) => [label, input, output]),
    el("div", { class: "tfe-rethink-told" }, toldLabel, told.node),
  );
  const error = el("p", { class: "tfe-error tfe-rethink-error", role: "alert", hidden: true });
  const big = el("strong", { class: "tfe-number tfe-rethink-number" });
  const unit = el("span", { class: "tfe-rethink-unit" });
  const from = el("span", { class: "tfe-rethink-from" });
  const table = el("table", { class: "tfe-table tfe-rethink-table" });
  const sentence = el("p", { class: "tfe-words tfe-rethink-sentence", "aria-live": "polite" });
  const exports = exportBar({ TXT: saveText, CSV: saveCsv });
  const shown = el("div", { class: "tfe-rethink-shown" }, el("p", { class: "tfe-rethink-headline" }, big, el("span", { class: "tfe-rethink-what" }, unit, from)), table, sentence);
  const result = el("div", { class: "tfe-rethink-result", hidden: true }, shown, exports);
  const panel = el("section", { class: "tfe-panel tfe-rethink-panel" }, el("div", { class: "tfe-row tight apart" }, title, restore), knobs, error, result);
  root.replaceChildren(panel);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && changed()) {
      event.stopPropagation();
      reset();
    }
  });

  // ── what is asked ──
  const neutral = () => ({ epsilon: limits.epsilon, limit: 0, forced: 0, bias: 0, told: true });
  const spelled = (request) => JSON.stringify(request, Object.keys(request ?? {}).sort());
  const changed = () => Boolean(wanted && (wanted.epsilon !== limits.epsilon || limitOf(wanted) !== trained() || wanted.forced || wanted.bias || !wanted.told));

  function ask(patch) {
    if (!wanted || elsewhere) return;
    wanted = { ...wanted, ...patch };
    waiting = mine = true;
    drawKnobs();
    paintState();
    overtake();
    emit.ask(wanted);
  }

  function reset() {
    ask(neutral());
  }

  // ── knobs ──
  function paintSlider({ knob, input, output }) {
    const at = Number(input.value);
    input.style.setProperty("--at", `${((at - knob.low) / (knob.high - knob.low)) * 100}%`);
    output.textContent = knob.said(at);
    input.setAttribute("aria-valuetext", output.textContent);
  }

  function drawKnobs() {
    const off = !wanted || elsewhere;
    const request = wanted ?? neutral();
    for (const slider of sliders) {
      const { knob, input, label } = slider;
      label.textContent = t(knob.label);
      input.value = String(knob.read ? knob.read(request) : request[knob.field]);
      // Who is told when to stop neither adds up nor counts.
      const idle = knob.field !== "forced" && request.forced > 0;
      input.disabled = off || idle;
      input.title = idle ? t(TEXT.idle) : "";
      label.classList.toggle("is-idle", idle);
      paintSlider(slider);
    }
    toldLabel.textContent = t(props.texts.told);
    told.set({
      label: t(props.texts.told),
      value: request.told ? "on" : "off",
      options: ["on", "off"].map((key) => ({ key, label: t(TEXT[key]) })),
    });
    for (const button of told.node.children) button.disabled = off;
  }

  // ── drawing ──
  const written = (text) => t(text) || t(TEXT.nothing);

  /** The rows of the table: what is compared, under which head, before, after and the difference as they are read. */
  function rows() {
    const pair = ([before, after], digits, scale = 1) => [number(before * scale, digits), number(after * scale, digits), plus((after - before) * scale, digits)];
    const [was, is] = value.right;
    const verdict = JSON.stringify(value.answers[0]) === JSON.stringify(value.answers[1]) ? "same" : was && !is ? "lost" : is && !was ? "won" : "other";
    return [
      { head: "own", key: "answer", cells: [...value.answers.map(written), t(TEXT[verdict])], right: value.right, verdict },
      { head: "own", key: "ponder", cells: pair(value.own_ponder, 2) },
      { head: "held", key: "accuracy", cells: pair(value.accuracy, 1, 100) },
      { head: "held", key: "ponder", cells: pair(value.ponder, 2) },
      { head: "held", key: "time", cells: pair(value.milliseconds, value.milliseconds[0] < 10 ? 1 : 0) },
    ];
  }

  const headText = (head) => t(TEXT[head], { n: value.sample.toLocaleString("en-US") });

  /** The answer before (0) or after (1) with its mark; of two as long as each other, the signs that became others are set off. */
  function marked({ cells, right }, at) {
    const [was, is] = cells.slice(0, 2).map((text) => [...text]);
    const compared = at === 1 && was.length === is.length && value.answers.every((text) => typeof text === "string");
    const signs = compared ? is.map((sign, place) => (sign === was[place] ? sign : el("u", { class: "is-changed", text: sign }))) : [cells[at]];
    const mark = el("span", { class: right[at] ? "is-right" : "is-wrong", role: "img", "aria-label": t(right[at] ? TEXT.right : TEXT.wrong), text: MARK[right[at]] });
    return [...signs, " ", mark];
  }

  function paintTable() {
    const all = rows();
    const long = all[0].cells.slice(0, 2).some((text) => text.length > LONG);
    const body = [];
    let head = null;
    for (const row of all) {
      if (row.head !== head) {
        head = row.head;
        body.push(el("tr", { class: "tfe-rethink-head" }, el("th", { scope: "colgroup", colspan: "4", text: headText(head) })));
      }
      const name = (text) => el("th", { scope: "row", text });
      if (row.key !== "answer") body.push(el("tr", {}, name(t(TEXT[row.key])), ...row.cells.map((text, at) => el("td", { class: at === 2 ? "is-difference" : null, text }))));
      else if (!long) {
        const cells = [0, 1].map((at) => el("td", { class: "is-answer" }, ...marked(row, at)));
        body.push(el("tr", {}, name(t(TEXT.answer)), ...cells, el("td", { class: `is-difference is-${row.verdict}`, text: row.cells[2] })));
      } else {
        // Answers that are long have a line each.
        row.cells.forEach((text, at) => {
          const which = ["answerBefore", "answerAfter", "difference"][at];
          const cell = at < 2 ? el("td", { class: "is-answer is-long", colspan: "3" }, ...marked(row, at)) : el("td", { class: `is-difference is-${row.verdict}`, colspan: "3", text });
          body.push(el("tr", {}, name(t(TEXT[which])), cell));
        });
      }
    }
    const columns = ["before", "after", "difference"].map((key) => el("th", { scope: "col", text: t(TEXT[key]) }));
    table.replaceChildren(el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "tfe-unseen", text: t(TEXT.what) })), ...columns)), el("tbody", {}, ...body));
  }

  function paintState() {
    const seen = value.state === "done" && (changed() || waiting);
    panel.setAttribute("aria-label", t(TEXT.title));
    title.textContent = t(TEXT.title);
    knobs.setAttribute("aria-label", t(TEXT.changes));
    panel.classList.toggle("is-stale", waiting);
    panel.setAttribute("aria-busy", String(waiting));
    bus.fire("changing", { by: "rethink", state: waiting ? "running" : null });
    error.hidden = value.state !== "refused" || !value.error;
    error.textContent = error.hidden ? "" : t(value.error);
    result.hidden = !seen;
    restore.hidden = !changed();
    restoreText.textContent = t(TEXT.restore);
    if (!seen) return;
    const [before, after] = value.accuracy;
    big.textContent = plus((after - before) * 100, 1);
    unit.textContent = t(TEXT.points);
    from.textContent = t(TEXT.from, { before: number(before * 100, 1), after: number(after * 100, 1) });
    paintTable();
    paintSentence();
  }

  /** The computed sentence; parts between ⟦…⟧ wear the colour of their role: ⟦o:734⟧. */
  function paintSentence() {
    const parts = t(value.sentence).split(/(⟦[qko]:[^⟧]*⟧)/);
    sentence.replaceChildren(
      ...parts.map((part) => {
        const role = /^⟦([qko]):([^⟧]*)⟧$/.exec(part);
        return role ? el("b", { class: { q: "tfe-query", k: "tfe-key", o: "tfe-out" }[role[1]], text: role[2] }) : document.createTextNode(part);
      }),
    );
  }

  // ── take along ──
  function saveText() {
    const said = ({ head, key, cells }) => `${headText(head)}, ${t(TEXT[key])}: ${cells[0]} → ${cells[1]} (${cells[2]})`;
    const lines = [`${big.textContent} ${unit.textContent}, ${from.textContent}`, ...rows().map(said), sentence.textContent, foot()];
    save(fileName(["what-if"], "txt"), `${lines.join("\n")}\n`, "text/plain");
  }

  /** The numbers as they came, not rounded. */
  function saveCsv() {
    const pair = (name, [before, after]) => [name, before, after, after - before];
    const [was, is] = value.answers.map((text) => t(text));
    const lines = [
      ["what", "before", "after", "difference"],
      ["answer", was, is, ""],
      ["right", ...value.right.map(Number), value.right[1] - value.right[0]],
      pair("ponder", value.own_ponder),
      pair("heldout_accuracy", value.accuracy),
      pair("heldout_ponder", value.ponder),
      pair("heldout_milliseconds", value.milliseconds),
      ["heldout_inputs", value.sample, value.sample, 0],
    ];
    save(fileName(["what-if"], "csv"), csv(lines), "text/csv");
  }

  function draw() {
    drawKnobs();
    paintState();
  }

  // ── wiring ──
  watch("value", () => {
    const next = props.value ?? { state: "empty" };
    if (late(next)) return;
    if (next.state === "running") {
      waiting = true;
      paintState();
      return;
    }
    // The answer to a wish that a newer one has overtaken.
    if (mine && next.state !== "refused" && spelled(next.request) !== spelled(wanted)) return;
    waiting = mine = false;
    value = next.state === "refused" ? { ...value, state: next.error ? "refused" : value.state, error: next.error } : next;
    wanted = next.state === "refused" ? (value.request ?? wanted) : value.request; // after a refusal the knobs go back to what is shown
    draw();
  });
  bus.on("asking", (yes) => {
    elsewhere = yes;
    if (yes) mine = false;
    drawKnobs();
  });
  bus.on("restore", () => changed() && reset());
  onLang(draw);
  draw();
}

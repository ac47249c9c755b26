// What changes if …, for pictures: turn a knob, silence a head. Each pattern that is touched shows its picture before and after
// (lib/pairs.js).

import { el } from "./lib/dom.js";
import { onLang, t } from "./lib/lang.js";
import { pairsOf } from "./lib/pairs.js";
import { knobsOf } from "./lib/rereadknobs.js";
import { bus, view } from "./lib/state.js";
import { late, overtake } from "./lib/stored.js";

const TEXT = {
  title: { en: "What changes if …", zh: "如果……会怎样" },
  silence: { en: "Silence {head}", zh: "关掉 {head}" },
  wake: { en: "Give {head} back", zh: "恢复 {head}" },
  head: { en: "head {pattern} {name}", zh: "{pattern} 头 {name}" },
  give: { en: "{head}: give it back", zh: "{head}：恢复" },
  look: { en: "Choose a head to silence it; shift-click on its picture does the same.", zh: "先选一个头再关掉它；shift-点击小图也可以。" },
  changes: { en: "What may be changed", zh: "可以改变什么" },
  restore: { en: "Restore", zh: "复原" },
  drawing: { en: "Drawing it again …", zh: "正在重新画……" },
};

const sameHead = (a, b) => a[0] === b[0] && a[1] === b[1] && a[2] === b[2];

/**
 * props.knobs: as lib/rereadknobs.js takes them, each with `patterns` · props.patterns: {key: {en, zh}} · props.heads: {key: [layers, heads]}
 * props.measure: as figures/pairs.py spells it · props.signed: {light, dark} evenly spaced stops.
 * value: see remake.py. Event: ask(request).
 */
export function mount(root, props, emit, watch) {
  let value = props.value ?? { state: "empty" };
  let wanted = value.request ?? null; // the request as the controls stand, ahead of the answer
  let waiting = false;
  let mine = false; // the answer under way is to this panel's own question
  let elsewhere = false; // another picture is being made

  // ── what stands where ──
  const title = el("h2", { class: "tfe-title" });
  const restoreText = el("span", {});
  const restore = el("button", { type: "button", class: "tfe-button small tfe-remake-restore", onclick: reset }, restoreText, el("kbd", { text: "Esc" }));
  const turning = knobsOf(props.knobs, { ask, shut: (one) => !wanted || elsewhere || !one.patterns.some(here), panel: "remake" });
  const cuts = el("div", { class: "tfe-remake-cuts" }, ...turning.nodes);
  const knob = el("div", { class: "tfe-remake-heads" });
  const knobs = el("div", { class: "tfe-remake-knobs", role: "group" }, cuts, knob);
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const pairs = pairsOf(props.signed);
  const panel = el("section", { class: "tfe-panel tfe-remake-panel" }, el("div", { class: "tfe-row tight apart" }, title, restore), knobs, error, pairs.node);
  root.replaceChildren(panel);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && changed()) {
      event.stopPropagation();
      reset();
    }
  });

  // ── what is asked ──
  const spelled = (request) => JSON.stringify(request, Object.keys(request ?? {}).sort());
  const changed = () => Boolean(wanted && (wanted.silenced?.length || turning.changed(wanted)));

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
    ask({ silenced: [], ...turning.neutral() });
  }

  function toggleHead(head) {
    const now = wanted?.silenced ?? [];
    ask({ silenced: now.some((other) => sameHead(other, head)) ? now.filter((other) => !sameHead(other, head)) : [...now, head] });
  }

  // ── knobs ──
  const headName = ([pattern, layer, head]) => t(TEXT.head, { pattern: t(props.patterns[pattern] ?? pattern), name: `${layer + 1}·${head + 1}` });

  /** Did this pattern make what is in view? */
  const here = (pattern) => pattern in props.heads && (value.patterns ?? []).includes(pattern);

  /** The head in view: the address says pattern and "3.2" counted from 1. */
  function looked() {
    const parts = /^(\d+)\.(\d+)$/.exec(view.get("head") ?? value.pick?.head ?? "");
    const pattern = view.get("pattern") ?? value.pick?.pattern;
    if (!parts || !here(pattern)) return null;
    const [layer, head] = [Number(parts[1]) - 1, Number(parts[2]) - 1];
    const [layers, heads] = props.heads[pattern];
    return layer >= 0 && layer < layers && head >= 0 && head < heads ? [pattern, layer, head] : null;
  }

  function drawKnobs() {
    const off = !wanted || elsewhere;
    turning.draw(wanted);
    const had = knob.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const head = looked();
    const now = wanted?.silenced ?? [];
    const silent = head && now.some((other) => sameHead(other, head));
    const nodes = [
      el("button", {
        type: "button",
        class: "tfe-button small tfe-remake-do",
        "data-key": "do",
        disabled: !head || off,
        text: t(silent ? TEXT.wake : TEXT.silence, { head: head ? headName(head) : "–" }),
        title: t(TEXT.look),
        onclick: () => toggleHead(head),
      }),
      ...now.map((other) =>
        el(
          "button",
          { type: "button", class: "tfe-chip tfe-remake-chip", "data-key": other.join("."), "aria-label": t(TEXT.give, { head: headName(other) }), disabled: off, onclick: () => toggleHead(other) },
          headName(other),
          el("span", { text: " ×", "aria-hidden": "true" }),
        ),
      ),
    ];
    knob.replaceChildren(...nodes);
    if (had !== null) (nodes.find((node) => node.dataset.key === had) ?? nodes[0]).focus({ preventScroll: true });
  }

  // ── drawing ──
  function paintState() {
    const shown = value.state === "done" && (changed() || waiting);
    panel.setAttribute("aria-label", t(TEXT.title));
    title.textContent = t(TEXT.title);
    knobs.setAttribute("aria-label", t(TEXT.changes));
    panel.classList.toggle("is-stale", waiting);
    panel.setAttribute("aria-busy", String(waiting));
    bus.fire("changing", { by: "remake", state: waiting ? "running" : null });
    error.hidden = value.state !== "refused" || !value.error;
    error.textContent = error.hidden ? "" : t(value.error);
    pairs.node.hidden = !shown;
    restore.hidden = !changed();
    restoreText.textContent = t(TEXT.restore);
  }

  function draw() {
    drawKnobs();
    paintState();
    pairs.draw();
  }

  const showPairs = () => pairs.set(value.state === "done" ? { pairs: value.pictures, sentence: value.sentence, measure: props.measure, names: props.patterns } : null);

  // ── wiring ──
  watch("value", () => {
    const next = props.value ?? { state: "empty" };
    if (late(next)) return;
    if (next.state === "running") {
      waiting = true;
      if (!mine && next.request) {
        wanted = next.request; // a link or a step asks for a change: the knobs show which before its answer is there
        drawKnobs();
      }
      paintState();
      return;
    }
    // The answer to a wish that a newer one has overtaken.
    if (mine && next.state !== "refused" && spelled(next.request) !== spelled(wanted)) return;
    waiting = mine = false;
    value = next.state === "refused" ? { ...value, state: next.error ? "refused" : value.state, error: next.error } : next;
    wanted = next.state === "refused" ? (value.request ?? wanted) : value.request; // after a refusal the knobs go back to what is shown
    draw();
    showPairs();
  });
  view.on(["head", "pattern"], drawKnobs);
  bus.on("silence", ({ model, pattern, kind, layer, head }) => {
    const key = model ?? pattern ?? kind;
    if (wanted && key in props.heads) toggleHead([key, layer, head]);
  });
  bus.on("asking", (yes) => {
    elsewhere = yes;
    if (yes) mine = false;
    drawKnobs();
  });
  bus.on("restore", () => changed() && reset());
  onLang(draw);
  draw();
  showPairs();
}

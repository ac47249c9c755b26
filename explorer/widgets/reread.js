// What changes if …, for texts read character by character: knobs that the page declares, then the same characters as they were read and
// as they are read now. Each model that is reached shows what every stretch costs before, after and the difference, and one number.

import { el } from "./lib/dom.js";
import { projecting } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { knobsOf } from "./lib/rereadknobs.js";
import { TEXT } from "./lib/rereadwords.js";
import { sidesOf } from "./lib/sides.js";
import { bus, judge, request, view } from "./lib/state.js";
import { late, overtake } from "./lib/stored.js";

/** props, value and event: see reread.py. */
export function mount(root, props, emit, watch) {
  let value = props.value ?? { state: "empty" };
  let wanted = value.request ?? null; // the request as the knobs stand, ahead of the answer
  let waiting = false;
  let mine = false; // the answer under way is to this panel's own question
  let elsewhere = false; // another text is being read

  // ── what stands where ──
  const title = el("h2", { class: "tfe-title" });
  const restoreText = el("span", {});
  const restore = el("button", { type: "button", class: "tfe-button small tfe-reread-restore", onclick: reset }, restoreText, el("kbd", { text: "Esc" }));
  const head = el("div", { class: "tfe-row tight apart tfe-controls" }, title, restore);
  const spanKnob = props.knobs.find(({ kind }) => kind === "spans");
  const headKnob = props.knobs.find(({ kind }) => kind === "heads");
  const knobs = knobsOf(props.knobs, {
    ask,
    shut: () => !wanted || elsewhere,
    looked,
    watched: () => [[view.get("model"), value.pick?.model, ...(value.sides ?? []).map(({ key }) => key), ...Object.keys(headKnob.models)].find((key) => key in headKnob.models), ...looked()],
    scope: {
      get: () => (["layer", "head"].includes(view.get("reread_of")) ? view.get("reread_of") : "all"),
      set: (key) => view.set({ reread_of: key === "all" ? null : key }),
    },
  });
  const group = el("div", { class: "tfe-reread-knobs tfe-controls", role: "group" }, ...knobs.nodes);
  const error = el("p", { class: "tfe-error tfe-controls", role: "alert", hidden: true });
  const status = el("p", { class: "tfe-note tfe-reread-status tfe-controls", role: "status" });
  const sides = sidesOf({ root, scales: props.scales });
  const panel = el("section", { class: "tfe-panel tfe-reread-panel" }, head, group, error, status, sides.node);
  root.replaceChildren(panel);

  // ── what is asked ──
  const spelled = (request) => JSON.stringify(request, Object.keys(request ?? {}).sort());
  const changed = () => Boolean(wanted) && knobs.changed(wanted);

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
    ask(knobs.neutral());
  }

  /** The head in view, [layer, head] from 0: the address says "2.3" counted from 1; mean and max are no single head. */
  function looked() {
    for (const text of [view.get("head"), value.pick?.head, "1.1"]) {
      const found = /^(\d+)\.(\d+)$/.exec(text ?? "");
      const [layer, one] = found ? [Number(found[1]) - 1, Number(found[2]) - 1] : [-1, -1];
      if (layer >= 0 && one >= 0 && layer < (spanKnob?.layers ?? Infinity) && one < (spanKnob?.heads ?? Infinity)) return [layer, one];
    }
    return [0, 0];
  }

  // ── drawing ──
  function drawKnobs() {
    judge({ reread_of: (text) => ["layer", "head"].includes(text) }, request.get());
    knobs.draw(wanted);
  }

  function paintState() {
    const seen = value.state === "done" && (changed() || waiting);
    panel.setAttribute("aria-label", t(TEXT.title));
    title.textContent = t(TEXT.title);
    group.setAttribute("aria-label", t(TEXT.changes));
    panel.classList.toggle("is-stale", waiting);
    panel.setAttribute("aria-busy", String(waiting));
    bus.fire("changing", { by: "reread", state: waiting ? "running" : null });
    error.hidden = value.state !== "refused" || !value.error;
    error.textContent = error.hidden ? "" : t(value.error);
    status.textContent = waiting && !seen ? t(TEXT.running) : "";
    sides.node.hidden = !seen;
    restore.hidden = !changed();
    restoreText.textContent = t(TEXT.restore);
  }

  function draw() {
    drawKnobs();
    paintState();
    sides.draw();
  }

  // ── alive ──
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || projecting()) return;
    if (sides.unlock(event.target)) event.stopPropagation();
    else if (changed()) {
      event.stopPropagation();
      reset();
    }
  });
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
    drawKnobs();
    paintState();
    sides.set(value.state === "done" ? value : null);
  });
  view.on(["head", "reread_of"], drawKnobs);
  view.on(["model"], () => headKnob && drawKnobs());
  bus.on("silence", ({ model, kind, layer, head: one }) => wanted && !elsewhere && knobs.toggle([model ?? kind.split(".")[0], layer, one]));
  bus.on("asking", (yes) => {
    elsewhere = yes;
    if (yes) mine = false;
    drawKnobs();
  });
  bus.on("restore", () => changed() && reset());
  onLang(draw);
  draw();
  sides.set(value.state === "done" ? value : null);
}

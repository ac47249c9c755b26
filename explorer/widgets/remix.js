// What changes if …, for music: the relative term off or cut short, heads silenced, the motif moved or stretched. Each model that is
// reached shows its roll before, after and the difference on one scale, one signed number, and both can be heard.

import { unpack } from "./lib/arrays.js";
import { el } from "./lib/dom.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { onLang, t } from "./lib/lang.js";
import { noteAt, paintRoll, pitchName, placed, shared } from "./lib/smallroll.js";
import { foot } from "./lib/source.js";
import { bus, view } from "./lib/state.js";
import { late, overtake } from "./lib/stored.js";
import { css, dark, onTheme } from "./lib/theme.js";

const TEXT = {
  title: { en: "What changes if …", zh: "如果……会怎样" },
  changes: { en: "What may be changed", zh: "可以改变什么" },
  relative: { en: "relative positions off", zh: "关掉相对位置" },
  farthest: { en: "distance at most", zh: "距离不超过" },
  semitones: { en: "motif, semitones", zh: "动机移调，半音" },
  stretch: { en: "motif’s times", zh: "动机时间" },
  trained: { en: "as trained", zh: "同训练时" },
  cells: { en: "{n} cells", zh: "{n} 格" },
  events: { en: "{n} events", zh: "{n} 个事件" },
  halfTones: { en: "{n} semitones", zh: "{n} 个半音" },
  silence: { en: "Silence {head}", zh: "关掉 {head}" },
  wake: { en: "Give {head} back", zh: "恢复 {head}" },
  head: { en: "head {name}, {model}", zh: "{model} 的头 {name}" },
  give: { en: "{head}: give it back", zh: "{head}：恢复" },
  look: { en: "Choose a head to silence it; shift-click on its picture does the same.", zh: "先选一个头再关掉它；shift-点击小图也可以。" },
  none: { en: "no effect: no model in view has a relative term", zh: "不起作用：所示模型都没有相对位置项" },
  off: { en: "no effect while relative positions are off", zh: "相对位置关掉时不起作用" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差别" },
  moved: { en: "difference, moved back", zh: "差别（移回后）" },
  gone: { en: "gone", zh: "消失" },
  came: { en: "new", zh: "新增" },
  stayed: { en: "in both", zh: "两者都有" },
  stretched: { en: "Times were stretched, so there is no difference note by note.", zh: "时间被伸缩了，所以没有逐音的差别。" },
  cell: { en: "nats per cell", zh: "纳特/格" },
  event: { en: "nats per event", zh: "纳特/事件" },
  read: { en: "what was made before, read as changed", zh: "之前写出的音乐，改变后再读" },
  own: { en: "of what was made each time", zh: "每次各自写出的音乐" },
  hear: { en: "Hear {model}, {which}", zh: "听{which}的 {model}" },
  hush: { en: "Stop {model}, {which}", zh: "停止{which}的 {model}" },
  silent: { en: "The sound could not be fetched.", zh: "无法取得声音。" },
  picture: { en: "{model}, {which}: {n} notes", zh: "{model}，{which}：{n} 个音" },
  bar: { en: "bar {bar}, beat {beat}", zh: "第 {bar} 小节第 {beat} 拍" },
  second: { en: "second {second}", zh: "第 {second} 秒" },
  restore: { en: "Restore", zh: "复原" },
};

const MINUS = "\u2212";
const number = (value) => value.toFixed(2).replace("-", MINUS);
const plus = (value) => (Math.abs(value) < 0.005 ? "0.00" : (value > 0 ? "+" : "") + number(value));
const sameHead = (a, b) => a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
const WHICH = ["before", "after", "difference"];
const VOICES = ["S", "A", "T", "B"];
const STRETCHES = [0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25, 1.5, 1.75, 2];
const HEIGHT = 46; // of a roll, CSS pixels
const NEUTRAL = { silenced: [], farthest: -1, semitones: 0, stretch: 1 };

/** Distances to cut at, each about half as long again as the one before, all shorter than the trained ones. */
function cuts(trained) {
  const found = [];
  for (let power = 1; power < trained; power *= 2) found.push(power, ...(power >= 2 && power * 1.5 < trained ? [power * 1.5] : []));
  return found;
}

/** props, value and event: see remix.py. */
export function mount(root, props, emit, watch) {
  let value = props.value ?? { state: "empty" };
  let wanted = value.request ?? null; // the request as the controls stand, ahead of the answer
  let waiting = false;
  let mine = false; // the answer under way is to this panel's own question
  let elsewhere = false; // other music is being made
  let drawn = []; // unpacked rolls of the answer in view, in the order of value.rolls
  let playing = null; // the button whose sound is heard

  // ── what stands where ──
  const title = el("h2", { class: "tfe-title" });
  const restoreText = el("span", {});
  const restore = el("button", { type: "button", class: "tfe-button small tfe-remix-restore", onclick: reset }, restoreText, el("kbd", { text: "Esc" }));
  const offText = el("span", {});
  const off = el("input", { type: "checkbox", "data-field": "relative", onchange: () => ask({ farthest: off.checked ? 0 : -1 }) });
  const offLabel = el("label", { class: "tfe-remix-check" }, off, offText);
  const slider = (field, change) => {
    const id = `tfe-remix-${field}`;
    const input = el("input", { id, class: "tfe-range", type: "range", step: "1", "data-field": field });
    const one = { input, label: el("label", { class: "tfe-label", for: id }), output: el("output", { for: id }) };
    input.addEventListener("input", () => paintSlider(field));
    input.addEventListener("change", () => ask(change(Number(input.value))));
    return one;
  };
  const stops = () => cuts(Math.max(2, ...inView().map((key) => props.distances[key] ?? 0)));
  const sliders = {
    farthest: slider("farthest", (at) => ({ farthest: stops()[at] ?? -1 })),
    semitones: slider("semitones", (at) => ({ semitones: at })),
    stretch: slider("stretch", (at) => ({ stretch: STRETCHES[at] })),
  };
  const cutting = el("div", { class: "tfe-remix-cuts" }, ...Object.values(sliders).flatMap(({ label, input, output }) => [label, input, output]));
  const heads = el("div", { class: "tfe-remix-heads" });
  const knobs = el("div", { class: "tfe-remix-knobs", role: "group" }, offLabel, cutting, heads);
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const board = el("div", { class: "tfe-remix-board" });
  const readout = el("p", { class: "tfe-remix-readout" });
  const sentence = el("p", { class: "tfe-words tfe-remix-sentence", "aria-live": "polite" });
  const exports = exportBar({ PNG: savePng, CSV: saveCsv, NPZ: saveNpz, TXT: saveText });
  const result = el("div", { class: "tfe-remix-result", hidden: true }, board, readout, sentence, exports);
  const panel = el("section", { class: "tfe-panel tfe-remix-panel" }, el("div", { class: "tfe-row tight apart" }, title, restore), knobs, error, result);
  root.replaceChildren(panel);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && changed()) {
      event.stopPropagation();
      reset();
    }
  });
  const sound = el("audio", { preload: "none" });
  panel.append(sound);

  // ── what is asked ──
  const spelled = (request) => JSON.stringify(request, Object.keys(request ?? {}).sort());
  const changed = () => Boolean(wanted && (wanted.silenced?.length || wanted.farthest !== -1 || wanted.semitones || wanted.stretch !== 1));

  function ask(patch) {
    if (!wanted || elsewhere) return;
    wanted = { ...wanted, ...patch };
    waiting = mine = true;
    hush();
    drawKnobs();
    paintState();
    overtake();
    emit.ask(wanted);
  }

  function reset() {
    ask(NEUTRAL);
  }

  function toggleHead(head) {
    const now = wanted?.silenced ?? [];
    ask({ silenced: now.some((other) => sameHead(other, head)) ? now.filter((other) => !sameHead(other, head)) : [...now, head] });
  }

  // ── knobs ──
  const modelName = (key) => t(props.names[key] ?? key);
  const headName = ([key, layer, head]) => t(TEXT.head, { model: modelName(key), name: `${layer + 1}·${head + 1}` });
  const chorale = () => wanted?.style === "chorale";

  function inView() {
    return value.models ?? [];
  }

  /** The head in view: the address says the model and "3.2" counted from 1. */
  function looked() {
    const key = view.get("model") ?? value.pick?.model;
    const parts = /^(\d+)\.(\d+)$/.exec(view.get("head") ?? value.pick?.head ?? "");
    if (!parts || !(key in props.heads) || !inView().includes(key)) return null;
    const [layer, head] = [Number(parts[1]) - 1, Number(parts[2]) - 1];
    const [layers, count] = props.heads[key];
    return layer >= 0 && layer < layers && head >= 0 && head < count ? [key, layer, head] : null;
  }

  const said = {
    farthest: (at) => (at >= stops().length ? t(TEXT.trained) : t(chorale() ? TEXT.cells : TEXT.events, { n: stops()[at] })),
    semitones: (at) => (at > 0 ? `+${at}` : String(at).replace("-", MINUS)),
    stretch: (at) => `× ${STRETCHES[at]}`,
  };

  function paintSlider(field) {
    const { input, output } = sliders[field];
    const at = Number(input.value);
    input.style.setProperty("--at", `${((at - input.min) / (input.max - input.min)) * 100}%`);
    output.textContent = said[field](at);
    input.setAttribute("aria-valuetext", field === "semitones" ? t(TEXT.halfTones, { n: output.textContent }) : output.textContent);
  }

  function setSlider(field, low, high, at, disabled, why) {
    const { input, label } = sliders[field];
    [input.min, input.max] = [low, high];
    input.value = at;
    input.disabled = disabled;
    input.title = why;
    label.textContent = t(TEXT[field]);
    paintSlider(field);
  }

  function drawKnobs() {
    const shut = !wanted || elsewhere;
    const request = wanted ?? NEUTRAL;
    const without = !inView().some((key) => key in props.distances);
    off.checked = request.farthest === 0;
    off.disabled = shut || without;
    offLabel.title = without && !shut ? t(TEXT.none) : "";
    offLabel.classList.toggle("is-idle", off.disabled);
    offText.textContent = t(TEXT.relative);
    const list = stops();
    const near = list.findIndex((stop) => stop >= request.farthest);
    const place = request.farthest <= 0 || near < 0 ? list.length : near;
    setSlider("farthest", 0, list.length, place, shut || without || request.farthest === 0, without && !shut ? t(TEXT.none) : request.farthest === 0 ? t(TEXT.off) : "");
    setSlider("semitones", -props.limits.semitones, props.limits.semitones, request.semitones, shut, "");
    const closest = STRETCHES.reduce((best, factor, at) => (Math.abs(factor - request.stretch) < Math.abs(STRETCHES[best] - request.stretch) ? at : best), 0);
    setSlider("stretch", 0, STRETCHES.length - 1, closest, shut, "");
    for (const node of Object.values(sliders.stretch)) node.hidden = chorale() || !wanted; // a chorale stands on its grid
    const had = heads.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const head = looked();
    const silent = request.silenced;
    const nodes = [
      el("button", {
        type: "button",
        class: "tfe-button small tfe-remix-do",
        "data-key": "do",
        disabled: !head || shut,
        text: t(head && silent.some((other) => sameHead(other, head)) ? TEXT.wake : TEXT.silence, { head: head ? headName(head) : "–" }),
        title: t(TEXT.look),
        onclick: () => toggleHead(head),
      }),
      ...silent.map((other) =>
        el(
          "button",
          { type: "button", class: "tfe-chip tfe-remix-chip", "data-key": other.join("."), "aria-label": t(TEXT.give, { head: headName(other) }), disabled: shut, onclick: () => toggleHead(other) },
          headName(other),
          el("span", { text: " ×", "aria-hidden": "true" }),
        ),
      ),
    ];
    heads.replaceChildren(...nodes);
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
    bus.fire("changing", { by: "remix", state: waiting ? "running" : null });
    error.hidden = value.state !== "refused" || !value.error;
    error.textContent = error.hidden ? "" : t(value.error);
    result.hidden = !shown;
    if (!shown) hush();
    restore.hidden = !changed();
    restoreText.textContent = t(TEXT.restore);
    if (shown) paintSentence();
  }

  /** The computed sentence; parts between ⟦…⟧ wear the colour of their role: ⟦k:bar 4⟧. */
  function paintSentence() {
    const parts = t(value.sentence).split(/(⟦[qko]:[^⟧]*⟧)/);
    sentence.replaceChildren(
      ...parts.map((part) => {
        const role = /^⟦([qko]):([^⟧]*)⟧$/.exec(part);
        return role ? el("b", { class: { q: "tfe-query", k: "tfe-key", o: "tfe-out" }[role[1]], text: role[2] }) : document.createTextNode(part);
      }),
    );
  }

  const signed = (which) => props.signed[dark() ? "dark" : "light"].at(which === "gone" ? 0 : -1);

  /** The notes of one of the three rolls with their colours; `fate` says what became of each. */
  function coloured({ before, after, roll }, which) {
    if (which !== "difference") return (which === "before" ? before : after).notes.map((note) => ({ ...note, colour: note.given ? "--control" : "--accent" }));
    const back = (note) => ({ ...note, pitch: note.pitch - roll.moved });
    return [
      ...before.notes.filter((note) => note.kept).map((note) => ({ ...note, colour: "--control", alpha: 0.55, fate: "stayed" })),
      ...before.notes.filter((note) => !note.kept).map((note) => ({ ...note, colour: signed("gone"), fate: "gone" })),
      ...after.notes.filter((note) => !note.kept).map((note) => ({ ...back(note), colour: signed("came"), fate: "came" })),
    ];
  }

  /** Steps at the beginning in which everything was given; 0 where a voice alone was. */
  function shaded({ notes }) {
    const made = notes.filter((note) => !note.given);
    const first = made.reduce((least, note) => Math.min(least, note.onset), Infinity);
    const last = notes.reduce((most, note) => (note.given ? Math.max(most, note.end) : most), 0);
    return made.length && last > first ? 0 : last;
  }

  const named = (which, roll) => t(which === "difference" && roll.moved ? TEXT.moved : TEXT[which]);

  function paintRolls() {
    if (value.state !== "done" || drawn.length !== value.rolls.length) return;
    hush();
    board.replaceChildren(
      ...drawn.map((one) => {
        const { roll, before, after } = one;
        const model = modelName(roll.key);
        const { before: was, after: is } = roll.number;
        const big = el("strong", { class: "tfe-number tfe-remix-number", text: plus(is - was) });
        const unit = t(roll.voices ? TEXT.cell : TEXT.event);
        const from = el("span", { class: "tfe-remix-from" }, el("span", { text: `${number(was)} → ${number(is)} ${unit}` }), el("span", { text: t(roll.own ? TEXT.own : TEXT.read) }));
        const legend = el("span", { class: "tfe-legend tfe-remix-legend" }, ...["gone", "came"].map((fate) => el("span", { style: { color: signed(fate) } }, el("span", { class: "swatch" }), el("span", { class: "tfe-remix-ink", text: t(TEXT[fate]) }))));
        const lines = WHICH.flatMap((which) => {
          const hears = which !== "difference" && { before, after }[which].sound ? hearing(roll.key, which, { before, after }[which].sound) : null;
          const head = el("div", { class: "tfe-remix-which" }, el("span", { text: named(which, roll) }), which === "difference" && roll.compared ? legend : hears);
          if (which === "difference" && !roll.compared) return [head, el("p", { class: "tfe-note", text: t(TEXT.stretched) })];
          const canvas = el("canvas", { role: "img", "data-which": which });
          canvas.addEventListener("pointermove", (event) => read(canvas, one, which, event));
          canvas.addEventListener("pointerleave", () => (readout.textContent = ""));
          return [head, canvas];
        });
        return el("div", { class: "tfe-remix-model", "data-model": roll.key }, el("div", { class: "tfe-remix-name", text: model }), el("div", { class: "tfe-remix-numbers" }, big, from), ...lines);
      }),
    );
    paintCanvases();
  }

  function paintCanvases() {
    drawn.forEach((one, at) => {
      const scale = shared([one.before.notes, one.after.notes, coloured(one, "difference")], Math.max(one.before.steps, one.after.steps));
      one.scale = scale;
      for (const canvas of board.children[at]?.querySelectorAll("canvas") ?? []) {
        const which = canvas.dataset.which;
        const notes = coloured(one, which);
        const width = canvas.parentElement.clientWidth;
        if (!width) continue;
        const shade = which === "after" ? shaded(one.after) : shaded(one.before);
        canvas.setAttribute("aria-label", t(TEXT.picture, { model: modelName(one.roll.key), which: named(which, one.roll), n: notes.length }));
        paintRoll(canvas, { notes, scale, shade, width, height: HEIGHT, voices: one.roll.voices });
      }
    });
    root.dataset.painted = drawn.map(({ roll }) => roll.key).join(" ");
  }

  function read(canvas, one, which, event) {
    const box = canvas.getBoundingClientRect();
    const note = noteAt(coloured(one, which), one.scale, box.width, box.height, event.clientX - box.left, event.clientY - box.top);
    if (!note) {
      readout.textContent = "";
      return;
    }
    const [where, how] = placed(note.onset, one.roll.voices, one.roll.grid);
    const voice = one.roll.voices ? ` ${VOICES[note.last]}` : "";
    readout.textContent = [`${pitchName(note.pitch)}${voice}`, t(TEXT[where], how), note.fate ? t(TEXT[note.fate]) : null].filter(Boolean).join(" · ");
  }

  // ── sound ──
  function hearing(key, which, { wav }) {
    const words = (on) => t(on ? TEXT.hush : TEXT.hear, { model: modelName(key), which: t(TEXT[which]) });
    const button = el("button", { type: "button", class: "tfe-button small tfe-remix-hear", "data-which": which, "aria-pressed": "false", "aria-label": words(false), title: words(false), text: "▶" });
    button.paint = (on) => {
      button.setAttribute("aria-pressed", String(on));
      for (const name of ["aria-label", "title"]) button.setAttribute(name, words(on));
      button.textContent = on ? "■" : "▶";
    };
    button.addEventListener("click", () => {
      if (playing === button) {
        hush();
        return;
      }
      hush();
      playing = button;
      bus.fire("sounding", "remix");
      sound.src = new URL(wav, location.origin).href;
      button.paint(true);
      sound.play().catch((why) => {
        if (why.name === "AbortError" || playing !== button) return; // another sound was wished for
        hush();
        readout.textContent = t(TEXT.silent);
      });
    });
    return button;
  }

  function hush() {
    sound.pause();
    playing?.paint(false);
    playing = null;
  }
  sound.addEventListener("ended", hush);
  bus.on("sounding", (who) => who !== "remix" && hush()); // one sound at a time

  async function unpackRolls() {
    const now = value;
    if (now.state !== "done") return;
    const side = async ({ notes, given, kept, steps, sound: heard }) => {
      const [all, were, stay] = await Promise.all([notes, given, kept].map(unpack));
      const list = Array.from({ length: all.shape[0] }, (_, i) => {
        const [onset, end, pitch, last] = all.slice(i);
        return { onset, end, pitch, last, given: were.data[i] > 0, kept: stay.data[i] > 0 };
      });
      return { notes: list, steps, sound: heard };
    };
    const found = await Promise.all(now.rolls.map(async (roll) => ({ roll, before: await side(roll.before), after: await side(roll.after) })));
    if (now !== value) return;
    drawn = found;
    paintRolls();
  }

  // ── take along ──
  /** The three rolls of every model, large, with their names and numbers. */
  function savePng() {
    const [width, tall, gap] = [1200, 150, 24];
    const each = 40 + 3 * (tall + 28) + gap;
    const sheet = el("canvas", { width: String(width + 2 * gap), height: String(drawn.length * each + gap) });
    const context = sheet.getContext("2d");
    const part = el("canvas", {});
    context.fillStyle = css("--panel");
    context.fillRect(0, 0, sheet.width, sheet.height);
    drawn.forEach((one, at) => {
      const top = gap + at * each;
      context.fillStyle = css("--ink");
      context.font = "600 18px sans-serif";
      const { before, after } = one.roll.number;
      context.fillText(`${modelName(one.roll.key)}: ${plus(after - before)} ${t(one.roll.voices ? TEXT.cell : TEXT.event)} (${number(before)} → ${number(after)})`, gap, top + 20, width);
      context.font = "14px sans-serif";
      WHICH.filter((which) => which !== "difference" || one.roll.compared).forEach((which, row) => {
        const y = top + 40 + row * (tall + 28);
        context.fillStyle = css("--ink2");
        context.fillText(named(which, one.roll), gap, y + 14, width);
        paintRoll(part, { notes: coloured(one, which), scale: one.scale, shade: shaded(which === "after" ? one.after : one.before), width, height: tall, voices: one.roll.voices });
        context.drawImage(part, gap, y + 22, width, tall);
      });
    });
    return new Promise((done) => {
      sheet.toBlob((made) => {
        save(fileName(["what-if"], "png"), made, "image/png");
        done();
      });
    });
  }

  function saveCsv() {
    const rows = [["model", "which", "onset_step", "end_step", "pitch", value.rolls[0]?.voices ? "voice" : "velocity", "given", "in_both"]];
    for (const { roll, ...sides } of drawn) {
      for (const which of ["before", "after"]) {
        for (const note of sides[which].notes) rows.push([roll.key, which, note.onset, note.end, note.pitch, roll.voices ? VOICES[note.last] : note.last, Number(note.given), Number(note.kept)]);
      }
    }
    save(fileName(["what-if"], "csv"), csv(rows), "text/csv");
  }

  function saveNpz() {
    const arrays = {};
    for (const { roll, ...sides } of drawn) {
      for (const which of ["before", "after"]) {
        const { notes } = sides[which];
        arrays[`${roll.key}.${which}.notes`] = { shape: [notes.length, 4], data: Int32Array.from(notes.flatMap(({ onset, end, pitch, last }) => [onset, end, pitch, last])) };
        for (const flag of ["given", "kept"]) arrays[`${roll.key}.${which}.${flag}`] = { shape: [notes.length], data: Uint8Array.from(notes, (note) => Number(note[flag])) };
      }
      arrays[`${roll.key}.nats`] = { shape: [2], data: new Float64Array([roll.number.before, roll.number.after]) };
    }
    save(fileName(["what-if"], "npz"), npz(arrays));
  }

  function saveText() {
    const lines = drawn.map(({ roll }) => {
      const { before, after } = roll.number;
      const unit = t(roll.voices ? TEXT.cell : TEXT.event);
      return `${modelName(roll.key)}, ${t(roll.own ? TEXT.own : TEXT.read)}, ${unit}: ${plus(after - before)} (${number(before)} → ${number(after)})`;
    });
    save(fileName(["what-if"], "txt"), `${[...lines, sentence.textContent, foot()].join("\n")}\n`, "text/plain");
  }

  function draw() {
    drawKnobs();
    paintState();
    paintRolls();
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
    drawn = value.state === "done" ? drawn : [];
    draw();
    unpackRolls();
  });
  view.on(["head", "model"], drawKnobs);
  bus.on("silence", ({ model, layer, head }) => toggleHead([model, layer, head]));
  bus.on("asking", (yes) => {
    elsewhere = yes;
    if (yes) mine = false;
    drawKnobs();
  });
  bus.on("restore", () => changed() && reset());
  let room = 0;
  new ResizeObserver(() => {
    if (board.clientWidth === room) return;
    room = board.clientWidth;
    paintCanvases();
  }).observe(board);
  onLang(draw);
  onTheme(paintRolls);
  draw();
  unpackRolls();
}

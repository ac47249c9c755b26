// What changes if …, for pictures: turn a knob, silence a head. Each pattern (or model) that is touched shows its picture before, after and
// the difference in equal sizes, and one big signed number: how much dearer the picture before becomes; where it is told, pixel by pixel too.

import { el } from "./lib/dom.js";
import { onLang, t } from "./lib/lang.js";
import { exportBar, fileName, npz, save } from "./lib/export.js";
import { knobsOf } from "./lib/rereadknobs.js";
import { foot } from "./lib/source.js";
import { bus, view } from "./lib/state.js";
import { late, overtake } from "./lib/stored.js";
import { css, dark, onTheme } from "./lib/theme.js";
import { unpack } from "./lib/arrays.js";
import { table } from "./lib/raster.js";

const TEXT = {
  title: { en: "What changes if …", zh: "如果……会怎样" },
  silence: { en: "Silence {head}", zh: "关掉 {head}" },
  wake: { en: "Give {head} back", zh: "恢复 {head}" },
  head: { en: "head {pattern} {name}", zh: "{pattern} 头 {name}" },
  give: { en: "{head}: give it back", zh: "{head}：恢复" },
  look: { en: "Choose a head to silence it; shift-click on its picture does the same.", zh: "先选一个头再关掉它；shift-点击小图也可以。" },
  changes: { en: "What may be changed", zh: "可以改变什么" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差值" },
  within: { en: "diff. ±{most}", zh: "差 ±{most}" },
  picture: { en: "{pattern}, {which}: {rows} rows by {columns} columns", zh: "{pattern}，{which}：{rows} 行 {columns} 列" },
  pixel: { en: "({row}, {column}): {before} → {after}", zh: "({row}, {column})：{before} → {after}" },
  dearer: { en: "what each pixel costs more, {unit}", zh: "每个像素多付的代价，{unit}" },
  restore: { en: "Restore", zh: "复原" },
  drawing: { en: "Drawing it again …", zh: "正在重新画……" },
};

const MINUS = "\u2212";
const number = (value) => value.toFixed(2).replace("-", MINUS);
const plus = (value) => (number(value) === `${MINUS}0.00` ? "0.00" : (value >= 0.005 ? "+" : "") + number(value));
const sameHead = (a, b) => a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
const WHICH = ["before", "after", "difference", "dearer"];
const LONG = 3; // letters of a name that stands beside its pictures; a longer one stands above them
const lengthOf = (name) => [...name].reduce((sum, letter) => sum + (letter > "\u2e80" ? 2 : 1), 0); // a Chinese character is as wide as two

const evenly = (stops) => stops.map((hex, index) => [index / (stops.length - 1), hex]);

/**
 * props.knobs: as lib/rereadknobs.js takes them, each with `patterns` · props.patterns: {key: {en, zh}} · props.heads: {key: [layers, heads]}
 * props.numberLabel, moreLabel: {en, zh} · props.numberKey, viewKey: names · props.raster: true | false · props.signed: {light, dark} evenly spaced stops.
 * value: see remake.py. Event: ask(request).
 */
export function mount(root, props, emit, watch) {
  let value = props.value ?? { state: "empty" };
  let wanted = value.request ?? null; // the request as the controls stand, ahead of the answer
  let waiting = false;
  let mine = false; // the answer under way is to this panel's own question
  let elsewhere = false; // another picture is being made
  let drawn = []; // unpacked pictures of the answer in view, in the order of value.pictures

  // ── what stands where ──
  const title = el("h2", { class: "tfe-title" });
  const restoreText = el("span", {});
  const restore = el("button", { type: "button", class: "tfe-button small tfe-remake-restore", onclick: reset }, restoreText, el("kbd", { text: "Esc" }));
  const turning = knobsOf(props.knobs, { ask, shut: (one) => !wanted || elsewhere || !one.patterns.some(here), panel: "remake" });
  const cuts = el("div", { class: "tfe-remake-cuts" }, ...turning.nodes);
  const knob = el("div", { class: "tfe-remake-heads" });
  const knobs = el("div", { class: "tfe-remake-knobs", role: "group" }, cuts, knob);
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const names = el("div", { class: "tfe-remake-names", "aria-hidden": "true" });
  const board = el("div", { class: "tfe-remake-board" });
  const readout = el("p", { class: "tfe-remake-readout" });
  const sentence = el("p", { class: "tfe-words tfe-remake-sentence", "aria-live": "polite" });
  const exports = exportBar({ PNG: savePng, NPZ: saveNpz, TXT: saveText });
  const result = el("div", { class: "tfe-remake-result", hidden: true }, names, board, readout, sentence, exports);
  const panel = el("section", { class: "tfe-panel tfe-remake-panel" }, el("div", { class: "tfe-row tight apart" }, title, restore), knobs, error, result);
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
    const pattern = view.get(props.viewKey) ?? value.pick?.[props.viewKey];
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
    result.hidden = !shown;
    restore.hidden = !changed();
    restoreText.textContent = t(TEXT.restore);
    if (shown) paintSentence();
  }

  /** The computed sentence; parts between ⟦…⟧ wear the colour of their role: ⟦k:row 18⟧. */
  function paintSentence() {
    const parts = t(value.sentence).split(/(⟦[qko]:[^⟧]*⟧)/);
    sentence.replaceChildren(
      ...parts.map((part) => {
        const role = /^⟦([qko]):([^⟧]*)⟧$/.exec(part);
        return role ? el("b", { class: { q: "tfe-query", k: "tfe-key", o: "tfe-out" }[role[1]], text: role[2] }) : document.createTextNode(part);
      }),
    );
  }

  const largest = (maps, least) => Math.max(least, ...maps.map((map) => map.reduce((most, each) => Math.max(most, Math.abs(each)), 0)));

  function paintPictures() {
    if (value.state !== "done" || drawn.length !== value.pictures.length) return;
    const signed = table(evenly(props.signed[dark() ? "dark" : "light"]));
    const change = drawn.map(({ before, after, channels }) => differences(before, after, channels));
    const limit = largest(change, 32);
    const maps = drawn.flatMap(({ more }) => (more ? [more] : []));
    const dearest = largest(maps, 0.05);
    const which = maps.length ? WHICH : WHICH.slice(0, 3);
    const said = { difference: t(TEXT.within, { most: Math.ceil(limit) }), dearer: `${t(props.moreLabel)} ±${number(dearest)}` };
    const stacked = maps.length > 0 || value.pictures.some(({ key }) => lengthOf(t(props.patterns[key] ?? key)) > LONG);
    result.classList.toggle("is-stacked", stacked);
    result.style.setProperty("--pictures", String(which.length));
    names.replaceChildren(...which.map((one) => el("span", { text: said[one] ?? t(TEXT[one]) })), el("span", { text: t(props.numberLabel) }));
    board.replaceChildren(
      ...value.pictures.map(({ key, number: costs }, at) => {
        const pattern = t(props.patterns[key] ?? key);
        const tile = (one) => {
          const [map, most] = one === "difference" ? [change[at], limit] : one === "dearer" ? [drawn[at].more, dearest] : [null, 0];
          const colours = map ? (i) => from(signed, map[i] / most) : greys(one === "after" ? drawn[at].after : drawn[at].before, drawn[at].channels);
          return painted(drawn[at], { colours, label: t(TEXT.picture, { pattern, which: t(TEXT[one], { unit: t(props.moreLabel) }), rows: drawn[at].rows, columns: drawn[at].columns }), which: one });
        };
        const big = el("strong", { class: "tfe-number tfe-remake-number", text: plus(costs.after - costs.before) });
        const both = el("span", { class: "tfe-remake-from", text: `${number(costs.before)} → ${number(costs.after)}` });
        const tiles = which.filter((one) => one !== "dearer" || drawn[at].more).map(tile);
        return el("div", { class: "tfe-remake-pattern", "data-pattern": key }, el("span", { class: "tfe-remake-name", text: pattern, title: pattern }), ...tiles, el("div", { class: "tfe-remake-numbers" }, big, both));
      }),
    );
  }

  /** The colour of a signed value, −1 … 1, of a table of 256. */
  function from(signed, value_) {
    const at = 3 * Math.round(((value_ + 1) / 2) * 255);
    return signed.subarray(at, at + 3);
  }

  const greys = (levels, channels) => (i) => [0, 1, 2].map((c) => levels[i * channels + (channels > 1 ? c : 0)]);

  /** A picture of one canvas pixel for each of its own. colours(i): of pixel i. */
  function painted(one, { colours, label, which }) {
    const { rows, columns } = one;
    const canvas = el("canvas", { role: "img", width: String(columns), height: String(rows), "aria-label": label, "data-which": which });
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; i += 1) image.data.set([...colours(i), 255], 4 * i);
    context.putImageData(image, 0, 0);
    canvas.addEventListener("pointermove", (event) => read(canvas, one, event));
    canvas.addEventListener("pointerleave", () => {
      readout.textContent = "";
      if (props.raster) bus.fire("hover-pos", { pos: null });
    });
    return canvas;
  }

  /** After minus before of each pixel, the mean of its channels. */
  function differences(before, after, channels) {
    const found = new Float32Array(before.length / channels);
    for (let i = 0; i < before.length; i += 1) found[Math.floor(i / channels)] += (after[i] - before[i]) / channels;
    return found;
  }

  function read(canvas, { rows, columns, channels, before, after, more }, event) {
    const box = canvas.getBoundingClientRect();
    const column = Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns)));
    const row = Math.min(rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * rows)));
    const at = (row * columns + column) * channels;
    const levels = (of) => of.slice(at, at + channels).join(" ");
    if (props.raster) bus.fire("hover-pos", { pos: row * columns + column });
    const dearer = more ? ` · ${plus(more[row * columns + column])} ${t(props.moreLabel)}` : "";
    readout.textContent = t(TEXT.pixel, { row, column, before: levels(before), after: levels(after) }) + dearer;
  }

  async function unpackPictures() {
    const now = value;
    if (now.state !== "done") return;
    const found = await Promise.all(
      now.pictures.map(async ({ before, after, more }) => {
        const [one, other, map] = await Promise.all([unpack(before), unpack(after), more ? unpack(more) : null]);
        return { rows: one.shape[0], columns: one.shape[1], channels: one.shape[2] ?? 1, before: one.data, after: other.data, more: map?.data ?? null };
      }),
    );
    if (now !== value) return;
    drawn = found;
    paintPictures();
  }

  // ── take along ──
  /** All pictures of every pattern, each pixel 8 × 8, with their names. */
  function savePng() {
    const [side, gap, head] = [8, 24, 28];
    const { rows, columns } = drawn[0];
    const across = drawn.some(({ more }) => more) ? WHICH.length : 3;
    const sheet = el("canvas", { width: String(across * columns * side + (across + 1) * gap), height: String(drawn.length * (rows * side + head) + gap) });
    const context = sheet.getContext("2d");
    context.fillStyle = css("--panel");
    context.fillRect(0, 0, sheet.width, sheet.height);
    context.imageSmoothingEnabled = false;
    context.font = "14px sans-serif";
    context.fillStyle = css("--ink");
    [...board.children].forEach((line, at) => {
      const { key } = value.pictures[at];
      const top = at * (rows * side + head);
      for (const canvas of line.querySelectorAll("canvas")) {
        const { which } = canvas.dataset;
        const left = gap + WHICH.indexOf(which) * (columns * side + gap);
        context.fillText(`${t(props.patterns[key] ?? key)} · ${t(TEXT[which], { unit: t(props.moreLabel) })}`, left, top + 19, columns * side);
        context.drawImage(canvas, left, top + head, columns * side, rows * side);
      }
    });
    return new Promise((done) => {
      sheet.toBlob((made) => {
        save(fileName(["what-if"], "png"), made, "image/png");
        done();
      });
    });
  }

  function saveNpz() {
    const arrays = {};
    value.pictures.forEach(({ key, number: costs }, at) => {
      const { rows, columns, channels } = drawn[at];
      const shape = channels > 1 ? [rows, columns, channels] : [rows, columns];
      for (const which of ["before", "after"]) arrays[`${key}.${which}`] = { shape, data: Uint8Array.from(drawn[at][which]) };
      if (drawn[at].more) arrays[`${key}.more`] = { shape: [rows, columns], data: drawn[at].more };
      arrays[`${key}.${props.numberKey}`] = { shape: [2], data: new Float64Array([costs.before, costs.after]) };
    });
    save(fileName(["what-if"], "npz"), npz(arrays));
  }

  function saveText() {
    const lines = value.pictures.map(({ key, number: costs }) => `${t(props.patterns[key] ?? key)}, ${t(props.numberLabel)}: ${plus(costs.after - costs.before)} (${number(costs.before)} → ${number(costs.after)})`);
    save(fileName(["what-if"], "txt"), `${[...lines, sentence.textContent, foot()].join("\n")}\n`, "text/plain");
  }

  function draw() {
    drawKnobs();
    paintState();
    paintPictures();
  }

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
    unpackPictures();
  });
  view.on(["head", props.viewKey], drawKnobs);
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
  onTheme(paintPictures);
  draw();
  unpackPictures();
}

// What changes if …: a knob that intervenes in the live model, then before, after and difference in equal pictures, one big
// signed number, and one sentence. What a visitor may change is a list of modes; each has an editor below.

import { clear, el, segmented } from "./lib/dom.js";
import { lang, onLang, t } from "./lib/lang.js";
import { csv, exportBar, fileName, npz, save } from "./lib/export.js";
import { foot } from "./lib/source.js";
import { bus, step, view } from "./lib/state.js";
import { late, overtake } from "./lib/stored.js";
import { css, dark, onTheme } from "./lib/theme.js";
import { unpack } from "./lib/arrays.js";

const TEXT = {
  title: { en: "What changes if …", zh: "如果……会怎样" },
  silence: { en: "Silence {head}", zh: "关掉{head}" },
  wake: { en: "Give {head} back", zh: "恢复{head}" },
  look: { en: "Look at a head to silence it; shift-click on a picture does the same.", zh: "先选一个头再关掉它；shift-点击小图也可以。" },
  silenced: { en: "silenced heads; choose one to give it back", zh: "已关掉的头；点一个即可恢复" },
  hide: { en: "Words that nothing may look at", zh: "谁也不能看的词" },
  parts: { en: "Parts of the network; a struck one is left out", zh: "网络的部件；划掉的就是去掉的" },
  leave: { en: "Strike out a part and read the same sentence again.", zh: "划掉一个部件，再读同一个句子。" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差值" },
  same: { en: "the same words", zh: "词语不变" },
  restore: { en: "Restore", zh: "复原" },
  running: { en: "Reading it again …", zh: "正在重新读……" },
  maps: { en: "picture of", zh: "图示" },
  mapLabel: { en: "{which}: {label}, {rows} rows by {columns} columns", zh: "{which}：{label}，{rows} 行 {columns} 列" },
  nats: { en: "nats", zh: "纳特" },
  chosen: { en: "chosen", zh: "已选" },
};
const KINDS = { encoder: { en: "encoder", zh: "编码器" }, decoder: { en: "decoder", zh: "解码器" }, cross: { en: "cross", zh: "交叉" } };

const MINUS = "\u2212";
const number = (value, digits = 2) => value.toFixed(digits).replace("-", MINUS);
const plus = (value, digits = 2) => (value > 0 ? "+" : "") + number(value, digits);
const short = (value) => plus(value, 2).replace("0.", ".").replace(/0$/, "");
const headName = ([kind, layer, head]) => `${t(KINDS[kind] ?? kind)} ${layer + 1}·${head + 1}`;
const sameHead = (a, b) => a[0] === b[0] && a[1] === b[1] && a[2] === b[2];

/** Evenly spaced "#RRGGBB" stops as 256 [r, g, b]. */
function ramp(stops) {
  const rgb = stops.map((hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)));
  return Array.from({ length: 256 }, (_, index) => {
    const place = (index / 255) * (rgb.length - 1);
    const left = Math.min(Math.floor(place), rgb.length - 2);
    return rgb[left].map((from, channel) => Math.round(from + (rgb[left + 1][channel] - from) * (place - left)));
  });
}

function paint(canvas, values, rows, columns, colours, low, high) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; i += 1) {
    const at = Math.round(((values[i] - low) / (high - low)) * 255);
    const colour = colours[Math.max(0, Math.min(255, at))];
    image.data.set([colour[0], colour[1], colour[2], 255], i * 4);
  }
  context.putImageData(image, 0, 0);
}

/**
 * props.modes: [{key, label, title}] each text {en, zh}, in the order of the switch; a key needs an editor below.
 * props.parts: [{key, label, note}] for the mode "parts": what can be left out.
 * props.numberLabel: {en, zh} · props.scales: {weights: [hex…], signed: {light, dark}} · props.pick: {kind, head} looked at on arrival.
 * value: see whatif.py. Event: ask(request), the whole request as it shall be.
 */
export function mount(root, props, emit, watch) {
  let value = props.value ?? { state: "empty" };
  let wanted = value.request ?? null; // the request as the controls stand, ahead of the answer
  let mode = value.mode ?? props.modes[0].key;
  let waiting = false;
  let mine = false; // the answer under way is to this panel's own question: its mode stays the visitor's
  let bring = step.get() > 0; // a guided step asked for it: what it changes comes into view
  let elsewhere = false; // another sentence is being read
  let drawn = null; // unpacked maps of the answer in view
  let chosenMap = null;
  const weights = ramp(props.scales.weights);

  const title = el("h2", { class: "tfe-title" });
  const modes = segmented({ options: [], value: mode, label: "", onPick: (key) => setMode(key) });
  const knob = el("div", { class: "tfe-whatif-knob" });
  const texts = el("dl", { class: "tfe-whatif-texts" });
  const sentence = el("p", { class: "tfe-words tfe-whatif-sentence", "aria-live": "polite" });
  const error = el("p", { class: "tfe-error tfe-whatif-error", role: "alert", hidden: true });
  const left = el("div", { class: "tfe-whatif-left" }, title, modes.node, knob, error, texts, sentence);

  const which = el("select", { class: "tfe-select tfe-whatif-which", onchange: () => ((chosenMap = which.value), paintMaps()) });
  const figures = ["before", "after", "difference"].map((key) => {
    const canvas = el("canvas", { role: "img" });
    const name = el("span", { class: "tfe-whatif-mapname" });
    const unit = el("span", { class: "tfe-whatif-mapunit" });
    const node = el("figure", { class: "tfe-whatif-map", "data-map": key }, el("figcaption", {}, name, unit), canvas);
    canvas.addEventListener("mousemove", (event) => read(canvas, event));
    canvas.addEventListener("mouseleave", () => (readout.textContent = ""));
    return { key, node, canvas, name, unit };
  });
  const readout = el("p", { class: "tfe-whatif-readout" });
  const pictures = el("div", { class: "tfe-whatif-pictures" }, el("div", { class: "tfe-whatif-maps" }, ...figures.map((f) => f.node)), el("div", { class: "tfe-whatif-maprow" }, which, readout), exportBar({ PNG: savePng, CSV: saveCsv, NPZ: saveNpz, TXT: saveText }));

  const numberLabel = el("span", { class: "tfe-whatif-numberlabel" });
  const big = el("strong", { class: "tfe-number tfe-whatif-number" });
  const from = el("span", { class: "tfe-whatif-from" });
  const restoreText = el("span", {});
  const restore = el("button", { type: "button", class: "tfe-button small tfe-whatif-restore", onclick: reset }, restoreText, el("kbd", { text: "Esc" }));
  const right = el("div", { class: "tfe-whatif-right" }, numberLabel, big, from, restore);

  const panel = el("section", { class: "tfe-panel tfe-whatif-panel" }, left, pictures, right);
  root.replaceChildren(panel);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && changed()) {
      event.stopPropagation();
      reset();
    }
  });

  // ── what is asked ──
  const spelled = (request) => JSON.stringify([request?.sentence, request?.silenced, request?.hidden, request?.without]);
  const changed = () => Boolean(wanted && (wanted.silenced?.length || wanted.hidden?.length || wanted.without?.length));

  function ask(patch) {
    if (!wanted || elsewhere) return;
    wanted = { ...wanted, ...patch };
    waiting = true;
    mine = true;
    drawKnob();
    paintState();
    overtake();
    emit.ask(wanted);
  }

  function reset() {
    ask({ silenced: [], hidden: [], without: [] });
  }

  function toggleHead(head) {
    const now = wanted?.silenced ?? [];
    ask({ silenced: now.some((other) => sameHead(other, head)) ? now.filter((other) => !sameHead(other, head)) : [...now, head] });
  }

  function setMode(key) {
    mode = key;
    drawKnob();
    paintTitle();
  }

  // ── editors, one for each mode ──
  /** The head in view: the address says "3.5" counted from 1; mean, max and rollout are no single head. */
  function looked() {
    if (view.get("stat")) return null;
    const name = view.get("head") ?? value.pick?.head ?? null;
    const parts = /^(\d+)\.(\d+)$/.exec(name ?? "");
    return parts ? [view.get("kind") ?? value.pick?.kind ?? "cross", Number(parts[1]) - 1, Number(parts[2]) - 1] : null;
  }

  const EDITORS = {
    silence() {
      const head = looked();
      const now = wanted?.silenced ?? [];
      const off = head && now.some((other) => sameHead(other, head));
      const button = el("button", {
        type: "button",
        class: "tfe-button small tfe-whatif-do",
        "data-key": "do",
        disabled: !head || !wanted,
        text: t(off ? TEXT.wake : TEXT.silence, { head: head ? headName(head) : "–" }),
        onclick: () => toggleHead(head),
      });
      const chips = now.map((other) =>
        el("button", { type: "button", class: "tfe-chip tfe-whatif-chip", "data-key": other.join("."), title: t(TEXT.silenced), onclick: () => toggleHead(other) }, headName(other), el("span", { text: " ×", "aria-hidden": "true" })),
      );
      const hint = now.length ? null : el("span", { class: "tfe-whatif-hint", text: t(TEXT.look) });
      return [button, ...chips, hint];
    },
    hide() {
      const source = value.source ?? { pieces: [], space: [] };
      const now = wanted?.hidden ?? [];
      return source.pieces.map((piece, index) => {
        const on = now.includes(index);
        return el(
          "button",
          {
            type: "button",
            class: "tfe-chip tfe-whatif-chip" + (source.space[index] || index === 0 ? "" : " is-inner"),
            "data-key": index,
            "aria-pressed": String(on),
            onclick: () => ask({ hidden: on ? now.filter((other) => other !== index) : [...now, index].sort((a, b) => a - b) }),
          },
          piece,
          el("span", { class: "tfe-whatif-index", text: `·${index}` }),
        );
      });
    },
    parts() {
      const now = wanted?.without ?? [];
      const chips = (props.parts ?? []).map((part) => {
        const on = now.includes(part.key);
        return el("button", {
          type: "button",
          class: "tfe-chip tfe-whatif-chip",
          "data-key": part.key,
          "aria-pressed": String(on),
          text: t(part.label),
          // In the order of the list, whichever was struck first: one state of the page has one address.
          onclick: () => ask({ without: props.parts.map((each) => each.key).filter((key) => (key === part.key ? !on : now.includes(key))) }),
        });
      });
      const notes = (props.parts ?? []).filter((part) => now.includes(part.key)).map((part) => t(part.note));
      return [...chips, el("span", { class: "tfe-whatif-hint", text: notes.length ? notes.join(" ") : t(TEXT.leave) })];
    },
  };

  function drawKnob() {
    const had = knob.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const nodes = EDITORS[mode]().filter(Boolean);
    knob.setAttribute("role", "group");
    knob.setAttribute("aria-label", t({ hide: TEXT.hide, parts: TEXT.parts }[mode] ?? TEXT.silenced));
    for (const node of nodes) if (elsewhere && node.tagName === "BUTTON") node.disabled = true;
    knob.replaceChildren(...nodes);
    if (had !== null) (nodes.find((node) => node.dataset.key === had) ?? nodes[0])?.focus?.({ preventScroll: true });
    restore.disabled = !changed();
  }

  // ── drawing ──
  function paintTitle() {
    const one = props.modes.find((m) => m.key === mode) ?? props.modes[0];
    panel.setAttribute("aria-label", t(TEXT.title));
    title.textContent = t(one.title);
    modes.set({ options: props.modes.map((m) => ({ key: m.key, label: t(m.label) })), value: mode, label: t(TEXT.title) });
  }

  const words = (marked) =>
    marked.map(([text, mark], index) => [
      index && !/^[.,;:!?%)\]]/.test(text) ? " " : "",
      mark === "gone" ? el("del", { class: "tfe-struck", text }) : mark === "new" ? el("ins", { class: "tfe-new", text }) : document.createTextNode(text),
    ]);

  function paintTexts() {
    clear(texts);
    if (value.state !== "done") return;
    const same = !value.before.some(([, mark]) => mark) && !value.after.some(([, mark]) => mark);
    texts.append(
      el("dt", { text: t(TEXT.before) }),
      el("dd", { lang: props.outputLanguage }, ...words(value.before).flat()),
      el("dt", { text: t(TEXT.after) }),
      el("dd", { lang: props.outputLanguage }, ...words(value.after).flat(), same ? el("span", { class: "tfe-whatif-same", text: ` ${t(TEXT.same)}`, lang: lang() }) : null),
    );
  }

  function paintState() {
    const shown = value.state === "done" && (changed() || waiting);
    panel.classList.toggle("is-empty", !shown);
    panel.classList.toggle("is-stale", waiting);
    panel.setAttribute("aria-busy", String(waiting));
    bus.fire("changing", { by: "whatif", state: waiting ? "running" : null });
    error.hidden = value.state !== "refused" || !value.error;
    error.textContent = error.hidden ? "" : t(value.error);
    for (const node of [texts, sentence, pictures, numberLabel, big, from]) node.hidden = !shown;
    restore.hidden = !changed() && !shown;
    restore.disabled = !changed();
    restoreText.textContent = t(TEXT.restore);
    if (!shown) return;
    paintSentence();
    const delta = value.number.after - value.number.before;
    numberLabel.textContent = t(props.numberLabel);
    big.textContent = plus(delta);
    from.textContent = `${number(value.number.before)} → ${number(value.number.after)} ${t(TEXT.nats)}`;
  }

  /** The computed sentence; parts between ⟦…⟧ wear the colour of their role: ⟦q:“Händ” (9)⟧. */
  function paintSentence() {
    const parts = t(value.sentence).split(/(⟦[qko]:[^⟧]*⟧)/);
    sentence.replaceChildren(
      ...parts.map((part) => {
        const role = /^⟦([qko]):([^⟧]*)⟧$/.exec(part);
        return role ? el("b", { class: { q: "tfe-query", k: "tfe-key", o: "tfe-out" }[role[1]], text: role[2] }) : document.createTextNode(part);
      }),
    );
  }

  async function unpackMaps() {
    const maps = value.maps;
    if (!maps) {
      drawn = null;
      return;
    }
    const mine = value;
    const [before, after] = await Promise.all([Promise.all(maps.pictures.map((p) => unpack(p.before))), Promise.all(maps.pictures.map((p) => unpack(p.after)))]);
    if (mine !== value) return;
    drawn = { maps, before, after };
    paintMaps();
  }

  function current() {
    const at = Math.max(0, drawn.maps.pictures.findIndex((p) => p.key === chosenMap));
    const picture = drawn.maps.pictures[at];
    const [rows, columns] = drawn.before[at].shape;
    const before = drawn.before[at].data;
    const after = drawn.after[at].data;
    return { picture, rows, columns, before, after };
  }

  function paintMaps() {
    if (!drawn) return;
    const now = current();
    which.replaceChildren(...drawn.maps.pictures.map((p) => el("option", { value: p.key, text: t(p.label) })));
    which.value = now.picture.key;
    which.setAttribute("aria-label", t(TEXT.maps));
    const change = now.after.map((value_, index) => value_ - now.before[index]);
    const limit = Math.max(0.05, Math.ceil(change.reduce((most, value_) => Math.max(most, Math.abs(value_)), 0) * 20) / 20);
    const signed = ramp(props.scales.signed[dark() ? "dark" : "light"]);
    for (const { key, canvas, name, unit } of figures) {
      name.textContent = t(TEXT[key]);
      canvas.setAttribute("aria-label", t(TEXT.mapLabel, { which: t(TEXT[key]), label: t(now.picture.label), rows: now.rows, columns: now.columns }));
      if (key === "difference") {
        unit.textContent = `${short(-limit)} … ${short(limit)}`;
        paint(canvas, change, now.rows, now.columns, signed, -limit, limit);
      } else {
        unit.textContent = t(now.picture.unit);
        paint(canvas, now[key], now.rows, now.columns, weights, 0, 1);
      }
    }
  }

  function read(canvas, event) {
    if (!drawn) return;
    const now = current();
    const box = canvas.getBoundingClientRect();
    const column = Math.min(now.columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * now.columns)));
    const row = Math.min(now.rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * now.rows)));
    const at = row * now.columns + column;
    const [from_, to] = [now.before[at], now.after[at]];
    readout.textContent = `“${now.picture.queries[row]}” (${row}) → “${now.picture.keys[column]}” (${column}): ${number(from_)} → ${number(to)}, ${plus(to - from_)}`;
  }

  // ── take along ──
  /** Each picture as one table: query, key, before, after, difference. */
  function saveCsv() {
    const rows = [["picture", "row", "query", "column", "key", "before", "after", "difference"]];
    drawn.maps.pictures.forEach((picture, at) => {
      const columns = drawn.before[at].shape[1];
      drawn.before[at].data.forEach((from_, i) => {
        const [row, column, to] = [Math.floor(i / columns), i % columns, drawn.after[at].data[i]];
        rows.push([picture.key, row, picture.queries[row], column, picture.keys[column], from_, to, to - from_]);
      });
    });
    save(fileName(["what-if"], "csv"), csv(rows), "text/csv");
  }

  function saveNpz() {
    const arrays = {};
    drawn.maps.pictures.forEach((picture, at) => {
      for (const which_ of ["before", "after"]) arrays[`${picture.key}.${which_}`] = { shape: drawn[which_][at].shape, data: drawn[which_][at].data };
    });
    arrays["log_probability"] = { shape: [2], data: new Float64Array([value.number.before, value.number.after]) };
    save(fileName(["what-if"], "npz"), npz(arrays));
  }

  /** The three pictures side by side, each cell 12 pixels, with their names. */
  function savePng() {
    const { rows, columns, picture } = current();
    const [side, gap, head] = [12, 24, 28];
    const sheet = el("canvas", { width: String(3 * columns * side + 4 * gap), height: String(rows * side + head + gap) });
    const context = sheet.getContext("2d");
    context.fillStyle = css("--panel");
    context.fillRect(0, 0, sheet.width, sheet.height);
    context.imageSmoothingEnabled = false;
    context.font = "14px sans-serif";
    context.fillStyle = css("--ink");
    figures.forEach(({ canvas, name, unit, key }, index) => {
      const left_ = gap + index * (columns * side + gap);
      context.fillText(key === "difference" ? `${name.textContent} ${unit.textContent}` : name.textContent, left_, 19, columns * side + gap - 4);
      context.drawImage(canvas, left_, head, columns * side, rows * side);
    });
    return new Promise((done) => {
      sheet.toBlob((made) => {
        save(fileName(["what-if", picture.key], "png"), made, "image/png");
        done();
      });
    });
  }

  function saveText() {
    const plain = (marked) => marked.map(([text], index) => (index && !/^[.,;:!?%)\]]/.test(text) ? ` ${text}` : text)).join("");
    const lines = [`${t(TEXT.before)}: ${plain(value.before)}`, `${t(TEXT.after)}: ${plain(value.after)}`, `${t(props.numberLabel)}: ${big.textContent} (${from.textContent})`, sentence.textContent, foot()];
    save(fileName(["what-if"], "txt"), `${lines.join("\n")}\n`, "text/plain");
  }

  function draw() {
    paintTitle();
    drawKnob();
    paintTexts();
    paintState();
    paintMaps();
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
    waiting = false;
    value = next.state === "refused" ? { ...value, state: next.error ? "refused" : value.state, error: next.error } : next;
    wanted = value.request ?? wanted; // after a refusal the knobs go back to what is shown
    if (value.state === "done" && value.mode && !mine) mode = value.mode;
    mine = false;
    draw();
    unpackMaps();
    if (bring && value.state === "done") requestAnimationFrame(() => root.scrollIntoView({ block: "nearest" }));
    bring = false;
  });
  step.on((number) => (bring = number > 0));
  view.on(["head", "kind", "stat"], drawKnob);
  bus.on("silence", ({ kind, layer, head }) => {
    mode = "silence";
    paintTitle();
    toggleHead([kind, layer, head]);
  });
  bus.on("asking", (yes) => {
    elsewhere = yes;
    if (yes) mine = false;
    drawKnob();
  });
  bus.on("restore", () => changed() && reset());
  onLang(draw);
  onTheme(paintMaps);
  draw();
  unpackMaps();
}

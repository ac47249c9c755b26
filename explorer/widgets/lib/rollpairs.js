// Music before and after a change, as each model makes it: its roll before, after and the difference on one scale, one signed number: how much
// dearer the notes before become; and both can be heard.

import { unpack } from "./arrays.js";
import { el } from "./dom.js";
import { t } from "./lang.js";
import { resultOf, sheetOf } from "./result.js";
import { noteAt, paintRoll, pitchName, placed, shared } from "./smallroll.js";
import { bus } from "./state.js";
import { number, plus } from "./stripwords.js";
import { css, dark, onTheme } from "./theme.js";

const TEXT = {
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
  hear: { en: "Hear {model}, {which}", zh: "听{which}的 {model}" },
  hush: { en: "Stop {model}, {which}", zh: "停止{which}的 {model}" },
  silent: { en: "The sound could not be fetched.", zh: "无法取得声音。" },
  picture: { en: "{model}, {which}: {n} notes", zh: "{model}，{which}：{n} 个音" },
  bar: { en: "bar {bar}, beat {beat}", zh: "第 {bar} 小节第 {beat} 拍" },
  second: { en: "second {second}", zh: "第 {second} 秒" },
};
const WHICH = ["before", "after", "difference"];
const VOICES = ["S", "A", "T", "B"];
const HEIGHT = 46; // of a roll, CSS pixels

/**
 * @param {{light: string[], dark: string[]}} scale evenly spaced colours of a signed scale
 *
 * value, in `set`: {rolls, sentence, names}, as figures/rollpairs.py spells them, or null while there is none. draw: all texts anew.
 */
export function rollsOf(scale) {
  let playing = null; // the button whose sound is heard

  const board = el("div", { class: "tfe-rolls-board" });
  const readout = el("p", { class: "tfe-rolls-readout" });
  const sound = el("audio", { preload: "none" });
  const own = resultOf("rolls", { parts: (value) => value.rolls, unpacked, paint, files: { PNG: picture, CSV: rows, NPZ: arrays, TXT: lines }, leave: hush });
  const node = el("div", { class: "tfe-rolls", hidden: true }, board, readout, own.sentence, own.exports, sound);

  const modelName = (key) => t(own.value.names[key] ?? key);

  const signed = (which) => scale[dark() ? "dark" : "light"].at(which === "gone" ? 0 : -1);

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

  function paint() {
    hush();
    board.replaceChildren(
      ...own.drawn.map((one) => {
        const { roll, before, after } = one;
        const model = modelName(roll.key);
        const { before: was, after: is } = roll.number;
        const big = el("strong", { class: "tfe-number tfe-rolls-number", text: plus(is - was) });
        const unit = t(roll.voices ? TEXT.cell : TEXT.event);
        const from = el("span", { class: "tfe-rolls-from" }, el("span", { text: `${number(was)} → ${number(is)} ${unit}` }), el("span", { text: t(TEXT.read) }));
        const legend = el("span", { class: "tfe-legend tfe-rolls-legend" }, ...["gone", "came"].map((fate) => el("span", { style: { color: signed(fate) } }, el("span", { class: "swatch" }), el("span", { class: "tfe-rolls-ink", text: t(TEXT[fate]) }))));
        const lines = WHICH.flatMap((which) => {
          const hears = which !== "difference" && { before, after }[which].sound ? hearing(roll.key, which, { before, after }[which].sound) : null;
          const head = el("div", { class: "tfe-rolls-which" }, el("span", { text: named(which, roll) }), which === "difference" && roll.compared ? legend : hears);
          if (which === "difference" && !roll.compared) return [head, el("p", { class: "tfe-note", text: t(TEXT.stretched) })];
          const canvas = el("canvas", { role: "img", "data-which": which });
          canvas.addEventListener("pointermove", (event) => read(canvas, one, which, event));
          canvas.addEventListener("pointerleave", () => (readout.textContent = ""));
          return [head, canvas];
        });
        return el("div", { class: "tfe-rolls-model", "data-model": roll.key }, el("div", { class: "tfe-rolls-name", text: model }), el("div", { class: "tfe-rolls-numbers" }, big, from), ...lines);
      }),
    );
    paintCanvases();
  }

  function paintCanvases() {
    own.drawn.forEach((one, at) => {
      const common = shared([one.before.notes, one.after.notes, coloured(one, "difference")], Math.max(one.before.steps, one.after.steps));
      one.scale = common;
      for (const canvas of board.children[at]?.querySelectorAll("canvas") ?? []) {
        const which = canvas.dataset.which;
        const notes = coloured(one, which);
        const width = canvas.parentElement.clientWidth;
        if (!width) continue;
        const shade = which === "after" ? shaded(one.after) : shaded(one.before);
        canvas.setAttribute("aria-label", t(TEXT.picture, { model: modelName(one.roll.key), which: named(which, one.roll), n: notes.length }));
        paintRoll(canvas, { notes, scale: common, shade, width, height: HEIGHT, voices: one.roll.voices });
      }
    });
    node.dataset.painted = own.drawn.map(({ roll }) => roll.key).join(" ");
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
    const button = el("button", { type: "button", class: "tfe-button small tfe-rolls-hear", "data-which": which, "aria-pressed": "false", "aria-label": words(false), title: words(false), text: "▶" });
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
      bus.fire("sounding", "change");
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
  bus.on("sounding", (who) => who !== "change" && hush()); // one sound at a time

  async function unpacked(roll) {
    const side = async ({ notes, given, kept, steps, sound: heard }) => {
      const [all, were, stay] = await Promise.all([notes, given, kept].map(unpack));
      const list = Array.from({ length: all.shape[0] }, (_, i) => {
        const [onset, end, pitch, last] = all.slice(i);
        return { onset, end, pitch, last, given: were.data[i] > 0, kept: stay.data[i] > 0 };
      });
      return { notes: list, steps, sound: heard };
    };
    return { roll, before: await side(roll.before), after: await side(roll.after) };
  }

  // ── take along ──
  /** The three rolls of every model, large, with their names and numbers. */
  function picture() {
    const [width, tall, gap] = [1200, 150, 24];
    const each = 40 + 3 * (tall + 28) + gap;
    const [sheet, context] = sheetOf(width + 2 * gap, own.drawn.length * each + gap);
    const part = el("canvas", {});
    own.drawn.forEach((one, at) => {
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
    return sheet;
  }

  function rows() {
    const found = [["model", "which", "onset_step", "end_step", "pitch", own.value.rolls[0]?.voices ? "voice" : "velocity", "given", "in_both"]];
    for (const { roll, ...sides } of own.drawn) {
      for (const which of ["before", "after"]) {
        for (const note of sides[which].notes) found.push([roll.key, which, note.onset, note.end, note.pitch, roll.voices ? VOICES[note.last] : note.last, Number(note.given), Number(note.kept)]);
      }
    }
    return found;
  }

  function arrays() {
    const found = {};
    for (const { roll, ...sides } of own.drawn) {
      for (const which of ["before", "after"]) {
        const { notes } = sides[which];
        found[`${roll.key}.${which}.notes`] = { shape: [notes.length, 4], data: Int32Array.from(notes.flatMap(({ onset, end, pitch, last }) => [onset, end, pitch, last])) };
        for (const flag of ["given", "kept"]) found[`${roll.key}.${which}.${flag}`] = { shape: [notes.length], data: Uint8Array.from(notes, (note) => Number(note[flag])) };
      }
      found[`${roll.key}.nats`] = { shape: [2], data: new Float64Array([roll.number.before, roll.number.after]) };
    }
    return found;
  }

  function lines() {
    return own.drawn.map(({ roll }) => {
      const { before, after } = roll.number;
      return `${modelName(roll.key)}, ${t(TEXT.read)}, ${t(roll.voices ? TEXT.cell : TEXT.event)}: ${plus(after - before)} (${number(before)} → ${number(after)})`;
    });
  }

  let room = 0;
  new ResizeObserver(() => {
    if (board.clientWidth === room) return;
    room = board.clientWidth;
    paintCanvases();
  }).observe(board);
  onTheme(own.draw);
  return { node, set: own.set, draw: own.draw };
}

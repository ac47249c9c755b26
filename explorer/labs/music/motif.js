// A motif in the input bar: one of ours, played on the keyboard of the page, or read from a MIDI
// file. What is played is written here, as a request carries it: for the style and the mode that
// stand in the bar.

import { grouped } from "../../frontend/lib/badge.js";
import { el, segmented } from "../../frontend/lib/dom.js";
import { filled, t } from "../../frontend/lib/lang.js";
import {
  cellsOf,
  eventsOf,
  notesOf,
  pitchName,
  playedCells,
  playedFrom,
  sopranoOf,
  spelled,
  unspelled,
} from "./noteevents.js";
import { keyboard } from "./notekeys.js";
import { paintNotes } from "./noteroll.js";
import { bringing, sent } from "../../frontend/inputs/picturegive.js";
import { recorder } from "./recordings.js";
import { onPaint } from "../../frontend/lib/theme.js";
import { tone } from "./tone.js";

const TEXT = {
  ours: { en: "Example", zh: "示例" },
  play: { en: "Play it", zh: "自己弹" },
  file: { en: "My MIDI", zh: "我的 MIDI" },
  examples: { en: "Which example", zh: "哪个示例" },
  go_continue: { en: "Continue", zh: "续写" },
  go_ways: { en: "Continue {n} ways", zh: "{n}种续写" },
  go_harmonise: { en: "Harmonise", zh: "配和声" },
  undo: { en: "Undo", zh: "撤销" },
  clear: { en: "Clear", zh: "清空" },
  lower: { en: "Octave down", zh: "低八度" },
  higher: { en: "Octave up", zh: "高八度" },
  legend: {
    en: "letters Z S X … and Q 2 W … play · ←→↑↓ move · Space plays · Backspace takes back",
    zh: "Z S X … 与 Q 2 W … 弹奏 · ←→↑↓ 移动 · 空格弹奏 · Backspace 撤销",
  },
  nothing: {
    en:
      "Play a few notes; the clock starts with the first, and a pause counts for a second at most.",
    zh: "弹几个音；从第一个音开始计时，停顿最多按一秒计。",
  },
  noneYet: { en: "No file yet.", zh: "还没有文件。" },
  notes: { en: "{n} notes, {low} to {high}, {s} s", zh: "{n} 个音，{low} 到 {high}，{s} 秒" },
  note: { en: "1 note, {low}, {s} s", zh: "1 个音，{low}，{s} 秒" },
  left_melody: {
    en: " · {n} left out: a melody has one note at a time and lasts up to {s} s",
    zh: " · 略去 {n} 个：旋律一次一个音，至多 {s} 秒",
  },
  left_voices: {
    en: " · {n} left out: there are four voices, for up to {s} s",
    zh: " · 略去 {n} 个：只有四个声部，至多 {s} 秒",
  },
  left_events: {
    en: " · {n} left out: a motif has up to {most} events",
    zh: " · 略去 {n} 个：动机至多 {most} 个事件",
  },
  roll: { en: "The motif: {notes}", zh: "动机：{notes}" },
  upload: { en: "Upload …", zh: "上传……" },
  uploadLong: {
    en: "Upload a MIDI file of up to {kb} KB; dropping one works too",
    zh: "上传 MIDI 文件，至多 {kb} KB；也可拖放",
  },
  drop: { en: "or drop a MIDI file", zh: "也可拖放 MIDI 文件" },
  dropHere: { en: "Drop the MIDI file here", zh: "把 MIDI 文件放在这里" },
  readingFile: { en: "Reading …", zh: "正在读……" },
  unread: {
    en: "The file did not reach the server; it can be sent again.",
    zh: "文件没有送达服务器；可以再次发送。",
  },
  heavy: {
    en: "Your file has {kb} KB; MIDI files of up to {most} KB are read.",
    zh: "您的文件有 {kb} KB；最多读 {most} KB 的 MIDI 文件。",
  },
  dropped: {
    en: "You did not drop a file; MIDI files can be read.",
    zh: "放下的不是文件；可读 MIDI 文件。",
  },
  noFile: {
    en: "No file is chosen yet; upload a MIDI file, or play a motif.",
    zh: "还没有选文件；请上传 MIDI 文件，或自己弹一段动机。",
  },
  silent: {
    en: "Nothing is played yet; a few notes are enough.",
    zh: "还没有弹奏；几个音就够了。",
  },
};
const NUMBERS = { 2: { en: "two", zh: "两" }, 3: { en: "three", zh: "三" } };
const VOICES = { continue: 4, harmonise: 1 }; // of a chorale's motif
// milliseconds between lines of the small roll
const LINES = { chorale: { beat: 500, bar: 2000 }, piano: { beat: 1000, bar: 5000 } };
const SPAN = 8000; // milliseconds that the small roll shows at least
const HAND = { chorale: 60, piano: 48 }; // the C that the letter Z plays at first

const kilobytes = (bytes) => grouped(Math.ceil(bytes / 1024));

/**
 * @param {any} control of kind "motif", as controls.py draws it
 * @param {{id: string, examples: any[], now: () => {style: string, mode: string}, say: (told:
 * {error?: any, remark?: any}) => void, run: () => void, show: (example: any) => void, fill:
 * (fields: any) => void}} how
 *   now: what stands in the bar. say: a file was refused, or something is to be said of it, or of
 *   neither. run: it is to be read as it stands. show: an example is wanted, as it is stored; fill:
 *   it is to stand in the bar, without being run
 * @returns a line of the input bar, see ask.js
 */
export function lineOf(control, { id, examples, now, say, run, show, fill }) {
  const { styles, file: heaviest } = control.own;
  let source = "0"; // number of an example, "play" or "file"
  let pressed = false; // was a way to begin chosen by a press, or only reached with the arrows?
  let reading = null; // the file on its way to the server
  let over = false; // does a file hang over the bar?
  let laid = null; // the style whose keys lie there
  let ticking = false;
  const take = recorder();
  // motifs as they came, by "style/mode"; what is not here is written from the notes
  const own = { play: {}, file: null };

  const pick = segmented({ options: [], value: "ours", label: "", onPick: pickSource });
  const examplePick = el("select", {
    class: "tfe-select",
    onchange: () => show(examples[examplePick.value]),
  });
  const button = (act) => el("button", { type: "button", class: "tfe-button small", onclick: act });
  const undo = button(() => edit(() => take.undo()));
  const clear = button(() => edit(() => take.load([])));
  const lower = button(() => move(-1));
  const higher = button(() => move(1));
  const chooser = el("input", {
    type: "file",
    accept: ".mid,.midi,audio/midi,audio/x-midi",
    hidden: true,
  });
  const uploadButton = button(() => chooser.click());
  const fileName = el("span", { class: "tfe-motif-file tfe-mono" });
  const hint = el("span", { class: "tfe-motif-hint" });
  const summary = el("p", { class: "tfe-motif-summary", id: `${id}-notes` });
  const roll = el("canvas", { class: "tfe-motif-roll", role: "img" });
  const piano = keyboard({ onPress, onRelease, onUndo: () => edit(() => take.undo()) });
  const legend = el("p", { class: "tfe-motif-hint is-legend" });
  const playing = [undo, clear, lower, higher];
  const sending = [uploadButton, fileName, hint];
  const tools = el("div", { class: "tfe-motif-tools" }, ...sending, ...playing, chooser);
  // keys stay where they are while notes are counted
  const mine = el(
    "div",
    { class: "tfe-motif-own", hidden: true },
    tools,
    piano.node,
    el("div", { class: "tfe-motif-row" }, summary, legend),
  );
  const node = el(
    "div",
    { class: "tfe-motif" },
    el("div", { class: "tfe-motif-source" }, pick.node, examplePick),
    roll,
    mine,
  );

  // ── motifs ──
  const isOurs = () => source in examples;
  const wayOf = ({ style, mode }) => `${style}/${mode}`;

  /** Notes of a motif that was written; none where it cannot be read, which the server will say. */
  function playedOf(text, { style, mode }) {
    const values = unspelled(text) ?? [];
    return style === "piano"
      ? playedFrom(values)
      : playedCells(values, { voices: VOICES[mode], grid: styles[style].grid });
  }

  /** The motif that notes make: {text, left}, left: how many of them are left out. */
  function written(notes, { style, mode }) {
    const { most, grid } = styles[style];
    if (style !== "piano") {
      const { cells, left } = cellsOf(notes, {
        voices: VOICES[mode],
        grid,
        most: mode === "harmonise" ? most / 4 : most,
      });
      return { text: spelled(cells), left };
    }
    const kept = notesOf(notes);
    let values = eventsOf(kept);
    while (values.length > most) {
      kept.pop();
      values = eventsOf(kept);
    }
    return { text: spelled(values), left: notes.length - kept.length };
  }

  /** What the source gives, as the style and the mode want it: {text, left, notes}. */
  function motif() {
    const way = now();
    let [kept, notes] = [own.play, () => take.notes(performance.now())];
    if (isOurs()) {
      const { fields } = examples[source];
      [kept, notes] = [{ [wayOf(fields)]: fields.motif }, () => playedOf(fields.motif, fields)];
    } else if (source === "file") {
      [kept, notes] = [own.file?.kept ?? {}, () => own.file?.notes ?? []];
    }
    const asIs = kept[wayOf(way)];
    if (asIs !== undefined) return { text: asIs, left: 0, notes };
    const whole = kept["chorale/continue"];
    if (wayOf(way) === "chorale/harmonise" && whole !== undefined) {
      return { text: spelled(sopranoOf(unspelled(whole) ?? [])), left: 0, notes };
    }
    return { ...written(notes(), way), notes };
  }

  // ── where it comes from ──
  pick.node.addEventListener("click", () => (pressed = true), true);
  pick.node.addEventListener("click", () => {
    pressed = false;
    if (source === "play") piano.focus(); // so that letters play at once
  });

  function pickSource(wanted) {
    if (wanted !== "ours") begin(wanted);
    else if (!isOurs()) {
      (pressed ? show : ({ fields }) => fill(fields))(examples[examplePick.value || 0]);
    }
  }

  function begin(wanted) {
    source = wanted;
    self.paint();
    say({});
  }

  // ── playing ──
  const ending = new Map(); // pitch -> ends its tone

  function onPress(pitch, at) {
    ending.get(pitch)?.();
    ending.set(pitch, tone(pitch));
    own.play = {};
    take.press(pitch, at);
    if (!ticking) requestAnimationFrame(tick);
    ticking = true;
    self.paint();
    say({});
  }

  function onRelease(pitch, at) {
    ending.get(pitch)?.();
    ending.delete(pitch);
    take.release(pitch, at);
    self.paint();
  }

  /** A note grows as long as its key is down. */
  function tick() {
    ticking = take.sounding();
    if (!ticking) return;
    paintRoll(take.notes(performance.now()));
    requestAnimationFrame(tick);
  }

  function edit(change) {
    piano.silence();
    change();
    own.play = {};
    self.paint();
    say({});
  }

  function move(octaves) {
    piano.move(octaves);
    self.paint();
  }

  // ── a visitor's file ──
  /** asks: whether the models are asked at once. */
  async function bring(file, asks = true) {
    begin("file");
    const error = !file
      ? TEXT.dropped
      : file.size > heaviest
      ? filled(TEXT.heavy, { kb: kilobytes(file.size), most: kilobytes(heaviest) })
      : null;
    if (error) return say({ error });
    reading?.abort();
    const under = new AbortController();
    reading = under;
    self.paint();
    say({});
    const { style } = now();
    const told = await sent(file, styles[style].upload, under.signal, TEXT.unread);
    if (reading !== under) return undefined;
    reading = null;
    const way = { style, mode: "continue" };
    if (!told.error) {
      own.file = {
        from: file,
        style,
        kept: { [wayOf(way)]: told.motif },
        notes: playedOf(told.motif, way),
      };
    }
    self.paint();
    say({ error: told.error, remark: told.notice });
    if (asks && !told.error && source === "file" && now().style === style) run();
    return undefined;
  }

  // ── drawing ──
  function summed(notes) {
    const pitches = notes.map((each) => each.pitch);
    const seconds =
      (Math.max(...notes.map((each) => each.end)) - Math.min(...notes.map((each) => each.onset))) /
      1000;
    const values = {
      n: grouped(notes.length),
      low: pitchName(Math.min(...pitches)),
      high: pitchName(Math.max(...pitches)),
      s: seconds.toFixed(1),
    };
    return t(notes.length === 1 ? TEXT.note : TEXT.notes, values);
  }

  function lost(left) {
    const { style, mode } = now();
    if (!left) return "";
    if (style === "piano") {
      return t(TEXT.left_events, { n: left, most: grouped(styles.piano.most) });
    }
    const s = (styles.chorale.most / 4) * (styles.chorale.grid / 1000);
    return t(mode === "harmonise" ? TEXT.left_melody : TEXT.left_voices, { n: left, s });
  }

  const paintRoll = (notes) => paintNotes(roll, { notes, ...LINES[now().style], span: SPAN });

  /**
   * The keys follow the style that stands in the bar, and what cannot be read in it: an example of
   * another one, a file.
   */
  function follow() {
    const { style, mode } = now();
    if (isOurs() && examples[source].fields.style !== style) {
      const fits = examples.map(({ fields }, at) => ({ at, fields })).filter(({ fields }) =>
        fields.style === style
      );
      source = String((fits.find(({ fields }) => fields.mode === mode) ?? fits[0])?.at ?? "play");
    }
    if (laid === style) return;
    laid = style;
    piano.range(...styles[style].keys, HAND[style]);
    if (source === "file" && own.file && own.file.style !== style) bring(own.file.from, false);
  }

  const self = {
    control,
    node,
    above: [],
    absent: { [control.field]: control.default },
    of: (fields) => fields?.[control.field] ?? control.default,
    get text() {
      return motif().text;
    },
    /** The motif of a request, which stands in the bar otherwise already. */
    set text(text) {
      const way = now();
      const same = ({ fields }) => wayOf(fields) === wayOf(way) && fields.motif === text;
      const ours = isOurs() && same(examples[source]) ? source : examples.findIndex(same);
      if (ours !== -1) source = String(ours);
      else if (own.file?.kept[wayOf(way)] === text) source = "file";
      else {
        source = "play";
        own.play = { [wayOf(way)]: text };
        take.load(playedOf(text, way));
      }
    },
    /** What the button of the bar does with it. */
    goes() {
      const { style, mode } = now();
      const n = t(NUMBERS[styles[style].models]);
      return mode === "harmonise"
        ? TEXT.go_harmonise
        : n
        ? filled(TEXT.go_ways, { n })
        : TEXT.go_continue;
    },
    reading: () => reading !== null,
    refusal() {
      piano.silence();
      if (source === "play" && take.notes().length === 0) return TEXT.silent;
      return source === "file" && !own.file ? TEXT.noFile : null;
    },
    /** Files are brought to the whole bar. */
    attach(form) {
      bringing({
        form,
        chooser,
        type: "audio/",
        onFile: bring,
        onOver(yes) {
          over = yes;
          self.paint();
        },
      });
    },
    paint() {
      follow();
      pick.set({
        label: t(control.label),
        value: isOurs() ? "ours" : source,
        options: ["ours", "play", "file"].map((key) => ({ key, label: t(TEXT[key]) })),
      });
      const names = examples.map(({ short }) => t(short));
      if ([...examplePick.options].map(({ text }) => text).join() !== names.join()) {
        examplePick.replaceChildren(...names.map((text, at) => el("option", { value: at, text })));
      }
      if (isOurs()) examplePick.value = source;
      examplePick.title = isOurs() ? t(examples[source].title) : "";
      examplePick.hidden = !isOurs();
      examplePick.setAttribute("aria-label", t(TEXT.examples));
      const played = source === "play";
      mine.hidden = isOurs();
      for (const each of [...playing, piano.node, legend]) each.hidden = !played;
      for (const each of sending) each.hidden = played;
      const { left, notes: found } = motif();
      const notes = found();
      undo.disabled = clear.disabled = notes.length === 0;
      lower.disabled = !piano.moves(-1);
      higher.disabled = !piano.moves(1);
      for (
        const [each, text] of [
          [undo, "undo"],
          [clear, "clear"],
          [lower, "lower"],
          [higher, "higher"],
          [legend, "legend"],
          [uploadButton, reading ? "readingFile" : "upload"],
          [hint, over ? "dropHere" : "drop"],
        ]
      ) {
        each.textContent = t(TEXT[text]);
      }
      uploadButton.title = t(TEXT.uploadLong, { kb: kilobytes(heaviest) });
      fileName.textContent = own.file?.from.name ?? "";
      summary.textContent = notes.length
        ? summed(notes) + lost(left)
        : t(played ? TEXT.nothing : TEXT.noneYet);
      roll.setAttribute("aria-label", t(TEXT.roll, { notes: summary.textContent }));
      piano.paint();
      paintRoll(notes);
    },
  };
  onPaint(() => self.paint());
  new ResizeObserver(() => self.paint()).observe(roll);
  return self;
}

// A digit in the input bar: one of ours, drawn by hand, or read from a file; which of its rows stay is said by a slider of the bar.

import { unpack } from "./arrays.js";
import { el } from "./dom.js";
import { t } from "./lang.js";
import { colours, paintPicture, pad as drawingPad } from "./pad.js";
import { fitted, greys, inked, spelled, unspelled } from "./sketchbits.js";
import { bringing, read, unfit } from "./sketchgive.js";
import { strip as pictureStrip } from "./sketchstrip.js";
import { TEXT, filledIn, joined, megabytes } from "./sketchwords.js";
import { onTheme } from "./theme.js";

const BROAD = 1.3; // radius of the brush, pixels: strokes as broad as those of the digits that were learned from

/**
 * @param {any} control of kind "drawing", as controls.py draws it
 * @param {{id: string, rows: () => number, say: (told: {error?: any, remark?: any}) => void, open: () => void, run: () => void}} how
 *   rows: how many of them stay. say: a file was refused, or something is to be said of it, or of neither. open: the digit is to be in view,
 *   not another control. run: it is to be read as it stands
 * @returns a line of the input bar, see ask.js
 */
export function drawingOf(control, { id, rows, say, open, run }) {
  const { field } = control;
  const { side, names, upload, file: most } = control.drawings;
  let ours = null; // the held-out digits, once they are unpacked
  let thresholds = null; // which grey becomes ink
  let own = null; // the visitor's digit: {levels, pixels, hand: was it drawn here?}
  let reading = null; // the file on its way to the server
  let over = false; // does a file hang over the bar?

  const before = el("canvas", { class: "tfe-maker-before", role: "img" });
  const strip = pictureStrip({ side, names, onPick: pick });
  const chooser = el("input", { type: "file", accept: "image/png,image/jpeg,image/webp", hidden: true });
  const uploadButton = el("button", { type: "button", class: "tfe-button small", onclick: () => chooser.click() });
  const drawButton = el("button", { type: "button", class: "tfe-button small", "aria-controls": `${id}-pad`, onclick: () => openPad(pad.node.hidden) });
  const hint = el("span", { class: "tfe-maker-hint" });
  const give = el("div", { class: "tfe-maker-give" }, el("div", { class: "tfe-maker-buttons" }, drawButton, uploadButton, chooser), hint);
  const pad = drawingPad({ id: `${id}-pad`, side, onDraw: drawn, onClose: () => openPad(false), title: TEXT.padTitle, note: TEXT.padNote, white: true, broad: BROAD });
  const node = el("div", { class: "tfe-maker tfe-ask-drawing" }, el("div", { class: "tfe-maker-start" }, before, strip.node, give), pad.node);

  const isOurs = () => self.text.startsWith("test:");

  /** The pixels of the digit that is chosen, or null. */
  function pixels() {
    if (!isOurs()) return own?.pixels ?? null;
    const number = Number(self.text.slice(5));
    return number < names.length ? (ours?.slice(number) ?? null) : null;
  }

  /** What the pad may copy. */
  const given = () => {
    const now = pixels();
    return now ? greys(now) : null;
  };

  function pick(key, wants) {
    self.write(key === "own" ? spelled(own.pixels) : key);
    if (key !== "own") openPad(false);
    if (wants) run();
  }

  function drawn(levels, hand = true) {
    own = { levels, pixels: inked(levels, thresholds), hand };
    self.write(spelled(own.pixels));
  }

  function openPad(wanted) {
    if (pad.node.hidden === !wanted) return;
    pad.node.hidden = !wanted;
    drawButton.setAttribute("aria-expanded", String(wanted));
    if (wanted) pad.open({ levels: own && !isOurs() ? own.levels : null, given: given(), keep: rows() });
  }

  async function bring(file) {
    open();
    const error = unfit(file, most);
    say({ error });
    if (error) return;
    reading?.abort();
    const mine = new AbortController();
    reading = mine;
    openPad(false);
    self.paint();
    const told = await read(file, upload, mine.signal);
    if (reading !== mine) return;
    reading = null;
    self.paint();
    if (told.error) {
      say({ error: told.error });
      return;
    }
    const { levels, changed } = fitted(told.levels, side);
    drawn(levels, false);
    say({ remark: joined(told.notice, changed && TEXT.fitted, levels.some((level) => level > 0 && level < 255) && TEXT.once) });
    open();
    run();
  }

  /** The digit as it goes in, with the line below which the models make it. */
  function paintBefore() {
    const now = given();
    const [keep, tokens] = [rows(), colours()];
    paintPicture(before, { levels: now, side, scale: 3, keep, tokens });
    const cell = before.height / side;
    const context = before.getContext("2d");
    context.fillStyle = tokens.accent;
    if (keep > 0 && keep < side) context.fillRect(0, keep * cell - cell / 3, before.width, (2 * cell) / 3);
    before.setAttribute("aria-label", t(TEXT.keptPart, { n: keep, of: side }));
  }

  const self = {
    control,
    node,
    text: control.default,
    above: [],
    absent: { [field]: control.default },
    of: (fields) => fields?.[field] ?? control.default,
    /** What the button of the bar does with it. */
    goes: () => (rows() === side ? TEXT.readOnly : rows() ? TEXT.makeRest : TEXT.makeAll),
    reading: () => reading !== null,
    /** A digit that was brought may well be empty at its top; where strokes were made by hand, they were meant to count. */
    refusal() {
      if (isOurs() || !own?.hand || rows() === 0 || own.pixels.subarray(0, rows() * side).some(Boolean)) return null;
      return own.pixels.some(Boolean) ? filledIn(TEXT.below, { n: rows() }) : TEXT.blank;
    },
    /** Files are brought to the whole bar. */
    attach(form) {
      bringing({
        form,
        chooser,
        onFile: bring,
        onOver(yes) {
          over = yes;
          form.classList.toggle("is-over", yes);
          self.paint();
        },
      });
    },
    write(text) {
      self.text = text;
      self.paint();
      say({});
    },
    paint() {
      const now = isOurs() ? null : unspelled(self.text, side * side);
      if (now && !(own && spelled(own.pixels) === self.text)) own = { levels: greys(now), pixels: now, hand: false };
      strip.paint({ chosen: isOurs() ? self.text : "own", own: own?.pixels ?? null, ours });
      drawButton.textContent = t(TEXT.draw);
      drawButton.setAttribute("aria-expanded", String(!pad.node.hidden));
      uploadButton.textContent = t(reading ? TEXT.readingFile : TEXT.upload);
      uploadButton.title = t(TEXT.uploadLong, { mb: megabytes(most).replace(".0", "") });
      hint.textContent = t(over ? TEXT.dropHere : TEXT.drop);
      paintBefore();
      pad.paint({ keep: rows(), given: given() });
    },
  };
  onTheme(() => self.paint());
  unpack(control.drawings.thresholds).then(({ data }) => {
    thresholds = data;
  });
  unpack(control.drawings.pixels).then((all) => {
    ours = all;
    self.paint();
  });
  return self;
}

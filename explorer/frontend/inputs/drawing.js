// A picture in the input bar: one of ours, drawn by hand, or read from a file; which of its rows
// stay is said by another control.

import { unpack } from "../lib/arrays.js";
import { el } from "../lib/dom.js";
import { filled, t } from "../lib/lang.js";
import { colours, pad as drawingPad, paintPicture } from "./pad.js";
import { averaged, codec, fitted, inked } from "./picturebits.js";
import { bringing, read, unfit } from "./picturegive.js";
import { strip as pictureStrip } from "./picturestrip.js";
import { joined, megabytes, wordsOf } from "./picturewords.js";
import { onPaint } from "../lib/theme.js";

const LARGE = 48; // pixels of a side from which a picture is shown smaller
const BROAD = 1.3; // radius of the brush, pixels: strokes as broad as those of the digits that were learned from

/**
 * @param {any} control of kind "drawing", as controls.py draws it
 * @param {{id: string, begin: string, rows: () => number, say: (told: {error?: any, remark?: any})
 * => void, mine: () => boolean, open: () => void, run: () => void}} how
 *   begin: the picture to begin with, as a request says it. rows: how many stay. say: a file was
 *   refused, or something is to be said of it, or of neither. mine: are files that are dropped or
 *   pasted meant for this control? open: the picture is to be in view, not another control. run: it
 *   is to be read as it stands
 * @returns a line of the input bar, see ask.js
 */
export function lineOf(control, { id, begin, rows, say, mine, open, run }) {
  const { field } = control;
  const { side, channels, ink, small, names, upload, file: most } = control.drawings;
  const { spelled, unspelled, greys } = codec(ink);
  /** @type {Record<string, any>} */
  const TEXT = wordsOf(control.drawings);
  let ours = null; // the held-out pictures, once they are unpacked
  let thresholds = null; // which grey becomes ink
  let own = null; // the visitor's picture: {levels, pixels, hand: was it drawn here?}
  let reading = null; // the file on its way to the server
  let over = false; // does a file hang over the bar?

  const before = el("canvas", { class: "tfe-picture-before", role: "img" });
  const reduced = el("canvas", {
    class: "tfe-picture-before",
    "aria-hidden": "true",
    hidden: !small,
  });
  const strip = pictureStrip({ side, channels, names, said: TEXT, greys, onPick: pick });
  const chooser = el("input", {
    type: "file",
    accept: "image/png,image/jpeg,image/webp",
    hidden: true,
  });
  const uploadButton = el("button", {
    type: "button",
    class: "tfe-button small",
    onclick: () => chooser.click(),
  });
  const drawButton = el("button", {
    type: "button",
    class: "tfe-button small",
    "aria-controls": `${id}-pad`,
    hidden: channels > 1,
    onclick: () => openPad(pad.node.hidden),
  });
  const hint = el("span", { class: "tfe-picture-hint" });
  const give = el(
    "div",
    { class: "tfe-picture-give" },
    el("div", { class: "tfe-picture-buttons" }, drawButton, uploadButton, chooser),
    hint,
  );
  const pad = drawingPad({
    id: `${id}-pad`,
    side,
    onDraw: drawn,
    onClose: () => openPad(false),
    title: TEXT.padTitle,
    note: TEXT.padNote,
    ...(ink ? { white: true, broad: BROAD } : {}),
  });
  const node = el(
    "div",
    { class: "tfe-picture tfe-ask-drawing" },
    el("div", { class: "tfe-picture-start" }, before, reduced, strip.node, give),
    pad.node,
  );

  const isOurs = () => self.text.startsWith("test:");

  /** The pixels of the picture that is chosen, or null. */
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
    own = { levels, pixels: ink ? inked(levels, thresholds) : levels, hand };
    self.write(spelled(own.pixels));
  }

  function openPad(wanted) {
    if (pad.node.hidden === !wanted) return;
    pad.node.hidden = !wanted;
    drawButton.setAttribute("aria-expanded", String(wanted));
    if (wanted) {
      pad.open({ levels: own && !isOurs() ? own.levels : null, given: given(), keep: rows() });
    }
  }

  async function bring(file) {
    open();
    const error = unfit(file, most);
    say({ error });
    if (error) return;
    reading?.abort();
    const wish = new AbortController();
    reading = wish;
    openPad(false);
    self.paint();
    const told = await read(file, upload, wish.signal);
    if (reading !== wish) return;
    reading = null;
    self.paint();
    if (told.error) {
      say({ error: told.error });
      return;
    }
    const { levels, changed } = ink
      ? fitted(told.levels, side)
      : { levels: told.levels, changed: false };
    drawn(levels, false);
    say({
      remark: joined(
        told.notice,
        changed && TEXT.fitted,
        ink && levels.some((level) => level > 0 && level < 255) && TEXT.once,
      ),
    });
    open();
    run();
  }

  /**
   * The picture as it goes in: with the line below which the models make it, or with what is left
   * after it was made small.
   */
  function paintBefore() {
    const now = given();
    const [keep, tokens] = [rows(), colours()];
    paintPicture(before, {
      levels: now,
      side,
      channels,
      scale: small ? 5 : side > LARGE ? 2 : 3,
      keep,
      tokens,
    });
    if (small && now) {
      paintPicture(reduced, {
        levels: averaged(now, side, small),
        side: small,
        channels,
        scale: (5 * side) / small,
        tokens,
      });
    }
    const cell = before.height / side;
    const context = before.getContext("2d");
    context.fillStyle = tokens.accent;
    if (keep > 0 && keep < side) {
      context.fillRect(0, keep * cell - cell / 3, before.width, (2 * cell) / 3);
    }
    before.setAttribute("aria-label", t(TEXT.part, small ? { n: small } : { n: keep, of: side }));
  }

  const self = {
    control,
    node,
    text: begin,
    above: [],
    absent: { [field]: control.default },
    of: (fields) => fields?.[field] ?? control.default,
    /** What the button of the bar does with it. */
    goes: () => (rows() === side ? TEXT.readOnly : rows() ? TEXT.makeRest : TEXT.makeAll),
    reading: () => reading !== null,
    /**
     * A digit that was brought may well be empty at its top; where strokes were made by hand, they
     * were meant to count.
     */
    refusal() {
      if (
        isOurs() || !own?.hand || rows() === 0 ||
        own.pixels.subarray(0, rows() * side).some(Boolean)
      ) return null;
      return own.pixels.some(Boolean) ? filled(TEXT.below, { n: rows() }) : TEXT.blank;
    },
    /** Files are brought to the whole bar. */
    attach(form) {
      bringing({
        form,
        chooser,
        mine,
        onFile: bring,
        onOver(yes) {
          over = yes;
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
      const now = isOurs() ? null : unspelled(self.text, side * side * channels);
      if (now && !(own && spelled(own.pixels) === self.text)) {
        own = { levels: greys(now), pixels: now, hand: false };
      }
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
  onPaint(() => self.paint());
  if (ink) {
    unpack(control.drawings.thresholds).then(({ data }) => {
      thresholds = data;
    });
  }
  unpack(control.drawings.pixels).then((all) => {
    ours = all;
    self.paint();
  });
  return self;
}

// What all answers to “What changes if …” have in common: the sentence, numbers that come later than their answer, and files to take along.

import { el } from "./dom.js";
import { csv, exportBar, fileName, npz, save } from "./export.js";
import { foot } from "./source.js";
import { roles } from "./stripwords.js";
import { css } from "./theme.js";

/** A computed sentence as nodes; parts between ⟦…⟧ wear the colour of their role. */
export const coloured = (sentence) => roles(sentence).map(({ text, role }) => (role ? el("b", { class: `tfe-${role}`, text }) : document.createTextNode(text)));

/** The buttons that save what `made` makes: a canvas, rows, arrays, lines; nothing while it makes nothing. sentence: the node that says it. */
export function filesOf(made, sentence, named = () => []) {
  const write = {
    PNG: (canvas) => new Promise((done) => canvas.toBlob((blob) => done(save(fileName(["what-if", ...named()], "png"), blob, "image/png")))),
    CSV: (rows) => save(fileName(["what-if"], "csv"), csv(rows), "text/csv"),
    NPZ: (arrays) => save(fileName(["what-if"], "npz"), npz(arrays)),
    TXT: (lines) => save(fileName(["what-if"], "txt"), `${[...lines, sentence.textContent, foot()].join("\n")}\n`, "text/plain"),
  };
  const one = (kind, make) => () => {
    const found = make();
    return found ? write[kind](found) : undefined;
  };
  return Object.fromEntries(Object.entries(made).map(([kind, make]) => [kind, one(kind, make)]));
}

/** An empty sheet on which pictures are put side by side: [canvas, context]. */
export function sheetOf(width, height) {
  const sheet = el("canvas", { width: String(width), height: String(height) });
  const context = sheet.getContext("2d");
  context.fillStyle = css("--panel");
  context.fillRect(0, 0, width, height);
  Object.assign(context, { imageSmoothingEnabled: false, font: "14px sans-serif", fillStyle: css("--ink") });
  return [sheet, context];
}

/**
 * @param {string} name of its classes
 * @param {{parts: (value: any) => any[], unpacked: (part: any) => Promise<any>, paint: () => void, files: any, named?: () => string[], leave?: () => void}} how
 *   parts: of an answer; unpacked: one of them with its numbers. paint: draws, once all are there. leave: another answer comes.
 */
export function resultOf(name, { parts, unpacked, paint, files, named, leave = () => {} }) {
  const sentence = el("p", { class: `tfe-words tfe-${name}-sentence`, "aria-live": "polite" });
  const ready = () => self.value !== null && self.drawn.length === parts(self.value).length;
  const whole = (make) => () => (ready() ? make() : null);
  const self = {
    value: null,
    drawn: [], // the parts of the answer in view, unpacked
    sentence,
    exports: exportBar(filesOf(Object.fromEntries(Object.entries(files).map(([kind, make]) => [kind, whole(make)])), sentence, named)),
    draw() {
      if (!ready()) return; // its numbers are on their way
      sentence.replaceChildren(...coloured(self.value.sentence));
      paint();
    },
    /** Draws another answer, or nothing. */
    async set(next) {
      if (next === self.value) return;
      leave();
      [self.value, self.drawn] = [next, []];
      if (!next) return;
      const found = await Promise.all(parts(next).map(unpacked));
      if (next !== self.value) return;
      self.drawn = found;
      self.draw();
    },
  };
  return self;
}

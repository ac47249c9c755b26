// What stands around the text: who reads it and at what cost, the legend, the remarks, the table, and the card of a character.

import { el } from "./dom.js";
import { t } from "./lang.js";
import { caption, table } from "./readingexport.js";
import { TEXT, bits, count, named, short, weight } from "./readingwords.js";

/** "bits per character: given 1.83 · written 1.31" */
export function perCharacter(model) {
  const parts = [["given", TEXT.perGiven], ["written", TEXT.perWritten]].flatMap(([name, text]) => (model.bits[name] === null ? [] : [`${t(text)} ${model.bits[name].toFixed(2)}`]));
  return `${t(TEXT.per)}: ${parts.join(" · ")}`;
}

/** Above each text the name of its model, what sets it apart, and what the characters cost it. */
export const namesOf = (run, now, at) =>
  at.texts.map((text, n) => {
    const model = run.models[text.index];
    const chosen = run.models.length > 1 && text.index === now.index;
    return el(
      "div",
      { class: `tfe-reading-name${chosen ? " is-chosen" : ""}`, style: { marginLeft: `${n ? text.x - at.texts[n - 1].x - at.wide : text.x}px`, width: `${at.texts.length > 1 ? at.wide : at.wide + at.right}px` } },
      el("span", { class: "tfe-reading-who" }, el("b", { text: t(model.name) }), el("span", { class: "tfe-units", text: t(model.about) })),
      el("span", { class: "tfe-units tfe-reading-bits", text: perCharacter(model) }),
    );
  });

/** Roles in words. heads: can it be seen where a head looks? */
export function legendOf(run, heads) {
  const swatch = (kind, text) => el("span", { class: kind }, el("span", { class: "tfe-reading-swatch" }), t(text));
  return [
    ...(heads ? [swatch("tfe-query", TEXT.query), swatch("tfe-key", TEXT.key)] : []),
    ...(heads && run.models.some((model) => model.pattern) ? [swatch("tfe-reading-may", TEXT.may)] : []),
    ...(run.of > run.given ? [swatch("tfe-out", TEXT.written)] : []),
    ...(heads && run.models.some((model) => model.first !== null) ? [swatch("tfe-reading-beyond", TEXT.beyond)] : []),
    ...(run.strange.size ? [swatch("tfe-reading-strange", TEXT.unknown)] : []),
    ...(run.segment ? [swatch("tfe-reading-part", TEXT.segments)] : []),
  ];
}

/** What was given and what was written, in words. */
export function noteOf(run, at, heads) {
  const longest = Math.max(...run.models.map((model) => model.count));
  const remarks = run.state === "stale" ? [t(TEXT.from)] : [];
  if (run.state === "running") remarks.push(t(TEXT.growingNote));
  else if (run.given >= longest) remarks.push(t(TEXT.allGiven, { n: count(longest) }));
  else remarks.push(t(run.given === 0 ? TEXT.allWritten : run.models.length === 1 ? TEXT.borderOne : run.shared === longest ? TEXT.borderAlike : TEXT.border, { n: count(run.given || longest) }));
  if (at.view < at.height) remarks.push(t(heads ? TEXT.stripLooks : TEXT.strip));
  if (run.strange.size) remarks.push(t(run.strange.size === 1 ? TEXT.unknownOne : TEXT.unknownNote, { n: count(run.strange.size) }));
  return remarks.join(" ");
}

/** The characters around the lock. */
export function tableOf(scene) {
  const { head, lines, here } = table(scene);
  return el(
    "table",
    { class: "tfe-table" },
    el("caption", { class: "tfe-note", text: caption(scene) }),
    el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col", text: name })))),
    el("tbody", {}, lines.map(([first, ...cells], n) => el("tr", {}, el("th", { scope: "row", text: first }), cells.map((cell) => el("td", { class: n === here ? "here" : null, text: cell }))))),
  );
}

/** What the card says of a character: where it comes from, what each model paid, and what the locked one gives to it. */
export function cardOf({ run, now, look }, index, position) {
  const model = run.models[index];
  const what = [t(position < run.given ? TEXT.isGiven : TEXT.isWritten), ...(run.strange.has(position) ? [t(TEXT.isUnknown)] : [])].join(" · ");
  const lines = [el("div", {}, el("b", { class: "tfe-mono", text: short(model.codes[position], position) }), ` · ${what}`)];
  for (const other of run.models) {
    if (position >= other.count) continue;
    const parted = other.codes[position] !== model.codes[position];
    lines.push(el("div", { text: t(parted ? TEXT.cardOther : TEXT.cardBits, { name: t(other.name), n: bits(other.nats[position]), char: named(other.codes[position], position) }) }));
  }
  const locked = now.positions.at(-1);
  if (look && index === now.index && position < locked) lines.push(el("div", { text: t(TEXT.cardWeight, { q: short(model.codes[locked], locked), w: weight(look.weights[position + 1]) }) }));
  return lines;
}

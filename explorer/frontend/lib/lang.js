// Two languages. The choice stands in a saved page itself, in the address (?lang=zh), in this tab's
// memory, in the browser's own setting.

import { nameInvisible } from "./invisible.js";
import { keep, kept } from "./session_storage.js";

const KEY = "tfe-lang";
const listeners = new Set();

function first() {
  const asked = document.documentElement.dataset.lang ??
    new URL(location.href).searchParams.get("lang") ?? kept(KEY) ??
    navigator.language;
  return asked.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** @type {"en" | "zh"} */
let now = first();
const stamp = () => document.documentElement.setAttribute("lang", now === "zh" ? "zh-CN" : "en");
stamp();

/** @returns {"en" | "zh"} */
export const lang = () => now;

// Nouns as they stand behind a number in a text: after "1" they stand alone. As in
// explorer/contract/labels.py, which a test compares.
const NOUNS = `
  answers bars beats blocks boxes buckets carries cells characters checkpoints columns
  comparisons coordinates corridors digits edges epochs events facts gates guesses heads
  hypotheses inputs keys kinds labels labs layers letters levels models nodes notes objects
  octaves pairs parts pictures pieces pixels places positions queries rounds rows runs semitones
  sentences spans steps symbols threads tokens units updates values ways weights words
`.trim().split(/\s+/);
const ODD = { boxes: "box", guesses: "guess", hypotheses: "hypothesis" };
const singular = (noun) => ODD[noun] ?? noun.replace(/ies$/, "ys").slice(0, -1);
const COUNTED = new RegExp(`\\{(\\w+)\\}((?: other| more)? )(${NOUNS.join("|")})\\b`, "g");

/**
 * A text whose words agree with their numbers: "{n} layers" is "{n} layer" where values.n is 1, and
 * so is "{n|this layer is|these are}".
 */
export function agreed(raw, values) {
  const one = (name) => String(values[name]) === "1";
  return raw
    .replace(
      COUNTED,
      (whole, name, between, noun) => (one(name) ? `{${name}}${between}${singular(noun)}` : whole),
    )
    .replace(
      /\{(\w+)\|([^{}|]*)\|([^{}|]*)\}/g,
      (whole, name, single, many) => (name in values ? (one(name) ? single : many) : whole),
    );
}

/**
 * The visitor's language of a text {en, zh}, with {name} replaced by values.name and nouns agreeing
 * with their numbers. Plain strings pass through. What is invisible in a value is named.
 */
export function t(text, values = {}) {
  const raw = text === null || text === undefined
    ? ""
    : typeof text === "string"
    ? text
    : (text[now] ?? text.en ?? "");
  return agreed(raw, values).replace(
    /\{(\w+)\}/g,
    (whole, name) => (name in values ? nameInvisible(String(values[name])) : whole),
  );
}

/** A text {en, zh} in both languages, with {name} replaced as `t` does. */
export const filled = (text, values) =>
  Object.fromEntries(Object.entries(text).map(([language, raw]) => [language, t(raw, values)]));

/**
 * Fills {name}s of a text with parts that keep their role. @returns {{text: string, role?:
 * string}[]}
 */
export function parts(text, values) {
  return agreed(t(text), values).split(/(\{\w+\})/).filter(Boolean).map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    const value = name === undefined ? piece : values[name];
    if (typeof value !== "object") return { text: nameInvisible(String(value)) };
    return value?.text === undefined
      ? value
      : { ...value, text: nameInvisible(String(value.text)) };
  });
}

/** A computed sentence in parts; those between ⟦…⟧ wear the colour of their role: ⟦k:segment 4⟧. */
export const roles = (sentence) =>
  t(sentence).split(/(⟦[qko]:[^⟧]*⟧)/).map((part) => {
    const role = /^⟦([qko]):([^⟧]*)⟧$/.exec(part);
    return role
      ? { text: role[2], role: { q: "query", k: "key", o: "out" }[role[1]] }
      : { text: part };
  });

/** A sentence in parts as a text. */
export const plain = (sentence) => sentence.map((part) => part.text ?? part).join("");

/** Calls fn after every change of language; returns a function that stops it. */
export function onLang(fn) {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

export function setLang(next) {
  if (next === now) return;
  now = next;
  keep(KEY, now);
  stamp();
  const url = new URL(location.href);
  url.searchParams.set("lang", now);
  history.replaceState(history.state, "", url);
  for (const fn of listeners) fn(now);
}

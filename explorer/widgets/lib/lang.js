// Two languages. The choice stands in the address (?lang=zh), then in this tab's memory, then in the browser's own setting.

import { keep, kept } from "./memory.js";

const KEY = "tfe-lang";
const listeners = new Set();

function first() {
  const asked = new URL(location.href).searchParams.get("lang") ?? kept(KEY) ?? navigator.language;
  return asked.toLowerCase().startsWith("zh") ? "zh" : "en";
}

let now = first();
const stamp = () => document.documentElement.setAttribute("lang", now === "zh" ? "zh-CN" : "en");
stamp();

/** @returns {"en" | "zh"} */
export const lang = () => now;

/** The visitor's language of a text {en, zh}, with {name} replaced by values.name. Plain strings pass through. */
export function t(text, values = {}) {
  const raw = text === null || text === undefined ? "" : typeof text === "string" ? text : (text[now] ?? text.en ?? "");
  return raw.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

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

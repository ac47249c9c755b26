// Light and dark. Dark is the class "dark" on body, Gradio's own convention; whoever sets it, we follow.

import { keep, kept } from "./memory.js";

const KEY = "tfe-theme";
const listeners = new Set();

export const dark = () => document.body.classList.contains("dark");

/** The current value of a colour token: css("--query") -> "#…". */
export const css = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

/** Replaces every "var(--token)" inside a JSON value by the token's current value. */
export function resolve(value) {
  if (typeof value === "string") return value.replace(/var\((--[\w-]+)\)/g, (_, name) => css(name));
  if (Array.isArray(value)) return value.map(resolve);
  if (value && typeof value === "object" && !ArrayBuffer.isView(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  }
  return value;
}

/** Calls fn after every change between light and dark; returns a function that stops it. */
export function onTheme(fn) {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

export function setTheme(name) {
  keep(KEY, name);
  showTheme(name);
}

/** Did this visitor choose between light and dark by hand? */
export const chosenTheme = () => kept(KEY) !== null;

/** Light or dark for now, without remembering it as a choice. */
export const showTheme = (name) => document.body.classList.toggle("dark", name === "dark");

const chosen = kept(KEY);
if (chosen) document.body.classList.toggle("dark", chosen === "dark");

let was = dark();
new MutationObserver(() => {
  if (dark() === was) return;
  was = dark();
  for (const fn of listeners) fn();
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });

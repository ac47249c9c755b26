// Light and dark. Dark is the class "dark" on body, Gradio's own convention; whoever sets it, we
// follow.

import { onPage } from "./dom.js";
import { keep, kept } from "./session_storage.js";

const KEY = "tfe-theme";
const listeners = new Set();

export const dark = () => document.body.classList.contains("dark");

const tokens = [new Map(), new Map()]; // of light and of dark: asking for one makes the browser settle its styles
/** The current value of a colour token: css("--query") -> "#…". */
export function css(name) {
  const known = tokens[Number(dark())];
  if (!known.get(name)) {
    known.set(name, getComputedStyle(document.body).getPropertyValue(name).trim());
  }
  return known.get(name);
}

/** Calls fn after every change between light and dark; returns a function that stops it. */
export function onTheme(fn) {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** The page is zoomed, or stands on another screen. */
const onResolution = (fn) =>
  matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => {
    onResolution(fn);
    fn();
  }, { once: true });

/**
 * Calls fn whenever what a canvas holds is to be painted anew: in other colours, or at the screen's
 * new resolution.
 */
export function onPaint(fn) {
  onTheme(fn);
  onResolution(fn);
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

onPage(dark, () => listeners.forEach((fn) => fn()));

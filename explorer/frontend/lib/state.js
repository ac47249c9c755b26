// The page's state is its address: what was asked (the request, written by the server), what is
// looked at (keys with an underscore), the guided step and the language. Nothing else is
// remembered, so a copied address shows exactly this page. A run and a guided step are entries of
// the browser's history, so back and forward go through them; looking around is none.

import { lang, onLang } from "./lang.js";

const OURS = new Set(["step", "lecture", "figure", "lang", "__theme"]);
const listeners = new Map(); // name -> Set of functions

function listen(name, fn) {
  if (!listeners.has(name)) listeners.set(name, new Set());
  listeners.get(name).add(fn);
  return () => listeners.get(name).delete(fn);
}

/** Messages between widgets of one page. */
export const bus = {
  on: listen,
  fire(name, detail) {
    for (const fn of listeners.get(name) ?? []) fn(detail);
  },
};

// Where the page stands, which the browser may be told a moment later: what is written too often it
// does not take.
let shown = location.href;
const OFTEN = 200; // ms between two writings of the address in the long run
const AT_ONCE = 40; // writings that need not wait
let [due, later] = [-AT_ONCE * OFTEN, 0];
let left = null; // where it stood when the run under way was wished for

/** All that the address asks for. */
export const read = () => new URL(shown).searchParams;
onLang(() => {
  const params = read();
  params.set("lang", lang());
  write(params);
});

function settle() {
  later = 0;
  due = Math.max(due, performance.now() - AT_ONCE * OFTEN) + OFTEN;
  history.replaceState(history.state, "", shown);
}

function write(params, { enters = false } = {}) {
  const url = new URL(shown); // never a bare "?…": Gradio sets <base href="./">
  url.search = params.toString();
  if (url.href === shown) return;
  // What was let go of for the new run belongs to the old one.
  if (enters) history.replaceState(history.state, "", left ?? shown);
  shown = url.href;
  const wait = due - performance.now();
  if (enters) history.pushState(history.state, "", shown);
  else if (wait > 0) later ||= setTimeout(settle, wait);
  else settle();
}

/**
 * What is looked at: view.get("head") -> "3.5" or null; view.set({row: 9, col: null});
 * view.on(["row", "col"], fn).
 */
export const view = {
  get: (key) => read().get("_" + key),
  set(patch) {
    const params = read();
    const changed = [];
    for (const [key, value] of Object.entries(patch)) {
      const next = value === null || value === undefined ? null : String(value);
      if (params.get("_" + key) === next) continue;
      if (next === null) params.delete("_" + key);
      else params.set("_" + key, next);
      changed.push(key);
    }
    if (!changed.length) return;
    write(params);
    bus.fire("view", changed);
  },
  /** Does the address say anything about what is looked at? */
  any: () => [...read().keys()].some((key) => key.startsWith("_")),
  /** Calls fn(changed keys) once per change that touches one of the keys. */
  on: (keys, fn) =>
    listen("view", (changed) => changed.some((key) => keys.includes(key)) && fn(changed)),
};

// What was looked at has had other names in links of former days.
const FORMER = {
  bought: "memories",
  twice_table: "spelling_table",
  reread_of: "change_of",
  reread_table: "change_table",
};
for (const [old, name] of Object.entries(FORMER)) {
  if (view.get(old) !== null) view.set({ [name]: view.get(old), [old]: null });
}

// What the link that opened the page looks at, as long as nobody has looked elsewhere: it may name
// what is not there.
const linked = new Map(
  [...read()].filter(([key]) => key.startsWith("_")).map(([key, value]) => [key.slice(1), value]),
);
const SAID = 40; // characters of what a link says that are said again

/** A sentence for the visitor, {en, zh}, which the shell shows above the page. */
export const tell = (sentence) => {
  told.push(sentence);
  bus.fire("told", sentence);
};
/** Those that were said before anybody listened. */
export const told = [];

/**
 * What a link names and is not there is said, and leaves the address. keys: {key: text -> is that
 * there?}, judged on the run that the view draws; query: of that run, for the address may be about
 * another that is still on its way.
 */
export function judge(keys, query) {
  if (request.get() && request.get() !== requestOf(new URLSearchParams(query))) return;
  for (const [key, there] of Object.entries(keys)) {
    const given = linked.get(key);
    if (given === undefined) continue;
    linked.delete(key);
    if (view.get(key) !== given || there(given)) continue;
    nowhere("_" + key, given);
    queueMicrotask(() => view.set({ [key]: null })); // whoever judges is drawing
  }
}

/**
 * For `judge`: is a head, "2.3" counted from 1, there? What is no pair of numbers names no head
 * ("mean").
 */
export const headIn = (layers, heads) => (text) => {
  const [layer, head] = (/^(\d+)\.(\d+)$/.exec(text)?.slice(1) ?? [1, 1]).map(Number);
  return (/^[a-z]+$/.test(text) || text.includes(".")) && layer >= 1 && layer <= layers &&
    head >= 1 && head <= heads;
};
/** For `judge`: are all of these positions, "3" or "3,7" counted from 0, there? */
export const positionsIn = (count) => (text) =>
  text === "none" ||
  text.split(",").every((one) => /^\d+$/.test(one) && Number(one) < count);

/** Says that a part of the link points at nothing. */
export function nowhere(key, given) {
  const text = given.length > SAID ? `${given.slice(0, SAID - 1)}…` : given;
  tell({
    en: `The link's “${key}” is “${text}”, which is not on this page: its usual view is shown.`,
    zh: `链接中的“${key}”是“${text}”，本页没有：显示的是默认视图。`,
  });
}

const isRequest = (key) => !key.startsWith("_") && !OURS.has(key);

/** The request part of the address, as the server wrote it. */
export const request = {
  get: () => requestOf(read()),
  /** Is this query the run in view? */
  is: (query) => requestOf(new URLSearchParams(query)) === request.get(),
  /**
   * enters: it is a run of the visitor's, and back leads to what stood here when `leave` was
   * called.
   */
  set(query, { enters = false } = {}) {
    const params = new URLSearchParams(query);
    for (const [key, value] of read()) if (!isRequest(key)) params.append(key, value);
    write(params, { enters });
    left = null;
    bus.fire("request", request.get());
  },
  /** Another run is wished for: what stands in the address belongs to the one in view. */
  leave() {
    left = shown;
  },
};

export const step = {
  get: () => Number.parseInt(read().get("step") ?? "0", 10) || 0,
  set(number) {
    const params = read();
    if (number) params.set("step", String(number));
    else params.delete("step");
    write(params);
    bus.fire("step", number);
  },
  on: (fn) => listen("step", fn),
};

/**
 * Is this page a part of the guided lecture? null where it is not; "1"; "projector" on the way from
 * a projected figure to the next lab; "figure" on a phone that shows just the figure that was
 * projected, which the address names ("attention", or "attention.1"); "frame" where a page of ours
 * takes pictures of the projected steps (lib/slides.js).
 */
export const lecture = {
  get: () => read().get("lecture"),
  set(value) {
    const params = read();
    params.set("lecture", value);
    write(params);
  },
  figure: () => read().get("figure"),
};

/**
 * Shows another state of this page: the widget that owns the input hears of the query, the others
 * of the view. enters: back leads to what stood here before.
 */
export function open({ query = "", view: look = {}, step: number = 0, enters = true }) {
  const params = new URLSearchParams(query);
  for (const [key, value] of Object.entries(look)) params.set("_" + key, String(value));
  if (number) params.set("step", String(number));
  for (const key of ["lecture", "figure", "lang"]) {
    if (read().has(key)) params.set(key, read().get(key));
  }
  const before = shown;
  left = null;
  write(params, { enters });
  changed(before);
}

const requestOf = (params) =>
  new URLSearchParams([...params].filter(([key]) => isRequest(key))).toString();
const looksOf = (params) =>
  [...params.keys()].filter((key) => key.startsWith("_")).map((key) => key.slice(1));

/** Everybody hears in what the address differs from an earlier one. */
function changed(before) {
  const [was, is] = [new URL(before).searchParams, read()];
  bus.fire("step", step.get());
  bus.fire("view", [...new Set([...looksOf(was), ...looksOf(is)])]);
  if (requestOf(was) === requestOf(is)) return;
  if (listeners.get("open")?.size) bus.fire("open", requestOf(is));
  else unheard = requestOf(is);
}

window.addEventListener("popstate", () => {
  const before = shown;
  shown = location.href;
  const params = read();
  // The language and the way through the lecture are the visitor's own, whatever they were when the
  // page stood here.
  for (const key of ["lecture", "lang", "__theme"]) {
    const now = new URL(before).searchParams.get(key);
    if (now === null) params.delete(key);
    else params.set(key, now);
  }
  left = null;
  write(params);
  if (new URL(before).pathname === location.pathname) changed(before);
});

let unheard = null; // a request opened before the owner of the input had arrived

/**
 * Calls fn(query) when another request is to be shown; the owner of the input sends it to the
 * server.
 */
export function onOpen(fn) {
  const stop = listen("open", fn);
  if (unheard !== null) {
    const query = unheard;
    unheard = null;
    fn(query);
  }
  return stop;
}

/** The address of another page of the site, in the language of this one. */
export function pageAt(path, search = {}) {
  const url = new URL(path, location.origin);
  if (read().has("lang")) url.searchParams.set("lang", lang());
  for (const [key, value] of Object.entries(search)) url.searchParams.set(key, value);
  return url.href;
}

/** The page that shows two addresses of labs side by side. */
export const comparing = (left, right) =>
  pageAt(
    "/compare",
    Object.fromEntries(
      Object.entries({ left, right })
        .map(([side, { pathname, search }]) => [side, pathname + search]),
    ),
  );

/** The permalink of exactly this view. */
export const link = () => shown;

let refusal = null;

/**
 * The sentence {en, zh} that says why this view has no link, or null; the server's answer sets it
 * with refuseLink(sentence or null).
 */
export const linkRefusal = () => refusal;
export const refuseLink = (sentence) => {
  refusal = sentence ?? null;
};

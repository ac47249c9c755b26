// The page's state is its address: what was asked (the request, written by the server), what is looked at (keys with an
// underscore), the guided step and the language. Nothing else is remembered, so a copied address shows exactly this page.

const OURS = new Set(["step", "lecture", "lang", "__theme"]);
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

const read = () => new URL(location.href).searchParams;

function write(params) {
  const url = new URL(location.href); // never a bare "?…": Gradio sets <base href="./">
  url.search = params.toString();
  if (url.href !== location.href) history.replaceState(history.state, "", url);
}

/** What is looked at: view.get("head") -> "3.5" or null; view.set({row: 9, col: null}); view.on(["row", "col"], fn). */
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
    for (const key of changed) bus.fire("view:" + key, key);
    bus.fire("view", changed);
  },
  /** Does the address say anything about what is looked at? */
  any: () => [...read().keys()].some((key) => key.startsWith("_")),
  /** Calls fn(changed keys) once per change that touches one of the keys. */
  on: (keys, fn) => listen("view", (changed) => changed.some((key) => keys.includes(key)) && fn(changed)),
};

const isRequest = (key) => !key.startsWith("_") && !OURS.has(key);

/** The request part of the address, as the server wrote it. */
export const request = {
  get: () => new URLSearchParams([...read()].filter(([key]) => isRequest(key))).toString(),
  set(query) {
    const params = new URLSearchParams(query);
    for (const [key, value] of read()) if (!isRequest(key)) params.append(key, value);
    write(params);
    bus.fire("request", request.get());
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

/** Is this page a part of the guided lecture? null where it is not; "1"; "projector" on the way from a projected figure to the next lab. */
export const lecture = {
  get: () => read().get("lecture"),
  set(value) {
    const params = read();
    params.set("lecture", value);
    write(params);
  },
};

/** Shows another state of this page: the widget that owns the input hears of the query, the others of the view. */
export function open({ query = "", view: look = {}, step: number = 0 }) {
  const params = new URLSearchParams(query);
  for (const [key, value] of Object.entries(look)) params.set("_" + key, String(value));
  if (number) params.set("step", String(number));
  for (const key of ["lecture", "lang"]) if (read().has(key)) params.set(key, read().get(key));
  const same = request.get() === new URLSearchParams(query).toString();
  const before = [...read().keys()].filter((key) => key.startsWith("_")).map((key) => key.slice(1));
  write(params);
  bus.fire("step", number);
  bus.fire("view", [...new Set([...before, ...Object.keys(look)])]);
  if (same) return;
  if (listeners.get("open")?.size) bus.fire("open", query);
  else unheard = query;
}

let unheard = null; // a request opened before the owner of the input had arrived

/** Calls fn(query) when another request is to be shown; the owner of the input sends it to the server. */
export function onOpen(fn) {
  const stop = listen("open", fn);
  if (unheard !== null) {
    const query = unheard;
    unheard = null;
    fn(query);
  }
  return stop;
}

/** The permalink of exactly this view. */
export const link = () => location.href;

let refusal = null;

/** The sentence {en, zh} that says why this view has no link, or null; the server's answer sets it with refuseLink(sentence or null). */
export const linkRefusal = () => refusal;
export const refuseLink = (sentence) => {
  refusal = sentence ?? null;
};

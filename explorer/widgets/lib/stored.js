// Results that the server holds ready, for examples and guided steps: fetched like a picture, without waiting in its queue.

import { bus } from "./state.js";

const canonical = (query) => new URLSearchParams(query).toString();
const listed = document.querySelector('meta[name="tfe-stored"]')?.content;
const addresses = new Map(Object.entries(listed ? JSON.parse(listed) : {}).map(([query, address]) => [canonical(query), address]));

/** Does the server hold the result of this request (the request part of a permalink, "" for the first example)? */
export const isStored = (query) => addresses.has(canonical(query));

/** What each widget of the page draws of it, {name: value}; null where the server must be asked after all. */
export async function stored(query) {
  try {
    const answer = await fetch(addresses.get(canonical(query)));
    return answer.status === 200 ? await answer.json() : null;
  } catch {
    return null;
  }
}

let shown = null; // the stored result in view, for widgets that arrive after it

bus.on("asking", (yes) => {
  if (yes) shown = null; // another wish: what comes next is newer
});

/** Draws a stored result: every widget named in it gets its value, as if it had come as an answer; those still on their way get it later. */
export function show(values) {
  shown = values;
  bus.fire("stored", values);
}

let wishes = 0; // of this page: the server keeps to the newest, in whatever order they arrive
let outdated = 0; // how many of them a newer wish has overtaken

/** A wish begins that replaces all before it: what the server still answers to those, already on its way, is drawn no more. */
export function outdate() {
  outdated = wishes;
}

/** The same events; each says the how-manieth of the page it is. */
const numbered = (emit) => Object.fromEntries(Object.entries(emit).map(([event, send]) => [event, (detail) => send({ ...detail, number: ++wishes })]));

/** Mounts a widget so that stored results reach it too, and its events know their order. */
export function mount(name, module, root, props, emit, watch) {
  const drawing = [];
  bus.on("stored", (values) => {
    if (!(name in values)) return;
    props.value = values[name];
    for (const draw of drawing) draw(); // Gradio calls them for its own answers only
  });
  if (shown && name in shown) props.value = shown[name];
  module.mount(root, props, numbered(emit), (names, draw) => {
    if (![names].flat().includes("value")) {
      watch(names, draw);
      return;
    }
    watch(names, () => {
      if (props.value?.wished <= outdated) return; // the number of the wish that it answers, where it answers one (labs/wiring.py)
      draw();
    });
    drawing.push(draw);
  });
}

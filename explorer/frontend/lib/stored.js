// Results that the server holds ready, for examples and guided steps: fetched like a picture,
// without waiting in its queue.

import { drop, send } from "./connection.js";
import { bus, request } from "./state.js";
import { install } from "./wire.js";

install();

const canonical = (query) => new URLSearchParams(query).toString();
/** @type {HTMLMetaElement | null} */
const meta = document.querySelector('meta[name="tfe-stored"]');
const listed = meta?.content;
const addresses = new Map(
  Object.entries(listed ? JSON.parse(listed) : {})
    .map(([query, address]) => [canonical(query), address]),
);

/**
 * Does the server hold the result of this request (the request part of a permalink, "" for the
 * first example)?
 */
export const isStored = (query) => addresses.has(canonical(query));

/**
 * What each widget of the page draws of it, {name: value}; null where the server must be asked
 * after all.
 */
export async function stored(query) {
  try {
    const answer = await fetch(addresses.get(canonical(query)));
    return answer.status === 200 ? await answer.json() : null;
  } catch {
    return null;
  }
}

// Browsers keep what was fetched once: the next step of a projected lecture finds it here.
bus.on("ahead", ({ query }) =>
  isStored(query) && !request.is(query) &&
  fetch(addresses.get(canonical(query))).then((answer) => answer.blob()).catch(() => null));

// Where a link or a step opens another run than the page was written with, no picture is seen
// (document.py) until it has drawn of that run.
const page = document.documentElement.classList;
const drawings = []; // promises
/** Nothing more is to come for the link: every picture is seen once it stands. */
export const opened = () => Promise.allSettled(drawings).then(() => page.remove("tfe-opening"));
bus.on("asking", (yes) => yes || setTimeout(opened));

let shown = null; // the stored result in view, for widgets that arrive after it
let wishes = 0; // of this page, stored results among them

bus.on("asking", (yes) => {
  if (yes) shown = null; // another wish: what comes next is newer
});

/**
 * Draws a stored result: every widget named in it gets its value, as if it had come as an answer;
 * those still on their way get it later.
 */
export function show(values) {
  wishes += 1;
  shown = values;
  bus.fire("stored", values);
}

/**
 * The same events; each says the how-manieth wish of the page it is, and the server says it again
 * in its answers (explorer/page/wiring.py). Until then it is under way (connection.js); who stops
 * waits for nothing.
 */
const numbered = (name, emit) =>
  Object.fromEntries(
    Object.entries(emit).map(([event, ask]) => {
      function sent(detail, sendings) {
        wishes += 1;
        if (event !== "stop") {
          send(wishes, `${name} ${event}`, (times) => sent(detail, times), sendings);
        }
        return ask({ ...detail, wished: wishes });
      }
      return [event, (detail) => sent(detail, 1)];
    }),
  );

let overtaken = 0; // the newest wish that a newer one for the run in view has overtaken

/**
 * A new run is wished for, or a change of the one in view: what answers an older wish comes too
 * late from now on, a refusal too.
 */
export const overtake = () => {
  overtaken = wishes;
  drop("ask ask");
  request.leave();
};

/** Does a value answer a wish that a newer one has overtaken? */
export const late = (value) => value?.wished <= overtaken;

let answering = new Set(); // names of the widgets that the answer to a wish draws

/**
 * All these widgets draw answers to the wishes of one input bar: what answers an overtaken wish is
 * drawn by none of them.
 */
export const guard = (names) => {
  answering = new Set(names);
};

let runs = []; // the newest two runs, and the unchanged one of a change in view: [{order, values}]

function keep(order, name, value) {
  let run = runs.find((one) => one.order === order);
  if (!run) runs.push(run = { order, values: {} });
  if (value?.state === "before") run.values = value.values;
  else run.values[name] = value;
  const { plain = null } = runs.at(-1).values.ask ?? {};
  runs = runs.filter((one, at) => at >= runs.length - 2 || one.values.ask?.query === plain);
}

/**
 * What the widgets draw of a finished run of this request, {name: value}, where it was in view not
 * long ago; else null.
 */
export const kept = (query) =>
  runs.findLast(({ values }) =>
    values.ask?.answer !== undefined &&
    canonical(values.ask.query) === canonical(query)
  )?.values ?? null;

/** Shows other values for a while, of those widgets that are views; null: their own again. */
export const peek = (values) => bus.fire("peek", values);

/**
 * Mounts a widget so that stored results reach it too, that nothing older comes after something
 * newer, and that nothing is drawn twice.
 *
 * Its root says what it has drawn: data-view is the widget's name, data-state the state of the
 * value drawn ("stored", "live", "running" …, "" for a value without one), data-wish the number of
 * the wish that this value answers, 0 for the page's first.
 */
export function mount(name, module, root, props, emit, watch) {
  const drawing = [];
  let newest = 0; // the wish that the value in view answers
  let latest = 0; // which of the answers to that wish it is: Gradio repeats the last one
  let own = props.value;

  function isNews() {
    const { wished: order, said } = props.value ?? {};
    if (
      order < newest || (order === newest && said <= latest) ||
      (answering.has(name) && late(props.value))
    ) {
      props.value = own;
      return false;
    }
    if (order !== undefined) [newest, latest] = [order, said ?? 0];
    own = props.value;
    return true;
  }

  function paint(draw) {
    const done = Promise.resolve(draw()).then(() => root.classList.toggle("tfe-came", newest > 0));
    if (page.contains("tfe-opening")) drawings.push(done);
  }

  function say() {
    Object.assign(root.dataset, { view: name, state: own?.state ?? "", wish: newest });
    keep(newest, name, own);
  }

  bus.on("stored", (values) => {
    if (!(name in values)) return;
    newest = wishes;
    latest = 0;
    own = props.value = values[name];
    say();
    drawing.forEach(paint); // Gradio calls them for its own answers only
  });
  const isView = () => answering.has(name) && name !== "ask" && name !== "change";
  bus.on("wishing", ({ stopped }) => isView() && root.classList.toggle("is-older", !stopped));
  bus.on("asking", (yes) => yes || root.classList.remove("is-older"));
  bus.on("peek", (values) => {
    if (!isView()) return;
    const value = values?.[name] ?? own;
    if (props.value === value) return;
    props.value = value;
    for (const draw of drawing) draw();
  });
  if (shown && name in shown) {
    newest = wishes;
    own = props.value = shown[name];
  }
  say();
  module.mount(root, props, numbered(name, emit), (names, draw) => {
    const ofValue = [names].flat().includes("value");
    const drawNews = () => {
      if (!isNews()) return;
      say();
      paint(draw); // a folded panel may ask anew meanwhile, and says so
    };
    watch(names, ofValue ? drawNews : draw);
    if (ofValue) drawing.push(draw);
  });
}

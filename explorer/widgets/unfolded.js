// A folded panel that holds a picture of the stage. What the address says of the keys it asks with goes to the server beside the run.

import { el } from "./lib/dom.js";
import { folded } from "./lib/folded.js";
import { view } from "./lib/state.js";
import { mount as stage } from "./stage.js";

const KEPT = 16; // answers remembered

/** props: see stage.py. Event: ask({run, wish}). */
export async function mount(root, props, emit, watch) {
  const node = el("div", {});
  const inner = { ...props, value: null };
  let arrive = () => {};
  const panel = folded({
    root, key: props.view, title: props.texts.title, body: [node], props, watch, emit, keep: KEPT,
    wish: () => Object.fromEntries(props.asks.map((key) => [key, view.get(key)])),
    draw(value) {
      inner.value = { ...value, query: value.run };
      arrive();
    },
  });
  view.on(props.asks, () => panel.ask());
  await stage(node, inner, {}, (_, changed) => (arrive = changed));
}

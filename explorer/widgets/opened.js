// A folded panel that holds one figure. Its name is its key in the address too.

import { folded } from "./lib/folded.js";
import { nested } from "./lib/nested.js";

/** props: see figure.py. Event: ask({run, wish}). */
export function mount(root, props, emit, watch) {
  const figure = nested(props.plotly);
  folded({ root, key: props.opens, title: props.title_text, body: [figure.node], props, watch, emit, draw: (value) => figure.set(value.figure) });
}

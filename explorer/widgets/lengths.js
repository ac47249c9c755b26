// What an event costs beyond the trained length: a measured figure.

import { folded } from "./lib/folded.js";
import { nested } from "./lib/nested.js";

/** props: see lengths.py. Event: ask({run, wish}). */
export function mount(root, props, emit, watch) {
  const figure = nested(props.plotly);
  folded({ root, key: "lengths", title: props.title_text, body: [figure.node], props, watch, emit, draw: (value) => figure.set(value.figure) });
}

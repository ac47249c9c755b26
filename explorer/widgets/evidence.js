// A question that one measured figure answers.

import { folded } from "./lib/folded.js";
import { nested } from "./lib/nested.js";

/** props: see evidence.py. Event: ask({run, wish}). */
export function mount(root, props, emit, watch) {
  const figure = nested(props.plotly);
  folded({ root, key: props.view_key, title: props.title_text, body: [figure.node], props, watch, emit, draw: (value) => figure.set(value.figure) });
}

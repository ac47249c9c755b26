// What attention spans save against heads that all have the full span: bars of shares.

import { folded } from "./lib/folded.js";
import { nested } from "./lib/nested.js";

/** props: see saving.py. Event: ask({run, wish}). */
export function mount(root, props, emit, watch) {
  const figure = nested(props.plotly);
  folded({ root, key: "saving", title: props.title_text, body: [figure.node], props, watch, emit, draw: (value) => figure.set(value.figure) });
}

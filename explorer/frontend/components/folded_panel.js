// A folded panel of what is made in Python (lib/parts.js). Its name is its key in the address, and
// so is that of each choice.

import { folded } from "../lib/folded.js";
import { parts } from "../lib/parts.js";
import { bus, view } from "../lib/state.js";

/** props: see figure.py. Event: ask({run, wish}). */
export function mount(root, props, emit, watch) {
  const all = parts({ plotly: props.plotly, title: props.title_text });
  let value = null;
  const panel = folded({
    root,
    key: props.opens,
    title: props.title_text,
    body: [all.node],
    props,
    watch,
    emit,
    keep: 8,
    wish: () => (props.asks.length
      ? Object.fromEntries(props.asks.map((key) => [key, view.get(key)]))
      : null),
    draw(next) {
      value = next;
      all.set({ ...(value.figure ? { figures: [{ figure: value.figure }] } : {}), ...value });
    },
  });
  bus.on("view", (changed) => {
    if (value?.choices?.some(({ key }) => changed.includes(key))) all.set(value);
    if (props.asks.some((key) => changed.includes(key))) panel.ask();
  });
}

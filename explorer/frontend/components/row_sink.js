// Weights of one layer on their way to the spans widget: the answer to its event "look". Draws
// nothing.

import { bus } from "../lib/state.js";

export function mount(root, props, _emit, watch) {
  root.hidden = true;
  const tell = () => props.value && bus.fire("looked", props.value);
  watch("value", tell);
  tell();
}

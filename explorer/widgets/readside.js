// The place beside a text where the heads of its models stand: reading.js draws in it.

import { bus } from "./lib/state.js";

export function mount(root) {
  bus.fire("readside", root);
}

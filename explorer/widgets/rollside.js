// The place beside the rolls where their heads stand: roll.js draws in it.

import { bus } from "./lib/state.js";

export function mount(root) {
  bus.fire("rollside", root);
}

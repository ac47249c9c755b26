// A figure that belongs to the run in view: it draws as any other, under a name of its own.

import { mount as figure } from "./figure.js";

export function mount(root, props, emit, watch) {
  root.classList.add("tfe-figure");
  figure(root, props, emit, watch);
}

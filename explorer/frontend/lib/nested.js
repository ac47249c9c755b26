// A figure of the figure widget inside another widget: with its title, sentence, table and exports,
// and projected by itself.

import { el } from "./dom.js";
import { mount } from "../components/figure.js";

/**
 * @param {string} plotly address of plotly.js
 * @param {string} [name] a further class of its node
 * @returns {{node: HTMLElement, set: (value: any) => void}} set: draws a value of the figure
 * widget, null for none
 */
export function nested(plotly, name = "") {
  const node = el("div", { class: `tfe-figure ${name}` });
  const props = { value: null, plotly, main: false };
  const draws = [];
  mount(node, props, {}, (_, draw) => draws.push(draw));
  return {
    node,
    set(value) {
      props.value = value;
      node.hidden = !value?.figures; // a figure without anything to show takes no room
      for (const draw of draws) draw();
    },
  };
}

// The button that sends what was abandoned again.

import { retry } from "./connection.js";
import { el } from "./dom.js";
import { t } from "./lang.js";

const RETRY = { en: "Try again", zh: "重试" };

/** node; paint(yes): is there anything to be sent again? */
export function retryButton() {
  const node = el("button", {
    type: "button",
    class: "tfe-button small tfe-retry",
    hidden: true,
    onclick: () => retry(),
  });
  return {
    node,
    paint(yes) {
      node.textContent = t(RETRY);
      node.hidden = !yes;
    },
  };
}

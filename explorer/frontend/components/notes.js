// Notes at the foot of a page.

import { el } from "../lib/dom.js";
import { onLang, t } from "../lib/lang.js";

/**
 * props.remarks: [{en, zh, href: where it leads, if anywhere}] · props.words: what they are called.
 */
export function mount(root, props) {
  const list = el("ul", { class: "tfe-note tfe-notes-list" });
  root.replaceChildren(list);
  const draw = () => {
    list.setAttribute("aria-label", t(props.words));
    list.replaceChildren(
      ...props.remarks.map((remark) =>
        el(
          "li",
          {},
          remark.href
            ? el("a", { class: "tfe-link", href: remark.href, text: t(remark) })
            : t(remark),
        )
      ),
    );
  };
  onLang(draw);
  draw();
}

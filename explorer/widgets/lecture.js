// The page of the guided lecture: a list of all steps, and the keys that begin it.

import { el } from "./lib/dom.js";
import { pageKeys } from "./lib/keys.js";
import { lang, onLang, t } from "./lib/lang.js";

/** The address of a step of the lecture, in the language of this page. */
function to(path, step) {
  const url = new URL(path, location.origin);
  url.searchParams.set("step", String(step));
  url.searchParams.set("lecture", "1");
  if (new URL(location.href).searchParams.has("lang")) url.searchParams.set("lang", lang());
  return url.href;
}

/** props.labs: in teaching order, see lecture.py. */
export function mount(root, props) {
  const { labs, texts } = props;
  const painters = [];
  const say = (node, text) => {
    painters.push(() => {
      node.textContent = t(text);
    });
    return node;
  };
  const linkTo = (node, path, step) => {
    painters.push(() => {
      node.href = to(path, step);
    });
    return node;
  };

  const begin = linkTo(say(el("a", { class: "tfe-button primary tfe-lecture-begin" }), texts.begin), labs[0].path, 1);
  root.append(
    el(
      "div",
      { class: "tfe-lecture-hero" },
      say(el("h1", { class: "tfe-lecture-title" }), texts.title),
      say(el("p", { class: "tfe-lead" }), texts.lead),
      begin,
      say(el("p", { class: "tfe-note tfe-desk" }), texts.keys),
    ),
    el(
      "ol",
      { class: "tfe-lecture-labs" },
      labs.map((lab) => {
        const steps = el(
          "ol",
          { class: "tfe-lecture-steps" },
          lab.steps.map((step, at) =>
            el(
              "li",
              {},
              linkTo(
                el("a", {}, el("span", { class: "tfe-shell-number", "aria-hidden": "true", text: String(at + 1) }), el("span", {}, say(el("b"), step.title), say(el("span", { class: "tfe-lecture-say" }), step.say))),
                lab.path,
                at + 1,
              ),
            ),
          ),
        );
        painters.push(() => steps.setAttribute("aria-label", t(texts.steps, { lab: t(lab.short) })));
        return el(
          "li",
          { class: "tfe-panel tfe-lecture-lab" },
          el("div", { class: "tfe-row tight" }, say(el("h2", { class: "tfe-title" }), lab.title), el("span", { class: "tfe-units", text: String(lab.year) })),
          say(el("p", { class: "tfe-note" }), lab.line),
          steps,
        );
      }),
    ),
  );

  const start = () => {
    if (document.activeElement?.closest("a, button") && document.activeElement !== begin) return false;
    location.href = begin.href;
    return true;
  };
  pageKeys({ ArrowRight: start, PageDown: start });
  const paint = () => {
    for (const painter of painters) painter();
  };
  onLang(paint);
  paint();
}

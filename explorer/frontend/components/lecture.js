// The page of the guided lecture: all steps with a picture of each, the keys that begin it, and the
// same as a handout on paper.

import { el } from "../lib/dom.js";
import { pageKeys } from "../lib/keys.js";
import { lang, onLang, t } from "../lib/lang.js";
import { slides } from "../lib/slides.js";
import { speaking } from "../lib/speaking.js";
import { pageAt } from "../lib/state.js";
import { dark, showTheme } from "../lib/theme.js";

/** props.labs: in teaching order, see lecture.py. */
export function mount(root, props) {
  const { labs, texts } = props;
  const { paint, say, name, links } = speaking();
  const linkTo = (node, path, step) => links(node, () => pageAt(path, { step, lecture: 1 }));

  // ---------------------------------------------------------------- a picture of each step, drawn when it comes into
  // view
  const drawing = slides();
  const pictures = new Map(); // node -> [path, step]
  const near = new IntersectionObserver(
    (seen) =>
      seen.forEach(({ isIntersecting, target }) =>
        isIntersecting &&
        draw(target)
      ),
    { rootMargin: "200px" },
  );
  async function draw(node) {
    const [path, step] = pictures.get(node);
    const address = await drawing.want(path, step);
    if (!address) return; // asked for again when it comes into view again
    near.unobserve(node);
    node.src = address;
  }
  const picture = (path, step) => {
    const node = el("img", { class: "tfe-lecture-picture", alt: "", width: 640, height: 360 });
    pictures.set(node, [path, step]);
    near.observe(node);
    return node;
  };
  onLang(() => {
    drawing.renew();
    for (const node of pictures.keys()) {
      node.removeAttribute("src");
      near.unobserve(node); // else one that is observed still is not told of
      near.observe(node);
    }
  });

  const progress = el("span", { class: "tfe-note", role: "status" });
  const handout = say(
    el("button", { type: "button", class: "tfe-button", onclick: print }),
    texts.handout,
  );
  async function print() {
    handout.disabled = true;
    let done = 0;
    for (const node of pictures.keys()) {
      progress.textContent = t(texts.drawing, { n: done += 1, of: pictures.size });
      await draw(node);
    }
    await Promise.all(
      [...pictures.keys()].map((node) => node.src && node.decode().catch(() => null)),
    );
    progress.textContent = "";
    handout.disabled = false;
    window.print();
  }
  let wasDark = false; // paper is white
  addEventListener("beforeprint", () => {
    wasDark = dark();
    showTheme("light");
  });
  addEventListener("afterprint", () => wasDark && showTheme("dark"));

  const presenter = links(
    say(el("a", { class: "tfe-button", target: "tfe-presenter" }), texts.presenter),
    () => pageAt("/presenter", { lang: lang() }),
  );
  const exercises = links(
    say(el("a", { class: "tfe-button" }), texts.exercises),
    () => pageAt("/exercises"),
  );
  const first = labs.find(({ steps }) => steps.length) ?? labs[0]; // a closed lab has none
  const begin = linkTo(
    say(el("a", { class: "tfe-button primary tfe-lecture-begin" }), texts.begin),
    first.path,
    1,
  );
  root.append(
    el(
      "div",
      { class: "tfe-lecture-hero" },
      say(el("h1", { class: "tfe-lecture-title" }), texts.title),
      say(el("p", { class: "tfe-lead" }), texts.lead),
      el("div", { class: "tfe-row" }, begin, presenter, handout, exercises, progress),
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
                el(
                  "a",
                  {},
                  picture(lab.path, at + 1),
                  el("span", {
                    class: "tfe-shell-number",
                    "aria-hidden": "true",
                    text: String(at + 1),
                  }),
                  el(
                    "span",
                    {},
                    say(el("b"), step.title),
                    say(el("span", { class: "tfe-lecture-say" }), step.say),
                  ),
                ),
                lab.path,
                at + 1,
              ),
            )
          ),
        );
        name(steps, () => t(texts.steps, { lab: t(lab.short) }));
        return el(
          "li",
          { class: "tfe-panel tfe-lecture-lab" },
          el(
            "div",
            { class: "tfe-row tight" },
            say(el("h2", { class: "tfe-title" }), lab.title),
            el("span", { class: "tfe-units", text: String(lab.year) }),
          ),
          say(el("p", { class: "tfe-note" }), lab.line),
          steps,
        );
      }),
    ),
  );

  const start = () => {
    if (document.activeElement?.closest("a, button") && document.activeElement !== begin) {
      return false;
    }
    location.href = begin.href;
    return true;
  };
  pageKeys({ ArrowRight: start, PageDown: start });
  paint();
}

// Projector mode: one figure alone on the screen, and a QR code that takes the audience to the same view. Its title is the question of the
// guided step that the figure belongs to, with the figure's own one below; else the figure's own.
//
// A widget offers a figure by the class tfe-projectable. While it is shown it carries tfe-projected and the body tfe-projecting;
// what is in .tfe-controls inside it disappears, its .tfe-legend and .tfe-words grow. Its title comes from data-question, in the
// visitor's language, else from its first .tfe-title, which then hides.

import { el } from "./lib/dom.js";
import { projecting } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { bus, link, step } from "./lib/state.js";
import { chosenTheme, dark, showTheme } from "./lib/theme.js";

const WATCHED = { attributes: true, attributeFilter: ["data-question"], childList: true, subtree: true, characterData: true };
const QR_LIMIT = 1200; // characters of an address; beyond it the squares are too small for a phone at the back of the hall

/**
 * @param {Record<string, {en: string, zh: string}>} words
 * @param {{question: {en: string, zh: string}}[]} steps of the page
 */
export function projector(words, steps) {
  let last = null; // the figure that had the focus last
  let ofStep = null; // the figure of the step that is open
  let shown = null;
  let returnTo = null;
  let wasDark = false;
  let high = 0; // px of what stands above the figure

  const title = el("h2", { class: "tfe-projector-title" });
  const where = el("span", { class: "tfe-projector-where" });
  const below = el("p", { class: "tfe-projector-below" });
  const head = el("header", { class: "tfe tfe-projector-head", hidden: true }, title, where, below);
  const code = el("img", { class: "tfe-projector-code", alt: "", width: 132, height: 132 });
  const leave = el("p", { class: "tfe-projector-leave" });
  const foot = el("aside", { class: "tfe tfe-projector-foot", hidden: true }, code, leave);
  const heard = el("p", { class: "tfe tfe-unseen", role: "status" });
  document.body.prepend(head);
  document.body.append(foot, heard);
  code.addEventListener("error", () => {
    code.hidden = true;
  });

  const visible = (node) => node.getClientRects().length > 0; // a figure that waits folded away is not offered
  const figures = () => [...document.querySelectorAll(".gradio-container .tfe-projectable")].filter(visible);
  document.addEventListener("focusin", (event) => {
    const figure = event.target.closest?.(".tfe-projectable");
    if (figure) last = figure;
  });

  function paint() {
    if (!shown) return;
    const own = shown.dataset.question || shown.querySelector(".tfe-title")?.textContent || "";
    const now = step.get();
    const asked = shown === ofStep ? t(steps[now - 1]?.question) : "";
    title.textContent = asked || own;
    below.textContent = asked && own !== asked && own !== shown.querySelector(".tfe-units")?.textContent ? own : "";
    where.textContent = now && steps.length ? t(words.step, { step: now, of: steps.length }) : "";
    code.alt = t(words.qr);
    foot.setAttribute("aria-label", t(words.project));
    leave.textContent = t(words.esc);
    const address = link();
    const wanted = `/qr?text=${encodeURIComponent(address)}`;
    code.hidden = address.length > QR_LIMIT;
    if (head.offsetHeight !== high) dispatchEvent(new Event("resize")); // the figure below has more or less room now
    high = head.offsetHeight;
    if (!code.hidden && code.getAttribute("src") !== wanted) code.setAttribute("src", wanted);
  }
  let later = 0;
  const soon = () => {
    clearTimeout(later);
    later = setTimeout(paint, 120); // the address and the figure's own words settle first
  };
  const watcher = new MutationObserver(soon);

  function enter() {
    shown = last && visible(last) ? last : figures()[0];
    if (!shown) return;
    returnTo = document.activeElement;
    wasDark = dark();
    if (!chosenTheme()) showTheme("light");
    shown.classList.add("tfe-projected");
    head.hidden = foot.hidden = false;
    paint();
    watcher.observe(shown, WATCHED);
    document.body.classList.add("tfe-projecting");
    heard.textContent = t(words.projecting);
    scrollTo(0, 0);
    dispatchEvent(new Event("resize"));
  }
  /** The figure that a widget is, holds, or stands in, once it has something to show, whether the projector hides it or not. */
  function figureOf(node) {
    const figure = node.matches(".tfe-projectable") ? node : (node.querySelector(".tfe-projectable") ?? node.closest(".tfe-projectable"));
    return figure?.closest("[hidden]") || figure?.firstElementChild?.hidden || !figure?.querySelector(".tfe-words")?.textContent ? null : figure;
  }
  /** The figure of the open step: it is shown next, or now if one is shown already. */
  function point(figure) {
    last = ofStep = figure;
    if (!shown || shown === figure) return;
    watcher.disconnect();
    shown.classList.remove("tfe-projected");
    shown = figure;
    shown.classList.add("tfe-projected");
    watcher.observe(shown, WATCHED);
    paint();
    dispatchEvent(new Event("resize"));
  }
  function exit() {
    watcher.disconnect();
    document.body.classList.remove("tfe-projecting");
    shown?.classList.remove("tfe-projected");
    shown = null;
    head.hidden = foot.hidden = true;
    heard.textContent = "";
    if (!chosenTheme()) showTheme(wasDark ? "dark" : "light");
    dispatchEvent(new Event("resize"));
    returnTo?.focus?.({ preventScroll: false });
  }
  bus.on("project", () => (projecting() ? exit() : enter()));
  bus.on("view", soon);
  step.on(soon);
  bus.on("request", soon);
  onLang(soon);

  return { possible: () => figures().length > 0, figureOf, point };
}

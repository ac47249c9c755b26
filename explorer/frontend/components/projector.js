// Projector mode: one figure alone on the screen, and a QR code that takes the audience to the same
// view. Its title is the question of the guided step that the figure belongs to, with the figure's
// own one below; else the figure's own. A step may ask for a guess first: then its figure is
// covered until the lecturer opens it. The code leads a phone to a page with just this figure, as
// alive as it is in its lab.
//
// A widget offers a figure by the class tfe-projectable. While it is shown it carries tfe-projected
// and the body tfe-projecting; what is in .tfe-controls inside it disappears, its .tfe-legend and
// .tfe-words grow. Its title comes from data-question, in the visitor's language, else from its
// first .tfe-title, which then hides.

import { el } from "../lib/dom.js";
import { hall } from "../lib/hall.js";
import { hallScale, projecting } from "../lib/keys.js";
import { onLang, t } from "../lib/lang.js";
import { pictured } from "../lib/slides.js";
import { bus, lecture, link, linkRefusal, step } from "../lib/state.js";
import { chosenTheme, dark, showTheme } from "../lib/theme.js";

const WATCHED = {
  attributes: true,
  attributeFilter: ["data-question"],
  childList: true,
  subtree: true,
  characterData: true,
};
const PATIENCE = 10_000; // milliseconds that a phone waits for the figure alone; then the whole lab is shown
const QR_LIMIT = 1200; // characters of an address; beyond it the squares are too small for a phone at the back of the hall

/**
 * @param {Record<string, Record<string, string>>} words
 * @param {Pick<import("../border.d.ts").StepProps, "question" | "guess">[]} steps of the page
 * @param {{lecturing: () => boolean, go: (path: string, step: number) => void}} how goes to another
 * step, or lab
 */
export function projector(words, steps, { lecturing, go }) {
  let last = null; // the figure that had the focus last
  let ofStep = null; // the figure of the step that is open
  let shown = null;
  let returnTo = null;
  let wasDark = false;
  const alone = lecture.get() === "figure"; // on a phone
  const framed = lecture.get() === "frame";
  const [mode, picked] = alone ? ["tfe-alone", "tfe-lone"] : ["tfe-projecting", "tfe-projected"]; // classes of the body and of the figure
  let pointed = 0; // the step whose figure was found last
  let opened = 0; // the step whose figure the lecturer has opened
  let high = 0; // px of what stands above the figure

  const title = el("h2", { class: "tfe-projector-title", "aria-level": "1" });
  const where = el("span", { class: "tfe-projector-where" });
  const below = el("p", { class: "tfe-projector-below" });
  const head = el("header", { class: "tfe tfe-projector-head", hidden: true }, title, where, below);
  const code = el("img", { class: "tfe-projector-code", alt: "", width: 132, height: 132 });
  const leave = el("p", { class: "tfe-projector-leave" });
  const whole = el("a", { class: "tfe-button" });
  const foot = el(
    "aside",
    { class: "tfe tfe-projector-foot", hidden: true },
    ...(alone ? [whole] : [code, leave]),
  );
  const heard = el("p", { class: "tfe tfe-unseen", role: "status" });
  const call = el("p", { class: "tfe-projector-call" });
  const guess = el("p", { class: "tfe-projector-guess" });
  const reveals = el("span");
  const cover = el(
    "section",
    { class: "tfe tfe-projector-cover", hidden: true },
    call,
    guess,
    el(
      "button",
      {
        type: "button",
        class: "tfe-button primary",
        "aria-keyshortcuts": "Enter",
        onclick: () => reveal(),
      },
      reveals,
      el("kbd", { text: "Enter", "aria-hidden": "true" }),
    ),
  );
  document.body.prepend(head, cover);
  document.body.append(foot, heard);
  code.addEventListener("error", () => {
    code.hidden = true;
  });

  const visible = (node) => node.getClientRects().length > 0; // a figure that waits folded away is not offered
  const figures = () =>
    [...document.querySelectorAll(".gradio-container .tfe-projectable")].filter(visible);
  const within = (view) =>
    [view, ...view.querySelectorAll(".tfe-projectable")]
      .filter((node) => node.matches(".tfe-projectable"));
  /** How an address names a figure: by its widget, and its number where the widget has several. */
  const named = (figure) => {
    const view = figure.closest("[data-view]");
    const at = within(view).indexOf(figure);
    return at ? `${view.dataset.view}.${at}` : view.dataset.view;
  };
  const byName = (text) => {
    const [name, at = 0] = (text ?? "").split(".");
    const view = document.querySelector(`[data-view="${CSS.escape(name)}"]`);
    return view && within(view)[at];
  };
  const elsewhere = (changes) => {
    const url = new URL(link());
    for (const [key, text] of Object.entries(changes)) {
      text ? url.searchParams.set(key, text) : url.searchParams.delete(key);
    }
    return url.href;
  };
  document.addEventListener("focusin", (event) => {
    const figure = event.target instanceof Element && event.target.closest(".tfe-projectable");
    if (figure) last = figure;
  });

  /** Covers the figure of a step that asks for a guess first; the figure is drawn below, unseen. */
  function hide() {
    const asked = shown && !framed && (!ofStep || shown === ofStep) && opened !== step.get()
      ? steps[step.get() - 1]?.guess
      : null;
    cover.hidden = !asked;
    document.body.classList.toggle("tfe-covered", Boolean(asked));
    if (!asked) return;
    call.textContent = t(words.guess);
    guess.textContent = t(asked);
    reveals.textContent = t(words.reveal);
    cover.setAttribute("aria-label", t(words.guess));
    cover.style.top = `${head.getBoundingClientRect().bottom}px`;
  }
  function reveal() {
    if (cover.hidden) return false;
    opened = step.get();
    hide();
    heard.textContent = shown.querySelector(".tfe-words")?.textContent ?? "";
    presenter.tell();
    return true;
  }
  function paint() {
    if (!shown?.isConnected) return; // what is drawn anew is pointed at again
    const own = shown.dataset.question || shown.querySelector(".tfe-title")?.textContent || "";
    const now = step.get();
    const expecting = document.body.classList.contains("tfe-expecting");
    const asked = expecting || shown === ofStep ? t(steps[now - 1]?.question) : "";
    title.textContent = asked || own;
    head.dataset.step = asked && pointed === now ? now : "";
    const told = own === asked || own === shown.querySelector(".tfe-units")?.textContent;
    below.textContent = expecting ? t(words.expecting) : asked && !told ? own : "";
    where.textContent = now && steps.length ? t(words.step, { step: now, of: steps.length }) : "";
    code.alt = t(words.qr);
    foot.setAttribute("aria-label", t(words.project));
    leave.textContent = t(words.esc);
    whole.textContent = t(words.whole);
    whole.href = elsewhere({ lecture: null, figure: null });
    const address = elsewhere({ lecture: "figure", figure: named(shown) });
    const wanted = `/qr?text=${encodeURIComponent(address)}`;
    code.hidden = address.length > QR_LIMIT || Boolean(linkRefusal());
    if (head.offsetHeight !== high) dispatchEvent(new Event("resize")); // the figure below has more or less room now
    high = head.offsetHeight;
    if (!alone && !code.hidden && code.getAttribute("src") !== wanted) {
      code.setAttribute("src", wanted);
    }
    hide();
    presenter.tell();
  }
  let later = 0;
  const soon = () => {
    clearTimeout(later);
    later = setTimeout(paint, 120); // the address and the figure's own words settle first
  };
  const watcher = new MutationObserver(soon);

  const grow = () => document.body.style.setProperty("--px", `${hallScale()}px`);
  if (!alone) addEventListener("resize", grow);

  function enter() {
    if (!alone) grow();
    const figure = last && visible(last) ? last : figures()[0];
    if (!figure) return;
    returnTo = document.activeElement;
    wasDark = dark();
    if (!alone && (framed || !chosenTheme())) showTheme("light"); // a slide may be printed
    stand(figure);
    head.hidden = false;
    foot.hidden = framed;
    paint();
    watcher.observe(shown, WATCHED);
    document.body.classList.add(mode);
    if (!alone) heard.textContent = t(words.projecting);
    scrollTo(0, 0);
    dispatchEvent(new Event("resize"));
  }
  /**
   * The figure that a widget is, holds, or stands in, once it has something to show, whether the
   * projector hides it or not.
   */
  function figureOf(node) {
    const figure = node.matches(".tfe-projectable")
      ? node
      : (node.querySelector(".tfe-projectable") ?? node.closest(".tfe-projectable"));
    return figure?.closest("[hidden]") || figure?.firstElementChild?.hidden ||
        !figure?.querySelector(".tfe-words")?.textContent
      ? null
      : figure;
  }
  /**
   * The figure of the open step is still being made: its question stands alone, and no other figure
   * under it.
   */
  function expect() {
    if (!shown) return;
    document.body.classList.add("tfe-expecting");
    paint();
  }
  /**
   * Puts a figure before the hall, or none: it has its class, what it stands in tfe-holds, its
   * parent tfe-holder. Style sheets go by these, since ":has(…)" would have all that is around a
   * figure looked at each time something is drawn.
   */
  function stand(figure) {
    for (const node of document.querySelectorAll(".tfe-holds")) {
      node.classList.remove("tfe-holds", "tfe-holder");
    }
    shown?.classList.remove(picked);
    shown = figure;
    shown?.classList.add(picked);
    shown?.parentElement.classList.add("tfe-holder");
    for (let node = shown?.parentElement; node; node = node.parentElement) {
      node.classList.add("tfe-holds");
    }
  }
  /** The figure of the open step: it is shown next, or now if one is shown already. */
  function point(figure) {
    document.body.classList.remove("tfe-expecting");
    ofStep = figure;
    pointed = step.get();
    if (alone) return hide();
    last = figure;
    if (!shown || shown === figure) return soon();
    watcher.disconnect();
    stand(figure);
    watcher.observe(shown, WATCHED);
    paint();
    dispatchEvent(new Event("resize"));
  }
  function exit() {
    watcher.disconnect();
    document.body.classList.remove("tfe-projecting", "tfe-expecting");
    stand(null);
    hide();
    head.hidden = foot.hidden = true;
    heard.textContent = "";
    if (!chosenTheme()) showTheme(wasDark ? "dark" : "light");
    dispatchEvent(new Event("resize"));
    presenter.tell();
    returnTo?.focus?.({ preventScroll: false });
  }
  const presenter = hall({
    there: () => !alone && !framed && (projecting() || lecturing()),
    state: () => ({
      path: location.pathname,
      step: step.get(),
      projected: projecting(),
      size: `${innerWidth} × ${innerHeight}`,
      covered: !cover.hidden,
      sentence: cover.hidden ? (shown?.querySelector(".tfe-words")?.textContent ?? "") : "",
    }),
    picture: pictured,
    asked(wish) {
      if (wish.go) go(wish.go.path, wish.go.step);
      if (wish.reveal) reveal();
      if (wish.project && !projecting()) enter();
    },
  });
  /**
   * On a phone: shows the figure that the address names, else that of the step, once it is there.
   */
  function settle() {
    const figure = lecture.figure() ? byName(lecture.figure()) : (ofStep ?? figures()[0]);
    if (shown || !figure || !visible(figure) || !figureOf(figure)) return;
    last = figure;
    enter();
    document.body.classList.remove("tfe-awaited");
  }
  if (alone) {
    document.body.classList.add("tfe-awaited");
    document.body.classList.toggle("tfe-beside", top !== window);
    setTimeout(() => document.body.classList.remove("tfe-awaited"), PATIENCE);
  }
  bus.on("project", () => !alone && (projecting() ? exit() : enter()));
  bus.on("view", soon);
  step.on(() => {
    opened = 0;
    document.body.classList.remove("tfe-expecting");
    hide();
    soon();
    presenter.tell();
  });
  for (const event of ["request", "asking"]) bus.on(event, soon); // not every run has a link
  onLang(soon);

  presenter.tell();

  return {
    possible: () => figures().length > 0,
    figureOf,
    point,
    expect,
    reveal,
    settle,
    turn: presenter.turn,
  };
}

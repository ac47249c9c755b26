// The frame around every page. The bar and the rail move out of Gradio's <main>, so that header,
// navigation and main are what they are called; the note of the open guided step stays in <main>,
// above the figure it speaks about.

import { abandoned } from "../lib/connection.js";
import { all, clear, el, onTurn, svg } from "../lib/dom.js";
import { pageKeys, projecting } from "../lib/keys.js";
import { lang, setLang, t } from "../lib/lang.js";
import { plotly } from "../lib/plot.js";
import { retryButton } from "../lib/retry.js";
import { from } from "../lib/source.js";
import { speaking } from "../lib/speaking.js";
import {
  bus,
  lecture,
  link,
  linkRefusal,
  nowhere,
  open,
  pageAt,
  request,
  step,
  told,
  view,
} from "../lib/state.js";
import { opened } from "../lib/stored.js";
import { dark, onTheme, setTheme } from "../lib/theme.js";
import { projector } from "./projector.js";
import { keysSheet, networkMap } from "./shell_regions.js";

const ICONS = {
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5Z",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3.05 " +
    "3.05l1.1 1.1M11.85 11.85l1.1 1.1M12.95 3.05l-1.1 1.1M4.15 11.85l-1.1 1.1",
  screen: "M2 3h12v8H2ZM8 11v2.5M5 13.5h6",
  link:
    "M6.7 9.3a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7L8 4.3M9.3 6.7a2.6 2.6 0 0 0-3.7 " +
    "0L3.3 9a2.6 2.6 0 0 0 3.7 3.7L8 11.7",
  menu: "M3 4.5h10M3 8h10M3 11.5h10",
  back: "M9.5 4 6 8l3.5 4",
  next: "M6.5 4 10 8l-3.5 4",
};
// Looks for the figure of a projected step, twenty a second: until the projector says that it is on
// its way, and until nobody waits any more.
const [WAITS, PATIENCE] = [16, 12000];
const SETTLED = 300; // milliseconds after which a projected step is drawn, and the next one may be fetched
const icon = (name) =>
  svg("svg", {
    viewBox: "0 0 16 16",
    width: 16,
    height: 16,
    "aria-hidden": "true",
    class: "tfe-shell-icon",
  }, svg("path", { d: ICONS[name] }));

// The mark: nine cells of an attention map, a diagonal that finds its words.
const CELLS = [0.05, 0.35, 0.15, 0.95, 0.1, 0.3, 0.3, 0.8, 0.05];
function mark() {
  const box = svg("svg", {
    viewBox: "0 0 20 20",
    width: 20,
    height: 20,
    "aria-hidden": "true",
    class: "tfe-shell-mark",
  });
  CELLS.forEach((weight, at) =>
    box.append(
      svg("rect", {
        x: (at % 3) * 7,
        y: Math.floor(at / 3) * 7,
        width: 6,
        height: 6,
        rx: 1,
        style: { fillOpacity: String(0.3 + 0.7 * weight) },
      }),
    )
  );
  return box;
}

/**
 * @param {import("../border.d.ts").ShellProps & {value?: any}} props
 */
export function mount(root, props) {
  const { words, site, steps, here } = props;
  from(here);
  const w = (name, values) => t(words[name], values);
  const lecturing = () =>
    Boolean(here && props.lecture && ["1", "projector"].includes(lecture.get()));
  const { paint, paints, say, name, links } = speaking(() => {
    paintSteps();
    shorten();
    document.title = here ? `${t(here.title)} · ${t(site.name)}` : t(site.name);
  });

  // ---------------------------------------------------------------- skip link, landmarks
  /** @type {HTMLElement} */
  const main = document.querySelector(".gradio-container main") ?? document.body;
  main.id = "tfe-main";
  main.tabIndex = -1;
  const skip = say(
    el("a", {
      class: "tfe-shell-skip",
      href: location.href.split("#")[0] + "#tfe-main",
      onclick: (event) => {
        event.preventDefault();
        main.focus();
      },
    }),
    words.skip,
  );

  // ---------------------------------------------------------------- top bar
  const theme = () => setTheme(dark() ? "light" : "dark");
  const themeButton = (extra) => {
    const label = el("span");
    const button = el("button", {
      type: "button",
      class: `tfe-shell-tool ${extra}`,
      onclick: theme,
    });
    const write = () => {
      button.replaceChildren(icon(dark() ? "sun" : "moon"), label);
      label.textContent = w(dark() ? "light" : "dark");
    };
    onTheme(write);
    return paints(button, write);
  };
  const projectButton = (extra) => {
    const label = say(el("span"), words.project);
    return el(
      "button",
      {
        type: "button",
        class: `tfe-shell-tool tfe-shell-project ${extra}`,
        "aria-keyshortcuts": "P",
        onclick: () => bus.fire("project"),
      },
      icon("screen"),
      label,
      el("kbd", { text: "P", "aria-hidden": "true" }),
    );
  };
  const language = el("button", {
    type: "button",
    class: "tfe-shell-tool tfe-shell-lang",
    onclick: () => setLang(lang() === "en" ? "zh" : "en"),
  });
  paints(language, () => {
    const [now, other] = lang() === "en" ? ["EN", "中文"] : ["中文", "EN"];
    language.replaceChildren(
      el("b", { text: now }),
      el("span", { class: "tfe-desk", text: " / " + other }),
    );
    language.setAttribute("aria-label", `${now} / ${other}, ${w("language")}`);
  });

  const copyLabel = el("span", { class: "tfe-shell-word" });
  const heard = el("p", { class: "tfe tfe-unseen", role: "status" });
  let copied = 0;
  const paintCopy = () => {
    copyLabel.textContent = w(copied ? "copied" : "copy");
    copy.classList.toggle("done", Boolean(copied));
    copy.setAttribute("aria-label", copyLabel.textContent);
  };
  const field = name(
    el("input", { class: "tfe-input", readonly: true, onfocus: (event) => event.target.select() }),
    words.copy,
  );
  const why = el("p", { class: "tfe-note" });
  const closeCopy = say(
    el("button", { type: "button", class: "tfe-button small", onclick: () => hideCopy(true) }),
    words.close,
  );
  const refusal = el(
    "div",
    { class: "tfe-shell-refusal", role: "dialog", hidden: true },
    why,
    field,
    closeCopy,
  );
  name(refusal, words.copy);
  const hideCopy = (focus) => {
    refusal.hidden = true;
    if (focus) copy.focus();
  };
  async function copyLink() {
    const tooLong = linkRefusal();
    if (!tooLong) {
      const address = link();
      try {
        await navigator.clipboard.writeText(address);
        clearTimeout(copied);
        copied = setTimeout(() => {
          copied = 0;
          paintCopy();
          heard.textContent = "";
        }, 2000);
        heard.textContent = w("copied");
        hideCopy(false);
        return paintCopy();
      } catch {
        field.value = address;
      }
    }
    why.textContent = tooLong ? t(tooLong) : w("refused");
    field.hidden = Boolean(tooLong);
    refusal.hidden = false;
    (tooLong ? closeCopy : field).focus();
  }
  const copy = el(
    "button",
    { type: "button", class: "tfe-shell-tool tfe-shell-copy", onclick: copyLink },
    icon("link"),
    copyLabel,
  );
  paints(copy, paintCopy);

  const pages = () =>
    el(
      "ul",
      { class: "tfe-shell-links" },
      ...[
        ["map", "/", props.at === "map" ? "page" : null],
        ["labs", props.first, here ? "true" : null],
        ["compare", props.compare, props.at === "compare" ? "page" : null],
        ["lecture", props.lecture, props.at === "lecture" ? "page" : lecturing() ? "true" : null],
      ]
        .filter(([, path]) => path)
        .map(([key, path, current]) => {
          const a = say(el("a", { "aria-current": current }), words[key]);
          return el("li", { class: `tfe-shell-to-${key}` }, links(a, () => pageAt(path)));
        }),
    );
  const menu = el("button", {
    type: "button",
    class: "tfe-shell-tool tfe-shell-menu tfe-phone",
    "aria-expanded": "false",
    "aria-controls": "tfe-rail",
    onclick: () => drawer(true),
  }, icon("menu"));
  name(menu, words.menu);
  const brand = el(
    "a",
    { class: "tfe-shell-brand" },
    mark(),
    say(el("span", { class: "tfe-desk" }), site.name),
  );
  links(name(brand, site.name), () => pageAt("/"));
  const place = say(
    el("span", { class: "tfe-shell-place tfe-phone" }),
    here ? here.short : site.short,
  );
  const bar = el(
    "header",
    { class: "tfe tfe-shell-bar" },
    menu,
    brand,
    place,
    name(el("nav", { class: "tfe-shell-nav tfe-desk" }, pages()), words.site),
    el(
      "div",
      { class: "tfe-shell-tools" },
      language,
      themeButton("tfe-desk"),
      projectButton("tfe-desk"),
      copy,
      refusal,
    ),
  );

  // ---------------------------------------------------------------- the rail: the family as one line, the open lab
  // unfolded
  const stepNodes = steps.map((one, at) => {
    const number = el("span", {
      class: "tfe-shell-number",
      "aria-hidden": "true",
      text: String(at + 1),
    });
    const button = el(
      "button",
      { type: "button", onclick: () => go(at + 1) },
      number,
      say(el("span"), one.title),
    );
    return { item: el("li", {}, button), button, title: one.title };
  });
  const back = () =>
    el(
      "button",
      { type: "button", class: "tfe-button tfe-shell-back", onclick: backward },
      icon("back"),
      say(el("span"), words.back),
    );
  const next = () => {
    return el(
      "button",
      { type: "button", class: "tfe-button primary tfe-shell-next", onclick: forward },
      say(el("span"), nextWord),
      icon("next"),
    );
  };
  const nextWord = () => {
    const now = step.get();
    if (now === 0) return w("begin");
    if (now < steps.length) return w("next");
    return props.onward
      ? w("onward", { lab: t(props.onward.short) })
      : w(lecturing() ? "over" : "map");
  };
  const railBack = back();
  const railNext = next();
  const tour = el(
    "div",
    { class: "tfe-shell-tour" },
    name(el("ol", {}, ...stepNodes.map((node) => node.item)), words.steps),
    el("div", { class: "tfe-shell-turn" }, railBack, railNext),
  );
  const row = (lab) => {
    const current = here?.slug === lab.slug;
    const a = el(
      "a",
      { "aria-current": current ? "page" : null },
      el("i", { "aria-hidden": "true" }),
      say(el("span"), lab.short),
      el("small", { text: String(lab.year) }),
    );
    links(a, () => pageAt(lab.path));
    return el("li", { class: current ? "here" : null }, a, current && steps.length ? tour : null);
  };
  // Only the year of the open lab is unfolded.
  const family = el(
    "ul",
    { class: "tfe-shell-family" },
    ...props.years.map((
      { name: year, labs },
    ) => (labs.length === 1 ? row(labs[0]) : el(
      "li",
      {},
      el(
        "details",
        { open: labs.some(({ slug }) => slug === here?.slug) },
        el(
          "summary",
          {},
          el("i", { "aria-hidden": "true" }),
          say(el("span"), year),
          say(el("small"), () => w("of_year", { n: labs.length })),
        ),
        el("ul", {}, ...labs.map(row)),
      ),
    ))),
  );
  // ---------------------------------------------------------------- where in the network one is
  const { node: network, relocate } = networkMap({
    columns: props.network,
    main,
    say,
    name,
    words,
    visit(part, node) {
      if (rail.classList.contains("open")) drawer(false);
      view.set(part.view);
      if (Object.values(part.view).includes("open") || show.figureOf(node)) bring(part);
      else {
        brought += 1;
        below(node);
      }
    },
  });

  const grammar = el("p", { class: "tfe-shell-grammar" });
  paints(grammar, () => {
    clear(grammar);
    props.grammar.forEach(([act, effect], at) => {
      grammar.append(
        el(
          "span",
          {},
          el("b", { text: t(act) }),
          ` ${t(effect)}${at + 1 < props.grammar.length ? " ·" : ""}`,
        ),
        " ",
      );
    });
  });
  const closeDrawer = name(
    el("button", {
      type: "button",
      class: "tfe-shell-tool tfe-phone tfe-shell-close",
      text: "×",
      onclick: () => drawer(false),
    }),
    words.close,
  );
  const rail = el(
    "aside",
    { class: `tfe tfe-shell-rail${here ? "" : " on-map"}`, id: "tfe-rail" },
    el(
      "div",
      { class: "tfe-phone" },
      el(
        "div",
        { class: "tfe-shell-drawer-top" },
        name(el("nav", {}, pages()), words.site),
        closeDrawer,
      ),
    ),
    name(
      el("nav", {}, say(el("p", { class: "tfe-shell-heading" }), words.family), family),
      words.family,
    ),
    network,
    el(
      "div",
      { class: "tfe-phone" },
      el("div", { class: "tfe-shell-drawer-tools" }, themeButton(""), projectButton("")),
    ),
    grammar,
  );
  name(rail, words.family);
  /**
   * Where the rail is higher than the screen, of the keys only the one that lists them all is
   * named.
   */
  const shorten = () => {
    rail.classList.remove("full");
    rail.classList.toggle("full", rail.scrollHeight > rail.clientHeight);
  };
  addEventListener("resize", shorten);
  rail.addEventListener("toggle", shorten, true); // a year
  const veil = el("div", { class: "tfe-shell-veil", hidden: true, onclick: () => drawer(false) });
  function drawer(wanted) {
    const was = rail.classList.contains("open");
    rail.classList.toggle("open", wanted);
    veil.hidden = !wanted;
    menu.setAttribute("aria-expanded", String(wanted));
    for (const node of [skip, bar, foot, document.querySelector("gradio-app") ?? main]) {
      node.inert = wanted;
    }
    if (wanted) closeDrawer.focus();
    else if (was) menu.focus();
  }

  matchMedia("(max-width: 720px)").addEventListener("change", () => drawer(false)); // a phone was turned

  // ---------------------------------------------------------------- the bar at the foot of a phone
  const footBack = name(
    el(
      "button",
      { type: "button", class: "tfe-button tfe-shell-foot-back", onclick: backward },
      icon("back"),
    ),
    words.back,
  );
  const footNext = next();
  const footWhere = el("b");
  const footTitle = el("span");
  const foot = name(
    el(
      "nav",
      { class: "tfe tfe-shell-foot", hidden: !steps.length },
      footBack,
      el("div", { class: "tfe-shell-foot-words" }, footWhere, footTitle),
      footNext,
    ),
    words.steps,
  );

  // ---------------------------------------------------------------- what the open step has to say
  let brought = 0; // how often something was brought into view: what waits for an older wish gives up
  const noteNumber = el("span", { class: "tfe-shell-number here", "aria-hidden": "true" });
  const noteTitle = el("h2", {});
  const noteText = el("p", { class: "tfe-shell-say" });
  const noteClose = el("button", {
    type: "button",
    class: "tfe-shell-dismiss",
    onclick: () => step.set(0),
  }, "×");
  name(noteClose, words.leave_step);
  const note = el(
    "section",
    { class: "tfe-shell-note", hidden: true },
    noteNumber,
    el("div", { class: "tfe-shell-lesson", "aria-live": "polite" }, noteTitle, " ", noteText),
    noteClose,
  );
  name(note, words.steps);
  // What is to be said of the link that opened the page, and of what was asked in vain.
  const tidings = el("div", { class: "tfe-shell-told", role: "status" });
  const again = retryButton();
  paints(tidings, () => {
    tidings.replaceChildren(
      ...[...told, ...abandoned()].map((sentence) =>
        el("p", { class: "tfe-error", text: t(sentence) })
      ),
      again.node,
    );
    again.paint(abandoned().length > 0);
  });
  for (const event of ["told", "connection"]) bus.on(event, () => paint());
  root.append(note, tidings);

  function paintSteps() {
    const now = Math.min(step.get(), steps.length);
    stepNodes.forEach(({ item, button, title }, at) => {
      item.className = at + 1 === now ? "here" : at + 1 < now ? "done" : "";
      if (at + 1 === now) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      button.setAttribute(
        "aria-label",
        `${at + 1}, ${t(title)}${at + 1 < now ? ", " + w("done") : ""}`,
      );
    });
    railBack.disabled = footBack.disabled = now <= 1 && !lecturing();
    for (const button of [railNext, footNext]) {
      button.querySelector("span").textContent = nextWord();
    }
    const one = steps[now - 1];
    note.hidden = !one;
    document.body.classList.toggle("tfe-noted", !note.hidden);
    noteNumber.textContent = String(now);
    noteTitle.textContent = one ? t(one.title) : "";
    noteText.textContent = one ? t(one.say) : "";
    footWhere.textContent = one ? w("step", { step: now, of: steps.length }) : w("steps");
    footTitle.textContent = one ? t(one.title) : w("tour", { of: steps.length });
  }
  function go(number, enters = true) {
    const one = steps[number - 1];
    if (!one) return;
    if (rail.classList.contains("open")) drawer(false);
    open({ query: one.query, view: one.view, step: number, enters });
    bring(one);
  }
  /**
   * What a step speaks about comes below its note, or into the projector, once it has been drawn.
   */
  function bring({ panel, figure }, begun = false) {
    const mine = (brought += 1);
    const look = (tries) => {
      if (mine !== brought || !panel) return;
      const node = main.querySelector(`.tfe-${panel}`);
      const shown = node && show.figureOf(figure ? main.querySelector(`.tfe-${figure}`) : node);
      if (projecting() || lecture.get() === "figure") {
        if (tries === WAITS && !shown) show.expect();
        if (shown) {
          show.point(shown);
          ahead();
        } else if (tries < PATIENCE) setTimeout(look, 50, tries + 1);
        return;
      }
      const hidden = node && !node.getClientRects().length; // it comes with the step's own input
      const drawn = node?.closest("[data-drawn]") ??
        node?.querySelector("[data-drawn]"); // the panel is, stands in, or holds what is drawn
      if ((hidden || !drawn || !shown) && tries < (begun || hidden ? 100 : 10)) {
        setTimeout(look, 100, tries + 1);
      } else if (node && !hidden) {
        if (shown) show.point(shown);
        if (!(begun && scrollY)) keep(node);
      }
    };
    // What comes with the step may be taller or shorter than what stood above: the panel stays
    // where it is, in the very frame in which the page grows, until the visitor does something.
    const keep = (node) => {
      below(node);
      const growing = new ResizeObserver(
        () => (mine === brought && !projecting() ? below(node) : growing.disconnect()),
      );
      growing.observe(main);
      onTurn(() => growing.disconnect(), { once: true });
      setTimeout(() => growing.disconnect(), 5000);
    };
    requestAnimationFrame(() => look(0));
  }
  /** While the hall looks at a step, what the next one needs is fetched. */
  function ahead() {
    const [now, next] = [brought, steps[step.get()]];
    const fetched = () => {
      if (now !== brought || !projecting() || !next) return;
      plotly(props.plotly); // some figure of every lab is drawn by it
      bus.fire("ahead", next);
    };
    /** @type {(act: () => void, how: any) => any} */
    const idle = globalThis.requestIdleCallback ?? setTimeout; // not every browser says when it is idle
    setTimeout(() => idle(fetched, { timeout: SETTLED }), SETTLED);
  }
  function below(node) {
    const room =
      (note.parentElement && getComputedStyle(root.parentElement).position === "sticky"
        ? note.offsetHeight
        : 0) + bar.offsetHeight + 8;
    const { top, bottom } = node.getBoundingClientRect();
    if (top < room || bottom > innerHeight) scrollBy({ top: top - room, behavior: "instant" });
  }
  function forward() {
    const now = step.get();
    if (now < steps.length) go(now + 1);
    else if (props.onward) location.href = pageAt(props.onward.path, { step: 1, ...taken() });
    else location.href = pageAt(lecturing() ? props.lecture : "/");
  }
  function backward() {
    const now = step.get();
    if (now > 1) go(now - 1);
    else if (!lecturing()) return false;
    else {location.href = props.before
        ? pageAt(props.before.path, { step: props.before.steps, ...taken() })
        : pageAt(props.lecture);}
    return true;
  }
  /** What goes along from one lab of the lecture into another. */
  const taken = () => (lecturing() ? asProjected() : {});
  /** What goes along wherever the presenter leads: a window that is projected stays so. */
  const asProjected = () => ({ lecture: projecting() ? "projector" : "1" });

  // ---------------------------------------------------------------- the sheet of keys
  const sheet = keysSheet({ say, name, paints, words, rows: props.grammar_in_full });

  // ---------------------------------------------------------------- put together
  document.body.prepend(skip, bar, rail, veil);
  document.body.append(foot, sheet, heard);
  skip.classList.add("tfe");
  document.body.classList.toggle("tfe-has-foot", steps.length > 0);
  const show = projector(words, steps, {
    lecturing,
    go: (
      path,
      number,
    ) => (path === location.pathname
      ? go(number)
      : (location.href = pageAt(path, { step: number, ...asProjected() }))),
  });
  step.on(paintSteps);
  paint();

  // Arrows lead through the lecture only while no view and no control has the focus that wants
  // them.
  const free = () =>
    lecturing() && !projecting() && (document.activeElement === document.body ||
      document.activeElement === main ||
      Boolean(document.activeElement?.closest(".tfe-shell-rail, .tfe-shell-foot, .tfe-shell-bar")));

  // A closed lab has no steps, and leads on.
  const turns = () => lecturing() || (projecting() && steps.length > 0);

  pageKeys({
    p: () => show.possible() && bus.fire("project"),
    P: () => show.possible() && bus.fire("project"),
    "?": () => (sheet.open ? sheet.close() : sheet.showModal()),
    Escape: () => {
      if (sheet.open) sheet.close();
      else if (!refusal.hidden) hideCopy(true);
      else if (rail.classList.contains("open")) drawer(false);
      else if (projecting()) bus.fire("project");
      else return false;
      return true;
    },
    Enter: () => show.reveal(),
    PageDown: () => turns() && show.turn(1, forward),
    PageUp: () => turns() && show.turn(-1, backward),
    ArrowRight: () => free() && show.turn(1, forward),
    ArrowLeft: () => free() && show.turn(-1, backward),
  });

  // What can be projected arrives with the other widgets.
  const offer = () => {
    if (lecture.get() === "figure") show.settle();
    if (lecture.get() === "frame" && show.possible() && !projecting()) bus.fire("project");
    if (lecture.get() === "projector" && show.possible()) {
      lecture.set("1");
      if (!projecting()) bus.fire("project");
    }
    for (const button of all(document, ".tfe-shell-project")) {
      button.hidden = !show.possible();
    }
  };
  // Looking for figures makes the page lay itself out, so a picture that grows is not asked about
  // at each of its pixels.
  let offering = 0;
  const soon = () => {
    offering ||= setTimeout(() => {
      offering = 0;
      offer();
      relocate();
    }, 150);
  };
  new MutationObserver(soon).observe(main, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["class"],
  });
  offer();

  if (["frame", "figure"].includes(lecture.get())) {
    addEventListener("message", ({ origin, data }) => {
      if (origin !== location.origin) {
        return;
      }
      if (data?.step) go(data.step, false);
      if (data?.look) view.set(data.look); // beside another picture (compare.js)
    });
  }

  // An address that only names a step (a link typed by hand, the last step of the lab before) opens
  // it whole.
  const named = step.get();
  const alone = named && named <= steps.length && !request.get() && !view.any();
  if (!here || !(alone ? steps[named - 1].query : request.get())) opened();
  if (alone) go(named, false);
  else if (named > steps.length || (!named && new URL(location.href).searchParams.has("step"))) {
    nowhere("step", new URL(location.href).searchParams.get("step"));
    step.set(0);
  }
  if (step.get()) bring(steps[step.get() - 1], true);
}

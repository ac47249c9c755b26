// Two pictures side by side, each the page of its lab with that picture alone, as alive as it is
// there; and their difference where both draw maps of one shape. The address holds both: left and
// right are addresses of labs, in which each side keeps what is looked at.

import { el } from "../lib/dom.js";
import { lang, onLang, t } from "../lib/lang.js";
import { speaking } from "../lib/speaking.js";
import { pageAt, request } from "../lib/state.js";
import { dark, onTheme } from "../lib/theme.js";
import { mount as stage } from "./stage.js";

const SIDES = ["left", "right"];
const OURS = ["lecture", "figure", "lang", "__theme", "step"]; // of a side's address: how it is shown, not what
const TOGETHER = ["_row", "_col", "_pos"]; // what is locked on one side is locked on the other too
const TICK = 300; // ms between two looks at what the sides show

/**
 * props: labs [{path, short, figures, field, task, first, arrives}], stage (props of the
 * difference), texts; see compare.py.
 */
export function mount(root, props) {
  const { labs, texts } = props;
  const labOf = (url) => labs.find(({ path }) => path === url.pathname);
  const { paint, paints, say } = speaking();
  const given = new URLSearchParams(location.search);
  const wanted = SIDES.map((side, at) => {
    try {
      const url = new URL(given.get(side) ?? "", location.origin);
      if (url.origin === location.origin && labOf(url)) return url;
    } catch {
      // what is no address is no side
    }
    const lab = labs.filter(({ figures }) => figures.includes("attention"))[at] ?? labs[0];
    return new URL(`${lab.path}?${lab.arrives}`, location.origin);
  });

  /** A side's address without how it is shown. */
  function bare(url) {
    const own = new URL(url);
    for (const key of OURS) own.searchParams.delete(key);
    return own;
  }
  const sides = SIDES.map((name, at) => {
    const pick = el("select", {
      class: "tfe-select",
      onchange: () => choose(at, labs[pick.selectedIndex]),
    });
    const view = el("select", {
      class: "tfe-select",
      onchange() {
        const url = new URL(wanted[at]);
        url.searchParams.set("figure", view.value);
        show(at, url, line.value);
      },
    });
    const line = el("input", { class: "tfe-input", type: "text", autocomplete: "off" });
    const whole = say(el("a", { class: "tfe-button small" }), texts.open);
    const form = el(
      "form",
      {
        class: "tfe-row",
        onsubmit(event) {
          event.preventDefault();
          type(at, line.value);
        },
      },
      pick,
      view,
      line,
      say(el("button", { class: "tfe-button small" }), texts.run),
      whole,
    );
    const frame = el("iframe", { class: "tfe-compare-frame", name });
    const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
    const box = el("section", { class: "tfe-panel tfe-compare-side" }, form, error, frame);
    paints(box, () => {
      box.setAttribute("aria-label", t(texts[name]));
      frame.title = t(texts[name]);
      pick.setAttribute("aria-label", t(texts.lab, { side: t(texts[name]) }));
      view.setAttribute("aria-label", t(texts.picture, { side: t(texts[name]) }));
      line.setAttribute("aria-label", t(texts.input, { side: t(texts[name]) }));
      pick.replaceChildren(...labs.map(({ short }) => el("option", { text: t(short) })));
      pick.selectedIndex = labs.indexOf(labOf(wanted[at]));
    });
    return { box, frame, pick, view, line, whole, error, seen: "", told: null };
  });
  /**
   * Says why a side's input is refused: the bar of its own page, which says so there, is not shown
   * here.
   */
  function refuse({ error, frame }, text) {
    if (error.textContent === text) return; // it is read aloud once
    error.textContent = text;
    error.hidden = !text;
    frame.classList.toggle("tfe-stale", Boolean(text));
  }

  /** What is typed at a side, as its address says it. */
  function typed(url) {
    const { field, first } = labOf(url);
    const bare = new URLSearchParams(url.searchParams.has("v") ? "" : first); // what a bare address stands for
    return url.searchParams.get(field) ?? bare.get(field) ?? ""; // a lab may begin with a text that no address names
  }
  /** draft: what stands at the side though it has not been run. */
  function show(at, url, draft = typed(url)) {
    const lab = labOf(url);
    wanted[at] = bare(url);
    const beside = sides[1 - at].figure; // the same picture on both sides, where the lab has it
    const figure = url.searchParams.get("figure") ??
      (lab.figures.includes(beside) ? beside : lab.figures[0]);
    const framed = new URL(wanted[at]);
    for (
      const [key, text] of Object.entries({
        lecture: "figure",
        figure,
        lang: lang(),
        __theme: dark() ? "dark" : "light",
      })
    ) {
      framed.searchParams.set(key, text);
    }
    Object.assign(sides[at], { figure, fresh: true, left: sides[at].frame.contentDocument });
    refuse(sides[at], "");
    sides[at].frame.contentWindow.location.replace(framed.href); // the browser's history would not hold the choices
    sides[at].pick.selectedIndex = labs.indexOf(lab);
    const [shown] = figure.split(".");
    const offered = [...new Set([...lab.figures, shown])];
    sides[at].view.hidden = offered.length < 2;
    sides[at].view.replaceChildren(
      ...offered.map((one) =>
        el("option", { value: one, selected: one === shown, text: t(texts[one] ?? one) })
      ),
    );
    Object.assign(sides[at].line, { value: draft, hidden: !lab.field, placeholder: t(texts.own) });
    write();
  }
  function write() {
    request.set(
      new URLSearchParams(SIDES.map((name, at) => {
        const url = new URL(wanted[at]);
        sides[at].whole.href = pageAt(url.pathname + url.search);
        if (sides[at].figure) url.searchParams.set("figure", sides[at].figure);
        return [name, url.pathname + url.search];
      })),
    );
  }
  /** Another lab, with the same input where both are asked for one. */
  function choose(at, lab) {
    const other = labOf(wanted[at]);
    const url = new URL(`${lab.path}?${lab.first}`, location.origin);
    for (const key of lab.field && lab.field === other.field ? [lab.field, "task"] : []) {
      if (wanted[at].searchParams.has(key)) {
        url.searchParams.set(key, wanted[at].searchParams.get(key));
      }
    }
    show(at, url);
  }
  function type(at, text) {
    const url = new URL(wanted[at]);
    const { field, task } = labOf(url);
    if (task && !url.searchParams.has(field)) url.searchParams.set("task", task);
    for (const key of [...url.searchParams.keys()]) {
      if (key.startsWith("_") || key === "page" || key === `${field}.z`) {
        url.searchParams.delete(key);
      }
    }
    url.searchParams.set("v", "1");
    url.searchParams.set(field, text);
    show(at, url);
  }

  // ---------------------------------------------------------------- what the sides show
  let update = null;
  const value = { ...props.stage, value: null };
  const between = el("div", { class: "tfe tfe-difference" });
  const drawn = (page, figure) =>
    page?.querySelector(`[data-view="${CSS.escape(figure.split(".")[0])}"]`);
  /** Names of the rows and columns of the map in view, and its numbers. */
  function mapOf(files) {
    const [name, map] = Object.entries(files ?? {})
      .find(([key, one]) => key.startsWith("shown") && one.shape?.length === 2) ?? [];
    if (!map) return null;
    const kind = String(files.shown_name).split(" ")[0];
    const [queries, keys] = name === "shown"
      ? [files[`${kind}_queries`], files[`${kind}_keys`]]
      : ["queries", "keys"].map((one) => files[name.replace("shown", one)]);
    return { name, queries, keys, rows: map.shape[0], columns: map.shape[1], data: map.data };
  }
  /**
   * Gives the difference, or why there is none: the two are of different shapes, or a side has not
   * run yet.
   */
  function give(next, why) {
    if (!next && !value.value && value.texts.empty === texts[why]) return;
    Object.assign(value, { value: next });
    value.texts.empty = texts[why];
    update?.();
  }
  function look() {
    const found = sides.map((side, at) => {
      const page = side.frame.contentDocument;
      if (page === side.left) return null; // it stays until the next one comes, and would take the side back to its own address
      refuse(side, page?.querySelector(".tfe-ask-error:not([hidden])")?.textContent ?? "");
      const node = drawn(page, side.figure);
      const now = side.frame.contentWindow?.location;
      if (!node?.dataset.drawn || !now || !labOf(now)) return null;
      return {
        node,
        url: bare(now.href),
        at,
        busy: Boolean(page.querySelector(".tfe-ask-panel[aria-busy=true]")),
      };
    });
    if (found.some((one) => !one)) {
      for (const side of sides) side.seen = "";
      return give(null, "waits");
    }
    const seen = found.map(({ node, url, busy }) =>
      `${node.dataset.drawn} ${node.dataset.run} ${busy} ${url.href}`
    );
    if (seen.every((text, at) => text === sides[at].seen)) return;
    const changed = found.map(({ url }, at) =>
      TOGETHER.filter((key) => url.searchParams.get(key) !== wanted[at].searchParams.get(key))
    );
    const moved = found.findIndex(({ url }, at) =>
      sides[at].told &&
      changed[at].some((key) => url.searchParams.get(key) !== sides[at].told[key.slice(1)])
    );
    found.forEach(({ node, url }, at) => {
      const { line, view } = sides[at];
      if (line.value === typed(wanted[at])) line.value = typed(url);
      const title = node.querySelector(".tfe-title")?.textContent;
      if (title && !texts[view.value]) view.selectedOptions[0].text = title;
      wanted[at] = url;
      Object.assign(sides[at], {
        seen: seen[at],
        told: changed[at].length ? {} : sides[at].told ?? {},
      });
    });
    const lock = (at, look) => {
      sides[at].told = look; // where it goes because of this, it has not moved by itself
      sides[at].frame.contentWindow.postMessage({ look }, location.origin);
    };
    if (moved >= 0) {
      lock(
        1 - moved,
        Object.fromEntries(
          TOGETHER.map((key) => [key.slice(1), wanted[moved].searchParams.get(key)]),
        ),
      );
    }
    write();
    const maps = found.map(({ node }) => mapOf(node.files?.()));
    const alike = maps.every(Boolean) &&
      ["name", "rows", "columns"].every((key) => maps[0][key] === maps[1][key]);
    // What has just come, and names no row, shows the row of the other side; of two such the right
    // one follows.
    const rows = found.map(({ node }) => node.dataset.drawn.match(/\brow=(\d+)/)?.[1] ?? null);
    const come = found.every(({ node, url, busy }) => { // until then a side shows another example, or a part of its own
      const run = new URLSearchParams(node.dataset.run);
      return !busy &&
        [...url.searchParams].every(([key, text]) => key.startsWith("_") || run.get(key) === text);
    });
    const follows = come && alike && rows[0] !== rows[1]
      ? [1, 0].find((at) =>
        sides[at].fresh && !TOGETHER.some((key) => wanted[at].searchParams.has(key))
      )
      : -1;
    for (const side of sides) {
      Object.assign(
        side,
        follows >= 0 ? { seen: "" } : { fresh: side.fresh && !(come && maps.every(Boolean)) },
      ); // its page may not hear yet
    }
    if (follows >= 0) lock(follows, { row: rows[1 - follows] });
    give(
      alike && come
        ? {
          query: seen.join(" "),
          state: "live",
          left: maps[0],
          right: maps[1],
          row: rows[0] && Number(rows[0]),
        }
        : null,
      come ? "unlike" : "waits",
    );
  }
  setInterval(look, TICK);
  const fit = () =>
    sides.forEach(({ frame }) => {
      const shown = frame.contentDocument?.querySelector(".tfe-lone")?.getBoundingClientRect();
      if (shown?.height) {
        frame.style.height = `${Math.ceil(shown.bottom + frame.contentWindow.scrollY)}px`;
      }
    });
  setInterval(fit, TICK);

  const swap = say(
    el("button", {
      type: "button",
      class: "tfe-button small",
      onclick() {
        const was = sides.map((side, at) => {
          const url = new URL(wanted[at]);
          url.searchParams.set("figure", side.figure);
          return url;
        });
        was.reverse().forEach((url, at) => show(at, url));
      },
    }),
    texts.swap,
  );
  root.append(
    el(
      "header",
      { class: "tfe-row apart" },
      el(
        "div",
        {},
        say(el("h1", { class: "tfe-lecture-title" }), texts.title),
        say(el("p", { class: "tfe-lead" }), texts.lead),
      ),
      swap,
    ),
    el("div", { class: "tfe-compare-desk" }, sides[0].box, sides[1].box, between),
  );
  const renew = () => {
    sides.forEach((side, at) => {
      const url = new URL(wanted[at]);
      if (side.figure) url.searchParams.set("figure", side.figure);
      show(at, url, side.line.value);
    });
  };
  paint();
  wanted.map((url) => new URL(url)).forEach((url, at) => show(at, url));
  stage(between, value, {}, (_name, changed) => (update = changed));
  onLang(renew);
  onTheme(renew);
}

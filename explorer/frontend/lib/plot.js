// Plotly, loaded once and only when a figure is first drawn, under a name of our own: Gradio or a
// neighbour may bring another.

import { css, onTheme } from "./theme.js";

/**
 * The figure with every "var(--token)" replaced by its colour in the theme of the moment; numbers
 * are not copied.
 */
export function resolve(value) {
  if (typeof value === "string") {
    return value.includes("var(")
      ? value.replace(/var\((--[\w-]+)\)/g, (_, name) => css(name))
      : value;
  }
  if (Array.isArray(value)) {
    return typeof value[0] === "number" && typeof value.at(-1) === "number"
      ? value
      : value.map(resolve);
  }
  if (value && typeof value === "object" && !ArrayBuffer.isView(value)) {
    const out = {};
    for (const key in value) out[key] = resolve(value[key]);
    return out;
  }
  return value;
}

const isList = (value) => Array.isArray(value) || ArrayBuffer.isView(value);

/**
 * A value with every part of the last one that says the same: Plotly tells by identity whether a
 * list has changed, and draws only what has.
 */
export function share(next, last) {
  if (!next || !last || typeof next !== "object" || typeof last !== "object") return next;
  if (isList(next) !== isList(last)) return next;
  const keys = Object.keys(next);
  const own = ArrayBuffer.isView(next)
    ? next
    : isList(next)
    ? /** @type {any[]} */ (next).map((one, n) => share(one, last[n]))
    : Object.fromEntries(keys.map((key) => [key, share(next[key], last[key])]));
  const same = keys.length === Object.keys(last).length &&
    keys.every((key) => Object.is(own[key], last[key]));
  return same ? last : own;
}

/** Objects of one's own, for Plotly writes into them, around the same lists. */
function copied(value) {
  if (Array.isArray(value) && value.some((one) => one?.constructor === Object)) {
    return value.map(copied);
  }
  return value?.constructor === Object
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copied(one)]))
    : value;
}

/** @type {Promise<any> | null} */
let loading = null;

/**
 * @param {string} address of plotly.js on this server
 * @returns {Promise<any>} the library
 */
export function plotly(address) {
  loading ??= new Promise((done, fail) => {
    if (window.tfePlotly) {
      done(window.tfePlotly);
      return;
    }
    const before = window.Plotly;
    const script = document.createElement("script");
    script.src = new URL(address, location.origin).href;
    script.onload = () => {
      window.tfePlotly = window.Plotly;
      if (before === undefined) delete window.Plotly;
      else window.Plotly = before;
      done(window.tfePlotly);
    };
    script.onerror = () => {
      loading = null;
      fail(new Error(`${script.src} did not load`));
    };
    document.head.append(script);
  });
  return loading;
}

const PATIENCE = 5000; // ms after which a page is taken as it stands
const standing = () =>
  performance.now() > PATIENCE ||
  !document.querySelector(".tfe-block .tfe:not([data-view]), .tfe-arriving");
/**
 * Resolves when the page stands: Plotly is a second of work, which the first paint does not wait
 * for.
 */
const afterPage = () =>
  new Promise((done) => {
    const look = () => (standing()
      ? requestAnimationFrame(() => setTimeout(done))
      : setTimeout(look, 30));
    look();
  });
const scrolled = new Promise((done) =>
  addEventListener("scroll", done, { once: true, capture: true, passive: true })
);

/**
 * Resolves when a node is seen or, once somebody scrolls, within half a screen of it: a figure
 * further down the page is worth no second of work yet. A page is short until its pictures stand,
 * so nothing is near before.
 */
function near(node) {
  return new Promise((done) => {
    const watching = [];
    let left = false;
    const watch = (rootMargin) => {
      let seen = false;
      function look() {
        if (seen && !standing()) setTimeout(look, 50);
        // The layout may have moved since the observer spoke.
        else if (seen) requestAnimationFrame(() => setTimeout(() => seen && leave()));
      }
      watching.push(
        new IntersectionObserver((entries) => {
          seen = entries.at(-1).isIntersecting;
          look();
        }, { rootMargin }),
      );
      watching.at(-1).observe(node);
    };
    function leave() {
      left = true;
      for (const one of watching) one.disconnect();
      done();
    }
    watch("0px");
    scrolled.then(() => left || watch("50% 0px"));
  });
}

/**
 * Text inside markup, a page's or Plotly's own: nothing a visitor typed may become a tag, a link or
 * an entity there.
 */
export const escape = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/**
 * How every figure stands, here and in a saved page: with nothing that leaves the machine. Plotly
 * would offer to upload the figure ("Share chart") and link to its maker; without an address for
 * either, even a button that came back would lead nowhere.
 */
export const CONFIG = Object.freeze({
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: "",
  responsive: false,
  showTips: false,
  doubleClick: "reset",
});
const ON_PAGE = { ...CONFIG, displayModeBar: false };

/**
 * A figure in a node, made by a function and drawn first when it comes near what is seen; data-plot
 * says whether it "waits" or "stands". Colours written as "var(--token)" follow the theme; zoom is
 * kept while layout.uirevision stays the same.
 * @param {HTMLElement} node
 * @param {string} address of plotly.js
 * @param {{early?: boolean}} [how] early: it is drawn as soon as the page stands, whether it is
 *   near or not, and by its owner alone when the theme changes
 */
export function plot(node, address, { early = false } = {}) {
  let figure = null;
  let library = null;
  let bound = false;
  let last = {}; // what stands
  let job = Promise.resolve();

  /** What Plotly keeps on its node. */
  const kept = () => /** @type {any} */ (node)._fullLayout?._size;

  const react = async () => {
    if (!bound) await (early ? afterPage() : near(node));
    library ??= await plotly(address);
    if (!figure) return;
    const { data, layout, config } = figure();
    const next = share({ data: resolve(data), layout: resolve(layout), config }, last);
    if (bound && next === last) {
      node.dataset.plot = "stands";
      return;
    }
    last = next;
    // Where a page has a <base>, Plotly writes its clip paths with the page's address of that
    // moment. Ours changes with every look, and the browser would then fetch the page again for
    // each of them: so Plotly finds no <base>. (Taking the element's address away instead makes the
    // browser compute every style anew, 40 ms a time.)
    document.querySelector = (
      what,
    ) => (what === "base" ? null : Document.prototype.querySelector.call(document, what));
    let done;
    try {
      done = library.react(node, copied(next.data), copied(next.layout), {
        ...ON_PAGE,
        ...config,
      });
    } finally {
      delete document.querySelector;
    }
    await done;
    node.dataset.plot = "stands";
    bound = true;
  };

  if (!early) onTheme(() => figure && draw(figure));

  /**
   * Draws, once it is near; of several calls in a row only the last is painted. Resolves when the
   * picture stands.
   */
  function draw(next) {
    figure = next;
    node.dataset.plot = "waits";
    job = job.then(() => (figure === next ? react() : undefined));
    return job;
  }

  return {
    draw,
    /**
     * Room around the axes as it stands, labels included: {l, r, t, b} in px, or null before the
     * first picture.
     */
    margins: () => (kept() ? { ...kept() } : null),
    /**
     * A picture of the figure as it stands, or of another one. @returns {Promise<string>} a data
     * address
     */
    async image(other, how) {
      library ??= await plotly(address);
      return library.toImage({
        data: resolve(other.data),
        layout: resolve(other.layout),
        config: ON_PAGE,
      }, how);
    },
  };
}

// The menu of what a visitor takes along of a picture on the stage.

import { el } from "./dom.js";
import { exportBar } from "./export.js";
import { onLang, t } from "./lang.js";
import { escape } from "./plot.js";
import { plotsIn } from "./plots.js";
import { KINDS } from "./selection.js";
import { comparing, link, linkRefusal, view } from "./state.js";
import { load } from "./modules.js";

const TEXT = { en: "Export", zh: "导出" };
const BESIDE = { en: "Side by side", zh: "并排对比" };
const COPIED = { en: "Copied", zh: "已复制" };
const FRAMES = [
  {
    label: { en: "Copy for a web page", zh: "复制网页嵌入代码" },
    write: (address, title, height) =>
      `<iframe src="${address}" title="${title}" loading="lazy" allow="clipboard-write"` +
      ` style="width: 100%; height: ${height}px; border: 0"></iframe>`,
  },
  {
    label: { en: "Copy for reveal.js", zh: "复制“reveal.js”代码" },
    write: (address) =>
      `<section data-background-iframe="${address}" data-background-interactive></section>`,
  },
];
const AROUND = 150; // px that sentence and margins of an embedded picture take

/** The buttons that copy the code of this picture alone, for a frame on another site. */
function frameButtons(stand, what) {
  /** The address of this picture alone, for a frame on another site. */
  function embedded() {
    const url = new URL(link());
    url.pathname = `/embed${url.pathname}`;
    for (const key of ["lecture", "figure"]) url.searchParams.delete(key);
    url.searchParams.set("_view", what.name);
    return url.href;
  }
  async function copyFrame(button, { label, write }) {
    const height = Math.round(what.root.getBoundingClientRect().height) + AROUND;
    const code = write(escape(embedded()), escape(stand().title()), height);
    try {
      await navigator.clipboard.writeText(code);
      button.textContent = t(COPIED);
      setTimeout(() => (button.textContent = t(label)), 2000);
    } catch {
      prompt(t(label), code); // the browser denies its clipboard, so the visitor copies it
    }
  }
  return FRAMES.map((frame) => {
    const act = () => copyFrame(button, frame);
    const button = el("button", {
      type: "button",
      class: "tfe-button tfe-export-copy",
      onclick: act,
    });
    return { ...frame, button };
  });
}

/**
 * @param {() => any} stand the board that draws it
 * @param {{picture: any, root: HTMLElement, name: string, address: string, texts: any, plotly?:
 * string}} what
 * @param {() => any} value what is drawn
 */
export function taking(stand, what, value) {
  function state() {
    const { run, look } = stand();
    if (!run) return null;
    const seen = Object.keys(what.picture.looks).filter((key) => view.get(key) !== null)
      .map((key) => [key, view.get(key)]);
    return {
      ...what,
      value: { ...value(), ...what.picture.keeps?.(run, look) },
      run,
      look,
      seen,
      title: stand().title(),
      units: stand().units(),
      words: stand().words(),
      width: stand().width(),
    };
  }
  /**
   * The page that places this picture beside another one: at first the next head, where it has
   * heads.
   */
  function compared() {
    const [left, right] = [new URL(link()), new URL(link())];
    for (const url of [left, right]) url.searchParams.set("figure", what.name);
    const { look, bounds } = stand();
    if (KINDS.head === KINDS[what.picture.looks.head]) {
      right.searchParams.set("_head", KINDS.head.move(look.head, 1, bounds.head));
    }
    return comparing(left, right);
  }
  // How files are made comes with the first that is asked for.
  const further = Object.keys(what.picture.files ?? {});
  const kinds = ["PNG", "SVG", "HTML", "CSV", ...further, "NPZ", "JSON"];
  const made = async (kind) =>
    (await load("frontend/lib/export_picture.js")).takes(state, what.picture.files)[kind]();
  const take = el("summary", { class: "tfe-button small" });
  const beside = el("a", { class: "tfe-button small" });
  function offer() {
    for (const node of [beside, ...frames.map(({ button }) => button)]) {
      node.hidden = Boolean(linkRefusal());
    }
    if (stand()?.run) beside.href = compared();
    const { marks = [] } = /** @type {any} */ (what.root.querySelector("canvas")) ?? {};
    menu.querySelector("[data-kind=JSON]").hidden = !plotsIn(marks).length;
  }
  const frames = frameButtons(stand, what);
  const files = exportBar(Object.fromEntries(kinds.map((kind) => [kind, () => made(kind)])), {
    onTable: (open) => stand().table(open),
  });
  files.append(...frames.map(({ button }) => button));
  const menu = el(
    "details",
    { class: "tfe-stage-take", ontoggle: offer },
    take,
    beside,
    files,
  );
  const label = () => {
    take.textContent = t(TEXT);
    beside.textContent = t(BESIDE);
    for (const { button, label } of frames) button.textContent = t(label);
  };
  onLang(label);
  label();
  // A file is saved by a click of ours on a link, which closes nothing.
  document.addEventListener(
    "click",
    (event) => !event.isTrusted || menu.contains(event.target) || (menu.open = false),
  );
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    take.focus();
  });
  return menu;
}

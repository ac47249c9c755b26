// What is changed in the model, as a chip beside the badge: Esc takes the change off; B, held or
// tapped, shows the run without it.

import { el } from "./dom.js";
import { plain, projecting, wantsText } from "./keys.js";
import { onLang, t } from "./lang.js";
import { comparing, link } from "./state.js";
import { isStored, kept, peek, stored } from "./stored.js";

const TEXT = {
  changed: { en: "changed: {what}", zh: "已改动：{what}" },
  off: { en: "Take the change off: {what}", zh: "撤销改动：{what}" },
  before: { en: "before", zh: "之前" },
  beside: { en: "side by side", zh: "并排" },
  hold: {
    en: "The run without the change; hold B, or press it briefly to switch",
    zh: "没有改动的运行；按住 B 查看，短按切换",
  },
};

/**
 * @param {{take: () => void, fetch: (query: string) => void, ready: () => boolean, paint: () =>
 *   void}} how take: takes the change off. fetch: asks for the run of a query, which comes back
 *   through `arrived`. ready: is a finished run in view? paint: called when another run is shown.
 */
export function beforeOf({ take, fetch, ready, paint }) {
  let run = null; // the changed run in view: {query, plain, changes}
  let shown = null; // what is shown instead of it
  let wanted = false;
  let down = false; // is B down?
  let held = false; // so long that the key repeats itself? A clock would take a busy machine's tap for more
  let was = false; // was the run before shown when B went down?

  const words = el("span", {});
  const chip = el(
    "button",
    { type: "button", class: "tfe-changed-chip", onclick: take },
    words,
    el("kbd", { text: "Esc", "aria-hidden": "true" }),
  );
  const label = el("span", {});
  const button = el(
    "button",
    {
      type: "button",
      class: "tfe-changed-before",
      "aria-keyshortcuts": "B",
      "aria-pressed": "false",
      onclick: () => look(!wanted),
    },
    el("kbd", { text: "B", "aria-hidden": "true" }),
    label,
  );
  const beside = el("a", {
    class: "tfe-changed-beside",
    href: "/compare",
    onclick: () => (beside.href = both()),
  });
  const node = el("span", { class: "tfe-changed", hidden: true }, chip, button, beside);

  /** The page with the run before on the left and the changed one on the right, looked at alike. */
  function both() {
    const [left, right] = [new URL(link()), new URL(link())];
    const looks = [...right.searchParams].filter(([key]) => key.startsWith("_"));
    left.search = new URLSearchParams([...new URLSearchParams(run.plain), ...looks]).toString();
    return comparing(left, right);
  }

  function show(values) {
    if (shown === values) return;
    shown = values;
    peek(values);
    document.body.classList.toggle("tfe-before", shown !== null);
    button.setAttribute("aria-pressed", String(wanted));
    paint();
  }

  /** Shows the run without the change, or again the changed one. */
  function look(yes) {
    wanted = yes && Boolean(run?.plain) && ready();
    button.setAttribute("aria-pressed", String(wanted));
    if (!wanted) return show(null);
    const { plain } = run;
    const values = kept(plain);
    if (values) show(values);
    else if (isStored(plain)) {
      stored(plain).then((found) => (found ? arrived(plain, found) : fetch(plain)));
    } else fetch(plain);
    return undefined;
  }

  function arrived(query, values) {
    if (wanted && run?.plain === query) show(values);
  }

  document.addEventListener("keydown", (event) => {
    if (!run || event.defaultPrevented || !plain(event) || wantsText(event.target)) return;
    if (event.key === "Escape" && !projecting() && ready()) {
      event.preventDefault();
      take();
    }
    if (event.key.toLowerCase() !== "b") return;
    held = event.repeat;
    if (held) return;
    [down, was] = [true, wanted];
    look(true);
  });
  document.addEventListener("keyup", (event) => {
    if (event.key.toLowerCase() !== "b" || !down) return;
    down = false;
    if (held || was) look(false);
  });
  addEventListener("blur", () => down && look(false));

  function label_() {
    const what = run ? t(run.changes) : "";
    words.textContent = t(TEXT.changed, { what });
    chip.setAttribute("aria-label", t(TEXT.off, { what }));
    label.textContent = t(TEXT.before);
    beside.textContent = t(TEXT.beside);
    button.title = t(TEXT.hold);
  }
  onLang(label_);

  return {
    node,
    /** What is shown instead of the changed run: {widget: value}, or null. */
    get shown() {
      return shown;
    },
    /** The run in view, or null for one that changes nothing. */
    of(value) {
      run = value?.changes ? value : null;
      look(false);
      node.hidden = run === null;
      button.hidden = beside.hidden = !run?.plain; // without a link nobody can tell what was before
      label_();
    },
    /** Shows the changed run again, whatever was shown instead of it. */
    end() {
      look(false);
    },
    /** The run of a query has come. */
    arrived,
  };
}

// A long text in the input bar: the box, the examples and pages offered above it, where the text is
// from and how long it is. A page of ours is told by its name, so that links stay short.

import { grouped } from "../lib/badge.js";
import { el } from "../lib/dom.js";
import { filled, t } from "../lib/lang.js";

const TEXT = {
  examples: { en: "Examples", zh: "示例" },
  pages: { en: "Further pages", zh: "其他书页" },
  example: { en: "Example: {title}", zh: "示例：{title}" },
  page: { en: "Page: {title}; all other settings stay", zh: "书页：{title}；其余设置不变" },
  held: { en: "held out: {source}", zh: "留出的书页：{source}" },
  ours: { en: "an opening of ours, from no book", zh: "我们写的开头，不出自任何书" },
  own: { en: "your own text", zh: "您自己的文本" },
  count: { en: "{n} of {most} characters", zh: "{n} / {most} 个字符" },
  shared: {
    en: "{n} given + {more} to write, of {most}",
    zh: "给定 {n} + 续写 {more}，至多 {most}",
  },
  nothing: {
    en: "The box is empty: type a text, or begin with one of ours.",
    zh: "文本框是空的：请输入文本，或从我们的例子开始。",
  },
  blank: {
    en: "The text is nothing but white space: type at least one character.",
    zh: "文本只有空白：请至少输入一个字符。",
  },
  neither: {
    en:
      "The box is empty and the model is to write 0 characters: type a text, or let it write some.",
    zh: "文本框是空的，也不续写：请输入文本，或续写一些字符。",
  },
  long: {
    en: "The text has {n} characters; at most {most} can be read.",
    zh: "文本有 {n} 个字符；最多可读取 {most} 个。",
  },
  full: {
    en: "The text has {n} characters and {more} are to be written; {most} together are the most.",
    zh: "文本有 {n} 个字符，还要续写 {more} 个；合计最多 {most} 个。",
  },
};
// What the models take for white space too: not all of it is to a browser.
// deno-lint-ignore no-control-regex -- the separators of files, groups, records and units are meant
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

/** Characters as the models count them, code points. */
const lengthOf = (text) =>
  text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

/**
 * @param {any} control of kind "passage", as controls.py draws it
 * @param {{id: string, examples: any[], set: (field: string) => string, input: () => void, run: ()
 * => void, show: (example: any) => void}} how
 *   set: how a setting stands. input: the text was changed. run: it is to be read as it stands.
 *   show: an example is wanted
 * @returns a line of the input bar, see ask.js
 */
export function lineOf(control, { id, examples, set, input, run, show }) {
  const { field, pages, most, shares } = control;
  const more = () => (shares ? Number(set(shares)) : 0); // characters that are to be written in the same room
  const home = examples[0].fields.page;
  const textOf = (fields) =>
    fields?.[field] || (pages.find(({ key }) => key === fields?.page)?.text ?? "");
  const pageOf = (text) => pages.find((page) => page.text === text);
  const further = pages.filter((page) =>
    !examples.some(({ fields }) => !fields[field] && fields.page === page.key)
  );

  const label = el("label", { class: "tfe-label tfe-ask-name", for: id });
  const chip = (act) =>
    el("button", { type: "button", class: "tfe-chip tfe-ask-chip", onclick: act });
  const exampleChips = examples.map((example) => chip(() => show(example)));
  const pageChips = further.map((page) => chip(() => turn(page)));
  const exampleRow = el("div", { class: "tfe-ask-chips", role: "group" }, exampleChips);
  const pageRow = el("div", {
    class: "tfe-ask-chips is-pages",
    role: "group",
    hidden: !further.length,
  }, pageChips);
  const box = el("textarea", {
    id,
    class: "tfe-input tfe-ask-box",
    rows: "6",
    dir: "auto",
    spellcheck: "false",
    autocomplete: "off",
  });
  const from = el("span", { id: `${id}-from`, class: "tfe-ask-from" });
  const count = el("span", { id: `${id}-count`, class: "tfe-ask-count" });
  box.addEventListener("input", () => self.write(box.value));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    run();
  });

  /** A page of no example: its text, everything else as it is set. */
  function turn(page) {
    self.text = page.text;
    self.paint();
    run();
  }

  const self = {
    control,
    box,
    text: textOf(examples[0].fields),
    above: [],
    node: el(
      "div",
      { class: "tfe-ask-passage" },
      el(
        "div",
        { class: "tfe-ask-lead" },
        label,
        el("div", { class: "tfe-ask-offers" }, exampleRow, pageRow),
      ),
      el(
        "div",
        { class: "tfe-ask-passage-in" },
        box,
        el("p", { class: "tfe-ask-foot" }, from, count),
      ),
    ),
    of: textOf,
    fields() {
      const page = pageOf(self.text);
      if (!pages.length) return { [field]: self.text };
      return page ? { [field]: "", page: page.key } : { [field]: self.text, page: home };
    },
    /** The sentence that refuses the text before it is sent, or null. */
    refusal() {
      const n = lengthOf(self.text);
      if (n + more() > most) {
        return filled(shares ? TEXT.full : TEXT.long, {
          n: grouped(n),
          more: grouped(more()),
          most: grouped(most),
        });
      }
      if (shares) return n + more() ? null : TEXT.neither;
      if (self.text === "") return TEXT.nothing;
      return BLANK.test(self.text) ? TEXT.blank : null;
    },
    write(text) {
      self.text = text;
      self.paint();
      input();
    },
    paint() {
      const n = lengthOf(self.text);
      const page = pageOf(self.text);
      label.textContent = t(control.label);
      if (control.hint) box.placeholder = t(control.hint);
      if (box.value !== self.text) {
        box.value = self.text;
        box.scrollTop = 0;
      }
      const named = (button, { short, title }, raw) => {
        button.textContent = t(short);
        button.title = t(raw, { title: t(title) });
      };
      exampleRow.setAttribute("aria-label", t(TEXT.examples));
      pageRow.setAttribute("aria-label", t(TEXT.pages));
      exampleChips.forEach((button, at) => named(button, examples[at], TEXT.example));
      pageChips.forEach((button, at) => named(button, further[at], TEXT.page));
      from.textContent = page
        ? t(TEXT.held, { source: t(page.source) })
        : self.text === "" || !pages.length
        ? ""
        : t(examples.some(({ fields }) => fields[field] === self.text) ? TEXT.ours : TEXT.own);
      from.title = from.textContent;
      count.textContent = t(shares ? TEXT.shared : TEXT.count, {
        n: grouped(n),
        more: grouped(more()),
        most: grouped(most),
      });
      count.classList.toggle("is-over", n + more() > most);
    },
    /**
     * Which example is it that stands in the controls, and which page? same(fields): do all
     * controls stand so?
     */
    press(same) {
      exampleChips.forEach((button, at) =>
        button.setAttribute("aria-pressed", String(same(examples[at].fields)))
      );
      pageChips.forEach((button, at) =>
        button.setAttribute("aria-pressed", String(further[at].text === self.text))
      );
    },
  };
  box.setAttribute("aria-describedby", `${id}-from ${id}-count ${id}-error`);
  return self;
}

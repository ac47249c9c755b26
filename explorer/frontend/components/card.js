// The card of a lab: title, equation in the colours of its roles, one line and four figures in
// brief; all about the model unfolds. On a phone the line stands alone, since the bar above it has
// the title; the rest unfolds.

import { clear, el } from "../lib/dom.js";
import { lang, onLang, t } from "../lib/lang.js";

const TEXT = {
  unfold: { en: "About this model", zh: "关于这个模型" },
  fold: { en: "Close", zh: "收起" },
};

/** "d_k" -> d with a lowered k. */
function term(text) {
  const [head, low] = text.split("_");
  return low
    ? [document.createTextNode(head), el("sub", { text: low })]
    : [document.createTextNode(head)];
}

function equation(terms) {
  return terms.map(([style, text]) => {
    if (style === "sup") return el("sup", {}, ...term(text));
    if (style === "sub") return el("sub", {}, ...term(text));
    if (style === "root") {
      return el("span", { class: "root" }, "√", el("span", { class: "under" }, ...term(text)));
    }
    return el("span", { class: style }, ...term(text));
  });
}

/** One figure, with so much of what is said beside it. */
const pairOf = (pair, note) =>
  el(
    "div",
    { title: pair.why || pair.hint ? t(pair.why ?? pair.hint) : null },
    el("dt", { text: t(pair.label) }),
    el(
      "dd",
      {},
      el("strong", { text: t(pair.value) }),
      " ",
      note || pair.why
        ? el("span", { text: `${note ? t(note) : ""}${pair.why ? " †" : ""}` })
        : null,
    ),
  );

const run = ([style, text, address]) =>
  style === "link"
    ? el("a", {
      class: "tfe-link",
      href: address,
      target: "_blank",
      rel: "noreferrer noopener",
      text,
    })
    : style === "plain"
    ? document.createTextNode(text)
    : el({ strong: "strong", em: "em", code: "code" }[style], { text });

/**
 * props: kicker, title, line, spoken {en, zh}; equation [[style, text]]; pairs [{label, value,
 * note, brief, why}]; prose {en: blocks, zh: blocks}.
 */
export function mount(root, props, emit) {
  let opened = false;
  const kicker = el("p", { class: "tfe-kicker" });
  const title = el("h1", { class: "tfe-card-title" });
  const math = el("span", { class: "tfe-card-equation", role: "img" }, ...equation(props.equation));
  const line = el("p", { class: "tfe-card-line" });
  const facts = el("div", { class: "tfe-card-facts" });
  const pairs = el("dl", { class: "tfe-card-pairs" });
  const more = el("button", {
    type: "button",
    class: "tfe-link tfe-card-more",
    "aria-expanded": "false",
    onclick: () => unfold(sheet.hidden),
  });
  const sheet = el("section", { class: "tfe-panel tfe-card-sheet", hidden: true });
  root.replaceChildren(
    el(
      "header",
      { class: "tfe-card-head" },
      el(
        "div",
        { class: "tfe-card-what" },
        el("div", { class: "tfe-card-top" }, kicker, more),
        el("div", { class: "tfe-card-row" }, title, math),
        line,
      ),
      pairs,
    ),
    sheet,
  );

  function unfold(open) {
    sheet.hidden = !open;
    document.body.classList.toggle("tfe-card-open", open); // what else belongs to the card, as its training curve, follows by style
    more.setAttribute("aria-expanded", String(open));
    more.textContent = t(open ? TEXT.fold : TEXT.unfold);
    if (open && !opened) emit.unfold({});
    opened ||= open;
    if (open) window.dispatchEvent(new Event("resize"));
  }

  function prose() {
    let list = null;
    clear(sheet).append(facts);
    facts.replaceChildren(
      el("p", { class: "tfe-kicker tfe-phone", text: t(props.kicker) }),
      el(
        "p",
        { class: "tfe-card-equation tfe-phone", role: "img", "aria-label": t(props.spoken) },
        ...equation(props.equation),
      ),
      el("dl", { class: "tfe-card-pairs" }, ...props.pairs.map((pair) => pairOf(pair, pair.note))),
    );
    for (const block of props.prose[lang()] ?? props.prose.en ?? []) {
      const children = block.runs.map(run);
      if (block.kind === "li") {
        if (!list) sheet.append(list = el("ul", {}));
        list.append(el("li", {}, ...children));
        continue;
      }
      list = null;
      sheet.append(el(block.kind === "h" ? "h2" : "p", {}, ...children));
    }
    const why = props.pairs.filter((pair) => pair.why);
    if (why.length) {
      sheet.append(
        el("p", { class: "tfe-note", text: `† ${why.map((pair) => t(pair.why)).join(" ")}` }),
      );
    }
    sheet.setAttribute("aria-label", t(TEXT.unfold));
  }

  function draw() {
    kicker.textContent = t(props.kicker);
    title.textContent = t(props.title);
    math.setAttribute("aria-label", t(props.spoken));
    math.title = t(props.spoken);
    line.textContent = t(props.line);
    pairs.replaceChildren(...props.pairs.map((pair) => pairOf(pair, pair.brief)));
    prose();
    unfold(!sheet.hidden);
  }

  const phone = matchMedia("(max-width: 720px)");
  const unseen = () => title.classList.toggle("tfe-unseen", phone.matches); // the bar says it
  phone.addEventListener("change", unseen);
  unseen();
  onLang(draw);
  draw();
}

// What a network answers: large, with a mark whether it is right, facts about it, and what other
// networks answer to the same.

import { el } from "./dom.js";
import { nameInvisible } from "./invisible.js";
import { t } from "./lang.js";

const TEXT = {
  answer: { en: "Answer", zh: "回答" },
  right: { en: "right", zh: "正确" },
  wrong: { en: "wrong", zh: "错误" },
  instead: { en: "wrong, right is {expected}", zh: "错误，正确的是 {expected}" },
  nothing: { en: "(nothing)", zh: "（空）" },
  beside: { en: "What other networks answer", zh: "其他网络的回答" },
};
const MARK = { true: "✓", false: "✗" };
const LONG = 24; // characters of an answer from which on it is written smaller
const written = (text) => t(text) || t(TEXT.nothing);
const verdict = (other) => t(other.verdict ?? (other.right ? TEXT.right : TEXT.wrong));

/**
 * node; paint(answer, kind of what was typed); text(answer): lines of a file. answer: see ask.py.
 */
export function answerOf() {
  const given = el("span", { class: "tfe-ask-given" });
  const said = el("strong", { class: "tfe-ask-answer" });
  const mark = el("span", { class: "tfe-ask-mark" });
  const facts = el("p", { class: "tfe-ask-facts" });
  const beside = el("dl", { class: "tfe-ask-beside" });
  const node = el(
    "div",
    { class: "tfe-ask-result" },
    el("p", { class: "tfe-ask-said", "aria-live": "polite" }, given, said, mark),
    facts,
    beside,
  );
  const judged = (
    { right, expected, verdict: told },
  ) => (right === null
    ? ""
    : told
    ? t(told)
    : right
    ? t(TEXT.right)
    : t(TEXT.instead, { expected: written(expected) }));

  return {
    node,
    paint(answer, kind) {
      node.hidden = !answer;
      if (!answer) return;
      const { right } = answer;
      const turn = right === null ? "" : right ? "is-right" : "is-wrong";
      node.dataset.keyboard = kind;
      given.textContent = nameInvisible(answer.given);
      said.textContent = nameInvisible(written(answer.said));
      said.className = `tfe-ask-answer ${turn}`;
      said.classList.toggle("is-long", [...said.textContent].length > LONG);
      mark.hidden = right === null;
      mark.className = `tfe-ask-mark ${turn}`;
      mark.replaceChildren(
        el("span", { text: MARK[Boolean(right)], "aria-hidden": "true" }),
        ` ${judged(answer)}`,
      );
      facts.replaceChildren(
        ...answer.facts.map(([fact, meaning]) => el("span", { title: t(meaning), text: t(fact) })),
      );
      facts.hidden = !answer.facts.length;
      beside.setAttribute("aria-label", t(TEXT.beside));
      beside.hidden = !answer.beside.length;
      beside.replaceChildren(
        ...answer.beside.map((other) =>
          el(
            "div",
            {},
            el("dt", { text: t(other.name) }),
            el(
              "dd",
              { class: other.right ? "is-right" : "is-wrong" },
              el("b", { text: nameInvisible(written(other.answer)) }),
              ` ${MARK[other.right]} `,
              el("span", { text: verdict(other) }),
            ),
          )
        ),
      );
    },
    text: (answer) => [
      answer.given,
      `${t(TEXT.answer)}: ${written(answer.said)} ${
        answer.right === null ? "" : `${MARK[answer.right]} ${judged(answer)}`
      }`.trim(),
      ...(answer.facts.length ? [answer.facts.map(([fact]) => t(fact)).join(" · ")] : []),
      ...answer.beside
        .map((other) =>
          `${t(other.name)}: ${written(other.answer)} ${MARK[other.right]} ${verdict(other)}`
        ),
    ],
  };
}

// The sum that halts, worked out for one position: h_n, what they add up to, and what N, R, the output and the ponder cost come to.

import { el } from "./dom.js";
import { t } from "./lang.js";
import { TEXT, called, digits, edge } from "./ponderwords.js";

const SHOWN = 6; // terms of a sum that are written out; more are shortened in the middle

const sign = (name, below) => [el("i", { text: name }), below === undefined ? null : el("sub", { text: String(below) })];
const big = (name) => el("i", { text: name });

/** Terms with something between them, the middle ones left out where there are many. */
function joined(terms, between) {
  const kept = terms.length <= SHOWN ? terms : [...terms.slice(0, 3), ["…"], terms.at(-1)];
  return kept.flatMap((term, i) => (i ? [between, ...term] : term));
}

/** @returns {{node: HTMLElement, draw: (run: any, pos: number, step: number) => void}} */
export function sumOf() {
  const title = el("h3", { class: "tfe-title" });
  const which = el("span", { class: "tfe-units" });
  const body = el("tbody");
  const head = el("tr");
  const table = el("table", { class: "tfe-table tfe-ponder-sums" }, el("thead", {}, head), body);
  const lines = el("div", { class: "tfe-ponder-lines" });
  const node = el("section", { class: "tfe-ponder-sum" }, el("div", { class: "tfe-ponder-sumhead" }, title, which), el("div", { class: "tfe-ponder-sumbody" }, el("div", { class: "tfe-scroll" }, table), lines));

  function draw(run, pos, step) {
    const last = run.last[pos];
    const seen = Math.min(step, last);
    const before = Array.from({ length: last - 1 }, (_, i) => run.h(pos, i + 1));
    const rest = run.rest[pos];
    const d = run.forced ? 2 : digits(before, 1 - rest);
    const text = (value) => value.toFixed(d);
    title.textContent = t(TEXT.sum);
    which.replaceChildren(el("b", { class: "tfe-query", text: called(run, pos) }), `, ε = ${Math.round((1 - run.threshold) * 1e4) / 1e4}`);
    head.replaceChildren(...[sign("n"), sign("h", "n"), ["Σ ", ...sign("h")], sign("p", "n")].map((parts) => el("th", { scope: "col" }, parts)));
    body.replaceChildren(
      ...Array.from({ length: last }, (_, i) => {
        const n = i + 1;
        const told = n <= seen;
        const ends = n === last;
        const cells = told ? [text(run.h(pos, n)), text(run.sum(pos, n)), ends && !run.forced ? `R = ${text(rest)}` : text(run.p(pos, n))] : ["·", "·", "·"];
        return el(
          "tr",
          { class: [n === step ? "is-now" : "", told && ends ? "is-last" : "", told ? "" : "is-ahead"].filter(Boolean).join(" ") || null },
          el("th", { scope: "row", text: String(n) }),
          cells.map((cell) => el("td", { text: cell })),
        );
      }),
    );
    // Every position's table gets the room of the longest, so that nothing moves when another is looked at.
    node.style.setProperty("--rows", String(run.steps));
    lines.replaceChildren(...(seen < last ? onTheWay(run, pos, seen, text) : stopped(run, pos, before, rest, text)).map((parts) => el("p", {}, parts)));
  }

  return { node, draw };
}

function onTheWay(run, pos, seen, text) {
  if (run.forced) return [[t(TEXT.forcedSays, { n: run.forced, step: t(run.unit) })]];
  return [["Σ ", ...sign("h"), ` = ${text(run.sum(pos, seen))} < ${edge(run)}: ${t(TEXT.goesOn)}`]];
}

function stopped(run, pos, before, rest, text) {
  const last = run.last[pos];
  const why = run.reasons[pos];
  const N = el("b", { text: String(last) });
  const cost = [big("N"), " + ", big("R"), " = ", el("b", { class: "tfe-ponder-cost", text: text(last + rest) }), ` ${t(TEXT.cost)}`];
  if (why === "forced") return [[big("N"), " = ", N, `, ${t(TEXT.forcedSays, { n: run.forced, step: t(run.unit) })}`], [t(TEXT.output), " = ", ...sign("s", last)], cost];
  const first =
    why === "limit"
      ? [big("N"), " = ", big("M"), " = ", N, `, Σ `, ...sign("h"), ` = ${text(run.sum(pos, last))} < ${edge(run)}: ${t(TEXT.limitSays)}`]
      : [big("N"), " = min { ", big("n"), " : Σ ", ...sign("h"), ` ≥ ${edge(run)} } = `, N];
  const terms = before.map((h) => [text(h)]);
  const remainder = [big("R"), " = 1", ...(terms.length ? [terms.length > 1 ? " − (" : " − ", ...joined(terms, " + "), terms.length > 1 ? ")" : "", " = "] : [" − 0 = "]), el("b", { text: text(rest) })];
  const weighed = [...before, rest].map((p, i) => [`${text(p)} `, ...sign("s", i + 1)]);
  return [first, remainder, [t(TEXT.output), " = ", ...joined(weighed, " + ")], cost];
}

// Every position thinks for as long as it needs: its steps as blocks, its halting probability
// adding up to 1 − ε, the rest of it for the last step, and what the answer would be if all stopped
// now. Short positions stand side by side, sentences one below the other, a single position lies on
// its side. The value is made by explorer/figures/ponder.py.

import { filed, upTo } from "../lib/arrays.js";
import { el } from "../lib/dom.js";
import { t } from "../lib/lang.js";
import { rounded, shown } from "../lib/signs.js";
import { arrangement, figure, legend, pick } from "./ponder_figure.js";
import { called, edge, say, sentence, TEXT } from "./ponder_words.js";

const CROWD = 26; // positions side by side above which the sum stands below the figure
const LONG = 12; // signs above which answers stand one below the other
const TERMS = 6; // of a sum that are written out; more are shortened in the middle

export function read(value, { texts }) {
  if (!value.positions?.length) return null;
  const { remainder, halting, weights, totals, distance } = value;
  const arrays = { remainder, halting, weights, totals, distance };
  const count = value.positions.length;
  const at = (name) => (p, n) => arrays[name].data[(n - 1) * count + p];
  const label = (
    text,
  ) => (text.trim()
    ? text.split(" ").map((word) => (word ? shown(word) : "␣")).join(" ")
    : shown(text));
  const run = {
    ...value,
    arrays,
    count,
    steps: value.stopped.length,
    last: value.steps,
    rest: arrays.remainder.data,
    unit: texts.step,
    labels: value.positions.map(label),
    threshold: rounded(value.threshold, 6),
    farthest: Math.max(...arrays.distance.data),
    h: at("halting"),
    p: at("weights"),
    far: at("distance"),
    /** h_1 + … + h_n as the halting unit gave them, also beyond 1 − ε. */
    sum: (p, n) => upTo(n, (i) => run.h(p, i + 1)).reduce((a, b) => a + b, 0),
    /**
     * What stands at a position: where it waits for a sign of the answer, the sign that it would
     * give after a step.
     */
    given(p, step) {
      const place = value.signs && value.positions[p] === "_" ? value.wanted.indexOf(p) : -1;
      const said = value.stopped[step - 1].answer;
      if (place < 0 || typeof said !== "string") return run.labels[p];
      const lead = value.wanted.length - Array.from(said).length; // leading zeros of a sum are not said
      return place < lead ? "0" : shown(Array.from(said)[place - Math.max(0, lead)] ?? "_");
    },
  };
  return run;
}

// ── what the answer would be, and the sum worked out ──
/** Wrong signs are told apart where every sign has a place of its own. */
export function below(run, look, lock) {
  const expected = Array.from(t(run.expected));
  const listed = run.stopped.some(({ answer }) => Array.from(t(answer)).length > LONG);
  const kind = listed ? " is-list" : run.steps > 8 ? " is-many" : "";
  const unseen = kind === " is-many" ? " tfe-unseen" : "";
  const chips = run.stopped.map(({ answer, right }, i) => {
    const letters = Array.from(t(answer));
    const apart = run.signs && !right && letters.length === expected.length;
    const off = letters.filter((letter, k) => letter !== expected[k]).length;
    const verdict = say(run, right ? "right" : apart ? "wrongSigns" : "wrong", {
      n: off,
      of: letters.length,
    });
    const text = apart
      ? letters.map((
        letter,
        k,
      ) => (letter === expected[k] ? letter : el("b", { class: "off", text: letter })))
      : letters.join("");
    const after = el(
      "span",
      { class: "after" },
      el("span", { class: `long${unseen}`, text: say(run, "chip", { n: i + 1 }) }),
      el("span", { class: "brief", "aria-hidden": "true", text: String(i + 1) }),
    );
    const sign = el(
      "span",
      { class: "verdict" },
      right ? "✓" : "✗",
      el("span", { class: `said${unseen}`, text: ` ${verdict}` }),
    );
    const here = i + 1 === look.step ? "step" : null;
    return el(
      "li",
      {},
      el(
        "button",
        {
          type: "button",
          class: `tfe-ponder-chip ${right ? "is-right" : "is-wrong"}`,
          "aria-current": here,
          onclick: () => lock({ step: i + 1 }),
        },
        after,
        el("bdi", { class: "answer" }, text),
        sign,
      ),
    );
  });
  return [
    el(
      "div",
      { class: "tfe-ponder-stops" },
      el("p", { class: "tfe-label", text: say(run, "chips") }),
      el("ol", { class: `tfe-ponder-chips${kind}` }, chips),
    ),
  ];
}

const sign = (
  name,
  under,
) => [el("i", { text: name }), under === undefined ? null : el("sub", { text: String(under) })];

/** Terms with something between them, the middle ones left out where there are many. */
const joined = (terms, between) =>
  (terms.length <= TERMS ? terms : [...terms.slice(0, 3), ["…"], terms.at(-1)])
    .flatMap((term, i) => (i ? [between, ...term] : term));

/** How many digits make a sum of these numbers come out as printed; four at the most. */
const digits = (parts, total) =>
  [2, 3].find((d) =>
    parts.reduce((all, part) => all + Number(part.toFixed(d)), 0)
      .toFixed(d) === total.toFixed(d)
  ) ?? 4;

export function beside(run, { pos, step }) {
  const last = run.last[pos];
  const seen = Math.min(step, last);
  const before = upTo(last - 1, (i) => run.h(pos, i + 1));
  const d = run.forced ? 2 : digits(before, 1 - run.rest[pos]);
  const text = (value) => value.toFixed(d);
  const rows = upTo(last, (i) => {
    const [n, told, ends] = [i + 1, i < seen, i + 1 === last];
    const cells = told
      ? [
        text(run.h(pos, n)),
        text(run.sum(pos, n)),
        ends && !run.forced ? `R = ${text(run.rest[pos])}` : text(run.p(pos, n)),
      ]
      : ["·", "·", "·"];
    return el(
      "tr",
      { class: `${n === step ? "is-now " : ""}${told ? (ends ? "is-last" : "") : "is-ahead"}` },
      el("th", { scope: "row", text: String(n) }),
      cells.map((cell) => el("td", { text: cell })),
    );
  });
  const head = [sign("n"), sign("h", "n"), ["Σ ", ...sign("h")], sign("p", "n")]
    .map((parts) => el("th", { scope: "col" }, parts));
  const lines = seen < last
    ? [
      run.forced ? [say(run, "forcedSays", { n: run.forced })] : [
        "Σ ",
        ...sign("h"),
        ` = ${text(run.sum(pos, seen))} < ${edge(run)}: ${say(run, "goesOn")}`,
      ],
    ]
    : worked(run, pos, before, text);
  return [
    el(
      "div",
      { class: "tfe-ponder-sumhead" },
      el("h3", { class: "tfe-title", text: say(run, "sum") }),
      el(
        "span",
        { class: "tfe-units" },
        el("b", { class: "tfe-query", text: called(run, pos) }),
        `, ε = ${rounded(1 - run.threshold)}`,
      ),
    ),
    // The table of every position gets the room of the longest, so that nothing moves when another
    // one is looked at.
    el(
      "div",
      { class: "tfe-ponder-sumbody" },
      el(
        "div",
        { class: "tfe-scroll", style: { minHeight: `${28 + 25 * run.steps}px` } },
        el(
          "table",
          { class: "tfe-table tfe-ponder-sums" },
          el("thead", {}, el("tr", {}, head)),
          el("tbody", {}, rows),
        ),
      ),
      el("div", { class: "tfe-ponder-lines" }, lines.map((parts) => el("p", {}, parts))),
    ),
  ];
}

function worked(run, pos, before, text) {
  const [last, rest, why] = [run.last[pos], run.rest[pos], run.reasons[pos]];
  const N = [...sign("N"), " = "];
  const count = el("b", { text: String(last) });
  const cost = [
    ...sign("N"),
    " + ",
    ...sign("R"),
    " = ",
    el("b", { class: "tfe-ponder-cost", text: text(last + rest) }),
    ` ${say(run, "cost")}`,
  ];
  if (why === "forced") {
    return [[...N, count, `, ${say(run, "forcedSays", { n: run.forced })}`], [
      say(run, "output"),
      " = ",
      ...sign("s", last),
    ], cost];
  }
  const first = why === "limit"
    ? [
      ...N,
      ...sign("M"),
      " = ",
      count,
      ", Σ ",
      ...sign("h"),
      ` = ${text(run.sum(pos, last))} < ${edge(run)}: ${say(run, "limitSays")}`,
    ]
    : [...N, "min { ", ...sign("n"), " : Σ ", ...sign("h"), ` ≥ ${edge(run)} } = `, count];
  const terms = joined(before.map((h) => [text(h)]), " + ");
  const left = [
    ...sign("R"),
    " = 1 − ",
    ...(before.length > 1 ? ["(", ...terms, ")"] : before.length ? terms : ["0"]),
    " = ",
    el("b", { text: text(rest) }),
  ];
  return [first, left, [
    say(run, "output"),
    " = ",
    ...joined([...before, rest].map((p, i) => [`${text(p)} `, ...sign("s", i + 1)]), " + "),
  ], cost];
}

// ── in numbers ──
export function table(run, { pos, step }) {
  const rows = run.labels.flatMap((label, p) =>
    upTo(
      run.last[p],
      (
        i,
      ) => [
        label,
        p,
        i + 1,
        rounded(run.h(p, i + 1)),
        rounded(run.sum(p, i + 1)),
        rounded(run.p(p, i + 1)),
        rounded(run.far(p, i + 1)),
        run.last[p],
        rounded(run.rest[p]),
        say(run, run.reasons[p]),
      ],
    )
  );
  const columns = [
    t(run.axis),
    say(run, "index"),
    "n",
    "hₙ",
    "Σh",
    "pₙ",
    "‖sₙ − s_N‖/√d",
    "N",
    "R",
    say(run, "why"),
  ];
  return {
    caption: say(run, "table"),
    columns,
    rows,
    here: rows.findIndex(([, p, n]) => p === pos && n === Math.min(step, run.last[pos])),
  };
}

export function arrays(run) {
  const whole = (data) => ({ shape: [data.length], data: Int32Array.from(data) });
  const units = {
    halting: "h_n",
    weights: "p_n",
    totals: "h_1 + … + h_n, at most 1",
    distance: "‖s_n − s_N‖/√d",
  };
  return {
    positions: run.positions,
    wanted: whole(run.wanted),
    marks: whole(run.marks),
    steps: whole(run.last),
    remainder: { shape: [run.count], data: run.rest },
    stopped: run.stopped.map(({ answer }) => t(answer)),
    ...Object.fromEntries(
      Object.entries(units).map((
        [name, unit],
      ) => [
        name,
        filed(run.arrays[name].data, ["step", "position"], unit, run.arrays[name].shape),
      ]),
    ),
    threshold: { shape: [1], data: Float64Array.of(run.threshold) },
    limit: whole([run.limit]),
    forced: whole([run.forced]),
  };
}

export const looks = { pos: "position", step: "step", far: "flag" };
export const bounds = (run) => ({
  pos: { count: run.count, pick: run.pick },
  step: { steps: run.steps },
});
export const wide = (run) => arrangement(run) === "columns" && run.count > CROWD;
export const units = (
  run,
) => (run.forced
  ? say(run, "unitsForced", { n: run.forced })
  : say(run, "units", { edge: edge(run) }));
export const choices = (run) => [{ key: "far", label: say(run, "farther") }];
export const clock = (run) => ({
  says: (n) => say(run, "count", { n, of: run.steps }),
  texts: Object.fromEntries(
    ["start", "before", "after", "seek"].map((name) => [name, say(run, name)]),
  ),
});
export const same = (was, run) => was.positions.join("\n") === run.positions.join("\n");
export { figure, legend, pick, sentence, TEXT };

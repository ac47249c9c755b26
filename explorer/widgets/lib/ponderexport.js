// What a visitor takes along from the ponder widget: the figure, a page that replays its steps with no network, and the numbers.

import { blob, csv, fileName, footLines, npz, page, save, wrap } from "./export.js";
import { el } from "./dom.js";
import { t } from "./lang.js";
import { escape, resolve } from "./plot.js";
import { plain, sentence } from "./ponderwords.js";

const digits = (value) => Math.round(value * 1e4) / 1e4;

/** Rows of everything that was counted: one for each position and step that it took. */
function rowsOf(run, say) {
  const head = [t(run.axis), say("tableIndex"), "n", "hₙ", "Σh", "pₙ", "‖sₙ − s_N‖/√d", "N", "R", say("tableWhy")];
  const rows = run.labels.flatMap((label, p) =>
    Array.from({ length: run.last[p] }, (_, i) => [label, p, i + 1, digits(run.h(p, i + 1)), digits(run.sum(p, i + 1)), digits(run.p(p, i + 1)), digits(run.far(p, i + 1)), run.last[p], digits(run.rest[p]), say(run.reasons[p])]),
  );
  return { head, rows };
}

/** The table under the figure. */
export function drawTable(sheet, run, say) {
  const { head, rows } = rowsOf(run, say);
  sheet.setAttribute("aria-label", say("table"));
  sheet.replaceChildren(
    el(
      "table",
      { class: "tfe-table" },
      el("caption", { class: "tfe-note", text: say("table") }),
      el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col", text })))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) => el(i ? "td" : "th", { scope: i ? null : "row", class: typeof cell === "string" ? "text" : null, text: String(cell) }))))),
    ),
  );
}

/** The figure with its title above, its sentence and where it comes from below. */
function portable({ now, title, units, words, made, width }) {
  const { figure, where } = made(now.step, Math.max(640, Math.min(1100, width)), 0, false);
  const side = 24;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "14px sans-serif";
  const below = wrap(pen, words, (where.width - 8) / 1.12); // the fonts of another machine may run wider
  const from = footLines((where.width - 8) / 1.12);
  const [top, bottom] = [70, 48 + 20 * below.length + 18 * from.length];
  const { layout } = figure;
  layout.width = where.width + 2 * side;
  layout.height = where.height + top + bottom;
  layout.margin = { l: side, r: side, t: top, b: bottom };
  layout.paper_bgcolor = "var(--panel)";
  const line = { xref: "paper", yref: "paper", x: 0, xanchor: "left", showarrow: false, align: "left" };
  layout.annotations = [
    { ...line, y: 1, yanchor: "bottom", yshift: 34, text: `<b>${escape(title)}</b>`, font: { size: 16, color: "var(--ink)" } },
    { ...line, y: 1, yanchor: "bottom", yshift: 14, text: escape(units), font: { size: 13, color: "var(--ink3)" } },
    { ...line, y: 0, yanchor: "top", yshift: -14, text: below.map(escape).join("<br>"), font: { size: 14, color: "var(--ink)" } },
    { ...line, y: 0, yanchor: "top", yshift: -28 - 20 * below.length, text: from.map(escape).join("<br>"), font: { size: 12, color: "var(--ink3)" } },
  ];
  return figure;
}

/** @param {{state: () => any, picture: any, plotly: string}} how state: what is looked at, null while there is nothing */
export function exporters({ state, picture, plotly }) {
  const name = ({ now, step }, ending) => fileName(["ponder", `pos ${now.pos}`, `${step} ${now.step}`], ending);
  const having = (make) => async () => {
    const now = state();
    if (now) await make(now);
  };
  const image = (format) =>
    having(async (now) => {
      const figure = portable(now);
      const { width, height } = figure.layout;
      save(name(now, format), blob(await picture.image(figure, { format, width, height, scale: format === "png" ? 2 : 1 })));
    });

  async function replay(now) {
    const { run, made, title, units } = now;
    const width = Math.max(640, Math.min(1100, now.width));
    const drawn = (step) => {
      const { figure } = made(step, width, 0, false);
      figure.layout.margin.t = 30; // room for Plotly's own buttons
      figure.layout.height += 30;
      return resolve({ data: figure.data, layout: figure.layout, words: plain(sentence(run, { ...now.now, step })) });
    };
    const choices = Array.from({ length: run.steps }, (_, i) => [String(i + 1), drawn(i + 1)]);
    const text = await page({
      address: plotly,
      figure: choices[now.now.step - 1][1],
      title: `${title} · ${units}`,
      sentence: now.words,
      more: { label: now.step, choices, chosen: String(now.now.step), script: 'Plotly.react(node, choice.data, choice.layout); document.querySelector(".words").textContent = choice.words;' },
    });
    save(name(now, "html"), text, "text/html");
  }

  function numbers({ run, value }) {
    const whole = (list) => ({ shape: [list.length], data: Int32Array.from(list) });
    return npz({
      positions: value.positions,
      wanted: whole(run.wanted),
      marks: whole(run.marks),
      steps: whole(run.last),
      remainder: { shape: [run.count], data: run.raw.remainder.data },
      ...Object.fromEntries(["halting", "weights", "totals", "distance"].map((each) => [each, { shape: run.raw[each].shape, data: run.raw[each].data }])),
      stopped: run.stopped.map(({ answer }) => t(answer)),
      threshold: { shape: [1], data: Float64Array.of(run.threshold) },
      limit: whole([run.limit]),
      forced: whole([run.forced]),
    });
  }

  return {
    PNG: image("png"),
    SVG: image("svg"),
    HTML: having(replay),
    CSV: having((now) => {
      const { head, rows } = rowsOf(now.run, now.say);
      save(name(now, "csv"), csv([head, ...rows]), "text/csv");
    }),
    NPZ: having((now) => save(name(now, "npz"), numbers(now))),
  };
}

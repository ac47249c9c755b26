// A Plotly figure with everything a figure needs around it: title and units, legend in words,
// sentence, table, exports.

import { clear, el, onPage } from "../lib/dom.js";
import { blob, csv, exportBar, fileName, npz, page, save } from "../lib/export.js";
import { fitted, hallScale, tallest } from "../lib/keys.js";
import { lang, onLang, t } from "../lib/lang.js";
import { Pen, WIDE } from "../lib/pen.js";
import { escape, plot, resolve } from "../lib/plot.js";
import { source } from "../lib/source.js";
import { columnsOf, tableOf } from "../lib/tables.js";

const TEXT = {
  figure: { en: "Figure: {title}", zh: "图：{title}" },
};

const BIG = 1.7; // 12 pixels become 20 in the projector
const MOST = 40; // cells of a map that have room for a number of that size

/**
 * Hides the card around a figure that has nothing to show, and its column where no other card
 * stands in it.
 */
function hideCard(root, hidden) {
  const empty = "is-without-figure", block = root.closest(".block"), column = block?.parentElement;
  root.classList.toggle(empty, hidden);
  if (!column?.closest(".tfe-bench")) return;
  block.classList.toggle(empty, hidden);
  if (column.matches(".tfe-bench")) {
    column.classList.toggle(
      empty,
      [...column.children].every((one) => one.classList.contains(empty)),
    );
  }
}

/**
 * @param {import("../border.d.ts").FigureProps & {value?: any}} props
 */
export function mount(root, props, _emit, watch) {
  // the curve stands right below the page's name
  const title = el(props.main || root.closest(".tfe-card-curve") ? "h2" : "h3", {
    class: "tfe-title",
  });
  const units = el("span", { class: "tfe-units" });
  const legend = el("div", { class: "tfe-legend" });
  const board = el("div", { class: "tfe-figure-plot" });
  const frame = el("div", { class: "tfe-figure-frame", role: "img" }, board);
  const words = el("p", { class: "tfe-words" });
  const note = el("p", { class: "tfe-note tfe-controls tfe-figure-note" });
  const sheet = el("div", {
    class: "tfe-figure-table tfe-scroll",
    tabindex: "0",
    role: "region",
    hidden: true,
  });
  const exports = exportBar(
    {
      PNG: () => picture("png"),
      SVG: () => picture("svg"),
      HTML: savePage,
      CSV: saveCsv,
      NPZ: saveNpz,
    },
    {
      onTable: (open) => {
        sheet.hidden = !open;
        if (open) drawTable();
      },
    },
  );
  const panel = el(
    "figure",
    { class: "tfe-figure-body" },
    el("div", { class: "tfe-figure-head" }, title, units, legend),
    frame,
    words,
    note,
    el("div", { class: "tfe-controls" }, exports),
    sheet,
  );
  root.classList.add("tfe-projectable");
  root.append(panel);

  let [room, high] = [0, 0];
  const highest = () => tallest(board, words.offsetHeight + 24);
  const picture_ = plot(board, props.plotly);

  const projected = () =>
    root.classList.contains("tfe-projected") &&
    document.body.classList.contains("tfe-projecting");

  /** The figure of this language in the room there is. */
  function sized(width, height, value = props.value) {
    const { figures } = value;
    const figure = structuredClone({ ...figures.en, ...figures[lang()] }); // what both languages share comes once
    const big = projected();
    const [letters, more] = [20, BIG].map((one) => one * hallScale());
    figure.layout = { ...figure.layout, width, height, autosize: false, uirevision: value.name };
    if (big) {
      const grow = (axis, sideways) => ({
        ...axis,
        tickfont: { ...axis?.tickfont, size: letters },
        title: {
          ...axis?.title,
          font: { ...axis?.title?.font, size: letters },
          text: sideways
            ? within(
              axis.title?.text,
              (0.75 * width * ((axis.domain?.[1] ?? 1) - (axis.domain?.[0] ??
                0)) *
                20) / letters,
            )
            : axis?.title?.text,
        },
      });
      figure.layout.font = { ...figure.layout.font, size: letters };
      for (const key of Object.keys(figure.layout)) {
        if (/^[xy]axis\d*$/.test(key)) {
          figure.layout[key] = grow(figure.layout[key], key[0] === "x");
        }
      }
      for (const note of figure.layout.annotations ?? []) {
        Object.assign(note, {
          font: { ...note.font, size: letters },
          xshift: (note.xshift ?? 0) * more,
          yshift: (note.yshift ?? 0) * more,
        });
      }
      const { margin, meta } = figure.layout;
      // the first group of its rows alone
      if (meta?.first && height < more * value.height) figure.layout.yaxis.range = [meta.first, 0];
      for (const [n, [x, y]] of (meta?.hall ?? []).entries()) { // maps that stand elsewhere before a hall
        figure.layout[`xaxis${n ? n + 1 : ""}`].domain = x;
        figure.layout[`yaxis${n ? n + 1 : ""}`].domain = y;
        Object.assign(figure.layout.annotations[n], { x: (x[0] + x[1]) / 2, y: y[1] });
      }
      // what stands outside of the axes needs as much more room
      if (
        figure.layout.annotations?.length ||
        figure.data.some(({ cliponaxis }) => cliponaxis === false)
      ) {
        figure.layout.margin = {
          ...margin,
          l: (margin?.l ?? 12) * more,
          r: (margin?.r ?? 12) * more,
          t: (margin?.t ?? 12) * more,
        };
      }
      spread(figure.layout, height);
      for (const trace of figure.data) {
        if (trace.line?.width) trace.line.width = Math.max(3, trace.line.width);
        // the hall could not read them
        if (trace.texttemplate && trace.z.length * trace.z[0].length > MOST) {
          trace.texttemplate = "";
        } else if (trace.texttemplate || trace.text) {
          trace.textfont = { ...trace.textfont, size: letters };
        }
        if (trace.type === "bar") trace.constraintext = "none";
      }
    }
    return figure;
  }

  /** The title of an axis, in two lines where `room` px do not hold it. */
  function within(text, room) {
    const middle = text?.lastIndexOf(" ", text.length / 2 + 4);
    return text?.length * 10 > room && middle > 0
      ? `${text.slice(0, middle)}<br>${text.slice(middle + 1)}`
      : text;
  }

  /** Names at the ends of lines keep apart by their larger letters. */
  function spread({ annotations = [], yaxis }, height) {
    const [low, high] = yaxis?.range ?? [0, 0];
    const least = (26 * hallScale() * (high - low)) / Math.max(1, height - 90);
    const ends = annotations.filter(({ xanchor, xref, yref }) =>
      xanchor === "left" && xref === "x" && yref === "y"
    )
      .sort((a, b) => a.x - b.x || a.y - b.y);
    for (let pass = 0; pass < 40; pass += 1) {
      for (let i = 1; i < ends.length; i += 1) {
        const short = ends[i].x === ends[i - 1].x ? least - (ends[i].y - ends[i - 1].y) : 0;
        if (short > 0) {
          [ends[i - 1].y, ends[i].y] = [ends[i - 1].y - short / 2, ends[i].y + short / 2];
        }
      }
    }
  }

  function draw() {
    const { value } = props;
    panel.hidden = !value?.figures; // {}: this run has nothing to show
    hideCard(root, panel.hidden);
    if (panel.hidden) return;
    title.textContent = t(value.title);
    units.textContent = t(value.units);
    words.textContent = t(value.sentence);
    fitted(words);
    note.textContent = value.note?.en ? t(value.note) : "";
    note.hidden = !value.note?.en;
    frame.setAttribute(
      "aria-label",
      `${t(TEXT.figure, { title: t(value.title) })}${
        /[?？]$/.test(t(value.title)) ? "" : lang() === "zh" ? "。" : "."
      } ${t(value.sentence)}`,
    );
    clear(legend).append(
      ...value.legend.map((mark) =>
        el(
          "span",
          {},
          el("span", {
            class: mark.dashed ? "line dashed" : "line",
            style: { color: mark.colour },
          }),
          el("span", { text: t(mark.text) }),
        )
      ),
    );
    if (!sheet.hidden) drawTable();
    room = Math.round(frame.clientWidth);
    if (!room) return;
    const height = projected() ? highest() : value.height;
    high = height;
    board.style.height = `${height}px`;
    picture_.draw(() => sized(room, height, value)).then(() => {
      root.dataset.drawn = value.name;
    });
  }

  /** The table with its texts as one reads them. */
  function tableIn(of) {
    const { columns, rows } = props.value.table;
    const cell = (one) => (typeof one === "number" || one === null ? one : of(one));
    return {
      caption: t(props.value.title),
      columns: columns.map(of),
      rows: rows.map((row) => row.map(cell)),
    };
  }

  function drawTable() {
    sheet.setAttribute("aria-label", t(props.value.title));
    sheet.replaceChildren(tableOf(tableIn(t), Infinity));
  }

  /**
   * For leaving the page: the figure with its title above, its sentence and where it comes from
   * below.
   */
  function portable() {
    const { value } = props;
    const width = Math.max(640, Math.min(960, room || 640));
    const lines = (text, size) => new Pen({ width }).lines(text, (width - 24) / WIDE, { size });
    const [said, from] = [lines(t(value.sentence), 14), lines(source(), 12)];
    const below = 20 + 20 * said.length + 12 + 18 * from.length;
    const figure = sized(width, value.height + 34 + below);
    const margin = figure.layout.margin ?? {};
    const { l, b } = picture_.margins() ?? { l: margin.l ?? 48, b: margin.b ?? 40 };
    figure.layout.margin = { ...margin, t: (margin.t ?? 12) + 34, b: (margin.b ?? 40) + below };
    const line = {
      xref: "paper",
      yref: "paper",
      x: 0,
      xanchor: "left",
      xshift: 12 - l,
      showarrow: false,
      align: "left",
    };
    const foot = { ...line, y: 0, yanchor: "top" };
    figure.layout.annotations = [
      ...(figure.layout.annotations ?? []),
      {
        ...line,
        y: 1,
        yanchor: "bottom",
        yshift: 10,
        text: `<b>${escape(t(value.title))}</b> ${escape(t(value.units))}`,
        font: { size: 15, color: "var(--ink)" },
      },
      {
        ...foot,
        yshift: -b - 6,
        text: said.map(escape).join("<br>"),
        font: { size: 14, color: "var(--ink)" },
      },
      {
        ...foot,
        yshift: -b - 18 - 20 * said.length,
        text: from.map(escape).join("<br>"),
        font: { size: 12, color: "var(--ink3)" },
      },
    ];
    return figure;
  }

  async function picture(format) {
    const figure = portable();
    const { width, height } = figure.layout;
    save(
      fileName([props.value.name], format),
      blob(
        await picture_.image(figure, { format, width, height, scale: format === "png" ? 2 : 1 }),
      ),
    );
  }

  async function savePage() {
    const { value } = props;
    const figure = resolve(sized(Math.max(640, Math.min(960, room || 640)), value.height));
    const text = await page({
      address: props.plotly,
      figure,
      title: t(value.title),
      sentence: t(value.sentence),
    });
    save(fileName([value.name], "html"), text, "text/html");
  }

  function saveCsv() {
    const { columns, rows } = tableIn(t);
    save(
      fileName([props.value.name], "csv"),
      csv([columns, ...rows.map((row) => row.map((cell) => cell ?? ""))]),
      "text/csv",
    );
  }

  function saveNpz() {
    save(fileName([props.value.name], "npz"), npz(columnsOf(tableIn((text) => text.en ?? text))));
  }

  new ResizeObserver(() => {
    const next = Math.round(frame.clientWidth);
    if (next && next !== room) draw();
  }).observe(frame);
  onPage(projected, () => requestAnimationFrame(draw));
  addEventListener("resize", () => projected() && highest() !== high && draw());
  onLang(draw);
  watch("value", draw);
  draw();
}

// The memory meter of the relative term: three ways on one scale of bytes, with knobs for the sizes, and what was measured beside them.

import { el, svg } from "./lib/dom.js";
import { leaving } from "./lib/drawing.js";
import { csv, exportBar, fileName, save } from "./lib/export.js";
import { folded } from "./lib/folded.js";
import { onLang, t } from "./lib/lang.js";
import { bytes, needed } from "./lib/memorysizes.js";
import { view } from "./lib/state.js";
import { onTheme } from "./lib/theme.js";

const TITLE = { en: "How much memory does the relative term take?", zh: "相对位置项要占多少内存？" };
const TEXT = {
  question: { en: "What does one layer’s relative term take in memory?", zh: "一层的相对位置项要占多少内存？" },
  units: { en: "bytes, each line ten times the one before", zh: "字节，每条线是前一条的十倍" },
  length: { en: "length L", zh: "长度 L" },
  width: { en: "width D", zh: "宽度 D" },
  heads: { en: "heads", zh: "头数" },
  paper: { en: "Sizes of the paper", zh: "论文中的大小" },
  direct: { en: "direct formula", zh: "直接公式" },
  skew: { en: "skewing", zh: "倾斜变换" },
  ours: { en: "here, in blocks", zh: "本程序，分块" },
  counted: { en: "the embeddings alone, as the paper counts", zh: "只算嵌入，如论文所算" },
  with: { en: "with Q Eᵣᵀ", zh: "连同 Q Eᵣᵀ" },
  measured: { en: "measured: peak of a whole pass at the paper’s sizes", zh: "实测：论文大小下整个前向过程的峰值" },
  way: { en: "way", zh: "方法" },
  formula: { en: "bytes", zh: "字节公式" },
  makes: { en: "takes", zh: "占用" },
  perHead: { en: "of it per head", zh: "其中每个头" },
  peak: { en: "peak, measured", zh: "实测峰值" },
  time: { en: "time, measured", zh: "实测时间" },
  ms: { en: "{n} ms", zh: "{n} 毫秒" },
  say: {
    en: "At L = {length} and D = {width} the direct formula’s R takes {direct} in each layer. Skewing needs only Eᵣ, {table}: {times} times less, once for every position. Twice the length makes R four times as large and Eᵣ twice.",
    zh: "当 L = {length}、D = {width} 时，直接公式的 R 在每层占 {direct}。倾斜变换只需要 Eᵣ，占 {table}，只有 {times} 分之一，即 L 分之一。长度加倍，R 变成四倍，Eᵣ 变成两倍。",
  },
  stored: {
    en: " Stored from a measurement ({device}, {threads} threads): attention’s whole forward pass peaks at {direct}, {skew} and {ours}, its result included.",
    zh: "实测记录（{device}，{threads} 个线程）：注意力整个前向过程的峰值分别为 {direct}、{skew} 和 {ours}，包括其结果。",
  },
  unmeasured: { en: " This copy holds no measurement.", zh: "这份程序没有附带实测结果。" },
};
const WAYS = ["direct", "skew", "ours"];
const FORMULAS = { direct: "4 · L² · D", skew: "4 · L · D + 4 · heads · L²", ours: "4 · L · D + 4 · {some} · {rows} · L" };
const FIELDS = ["length", "width", "heads"];
const [LEAST, MOST] = [1e4, 1e13]; // bytes at the ends of the axis
const FONT = '"Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const whole = (number) => number.toLocaleString("en-US");

/** props, value and event: see meter.py. */
export function mount(root, props, emit, watch) {
  let value = null;
  let room = 0;

  const knobs = Object.fromEntries(
    FIELDS.map((field) => {
      const id = `tfe-meter-${field}`;
      const input = el("input", { id, class: "tfe-range", type: "range", min: "0", max: String(props.sizes[field].length - 1), step: "1", "data-field": field });
      input.addEventListener("input", () => {
        const size = props.sizes[field][Number(input.value)];
        view.set({ [`m${field}`]: size === value?.at[field] ? null : size });
      });
      return [field, { input, label: el("label", { class: "tfe-label", for: id }), output: el("output", { for: id }) }];
    }),
  );
  const paper = el("button", { type: "button", class: "tfe-button small", onclick: () => view.set(Object.fromEntries(FIELDS.map((field) => [`m${field}`, null]))) });
  const settings = el("div", { class: "tfe-meter-knobs tfe-controls" }, ...FIELDS.map((field) => el("span", { class: "tfe-meter-knob" }, knobs[field].label, knobs[field].input, knobs[field].output)), paper);
  const title = el("h3", { class: "tfe-title" });
  const units = el("span", { class: "tfe-units" });
  const legend = el("span", { class: "tfe-legend" });
  const board = el("div", { class: "tfe-meter-board" });
  const words = el("p", { class: "tfe-words", "aria-live": "polite" });
  const sheet = el("div", { class: "tfe-scroll tfe-controls", tabindex: "0", role: "region" });
  const now = () => (value ? { drawing: board.firstChild, title: title.textContent, sentence: words.textContent, name: ["memory"], more: table() } : null);
  const exports = exportBar({ ...leaving(now), CSV: saveCsv });
  const figure = el("figure", { class: "tfe-meter-figure tfe-projectable" }, el("div", { class: "tfe-row" }, title, units), settings, legend, board, words, sheet, el("div", { class: "tfe-controls" }, exports));
  const panel = folded({ root, key: "meter", title: TITLE, body: [figure], props, watch, emit, draw: take });

  function take(next) {
    value = next;
    draw();
  }

  /** The sizes as the knobs stand, from the address. */
  function size() {
    return Object.fromEntries(FIELDS.map((field) => {
      const asked = Number(view.get(`m${field}`));
      return [field, props.sizes[field].includes(asked) ? asked : value.at[field]];
    }));
  }

  const total = (parts) => Object.values(parts).reduce((sum, part) => sum + part, 0);
  const projected = () => document.body.classList.contains("tfe-projecting") && figure.classList.contains("tfe-projected");

  function draw() {
    if (!value || !panel.opened()) return;
    const sizes = size();
    const parts = needed(sizes, value);
    for (const field of FIELDS) {
      const { input, label, output } = knobs[field];
      label.textContent = t(TEXT[field]);
      input.value = String(props.sizes[field].indexOf(sizes[field]));
      input.style.setProperty("--at", `${(Number(input.value) / Number(input.max)) * 100}%`);
      output.textContent = whole(sizes[field]);
      input.setAttribute("aria-valuetext", output.textContent);
    }
    paper.textContent = t(TEXT.paper);
    paper.disabled = FIELDS.every((field) => sizes[field] === value.at[field]);
    title.textContent = t(TEXT.question);
    figure.dataset.question = t(TEXT.question);
    units.textContent = t(TEXT.units);
    legend.replaceChildren(
      ...["counted", "with", ...(value.measured ? ["measured"] : [])].map((name) => el("span", {}, el("span", { class: `tfe-meter-mark ${name}` }), el("span", { text: t(TEXT[name]) }))),
    );
    const said = t(TEXT.say, { length: whole(sizes.length), width: whole(sizes.width), direct: bytes(parts.direct.pairs), table: bytes(parts.skew.table), times: whole(sizes.length) });
    const { measured } = value;
    const peaks = measured ? Object.fromEntries(WAYS.map((way) => [way, bytes(measured.peaks[way])])) : {};
    words.textContent = said + (measured ? t(TEXT.stored, { ...peaks, device: measured.device, threads: measured.threads }) : t(TEXT.unmeasured));
    drawBoard(parts);
    const [head, ...rows] = table();
    sheet.setAttribute("aria-label", t(TEXT.question));
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table tfe-meter-table" },
        el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col", text: cell })))),
        el("tbody", {}, rows.map((row, at) => el("tr", { "data-way": WAYS[at] }, row.map((cell, i) => el(i ? "td" : "th", { scope: i ? null : "row", class: i === 1 ? "text" : null, text: cell }))))),
      ),
    );
    root.dataset.drawn = FIELDS.map((field) => sizes[field]).join(" ");
  }

  function drawBoard(parts) {
    room = Math.round(board.clientWidth);
    if (!room) return;
    const big = projected();
    const f = big ? 22 : 13;
    const small = big ? 20 : 12;
    const left = Math.min(room * 0.34, big ? 260 : 150);
    const width = Math.min(room, big ? 4000 : 1100);
    const [inner, high] = [width - left - 3.5 * f, big ? 96 : 62];
    const at = (count) => left + (inner * Math.log(Math.min(MOST, Math.max(LEAST, count)) / LEAST)) / Math.log(MOST / LEAST);
    const text = (x, y, words_, { fill = "ink2", anchor = "start", bold = false, tall = small } = {}) =>
      svg("text", { x, y, fill: `var(--${fill})`, "text-anchor": anchor, "font-size": tall, "font-weight": bold ? 650 : 400, "font-family": FONT, style: { fontVariantNumeric: "tabular-nums" } }, words_);
    const nodes = [];
    const foot = WAYS.length * high + 6;
    const every = inner < 420 || big ? 2 : 1;
    for (let power = Math.log10(LEAST); power <= Math.log10(MOST); power += 1) {
      const x = at(10 ** power);
      nodes.push(svg("line", { x1: x, x2: x, y1: 0, y2: foot, stroke: "var(--line)", "stroke-width": 1 }));
      if (power % every === 0) nodes.push(text(x, foot + 1.4 * small, bytes(10 ** power).replace(/\.0+/, ""), { fill: "ink3", anchor: "middle" }));
    }
    WAYS.forEach((way, row) => {
      const y = row * high + high * 0.58;
      const alone = parts[way].pairs ?? parts[way].table;
      const all = total(parts[way]);
      const peak = value.measured?.peaks[way];
      nodes.push(text(0, y + f * 0.36, t(TEXT[way]), { fill: "ink", bold: true, tall: f }));
      nodes.push(svg("line", { x1: left, x2: Math.max(at(all), at(alone)), y1: y, y2: y, stroke: "var(--control)", "stroke-width": big ? 3 : 2 }));
      const r = big ? 10 : 6;
      if (all > alone) nodes.push(svg("circle", { cx: at(all), cy: y, r, fill: "var(--panel)", stroke: "var(--cat-2)", "stroke-width": big ? 4 : 2.5, "data-mark": `${way}.with` }, svg("title", { text: `${t(TEXT.with)}: ${bytes(all)}` })));
      nodes.push(svg("circle", { cx: at(alone), cy: y, r, fill: "var(--panel)", stroke: "var(--cat-1)", "stroke-width": big ? 4 : 2.5, "data-mark": `${way}.counted` }, svg("title", { text: `${t(TEXT.counted)}: ${bytes(alone)}` })));
      if (peak) nodes.push(svg("path", { d: `M${at(peak)} ${y - 1.4 * r}l${1.2 * r} ${1.4 * r}l${-1.2 * r} ${1.4 * r}l${-1.2 * r} ${-1.4 * r}z`, fill: "var(--ink)", "data-mark": `${way}.measured` }, svg("title", { text: `${t(TEXT.measured)}: ${bytes(peak)}` })));
      nodes.push(text(at(alone), y - 1.8 * r, bytes(alone), { anchor: "middle", fill: "ink", bold: true }));
      const apart = at(all) - at(alone) > 5 * small;
      if (all > alone && apart) nodes.push(text(at(all), y - 1.8 * r, bytes(all), { anchor: "middle" }));
    });
    const picture = svg("svg", { viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(foot + 2 * small)}`, width, height: Math.ceil(foot + 2 * small), role: "img", "aria-label": words.textContent, "font-family": FONT }, ...nodes);
    board.replaceChildren(picture);
  }

  function table() {
    const sizes = size();
    const parts = needed(sizes, value);
    const rows_ = Math.min(value.block, sizes.length);
    const some = parts.ours.product / (value.number * rows_ * sizes.length);
    const { measured } = value;
    return [
      ["way", "formula", "makes", "perHead", ...(measured ? ["peak", "time"] : [])].map((name) => t(TEXT[name])),
      ...WAYS.map((way) => [
        t(TEXT[way]),
        FORMULAS[way].replace("{some}", some).replace("{rows}", rows_).replace("heads", sizes.heads),
        bytes(total(parts[way])),
        bytes((parts[way].pairs ?? parts[way].table) / sizes.heads),
        ...(measured ? [bytes(measured.peaks[way]), t(TEXT.ms, { n: measured.milliseconds[way] < 9.95 ? measured.milliseconds[way].toFixed(1) : whole(Math.round(measured.milliseconds[way])) })] : []),
      ]),
    ];
  }

  function saveCsv() {
    const sizes = size();
    const parts = needed(sizes, value);
    const { measured } = value;
    const rows = WAYS.map((way) => [way, sizes.length, sizes.width, sizes.heads, parts[way].pairs ?? parts[way].table, total(parts[way]), measured?.peaks[way] ?? "", measured?.milliseconds[way] ?? ""]);
    save(fileName(["memory"], "csv"), csv([["way", "length", "width", "heads", "embeddings_bytes", "bytes", "measured_peak_bytes_at_2048_512_8", "measured_ms_at_2048_512_8"], ...rows]), "text/csv");
  }

  // ── alive ──
  view.on(FIELDS.map((field) => `m${field}`), draw);
  onLang(draw);
  onTheme(draw);
  new ResizeObserver(() => {
    if (Math.round(board.clientWidth) !== room) draw();
  }).observe(board);
  let was = false;
  new MutationObserver(() => {
    if (projected() === was) return;
    was = projected();
    requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

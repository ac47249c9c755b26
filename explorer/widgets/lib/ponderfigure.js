// The ponder figure as Plotly takes it. Its axes are the pixels of the board, so that a step, a share of the sum and a distance may lie in any
// direction; what is scrubbed changes colours and texts only.

import { escape } from "./plot.js";
import { wide } from "./ponderplace.js";
import { shade } from "./ponderwords.js";

const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", "Noto Sans Mono", "DejaVu Sans Mono", monospace';

/** A rounded rectangle as a path of a shape. */
function rounded({ x0, x1, y0, y1 }, r) {
  const k = Math.min(r, (x1 - x0) / 2, (y1 - y0) / 2);
  return `M${x0 + k},${y0} L${x1 - k},${y0} Q${x1},${y0} ${x1},${y0 + k} L${x1},${y1 - k} Q${x1},${y1} ${x1 - k},${y1} L${x0 + k},${y1} Q${x0},${y1} ${x0},${y1 - k} L${x0},${y0 + k} Q${x0},${y0} ${x0 + k},${y0} Z`;
}

/** Rectangles, each with its colour, edge and hatch, as one trace of bars. */
class Blocks {
  constructor() {
    this.trace = {
      type: "bar",
      x: [],
      y: [],
      base: [],
      width: [],
      customdata: [],
      hovertemplate: "%{customdata}<extra></extra>",
      marker: { color: [], cornerradius: 3, line: { width: [], color: [] }, pattern: { shape: [], size: 7, solidity: 0.34, fillmode: "replace" } },
    };
  }

  add({ x0, x1, y0, y1 }, { colour, edge = null, hatch = null, said = "" }) {
    if (x1 - x0 < 0.4 || y1 - y0 < 0.4) return;
    const { trace } = this;
    trace.x.push((x0 + x1) / 2);
    trace.width.push(x1 - x0);
    trace.base.push(y0);
    trace.y.push(y1 - y0);
    trace.customdata.push(said);
    trace.marker.color.push(hatch ?? colour); // of a hatched bar, the colour of its lines
    trace.marker.line.width.push(edge ? 1 : 0);
    trace.marker.line.color.push(edge ?? colour);
    trace.marker.pattern.shape.push(hatch ? "/" : "");
  }
}

/** Texts at pixels, each with its size, colour and weight, as one trace. */
class Words {
  constructor(font) {
    this.trace = { type: "scatter", mode: "text", x: [], y: [], text: [], textposition: [], hoverinfo: "skip", cliponaxis: false, textfont: { size: [], color: [], weight: [], family: [] } };
    this.font = font;
  }

  add({ x, y, anchor }, text, { size, colour = "var(--ink2)", weight = 400, mono = false }) {
    const { trace } = this;
    trace.x.push(x);
    trace.y.push(y);
    trace.text.push(text);
    trace.textposition.push(anchor);
    trace.textfont.size.push(size);
    trace.textfont.color.push(colour);
    trace.textfont.weight.push(weight);
    trace.textfont.family.push(mono ? MONO : this.font);
  }
}

const lines = (parts, line) => ({
  type: "scatter",
  mode: "lines",
  x: parts.flatMap(({ x0, x1 }) => [x0, x1, null]),
  y: parts.flatMap(({ y0, y1 }) => [y0, y1, null]),
  line: { width: 1, ...line },
  hoverinfo: "skip",
  cliponaxis: false,
});

const middleOf = ({ x0, x1, y0, y1 }) => ({ x: (x0 + x1) / 2, y: (y0 + y1) / 2, anchor: "middle center" });

/** Two digits, or three where the first two say nothing. */
export const short = (value) => (value === 0 || value >= 0.005 ? value.toFixed(2) : value >= 0.0005 ? value.toFixed(3) : "0.00");

/**
 * @param {any} run what ponder.js reads from the value
 * @param {{pos: number, step: number}} look the chosen position, from 0, and the step, from 1
 * @param {any} at from `place`
 * @param {{words: (name: string, values?: any) => string, palette: any, scale: [number, string][], font: string}} how
 */
export function figure(run, look, at, { words, palette, scale, font }) {
  const { step } = look;
  const { size } = at;
  const blocks = new Blocks();
  const texts = new Words(font);
  const tall = (rect) => rect.y1 - rect.y0 >= size.note + 4;
  const across = (rect) => rect.x1 - rect.x0;
  const shades = Array.from({ length: run.steps }, (_, i) => shade(palette, i + 1, run.steps));

  for (let p = 0; p < run.count; p += 1) {
    const last = run.last[p];
    const gone = last < step;
    const name = escape(run.named(p));
    for (let n = 1; n <= last; n += 1) {
      const rect = at.step(p, n);
      const colour = n > step ? "var(--panel)" : gone ? palette.stopped : shades[n - 1].colour;
      blocks.add(rect, { colour, edge: n > step || gone ? "var(--control)" : null, said: `${name}: ${words("stepOf", { n, of: last })}` });
    }
    if (last <= step) {
      const where = at.stopped(p, last);
      const said = words(last === step ? "stops" : "stopped");
      const long = where.room >= size.note * (said.length + (run.zh ? 1 : -1)) * (run.zh ? 1 : 0.6);
      if (at.mode === "line") texts.add(where, words("stoppedAt", { n: last }), { size: size.note, colour: "var(--ink3)" });
      else if (where.room >= 12) texts.add(where, long ? said : String(last), { size: size.note, colour: "var(--ink3)" });
    }
    sum(p, name);
  }

  /** Is step n written on a scale that has room for every second or fifth? */
  function counted(n, every) {
    return every === 2 ? n % 2 === 1 : n === 1 || n % every === 0;
  }

  function caption(name, values) {
    const where = at.captions[name];
    const full = words(`${name}Caption`, values);
    texts.add(where, where.room && wide(full, size.note) > where.room ? words(`${name}Brief`) : full, { size: size.note });
  }

  function sum(p, name) {
    const last = run.last[p];
    let below = 0;
    for (let n = 1; n < last && !run.forced; n += 1) {
      const [from, to] = [below, Math.min(1, below + run.h(p, n))];
      below = to;
      const rect = at.sum(p, from, to);
      const gap = 0.75;
      const inner = at.mode === "columns" ? { ...rect, y0: rect.y0 + (to - from > 0.01 ? gap : 0) } : { ...rect, x1: rect.x1 - gap };
      const said = `${name}: ${words("hAt", { n, h: short(run.h(p, n)), sum: short(to) })}`;
      if (n > step) blocks.add(inner, { colour: "var(--panel)", edge: "var(--control)", said });
      else {
        blocks.add(inner, { colour: shades[n - 1].colour, said });
        if (at.numbers && tall(rect) && across(rect) >= size.note * 2.4) texts.add(middleOf(rect), short(run.h(p, n)), { size: size.note, colour: shades[n - 1].ink, weight: 600 });
      }
    }
    const rect = at.sum(p, below, 1);
    const said = `${name}: R = ${short(run.rest[p])}`;
    if (last > step) {
      blocks.add(rect, { colour: "var(--panel)", edge: "var(--control)", said });
      return;
    }
    const { colour } = shades[last - 1];
    blocks.add(rect, { colour: "var(--panel)", hatch: colour, edge: colour, said });
    if (!tall(rect)) return;
    const [full, brief] = [`R ${short(run.rest[p])}`, short(run.rest[p])];
    const room = (text) => text.length * size.note * 0.6 + 6;
    const two = rect.y1 - rect.y0 >= 3 * size.note; // R above its number
    const text = across(rect) >= room(full) ? full : at.numbers && across(rect) >= room(brief) - 2 ? (two ? `R<br>${brief}` : brief) : null;
    if (!text) return;
    const { x, y } = middleOf(rect);
    const [half, up] = [Math.min(across(rect) - 4, room(text === full ? full : brief)) / 2, (text.includes("<br>") ? 1.3 : 0.5) * size.note + 2];
    blocks.add({ x0: x - half, x1: x + half, y0: y - up, y1: y + up }, { colour: "var(--panel)", said });
    texts.add({ x, y, anchor: "middle center" }, text, { size: size.note, colour: "var(--ink)", weight: 600 });
  }

  // How far each state is from its last one.
  if (at.far) {
    const most = Math.max(run.farthest, 1e-9);
    for (let p = 0; p < run.count; p += 1) {
      for (let n = 1; n <= run.steps; n += 1) {
        const rect = at.far(p, n);
        if (n >= run.last[p]) {
          blocks.add(rect, { colour: "var(--sunk)" });
          continue;
        }
        const share = run.far(p, n) / most;
        const colour = n > step ? "var(--panel)" : along(scale, share);
        blocks.add(rect, { colour, edge: n > step || share < 0.25 ? "var(--control)" : null, said: `${escape(run.named(p))}: ${words("farAt", { n, d: short(run.far(p, n)) })}` });
        if (at.farNumbers && n <= step) texts.add(middleOf(rect), short(run.far(p, n)), { size: size.note, colour: ink(along(scale, share)), weight: 600 });
      }
    }
    for (let n = 1; n <= run.steps; n += 1) if (counted(n, at.farEvery)) texts.add(at.farTick(n), String(n), { size: size.tick, colour: "var(--ink3)" });
    caption("far", { most: short(run.farthest) });
  }

  // Names, answers, marks.
  const shapes = [];
  const layer = (path, fill, line, where) => shapes.push({ type: "path", path, layer: where, fillcolor: fill, line: { width: line ? 2 : 0, color: line ?? "rgba(0,0,0,0)", ...(line === "var(--query)" ? { width: 2.5 } : {}) } });
  for (const band of at.bands(step)) layer(rounded(band, 4), "var(--accent-soft)", null, "below");
  const wanted = new Set(run.wanted);
  const marks = new Set(run.marks);
  for (let p = 0; p < run.count; p += 1) {
    const here = p === look.pos && run.count > 1;
    if (here) layer(rounded(at.name(p), 4), "var(--query-soft)", null, "below");
    if (marks.has(p)) layer(rounded(at.name(p), 8), "rgba(0,0,0,0)", "var(--key)", "above");
    const answer = wanted.has(p) && run.count > 1 ? at.answer(p) : null;
    if (answer) blocks.add(answer, { colour: "var(--out)" });
    const where = at.label(p);
    const colour = here ? "var(--query)" : wanted.has(p) && run.count > 1 ? "var(--out)" : "var(--ink)";
    const number = at.mode === "rows" ? ` <span style="font-size:${size.tick}px;font-weight:400">${p}</span>` : "";
    texts.add(where, escape(run.given(p, step)) + number, { size: where.size, colour, weight: here || wanted.has(p) ? 700 : 500, mono: where.family === "mono" });
    const index = at.index(p);
    if (index) texts.add(index, String(p), { size: size.tick, colour: here ? "var(--query)" : "var(--ink3)" });
  }
  if (at.whole(look.pos)) layer(rounded(at.whole(look.pos), 6), "rgba(0,0,0,0)", "var(--query)", "above");

  // Scales. Where there is room a tick says what it counts.
  const named = at.every === 1 && (at.mode === "columns" || (at.mode === "line" && wide(words("tick", { n: run.steps }), size.tick, 700) <= at.cell));
  for (let n = 1; n <= run.steps; n += 1) {
    const now = n === step;
    if (!now && !counted(n, at.every)) continue;
    if (!now && at.every > 1 && Math.abs(n - step) < 2) continue;
    texts.add(at.tick(n), named && (now || n === 1) ? words("tick", { n }) : String(n), { size: size.tick, colour: now ? "var(--ink)" : "var(--ink3)", weight: now ? 700 : 400 });
  }
  const edge = run.forced ? 1 : run.threshold;
  const close = edge > 0.9;
  if (edge > 0.2) texts.add(at.level(0), "0", { size: size.tick, colour: "var(--ink3)" }); // else 1 − ε stands in its place
  if (at.mode === "columns" && edge > 0.62 && !run.forced) texts.add(at.level(edge / 2), "Σ h", { size: size.tick, colour: "var(--ink3)" });
  if (!run.forced) texts.add(at.level(edge), "1 − ε", { size: size.tick, colour: "var(--ink)", weight: 600 });
  if (!close || run.forced) texts.add(at.level(1), "1", { size: size.tick, colour: "var(--ink3)" });
  for (const name of ["steps", "sums"]) if (at.captions[name]) caption(name);

  const axis = (range) => ({ visible: false, fixedrange: true, range, autorange: false });
  const full = at.big ? 2 : 1;
  return {
    data: [
      lines(at.grid, { color: "var(--line)", dash: at.mode === "columns" ? "dot" : "solid" }),
      blocks.trace,
      lines(at.axes, { color: "var(--control)", width: full }),
      lines(at.lines(edge), { color: "var(--ink)", width: full * 1.5, dash: "dash" }),
      texts.trace,
    ],
    layout: {
      width: at.width,
      height: at.height,
      margin: { l: 0, r: 0, t: 0, b: 0 },
      barmode: "overlay",
      showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: font, size: size.tick, color: "var(--ink)" },
      hovermode: "closest",
      hoverlabel: { bgcolor: "var(--panel)", bordercolor: "var(--control)", font: { color: "var(--ink)", size: 13 } },
      xaxis: axis([0, at.width]),
      yaxis: axis([at.height, 0]),
      shapes,
    },
    config: { staticPlot: true },
  };
}

const channels = (hex) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));

/** The colour of a scale of Plotly's at a share of it. */
function along(scale, share) {
  const at = Math.max(0, Math.min(1, share));
  const above = Math.max(1, scale.findIndex(([place]) => place >= at));
  const [[from, first], [to, second]] = [scale[above - 1], scale[above]];
  const part = (at - from) / (to - from);
  const other = channels(second);
  return `#${channels(first).map((value, i) => Math.round(value + (other[i] - value) * part).toString(16).padStart(2, "0")).join("")}`;
}

function ink(hex) {
  const [r, g, b] = channels(hex).map((value) => ((value / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
}

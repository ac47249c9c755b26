// Adaptive computation as a Plotly figure: a block for each step, the halting probability adding up
// to 1 − ε with the remainder of the last step, and how far each state is from the last. Short
// positions stand side by side, sentences one below the other, a single position lies on its side.

import { upTo } from "../lib/arrays.js";
import { blocks } from "../lib/blocks.js";
import { colour, ink, shade } from "../lib/pen.js";
import { escape } from "../lib/plot.js";
import { among } from "../lib/selection.js";
import { Sheet, ticksAt } from "../lib/sheet.js";
import { card, say, short, TEXT } from "./ponder_words.js";

const LONG = 3; // signs above which positions stand one below the other
const GAP = 0.75; // px around a block
const LINE = 1.3; // height of a line of text, in its size
const AHEAD = { fill: "var(--panel)", line: "var(--control)", width: 1 };

/** "line": a single position; "rows" of sentences; else "columns". */
export const arrangement = (run) =>
  run.count === 1
    ? "line"
    : run.labels.some((label) => Array.from(label).length > LONG)
    ? "rows"
    : "columns";

// Where the parts lie, in px: {cell: px of a position, thick: of its blocks, shift: of them from
// its middle, wide, high, parts: {name: box}}.
const PLACES = {
  columns(run, pen, far, size) {
    const { big, tall, width } = pen;
    const { steps, count } = run;
    const left = pen.measure(say(run, "tick", { n: steps }), { size: size.tick, weight: 700 }) + 16;
    const cell = among((width - left - 4) / count, 11, big ? 150 : 104);
    const x0 = left + Math.max(0, (width - left - 4 - count * cell) / 2);
    const [head, band] = [size.tick + 10, size.label + size.tick + 20];
    const spare = tall - head - band - 24 - (far ? size.tick + 24 : 0);
    const unit = tall
      ? among((spare * (far ? 0.4 : 0.54)) / steps, 11, 44)
      : among(184 / steps, 11, steps < 4 ? 38 : 26);
    const sum = tall ? among(spare - unit * steps * (far ? 1.6 : 1), 110, 320) : 156;
    const floor = head + steps * unit;
    const base = floor + band + 8 + sum;
    const strip = base + size.tick + 24;
    const end = far ? strip + steps * among(140 / steps, big ? 14 : 9, 18) : base;
    const box = (y0, y1) => ({ x0, x1: x0 + count * cell, y0, y1 });
    return {
      cell,
      thick: cell >= 24 ? Math.min(cell * 0.64, big ? 96 : 64) : cell - 3,
      wide: Math.max(width, left + count * cell + 4),
      high: end + 10,
      parts: {
        names: box(floor, floor + band),
        steps: box(head, floor),
        sums: box(base - sum, base),
        far: box(strip, end),
        area: box(1, base + 3),
      },
    };
  },
  rows(run, pen, far, size) {
    const { big, tall, narrow, width } = pen;
    const style = { size: size.label, weight: 700 };
    const number = pen.measure(`  ${run.count}`, { size: size.tick });
    const longest = Math.max(...run.labels.map((label) => pen.measure(label, style)));
    const room = Math.min(longest + 2, (narrow ? width : width * 0.46) - number - 24);
    const names = narrow ? 0 : room + number + 24;
    const [head, thick, folds] = [size.tick * 2 + 24, big ? 30 : 20, longest > room + 2];
    const cell = tall
      ? among((tall - head - 6) / run.count, 34, 72)
      : (narrow ? 56 : 36) + (folds ? size.label * LINE * (narrow ? 1 : 0.4) : 0);
    const [gap, shares] = [narrow ? 14 : 26, far ? [0.34, 0.42, 0.24] : [0.42, 0.58, 0]];
    const inner = width - names - 24 - gap * (far ? 2 : 1);
    const rows = { y0: head, y1: head + run.count * cell };
    const box = (at) => {
      const before = shares.slice(0, at).reduce((a, b) => a + b, 0);
      const x0 = names + 4 + before * inner + gap * at;
      return { ...rows, x0, x1: x0 + shares[at] * inner };
    };
    return {
      cell,
      thick,
      room,
      shift: narrow ? cell / 2 - thick / 2 - 6 : 0,
      wide: width,
      high: rows.y1 + 6,
      parts: {
        names: { ...rows, x0: 0, x1: narrow ? width : names },
        steps: box(0),
        sums: box(1),
        far: box(2),
        area: { ...rows, x0: 0, x1: width - 1 },
      },
    };
  },
  line(_run, { big, width }, far, size) {
    const gap = size.tick + 10;
    const box = (y0, high) => ({ x0: 6, x1: width - 12, y0, y1: y0 + high });
    const steps = box(size.label + 22 + gap, big ? 52 : 38);
    const sums = box(steps.y1 + 2 * gap + 16, big ? 78 : 56);
    const last = box(sums.y1 + 2 * gap + 16, big ? 44 : 30);
    const high = (far ? last : sums).y1 + gap + 4;
    const names = { x0: 0, x1: width, y0: 0, y1: size.label + 16 };
    const area = { ...names, y1: high };
    return {
      cell: 1,
      thick: 1,
      wide: width,
      high,
      parts: { names: names, steps: steps, sums: sums, far: last, area: area },
    };
  },
};

/** Everything that drawing needs; parts are subplots, `long` px of them along which values run. */
function sketch(run, look, pen) {
  const [mode, label] = [arrangement(run), pen.big ? 26 : 16];
  const upright = mode === "columns";
  const size = { tick: pen.small, label: mode === "rows" ? label - (pen.big ? 4 : 2) : label };
  const { parts: boxes, ...at } = { shift: 0, ...PLACES[mode](run, pen, look.far, size) };
  if (!look.far) delete boxes.far;
  const most = { steps: run.steps, sums: 1, far: run.steps, area: 1 };
  const long = (name) =>
    upright ? boxes[name].y1 - boxes[name].y0 : boxes[name].x1 - boxes[name].x0;
  const unit = (name) => long(name) / most[name];
  const middle = (p) => p + at.shift / at.cell; // of its blocks
  const sheet = new Sheet(Object.assign(Object.create(pen), { width: at.wide }));
  const s = {
    ...at,
    ...{ run, look, pen, mode, upright, size, most, long, unit, middle, boxes, sheet },
    one: run.count === 1,
    measure: (text, weight = 600) => pen.measure(text, { size: size.tick, weight }),
    spot: (p, value) => (upright ? { x: p, y: value } : { x: value, y: p }),
    block(name, p, from, to, style) {
      const gap = GAP / unit(name);
      const [low, high] = [from + gap, Math.max(from + gap, to - gap)];
      return { at: middle(p), from: low, to: high, wide: at.thick / at.cell, ...style };
    },
  };
  s.parts = subplots(s);
  return s;
}

const accent = ({ run }, n) =>
  colour("accent", run.steps < 2 ? 1 : 0.52 + (0.48 * (n - 1)) / (run.steps - 1));

function stepBlocks(s) {
  const { run, look: { step } } = s;
  const ended = { ...AHEAD, fill: colour("control", 0.5) };
  return upTo(run.count).flatMap((p) =>
    upTo(run.last[p], (i) =>
      s.block(
        "steps",
        p,
        i,
        i + 1,
        i >= step ? AHEAD : run.last[p] < step ? ended : { fill: accent(s, i + 1) },
      ))
  );
}

/**
 * The halting probabilities, and what is left of them for the last step; what has room for it says
 * its number.
 */
function sumBlocks(s) {
  const { run, size, upright, look: { step } } = s;
  const fits = (lines, share) => {
    const across = s.one ? s.boxes.sums.y1 - s.boxes.sums.y0 : s.thick;
    const [x, y] = upright ? [across, share * s.long("sums")] : [share * s.long("sums"), across];
    return Math.max(...lines.map((line) => s.measure(line))) + 6 <= x &&
      lines.length * size.tick * LINE + 2 <= y;
  };
  const [all, notes] = [[], []];
  for (const p of upTo(run.count)) {
    let below = 0;
    const last = run.last[p];
    for (let n = 1; n < last && !run.forced; n += 1) {
      const [from, to, number] = [below, Math.min(1, below + run.h(p, n)), short(run.h(p, n))];
      below = to;
      const fill = accent(s, n);
      const text = fits([number], to - from) ? number : "";
      all.push(s.block("sums", p, from, to, n > step ? AHEAD : { fill, text, ink: ink(fill) }));
    }
    const hatch = accent(s, last);
    all.push(s.block("sums", p, below, 1, last > step ? AHEAD : { hatch, line: hatch, width: 1 }));
    const rest = short(run.rest[p]);
    const lines = [[`R ${rest}`], ["R", rest], [rest]].find((each) => fits(each, 1 - below));
    if (lines && last <= step) notes.push({ p, at: (below + 1) / 2, text: lines.join("\n") });
  }
  return { all, notes };
}

function farBlocks(s) {
  const { run, look: { step } } = s;
  const style = (p, n) => {
    if (n >= run.last[p]) return { fill: "var(--sunk)" };
    if (n > step) return AHEAD;
    const share = run.far(p, n) / Math.max(run.farthest, 1e-9);
    const fill = shade("surprise", share);
    const edge = share < 0.25 && { line: "var(--control)", width: 1 };
    const text = s.one && s.unit("far") >= 34 ? short(run.far(p, n)) : "";
    return { fill, text, ink: ink(fill), ...edge };
  };
  return upTo(run.count).flatMap((p) =>
    upTo(run.steps, (i) => s.block("far", p, i, i + 1, style(p, i + 1)))
  );
}

/** Texts at places of a part, {x, y} each, that follow its zoom. */
const texts = (at, text, more) => ({
  type: "scatter",
  mode: "text",
  cliponaxis: false,
  x: at.map(({ x }) => x),
  y: at.map(({ y }) => y),
  text,
  ...more,
});

/** What stands at the end of the steps of a position that has stopped. */
function endings(s) {
  const { run, upright, size, look: { step } } = s;
  const gone = upTo(s.one ? 0 : run.count).filter((p) => run.last[p] <= step);
  const said = (p) => {
    const text = say(run, run.last[p] === step ? "stops" : "stopped");
    const room = upright ? s.cell : (run.steps - run.last[p]) * s.unit("steps") - 4;
    return s.measure(text, 400) <= room ? text : room >= 12 ? String(run.last[p]) : "";
  };
  const apart = upright ? 0 : 4 / s.unit("steps");
  return texts(gone.map((p) => s.spot(s.middle(p), run.last[p] + apart)), gone.map(said), {
    textposition: upright ? "top center" : "middle right",
    textfont: { size: size.tick, color: "var(--ink3)" },
  });
}

/** Names in the colours of their roles, with their numbers; a long one in two lines. */
function names(s) {
  const { run, size, upright, one, pen, look: { pos, step } } = s;
  const loose = !upright || s.cell >= 18;
  const style = { size: loose ? size.label : size.tick, weight: 700 };
  const face = upright || one ? "var(--font-mono)" : "var(--font-ui)";
  const marked = (role, html, more) => `<span style="color:var(--${role});${more}">${html}</span>`;
  const text = upTo(run.count, (p) => {
    const here = p === pos && !one;
    const answers = run.wanted.includes(p) && !one;
    const [first, ...rest] = s.room
      ? pen.lines(run.given(p, step), s.room, style)
      : [run.given(p, step)];
    const lines = rest.length ? [first, pen.cut(rest.join(" "), s.room, style)] : [first];
    const name = lines.map(escape).join("<br>");
    const html = marked(
      here ? "query" : answers ? "out" : "ink",
      here || answers || one ? `<b>${name}</b>` : name,
      `font-family:${face}`,
    );
    if (one || (!loose && p % 5)) return { html };
    const number = marked(here ? "query" : "ink3", p, `font-size:${size.tick}px`);
    return { html: `${html}${upright ? "<br>" : "  "}${number}` };
  });
  const at = upTo(
    run.count,
    (p) =>
      upright
        ? { x: p, y: s.long("names") / 2 - 2 }
        : { x: one ? 10 : 12, y: p - (s.shift && (s.thick + 12) / 2 / s.cell) },
  );
  return texts(at, text, {
    name: "words",
    textposition: upright ? "middle center" : "middle right",
    textfont: { size: style.size },
  });
}

/** What lies under names: who is locked, who answers, and around them what the answer needs. */
function plates(s) {
  const { run, upright, one, look: { pos } } = s;
  if (one) return;
  const [part, end, under] = [s.parts.names, s.long("names"), s.shift && (s.thick + 12) / s.cell];
  const half = upright ? Math.min(s.cell - 2, s.thick + 10) / s.cell / 2 : 0.5 - 2 / s.cell;
  /** @type {(p: number, ends: number[], around: number[], style: any) => void} */
  const plate = (p, [from, to], [low, high], style) => {
    const across = [p - low, p + high - under];
    part.rect(...(upright ? [...across, from, to] : [from, to, ...across]), style);
  };
  /** @type {[number[], number[]]} */
  const whole = [upright ? [3, end - 3] : [2, end - 6], [half, half]];
  const line = upright ? Math.min(s.thick, 34) / s.cell / 2 : half - 2 / s.cell;
  /** @type {[number[], number[]]} */
  const answer = [upright ? [end - 7, end - 4] : [5, 8], [line, line]];
  plate(pos, ...whole, { fill: "query-soft", radius: 4, layer: "below" });
  for (const p of run.marks) plate(p, ...whole, { line: "key", width: 2, radius: 8 });
  for (const p of run.wanted) plate(p, ...answer, { fill: "out" });
}

/**
 * Numbers of steps along an axis, as many as have room; where they are named the step in view is
 * bold.
 */
function stepTicks(s, n) {
  const named = n === "steps";
  const { run, size, upright, look: { step } } = s;
  const every = s.unit(n) - size.tick >= (upright ? 3 : 6) ? 1 : run.steps > 10 ? 5 : 2;
  const long = named && every === 1 && s.mode !== "rows" &&
    (upright || s.measure(say(run, "tick", { n: run.steps }), 700) <= s.unit(n));
  const here = (one) => named && one === step;
  const crowds = (one) => named && every > 1 && Math.abs(one - step) < 2;
  const shown = upTo(run.steps, (i) => i + 1)
    .filter((one) => here(one) || ((one === 1 || one % every === 0) && !crowds(one)));
  const text = (one) =>
    escape(long && (here(one) || one === 1) ? say(run, "tick", { n: one }) : `${one}`);
  return [
    shown.map((one) => one - 0.5),
    shown.map((one) => here(one) ? strong(text(one)) : text(one)),
  ];
}

const strong = (text) => ({ html: `<b style="color:var(--ink)">${text}</b>` });

function sumTicks({ run, upright }) {
  const edge = run.forced ? 1 : run.threshold;
  const list = [
    [0, "0", edge > 0.2],
    [edge / 2, "Σ h", upright && edge > 0.62 && !run.forced],
    [edge, strong("1 − ε"), !run.forced],
    [1, "1", edge <= 0.9 || run.forced],
  ].filter(([, , has]) => has);
  return [list.map(([at]) => at), list.map(([, text]) => text)];
}

/**
 * The parts: positions along one axis, in step with each other, and steps, sums or px along the
 * other.
 */
function subplots(s) {
  const { run, upright, mode, size } = s;
  const side = upright ? "left" : mode === "rows" ? "top" : "bottom";
  const ticks = { steps: stepTicks, sums: sumTicks, far: stepTicks };
  const parts = {};
  for (const [name, box] of Object.entries(s.boxes)) {
    const place = { range: [-0.5, run.count - 0.5], fixedrange: mode === "line" };
    const first = Object.values(parts)[0]?.number;
    if (first && mode !== "line") place.matches = `${upright ? "x" : "y"}${first}`;
    if (name === "area" && mode === "rows") {
      Object.assign(place, { showgrid: true, tickvals: upTo(run.count - 1, (p) => p + 0.5) });
    }
    const range = [0, s.most[name] ?? s.long(name)];
    /** @type {any} */
    let value = { fixedrange: true };
    if (ticks[name]) {
      value = ticksAt(...ticks[name](s, name), size.tick, {
        side,
        ticklabelstandoff: 2,
        ticklabeloverflow: "allow",
      });
      value.fixedrange = mode !== "line";
      value.zeroline = name !== "far" && !s.shift;
      value.zerolinecolor = "var(--control)";
    }
    if (name === "steps" && upright) {
      const tickvals = upTo(run.steps, (i) => i + 1);
      value.minor = { tickvals, showgrid: true, gridcolor: "var(--line)", griddash: "2px,3px" };
    }
    value.range = upright && name !== "names" ? range.reverse() : range;
    parts[name] = s.sheet.part(box, upright ? { x: place, y: value } : { x: value, y: place });
  }
  return parts;
}

/** What stands above a part, in short where it has no room; and where a single position stopped. */
function titles(s) {
  const { run, mode, upright, size, sheet, look: { step } } = s;
  const above = (
    box,
  ) => (mode === "rows" ? size.tick / 2 + 3 : box.y0 - (upright ? size.tick : 12));
  for (const name of ["steps", "sums", "far"].slice(upright ? 2 : 0)) {
    const box = s.boxes[name];
    if (!box) continue;
    const full = say(run, name, { most: short(run.farthest) });
    const fits = s.measure(full, 400) <= box.x1 - box.x0 || !TEXT[`${name}Brief`];
    sheet.write(box.x0, above(box), fits ? full : say(run, `${name}Brief`), { size: size.tick });
  }
  if (!s.one || run.last[0] > step) return;
  const { x1, y0 } = s.boxes.steps;
  const stop = say(run, "stoppedAt", { n: run.last[0] });
  sheet.write(x1, y0 - 12, stop, { size: size.tick, align: "right", colour: "ink3" });
}

/**
 * The step in view, and the sum that halts; where names stand above their rows, both leave them
 * alone.
 */
function guides(s) {
  const { run, upright, pen, look: { step } } = s;
  const half = s.thick / 2 / s.cell + 0.05;
  const spans = s.shift
    ? upTo(run.count, (p) => [s.middle(p) - half, s.middle(p) + half])
    : [[-0.5, run.count - 0.5]];
  const limit = run.forced ? 1 : run.threshold;
  const edge = { line: "ink", width: pen.big ? 3 : 1.5, dash: "4px,3px" };
  for (const span of spans) {
    const [now, halts] = [[step - 1, step], [limit, limit]]
      .map((values) => upright ? [...span, ...values] : [...values, ...span]);
    s.parts.steps.rect(...now, { fill: "accent-soft", layer: "below", radius: 4 });
    s.parts.sums.line(halts[0], halts[2], halts[1], halts[3], edge);
  }
}

export function figure(run, look, pen) {
  const s = sketch(run, look, pen);
  const { upright, size, parts } = s;
  const { all, notes } = sumBlocks(s);
  const bars = (list, more) => blocks(list, { upright, size: size.tick, ...more });
  guides(s);
  plates(s);
  titles(s);
  parts.steps.add(bars(stepBlocks(s)), endings(s));
  parts.sums.add(bars(all));
  parts.far?.add(bars(farBlocks(s)));
  parts.names.add(names(s));
  const areas = upTo(run.count, (p) => ({ at: p, from: 0, to: 1 }));
  parts.area.add(bars(areas, { customdata: upTo(run.count, (p) => ({ pos: p })) }));
  const [half, ends] = [0.5 - 1 / s.cell, [0, 1]];
  const own = [look.pos - half, look.pos + half];
  if (!s.one) {
    parts.area.rect(...(upright ? [...own, ...ends] : [...ends, ...own]), {
      line: "query",
      width: 2.5,
      radius: 6,
    });
  }
  for (const { p, at, text } of notes) {
    const { x, y } = s.spot(s.middle(p), at);
    const style = { size: size.tick, weight: 600, colour: "ink", align: "center" };
    parts.sums.note(x, y, text, { ...style, ground: "panel" });
  }
  const high = Math.max(s.high, pen.tall);
  const { data, layout } = s.sheet.figure({ x0: 0, x1: s.wide, y0: 0, y1: high });
  layout.width = s.wide;
  const { x } = parts.area;
  return { data, layout, keep: upright ? { x0: x(own[0]), x1: x(own[1]) } : null };
}

/** The whole of a position can be pointed at. */
export function pick(run, look, { customdata }) {
  if (!customdata) return null;
  const { pos } = customdata;
  return { still: run.count === 1, look: { pos }, card: () => card(run, pos, look.step) };
}

export function legend(run) {
  const soft = { line: "control", radius: 3 };
  return [
    {
      text: say(run, "legendShades"),
      mark: { shades: [0.52, 0.76, 1].map((share) => colour("accent", share)), wide: 34 },
    },
    ...(run.forced && run.rest.every((rest) => rest === 1) ? [] : [{
      text: say(run, "legendRest"),
      mark: { fill: "panel", line: "accent", hatch: "accent", radius: 3 },
    }]),
    { text: say(run, "legendStopped"), mark: { ...soft, fill: colour("control", 0.5) } },
    { text: say(run, "legendAhead"), mark: soft },
    ...(run.count > 1 && run.wanted.length
      ? [{ text: say(run, "legendAnswer"), mark: { fill: "out", wide: 18, tall: 4 } }]
      : []),
    ...(run.marks.length
      ? [{ text: say(run, "legendMark"), mark: { line: "key", width: 2, radius: 6, wide: 18 } }]
      : []),
  ];
}

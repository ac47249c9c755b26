// Every position thinks for as long as it needs: its steps as blocks, its halting probability adding up to 1 − ε, the
// rest of it for the last step, and what the answer would be if all stopped now. Short positions stand side by side,
// sentences one below the other, a single position lies on its side. The value is made by explorer/figures/ponder.py.

import { filed, upTo } from "../lib/arrays.js";
import { el } from "../lib/dom.js";
import { parts, t } from "../lib/lang.js";
import { among } from "../lib/selection.js";
import { colour, ink, shade } from "../lib/pen.js";
import { rounded, shown } from "../lib/signs.js";

export const TEXT = {
  question: { en: "Who stops thinking when?", zh: "谁在什么时候停止思考？" },
  units: {
    en: "{step}s of each {axis}, then its halting probability, summed up to 1 − ε = {edge}",
    zh: "每个{axis}的{step}数，以及停止概率如何累加到 1 − ε = {edge}",
  },
  unitsForced: {
    en: "every {axis} takes {n} {step}{n||s}, whatever its halting unit says",
    zh: "每个{axis}都走 {n} {step}，不问停止单元",
  },
  legendShades: { en: "first to last {step}", zh: "从第一到最后一{step}" },
  legendStopped: { en: "has stopped", zh: "已停止" },
  legendAhead: { en: "still to come", zh: "尚未发生" },
  legendRest: { en: "remainder R", zh: "余量 R" },
  legendAnswer: { en: "the answer is read here", zh: "从这里读出答案" },
  legendMark: { en: "the answer needs it", zh: "答案需要它" },
  stopped: { en: "stopped", zh: "已停" },
  stops: { en: "stops", zh: "停止" },
  stoppedAt: { en: "stopped after {n}", zh: "{n} 后停止" },
  tick: { en: "{step} {n}", zh: "第 {n} {step}" },
  steps: { en: "{step}s", zh: "{step}数" },
  sums: { en: "halting probability, adding up", zh: "停止概率的累加" },
  sumsBrief: { en: "Σ h", zh: "Σ h" },
  far: { en: "distance to the last state, 0 … {most}", zh: "到最后状态的距离，0 … {most}" },
  farBrief: { en: "distance", zh: "距离" },
  farther: { en: "Distance to the last state", zh: "到最后状态的距离" },
  start: { en: "Back to the first {step}", zh: "回到第一{step}" },
  before: { en: "One {step} back", zh: "后退一{step}" },
  after: { en: "One {step} on", zh: "前进一{step}" },
  seek: { en: "{step} of thinking", zh: "思考的第几{step}" },
  count: { en: "{step} {n} of {of}", zh: "第 {n} {step}，共 {of}" },
  chips: { en: "If all stopped now", zh: "如果此刻全部停止" },
  chip: { en: "after {n}", zh: "{n} {step}后" },
  right: { en: "right", zh: "对" },
  wrong: { en: "wrong", zh: "错" },
  wrongSigns: { en: "{n} of {of} wrong", zh: "{of} 个中错 {n} 个" },
  sum: { en: "The sum that halts", zh: "决定停止的和" },
  goesOn: { en: "it goes on", zh: "继续" },
  limitSays: { en: "the limit M stops it", zh: "被上限 M 停下" },
  forcedSays: {
    en: "forced to take {n}: its halting unit is ignored",
    zh: "规定走 {n} {step}：不问停止单元",
  },
  output: { en: "output", zh: "输出" },
  cost: { en: "ponder cost", zh: "思考代价" },
  cardSteps: { en: "{n} {step}{n||s}, at most {limit}", zh: "{n} {step}，最多 {limit}" },
  cardSum: { en: "Σh = {sum} after {step} {n}", zh: "第 {n} {step}后 Σh = {sum}" },
  cardRest: { en: "R = {rest}, ponder cost {cost}", zh: "R = {rest}，思考代价 {cost}" },
  table: { en: "Every {axis} and {step}", zh: "每个{axis}的每一{step}" },
  index: { en: "index", zh: "序号" },
  why: { en: "stopped by", zh: "停止原因" },
  enough: { en: "Σh ≥ 1 − ε", zh: "Σh ≥ 1 − ε" },
  limit: { en: "limit M", zh: "上限 M" },
  forced: { en: "told to", zh: "规定" },
};
const CROWD = 26; // positions side by side above which the sum stands below the figure
const LONG = { label: 3, answer: 12 }; // signs above which positions, and answers, stand one below the other
const TERMS = 6; // of a sum that are written out; more are shortened in the middle

const say = (run, name, values = {}) =>
  t(TEXT[name], { step: t(run.unit), axis: t(run.axis), ...values });
/** Two digits, or three where the first two say nothing. */
const short = (
  value,
) => (value === 0 || value >= 0.005 || value < 0.0005 ? value.toFixed(2) : value.toFixed(3));
const edge = (run) => String(rounded(run.threshold));
const called = (run, p, step) =>
  `“${step ? run.given(p, step) : run.labels[p]}”${run.count === 1 ? "" : ` (${p})`}`;
const layout = (
  run,
) => (run.count === 1
  ? "line"
  : run.labels.some((label) => Array.from(label).length > LONG.label)
  ? "rows"
  : "columns");

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
    /** What stands at a position: where it waits for a sign of the answer, the sign that it would give after a step. */
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

// ── the figure ──
/**
 * Where everything stands. A track is where blocks run along: {from, unit, thick, middle(p)}, upright in columns, else
 * lying.
 */
function place(run, pen, far) {
  const { big, tall, narrow, width } = pen;
  const { steps, count } = run;
  const mode = layout(run);
  const size = big
    ? { tick: 20, label: mode === "rows" ? 22 : 26 }
    : { tick: 12, label: mode === "rows" ? 14 : 16 };
  const made = { mode, size, upright: mode === "columns", wide: width };
  if (mode === "columns") {
    const left = pen.measure(say(run, "tick", { n: steps }), { size: size.tick, weight: 700 }) + 14;
    const cell = among((width - left - 4) / count, 11, big ? 150 : 104);
    const x0 = left + Math.max(0, (width - left - 4 - count * cell) / 2);
    const thick = cell >= 24 ? Math.min(cell * 0.64, big ? 96 : 64) : cell - 3;
    const head = size.tick + 10;
    const band = size.label + size.tick + 20;
    const spare = tall ? tall - head - band - 24 - (far ? size.tick + 24 : 0) : 0;
    const unit = tall
      ? among((spare * (far ? 0.4 : 0.54)) / steps, 11, 44)
      : among(184 / steps, 11, steps < 4 ? 38 : 26);
    const sum = tall ? among(spare - unit * steps * (far ? 1.6 : 1), 110, 320) : 156;
    const strip = among(140 / steps, big ? 14 : 9, 18);
    const [floor, middle] = [head + steps * unit, (p) => x0 + (p + 0.5) * cell];
    const base = floor + band + 8 + sum;
    const bottom = far ? base + size.tick + 30 + steps * strip : base + 10;
    return {
      ...made,
      cell,
      band,
      wide: Math.max(width, left + count * cell + 4),
      high: bottom,
      from: x0 - 6,
      to: x0 + count * cell + 2,
      steps: { from: floor, unit: -unit, thick, middle },
      sums: { from: base, unit: -sum, thick, middle },
      far: { from: bottom - 6, unit: -strip, thick: cell >= 24 ? thick : cell - 1, middle },
    };
  }
  if (mode === "line") {
    const [x0, span, gap] = [6, width - 18, size.tick + 10];
    const track = (top, thick, unit) => ({
      from: x0,
      unit,
      thick,
      middle: () => top + thick / 2,
      top,
    });
    const first = size.label + 22 + gap;
    const list = [track(first, big ? 52 : 38, span / steps)];
    list.push(track(list[0].top + list[0].thick + 2 * gap + 16, big ? 78 : 56, span));
    list.push(track(list[1].top + list[1].thick + 2 * gap + 16, big ? 44 : 30, span / steps));
    const end = list[far ? 2 : 1];
    return {
      ...made,
      cell: span / steps,
      high: end.top + end.thick + gap + 4,
      steps: list[0],
      sums: list[1],
      far: list[2],
    };
  }
  const widest = Math.max(
    ...run.labels.map((label, p) =>
      pen.measure(`${label}  ${p}`, { size: size.label, weight: 700 })
    ),
  );
  const names = narrow ? 0 : Math.min(width * 0.46, widest + 34);
  const [gap, parts] = [narrow ? 14 : 26, far ? [0.34, 0.42, 0.24] : [0.42, 0.58]];
  const inner = width - names - 14 - gap * (parts.length - 1);
  const [head, thick] = [size.tick * 2 + 24, big ? 30 : 20];
  const row = narrow ? 56 : tall ? among((tall - head - 6) / count, 34, 62) : 36;
  const middle = (p) => head + p * row + (narrow ? row - thick / 2 - 6 : row / 2);
  const start = (at) =>
    names + 4 + parts.slice(0, at).reduce((a, b) => a + b, 0) * inner + gap * at;
  const track = (at, of) => ({
    from: start(at),
    unit: (parts[at] * inner) / of,
    thick,
    middle,
    room: parts[at] * inner,
  });
  return {
    ...made,
    cell: row,
    names,
    head,
    row,
    narrow,
    high: head + count * row + 6,
    steps: track(0, steps),
    sums: track(1, 1),
    far: far ? track(2, steps) : null,
  };
}

/** The box on a track from a to b, in its own units. */
function span({ upright }, track, p, a, b, trim = [0, 0]) {
  const [low, high] = [a, b].map((n) => track.from + n * track.unit).sort((one, two) => one - two);
  const [u, v, m, h] = [low + trim[0], high - trim[1], track.middle(p), track.thick / 2];
  return upright ? { x0: m - h, x1: m + h, y0: u, y1: v } : { x0: u, x1: v, y0: m - h, y1: m + h };
}

export function scene(run, look, pen) {
  const { pos, step, far } = look;
  const at = place(run, pen, far);
  const { size, mode, upright } = at;
  const everyone = upTo(run.count, (p) => p);
  const accent = (n) =>
    colour("accent", run.steps < 2 ? 1 : 0.52 + (0.48 * (n - 1)) / (run.steps - 1));
  const mid = ({ x0, x1, y0, y1 }) => [(x0 + x1) / 2, (y0 + y1) / 2];
  const note = { size: size.tick, align: "center" };
  const open = { fill: "panel", line: "control", radius: 3 };
  const one = run.count === 1;

  // The step in view, the grid, and the axes.
  // where names stand above their rows, lines leave them alone
  const spots = mode === "rows" && at.narrow ? everyone : [null];
  const whole = (track, a, b, p) => {
    const box = span(at, track, p ?? 0, a, b);
    if (upright) return { ...box, x0: at.from, x1: at.to };
    if (p === null && !one) return { ...box, y0: at.head - 4, y1: at.high - 6 };
    return { ...box, y0: box.y0 - (one ? 5 : 3), y1: box.y1 + (one ? 5 : 3) };
  };
  const bar = (track, value, style) =>
    spots.forEach((p) => {
      const { x0, x1, y0, y1 } = whole(track, value, value, p);
      pen.line(x0, y0, upright ? x1 : x0, upright ? y0 : y1, style);
    });
  for (const p of spots) {
    const { y0, y1, ...box } = whole(at.steps, step - 1, step, p);
    pen.rect({
      ...box,
      y0: mode === "rows" && p === spots[0] ? size.tick + 10 : y0,
      y1: one ? y1 + size.tick + 4 : y1,
    }, { fill: "accent-soft", radius: 4 });
  }
  if (upright) {
    for (let n = 1; n <= run.steps; n += 1) bar(at.steps, n, { line: "line", dash: [2, 3] });
  }
  if (mode === "rows") {
    everyone.slice(1)
      .forEach((p) =>
        pen.line(0, at.head + p * at.row, pen.width, at.head + p * at.row, { line: "line" })
      );
  }

  for (const p of everyone) {
    const last = run.last[p];
    const gone = last < step;
    for (let n = 1; n <= last; n += 1) {
      pen.rect(
        span(at, at.steps, p, n - 1, n, [1, 1]),
        n > step
          ? open
          : gone
          ? { ...open, fill: colour("control", 0.5) }
          : { fill: accent(n), radius: 3 },
      );
    }
    if (last <= step) ended(p, last);
    let below = 0;
    for (let n = 1; n < last && !run.forced; n += 1) {
      const box = span(at, at.sums, p, below, below = Math.min(1, below + run.h(p, n)), [
        upright ? 0.75 : 0,
        upright ? 0 : 0.75,
      ]);
      if (Math.min(box.x1 - box.x0, box.y1 - box.y0) < 0.4) continue;
      pen.rect(box, n > step ? open : { fill: accent(n), radius: 3 });
      if (n <= step && box.y1 - box.y0 >= size.tick + 4 && box.x1 - box.x0 >= size.tick * 2.4) {
        pen.text(...mid(box), short(run.h(p, n)), { ...note, colour: ink(accent(n)), weight: 600 });
      }
    }
    rest(p, last, span(at, at.sums, p, below, 1));
  }

  function ended(p, last) {
    if (one) {
      return pen.text(pen.width - 12, at.steps.top - 12, say(run, "stoppedAt", { n: last }), {
        size: size.tick,
        align: "right",
        colour: "ink3",
      });
    }
    const said = say(run, last === step ? "stops" : "stopped");
    const [x0, y0] = [
      at.steps.from + last * at.steps.unit + 4,
      at.steps.from + last * at.steps.unit - size.tick / 2 - 3,
    ];
    const room = upright ? at.cell : at.steps.room - last * at.steps.unit;
    const text = pen.measure(said, { size: size.tick }) <= room
      ? said
      : room >= 12
      ? String(last)
      : "";
    return upright
      ? pen.text(at.steps.middle(p), y0, text, { ...note, colour: "ink3" })
      : pen.text(x0, at.steps.middle(p), text, { size: size.tick, colour: "ink3" });
  }

  /** What is left for the last step. */
  function rest(p, last, box) {
    if (last > step) return pen.rect(box, open);
    pen.rect(box, { fill: "panel", hatch: accent(last), line: accent(last), radius: 3 });
    const [wide, high, number] = [box.x1 - box.x0, box.y1 - box.y0, short(run.rest[p])];
    const words = [[`R ${number}`], ["R", number], [number]]
      .find((lines) =>
        Math.max(...lines.map((text) => pen.measure(text, { size: size.tick, weight: 600 }))) +
              6 <= wide && lines.length * size.tick * 1.3 + 4 <= high
      );
    if (!words) return undefined;
    const [[x, y], half, up] = [
      mid(box),
      Math.max(...words.map((text) => pen.measure(text, { size: size.tick, weight: 600 }))) / 2 + 4,
      words.length * size.tick * 0.65 + 2,
    ];
    pen.rect({ x0: x - half, x1: x + half, y0: y - up, y1: y + up }, { fill: "panel", radius: 2 });
    return words.forEach((text, i) =>
      pen.text(x, y + (i - (words.length - 1) / 2) * size.tick * 1.3, text, {
        ...note,
        colour: "ink",
        weight: 600,
      })
    );
  }

  // How far each state is from its last one.
  for (const p of far ? everyone : []) {
    for (let n = 1; n <= run.steps; n += 1) {
      const box = span(at, at.far, p, n - 1, n, [0, 1]);
      const share = run.far(p, n) / Math.max(run.farthest, 1e-9);
      const fill = shade("surprise", share);
      pen.rect(
        box,
        n >= run.last[p]
          ? { fill: "sunk", radius: 3 }
          : n > step
          ? open
          : { fill, line: share < 0.25 ? "control" : null, radius: 3 },
      );
      if (one && n <= step && n < run.last[p] && at.cell >= 34) {
        pen.text(...mid(box), short(run.far(p, n)), { ...note, colour: ink(fill), weight: 600 });
      }
    }
  }

  // Names, where the answer is read, what it needs, and what can be pointed at.
  for (const p of everyone) {
    const [here, answers] = [p === pos && !one, run.wanted.includes(p) && !one];
    const style = {
      size: size.label,
      weight: here || answers ? 700 : 500,
      colour: here ? "query" : answers ? "out" : "ink",
    };
    const given = run.given(p, step);
    const m = at.steps.middle(p);
    const floor = at.steps.from;
    const top = mode === "rows" ? at.head + p * at.row : 0;
    const area = upright
      ? { x0: m - at.cell / 2 + 0.5, x1: m + at.cell / 2 - 0.5, y0: 1, y1: at.sums.from + 3 }
      : one
      ? { x0: 0, x1: pen.width, y0: 0, y1: at.high }
      : { x0: 0.5, x1: pen.width - 1, y0: top + 0.5, y1: top + at.row - 0.5 };
    const wide = Math.min(at.cell - 2, at.steps.thick + 10) / 2;
    const name = upright
      ? { x0: m - wide, x1: m + wide, y0: floor + 3, y1: floor + at.band - 3 }
      : at.narrow
      ? {
        x0: 2,
        x1: Math.min(pen.width - 4, pen.measure(`${given}  ${p}`, style) + 26),
        y0: top + 2,
        y1: top + 23,
      }
      : {
        x0: 2,
        x1: at.names - 6,
        y0: m - Math.min(at.row, 44) / 2 + 2,
        y1: m + Math.min(at.row, 44) / 2 - 2,
      };
    if (here) pen.rect(name, { fill: "query-soft", radius: 4 });
    if (run.marks.includes(p)) pen.rect(name, { line: "key", width: 2, radius: 8 });
    const loose = at.cell >= 18;
    if (upright) {
      if (answers) {
        pen.rect({
          x0: m - Math.min(at.steps.thick, 34) / 2,
          x1: m + Math.min(at.steps.thick, 34) / 2,
          ...(loose
            ? { y0: floor + at.band - 7, y1: floor + at.band - 4 }
            : { y0: floor + size.label + 5, y1: floor + size.label + 8 }),
        }, { fill: "out" });
      }
      pen.text(m, floor + 6 + size.label / 2, given, {
        ...style,
        size: loose ? size.label : size.tick,
        align: "center",
        face: "mono",
      });
      if (loose || p % 5 === 0) {
        pen.text(m, floor + size.label + size.tick / 2 + (loose ? 10 : 14), p, {
          ...note,
          colour: here ? "query" : "ink3",
        });
      }
    } else if (one) {
      pen.text(12, 8 + size.label / 2, given, { ...style, weight: 700, face: "mono" });
    } else {
      if (answers) pen.rect({ x0: 6, x1: 9, y0: name.y0 + 2, y1: name.y1 - 2 }, { fill: "out" });
      const [y, room] = [at.narrow ? top + 12 : m, (at.narrow ? pen.width : at.names) - 44];
      pen.text(14, y, given, { ...style, room });
      pen.text(18 + Math.min(room, pen.measure(given, style)), y, p, {
        size: size.tick,
        colour: style.colour,
      });
    }
    if (here) pen.rect(area, { line: "query", width: 2.5, radius: 6 });
    pen.hit({ ...area, still: one, look: { pos: p }, card: () => card(run, p, step) });
  }
  scales(run, look, pen, at, bar);
  pen.size(
    at.wide,
    at.high,
    upright
      ? { x0: at.steps.middle(pos) - at.cell / 2, x1: at.steps.middle(pos) + at.cell / 2 }
      : null,
  );
}

/** Axes, their ticks and their titles. */
function scales(run, { step, far }, pen, at, bar) {
  const { size, mode, upright } = at;
  const edge_ = run.forced ? 1 : run.threshold;
  if (mode !== "line") bar(at.steps, 0, { line: "control" });
  bar(at.sums, 0, { line: "control" });
  bar(at.sums, edge_, { line: "ink", width: pen.big ? 3 : 1.5, dash: true });
  const tick = (track, value, text, style = {}) => {
    const place_ = track.from + value * track.unit;
    if (upright) {
      return pen.text(at.from - 2, place_, text, {
        size: size.tick,
        colour: "ink3",
        align: "right",
        ...style,
      });
    }
    const [x, half] = [place_, pen.measure(text, { size: size.tick, ...style }) / 2];
    return pen.text(
      among(x, half, pen.width - half - 2),
      mode === "rows" ? at.head - 14 : track.top + track.thick + size.tick / 2 + 6,
      text,
      { size: size.tick, colour: "ink3", align: "center", ...style },
    );
  };
  const unit = Math.abs(at.steps.unit);
  const every = (
    track,
    room,
  ) => (Math.abs(track.unit) >= size.tick + room ? 1 : run.steps > 10 ? 5 : 2);
  const often = every(at.steps, upright ? 3 : 6);
  const long = often === 1 && mode !== "rows" &&
    (upright ||
      pen.measure(say(run, "tick", { n: run.steps }), { size: size.tick, weight: 700 }) <= unit);
  for (let n = 1; n <= run.steps; n += 1) {
    const now = n === step;
    if (!now && ((n > 1 && n % often) || (often > 1 && Math.abs(n - step) < 2))) continue;
    tick(
      at.steps,
      n - 0.5,
      long && (now || n === 1) ? say(run, "tick", { n }) : String(n),
      now ? { colour: "ink", weight: 700 } : {},
    );
  }
  if (edge_ > 0.2) tick(at.sums, 0, "0");
  if (upright && edge_ > 0.62 && !run.forced) tick(at.sums, edge_ / 2, "Σ h");
  if (!run.forced) tick(at.sums, edge_, "1 − ε", { colour: "ink", weight: 600 });
  if (edge_ <= 0.9 || run.forced) tick(at.sums, 1, "1");
  for (let n = 1; far && n <= run.steps; n += 1) {
    if (n === 1 || n % every(at.far, 2) === 0) tick(at.far, n - 0.5, String(n));
  }
  for (const name of ["steps", "sums", ...(far ? ["far"] : [])].slice(upright ? 2 : 0)) {
    const [full, brief] = [
      say(run, name, { most: short(run.farthest) }),
      TEXT[`${name}Brief`] ? say(run, `${name}Brief`) : say(run, name),
    ];
    const text = pen.measure(full, { size: size.tick }) <= (at[name].room ?? pen.width)
      ? full
      : brief;
    if (upright) {
      pen.text(at.from, at.far.from + run.steps * at.far.unit - size.tick, text, {
        size: size.tick,
      });
    } else {pen.text(at[name].from, mode === "rows" ? size.tick / 2 + 3 : at[name].top - 12, text, {
        size: size.tick,
      });}
  }
}

function card(run, p, step) {
  const n = Math.min(step, run.last[p]);
  return [
    called(run, p),
    `${say(run, "cardSteps", { n: run.last[p], limit: run.forced || run.limit })} · ${
      say(run, run.reasons[p])
    }`,
    ...(run.forced ? [] : [say(run, "cardSum", { sum: run.sum(p, n).toFixed(2), n })]),
    say(run, "cardRest", {
      rest: short(run.rest[p]),
      cost: (run.last[p] + run.rest[p]).toFixed(2),
    }),
    ...(run.marks.includes(p) ? [say(run, "legendMark")] : []),
    ...(run.wanted.includes(p) && run.count > 1 ? [say(run, "legendAnswer")] : []),
  ];
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

// ── what the answer would be, and the sum worked out ──
/** Wrong signs are told apart where every sign has a place of its own. */
export function below(run, look, lock) {
  const expected = Array.from(t(run.expected));
  const listed = run.stopped.some(({ answer }) => Array.from(t(answer)).length > LONG.answer);
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
    // The table of every position gets the room of the longest, so that nothing moves when another one is looked at.
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

// ── in words and numbers ──
const SAY = {
  stillForced: {
    en: "{Axis} {who} goes on after {unit} {step}: it is forced to take {forced}.",
    zh: "{Axis} {who} 在第 {step} {unit}后继续：规定走 {forced} {unit}。",
  },
  still: {
    en:
      "{Axis} {who} has added up {sum} after {unit} {step}, less than {edge}, and goes on{others}.",
    zh: "{Axis} {who} 在第 {step} {unit}后累加到 {sum}，不到 {edge}，继续思考{others}。",
  },
  others: { en: "; {gone} of {count} {n|has|have} stopped", zh: "；{count} 个中有 {n} 个已停止" },
  ranForced: {
    en:
      "{Axis} {who} was stopped by force after {last} {unit}{last||s}; its halting unit is ignored, and its output is the last state.",
    zh: "{Axis} {who} 走了 {last} {unit}后被强制停止，停止单元不起作用；它的输出就是最后的状态。",
  },
  atLimit: {
    en:
      "{Axis} {who} took {last} {unit}{last||s}, up to the limit M = {limit}: its halting probability had reached only {sum}, and the last {unit} takes the remainder {rest}.",
    zh:
      "{Axis} {who} 走了 {last} {unit}，直到上限 M = {limit}：停止概率只累加到 {sum}，最后一{unit}取余量 {rest}。",
  },
  once: {
    en:
      "{Axis} {who} took one {unit}: its first halting probability is {sum}, and {edge} is enough.",
    zh: "{Axis} {who} 只走了 1 {unit}：第一{unit}的停止概率就是 {sum}，达到 {edge}。",
  },
  enough: {
    en:
      "{Axis} {who} took {last} {unit}{last||s}: its halting probability had reached {before} after {unit} {m}, {unit} {last} passes {edge} and takes the remainder {rest}.",
    zh:
      "{Axis} {who} 走了 {last} {unit}：第 {m} {unit}后停止概率累加到 {before}，第 {last} {unit}越过 {edge}，取余量 {rest}。",
  },
  answer: { en: " The answer is {answer}", zh: "答案是 {answer}" },
  would: {
    en: " If all stopped now, the answer would be {answer}",
    zh: "如果此刻全部停止，答案会是 {answer}",
  },
  right: { en: ", which is right.", zh: "，正确。" },
  wrong: { en: "; right is {expected}.", zh: "，错误；正确的是 {expected}。" },
};

export function sentence(run, { pos, step }) {
  const [axis, last, now] = [t(run.axis), run.last[pos], run.stopped[step - 1]];
  // as many digits as it takes to tell it from the edge that it has reached, or has not
  const sum = (n) =>
    [2, 3, 4, 5].map((digits) => run.sum(pos, n).toFixed(digits)).find((text, at) =>
      at === 3 || (Number(text) >= Number(edge(run))) === (run.sum(pos, n) >= run.threshold)
    );
  const gone = run.last.filter((n) => n <= step).length;
  const values = {
    Axis: `${axis[0].toUpperCase()}${axis.slice(1)}`,
    who: { role: "query", text: called(run, pos, step) },
    unit: t(run.unit),
    step,
    last,
    m: last - 1,
    sum: sum(Math.min(step, last)),
    before: sum(last - 1),
    rest: run.rest[pos].toFixed(2),
    edge: edge(run),
    limit: run.limit,
    forced: run.forced,
    others: run.count === 1
      ? ""
      : t(SAY.others, { n: gone, gone: gone || "none", count: run.count }),
    answer: { role: now.right ? "out" : null, text: t(now.answer) },
    expected: t(run.expected),
  };
  const how = step < last
    ? (run.forced ? "stillForced" : "still")
    : run.forced
    ? "ranForced"
    : run.reasons[pos] === "limit"
    ? "atLimit"
    : last === 1
    ? "once"
    : "enough";
  return [how, step === run.steps ? "answer" : "would", now.right ? "right" : "wrong"]
    .flatMap((key) => parts(SAY[key], values));
}

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
export const wide = (run) => layout(run) === "columns" && run.count > CROWD;
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

// Where everything of the ponder figure stands, in pixels of its board: over short positions a column each, over sentences a row each, and
// a single position lies on its side. One step of thinking is one block, whichever way it runs.

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const LONG = 3; // signs up to which positions stand side by side
const NARROW = 560; // px below which a sentence stands above its row, not beside it
const LEAST = 11; // px of a column or of a block, at the least: what is wider scrolls inside its panel

const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

let pen = null;
/** The width of a text in px. */
export function wide(text, size, weight = 400) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = `${weight} ${size}px ${SANS}`;
  return pen.measureText(text).width;
}

/** "columns", "rows" or "line". @param {string[]} labels of the positions */
export const layoutOf = (labels) => (labels.length === 1 ? "line" : labels.some((label) => Array.from(label).length > LONG) ? "rows" : "columns");

/**
 * @param {{labels: string[], steps: number, room: number, tall: number, far: boolean, big: boolean, words: {axis: number}}} how
 *   steps: the most that any position took; room, tall: px that there are (tall: 0 where the figure may be as high as it likes);
 *   far: the strip of distances is shown; big: for a projector; words.axis: px of the longest tick label
 */
export function place({ labels, steps, room, tall, far, big, words }) {
  const size = big ? { tick: 20, label: 26, note: 20 } : { tick: 12, label: 16, note: 12 };
  const how = { labels, steps, room, tall, far, big, words, size, count: labels.length };
  return { columns, rows, line }[layoutOf(labels)](how);
}

function columns(how) {
  const { count, steps, room, far, big, size, words } = how;
  const left = Math.ceil(words.axis) + 12;
  const right = 4;
  const cell = clamp((room - left - right) / count, LEAST, big ? 150 : 104);
  const width = Math.max(room, Math.ceil(left + count * cell + right));
  const x0 = left + Math.max(0, (width - left - right - count * cell) / 2);
  const bar = cell >= 24 ? Math.min(cell * 0.64, big ? 96 : 64) : cell - 3;
  const head = size.note + 10;
  const loose = cell >= 18; // is there room for every index?
  const band = size.label + size.tick + (loose ? 20 : 18);
  const spare = how.tall ? how.tall - head - band - 24 - (far ? size.tick + 24 : 0) : 0;
  const unit = how.tall ? clamp((spare * (far ? 0.4 : 0.54)) / steps, LEAST, 44) : clamp(184 / steps, LEAST, steps < 4 ? 38 : 26);
  const sum = how.tall ? clamp(spare - unit * steps * (far ? 1.6 : 1), 110, 320) : 156;
  const floor = head + steps * unit;
  const labelled = floor + band;
  const base = labelled + 8 + sum;
  const strip = clamp(140 / steps, big ? 14 : 9, 18);
  const farTop = base + size.tick + 24;
  const height = Math.ceil(far ? farTop + steps * strip + 6 : base + 10);
  const middle = (p) => x0 + (p + 0.5) * cell;
  const upright = (p, thick) => ({ x0: middle(p) - thick / 2, x1: middle(p) + thick / 2 });
  const [from, to] = [x0 - 6, x0 + count * cell + 2];
  const near = (p, at) => ({ x: x0 - 8, y: at, anchor: "middle left", n: p });
  return {
    ...how,
    mode: "columns",
    width,
    height,
    cell,
    step: (p, n) => ({ ...upright(p, bar), y0: floor - n * unit + 2, y1: floor - (n - 1) * unit - 1 }),
    sum: (p, a, b) => ({ ...upright(p, bar), y0: base - b * sum, y1: base - a * sum }),
    far: far ? (p, n) => ({ ...upright(p, cell >= 24 ? bar : cell - 1), y0: farTop + (steps - n) * strip, y1: farTop + (steps - n + 1) * strip - 1 }) : null,
    stopped: (p, n) => ({ x: middle(p), y: floor - n * unit - 1, anchor: "top center", room: cell }),
    label: (p) => ({ x: middle(p), y: floor + 6 + size.label / 2, anchor: "middle center", size: loose ? size.label : size.tick, family: "mono" }),
    index: (p) => (loose || p % 5 === 0 ? { x: middle(p), y: floor + size.label + size.tick / 2 + (loose ? 10 : 14), anchor: "middle center" } : null),
    name: (p) => ({ x0: middle(p) - Math.min(cell - 2, bar + 10) / 2, x1: middle(p) + Math.min(cell - 2, bar + 10) / 2, y0: floor + 3, y1: labelled - 3 }),
    answer: (p) => ({ x0: middle(p) - Math.min(bar, 34) / 2, x1: middle(p) + Math.min(bar, 34) / 2, ...(loose ? { y0: labelled - 7, y1: labelled - 4 } : { y0: floor + size.label + 5, y1: floor + size.label + 8 }) }),
    whole: (p) => ({ x0: middle(p) - cell / 2 + 0.5, x1: middle(p) + cell / 2 - 0.5, y0: 1, y1: base + 3 }),
    bands: (n) => [{ x0: from, x1: to, y0: floor - n * unit, y1: floor - (n - 1) * unit }],
    grid: [...Array.from({ length: steps }, (_, i) => ({ x0: from, x1: to, y0: floor - (i + 1) * unit, y1: floor - (i + 1) * unit }))],
    axes: [
      { x0: from, x1: to, y0: floor, y1: floor },
      { x0: from, x1: to, y0: base, y1: base },
    ],
    lines: (at) => [{ x0: from, x1: to, y0: base - at * sum, y1: base - at * sum }],
    tick: (n) => near(n, floor - (n - 0.5) * unit),
    level: (at) => near(0, base - at * sum),
    farTick: (n) => near(n, farTop + (steps - n + 0.5) * strip),
    captions: far ? { far: { x: from, y: farTop - 5, anchor: "top right" } } : {},
    every: unit >= size.tick + 3 ? 1 : 5,
    farEvery: strip >= size.tick + 2 ? 1 : steps > 10 ? 5 : 2,
    numbers: bar >= (big ? 46 : 30),
    farNumbers: false,
    hit: (x, y) => (y < 0 || y > height ? null : inside(Math.floor((x - x0) / cell), count)),
  };
}

function rows(how) {
  const { count, steps, room, far, big, size, labels } = how;
  const above = room < NARROW;
  const text = big ? 22 : 14;
  const widest = Math.max(...labels.map((label, p) => wide(`${label}  ${p}`, text, 600)));
  const names = above ? 0 : Math.min(room * 0.46, widest + 30);
  const gap = above ? 14 : 26;
  const parts = far ? [0.34, 0.42, 0.24] : [0.42, 0.58];
  const inner = room - names - 10 - gap * (parts.length - 1);
  const starts = parts.map((_, i) => names + 4 + parts.slice(0, i).reduce((a, b) => a + b, 0) * inner + gap * i);
  const widths = parts.map((part) => part * inner);
  const head = size.tick * 2 + 24;
  const thick = big ? 30 : 20;
  const row = above ? 56 : how.tall ? clamp((how.tall - head - 6) / count, 34, 62) : 36;
  const middle = (p) => head + p * row + (above ? row - thick / 2 - 6 : row / 2);
  const lying = (p, thickness = thick) => ({ y0: middle(p) - thickness / 2, y1: middle(p) + thickness / 2 });
  const unit = widths[0] / steps;
  const strip = far ? widths[2] / steps : 0;
  const bottom = head + count * row;
  const height = Math.ceil(bottom + 6);
  const [top, end] = [head - 4, bottom];
  // Lines that cross the rows leave the sentences alone where these stand above them.
  const spans = above ? labels.map((_, p) => ({ y0: middle(p) - thick / 2 - 3, y1: middle(p) + thick / 2 + 3 })) : [{ y0: top, y1: end }];
  const upright = (x) => spans.map((span) => ({ x0: x, x1: x, ...span }));
  const tickAt = (x) => ({ x, y: head - 7, anchor: "top center" });
  return {
    ...how,
    mode: "rows",
    width: room,
    height,
    cell: row,
    step: (p, n) => ({ ...lying(p), x0: starts[0] + (n - 1) * unit + 1, x1: starts[0] + n * unit - 2 }),
    sum: (p, a, b) => ({ ...lying(p), x0: starts[1] + a * widths[1], x1: starts[1] + b * widths[1] }),
    far: far ? (p, n) => ({ ...lying(p), x0: starts[2] + (n - 1) * strip, x1: starts[2] + n * strip - 1 }) : null,
    stopped: (p, n) => ({ x: starts[0] + n * unit + 3, y: middle(p), anchor: "middle right", room: widths[0] - n * unit }),
    label: (p) => ({ x: 14, y: above ? head + p * row + 12 : middle(p), anchor: "middle right", size: text, family: "text", most: (above ? room : names) - 24 }),
    index: () => null,
    name: (p) => ({ x0: 2, x1: (above ? Math.min(room - 4, wide(`${labels[p]}  ${p}`, text, 600) + 22) : names - 6), y0: (above ? head + p * row : middle(p) - Math.min(row, 44) / 2) + 2, y1: above ? head + p * row + 23 : middle(p) + Math.min(row, 44) / 2 - 2 }),
    answer: (p) => ({ x0: 6, x1: 9, y0: above ? head + p * row + 3 : middle(p) - 9, y1: above ? head + p * row + 21 : middle(p) + 9 }),
    whole: (p) => ({ x0: 0.5, x1: room - 1, y0: head + p * row + 0.5, y1: head + (p + 1) * row - 0.5 }),
    bands: (n) => (above ? [{ y0: size.tick + 10, y1: top }, ...spans] : [{ y0: size.tick + 10, y1: end }]).map((span) => ({ ...span, x0: starts[0] + (n - 1) * unit, x1: starts[0] + n * unit })),
    grid: Array.from({ length: count - 1 }, (_, i) => ({ x0: 0, x1: room, y0: head + (i + 1) * row, y1: head + (i + 1) * row })),
    axes: [0, 1].flatMap((i) => upright(starts[i])),
    lines: (at) => upright(starts[1] + at * widths[1]),
    tick: (n) => ({ ...tickAt(starts[0] + (n - 0.5) * unit), n }),
    level: (at) => ({ ...tickAt(starts[1] + at * widths[1]), anchor: at > 0.8 ? "top left" : "top center" }),
    farTick: (n) => ({ ...tickAt(starts[2] + (n - 0.5) * strip), n }),
    captions: Object.fromEntries(["steps", "sums", ...(far ? ["far"] : [])].map((name, i) => [name, { x: starts[i], y: 4, anchor: "bottom right", room: widths[i] }])),
    every: unit >= size.tick + 6 ? 1 : 5,
    farEvery: strip >= size.tick + 6 ? 1 : steps > 10 ? 5 : 2,
    numbers: true,
    farNumbers: false,
    hit: (x, y) => inside(Math.floor((y - head) / row), count),
  };
}

/** A single position: its blocks from left to right, below them the sum, below it the distances. */
function line(how) {
  const { steps, room, far, big, size } = how;
  const text = big ? 26 : 16;
  const [x0, x1] = [6, room - 12];
  const span = x1 - x0;
  const unit = span / steps;
  const tick = size.tick + 8;
  const caption = size.note + 10;
  const top = text + 22;
  const stepTop = top + caption;
  const stepTall = big ? 52 : 38;
  const sumTop = stepTop + stepTall + tick + 16 + caption;
  const sumTall = big ? 78 : 56;
  const farTop = sumTop + sumTall + tick + 16 + caption;
  const farTall = big ? 44 : 30;
  const height = Math.ceil(far ? farTop + farTall + tick + 6 : sumTop + sumTall + tick + 6);
  const under = (x, y, n) => ({ x, y: y + 5, anchor: x > x1 - 16 ? "bottom left" : "bottom center", n });
  return {
    ...how,
    mode: "line",
    width: room,
    height,
    cell: unit,
    step: (_, n) => ({ y0: stepTop, y1: stepTop + stepTall, x0: x0 + (n - 1) * unit + 1, x1: x0 + n * unit - 2 }),
    sum: (_, a, b) => ({ y0: sumTop, y1: sumTop + sumTall, x0: x0 + a * span, x1: x0 + b * span }),
    far: far ? (_, n) => ({ y0: farTop, y1: farTop + farTall, x0: x0 + (n - 1) * unit + 1, x1: x0 + n * unit - 2 }) : null,
    stopped: (_, n) => ({ x: x1, y: stepTop - 8, anchor: "top left", room: span / 2, n }),
    label: () => ({ x: x0 + 6, y: 8 + text / 2, anchor: "middle right", size: text, family: "mono" }),
    index: () => null,
    name: () => ({ x0: x0 - 4, x1: Math.min(room, x0 + wide(how.labels[0], text, 700) * 1.15 + 14), y0: 0, y1: text + 16 }),
    answer: () => null,
    whole: () => null,
    bands: (n) => [{ x0: x0 + (n - 1) * unit - 1, x1: x0 + n * unit, y0: stepTop - 5, y1: stepTop + stepTall + tick + 2 }],
    grid: [],
    axes: [{ x0, x1: x0, y0: sumTop - 4, y1: sumTop + sumTall + 4 }],
    lines: (at) => [{ x0: x0 + at * span, x1: x0 + at * span, y0: sumTop - 5, y1: sumTop + sumTall + 5 }],
    tick: (n) => under(x0 + (n - 0.5) * unit, stepTop + stepTall, n),
    level: (at) => under(x0 + at * span, sumTop + sumTall, 0),
    farTick: (n) => under(x0 + (n - 0.5) * unit, farTop + farTall, n),
    captions: { steps: { x: x0, y: stepTop - 8, anchor: "top right" }, sums: { x: x0, y: sumTop - 8, anchor: "top right" }, ...(far ? { far: { x: x0, y: farTop - 8, anchor: "top right" } } : {}) },
    every: unit >= size.tick + 10 ? 1 : 5,
    farEvery: unit >= size.tick + 10 ? 1 : 5,
    numbers: true,
    farNumbers: unit >= 34,
    hit: (x, y) => (y >= 0 && y <= height ? 0 : null),
  };
}

const inside = (p, count) => (p >= 0 && p < count ? p : null);

// What the Plotly figures of several pictures have in common: a sheet whose parts are placed in px
// as the pen places them, heat maps in the colours of the theme, names along an axis, outlines of
// what is locked.

import { upTo } from "./arrays.js";
import { colour, ink, shade } from "./pen.js";
import { escape } from "./plot.js";
import { short } from "./signs.js";

const STOPS = 33; // colours of a scale, as many as the theme has
const LEAST = 0.1; // weights from here on are printed in their cells
const INSET = 1; // px of the light line inside of an outline
const LIFT = 0.11; // of the size of a text, between the middle of its letters and that of Plotly's line
const ALIGN = { left: "middle right", center: "middle center", right: "middle left" };

/** The scale of weights from 0 to 1, as Plotly takes it; gamma < 1 lifts small ones. */
export const weightScale = (gamma = 1) =>
  upTo(STOPS, (n) => [n / (STOPS - 1), shade("weights", (n / (STOPS - 1)) ** gamma)]);

/** An axis without a line, grid and ticks. */
export const BARE = {
  showline: false,
  showgrid: false,
  zeroline: false,
  ticks: "",
  tickvals: [], // else Plotly makes labels that nobody sees
  showticklabels: false,
};

/** An axis that says these texts at these values. more: of the axis */
export const ticksAt = (tickvals, ticktext, size, more = {}) => ({
  ...BARE,
  showticklabels: true,
  tickmode: "array",
  tickvals,
  ticktext,
  tickangle: 0,
  tickfont: { size, color: "var(--ink3)" },
  ...more,
});

/** An axis that names its places, every so many. */
export const namedAxis = (names, size, every = 1) =>
  ticksAt(
    upTo(names.length).filter((at) => at % every === 0),
    names.filter((_, at) => at % every === 0),
    size,
    { tickangle: "auto", tickfont: { size } },
  );

/** A token with its number, {text, at}, in the colour of its role where it is locked. */
export function tokenLabel({ text, at }, { role = "", between = "<br>", size }) {
  const name = escape(text);
  return {
    html: role
      ? `<span style="color:var(--${role})"><b>${name}</b>${between}<span style="font-size:${size}px">${at}</span></span>`
      : `${name}${between}<span style="color:var(--ink3);font-size:${size}px">${at}</span>`,
  };
}

/**
 * An axis of tokens, {text, at} each: every so many, and those of a list that are locked, in the
 * colour of their role.
 */
export function tokenAxis(names, { every = 1, list = [], role, between, size, index }) {
  // Has this name room: is it locked, or one of every so many and none that is locked too near?
  const fits = (n) =>
    list.includes(n) || (n % every === 0 && !list.some((one) => Math.abs(one - n) < every));
  const shown = upTo(names.length).filter(fits);
  return {
    tickmode: "array",
    tickvals: shown,
    ticktext: shown.map((n) =>
      tokenLabel(names[n], { role: list.includes(n) ? role : "", between, size: index })
    ),
    tickfont: { size, color: "var(--ink)" },
  };
}

/** Rows × columns of numbers as a trace of cells; NaN is a cell that is not there. */
export const heatOf = ({ data, rows, columns }, more = {}) => ({
  type: "heatmap",
  z: upTo(
    rows,
    (i) =>
      Array.from(data.slice(i * columns, (i + 1) * columns), (one) => one === one ? one : null),
  ),
  zmin: 0,
  zmax: 1,
  zsmooth: false,
  colorscale: weightScale(),
  showscale: false,
  ...more,
});

/** The weights of large cells in numbers, black or white, whichever is read better. */
export function numbersOf({ data, columns }, size, least = LEAST) {
  const found = upTo(data.length).filter((n) => data[n] >= LEAST && data[n] >= least);
  return {
    type: "scatter",
    mode: "text",
    x: found.map((n) => n % columns),
    y: found.map((n) => Math.floor(n / columns)),
    text: found.map((n) => short(data[n])),
    textfont: { size, weight: 600, color: found.map((n) => ink(shade("weights", data[n]))) },
  };
}

/** Thin lines between cells, one path for all of them; none between few. */
export function lattice(rows, columns, more = {}) {
  const down = upTo(columns - 1, (j) => `M${j + 0.5},-0.5L${j + 0.5},${rows - 0.5}`);
  const across = upTo(rows - 1, (i) => `M-0.5,${i + 0.5}L${columns - 0.5},${i + 0.5}`);
  const path = [...down, ...across].join("");
  const line = { color: "rgba(255,255,255,0.13)", width: 1 };
  return path ? [{ type: "path", path, line, ...more }] : [];
}

/**
 * Rectangles around a part of a map: one in the colour of its role, one inside of it that is seen
 * on dark cells. cell, row: px of a step along both axes
 */
export function outline({ x0, x1, y0, y1 }, role, width, { cell, row }, more = {}) {
  const box = (by, line) => ({
    type: "rect",
    x0: x0 + by / cell,
    x1: x1 - by / cell,
    y0: y0 + by / row,
    y1: y1 - by / row,
    line,
    ...more,
  });
  return [
    box(width / 2, { color: `var(--${role})`, width }),
    box(width + INSET / 2, { color: "var(--panel)", width: INSET }),
  ];
}

/** The title of a part of a figure, above its left end. x, y: in shares of the paper. */
export const partTitle = (text, x, y, size) => ({
  text,
  x,
  y,
  xref: "paper",
  yref: "paper",
  xanchor: "left",
  yanchor: "bottom",
  showarrow: false,
  font: { size, color: "var(--ink2)" },
});

/** The frame of what is locked. */
export const lockFrame = (axis, x0, x1, y0, y1) => ({
  type: "rect",
  xref: `x${axis}`,
  yref: `y${axis}`,
  x0,
  x1,
  y0,
  y1,
  line: { color: "var(--query)", width: 2 },
});

/** A chip for each head, "1·3" for "1.3". */
export const headChoice = (label, heads) => ({
  key: "head",
  label,
  options: heads.map((value) => ({ value, label: headName(value) })),
});
export const headName = (head) => head.replace(".", "·");

/** A colour that lets through what lies under it. */
export const faint = (name, share) =>
  colour(name) + Math.round(255 * share).toString(16).padStart(2, "0");
const tokenOf = (name) => (/^(#|rgb|var)/.test(name) ? name : `var(--${name})`);

/**
 * A subplot of a sheet; its shapes and traces stand in data of its axes, so that they follow zoom
 * and pan.
 */
class Part {
  constructor(sheet, box, number, { x, y }) {
    /** @type {Sheet} */
    this.sheet = sheet;
    this.box = box;
    this.number = number;
    this.axes = { x, y };
    const along = (from, to, [first, last]) => [
      (value) => from + ((value - first) / (last - first)) * (to - from),
      (px) => first + ((px - from) / (to - from)) * (last - first),
    ];
    const [toX, backX] = along(box.x0, box.x1, x.range);
    const [toY, backY] = along(box.y0, box.y1, y.range);
    this.x = toX;
    this.backX = backX;
    this.y = toY;
    this.backY = backY;
    this.refs = { xref: `x${number}`, yref: `y${number}` };
    this.step = { cell: Math.abs(this.x(1) - this.x(0)), row: Math.abs(this.y(1) - this.y(0)) };
  }

  add(...traces) {
    const axes = { xaxis: `x${this.number}`, yaxis: `y${this.number}` };
    this.sheet.data.push(...traces.map((trace) => ({ ...trace, ...axes })));
  }

  /**
   * style: {fill, line, width, dash, alpha, layer}, colours by their tokens; place: of a Plotly
   * shape
   */
  shape(place, { fill, line, width = 1, dash = "solid", alpha = 1, layer = "above" }) {
    this.sheet.shapes.push({
      ...this.refs,
      ...place,
      opacity: alpha,
      layer,
      fillcolor: fill ? tokenOf(fill) : "rgba(0,0,0,0)",
      line: line ? { color: tokenOf(line), width, dash } : { width: 0 },
    });
  }

  /** radius: of its corners, in px */
  rect(x0, x1, y0, y1, /** @type {any} */ { radius = 0, ...style }) {
    const [rx, ry] = [radius / this.step.cell, radius / this.step.row];
    const path = `M${x0 + rx},${y0}H${x1 - rx}Q${x1},${y0} ${x1},${y0 + ry}V${y1 - ry}` +
      `Q${x1},${y1} ${x1 - rx},${y1}H${x0 + rx}Q${x0},${y1} ${x0},${y1 - ry}V${y0 + ry}` +
      `Q${x0},${y0} ${x0 + rx},${y0}Z`;
    this.shape(radius ? { type: "path", path } : { type: "rect", x0, x1, y0, y1 }, style);
  }

  line(x0, y0, x1, y1, style) {
    this.shape({ type: "line", x0, y0, x1, y1 }, style);
  }

  /**
   * A text that changes while one points: alone it is drawn anew, unlike those of a trace. ground:
   * the colour behind it, so many px high
   */
  note(x, y, text, { size = 12, weight = 400, colour: ink = "ink2", align = "left", ...more }) {
    const { ground = null, height } = more;
    this.sheet.annotations.push({
      ...this.refs,
      x,
      y,
      text,
      xanchor: align,
      yanchor: "middle",
      align,
      showarrow: false,
      borderpad: 0,
      bgcolor: ground ? tokenOf(ground) : "rgba(0,0,0,0)",
      ...(height ? { height } : {}),
      font: { size: this.sheet.pen.type(size), weight, color: tokenOf(ink) },
    });
  }

  outline(x0, x1, y0, y1, role, width) {
    this.sheet.shapes.push(...outline({ x0, x1, y0, y1 }, role, width, this.step, this.refs));
  }
}

/**
 * A Plotly figure whose parts are subplots at boxes of px, and whose texts stand where the pen
 * would write them: all texts are one trace, which is cheaper than an annotation for each.
 */
export class Sheet {
  constructor(pen) {
    this.pen = pen;
    /** @type {any[]} */
    this.data = [];
    /** @type {any[]} */
    this.shapes = [];
    /** @type {any[]} */
    this.annotations = [];
    /** @type {Part[]} */
    this.parts = [];
    /** @type {any[]} */
    this.texts = [];
    const px = { range: [0, 1] };
    // what stands in it is not moved by zoom
    this.plane = new Part(this, { x0: 0, x1: 1, y0: 0, y1: 1 }, "", { x: px, y: px });
  }

  /**
   * A subplot in a box of px. x, y: {range: [its value at the left or top, at the right or bottom],
   * …more of the axis}
   */
  part(box, axes) {
    this.parts.push(new Part(this, box, this.parts.length + 2, axes));
    return this.parts.at(-1);
  }

  /**
   * A text, y the middle of its letters. style: {size, weight, colour, face, align, room} as the
   * pen takes it.
   */
  write(x, y, text, style = {}) {
    if (!text) return;
    const size = this.pen.type(style.size ?? 12);
    const own = style.room ? this.pen.cut(text, style.room, { ...style, size }) : text;
    this.texts.push({ weight: 400, colour: "ink2", face: "ui", ...style, x, y, size, text: own });
  }

  /** The figure of what stands in a box of px. */
  figure(box) {
    const [wide, high] = [box.x1 - box.x0, box.y1 - box.y0];
    const { texts, shapes, annotations } = this;
    const layout = {
      height: high,
      margin: { l: 0, r: 0, t: 0, b: 0, pad: 0 },
      barmode: "overlay",
      bargap: 0,
      shapes,
      annotations,
      xaxis: { range: [box.x0, box.x1], visible: false, fixedrange: true },
      yaxis: { range: [box.y1, box.y0], visible: false, fixedrange: true },
    };
    for (const { number, box: { x0, x1, y0, y1 }, axes: { x, y } } of this.parts) {
      layout[`xaxis${number}`] = {
        ...BARE,
        ...x,
        domain: [x0, x1].map((px) => (px - box.x0) / wide),
        anchor: `y${number}`,
      };
      layout[`yaxis${number}`] = {
        ...BARE,
        ...y,
        range: [...y.range].reverse(),
        domain: [y1, y0].map((px) => 1 - (px - box.y0) / high),
        anchor: `x${number}`,
      };
    }
    const all = (key) => texts.map((one) => one[key]);
    const written = {
      type: "scatter",
      mode: "text",
      cliponaxis: false,
      x: all("x"),
      y: texts.map(({ y, size }) => y + LIFT * size),
      text: all("text"),
      textposition: texts.map(({ align = "left" }) => ALIGN[align]),
      textfont: {
        size: all("size"),
        weight: all("weight"),
        color: all("colour").map(tokenOf),
        family: all("face").map((face) => `var(--font-${face})`),
      },
    };
    return { data: [written, ...this.data], layout };
  }

  /** Places it in the picture of its pen. more: of the layout */
  place(box, more = {}) {
    const { data, layout } = this.figure(box);
    this.pen.plot(box, { data, layout: { ...layout, ...more } });
  }
}

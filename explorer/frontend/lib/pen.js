// One pen for every picture. What it draws is kept as marks; from the same marks come the canvas of
// the page, the PNG at twice its size, and an SVG of vectors in which text is text. Colours are
// names of tokens ("accent", "cat-3") or "#rrggbb", of the theme of the moment. A box is {x0, y0,
// x1, y1} in px of the picture, y downwards.

import { upTo } from "./arrays.js";
import { svg } from "./dom.js";
import { enlarge, paint, rgb, table } from "./raster.js";
import { css, onTheme } from "./theme.js";

const LEAST = { page: 11, big: 20 }; // px of the smallest text, on the page and for an audience
// by how much text may grow where it was given room, so that it is as large as that when it is
// shown smaller
const GROWN = 1.1;
export const WIDE = 1.06; // how much wider a text may run in the fonts of another machine
const VECTORS = 128; // rows and columns up to which cells are vectors in an SVG
const UP = 0.36; // of the size of a text, from the middle of its letters down to their foot

const RAMP = Float32Array.from({ length: 64 }, (_, at) => at / 63); // of a scale

const scales = new Map();
onTheme(() => scales.clear());
const token = (name) => css(`--${name}`);

const asHex = (list) =>
  `#${list.map((one) => Math.round(one).toString(16).padStart(2, "0")).join("")}`;

/**
 * A colour as "#rrggbb": colour("accent"), or mixed: colour("accent", 0.5, "panel") is half of
 * each.
 */
export function colour(name, share = 1, other = "panel") {
  const own = name.startsWith("#") || name === "none" ? name : token(name);
  if (share >= 1) return own;
  const [a, b] = [rgb(own), rgb(colour(other))];
  return asHex(a.map((one, at) => share * one + (1 - share) * b[at]));
}

/** Black or white, whichever is read better on a colour. */
export function ink(on) {
  const [r, g, b] = rgb(colour(on))
    .map((
      one,
    ) => (one / 255 <= 0.03928 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** 256 colours of a scale: "weights", "signed", "surprise", or a list of evenly spaced colours. */
export function shades(scale, gamma = 1) {
  const key = `${scale} ${gamma}`;
  if (!scales.has(key)) {
    const stops = Array.isArray(scale) ? scale.map((one) => colour(one)) : token(`scale-${scale}`)
      .match(/#[\da-f]{6}/gi);
    scales.set(key, table(stops.map((one, at) => [at / (stops.length - 1), one]), gamma));
  }
  return scales.get(key);
}

/** The colour of a scale at a share of it, from 0 to 1. */
export function shade(scale, share) {
  const at = 3 * Math.max(0, Math.min(255, Math.round(share * 255)));
  return asHex(Array.from(shades(scale).subarray(at, at + 3)));
}

/** A box that is larger by so many px on every side. */
export const around = ({ x0, x1, y0, y1 }, by) => ({
  x0: x0 - by,
  x1: x1 + by,
  y0: y0 - by,
  y1: y1 + by,
});

/** Of a box of rows × columns the box of a cell. */
export function cellIn({ x0, x1, y0, y1 }, rows, columns, row, column) {
  const [wide, high] = [(x1 - x0) / columns, (y1 - y0) / rows];
  return {
    x0: x0 + column * wide,
    x1: x0 + (column + 1) * wide,
    y0: y0 + row * high,
    y1: y0 + (row + 1) * high,
  };
}

/** For the legend: the mark of a whole scale in so many parts, `wide` px. */
export const ramp = (scale, wide, parts = 8, gamma = 1) => ({
  shades: upTo(parts, (n) => shade(scale, (n / (parts - 1)) ** gamma)),
  wide,
});

let ruler = null;
const font = ({ size, weight = 400, face = "ui" }) =>
  `${weight} ${size}px ${token(`font-${face}`)}`;

export class Pen {
  /**
   * width: px that there are. tall: px of height, 0 where it may be as high as it likes. big: for
   * an audience. zoom: by how much it is
   *  shown smaller. top: of a picture that is higher than its view, the px above the view; null
   *  where it leaves the page, and says itself. */
  constructor({ width, tall = 0, big = false, zoom = 1, top = null }) {
    Object.assign(this, {
      width,
      tall,
      big,
      zoom,
      top,
      height: 0,
      view: 0,
      marks: [],
      boxes: [],
      handles: [],
      plots: [],
      keep: null,
      spoken: null,
      said: null,
    }); // spoken(): px that the sentence takes within the picture; said: where it stands
    this.narrow = width < 560 && !big;
    this.small = big ? 20 : 12; // px of small print
  }

  /**
   * How large the picture is; wider than there is room, it scrolls. keep: a box that stays in view
   * then. view: px of height that are seen
   *  at once, where that is not all: then only what lies from `top` on need be drawn. */
  size(width, height, keep = null, view = 0) {
    Object.assign(this, {
      width: Math.ceil(width),
      height: Math.ceil(height),
      keep,
      view: view < height ? Math.ceil(view) : 0,
    });
  }

  /**
   * From y on the picture goes on below its sentence: returns where. Where the sentence stands
   * elsewhere, that is y.
   */
  say(y) {
    this.said = this.spoken ? y : null;
    return y + (this.spoken?.() ?? 0);
  }

  /** The size of a text as asked for, never under what can be read. */
  type = (size) => Math.max(size, this.big ? LEAST.big * Math.min(GROWN, this.zoom) : LEAST.page);

  /** The width of a text in px. style: {size, weight, face: "ui" | "title" | "mono"}. */
  measure(text, style = {}) {
    ruler ??= document.createElement("canvas").getContext("2d");
    ruler.font = font({ ...style, size: this.type(style.size ?? 12) });
    return ruler.measureText(text).width;
  }

  /** style: {fill, line, width, radius, dash, hatch, alpha}; hatch: the colour of its stripes. */
  rect(box, style) {
    this.marks.push({ kind: "rect", box, ...style });
    if (style.hatch) this.path(hatched(box), { line: style.hatch, width: style.stripe ?? 2 });
  }

  /** style: {line, width, dash, alpha} */
  line(x0, y0, x1, y1, style) {
    this.path(`M${x0},${y0}L${x1},${y1}`, style);
  }

  /** d: as in SVG. style: {fill, line, width, dash, alpha, cap} */
  path(d, style) {
    this.marks.push({ kind: "path", d, ...style });
  }

  circle(x, y, r, style) {
    this.path(`M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`, style);
  }

  /**
   * style: {size, weight, face, colour, align: "left" | "center" | "right", room, turn, halo,
   * alpha}; y: the middle of its letters;
   *  room: px, what is longer is cut with "…"; turn: degrees around (x, y); halo: a colour around
   *  its letters. */
  text(x, y, text, style = {}) {
    const size = this.type(style.size ?? 12);
    const whole = String(text);
    this.marks.push({
      kind: "text",
      x,
      y,
      colour: "ink2",
      ...style,
      size,
      text: style.room ? this.cut(whole, style.room, { ...style, size }) : whole,
      whole,
    });
  }

  /** A text that fits so many px, with "…" for what is left out. */
  cut(text, room, style) {
    if (this.measure(text, style) <= room) return text;
    const letters = Array.from(text);
    while (letters.length && this.measure(`${letters.join("")}…`, style) > room) letters.pop();
    return letters.length ? `${letters.join("").trimEnd()}…` : "";
  }

  /** Lines of a text that fit so many px. */
  lines(text, room, style) {
    const out = [""];
    for (const word of text.split(/(?<=[\s，；：。、])/u)) {
      if (out.at(-1) && this.measure((out.at(-1) + word).trimEnd(), style) > room) out.push("");
      out[out.length - 1] += word;
    }
    return out.map((line) => line.trim());
  }

  /**
   * Rows × columns of numbers as cells. Where several share a pixel the largest shows; NaN takes
   * the colour `empty`. how: {data, rows, columns, scale = "weights", low = 0, high = 1, gamma = 1,
   * empty = "sunk", radius, alpha}
   */
  cells(box, how) {
    this.marks.push({
      kind: "cells",
      box,
      scale: "weights",
      low: 0,
      high: 1,
      gamma: 1,
      empty: "sunk",
      ...how,
    });
  }

  /**
   * A picture in colours of its own. how: {image: ImageData, crop: {left, top, columns, rows},
   * radius, smooth, alpha}; crop: what is drawn
   */
  pixels(box, how) {
    this.marks.push({ kind: "pixels", box, ...how });
  }

  /**
   * A Plotly figure, {data, layout}; colours in it are "var(--token)". pick(point): the box of one
   * of its points, {trace, i, x, y, customdata}, beside its place, or null; i: the number of the
   * point, [row, column] in a heat map.
   */
  plot(box, { data, layout = {}, pick = null }) {
    const mark = { kind: "plot", box, data, layout, pick };
    this.marks.push(mark);
    this.plots.push(mark);
  }

  /**
   * The bar of a scale with its ends in numbers and its title beside it. how: {scale, low, high,
   * title, size}
   */
  scale(box, { scale = "weights", low = 0, high = 1, title = "", size = 12 }) {
    this.cells(box, { data: RAMP, rows: 1, columns: RAMP.length, scale });
    const y = (box.y0 + box.y1) / 2;
    const from = `${title ? `${title} ` : ""}${low}`;
    this.text(box.x0 - 5, y, from, { size, align: "right" });
    this.text(box.x1 + 5, y, String(high), { size });
  }

  /** A piece of the legend: mark: {fill, line, hatch, radius, width} or {shades: [colours]}. */
  swatch(box, { shades: parts, ...style }) {
    if (!parts) this.rect(box, style);
    else {parts.forEach((fill, at) =>
        this.rect({
          ...box,
          x0: box.x0 + (at * (box.x1 - box.x0)) / parts.length,
          x1: box.x0 + ((at + 1) * (box.x1 - box.x0)) / parts.length,
        }, { fill })
      );}
  }

  /** Draws moved by (x, y), and with `clip` only inside of that box, given in the moved px. */
  group(x, y, draw, clip = null) {
    const before = [this.marks, this.boxes.length, this.handles.length];
    this.marks = [];
    draw();
    before[0].push({ kind: "group", x, y, clip, marks: this.marks });
    this.marks = before[0];
    const move = (box) =>
      Object.assign(
        box,
        { x0: box.x0 + x, x1: box.x1 + x, y0: box.y0 + y, y1: box.y1 + y },
        box.at && { at: shifted(box.at, x, y) },
      );
    this.boxes.slice(before[1]).forEach(move);
    this.handles.slice(before[2]).forEach(move);
  }

  /**
   * What can be pointed at: {x0, y0, x1, y1, look, card, add, set, fire, still}, or at(x, y) ->
   * such a box or null, for many alike, with of(pos) -> the box of a place that another view points
   * at. look: {key: value} that a hover previews and a click locks. card(): [title, …lines]. set:
   * {field: value} a click asks the program for; fire: [name, detail] a click tells the page. add:
   * {set} or {fire} for a shift-click; without it a shift-click adds to the lock. still: true for a
   * box that shows no outline.
   */
  hit(box) {
    this.boxes.push(box);
  }

  /**
   * Cells that can be pointed at, rows × columns of a box. cell(row, column): what stands in the
   * box of one beside its place, or null.
   */
  grid(box, rows, columns, cell, more = {}) {
    const { x0, x1, y0, y1 } = box;
    this.hit({
      ...box,
      ...more,
      at(x, y) {
        const row = Math.min(rows - 1, Math.floor(((y - y0) / (y1 - y0)) * rows));
        const column = Math.min(columns - 1, Math.floor(((x - x0) / (x1 - x0)) * columns));
        const found = cell(row, column);
        return found && { ...cellIn({ x0, x1, y0, y1 }, rows, columns, row, column), ...found };
      },
    });
  }

  /**
   * A handle that is dragged: {x0, y0, x1, y1, name, label, says, value, least, most, step, of(x,
   * y), set(value), disabled}. name: its key in look.draft while it moves; of: the value at a
   * place; set(value): {field: value} that is asked for on release.
   */
  handle(how) {
    this.handles.push({ least: 0, most: 1, step: 1, ...how });
  }
}

const shifted = (at, x, y) => (px, py) => {
  const box = at(px - x, py - y);
  return box && { ...box, x0: box.x0 + x, x1: box.x1 + x, y0: box.y0 + y, y1: box.y1 + y };
};

/** Stripes through a box, from lower left to upper right, as a path. */
function hatched({ x0, y0, x1, y1 }) {
  let d = "";
  for (let at = 5; at < x1 - x0 + y1 - y0; at += 7) {
    const [low, high] = [Math.min(at, y1 - y0), Math.max(0, at - (x1 - x0))];
    d += `M${x0 + at - low},${y0 + low}L${x0 + at - high},${y0 + high}`;
  }
  return d;
}

const dashes = (dash) => (dash === true ? [5, 4] : (dash ?? []));

/** Draws marks on the context of a canvas, whose transform stands already. */
export function onCanvas(context, marks) {
  for (const mark of marks) {
    context.save();
    context.globalAlpha *= mark.alpha ?? 1;
    CANVAS[mark.kind](context, mark);
    context.restore();
  }
}

function inked(context, shape, { fill, line, width = 1, dash, cap }) {
  if (fill && fill !== "none") {
    context.fillStyle = colour(fill);
    context.fill(shape);
  }
  if (!line) return;
  Object.assign(context, {
    strokeStyle: colour(line),
    lineWidth: width,
    lineJoin: "round",
    lineCap: cap ?? "butt",
  });
  context.setLineDash(dashes(dash));
  context.stroke(shape);
}

/** The box of a rectangle whose line stays inside of it. */
const within = (
  { box: { x0, y0, x1, y1 }, line, width = 1 },
) => (line
  ? [x0 + width / 2, y0 + width / 2, Math.max(0, x1 - x0 - width), Math.max(0, y1 - y0 - width)]
  : [x0, y0, Math.max(0, x1 - x0), Math.max(0, y1 - y0)]);

const CANVAS = {
  rect(context, mark) {
    const shape = new Path2D();
    const [x, y, w, h] = within(mark);
    shape.roundRect(x, y, w, h, Math.min(mark.radius ?? 0, w / 2, h / 2));
    inked(context, shape, mark);
  },
  path: (context, mark) => inked(context, new Path2D(mark.d), mark),
  text(context, mark) {
    context.translate(mark.x, mark.y);
    if (mark.turn) context.rotate((mark.turn * Math.PI) / 180);
    Object.assign(context, {
      font: font(mark),
      textAlign: mark.align ?? "left",
      fillStyle: colour(mark.colour),
      lineJoin: "round",
    });
    if (mark.halo) {
      Object.assign(context, { strokeStyle: colour(mark.halo), lineWidth: 4 });
      context.strokeText(mark.text, 0, UP * mark.size);
    }
    context.fillText(mark.text, 0, UP * mark.size);
  },
  cells: (context, { box, scale, gamma, empty, ...how }) =>
    paint(context, {
      ...how,
      alpha: context.globalAlpha,
      colours: shades(scale, gamma),
      empty: colour(empty),
      x: box.x0,
      y: box.y0,
      width: box.x1 - box.x0,
      height: box.y1 - box.y0,
    }),
  pixels(context, { box: { x0, y0, x1, y1 }, image, crop, radius = 0, smooth }) {
    context.beginPath();
    context.roundRect(x0, y0, x1 - x0, y1 - y0, radius);
    context.clip();
    enlarge(context, image, { x: x0, y: y0, width: x1 - x0, height: y1 - y0, crop, smooth });
  },
  /** On the page Plotly draws it; in a file the picture that was made of it. */
  plot(context, { box: { x0, y0, x1, y1 }, drawn }) {
    if (drawn) context.drawImage(drawn.image, x0, y0, x1 - x0, y1 - y0);
  },
  group(context, { x, y, clip, marks }) {
    context.translate(x, y);
    if (clip) {
      context.beginPath();
      context.rect(clip.x0, clip.y0, clip.x1 - clip.x0, clip.y1 - clip.y0);
      context.clip();
    }
    onCanvas(context, marks);
  },
};

/** The same marks as an SVG element. */
export function asSvg({ marks, width, height }, attributes = {}) {
  let clips = 0;
  const style = ({ fill, line, width: wide = 1, dash, alpha, cap }) => ({
    fill: fill ? colour(fill) : "none",
    ...(line
      ? {
        stroke: colour(line),
        "stroke-width": wide,
        "stroke-linejoin": "round",
        "stroke-linecap": cap,
        "stroke-dasharray": dash ? dashes(dash).join(" ") : null,
      }
      : {}),
    opacity: alpha,
  });
  const make = {
    rect(mark) {
      const [x, y, w, h] = within(mark);
      return svg("rect", { x, y, width: w, height: h, rx: mark.radius, ...style(mark) });
    },
    path: (mark) => svg("path", { d: mark.d, ...style(mark) }),
    text: ({ x, y, text, size, weight, face = "ui", colour: of, align, turn, halo, alpha }) =>
      svg("text", {
        x,
        y: y + UP * size,
        text,
        "font-size": size,
        "font-weight": weight,
        "font-family": token(`font-${face}`),
        fill: colour(of),
        opacity: alpha,
        "text-anchor": { center: "middle", right: "end" }[align],
        transform: turn ? `rotate(${turn} ${x} ${y})` : null,
        ...(halo
          ? {
            stroke: colour(halo),
            "stroke-width": 4,
            "stroke-linejoin": "round",
            "paint-order": "stroke",
          }
          : {}),
      }),
    cells: (
      mark,
    ) => (mark.rows <= VECTORS && mark.columns <= VECTORS ? vectors(mark) : image(mark)),
    pixels: (mark) =>
      image({
        ...mark,
        radius: 0,
        rows: mark.crop?.rows ?? mark.image.height,
        columns: mark.crop?.columns ?? mark.image.width,
      }),
    plot({ box: { x0, y0 }, drawn }) {
      return svg("g", { transform: `translate(${x0} ${y0})` }, drawn?.node.cloneNode(true));
    },
    group({ x, y, clip, alpha, marks: inner }) {
      const name = `clip${(clips += 1)}`;
      const cut = clip && svg("clipPath", { id: name }, make.rect({ box: clip }));
      return svg(
        "g",
        {
          transform: `translate(${x} ${y})`,
          opacity: alpha,
          "clip-path": clip ? `url(#${name})` : null,
        },
        cut,
        inner.map((mark) => make[mark.kind](mark)),
      );
    },
  };
  return svg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    ...attributes,
  }, marks.map((mark) => make[mark.kind](mark)));
}

/** Cells as one path for each colour, neighbours of one colour in a row as one rectangle. */
export function vectors(
  { box, data, rows, columns, scale, low, high, gamma, empty, alpha, ...more },
) {
  const { of = shades(scale, gamma), veil = () => "" } = more; // veil(share): "80" lets half through
  const share = (value) => Math.max(0, Math.min(1, (value - low) / (high - low || 1)));
  const [w, h] = [(box.x1 - box.x0) / columns, (box.y1 - box.y0) / rows];
  const name = (value) => {
    if (value !== value) return colour(empty);
    const at = 3 * Math.round(share(value) * 255);
    return asHex(Array.from(of.subarray(at, at + 3))) + veil(share(value));
  };
  const round = (value) => Math.round(value * 100) / 100;
  const paths = new Map();
  for (let row = 0; row < rows; row += 1) {
    for (let from = 0, to = 1; from < columns; from = to, to += 1) {
      const fill = name(data[row * columns + from]);
      while (to < columns && name(data[row * columns + to]) === fill) to += 1;
      paths.set(
        fill,
        `${paths.get(fill) ?? ""}M${round(box.x0 + from * w)},${round(box.y0 + row * h)}h${
          round((to - from) * w)
        }v${round(h)}h${round((from - to) * w)}z`,
      );
    }
  }
  return svg(
    "g",
    { "shape-rendering": "crispEdges", opacity: alpha },
    [...paths].map(([fill, d]) => svg("path", { fill, d })),
  );
}

/** Cells as an embedded picture of one pixel each. */
function image(mark) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [mark.columns, mark.rows];
  CANVAS[mark.kind](canvas.getContext("2d"), {
    ...mark,
    box: { x0: 0, y0: 0, x1: mark.columns, y1: mark.rows },
  });
  const { x0, y0, x1, y1 } = mark.box;
  return svg("image", {
    x: x0,
    y: y0,
    width: x1 - x0,
    height: y1 - y0,
    preserveAspectRatio: "none",
    style: { imageRendering: mark.smooth ? "auto" : "pixelated" },
    href: canvas.toDataURL("image/png"),
    opacity: mark.alpha,
  });
}

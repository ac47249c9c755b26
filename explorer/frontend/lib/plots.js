// The Plotly figures of a picture on the stage. Each lies in the picture where the pen placed it
// (`pen.plot`, or the whole of a picture that exports `figure`). Plotly draws, zooms and pans; what
// is pointed at is the board's business, so hover, lock, touch and keys are the same as in every
// other picture. For that the points of a figure become boxes, and a place on the screen is led
// back through the zoom to where it lies at home.

import { el } from "./dom.js";
import { lang } from "./lang.js";
import { escape, plot } from "./plot.js";

const PACE = 100; // ms between two drawings of a run that grows
const NEAR = 9; // px around a point that count as the point
const BUTTONS = ["zoom2d", "pan2d", "select2d", "resetScale2d"];
const AXIS = /^([xy])axis(\d*)$/;

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

/**
 * The subplots of a drawn figure that can be zoomed: {x, y} Plotly's axes of each, which know
 * pixels and data.
 */
function subplotsOf(node) {
  const { _plots: plots = {} } = node._fullLayout ?? {};
  return Object.values(plots).map(({ xaxis: x, yaxis: y }) => ({ x, y }))
    .filter(({ x, y }) => !(x.fixedrange && y.fixedrange));
}

const frameOf = ({ x, y }) => ({
  x0: x._offset,
  x1: x._offset + x._length,
  y0: y._offset,
  y1: y._offset + y._length,
});
const inside = (box, x, y) => x >= box.x0 && x <= box.x1 && y >= box.y0 && y <= box.y1;

/** Half the distance between neighbours along an axis, in data, from where they stand. */
function halfStep(places) {
  const sorted = [...new Set(places)].sort((a, b) => a - b);
  let least = Infinity;
  for (let at = 1; at < sorted.length; at += 1) {
    least = Math.min(least, sorted[at] - sorted[at - 1]);
  }
  return Number.isFinite(least) ? least / 2 : 0.5;
}

/**
 * The boxes of a trace's points as they stand without zoom, in px of the figure. at(axis, value):
 * px.
 * @returns {{i: number | [number, number], x: any, y: any, x0: number, x1: number, y0: number, y1:
 * number}[]}
 */
function* pointsOf(trace, { x, y }, at) {
  const calc = (axis, value) => axis.d2c(value);
  const box = (x0, x1, y0, y1) => ({
    x0: Math.min(x0, x1),
    x1: Math.max(x0, x1),
    y0: Math.min(y0, y1),
    y1: Math.max(y0, y1),
  });
  if (trace.type === "heatmap") {
    const [rows, columns] = [trace.z.length, trace.z[0]?.length ?? 0];
    const places = (axis, list, count, first = 0, step = 1) =>
      Array.from({ length: count }, (_, n) => (list ? calc(axis, list[n]) : first + n * step));
    const xs = places(x, trace.x, columns, trace.x0 ?? 0, trace.dx ?? 1);
    const ys = places(y, trace.y, rows, trace.y0 ?? 0, trace.dy ?? 1);
    const [halfX, halfY] = [halfStep(xs), halfStep(ys)];
    for (let i = 0; i < rows; i += 1) {
      for (let j = 0; j < columns; j += 1) {
        yield {
          i: [i, j],
          x: xs[j],
          y: ys[i],
          ...box(
            at(x, xs[j] - halfX),
            at(x, xs[j] + halfX),
            at(y, ys[i] - halfY),
            at(y, ys[i] + halfY),
          ),
        };
      }
    }
  } else if (trace.type === "bar") {
    const along = trace.orientation === "h";
    const [of, to, list] = along ? [y, x, trace.y] : [x, y, trace.x];
    const places = Array.from(
      list ?? trace[along ? "x" : "y"],
      (value, n) => list ? calc(of, value) : n,
    );
    const half = halfStep(places);
    for (let i = 0; i < places.length; i += 1) {
      const wide = ([trace.width].flat()[i] ?? [trace.width].flat()[0] ?? 1.8 * half) / 2;
      const base = [trace.base].flat()[i] ?? [trace.base].flat()[0] ?? 0;
      const size = (along ? trace.x : trace.y)[i];
      const ends = [at(of, places[i] - wide), at(of, places[i] + wide)];
      const range = [at(to, base), at(to, base + size)];
      yield {
        i,
        x: trace.x?.[i] ?? i,
        y: trace.y?.[i] ?? i,
        ...(along ? box(...range, ...ends) : box(...ends, ...range)),
      };
    }
  } else if (trace.type === "scatter" || trace.type === undefined) {
    for (let i = 0; i < trace.x.length; i += 1) {
      const [px, py] = [at(x, calc(x, trace.x[i])), at(y, calc(y, trace.y[i]))];
      if (!Number.isFinite(px + py)) continue;
      const size = [trace.marker?.size].flat()[i] ?? [trace.marker?.size].flat()[0] ?? 6;
      const by = Math.max(NEAR, size / 2 + 2);
      yield { i, x: trace.x[i], y: trace.y[i], ...box(px - by, px + by, py - by, py + by) };
    }
  }
}

/**
 * Axes in the colours of the page: those that the traces name, and those that the layout describes.
 */
function axesOf(data, layout) {
  const named = data.flatMap(({ xaxis = "x", yaxis = "y" }) =>
    [xaxis, yaxis].map((id) => `${id[0]}axis${id.slice(1)}`)
  );
  const keys = new Set([...named, ...Object.keys(layout).filter((key) => AXIS.test(key))]);
  const style = {
    gridcolor: "var(--line)",
    linecolor: "var(--control)",
    tickcolor: "var(--control)",
    zeroline: false,
  };
  return Object.fromEntries([...keys].map((key) => [key, { ...style, ...layout[key] }]));
}

const WORDS = ["text", "ticktext", "name"];

/**
 * A figure whose texts are plain: Plotly takes tags, and a visitor's word may look like one. {html}
 * in place of a text is one that is marked up and whose words are escaped already.
 */
function plainly(value, key = "") {
  if (typeof value === "string") {
    return WORDS.includes(key) ? escape(value).replaceAll("\n", "<br>") : value;
  }
  if (Array.isArray(value)) {
    const words = WORDS.includes(key);
    const plain = !words && typeof value[0] !== "object";
    return plain ? value : value.map((one) => plainly(one, words ? key : ""));
  }
  if (!value || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if (typeof value.html === "string") return value.html;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      ["z", "x", "y", "customdata", "source"].includes(name) ? one : plainly(one, name),
    ]),
  );
}

/** The marks of Plotly's figures among all marks of a picture, those of groups too. */
export const plotsIn = (marks) =>
  marks.flatMap((mark) =>
    mark.kind === "group" ? plotsIn(mark.marks) : mark.kind === "plot" ? [mark] : []
  );

/**
 * A figure as it stands in a picture, on the page and in a file: with what is the same for all of
 * them.
 */
export function dress({ data, layout, box }, { big = false, revision = "" } = {}) {
  return {
    data: data.map((trace) => ({ hoverinfo: "none", showlegend: false, ...plainly(trace) })),
    layout: {
      uirevision: revision,
      dragmode: big ? false : "zoom",
      hovermode: false,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 40, r: 12, t: 12, b: 36 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: "var(--ink3)", activecolor: "var(--accent)" },
      ...plainly({ ...layout, ...axesOf(data, layout) }),
      font: { family: "var(--font-ui)", size: big ? 20 : 12, color: "var(--ink2)", ...layout.font },
      width: box.x1 - box.x0,
      height: box.y1 - box.y0,
      autosize: false,
    },
    config: {
      displayModeBar: !big,
      modeBarButtons: [BUTTONS],
      locale: lang() === "zh" ? "zh-CN" : "en",
      doubleClick: "reset",
    },
  };
}

/**
 * @param {HTMLElement} paper around the picture
 * @param {{address: string | null, selected: (boxes: any[]) => void, moved: () => void}} how
 *   address: of plotly.js; selected: what a box select holds; moved: a zoom or a pan has ended
 */
export function plotsOf(paper, { address, selected, moved }) {
  const kept = []; // {node, plot, mark, home: Map(axis id -> range), revision, last}

  function make() {
    const node = el("div", { class: "tfe-stage-plot", "aria-hidden": "true" });
    paper.append(node);
    const own = plot(node, address, { early: true });
    return { node, plot: own, mark: null, home: new Map(), bound: false };
  }

  /** Remembers the ranges that a figure has at home, when it is drawn anew. */
  function settle(one, revision) {
    if (one.revision === revision && one.home.size) return;
    one.revision = revision;
    one.home.clear();
    for (const [key, axis] of Object.entries(one.node._fullLayout)) {
      if (AXIS.test(key)) one.home.set(axis._id, axis.range.map((end) => axis.r2l(end)));
    }
  }

  const homeOf = (one, axis) => one.home.get(axis._id) ?? axis.range.map((end) => axis.r2l(end));
  /** px of a calculated value without zoom. */
  const atHome = (one) => (axis, value) => {
    const [from, to] = homeOf(one, axis);
    const share = (axis.c2l(value) - from) / (to - from);
    return axis._offset + (axis._id[0] === "y" ? 1 - share : share) * axis._length;
  };

  /** Where a place of the figure lies without zoom, and back. */
  function through(axis, one, px, back) {
    const [from, to] = homeOf(one, axis);
    const now = axis.range.map((end) => axis.r2l(end));
    const [a, b] = back ? [[from, to], now] : [now, [from, to]];
    const flip = axis._id[0] === "y";
    const part = (px - axis._offset) / axis._length;
    const value = a[0] + (flip ? 1 - part : part) * (a[1] - a[0]);
    const share = (value - b[0]) / (b[1] - b[0]);
    return axis._offset + (flip ? 1 - share : share) * axis._length;
  }

  /** The figure and subplot at a place of the picture. */
  function under(x, y) {
    for (const one of kept) {
      const { box } = one.mark;
      if (!one.bound || !inside(box, x, y)) continue;
      const [px, py] = [x - box.x0, y - box.y0];
      const subplot = subplotsOf(one.node).find((each) => inside(frameOf(each), px, py));
      if (subplot) return { one, subplot, px, py };
    }
    return null;
  }

  function bind(one) {
    if (one.bound) return;
    one.bound = true;
    one.node.on("plotly_relayout", moved);
    one.node.on("plotly_selected", (event) => {
      if (!event?.range) return;
      const [ax, ay] = [subplotsOf(one.node)[0].x, subplotsOf(one.node)[0].y];
      const at = (axis, value) => axis._offset + axis.r2p(value);
      const [xs, ys] = [
        event.range.x.map((value) => at(ax, value)),
        event.range.y.map((value) => at(ay, value)),
      ];
      const chosen = {
        x0: Math.min(...xs),
        x1: Math.max(...xs),
        y0: Math.min(...ys),
        y1: Math.max(...ys),
      };
      const { box } = one.mark;
      const home = (axis, px, back) => through(axis, one, px, back);
      selected({
        x0: box.x0 + home(ax, chosen.x0),
        x1: box.x0 + home(ax, chosen.x1),
        y0: box.y0 + home(ay, chosen.y0),
        y1: box.y0 + home(ay, chosen.y1),
      });
      globalThis.tfePlotly?.relayout(one.node, { selections: [] });
    });
  }

  return {
    /**
     * Draws the figures of a picture. how: {big, revision, grows}. Resolves when they stand.
     * @param {any[]} marks of `pen.plot`
     */
    async place(marks, how) {
      while (kept.length > marks.length) kept.pop().node.remove();
      while (kept.length < marks.length) kept.push(make());
      await Promise.all(marks.map(async (mark, n) => {
        const one = kept[n];
        const { x0, y0, x1, y1 } = mark.box;
        Object.assign(one.node.style, {
          left: `${x0}px`,
          top: `${y0}px`,
          width: `${x1 - x0}px`,
          height: `${y1 - y0}px`,
        });
        one.mark = mark;
        const revision = `${mark.layout.uirevision ?? how.revision} ${x1 - x0} ${y1 - y0}`;
        const rest = how.grows ? PACE - (performance.now() - (one.last ?? 0)) : 0;
        if (rest > 0) await wait(rest);
        if (one.mark !== mark) return;
        one.last = performance.now();
        await one.plot.draw(() => dress(mark, { ...how, revision }));
        if (!one.node._fullLayout) return;
        // The figure is hidden from screen readers, so nothing in it may take the focus.
        for (const button of one.node.querySelectorAll(".modebar button")) button.tabIndex = -1;
        settle(one, revision);
        bind(one);
      }));
    },

    /** What of the figures can be pointed at, in px of the picture without zoom. */
    boxes() {
      const found = [];
      for (const { node, mark, ...one } of kept) {
        if (!mark.pick || !node._fullLayout) continue;
        const at = atHome(one);
        mark.data.forEach((trace, number) => {
          const named = (letter) =>
            node._fullLayout[`${letter}axis${(trace[`${letter}axis`] ?? letter).slice(1)}`];
          for (const point of pointsOf(trace, { x: named("x"), y: named("y") }, at)) {
            const { x0, x1, y0, y1, i, x, y } = point;
            const custom = Array.isArray(i)
              ? trace.customdata?.[i[0]]?.[i[1]]
              : trace.customdata?.[i];
            const box = mark.pick({ trace: number, i, x, y, customdata: custom });
            if (!box) continue;
            found.push({
              x0: mark.box.x0 + x0,
              x1: mark.box.x0 + x1,
              y0: mark.box.y0 + y0,
              y1: mark.box.y0 + y1,
              ...box,
            });
          }
        });
      }
      return found;
    },

    /**
     * Where a place of the picture lies without zoom; within: a box in the plot, where the place
     * may lie beyond it.
     */
    home(x, y, within = { x0: x, x1: x, y0: y, y1: y }) {
      const found = under((within.x0 + within.x1) / 2, (within.y0 + within.y1) / 2);
      if (!found) return [x, y];
      const { one, subplot } = found;
      const { box } = one.mark;
      const [px, py] = [x - box.x0, y - box.y0];
      return [box.x0 + through(subplot.x, one, px), box.y0 + through(subplot.y, one, py)];
    },

    /** Where a box without zoom lies now, cut at the edge of its plot. */
    now(box) {
      const found = under((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2);
      if (!found) return box;
      const { one, subplot } = found;
      const { x0: left, y0: top } = one.mark.box;
      const frame = frameOf(subplot);
      const cut = (value, from, to) => Math.max(from, Math.min(to, value));
      const x = (px) => left + cut(through(subplot.x, one, px - left, true), frame.x0, frame.x1);
      const y = (py) => top + cut(through(subplot.y, one, py - top, true), frame.y0, frame.y1);
      return { ...box, x0: x(box.x0), x1: x(box.x1), y0: y(box.y0), y1: y(box.y1) };
    },

    /** A box of its own size where zoom has brought its middle. */
    carried(box) {
      const [x, y] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
      const at = this.now({ x0: x, x1: x, y0: y, y1: y });
      const [dx, dy] = [at.x0 - x, at.y0 - y];
      return { ...box, x0: box.x0 + dx, x1: box.x1 + dx, y0: box.y0 + dy, y1: box.y1 + dy };
    },

    clear() {
      while (kept.length) kept.pop().node.remove();
    },
    /** Is this a part of a figure, of one that is dragged in this way? */
    holds: (target, dragmode) =>
      kept.some(({ node }) =>
        node.contains(target) &&
        (dragmode === undefined ||
          (node._fullLayout?.dragmode === dragmode && !target.closest?.(".modebar")))
      ),
  };
}

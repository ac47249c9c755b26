// The drawing of the beam panel: columns are steps, a node's height is its rank in its step, and below each column what the stop token got.

import { svg } from "./dom.js";
import { FATES } from "./beamtree.js";
import { shorten, shown, width } from "./maps.js";

export const SIZES = { column: 93, box: 76, row: 30, height: 24, left: 56, top: 28, chart: 64, gap: 34, foot: 8 };
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/**
 * @param {any} value the panel's @param {ReturnType<import("./beamtree.js").tree>} it
 * @param {{now: number, last: number, alpha: number, state: {what: string[], when: number[]}, best: Set<number>, greedy: Set<number>,
 *   locked: number | null, line: number[], texts: {step: string, rank: string, stop: string, fell: (at: number) => string,
 *   place: (node: number) => string}, label: string}} how
 *   best, line: the nodes of the hypothesis in front, and of the one whose stop token is drawn.
 * @returns {SVGSVGElement}
 */
export function draw(value, it, how) {
  const { column, box, row, height, left, top, chart, gap, foot } = SIZES;
  const ranks = Math.max(1, ...value.rank);
  const wide = left + (how.last + 1) * column;
  const floor = top + ranks * row;
  const base = floor + gap + chart;
  const [x, y] = [(node) => left + value.step[node] * column, (node) => top + (Math.max(1, value.rank[node]) - 0.5) * row];
  const out = svg("svg", { viewBox: `0 0 ${wide} ${base + foot}`, width: wide, height: base + foot, role: "img", "aria-label": how.label });
  const words = (at, text, more) => svg("text", { x: at[0], y: at[1], "font-size": 12, fill: "var(--ink3)", ...more, text });

  // axes
  out.append(words([4, 18], how.texts.step), words([4, top + 4 + row / 2], `${how.texts.rank} 1`));
  for (let r = 2; r <= ranks; r += 1) out.append(words([left - 16, top + 4 + (r - 0.5) * row], r, { "text-anchor": "end" }));
  for (let t = 0; t <= how.last; t += 1) {
    out.append(words([left + t * column + box / 2, 18], t, { "text-anchor": "middle", ...(t === how.now ? { fill: "var(--ink)", "font-weight": 650 } : {}) }));
  }
  out.append(svg("rect", { x: left + how.now * column - 6, y: top - 4, width: box + 12, height: floor - top + 8, rx: 6, fill: "var(--sunk)" }));

  // lines from each hypothesis to what it became
  const nodes = value.step.map((_, node) => node).filter((node) => value.step[node] <= how.now);
  const gone = (node) => how.state.what[node] === "fell" || how.state.what[node] === "outranked";
  const edge = (node, more) => {
    const [from, to] = [value.parent[node], node];
    const [x0, x1] = [x(from) + box, x(to)];
    const middle = (x0 + x1) / 2;
    return svg("path", { d: `M${x0} ${y(from)}C${middle} ${y(from)} ${middle} ${y(to)} ${x1} ${y(to)}`, fill: "none", ...more });
  };
  const lines = nodes.slice(1).sort((a, b) => gone(b) - gone(a));
  for (const node of lines) {
    const front = how.best.has(node);
    out.append(edge(node, { stroke: front ? "var(--out)" : "var(--ink2)", "stroke-width": front ? 3 : 1.5, opacity: gone(node) ? 0.3 : 1 }));
  }
  for (const node of lines.filter((each) => how.greedy.has(each))) {
    out.append(edge(node, { stroke: "var(--ink)", "stroke-width": 2, "stroke-dasharray": "2 4", "stroke-linecap": "round" }));
  }

  // nodes
  for (const node of nodes) {
    const fate = value.fate[node];
    const finished = fate === FATES.finished;
    const dim = gone(node);
    const front = how.best.has(node);
    const own = finished ? how.texts.place(node) : how.state.what[node] === "fell" && fate === FATES.kept && ended(it, value, node, how) ? `${shown(value.pieces[node])} ${how.texts.fell(how.state.when[node])}` : shown(value.pieces[node]);
    const locked = node === how.locked;
    out.append(
      svg(
        "g",
        { "data-node": node, opacity: dim && !locked ? 0.62 : 1, style: { cursor: "pointer" } },
        svg("rect", { x: x(node), y: y(node) - height / 2, width: box, height, rx: 6, fill: finished && !dim ? "var(--out-soft)" : "var(--panel)", stroke: locked ? "var(--accent)" : front || (finished && !dim) ? "var(--out)" : "var(--control)", "stroke-width": locked ? 3 : front ? 2 : 1, "stroke-dasharray": fate === FATES.passed ? "3 3" : null }),
        svg("text", { x: x(node) + box / 2, y: y(node) + 4, "font-size": 12, "text-anchor": "middle", fill: finished && !dim ? "var(--out)" : "var(--ink)", "font-weight": front ? 650 : 400, text: shorten(own, FONT, box - 6) }),
      ),
    );
  }

  // the stop token along one hypothesis; small dots: along the others
  out.append(svg("path", { d: `M${left} ${base}H${wide - column + box}M${left} ${base - chart}h4`, stroke: "var(--control)", fill: "none" }));
  // beside the step in view, so that it is read where the tree is scrolled
  const end = left + how.now * column + box;
  const fits = width(how.texts.stop, FONT) < end - 4;
  out.append(words([fits ? end : 4, floor + gap - 14], how.texts.stop, { "text-anchor": fits ? "end" : "start" }), words([left - 16, base - chart + 8], "1", { "text-anchor": "end" }), words([left - 16, base], "0", { "text-anchor": "end" }));
  const line = new Set(how.line);
  for (const node of nodes) {
    if (value.stop[node] === null || value.step[node] >= how.now) continue;
    const p = Math.exp(value.stop[node]);
    const middle = x(node) + column + box / 2; // asked before the next step
    if (line.has(node)) {
      out.append(svg("rect", { x: middle - 18, y: base - Math.max(1, chart * p), width: 36, height: Math.max(1, chart * p), fill: "var(--out)" }));
      if (p >= 0.01) out.append(words([middle, base - chart * p - 5], p.toFixed(2), { "text-anchor": "middle", fill: "var(--ink)" }));
    } else out.append(svg("circle", { cx: middle + 25, cy: base - chart * p, r: 2.5, fill: "none", stroke: "var(--ink3)" }));
  }
  return out;
}

/** Does a fallen line end at this node? */
const ended = (it, value, node, how) => !it.children[node].some((child) => value.step[child] <= how.now && value.fate[child] !== FATES.passed);

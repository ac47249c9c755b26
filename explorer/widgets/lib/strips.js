// The loss along a text as three equal strips, one SVG: before, after and their difference. Colours are tokens or stops of a scale.

import { svg } from "./dom.js";
import { t } from "./lang.js";
import { TEXT, means, number, plus } from "./stripwords.js";

const BARS = 100; // of a whole text, about
const CLOSE = 4; // px between borders of segments below which they are left out
export const WHICH = ["before", "after", "difference"];

/** Stretches of about a hundredth of the text; none mixes what was given and what was written. */
export function stretches(side) {
  const size = Math.max(1, Math.round(side.count / BARS));
  const cut = (low, high) => Array.from({ length: Math.ceil((high - low) / size) }, (_, i) => means(side, low + i * size, Math.min(high, low + (i + 1) * size)));
  return { size, bars: [...cut(0, side.given), ...cut(side.given, side.count)] };
}

/** The least of 1, 2 and 5 times a power of ten that is not below. */
export function round(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value * 0.999);
}

/** The scales that all models of an answer share: bits from 0, and a difference symmetric around 0. */
export function limits(sides) {
  const all = sides.flatMap((side) => stretches(side).bars);
  const most = (read) => all.reduce((high, bar) => Math.max(high, read(bar)), 0);
  return { bits: Math.max(1, Math.ceil(most((bar) => Math.max(bar.before, bar.after)))), difference: Math.max(0.05, round(most((bar) => Math.abs(bar.difference)))) };
}

function blend(stops, at) {
  const place = Math.max(0, Math.min(1, at)) * (stops.length - 1);
  const left = Math.min(Math.floor(place), stops.length - 2);
  const channel = (i) => {
    const [a, b] = [stops[left], stops[left + 1]].map((hex) => Number.parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16));
    return Math.round(a + (b - a) * (place - left));
  };
  return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
}

const tidy = (value) => Math.round(value * 100) / 100;

/** Where everything stands. width: px of the whole; big: for a hall. */
export function places({ width, big, count, written }) {
  const font = big ? 20 : 12;
  const gutter = big ? 64 : 40;
  const head = font + (big ? 12 : 8);
  const tall = big ? 104 : 50;
  const gap = big ? 14 : 6;
  const plot = width - gutter - 2;
  const strips = WHICH.map((key, i) => ({ key, top: i * (head + tall + gap) + head }));
  const foot = strips.at(-1).top + tall;
  return { font, gutter, head, tall, plot, strips, foot, big, count, width, height: foot + (written ? 2 : 1) * (font + 5) + 4, x: (position) => gutter + (position / count) * plot };
}

/** Round positions to write below, few enough to be told apart. */
function ticks({ count, plot, font }) {
  const room = String(count).length * font * 0.62 + 18;
  const step = Math.max(1, round((count * room) / plot));
  return Array.from({ length: Math.floor(count / step) + 1 }, (_, i) => i * step);
}

/**
 * @param {{side: any, limits: {bits: number, difference: number}, scales: {surprise: string[], signed: string[]}, width: number, big?: boolean}} what
 *   side: a model's {before, after, given, segment, count}; the stops of both scales for the theme of the moment
 * @returns {SVGSVGElement} with a group of class "marks", empty, for what is pointed at and what is locked
 */
export function drawn({ side, limits: { bits, difference }, scales, width, big = false }) {
  const written = side.given < side.count;
  const it = places({ width, big, count: side.count, written });
  const { font, gutter, tall, plot, strips, foot, x } = it;
  const { size, bars } = stretches(side);
  const heights = { before: bits, after: bits };
  const edge = scales.surprise.at(-2);
  const ends = { dearer: scales.signed.at(-1), cheaper: scales.signed[0] };
  const text = (attributes, ...children) => svg("text", { "font-size": font, fill: "var(--ink3)", ...attributes }, ...children);
  const node = svg("svg", { viewBox: `0 0 ${width} ${it.height}`, width, height: it.height, "aria-hidden": "true" });

  for (const { key, top } of strips) {
    const bottom = top + tall;
    const y = key === "difference" ? (value) => top + tall / 2 - (value / difference) * (tall / 2) : (value) => bottom - (value / heights[key]) * tall;
    const base = y(0);
    const part = svg("g", { "data-strip": key, "data-bars": bars.length });
    part.append(svg("rect", { x: gutter, y: top, width: plot, height: tall, fill: "var(--paper)" }));
    if (written) part.append(svg("rect", { x: tidy(x(side.given)), y: top, width: tidy(gutter + plot - x(side.given)), height: tall, fill: "var(--out-soft)" }));
    if (side.segment && (side.segment / side.count) * plot >= CLOSE) {
      for (let border = side.segment; border < side.count; border += side.segment) part.append(svg("line", { x1: tidy(x(border)), x2: tidy(x(border)), y1: top, y2: bottom, stroke: "var(--line)" }));
    }
    // A stretch is as wide as its characters; neighbours share the pixel between them, so that no seam shows.
    for (const bar of bars) {
      const value = bar[key];
      const [left, right] = [x(bar.first), x(bar.end)];
      const [high, low] = [Math.min(y(value), base), Math.max(y(value), base)];
      const fill = key === "difference" ? (value > 0 ? ends.dearer : ends.cheaper) : blend(scales.surprise, 0.15 + 0.7 * (value / bits));
      part.append(svg("rect", { x: tidy(left), y: tidy(high), width: tidy(right - left + (right < gutter + plot - 1 ? 0.3 : 0)), height: tidy(low - high), fill }));
    }
    if (key !== "difference") {
      const line = bars.map((bar) => `${tidy(x(bar.first))} ${tidy(y(bar[key]))}H${tidy(x(bar.end))}`);
      part.append(svg("path", { d: `M${line.join("L")}`, fill: "none", stroke: edge, "stroke-width": big ? 2 : 1.25, "stroke-linejoin": "round" }));
    }
    if (written) part.append(svg("line", { x1: tidy(x(side.given)), x2: tidy(x(side.given)), y1: top - 3, y2: bottom, stroke: "var(--out)", "stroke-width": big ? 2.5 : 1.5 }));
    part.append(svg("line", { x1: gutter, x2: gutter + plot, y1: tidy(base), y2: tidy(base), stroke: "var(--control)" }));
    const scale = key === "difference" ? [[difference, plus(difference, difference < 0.1 ? 2 : 1)], [0, "0"], [-difference, plus(-difference, difference < 0.1 ? 2 : 1)]] : [[bits, String(bits)], [0, "0"]];
    for (const [value, said] of scale) part.append(text({ x: gutter - 5, y: tidy(Math.min(Math.max(y(value) + font * 0.35, top + font * 0.72), bottom + 0.5)), "text-anchor": "end", text: said }));
    part.append(text({ x: gutter, y: top - (big ? 9 : 6), fill: "var(--ink)", "font-weight": 600, text: t(TEXT[key]) }));
    if (key === "before") part.append(text({ x: gutter + plot, y: top - (big ? 9 : 6), "text-anchor": "end", text: size > 1 ? t(TEXT.pooled, { n: size }) : t(TEXT.bits) }));
    if (key === "difference") part.append(legend(ends, { right: gutter + plot, y: top - (big ? 9 : 6), font, text }));
    node.append(part);
  }

  const axis = svg("g", { "data-axis": "" });
  for (const tick of ticks(it)) {
    const at = x(tick);
    axis.append(svg("line", { x1: tidy(at), x2: tidy(at), y1: foot, y2: foot + 4, stroke: "var(--control)" }));
    const anchor = tick === 0 ? "start" : at > gutter + plot - font ? "end" : "middle";
    axis.append(text({ x: tidy(at), y: foot + font + 5, "text-anchor": anchor, "data-tick": tick, text: String(tick + (side.first ?? 0)) }));
  }
  if (written) {
    const y = foot + 2 * font + 9;
    axis.append(text({ x: gutter, y, fill: "var(--ink2)", text: t(TEXT.given) }));
    axis.append(text({ x: gutter + plot, y, "text-anchor": "end", fill: "var(--out)", "font-weight": 600, text: t(TEXT.written) }));
  }
  node.append(axis, svg("g", { class: "marks" }));
  return node;
}

/** “■ costs more ■ costs less”, written from the right. */
function legend(ends, { right, y, font, text }) {
  const group = svg("g", {});
  const line = text({ x: right, y, "text-anchor": "end" });
  for (const [i, key] of ["dearer", "cheaper"].entries()) line.append(svg("tspan", { fill: ends[key], text: "■ " }), svg("tspan", { fill: "var(--ink2)", text: `${t(TEXT[key])}${i ? "" : "\u2002"}` }));
  group.append(line);
  group.setAttribute("font-size", font);
  return group;
}

/** Lines through all strips at what is pointed at (thin) and what is locked (with its number below). */
export function mark(node, { side, width, big = false, hovered, locked }) {
  const it = places({ width, big, count: side.count, written: side.given < side.count });
  const group = node.querySelector(".marks");
  const middle = (position) => tidy(it.x(position + 0.5));
  const through = (position, attributes) => it.strips.map(({ top }) => svg("line", { x1: middle(position), x2: middle(position), y1: top, y2: top + it.tall, ...attributes }));
  const inside = (position) => position !== null && position >= 0 && position < side.count;
  const told = locked.findLast(inside);
  // A number that the locked one would half cover makes way for it.
  const wide = (number_) => String(number_).length * it.font * 0.62;
  for (const tick of node.querySelectorAll("[data-tick]")) {
    const near = told !== undefined && Math.abs(it.x(Number(tick.dataset.tick)) - it.x(told)) < (wide(tick.dataset.tick) + wide(told)) / 2 + 10;
    tick.setAttribute("visibility", near ? "hidden" : "visible");
  }
  group.replaceChildren(
    ...locked
      .filter(inside)
      .flatMap((position) => [
        ...through(position, { stroke: "var(--panel)", "stroke-width": big ? 7 : 4.5 }),
        ...through(position, { stroke: "var(--query)", "stroke-width": big ? 3.5 : 2, "data-locked": position }),
        ...(position === told ? flag(it, position, side.first ?? 0) : []),
      ]),
    ...(inside(hovered) ? through(hovered, { stroke: "var(--ink)", "stroke-width": big ? 2 : 1, "data-hovered": hovered }) : []),
  );
}

function flag({ x, foot, font, gutter, plot }, position, first) {
  const said = String(position + first);
  const wide = said.length * font * 0.62 + 8;
  const left = Math.max(gutter, Math.min(gutter + plot - wide, x(position + 0.5) - wide / 2));
  return [
    svg("rect", { x: tidy(left), y: foot + 2, width: tidy(wide), height: font + 5, rx: 3, fill: "var(--query-soft)" }),
    svg("text", { x: tidy(left + wide / 2), y: foot + font + 3, "font-size": font, "font-weight": 650, "text-anchor": "middle", fill: "var(--query)", text: said }),
  ];
}

/** The character under a point, x in px of the drawing. */
export function under(x, { side, width, big = false }) {
  const { gutter, plot } = places({ width, big, count: side.count, written: false });
  return Math.max(0, Math.min(side.count - 1, Math.floor(((x - gutter) / plot) * side.count)));
}

/** A stretch in numbers; the difference is that of the two as they are printed. */
export const said = ({ before, after }, digits) => ({ before: number(before, digits), after: number(after, digits), difference: plus(Number(after.toFixed(digits)) - Number(before.toFixed(digits)), digits) });

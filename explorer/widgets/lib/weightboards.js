// The five pictures of one weight as SVG. Colours stand as var(--token) until the picture leaves the page.

import { svg } from "./dom.js";
import { t } from "./lang.js";
import { chosen } from "./arithmetic.js";
import { shorten, shown, signed } from "./maps.js";

const TEXT = {
  element: { en: "element", zh: "元素" },
  products: { en: "q × k, element by element", zh: "q × k，逐元素" },
  sum: { en: "sum", zh: "总和" },
  score: { en: "score", zh: "分数" },
  running: { en: "running sum of the products", zh: "乘积的累加" },
  limits: { en: "colours from {low} to {high}", zh: "颜色从 {low} 到 {high}" },
  others: { en: "{n} other keys", zh: "另外 {n} 个键" },
  othersShut: { en: "{n} other keys, {m} of them not allowed", zh: "另外 {n} 个键，其中 {m} 个不允许" },
  output: { en: "output of this head", zh: "这个头的输出" },
  weighted: { en: "weight × value", zh: "权重 × 值" },
};

const FONT = '"Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';

/** 1.234 -> "1.23", with a real minus sign; −∞ as such. */
export const number = (value, digits = 2) => (value === -Infinity ? "−∞" : value.toFixed(digits).replace("-", "−"));

const name = (text, index) => `\u2068“${shown(text)}”\u2069 (${signed(index)})`;

/**
 * What all boards draw with.
 * @param {{width: number, big: boolean, signed: Uint8ClampedArray, pieces: {query: (i: number) => string, key: (j: number) => string}}} how
 *   signed: a table of 256 colours (raster.js)
 */
export function boards({ width, big, signed, pieces }) {
  const f = big ? 20 : 13;
  const small = big ? 20 : 12;
  const line = Math.round(f * 1.5);

  const text = (x, y, words, { fill = "ink", anchor = "start", size = f, bold = false, title = null } = {}) =>
    svg("text", { x, y, fill: fill.startsWith("#") ? fill : `var(--${fill})`, "text-anchor": anchor, "font-size": size, "font-weight": bold ? 650 : 400, "font-family": FONT, style: { fontVariantNumeric: "tabular-nums" } }, title === null ? null : svg("title", { text: title }), words);

  const pick = (table, at) => {
    const i = 3 * Math.max(0, Math.min(255, Math.round(at * 255)));
    return [table[i], table[i + 1], table[i + 2]];
  };
  const hex = (rgb) => `#${rgb.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
  /** Black or white, whichever is stronger on a colour. */
  const on = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
  };
  const signedColour = (value, limit) => pick(signed, 0.5 + value / (2 * (limit || 1)));

  const fitted = (words, room, bold = false) => shorten(words, `${bold ? 650 : 400} ${f}px ${FONT}`, room);

  function picture(height, ...nodes) {
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "font-family": FONT }, ...nodes);
  }

  /** One vector as cells; every cell says its number. */
  function strip(values, { x, y, w, h, limit, label, numbers = true }) {
    const cell = w / values.length;
    return Array.from(values, (value, e) => {
      const rgb = signedColour(value, limit);
      const say = `${label}[${e}] = ${number(value, 4)}`;
      return [
        svg("rect", { x: x + e * cell, y, width: Math.max(1, cell - (cell > 6 ? 1 : 0)), height: h, fill: hex(rgb), stroke: "var(--line)", "stroke-width": 0.5, "data-say": say }, svg("title", { text: say })),
        numbers && cell >= (big ? 56 : 36) ? text(x + (e + 0.5) * cell, y + h / 2 + small * 0.36, number(value), { anchor: "middle", size: small, fill: on(rgb) }) : null,
      ];
    });
  }

  const indices = (d, x, y, w) => Array.from({ length: d }, (_, e) => (e % (w / d < (big ? 34 : 18) ? 5 : 1) === 0 ? text(x + (e + 0.5) * (w / d), y, String(e), { anchor: "middle", size: small, fill: "ink3" }) : null));

  const widest = (...vectors) => Math.max(1e-6, ...vectors.flatMap((vector) => Array.from(vector, Math.abs)));
  const limits = (limit) => t(TEXT.limits, { low: number(-limit), high: number(limit) });

  function multiply(it) {
    const h = big ? 52 : 30;
    const [both, own] = [widest(it.q, it.k), widest(it.products)];
    const nodes = [];
    let y = line - 3;
    for (const [symbol, words, values, limit, role] of [
      ["q", `q · ${name(pieces.query(it.row), it.row)}`, it.q, both, "query"],
      ["k", `k · ${name(pieces.key(it.column), pieces.keyNumber(it.column))}`, it.k, both, "key"],
      ["q×k", t(TEXT.products), it.products, own, "ink"],
    ]) {
      const note = limits(limit);
      const room = width - (width > 520 ? note.length * small * 0.55 + 12 : 0);
      nodes.push(text(0, y, fitted(words, room, true), { fill: role, bold: true }));
      if (width > 520) nodes.push(text(width, y, note, { fill: "ink3", anchor: "end", size: small }));
      nodes.push(strip(values, { x: 0, y: y + 6, w: width, h, limit, label: symbol }));
      y += h + line + 12;
    }
    nodes.push(indices(it.d, 0, y - line + small - 2, width));
    return picture(y - line + small + 8, nodes.flat(3));
  }

  function sum(it) {
    const running = [0];
    for (const product of it.products) running.push(running.at(-1) + product);
    const dot = running.at(-1);
    const score = dot / it.root;
    const [low, high] = [Math.min(0, ...running, score), Math.max(0, ...running, score)];
    const [top, tall] = [line + 10, big ? 320 : 190];
    const wide = Math.max(big ? 100 : 48, (width / (it.d + 7)) * 2.7); // two wide bars behind the elements, with room for their numbers
    const space = wide / 4;
    const unit = (width - 2 * wide - 2 * space) / it.d;
    const at = (value) => top + ((high - value) / (high - low || 1)) * tall;
    const limit = widest(it.products);
    const nodes = [text(0, f, t(TEXT.running), { fill: "ink2" })];
    it.products.forEach((product, e) => {
      const say = `${e}: ${number(product, 4)} → ${number(running[e + 1], 4)}`;
      const [a, b] = [at(Math.max(running[e], running[e + 1])), at(Math.min(running[e], running[e + 1]))];
      nodes.push(svg("rect", { x: e * unit, y: a, width: Math.max(1, unit - 1), height: Math.max(1, b - a), fill: hex(signedColour(product, limit)), stroke: "var(--control)", "stroke-width": 0.5, "data-say": say }, svg("title", { text: say })));
    });
    nodes.push(svg("line", { x1: 0, x2: width, y1: at(0), y2: at(0), stroke: "var(--control)", "stroke-width": 1 }));
    for (const [place, value, words, role] of [
      [it.d * unit + space, dot, t(TEXT.sum), "ink2"],
      [width - wide, score, t(TEXT.score), "accent"],
    ]) {
      const [a, b] = [at(Math.max(0, value)), at(Math.min(0, value))];
      const middle = place + wide / 2;
      nodes.push(svg("rect", { x: place, y: a, width: wide, height: Math.max(1, b - a), fill: `var(--${role})`, "data-say": `${words}: ${number(value, 4)}` }));
      nodes.push(text(middle, value >= 0 ? a - 5 : b + f + 2, number(value), { anchor: "middle", bold: true, fill: role }));
      nodes.push(text(middle, top + tall + line + 4, words, { anchor: "middle", size: small, fill: "ink2" }));
    }
    nodes.push(indices(it.d, 0, top + tall + line + 4, it.d * unit));
    return picture(top + tall + line + 12, nodes.flat(3));
  }

  /** Keys as rows: name, bar, number. */
  function rows(it, count, value, bar) {
    const h = big ? 36 : 24;
    const list = chosen(it, count);
    const left = Math.min(big ? 300 : 170, width * 0.36);
    const right = big ? 110 : 62;
    const nodes = [];
    list.forEach((j, i) => {
      const y = i * h;
      const here = j === it.column;
      if (here) nodes.push(svg("rect", { x: 0, y: y + 1, width, height: h - 2, rx: 4, fill: "var(--key-soft)" }));
      nodes.push(text(left - 8, y + h / 2 + f * 0.36, fitted(name(pieces.key(j), j), left - 12, here), { anchor: "end", fill: here ? "key" : it.allowed[j] ? "ink" : "ink3", bold: here }));
      nodes.push(bar(j, left, y + 4, width - left - right, h - 8));
      nodes.push(text(width - 4, y + h / 2 + f * 0.36, value(j), { anchor: "end", bold: here, fill: here ? "key" : it.allowed[j] ? "ink" : "ink3" }));
    });
    let y = list.length * h;
    const rest = Array.from({ length: it.n }, (_, j) => j).filter((j) => !list.includes(j));
    if (rest.length) {
      const shut = rest.filter((j) => !it.allowed[j]).length;
      nodes.push(text(left, y + h / 2 + f * 0.36, t(shut ? TEXT.othersShut : TEXT.others, { n: rest.length, m: shut }), { fill: "ink3", size: small }));
      y += h;
    }
    return { nodes, y, rest, left, right, h };
  }

  function mask(it) {
    const open = Array.from(it.scores).filter(Number.isFinite);
    const limit = widest(open);
    const made = rows(
      it,
      14,
      (j) => number(it.scores[j]),
      (j, x, y, w, h) => {
        const middle = x + w / 2;
        const say = `${shown(pieces.key(j))}: ${number(it.scores[j], 4)}`;
        if (!it.allowed[j]) return svg("rect", { x, y, width: w, height: h, rx: 2, fill: "var(--sunk)", stroke: "var(--line)", "data-say": say });
        const long = (Math.abs(it.scores[j]) / limit) * (w / 2);
        return [
          svg("line", { x1: middle, x2: middle, y1: y - 4, y2: y + h + 4, stroke: "var(--control)" }),
          svg("rect", { x: it.scores[j] < 0 ? middle - long : middle, y, width: Math.max(1, long), height: h, fill: hex(signedColour(Math.sign(it.scores[j]) * 0.75, 1)), "data-say": say }, svg("title", { text: say })),
        ];
      },
    );
    return picture(made.y + 4, made.nodes.flat(3));
  }

  function softmax(it) {
    const made = rows(
      it,
      14,
      (j) => number(it.weights[j], big ? 3 : 4),
      (j, x, y, w, h) => {
        const say = `${shown(pieces.key(j))}: exp(${number(it.scores[j])} − ${number(it.most)}) = ${number(it.raised[j], 4)}; ${number(it.weights[j], 4)}`;
        return [
          svg("rect", { x, y, width: w, height: h, rx: 2, fill: "var(--sunk)" }),
          it.allowed[j] ? svg("rect", { x, y, width: Math.max(1, w * it.weights[j]), height: h, rx: 2, fill: "var(--key)", opacity: j === it.column ? 1 : 0.55, "data-say": say }, svg("title", { text: say })) : null,
        ];
      },
    );
    return picture(made.y + 4, made.nodes.flat(3));
  }

  function average(it) {
    const list = chosen(it, 8).filter((j) => j === it.column || it.weights[j] >= 0.005);
    const taken = (j) => Float64Array.from(it.value(j), (v) => v * it.weights[j]);
    const limit = widest(it.output, ...list.map(taken));
    const h = big ? 34 : 22;
    const narrow = width < 560;
    const left = narrow ? 0 : Math.min(big ? 330 : 220, width * 0.3);
    const rise = narrow ? line : 0;
    const nodes = [text(0, f, t(TEXT.weighted), { fill: "ink2" }), width > 420 ? text(width, f, limits(limit), { fill: "ink3", anchor: "end", size: small }) : null];
    let y = line + 2;
    const row = (words, values, role, symbol) => {
      nodes.push(narrow ? text(0, y + f, fitted(words, width, true), { fill: role, bold: role !== "ink" }) : text(left - 8, y + h / 2 + f * 0.36, fitted(words, left - 12, true), { anchor: "end", fill: role, bold: role !== "ink" }));
      nodes.push(strip(values, { x: left, y: y + rise, w: width - left, h, limit, label: symbol }));
      y += h + rise + 4;
    };
    for (const j of list) row(`${number(it.weights[j])} × ${name(pieces.key(j), j)}`, taken(j), j === it.column ? "key" : "ink", `${number(it.weights[j], 4)} × v`);
    const rest = Array.from({ length: it.n }, (_, j) => j).filter((j) => !list.includes(j) && it.allowed[j]);
    if (rest.length === 1) row(`${number(it.weights[rest[0]])} × ${name(pieces.key(rest[0]), rest[0])}`, taken(rest[0]), "ink", `${number(it.weights[rest[0]], 4)} × v`);
    if (rest.length > 1) {
      const together = new Float64Array(it.d);
      for (const j of rest) taken(j).forEach((v, e) => (together[e] += v));
      row(`${number(rest.reduce((all, j) => all + it.weights[j], 0))} × ${t(TEXT.others, { n: rest.length })}`, together, "ink", "Σ");
    }
    nodes.push(svg("line", { x1: 0, x2: width, y1: y + 2, y2: y + 2, stroke: "var(--control)" }));
    y += 8;
    row(t(TEXT.output), it.output, "out", "output");
    nodes.push(indices(it.d, left, y + small, width - left));
    return picture(y + small + 6, nodes.flat(3));
  }

  return { multiply, sum, mask, softmax, average };
}

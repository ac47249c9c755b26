// The picture of segments and memory: the whole text, layer over layer, and under it the segment in view enlarged, with the share of
// attention that crosses its border. One SVG; colours stand as var(--token) until the picture leaves the page.

import { svg } from "./dom.js";
import { t } from "./lang.js";
import { TEXT, shareAt, shown, weight, whole } from "./segmentwords.js";

const BIN = 3; // px of the keys that one line of the fan stands for
const LINES = 70; // of a fan at most
const LEAST = 0.004; // weight from which a line is drawn
const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", "Noto Sans Mono", "DejaVu Sans Mono", monospace';

/**
 * Where everything stands, in pixels.
 * @param {{run: any, model: any, first: number, room: number, narrow: boolean, big: boolean, height: number}} scene
 */
export function place({ run, model, first, room, narrow, big, height }) {
  const font = big ? 20 : 12;
  const left = big ? 112 : narrow ? 48 : 62;
  const right = big ? 24 : 12;
  const n = run.layers;
  const [strip, flag] = big ? [16, 30] : [13, 20];
  const letters = (room - left - right) / run.segment >= 0.8 * font; // there is room for each character
  const words = letters ? font * 1.8 : narrow ? 0 : big ? 58 : 36; // the segment's own text
  const marks = big ? 34 : 22; // numbers along an axis
  const ribbon = big ? 16 : 10; // given and written
  const wedge = big ? 48 : 40;
  let [gap, row] = narrow ? [26, 40] : [30, 42];
  const between = 8;
  if (big) {
    const space = height - flag - (n + 1) * strip - ribbon - 2 * marks - wedge - words - n * between - 8;
    gap = Math.max(25, Math.min(60, (0.42 * space) / n));
    row = Math.max(26, Math.min(72, space / n - gap));
  }
  const total = Math.max(1, run.state === "running" ? run.of : model.length);
  const wide = room - left - right;
  const level = (k) => flag + (n - k) * (strip + gap);
  const foot = level(0) + strip;
  const ticks = foot + ribbon + (big ? 24 : 15);
  const rows = foot + ribbon + marks + wedge;
  const rowTop = (layer) => rows + (n - layer) * (row + between);
  const rowsEnd = rows + n * (row + between) - between;
  return {
    font, left, right, strip, gap, row, n, total, wide, level, foot, ticks, rows, rowTop, rowsEnd, letters, words, ribbon,
    width: room,
    height: rowsEnd + words + marks + 2,
    axis: rowsEnd + words + (big ? 24 : 16),
    end: left + wide,
    x: (position) => left + (position / total) * wide,
    position: (px) => ((px - left) / wide) * total,
    zx: (position) => left + ((position - first) / run.segment) * wide,
    zoomed: (px) => first + ((px - left) / wide) * run.segment,
  };
}

const number = (value) => value.toFixed(1);
const box = (x, y, w, h) => `M${number(x)} ${y}h${number(w)}v${h}h${number(-w)}z`;

/** How the memory looks: remembered in order, broken order, another text's. */
function hatches() {
  const stroke = { stroke: "var(--key)", "stroke-width": 1.4, fill: "none", "stroke-linecap": "square" };
  const pattern = (id, size, ...marks) => svg("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, svg("rect", { width: size, height: size, fill: "var(--key-soft)" }), ...marks);
  return svg(
    "defs",
    {},
    pattern("tfe-segments-none", 7, svg("path", { d: "M-1 1L1 -1M0 7L7 0M6 8L8 6", ...stroke })),
    pattern("tfe-segments-shuffled", 14, svg("path", { d: "M1 5L5 1M8 2L12 5M2 9L4 13M8 12L12 9M6 7L8 7", ...stroke })),
    pattern("tfe-segments-foreign", 7, svg("path", { d: "M-1 6L1 8M0 0L7 7M6 -1L8 1", ...stroke }), svg("path", { d: "M3.5 0V7", ...stroke, "stroke-width": 0.7 })),
  );
}

const halo = { stroke: "var(--panel)", "stroke-width": 3.5, "stroke-linejoin": "round", "paint-order": "stroke" };
const label = (at, x, y, text, more = {}) => svg("text", { x: number(x), y: number(y), "font-size": at.font, fill: "var(--ink3)", text, ...more });
const wideOf = (at, text) => [...text].reduce((sum, c) => sum + (c.codePointAt(0) > 0x2e80 ? 1 : 0.54), 0) * at.font; // about

/** Everything that stands still while the pointer moves. */
export function ground(scene, at) {
  const { run } = scene;
  const out = [hatches()];
  out.push(...strips(scene, at), ...along(scene, at));
  if (run.state === "running") out.push(...waiting(scene, at));
  else out.push(...enlarged(scene, at));
  return out;
}

/** The states of every layer: a strip for each, cut into segments. */
function strips({ run, model, first, end, held, now, narrow, big }, at) {
  const out = [];
  const read = model.length;
  const running = run.state === "running";
  const remembered = first - held;
  const cut = Math.min(2, 0.2 * (at.x(run.segment) - at.x(0)));
  const part = (from, to, y) => (to > from ? box(at.x(from) + cut / 2, y, Math.max(0.5, at.x(to) - at.x(from) - cut), at.strip) : "");
  for (let k = at.n; k >= 0; k -= 1) {
    const y = at.level(k);
    let [gone, later] = ["", ""];
    for (let from = 0; from < at.total; from += run.segment) {
      const to = Math.min(at.total, from + run.segment);
      if (from >= end) later += part(from, to, y);
      else if (from < first) gone += part(from, to, y);
    }
    if (gone) out.push(svg("path", { class: "gone", d: gone, fill: "var(--sunk)", stroke: "var(--line)", "stroke-width": 1 }));
    if (later) out.push(svg("path", { class: "later", d: later, fill: "none", stroke: "var(--control)", "stroke-opacity": 0.55, "stroke-width": 1, "stroke-dasharray": "2 3" }));
    // What a layer remembers are its inputs: nobody looks at what the last layer made of an earlier segment.
    if (held && k < at.n) {
      const x = at.x(remembered);
      out.push(svg("rect", { class: "memory", x: number(x), y, width: number(at.x(first) - x - cut / 2), height: at.strip, fill: `url(#tfe-segments-${run.intervention})`, stroke: "var(--key)", "stroke-width": big ? 2 : 1.2 }));
      let borders = "";
      for (let from = Math.ceil((remembered + 1) / run.segment) * run.segment; from < first; from += run.segment) borders += `M${number(at.x(from))} ${y}v${at.strip}`;
      if (borders) out.push(svg("path", { d: borders, stroke: "var(--key)", "stroke-width": 1 }));
    }
    if (end > first) out.push(svg("rect", { class: "now", x: number(at.x(first) + cut / 2), y, width: number(Math.max(2, at.x(Math.min(end, running ? read : end)) - at.x(first) - cut)), height: at.strip, fill: "var(--out-soft)", stroke: "var(--out)", "stroke-width": big ? 2.5 : 1.6, rx: 2 }));
    const chosen = !running && now.layer === k && now.head !== null;
    const name = k ? (narrow ? String(k) : t(TEXT.layer, { n: k })) : t(TEXT.inputs);
    out.push(label(at, at.left - 8, y + at.strip / 2 + at.font * 0.36, name, { "text-anchor": "end", fill: chosen ? "var(--query)" : "var(--ink2)", "font-weight": chosen ? 650 : 400 }));
  }
  return out;
}

/** The axis of the text, what was given and what was written, and the border at which gradients stop. */
function along({ run, model, first, end, held, narrow, big }, at) {
  const out = [];
  const y = at.foot + at.ribbon / 2 + 1;
  const line = big ? 5 : 3;
  const given = Math.min(run.given, model.length);
  if (given) out.push(svg("path", { d: `M${number(at.x(0))} ${y}H${number(at.x(given) - 1)}`, stroke: "var(--control)", "stroke-width": line }));
  if (model.length > given) out.push(svg("path", { d: `M${number(at.x(given) + 1)} ${y}H${number(at.x(model.length))}`, stroke: "var(--out)", "stroke-width": line }));
  const space = at.x(run.segment) - at.x(0);
  const every = [1, 2, 4, 8, 16, 32, 64].find((n) => n * space >= at.font * 3.6) ?? 128;
  const taken = [];
  for (let from = 0; from < at.total; from += every * run.segment) {
    const x = at.x(from);
    const name = whole(from);
    if (x + wideOf(at, name) / 2 > at.end + at.right) continue;
    taken.push(x);
    out.push(svg("path", { d: `M${number(x)} ${at.foot + at.ribbon - 2}v4`, stroke: "var(--control)" }));
    out.push(label(at, x, at.ticks, name, { "text-anchor": from ? "middle" : "start" }));
  }
  if (!narrow) out.push(label(at, at.left - 8, at.ticks, t(TEXT.positions), { "text-anchor": "end" }));
  if (run.state === "running") return out;
  // Where gradients stop.
  const x = at.x(first);
  const top = at.font + 2;
  out.push(svg("path", { class: "border", d: `M${number(x - 1)} ${top - at.font + 1}V${at.foot + 2}`, stroke: "var(--ink)", "stroke-width": big ? 4 : 3 }));
  const stops = t(TEXT.stops);
  const leftwards = x + wideOf(at, stops) + 10 > at.end + at.right;
  const wide = big ? 5 : 3.5;
  const mid = top - at.font * 0.36;
  out.push(svg("path", { d: leftwards ? `M${number(x - 5)} ${mid - wide}v${2 * wide}l${-1.4 * wide} ${-wide}z` : `M${number(x + 5 + 1.4 * wide)} ${mid - wide}v${2 * wide}l${-1.4 * wide} ${-wide}z`, fill: "var(--ink)" }));
  out.push(label(at, leftwards ? x - 10 - 1.4 * wide : x + 10 + 1.4 * wide, top, stops, { "text-anchor": leftwards ? "end" : "start", fill: "var(--ink)", "font-weight": 650, class: "stops" }));
  // What the memory holds stands over it, where there is room beside the flag.
  if (held) {
    const name = run.intervention === "foreign" ? (run.book ? t(TEXT.foreignOf, { book: t(run.book) }) : t(TEXT.foreign)) : t(run.intervention === "shuffled" ? TEXT.broken : TEXT.remembered);
    const until = leftwards ? x - 16 - 1.4 * wide - wideOf(at, stops) : x - 8;
    const from = until - wideOf(at, name);
    if (from > at.left - 40 && !narrow) out.push(label(at, until, top, name, { "text-anchor": "end", fill: "var(--key)", "font-weight": 600, class: "held" }));
  }
  // From the segment to what is enlarged below.
  const [a, b, y0, y1] = [at.x(first), at.x(end), at.foot + at.ribbon + 1, at.rows - 22 * (at.font / 12)];
  out.unshift(svg("path", { class: "wedge", d: `M${number(a)} ${y0}C${number(a)} ${y1} ${number(at.zx(first))} ${y0} ${number(at.zx(first))} ${y1}H${number(at.zx(end))}C${number(at.zx(end))} ${y0} ${number(b)} ${y1} ${number(b)} ${y0}z`, fill: "var(--out-soft)", "fill-opacity": 0.75 }));
  return out;
}

/** Empty frames where the enlarged segment will stand, so that nothing moves when it comes. */
function waiting(scene, at) {
  const out = [];
  for (let layer = 1; layer <= at.n; layer += 1) {
    out.push(svg("rect", { x: at.left, y: at.rowTop(layer), width: at.wide, height: at.row, fill: "var(--sunk)" }));
    out.push(label(at, at.left - 8, at.rowTop(layer) + at.row / 2 + at.font * 0.36, scene.narrow ? String(layer) : t(TEXT.layer, { n: layer }), { "text-anchor": "end" }));
  }
  out.push(label(at, at.left + at.wide / 2, (at.rows + at.rowsEnd) / 2 + at.font * 0.36, t(TEXT.waits), { "text-anchor": "middle", fill: "var(--ink2)", ...halo, stroke: "var(--sunk)" }));
  return out;
}

/** The segment in view: for each layer the share of attention that goes to the memory, every head and their mean. */
function enlarged({ run, model, now, first, end, held, narrow, big }, at) {
  const out = [];
  out.push(label(at, at.left, at.rows - (big ? 10 : 7), t(narrow ? TEXT.shareShort : TEXT.share), { fill: "var(--ink2)" }));
  for (let layer = at.n; layer >= 1; layer -= 1) {
    const top = at.rowTop(layer);
    const base = top + at.row;
    const y = (share) => base - Math.min(1, share) * (at.row - 2);
    const chosen = now.layer === layer && now.head !== null;
    out.push(svg("rect", { class: "row", "data-layer": layer, x: at.left, y: top, width: number(at.zx(end) - at.left), height: at.row, fill: "var(--panel)", stroke: "var(--line)" }));
    out.push(svg("path", { d: `M${at.left} ${number(y(0.5))}H${number(at.zx(end))}`, stroke: "var(--line)", "stroke-dasharray": "2 3" }));
    out.push(label(at, at.left - 8, top + at.row / 2 + at.font * 0.36, narrow ? String(layer) : t(TEXT.layer, { n: layer }), { "text-anchor": "end", fill: chosen ? "var(--query)" : "var(--ink2)", "font-weight": chosen ? 650 : 400 }));
    if (end < first + run.segment) out.push(svg("rect", { x: number(at.zx(end) + 1), y: top, width: number(at.zx(first + run.segment) - at.zx(end) - 1), height: at.row, fill: "var(--sunk)" }));
    if (!narrow) {
      out.push(label(at, at.zx(first + run.segment) + 3, top + at.font * 0.5, "1", { "font-size": at.font, fill: "var(--ink3)" }));
      out.push(label(at, at.zx(first + run.segment) + 3, base + 1, "0", { "font-size": at.font, fill: "var(--ink3)" }));
    }
    if (!held) continue;
    const line = (head) => {
      let d = "";
      for (let p = first; p < end; p += 1) d += `${p === first ? "M" : "L"}${number(at.zx(p + 0.5))} ${number(y(shareAt(model, layer, head, p)))}`;
      return d;
    };
    const mean = line(null);
    out.push(svg("path", { d: `${mean}L${number(at.zx(end - 0.5))} ${base}L${number(at.zx(first + 0.5))} ${base}z`, fill: "var(--key)", "fill-opacity": 0.16 }));
    for (let head = 1; head <= model.heads; head += 1) if (!(chosen && head === now.head)) out.push(svg("path", { class: "head", d: line(head), fill: "none", stroke: "var(--key)", "stroke-opacity": 0.38, "stroke-width": big ? 1.5 : 1 }));
    if (!chosen) out.push(svg("path", { class: "mean", d: mean, fill: "none", stroke: "var(--key)", "stroke-width": big ? 3 : 1.8 }));
    else out.push(svg("path", { class: "chosen", d: line(now.head), fill: "none", stroke: "var(--key)", "stroke-width": big ? 5 : 3 }));
  }
  if (!held) {
    const why = first === 0 && model.memory > 0 && run.intervention !== "cut" ? TEXT.firstSegment : TEXT.none;
    out.push(label(at, at.left + at.wide / 2, (at.rows + at.rowsEnd) / 2 + at.font * 0.36, t(why), { class: "nothing", "text-anchor": "middle", fill: "var(--ink2)", ...halo }));
  }
  out.push(...spelled({ model, first, end }, at), ...numbered({ run, first, end }, at));
  return out;
}

/** The segment's text: each character where there is room, else words, each from its first character on, in two lines for neighbours. */
function spelled({ model, first, end }, at) {
  if (!at.words) return [];
  if (at.letters) return model.chars.slice(first, end).map((c, i) => label(at, at.zx(first + i + 0.5), at.rowsEnd + at.font * 1.35, shown(c), { "text-anchor": "middle", fill: "var(--ink2)", "font-family": MONO }));
  const out = [];
  const free = [at.left, at.left];
  let [from, turn] = [first, 0];
  for (let p = first; p <= end; p += 1) {
    if (p < end && !/\s/u.test(model.chars[p])) continue;
    if (p > from) {
      const word = model.chars.slice(from, p).join("");
      const x = at.zx(from);
      const wide = wideOf(at, word);
      const row = x >= free[turn] ? turn : 1 - turn;
      if (x >= free[row] && x + wide <= at.end + at.right) {
        out.push(label(at, x, at.rowsEnd + at.font * (row ? 2.62 : 1.3), word, { fill: "var(--ink2)", style: { unicodeBidi: "isolate" }, direction: "ltr" }));
        free[row] = x + wide + at.font * 0.4;
        turn = 1 - row;
      }
    }
    from = p + 1;
  }
  return out;
}

function numbered({ run, first, end }, at) {
  const out = [];
  const every = [1, 2, 4, 8, 16, 32, 64].find((n) => (n / run.segment) * at.wide >= at.font * 4) ?? 64;
  for (let p = first; p <= first + run.segment; p += every) {
    if (p > end) break;
    out.push(svg("path", { d: `M${number(at.zx(p))} ${at.rowsEnd}v4`, stroke: "var(--control)" }));
    const last = p === first + run.segment;
    out.push(label(at, at.zx(p), at.axis, whole(p), { "text-anchor": last ? "end" : p === first ? "start" : "middle" }));
  }
  return out;
}

/** What changes as characters are locked: the cone of what one can know of, where it looks, and its own share in every layer. */
export function over(scene, at) {
  const { run, model, now, first, end, held, big } = scene;
  if (run.state === "running") return [];
  const out = [];
  const position = now.positions.at(-1);
  for (const other of now.positions.slice(0, -1)) out.push(...marked(at, other, { first, end }, "added"));
  if (position === undefined) return out;
  const [reach, names] = cone(scene, at, position);
  out.push(...reach);
  if (scene.look && now.head !== null) out.push(...fan(scene, at, position));
  out.push(...names);
  const [x, y] = [at.x(position + 0.5), at.level(at.n) + at.strip / 2];
  out.push(svg("circle", { class: "asks", cx: number(x), cy: number(y), r: big ? 8 : 5, fill: "var(--query)", stroke: "var(--panel)", "stroke-width": big ? 2.5 : 1.8 }));
  out.push(...marked(at, position, { first, end }, "locked"));
  if (!held) return out;
  const zx = at.zx(position + 0.5);
  const turned = zx + at.font * 3.4 > at.end;
  for (let layer = 1; layer <= at.n; layer += 1) {
    const own = now.layer === layer && now.head !== null;
    const share = shareAt(model, layer, own ? now.head : null, position);
    const y_ = at.rowTop(layer) + at.row - Math.min(1, share) * (at.row - 2);
    out.push(svg("circle", { cx: number(zx), cy: number(y_), r: (own ? 0.42 : 0.3) * at.font, fill: "var(--query)", stroke: "var(--panel)", "stroke-width": 1.5 }));
    const ly = Math.max(at.rowTop(layer) + at.font * 0.95, Math.min(at.rowTop(layer) + at.row - 3, y_ - at.font * 0.35));
    out.push(label(at, turned ? zx - at.font * 0.6 : zx + at.font * 0.6, ly, weight(share), { class: "share", "text-anchor": turned ? "end" : "start", fill: "var(--key)", "font-weight": own ? 700 : 600, ...halo }));
  }
  return out;
}

/** A line through the enlarged segment at a position, and a tick in the whole text. */
export function marked(at, position, { first, end }, kind) {
  const style = { locked: { "stroke-width": at.font / 6 }, added: { "stroke-width": at.font / 9 }, preview: { "stroke-width": at.font / 9, "stroke-dasharray": "3 3" } }[kind];
  const out = [svg("path", { class: kind, d: `M${number(at.x(position + 0.5))} ${at.foot + 1}v${at.ribbon}`, stroke: "var(--query)", "stroke-width": at.font / 6 })];
  if (position >= first && position < end) out.push(svg("path", { class: `${kind} through`, d: `M${number(at.zx(position + 0.5))} ${at.rowTop(at.n)}V${at.rowsEnd + 4}`, stroke: "var(--query)", ...style }));
  return out;
}

/** What a position can know of, one memory farther with each layer down: the cone, and its words. */
function cone({ run, model, narrow, big }, at, position) {
  const from = (k) => model.travelled[k * model.length + position];
  const middle = (k) => at.level(k) + at.strip / 2;
  const edge = at.x(position + 0.5);
  const corners = Array.from({ length: at.n + 1 }, (_, k) => [k ? at.x(from(k)) : edge, middle(at.n - k)]);
  const out = [svg("path", { class: "cone", d: `M${corners.map(([x, y]) => `${number(x)} ${number(y)}`).join("L")}H${number(edge)}z`, fill: "var(--query)", "fill-opacity": 0.1 })];
  out.push(svg("path", { d: `M${corners.map(([x, y]) => `${number(x)} ${number(y)}`).join("L")}`, fill: "none", stroke: "var(--query)", "stroke-width": big ? 3 : 2, "stroke-linejoin": "round" }));
  out.push(svg("path", { d: `M${number(edge)} ${number(corners[0][1])}V${number(corners.at(-1)[1])}`, stroke: "var(--query)", "stroke-width": big ? 2 : 1.2, "stroke-dasharray": "2 3" }));
  const names = [];
  for (let k = 1; k <= run.layers; k += 1) {
    const [x, y] = corners[k];
    out.push(svg("circle", { cx: number(x), cy: number(y), r: big ? 5 : 3, fill: "var(--query)", stroke: "var(--panel)", "stroke-width": 1 }));
    const back = whole(position - from(k));
    const text = t(narrow ? TEXT.short : k === 1 ? TEXT.afterOne : TEXT.after, { n: k, back });
    const before = x - wideOf(at, text) - 8 >= at.left;
    // In the gap above the strip: before the cone's edge where there is room, else inside the cone, where its edge has risen over the words.
    const risen = Math.min(1, (at.strip / 2 + 1.4 * at.font) / (at.gap + at.strip));
    const inside = Math.min(x + risen * (corners[k - 1][0] - x) + 8, at.end + at.right - wideOf(at, text));
    names.push(label(at, before ? x - 7 : inside, at.level(at.n - k) - at.font * 0.4, text, { class: "reach", "text-anchor": before ? "end" : "start", fill: "var(--query)", "font-weight": 600, ...halo }));
  }
  return [out, names];
}

/** Lines from a position in the chosen layer to the states that it looks at, one layer below. */
function fan({ run, model, now, first, held, look, slots }, at, position) {
  const bins = new Map();
  const add = (px, w) => {
    if (!(w > 0)) return;
    const bin = Math.floor(px / BIN);
    const before = bins.get(bin) ?? { w: 0, x: 0 };
    bins.set(bin, { w: before.w + w, x: before.x + w * px });
  };
  for (let slot = 0; slot < held; slot += 1) {
    const key = slots[slot];
    add(at.x((key < model.length ? key : first - held + slot) + 0.5), look[key]);
  }
  for (let key = first; key <= position; key += 1) add(at.x(key + 0.5), look[key]);
  const found = [...bins.values()].filter(({ w }) => w >= LEAST).sort((a, b) => b.w - a.w).slice(0, LINES);
  const [x0, y0, y1] = [at.x(position + 0.5), at.level(now.layer) + at.strip, at.level(now.layer - 1)];
  const mid = (y0 + y1) / 2;
  const out = found.reverse().map(({ w, x }) => {
    const px = x / w;
    return svg("path", { class: "look", d: `M${number(x0)} ${y0}C${number(x0)} ${number(mid + 4)} ${number(px)} ${number(mid - 4)} ${number(px)} ${y1}`, fill: "none", stroke: "var(--key)", "stroke-width": number((0.8 + 7 * Math.min(1, 2.5 * w) ** 0.8) * (at.font / 12)), "stroke-opacity": (0.35 + 0.6 * Math.min(1, 4 * w)).toFixed(2), "stroke-linecap": "round" });
  });
  out.push(svg("circle", { cx: number(x0), cy: number(at.level(now.layer) + at.strip / 2), r: at.font / 3, fill: "var(--query)", stroke: "var(--panel)", "stroke-width": 1.5 }));
  return out;
}

/** The whole drawing, for what leaves the page. */
export function drawing(scene) {
  const at = place(scene);
  return svg("svg", { viewBox: `0 0 ${at.width} ${at.height}`, width: at.width, height: at.height }, ground(scene, at), over(scene, at));
}

/** What stands under a point: {pos, layer} in the enlarged segment, {pos, layer: null} in the whole text, or null. */
export function under({ run, model, end }, at, x, y) {
  if (x < at.left || x > at.end) return null;
  if (y < at.foot + at.ribbon + 4) {
    const pos = Math.floor(at.position(x));
    return pos >= 0 && pos < model.length ? { pos, layer: null } : null;
  }
  if (run.state === "running" || y < at.rows || y > at.rowsEnd + at.words) return null;
  const pos = Math.floor(at.zoomed(x));
  if (pos >= end) return null;
  const layer = at.n - Math.floor((y - at.rows) / ((at.rowsEnd - at.rows) / at.n));
  return { pos, layer: y <= at.rowsEnd ? Math.max(1, Math.min(at.n, layer)) : null };
}

// What a visitor takes along from the digits widget: the figure as a picture, a page that replays it with no network, and the numbers.

import { drawDigit, colourDigit, covered } from "./digitboard.js";
import { boardOf } from "./digitboards.js";
import { MAY, PARTS, allowed, partsOf } from "./digitpattern.js";
import { csv, fileName, footLines, html as text, npz, save, wrap } from "./export.js";
import { lang, t } from "./lang.js";
import { around, enlarge, rgb } from "./pixels.js";
import { foot as origin } from "./source.js";
import { css } from "./theme.js";
import { TEXT, costsOf as costs } from "./digitwords.js";

const SERIF = 'Charter, "Iowan Old Style", "Noto Serif", Georgia, serif';
const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const EDGE = 20;
const CELL = 14; // px of a pixel that leaves the page
const HEAD = 82; // px above the boards
const FOOT = 26; // and below, for what they cost

const json = (value) => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Where everything stands in a picture that leaves the page. */
function portrait(state) {
  const wide = state.side * CELL;
  const width = 2 * EDGE + state.seen.length * wide + (state.seen.length - 1) * EDGE;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `16px ${SERIF}`;
  const lines = wrap(pen, state.words, width - 2 * EDGE - 16);
  const below = footLines(width - 2 * EDGE);
  return { wide, width, height: HEAD + wide + FOOT + 24 + 24 * lines.length + 12 + 18 * below.length + EDGE, lines, below, foot: HEAD + wide + FOOT + 16 };
}

const still = (state, i) => boardOf({ ...state, hover: null }, i, CELL);

async function png(state) {
  const { wide, width, height, lines, below, foot } = portrait(state);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.fillStyle = state.tokens.panel;
  context.fillRect(0, 0, width, height);
  const write = (words, x, y, font, colour) => {
    context.font = font;
    context.fillStyle = colour;
    context.fillText(words, x, y);
    return context.measureText(words).width;
  };
  const title = write(state.title, EDGE, 36, `650 18px ${SANS}`, state.tokens.ink);
  write(state.what, EDGE + title + 12, 36, `14px ${SANS}`, css("--ink3"));
  state.seen.forEach((model, i) => {
    const x = EDGE + i * (wide + EDGE);
    const name = write(t(model.name), x, 70, `650 14px ${SANS}`, state.tokens.ink);
    if (model.note) write(` · ${t(model.note)}`, x + name, 70, `13px ${SANS}`, css("--ink2"));
    write(costs(model), x, HEAD + wide + 20, `13px ${SANS}`, css("--ink2"));
    context.save();
    context.translate(x, HEAD);
    drawDigit(context, still(state, i));
    context.restore();
  });
  context.fillStyle = css("--accent");
  context.fillRect(EDGE, foot, 3, 24 * lines.length);
  lines.forEach((line, n) => write(line, EDGE + 16, foot + 17 + 24 * n, `16px ${SERIF}`, state.tokens.ink));
  below.forEach((line, n) => write(line, EDGE, foot + 17 + 24 * lines.length + 12 + 18 * n, `12px ${SANS}`, css("--ink3")));
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** A picture as a data address, one pixel each. */
function raster(pixels) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [pixels.width, pixels.height];
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  return canvas.toDataURL("image/png");
}

/** The same as SVG: the pixels as an embedded raster, everything else as lines and text. */
function vector(state) {
  const { wide, width, height, lines, below, foot } = portrait(state);
  const { tokens, side } = state;
  const boards = state.seen.map((model, i) => {
    const how = still(state, i);
    const x = EDGE + i * (wide + EDGE);
    const square = (p, more) => `<rect x="${p % side}" y="${Math.floor(p / side)}" width="1" height="1" ${more}/>`;
    const centre = (p) => `<rect x="${(p % side) + 0.3}" y="${Math.floor(p / side) + 0.3}" width=".4" height=".4" fill="${p < how.given ? (how.symbols[p] ? tokens.ink : tokens.ground) : how.symbols[p] ? tokens.out : tokens["out-soft"]}"/>`;
    const outline = (mask, colour, line, n) => {
      const { fill, edge } = around(mask, side, side);
      return `<clipPath id="c${i}-${n}"><path d="${fill}"/></clipPath><path d="${edge}" clip-path="url(#c${i}-${n})" fill="none" stroke="${colour}" stroke-width="${line}" stroke-linecap="square"/>`;
    };
    const dots = Array.from(how.symbols, (_, p) => (p < how.upto && (how.nats || how.locked === null || p <= how.locked) ? "" : `M${(p % side) + 0.45} ${Math.floor(p / side) + 0.5}h.1`)).join("");
    return [
      `<text x="${x}" y="70" font-size="14" fill="${tokens.ink}"><tspan font-weight="650">${text(t(model.name))}</tspan>${model.note ? `<tspan font-size="13" fill="${css("--ink2")}"> · ${text(t(model.note))}</tspan>` : ""}</text>`,
      `<text x="${x}" y="${HEAD + wide + 20}" font-size="13" fill="${css("--ink2")}">${text(costs(model))}</text>`,
      `<g transform="translate(${x} ${HEAD}) scale(${CELL})"><image width="${side}" height="${side}" href="${raster(colourDigit(how))}" style="image-rendering:pixelated" preserveAspectRatio="none"/>`,
      dots ? `<path d="${dots}" stroke="${tokens.control}" stroke-width=".1" opacity=".6"/>` : "",
      covered(how).map(centre).join(""),
      how.edges.map(({ mask, colour }, n) => outline(mask, colour, 0.28, n)).join(""),
      how.ghost ? outline(how.ghost, tokens.ink, 0.32, "g") : "",
      how.given > 0 && how.given < side * side ? `<path d="M0 ${how.given / side}H${side}" stroke="${tokens.panel}" stroke-width=".32"/><path d="M0 ${how.given / side}H${side}" stroke="${tokens.ink}" stroke-width=".14"/>` : "",
      how.others.map((p) => square(p, `fill="none" stroke="${tokens.query}" stroke-width=".2"`)).join(""),
      how.best !== null && how.best !== how.locked ? square(how.best, `fill="none" stroke="${tokens.key}" stroke-width=".24"`) : "",
      how.locked !== null ? square(how.locked, how.nats ? `fill="none" stroke="${tokens.query}" stroke-width=".24"` : `fill="${tokens.query}" stroke="${tokens.panel}" stroke-width=".12"`) : "",
      `<rect width="${side}" height="${side}" fill="none" stroke="${tokens.control}" stroke-width=".07"/></g>`,
    ].join("");
  });
  const said = lines.map((line, n) => `<text x="${EDGE + 16}" y="${foot + 17 + 24 * n}" font-size="16" font-family="${text(SERIF)}" fill="${tokens.ink}">${text(line)}</text>`).join("");
  const from = below.map((line, n) => `<text x="${EDGE}" y="${foot + 17 + 24 * lines.length + 12 + 18 * n}" font-size="12" fill="${css("--ink3")}">${text(line)}</text>`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${text(SANS)}" role="img" aria-label="${text(state.words)}">
<rect width="${width}" height="${height}" fill="${tokens.panel}"/><text x="${EDGE}" y="36" font-size="18" font-weight="650" fill="${tokens.ink}">${text(state.title)}<tspan dx="12" font-size="14" font-weight="400" fill="${css("--ink3")}">${text(state.what)}</tspan></text>
${boards.join("\n")}
<rect x="${EDGE}" y="${foot}" width="3" height="${24 * lines.length}" fill="${css("--accent")}"/>${said}${from}</svg>
`;
}

// The script of a saved page: a slider through the making, the pattern of the head in view at every pixel, and its weights where it was locked.
const REPLAY = `const node = (id) => document.getElementById(id);
function draw() {
  const position = Number(node("at").value);
  data.models.forEach((model, i) => {
    const here = position === data.position;
    const edges = model.factor ? partsOf(model.factor).map((part) => ({mask: allowed(part, model.stride, model.summary, position, model.symbols.length), colour: data.edges[part]})) : [];
    const context = node("board" + i).getContext("2d");
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.clearRect(0, 0, 1000, 1000);
    drawDigit(context, {side: data.side, cell: data.cell, symbols: model.symbols, given: model.given, upto: here ? model.count : Math.max(position + 1, model.given), locked: position,
      mask: here && model.mask ? model.mask : null, weights: here ? model.weights : null, most: here ? model.most : 0, nats: null, worst: 1, colours: null, edges, ghost: null, others: [], hover: null,
      best: here ? model.best : null, tokens: data.tokens});
  });
  node("count").textContent = (position + 1) + " / " + data.models[0].symbols.length;
  document.querySelector(".words").hidden = position !== data.position;
}
node("at").addEventListener("input", draw);
draw();`;

function page(state) {
  const { seen, side, now, tokens, position, shown } = state;
  const models = seen.map((model, i) => {
    const look = shown[i];
    return {
      symbols: Array.from(model.symbols),
      given: model.given,
      count: model.count,
      stride: model.stride,
      summary: model.summary,
      factor: now.roll ? null : (model.factors?.[now.layer - 1]?.[now.head - 1] ?? null),
      mask: look?.mask ? Array.from(look.mask) : null,
      weights: look?.weights ? Array.from(look.weights, (w) => Number(w.toPrecision(4))) : null,
      most: look?.most ?? 0,
      best: look?.best?.where ?? null,
    };
  });
  const edges = Object.fromEntries(["all", "row", "block"].map((part) => [part, tokens.key]).concat(["column", "summary"].map((part) => [part, tokens["cat-6"]])));
  const data = { models, side, cell: CELL, tokens, edges, position: position ?? seen[0].count - 1 };
  const [panel, ink, faint, accent] = ["--panel", "--ink", "--ink3", "--accent"].map(css);
  const boards = seen.map((model, i) => `<figure><figcaption><b>${text(t(model.name))}</b>${model.note ? ` · ${text(t(model.note))}` : ""}</figcaption><canvas id="board${i}" width="${2 * side * CELL}" height="${2 * side * CELL}" style="width:${side * CELL}px"></canvas><p>${text(costs(model))}</p></figure>`).join("");
  const functions = [rgb, enlarge, around, colourDigit, covered, drawDigit].map(String).join("\n");
  const pattern = `const MAY = {${Object.entries(MAY).map(([part, may]) => `${part}: ${may}`)}};\nconst PARTS = ${json(PARTS)};\nconst partsOf = ${partsOf};\n${allowed}`;
  return `<!doctype html>
<html lang="${lang() === "zh" ? "zh-CN" : "en"}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>${text(state.title)}</title>
<style>body{margin:24px;background:${panel};color:${ink};font:14px/20px system-ui,sans-serif}h1{font-size:20px;line-height:26px}.boards{display:flex;flex-wrap:wrap;gap:20px}figure{margin:0}figure p{margin:6px 0 0}
figcaption{margin-bottom:6px}canvas{display:block}.controls{display:flex;gap:16px;align-items:center;margin:16px 0;max-width:${seen.length * (side * CELL + 20)}px}#at{flex:1;accent-color:${accent}}output{white-space:nowrap;font-variant-numeric:tabular-nums}
.words{border-left:3px solid ${accent};padding-left:12px;font:16px/24px Georgia,serif;max-width:60em}small{color:${faint}}</style></head>
<body><h1>${text(state.title)}</h1><div class="boards">${boards}</div>
<div class="controls"><input id="at" type="range" min="0" max="${seen[0].count - 1}" value="${data.position}" aria-label="${text(t(TEXT.seek))}"><output id="count"></output></div>
<p class="words">${text(state.words)}</p><p>${text(state.what)}</p><p><small>${text(origin())}</small></p>
<script>
${functions.replaceAll("</", "<\\/")}
${pattern}
const data = ${json(data)};
${REPLAY}</script></body></html>
`;
}

/** A row for each pixel: for each model what it is, whether it was given, what it cost, and what the locked pixel gives to it. */
function rows({ seen, side, shown }) {
  const head = ["position", "row", "column", ...seen.flatMap(({ key }) => [`${key}_pixel`, `${key}_given`, `${key}_nats`, `${key}_weight`])];
  const of = (model, i, p) => [p < model.count ? model.symbols[p] : "", p < model.given ? 1 : 0, p < model.count ? Number(model.nats[p].toFixed(5)) : "", shown[i]?.weights && shown[i].mask[p] ? Number(shown[i].weights[p].toFixed(6)) : ""];
  return [head, ...Array.from({ length: seen[0].length }, (_, p) => [p, Math.floor(p / side), p % side, ...seen.flatMap((model, i) => of(model, i, p))])];
}

function numbers({ seen, side, shown, whole, what, position }) {
  const files = {};
  seen.forEach((model, i) => {
    files[`${model.key}_pixels`] = { shape: [side, side], data: Uint8Array.from(model.symbols) };
    files[`${model.key}_nats`] = { shape: [side, side], data: Float32Array.from(model.nats) };
    if (model.offsets) files[`${model.key}_mean_by_displacement`] = { shape: model.offsets.shape, data: model.offsets.roots.map((root) => root * root) };
    if (shown[i]?.mask) files[`${model.key}_allowed`] = { shape: [side, side], data: Uint8Array.from(shown[i].mask) };
    if (shown[i]?.weights) files[`${model.key}_weights`] = { shape: [side, side], data: Float32Array.from(shown[i].weights) };
  });
  if (whole) files.whole = { shape: [side, side], data: Uint8Array.from(whole) };
  files.given_pixels = { shape: [1], data: Int32Array.from([seen[0].given]) };
  files.looked_at = `position ${position ?? "none"}, ${what}`;
  return npz(files);
}

/** The makers of the export bar; state() tells what is looked at, or gives null. */
export function exporters(state) {
  const name = ({ now, position }, ending) => fileName([now.key, position === null ? "" : `position ${position}`, now.roll ? `rollout ${now.roll}` : `${now.layer}.${now.head}`], ending);
  const having = (make) => async () => {
    const now = state();
    if (now) await make(now);
  };
  return {
    PNG: having(async (now) => save(name(now, "png"), await png(now))),
    SVG: having((now) => save(name(now, "svg"), vector(now), "image/svg+xml")),
    HTML: having((now) => save(name(now, "html"), page(now), "text/html")),
    CSV: having((now) => save(name(now, "csv"), csv(rows(now)), "text/csv")),
    NPZ: having((now) => save(name(now, "npz"), numbers(now))),
  };
}

// What a visitor takes along from the spans widget: the figure as a picture, a page that replays it with no network, and the numbers.

import { fileName, footLines, npz, save, wrap } from "./export.js";
import { byPixel, layout } from "./layout.js";
import { lang, t } from "./lang.js";
import { around, colourPixels, drawBoard, enlarge, rgb } from "./pixels.js";
import { foot } from "./source.js";
import { css } from "./theme.js";

const SERIF = 'Charter, "Iowan Old Style", "Noto Serif", Georgia, serif';
const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const EDGE = 20;
const SIDE = 392; // px of a board that leaves the page

const text = (value) => String(value).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const json = (value) => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What `drawBoard` takes for one pattern of what is looked at. */
function boardOf(state, i, cell) {
  const { seen, now, position, weights, stages, colours, tokens } = state;
  const { it, pattern, pictures } = seen[i];
  const best = weights[i]?.[now.head - 1];
  const blocks = position === null ? null : it.blocks(position);
  const outlines = blocks ? [...(now.field ? [] : [{ mask: blocks.memory, colour: tokens.key }]), { mask: blocks.query, colour: tokens.query }] : [];
  return {
    rows: it.rows,
    columns: it.columns,
    channels: it.channels,
    cell,
    levels: pictures.slice(now.picture),
    stage: stages[i],
    ghost: 0.3,
    weights: now.field ? null : (best?.pixels ?? null),
    most: best?.most ?? 0,
    colours,
    field: now.field && position !== null ? it.reach(position, now.field).pixels : null,
    upto: now.field,
    outlines,
    query: position === null ? null : it.order[position],
    best: now.field || !best ? null : best.where,
    kept: pattern.kept,
    tokens,
  };
}

const subtitle = ({ now }) => (now.field ? "" : { en: `layer ${now.layer}, head ${now.head}`, zh: `第 ${now.layer} 层，第 ${now.head} 头` }[lang()]);

/** The whole figure on a canvas of its own: title, boards, sentence. */
function portrait(state) {
  const cell = Math.floor(SIDE / state.seen[0].it.columns);
  const [wide, tall] = [state.seen[0].it.columns * cell, state.seen[0].it.rows * cell];
  const width = 2 * EDGE + state.seen.length * wide + (state.seen.length - 1) * EDGE;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `16px ${SERIF}`;
  const lines = wrap(pen, state.words, width - 2 * EDGE - 16);
  const below = footLines(width - 2 * EDGE);
  return { cell, wide, tall, width, height: 92 + tall + 24 + 24 * lines.length + 12 + 18 * below.length + EDGE, lines, below };
}

async function png(state) {
  const { cell, wide, tall, width, height, lines, below } = portrait(state);
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
  };
  write(state.title, EDGE, 36, `650 18px ${SANS}`, state.tokens.ink);
  const title = context.measureText(state.title).width;
  write(subtitle(state), EDGE + title + 12, 36, `14px ${SANS}`, css("--ink3"));
  state.seen.forEach(({ pattern }, i) => {
    const x = EDGE + i * (wide + EDGE);
    write(t(pattern.label), x, 70, `650 14px ${SANS}`, state.tokens.ink);
    const name = context.measureText(t(pattern.label)).width;
    write(` · ${t(pattern.note)}`, x + name, 70, `13px ${SANS}`, css("--ink2"));
    context.save();
    context.translate(x, 82);
    drawBoard(context, boardOf(state, i, cell));
    context.restore();
  });
  context.fillStyle = css("--accent");
  context.fillRect(EDGE, 82 + tall + 16, 3, 24 * lines.length);
  lines.forEach((line, n) => write(line, EDGE + 16, 82 + tall + 33 + 24 * n, `16px ${SERIF}`, state.tokens.ink));
  below.forEach((line, n) => write(line, EDGE, 82 + tall + 33 + 24 * lines.length + 12 + 18 * n, `12px ${SANS}`, css("--ink3")));
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
  const { cell, wide, tall, width, height, lines, below } = portrait(state);
  const { tokens } = state;
  const parts = [];
  state.seen.forEach(({ pattern }, i) => {
    const how = boardOf(state, i, cell);
    const x = EDGE + i * (wide + EDGE);
    parts.push(`<text x="${x}" y="70" font-size="14" fill="${tokens.ink}"><tspan font-weight="650">${text(t(pattern.label))}</tspan><tspan font-size="13" fill="${css("--ink2")}"> · ${text(t(pattern.note))}</tspan></text>`);
    parts.push(`<g transform="translate(${x} 82) scale(${cell})"><image width="${how.columns}" height="${how.rows}" href="${raster(colourPixels(how))}" style="image-rendering:pixelated" preserveAspectRatio="none"/>`);
    if (how.stage) {
      const dots = Array.from(how.stage, (at, p) => (at === 2 ? "" : `M${(p % how.columns) + 0.45} ${Math.floor(p / how.columns) + 0.5}h.1`)).join("");
      parts.push(`<path d="${dots}" stroke="${tokens.control}" stroke-width=".1" opacity=".6"/>`);
    }
    how.outlines.forEach(({ mask, colour }, n) => {
      const { fill, edge } = around(mask, how.rows, how.columns);
      const id = `clip-${i}-${n}`;
      parts.push(`<clipPath id="${id}"><path d="${fill}"/></clipPath><g clip-path="url(#${id})" fill="none" stroke-linecap="square"><path d="${edge}" stroke="${tokens.panel}" stroke-width=".74"/><path d="${edge}" stroke="${colour}" stroke-width=".56"/><path d="${edge}" stroke="${tokens.panel}" stroke-width=".14"/></g>`);
    });
    if (how.kept > 0 && how.kept < how.rows) parts.push(`<path d="M0 ${how.kept}H${how.columns}" stroke="${tokens.panel}" stroke-width=".3"/><path d="M0 ${how.kept}H${how.columns}" stroke="${tokens.ink}" stroke-width=".12" stroke-dasharray=".5 .35"/>`);
    const square = (pixel, more) => `<rect x="${pixel % how.columns}" y="${Math.floor(pixel / how.columns)}" width="1" height="1" ${more}/>`;
    if (how.best !== null && how.best !== how.query) parts.push(square(how.best, `fill="none" stroke="${tokens.key}" stroke-width=".24"`));
    if (how.query !== null) parts.push(square(how.query, `fill="${tokens.query}" stroke="${tokens.panel}" stroke-width=".14"`));
    parts.push("</g>");
  });
  const said = lines.map((line, n) => `<text x="${EDGE + 16}" y="${82 + tall + 33 + 24 * n}" font-size="16" font-family="${text(SERIF)}" fill="${tokens.ink}">${text(line)}</text>`).join("");
  const from = below.map((line, n) => `<text x="${EDGE}" y="${82 + tall + 33 + 24 * lines.length + 12 + 18 * n}" font-size="12" fill="${css("--ink3")}">${text(line)}</text>`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${text(SANS)}" role="img" aria-label="${text(state.words)}">
<rect width="${width}" height="${height}" fill="${tokens.panel}"/><text x="${EDGE}" y="36" font-size="18" font-weight="650" fill="${tokens.ink}">${text(state.title)}<tspan dx="12" font-size="14" font-weight="400" fill="${css("--ink3")}">${text(subtitle(state))}</tspan></text>
${parts.join("\n")}
<rect x="${EDGE}" y="${82 + tall + 16}" width="3" height="${24 * lines.length}" fill="${css("--accent")}"/>${said}${from}</svg>
`;
}

// The script of a saved page: a slider through the order, a choice of heads. The functions above it come along as they are.
const REPLAY = `const node = (id) => document.getElementById(id);
const laid = data.patterns.map((pattern) => layout(pattern, pattern.order));
function draw() {
  const position = Number(node("at").value);
  const head = node("head") ? Number(node("head").value) : 0;
  const rows = data.patterns.map((pattern, i) => pattern.slots && pattern.whole > position ? byPixel(laid[i], position, Array.from({length: pattern.slots}, (_, k) => (pattern.weights.charCodeAt((head * laid[i].length + position) * pattern.slots + k) / 255) ** 2)) : null);
  data.patterns.forEach((pattern, i) => {
    const it = laid[i];
    const blocks = it.blocks(position);
    const stage = new Uint8Array(it.size);
    for (let p = 0; p < pattern.made; p += 1) stage[it.order[p]] = Math.max(stage[it.order[p]], p < position ? 2 : 1);
    const context = node("board" + i).getContext("2d");
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.clearRect(0, 0, 1000, 1000);
    drawBoard(context, {rows: it.rows, columns: it.columns, channels: it.channels, cell: data.cell, levels: pattern.picture, stage, ghost: 0.3,
      weights: rows[i] ? rows[i].pixels : null, most: rows[i] ? rows[i].most : 0, colours, field: null, upto: 0, outlines: [{mask: blocks.memory, colour: data.tokens.key}, {mask: blocks.query, colour: data.tokens.query}],
      query: it.order[position], best: rows[i] ? rows[i].where : null, kept: pattern.kept, tokens: data.tokens});
  });
  node("count").textContent = (position + 1) + " / " + laid[0].length + rows.map((row, i) => row ? " · " + data.patterns[i].short + " " + data.words.weight + " 0–" + row.most.toFixed(2) : "").join("");
  document.querySelector(".words").hidden = position !== data.position || head !== data.head;
}
node("at").addEventListener("input", draw);
if (node("head")) node("head").addEventListener("change", draw);
draw();`;

function page(state) {
  const { seen, now, layers, tokens, colours } = state;
  const cell = Math.floor(SIDE / seen[0].it.columns);
  const patterns = seen.map(({ pattern, it, pictures }, i) => {
    const layer = now.picture === 0 ? layers[i] : null;
    const { rows, columns, channels, starts, memory, made, kept, key } = pattern;
    let weights = "";
    if (layer) for (const w of layer.data) weights += String.fromCharCode(Math.round(Math.sqrt(w) * 255));
    return { key, short: t(pattern.short), rows, columns, channels, starts, memory, made, kept, order: Array.from(it.order), picture: Array.from(pictures.slice(now.picture)), slots: layer?.shape[2] ?? 0, whole: layer ? it.length : 0, weights: "" , raw: weights };
  });
  const data = { patterns: patterns.map(({ raw, ...rest }) => rest), cell, tokens, position: state.position ?? seen[0].pattern.made - 1, head: now.head - 1, words: { weight: { en: "weight", zh: "权重" }[lang()] } };
  const [panel, ink, faint, accent] = ["--panel", "--ink", "--ink3", "--accent"].map(css);
  const names = { en: ["Pixel", "Head"], zh: ["像素", "头"] }[lang()];
  const heads = patterns.some(({ slots }) => slots) ? `<label>${names[1]} <select id="head">${Array.from({ length: seen[0].pattern.heads }, (_, h) => `<option value="${h}"${h === now.head - 1 ? " selected" : ""}>${now.layer}·${h + 1}</option>`).join("")}</select></label>` : "";
  const boards = seen.map(({ pattern, it }, i) => `<figure><figcaption><b>${text(t(pattern.label))}</b> · ${text(t(pattern.note))}</figcaption><canvas id="board${i}" width="${2 * it.columns * cell}" height="${2 * it.rows * cell}" style="width:${it.columns * cell}px"></canvas></figure>`).join("");
  const functions = [rgb, colourPixels, enlarge, around, drawBoard, layout, byPixel].map(String).join("\n");
  const bytes = patterns.map(({ raw }) => btoa(raw));
  return `<!doctype html>
<html lang="${lang() === "zh" ? "zh-CN" : "en"}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>${text(state.title)}</title>
<style>body{margin:24px;background:${panel};color:${ink};font:14px/20px system-ui,sans-serif}h1{font-size:20px;line-height:26px}.boards{display:flex;flex-wrap:wrap;gap:20px}figure{margin:0}
figcaption{margin-bottom:6px}canvas{display:block}.controls{display:flex;gap:16px;align-items:center;margin:16px 0;max-width:${2 * SIDE + 20}px}#at{flex:1;accent-color:${accent}}label,output{white-space:nowrap;font-variant-numeric:tabular-nums}
.words{border-left:3px solid ${accent};padding-left:12px;font:16px/24px Georgia,serif;max-width:60em}small{color:${faint}}select{font:inherit}</style></head>
<body><h1>${text(state.title)}</h1><div class="boards">${boards}</div>
<div class="controls"><input id="at" type="range" min="0" max="${seen[0].pattern.made - 1}" value="${data.position}" aria-label="${names[0]}"><output id="count"></output>${heads}</div>
<p class="words">${text(state.words)}</p><p><small>${text(foot())}</small></p>
<script>
${functions.replaceAll("</", "<\\/")}
const data = ${json(data)};
${json(bytes)}.forEach((each, i) => { data.patterns[i].weights = atob(each); });
const colours = Uint8ClampedArray.from(${json(Array.from(colours))});
${REPLAY}</script></body></html>
`;
}

/** What was made, and nothing over it: all pictures side by side, a row for each pattern, eight pixels to each of theirs. */
function bare(state) {
  const { it, count } = state.seen[0];
  const [wide, tall] = [it.columns * 8, it.rows * 8];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [count * wide + (count - 1) * 8, state.seen.length * tall + (state.seen.length - 1) * 8];
  const context = canvas.getContext("2d");
  state.seen.forEach(({ pictures, pattern }, i) => {
    const stage = new Uint8Array(it.size);
    for (let p = 0; p < pattern.made; p += 1) stage[state.seen[i].it.order[p]] = 2;
    for (let n = 0; n < count; n += 1) {
      const pixels = colourPixels({ rows: it.rows, columns: it.columns, channels: it.channels, levels: pictures.slice(n), stage, ghost: 0, weights: null, most: 0, colours: state.colours, field: null, upto: 0, tokens: state.tokens });
      enlarge(context, pixels, n * (wide + 8), i * (tall + 8), wide, tall);
    }
  });
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function numbers({ seen, now, layers, position, truth, small, weights }) {
  const files = {};
  seen.forEach(({ pattern, it, pictures, bits }, i) => {
    const name = pattern.key;
    files[`${name}_pictures`] = { shape: pictures.shape, data: Uint8Array.from(pictures.data) };
    files[`${name}_bits`] = { shape: bits.shape, data: bits.data };
    files[`${name}_order`] = { shape: [it.length], data: it.order };
    files[`${name}_starts`] = { shape: [it.starts.length], data: Int32Array.from(it.starts) };
    if (layers[i]) files[`${name}_layer_${now.layer}_weights`] = layers[i];
    if (position !== null) {
      const keys = it.keys(position);
      files[`${name}_keys_of_query`] = { shape: [keys.length], data: keys };
    }
    if (weights[i]) files[`${name}_weights_by_pixel`] = { shape: [weights[i].length, it.rows, it.columns], data: Float32Array.from(weights[i].flatMap((each) => Array.from(each.pixels))) };
  });
  if (truth) files.given = { shape: truth.shape, data: Uint8Array.from(truth.data) };
  if (small) files.small = { shape: small.shape, data: Uint8Array.from(small.data) };
  files.looked_at = `position ${position ?? "none"}, layer ${now.layer}, head ${now.head}`;
  return npz(files);
}

/** The makers of the export bar; state() tells what is looked at. */
export function exporters(state) {
  const name = ({ now, position }, ending) => fileName([now.pattern, position === null ? "" : `position ${position}`, now.field ? `field ${now.field}` : `${now.layer}.${now.head}`], ending);
  const having = (make) => async () => {
    const now = state();
    if (now.value) await make(now);
  };
  return {
    PNG: having(async (now) => save(name(now, "png"), await png(now))),
    SVG: having((now) => save(name(now, "svg"), vector(now), "image/svg+xml")),
    HTML: having((now) => save(name(now, "html"), page(now), "text/html")),
    NPZ: having((now) => save(name(now, "npz"), numbers(now))),
    "PNG 8×": having(async (now) => save(fileName(["pixels"], "png"), await bare(now))),
  };
}


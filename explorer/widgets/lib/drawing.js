// A figure drawn as SVG leaves the page: as a picture, as a page that opens offline. Colours in it are tokens, "var(--ink)".

import { svg } from "./dom.js";
import { fileName, footLines, html, save, wrap } from "./export.js";
import { lang } from "./lang.js";
import { foot } from "./source.js";
import { css } from "./theme.js";

const SERIF = 'Charter, "Iowan Old Style", "Noto Serif", Georgia, serif';
const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const EDGE = 20;

/** The drawing as text, its tokens replaced by the colours of the moment; a word that looks like a token stays a word. */
function written(node) {
  for (const each of [node, ...node.querySelectorAll("*")]) {
    for (const name of ["fill", "stroke"]) {
      const token = /^var\((--[\w-]+)\)$/.exec(each.getAttribute(name) ?? "");
      if (token) each.setAttribute(name, css(token[1]));
    }
  }
  return new XMLSerializer().serializeToString(node);
}

/** The drawing with its title above, its sentence and where it comes from below. */
function sheet({ drawing, title, sentence }) {
  const { width: wide, height: tall } = drawing.viewBox.baseVal;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `16px ${SERIF}`;
  const width = Math.max(640, wide) + 2 * EDGE;
  const lines = wrap(pen, sentence, Math.min(width, 960) - 2 * EDGE - 16);
  const below = footLines(width - 2 * EDGE);
  const height = 60 + tall + 24 + 24 * lines.length + 12 + 18 * below.length + EDGE;
  const inner = drawing.cloneNode(true);
  for (const [name, value] of Object.entries({ x: EDGE, y: 56, width: wide, height: tall })) inner.setAttribute(name, value);
  inner.removeAttribute("style");
  const node = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, "font-family": SANS, role: "img", "aria-label": sentence },
    svg("rect", { width, height, fill: "var(--panel)" }),
    svg("text", { x: EDGE, y: 36, "font-size": 18, "font-weight": 650, fill: "var(--ink)", text: title }),
    inner,
    svg("rect", { x: EDGE, y: 68 + tall, width: 3, height: 24 * lines.length, fill: "var(--accent)" }),
    lines.map((line, n) => svg("text", { x: EDGE + 16, y: 85 + tall + 24 * n, "font-size": 16, "font-family": SERIF, fill: "var(--ink)", text: line })),
    below.map((line, n) => svg("text", { x: EDGE, y: 85 + tall + 24 * lines.length + 12 + 18 * n, "font-size": 12, fill: "var(--ink3)", text: line })),
  );
  return { width, height, text: written(node) };
}

async function picture({ width, height, text }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const sharp = Math.min(2, Math.sqrt(6e7 / (width * height))); // a browser draws no larger canvas
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(sharp * width), Math.round(sharp * height)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done));
}

function page({ drawing, title, sentence, more, note = "" }) {
  const [panel, ink, faint, accent, line] = ["--panel", "--ink", "--ink3", "--accent", "--line"].map(css);
  const alone = drawing.cloneNode(true);
  alone.removeAttribute("style");
  alone.setAttribute("width", drawing.viewBox.baseVal.width);
  const cells = (row, tag) => row.map((cell) => `<${tag}>${html(cell)}</${tag}>`).join("");
  const [head, ...rows] = more;
  return `<!doctype html>
<html lang="${lang() === "zh" ? "zh-CN" : "en"}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${html(title)}</title>
<style>body{margin:24px;background:${panel};color:${ink};font:14px/20px system-ui,sans-serif}h1{font-size:20px;line-height:26px}.figure{overflow:auto}svg{font-family:system-ui,sans-serif}
.words{border-left:3px solid ${accent};padding-left:12px;font:16px/24px Georgia,serif;max-width:60em}small{color:${faint}}table{border-collapse:collapse}th,td{padding:4px 8px;border-bottom:1px solid ${line};text-align:left}</style></head>
<body><h1>${html(title)}</h1><div class="figure">${written(alone)}</div><p class="words">${html(sentence)}</p>
<table><thead><tr>${cells(head, "th")}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("")}</tbody></table>
${note && `<p>${html(note)}</p>`}<p><small>${html(foot())}</small></p></body></html>
`;
}

/**
 * PNG, SVG and HTML for the export bar. now() tells what stands there:
 * @param {() => {drawing: SVGSVGElement, title: string, sentence: string, name: string[], more: any[][]} | null} now
 *   drawing: with a viewBox in pixels. more: a table for the saved page, its head first. note: a line below it, or nothing.
 */
export function leaving(now) {
  const having = (make) => async () => {
    const what = now();
    if (what) await make(what, (ending) => fileName(what.name, ending));
  };
  return {
    PNG: having(async (what, name) => save(name("png"), await picture(sheet(what)))),
    SVG: having((what, name) => save(name("svg"), sheet(what).text, "image/svg+xml")),
    HTML: having((what, name) => save(name("html"), page(what), "text/html")),
  };
}

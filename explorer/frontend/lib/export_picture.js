// What a visitor takes along of a picture: PNG and SVG with its title, legend, sentence and source,
// a page that is as alive as the view, and its numbers. Everything is made from the picture itself,
// in the browser.

import { csv, fileName, json, npz, save } from "./export.js";
import { lang } from "./lang.js";
import { asSvg, onCanvas, Pen, shades, vectors, WIDE } from "./pen.js";
import { CONFIG, escape as html, plotly, resolve } from "./plot.js";
import { dress, plotsIn } from "./plots.js";
import { foot, source } from "./source.js";
import { columnsOf } from "./tables.js";
import { dark } from "./theme.js";

const SIDE = 24; // px around a picture that leaves
const VECTORS = 128; // rows and columns up to which a heat map leaves as rectangles

/** A picture as it leaves: on its own ground, with what stands around it on the page. */
function whole({ picture, run, look, title, units, words, width }) {
  const scene = Object.assign(new Pen({ width: Math.max(640, Math.min(1100, width)) }), {
    away: true,
  });
  picture.scene(run, { ...look, over: null, draft: {} }, scene);
  const pen = new Pen({ width: scene.width + 2 * SIDE });
  let y = SIDE + 4;
  const write = (text, style, leading) => {
    for (const line of pen.lines(text, scene.width / WIDE, style)) {
      pen.text(SIDE, y, line, style);
      y += leading;
    }
  };
  write(title, { size: 16, weight: 700, colour: "ink" }, 22);
  if (units) write(units, { size: 13, colour: "ink3" }, 18);
  let x = SIDE;
  for (const { text, mark } of picture.legend?.(run, look) ?? []) {
    const [w, h] = [mark.wide ?? 14, mark.tall ?? 12];
    const room = w + 6 + pen.measure(text, { size: 12 }) * WIDE + 16;
    if (x > SIDE && x + room > pen.width - SIDE) [x, y] = [SIDE, y + 18];
    pen.swatch({ x0: x, x1: x + w, y0: y - h / 2, y1: y + h / 2 }, mark);
    pen.text(x + w + 6, y, text, { size: 12 });
    x += room;
  }
  y += x > SIDE ? 22 : 4;
  pen.marks.push({ kind: "group", x: SIDE, y: scene.view ? y - scene.top : y, marks: scene.marks });
  y += (scene.view || scene.height) + 22;
  write(words, { size: 14, colour: "ink", face: "title" }, 20);
  y += 6;
  write(source(), { size: 12, colour: "ink3" }, 18);
  pen.size(pen.width, y + 8);
  pen.marks.unshift({
    kind: "rect",
    box: { x0: 0, y0: 0, x1: pen.width, y1: pen.height },
    fill: "panel",
  });
  return pen;
}

/** Cells of a heat map as rectangles in place of the picture that Plotly embeds. */
function sharpen(node, { data, layout }) {
  const maps = data.filter(({ type, z }) =>
    type === "heatmap" && z.length <= VECTORS && z[0].length <= VECTORS
  );
  [...node.querySelectorAll(".heatmaplayer image, .hm image")].forEach((image, n) => {
    const map = maps[n];
    if (!map?.colorscale?.every?.(([, one]) => one.startsWith("#"))) return;
    const [x, y, width, height] = ["x", "y", "width", "height"]
      .map((name) => Number(image.getAttribute(name)));
    const [rows, columns] = [map.z.length, map.z[0].length];
    const axis = layout[`yaxis${(map.yaxis ?? "y").slice(1)}`] ?? {};
    const downwards = axis.autorange === "reversed" || axis.range?.[0] > axis.range?.[1];
    // a scale whose colours let through what lies under them
    const veils = map.colorscale.map(([, one]) => one.slice(7));
    const ordered = downwards ? map.z : [...map.z].reverse();
    image.replaceWith(vectors({
      box: { x0: x, x1: x + width, y0: y, y1: y + height },
      data: ordered.flatMap((row) => Array.from(row, (value) => value ?? Number.NaN)),
      rows,
      columns,
      of: shades(map.colorscale.map(([, one]) => one.slice(0, 7))),
      veil: (share) => veils[Math.round(share * (veils.length - 1))],
      low: map.zmin,
      high: map.zmax,
      empty: "#00000000",
    }));
  });
}

/** Each Plotly figure of a picture gets what stands for it in a file: `drawn` {node, image}. */
async function print(pen, address) {
  const marks = plotsIn(pen.marks);
  if (!marks.length) return pen;
  const library = await plotly(address);
  for (const mark of marks) {
    const figure = dress(mark);
    const { data, layout } = { data: resolve(figure.data), layout: resolve(figure.layout) };
    const { width, height } = layout;
    const made = await library.toImage({ data, layout, config: CONFIG }, {
      format: "svg",
      width,
      height,
    });
    const text = decodeURIComponent(made.slice(made.indexOf(",") + 1));
    const node = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    sharpen(node, { data, layout });
    const image = new Image();
    image.src = `data:image/svg+xml,${
      encodeURIComponent(new XMLSerializer().serializeToString(node))
    }`;
    await image.decode();
    mark.drawn = { node, image };
  }
  return pen;
}

function png(pen) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * pen.width, 2 * pen.height];
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  onCanvas(context, pen.marks);
  return new Promise((done) => canvas.toBlob(done));
}

/**
 * The Plotly figures of a picture, as texts that `plotly.io.read_json` reads: colours are those of
 * the moment, on the page's own ground, and typed arrays are lists.
 */
function figuresOf(all) {
  return plotsIn(whole(all).marks).map((mark) => {
    const { data, layout } = dress(mark);
    const meta = { title: all.title, sentence: all.words, source: foot() };
    const figure = resolve({ data, layout: { ...layout, paper_bgcolor: "var(--panel)", meta } });
    return JSON.stringify(
      figure,
      (_, value) => ArrayBuffer.isView(value) ? Array.from(value) : value,
    );
  });
}

// ── a page of its own ──
/** The script that draws a module's picture without a server, as tfeDraw(node, how). */
async function standing(address) {
  const [, start, path] = address.match(/^(.*?\/ui\/[^/]+\/)([^#]*)/);
  const answer = await fetch(`${start}whole/${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.text();
}

/** A value with the arrays inside it that have addresses. */
async function inlined(value) {
  if (Array.isArray(value)) return Promise.all(value.map(inlined));
  if (!value || typeof value !== "object") return value;
  const { url, ...rest } = value;
  if (url === undefined || !value.dtype) {
    return Object.fromEntries(
      await Promise.all(
        Object.entries(value)
          .map(async ([key, one]) => [key, await inlined(one)]),
      ),
    );
  }
  const bytes = new Uint8Array(await (await fetch(new URL(url, location.origin))).arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return { ...rest, data: btoa(text) };
}

/** Of our styles, those that something in the view wears. */
function styles(root) {
  const worn = new Set(
    [...root.querySelectorAll("*"), root].flatMap((node) => [...node.classList])
      .filter((name) => name !== "tfe"),
  );
  const wanted = (selector) => {
    const classes = (selector.match(/\.[\w-]+/g) ?? []).map((name) => name.slice(1)).filter((
      name,
    ) => name !== "tfe");
    return !classes.length || classes.some((name) => worn.has(name) || name === "dark");
  };
  const kept = (rules) =>
    [...rules].map((
      rule,
    ) => (rule.cssRules?.length
      ? `${rule.cssText.slice(0, rule.cssText.indexOf("{"))}{${kept(rule.cssRules)}}`
      : !rule.selectorText || wanted(rule.selectorText)
      ? rule.cssText
      : "")
    ).join("\n");
  return [...document.styleSheets].filter((sheet) => sheet.href?.endsWith("/page.css"))
    .map((sheet) => kept(sheet.cssRules)).join("\n");
}

/** Plotly itself, for a page that draws with it. */
async function library(address) {
  const answer = await fetch(new URL(address, location.origin));
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return `<script>${
    (await answer.text()).replaceAll("</script", "<\\/script")
  }\nwindow.tfePlotly = window.Plotly;</script>\n`;
}

async function alive(all) {
  const { root, name, address, texts, picture, run, value, seen, title, units, words } = all;
  const [script, held, drawing] = await Promise.all([
    standing(address),
    inlined(picture.kept?.(run, value) ?? value),
    plotsIn(whole(all).marks).length ? library(all.plotly) : "",
  ]);
  return `<!doctype html>
<html lang="${
    lang() === "zh" ? "zh-CN" : "en"
  }" data-lang="${lang()}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'">
<title>${html(title)}</title>
<style>${styles(root)}
body{margin:24px auto;max-width:1240px;padding:0 16px}body::before,body::after{display:none}small{color:var(--ink3)}</style></head>
<body class="${dark() ? "dark" : ""}"><main class="tfe tfe-${name}"></main><noscript>${
    html([units, words].filter(Boolean).join(": "))
  }</noscript><p class="tfe"><small>${html(foot())}</small></p>
${drawing}<script>(() => { "use strict";
${script.replaceAll("</", "<\\/")}
tfeDraw(document.querySelector("main"), ${json({ texts, seen, value: held })});
})();</script></body></html>
`;
}

/**
 * Arrays as they are saved: beside each stands what its axes and its numbers are, where the picture
 * says so.
 */
const explained = (arrays) =>
  Object.fromEntries(
    Object.entries(arrays)
      .flatMap((
        [name, one],
      ) => [
        [name, one],
        ...(one.axes ? [[`${name}_axes`, one.axes]] : []),
        ...(one.unit ? [[`${name}_unit`, one.unit]] : []),
      ]),
  );

/**
 * What the menu offers, {kind: function}. now(): what is in view, null while there is nothing:
 * {picture, run, look, value, title, units, words, width, root, name, address of the picture's
 * module, texts, seen: [[key, text]] of the address}. files: those that only it has, see stage.js
 */
export function takes(now, files = {}) {
  const file = ({ picture, run, look, name, seen }, ending) =>
    fileName(
      picture.named?.(run, look) ??
        [name, ...seen.map((pair) => pair.join(" "))],
      ending,
    );
  const lines = (all, kind, { columns, rows }) =>
    save(
      file(all, "csv").replace(/(?=\.csv$)/, kind),
      csv([columns, ...rows.map((row) => row.map((one) => one ?? ""))]),
      "text/csv",
    );
  const having = (make, whole = false) => async () => {
    const { picture, run, look } = now() ?? {};
    if (!run) return;
    if (whole) await picture.gather?.(run, look);
    await make(now());
  };
  const further = async (
    all,
    { name, ending = "png", blob, ...made },
  ) => (blob
    ? save(file(all, ending).replace(/(?=\.\w+$)/, `-${name}`), await blob())
    : lines(all, "-exact", made));
  return {
    PNG: having(async (all) => {
      const pen = await print(whole(all), all.plotly);
      save(file(all, "png"), await png(pen));
    }),
    SVG: having(async (all) => {
      const pen = await print(whole(all), all.plotly);
      const text = new XMLSerializer().serializeToString(asSvg(pen));
      save(file(all, "svg"), text, "image/svg+xml");
    }),
    HTML: having(async (all) => save(file(all, "html"), await alive(all), "text/html"), true),
    CSV: having((all) =>
      lines(all, "", (all.picture.lines ?? all.picture.table)(all.run, all.look))
    ),
    ...Object.fromEntries(
      Object.entries(files)
        .map(([kind, make]) => [kind, having((all) => further(all, make(all.run, all.look)))]),
    ),
    NPZ: having(
      (all) =>
        save(
          file(all, "npz"),
          npz(
            explained(
              all.picture.arrays?.(all.run, all.look) ??
                columnsOf(all.picture.table(all.run, all.look)),
            ),
          ),
        ),
      true,
    ),
    JSON: having((all) =>
      figuresOf(all).forEach((text, n) =>
        save(
          file(all, "json").replace(/(?=\.json$)/, n ? `-${n + 1}` : ""),
          text,
          "application/json",
        )
      )
    ),
  };
}

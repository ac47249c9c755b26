// What a visitor takes along: pictures, a page that opens offline, and the numbers. All of it is
// made in the browser.

import { upTo } from "./arrays.js";
import { el } from "./dom.js";
import { lang, onLang, t } from "./lang.js";
import { CONFIG, escape as html } from "./plot.js";
import { foot, source } from "./source.js";
import { css } from "./theme.js";

const TEXTS = {
  take: { en: "Export", zh: "导出" },
  table: { en: "Table", zh: "数据表" },
  save: { en: "Save as {kind}", zh: "保存为 {kind}" },
  events: { en: "events", zh: "事件" },
  failed: { en: "{kind} could not be made: {why}", zh: "无法生成 {kind}：{why}" },
  saved: { en: "{name} is saved", zh: "已保存 {name}" },
};

/** Offers a file for saving under a name. */
export function save(name, content, type = "application/octet-stream") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** "data:…" from Plotly as a Blob, without a request. */
export function blob(address) {
  const [head, body] = [
    address.slice(5, address.indexOf(",")),
    address.slice(address.indexOf(",") + 1),
  ];
  const type = head.split(";")[0];
  if (!head.endsWith(";base64")) return new Blob([decodeURIComponent(body)], { type });
  const text = atob(body);
  return new Blob([Uint8Array.from(text, (letter) => letter.charCodeAt(0))], { type });
}

/**
 * The name of a file: page and view, nothing that a file system minds. fileName(["cross", "3.5"],
 * "png") -> "translation-cross-3.5.png"
 */
export function fileName(parts, ending) {
  const slug = location.pathname.split("/").filter(Boolean).pop() ?? "explorer";
  const clean = [slug, ...parts].filter(Boolean).map((part) =>
    String(part).replace(/[^\p{L}\p{N}.]+/gu, "_")
  );
  return `${clean.join("-").slice(0, 100)}.${ending}`;
}

const cell = (value) => {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  // A text that a spreadsheet would take for a formula gets an apostrophe; a lone sign or a number
  // is none.
  const text = /^[=+\-@\t\r]./s.test(value) && !/^[-+]?[\d.]+$/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * Rows of texts and numbers as CSV (RFC 4180), with the mark that lets spreadsheets read it as
 * UTF-8.
 */
// what is missing is empty
export const csv = (rows) =>
  `\ufeff${rows.map((row) => row.map((one) => cell(one ?? "")).join(",")).join("\r\n")}\r\n`;

const CRC = new Uint32Array(256).map((_, i) => {
  let c = i;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function crc(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = CRC[(c ^ byte) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

const little = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/**
 * One array in NumPy's own format, version 1.0.
 * @param {{shape: number[], data: Float32Array | Float64Array | Int32Array | Uint8Array | number[]}
 * | string[] | string} array texts become '<U', whole numbers in a list '<i4', others '<f8'
 */
export function npy(array) {
  const types = { Float32Array: "<f4", Float64Array: "<f8", Int32Array: "<i4", Uint8Array: "|u1" };
  /** @type {{shape?: number[], data?: any}} */
  const given = typeof array === "string" || Array.isArray(array) ? {} : array;
  let { shape, data } = given;
  let kind = null;
  if (!shape) {
    const texts = /** @type {string[]} */ ([array].flat())
      .map((text) => Array.from(text, (letter) => letter.codePointAt(0)));
    const width = Math.max(1, ...texts.map((text) => text.length));
    data = new Uint32Array(texts.length * width);
    texts.forEach((text, i) => data.set(text, i * width));
    [shape, kind] = [Array.isArray(array) ? [array.length] : [], `<U${width}`];
  } else if (Array.isArray(data)) {
    data = (data.every(Number.isInteger) ? Int32Array : Float64Array).from(data);
  }
  kind ??= types[data.constructor.name];
  const body = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (!little) throw new Error("this machine stores numbers the other way round");
  const tuple = `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
  let header = `{'descr': '${kind}', 'fortran_order': False, 'shape': ${tuple}, }`;
  header += `${" ".repeat((64 - ((10 + header.length + 1) % 64)) % 64)}\n`;
  const out = new Uint8Array(10 + header.length + body.length);
  out.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  out.set(new TextEncoder().encode(header), 10);
  out.set(body, 10 + header.length);
  return out;
}

/** Whole numbers as bytes, the lowest first: [how many bytes, number] each. */
const bytes = (...numbers) =>
  Uint8Array.from(
    numbers.flatMap(([size, number]) => upTo(size, (at) => (number >>> (8 * at)) & 255)),
  );

/**
 * Files in a zip archive, stored, not compressed. @param {Record<string, Uint8Array>} files
 * @returns {Blob}
 */
export function zip(files) {
  const parts = [];
  const central = [];
  let at = 0;
  for (const [name, body] of Object.entries(files)) {
    const title = new TextEncoder().encode(name);
    // version 2.0, names in UTF-8, stored, 1 January 1980
    const facts = [
      [2, 20],
      [2, 0x0800],
      [2, 0],
      [2, 0],
      [2, 0x21],
      [4, crc(body)],
      [4, body.length],
      [4, body.length],
      [2, title.length],
    ];
    parts.push(bytes([4, 0x04034b50], ...facts, [2, 0]), title, body);
    central.push(
      bytes([4, 0x02014b50], [2, 20], ...facts, [2, 0], [2, 0], [2, 0], [2, 0], [4, 0], [4, at]),
      title,
    );
    at += 30 + title.length + body.length;
  }
  const size = central.reduce((sum, part) => sum + part.byteLength, 0);
  const count = Object.keys(files).length;
  const end = bytes([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, at], [
    2,
    0,
  ]);
  /** @type {any[]} */
  const all = [...parts, ...central, end];
  return new Blob(all, { type: "application/zip" });
}

/**
 * Named arrays as numpy.load reads them, without pickle; `lab_and_paper` among them says where they
 * come from.
 */
export const npz = (arrays) =>
  zip(Object.fromEntries(
    Object.entries({ ...arrays, lab_and_paper: source() })
      .map(([name, array]) => [`${name}.npy`, npy(array)]),
  ));

// Inside a script no text may close it; as JSON these signs have a spelling without them.
export const json = (value) =>
  JSON.stringify(value)
    .replace(
      /[<>&\u2028\u2029]/g,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );

/**
 * A page that opens anywhere, with no network: the figure with plotly.js inside, the sentence, and
 * the lab and paper it came from.
 * @param {{address: string, figure: {data: any, layout: any}, title: string, sentence: string}}
 * what
 */
export async function page({ address, figure, title, sentence }) {
  const answer = await fetch(new URL(address, location.origin));
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  const library = (await answer.text()).replaceAll("</script", "<\\/script");
  // those of the moment, written out
  const [panel, ink, faint, accent] = ["--panel", "--ink", "--ink3", "--accent"].map(css);
  return `<!doctype html>
<html lang="${
    lang() === "zh" ? "zh-CN" : "en"
  }"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'">
<title>${html(title)}</title>
<style>body{margin:24px;background:${panel};color:${ink};font:14px/20px system-ui,sans-serif}h1{font-size:20px;line-height:26px}
.words{border-left:3px solid ${accent};padding-left:12px;font:16px/24px Georgia,serif;max-width:60em}small{color:${faint}}</style></head>
<body><h1>${html(title)}</h1><div id="figure"></div><p class="words">${
    html(sentence)
  }</p><p><small>${html(foot())}</small></p>
<script>${library}</script>
<script>const figure = ${json(figure)};
Plotly.newPlot(document.getElementById("figure"), figure.data, figure.layout, ${
    json(CONFIG)
  });</script></body></html>
`;
}

/**
 * "Export" and its text buttons.
 * @param {Record<string, () => (void | Promise<void>)>} makers in order: {PNG: fn, SVG: fn, …}
 * @param {{onTable?: (open: boolean) => void}} [more] a last button that opens the figure's table
 */
export function exportBar(makers, { onTable } = {}) {
  const named = (kind) => (kind in TEXTS ? t(TEXTS[kind]) : kind);
  const title = el("span", { class: "tfe-export-title" });
  const said = el("span", { class: "tfe-export-said", role: "status" });
  const button = (kind, onclick, more) =>
    el("button", {
      type: "button",
      class: "tfe-button tfe-export",
      "data-kind": kind,
      onclick,
      ...more,
    });
  const buttons = Object.entries(makers).map(([kind, make]) =>
    button(kind, async ({ currentTarget: own }) => {
      own.disabled = true;
      said.textContent = "";
      try {
        await make();
      } catch (error) {
        said.textContent = t(TEXTS.failed, { kind: named(kind), why: error.message });
      } finally {
        own.disabled = false;
        own.focus();
      }
    })
  );
  let open = false;
  const table = onTable
    ? button("table", () => {
      open = !open;
      table.setAttribute("aria-expanded", String(open));
      onTable(open);
    }, { "aria-expanded": "false" })
    : null;
  const node = el("div", { class: "tfe-exports", role: "group" }, title, buttons, table, said);
  const paint = () => {
    title.textContent = t(TEXTS.take);
    node.setAttribute("aria-label", t(TEXTS.take));
    for (const button of buttons) {
      button.textContent = named(button.dataset.kind);
      button.setAttribute("aria-label", t(TEXTS.save, { kind: button.textContent }));
    }
    if (table) {
      table.textContent = t(TEXTS.table);
      table.setAttribute("aria-label", table.textContent); // it stands in a menu that is closed at first
    }
  };
  onLang(paint);
  paint();
  return node;
}

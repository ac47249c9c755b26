// A picture and what each model paid for each of its pixels. The same pixel is marked on all of them; its bits stand in the card.

import { unpack } from "./lib/arrays.js";
import { clear, el } from "./lib/dom.js";
import { csv, exportBar, fileName, footLines, save } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { fit, paint, table } from "./lib/raster.js";
import { judge, request, view } from "./lib/state.js";
import { css, dark, onTheme } from "./lib/theme.js";

const TEXT = {
  title: { en: "What surprised it", zh: "什么让它意外" },
  question: { en: "Which pixels did the models not expect?", zh: "哪些像素出乎模型意料？" },
  bits: { en: "bits", zh: "比特" },
  picture: { en: "picture", zh: "图片" },
  mean: { en: "bits a pixel", zh: "每像素比特" },
  each: { en: "{name}: {n} bits", zh: "{name}：{n} 比特" },
  here: { en: "Pixel ({row}, {column}), level {level}: {each}.", zh: "像素 ({row}, {column})，灰度 {level}：{each}。" },
  board: { en: "{name}, mean {n} bits a pixel", zh: "{name}，平均每像素 {n} 比特" },
  boards: { en: "{title}. Arrow keys move the marked pixel.", zh: "{title}。方向键移动标记的像素。" },
  row: { en: "row", zh: "行" },
  column: { en: "column", zh: "列" },
  level: { en: "level", zh: "灰度" },
  caption: { en: "Mean bits a pixel, row by row", zh: "逐行的平均每像素比特" },
  unusual: {
    en: "This picture is unlike what the models learned from: it costs more than 99 % of the held-out pictures.",
    zh: "这张图与模型学过的不同：它的花费高于 99% 的留出图片。",
  },
};
const GREY = [[0, "#000000"], [1, "#ffffff"]];

export function mount(root, props, emit, watch) {
  const title = el("h2", { class: "tfe-title" });
  const scale = el("span", { class: "tfe-surprise-scale tfe-units" });
  const head = el("div", { class: "tfe-surprise-head" }, title, scale);
  const boards = el("div", { class: "tfe-surprise-boards", tabindex: "0", role: "application" });
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-surprise-words" });
  const warning = el("p", { class: "tfe-note tfe-surprise-warning", hidden: true });
  const sheet = el("div", { class: "tfe-surprise-table tfe-scroll", tabindex: "0", role: "region", hidden: true });
  const bar = exportBar({ PNG: savePicture, SVG: saveVector, CSV: saveCsv }, { onTable: (open) => ((sheet.hidden = !open), draw()) });
  const body = el("div", { class: "tfe-surprise-body" }, boards, words, warning, el("div", { class: "tfe-surprise-take tfe-controls" }, bar), sheet);
  const panel = el("section", { class: "tfe-panel tfe-surprise-panel" }, head, body);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.classList.add("tfe-projectable");
  root.append(panel, card);
  boards.setAttribute("aria-describedby", words.id);

  let value = null;
  let seen = []; // {key, label, mean, data}; the first is the picture
  let frames = [];
  let hover = null; // a pixel
  let arriving = 0;
  let room = 0;
  let waiting = 0;

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.closest(".tfe-projected") !== null;
  function locked() {
    const [row, column] = (view.get("bit") ?? "").split(",").map(Number);
    return value && row >= 0 && column >= 0 && row < value.rows && column < value.columns ? row * value.columns + column : null;
  }
  const lock = (pixel) => view.set({ bit: pixel === null ? null : `${Math.floor(pixel / value.columns)},${pixel % value.columns}` });
  const here = (pixel) =>
    t(TEXT.here, {
      row: Math.floor(pixel / value.columns),
      column: pixel % value.columns,
      level: seen[0].data[pixel],
      each: seen.slice(1).map((map) => t(TEXT.each, { name: t(map.label), n: map.data[pixel].toFixed(1) })).join(t({ en: ", ", zh: "，" })),
    });

  async function arrive() {
    const turn = (arriving += 1);
    const next = props.value;
    if (!next?.maps?.length) {
      value = next ?? null;
      seen = [];
      draw();
      return;
    }
    const arrays = await Promise.all([next.picture, ...next.maps.map((map) => map.bits)].map(unpack));
    if (turn !== arriving) return;
    value = next;
    seen = [{ key: "picture", label: TEXT.picture, mean: null, data: arrays[0].data }, ...next.maps.map((map, i) => ({ ...map, data: arrays[i + 1].data }))];
    if (frames.length !== seen.length) {
      frames = seen.map((_, i) => {
        const [canvas, name, mean] = [el("canvas", { "aria-hidden": "true" }), el("b"), el("span")];
        wire(canvas);
        return { canvas, name, mean, node: el("figure", { class: "tfe-surprise-board" }, canvas, el("figcaption", { class: "tfe-label" }, name, mean)) };
      });
      boards.replaceChildren(...frames.map(({ node }) => node));
    }
    draw();
  }

  function sizes() {
    const gap = projecting() ? 28 : 8;
    const width = projecting() ? window.innerWidth - 88 : room;
    const side = (width - gap * (frames.length - 1)) / frames.length;
    return Math.floor(projecting() ? Math.min(side, window.innerHeight - 380) : Math.min(side, 180));
  }

  function draw() {
    title.textContent = t(TEXT.title);
    const question = t(TEXT.question);
    if (root.dataset.question !== question) root.dataset.question = question;
    const nothing = !seen.length;
    boards.hidden = scale.hidden = bar.hidden = nothing;
    panel.hidden = !value;
    if (!value) return;
    if (!nothing) judge({ bit: () => locked() !== null }, request.get());
    warning.hidden = nothing || !value.unusual;
    warning.textContent = t(TEXT.unusual);
    body.classList.toggle("tfe-stale", value.state === "stale");
    if (nothing) {
      words.textContent = t(value.sentence);
      sheet.hidden = true;
      return;
    }
    const { worst, surprise } = props.scales;
    scale.replaceChildren(`${t(TEXT.bits)} 0`, el("span", { class: "tfe-scale surprise" }), `${worst}+`);
    const colours = table(surprise[dark() ? "dark" : "light"]);
    const grey = table(GREY);
    const side = sizes();
    const mark = hover ?? locked();
    frames.forEach(({ canvas, name, mean }, i) => {
      const map = seen[i];
      const context = fit(canvas, side, side);
      paint(context, { data: map.data, rows: value.rows, columns: value.columns, colours: i ? colours : grey, empty: css("--sunk"), high: i ? worst : 255, x: 0, y: 0, width: side, height: side, radius: 4 });
      if (i) {
        context.strokeStyle = css("--line");
        context.lineWidth = 1;
        context.beginPath();
        context.roundRect(0.5, 0.5, side - 1, side - 1, 4);
        context.stroke();
      }
      if (mark !== null) {
        const cell = side / value.columns;
        const [x, y] = [(mark % value.columns) * cell, Math.floor(mark / value.columns) * cell];
        const grow = Math.max(1.5, 3 - cell / 2);
        for (const [colour, line] of [[css("--panel"), 4], [css("--key"), 2]]) {
          context.strokeStyle = colour;
          context.lineWidth = line;
          context.strokeRect(x - grow, y - grow, cell + 2 * grow, cell + 2 * grow);
        }
      }
      name.textContent = t(map.label);
      mean.textContent = map.mean === null ? "" : map.mean.toFixed(2);
    });
    boards.setAttribute("aria-label", t(TEXT.boards, { title: `${t(TEXT.title)}: ${seen.slice(1).map((map) => t(TEXT.board, { name: t(map.label), n: map.mean.toFixed(2) })).join(", ")}` }));
    words.textContent = locked() === null ? t(value.sentence) : here(locked());
    if (!sheet.hidden) drawTable();
    root.dataset.drawn = `${value.state} ${locked() ?? "none"}`;
  }

  function pixelAt(canvas, event) {
    const box = canvas.getBoundingClientRect();
    const [column, row] = [Math.floor(((event.clientX - box.left) / box.width) * value.columns), Math.floor(((event.clientY - box.top) / box.height) * value.rows)];
    return column >= 0 && row >= 0 && column < value.columns && row < value.rows ? row * value.columns + column : null;
  }

  function wire(canvas) {
    canvas.addEventListener("pointermove", (event) => {
      if (!value || event.pointerType === "touch") return;
      const pixel = pixelAt(canvas, event);
      if (pixel === hover) return;
      hover = pixel;
      draw();
      card.hidden = true;
      clearTimeout(waiting);
      if (hover !== null) waiting = setTimeout(() => show(canvas), 80);
    });
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("click", (event) => {
      const pixel = pixelAt(canvas, event);
      if (pixel !== null) lock(pixel === locked() ? null : pixel);
    });
  }

  function leave() {
    clearTimeout(waiting);
    card.hidden = true;
    if (hover === null) return;
    hover = null;
    if (value) draw();
  }

  function show(canvas) {
    if (hover === null || projecting()) return;
    clear(card).append(
      el("div", {}, el("b", { text: `(${Math.floor(hover / value.columns)}, ${hover % value.columns})` }), ` · ${t(TEXT.level)} ${seen[0].data[hover]}`),
      ...seen.slice(1).map((map) => el("div", { text: t(TEXT.each, { name: t(map.label), n: map.data[hover].toFixed(1) }) })),
    );
    card.hidden = false;
    const box = canvas.getBoundingClientRect();
    const cell = box.width / value.columns;
    const [x, y] = [box.left + (hover % value.columns) * cell, box.top + Math.floor(hover / value.columns) * cell];
    const { offsetWidth: w, offsetHeight: h } = card;
    const left = x - 12 - w >= 8;
    Object.assign(card.style, { left: `${left ? x - 12 - w : Math.min(window.innerWidth - w - 8, x + cell + 12)}px`, top: `${Math.max(8, Math.min(window.innerHeight - h - 8, y - 4))}px` });
  }

  const step = (rows, columns) => {
    if (!seen.length) return false;
    const now = locked() ?? Math.floor(value.rows / 2) * value.columns + Math.floor(value.columns / 2);
    const row = Math.max(0, Math.min(value.rows - 1, Math.floor(now / value.columns) + rows));
    const column = Math.max(0, Math.min(value.columns - 1, (now % value.columns) + columns));
    return lock(row * value.columns + column);
  };
  keys(root, {
    ArrowLeft: () => step(0, -1),
    ArrowRight: () => step(0, 1),
    ArrowUp: () => step(-1, 0),
    ArrowDown: () => step(1, 0),
    Escape: () => (projecting() || locked() === null ? false : lock(null)),
  });

  function drawTable() {
    const rows = Array.from({ length: value.rows }, (_, row) => row);
    const mean = (data, row) => data.subarray(row * value.columns, (row + 1) * value.columns).reduce((sum, n) => sum + n, 0) / value.columns;
    const th = (text) => el("th", { scope: "col", text });
    sheet.setAttribute("aria-label", t(TEXT.caption));
    sheet.replaceChildren(
      el(
        "table",
        { class: "tfe-table" },
        el("caption", { class: "tfe-note", text: t(TEXT.caption) }),
        el("thead", {}, el("tr", {}, th(t(TEXT.row)), seen.slice(1).map((map) => th(t(map.label))))),
        el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row", text: row }), seen.slice(1).map((map) => el("td", { text: mean(map.data, row).toFixed(2) }))))),
      ),
    );
  }

  // ── taking it along ──
  function sheetOf(side) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [value.columns, value.rows];
    const colours = table(props.scales.surprise[dark() ? "dark" : "light"]);
    const grey = table(GREY);
    const context = canvas.getContext("2d");
    const addresses = seen.map((map, i) => {
      const pixels = new ImageData(value.columns, value.rows);
      map.data.forEach((n, p) => {
        const c = 3 * Math.max(0, Math.min(255, Math.round(i ? (n / props.scales.worst) * 255 : n)));
        for (let k = 0; k < 3; k += 1) pixels.data[4 * p + k] = (i ? colours : grey)[c + k];
        pixels.data[4 * p + 3] = 255;
      });
      context.putImageData(pixels, 0, 0);
      return canvas.toDataURL("image/png");
    });
    const safe = (text) => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
    const width = 20 + seen.length * (side + 20);
    const from = footLines(width - 40);
    const height = side + 96 + 18 * from.length;
    const parts = addresses.map((address, i) => `<g transform="translate(${20 + i * (side + 20)} 52)"><image width="${side}" height="${side}" href="${address}" style="image-rendering:pixelated" preserveAspectRatio="none"/><text y="${side + 22}" font-size="14" font-weight="650" fill="${css("--ink")}">${safe(t(seen[i].label))}</text><text x="${side}" y="${side + 22}" text-anchor="end" font-size="14" fill="${css("--ink2")}">${seen[i].mean === null ? "" : seen[i].mean.toFixed(2)}</text></g>`);
    return { width, height, text: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" role="img" aria-label="${safe(words.textContent)}"><rect width="${width}" height="${height}" fill="${css("--panel")}"/><text x="20" y="34" font-size="18" font-weight="650" fill="${css("--ink")}">${safe(t(TEXT.title))} · ${safe(t(TEXT.mean))}</text>${parts.join("")}${from.map((line, n) => `<text x="20" y="${side + 98 + 18 * n}" font-size="12" fill="${css("--ink3")}">${safe(line)}</text>`).join("")}</svg>` };
  }
  function saveVector() {
    save(fileName(["surprise"], "svg"), sheetOf(280).text, "image/svg+xml");
  }
  async function savePicture() {
    const { width, height, text } = sheetOf(280);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(image, 0, 0, 2 * width, 2 * height);
    await new Promise((done) => canvas.toBlob((blob) => (save(fileName(["surprise"], "png"), blob), done())));
  }
  function saveCsv() {
    const rows = [["row", "column", "level", ...seen.slice(1).map((map) => `${map.key}_bits`)]];
    for (let p = 0; p < value.rows * value.columns; p += 1) rows.push([Math.floor(p / value.columns), p % value.columns, seen[0].data[p], ...seen.slice(1).map((map) => Number(map.data[p].toFixed(4)))]);
    save(fileName(["surprise"], "csv"), csv(rows), "text/csv");
  }

  // ── alive ──
  const measure = () => {
    const style = getComputedStyle(panel);
    return Math.floor(panel.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight));
  };
  room = measure() || 300;
  new ResizeObserver(() => {
    const next = measure();
    if (next <= 0 || next === room) return;
    room = next;
    draw();
  }).observe(panel);
  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    leave();
    requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("resize", () => projecting() && draw());
  view.on(["bit"], draw);
  onLang(draw);
  onTheme(draw);
  watch("value", arrive);
  arrive();
}

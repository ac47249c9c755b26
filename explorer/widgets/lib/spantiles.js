// The small pictures of the spans widget: the heads of a layer, what is known of layer by layer, and the other pictures of a run.

import { el } from "./dom.js";
import { t } from "./lang.js";
import { colourPixels, drawTile, enlarge } from "./pixels.js";
import { fit } from "./raster.js";
import { bare, put, stages, write } from "./spanboards.js";
import { TEXT, place, weight } from "./spanwords.js";

const TALL = 66; // px of a head's tile
const FIELD = 40; // px of a field

const bold = (node, head, text) => node.textContent !== head + text && node.replaceChildren(el("b", { text: head }), text);
const where = (it, pixel) => `(${Math.floor(pixel / it.columns)}, ${pixel % it.columns})`;

/** The heads of the layer in view, over the memory block: {build, draw, forget}. @param {{pick: (head: number) => void, silence: (head: number) => void}} does heads from 0 */
export function headsOf(root, { pick, silence }) {
  let heads = []; // {node, canvas, name}
  let room = 0; // asked for when it may have changed: asking makes the page lay itself out
  let looked = false; // do the tiles show weights?

  function build({ seen }) {
    heads = Array.from({ length: seen[0].pattern.heads }, (_, h) => {
      const [canvas, name] = [el("canvas", { "aria-hidden": "true" }), el("span", { class: "name" })];
      const node = el("button", { type: "button", class: "tfe-spans-tile", onclick: (event) => (event.shiftKey ? silence(h) : pick(h)) }, canvas, name);
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !event.shiftKey) return;
        event.preventDefault();
        silence(h);
      });
      return { node, canvas, name };
    });
    root.replaceChildren(...heads.map(({ node }) => node));
  }

  function draw(here) {
    const { seen, now, position, tokens, colours, value, waits } = here;
    const i = seen.findIndex(({ pattern }) => pattern.key === now.pattern);
    const { it, pictures } = seen[i];
    const weights = here.weights[i];
    room ||= root.clientWidth;
    const keeps = waits && looked; // what stands there fades until the weights are here
    looked = keeps || Boolean(weights);
    root.classList.toggle("tfe-stale", keeps);
    const box = position === null ? { top: 0, left: 0, rows: it.rows, columns: it.columns } : it.blocks(position).box;
    const width = Math.max(40, Math.floor((room - 4 - 6 * (heads.length - 1)) / heads.length));
    heads.forEach(({ node, canvas, name }, h) => {
      const gone = (value.silenced ?? []).some(([kind, layer, head]) => kind === now.pattern && layer === now.layer - 1 && head === h);
      const best = weights?.[h];
      put(node, "aria-pressed", String(h + 1 === now.head && !now.field));
      node.classList.toggle("is-gone", gone);
      const told = t(best ? TEXT.head : TEXT.headBare, { layer: now.layer, head: h + 1, w: best ? weight(best.most) : "", where: best ? where(it, best.where) : "" });
      put(node, "aria-label", told + (gone ? `, ${t(TEXT.gone)}` : ""));
      put(node, "title", t(gone ? TEXT.tileWake : TEXT.tileDo));
      if (keeps) return;
      bold(name, String(h + 1), best ? (here.narrow ? weight(best.most) : `${weight(best.most)} ${where(it, best.where)}`) : "");
      const context = fit(canvas, width, TALL);
      context.fillStyle = tokens.sunk;
      context.beginPath();
      context.roundRect(0, 0, width, TALL, 4);
      context.fill();
      // Blocks at the rim are smaller: they keep the scale of whole ones.
      const scale = Math.min(width / Math.max(box.columns, it.columns * 0.75), TALL / Math.max(box.rows, it.rows * 0.5));
      const [wide, tall] = [box.columns * scale, box.rows * scale];
      const [x, y] = [(width - wide) / 2, (TALL - tall) / 2];
      if (best) drawTile(context, { columns: it.columns, weights: best.pixels, most: best.most, colours, query: it.order[position], tokens, box, x, y, width: wide, height: tall });
      else {
        // No weights: what every head has before it.
        context.globalAlpha = 0.55;
        enlarge(context, colourPixels({ ...bare(here, it.rows, it.columns, it.channels), levels: pictures.slice(now.picture), stage: stages(here, seen[i], position) }), x, y, wide, tall, box);
        context.globalAlpha = 1;
      }
      if (!gone) return;
      context.strokeStyle = tokens.ink;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(6, TALL - 6);
      context.lineTo(width - 6, 6);
      context.stroke();
    });
  }

  return { build, draw, forget: () => (room = 0) };
}

/** What the pixel knows of through one layer, two, … for each pattern. @param {{pick: (at: number, layer: number) => void}} does layer from 1 */
export function fieldsOf(root, { pick }) {
  let minis = []; // {node, canvas, name, at, layer}

  function build({ seen }) {
    minis = [];
    root.replaceChildren(
      ...seen.map(({ pattern }, at) => {
        const list = Array.from({ length: pattern.layers }, (_, k) => {
          const [canvas, name] = [el("canvas", { "aria-hidden": "true" }), el("span", { class: "name" })];
          const node = el("button", { type: "button", class: "tfe-spans-mini", onclick: () => pick(at, k + 1) }, canvas, name);
          minis.push({ node, canvas, name, at, layer: k + 1 });
          return node;
        });
        return el("div", { class: "tfe-spans-row", "data-pattern": pattern.key }, el("b", { class: "which" }), list);
      }),
    );
  }

  function draw(here) {
    const { seen, now, position, tokens, narrow } = here;
    const reached = seen.map(({ it, pattern }) => (position === null ? null : it.reach(position, pattern.layers)));
    for (const { node, canvas, name, at, layer } of minis) {
      const { it, pattern } = seen[at];
      const found = reached[at];
      // One that adds nothing to the layer before it is left out; its place stays.
      const adds = found && (layer === 1 || found.counts[layer - 1] > found.counts[layer - 2] || now.field === layer);
      node.style.visibility = adds ? "visible" : "hidden";
      put(node, "aria-pressed", String(now.field === layer));
      if (!adds) continue;
      const context = fit(canvas, FIELD, FIELD);
      const known = found.pixels.map((through) => (through && through <= layer ? 1 : 0));
      enlarge(context, colourPixels({ ...bare(here, it.rows, it.columns, it.channels), levels: new Uint8Array(it.size * it.channels), stage: new Uint8Array(it.size), field: known, upto: 1 }), 0, 0, FIELD, FIELD);
      context.fillStyle = tokens.query;
      context.fillRect(Math.round(it.column(position) * (FIELD / it.columns) - 0.5), Math.round(it.row(position) * (FIELD / it.rows) - 0.5), 3, 3);
      bold(name, String(layer), String(found.counts[layer - 1]));
      put(node, "aria-label", t(TEXT.fieldLabel, { pattern: t(pattern.label), layers: layer === 1 ? t(TEXT.oneLayer) : t(TEXT.layers, { n: layer }), n: found.counts[layer - 1] }));
    }
    seen.forEach(({ pattern }, at) => {
      write(root.children[at].firstChild, t(pattern.short));
      root.children[at].hidden = narrow && pattern.key !== now.pattern;
    });
  }

  return { build, draw };
}

/** All pictures of a run under their boards, with the given one beside them. @param {{pick: (at: number, picture: number) => void}} does from 0 */
export function thumbsOf(root, { pick }) {
  let thumbs = []; // {node, canvas, name, at, picture}; picture null is the given one

  function build({ seen, truth }) {
    thumbs = [];
    const thumb = (at, picture) => {
      const [canvas, name] = [el("canvas", { "aria-hidden": "true" }), el("span", { class: "name" })];
      const node = picture === null ? el("span", { class: "tfe-spans-thumb" }, canvas, name) : el("button", { type: "button", class: "tfe-spans-thumb", onclick: () => pick(at, picture) }, canvas, name);
      thumbs.push({ node, canvas, name, at, picture });
      return node;
    };
    const many = seen[0].count > 1 || Boolean(truth);
    root.hidden = !many;
    if (!many) root.replaceChildren();
    else root.replaceChildren(...seen.map(({ pattern, count }, at) => el("div", { class: "tfe-spans-group", "data-pattern": pattern.key }, Array.from({ length: count }, (_, n) => thumb(at, n)), truth ? thumb(at, null) : null)));
  }

  function draw(here, cell) {
    const { seen, now, position, truth, narrow } = here;
    const { it } = seen[0];
    const side = (2 * it.columns >= 48 ? 2 : 3) * it.columns;
    for (const { node, canvas, name, at, picture } of thumbs) {
      const given = picture === null;
      const each = seen[at];
      const tall = (side * it.rows) / it.columns;
      const how = { ...bare(here, it.rows, it.columns, it.channels), levels: given ? truth.data : each.pictures.slice(picture), stage: given ? null : stages(here, each, position), ghost: 0.3 };
      enlarge(fit(canvas, side, tall), colourPixels(how), 0, 0, side, tall);
      write(name, given ? t(TEXT.truth) : String(picture + 1));
      if (given) continue;
      put(node, "aria-pressed", String(picture === now.picture));
      put(node, "aria-label", t(TEXT.picture, { pattern: t(each.pattern.label), n: picture + 1 }));
    }
    for (const group of root.children) {
      group.hidden = narrow && group.dataset.pattern !== now.pattern;
      group.style.width = narrow ? "" : `${it.columns * cell}px`;
    }
  }

  return { build, draw };
}

/** The places that the pixel looks at hardest, as a table. */
export function drawTable(sheet, { seen, now, position, weights }, otherwise) {
  const i = seen.findIndex(({ pattern }) => pattern.key === now.pattern);
  const all = weights[i];
  if (!all || position === null) {
    sheet.replaceChildren(el("p", { class: "tfe-note", text: otherwise }));
    return;
  }
  const { it, pattern, pictures } = seen[i];
  const chosen = all[now.head - 1].pixels;
  const order = Array.from({ length: it.size }, (_, pixel) => pixel)
    .filter((pixel) => chosen[pixel] === chosen[pixel])
    .sort((a, b) => chosen[b] - chosen[a]);
  const top = order.slice(0, 20);
  const caption = t(TEXT.caption, { pattern: t(pattern.label), layer: now.layer, n: top.length, q: place(it, position), head: now.head, of: order.length });
  const levels = pictures.slice(0);
  const th = (text) => el("th", { scope: "col", text });
  const row = (pixel, n) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", text: n + 1 }),
      el("td", { text: where(it, pixel) }),
      el("td", { text: Array.from({ length: it.channels }, (_, c) => levels[pixel * it.channels + c]).join(", ") }),
      all.map((one, h) => el("td", { class: h === now.head - 1 ? "here" : null, text: one.pixels[pixel].toFixed(3) })),
    );
  const head = el("tr", {}, th(t(TEXT.rank)), th(t(TEXT.pixel)), th(t(TEXT.level)), all.map((_, h) => th(t(TEXT.headN, { n: h + 1 }))));
  sheet.setAttribute("aria-label", caption);
  sheet.replaceChildren(el("table", { class: "tfe-table" }, el("caption", { class: "tfe-note", text: caption }), el("thead", {}, head), el("tbody", {}, top.map(row))));
}

// Under each digit, where every head of its model looks on the mean: small maps by displacement. One canvas a model, one tab stop in all.

import { unpack } from "./arrays.js";
import { el } from "./dom.js";
import { t } from "./lang.js";
import { fit, paint } from "./raster.js";
import { TEXT, factorName, towards, weight } from "./digitwords.js";

const [LEFT, TOP, GAP] = [18, 18, 4];

/** Mean weights by displacement, (layer, head, row, column): NaN where no pixel may look. */
export async function offsetsOf(packed) {
  if (!packed) return null;
  const { shape, data } = await unpack(packed);
  const roots = Float32Array.from(data, (raw) => (raw ? (raw - 1) / 254 : Number.NaN));
  return { shape, roots, most: roots.reduce((most, one) => (one > most ? one : most), 0) };
}

/** One head's map, layer and head from 1. */
const mapOf = ({ shape: [, heads, rows, columns], roots }, layer, head) => roots.subarray(((layer - 1) * heads + head - 1) * rows * columns).subarray(0, rows * columns);

/** What a head looks at on the mean, in words. */
function said(model, layer, head) {
  const [, , rows, columns] = model.offsets.shape;
  const map = mapOf(model.offsets, layer, head);
  const best = map.reduce((most, one, n) => (one > (map[most] || 0) ? n : most), 0);
  const how = { name: t(model.name), head: `${layer}·${head}`, factor: factorName(model.factors[layer - 1][head - 1]) };
  if (!(map[best] > 0)) return t(TEXT.tileNone, how);
  const where = towards(rows - 1 - Math.floor(best / columns), (best % columns) - Math.floor(columns / 2)) || t({ en: "its own place", zh: "自己的位置" });
  return t(TEXT.tile, { ...how, where, w: weight(map[best] ** 2), beyond: Math.round(100 * model.beyond[layer - 1][head - 1]) });
}

/** @param {{pick: (index: number, layer: number, head: number) => void}} does layer and head from 1 */
export function headsOf(root, { pick }) {
  let grids = []; // {node, label, canvas, at: {across, pitch, layers, heads}, from tile to tile}
  const kept = new Map(); // by model, what stood here last
  let here = null; // {seen, now} of what stands here

  function build({ seen }) {
    grids = seen.map((_, i) => {
      const [label, canvas] = [el("p", { class: "tfe-kicker" }), el("canvas", { role: "img", class: "tfe-digits-tiles" })];
      const grid = { label, canvas, at: null, node: el("div", { class: "tfe-digits-grid" }, label, canvas) };
      const under = (event) => {
        const { left, top } = canvas.getBoundingClientRect();
        const { across, pitch, layers, heads } = grid.at;
        const [h, l] = [Math.floor((event.clientX - left - LEFT) / across), Math.floor((event.clientY - top - TOP) / pitch)];
        return h >= 0 && l >= 0 && h < heads && l < layers ? [l + 1, h + 1] : null;
      };
      canvas.addEventListener("click", (event) => {
        const one = grid.at && under(event);
        if (one) pick(i, ...one);
      });
      canvas.addEventListener("pointermove", (event) => {
        const one = grid.at && under(event);
        canvas.title = one && here.seen[i].offsets ? said(here.seen[i], ...one) : "";
      });
      canvas.addEventListener("keydown", (event) => {
        const [dl, dh] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
        if ((!dl && !dh) || !grid.at || event.ctrlKey || event.metaKey || event.altKey) return;
        pick(i, Math.max(1, Math.min(grid.at.layers, here.now.layer + dl)), Math.max(1, Math.min(grid.at.heads, here.now.head + dh)));
        event.preventDefault();
        event.stopPropagation();
      });
      return grid;
    });
    root.replaceChildren(...grids.map(({ node }) => node));
  }

  /** What stood here before stays, dimmed, while another digit is made. Returns the largest mean weight, where the scale ends. */
  function draw(scene, width) {
    const { now, tokens, palette, narrow, finished } = scene;
    root.classList.toggle("tfe-stale", !finished);
    const seen = scene.seen.map((one) => (one.offsets ? one : (kept.get(one.key) ?? one)));
    here = { seen, now };
    const most = Math.max(1e-6, ...seen.map((one) => one.offsets?.most ?? 0));
    seen.forEach((one, i) => {
      const { node, label, canvas } = grids[i];
      if (one.offsets) kept.set(one.key, one);
      node.hidden = narrow && i !== now.index;
      node.style.width = `${width}px`;
      canvas.tabIndex = i === now.index ? 0 : -1;
      if (node.hidden) return;
      const { layers, heads } = one;
      const cell = Math.max(1, Math.floor((width - LEFT - GAP * (heads - 1) - 2) / heads / 15));
      const [wide, tall] = [15 * cell, 7 * cell];
      const across = heads > 1 ? Math.floor((width - LEFT - wide - 2) / (heads - 1)) : wide;
      const pitch = Math.max(tall + GAP, narrow ? 44 : 28);
      grids[i].at = { across, pitch, layers, heads };
      const context = fit(canvas, LEFT + (heads - 1) * across + wide + 2, TOP + layers * pitch);
      context.font = `12px ${scene.font}`;
      context.textBaseline = "middle";
      const names = [...new Set((one.factors ?? []).flat())].map(factorName);
      label.textContent = names.length ? t(names.length > 1 ? TEXT.differ : TEXT.each, { factor: names[0], factors: names.join(" · ") }) : "\u00a0";
      for (let layer = 1; layer <= layers; layer += 1) {
        for (let head = 1; head <= heads; head += 1) {
          const [x, y] = [LEFT + (head - 1) * across, TOP + (layer - 1) * pitch];
          const chosen = layer === now.layer && head === now.head && !now.roll;
          const data = one.offsets ? mapOf(one.offsets, layer, head) : new Float32Array(105).fill(Number.NaN);
          paint(context, { data, rows: 7, columns: 15, colours: palette.weights, empty: tokens.sunk, high: most, x, y, width: wide, height: tall, radius: 3 });
          context.fillStyle = tokens.query;
          context.fillRect(x + 7 * cell + cell / 4, y + 6 * cell + cell / 4, Math.max(1.5, cell / 2), Math.max(1.5, cell / 2));
          if (chosen) {
            for (const [colour, line] of [[tokens.panel, i === now.index ? 5 : 3], [tokens.query, i === now.index ? 3 : 1.5]]) {
              context.strokeStyle = colour;
              context.lineWidth = line;
              context.beginPath();
              context.roundRect(x - 1, y - 1, wide + 2, tall + 2, 4);
              context.stroke();
            }
          }
          if (layer === 1) {
            context.textAlign = "center";
            context.fillStyle = head === now.head ? tokens.query : tokens.ink3;
            context.fillText(String(head), x + wide / 2, TOP / 2 - 2);
          }
        }
        context.textAlign = "right";
        context.fillStyle = layer === now.layer ? tokens.query : tokens.ink3;
        context.fillText(String(layer), LEFT - 7, TOP + (layer - 1) * pitch + tall / 2);
      }
      canvas.setAttribute("aria-label", t(TEXT.grid, { name: t(one.name), layers, heads, head: `${now.layer}·${now.head}` }) + (one.offsets ? ` ${said(one, Math.min(now.layer, layers), Math.min(now.head, heads))}` : ""));
    });
    return most ** 2;
  }

  return { build, draw };
}

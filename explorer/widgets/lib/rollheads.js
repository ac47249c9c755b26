// Beside the rolls: every head of the chosen model as a small picture, and how far back the chosen head listens.

import { el, svg } from "./dom.js";
import { t } from "./lang.js";
import { fit, paint, table } from "./raster.js";
import { LETTERS, TEXT, distance, weight } from "./rollwords.js";
import { css } from "./theme.js";

const GAP = 4;
const [LEFT, TOP] = [22, 18]; // room for the numbers of layers and heads
const TALL = 96; // px of the bars

/**
 * @param {{colours: any[], pick: (layer: number, head: number) => void, silence: (layer: number, head: number) => void, step: (by: number) => void}} how heads from 1
 * @returns {{node: HTMLElement, draw: (scene: any) => void, forget: () => void}}
 */
export function headsOf({ colours, pick, silence, step }) {
  const title = el("h3", { class: "tfe-title" });
  const arrow = (path) => svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, svg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 1.6, "stroke-linecap": "round", "stroke-linejoin": "round" }));
  const before = el("button", { type: "button", class: "tfe-roll-arrow", onclick: () => step(-1) }, arrow("M8 13V3M4 7l4-4 4 4"));
  const after = el("button", { type: "button", class: "tfe-roll-arrow", onclick: () => step(1) }, arrow("M8 3v10M4 9l4 4 4-4"));
  const canvas = el("canvas", { class: "tfe-roll-tiles", tabindex: "0", role: "img" });
  const grid = el("div", { class: "tfe-roll-grid" }, canvas);
  const none = el("p", { class: "tfe-note", hidden: true });
  const heads = el("section", { class: "tfe-panel tfe-roll-heads" }, el("div", { class: "tfe-row tight apart" }, title, el("span", { class: "tfe-row tight" }, before, after)), grid, none);
  const farTitle = el("h3", { class: "tfe-title" });
  const farUnits = el("span", { class: "tfe-units" });
  const bars = el("div", { class: "tfe-roll-bars" });
  const farWords = el("p", { class: "tfe-note" });
  const far = el("section", { class: "tfe-panel tfe-roll-far" }, el("div", { class: "tfe-row tight" }, farTitle, farUnits), bars, farWords);
  const node = el("div", { class: "tfe-roll-side tfe-controls" }, heads, far);
  const shades = table(colours, 0.8);
  let drawn = null; // what the tiles stand on: {layers, heads, size}
  let room = 0;
  let now = null;

  function at(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - LEFT, event.clientY - box.top - TOP];
    const [h, l] = [Math.floor(x / (drawn.wide + GAP)), Math.floor(y / (drawn.tall + GAP))];
    return h >= 0 && l >= 0 && h < drawn.heads && l < drawn.layers ? [l + 1, h + 1] : null;
  }
  canvas.addEventListener("click", (event) => {
    const one = drawn && at(event);
    if (one) (event.shiftKey ? silence : pick)(...one);
  });
  canvas.addEventListener("pointermove", (event) => {
    const one = drawn && at(event);
    canvas.title = one ? t(TEXT.tileDo, { head: one.join("·") }) : "";
  });
  canvas.addEventListener("keydown", (event) => {
    if (!drawn || event.ctrlKey || event.metaKey || event.altKey) return;
    const [layer, head] = now;
    const [dl, dh] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (event.key === "Enter" && event.shiftKey) silence(layer, head);
    else if (dl || dh) pick(Math.max(1, Math.min(drawn.layers, layer + dl)), Math.max(1, Math.min(drawn.heads, head + dh)));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function draw({ run, model, now: here, narrow }) {
    const finished = run && run.state !== "running" && run.state !== "stopped";
    node.hidden = !finished;
    if (!finished) return;
    const name = t(model.name);
    const own = model.heads !== null;
    grid.hidden = before.hidden = after.hidden = far.hidden = !own;
    none.hidden = own;
    none.textContent = t(TEXT.noHeads, { name });
    before.setAttribute("aria-label", t(TEXT.previous));
    after.setAttribute("aria-label", t(TEXT.next));
    title.textContent = own ? t(TEXT.heads, { layers: model.heads[0], heads: model.heads[1] }) : name;
    if (!own) return;
    const [layers, count] = model.heads;
    now = [here.layer, here.head];
    const chosen = `${here.layer}·${here.head}`;
    room ||= heads.clientWidth - 34;
    const wide = Math.max(18, Math.min(44, Math.floor((room - LEFT - GAP * (count - 1) - 2) / count)));
    const tall = Math.min(40, wide);
    drawn = { layers, heads: count, wide, tall };
    const [width, height] = [LEFT + count * (wide + GAP) - GAP + 2, TOP + layers * (tall + GAP) - GAP + 3];
    const context = fit(canvas, width, height);
    const [sunk, ink3, query, panel, ink] = ["--sunk", "--ink3", "--query", "--panel", "--ink"].map(css);
    context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
    context.textBaseline = "middle";
    const side = Math.sqrt(model.thumbs.length / (layers * count));
    const gone = new Set((run.request?.silenced ?? []).filter(([variant]) => variant === model.key).map(([, layer, head]) => `${layer + 1}·${head + 1}`));
    for (let layer = 1; layer <= layers; layer += 1) {
      for (let head = 1; head <= count; head += 1) {
        const [x, y] = [LEFT + (head - 1) * (wide + GAP), TOP + (layer - 1) * (tall + GAP)];
        const number = (layer - 1) * count + head - 1;
        const data = Float32Array.from(model.thumbs.subarray(number * side * side, (number + 1) * side * side), (w, i) => (i % side > Math.floor(i / side) ? Number.NaN : w));
        const silent = gone.has(`${layer}·${head}`);
        paint(context, { data, rows: side, columns: side, colours: shades, empty: sunk, x, y, width: wide, height: tall, radius: 4, alpha: silent ? 0.28 : 1 });
        if (silent) {
          context.strokeStyle = ink;
          context.lineWidth = 2;
          context.beginPath();
          context.moveTo(x + 4, y + tall - 4);
          context.lineTo(x + wide - 4, y + 4);
          context.stroke();
        }
        if (layer === here.layer && head === here.head) {
          for (const [colour, thick, out] of [[panel, 1.5, 0.5], [query, 3, 0.5]]) {
            context.strokeStyle = colour;
            context.lineWidth = thick;
            context.beginPath();
            context.roundRect(x - out, y - out, wide + 2 * out, tall + 2 * out, 4);
            context.stroke();
          }
        }
        if (layer === 1) {
          context.textAlign = "center";
          context.fillStyle = head === here.head ? query : ink3;
          context.fillText(String(head), x + wide / 2, TOP / 2 - 1);
        }
      }
      context.textAlign = "right";
      context.fillStyle = layer === here.layer ? query : ink3;
      context.fillText(String(layer), LEFT - 8, TOP + (layer - 1) * (tall + GAP) + tall / 2);
    }
    canvas.setAttribute("aria-label", t(TEXT.grid, { size: title.textContent, name, head: chosen + (gone.has(chosen) ? `, ${t(TEXT.gone)}` : "") }));
    drawFar(run, model, here, chosen, narrow);
  }

  function drawFar(run, model, here, chosen) {
    const [, count] = model.heads;
    const size = model.distance.length / (model.heads[0] * count);
    const mean = model.distance.subarray(((here.layer - 1) * count + here.head - 1) * size).subarray(0, size);
    const chorale = run.style === "chorale";
    farTitle.textContent = t(TEXT.far);
    farUnits.textContent = t(chorale ? TEXT.farBeats : TEXT.farEvents, { head: chosen });
    const wide = Math.max(140, room);
    const group = Math.max(1, Math.ceil(size / (wide / 2)));
    const tops = Array.from({ length: Math.ceil(size / group) }, (_, n) => Math.max(...mean.subarray(n * group, (n + 1) * group)));
    let best = 0;
    for (let d = 0; d < size; d += 1) if (mean[d] > mean[best]) best = d;
    const most = Math.max(mean[best], 1e-6);
    // The event just before stands at the right end.
    const x = (d) => wide - 2 - ((d + 0.5) / size) * (wide - 4);
    const y = (w) => 14 + (TALL - 14) * (1 - w / most);
    const bar = Math.max(1.2, ((wide - 4) / tops.length) * 0.8);
    const line = (keep) => tops.map((w, n) => (keep(w) ? `M${x(n * group + (group - 1) / 2).toFixed(1)} ${TALL}V${y(w).toFixed(1)}` : "")).join("");
    const unit = chorale ? 4 * LETTERS.length : 1; // events of what the axis counts
    const every = [1, 2, 4, 8, 16, 32, 64, 128].find((n) => (n * unit * (wide - 4)) / size >= 34) ?? 256;
    const marks = Array.from({ length: Math.floor(size / unit / every) + 1 }, (_, n) => n * every);
    const text = (px, py, words, anchor) => svg("text", { x: px, y: py, "font-size": 12, fill: "var(--ink3)", "text-anchor": anchor, text: words });
    bars.replaceChildren(
      svg(
        "svg",
        { viewBox: `0 0 ${wide} ${TALL + 18}`, width: wide, height: TALL + 18, "aria-hidden": "true" },
        svg("path", { d: line((w) => w < most / 2), stroke: "var(--key)", "stroke-opacity": 0.55, "stroke-width": bar }),
        svg("path", { d: line((w) => w >= most / 2), stroke: "var(--key)", "stroke-width": bar }),
        svg("path", { d: `M0 ${TALL}H${wide}`, stroke: "var(--control)" }),
        text(Math.max(22, Math.min(wide - 22, x(best))), 11, weight(mean[best]), "middle"),
        marks.map((n) => text(Math.max(0, Math.min(wide, x(n * unit - 0.5))), TALL + 15, n ? `−${n}` : "0", n ? (x(n * unit) < 12 ? "start" : "middle") : "end")),
      ),
    );
    const events = best + 1;
    const back = chorale && events % LETTERS.length === 0 ? distance(run, events / LETTERS.length) : events === 1 ? t(TEXT.oneBack) : t(TEXT.eventsBack, { n: events });
    farWords.textContent = t(TEXT.farMost, { head: chosen, back, w: weight(mean[best]), n: model.watched[0].toLocaleString("en"), of: model.watched[1].toLocaleString("en") });
  }

  return { node, draw, forget: () => (room = 0) };
}

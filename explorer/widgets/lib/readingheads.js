// Beside the text: how far back every head of the model in view looks, and the chosen head large. Near is on the right, as in the text.

import { el, svg } from "./dom.js";
import { t } from "./lang.js";
import { fit } from "./raster.js";
import { TEXT, count, percent, weight } from "./readingwords.js";
import { css } from "./theme.js";

const GAP = 4;
const [LEFT, TOP] = [22, 18]; // room for the numbers of layers and heads
const TALL = 118; // px of the large bars

/** The bands of one head, heads and layers from 1. */
const profileOf = (model, layer, head) => {
  const size = model.edges.length - 1;
  return model.profiles.subarray(((layer - 1) * model.heads + head - 1) * size).subarray(0, size);
};

/** Up to how many characters back lies half of what a head looks at. */
export function halfOf(model, profile) {
  const all = profile.reduce((sum, w) => sum + w, 0);
  let seen = 0;
  for (let n = 0; n < profile.length; n += 1) {
    if (seen + profile[n] >= all / 2) {
      const [from, to] = [model.edges[n], model.edges[n + 1]];
      return Math.max(from, Math.ceil(from + ((all / 2 - seen) / (profile[n] || 1)) * (to - from)) - 1);
    }
    seen += profile[n];
  }
  return model.edges.at(-1) - 1;
}

const characters = (n) => t(n === 1 ? { en: "1 character", zh: "1" } : { en: `${count(n)} characters`, zh: count(n) });

/**
 * @param {{pick: (layer: number, head: number) => void, step: (by: number) => void}} how heads from 1
 * @returns {{node: HTMLElement, draw: (scene: any) => void, forget: () => void}}
 */
export function headsOf({ pick, step }) {
  const title = el("h3", { class: "tfe-title" });
  const arrow = (path) => svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, svg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 1.6, "stroke-linecap": "round", "stroke-linejoin": "round" }));
  const before = el("button", { type: "button", class: "tfe-reading-arrow", onclick: () => step(-1) }, arrow("M8 13V3M4 7l4-4 4 4"));
  const after = el("button", { type: "button", class: "tfe-reading-arrow", onclick: () => step(1) }, arrow("M8 3v10M4 9l4 4 4-4"));
  const canvas = el("canvas", { class: "tfe-reading-tiles", tabindex: "0", role: "img" });
  const grid = el("div", { class: "tfe-reading-grid" }, canvas);
  const note = el("p", { class: "tfe-note" });
  const heads = el("section", { class: "tfe-panel tfe-reading-heads" }, el("div", { class: "tfe-row tight apart tfe-reading-headline" }, title, el("span", { class: "tfe-row tight" }, before, after)), grid, note);
  const farTitle = el("h3", { class: "tfe-title" });
  const farUnits = el("span", { class: "tfe-units" });
  const bars = el("div", { class: "tfe-reading-bars" });
  const farWords = el("p", { class: "tfe-note" });
  const far = el("section", { class: "tfe-panel tfe-reading-far" }, el("div", {}, farTitle, farUnits), bars, farWords);
  const node = el("div", { class: "tfe-reading-side tfe-controls" }, heads, far);
  let drawn = null; // what the tiles stand on: {layers, heads, wide, tall}
  let room = 0;
  let now = null;
  let seen = null; // the model whose heads stand here

  function at(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - LEFT, event.clientY - box.top - TOP];
    const [h, l] = [Math.floor(x / (drawn.wide + GAP)), Math.floor(y / (drawn.tall + GAP))];
    return h >= 0 && l >= 0 && h < drawn.heads && l < drawn.layers ? [l + 1, h + 1] : null;
  }
  canvas.addEventListener("click", (event) => {
    const one = drawn && !event.shiftKey && at(event);
    if (one) pick(...one);
  });
  canvas.addEventListener("pointermove", (event) => {
    const one = drawn && at(event);
    canvas.title = one ? t(TEXT.tile, { head: one.join("·"), n: characters(halfOf(seen, profileOf(seen, ...one))) }) : "";
  });
  canvas.addEventListener("keydown", (event) => {
    if (!drawn || event.ctrlKey || event.metaKey || event.altKey) return;
    const [layer, head] = now;
    const [dl, dh] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (!dl && !dh) return;
    pick(Math.max(1, Math.min(drawn.layers, layer + dl)), Math.max(1, Math.min(drawn.heads, head + dh)));
    event.preventDefault();
    event.stopPropagation();
  });

  /** What stood here before stays, dimmed, while another text is read. */
  function draw({ run, model, now: here }) {
    const finished = run.state !== "running" && run.state !== "stopped";
    const own = finished && model.heads > 0;
    node.hidden = !own && (finished ? run.models.every((one) => !one.heads) : !seen);
    node.classList.toggle("tfe-stale", !finished || run.state === "stale");
    if (node.hidden || !finished) return;
    const some = own && model.profiles !== null;
    seen = own ? model : null;
    grid.hidden = before.hidden = after.hidden = !own;
    far.hidden = !some;
    before.setAttribute("aria-label", t(TEXT.previous));
    after.setAttribute("aria-label", t(TEXT.next));
    title.textContent = t(TEXT.heads);
    note.textContent = own ? (some ? t(TEXT.tilesNote, { n: count(model.edges.at(-1) - 1) }) : "") : t(TEXT.noHeads, { name: t(model.name) });
    if (!own) return;
    now = [here.layer, here.head];
    room ||= heads.clientWidth - 34;
    drawTiles(run, model, here, some);
    if (some) drawFar(run, model, here);
  }

  function drawTiles(run, model, here, some) {
    const { layers, heads: number } = model;
    const wide = Math.max(20, Math.min(44, Math.floor((room - LEFT - GAP * (number - 1) - 2) / number)));
    const tall = Math.min(40, wide);
    drawn = { layers, heads: number, wide, tall };
    const context = fit(canvas, LEFT + number * (wide + GAP) - GAP + 2, TOP + layers * (tall + GAP) - GAP + 3);
    const [sunk, ink3, query, panel, key, control] = ["--sunk", "--ink3", "--query", "--panel", "--key", "--control"].map(css);
    context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
    context.textBaseline = "middle";
    for (let layer = 1; layer <= layers; layer += 1) {
      for (let head = 1; head <= number; head += 1) {
        const [x, y] = [LEFT + (head - 1) * (wide + GAP), TOP + (layer - 1) * (tall + GAP)];
        context.save();
        context.beginPath();
        context.roundRect(x, y, wide, tall, 4);
        context.clip();
        context.fillStyle = sunk;
        context.fillRect(x, y, wide, tall);
        if (some) {
          const profile = profileOf(model, layer, head);
          const most = Math.max(1e-6, ...profile);
          const across = scale(model, wide);
          if (run.segment && run.segment < model.edges.at(-1) - 1) {
            context.fillStyle = control;
            context.fillRect(x + Math.round(across(run.segment + 1)), y, 1, tall);
          }
          context.fillStyle = key;
          for (let n = 0; n < profile.length; n += 1) {
            const high = (profile[n] / most) * (tall - 5);
            const [from, to] = [across(model.edges[n + 1]), across(model.edges[n])];
            context.fillRect(x + from, y + tall - high, Math.max(1, to - from - 0.5), high);
          }
        }
        context.restore();
        if (layer === here.layer && head === here.head) {
          for (const [colour, thick] of [[panel, 1.5], [query, 3]]) {
            context.strokeStyle = colour;
            context.lineWidth = thick;
            context.beginPath();
            context.roundRect(x - 0.5, y - 0.5, wide + 1, tall + 1, 4);
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
    canvas.setAttribute("aria-label", t(TEXT.grid, { title: t(TEXT.heads), layers, heads: number, name: t(model.name), head: `${here.layer}·${here.head}` }));
  }

  /** Characters back to px: logarithmic, near on the right. */
  const scale = (model, wide) => {
    const whole = Math.log(model.edges.at(-1));
    return (back) => wide * (1 - Math.log(back) / whole);
  };

  function drawFar(run, model, here) {
    const head = `${here.layer}·${here.head}`;
    const profile = profileOf(model, here.layer, here.head);
    farTitle.textContent = t(TEXT.far, { head });
    farUnits.textContent = t(TEXT.farUnits);
    const [wide, axis] = [Math.max(180, room), 34];
    const across = scale(model, wide - axis - 6);
    const x = (back) => axis + across(back);
    const most = Math.max(...profile, 1e-6);
    const top = niceTop(most);
    const [ceiling, floor] = [30, TALL];
    const y = (w) => floor - ((floor - ceiling) * w) / top;
    const far_ = model.edges.at(-1) - 1;
    const text = (px, py, words, anchor, fill = "var(--ink3)") => svg("text", { x: px.toFixed(1), y: py, "font-size": 12, fill, "text-anchor": anchor, text: words });
    const ends = model.ends ? model.ends[(here.layer - 1) * model.heads + here.head - 1] : null;
    const marks = [
      ...(run.segment && run.segment < far_ ? [[run.segment, t(TEXT.markSegment)]] : []),
      ...(model.memory ? [[model.memory, t(TEXT.markMemory)]] : []),
      ...(ends === null ? [] : [[Math.max(1, ends), t(TEXT.markSpan)]]),
    ].filter(([back]) => back <= far_);
    const ticks = [1, 4, 16, 64, 256, 1024, 4096].filter((n) => n <= far_);
    let free = Number.POSITIVE_INFINITY; // to the left of it the next label has room
    const labelled = marks
      .sort((a, b) => a[0] - b[0])
      .flatMap(([back, words], n) => {
        const px = x(back + 1);
        const size = 7 * words.length;
        const low = px + size / 2 > free - 4; // it would touch the one before: a line higher
        free = px - size / 2;
        return [svg("path", { class: "mark", d: `M${px.toFixed(1)} ${low ? 14 : 26}V${floor}`, stroke: "var(--ink2)", "stroke-dasharray": "3 3", "data-n": n }), text(Math.max(size / 2, Math.min(wide - size / 2, px)), low ? 11 : 23, words, "middle", "var(--ink2)")];
      });
    bars.replaceChildren(
      svg(
        "svg",
        { viewBox: `0 0 ${wide} ${TALL + 20}`, width: wide, height: TALL + 20, "aria-hidden": "true" },
        [top / 2, top].flatMap((w) => [svg("path", { d: `M${axis} ${y(w).toFixed(1)}H${wide}`, stroke: "var(--line)" }), text(axis - 6, y(w) + 4, shortWeight(w), "end")]),
        [...profile].map((w, n) => {
          const [from, to] = [x(model.edges[n + 1]), x(model.edges[n])];
          return svg("rect", { class: "band", x: (from + 0.5).toFixed(1), y: y(w).toFixed(1), width: Math.max(1, to - from - 1).toFixed(1), height: Math.max(0, floor - y(w)).toFixed(1), fill: "var(--key)" });
        }),
        svg("path", { d: `M${axis} ${floor + 0.5}H${wide}`, stroke: "var(--control)" }),
        text(axis - 6, floor + 4, "0", "end"),
        ticks.map((n) => text(Math.min(wide - 6, x(n + 0.5 * Number(n === 1))), floor + 16, String(n), n === 1 ? "end" : "middle")),
        labelled,
      ),
    );
    const all = profile.reduce((sum, w) => sum + w, 0) || 1;
    let beyond = 0;
    profile.forEach((w, n) => {
      const [from, to] = [model.edges[n], model.edges[n + 1]];
      if (run.segment) beyond += w * Math.max(0, Math.min(1, (to - Math.max(from, run.segment + 1)) / (to - from)));
    });
    const words = [t(TEXT.farWords, { head, half: characters(halfOf(model, profile)) })];
    if (run.segment && run.segment < far_) words.push(t(TEXT.farBeyond, { w: percent(beyond / all), n: count(run.segment) }));
    if (ends !== null) words.push(t(TEXT.farEnd, { n: count(ends) }));
    farWords.textContent = words.join("") + t(TEXT.end);
  }

  return { node, draw, forget: () => (room = 0) };
}

/** The end of an axis from 0 that holds `most`. */
function niceTop(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].map((n) => n * power).find((n) => n >= most - 1e-9);
}
const shortWeight = (w) => (w >= 0.01 ? String(Number(w.toFixed(3))).replace(/^0/, "") : weight(w));

// Every head of a model of music in small, and how far back the chosen one listens. The value is
// made by explorer/labs/music/figures/roll.py.

import { upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { headBeside, headOf, headsOf, modelOf, modelsOf } from "../../frontend/lib/selection.js";
import { drawTiles } from "../../frontend/lib/map.js";
import { rounded } from "../../frontend/lib/signs.js";
import { distance, LETTERS, TEXT, weight } from "./rollwords.js";

const TALL = 82; // px of the bars

export const read = (value) => (value.models?.length ? value : null);

const name = ({ head }) => head.replace(".", "·");
const meanOf = (model, layer, head) => model.distance.slice(layer - 1, head - 1);

/** Queries down, keys across; no query looks at what comes after it. */
function grid(model, layer, head) {
  const [side, data] = [model.thumbs.shape[3], model.thumbs.slice(layer - 1, head - 1)];
  return {
    rows: side,
    columns: side,
    data: data.map((w, i) => (i % side > Math.floor(i / side) ? Number.NaN : w)),
  };
}

const silence = (model, layer, head) => ({
  fire: ["silence", { model: model.key, layer: layer - 1, head: head - 1 }],
});
const isGone = (run, model, layer, head) =>
  run.silenced.some(([key, l, h]) => key === model.key && l === layer - 1 && h === head - 1);

export function scene(run, look, pen) {
  const model = modelOf(run, look);
  if (!model.heads) return pen.size(pen.width, 0);
  const [[layers, heads], chosen] = [model.heads, headOf(look.head)];
  const tiles = drawTiles(pen, 0, 4, pen.width - 4, {
    layers,
    heads,
    grid: (layer, head) => grid(model, layer, head),
    one(layer, head) {
      const gone = isGone(run, model, layer, head);
      const title = [t(TEXT.tile, { head: `${layer}·${head}` }), ...(gone ? [t(TEXT.gone)] : [])]
        .join(" · ");
      return {
        gone,
        here: layer === chosen[0] && head === chosen[1],
        still: true,
        look: { head: `${layer}.${head}` },
        card: pen.narrow && pen.width > 300 ? null : () => [title],
        does: t(TEXT.tileDo),
        add: silence(model, layer, head),
      };
    },
  });
  const y = tiles.height + (pen.big ? 40 : 26);
  far(run, model, look, pen, y);
}

/** The mean weight by how far back a key lies; the event just before stands at the right end. */
function far(run, model, look, pen, top) {
  const mean = meanOf(model, ...headOf(look.head));
  const [size, chorale, wide] = [pen.big ? 20 : 12, run.style === "chorale", pen.width - 4];
  const [base, most, best] = [top + size + 14 + TALL, Math.max(...mean, 1e-6), bestOf(mean)];
  const x = (d) => 2 + wide - ((d + 0.5) / mean.length) * wide;
  const group = Math.max(1, Math.ceil(mean.length / (wide / 2)));
  const each = upTo(
    Math.ceil(mean.length / group),
    (n) => Math.max(...mean.subarray(n * group, (n + 1) * group)),
  );
  pen.text(0, top, t(chorale ? TEXT.farBeats : TEXT.farEvents, { head: name(look) }), {
    size,
    room: pen.width,
  });
  const bar = (w, n) =>
    `M${x((n + 0.5) * group - 0.5).toFixed(1)},${base}V${(base - (TALL * w) / most).toFixed(1)}`;
  const bars = (some) => each.map((w, n) => (some(w) ? bar(w, n) : "")).join("");
  const width = Math.max(1.2, (wide / each.length) * 0.8);
  pen.path(bars((w) => w < most / 2), { line: "key", width, alpha: 0.55 });
  pen.path(bars((w) => w >= most / 2), { line: "key", width });
  pen.line(0, base, pen.width, base, { line: "control" });
  pen.text(
    Math.max(22, Math.min(pen.width - 22, x(best))),
    base - TALL - size / 2 - 2,
    weight(mean[best]),
    { size, align: "center", colour: "ink3" },
  );
  const unit = chorale ? 4 * LETTERS.length : 1; // events of what the axis counts
  const every =
    [1, 2, 4, 8, 16, 32, 64, 128].find((n) => (n * unit * wide) / mean.length >= 2.9 * size) ?? 256;
  for (let n = 0; n * unit <= mean.length; n += every) {
    pen.text(Math.max(0, Math.min(pen.width, x(n * unit - 0.5))), base + size, n ? `−${n}` : "0", {
      size,
      colour: "ink3",
      align: n ? (x(n * unit) < size ? "left" : "center") : "right",
    });
  }
  pen.size(pen.width, base + 2 * size);
}

const bestOf = (mean) => mean.reduce((best, w, d) => (w > mean[best] ? d : best), 0);

export function sentence(run, look) {
  const model = modelOf(run, look);
  if (!model.heads) return [t(TEXT.noHeads, { name: t(model.name) })];
  const mean = meanOf(model, ...headOf(look.head));
  const [best, [n, of]] = [bestOf(mean), model.watched.map((one) => one.toLocaleString("en"))];
  const back = run.style === "chorale" && (best + 1) % LETTERS.length === 0
    ? distance(run, (best + 1) / LETTERS.length)
    : best === 0
    ? t(TEXT.oneBack)
    : t(TEXT.eventsBack, { n: best + 1 });
  return [t(TEXT.farMost, { head: name(look), back, w: weight(mean[best]), n, of })];
}

export function table(run, look) {
  const model = modelOf(run, look);
  const all = model.heads ? headsOf(...model.heads) : [];
  const means = all.map((one) => meanOf(model, ...one));
  return {
    caption: t(TEXT.farCaption, { name: t(model.name) }),
    columns: [t(TEXT.farFrom), ...all.map((one) => t(TEXT.tile, { head: one.join("·") }))],
    rows: upTo(means[0]?.length ?? 0, (d) => [d + 1, ...means.map((mean) => rounded(mean[d]))]),
  };
}

export const looks = { model: "choice", head: "head" };
export const along = "head";
export const across = "layer";
export const resets = ["head"];
export const question = TEXT.far;
export const label = TEXT.headsBoard;

export function units(run, look) {
  const [layers, heads] = modelOf(run, look).heads ?? [];
  return layers ? t(TEXT.headsUnits, { layers, heads }) : "";
}

export function bounds(run, look) {
  const [layers, heads] = modelOf(run, look.model ? look : (run.pick ?? {})).heads ??
    [Infinity, Infinity];
  return { model: modelsOf(run), head: { layers, heads, pick: run.pick?.head ?? "1.1" } };
}

/** The same note is compared across heads. */
export const completes = (
  run,
  look,
  patch,
  { get },
) => (patch.head ? { ...patch, note: get("note") ?? modelOf(run, look).note } : patch);

export function move(run, look, key, by) {
  const { heads } = modelOf(run, look);
  return heads ? { head: headBeside(look.head, key, by, ...heads) } : {};
}

export const press = (
  run,
  look,
) => (modelOf(run, look).heads ? silence(modelOf(run, look), ...headOf(look.head)) : null);
export const arrays = (run) =>
  Object.fromEntries(
    run.models.filter(({ heads }) => heads)
      .flatMap(({ key, distance: mean, thumbs }) => [
        [`${key}_mean_weight_by_distance`, {
          ...mean,
          axes: ["layer", "head", "events back, from 1"],
          unit: "weight",
        }],
        [`${key}_mean_weight_by_band`, {
          ...thumbs,
          axes: ["layer", "head", "band of queries", "band of keys"],
          unit: "weight",
        }],
      ]),
  );

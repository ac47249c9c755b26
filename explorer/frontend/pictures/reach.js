// How far back every head of a model looks, head by head in small, and the chosen one large. Near
// is on the right, as in the text. The value is made by explorer/figures/reading.py.

import { filed } from "../lib/arrays.js";
import { t } from "../lib/lang.js";
import { headBeside, headOf, headsOf, modelOf, modelsOf } from "../lib/selection.js";
import { drawTiles } from "../lib/map.js";
import { ceiling, count, percent, rounded, weight } from "../lib/signs.js";

export const TEXT = {
  title: { en: "How far each head looks back", zh: "每个头往回看多远" },
  units: { en: "mean weight by characters back, {n} … 1", zh: "按往回字符数平均的权重，{n} … 1" },
  board: {
    en: "{title}. Arrow keys choose a head, Escape resets.",
    zh: "{title}。方向键选择头，Esc 复位。",
  },
  tile: { en: "half of its weight lies within {n}", zh: "权重的一半在往回 {n} 个字符之内" },
  head: { en: "head {head}", zh: "头 {head}" },
  noHeads: { en: "The heads of {name} are not looked at here.", zh: "这里不看 {name} 的各个头。" },
  nowhere: {
    en: "Head {head} looks at nothing: its layer is skipped.",
    zh: "头 {head} 什么也不看：它所在的层被跳过了。",
  },
  chosen: { en: "Half of the weight of ", zh: "" },
  words: { en: " lies within {half}", zh: " 的权重有一半在往回 {half} 个字符之内" },
  beyond: {
    en: ", {w} of its weight beyond a segment of {n}",
    zh: "，{w} 的权重越过 {n} 个字符的片段",
  },
  end: { en: ", and its span ends at {n}", zh: "，跨度止于 {n}" },
  stop: { en: ".", zh: "。" },
  segment: { en: "segment", zh: "片段" },
  memory: { en: "memory", zh: "记忆" },
  span: { en: "span", zh: "跨度" },
  caption: {
    en: "Mean weight of each head of {name} by characters back",
    zh: "{name} 各头按往回字符数平均的权重",
  },
  from: { en: "characters back, from", zh: "往回字符数，从" },
  to: { en: "to", zh: "到" },
};

const at = (model, layer, head) => (layer - 1) * model.heads + head - 1;
const profileOf = (model, layer, head) =>
  model.profiles.subarray(
    at(model, layer, head) * (model.edges.length - 1),
    (at(model, layer, head) + 1) * (model.edges.length - 1),
  );
const far = (model) => model.edges.at(-1) - 1;
const characters = (n) =>
  t(n === 1 ? { en: "1 character", zh: "1" } : { en: `${count(n)} characters`, zh: count(n) });

export function read(value) {
  const models = value.models.map((model) => ({
    ...model,
    profiles: model.profiles?.data,
    ends: model.ends?.data,
  }));
  return models.some(({ profiles }) => profiles) ? { ...value, models } : null;
}

/** Up to how many characters back lies half of what a head looks at. */
function halfOf(model, profile) {
  let left = profile.reduce((sum, w) => sum + w, 0) / 2;
  for (let n = 0; n < profile.length; n += 1) {
    const [from, to] = [model.edges[n], model.edges[n + 1]];
    if (profile[n] >= left) {
      return Math.max(from, Math.ceil(from + (left / (profile[n] || 1)) * (to - from)) - 1);
    }
    left -= profile[n];
  }
  return far(model);
}

/** Characters back to px, logarithmic, near on the right. */
const toPixels = (model, x0, x1) => (back) =>
  x1 - ((x1 - x0) * Math.log(back)) / Math.log(model.edges.at(-1));

function bars(pen, model, layer, head, box, top) {
  const x = toPixels(model, box.x0, box.x1);
  profileOf(model, layer, head).forEach((w, n) => {
    const [x0, x1] = [x(model.edges[n + 1]), x(model.edges[n])];
    pen.rect({
      x0,
      x1: Math.max(x0 + 1, x1 - 0.5),
      y0: box.y1 - ((box.y1 - box.y0) * w) / top,
      y1: box.y1,
    }, { fill: "key" });
  });
}

export function scene(run, look, pen) {
  const model = modelOf(run, look);
  if (!model.profiles) return pen.size(pen.width, 0);
  const [layer, head] = headOf(look.head);
  const grid = (l, h) => (box) => {
    pen.rect(box, { fill: "sunk", radius: 4 });
    const border = toPixels(model, box.x0, box.x1)(run.segment + 1);
    if (run.segment && run.segment < far(model)) {
      pen.rect({ ...box, x0: border, x1: border + 1 }, { fill: "control" });
    }
    bars(pen, model, l, h, { ...box, y0: box.y0 + 5 }, Math.max(1e-6, ...profileOf(model, l, h)));
  };
  const one = (l, h) => ({
    here: l === layer && h === head,
    look: { head: `${l}.${h}` },
    card: () => [
      t(TEXT.head, { head: `${l}·${h}` }),
      t(TEXT.tile, { n: characters(halfOf(model, profileOf(model, l, h))) }),
    ],
  });
  const made = drawTiles(pen, 0, 0, pen.width, { ...model, grid, one, tall: 0.55 * pen.tall });
  large(run, model, layer, head, pen, {
    x0: pen.big ? 70 : 34,
    x1: pen.width - 6,
    y0: made.height + (pen.big ? 76 : 54),
    size: pen.big ? 20 : 12,
  });
}

/** The chosen head, with an axis, and what ends where. */
function large(run, model, layer, head, pen, { x0, x1, y0, size }) {
  const floor = pen.tall ? pen.tall - 40 : y0 + 88;
  const box = { x0, x1, y0, y1: floor };
  const top = ceiling(Math.max(1e-6, ...profileOf(model, layer, head)), [
    1,
    1.2,
    1.6,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
  ]);
  const x = toPixels(model, x0, x1);
  pen.text(0, y0 - (pen.big ? 54 : 40), t(TEXT.head, { head: `${layer}·${head}` }), {
    size: pen.big ? 22 : 14,
    weight: 650,
    colour: "query",
  });
  for (const w of [top / 2, top]) {
    const y = floor - ((floor - y0) * w) / top;
    pen.line(x0, y, x1, y, { line: "line" });
    pen.text(x0 - 6, y, w >= 0.01 ? String(Number(w.toFixed(3))).replace(/^0/, "") : weight(w), {
      size,
      colour: "ink3",
      align: "right",
    });
  }
  bars(pen, model, layer, head, box, top);
  pen.line(x0, floor + 0.5, x1, floor + 0.5, { line: "control" });
  pen.text(x0 - 6, floor, "0", { size, colour: "ink3", align: "right" });
  const ticks = [1, 4, 16, 64, 256, 1024, 4096].filter((n) => n <= far(model));
  for (const n of ticks) {
    pen.text(n === 1 ? x1 : x(n + 0.5), floor + size, count(n), {
      size,
      colour: "ink3",
      align: n === 1 ? "right" : "center",
    });
  }
  const ends = model.ends?.[at(model, layer, head)];
  const marks = [[run.segment, TEXT.segment], [model.memory, TEXT.memory], [
    ends === undefined ? 0 : Math.max(1, ends),
    TEXT.span,
  ]].filter(([back]) => back && back < far(model) + 1)
    .sort((a, b) => a[0] - b[0]);
  let free = Number.POSITIVE_INFINITY; // to the left of it the next name has room
  for (const [back, text] of marks) {
    const [px, half] = [x(back + 1), pen.measure(t(text), { size }) / 2];
    const low = px + half > free - 4; // it would touch the one before: a line higher
    free = px - half;
    pen.line(px, y0 - (low ? size + 4 : 4), px, floor, { line: "ink2", dash: [3, 3] });
    pen.text(
      Math.max(half, Math.min(pen.width - half, px)),
      y0 - size * 0.6 - (low ? size + 4 : 4),
      t(text),
      { size, align: "center" },
    );
  }
  pen.size(pen.width, floor + size * 1.8);
}

export function sentence(run, look) {
  const model = modelOf(run, look);
  if (!model.profiles) return [t(TEXT.noHeads, { name: t(model.name) })];
  const [layer, head] = headOf(look.head);
  const profile = profileOf(model, layer, head);
  if (!profile.some((w) => w > 0)) return [t(TEXT.nowhere, { head: `${layer}·${head}` })];
  const parts = [t(TEXT.chosen), {
    text: t(TEXT.head, { head: `${layer}·${head}` }),
    role: "query",
  }, t(TEXT.words, { half: characters(halfOf(model, profile)) })];
  if (run.segment && run.segment < far(model)) {
    const past = profile.reduce(
      (sum, w, n) =>
        sum +
        w *
          Math.max(
            0,
            Math.min(
              1,
              (model.edges[n + 1] - Math.max(model.edges[n], run.segment + 1)) /
                (model.edges[n + 1] -
                  model.edges[n]),
            ),
          ),
      0,
    );
    parts.push(
      t(TEXT.beyond, {
        w: percent(past / (profile.reduce((a, b) => a + b, 0) || 1)),
        n: count(run.segment),
      }),
    );
  }
  if (model.ends) parts.push(t(TEXT.end, { n: count(model.ends[at(model, layer, head)]) }));
  return [...parts, t(TEXT.stop)].filter((part) => part !== "");
}

export function table(run, look) {
  const model = modelOf(run, look);
  const all = model.profiles ? headsOf(model.layers, model.heads) : [];
  const rows = (all.length ? model.edges.slice(0, -1) : []).map((
    from,
    n,
  ) => [from, model.edges[n + 1] - 1, ...all.map(([l, h]) => rounded(profileOf(model, l, h)[n]))]);
  return {
    caption: t(TEXT.caption, { name: t(model.name) }),
    columns: [
      t(TEXT.from),
      t(TEXT.to),
      ...all.map(([l, h]) => t(TEXT.head, { head: `${l}·${h}` })),
    ],
    rows,
  };
}

export const arrays = (run) =>
  Object.fromEntries(
    run.models.filter(({ profiles }) => profiles)
      .flatMap(({ key, layers, heads, edges, profiles, ends }) => [
        [
          `${key}_weight_by_band`,
          filed(profiles, ["layer", "head", "band"], "mean weight", [
            layers,
            heads,
            edges.length - 1,
          ]),
        ],
        [`${key}_bands`, filed(edges, "edge", "characters back")],
        ...(ends
          ? [[
            `${key}_span_ends`,
            filed(ends, ["layer", "head"], "characters back", [layers, heads]),
          ]]
          : []),
      ]),
  );

export const looks = { model: "choice", head: "head" };
export const question = TEXT.title;
export const along = "head";
export const across = "layer";
export const resets = ["head"];
export const bounds = (run, look) => ({
  model: modelsOf(run),
  head: {
    layers: modelOf(run, look).layers || Infinity,
    heads: modelOf(run, look).heads || Infinity,
    pick: run.pick?.head ?? "1.1",
  },
});

export function move(run, look, key, by) {
  const { layers, heads } = modelOf(run, look);
  return heads ? { head: headBeside(look.head, key, by, layers, heads) } : {};
}

export const title = () => TEXT.title;
export const units = (
  run,
  look,
) => (modelOf(run, look).profiles ? t(TEXT.units, { n: count(far(modelOf(run, look))) }) : "");

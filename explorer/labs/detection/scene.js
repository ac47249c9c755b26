// The scene with the boxes that were found, and who looks where: from a query into the scene, or
// from a token to the others, through every head. The value is made by
// explorer/labs/detection/views.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { ramp } from "../../frontend/lib/pen.js";
import { headOf } from "../../frontend/lib/selection.js";
import {
  bare,
  colourOf,
  cornersOf,
  imageOn,
  nameOf,
  outline,
  runOf,
  SIDE,
  standing,
} from "./boxes.js";

export const TEXT = {
  question: { en: "Which boxes are found, and who looks where?", zh: "找到了哪些框，谁在看哪里？" },
  board: {
    en:
      "{title}. Left and right choose a query, up and down a head, Shift with left and right a layer of boxes, Escape resets.",
    zh: "{title}。左右键选择查询，上下键选择头，Shift 加左右键选择框所在的层，Esc 复位。",
  },
  who: { en: "a click asks", zh: "点击询问" },
  cross: { en: "a query", zh: "查询" },
  encoder: { en: "a token", zh: "词元" },
  after: { en: "boxes after layer", zh: "框取自第几层之后" },
  sure: { en: "shown from", zh: "显示阈值" },
  nms: { en: "suppress repeats (NMS)", zh: "抑制重复（NMS）" },
  truth: { en: "true boxes", zh: "真实的框" },
  layer: { en: "layer {n}", zh: "第 {n} 层" },
  head: { en: "head {n}", zh: "头 {n}" },
  headcard: { en: "Head {head}", zh: "头 {head}" },
  largest: { en: "largest weight {p}", zh: "最大权重 {p}" },
  box: { en: "Query {n}: {name} {p}", zh: "查询 {n}：{name} {p}" },
  place: { en: "Token in row {row}, column {column}", zh: "第 {row} 行第 {column} 列的词元" },
  weight: { en: "weight {p} in head {head}", zh: "在头 {head} 中的权重 {p}" },
  asks: { en: "click: what this token attends to", zh: "点击：这个词元看哪里" },
  owned: { en: "click: query {n}, {name}", zh: "点击：查询 {n}，{name}" },
  says: {
    en: "{answers} from {sure} on after layer {after}: {list}.",
    zh: "第 {after} 层之后，不低于 {sure} 的有{answers}：{list}。",
  },
  nothing: {
    en: "No query answers from {sure} on after layer {after}: all say ∅.",
    zh: "第 {after} 层之后，没有查询不低于 {sure}：都回答 ∅。",
  },
  one: { en: "1 box", zh: " 1 个框" },
  many: { en: "{n} boxes", zh: " {n} 个框" },
  item: { en: "{name} {p}", zh: "{name} {p}" },
  left: { en: " NMS leaves {n} out.", zh: "NMS 去掉 {n} 个。" },
  looks: {
    en:
      " {who} puts {share} of its weight in head {head} inside the box of {name}, which covers {area} of the scene.",
    zh: "{who}在头 {head} 中把 {share} 的权重放在{name}的框内，该框占场景的 {area}。",
  },
  outside: {
    en: " {who} lies in no box; in head {head} it looks most at row {row}, column {column} ({p}).",
    zh: "{who}不在任何框内；在头 {head} 中最多地看第 {row} 行第 {column} 列（{p}）。",
  },
  silent: { en: " That head is silenced.", zh: "这个头已关掉。" },
  query: { en: "Query {n}", zh: "查询 {n}" },
  token: { en: "The token in row {row}, column {column}", zh: "第 {row} 行第 {column} 列的词元" },
  scale: {
    en: "yellow: the largest weight of each map; dark: none",
    zh: "黄色：每张图中最大的权重；深色：没有",
  },
  caption: { en: "The answer of each query after layer {n}", zh: "每个查询在第 {n} 层之后的回答" },
  q: { en: "query", zh: "查询" },
  class: { en: "class", zh: "类别" },
  chance: { en: "probability", zh: "概率" },
  none: { en: "probability of ∅", zh: "∅ 的概率" },
  edges: { en: "left, px;top, px;right, px;bottom, px", zh: "左，px;上，px;右，px;下，px" },
};
const GRID = 12; // tokens on a side
const CELL = SIDE / GRID;
const [MAPS, MARKS] = [2, 14]; // number of the first trace of each kind, behind the scene's two
const FAINT = 0.08; // of the largest weight: what is less leaves the scene as it is

export const looks = {
  kind: "choice",
  query: "position",
  cell: "pixel",
  head: "head",
  after: "step",
  sure: "number",
  nms: "flag",
  truth: "flag",
};
export const along = "query";
export const across = "head";
export const aside = "after";
export const read = (value) => {
  const run = runOf(value);
  return run?.cross ? run : null;
};

export function bounds(run, look) {
  return {
    kind: { names: ["cross", "encoder", "queries"] },
    query: { count: run.queries, pick: run.pick.query },
    cell: { rows: GRID, columns: GRID },
    head: { layers: watches(look) ? 3 : run.layers, heads: 4, pick: run.pick.head },
    after: { steps: run.layers },
    sure: { least: 0.05, most: 0.95, pick: 0.5 },
  };
}

/** Is a token watched, not a query? */
const watches = ({ kind }) => kind === "encoder";
const percent = (share) => `${Math.round(100 * share)} %`;

/** What is looked at: {maps(layer, head), box, name, place}, or null. */
function watched(run, look) {
  const { answers } = standing(run, look);
  if (watches(look)) {
    const { box: [x, y] } = answers[look.query ?? run.pick.query];
    const at = (value) => Math.max(0, Math.min(GRID - 1, Math.floor(value * GRID)));
    const cell = look.cell ?? at(y) * GRID + at(x);
    const middle = [cell % GRID, Math.floor(cell / GRID)].map((one) => (one + 0.5) / GRID);
    const owner = holding(answers.filter(({ score }) => score >= look.sure), ...middle);
    return { cell, owner, maps: (l, h) => run.encoder.slice(l, h, cell), layers: 3 };
  }
  if (look.query === null) return null;
  return {
    owner: answers[look.query],
    maps: (l, h) => run.cross.slice(l, h, look.query),
    layers: run.layers,
  };
}

/** The smallest of some answers whose box holds a place, in fractions of the side. */
function holding(answers, x, y) {
  const size = ({ box }) => box[2] * box[3];
  return answers.filter(({ box }) => {
    const [left, top, right, bottom] = cornersOf(box);
    return left <= x && x <= right && top <= y && y <= bottom;
  }).toSorted((a, b) => size(a) - size(b))[0] ?? null;
}

/** The weights of one map as rows, and the largest of them. */
function rowsOf(map) {
  return {
    z: upTo(
      GRID,
      (row) =>
        Array.from(map.slice(row * GRID, (row + 1) * GRID), (one) => (one >= 0 ? one : null)),
    ),
    most: Math.max(...map),
  };
}

const heat = (run, map, more) => {
  const { z, most } = map ? rowsOf(map) : { z: upTo(GRID, () => upTo(GRID, () => null)), most: 1 };
  return {
    type: "heatmap",
    z,
    zmin: 0,
    zmax: most || 1,
    colorscale: run.scale,
    showscale: false,
    x0: CELL / 2,
    dx: CELL,
    y0: CELL / 2,
    dy: CELL,
    ...more,
  };
};

/** Where the scene and the maps of heads stand, in px. */
function placesOf(pen, layers) {
  const [label, gap] = pen.big ? [34, 24] : [22, 16];
  const across_ = pen.narrow ? pen.width : Math.min(0.45 * (pen.width - gap), pen.tall || 280);
  const left = pen.narrow ? 0 : across_ + gap;
  const wide = pen.width - left - label;
  const high = pen.narrow ? Infinity : (across_ - label) / 3;
  const map = Math.min(wide / 4 - 4, high - 4);
  const top = (pen.narrow ? across_ + gap : 0) + label;
  const height = pen.big ? pen.tall : pen.narrow ? top + layers * (map + 4) : across_;
  return {
    side: across_,
    height,
    map,
    label,
    at: (l, h) => [left + label + h * (map + 4), top + l * (map + 4)],
  };
}

export function figure(run, look, pen) {
  const [seen, { answers, sureOnes, twice }] = [watched(run, look), standing(run, look)];
  const [layer, head] = headOf(look.head);
  const place = placesOf(pen, 3);
  const { width } = pen;
  const domain = ([x, y], size) => [
    [x / width, Math.min(1, (x + size) / width)],
    [Math.max(0, 1 - (y + size) / place.height), 1 - y / place.height],
  ];
  const layout = {
    height: place.height,
    margin: { l: 0, r: 0, t: 0, b: 0, pad: 0 },
    images: [imageOn(run)],
    shapes: [],
    annotations: [],
    showlegend: false,
  };
  [layout.xaxis, layout.yaxis] = bare(SIDE, domain([0, 0], place.side), "");
  const over = seen && layer <= seen.layers ? seen.maps(layer - 1, head - 1) : null;
  const least = over ? FAINT * Math.max(...over) : 0;
  const bright = over?.map((weight) => (weight < least ? NaN : weight));
  const data = [
    heat(run, new Float32Array(GRID * GRID), { opacity: 0 }), // hears where one points
    heat(run, over, { opacity: 0.6, ...(over && { z: rowsOf(bright).z }) }),
  ];
  const size = pen.big ? 20 : 12;
  const label = (text, x, y, more = {}) => ({
    text,
    x: x / width,
    y: 1 - y / place.height,
    xref: "paper",
    yref: "paper",
    showarrow: false,
    font: { size, color: "var(--ink2)" },
    ...more,
  });
  for (const l of upTo(3)) {
    for (const h of upTo(4)) {
      const axis = 2 + 4 * l + h;
      const map = seen && l < seen.layers ? seen.maps(l, h) : null;
      const [x, y] = place.at(l, h);
      [layout[`xaxis${axis}`], layout[`yaxis${axis}`]] = bare(
        SIDE,
        domain([x, y], place.map),
        axis,
      );
      data.push(heat(run, map, { xaxis: `x${axis}`, yaxis: `y${axis}` }));
      const chosen = l + 1 === layer && h + 1 === head;
      if (seen?.owner && map) {
        layout.shapes.push(
          outline(seen.owner.box, { color: "var(--panel)", width: 1.5 }, `x${axis}`, `y${axis}`),
        );
      }
      if (chosen) {
        const line = { color: "var(--query)", width: 3 };
        layout.shapes.push(outline([0.5, 0.5, 1, 1], line, `x${axis}`, `y${axis}`));
      }
      if (!l) {
        layout.annotations.push(
          label(t(TEXT.head, { n: h + 1 }), x + place.map / 2, y, {
            xanchor: "center",
            yanchor: "bottom",
          }),
        );
      }
    }
    const [x, y] = place.at(l, 0);
    layout.annotations.push(
      label(t(TEXT.layer, { n: l + 1 }), x - 2, y + place.map / 2, {
        textangle: -90,
        xanchor: "right",
      }),
    );
  }
  const shown = answers.filter((one) => sureOnes.includes(one) || one.query === look.query);
  data.push({
    type: "scatter",
    mode: "markers",
    x: shown.map(({ box }) => box[0] * SIDE),
    y: shown.map(({ box }) => box[1] * SIDE),
    customdata: shown.map(({ query }) => query),
    marker: {
      size: pen.big ? 16 : 11,
      color: shown.map(({ query }) => colourOf(query)),
      line: { color: "#ffffff", width: 2 },
    },
  });
  if (look.truth) {
    for (const box of run.boxes) {
      layout.shapes.push(outline(box, { color: "#ffffff", width: 1.5, dash: "dot" }));
    }
  }
  for (const one of shown) {
    const [chosen, out] = [one.query === look.query, look.nms && twice.has(one.query)];
    const line = { color: colourOf(one.query), width: chosen ? 4 : 2 };
    if (out || !sureOnes.includes(one)) line.dash = "dash";
    layout.shapes.push(outline(one.box, line));
    if (out) continue;
    const [x, y] = cornersOf(one.box).map((value) => value * SIDE);
    layout.annotations.push({
      text: t(TEXT.item, { name: nameOf(run, one.kind), p: one.score.toFixed(2) }),
      x: Math.max(0, x),
      y: Math.max(0, y),
      xanchor: "left",
      yanchor: y > 6 ? "bottom" : "top",
      showarrow: false,
      borderpad: 1,
      bgcolor: "var(--panel)",
      font: { size, color: "var(--ink)" },
    });
  }
  if (seen?.cell !== undefined) {
    const [x, y] = [seen.cell % GRID, Math.floor(seen.cell / GRID)].map((one) => one * CELL);
    const line = { color: "var(--query)", width: 3 };
    layout.shapes.push({ type: "rect", x0: x, x1: x + CELL, y0: y, y1: y + CELL, line });
  }
  return { data, layout };
}

export function pick(run, look, { trace, i, customdata }) {
  const { answers, sureOnes } = standing(run, look);
  const [seen, head] = [watched(run, look), look.head.replace(".", "·")];
  if (trace === MARKS) {
    const { query, kind, score } = answers[customdata];
    const title = t(TEXT.box, { n: query, name: nameOf(run, kind), p: score.toFixed(3) });
    return { look: { query, kind: "cross" }, card: () => [title] };
  }
  if (trace >= MAPS && trace < MARKS) {
    const [l, h] = [Math.floor((trace - MAPS) / 4), (trace - MAPS) % 4];
    if (!seen || l >= seen.layers) return null;
    const most = Math.max(...seen.maps(l, h)).toFixed(3);
    return {
      look: { head: `${l + 1}.${h + 1}` },
      card: () => [t(TEXT.headcard, { head: `${l + 1}·${h + 1}` }), t(TEXT.largest, { p: most })],
    };
  }
  if (trace > 1) return null;
  const [row, column] = i;
  const [layer, at] = headOf(look.head);
  const weight = seen && layer <= seen.layers
    ? [t(TEXT.weight, { p: seen.maps(layer - 1, at - 1)[row * GRID + column].toFixed(3), head })]
    : [];
  const title = t(TEXT.place, { row, column });
  if (watches(look)) {
    return { look: { cell: row * GRID + column }, card: () => [title, ...weight, t(TEXT.asks)] };
  }
  const owner = holding(sureOnes, (column + 0.5) / GRID, (row + 0.5) / GRID);
  const does = owner ? [t(TEXT.owned, { n: owner.query, name: nameOf(run, owner.kind) })] : [];
  return {
    look: owner ? { query: owner.query } : {},
    card: () => [title, ...weight, ...does],
  };
}

/** The share of a map's weight inside a box: that of the tokens whose middle lies in it. */
function inside(map, box) {
  const [left, top, right, bottom] = cornersOf(box).map((value) => value * GRID - 0.5);
  let sum = 0;
  map.forEach((weight, at) => {
    const [x, y] = [at % GRID, Math.floor(at / GRID)];
    if (left <= x && x <= right && top <= y && y <= bottom) sum += weight;
  });
  return sum;
}

export function sentence(run, look) {
  const { sureOnes, twice } = standing(run, look);
  const kept = sureOnes.filter(({ query }) => !(look.nms && twice.has(query)));
  const comma = t({ en: ", ", zh: "、" });
  const list = kept.map(({ kind, score }) =>
    t(TEXT.item, { name: nameOf(run, kind), p: score.toFixed(2) })
  ).join(comma);
  const answers = kept.length === 1 ? t(TEXT.one) : t(TEXT.many, { n: kept.length });
  const values = { sure: look.sure.toFixed(2), after: look.after };
  const out = parts(kept.length ? TEXT.says : TEXT.nothing, {
    ...values,
    answers,
    list: { text: list, role: "out" },
  });
  if (look.nms) out.push(...parts(TEXT.left, { n: twice.size }));
  const [seen, [layer, head]] = [watched(run, look), headOf(look.head)];
  if (!seen || layer > seen.layers) return out;
  const who = watches(look)
    ? t(TEXT.token, { row: Math.floor(seen.cell / GRID), column: seen.cell % GRID })
    : t(TEXT.query, { n: look.query });
  const map = seen.maps(layer - 1, head - 1);
  const told = { who: { text: who, role: "query" }, head: `${layer}·${head}` };
  if (seen.owner) {
    const { box, kind } = seen.owner;
    out.push(...parts(TEXT.looks, {
      ...told,
      name: nameOf(run, kind),
      share: { text: percent(inside(map, box)), role: "key" },
      area: percent(box[2] * box[3]),
    }));
  } else {
    const most = Math.max(...map);
    const at = map.indexOf(most);
    const [row, column] = [Math.floor(at / GRID), at % GRID];
    out.push(...parts(TEXT.outside, { ...told, row, column, p: most.toFixed(2) }));
  }
  const part = watches(look) ? "encoder" : "cross";
  if (run.silenced.some(([of, l, h]) => of === part && l + 1 === layer && h + 1 === head)) {
    out.push(...parts(TEXT.silent, {}));
  }
  return out;
}

export const legend = () => [{ text: t(TEXT.scale), mark: ramp("weights", 60) }];

export function choices(run) {
  const option = (value) => ({ value, label: t(TEXT[value]) });
  return [
    { key: "kind", label: t(TEXT.who), shown: true, options: ["cross", "encoder"].map(option) },
    {
      key: "after",
      label: t(TEXT.after),
      shown: true,
      options: upTo(run.layers, (n) => ({ value: n + 1, label: String(n + 1) })),
    },
    { key: "sure", label: t(TEXT.sure), step: 0.05, say: (value) => value.toFixed(2) },
    { key: "nms", label: t(TEXT.nms) },
    ...(run.boxes.length ? [{ key: "truth", label: t(TEXT.truth) }] : []),
  ];
}

export function table(run, look) {
  const { answers } = standing(run, look);
  const edges = t(TEXT.edges).split(";");
  return {
    caption: t(TEXT.caption, { n: look.after }),
    columns: [t(TEXT.q), t(TEXT.class), t(TEXT.chance), t(TEXT.none), ...edges],
    rows: answers.map(({ query, kind, score, none, box }) => [
      query,
      nameOf(run, kind),
      score.toFixed(4),
      none.toFixed(4),
      ...cornersOf(box).map((value) => (value * SIDE).toFixed(1)),
    ]),
    here: look.query,
  };
}

export function arrays(run, look) {
  const filedAs = (one, axes, unit) => filed(one.data, axes, unit, one.shape);
  return {
    classes: filedAs(run.chances, ["layer", "query", "class"], "probability"),
    boxes: filedAs(run.found, ["layer", "query", "edge"], "share of the side"),
    cross: filedAs(run.cross, ["layer", "head", "query", "token"], "weight"),
    ...(watches(look)
      ? { encoder: filedAs(run.encoder, ["layer", "head", "query", "key"], "weight") }
      : {}),
  };
}

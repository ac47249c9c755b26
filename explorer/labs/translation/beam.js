// How a translation was searched for: the tree of hypotheses grows step by step; α ranks the
// finished ones anew without a new run. Columns are steps, a node's height is its rank in its step,
// and below each column stands what the stop token got. The value is made by
// explorer/labs/translation/panels/beam.py.

import { filed, upTo } from "../../frontend/lib/arrays.js";
import { number, ordinal, shown } from "../../frontend/lib/signs.js";
import { tableOf } from "../../frontend/lib/tables.js";
import { el } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { colour } from "../../frontend/lib/pen.js";
import { FATES, tree } from "./beamtree.js";

const MOST = 2; // the largest α that the server's search holds
const WIDER = 4; // hypotheses that are kept where the run in view is greedy
const SIZES = {
  column: 93,
  box: 76,
  row: 30,
  height: 24,
  left: 56,
  top: 28,
  chart: 64,
  gap: 34,
  foot: 8,
};
const CUT = 3; // in a file: a hypothesis that the limit ended
const HALL = 1.7; // times as large for an audience
export const TEXT = {
  title: { en: "Which hypotheses grew, and which fell?", zh: "哪些假设在生长，哪些被淘汰？" },
  endlessTitle: { en: "What does it write when it may not stop?", zh: "不许停下时，它会写什么？" },
  beam: { en: "hypotheses kept", zh: "保留的假设数" },
  stop: { en: "stop token", zh: "终止符" },
  allowed: { en: "allowed", zh: "允许" },
  forbidden: { en: "forbidden", zh: "禁止" },
  alpha: { en: "length penalty α", zh: "长度惩罚 α" },
  step: { en: "step", zh: "步" },
  rank: { en: "rank", zh: "名次" },
  chance: { en: "P(</s>) after “{text}”", zh: "“{text}” 各步的 P(</s>)" },
  seek: { en: "step", zh: "步" },
  board: {
    en:
      "The tree of hypotheses. Left and right: steps; up and down: nodes of a step; Space plays; " +
      "Escape resets.",
    zh: "假设树。左右键：步；上下键：该步的节点；空格播放；Esc 复位。",
  },
  point: {
    en: "Point at a node or click it: its text so far, log p, sum, score, rank. ←/→ step, ↑/↓ " +
      "nodes, Space plays.",
    zh:
      "指向或点击一个节点，看它的文本、log p、累计、得分和名次。←/→ 走一步，↑/↓ 换节点，空格播放。",
  },
  ownP: { en: "log p {p}", zh: "log p {p}" },
  sum: { en: "sum {p}", zh: "累计 {p}" },
  score: { en: "score {p}", zh: "得分 {p}" },
  ranked: { en: "rank {rank} in step {step}", zh: "第 {step} 步的第 {rank} 名" },
  stopNext: { en: "P(</s>) next {p}", zh: "下一个是 </s> 的概率 {p}" },
  live: { en: "kept", zh: "保留" },
  held: { en: "kept; one that grew out of it finished", zh: "保留；由它长出的假设已完成" },
  fell: { en: "fell at step {at}", zh: "第 {at} 步被淘汰" },
  outranked: { en: "finished, then outranked", zh: "已完成，后被超过" },
  place: { en: "finished, {place} now", zh: "已完成，目前第 {place}" },
  cutPlace: { en: "cut off at the limit, {place} now", zh: "在上限处被截断，目前第 {place}" },
  cut: { en: "cut off at the limit", zh: "在上限处被截断" },
  byStop: { en: "stop token", zh: "终止符" },
  byLimit: { en: "limit", zh: "上限" },
  inFront: { en: "in front", zh: "领先" },
  isKept: { en: "kept", zh: "保留" },
  fallen: { en: "fell (✕ step)", zh: "被淘汰（✕ 步）" },
  done: { en: "ended, with its score", zh: "已结束，附得分" },
  isGreedy: { en: "the greedy one", zh: "贪心译文" },
  saysEnd: {
    en: "With α = {a} the search ends at step {last}: of {n} hypotheses {fell} were pruned, " +
      "{finished} finished, and {live} stayed unfinished.",
    zh:
      "α = {a} 时搜索在第 {last} 步结束：{n} 个假设中 {fell} 个被淘汰，{finished} 个完成，{live} 个没有写完。",
  },
  saysCut: {
    en: "With α = {a} the search ends at step {last}, its limit: of {n} hypotheses {fell} were " +
      "pruned, {finished} finished, {cut} {cut|was|were} cut off at {limit} pieces, and {live} " +
      "stayed unfinished.",
    zh:
      "α = {a} 时搜索在第 {last} 步到达上限而结束：{n} 个假设中 {fell} 个被淘汰，{finished} 个完成，{cut} 个在 {limit} " +
      "个词片处被截断，{live} 个没有写完。",
  },
  saysStep: {
    en: "At step {step} of {last}: {n} hypotheses so far, {fell} pruned, {finished} finished, " +
      "{live} still growing.",
    zh:
      "第 {step} 步（共 {last} 步）：{n} 个假设中 {fell} 个已被淘汰，{finished} 个已完成，{live} 个继续。",
  },
  saysBest: {
    en: " In front is {text} with a score of {score}.",
    zh: "领先的是 {text}，得分 {score}。",
  },
  greedyFirst: { en: " It is the greedy one too.", zh: "它也正是贪心译文。" },
  greedyPlace: {
    en: " The greedy one, “{text}”, comes {at} with {score}.",
    zh: "贪心译文 “{text}” 排第 {at}，得分 {score}。",
  },
  greedyOut: {
    en: " The greedy one, “{text}”, finished at step {at} and was outranked.",
    zh: "贪心译文 “{text}” 在第 {at} 步完成，后被超过。",
  },
  greedyFell: {
    en: " The greedy one, “{text}”, fell at step {at}; whole, it would have scored {score}.",
    zh: "贪心译文 “{text}” 在第 {at} 步被淘汰；完整的话得分会是 {score}。",
  },
  greedyLive: { en: " The greedy one is still among them.", zh: "贪心译文仍在其中。" },
  saysForbidden: {
    en: "After {best} the stop token had {p}, and was forbidden: so the model went on, and only " +
      "the limit of {limit} pieces cut it off.",
    zh:
      "在 {best} 之后终止符的概率是 {p}，但被禁止：模型只好写下去，直到 {limit} 个词片的上限才被截断。",
  },
  saysEndless: {
    en: "Without the stop token it never ends: only the limit of {limit} pieces cut it off.",
    zh: "没有终止符就永不结束：直到 {limit} 个词片的上限才被截断。",
  },
  loop: {
    en: "From piece {begin} on it goes round in circles: {period} at a time, {rounds} rounds and " +
      "more, until the limit of {limit} pieces (source + 50).",
    zh:
      "从第 {begin} 个词片起它开始循环：每轮 {period} 个，重复 {rounds} 轮以上，直到 {limit} 个词片的上限（源长度 + 50）。",
  },
  noLoop: {
    en: "No exact loop before the limit of {limit} pieces (source + 50); what comes after the " +
      "first full stop is no translation any more.",
    zh:
      "在 {limit} 个词片的上限（源长度 + 50）之前没有精确的循环；第一个句号之后的内容已不再是译文。",
  },
  otherGreedy: {
    en: "The translation above comes from greedy search, which keeps one hypothesis; here {beam} " +
      "are kept.",
    zh: "上面的译文来自只保留一个假设的贪心搜索；这里保留 {beam} 个。",
  },
  other: {
    en: "The translation above was searched for with {n} hypotheses; here the search keeps {beam}.",
    zh: "上面的译文用 {n} 个假设搜索；这里保留 {beam} 个。",
  },
  honest: {
    en:
      "α does not decide what grows, only when the search is over and who has won, and a larger " +
      "α never ends it earlier: so this one run holds the search of every α, and the slider asks " +
      "nothing of the model. Another number of hypotheses is another search.",
    zh:
      "α 不决定哪些假设生长，只决定何时结束、谁胜出；α 越大，结束得不会越早：所以这一次运行包含了每个 α 的搜索，拖动滑块不需要模型重算。保留的假设数不同，则是另一次搜索。",
  },
  finishedList: { en: "Hypotheses that ended, best first", zh: "已结束的假设，最好的在前" },
  nodes: { en: "Every node of the tree", zh: "树的每个节点" },
  columns: {
    en: "place|translation|log P|pieces|score|ended by",
    zh: "名次|译文|log P|词片数|得分|结束原因",
  },
  nodeColumns: {
    en: "node|step|rank|piece|parent|log p|sum|score|P(</s>) next|fate",
    zh: "节点|步|名次|词片|父节点|log p|累计|得分|下一个 P(</s>)|结果",
  },
};

const searchOf = ({ beam, endless = false }) => `${beam}${endless ? ".endless" : ""}`;

export function read(value, { away = false }) {
  return { ...value, away, tree: tree(value) };
}

export function bounds(run, { balpha }) {
  const plain = run.plainBeam === 1 ? WIDER : run.plainBeam;
  const last = balpha === undefined ? run.tree.steps : run.tree.outcome(balpha).last;
  const widths = upTo(8, (i) => i + 1);
  return {
    btree: {
      names: run.away
        ? [searchOf(run)]
        : widths.flatMap((beam) => [searchOf({ beam }), searchOf({ beam, endless: true })]),
      pick: run.away ? searchOf(run) : searchOf({ beam: plain }),
    },
    balpha: { least: 0, most: MOST, pick: run.alpha },
    bstep: { count: last + 1, pick: last },
    bnode: { count: run.step.length },
  };
}

/**
 * What is looked at: step, α, the locked node, what became of every node, those that finished, and
 * the hypothesis in front.
 */
function seen(run, { bstep, balpha, bnode }) {
  const [it, step, a] = [run.tree, bstep, balpha];
  const held = it.held(step, a);
  const node = bnode > 0 && run.step[bnode] <= step ? bnode : null;
  const leading = held[0] ?? it.at[step].find((each) => run.fate[each] === FATES.kept) ?? 0;
  return {
    it,
    step,
    a,
    held,
    node,
    leading,
    told: node ?? leading,
    ...it.outcome(a),
    ...it.state(step, a),
  };
}

const soFar = (run, node) =>
  run.tree.path(node).map((each, i) => (run.space[each] && i ? " " : "") + shown(run.pieces[each]))
    .join("");

/** What is told of a node, in parts. */
function about(run, now, node) {
  const place = now.held.indexOf(node);
  const cut = now.it.isCut(node);
  const kind = run.fate[node] === FATES.finished && place >= 0
    ? t(cut ? TEXT.cutPlace : TEXT.place, { place: ordinal(place + 1) })
    : t(cut ? TEXT.cut : TEXT[now.what[node]], { at: now.when[node] });
  return [
    `“${soFar(run, node)}”`,
    t(TEXT.ownP, { p: number(run.logp[node]) }),
    t(TEXT.sum, { p: number(run.total[node]) }),
    t(TEXT.score, { p: number(now.it.score(node, now.a)) }),
    t(TEXT.ranked, { rank: run.rank[node], step: run.step[node] }),
    ...(run.stop[node] === null
      ? []
      : [t(TEXT.stopNext, { p: Math.exp(run.stop[node]).toFixed(3) })]),
    kind,
  ];
}

// ── the tree ──
export function scene(run, look, pen) {
  const now = seen(run, look);
  const k = pen.big ? HALL : 1;
  const { step, last, it } = now;
  const ranks = run.rank.reduce((most, rank) => Math.max(most, rank), 1);
  const px = Object.fromEntries(Object.entries(SIZES).map(([name, one]) => [name, one * k]));
  if (pen.big) {
    px.left = 44;
    // Rows and columns as narrow as the screen asks for; the chart only where there is room for it
    // too.
    const fits = (chart) => (pen.tall - px.top - px.foot - chart) / ranks;
    const full = fits(px.gap + px.chart) >= 32;
    if (!full) px.chart = px.gap = 0;
    px.row = Math.max(28, Math.min(px.row, fits(px.gap + px.chart)));
    px.height = px.row - 5;
    px.column = Math.max(92, Math.min(px.column, (pen.width - px.left) / (last + 1)));
    px.box = px.column - 12;
  }
  const { column, box, row, height, left, top, chart, gap, foot } = px;
  const [wide, floor] = [left + (last + 1) * column, top + ranks * row];
  const [base, size] = [floor + gap + chart, 12 * k];
  const x = (node) => left + run.step[node] * column;
  const y = (node) => top + (Math.max(1, run.rank[node]) - 0.5) * row;
  const text = (px, py, words, how) => pen.text(px, py, words, { size, colour: "ink3", ...how });
  // axes
  if (!pen.big) text(4, 14, t(TEXT.step));
  text(pen.big ? 16 : 4, top + row / 2, pen.big ? "1" : `${t(TEXT.rank)} 1`);
  for (let r = 2; r <= ranks; r += 1) {
    text(left - 16 * k, top + (r - 0.5) * row, String(r), { align: "right" });
  }
  for (let s = 0; s <= last; s += 1) {
    text(left + s * column + box / 2, 14 * k, String(s), {
      align: "center",
      ...(s === step ? { colour: "ink", weight: 650 } : {}),
    });
  }
  const band = {
    x0: left + step * column - 6 * k,
    x1: left + step * column + box + 6 * k,
    y0: top - 4 * k,
    y1: floor + 4 * k,
  };
  pen.rect(band, { fill: "sunk", radius: 6 });
  // lines from each hypothesis to what it became
  const [front, greedy] = [new Set(it.path(now.leading)), new Set(run.greedy)];
  const nodes = Array.from(run.step.keys()).filter((node) => run.step[node] <= step);
  const gone = (node) => ["fell", "outranked"].includes(now.what[node]);
  const edge = (node, how) => {
    const [x0, x1, y0, y1] = [x(run.parent[node]) + box, x(node), y(run.parent[node]), y(node)];
    pen.path(`M${x0},${y0}C${(x0 + x1) / 2},${y0} ${(x0 + x1) / 2},${y1} ${x1},${y1}`, how);
  };
  const lines = nodes.slice(1).sort((a, b) => Number(gone(b)) - Number(gone(a)));
  for (const node of lines) {
    edge(node, {
      line: front.has(node) ? "out" : "ink2",
      width: (front.has(node) ? 3 : 1.5) * k,
      alpha: gone(node) ? 0.3 : 1,
    });
  }
  for (const node of lines) {
    if (greedy.has(node)) {
      edge(node, { line: "ink", width: 2 * k, dash: [2 * k, 4 * k], cap: "round" });
    }
  }
  // nodes
  for (const node of nodes) {
    const [finished, dim, locked] = [
      run.fate[node] === FATES.finished,
      gone(node),
      node === now.node,
    ];
    const place = now.held.indexOf(node);
    // Does a line that fell end at this node?
    const ends = now.what[node] === "fell" && run.fate[node] === FATES.kept &&
      !it.children[node].some((child) =>
        run.step[child] <= step && run.fate[child] !== FATES.passed
      );
    const own = !finished
      ? `${shown(run.pieces[node])}${ends ? ` ✕${now.when[node]}` : ""}`
      : `${place < 0 ? "</s>" : pen.big ? "" : ordinal(place + 1)} ${
        number(it.score(node, now.a))
      }`;
    const area = {
      x0: x(node),
      x1: x(node) + box,
      y0: y(node) - height / 2,
      y1: y(node) + height / 2,
    };
    const green = finished && !dim;
    const alpha = dim && !locked ? 0.62 : 1;
    pen.rect(area, {
      fill: green ? "out-soft" : "panel",
      line: locked ? "accent" : front.has(node) || green ? "out" : "control",
      radius: 6,
      alpha,
      width: (locked ? 3 : front.has(node) ? 2 : 1) * k,
      ...(run.fate[node] === FATES.passed ? { dash: [3, 3] } : {}),
    });
    text(x(node) + box / 2, y(node), own, {
      align: "center",
      colour: green ? "out" : "ink",
      weight: front.has(node) ? 650 : 400,
      alpha,
      room: box - 6,
    });
    if (node) pen.hit({ ...area, look: { bnode: node }, card: () => about(run, now, node) });
  }
  const keep = { x0: left + (step - 1) * column, x1: left + (step + 1) * column };
  if (!chart) return pen.size(Math.max(pen.width, wide), floor + foot, keep);
  // the stop token along one hypothesis; small dots: along the others
  pen.path(`M${left},${base}H${wide - column + box}M${left},${base - chart}h4`, {
    line: "control",
  });
  const behind = run.fate[now.told] === FATES.finished ? run.parent[now.told] : now.told;
  const says = t(TEXT.chance, { text: soFar(run, behind) || "<s>" });
  // beside the step in view, so that it is read where the tree is scrolled
  const end = left + step * column + box;
  const fits = pen.measure(says, { size }) < end - 4;
  text(fits ? end : 4, floor + gap - 18 * k, says, { align: fits ? "right" : "left" });
  text(left - 16 * k, base - chart + 4 * k, "1", { align: "right" });
  text(left - 16 * k, base - 4 * k, "0", { align: "right" });
  const line = new Set([0, ...it.path(now.told)]);
  for (const node of nodes) {
    if (run.stop[node] === null || run.step[node] >= step) continue;
    const [p, middle] = [Math.exp(run.stop[node]), x(node) + column + box / 2]; // asked before the next step
    if (!line.has(node)) {
      pen.circle(middle + 25 * k, base - chart * p, 2.5 * k, { line: "ink3" });
      continue;
    }
    pen.rect({
      x0: middle - 18 * k,
      x1: middle + 18 * k,
      y0: base - Math.max(1, chart * p),
      y1: base,
    }, { fill: "out" });
    if (p >= 0.01) {
      text(middle, base - chart * p - 9 * k, p.toFixed(2), { align: "center", colour: "ink" });
    }
  }
  return pen.size(Math.max(pen.width, wide), base + foot, keep);
}

export const legend = () => [
  { text: t(TEXT.inFront), mark: { fill: "out", wide: 18, tall: 3 } },
  { text: t(TEXT.isKept), mark: { fill: "ink2", wide: 18, tall: 2 } },
  { text: t(TEXT.fallen), mark: { fill: colour("ink2", 0.35), wide: 18, tall: 2 } },
  { text: t(TEXT.done), mark: { fill: "out-soft", line: "out", radius: 3, wide: 18 } },
  {
    text: t(TEXT.isGreedy),
    mark: { shades: ["ink", "panel", "ink", "panel", "ink"], wide: 18, tall: 2 },
  },
];

// ── under it ──
export function below(run, look) {
  const now = seen(run, look);
  const detail = el("p", {
    class: "tfe-units",
    "aria-live": "polite",
    text: now.node === null ? t(TEXT.point) : `${about(run, now, now.node).join(" · ")}.`,
  });
  if (!run.endless) return [detail];
  const nodes = now.it.path(now.ranking[0]).slice(0, -1);
  const [begin, period] = run.loop ?? [nodes.length, 0];
  const role = (i) => (i < begin ? "" : (i - begin) % (2 * period) < period ? " out" : " key");
  const tokens = nodes.map((node, i) =>
    el(
      "span",
      { class: `tfe-token${role(i)}`, text: shown(run.pieces[node]) },
      el("span", { class: "index", text: i }),
    )
  );
  const rounds = period ? Math.floor((nodes.length - begin) / period) : 0;
  return [
    detail,
    el("p", { class: "tfe-beam-tokens", lang: "de" }, tokens),
    el("p", {
      class: "tfe-note",
      text: t(period ? TEXT.loop : TEXT.noLoop, { begin, period, rounds, limit: run.limit }),
    }),
  ];
}

/** The finished ones, best first. */
export function beside(run, look) {
  const now = seen(run, look);
  const rows = now.held.map((
    node,
    i,
  ) => [
    i + 1,
    run.texts[node] || soFar(run, node),
    number(run.total[node]),
    run.step[node],
    number(now.it.score(node, now.a)),
    t(now.it.isCut(node) ? TEXT.byLimit : TEXT.byStop),
  ]);
  const other = run.plainBeam === run.beam
    ? ""
    : t(run.plainBeam === 1 ? TEXT.otherGreedy : TEXT.other, { n: run.plainBeam, beam: run.beam });
  const guesses = tableOf({
    caption: t(TEXT.finishedList),
    columns: t(TEXT.columns).split("|"),
    rows,
  });
  return [
    ...(rows.length
      ? [
        el("div", {
          class: "tfe-scroll",
          tabindex: "0",
          role: "region",
          "aria-label": t(TEXT.finishedList),
        }, guesses),
      ]
      : []),
    el("p", { class: "tfe-note", text: [other, t(TEXT.honest)].filter(Boolean).join(" ") }),
  ];
}

export function choices(run, look) {
  const [beam, endless] = look.btree.split(".");
  const other = (one, stop) => searchOf({ beam: one, endless: stop });
  const slope = { key: "balpha", label: t(TEXT.alpha), step: 0.1, say: (a) => a.toFixed(1) };
  if (run.away) return [slope];
  return [
    {
      key: "btree",
      label: t(TEXT.beam),
      shown: true,
      options: upTo(8, (i) => ({ value: other(i + 1, endless), label: String(i + 1) })),
    },
    {
      key: "btree",
      label: t(TEXT.stop),
      shown: true,
      options: [["allowed", false], ["forbidden", true]].map(([name, stop]) => ({
        value: other(beam, stop),
        label: t(TEXT[name]),
      })),
    },
    slope,
  ];
}

// ── in words and numbers ──
export function sentence(run, look) {
  const { it, step, a, last, ranking, held: [leading] } = seen(run, look);
  const count = it.count(step, a);
  const values = {
    step,
    last,
    a: a.toFixed(1),
    n: count.all,
    fell: count.fell,
    finished: count.finished,
    live: count.live,
    cut: count.cut,
    limit: run.limit,
  };
  if (run.endless) {
    const stops = it.path(ranking[0]).find((node) =>
      run.stop[node] !== null &&
      Math.exp(run.stop[node]) > 0.5
    ); // here it would have stopped
    if (step < last) return parts(TEXT.saysStep, values);
    if (stops === undefined) return parts(TEXT.saysEndless, { limit: run.limit });
    return parts(TEXT.saysForbidden, {
      limit: run.limit,
      best: { text: `“${soFar(run, stops)}”`, role: "out" },
      p: Math.exp(run.stop[stops]).toFixed(2),
    });
  }
  const said = parts(step < last ? TEXT.saysStep : count.cut ? TEXT.saysCut : TEXT.saysEnd, values);
  if (leading !== undefined) {
    said.push(
      ...parts(TEXT.saysBest, {
        text: { text: `“${run.texts[leading]}”`, role: "out" },
        score: number(it.score(leading, a)),
      }),
    );
  }
  const greedy = it.greedy(run.greedy, step, a);
  const fate = {
    place: greedy.at === 1 ? TEXT.greedyFirst : TEXT.greedyPlace,
    outranked: TEXT.greedyOut,
    fell: TEXT.greedyFell,
    live: TEXT.greedyLive,
  }[greedy.kind];
  const own = run.greedyTotal / ((5 + run.greedyLength) / 6) ** a;
  return [
    ...said,
    ...parts(fate, {
      at: greedy.kind === "place" ? ordinal(greedy.at) : greedy.at,
      text: { text: run.greedyText },
      score: number(own),
    }),
  ];
}

/** Every node of the tree up to the end of the search; fate(what, when): in words. */
function nodesOf(run, look, fate) {
  const { it, a, last } = seen(run, look);
  const { what, when } = it.state(last, a);
  const five = (value) => Number(value.toFixed(5));
  return Array.from(run.step.keys()).filter((node) => run.step[node] <= last).map((
    node,
  ) => [
    node,
    run.step[node],
    run.rank[node],
    run.pieces[node],
    run.parent[node],
    run.logp[node],
    five(run.total[node]),
    five(it.score(node, a)),
    run.stop[node] === null ? null : Number(Math.exp(run.stop[node]).toPrecision(5)),
    fate(it.isCut(node) ? "cut" : what[node], when[node]),
  ]);
}

export const table = (run, look) => ({
  caption: t(TEXT.nodes),
  columns: t(TEXT.nodeColumns).split("|"),
  here: look.bnode,
  rows: nodesOf(run, look, (what, at) => t(TEXT[what], { at })).map((row) =>
    row.map((cell, i) => (i === 3 ? shown(cell) : cell))
  ),
});

export const lines = (run, look) => ({
  columns: [
    "node",
    "step",
    "rank",
    "piece",
    "parent",
    "log_p",
    "sum",
    "score",
    "p_stop_next",
    "fate",
  ],
  rows: nodesOf(run, look, (what, at) => (what === "fell" ? `fell ${at}` : what)),
});

export function arrays(run, look) {
  const nats = (list) => filed(Float64Array.from(list, (x) => x ?? Number.NaN), "node", "nats");
  const [parent, step, rank] = [run.parent, run.step, run.rank].map((list) => filed(list, "node"));
  return {
    pieces: run.pieces,
    parent,
    step,
    rank,
    fate: filed(
      run.fate.map((fate, node) => (run.tree.isCut(node) ? CUT : fate)),
      "node",
      "0 kept, 1 finished, 2 passed over, 3 cut off at the limit",
    ),
    log_p: nats(run.logp),
    total: nats(run.total),
    log_p_stop: nats(run.stop),
    alpha: { shape: [1], data: Float64Array.of(look.balpha) },
    beam: { shape: [1], data: [run.beam] },
  };
}

const title = (run) => (run.endless ? TEXT.endlessTitle : TEXT.title);

export const looks = { btree: "choice", balpha: "number", bstep: "position", bnode: "position" };

export function wish(get) {
  const [, beam, endless] = /^([1-8])(\.endless)?$/.exec(get("btree") ?? "") ?? [];
  return beam ? { beam: Number(beam), endless: Boolean(endless) } : null;
}

export const resets = ["bstep", "bnode"];

/**
 * The last step is the one that stands there; a locked node is let go of by a second click; another
 * search begins at its end.
 */
export function completes(run, look, patch, _how) {
  const { last } = run.tree.outcome(look.balpha);
  return {
    ...patch,
    ...(patch.bstep >= last ? { bstep: null } : {}),
    ...(patch.bnode === look.bnode ? { bnode: null } : {}),
    ...(patch.btree ? { bstep: null, bnode: null } : {}),
  };
}

export function move(run, look, key, by) {
  if (key !== "bnode") return null;
  const nodes = run.tree.at[look.bstep];
  const here = nodes.indexOf(seen(run, look).node);
  return { bnode: nodes[here < 0 ? 0 : Math.max(0, Math.min(nodes.length - 1, here + by))] };
}

export const wide = () => true;
export const clock = (run, look) => ({
  key: "bstep",
  pace: 700,
  says: (n) => `${n} / ${seen(run, look).last}`,
  texts: { seek: TEXT.seek },
});
export const named = (run) => ["beam", run.beam, run.endless ? "endless" : ""];
export { title as question, title as units };

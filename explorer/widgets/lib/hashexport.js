// What of the hashing leaves the page: the picture of a step, the table of the round, and the numbers.

import { leaving } from "./drawing.js";
import { csv, fileName, npz, save } from "./export.js";
import { row as rowOf, ranked } from "./hashnumbers.js";
import { onPaper } from "./hashpen.js";
import { TEXT, charOf, sight, weight } from "./hashwords.js";
import { lang, t } from "./lang.js";

const WIDE = 1060;

/** Every position of the round, as texts: the names of the columns first. */
export function table({ run, round, detail }) {
  const names = TEXT.columns[lang()] ?? TEXT.columns.en;
  return [
    names,
    ...Array.from({ length: run.length }, (_, i) => {
      const best = detail?.weights ? ranked(rowOf(round, detail.weights.data, i), 1)[0] : null;
      return [String(i), charOf(run.tokens[i]), String(round.buckets[i]), String(round.rank[i]), String(round.number(i) + 1), String(sight(round, i)), best ? `${charOf(run.tokens[best.key])}·${best.key}` : "–", best ? weight(best.w) : "–"];
    }),
  ];
}

function rows({ run, round, detail }) {
  const out = [["position", "token", "bucket", "place", "chunk", "may_look_at", "looks_hardest_at", "weight"]];
  for (let i = 0; i < run.length; i += 1) {
    const best = detail?.weights ? ranked(rowOf(round, detail.weights.data, i), 1)[0] : null;
    out.push([i, run.tokens[i], round.buckets[i], round.rank[i], round.number(i) + 1, sight(round, i), best ? best.key : Number.NaN, best ? Number(best.w.toFixed(5)) : Number.NaN]);
  }
  return out;
}

function numbers({ run, model, layer, head, rounds, turn, shown, detail, round, seen, matrix }) {
  const n = run.length;
  const files = {
    tokens: Array.from(run.tokens),
    buckets: { shape: [rounds.length, n], data: Int32Array.from(rounds.flatMap(({ buckets }) => Array.from(buckets))) },
    order: { shape: [n], data: round.order },
    chunk: { shape: [1], data: Int32Array.of(round.chunk) },
    seen: { shape: [n, n], data: seen },
    looked_at: `${model.key}, layer ${layer + 1}, head ${head + 1}, ${turn < 0 ? "all rounds" : `round ${turn + 1}`}`,
  };
  if (detail?.rotated) files.rotated = { shape: detail.rotated.shape, data: detail.rotated.data };
  if (matrix) files.weights = { shape: [n, n], data: matrix.map((w) => (w === w ? w : 0)) };
  return npz(files);
}

/** The makers of the export bar. state(width) tells what is looked at as if the stage were so wide, with its sentence in `words`, or null. */
export function exporters(state, draw) {
  const parts = ({ model, layer, head, turn, step }) => ["hashing", model.key, `${layer + 1}.${head + 1}`, turn < 0 ? "all" : `round${turn + 1}`, `step${step}`];
  const having = (make) => async () => {
    const now = state(WIDE);
    if (now) await make(now);
  };
  const figure = leaving(() => {
    const now = state(WIDE);
    if (!now) return null;
    const { pen, node } = onPaper(now.width, now.places.high);
    draw(pen, now);
    return { drawing: node, title: `${t(TEXT.title)} · ${now.model.name ? t(now.model.name) : now.model.key} ${now.layer + 1}·${now.head + 1} · ${t({ en: TEXT.steps.en[now.step - 1], zh: TEXT.steps.zh[now.step - 1] })}`, sentence: now.words, name: parts(now), more: table(now) };
  });
  return {
    ...figure,
    CSV: having((now) => save(fileName(parts(now), "csv"), csv(rows(now)), "text/csv")),
    NPZ: having((now) => save(fileName(parts(now), "npz"), numbers(now))),
  };
}

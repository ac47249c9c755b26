// What a visitor takes along from a text: the picture in view, and every character with what it cost, as a table and as arrays.

import { leaving } from "./drawing.js";
import { csv, fileName, npz, save } from "./export.js";
import { t } from "./lang.js";
import { byCharacter } from "./readingrows.js";
import { TEXT, bits, named, sign, weight } from "./readingwords.js";

const AROUND = 25; // characters before and after the lock that the table shows

const parts = ({ run, model, now }) => [model.key, ...(model.heads ? [`${now.layer}.${now.head}`] : []), ...now.positions.slice(-1), run.state === "stopped" ? "part" : ""];
const longest = (run) => Math.max(...run.models.map((model) => model.count));
const parted = (run) => run.models.some((model) => model.count !== run.shared);

function rows({ run, chosen, look }) {
  const apart = parted(run);
  const own = run.models.map((model) => [...(apart ? [`character_${model.key}`] : []), `bits_${model.key}`]);
  const out = [["position", "given", "unknown", ...(apart ? [] : ["character"]), ...own.flat(), ...(look ? ["weight"] : [])]];
  for (let i = 0; i < longest(run); i += 1) {
    const each = run.models.flatMap((model) => {
      const here = i < model.count;
      return [...(apart ? [here ? String.fromCodePoint(model.codes[i]) : ""] : []), here ? Number(bits4(model.nats[i])) : Number.NaN];
    });
    const one = apart ? [] : [String.fromCodePoint(run.models[0].codes[i])];
    const w = look ? [i + 1 < look.weights.length ? Number(look.weights[i + 1].toFixed(6)) : 0] : [];
    out.push([i, i < run.given ? 1 : 0, run.models[chosen].strange.has(i) ? 1 : 0, ...one, ...each, ...w]);
  }
  return out;
}
const bits4 = (nats) => (nats / Math.LN2).toFixed(4);

function numbers({ run, model, now, look }) {
  const files = {
    given: { shape: [1], data: Int32Array.of(run.given) },
    segment: { shape: [1], data: Int32Array.of(run.segment) },
    unknown: { shape: [model.strange.size], data: Int32Array.from(model.strange) },
  };
  for (const each of run.models) {
    files[`${each.key}_characters`] = { shape: [each.count], data: Int32Array.from(each.codes) };
    files[`${each.key}_nats`] = { shape: [each.count], data: Float32Array.from(each.nats) };
    if (!each.profiles) continue;
    files[`${each.key}_weight_by_band`] = { shape: [each.layers, each.heads, each.edges.length - 1], data: each.profiles };
    files[`${each.key}_bands`] = { shape: [each.edges.length], data: Int32Array.from(each.edges) };
  }
  if (look) Object.assign(files, byCharacter(look.weights, model.count));
  files.looked_at = `${model.key}, layer ${now.layer}, head ${now.head}, position ${now.positions.at(-1) ?? "none"}`;
  return npz(files);
}

/** The characters around the lock, or the first ones: a head and rows of texts, `here` the row of the lock. */
export function table({ run, model, now, look }) {
  const at = now.positions.at(-1);
  const [from, to] = at === undefined ? [0, 2 * AROUND] : [Math.max(0, at - AROUND), at + AROUND];
  const apart = parted(run);
  const head = [t(TEXT.tablePos), t(TEXT.tableGiven), ...(apart ? [] : [t(TEXT.tableChar)]), ...run.models.flatMap((each) => [...(apart ? [`${t(TEXT.tableChar)}, ${t(each.name)}`] : []), `${t(TEXT.loss)}, ${t(each.name)}`]), ...(look ? [t(TEXT.tableWeight)] : [])];
  const lines = [];
  let here = -1;
  for (let i = from; i < Math.min(to, longest(run)); i += 1) {
    if (i === at) here = lines.length;
    const each = run.models.flatMap((one) => [...(apart ? [i < one.count ? sign(one.codes[i]) : "–"] : []), i < one.count ? bits(one.nats[i]) : "–"]);
    lines.push([i, t(i < run.given ? TEXT.isGiven : TEXT.isWritten), ...(apart ? [] : [sign(model.codes[i])]), ...each, ...(look ? [i <= look.position - 1 ? weight(look.weights[i + 1]) : "–"] : [])]);
  }
  return { head, lines, here };
}

export const caption = ({ run, model, now, look }) => {
  const at = now.positions.at(-1);
  return at !== undefined && look ? t(TEXT.caption, { q: named(model.codes[at], at), model: t(model.name), head: `${now.layer}·${now.head}` }) : t(TEXT.captionBare);
};

/** The makers of the export bar; state() tells what is looked at, with its sentence in `words` and its `drawing`, or null. */
export function exporters(state) {
  const having = (make) => async () => {
    const now = state();
    if (now) await make(now);
  };
  const figure = leaving(() => {
    const now = state();
    if (!now) return null;
    const { head, lines } = table(now);
    return { drawing: now.drawing(), title: t(TEXT.title), sentence: now.words, name: parts(now), more: [head, ...lines] };
  });
  return {
    ...figure,
    CSV: having((now) => save(fileName(parts(now), "csv"), csv(rows(now)), "text/csv")),
    NPZ: having((now) => save(fileName(parts(now), "npz"), numbers(now))),
  };
}

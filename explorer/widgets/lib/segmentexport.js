// What a visitor takes along from segments and memory: the figure, shares of every head at every character, and all of it as arrays.

import { leaving } from "./drawing.js";
import { csv, fileName, npz, save } from "./export.js";
import { t } from "./lang.js";
import { byCharacter } from "./looks.js";
import { drawing } from "./segmentboard.js";
import { TEXT, meanShare, weight, whole } from "./segmentwords.js";

const WIDE = 1000; // px of a figure that leaves the page

/** Layers × heads: mean share across the border over the segment in view. */
export function table({ run, model, first, end }) {
  const heads = Array.from({ length: model.heads }, (_, h) => h + 1);
  const names = [t(TEXT.tableLayer), ...heads.map((n) => t(TEXT.tableHead, { n })), t(TEXT.tableMean)];
  const rows = Array.from({ length: run.layers }, (_, l) => [String(l + 1), ...heads.map((head) => weight(meanShare(model, l + 1, head, first, end))), weight(meanShare(model, l + 1, null, first, end))]);
  return { text: t(TEXT.caption, { model: t(model.name), first: whole(first), last: whole(end - 1) }), rows: [names, ...rows] };
}

function lines({ run, model, look, now }) {
  const heads = Array.from({ length: run.layers * model.heads }, (_, i) => i);
  const out = [["position", "character", "segment", "given", ...heads.map((i) => `to_memory_${Math.floor(i / model.heads) + 1}.${(i % model.heads) + 1}`), "knows_from", "weight"]];
  for (let p = 0; p < model.length; p += 1) {
    const shares = heads.map((i) => Number(model.across[i * model.length + p].toFixed(5)));
    // The key behind this one carries this character.
    const w = look && p + 1 < model.length ? Number(look[p + 1].toFixed(6)) : Number.NaN;
    out.push([p, model.chars[p], Math.floor(p / run.segment) + 1, p < run.given ? 1 : 0, ...shares, model.travelled[run.layers * model.length + p], now.positions.length ? w : Number.NaN]);
  }
  return out;
}

function numbers({ run, model, look, now }) {
  const whole_ = (data, shape) => ({ shape, data: Int32Array.from(data) });
  const files = {
    share_to_memory: { shape: [run.layers, model.heads, model.length], data: model.across },
    knows_from: whole_(model.travelled, [run.layers + 1, model.length]),
    remembered: whole_(model.remembered, [Math.ceil(model.length / run.segment), model.slots]),
    characters: model.chars,
    segment: whole_([run.segment], [1]),
    memory: whole_([model.memory], [1]),
    given: whole_([run.given], [1]),
    looked_at: `${model.key}, head ${now.head === null ? "mean" : `${now.layer}.${now.head}`}, position ${now.positions.at(-1) ?? "none"}`,
  };
  files.remembered_are = "numbers of states: state j has read the character j - 1, state 0 what stands before the text";
  if (look) Object.assign(files, byCharacter(look, model.length));
  return npz(files);
}

/** The makers of the export bar; state() tells what is looked at, with its sentence in `words`, or null. */
export function exporters(state) {
  const parts = ({ model, now, number }) => [model.key, now.head === null ? "mean" : `${now.layer}.${now.head}`, `segment ${number + 1}`];
  const having = (make) => async () => {
    const now = state();
    if (now) await make(now);
  };
  const figure = leaving(() => {
    const now = state();
    if (!now) return null;
    return { drawing: drawing({ ...now, room: WIDE, narrow: false, big: false }), title: t(TEXT.title), sentence: now.words, name: parts(now), more: table(now).rows };
  });
  return {
    ...figure,
    CSV: having((now) => save(fileName(parts(now), "csv"), csv(lines(now)), "text/csv")),
    NPZ: having((now) => save(fileName(parts(now), "npz"), numbers(now))),
  };
}

// What of the spans leaves the page: the picture, the table, and the numbers.

import { svg } from "./dom.js";
import { leaving } from "./drawing.js";
import { csv, fileName, npz, save } from "./export.js";
import { lang, t } from "./lang.js";
import { bars, place as placeBars } from "./maskbars.js";
import { board, place as placeBoard } from "./maskboard.js";
import { reach } from "./masknumbers.js";
import { TEXT, percent, spanText } from "./maskwords.js";

const [WIDE, BARS, GAP] = [1060, 390, 30];

/** The span of every head, as texts: the names of the columns first. */
export function table({ run, spans, lows, highs, forced, learned, leftOf }) {
  const heads = run.heads[1];
  const names = TEXT.columns[lang()] ?? TEXT.columns.en;
  return [
    names,
    ...Array.from(spans, (z, i) => {
      const left = leftOf(i);
      const follows = lows && !forced[i];
      return [
        String(Math.floor(i / heads) + 1),
        String((i % heads) + 1),
        spanText(z),
        String(reach(z, run.ramp, run.span)),
        percent(reach(z, run.ramp, run.span) / run.span),
        t(forced[i] ? TEXT.yes : TEXT.no),
        forced[i] && !Number.isNaN(learned[i]) ? spanText(learned[i]) : "–",
        follows ? spanText(lows[i]) : "–",
        follows ? spanText(highs[i]) : "–",
        left === null ? "–" : left.toFixed(3),
      ];
    }),
  ];
}

function rows({ run, spans, lows, highs, forced, learned, leftOf }) {
  const heads = run.heads[1];
  const exact = (value) => Number(value.toFixed(4));
  return [
    ["layer", "head", "z", "reach", "share", "forced", "z_trained", "z_min", "z_max", "weight_kept"],
    ...Array.from(spans, (z, i) => {
      const left = leftOf(i);
      const far = reach(z, run.ramp, run.span);
      return [Math.floor(i / heads) + 1, (i % heads) + 1, exact(z), far, exact(far / run.span), Number(forced[i]), forced[i] ? exact(learned[i]) : Number.NaN, lows && !forced[i] ? exact(lows[i]) : Number.NaN, highs && !forced[i] ? exact(highs[i]) : Number.NaN, left === null ? Number.NaN : exact(left)];
    }),
  ];
}

function numbers({ run, now, row, position, forced, learned }) {
  const [layers, heads] = run.heads;
  const files = {
    z: { shape: run.spans.shape, data: run.spans.data },
    forced: { shape: [layers, heads], data: Uint8Array.from(forced, Number) },
    z_trained: { shape: [layers, heads], data: learned },
    span_and_ramp: { shape: [2], data: Int32Array.of(run.span, run.ramp) },
    text: run.text,
    looked_at: `${run.variant}, layer ${now.layer}, head ${now.head}, position ${position ?? "none"}`,
  };
  if (run.profiles) for (const which of ["before", "after"]) files[`mean_weight_by_distance_${which}`] = { shape: run.profiles[which].shape, data: run.profiles[which].data };
  if (row) for (const which of ["before", "after"]) files[`weight_by_distance_${which}`] = { shape: [row[which].length], data: row[which] };
  return npz(files);
}

/** Both halves in one picture. */
function drawing(scene) {
  const plain = { ...scene, big: false, narrow: false, hover: null };
  const left = placeBars(plain, BARS);
  const right = placeBoard({ ...plain, height: left.height }, WIDE - BARS - GAP);
  const height = Math.max(left.height, right.height) + 4;
  return svg("svg", { viewBox: `0 0 ${WIDE} ${height}` }, svg("g", {}, bars(plain, left)), svg("g", { transform: `translate(${BARS + GAP} 0)` }, board(plain, right)));
}

/** The makers of the export bar; state() tells what is looked at, with its sentence in `words`, or null. */
export function exporters(state) {
  const parts = ({ run, now }) => ["spans", run.variant, `${now.layer}.${now.head}`];
  const having = (make) => async () => {
    const now = state();
    if (now) await make(now);
  };
  const figure = leaving(() => {
    const now = state();
    if (!now) return null;
    return { drawing: drawing(now), title: `${t(TEXT.title)} · ${t(TEXT.mask, { head: `${now.now.layer}·${now.now.head}` })}`, sentence: now.words, name: parts(now), more: table(now) };
  });
  return {
    ...figure,
    CSV: having((now) => save(fileName(parts(now), "csv"), csv(rows(now)), "text/csv")),
    NPZ: having((now) => save(fileName(parts(now), "npz"), numbers(now))),
  };
}

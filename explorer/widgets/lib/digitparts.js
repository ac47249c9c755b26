// The legend of the digits widget and its table.

import { el } from "./dom.js";
import { TEXT, factorName, nats, place, weight } from "./digitwords.js";
import { lang, t } from "./lang.js";
import { partsOf } from "./digitpattern.js";

const TOP = 12; // places in the table

/** The legend, and what the ends of the scale stand for: each board is drawn against its own largest weight. */
export function legendOf(legend, { seen, now, shown, narrow, projecting, worst, running, position }) {
  const stands = seen.map((model, i) => [model, shown[i]]).filter((_, i) => !narrow || i === now.index);
  const parts = new Set(now.roll ? ["all"] : stands.flatMap(([model]) => partsOf(model.factors?.[now.layer - 1]?.[now.head - 1])));
  const ends = stands.filter(([, look]) => look.weights).map(([model, look]) => `${stands.length > 1 ? `${t(model.name)} ` : ""}${weight(look.most)}`);
  const looking = !now.surprise && !running && position !== null;
  const allGiven = seen.every((model) => model.given >= model.length);
  const key = [lang(), allGiven, now.surprise, now.roll, looking, [...parts], ends, projecting].join();
  if (legend.dataset.key === key) return;
  legend.dataset.key = key;
  const swatch = (kind, text) => el("span", { class: `tfe-${kind}` }, el("span", { class: "swatch" }), text);
  const paired = parts.has("row") || parts.has("column") || parts.has("block") || parts.has("summary");
  legend.replaceChildren(
    ...(now.surprise || allGiven ? [] : [el("span", { class: "tfe-out" }, el("span", { class: "swatch is-full" }), t(TEXT.out))]),
    ...(now.surprise ? [el("span", {}, `${t(TEXT.surpriseScale)} 0`, el("span", { class: "tfe-scale surprise" }), `${worst}+`)] : []),
    ...(looking
      ? [
          el("span", { class: "tfe-query" }, el("span", { class: "swatch is-full" }), t(TEXT.query)),
          ...(now.roll ? [swatch("key", t(TEXT.reaches))] : parts.size ? [swatch("key", t(paired ? TEXT.first : TEXT.may))] : []),
          ...(parts.has("column") || parts.has("summary") ? [swatch("digits-second", t(TEXT.second))] : []),
          ...(ends.length ? [el("span", { class: "tfe-digits-weight" }, `${t(now.roll ? TEXT.rollout : TEXT.weight)} 0`, el("span", { class: "tfe-digits-scale" }), ends.join(" · "))] : []),
        ]
      : []),
  );
}

/** What each model paid, and the places that the locked pixel looks at most, model by model. */
export function drawTable(sheet, { seen, side, now, shown, position }) {
  const th = (text, scope = "col") => el("th", { scope, text });
  const made = (caption, head, rows) => el("table", { class: "tfe-table" }, el("caption", { class: "tfe-note", text: caption }), el("thead", {}, el("tr", {}, head.map((text) => th(text)))), el("tbody", {}, rows));
  const costs = made(
    t(TEXT.captionCosts),
    [t(TEXT.model), t(TEXT.given), t(TEXT.made), t(TEXT.wholeCost)],
    seen.map((model, i) => el("tr", {}, th(t(model.name), "row"), ["given", "made", "whole"].map((what) => el("td", { class: i === now.index ? "here" : null, text: nats(model.cost[what]) })))),
  );
  sheet.setAttribute("aria-label", t(TEXT.captionCosts));
  const looks = seen.map((model, i) => {
    const { weights, mask } = shown[i];
    if (position === null || !weights) return [];
    return Array.from(weights.keys()).filter((p) => mask[p]).sort((a, b) => weights[b] - weights[a]).slice(0, TOP).map((p) => [place(side, p), weight(weights[p])]);
  });
  const most = Math.max(0, ...looks.map((each) => each.length));
  if (!most) {
    sheet.replaceChildren(costs);
    return;
  }
  const what = now.roll ? `${t(TEXT.rollout)}, ${t(TEXT.through, { n: now.roll })}` : `${t(TEXT.oneHead, { head: `${now.layer}·${now.head}` })}, ${factorName(seen[now.index].factors[now.layer - 1][now.head - 1])}`;
  const rows = Array.from({ length: most }, (_, n) => el("tr", {}, th(String(n + 1), "row"), looks.flatMap((each, i) => [0, 1].map((k) => el("td", { class: i === now.index ? "here" : null, text: each[n]?.[k] ?? "" })))));
  sheet.replaceChildren(costs, made(t(TEXT.captionLook, { q: place(side, position), what }), [t(TEXT.rank), ...seen.flatMap((model) => [t(TEXT.pixelOf, { name: t(model.name) }), t(TEXT.weightOf, { name: t(model.name) })])], rows));
}

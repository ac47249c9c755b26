// Where a word stands: the signal as a picture, how alike two positions are, and the sentence with its words shuffled.

import { unpack } from "./lib/arrays.js";
import { clear, el, segmented } from "./lib/dom.js";
import { folded } from "./lib/folded.js";
import { t } from "./lib/lang.js";
import { shown } from "./lib/maps.js";
import { nested } from "./lib/nested.js";
import { view } from "./lib/state.js";
import { dark, onTheme } from "./lib/theme.js";

const digits = (value) => Math.round(value * 1e4) / 1e4;

/** props: see positions.py. Event: ask({run, wish: {order}}). */
export function mount(root, props, emit, watch) {
  const w = (name) => t(props.texts[name]);
  const chosen = (key, other) => (view.get(key) === other ? other : null);
  const order = () => {
    const number = Number(view.get("order"));
    return Number.isInteger(number) && number >= 1 && number <= 9999 ? number : 1;
  };
  let now = null; // the value in view, with its numbers unpacked

  const intro = el("p", { class: "tfe-note" });
  const shape = segmented({ options: [], value: "own", label: "", onPick: (key) => view.set({ signal: key === "own" ? null : key }) });
  const alike = segmented({ options: [], value: "curve", label: "", onPick: (key) => view.set({ alike: key === "curve" ? null : key }) });
  const picture = nested(props.plotly, "tfe-positions-picture");
  const similar = nested(props.plotly, "tfe-positions-alike");
  const moved = nested(props.plotly, "tfe-positions-moved");

  const heading = el("h3", { class: "tfe-title" });
  const plainName = el("span", { class: "tfe-label" });
  const shuffledName = el("span", { class: "tfe-label" });
  const plain = el("p", { class: "tfe-positions-words", lang: "en" });
  const mixed = el("p", { class: "tfe-positions-words", lang: "en" });
  const again = el("button", { type: "button", class: "tfe-button small", onclick: () => view.set({ order: (order() % 9999) + 1 }) });
  const rows = el("div", { class: "tfe-scroll", tabindex: "0", role: "region" });
  const decoder = el("p", { class: "tfe-note" });

  const panel = folded({
    root,
    key: "positions",
    title: props.texts.title,
    body: [
      intro,
      el("div", { class: "tfe-row tfe-controls" }, shape.node, alike.node, el("span", { class: "tfe-legend" }, el("span", {}, el("span", { text: "−1" }), el("span", { class: "tfe-scale signed" }), el("span", { text: "1" })))),
      el("div", { class: "tfe-positions-signal" }, picture.node, similar.node),
      heading,
      el("div", { class: "tfe-positions-orders" }, plainName, plain, shuffledName, mixed),
      el("div", { class: "tfe-row" }, again),
      rows,
      decoder,
      moved.node,
    ],
    props,
    watch,
    emit,
    wish: () => ({ order: order() }),
    draw: (value) => unpacked(value).then(() => props.value === value && draw(value)),
  });

  async function unpacked(value) {
    if (now?.value === value) return;
    const arrays = {};
    for (const [name, one] of Object.entries(value.shapes)) arrays[name] = await unpack(one.signal);
    now = { value, arrays };
  }

  /** A value of the figure widget with the numbers of a (row × column) table, and the scale of the theme. */
  function filled(value, numbers, column) {
    const out = structuredClone(value);
    for (const one of Object.values(out.figures)) Object.assign(one.data[0], { z: numbers, colorscale: props.scales[dark() ? "dark" : "light"] });
    out.table = { columns: [out.table.columns[0], ...numbers[0].map((_, i) => column(i))], rows: numbers.map((row, i) => [i, ...row]) };
    return out;
  }

  function drawSignal() {
    if (!now) return;
    const name = chosen("signal", "textbook") ?? "own";
    const one = now.value.shapes[name];
    const array = now.arrays[name];
    const [length, d] = array.shape;
    const plainName_ = (i) => ({ en: String(i), zh: String(i) });
    const numbers = Array.from({ length }, (_, p) => Array.from(array.slice(p), digits));
    picture.set(filled(one.picture, numbers, plainName_));
    if (chosen("alike", "map")) {
      const pairs = Array.from({ length }, (_, p) => Array.from({ length }, (__, q) => digits(one.similarity[Math.abs(p - q)])));
      similar.set(filled(one.map, pairs, plainName_));
    } else similar.set(one.curve);
    root.dataset.shape = `${length} × ${d}`;
    shape.set({ value: name, label: w("shape"), options: ["own", "textbook"].map((key) => ({ key, label: w(key) })) });
    alike.set({ value: chosen("alike", "map") ?? "curve", label: w("alike"), options: ["curve", "map"].map((key) => ({ key, label: w(key) })) });
  }

  function tile(value, i, at, moved_) {
    const joined = i > 0 && !value.source.space[at];
    return el("span", { class: `tfe-token${moved_ ? " key" : ""}${joined ? " joined" : ""}` }, el("bdi", { text: shown(value.source.pieces[at]) }), el("span", { class: "index", text: String(at) }));
  }

  function draw(value) {
    intro.textContent = w("intro");
    drawSignal();
    heading.textContent = w("shuffle");
    plainName.textContent = w("plain");
    shuffledName.textContent = w("shuffled");
    again.textContent = w("again");
    clear(plain).append(...value.source.pieces.map((_, i) => tile(value, i, i, false)));
    clear(mixed).append(...value.order.map((at, i) => tile(value, i, at, at !== i)));
    rows.setAttribute("aria-label", w("shuffle"));
    rows.replaceChildren(
      el(
        "table",
        { class: "tfe-table tfe-positions-table" },
        el("thead", {}, el("tr", {}, ["read", "largest", "before", "after"].map((name) => el("th", { scope: "col", class: name === "largest" ? null : "text", text: w(name) })))),
        el(
          "tbody",
          {},
          value.rows.map((row) =>
            el(
              "tr",
              { "data-name": row.name },
              el("th", { scope: "row", text: w(row.name) }),
              el("td", { class: "tfe-positions-largest", text: row.largest }),
              el("td", { class: "text", lang: "de", text: row.before }),
              el("td", { class: `text${row.before === row.after ? "" : " tfe-positions-other"}`, lang: "de", text: row.after }),
            ),
          ),
        ),
      ),
    );
    decoder.textContent = w("decoder");
    moved.set(value.distances);
  }

  view.on(["signal", "alike"], drawSignal);
  view.on(["order"], () => panel.ask());
  onTheme(drawSignal);
}

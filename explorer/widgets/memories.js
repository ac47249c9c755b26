// What memory buys: loss against the length of the memory, and where along the text it is felt, the memory chosen by a slider.

import { unpack } from "./lib/arrays.js";
import { el } from "./lib/dom.js";
import { folded } from "./lib/folded.js";
import { onLang, t } from "./lib/lang.js";
import { nested } from "./lib/nested.js";
import { judge, request, view } from "./lib/state.js";

/** props: see memories.py. Event: ask({run, wish}). */
export function mount(root, props, emit, watch) {
  let value = null;
  let rows = null; // {data, shape}
  const label = el("label", { class: "tfe-label", for: "tfe-memories-memory" });
  const told = el("output", { for: "tfe-memories-memory" });
  const slider = el("input", { id: "tfe-memories-memory", class: "tfe-range", type: "range", min: "0", step: "1" });
  slider.addEventListener("input", () => view.set({ bmemory: value.memories[Number(slider.value)] }));
  const knob = el("div", { class: "tfe-memories-knob tfe-controls" }, label, slider, told);
  const along = nested(props.plotly);
  const felt = el("div", { class: "tfe-memories-along" }, knob, along.node);
  const others = el("div", { class: "tfe-memories-others" });
  const drawn = [];
  folded({ root, key: "memories", title: props.title_text, body: [felt, others], props, watch, emit, draw: take });

  async function take(next) {
    if (next !== value) {
      value = next;
      rows = null;
      const found = await unpack(next.rows);
      if (value !== next) return;
      rows = found;
    }
    while (drawn.length < value.figures.length) {
      drawn.push(nested(props.plotly));
      others.append(drawn.at(-1).node);
    }
    drawn.forEach((figure, i) => figure.set(value.figures[i] ?? null));
    felt.hidden = value.along === null;
    slider.max = String(value.memories.length - 1);
    paint();
  }

  const chosen = () => {
    const at = value.memories.indexOf(Number(view.get("bmemory") ?? value.trained));
    return at < 0 ? value.memories.indexOf(value.trained) : at;
  };

  function paint() {
    label.textContent = t(props.knob_text);
    if (!value || !rows || !value.along) return;
    judge({ bmemory: (text) => value.memories.includes(Number(text)) }, request.get());
    const at = chosen();
    slider.value = String(at);
    slider.style.setProperty("--at", `${(100 * at) / Math.max(1, value.memories.length - 1)}%`);
    told.textContent = value.memories[at].toLocaleString("en-US");
    const points = rows.shape[1];
    const curve = Array.from(rows.data.slice(at * points, (at + 1) * points));
    const figures = Object.fromEntries(
      Object.entries(value.along.figures).map(([language, figure]) => [
        language,
        { ...figure, data: figure.data.map((trace, i) => (i === 1 ? { ...trace, y: curve } : trace)) },
      ]),
    );
    const table = { ...value.along.table, rows: value.along.table.rows.map((row, i) => [...row.slice(0, -1), Number(curve[i].toFixed(3))]) };
    along.set({ ...value.along, figures, table, sentence: value.told[at] });
  }

  view.on(["bmemory"], paint);
  onLang(paint);
}

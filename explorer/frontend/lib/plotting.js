// What the Plotly figures of several pictures have in common: scales, titles of parts, axes.

import { upTo } from "./arrays.js";
import { shade } from "./pen.js";

const STOPS = 9; // of a scale

/** The scale of weights from 0 to 1, as Plotly takes it. */
export const weightScale = () =>
  upTo(STOPS, (at) => [at / (STOPS - 1), shade("weights", at / (STOPS - 1))]);

/** An axis without a line, grid and ticks. */
export const BARE = {
  showline: false,
  showgrid: false,
  zeroline: false,
  ticks: "",
  showticklabels: false,
};

/** An axis that names its places, every so many. */
export const namedAxis = (names, size, every = 1) => ({
  tickvals: upTo(names.length).filter((at) => at % every === 0),
  ticktext: names.filter((_, at) => at % every === 0),
  tickfont: { size },
  showline: false,
  showgrid: false,
  zeroline: false,
});

/** The title of a part of a figure, above its left end. x, y: in shares of the paper. */
export const partTitle = (text, x, y, size) => ({
  text,
  x,
  y,
  xref: "paper",
  yref: "paper",
  xanchor: "left",
  yanchor: "bottom",
  showarrow: false,
  font: { size, color: "var(--ink2)" },
});

/** The frame of what is locked. */
export const lockFrame = (axis, x0, x1, y0, y1) => ({
  type: "rect",
  xref: `x${axis}`,
  yref: `y${axis}`,
  x0,
  x1,
  y0,
  y1,
  line: { color: "var(--query)", width: 2 },
});

/** A chip for each head, "1·3" for "1.3". */
export const headChoice = (label, heads) => ({
  key: "head",
  label,
  options: heads.map((value) => ({ value, label: headName(value) })),
});
export const headName = (head) => head.replace(".", "·");

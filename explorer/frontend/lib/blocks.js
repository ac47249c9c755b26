// Blocks of a Plotly figure: rectangles anywhere in a subplot, all of them one trace of bars.

const NONE = "rgba(0,0,0,0)";

/**
 * The trace of some blocks, {at, from, to, wide, fill, line, width, hatch, alpha, text, ink} each:
 * `at` is the middle of its width, hatch the colour of its stripes, ink that of its text. upright:
 * `from` and `to` are heights, else lengths; size: of the texts.
 */
export function blocks(list, { upright = true, size = 12, face = "ui", ...more } = {}) {
  const each = (key, other) => list.map((one) => one[key] ?? other);
  const [across, along] = upright ? ["x", "y"] : ["y", "x"];
  const hatched = list.some(({ hatch }) => hatch);
  const pattern = {
    shape: list.map(({ hatch }) => (hatch ? "/" : "")),
    bgcolor: "var(--panel)",
    size: 5,
    solidity: 0.4,
  };
  return {
    type: "bar",
    orientation: upright ? "v" : "h",
    [across]: each("at"),
    [along]: list.map(({ from, to }) => to - from),
    base: each("from"),
    width: each("wide", 1),
    cliponaxis: false,
    text: each("text", ""),
    textposition: "inside",
    insidetextanchor: "middle",
    textangle: 0,
    constraintext: "none",
    textfont: {
      size,
      color: each("ink", "var(--ink)"),
      weight: 600,
      family: `var(--font-${face})`,
    },
    marker: {
      opacity: each("alpha", 1),
      color: list.map(({ hatch, fill }) => hatch ?? fill ?? NONE),
      line: { color: each("line", NONE), width: each("width", 0) },
      ...(hatched && { pattern }),
    },
    ...more,
  };
}

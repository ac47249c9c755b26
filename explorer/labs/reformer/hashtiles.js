// The tokens of hashing as tiles in the colours of their buckets, and what stands beside them: of
// the sheet of a Plotly figure, and on their way from one step to another by the pen, which is
// quick enough for every frame.

import { blocks } from "../../frontend/lib/blocks.js";
import { colour, ink } from "../../frontend/lib/pen.js";
import { shown } from "../../frontend/lib/signs.js";

const SET = 10; // colours that stay apart; buckets beyond wear another pattern
export const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

const styles = new Map(); // by number and theme
/**
 * How a bucket looks: {line, fill, flat, ink, kind}; kind: full, ringed, pale, a corner cut off.
 */
export function styleOf(bucket) {
  const key = `${bucket} ${colour("panel")}`;
  if (!styles.has(key)) {
    const [line, kind] = [`cat-${(bucket % SET) + 1}`, Math.floor(bucket / SET) % 4];
    const fill = [line, "panel", colour(line, 0.3), line][kind];
    styles.set(key, {
      line,
      fill,
      kind,
      flat: [line, colour(line, 0.75), colour(line, 0.5), line][kind],
      ink: kind % 3 ? "ink" : ink(line),
    });
  }
  return styles.get(key);
}

export const SPOT = { round: 0, alpha: 1 };

/**
 * One token on its way, drawn by the pen: a tile or a dot. spot: {x, y, w, h, alpha, round}, its
 * upper left corner.
 */
export function token(s, i, { x, y, w, h, round, alpha }) {
  const { line, fill, flat, kind, ink: colour_ } = styleOf(s.round.buckets[i]);
  const edge = kind % 3 && w >= 4 ? { line, width: Math.min(2.2, w / 7) } : {};
  s.rect(x, y, w, h, { fill: w < 4 ? flat : fill, radius: (w / 2) * round, alpha, ...edge });
  if (w < (s.big ? 13 : 9.5) || (round > 0.5 && w < 14)) return;
  const how = { size: letterSize(s, w, h), face: "mono", weight: 600, align: "center" };
  s.pen.text(x + w / 2, y + h / 2, shown(s.run.tokens[i]), { ...how, colour: colour_, alpha });
}
const letterSize = ({ big, pen }, w, h) =>
  pen.type(clamp(Math.min(h * 0.66, w * 0.98), 12, big ? 30 : 20));
/** A token of the theme, or a colour, as a figure takes it. */
export const css = (name) => (/^[#r]/.test(name) ? name : `var(--${name})`);

/**
 * A box of px, {x, y, w, h}, as [x0, x1, y0, y1] in data of a part, so many px larger on every
 * side.
 */
export function inData(part, { x, y, w, h }, by = 0) {
  const xs = [part.backX(x - by), part.backX(x + w + by)];
  return [...xs, ...[part.backY(y - by), part.backY(y + h + by)].sort((a, b) => a - b)];
}

/** Tiles of a part, {x, y, w, h, fill, …} each in px, as blocks in its data. */
export function tilesIn(part, list, more) {
  part.add(blocks(
    list.map(({ x, y, w, h, ...style }) => {
      const [x0, x1, y0, y1] = inData(part, { x, y, w, h });
      return { at: (x0 + x1) / 2, wide: x1 - x0, from: y0, to: y1, ...style };
    }),
    more,
  ));
}

/**
 * Texts that follow the zoom of a part: [x, y of their middle, text, style] each, in px. Those in
 * the colour of a role are notes of their own: they change while one points, and the trace of the
 * others is not drawn anew for that.
 */
export function notesIn(part, list, size) {
  const isRole = ([, , , { colour: name } = { colour: "" }]) => ["query", "key"].includes(name);
  for (const [x, y, text, style] of list.filter(isRole)) {
    part.note(part.backX(x), part.backY(y), String(text), {
      ...{ size, align: "center", ground: "panel" },
      ...style,
    });
  }
  const plain = list.filter((one) => !isRole(one));
  const styles = plain.map(([, , , style]) => ({ align: "center", ...style }));
  part.add({
    type: "scatter",
    mode: "text",
    cliponaxis: false,
    x: plain.map(([x]) => part.backX(x)),
    y: plain.map(([, y], n) => part.backY(y + LIFT * (styles[n].size ?? size))),
    text: plain.map(([, , text]) => String(text)),
    textposition: styles.map(({ align }) => ALIGN[align]),
    textfont: {
      size: styles.map((style) => style.size ?? size),
      color: styles.map(({ colour: name = "ink2" }) => css(name)),
      weight: styles.map(({ weight = 400 }) => weight),
      family: styles.map(({ face = "ui" }) => `var(--font-${face})`),
    },
  });
}
const LIFT = 0.11; // of the size of a text, from the middle of its letters to that of Plotly's line
const ALIGN = { left: "middle right", center: "middle center", right: "middle left" };

/**
 * Tokens of a part in the colours of their buckets, with what is locked in a ring. list: [position,
 * spot]
 */
export function tokensIn(s, part, list) {
  const { big, run, round, position, partner } = s;
  const styled = list.map(([i, spot]) => ({ i, spot, ...styleOf(round.buckets[i]) }));
  const { w, h } = list[0][1];
  tilesIn(
    part,
    styled.map(({ spot, line, fill, flat, kind }) => ({
      ...spot,
      fill: css(w < 4 ? flat : fill),
      ...(kind % 3 && w >= 4 && { line: css(line), width: Math.min(2.2, w / 7) }),
    })),
  );
  const letter = { size: letterSize(s, w, h), face: "mono", weight: 600 };
  const letters = styled.map(({ i, spot, ink: name }) => [
    spot.x + w / 2,
    spot.y + h / 2,
    shown(run.tokens[i]),
    { ...letter, colour: colour(name, Math.min(1, spot.alpha + 0.15)) },
  ]);
  if (w >= (big ? 13 : 9.5)) notesIn(part, letters, letter.size);
  const corners = styled.filter(({ kind }) => kind === 3 && w >= 8).map(({ spot }) => {
    const [x0, x1] = [0.7, 1].map((share) => part.backX(spot.x + share * w));
    const [y0, y1] = [0, 0.3].map((share) => part.backY(spot.y + share * h));
    return `M${x0},${y0}H${x1}V${y1}Z`;
  });
  if (corners.length) part.shape({ type: "path", path: corners.join("") }, { fill: "panel" });
  for (const [i, spot] of list) {
    if (s.locked.includes(i) && i !== position) ring(s, part, spot, "query", 0.75);
    if (i === s.key && i !== partner) ring(s, part, spot, "key", 0.75);
  }
  for (const [i, role] of told(s)) {
    const spot = list.find(([one]) => one === i)?.[1];
    if (spot) ring(s, part, spot, role);
  }
}

/** A ring around a tile in the colour of its role; where tiles are thin, a bar. */
function ring(s, part, spot, role, alpha = 1) {
  if (spot.w < 4) {
    part.rect(...inData(part, spot, 1), { fill: role, alpha });
    return;
  }
  const [far, width] = [clamp(spot.w / 6, 1.5, 3) + 1, s.big ? 4 : 2.6];
  const [outer, inner] = [inData(part, spot, far + 0.6), inData(part, spot, far)];
  part.rect(...outer, { line: "panel", width: width + 2.5, radius: far + 4 });
  part.rect(...inner, { line: role, width, radius: far + 4, alpha });
}

/**
 * A part whose columns and rows, counted from 0, fill a box of px, with so many px around it for
 * what stands beside them; a strip of one row keeps its height under zoom.
 */
export function partAround({ sheet }, { x, y, w, h }, [columns, rows], around = {}) {
  const { left = 4, right = 4, top = 4, bottom = 4 } = around;
  const [wide, high] = [w / columns, h / rows];
  return sheet.part({ x0: x - left, x1: x + w + right, y0: y - top, y1: y + h + bottom }, {
    x: { range: [-0.5 - left / wide, columns - 0.5 + right / wide] },
    y: { range: [-0.5 - top / high, rows - 0.5 + bottom / high], fixedrange: rows === 1 },
  });
}

/**
 * What stands above a part of the picture: strongly what it is, and more where there is room. y:
 * the foot of its letters; put: what writes it.
 */
export function caption(s, x, y, strong, rest = "", room = s.width - x, put = s.text) {
  const wide = s.pen.measure(strong, { size: s.size, weight: 650 });
  put.call(s, x, y, strong, { weight: 650, colour: "ink", room });
  const gap = s.size * 0.75;
  if (rest && wide + gap + s.pen.measure(rest, { size: s.size }) <= room) {
    put.call(s, x + wide + gap, y, rest, { colour: "ink3" });
  }
}

/**
 * The position and its partner, where they are there: [position, role], the one that is told of
 * last.
 */
export const told = (s) => [[s.partner, "key"], [s.position, "query"]].filter(([i]) => i !== null);
export const roleOf = (s, i) => (i === s.position ? "query" : i === s.partner ? "key" : null);

// One digit on a canvas: what was given and what was made, what a pixel could look at and how hard it looked, or what each pixel cost.
// Nothing here touches another module but pixels.js, so that a saved page can carry these functions along.

import { around, enlarge, rgb } from "./pixels.js";

/**
 * The colour of every pixel, side × side × RGBA.
 * @param {any} how side, symbols, given (how many), upto (positions from here on are not made), locked (position or null), mask (by
 *   position, 1 where it may look; null: nothing is sunk), weights (by position, or null), most, nats (or null), worst, colours (256 × 3 of
 *   the surprise scale), tokens {ground, sunk, ink, "out-soft", out, key, query}
 */
export function colourDigit(how) {
  const { side, symbols, given, upto, locked, mask, weights, most, nats, worst, colours, tokens } = how;
  const out = new ImageData(side, side);
  const colour = Object.fromEntries(["ground", "sunk", "ink", "out-soft", "out", "key"].map((name) => [name, rgb(tokens[name])]));
  const mix = (a, b, part) => a.map((x, k) => x + (b[k] - x) * part);
  for (let p = 0; p < side * side; p += 1) {
    const [ground, ink] = p < given ? [colour.ground, colour.ink] : [colour["out-soft"], colour.out];
    const later = locked !== null && p > locked;
    let shown;
    if (p >= upto) shown = colour.sunk;
    else if (nats) {
      const at = 3 * Math.max(0, Math.min(255, Math.round((255 * nats[p]) / worst)));
      shown = [colours[at], colours[at + 1], colours[at + 2]];
    } else if (later) shown = symbols[p] ? mix(colour.sunk, ink, 0.2) : colour.sunk;
    else if (mask && !mask[p]) shown = symbols[p] ? mix(colour.sunk, ink, 0.42) : colour.sunk;
    else {
      shown = symbols[p] ? ink : ground;
      if (weights && most > 0) shown = mix(shown, colour.key, 0.92 * Math.sqrt(Math.min(1, weights[p] / most)));
    }
    out.data.set([...shown.map(Math.round), 255], 4 * p);
  }
  return out;
}

/** Positions whose weight covers the pixel so far that its own colour is repeated in its middle. */
export function covered({ side, weights, most, mask, nats, locked, upto }) {
  const found = [];
  if (!weights || !(most > 0) || nats) return found;
  for (let p = 0; p < side * side && p < upto && p <= locked; p += 1) if (p !== locked && (!mask || mask[p]) && weights[p] / most > 0.3) found.push(p);
  return found;
}

/**
 * Draws it. @param {CanvasRenderingContext2D} context whose unit is a CSS pixel
 * @param {any} how what `colourDigit` takes, and: cell (side of a pixel), edges [{mask, colour}] of what may be looked at, ghost (by position,
 *   1 where the digit that was given has ink, or null), others (positions locked beside), hover and best (positions or null)
 */
export function drawDigit(context, how) {
  const { side, cell, symbols, given, upto, locked, nats, edges, ghost, others, hover, best, tokens } = how;
  const size = side * cell;
  context.save();
  context.beginPath();
  context.roundRect(0, 0, size, size, 4);
  context.clip();
  enlarge(context, colourDigit(how), 0, 0, size, size);
  const spot = (p) => [(p % side) * cell, Math.floor(p / side) * cell];
  const scaled = (text) => {
    const path = new Path2D();
    path.addPath(new Path2D(text), new DOMMatrix([cell, 0, 0, cell, 0, 0]));
    return path;
  };
  if (cell >= 3) {
    // What is not made is not blank: dots on the ground.
    const dot = Math.max(1, Math.round(cell / 9));
    context.fillStyle = tokens.control;
    for (let p = 0; p < side * side; p += 1) {
      if (p < upto && (nats || locked === null || p <= locked)) continue;
      context.globalAlpha = p < upto ? 0.35 : 0.7;
      const [x, y] = spot(p);
      context.fillRect(x + cell / 2 - dot / 2, y + cell / 2 - dot / 2, dot, dot);
    }
    context.globalAlpha = 1;
  }
  const inner = Math.max(2, Math.round(cell * 0.4));
  for (const p of covered(how)) {
    const [x, y] = spot(p);
    context.fillStyle = p < given ? (symbols[p] ? tokens.ink : tokens.ground) : symbols[p] ? tokens.out : tokens["out-soft"];
    context.fillRect(x + (cell - inner) / 2, y + (cell - inner) / 2, inner, inner);
  }
  const outline = (mask, colour, line, halo) => {
    const paths = around(mask, side, side);
    context.save();
    context.clip(scaled(paths.fill)); // inside its own pixels: neighbours keep theirs
    context.lineCap = "square";
    for (const [stroke, width] of [...(halo ? [[halo, line + 1]] : []), [colour, line]]) {
      context.strokeStyle = stroke;
      context.lineWidth = 2 * width;
      context.stroke(scaled(paths.edge));
    }
    context.restore();
  };
  if (nats) outline(Uint8Array.from(symbols, (ink, p) => (ink && p < upto ? 1 : 0)), tokens.ink2, 1, null);
  for (const { mask, colour } of edges) outline(mask, colour, Math.max(1.25, cell / 7), null);
  if (ghost) outline(ghost, tokens.ink, Math.max(1.5, cell / 6), tokens.panel);
  if (given > 0 && given < side * side) {
    const y = (given / side) * cell;
    for (const [stroke, width] of [[tokens.panel, 4.5], [tokens.ink, 2]]) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(0, y);
      context.lineTo(size, y);
      context.stroke();
    }
  }
  const box = (p, colour, line) => {
    const [x, y] = spot(p);
    for (const [stroke, width] of [[tokens.panel, line + 2], [colour, line]]) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.strokeRect(x - 0.5, y - 0.5, cell + 1, cell + 1);
    }
  };
  const thick = Math.max(2, cell / 5);
  for (const p of others) box(p, tokens.query, thick * 0.7);
  if (best !== null && best !== locked) box(best, tokens.key, thick);
  if (locked !== null && nats) box(locked, tokens.query, thick); // what it cost stays in view
  else if (locked !== null) {
    const [x, y] = spot(locked);
    context.fillStyle = tokens.panel;
    context.fillRect(x - 1.5, y - 1.5, cell + 3, cell + 3);
    context.fillStyle = tokens.query;
    context.fillRect(x, y, cell, cell);
  }
  if (hover !== null && hover !== locked) box(hover, tokens.query, thick * 0.7);
  context.restore();
  context.strokeStyle = tokens.control;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(0.5, 0.5, size - 1, size - 1, 4);
  context.stroke();
}

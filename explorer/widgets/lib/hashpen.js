// One pen for the screen and for what leaves the page: the same calls draw on a canvas, or write SVG.

import { svg } from "./dom.js";
import { css } from "./theme.js";

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", "Noto Sans Mono", "DejaVu Sans Mono", monospace';
const NAMES = ["paper", "panel", "sunk", "line", "control", "ink", "ink2", "ink3", "accent", "accent-soft", "query", "query-soft", "key", "key-soft", "out", "out-soft"];
const SET = 10; // colours that stay apart; buckets beyond wear another pattern

const channels = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
const hex = (rgb) => `#${rgb.map((one) => Math.round(one).toString(16).padStart(2, "0")).join("")}`;
export const mix = (a, b, part) => {
  const [x, y] = [channels(a), channels(b)];
  return hex(x.map((one, c) => one + (y[c] - one) * part));
};
const bright = (colour) => {
  const [r, g, b] = channels(colour).map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

/** The colours of the moment: tokens by name, and of each bucket {line, fill, ink, hatch}. */
export function palette() {
  const out = Object.fromEntries(NAMES.map((name) => [name, css(`--${name}`)]));
  const set = Array.from({ length: SET }, (_, n) => css(`--cat-${n + 1}`));
  const made = new Map();
  out.bucket = (number) => {
    if (!made.has(number)) {
      const line = set[number % SET];
      const kind = Math.floor(number / SET) % 4; // full, ringed, pale, hatched
      const fill = kind === 1 ? out.panel : kind === 2 ? mix(out.panel, line, 0.3) : line;
      // On a colour whichever of black and white is stronger; both grounds otherwise are close to the panel.
      const ink = kind === 1 || kind === 2 ? out.ink : bright(fill) > 0.179 ? "#000000" : "#ffffff";
      made.set(number, { line, fill, ink, kind, flat: kind === 0 || kind === 3 ? line : mix(out.panel, line, kind === 1 ? 0.75 : 0.5) });
    }
    return made.get(number);
  };
  return out;
}

let ruler = null;
const fontOf = ({ size = 12, weight = 400, mono = false, italic = false }) => `${italic ? "italic " : ""}${weight} ${size}px ${mono ? MONO : SANS}`;

/** How wide a text is, in pixels. */
export function measure(text, how) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = fontOf(how);
  return ruler.measureText(text).width;
}

const box = (x, y, w, h, r) =>
  r <= 0
    ? `M${x} ${y}h${w}v${h}h${-w}z`
    : `M${x + r} ${y}h${w - 2 * r}a${r} ${r} 0 0 1 ${r} ${r}v${h - 2 * r}a${r} ${r} 0 0 1 ${-r} ${r}h${2 * r - w}a${r} ${r} 0 0 1 ${-r} ${-r}v${2 * r - h}a${r} ${r} 0 0 1 ${r} ${-r}z`;

/** Draws on a canvas. @param {CanvasRenderingContext2D} context scaled to CSS pixels */
export function onCanvas(context) {
  const stroke = ({ stroke: colour, width = 1, dash = null, cap = "butt" }) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineCap = cap;
    context.setLineDash(dash ?? []);
  };
  const faded = (alpha, draw) => {
    if (alpha === undefined || alpha === 1) return draw();
    const before = context.globalAlpha;
    context.globalAlpha = before * alpha;
    draw();
    context.globalAlpha = before;
  };
  return {
    rect(x, y, w, h, how) {
      faded(how.alpha, () => {
        context.beginPath();
        if (how.r) context.roundRect(x, y, w, h, Math.min(how.r, w / 2, h / 2));
        else context.rect(x, y, w, h);
        if (how.fill) {
          context.fillStyle = how.fill;
          context.fill();
        }
        if (how.stroke) {
          stroke(how);
          context.stroke();
        }
      });
    },
    path(d, how) {
      faded(how.alpha, () => {
        const path = new Path2D(d);
        if (how.fill) {
          context.fillStyle = how.fill;
          context.fill(path);
        }
        if (how.stroke) {
          stroke(how);
          context.stroke(path);
        }
      });
    },
    text(x, y, text, how) {
      faded(how.alpha, () => {
        context.font = fontOf(how);
        context.textAlign = how.align ?? "left";
        context.textBaseline = "alphabetic";
        if (how.halo) {
          stroke({ stroke: how.halo, width: 4 });
          context.lineJoin = "round";
          context.strokeText(text, x, y);
        }
        context.fillStyle = how.fill;
        context.fillText(text, x, y);
      });
    },
    image(canvas, x, y, w, h) {
      context.imageSmoothingEnabled = false;
      context.drawImage(canvas, x, y, w, h);
    },
    group: faded,
  };
}

/** Writes SVG: {pen, node}. */
export function onPaper(width, height) {
  const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, "font-family": SANS });
  let into = node;
  const shape = ({ fill = "none", stroke, width: w = 1, dash, cap, alpha }) => ({ fill, stroke, "stroke-width": stroke ? w : null, "stroke-dasharray": dash?.join(" "), "stroke-linecap": cap, opacity: alpha });
  const tidy = (x) => Number(x.toFixed(2));
  const pen = {
    rect: (x, y, w, h, how) => into.append(svg("path", { d: box(...[x, y, w, h].map(tidy), tidy(Math.min(how.r ?? 0, w / 2, h / 2))), ...shape(how) })),
    path: (d, how) => into.append(svg("path", { d, ...shape(how) })),
    text(x, y, text, how) {
      const anchor = { left: null, center: "middle", right: "end" }[how.align ?? "left"];
      into.append(
        svg("text", {
          x: tidy(x), y: tidy(y), "font-size": how.size ?? 12, "font-weight": how.weight, "font-family": how.mono ? MONO : null, "font-style": how.italic ? "italic" : null,
          "text-anchor": anchor, fill: how.fill, opacity: how.alpha, stroke: how.halo, "stroke-width": how.halo ? 4 : null, "stroke-linejoin": how.halo ? "round" : null, "paint-order": how.halo ? "stroke" : null, text,
        }),
      );
    },
    image: (canvas, x, y, w, h) => into.append(svg("image", { href: canvas.toDataURL(), x, y, width: w, height: h, preserveAspectRatio: "none", style: { imageRendering: "pixelated" } })),
    group(alpha, draw) {
      const before = into;
      into = svg("g", { opacity: alpha === 1 ? null : alpha });
      before.append(into);
      draw();
      into = before;
    },
  };
  return { pen, node };
}

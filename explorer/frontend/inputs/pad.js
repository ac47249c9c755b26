// A small picture drawn by hand: a sheet of a few hundred pixels, a brush and an eraser, by pointer
// and by keys.

import { el, segmented } from "../lib/dom.js";
import { t } from "../lib/lang.js";
import { css } from "../lib/theme.js";

const TEXT = {
  sheet: {
    en:
      "Drawing, {side} × {side} pixels. Arrows move, Space draws, Delete erases; with Shift they " +
      "go on while you move.",
    zh: "画板，{side} × {side} 像素。方向键移动，空格画，Delete 擦；按住 Shift 移动时连续画。",
  },
  tool: { en: "tool", zh: "工具" },
  brush: { en: "brush", zh: "画笔" },
  eraser: { en: "eraser", zh: "橡皮" },
  size: { en: "width", zh: "粗细" },
  fine: { en: "fine", zh: "细" },
  broad: { en: "broad", zh: "粗" },
  level: { en: "brightness", zh: "亮度" },
  undo: { en: "Undo", zh: "撤销" },
  clear: { en: "Clear", zh: "清空" },
  copy: { en: "Copy the picture", zh: "照搬图片" },
  copyLong: {
    en: "Put the chosen picture on the sheet, to continue from it",
    zh: "把所选图片放到画板上继续画",
  },
  close: { en: "Close", zh: "收起" },
  at: {
    en: "row {row}, column {column}, level {level}",
    zh: "第 {row} 行，第 {column} 列，亮度 {level}",
  },
  keys: {
    en: "arrows move · Space draws · Delete erases · Shift goes on",
    zh: "方向键移动 · 空格画 · Delete 擦 · Shift 连续",
  },
};

const CELL = 10; // pixels of the screen for one of the picture
const WIDTHS = { fine: 0.5, broad: 1.6 }; // radius of the brush, pixels of the picture
const MEMORY = 50; // strokes that can be taken back

/** The tokens that pictures are drawn with. */
export const colours = () => ({
  sunk: css("--sunk"),
  control: css("--control"),
  accent: css("--accent"),
  panel: css("--panel"),
  line: css("--line"),
});

/**
 * Paints a picture on a canvas, `scale` screen pixels for each of its own (1: as it is).
 * @param {HTMLCanvasElement} canvas
 * @param {{levels: ArrayLike<number> | null, side: number, channels?: number, scale?: number,
 * keep?: number | null, tokens?: object}} how
 *   keep: rows that stay; the others are not made yet, and dotted. Without levels nothing is made.
 */
export function paintPicture(
  canvas,
  { levels, side, channels = 1, scale = 1, keep = null, tokens = null },
) {
  const fine = scale === 1 ? 1 : Math.max(1, Math.ceil(window.devicePixelRatio || 1));
  const cell = scale * fine;
  const size = side * cell;
  if (canvas.width !== size) canvas.width = canvas.height = size;
  if (scale > 1) canvas.style.width = canvas.style.height = `${side * scale}px`;
  const context = canvas.getContext("2d");
  const rows = levels ? (keep ?? side) : 0;
  if (levels) {
    const pixels = new ImageData(side, side);
    for (let i = 0; i < side * side; i += 1) {
      for (let c = 0; c < 3; c += 1) {
        pixels.data[4 * i + c] = levels[channels === 1 ? i : channels * i + c];
      }
      pixels.data[4 * i + 3] = 255;
    }
    if (cell === 1) context.putImageData(pixels, 0, 0);
    else {
      const sheet = new OffscreenCanvas(side, side);
      sheet.getContext("2d").putImageData(pixels, 0, 0);
      context.imageSmoothingEnabled = false;
      context.drawImage(sheet, 0, 0, size, size);
    }
  }
  if (rows === side || !tokens) return;
  context.fillStyle = tokens.sunk;
  context.fillRect(0, rows * cell, size, size - rows * cell);
  context.fillStyle = tokens.control;
  const dot = Math.max(1, Math.round(cell / 6));
  for (let row = rows + 1; row < side; row += 2) {
    for (let column = 1; column < side; column += 2) {
      context.fillRect(
        Math.round((column + 0.5) * cell - dot / 2),
        Math.round((row + 0.5) * cell - dot / 2),
        dot,
        dot,
      );
    }
  }
}

/**
 * The sheet with its tools. onDraw(levels) is called after every stroke with a copy of what is
 * drawn.
 * @param {{id: string, side: number, onDraw: (levels: Uint8Array) => void, onClose: () => void,
 * title: {en: string, zh: string},
 *   note?: {en: string, zh: string} | null, white?: boolean, broad?: number}} how title: over the
 *   tools; note: under them. white: there is no brightness to choose, strokes are white with grey
 *   edges. broad: radius of the broad brush, pixels of the picture
 */
export function pad(
  { id, side, onDraw, onClose, title: heading, note = null, white = false, broad = WIDTHS.broad },
) {
  const radii = { ...WIDTHS, broad };
  let levels = new Uint8Array(side * side);
  let past = [];
  let keep = side;
  let given = null; // what “copy” would copy
  let tool = "brush";
  let width = "broad";
  let level = white ? 255 : 220;
  let cursor = { row: Math.floor(side / 4), column: Math.floor(side / 2) };
  let stroke = null; // the last point of the stroke under way

  const sheet = el("canvas", {
    class: "tfe-picture-sheet",
    role: "application",
    tabindex: "0",
    "aria-describedby": `${id}-at`,
  });
  const where = el("p", { id: `${id}-at`, class: "tfe-unseen", "aria-live": "polite" });
  const title = el("p", { class: "tfe-picture-padtitle" });
  const toolPick = segmented({
    options: [],
    value: tool,
    label: "",
    onPick: (key) => set({ tool: key }),
  });
  const widthPick = segmented({
    options: [],
    value: width,
    label: "",
    onPick: (key) => set({ width: key }),
  });
  const bright = el("input", {
    class: "tfe-range",
    type: "range",
    min: 20,
    max: 255,
    step: 5,
    value: level,
    oninput: () => set({ level: Number(bright.value) }),
  });
  const brightName = el("span", { class: "tfe-picture-name" });
  const names = {
    tool: el("span", { class: "tfe-picture-name" }),
    size: el("span", { class: "tfe-picture-name" }),
  };
  const button = (act) => el("button", { type: "button", class: "tfe-button small", onclick: act });
  const undo = button(() => back());
  const wipe = button(() => replace(new Uint8Array(side * side)));
  const copy = button(() => replace(Uint8Array.from(given)));
  const close = button(() => onClose());
  const keyLine = el("p", { class: "tfe-picture-hint" });
  const noteLine = el("p", { class: "tfe-picture-hint", hidden: note === null });
  const node = el(
    "div",
    { id, class: "tfe-picture-pad", role: "group", hidden: true },
    sheet,
    el(
      "div",
      { class: "tfe-picture-tools" },
      title,
      el(
        "div",
        { class: "tfe-picture-toolrow" },
        el("div", { class: "tfe-picture-field" }, names.tool, toolPick.node),
        el("div", { class: "tfe-picture-field" }, names.size, widthPick.node),
        el("label", { class: "tfe-picture-field is-bright", hidden: white }, brightName, bright),
      ),
      el("div", { class: "tfe-picture-toolrow" }, undo, wipe, copy, close),
      noteLine,
      keyLine,
      where,
    ),
  );

  function set(patch) {
    if (patch.tool) tool = patch.tool;
    if (patch.width) width = patch.width;
    if (patch.level) level = patch.level;
    bright.style.setProperty("--at", `${((level - 20) / 235) * 100}%`);
    draw();
  }

  const remember = () => {
    past.push(levels.slice());
    if (past.length > MEMORY) past.shift();
  };
  const told = () => {
    draw();
    onDraw(levels.slice());
  };
  function replace(next) {
    remember();
    levels = next;
    told();
  }
  function back() {
    if (!past.length) return;
    levels = past.pop();
    told();
  }

  /**
   * One touch of the brush around a point, in pixels of the picture. Edges are soft, so that lines
   * look drawn.
   */
  function touch(x, y, erase) {
    const radius = radii[width];
    const reach = Math.ceil(radius + 1);
    for (let row = Math.floor(y) - reach; row <= Math.floor(y) + reach; row += 1) {
      for (let column = Math.floor(x) - reach; column <= Math.floor(x) + reach; column += 1) {
        if (row < 0 || column < 0 || row >= side || column >= side) continue;
        const away = Math.hypot(column + 0.5 - x, row + 0.5 - y);
        const share = width === "fine"
          ? (row === Math.floor(y) && column === Math.floor(x) ? 1 : 0)
          : Math.min(1, Math.max(0, radius + 0.5 - away));
        if (!share) continue;
        const at = row * side + column;
        levels[at] = erase
          ? Math.round(levels[at] * (1 - share))
          : Math.max(levels[at], Math.round(level * share));
      }
    }
  }

  function line(from, to, erase) {
    const steps = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) * 3));
    for (let i = 1; i <= steps; i += 1) {
      touch(from.x + ((to.x - from.x) * i) / steps, from.y + ((to.y - from.y) * i) / steps, erase);
    }
  }

  const point = (event) => {
    const box = sheet.getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) / box.width) * side,
      y: ((event.clientY - box.top) / box.height) * side,
    };
  };
  sheet.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    event.preventDefault();
    sheet.focus({ preventScroll: true });
    sheet.setPointerCapture(event.pointerId);
    remember();
    stroke = point(event);
    touch(stroke.x, stroke.y, tool === "eraser");
    follow(stroke);
  });
  sheet.addEventListener("pointermove", (event) => {
    if (!stroke) return;
    for (const each of event.getCoalescedEvents?.() ?? [event]) {
      const next = point(each);
      line(stroke, next, tool === "eraser");
      stroke = next;
    }
    follow(stroke);
  });
  const lift = () => {
    if (!stroke) return;
    stroke = null;
    told();
  };
  sheet.addEventListener("pointerup", lift);
  sheet.addEventListener("pointercancel", lift);

  function follow({ x, y }) {
    const inside = (value) => Math.min(side - 1, Math.max(0, Math.floor(value)));
    cursor = { row: inside(y), column: inside(x) };
    draw();
  }

  sheet.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      back();
      return;
    }
    const move =
      { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const acts = {
      " ": tool === "eraser",
      Enter: tool === "eraser",
      Delete: true,
      Backspace: true,
    };
    if (!move && !(event.key in acts)) return;
    event.preventDefault();
    event.stopPropagation();
    if (move) {
      const from = { x: cursor.column + 0.5, y: cursor.row + 0.5 };
      follow({ x: from.x + move[1], y: from.y + move[0] });
      if (event.shiftKey) {
        remember();
        line(from, { x: cursor.column + 0.5, y: cursor.row + 0.5 }, tool === "eraser");
        told();
      }
    } else {
      remember();
      touch(cursor.column + 0.5, cursor.row + 0.5, acts[event.key]);
      told();
    }
    where.textContent = t(TEXT.at, {
      row: cursor.row + 1,
      column: cursor.column + 1,
      level: levels[cursor.row * side + cursor.column],
    });
  });
  for (const type of ["focus", "blur"]) sheet.addEventListener(type, () => draw());

  function draw() {
    undo.disabled = past.length === 0;
    wipe.disabled = !levels.some((each) => each > 0);
    copy.disabled = given === null;
    if (node.hidden) return;
    const tokens = colours();
    paintPicture(sheet, { levels, side, scale: CELL });
    const context = sheet.getContext("2d");
    const cell = sheet.width / side;
    // What lies below the kept rows is the models': it may be drawn, but counts for nothing.
    if (keep < side) {
      context.globalAlpha = 0.94;
      context.fillStyle = tokens.sunk;
      context.fillRect(0, keep * cell, sheet.width, sheet.height - keep * cell);
      context.globalAlpha = 1;
      context.fillStyle = tokens.control;
      for (let row = keep + 1; row < side; row += 2) {
        for (let column = 1; column < side; column += 2) {
          context.fillRect((column + 0.5) * cell - 1, (row + 0.5) * cell - 1, 2, 2);
        }
      }
      context.fillStyle = tokens.accent;
      context.fillRect(0, keep * cell - 1, sheet.width, 2);
    }
    if (!sheet.matches(":focus-visible")) return; // keys need to see where they are; a pointer does
    context.lineWidth = Math.max(2, cell / 5);
    context.strokeStyle = "#000";
    context.strokeRect(cursor.column * cell - 1, cursor.row * cell - 1, cell + 2, cell + 2);
    context.lineWidth /= 2;
    context.strokeStyle = "#fff";
    context.strokeRect(cursor.column * cell - 1, cursor.row * cell - 1, cell + 2, cell + 2);
  }

  return {
    node,
    /** levels: to go on from, or null for an empty sheet. */
    open(how) {
      levels = how.levels ? Uint8Array.from(how.levels) : new Uint8Array(side * side);
      past = [];
      this.paint(how);
      sheet.focus({ preventScroll: true });
    },
    /** Texts and figures anew; keep: rows that count, given: what may be copied. */
    paint(how) {
      if ("keep" in how) keep = how.keep;
      if ("given" in how) given = how.given;
      sheet.setAttribute("aria-label", t(TEXT.sheet, { side }));
      node.setAttribute("aria-label", t(heading));
      title.textContent = t(heading);
      noteLine.textContent = t(note);
      names.tool.textContent = t(TEXT.tool);
      names.size.textContent = t(TEXT.size);
      const pick = (keys) => keys.map((key) => ({ key, label: t(TEXT[key]) }));
      toolPick.set({ label: t(TEXT.tool), options: pick(["brush", "eraser"]), value: tool });
      widthPick.set({ label: t(TEXT.size), options: pick(["fine", "broad"]), value: width });
      brightName.textContent = t(TEXT.level);
      undo.textContent = t(TEXT.undo);
      wipe.textContent = t(TEXT.clear);
      copy.textContent = t(TEXT.copy);
      copy.title = t(TEXT.copyLong);
      close.textContent = t(TEXT.close);
      keyLine.textContent = t(TEXT.keys);
      set({});
    },
  };
}

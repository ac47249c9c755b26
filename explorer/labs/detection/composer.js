// A scene in the input bar: a ground and objects on it, dragged, resized and added by the visitor;
// a shape drawn by hand; or a picture file in place of it all. What stands here is written as a
// request carries it (models/detection/records.py).

import { unpack, upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { filled, t } from "../../frontend/lib/lang.js";
import { onPaint } from "../../frontend/lib/theme.js";
import { pad as drawingPad } from "../../frontend/inputs/pad.js";
import { codec } from "../../frontend/inputs/picturebits.js";
import { bringing, read, unfit } from "../../frontend/inputs/picturegive.js";

const TEXT = {
  go: { en: "Find the objects", zh: "寻找物体" },
  sheet: {
    en:
      "Scene of {n} objects. Page Up and Page Down choose one, arrows move it, plus and minus resize it, Delete removes it.",
    zh:
      "含 {n} 个物体的场景。Page Up 与 Page Down 选择物体，方向键移动，加减号改变大小，Delete 删除。",
  },
  kind: { en: "object", zh: "物体" },
  add: { en: "Add", zh: "添加" },
  other: { en: "Another one", zh: "换一个" },
  ink: { en: "Light or dark", zh: "浅或深" },
  front: { en: "To the front", zh: "移到最前" },
  remove: { en: "Remove", zh: "删除" },
  ground: { en: "Other ground", zh: "换背景" },
  draw: { en: "Draw", zh: "画一个" },
  padTitle: { en: "Draw a digit of your own", zh: "自己画一个数字" },
  upload: { en: "Own picture …", zh: "自己的图片……" },
  back: { en: "Back to the scene", zh: "回到场景" },
  readingFile: { en: "Reading …", zh: "正在读……" },
  hint: {
    en: "drag to move · corner to resize · or drop a picture",
    zh: "拖动移动 · 拖角改变大小 · 也可放入图片",
  },
  drop: { en: "Drop the picture here", zh: "把图片放在这里" },
  full: { en: "A scene has up to {n} objects.", zh: "一个场景最多 {n} 个物体。" },
  blank: {
    en: "The sheet is empty: draw a shape, or remove it.",
    zh: "画板是空的：请画一个形状，或删除它。",
  },
};
const SCALE = 3; // pixels of the screen for one of the scene
const GRIP = 5; // pixels of the scene around a corner that resize

/** The part of a picture that stands out from black: {x, y, w, h}. */
function contentOf(levels, side, least) {
  const seen = [...levels.keys()].filter((at) => levels[at] > least);
  if (!seen.length) return null;
  const [xs, ys] = [seen.map((at) => at % side), seen.map((at) => Math.floor(at / side))];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, w: Math.max(...xs) - x + 1, h: Math.max(...ys) - y + 1 };
}

/**
 * @param {any} control of kind "scene", as controls.py draws it
 * @param {{id: string, say: (told: {error?: any, remark?: any}) => void, run: () => void}} how as
 * in input_bar.js
 * @returns a line of the input bar
 */
export function lineOf(control, { id, say, run }) {
  const { side, strokes, most, ink, digits, names, sizes, file, upload } = control.own;
  const bits = codec(true);
  let samples = null; // (kind, sample, row, column), once unpacked
  let grounds = null;
  let scene = { ground: 0, items: [] };
  let shape = null; // the drawn pixels, 0 or 1
  let drawing = ""; // the same as a request carries it
  let picture = ""; // a file in place of the scene
  let image = null; // that file, decoded
  let chosen = -1;
  let held = null; // what the pointer drags
  let reading = null;
  let over = false;

  const button = (act) => el("button", { type: "button", class: "tfe-button small", onclick: act });
  const canvas = el("canvas", { class: "tfe-scene-sheet", tabindex: "0", role: "img" });
  const kindPick = el("select", { class: "tfe-select" });
  const [add, other, tint, front, remove] = [adds, others, inks, fronts, removes].map(button);
  const [ground, draw, back] = [grounds_, draws, backs].map(button);
  const chooser = el("input", {
    type: "file",
    accept: "image/png,image/jpeg,image/webp",
    hidden: true,
  });
  const uploadButton = button(() => chooser.click());
  const hint = el("span", { class: "tfe-scene-hint" });
  const pad = drawingPad({
    id: `${id}-pad`,
    side: strokes,
    onDraw: (levels) => {
      shape = Uint8Array.from(levels, (level) => Number(level >= 128));
      drawing = bits.spelled(shape);
      changed();
    },
    onClose: () => (pad.node.hidden = true),
    title: TEXT.padTitle,
    white: true,
    broad: 1.3,
  });
  pad.node.hidden = true;
  const node = el(
    "div",
    { class: "tfe-scene-composer" },
    canvas,
    el(
      "div",
      { class: "tfe-scene-tools" },
      el("div", { class: "tfe-row tight" }, kindPick, add, draw),
      el("div", { class: "tfe-row tight" }, other, tint, front, remove),
      el("div", { class: "tfe-row tight" }, ground, uploadButton, back, chooser),
      hint,
    ),
    pad.node,
  );

  // ── the scene as text ──
  const spelled = () =>
    [
      scene.ground,
      ...scene.items.map(({ kind, sample, x, y, size, light }) =>
        [kind, sample, x, y, size, Number(light)].join(".")
      ),
    ].join(",");

  function parsed(text) {
    const [first, ...rest] = text.split(",");
    const items = rest.map((one) => {
      const [kind, sample, x, y, size, light] = one.split(".");
      const number = sample === "d" ? "d" : Number(sample);
      return { kind: +kind, sample: number, x: +x, y: +y, size: +size, light: light === "1" };
    });
    return { ground: Number(first) || 0, items: items.filter(({ size }) => size > 0) };
  }

  // ── objects ──
  const levelsOf = ({ kind, sample }) =>
    sample === "d"
      ? (shape ?? new Uint8Array(strokes ** 2)).map((one) => one * 255)
      : samples?.slice(kind, sample);
  const isInk = ({ kind }) => kind < digits;

  /** {x, y, w, h} of an object on the scene. */
  function boxOf(item) {
    const levels = levelsOf(item);
    const part = levels && contentOf(levels, strokes, isInk(item) ? 60 : 12);
    const { w, h } = part ?? { w: 1, h: 1 };
    const scale = item.size / Math.max(w, h);
    return {
      part,
      x: item.x,
      y: item.y,
      w: Math.max(2, Math.round(w * scale)),
      h: Math.max(2, Math.round(h * scale)),
    };
  }

  function adds() {
    if (scene.items.length >= most) return say({ error: filled(TEXT.full, { n: most }) });
    const at = 8 + ((scene.items.length * 17) % (side - 44));
    scene.items.push({
      kind: Number(kindPick.value),
      sample: 0,
      x: at,
      y: at,
      size: 28,
      light: true,
    });
    chosen = scene.items.length - 1;
    return changed();
  }
  /** The next sample of the chosen object's kind. */
  function others() {
    const item = scene.items[chosen];
    item.sample = item.sample === "d" ? 0 : (item.sample + 1) % samples.shape[1];
    changed();
  }
  function inks() {
    scene.items[chosen].light = !scene.items[chosen].light;
    changed();
  }
  function fronts() {
    scene.items.push(...scene.items.splice(chosen, 1));
    chosen = scene.items.length - 1;
    changed();
  }
  function removes() {
    scene.items.splice(chosen, 1);
    chosen = -1;
    changed();
  }
  function grounds_() {
    scene.ground = (scene.ground + 1) % (grounds?.shape[0] ?? 1);
    changed();
  }
  function backs() {
    [picture, image] = ["", null];
    changed();
  }
  /** A digit of the visitor's own hand, of the kind that is chosen in the menu. */
  function draws() {
    const kind = Math.min(Number(kindPick.value), digits - 1);
    if (!scene.items.some(({ sample }) => sample === "d")) {
      scene.items.push({ kind, sample: "d", x: 34, y: 34, size: 32, light: true });
    }
    chosen = scene.items.findIndex(({ sample }) => sample === "d");
    scene.items[chosen].kind = kind;
    pad.node.hidden = false;
    pad.open({ levels: shape && shape.map((one) => one * 255), given: null, keep: 0 });
    changed();
  }
  let resting = 0;
  /** Once the hand rests, the network is asked. */
  function changed() {
    self.paint();
    say({});
    clearTimeout(resting);
    resting = setTimeout(() => !held && !reading && !self.refusal() && run(), 300);
  }

  // ── the pointer ──
  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [
      ((event.clientX - box.left) / box.width) * side,
      ((event.clientY - box.top) / box.height) * side,
    ];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (picture) return;
    const [x, y] = placeOf(event);
    const hit = (one) => {
      const box = boxOf(one);
      return x >= box.x - 2 && x <= box.x + box.w + 2 && y >= box.y - 2 && y <= box.y + box.h + 2;
    };
    const grip = chosen >= 0 && boxOf(scene.items[chosen]);
    const resizes = grip && Math.abs(x - grip.x - grip.w) < GRIP &&
      Math.abs(y - grip.y - grip.h) < GRIP;
    if (!resizes) chosen = scene.items.findLastIndex(hit);
    if (chosen >= 0) {
      const item = scene.items[chosen];
      held = { resizes, x: x - item.x, y: y - item.y };
      canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
    }
    canvas.focus({ preventScroll: true });
    self.paint();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [item, [x, y]] = [scene.items[chosen], placeOf(event)];
    held.moved = true;
    if (held.resizes) item.size = bounded(Math.max(x - item.x, y - item.y), ...sizes);
    else {Object.assign(item, {
        x: bounded(x - held.x, -40, side),
        y: bounded(y - held.y, -40, side),
      });}
    self.paint();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, () => {
      const moved = held?.moved;
      held = null;
      if (moved) changed();
    });
  }
  const bounded = (value, least, high) => Math.round(Math.max(least, Math.min(high, value)));
  const KEYS = {
    ArrowLeft: ["x", -1],
    ArrowRight: ["x", 1],
    ArrowUp: ["y", -1],
    ArrowDown: ["y", 1],
    "+": ["size", 1],
    "=": ["size", 1],
    "-": ["size", -1],
  };
  canvas.addEventListener("keydown", (event) => {
    const { length } = scene.items;
    if (event.ctrlKey || event.metaKey || event.altKey || picture || !length) return;
    const [field, by] = KEYS[event.key] ?? [];
    if (event.key === "PageDown" || event.key === "PageUp") {
      chosen = (chosen + (event.key === "PageDown" ? 1 : length - 1) + length) % length;
    } else if (field && chosen >= 0) {
      const limits = field === "size" ? sizes : [-40, side];
      const item = scene.items[chosen];
      item[field] = bounded(item[field] + by * (event.shiftKey ? 8 : 1), ...limits);
    } else if (event.key === "Delete" && chosen >= 0) return void removes();
    else return;
    event.preventDefault();
    event.stopPropagation();
    changed();
  });

  // ── a visitor's file ──
  async function bring(brought) {
    const error = unfit(brought, file);
    say({ error });
    if (error) return;
    reading?.abort();
    const wish = new AbortController();
    reading = wish;
    self.paint();
    const told = await read(brought, upload, wish.signal);
    if (reading !== wish) return;
    reading = null;
    if (told.error) {
      self.paint();
      say({ error: told.error });
      return;
    }
    const sheet = sheetOf(side, side, (at) => [0, 1, 2].map((c) => told.levels[3 * at + c]));
    const blob = await new Promise((done) => sheet.toBlob(done, "image/webp", 0.6));
    picture = bits64(new Uint8Array(await blob.arrayBuffer()));
    image = sheet;
    changed();
    say({ remark: told.notice });
    run();
  }
  const bits64 = (bytes) => codec(false).spelled(bytes);
  /** The picture that a request carries, decoded by the browser. */
  async function decode(text) {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const blob = new Blob([Uint8Array.from(raw, (one) => one.charCodeAt(0))]);
    image = await createImageBitmap(blob).catch(() => null);
    self.paint();
  }

  // ── drawing ──
  function sheetOf(wide, high, colour) {
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [wide, high];
    const context = sheet.getContext("2d");
    const pixels = context.createImageData(wide, high);
    for (const at of upTo(wide * high)) {
      const [r, g, b, a = 255] = colour(at);
      pixels.data.set([r, g, b, a], 4 * at);
    }
    context.putImageData(pixels, 0, 0);
    return sheet;
  }
  function paintItem(context, item) {
    const { part, x, y, w, h } = boxOf(item);
    if (!part) return;
    const levels = levelsOf(item);
    const tone = ink[Number(item.light)];
    const sheet = sheetOf(part.w, part.h, (at) => {
      const level = levels[(part.y + Math.floor(at / part.w)) * strokes + part.x + (at % part.w)];
      return isInk(item)
        ? [tone, tone, tone, level]
        : [level, level, level, Math.min(255, 6 * level)];
    });
    context.drawImage(sheet, SCALE * x, SCALE * y, SCALE * w, SCALE * h);
  }
  function paintSheet() {
    canvas.width = canvas.height = side * SCALE;
    const context = canvas.getContext("2d");
    if (picture) {
      context.filter = "grayscale(1)";
      if (image) context.drawImage(image, 0, 0, canvas.width, canvas.height);
      return;
    }
    const levels = grounds?.slice(Math.min(scene.ground, grounds.shape[0] - 1));
    if (levels) {
      const sheet = sheetOf(side, side, (at) => [levels[at], levels[at], levels[at]]);
      context.drawImage(sheet, 0, 0, canvas.width, canvas.height);
    }
    for (const item of scene.items) paintItem(context, item);
    if (chosen < 0 || chosen >= scene.items.length) return;
    const { x, y, w, h } = boxOf(scene.items[chosen]);
    for (const [colour, width] of [["#000000", 4], ["#ffffff", 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(SCALE * x, SCALE * y, SCALE * w, SCALE * h);
    }
    context.fillStyle = "#ffffff";
    context.fillRect(SCALE * (x + w) - 5, SCALE * (y + h) - 5, 10, 10);
  }

  const fieldsNow = () => ({
    scene: picture ? control.default : spelled(),
    drawing: picture || !scene.items.some(({ sample }) => sample === "d") ? "" : drawing,
    picture,
  });
  const stampOf = ({ scene: text, drawing: own, picture: given }) =>
    [text, own ?? "", given ?? ""].join("|");
  const self = {
    control,
    node,
    above: [],
    absent: { scene: control.default, drawing: "", picture: "" },
    of: (fields) => stampOf(fields ?? { scene: control.default }),
    fields: fieldsNow,
    get text() {
      return stampOf(fieldsNow());
    },
    /** The scene of a request, which stands in the bar otherwise already. */
    set text(text) {
      if (text === self.text) return;
      const [said, own, given] = text.split("|");
      scene = parsed(said);
      if (own) [drawing, shape] = [own, bits.unspelled(own, strokes ** 2)];
      chosen = -1;
      if (given !== picture) {
        [picture, image] = [given, null];
        if (given) decode(given);
      }
    },
    goes: () => TEXT.go,
    reading: () => reading !== null,
    refusal: () =>
      !picture && scene.items.some(({ sample }) => sample === "d") && !shape?.some(Boolean)
        ? TEXT.blank
        : null,
    /** Files are brought to the whole bar. */
    attach(form) {
      bringing({
        form,
        chooser,
        onFile: bring,
        onOver(yes) {
          over = yes;
          self.paint();
        },
      });
    },
    paint() {
      const options = names.map((name) => t(name));
      if ([...kindPick.options].map(({ text }) => text).join() !== options.join()) {
        const now = kindPick.value;
        kindPick.replaceChildren(...options.map((text, at) => el("option", { value: at, text })));
        kindPick.value = now || "0";
      }
      kindPick.setAttribute("aria-label", t(TEXT.kind));
      const item = scene.items[chosen];
      for (const one of [other, tint, front, remove]) one.disabled = !item || Boolean(picture);
      if (item && !isInk(item)) tint.disabled = true;
      for (const one of [add, ground, draw, kindPick]) one.disabled = Boolean(picture);
      const labels = { add, other, ink: tint, front, remove, ground, draw, back };
      for (const [key, one] of Object.entries(labels)) one.textContent = t(TEXT[key]);
      back.hidden = !picture;
      uploadButton.textContent = t(reading ? TEXT.readingFile : TEXT.upload);
      hint.textContent = t(over ? TEXT.drop : TEXT.hint);
      canvas.setAttribute("aria-label", t(TEXT.sheet, { n: scene.items.length }));
      paintSheet();
      if (!pad.node.hidden) pad.paint({ keep: 0, given: null });
    },
  };
  scene = parsed(control.default);
  onPaint(() => self.paint());
  if (control.own.samples) {
    Promise.all([unpack(control.own.samples), unpack(control.own.grounds)]).then((both) => {
      [samples, grounds] = both;
      self.paint();
    });
  }
  return self;
}

// An image that grows. What has been made can be scrubbed and played again in the browser; nothing is asked of the server.

import { unpack } from "./lib/arrays.js";
import { el } from "./lib/dom.js";
import { exportBar, fileName, npz, save } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { onLang, t } from "./lib/lang.js";
import { fit, paint, table } from "./lib/raster.js";
import { view } from "./lib/state.js";
import { css, onTheme } from "./lib/theme.js";

const TEXT = {
  back: { en: "Back to start", zh: "回到开头" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  seek: { en: "Pixels made", zh: "已生成的像素" },
};
const SECONDS = 6; // a whole image played

export function mount(root, props, emit, watch) {
  const title = el("h3", { class: "tfe-title" });
  const picture = el("canvas", { class: "tfe-canvas-picture", role: "img", tabindex: "0" });
  const back = el("button", { type: "button", class: "tfe-button small", onclick: () => go(0) });
  const play = el("button", { type: "button", class: "tfe-button small primary", onclick: () => toggle() });
  const seek = el("input", { type: "range", class: "tfe-range", min: "0", step: "1", oninput: () => go(Number(seek.value)) });
  const count = el("span", { class: "tfe-label tfe-canvas-count" });
  const words = el("p", { class: "tfe-words" });
  const bar = exportBar({ PNG: () => savePicture(), NPZ: () => saveNpz() });
  root.classList.add("tfe-projectable");
  root.append(el("div", { class: "tfe-canvas-body" }, title, picture, el("div", { class: "tfe-canvas-transport tfe-controls" }, back, play, seek, count), words, el("div", { class: "tfe-controls" }, bar)));

  let image = null; // {rows, columns, channels, data}
  let order = null;
  let at = 0;
  let timer = 0;
  let arriving = 0;
  let colours = null;

  async function arrive() {
    const turn = (arriving += 1);
    const { value } = props;
    root.firstChild.hidden = !value;
    if (!value) return;
    const [pixels, positions] = await Promise.all([unpack(value.image), value.order ? unpack(value.order) : null]);
    if (turn !== arriving) return;
    const following = !image || at >= Number(seek.max); // a cursor at the front stays at the front while the image grows
    const [rows, columns, channels = 1] = pixels.shape;
    image = { rows, columns, channels, data: pixels.data };
    order = positions ? Int32Array.from(positions.data) : Int32Array.from({ length: rows * columns }, (_, i) => i);
    colours = table(value.scale);
    seek.max = String(value.made);
    const asked = Number.parseInt(view.get("at") ?? "", 10);
    at = Math.min(value.made, following ? (Number.isFinite(asked) && !timer ? asked : value.made) : at);
    labels();
    draw();
  }

  function labels() {
    const { value } = props;
    if (!value) return;
    title.textContent = t(value.title);
    words.textContent = t(value.sentence);
    picture.setAttribute("aria-label", `${t(value.title)}. ${t(value.sentence)}`);
    back.textContent = t(TEXT.back);
    play.textContent = t(timer ? TEXT.pause : TEXT.play);
    seek.setAttribute("aria-label", t(TEXT.seek));
  }

  function draw() {
    if (!image) return;
    const { rows, columns, channels, data } = image;
    const scale = props.longest / Math.max(rows, columns);
    const [width, height] = [Math.min(root.clientWidth || props.longest, columns * scale), 0];
    const tall = (width * rows) / columns + height;
    const context = fit(picture, width, tall);
    if (channels === 1) {
      const shown = new Float32Array(rows * columns).fill(Number.NaN);
      for (let i = 0; i < at; i += 1) shown[order[i]] = data[order[i]];
      paint(context, { data: shown, rows, columns, colours, empty: css("--sunk"), x: 0, y: 0, width, height: tall });
    } else {
      const small = new OffscreenCanvas(columns, rows);
      const inner = small.getContext("2d");
      const made = new ImageData(columns, rows);
      for (let i = 0; i < at; i += 1) {
        const p = order[i];
        for (let c = 0; c < 3; c += 1) made.data[4 * p + c] = Math.round(255 * data[3 * p + c]);
        made.data[4 * p + 3] = 255;
      }
      inner.putImageData(made, 0, 0);
      context.fillStyle = css("--sunk");
      context.fillRect(0, 0, width, tall);
      context.imageSmoothingEnabled = !props.value.pixelated;
      context.drawImage(small, 0, 0, width, tall);
    }
    // Not made yet is not black: dots on the ground.
    const cell = width / columns;
    context.fillStyle = css("--control");
    if (cell >= 3) for (let i = at; i < order.length; i += 1) context.fillRect((order[i] % columns) * cell + cell / 2 - 0.5, Math.floor(order[i] / columns) * cell + cell / 2 - 0.5, 1, 1);
    seek.value = String(at);
    seek.style.setProperty("--at", `${(100 * at) / Math.max(1, Number(seek.max))}%`);
    count.textContent = `${at} / ${rows * columns}`;
    root.dataset.drawn = String(at);
  }

  function go(next) {
    at = Math.max(0, Math.min(props.value?.made ?? 0, next));
    view.set({ at: at === props.value?.made ? null : at });
    draw();
  }

  function stop() {
    cancelAnimationFrame(timer);
    timer = 0;
    labels();
  }

  function toggle() {
    if (!image) return;
    if (timer) {
      stop();
      return;
    }
    if (at >= props.value.made) at = 0;
    const total = image.rows * image.columns;
    const whole = matchMedia("(prefers-reduced-motion: reduce)").matches ? image.columns : 1;
    let begun = null;
    const from = at;
    const tick = (now) => {
      begun ??= now;
      const next = from + ((now - begun) / 1000 / SECONDS) * total;
      at = Math.min(props.value.made, Math.floor(next / whole) * whole);
      draw();
      if (at < props.value.made) timer = requestAnimationFrame(tick);
      else {
        view.set({ at: null });
        stop();
      }
    };
    timer = requestAnimationFrame(tick);
    labels();
  }

  keys(root, { " ": toggle, ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(Infinity), Escape: () => (timer ? stop() : false) });

  const savePicture = () => new Promise((done) => picture.toBlob((blob) => (save(fileName([props.value.name], "png"), blob), done())));
  function saveNpz() {
    const [low, high] = props.value.limits;
    const { rows, columns, channels, data } = image;
    save(fileName([props.value.name], "npz"), npz({ image: { shape: channels === 1 ? [rows, columns] : [rows, columns, channels], data: data.map((share) => low + share * (high - low)) }, order: { shape: [order.length], data: order } }));
  }

  new ResizeObserver(draw).observe(root);
  onTheme(draw);
  onLang(labels);
  view.on(["at"], () => {
    const asked = Number.parseInt(view.get("at") ?? "", 10);
    if (image && !timer) {
      at = Number.isFinite(asked) ? Math.min(asked, props.value.made) : props.value.made;
      draw();
    }
  });
  watch("value", arrive);
  arrive();
}

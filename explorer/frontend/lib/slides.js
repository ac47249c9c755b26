// Pictures of the slides of the lecture. Nothing is stored of them: a lab's page, projected in a
// frame that nobody sees, goes from step to step, and what it shows becomes a picture, in the
// language of this page, light as paper.

import { el } from "./dom.js";
import { lang } from "./lang.js";
import { pageAt } from "./state.js";

const [WIDE, TALL] = [1280, 720]; // px of the frame
const SHARP = 640; // px that a picture is wide
const [TICK, STILL] = [100, 3]; // ms between two looks at what the frame shows, and how many of them see the same before it stands
const PATIENCE = 20_000; // ms until a slide that is not drawn is left out
const REST = 60_000; // ms that the frame stays after the last picture

/**
 * The projected page as it stands, as a Blob; null where the browser draws no pages. Nodes around
 * the figure are copied without the rest.
 */
export async function pictured(page = document) {
  const view = page.defaultView;
  const shown = page.querySelector(".tfe-projected");
  if (!shown) return null;
  const whole = (node) => {
    const twin = node.cloneNode(true);
    const drawn = [...node.querySelectorAll("canvas")];
    [...twin.querySelectorAll("canvas")].forEach((canvas, at) => {
      const { width, height, clientWidth, clientHeight } = drawn[at];
      const style = `${
        canvas.getAttribute("style") ?? ""
      };width:${clientWidth}px;height:${clientHeight}px`;
      const picture = el("img", {
        class: canvas.className,
        src: width && height ? drawn[at].toDataURL() : "data:,",
      });
      picture.setAttribute("style", style);
      canvas.replaceWith(picture);
    });
    for (const rest of twin.querySelectorAll("script, iframe")) rest.remove();
    return twin;
  };
  const along = (node) => {
    if (node === shown) return whole(node);
    const twin = node.cloneNode(false);
    if (node.matches("details")) twin.append(el("summary")); // else the browser writes one
    for (const child of node.children) if (child.contains(shown)) twin.append(along(child));
    return twin;
  };
  const twin = along(page.documentElement);
  twin.lastChild.prepend(
    ...[...page.querySelectorAll(".tfe-projector-head, .tfe-projector-cover")].map(whole),
  );
  const rules = [...page.styleSheets].flatMap((sheet) =>
    [...sheet.cssRules].map((rule) => rule.cssText)
  ).join("\n");
  const written = new XMLSerializer().serializeToString(twin);
  const [width, height] = [view.innerWidth, view.innerHeight];
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><style>${
      rules.replace(/&/g, "&amp;").replace(/</g, "&lt;")
    }</style><foreignObject width="100%" height="100%">${written}</foreignObject></svg>`;
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  try {
    await picture.decode();
    const canvas = el("canvas", { width: SHARP, height: Math.round((SHARP * height) / width) });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/webp", 0.9));
  } catch {
    return null;
  }
}

/**
 * The pictures of all steps, each drawn when it is first wished for, one at a time.
 * @returns {{want: (path: string, step: number) => Promise<string | null>, renew: () => void}}
 * want: the address of a picture, null where
 *   none could be drawn. renew: the language is another one now
 */
export function slides() {
  let made = new Map(); // "/cost 3" -> {key, path, step, address: Promise, done}
  let frame = null;
  let busy = false;
  let resting = 0;

  function close() {
    frame?.remove();
    frame = null;
  }
  function open(path, step) {
    close();
    const src = pageAt(path, { step, lecture: "frame", lang: lang() });
    frame = el("iframe", {
      class: "tfe-slides",
      "aria-hidden": "true",
      tabindex: "-1",
      title: path,
      width: WIDE,
      height: TALL,
      src,
    });
    frame.path = path;
    document.body.append(frame);
  }
  /** What tells whether the frame shows a step to its end; "" before. */
  function stands(step) {
    const page = frame.contentDocument;
    const shown = page?.querySelector(`.tfe-projector-head[data-step="${step}"]`) &&
      page.querySelector(".tfe-projected");
    if (
      !shown?.querySelector("canvas, svg, table") ||
      page.querySelector(
        ".tfe-projected :is(.tfe-stale, .is-older), .is-older.tfe-projected, " +
          ".tfe-projected[data-moving]",
      )
    ) return "";
    return `${shown.innerText} ${
      [...shown.querySelectorAll("canvas")].map((one) => `${one.width} ${one.marks?.length}`)
    } ${shown.querySelectorAll("svg *").length}`;
  }
  async function draw({ path, step }) {
    if (frame?.path === path) frame.contentWindow.postMessage({ step }, location.origin);
    else open(path, step);
    let last = "";
    let same = 0;
    for (let waited = 0; waited < PATIENCE && frame?.path === path; waited += TICK) {
      await new Promise((done) => setTimeout(done, TICK));
      const now = stands(step);
      same = now && now === last ? same + 1 : 0;
      if (same === STILL - 1) return pictured(frame.contentDocument);
      last = now;
    }
    return null;
  }
  async function work() {
    if (busy) return;
    busy = true;
    clearTimeout(resting);
    const waiting = () => [...made.values()].filter((one) => !one.begun);
    for (let next; (next = waiting().find((one) => one.path === frame?.path) ?? waiting()[0]);) {
      next.begun = true;
      const blob = await draw(next).catch(() => null); // the page that was in the frame is left
      if (!blob) { // it can be asked for again, in a page of its own
        if (made.get(next.key) === next) made.delete(next.key);
        close();
      }
      next.done(blob && URL.createObjectURL(blob));
    }
    busy = false;
    resting = setTimeout(close, REST);
  }
  return {
    want(path, step) {
      const key = `${path} ${step}`;
      if (!made.has(key)) {
        const wish = { key, path, step };
        wish.address = new Promise((done) => (wish.done = done));
        made.set(key, wish);
        work();
      }
      return made.get(key).address;
    },
    renew() {
      for (const one of made.values()) {
        if (!one.begun) one.done(null);
        one.address.then((address) => address && URL.revokeObjectURL(address));
      }
      made = new Map();
      close();
    },
  };
}

// The part of the stage that reads: it draws a picture, and lets one hover, lock, add, step, play
// and choose. It knows no server and no address of its own, so that a saved page carries it along
// as it is. The contract of a picture stands in stage.js.

import { el, onPage, refill, segmented, svg } from "./dom.js";
import { handlesOf } from "./handles.js";
import { fitted, hallScale, keys, tallest } from "./keys.js";
import { lang, onLang, plain, t } from "./lang.js";
import { KINDS, looking } from "./selection.js";
import { asSvg, onCanvas, Pen } from "./pen.js";
import { player } from "./rollplay.js";
import { fit } from "./raster.js";
import { bus } from "./state.js";
import { plotsOf } from "./plots.js";
import { tableOf } from "./tables.js";
import { onPaint } from "./theme.js";
import { inTurn } from "./paint_queue.js";

const AROUND = 8; // px above and below a sentence that stands within its picture
const SPARE = 6; // px that a picture may be higher than it was told
const SMALLEST = 1.7; // by how much a picture that is too high for the hall is shown smaller at most
const TEXT = {
  empty: { en: "Nothing has been run yet.", zh: "还没有运行。" },
  start: { en: "Back to the start", zh: "回到开头" },
  play: { en: "Play", zh: "播放" },
  pause: { en: "Pause", zh: "暂停" },
  before: { en: "One step back", zh: "后退一步" },
  after: { en: "One step on", zh: "前进一步" },
  seek: { en: "Where in the run", zh: "所在的步" },
  count: { en: "{n} of {of}", zh: "{n} / {of}" },
  card: { en: "click: lock it", zh: "点击：锁定" },
  cardAdd: { en: "click: lock it · shift-click: add it", zh: "点击：锁定 · shift-点击：追加" },
  cardTap: { en: "tap again: lock it", zh: "再点一次：锁定" },
  board: {
    en: "{title}. Left and right step, up and down choose, Space plays, Escape resets.",
    zh: "{title}。左右键换步，上下键选择，空格播放，Esc 复位。",
  },
};
const MANY = 8; // options of a choice that have buttons of their own
const WAIT = 80; // ms until the card of what is pointed at opens
const ICONS = {
  play: "M5 3.5v9l7-4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  before: "M9.5 4l-4 4 4 4",
  after: "M6.5 4l4 4-4 4",
  start: "M4 4v8M11 4l-4 4 4 4",
};
const icon = (name) =>
  svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    svg("path", {
      d: ICONS[name],
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 2,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
  );

/** A sentence as nodes and as text: of strings and {text, role: "query" | "key" | "out"}. */
export const nodes = (parts) =>
  parts.map((
    part,
  ) => (typeof part === "string" ? document.createTextNode(part) : el(part.role ? "b" : "span", {
    class: part.role ? `tfe-${part.role}` : null,
    dir: "auto",
    text: part.text,
  })));

/**
 * @param {HTMLElement} root
 * @param {any} picture see stage.js
 * @param {{texts: any, store: {get: (key: string) => string | null, set: (patch: any) => void},
 * ask?: (fields: any) => void,
 *   moved?: () => void, menu?: Node[], dragged?: (name: string | null) => void, drawn?: () => void,
 *   plotly?: string}} how drawn: called when it stands; plotly: the address of plotly.js
 */
export function board(
  root,
  picture,
  {
    texts,
    store,
    ask = null,
    moved = () => {},
    menu = [],
    dragged = () => {},
    drawn = () => {},
    plotly = null,
  },
) {
  const keysOf = Object.keys(picture.looks);
  const kind = (key) => KINDS[picture.looks[key]];
  const first = (...kinds) => keysOf.find((key) => kinds.includes(picture.looks[key]));
  const along = picture.along ?? first("step") ?? first("position", "positions");
  const across = picture.across ?? first("head") ??
    keysOf.find((key) => key !== along && ["position", "positions"].includes(picture.looks[key]));
  const resets = picture.resets ?? keysOf.filter((key) => kind(key).locks);

  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const units = el("span", { class: "tfe-units" });
  const legend = el("p", { class: "tfe-legend tfe-stage-legend" });
  const choices = el("div", { class: "tfe-stage-choices tfe-controls" });
  const canvas = el("canvas", { "aria-hidden": "true" });
  const glance = el("div", { class: "tfe-stage-glance", hidden: true });
  const paper = el("div", { class: "tfe-stage-paper" }, canvas, glance);
  const desk = el("div", {
    class: "tfe-stage-board tfe-scroll",
    tabindex: "0",
    role: "application",
  }, paper);
  const press = (name, act) =>
    el("button", { type: "button", class: "tfe-stage-step", onclick: act }, icon(name));
  const [start, play, before, after] = [
    press("start", () => to(0, clock.key)),
    press("play", () => clock && sound.toggle()),
    press("before", () => move(clock.key, -1)),
    press("after", () => move(clock.key, 1)),
  ];
  play.classList.add("is-play");
  const seek = el("input", {
    type: "range",
    class: "tfe-range",
    step: "1",
    oninput: () =>
      lock({ [clock.key]: kind(clock.key).of?.(Number(seek.value)) ?? Number(seek.value) }),
  });
  const count = el("span", { class: "tfe-stage-count" });
  const transport = el(
    "div",
    { class: "tfe-stage-transport tfe-controls" },
    start,
    play,
    before,
    after,
    seek,
    count,
  );
  const [below, beside] = [
    el("div", { class: "tfe-stage-below" }),
    el("aside", { class: "tfe-stage-beside tfe-controls" }),
  ];
  const words = el("p", {
    class: "tfe-words",
    "aria-live": "polite",
    id: `tfe-words-${Math.random().toString(36).slice(2)}`,
  });
  const note = el("p", { class: "tfe-note tfe-stage-note", hidden: true });
  const sheet = el("div", {
    class: "tfe-stage-table tfe-scroll tfe-controls",
    tabindex: "0",
    role: "region",
    hidden: true,
  });
  const body = el(
    "div",
    { class: "tfe-stage-body", hidden: true },
    el("div", { class: "tfe-stage-main" }, desk, words, transport, below, note),
    beside,
  );
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const head = el(
    "div",
    { class: "tfe-stage-head" },
    el("div", { class: "tfe-stage-name" }, title, units),
    el("span", { class: "tfe-stage-menu tfe-controls" }, menu),
  );
  const panel = el(
    "section",
    { class: "tfe-panel tfe-stage-panel" },
    head,
    el("div", { class: "tfe-stage-roles" }, legend, choices),
    empty,
    body,
    sheet,
  );
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.classList.add("tfe-projectable", "tfe-stage");
  root.append(panel, card);
  desk.setAttribute("aria-describedby", words.id);

  // ── state ──
  let run = null;
  let look = {}; // what is locked, completed by what the picture picks
  let bounds = {};
  let pen = null; // what is drawn
  let travelled = false; // was that a frame of a way?
  let over = null; // the box that is pointed at
  let draft = {}; // {name: value} of a handle that moves, until its answer is here
  let cursor = null; // the place while it plays
  const loose = new Map(); // key -> text while a slider moves: what it passes is not asked of the program
  let clock = null;
  let stood = null; // {run, look}: what was drawn last
  let moving = null; // {look, begin, lasts}: the look that the picture is on its way from
  let kept = null; // {box, look}: what was kept in view at the last drawing
  let [waiting, room, built, shrunk, spoken, spokenOf, scrolled] = [0, 0, "", 1, 0, "", 0];

  const projecting = () =>
    document.body.classList.contains("tfe-projecting") &&
    root.classList.contains("tfe-projected");
  const get = (key) => loose.get(key) ?? store.get(key);
  const write = (node, text) => node.textContent !== text && (node.textContent = text);

  // ── moving ──
  /**
   * Locks values: {key: value}. add: beside what is locked already, where the key takes several.
   */
  function lock(patch, add = false) {
    // What is heard goes on while one looks at something else, and from where one sets it.
    if (!clock?.sound) sound.stop();
    else if (sound.playing && clock.key in patch) return sound.seek(clock.when(patch[clock.key]));
    leave();
    moved();
    put(patch, add);
    update(true);
  }

  /** Writes what is locked. */
  function put(patch, add = false) {
    const whole = picture.completes?.(run, look, patch, { get: store.get, add });
    const said = Object.entries(whole ?? patch).map(([key, value]) => {
      if (!picture.looks[key]) return [key, value]; // of another view
      const { add: more, of = (one) => one, spell } = kind(key);
      return [
        key,
        value === null
          ? null
          : spell(add && more && !whole ? more(look[key], value) : of(value), bounds[key] ?? {}),
      ];
    });
    store.set(Object.fromEntries(said));
  }

  function move(key, by) {
    if (!run || !key) return;
    lock(
      picture.move?.(run, look, key, by) ?? { [key]: kind(key).move(look[key], by, bounds[key]) },
    );
  }

  const to = (end, key = along) =>
    run && key && kind(key).ends && lock({ [key]: kind(key).ends(bounds[key])[end] });

  function reset() {
    const playing = sound.playing;
    const free = picture.free ?? Object.fromEntries(resets.map((key) => [key, null]));
    if (
      !run || projecting() ||
      !(playing || Object.entries(free).some(([key, text]) => get(key) !== text))
    ) {
      return false;
    }
    sound.stop();
    leave();
    moved();
    loose.clear();
    store.set(free);
    update();
    return true;
  }

  // ── playing ──
  const sound = player({
    moved() {
      const value = clock && placeOf(sound.place);
      if (!clock || !sound.playing || value === [look[clock.key]].flat().at(-1)) return;
      cursor = value;
      update();
    },
    changed() {
      if (sound.playing) {
        bus.fire("sounding", root);
        sound.seek(placed() >= sound.total ? 0 : placed());
      } else if (clock) {
        // The last moment was perhaps never drawn.
        const reached = (cursor = placeOf(sound.place));
        update();
        cursor = null;
        put({ [clock.key]: reached });
      }
      update();
    },
    failed: () => picture.silent?.(run, draw),
  });
  bus.on("sounding", (who) => who !== root && sound.stop()); // one at a time
  root.append(sound.node);
  const ends = () => kind(clock.key).ends(bounds[clock.key]).map((end) => [end].flat()[0]);
  const placed =
    () => (clock.when
      ? clock.when([look[clock.key]].flat().at(-1))
      : (([look[clock.key]].flat().at(-1) - ends()[0]) * clock.pace) / 1000);
  function placeOf(second) {
    const [least, most] = ends();
    const stride = matchMedia("(prefers-reduced-motion: reduce)").matches ? (clock.stride ?? 1) : 1;
    const value = clock.at
      ? clock.at(second)
      : second >= sound.total
      ? most
      : least + Math.floor((second * 1000) / clock.pace / stride + 1e-6) * stride;
    return Math.max(least, Math.min(most, value));
  }

  // ── drawing ──
  /** Reads what is looked at, and draws. acted: was it this picture that somebody acted on? */
  function update(acted = false) {
    if (!run) return draw();
    ({ look, bounds } = looking(picture, run, get));
    look.plays = cursor !== null;
    if (look.plays) look[clock.key] = kind(clock.key).of?.(cursor) ?? cursor;
    return draw(acted);
  }

  const draw = (acted = false) => inTurn(paint, acted);
  const seen = () => ({ ...look, ...(over?.look ?? {}) });

  function paint() {
    write(title, t((run && picture.title?.(run, look)) ?? texts.title));
    write(empty, t(texts.empty ?? TEXT.empty));
    root.dataset.question = t(
      texts.question ??
        (typeof picture.question === "function"
          ? run && picture.question(run, look)
          : picture.question) ??
        texts.title,
    );
    empty.hidden = Boolean(run);
    for (const node of [body, units, legend, choices]) node.hidden = !run;
    root.querySelector(".tfe-stage-menu").hidden = !run;
    if (!run) {
      sheet.hidden = true;
      delete root.dataset.drawn;
      return;
    }
    const big = projecting();
    look.draft = draft;
    panel.classList.toggle("is-wide", Boolean(picture.wide?.(run)));
    write(units, t(picture.units?.(run, look) ?? ""));
    desk.setAttribute("aria-label", t(picture.label ?? TEXT.board, { title: title.textContent }));
    choose();
    transports();
    swap(
      below,
      (picture.below?.(run, look, lock, ask) ?? []).filter(Boolean).map((
        one,
      ) => (typeof one === "string"
        ? el("p", { class: "tfe-note tfe-controls", text: one })
        : one)
      ),
    );
    side();
    const parts = picture.sentence(
      run,
      look,
      picture.hovers && !over?.quiet ? over?.look : undefined,
    );
    words.setAttribute("aria-live", sound.playing || run.state === "running" ? "off" : "polite");
    if (words.textContent !== plain(parts)) words.replaceChildren(...nodes(parts));
    fitted(words);
    if (!sheet.hidden) sheet.replaceChildren(tableOf(picture.table(run, look)));
    const entries = picture.legend?.(run, look) ?? [];
    const key = JSON.stringify([entries, big, lang(), document.body.className]);
    if (legend.dataset.key !== key) {
      legend.dataset.key = key;
      legend.replaceChildren(
        ...entries.map(({ text, mark }) => el("span", {}, swatch(mark, big), text)),
      );
    }
    if (!room || big) room = Math.floor(desk.clientWidth); // else it was told when it changed
    if (!room) return;
    // Of what stands beneath; its place may have no box. Asked in the hall alone: the browser lays
    // the page out to say it.
    const tall = big
      ? tallest(desk, [...below.children, words].reduce((sum, one) => sum + one.offsetHeight, 36))
      : 0;
    const way = travel();
    const own = big ? 1 / hallScale() : 1; // on a large screen it is drawn with less room, and shown larger
    const sketch = (by) => {
      const zoom = by > own ? by / own + 0.001 : 1;
      pen = Object.assign(
        new Pen({ width: room * by, big, zoom, top: scrolled * by, tall: tall * by }),
        way,
      );
      if (!big) pen.spoken = longest;
      picture.scene(run, {
        ...look,
        over: picture.hovers && !over?.quiet ? (over?.look ?? null) : null,
      }, pen);
    };
    sketch(own);
    // What is too high for the hall's screen is drawn with more room, and shown smaller.
    shrunk = big && !pen.view && pen.height > tall * own + SPARE
      ? own * Math.min(SMALLEST, pen.height / (tall * own))
      : own;
    if (shrunk > own) sketch(shrunk);
    paper.style.zoom = shrunk === 1 ? "" : 1 / shrunk;
    // The sentence stands where the picture leaves it room, else below it.
    const inside = pen.said !== null && !big;
    if (inside !== (words.parentElement === paper)) {
      inside ? paper.append(words) : desk.after(words);
    }
    words.style.top = inside ? `${pen.said + AROUND}px` : "";
    desk.classList.toggle("is-tall", pen.view > 0);
    desk.style.height = pen.view ? `${pen.view / shrunk}px` : "";
    Object.assign(paper.style, { width: `${pen.width}px`, height: `${pen.height}px` });
    if (bring()) {
      paint();
      return;
    }
    [canvas.marks, canvas.boxes] = [pen.marks, pen.boxes];
    const own_ = pen;
    const inked = () =>
      onCanvas(fit(canvas, own_.width, own_.view || own_.height, 1 / shrunk), [{
        kind: "group",
        x: 0,
        y: own_.view ? -own_.top : 0,
        marks: own_.marks,
      }]);
    // After a way the last frame of it stays until the figure stands.
    const arrives = travelled && !way.was && pen.plots.length > 0;
    travelled = Boolean(way.was);
    if (!arrives) inked();
    grip();
    if (!pen.plots.length) {
      plots.clear();
      stands();
      return;
    }
    plots.place(pen.plots, { big, revision: run.query ?? "", grows: run.state === "running" })
      .then(() => {
        if (pen !== own_ || !run) return; // a newer one is on its way
        if (arrives) inked();
        pen.boxes.push(...plots.boxes());
        grip();
        stands();
      });
  }

  /** Puts the handles where zoom has brought them. */
  const grip = () => handles.place(pen.handles.map((one) => plots.carried(one)));

  /** Says that the picture stands, and as what. */
  function stands() {
    drawn();
    root.dataset.run = run.query ?? ""; // whose picture it is
    root.dataset.drawn = keysOf.map((each) => [each, [look[each]].flat().join(",")])
      .filter(([, text]) => text !== "" && text !== "false")
      .map(([name, text]) => (text === "true" ? name : `${name}=${text}`))
      .join(" ") + (picture.waits?.(run, look) ? " waits" : "");
  }

  /**
   * So high as the longest sentence of this run so far: what stands below it does not jump while
   * one points.
   */
  function longest() {
    const [those, own] = [
      JSON.stringify([run.query, room, lang()]),
      Math.max(room < 560 ? 112 : 48, words.offsetHeight) + 2 * AROUND,
    ];
    [spoken, spokenOf] = [spokenOf === those ? Math.max(spoken, own) : own, those];
    return spoken;
  }

  /**
   * How far the picture is on its way from the look before, where it moves and motion is wanted:
   * {was, part: 0 … 1}.
   */
  function travel() {
    if (stood?.run !== run) moving = null;
    const still = !picture.moves || stood?.run !== run ||
      matchMedia("(prefers-reduced-motion: reduce)").matches;
    const lasts = still ? 0 : picture.moves(run, stood.look, look);
    if (lasts) moving = { look: stood.look, begin: performance.now(), lasts };
    stood = { run, look: { ...look } };
    const part = moving ? (performance.now() - moving.begin) / moving.lasts : 1;
    if (part >= 1) moving = null;
    root.toggleAttribute("data-moving", Boolean(moving));
    if (moving) draw(true); // it goes on in the very next frame
    return { was: moving?.look ?? null, part: Math.min(1, part) };
  }

  /**
   * What the picture keeps in view comes into view where it is another one, unless somebody
   * scrolled away from it. Did it move?
   */
  function bring() {
    const box = pen.keep;
    if (!box) {
      kept = { box };
      return false;
    }
    const [x, y, high] = [desk.scrollLeft, desk.scrollTop, pen.view || pen.height];
    const inside = (box) => !(box.x0 < x || box.x1 > x + room || box.y0 < y || box.y1 > y + high);
    const [was, said] = [kept, JSON.stringify([look, room, high])];
    kept = { box, said };
    if (
      inside(box) ||
      (was &&
        (JSON.stringify(was.box) === JSON.stringify(box) ||
          (was.said === said && was.box && !inside(was.box))))
    ) {
      return false;
    }
    if (box.x0 !== undefined) desk.scrollLeft = box.x0 - room / 2;
    if (box.y0 !== undefined) desk.scrollTop = (box.y0 + box.y1 - high) / 2;
    scrolled = desk.scrollTop;
    return pen.view > 0 && scrolled !== y;
  }

  /**
   * What stands in a node becomes other children; equal ones stay, so that nobody's click or focus
   * is lost.
   */
  function swap(node, children) {
    const now = el("div", {}, children);
    const same = now.childNodes.length === node.childNodes.length && [...now.childNodes]
      .every((one, at) => one.isEqualNode(node.childNodes[at]));
    node.hidden = !children.length;
    if (same) return;
    refill(node, now.childNodes);
  }

  function side() {
    swap(beside, picture.beside?.(run, seen()) ?? []);
  }

  function swatch(mark, big) {
    const [w, h] = [(mark.wide ?? 14) * (big ? 1.8 : 1), (mark.tall ?? 12) * (big ? 1.7 : 1)];
    const small = new Pen({ width: w, big });
    small.size(w, h);
    small.swatch({ x0: 0, y0: 0, x1: w, y1: h }, mark);
    return asSvg(small, { "aria-hidden": "true" });
  }

  /**
   * The choices of the picture as segmented buttons, chips and sliders; rebuilt only when they are
   * others.
   */
  function choose() {
    const items = (picture.choices?.(run, look) ?? [])
      .filter(({ options, shown }) => !options || shown || options.length > 1);
    const shape = JSON.stringify([items, lang()]);
    if (built !== shape) {
      built = shape;
      choices.made = items.map(make);
      refill(choices, choices.made.map((one) => one.node));
    }
    choices.hidden = !items.length;
    for (const one of choices.made) one.set();
  }

  function make({ key, label, options, shown, say, step }) {
    if (options?.length > MANY) {
      const select = el("select", {
        class: "tfe-select",
        "aria-label": label,
        onchange: () => lock({ [key]: options[select.selectedIndex].value }),
      }, options.map(({ value, label: name }) => el("option", { value, text: name })));
      return { node: select, set: () => (select.value = String(look[key])) };
    }
    if (options) {
      const one = segmented({
        options: options.map(({ value, label: name }) => ({ key: String(value), label: name })),
        value: String(look[key]),
        label,
        onPick: (value) =>
          lock({ [key]: options.find((each) => String(each.value) === value).value }),
      });
      const node = shown
        ? el(
          "span",
          { class: "tfe-row tight" },
          el("span", { class: "tfe-label", text: label }),
          one.node,
        )
        : one.node;
      return { node, set: () => one.set({ value: String(look[key]) }) };
    }
    if (picture.looks[key] === "flag") {
      const chip = el("button", {
        type: "button",
        class: "tfe-chip",
        "data-key": key,
        text: label,
        onclick: () => lock({ [key]: !look[key] }),
      });
      return { node: chip, set: () => chip.setAttribute("aria-pressed", String(look[key])) };
    }
    const name = el("span", { class: "tfe-label" });
    let resting = 0;
    const rest = () => {
      clearTimeout(resting);
      if (loose.delete(key)) lock({ [key]: Number(slider.value) });
    };
    const slides = () => {
      loose.set(key, slider.value);
      update();
      clearTimeout(resting);
      resting = setTimeout(rest, 200);
    };
    const slider = el("input", {
      type: "range",
      class: "tfe-range",
      "data-key": key,
      "aria-label": label,
      step: step ?? 0.01,
      oninput: slides,
      onchange: rest,
    });
    return {
      node: el("span", { class: "tfe-stage-range" }, name, slider),
      set() {
        const { least = 0, most = 1 } = bounds[key] ?? {};
        Object.assign(slider, { min: least, max: most });
        write(name, `${label} ${say?.(look[key]) ?? look[key]}`);
        if (!loose.has(key)) slider.value = String(look[key]);
        slider.style.setProperty("--at", `${(100 * (look[key] - least)) / (most - least || 1)}%`);
      },
    };
  }

  function transports() {
    clock = along ? (picture.clock?.(run, look) ?? null) : null;
    transport.hidden = !clock;
    if (!clock) return;
    clock.key ??= along;
    const [least, most] = ends();
    clock.pace ??= clock.seconds ? (1000 * clock.seconds) / Math.max(1, most - least) : 900;
    sound.choose(clock.sound ?? null, clock.seconds ?? ((most - least) * clock.pace) / 1000);
    const at = [look[clock.key]].flat().at(-1) ?? least;
    for (
      const [node, name] of [
        [start, "start"],
        [play, sound.playing ? "pause" : "play"],
        [before, "before"],
        [after, "after"],
        [seek, "seek"],
      ]
    ) {
      const label = t(clock.texts?.[name] ?? TEXT[name]);
      if (node.getAttribute("aria-label") === label) continue;
      node.setAttribute("aria-label", label);
      if (node !== seek) node.title = label;
      if (node === play) play.replaceChildren(icon(name));
    }
    Object.assign(seek, {
      min: String(least),
      max: String(most),
      value: String(at),
      disabled: most <= least,
    });
    seek.style.setProperty(
      "--at",
      `${most > least ? (100 * (at - least)) / (most - least) : 100}%`,
    );
    start.disabled = before.disabled = at <= least;
    after.disabled = at >= most;
    play.disabled = most <= least;
    write(count, clock.says?.(at) ?? t(TEXT.count, { n: at - least + 1, of: most - least + 1 }));
  }

  // ── pointing ──
  const spot = (event) => {
    const box = paper.getBoundingClientRect();
    return [(event.clientX - box.left) * shrunk, (event.clientY - box.top) * shrunk];
  };

  function under(event) {
    const [x, y] = plots.home(...spot(event));
    for (const box of pen?.boxes.toReversed() ?? []) {
      if (x < box.x0 || x > box.x1 || y < box.y0 || y > box.y1) continue;
      const found = box.at ? box.at(x, y) : box;
      if (found) return found;
    }
    return null;
  }

  const posOf = (box) => box.pos ?? box.look?.pos;
  const name = (box) => box && JSON.stringify([box.look, box.set, box.fire, box.x0, box.y0]);

  /**
   * Shows what a click would lock, without locking it. silent: another view points at it, so that
   * no card opens here.
   */
  function point(box, event, silent = false) {
    if (name(box) === name(over)) return;
    leave(silent);
    if (!box) return;
    over = box;
    if (picture.hovers) draw();
    else if (picture.beside) side();
    glance.hidden = Boolean(box.still);
    const now = plots.now(box);
    Object.assign(glance.style, {
      left: `${now.x0}px`,
      top: `${now.y0}px`,
      width: `${now.x1 - now.x0}px`,
      height: `${now.y1 - now.y0}px`,
    });
    if (silent) return;
    if (posOf(box) !== undefined) bus.fire("hover-pos", { pos: posOf(box), from: root });
    const lines = box.card?.();
    if (projecting() || !lines) return;
    waiting = setTimeout(() => {
      const touch = event.pointerType === "touch";
      const locked = box.look &&
        Object.entries(box.look).every(([key, value]) => String(look[key]) === String(value));
      const adds = box.look && Object.keys(box.look).some((key) => kind(key).add);
      const does = box.does ??
        (box.look && !locked ? t(touch ? TEXT.cardTap : adds ? TEXT.cardAdd : TEXT.card) : null);
      card.replaceChildren(
        el("b", { text: lines[0] }),
        ...lines.slice(1).map((text) => el("div", { text })),
        ...(does ? [el("div", { class: "do", text: does })] : []),
      );
      card.hidden = false;
      const frame_ = paper.getBoundingClientRect();
      const right = frame_.left + now.x1 / shrunk + 12;
      const left = right + card.offsetWidth <= innerWidth - 8
        ? right
        : frame_.left + now.x0 / shrunk - 12 - card.offsetWidth;
      const beneath = left < 8; // it fits on neither side
      const top = beneath ? frame_.top + now.y1 / shrunk + 8 : event.clientY - 20;
      Object.assign(card.style, {
        left: `${
          Math.max(
            8,
            Math.min(beneath ? event.clientX + 16 : left, innerWidth - card.offsetWidth - 8),
          )
        }px`,
        top: `${Math.max(8, Math.min(innerHeight - card.offsetHeight - 8, top))}px`,
      });
    }, WAIT);
  }

  function leave(silent = false) {
    clearTimeout(waiting);
    card.hidden = glance.hidden = true;
    const was = over;
    over = null;
    if (!was || !run) return;
    if (picture.hovers) draw();
    else if (picture.beside) side();
    if (!silent && posOf(was) !== undefined) bus.fire("hover-pos", { pos: null, from: root });
  }

  // Handles, and a sentence within the picture, lie on it and hear for themselves.
  const ours = ({ target }) => target === canvas || target === paper || plots.holds(target);
  let pressed = "mouse"; // what pressed last: Plotly clicks by a mouse's event, whatever it was
  paper.addEventListener("pointermove", (event) => {
    if (!run || event.pointerType === "touch") return;
    if (!ours(event)) return leave();
    const box = under(event);
    if (event.buttons & 1 && box?.drags) lock(box.look);
    else point(box, event);
  });
  paper.addEventListener("pointerdown", (event) => {
    pressed = event.pointerType;
    if (!run || !ours(event)) return;
    if (plots.holds(event.target)) desk.focus({ preventScroll: true }); // Plotly keeps the press to itself
    under(event)?.down?.();
  });
  // A finger scrolls the page and points; zoom is for a pointer that hovers, so Plotly hears of no
  // touch. Nor does it hear of a press where a held pointer does not zoom, but goes from place to
  // place.
  for (const event of ["touchstart", "mousedown"]) {
    paper.addEventListener(event, (press) => {
      if (pressed === "touch" ? plots.holds(press.target) : plots.holds(press.target, false)) {
        press.stopPropagation();
      }
    }, { capture: true, passive: true });
  }
  paper.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && leave());
  paper.addEventListener("click", (event) => {
    if (!ours(event) || event.target.closest?.(".modebar")) return;
    const box = run && under(event);
    if (!box) return leave();
    const locked = box.look &&
      Object.entries(box.look).every(([key, value]) => String(look[key]) === String(value));
    const waits = box.look ? !locked : !box.set && !box.fire;
    if (pressed === "touch" && box.card !== null && waits && name(box) !== name(over)) {
      point(box, { clientX: event.clientX, clientY: event.clientY, pointerType: pressed });
      return;
    }
    const { set, fire } = event.shiftKey && box.add ? box.add : box.look ? {} : box;
    if (!act({ set, fire }) && box.look) lock(box.look, event.shiftKey);
  });
  function act({ set, fire }) {
    if (set) ask?.(set);
    else if (fire) bus.fire(...fire);
    return Boolean(set || fire);
  }
  desk.addEventListener("scroll", () => {
    scrolled = desk.scrollTop;
    leave();
    if (pen?.view) draw(true);
  }, { passive: true });
  // A finger does not leave what it has pointed at: the card stands until the page is scrolled, or
  // pressed elsewhere.
  const away = ({ target, type }) =>
    !card.hidden && (type === "scroll" ? target.contains(canvas) : !ours({ target })) && leave();
  for (const act of ["scroll", "pointerdown"]) {
    addEventListener(act, away, { capture: true, passive: true });
  }
  bus.on("hover-pos", ({ pos, from }) => {
    if (from === root || !run || !pen) return;
    const box = pos === null
      ? null
      : pen.boxes.map((one) => (one.of ? one.of(pos) : posOf(one) === pos && one))
        .find(Boolean);
    if (box) point(box, null, true);
    else if (over) leave(true);
  });

  const plots = plotsOf(paper, {
    address: plotly,
    moved() {
      leave();
      grip();
    },
    /** Locks what a box select holds, beside each other where a key takes several. */
    selected(frame) {
      const chosen = {};
      const [wide, high] = [frame.x1 - frame.x0, frame.y1 - frame.y0];
      const take = (box) => {
        for (const [key, value] of Object.entries(box?.look ?? {})) {
          if (kind(key).add) (chosen[key] ??= new Set()).add(value);
        }
      };
      for (const box of pen.boxes) {
        if (!box.at) {
          const [x, y] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
          if (x >= frame.x0 && x <= frame.x1 && y >= frame.y0 && y <= frame.y1) take(box);
          continue;
        }
        const steps = [Math.ceil(wide / 4), Math.ceil(high / 4)];
        for (let i = 0; i <= steps[0]; i += 1) {
          for (let j = 0; j <= steps[1]; j += 1) {
            const [x, y] = [frame.x0 + (i * wide) / steps[0], frame.y0 + (j * high) / steps[1]];
            if (x > box.x0 && x < box.x1 && y > box.y0 && y < box.y1) take(box.at(x, y));
          }
        }
      }
      const patch = Object.entries(chosen).map(([key, values]) => [key, [...values]]);
      if (patch.length) lock(Object.fromEntries(patch));
    },
  });
  const handles = handlesOf(paper, {
    spot,
    home: plots.home,
    still: ask === null,
    move(handle, value) {
      draft = { ...draft, [handle]: value };
      dragged(handle);
      draw();
    },
    rest: (how, value) => ask(how.set(value)),
  });

  // ── alive ──
  const leap = (event) => (event.shiftKey && run && picture.leap?.(run, look)) || 1;
  keys(root, {
    ArrowLeft: (event) => move((event.shiftKey && picture.aside) || along, -1),
    ArrowRight: (event) => move((event.shiftKey && picture.aside) || along, 1),
    PageUp: () => move(along, -1),
    PageDown: () => move(along, 1),
    ArrowUp: (event) => (across ? move(across, -leap(event)) : false),
    ArrowDown: (event) => (across ? move(across, leap(event)) : false),
    Home: () => to(0),
    End: () => to(1),
    " ": () => (clock ? sound.toggle() : false),
    Enter: (event) => Boolean(run && event.shiftKey && act(picture.press?.(run, look) ?? {})),
    Escape: reset,
  });
  new ResizeObserver(() => {
    const was = room;
    room = Math.floor(desk.clientWidth);
    if (room && room !== was) draw();
  }).observe(desk);
  onPage(projecting, () => {
    room = 0;
    leave();
    draw();
  });
  addEventListener("resize", () => projecting() && draw());
  onLang(() => draw());
  onPaint(() => draw());

  return {
    words: () => plain(picture.sentence(run, look)),
    get run() {
      return run;
    },
    get look() {
      return look;
    },
    get bounds() {
      return bounds;
    },
    title: () => title.textContent,
    units: () => units.textContent,
    width: () => room,
    busy: handles.busy,
    update,
    leave,
    stop: () => sound.stop(),
    /**
     * Draws this run from now on; null: there is nothing to show. What a handle was moved to is
     * known by now.
     */
    show(next, { stale = false, keeps = false } = {}) {
      if (!keeps) draft = {};
      if (next?.query !== run?.query) kept = null;
      run = next;
      body.classList.toggle("tfe-stale", stale);
      update();
    },
    /** What a handle was moved to is taken back. */
    undo() {
      if (handles.busy()) return;
      draft = {};
      draw();
    },
    /** A line under the sentence: what is on its way, what went wrong. */
    note(text) {
      note.hidden = !text;
      write(note, text);
    },
    table(open) {
      sheet.hidden = !open;
      if (!open || !run) return;
      const made = picture.table(run, look);
      sheet.setAttribute("aria-label", made.caption);
      sheet.replaceChildren(tableOf(made));
    },
  };
}

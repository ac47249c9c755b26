// Every position thinks for as long as it needs: its steps as blocks, its halting probability adding up, and what the answer would be if
// everything stopped now. All of it is in the value; the widget asks the server for nothing.

import { el, svg } from "./lib/dom.js";
import { exportBar } from "./lib/export.js";
import { keys } from "./lib/keys.js";
import { lang, onLang, t } from "./lib/lang.js";
import { plot } from "./lib/plot.js";
import { drawTable, exporters } from "./lib/ponderexport.js";
import { figure, short } from "./lib/ponderfigure.js";
import { layoutOf, place, wide } from "./lib/ponderplace.js";
import { readRun } from "./lib/ponderrun.js";
import { sumOf } from "./lib/pondersum.js";
import { TEXT, called, edge, mixed, nodes, plain, sentence } from "./lib/ponderwords.js";
import { judge, onOpen, positionsIn, request, view } from "./lib/state.js";
import { css, dark, onTheme } from "./lib/theme.js";

const PACE = 900; // ms that a step stands while playing
const CROWD = 26; // positions side by side above which the sum stands below the figure, not beside it
const LONG = 12; // signs of an answer above which the answers stand one below the other
const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
const KEYS = ["pos", "step", "far"];

const icon = (path) => svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" }));
const ICONS = { play: "M5 3.5v9l7-4.5z", pause: "M5.5 3.5v9M10.5 3.5v9", before: "M9.5 4l-4 4 4 4", after: "M6.5 4l4 4-4 4", start: "M4 4v8M11 4l-4 4 4 4" };

/** props: see ponder.py. */
export function mount(root, props, emit, watch) {
  // ── what stays on the page, built once ──
  const title = el("h2", { class: "tfe-title" });
  const units = el("span", { class: "tfe-units" });
  const legend = el("p", { class: "tfe-legend tfe-ponder-legend" });
  const drawing = el("div", { class: "tfe-ponder-plot" });
  const glance = el("div", { class: "tfe-ponder-glance", hidden: true });
  const board = el("div", { class: "tfe-ponder-board tfe-scroll", tabindex: "0", role: "application" }, el("div", { class: "tfe-ponder-stage" }, drawing, glance));
  const press = (name, act) => el("button", { type: "button", class: "tfe-ponder-step", onclick: act }, icon(ICONS[name]));
  const [start, play, before, after] = [press("start", () => go(1)), press("play", () => toggle()), press("before", () => move(-1)), press("after", () => move(1))];
  play.classList.add("is-play");
  const seek = el("input", { type: "range", class: "tfe-range", min: "1", step: "1", oninput: () => go(Number(seek.value)) });
  const count = el("span", { class: "tfe-ponder-count" });
  const transport = el("div", { class: "tfe-ponder-transport tfe-controls" }, start, play, before, after, seek, count);
  const chipsName = el("p", { class: "tfe-label tfe-ponder-if" });
  const chips = el("ol", { class: "tfe-ponder-chips" });
  const stops = el("div", { class: "tfe-ponder-stops" }, chipsName, chips);
  const words = el("p", { class: "tfe-words", "aria-live": "polite", id: "tfe-ponder-words" });
  const far = el("button", { type: "button", class: "tfe-chip tfe-ponder-far", onclick: () => set({ far: now.far ? null : 1 }) });
  const sum = sumOf();
  const take = el("div", { class: "tfe-ponder-take tfe-controls" });
  const sheet = el("div", { class: "tfe-ponder-table tfe-scroll tfe-controls", tabindex: "0", role: "region", hidden: true });
  const main = el("div", { class: "tfe-ponder-main" }, board, transport, stops, words);
  const side = el("aside", { class: "tfe-ponder-side tfe-controls" }, sum.node);
  const body = el("div", { class: "tfe-ponder-body" }, main, side);
  const foot = el("div", { class: "tfe-ponder-foot tfe-controls" }, far, take);
  const empty = el("p", { class: "tfe-empty", hidden: true });
  const head = el("div", { class: "tfe-ponder-head" }, title, units, legend);
  const panel = el("section", { class: "tfe-panel tfe-ponder-panel" }, head, empty, body, foot, sheet);
  const card = el("div", { class: "tfe-hover", role: "status", hidden: true });
  root.classList.add("tfe-projectable");
  root.append(panel, card);
  board.setAttribute("aria-describedby", words.id);
  const picture = plot(drawing, props.plotly);

  // ── state ──
  let run = null; // what is drawn: the value with its numbers at hand
  let value = null;
  let now = null; // what is looked at: {pos, step, far}
  let at = null; // where it stands, from `place`
  let timer = 0;
  let mine = false; // the change of the address under way is our own
  let arriving = 0;
  let preview = null; // the position under the pointer
  let waiting = 0;
  let room = 0;
  const locked = () => KEYS.some((key) => view.get(key) !== null);
  let asked = locked() && request.get() !== "";
  let opened = request.get() !== ""; // is the run under way that of a link or a step, which says itself what is looked at?

  const projecting = () => document.body.classList.contains("tfe-projecting") && root.classList.contains("tfe-projected");
  const say = (name, values = {}) => t(TEXT[name], { step: t(props.texts.step), axis: run ? t(run.axis) : "", ...values });

  function read() {
    const number = (key, least, most, otherwise) => {
      const text = view.get(key);
      return text !== null && /^\d{1,4}$/.test(text) ? Math.max(least, Math.min(most, Number(text))) : otherwise;
    };
    judge({ pos: positionsIn(run.count), step: (text) => /^\d+$/.test(text) && text >= 1 && text <= run.steps }, value.query);
    return { pos: number("pos", 0, run.count - 1, value.pick), step: number("step", 1, run.steps, run.steps), far: view.get("far") === "1" };
  }

  function quietly(patch) {
    mine = true;
    try {
      view.set(patch);
    } finally {
      mine = false;
    }
  }

  function set(patch) {
    quietly(patch);
    update();
  }

  // ── moving ──
  function go(step, halt = true) {
    if (!run) return;
    if (halt) stop();
    const to = Math.max(1, Math.min(run.steps, step));
    asked = false;
    set({ step: to === run.steps ? null : to });
  }
  const move = (by) => run && go(now.step + by);

  function choose(pos) {
    if (!run) return;
    leave();
    asked = false;
    set({ pos: Math.max(0, Math.min(run.count - 1, pos)) });
  }

  function stop() {
    if (!timer) return false;
    clearInterval(timer);
    timer = 0;
    labels();
    return true;
  }

  function toggle() {
    if (!run || stop()) return;
    if (now.step >= run.steps) go(1);
    timer = setInterval(() => {
      if (now.step >= run.steps) stop();
      else go(now.step + 1, false);
    }, PACE);
    labels();
  }

  function reset() {
    stop();
    leave();
    asked = false;
    set({ pos: null, step: null });
  }

  // ── a new result ──
  async function arrive() {
    const turn = (arriving += 1);
    const next = props.value;
    if (!next?.positions?.length) {
      value = run = null;
      stop();
      draw();
      return;
    }
    const ready = await readRun(next, props.texts.step);
    if (turn !== arriving) return; // a newer result overtook this one
    const was = value;
    [value, run] = [next, ready];
    if (was && was.query !== next.query) {
      stop();
      leave();
      // Over another input what was locked tells nothing; the same input run in another way is compared at the same place, as far as it goes.
      const same = was.positions.join("\n") === next.positions.join("\n");
      if (!asked && !same) quietly({ pos: null, step: null });
      if (!asked && same && !opened && next.pick !== now.pos) quietly({ pos: now.pos });
    }
    if (was) asked = opened = false;
    update();
  }

  // ── drawing ──
  function update() {
    if (!run) return;
    now = read();
    draw();
  }

  const palette = () => {
    const [accent, control, panel_] = ["--accent", "--control", "--panel"].map(css);
    return { accent, panel: panel_, stopped: mixed(control, panel_, 0.5) };
  };
  const look = () => ({ palette: palette(), scale: props.scales[dark() ? "dark" : "light"], font: SANS, words: say });

  /** The figure of some step in some room. */
  function made(step, width, tall, big) {
    const size = big ? 20 : 12;
    const ticks = [say("tick", { n: run.steps }), "1 − ε", "Σ h"].map((text) => wide(text, size, 700));
    const where = place({ labels: run.labels, steps: run.steps, room: width, tall, far: now.far, big, words: { axis: Math.max(...ticks) } });
    run.zh = lang() === "zh";
    return { where, figure: figure(run, { pos: now.pos, step }, where, look()) };
  }

  function draw() {
    empty.hidden = Boolean(run);
    for (const node of [body, foot, legend, units]) node.hidden = !run;
    if (!run) {
      sheet.hidden = true;
      delete root.dataset.drawn;
      labels();
      return;
    }
    const big = projecting();
    panel.classList.toggle("is-crowded", layoutOf(run.labels) === "columns" && run.count > CROWD);
    panel.classList.toggle("is-line", layoutOf(run.labels) === "line");
    body.classList.toggle("tfe-stale", value.state === "stale");
    labels();
    speak();
    answers();
    sum.draw(run, preview ?? now.pos, now.step);
    if (!sheet.hidden) drawTable(sheet, run, say);
    room = Math.floor(board.clientWidth);
    if (!room) return;
    const { where, figure: drawn } = made(now.step, room, big ? Math.max(300, innerHeight - 210 - stops.offsetHeight - words.offsetHeight) : 0, big);
    at = where;
    for (const [name, px] of [["width", at.width], ["height", at.height]]) drawing.style[name] = `${px}px`;
    if (at.mode === "columns" && at.width > room) {
      const { x0, x1 } = at.name(now.pos);
      if (x0 < board.scrollLeft || x1 > board.scrollLeft + room) board.scrollLeft = x0 - room / 2;
    }
    const what = `${at.mode} ${now.pos} ${now.step}${now.far ? " far" : ""}`;
    picture.draw(drawn).then(() => {
      root.dataset.drawn = what;
    });
  }

  function speak() {
    const parts = sentence(run, now);
    words.setAttribute("aria-live", timer ? "off" : "polite");
    if (words.textContent !== plain(parts)) words.replaceChildren(...nodes(parts));
  }

  /** What the answer would be after each step; wrong signs are told apart where every sign has a place of its own. */
  function answers() {
    const expected = Array.from(t(run.expected));
    const listed = run.stopped.some(({ answer }) => Array.from(t(answer)).length > LONG);
    chips.classList.toggle("is-list", listed);
    chips.classList.toggle("is-many", !listed && run.steps > 8);
    const key = JSON.stringify([value.query, lang(), run.stopped]);
    if (chips.dataset.key !== key) {
      chips.dataset.key = key;
      chips.replaceChildren(
        ...run.stopped.map(({ answer, right }, i) => {
          const letters = Array.from(t(answer));
          const apart = run.signs && !right && letters.length === expected.length;
          const off = apart ? letters.filter((letter, k) => letter !== expected[k]).length : 0;
          const text = apart ? letters.map((letter, k) => (letter === expected[k] ? letter : el("b", { class: "off", text: letter }))) : letters.join("");
          const verdict = right ? say("right") : apart ? say("wrongSigns", { n: off, of: letters.length }) : say("wrong");
          return el(
            "li",
            {},
            el(
              "button",
              { type: "button", class: `tfe-ponder-chip ${right ? "is-right" : "is-wrong"}`, onclick: () => go(i + 1) },
              el("span", { class: "after" }, el("span", { class: "long", text: say("chip", { n: i + 1 }) }), el("span", { class: "brief", "aria-hidden": "true", text: String(i + 1) })),
              el("bdi", { class: "answer" }, text),
              el("span", { class: "verdict" }, right ? "✓" : "✗", el("span", { class: "said", text: ` ${verdict}` })),
            ),
          );
        }),
      );
    }
    Array.from(chips.querySelectorAll("button")).forEach((chip, i) => {
      if (i + 1 === now.step) chip.setAttribute("aria-current", "step");
      else chip.removeAttribute("aria-current");
    });
  }

  function labels() {
    title.textContent = t(props.texts.region);
    empty.textContent = t(props.texts.empty ?? TEXT.empty);
    root.dataset.question = t(props.texts.question ?? TEXT.question);
    for (const [node, name] of [[start, "start"], [play, timer ? "pause" : "play"], [before, "before"], [after, "after"], [seek, "seek"]]) {
      if (node.getAttribute("aria-label") === say(name)) continue;
      node.setAttribute("aria-label", say(name));
      if (node !== seek) node.title = say(name);
      if (node === play) play.replaceChildren(icon(ICONS[timer ? "pause" : "play"]));
    }
    if (!run) return;
    units.textContent = run.forced ? say("unitsForced", { n: run.forced }) : say("units", { edge: edge(run) });
    chipsName.textContent = say("chips");
    far.textContent = say("far");
    far.setAttribute("aria-pressed", String(now.far));
    board.setAttribute("aria-label", say("board", { title: t(props.texts.region) }));
    count.textContent = say("count", { n: now.step, of: run.steps });
    seek.max = String(run.steps);
    seek.value = String(now.step);
    seek.disabled = run.steps < 2;
    seek.style.setProperty("--at", `${run.steps < 2 ? 100 : (100 * (now.step - 1)) / (run.steps - 1)}%`);
    before.disabled = start.disabled = now.step <= 1;
    after.disabled = now.step >= run.steps;
    const mark = (kind, text) => el("span", {}, el("span", { class: `mark is-${kind}` }), text);
    const parts = [mark("shades", say("legendShades")), mark("rest", say("legendRest")), mark("stopped", say("legendStopped")), mark("ahead", say("legendAhead"))];
    if (run.count > 1 && run.wanted.length) parts.push(mark("answer", say("legendAnswer")));
    if (run.marks.length) parts.push(mark("needed", say("legendMark")));
    legend.replaceChildren(...parts);
  }

  // ── pointing ──
  function under(event) {
    if (!at) return null;
    const box = drawing.getBoundingClientRect();
    return at.hit(event.clientX - box.left, event.clientY - box.top);
  }

  function cardOf(p) {
    const n = Math.min(now.step, run.last[p]);
    const why = say(run.reasons[p]);
    const lines = [
      `${say(run.last[p] === 1 ? "cardStep" : "cardSteps", { n: run.last[p], limit: run.forced || run.limit })} · ${why}`,
      run.forced ? null : say("cardSum", { sum: run.sum(p, n).toFixed(2), n }),
      say("cardRest", { rest: short(run.rest[p]), cost: (run.last[p] + run.rest[p]).toFixed(2) }),
      run.marks.includes(p) ? say("legendMark") : null,
      run.wanted.includes(p) && run.count > 1 ? say("legendAnswer") : null,
    ];
    return [called(run, p), ...lines.filter(Boolean)];
  }

  /** Shows what a position's sum comes to, without locking it. */
  function point(p, event) {
    if (p === preview) return;
    leave();
    if (p === null) return;
    preview = p;
    if (p !== now.pos) sum.draw(run, p, now.step);
    const rect = at.whole(p);
    if (rect) {
      glance.hidden = false;
      Object.assign(glance.style, { left: `${rect.x0}px`, top: `${rect.y0}px`, width: `${rect.x1 - rect.x0}px`, height: `${rect.y1 - rect.y0}px` });
    }
    if (projecting()) return;
    const touch = event.pointerType === "touch";
    waiting = setTimeout(() => {
      const [first, ...rest] = cardOf(p);
      card.replaceChildren(el("b", { text: first }), ...rest.map((text) => el("div", { text })), ...(p === now.pos ? [] : [el("div", { class: "do", text: say(touch ? "cardTap" : "cardDo") })]));
      card.hidden = false;
      const box = drawing.getBoundingClientRect();
      const spot = rect ?? { x0: 0, x1: at.width, y0: 0, y1: 0 };
      const narrow = at.mode === "columns" ? box.left + spot.x1 + 12 : event.clientX + 16;
      const left = narrow + card.offsetWidth <= innerWidth - 8 ? narrow : at.mode === "columns" ? box.left + spot.x0 - 12 - card.offsetWidth : event.clientX - 16 - card.offsetWidth;
      const top = at.mode === "columns" ? event.clientY - 20 : box.top + spot.y1 + 8;
      Object.assign(card.style, { left: `${Math.max(8, Math.min(left, innerWidth - card.offsetWidth - 8))}px`, top: `${Math.max(8, Math.min(innerHeight - card.offsetHeight - 8, top))}px` });
    }, 80);
  }

  function leave() {
    clearTimeout(waiting);
    card.hidden = glance.hidden = true;
    const seen = preview;
    preview = null;
    if (seen !== null && run && seen !== now.pos) sum.draw(run, now.pos, now.step);
  }

  drawing.addEventListener("pointermove", (event) => run && event.pointerType !== "touch" && point(under(event), event));
  drawing.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && leave());
  drawing.addEventListener("click", (event) => {
    if (!run) return;
    const p = under(event);
    if (p === null) return;
    if (event.pointerType === "touch" && p !== now.pos && p !== preview) point(p, event);
    else choose(p);
  });
  board.addEventListener("scroll", leave, { passive: true });

  // ── alive ──
  keys(root, {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    PageUp: () => move(-1),
    PageDown: () => move(1),
    ArrowUp: () => run && choose(now.pos - 1),
    ArrowDown: () => run && choose(now.pos + 1),
    Home: () => go(1),
    End: () => run && go(run.steps),
    " ": () => toggle(),
    Escape: () => (projecting() || !run || !(timer || view.get("pos") !== null || view.get("step") !== null) ? false : stop() || reset()),
  });

  const makers = exporters({
    state: () => run && { run, value, now, title: t(props.texts.region), units: units.textContent, words: plain(sentence(run, now)), say, made, width: at?.width ?? 720, step: t(props.texts.step) },
    picture,
    plotly: props.plotly,
  });
  take.append(
    exportBar(makers, {
      onTable(open) {
        sheet.hidden = !open;
        if (open && run) drawTable(sheet, run, say);
      },
    }),
  );

  new ResizeObserver(() => {
    const next = Math.floor(board.clientWidth);
    if (next > 0 && next !== room && run) draw();
  }).observe(board);
  let was = projecting();
  new MutationObserver(() => {
    if (projecting() === was) return;
    was = projecting();
    leave();
    if (run) requestAnimationFrame(draw);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  addEventListener("resize", () => projecting() && run && draw());
  view.on(KEYS, () => {
    if (mine) return;
    stop();
    update();
  });
  onOpen(() => {
    asked = locked();
    opened = true;
  });
  onLang(() => (run ? draw() : labels()));
  onTheme(() => run && draw());
  labels();
  watch("value", arrive);
  arrive();
}

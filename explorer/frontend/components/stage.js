// Any picture of a run on the page. The stage keeps the promises that are the same for all: what is
// looked at stands in the address, one grammar of keys, hover and lock and add, play and scrub,
// touch, language, theme, projector, phone, what one takes along, sentence, table, values that come
// late or grow.
//
// A picture is a module, explorer/frontend/pictures/NAME.js or explorer/labs/SLUG/NAME.js, and what
// it exports; everything is a pure function:
//
//   looks: {pos: "position", …}      keys of the address, in order, and their kinds
//                                    (lib/selection.js): position, positions (several), step, head
//                                    ("2.3"), pixel ("18,20"), pair ("2.13"), choice, flag, number
//   read(value, {texts, again})      the value of the server, its arrays unpacked -> the run that
//                                    all others take (may be a promise). again(): draws anew, when
//                                    something fetched has come. texts: of the lab
//   bounds(run, look)                {key: {count, pick} | {steps, first} | {layers, heads, names,
//                                    pick} | {names, pick} | {least, most, pick}}; look holds the
//                                    keys before. pick: what is looked at where the address says
//                                    nothing
//   scene(run, look, pen)            draws with the pen (lib/pen.js), in pen.width px, as high as
//                                    it likes or in pen.tall px where that is not 0; pen.big for an
//                                    audience, pen.narrow on phones. Ends with pen.size(width,
//                                    height[, keep[, view]]); of a picture higher than its view
//                                    only what lies from pen.top on is drawn. pen.hit(box) says
//                                    what can be pointed at, pen.handle(how) what can be dragged.
//                                    look also holds `draft` {handle: value} while one drags,
//                                    `plays` while it plays (everywhere), and `over`, what is
//                                    previewed, if `hovers` is true
//   figure(run, look, pen)           in place of scene: {data, layout} of one Plotly figure, which
//                                    is the whole picture (layout.height px high; pen.tall before
//                                    an audience; wider than there is room where layout.width says
//                                    so, and then {keep} stays in view). Colours are
//                                    "var(--query)", texts are plain, and zoom is kept while the
//                                    run, or layout.uirevision, stays. pen.plot(box, figure) puts
//                                    one beside other things that scene draws
//   pick(run, look, point)           what can be pointed at of a point, {trace, i, x, y,
//                                    customdata}, i its number or [row, column]: a box without its
//                                    place, or null; left out, customdata where it has a `look`
//   sentence(run, look, over)        a list of texts and {text, role: "query" | "key" | "out"}:
//                                    computed, true of what is drawn; over: as above
//   table(run, look)                 {caption, columns, rows, here}: the accessible twin, and the
//                                    CSV; a column is named with its unit
//
// and, where it needs them: arrays(run, look) {name: {shape, data, axes: [names], unit} | [texts]}
//   of the NPZ; left out, the
//                                    columns of the table
//   TEXT                             its texts; of them `board` is what the board is called, with
//                                    {title}, and `question` the projector's title
//   common                           what it has in common with other pictures
//   question, title, units, legend   question: the projector's title as a function of run and look;
//                                    title, units(run, look): texts; legend(run, look): [{text,
//                                    mark: {fill, line, hatch, radius, wide, tall} or {shades:
//                                    […]}}]
//   choices(run, look)               [{key, label, options: [{value, label}]}] segmented (`shown`:
//                                    its label too, else only of several), [{key, label}] a chip
//                                    (flag) or a slider (number)
//   below(run, look, lock, ask)      nodes and notes (texts) under the picture; lock({key: value})
//                                    locks, ask({field: text}) asks the program, null where there
//                                    is none. beside(run, look): nodes in the narrow column, of
//                                    what is pointed at; wide(run): it stands below
//   keeps(run, look)                 {name: …} of what was fetched for the look in view: part of
//                                    the value in a saved page
//   clock(run, look)                 {key, pace | seconds, stride, says(value), texts, sound,
//                                    at(second), when(value)}: it can be played. sound: an address;
//                                    at, when: second -> place and back, where they are not in
//                                    step. It goes on while something else is locked. silent(run,
//                                    draw): it cannot be had
//   along, across, aside             keys that ←/→, ↑/↓ and Shift with ←/→ move: by default the
//                                    step (else the position), the head (else the position), along
//   move, resets                     move(run, look, key, by) -> {key: value}; resets: what Esc
//                                    lets go of, by default what is locked
//   same(was, run, look)             does what is locked in one run tell the same in another one?
//                                    Left out: no. stays: the keys that stay then, input: those
//                                    that another input lets go of; left out, both are what is
//                                    locked
//   grown                            {key: text} that is locked when a run that grew before one's
//                                    eyes is whole, if nothing else is by then: such a picture lets
//                                    go of another run's locks when the new one begins to grow
//   completes(run, look, patch, {get, add})  what is locked with what a visitor locks, as a patch
//                                    of its own; keys of other views as texts. free: what Esc
//                                    writes, {key: text}. bounds(run, look, get): get(key) tells
//                                    the address
//   follow(run, look, changed, get)  what other views' keys, `follows`, change here: {key: text} or
//                                    null. tells(run, look): [event, detail] that other views hear
//                                    when another look stands, and when they fire "looking"
//   leap(run, look) how many Shift and ↑/↓ move by. press(run, look): {set | fire} of Shift and
//   Enter
//   lines, files, named, kept        of the files: lines(run, look): {columns, rows} of the CSV
//                                    where it is not the table; files: {kind: (run, look) -> such
//                                    lines, {name, ending = "png", blob()}, or null} of further
//                                    ones; named(run, look): the parts of their names; kept(run,
//                                    value): what a saved page reads (read(value, {away: true})
//                                    there); pen.away: it leaves
//   gather(run, look) a promise: fetches what a saved page and arrays hold beside what was looked
//   at
//   moves(run, was, look)            ms that the picture is on its way from one look to another;
//                                    scene then draws pen.part (0 … 1) of the way from the look
//                                    pen.was, and is called again and again; data-moving says so
//   lacks(run, look), takes(run, detail)  what the program is asked (event "look") for what is
//                                    looked at, null where it is here or on its way in vain; and
//                                    what has come, heard as "looked" (row_sink.js)
//   waits(run, look)                 is something that was fetched for what is locked still on its
//                                    way? data-drawn then ends with "waits"
//
// In a folded panel a picture asks for what it draws: see folded_view.js. In Python a lab's page
// says View("ponder", lambda value: stage("ponder", value, texts=TEXTS), draw); texts: {title,
// question, empty, …}, each {en, zh}. The value has `query` and `state` ("stored", "live",
// "running" while it grows, "stale"). Styles: explorer/frontend/pictures/NAME.css.
//
// A box: {x0, y0, x1, y1, look: {key: value}, card: () => [title, …lines], set: {field: text},
// fire: [event, detail], add: {set | fire}, pos}. Hover previews look, unless it is `quiet`, and
// opens the card; a click locks look, or asks the program for set; shift-click adds, or does `add`.
// A touch previews, the second locks; where card is null, the first. pos: the position that other
// views point at with it; of(pos): the box of such a position, where one box holds several. down():
// on the way to a click. drags: a mouse held down locks what it comes by. A handle previews while
// it is dragged (look.draft), and asks when the hand rests.
//
// Tests wait for data-drawn, "pos=8 step=6 far": what stands, by its keys. canvas.marks holds what
// the pen drew, texts among them, canvas.boxes what can be pointed at. Every view is part of a
// saved page, so a picture imports only what needs no server (lib/{dom,lang,pen,looking,arrays,…}).

import { board } from "../lib/board.js";
import { t } from "../lib/lang.js";
import { load } from "../lib/modules.js";
import { KINDS, pictureOf, thereOf } from "../lib/selection.js";
import { bus, judge, onOpen, request, view } from "../lib/state.js";
import { taking } from "../lib/export_menu.js";

const TEXT = {
  failed: {
    en: "The numbers did not arrive: {why}. Run the input once more.",
    zh: "数据未能送达：{why}。请再运行一次。",
  },
};
const REST = 90; // ms that the hand rests before what is looked at is asked for
const PATIENCE = 1500; // ms after an answer that brought nothing until what was dragged is taken back

/** Tells when the place of a picture comes into view. */
const seen = (root, tell) =>
  new IntersectionObserver((entries, self) => {
    if (!entries.at(-1).isIntersecting) return;
    self.disconnect();
    tell();
  }).observe(root);

/**
 * props: picture (the address of its module), texts; see stage.py.
 * @param {import("../border.d.ts").StageProps & {value?: any}} props
 */
export async function mount(root, props, emit, watch) {
  let told = null; // what a new value calls: it is watched once, since whoever sees it first has seen it for all
  watch("value", () => told?.());
  // Until a picture has something to draw, or its place is seen, its module need not come.
  if (!props.value) {
    await new Promise((done) => {
      told = () => props.value && done();
      seen(root, done);
    });
  }
  root.classList.add("tfe-arriving");
  const address = new URL(props.picture, location.origin).href;
  const { view: name, texts } = props;
  let stand = null; // the board, once the module is here
  let value = null; // what is drawn
  let settled = null; // {value, run, look, bounds}: the last that was whole
  let reading = false;
  let wished = false; // has something been asked whose answer is on its way?
  let turns = 0;
  let freed = null; // the query of a run that grows and has let go of another's locks
  let keysOf = [];
  const locked = () => keysOf.some((key) => view.get(key) !== null);
  const holds = () =>
    keysOf.some((key) => KINDS[picture.looks[key]].locks && view.get(key) !== null);

  const picture = pictureOf(await load(address));
  keysOf = Object.keys(picture.looks);
  // Does the address speak of a result that is on its way? Then that result keeps what is locked.
  let asked = locked() && request.get() !== "";
  let opened = request.get() !== "";
  let mine = false; // the change of the address under way is our own

  const menu = taking(
    () => stand,
    { picture, root, name, address, texts, plotly: props.plotly },
    () => value,
  );
  stand = board(root, picture, {
    texts,
    plotly: props.plotly,
    menu: [menu],
    store: {
      get: view.get,
      set(patch) {
        mine = true;
        try {
          view.set(patch);
        } finally {
          mine = false;
        }
      },
    },
    moved: () => (asked = false),
    dragged: () => bus.fire("changing", { by: name, state: "unrun" }),
    drawn() {
      for (const [kind, make] of Object.entries(picture.files ?? {})) {
        menu.querySelector(`[data-kind="${kind}"]`).hidden = !make(stand.run, stand.look);
      }
      tell();
      wonder();
    },
    ask(set) {
      wished = true;
      bus.fire("changing", { by: name, state: "running" });
      bus.fire("wish", { query: value.query, set, changes: true });
    },
  });

  // for a page that compares
  root.files = () => (stand.run && picture.arrays ? picture.arrays(stand.run, stand.look) : null);
  let said = "";
  function tell(anew = false) {
    const [event, detail] = (stand.run && picture.tells?.(stand.run, stand.look)) || [];
    if (!event || (!anew && said === JSON.stringify(detail))) return;
    said = JSON.stringify(detail);
    bus.fire(event, detail);
  }

  let wonders = "null"; // what the program was asked for what is looked at
  let resting = 0;
  function wonder() {
    const detail = picture.lacks?.(stand.run, stand.look) ?? null;
    if (wonders === JSON.stringify(detail)) return;
    wonders = JSON.stringify(detail);
    clearTimeout(resting);
    if (detail) resting = setTimeout(() => emit.look(detail), REST);
  }
  if (picture.takes) {
    bus.on("looked", async (detail) => {
      await picture.takes(stand.run, detail);
      wonders = "null";
      stand.update();
    });
  }

  /**
   * A new value: read, then drawn. One that comes while another is read waits, and only the newest
   * does.
   */
  async function arrive() {
    turns += 1;
    if (reading) return;
    reading = true;
    for (let turn = -1; turn !== turns;) {
      turn = turns;
      const next = props.value || null;
      try {
        const run = next && (await picture.read(next, { texts, again: () => stand.update() }));
        stand.note("");
        show(next, run || null);
      } catch (problem) {
        stand.note(t(TEXT.failed, { why: problem.message }));
      }
    }
    reading = false;
  }

  function show(next, run) {
    const [was, before, last] = [value, stand.run, settled];
    const whole = next?.state !== "running";
    value = next;
    // as they were looked at to the end
    if (last && last.run === before) {
      Object.assign(last, { look: stand.look, bounds: stand.bounds });
    }
    if (run && whole) settled = { value, run };
    if (before && run && was.query !== next.query) {
      stand.stop();
      stand.leave();
    }
    if (
      last && run && last.value.query !== next.query && (whole || picture.grown) &&
      freed !== next.query
    ) {
      // What was locked in another run tells nothing, unless a link or a step named it; in the same
      // one, asked for in another way, it stays.
      const same = picture.same?.(last.run, run, last.look) ?? false;
      const held = (same ? picture.stays : picture.input) ??
        keysOf.filter((key) => KINDS[picture.looks[key]].locks);
      const spelled = (key) =>
        KINDS[picture.looks[key]].spell(last.look[key], last.bounds[key] ?? {});
      // what the address says stays, also where this run is too short for it
      const free = opened ? [] : held.filter((key) => view.get(key) === null);
      const patch = Object.fromEntries(
        same ? free.map((key) => [key, spelled(key)]) : held.map((key) => [key, null]),
      );
      mine = true;
      if (!asked && (whole || !same)) view.set(patch);
      mine = false;
      freed = same ? null : next.query;
    }
    if (whole) freed = null;
    if (
      picture.grown && whole && was?.state === "running" && was.query === next?.query && !holds()
    ) {
      mine = true;
      view.set(picture.grown);
      mine = false;
    }
    if (before && whole) asked = opened = false;
    if (wished) bus.fire("changing", { by: name, state: null });
    wished = false;
    stand.show(run, { stale: next?.state === "stale", keeps: stand.busy() });
    if (!run || next.state === "running") return;
    judge(thereOf(picture, stand.bounds), next.query);
  }

  view.on([...keysOf, ...(picture.follows ?? [])], (changed) => {
    if (mine) return;
    stand.stop();
    const patch = stand.run && changed.some((key) => picture.follows?.includes(key)) &&
      picture.follow(stand.run, stand.look, changed, view.get);
    mine = true;
    if (patch) view.set(patch);
    mine = false;
    stand.update();
  });
  bus.on("looking", () => tell(true));
  onOpen(() => {
    asked = locked();
    opened = true;
  });
  bus.on("asking", (yes) => {
    const turn = turns;
    if (yes || !wished) return;
    setTimeout(() => {
      if (turns !== turn) return;
      wished = false;
      bus.fire("changing", { by: name, state: null });
      stand.undo();
    }, PATIENCE);
  });
  told = arrive;
  await arrive();
  root.classList.remove("tfe-arriving");
}

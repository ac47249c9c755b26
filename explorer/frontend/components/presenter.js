// The presenter's window: notes of the step that the hall sees, the next one, the time gone and
// planned, and what may be skipped. It follows the window that projects and drives it
// (lib/hall.js); what it must remember when it is opened anew stands in the tab's memory.

import { clear, el, segmented } from "../lib/dom.js";
import { channel } from "../lib/hall.js";
import { pageKeys } from "../lib/keys.js";
import { lang, onLang, t } from "../lib/lang.js";
import { keep, kept } from "../lib/session_storage.js";
import { slides } from "../lib/slides.js";
import { pageAt } from "../lib/state.js";

const KEY = "tfe-presenter";
const PATIENCE = 4; // seconds in which a window that is open answers
const LATE = 60; // seconds behind until something is said of skipping

const clock = (seconds) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
const near = (seconds) => clock(5 * Math.round(seconds / 5)); // a planned time

/**
 * props: labs in teaching order with their steps, routes {minutes: [[lab, step, seconds], …]}; see
 * presenter.py.
 */
export function mount(root, props) {
  const { labs, routes, texts } = props;
  const w = (name, values) => t(texts[name], values);
  const all = labs.flatMap((lab, at) =>
    lab.steps.map((step, n) => ({ ...step, lab, of: at, number: n + 1 }))
  );
  const find = (path, number) =>
    all.findIndex((one) => one.lab.path === path && one.number === number);
  const line = channel();
  const drawing = slides();
  const held = {
    minutes: Object.keys(routes)[0],
    at: 0,
    began: null,
    turned: null,
    skipped: [],
    ...JSON.parse(kept(KEY) ?? "{}"),
  };
  if (!all[held.at]) held.at = 0; // a lab has been closed since
  let seconds = new Map(); // step of the route -> what is planned for it
  let hall = null; // what the window that projects has told last
  let missed = 0; // seconds in which it has not answered
  let screen = null; // address of a picture of it

  // ---------------------------------------------------------------- the plan
  const skipped = (at) => held.skipped.includes(at);
  const ahead = () => [...seconds.keys()].filter((at) => at > held.at && !skipped(at));
  const sum = (steps) => steps.reduce((total, at) => total + seconds.get(at), 0);
  const since = (moment) => (moment ? (Date.now() - moment) / 1000 : 0);
  const save = () => keep(KEY, JSON.stringify(held));
  const called = (at) => w("one", { lab: t(all[at].lab.short), step: all[at].number });

  /** Seconds behind the plan: what is gone and what is still to come, of all that the route has. */
  const late = () =>
    since(held.began) + Math.max(
      0,
      (seconds.get(held.at) ??
        0) - since(held.turned),
    ) + sum(ahead()) - 60 * held.minutes;
  /** Steps that win back so many seconds, the least needed first. */
  function spare(behind) {
    const found = [];
    const least = ahead().filter((at) => all[at].rank > 1).sort((a, b) =>
      all[b].rank - all[a].rank || a - b
    );
    for (const at of least) if (sum(found) < behind) found.push(at);
    return found.sort((a, b) => a - b);
  }
  function plan() {
    seconds = new Map(
      routes[held.minutes].map(([of, number, planned]) => [find(labs[of].path, number), planned]),
    );
    const shown = [...new Set([...seconds.keys()].map((at) => all[at].of))];
    clear(bar).append(...shown.map((of) => {
      const steps = [...seconds.keys()].filter((at) => all[at].of === of);
      const button = el(
        "button",
        {
          type: "button",
          title: t(labs[of].title),
          onclick: () => go(steps[0]),
        },
        el("span", { text: t(labs[of].short) }),
        el("small", { text: near(sum(steps)) }),
      );
      const item = el("li", { style: { flexGrow: String(sum(steps)) } }, button);
      item.of = of;
      return item;
    }));
  }

  // ---------------------------------------------------------------- the other window
  function go(at) {
    if (at === undefined || !all[at]) return;
    const one = all[at];
    if (hall) {
      line.say({ presenter: "asks", to: hall.id, go: { path: one.lab.path, step: one.number } });
    }
    stand(at);
  }
  function show(picture) {
    if (screen) URL.revokeObjectURL(screen);
    screen = picture && URL.createObjectURL(picture);
  }
  function stand(at) {
    if (at !== held.at) show(null);
    if (at !== held.at || !held.began) {
      held.began ??= Date.now();
      Object.assign(held, {
        at,
        turned: Date.now(),
        skipped: held.skipped.filter((one) => one !== at),
      });
      save();
    }
    paint();
  }
  const turn = (by) =>
    go(
      by > 0 ? ahead()[0] : [...seconds.keys()].filter((at) =>
        at < held.at &&
        !skipped(at)
      ).at(-1),
    );
  const ask = (wish) => hall && line.say({ presenter: "asks", to: hall.id, ...wish });
  line.on((told) => {
    if (!told.hall) return;
    const other = hall && hall.id !== told.hall;
    if (!other) missed = 0;
    if (told.alive) return;
    if (told.picture !== undefined) {
      if (other || !told.picture || find(told.path, told.step) !== held.at) return;
      show(told.picture);
    } else if (told.gone) {
      if (!other) hall = null;
    } else if (told.turn) {
      if (!other) turn(told.turn);
      return;
    } else if (!other || told.projected || !hall.projected) {
      const fresh = hall?.id !== told.hall;
      hall = { ...told, id: told.hall };
      const at = find(told.path, told.step);
      if (fresh) line.say({ presenter: "here" });
      if (at >= 0 && at !== held.at) return stand(at);
    }
    paint();
  });
  addEventListener("pagehide", () => line.say({ presenter: "gone" }));

  function open() {
    const { lab, number } = all[held.at];
    const address = pageAt(lab.path, { step: number, lecture: "projector", lang: lang() });
    window.open(address, "tfe-hall", "popup,width=1280,height=720");
  }

  // ---------------------------------------------------------------- what stands in the window
  const badge = el("span", { class: "tfe-badge", role: "status" });
  const opener = el("button", {
    type: "button",
    class: "tfe-button small",
    onclick: () => (hall ? ask({ project: true }) : open()),
  });
  const pick = segmented({
    options: [],
    value: held.minutes,
    label: "",
    onPick(minutes) {
      Object.assign(held, { minutes, skipped: [] });
      save();
      plan();
      paint();
    },
  });
  const again = el("button", {
    type: "button",
    class: "tfe-button small",
    onclick() {
      Object.assign(held, { began: null, turned: null, skipped: [] });
      save();
      paint();
    },
  });
  const title = el("h1", { class: "tfe-title" });
  const bar = el("ol", { class: "tfe-presenter-bar" });
  const planned = el("span", { class: "tfe-presenter-mark" });
  const now = el("span", { class: "tfe-presenter-mark here" });
  const picture = () =>
    el("img", { class: "tfe-lecture-picture", alt: "", width: 640, height: 360 });

  const rows = all.map((step, at) => {
    const [name, time] = [el("span"), el("small")];
    const node = picture();
    const open_ = el(
      "button",
      { type: "button", class: "tfe-presenter-go", onclick: () => go(at) },
      el("span", { class: "tfe-shell-number", "aria-hidden": "true", text: String(step.number) }),
      node,
      el("span", {}, name, time),
    );
    const skip = el("button", {
      type: "button",
      class: "tfe-chip",
      onclick() {
        held.skipped = skipped(at)
          ? held.skipped.filter((one) => one !== at)
          : [...held.skipped, at];
        save();
        paint();
      },
    });
    return { item: el("li", {}, open_, skip), open: open_, name, time, skip, node };
  });
  const lists = labs.map((_lab, of) => {
    const head = el("h2", { class: "tfe-title" });
    return {
      head,
      node: el(
        "section",
        {},
        head,
        el("ol", {}, rows.filter((_, at) => all[at].of === of).map((row) => row.item)),
      ),
    };
  });
  const side = el(
    "nav",
    { class: "tfe-panel tfe-presenter-steps" },
    lists.map((list) => list.node),
  );

  const [screenTitle, screenPlace, view, covered] = [
    el("h2", { class: "tfe-title" }),
    el("span", { class: "tfe-units" }),
    picture(),
    el("p", { class: "tfe-note" }),
  ];
  const reveal = el("button", {
    type: "button",
    class: "tfe-button primary",
    "aria-keyshortcuts": "Enter",
    onclick: () => ask({ reveal: true }),
  });
  const cover = el("div", { class: "tfe-row" }, reveal, covered);
  const notesTitle = el("h2", { class: "tfe-title" });
  const notes = el("ul", { class: "tfe-presenter-notes" });
  const times = ["gone", "this"].map(() => ({
    name: el("span", { class: "tfe-label" }),
    value: el("b", { class: "tfe-presenter-time" }),
    plan: el("span", { class: "tfe-note" }),
  }));
  const [behind, wins, skipThem] = [
    el("h2", { class: "tfe-title" }),
    el("p", { class: "tfe-note" }),
    el("button", {
      type: "button",
      class: "tfe-button small",
      onclick() {
        held.skipped = [...held.skipped, ...spare(late())];
        save();
        paint();
      },
    }),
  ];
  const lateness = el("section", { class: "tfe-panel tfe-presenter-late" }, behind, wins, skipThem);
  const [nextTitle, nextPlace, nextView, nextAsks, then] = [
    el("h2", { class: "tfe-title" }),
    el("span", { class: "tfe-units" }),
    picture(),
    el("p", { class: "tfe-presenter-asks" }),
    el("p", { class: "tfe-note" }),
  ];
  const label = (key) => el("kbd", { text: key, "aria-hidden": "true" });
  const [backWord, forwardWord] = [el("span"), el("span")];
  const back = el(
    "button",
    { type: "button", class: "tfe-button", onclick: () => turn(-1) },
    backWord,
    label("PgUp"),
  );
  const forward = el(
    "button",
    {
      type: "button",
      class: "tfe-button primary",
      onclick: () => turn(1),
    },
    forwardWord,
    label("PgDn"),
  );

  root.append(
    el(
      "header",
      { class: "tfe-row tfe-presenter-head" },
      title,
      badge,
      opener,
      el("span", { class: "tfe-presenter-gap" }),
      pick.node,
      again,
    ),
    el(
      "div",
      { class: "tfe-presenter-route" },
      bar,
      el("div", { class: "tfe-presenter-marks", "aria-hidden": "true" }, planned, now),
    ),
    el(
      "div",
      { class: "tfe-presenter-desk" },
      side,
      el(
        "div",
        { class: "tfe-presenter-middle" },
        el(
          "section",
          { class: "tfe-panel" },
          el("div", { class: "tfe-row tight apart" }, screenTitle, screenPlace),
          view,
          cover,
        ),
        el("section", { class: "tfe-panel tfe-presenter-say", tabindex: "0" }, notesTitle, notes),
      ),
      el(
        "div",
        { class: "tfe-presenter-right" },
        el(
          "section",
          { class: "tfe-panel tfe-presenter-times" },
          times.map(({ name, value, plan: planned_ }) => el("div", {}, name, value, planned_)),
        ),
        lateness,
        el(
          "section",
          { class: "tfe-panel tfe-presenter-next" },
          el("div", { class: "tfe-row tight apart" }, nextTitle, nextPlace),
          nextView,
          nextAsks,
          then,
        ),
        el("div", { class: "tfe-row tfe-presenter-turn" }, back, forward),
      ),
    ),
  );

  async function draw(node, at) {
    if (node.at === at) return;
    node.at = at;
    node.removeAttribute("src");
    const address = at === undefined ? null : await drawing.want(all[at].lab.path, all[at].number);
    if (node.at !== at) return;
    if (address) node.src = address;
    else node.at = null; // asked for again with the next news
  }
  const where = ({ lab, number }) =>
    w("place", { lab: t(lab.title), step: number, of: lab.steps.length });

  /** What changes with every second. */
  function tick() {
    const gone = since(held.began);
    const plan_ = sum([...seconds.keys()].filter((at) => at < held.at));
    [[gone, plan_], [since(held.turned), seconds.get(held.at) ?? 0]].forEach(
      ([value, planned_], n) => {
        times[n].value.textContent = clock(value);
        times[n].plan.textContent = w("planned", { time: near(planned_) });
      },
    );
    for (const [node, at, text] of [[planned, plan_, "planned"], [now, gone, "now"]]) {
      node.style.left = `${Math.min(100, (at / (60 * held.minutes)) * 100)}%`;
      node.classList.toggle("end", at > 54 * held.minutes);
      node.textContent = w(text, { time: text === "now" ? clock(at) : near(at) });
    }
    const lag = held.began ? late() : 0;
    behind.textContent = Math.abs(lag) < LATE
      ? w("fits")
      : w(lag > 0 ? "behind" : "ahead", { time: clock(Math.abs(lag)) });
    const found = lag >= LATE ? spare(lag) : [];
    wins.textContent = found.length
      ? w("wins", {
        steps: found.map(called).join(lang() === "zh" ? "、" : ", "),
        time: near(sum(found)),
      })
      : "";
    skipThem.hidden = !found.length;
    lateness.classList.toggle("late", lag >= LATE);
  }

  function paint() {
    const one = all[held.at];
    title.textContent = w("title");
    badge.className = `tfe-badge ${hall?.projected ? "live" : "unrun"}`;
    badge.textContent = hall
      ? w(hall.projected ? "projected" : "followed", { size: hall.size })
      : w("nobody");
    opener.hidden = Boolean(hall?.projected);
    opener.textContent = w(hall ? "project" : "open");
    pick.set({
      options: Object.keys(routes).map((minutes) => ({
        key: minutes,
        label: w("minutes", { n: minutes }),
      })),
      value: held.minutes,
      label: w("route"),
    });
    again.textContent = w("again");
    bar.setAttribute("aria-label", w("labs"));
    for (const item of bar.children) {
      item.classList.toggle("here", item.of === one.of);
      item.firstChild.setAttribute("aria-current", String(item.of === one.of));
    }
    side.setAttribute("aria-label", w("steps"));
    const following = all[ahead()[0]]?.of ?? one.of + 1;
    lists.forEach(({ head, node }, of) => {
      node.hidden = of !== one.of && of !== (following === one.of ? one.of + 1 : following);
      head.textContent = t(labs[of].title);
    });
    const next = ahead()[0];
    draw(nextView, next);
    rows.forEach(({ item, open: open_, name, time, skip, node }, at) => {
      item.className = at === held.at ? "here" : "";
      open_.setAttribute("aria-current", at === held.at ? "step" : "false");
      name.textContent = t(all[at].question);
      time.textContent = seconds.has(at) ? near(seconds.get(at)) : w("off");
      skip.hidden = at <= held.at || !seconds.has(at) || (all[at].rank === 1 && !skipped(at));
      skip.textContent = w(skipped(at) ? "skipped" : "may_skip");
      skip.setAttribute("aria-pressed", String(skipped(at)));
      skip.setAttribute(
        "aria-label",
        w("skip", { step: all[at].number, lab: t(all[at].lab.short) }),
      );
      if (!lists[all[at].of].node.hidden) draw(node, at);
    });
    if (side.at !== held.at) {
      side.scrollTop = rows[held.at].item.offsetTop - side.offsetTop - side.clientHeight / 3;
    }
    side.at = held.at;
    screenTitle.textContent = w("screen");
    screenPlace.textContent = where(one);
    if (screen) {
      view.at = null;
      view.src = screen;
    } else draw(view, held.at);
    cover.hidden = !hall?.covered;
    covered.textContent = w("covered");
    reveal.replaceChildren(w("reveal"), label("Enter"));
    notesTitle.textContent = w("notes");
    const said = [
      one.guess && w("ask", { guess: t(one.guess) }),
      t(one.say),
      one.show &&
      w("show", { show: t(one.show) }),
      hall?.sentence && w("says", { sentence: hall.sentence }),
    ];
    clear(notes).append(...said.filter(Boolean).map((text) => el("li", { text })));
    times.forEach(({ name }, n) => (name.textContent = w(n ? "this" : "gone")));
    skipThem.textContent = w("skip_them");
    nextTitle.textContent = w("next");
    nextPlace.textContent = next === undefined ? "" : where(all[next]);
    nextView.hidden = next === undefined;
    nextAsks.textContent = next === undefined ? w("end") : t(all[next].question);
    then.textContent = ahead().slice(1, 3).map((at, n) =>
      `${n ? "" : w("then")} ${called(at)}: ${t(all[at].question)}`
    ).join(" · ");
    backWord.textContent = w("back");
    forwardWord.textContent = w("forward");
    forward.disabled = next === undefined;
    back.disabled = ![...seconds.keys()].some((at) => at < held.at);
    tick();
  }
  const renew = () => {
    drawing.renew();
    for (const node of root.querySelectorAll("img")) node.at = null;
    plan();
    paint();
  };
  const moving =
    (by) =>
    () => (document.activeElement?.closest('[role="radiogroup"]') ? false : (turn(by), true));
  pageKeys({
    PageDown: moving(1),
    ArrowRight: moving(1),
    PageUp: moving(-1),
    ArrowLeft: moving(-1),
    Enter: () => (hall?.covered && !document.activeElement?.closest("button, a")
      ? (ask({ reveal: true }), true)
      : false),
  });
  onLang(renew);
  plan();
  paint();
  setInterval(() => {
    tick();
    if (!hall) return;
    ask({ alive: true });
    missed += 1;
    if (missed <= PATIENCE) return;
    hall = null;
    paint();
  }, 1000);
  line.say({ presenter: "here" });
}

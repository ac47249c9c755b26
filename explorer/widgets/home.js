// The family map. Cards stand in columns by year, what came before its root in one; a line runs from each lab to what
// descends from it, in the colour of what changed. With few years the words stand beside the map and its root is drawn
// large; with many they stand in the map's empty corner.

import { unpack } from "./lib/arrays.js";
import { clear, el, svg } from "./lib/dom.js";
import { lang, onLang, t } from "./lib/lang.js";
import { number, short, shown } from "./lib/maps.js";
import { fit, paint as raster, table } from "./lib/raster.js";
import { pageAt } from "./lib/state.js";
import { css, onTheme } from "./lib/theme.js";

const COLOUR = { input: "--cat-1", memory: "--cat-4", cost: "--cat-2", depth: "--cat-3", reading: "--cat-6",
  measured: "--ink3" };
const GAP = { column: 36, row: 24, card: 196 };
const PITCH = [120, 210]; // px from one row to the next: as the screen has room, so that it is filled
const MOST = 6; // cards of a year below each other; more stand in two columns
const AROUND = 184; // px of the screen above and below the rows

export function mount(root, props) {
  const { labs, texts } = props;
  const w = (name, values) => t(texts[name], values);
  const bySlug = new Map(labs.map((lab) => [lab.slug, lab]));
  const heirs = (slug) => labs.filter((lab) => lab.ancestors.includes(slug)).length;
  const first = labs.reduce((best, lab) => (heirs(lab.slug) > heirs(best.slug) ? lab : best),
    labs[0]); // that most others descend from
  const colours = table(props.weight_scale);
  const painters = [];
  const say = (node, text) => {
    painters.push(() => {
      node.textContent = typeof text === "function" ? text() : t(text);
    });
    return node;
  };
  const linkTo = (node, path, search) => {
    painters.push(() => {
      node.href = pageAt(path, search);
    });
    return node;
  };

  // ---------------------------------------------------------------- the words
  const years = [...new Set(labs.map((lab) => lab.year))].sort((a, b) => a - b);
  const beside = years.length <= 3; // the words beside the map, or in its corner
  const title = el("h1", { class: "tfe-home-title" });
  painters.push(() => {
    clear(title);
    w("title")
      .split("\n")
      .forEach((line, at) => title.append(at ? el("br") : "", line));
  });
  const alone = labs.length === 1;
  const actions = el("div", { class: "tfe-row tight tfe-home-actions" });
  if (props.lecture) actions.append(linkTo(say(el("a", { class: "tfe-button primary" }), texts.lecture),
    props.lecture));
  else if (first) actions.append(linkTo(say(el("a", { class: "tfe-button primary" }),
    () => (alone ? w("open") : w("first", { lab: t(first.short) }))), first.path));
  if (alone && first.steps.length) actions.append(linkTo(say(el("a", { class: "tfe-button" }), texts.begin),
    first.path, { step: 1 }));
  if (!alone && labs.length) {
    actions.append(
      say(el("button", { type: "button", class: "tfe-button",
        onclick: () => (location.href = pageAt(labs[Math.floor(Math.random() * labs.length)].path)) }), texts.surprise),
    );
  }
  const hero = el("div", { class: "tfe-home-hero" }, title, say(el("p", { class: "tfe-lead tfe-home-lead" }), alone
    ? texts.lead_one : texts.lead), actions);
  if (alone && first.steps.length) {
    const list = el("ol", { class: "tfe-home-steps" });
    first.steps.forEach((step, at) =>
      list.append(el("li", {}, linkTo(el("a", {}, el("span",
        { class: "tfe-home-number", text: String(at + 1), "aria-hidden": "true" }), say(el("span"), step)), first.path,
          { step: at + 1 }))),
    );
    hero.append(el("nav", {}, say(el("p", { class: "tfe-label" }), texts.shows), list));
    painters.push(() => hero.lastChild.setAttribute("aria-label", w("shows")));
  }

  // ---------------------------------------------------------------- pictures
  const made = (data) => Float32Array.from(data, (one) => (one < 0 ? Number.NaN : one)); // −1: nothing stands there
  function small(lab, size) {
    const canvas = el("canvas", { class: "tfe-home-thumb", "aria-hidden": "true" });
    const draw = (array) => {
      const [rows, columns] = array.shape;
      raster(fit(canvas, size, size), { data: made(array.data), rows, columns, colours, empty: css("--sunk"), x: 0,
        y: 0, width: size, height: size, radius: 4 });
    };
    const grey = (array) => grown(fit(canvas, size, size), array, lab.picture.outlines, size);
    if (lab.picture) {
      const paint = lab.picture.levels ? grey : draw;
      unpack(lab.picture.levels ?? lab.picture.weights).then((array) => {
        paint(array);
        onTheme(() => paint(array));
      });
    } else fit(canvas, size, size);
    return canvas;
  }

  /** A grey picture as far as it is made (−1: not yet), blocks outlined in the colours of their roles. */
  function grown(context, array, outlines, size) {
    const [rows, columns] = array.shape;
    raster(context, { data: made(array.data), rows, columns, colours: table([[0, "#000000"], [1, "#FFFFFF"]]),
      empty: css("--sunk"), low: 0, high: 255, x: 0, y: 0, width: size, height: size, radius: 4 });
    for (const [role, [top, left, bottom, right]] of outlines) {
      const [x, y] = [(left / columns) * size, (top / rows) * size];
      const [w, h] = [((right - left) / columns) * size, ((bottom - top) / rows) * size];
      for (const [colour, width] of [[css("--panel"), 3], [css(`--${role}`), 1.5]]) {
        context.strokeStyle = colour;
        context.lineWidth = width;
        context.strokeRect(x + 1, y + 1, w - 2, h - 2);
      }
    }
  }

  /**
   * The root's own attention map, with its words; the pointer over a row asks that row. On phones its cells are smaller
   * and carry no numbers.
   */
  function large(lab) {
    const { queries, keys, pick, weights } = lab.picture;
    const words = el("p", { class: "tfe-words" });
    const frame = el("div", {});
    let data = null;
    let compact = null;
    let look = () => {};
    const strongest = (i) => {
      let best = 0;
      for (let j = 1; j < keys.length; j += 1) if (data[i * keys.length + j] > data[i * keys.length + best]) best = j;
      return best;
    };
    const home = () => data && look(...(pick ?? [0, strongest(0)]));

    function build() {
      if (!data || compact === innerWidth <= 720) return;
      compact = innerWidth <= 720;
      const size = compact ? 12 : 15;
      const wordWidth = (text) => textWidth(shown(text), size);
      const longest = Math.max(...keys.map(wordWidth));
      const index = compact ? 16 : 22; // room for a number beside its word
      const left = (compact ? 8 : 18) + Math.max(...queries.map(wordWidth), 24) + index;
      // As wide as the sheet it stands on, within reason; words stand upright only where they no longer fit.
      const cell = { h: compact ? 20 : 34 };
      const roomy = Math.max(1.4 * cell.h * (queries.length + 1.4) - left, longest * keys.length * 0.98) / keys.length;
      cell.w = compact ? Math.max(12, Math.min(30, (innerWidth - 76 - left) / keys.length))
        : Math.max(34, Math.min(66, roomy));
      const upright = longest > cell.w * 1.03;
      const numbers = cell.w >= 30;
      const below = compact ? 22 : 30; // between a word and the first row: its number
      const head = upright ? longest + below : below + 16;
      const width = left + cell.w * keys.length + 2;
      const height = head + cell.h * queries.length + 2;
      const box = svg("svg", { viewBox: `0 0 ${width} ${height}`,
        class: `tfe-home-map-picture${compact ? " compact" : ""}`, role: "img", preserveAspectRatio: "xMinYMin" });
      const middle = size / 3;
      const rows = queries.map((text, i) => {
        const y = head + (i + 0.5) * cell.h + middle;
        return svg(
          "g",
          { class: "tfe-home-row" },
          svg("rect", { class: "ground", x: 0, y: head + i * cell.h + 1, width: left - 4, height: cell.h - 2, rx: 4 }),
          svg("text", { x: left - index - 8, y, "text-anchor": "end", class: "word", text: shown(text) }),
          svg("text", { x: left - 8, y, "text-anchor": "end", class: "index", text: String(i) }),
        );
      });
      const columns = keys.map((text, j) => {
        const x = left + (j + 0.5) * cell.w;
        const place = upright ? { transform: `translate(${x + middle} ${head - below + 4}) rotate(-90)` }
          : { x, y: 18, "text-anchor": "middle" };
        return svg(
          "g",
          { class: "tfe-home-column" },
          svg("rect", { class: "ground", x: x - cell.w / 2, y: 1, width: cell.w, height: head - 3, rx: 4 }),
          svg("text", { ...place, class: "word", text: shown(text) }),
          svg("text", { x, y: head - (compact ? 5 : 9), "text-anchor": "middle", class: "index", text: String(j) }),
        );
      });
      const cells = svg("g", { class: "tfe-home-cells" });
      for (let i = 0; i < queries.length; i += 1) {
        for (let j = 0; j < keys.length; j += 1) {
          const value = data[i * keys.length + j];
          const at = 3 * Math.max(0, Math.min(255, Math.round(value * 255)));
          const [x, y] = [left + j * cell.w, head + i * cell.h];
          cells.append(svg("rect", { x, y, width: cell.w, height: cell.h,
            fill: `rgb(${colours[at]} ${colours[at + 1]} ${colours[at + 2]})` }));
          if (numbers && value >= 0.1) {
            cells.append(svg("text", { x: x + cell.w / 2, y: y + cell.h / 2 + middle, "text-anchor": "middle",
              class: value < props.ink_turns_at ? "light" : "dark", text: short(value) }));
          }
        }
      }
      const line = { x: left, width: cell.w * keys.length, height: cell.h };
      const halo = svg("rect", { class: "tfe-home-halo", ...line });
      const ring = svg("rect", { class: "tfe-home-ring", ...line });
      const spot = svg("rect", { class: "tfe-home-spot", width: cell.w - 3, height: cell.h - 3 });
      box.append(...rows, ...columns, cells, halo, ring, spot);
      look = (i, j) => {
        rows.forEach((row, at) => row.classList.toggle("here", at === i));
        columns.forEach((column, at) => column.classList.toggle("here", at === j));
        for (const node of [ring, halo]) node.setAttribute("y", String(head + i * cell.h));
        spot.setAttribute("x", String(left + j * cell.w + 1.5));
        spot.setAttribute("y", String(head + i * cell.h + 1.5));
        const values = { query: `“${shown(queries[i])}” (${i})`, key: `“${shown(keys[j])}” (${j})`,
          weight: number(data[i * keys.length + j]) };
        clear(words);
        for (const piece of w("pointed").split(/(\{\w+\})/)) {
          const key = piece.slice(1, -1);
          if (key in values && piece.startsWith("{")) words.append(key === "weight" ? values[key]
            : el("span", { class: `tfe-${key}`, text: values[key] }));
          else words.append(piece);
        }
        box.setAttribute("aria-label",
            `${w("picture", { rows: queries.length, columns: keys.length })}: ${words.textContent}`);
      };
      box.addEventListener("pointermove", (event) => {
        if (event.pointerType !== "mouse") return;
        const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(box.getScreenCTM().inverse());
        const i = Math.floor((place.y - head) / cell.h);
        const j = Math.floor((place.x - left) / cell.w);
        if (i < 0 || i >= queries.length) return;
        look(i, j >= 0 && j < keys.length && data[i * keys.length + j] >= 0.1 ? j : strongest(i));
      });
      box.addEventListener("pointerleave", home);
      frame.replaceChildren(box);
      home();
    }
    unpack(weights).then((array) => {
      data = array.data;
      build();
    });
    addEventListener("resize", build);
    painters.push(home);
    return el("div", { class: "tfe-home-large" }, frame, words,
      say(el("p", { class: "tfe-note tfe-desk" }), texts.real));
  }

  // ---------------------------------------------------------------- cards
  const list = el("ol", { class: "tfe-home-cards" });
  const lines = svg("svg", { class: "tfe-home-lines", "aria-hidden": "true" });
  const yearMarks = el("div", { class: "tfe-home-years", "aria-hidden": "true" });
  const map = el("section", { class: "tfe-home-map" }, yearMarks, lines, list);
  painters.push(() => map.setAttribute("aria-label", w("map")));
  const cards = new Map();
  for (const lab of [...labs].sort((a, b) => a.year - b.year)) {
    const isRoot = lab === first;
    const big = isRoot && beside && lab.picture?.queries?.length > 0;
    const a = linkTo(el("a", { class: "tfe-home-card" }), lab.path);
    const name = say(el("h2", { class: "tfe-home-name" }), lab.title);
    painters.push(() => a.setAttribute("aria-label",
      `${t(lab.title)}, ${lab.year}: ${t(lab.card).replace(/\n/g, " ")}`));
    const text = say(el("p", { class: "tfe-home-text" }), lab.card);
    const change = isRoot ? null : say(el("p", { class: "tfe-home-changed" }), props.changed[lab.changed]);
    if (big) a.append(el("div", { class: "tfe-home-words" }, name, text), large(lab));
    else if (isRoot && lab.picture) {
      const aside = el("p", { class: "tfe-home-looks" });
      const { pick, queries, keys } = lab.picture;
      if (pick && queries.length) {
        unpack(lab.picture.weights).then((array) => {
          const draw = () =>
            clear(aside).append(
              el("span", { class: "tfe-query", text: shown(queries[pick[0]]) }),
              el("span", { text: w("looks") }),
              el("span", { class: "tfe-key", text: shown(keys[pick[1]]) }),
              el("span", { text: number(array.data[pick[0] * keys.length + pick[1]]) }),
            );
          painters.push(draw);
          draw();
        });
      }
      a.append(el("div", { class: "tfe-home-top" }, small(lab, 160), aside),
        el("div", { class: "tfe-home-words" }, name, text));
    } else a.append(small(lab, 96), el("div", { class: "tfe-home-words" }, name, text, change));

    const from = el("p");
    painters.push(() => {
      const parents = lab.ancestors.map((slug) => t(bySlug.get(slug).short));
      from.textContent = (parents.length ? w("from_", { lab: parents.join(lang() === "zh" ? "、" : ", ") }) + " "
        : "") + t(lab.line);
    });
    const who = el("p", { class: "tfe-home-who" }, say(el("b"), lab.short), ` ${lab.authors}, ${lab.year}`);
    const steps = say(el("span", { class: "tfe-note" }), () =>
      (lab.steps.length ? w("steps", { of: lab.steps.length }) : ""));
    const more = el("div", { class: "tfe-home-more", hidden: true }, who, from,
      el("div", { class: "tfe-row tight" }, linkTo(say(el("a", { class: "tfe-button primary small" }), texts.open),
        lab.path), steps));
    const item = el("li", { class: `tfe-home-item${isRoot ? " root" : ""}${big ? " big" : ""}` }, a, big ? null : more);
    item.style.setProperty("--change", isRoot ? "var(--accent)" : `var(${COLOUR[lab.changed]})`);
    cards.set(lab.slug, { lab, item, a, name, more, isRoot, big });
    list.append(item);
  }

  // ---------------------------------------------------------------- the ancestry that hover or focus lifts
  const ancestry = (slug, found = new Set()) => {
    if (!found.has(slug)) {
      found.add(slug);
      for (const parent of bySlug.get(slug)?.ancestors ?? []) ancestry(parent, found);
    }
    return found;
  };
  let lifted = null;
  let waiting = 0;
  function lift(slug) {
    if (slug === lifted) return;
    lifted = slug;
    const family = slug ? ancestry(slug) : new Set();
    for (const { lab, item, more, big } of cards.values()) {
      item.classList.toggle("kin", family.has(lab.slug));
      item.classList.toggle("lifted", lab.slug === slug);
      if (!big) more.hidden = lab.slug !== slug || root.classList.contains("narrow");
    }
    for (const path of lines.querySelectorAll("[data-child]")) path.classList.toggle("lifted",
      family.has(path.dataset.child) && family.has(path.dataset.parent));
    if (slug) place(cards.get(slug));
  }
  function place({ item, more }) {
    if (more.hidden) return;
    more.classList.remove("above", "left");
    const box = more.getBoundingClientRect();
    more.classList.toggle("above", box.bottom > innerHeight - 8 && item.getBoundingClientRect().top - box.height > 56);
    more.classList.toggle("left", box.right > document.documentElement.clientWidth - 8);
  }
  const soon = (slug, wait) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => lift(slug), wait);
  };
  for (const { lab, item } of cards.values()) {
    item.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && soon(lab.slug, 80));
    item.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && soon(null, 160));
    item.addEventListener("focusin", () => soon(lab.slug, 0));
    item.addEventListener("focusout", (event) => !item.contains(event.relatedTarget) && soon(null, 0));
  }
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && lifted) lift(null);
  });

  // ---------------------------------------------------------------- where everything stands
  const legend = el("div", { class: "tfe-home-legend" });
  const drawn = Object.keys(COLOUR).filter((key) => labs.some((lab) => lab.changed === key && lab.ancestors.length));
  if (drawn.length) {
    legend.append(say(el("b"), texts.changed));
    for (const key of drawn) legend.append(el("span", {}, el("i", { style: { background: `var(${COLOUR[key]})` } }),
      say(el("span"), props.changed[key])));
  }
  root.append(hero, map, legend);
  root.classList.toggle("beside", beside);
  root.classList.toggle("alone", alone);

  function arrange() {
    const wide = root.clientWidth;
    const fitting = Math.floor((wide + GAP.column) / (GAP.card + GAP.column)); // columns
    const earlier = years.filter((year) => year < first.year);
    const groups = beside ? years.map((year) => [year]) : [earlier,
      ...years.filter((year) => year >= first.year).map((year) => [year])];
    const narrow = innerWidth <= 720 || (!beside && fitting < Math.min(5,
      years.length)); // too few: the map becomes a line of years
    root.classList.toggle("narrow", narrow);
    yearMarks.replaceChildren();
    lines.replaceChildren();
    if (narrow) {
      let last = null;
      list.removeAttribute("style");
      for (const { lab, item } of cards.values()) {
        item.removeAttribute("style");
        item.style.setProperty("--change", lab === first ? "var(--accent)" : `var(${COLOUR[lab.changed]})`);
        item.dataset.year = lab.year === last ? "" : String(lab.year);
        last = lab.year;
      }
      return;
    }
    for (const { item } of cards.values()) delete item.dataset.year;

    // Columns: what came before, then a year each, in two where one would be too high; where there are more than fit,
    // the earliest share one.
    const parts = groups.filter((group) => group.length).flatMap((group) => {
      const here = [...cards.values()].filter(({ lab }) => group.includes(lab.year));
      const each = Math.ceil(here.length / Math.ceil(here.length / MOST));
      return Array.from({ length: Math.ceil(here.length / each) },
        (_, n) => ({ years: n ? [] : group, cards: here.slice(n * each, (n + 1) * each) }));
    });
    while (!beside && parts.length > fitting) {
      const [a, b] = parts.splice(0, 2);
      parts.unshift({ years: [...a.years, ...b.years], cards: [...a.cards, ...b.cards] });
    }
    const columns = parts.map((part) => part.cards);
    const count = columns.length;
    const across = (wide + GAP.column) / count - GAP.column; // px of a card
    root.classList.toggle("tight", !beside && across < 220);
    parts.forEach((part, column) => {
      for (const card of part.cards) {
        card.column = column;
        card.name.dataset.year = new Set(part.cards.map(({ lab }) => lab.year)).size > 1 ? card.lab.year : "";
      }
    });
    const spanOf = (card) => (card.isRoot ? (beside ? 0 : 2) : 1);

    // Rows: a card stands as near to its parents' row as the order allows. In the corner stand the words.
    const overWords = (column) => !beside && column < 2;
    const rowsAt = (pitch) => {
      const corner = beside ? 0 : Math.max(1, Math.ceil((hero.offsetHeight + 8) / pitch));
      const most = Math.max(...columns.map((cardsHere, column) =>
        cardsHere.reduce((sum, card) => sum + Math.max(1, spanOf(card)), 0) + (overWords(column) ? corner : 0)));
      return { pitch, corner, most };
    };
    const least = rowsAt(PITCH[0]);
    const { pitch, corner, most } = beside ? least : rowsAt(Math.max(PITCH[0],
      Math.min(PITCH[1], (innerHeight - AROUND) / least.most)));
    const high = pitch - GAP.row;
    root.style.setProperty("--high", `${high}px`);
    root.style.setProperty("--thumb", `${beside ? 64 : Math.round(Math.max(64, Math.min(high - 26, 0.3 * across)))}px`);
    columns.forEach((cardsHere, column) => {
      const wish = (card) => {
        if (card.isRoot) return beside ? 0 : corner;
        const parents = card.lab.ancestors.map((slug) => cards.get(slug)).filter((parent) => parent &&
          parent.column < column && !parent.isRoot);
        if (parents.length) return parents.reduce((sum, parent) => sum + parent.row, 0) / parents.length;
        return overWords(column) ? corner + cardsHere.indexOf(card)
          : ((cardsHere.indexOf(card) + 0.5) * most) / cardsHere.length - 0.5;
      };
      // Cards that hang on the root alone keep apart from each other.
      const wishes = cardsHere.map((card, at) => ({ card, at, wish: wish(card) })).sort((a, b) => a.wish - b.wish ||
        b.card.isRoot - a.card.isRoot || a.at - b.at);
      const taken = new Set();
      const free = (from, span) => {
        for (let d = 0; d < most + span; d += 1) {
          for (const row of [from + d, from - d]) {
            const need = Array.from({ length: span }, (_, k) => row + k);
            if (row >= (overWords(column) ? corner : 0) && row + span <= most &&
              need.every((r) => !taken.has(r))) return row;
          }
        }
        return most;
      };
      for (const { card, wish: row } of wishes) {
        const span = Math.max(1, spanOf(card));
        card.row = free(Math.floor(row), span);
        for (let k = 0; k < span; k += 1) taken.add(card.row + k);
      }
    });
    const rows = Math.max(...[...cards.values()].map((card) => card.row + Math.max(1, spanOf(card))));
    list.style.gridTemplateColumns = beside ? columns.map((cardsHere) =>
      (cardsHere.some((card) => card.big) ? "minmax(0, 1fr)" : "minmax(180px, 230px)")).join(" ")
        : `repeat(${count}, minmax(0, 1fr))`;
    for (const card of cards.values()) {
      card.item.style.gridColumn = String(card.column + 1);
      card.item.style.gridRow = card.big ? `1 / span ${rows}` : `${card.row + 1} / span ${Math.max(1, spanOf(card))}`;
    }
    drawLines(columns, parts);
  }

  function drawLines(columns, parts) {
    const origin = map.getBoundingClientRect();
    const box = (node) => {
      const r = node.getBoundingClientRect();
      return { left: r.left - origin.left, right: r.right - origin.left, top: r.top - origin.top,
        bottom: r.bottom - origin.top, middle: (r.top + r.bottom) / 2 - origin.top };
    };
    lines.setAttribute("viewBox", `0 0 ${origin.width} ${origin.height}`);
    const edge = columns.map((cardsHere) => (cardsHere.length ? box(cardsHere[0].item) : null));
    columns.forEach((cardsHere, column) => {
      if (!cardsHere.length) return;
      const top = Math.min(...cardsHere.map((card) => box(card.item).top));
      const [from, to] = [parts[column].years[0], parts[column].years.at(-1)];
      const label = from === undefined ? "" : to < first.year && !beside ? w("before", { year: first.year })
        : from === to ? String(from) : `${from}–${to}`;
      yearMarks.append(el("span", { text: label, style: { left: `${edge[column].left}px`, top: `${top - 46}px`,
        height: `${origin.height - top + 46}px` } }));
    });
    const pairs = [];
    for (const child of cards.values())
      for (const slug of child.lab.ancestors) if (cards.has(slug)) pairs.push({ parent: cards.get(slug), child });
    // Where lines leave one card they fan out in the order of where they arrive.
    const leaving = new Map();
    for (const pair of pairs) {
      if (!leaving.has(pair.parent)) leaving.set(pair.parent, []);
      leaving.get(pair.parent).push(pair);
    }
    const gutters = new Map(); // lines that share a corridor between two rows keep apart
    for (const [parent, group] of leaving) {
      const from = box(parent.a);
      group.sort((a, b) => box(a.child.a).middle - box(b.child.a).middle);
      group.forEach((pair, at) => {
        const target = box(pair.child.a);
        const high = from.bottom - from.top;
        const y0 = group.length === 1 && !parent.isRoot ? from.middle
          : from.top + high * (0.14 + (0.76 * (at + 0.5)) / group.length);
        let d;
        if (pair.child.column === parent.column) {
          const x = from.left + 30;
          d = target.top > from.bottom ? `M${x} ${from.bottom}V${target.top}` : `M${x} ${from.top}V${target.bottom}`;
        } else {
          const [x0, x1, y1] = [from.right, target.left, target.middle];
          const half = GAP.column / 2;
          if (pair.child.column - parent.column <= 1 || crossesNothing(parent.column, pair.child.column, y1)) {
            const bend = Math.min(x1, x0 + GAP.column + 4);
            d = `M${x0} ${y0}C${x0 + half + 6} ${y0} ${bend - half - 6} ${y1} ${bend} ${y1}H${x1}`;
          } else {
            const lanes = [target.top - GAP.row / 2, target.bottom + GAP.row / 2]; // above the card or, where one is in the way, below
            const lane = lanes.find((y) => crossesNothing(parent.column, pair.child.column, y)) ?? lanes[0];
            const key = Math.round(lane);
            const turn = gutters.get(key) ?? 0;
            gutters.set(key, turn + 1);
            const y = lane + (turn % 2 ? -1 : 1) * Math.ceil(turn / 2) * 4;
            d = `M${x0} ${y0}C${x0 + half + 6} ${y0} ${x0 + half - 4} ${y} ${x0 + GAP.column + 8} ${y}H${x1 - GAP.column - 8}C${x1 - half + 4} ${y} ${x1 - half - 6} ${y1} ${x1} ${y1}`;
          }
        }
        const colour = `var(${COLOUR[pair.child.lab.changed]})`;
        const marks = { "data-parent": parent.lab.slug, "data-child": pair.child.lab.slug, style: { color: colour } };
        lines.append(svg("path", { d, ...marks }));
        if (pair.child.column !== parent.column) lines.append(svg("circle",
          { cx: target.left, cy: target.middle, r: 4, ...marks }));
      });
    }
    function crossesNothing(from, until, y) {
      for (let column = from + 1; column < until; column += 1) {
        for (const card of columns[column]) {
          const b = box(card.a);
          if (y > b.top - 6 && y < b.bottom + 6) return false;
        }
      }
      return true;
    }
  }

  const paint = () => {
    for (const painter of [...painters]) painter();
    arrange();
  };
  onLang(paint);
  paint();
  let last = 0;
  new ResizeObserver(() => {
    const size = root.clientWidth + list.clientHeight / 1e5 + innerWidth / 1e4;
    if (Math.abs(size - last) < 1e-6) return;
    last = size;
    arrange();
  }).observe(root);
  document.fonts?.ready.then(arrange);
}

const pen = document.createElement("canvas").getContext("2d");
function textWidth(text, size) {
  pen.font = `${size}px ${css("--font-ui")}`;
  return pen.measureText(text).width;
}

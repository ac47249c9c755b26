// The family map. Cards stand in columns by year, what came before its root in one; a line runs
// from each lab to what descends from it, in the colour of what changed. The words stand in the
// map's empty corner.

import { unpack } from "../lib/arrays.js";
import { clear, el, svg } from "../lib/dom.js";
import { lang, t } from "../lib/lang.js";
import { number, shown } from "../lib/maps.js";
import { fit, paint as raster, table } from "../lib/raster.js";
import { speaking } from "../lib/speaking.js";
import { pageAt } from "../lib/state.js";
import { css, onPaint } from "../lib/theme.js";

const COLOUR = {
  input: "--cat-1",
  memory: "--cat-4",
  cost: "--cat-2",
  depth: "--cat-3",
  reading: "--cat-6",
  measured: "--ink3",
};
const GAP = { column: 36, row: 24, card: 196 };
const PITCH = [120, 210]; // px from one row to the next: as the screen has room, so that it is filled
const MOST = 6; // cards of a year below each other; more stand in two columns
const AROUND = 184; // px of the screen above and below the rows

export function mount(root, props) {
  const { labs, texts } = props;
  const w = (name, values) => t(texts[name], values);
  const bySlug = new Map(labs.map((lab) => [lab.slug, lab]));
  const heirs = (slug) => labs.filter((lab) => lab.ancestors.includes(slug)).length;
  const first = labs.reduce(
    (best, lab) => (heirs(lab.slug) > heirs(best.slug) ? lab : best),
    labs[0],
  ); // that most others descend from
  const colours = table(props.weight_scale);
  const { paint, paints, say, name: named, links } = speaking(() => first && arrange());

  // ---------------------------------------------------------------- the words
  const years = [...new Set(labs.map((lab) => lab.year))].sort((a, b) => a - b);
  const title = el("h1", { class: "tfe-home-title" });
  paints(title, () => {
    clear(title);
    w("title")
      .split("\n")
      .forEach((line, at) => title.append(at ? el("br") : "", line));
  });
  const actions = el("div", { class: "tfe-row tight tfe-home-actions" });
  if (props.lecture) {
    actions.append(
      links(
        say(el("a", { class: "tfe-button primary" }), texts.lecture),
        () => pageAt(props.lecture),
      ),
    );
  }
  if (labs.length) {
    actions.append(
      say(
        el("button", {
          type: "button",
          class: "tfe-button",
          onclick:
            () => (location.href = pageAt(labs[Math.floor(Math.random() * labs.length)].path)),
        }),
        texts.surprise,
      ),
    );
  }
  const hero = el(
    "div",
    { class: "tfe-home-hero" },
    title,
    say(el("p", { class: "tfe-lead tfe-home-lead" }), texts.lead),
    actions,
  );

  // ---------------------------------------------------------------- pictures
  const made = (data) => Float32Array.from(data, (one) => (one < 0 ? Number.NaN : one)); // −1: nothing stands there
  function small(lab, size) {
    const canvas = el("canvas", { class: "tfe-home-thumb", "aria-hidden": "true" });
    const draw = (array) => {
      const [rows, columns] = array.shape;
      raster(fit(canvas, size, size), {
        data: made(array.data),
        rows,
        columns,
        colours,
        empty: css("--sunk"),
        x: 0,
        y: 0,
        width: size,
        height: size,
        radius: 4,
      });
    };
    const grey = (array) => grown(fit(canvas, size, size), array, lab.picture.outlines, size);
    if (lab.picture) {
      const paint = lab.picture.levels ? grey : draw;
      unpack(lab.picture.levels ?? lab.picture.weights).then((array) => {
        paint(array);
        onPaint(() => paint(array));
      });
    } else fit(canvas, size, size);
    return canvas;
  }

  /**
   * A grey picture as far as it is made (−1: not yet), blocks outlined in the colours of their
   * roles.
   */
  function grown(context, array, outlines, size) {
    const [rows, columns] = array.shape;
    raster(context, {
      data: made(array.data),
      rows,
      columns,
      colours: table([[0, "#000000"], [1, "#FFFFFF"]]),
      empty: css("--sunk"),
      low: 0,
      high: 255,
      x: 0,
      y: 0,
      width: size,
      height: size,
      radius: 4,
    });
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

  // ---------------------------------------------------------------- cards
  const list = el("ol", { class: "tfe-home-cards" });
  const lines = svg("svg", { class: "tfe-home-lines", "aria-hidden": "true" });
  const yearMarks = el("div", { class: "tfe-home-years", "aria-hidden": "true" });
  const map = el("section", { class: "tfe-home-map" }, yearMarks, lines, list);
  named(map, texts.map);
  const cards = new Map();
  for (const lab of [...labs].sort((a, b) => a.year - b.year)) {
    const isRoot = lab === first;
    const a = links(el("a", { class: "tfe-home-card" }), () => pageAt(lab.path));
    const name = say(el("h2", { class: "tfe-home-name" }), lab.title);
    named(a, () => `${t(lab.title)}, ${lab.year}: ${t(lab.card).replace(/\n/g, " ")}`);
    const text = say(el("p", { class: "tfe-home-text" }), lab.card);
    const change = isRoot
      ? null
      : say(el("p", { class: "tfe-home-changed" }), props.changed[lab.changed]);
    if (isRoot && lab.picture) {
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
          paints(aside, draw);
          draw();
        });
      }
      a.append(
        el("div", { class: "tfe-home-top" }, small(lab, 160), aside),
        el("div", { class: "tfe-home-words" }, name, text),
      );
    } else a.append(small(lab, 96), el("div", { class: "tfe-home-words" }, name, text, change));

    const from = say(el("p"), () => {
      const parents = lab.ancestors.map((slug) => t(bySlug.get(slug).short));
      return (parents.length
        ? w("from_", { lab: parents.join(lang() === "zh" ? "、" : ", ") }) + " "
        : "") + t(lab.line);
    });
    const who = el(
      "p",
      { class: "tfe-home-who" },
      say(el("b"), lab.short),
      ` ${lab.authors}, ${lab.year}`,
    );
    const steps = say(
      el("span", { class: "tfe-note" }),
      () => (lab.steps.length ? w("steps", { of: lab.steps.length }) : ""),
    );
    const more = el(
      "div",
      { class: "tfe-home-more", hidden: true },
      who,
      from,
      el(
        "div",
        { class: "tfe-row tight" },
        links(
          say(el("a", { class: "tfe-button primary small" }), texts.open),
          () => pageAt(lab.path),
        ),
        steps,
      ),
    );
    const item = el("li", { class: `tfe-home-item${isRoot ? " root" : ""}` }, a, more);
    item.style.setProperty("--change", isRoot ? "var(--accent)" : `var(${COLOUR[lab.changed]})`);
    cards.set(lab.slug, { lab, item, a, name, more, isRoot });
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
    for (const { lab, item, more } of cards.values()) {
      item.classList.toggle("kin", family.has(lab.slug));
      item.classList.toggle("lifted", lab.slug === slug);
      more.hidden = lab.slug !== slug || root.classList.contains("narrow");
    }
    for (const path of lines.querySelectorAll("[data-child]")) {
      path.classList.toggle(
        "lifted",
        family.has(path.dataset.child) && family.has(path.dataset.parent),
      );
    }
    if (slug) place(cards.get(slug));
  }
  function place({ item, more }) {
    if (more.hidden) return;
    more.classList.remove("above", "left");
    const box = more.getBoundingClientRect();
    more.classList.toggle(
      "above",
      box.bottom > innerHeight - 8 && item.getBoundingClientRect().top - box.height > 56,
    );
    more.classList.toggle("left", box.right > document.documentElement.clientWidth - 8);
  }
  const soon = (slug, wait) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => lift(slug), wait);
  };
  for (const { lab, item } of cards.values()) {
    item.addEventListener(
      "pointerenter",
      (event) => event.pointerType === "mouse" && soon(lab.slug, 80),
    );
    item.addEventListener(
      "pointerleave",
      (event) => event.pointerType === "mouse" && soon(null, 160),
    );
    item.addEventListener("focusin", () => soon(lab.slug, 0));
    item.addEventListener(
      "focusout",
      (event) => !item.contains(event.relatedTarget) && soon(null, 0),
    );
  }
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && lifted) lift(null);
  });

  // ---------------------------------------------------------------- where everything stands
  const legend = el("div", { class: "tfe-home-legend" });
  const drawn = Object.keys(COLOUR).filter((key) =>
    labs.some((lab) => lab.changed === key && lab.ancestors.length)
  );
  if (drawn.length) {
    legend.append(say(el("b"), texts.changed));
    for (const key of drawn) {
      legend.append(
        el(
          "span",
          {},
          el("i", { style: { background: `var(${COLOUR[key]})` } }),
          say(el("span"), props.changed[key]),
        ),
      );
    }
  }
  root.append(hero, map, legend);

  function arrange() {
    const wide = root.clientWidth;
    const fitting = Math.floor((wide + GAP.column) / (GAP.card + GAP.column)); // columns
    const earlier = years.filter((year) => year < first.year);
    const groups = [earlier, ...years.filter((year) => year >= first.year).map((year) => [year])];
    const narrow = innerWidth <= 720 || fitting < Math.min(5, years.length); // too few: the map becomes a line of years
    root.classList.toggle("narrow", narrow);
    yearMarks.replaceChildren();
    lines.replaceChildren();
    if (narrow) {
      let last = null;
      list.removeAttribute("style");
      for (const { lab, item } of cards.values()) {
        item.removeAttribute("style");
        item.style.setProperty(
          "--change",
          lab === first ? "var(--accent)" : `var(${COLOUR[lab.changed]})`,
        );
        item.dataset.year = lab.year === last ? "" : String(lab.year);
        last = lab.year;
      }
      return;
    }
    for (const { item } of cards.values()) delete item.dataset.year;

    // Columns: what came before, then a year each, in two where one would be too high; where there
    // are more than fit, the earliest share one.
    const parts = groups.filter((group) => group.length).flatMap((group) => {
      const here = [...cards.values()].filter(({ lab }) => group.includes(lab.year));
      const each = Math.ceil(here.length / Math.ceil(here.length / MOST));
      return Array.from(
        { length: Math.ceil(here.length / each) },
        (_, n) => ({ years: n ? [] : group, cards: here.slice(n * each, (n + 1) * each) }),
      );
    });
    while (parts.length > fitting) {
      const [a, b] = parts.splice(0, 2);
      parts.unshift({ years: [...a.years, ...b.years], cards: [...a.cards, ...b.cards] });
    }
    const columns = parts.map((part) => part.cards);
    const count = columns.length;
    const across = (wide + GAP.column) / count - GAP.column; // px of a card
    root.classList.toggle("tight", across < 220);
    parts.forEach((part, column) => {
      for (const card of part.cards) {
        card.column = column;
        card.name.dataset.year = new Set(part.cards.map(({ lab }) => lab.year)).size > 1
          ? card.lab.year
          : "";
      }
    });
    const spanOf = (card) => (card.isRoot ? 2 : 1);

    // Rows: a card stands as near to its parents' row as the order allows. In the corner stand the
    // words.
    const overWords = (column) => column < 2;
    const rowsAt = (pitch) => {
      const corner = Math.max(1, Math.ceil((hero.offsetHeight + 8) / pitch));
      const most = Math.max(
        ...columns.map((cardsHere, column) =>
          cardsHere.reduce((sum, card) => sum + spanOf(card), 0) + (overWords(column) ? corner : 0)
        ),
      );
      return { pitch, corner, most };
    };
    const least = rowsAt(PITCH[0]);
    const { pitch, corner, most } = rowsAt(
      Math.max(PITCH[0], Math.min(PITCH[1], (innerHeight - AROUND) / least.most)),
    );
    const high = pitch - GAP.row;
    root.style.setProperty("--high", `${high}px`);
    root.style.setProperty(
      "--thumb",
      `${Math.round(Math.max(64, Math.min(high - 26, 0.3 * across)))}px`,
    );
    columns.forEach((cardsHere, column) => {
      const wish = (card) => {
        if (card.isRoot) return corner;
        const parents = card.lab.ancestors.map((slug) => cards.get(slug)).filter((parent) =>
          parent &&
          parent.column < column && !parent.isRoot
        );
        if (parents.length) {
          return parents.reduce((sum, parent) => sum + parent.row, 0) / parents.length;
        }
        return overWords(column)
          ? corner + cardsHere.indexOf(card)
          : ((cardsHere.indexOf(card) + 0.5) * most) / cardsHere.length - 0.5;
      };
      // Cards that hang on the root alone keep apart from each other.
      const wishes = cardsHere.map((card, at) => ({ card, at, wish: wish(card) })).sort((a, b) =>
        a.wish - b.wish ||
        b.card.isRoot - a.card.isRoot || a.at - b.at
      );
      const taken = new Set();
      const free = (from, span) => {
        for (let d = 0; d < most + span; d += 1) {
          for (const row of [from + d, from - d]) {
            const need = Array.from({ length: span }, (_, k) => row + k);
            if (
              row >= (overWords(column) ? corner : 0) && row + span <= most &&
              need.every((r) => !taken.has(r))
            ) return row;
          }
        }
        return most;
      };
      for (const { card, wish: row } of wishes) {
        const span = spanOf(card);
        card.row = free(Math.floor(row), span);
        for (let k = 0; k < span; k += 1) taken.add(card.row + k);
      }
    });
    list.style.gridTemplateColumns = `repeat(${count}, minmax(0, 1fr))`;
    for (const card of cards.values()) {
      card.item.style.gridColumn = String(card.column + 1);
      card.item.style.gridRow = `${card.row + 1} / span ${spanOf(card)}`;
    }
    drawLines(columns, parts);
  }

  function drawLines(columns, parts) {
    const origin = map.getBoundingClientRect();
    const box = (node) => {
      const r = node.getBoundingClientRect();
      return {
        left: r.left - origin.left,
        right: r.right - origin.left,
        top: r.top - origin.top,
        bottom: r.bottom - origin.top,
        middle: (r.top + r.bottom) / 2 - origin.top,
      };
    };
    lines.setAttribute("viewBox", `0 0 ${origin.width} ${origin.height}`);
    const edge = columns.map((cardsHere) => (cardsHere.length ? box(cardsHere[0].item) : null));
    columns.forEach((cardsHere, column) => {
      if (!cardsHere.length) return;
      const top = Math.min(...cardsHere.map((card) => box(card.item).top));
      const [from, to] = [parts[column].years[0], parts[column].years.at(-1)];
      const label = from === undefined
        ? ""
        : to < first.year
        ? w("before", { year: first.year })
        : from === to
        ? String(from)
        : `${from}–${to}`;
      yearMarks.append(
        el("span", {
          text: label,
          style: {
            left: `${edge[column].left}px`,
            top: `${top - 46}px`,
            height: `${origin.height - top + 46}px`,
          },
        }),
      );
    });
    const pairs = [];
    for (const child of cards.values()) {
      for (const slug of child.lab.ancestors) {
        if (cards.has(slug)) pairs.push({ parent: cards.get(slug), child });
      }
    }
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
        const y0 = group.length === 1 && !parent.isRoot
          ? from.middle
          : from.top + high * (0.14 + (0.76 * (at + 0.5)) / group.length);
        let d;
        if (pair.child.column === parent.column) {
          const x = from.left + 30;
          d = target.top > from.bottom
            ? `M${x} ${from.bottom}V${target.top}`
            : `M${x} ${from.top}V${target.bottom}`;
        } else {
          const [x0, x1, y1] = [from.right, target.left, target.middle];
          const half = GAP.column / 2;
          if (
            pair.child.column - parent.column <= 1 ||
            crossesNothing(parent.column, pair.child.column, y1)
          ) {
            const bend = Math.min(x1, x0 + GAP.column + 4);
            d = `M${x0} ${y0}C${x0 + half + 6} ${y0} ${bend - half - 6} ${y1} ${bend} ${y1}H${x1}`;
          } else {
            const lanes = [target.top - GAP.row / 2, target.bottom + GAP.row / 2]; // above the card or, where one is in the way, below
            const lane = lanes.find((y) => crossesNothing(parent.column, pair.child.column, y)) ??
              lanes[0];
            const key = Math.round(lane);
            const turn = gutters.get(key) ?? 0;
            gutters.set(key, turn + 1);
            const y = lane + (turn % 2 ? -1 : 1) * Math.ceil(turn / 2) * 4;
            d = `M${x0} ${y0}C${x0 + half + 6} ${y0} ${x0 + half - 4} ${y} ${
              x0 + GAP.column + 8
            } ${y}H${x1 - GAP.column - 8}C${x1 - half + 4} ${y} ${x1 - half - 6} ${y1} ${x1} ${y1}`;
          }
        }
        const colour = `var(${COLOUR[pair.child.lab.changed]})`;
        const marks = {
          "data-parent": parent.lab.slug,
          "data-child": pair.child.lab.slug,
          style: { color: colour },
        };
        lines.append(svg("path", { d, ...marks }));
        if (pair.child.column !== parent.column) {
          lines.append(svg("circle", { cx: target.left, cy: target.middle, r: 4, ...marks }));
        }
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

  paint();
  let last = 0;
  new ResizeObserver(() => {
    const size = root.clientWidth + list.clientHeight / 1e5 + innerWidth / 1e4;
    if (Math.abs(size - last) < 1e-6) return;
    last = size;
    if (first) arrange();
  }).observe(root);
  document.fonts?.ready.then(() => first && arrange());
}

// Where the tokens stand in each of the five steps of hashing, how they travel from one to the
// next, and what is drawn beside them in the first three, on the sheet of a Plotly figure. A scene,
// `s`, is made by hashing.js.

import { upTo } from "../../frontend/lib/arrays.js";
import { blocks } from "../../frontend/lib/blocks.js";
import { t } from "../../frontend/lib/lang.js";
import { colour, ink } from "../../frontend/lib/pen.js";
import { escape } from "../../frontend/lib/plot.js";
import { ticksAt } from "../../frontend/lib/sheet.js";
import { number, shown } from "../../frontend/lib/signs.js";
import { deciding } from "./hashnumbers.js";
import {
  caption,
  clamp,
  css,
  inData,
  notesIn,
  partAround,
  roleOf,
  SPOT,
  styleOf,
  tilesIn,
  tokensIn,
  told,
} from "./hashtiles.js";
import { cardOf, nameOf, TEXT } from "./hashwords.js";

/** What is made of each place in view, in the colour of its role. */
const inRoles = (s, make) =>
  told(s).map(([i, colour_]) => make(i, { weight: 700, colour: colour_ }));
const boxOf = (s, i, { x, y, w, h }) => ({
  x0: x,
  x1: x + w,
  y0: y,
  y1: y + h,
  still: true,
  look: { pos: i },
  card: () => cardOf(s, i),
});

/** Tokens that can be pointed at. more: px below each that belong to it; near: px around it. */
function pointed(s, at, more = 0, near = 1) {
  const within = (v, from, size) => v >= from - near && v <= from + size + near;
  s.pen.hit({
    x0: 0,
    x1: s.width,
    y0: 0,
    y1: s.high,
    at(x, y) {
      const i = at.spots.findIndex((spot) =>
        within(x, spot.x, spot.w) && within(y, spot.y, spot.h + more)
      );
      return i < 0 ? null : boxOf(s, i, at.spots[i]);
    },
    of: (i) => (at.spots[i] ? boxOf(s, i, at.spots[i]) : null),
  });
}

// ── 1 · vectors ──
const vectors = {
  place(s) {
    const { run, width, narrow, big, size, drawn, round, model, anchor } = s;
    const side = narrow ? width : Math.min(s.high, Math.round(width * 0.47));
    const dot = (run.length <= 64 ? 20 : run.length <= 140 ? 15 : run.length <= 300 ? 11 : 7) *
      (big ? 1.5 : narrow ? 0.8 : 1);
    const [cx, cy] = [side / 2, narrow ? side / 2 : s.high / 2];
    const radius = side / 2 - size * 2.3 - dot / 2;
    const half = model.kinds / 2;
    const own = drawn && anchor !== null ? drawn.slice(anchor) : null;
    const [a, b] = s.plane === "first" || half <= 2 || !own
      ? [0, half > 1 ? 1 : null]
      : deciding(own, round.buckets[anchor]);
    const value = (i, c) => (c === null || !drawn ? 0 : drawn.data[i * half + c]);
    let most = 1;
    for (let i = 0; i < run.length; i += 1) {
      most = Math.max(most, Math.hypot(value(i, a), value(i, b)));
    }
    // Decided along an axis of this plane, or by a coordinate that it does not show.
    const spots = upTo(
      run.length,
      (i) => ({
        x: cx + (radius * value(i, a)) / most - dot / 2,
        w: dot,
        h: dot,
        round: 1,
        y: cy - (radius * value(i, b)) / most - dot / 2,
        alpha: [a, b].includes(round.buckets[i] % half) ? 1 : 0.4,
      }),
    );
    const bars = narrow ? { x: 34, y: side + 52, w: width - 38, h: 150 } : {
      x: side + (big ? 96 : 64),
      y: size * 3.4,
      w: width - side - (big ? 100 : 68),
      h: s.high - size * 10,
    };
    return {
      ...{ spots, side, cx, cy, radius, most, axes: [a, b], bars, dot },
      need: narrow ? side + 262 : 0,
    };
  },

  draw(s, at) {
    const { size, model, round, position, run, big, drawn } = s;
    const [{ cx, cy, side, radius, dot, most }, [a, b], half] = [at, at.axes, model.kinds / 2];
    const unit = radius / most; // px
    const R = (radius + dot / 2 + 6) / unit;
    const own = position === null ? null : round.buckets[position];
    const box = { x0: cx - side / 2, x1: cx + side / 2, y0: cy - side / 2, y1: cy + side / 2 };
    const end = side / 2 / unit;
    const plane = s.sheet.part(box, {
      x: { range: [-end, end] },
      y: { range: [end, -end], scaleanchor: `x${s.sheet.parts.length + 2}` },
    });
    const disc = { x0: -R, x1: R, y0: -R, y1: R };
    plane.shape({ type: "circle", ...disc }, {
      fill: colour("panel", 0.45, "sunk"),
      line: "control",
      layer: "below",
    });
    // Sectors of [a; b; −a; −b]. Where there are more buckets, only the one of the position in
    // view: beyond it other coordinates decide.
    const wedge = (from, to) =>
      `M0,0${
        upTo(25, (n) => {
          const angle = ((from + ((to - from) * n) / 24) * Math.PI) / 180;
          return `L${R * Math.cos(angle)},${R * Math.sin(angle)}`;
        }).join("")
      }Z`;
    const wide = b === null ? 90 : 45;
    const ends = (b === null ? [a, a + half] : [a, b, a + half, b + half])
      .map((bucket, n) => ({ bucket, angle: 2 * wide * n }));
    for (const { bucket, angle } of ends) {
      if (half > 2 && (bucket !== own || a !== own % half)) continue;
      plane.shape({ type: "path", path: wedge(angle - wide, angle + wide) }, {
        fill: styleOf(bucket).line,
        alpha: bucket === own ? 0.28 : 0.14,
        layer: "below",
      });
    }
    const c = R * Math.SQRT1_2;
    const axis = { line: "control", alpha: 0.6, layer: "below" };
    plane.line(-R, 0, R, 0, axis);
    if (b !== null) {
      plane.line(0, -R, 0, R, axis);
      for (const y of [-c, c]) plane.line(-c, -y, c, y, { ...axis, alpha: 0.8, dash: "3px,4px" });
    }
    // Each end of an axis is a bucket; those at the sides stand upright, where no dot comes.
    for (const { bucket, angle } of ends) {
      const style = styleOf(bucket);
      const radians = (angle * Math.PI) / 180;
      const sign = `<span style="color:${css(style.kind % 3 ? style.line : style.flat)}">${
        style.kind === 1 ? "□" : "■"
      }</span>`;
      s.sheet.annotations.push({
        ...plane.refs,
        x: (R + (size * 0.8 + 4) / unit) * Math.cos(radians),
        y: (R + (size * 0.8 + 4) / unit) * Math.sin(radians),
        text: { html: `${sign} <b>${escape(t(TEXT.bucketN, { n: bucket }))}</b>` },
        textangle: angle % 180 ? 0 : angle ? -90 : 90,
        showarrow: false,
        font: { size, color: "var(--ink2)" },
      });
    }
    const order = upTo(drawn ? run.length : 0)
      .sort((one, two) => at.spots[one].alpha - at.spots[two].alpha);
    const styled = (make) => order.map((i) => make(styleOf(round.buckets[i]), at.spots[i].alpha));
    const place = (i, axis) => (axis === null ? 0 : drawn.data[i * half + axis]);
    plane.add({
      type: "scatter",
      mode: dot >= 14 ? "markers+text" : "markers",
      x: order.map((i) => place(i, a)),
      y: order.map((i) => place(i, b)),
      text: order.map((i) => shown(run.tokens[i])),
      textfont: {
        size: s.pen.type(clamp(dot * 0.66, 12, 20)),
        weight: 600,
        family: "var(--font-mono)",
        color: styled((style, alpha) => colour(style.ink, alpha < 1 ? 0.5 : 1)),
      },
      marker: {
        size: dot,
        opacity: styled((_, alpha) => alpha),
        color: styled(({ fill }) => css(fill)),
        line: {
          width: styled(({ kind }) => (kind % 3 ? dot / 9 : 0)),
          color: styled(({ line }) => css(line)),
        },
      },
    });
    const rings = [
      ...s.locked.map((i) => [i, "query"]),
      ...(s.key === null ? [] : [[s.key, "key"]]),
      ...told(s),
    ];
    for (const [i, line] of drawn ? rings : []) {
      const by = dot / 2 + 2.5;
      plane.shape({
        type: "circle",
        ...{ xsizemode: "pixel", ysizemode: "pixel", x0: -by, x1: by, y0: -by, y1: by },
        ...{ xanchor: place(i, a), yanchor: place(i, b) },
      }, { line, width: big ? 4 : 2.6 });
    }
    const both = told(s);
    // Two dots that nearly coincide are named on either side.
    both.forEach(([i, role], n) => {
      const [{ x, y, w, h }, other] = [at.spots[i], both[1 - n] && at.spots[both[1 - n][0]]];
      const right = !other || x > other.x || (n === 1 && x === other.x);
      s.sheet.annotations.push({
        ...plane.refs,
        x: plane.backX(x + w / 2),
        y: plane.backY(y + h / 2),
        xshift: (right ? 1 : -1) * (dot / 2 + 6),
        xanchor: right ? "left" : "right",
        text: nameOf(run, i),
        showarrow: false,
        borderpad: 1,
        bgcolor: `${colour("panel")}bb`,
        visible: Boolean(drawn),
        font: { size: size + 1, weight: 700, color: css(role) },
      });
    });
    if (s.detail && position !== null) bars(s, at.bars);
  },

  point: (s, at) => {
    const near = (x, y, { x: px, y: py, w, alpha }) =>
      Math.hypot(px + w / 2 - x, py + w / 2 - y) - (alpha < 1 ? 0 : 2);
    s.pen.hit({
      x0: 0,
      x1: at.side,
      y0: 0,
      y1: s.high,
      at(x, y) {
        const far = at.spots.map((spot) => near(x, y, spot));
        const i = far.reduce((best, d, j) => (d < far[best] ? j : best), 0);
        return far[i] < 14 ? boxOf(s, i, at.spots[i]) : null;
      },
      of: (i) => (at.spots[i] ? boxOf(s, i, at.spots[i]) : null),
    });
  },
};

/** All rotated coordinates of the position, with the one that decides. */
function bars(s, { x, y, w, h }) {
  const { pen, size, model, round, position, partner, detail, run, big } = s;
  const [half, bucket] = [model.kinds / 2, round.buckets[position]];
  const [own, other] = [position, partner]
    .map((i) => (i === null ? null : detail.rotated.slice(i)));
  const most = [...own, ...(other ?? [])].reduce((top, v) => Math.max(top, Math.abs(v)), 1);
  const step = w / half;
  const gap = step > 5 ? Math.max(Math.min(6, step * 0.22), step - (big ? 120 : 72)) : 0;
  const title = [TEXT.only, TEXT.both][half - 1] ?? TEXT.coordinates;
  caption(
    s,
    s.narrow ? 0 : x,
    y - size - 12,
    t(title, { name: nameOf(run, position), n: half }),
    t(TEXT.barsUnits),
    s.narrow ? s.width : w,
  );
  const pad = size * 2.6; // px above and below, for the name of the bucket
  const around = { x0: x - size * 3.2, x1: x + w + 4, y0: y - pad, y1: y + h + pad + size + 8 };
  const panel = s.panel(around);
  const [win, every] = [bucket % half, Math.ceil((2.2 * size) / step)];
  const values = [-1, 0, 1].map((sign) => sign * Math.floor(most));
  const shown_ = upTo(half)
    .filter((j) => j === win || (j % every === 0 && Math.abs(j - win) * step >= 1.6 * size));
  const unit = h / 2 / most; // px of a length of 1
  const end = most + pad / unit;
  const part = panel.part({ x0: x, x1: x + w, y0: y - pad, y1: y + h + pad }, {
    x: ticksAt(
      shown_,
      shown_.map((j) => j === win ? { html: `<b style="color:var(--query)">${j}</b>` } : String(j)),
      size,
      { range: [-0.5, half - 0.5], ticklabelstandoff: 2, ticklabeloverflow: "allow" },
    ),
    y: ticksAt(values, values.map((v) => `${v}`.replace("-", "−")), size, {
      range: [end, -end],
      showgrid: true,
      zeroline: true,
      zerolinecolor: "var(--control)",
      ticklabelstandoff: 4,
      ticklabeloverflow: "allow",
    }),
  });
  const wide = (step - gap) / step;
  const mine = (j) => styleOf(own[j] >= 0 ? j : j + half);
  const thick = (big ? 2 : 1.4) / unit;
  part.add(
    blocks(upTo(half, (j) => ({
      at: j,
      wide,
      from: Math.min(0, own[j]),
      to: Math.max(0, own[j]),
      ...(j === win
        ? { fill: css(mine(j).fill), line: css(mine(j).line), width: 1.5 }
        : { fill: colour(mine(j).line, 0.45) }),
    }))),
    ...(other
      ? [blocks(
        upTo(half, (j) => ({
          at: j,
          wide: wide + 2 / step,
          from: other[j] - thick,
          to: other[j] + thick,
          fill: "var(--key)",
        })),
      )]
      : []),
  );
  const left = x + win * step + gap / 2;
  const [top, foot] = [part.y(Math.max(0, own[win])), part.y(Math.min(0, own[win]))];
  const frame = { x: left, y: top, w: step - gap, h: foot - top };
  part.rect(...inData(part, frame, Math.min(5, step / 3)), {
    line: "query",
    width: big ? 3.5 : 2.5,
    radius: 4,
  });
  const label = t(TEXT.bucketN, { n: bucket });
  const room = pen.measure(label, { size: size + 2, weight: 700 }) / 2;
  const strong = { weight: 700, colour: "query", size: size + 2 };
  const at = clamp(x + (win + 0.5) * step, x + room, x + w - room);
  notesIn(part, [[
    at,
    own[win] >= 0 ? top - size * 0.6 - 12 : foot + size * 0.6 + 12,
    label,
    strong,
  ]], size);
  if (!other || s.narrow) return;
  const below = y + h + size * 5.2;
  s.sheet.plane.rect(x, x + size * 1.4, below, below + (big ? 4 : 2.8), { fill: "key" });
  s.text(
    x + size * 2,
    below + size * 0.45,
    t(TEXT.theLetter, { name: nameOf(run, partner), value: number(other[win]) }),
    { colour: "key", weight: 650 },
  );
}

// ── 2 · buckets ──
const buckets = {
  place(s) {
    const { run, width, narrow, big, size, model, round, high } = s;
    const columns = run.word ? run.word + 1 : run.length;
    const [top, edge, least] = [
      size + 14,
      4,
      Math.max(17, String(model.kinds - 1).length * 7.5 + 2) * (big ? 1.5 : 1),
    ];
    const fit = (cell, numbers) => {
      const bands = Math.ceil(columns / Math.max(1, Math.floor((width - 2 * edge) / cell + 1e-6)));
      const inner = bands === 1 ? (big ? 44 : 30) : big ? 22 : 13; // between the two words
      const tall = Math.min(cell * (bands === 1 ? 1.1 : 0.92), big ? 52 : 38);
      const unit = tall + (numbers ? size + 6 : 0);
      const band = run.word ? 2 * unit + inner + (big ? 30 : 20) : unit + (numbers ? 10 : 6);
      return {
        cell,
        per: Math.ceil(columns / bands),
        inner,
        tall,
        unit,
        band,
        numbers,
        need: top + bands * band,
      };
    };
    const whole = Math.min(big ? 60 : 40, (width - 2 * edge) / columns);
    let found = whole >= least * 1.3 ? fit(whole, true) : null; // in one row, where that leaves room to read
    for (let cell = big ? 58 : 38; cell >= least && !found; cell -= 0.5) {
      found = fit(cell, true).need <= high ? fit(cell, true) : null;
    }
    if (!found && fit(least, true).need <= high * (narrow ? 1.2 : 1.5)) found = fit(least, true);
    for (let cell = least; cell >= 8 && !found; cell -= 0.5) {
      found = fit(cell, false).need <= high || cell <= 8.5 ? fit(cell, false) : null;
    }
    const { cell, per, band, unit, tall, inner, need } = found;
    const spots = upTo(run.length, (i) => {
      const second = run.word && i > run.word;
      const column = second ? i - run.word : i;
      return {
        ...SPOT,
        x: (width - per * cell) / 2 + (column % per) * cell + 1,
        w: cell - 2,
        h: tall,
        y: top + Math.floor(column / per) * band + (second ? unit + inner : 0),
      };
    });
    // What is left of the stage holds the buckets themselves, with their positions piled up.
    const count = new Int32Array(model.kinds);
    round.buckets.forEach((bucket) => (count[bucket] += 1));
    const [free, step] = [high - need, (width - 2 * edge) / model.kinds];
    const h = free - 3.6 * size - 10;
    const piles_ = free < 110 ? null : {
      x: edge,
      floor: need + 2 * size + 4 + h,
      top: need + 2 * size + 4,
      step,
      count,
      unit: Math.min(
        h / count.reduce((most, n) => Math.max(most, n), 1),
        big ? 40 : 26,
        step * 1.05,
      ),
    };
    return { ...found, top, spots, piles: piles_ };
  },

  draw(s, at) {
    const { run, round, size, partner, position } = s;
    caption(
      s,
      0,
      size,
      t(TEXT.alongTitle),
      t(!at.numbers ? TEXT.small : run.word ? TEXT.underWord : TEXT.underText),
    );
    const x0 = (s.width - at.per * at.cell) / 2;
    const rows = { x: x0, y: at.top, w: at.per * at.cell, h: at.need - at.top };
    const part = partAround(s, rows, [at.per, 1], { top: 8 });
    // Where the place that asks and its letter share a bucket, a bridge joins them.
    const joined = ([q, k]) => round.buckets[q] === round.buckets[k];
    const middle = ([, k]) => [at.spots[k].x + at.spots[k].w / 2, at.spots[k].y + at.unit];
    const bridge = (pair, wide) => {
      const [[x, y], { line }] = [middle(pair), styleOf(round.buckets[pair[0]])];
      return { x: x - wide / 2, y: y + 1, w: wide, h: at.inner - 3, fill: css(line) };
    };
    const bridges = run.copies.filter(joined).map((pair) => bridge(pair, 5));
    if (bridges.length) tilesIn(part, bridges);
    const mine = run.copies.find((pair) => joined(pair) && pair[0] === position);
    if (mine && mine[1] === partner) {
      const { fill, ...box } = bridge(mine, 8);
      part.rect(...inData(part, box), { fill });
    }
    const apart = run.copies.filter((pair) => !joined(pair)).map(middle)
      .map(([x, y]) => [x, y + at.inner / 2, "×", { colour: "ink3" }]);
    const number_ = (i, style) => {
      const { x, y, w, h } = at.spots[i];
      return [x + w / 2, y + h + 0.64 * size + 3, round.buckets[i], style];
    };
    const numbers = at.numbers
      ? [...upTo(run.length, (i) => number_(i)), ...inRoles(s, number_)]
      : [];
    notesIn(part, [...apart, ...numbers], size);
    tokensIn(s, part, [...at.spots.entries()]);
    if (at.piles) piles(s, at.piles);
  },
  point: (s, at) => pointed(s, at, at.unit - at.tall),
};

/** The buckets with their positions piled up, in the order of the sequence from below. */
function piles(s, { x, floor, top, step, unit, count }) {
  const { run, round, size, position } = s;
  caption(s, 0, top - size - 2, t(TEXT.piles), t(TEXT.pilesUnits));
  const [up, lit] = [new Int32Array(count.length), []];
  const wide = Math.min(step - 1, Math.max(unit * 1.25, step * 0.72)) / step;
  const gap = unit > 5 ? 1 / unit : 0;
  const says = unit >= size * (s.big ? 0.85 : 1.08) && wide * step >= 10;
  const own = position === null ? null : round.buckets[position];
  const every = [1, 2, 4, 8, 16, 32].find((n) => n * step >= size * 1.9) ?? 64;
  const named = upTo(count.length).filter((bucket) => bucket % every === 0);
  const part = s.sheet.part({ x0: x, x1: x + step * count.length, y0: top, y1: floor }, {
    x: ticksAt(named, named.map(String), size, {
      range: [-0.5, count.length - 0.5],
      showline: true,
      ticklabelstandoff: 2,
      ticklabeloverflow: "allow",
    }),
    y: { range: [(floor - top) / unit, 0] },
  });
  part.add(blocks(
    upTo(run.length, (i) => {
      const bucket = round.buckets[i];
      const [{ flat }, role] = [styleOf(bucket), roleOf(s, i)];
      up[bucket] += 1;
      if (role) lit.push([bucket, up[bucket], role, i]);
      return {
        at: bucket,
        wide,
        from: up[bucket] - 1,
        to: up[bucket] - gap,
        fill: css(flat),
        text: says ? shown(run.tokens[i]) : "",
        ink: ink(flat),
      };
    }),
    { size, face: "mono" },
  ));
  if (own !== null) {
    const mine = { size, weight: 700, colour: "query", align: "center", ground: "panel" };
    s.sheet.plane.note(x + (own + 0.5) * step, floor + size * 0.75 + 4, String(own), mine);
  }
  for (const [bucket, n, fill, i] of lit) {
    part.rect(bucket - wide / 2, bucket + wide / 2, n - 1, n - gap, { fill });
    const style = { size, weight: 600, align: "center", colour: "panel" };
    if (says) part.note(bucket, n - 0.5, shown(run.tokens[i]), style);
  }
}

// ── 3 · sort ──
const sorting = {
  place(s) {
    const { run, width, big, size, round, high } = s;
    const cell = Math.min((width - 8) / run.length, big ? 44 : 34); // rings keep their room at both ends
    const left = (width - cell * run.length) / 2;
    const tall = clamp(cell * 1.15, big ? 22 : 16, big ? 44 : 30);
    const numbers = cell >= 2.05 * size * (run.length > 100 ? 0.95 : 0.7);
    const bottom = high - tall - (numbers ? size + 6 : 2) - 2 * size - 22;
    const gap = cell > 5 ? 1 : cell > 2.5 ? 0.4 : 0;
    const spot = (place, y) => ({
      ...SPOT,
      x: left + place * cell + gap,
      y,
      w: cell - 2 * gap,
      h: tall,
    });
    return {
      cell,
      left,
      tall,
      top: 2 * size + 16,
      bottom,
      numbers,
      need: 0,
      first: upTo(run.length, (i) => spot(i, 2 * size + 16)),
      spots: upTo(run.length, (i) => spot(round.rank[i], bottom)),
    };
  },

  draw(s, at) {
    const { run, round, size, position, big } = s;
    caption(s, 0, size, t(TEXT.sequence), t(TEXT.sequenceUnits));
    caption(s, 0, at.bottom - 10, t(TEXT.sorted), t(TEXT.sortedUnits), s.width, s.over);
    const bucket = position === null ? null : round.buckets[position];
    const high = at.bottom + at.tall - at.top;
    const box = { x: at.left, y: at.top, w: at.cell * run.length, h: high };
    const around = { top: size + 10, bottom: 2 * size + 24 };
    const part = partAround(s, box, [run.length, 1], around);
    const [y0, y1] = [part.backY(at.top + at.tall + 1), part.backY(at.bottom - 1)];
    const middle = (y0 + y1) / 2;
    const curve = (i) =>
      `M${i},${y0}C${i},${middle} ${round.rank[i]},${middle} ${round.rank[i]},${y1}`;
    const together = new Map(); // one path for each bucket
    for (let i = 0; i < run.length; i += 1) {
      if (!roleOf(s, i)) {
        together.set(round.buckets[i], (together.get(round.buckets[i]) ?? "") + curve(i));
      }
    }
    const thin = (run.length > 300 ? 0.8 : run.length > 120 ? 1.2 : 1.6) * (big ? 1.6 : 1);
    const sorted = [...together].sort(([one], [two]) => (one === bucket) - (two === bucket));
    for (const [b, path] of sorted) {
      part.shape({ type: "path", path }, {
        line: styleOf(b).line,
        width: b === bucket ? thin * 1.5 : thin,
        alpha: bucket === null ? 0.6 : b === bucket ? 0.95 : 0.4,
      });
    }
    for (const [i, role] of told(s)) {
      const path = { type: "path", path: curve(i) };
      part.shape(path, { line: "panel", width: big ? 8 : 5.5, alpha: 0.9 });
      part.shape(path, { line: role, width: big ? 5 : 3.2 });
    }
    const spots = (all) => [...all.entries()];
    tokensIn(s, part, spots(at.first));
    tokensIn(s, part, spots(at.spots));
    const number_ = (i, style = { colour: "ink3" }) => {
      const { x, w } = at.spots[i];
      return [x + w / 2, at.bottom + at.tall + 0.64 * size + 3, i, style];
    };
    const numbers = [...upTo(run.length, (i) => number_(i)), ...inRoles(s, number_)];
    notesIn(part, [
      ...ticks(s, (i) => at.left + i * at.cell, at.cell, at.top - 5 - 0.36 * size),
      ...(at.numbers ? numbers : []),
    ], size);
    brackets(s, part, at, at.bottom + at.tall + (at.numbers ? size + 10 : 6));
  },

  point(s, at) {
    s.pen.hit({
      x0: at.left,
      x1: at.left + at.cell * s.run.length - 0.01,
      y0: at.top - s.size - 8,
      y1: at.top + at.tall + 6,
      at: (x) =>
        boxOf(
          s,
          Math.floor((x - at.left) / at.cell),
          at.first[Math.floor((x - at.left) / at.cell)],
        ),
    });
    pointed(s, at, 3 * s.size);
  },
};

/** Numbers of positions above a strip, as notes: round ones, and those in view. */
export function ticks(s, x, cell, y) {
  const { run, size, pen } = s;
  const every = [1, 2, 4, 8, 16, 32, 64, 128, 256].find((n) => n * cell >= size * 2.6) ?? 512;
  const both = told(s);
  const inside = (middle, wide) => clamp(middle, wide / 2, s.width - wide / 2);
  const plain_ = upTo(Math.ceil(run.length / every), (n) => n * every)
    .map((i) => [inside(x(i) + cell / 2, pen.measure(String(i), { size })), y, i, {
      colour: "ink3",
    }]);
  const middle = both.map(([i]) => x(i) + cell / 2);
  const apart = both.length < 2 ||
    Math.abs(middle[0] - middle[1]) > size * (cell < 9.5 ? 4.2 : 1.7);
  return [
    ...plain_,
    ...both.map(([i, role], n) => {
      const name = cell < 9.5 ? nameOf(run, i) : String(i);
      const wide = pen.measure(name, { size, weight: 700 });
      const by = apart ? 0 : (wide / 2 + 2) * (middle[n] <= middle[1 - n] ? -1 : 1);
      return [inside(middle[n] + by, wide), y, name, { weight: 700, colour: role }];
    }),
  ];
}

/** Under the sorted order, where each bucket stands, with its number. */
function brackets(s, part, { left, cell }, y) {
  const { run, round, size, position, pen } = s;
  const own = position === null ? null : round.buckets[position];
  const spans = [];
  for (let place = 0, end = 0; place < run.length; place = end) {
    const bucket = round.buckets[round.order[place]];
    while (end < run.length && round.buckets[round.order[end]] === bucket) end += 1;
    spans.push({ bucket, from: left + place * cell, to: left + end * cell });
  }
  const lines = spans.map(({ bucket, from, to }) => {
    const inset = Math.min(1, (to - from) / 6);
    const fill = css(styleOf(bucket).line);
    return { bucket, fill, x: from + inset, y, w: to - from - 2 * inset, h: 3 };
  });
  tilesIn(part, lines);
  const [taken, notes] = [[], []];
  for (const { bucket, x, w } of lines) {
    const half = pen.measure(String(bucket), { size, weight: 700 }) / 2 + 2;
    const middle = clamp(x + w / 2, half, left + run.length * cell - half);
    const note = (style) => [middle, y + 0.64 * size + 7, bucket, style];
    if (bucket === own) notes.push(note({ weight: 700, colour: "query" }));
    if (taken.some((one) => Math.abs(one.middle - middle) < one.half + half)) continue;
    taken.push({ middle, half });
    notes.push(note());
  }
  const mine = lines.find(({ bucket }) => bucket === own);
  if (mine) part.rect(...inData(part, { ...mine, h: 5 }), { fill: styleOf(own).line });
  notesIn(part, notes, size);
}

export const FIRST = [vectors, buckets, sorting];

// ── tokens ──
const ease = (u) => 1 - (1 - u) ** 3;
const lean = (a, b, v) => a + (b - a) * v;
/** A spot on the way from one to another; alpha and round stand in both. */
const leaning = (a, b, v) =>
  Object.fromEntries(Object.entries(b).map(([name, one]) => [name, lean(a[name], one, v)]));

/** Where token i is `u` of the way from one step, {step, at}, to another (0 … 1). */
export function between(s, from, to, u, i) {
  const part = s.round.rank[i] / s.run.length;
  const [a, b] = [from.at.spots[i], to.at.spots[i]];
  const steps = [from.step, to.step].sort().join();
  if (steps !== "2,3") return leaning(a, b, ease(clamp((u - 0.25 * part) / 0.75, 0, 1)));
  // Between the words and the sorted order lies the plain sequence: first in one row, then along
  // the lines.
  const [v, words, sorted] = to.step === 3 ? [u, a, b] : [1 - u, b, a];
  const plain = (to.step === 3 ? to : from).at.first[i];
  const [one, two] = [
    ease(clamp(v / 0.42, 0, 1)),
    ease(clamp((v - 0.38 - 0.2 * part) / 0.42, 0, 1)),
  ];
  const row = leaning(words, plain, one);
  // A cubic whose handles stand straight below and above its ends, as the lines are drawn.
  return {
    ...row,
    x: lean(row.x, sorted.x, two * two * (3 - 2 * two)),
    y: lean(row.y, sorted.y, two),
  };
}

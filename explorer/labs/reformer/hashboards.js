// Where the tokens stand in each of the five steps of hashing, how they travel from one to the next, and what is drawn
// beside them in the first three. A scene, `s`, is made by hashing.js.

import { upTo } from "../../frontend/lib/arrays.js";
import { t } from "../../frontend/lib/lang.js";
import { colour, ink } from "../../frontend/lib/pen.js";
import { number, shown } from "../../frontend/lib/signs.js";
import { deciding } from "./hashnumbers.js";
import { cardOf, nameOf, TEXT } from "./hashwords.js";

const SET = 10; // colours that stay apart; buckets beyond wear another pattern
export const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const num = (x) => x.toFixed(1);

const styles = new Map(); // by number and theme
/** How a bucket looks: {line, fill, flat, ink, kind}; kind: full, ringed, pale, a corner cut off. */
export function styleOf(bucket) {
  const key = `${bucket} ${colour("panel")}`;
  if (!styles.has(key)) {
    const [line, kind] = [`cat-${(bucket % SET) + 1}`, Math.floor(bucket / SET) % 4];
    const fill = [line, "panel", colour(line, 0.3), line][kind];
    styles.set(key, {
      line,
      fill,
      kind,
      flat: [line, colour(line, 0.75), colour(line, 0.5), line][kind],
      ink: kind % 3 ? "ink" : ink(line),
    });
  }
  return styles.get(key);
}

export const SPOT = { round: 0, alpha: 1 };

/** One token: a tile in the colour of its bucket, or a dot. spot: {x, y, w, h, alpha, round}, its upper left corner. */
export function token(s, i, { x, y, w, h, round, alpha }) {
  const style = styleOf(s.round.buckets[i]);
  const radius = Math.min(4, w * 0.22) * (1 - round) + (w / 2) * round;
  if (w < 4) {
    s.rect(x, y, w, h, { fill: style.flat, alpha });
    return;
  }
  const edge = style.kind % 3 ? { line: style.line, width: Math.min(2.2, w / 7) } : {};
  s.rect(x, y, w, h, { fill: style.fill, radius, alpha, ...edge });
  if (style.kind === 3 && w >= 8) {
    s.pen.path(`M${num(x + 0.7 * w)},${num(y)}h${num(0.3 * w)}v${num(0.3 * h)}z`, {
      fill: "panel",
      alpha,
    });
  }
  if (w < (s.big ? 13 : 9.5) || (round > 0.5 && w < 14)) return;
  const size = clamp(Math.min(h * 0.66, w * 0.98), 12, s.big ? 30 : 20);
  const how = { size, face: "mono", weight: 600, align: "center", colour: style.ink, alpha };
  s.pen.text(x + w / 2, y + h / 2, shown(s.run.tokens[i]), how);
}

/** A ring around a token in the colour of its role. */
function ring(s, { x, y, w, h, round }, role, alpha = 1) {
  const [far, width] = [clamp(w / 6, 1.5, 3) + 1, s.big ? 4 : 2.6];
  const radius = (Math.min(4, w * 0.22) + far) * (1 - round) + (w / 2 + far) * round;
  s.rect(x - far - 1.2, y - far - 1.2, w + 2 * far + 2.4, h + 2 * far + 2.4, {
    line: "panel",
    width: width + 2.5,
    radius,
  });
  s.rect(x - far, y - far, w + 2 * far, h + 2 * far, { line: role, width, radius, alpha });
}

/**
 * What stands above a part of the picture: strongly what it is, and more where there is room. y: the foot of its
 * letters.
 */
export function caption(s, x, y, strong, rest = "", room = s.width - x) {
  const wide = s.pen.measure(strong, { size: s.size, weight: 650 });
  s.text(x, y, strong, { weight: 650, colour: "ink", halo: "panel", room });
  const gap = s.size * 0.75;
  if (rest && wide + gap + s.pen.measure(rest, { size: s.size }) <= room) {
    s.text(x + wide + gap, y, rest, { colour: "ink3", halo: "panel" });
  }
}

/** The position and its partner, where they are there: [position, role], the one that is told of last. */
export const told = (s) => [[s.partner, "key"], [s.position, "query"]].filter(([i]) => i !== null);
const roleOf = (s, i) => (i === s.position ? "query" : i === s.partner ? "key" : null);
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
    return { spots, side, cx, cy, radius, axes: [a, b], bars, dot, need: narrow ? side + 262 : 0 };
  },

  draw(s, at) {
    const { pen, size, model, round, position } = s;
    const [{ cx, cy, side }, [a, b], half] = [at, at.axes, model.kinds / 2];
    const R = at.radius + at.dot / 2 + 6;
    const c = R * Math.SQRT1_2;
    const own = position === null ? null : round.buckets[position];
    pen.circle(cx, cy, R, { fill: colour("panel", 0.45, "sunk"), line: "control" });
    // Sectors of [a; b; −a; −b]. Where there are more buckets, only the one of the position in view: beyond it other
    // coordinates decide.
    const arc = (x0, y0, x1, y1) =>
      `M${cx},${cy}l${num(x0)},${num(y0)}A${num(R)},${num(R)} 0 0 1 ${num(cx + x1)},${
        num(cy + y1)
      }Z`;
    const wedges = b === null
      ? [[a, arc(0, -R, 0, R)], [a + half, arc(0, R, 0, -R)]]
      : [[a, arc(c, -c, c, c)], [b, arc(-c, -c, c, -c)], [a + half, arc(-c, c, -c, -c)], [
        b + half,
        arc(c, c, -c, c),
      ]];
    for (const [bucket, d] of wedges) {
      if (half <= 2 || (bucket === own && a === own % half)) {
        pen.path(d, { fill: styleOf(bucket).line, alpha: bucket === own ? 0.28 : 0.14 });
      }
    }
    if (b !== null) {
      for (const y of [-c, c]) {
        pen.line(cx - c, cy + y, cx + c, cy - y, { line: "control", dash: [3, 4], alpha: 0.8 });
      }
    }
    pen.line(cx - R, cy, cx + R, cy, { line: "control", alpha: 0.6 });
    if (b !== null) pen.line(cx, cy - R, cx, cy + R, { line: "control", alpha: 0.6 });
    // Each end of an axis is a bucket.
    const end = (bucket, x, y) => {
      const [text, style] = [t(TEXT.bucketN, { n: bucket }), styleOf(bucket)];
      const wide = pen.measure(text, { size, weight: 650 }) + size * 1.2;
      const x0 = clamp(x - wide / 2, 0, side - wide);
      s.rect(x0 - 3, y - size, wide + 6, size + 6, { fill: "panel", radius: 4, alpha: 0.85 });
      s.rect(x0, y - size * 0.8, size * 0.85, size * 0.85, {
        fill: style.fill,
        line: style.line,
        width: 1.5,
        radius: 2,
      });
      s.text(x0 + size * 1.2, y, text, { weight: 650, colour: "ink2" });
    };
    if (b !== null) {
      end(b, cx, cy - R - 6);
      end(b + half, cx, cy + R + size + 3);
    }
    end(a, side, cy + size * 0.4);
    end(a + half, 0, cy + size * 0.4);
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
  const [own, other] = [position, partner].map((
    i,
  ) => (i === null ? null : detail.rotated.slice(i)));
  const most = [...own, ...(other ?? [])].reduce((top, v) => Math.max(top, Math.abs(v)), 1);
  const zero = y + h / 2;
  const up = (v) => zero - (v / most) * (h / 2);
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
  for (const one of [-1, 0, 1].map((sign) => sign * Math.floor(most))) {
    pen.line(x, up(one), x + w, up(one), { line: one ? "line" : "control" });
    pen.text(x - 8, up(one), one < 0 ? `−${-one}` : String(one), {
      size,
      align: "right",
      colour: "ink3",
    });
  }
  const win = bucket % half;
  for (let j = 0; j < half; j += 1) {
    const mine = styleOf(own[j] >= 0 ? j : j + half);
    const [top, bottom] = own[j] >= 0 ? [up(own[j]), zero] : [zero, up(own[j])];
    const left = x + j * step + gap / 2;
    if (j === win) {
      s.rect(left, top, step - gap, bottom - top, { fill: mine.fill, line: mine.line, width: 1.5 });
      const far = Math.min(5, step / 3);
      s.rect(left - far, top - far, step - gap + 2 * far, bottom - top + 2 * far, {
        line: "query",
        width: big ? 3.5 : 2.5,
        radius: 4,
      });
    } else s.rect(left, top, step - gap, bottom - top, { fill: colour(mine.line, 0.45) });
    if (other) s.rect(left - 1, up(other[j]) - 1.4, step - gap + 2, big ? 4 : 2.8, { fill: "key" });
  }
  const [label, place] = [t(TEXT.bucketN, { n: bucket }), x + (win + 0.5) * step];
  const wide = pen.measure(label, { size: size + 2, weight: 700 }) / 2;
  const strong = { weight: 700, align: "center", colour: "query" };
  s.text(
    clamp(place, x + wide, x + w - wide),
    own[win] >= 0 ? up(own[win]) - 9 : up(own[win]) + size + 12,
    label,
    { ...strong, size: size + 2, halo: "panel" },
  );
  const foot = y + h + size * 3.2;
  for (let j = 0; j < half; j += Math.ceil((2.2 * size) / step)) {
    if (Math.abs(j - win) * step >= 1.6 * size) {
      s.text(x + (j + 0.5) * step, foot, String(j), { align: "center", colour: "ink3" });
    }
  }
  s.text(place, foot, String(win), strong);
  if (!other || s.narrow) return;
  s.rect(x, foot + size * 1.3, size * 1.4, big ? 4 : 2.8, { fill: "key" });
  s.text(
    x + size * 2,
    foot + size * 1.75,
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
    return { ...found, spots, piles: piles_ };
  },

  draw(s, at) {
    const { run, round, size, partner, position, pen } = s;
    caption(
      s,
      0,
      size,
      t(TEXT.alongTitle),
      t(!at.numbers ? TEXT.small : run.word ? TEXT.underWord : TEXT.underText),
    );
    // Where the place that asks and its letter share a bucket, a bridge joins them.
    for (const [q, k] of run.copies) {
      const { x, y, w } = at.spots[k];
      const [from, middle, wide] = [
        y + at.unit,
        x + w / 2,
        position === q && partner === k ? 8 : 5,
      ];
      if (round.buckets[q] === round.buckets[k]) {
        s.rect(middle - wide / 2, from + 1, wide, at.inner - 3, {
          fill: styleOf(round.buckets[q]).line,
          radius: 2.5,
        });
      } else {pen.path(`M${num(middle - 3)},${num(from + at.inner / 2 - 3)}l6,6m0,-6l-6,6`, {
          line: "ink3",
          width: 1.3,
          alpha: 0.75,
        });}
    }
    if (at.numbers) {
      at.spots.forEach(({ x, y, w, h }, i) => {
        const role = roleOf(s, i);
        s.text(x + w / 2, y + h + size + 3, String(round.buckets[i]), {
          align: "center",
          weight: role ? 700 : 400,
          colour: role ?? "ink2",
        });
      });
    }
    if (at.piles) piles(s, at.piles);
  },
  point: (s, at) => pointed(s, at, at.unit - at.tall),
};

/** The buckets with their positions piled up, in the order of the sequence from below. */
function piles(s, { x, floor, top, step, unit, count }) {
  const { run, round, size, position, pen } = s;
  caption(s, 0, top - size - 2, t(TEXT.piles), t(TEXT.pilesUnits));
  pen.line(x, floor + 1, x + step * count.length, floor + 1, { line: "control" });
  const up = new Int32Array(count.length);
  const [gap, wide] = [unit > 5 ? 1 : 0, Math.min(step - 1, Math.max(unit * 1.25, step * 0.72))];
  for (let i = 0; i < run.length; i += 1) {
    const bucket = round.buckets[i];
    up[bucket] += 1;
    const [px, py, style, role] = [
      x + (bucket + 0.5) * step - wide / 2,
      floor - up[bucket] * unit + gap,
      styleOf(bucket),
      roleOf(s, i),
    ];
    s.rect(px, py, wide, unit - gap, { fill: role ?? style.flat, radius: Math.min(3, unit / 5) });
    if (unit >= size * (s.big ? 0.85 : 1.08) && wide >= 10) {
      pen.text(px + wide / 2, py + (unit - gap) / 2, shown(run.tokens[i]), {
        size,
        face: "mono",
        weight: 600,
        align: "center",
        colour: role ? "panel" : ink(style.flat),
      });
    }
  }
  const own = position === null ? null : round.buckets[position];
  const every = [1, 2, 4, 8, 16, 32].find((n) => n * step >= size * 1.9) ?? 64;
  for (let bucket = 0; bucket < count.length; bucket += 1) {
    if (
      bucket !== own &&
      (bucket % every || (own !== null && Math.abs(bucket - own) * step < size * 1.6))
    ) continue;
    const mine = bucket === own;
    s.text(x + (bucket + 0.5) * step, floor + size + 5, String(bucket), {
      align: "center",
      weight: mine ? 700 : 400,
      colour: mine ? "query" : "ink2",
    });
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
    const { run, round, size, position, big, pen } = s;
    caption(s, 0, size, t(TEXT.sequence), t(TEXT.sequenceUnits));
    const bucket = position === null ? null : round.buckets[position];
    const curve = (i) => {
      const [x0, x1, y0, y1] = [
        at.left + (i + 0.5) * at.cell,
        at.spots[i].x + at.spots[i].w / 2,
        at.top + at.tall + 1,
        at.bottom - 1,
      ];
      const middle = num((y0 + y1) / 2);
      return `M${num(x0)},${num(y0)}C${num(x0)},${middle} ${num(x1)},${middle} ${num(x1)},${
        num(y1)
      }`;
    };
    const together = new Map(); // one path for each bucket
    for (let i = 0; i < run.length; i += 1) {
      if (!roleOf(s, i)) {
        together.set(round.buckets[i], (together.get(round.buckets[i]) ?? "") + curve(i));
      }
    }
    const thin = (run.length > 300 ? 0.8 : run.length > 120 ? 1.2 : 1.6) * (big ? 1.6 : 1);
    for (
      const [b, d] of [...together].sort(([one], [two]) => (one === bucket) - (two === bucket))
    ) {
      pen.path(d, {
        line: styleOf(b).line,
        width: b === bucket ? thin * 1.5 : thin,
        alpha: bucket === null ? 0.6 : b === bucket ? 0.95 : 0.4,
      });
    }
    for (const [i, role] of told(s)) {
      pen.path(curve(i), { line: "panel", width: big ? 8 : 5.5, alpha: 0.9 });
      pen.path(curve(i), { line: role, width: big ? 5 : 3.2 });
    }
    at.first.forEach((spot, i) => token(s, i, spot));
    for (const [i, role] of told(s)) ring(s, at.first[i], role);
    caption(s, 0, at.bottom - 10, t(TEXT.sorted), t(TEXT.sortedUnits));
    ticks(s, (i) => at.left + i * at.cell, at.cell, at.top - 5);
    if (at.numbers) {
      at.spots.forEach(({ x, w }, i) => {
        const role = roleOf(s, i);
        s.text(x + w / 2, at.bottom + at.tall + size + 3, String(i), {
          align: "center",
          colour: role ?? "ink3",
          weight: role ? 700 : 400,
        });
      });
    }
    brackets(s, at, at.bottom + at.tall + (at.numbers ? size + 10 : 6));
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

/** Numbers of positions above a strip: round ones, and those in view. */
export function ticks(s, x, cell, y) {
  const { run, size, pen } = s;
  const every = [1, 2, 4, 8, 16, 32, 64, 128, 256].find((n) => n * cell >= size * 2.6) ?? 512;
  const both = told(s);
  const inside = (left, wide) => clamp(left, 0, s.width - wide);
  for (let i = 0; i < run.length; i += every) {
    const wide = pen.measure(String(i), { size });
    if (both.every(([one]) => Math.abs(one - i) * cell >= size * 3)) {
      s.text(inside(x(i) + (cell - wide) / 2, wide), y, String(i), { colour: "ink3" });
    }
  }
  const middle = both.map(([i]) => x(i) + cell / 2);
  const apart = both.length < 2 ||
    Math.abs(middle[0] - middle[1]) > size * (cell < 9.5 ? 4.2 : 1.7);
  both.forEach(([i, role], n) => {
    const name = cell < 9.5 ? nameOf(run, i) : String(i);
    const wide = pen.measure(name, { size, weight: 700 });
    const left = apart
      ? middle[n] - wide / 2
      : middle[n] <= middle[1 - n]
      ? middle[n] - wide - 2
      : middle[n] + 2;
    s.text(inside(left, wide), y, name, { weight: 700, colour: role, halo: "panel" });
  });
}

/** Under the sorted order, where each bucket stands, with its number. */
function brackets(s, { left, cell }, y) {
  const { run, round, size, position, pen } = s;
  const own = position === null ? null : round.buckets[position];
  const spans = [];
  for (let place = 0, end = 0; place < run.length; place = end) {
    const bucket = round.buckets[round.order[place]];
    while (end < run.length && round.buckets[round.order[end]] === bucket) end += 1;
    spans.push({ bucket, from: left + place * cell, to: left + end * cell });
  }
  const taken = [];
  // The bucket in view is named first; others where they have room.
  for (
    const { bucket, from, to } of spans.sort((a, b) => (b.bucket === own) - (a.bucket === own))
  ) {
    const [inset, mine] = [Math.min(1, (to - from) / 6), bucket === own];
    s.rect(from + inset, y, to - from - 2 * inset, mine ? 5 : 3, {
      fill: styleOf(bucket).line,
      radius: 1.5,
    });
    const how = { weight: mine ? 700 : 400, colour: mine ? "query" : "ink2", align: "center" };
    const half = pen.measure(String(bucket), { ...how, size }) / 2 + 2;
    const middle = clamp((from + to) / 2, half, left + run.length * cell - half);
    if (taken.some((one) => Math.abs(one.middle - middle) < one.half + half)) continue;
    taken.push({ middle, half });
    s.text(middle, y + size + 7, String(bucket), how);
  }
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
  // Between the words and the sorted order lies the plain sequence: first in one row, then along the lines.
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

/** All tokens, rings around what is locked, and names beside dots. spots: where they stand */
export function tokens(s, spots, moving = false) {
  const all = Array.from(spots.keys());
  // Pale dots first, so that those that are decided here lie above.
  for (const i of s.step === 1 ? all.sort((a, b) => spots[a].alpha - spots[b].alpha) : all) {
    token(s, i, spots[i]);
  }
  for (const i of s.locked) if (i !== s.position && !moving) ring(s, spots[i], "query", 0.75);
  if (s.key !== null && s.key !== s.partner && !moving) ring(s, spots[s.key], "key", 0.75);
  const both = told(s);
  for (const [i, role] of both) {
    const { x, y, w, h } = spots[i];
    if (s.step === 5 && w < 4) {
      s.rect(x - 1, y - 2, w + 2, h + 4, { fill: role });
      continue;
    }
    token(s, i, { ...spots[i], alpha: 1 });
    ring(s, spots[i], role);
  }
  if (s.step !== 1 || moving) return;
  // Two dots that nearly coincide are named on either side.
  both.forEach(([i, role], n) => {
    const [{ x, y, w, h }, name] = [spots[i], nameOf(s.run, i)];
    const right = both.length < 2 || x > spots[both[1 - n][0]].x ||
      (n === 1 && x === spots[both[0][0]].x);
    const wide = s.pen.measure(name, { size: s.size + 1, weight: 700 });
    const style = { size: s.size + 1, weight: 700, colour: role, halo: "panel" };
    s.pen.text(
      clamp(right ? x + w + 8 : x - 8 - wide, 2, s.width - wide - 2),
      y + h / 2,
      name,
      style,
    );
  });
}

// A word said twice: the letters that were given stand in the first row, what each model says under
// them. A text stands alone, coloured by what each of its letters cost. The value is made by
// explorer/labs/reformer/figures/spelling.py; a position of the first word stands for its letter.

import { t } from "../../frontend/lib/lang.js";
import { among } from "../../frontend/lib/selection.js";
import { ink, ramp, shade } from "../../frontend/lib/pen.js";
import { mark } from "../../frontend/lib/signs.js";

const TEXT = {
  word: { en: "Said twice", zh: "说两遍" },
  text: { en: "A text, letter by letter", zh: "逐字符读文本" },
  wordQuestion: { en: "Which letters does each model get right?", zh: "每个模型说对了哪些字母？" },
  textQuestion: { en: "Which letters did it not expect?", zh: "哪些字符出乎它的意料？" },
  wordUnits: {
    en: "share of right letters at the end of each row",
    zh: "每行末尾是答对字母的比例",
  },
  textUnits: {
    en: "loss of each character in bits, −log₂ p",
    zh: "每个字符的损失（比特），−log₂ p",
  },
  given: { en: "given", zh: "给定" },
  right: { en: "probability of the right letter", zh: "正确字母的概率" },
  wrong: { en: "wrong", zh: "错误" },
  bits: { en: "bits, 0 … {worst} and more", zh: "比特，0 … {worst} 及以上" },
  says: {
    en: "{model} “{said}”, p of “{letter}” {p}",
    zh: "{model} 说“{said}”，给“{letter}”的概率 {p}",
  },
  letter: {
    en: "Letter {i} is “{letter}”, said at position {pos}: {each}.",
    zh: "第 {i} 个字母是“{letter}”，在位置 {pos} 说出：{each}。",
  },
  character: {
    en: "Character {i}, “{letter}”, cost {bits} bits: p = {p}; likeliest was “{said}”.",
    zh: "第 {i} 个字符“{letter}”花费 {bits} 比特：p = {p}；最可能的是“{said}”。",
  },
  share: { en: "{model} {right} of {n}", zh: "{model} {right}/{n}" },
  shares: { en: "Right letters of the second word: {each}.", zh: "第二遍说对的字母：{each}。" },
  cost: {
    en: "{bits} bits per character on these {n} characters; {right} of them were its first guess.",
    zh: "这 {n} 个字符平均每字符 {bits} 比特；其中 {right} 个是它的首选。",
  },
  comma: { en: ", ", zh: "，" },
  number: { en: "letter", zh: "序号" },
  position: { en: "said at position", zh: "说出的位置" },
  column: { en: "given", zh: "给定" },
  said: { en: "{model} says", zh: "{model} 说" },
  nats: { en: "{model}: −log p of the right one, nats", zh: "{model}：正确字母的 −log p（纳特）" },
  sheet: {
    en: "Every letter: the answer, and the loss of the right letter",
    zh: "每个字母：说出的内容，以及正确字母的损失",
  },
};
const WORST = 8; // bits where the scale of the loss ends

const bits = (run, i) => run.runs[0].nats[i] / Math.LN2;
const wrong = (one, i) => !one.hits[i];

function probability(nats) {
  const p = Math.exp(-nats);
  return p > 0.9995 && p < 1 ? "> 0.999" : p < 0.0005 ? "< 0.001" : p.toFixed(3);
}

export function read(value) {
  if (!value.runs?.length) return null;
  const runs = value.runs.map((one) => ({
    ...one,
    said: Array.from(one.said),
    nats: one.nats.data,
  }));
  return { ...value, letters: Array.from(value.given), runs, alone: value.mode === "text" };
}

/** The letter that a position says, from 0, or null. */
function letterAt({ first, alone, letters }, pos) {
  const i = pos >= first ? pos - first : alone ? -1 : pos - 1;
  return i >= 0 && i < letters.length ? i : null;
}
const locked = (run, look) => look.pos.map((pos) => letterAt(run, pos)).filter((i) => i !== null);

function card(run, i) {
  const letter = mark(run.letters[i]);
  const models = run.runs.map((one) =>
    [
      `${t(one.name)}: ${mark(one.said[i])} ${wrong(one, i) ? "✗" : "✓"}`,
      `p(${letter}) ${probability(one.nats[i])}`,
    ].join(" · ")
  );
  return [
    `${letter}·${run.first + i}${run.alone ? ` · ${bits(run, i).toFixed(2)} bits` : ""}`,
    ...models,
  ];
}

// ── the figure ──
export function scene(run, look, pen) {
  const high = run.alone ? characters(run, look, pen) : letters(run, look, pen);
  // Other views point at positions of the first word too.
  if (!run.alone) {
    run.letters.forEach((_, i) =>
      pen.hit({ x0: -1, x1: -1, y0: -1, y1: -1, look: { pos: i + 1 }, still: true })
    );
  }
  pen.size(pen.width, high);
}

/** Letters in columns, as many in a line as there is room for; every line names its rows. */
function letters(run, look, pen) {
  const { big, width } = pen;
  const count = run.letters.length;
  const [least, most, size] = big ? [22, 44, 22] : [17, 26, 13];
  const rows = [{ name: TEXT.given, said: run.letters }, ...run.runs];
  const names = Math.max(...rows.map(({ name }) => pen.measure(t(name), { size, weight: 700 }))) +
    14;
  const apart = width >= 480; // else names stand above their row
  const [left, share] = apart ? [names, big ? 80 : 56] : [0, 0];
  const free = Math.max(least, width - left - share);
  const each = Math.ceil(count / Math.ceil((count * least) / free));
  const cell = Math.max(least, Math.min(most, Math.floor(free / each)));
  const bands = Math.ceil(count / each);
  const fair = big && (pen.tall / bands - 1.6 * size - 10) / rows.length; // as high as the hall's screen lets a row be
  const tall = (big ? Math.max(1.05 * cell, Math.min(2.2 * cell, fair)) : 26) + (apart ? 0 : 18);
  const box = tall - (apart ? 2 : 20);
  const chosen = locked(run, look);
  let y = 0;
  for (let from = 0; from < count; from += each) {
    const last = Math.min(count, from + each);
    for (let i = from; i < last; i += 5) {
      pen.text(left + (i - from + 0.5) * cell, y + size * 0.7, String(i + 1), {
        size: size - 1,
        align: "center",
        colour: "ink3",
      });
    }
    y += size * 1.6;
    for (const one of rows) {
      const here = one.key === look.model && run.runs.length > 1;
      const [top, middle] = [y + tall - box - 2, y + tall - box / 2 - 3];
      pen.text(0, apart ? middle : y + 9, t(one.name), {
        size,
        weight: here ? 700 : 400,
        colour: here ? "accent" : one.key ? "ink2" : "ink3",
      });
      for (let i = from; i < last; i += 1) {
        const x = left + (i - from) * cell;
        const bad = one.key && wrong(one, i);
        const place = { x0: x, x1: x + cell, y0: top, y1: top + box };
        if (chosen.includes(i)) pen.rect(place, { fill: "query-soft" });
        if (bad) {
          pen.rect({ ...place, x0: x + 1, x1: x + cell - 1, y1: top + box - 3 }, {
            fill: "bad-soft",
            hatch: "panel",
            radius: 3,
          });
        }
        const style = {
          size: Math.min(big ? 30 : 16, cell * 0.8),
          align: "center",
          face: "mono",
          weight: bad ||
              !one.key
            ? 700
            : 400,
        };
        pen.text(x + cell / 2, middle, mark(one.said[i]), {
          ...style,
          colour: bad ? "bad" : "ink",
        });
        const p = one.key ? Math.exp(-one.nats[i]) : 0; // of the right letter, as a line under it
        if (p > 0) {
          pen.rect({ x0: x + 1, x1: x + 1 + p * (cell - 2), y0: top + box - 2, y1: top + box }, {
            fill: bad ? "bad" : "out",
          });
        }
        pen.hit({
          ...place,
          look: { pos: run.first + i, ...(one.key ? { model: one.key } : {}) },
          card: () => card(run, i),
        });
      }
      if (one.key && last === count) {
        const text = (one.right / count).toFixed(3);
        pen.text(apart ? left + (last - from) * cell + 10 : names, apart ? middle : y + 9, text, {
          size,
          weight: 700,
          colour: "ink",
        });
      }
      y += tall;
    }
    for (const i of chosen.filter((one) => one >= from && one < last)) {
      const x = left + (i - from) * cell;
      pen.rect({ x0: x, x1: x + cell, y0: y - rows.length * tall + (tall - box - 2), y1: y }, {
        line: "query",
        width: big ? 3 : 2,
      });
    }
    y += 10;
  }
  return y;
}

/** One text, each letter on the colour of its bits; lines break behind a space. */
function characters(run, look, pen) {
  const size = pen.big ? 24 : 15;
  const [style, tall] = [{ size, face: "mono", align: "center" }, Math.round(size * 1.75)];
  const widths = new Map();
  const wide = (sign) =>
    widths.get(sign) ??
      widths.set(sign, Math.max(pen.measure(sign, style), size * 0.6) + 1).get(sign);
  const chosen = locked(run, look);
  let [x, y] = [0, 0];
  run.letters.forEach((letter, i) => {
    const own = wide(mark(letter));
    let word = own; // up to the next space, where it begins one
    if (i === 0 || /\s/.test(run.letters[i - 1])) {
      for (let n = i + 1; n < run.letters.length && !/\s/.test(run.letters[n]); n += 1) {
        word += wide(run.letters[n]);
      }
    }
    if (x > 0 && (x + own > pen.width || (word < pen.width && x + word > pen.width))) {
      [x, y] = [0, y + tall];
    }
    const place = { x0: x, x1: x + own, y0: y + 2, y1: y + tall - 2 };
    const ground = shade("surprise", bits(run, i) / WORST);
    pen.rect(place, { fill: ground });
    pen.text(x + own / 2, y + tall / 2, mark(letter), { ...style, colour: ink(ground) });
    if (chosen.includes(i)) {
      pen.rect({ x0: x - 1, x1: x + own + 1, y0: y, y1: y + tall }, {
        line: "query",
        width: pen.big ? 4 : 2.5,
        radius: 2,
      });
    }
    pen.hit({ ...place, look: { pos: run.first + i }, card: () => card(run, i) });
    x += own;
    if (letter === "\n") [x, y] = [0, y + tall];
  });
  return y + tall;
}

export function legend(run) {
  if (run.alone) return [{ text: t(TEXT.bits, { worst: WORST }), mark: ramp("surprise", 90, 16) }];
  return [{ text: t(TEXT.right), mark: { fill: "out", tall: 3 } }, {
    text: t(TEXT.wrong),
    mark: { fill: "bad-soft", hatch: "panel", line: "bad" },
  }];
}

// ── in words and numbers ──
export function sentence(run, look) {
  const [i, n] = [locked(run, look).at(-1), run.letters.length];
  const joined = (parts) => parts.join(t(TEXT.comma));
  const [alone] = run.runs;
  if (i === undefined) {
    if (run.alone) return [t(TEXT.cost, { bits: alone.bits.toFixed(2), n, right: alone.right })];
    return [
      t(TEXT.shares, {
        each: joined(
          run.runs.map((one) => t(TEXT.share, { model: t(one.name), right: one.right, n })),
        ),
      }),
    ];
  }
  const letter = mark(run.letters[i]);
  const said = (one) => ({
    model: t(one.name),
    said: mark(one.said[i]),
    letter,
    p: probability(one.nats[i]),
  });
  if (run.alone) {
    return [t(TEXT.character, { i: i + 1, bits: bits(run, i).toFixed(2), ...said(alone) })];
  }
  return [
    t(TEXT.letter, {
      i: i + 1,
      letter,
      pos: run.first + i,
      each: joined(run.runs.map((one) => t(TEXT.says, said(one)))),
    }),
  ];
}

export function table(run, look) {
  const models = run.runs.flatMap((one) =>
    ["said", "nats"].map((name) => t(TEXT[name], { model: t(one.name) }))
  );
  const rows = run.letters.map((
    letter,
    i,
  ) => [
    i + 1,
    run.first + i,
    mark(letter),
    ...run.runs.flatMap((one) => [mark(one.said[i]), Number(one.nats[i].toFixed(6))]),
  ]);
  return {
    caption: t(TEXT.sheet),
    columns: [t(TEXT.number), t(TEXT.position), t(TEXT.column), ...models],
    rows,
    here: locked(run, look).at(-1) ?? null,
  };
}

export const arrays = (run) => ({
  given: run.letters,
  models: run.runs.map((one) => one.key),
  ...Object.fromEntries(
    run.runs.flatMap((
      one,
    ) => [[`${one.key}_says`, one.said], [`${one.key}_nats`, {
      shape: [one.nats.length],
      data: one.nats,
      axes: ["letter"],
      unit: "nats",
    }]]),
  ),
});

export const looks = { pos: "positions", model: "choice" };
export const across = "model";
export const bounds = ({ first, letters: all, pick, runs }) => {
  const names = runs.map((one) => one.key);
  return {
    pos: { first, count: first + all.length, pick: pick?.pos },
    model: { names, pick: names.includes(pick?.model) ? pick.model : names[0] },
  };
};

export function move(run, look, key, by) {
  const keys = run.runs.map((one) => one.key);
  if (key === "model") {
    return { model: keys[among(keys.indexOf(look.model) + by, 0, keys.length - 1)] };
  }
  const i = locked(run, look).at(-1) ?? (by > 0 ? -1 : run.letters.length);
  return { pos: run.first + among(i + by, 0, run.letters.length - 1) };
}

export const title = (run) => t(run.alone ? TEXT.text : TEXT.word);
export const units = (run) => t(run.alone ? TEXT.textUnits : TEXT.wordUnits);
export const question = (run) => (run.alone ? TEXT.textQuestion : TEXT.wordQuestion);
export const same = (was, run) => was.mode === run.mode && was.given === run.given;

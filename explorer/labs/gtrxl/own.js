// A corridor that the visitor walks, through the same fog as the agent: arrow keys, a touch on a
// cell in view, or the buttons. The agent has walked the same corridors; both scores stand side by
// side. The value is made by explorer/labs/gtrxl/views.py.

import { upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { parts, t } from "../../frontend/lib/lang.js";
import { among } from "../../frontend/lib/selection.js";
import { boardOf, inView, MOVES, ticksOf, walkerAt } from "./board.js";

export const TEXT = {
  board: {
    en: "{title}. Left and right walk, up and down turn at the junction, Escape goes back to the " +
      "start.",
    zh: "{title}。左右键行走，到岔路口用上下键转弯，Esc 回到起点。",
  },
  begin: {
    en: "Corridor {round} of {of}. The lamp above the start names the turn: A up, B down. Lamps " +
      "below mean nothing.",
    zh: "第 {round} 条走廊，共 {of} 条。起点上方的灯指明转向：A 向上，B 向下。下方的灯毫无意义。",
  },
  going: { en: "You are at cell {x}; you see nine cells.", zh: "您在第 {x} 格，看得见九格。" },
  junction: { en: "This is the junction: up or down?", zh: "到岔路口了：上还是下？" },
  over: {
    en: "You turned {turn}: {verdict} The agent: {agent}.",
    zh: "您{turn}转：{verdict}智能体：{agent}。",
  },
  right: { en: "right.", zh: "对了。" },
  wrong: { en: "wrong.", zh: "错了。" },
  agentRight: { en: "right", zh: "对" },
  agentWrong: { en: "wrong", zh: "错" },
  up: { en: "up", zh: "向上" },
  down: { en: "down", zh: "向下" },
  score: {
    en: " So far you {mine}, the agent {its}, of {n} {n|corridor|corridors}.",
    zh: " 到目前为止：您 {mine}，智能体 {its}，共 {n} 条走廊。",
  },
  left: { en: "left", zh: "向左" },
  forth: { en: "right", zh: "向右" },
  next: { en: "Next corridor", zh: "下一条走廊" },
  pad: { en: "Walk", zh: "行走" },
  caption: { en: "Corridors walked", zh: "走过的走廊" },
  columns: { en: "corridor|you|agent", zh: "走廊|您|智能体" },
};

const scores = new Map(); // query and corridor -> was the first turn right?

export const read = (value) => value;

const gameOf = (run, look) => run.games[Number(look.corridor) - 1];
const keyOf = (run, round) => `${run.query} ${round}`;

/**
 * The games that were walked to their end, [round, mine, the agent's]; the one in view counts from
 * its turn on.
 */
function walked(run, look) {
  const game = gameOf(run, look);
  const key = keyOf(run, look.corridor);
  if (look.turn !== "none" && !scores.has(key)) scores.set(key, look.turn === game.answer);
  return run.games.map((
    { answer, turn },
    n,
  ) => [n + 1, scores.get(keyOf(run, n + 1)), turn === answer])
    .filter(([, mine]) => mine !== undefined);
}

export function figure(run, look, pen) {
  const game = gameOf(run, look);
  const font = pen.big ? 20 : 12;
  const board = boardOf({ length: run.length, ...game }, {
    x: look.cell,
    font,
    width: pen.width,
    hidden: true,
  });
  const y = { none: 0, up: 1, down: -1 }[look.turn];
  const size = Math.max(10, Math.min(1.8 * font, (0.7 * pen.width) / (run.length + 3)));
  const colour = y === 0 ? "query" : look.turn === game.answer ? "out" : "bad";
  return {
    data: [...board.data, walkerAt(look.cell, y, size, `var(--${colour})`)],
    layout: {
      height: 190,
      margin: { l: 12, r: 12, t: 4, b: pen.big ? 44 : 26 },
      xaxis: {
        range: [-1.6, run.length + 1.6],
        tickvals: ticksOf(run.length),
        showgrid: false,
        fixedrange: true,
      },
      yaxis: { range: [-2.3, 2.3], visible: false, fixedrange: true },
      shapes: board.shapes,
      annotations: board.annotations,
    },
  };
}

/** Where a step leads: left and right along the corridor, up and down at its end. */
function walk(run, look, dx, dy) {
  if (look.turn !== "none") return {};
  if (dx) return { cell: among(look.cell + dx, 0, run.length) };
  return look.cell === run.length ? { turn: dy > 0 ? "up" : "down" } : {};
}

export const move = (run, look, key, by) =>
  key === "cell" ? walk(run, look, Math.sign(by), 0) : walk(run, look, 0, -by);

export function pick(run, look, { trace, x, y }) {
  if (trace !== 0 || !inView(look.cell, x) || look.turn !== "none") return null;
  if (y === 0) return x < 0 || x > run.length ? null : { look: { cell: x }, card: null };
  return x === run.length && look.cell === run.length
    ? { look: { turn: y > 0 ? "up" : "down" }, card: null }
    : null;
}

export function sentence(run, look) {
  const game = gameOf(run, look);
  const all = walked(run, look);
  const found = look.turn !== "none"
    ? parts(TEXT.over, {
      turn: { text: t(TEXT[look.turn]), role: "out" },
      verdict: t(look.turn === game.answer ? TEXT.right : TEXT.wrong),
      agent: t(game.turn === game.answer ? TEXT.agentRight : TEXT.agentWrong),
    })
    : look.cell === run.length
    ? parts(TEXT.junction, {})
    : look.cell
    ? parts(TEXT.going, { x: { text: String(look.cell), role: "query" } })
    : parts(TEXT.begin, { round: look.corridor, of: run.games.length });
  if (!all.length) return found;
  const count = (at) => all.filter((one) => one[at]).length;
  return [...found, ...parts(TEXT.score, { mine: count(1), its: count(2), n: all.length })];
}

export const table = (run, look) => ({
  caption: t(TEXT.caption),
  columns: t(TEXT.columns).split("|"),
  rows: walked(run, look).map(([round, ...both]) => [
    round,
    ...both.map((right) => t(right ? TEXT.agentRight : TEXT.agentWrong)),
  ]),
});

export function below(run, look, lock) {
  const names = [TEXT.forth, TEXT.left, TEXT.up, TEXT.down];
  const way = [[1, 0], [-1, 0], [0, 1], [0, -1]];
  const button = (text, label, onclick) =>
    el("button", { type: "button", class: "tfe-button small", text, "aria-label": label, onclick });
  const pad = upTo(4, (n) => [1, 0, 2, 3][n]).map((n) =>
    button(MOVES[n], t(names[n]), () => lock(walk(run, look, ...way[n])))
  );
  const next = String((Number(look.corridor) % run.games.length) + 1);
  const on = button(t(TEXT.next), null, () => lock({ corridor: next, cell: 0, turn: "none" }));
  return [el("div", { class: "tfe-row tight tfe-controls", "aria-label": t(TEXT.pad) }, pad, on)];
}

export const looks = { corridor: "choice", cell: "position", turn: "choice" };
export const along = "cell";
export const across = "turn";
export const resets = ["cell", "turn"];
export const bounds = (run) => ({
  corridor: { names: run.games.map((_, n) => String(n + 1)) },
  cell: { count: run.length + 1, pick: 0 },
  turn: { names: ["none", "up", "down"] },
});

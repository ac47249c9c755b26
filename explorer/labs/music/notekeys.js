// A piano on the page: mouse, fingers (several at once) and the keys of a computer keyboard. One
// tab stop.

import { upTo } from "../../frontend/lib/arrays.js";
import { el } from "../../frontend/lib/dom.js";
import { t } from "../../frontend/lib/lang.js";
import { pitchName } from "./noteevents.js";

const TEXT = {
  keys: {
    en: "Piano, {low} to {high}. Arrows left and right move by a semitone, up and down by an " +
      "octave; Space or Enter plays; Backspace takes back the last note. Letters play too.",
    zh:
      "钢琴，{low} 到 {high}。左右方向键移动半音，上下方向键移动八度；空格或回车弹奏；Backspace 撤销最后一个音。字母键也可弹奏。",
  },
};

// Where the keys of a computer keyboard lie, from a C on: two rows like those of a piano. P is left
// out: it projects the page.
const ROWS = [
  { from: 0, keys: "KeyZ KeyS KeyX KeyD KeyC KeyV KeyG KeyB KeyH KeyN KeyJ KeyM" },
  {
    from: 12,
    keys: "KeyQ Digit2 KeyW Digit3 KeyE KeyR Digit5 KeyT Digit6 KeyY Digit7 KeyU KeyI Digit9 KeyO" +
      " Digit0",
  },
].map(({ from, keys }) => ({ from, codes: keys.split(" ") }));
const OFFSETS = new Map(
  ROWS.flatMap(({ from, codes }) => codes.map((code, i) => [code, from + i])),
);
const BLACK = new Set([1, 3, 6, 8, 10]);
const isBlack = (pitch) => BLACK.has(pitch % 12);
const SLIM = 0.62; // width of a black key, in white ones
const NARROWEST = { desk: 32, phone: 44 }; // pixels of a white key

/**
 * @param {{onPress: (pitch: number, at: number) => void, onRelease: (pitch: number, at: number) =>
 * void, onUndo: () => void}} how
 *   at: when it was done, milliseconds on the page's clock
 */
export function keyboard({ onPress, onRelease, onUndo }) {
  let low = 60;
  let high = 72;
  let hand = 60; // the C that the letter Z plays
  let first = 60; // the lowest key in view, a white one
  let last = 72;
  let cursor = 60;
  // what plays ("pointer 1", "KeyZ", "cursor") -> pitch, or null where a finger has left the keys
  const held = new Map();
  const letters = new Map([...OFFSETS.keys()].map((code) => [code, code.replace(/Key|Digit/, "")]));

  const board = el("div", { class: "tfe-motif-board", "aria-hidden": "true" });
  const where = el("span", { class: "tfe-unseen", "aria-live": "polite" });
  const piano = el("div", { class: "tfe-motif-keys", role: "application", tabindex: "0" }, board);
  const node = el("div", { class: "tfe-motif-piano" }, piano, where);

  // Some keyboards have other letters on the same keys.
  navigator.keyboard?.getLayoutMap?.().then(
    (map) => {
      for (const code of letters.keys()) {
        if (map.has(code)) letters.set(code, map.get(code).toUpperCase());
      }
      draw();
    },
    () => {},
  );

  // ── what sounds ──
  const sounds = (pitch) => [...held.values()].includes(pitch);
  function press(who, pitch, at) {
    if (held.get(who) === pitch) return;
    release(who, at);
    const fresh = pitch !== null && !sounds(pitch);
    held.set(who, pitch);
    if (fresh) onPress(pitch, at);
    mark();
  }
  function release(who, at = performance.now()) {
    const pitch = held.get(who);
    if (pitch === undefined) return;
    held.delete(who);
    if (pitch !== null && !sounds(pitch)) onRelease(pitch, at);
    mark();
  }
  function silence() {
    for (const who of [...held.keys()]) release(who);
  }

  // ── fingers and mouse ──
  const under = (event) => {
    /** @type {HTMLElement | null | undefined} */
    const key = document.elementFromPoint(event.clientX, event.clientY)?.closest(".tfe-motif-key");
    return key && board.contains(key) ? Number(key.dataset.pitch) : null;
  };
  piano.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    event.preventDefault();
    piano.focus({ preventScroll: true });
    const pitch = under(event);
    if (pitch !== null) cursor = pitch;
    press(`pointer ${event.pointerId}`, pitch, event.timeStamp);
  });
  const slide = (event) => {
    const who = `pointer ${event.pointerId}`;
    if (held.has(who)) press(who, under(event), event.timeStamp);
  };
  const lift = (event) => release(`pointer ${event.pointerId}`, event.timeStamp);
  document.addEventListener("pointermove", slide);
  document.addEventListener("pointerup", lift);
  document.addEventListener("pointercancel", lift);
  // a finger that rests on a key asks for none
  piano.addEventListener("contextmenu", (event) => event.preventDefault());
  piano.addEventListener("blur", silence);

  // ── keys ──
  piano.addEventListener("keydown", (event) => {
    if (event.metaKey || event.altKey) return;
    if (event.ctrlKey) {
      if (event.code !== "KeyZ") return;
      event.preventDefault();
      onUndo();
      return;
    }
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 12, ArrowDown: -12 }[event.key];
    const to = { Home: low, End: high }[event.key] ??
      (move === undefined ? undefined : cursor + move);
    const played = event.key === " " || event.key === "Enter" ? cursor : pitchOf(event.code);
    if (to === undefined && played === null && event.key !== "Backspace") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Backspace") onUndo();
    else if (to !== undefined) go(to);
    else if (!event.repeat) press(event.code, played, event.timeStamp);
  });
  piano.addEventListener("keyup", (event) => release(event.code, event.timeStamp));

  function pitchOf(code) {
    const pitch = OFFSETS.has(code) ? hand + OFFSETS.get(code) : null;
    return pitch !== null && pitch >= low && pitch <= high ? pitch : null;
  }

  function go(pitch) {
    release("Space");
    release("Enter");
    cursor = Math.min(high, Math.max(low, pitch));
    if (cursor < first || cursor > last) lay(cursor - (cursor % 12));
    else mark();
    where.textContent = pitchName(cursor);
  }

  // ── the keys that are in view ──
  const whites = (from, to) =>
    upTo(to - from + 1, (i) => from + i).filter((pitch) => !isBlack(pitch));

  /**
   * Lays out as many keys as there is room for, from `wanted` on or as near to it as the last key
   * allows.
   */
  function lay(wanted) {
    const all = whites(low, high);
    const narrowest = matchMedia("(max-width: 720px)").matches ? NARROWEST.phone : NARROWEST.desk;
    const room = Math.min(
      all.length,
      Math.max(7, Math.floor((piano.clientWidth || 880) / narrowest)),
    );
    const at = Math.min(
      all.length - room,
      Math.max(
        0,
        all.findIndex((pitch) => pitch >= wanted),
      ),
    );
    first = all[at];
    last = all[at + room - 1];
    draw();
  }

  function draw() {
    const shown = whites(first, last);
    const wide = 100 / shown.length;
    const letterOf = new Map(
      [...OFFSETS.keys()].filter((code) => pitchOf(code) !== null)
        .map((code) => [pitchOf(code), letters.get(code)]),
    );
    const key = (pitch, kind, style) =>
      el(
        "span",
        { class: `tfe-motif-key ${kind}`, "data-pitch": pitch, style },
        el("span", { class: "tfe-motif-letter", text: letterOf.get(pitch) ?? "" }),
        kind === "white"
          ? el("span", { class: "tfe-motif-c", text: pitch % 12 === 0 ? pitchName(pitch) : "" })
          : null,
      );
    const blacks = upTo(last - first + 1, (i) => first + i).filter(isBlack);
    board.replaceChildren(
      ...shown.map((pitch, i) => key(pitch, "white", { left: `${i * wide}%`, width: `${wide}%` })),
      ...blacks.map((pitch) => {
        const before = shown.filter((white) => white < pitch).length;
        return key(pitch, "black", {
          left: `${(before - SLIM / 2) * wide}%`,
          width: `${SLIM * wide}%`,
        });
      }),
    );
    mark();
  }

  function mark() {
    for (const key of board.children) {
      const pitch = Number(key.dataset.pitch);
      key.classList.toggle("is-down", sounds(pitch));
      key.classList.toggle("is-here", pitch === cursor);
    }
  }

  new ResizeObserver(() => lay(first)).observe(piano);

  return {
    node,
    silence,
    focus: () => piano.focus({ preventScroll: true }),
    /** Which keys there are, from a white one to a white one, and the C that the letter Z plays. */
    range(lowest, highest, start) {
      silence();
      [low, high, hand] = [lowest, highest, start];
      cursor = Math.min(high, Math.max(low, hand));
      lay(hand);
    },
    /** May the letters, and what is in view, move by so many octaves? */
    moves: (octaves) => hand + 12 * octaves >= low - 11 && hand + 12 * octaves + 12 <= high,
    move(octaves) {
      silence();
      hand += 12 * octaves;
      cursor = Math.min(high, Math.max(low, hand));
      lay(hand);
    },
    paint() {
      piano.setAttribute(
        "aria-label",
        t(TEXT.keys, { low: pitchName(low), high: pitchName(high) }),
      );
    },
  };
}

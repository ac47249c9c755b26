// Handles in a picture: sliders that are dragged or moved by keys, and that rest before anything is
// asked.

import { all, el } from "./dom.js";
import { plain } from "./keys.js";

const REST = 450; // ms after the last key until the hand is taken to rest
const MOVES = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/**
 * @param {HTMLElement} paper around the picture
 * @param {{spot: (event: PointerEvent) => number[], home: (x: number, y: number, within: any) =>
 *   number[], still: boolean, move: (name: string, value: number) => void,
 *   rest: (how: any, value: number) => void}} what
 *   spot: px in the picture. home: where that lies without zoom. still: none of them moves here
 */
export function handlesOf(paper, { spot, home, still, move, rest }) {
  let held = null; // the name of the one that is moved

  function grip(name) {
    let [off, timer, value, moved] = [[0, 0], 0, 0, false];
    const node = el("div", {
      class: "tfe-stage-handle",
      role: "slider",
      tabindex: "0",
      "data-name": name,
    }, el("span", {}));
    const fixed = () => node.getAttribute("aria-disabled") === "true";
    const put = (next) => {
      const { least, most, step } = node.how;
      value = Math.max(least, Math.min(most, Math.round(next / step) * step));
      moved = true;
      move(name, value);
    };
    const end = () => {
      held = null;
      if (moved) rest(node.how, value); // who only touches it asks for nothing
      moved = false;
    };
    node.addEventListener("pointerdown", (event) => {
      if (fixed() || event.button) return;
      const [x, y] = spot(event);
      const { x0, y0, x1, y1 } = node.how;
      [held, value, off] = [name, node.how.value, [x - (x0 + x1) / 2, y - (y0 + y1) / 2]];
      node.setPointerCapture(event.pointerId);
      node.focus({ preventScroll: true });
      event.preventDefault();
    });
    node.addEventListener("pointermove", (event) => {
      if (held !== name) return;
      const [x, y] = spot(event);
      put(node.how.of(...home(x - off[0], y - off[1], node.how)));
    });
    for (const over of ["pointerup", "pointercancel"]) {
      node.addEventListener(over, () => held === name && end());
    }
    node.addEventListener("keydown", (event) => {
      if (!plain(event)) return;
      const { value: now, least, most, step, stride = 10 } = node.how;
      const by = (MOVES[event.key] ?? 0) * (event.shiftKey ? stride : 1) ||
        { PageUp: stride, PageDown: -stride }[event.key];
      const goal = by
        ? (held === name ? value : now) + by * step
        : { Home: least, End: most }[event.key];
      if (goal === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      if (fixed()) return;
      held = name;
      put(goal);
      clearTimeout(timer);
      timer = setTimeout(end, REST);
    });
    paper.append(node);
    return node;
  }

  return {
    busy: () => held !== null,
    /** list: as `Pen.handle` takes them; the same names keep their focus. */
    place(list) {
      const kept = new Map(
        all(paper, ".tfe-stage-handle").map((node) => [node.dataset.name, node]),
      );
      for (const how of list) {
        const node = kept.get(how.name) ?? grip(how.name);
        kept.delete(how.name);
        node.how = how;
        const { x0, y0, x1, y1 } = how;
        Object.assign(node.style, {
          left: `${x0}px`,
          top: `${y0}px`,
          width: `${x1 - x0}px`,
          height: `${y1 - y0}px`,
        });
        const facts = {
          label: how.label,
          valuemin: how.least,
          valuemax: how.most,
          valuenow: how.value,
          valuetext: how.says,
          disabled: Boolean(how.disabled || still),
        };
        for (const [key, text] of Object.entries(facts)) {
          if (node.getAttribute(`aria-${key}`) !== String(text)) {
            node.setAttribute(`aria-${key}`, String(text));
          }
        }
      }
      for (const node of kept.values()) node.remove();
    },
  };
}

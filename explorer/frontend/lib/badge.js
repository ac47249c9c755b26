// The badge of a lab's input: where the result in view comes from, how far the one under way has
// come, or that what stands in the controls has not been run. All labs say it with these words.

import { el } from "./dom.js";
import { t } from "./lang.js";
import { ordinal } from "./signs.js";
import { bus } from "./state.js";

const TEXT = {
  stored: { en: "stored", zh: "已存" },
  remembered: { en: "remembered", zh: "已记住" },
  live: { en: "live · {ms} · {device}", zh: "实时 · {ms} · {device}" },
  running: { en: "live · running", zh: "实时 · 运行中" },
  lost: { en: "no connection", zh: "连接中断" },
  changing: { en: "live · running the change", zh: "实时 · 正在运行改动" },
  waiting: { en: "{place} of {of} · about {s} s", zh: "第 {place} 位，共 {of} 位 · 约 {s} 秒" },
  unrun: { en: "not run yet", zh: "尚未运行" },
  stopped: { en: "stopped", zh: "已停止" },
  refused: { en: "refused", zh: "已拒绝" },
};
const DONE = ["stored", "remembered", "live"];
const KNOB = "input[type=range][data-field]"; // of a panel of changes: what it is dragged to has not been run

export const grouped = (n) => Number(n).toLocaleString("en-US");
const milliseconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/**
 * Whoever changes the model says where its change stands: bus.fire("changing", {by: name of the
 * panel, state}), state "unrun" (it is being dragged), "running" or null.
 * @param {() => void} repaint called when that changed
 * @returns {{node: HTMLElement, paint: (now: {value: any, wish: {pending: boolean, stopped:
 * boolean, lost: boolean, heard: boolean, changes?: boolean}, wrong: any, differs: () => boolean,
 * progress?: () => string | null}) => void}}
 *   value: of the input, with its state and badge. wrong: what is refused. differs: do the controls
 *   ask for something else than what is in view? progress: how far a run has come, where that is
 *   known
 */
export function badgeOf(repaint) {
  const node = el("span", { class: "tfe-badge", role: "status" });
  const changes = new Map(); // what each panel said last
  const hear = ({ by, state }) => {
    if ((changes.get(by) ?? null) === state) return;
    changes.set(by, state);
    repaint();
  };
  bus.on("changing", hear);
  const dragged = (state) => (event) => {
    if (event.target instanceof Element && event.target.matches(KNOB)) {
      hear({ by: "a knob", state });
    }
  };
  document.addEventListener("input", dragged("unrun"));
  for (const rest of ["change", "pointerup", "pointercancel", "blur"]) {
    document.addEventListener(rest, dragged(null), true);
  }

  /** @param {any} now as `paint` takes it */
  function said({ value, wish, wrong, differs, progress }) {
    const info = value.badge ?? {};
    if (wish.stopped) return ["stopped", t(TEXT.stopped)];
    if (wish.lost) return ["refused", t(TEXT.lost)];
    if (wish.pending) {
      if (wish.heard && value.state === "waiting" && info.place) {
        const place = ordinal(info.place);
        return [
          "waiting",
          t(TEXT.waiting, { place, of: info.of, s: Math.max(1, Math.round(info.seconds)) }),
        ];
      }
      return [
        "live",
        (wish.heard && value.state === "running" && progress?.()) ||
        t(wish.changes ? TEXT.changing : TEXT.running),
      ];
    }
    if (wrong) return ["refused", t(TEXT.refused)];
    const states = new Set(changes.values());
    if (states.has("running")) return ["live", t(TEXT.changing)];
    if (!DONE.includes(value.state)) return ["", ""];
    if (states.has("unrun") || (value.request && differs())) return ["unrun", t(TEXT.unrun)];
    return [
      value.state,
      t(TEXT[value.state], { ms: milliseconds(info.milliseconds ?? 0), device: info.device }),
    ];
  }

  return {
    node,
    paint(now) {
      const [kind, text] = said(now);
      node.className = `tfe-badge ${kind}`;
      const dot = DONE.includes(kind);
      node.replaceChildren(
        ...(dot ? [el("span", { class: "dot", "aria-hidden": "true" })] : []),
        text,
      );
      node.hidden = text === "";
    },
  };
}

// bertviz's own views of this run, in a folded panel: a frame that may run scripts and nothing
// else.

import { el, segmented } from "../lib/dom.js";
import { folded } from "../lib/folded.js";
import { lang, onLang, t } from "../lib/lang.js";
import { request, view } from "../lib/state.js";
import { dark, onTheme } from "../lib/theme.js";

const TEXT = {
  title: { en: "bertviz's own views of this run", zh: "bertviz 对本次运行的视图" },
  pick: { en: "Which of bertviz's views", zh: "选择 bertviz 的视图" },
  frame: { en: "bertviz: {view} of this run", zh: "bertviz：本次运行的{view}" },
};
const VIEWS = {
  head: {
    short: { en: "Head", zh: "注意力头" },
    name: { en: "head view", zh: "注意力头视图" },
    say: {
      en: "All heads of one layer, a colour each. Point at a word to see what it looks at; " +
        "double-click a colour to keep that head alone.",
      zh: "一层里的所有头，每头一种颜色。指向一个词，看它在看什么；双击一种颜色，只留下那个头。",
    },
  },
  model: {
    short: { en: "Model", zh: "模型" },
    name: { en: "model view", zh: "模型视图" },
    say: {
      en: "Every layer and head at once. Click a picture to see its words.",
      zh: "所有的层和头。点一张小图，看它的词。",
    },
  },
  neuron: {
    short: { en: "Neuron", zh: "神经元" },
    name: { en: "neuron view", zh: "神经元视图" },
    say: {
      en:
        "One head, element by element. Point at a word, then click the plus beside it: its query " +
        "times every key, their sum, the softmax.",
      zh: "一个头，逐元素。指向一个词，再点旁边的加号：它的查询乘以每个键、求和、softmax。",
    },
  },
};
const LOWEST = 160; // pixels of the frame

/**
 * props.note: {en, zh} or null; props.views: keys of VIEWS. Event: ask({run, wish: {view, kind,
 * head, times}}).
 */
export function mount(root, props, emit, watch) {
  const chosen =
    () => (props.views.includes(view.get("bertviz")) ? view.get("bertviz") : props.views[0]);
  const picker = segmented({
    options: [],
    value: chosen(),
    label: "",
    onPick: (key) => view.set({ bertviz: key }),
  });
  const say = el("p", { class: "tfe-note" });
  const note = el("p", { class: "tfe-note", hidden: !props.note });
  const box = el("div", { class: "tfe-bertviz-box" });
  let frame = null;
  let [source, alive] = [null, false]; // alive: has the frame told its size?
  let [wished, of, times] = [null, null, 0]; // what was asked of which run, and how often its frame was forgotten

  const look = () => ({ theme: dark() ? "dark" : "light", lang: lang() });
  /**
   * The view that is chosen, and what is looked at: as it was when this view of this run was first
   * wished for.
   */
  function wish() {
    if (wished?.view !== chosen() || wished.times !== times || of !== request.get()) {
      [wished, of] = [
        { view: chosen(), kind: view.get("kind"), head: view.get("head"), times },
        request.get(),
      ];
    }
    return wished;
  }

  folded({
    root,
    key: "bertviz",
    title: TEXT.title,
    head: [el("div", { class: "tfe-row" }, picker.node), say],
    body: [box, note],
    props,
    watch,
    emit,
    wish,
    says: chosen,
    opens() {
      picker.set({
        label: t(TEXT.pick),
        value: chosen(),
        options: props.views.map((key) => ({ key, label: t(VIEWS[key].short) })),
      });
      say.textContent = t(VIEWS[chosen()].say);
      note.textContent = t(props.note);
    },
    draw(value) {
      if (value.src !== source) {
        [source, alive] = [value.src, false];
        // A new element each time: another address in the same one would become an entry of the
        // browser's history.
        frame = el("iframe", {
          sandbox: "allow-scripts",
          src: `${source}#${look().theme},${look().lang}`,
          referrerpolicy: "no-referrer",
        });
        box.replaceChildren(frame);
      }
      frame.title = t(TEXT.frame, { view: t(VIEWS[value.view].name) });
    },
  });

  const tell = () => frame?.contentWindow?.postMessage(look(), "*"); // the frame has no origin of its own to name
  onTheme(tell);
  onLang(tell);
  addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow) return;
    const height = Number(event.data?.bertviz?.height);
    if (!(height > 0)) return;
    alive = true;
    const most = Math.max(420, Math.round(innerHeight * 0.8));
    frame.style.height = `${Math.min(most, Math.max(LOWEST, Math.ceil(height) + 18))}px`; // 18: a scroll bar below
  });
  view.on(["bertviz"], () => {
    if (view.get("bertviz") === null && frame && !alive) times += 1; // the server had forgotten it: it is asked anew
  });
}

// bertviz's own views of this run, in a frame that may run scripts and nothing else. Closed at first; opening it asks
// the server.

import { clear, el, segmented } from "./lib/dom.js";
import { lang, onLang, t } from "./lib/lang.js";
import { bus, request, view } from "./lib/state.js";
import { dark, onTheme } from "./lib/theme.js";

const TEXT = {
  title: { en: "bertviz's own views of this run", zh: "bertviz 对本次运行的视图" },
  pick: { en: "Which of bertviz's views", zh: "选择 bertviz 的视图" },
  frame: { en: "bertviz: {view} of this run", zh: "bertviz：本次运行的{view}" },
  waiting: { en: "bertviz is drawing …", zh: "bertviz 正在绘制……" },
};
const VIEWS = {
  head: {
    short: { en: "Head", zh: "注意力头" },
    name: { en: "head view", zh: "注意力头视图" },
    say: {
      en: "All heads of one layer, a colour each. Point at a word to see what it looks at; double-click a colour to keep that head alone.",
      zh: "一层里的所有头，每头一种颜色。指向一个词，看它在看什么；双击一种颜色，只留下那个头。",
    },
  },
  model: {
    short: { en: "Model", zh: "模型" },
    name: { en: "model view", zh: "模型视图" },
    say: { en: "Every layer and head at once. Click a picture to see its words.", zh: "所有的层和头。点一张小图，看它的词。" },
  },
  neuron: {
    short: { en: "Neuron", zh: "神经元" },
    name: { en: "neuron view", zh: "神经元视图" },
    say: {
      en: "One head, element by element. Point at a word, then click the plus beside it: its query times every key, their sum, the softmax.",
      zh: "一个头，逐元素。指向一个词，再点旁边的加号：它的查询乘以每个键、求和、softmax。",
    },
  },
};
const LOWEST = 160; // pixels of the frame

/**
 * props.note: {en, zh} or null. value: see bertviz.py. Event: show({view, run, kind, head}).
 * The run is the one in the address, so this widget needs no word from the one that owns the input.
 */
export function mount(root, props, emit, watch) {
  let value = props.value ?? { state: "ready" };
  const wanted = () => (Object.hasOwn(VIEWS, view.get("bertviz") ?? "") ? view.get("bertviz") : null);
  let chosen = wanted() ?? "head";
  let asked = null; // what the server was asked and has not answered, as text
  let alive = false; // has the frame told its size?
  let frame = null;
  let source = null;
  let framed = chosen; // the view in the frame, while another one may be on its way
  let slow = null;

  const title = el("summary", { class: "tfe-title" });
  const say = el("p", { class: "tfe-note" });
  const note = el("p", { class: "tfe-note" });
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const status = el("p", { class: "tfe-note tfe-bertviz-status", role: "status" });
  const box = el("div", { class: "tfe-bertviz-box" });
  const picker = segmented({ options: [], value: chosen, label: "", onPick: (key) => pick(key) });
  const body = el("div", { class: "tfe-bertviz-body" }, el("div", { class: "tfe-row" }, picker.node, status), say,
      error, box, note);
  const unfold = el("details", { class: "tfe-panel tfe-bertviz-unfold", open: wanted() !== null }, title, body);
  root.replaceChildren(unfold);

  const look = () => ({ theme: dark() ? "dark" : "light", lang: lang() });

  function pick(key) {
    chosen = key;
    if (unfold.open) view.set({ bertviz: chosen });
    draw();
  }

  const named = (which, run) => JSON.stringify([which, run]);

  function ask() {
    const key = named(chosen, request.get());
    if (key === asked) return;
    asked = key;
    clearTimeout(slow);
    slow = setTimeout(() => {
      box.classList.add("tfe-stale");
      status.textContent = t(TEXT.waiting);
    }, 150);
    emit.show({ view: chosen, run: request.get(), kind: view.get("kind"), head: view.get("head") });
  }

  function settle() {
    clearTimeout(slow);
    status.textContent = "";
    box.classList.remove("tfe-stale");
  }

  function place(src) {
    if (src === source) return;
    source = src;
    framed = chosen;
    alive = false;
    const { theme, lang: language } = look();
    // A new element each time: another address in the same one would become an entry of the browser's history.
    frame = el("iframe", { sandbox: "allow-scripts", title: "", src: `${src}#${theme},${language}`,
        referrerpolicy: "no-referrer" });
    clear(box).append(frame);
  }

  function draw() {
    const views = (value.views ?? Object.keys(VIEWS)).filter((key) => Object.hasOwn(VIEWS, key));
    if (!views.includes(chosen)) chosen = views[0];
    title.textContent = t(TEXT.title);
    picker.set({ label: t(TEXT.pick), value: chosen,
        options: views.map((key) => ({ key, label: t(VIEWS[key].short) })) });
    say.textContent = t(VIEWS[chosen].say);
    note.textContent = t(props.note);
    note.hidden = !props.note;
    error.hidden = true;
    body.hidden = !unfold.open; // some readers list what a folded panel holds
    if (!unfold.open) return;
    const answered = value.view === chosen && value.run === request.get();
    if (value.state === "shown" && answered) {
      settle();
      place(value.src);
    } else if (value.state === "refused" && answered) {
      settle();
      clear(box);
      frame = source = null;
      error.textContent = t(value.error);
      error.hidden = false;
    } else ask();
    if (frame) frame.title = t(TEXT.frame, { view: t(VIEWS[framed].name) });
  }

  const tell = () => frame?.contentWindow?.postMessage(look(), "*"); // the frame has no origin of its own to name

  addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow) return;
    const height = Number(event.data?.bertviz?.height);
    if (!(height > 0)) return;
    alive = true;
    const most = Math.max(420, Math.round(innerHeight * 0.8));
    frame.style.height = `${Math.min(most, Math.max(LOWEST, Math.ceil(height) + 18))}px`; // 18: a scroll bar below
  });
  unfold.addEventListener("toggle", () => {
    if (!unfold.open) {
      asked = null; // so that opening it again asks again, should no answer have come
      if (frame && !alive) {
        value = { ...value, state: "ready" }; // the server had forgotten this view
        source = null;
      }
    }
    view.set({ bertviz: unfold.open ? chosen : null });
    draw();
  });
  view.on(["bertviz"], () => {
    chosen = wanted() ?? chosen;
    unfold.open = wanted() !== null;
    draw();
  });
  bus.on("request", draw);
  onTheme(tell);
  onLang(() => {
    draw();
    tell();
  });
  watch("value", () => {
    value = props.value ?? { state: "ready" };
    if (named(value.view, value.run) === asked) asked = null;
    draw();
  });
  draw();
}

// bertviz's own views of this run, in a frame that may run scripts and nothing else. Closed at first; opening it asks the server.

import { clear, el, segmented } from "./lib/dom.js";
import { lang, onLang, t } from "./lib/lang.js";
import { view } from "./lib/state.js";
import { dark, onTheme } from "./lib/theme.js";

const TEXT = {
  title: { en: "bertviz's own views of this run", zh: "bertviz 对本次运行的视图" },
  pick: { en: "Which of bertviz's views", zh: "选择 bertviz 的视图" },
  frame: { en: "bertviz: {view} of this run", zh: "bertviz：本次运行的{view}" },
  waiting: { en: "bertviz is drawing …", zh: "bertviz 正在绘制……" },
  empty: { en: "There is no run to look at yet.", zh: "还没有可看的运行。" },
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

/** props.note: {en, zh} or null. value: see bertviz.py. Event: show({view, run, kind, head}). */
export function mount(root, props, emit, watch) {
  let value = props.value ?? { state: "empty" };
  let chosen = view.get("bertviz") in VIEWS ? view.get("bertviz") : "head";
  let latest = value.run; // of the run that the page shows now
  let asked = null; // what the server was asked last, as text
  let alive = false; // has the frame told its size?
  let frame = null;
  let source = null;
  let slow = null;

  const title = el("summary", { class: "tfe-title" });
  const say = el("p", { class: "tfe-note" });
  const note = el("p", { class: "tfe-note" });
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const status = el("p", { class: "tfe-note tfe-bertviz-status", role: "status" });
  const box = el("div", { class: "tfe-bertviz-box" });
  const picker = segmented({ options: [], value: chosen, label: "", onPick: (key) => pick(key) });
  const body = el("div", { class: "tfe-bertviz-body" }, el("div", { class: "tfe-row" }, picker.node, status), say, error, box, note);
  const unfold = el("details", { class: "tfe-panel tfe-bertviz-unfold", open: view.get("bertviz") in VIEWS }, title, body);
  root.replaceChildren(unfold);

  const look = () => ({ theme: dark() ? "dark" : "light", lang: lang() });

  function pick(key) {
    chosen = key;
    if (unfold.open) view.set({ bertviz: chosen });
    draw();
  }

  function ask() {
    const detail = { view: chosen, run: value.run ?? "", kind: view.get("kind"), head: view.get("head") };
    const key = JSON.stringify([detail.view, detail.run]);
    if (key === asked) return;
    asked = key;
    clearTimeout(slow);
    slow = setTimeout(() => {
      box.classList.add("tfe-stale");
      status.textContent = t(TEXT.waiting);
    }, 150);
    emit.show(detail);
  }

  function settle() {
    clearTimeout(slow);
    status.textContent = "";
    box.classList.remove("tfe-stale");
  }

  function place(src) {
    if (src === source) return;
    source = src;
    alive = false;
    const { theme, lang: language } = look();
    // A new element each time: another address in the same one would become an entry of the browser's history.
    frame = el("iframe", { sandbox: "allow-scripts", title: "", src: `${src}#${theme},${language}`, referrerpolicy: "no-referrer" });
    clear(box).append(frame);
  }

  /** Whatever is shown is no longer what is wanted: the next drawing asks for it. */
  function again() {
    value = { state: "ready", run: latest, views: value.views };
    source = null;
  }

  function draw() {
    const views = (value.views ?? Object.keys(VIEWS)).filter((key) => key in VIEWS);
    if (!views.includes(chosen)) chosen = views[0];
    title.textContent = t(TEXT.title);
    picker.set({ label: t(TEXT.pick), value: chosen, options: views.map((key) => ({ key, label: t(VIEWS[key].short) })) });
    say.textContent = t(VIEWS[chosen].say);
    note.textContent = t(props.note);
    note.hidden = !props.note;
    error.hidden = true;
    if (!unfold.open) return;
    if (value.state === "empty") {
      status.textContent = t(TEXT.empty);
      return;
    }
    if (value.state === "shown" && value.view === chosen) {
      settle();
      place(value.src);
    } else if (value.state === "refused" && value.view === chosen) {
      settle();
      clear(box);
      frame = source = null;
      error.textContent = t(value.error);
      error.hidden = false;
    } else ask();
    if (frame) frame.title = t(TEXT.frame, { view: t(VIEWS[chosen].name) });
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
    if (!unfold.open && frame && !alive) again(); // the server had forgotten this view
    asked = null;
    view.set({ bertviz: unfold.open ? chosen : null });
    draw();
  });
  view.on(["bertviz"], () => {
    const wanted = view.get("bertviz");
    if (wanted in VIEWS) chosen = wanted;
    unfold.open = wanted in VIEWS;
    draw();
  });
  onTheme(tell);
  onLang(() => {
    draw();
    tell();
  });
  watch("value", () => {
    const next = props.value ?? { state: "empty" };
    const answer = next.state === "shown" || next.state === "refused";
    if (answer && next.run !== latest) return again(), draw(); // of a run that has been left meanwhile
    value = next;
    if (answer) asked = null;
    else latest = value.run;
    draw();
  });
  draw();
}

// A folded question about the run in view: closed at first. Opening it asks the server, and so does
// every newer run while it is open.

import { standing } from "./connection.js";
import { el, onTurn } from "./dom.js";
import { onLang, t } from "./lang.js";
import { retryButton } from "./retry.js";
import { bus, request, view } from "./state.js";

const WAITING = { en: "The model is computing …", zh: "模型正在计算……" };
const LOST = {
  en: "The connection to the server is lost. The request is sent again as soon as it is back.",
  zh: "与服务器的连接已中断。恢复后会立即重新请求。",
};

/**
 * The panel stands in `root`; whether it is open is in the address (`_<key>`). value: {state, run,
 * wish, error, …}, see folded.py.
 *
 * @param {{root: HTMLElement, key: string, title: {en: string, zh: string}, head?: Node[], body:
 * Node[], props: {value: any}, watch: Function,
 *   emit: {ask: (detail: {run: string, wish: any}) => void}, wish?: () => any, opens?: () => void,
 *   says?: () => string, draw: (value: any) => void, keep?: number}} how head: what stands above
 *   the answer, and above a refusal too. body: what stands in the open panel. wish: what is asked
 *   beside the run (JSON), null by default; undefined while it is not known yet. opens: called
 *   whenever the open panel is painted. says: what the address says of it then, "open" by default.
 *   draw: paints a value whose state is "shown"; called again for another language. keep: how many
 *   answers are remembered, 1 by default.
 * @returns {{ask: () => void}} ask: the wish has changed.
 */
export function folded(
  {
    root,
    key,
    title,
    head = [],
    body,
    props,
    watch,
    emit,
    wish = () => null,
    opens,
    says = () => "open",
    draw,
    keep = 1,
  },
) {
  const name = el("summary", { class: "tfe-title" });
  const status = el("p", { class: "tfe-note tfe-folded-status", role: "status" });
  const error = el("p", { class: "tfe-error", role: "alert", hidden: true });
  const stage = el("div", { class: "tfe-folded-stage" }, ...body);
  const again = retryButton();
  const inside = el("div", { class: "tfe-folded-body" }, ...head, status, error, again.node, stage);
  const unfold = el(
    "details",
    { class: "tfe-panel tfe-folded", open: view.get(key) !== null },
    name,
    inside,
  );
  root.replaceChildren(unfold);
  let asked = null; // what the server was asked and has not answered, as text
  let shown = false; // did anything ever stand on the stage?
  let slow = null;
  // A link or a guided step opened it: it comes into view with its first answer, unless the visitor
  // has turned to something else by then.
  let bring = unfold.open;
  const kept = new Map(); // answers by what was asked, the newest last
  const read = ({ own = "{}", ...rest } = props.value ?? { state: "ready" }) => ({
    ...rest,
    ...JSON.parse(own),
  });
  let newest = read();

  const named = (run, what) => JSON.stringify([run, what ?? null]);
  const wanted = () => named(request.get(), wish());

  function ask() {
    if (wish() === undefined || wanted() === asked) return;
    asked = wanted();
    root.dataset.state = "ready"; // what stands here is of another wish
    clearTimeout(slow);
    slow = setTimeout(wait, 150);
    emit.ask({ run: request.get(), wish: wish() });
  }

  const connection = () => standing(`${root.dataset.view} ask`);

  function wait() {
    stage.classList.toggle("tfe-stale", shown);
    status.textContent = t(connection().state === "lost" ? LOST : WAITING);
  }

  /** What was asked is lost, is sent again, or is abandoned. */
  function paintConnection() {
    if (asked === null || !unfold.open) return;
    const { state, why } = connection();
    clearTimeout(slow);
    if (state === "abandoned") status.textContent = "";
    else wait();
    error.hidden = state !== "abandoned";
    error.textContent = error.hidden ? "" : t(why);
    again.paint(!error.hidden);
  }

  function settle(state) {
    root.dataset.state = state;
    clearTimeout(slow);
    status.textContent = "";
    stage.classList.remove("tfe-stale");
  }

  function paint() {
    name.textContent = t(title);
    inside.hidden = !unfold.open; // some readers list what a folded panel holds
    stage.hidden = !shown;
    error.hidden = true;
    again.paint(false);
    if (!unfold.open) return;
    opens?.();
    const value = named(newest.run, newest.wish) === wanted()
      ? newest
      : (kept.get(wanted()) ?? newest);
    const answers = named(value.run, value.wish) === wanted();
    if (value.state === "shown" && answers) {
      settle(value.state);
      shown = true;
      stage.hidden = false;
      draw(value);
      if (bring) requestAnimationFrame(() => unfold.scrollIntoView({ block: "start" }));
      bring = false;
    } else if (value.state === "refused" && answers) {
      settle(value.state);
      stage.hidden = true;
      shown = false;
      error.textContent = t(value.error);
      error.hidden = false;
    } else {
      ask();
      if (connection().state !== "") paintConnection();
    }
  }

  unfold.addEventListener("toggle", () => {
    if (unfold.open === !inside.hidden) return;
    if (!unfold.open) asked = null; // so that opening it again asks again, should no answer have come
    view.set({ [key]: unfold.open ? says() : null });
    paint();
  });
  view.on([key], () => {
    const wantedOpen = view.get(key) !== null;
    bring = wantedOpen && !unfold.open;
    unfold.open = wantedOpen;
    paint();
  });
  onTurn(() => (bring = false));
  // The hall waits for no answer that can be fetched while it looks at the step before.
  bus.on("ahead", ({ query, view: looks }) => key in looks && request.is(query) && ask());
  bus.on("request", paint);
  bus.on("connection", paintConnection);
  onLang(paint);
  watch("value", () => {
    newest = read();
    const name_ = named(newest.run, newest.wish);
    if (name_ === asked) asked = null;
    if (newest.state === "shown" && keep > 1) {
      kept.delete(name_);
      kept.set(name_, newest);
      if (kept.size > keep) kept.delete(kept.keys().next().value);
    }
    paint();
  });
  paint();
  return { ask: () => unfold.open && paint() };
}

// A folded panel that holds a picture on the stage: opening it asks the program, and so does every
// look that changes what is wished for. A picture that stands here has, beside what stage.js says:
// wish(get) -> what is asked beside the run, of what the address says, undefined while that is not
// known yet; it `waits` until that is answered. follows: keys of the address that others write and
// that it asks about too. `below` of its value: parts that stand under it (lib/parts.js). hears: an
// event of the page by which another view tells what it has in view; heard(detail) -> {key: text},
// which count before what the address says. above(write) -> {nodes, set(run)}: what stands above
// it, where something of its own is typed; write(patch, kept): into the address, and what is too
// long for it.

import { board } from "../lib/board.js";
import { el } from "../lib/dom.js";
import { folded } from "../lib/folded.js";
import { pictureOf, thereOf } from "../lib/selection.js";
import { parts } from "../lib/parts.js";
import { bus, judge, request, view } from "../lib/state.js";
import { taking } from "../lib/export_menu.js";
import { load } from "../lib/modules.js";

/**
 * props: picture (the address of its module, which comes when the panel is first opened), texts;
 * see stage.py. Event: ask({run, wish}).
 */
export function mount(root, props, emit, watch) {
  const address = new URL(props.picture, location.origin).href;
  const { view: name, texts } = props;
  const node = el("div", { class: "tfe-asked" });
  const head = el("div", { class: "tfe-asked-head" });
  const under = parts({ plotly: props.plotly, title: texts.title });
  let loading = null;
  let picture = null;
  let [stand, above] = [null, null];
  let value = null; // what is drawn
  let [turns, drawn] = [0, 0]; // the newest answer of all, and the one in view
  let heard = {};
  const get = (key) => heard[key] ?? view.get(key);
  const panel = folded({
    root,
    key: name,
    title: texts.title,
    head: [head],
    body: [node, under.node],
    props,
    watch,
    emit,
    keep: 16,
    opens: () => (loading ??= begin()),
    wish: () => (picture?.wish ? picture.wish(get) : (picture ? null : undefined)),
    async draw(next) {
      const turn = (turns += 1);
      const run = next === value
        ? stand.run
        : await picture.read(next, { texts, again: () => stand.update() });
      if (turn !== turns) return; // a newer one has come meanwhile
      value = next;
      drawn = turn;
      stand.show(run);
      above?.set(run);
      under.set(next.below ?? {});
      judge(thereOf(picture, stand.bounds), request.get());
    },
  });

  const waits = () => root.dataset.state !== "shown" || drawn !== turns;

  async function begin() {
    picture = pictureOf(await load(address));
    above = picture.above?.((patch, kept) => {
      heard = { ...heard, ...kept };
      view.set(patch);
      anew();
    });
    head.append(...(above?.nodes ?? []));
    stand = board(node, { ...picture, waits }, {
      texts,
      plotly: props.plotly,
      store: { ...view, get },
      menu: [
        taking(
          () => stand,
          { picture, root, name, address, texts, plotly: props.plotly },
          () => value,
        ),
      ],
    });
    view.on([...Object.keys(picture.looks), ...(picture.follows ?? [])], anew);
    if (picture.hears) {
      bus.on(picture.hears, (detail) => {
        heard = { ...heard, ...picture.heard(detail) };
        anew();
      });
    }
    if (picture.hears) bus.fire("looking");
    panel.ask();
  }

  function anew() {
    stand.update();
    panel.ask();
  }
}

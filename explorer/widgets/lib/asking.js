// A wish of the page on its way: sent to the model or taken from what the server holds ready, stopped, overtaken by a
// newer one, or sent again once a server that could not be reached is there. Where the server that took it is gone for
// good, the page comes back from another.

import { keep, kept } from "./memory.js";
import { bus, onOpen, refuseLink, request } from "./state.js";
import { isStored, late, overtake, show as showStored, stored } from "./stored.js";

const LOOK = 2500; // ms between two looks whether the server of a wish under way is there
// The wish that was sent to the model, {detail, taken: by which server}, until it is answered.
// By the frame's name too: the sides of a comparison are one tab, which remembers for all of them.
const KEPT = `tfe-wish ${window.name} ${location.pathname}`;
/** Which server answers, {app_id: its version, process: which of several}, null where none does. */
const answers = () => fetch("/gradio_api/app_id", { cache: "no-store" }).then((found) => found.json())
    .catch(() => null);
const canonical = (query) => new URLSearchParams(query ?? "").toString();

/**
 * @param {{emit: {ask: Function, stop: Function}, first: string, noLink: {en: string, zh: string}, paint: () => void}}
 * how
 *   first: the query of the example that the bare address stands for. noLink: why a result without a query has no link.
 *   paint: called when `pending`, `stopped` or `lost` changed.
 */
export function asking({ emit, first, noLink, paint }) {
  const home = canonical(first);
  let pending = null; // the wish under way, until an answer to it arrives
  let opened = false; // the wish under way shows another state of the page, which stands in the address already
  let fromStore = false; // a stored result stands here: what an older wish still says on its way is not wanted
  let again = null; // sends the wish under way
  let taken = ""; // the server that was sent it
  let gone = false; // the server cannot be reached
  const takes = (server, detail) => {
    taken = server;
    keep(KEPT, JSON.stringify({ detail, taken }));
  };
  const self = {
    stopped: false,
    heard: false, // has anything been said of the wish under way? Until then the values are those of an older one
    get pending() {
      return pending !== null;
    },

    changes: false, // is the wish under way a change of the model, for the same input?

    get lost() {
      return pending !== null && gone;
    },

    /** query: of the wish, where a stored result will do, else null. detail: what the server's model is asked. */
    begin(query, detail, { opens = false, changes = false } = {}) {
      const before = pending;
      opened = opens;
      const wish = {};
      const send = () => {
        again = () => emit.ask(detail);
        again();
        takes("", detail);
        answers().then((server) => server && pending === wish && takes(server.process, detail));
      };
      pending = wish; // a newer wish ends an older one, on the server
      overtake(); // and here, where its answer may be on the way
      self.stopped = self.heard = fromStore = false;
      self.changes = changes;
      bus.fire("wishing", { changes });
      bus.fire("asking", true); // the other knobs wait: they belong to the result that is about to leave
      paint();
      // While the model is at an older wish, only a wish to the model ends that one for certain.
      if (query === null || before !== null || !isStored(query)) {
        send();
        return;
      }
      stored(query).then((values) => {
        if (pending !== wish) return; // stopped, or a newer wish
        if (values === null) {
          send();
          return;
        }
        fromStore = true;
        showStored(values);
      });
    },

    stop() {
      keep(KEPT, "");
      pending = null;
      opened = false;
      self.stopped = true;
      bus.fire("wishing", { stopped: true });
      bus.fire("asking", false);
      emit.stop({});
      paint();
    },

    /** A value has arrived: is it still wanted? It then stands in the address too. */
    receive(next) {
      if (late(next)) return false;
      const unfinished = next.state === "running" || next.state === "waiting";
      // An event that is overtaken ends by repeating what it said last.
      if (unfinished && (pending === null || fromStore)) return false;
      self.heard = true;
      if (!unfinished) {
        keep(KEPT, "");
        pending = null;
        self.stopped = false;
        bus.fire("asking", false);
      }
      // The bare address stands for the first example; everything else is written out in it.
      if (next.query && !unfinished && (canonical(next.query) !== home || request.get()))
        request.set(next.query, { enters: !opened });
      if (!unfinished) opened = false;
      if (!unfinished && next.state !== "refused") refuseLink(next.query ? null : noLink);
      return true;
    },

    /** From now on, other states of the page are asked for as links and steps want them; leave() is called before. */
    follow(leave) {
      const open = (query) => {
        leave();
        self.begin(query, { query }, { opens: true });
      };
      onOpen(open);
      const linked = request.get();
      const link = () => linked && linked !== home && pending === null && open(linked);
      const left = JSON.parse(kept(KEPT) || "null"); // when this page was loaded anew
      keep(KEPT, "");
      if (left === null) link();
      else answers().then((server) =>
        (server && server.process !== left.taken ? self.begin(null, left.detail) : link()));
    },
  };
  setInterval(async () => {
    const wish = pending;
    if (wish === null) return;
    const server = await answers();
    if (pending !== wish) return;
    // Another server knows nothing of the wish: the page is loaded from there, and sends it again.
    if (server && taken && server.process !== taken) return location.reload();
    if (gone === (server === null)) return;
    gone = !gone;
    if (!gone && server.app_id !== (window.gradio_config?.app_id ?? server.app_id)) location.reload();
    else if (!gone) again();
    paint();
  }, LOOK);
  return self;
}

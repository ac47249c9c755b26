// A wish of the page on its way: sent to the model or taken from what the server holds ready,
// stopped, overtaken by a newer one, lost and sent again (connection.js), or abandoned. It outlives
// a reload of the page.

import { drop, standing } from "./connection.js";
import { keep, kept } from "./session_storage.js";
import { bus, onOpen, refuseLink, request } from "./state.js";
import { isStored, late, overtake, show as showStored, stored } from "./stored.js";

const MODEL = "ask ask"; // the event by which the model is asked
// The wish that was sent to the model, {detail, changes, at: the request in view}, until it is
// answered. By the frame's name too: the sides of a comparison are one tab, which remembers for all
// of them.
const KEPT = `tfe-wish ${window.name} ${location.pathname}`;

/**
 * Was this page loaded anew, or the page whose frame it is? Whoever follows a link wants what the
 * link says.
 */
function isReload() {
  const reloads = (of) => of.performance.getEntriesByType("navigation")[0]?.type === "reload";
  try {
    return reloads(window) || (window.parent !== window && reloads(window.parent));
  } catch {
    return false; // a page of another site frames this one
  }
}

const canonical = (query) => new URLSearchParams(query ?? "").toString();

/**
 * @param {{emit: {ask: Function, stop: Function}, first: string, noLink: {en: string, zh: string},
 * paint: () => void, restore?: (detail: {query: string, set?: object}) => void}} how
 *   first: the query of the example that the bare address stands for. noLink: why a result without
 *   a query has no link. paint: called when `pending`, `stopped`, `lost` or `abandoned` changed.
 *   restore: called with the wish that was under way when the page was loaded anew, before it is
 *   sent again.
 */
export function asking({ emit, first, noLink, paint, restore }) {
  const home = canonical(first);
  let pending = null; // the wish under way, until an answer to it arrives
  let opened = false; // the wish under way shows another state of the page, which stands in the address already
  let fromStore = false; // a stored result stands here: what an older wish still says on its way is not wanted
  let abandoned = null; // the wish that was under way and could not be sent again
  const self = {
    stopped: false,
    heard: false, // has anything been said of the wish under way? Until then the values are those of an older one
    get pending() {
      return pending !== null;
    },

    changes: false, // is the wish under way a change of the model, for the same input?

    /** Is the connection lost? What was asked is then sent again. */
    get lost() {
      return standing(MODEL).state === "lost";
    },

    /** Why what was asked is not sent again, {en, zh}; null where it is. */
    get abandoned() {
      const { state, why } = standing(MODEL);
      return state === "abandoned" ? why : null;
    },

    /**
     * query: of the wish, where a stored result will do, else null. detail: what the server's model
     * is asked.
     */
    begin(query, detail, { opens = false, changes = false } = {}) {
      const before = pending;
      opened = opens;
      const wish = {};
      const send = () => {
        keep(KEPT, JSON.stringify({ detail, changes, at: request.get() }));
        emit.ask(detail);
      };
      abandoned = null;
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
      drop(MODEL);
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
      if (next.query && !unfinished && (canonical(next.query) !== home || request.get())) {
        request.set(next.query, { enters: !opened });
      }
      if (!unfinished) opened = false;
      if (!unfinished && next.state !== "refused") refuseLink(next.query ? null : noLink);
      return true;
    },

    /**
     * From now on, other states of the page are asked for as links and steps want them; leave() is
     * called before.
     */
    follow(leave) {
      const open = (query) => {
        leave();
        self.begin(query, { query }, { opens: true });
      };
      onOpen(open);
      const linked = request.get();
      const link = () => linked && linked !== home && pending === null && open(linked);
      const left = JSON.parse(kept(KEPT) || "null");
      keep(KEPT, "");
      if (left?.at !== request.get() || !isReload()) return link();
      restore?.(left.detail);
      return self.begin(null, left.detail, { changes: left.changes });
    },
  };
  // A wish that is abandoned leaves the page free for others; it is under way again once somebody
  // wants that.
  bus.on("connection", () => {
    if (pending && self.abandoned) {
      [pending, abandoned] = [null, pending];
      bus.fire("asking", false);
    } else if (abandoned && !self.abandoned) {
      [pending, abandoned] = [abandoned, null];
      self.stopped = self.heard = false;
      bus.fire("wishing", { changes: self.changes });
      bus.fire("asking", true);
    }
    paint();
  });
  return self;
}

// What the page has asked of the server and what has no answer yet. A request that is lost on its
// way (the server is ended, the network is cut, the machine sleeps) is sent again once a server
// answers. Each try comes later than the one before, at a moment that every page draws for itself:
// those of a whole hall do not come back in one instant. After some tries the page gives up, says
// so and offers to try again.

import { bus } from "./state.js";

const FIRST = 2000; // ms until the first try, on average
const LONGEST = 8000; // ms between two tries, on average
const TRIES = 20; // to reach a server
const SENDINGS = 3; // of one request whose connection breaks each time
const PATIENCE = 10_000; // ms in which a server says that it is there

const AWAY = {
  en: "The server cannot be reached; this has no answer yet.",
  zh: "无法连接服务器；这个请求还没有得到回答。",
};
const BROKEN = {
  en: `The connection broke each of the ${SENDINGS} times that this was sent.`,
  zh: `这个请求发送了 ${SENDINGS} 次，每次连接都中断了。`,
};
const REFUSED = {
  en: "The server does not take this request: {why}",
  zh: "服务器不接受这个请求：{why}",
};

// number of a wish -> {of, again, sendings, state, why}. of: widget and event, "ask ask".
// again(sendings): sends it once more, as a new wish. state: "" under way, "lost" until it is sent
// again, "abandoned".
const requests = new Map();
let failures = 0; // tries since a server answered last
let timer = 0;

const those = (state) => [...requests].filter(([, request]) => request.state === state);
const isNewest = (number) =>
  [...requests].findLast(([, { of }]) => of === requests.get(number).of)[0] === number;

/** Milliseconds until the next try after so many failures. chance: from 0 to 1, each page's own. */
export const pause = (count, chance = Math.random()) =>
  (0.5 + chance) * Math.min(FIRST * 2 ** count, LONGEST);

/**
 * Where the newest request of a widget's event ("ask ask") stands: {state, why}; state "" where
 * nothing is lost.
 */
export const standing = (of) =>
  [...requests.values()].findLast((request) => request.of === of) ?? { state: "" };

/**
 * Why requests are abandoned that have no place on the page to say so, each sentence {en, zh} once.
 */
export const abandoned = () => [
  ...new Set(
    those("abandoned").filter(([, { of }]) => !of.endsWith(" ask"))
      .map(([, { why }]) => why),
  ),
];

/** Which server answers, {app_id: its version}, null where none does. */
const reach = () =>
  fetch("/gradio_api/app_id", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) })
    .then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);

/** A request leaves the page; older ones of the same event that are lost are no longer wanted. */
export function send(number, of, again, sendings) {
  drop(of, ({ state }) => state !== "");
  requests.set(number, { of, again, sendings, state: "" });
}

/** A request has its whole answer. */
export const finish = (number) => requests.delete(number);

/** Nobody waits for the requests of this event any more. */
export function drop(of, which = (_request) => true) {
  const gone = [...requests].filter(([, request]) => request.of === of && which(request));
  for (const [number] of gone) requests.delete(number);
  if (gone.some(([, { state }]) => state !== "")) bus.fire("connection");
}

/** Marks those of these requests that are still wanted. */
function mark(numbers, state, why) {
  const known = numbers.filter((number) => requests.has(number));
  for (const number of known) {
    if (isNewest(number)) Object.assign(requests.get(number), { state, why });
    else requests.delete(number);
  }
  if (known.length) bus.fire("connection");
}

/** Requests are lost on their way. after: ms for which the server asks to be left alone. */
export function lose(numbers, after = 0) {
  mark(numbers, "lost");
  if (those("lost").length) plan(after);
}

/** The server does not take a request. why: in its own words. */
export const refuse = (number, why) =>
  mark([number], "abandoned", {
    en: REFUSED.en.replace("{why}", () => why),
    zh: REFUSED.zh.replace("{why}", () => why),
  });

function plan(after = 0) {
  const sendings = Math.max(...those("lost").map(([, request]) => request.sendings - 1));
  timer ||= setTimeout(attempt, after + pause(Math.max(failures, sendings)));
}

async function attempt() {
  const server = await reach();
  timer = 0;
  const lost = those("lost");
  if (!lost.length) return;
  if (!server) {
    failures += 1;
    if (failures < TRIES) plan();
    else mark(lost.map(([number]) => number), "abandoned", AWAY);
    return;
  }
  // The page is of an older version than the server: it is loaded anew, and sends what was asked
  // (lib/asking.js).
  if (server.app_id !== (window.gradio_config?.app_id ?? server.app_id)) {
    location.reload();
    return;
  }
  failures = 0;
  for (const [number, { again, sendings }] of lost) {
    if (sendings >= SENDINGS) mark([number], "abandoned", BROKEN);
    else again(sendings + 1);
  }
}

/** Everything that was abandoned is lost again, and tried from the beginning on. */
export function retry(soon = true) {
  failures = 0;
  for (const [, request] of [...those("lost"), ...those("abandoned")]) {
    Object.assign(request, { state: "lost", sendings: 0 });
  }
  if (!those("lost").length) return;
  clearTimeout(timer);
  timer = setTimeout(attempt, soon ? 0 : pause(0));
  bus.fire("connection");
}
addEventListener("online", () => retry(false));

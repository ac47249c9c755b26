// Between Gradio's script and the server: an event is sent (queue/join), and one stream
// (queue/data) says what comes of all of them. Gradio's script takes a stream that broke for an
// open one, opens no other, and waits for ever. So a stream that breaks, cannot be opened, or says
// nothing for too long ends here as one that the server has ended: with the word that it knows
// nothing of the page. What had no answer is lost (lib/connection.js).

import { finish, lose, refuse } from "./connection.js";

const BEAT = 5000; // ms between two looks at what is silent
const SILENT = 9; // looks until a stream is given up: the server says something every 15 s
const AWAKE = 4; // the same after a sleep of the machine
const RATE = 32 << 10; // bytes of a request that arrive in a second at least
const BUSY = [429, 502, 503, 504]; // the server, or what stands before it, may take a request later
const ENDED = "The server has ended it without an answer. · 服务器未作回答就结束了它。";
const GONE =
  'data: {"msg":"unexpected_error","event_id":null,"message":"Connection errored out.","session_not_found":true,' +
  '"success":false}\n\ndata: {"msg":"close_stream","event_id":null}\n\n';
const MESSAGE = /^data: \{"msg":"(\w+)"(?:,"event_id":"(\w+)"(,"output":\{"error":)?)?/;

// How often the page has lost its stream. It then asks under another name: the server may take a
// stream that broke beyond its sight for an open one, and send the answers there.
let losses = 0;
const named = (session) => (losses ? `${session}.${losses}` : session);
const taken = new Map(); // event -> number of the wish that the server has taken and not answered
const early = new Set(); // events that were answered before the page heard that they were taken

const watched = new Set();
let looked = Date.now();

/** Calls `end` after so many looks without a word. {heard: there was one, stop} */
function watching(looks, end) {
  const one = { looks, left: looks, end };
  watched.add(one);
  return { heard: () => (one.left = looks), stop: () => watched.delete(one) };
}

function look() {
  const slept = Date.now() - looked > 4 * BEAT;
  looked = Date.now();
  for (const one of watched) {
    one.left = (slept ? Math.min(one.left, AWAKE) : one.left) - 1;
    if (one.left > 0) continue;
    watched.delete(one);
    one.end();
  }
}

function broke() {
  losses += 1;
  const numbers = [...taken.values()];
  taken.clear();
  lose(numbers);
}

function answered(event, failed) {
  if (!taken.has(event)) early.add(event);
  else if (failed) refuse(taken.get(event), ENDED);
  else finish(taken.get(event));
  taken.delete(event);
}

/**
 * An event: `pass` fetches. Throws where the server has not taken it, which Gradio's script takes
 * without a word.
 */
async function join(pass, address, how) {
  const body = JSON.parse(how.body);
  const number = body.event_data?.wished;
  const [before, cut] = [losses, new AbortController()];
  const silence = watching(SILENT + how.body.length / RATE / (BEAT / 1000), () => cut.abort());
  let [answer, event] = [null, null];
  try {
    const sent = JSON.stringify({ ...body, session_hash: named(body.session_hash) });
    answer = await pass(address, { ...how, body: sent, signal: cut.signal });
    if (answer.ok) event = (await answer.clone().json()).event_id;
  } catch (problem) {
    lose([number]);
    throw problem;
  } finally {
    silence.stop();
  }
  if (answer.ok && before === losses) {
    taken.set(event, number);
    if (early.delete(event)) answered(event);
    return answer;
  }
  if (answer.ok || BUSY.includes(answer.status)) {
    lose([number], 1000 * (Number(answer.headers.get("retry-after")) || 0));
  } else refuse(number, (await answer.text()).slice(0, 200));
  throw new TypeError(`not taken: ${answer.status}`);
}

/** A stream of answers, as a response that ends well whatever becomes of it. */
async function stream(pass, request) {
  const address = new URL(request.url);
  address.searchParams.set("session_hash", named(address.searchParams.get("session_hash")));
  let answer = null;
  try {
    answer = await pass(new Request(address, request));
  } catch (problem) {
    if (request.signal.aborted) throw problem;
  }
  const reader = answer?.ok ? answer.body.pipeThrough(new TextDecoderStream()).getReader() : null;
  const silence = watching(SILENT, () => reader?.cancel());
  const encoder = new TextEncoder();
  let text = "";

  /** What has come next: whole messages, and whether they are the last. */
  async function next() {
    const { done, value } = (await reader?.read().catch((problem) => {
      if (request.signal.aborted) throw problem;
    })) ?? { done: true };
    if (done) return { whole: "", gone: true };
    silence.heard();
    const messages = (text + value).split("\n\n");
    text = messages.pop();
    let whole = "";
    for (const message of messages) {
      const [, kind, event, failed] = MESSAGE.exec(message) ?? [];
      if (kind === "unexpected_error") return { whole, gone: true };
      if (kind === "process_completed") answered(event, failed);
      whole += `${message}\n\n`;
      if (kind === "close_stream") return { whole, last: true };
    }
    return { whole };
  }

  async function pull(out) {
    for (let said = ""; !said;) {
      const { whole, gone, last } = await next().catch((problem) => {
        silence.stop();
        throw problem;
      });
      if (gone) broke();
      said = whole + (gone ? GONE : "");
      if (said) out.enqueue(encoder.encode(said));
      if (!gone && !last) continue;
      silence.stop();
      out.close();
    }
  }
  return new Response(
    new ReadableStream({
      pull,
      cancel(why) {
        silence.stop();
        return reader?.cancel(why);
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );
}

/** From now on the page's events and streams pass through here. */
export function install() {
  const pass = window.fetch.bind(window);
  window.fetch = (asked, how) => {
    const [, what] = /\/gradio_api\/queue\/(join|data)\b/.exec(
      asked instanceof Request ? asked.url : String(asked),
    ) ?? [];
    if (what === "join" && typeof how?.body === "string") return join(pass, asked, how);
    if (what === "data" && asked instanceof Request) return stream(pass, asked);
    return pass(asked, how);
  };
  setInterval(look, BEAT);
}

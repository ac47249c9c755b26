// The window that projects and the presenter's window, in one browser: the first tells what it
// shows, the second asks for a step.

const NAME = "tfe-lecture";
const REST = 400; // ms after the last change until the presenter gets a picture of it
// ms that a turn of the page waits for the presenter's word; without it the window turns by itself
const PATIENCE = 600;

/** The channel between them: {say(message), on(heard)}; a browser without any talks to nobody. */
export function channel() {
  const line = globalThis.BroadcastChannel ? new BroadcastChannel(NAME) : null;
  return {
    say: (message) => line?.postMessage(message),
    on: (heard) => line?.addEventListener("message", ({ data }) => heard(data)),
  };
}

/**
 * The side of a lab's page.
 * @param {{there: () => boolean, state: () => object, picture: () => Promise<Blob | null>, asked:
 * (wish: object) => void}} how there: is it part
 *   of a lecture, or projected? state: what it shows. picture: of what is projected. asked: the
 *   presenter wants {go: {path, step}}, {reveal: true} or {project: true}
 */
export function hall({ there, state, picture, asked }) {
  const line = channel();
  const id = Math.random().toString(36).slice(2);
  let presented = false;
  let resting = 0;
  let turning = 0;

  function tell() {
    if (!there()) return;
    line.say({ hall: id, ...state() });
    clearTimeout(resting);
    if (!presented) return;
    resting = setTimeout(async () => {
      const { path, step } = state();
      line.say({ hall: id, path, step, picture: await picture() });
    }, REST);
  }
  line.on((message) => {
    if (message.presenter) presented = message.presenter !== "gone";
    if (message.presenter === "here") tell();
    if (message.to !== id) return;
    if (message.alive) return line.say({ hall: id, alive: true });
    clearTimeout(turning);
    asked(message);
  });
  addEventListener("pagehide", () => line.say({ hall: id, gone: true }));
  return {
    tell,
    /** The next step or the one before: the presenter knows which it is, else `alone` does it. */
    turn(by, alone) {
      if (!presented || !there()) return alone();
      line.say({ hall: id, turn: by });
      clearTimeout(turning);
      turning = setTimeout(alone, PATIENCE);
      return true;
    },
  };
}

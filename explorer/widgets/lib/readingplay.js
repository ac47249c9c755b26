// Replay: a cursor that runs through the text at a readable pace, or stands where somebody put it. Nothing is asked of the server.

const PACE = 32; // characters a second
const LEAP = 16; // characters at once for whoever wants no motion

/** @param {{moved: () => void, changed: () => void}} told moved: the place; changed: playing or not */
export function player({ moved, changed }) {
  let total = 0; // characters
  let place = null; // characters that have been shown; null: all of them, nothing is replayed
  let playing = false;
  let frame = 0;
  let begun = 0;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  function tick(now) {
    if (!playing) return;
    const exact = ((now - begun) / 1000) * PACE;
    place = Math.max(0, Math.min(total, calm.matches ? Math.floor(exact / LEAP) * LEAP : Math.floor(exact)));
    if (exact >= total) {
      place = total;
      stop();
    } else frame = requestAnimationFrame(tick);
    moved();
  }

  function stop() {
    if (!playing) return;
    playing = false;
    cancelAnimationFrame(frame);
    changed();
  }

  return {
    /** The text is so long now; another text begins with all of it shown. */
    choose(length) {
      total = length;
      if (place !== null && place > total) place = total;
    },
    seek(to) {
      place = Math.max(0, Math.min(total, to));
      begun = performance.now() - (1000 * place) / PACE;
      moved();
    },
    toggle() {
      if (playing) stop();
      else if (total) {
        if (place === null || place >= total) place = 0;
        playing = true;
        begun = performance.now() - (1000 * place) / PACE;
        frame = requestAnimationFrame(tick);
        changed();
      }
    },
    stop,
    /** Everything is shown again. */
    forget() {
      stop();
      place = null;
    },
    get playing() {
      return playing;
    },
    get place() {
      return place ?? total;
    },
    get shown() {
      return place; // null where nothing is replayed
    },
    get total() {
      return total;
    },
  };
}

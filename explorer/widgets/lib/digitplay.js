// The making of the digits once more, pixel by pixel, at a steady pace.

const PLAYED = 14; // seconds that a whole digit takes

/**
 * @param {{side: () => number, last: () => number, moved: () => void, ended: () => boolean, over: () => void}} how side of the
 *   digit; the last position that can be shown, and whether there it ends, for a digit may still be growing; over: it has ended
 */
export function player({ side, last, moved, ended, over }) {
  let timer = 0;
  let cursor = null;

  /** Stands still; gives the position that was reached, or null where nothing was playing. */
  function stop() {
    const reached = cursor;
    cancelAnimationFrame(timer);
    timer = 0;
    cursor = null;
    return reached;
  }

  return {
    stop,
    /** The position in view while it plays, else null. */
    at: () => cursor,
    start(from) {
      // Whoever wants no motion sees whole rows at a time.
      const stride = matchMedia("(prefers-reduced-motion: reduce)").matches ? side() : 1;
      let begun = null;
      cursor = from;
      const tick = (time) => {
        begun ??= time;
        const next = Math.min(last(), from + Math.floor(((time - begun) / 1000 / PLAYED) * (side() ** 2 / stride)) * stride);
        timer = requestAnimationFrame(tick);
        if (next !== cursor) {
          cursor = next;
          moved();
        }
        if (cursor < last() || !ended()) return;
        stop();
        over();
      };
      timer = requestAnimationFrame(tick);
      moved();
    },
  };
}

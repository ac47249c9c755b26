// What is heard, and where in the music one is: a sound file where there is one, else a silent
// clock.

import { el } from "./dom.js";

/**
 * @param {{moved: () => void, changed: () => void, failed: () => void}} told moved: the place;
 * changed: playing or not; failed: the sound cannot be had
 */
export function player({ moved, changed, failed }) {
  const audio = el("audio", { preload: "none" });
  audio.hidden = true;
  let address = null; // of the sound that was chosen
  let total = 0; // seconds
  let place = 0;
  let playing = false;
  let frame = 0;
  let begun = 0; // of the silent clock

  function tick() {
    frame = 0;
    if (!playing) return;
    place = Math.min(
      total,
      address ? Math.max(place, audio.currentTime) : (performance.now() - begun) / 1000,
    );
    // The last notes of a sound fade after the music is over; it says itself when it has ended.
    if (place >= total && !address) stop();
    else frame = requestAnimationFrame(tick);
    moved();
  }

  function stop() {
    if (!playing) return;
    playing = false;
    cancelAnimationFrame(frame);
    if (address) audio.pause();
    changed();
  }

  function start() {
    if (playing || !total) return;
    if (place >= total) place = 0;
    playing = true;
    begun = performance.now() - 1000 * place;
    if (address) {
      if (audio.getAttribute("src") !== address) audio.src = address;
      audio.currentTime = place;
      audio.play().catch((error) => error.name !== "AbortError" && broken());
    }
    frame = requestAnimationFrame(tick);
    changed();
  }

  function broken() {
    if (!audio.getAttribute("src")) return;
    audio.removeAttribute("src");
    stop();
    failed();
  }
  audio.addEventListener("error", broken);
  audio.addEventListener("ended", () => {
    if (!playing) return;
    place = total;
    stop();
    moved();
  });

  return {
    node: audio,
    /**
     * What is heard from now on, from the place where one is.
     * @param {string | null} next its address
     * @param {number} seconds of music
     */
    choose(next, seconds) {
      total = seconds;
      place = Math.min(place, total);
      if (next === address) return;
      const was = playing;
      stop();
      address = next;
      if (was) start();
    },
    seek(seconds) {
      place = Math.max(0, Math.min(total, seconds));
      begun = performance.now() - 1000 * place;
      if (address && audio.getAttribute("src")) audio.currentTime = place;
      moved();
    },
    toggle: () => (playing ? stop() : start()),
    stop,
    get playing() {
      return playing;
    },
    get place() {
      return place;
    },
    get total() {
      return total;
    },
  };
}

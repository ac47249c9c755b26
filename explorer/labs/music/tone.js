// A soft tone for a key that is down: two oscillators and an envelope, no file.

const ATTACK = 0.008; // seconds
const FALL = 1.8; // seconds until a held tone is faint
const END = 0.09; // until a tone that was let go is faint
const LOUD = 0.16;

let context = null;

/**
 * Begins the tone of a MIDI pitch; silent where the browser has no sound. Browsers let sound begin
 * in answer to a key or a click only.
 * @returns {() => void} lets it end
 */
export function tone(pitch) {
  if (!globalThis.AudioContext) return () => {};
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume().catch(() => {}); // a phone call took it
  const now = context.currentTime;
  const envelope = context.createGain();
  envelope.gain.setValueAtTime(0, now);
  envelope.gain.linearRampToValueAtTime(LOUD, now + ATTACK);
  envelope.gain.setTargetAtTime(LOUD / 30, now + ATTACK, FALL / 3);
  envelope.connect(context.destination);
  const frequency = 440 * 2 ** ((pitch - 69) / 12);
  /** @type {[OscillatorType, number, number][]} */
  const kinds = [["triangle", 1, 1], ["sine", 2, 0.25]];
  const voices = kinds.map(([type, times, share]) => {
    const voice = context.createOscillator();
    const level = context.createGain();
    voice.type = type;
    voice.frequency.value = frequency * times;
    level.gain.value = share;
    voice.connect(level).connect(envelope);
    voice.start(now);
    return voice;
  });
  return () => {
    const then = Math.max(context.currentTime, now + ATTACK);
    envelope.gain.setTargetAtTime(0, then, END / 3);
    for (const voice of voices) voice.stop(then + 2 * END);
  };
}

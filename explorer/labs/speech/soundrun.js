// What the pictures of a spoken number share: the time of a frame, what it can hear, the clip that
// a digit belongs to, and the sound itself. A run is made by explorer/labs/speech/views.py.

import { t } from "../../frontend/lib/lang.js";

export const TEXT = {
  time: { en: "seconds", zh: "秒" },
  blank: { en: "blank", zh: "空白" },
};
const CENTRE = 220; // samples from a frame's first to the middle of its newest 40 ms
const MEL = { low: 60, high: 3900, bands: 40 };
const KNEE = 700; // Hz, of the mel scale
const FULL = 32767; // of a sample of 16 bits

/** The middle of a frame's newest 40 ms, in seconds. */
export const timeOf = (run, frame) => (run.frame * frame + CENTRE) / run.rate;

/** Samples that must have come before a frame of the last layer is final. */
export const finalSample = (run, frame, right = run.right) =>
  run.frame * (frame + run.layers * right) + run.newest;

/** The second at which a frame is final: at the end of the sound nothing waits any longer. */
export const finalTime = (run, frame, right = run.right) =>
  Math.min(finalSample(run, frame, right), run.samples) / run.rate;

/** The samples that a frame of the last layer can hear: [first, behind the last]. */
export const coneOf = (run, frame) => [
  Math.max(0, run.frame * (frame - run.layers * run.left) - run.oldest),
  Math.min(run.samples, finalSample(run, frame)),
];

/** Which of the written digits a frame writes, −1 for none. */
export const writtenBy = (run, frame) => run.at.indexOf(frame);

/**
 * The clip that a frame's digit belongs to: the last one that has begun by then; −1 where none is
 * known.
 */
export function clipOf(run, frame) {
  const newest = run.frame * frame + run.newest;
  return run.begins.reduce((found, begin, clip) => (begin <= newest ? clip : found), -1);
}

/** Seconds from the end of a digit's clip until it is final; null where no clip is known. */
export function waitOf(run, frame, right = run.right) {
  const clip = clipOf(run, frame);
  return clip < 0 ? null : finalTime(run, frame, right) - run.ends[clip] / run.rate;
}

/** The middle of a mel band in Hz, and the band of a frequency. */
export const hertzOf = (band) => {
  const mel = (hertz) => Math.log10(1 + hertz / KNEE);
  const share = (band + 1) / (MEL.bands + 1);
  return KNEE * (10 ** (mel(MEL.low) + share * (mel(MEL.high) - mel(MEL.low))) - 1);
};
export const bandOf = (hertz) => {
  const mel = (one) => Math.log10(1 + one / KNEE);
  return ((mel(hertz) - mel(MEL.low)) / (mel(MEL.high) - mel(MEL.low))) * (MEL.bands + 1) - 1;
};

export const inSeconds = (value, digits = 2) =>
  `${value.toFixed(digits).replace("-", "−")} ${t({ en: "s", zh: "秒" })}`;

/** An axis of time that all rows of a picture share. */
export const timeAxis = (run) => ({
  range: [0, run.samples / run.rate],
  title: { text: t(TEXT.time), standoff: 6 },
  zeroline: false,
  showgrid: false,
});

/** A rectangle behind or before the traces of one row. */
export const ground = (x0, x1, how) => ({
  type: "rect",
  x0,
  x1,
  y0: 0,
  y1: 1,
  yref: "paper",
  line: { width: 0 },
  ...how,
});

/** A frame that is looked at, as an upright line through some rows. */
export const upright = (x, how = {}) => ({
  type: "line",
  x0: x,
  x1: x,
  y0: 0,
  y1: 1,
  yref: "paper",
  line: { color: "var(--query)", width: 2 },
  ...how,
});

// ── the sound ──

/** Samples from −1 to 1 of levels by the µ-law, µ = 255. */
export const unlevelled = (levels) =>
  Float32Array.from(levels, (level) => {
    const curved = level / 127.5 - 1;
    return (Math.sign(curved) * Math.expm1(Math.abs(curved) * Math.log(256))) / 255;
  });

/** A WAV file of samples from −1 to 1: one channel, 16 bits. */
export function wavOf(samples, rate) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const write = (at, text) =>
    [...text].forEach((one, i) => view.setUint8(at + i, one.charCodeAt(0)));
  write(0, "RIFF");
  view.setUint32(4, 36 + 2 * samples.length, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  [1, 1].forEach((value, i) => view.setUint16(20 + 2 * i, value, true));
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  [2, 16].forEach((value, i) => view.setUint16(32 + 2 * i, value, true));
  write(36, "data");
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((value, i) =>
    view.setInt16(44 + 2 * i, Math.round(FULL * Math.max(-1, Math.min(1, value))), true)
  );
  return new Blob([view], { type: "audio/wav" });
}

let playing = null; // one span is heard at a time

/**
 * Plays a part of a sound. @type {(samples: Float32Array, rate: number, span: number[]) =>
 * Promise<void>}
 */
export function playSpan(samples, rate, [from, to]) {
  playing?.pause();
  const address = URL.createObjectURL(wavOf(samples.subarray(from, to), rate));
  playing = new Audio(address);
  playing.addEventListener("ended", () => URL.revokeObjectURL(address), { once: true });
  return playing.play();
}

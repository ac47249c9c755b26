// The microphone: it is opened for one recording and closed after it. Samples come from an
// AudioWorklet, and leave as a WAV file, which the server reads as it reads any other.

import { wavOf } from "./soundrun.js";
import { addressOf } from "../../frontend/lib/modules.js";

export const TEXT = {
  none: {
    en: "This browser gives no microphone here: it needs https or localhost, and an AudioWorklet.",
    zh: "此浏览器在这里不提供麦克风：需要 https 或 localhost，以及 AudioWorklet。",
  },
  denied: {
    en: "This page may not use the microphone; allow it beside the address, or bring a sound file.",
    zh: "本页没有使用麦克风的权限；请在地址栏旁允许，或选择一个声音文件。",
  },
  missing: {
    en: "No microphone was found; a WAV, FLAC or OGG file can be brought instead.",
    zh: "没有找到麦克风；可以改为选择 WAV、FLAC 或 OGG 文件。",
  },
};
const LEAST = 0.2; // seconds: a shorter press was a mistake
const FASTEST = 48_000; // samples a second that the server reads

/** Every second sample, the mean of two. */
const halved = (samples) =>
  Float32Array.from(
    { length: samples.length >> 1 },
    (_, i) => (samples[2 * i] + samples[2 * i + 1]) / 2,
  );

/** The refusal that an error of getUserMedia stands for. */
export const refusalOf = (error) =>
  ["NotAllowedError", "SecurityError"].includes(error?.name)
    ? TEXT.denied
    : ["NotFoundError", "OverconstrainedError", "NotReadableError"].includes(error?.name)
    ? TEXT.missing
    : TEXT.none;

/**
 * Begins a recording. Rejects with an error of getUserMedia.
 * @param {{most: number, heard: (seconds: number, peak: number) => void, full: () => void}} how
 *   most: seconds; heard: as it comes; full: so many have come
 * @returns {Promise<{stop: () => File | null}>} stop(): the recording, null where it is too short
 */
export async function record({ most, heard, full }) {
  if (!navigator.mediaDevices?.getUserMedia || !globalThis.AudioWorkletNode) {
    throw new Error("no microphone");
  }
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const context = new AudioContext();
  const chunks = [];
  let count = 0;
  const close = () => {
    for (const track of stream.getTracks()) track.stop();
    if (context.state !== "closed") context.close();
  };
  try {
    await context.audioWorklet.addModule(addressOf("labs/speech/tape.js"));
  } catch (error) {
    close();
    throw error;
  }
  const node = new AudioWorkletNode(context, "tape", { numberOfOutputs: 0 });
  node.port.onmessage = ({ data }) => {
    if (count >= most * context.sampleRate) return;
    chunks.push(data);
    count += data.length;
    heard(count / context.sampleRate, Math.max(...data.map(Math.abs)));
    if (count >= most * context.sampleRate) full();
  };
  context.createMediaStreamSource(stream).connect(node);
  return {
    stop() {
      node.port.onmessage = null;
      close();
      let rate = context.sampleRate;
      let samples = new Float32Array(Math.min(count, Math.floor(most * rate)));
      let at = 0;
      for (const chunk of chunks) {
        samples.set(chunk.subarray(0, samples.length - at), at);
        at = Math.min(samples.length, at + chunk.length);
      }
      if (samples.length < LEAST * rate) return null;
      while (rate > FASTEST) [samples, rate] = [halved(samples), rate / 2];
      return new File([wavOf(samples, rate)], "microphone.wav", { type: "audio/wav" });
    },
  };
}

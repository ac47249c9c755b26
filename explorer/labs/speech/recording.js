// A visitor's own sound in the input bar: spoken into the microphone, or a file. The server reads
// both and answers with the sound as a request carries it: 8,000 samples a second in 8 bits,
// base64url.

import { el, svg } from "../../frontend/lib/dom.js";
import { filled, t } from "../../frontend/lib/lang.js";
import { onPaint } from "../../frontend/lib/theme.js";
import { bringing, sent } from "../../frontend/inputs/picturegive.js";
import { record, refusalOf } from "./microphone.js";
import { inSeconds, playSpan, unlevelled } from "./soundrun.js";

const TEXT = {
  record: { en: "Record", zh: "录音" },
  stop: { en: "Stop, {s}", zh: "停止，{s}" },
  opening: { en: "Opening the microphone …", zh: "正在打开麦克风……" },
  upload: { en: "Upload …", zh: "上传……" },
  uploadLong: {
    en: "Upload a WAV, FLAC or OGG sound of up to {s} s and {mb} MB; dropping one works too",
    zh: "上传 WAV、FLAC 或 OGG 声音，至多 {s} 秒、{mb} MB；也可拖放",
  },
  play: { en: "Play", zh: "播放" },
  reading: { en: "Reading …", zh: "正在读……" },
  hint: {
    en: "Say some digits in English, with a short pause between them.",
    zh: "请用英语说几个数字，之间稍作停顿。",
  },
  dropHere: { en: "Drop the sound here", zh: "把声音放在这里" },
  whole: { en: "Your sound, {s}", zh: "您的声音，{s}" },
  short: {
    en: "The recording is shorter than 0.2 s; speak, then press Stop.",
    zh: "录音不足 0.2 秒；请先说话，再按停止。",
  },
  nothing: {
    en: "There is no recording yet: record your voice, or bring a WAV, FLAC or OGG file.",
    zh: "还没有录音：请录下您的声音，或选择 WAV、FLAC 或 OGG 文件。",
  },
  heavy: {
    en: "Your file has {mb} MB; sounds of up to {most} MB are read.",
    zh: "您的文件有 {mb} MB；最多读 {most} MB 的声音。",
  },
  dropped: {
    en: "You did not drop a file; WAV, FLAC and OGG sounds can be read.",
    zh: "放下的不是文件；可读 WAV、FLAC 和 OGG 声音。",
  },
  unread: {
    en: "The sound did not reach the server; it can be sent again.",
    zh: "声音没有送达服务器；可以再次发送。",
  },
};
const WIDE = 240; // columns of the small wave
const TALL = 40;

/** Levels of 8 bits that a request spells. */
const levelsOf = (text) => {
  try {
    return Uint8Array.from(
      atob(text.replaceAll("-", "+").replaceAll("_", "/")),
      (one) => one.charCodeAt(0),
    );
  } catch {
    return new Uint8Array();
  }
};

/** The outline of a sound. */
function outline(samples) {
  const size = Math.max(1, Math.ceil(samples.length / WIDE));
  const peaks = [];
  for (let at = 0; at < samples.length; at += size) {
    peaks.push(Math.max(0.01, ...samples.subarray(at, at + size).map(Math.abs)));
  }
  const loudest = Math.max(0.05, ...peaks);
  return peaks.map((peak, x) => {
    const y = (peak / loudest) * (TALL / 2);
    return `M${x} ${TALL / 2 - y}V${TALL / 2 + y}`;
  }).join("");
}

/**
 * @param {any} control of the field of the sound, as controls.py describes it
 * @param {{id: string, say: (told: {error?: any, remark?: any}) => void, run: () => void, now: ()
 *   => any}} how as of a motif, see input_bar.js
 * @returns a line of the input bar
 */
export function lineOf(control, { id, say, run, now }) {
  const { upload, most, seconds, rate } = control.own;
  let text = "";
  let samples = new Float32Array();
  let reading = null; // the sound on its way to the server
  let tape = null; // what is recorded: "opening" or {stop}
  let come = 0; // seconds of it
  let over = false; // does a file hang over the bar?

  const button = (act) => el("button", { type: "button", class: "tfe-button small", onclick: act });
  const recordButton = button(() => (tape ? finish() : begin()));
  const chooser = el("input", {
    type: "file",
    accept: ".wav,.flac,.ogg,audio/wav,audio/flac,audio/ogg",
    hidden: true,
  });
  const uploadButton = button(() => chooser.click());
  const playButton = button(() =>
    playSpan(samples, rate, [0, samples.length]).catch(() => undefined)
  );
  const hint = el("span", { class: "tfe-tape-hint", id: `${id}-sound` });
  const wave = svg("path", { stroke: "currentColor", "stroke-width": 1, fill: "none" });
  const picture = svg("svg", {
    class: "tfe-tape-wave",
    viewBox: `0 0 ${WIDE} ${TALL}`,
    preserveAspectRatio: "none",
    role: "img",
  }, wave);
  const tools = el(
    "div",
    { class: "tfe-tape-tools" },
    recordButton,
    uploadButton,
    playButton,
    hint,
    chooser,
  );
  const node = el("div", { class: "tfe-tape" }, picture, tools);

  async function begin() {
    reading?.abort();
    tape = "opening";
    come = 0;
    say({});
    self.paint();
    try {
      tape = await record({
        most: seconds,
        heard(at) {
          come = at;
          self.paint();
        },
        full: finish,
      });
    } catch (error) {
      tape = null;
      say({ error: refusalOf(error) });
    }
    self.paint();
  }

  function finish() {
    if (!tape?.stop) return;
    const file = tape.stop();
    tape = null;
    self.paint();
    if (file) bring(file);
    else say({ error: TEXT.short });
  }

  async function bring(file) {
    const mb = (bytes) => (Math.ceil((bytes / 2 ** 20) * 10) / 10).toFixed(1);
    const error = !file
      ? TEXT.dropped
      : file.size > most
      ? filled(TEXT.heavy, { mb: mb(file.size), most: Math.round(most / 2 ** 20) })
      : null;
    if (error) return say({ error });
    reading?.abort();
    const under = new AbortController();
    reading = under;
    self.paint();
    say({});
    const told = await sent(file, upload, under.signal, TEXT.unread);
    if (reading !== under) return undefined;
    reading = null;
    if (!told.error) self.text = told.sound;
    self.paint();
    say({ error: told.error, remark: told.notice });
    if (!told.error) run();
    return undefined;
  }

  const self = {
    control,
    node,
    above: [],
    absent: { [control.field]: control.default },
    of: (fields) => fields?.[control.field] ?? control.default,
    get text() {
      return text;
    },
    set text(next) {
      if (next === text) return;
      text = next;
      samples = unlevelled(levelsOf(text));
    },
    reading: () => reading !== null,
    refusal: () => (text ? null : TEXT.nothing),
    /** Files are brought to the whole bar. */
    attach(form) {
      bringing({
        form,
        chooser,
        type: "audio/",
        mine: () => now().source === "recording",
        onFile: bring,
        onOver(yes) {
          over = yes;
          self.paint();
        },
      });
    },
    paint() {
      recordButton.textContent = tape === "opening"
        ? t(TEXT.opening)
        : tape
        ? t(TEXT.stop, { s: inSeconds(come, 1) })
        : t(TEXT.record);
      recordButton.setAttribute("aria-pressed", String(Boolean(tape)));
      recordButton.classList.toggle("primary", Boolean(tape));
      uploadButton.textContent = t(reading ? TEXT.reading : TEXT.upload);
      uploadButton.title = t(TEXT.uploadLong, { s: seconds, mb: Math.round(most / 2 ** 20) });
      playButton.textContent = t(TEXT.play);
      playButton.hidden = !text;
      const whole = text && t(TEXT.whole, { s: inSeconds(samples.length / rate, 1) });
      hint.textContent = over ? t(TEXT.dropHere) : whole || t(TEXT.hint);
      picture.setAttribute("aria-label", hint.textContent);
      picture.toggleAttribute("hidden", !text);
      wave.setAttribute("d", text ? outline(samples) : "");
    },
  };
  onPaint(() => self.paint());
  return self;
}

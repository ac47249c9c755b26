// What a visitor takes along from the rolls: MIDI and sound of the chosen model, the figure, and every note and event in numbers.

import { leaving } from "./drawing.js";
import { csv, fileName, npz, save } from "./export.js";
import { t } from "./lang.js";
import { drawing } from "./rollboard.js";
import { LETTERS, TEXT, distance, moment, noteName, pitchName, strongest, weight } from "./rollwords.js";

const WIDE = 1000; // px of a figure that leaves the page

/** An event of piano by its name, as Simon and Oore (2017) call them. */
function eventName(event) {
  if (event < 128) return `NOTE_ON ${event}`;
  if (event < 256) return `NOTE_OFF ${event - 128}`;
  if (event < 356) return `TIME_SHIFT ${10 * (event - 255)} ms`;
  return `VELOCITY ${event - 356}`;
}

/** All events of all models as text: of piano one a line, of a chorale a sixteenth a line. A star stands before what was given. */
function events({ run }) {
  const parts = run.models.map((model) => {
    const lines = [];
    if (run.style === "piano") model.said.forEach((event, i) => lines.push(`${i < model.given ? "*" : " "} ${i}\t${eventName(event)}`));
    else
      for (let i = 0; i < model.said.length; i += 4)
        lines.push(`${i / 4 < model.until ? "*" : " "} ${i / 4}\t${LETTERS.map((voice, v) => `${voice} ${model.said[i + v] ? pitchName(model.said[i + v] + 35) : "–"}`).join("\t")}`);
    return `# ${model.key}\n${lines.join("\n")}\n`;
  });
  const head = run.licence ? `# ${t(run.licence)}\n` : "";
  return head + parts.join("\n");
}

function rows({ run, chosen, looks }) {
  const look = looks.at(-1);
  const [last, costs] = [run.style === "piano" ? "velocity" : "voice", "nats"];
  const out = [["model", "note", "onset_s", "end_s", "pitch", "name", last, "given", costs, "weight"]];
  run.models.forEach((model, i) => {
    for (let n = 0; n < model.count; n += 1) {
      const [onset, end, pitch, fourth] = model.notes.subarray(4 * n, 4 * n + 4);
      const seconds = (step) => Number(((step * run.grid) / 1000).toFixed(3));
      out.push([model.key, n, seconds(onset), seconds(end), pitch, pitchName(pitch), run.style === "piano" ? fourth : LETTERS[fourth], model.givenNotes[n] ? 1 : 0, model.givenNotes[n] ? Number.NaN : Number(model.costs[model.at[n]].toFixed(4)), i === chosen && look ? Number(look.notes[n].toFixed(6)) : Number.NaN]);
    }
  });
  return run.licence ? [...out, [t(run.licence)]] : out;
}

function numbers(scene) {
  const { run, chosen, now, looks } = scene;
  const files = {};
  for (const model of run.models) {
    files[`${model.key}_notes`] = { shape: [model.count, 4], data: Int32Array.from(model.notes) };
    files[`${model.key}_event_of_note`] = { shape: [model.count], data: Int32Array.from(model.at) };
    files[`${model.key}_given_note`] = { shape: [model.count], data: Uint8Array.from(model.givenNotes) };
    files[`${model.key}_events`] = { shape: [model.said.length], data: Int32Array.from(model.said) };
    files[`${model.key}_nats`] = { shape: [model.costs.length], data: model.costs };
    if (!model.heads) continue;
    const [layers, heads] = model.heads;
    files[`${model.key}_mean_weight_by_distance`] = { shape: [layers, heads, model.distance.length / (layers * heads)], data: model.distance };
  }
  const look = looks.at(-1);
  if (look) files.weight_by_note = { shape: [look.notes.length], data: look.notes };
  files.grid_ms = { shape: [1], data: Int32Array.of(run.grid) };
  files.looked_at = `${run.models[chosen].key}, layer ${now.layer}, head ${now.head}, note ${now.notes.at(-1) ?? "none"}`;
  if (run.licence) files.licence = t(run.licence);
  return npz(files);
}

/** What the chosen note looked back to, as a table: its head first. */
export function table({ run, chosen, now, looks }) {
  const model = run.models[chosen];
  const look = looks.at(-1);
  const note = now.notes.at(-1);
  const head = [TEXT.rank, TEXT.tableNote, TEXT.tableWhere, TEXT.tableBack, TEXT.tableWeight].map((text) => t(text));
  if (!look || note === undefined) return [head];
  return [head, ...strongest(look, 0.0005, 20).map(({ note: key, w }, n) => [n + 1, pitchName(model.notes[4 * key + 2]), moment(run, model.notes[4 * key]), distance(run, model.notes[4 * note] - model.notes[4 * key]), weight(w)])];
}

export const caption = ({ run, chosen, now }) => (now.notes.length ? t(TEXT.caption, { model: t(run.models[chosen].name), head: `${now.layer}·${now.head}`, q: noteName(run, run.models[chosen], now.notes.at(-1)) }) : t(TEXT.none));

/** The makers of the export bar; state() tells what is looked at, with its sentence in `words`, or null. */
export function exporters(state) {
  const parts = ({ run, chosen, now }) => [run.models[chosen].key, ...(run.models[chosen].heads ? [`${now.layer}.${now.head}`] : []), now.notes.length ? `note ${now.notes.at(-1)}` : ""];
  const having = (make) => async () => {
    const now = state();
    if (now) await make(now);
  };
  const fetched = (kind, ending, type) =>
    having(async ({ run, chosen }) => {
      const model = run.models[chosen];
      if (!model.sound) throw new Error(t(TEXT.silent));
      const answer = await fetch(new URL(model.sound[kind], location.origin));
      if (!answer.ok) throw new Error(t(TEXT.noSound));
      save(fileName([model.key], ending), new Blob([await answer.arrayBuffer()], { type }));
    });
  const figure = leaving(() => {
    const now = state();
    if (!now) return null;
    const words = now.run.licence ? `${now.words} ${t(now.run.licence)}` : now.words;
    return { drawing: drawing({ ...now, room: WIDE, narrow: false, big: false, hover: null }), title: t(TEXT.title), sentence: words, name: parts(now), more: table(now) };
  });
  return {
    MIDI: fetched("midi", "mid", "audio/midi"),
    WAV: fetched("wav", "wav", "audio/wav"),
    ...figure,
    CSV: having((now) => save(fileName(parts(now), "csv"), csv(rows(now)), "text/csv")),
    NPZ: having((now) => save(fileName(parts(now), "npz"), numbers(now))),
    events: having((now) => save(fileName(["events"], "txt"), events(now), "text/plain")),
  };
}

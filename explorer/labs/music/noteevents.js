// Music as the models read it, written and read in the browser: the twin of models/music/events.py,
// chorales.py and records.spelled.
//
// Played notes are {pitch, onset, end, velocity}: MIDI pitch, milliseconds, MIDI velocity 1 … 127.

const PITCHES = 128;
const LONGEST = 100; // steps of a time shift
const WIDTH = 4; // MIDI velocities of each kind
const NOTE_OFF = PITCHES;
const SHIFT = 2 * PITCHES;
const VELOCITY = SHIFT + LONGEST;
const STEP = 10; // milliseconds of a step of the piano's grid
const MIDDLE = 16; // the kind of velocity that holds before one is told
const VOICES = 4;
const [LOWEST, HIGHEST] = [36, 81]; // pitches of a chorale's cells
const USUAL = 72; // the velocity of notes that have none of their own

/** Events or cells as a request carries them: base64url of two bytes each, the lower first. */
export function spelled(values) {
  let text = "";
  for (const value of values) text += String.fromCharCode(value & 255, value >> 8);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The values that `spelled` wrote, or null where the text is none of its. */
export function unspelled(text) {
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    if (raw.length % 2) return null;
    return Array.from(
      { length: raw.length / 2 },
      (_, i) => raw.charCodeAt(2 * i) + 256 * raw.charCodeAt(2 * i + 1),
    );
  } catch {
    return null;
  }
}

/** Halves go to the even neighbour, as NumPy has it. */
function rint(value) {
  const low = Math.floor(value);
  return value - low === 0.5 ? low + (low % 2) : Math.round(value);
}

const onGrid = (notes, step) =>
  notes.map((note) => {
    const onset = rint(note.onset / step);
    return { ...note, onset, end: Math.max(rint(note.end / step), onset + 1) };
  });

/**
 * Played notes on the piano's grid, velocities as kinds 0 … 31, by onset and pitch; no key sounds
 * twice at once.
 */
export function notesOf(played) {
  const sorted = onGrid(played, STEP).map((note) => ({
    ...note,
    velocity: Math.floor(note.velocity / WIDTH),
  }))
    .sort((a, b) => a.pitch - b.pitch || a.onset - b.onset || a.end - b.end);
  const kept = sorted.filter((note, i) =>
    sorted[i + 1]?.pitch !== note.pitch || sorted[i + 1].onset !== note.onset
  );
  kept.forEach((note, i) => {
    if (kept[i + 1]?.pitch === note.pitch) note.end = Math.min(note.end, kept[i + 1].onset);
  });
  return kept.sort((a, b) => a.onset - b.onset || a.pitch - b.pitch);
}

/**
 * The one sequence of events that says these notes of `notesOf`; silence before the first is left
 * out.
 */
export function eventsOf(notes) {
  if (!notes.length) return [];
  const edges = notes.flatMap((note) => [
    { time: note.onset, begins: 1, note },
    { time: note.end, begins: 0, note },
  ]);
  edges.sort((a, b) => a.time - b.time || a.begins - b.begins || a.note.pitch - b.note.pitch);
  const events = [];
  let now = edges[0].time;
  let velocity = null;
  for (const { time, begins, note } of edges) {
    for (; now < time; now += Math.min(LONGEST, time - now)) {
      events.push(SHIFT + Math.min(LONGEST, time - now) - 1);
    }
    if (begins && note.velocity !== velocity) events.push(VELOCITY + note.velocity);
    if (begins) velocity = note.velocity;
    events.push(begins ? note.pitch : NOTE_OFF + note.pitch);
  }
  return events;
}

/**
 * The notes that a sequence of events says, as played ones: the way back of `eventsOf`, by the
 * rules of `notes_from`.
 */
export function playedFrom(events) {
  let now = 0;
  let velocity = MIDDLE;
  const sounding = new Map(); // pitch -> note
  const notes = [];
  const close = (pitch, end) => {
    const note = sounding.get(pitch);
    sounding.delete(pitch);
    if (note && end > note.onset) notes.push({ ...note, end });
  };
  for (const event of events) {
    if (event < NOTE_OFF) {
      close(event, now);
      sounding.set(event, { pitch: event, onset: now, velocity });
    } else if (event < SHIFT) close(event - NOTE_OFF, now);
    else if (event < VELOCITY) now += event - SHIFT + 1;
    else velocity = event - VELOCITY;
  }
  for (const [pitch, note] of sounding) close(pitch, Math.max(now, note.onset + 1));
  return notes.sort((a, b) => a.onset - b.onset || a.pitch - b.pitch)
    .map((note) => ({
      pitch: note.pitch,
      onset: note.onset * STEP,
      end: note.end * STEP,
      velocity: Math.max(1, note.velocity * WIDTH),
    }));
}

/**
 * Played notes as (sixteenth, voice) cells of a chorale: the highest note that sounds is the
 * soprano, the next the alto, and so on.
 * @param {{pitch: number, onset: number, end: number}[]} played
 * Pitches that no cell knows move by octaves.
 * @param {{voices: 1 | 4, grid: number, most: number}} how voices: 1 for a melody alone. grid:
 * milliseconds of a sixteenth. most: cells.
 * @returns {{cells: number[], left: number}} left: how many of the notes found no cell
 */
export function cellsOf(played, { voices, grid, most }) {
  if (!played.length) return { cells: [], left: 0 };
  const into = (pitch) => {
    let moved = pitch;
    while (moved > HIGHEST) moved -= 12;
    while (moved < LOWEST) moved += 12;
    return moved;
  };
  const notes = onGrid(played, grid).map((note) => ({ ...note, pitch: into(note.pitch) }));
  // Who lets go of one key a little after striking the next has played one note after another.
  for (const note of voices === 1 ? notes : []) {
    for (const next of notes) {
      if (next.onset > note.onset && note.end - next.onset === 1) note.end = next.onset;
    }
  }
  const first = Math.min(...notes.map((note) => note.onset));
  const length = Math.min(
    Math.floor(most / voices),
    Math.max(...notes.map((note) => note.end)) - first,
  );
  const heard = new Set();
  const cells = [];
  for (let at = first; at < first + length; at += 1) {
    const sounding = notes.filter((note) => note.onset <= at && at < note.end).sort((a, b) =>
      b.pitch - a.pitch
    );
    const pitches = [...new Set(sounding.map((note) => note.pitch))].slice(0, voices);
    for (const note of sounding) if (pitches.includes(note.pitch)) heard.add(note);
    for (let voice = 0; voice < voices; voice += 1) {
      cells.push(voice < pitches.length ? pitches[voice] - LOWEST + 1 : 0);
    }
  }
  return { cells, left: notes.length - heard.size };
}

/**
 * The notes of cells, as played ones; what is held and what is repeated are the same. voices, grid:
 * as in `cellsOf`.
 */
export function playedCells(cells, { voices, grid }) {
  const notes = [];
  for (let voice = 0; voice < voices; voice += 1) {
    let open = null;
    for (let at = 0; at * voices < cells.length; at += 1) {
      const cell = cells[at * voices + voice];
      const pitch = cell ? cell + LOWEST - 1 : null;
      if (open && open.pitch === pitch) open.end += grid;
      else {
        open = pitch === null
          ? null
          : { pitch, onset: at * grid, end: (at + 1) * grid, velocity: USUAL };
        if (open) notes.push(open);
      }
    }
  }
  return notes.sort((a, b) => a.onset - b.onset || a.pitch - b.pitch);
}

/** The soprano of four voices. */
export const sopranoOf = (cells) => cells.filter((_, i) => i % VOICES === 0);

const NAMES = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"];

/** 60 -> "C4". */
export const pitchName = (pitch) => `${NAMES[pitch % 12]}${Math.floor(pitch / 12) - 1}`;

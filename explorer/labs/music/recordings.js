// What a visitor plays, with its timing. The clock starts with the first note, and stands still
// while nobody plays for longer than a pause.

const PAUSE = 1000; // milliseconds of silence that count at most
const LOUD = 72; // MIDI velocity of every note: keys of a page do not feel how hard they are struck

/**
 * Notes {pitch, onset, end, velocity}, in milliseconds from the first. What time it is
 * (milliseconds) comes in from outside.
 */
export function recorder() {
  let notes = [];
  let start = null; // when the clock would have begun; null where the next note follows the last at once
  const down = new Map(); // pitch -> note
  const last = () => Math.max(0, ...notes.map((note) => note.end ?? note.onset));

  return {
    /** The notes so far; those whose key is still down (`sounds`) end at `at`. */
    notes: (at = 0) =>
      notes.map((note) => ({
        ...note,
        sounds: note.end === null,
        end: Math.max(note.end ?? at - start, note.onset + 1),
      })),
    sounding: () => down.size > 0,

    press(pitch, at) {
      if (down.has(pitch)) return;
      if (start === null) start = at - last();
      else if (!down.size) start += Math.max(0, at - start - last() - PAUSE);
      const note = { pitch, onset: at - start, end: null, velocity: LOUD };
      notes.push(note);
      down.set(pitch, note);
    },

    release(pitch, at) {
      const note = down.get(pitch);
      if (!note) return;
      note.end = Math.max(at - start, note.onset + 1);
      down.delete(pitch);
    },

    /** The note that began last is taken back; the next one takes its place. */
    undo() {
      const gone = notes.pop();
      if (gone) down.delete(gone.pitch);
      start = down.size ? start : null;
    },

    /** Other notes stand here now: played ones, all of them ended. */
    load(played) {
      notes = played.map((note) => ({ ...note }));
      down.clear();
      start = null;
    },
  };
}

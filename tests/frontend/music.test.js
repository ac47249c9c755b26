import assert from "node:assert/strict";
import * as music from "../../explorer/labs/music/noteevents.js";

Deno.test("events are spelled in an address", () => {
  const events = [0, 255, 256, 40000];
  assert.deepEqual(music.unspelled(music.spelled(events)), events);
  assert.doesNotMatch(music.spelled(events), /[+/=]/);
  assert.equal(music.unspelled("!"), null);
  assert.equal(music.unspelled("YQ"), null); // one byte
});

const note = (pitch, onset, end, velocity = 80) => ({ pitch, onset, end, velocity });

Deno.test("played notes lie on the grid", () => {
  const notes = music.notesOf([note(60, 104, 206), note(60, 150, 400), note(55, 100, 101)]);
  assert.deepEqual(notes.map(({ pitch, onset, end }) => [pitch, onset, end]), [
    [55, 10, 11],
    [60, 10, 15],
    [60, 15, 40],
  ]);
  assert.equal(notes[0].velocity, 20);
});

Deno.test("events say the notes and back", () => {
  const played = [note(60, 0, 500), note(64, 250, 1750, 40)];
  const events = music.eventsOf(music.notesOf(played));
  assert.deepEqual(events.slice(0, 3), [356 + 20, 60, 256 + 24]);
  assert.deepEqual(music.playedFrom(events), played);
  assert.deepEqual(music.eventsOf([]), []);
});

Deno.test("a chorale has the highest note on top", () => {
  const { cells, left } = music.cellsOf([note(60, 0, 100), note(72, 0, 100), note(100, 100, 200)], {
    voices: 4,
    grid: 100,
    most: 64,
  });
  assert.deepEqual(cells, [72 - 35, 60 - 35, 0, 0, 76 - 35, 0, 0, 0]);
  assert.equal(left, 0);
  assert.deepEqual(music.sopranoOf(cells), [37, 41]);
  const [high, low, last] = music.playedCells(cells, { voices: 4, grid: 100 })
    .sort((a, b) => b.pitch - a.pitch || a.onset - b.onset);
  assert.deepEqual([high.pitch, low.pitch, last.pitch], [76, 72, 60]);
  assert.deepEqual(music.cellsOf([], { voices: 1, grid: 1, most: 1 }), { cells: [], left: 0 });
});

Deno.test("pitches have names", () => {
  assert.deepEqual([60, 61, 0, 127].map(music.pitchName), ["C4", "C♯4", "C-1", "G9"]);
});

import assert from "node:assert/strict";
import "./page.js";
import * as sound from "../../explorer/labs/speech/soundrun.js";

const run = {
  rate: 8000,
  frame: 160,
  newest: 320,
  oldest: 240,
  layers: 2,
  left: 3,
  right: 1,
  samples: 8000,
  at: [4, 9],
  begins: [0, 1600],
  ends: [1500, 3000],
};

Deno.test("when a frame is final", () => {
  assert.equal(sound.timeOf(run, 10), (1600 + 220) / 8000);
  assert.equal(sound.finalSample(run, 10), 160 * 12 + 320);
  assert.equal(sound.finalTime(run, 10), 0.28);
  assert.equal(sound.finalTime(run, 60), 1);
  assert.equal(sound.finalTime(run, 10, 0), 0.24);
});

Deno.test("what a frame can hear", () => {
  assert.deepEqual(sound.coneOf(run, 10), [400, 2240]);
  assert.deepEqual(sound.coneOf(run, 0), [0, 640]);
});

Deno.test("the clip of a digit, and the wait", () => {
  assert.deepEqual([sound.writtenBy(run, 9), sound.writtenBy(run, 5)], [1, -1]);
  assert.deepEqual([sound.clipOf(run, 0), sound.clipOf(run, 9)], [0, 1]);
  assert.ok(Math.abs(sound.waitOf(run, 10) - (0.28 - 0.375)) < 1e-12);
  assert.equal(sound.waitOf({ ...run, begins: [] }, 10), null);
});

Deno.test("mel bands and back", () => {
  for (const band of [0, 17, 39]) {
    assert.ok(Math.abs(sound.bandOf(sound.hertzOf(band)) - band) < 1e-9);
  }
  assert.ok(sound.hertzOf(39) < 3900 && sound.hertzOf(0) > 60);
  assert.equal(sound.inSeconds(-0.5), "−0.50 s");
});

Deno.test("a sound as a WAV file", async () => {
  const bytes = await sound.wavOf(Float32Array.of(0, 1, -2), 8000).arrayBuffer();
  const view = new DataView(bytes);
  assert.equal(new TextDecoder().decode(bytes.slice(0, 4)), "RIFF");
  assert.equal(view.getUint32(24, true), 8000);
  assert.equal(view.getUint32(40, true), 6);
  assert.deepEqual([44, 46, 48].map((at) => view.getInt16(at, true)), [0, 32767, -32767]);
  const levels = sound.unlevelled([0, 255, 127.5]);
  assert.deepEqual([...levels].map((one) => one.toFixed(3)), ["-1.000", "1.000", "0.000"]);
});

// Runs beside the page: hands every block of the microphone's sound on as it comes.

// Elsewhere than in the audio thread there is no such class.
const { AudioWorkletProcessor: Processor, registerProcessor: register } =
  /** @type {any} */ (globalThis);
if (Processor) {
  class Tape extends Processor {
    process([channels]) {
      if (channels.length) this.port.postMessage(channels[0].slice());
      return true;
    }
  }
  register("tape", Tape);
}

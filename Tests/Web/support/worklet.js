// The world of an audio worklet: its globals, and a clock that the test moves.

/** Times are in samples at 48 kHz. */
export const clock = { wall: 1e9 }

export const processors = {}

class Port {
  sent = []

  postMessage(message, transfer = []) {
    // As browsers do: what is transferred is gone here.
    this.sent.push(structuredClone(message, { transfer }))
  }
}

globalThis.AudioWorkletProcessor = class {
  port = new Port()
}
globalThis.registerProcessor = (name, processor) => (processors[name] = processor)
globalThis.currentFrame = 0
Date.now = () => clock.wall / 48

/** Renders blocks of 128 samples in real time and returns them, `each(at)` before each. */
export function render(processor, samples, each = (_at) => {}) {
  const output = new Float32Array(Math.floor(samples / 128) * 128)
  for (let at = 0; at + 128 <= samples; at += 128) {
    each(at)
    processor.process([[]], [[output.subarray(at, at + 128)]])
    globalThis.currentFrame += 128
    clock.wall += 128
  }
  return output
}

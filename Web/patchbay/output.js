// The AudioContext: plays tracks through worklets, optionally over a loopback peer connection, and taps what is played.

import { Emitter } from './events.js'
import { SAMPLE_RATE } from './wire.js'

const RESUME_TIMEOUT_MS = 500
// Buffers that are kept for further frames; a second of audio.
const SPARE_BUFFERS_MAX = 50

/** Emits `blocked` and `started`. */
export class AudioOutput extends Emitter {
  isBlocked = false
  #context
  #master
  #ready
  #loopback
  #deviceId
  #loopbackPlayer = null
  // By identity: what a participant's tracks are mixed into.
  #buses = new Map()
  // Buffers of frames that players have used.
  #spare = []

  constructor({ outputDevice, loopback = false }) {
    super()
    this.#loopback = loopback
    this.#deviceId = outputDevice
  }

  get context() {
    return this.#context
  }

  get isRunning() {
    return this.#context?.state === 'running'
  }

  /** How long rendered audio takes to be heard, in milliseconds. */
  get latency() {
    const { baseLatency = 0, outputLatency = 0 } = this.#context ?? {}
    return (outputLatency || baseLatency) * 1000
  }

  /** Creates the context and loads the worklets, once. Whether audio plays is told by the events. */
  prepare() {
    this.#ready ??= this.#prepare()
    return this.#ready
  }

  async #prepare() {
    this.#context = new AudioContext({ sampleRate: SAMPLE_RATE, latencyHint: 'interactive' })
    const modules = ['playback-worklet.js', 'capture-worklet.js'].map((name) => new URL(name, import.meta.url))
    await Promise.all(modules.map((url) => this.#context.audioWorklet.addModule(url)))
    this.#master = new GainNode(this.#context)
    if (this.#loopback) this.#loopbackPlayer = await playThroughPeerConnection(this.#context, this.#master)
    else this.#master.connect(this.#context.destination)
    // One that is gone is no reason to hear nothing.
    if (this.#deviceId) await this.setDevice(this.#deviceId).catch(() => {})
    this.#context.onstatechange = () => this.#noteState()
    // Not awaited: it may take a gesture.
    this.resume().catch(() => {})
  }

  /** Starts audio; rejects if the browser still waits for a user gesture. */
  async resume() {
    await this.#loopbackPlayer?.play().catch(() => {})
    // Without a gesture, the promise of `resume` stays pending.
    const timeout = new Promise((resolve) => setTimeout(resolve, RESUME_TIMEOUT_MS))
    if (!this.isRunning) await Promise.race([this.#context.resume(), timeout])
    this.#noteState()
    if (!this.isRunning) throw new Error('The browser does not play audio before a click or a key press.')
  }

  #noteState() {
    const isBlocked = this.#context.state !== 'running' && this.#context.state !== 'closed'
    if (isBlocked === this.isBlocked) return
    this.isBlocked = isBlocked
    this.emit(isBlocked ? 'blocked' : 'started')
  }

  async setDevice(deviceId) {
    const sink = this.#loopbackPlayer ?? this.#context
    if (!sink?.setSinkId) throw new Error('This browser cannot choose the audio output.')
    await sink.setSinkId(deviceId)
    this.#deviceId = deviceId
  }

  setVolume(volume, identity = null) {
    const node = identity === null ? this.#master : this.bus(identity)
    node.gain.value = Math.min(1, Math.max(0, volume))
  }

  /** The node that everything of a participant passes through; `isPlayed` is false for the local microphone. */
  bus(identity, { isPlayed = true } = {}) {
    let bus = this.#buses.get(identity)
    if (!bus) {
      bus = new GainNode(this.#context)
      if (isPlayed) bus.connect(this.#master)
      this.#buses.set(identity, bus)
    }
    return bus
  }

  removeBus(identity) {
    this.#buses.get(identity)?.disconnect()
    this.#buses.delete(identity)
  }

  /** Creates the player of a track. `report` receives the worklet's reports. */
  createPlayer(bus, { mode, startDelay, report }) {
    const node = new AudioWorkletNode(this.#context, 'patchbay-playback', {
      numberOfInputs: 0, outputChannelCount: [1], processorOptions: { mode, startDelay },
    })
    node.connect(bus)
    node.port.onmessage = ({ data }) => {
      for (const buffer of data.used) if (this.#spare.length < SPARE_BUFFERS_MAX) this.#spare.push(buffer)
      report(data.report)
    }
    return {
      play: (ts, samples) => node.port.postMessage({ type: 'audio', ts, samples }, [samples.buffer]),
      clear: (generation) => node.port.postMessage({ type: 'clear', generation }),
      close: () => {
        node.port.onmessage = null
        node.port.postMessage({ type: 'stop' })
        node.disconnect()
      },
    }
  }

  /** Samples for a frame that a player plays, with arbitrary content. */
  takeSamples(count) {
    const buffer = this.#spare.pop()
    return new Float32Array(buffer?.byteLength === count * Float32Array.BYTES_PER_ELEMENT ? buffer : count)
  }

  /** Calls back with 20 ms at a time of a node's output, or of everything that is played. Returns a function that stops. */
  tap(source, listener) {
    if (!this.#context) throw new Error('There is no audio to tap before the room is connected.')
    const input = source ?? this.#master
    const node = new AudioWorkletNode(this.#context, 'patchbay-capture', { outputChannelCount: [1] })
    node.port.onmessage = ({ data }) => listener(data.samples, data.frame)
    // Its output is silence; a node that leads nowhere is not processed in every browser.
    input.connect(node).connect(this.#context.destination)
    return () => {
      node.port.onmessage = null
      node.port.postMessage('stop')
      node.disconnect()
      // Throws if the participant has left, and its bus with it.
      try {
        input.disconnect(node)
      } catch {}
    }
  }

  async close() {
    const context = this.#context
    this.#loopbackPlayer?.stop()
    this.#loopbackPlayer = this.#ready = this.#context = null
    this.isBlocked = false
    this.#buses.clear()
    this.#spare = []
    if (context) {
      context.onstatechange = null
      await context.close()
    }
  }
}

/** Sends a node's output through a local peer connection to an audio element, whose sound every echo canceller knows. */
async function playThroughPeerConnection(context, source) {
  const destination = new MediaStreamAudioDestinationNode(context, { channelCount: 1 })
  source.connect(destination)
  const [sender, receiver] = [new RTCPeerConnection(), new RTCPeerConnection()]
  sender.onicecandidate = ({ candidate }) => candidate && receiver.addIceCandidate(candidate)
  receiver.onicecandidate = ({ candidate }) => candidate && sender.addIceCandidate(candidate)
  const element = new Audio()
  element.autoplay = true
  receiver.ontrack = ({ track, receiver: rtpReceiver }) => {
    rtpReceiver.jitterBufferTarget = 0
    element.srcObject = new MediaStream([track])
  }
  sender.addTrack(destination.stream.getAudioTracks()[0], destination.stream)
  await sender.setLocalDescription()
  await receiver.setRemoteDescription(sender.localDescription)
  await receiver.setLocalDescription()
  await sender.setRemoteDescription(receiver.localDescription)
  return {
    play: () => element.play(),
    setSinkId: element.setSinkId && ((deviceId) => element.setSinkId(deviceId)),
    stop: () => {
      element.srcObject = null
      sender.close()
      receiver.close()
    },
  }
}

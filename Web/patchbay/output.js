// The AudioContext: plays tracks through worklets, optionally over a loopback peer connection, and taps what is played.

import { missingInterface, playbackFault, reasons } from './codecs.js'
import { Emitter } from './events.js'
import { SAMPLE_RATE } from './wire.js'

// A browser that waits for a gesture says nothing. After one, it waits for a device: slow ones take a while.
const RESUME_TIMEOUT_MS = 500
const DEVICE_TIMEOUT_MS = 3000
// Buffers that are kept for further frames; a second of audio.
const SPARE_BUFFERS_MAX = 50

/**
 * Emits `blocked` with the reason, also if that changes, and `started`.
 *
 * @typedef {import('../patchbay.js').AudioBlockage} AudioBlockage
 * @extends {Emitter<{ blocked: (reason: AudioBlockage) => void, started: () => void }>}
 */
export class AudioOutput extends Emitter {
  // The reason why nothing plays: `gesture` if the browser requires a click or a key, `no_output` if it does not start even after that, `unsupported` if
  // it cannot play Opus, in which case there is no context. Null if it plays.
  /** @type {AudioBlockage | null} */
  blockage = null
  #context
  #master
  #ready
  #loopback
  #deviceId
  #loopbackPlayer = null
  // By identity: what a participant's tracks are mixed into.
  #buses = new Map()
  // What `setVolume` asked for, by identity; of everything under null. Participants that join later or anew have it, too.
  #volumes = new Map()
  // Buffers of frames that players have used.
  #spare = []

  /** @param {{ outputDevice?: string, loopback?: boolean }} options */
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
    if (missingInterface()) return this.#setBlockage('unsupported')
    // Create the context before any await, while the user's gesture is active.
    const context = (this.#context = new AudioContext({ sampleRate: SAMPLE_RATE, latencyHint: 'interactive' }))
    // Written out, because bundlers find the files by these expressions.
    const [fault] = await Promise.all([
      playbackFault(),
      context.audioWorklet.addModule(new URL('./playback-worklet.js', import.meta.url)),
      context.audioWorklet.addModule(new URL('./capture-worklet.js', import.meta.url)),
    ])
    if (fault) {
      this.#context = null
      context.close().catch(() => {})
      return this.#setBlockage('unsupported')
    }
    this.#master = new GainNode(this.#context, { gain: this.#volumes.get(null) ?? 1 })
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
    const context = this.#context
    if (!context) throw new Error(reasons[await playbackFault()])
    const isGesture = navigator.userActivation?.isActive === true
    await this.#loopbackPlayer?.play().catch(() => {})
    // Without a gesture or a device, the promise of `resume` stays pending.
    const timeout = new Promise((resolve) => setTimeout(resolve, isGesture ? DEVICE_TIMEOUT_MS : RESUME_TIMEOUT_MS))
    if (context.state !== 'running') await Promise.race([context.resume(), timeout])
    // The call may have ended, and another one begun.
    if (context === this.#context) this.#noteState(isGesture ? 'no_output' : 'gesture')
    if (context.state === 'running') return
    throw new Error(isGesture ? 'The browser finds no sound output.' : 'The browser does not play audio before a click or a key press.')
  }

  #noteState(reason) {
    const isBlocked = this.#context.state !== 'running' && this.#context.state !== 'closed'
    // Without a gesture, nothing new is learned.
    this.#setBlockage(!isBlocked ? null : reason === 'no_output' ? reason : (this.blockage ?? 'gesture'))
  }

  #setBlockage(blockage) {
    if (blockage === this.blockage) return
    this.blockage = blockage
    if (blockage) this.emit('blocked', blockage)
    else this.emit('started')
  }

  async setDevice(deviceId) {
    const sink = this.#loopbackPlayer ?? this.#context
    if (!sink?.setSinkId) throw new Error('This browser cannot choose the audio output.')
    await sink.setSinkId(deviceId)
    this.#deviceId = deviceId
  }

  setVolume(volume, identity = null) {
    if (!Number.isFinite(volume)) throw new TypeError(`${volume} is no volume: 0 to 1`)
    const gain = Math.min(1, Math.max(0, volume))
    this.#volumes.set(identity, gain)
    const node = identity === null ? this.#master : this.#buses.get(identity)
    if (node) node.gain.value = gain
  }

  /** Whether there is a context, or one can be created. */
  get isSupported() {
    return this.blockage !== 'unsupported'
  }

  /** The node that everything of a participant passes through; `isPlayed` is false for the local microphone. */
  bus(identity, { isPlayed = true } = {}) {
    let bus = this.#buses.get(identity)
    if (!bus) {
      bus = new GainNode(this.#context, { gain: this.#volumes.get(identity) ?? 1 })
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
    if (!this.#master) throw new Error('There is no audio to tap before the room is connected.')
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
    this.#loopbackPlayer = this.#ready = this.#context = this.#master = null
    this.blockage = null
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

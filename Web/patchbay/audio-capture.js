// Captures the microphone or another track of audio: getUserMedia, a capture worklet, levels and voice activity, and Opus by WebCodecs.

import { DEFAULT_BITRATE, encoderConfiguration, playbackFault, reasons } from './codecs.js'
import { MicrophoneError } from './events.js'
import { FRAME_SAMPLES, SAMPLE_RATE, flag, measureLevel } from './wire.js'

const FRAME_US = 20000

/** Captures and encodes; `frame` receives `{timestamp, level, voice, flags, packet}`, `ended` the reason if capturing stops. */
export class AudioCapture {
  level = -127
  #output
  #identity
  #frame
  #ended
  #stream = null
  // Whether the stream is the page's, which may use it elsewhere.
  #isForeign = false
  #source = null
  #stopTap = null
  #encoder = null
  #skipsSilence = true
  // By encoder timestamp: what is known about frames that are being encoded.
  #pending = new Map()
  #voice = new VoiceDetector()
  #firstFrame = null
  #lastTimestamp = -Infinity

  /** `identity`: of the bus on which it can be tapped. */
  constructor(output, { identity, frame, ended }) {
    this.#output = output
    this.#identity = identity
    this.#frame = frame
    this.#ended = ended
  }

  /** The microphone. Rejects with a `MicrophoneError`; also once `signal` is aborted: the user may answer the browser's prompt after the call. */
  async openMicrophone({ deviceId, echoCancellation = true, noiseSuppression = true, autoGainControl = true, bitrate = DEFAULT_BITRATE }, signal) {
    const configuration = await supportedConfiguration(bitrate)
    const constraints = { channelCount: 1, echoCancellation, noiseSuppression, autoGainControl }
    if (deviceId) constraints.deviceId = { exact: deviceId }
    await this.#open(await openStream(constraints), configuration, signal)
  }

  /**
   * A track of the page's, which goes on when capturing stops. Rejects with a `MicrophoneError`.
   *
   * @param {MediaStreamTrack} track
   * @param {import('../patchbay.js').PublishOptions} options
   * @param {AbortSignal} signal
   */
  async openTrack(track, { bitrate = DEFAULT_BITRATE, dtx = true }, signal) {
    this.#isForeign = true
    this.#skipsSilence = dtx
    await this.#open(new MediaStream([track]), await supportedConfiguration(bitrate), signal)
  }

  async #open(stream, configuration, signal) {
    try {
      if (!signal.aborted) await this.#output.prepare()
      if (signal.aborted) throw new MicrophoneError('cancelled', 'The call has ended.')
      this.#start(stream, configuration)
    } catch (error) {
      this.close()
      this.#stop(stream)
      throw error instanceof MicrophoneError ? error : new MicrophoneError('failed', `The audio cannot be captured: ${error.message}`)
    }
  }

  #start(stream, configuration) {
    this.#stream = stream
    stream.getAudioTracks()[0].addEventListener('ended', this.#trackEnded)
    this.#encoder = new AudioEncoder({
      output: (chunk) => this.#deliver(chunk),
      error: (error) => {
        this.close()
        this.#ended(`The audio encoder failed: ${error.message}`)
      },
    })
    this.#encoder.configure(configuration)
    this.#source = new MediaStreamAudioSourceNode(this.#output.context, { mediaStream: stream })
    this.#source.connect(this.#output.bus(this.#identity, { isPlayed: false }))
    this.#stopTap = this.#output.tap(this.#source, (samples, frame) => this.#encode(samples, frame))
  }

  #trackEnded = () => {
    this.close()
    this.#ended(this.#isForeign ? 'The track has ended.' : 'The microphone was disconnected.')
  }

  close() {
    this.#stopTap?.()
    this.#source?.disconnect()
    if (this.#stream) this.#stop(this.#stream)
    if (this.#encoder && this.#encoder.state !== 'closed') this.#encoder.close()
    this.#stream = this.#source = this.#stopTap = this.#encoder = null
    this.#pending.clear()
    this.level = -127
  }

  #stop(stream) {
    for (const track of stream.getTracks()) {
      track.removeEventListener('ended', this.#trackEnded)
      if (!this.#isForeign) track.stop()
    }
  }

  #encode(samples, frame) {
    this.#firstFrame ??= frame
    const timestamp = frame - this.#firstFrame
    this.level = measureLevel(samples)
    const voice = this.#voice.decide(this.level)
    const time = Math.round((timestamp * 1e6) / SAMPLE_RATE)
    this.#pending.set(time, { timestamp, level: this.level, ...voice })
    const data = new AudioData({
      format: 'f32-planar', sampleRate: SAMPLE_RATE, numberOfChannels: 1, numberOfFrames: FRAME_SAMPLES, timestamp: time, data: samples,
    })
    this.#encoder.encode(data)
    data.close()
  }

  #deliver(chunk) {
    // The encoder's clock may differ by its rounding.
    const known = [...this.#pending.keys()].find((time) => Math.abs(time - chunk.timestamp) < FRAME_US / 2)
    if (known === undefined) return
    const { timestamp, level, voice, isLast, isSent } = this.#pending.get(known)
    for (const time of this.#pending.keys()) if (time <= known) this.#pending.delete(time)
    if (!isSent && this.#skipsSilence) return
    const packet = new Uint8Array(chunk.byteLength)
    chunk.copyTo(packet)
    const isAfterPause = timestamp - this.#lastTimestamp > 10 * FRAME_SAMPLES
    this.#lastTimestamp = timestamp
    const flags = (voice && this.#voice.takeStart(isAfterPause) ? flag.start : 0) | (isLast ? flag.end : 0)
    this.#frame({ timestamp, level, voice, flags, packet })
  }
}

/** Returns the encoder's configuration. It must be known before the browser asks for permission. */
async function supportedConfiguration(bitrate) {
  const configuration = await encoderConfiguration(bitrate)
  const fault = (await playbackFault()) ?? (configuration ? null : 'no_encoder')
  if (fault) throw new MicrophoneError('unsupported', reasons[fault])
  return configuration
}

const OPEN_ERRORS = {
  NotAllowedError: ['permission_denied', 'This page may not use the microphone. Allow it in the settings of the browser for this page.'],
  SecurityError: ['permission_denied', 'This page may not use the microphone.'],
  NotFoundError: ['not_found', 'No microphone was found.'],
  OverconstrainedError: ['not_found', 'The chosen microphone was not found.'],
  NotReadableError: ['in_use', 'The microphone cannot be opened. Another program may be using it.'],
}

/** Opens the microphone and returns its stream. Rejects with a `MicrophoneError`. */
export async function openStream(audio) {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new MicrophoneError('unsupported', 'The browser offers no microphone to this page.')
  }
  try {
    return await navigator.mediaDevices.getUserMedia({ audio })
  } catch (error) {
    const [code, message] = OPEN_ERRORS[error.name] ?? ['failed', `The microphone cannot be opened: ${error.message}`]
    throw new MicrophoneError(code, message)
  }
}

const SPEECH_ABOVE_NOISE = 12
const SOUND_ABOVE_NOISE = 6
const QUIETEST_SPEECH = -55
const QUIETEST_SOUND = -70
const HANGOVER_FRAMES = 15
const QUIET_FRAMES = 10

/**
 * Voice activity and discontinuous transmission, by level. Speech is 12 dB above the noise, and lasts until 300 ms after the last such
 * frame. After 200 ms of neither speech nor sound, 6 dB above the noise, frames are not sent: silence is a gap in timestamps.
 */
export class VoiceDetector {
  #noise = -60
  #left = 0
  #quiet = 0
  #isStartDue = false

  decide(level) {
    // The noise floor falls at once and rises by 3 dB per second, also during speech.
    this.#noise = level < this.#noise ? Math.max(-90, level) : this.#noise + 0.06
    const isSpeech = level > Math.max(QUIETEST_SPEECH, this.#noise + SPEECH_ABOVE_NOISE)
    const isSound = level > Math.max(QUIETEST_SOUND, this.#noise + SOUND_ABOVE_NOISE)
    if (isSpeech && this.#left <= 1) this.#isStartDue = true
    this.#left = isSpeech ? HANGOVER_FRAMES : Math.max(0, this.#left - 1)
    this.#quiet = isSound ? 0 : this.#quiet + 1
    const voice = this.#left > 0
    return { voice, isLast: this.#left === 1, isSent: voice || this.#quiet <= QUIET_FRAMES }
  }

  /** Whether the next voiced frame starts a talkspurt. */
  takeStart(isAfterPause) {
    const isStart = this.#isStartDue || isAfterPause
    this.#isStartDue = false
    return isStart
  }
}

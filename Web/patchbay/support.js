// The browser's capabilities: playing, sending, and its devices.

import { decoderConfiguration, encoderConfiguration, playbackFault, reasons } from './codecs.js'
import { FRAME_SAMPLES, SAMPLE_RATE } from './wire.js'

const PROBE_TIMEOUT_MS = 5000
const SILENT_PACKET = new Uint8Array([0xf8, 0xff, 0xfe])

/**
 * Checks the browser by decoding and encoding a little Opus.
 *
 * @returns {Promise<import('../patchbay.js').Support>}
 */
export async function checkSupport() {
  const fault = (await playbackFault()) ?? ((await succeeds(probeDecoder)) ? null : 'no_decoder')
  if (fault) return { audio: false, listening: false, code: fault, reason: reasons[fault] }
  if (!(await succeeds(probeEncoder))) return { audio: false, listening: true, code: 'no_encoder', reason: reasons.no_encoder }
  return { audio: true, listening: true }
}

/** Whether a codec responds correctly and in time. */
function succeeds(probe) {
  let timer = 0
  const timeout = new Promise((resolve) => (timer = setTimeout(resolve, PROBE_TIMEOUT_MS, false)))
  return Promise.race([probe().then(() => true, () => false), timeout]).finally(() => clearTimeout(timer))
}

function probeDecoder() {
  return new Promise((resolve, reject) => {
    const decoder = new AudioDecoder({
      output: (data) => {
        const isRight = data.numberOfFrames === FRAME_SAMPLES && data.sampleRate === SAMPLE_RATE
        data.close()
        decoder.close()
        if (isRight) resolve()
        else reject(new Error('the decoder changes the sampling rate'))
      },
      error: reject,
    })
    decoder.configure(decoderConfiguration(1))
    for (let index = 0; index < 3; index++) {
      decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp: index * 20000, data: SILENT_PACKET }))
    }
    decoder.flush().then(() => reject(new Error('the decoder is silent')), () => {})
  })
}

async function probeEncoder() {
  const configuration = await encoderConfiguration()
  if (!configuration) throw new Error('no encoder')
  await new Promise((resolve, reject) => {
    const encoder = new AudioEncoder({
      output: () => {
        encoder.close()
        resolve()
      },
      error: reject,
    })
    encoder.configure(configuration)
    const samples = Float32Array.from({ length: FRAME_SAMPLES }, (_, index) => Math.sin(index / 20) / 4)
    for (let index = 0; index < 5; index++) {
      const data = new AudioData({
        format: 'f32-planar', sampleRate: SAMPLE_RATE, numberOfChannels: 1, numberOfFrames: FRAME_SAMPLES, timestamp: index * 20000, data: samples,
      })
      encoder.encode(data)
      data.close()
    }
    encoder.flush().then(() => reject(new Error('the encoder is silent')), () => {})
  })
}

/** The microphones and speakers. Their labels are empty until the microphone has been permitted. */
export async function listDevices() {
  const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? []
  return {
    microphones: devices.filter(({ kind }) => kind === 'audioinput'),
    speakers: devices.filter(({ kind }) => kind === 'audiooutput'),
  }
}

// What this browser can do.

import { encoderConfiguration } from './audio-capture.js'
import { FRAME_SAMPLES, SAMPLE_RATE } from './wire.js'

const PROBE_TIMEOUT_MS = 5000
const SILENT_PACKET = new Uint8Array([0xf8, 0xff, 0xfe])

/** Encodes and decodes a little Opus. Resolves with `{audio: true}`, or false and a reason for people. */
export async function checkSupport() {
  if (!window.isSecureContext) return refuse('Audio is only available to pages that are loaded over HTTPS.')
  if (typeof AudioWorkletNode === 'undefined') return refuse('This browser cannot process audio (AudioWorklet). Please update it.')
  if (typeof AudioDecoder === 'undefined' || typeof AudioEncoder === 'undefined') {
    return refuse('This browser cannot encode audio (WebCodecs). Please update it, or use a current Chrome, Edge, Firefox or Safari.')
  }
  try {
    await withTimeout(probeDecoder())
    await withTimeout(probeEncoder())
    return { audio: true }
  } catch (error) {
    return refuse(`This browser cannot process Opus audio (${error.message}). Please use a current Chrome, Edge, Firefox or Safari.`)
  }
}

function refuse(reason) {
  return { audio: false, reason }
}

function withTimeout(promise) {
  const timeout = new Promise((_, reject) => setTimeout(() => reject(new Error('no answer from the codec')), PROBE_TIMEOUT_MS))
  return Promise.race([promise, timeout])
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
    decoder.configure({ codec: 'opus', sampleRate: SAMPLE_RATE, numberOfChannels: 1 })
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

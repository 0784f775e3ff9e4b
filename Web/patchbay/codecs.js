// The browser's support for Opus, and descriptions of what is missing.

import { SAMPLE_RATE } from './wire.js'

const FRAME_US = 20000
export const DEFAULT_BITRATE = 32000

const ADVICE = 'use a current Chrome, Edge, Firefox or Safari.'

/** Descriptions for people, by the code of `Support`: the missing feature, its effect, and a remedy. */
export const reasons = {
  insecure_page: 'Audio is only available to pages that are loaded over HTTPS. You can read and type.',
  no_worklet: `This browser cannot process audio (AudioWorklet). You can read and type; to talk, ${ADVICE}`,
  no_decoder: `This browser cannot decode Opus audio (WebCodecs). You can read and type; to talk, ${ADVICE}`,
  no_encoder: `This browser cannot encode Opus audio (WebCodecs), so you are not heard. You can listen and type; to talk, ${ADVICE}`,
}

/** The interface that this page lacks for playing, as a code of `Support`, or null. `playbackFault` checks whether the decoder supports Opus. */
export function missingInterface() {
  if (!window.isSecureContext) return 'insecure_page'
  if (typeof AudioWorkletNode === 'undefined') return 'no_worklet'
  return typeof AudioDecoder === 'undefined' ? 'no_decoder' : null
}

/** Returns the reason why this page cannot play Opus audio, as a code of `Support`, or null. */
export async function playbackFault() {
  const missing = missingInterface()
  if (missing) return missing
  const { supported } = await AudioDecoder.isConfigSupported(decoderConfiguration(1)).catch(() => ({ supported: false }))
  return supported ? null : 'no_decoder'
}

export const decoderConfiguration = (channels) => ({ codec: 'opus', sampleRate: SAMPLE_RATE, numberOfChannels: channels })

/** Returns the most precise encoder configuration that this browser accepts, or null. */
export async function encoderConfiguration(bitrate = DEFAULT_BITRATE) {
  if (typeof AudioEncoder === 'undefined') return null
  const base = { codec: 'opus', sampleRate: SAMPLE_RATE, numberOfChannels: 1, bitrate }
  // The encoder's DTX stays off: browsers do not report which frames it omits, not even by their timestamps.
  const opus = { frameDuration: FRAME_US, usedtx: false, application: 'voip', signal: 'voice' }
  for (const configuration of [{ ...base, opus }, { ...base, opus: { frameDuration: FRAME_US } }, base]) {
    const { supported } = await AudioEncoder.isConfigSupported(configuration).catch(() => ({ supported: false }))
    if (supported) return configuration
  }
  return null
}

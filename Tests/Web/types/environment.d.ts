// What browsers have and the compiler of Debian 12 does not know: WebCodecs for audio, audio worklets, and newer members of known types.

// Worklets.

declare const currentFrame: number
declare function registerProcessor(name: string, processor: new (options: any) => AudioWorkletProcessor): void

declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort
  abstract process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean
}

// WebCodecs.

interface AudioCodecConfiguration {
  codec: string
  sampleRate: number
  numberOfChannels: number
  bitrate?: number
  opus?: { frameDuration?: number; usedtx?: boolean; application?: string; signal?: string }
}

declare class AudioData {
  constructor(init: { format: string; sampleRate: number; numberOfChannels: number; numberOfFrames: number; timestamp: number; data: BufferSource })
  readonly sampleRate: number
  readonly numberOfChannels: number
  readonly numberOfFrames: number
  readonly timestamp: number
  copyTo(target: BufferSource, options: { planeIndex: number; format?: string }): void
  close(): void
}

declare class EncodedAudioChunk {
  constructor(init: { type: 'key' | 'delta'; timestamp: number; data: BufferSource })
  readonly timestamp: number
  readonly byteLength: number
  copyTo(target: BufferSource): void
}

declare class AudioEncoder {
  constructor(init: { output: (chunk: EncodedAudioChunk) => void; error: (error: DOMException) => void })
  static isConfigSupported(configuration: AudioCodecConfiguration): Promise<{ supported: boolean }>
  readonly state: 'unconfigured' | 'configured' | 'closed'
  configure(configuration: AudioCodecConfiguration): void
  encode(data: AudioData): void
  flush(): Promise<void>
  close(): void
}

declare class AudioDecoder {
  constructor(init: { output: (data: AudioData) => void; error: (error: DOMException) => void })
  static isConfigSupported(configuration: AudioCodecConfiguration): Promise<{ supported: boolean }>
  readonly state: 'unconfigured' | 'configured' | 'closed'
  configure(configuration: AudioCodecConfiguration): void
  decode(chunk: EncodedAudioChunk): void
  flush(): Promise<void>
  close(): void
}

// Members.

interface Navigator {
  readonly connection?: EventTarget
  readonly userActivation?: { readonly isActive: boolean; readonly hasBeenActive: boolean }
}

interface AudioContext {
  setSinkId?(id: string): Promise<void>
}

interface HTMLMediaElement {
  setSinkId?(id: string): Promise<void>
}

interface RTCRtpReceiver {
  jitterBufferTarget: number | null
}

interface Element {
  checkVisibility(): boolean
}

interface Array<T> {
  findLast(predicate: (value: T, index: number) => unknown): T | undefined
  findLastIndex(predicate: (value: T, index: number) => unknown): number
  with(index: number, value: T): T[]
}

interface PromiseConstructor {
  withResolvers?<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (reason?: unknown) => void }
}

declare namespace Intl {
  function getCanonicalLocales(locales: string | readonly string[]): string[]
  function supportedValuesOf(key: string): string[]
}

/**
 * `<patchbay-audio-button>`: generates the audio of a text, with progress, and offers it for playback. `README.md` shows how to use it.
 *
 * The gateway stores the audio it has generated for a user, so the button first checks whether it exists. The button does not play audio:
 * the event `play` has the clip.
 *
 * The texts are in English, German, French or Spanish, according to the nearest `lang`; otherwise in English. Custom properties: those of
 * `<patchbay-assistant>` for `surface`, `sunken`, `text`, `text-quiet`, `accent` and `font`. Parts: `root`, `button`, `progress`, `bar`, `percent`,
 * `problem`.
 */

/** `checking`: asks whether there is audio. `idle`: offers to generate it. `completed`: offers to play it. `failed`: offers to retry. */
export type AudioButtonState = 'checking' | 'idle' | 'generating' | 'completed' | 'failed'

/** The audio of a text, with its metadata. */
export interface AudioClip {
  readonly id: string
  readonly provider: string
  readonly voice: string
  /** The voice's name for display. */
  readonly voiceName: string
  readonly text: string
  /** Null for clips of earlier versions of the gateway. */
  readonly createdAt: Date | null
  readonly mimeType: string
  readonly durationMs: number
  /** The words with times from the beginning of the audio; null if the provider reports none. */
  readonly words: readonly { readonly text: string; readonly startMs: number; readonly endMs: number }[] | null
  /** Downloads the audio once, for `URL.createObjectURL`. The button also shows a failure. */
  blob(): Promise<Blob>
}

export interface AudioButtonProblem {
  /** A code of the gateway (`unknown_provider`, `too_many_clips`, …), or `connection_failed`, `generation_failed`, `no_text`, `no_token`, `provider_failed`. */
  code: string
  /** The gateway's message in English; may be empty. */
  message: string
}

/**
 * Returns the current user's access token (docs/protocol/accounts.md), other than `rejected`, which has expired. Called for each request, so keep
 * the token while it is valid; buttons with the same function share a call, and its token for at most one second.
 */
export type ClipTokenProvider = (wish: { rejected: string | null }) => Promise<string>

/** `play` bubbles, unlike the event of media elements. */
export interface AudioButtonEvents {
  play: CustomEvent<{ clip: AudioClip }>
  'patchbay-audio-state': CustomEvent<{ state: AudioButtonState; previous: AudioButtonState; clip: AudioClip | null; problem: AudioButtonProblem | null }>
}

type AudioButtonEventMap = Omit<HTMLElementEventMap, 'play'> & AudioButtonEvents

/**
 * | attribute | value |
 * |---|---|
 * | `text` | required: what is spoken, at most 4,096 bytes |
 * | `voice` | one of the provider's voices. Default: the assistant's, otherwise the provider's first |
 * | `provider` | one of `GET /v1/speech/providers`. Default: the first |
 * | `assistant` | the id of an assistant whose voice speaks if `voice` is absent |
 * | `url` | the gateway, `https://host:port`. Default: the one that served the script |
 * | `theme` | `light` or `dark`. Default: the page's `color-scheme`, as the user prefers |
 * | `lang` | as for `<patchbay-assistant>` |
 */
export class PatchbayAudioButton extends HTMLElement {
  /** The token provider of all buttons without their own. */
  static tokenProvider: ClipTokenProvider | null
  tokenProvider: ClipTokenProvider | null
  /** The value of the attribute `text`; the other properties correspond to attributes, too. */
  text: string
  voice: string
  provider: string
  assistant: string
  readonly state: AudioButtonState
  /** The progress in percent, 0 to 100. */
  readonly progress: number
  /** The clip; null unless there is audio. */
  readonly clip: AudioClip | null
  /** Does the same as a click on `Generate` or `Retry`. */
  generate(): void
  /** Does the same as a click on `Cancel`. */
  cancel(): void
  addEventListener<Name extends keyof AudioButtonEventMap>(
    type: Name, listener: (this: PatchbayAudioButton, event: AudioButtonEventMap[Name]) => void, options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void
}

declare global {
  interface HTMLElementTagNameMap {
    'patchbay-audio-button': PatchbayAudioButton
  }
  interface GlobalEventHandlersEventMap {
    'patchbay-audio-state': AudioButtonEvents['patchbay-audio-state']
  }
}

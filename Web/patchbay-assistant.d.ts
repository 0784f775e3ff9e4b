/**
 * `<patchbay-assistant>`: a voice assistant for any page, as a panel in its corner or as a talk over the whole screen. `README.md` shows how
 * to use it.
 *
 * Texts, logo, theme, colours and start state are those of the assistant's definition (docs/protocol/assistants.md, "Definition").
 * Everything else that it says is in English, German, French or Spanish: see the attribute `lang`.
 *
 * Colours as custom properties; texts on them need a contrast of at least 4.5:1:
 *
 * | custom property | colour of |
 * |---|---|
 * | `--patchbay-surface`, `--patchbay-sunken`, `--patchbay-talk-surface` | the panel and cards; what lies lower in them, such as notices; the talk view |
 * | `--patchbay-text`, `--patchbay-text-quiet` | primary and secondary text |
 * | `--patchbay-accent`, `--patchbay-accent-text` | the button on the page and primary buttons; the text on them |
 * | `--patchbay-transcript` | the background of the transcript |
 * | `--patchbay-user-bubble`, `--patchbay-user-text` | the user's lines of the transcript |
 * | `--patchbay-agent-bubble`, `--patchbay-agent-text` | the assistant's lines |
 * | `--patchbay-mute`, `--patchbay-mute-active`, `--patchbay-mute-icon` | the mute button; the same while the user is muted; its icon in both |
 * | `--patchbay-input` | the field for messages |
 * | `--patchbay-color-1`, `-2` and `-3` | visualizer and shapes, in place of a preset of the attribute `visualizer` |
 *
 * Other custom properties: `--patchbay-font`, `--patchbay-radius`, `--patchbay-width`, `--patchbay-height`.
 *
 * Parts: `root`, `launcher`, `panel`, `talk`, `header`, `logo`, `title`, `links`, `visualizer`, `ambience`, `status`, `caption`, `transcript`,
 * `line`, `logged` (the notice that the call may be recorded), `message-form`, `quick-commands`, `quick-command`, `idle`, `cards`, `card`, `notices`,
 * `notice`, `error`, `controls`, `button`, `stop-button`, `voice-menu`.
 *
 * Slots: `launcher-icon`, `launcher-text`, `logo`, `error` (the content of an error beside the button), `footer`.
 */

/** What is shown. `expanded` without a call is the opened panel before a conversation; with `icon-only` there is no `expanded`. */
export type AssistantState = 'idle' | 'loading' | 'collapsed' | 'connecting' | 'expanded' | 'transcript' | 'error'

/** What the assistant does: it gets ready, it listens (`idle`), it thinks, it speaks and waits to be interrupted, or it reports an error. */
export type AgentStatus = 'initializing' | 'idle' | 'thinking' | 'waiting' | 'error'

export type AssistantTheme = 'light' | 'dark' | 'auto'

/** Colours of visualizer, shapes and buttons: green, purple and blue, pink and orange, teal, red and orange, blue and cyan; `sky` is the talk view's own, blue and purple. */
export type VisualizerColor = 'verdant' | 'twilight' | 'bloom' | 'mystic' | 'flare' | 'glacier' | 'sky'

/** The assistant's definition, with the element's own `theme` and `visualizer`. Texts that the definition leaves out are empty. */
export interface AssistantSettings {
  readonly id: string
  readonly name: string
  readonly voice: string
  readonly language: string
  readonly startText: string
  readonly thinkingText: string
  readonly interruptText: string
  readonly logoUrl: string
  readonly startState: 'collapsed' | 'expanded'
  readonly theme: AssistantTheme
  readonly visualizer: VisualizerColor
  readonly visualizerPreset: 'bars' | 'wave'
  readonly quickCommands: readonly string[]
}

/** A line of the conversation. Another text of the same line is a new item with the same id. */
export interface TranscriptItem {
  readonly id: string
  readonly text: string
  /** What the user said, typed or chose; otherwise the assistant or somebody else in the room. */
  readonly isUser: boolean
  readonly timestamp: Date
  /** False while the text may still change. */
  readonly isFinal: boolean
}

/** How loud user and assistant are, 0 to 1. Both are 0 without a conversation, and where the user prefers reduced motion. */
export interface AssistantLevels {
  readonly user: number
  readonly agent: number
}

export interface AssistantProblem {
  /** `initialization`: the definition could not be loaded. `connection`: the call could not be started or was lost. `other`: other problems. */
  kind: 'initialization' | 'connection' | 'other'
  /** A code of the gateway (`assistant_not_found`, `token_expired`, …) or of `ConnectError`, or `no_assistant`, `no_token`, `provider_failed`, `timeout`. */
  code: string
  message: string
}

export interface TokenRequest {
  /** The attribute `assistant-id`. */
  assistant: string
  /** The voice that the user has chosen in the talk view, otherwise the assistant's. */
  voice: string
  /** The element's `context`, for `client_context` of `POST /v1/sessions/start`; absent if there is none. */
  clientContext?: string
}

/** Gets a LiveKit access token for a room to which the assistant is dispatched. Called at the start of each conversation. */
export type TokenProvider = (request: TokenRequest) => Promise<string | { url?: string; token: string }>

/**
 * Returns an access token of a user of the gateway (docs/protocol/accounts.md); called for each request. The widget then asks the user before the
 * first conversation whether conversations are kept. If there is neither a token nor a token provider, it starts a session for each conversation.
 */
export type AccountProvider = () => Promise<string>

/**
 * | attribute | value |
 * |---|---|
 * | `assistant-id` | required: the assistant's id |
 * | `should-initialize` | `false`: nothing is requested from the gateway and nothing is shown. Turning it off does not end a call. Default: `true` |
 * | `icon-only` | present: a round button without text, which opens the transcript; errors turn it red, and pressing it shows them |
 * | `theme` | `light`, `dark` or `auto`. Default: the assistant's |
 * | `visualizer` | a `VisualizerColor`. Default: the assistant's, otherwise `sky` in the talk view and `verdant` in the panel |
 * | `context` | what the page tells the assistant about itself, such as the screen that the user sees: a text of at most 64 KiB, often JSON |
 * | `presentation` | `widget` (default) or `talk` |
 * | `idle-screen` | with `talk`, present: in place of the button a screen in the page's flow, with suggestions, an input for text and the microphone. The element is a block that the page sizes |
 * | `url` | the gateway, `wss://host:port`. Default: the one that served the script |
 * | `token` | a token for one room. Pages with users set `tokenProvider` instead |
 * | `lang` | the language of the widget's own texts: `en`, `de`, `fr` or `es`, also with a region. Default: the nearest `lang` around the element; if that is another language or missing, the assistant's `language`, then English |
 *
 * Without token and provider, a gateway in development (`serve --dev`) gives one to its own pages.
 */
export class PatchbayAssistant extends HTMLElement {
  tokenProvider: TokenProvider | null
  accountProvider: AccountProvider | null
  token: string
  /** The attribute `context`. Objects are stored as JSON; null removes it. */
  get context(): string
  set context(value: string | object | null)
  readonly state: AssistantState
  readonly agentStatus: AgentStatus
  /** Whether the user has turned the microphone off. */
  readonly muted: boolean
  /** The running conversation, or the last one. */
  readonly transcript: readonly TranscriptItem[]
  readonly levels: AssistantLevels
  /** Null before the assistant is loaded. */
  readonly settings: AssistantSettings | null
  /** Starts a conversation. Call it in the handler of a click, so that the browser plays sound. */
  start(): void
  /** Ends the conversation. */
  end(): void
  /** @deprecated The name of `end` in 0.1. */
  stop(): void
  /** Returns whether the user is muted now. Nothing changes without a conversation or a microphone. */
  toggleMute(): Promise<boolean>
  /** Returns whether the text was sent, or is sent once the assistant has joined. Without a conversation, it starts one (as `start` does). */
  sendText(text: string): Promise<boolean>
}

/** One event for each property. All bubble, so that they can also be listened to on an ancestor or the document. */
export interface AssistantEvents {
  'patchbay-state': CustomEvent<{ state: AssistantState; previous: AssistantState; problem: AssistantProblem | null }>
  'patchbay-status': CustomEvent<{ status: AgentStatus; previous: AgentStatus }>
  'patchbay-muted': CustomEvent<{ muted: boolean }>
  /** `changed`: the items that are new or have another text; none when a new conversation begins. */
  'patchbay-transcript': CustomEvent<{ transcript: readonly TranscriptItem[]; changed: readonly TranscriptItem[] }>
  /** Up to once per displayed frame, while somebody speaks. */
  'patchbay-levels': CustomEvent<AssistantLevels>
  'patchbay-settings': CustomEvent<{ settings: AssistantSettings | null }>
}

declare global {
  interface HTMLElementTagNameMap {
    'patchbay-assistant': PatchbayAssistant
  }
  interface GlobalEventHandlersEventMap extends AssistantEvents {}
}

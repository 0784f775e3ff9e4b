/**
 * `<patchbay-assistant>`: a voice assistant for any page, as a panel in its corner or as a talk over the whole screen. `README.md` shows how
 * to use it.
 *
 * Texts, logo, theme, colours and start state are those of the assistant's definition (PROTOCOL.md section 18). Everything else that it says
 * is in English, German, French or Spanish: see the attribute `lang`.
 *
 * Custom properties: `--patchbay-accent`, `--patchbay-accent-text`, `--patchbay-surface`, `--patchbay-sunken`, `--patchbay-talk-surface`,
 * `--patchbay-text`, `--patchbay-text-quiet`, `--patchbay-color-1`, `-2` and `-3` (visualizer and shapes), `--patchbay-font`,
 * `--patchbay-radius`, `--patchbay-width`, `--patchbay-height`.
 *
 * Parts: `root`, `launcher`, `panel`, `talk`, `header`, `logo`, `title`, `links`, `visualizer`, `ambience`, `status`, `caption`, `transcript`,
 * `line`, `message-form`, `quick-commands`, `quick-command`, `cards`, `card`, `notices`, `notice`, `error`, `controls`, `button`,
 * `stop-button`, `voice-menu`.
 *
 * Slots: `launcher-icon`, `launcher-text`, `logo`, `error` (the content of an error beside the button), `footer`.
 */

/** What is shown. `expanded` without a call is the opened panel before a conversation. */
export type AssistantState = 'idle' | 'loading' | 'collapsed' | 'connecting' | 'expanded' | 'transcript' | 'error'

/** What the assistant does: it listens, it thinks, or it speaks and waits to be interrupted. */
export type AgentStatus = 'idle' | 'thinking' | 'waiting'

export interface AssistantProblem {
  /** The definition could not be loaded; the call could not be started or was lost; anything else, such as no token or an old browser. */
  kind: 'initialization' | 'connection' | 'other'
  /** Of the gateway (`assistant_not_found`, `token_expired`, …), of `ConnectError`, or `no_assistant`, `no_token`, `provider_failed`, `timeout`, `unsupported`. */
  code: string
  message: string
}

export interface TokenRequest {
  /** The attribute `assistant-id`. */
  assistant: string
  /** The voice that the user has chosen in the talk view, otherwise the assistant's. */
  voice: string
}

/** Gets a LiveKit access token for a room to which the assistant is dispatched. Called at the start of each conversation. */
export type TokenProvider = (request: TokenRequest) => Promise<string | { url?: string; token: string }>

/**
 * | attribute | value |
 * |---|---|
 * | `assistant-id` | required: the assistant's id |
 * | `should-initialize` | `false`: nothing is requested from the gateway. Turning it off does not end a call. Default: `true` |
 * | `icon-only` | present: the button has no text; errors turn it red |
 * | `presentation` | `widget` (default) or `talk` |
 * | `url` | the gateway, `wss://host:port`. Default: the one that served the script |
 * | `token` | a token for one room. Pages with users set `tokenProvider` instead |
 * | `lang` | the language of the widget's own texts: `en`, `de`, `fr` or `es`, also with a region. Default: the nearest `lang` around the element; if that is another language or missing, the assistant's `language`, then English |
 *
 * Without token and provider, a gateway in development (`serve --dev`) gives one to its own pages.
 */
export class PatchbayAssistant extends HTMLElement {
  tokenProvider: TokenProvider | null
  token: string
  readonly state: AssistantState
  readonly agentStatus: AgentStatus
  /** Starts a conversation. Call it in the handler of a click, so that the browser plays sound. */
  start(): void
  /** Ends the conversation. */
  stop(): void
}

/** Both bubble. */
export interface AssistantEvents {
  'patchbay-state': CustomEvent<{ state: AssistantState; previous: AssistantState; problem: AssistantProblem | null }>
  'patchbay-status': CustomEvent<{ status: AgentStatus; previous: AgentStatus }>
}

declare global {
  interface HTMLElementTagNameMap {
    'patchbay-assistant': PatchbayAssistant
  }
}

/**
 * patchbay.js: a client of the Patchbay gateway for browsers. `README.md` shows how to use it.
 *
 * Times of audio (`…Ts`) are on a track's 48 kHz clock and wrap at 2^32. Durations are in milliseconds unless stated otherwise.
 * Levels are in dBov: 0 is full scale, -127 is silence.
 */

/** The browser's capabilities in calls. Text works in every browser. */
export interface Support {
  /** Whether the browser can send and play audio. */
  audio: boolean
  /** Whether the browser can play audio. Without an Opus encoder, this is true and `audio` is false. */
  listening: boolean
  /** The missing feature if `audio` is false: HTTPS, AudioWorklet, or a WebCodecs decoder or encoder for Opus. */
  code?: 'insecure_page' | 'no_worklet' | 'no_decoder' | 'no_encoder'
  /** A description of the missing feature for people. */
  reason?: string
}

/** Encodes and decodes a little Opus. Does not ask for any permission. */
export function checkSupport(): Promise<Support>

export interface RoomOptions {
  /** Where to play: a `deviceId` of an `audiooutput`. Default: the system's. */
  outputDevice?: string
  /** Play through a local peer connection, for browsers whose echo canceller ignores Web Audio. Adds delay. Default: false. */
  loopback?: boolean
  /**
   * The playout delay that each live track begins with, and that it returns to. While frames arrive steadily, the delay is up to 20 ms less,
   * but not below 40 ms. Default: 60 ms.
   */
  startDelay?: number
  /** Subscribe to all tracks. Default: true. */
  autoSubscribe?: boolean
  /** How often to try again after a lost connection before giving up. Default: 10. */
  reconnectAttempts?: number
}

export type RoomState = 'disconnected' | 'connecting' | 'connected' | 'reconnecting'
export type AgentState = 'initializing' | 'idle' | 'listening' | 'thinking' | 'speaking' | 'error'
/** Why the browser does not play: see the event `audioBlocked`. */
export type AudioBlockage = 'gesture' | 'no_output' | 'unsupported'
/** Why an assistant that was asked for has not joined yet. */
export type WaitReason = 'busy' | 'no_worker'
export type Quality = 'excellent' | 'good' | 'poor' | 'lost'

/** Why a connection could not be established. */
export class ConnectError extends Error {
  /**
   * A code of docs/protocol/errors.md (`token_expired`, `room_full`, …), or `connection_failed` if the gateway cannot be reached or
   * gives no reason, `closed` if it closed the connection before `hello`, `cancelled` after `disconnect()`,
   * `unsupported_url` if the URL is not one, `insecure_url` if it is no `wss://` URL and the page was loaded over HTTPS.
   */
  code: string
  /** The HTTP status of the refusal, or 0. */
  status: number
}

/** Why a request was refused: `code` as in docs/protocol/errors.md, "Requests", or `connection_lost`. */
export class RequestError extends Error {
  code: string | number
  retryable: boolean
}

/** Why the microphone cannot be used. `message` is a sentence for people. */
export class MicrophoneError extends Error {
  /** `unsupported`: see `checkSupport()`; the browser was not asked for the microphone. `cancelled`: the call ended before it was open. */
  code: 'permission_denied' | 'not_found' | 'in_use' | 'unsupported' | 'failed' | 'cancelled'
}

export interface Track {
  sid: string
  alias: number
  participant: string
  name: string
  source: 'microphone' | 'assistant'
  mode: 'live' | 'ahead'
  muted: boolean
  channels: 1 | 2
  epoch: number
}

export interface Participant {
  sid: string
  identity: string
  /** The display name, which may be empty. Text of others: show it with `textContent`, never as HTML. */
  name: string
  kind: 'standard' | 'agent' | 'ingress' | 'egress' | 'sip' | 'connector' | 'bridge'
  metadata: string
  attributes: Record<string, string>
  joinedAt: Date
  /** By sid. */
  tracks: Map<string, Track>
  /** False while the participant's connection is lost and it may resume. */
  connected: boolean
  held: boolean
  /** Muted in its call by others (`call.muted`), independently of its tracks. */
  callMuted: boolean
  /** Only of kind `agent`. */
  agentState?: AgentState
  quality: Quality
  /** Whether a talkspurt is in progress. */
  speaking: boolean
}

export interface MicrophoneOptions {
  deviceId?: string
  /** Default: true, all three. */
  echoCancellation?: boolean
  noiseSuppression?: boolean
  autoGainControl?: boolean
  /** Bits per second. Default: 32000. */
  bitrate?: number
}

export interface PublishOptions {
  /** Shown to others. Default: the track's `label`. */
  name?: string
  /** Bits per second. Default: 32000. */
  bitrate?: number
  /**
   * Whether silence, and what sounds like constant noise, is not sent. Set it to false for music and tones, which the detection of voices does
   * not know. Default: true.
   */
  dtx?: boolean
}

/** A track of the page's that is published. */
export interface LocalTrack {
  readonly name: string
  /** Empty while there is no connection. */
  readonly sid: string
  /** Whether `setMuted(true)` applies, or whether others have muted it. */
  readonly muted: boolean
  setMuted(muted: boolean): Promise<void>
}

export interface LocalParticipant extends Participant {
  readonly microphoneEnabled: boolean
  /** Whether `setMuted(true)` applies, also while the microphone is off, or whether others have muted the track. */
  readonly muted: boolean
  /** Publishes the microphone, or stops it. With other options while it is on, changes the device. Rejects with `MicrophoneError`. */
  setMicrophoneEnabled(enabled: boolean, options?: MicrophoneOptions): Promise<void>
  /**
   * Mutes the published microphone. It stays open, so that unmuting is immediate; `false` also lifts the mute of others. Without a
   * connection, the wish applies from the next one.
   */
  setMuted(muted: boolean): Promise<void>
  /**
   * Publishes audio of the page's own, such as a file, an instrument or another microphone: one channel, at 48 kHz. Without a connection, from the
   * next one. `disconnect()` ends it; the `MediaStreamTrack` itself is never stopped. Rejects with `MicrophoneError`.
   */
  publishTrack(track: MediaStreamTrack, options?: PublishOptions): Promise<LocalTrack>
  /** Does nothing if the track is not published. */
  unpublishTrack(track: MediaStreamTrack): Promise<void>
  /** Puts this participant on hold: it neither sends nor receives audio. */
  setHeld(held: boolean): Promise<void>
  /** Changes name, metadata or attributes, if the token permits it. */
  update(changes: { name?: string; metadata?: string; attributes?: Record<string, string> }): Promise<void>
}

export interface Word {
  text: string
  startTs: number
  endTs: number
  confidence?: number
}

/** The newest revision of a piece of transcript. Text of others: never show it as HTML. */
export interface Segment {
  id: string
  rev: number
  role: 'user' | 'assistant'
  participant: string
  track?: string
  text: string
  final: boolean
  language: string
  startTs?: number
  endTs?: number
  words?: Word[]
  spoken?: 'new' | 'in_progress' | 'completed' | 'interrupted'
  /** How many Unicode scalars of `text` were played; see `splitText`. Only present once the gateway has determined it. */
  spokenChars?: number
}

/** Splits a text after a number of Unicode scalars: what was heard, and the rest. */
export function splitText(text: string, chars: number): [heard: string, rest: string]

/** How far a segment has been heard here, for highlighting. */
export interface PlayoutPosition {
  segment: Segment
  participant: string
  track: string
  /** Heard up to here. */
  playedTs: number
  /** How many Unicode scalars of `segment.text` have begun to be heard. */
  spokenChars: number
  /** Index in `segment.words` of the word being heard, or -1. */
  word: number
}

export interface Stats {
  /** Round-trip time of the last ping; null before the first. */
  rtt: number | null
  /** 95th percentile of the arrival jitter of received frames. */
  jitter: number
  /** How long received live audio waits before it is played, at most over all tracks. */
  playoutDelay: number
  /** Audio received and not yet played, at most over all tracks. */
  buffered: number
  /** Delay of the audio output as the browser reports it. */
  outputLatency: number
  framesReceived: number
  /** Lost on the way, by sequence numbers. */
  framesLost: number
  /** Discarded by clears. */
  framesCleared: number
  /** Arrived too late to be played. */
  framesLate: number
  /** Audio that was skipped to reduce delay. */
  skipped: number
  /** Times that playout ran out of audio within a talkspurt. */
  underruns: number
  framesSent: number
  /** Frames of the microphone and of published tracks that were dropped because the connection was too slow. */
  microphoneDropped: number
  /** Connections lost since `connect`. */
  reconnects: number
  /** `sent`, `dropped` and `late_p99_ms` of the gateway's last `stats` event. */
  gateway: { sent: number; dropped: number; lateP99: number } | null
}

export interface RoomEvents {
  state: (state: RoomState) => void
  participantJoined: (participant: Participant) => void
  participantLeft: (participant: Participant, reason: string) => void
  participantUpdated: (participant: Participant) => void
  trackPublished: (track: Track, participant: Participant) => void
  trackUnpublished: (track: Track, participant: Participant) => void
  /** Everyone who speaks now, loudest first. `level` is linear, 0 to 1. */
  activeSpeakers: (speakers: { identity: string; level: number }[]) => void
  /** A talkspurt of a participant (also the local one) started or ended. */
  talk: (talk: { participant: string; track: string; speaking: boolean; reason?: string }) => void
  /** A new segment or revision. Segments keep their order of first appearance in `room.transcript`. */
  transcript: (segment: Segment) => void
  /** About 40 times a second while a segment of an `ahead` track is heard. */
  playout: (position: PlayoutPosition) => void
  /** An utterance of an `ahead` track started, finished or was cleared, as the gateway reports it. */
  utterance: (utterance: { type: 'started' | 'finished' | 'cleared'; participant?: string; track: string; playedMs?: number; discardedMs?: number; by?: string; reason?: string }) => void
  /** A mark that this client set with `room.request('playout.mark', …)` was resolved. */
  marked: (mark: { track: string; name: string; status: 'played' | 'cleared' | 'dropped' | 'timeout'; playedTs: number | null }) => void
  agentState: (participant: Participant, state: AgentState) => void
  /**
   * An assistant that was asked for does not come yet, because all its workers are busy or none is connected. The last event about it is the one
   * that counts, until it joins; `ended`: nobody comes any more. Treat other reasons as `busy`.
   */
  agentWaiting: (wait: { participant: string; reason: WaitReason | 'ended' }) => void
  /** `payload` is the text, or bytes; `object` is the payload's JSON, if it is JSON. */
  data: (message: { participant: string; topic: string; payload: string | Uint8Array; object?: unknown }) => void
  text: (message: { participant: string; id: string; topic: string; text: string }) => void
  dtmf: (message: { participant: string; digits: string }) => void
  tool: (tool: { participant: string; type: 'started' | 'finished' | 'failed'; id: string; name: string; message?: string; retry?: boolean }) => void
  card: (card: { participant: string; id: string; kind: 'draft' | 'error' | 'info'; title: string; body: string; actions: { id: string; title: string }[] }) => void
  turnMetrics: (metrics: { participant: string; turn: number; endOfTurn?: number; recognition?: number; firstToken?: number; firstAudio?: number; voiceToVoice?: number; interrupted: boolean }) => void
  onboardingFinished: (result: { participant: string; completed: boolean }) => void
  /** The assistant does not fully support the language that the user has chosen; BCP 47 tags. */
  languageLimited: (limit: { participant: string; language: string; spoken: string; understood: string }) => void
  quality: (participant: Participant, quality: Quality) => void
  held: (participant: Participant, held: boolean) => void
  /** A track of the participant, or the participant in its call (`track` is null), was muted or unmuted. */
  muted: (participant: Participant, muted: boolean, track: Track | null) => void
  recording: (recording: { active: boolean; reason?: string }) => void
  /**
   * The browser does not play, and does not pass on the microphone either. `gesture`: it waits for one, so call `startAudio()` in a click
   * handler. `no_output`: it did not start after a gesture, usually because there is no speaker and no headphones; `startAudio()` tries again.
   * `unsupported`: it cannot play, see `checkSupport()`; text and events continue.
   */
  audioBlocked: (reason: AudioBlockage) => void
  /** Audio plays (again). */
  audioStarted: () => void
  /** The microphone was unplugged or taken away by the browser. The track is unpublished. */
  microphoneEnded: (reason: string) => void
  /** A published track of the page's has ended, or the gateway has ended it. It is no longer published. */
  localTrackEnded: (track: MediaStreamTrack, reason: string) => void
  /** The gateway will close this connection at `deadline`. */
  draining: (deadline: Date) => void
  /** The connection ended for good. `code` is the WebSocket close code, or 0; `message` is a sentence for people. */
  disconnected: (end: { reason: string; code: number; message: string; retryable: boolean }) => void
  /** Every control message as received, for an event log. */
  event: (message: { type: string; seq?: number; data: any }) => void
}

export class Room {
  constructor(options?: RoomOptions)

  readonly state: RoomState
  readonly name: string
  readonly sid: string
  readonly metadata: string
  readonly sessionId: string | null
  /** Whether the user's speech and texts may be stored. If so, inform the user. */
  readonly logged: boolean
  readonly recording: boolean
  readonly localParticipant: LocalParticipant
  /** By identity. */
  readonly remoteParticipants: Map<string, Participant>
  /** The assistants that were asked for and wait for a worker, by identity. */
  readonly waitingAgents: Map<string, WaitReason>
  readonly transcript: Segment[]
  /** True while the browser blocks audio. */
  readonly audioBlocked: boolean
  /** Why it does; null while audio plays. */
  readonly audioBlockage: AudioBlockage | null

  /** A listener that throws is reported on the console and does not affect others. Returns the room. */
  on<E extends keyof RoomEvents>(name: E, listener: RoomEvents[E]): this
  off<E extends keyof RoomEvents>(name: E, listener: RoomEvents[E]): this

  /**
   * Joins with a LiveKit access token. `url`: `wss://host:port`; by default, the gateway that served the page.
   * Rejects with `ConnectError`. Lost connections are resumed automatically, in a cluster also at
   * another node.
   */
  connect(url: string | null, token: string): Promise<void>
  /** Leaves at once, and releases microphone and audio. The room object can connect again. */
  disconnect(): void

  /** Call it in a click handler after `audioBlocked`, or before `connect`. Resolves when audio plays. */
  startAudio(): Promise<void>
  setOutputDevice(deviceId: string): Promise<void>
  /**
   * 0 to 1, of everything or of one participant. May be called at any time: it also applies to a participant that joins later or again, and to
   * later calls of this room object.
   */
  setVolume(volume: number, identity?: string): void
  /** The level of the newest frame of a participant, -127 to 0, for meters. Also of the local participant: the loudest of its tracks. */
  level(identity: string): number
  /**
   * Calls back with 20 ms (960 samples, mono, 48 kHz) at a time: of what a participant says as it is played, of the microphone
   * and published tracks for the local identity, or of everything that is played for null. For waveforms and recordings. Returns a function that stops it.
   */
  tap(identity: string | null, listener: (samples: Float32Array) => void): () => void

  sendText(text: string, options?: { topic?: string; to?: string[] }): Promise<{ id: string }>
  /** `object` is sent as JSON; a string or Uint8Array as it is. */
  sendData(topic: string, object: unknown, options?: { to?: string[] }): Promise<void>
  sendDTMF(digits: string): Promise<void>
  performRpc(identity: string, method: string, payload?: string, options?: { timeout?: number }): Promise<string>
  /** Throw `RpcError` in the handler for an error of your own. */
  registerRpcMethod(method: string, handler: (call: { participant: string; payload: string }) => string | Promise<string>): void
  unregisterRpcMethod(method: string): void
  /** Answers a card of an assistant. */
  sendCardAction(card: string, action: string, fields?: Record<string, string>): Promise<void>
  startOnboarding(): Promise<void>
  /** Discards what has not been played of a participant's `ahead` tracks, or of all. For a button "stop speaking". */
  clearPlayout(options?: { identity?: string; reason?: string }): Promise<void>
  /** With `autoSubscribe: false`. */
  setSubscribed(trackSid: string, subscribed: boolean): Promise<void>
  /** Any request of docs/protocol/requests.md; resolves with the reply's data, rejects with `RequestError`. */
  request(type: string, data?: object): Promise<any>
  stats(): Stats
}

export class RpcError extends Error {
  constructor(code: number, message: string)
  code: number
}

/** The microphones and speakers. Their labels are empty until the microphone has been permitted. */
export function listDevices(): Promise<{ microphones: MediaDeviceInfo[]; speakers: MediaDeviceInfo[] }>

/**
 * Returns a user's access token. Called for each connection and before a token expires. `isRefused`: the gateway rejects the last token, or will
 * soon.
 */
export type TokenSource = (request: { isRefused: boolean }) => Promise<string>

export interface CallChannelOptions {
  /** The number of attempts to reconnect before giving up. Default: unlimited. */
  reconnectAttempts?: number
}

export interface CallOptions {
  /** A name that the callees see, at most 256 bytes. */
  callerName?: string
  /** Data for the callees' apps, at most 1,024 bytes. */
  metadata?: string
  /** Requests with the same key start only one call, for example a retry after `connection_lost`. */
  idempotencyKey?: string
}

export type CallStatus = 'started' | 'ringing' | 'answered' | 'completed' | 'cancelled' | 'rejected' | 'busy' | 'timeout' | 'failed'
/**
 * The ending of a call on this device. `unanswered`: nobody answered in time. `answered_elsewhere`, `moved_elsewhere`: another device of the user
 * answered it or took it over. `while_away`: it ended while the channel was disconnected.
 */
export type CallEnding =
  | 'completed' | 'cancelled' | 'rejected' | 'busy' | 'unanswered' | 'failed' | 'answered_elsewhere' | 'moved_elsewhere' | 'while_away'

export interface CallMember {
  /** A user's id, or `assistant:<id>`. It is also the identity in the call's room. */
  party: string
  state: 'invited' | 'joined' | 'left'
  status: CallStatus
  held: boolean
  muted: boolean
  /** The device with which the party called or answered, if known. */
  device: string | null
}

export interface CallInfo {
  /** The identifier, `CA_…`. */
  id: string
  /** The UUID for APIs such as CallKit. It is derived from `id` and never changes. */
  uuid: string
  room: string
  seq: number
  status: CallStatus
  caller: string
  /** The name chosen by the caller. Untrusted text: show it with `textContent`, never as HTML. */
  callerName: string
  metadata: string
  /** The conversation whose members are called, or null. */
  conversation: string | null
  /** The members, the caller first. */
  members: CallMember[]
  startedAt: Date | null
  answeredAt: Date | null
  endedAt: Date | null
}

/** A call on this device, as a snapshot. */
export interface Call extends CallInfo {
  direction: 'incoming' | 'outgoing'
  /** `connecting`: ringing on either side. `held`: by this user, or by all others. */
  state: 'connecting' | 'active' | 'held' | 'ended'
  /** The ending; null until the call has ended. */
  ending: CallEnding | null
  heldByUs: boolean
  heldByOthers: boolean
  mutedByUs: boolean
  /** All members but this user. */
  others: CallMember[]
}

/** The access to a call's room, for `room.connect(url, token)`. If all callees were busy, the call has ended already. */
export interface CallAdmission {
  call: Call
  url: string
  token: string
}

/** An event in the history of a conversation. */
export interface ConversationEvent {
  /** The event's number; null for a user who has not joined the conversation. */
  number: number | null
  type: 'member:invited' | 'member:joined' | 'member:left' | 'text' | 'audio:started' | 'audio:ended'
  /** The user who was invited, joined, left, wrote, or started or stopped talking. */
  user: string
  timestamp: Date
  /** The text; null for other types. Untrusted text: show it with `textContent`, never as HTML. */
  text: string | null
}

export interface CallChannelEvents {
  state: (state: RoomState) => void
  /** A call is ringing. Also sent after a reconnect, for calls that were not known before. */
  incoming: (call: Call) => void
  /** A call appeared or changed. `event` is the event's type (`call.held`, …), or null if a reply or `hello` reported the change first. */
  changed: (call: Call, event: string | null) => void
  /** A call has ended. Sent once for each call that `changed` has reported. */
  ended: (call: Call, ending: CallEnding) => void
  /** Sent after each of these events and after each `hello`: the calls on this device, and those on other devices. */
  calls: (calls: Call[], elsewhere: CallInfo[]) => void
  /** A session of the user was started, has ended, or has a new summary. */
  session: (event: { type: string; session: any }) => void
  /** An event in a conversation of the user, with the conversation's id. */
  conversation: (conversation: string, event: ConversationEvent) => void
  /** The channel has closed for good. `code` is the WebSocket close code, or 0; `message` is a description for people. */
  disconnected: (end: { reason: string; code: number; message: string; retryable: boolean }) => void
  /** Every message, as received. */
  event: (message: { type: string; data: any }) => void
}

/** The channel of a user on this device, on which calls ring. Calls continue when it is closed. */
export class CallChannel {
  constructor(options?: CallChannelOptions)

  readonly state: RoomState
  /** The user's id; null before the first connection. */
  readonly user: string | null
  /** The id of this connection, as used in calls. */
  readonly device: string | null
  /** The calls that are ringing, active or held on this device, oldest first. */
  readonly calls: Call[]
  /** The calls that the user has joined with another device; `join` takes one over. */
  readonly callsElsewhere: CallInfo[]

  on<E extends keyof CallChannelEvents>(name: E, listener: CallChannelEvents[E]): this
  off<E extends keyof CallChannelEvents>(name: E, listener: CallChannelEvents[E]): this

  /**
   * Connects with a user's access token, or with a source of tokens, so that the channel can outlive a token. `url`: `wss://host:port`; by default,
   * the gateway that served the page. Rejects with `ConnectError`, or with the source's error. Lost connections are restored.
   */
  connect(url: string | null, token: string | TokenSource): Promise<void>
  disconnect(): void

  /**
   * Calls others by id, e-mail address, `@handle` or `assistant:<id>`; or all members of a conversation. Rejects with `RequestError`, as all
   * requests do.
   */
  start(to: string[] | { conversation: string }, options?: CallOptions): Promise<CallAdmission>
  /** Answers a call. The first device to answer gets the call; requests of the others fail with `conflict`. */
  answer(call: string): Promise<CallAdmission>
  /** Continues a call on this device. */
  join(call: string): Promise<CallAdmission>
  /** Declines a call for all devices of the user. `busy`: reports the user as busy to the caller. `reason` is shown to the other members. */
  reject(call: string, options?: { busy?: boolean; reason?: string }): Promise<void>
  /** Leaves a joined call, or withdraws an unanswered one. */
  hangUp(call: string): Promise<void>
  /** Holds or resumes a call. While on hold, this user neither sends nor receives audio. */
  hold(call: string, held?: boolean): Promise<void>
  mute(call: string, muted?: boolean): Promise<void>
  /** Invites others, who join the call when they answer. */
  invite(call: string, to: string[]): Promise<void>
  /** Sends any request of docs/protocol/calls.md; resolves with the reply's data. */
  request(type: string, data?: object): Promise<any>
}

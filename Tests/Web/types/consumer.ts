// An application's use of the package. Lines after `@ts-expect-error` must not compile.

import { CallChannel, ConnectError, Room, checkSupport, splitText } from 'patchbay-client'
import type { Call, CallEnding, MicrophoneOptions, Segment, Stats } from 'patchbay-client'
import { PatchbayAssistant } from 'patchbay-client/assistant'
import { PatchbayAudioButton } from 'patchbay-client/audio-button'
import type { AudioButtonState, AudioClip, ClipTokenProvider } from 'patchbay-client/audio-button'
import type { AgentStatus, AssistantProblem, AssistantSettings, AssistantState, TokenProvider, TranscriptItem } from 'patchbay-client/assistant'

// The library.

export async function call(url: string, token: string): Promise<Stats> {
  const support = await checkSupport()
  if (!support.listening || support.code === 'no_encoder') throw new Error(support.reason)
  const room = new Room({ startDelay: 80 })
    .on('transcript', (segment: Segment) => console.log(splitText(segment.text, segment.spokenChars ?? 0)[0]))
    .on('agentState', ({ identity }, state) => console.log(identity, state === 'speaking'))
    .on('disconnected', ({ code, message }) => console.log(code.toFixed(), message))
  try {
    await room.connect(url, token)
  } catch (error) {
    if (error instanceof ConnectError) console.log(error.code, error.status.toFixed())
  }
  const options: MicrophoneOptions = { bitrate: 24_000 }
  await room.localParticipant.setMicrophoneEnabled(true, options)
  const [track] = new MediaStream().getAudioTracks()
  const published = await room.localParticipant.publishTrack(track!, { name: 'radio', dtx: false })
  await published.setMuted(true)
  room.on('localTrackEnded', (ended, reason) => console.log(ended.label, reason.length))
  // @ts-expect-error: there is no such event.
  room.on('transcripts', () => {})
  // @ts-expect-error: the listener gets a segment.
  room.on('transcript', (segment: string) => console.log(segment))
  // @ts-expect-error: there is no such option.
  new Room({ delay: 80 })
  // @ts-expect-error: rooms do not change their names here.
  room.name = 'lobby'
  return room.stats()
}

export async function takeCalls(renew: () => Promise<string>): Promise<void> {
  const channel = new CallChannel({ reconnectAttempts: 3 })
    .on('incoming', async (ringing: Call) => {
      const { url, token } = await channel.answer(ringing.id)
      const room = new Room()
      await room.connect(url, token)
    })
    .on('ended', (ended, how: CallEnding) => console.log(ended.uuid, how, ended.answeredAt?.toISOString()))
  await channel.connect(null, ({ isRefused }) => (isRefused ? renew() : Promise.resolve('token')))
  const { call } = await channel.start(['ann@example.org'], { callerName: 'Bob' })
  await channel.hold(call.id)
  // @ts-expect-error: a list is required.
  await channel.start('ann@example.org')
  // @ts-expect-error: there is no such ending.
  channel.on('ended', (_, how) => how === 'over')
}

// The element.

const tokenProvider: TokenProvider = async ({ assistant, voice, clientContext }) => ({ url: `wss://voice.example/${assistant}`, token: voice + (clientContext ?? '') })

export const assistant = document.createElement('patchbay-assistant')
assistant.tokenProvider = tokenProvider
assistant.addEventListener('patchbay-state', ({ detail }) => {
  const state: AssistantState = detail.state
  const problem: AssistantProblem | null = detail.problem
  console.log(state, detail.previous, problem?.code)
  // @ts-expect-error: there is no such state.
  if (detail.state === 'open') console.log()
})
document.addEventListener('click', ({ clientX }) => console.log(clientX))
document.body.addEventListener('patchbay-status', ({ detail }) => console.log(detail.status === 'thinking'))
// @ts-expect-error: it is a `CustomEvent` of a status.
assistant.addEventListener('patchbay-status', ({ detail }) => console.log(detail.state))
// @ts-expect-error: read only.
assistant.state = 'idle'
// @ts-expect-error: a promise of a token is needed.
assistant.tokenProvider = () => 'token'
assistant.addEventListener('patchbay-transcript', ({ detail }) => {
  const items: readonly TranscriptItem[] = detail.changed
  for (const { isUser, text, timestamp } of items) console.log(isUser ? 'user' : 'assistant', text, timestamp.toISOString())
  // @ts-expect-error: read only.
  detail.transcript.push(items[0]!)
})
assistant.addEventListener('patchbay-levels', ({ detail }) => console.log(Math.max(detail.user, detail.agent)))
assistant.addEventListener('patchbay-muted', ({ detail }) => console.log(detail.muted === assistant.muted))
assistant.addEventListener('patchbay-settings', ({ detail }) => {
  const settings: AssistantSettings | null = detail.settings
  if (settings?.visualizer === 'mystic') console.log(settings.theme, settings.quickCommands.length)
  // @ts-expect-error: there is no such colour.
  if (settings?.visualizer === 'pink') console.log()
})
assistant.context = { screen: 'orders', order: 7 }
assistant.context = 'orders'
console.log(assistant.context.length, assistant.levels.agent.toFixed(), assistant.settings?.name, assistant.transcript[0]?.text)
// @ts-expect-error: text, an object, or null.
assistant.context = 7
const status: AgentStatus = assistant.agentStatus
if (status === 'initializing' || status === 'error') console.log(status)
export const isSent: Promise<boolean> = assistant.sendText('Hello')
export const isMuted: Promise<boolean> = assistant.toggleMute()
// @ts-expect-error: a text is needed.
assistant.sendText()
assistant.end()
assistant.stop()
document.querySelector('patchbay-assistant')?.start()
console.log(assistant instanceof PatchbayAssistant)

// The audio button.

const clipTokens: ClipTokenProvider = async ({ rejected }) => (rejected ? 'another token' : 'a token')
PatchbayAudioButton.tokenProvider = clipTokens
const speaker = document.createElement('patchbay-audio-button')
speaker.text = 'Hello'
speaker.addEventListener('play', async ({ detail }) => {
  const clip: AudioClip = detail.clip
  const blob: Blob = await clip.blob()
  console.log(blob.size, clip.words?.[0]?.startMs.toFixed(), clip.createdAt?.getTime(), clip.voiceName.length)
  // @ts-expect-error: read only.
  clip.text = ''
})
speaker.addEventListener('patchbay-audio-state', ({ detail }) => console.log(detail.state === 'failed' && detail.problem?.code))
document.addEventListener('patchbay-audio-state', ({ detail }) => console.log(detail.clip?.durationMs.toFixed()))
speaker.addEventListener('click', ({ clientX }) => console.log(clientX))
export const speakerState: AudioButtonState = speaker.state
// @ts-expect-error: a promise of a token is required.
speaker.tokenProvider = () => 'a token'
// @ts-expect-error: read only.
speaker.progress = 5

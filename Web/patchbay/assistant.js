// Messages between an assistant and its user (docs/protocol/assistants.md): data messages with a topic of their own.

export const ASSISTANT_TOPIC = 'patchbay.assistant'

const isText = (value, limit) => typeof value === 'string' && value.length <= limit
const isId = (value) => isText(value, 128) && value !== ''

/**
 * Reads a data message; returns the event for listeners, or null if it is anything else.
 *
 * @param {{ topic: string, participant: string, object?: any }} message
 */
export function readAssistantMessage({ topic, participant, object }) {
  if (topic !== ASSISTANT_TOPIC || typeof object?.data !== 'object' || object.data === null) return null
  // The type is a foreign participant's: `constructor` is no reader.
  const value = Object.hasOwn(readers, object.type) ? readers[object.type](object.data) : null
  return value ? { name: value.event, value: { ...value.fields, participant } } : null
}

const readers = {
  'tool.started': (data) => readTool('started', data),
  'tool.finished': (data) => readTool('finished', data),
  'tool.failed': (data) => isText(data.message, 1024) && readTool('failed', data, { message: data.message, retry: data.retry === true }),

  'card': ({ id, kind, title, body, actions }) => {
    const isCard = isId(id) && ['draft', 'error', 'info'].includes(kind) && isText(title, 256) && isText(body, 32768) && Array.isArray(actions)
    if (!isCard || actions.length > 8 || !actions.every((action) => isId(action?.id) && isText(action.title, 256))) return null
    return { event: 'card', fields: { id, kind, title, body, actions: actions.map(({ id, title }) => ({ id, title })) } }
  },

  'turn.metrics': (data) => {
    if (typeof data.turn !== 'number') return null
    const fields = { turn: data.turn, interrupted: data.interrupted === true }
    for (const [name, key] of Object.entries(STAGES)) if (typeof data[key] === 'number') fields[name] = data[key]
    return { event: 'turnMetrics', fields }
  },

  'language.limited': ({ language, spoken, understood }) => {
    const isLimit = [language, spoken, understood].every((tag) => isText(tag, 35) && tag !== '')
    return isLimit ? { event: 'languageLimited', fields: { language, spoken, understood } } : null
  },

  'onboarding.finished': ({ completed }) => ({ event: 'onboardingFinished', fields: { completed: completed === true } }),
}

const STAGES = {
  endOfTurn: 'end_of_turn_ms', recognition: 'recognition_ms', firstToken: 'first_token_ms', firstAudio: 'first_audio_ms',
  voiceToVoice: 'voice_to_voice_ms',
}

function readTool(type, { id, name }, more = {}) {
  return isId(id) && isId(name) ? { event: 'tool', fields: { type, id, name, ...more } } : null
}

// What the widget remembers in this browser: the voice, and which assistants' onboarding was played. Works without storage, for one page.

const VOICE = 'patchbay.assistant.voice'
const onboarding = (assistant) => `patchbay.assistant.onboarding.${assistant}`

// What could not be stored.
const fallback = new Map()

export const storage = {
  get voice() {
    return read(VOICE) ?? ''
  },
  set voice(id) {
    write(VOICE, id)
  },
  hasSeenOnboarding: (assistant) => read(onboarding(assistant)) !== null,
  rememberOnboarding: (assistant) => write(onboarding(assistant), new Date().toISOString()),
}

function read(key) {
  try {
    return localStorage.getItem(key) ?? fallback.get(key) ?? null
  } catch {
    return fallback.get(key) ?? null
  }
}

function write(key, value) {
  fallback.set(key, value)
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage is off or full.
  }
}

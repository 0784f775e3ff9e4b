// What the widget remembers in this browser: the voice, and which assistants' onboarding was played. Works without storage, for one page.

const VOICE = 'patchbay.assistant.voice'
// Accounts share a browser: the introduction is remembered for each.
const onboarding = (assistant, user) => `patchbay.assistant.onboarding.${assistant}${user && `.${user}`}`

// What could not be stored.
const fallback = new Map()

export const storage = {
  get voice() {
    return read(VOICE) ?? ''
  },
  set voice(id) {
    write(VOICE, id)
  },
  hasSeenOnboarding: (assistant, user = '') => read(onboarding(assistant, user)) !== null,
  rememberOnboarding: (assistant, user = '') => write(onboarding(assistant, user), new Date().toISOString()),
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

// An assistant as `GET /v1/assistants/{id}` describes it, reduced to what the widget shows. Anything unexpected is left out.

export const colors = ['verdant', 'twilight', 'bloom', 'mystic', 'flare', 'glacier', 'sky']
export const themes = ['light', 'dark', 'auto']
const presets = ['bars', 'wave']

export const defaultVoices = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'].map((id) => ({ id, name: id[0].toUpperCase() + id.slice(1) }))

export function readDefinition(content) {
  const widget = typeof content?.widget === 'object' && content.widget !== null ? content.widget : {}
  return {
    id: text(content?.id),
    name: text(content?.name),
    voice: text(content?.voice),
    language: text(content?.language),
    quickCommands: list(content?.quick_commands).slice(0, 32),
    hasOnboarding: list(content?.onboarding).length > 0,
    startText: text(widget.start_text),
    thinkingText: text(widget.thinking_text),
    interruptText: text(widget.interrupt_text),
    logo: link(widget.logo_url),
    history: link(widget.history_url),
    feedback: link(widget.feedback_url),
    theme: choice(widget.theme, themes, 'auto'),
    // Empty: that of the presentation.
    color: choice(widget.visualizer_color, colors, ''),
    preset: choice(widget.visualizer_preset, presets, 'bars'),
    startState: choice(widget.start_state, ['collapsed', 'expanded'], 'collapsed'),
  }
}

/** What the element's attributes `theme` and `visualizer` say, if they are values of the definition; otherwise what the definition says. */
export function appearance(definition, attributes, isTalk = false) {
  return {
    theme: choice(attributes.theme?.trim().toLowerCase(), themes, definition?.theme ?? 'auto'),
    color: choice(attributes.visualizer?.trim().toLowerCase(), colors, definition?.color || (isTalk ? 'sky' : 'verdant')),
  }
}

/** `[{id, name}]` of `GET /v1/voices`, or the usual ones. */
export function readVoices(voices) {
  const known = (Array.isArray(voices) ? voices : []).filter((voice) => text(voice?.id)).map(({ id, name }) => ({ id, name: text(name) || id }))
  return known.length ? known : defaultVoices
}

const text = (value) => (typeof value === 'string' ? value : '')
const list = (value) => (Array.isArray(value) ? value.filter((item) => text(item)) : [])
const choice = (value, choices, other) => (choices.includes(value) ? value : other)

/** Only web addresses: a link with another scheme could run a script. */
function link(value) {
  try {
    const { protocol, href } = new URL(text(value))
    return protocol === 'https:' || protocol === 'http:' ? href : ''
  } catch {
    return ''
  }
}

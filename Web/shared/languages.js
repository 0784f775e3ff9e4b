// The languages of the widget's and the playground's own texts.

const LANGUAGES = ['de', 'en', 'es', 'fr']

/** The language of a tag, without its region. */
export const primary = (tag) => tag.split('-')[0]

/** The tag in its usual spelling, or undefined if it is none, or one without texts. */
export function supported(tag) {
  try {
    const [canonical] = Intl.getCanonicalLocales(tag || [])
    return canonical && LANGUAGES.includes(primary(canonical)) ? canonical : undefined
  } catch {
    return undefined
  }
}

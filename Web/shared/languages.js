// The languages of the widget's and the playground's texts.

const LANGUAGES = ['de', 'en', 'es', 'fr']

/** Returns the language of a tag, without its region. */
export const primary = (tag) => tag.split('-')[0]

/** Returns the canonical tag; undefined if the tag is invalid or has no texts. */
export function supported(tag) {
  try {
    const [canonical] = Intl.getCanonicalLocales(tag || [])
    return canonical && LANGUAGES.includes(primary(canonical)) ? canonical : undefined
  } catch {
    return undefined
  }
}

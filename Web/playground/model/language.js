// The language of the playground: the first of the browser's languages that has texts, otherwise English.

import { primary, supported } from '../../shared/languages.js'
import { de } from '../texts/de.js'
import { en } from '../texts/en.js'
import { es } from '../texts/es.js'
import { fr } from '../texts/fr.js'

export const tables = { de, en, es, fr }

/** Chooses from language tags, such as `navigator.languages`. Returns the canonical tag. */
export const chooseLanguage = (preferred) => preferred.map(supported).find(Boolean) ?? 'en'

export const languageTag = chooseLanguage(globalThis.navigator?.languages ?? [])

export const language = primary(languageTag)

export const texts = tables[language]

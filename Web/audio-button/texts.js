// The button's texts. All tables have the same keys; functions take the values to insert. `message` is the gateway's, and may be empty.

const en = {
  actions: { checking: 'Checking…', idle: 'Generate', generating: 'Cancel', completed: 'Play', failed: 'Retry' },
  /** The button's accessible name, which begins with its visible text. */
  named: (action, text) => `${action}: ${text}`,
  progress: 'Generating audio',
  failed: 'Failed',
  announced: { generating: 'Generating audio', completed: 'The audio is ready', idle: 'Cancelled' },
  problems: {
    connection_failed: 'The gateway cannot be reached.',
    no_text: 'There is no text to speak.',
    no_token: 'This page has not signed you in.',
    unauthorized: 'You are not signed in any more.',
    not_found: 'The audio is no longer there.',
    unknown_provider: 'Provider not configured',
    invalid_value: 'This text cannot be spoken with this voice.',
    speech_unavailable: 'This gateway cannot generate audio.',
    speech_busy: 'Too many texts are waiting. Try again later.',
    too_many_clips: 'Too many of your texts are waiting. Try again later.',
  },
  other: (message) => message || 'The audio could not be generated.',
}

const de = {
  actions: { checking: 'Wird geprüft…', idle: 'Erzeugen', generating: 'Abbrechen', completed: 'Abspielen', failed: 'Wiederholen' },
  named: (action, text) => `${action}: ${text}`,
  progress: 'Audio wird erzeugt',
  failed: 'Fehlgeschlagen',
  announced: { generating: 'Audio wird erzeugt', completed: 'Das Audio ist bereit', idle: 'Abgebrochen' },
  problems: {
    connection_failed: 'Das Gateway ist nicht erreichbar.',
    no_text: 'Es gibt keinen Text zu sprechen.',
    no_token: 'Diese Seite hat Sie nicht angemeldet.',
    unauthorized: 'Sie sind nicht mehr angemeldet.',
    not_found: 'Das Audio ist nicht mehr vorhanden.',
    unknown_provider: 'Anbieter nicht eingerichtet',
    invalid_value: 'Dieser Text kann mit dieser Stimme nicht gesprochen werden.',
    speech_unavailable: 'Dieses Gateway kann kein Audio erzeugen.',
    speech_busy: 'Zu viele Texte warten. Versuchen Sie es später noch einmal.',
    too_many_clips: 'Zu viele Ihrer Texte warten. Versuchen Sie es später noch einmal.',
  },
  other: (message) => message || 'Das Audio konnte nicht erzeugt werden.',
}

const fr = {
  actions: { checking: 'Vérification…', idle: 'Générer', generating: 'Annuler', completed: 'Écouter', failed: 'Réessayer' },
  named: (action, text) => `${action} : ${text}`,
  progress: 'Génération de l’audio',
  failed: 'Échec',
  announced: { generating: 'Génération de l’audio', completed: 'L’audio est prêt', idle: 'Annulé' },
  problems: {
    connection_failed: 'La passerelle est injoignable.',
    no_text: 'Il n’y a pas de texte à lire.',
    no_token: 'Cette page ne vous a pas connecté.',
    unauthorized: 'Vous n’êtes plus connecté.',
    not_found: 'L’audio n’existe plus.',
    unknown_provider: 'Fournisseur non configuré',
    invalid_value: 'Ce texte ne peut pas être lu avec cette voix.',
    speech_unavailable: 'Cette passerelle ne peut pas générer d’audio.',
    speech_busy: 'Trop de textes sont en attente. Réessayez plus tard.',
    too_many_clips: 'Trop de vos textes sont en attente. Réessayez plus tard.',
  },
  other: (message) => message || 'L’audio n’a pas pu être généré.',
}

const es = {
  actions: { checking: 'Comprobando…', idle: 'Generar', generating: 'Cancelar', completed: 'Reproducir', failed: 'Reintentar' },
  named: (action, text) => `${action}: ${text}`,
  progress: 'Generando el audio',
  failed: 'Error',
  announced: { generating: 'Generando el audio', completed: 'El audio está listo', idle: 'Cancelado' },
  problems: {
    connection_failed: 'No se puede acceder a la pasarela.',
    no_text: 'No hay texto que leer.',
    no_token: 'Esta página no ha iniciado su sesión.',
    unauthorized: 'Su sesión ya no está iniciada.',
    not_found: 'El audio ya no existe.',
    unknown_provider: 'Proveedor no configurado',
    invalid_value: 'Este texto no se puede leer con esta voz.',
    speech_unavailable: 'Esta pasarela no puede generar audio.',
    speech_busy: 'Hay demasiados textos en espera. Inténtelo más tarde.',
    too_many_clips: 'Demasiados de sus textos están en espera. Inténtelo más tarde.',
  },
  other: (message) => message || 'No se pudo generar el audio.',
}

export const tables = { de, en, es, fr }

/** Returns `{title, text}` for a problem. */
export function describe({ code, message }, texts) {
  const known = code.startsWith('token_') || code === 'invalid_token' ? 'unauthorized' : code
  return { title: texts.failed, text: Object.hasOwn(texts.problems, known) ? texts.problems[known] : texts.other(message) }
}

// Texts about consent: the question whether conversations are kept, the setting, and the notice in calls.

export const consentTexts = {
  en: {
    title: 'May your assistant calls be kept?',
    text: 'Your assistant calls can be recorded and summarized for your benefit. This is up to you:',
    points: [
      'If you allow it, the gateway keeps the text of what you and the assistant say, a summary with tasks and keywords, and, where it records, the sound.',
      'You find them under “Sessions”, and no other user sees them. They are deleted after 30 days, unless you choose another time or delete them earlier.',
      'If you do not, you talk as well as otherwise, and nothing of what is said is kept.',
    ],
    later: 'You can change your answer in the settings at any time. It applies to calls that begin afterwards.',
    allow: 'Allow logging & summaries',
    deny: 'Don’t allow (voice-only, no history)',
    logged: 'Assistant call may be recorded for your summaries.',
  },
  de: {
    title: 'Dürfen Ihre Gespräche aufbewahrt werden?',
    text: 'Ihre Gespräche mit Assistenten können zu Ihrem Nutzen aufgezeichnet und zusammengefasst werden. Sie entscheiden:',
    points: [
      'Wenn Sie es erlauben, bewahrt das Gateway den Text des Gesprächs auf, eine Zusammenfassung mit Aufgaben und Stichwörtern und, wo es aufzeichnet, den Ton.',
      'Sie finden das unter „Sessions“, und kein anderer Nutzer sieht es. Es wird nach 30 Tagen gelöscht, außer Sie wählen eine andere Frist oder löschen es früher.',
      'Wenn nicht, sprechen Sie ebenso gut, und nichts vom Gesagten wird aufbewahrt.',
    ],
    later: 'Sie können Ihre Antwort jederzeit in den Einstellungen ändern. Sie gilt für Gespräche, die danach beginnen.',
    allow: 'Aufzeichnung und Zusammenfassungen erlauben',
    deny: 'Nicht erlauben (nur Sprache, kein Verlauf)',
    logged: 'Dieses Gespräch kann für Ihre Zusammenfassungen aufgezeichnet werden.',
  },
  fr: {
    title: 'Vos appels peuvent-ils être conservés ?',
    text: 'Vos appels avec l’assistant peuvent être enregistrés et résumés à votre profit. C’est à vous de décider :',
    points: [
      'Si vous l’autorisez, la passerelle conserve le texte de la conversation, un résumé avec des tâches et des mots-clés et, là où elle enregistre, le son.',
      'Vous les trouvez sous « Sessions », et aucun autre utilisateur ne les voit. Ils sont supprimés après 30 jours, sauf si vous choisissez une autre durée ou les supprimez plus tôt.',
      'Sinon, vous parlez tout aussi bien, et rien de ce qui est dit n’est conservé.',
    ],
    later: 'Vous pouvez changer de réponse à tout moment dans les réglages. Elle vaut pour les appels qui commencent ensuite.',
    allow: 'Autoriser l’historique et les résumés',
    deny: 'Ne pas autoriser (voix seule, sans historique)',
    logged: 'Cet appel peut être enregistré pour vos résumés.',
  },
  es: {
    title: '¿Se pueden conservar sus llamadas?',
    text: 'Sus llamadas con el asistente pueden grabarse y resumirse para su provecho. Usted decide:',
    points: [
      'Si lo permite, la pasarela conserva el texto de la conversación, un resumen con tareas y palabras clave y, donde graba, el sonido.',
      'Los encuentra en «Sessions», y ningún otro usuario los ve. Se borran a los 30 días, salvo que elija otro plazo o los borre antes.',
      'Si no, habla igual de bien y no se conserva nada de lo que se dice.',
    ],
    later: 'Puede cambiar su respuesta cuando quiera en los ajustes. Vale para las llamadas que empiecen después.',
    allow: 'Permitir historial y resúmenes',
    deny: 'No permitir (solo voz, sin historial)',
    logged: 'Esta llamada puede grabarse para sus resúmenes.',
  },
}

/** Whether the user has not answered the question yet. `user`: the response of `GET /v1/users/me`. */
export const needsConsent = (user) => user.settings?.has_seen_onboarding !== true

/** Returns the body of `PATCH /v1/users/me` for an answer. */
export const consentChange = (isAllowed) => ({ settings: { has_seen_onboarding: true, logging_enabled: isAllowed } })

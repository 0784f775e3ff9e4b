// The playground's texts in German. `en.js` documents the keys.

export const de = {
  skip: 'Zum Inhalt springen',
  pages: { name: 'Seiten', playground: 'Playground', sessions: 'Sessions', calls: 'Anrufe', dashboard: 'Dashboard' },
  you: 'Sie',
  assistant: 'Assistent',

  room: { disconnected: 'Nicht verbunden', connecting: 'Verbindet', connected: 'Verbunden', reconnecting: 'Verbindet neu', ended: 'Anruf beendet' },
  agent: {
    initializing: 'Startet', idle: 'Bereit', listening: 'Hört zu', thinking: 'Denkt nach', speaking: 'Spricht', error: 'Fehler',
    reconnecting: 'Verbindet neu', gone: 'Nicht im Anruf',
  },
  status: {
    agent: (state) => `Assistent: ${state}`, held: 'Gehalten', recorded: 'Wird vom Gateway aufgezeichnet', duration: 'Dauer des Anrufs',
    microphoneOn: 'Mikrofon an', muted: 'Mikrofon stumm', unmuted: 'Mikrofon nicht mehr stumm', resumed: 'Anruf fortgesetzt',
    recordingStarted: 'Aufnahme auf diesem Gerät gestartet', recordingReady: 'Aufnahme bereit zum Herunterladen',
  },

  start: {
    title: 'Einen Assistenten anrufen', with: 'Verbinden mit', development: 'Ohne Login', account: 'Konto', token: 'Token',
    email: 'E-Mail-Adresse', password: 'Passwort', logIn: 'Anmelden', loggingIn: 'Wird angemeldet …', loggedInAs: 'Angemeldet als ', logOut: 'Abmelden',
    accessToken: 'Zugangstoken', tokenFrom: 'Von ', tokenKept: '. Es bleibt nur in dieser Seite.',
    assistant: 'Assistent', notConnected: (name) => `${name} (nicht verbunden)`, other: 'Andere Kennung …', otherId: 'Kennung des Assistenten',
    missing: (id) => `Es gibt keinen Assistenten „${id}“.`, idHint: 'Die Kennung seiner Definition.',
    voice: 'Stimme', ownVoice: 'Die des Assistenten', savedVoice: 'In Ihren Einstellungen gespeichert.', tokenChoosesVoice: 'Das Token bestimmt sie.',
    currentVoice: (voice) => `Jetzt: ${voice}.`, call: 'Anrufen', callForm: 'Anruf beginnen', back: 'Zurück',
    asksForMicrophone: 'Ihr Browser fragt nach dem Mikrofon.', tokenDecides: 'Das Token bestimmt Raum und Assistent.', listenAndType: 'Sie hören zu und schreiben.', readAndType: 'Sie lesen und schreiben.',
    pages: 'Neu hier? Legen Sie auf der Seite „Sessions“ ein Konto an.',
  },

  devices: {
    title: 'Mikrofon und Lautsprecher', microphone: 'Mikrofon', speaker: 'Lautsprecher', systemDefault: 'Standard des Systems', numbered: (number) => `Gerät ${number}`,
    noChoice: 'Dieser Browser spielt nur auf der Ausgabe des Systems.', testMicrophone: 'Mikrofon testen', stopTest: 'Test beenden', testSound: 'Testton',
    waiting: 'Wählen Sie „Zulassen“, wo Ihr Browser nach dem Mikrofon fragt.', speak: 'Sagen Sie etwas: Der Balken folgt Ihrer Stimme.', level: 'Pegel des Mikrofons',
    playing: 'Sie sollten drei Töne hören.', soundFailed: 'Es konnte kein Ton gespielt werden. Wählen Sie einen anderen Lautsprecher.',
    record: 'Auf diesem Gerät aufnehmen', stopRecording: 'Aufnahme beenden', download: (size) => `WAV herunterladen, ${size} MB`,
    recording: 'Nimmt auf. Linker Kanal: Sie; rechter Kanal: was Sie hören.', cut: 'Nach 30 Minuten beendet. ',
    recorded: 'Die Datei ist nur in dieser Seite: Laden Sie sie herunter, bevor Sie die Seite schließen oder neu anrufen.',
    ask: 'Bleibt in dieser Seite und wird nirgendwohin gesendet. Fragen Sie die andere Seite, bevor Sie aufnehmen.',
  },

  levels: { silent: 'still', faint: 'sehr leise', quiet: 'leise', good: 'gut', loud: 'zu laut' },

  call: {
    name: 'Anruf', controls: 'Bedienung des Anrufs', mute: 'Stumm', waiting: 'Wartet …', turnOnMicrophone: 'Mikrofon an', hold: 'Halten', interrupt: 'Unterbrechen', leave: 'Auflegen',
    message: 'Nachricht an den Assistenten', messageHint: 'Schreiben statt sprechen', send: 'Senden', problems: 'Probleme', details: 'Einzelheiten des Anrufs',
    onHold: 'gehalten', microphoneOff: 'Mikrofon aus', muted: 'stumm', level: (name) => `Pegel: ${name}`,
    toolStarted: (name) => `Werkzeug ${name} gestartet`, toolFinished: (name) => `Werkzeug ${name} fertig`, toolFailed: (name, message) => `Werkzeug ${name} gescheitert: ${message}`,
  },

  transcript: {
    name: 'Mitschrift', empty: 'Hier erscheint, was gesagt wird.', typed: 'Geschrieben', message: 'Nachricht', unheard: '(nicht gehört)',
    removed: (count) => `${count} ältere ${count === 1 ? 'Zeile wurde' : 'Zeilen wurden'} entfernt, damit die Seite schnell bleibt.`,
  },

  panels: { turns: 'Antwortzeiten', network: 'Netz', events: 'Ereignisse', devices: 'Geräte und Aufnahme' },

  turns: {
    name: 'Antwortzeiten der letzten Wechsel', empty: 'Wie schnell der Assistent antwortet, erscheint hier nach seiner ersten Antwort.',
    turn: 'Wechsel', endOfTurn: 'Redeende', recognition: 'Erkennung', firstToken: 'Erstes Token', firstAudio: 'Erster Ton', total: 'Gesamt',
    interrupted: (turn) => `${turn}, unterbrochen`,
    hint: 'In Millisekunden. Gesamt ist, worauf Sie warten: vom Ende Ihrer Worte bis zum ersten Ton der Antwort.',
    trend: {
      steady: (average) => `Im Mittel ${average}, gleichbleibend.`, faster: (average, percent) => `Im Mittel ${average}, zuletzt ${percent} % schneller.`,
      slower: (average, percent) => `Im Mittel ${average}, zuletzt ${percent} % langsamer.`, few: (average) => `Im Mittel ${average}.`,
    },
  },

  network: {
    rtt: 'Umlaufzeit', jitter: 'Jitter', delay: 'Abspielverzögerung', drops: 'Verlorene Frames', received: 'Frames empfangen', sent: 'Frames gesendet',
    cleared: 'Frames verworfen', underruns: 'Aussetzer', buffered: 'Gepuffert', latency: 'Ausgabelatenz', reconnects: 'Neue Verbindungen',
  },

  events: {
    filter: 'Filter', filterHint: 'Alle Wörter müssen vorkommen; ein Minus schließt eines aus.', clear: 'Leeren', name: 'Ereignisse, neueste zuerst', data: (name) => `Daten von ${name}`,
    paused: (count) => `Angehalten, solange ein Ereignis den Fokus hat, ${count} neue`, all: (count) => `${count} Ereignisse`,
    some: (shown, count) => `${shown} von ${count} Ereignissen`, older: (count) => `${count} ältere nicht gezeigt`, removed: (count) => `${count} entfernt`,
  },

  after: {
    title: 'Nach dem Anruf', facts: (duration, lines) => `Dauer ${duration}, ${lines} ${lines === 1 ? 'Zeile' : 'Zeilen'}.`,
    response: (average) => `Der Assistent antwortete im Mittel nach ${average}.`, summary: 'Zusammenfassung', toDo: 'Zu tun', pending: 'Die Zusammenfassung wird gemacht …',
    failed: 'Die Zusammenfassung konnte nicht gemacht werden. Die Mitschrift ist vollständig.', slow: 'Die Zusammenfassung dauert länger als sonst. Sie erscheint bei der gespeicherten Session.',
    notLogged: 'Dieser Anruf wurde nicht aufbewahrt, also bleibt nichts davon. Das können Sie in den Einstellungen ändern.', settings: 'Einstellungen öffnen',
    noAccount: 'Dieser Anruf gehört zu keinem Konto, also bleibt nichts davon.', open: 'Gespeicherte Session öffnen', copy: 'Mitschrift kopieren',
    copyAll: 'Zusammenfassung und Mitschrift kopieren', copied: 'Kopiert', copyFailed: 'Der Browser erlaubt das Kopieren nicht. Markieren Sie stattdessen den Text.',
  },

  actions: {
    retryMicrophone: 'Mikrofon noch einmal versuchen', startAudio: 'Ton einschalten', callAgain: 'Wieder anrufen', backToStart: 'Zum Anfang', leave: 'Auflegen',
    giveUp: 'Aufgeben', takeOver: 'Hier übernehmen',
  },

  countdown: {
    kept: (seconds) => `Das Gateway hält Ihren Platz noch ${seconds}\u00a0s`, over: 'Ihr Platz ist wahrscheinlich vergeben. Der Beitritt wird weiter versucht.',
  },

  problems: {
    support: {
      no_encoder: ['Dieser Browser kann Ihre Stimme nicht senden', ({ message }) => message],
      default: ['Dieser Browser hat in Anrufen keinen Ton', ({ message }) => message],
    },
    audio: {
      gesture: ['Der Ton ist aus', 'Der Browser spielt weder Ton noch gibt er Ihr Mikrofon weiter, bevor Sie auf dieser Seite klicken oder eine Taste drücken.'],
      no_output: ['Es gibt keine Tonausgabe', 'Sie hören den Assistenten nicht, und er hört Sie nicht: Dieser Browser braucht für beides einen Lautsprecher oder Kopfhörer. Schließen Sie einen an und schalten Sie den Ton ein. Bis dahin können Sie schreiben.'],
    },
    microphone: {
      waiting: ['Wartet auf das Mikrofon', 'Ihr Browser fragt, ob diese Seite das Mikrofon benutzen darf. Wählen Sie „Zulassen“. Bis dahin können Sie schreiben.'],
      permission_denied: ['Das Mikrofon ist gesperrt', 'Diese Seite darf es nicht benutzen. Öffnen Sie die Einstellungen der Website neben der Adresse, erlauben Sie das Mikrofon, und versuchen Sie es noch einmal. Bis dahin können Sie schreiben.'],
      not_found: ['Kein Mikrofon gefunden', 'Schließen Sie ein Mikrofon oder Headset an, und versuchen Sie es noch einmal. Bis dahin können Sie schreiben.'],
      in_use: ['Das Mikrofon ist belegt', 'Ein anderes Programm benutzt es. Schließen Sie es, oder wählen Sie unter Geräte ein anderes Mikrofon, und versuchen Sie es noch einmal.'],
      ended: ['Das Mikrofon wurde getrennt', 'Der Assistent hört Sie nicht mehr. Schließen Sie es wieder an, oder wählen Sie unter Geräte ein anderes.'],
      default: ['Das Mikrofon kann nicht benutzt werden', ({ message }) => `${message ?? 'Der Browser gab keinen Grund an.'} Sie können stattdessen schreiben.`],
    },
    connection: {
      reconnecting: ['Verbindung verloren, verbindet neu', 'Das Gateway oder das Netz ist nicht erreichbar. Kommt die Verbindung rechtzeitig zurück, geht es weiter, wo es aufhörte; sonst treten Sie als neuer Teilnehmer bei.'],
      draining: ['Das Gateway fährt herunter', ({ time }) => `Es schließt diesen Anruf spätestens um ${time}. Kommen Sie zum Ende, oder rufen Sie dann wieder an.`],
    },
    stall: {
      connecting: ['Das Gateway antwortet noch nicht', 'Es ist vielleicht überlastet, oder das Netz ist langsam. Die Seite versucht es weiter; Sie können auch aufgeben und später anrufen.'],
      call: ['Das Gateway antwortet nicht', 'Es ist vielleicht überlastet, oder das Netz ist unterbrochen. Was Sie sagen, kommt vielleicht spät an. Dauert es an, verbindet sich die Seite von selbst neu.'],
    },
    agent: {
      missing: ['Kein Assistent ist beigetreten', ({ hasDevelopment }) => hasDevelopment
        ? 'Es läuft kein Assistent. Starten Sie einen mit „patchbay agent dev“, und rufen Sie wieder an.'
        : 'Prüfen Sie die Kennung des Assistenten, ob ein Agent mit dieser Kennung mit dem Gateway verbunden ist, und ob eine Regel oder das Token ihn in diesen Raum schickt.'],
      busy: ['Alle Assistenten sind belegt', 'Bleiben Sie im Anruf: Einer kommt, sobald er frei ist. Für mehr Anrufe zugleich starten Sie einen weiteren Agenten.'],
      unstaffed: ['Kein Assistent ist verbunden', 'Starten Sie einen mit „patchbay agent start“: Er tritt diesem Anruf von selbst bei. Oder legen Sie auf, und rufen Sie später wieder an.'],
      lost: ['Der Assistent ist weg', 'Sein Prozess ist beendet oder hat die Verbindung verloren. Warten Sie einen Moment, bis er zurückkommt oder ein anderer übernimmt, oder rufen Sie wieder an.'],
    },
    request: { default: ['Die Anfrage wurde abgelehnt', ({ message }) => message] },
    device: { default: ['Das Gerät kann nicht benutzt werden', ({ message }) => `${message} Wählen Sie unter Geräte ein anderes.`] },
    consent: { default: ['Ihre Antwort wurde nicht gespeichert', ({ message }) => `${message || 'Das Gateway gab keinen Grund an.'} Der Anruf wurde nicht begonnen. Versuchen Sie es noch einmal.`] },
    start: {
      connection_failed: ['Das Gateway ist nicht erreichbar', 'Prüfen Sie, ob es läuft und ob dieses Gerät online ist, und versuchen Sie es noch einmal.'],
      token_expired: ['Das Token ist abgelaufen', 'Holen Sie ein neues und fügen Sie es ein, oder melden Sie sich neu an.'],
      bad_signature: ['Das Token gilt hier nicht', 'Seine Signatur passt zu keinem Schlüssel dieses Gateways. Prüfen Sie, für welches Gateway und welchen Schlüssel es ist.'],
      malformed_token: ['Das ist kein Token', 'Fügen Sie den ganzen Text ein, den „patchbay token“ ausgibt: drei Teile, durch Punkte getrennt.'],
      missing_grant: ['Das Token erlaubt das nicht', ({ message }) => `${message}. Bitten Sie um ein Token mit diesen Rechten.`],
      invalid_credentials: ['Falsche E-Mail-Adresse oder falsches Passwort', 'Prüfen Sie beides, und versuchen Sie es noch einmal.'],
      too_many_attempts: ['Zu viele Versuche', 'Warten Sie eine Minute, und versuchen Sie es noch einmal.'],
      logged_out: ['Ihre Anmeldung ist abgelaufen', 'Melden Sie sich neu an, und rufen Sie dann an.'],
      email_unconfirmed: ['Ihre Adresse ist nicht bestätigt', 'Öffnen Sie die Seite „Sessions“, geben Sie den Code aus der Mail ein, und rufen Sie dann an.'],
      room_full: ['Der Raum ist voll', 'Versuchen Sie es, wenn jemand gegangen ist, oder nehmen Sie einen anderen Raum.'],
      draining: ['Das Gateway fährt herunter', 'Es nimmt keine neuen Anrufe an. Versuchen Sie es gleich noch einmal.'],
      origin_not_allowed: ['Diese Seite darf sich nicht verbinden', 'Ihre Adresse fehlt in allowed_origins des Gateways. Öffnen Sie den Playground unter der Adresse des Gateways.'],
      assistant_not_found: ['Diesen Assistenten gibt es nicht', 'Prüfen Sie die Kennung. Der eingebaute heißt „default“.'],
      accounts_unavailable: ['Dieses Gateway hat keine Konten', 'Es läuft ohne Speicher („serve --data“). Fügen Sie stattdessen ein Token ein.'],
      default: ['Der Anruf konnte nicht begonnen werden', ({ message }) => message || 'Das Gateway gab keinen Grund an. Versuchen Sie es noch einmal.'],
    },
    ended: {
      CLIENT_INITIATED: ['Anruf beendet', 'Sie haben aufgelegt.'],
      DUPLICATE_IDENTITY: ['Anderswo beigetreten', 'Dieselbe Identität ist von einem anderen Tab oder Gerät beigetreten, das diesen Anruf übernahm. Schließen Sie eines der beiden.'],
      PARTICIPANT_REMOVED: ['Aus dem Anruf entfernt', 'Ein Administrator hat Sie entfernt.'],
      ROOM_DELETED: ['Anruf beendet', 'Der Raum wurde gelöscht.'],
      ROOM_CLOSED: ['Anruf beendet', 'Der Raum wurde geschlossen.'],
      SERVER_SHUTDOWN: ['Das Gateway wurde heruntergefahren', 'Rufen Sie gleich wieder an.'],
      token_expired: ['Ihr Token ist abgelaufen', 'Es lief ab, während die Verbindung weg war. Beginnen Sie einen neuen Anruf, um ein anderes zu bekommen.'],
      default: ['Getrennt', ({ message, code, number }) => `${message || 'Das Gateway gab keinen Grund an.'} Grund: ${code}${number ? `, Code ${number}` : ''}.`],
    },
  },
}

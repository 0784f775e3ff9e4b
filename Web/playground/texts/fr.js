// The playground's texts in French. `en.js` documents the keys.

export const fr = {
  skip: 'Aller au contenu',
  pages: { name: 'Pages', playground: 'Playground', sessions: 'Sessions', calls: 'Appels', dashboard: 'Dashboard' },
  you: 'Vous',
  assistant: 'Assistant',

  room: { disconnected: 'Non connecté', connecting: 'Connexion', connected: 'Connecté', reconnecting: 'Reconnexion', ended: 'Appel terminé' },
  agent: {
    initializing: 'Démarre', idle: 'Prêt', listening: 'Écoute', thinking: 'Réfléchit', speaking: 'Parle', error: 'Erreur',
    reconnecting: 'Se reconnecte', gone: 'Absent de l’appel',
  },
  status: {
    agent: (state) => `Assistant : ${state}`, held: 'En attente', recorded: 'Enregistré par la passerelle', duration: 'Durée de l’appel',
    microphoneOn: 'Micro activé', muted: 'Micro coupé', unmuted: 'Micro rétabli', resumed: 'Appel repris',
    recordingStarted: 'Enregistrement sur cet appareil démarré', recordingReady: 'Enregistrement prêt à télécharger',
  },

  start: {
    title: 'Appeler un assistant', with: 'Se connecter avec', development: 'Sans compte', account: 'Compte', token: 'Jeton',
    email: 'Adresse e-mail', password: 'Mot de passe', logIn: 'Se connecter', loggingIn: 'Connexion…', loggedInAs: 'Connecté en tant que ', logOut: 'Se déconnecter',
    accessToken: 'Jeton d’accès', tokenFrom: 'De ', tokenKept: '. Il ne reste que dans cette page.',
    assistant: 'Assistant', notConnected: (name) => `${name} (non connecté)`, other: 'Autre identifiant…', otherId: 'Identifiant de l’assistant',
    missing: (id) => `Il n’y a pas d’assistant « ${id} ».`, idHint: 'L’identifiant de sa définition.',
    voice: 'Voix', ownVoice: 'Celle de l’assistant', savedVoice: 'Enregistrée dans vos réglages.', tokenChoosesVoice: 'Le jeton la détermine.',
    currentVoice: (voice) => `Actuellement : ${voice}.`, call: 'Appeler', callForm: 'Commencer un appel', back: 'Retour',
    asksForMicrophone: 'Votre navigateur demande l’accès au micro.', tokenDecides: 'Le jeton détermine la salle et l’assistant.', listenAndType: 'Vous écoutez et écrivez.', readAndType: 'Vous lisez et écrivez.',
    pages: 'Nouveau ici ? Créez un compte sur la page « Sessions ».',
  },

  devices: {
    title: 'Micro et haut-parleur', microphone: 'Micro', speaker: 'Haut-parleur', systemDefault: 'Par défaut du système', numbered: (number) => `Appareil ${number}`,
    noChoice: 'Ce navigateur ne joue que sur la sortie du système.', testMicrophone: 'Tester le micro', stopTest: 'Arrêter le test', testSound: 'Tester le son',
    waiting: 'Choisissez « Autoriser » lorsque votre navigateur demande l’accès au micro.', speak: 'Dites quelque chose : la barre suit votre voix.', level: 'Niveau du micro',
    playing: 'Vous devriez entendre trois sons.', soundFailed: 'Aucun son n’a pu être joué. Choisissez un autre haut-parleur.',
    record: 'Enregistrer sur cet appareil', stopRecording: 'Arrêter l’enregistrement', download: (size) => `Télécharger le WAV, ${size} Mo`,
    recording: 'Enregistre. Canal gauche : vous ; canal droit : ce que vous entendez.', cut: 'Arrêté après 30 minutes. ',
    recorded: 'Le fichier n’est que dans cette page : téléchargez-le avant de la fermer ou de rappeler.',
    ask: 'Reste dans cette page et n’est envoyé nulle part. Demandez l’accord de l’autre avant d’enregistrer.',
  },

  levels: { silent: 'silence', faint: 'très faible', quiet: 'faible', good: 'bon', loud: 'trop fort' },

  call: {
    name: 'Appel', controls: 'Commandes de l’appel', mute: 'Couper le micro', waiting: 'En attente…', turnOnMicrophone: 'Activer le micro', hold: 'Attente', interrupt: 'Interrompre', leave: 'Raccrocher',
    message: 'Message à l’assistant', messageHint: 'Écrire au lieu de parler', send: 'Envoyer', problems: 'Problèmes', details: 'Détails de l’appel',
    onHold: 'en attente', microphoneOff: 'micro désactivé', muted: 'micro coupé', level: (name) => `Niveau : ${name}`,
    toolStarted: (name) => `Outil ${name} lancé`, toolFinished: (name) => `Outil ${name} terminé`, toolFailed: (name, message) => `Outil ${name} en échec : ${message}`,
  },

  transcript: {
    name: 'Transcription', empty: 'Ce qui est dit apparaît ici.', typed: 'Vous avez écrit', message: 'Message', unheard: '(non entendu)',
    removed: (count) => `${count} ${count === 1 ? 'ligne plus ancienne a été retirée' : 'lignes plus anciennes ont été retirées'} pour que la page reste rapide.`,
  },

  panels: { turns: 'Temps de réponse', network: 'Réseau', events: 'Événements', devices: 'Appareils et enregistrement' },

  turns: {
    name: 'Temps de réponse des derniers tours', empty: 'La rapidité de l’assistant apparaît ici après sa première réponse.',
    turn: 'Tour', endOfTurn: 'Fin de tour', recognition: 'Reconnaissance', firstToken: 'Premier jeton', firstAudio: 'Premier son', total: 'Total',
    interrupted: (turn) => `${turn}, interrompu`,
    hint: 'En millisecondes. Le total est votre attente : de la fin de vos paroles au premier son de la réponse.',
    trend: {
      steady: (average) => `En moyenne ${average}, stable.`, faster: (average, percent) => `En moyenne ${average}, dernièrement ${percent} % plus rapide.`,
      slower: (average, percent) => `En moyenne ${average}, dernièrement ${percent} % plus lent.`, few: (average) => `En moyenne ${average}.`,
    },
  },

  network: {
    rtt: 'Aller-retour', jitter: 'Gigue', delay: 'Délai de lecture', drops: 'Trames perdues', received: 'Trames reçues', sent: 'Trames envoyées',
    cleared: 'Trames annulées', underruns: 'Interruptions', buffered: 'En mémoire', latency: 'Latence de sortie', reconnects: 'Reconnexions',
  },

  events: {
    filter: 'Filtre', filterHint: 'Tous les mots doivent apparaître ; un moins en exclut un.', clear: 'Effacer', name: 'Événements, les plus récents d’abord', data: (name) => `Données de ${name}`,
    paused: (count) => `En pause tant qu’un événement a le focus, ${count} nouveaux`, all: (count) => `${count} événements`,
    some: (shown, count) => `${shown} sur ${count} événements`, older: (count) => `${count} plus anciens non affichés`, removed: (count) => `${count} retirés`,
  },

  after: {
    title: 'Après l’appel', facts: (duration, lines) => `Durée ${duration}, ${lines} ${lines === 1 ? 'ligne' : 'lignes'}.`,
    response: (average) => `L’assistant a répondu après ${average} en moyenne.`, summary: 'Résumé', toDo: 'À faire', pending: 'Le résumé est en préparation…',
    failed: 'Le résumé n’a pas pu être fait. La transcription est complète.', slow: 'Le résumé prend plus de temps que d’habitude. Il apparaît avec la session enregistrée.',
    notLogged: 'Cet appel n’a pas été conservé, il n’en reste donc rien. Vous pouvez changer cela dans les réglages.', settings: 'Ouvrir les réglages',
    noAccount: 'Cet appel n’appartient à aucun compte, il n’en reste donc rien.', open: 'Ouvrir la session enregistrée', copy: 'Copier la transcription',
    copyAll: 'Copier le résumé et la transcription', copied: 'Copié', copyFailed: 'Le navigateur ne permet pas de copier. Sélectionnez le texte.',
  },

  actions: {
    retryMicrophone: 'Réessayer le micro', startAudio: 'Activer le son', callAgain: 'Rappeler', backToStart: 'Retour au début', leave: 'Raccrocher',
    giveUp: 'Abandonner', takeOver: 'Reprendre ici',
  },

  countdown: {
    kept: (seconds) => `La passerelle garde votre place encore ${seconds}\u00a0s`, over: 'Votre place est probablement perdue. La page essaie toujours de rejoindre l’appel.',
  },

  problems: {
    support: {
      no_encoder: ['Ce navigateur ne peut pas envoyer votre voix', ({ message }) => message],
      default: ['Ce navigateur n’a pas de son dans les appels', ({ message }) => message],
    },
    audio: {
      gesture: ['Le son est coupé', 'Le navigateur ne joue aucun son et ne transmet pas votre micro avant un clic ou une touche sur cette page.'],
      no_output: ['Il n’y a pas de sortie audio', 'Vous n’entendez pas l’assistant, et il ne vous entend pas : ce navigateur a besoin d’un haut-parleur ou d’un casque pour les deux. Branchez-en un, puis activez le son. D’ici là, vous pouvez écrire.'],
    },
    microphone: {
      waiting: ['En attente du micro', 'Votre navigateur demande si cette page peut utiliser le micro. Choisissez « Autoriser ». D’ici là, vous pouvez écrire.'],
      permission_denied: ['Le micro est bloqué', 'Cette page n’a pas le droit de l’utiliser. Ouvrez les réglages du site à côté de l’adresse, autorisez le micro, puis réessayez. D’ici là, vous pouvez écrire.'],
      not_found: ['Aucun micro trouvé', 'Branchez un micro ou un casque, puis réessayez. D’ici là, vous pouvez écrire.'],
      in_use: ['Le micro est occupé', 'Un autre programme l’utilise. Fermez-le ou choisissez un autre micro sous Appareils, puis réessayez.'],
      ended: ['Le micro a été débranché', 'L’assistant ne vous entend plus. Rebranchez-le ou choisissez-en un autre sous Appareils.'],
      default: ['Le micro ne peut pas être utilisé', ({ message }) => `${message ?? 'Le navigateur n’a donné aucune raison.'} Vous pouvez écrire.`],
    },
    connection: {
      reconnecting: ['Connexion perdue, reconnexion', 'La passerelle ou le réseau est injoignable. Si la connexion revient à temps, tout continue ; sinon vous rejoignez l’appel comme nouveau participant.'],
      draining: ['La passerelle s’arrête', ({ time }) => `Elle ferme cet appel à ${time} au plus tard. Terminez, ou rappelez ensuite.`],
    },
    stall: {
      connecting: ['La passerelle ne répond pas encore', 'Elle est peut-être surchargée, ou le réseau est lent. La page continue d’essayer ; vous pouvez aussi abandonner et rappeler plus tard.'],
      call: ['La passerelle ne répond pas', 'Elle est peut-être surchargée, ou le réseau est interrompu. Ce que vous dites peut arriver en retard. Si cela dure, la page se reconnecte d’elle-même.'],
    },
    agent: {
      missing: ['Aucun assistant n’est venu', ({ hasDevelopment }) => hasDevelopment
        ? 'Aucun assistant ne fonctionne. Lancez-en un avec « patchbay agent dev », puis rappelez.'
        : 'Vérifiez l’identifiant de l’assistant, qu’un agent portant cet identifiant est connecté à la passerelle, et qu’une règle ou le jeton l’envoie dans cette salle.'],
      busy: ['Tous les assistants sont occupés', 'Restez en ligne : un assistant vient dès qu’il est libre. Pour servir plus d’appels à la fois, lancez un autre agent.'],
      unstaffed: ['Aucun assistant n’est connecté', 'Lancez-en un avec « patchbay agent start » : il rejoint cet appel de lui-même. Ou raccrochez, et rappelez plus tard.'],
      lost: ['L’assistant est parti', 'Son processus s’est arrêté ou a perdu la connexion. Attendez un moment qu’il revienne ou qu’un autre prenne le relais, ou rappelez.'],
    },
    request: { default: ['La demande a été refusée', ({ message }) => message] },
    device: { default: ['L’appareil ne peut pas être utilisé', ({ message }) => `${message} Choisissez-en un autre sous Appareils.`] },
    consent: { default: ['Votre réponse n’a pas été enregistrée', ({ message }) => `${message || 'La passerelle n’a donné aucune raison.'} L’appel n’a pas commencé. Réessayez.`] },
    start: {
      connection_failed: ['La passerelle est injoignable', 'Vérifiez qu’elle fonctionne et que cet appareil est en ligne, puis réessayez.'],
      token_expired: ['Le jeton a expiré', 'Procurez-vous un nouveau jeton et collez-le, ou reconnectez-vous.'],
      bad_signature: ['Le jeton n’est pas valable ici', 'Sa signature ne correspond à aucune clé de cette passerelle. Vérifiez pour quelle passerelle et quelle clé il est fait.'],
      malformed_token: ['Ce n’est pas un jeton', 'Collez tout le texte que « patchbay token » affiche : trois parties séparées par des points.'],
      missing_grant: ['Le jeton ne permet pas cela', ({ message }) => `${message}. Demandez un jeton avec ces droits.`],
      invalid_credentials: ['Adresse e-mail ou mot de passe incorrect', 'Vérifiez les deux et réessayez.'],
      too_many_attempts: ['Trop de tentatives', 'Attendez une minute, puis réessayez.'],
      logged_out: ['Votre connexion a expiré', 'Reconnectez-vous, puis appelez.'],
      email_unconfirmed: ['Votre adresse n’est pas confirmée', 'Ouvrez la page « Sessions » et saisissez le code reçu par e-mail, puis appelez.'],
      room_full: ['La salle est pleine', 'Réessayez quand quelqu’un est parti, ou prenez une autre salle.'],
      draining: ['La passerelle s’arrête', 'Elle n’accepte plus d’appels. Réessayez sous peu.'],
      origin_not_allowed: ['Cette page ne peut pas se connecter', 'Son adresse n’est pas dans allowed_origins de la passerelle. Ouvrez le playground à l’adresse de la passerelle.'],
      assistant_not_found: ['Cet assistant n’existe pas', 'Vérifiez son identifiant. Celui qui est intégré s’appelle « default ».'],
      accounts_unavailable: ['Cette passerelle n’a pas de comptes', 'Elle fonctionne sans stockage (« serve --data »). Collez plutôt un jeton.'],
      default: ['L’appel n’a pas pu commencer', ({ message }) => message || 'La passerelle n’a donné aucune raison. Réessayez.'],
    },
    ended: {
      CLIENT_INITIATED: ['Appel terminé', 'Vous avez raccroché.'],
      DUPLICATE_IDENTITY: ['Rejoint ailleurs', 'La même identité a rejoint l’appel depuis un autre onglet ou appareil, qui l’a repris. Fermez l’un des deux.'],
      PARTICIPANT_REMOVED: ['Retiré de l’appel', 'Un administrateur vous a retiré.'],
      ROOM_DELETED: ['Appel terminé', 'La salle a été supprimée.'],
      ROOM_CLOSED: ['Appel terminé', 'La salle a été fermée.'],
      SERVER_SHUTDOWN: ['La passerelle s’est arrêtée', 'Rappelez dans un instant.'],
      token_expired: ['Votre jeton a expiré', 'Il a expiré pendant que la connexion était coupée. Commencez un nouvel appel pour en obtenir un autre.'],
      default: ['Déconnecté', ({ message, code, number }) => `${message || 'La passerelle n’a donné aucune raison.'} Raison : ${code}${number ? `, code ${number}` : ''}.`],
    },
  },
}

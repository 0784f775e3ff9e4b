// The playground's texts in Spanish. `en.js` documents the keys.

export const es = {
  skip: 'Ir al contenido',
  pages: { name: 'Páginas', playground: 'Playground', sessions: 'Sessions', calls: 'Llamadas', dashboard: 'Dashboard' },
  you: 'Usted',
  assistant: 'Asistente',

  room: { disconnected: 'Sin conexión', connecting: 'Conectando', connected: 'Conectado', reconnecting: 'Reconectando', ended: 'Llamada terminada' },
  agent: {
    initializing: 'Iniciando', idle: 'Listo', listening: 'Escucha', thinking: 'Piensa', speaking: 'Habla', error: 'Error',
    reconnecting: 'Reconectando', gone: 'Fuera de la llamada',
  },
  status: {
    agent: (state) => `Asistente: ${state}`, held: 'En espera', recorded: 'Grabada por la pasarela', duration: 'Duración de la llamada',
    microphoneOn: 'Micrófono activado', muted: 'Micrófono silenciado', unmuted: 'Micrófono sin silenciar', resumed: 'Llamada reanudada',
    recordingStarted: 'Grabación en este dispositivo iniciada', recordingReady: 'Grabación lista para descargar',
  },

  start: {
    title: 'Llamar a un asistente', with: 'Conectar con', development: 'Sin cuenta', account: 'Cuenta', token: 'Token',
    email: 'Correo electrónico', password: 'Contraseña', logIn: 'Iniciar sesión', loggingIn: 'Iniciando sesión…', loggedInAs: 'Sesión iniciada como ', logOut: 'Cerrar sesión',
    accessToken: 'Token de acceso', tokenFrom: 'De ', tokenKept: '. Solo se guarda en esta página.',
    assistant: 'Asistente', notConnected: (name) => `${name} (no conectado)`, other: 'Otro identificador…', otherId: 'Identificador del asistente',
    missing: (id) => `No hay ningún asistente «${id}».`, idHint: 'El identificador de su definición.',
    voice: 'Voz', ownVoice: 'La del asistente', savedVoice: 'Guardada en sus ajustes.', tokenChoosesVoice: 'El token la determina.',
    currentVoice: (voice) => `Ahora: ${voice}.`, call: 'Llamar', callForm: 'Empezar una llamada', back: 'Volver',
    asksForMicrophone: 'Su navegador pide el micrófono.', tokenDecides: 'El token decide la sala y el asistente.', listenAndType: 'Escuchará y escribirá.', readAndType: 'Leerá y escribirá.',
    pages: '¿Es nuevo aquí? Cree una cuenta en la página «Sessions».',
  },

  devices: {
    title: 'Micrófono y altavoz', microphone: 'Micrófono', speaker: 'Altavoz', systemDefault: 'El del sistema', numbered: (number) => `Dispositivo ${number}`,
    noChoice: 'Este navegador solo suena por la salida del sistema.', testMicrophone: 'Probar el micrófono', stopTest: 'Terminar la prueba', testSound: 'Probar el sonido',
    waiting: 'Elija «Permitir» cuando su navegador pida el micrófono.', speak: 'Diga algo: la barra sigue su voz.', level: 'Nivel del micrófono',
    playing: 'Debería oír tres tonos.', soundFailed: 'No se ha podido reproducir ningún sonido. Elija otro altavoz.',
    record: 'Grabar en este dispositivo', stopRecording: 'Terminar la grabación', download: (size) => `Descargar WAV, ${size} MB`,
    recording: 'Grabando. Canal izquierdo: usted; canal derecho: lo que oye.', cut: 'Terminada a los 30 minutos. ',
    recorded: 'El archivo solo está en esta página: descárguelo antes de cerrarla o de llamar de nuevo.',
    ask: 'Se queda en esta página y no se envía a ningún sitio. Pregunte a la otra parte antes de grabar.',
  },

  levels: { silent: 'silencio', faint: 'muy bajo', quiet: 'bajo', good: 'bien', loud: 'demasiado alto' },

  call: {
    name: 'Llamada', controls: 'Controles de la llamada', mute: 'Silenciar', waiting: 'Esperando…', turnOnMicrophone: 'Activar micrófono', hold: 'Espera', interrupt: 'Interrumpir', leave: 'Colgar',
    message: 'Mensaje al asistente', messageHint: 'Escribir en vez de hablar', send: 'Enviar', problems: 'Problemas', details: 'Detalles de la llamada',
    onHold: 'en espera', microphoneOff: 'micrófono apagado', muted: 'silenciado', level: (name) => `Nivel: ${name}`,
    toolStarted: (name) => `Herramienta ${name} iniciada`, toolFinished: (name) => `Herramienta ${name} terminada`, toolFailed: (name, message) => `Herramienta ${name} fallida: ${message}`,
  },

  transcript: {
    name: 'Transcripción', empty: 'Aquí aparece lo que se dice.', typed: 'Usted escribió', message: 'Mensaje', unheard: '(no oído)',
    removed: (count) => `Se ${count === 1 ? 'ha quitado' : 'han quitado'} ${count} ${count === 1 ? 'línea anterior' : 'líneas anteriores'} para que la página siga rápida.`,
  },

  panels: { turns: 'Tiempos de respuesta', network: 'Red', events: 'Eventos', devices: 'Dispositivos y grabación' },

  turns: {
    name: 'Tiempos de respuesta de los últimos turnos', empty: 'Aquí aparece lo rápido que responde el asistente, tras su primera respuesta.',
    turn: 'Turno', endOfTurn: 'Fin del turno', recognition: 'Reconocimiento', firstToken: 'Primer token', firstAudio: 'Primer sonido', total: 'Total',
    interrupted: (turn) => `${turn}, interrumpido`,
    hint: 'En milisegundos. El total es lo que usted espera: desde el final de sus palabras hasta el primer sonido de la respuesta.',
    trend: {
      steady: (average) => `De media ${average}, estable.`, faster: (average, percent) => `De media ${average}, últimamente un ${percent} % más rápido.`,
      slower: (average, percent) => `De media ${average}, últimamente un ${percent} % más lento.`, few: (average) => `De media ${average}.`,
    },
  },

  network: {
    rtt: 'Ida y vuelta', jitter: 'Fluctuación', delay: 'Retardo de reproducción', drops: 'Tramas perdidas', received: 'Tramas recibidas', sent: 'Tramas enviadas',
    cleared: 'Tramas descartadas', underruns: 'Cortes', buffered: 'En memoria', latency: 'Latencia de salida', reconnects: 'Reconexiones',
  },

  events: {
    filter: 'Filtro', filterHint: 'Deben aparecer todas las palabras; un menos excluye una.', clear: 'Vaciar', name: 'Eventos, los más recientes primero', data: (name) => `Datos de ${name}`,
    paused: (count) => `En pausa mientras un evento tiene el foco, ${count} nuevos`, all: (count) => `${count} eventos`,
    some: (shown, count) => `${shown} de ${count} eventos`, older: (count) => `${count} anteriores sin mostrar`, removed: (count) => `${count} quitados`,
  },

  after: {
    title: 'Después de la llamada', facts: (duration, lines) => `Duración ${duration}, ${lines} ${lines === 1 ? 'línea' : 'líneas'}.`,
    response: (average) => `El asistente respondió a los ${average} de media.`, summary: 'Resumen', toDo: 'Por hacer', pending: 'Se está haciendo el resumen…',
    failed: 'No se ha podido hacer el resumen. La transcripción está completa.', slow: 'El resumen tarda más de lo normal. Aparece con la sesión guardada.',
    notLogged: 'Esta llamada no se ha conservado, así que no queda nada de ella. Puede cambiarlo en los ajustes.', settings: 'Abrir los ajustes',
    noAccount: 'Esta llamada no pertenece a ninguna cuenta, así que no queda nada de ella.', open: 'Abrir la sesión guardada', copy: 'Copiar la transcripción',
    copyAll: 'Copiar el resumen y la transcripción', copied: 'Copiado', copyFailed: 'El navegador no permite copiar. Seleccione el texto.',
  },

  actions: {
    retryMicrophone: 'Probar el micrófono de nuevo', startAudio: 'Activar el sonido', callAgain: 'Llamar de nuevo', backToStart: 'Volver al inicio', leave: 'Colgar',
    giveUp: 'Abandonar', takeOver: 'Continuar aquí',
  },

  countdown: {
    kept: (seconds) => `La pasarela guarda su sitio ${seconds}\u00a0s más`, over: 'Es probable que haya perdido su sitio. La página sigue intentando volver a entrar.',
  },

  problems: {
    support: {
      no_encoder: ['Este navegador no puede enviar su voz', ({ message }) => message],
      default: ['Este navegador no tiene sonido en las llamadas', ({ message }) => message],
    },
    audio: {
      gesture: ['El sonido está apagado', 'El navegador no reproduce sonido ni transmite su micrófono hasta que haga clic o pulse una tecla en esta página.'],
      no_output: ['No hay salida de sonido', 'Usted no oye al asistente, y él no le oye: este navegador necesita un altavoz o auriculares para ambas cosas. Conéctelos y active el sonido. Hasta entonces puede escribir.'],
    },
    microphone: {
      waiting: ['Esperando el micrófono', 'Su navegador pregunta si esta página puede usar el micrófono. Elija «Permitir». Hasta entonces puede escribir.'],
      permission_denied: ['El micrófono está bloqueado', 'Esta página no tiene permiso para usarlo. Abra los ajustes del sitio junto a la dirección, permita el micrófono y pruebe de nuevo. Hasta entonces puede escribir.'],
      not_found: ['No se ha encontrado ningún micrófono', 'Conecte un micrófono o unos auriculares y pruebe de nuevo. Hasta entonces puede escribir.'],
      in_use: ['El micrófono está ocupado', 'Otro programa lo usa. Ciérrelo o elija otro micrófono en Dispositivos, y pruebe de nuevo.'],
      ended: ['El micrófono se ha desconectado', 'El asistente ya no le oye. Conéctelo de nuevo o elija otro en Dispositivos.'],
      default: ['El micrófono no se puede usar', ({ message }) => `${message ?? 'El navegador no ha dado ninguna razón.'} Puede escribir.`],
    },
    connection: {
      reconnecting: ['Conexión perdida, reconectando', 'No se llega a la pasarela o a la red. Si la conexión vuelve a tiempo, todo sigue donde se quedó; si no, entra como participante nuevo.'],
      draining: ['La pasarela se está apagando', ({ time }) => `Cierra esta llamada a las ${time} como muy tarde. Termine, o llame de nuevo después.`],
    },
    stall: {
      connecting: ['La pasarela aún no responde', 'Puede estar sobrecargada, o la red va lenta. La página sigue intentándolo; también puede abandonar y llamar más tarde.'],
      call: ['La pasarela no responde', 'Puede estar sobrecargada, o la red se ha cortado. Lo que diga puede llegar tarde. Si dura, la página se reconecta por sí misma.'],
    },
    agent: {
      missing: ['No ha entrado ningún asistente', ({ hasDevelopment }) => hasDevelopment
        ? 'No hay ningún asistente en marcha. Inicie uno con «patchbay agent dev» y llame de nuevo.'
        : 'Compruebe el identificador del asistente, que un agente con ese identificador esté conectado a la pasarela, y que una regla o el token lo envíe a esta sala.'],
      busy: ['Todos los asistentes están ocupados', 'Siga en la llamada: entra uno en cuanto esté libre. Para atender más llamadas a la vez, inicie otro agente.'],
      unstaffed: ['No hay ningún asistente conectado', 'Inicie uno con «patchbay agent start»: entra en esta llamada por sí mismo. O cuelgue y llame más tarde.'],
      lost: ['El asistente se ha ido', 'Su proceso ha terminado o ha perdido la conexión. Espere un momento a que vuelva o a que otro lo sustituya, o llame de nuevo.'],
    },
    request: { default: ['Se ha rechazado la petición', ({ message }) => message] },
    device: { default: ['El dispositivo no se puede usar', ({ message }) => `${message} Elija otro en Dispositivos.`] },
    consent: { default: ['No se ha guardado su respuesta', ({ message }) => `${message || 'La pasarela no ha dado ninguna razón.'} La llamada no ha empezado. Pruebe de nuevo.`] },
    start: {
      connection_failed: ['No se llega a la pasarela', 'Compruebe que esté en marcha y que este dispositivo tenga conexión, y pruebe de nuevo.'],
      token_expired: ['El token ha caducado', 'Consiga uno nuevo y péguelo, o inicie sesión de nuevo.'],
      bad_signature: ['El token no vale aquí', 'Su firma no corresponde a ninguna clave de esta pasarela. Compruebe para qué pasarela y qué clave es.'],
      malformed_token: ['Esto no es un token', 'Pegue todo el texto que muestra «patchbay token»: tres partes separadas por puntos.'],
      missing_grant: ['El token no lo permite', ({ message }) => `${message}. Pida un token con estos permisos.`],
      invalid_credentials: ['Correo o contraseña incorrectos', 'Compruebe ambos y pruebe de nuevo.'],
      too_many_attempts: ['Demasiados intentos', 'Espere un minuto y pruebe de nuevo.'],
      logged_out: ['Su sesión ha caducado', 'Inicie sesión de nuevo y llame.'],
      email_unconfirmed: ['Su dirección no está confirmada', 'Abra la página «Sessions», escriba el código del correo y llame.'],
      room_full: ['La sala está llena', 'Pruebe de nuevo cuando alguien se haya ido, o use otra sala.'],
      draining: ['La pasarela se está apagando', 'No acepta llamadas nuevas. Pruebe de nuevo dentro de poco.'],
      origin_not_allowed: ['Esta página no puede conectarse', 'Su dirección no está en allowed_origins de la pasarela. Abra el playground en la dirección de la pasarela.'],
      assistant_not_found: ['Este asistente no existe', 'Compruebe su identificador. El integrado se llama «default».'],
      accounts_unavailable: ['Esta pasarela no tiene cuentas', 'Funciona sin almacén («serve --data»). Pegue un token en su lugar.'],
      default: ['No se ha podido empezar la llamada', ({ message }) => message || 'La pasarela no ha dado ninguna razón. Pruebe de nuevo.'],
    },
    ended: {
      CLIENT_INITIATED: ['Llamada terminada', 'Usted ha colgado.'],
      DUPLICATE_IDENTITY: ['Ha entrado en otro sitio', 'La misma identidad ha entrado desde otra pestaña u otro dispositivo, que ha tomado esta llamada. Cierre uno de los dos.'],
      PARTICIPANT_REMOVED: ['Expulsado de la llamada', 'Un administrador le ha expulsado.'],
      ROOM_DELETED: ['Llamada terminada', 'Se ha borrado la sala.'],
      ROOM_CLOSED: ['Llamada terminada', 'Se ha cerrado la sala.'],
      SERVER_SHUTDOWN: ['La pasarela se ha apagado', 'Llame de nuevo dentro de un momento.'],
      token_expired: ['Su token ha caducado', 'Caducó mientras no había conexión. Empiece una llamada nueva para conseguir otro.'],
      default: ['Desconectado', ({ message, code, number }) => `${message || 'La pasarela no ha dado ninguna razón.'} Razón: ${code}${number ? `, código ${number}` : ''}.`],
    },
  },
}

internal import Wire

/// Turn-taking: decides when a user has finished, when the assistant responds, and when it yields.
///
/// A pure value without clock, audio or text of its own: inputs with their time in, effects out, the same for the same inputs. The caller
/// performs effects in order.
///
/// A turn passes from listening to thinking when a user pauses long enough, to speaking with the first audio, and back when everything was
/// played. Speech of `TurnSettings.bargeIn` interrupts the assistant; whether that was meant shows when the utterance ends: after a
/// backchannel such as "mm-hm", or noise, the assistant continues where it stopped.
///
/// Promises: at most one turn is in progress; everything understood is responded to once, or together with what follows it; nothing is
/// spoken while a user speaks; every recognition and response ends with a result, a failure or its timeout.
struct TurnMachine: Sendable {
    /// The party that has the turn.
    enum Floor: Hashable {
        case listening
        /// A response is being written; nothing is audible yet.
        case thinking(TurnID, since: Instant)
        case speaking(TurnID)
        /// Interrupted, until the user's utterance ends.
        case interrupted(TurnID)
    }

    let settings: TurnSettings
    var floor = Floor.listening
    /// Users with a microphone, in the order of their first window.
    var speakers: [Speaker] = []
    /// What the assistant says, as far as turn-taking needs to know it.
    struct SpokenWords: Sendable, Hashable {
        /// The words of the turn in progress, to recognize them in a user's microphone.
        private(set) var words: [String] = []
        /// The last thing said was a question, so that "okay" may be its answer.
        private(set) var isQuestion = false
        /// When the turn in progress became audible.
        var since: Instant?
        /// Whose speech the turn in progress responds to; nil if the assistant speaks on its own.
        var answers: Identity?
        /// The turn in progress responds to a part of what a user says.
        var isPremature = false

        mutating func begin() {
            words = []
            since = nil
            answers = nil
            isPremature = false
        }

        mutating func take(_ text: String) {
            words = UtteranceText.words(of: text)
            isQuestion = text.trimmingSpaces().hasSuffix("?")
        }
    }

    /// User messages without an audible response yet.
    var pending = PendingMessages()
    var numbers = Numbers()
    var quiet: QuietTimer
    var isHeld = false
    /// A reminder was set and is not due yet: the user is silent because there is nothing to say.
    var awaitsReminder = false
    var reported = AgentState.initializing
    /// What the assistant says or has said last.
    var spoken = SpokenWords()
    /// The apology in progress, if any. If it fails, too, there is nothing left to say.
    var apology: TurnID?

    /// Numbers given so far.
    struct Numbers: Hashable {
        var turn = 0
        var recognition = 0
        var utterance = 0
    }

    init(_ settings: TurnSettings = TurnSettings(), at now: Instant) {
        self.settings = settings
        quiet = QuietTimer(since: now)
    }

    /// The turn in progress, if any.
    var currentTurn: TurnID? {
        switch floor {
        case .listening: nil
        case .thinking(let turn, _), .speaking(let turn), .interrupted(let turn): turn
        }
    }

    var state: AgentState { reported }

    /// Whether an utterance of a user is in progress.
    var isUserSpeaking: Bool { speakers.contains { $0.utterance != nil } }

    /// Processes an input and appends its effects.
    mutating func handle(_ input: TurnInput, at now: Instant, into effects: inout [TurnEffect]) {
        switch input {
        case .window(let who, let window, let level): process(window, level: level, of: who, at: now, into: &effects)
        case .microphoneEnded(let who): endMicrophone(of: who, at: now, into: &effects)
        case .recognized(let id, let recognition): recognized(id, recognition, at: now, into: &effects)
        case .endJudged(let id, let probability): endJudged(id, probability, at: now, into: &effects)
        case .recognitionFailed(let id): recognitionFailed(id, at: now, into: &effects)
        case .speechStarted(let turn): speechStarted(turn, at: now, into: &effects)
        case .speaking(let turn, let text): if turn == currentTurn { spoken.take(text) }
        case .speechFinished(let turn): speechFinished(turn, at: now, into: &effects)
        case .responseFailed(let turn): responseFailed(turn, at: now, into: &effects)
        case .text(let who, let text): take(UserMessage(speaker: who, text: text, kind: .text), at: now, into: &effects)
        case .digits(let who, let digits): take(digits, of: who, at: now)
        case .held(let held): hold(held, at: now, into: &effects)
        case .tick: break
        }
        checkTimers(at: now, into: &effects)
        report(into: &effects)
    }

    /// Starts a turn of the assistant's own, such as a greeting.
    ///
    /// - Returns: its number, for `speechStarted` and `speechFinished`; nil while another turn is in progress or a user speaks.
    mutating func beginOwnTurn(at now: Instant) -> TurnID? {
        guard floor == .listening, !isUserSpeaking, pending.isEmpty else { return nil }
        let turn = nextTurn()
        floor = .thinking(turn, since: now)
        return turn
    }

    mutating func nextTurn() -> TurnID {
        numbers.turn += 1
        spoken.begin()
        return TurnID(numbers.turn)
    }

    /// Reports the state if it has changed.
    private mutating func report(into effects: inout [TurnEffect]) {
        let state = currentState
        guard state != reported else { return }
        reported = state
        effects.append(.state(state))
    }

    private var currentState: AgentState {
        switch floor {
        case .thinking(let turn, _): turn == apology ? .error : .thinking
        case .speaking: .speaking
        case .interrupted: .listening
        case .listening: apology != nil ? .error : quiet.isIdle ? .idle : .listening
        }
    }
}

/// User messages without an audible response yet.
struct PendingMessages: Sendable, Hashable {
    private(set) var messages: [UserMessage] = []
    /// The end of the last message.
    private(set) var end: EndOfTurn?
    /// When digits are complete.
    var digitsEnd: Instant?

    var isEmpty: Bool { messages.isEmpty }

    mutating func append(_ message: UserMessage, _ end: EndOfTurn? = nil) {
        messages.append(message)
        self.end = end ?? self.end
    }

    /// Digits of one user follow one another in one message.
    mutating func append(digits: String, of who: Identity, _ end: EndOfTurn, until digitsEnd: Instant) {
        if let last = messages.indices.last, messages[last].kind == .digits, messages[last].speaker == who {
            messages[last].text += digits
        } else {
            messages.append(UserMessage(speaker: who, text: digits, kind: .digits))
        }
        self.end = end
        self.digitsEnd = digitsEnd
    }

    /// Removes the last message if it is this user's speech: it goes on.
    ///
    /// - Returns: whether it was there.
    mutating func removeLast(of who: Identity) -> Bool {
        guard let last = messages.last, last.speaker == who, last.kind == .speech else { return false }
        messages.removeLast()
        return true
    }

    /// They were responded to, or will not be.
    mutating func removeAll() {
        messages.removeAll()
        end = nil
    }
}

/// A user with a microphone.
struct Speaker: Sendable, Hashable {
    let identity: Identity
    var segmenter: SpeechSegmenter
    var background = BackgroundLevel()
    var utterance: UtteranceTracker?
    /// The microphone is gone; the utterance waits for its recognition.
    var hasEnded = false
    /// Speech of earlier utterances that the current one continues.
    var earlierSpeech = Duration.zero
    /// The last utterance, which may go on.
    var last: UtteranceTracker?
}

/// Measures silence after which the assistant asks whether somebody is there, once.
struct QuietTimer: Sendable, Hashable {
    private(set) var since: Instant
    private(set) var hasAsked = false
    private(set) var isIdle = false

    init(since: Instant) {
        self.since = since
    }

    /// Somebody spoke, or the assistant did.
    mutating func restart(at now: Instant, bySpeech: Bool) {
        since = now
        guard bySpeech else { return }
        hasAsked = false
        isIdle = false
    }

    enum Expiry { case ask, idle }

    /// - Returns: what to do after `span` of silence.
    mutating func expire(after span: Duration, at now: Instant) -> Expiry? {
        guard !isIdle, now - since >= span else { return nil }
        since = now
        guard hasAsked else {
            hasAsked = true
            return .ask
        }
        isIdle = true
        return .idle
    }
}

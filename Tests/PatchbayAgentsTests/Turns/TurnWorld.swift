import Wire

@testable import PatchbayAgents

/// A turn machine with a scripted user, recognizer and responder, in virtual time.
struct TurnWorld {
    /// Something the user says.
    struct Utterance {
        var start: Duration
        var length: Duration
        var text: String
        /// What the detector says of it; a cough may be below the threshold.
        var probability: Float = 0.98
        /// Difference between loud and quiet windows, in dB: large for one voice, small for the babble of many.
        var spread = 16.0
    }

    enum Happening: Equatable {
        case effect(TurnEffect)
        case heardUser(String)
    }

    static let user = Identity(text: "alice")
    static let window = Duration.milliseconds(32)

    var settings = TurnSettings()
    /// How long the recognizer, the responder and the synthesizer take together.
    var recognitionTakes = Duration.milliseconds(90)
    var responseTakes = Duration.milliseconds(60)
    /// How long the assistant speaks in each turn.
    var speechLasts = Duration.seconds(2)
    var recognitionFails = false
    /// What the turn detector says of the words of an utterance; nil without one.
    var soundsFinished: (@Sendable (String) -> Float)?
    var judgementTakes = Duration.milliseconds(40)
    var responseFails = false
    /// dBov of the microphone's background.
    var background = -70.0

    private(set) var machine: TurnMachine
    private(set) var now = Duration.seconds(1)
    private(set) var effects: [(at: Duration, effect: TurnEffect)] = []
    private var agenda: [(at: Duration, input: TurnInput)] = []
    private var script: [Utterance] = []
    /// What the assistant plays: the turn, and when it will have finished.
    private(set) var playing: (turn: TurnID, until: Duration)?
    private var paused: (turn: TurnID, left: Duration)?
    /// Spans in which the assistant was audible.
    private(set) var audible: [(turn: TurnID, from: Duration, to: Duration)] = []
    private var playingSince = Duration.zero
    private var utteranceBegan = Duration.zero
    private var settledUntil = Duration.zero
    private var isLoud = false

    init(settings: TurnSettings = TurnSettings()) {
        self.settings = settings
        machine = TurnMachine(settings, at: Self.instant(.seconds(1)))
    }

    /// With a turn detector that says this of the words of an utterance; nil: it never answers.
    static func judged(_ soundsFinished: (@Sendable (String) -> Float)?) -> Self {
        var settings = TurnSettings()
        settings.pauses.usesTurnDetector = true
        var world = Self(settings: settings)
        world.soundsFinished = soundsFinished
        return world
    }

    static func instant(_ time: Duration) -> Instant { Instant(nanoseconds: UInt64(time.inNanoseconds)) }

    mutating func says(_ text: String, at start: Duration, for length: Duration, probability: Float = 0.98, spread: Double = 16) {
        script.append(Utterance(start: start, length: length, text: text, probability: probability, spread: spread))
    }

    mutating func setReminder() {
        machine.awaitsReminder = true
    }

    mutating func schedule(_ input: TurnInput, at time: Duration) {
        agenda.append((time, input))
    }

    /// Runs until `end`, a window at a time.
    mutating func run(until end: Duration) {
        while now < end {
            now += Self.window
            while let next = agenda.indices.filter({ agenda[$0].at <= now }).min(by: { agenda[$0].at < agenda[$1].at }) {
                let (time, input) = agenda.remove(at: next)
                feed(input, at: max(time, now - Self.window))
            }
            if let playing, playing.until <= now {
                stopPlaying()
                feed(.speechFinished(playing.turn), at: now)
            }
            let spoken = script.first { $0.start < now && $0.start + $0.length >= now }
            let activity = SpeechSegmenter.Window(probability: spoken?.probability ?? 0.02, duration: Self.window)
            isLoud.toggle()
            let level = spoken.map { -25 + (isLoud ? $0.spread : -$0.spread) / 2 }
            feed(.window(Self.user, activity, level: level ?? background), at: now)
        }
        if let playing { audible.append((playing.turn, playingSince, now)) }
    }

    private mutating func feed(_ input: TurnInput, at time: Duration) {
        var new: [TurnEffect] = []
        machine.handle(input, at: Self.instant(time), into: &new)
        for effect in new {
            effects.append((time, effect))
            perform(effect, at: time)
        }
    }

    private mutating func perform(_ effect: TurnEffect, at time: Duration) {
        switch effect {
        case .beginUtterance(_, let leadIn):
            utteranceBegan = time - leadIn - .milliseconds(40)
            settledUntil = utteranceBegan
        case .recognize(let id, _, let isPartial):
            let words = text(from: settledUntil, to: time)
            let result: TurnInput =
                recognitionFails ? .recognitionFailed(id) : .recognized(id, Recognition(text: words, isFinal: true))
            if !isPartial { recognizedUntil = time }
            agenda.append((time + recognitionTakes, result))
        case .judgeEnd(let id, _, let silence):
            let judged = text(from: utteranceBegan, to: time - silence + .milliseconds(32))
            if let soundsFinished { agenda.append((time + judgementTakes, .endJudged(id, probability: soundsFinished(judged)))) }
        case .settleAudio: settledUntil = recognizedUntil
        case .respond(let turn, _, _), .say(let turn, _):
            if case .say = effect {
                agenda.append((time + responseTakes, .speechStarted(turn)))
            } else {
                agenda.append((time + responseTakes, responseFails ? .responseFailed(turn) : .speechStarted(turn)))
            }
            if !responseFails || effect.isPhrase { starts[turn] = time + responseTakes }
        case .cancelResponse(let turn):
            starts[turn] = nil
            agenda.removeAll { $0.input == .speechStarted(turn) || $0.input == .responseFailed(turn) }
        case .interrupt(let turn):
            if let playing, playing.turn == turn {
                paused = (turn, playing.until - time)
                stopPlaying()
            }
        case .resumeSpeech(let turn):
            if let paused, paused.turn == turn { play(turn, until: time + paused.left, at: time) }
            paused = nil
        case .abandonSpeech:
            stopPlaying()
            paused = nil
        case .state(.speaking):
            if let turn = machine.currentTurn, playing == nil, paused == nil { play(turn, until: time + speechLasts, at: time) }
        case .continueUtterance, .cancelRecognition, .endUtterance, .retractLastMessage, .transcript, .timedOut, .state: break
        }
    }

    private var starts: [TurnID: Duration] = [:]
    private var recognizedUntil = Duration.zero

    private mutating func play(_ turn: TurnID, until end: Duration, at time: Duration) {
        playing = (turn, end)
        playingSince = time
    }

    private mutating func stopPlaying() {
        if let playing { audible.append((playing.turn, playingSince, now)) }
        playing = nil
    }

    /// What a recognizer understands of a span: each utterance's words in proportion to the time.
    private func text(from start: Duration, to end: Duration) -> String {
        script.compactMap { utterance -> String? in
            let words = utterance.text.split(separator: " ")
            guard utterance.start < end, utterance.start + utterance.length > start, !words.isEmpty else { return nil }
            let each = utterance.length / words.count
            let heard = words.enumerated().filter { index, _ in
                let middle = utterance.start + each * index + each / 2
                return middle >= start && middle <= end
            }
            return heard.isEmpty ? nil : heard.map { String($0.element) }.joined(separator: " ")
        }.joined(separator: " ")
    }

    // MARK: What happened

    var finals: [String] {
        effects.compactMap { if case .transcript(let transcript) = $0.effect, transcript.isFinal { transcript.text } else { nil } }
    }

    var partials: [String] {
        effects.compactMap { if case .transcript(let transcript) = $0.effect, !transcript.isFinal { transcript.text } else { nil } }
    }

    var responses: [(at: Duration, turn: TurnID, messages: [String], end: EndOfTurn)] {
        effects.compactMap {
            if case .respond(let turn, let messages, let end) = $0.effect { ($0.at, turn, messages.map(\.text), end) } else { nil }
        }
    }

    var states: [AgentState] {
        effects.compactMap { if case .state(let state) = $0.effect { state } else { nil } }
    }

    var phrases: [AssistantPhrase] {
        effects.compactMap { if case .say(_, let phrase) = $0.effect { phrase } else { nil } }
    }

    /// The longest time for which the assistant was audible while the user spoke, at a stretch.
    var overlap: Duration {
        audible.flatMap { span in
            script.map { utterance in
                max(.zero, min(span.to, utterance.start + utterance.length) - max(span.from, utterance.start))
            }
        }.max() ?? .zero
    }

    func time(of isMatch: (TurnEffect) -> Bool) -> Duration? { effects.first { isMatch($0.effect) }?.at }

    func count(_ isMatch: (TurnEffect) -> Bool) -> Int { effects.filter { isMatch($0.effect) }.count }
}

extension TurnEffect {
    var isPhrase: Bool { if case .say = self { true } else { false } }
    var isInterrupt: Bool { if case .interrupt = self { true } else { false } }
    var isResume: Bool { if case .resumeSpeech = self { true } else { false } }
    var isAbandon: Bool { if case .abandonSpeech = self { true } else { false } }
    var isCancelledResponse: Bool { if case .cancelResponse = self { true } else { false } }
}

internal import Wire

/// A turn of the assistant while it is spoken.
struct SpokenTurn: Sendable {
    /// Inaccuracy of reported positions, in 48 kHz ticks.
    private static let positionTolerance = 2_880
    /// Subscribers that have not played everything this long after they should have are not waited for.
    private static let stallMax = Duration.seconds(4)

    let id: TurnID
    var utterance = SpokenUtterance()
    var encoding: SpeechEncoding?
    var isComplete = false
    var isPaused = false
    /// Everything sent was played.
    var isPlayed = false
    /// The position up to which everything was played when the audio last ran out.
    var playedEnd: Int?
    var hasStarted = false
    /// Reports of progress so far.
    var reports = 0
    /// Number of the transcript segment: one more after each continued interruption.
    var part = 0
    /// When everything sent will have been played, at the earliest.
    var sendsUntil: Instant?
    var sender: Task<Void, Never>?

    init(id: TurnID) {
        self.id = id
    }

    /// The part that was played before the turn was paused.
    var heard: HeardSpeech {
        let end = utterance.segmentStart
        return HeardSpeech(
            text: utterance.text(to: end),
            played: utterance.sentences.map { Duration(ticks: min(max(end - $0.start, 0), $0.end - $0.start)) })
    }

    /// Whether frames after `end` were sent that cannot have been played yet: a report of the end of playout is then one of earlier frames.
    func isBeyond(_ end: MediaTime?, at now: Instant) -> Bool {
        guard let end, let sendsUntil, let played = utterance.position(at: end) else { return false }
        return played + Self.positionTolerance < utterance.sentEnd && now < sendsUntil + Self.stallMax
    }

    /// How long nothing was left to be played.
    func silence(at now: Instant) -> Duration {
        guard let sendsUntil, !utterance.hasFrames else { return .zero }
        return max(now - sendsUntil, .zero)
    }

    mutating func beginSentence(_ text: String, pauseBefore: Duration) {
        let pause = utterance.sentences.isEmpty ? 0 : pauseBefore.inTicks
        encoding?.appendSilence(pause)
        utterance.beginSentence(text, at: encoding?.position ?? 0)
    }

    mutating func encode(_ speech: SynthesizedSpeech) throws {
        let encoder = try encoding ?? SpeechEncoding()
        encoding = encoder
        utterance.append(try encoder.encode(speech))
        utterance.extendSentence(to: encoder.position, words: speech.words)
    }

    mutating func finishEncoding() throws {
        utterance.append(try encoding?.finish() ?? [])
        utterance.completeSentence()
        encoding = nil
    }
}

internal import Wire

/// An input of a `TurnMachine`.
enum TurnInput: Sendable, Hashable {
    /// The next window of a user's microphone; `level` in dBov, −127 to 0.
    case window(Identity, SpeechSegmenter.Window, level: Double)
    /// A user's microphone was muted or unpublished, or the user left: an utterance in progress ends here.
    case microphoneEnded(Identity)
    case recognized(RecognitionID, Recognition)
    case recognitionFailed(RecognitionID)
    /// The probability, 0 to 1, that the user has finished, by the sound of the utterance that this recognition covers.
    case endJudged(RecognitionID, probability: Float)
    /// The first audio of a turn was sent.
    case speechStarted(TurnID)
    /// The text of a turn, as far as it is being spoken.
    case speaking(TurnID, text: String)
    /// Everything of a turn was played, or there was nothing to play.
    case speechFinished(TurnID)
    /// The responder or the synthesizer failed before the turn was complete.
    case responseFailed(TurnID)
    /// Typed text, answered like speech.
    case text(Identity, String)
    /// DTMF digits.
    case digits(Identity, String)
    /// The call was put on hold, or resumed.
    case held(Bool)
    /// Time has passed. Send one every 100 ms.
    case tick
}

/// An effect that a `TurnMachine` requests. Effects are executed in order.
enum TurnEffect: Sendable, Hashable {
    /// Keep the user's audio from `leadIn` ago on.
    case beginUtterance(Identity, leadIn: Duration)
    /// Recognize the audio kept for this user.
    case recognize(RecognitionID, Identity, isPartial: Bool)
    /// Judge by the sound of the audio kept for this user, whose last `silence` is a pause, whether the user has finished.
    case judgeEnd(RecognitionID, Identity, silence: Duration)
    /// The result of this recognition is no longer needed.
    case cancelRecognition(RecognitionID)
    /// Forget the audio kept up to the last final recognition: its text is settled, and the utterance continues.
    case settleAudio(Identity)
    /// The user's last utterance goes on: keep its audio together with that from `leadIn` ago on.
    case continueUtterance(Identity, leadIn: Duration)
    /// Forget the audio kept for this user, except for `continueUtterance`.
    case endUtterance(Identity)
    /// The last message that this turn responds to is only a part of what the user says: remove it from the conversation.
    case retractLastMessage(TurnID)
    /// Publish a revision of a user's transcript.
    case transcript(UserTranscript)
    /// Respond to all that was said since the last response that was heard. `because` has the times of the end of the turn.
    case respond(TurnID, [UserMessage], EndOfTurn)
    /// Stop responding: nothing of this turn was audible yet.
    case cancelResponse(TurnID)
    /// Stop playing at once, but keep what was not played: the user may not mean to interrupt.
    case interrupt(TurnID)
    /// Continue playing where `interrupt` stopped.
    case resumeSpeech(TurnID)
    /// The interruption is final: discard what was not played, and stop responding.
    case abandonSpeech(TurnID)
    /// Nothing of a turn was audible after `TurnSettings.responseTimeout`: it has failed.
    case timedOut(TurnID)
    /// Say something that is not a response.
    case say(TurnID, AssistantPhrase)
    case state(AgentState)
}

/// Number of a turn of the assistant, increasing.
struct TurnID: Sendable, Hashable, Comparable {
    var value: Int
    init(_ value: Int) { self.value = value }
    static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

/// Number of a recognition request, increasing.
struct RecognitionID: Sendable, Hashable {
    var value: Int
    init(_ value: Int) { self.value = value }
}

/// Something the assistant says on its own.
enum AssistantPhrase: Sendable, Hashable {
    /// After 10 s of silence.
    case question
    /// A response failed.
    case apology
    /// Speech was not understood because the recognizer failed.
    case notUnderstood
}

/// A user's words so far, or finally, in one utterance.
struct UserTranscript: Sendable, Hashable {
    var speaker: Identity
    /// Unique among the utterances of this call.
    var utterance: Int
    var revision: Int
    var text: String
    var isFinal: Bool
    var language = ""
}

/// A user's speech, text or digits, for the responder.
struct UserMessage: Sendable, Hashable {
    enum Kind: Sendable, Hashable { case speech, text, digits }

    var speaker: Identity
    var text: String
    var kind: Kind
}

/// The times at which a user's turn ended, for measurements.
struct EndOfTurn: Sendable, Hashable {
    /// The last speech; for text and digits, when they arrived.
    var speechEnded: Instant
    /// When the turn was taken.
    var decided: Instant
    /// How long the final recognition took; nil without one.
    var recognition: Duration?
}

/// Times and limits of turn-taking.
public struct TurnSettings: Sendable, Hashable {
    public var segmenter = SpeechSegmenter.Settings()
    /// Silence after which the final recognition and the turn detector start; their results are discarded if speech continues.
    public var recognizeAfter = Duration.milliseconds(90)
    public var pauses = TurnPauses()
    public var continuation = TurnContinuation()
    /// Detected speech of a user that interrupts the assistant: after 150 to 190 ms of voice, because detectors notice it 20 to 60 ms late.
    public var bargeIn = Duration.milliseconds(128)
    public var sounds = SoundSettings()
    /// Speech between two partial results; longer if the recognizer needs longer.
    public var partialInterval = Duration.milliseconds(600)
    /// A pause in a piece of this length settles its text, which bounds the audio of one recognition.
    public var pieceMin = Duration.seconds(6)
    /// The pause that settles a piece of the length `pieceMin`. The longer the piece, the shorter the pause; below 100 ms it may be within a word.
    public var piecePause = Duration.milliseconds(300)
    /// A piece is settled at this length even without a pause.
    public var pieceMax = Duration.seconds(14)
    /// A transcript is final at this length even if the user speaks on. The assistant waits for a pause all the same.
    public var utteranceMax = Duration.seconds(60)
    /// A recognition that takes longer has failed.
    public var recognitionTimeout = Duration.seconds(5)
    /// A response of which nothing is audible after this time has failed.
    public var responseTimeout = Duration.seconds(20)
    /// Pause after the last of several digits.
    public var digitPause = Duration.milliseconds(800)
    /// Silence after which the assistant asks a question, once.
    public var questionAfter = Duration.seconds(10)
    /// Microphones below this level are silent, in dBov.
    public var silenceLevel = -50.0

    public init() {}
}

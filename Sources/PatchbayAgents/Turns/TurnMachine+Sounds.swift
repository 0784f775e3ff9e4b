/// Utterances that are no turn: backchannels, the assistant's own voice, coughs, and the babble of others.
///
/// An utterance that goes on after a false end is none of these.
extension TurnMachine {
    var isInterrupted: Bool {
        if case .interrupted = floor { true } else { false }
    }

    /// Whether an utterance is no speech of its user; its transcript is withdrawn.
    func isSound(_ text: String, of speaker: Speaker, _ utterance: UtteranceTracker) -> Bool {
        guard utterance.earlierText == nil else { return false }
        let voiced = speaker.segmenter.voiced
        if voiced >= settings.sounds.babbleMin, utterance.loudness.spread < settings.sounds.spreadMin { return true }
        guard isInterrupted else { return false }
        return UtteranceText.isEcho(text, of: spoken.words)
            || (voiced <= settings.sounds.syllableMax && UtteranceText.isInventedSyllable(text))
    }

    /// Whether an utterance leaves the turn to the assistant, or asks for no answer while the assistant is silent.
    func isAcknowledgement(_ text: String, of speaker: Speaker, _ utterance: UtteranceTracker) -> Bool {
        guard utterance.earlierText == nil else { return false }
        let voiced = speaker.segmenter.voiced
        if isInterrupted {
            return UtteranceText.isBackchannel(text) || (voiced <= settings.sounds.syllableMax && UtteranceText.resemblesBackchannel(text))
        }
        // Whatever follows a question may be its answer.
        guard pending.isEmpty, !spoken.isQuestion else { return false }
        return UtteranceText.isAcknowledgement(
            text, isShort: voiced <= settings.sounds.soundMax, isSyllable: voiced <= settings.sounds.syllableMax)
    }
}

/// How sounds that are no turn are told from speech.
public struct SoundSettings: Sendable, Hashable {
    /// A single word in so little speech over the assistant's is ignored as a cough or a sigh, unless it is a word such as "stop".
    public var syllableMax = Duration.milliseconds(480)
    /// The same while the assistant is silent, when users answer with single words.
    public var soundMax = Duration.milliseconds(330)
    /// Speech of at least this length whose level varies less than `spreadMin` is the babble of others.
    public var babbleMin = Duration.milliseconds(1_200)
    /// Standard deviation of the level of a single voice near the microphone, in dB. Speech of one voice has 8 or more.
    public var spreadMin = 3.5

    public init() {}
}

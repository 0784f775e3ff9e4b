/// The silence that ends a turn, by what was said and by how it sounded. A pure value.
///
/// Recognizers write full stops after half sentences, so the text alone ends turns early. A turn detector judges the sound: the more certain it
/// is that the user has finished, the shorter the pause. Without a judgement, the text decides.
public struct TurnPauses: Sendable, Hashable {
    /// A turn detector judges the utterances. Turns end by their text alone if it takes longer than `judgementMax`.
    public var usesTurnDetector = false
    /// Silence after which a missing judgement is not waited for.
    public var judgementMax = Duration.milliseconds(600)
    /// Silence that ends a turn that sounds finished, and whose text does not contradict.
    public var finished = Duration.milliseconds(310)
    /// Silence that ends a turn that sounds unfinished.
    public var unfinished = Duration.milliseconds(1_150)
    /// From this probability on, a turn sounds finished. Below it, the pause grows up to `unfinished`, fast at first: false ends often sound
    /// nearly finished.
    public var certainty: Float = 0.92
    /// The longest silence after a question.
    public var question = Duration.milliseconds(700)
    /// The longest silence after words that are a whole utterance, such as "hello": detectors are unsure of short ones.
    public var shortUtterance = Duration.milliseconds(400)

    /// The shortest silence after one or two other words: the beginning of a sentence sounds like a whole one, unless it answers a question.
    public var fewWords = Duration.milliseconds(800)

    /// By the text alone: silence that ends a turn whose text ends like a sentence.
    public var afterSentence = Duration.milliseconds(250)
    /// By the text alone: silence that ends a turn otherwise.
    public var unknown = Duration.milliseconds(350)
    /// By the text alone: silence that ends a turn whose text ends in the middle of a sentence.
    public var withinSentence = Duration.milliseconds(700)
    /// By the text alone: speech after which the pauses become longer, by a tenth of what exceeds it, because who speaks at length pauses to
    /// think.
    public var longTurn = Duration.seconds(3)
    /// The longest addition for long turns.
    public var longTurnMax = Duration.milliseconds(600)

    public init() {}

    /// - Parameters:
    ///   - text: all that the user has said.
    ///   - probability: that the user has finished, by the sound; nil if it was not judged.
    ///   - isAnswer: the assistant's last words were a question.
    ///   - speech: the length of the speech, including earlier utterances that it continues.
    func silence(after text: String, soundsFinished probability: Float?, isAnswer: Bool = false, speech: Duration) -> Duration {
        let completeness = UtteranceText.completeness(of: text)
        guard let probability else { return silence(after: completeness, speech: speech) }
        // Words that rarely end a sentence weigh more than its sound.
        if completeness == .incomplete { return unfinished }
        let doubt = Double(max(certainty - probability, 0) / certainty)
        let pause = finished + (unfinished - finished) * (doubt.squareRoot() * doubt.squareRoot().squareRoot())
        if UtteranceText.isWholeUtterance(text) { return min(pause, shortUtterance) }
        if completeness != .question, !isAnswer, UtteranceText.words(of: text).count <= 2 { return max(pause, fewWords) }
        return completeness == .question ? min(pause, question) : pause
    }

    private func silence(after completeness: UtteranceText.Completeness, speech: Duration) -> Duration {
        let pause =
            switch completeness {
            case .complete, .question: afterSentence
            case .incomplete: withinSentence
            case .unknown: unknown
            }
        return pause + min(max((speech - longTurn) / 10, .zero), longTurnMax)
    }
}

/// When speech after the end of a turn continues it: the end was a false one. A pure value.
public struct TurnContinuation: Sendable, Hashable {
    /// An utterance continues an earlier one whose speech ended at most this long before.
    public var pauseMax = Duration.milliseconds(1_500)
    /// Speech that begins at most this long after the response did is no reaction to it, and therefore continues what was said before.
    public var reactionMin = Duration.milliseconds(450)
    /// The audio of an utterance that continues is recognized again together with what follows. Not with realtime providers, which have
    /// received it already.
    public var isEnabled = true

    public init() {}
}

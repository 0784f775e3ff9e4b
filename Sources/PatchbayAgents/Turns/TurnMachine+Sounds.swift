/// Utterances that are no turn: backchannels, the assistant's own voice, coughs, and the babble of others.
///
/// An utterance that goes on after a false end is none of these.
extension TurnMachine {
    /// Whether the assistant speaks, or did until it was interrupted.
    var isOverAssistant: Bool {
        switch floor {
        case .speaking, .interrupted: true
        case .listening, .thinking: false
        }
    }

    /// Whether what a user says so far is a voice near the microphone, and neither noise nor the babble of others.
    func isOneVoice(_ speaker: Speaker) -> Bool {
        let (voiced, clear) = (speaker.segmenter.voiced, speaker.segmenter.clear)
        guard clear >= max(settings.sounds.clearMin, voiced * settings.sounds.clearShareMin) else { return false }
        return voiced < settings.sounds.spreadAfter || !isBabble(speaker)
    }

    /// Whether the level varies as little as that of many voices. Noise reduces the variation of one voice, too.
    private func isBabble(_ speaker: Speaker) -> Bool {
        guard let loudness = speaker.utterance?.loudness else { return false }
        let sounds = settings.sounds
        let isNoisy = speaker.background.value.map { loudness.mean - $0 < sounds.noisyBelow } ?? false
        let isDoubtful = speaker.segmenter.clear < speaker.segmenter.voiced * sounds.doubtfulBelow
        return loudness.spread < (isNoisy ? sounds.spreadMinInNoise : isDoubtful ? sounds.spreadMinInDoubt : sounds.spreadMin)
    }

    /// Silence after which what a user has said is recognized.
    func recognizeAfter(_ speaker: Speaker) -> Duration {
        let mayBeBackchannel = isOverAssistant && speaker.segmenter.voiced <= settings.sounds.backchannelMax
        return mayBeBackchannel ? settings.sounds.recognizeAfter : settings.recognizeAfter
    }

    /// Whether an utterance is no speech of its user; its transcript is withdrawn.
    func isSound(_ text: String, of speaker: Speaker, _ utterance: UtteranceTracker) -> Bool {
        guard utterance.earlierText == nil else { return false }
        let voiced = speaker.segmenter.voiced
        if speaker.segmenter.clear < voiced * settings.sounds.unclearBelow { return true }
        if voiced >= settings.sounds.babbleMin, isBabble(speaker) { return true }
        guard isOverAssistant else { return false }
        return UtteranceText.isEcho(text, of: spoken.words)
            || (voiced <= settings.sounds.syllableMax && UtteranceText.isInventedSyllable(text))
    }

    /// Whether an utterance leaves the turn to the assistant, or asks for no answer while the assistant is silent.
    func isAcknowledgement(_ text: String, of speaker: Speaker, _ utterance: UtteranceTracker) -> Bool {
        guard utterance.earlierText == nil else { return false }
        let voiced = speaker.segmenter.voiced
        if isOverAssistant {
            if UtteranceText.isBackchannel(text) { return true }
            guard voiced <= settings.sounds.syllableMax else { return false }
            if UtteranceText.resemblesBackchannel(text) { return true }
            // A single word before a comma may begin a sentence.
            let mayContinue = text.hasSuffix(",") && UtteranceText.words(of: text).count == 1
            return !mayContinue && UtteranceText.isAcknowledgement(text, isShort: false, isSyllable: true)
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
    /// So little speech over the assistant's may be a backchannel, which is recognized after a shorter silence, for the assistant to go on soon.
    public var backchannelMax = Duration.milliseconds(640)
    public var recognizeAfter = Duration.milliseconds(32)
    /// Silence after which the assistant goes on after other sounds: what seems to be one may be the first word of a sentence.
    public var inventedPause = Duration.milliseconds(250)
    /// Clear speech (`SpeechSegmenter.Settings.clear`) that interrupts the assistant, at least, and its share of all speech of the utterance.
    /// One voice without noise has 0.65 or more, babble mostly less than 0.1.
    public var clearMin = Duration.milliseconds(64)
    public var clearShareMin = 0.4
    /// An utterance with a smaller share is no turn.
    public var unclearBelow = 0.2
    /// The babble of others does not interrupt the assistant if it shows after this much speech, nor is it a turn after `babbleMin`.
    public var spreadAfter = Duration.milliseconds(320)
    public var babbleMin = Duration.milliseconds(1_200)
    /// The standard deviation of the level of a single voice near the microphone, in dB, is mostly 7 or more, in noise 3 or more. That of babble
    /// is below 3.5.
    public var spreadMin = 3.0
    public var spreadMinInNoise = 2.2
    /// Speech is doubtful with a smaller share of clear speech. Its level must vary more.
    public var doubtfulBelow = 0.75
    public var spreadMinInDoubt = 4.5
    /// Speech is in noise if it is louder than the room by less, in dB.
    public var noisyBelow = 20.0

    public init() {}
}

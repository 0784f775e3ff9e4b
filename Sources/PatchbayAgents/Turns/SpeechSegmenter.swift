/// Finds utterances in a stream of voice activity: where speech begins, pauses and resumes. Its user decides which pause ends an utterance.
///
/// A pure value. Time is media time since the first window, so a stalled network neither shortens nor lengthens a pause.
public struct SpeechSegmenter: Sendable, Hashable {
    /// One window of a detector.
    struct Window: Sendable, Hashable {
        /// The probability of speech, 0 to 1.
        var probability: Float
        var duration: Duration
        /// Whether the window contains mainly the assistant's own voice, and therefore does not count as speech.
        var isEcho = false
    }

    enum Event: Sendable, Hashable {
        /// Speech began `leadIn` before the end of this window.
        case began(leadIn: Duration)
        /// Speech continues after a pause that was reported with `paused`.
        case resumed
        /// There has been no speech for `silence`. Reported with every silent window of an utterance.
        case paused(silence: Duration)
    }

    public struct Settings: Sendable, Hashable {
        /// A window begins or continues speech from this probability on.
        public var onset: Float = 0.5
        /// A window within an utterance counts as speech down to this probability.
        public var offset: Float = 0.35
        /// Speech that begins an utterance; shorter bursts are ignored.
        public var onsetDuration = Duration.milliseconds(64)
        /// A window from this probability on is clear speech: that of one voice near the microphone nearly always is, babble seldom.
        public var clear: Float = 0.93
        /// Utterances with less speech are noise: a click, a cough.
        public var voicedMin = Duration.milliseconds(190)

        public init() {}
    }

    private enum Phase: Hashable {
        case silent
        /// Speech for less than `onsetDuration` so far.
        case rising(Duration)
        case speaking
        case pausing(Duration)
    }

    private let settings: Settings
    private var phase = Phase.silent
    /// Speech in the current utterance.
    private(set) var voiced = Duration.zero
    /// The part of `voiced` that is clear speech.
    private(set) var clear = Duration.zero

    init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    var isInUtterance: Bool {
        switch phase {
        case .silent, .rising: false
        case .speaking, .pausing: true
        }
    }

    /// - Returns: what this window changes, or nil.
    mutating func process(_ window: Window) -> Event? {
        let threshold = isInUtterance ? settings.offset : settings.onset
        let isSpeech = window.probability >= threshold && !window.isEcho
        if phase == .silent { (voiced, clear) = (.zero, .zero) }
        if isSpeech { voiced += window.duration }
        if isSpeech, window.probability >= settings.clear { clear += window.duration }
        switch phase {
        case .silent:
            return isSpeech ? rise(window.duration) : nil
        case .rising(let risen):
            if isSpeech { return rise(risen + window.duration) }
            phase = .silent
            return nil
        case .speaking:
            guard !isSpeech else { return nil }
            phase = .pausing(window.duration)
            return .paused(silence: window.duration)
        case .pausing(let silence):
            if isSpeech {
                phase = .speaking
                return .resumed
            }
            let silence = silence + window.duration
            phase = .pausing(silence)
            return .paused(silence: silence)
        }
    }

    /// Ends the utterance in progress, for example because the turn was taken.
    mutating func end() {
        phase = .silent
        (voiced, clear) = (.zero, .zero)
    }

    private mutating func rise(_ risen: Duration) -> Event? {
        guard risen >= settings.onsetDuration else {
            phase = .rising(risen)
            return nil
        }
        phase = .speaking
        return .began(leadIn: risen)
    }
}

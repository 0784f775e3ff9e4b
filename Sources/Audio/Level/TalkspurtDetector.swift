/// Tells speech from background by energy alone, frame by frame.
///
/// A frame is loud if it is 9 dB above an adaptive noise floor and above -55 dBov. A loud frame starts a talkspurt, and the talkspurt
/// goes on until 200 ms have passed without another (the hangover), so that pauses between syllables do not end it.
/// The floor follows a quieter background at once and a louder one at 3 dB a second, so steady noise stops counting as
/// speech within seconds.
///
/// It is simple on purpose: a door that slams is speech to it, a whisper beside a fan is not. It does for the voice bit and for
/// saving bits. Whoever decides on it when a person has finished a sentence wants a trained model.
public struct TalkspurtDetector: Sendable {
    /// How far above the floor a frame has to be, in dB.
    public static let margin = 9.0
    /// No frame below this is speech, in dBov: microphones' own noise lies there.
    public static let gate = -55.0
    public static let hangover = Duration.milliseconds(200)

    private static let floorRange = -75.0 ... -20.0
    private static let floorRisePerSecond = 3.0

    private let sampleRate: Int
    private let channels: Int
    /// The estimated background, in dBov.
    private var floor = -60.0
    /// What is left of the hangover, in samples a channel; nil outside a talkspurt.
    private var samplesLeft: Int?

    /// - Parameters:
    ///   - sampleRate: Hz, above zero.
    ///   - channels: interleaved channels, above zero.
    public init(sampleRate: Int = 48_000, channels: Int = 1) {
        precondition(sampleRate > 0 && channels > 0, "A talkspurt detector needs a sample rate and a channel count above zero.")
        self.sampleRate = sampleRate
        self.channels = channels
    }

    public var isInTalkspurt: Bool { samplesLeft != nil }

    /// Takes the next frame, 10 to 60 ms of it; 20 ms is usual.
    public mutating func classify(_ pcm: Span<Int16>) -> VoiceActivity {
        let samples = pcm.count / channels
        let decibels = AudioLevel.decibels(of: pcm)
        let isLoud = decibels > max(floor + Self.margin, Self.gate)
        adaptFloor(to: decibels, samples: samples)

        let wasInTalkspurt = isInTalkspurt
        if isLoud {
            samplesLeft = Self.samples(in: Self.hangover, at: sampleRate)
        } else if let left = samplesLeft {
            samplesLeft = left > samples ? left - samples : nil
        }
        return VoiceActivity(
            level: AudioLevel(decibels: decibels),
            isVoice: isInTalkspurt || wasInTalkspurt,
            startsTalkspurt: isInTalkspurt && !wasInTalkspurt,
            endsTalkspurt: wasInTalkspurt && !isInTalkspurt)
    }

    public mutating func classify(_ pcm: [Int16]) -> VoiceActivity {
        classify(pcm.span)
    }

    /// Halfway down at once, since a quiet frame proves the background is quiet; slowly up, since a loud one proves nothing.
    private mutating func adaptFloor(to decibels: Double, samples: Int) {
        if decibels < floor {
            floor = (floor + decibels) / 2
        } else {
            floor = min(decibels, floor + Self.floorRisePerSecond * Double(samples) / Double(sampleRate))
        }
        floor = min(max(floor, Self.floorRange.lowerBound), Self.floorRange.upperBound)
    }

    private static func samples(in span: Duration, at sampleRate: Int) -> Int {
        Int(span / .milliseconds(1)) * sampleRate / 1_000
    }
}

/// Energy-based voice activity detection, frame by frame.
///
/// A frame is loud if it is 9 dB above an adaptive noise floor and above -55 dBov. A loud frame starts a talkspurt, which lasts until 200 ms
/// pass without another (the hangover), so pauses between syllables do not end it. The floor follows a quieter background at once and a louder
/// one at 3 dB/s, so steady noise stops counting as speech within seconds.
///
/// Deliberately simple: a slammed door counts as speech, a whisper next to a fan does not. Sufficient for the voice bit and for DTX. To detect
/// the end of a sentence, use a trained model.
public struct TalkspurtDetector: Sendable {
    /// Minimum distance of a loud frame from the floor, in dB.
    public static let margin = 9.0
    /// Frames below this are never speech, in dBov: the level of microphone noise.
    public static let gate = -55.0
    public static let hangover = Duration.milliseconds(200)

    private static let floorRange = -75.0 ... -20.0
    private static let floorRisePerSecond = 3.0

    private let sampleRate: Int
    private let channels: Int
    /// The estimated background, in dBov.
    private var floor = -60.0
    /// Rest of the hangover in samples per channel; nil outside a talkspurt.
    private var samplesLeft: Int?

    /// - Parameters:
    ///   - sampleRate: Hz, above zero.
    ///   - channels: interleaved channels, above zero.
    public init(sampleRate: Int = 48_000, channels: Int = 1) {
        precondition(sampleRate > 0 && channels > 0, "sample rate and channel count must be positive")
        self.sampleRate = sampleRate
        self.channels = channels
    }

    public var isInTalkspurt: Bool { samplesLeft != nil }

    /// Classifies the next frame of 10 to 60 ms; 20 ms is usual.
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

    /// Falls by half the difference at once, because a quiet frame proves that the background is quiet; rises slowly, because a loud one proves
    /// nothing.
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

/// A `TalkspurtDetector`'s verdict about a frame, for the level byte and the flags of its header.
public struct VoiceActivity: Hashable, Sendable {
    public let level: AudioLevel
    /// The voice bit (RFC 6464): true for the whole talkspurt, including pauses between words.
    public let isVoice: Bool
    /// The first frame of a talkspurt.
    public let startsTalkspurt: Bool
    /// The last frame of a talkspurt. Known only after the hangover, so the frame itself is quiet.
    public let endsTalkspurt: Bool
}

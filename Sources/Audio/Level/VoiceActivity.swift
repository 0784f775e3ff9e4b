/// What a `TalkspurtDetector` says about one frame: what the frame header's level byte and flags want to know.
public struct VoiceActivity: Hashable, Sendable {
    public let level: AudioLevel
    /// The voice bit (RFC 6464): true for the whole talkspurt, the pauses between words included.
    public let isVoice: Bool
    /// The first frame of a talkspurt.
    public let startsTalkspurt: Bool
    /// The last frame of a talkspurt. Known only after the hangover, so it is quiet itself.
    public let endsTalkspurt: Bool
}

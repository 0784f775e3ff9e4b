/// Detects speech in a stream of PCM at 16 kHz, mono.
///
/// An instance keeps the state of one track and belongs to one task; `VoiceActivityDetectorFactory` makes one for each track.
public protocol VoiceActivityDetector: AnyObject {
    /// Samples per window at 16 kHz, 512 (32 ms) for Silero.
    var windowSize: Int { get }

    /// The probability, 0 to 1, that `window` contains speech.
    ///
    /// - Parameter window: the next `windowSize` samples, −1 to 1.
    /// - Throws: `ProviderError`.
    func probability(of window: [Float]) throws -> Float

    /// Forgets the stream so far, for example after a pause without packets.
    func reset()
}

/// Makes a detector for each track. Thread-safe.
public protocol VoiceActivityDetectorFactory: Sendable {
    /// - Throws: `ProviderError` if the model cannot be loaded.
    func makeDetector() throws -> any VoiceActivityDetector
}

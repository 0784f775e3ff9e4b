/// Voice activity detection with Silero v6 at 16 kHz.
///
/// About 70 µs of CPU time per window. Belongs to one task; detectors share the model.
public final class SileroDetector: VoiceActivityDetector {
    public static let windowSize = 512
    /// Samples of the previous window that precede each window.
    private static let contextSize = 64
    private static let stateShape: [Int64] = [2, 1, 128]

    private let session: ONNXSession
    private var state = [Float](repeating: 0, count: 256)
    private var context = [Float](repeating: 0, count: contextSize)

    init(_ session: ONNXSession) {
        self.session = session
    }

    public var windowSize: Int { Self.windowSize }

    public func probability(of window: [Float]) throws -> Float {
        precondition(window.count == Self.windowSize, "a window has \(Self.windowSize) samples, not \(window.count)")
        // A single value that is not a number would make all later results so.
        let window = window.map { $0.isFinite ? min(max($0, -1), 1) : 0 }
        let results = try session.run([
            .float(context + window, shape: [1, Int64(Self.contextSize + Self.windowSize)]),
            .float(state, shape: Self.stateShape),
            .int64([16_000], shape: [1]),
        ])
        guard let probability = results[0].first, results[1].count == state.count else {
            throw ProviderError(.invalidResponse, "The voice activity detector returned no result.")
        }
        state = results[1]
        context = Array(window.suffix(Self.contextSize))
        return min(max(probability, 0), 1)
    }
}

/// Makes a Silero detector for each track; the model is loaded once.
public struct SileroDetectorFactory: VoiceActivityDetectorFactory {
    private let session: ONNXSession

    /// Loads the model, about 30 ms.
    ///
    /// - Throws: `ProviderError` with code `unavailable`.
    public init(models: ModelsFolder = .standard) throws {
        try models.require(.detector)
        session = try ONNXSession(
            models.detectorModel, runtime: .shared(models), inputs: ["input", "state", "sr"], outputs: ["output", "stateN"])
    }

    public func makeDetector() throws -> any VoiceActivityDetector { SileroDetector(session) }
}

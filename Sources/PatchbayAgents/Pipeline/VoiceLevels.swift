internal import Wire

/// The levels of the last seconds of a microphone, to find the end of a voice more exactly than a detector does: detectors judge long windows,
/// and notice an end late. A pure value.
struct VoiceLevels: Sendable {
    private struct Piece {
        let end: Instant
        /// dBov.
        let level: Double
    }

    /// Samples of a piece: 8 ms.
    private static let pieceSize = 128
    /// About 4 s.
    private static let piecesMax = 512
    /// A voice is louder than this, in dBov, and at most so many dB below the loudest piece.
    private static let levelMin = -45.0
    private static let range = 30.0
    /// How late a detector may notice the end of a voice.
    private static let delayMax = Duration.milliseconds(400)

    private var pieces: [Piece] = []

    mutating func append(_ samples: [Float], from start: Instant) {
        if pieces.count > 2 * Self.piecesMax { pieces.removeFirst(pieces.count - Self.piecesMax) }
        for first in stride(from: 0, to: samples.count, by: Self.pieceSize) {
            let last = min(first + Self.pieceSize, samples.count)
            pieces.append(Piece(end: start + Microphone.duration(of: last), level: Microphone.level(of: samples[first..<last])))
        }
    }

    /// The end of the last piece with voice, up to `detected`; `detected` if the level does not show it.
    func last(before detected: Instant) -> Instant {
        let recent = pieces.filter { $0.end <= detected }
        let loudest = recent.map(\.level).max() ?? -127
        let threshold = max(Self.levelMin, loudest - Self.range)
        guard let last = recent.last(where: { $0.level > threshold }), detected - last.end <= Self.delayMax else { return detected }
        return last.end
    }
}

internal import Wire

/// The recent output of a track, to find the audible position while the output device buffers a part.
struct PlayoutHistory {
    /// 2 s of 20 ms chunks, more than any output device buffers.
    private static let piecesMax = 100

    /// In order; each piece starts where the previous one ended.
    private var pieces: [(ticks: Int, end: MediaTime)] = []
    private var start: MediaTime?

    /// Audio starts at `timestamp`, after nothing or after silence that is not part of the track.
    mutating func begin(at timestamp: MediaTime) {
        if start == nil { start = timestamp }
    }

    /// Appends `ticks` of output that ends at `end` on the track; nil if no audio has begun.
    mutating func append(_ ticks: Int, upTo end: MediaTime?) {
        guard let end, start != nil else { return }
        pieces.append((ticks, end))
        if pieces.count > Self.piecesMax { start = pieces.removeFirst().end }
    }

    /// The position heard while the last `heldTicks` of output are not audible yet; nil if nothing was heard.
    func position(heldTicks: Int) -> MediaTime? {
        var held = heldTicks
        for (index, piece) in pieces.enumerated().reversed() {
            if held <= 0 { return piece.end }
            if held < piece.ticks {
                // Not before the piece's start: it may contain silence that is not part of the track.
                let before = index > 0 ? pieces[index - 1].end : start ?? piece.end
                let position = piece.end.advanced(by: -held)
                return position.distance(from: before) > 0 ? position : index > 0 || position != before ? before : nil
            }
            held -= piece.ticks
        }
        return pieces.count == Self.piecesMax ? start : nil
    }

    /// Ticks of the track from `position` to the end of the output.
    func ticksAfter(_ position: MediaTime?) -> Int {
        guard let end = pieces.last?.end, let from = position ?? start else { return 0 }
        return max(Int(end.distance(from: from)), 0)
    }
}

internal import Wire

/// What was given out of a track lately, to tell which of it has been heard when a part of it is still on its way to the ear.
struct PlayedTrail {
    /// 2 s: no output device holds more.
    private static let piecesMax = 100

    /// Pieces in order; each goes on from where the one before ended.
    private var pieces: [(ticks: Int, end: MediaTime)] = []
    private var start: MediaTime?

    /// Sound begins there, after nothing, or after a silence that is no part of the track.
    mutating func begin(at timestamp: MediaTime) {
        if start == nil { start = timestamp }
    }

    /// So many ticks were given out, the last of them at `end` of the track; nil if nothing has begun.
    mutating func gave(_ ticks: Int, upTo end: MediaTime?) {
        guard let end, start != nil else { return }
        pieces.append((ticks, end))
        if pieces.count > Self.piecesMax { start = pieces.removeFirst().end }
    }

    /// Up to where the track has been heard, if the last `heldTicks` that were given out have not; nil if nothing of it has.
    func position(heldTicks: Int) -> MediaTime? {
        var held = heldTicks
        for (index, piece) in pieces.enumerated().reversed() {
            if held <= 0 { return piece.end }
            if held < piece.ticks {
                // Not before the piece began: a part of it may have been silence that is not on the track.
                let before = index > 0 ? pieces[index - 1].end : start ?? piece.end
                let position = piece.end.advanced(by: -held)
                return position.distance(from: before) > 0 ? position : index > 0 || position != before ? before : nil
            }
            held -= piece.ticks
        }
        return pieces.count == Self.piecesMax ? start : nil
    }

    /// How much of the track lies between there and the end of what was given out.
    func ticksAfter(_ position: MediaTime?) -> Int {
        guard let end = pieces.last?.end, let from = position ?? start else { return 0 }
        return max(Int(end.distance(from: from)), 0)
    }
}

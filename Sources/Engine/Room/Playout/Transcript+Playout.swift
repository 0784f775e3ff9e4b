package import Wire

/// What of an assistant's words was heard.
extension Transcript {
    /// What was played of one utterance when it was cleared.
    package struct Interruption: Sendable {
        /// Up to here; nil if nothing of this utterance was heard.
        package var heard: MediaTime?
        /// The furthest that was heard of any utterance.
        package var furthest: MediaTime?
        /// The utterance's first frame and the end of what was published; nil if there was none.
        package var first: MediaTime?
        package var end: MediaTime?

        package init(heard: MediaTime?, furthest: MediaTime?, first: MediaTime?, end: MediaTime?) {
            self.heard = heard
            self.furthest = furthest
            self.first = first
            self.end = end
        }

        /// Ticks of the utterance that were heard, and all.
        var share: (played: Int, whole: Int) {
            guard let first, let end else { return (0, 0) }
            return (heard.map { Int($0.distance(from: first)) } ?? 0, Int(end.distance(from: first)))
        }
    }

    /// An utterance was heard to its end: what belongs to it is not touched by later clears.
    package mutating func settle(upTo heard: MediaTime, where isMeant: (TranscriptSegment) -> Bool) {
        for index in entries.indices where isMeant(entries[index].segment) {
            let end = entries[index].segment.endTs.map(MediaTime.init(ticks:))
            if end.map({ heard.distance(from: $0) >= 0 }) ?? true { entries[index].isSettled = true }
        }
    }

    /// Marks what was heard of the segments that a clear concerns, and gives those that it changed.
    package mutating func cut(_ cut: Interruption, where isMeant: (TranscriptSegment) -> Bool) -> [TranscriptSegment] {
        let indices = entries.indices.filter { index in
            let segment = entries[index].segment
            return !entries[index].isSettled && segment.spoken != .completed && segment.spoken != .interrupted && isMeant(segment)
        }
        var untimed = Untimed(texts: indices.map { entries[$0].segment }.filter { !$0.isTimed }, cut)
        return indices.map { index in
            let segment = entries[index].segment
            let spoken = segment.isTimed ? Self.spokenChars(of: segment, cut) : untimed.take(segment.text.unicodeScalars.count)
            let isWhole = segment.final && spoken.isAll
            entries[index].segment.rev += 1
            entries[index].segment.spoken = isWhole ? .completed : .interrupted
            entries[index].segment.spokenChars = spoken.count
            entries[index].isCut = !isWhole
            entries[index].isSettled = true
            return entries[index].segment
        }
    }

    private static func spokenChars(of segment: TranscriptSegment, _ cut: Interruption) -> (count: Int, isAll: Bool) {
        let text = SpokenTextEstimator(segment.text)
        guard let heard = cut.furthest else { return (0, false) }
        if let words = segment.words, let last = words.last {
            let end = segment.endTs ?? last.endTs
            if heard.distance(from: MediaTime(ticks: end)) >= 0 { return (text.count, true) }
            return (text.count(of: words, playedUpTo: heard), false)
        }
        guard let start = segment.startTs.map(MediaTime.init(ticks:)) ?? cut.first,
            let end = segment.endTs.map(MediaTime.init(ticks:)) ?? cut.end
        else { return (0, false) }
        let played = Int(heard.distance(from: start))
        let whole = Int(end.distance(from: start))
        return (text.count(ofPlayed: played, of: whole), played > 0 && played >= whole)
    }
}

/// Segments of one utterance that do not say when they are spoken: together they are taken to last as long as it, a scalar like another.
private struct Untimed {
    private var left: Int
    private let isAll: Bool

    init(texts: [TranscriptSegment], _ cut: Transcript.Interruption) {
        let whole = texts.reduce(0) { $0 + $1.text.unicodeScalars.count }
        let share = cut.share
        isAll = share.played > 0 && share.played >= share.whole
        left = isAll ? whole : share.played > 0 ? whole * share.played / share.whole : 0
    }

    mutating func take(_ count: Int) -> (count: Int, isAll: Bool) {
        let spoken = min(left, count)
        left -= spoken
        return (spoken, isAll || (spoken == count && left > 0))
    }
}

extension TranscriptSegment {
    /// It says when it is spoken, be it roughly.
    fileprivate var isTimed: Bool { startTs != nil || endTs != nil || words?.isEmpty == false }
}

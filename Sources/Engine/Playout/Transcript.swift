package import Wire

/// The latest transcript segments of a room, for participants that join later.
///
/// In order of first appearance: a revision replaces its segment in place. A segment evicted by later ones is forgotten; another
/// revision of it counts as new.
struct Transcript: Sendable {
    enum Outcome: Sendable, Hashable {
        case new, revised
        /// This revision or a later one is known.
        case stale
        /// The id belongs to a segment of another participant.
        case idInUse
    }

    struct Entry: Sendable {
        var segment: TranscriptSegment
        /// When its first revision arrived.
        let firstRevisionAt: Instant
        /// When the first revision arrived that went into the audit log. Every later revision goes there too.
        var recordedAt: Instant?
        /// Its played part is known; later clears do not change it.
        var isSettled = false
        /// Interrupted by a clear. Its text may be revised, its played part not.
        var isInterrupted = false
    }

    /// Oldest first.
    var entries: [Entry] = []

    var segments: [TranscriptSegment] { entries.map(\.segment) }
    /// Those that have gone into the audit log since a time.
    func recorded(since time: Instant) -> [TranscriptSegment] {
        entries.filter { $0.recordedAt.map { $0 >= time } ?? false }.map(\.segment)
    }

    /// Decides whether a revision belongs in the audit log: if it is final, was interrupted, or replaces one that is there.
    ///
    /// - Returns: when the segment's first revision and its first recorded revision arrived; nil if it is not to be recorded.
    mutating func record(_ segment: TranscriptSegment, at now: Instant) -> (began: Instant, ended: Instant)? {
        let index = entries.lastIndex { $0.segment.id == segment.id }
        let recordedAt = index.flatMap { entries[$0].recordedAt }
        guard segment.final || segment.spoken == .interrupted || recordedAt != nil else { return nil }
        guard let index else { return (now, now) }
        entries[index].recordedAt = recordedAt ?? now
        return (entries[index].firstRevisionAt, recordedAt ?? now)
    }

    /// Stores a segment, and restores the playout fields that its sender cannot know.
    mutating func apply(_ segment: inout TranscriptSegment, at now: Instant) -> Outcome {
        // From the end: revisions nearly always concern recent segments.
        guard let index = entries.lastIndex(where: { $0.segment.id == segment.id }) else {
            if entries.count == Limits.segmentsKeptMax { entries.removeFirst() }
            entries.append(Entry(segment: segment, firstRevisionAt: now))
            return .new
        }
        let known = entries[index]
        guard known.segment.participant == segment.participant else { return .idInUse }
        guard known.segment.rev < segment.rev else { return .stale }
        if known.isInterrupted {
            segment.spoken = known.segment.spoken
            segment.spokenChars = known.segment.spokenChars.map { min($0, segment.text.unicodeScalars.count) }
        }
        entries[index].segment = segment
        return .revised
    }
}

extension TranscriptSegment {
    /// The part of `text` that was heard: the first `spokenChars` Unicode scalars of an interrupted segment, else the whole text.
    package var spokenText: String {
        guard spoken == .interrupted, let spokenChars else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(max(0, spokenChars))))
    }
}

/// How much of an agent's transcript was played.
extension Transcript {
    /// The played part of an utterance when it was cleared.
    struct Interruption: Sendable {
        /// Position played; nil if nothing of this utterance was.
        var heard: MediaTime?
        /// The furthest position played in any utterance.
        var furthest: MediaTime?
        /// First frame of the utterance and end of what was published; nil if there was none.
        var first: MediaTime?
        var end: MediaTime?

        /// Ticks of the utterance that were played, and all of them.
        var share: (played: Int, whole: Int) {
            guard let first, let end else { return (0, 0) }
            return (heard.map { Int($0.distance(from: first)) } ?? 0, Int(end.distance(from: first)))
        }
    }

    /// Marks the segments of a completed utterance as settled.
    mutating func settle(upTo heard: MediaTime, where matches: (TranscriptSegment) -> Bool) {
        for index in entries.indices where matches(entries[index].segment) {
            let end = entries[index].segment.endTs.map(MediaTime.init(ticks:))
            if end.map({ heard.distance(from: $0) >= 0 }) ?? true { entries[index].isSettled = true }
        }
    }

    /// Marks how much of the segments was played when an utterance is cleared.
    ///
    /// - Returns: the segments that changed.
    mutating func interrupt(_ interruption: Interruption, where matches: (TranscriptSegment) -> Bool) -> [TranscriptSegment] {
        let indices = entries.indices.filter { index in
            let segment = entries[index].segment
            return !entries[index].isSettled && segment.spoken != .completed && segment.spoken != .interrupted && matches(segment)
        }
        var untimed = UntimedSegments(segments: indices.map { entries[$0].segment }.filter { !$0.isTimed }, interruption)
        return indices.map { index in
            let segment = entries[index].segment
            let spoken = segment.isTimed ? Self.spokenChars(of: segment, interruption) : untimed.take(segment.text.unicodeScalars.count)
            let isWhole = segment.final && spoken.isAll
            // A segment with the highest number keeps it.
            entries[index].segment.rev = min(segment.rev, Limits.segmentRevisionMax - 1) + 1
            entries[index].segment.spoken = isWhole ? .completed : .interrupted
            entries[index].segment.spokenChars = spoken.count
            entries[index].isInterrupted = !isWhole
            entries[index].isSettled = true
            return entries[index].segment
        }
    }

    private static func spokenChars(of segment: TranscriptSegment, _ interruption: Interruption) -> (count: Int, isAll: Bool) {
        let text = SpokenTextEstimator(segment.text)
        guard let heard = interruption.furthest else { return (0, false) }
        if let words = segment.words, let last = words.last {
            let end = segment.endTs ?? last.endTs
            if heard.distance(from: MediaTime(ticks: end)) >= 0 { return (text.count, true) }
            return (text.count(of: words, playedUpTo: heard), false)
        }
        guard let start = segment.startTs.map(MediaTime.init(ticks:)) ?? interruption.first,
            let end = segment.endTs.map(MediaTime.init(ticks:)) ?? interruption.end
        else { return (0, false) }
        let played = Int(heard.distance(from: start))
        let whole = Int(end.distance(from: start))
        return (text.count(ofPlayed: played, of: whole), played > 0 && played >= whole)
    }
}

/// Segments without times of one utterance: together they are assumed to last as long as it, each scalar the same time.
private struct UntimedSegments {
    private var left: Int
    private let isAll: Bool

    init(segments: [TranscriptSegment], _ interruption: Transcript.Interruption) {
        let whole = segments.reduce(0) { $0 + $1.text.unicodeScalars.count }
        let share = interruption.share
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
    /// Whether it has times, if only rough ones.
    fileprivate var isTimed: Bool { startTs != nil || endTs != nil || words?.isEmpty == false }
}

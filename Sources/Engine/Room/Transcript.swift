package import Wire

/// The latest segments of a room's transcript, for those who join later.
///
/// In order of first appearance: a revision takes the place of what it revises, so that a speaker's slow correction does
/// not jump behind an answer that was already given. A segment that has made room for later ones is forgotten; should a
/// revision of it still come, it counts as new.
package struct Transcript: Sendable {
    package enum Outcome: Sendable, Hashable {
        case new, revised
        /// This revision, or a later one, is known already.
        case stale
        /// The id names what somebody else said.
        case taken
    }

    struct Entry: Sendable {
        var segment: TranscriptSegment
        /// When its first revision came.
        let firstSaid: Instant
        /// What was heard of it is known: no clear changes that any more.
        var isSettled = false
        /// A clear cut it off. Its text may still be revised, what was heard of it not.
        var isCut = false
    }

    /// Oldest first.
    var entries: [Entry] = []

    package init() {}

    package var segments: [TranscriptSegment] { entries.map(\.segment) }

    /// When the first revision of a segment came; nil if it is forgotten.
    func firstSaid(_ id: String) -> Instant? { entries.last { $0.segment.id == id }?.firstSaid }

    /// Takes in a segment, and puts right what its sender can't know better.
    package mutating func take(_ segment: inout TranscriptSegment, at now: Instant) -> Outcome {
        // From the end: what is revised is nearly always among the last.
        guard let place = entries.lastIndex(where: { $0.segment.id == segment.id }) else {
            if entries.count == Limits.segmentsKeptMax { entries.removeFirst() }
            entries.append(Entry(segment: segment, firstSaid: now))
            return .new
        }
        let known = entries[place]
        guard known.segment.participant == segment.participant else { return .taken }
        guard known.segment.rev < segment.rev else { return .stale }
        if known.isCut {
            segment.spoken = known.segment.spoken
            segment.spokenChars = known.segment.spokenChars.map { min($0, segment.text.unicodeScalars.count) }
        }
        entries[place].segment = segment
        return .revised
    }
}

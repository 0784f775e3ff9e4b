package import Wire

/// The latest segments of a room's transcript, for those who join later.
///
/// In order of first appearance: a revision takes the index of what it revises, so that a speaker's slow correction does
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
        /// When its first revision arrived.
        let firstSaid: Instant
        /// When the first revision arrived that went into the audit log. Every later revision goes there too.
        var recordedAt: Instant?
        /// What was heard of it is known: no clear changes that any more.
        var isSettled = false
        /// A clear cut it off. Its text may still be revised, what was heard of it not.
        var isCut = false
    }

    /// Oldest first.
    var entries: [Entry] = []

    package init() {}

    package var segments: [TranscriptSegment] { entries.map(\.segment) }

    /// Decides whether a revision belongs in the audit log: if it is final, was interrupted, or replaces one that is there.
    ///
    /// - Returns: when the segment's first revision and its first recorded revision arrived; nil if it is not to be recorded.
    mutating func record(_ segment: TranscriptSegment, at now: Instant) -> (began: Instant, ended: Instant)? {
        let index = entries.lastIndex { $0.segment.id == segment.id }
        let recordedAt = index.flatMap { entries[$0].recordedAt }
        guard segment.final || segment.spoken == .interrupted || recordedAt != nil else { return nil }
        guard let index else { return (now, now) }
        entries[index].recordedAt = recordedAt ?? now
        return (entries[index].firstSaid, recordedAt ?? now)
    }

    /// Takes in a segment, and puts right what its sender can't know better.
    package mutating func take(_ segment: inout TranscriptSegment, at now: Instant) -> Outcome {
        // From the end: what is revised is nearly always among the last.
        guard let index = entries.lastIndex(where: { $0.segment.id == segment.id }) else {
            if entries.count == Limits.segmentsKeptMax { entries.removeFirst() }
            entries.append(Entry(segment: segment, firstSaid: now))
            return .new
        }
        let known = entries[index]
        guard known.segment.participant == segment.participant else { return .taken }
        guard known.segment.rev < segment.rev else { return .stale }
        if known.isCut {
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

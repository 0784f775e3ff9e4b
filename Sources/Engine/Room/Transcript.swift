package import Wire

/// The latest segments of a room's transcript, for those who join later.
///
/// In order of first appearance: a revision takes the place of what it revises, so that a speaker's slow correction does
/// not jump behind an answer that was already given. A segment that has made room for later ones is forgotten; should a
/// revision of it still come, it counts as new.
package struct Transcript: Sendable {
    package enum Outcome: Sendable {
        case new, revised
        /// This revision, or a later one, is known already.
        case stale
        /// The id names what somebody else said.
        case taken
    }

    /// Oldest first.
    package private(set) var segments: [TranscriptSegment] = []

    package init() {}

    package mutating func take(_ segment: TranscriptSegment) -> Outcome {
        // From the end: what is revised is nearly always among the last.
        guard let place = segments.lastIndex(where: { $0.id == segment.id }) else {
            if segments.count == Limits.segmentsKeptMax { segments.removeFirst() }
            segments.append(segment)
            return .new
        }
        guard segments[place].participant == segment.participant else { return .taken }
        guard segments[place].rev < segment.rev else { return .stale }
        segments[place] = segment
        return .revised
    }
}

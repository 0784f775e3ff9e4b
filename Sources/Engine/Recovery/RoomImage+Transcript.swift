internal import Wire

extension RoomImage {
    /// A transcript segment.
    struct Segment: Sendable, Hashable, Decodable {
        enum Playing: String, Sendable, Hashable, Decodable {
            /// Its played part is known.
            case settled
            /// The same, and it was interrupted.
            case interrupted
        }

        var segment: TranscriptSegment
        /// Since its first revision arrived.
        var age: UInt32
        /// Since its first recorded revision arrived; nil if none was.
        var recorded: UInt32?
        var playing: Playing?
    }
}

extension RoomImage.Segment {
    init(_ entry: Transcript.Entry, at now: Instant) {
        segment = entry.segment
        age = (now - entry.firstRevisionAt).age
        recorded = entry.recordedAt.map { (now - $0).age }
        playing = entry.isInterrupted ? .interrupted : entry.isSettled ? .settled : nil
    }
}

extension Transcript {
    init(restoring segments: [RoomImage.Segment], at now: Instant) {
        entries = segments.map { segment in
            Entry(
                segment: segment.segment, firstRevisionAt: now.before(segment.age), recordedAt: segment.recorded.map(now.before),
                isSettled: segment.playing != nil, isInterrupted: segment.playing == .interrupted)
        }
    }
}

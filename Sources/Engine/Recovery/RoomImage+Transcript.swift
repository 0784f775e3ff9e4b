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

extension RoomImage {
    /// JSON, without the oldest transcript segments if it is too long with them. A room restored from it has forgotten them.
    ///
    /// - Parameter max: its length in bytes, unless that is impossible even without a transcript.
    package func bytes(max: Int) -> [UInt8] {
        let all = bytes
        guard all.count > max else { return all }
        var excess = all.count - max
        // Each has a comma after it, except the last one.
        let dropped = transcript.prefix { segment in
            defer { excess -= JSON.text(segment).count + 1 }
            return excess >= 0
        }
        guard !dropped.isEmpty else { return all }
        var shorter = self
        shorter.transcript.removeFirst(dropped.count)
        return shorter.bytes
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

package import Wire

/// The latest frames of one live track, as published, for an agent that is on its way: a ring of fixed size. The oldest frames go first.
///
/// Memory is allocated once; keeping a frame costs a copy and allocates nothing.
package struct EarlierFrames: Sendable {
    private struct Entry {
        var offset = 0
        var count = 0
        var timestamp = MediaTime(ticks: 0)
        /// When the frame arrived.
        var at = Instant(nanoseconds: 0)
    }

    /// The part of a track's frames that an agent receives.
    package struct Span: Sendable, Hashable {
        package let frames: Int
        /// The timestamp of the first frame.
        package let start: MediaTime
        /// The end of the last frame: live frames have this timestamp or a later one.
        package let end: MediaTime
    }

    package let track: TrackInfo
    private var bytes: [UInt8]
    /// In the order of arrival, from `first` on, around the end.
    private var entries: [Entry]
    private var first = 0
    private var end = 0
    package private(set) var count = 0
    /// The newest frames that no agent has received.
    package private(set) var unsentCount = 0

    package init(_ track: TrackInfo, bytesMax: Int = Limits.earlierTrackBytes) {
        self.track = track
        let framesMax = max(1, Int(Double(Limits.earlierSpeechMax.inMilliseconds) / track.frameMs))
        bytes = [UInt8](repeating: 0, count: max(bytesMax, ProtocolLimits.frameBytesMax))
        entries = [Entry](repeating: Entry(), count: framesMax)
    }

    /// Keeps a frame. If its timestamp is earlier than that of a kept frame, the publisher has begun a new timeline, for example because it
    /// was restarted and resumed; the frames of the old one are dropped, since a `Span` is a part of one timeline.
    ///
    /// - Returns: how many frames it has replaced that no agent had received.
    package mutating func append(_ frame: UnsafeRawBufferPointer, at timestamp: MediaTime, arrived now: Instant) -> Int {
        precondition(frame.count <= ProtocolLimits.frameBytesMax, "a frame is checked before it is kept")
        var replaced = 0
        if count > 0, isEarlier(timestamp, than: 0) || isEarlier(timestamp, than: count - 1) {
            while count > 0 { replaced += dropOldest() }
        }
        if count == entries.count { replaced += dropOldest() }
        if end + frame.count > bytes.count {
            // The rest of the memory is too short: what it still holds is the oldest.
            while count > 0, entries[first].offset >= end { replaced += dropOldest() }
            end = 0
        }
        while count > 0, end..<end + frame.count ~= entries[first].offset { replaced += dropOldest() }
        bytes.withUnsafeMutableBytes { $0.baseAddress?.advanced(by: end).copyMemory(from: frame.baseAddress!, byteCount: frame.count) }
        entries[(first + count) % entries.count] = Entry(offset: end, count: frame.count, timestamp: timestamp, at: now)
        end += frame.count
        count += 1
        unsentCount += 1
        return replaced
    }

    /// Drops frames that arrived before `limit`.
    ///
    /// - Returns: how many of them no agent had received.
    package mutating func drop(before limit: Instant) -> Int {
        var dropped = 0
        while count > 0, entries[first].at < limit { dropped += dropOldest() }
        return dropped
    }

    /// The frames that an agent receives; nil if there are none.
    ///
    /// - Parameter since: the agent does not get frames that arrived before.
    package func span(since: Instant?) -> Span? {
        let skipped = skipped(since)
        guard skipped < count else { return nil }
        let end = entry(count - 1).timestamp.advanced(by: Int(track.frameMs * Double(MediaTime.ticksPerMillisecond)))
        return Span(frames: count - skipped, start: entry(skipped).timestamp, end: end)
    }

    /// Calls `body` with each of these frames, oldest first. The bytes are valid during the call only.
    package func forEach(since: Instant?, _ body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for index in skipped(since)..<count {
                let entry = entry(index)
                body(UnsafeRawBufferPointer(rebasing: bytes[entry.offset..<entry.offset + entry.count]))
            }
        }
    }

    /// An agent has received the frames.
    package mutating func markSent() {
        unsentCount = 0
    }

    private func skipped(_ since: Instant?) -> Int {
        guard let since else { return 0 }
        return (0..<count).first { entry($0).at >= since } ?? count
    }

    private func isEarlier(_ timestamp: MediaTime, than index: Int) -> Bool { timestamp.distance(from: entry(index).timestamp) < 0 }

    private func entry(_ index: Int) -> Entry { entries[(first + index) % entries.count] }

    /// - Returns: 1 if no agent had received the frame.
    private mutating func dropOldest() -> Int {
        first = (first + 1) % entries.count
        count -= 1
        guard unsentCount > count else { return 0 }
        unsentCount = count
        return 1
    }
}

/// The tracks of a shard whose latest frames are kept. Bounded: a track beyond the limit takes the memory of the one that has been kept longest.
package struct EarlierSpeech: Sendable {
    private var tracks: [EarlierFrames?] = []
    /// Indices of kept tracks, in the order in which they began to be kept.
    private var order: [Int] = []
    private let tracksMax: Int

    /// - Parameter shardCount: each shard may use its share of the process's memory.
    package init(shardCount: Int) {
        self.init(tracksMax: Limits.earlierBytesMax / Limits.earlierTrackBytes / shardCount)
    }

    package init(tracksMax: Int) {
        self.tracksMax = max(1, tracksMax)
    }

    /// Tracks that are kept now.
    package var count: Int { order.count }

    package subscript(index: Int) -> EarlierFrames? { tracks[index] }

    /// The index to evict before the next `begin`; nil if there is memory left.
    package var evicted: Int? { order.count < tracksMax ? nil : order.first }

    /// Allocates memory for a track.
    ///
    /// - Returns: its index.
    package mutating func begin(_ track: TrackInfo) -> Int {
        precondition(evicted == nil, "a track must be evicted first")
        let index = tracks.firstIndex { $0 == nil } ?? tracks.count
        if index == tracks.count { tracks.append(nil) }
        tracks[index] = EarlierFrames(track)
        order.append(index)
        return index
    }

    /// Frees a track's memory.
    ///
    /// - Returns: how many frames no agent had received.
    package mutating func end(_ index: Int) -> Int {
        defer {
            tracks[index] = nil
            order.removeAll { $0 == index }
        }
        return tracks[index]?.unsentCount ?? 0
    }

    /// See `EarlierFrames.append`.
    package mutating func append(_ frame: UnsafeRawBufferPointer, at timestamp: MediaTime, to index: Int, arrived now: Instant) -> Int {
        tracks[index]?.append(frame, at: timestamp, arrived: now) ?? 0
    }

    package mutating func markSent(_ index: Int) {
        tracks[index]?.markSent()
    }

    /// Drops frames that are too old.
    ///
    /// - Returns: how many of them no agent had received.
    package mutating func expire(at now: Instant) -> Int {
        order.reduce(0) { $0 + (tracks[$1]?.drop(before: now + (.zero - Limits.earlierAgeMax)) ?? 0) }
    }
}

package import Wire

/// The `ahead` tracks of one shard, published or subscribed there.
///
/// Each has an index that stays valid until it ends. Two lists name the tracks with work to do: `active`, processed on each tick,
/// and `fresh`, which have received frames since the last pass.
package struct AheadTracks: Sendable {
    private struct Key: Hashable {
        let publisher: ParticipantHandle
        let alias: TrackAlias
    }

    private var indices: [Key: Int] = [:]
    /// By the publisher's former handle, for frames still under way.
    private var formerIndices: [Key: Int] = [:]
    private var free: [Int] = []
    private static let vacant = AheadTrack(
        nil, alias: TrackAlias(0), by: ParticipantHandle(shard: 0, slot: 0, generation: 0), epoch: 0, frameMilliseconds: 0,
        at: Instant(nanoseconds: 0))

    /// Per-track data that each tick reads, kept apart from the tracks: most ticks find nothing to do and should touch little
    /// memory.
    private struct Watch {
        /// No work is due before this time, as of the last pass.
        var idleUntil = Instant(nanoseconds: 0)
        /// Stored bytes as of the last pass.
        var storedBytes = 0
    }

    /// By index.
    package var tracks: [AheadTrack] = []
    private var watches: [Watch] = []
    package private(set) var active: [Int] = []
    /// As of the last `findDue`.
    package private(set) var due: [Int] = []
    private var fresh: [Int] = []
    /// Tracks with reports after the last `settle`.
    package private(set) var withReports: [Int] = []
    /// Bytes retained by all tracks. Frames dropped since the last pass still count.
    package private(set) var storedBytes = 0
    private let storedBytesMax: Int

    package init(storedBytesMax: Int = Limits.aheadStoredBytesMax) {
        self.storedBytesMax = storedBytesMax
    }

    // Mutating, to access the state in position: a copy costs reference counting.
    package var count: Int { mutating get { indices.count } }
    package var hasFresh: Bool { mutating get { !fresh.isEmpty } }

    package var openIndices: [Int] { Array(indices.values) }

    package func index(of alias: TrackAlias, by publisher: ParticipantHandle) -> Int? {
        indices[Key(publisher: publisher, alias: alias)]
    }

    /// Index for a frame from the publisher's shard. It may have been sent under the publisher's former handle; above all the
    /// marker of a replay must not be lost.
    package func index(forFrameOf alias: TrackAlias, from publisher: ParticipantHandle) -> Int? {
        let key = Key(publisher: publisher, alias: alias)
        return indices[key] ?? formerIndices[key]
    }

    /// - Returns: the index of the track.
    @discardableResult
    package mutating func open(_ track: AheadTrack) -> Int {
        let index = free.popLast() ?? tracks.count
        if index == tracks.count {
            tracks.append(track)
            watches.append(Watch())
        } else {
            (tracks[index], watches[index]) = (track, Watch())
        }
        indices[Key(publisher: track.publisher, alias: track.alias)] = index
        return index
    }

    /// The publisher has another handle.
    package mutating func rename(_ index: Int, to publisher: ParticipantHandle) {
        let alias = tracks[index].alias
        let former = tracks[index].publisher
        removeFormerHandle(index)
        indices[Key(publisher: former, alias: alias)] = nil
        formerIndices[Key(publisher: former, alias: alias)] = index
        indices[Key(publisher: publisher, alias: alias)] = index
        (tracks[index].publisher, tracks[index].formerPublisher) = (publisher, former)
    }

    /// The track is published here from now on, with state from the publisher's old shard.
    package mutating func takeOver(_ index: Int, _ other: AheadTrack) {
        let hasAll = tracks[index].takeOver(other)
        if hasAll { removeFormerHandle(index) }
        activate(index)
    }

    private mutating func removeFormerHandle(_ index: Int) {
        guard let former = tracks[index].formerPublisher else { return }
        formerIndices[Key(publisher: former, alias: tracks[index].alias)] = nil
        tracks[index].formerPublisher = nil
    }

    package mutating func close(_ index: Int) {
        removeFormerHandle(index)
        let track = tracks[index]
        indices[Key(publisher: track.publisher, alias: track.alias)] = nil
        if track.isActive { active.removeAll { $0 == index } }
        if track.isFresh { fresh.removeAll { $0 == index } }
        storedBytes -= watches[index].storedBytes
        (tracks[index], watches[index]) = (Self.vacant, Watch())
        free.append(index)
    }

    /// Queues a frame. The caller counts drops.
    package mutating func append(_ frame: UnsafeRawBufferPointer, _ header: FrameHeader, to index: Int, at now: Instant) -> DropReason? {
        activate(index)
        guard storedBytes + AheadQueue.size(of: frame) <= storedBytesMax else {
            tracks[index].recordDrop()
            return .full
        }
        if let reason = tracks[index].append(frame, header, at: now) { return reason }
        storedBytes += AheadQueue.size(of: frame)
        watches[index].storedBytes += AheadQueue.size(of: frame)
        if !tracks[index].isFresh {
            tracks[index].isFresh = true
            fresh.append(index)
        }
        return nil
    }

    /// Collects active tracks on which something may be due into `due`.
    package mutating func findDue(at now: Instant) {
        due.removeAll(keepingCapacity: true)
        for index in active where watches[index].idleUntil <= now { due.append(index) }
    }

    /// Makes a track active.
    package mutating func activate(_ index: Int) {
        watches[index].idleUntil = Instant(nanoseconds: 0)
        guard !tracks[index].isActive else { return }
        tracks[index].isActive = true
        active.append(index)
    }

    /// A track that has received frames since the last pass.
    package mutating func nextFresh() -> Int? {
        guard let index = fresh.popLast() else { return nil }
        tracks[index].isFresh = false
        return index
    }

    /// Ends a pass over the active tracks: those with nothing left to do become inactive.
    package mutating func settle(at now: Instant) {
        withReports.removeAll(keepingCapacity: true)
        var position = 0
        while position < active.count {
            let index = active[position]
            guard watches[index].idleUntil <= now else {
                position += 1
                continue
            }
            let next = tracks[index].settle(at: now)
            if tracks[index].hasReports { withReports.append(index) }
            storedBytes += tracks[index].storedBytes - watches[index].storedBytes
            watches[index].storedBytes = tracks[index].storedBytes
            if let next {
                watches[index].idleUntil = next
                position += 1
            } else {
                tracks[index].isActive = false
                active.swapAt(position, active.count - 1)
                active.removeLast()
            }
        }
    }
}

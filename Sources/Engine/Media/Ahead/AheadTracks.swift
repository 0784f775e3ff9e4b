package import Wire

/// The `ahead` tracks of one shard, published here or heard here.
///
/// Each has a index that stays its own until it ends, so that whoever has to do with it can remember a number. Two lists say where there
/// is something to do: `active`, looked at by the clock, and `fresh`, to which frames have come since the last look.
package struct AheadTracks: Sendable {
    private struct Key: Hashable {
        let publisher: ParticipantHandle
        let alias: TrackAlias
    }

    private var indices: [Key: Int] = [:]
    /// The same under the handle that the publisher had before, for frames that are still on their way.
    private var formerIndices: [Key: Int] = [:]
    private var free: [Int] = []
    private static let vacant = AheadTrack(
        nil, alias: TrackAlias(0), by: ParticipantHandle(shard: 0, slot: 0, generation: 0), epoch: 0, frameMilliseconds: 0,
        at: Instant(nanoseconds: 0))

    /// What the clock looks at of each track, apart from it: most looks find nothing to do, and are to find that near by.
    private struct Watch {
        /// Nothing is due before, as of the last look.
        var quietUntil = Instant(nanoseconds: 0)
        /// Of its stored bytes, as of then.
        var storedBytes = 0
    }

    /// By index.
    package var tracks: [AheadTrack] = []
    private var watches: [Watch] = []
    package private(set) var active: [Int] = []
    /// As of the last `findDue`.
    package private(set) var due: [Int] = []
    private var fresh: [Int] = []
    /// Those that had something to tell at the last `settle`.
    package private(set) var withReports: [Int] = []
    /// Bytes of frames that all of them keep. What was let out since the last look and is forgotten still counts.
    package private(set) var storedBytes = 0
    private let storedBytesMax: Int

    package init(storedBytesMax: Int = Limits.aheadStoredBytesMax) {
        self.storedBytesMax = storedBytesMax
    }

    // Mutating, so that all of this is looked at where it is: a copy costs reference counts.
    package var count: Int { mutating get { indices.count } }
    package var hasFresh: Bool { mutating get { !fresh.isEmpty } }

    package func index(of alias: TrackAlias, by publisher: ParticipantHandle) -> Int? {
        indices[Key(publisher: publisher, alias: alias)]
    }

    /// Where something goes that came from the shard of a publisher. It may have set out before the publisher had another handle: the
    /// mark of a replay above all, without which a track is heard no more.
    package func index(forFrameOf alias: TrackAlias, from publisher: ParticipantHandle) -> Int? {
        let key = Key(publisher: publisher, alias: alias)
        return indices[key] ?? formerIndices[key]
    }

    /// - Returns: the track's index.
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

    /// A track goes on under another handle of its publisher.
    package mutating func rename(_ index: Int, to publisher: ParticipantHandle) {
        let alias = tracks[index].alias
        let former = tracks[index].publisher
        forgetFormer(index)
        indices[Key(publisher: former, alias: alias)] = nil
        formerIndices[Key(publisher: former, alias: alias)] = index
        indices[Key(publisher: publisher, alias: alias)] = index
        (tracks[index].publisher, tracks[index].formerPublisher) = (publisher, former)
    }

    /// Here the track is published from now on, and this came along from where it was.
    package mutating func takeOver(_ index: Int, _ other: AheadTrack) {
        let hasAll = tracks[index].takeOver(other)
        if hasAll { forgetFormer(index) }
        activate(index)
    }

    private mutating func forgetFormer(_ index: Int) {
        guard let former = tracks[index].formerPublisher else { return }
        formerIndices[Key(publisher: former, alias: tracks[index].alias)] = nil
        tracks[index].formerPublisher = nil
    }

    package mutating func close(_ index: Int) {
        forgetFormer(index)
        let track = tracks[index]
        indices[Key(publisher: track.publisher, alias: track.alias)] = nil
        if track.isActive { active.removeAll { $0 == index } }
        if track.isFresh { fresh.removeAll { $0 == index } }
        storedBytes -= watches[index].storedBytes
        (tracks[index], watches[index]) = (Self.vacant, Watch())
        free.append(index)
    }

    /// Takes a frame for a track. What it must not be is counted by the caller.
    package mutating func append(_ frame: UnsafeRawBufferPointer, _ header: FrameHeader, to index: Int, at now: Instant) -> DropReason? {
        activate(index)
        guard storedBytes + AheadQueue.size(of: frame) <= storedBytesMax else {
            tracks[index].refuse()
            return .full
        }
        if let refusal = tracks[index].append(frame, header, at: now) { return refusal }
        storedBytes += AheadQueue.size(of: frame)
        watches[index].storedBytes += AheadQueue.size(of: frame)
        if !tracks[index].isFresh {
            tracks[index].isFresh = true
            fresh.append(index)
        }
        return nil
    }

    /// Finds those of the active ones on which something may be due, for `due`.
    package mutating func findDue(at now: Instant) {
        due.removeAll(keepingCapacity: true)
        for index in active where watches[index].quietUntil <= now { due.append(index) }
    }

    // So that a shell can have what it will look at come to hand. Nobody follows these addresses.

    /// Where a track is in memory, and how many bytes of it.
    package mutating func memory(of index: Int) -> (address: UInt, count: Int) {
        let count = MemoryLayout<AheadTrack>.stride
        return (tracks.withUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) } + UInt(index * count), count)
    }

    /// Where the frames are that it lets out next, and its subscribers. This looks at the track itself.
    package mutating func memoryOfNext(from index: Int) -> (frames: UInt, subscribers: UInt) {
        let subscribers = tracks[index].subscribers.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        return (tracks[index].queue.address(of: tracks[index].reference.offset), subscribers)
    }

    /// Has a track looked at from now on.
    package mutating func activate(_ index: Int) {
        watches[index].quietUntil = Instant(nanoseconds: 0)
        guard !tracks[index].isActive else { return }
        tracks[index].isActive = true
        active.append(index)
    }

    /// One that frames have come to since the last look.
    package mutating func nextFresh() -> Int? {
        guard let index = fresh.popLast() else { return nil }
        tracks[index].isFresh = false
        return index
    }

    /// Ends the look at all that are active: those with nothing to come back for are looked at no more.
    package mutating func settle(at now: Instant) {
        withReports.removeAll(keepingCapacity: true)
        var position = 0
        while position < active.count {
            let index = active[position]
            guard watches[index].quietUntil <= now else {
                position += 1
                continue
            }
            let next = tracks[index].settle(at: now)
            if tracks[index].hasReports { withReports.append(index) }
            storedBytes += tracks[index].storedBytes - watches[index].storedBytes
            watches[index].storedBytes = tracks[index].storedBytes
            if let next {
                watches[index].quietUntil = next
                position += 1
            } else {
                tracks[index].isActive = false
                active.swapAt(position, active.count - 1)
                active.removeLast()
            }
        }
    }
}

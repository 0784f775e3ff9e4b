package import Wire

/// The `ahead` tracks of one shard, published here or heard here.
///
/// Each has a place that stays its own until it ends, so that whoever has to do with it can remember a number. Two lists say where there
/// is something to do: `active`, looked at by the clock, and `fresh`, to which frames have come since the last look.
package struct AheadTracks: Sendable {
    private struct Key: Hashable {
        let publisher: ParticipantHandle
        let alias: TrackAlias
    }

    private var places: [Key: Int] = [:]
    /// The same under the handle that the publisher had before, for frames that are still on their way.
    private var formerPlaces: [Key: Int] = [:]
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

    /// By place.
    package var tracks: [AheadTrack] = []
    private var watches: [Watch] = []
    package private(set) var active: [Int] = []
    /// As of the last `findDue`.
    package private(set) var due: [Int] = []
    private var fresh: [Int] = []
    /// Those that had something to tell at the last `settle`.
    package private(set) var withFacts: [Int] = []
    /// Bytes of frames that all of them keep. What was let out since the last look and is forgotten still counts.
    package private(set) var storedBytes = 0
    private let storedBytesMax: Int

    package init(storedBytesMax: Int = Limits.aheadStoredBytesMax) {
        self.storedBytesMax = storedBytesMax
    }

    // Mutating, so that all of this is looked at where it is: a copy costs reference counts.
    package var count: Int { mutating get { places.count } }
    package var hasFresh: Bool { mutating get { !fresh.isEmpty } }

    package func place(of alias: TrackAlias, by publisher: ParticipantHandle) -> Int? {
        places[Key(publisher: publisher, alias: alias)]
    }

    /// Where something goes that came from the shard of a publisher. It may have set out before the publisher had another handle: the
    /// mark of a replay above all, without which a track is heard no more.
    package func place(toCarry alias: TrackAlias, from publisher: ParticipantHandle) -> Int? {
        let key = Key(publisher: publisher, alias: alias)
        return places[key] ?? formerPlaces[key]
    }

    /// - Returns: the track's place.
    @discardableResult
    package mutating func open(_ track: AheadTrack) -> Int {
        let place = free.popLast() ?? tracks.count
        if place == tracks.count {
            tracks.append(track)
            watches.append(Watch())
        } else {
            (tracks[place], watches[place]) = (track, Watch())
        }
        places[Key(publisher: track.publisher, alias: track.alias)] = place
        return place
    }

    /// A track goes on under another handle of its publisher.
    package mutating func rename(_ place: Int, to publisher: ParticipantHandle) {
        let alias = tracks[place].alias
        let former = tracks[place].publisher
        forgetFormer(place)
        places[Key(publisher: former, alias: alias)] = nil
        formerPlaces[Key(publisher: former, alias: alias)] = place
        places[Key(publisher: publisher, alias: alias)] = place
        (tracks[place].publisher, tracks[place].formerPublisher) = (publisher, former)
    }

    /// Here the track is published from now on, and this came along from where it was.
    package mutating func takeOver(_ place: Int, _ other: AheadTrack) {
        let hasAll = tracks[place].takeOver(other)
        if hasAll { forgetFormer(place) }
        activate(place)
    }

    private mutating func forgetFormer(_ place: Int) {
        guard let former = tracks[place].formerPublisher else { return }
        formerPlaces[Key(publisher: former, alias: tracks[place].alias)] = nil
        tracks[place].formerPublisher = nil
    }

    package mutating func close(_ place: Int) {
        forgetFormer(place)
        let track = tracks[place]
        places[Key(publisher: track.publisher, alias: track.alias)] = nil
        if track.isActive { active.removeAll { $0 == place } }
        if track.isFresh { fresh.removeAll { $0 == place } }
        storedBytes -= watches[place].storedBytes
        (tracks[place], watches[place]) = (Self.vacant, Watch())
        free.append(place)
    }

    /// Takes a frame for a track. What it must not be is counted by the caller.
    package mutating func append(_ frame: UnsafeRawBufferPointer, _ header: FrameHeader, to place: Int, at now: Instant) -> DropReason? {
        activate(place)
        guard storedBytes + AheadQueue.size(of: frame) <= storedBytesMax else {
            tracks[place].refuse()
            return .full
        }
        if let refusal = tracks[place].append(frame, header, at: now) { return refusal }
        storedBytes += AheadQueue.size(of: frame)
        watches[place].storedBytes += AheadQueue.size(of: frame)
        if !tracks[place].isFresh {
            tracks[place].isFresh = true
            fresh.append(place)
        }
        return nil
    }

    /// Finds those of the active ones on which something may be due, for `due`.
    package mutating func findDue(at now: Instant) {
        due.removeAll(keepingCapacity: true)
        for place in active where watches[place].quietUntil <= now { due.append(place) }
    }

    // So that a shell can have what it will look at come to hand. Nobody follows these addresses.

    /// Where a track is in memory, and how many bytes of it.
    package mutating func memory(of place: Int) -> (address: UInt, count: Int) {
        let count = MemoryLayout<AheadTrack>.stride
        return (tracks.withUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) } + UInt(place * count), count)
    }

    /// Where the frames are that it lets out next, and its subscribers. This looks at the track itself.
    package mutating func memoryOfNext(from place: Int) -> (frames: UInt, subscribers: UInt) {
        let subscribers = tracks[place].subscribers.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        return (tracks[place].queue.address(of: tracks[place].reference.offset), subscribers)
    }

    /// Has a track looked at from now on.
    package mutating func activate(_ place: Int) {
        watches[place].quietUntil = Instant(nanoseconds: 0)
        guard !tracks[place].isActive else { return }
        tracks[place].isActive = true
        active.append(place)
    }

    /// One that frames have come to since the last look.
    package mutating func nextFresh() -> Int? {
        guard let place = fresh.popLast() else { return nil }
        tracks[place].isFresh = false
        return place
    }

    /// Ends the look at all that are active: those with nothing to come back for are looked at no more.
    package mutating func settle(at now: Instant) {
        withFacts.removeAll(keepingCapacity: true)
        var index = 0
        while index < active.count {
            let place = active[index]
            guard watches[place].quietUntil <= now else {
                index += 1
                continue
            }
            let next = tracks[place].settle(at: now)
            if tracks[place].hasFacts { withFacts.append(place) }
            storedBytes += tracks[place].storedBytes - watches[place].storedBytes
            watches[place].storedBytes = tracks[place].storedBytes
            if let next {
                watches[place].quietUntil = next
                index += 1
            } else {
                tracks[place].isActive = false
                active.swapAt(index, active.count - 1)
                active.removeLast()
            }
        }
    }
}

package import Wire

/// Gives tracks their short names, 1…65535, each used by one track at a time.
///
/// It counts on instead of taking the lowest free one: a frame or a subscriber that is late must not meet a new track
/// under an old alias. An alias comes back only after the counter has gone all the way round.
package struct TrackAliasAllocator: Sendable {
    private var last: UInt16 = 0
    private var taken: Set<TrackAlias> = []

    package init() {}

    /// The next free alias, or nil if all 65,535 are taken.
    package mutating func allocate() -> TrackAlias? {
        guard taken.count < Int(UInt16.max) else { return nil }
        repeat {
            last = last == .max ? 1 : last + 1
        } while taken.contains(TrackAlias(last))
        taken.insert(TrackAlias(last))
        return TrackAlias(last)
    }

    package mutating func release(_ alias: TrackAlias) {
        taken.remove(alias)
        // Rooms that nobody is in are many, and hold as little as they can.
        if taken.isEmpty { taken = [] }
    }
}

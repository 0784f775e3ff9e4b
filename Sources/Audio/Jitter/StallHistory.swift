internal import Wire

/// The stalls of a path in the last seconds, and what delay would have hidden them.
///
/// A connection that repairs loss shows it as stalls: a frame is late by a round trip, and those behind it come with it. So what
/// counts is not how many frames were late but how much sound would have been missing: for each stall what it was longer than the delay
/// reaches. The delay wanted is the least one for which that is next to nothing; but beyond `ticksModest` only as much as keeps
/// it bearable, so that one bad moment does not make a conversation slow for long.
struct StallHistory {
    /// How long a stall is remembered.
    private static let memory = Duration.seconds(20)
    /// A frame that is later than the one before by less is no stall.
    private static let stallTicksMin = 15 * MediaTime.ticksPerMillisecond
    /// Longer ones are outages, which no delay that one can talk over would hide.
    private static let stallTicksMax = 400 * MediaTime.ticksPerMillisecond
    private static let stallsMax = 64
    /// What an outage leaves behind, a path that has to find its pace again, is no sign of what it will do then.
    private static let recovery = Duration.seconds(2)

    /// What may be missing in 20 s: one part in 4,000, or beyond the modest delay six in a thousand.
    private static let missingTicksWanted = 5 * MediaTime.ticksPerMillisecond
    private static let missingTicksBearable = 120 * MediaTime.ticksPerMillisecond
    private static let ticksModest = 105 * MediaTime.ticksPerMillisecond
    /// Playing slower when nothing comes stretches a delay by a quarter, and no further than this.
    private static let stretchTicks = 25 * MediaTime.ticksPerMillisecond

    private var stalls: [(at: Instant, ticks: Int)] = []
    private var needed = 0
    private var reviewAt: Instant?
    private var recoversUntil: Instant?

    /// Prepares for a stall that has not been seen yet; forgotten like any other.
    mutating func expect(_ ticks: Int, at now: Instant) {
        guard Self.stallTicksMin...Self.stallTicksMax ~= ticks else { return }
        stalls.append((now, ticks))
        reviewAt = now
    }

    mutating func note(lateness: Int, before: Int, at now: Instant) {
        guard lateness - before >= Self.stallTicksMin else { return }
        if lateness > Self.stallTicksMax { recoversUntil = now + Self.recovery }
        if let recoversUntil, now < recoversUntil { return }
        if stalls.count == Self.stallsMax { stalls.removeFirst() }
        stalls.append((now, lateness))
        reviewAt = now
    }

    mutating func neededTicks(at now: Instant) -> Int {
        guard let due = reviewAt, now >= due else { return needed }
        stalls.removeAll { now - $0.at > Self.memory }
        reviewAt = stalls.isEmpty ? nil : now + .seconds(1)
        let longest = stalls.map(\.ticks).sorted(by: >)
        // The one worst moment is forgiven.
        let bearable = delay(hiding: longest.dropFirst(), but: Self.missingTicksBearable)
        needed = min(delay(hiding: longest[...], but: Self.missingTicksWanted), max(Self.ticksModest, bearable))
        return needed
    }

    /// The least delay with which no more than `limit` would have been missing.
    private func delay(hiding stalls: ArraySlice<Int>, but limit: Int) -> Int {
        let longest = Array(stalls)
        var sum = 0
        var reach = 0
        for (index, ticks) in longest.enumerated() {
            sum += ticks
            // What the longest ones exceed the reach by is the limit exactly, if the next one does not exceed it too.
            reach = max((sum - limit) / (index + 1), 0)
            if index + 1 == longest.count || longest[index + 1] <= reach { break }
        }
        return max(reach - Self.stretchTicks, reach * 4 / 5)
    }
}

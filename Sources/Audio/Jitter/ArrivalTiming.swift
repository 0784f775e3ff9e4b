internal import Wire

/// Measures the lateness of a track's frames against their timestamps, and the delay it requires.
///
/// The reference is the fastest frame of the last seconds; a frame's lateness is its additional transit time. Send times are unknown, so a slow
/// but even path has no lateness.
struct ArrivalTiming {
    /// Half of the window for the fastest frame, in time and frames. A permanently slower path is accepted after two halves, a stall is not.
    private static let halfWindow = Duration.milliseconds(2_500)
    private static let framesInHalfMin = 50
    /// Frames needed before measurements are used.
    private static let framesToSettle = 60

    private var origin: (timestamp: MediaTime, ticks: Int)?
    private var least = Int.max
    private var leastBefore = Int.max
    private var framesInHalf = 0
    private var halfBegan: Instant?
    private var frames = 0
    private var latenessBefore = 0
    private var stalls = StallHistory()
    private let expectedStallTicks: Int

    /// - Parameter expectedStallTicks: anticipated length of a stall; 0 if unknown.
    init(expectedStallTicks: Int = 0) {
        self.expectedStallTicks = expectedStallTicks
    }

    /// Whether enough frames have arrived to judge lateness.
    var isSettled: Bool { frames >= Self.framesToSettle }

    /// The delay that compensates for the path's recent stalls. Calling it expires old ones.
    mutating func neededTicks(at now: Instant) -> Int { stalls.neededTicks(at: now) }

    /// Records the arrival of a frame.
    mutating func note(_ timestamp: MediaTime, at now: Instant) {
        let transit = MediaTime.ticks(in: now - Instant(nanoseconds: 0)) - unwrap(timestamp)
        turnWindow(at: now)
        least = min(least, transit)
        if frames == 0 { stalls.expect(expectedStallTicks, at: now) }
        frames += 1
        framesInHalf += 1
        let lateness = transit - fastest
        if frames > 10 { stalls.note(lateness: lateness, before: latenessBefore, at: now) }
        latenessBefore = lateness
    }

    /// Time since the audio at `timestamp` could have arrived at the earliest, in ticks; negative if that is in the future. If played now, this is its
    /// delay.
    func age(of timestamp: MediaTime, at now: Instant) -> Int {
        guard let origin, fastest < Int.max else { return 0 }
        let ticks = origin.ticks + Int(timestamp.distance(from: origin.timestamp))
        return MediaTime.ticks(in: now - Instant(nanoseconds: 0)) - ticks - fastest
    }

    private var fastest: Int { min(least, leastBefore) }

    /// Converts timestamps to a count that does not wrap.
    private mutating func unwrap(_ timestamp: MediaTime) -> Int {
        let ticks = origin.map { $0.ticks + Int(timestamp.distance(from: $0.timestamp)) } ?? 0
        origin = (timestamp, ticks)
        return ticks
    }

    private mutating func turnWindow(at now: Instant) {
        guard let began = halfBegan else {
            halfBegan = now
            return
        }
        guard now - began >= Self.halfWindow, framesInHalf >= Self.framesInHalfMin else { return }
        leastBefore = least
        least = .max
        framesInHalf = 0
        halfBegan = now
    }
}

/// The stalls of a path in the last seconds, and the delay that would have hidden them.
///
/// A connection that repairs loss stalls: a frame is late by a round trip, and those behind it arrive with it. The measure is therefore not the
/// number of late frames but the amount of audio that would have been missing, that is the excess of each stall over the delay. The needed delay
/// is the smallest for which that is negligible; beyond `ticksModest` only as much as keeps playout acceptable, so that a single bad moment does
/// not slow a conversation for long.
struct StallHistory {
    /// How long a stall is remembered.
    private static let memory = Duration.seconds(20)
    /// Minimum increase in lateness from one frame to the next that counts as a stall.
    private static let stallTicksMin = 15 * MediaTime.ticksPerMillisecond
    /// Longer stalls are outages, which no delay suitable for conversation would hide.
    private static let stallTicksMax = 400 * MediaTime.ticksPerMillisecond
    private static let stallsMax = 64
    /// After an outage the path needs time to recover; measurements until then are ignored.
    private static let recovery = Duration.seconds(2)

    /// Acceptable missing audio in 20 s: one part in 4,000, or beyond the modest delay six in a thousand.
    private static let missingTicksWanted = 5 * MediaTime.ticksPerMillisecond
    private static let missingTicksBearable = 120 * MediaTime.ticksPerMillisecond
    private static let ticksModest = 105 * MediaTime.ticksPerMillisecond
    /// Playing slower during a stall stretches a delay by a quarter, and at most by this.
    private static let stretchTicks = 25 * MediaTime.ticksPerMillisecond

    private var stalls: [(at: Instant, ticks: Int)] = []
    private var needed = 0
    private var reviewAt: Instant?
    private var recoversUntil: Instant?

    /// Prepares for an anticipated stall; it expires like any other.
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
        // Ignore the single worst stall.
        let bearable = delay(hiding: longest.dropFirst(), but: Self.missingTicksBearable)
        needed = min(delay(hiding: longest[...], but: Self.missingTicksWanted), max(Self.ticksModest, bearable))
        return needed
    }

    /// The smallest delay with which at most `limit` would have been missing.
    private func delay(hiding stalls: ArraySlice<Int>, but limit: Int) -> Int {
        let longest = Array(stalls)
        var sum = 0
        var reach = 0
        for (index, ticks) in longest.enumerated() {
            sum += ticks
            // Exact if the next stall does not exceed the reach as well.
            reach = max((sum - limit) / (index + 1), 0)
            if index + 1 == longest.count || longest[index + 1] <= reach { break }
        }
        return max(reach - Self.stretchTicks, reach * 4 / 5)
    }
}

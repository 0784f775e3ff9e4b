internal import Wire

/// When a track's frames arrive, measured against its own timestamps: how late each one is, and what delay that asks for.
///
/// The fastest frames of the last seconds are the measure; what a frame took longer than they did is its lateness. Nothing here knows when
/// frames were sent: a path that is slow but even has no lateness at all.
struct ArrivalTiming {
    /// How long a half of the window is over which the fastest frame counts, and how many frames it holds at the least: a path that
    /// has become slower for good is believed after two halves, a stall is not.
    private static let halfWindow = Duration.milliseconds(2_500)
    private static let framesInHalfMin = 50
    /// From here on there is a measure.
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

    /// - Parameter expectedStallTicks: how long the path will stall once, for all that is known of it; 0 if nothing is.
    init(expectedStallTicks: Int = 0) {
        self.expectedStallTicks = expectedStallTicks
    }

    /// Whether enough frames have come to tell late ones from others.
    var isSettled: Bool { frames >= Self.framesToSettle }

    /// The delay that makes up for what the path has done lately. Shrinks by being asked for.
    mutating func neededTicks(at now: Instant) -> Int { stalls.neededTicks(at: now) }

    /// Takes note of a frame that has just come.
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

    /// How long ago the sound at `timestamp` could have been here at the earliest; negative if that is still to come. Played
    /// now, that is its delay.
    func age(of timestamp: MediaTime, at now: Instant) -> Int {
        guard let origin, fastest < Int.max else { return 0 }
        let ticks = origin.ticks + Int(timestamp.distance(from: origin.timestamp))
        return MediaTime.ticks(in: now - Instant(nanoseconds: 0)) - ticks - fastest
    }

    private var fastest: Int { min(least, leastBefore) }

    /// Timestamps as a count that does not wrap.
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

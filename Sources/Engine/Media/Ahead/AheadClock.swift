internal import Wire

/// Which sample of a track plays when: one sample and its instant, from which all others follow at 48 kHz.
struct AheadClock: Sendable, Hashable {
    private var time: MediaTime
    private var playsAt: Instant

    init(_ time: MediaTime, playsAt: Instant) {
        self.time = time
        self.playsAt = playsAt
    }

    /// When the sample at `time` plays. Right for distances under 12.4 hours from the last `moveUp`.
    func instant(of time: MediaTime) -> Instant {
        playsAt.advanced(byNanoseconds: Self.nanoseconds(ofTicks: Int(time.distance(from: self.time))))
    }

    /// 1 s is 48,000 ticks: 62,500 ns are three.
    static func nanoseconds(ofTicks ticks: Int) -> Int64 { Int64(ticks) * 62_500 / 3 }

    /// Keeps the same clock right when timestamps wrap: brings what it is reckoned from up to that time, by whole hours.
    mutating func moveUp(to time: MediaTime) {
        let hour = 3_600 * MediaTime.ticksPerSecond
        while Int(time.distance(from: self.time)) >= hour {
            self.time = self.time.advanced(by: hour)
            playsAt = playsAt + .seconds(3_600)
        }
    }
}

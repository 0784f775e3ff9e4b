/// A round of equally spaced moments: place p of round k is due at `start` + (k + p / places) × `interval`.
///
/// The whole timer wheel that a load test needs: each publisher has its place in every 20 ms, each connection its place in every 5 s, so
/// nothing comes in bursts and the next one to serve is always known. Times are nanoseconds.
struct Grid: Sendable {
    let start: UInt64
    let interval: UInt64
    let places: Int
    private(set) var round: UInt64 = 0
    private(set) var place = 0
    /// When the present place is due.
    private(set) var due: UInt64

    init(start: UInt64, interval: UInt64, places: Int) {
        precondition(places > 0 && interval > 0)
        self.start = start
        self.interval = interval
        self.places = places
        due = start
    }

    /// Goes on to the next place.
    mutating func advance() {
        place += 1
        if place == places {
            place = 0
            round += 1
        }
        due = start &+ round &* interval &+ UInt64(place) &* interval / UInt64(places)
    }

    /// Goes on to the first round that begins after `now`, for one who has fallen hopelessly behind.
    ///
    /// - Returns: how many places were passed over.
    mutating func skip(to now: UInt64) -> Int {
        let before = round &* UInt64(places) &+ UInt64(place)
        round = (now &- start) / interval + 1
        place = 0
        due = start &+ round &* interval
        return Int(round &* UInt64(places) &- before)
    }
}

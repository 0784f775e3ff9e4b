internal import Wire

/// When each frame of a stream is due: the first one at once, every other one when the ones before it are over.
///
/// Deadlines are reckoned from the first frame and not from one to the next, so late wake-ups do not add up. One that is later than
/// 200 ms was held up (the process was stopped, or nothing was there to say): the rest moves back by as much and is not sent in a
/// burst. A pure value.
struct Pacer {
    static let lagMax = TrackNumbering.pause

    private var start: Instant?
    private var ticks = 0

    /// When the next frame is due.
    ///
    /// - Parameters:
    ///   - ticks: how long it lasts.
    ///   - silenceBefore: ticks that lie before it and are not sent.
    mutating func deadline(ticks: Int, silenceBefore: Int = 0, at now: Instant) -> Instant {
        var due = start.map { $0 + .ticks(self.ticks + silenceBefore) } ?? now
        if now - due >= Self.lagMax {
            due = now
        }
        if start == nil || due == now {
            start = due
            self.ticks = 0
        } else {
            self.ticks += silenceBefore
        }
        self.ticks += ticks
        return due
    }

    /// When all that was paced is over; nil before the first frame.
    var end: Instant? { start.map { $0 + .ticks(ticks) } }
}

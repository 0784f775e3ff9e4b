internal import DequeModule
package import Wire

/// The last events of one participant, so that a socket that takes its place back is told what the lost one kept from it.
///
/// Events are shared with all others who were told them, so a log is small. It forgets the oldest: beyond a number, beyond a size, and
/// after a time in which a lost socket would long have been found out. Whoever missed more than it holds cannot resume.
package struct EventLog: Sendable {
    private struct Entry: Sendable {
        let event: EncodedEvent
        let at: Instant
    }

    private var entries: Deque<Entry> = []
    private var byteCount = 0
    /// The number of the newest event; 0 before the first.
    package private(set) var lastSeq: UInt64 = 0

    package init() {}

    /// Notes an event.
    ///
    /// - Returns: its number.
    package mutating func append(_ event: EncodedEvent, at now: Instant) -> UInt64 {
        lastSeq += 1
        entries.append(Entry(event: event, at: now))
        byteCount += event.byteCount
        while let oldest = entries.first, isTooMuch || now - oldest.at > Limits.eventLogAgeMax {
            byteCount -= oldest.event.byteCount
            entries.removeFirst()
        }
        return lastSeq
    }

    /// The events after number `seq`, as they were; nil if some of them are forgotten, or if there never was a number `seq`.
    package func events(after seq: UInt64) -> [(seq: UInt64, event: EncodedEvent)]? {
        guard seq <= lastSeq, lastSeq - seq <= UInt64(entries.count) else { return nil }
        let missed = Int(lastSeq - seq)
        return entries.suffix(missed).enumerated().map { (seq + UInt64($0.offset) + 1, $0.element.event) }
    }

    private var isTooMuch: Bool { entries.count > ProtocolLimits.resumeEventsMax || byteCount > Limits.eventLogBytesMax }
}

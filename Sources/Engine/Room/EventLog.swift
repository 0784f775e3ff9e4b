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
        let isGreeting: Bool
    }

    private var entries: Deque<Entry> = []
    private var byteCount = 0
    /// The number of the newest event; 0 before the first.
    package private(set) var lastSeq: UInt64 = 0

    package init() {}

    /// Notes an event.
    ///
    /// - Parameter isGreeting: whether it is a socket's `hello`.
    /// - Returns: its number.
    package mutating func append(_ event: EncodedEvent, at now: Instant, isGreeting: Bool = false) -> UInt64 {
        lastSeq += 1
        entries.append(Entry(event: event, at: now, isGreeting: isGreeting))
        byteCount += event.byteCount
        while let oldest = entries.first, isTooMuch || now - oldest.at > Limits.eventLogAgeMax {
            byteCount -= oldest.event.byteCount
            entries.removeFirst()
        }
        return lastSeq
    }

    /// Takes out what greeted a socket that was lost before it had read so far, and gives the numbers to those behind. They came after it,
    /// so nobody has seen them, and whoever comes next is greeted anew.
    package mutating func forgetGreetings(after seq: UInt64) {
        guard seq < lastSeq else { return }
        let seen = entries.count - Int(clamping: lastSeq - seq)
        for index in entries.indices.reversed() where index >= seen && entries[index].isGreeting {
            byteCount -= entries[index].event.byteCount
            entries.remove(at: index)
            lastSeq -= 1
        }
    }

    /// The events after number `seq`, as they were; nil if some of them are forgotten, or if there never was a number `seq`.
    package func events(after seq: UInt64) -> [(seq: UInt64, event: EncodedEvent)]? {
        guard seq <= lastSeq, lastSeq - seq <= UInt64(entries.count) else { return nil }
        let missed = Int(lastSeq - seq)
        return entries.suffix(missed).enumerated().map { (seq + UInt64($0.offset) + 1, $0.element.event) }
    }

    private var isTooMuch: Bool { entries.count > ProtocolLimits.resumeEventsMax || byteCount > Limits.eventLogBytesMax }
}

internal import DequeModule
package import Wire

/// The last events of one participant, so that a socket that takes its place back is told what the lost one kept from it.
///
/// Events are shared with all others who were told them, so a log is small. Of readings that come again and again only the newest is kept,
/// in the place of each: whoever missed some is told as many, and nothing that is not true any more. It forgets the oldest: beyond a number, beyond a size, and
/// after a time in which a lost socket would long have been found out. Whoever missed more than it holds cannot resume.
package struct EventLog: Sendable {
    private struct Entry: Sendable {
        /// Nil is a greeting: the one that somebody missed is never told again, for each socket has its own.
        var event: EncodedEvent?
        let at: Instant

        var byteCount: Int { event?.byteCount ?? 0 }
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
        if event.isReading { replaceReadings(with: event) }
        return append(Entry(event: event, at: now))
    }

    /// Notes a `hello`, which takes a number too.
    ///
    /// - Returns: its number.
    package mutating func appendGreeting(at now: Instant) -> UInt64 {
        append(Entry(event: nil, at: now))
    }

    /// Takes out what greeted a socket that was lost before it had read so far, and gives the numbers to those behind. They came after it,
    /// so nobody has seen them.
    package mutating func forgetGreetings(after seq: UInt64) {
        guard seq < lastSeq else { return }
        let seen = entries.count - Int(clamping: lastSeq - seq)
        for index in entries.indices.reversed() where index >= seen && entries[index].event == nil {
            entries.remove(at: index)
            lastSeq -= 1
        }
    }

    /// The events after number `seq`, as they were; nil if some of them are forgotten, or if there never was a number `seq`.
    package func events(after seq: UInt64) -> [(seq: UInt64, event: EncodedEvent)]? {
        guard seq <= lastSeq, lastSeq - seq <= UInt64(entries.count) else { return nil }
        var missed: [(seq: UInt64, event: EncodedEvent)] = []
        for entry in entries.suffix(Int(lastSeq - seq)) {
            guard let event = entry.event else { return nil }
            missed.append((seq + UInt64(missed.count) + 1, event))
        }
        return missed
    }

    private mutating func replaceReadings(with event: EncodedEvent) {
        for index in entries.indices where entries[index].event?.isReading == true {
            byteCount += event.byteCount - entries[index].byteCount
            entries[index].event = event
        }
    }

    private mutating func append(_ entry: Entry) -> UInt64 {
        lastSeq += 1
        entries.append(entry)
        byteCount += entry.byteCount
        while let oldest = entries.first, isTooMuch || entry.at - oldest.at > Limits.eventLogAgeMax {
            byteCount -= oldest.byteCount
            entries.removeFirst()
        }
        return lastSeq
    }

    private var isTooMuch: Bool { entries.count > ProtocolLimits.resumeEventsMax || byteCount > Limits.eventLogBytesMax }
}

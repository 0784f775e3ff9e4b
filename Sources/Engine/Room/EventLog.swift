internal import DequeModule
package import Wire

/// The last events of one participant, so that a socket that takes its index back is told what the lost one kept from it.
///
/// Events are shared with all others who were told them, so a log is small. Of readings that come again and again only the newest is kept,
/// in the index of each: whoever missed some is told as many, and nothing that is not true any more. It forgets the oldest: beyond a number, beyond a size, and
/// after a time in which a lost socket would long have been found out. Whoever missed more than it holds cannot resume.
package struct EventLog: Sendable {
    private struct Entry: Sendable {
        enum Content: Sendable {
            case event(EncodedEvent)
            /// As the newest one has it.
            case reading
            /// The one that somebody missed is never told again, for each socket has its own.
            case greeting
        }

        let content: Content
        let at: Instant

        var isGreeting: Bool { if case .greeting = content { true } else { false } }
    }

    private var entries: Deque<Entry> = []
    /// Of all but readings.
    private var byteCount = 0
    private var newestReading: EncodedEvent?
    private var readingCount = 0
    /// The number of the newest event; 0 before the first.
    package private(set) var lastSeq: UInt64 = 0

    package init() {}

    /// Notes an event.
    ///
    /// - Returns: its number.
    package mutating func append(_ event: EncodedEvent, at now: Instant) -> UInt64 {
        guard event.supersedesPrevious else { return append(Entry(content: .event(event), at: now)) }
        newestReading = event
        return append(Entry(content: .reading, at: now))
    }

    /// Notes a `hello`, which takes a number too.
    ///
    /// - Returns: its number.
    package mutating func appendHello(at now: Instant) -> UInt64 {
        append(Entry(content: .greeting, at: now))
    }

    /// Takes out what greeted a socket that was lost before it had read so far, and gives the numbers to those behind. They came after it,
    /// so nobody has seen them.
    package mutating func removeHellos(after seq: UInt64) {
        guard seq < lastSeq else { return }
        let seen = entries.count - Int(clamping: lastSeq - seq)
        for index in entries.indices.reversed() where index >= seen && entries[index].isGreeting {
            entries.remove(at: index)
            lastSeq -= 1
        }
    }

    /// The events after number `seq`, as they were; nil if some of them are forgotten, or if there never was a number `seq`.
    package func events(after seq: UInt64) -> [(seq: UInt64, event: EncodedEvent)]? {
        guard seq <= lastSeq, lastSeq - seq <= UInt64(entries.count) else { return nil }
        var missed: [(seq: UInt64, event: EncodedEvent)] = []
        for entry in entries.suffix(Int(lastSeq - seq)) {
            guard let event = event(of: entry) else { return nil }
            missed.append((seq + UInt64(missed.count) + 1, event))
        }
        return missed
    }

    private func event(of entry: Entry) -> EncodedEvent? {
        switch entry.content {
        case .event(let event): event
        case .reading: newestReading
        case .greeting: nil
        }
    }

    private mutating func append(_ entry: Entry) -> UInt64 {
        lastSeq += 1
        entries.append(entry)
        count(entry, 1)
        while let oldest = entries.first, isTooMuch || entry.at - oldest.at > Limits.eventLogAgeMax {
            count(oldest, -1)
            entries.removeFirst()
        }
        return lastSeq
    }

    private mutating func count(_ entry: Entry, _ sign: Int) {
        switch entry.content {
        case .event(let event): byteCount += sign * event.byteCount
        case .reading: readingCount += sign
        case .greeting: break
        }
    }

    private var isTooMuch: Bool {
        entries.count > ProtocolLimits.resumeEventsMax
            || byteCount + readingCount * (newestReading?.byteCount ?? 0) > Limits.eventLogBytesMax
    }
}

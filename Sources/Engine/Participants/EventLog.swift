internal import DequeModule
package import Wire

/// The last events of one participant, replayed when it resumes on another socket.
///
/// Encoded events are shared between participants, so a log is small. Of repeated readings (`EncodedEvent.isReading`) only the
/// newest is kept and stands in for all. The log is limited by count, size and age; a client that missed more than it holds cannot
/// resume.
package struct EventLog: Sendable {
    private struct Entry: Sendable {
        enum Content: Sendable {
            case event(EncodedEvent)
            /// A reading; its content is `newestReading`.
            case reading
            /// A `hello`. Never replayed, because each socket gets its own.
            case hello
        }

        let content: Content
        let at: Instant

        var isHello: Bool { if case .hello = content { true } else { false } }
    }

    private var entries: Deque<Entry> = []
    /// Bytes of all entries except readings.
    private var byteCount = 0
    private var newestReading: EncodedEvent?
    private var readingCount = 0
    /// Sequence number of the newest event; 0 before the first.
    package private(set) var lastSeq: UInt64 = 0

    package init() {}

    /// The log of a participant whose earlier events are lost.
    ///
    /// - Parameter seq: number of its last event.
    package init(after seq: UInt64) {
        lastSeq = seq
    }

    /// Appends an event.
    ///
    /// - Returns: its sequence number.
    package mutating func append(_ event: EncodedEvent, at now: Instant) -> UInt64 {
        guard event.supersedesPrevious else { return append(Entry(content: .event(event), at: now)) }
        newestReading = event
        return append(Entry(content: .reading, at: now))
    }

    /// Appends a `hello`, which has a sequence number too.
    ///
    /// - Returns: its sequence number.
    package mutating func appendHello(at now: Instant) -> UInt64 {
        append(Entry(content: .hello, at: now))
    }

    /// Removes a `hello` that the lost socket never read, and renumbers the events behind it, which the client has not seen either.
    package mutating func removeHellos(after seq: UInt64) {
        guard seq < lastSeq else { return }
        let seen = entries.count - Int(clamping: lastSeq - seq)
        for index in entries.indices.reversed() where index >= seen && entries[index].isHello {
            entries.remove(at: index)
            lastSeq -= 1
        }
    }

    /// All events that are kept, with their numbers: a participant that is restored from an image gets them, whatever its client missed.
    package var kept: [(seq: UInt64, event: EncodedEvent)] {
        let first = lastSeq - UInt64(entries.count) + 1
        return entries.enumerated().compactMap { offset, entry in event(of: entry).map { (first + UInt64(offset), $0) } }
    }

    /// Renumbers all entries, so that they follow `seq`: an image may be older than the last events that the client received.
    package mutating func advance(past seq: UInt64) {
        lastSeq = max(lastSeq - UInt64(entries.count), seq) + UInt64(entries.count)
    }

    /// The events after `seq`; nil if some were evicted or `seq` was never assigned.
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
        case .hello: nil
        }
    }

    private mutating func append(_ entry: Entry) -> UInt64 {
        lastSeq += 1
        entries.append(entry)
        count(entry, 1)
        while let oldest = entries.first, isOverLimit || entry.at - oldest.at > Limits.eventLogAgeMax {
            count(oldest, -1)
            entries.removeFirst()
        }
        return lastSeq
    }

    private mutating func count(_ entry: Entry, _ sign: Int) {
        switch entry.content {
        case .event(let event): byteCount += sign * event.byteCount
        case .reading: readingCount += sign
        case .hello: break
        }
    }

    private var isOverLimit: Bool {
        entries.count > ProtocolLimits.resumeEventsMax
            || byteCount + readingCount * (newestReading?.byteCount ?? 0) > Limits.eventLogBytesMax
    }
}

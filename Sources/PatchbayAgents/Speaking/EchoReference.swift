internal import Synchronization
internal import Wire

/// The levels of what the assistant plays, with the times at which the gateway releases it.
///
/// Written by the output, read by the pipeline.
final class EchoReference: Sendable {
    /// Older levels are forgotten.
    private static let span = Duration.seconds(3)

    private let levels = Mutex(Levels())

    /// Levels in the order of their time.
    struct Levels: Sendable {
        fileprivate struct Entry: Sendable {
            let start: Instant
            let end: Instant
            /// dBov.
            let level: Double
        }

        fileprivate var entries: [Entry] = []

        /// The level at a time; nil if nothing was played.
        func level(at time: Instant) -> Double? {
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].start <= time { low = middle + 1 } else { high = middle }
            }
            return low > 0 && time < entries[low - 1].end ? entries[low - 1].level : nil
        }

        func loudest(from start: Instant, to end: Instant) -> Double? {
            var loudest: Double?
            for entry in entries.reversed() where entry.start <= end {
                if entry.end < start { break }
                loudest = max(loudest ?? entry.level, entry.level)
            }
            return loudest
        }
    }

    func append(_ level: Double, from start: Instant, to end: Instant) {
        levels.withLock { $0.entries.append(Levels.Entry(start: start, end: end, level: level)) }
    }

    /// What was to be played after `now` was cleared.
    func clear(after now: Instant) {
        levels.withLock { levels in
            while let last = levels.entries.last, last.start > now { levels.entries.removeLast() }
        }
    }

    /// - Returns: the levels of the last seconds.
    func current(at now: Instant) -> Levels {
        levels.withLock { levels in
            let start = now + (.zero - Self.span)
            if let first = levels.entries.firstIndex(where: { $0.end >= start }) {
                levels.entries.removeFirst(first)
            } else {
                levels.entries.removeAll()
            }
            return levels
        }
    }
}

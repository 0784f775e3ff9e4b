internal import Foundation
internal import Synchronization
internal import Wire

/// Recognizes the assistant's own voice in a user's microphone, by comparing levels over time.
///
/// A loudspeaker's sound returns delayed and attenuated; its level follows that of what is played. The guard looks for the delay at which
/// both levels correlate, learns delay and attenuation, and from then on takes everything that is not louder than the expected echo for echo.
/// Until then, during the warm-up, the user is believed; an echo that interrupts the assistant meanwhile is recognized by its words
/// (`UtteranceText.isEcho`), and the assistant continues.
///
/// A pure value; one for each microphone. It needs no echo canceller, and does not remove echo: it only keeps it from interrupting.
struct EchoGuard: Sendable {
    /// A path from loudspeaker to microphone.
    struct Path: Sendable, Hashable {
        /// Milliseconds.
        var delay: Int
        /// Echo minus reference, in dB.
        var gain: Double

        func isNear(_ other: Path) -> Bool { abs(delay - other.delay) <= 60 && abs(gain - other.gain) <= 6 }
    }

    private struct Candidate {
        let path: Path
        /// Fits that agree on it.
        let count: Int
        /// When the latest of them was made.
        let at: Instant
    }

    private struct Sample {
        let level: Double
        let at: Instant
    }

    /// Windows compared: about a second. Fewer agree by chance too often.
    private static let windows = 32
    private static let delayMax = 800
    /// The windows compared lie within this many milliseconds, unless the network stalled.
    private static let span = 1_200
    private static let delayStep = 20
    /// Fits that must agree on a path, and the time between two that count.
    private static let learnAfter = 2
    private static let relearnAfter = 3
    private static let betweenFits = Duration.milliseconds(256)
    /// A path is forgotten when the expected echo was missing in this many windows: about 600 ms.
    private static let missingMax = 19
    private static let correlationMin = 0.85
    /// Spread of the difference between both levels, in dB.
    private static let spreadMax = 5.0
    /// Speech louder than the expected echo by this much is the user's, in dB.
    private static let margin = 6.0
    /// Levels below this carry no information, in dBov.
    private static let floor = -60.0

    private(set) var path: Path?
    private var recent: [Sample] = []
    /// A path that is not believed yet.
    private var candidate: Candidate?
    /// Windows in a row in which the expected echo was not there.
    private var missing = 0

    /// - Parameters:
    ///   - level: of the window, in dBov.
    ///   - now: when it arrived.
    ///   - reference: what is played.
    /// - Returns: whether the window is echo, as far as is known.
    mutating func isEcho(level: Double, at now: Instant, reference: EchoReference.Levels) -> Bool {
        recent.append(Sample(level: max(level, Self.floor), at: now))
        if recent.count > Self.windows { recent.removeFirst() }
        guard let loudest = reference.loudest(from: now + .milliseconds(-Self.delayMax), to: now), loudest > Self.floor else {
            // Nothing is played, or the last echo has died away.
            return false
        }
        learn(from: reference)
        guard let path else { return false }
        let center = now + .milliseconds(-path.delay)
        guard let expected = reference.loudest(from: center + .milliseconds(-80), to: center + .milliseconds(60)) else { return false }
        if expected + path.gain > Self.floor + 12 { missing = level < Self.floor + 3 ? missing + 1 : 0 }
        if missing >= Self.missingMax { self.path = nil }
        return level <= expected + path.gain + Self.margin
    }

    /// Updates the path if the recent windows follow the reference.
    private mutating func learn(from reference: EchoReference.Levels) {
        guard recent.count == Self.windows, (recent.map(\.level).max() ?? Self.floor) > Self.floor + 10 else { return }
        let levels = recent.map(\.level)
        // The reference on a grid, so that each delay is an offset.
        let newest = recent[recent.count - 1].at
        let grid = (0...(Self.delayMax + Self.span) / Self.delayStep).map { step in
            max(reference.level(at: newest + .milliseconds(-step * Self.delayStep)) ?? Self.floor, Self.floor)
        }
        let ages = recent.map { Int((newest - $0.at).inMilliseconds) / Self.delayStep }
        guard let oldest = ages.first, oldest <= Self.span / Self.delayStep else { return }
        var best: (delay: Int, correlation: Double, gain: Double, spread: Double)?
        for offset in 0...Self.delayMax / Self.delayStep {
            let played = ages.map { grid[$0 + offset] }
            guard let fit = Self.fit(levels, to: played), fit.correlation > best?.correlation ?? 0 else { continue }
            best = (offset * Self.delayStep, fit.correlation, fit.gain, fit.spread)
        }
        guard let best, best.correlation >= Self.correlationMin, best.spread <= Self.spreadMax, best.gain <= 3 else { return }
        let found = Path(delay: best.delay, gain: best.gain)
        if let known = path, found.isNear(known) {
            path = Path(delay: found.delay, gain: known.gain * 0.9 + found.gain * 0.1)
            candidate = nil
            return
        }
        // A user who speaks may follow the reference for a moment. A path is believed when fits of different audio agree on it, and more of
        // them when it replaces another: another device, another volume.
        guard let candidate, found.isNear(candidate.path) else {
            candidate = Candidate(path: found, count: 1, at: newest)
            return
        }
        guard newest - candidate.at >= Self.betweenFits else { return }
        self.candidate = Candidate(path: found, count: candidate.count + 1, at: newest)
        if candidate.count + 1 >= (path == nil ? Self.learnAfter : Self.relearnAfter) {
            path = found
            missing = 0
            self.candidate = nil
        }
    }

    /// How well levels follow a reference: their correlation, and mean and spread of their difference in dB.
    private static func fit(_ levels: [Double], to reference: [Double]) -> (correlation: Double, gain: Double, spread: Double)? {
        let count = Double(levels.count)
        let meanLevel = levels.reduce(0, +) / count
        let meanReference = reference.reduce(0, +) / count
        var (product, square, referenceSquare) = (0.0, 0.0, 0.0)
        for (level, played) in zip(levels, reference) {
            product += (level - meanLevel) * (played - meanReference)
            square += (level - meanLevel) * (level - meanLevel)
            referenceSquare += (played - meanReference) * (played - meanReference)
        }
        // Steady sounds correlate with anything.
        guard square / count > 9, referenceSquare / count > 9 else { return nil }
        let differences = zip(levels, reference).filter { $1 > floor }.map { $0 - $1 }.sorted()
        guard differences.count >= levels.count / 2 else { return nil }
        let gain = differences[differences.count / 2]
        let spread = differences.reduce(0) { $0 + abs($1 - gain) } / Double(differences.count)
        return (product / (square * referenceSquare).squareRoot(), gain, spread)
    }
}

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

    /// Audio that was scheduled after `now` was cleared.
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

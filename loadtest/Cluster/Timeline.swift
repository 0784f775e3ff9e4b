import Histogram

/// The figures of a run, by marks: each part begins with something that happens to the cluster.
struct Timeline {
    /// A receiver that hears nothing for longer, in nanoseconds, has a gap.
    static let gapMin: UInt64 = 200_000_000

    /// How a mark's nodes concern a call.
    enum Concern: Int, CaseIterable {
        /// Its home is one of them.
        case home
        /// A connection of it leads through one of them.
        case way
        case none
    }

    struct Part {
        let name: String
        let nodes: [String]
        let began: UInt64
        /// By call.
        let concerns: [Concern]
        var counts = Counts()
        var groups = Concern.allCases.map { _ in Group() }
    }

    struct Counts {
        var callsLost = 0
        var resumes = 0
        var snapshots = 0
        var freshJoins = 0
        var acknowledged = 0
        var acknowledgedLost = 0
        var requestsRefused = 0
        var eventsRepeated = 0
        var eventsSkipped = 0
        var framesSent = 0
        /// Frames that this program did not send in time.
        var framesSkipped = 0
        /// The longest time, in nanoseconds, for which this program did not run.
        var pauseMax: UInt64 = 0
        /// The longest time, in nanoseconds, from the loss of a connection to the `hello` of the next.
        var resumeMax: UInt64 = 0
    }

    struct Group {
        var frames = 0
        var framesLost = 0
        var gaps = 0
        var unfinished = 0
        /// Each receiver's longest gap, in nanoseconds.
        var longest: [Int: UInt64] = [:]
        /// The latency of frames, in microseconds.
        var latency = Histogram<UInt32>(lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: .two)
    }

    private(set) var parts: [Part] = []
    private(set) var problems: [String: Int] = [:]

    var counts: Counts {
        get { parts[parts.count - 1].counts }
        set { parts[parts.count - 1].counts = newValue }
        _modify { yield &parts[parts.count - 1].counts }
    }

    mutating func mark(_ name: String, nodes: [String], at now: UInt64, concerns: [Concern]) {
        parts.append(Part(name: name, nodes: nodes, began: now, concerns: concerns))
    }

    mutating func note(_ problem: String) {
        problems[problem, default: 0] += 1
    }

    /// A frame has arrived.
    ///
    /// - Parameters:
    ///   - before: when the one before it had arrived; 0 if it is the first.
    ///   - missing: frames that were sent between them.
    mutating func received(by receiver: Int, before: UInt64, now: UInt64, missing: Int, latency: UInt64) {
        let last = parts.count - 1
        let group = parts[last].concerns[receiver / 2].rawValue
        parts[last].groups[group].frames += 1
        parts[last].groups[group].latency.record(min(latency / 1_000, 60_000_000))
        let isGap = before > 0 && now - before > Self.gapMin
        guard isGap || missing > 0 else { return }
        record(receiver, from: before, to: now, missing: missing, isGap: isGap)
    }

    /// Records a gap that has not ended when the run ends.
    mutating func ended(for receiver: Int, before: UInt64, now: UInt64) {
        guard before > 0, now - before > Self.gapMin else { return }
        let (part, group) = record(receiver, from: before, to: now, missing: 0, isGap: true)
        parts[part].groups[group].unfinished += 1
    }

    /// A gap belongs to the part in which it became one: it may begin with the last frame before the mark.
    @discardableResult
    private mutating func record(_ receiver: Int, from before: UInt64, to now: UInt64, missing: Int, isGap: Bool) -> (part: Int, group: Int)
    {
        let noticed = min(before + Self.gapMin, now)
        let part = parts.lastIndex { $0.began <= noticed } ?? 0
        let group = parts[part].concerns[receiver / 2].rawValue
        parts[part].groups[group].framesLost += missing
        if isGap {
            parts[part].groups[group].gaps += 1
            parts[part].groups[group].longest[receiver, default: 0] = max(parts[part].groups[group].longest[receiver] ?? 0, now - before)
        }
        return (part, group)
    }
}

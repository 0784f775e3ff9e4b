import Foundation
import Sockets
import Synchronization

/// Transitions between the phases of a run.
extension Swarm {
    /// Time for the last joins, and for frames in transit at the end, in nanoseconds.
    private static let joinTimeout: UInt64 = 25_000_000_000
    private static let drainTime: UInt64 = 2_000_000_000

    func changePhase(_ now: UInt64) {
        let spent = now &- timeline.phaseBegan
        switch phase {
        case .ramping:
            if Interruption.isRequested || isFeedOver { return enter(.leaving, now) }
            guard initialCallsLeft == 0 else { return }
            let areJoining = calls.contains { $0.phase == .joining }
            // With churn, some call is always joining.
            if !areJoining || scenario.meanCallSeconds != nil || now &- nextStart > Self.joinTimeout && now > nextStart {
                enter(calls.contains { $0.phase == .talking } || scenario.meanCallSeconds != nil ? .warming : .leaving, now)
            }
        case .warming:
            if spent >= UInt64(scenario.warmupSeconds * 1e9) { enter(.measuring, now) }
        case .measuring:
            let isOver = scenario.totalCalls.map { total.callsEnded >= $0 } ?? (spent >= UInt64(scenario.seconds * 1e9))
            let isHopeless = calls.allSatisfy { $0.phase == .vacant } && startable.isEmpty
            if isOver || isHopeless || isFeedOver || Interruption.isRequested { enter(.draining, now) }
        case .draining:
            if spent >= Self.drainTime || hasReceivedEverything { enter(.leaving, now) }
        case .leaving:
            if spent >= Self.drainTime || calls.allSatisfy({ $0.openConnections == 0 }) { enter(.done, now) }
        case .done: break
        }
    }

    /// All fed rooms were used, and their calls have ended.
    private var isFeedOver: Bool {
        rooms?.isExhausted == true && calls.allSatisfy { $0.phase == .vacant }
    }

    private var hasReceivedEverything: Bool {
        calls.indices.allSatisfy { call in
            guard calls[call].phase == .talking || calls[call].phase == .ending else { return true }
            return members(of: call).allSatisfy { slot in
                let publisher = slots[slot].subscribesTo
                return publisher < 0 || slots[slot].reception.missing(before: slots[publisher].sequence) == 0
            }
        }
    }

    private func enter(_ next: RunPhase, _ now: UInt64) {
        phase = next
        timeline.phaseBegan = now
        switch next {
        case .measuring:
            tally = Tally()
            // Not `now`: frames were already sent in this turn.
            measuredFrom = clock
            for slot in slots.indices { slots[slot].measuredFrom = slots[slot].sequence }
            total.callsEnded = 0
            timeline.measure(from: now, server: ProcessSample(pid: serverPid), own: ProcessSample(pid: nil), calls: liveCalls)
            if let storm = scenario.reconnectStorm { nextStorm = now + UInt64(min(2, storm.everySeconds) * 1e9) }
        case .draining:
            timeline.measured(to: now, server: ProcessSample(pid: serverPid), own: ProcessSample(pid: nil), tally: tally)
        case .leaving:
            for call in calls.indices where calls[call].phase != .vacant {
                if calls[call].phase == .talking || calls[call].phase == .ending { countMissing(call) }
                leave(call, now)
            }
        case .done: loop.stop()
        default: break
        }
    }

    var liveCalls: Int {
        calls.reduce(into: 0) { $0 += $1.phase == .talking ? 1 : 0 }
    }

    func sampleEverySecond(_ now: UInt64) {
        guard now >= timeline.nextSample else { return }
        timeline.sample(
            at: now, calls: liveCalls, phase: phase, tally: tally, server: ProcessSample(pid: serverPid),
            own: ProcessSample(pid: nil))
        progress?.show(timeline.points.last, phase: phase, tally: tally, total: total, scenario: scenario)
    }
}

/// The phases of a run, in order.
enum RunPhase: Int, Comparable, Sendable {
    /// Calls start, and talk as soon as they are complete.
    case ramping
    /// All calls have started; counts are discarded.
    case warming
    case measuring
    /// Nothing is sent; frames in transit may still arrive.
    case draining
    case leaving
    case done

    static func < (left: RunPhase, right: RunPhase) -> Bool { left.rawValue < right.rawValue }
}

/// Ctrl-C ends the measurement and reports; a second one ends the process immediately.
enum Interruption {
    private static let requested = Atomic(false)

    static var isRequested: Bool { requested.load(ordering: .relaxed) }

    static func watch() {
        signal(SIGINT) { _ in
            Interruption.requested.store(true, ordering: .relaxed)
            signal(SIGINT, SIG_DFL)
        }
    }
}

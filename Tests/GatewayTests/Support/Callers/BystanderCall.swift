import Foundation
import Identity
import Wire

/// Two participants that send frames in another room and must not be affected by a test.
///
/// Runs on a thread of its own from `init` to `finish`. Its participants are agents, whose frames are not dropped when they are late: a slow
/// test process must not look like a loss.
///
/// `@unchecked Sendable`: after `init` only its thread uses `callers`, and the rest is used under `condition`.
final class BystanderCall: @unchecked Sendable {
    struct Report {
        var sent = 0
        var lost = 0
        var outOfOrder = 0
        var latest = Duration.zero
        var fault: String?

        var isSound: Bool { sent > 0 && lost == 0 && outOfOrder == 0 && fault == nil }
    }

    private static let interval = Duration.milliseconds(20)
    /// After a pause of this process, frames of at most this time are sent at once: more would exceed the rate of a track.
    private static let burstMax = Duration.milliseconds(200)
    private let callers: [Caller]
    private let tracks: [TrackInfo]
    private let condition = NSCondition()
    private var isFinishing = false
    private var report: Report?

    init(on gateway: TestGateway) throws {
        // Agents alone do not keep a room open.
        let settings = TokenRoomSettings(emptyTimeout: 3_600)
        callers = try ["ann", "bob"].map {
            try Caller(gateway, room: "bystanders", identity: $0) {
                $0.kind = .agent
                $0.roomSettings = settings
            }
        }
        tracks = try callers.map { try $0.publish() }
        for caller in callers { try caller.settle() }
        let thread = Thread { [self] in
            let report = talk()
            condition.withLock {
                self.report = report
                condition.signal()
            }
        }
        thread.name = "bystanders"
        thread.start()
    }

    /// Waits for frames in flight and returns the result.
    func finish() -> Report {
        condition.withLock {
            isFinishing = true
            while report == nil { condition.wait() }
            return report!
        }
    }

    private func talk() -> Report {
        var report = Report()
        var sentAt: [ContinuousClock.Instant] = []
        var next = [0, 0]
        do {
            var due = ContinuousClock.now
            while !condition.withLock({ isFinishing }) || sentAt.count < 10 {
                let number = sentAt.count
                sentAt.append(.now)
                for (caller, track) in zip(callers, tracks) { try caller.say(TestFrame.bytes(track.alias, number)) }
                due = max(due + Self.interval, .now - Self.burstMax)
                repeat { try listen(10, &next, sentAt, &report) } while ContinuousClock.now < due
            }
            let deadline = ContinuousClock.now + .seconds(10)
            while next.contains(where: { $0 < sentAt.count }), ContinuousClock.now < deadline { try listen(20, &next, sentAt, &report) }
        } catch {
            report.fault = "\(error)"
        }
        for caller in callers where caller.ending != nil { report.fault = "closed: \(caller.ending!)" }
        report.sent = 2 * sentAt.count
        report.lost += next.reduce(0) { $0 + sentAt.count - $1 }
        return report
    }

    private func listen(_ milliseconds: Int, _ next: inout [Int], _ sentAt: [ContinuousClock.Instant], _ report: inout Report) throws {
        for (index, caller) in callers.enumerated() {
            try caller.takeAll(within: .milliseconds(milliseconds / 2))
            for (frame, at) in caller.frames {
                let number = TestFrame.sequence(of: frame)
                if number < next[index] { report.outOfOrder += 1 }
                if number > next[index] { report.lost += number - next[index] }
                next[index] = max(next[index], number + 1)
                if number < sentAt.count { report.latest = max(report.latest, at - sentAt[number]) }
            }
            caller.frames.removeAll()
        }
    }
}

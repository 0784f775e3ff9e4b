import Testing
import Wire

@testable import Engine

/// Random inputs on one track: marks and clears are answered exactly once, and the position never goes back.
struct RandomPlayoutTests {
    @Test(arguments: 0..<300)
    func randomPlayoutsKeepTheInvariants(seed: Int) throws {
        var playout = try RandomPlayout(seed: UInt64(seed))
        playout.run(steps: 300)
        #expect(playout.problems.isEmpty, "seed \(seed): \(playout.problems.prefix(5))")
    }

    /// The random inputs must cover the cases that the invariants are about.
    @Test func randomInputsCoverEveryCase() throws {
        var covered: Set<String> = []
        var fates: Set<MarkStatus> = []
        for seed in 0..<100 {
            var playout = try RandomPlayout(seed: UInt64(seed))
            playout.run(steps: 300)
            covered.formUnion(playout.covered)
            fates.formUnion(playout.fates)
        }
        #expect(covered.count == 5, "\(covered)")
        #expect(fates == Set(MarkStatus.allCases), "\(fates)")
    }
}

/// A queue that releases by the clock, subscribers that report at random, and shards with message delays.
private struct RandomPlayout {
    private(set) var problems: [String] = []
    private(set) var covered: Set<String> = []
    private(set) var fates: Set<MarkStatus> = []

    private var call: PlayoutWorld
    private var random: SplitMix64
    /// Milliseconds on the track.
    private var published = 0
    private var isDrained = true
    /// Reports of the publisher's shard that are under way.
    private var mail: [Room.PlayoutQueueReport] = []
    private var marks: [String: Int] = [:]
    private var clears = 0
    private var answered = 0
    /// The position last reported in this epoch.
    private var heard: MediaTime?
    private var isUnderWay = false
    private var subscribers: [ParticipantHandle]
    private var seen = 0

    init(seed: UInt64) throws {
        call = try PlayoutWorld()
        random = SplitMix64(seed: seed)
        subscribers = [call.ann]
        seen = call.world.history.count
    }

    mutating func run(steps: Int) {
        for number in 0..<steps {
            step(number)
            tick()
        }
        deliver()
        tick()
        call.pass(140_000)
        tick()
        for (name, count) in marks.sorted(by: { $0.key < $1.key }) where count != 1 {
            problems.append("mark \(name) was answered \(count) times")
        }
        if answered != clears { problems.append("\(clears) clears had \(answered) answers") }
    }

    private mutating func step(_ number: Int) {
        switch below(16) {
        case 0..<4: publish()
        case 4, 5: setMark("\(number)")
        case 6..<9: report()
        case 9: clear()
        case 10: deliver()
        case 11: toggleMute()
        case 12: changeSubscribers(number)
        case 13: say(.backlog(.full, queuedMilliseconds: 60_000, dropped: below(2)))
        default:
            // Reports take milliseconds, not seconds.
            call.pass(below(100))
            deliver()
            call.pass(below(500))
        }
    }

    private mutating func publish() {
        if isDrained {
            published += below(2) * below(5_000)
            say(
                below(4) == 0
                    ? .refilled(epoch: call.epoch) : .started(epoch: call.epoch, at: call.time(published), playsAt: call.world.now))
        }
        published += below(1_000)
        isDrained = below(3) > 0
        if isDrained { say(.drained(epoch: call.epoch, end: call.time(published))) }
    }

    private mutating func setMark(_ name: String) {
        let position = published + below(4_000) - 2_000
        if call.mark(position, name) == .reply(.done) { marks[name] = 0 }
    }

    private mutating func report() {
        let position = below(6) == 0 ? nil : published - below(1_500)
        call.report(
            position, buffered: Double(below(400)), epoch: call.epoch &- UInt8(below(8) / 7), by: subscribers[below(subscribers.count)])
    }

    private mutating func clear() {
        let request = Request.playoutClear(call.track.sid, reason: nil)
        switch call.world.send(below(2) == 0 ? call.helper : call.ann, request) {
        case .rejected: return
        default: clears += 1
        }
        call.epoch &+= 1
        isDrained = true
        say(.cleared(epoch: call.epoch, end: below(4) == 0 ? nil : call.time(published)))
    }

    private mutating func toggleMute() {
        call.world.send(call.helper, .mute(call.track.sid, muted: below(2) == 0))
    }

    private mutating func changeSubscribers(_ number: Int) {
        if subscribers.count > 1, below(2) == 0 {
            call.world.receive(.left(subscribers.removeLast(), .signalClose))
        } else {
            subscribers.append(call.world.join("listener \(number)"))
        }
    }

    /// Reports arrive in order, now or later.
    private mutating func say(_ report: Room.PlayoutQueueReport) {
        mail.append(report)
        if below(3) > 0 { deliver() }
    }

    private mutating func deliver() {
        for report in mail { call.queueReports(report) }
        mail = []
    }

    private mutating func tick() {
        for effect in call.world.history[seen...] {
            switch effect {
            case .send(let event, let audience) where audience.contains(call.helper): follow(event)
            case .replay(let event, call.helper): follow(event)
            case .reply(.cleared, _, _): answered += 1
            case .patch(.clear):
                heard = nil
            default: break
            }
        }
        seen = call.world.history.count
    }

    private mutating func follow(_ event: Event) {
        let word = RoomWorld.word(event)
        if word.hasPrefix("playout") { covered.insert(word) }
        switch event {
        case .playoutStarted:
            if isUnderWay { problems.append("an utterance started within another") }
            isUnderWay = true
        case .playoutMarked(_, let name, let status, let time):
            fates.insert(status)
            marks[name, default: 1_000] += 1
            if status == .played { advance(to: time, "mark \(name)") }
        case .playoutFinished(_, _, let epoch, let heard):
            if epoch != call.epoch { problems.append("epoch \(epoch) finished in \(call.epoch)") }
            if !isUnderWay { problems.append("an end without a start") }
            isUnderWay = false
            if let time = heard.playedTs { advance(to: MediaTime(ticks: time), "finish") }
        case .playoutCleared(let cut, _):
            if cut.heard.playedMs < 0 || cut.discardedMs < 0 { problems.append("negative duration: \(cut)") }
            isUnderWay = false
        default: break
        }
    }

    private mutating func advance(to time: MediaTime?, _ what: String) {
        guard let time else { return problems.append("\(what) without a position") }
        if let heard, time.distance(from: heard) < 0 { problems.append("\(what) moved the position back") }
        heard = time
    }

    private mutating func below(_ bound: Int) -> Int { random.below(bound) }
}

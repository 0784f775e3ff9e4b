import Foundation
import Identity
import Sockets
import TLSRecords
import Wire

/// Drives all calls on one thread and one event loop.
final class ClusterLoad: SocketDelegate {
    static let millisecond: UInt64 = 1_000_000
    static let second: UInt64 = 1_000_000_000
    /// How long a server may take for TLS, and again for the upgrade.
    static let handshakeSecondsMax = 5
    /// Each participant changes its state, and pings, once in this time.
    static let updateInterval = 2 * second
    static let pingInterval = 5 * second
    /// Time for the last replies and events.
    private static let settlingTime = 3 * second
    /// Time for the gateways to close connections that have left.
    private static let leavingTime = second

    let callers: [Caller]
    let nodes: [Node]
    /// Names of nodes to which nobody connects.
    private(set) var avoided: Set<String> = []
    private let joinsPerSecond: Int
    private let seconds: Double?
    private let progressInterval: UInt64
    private var commands: Commands!
    var loop: Loop!
    var timeline = Timeline()
    /// The caller for which `Loop.connect` is running; -1 for none.
    var connecting = -1
    /// Headroom and one frame, which the socket layer masks in place.
    let frame: UnsafeMutableRawPointer
    /// The schedules go round all callers once per interval.
    var frames = Round(interval: FrameContent.interval)
    private var updates = Round(interval: updateInterval)
    private var pings = Round(interval: pingInterval)
    private var checks = Round(interval: second / 4)
    private var began: UInt64 = 0
    private var lastTick: UInt64 = 0
    private var nextProgress: UInt64 = 0
    private var receivedBefore = 0
    /// When the end was asked for.
    private var endingSince: UInt64?
    private var report: LoadReport!

    init(calls: Int, nodes: [Node], signer: IssuerKey, joinsPerSecond: Int, progress: Double, seconds: Double?) {
        let run = UInt32.random(in: 0 ... .max)
        callers = (0..<calls * 2).map { index in
            // A key that has signed anything signs this.
            try! Caller(index: index, room: "cluster-\(run)-\(index / 2)", nodes: nodes.count, signer: signer)
        }
        self.nodes = nodes
        self.joinsPerSecond = joinsPerSecond
        self.seconds = seconds
        progressInterval = UInt64(progress * 1e9)
        frame = .allocate(byteCount: Connection.headroom + FrameContent.bytes, alignment: 16)
    }

    deinit {
        frame.deallocate()
    }

    func run(trusting trust: ClientTrust, commands: Commands) throws -> LoadReport {
        self.commands = commands
        var settings = LoopSettings(client: trust)
        settings.fastPath = TLSFastPath(.auto)
        settings.handshakeSecondsMax = Self.handshakeSecondsMax
        loop = try Loop(settings: settings, delegate: self)
        (began, lastTick) = (clock, clock)
        timeline.mark("start", nodes: [], at: began, concerns: callers.indices.dropFirst(callers.count / 2).map { _ in .none })
        for caller in callers {
            caller.phase = .waiting(until: began + UInt64(caller.index) * Self.second / UInt64(joinsPerSecond))
        }
        for round in [\ClusterLoad.frames, \.updates, \.pings, \.checks] { self[keyPath: round].begin(at: began, positions: callers.count) }
        loop.wake(at: loop.now)
        loop.run()
        return report
    }

    /// The current time in nanoseconds on the loop's clock.
    var clock: UInt64 { loop.exactNow.nanoseconds }

    var isEnding: Bool { endingSince != nil }

    // MARK: Time

    func timerRang() {
        let now = clock
        timeline.counts.pauseMax = max(timeline.counts.pauseMax, now - lastTick)
        lastTick = now
        obey(now)
        sendDueFrames(now)
        checks.due(at: now, atMost: callers.count) { check(callers[$0], now) }
        if !isEnding { updates.due(at: now, atMost: callers.count) { update(callers[$0]) } }
        pings.due(at: now, atMost: callers.count) { ping(callers[$0], now) }
        if now >= nextProgress { showProgress(now) }
        if let since = endingSince, now - since >= Self.settlingTime {
            if report == nil { finish(now) }
            if now - since >= Self.settlingTime + Self.leavingTime { return loop.stop() }
        }
        loop.wake(at: loop.now + .milliseconds(1))
    }

    private func obey(_ now: UInt64) {
        for command in commands.take() {
            switch command {
            case .mark(let name, let nodes): timeline.mark(name, nodes: nodes, at: now, concerns: concerns(of: Set(nodes)))
            case .avoid(let nodes): avoided = Set(nodes)
            case .end: endingSince = endingSince ?? now
            }
        }
        if let seconds, Double(now - began) / 1e9 >= seconds { endingSince = endingSince ?? now }
    }

    private func concerns(of nodes: Set<String>) -> [Timeline.Concern] {
        stride(from: 0, to: callers.count, by: 2).map { first in
            let pair = [callers[first], callers[first + 1]]
            if pair.contains(where: { nodes.contains($0.home) }) { return .home }
            return pair.contains { nodes.contains(self.nodes[$0.entry].name) } ? .way : .none
        }
    }

    private func finish(_ now: UInt64) {
        let calls = stride(from: 0, to: callers.count, by: 2).map { (callers[$0], callers[$0 + 1]) }
        for caller in callers {
            timeline.ended(for: caller.index, before: caller.lastFrameAt, now: now)
            let other = callers[caller.index ^ 1]
            guard caller.isJoined, other.isJoined else { continue }
            compare(caller, with: other.othersCounter, "the other party has not seen the latest acknowledged change")
        }
        report = LoadReport(
            timeline, calls: calls.count, established: calls.count { $0.lastFrameAt > 0 && $1.lastFrameAt > 0 },
            connected: calls.count { $0.isJoined && $1.isJoined }, at: now)
        for caller in callers where caller.isJoined { leave(caller) }
    }

    /// Test scripts parse this line: its fields keep their names and order.
    private func showProgress(_ now: UInt64) {
        nextProgress = now + progressInterval
        let joined = callers.count { $0.isJoined }
        let hearing = callers.count { $0.isJoined && $0.lastFrameAt > 0 && now - $0.lastFrameAt < Timeline.gapMin }
        let received = timeline.parts.reduce(0) { $0 + $1.groups.reduce(0) { $0 + $1.frames } }
        let homes = nodes.map { node in "\(node.name):\(callers.count { $0.home == node.name } / 2)" }.joined(separator: ",")
        let counts = timeline.counts
        let line = """
            \((now - began) / Self.second) s: joined \(joined) hearing \(hearing) of \(callers.count), \
            frames \((received - receivedBefore) * Int(Self.second) / Int(progressInterval)) per second, homes \(homes), in \(timeline.parts.last?.name ?? ""): \
            calls lost \(counts.callsLost), resumes \(counts.resumes), fresh joins \(counts.freshJoins)

            """
        receivedBefore = received
        FileHandle.standardError.write(Data(line.utf8))
    }

    // MARK: SocketDelegate

    func woken() {}
    func opened(_ connection: Connection) {}
    func writable(_ connection: Connection) {}
    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}

    /// The caller of this connection; nil if it has given it up.
    func caller(of connection: Connection) -> Caller? {
        let index = connection.slot >= 0 ? connection.slot : connecting
        guard index >= 0 else { return nil }
        let caller = callers[index]
        return caller.connection === connection || (caller.connection == nil && connecting == index) ? caller : nil
    }
}

/// A schedule that visits every position once per interval, evenly spread.
struct Round {
    let interval: UInt64
    private var positions: UInt64 = 1
    private var start: UInt64 = 0
    private var visited: UInt64 = 0

    init(interval: UInt64) { self.interval = interval }

    mutating func begin(at now: UInt64, positions: Int) {
        (start, self.positions) = (now, UInt64(positions))
    }

    /// When the next position is due.
    var next: UInt64 { start + visited / positions * interval + visited % positions * interval / positions }

    /// The next position, if it is due; nil if none is.
    mutating func take(at now: UInt64) -> Int? {
        guard next <= now else { return nil }
        defer { visited += 1 }
        return Int(visited % positions)
    }

    mutating func due(at now: UInt64, atMost limit: Int, _ visit: (Int) -> Void) {
        var left = limit
        while left > 0, let position = take(at: now) {
            visit(position)
            left -= 1
        }
    }

    /// Leaves out whole rounds that are over.
    ///
    /// - Returns: the number of positions left out.
    mutating func skip(to now: UInt64) -> Int {
        guard now > next + interval else { return 0 }
        let rounds = (now - next) / interval
        visited += rounds * positions
        return Int(rounds * positions)
    }
}

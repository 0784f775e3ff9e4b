import Testing
import Wire

@testable import Sockets

/// The places of connections that fail while they are handed to libwebsockets are given back once.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ConnectionQuotaTests {
    /// Runs a loop until a condition holds.
    private final class Runner: SocketDelegate {
        private var loop: Loop?
        private var turnsLeft = 2_000
        private var isDone: (LoopCounters) -> Bool = { _ in false }

        /// - Returns: the loop's counters at its end; nil if the condition never held.
        func run(_ loop: Loop, until isDone: @escaping (LoopCounters) -> Bool) -> LoopCounters? {
            self.loop = loop
            self.isDone = isDone
            loop.wake(at: loop.now)
            loop.run()
            self.loop = nil
            return turnsLeft > 0 ? loop.counters : nil
        }

        func timerRang() {
            guard let loop else { return }
            turnsLeft -= 1
            if turnsLeft == 0 || isDone(loop.counters) { loop.stop() } else { loop.wake(at: loop.now + .milliseconds(10)) }
        }

        func woken() {}
        func opened(_ connection: Connection) {}
        func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {}
        func received(text message: UnsafeRawBufferPointer, from connection: Connection) {}
        func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
        func writable(_ connection: Connection) {}
        func closed(_ connection: Connection, _ end: ConnectionEnd) {}
    }

    /// Takes all places.
    private static func free(_ quota: ConnectionQuota) -> Int { (0..<2 * quota.limit).count { _ in quota.take() } }

    /// The bytes have arrived before the loop accepts, so that the handshake fails within the adoption.
    @Test(arguments: [(true, 1), (true, 64), (false, 64)])
    func handshakeThatFailsAtOnceGivesItsPlaceBackOnce(closes: Bool, count: Int) throws {
        let (quota, operationsQuota) = (ConnectionQuota(limit: 100), ConnectionQuota(limit: 100))
        let runner = Runner()
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        var settings = LoopSettings(server: Certificate.usual.files)
        (settings.quota, settings.operationsQuota) = (quota, operationsQuota)
        let loop = try Loop(settings: settings, delegate: runner)
        loop.listen(on: listener)
        var sockets = try (0..<50).map { _ in
            let socket = try RawSocket(port: listener.port)
            try socket.write(Array(repeating: 0, count: count))
            return socket
        }
        if closes { sockets = [] }
        let counters = try #require(runner.run(loop) { $0.handshakesAbandoned == 50 })
        #expect(counters.turnedAway == 0 && counters.acceptFailures == 0)
        #expect(Self.free(quota) == 100 && Self.free(operationsQuota) == 100)
        withExtendedLifetime(sockets) {}
    }
}

import Foundation
import Glibc
import TLSRecords
import Testing
import Wire

@testable import Sockets

/// The bytes of a forwarded WebSocket, from a client through one node to the home of its room: all by TLS, with OpenSSL's records or ours.
@Suite(.serialized, .timeLimit(.minutes(3)))
final class TunnelTests {
    private var nodes: [TestNode] = []

    deinit { for node in nodes { node.stop() } }

    private func node(_ mode: TLSFastPath.Mode = .off, _ change: (inout LoopSettings) -> Void = { _ in }) throws -> TestNode {
        var settings = LoopSettings.test()
        settings.fastPath = TLSFastPath(mode)
        change(&settings)
        let node = try TestNode(settings)
        nodes.append(node)
        return node
    }

    /// Sends every message back, and reads nothing while its socket is congested.
    private static func echo(_ node: TestNode) {
        final class Backlog { var messages: [[UInt8]] = [] }
        node.onText = { $1.write(text: $0) }
        node.onBinary = { message, connection in
            let backlog = connection.context as? Backlog ?? Backlog()
            connection.context = backlog
            if backlog.messages.isEmpty, !connection.isCongested {
                connection.write(binary: message)
            } else {
                backlog.messages.append(message)
            }
            if connection.isCongested {
                connection.setReading(false)
                connection.askForWritable()
            }
        }
        node.onWritable = { connection in
            guard let backlog = connection.context as? Backlog else { return }
            while !backlog.messages.isEmpty, !connection.isCongested { connection.write(binary: backlog.messages.removeFirst()) }
            if backlog.messages.isEmpty, !connection.isCongested { connection.setReading(true) }
        }
    }

    private static func forwardsAll(_ node: TestNode, to home: Endpoint) {
        node.onHold = { held in
            held.forward(to: home, name: "home")
            return true
        }
    }

    private struct Line {
        let client, edge, home: TestNode
    }

    /// A client, a node that forwards all upgrades, and a home that echoes.
    private func line(_ mode: TLSFastPath.Mode = .off) throws -> Line {
        let line = Line(client: try node(mode), edge: try node(mode), home: try node(mode))
        let home = line.home.endpoint()
        line.home.ask { Self.echo($0) }
        line.edge.ask { Self.forwardsAll($0, to: home) }
        return line
    }

    private func connect(_ line: Line) {
        let endpoint = line.edge.endpoint(.clients)
        line.client.ask { _ = $0.loop.connect(to: endpoint) }
        line.client.wait("it opens") { $0.open.count == 1 }
        line.home.wait("it opens at home") { $0.open.count == 1 }
    }

    @Test(arguments: [TLSFastPath.Mode.off, .auto]) func messagesOfAllSizesPass(mode: TLSFastPath.Mode) throws {
        let line = try line(mode)
        connect(line)
        let sizes = [0, 1, 2, 100, 125, 126, 127, 1_000, 4_095, 4_096, 16_000, 16_383, 16_384]
        final class Received: @unchecked Sendable { var messages: [[UInt8]] = [] }
        let received = Received()
        line.client.ask { $0.onBinary = { message, _ in received.messages.append(message) } }
        for (number, size) in sizes.enumerated() {
            let message = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }
            line.client.ask { _ = $0.open[0].write(binary: message) }
            line.client.wait("message of \(size) bytes") { _ in received.messages.count == number + 1 }
            #expect(line.client.ask { _ in received.messages.last } == message)
        }
        let source = line.home.ask { $0.admitted[0].source }
        #expect(source.entrance == .nodes && source.isTrusted && source.address == "127.0.0.1")
        #expect(line.home.ask { $0.admitted[0].hops } == 1)
        #expect(line.edge.ask { $0.loop.counters.upgradesForwarded == 1 && $0.loop.counters.tunnelBytesIn > 57_000 })
        let streams = line.edge.ask { $0.loop.edges.open.map { $0.stream is RecordStream } }
        #expect(streams == (mode == .auto && TLSFastPath(.auto).isActive ? [true, true] : [false, false]))
    }

    @Test func fragmentsPassAsTheyAre() throws {
        let line = try line()
        let client = PlainSocket.connected(to: line.edge.ports[.proxies]!, Handshake.request())
        #expect(client.readHead().hasPrefix("HTTP/1.1 101 "))
        let frames = Handshake.frame(2, [1, 2], isFinal: false) + Handshake.frame(0, [], isFinal: false) + Handshake.frame(9, [9])
        for byte in frames + Handshake.frame(0, [3]) { client.write([byte]) }
        // The pong leaves at the end of the home's turn, so the order of the two depends on how the bytes arrive.
        let answer = client.read(exactly: 8)
        #expect(answer == [0x8A, 1, 9, 0x82, 3, 1, 2, 3] || answer == [0x82, 3, 1, 2, 3, 0x8A, 1, 9])
    }

    /// Ten megabytes in each direction, while the client does not read at first.
    @Test(arguments: [TLSFastPath.Mode.off, .auto]) func aSlowReaderHoldsUpTheSenderAndNothingIsLost(mode: TLSFastPath.Mode) throws {
        let line = try line(mode)
        connect(line)
        let (count, size) = (1_280, 8_192)
        final class Progress: @unchecked Sendable {
            var sent = 0
            var received = 0
            var isInOrder = true
        }
        let progress = Progress()
        @Sendable func send(_ connection: Connection) {
            while progress.sent < count, !connection.isCongested {
                connection.write(binary: [UInt8](repeating: UInt8(truncatingIfNeeded: progress.sent), count: size))
                progress.sent += 1
            }
            if progress.sent < count { connection.askForWritable() }
        }
        line.client.ask { node in
            node.onWritable = send
            node.onBinary = { message, _ in
                if message != [UInt8](repeating: UInt8(truncatingIfNeeded: progress.received), count: size) { progress.isInOrder = false }
                progress.received += 1
            }
            node.open[0].setReading(false)
            send(node.open[0])
        }
        // Until every socket on the way is full.
        var before = UInt64.max
        while case let now = line.edge.ask({ $0.loop.counters.tunnelBytesIn + $0.loop.counters.tunnelBytesOut }), now != before {
            before = now
            usleep(200_000)
        }
        #expect(line.client.ask { _ in progress.received } == 0)
        let held = line.edge.ask { $0.loop.edges.open.map { $0.stream.unsent.count } }
        #expect(held.allSatisfy { $0 <= 2 * StreamBuffers.receivedMax }, "\(held)")
        line.client.ask { $0.open[0].setReading(true) }
        line.client.wait("all arrives") { _ in progress.received == count }
        #expect(line.client.ask { _ in progress.isInOrder })
        let bytes = line.edge.ask { ($0.loop.counters.tunnelBytesIn, $0.loop.counters.tunnelBytesOut) }
        #expect(bytes.0 > count * size && bytes.1 > count * size)
    }

    // MARK: The end

    @Test(arguments: [TLSFastPath.Mode.off, .auto]) func aCloseOfTheHomeArrivesWithItsCode(mode: TLSFastPath.Mode) throws {
        let line = try line(mode)
        connect(line)
        line.home.ask { $0.open[0].close(.roomClosed) }
        line.client.wait { $0.ends.first?.peerCode == CloseReason.roomClosed.code }
        line.edge.wait("both connections end") { $0.loop.tunnelCount == 0 && $0.loop.edges.open.isEmpty }
        line.home.wait { $0.loop.edges.open.isEmpty }
    }

    @Test func aCloseOfTheClientArrivesWithItsCode() throws {
        let line = try line()
        connect(line)
        line.client.ask { $0.open[0].close(.left) }
        line.home.wait { $0.ends.first?.peerCode == CloseReason.left.code }
        line.client.wait { $0.ends.first?.end == .closed(.left) && $0.ends[0].peerCode == CloseReason.left.code }
        line.edge.wait { $0.loop.tunnelCount == 0 && $0.loop.edges.open.isEmpty }
    }

    @Test func theReasonOfACloseIsPassedOn() throws {
        let line = try line()
        let client = PlainSocket.connected(to: line.edge.ports[.proxies]!, Handshake.request())
        _ = client.readHead()
        line.home.wait { $0.open.count == 1 }
        line.home.ask { $0.open[0].close(.removed) }
        let phrase = Array(CloseReason.removed.phrase.utf8)
        #expect(client.read(exactly: 4 + phrase.count) == [0x88, UInt8(2 + phrase.count), 16, 7] + phrase)
    }

    @Test func aBrokenHomeBreaksTheClient() throws {
        let line = try line()
        connect(line)
        line.home.ask { $0.open[0].abort() }
        line.client.wait { $0.ends.first.map { $0.end == .lost && $0.peerCode == nil } == true }
        line.edge.wait { $0.loop.tunnelCount == 0 && $0.loop.edges.open.isEmpty }
    }

    @Test(arguments: ["FIN", "RST"], [true, false]) func aSideThatDiesEndsTheOther(how: String, isHome: Bool) throws {
        let edge = try node()
        let (home, port) = PlainSocket.listening()
        edge.ask { Self.forwardsAll($0, to: Endpoint(host: "127.0.0.1", port: port, usesTLS: false)) }
        let client = PlainSocket.connected(to: edge.ports[.proxies]!, Handshake.request())
        let server = home.accept()
        _ = server.readHead()
        server.write(Handshake.response)
        _ = client.readHead()
        let (dying, other) = isHome ? (server, client) : (client, server)
        dying.write("last")
        #expect(other.read(exactly: 4).elementsEqual("last".utf8))
        if how == "FIN" { dying.close() } else { dying.reset() }
        #expect(other.readAll().isEmpty)
        other.close()
        edge.wait { $0.loop.tunnelCount == 0 && $0.loop.edges.open.isEmpty }
    }

    @Test func aHalfCloseIsPassedOnAfterAllBytes() throws {
        let edge = try node()
        let (home, port) = PlainSocket.listening()
        edge.ask { Self.forwardsAll($0, to: Endpoint(host: "127.0.0.1", port: port, usesTLS: false)) }
        let client = PlainSocket.connected(to: edge.ports[.proxies]!, Handshake.request())
        let server = home.accept()
        _ = server.readHead()
        server.write(Handshake.response)
        _ = client.readHead()
        client.write("question")
        client.endWriting()
        #expect(server.readAll() == "question")
        server.write("answer")
        server.close()
        #expect(client.readAll() == "answer")
        edge.wait { $0.loop.tunnelCount == 0 && $0.loop.edges.open.isEmpty }
    }

    /// The receiver is congested when the sender ends or breaks off.
    @Test(arguments: ["FIN", "RST"]) func aSideThatDiesWhileTheOtherIsFullEndsIt(how: String) throws {
        let edge = try node()
        let (home, port) = PlainSocket.listening()
        edge.ask { Self.forwardsAll($0, to: Endpoint(host: "127.0.0.1", port: port, usesTLS: false)) }
        let client = PlainSocket.connected(to: edge.ports[.proxies]!, Handshake.request())
        let server = home.accept()
        _ = server.readHead()
        server.write(Handshake.response)
        _ = client.readHead()
        let piece = [UInt8](repeating: 5, count: 65_536)
        var sent = 0
        repeat { sent += server.writeSome(piece) } while !edge.ask { $0.loop.edges.open.contains { $0.isCongested } }
        // Also what the node does not read any more.
        while case let count = server.writeSome(piece), count > 0 { sent += count }
        if how == "RST" {
            server.reset()
            edge.wait { $0.loop.tunnelCount == 0 && $0.loop.edges.open.isEmpty }
            return
        }
        server.close()
        #expect(client.readAll().utf8.count == sent)
    }

    @Test func tunnelsToOneNodeEndTogether() throws {
        let line = try line()
        connect(line)
        line.edge.ask { $0.loop.endTunnels(to: "other") }
        #expect(line.edge.ask { $0.loop.tunnelCount } == 1)
        line.edge.ask { $0.loop.endTunnels(to: "home") }
        line.client.wait { $0.ends.first.map { $0.end == .lost && $0.peerCode == nil } == true }
        line.home.wait { $0.ends.count == 1 }
        #expect(line.edge.ask { $0.loop.tunnelCount } == 0)
    }

    @Test func aLoopThatStopsBreaksItsTunnels() throws {
        let line = try line()
        connect(line)
        line.edge.ask { $0.loop.stop() }
        line.client.wait { $0.ends.first?.end == .lost }
        line.home.wait { $0.ends.first?.end == .lost }
    }

    @Test func bothConnectionsCountInTheQuotasOfTheNodesThatAcceptedThem() throws {
        let quotas = [ConnectionQuota(limit: 10), ConnectionQuota(limit: 10)]
        func free(_ quota: ConnectionQuota) -> Int {
            let count = (0..<20).count { _ in quota.take() }
            for _ in 0..<count { quota.giveBack() }
            return count
        }
        let line = Line(client: try node(), edge: try node { $0.quota = quotas[0] }, home: try node { $0.quota = quotas[1] })
        let home = line.home.endpoint()
        line.edge.ask { Self.forwardsAll($0, to: home) }
        connect(line)
        #expect(quotas.map(free) == [9, 9])
        line.client.ask { $0.open[0].abort() }
        line.edge.wait { $0.loop.edges.open.isEmpty }
        line.home.wait { $0.loop.edges.open.isEmpty }
        #expect(quotas.map(free) == [10, 10])
    }

    // MARK: TLS

    @Test func aHomeWithTheCertificateOfAnotherIsNotSentTheRequest() throws {
        let other = TestCertificate([127, 0, 0, 2])
        let home = try node { $0.server = other.files }
        let edge = try node { $0.client = .authority(path: other.files.certificatePath) }
        let endpoint = home.endpoint()
        edge.ask { Self.forwardsAll($0, to: endpoint) }
        let client = PlainSocket.connected(to: edge.ports[.proxies]!, Handshake.request())
        #expect(client.readAll().hasPrefix("HTTP/1.1 503 "))
        #expect(edge.ask { $0.failures } == [.tls("IP address mismatch")])
        #expect(home.ask { $0.admitted.isEmpty })
    }

    @Test func anEndpointMayHaveAnAddressAndTheNameOfItsCertificate() throws {
        let other = TestCertificate([127, 0, 0, 2])
        let home = try node { $0.server = other.files }
        let edge = try node { $0.client = .authority(path: other.files.certificatePath) }
        let endpoint = Endpoint(host: "127.0.0.2", address: "127.0.0.1", port: home.ports[.nodes]!)
        edge.ask { Self.forwardsAll($0, to: endpoint) }
        #expect(PlainSocket.connected(to: edge.ports[.proxies]!, Handshake.request()).readHead().hasPrefix("HTTP/1.1 101 "))
    }

    @Test func withoutAuthoritiesToTrustNothingIsForwardedByTLS() throws {
        let home = try node()
        let edge = try node { $0.client = nil }
        let endpoint = home.endpoint()
        edge.ask { Self.forwardsAll($0, to: endpoint) }
        let client = PlainSocket.connected(to: edge.ports[.proxies]!, Handshake.request())
        #expect(client.readAll().hasPrefix("HTTP/1.1 503 "))
        #expect(home.ask { $0.admitted.isEmpty })
    }
}

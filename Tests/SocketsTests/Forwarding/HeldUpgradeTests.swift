import Foundation
import HTTPTypes
import Testing
import Wire

@testable import Sockets

/// An upgrade waits for its delegate, which serves, refuses or forwards it.
@Suite(.serialized, .timeLimit(.minutes(2)))
final class HeldUpgradeTests {
    private let node: TestNode
    private let (home, homePort) = PlainSocket.listening()

    init() throws {
        var settings = LoopSettings.test()
        settings.holdSecondsMax = 30
        node = try TestNode(settings)
        node.ask { $0.onHold = { _ in true } }
    }

    deinit { node.stop() }

    private func client(_ request: String = Handshake.request()) -> PlainSocket {
        let socket = PlainSocket.connected(to: node.ports[.proxies]!, request)
        node.wait("the upgrade is held") { !$0.held.isEmpty }
        return socket
    }

    private func forward(to port: Int? = nil) {
        let endpoint = Endpoint(host: "127.0.0.1", port: port ?? homePort, usesTLS: false)
        node.ask { $0.held.last!.forward(to: endpoint, name: "home") }
    }

    // MARK: Serving and refusing here

    @Test func aServedUpgradeIsAdmittedAsIfItHadNotWaited() {
        let client = client()
        #expect(node.ask { $0.admitted.isEmpty })
        node.ask { $0.held[0].serve() }
        #expect(client.readHead().hasPrefix("HTTP/1.1 101 "))
        node.wait { $0.open.count == 1 }
        client.write(Handshake.frame(8, [3, 232]))
        node.wait { $0.ends.first?.peerCode == 1_000 }
    }

    @Test func anUpgradeMayBeServedWithinTheCall() {
        node.ask {
            $0.onHold = { held in
                held.serve()
                return true
            }
        }
        #expect(client().readHead().hasPrefix("HTTP/1.1 101 "))
    }

    @Test(arguments: [true, false]) func aRefusalEndsTheConnection(isWithinTheCall: Bool) {
        let refusal = HTTPServerResponse.error(.forbidden, "some_code", "no")
        node.ask { node in
            node.onHold = { held in
                if isWithinTheCall { held.refuse(refusal) }
                return true
            }
        }
        let client = client()
        if !isWithinTheCall { node.ask { $0.held[0].refuse(refusal) } }
        let response = client.readAll()
        #expect(response.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
        #expect(response.contains("X-Patchbay-Error: some_code\r\n") && response.hasSuffix(#""message":"no"}"#))
        client.close()
        node.wait { $0.loop.edges.open.isEmpty && $0.abandoned == 0 }
    }

    @Test func onlyTheFirstDecisionCounts() {
        let client = client()
        node.ask { node in
            node.held[0].refuse(HTTPServerResponse(status: .forbidden))
            node.held[0].serve()
            node.held[0].refuse(HTTPServerResponse(status: .notFound))
            node.held[0].forward(to: Endpoint(host: "127.0.0.1", port: 1, usesTLS: false), name: "a")
        }
        #expect(client.readAll().hasPrefix("HTTP/1.1 403 "))
        #expect(node.ask { $0.admitted.isEmpty && $0.failures.isEmpty })
    }

    @Test func aDelegateThatNeverDecidesCostsTheClientItsUpgradeOnly() throws {
        var settings = LoopSettings.test()
        settings.holdSecondsMax = 1
        let node = try TestNode(settings)
        defer { node.stop() }
        node.ask { $0.onHold = { _ in true } }
        let client = PlainSocket.connected(to: node.ports[.proxies]!, Handshake.request())
        let response = client.readAll()
        #expect(response.hasPrefix("HTTP/1.1 503 ") && response.contains("home_unavailable"))
        node.wait { $0.abandoned == 1 && $0.held[0].isAbandoned }
    }

    @Test(arguments: ["FIN", "RST", "half"]) func aClientThatLeavesWhileItWaitsIsNoticed(how: String) {
        let client = client()
        switch how {
        case "FIN": client.close()
        case "RST": client.reset()
        default: client.endWriting()
        }
        node.wait { $0.abandoned == 1 && $0.held[0].isAbandoned && $0.loop.edges.open.isEmpty }
        node.ask { $0.held[0].serve() }
        #expect(node.ask { $0.admitted.isEmpty })
    }

    @Test func otherRequestsAreNotHeld() {
        let client = PlainSocket.connected(to: node.ports[.proxies]!, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let head = client.readHead()
        #expect(head.hasPrefix("HTTP/1.1 200 "))
        #expect(client.read(exactly: 5).elementsEqual("plain".utf8))
        // The next one of the same connection is.
        client.write(Handshake.request())
        node.wait { $0.held.count == 1 }
        node.ask { $0.held[0].serve() }
        #expect(client.readHead().hasPrefix("HTTP/1.1 101 "))
    }

    @Test func anUntrustedPeerIsNeverHeld() {
        let client = PlainSocket.connected(to: node.ports[.proxies]!, from: "127.255.0.1", Handshake.request())
        #expect(client.readHead().hasPrefix("HTTP/1.1 101 "))
        #expect(node.ask { $0.held.isEmpty && !$0.admitted[0].source.isTrusted })
    }

    // MARK: Forwarding

    @Test func theHomeGetsTheRequestAndTheClientTheResponse() {
        let client = client(Handshake.request("/v1/rtc?a=b", ["X-Forwarded-For: 198.51.100.9"]))
        forward()
        let server = home.accept()
        let head = server.readHead()
        #expect(head.hasPrefix("GET /v1/rtc?a=b HTTP/1.1\r\nHost: room.example\r\n"))
        #expect(head.contains("\r\nX-Forwarded-For: 198.51.100.9\r\nPatchbay-Hops: 1\r\n"))
        // The first frame comes with the response.
        server.write(Array(Handshake.response.utf8) + [0x82, 1, 7])
        let response = client.readHead()
        #expect(response.hasPrefix("HTTP/1.1 101 ") && response.contains("Sec-WebSocket-Accept: \(Handshake.acceptance)\r\n"))
        #expect(client.read(exactly: 3) == [0x82, 1, 7])
        client.write([1, 2, 3])
        #expect(server.read(exactly: 3) == [1, 2, 3])
        #expect(node.ask { $0.loop.tunnelCount == 1 && $0.held[0].isSettled })
    }

    @Test(arguments: [true, false]) func anotherResponseIsPassedOn(hasLength: Bool) {
        let client = client()
        forward()
        let server = home.accept()
        _ = server.readHead()
        let length = hasLength ? "Content-Length: 4\r\n" : ""
        server.write("HTTP/1.1 403 Forbidden\r\nX-Patchbay-Error: bad\r\nKeep-Alive: 5\r\n\(length)\r\nbo")
        server.write("dy")
        if !hasLength { server.close() }
        let response = client.readAll()
        #expect(response == "HTTP/1.1 403 Forbidden\r\nx-patchbay-error: bad\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody")
        #expect(node.ask { $0.abandoned == 0 && $0.failures.isEmpty && $0.loop.tunnelCount == 0 && $0.held[0].isSettled })
    }

    @Test(arguments: [
        "HTTP/1.1 503 Service Unavailable\r\nX-Patchbay-Error: draining\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 409 Conflict\r\nPatchbay-Elsewhere: other\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\nA: b\r\n\r\n", "nonsense\r\n\r\n",
    ])
    func aResponseThatIsNotForTheClientLetsTheDelegateGoOn(response: String) {
        let (other, otherPort) = PlainSocket.listening()
        node.ask { node in
            node.onFailed = { held, _ in held.forward(to: Endpoint(host: "127.0.0.1", port: otherPort, usesTLS: false), name: "other") }
        }
        let client = client()
        forward()
        let first = home.accept()
        _ = first.readHead()
        first.write(response)
        let second = other.accept()
        _ = second.readHead()
        second.write(Handshake.response)
        #expect(client.readHead().hasPrefix("HTTP/1.1 101 "))
        let expected: ForwardFailure =
            switch true {
            case response.contains("503"): .unavailable(code: "draining")
            case response.contains("Elsewhere"): .elsewhere("other")
            default: .badResponse
            }
        #expect(node.ask { $0.failures } == [expected])
        #expect(node.ask { $0.loop.counters.forwardsFailed } == 1)
    }

    @Test func afterARefusedConnectionTheDelegateMayServeItself() {
        node.ask { $0.onFailed = { held, _ in held.serve() } }
        let client = client()
        forward(to: PlainSocket.unusedPort)
        #expect(client.readHead().hasPrefix("HTTP/1.1 101 "))
        #expect(node.ask { $0.failures.count == 1 && $0.admitted.count == 1 })
    }

    @Test func aDelegateThatAlwaysTriesAgainIsStopped() {
        let endpoint = Endpoint(host: "not-an-address", port: 1, usesTLS: false)
        node.ask { $0.onFailed = { held, _ in held.forward(to: endpoint, name: "a") } }
        let client = client()
        node.ask { $0.held[0].forward(to: endpoint, name: "a") }
        #expect(client.readAll().hasPrefix("HTTP/1.1 503 "))
        #expect(node.ask { $0.failures.count } == 8)
    }

    @Test func anHomeThatNeverAnswersIsGivenUp() throws {
        var settings = LoopSettings.test()
        settings.forwardSecondsMax = 1
        let node = try TestNode(settings)
        defer { node.stop() }
        let endpoint = Endpoint(host: "127.0.0.1", port: homePort, usesTLS: false)
        node.ask {
            $0.onHold = { held in
                held.forward(to: endpoint, name: "home")
                return true
            }
        }
        let client = PlainSocket.connected(to: node.ports[.proxies]!, Handshake.request())
        #expect(client.readAll().hasPrefix("HTTP/1.1 503 "))
        #expect(node.ask { $0.failures } == [.timedOut])
    }

    @Test func aForwardedRequestIsNotForwardedAgain() {
        let client = client(Handshake.request("/", ["Patchbay-Hops: 1"]))
        forward()
        #expect(client.readAll().hasPrefix("HTTP/1.1 503 "))
        #expect(node.ask { $0.failures } == [.alreadyForwarded])
    }

    @Test func aClientThatLeavesWhileItIsForwardedIsNoticed() {
        let client = client()
        forward()
        let server = home.accept()
        _ = server.readHead()
        client.close()
        node.wait { $0.abandoned == 1 && $0.loop.edges.open.isEmpty }
        #expect(server.readAll().isEmpty)
        #expect(node.ask { $0.failures.isEmpty })
    }

    @Test func aForwardUnderWayMayBeReplaced() {
        let client = client()
        forward()
        let first = home.accept()
        _ = first.readHead()
        forward()
        let second = home.accept()
        _ = second.readHead()
        #expect(first.readAll().isEmpty)
        first.write(Handshake.response)
        second.write(Handshake.response)
        #expect(client.readHead().hasPrefix("HTTP/1.1 101 "))
        #expect(node.ask { $0.failures.isEmpty && $0.loop.tunnelCount == 1 })
    }

    @Test func aForwardEndsWithItsNode() {
        let client = client()
        forward()
        let server = home.accept()
        _ = server.readHead()
        node.ask { $0.loop.endTunnels(to: "other") }
        #expect(node.ask { $0.failures.isEmpty })
        node.ask { $0.loop.endTunnels(to: "home") }
        #expect(client.readAll().hasPrefix("HTTP/1.1 503 "))
        #expect(node.ask { $0.failures } == [.ended])
    }

    @Test func bytesBehindTheRequestEndTheConnection() {
        let client = client(Handshake.request() + "early")
        forward()
        let server = home.accept()
        _ = server.readHead()
        server.write(Handshake.response)
        #expect(client.readAll().isEmpty)
        #expect(server.readAll().isEmpty)
        node.wait { $0.loop.edges.open.isEmpty }
    }

    @Test func aLoopThatStopsEndsWhatIsHeldAndForwarded() {
        let waiting = client()
        let client = PlainSocket.connected(to: node.ports[.proxies]!, Handshake.request())
        node.wait { $0.held.count == 2 }
        forward()
        let server = home.accept()
        _ = server.readHead()
        node.ask { node in
            node.onFailed = { held, _ in held.forward(to: Endpoint(host: "127.0.0.1", port: 1, usesTLS: false), name: "a") }
            node.loop.stop()
        }
        #expect(waiting.readAll().isEmpty && client.readAll().isEmpty && server.readAll().isEmpty)
    }
}

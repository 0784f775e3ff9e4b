import Backend
import Foundation
import Gateway
import Glibc
import Testing
import Wire

@Suite("A peer that does not finish its handshake or request", .onOwnThread, .timeLimit(.minutes(1)))
struct AbandonedHandshakeTests {
    private let gateway: TestGateway
    private let call: BystanderCall

    init() throws {
        gateway = try TestGateway { $0.handshakeSecondsMax = 3 }
        call = try BystanderCall(on: gateway)
    }

    private func expectSoundCall() {
        let report = call.finish()
        #expect(report.isSound, "bystanders: \(report)")
    }

    @Test("is cut off if it connects and sends nothing")
    func silentOnTCP() throws {
        try expectCutOff(RawSocket(port: gateway.port))
        expectSoundCall()
    }

    @Test("is cut off if it stops during the TLS handshake")
    func silentInTLS() throws {
        let socket = try RawSocket(port: gateway.port)
        try socket.write(Array(RawSocket.clientHello.prefix(100)))
        try expectCutOff(socket)
        expectSoundCall()
    }

    @Test("is cut off if it sends no request after the TLS handshake")
    func silentAfterTLS() throws {
        try expectCutOff(.secure(port: gateway.port))
        expectSoundCall()
    }

    @Test("is cut off if its request never ends")
    func endlessRequest() throws {
        let socket = try RawSocket.secure(port: gateway.port)
        try socket.write(Array("GET /v1/rtc HTTP/1.1\r\n".utf8))
        let started = ContinuousClock.now
        while ContinuousClock.now - started < .seconds(15) {
            do {
                try socket.write(Array("X-Field: more\r\n".utf8))
                if try socket.read(within: .milliseconds(200)).isEmpty { break }
            } catch is DidNotHappen {
                continue
            } catch is SocketFault {
                break
            }
        }
        #expect(ContinuousClock.now - started < .seconds(12))
        expectSoundCall()
    }

    @Test("is refused with 408 if its request's body never arrives")
    func missingBody() throws {
        let socket = try RawSocket.secure(port: gateway.port)
        try socket.write(HTTPAsk(method: "PATCH", path: "/v1/rooms/r", fields: [("Content-Length", "100")], body: [UInt8]("{".utf8)).bytes)
        var inbox: [UInt8] = []
        #expect(try HTTPAnswer.read(from: socket, inbox: &inbox, within: .seconds(45))?.code == "body_too_slow")
        #expect(try socket.read() == [])
        expectSoundCall()
    }

    @Test("is cut off if its request head is too large", arguments: [20_000, 1_000_000])
    func hugeHead(_ count: Int) throws {
        let before = try gateway.value(Counter(name: "patchbay_handshakes_abandoned_total"))
        let socket = try RawSocket.secure(port: gateway.port)
        try? socket.write(HTTPAsk.upgrade(token: String(repeating: "x", count: count)).bytes)
        #expect(try socket.read() == [])
        try Patience.until("it is counted") { try gateway.value(Counter(name: "patchbay_handshakes_abandoned_total")) >= before + 1 }
        expectSoundCall()
    }

    @Test("without TLS gets a plain-text response", arguments: [HTTPAsk(path: "/healthz"), .upgrade(token: "x")])
    func withoutTLS(_ ask: HTTPAsk) throws {
        let socket = try RawSocket(port: gateway.port)
        try socket.write(ask.bytes)
        var inbox: [UInt8] = []
        let answer = try #require(try HTTPAnswer.read(from: socket, inbox: &inbox))
        #expect(answer.status == 400)
        #expect(answer.code == "tls_required")
        expectSoundCall()
    }

    @Test(
        "is cut off when it sends rubbish instead of TLS or HTTP",
        arguments: [[UInt8](repeating: 0, count: 100), [UInt8](0...255), Array("SSH-2.0-eve\r\n".utf8)])
    func rubbish(_ bytes: [UInt8]) throws {
        let socket = try RawSocket(port: gateway.port)
        try socket.write(bytes)
        while try !socket.read(within: .seconds(8)).isEmpty {}
        expectSoundCall()
    }

    @Test(
        "is cut off when it sends rubbish inside TLS", arguments: ["\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "BREW /pot HTTP/1.1\r\n\r\n"])
    func rubbishInsideTLS(_ text: String) throws {
        let socket = try RawSocket.secure(port: gateway.port)
        try socket.write(Array(text.utf8))
        while try !socket.read(within: .seconds(8)).isEmpty {}
        expectSoundCall()
    }

    @Test("may abandon a thousand TLS handshakes without affecting a call")
    func thousandHalfHandshakes() throws {
        try #require(Self.raisedDescriptorLimit >= 4_096)
        let abandoned = Counter(name: "patchbay_handshakes_abandoned_total")
        let before = try gateway.value(abandoned)
        let hello = RawSocket.clientHello
        let source = Loopback.fresh()
        let sockets = try (0..<1_000).map { number in
            let socket = try RawSocket(port: gateway.port, from: source)
            // Some send nothing, some part of a ClientHello, some all of it without continuing.
            try socket.write(Array(hello.prefix(number % 3 == 0 ? 0 : number % 3 == 1 ? 50 : hello.count)))
            // Spread over two seconds, and over more on a busy machine: after every fifty, the gateway must answer a request.
            Thread.sleep(forTimeInterval: 0.002)
            if number % 50 == 49 { _ = try gateway.metrics() }
            return socket
        }
        // New clients are admitted meanwhile.
        _ = try Caller(gateway, room: "r", identity: "late")
        try Patience.until("they are cut off", within: .seconds(30)) { try gateway.value(abandoned) >= before + 1_000 }
        withExtendedLifetime(sockets) {}
        expectSoundCall()
    }

    @Test("does not occupy connections for good")
    func slotsAreFreed() throws {
        let gateway = try TestGateway {
            $0.handshakeSecondsMax = 3
            $0.connectionsMax = 20
        }
        var silent = try (0..<20).map { _ in try RawSocket(port: gateway.port) }
        // The probe may be admitted before one of the twenty and occupy its slot, so it stays connected.
        try Patience.until("there is no place left") {
            guard let asked = try? RawSocket.secure(port: gateway.port) else { return true }
            silent.append(asked)
            return false
        }
        try Patience.until("there is room again") { (try? gateway.metrics()) != nil }
        #expect(try gateway.value(Counter(name: "patchbay_connections_turned_away_total")) >= 1)
        withExtendedLifetime(silent) {}
        expectSoundCall()
    }

    /// Raises the limit of open files to the maximum.
    private static let raisedDescriptorLimit: UInt = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 8_192))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit.rlim_cur
    }()

    /// Expects the gateway to close the connection in time without an HTTP response.
    private func expectCutOff(_ socket: RawSocket, within span: Duration = .seconds(15)) throws {
        let bytes = try socket.read(within: span)
        // OpenSSL may send an alert first.
        if bytes.first == 0x15 { #expect(try socket.read(within: span) == []) } else { #expect(bytes == []) }
    }
}

import Gateway
import Testing

@Suite("HTTP/2", .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct HTTP2Tests {
    private let gateway: TestGateway

    init() throws {
        gateway = try TestGateway { $0.handshakeSecondsMax = 2 }
    }

    @Test("is not negotiated when offered", arguments: [["h2", "http/1.1"], ["h2"]])
    func negotiation(protocols: [String]) throws {
        let socket = try RawSocket(port: gateway.port)
        // If it is the only offer, a server may also end the handshake (RFC 7301 section 3.2).
        do { try socket.startTLS(protocols: protocols) } catch is SocketFault { return #expect(protocols == ["h2"]) }
        #expect(socket.applicationProtocol != "h2")
    }

    @Test("without negotiation closes the connection and affects nobody else")
    func preface() throws {
        let bystanders = try BystanderCall(on: gateway)
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        for _ in 0..<20 {
            let connection = try HTTPConnection(gateway)
            try connection.socket.write(preface + settings)
            while let answer = try connection.next() { #expect(400...599 ~= answer.status, "\(answer.status)") }
        }
        #expect(try gateway.get("/healthz")?.status == 200)
        let report = bystanders.finish()
        #expect(report.isSound, "\(report)")
    }
}

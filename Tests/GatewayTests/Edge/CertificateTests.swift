import Foundation
import Gateway
import Sockets
import Testing
import Wire

@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct CertificateTests {
    @Test func reloadedCertificateAppliesToNewConnections() throws {
        let shown = Certificate.make(serial: 11)
        let gateway = try TestGateway { $0.tls = shown.files }
        let call = try BystanderCall(on: gateway)
        #expect(try serial(at: gateway) == 11)
        let other = Certificate.make(serial: 12)
        try other.replace(shown)
        try gateway.gateway.reload(certificate: shown.files)
        try Patience.until("the new certificate is shown") { try serial(at: gateway) == 12 }
        let report = call.finish()
        #expect(report.isSound, "\(report)")
    }

    @Test(arguments: ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func brokenCertificateKeepsThePreviousOne(text: String) throws {
        let shown = Certificate.make(serial: 21)
        let gateway = try TestGateway { $0.tls = shown.files }
        // All shards have read the certificate.
        _ = try gateway.metrics()
        #expect(try serial(at: gateway) == 21)
        try Data(text.utf8).write(to: shown.certificateURL)
        #expect(throws: TLSFileError.self) { try gateway.gateway.reload(certificate: shown.files) }
        // A request sent after the reload is answered after it.
        _ = try gateway.metrics()
        #expect(try serial(at: gateway) == 21)
        let other = Certificate.make(serial: 22)
        try other.replace(shown)
        try gateway.gateway.reload(certificate: shown.files)
        try Patience.until("a good one is shown after it") { try serial(at: gateway) == 22 }
    }

    @Test func certificateWithTheWrongKeyKeepsThePreviousOne() throws {
        let shown = Certificate.make(serial: 31)
        let gateway = try TestGateway { $0.tls = shown.files }
        _ = try gateway.metrics()
        let other = Certificate.make(serial: 32)
        try Data(contentsOf: other.certificateURL).write(to: shown.certificateURL)
        #expect(throws: TLSFileError.self) { try gateway.gateway.reload(certificate: shown.files) }
        _ = try gateway.metrics()
        #expect(try serial(at: gateway) == 31)
        _ = try Caller(gateway, room: "r", identity: "ann")
    }

    @Test func missingCertificateFailsAtStartup() {
        let error = #expect(throws: TLSFileError.self) {
            try TestGateway { $0.tls = TLSFiles(certificatePath: "nowhere/certificate.pem", privateKeyPath: "nowhere/key.pem") }
        }
        #expect(error?.path == "nowhere/certificate.pem")
    }

    @Test func onlyHTTP11AndRecentTLSAreSupported() throws {
        let gateway = try TestGateway()
        let socket = try RawSocket.secure(port: gateway.port)
        #expect(["TLSv1.2", "TLSv1.3"].contains(socket.protocolVersion))
        #expect(throws: SocketFault.self) { try RawSocket(port: gateway.port).startTLS(offering: .upTo11) }
    }

    private func serial(at gateway: TestGateway) throws -> Int? { try RawSocket.secure(port: gateway.port).certificateSerial }
}

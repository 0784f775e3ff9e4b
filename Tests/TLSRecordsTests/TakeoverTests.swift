import COpenSSL
import Testing

@testable import TLSRecords

/// Which connections may be taken over from OpenSSL: those on which it has nothing under way and works as expected.
struct TakeoverTests {
    private let (server, client): (OpaquePointer, OpaquePointer)

    init() throws { (server, client) = try #require(RecordTrial.connect(.aes128GCM)) }

    private var isTakenOver: Bool { RecordCiphers(of: server) != nil }

    private func free() {
        SSL_free(server)
        SSL_free(client)
    }

    private func send(_ bytes: [UInt8]) { SSL_write(client, bytes, Int32(bytes.count)) }

    private func receive(_ count: Int) -> Int {
        var bytes = [UInt8](repeating: 0, count: count)
        return Int(SSL_read(server, &bytes, Int32(count)))
    }

    @Test func anIdleConnectionIsTakenOver() {
        defer { free() }
        #expect(isTakenOver)
    }

    @Test func aConnectionThatReadsAheadIsNot() {
        defer { free() }
        SSL_set_read_ahead(server, 1)
        #expect(!isTakenOver)
    }

    @Test(arguments: [SSL_MODE_ENABLE_PARTIAL_WRITE, SSL_MODE_SEND_FALLBACK_SCSV, SSL_MODE_ASYNC])
    func aConnectionWithAnUnknownModeIsNot(mode: UInt32) {
        defer { free() }
        SSL_ctrl(server, SSL_CTRL_MODE, Int(mode), nil)
        #expect(!isTakenOver)
    }

    @Test func aConnectionIsNotUntilAllThatOpenSSLHasReadIsTaken() {
        defer { free() }
        send([1, 2])
        #expect(receive(1) == 1)
        #expect(!isTakenOver)
        #expect(receive(1) == 1)
        #expect(isTakenOver)
    }

    @Test func aConnectionWithANewKeyIsNot() {
        defer { free() }
        SSL_key_update(client, SSL_KEY_UPDATE_NOT_REQUESTED)
        send([1])
        #expect(receive(1) == 1)
        #expect(!isTakenOver)
    }
}

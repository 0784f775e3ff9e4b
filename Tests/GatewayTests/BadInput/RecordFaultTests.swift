import Sockets
import Testing
import Wire

@testable import TLSRecords

/// Records that break RFC 8446 after the upgrade, and the alert that ends the connection.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)), .enabled(if: TestGateway.fastPath.isActive))
struct RecordFaultTests {
    let gateway: TestGateway

    init() throws {
        gateway = try TestGateway()
    }

    private func connect() throws -> (Caller, CraftedRecords) {
        let caller = try Caller(gateway, room: "r", identity: "mallory")
        try caller.settle()
        return (caller, try caller.socket.socket.takeOverRecords())
    }

    private static let ping = RawFrame.text(BadWebSocket.ping).bytes

    @Test(
        arguments: [
            // Content type and content, alert.
            ([22, 24, 0, 0, 2, 0, 0], TLSAlert.decodeError), ([22, 24, 0, 0, 1, 2], .illegalParameter),
            ([22, 24, 0, 0, 1, 0, 24, 0, 0, 1, 0], .unexpectedMessage), ([22, 4, 0, 0, 1, 0], .unexpectedMessage),
            ([22, 1, 0, 0, 1, 0], .unexpectedMessage), ([21], .unexpectedMessage), ([21, 1], .decodeError), ([20, 1], .unexpectedMessage),
            ([0, 0, 0], .unexpectedMessage),
        ] as [([UInt8], TLSAlert)])
    func faultsAreAnsweredWithTheAlertOfTheRFC(record: [UInt8], alert: TLSAlert) throws {
        let (_, records) = try connect()
        try records.send(records.record(record[0], Array(record.dropFirst())))
        #expect(try records.alert() == alert.rawValue)
    }

    @Test func aRecordWithTooMuchPlaintextIsAnOverflow() throws {
        let (_, records) = try connect()
        try records.send(records.record(23, [UInt8](repeating: 0, count: RecordCipher.contentMax + 1)))
        #expect(try records.alert() == TLSAlert.recordOverflow.rawValue)
    }

    @Test func consecutiveKeyUpdatesAreCapped() throws {
        let (_, records) = try connect()
        try records.send((0...IdleRecords.keyUpdatesMax).flatMap { _ in records.keyUpdate() })
        #expect(try records.alert() == TLSAlert.unexpectedMessage.rawValue)
    }

    @Test func consecutiveEmptyRecordsAreCapped() throws {
        let (_, records) = try connect()
        try records.send((0...IdleRecords.emptyRecordsMax).flatMap { _ in records.record(23, []) })
        #expect(try records.alert() == TLSAlert.unexpectedMessage.rawValue)
    }

    @Test func consecutiveWarningAlertsAreCapped() throws {
        let (_, records) = try connect()
        try records.send((0...IdleRecords.warningAlertsMax).flatMap { _ in records.record(21, [1, 90]) })
        #expect(try records.alert() == TLSAlert.unexpectedMessage.rawValue)
    }

    @Test func applicationDataResetsTheCaps() throws {
        let (_, records) = try connect()
        for _ in 0..<3 {
            try records.send((0..<IdleRecords.emptyRecordsMax).flatMap { _ in records.record(23, []) } + records.record(23, Self.ping))
        }
        // Still open: only the unknown record type closes it.
        try records.send(records.record(20, [1]))
        #expect(try records.alert() == TLSAlert.unexpectedMessage.rawValue)
        #expect(try gateway.value(.controlReceived) >= 4)
    }
}

/// Closing after violations of either protocol, and what the handshake allows.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ClosingAfterViolationTests {
    let gateway: TestGateway

    init() throws {
        gateway = try TestGateway()
    }

    private func join(_ versions: RawSocket.Versions = .recent, updatingKey: Bool = false) throws -> Caller {
        let ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: "mallory"), path: "/v1/rtc")
        let socket = try RawSocket.secure(port: gateway.port, offering: versions)
        if updatingKey { try socket.updateKey(ofBoth: true) }
        return try Caller(on: try RawWebSocket(on: socket, asking: ask), goingOnAfter: 0)
    }

    private static let unmasked: [[UInt8]] = [
        RawFrame(opcode: 1, payload: Array(BadWebSocket.ping.utf8), isMasked: false).bytes,
        RawFrame(opcode: 9, payload: [1], isMasked: false).bytes, RawFrame(opcode: 10, payload: [1], isMasked: false).bytes,
        RawFrame(opcode: 8, payload: [3, 232], isMasked: false).bytes,
        RawFrame(isFinal: false, opcode: 1, payload: [0x7B]).bytes + RawFrame(opcode: 0, payload: [0x7D], isMasked: false).bytes,
        RawFrame(opcode: 2, payload: [UInt8](repeating: 1, count: 300), isMasked: false).bytes,
    ]

    @Test(arguments: [RawSocket.Versions.recent, .upTo12], unmasked)
    func unmaskedFramesOfEveryKindEndWith1002(versions: RawSocket.Versions, frame: [UInt8]) throws {
        let caller = try join(versions)
        try caller.socket.socket.write(frame)
        #expect(try caller.closeCode() == 1002)
    }

    @Test(arguments: [RawSocket.Versions.recent, .upTo12], unmasked)
    func headersSplitAcrossRecordsAreChecked(versions: RawSocket.Versions, frame: [UInt8]) throws {
        let caller = try join(versions)
        for byte in frame { try? caller.socket.socket.write([byte]) }
        #expect(try caller.closeCode() == 1002)
    }

    @Test(arguments: [RawSocket.Versions.recent, .upTo12])
    func closeFrameIsSentDespiteASecondViolation(versions: RawSocket.Versions) throws {
        for _ in 0..<5 {
            let caller = try join(versions)
            let socket = caller.socket.socket
            try socket.together {
                try socket.write(RawFrame(opcode: 1, payload: [0x7B], isMasked: false).bytes)
                try socket.write(RawFrame(reserved: 7, opcode: 3, payload: [1]).bytes)
                try socket.writeAsTheyAre([23, 3, 3, 0, 40] + [UInt8](repeating: 9, count: 40))
            }
            #expect(try caller.closeCode() == 1002)
        }
    }

    @Test func aKeyUpdateBeforeTheUpgradeKeepsTheConnectionWorking() throws {
        let caller = try join(updatingKey: true)
        try caller.settle()
        try caller.settle()
    }

    @Test(arguments: ["AES128-GCM-SHA256", "ECDHE+AES128:!AESGCM:!AESCCM", "AES256-SHA"])
    func tls12WithoutAEADAndForwardSecrecyIsRefused(suites: String) {
        #expect(throws: (any Error).self) { try RawSocket.secure(port: gateway.port, offering: .suites12(suites)) }
    }

    @Test func tls12WithAEADIsAccepted() throws {
        #expect(try RawSocket.secure(port: gateway.port, offering: .suites12("ECDHE+AESGCM")).protocolVersion == "TLSv1.2")
    }
}

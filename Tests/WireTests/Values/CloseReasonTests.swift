import Testing
import Wire

struct CloseReasonTests {
    @Test(arguments: CloseReason.allCases)
    func phrasesFitIntoACloseFrame(_ reason: CloseReason) {
        #expect(!reason.phrase.isEmpty && reason.phrase.utf8.count <= 123)
    }

    @Test(arguments: CloseReason.allCases)
    func codesMayBeSentInACloseFrame(_ reason: CloseReason) {
        // RFC 6455 section 7.4: 1004, 1005, 1006 and 1015 never go over the wire.
        #expect([1000, 1002, 1007, 1009].contains(reason.code) || 4000...4199 ~= reason.code)
    }

    @Test(arguments: CloseReason.allCases)
    func onlyCodesBelow4100AreRetryable(_ reason: CloseReason) {
        #expect(reason.isRetryable == (4000...4099 ~= reason.code))
    }

    @Test func closeCodesMatchTheProtocol() {
        let codes: [CloseReason: UInt16] = [
            .left: 1000, .messageTooBig: 1009, .serverShutdown: 4001, .slowConsumer: 4002, .pingTimeout: 4003, .resumeWindowOver: 4004,
            .tokenRevoked: 4100, .roomClosed: 4102, .removed: 4103, .duplicateIdentity: 4104, .limit: 4105, .protocolError: 4106,
        ]
        for (reason, code) in codes { #expect(reason.code == code) }
    }

    @Test(arguments: DisconnectReason.allCases)
    func disconnectReasonsUseLiveKitsNames(_ reason: DisconnectReason) {
        #expect(reason.rawValue.allSatisfy { $0 == "_" || ("A"..."Z").contains($0) })
        #expect(DisconnectReason(rawValue: reason.rawValue) == reason)
    }
}

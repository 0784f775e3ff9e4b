import Testing
import Wire

/// TLS records after the upgrade, against an OpenSSL peer.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct SealedRecordTests {
    let gateway: TestGateway
    private let listener: Caller

    init() throws {
        gateway = try TestGateway()
        listener = try Caller(gateway, room: "r", identity: "listener")
    }

    private func speaker(offering versions: RawSocket.Versions = .recent) throws -> (Caller, TrackAlias) {
        let ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: "speaker"), path: "/v1/rtc")
        let socket = try RawWebSocket(on: .secure(port: gateway.port, offering: versions), asking: ask)
        let speaker = try Caller(on: socket, goingOnAfter: 0)
        return (speaker, try speaker.publish().alias)
    }

    /// Expects media in one direction and a request and its reply in both.
    private func expectTalk(of speaker: Caller, _ alias: TrackAlias, from number: Int = 0, count: Int = 3) throws {
        for number in number..<number + count {
            try speaker.say(TestFrame.bytes(alias, number))
            #expect(try listener.frame() == TestFrame.bytes(alias, number))
        }
        try speaker.settle()
    }

    // MARK: Suites and versions

    @Test(arguments: ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"])
    func cipherSuiteIsSupported(name: String) throws {
        let (speaker, alias) = try speaker(offering: .suite(name))
        try expectTalk(of: speaker, alias)
    }

    @Test func tls12IsSupported() throws {
        let (speaker, alias) = try speaker(offering: .upTo12)
        #expect(speaker.socket.socket.protocolVersion == "TLSv1.2")
        try expectTalk(of: speaker, alias)
    }

    // MARK: Key updates

    @Test(arguments: [false, true]) func keysMayBeUpdatedDuringACall(ofBoth: Bool) throws {
        let (speaker, alias) = try speaker()
        for round in 0..<5 {
            try speaker.socket.socket.updateKey(ofBoth: ofBoth)
            try expectTalk(of: speaker, alias, from: 3 * round)
        }
    }

    @Test func consecutiveKeyUpdatesAreAnswered() throws {
        let (speaker, alias) = try speaker()
        try speaker.socket.socket.together {
            for _ in 0..<30 { try speaker.socket.socket.updateKey(ofBoth: true) }
            try speaker.say(TestFrame.bytes(alias, 0))
        }
        #expect(try listener.frame() == TestFrame.bytes(alias, 0))
        try expectTalk(of: speaker, alias, from: 1)
    }

    // MARK: Record boundaries

    @Test(arguments: [1, 4, 5, 6, 60]) func recordMayArriveInParts(cut: Int) throws {
        let (speaker, alias) = try speaker()
        let socket = speaker.socket.socket
        for number in 0..<3 {
            let record = socket.sealed(RawFrame.binary(TestFrame.bytes(alias, number)).bytes)
            try socket.writeAsTheyAre(Array(record[..<cut]))
            // Another publisher's frames arrive in between.
            try listener.settle()
            try socket.writeAsTheyAre(Array(record[cut...]))
            #expect(try listener.frame() == TestFrame.bytes(alias, number))
        }
        try expectTalk(of: speaker, alias, from: 3)
    }

    @Test func readMayEndInsideTheNextRecord() throws {
        let (speaker, alias) = try speaker()
        let socket = speaker.socket.socket
        let records = (0..<40).map { socket.sealed(RawFrame.binary(TestFrame.bytes(alias, $0)).bytes) }.reduce([], +)
        for start in stride(from: 0, to: records.count, by: 301) {
            try socket.writeAsTheyAre(Array(records[start..<min(start + 301, records.count)]))
            if start % 5 == 0 { try listener.settle() }
        }
        for number in 0..<40 { #expect(try listener.frame() == TestFrame.bytes(alias, number)) }
    }

    @Test func longMessageSpansManyRecords() throws {
        let (speaker, alias) = try speaker()
        let text = String(repeating: "long ", count: 2_000)
        try speaker.ask(.sendText(TextMessage(text: text)))
        let heard = try listener.event("the text") { if case .text(_, _, _, let text) = $0 { text } else { nil } }
        #expect(heard == text)
        try expectTalk(of: speaker, alias)
    }

    // MARK: Faults

    /// Expects that only the faulty connection is closed.
    private func expectEnd(of speaker: Caller) throws {
        let socket = speaker.socket.socket
        while try !socket.read().isEmpty {}
        try listener.settle()
    }

    @Test(arguments: [0, 3, 20]) func modifiedRecordClosesTheConnection(place: Int) throws {
        let (speaker, alias) = try speaker()
        var record = speaker.socket.socket.sealed(RawFrame.binary(TestFrame.bytes(alias, 0)).bytes)
        record[place] ^= 0xFF
        try speaker.socket.socket.writeAsTheyAre(record)
        try expectEnd(of: speaker)
        #expect(listener.frames.isEmpty)
    }

    @Test func oversizedRecordBehindAValidOneClosesTheConnection() throws {
        let (speaker, alias) = try speaker()
        try speaker.settle()
        try speaker.socket.socket.together {
            try speaker.say(TestFrame.bytes(alias, 0))
            try speaker.socket.socket.writeAsTheyAre([23, 3, 3, 0xFF, 0xFF, 1, 2, 3])
        }
        #expect(try listener.frame() == TestFrame.bytes(alias, 0))
        try expectEnd(of: speaker)
    }

    @Test func replayedRecordClosesTheConnection() throws {
        let (speaker, alias) = try speaker()
        let record = speaker.socket.socket.sealed(RawFrame.binary(TestFrame.bytes(alias, 0)).bytes)
        try speaker.socket.socket.writeAsTheyAre(record + record)
        #expect(try listener.frame() == TestFrame.bytes(alias, 0))
        try expectEnd(of: speaker)
    }

    @Test func closeNotifyEndsTheConnection() throws {
        let (speaker, _) = try speaker()
        speaker.socket.socket.sayGoodbye()
        try expectEnd(of: speaker)
    }
}

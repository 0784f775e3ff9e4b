import Testing
import Wire

@Suite("A handshake is refused", .besideACall, .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct BadHandshakeTests {
    @Test("for its token", arguments: BadHandshake.ofToken)
    func token(_ bad: BadHandshake) throws { try refuse(bad) }

    @Test("for the location of its token or its path", arguments: BadHandshake.ofPlace)
    func place(_ bad: BadHandshake) throws { try refuse(bad) }

    @Test("like any invalid HTTP request", arguments: BadHandshake.ofHTTP)
    func http(_ bad: BadHandshake) throws { try refuse(bad) }

    private func refuse(_ bad: BadHandshake) throws {
        let gateway = try TestGateway.besideACall
        let before = try gateway.value(bad.counter)
        let answer = try #require(try bad.ask.answer(port: gateway.port), "the gateway ended the connection without an answer")
        #expect(answer.status == bad.status)
        #expect(answer.code == bad.code)
        #expect(answer.fields["x-patchbay-error"] == bad.code)
        #expect(!answer.text.contains("eyJ"), "nothing of a token comes back")
        #expect(try gateway.value(bad.counter) == before + 1)
    }
}

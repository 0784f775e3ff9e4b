import Backend
import Foundation
import Gateway
import Testing
import Wire

/// Registrations over HTTPS.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RegistrationLimitTests {
    private func register(_ email: String, at backend: TestBackend, from source: String) throws -> HTTPAnswer {
        let body = ["email": email, "password": AppUser.password]
        let ask = HTTPAsk.json("POST", "/v1/auth/register", [UInt8](try JSONSerialization.data(withJSONObject: body)))
        let answer = try #require(try ask.answer(port: backend.gateway.port, from: source))
        try Contract.hold(answer, to: ask, backend.gateway.gateway.routes)
        return answer
    }

    @Test func anAddressMayCreateSomeAccountsAndThenHasToWait() throws {
        let backend = try TestBackend(accounts: AccountSettings(registrationsPerHour: 2))
        let source = Loopback.fresh()
        #expect(try register("ann@example.org", at: backend, from: source).status == 201)
        // An attempt counts, too: it tells that the address is taken.
        #expect(try register("ann@example.org", at: backend, from: source).status == 409)
        let third = try register("bob@example.org", at: backend, from: source)
        #expect(third.status == 429 && third.code == "too_many_registrations")
        let wait = try #require(third.fields["retry-after"].flatMap { Int($0) })
        #expect(1_700...1_801 ~= wait)
        #expect(try register("bob@example.org", at: backend, from: Loopback.fresh()).status == 201)
        #expect(try backend.gateway.value(.httpRefused("too_many_registrations")) == 1)
    }
}

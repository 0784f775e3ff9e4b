import Identity
import Store
import Synchronization
import Testing

/// Codes that reset passwords and confirm addresses.
struct AccountCodeTests {
    private static let next = SecretText("another horse battery staple")

    private let world: StoreWorld
    private var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    /// The code that a request sends; nil if it sends none.
    private func requestedCode(_ email: String, at time: WallTime) async throws -> AccountCode.Text? {
        let sent = Mutex<AccountCode.Text?>(nil)
        try await store.accounts.requestPasswordReset(
            email: email,
            webhooks: { _, code in
                sent.withLock { $0 = code.text }
                return []
            }, at: time)
        return sent.withLock { $0 }
    }

    private func sentWebhook(_ lifetime: Duration?) -> OutgoingWebhook {
        OutgoingWebhook(event: "account.x", endpoint: "https://a.example", room: "r", body: "secret", lifetime: lifetime)
    }

    @Test func aCodeExpires() async throws {
        _ = try await world.makeUser("ann@example.org")
        let code = try #require(try await requestedCode("ANN@example.org", at: world.now))
        let late = world.now + StoreLimits.codeLifetime
        #expect(try await store.accounts.resetPassword(email: "ann@example.org", code: code, to: Self.next, at: late) == nil)
        let intime = late - .milliseconds(1)
        #expect(try await store.accounts.resetPassword(email: "ann@example.org", code: code, to: Self.next, at: intime) != nil)
    }

    @Test func aNewCodeReplacesTheOldOneAfterAMinute() async throws {
        _ = try await world.makeUser("ann@example.org")
        let first = try #require(try await requestedCode("ann@example.org", at: world.now))
        #expect(try await requestedCode("ann@example.org", at: world.now + .seconds(59)) == nil)
        let second = try #require(try await requestedCode("ann@example.org", at: world.now + .seconds(60)))
        let now = world.now + .seconds(61)
        #expect(try await store.accounts.resetPassword(email: "ann@example.org", code: first, to: Self.next, at: now) == nil)
        #expect(try await store.accounts.resetPassword(email: "ann@example.org", code: second, to: Self.next, at: now) != nil)
    }

    @Test func aCodeIsForOneAccountAndOnePurpose() async throws {
        let (ann, bob) = (try await world.makeUser("ann@example.org"), try await world.makeUser("bob@example.org"))
        let code = try #require(try await requestedCode("ann@example.org", at: world.now))
        _ = try await requestedCode("bob@example.org", at: world.now)
        #expect(try await store.accounts.resetPassword(email: "bob@example.org", code: code, to: Self.next, at: world.now) == nil)
        #expect(try await store.accounts.confirmEmail(of: ann.id, code: code, at: world.now) == nil)
        #expect(try await store.accounts.confirmEmail(of: bob.id, code: code, at: world.now) == nil)
    }

    @Test(arguments: ["ann@example.org", "nobody@example.org"])
    func aRequestIsWrittenWhetherTheAccountExistsOrNot(email: String) async throws {
        _ = try await world.makeUser("ann@example.org")
        _ = try await requestedCode("ann@example.org", at: world.now)
        func count() throws -> Int { try world.count("SELECT count FROM account_requests") }
        let before = try count()
        _ = try await requestedCode(email, at: world.now)
        _ = try await store.accounts.resetPassword(email: email, code: AccountCode.Text(typed: "x"), to: Self.next, at: world.now)
        #expect(try count() == before + 2)
    }

    @Test func twoChangesFromOnePasswordDoNotBothSucceed() async throws {
        let user = try await world.makeUser("ann@example.org")
        async let one = store.accounts.changePassword(
            of: user.id, from: StoreWorld.password, to: SecretText("the first of two"), at: world.now)
        async let other = store.accounts.changePassword(
            of: user.id, from: StoreWorld.password, to: SecretText("the second of two"), at: world.now)
        let outcomes = try await [one, other]
        #expect(outcomes.filter { $0 == .changed }.count == 1 && outcomes.contains(.wrongPassword))
        #expect(try await store.accounts.standing(of: user.id)?.tokenGeneration == 1)
    }

    @Test func anExternalUserHasNoPasswordToChange() async throws {
        let user = try await store.accounts.user(issuer: "https://id", subject: "42", email: "ann@example.org", at: world.now)
        #expect(try await store.accounts.changePassword(of: user.id, from: SecretText(""), to: Self.next, at: world.now) == .noPassword)
        #expect(try await store.accounts.standing(of: user.id)?.isUnconfirmed == false)
    }

    @Test func codesAreDeletedWithTheirUserAndWhenTheyExpire() async throws {
        let user = try await world.makeUser("ann@example.org")
        _ = try await world.makeUser("bob@example.org")
        for email in ["ann@example.org", "bob@example.org"] { _ = try await requestedCode(email, at: world.now) }
        func count() throws -> Int { try world.count("SELECT count(*) FROM account_codes") }
        try await store.accounts.deleteUser(user.id)
        #expect(try count() == 1)
        try await store.expire(at: world.now + StoreLimits.codeLifetime)
        #expect(try count() == 0)
    }

    @Test func aWebhookWithASecretIsDeletedOnceDeliveredOrExpired() async throws {
        try await store.webhooks.enqueue([sentWebhook(.seconds(900)), sentWebhook(nil)], at: world.now)
        let secret = try #require(
            try await store.webhooks.lease(to: "https://a.example", limit: 8, for: .seconds(30), at: world.now).first)
        #expect(secret.expiresAt == world.now + .seconds(900) && secret.webhook.lifetime == .seconds(900))
        await #expect(throws: StoreError.notFound) { try await store.webhooks.replay(secret.webhook.id, at: world.now) }
        #expect(try await store.webhooks.delivered(secret, at: world.now))
        #expect(try await store.webhooks.list().map(\.webhook.lifetime) == [nil], "others are kept for replays")
        try await store.webhooks.enqueue([sentWebhook(.seconds(900))], at: world.now)
        try await store.expire(at: world.now + .seconds(900))
        #expect(try await store.webhooks.list().count == 1)
    }

    @Test func aTypedCodeIsReadGenerously() {
        #expect(AccountCode.Text(typed: "o1il-abcd") == AccountCode.Text(typed: "0111 ABCD"))
        #expect("\(AccountCode.Text(typed: "8F2K-93QM"))" == "<code>")
    }
}

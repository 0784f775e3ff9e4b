import Identity
import Store
import Testing

struct UserTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @Test func aNewUserHasConsentedToNothing() async throws {
        let user = try await store.accounts.createUser(email: "Ann@Example.org", password: StoreWorld.password, at: world.now)
        #expect(user.settings == UserSettings() && !user.settings.loggingEnabled && user.settings.retentionDays == 30)
        #expect(try await store.accounts.user(user.id) == user)
        #expect(user.email == "Ann@Example.org")
    }

    @Test func emailAddressesAreCaseInsensitive() async throws {
        _ = try await world.makeUser("ann@example.org")
        await #expect(throws: StoreError.emailTaken) { try await world.makeUser("ANN@EXAMPLE.ORG") }
    }

    @Test func concurrentRegistrationsOfOneAddressCreateOneUser() async throws {
        let made = await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { (try? await world.makeUser("race@example.org")) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(made == 1)
    }

    @Test func onlyTheRightPasswordFindsTheUser() async throws {
        let user = try await world.makeUser("ann@example.org")
        #expect(try await store.accounts.user(email: "ann@EXAMPLE.org", password: StoreWorld.password)?.id == user.id)
        #expect(try await store.accounts.user(email: "ann@example.org", password: SecretText("guess")) == nil)
        #expect(try await store.accounts.user(email: "bob@example.org", password: StoreWorld.password) == nil)
    }

    @Test func aUserOfAnExternalIssuerIsCreatedOnce() async throws {
        let first = try await store.accounts.user(issuer: "https://id", subject: "42", email: nil, at: world.now)
        #expect(try await store.accounts.user(issuer: "https://id", subject: "42", email: nil, at: world.now).id == first.id)
        #expect(try await store.accounts.user(issuer: "https://id", subject: "43", email: nil, at: world.now).id != first.id)
        #expect(try await store.accounts.user(issuer: "https://id4", subject: "2", email: nil, at: world.now).id != first.id)
    }

    @Test func aUserOfAnExternalIssuerHasNoPassword() async throws {
        _ = try await store.accounts.user(issuer: "https://id", subject: "42", email: "ann@example.org", at: world.now)
        #expect(try await store.accounts.user(email: "ann@example.org", password: SecretText("")) == nil)
    }

    @Test func concurrentSettingsChangesAreBothKept() async throws {
        let user = try await world.makeUser()
        async let voice = store.accounts.updateSettings(of: user.id) { $0.voice = "alto" }
        async let days = store.accounts.updateSettings(of: user.id) { $0.retentionDays = 7 }
        _ = try await (voice, days)
        let settings = try await store.accounts.user(user.id).settings
        #expect(settings.voice == "alto" && settings.retentionDays == 7 && settings.loggingEnabled)
    }

    @Test(arguments: [6, 366, -1, .max])
    func retentionIsBetweenAWeekAndAYear(days: Int) async throws {
        let user = try await world.makeUser()
        await #expect(throws: StoreError.self) { try await store.accounts.updateSettings(of: user.id) { $0.retentionDays = days } }
        #expect(try await store.accounts.user(user.id).settings.retentionDays == 30)
    }

    @Test func aDeletedUserIsUnknownAndTheAddressIsFree() async throws {
        let user = try await world.makeUser("ann@example.org")
        let session = try await world.talk(user, ["hello"])
        try await store.accounts.deleteUser(user.id)
        await #expect(throws: StoreError.notFound) { try await store.accounts.user(user.id) }
        await #expect(throws: StoreError.notFound) { try await store.sessions.record(of: session.id, of: user.id) }
        await #expect(throws: StoreError.notFound) { try await store.accounts.deleteUser(user.id) }
        #expect(try await store.accounts.user(email: "ann@example.org", password: StoreWorld.password) == nil)
        #expect(try await world.makeUser("ann@example.org").id != user.id)
    }

    @Test func anInterruptedDeletionIsFinishedLater() async throws {
        let user = try await world.makeUser()
        try await world.talk(user, ["hello"])
        // As it is when the process ends after the first commit.
        try world.tamper("DELETE FROM user_keys")
        await #expect(throws: StoreError.notFound) { try await store.accounts.user(user.id) }
        #expect(try await store.verify().isClean)
        try await store.expire(at: world.now)
        #expect(try world.count("SELECT count(*) FROM users") == 0)
    }
}

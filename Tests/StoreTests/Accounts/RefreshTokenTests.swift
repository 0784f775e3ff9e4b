import Store
import Testing

struct RefreshTokenTests {
    let world: StoreWorld
    var store: Store { world.store }
    let lifetime = Duration.seconds(30 * 86_400)

    init() throws { world = try StoreWorld() }

    func renewed(_ token: String, at time: WallTime? = nil) async throws -> RefreshToken? {
        guard case .renewed(let next) = try await store.accounts.renew(token, lasting: lifetime, at: time ?? world.now) else { return nil }
        return next
    }

    @Test func aRefreshTokenIsRenewedOnce() async throws {
        let user = try await world.makeUser()
        let first = try await store.accounts.makeRefreshToken(for: user.id, lasting: lifetime, at: world.now)
        let second = try #require(try await renewed(first.text))
        #expect(second.userID == user.id && second.text != first.text)
        #expect(try await renewed(second.text) != nil)
    }

    @Test func reusingATokenRevokesItsFamily() async throws {
        let user = try await world.makeUser()
        let first = try await store.accounts.makeRefreshToken(for: user.id, lasting: lifetime, at: world.now)
        let other = try await store.accounts.makeRefreshToken(for: user.id, lasting: lifetime, at: world.now)
        let second = try #require(try await renewed(first.text))
        let third = try #require(try await renewed(second.text))
        guard case .reused(user.id) = try await store.accounts.renew(first.text, lasting: lifetime, at: world.now) else {
            Issue.record("the first token was not found out")
            return
        }
        #expect(try await renewed(third.text) == nil)
        #expect(try await renewed(other.text) != nil, "another device's token is another family")
    }

    @Test func concurrentRenewalsSucceedAtMostOnce() async throws {
        let user = try await world.makeUser()
        for _ in 0..<20 {
            let token = try await store.accounts.makeRefreshToken(for: user.id, lasting: lifetime, at: world.now).text
            async let one = renewed(token)
            async let two = renewed(token)
            let answers = [try await one, try await two].compactMap { $0 }
            #expect(answers.count == 1)
            #expect(try await renewed(answers[0].text) == nil)
        }
    }

    @Test func aRefreshTokenExpires() async throws {
        let user = try await world.makeUser()
        let token = try await store.accounts.makeRefreshToken(for: user.id, lasting: lifetime, at: world.now)
        #expect(try await renewed(token.text, at: token.expiresAt) == nil)
    }

    @Test func loggingOutRevokesTheToken() async throws {
        let user = try await world.makeUser()
        let token = try await store.accounts.makeRefreshToken(for: user.id, lasting: lifetime, at: world.now)
        try await store.accounts.logOut(token.text)
        #expect(try await renewed(token.text) == nil)
        try await store.accounts.logOut(token.text)
    }

    @Test(arguments: ["", "x", String(repeating: "A", count: 64), String(repeating: "A", count: 1_000), "é"])
    func malformedTokensAreUnknown(text: String) async throws {
        #expect(try await renewed(text) == nil)
        try await store.accounts.logOut(text)
    }

    @Test func theStoreContainsNoTokens() async throws {
        let user = try await world.makeUser()
        let token = try await store.accounts.makeRefreshToken(for: user.id, lasting: lifetime, at: world.now)
        #expect(try world.files(with: token.text.utf8).isEmpty)
    }

    @Test func theLeastRecentlyUsedDeviceIsEvicted() async throws {
        let user = try await world.makeUser()
        var tokens: [String] = []
        for index in 0...StoreLimits.familiesPerUserMax {
            let time = world.now + .seconds(index)
            tokens.append(try await store.accounts.makeRefreshToken(for: user.id, lasting: lifetime, at: time).text)
        }
        #expect(try await renewed(tokens[0]) == nil)
        #expect(try await renewed(tokens[1]) != nil)
    }
}

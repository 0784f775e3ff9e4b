import Foundation
import HTTPServer
import Synchronization
import Testing

@testable import PatchbayClient

/// Accounts against a real gateway with a store.
@Suite(.timeLimit(.minutes(2)))
struct AccountTests {
    private static let password = "correct horse battery"

    /// A wall clock that tests move.
    private final class Clock: Sendable {
        private let ahead = Mutex(TimeInterval(0))

        func advance(_ seconds: TimeInterval) { ahead.withLock { $0 += seconds } }
        func now() -> Date { Date().addingTimeInterval(ahead.withLock { $0 }) }
    }

    /// Counts saves, and fails on demand.
    private final class Storage: TokenStorage {
        private struct Full: Error {}

        private let state = Mutex((tokens: AccountTokens?.none, saves: 0, isFull: false))

        var tokens: AccountTokens? { state.withLock { $0.tokens } }
        var saves: Int { state.withLock { $0.saves } }

        func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }
        func load() -> AccountTokens? { tokens }

        func save(_ tokens: AccountTokens?) throws {
            try state.withLock { state in
                if state.isFull { throw Full() }
                state.tokens = tokens
                state.saves += 1
            }
        }
    }

    private func account(_ gateway: CallGateway, _ storage: any TokenStorage, _ clock: Clock = Clock()) throws -> Account {
        let http = GatewayHTTP(address: try GatewayAddress(gateway.url), trust: gateway.options.trust, timeout: .seconds(60))
        return Account(gateway: http, storage: storage, now: { clock.now() })
    }

    @Test func aUserRegistersLogsOutAndLogsInAgain() async throws {
        try await CallGateway.run { gateway in
            let storage = Storage()
            let account = try account(gateway, storage)
            #expect(await !account.isLoggedIn)
            let user = try await account.register(email: "ann@example.org", password: Self.password)
            #expect(user.email == "ann@example.org" && !user.settings.loggingEnabled && !user.settings.hasSeenOnboarding)
            #expect(abs(user.createdAt.timeIntervalSinceNow) < 300)
            let token = try await account.accessToken()
            #expect(token == storage.tokens?.accessToken)
            // Another process on the same device continues with the same login.
            #expect(try await self.account(gateway, storage).user().id == user.id)
            try await account.logout()
            #expect(storage.tokens == nil)
            await #expect(throws: AccountError.loggedOut) { try await account.user() }
            try await account.login(email: "ann@example.org", password: Self.password)
            #expect(try await account.user() == user)
            try await account.delete()
            #expect(await !account.isLoggedIn)
        }
    }

    @Test func refusalsHaveTheGatewaysCodes() async throws {
        try await CallGateway.run { gateway in
            let account = try account(gateway, MemoryTokenStorage())
            try await account.register(email: "ann@example.org", password: Self.password)
            func code(_ body: () async throws -> Void) async -> GatewayRefusal.Code? {
                do { try await body() } catch { return (error as? AccountError)?.code }
                return nil
            }
            #expect(await code { _ = try await account.register(email: "ANN@example.org", password: Self.password) } == .emailTaken)
            #expect(await code { try await account.login(email: "ann@example.org", password: "wrong horse") } == .invalidCredentials)
            #expect(await code { try await account.login(email: "not an address", password: "x") } == .invalidBody)
            #expect(await code { try await account.settings.change(Settings.Change(retentionDays: 6)) } == .invalidBody)
            #expect(await code { _ = try await account.sessions.detail(UUID().uuidString) } == .notFound)
            // An id that could name another route never reaches the path.
            #expect(await code { try await account.sessions.delete("../../users/me") } == .notFound)
        }
        #expect(GatewayRefusal.Code.known.allSatisfy { ErrorCode(rawValue: $0.rawValue) != nil })
    }

    @Test func settingsAreReadAndChanged() async throws {
        try await CallGateway.run { gateway in
            let account = try account(gateway, MemoryTokenStorage())
            try await account.register(email: "ann@example.org", password: Self.password)
            let answered = try await account.settings.answerConsent(true)
            #expect(answered.loggingEnabled && answered.hasSeenOnboarding)
            try await account.settings.change(Settings.Change(retentionDays: 90, voice: "nova", language: "de-AT"))
            var settings = try await account.settings.current()
            #expect(settings.retentionDays == 90 && settings.voice == "nova" && settings.language == "de-AT" && settings.loggingEnabled)
            settings = try await account.settings.change(Settings.Change(loggingEnabled: false, voice: ""))
            #expect(settings.voice == nil && !settings.loggingEnabled && settings.retentionDays == 90)
        }
    }

    @Test func phonesAreRegisteredAndForgotten() async throws {
        try await CallGateway.run { gateway in
            let account = try account(gateway, MemoryTokenStorage())
            try await account.register(email: "ann@example.org", password: Self.password)
            let device = try await account.devices.register(
                .ios, token: String(repeating: "0a", count: 32), alertToken: String(repeating: "0b", count: 32))
            #expect(device.platform == .ios && abs(device.registeredAt.timeIntervalSinceNow) < 300)
            #expect(try await account.devices.list() == [device])
            try await account.devices.remove(device.id)
            #expect(try await account.devices.list().isEmpty)
            let error = await #expect(throws: AccountError.self) { try await account.devices.remove("../users/me") }
            #expect(error?.code == .notFound)
            #expect(try await account.settings.change(Settings.Change(pushesSummaries: false)).pushesSummaries == false)
        }
    }

    @Test func concurrentRequestsShareOneRenewal() async throws {
        try await CallGateway.run { gateway in
            let (storage, clock) = (Storage(), Clock())
            let account = try account(gateway, storage, clock)
            try await account.register(email: "ann@example.org", password: Self.password)
            let first = try #require(storage.tokens)
            clock.advance(15 * 60 - Account.renewalMargin / 2)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { _ = try await account.user() } }
                try await group.waitForAll()
            }
            // One save for the registration, one for the renewal. A second renewal would have revoked the login.
            #expect(storage.saves == 2)
            #expect(storage.tokens?.refreshToken != first.refreshToken)
        }
    }

    @Test func aTokenThatTheGatewayRejectsIsRenewedOnce() async throws {
        try await CallGateway.run { gateway in
            let storage = Storage()
            let account = try account(gateway, storage)
            try await account.register(email: "ann@example.org", password: Self.password)
            let tokens = try #require(storage.tokens)
            try storage.save(AccountTokens(accessToken: "no.token", refreshToken: tokens.refreshToken, expiresAt: tokens.expiresAt))
            let restarted = try self.account(gateway, storage)
            #expect(try await restarted.user().email == "ann@example.org")
            #expect(storage.tokens?.accessToken != "no.token")
        }
    }

    @Test func aLoginThatWasRevokedEnds() async throws {
        try await CallGateway.run { gateway in
            let (storage, clock) = (Storage(), Clock())
            let account = try account(gateway, storage, clock)
            try await account.register(email: "ann@example.org", password: Self.password)
            // A copy of the tokens is used elsewhere, so that the refresh token is no longer valid.
            let thief = try self.account(gateway, MemoryTokenStorage(storage.tokens), clock)
            clock.advance(15 * 60)
            _ = try await thief.accessToken()
            await #expect(throws: AccountError.loggedOut) { try await account.user() }
            #expect(storage.tokens == nil)
            await #expect(throws: AccountError.loggedOut) { try await account.accessToken() }
        }
    }

    @Test func anUnreachableGatewayKeepsTheLogin() async throws {
        let tokens = AccountTokens(accessToken: "a.b.c", refreshToken: "r", expiresAt: Date().addingTimeInterval(30))
        let storage = MemoryTokenStorage(tokens)
        let account = try Account(url: "https://127.0.0.1:1", storage: storage, trust: .anybody)
        // The token is due for renewal, but still valid.
        #expect(try await account.accessToken() == "a.b.c")
        let error = await #expect(throws: AccountError.self) { try await account.user() }
        #expect(error?.isRetryable == true)
        #expect(storage.load() == tokens)
        storage.save(nil)
    }

    @Test func aStorageThatFailsIsReportedAndAskedAgain() async throws {
        try await CallGateway.run { gateway in
            let storage = Storage()
            let account = try account(gateway, storage)
            storage.fill(true)
            let error = await #expect(throws: AccountError.self) {
                try await account.register(email: "ann@example.org", password: Self.password)
            }
            guard case .storage = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            storage.fill(false)
            #expect(try await account.user().email == "ann@example.org")
            #expect(storage.tokens != nil)
        }
    }
}

import Backend
import Foundation
import Gateway
import Identity
import Store
import Testing

/// Accounts over HTTPS.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct AccountTests {
    private let backend: TestBackend

    init() throws {
        backend = try TestBackend()
    }

    private func credentials(_ email: String, _ password: String = AppUser.password) -> [String: String] {
        ["email": email, "password": password]
    }

    @Test func newUserIsLoggedIn() throws {
        let ann = try AppUser(backend, logs: false)
        let me = try ann.ask("GET", "/v1/users/me").json
        #expect(me?["id"] as? String == ann.id && me?["email"] as? String == ann.email)
    }

    @Test func emailAddressesAreCaseInsensitive() throws {
        let ann = try AppUser(backend, "ann@example.org", logs: false)
        let again = try ann.ask("POST", "/v1/auth/register", credentials("Ann@Example.org"))
        #expect(again.status == 409 && again.code == "email_taken")
    }

    @Test func wrongPasswordAndUnknownUserGetTheSameError() throws {
        let ann = try AppUser(backend, logs: false)
        let wrong = try ann.ask("POST", "/v1/auth/token", credentials(ann.email, "another password"))
        let unknown = try ann.ask("POST", "/v1/auth/token", credentials("bob@example.org"))
        #expect(wrong.status == 401 && unknown.status == 401)
        #expect(wrong.text == unknown.text)
    }

    @Test func refreshTokenCanBeUsedOnce() throws {
        let ann = try AppUser(backend, logs: false)
        let second = try ann.ask("POST", "/v1/auth/refresh", ["refresh_token": ann.refreshToken])
        #expect(second.status == 200)
        let newest = try #require(second.json?["refresh_token"] as? String)
        #expect(newest != ann.refreshToken)
        let access = try #require(second.json?["access_token"] as? String)
        #expect(try AppUser(backend, token: access).ask("GET", "/v1/users/me").status == 200)
    }

    @Test func reusedRefreshTokenRevokesItsSuccessors() throws {
        let ann = try AppUser(backend, logs: false)
        let second = try ann.ask("POST", "/v1/auth/refresh", ["refresh_token": ann.refreshToken])
        let newest = try #require(second.json?["refresh_token"] as? String)
        let reused = try ann.ask("POST", "/v1/auth/refresh", ["refresh_token": ann.refreshToken])
        #expect(reused.status == 401 && reused.code == "refresh_token_reused")
        #expect(try ann.ask("POST", "/v1/auth/refresh", ["refresh_token": newest]).status == 401, "the whole family is revoked")
        #expect(try ann.ask("POST", "/v1/auth/token", credentials(ann.email)).status == 200)
    }

    @Test func logoutRevokesTheRefreshToken() throws {
        let ann = try AppUser(backend, logs: false)
        #expect(try ann.ask("POST", "/v1/auth/logout", ["refresh_token": ann.refreshToken]).status == 204)
        #expect(try ann.ask("POST", "/v1/auth/refresh", ["refresh_token": ann.refreshToken]).status == 401)
        #expect(try ann.ask("POST", "/v1/auth/logout", ["refresh_token": "no such token"]).status == 204)
    }

    @Test func failedLoginsAreLimitedPerAccount() throws {
        let ann = try AppUser(backend, logs: false)
        for _ in 0..<20 {
            #expect(try ann.ask("POST", "/v1/auth/token", credentials(ann.email, "another password")).status == 401)
        }
        let refused = try ann.ask("POST", "/v1/auth/token", credentials(ann.email))
        #expect(refused.status == 429 && refused.fields["retry-after"] != nil)
        let bob = try AppUser(backend, "bob@example.org", logs: false)
        #expect(try bob.ask("POST", "/v1/auth/token", credentials(bob.email)).status == 200, "others are not held up")
    }

    @Test func failedLoginsAtOnceAreLimitedLikeOthers() async throws {
        let ann = try AppUser(backend, logs: false)
        let source = Loopback.fresh()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                let body = credentials(number.isMultiple(of: 2) ? ann.email : "user\(number)@example.org", "another password")
                group.addTask { try await OwnThread.run { try ann.ask("POST", "/v1/auth/token", body, from: source).status } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 401 } == 20 && statuses.count { $0 == 429 } == 80, "\(statuses)")
    }

    @Test func failedLoginsAreLimitedPerAddress() throws {
        let ann = try AppUser(backend, logs: false)
        let source = Loopback.fresh()
        for number in 0..<20 {
            let answer = try ann.ask("POST", "/v1/auth/token", credentials("user\(number)@example.org"), from: source)
            #expect(answer.status == 401)
        }
        #expect(try ann.ask("POST", "/v1/auth/token", credentials(ann.email), from: source).status == 429)
        #expect(try ann.ask("POST", "/v1/auth/token", credentials(ann.email)).status == 200)
    }

    @Test func wrongPasswordsDoNotBlockRoomsForTheAddress() throws {
        let ann = try AppUser(backend, logs: false)
        let source = Loopback.fresh()
        for _ in 0..<20 { _ = try ann.ask("POST", "/v1/auth/token", credentials("bob@example.org"), from: source) }
        #expect(try ann.ask("POST", "/v1/auth/token", credentials(ann.email), from: source).status == 429)
        #expect(try ann.ask("GET", "/v1/users/me", from: source).status == 200)
        let join = HTTPAsk.upgrade(token: TestToken.joining("r", as: "ann"))
        #expect(try join.answer(port: backend.gateway.port, from: source)?.status == 101)
    }

    @Test func badTokensDoNotBlockLoginForTheAddress() throws {
        let ann = try AppUser(backend, logs: false)
        let source = Loopback.fresh()
        for _ in 0..<20 { _ = try HTTPAsk.upgrade(token: "x.y.z").answer(port: backend.gateway.port, from: source) }
        #expect(try ann.ask("GET", "/v1/users/me", from: source).status == 200, "a valid token passes from any address")
        #expect(try ann.ask("POST", "/v1/auth/token", credentials(ann.email), from: source).status == 200)
    }

    @Test func loggingIsOffByDefault() throws {
        let ann = try AppUser(backend, logs: false)
        let settings = try #require(try ann.ask("GET", "/v1/users/me").json?["settings"] as? [String: Any])
        #expect(settings["logging_enabled"] as? Bool == false)
        #expect(settings["retention_days"] as? Int == 30)
        #expect(settings["has_seen_onboarding"] as? Bool == false)
    }

    @Test func omittedSettingsAreUnchanged() throws {
        let ann = try AppUser(backend, logs: false)
        #expect(try ann.ask("PATCH", "/v1/users/me", ["settings": ["retention_days": 7, "voice": "alto"]]).status == 200)
        #expect(try ann.ask("PATCH", "/v1/users/me", ["settings": ["logging_enabled": true]]).status == 200)
        let settings = try #require(try ann.ask("GET", "/v1/users/me").json?["settings"] as? [String: Any])
        #expect(settings["retention_days"] as? Int == 7 && settings["voice"] as? String == "alto")
        #expect(settings["logging_enabled"] as? Bool == true)
    }

    @Test(arguments: [
        ("language", "de-AT", true), ("language", "gsw", true), ("language", "", true), ("language", "German!", false),
        ("language", "d", false), ("language", "-", false), ("time_zone", "Europe/Zurich", true), ("time_zone", "UTC", true),
        ("time_zone", "Asia/Calcutta", true), ("time_zone", "Asia/Kolkata", true), ("time_zone", "America/Argentina/Buenos_Aires", true),
        ("time_zone", "Etc/GMT+5", true), ("time_zone", "", true), ("time_zone", "Europe/Atlantis", false), ("time_zone", "GMT+1", false),
        ("time_zone", "CEST", false), ("time_zone", "../../etc/passwd", false), ("time_zone", "+01:00", false),
    ])
    func languagesAndTimeZonesAreValidated(name: String, value: String, isValid: Bool) throws {
        let ann = try AppUser(backend, logs: false)
        let answer = try ann.ask("PATCH", "/v1/users/me", ["settings": [name: value]])
        #expect(answer.status == (isValid ? 200 : 400), "\(answer.text)")
        let settings = try #require(try ann.ask("GET", "/v1/users/me").json?["settings"] as? [String: Any])
        #expect(settings[name] as? String == (isValid && !value.isEmpty ? value : nil))
    }

    @Test(arguments: [6, 366, -1, 1 << 40])
    func retentionOutsideAWeekToAYearIsRefused(days: Int) throws {
        let ann = try AppUser(backend, logs: false)
        #expect(try ann.ask("PATCH", "/v1/users/me", ["settings": ["retention_days": days]]).status == 400)
    }

    @Test func deletedUserLeavesNoData() throws {
        let ann = try AppUser(backend)
        let started = try ann.start()
        try ann.say("meet me at the harbour", in: started.session)
        let caller = try started.join(backend.gateway)
        #expect(try ann.ask("DELETE", "/v1/users/me").status == 204)
        #expect(try caller.closeCode() == 4102, "the call is over")
        #expect(try ann.ask("GET", "/v1/users/me").status == 401)
        #expect(try ann.ask("POST", "/v1/auth/token", credentials(ann.email)).status == 401)
        #expect(try ann.ask("POST", "/v1/auth/refresh", ["refresh_token": ann.refreshToken]).status == 401)
        for words in ["harbour", ann.email, ann.id, started.session] { #expect(try !backend.place.holds(words), "\(words) is in a file") }
        #expect(try AppUser(backend).id != ann.id, "the address is free again")
    }
}

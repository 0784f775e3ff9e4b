import Backend
import Foundation
import Gateway
import Store
import Testing
import Wire

/// Change and reset of passwords, and confirmation of addresses, over HTTPS. Codes are read from the webhooks that would send them.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct PasswordTests {
    private static let hook = "https://hooks.example/in"
    private static let next = "another horse battery"

    private let backend: TestBackend

    init() throws {
        backend = try TestBackend(webhookEndpoints: [Self.hook])
    }

    private func logIn(_ user: AppUser, _ password: String) throws -> HTTPAnswer {
        try user.ask("POST", "/v1/auth/token", ["email": user.email, "password": password])
    }

    private func change(_ user: AppUser, from current: String = AppUser.password) throws -> HTTPAnswer {
        try user.ask("PUT", "/v1/users/me/password", ["current_password": current, "new_password": Self.next])
    }

    private func reset(_ user: AppUser, _ code: String) throws -> HTTPAnswer {
        try user.ask("POST", "/v1/auth/password/reset", ["email": user.email, "code": code, "new_password": Self.next])
    }

    private func forget(_ user: AppUser, _ email: String? = nil) throws -> HTTPAnswer {
        try user.ask("POST", "/v1/auth/password/forgot", ["email": email ?? user.email])
    }

    // MARK: Change

    @Test func changedPasswordReplacesTheOldOne() throws {
        let ann = try AppUser(backend, logs: false)
        #expect(try change(ann).status == 200)
        #expect(try logIn(ann, AppUser.password).status == 401)
        #expect(try logIn(ann, Self.next).status == 200)
    }

    @Test func changeRevokesAllOtherTokens() throws {
        let ann = try AppUser(backend, logs: false)
        let tokens = try change(ann).json
        let revoked = try ann.ask("GET", "/v1/users/me")
        #expect(revoked.status == 401 && revoked.code == "token_revoked")
        #expect(try ann.ask("POST", "/v1/auth/refresh", ["refresh_token": ann.refreshToken]).status == 401)
        let access = try #require(tokens?["access_token"] as? String)
        #expect(try AppUser(backend, token: access).ask("GET", "/v1/users/me").status == 200)
        let refresh = try #require(tokens?["refresh_token"] as? String)
        let renewed = try ann.ask("POST", "/v1/auth/refresh", ["refresh_token": refresh])
        let later = try #require(renewed.json?["access_token"] as? String)
        #expect(try AppUser(backend, token: later).ask("GET", "/v1/users/me").status == 200)
    }

    @Test func changeClosesTheUsersChannels() throws {
        let (ann, bob) = (try AppUser(backend, logs: false), try AppUser(backend, "bob@example.org", logs: false))
        let devices = try [ann, bob].map { user in
            try TestDevice(backend.gateway.webSocket(.upgrade(token: user.accessToken, path: "/v1/events")))
        }
        #expect(try change(ann).status == 200)
        #expect(try devices[0].ending() == 4100)
        #expect(try devices[1].ask(.ping(7)).t == 7, "others stay")
        let again = try backend.gateway.webSocket(.upgrade(token: ann.accessToken, path: "/v1/events"))
        #expect(try again.ending() == .close(4100, "token bad or revoked"), "a revoked token opens no channel")
    }

    @Test func changeRequiresTheCurrentPassword() throws {
        let ann = try AppUser(backend, logs: false)
        let refused = try change(ann, from: "not this one")
        #expect(refused.status == 403 && refused.code == "wrong_password")
        #expect(try logIn(ann, AppUser.password).status == 200)
        #expect(try ann.ask("GET", "/v1/users/me").status == 200)
    }

    @Test func guessesOfTheCurrentPasswordAreLimitedPerAccount() throws {
        let ann = try AppUser(backend, logs: false)
        for _ in 0..<20 { #expect(try change(ann, from: "not this one").status == 403) }
        #expect(try change(ann).status == 429)
        let bob = try AppUser(backend, "bob@example.org", logs: false)
        #expect(try change(bob).status == 200)
    }

    // MARK: Reset

    @Test func codeFromTheWebhookResetsThePassword() async throws {
        let ann = try AppUser(backend, logs: false)
        #expect(try forget(ann).status == 204)
        let webhook = try #require(try await backend.sentCodes("account.password_reset_requested").first)
        #expect(webhook["email"] as? String == ann.email && webhook["userId"] as? String == ann.id)
        let code = try #require(webhook["code"] as? String)
        let answer = try reset(ann, code.lowercased().replacing("-", with: " "))
        #expect(answer.status == 200)
        #expect(try logIn(ann, AppUser.password).status == 401 && logIn(ann, Self.next).status == 200)
        #expect(try ann.ask("GET", "/v1/users/me").code == "token_revoked")
        let access = try #require(answer.json?["access_token"] as? String)
        let me = try AppUser(backend, token: access).ask("GET", "/v1/users/me")
        #expect(me.json?["email_confirmed"] as? Bool == true, "whoever has the code reads the user's mail")
        #expect(try reset(ann, code).status == 401, "a code is valid once")
    }

    @Test func answerDoesNotTellWhetherTheAccountExists() async throws {
        let ann = try AppUser(backend, logs: false)
        let (known, unknown) = (try forget(ann), try forget(ann, "nobody@example.org"))
        #expect(known.status == 204 && unknown.status == 204 && known.text == unknown.text)
        #expect(try await backend.sentCodes("account.password_reset_requested").count == 1)
        #expect(try forget(ann).status == 204, "too soon is not told either")
        let wrong = try reset(ann, "0000-0000")
        let nobody = try ann.ask(
            "POST", "/v1/auth/password/reset", ["email": "nobody@example.org", "code": "0000-0000", "new_password": Self.next])
        #expect(wrong.status == 401 && wrong.code == "invalid_code" && wrong.text == nobody.text && nobody.status == 401)
        #expect(try await backend.sentCodes("account.password_reset_requested").count == 1, "one code a minute")
    }

    @Test func codeIsVoidAfterFiveGuesses() async throws {
        let ann = try AppUser(backend, logs: false)
        _ = try forget(ann)
        let code = try #require(try await backend.sentCodes("account.password_reset_requested").first?["code"] as? String)
        for _ in 0..<5 { #expect(try reset(ann, "0000-0000").status == 401) }
        #expect(try reset(ann, code).status == 401)
        #expect(try logIn(ann, AppUser.password).status == 200)
    }

    @Test func noFileHoldsTheCode() async throws {
        let ann = try AppUser(backend, logs: false)
        _ = try forget(ann)
        let code = try #require(try await backend.sentCodes("account.password_reset_requested").first?["code"] as? String)
        #expect(try !backend.place.holds(code) && !backend.place.holds(code.replacing("-", with: "")))
    }

    @Test func withoutWebhooksNothingIsPretended() throws {
        let alone = try TestBackend()
        let ann = try AppUser(alone, logs: false)
        let answer = try forget(ann)
        #expect(answer.status == 503 && answer.code == "no_webhooks")
    }

    // MARK: Confirmation

    @Test func confirmationIsOptional() throws {
        let ann = try AppUser(backend, logs: false)
        #expect(try ann.ask("GET", "/v1/users/me").json?["email_confirmed"] as? Bool == false)
        #expect(try ann.ask("GET", "/v1/sessions").status == 200)
    }

    @Test func unconfirmedAccountCanOnlyBeConfirmedOrDeleted() async throws {
        let strict = try TestBackend(accounts: AccountSettings(confirmsEmail: true), webhookEndpoints: [Self.hook])
        let ann = try AppUser(strict, logs: false)
        for (method, path) in [("GET", "/v1/sessions"), ("GET", "/v1/calls"), ("DELETE", "/v1/sessions")] {
            let refused = try ann.ask(method, path)
            #expect(refused.status == 403 && refused.code == "email_unconfirmed", "\(method) \(path): \(refused.text)")
        }
        #expect(try ann.ask("GET", "/v1/users/me").status == 200)
        let sent = try await strict.sentCodes("account.email_confirmation_requested")
        let code = try #require(sent.first?["code"] as? String)
        #expect(sent.count == 1, "registration sends the code")
        let wrong = try ann.ask("PUT", "/v1/users/me/email_confirmation", ["code": "0000-0000"])
        #expect(wrong.status == 403 && wrong.code == "invalid_code")
        let early = try ann.ask("POST", "/v1/users/me/email_confirmation")
        #expect(early.status == 429 && early.code == "too_many_codes")
        let confirmed = try ann.ask("PUT", "/v1/users/me/email_confirmation", ["code": code])
        #expect(confirmed.status == 200 && confirmed.json?["email_confirmed"] as? Bool == true)
        #expect(try ann.ask("GET", "/v1/sessions").status == 200, "the same token, without another login")
        let bob = try AppUser(strict, "bob@example.org", logs: false)
        #expect(try bob.ask("DELETE", "/v1/users/me").status == 204)
    }
}

extension TestBackend {
    /// What the waiting webhooks of an event say about accounts, newest first.
    func sentCodes(_ event: String) async throws -> [[String: Any]] {
        try await store.webhooks.list(.waiting).filter { $0.webhook.event == event }.compactMap { stored in
            let body = try JSONSerialization.jsonObject(with: Data(stored.webhook.body.utf8)) as? [String: Any]
            return body?["account"] as? [String: Any]
        }
    }
}

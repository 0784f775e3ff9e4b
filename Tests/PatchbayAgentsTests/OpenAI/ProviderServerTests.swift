import PatchbayAgents
import Testing
import Wire

struct ProviderServerTests {
    @Test(arguments: [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"), ("https://host/v1/", "https://host/v1"),
        ("wss://host:8443/v1//", "https://host:8443/v1"), ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("ws://[::1]:80/x", "http://[::1]:80/x"),
    ])
    func aBaseURLIsNormalized(_ text: String, _ expected: String) throws {
        #expect(try ProviderServer(ProviderSettings(baseUrl: text, model: "m"), secrets: [:]).baseURL == expected)
    }

    @Test(arguments: [
        ProviderSettings(baseUrl: "", model: "m"), ProviderSettings(baseUrl: "host/v1", model: "m"),
        ProviderSettings(baseUrl: "ftp://host/v1", model: "m"), ProviderSettings(baseUrl: "https://me:secret@host/v1", model: "m"),
        ProviderSettings(baseUrl: "https://host/v1?key=secret", model: "m"), ProviderSettings(baseUrl: "https://host:0/v1", model: "m"),
        ProviderSettings(baseUrl: "https://host/v1", model: ""), ProviderSettings(baseUrl: "https://host/v1", model: "m", timeoutMs: 1),
        ProviderSettings(baseUrl: "https://host/v1", model: "m", retries: -1),
        ProviderSettings(baseUrl: "https://host/v1", apiKeyEnv: "MISSING", model: "m"),
        ProviderSettings(baseUrl: "https://host/v1", apiKeyEnv: "LINES", model: "m"),
        // Readable by everybody on the way.
        ProviderSettings(baseUrl: "http://host/v1", apiKeyEnv: "KEY", model: "m"),
        ProviderSettings(baseUrl: "http://127.evil.invalid/v1", apiKeyEnv: "KEY", model: "m"),
        // Settings of the process, whatever it lists.
        ProviderSettings(baseUrl: "https://host/v1", apiKeyEnv: "PATCHBAY_API_SECRET", model: "m"),
        ProviderSettings(baseUrl: "https://host/v1", apiKeyEnv: "PATH", model: "m"),
    ])
    func settingsThatCannotWorkAreRefusedWithoutRepeatingSecrets(settings: ProviderSettings) {
        let secrets: ProviderSecrets = ["KEY": "sk-hidden", "PATCHBAY_API_SECRET": "sk-hidden", "LINES": "sk-hidden\r\nX: y"]
        let error = #expect(throws: ProviderError.self) { try ProviderServer(settings, secrets: secrets) }
        #expect(error?.code == .unavailable && error?.message.isEmpty == false)
        #expect(error?.message.contains("hidden") == false)
    }

    @Test(arguments: [
        "http://127.evil.invalid/v1", "http://127.0.0.1.evil.invalid/v1", "http://127.0.0/v1", "http://127.0.0.256/v1",
        "http://127.+1.0.1/v1", "http://localhost.evil.invalid/v1", "http://[::2]/v1", "ws://127.evil.invalid/v1",
    ])
    func aKeyIsSentWithoutEncryptionToLoopbackAddressesOnly(url: String) {
        let settings = ProviderSettings(baseUrl: url, apiKeyEnv: "KEY", model: "m")
        let error = #expect(throws: ProviderError.self) { try ProviderServer(settings, secrets: ["KEY": "secret"]) }
        #expect(error?.message.contains("without encryption") == true || error?.message.contains("is not a URL") == true)
    }

    @Test(arguments: ["http://127.0.0.1:8080/v1", "http://127.250.3.9/v1", "http://localhost/v1", "http://[::1]:8080/v1"])
    func aKeyMayBeSentToThisMachineWithoutEncryption(url: String) throws {
        #expect(try ProviderServer(ProviderSettings(baseUrl: url, apiKeyEnv: "KEY", model: "m"), secrets: ["KEY": "secret"]).key != nil)
    }

    @Test func aKeyIsNeverPrinted() throws {
        let settings = ProviderSettings(baseUrl: "https://host/v1", apiKeyEnv: "KEY", model: "m")
        let server = try ProviderServer(settings, secrets: ["KEY": "sk-very-secret"])
        var dumped = ""
        dump(server, to: &dumped)
        let texts = ["\(server)", String(reflecting: server), dumped, "\(server.key as Any)"]
        #expect(texts.allSatisfy { !$0.contains("very-secret") })
    }
}

struct RetryPolicyTests {
    private let policy = RetryPolicy(timeout: .seconds(10), retries: 2)
    private let overload = ProviderFailure(ProviderError(.overloaded, ""))

    @Test func failuresAreRepeatedWithGrowingDelaysUpToTheLimit() {
        let delays = (1...3).map { policy.delay(after: overload, failures: $0, elapsed: .zero, random: 1) }
        #expect(delays == [.milliseconds(250), .milliseconds(500), nil])
    }

    @Test func whatCannotSucceedIsNotRepeated() {
        for code in [ProviderError.Code.rejected, .invalidResponse, .unavailable] {
            let failure = ProviderFailure(ProviderError(code, ""))
            #expect(policy.delay(after: failure, failures: 1, elapsed: .zero, random: 0) == nil)
        }
    }

    @Test func theServersDelayCountsIfItIsLonger() {
        var failure = overload
        failure.retryAfter = .seconds(3)
        #expect(policy.delay(after: failure, failures: 1, elapsed: .zero, random: 0) == .seconds(3))
        failure.retryAfter = .milliseconds(1)
        #expect(policy.delay(after: failure, failures: 1, elapsed: .zero, random: 1) == .milliseconds(250))
    }

    @Test func aLostConnectionIsReplacedAtOnceTheFirstTime() {
        let loss = ProviderFailure(ProviderError(.disconnected, ""))
        #expect(policy.delay(after: loss, failures: 1, elapsed: .zero, random: 1) == .zero)
        #expect(policy.delay(after: loss, failures: 2, elapsed: .zero, random: 1) == .milliseconds(500))
        #expect(policy.delay(after: loss, failures: 1, elapsed: .seconds(10), random: 1) == nil)
        #expect(RetryPolicy(timeout: .seconds(10), retries: 0).delay(after: loss, failures: 1, elapsed: .zero, random: 1) == nil)
    }

    @Test func noAttemptBeginsAfterTheTimeout() {
        var failure = overload
        failure.retryAfter = .seconds(3)
        #expect(policy.delay(after: failure, failures: 1, elapsed: .seconds(7), random: 0) == nil)
        #expect(policy.delay(after: overload, failures: 1, elapsed: .seconds(10), random: 0) == nil)
    }
}

import ArgumentParser
import Testing

@testable import patchbay_loadtest

struct GatewayTargetTests {
    private func target(_ url: String) throws -> GatewayTarget {
        try #require(try LoadTestCommand.parseAsRoot(["--insecure", "--url", url]) as? LoadTestCommand).gateway.target()
    }

    @Test func schemeSelectsTLS() throws {
        let (secure, plain) = try (target("wss://127.0.0.1:7880"), target("ws://127.0.0.1:7890"))
        #expect(secure.usesTLS && !plain.usesTLS)
        #expect(plain.port == 7_890 && plain.path == "/v1/rtc")
    }

    @Test func portDefaultsToThatOfTheScheme() throws {
        #expect(try target("wss://h").port == 443 && target("ws://h").port == 80)
    }

    @Test(arguments: ["http://127.0.0.1", "127.0.0.1:7880", "ws://"]) func otherURLsAreRefused(url: String) {
        #expect(throws: UsageError.self) { try target(url) }
    }
}
